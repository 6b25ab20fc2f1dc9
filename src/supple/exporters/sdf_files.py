"""A robot as SDF: the rigid skeleton of its URDF in the other spelling, for Gazebo and Drake.

SDF gives a link without <inertial> a mass of one kilogram, so that a link which is only a frame
gets next to none, and the base and the tip are the world and a <frame>.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np

from ..errors import SuppleError
from ..files.disk import write_text
from ..robot import Robot
from ..structure import as_mechanism
from .exporter import Exporter, Request, Written
from .names import refuse_names
from .skeleton import skeleton_of
from .urdf_files import raised_links, urdf_text, xml_text

__all__ = ["SdfFile", "sdf_text"]

VERSION = "1.11"
RULE = "An SDF has rigid links: it is the skeleton alone; to=urdf writes a sidecar with the rest."
KEPT_NAMES = re.compile(r"world|__.*__", re.DOTALL)
NO_MASS = "1e-09"  # kg, and kg m2, of links that are only frames


class SdfFile(Exporter):
    """One `.sdf` with a model whose links are rigid."""

    about: ClassVar = "SDF of the rigid skeleton, for Gazebo and Drake"
    suffix: ClassVar = ".sdf"

    def refuse(self, robot: Robot) -> None:
        """Raise where the robot has loops, or a name that SDF keeps."""
        written = as_mechanism(robot)
        names = [link.name for link in written.links]
        refuse_names(robot.name, names, KEPT_NAMES, xml_text)
        if written.closures:
            raise SuppleError(
                f"{robot.name} has loops, and this SDF is a tree: export it to mujoco, c or fmu, "
                "which close them, or hand over the robot file itself (supple.dump)"
            )

    def write(self, request: Request, path: Path) -> Written:
        """Write the skeleton. It has no natural frequencies of its own: nothing in it bends."""
        lines = [*request.error_lines(np.zeros(0), RULE)] if len(request.exact_hz) else []
        notes = [RULE] if len(request.exact_hz) else []
        raised = raised_links(skeleton_of(request.robot))
        if raised:
            notes.append(
                f"The inertia of {', '.join(raised)}, given about one axis, is that of no rigid "
                "body: the other two are raised until readers take it, and joints that turn them "
                "about these axes feel more inertia than the robot has."
            )
            lines.append(notes[-1])
        place = write_text(path, sdf_text(request.robot, lines))
        return Written((place,), np.zeros(0), RULE, tuple(notes))


def sdf_text(robot: Robot, lines: list[str]) -> str:
    """Return the SDF of a robot, with a comment at its head."""
    urdf = ElementTree.fromstring(urdf_text(robot, lines))
    root = ElementTree.Element("sdf", {"version": VERSION})
    model = ElementTree.SubElement(root, "model", {"name": urdf.get("name", "robot")})
    joints = urdf.findall("joint")
    links = urdf.findall("link")
    base = links[0].get("name", "")
    tip = links[-1].get("name", "")
    moving_joint = {joint.find("child").get("link"): joint for joint in joints}  # type: ignore[union-attr]
    for link in links:
        name = link.get("name", "")
        if name == base:
            continue
        joint = moving_joint[name]
        if name == tip:
            parent = joint.find("parent").get("link", "")  # type: ignore[union-attr]
            frame = ElementTree.SubElement(model, "frame", {"name": name, "attached_to": parent})
            _add_text(frame, "pose", _pose_of(joint))
            continue
        element = ElementTree.SubElement(model, "link", {"name": name})
        relative = {"relative_to": joint.get("name", "")}
        _add_text(element, "pose", "0 0 0 0 0 0", relative)
        _add_inertial(element, link.find("inertial"))
        _add_visual(element, link.find("visual"), name)
        _add_joint(model, joint, base)
    ElementTree.indent(root)
    head = ElementTree.Comment(" " + " ".join(lines).replace("--", "- -") + " ")
    comment = ElementTree.tostring(head, "unicode") + "\n" if lines else ""
    return '<?xml version="1.0"?>\n' + comment + ElementTree.tostring(root, "unicode") + "\n"


def _add_text(
    parent: ElementTree.Element, tag: str, text: str, attributes: dict[str, str] | None = None
) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, tag, attributes or {})
    element.text = text
    return element


def _pose_of(element: ElementTree.Element) -> str:
    """`<origin xyz rpy>` as the six numbers of a `<pose>`; both turn as Rz Ry Rx."""
    origin = element.find("origin")
    if origin is None:
        return "0 0 0 0 0 0"
    return f"{origin.get('xyz', '0 0 0')} {origin.get('rpy', '0 0 0')}"


def _add_inertial(element: ElementTree.Element, given: ElementTree.Element | None) -> None:
    inertial = ElementTree.SubElement(element, "inertial")
    if given is None:
        _add_text(inertial, "mass", NO_MASS)
        inertia = ElementTree.SubElement(inertial, "inertia")
        for word in ("ixx", "iyy", "izz"):
            _add_text(inertia, word, NO_MASS)
        return
    _add_text(inertial, "pose", _pose_of(given))
    _add_text(inertial, "mass", given.find("mass").get("value", ""))  # type: ignore[union-attr]
    inertia = ElementTree.SubElement(inertial, "inertia")
    for word, value in given.find("inertia").attrib.items():  # type: ignore[union-attr]
        _add_text(inertia, word, value)


def _add_visual(element: ElementTree.Element, given: ElementTree.Element | None, name: str) -> None:
    if given is None:
        return
    visual = ElementTree.SubElement(element, "visual", {"name": f"{name}_visual"})
    _add_text(visual, "pose", _pose_of(given))
    geometry = ElementTree.SubElement(visual, "geometry")
    box = ElementTree.SubElement(geometry, "box")
    _add_text(box, "size", given.find("geometry/box").get("size", ""))  # type: ignore[union-attr]


def _add_joint(model: ElementTree.Element, given: ElementTree.Element, base: str) -> None:
    """A joint whose frame stands in its parent's as the URDF's origin says."""
    kind = given.get("type", "")
    parent = given.find("parent").get("link", "")  # type: ignore[union-attr]
    parent = "world" if parent == base else parent
    joint = ElementTree.SubElement(model, "joint", {"name": given.get("name", ""), "type": kind})
    # what is fixed to the world stands relative to the model's own frame
    pose_of_parent = "__model__" if parent == "world" else parent
    _add_text(joint, "pose", _pose_of(given), {"relative_to": pose_of_parent})
    _add_text(joint, "parent", parent)
    _add_text(joint, "child", given.find("child").get("link", ""))  # type: ignore[union-attr]
    given_axis = given.find("axis")
    if given_axis is None:
        return
    axis = ElementTree.SubElement(joint, "axis")
    _add_text(axis, "xyz", given_axis.get("xyz", ""))
    for word in ("limit", "dynamics"):
        found = given.find(word)
        if found is not None:
            section = ElementTree.SubElement(axis, word)
            for key, value in found.attrib.items():
                _add_text(section, key, value)
    mimic = given.find("mimic")
    if mimic is not None:
        mimic_element = ElementTree.SubElement(axis, "mimic", {"joint": mimic.get("joint", "")})
        _add_text(mimic_element, "multiplier", mimic.get("multiplier", "1"))
        _add_text(mimic_element, "offset", mimic.get("offset", "0"))
        _add_text(mimic_element, "reference", "0")
