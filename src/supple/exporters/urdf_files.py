"""A robot as URDF: its rigid skeleton, and a sidecar that gives the whole robot back.

A URDF knows rigid links on a tree of joints. The skeleton has every frame, mass and inertia of the
unbent robot, for tools that plan and draw; the sidecar holds the robot file itself, so that
`supple.load(urdf, sidecar)` is the robot that was exported, to the digit.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..files import load
from ..files.disk import write_text
from ..files.robots import sidecar_text
from ..kernels.spatial import rpy_of
from ..robot import Robot
from ..structure import as_mechanism
from ..studies.vibration.modes import modes
from .exporter import Exporter, Request, Written
from .names import comment_text, refuse_names
from .names import xml_text as plain_xml_text
from .skeleton import Skeleton, SkeletonLink, body_numbers, physical_inertia, skeleton_of

__all__ = ["UrdfFiles", "raised_links", "urdf_text"]

Array = NDArray[np.float64]
RULE = "The sidecar holds the whole robot: nothing is lost. The URDF alone is its rigid skeleton."
KEPT_NAMES = re.compile(r"(?!)")  # a URDF keeps none for itself


def xml_text(name: str) -> str:
    """Return a name as a URDF may hold it: readers take a dollar sign for one of xacro's."""
    return plain_xml_text(name).replace("$", "_")


class UrdfFiles(Exporter):
    """A folder with `NAME.urdf` and `NAME.supple.yaml`."""

    about: ClassVar = "URDF of the rigid skeleton, and a sidecar that restores the whole robot"

    def refuse(self, robot: Robot) -> None:
        """Raise where the robot has loops: a URDF is a tree."""
        written = as_mechanism(robot)
        names = [link.name for link in written.links]
        refuse_names(robot.name, names, KEPT_NAMES, xml_text)
        if written.closures:
            raise SuppleError(
                f"{robot.name} has loops, and a URDF is a tree: export it to mujoco, c or fmu, "
                "which close them, or hand over the robot file itself (supple.dump)"
            )

    def write(self, request: Request, path: Path) -> Written:
        """Write both files and read them back: the frequencies are those of what is read."""
        skeleton = skeleton_of(request.robot)
        notes = _what_a_urdf_leaves_out(skeleton)
        text = urdf_text(request.robot, [*request.error_lines(request.exact_hz, RULE), *notes])
        urdf = path / f"{request.name}.urdf"
        sidecar = path / f"{request.name}.supple.yaml"
        write_text(urdf, text)
        write_text(sidecar, sidecar_text(request.robot, urdf.name, text))
        found = np.zeros(0)
        if len(request.exact_hz):
            again = load(urdf, sidecar)
            found = np.asarray(modes(again, request.theta, count=request.count).frequency_hz)
        return Written((urdf, sidecar), found, RULE, tuple(notes))


def _what_a_urdf_leaves_out(skeleton: Skeleton) -> list[str]:
    notes: list[str] = []
    bending = [link.name for link in skeleton.links if link.flexible]
    if bending:
        notes.append(f"In the URDF alone {', '.join(bending)} are rigid; the sidecar bends them.")
    raised = raised_links(skeleton)
    if raised:
        notes.append(
            f"In the URDF alone the inertia of {', '.join(raised)}, about one axis, is raised "
            "to that of a body; the sidecar keeps it."
        )
    return notes


def raised_links(skeleton: Skeleton) -> list[str]:
    """Return the links whose inertia, given about one axis, is that of no rigid body."""
    raised = []
    for link in skeleton.links:
        body = body_numbers(link.rigid_mass())
        if body.mass > 0 and physical_inertia(body.inertia, 1e-9 * body.mass, skeleton.planar)[1]:
            raised.append(link.name)
    return raised


def urdf_text(robot: Robot, head: list[str], *, raised: bool = True) -> str:
    """Return the rigid skeleton of a robot without loops as URDF, `head` as its comment.

    With `raised` every inertia is one that a rigid body can have, which most readers insist on.
    """
    skeleton = skeleton_of(robot)
    root = ElementTree.Element("robot", {"name": xml_text(robot.name)})
    lines = [comment_text(line).replace("--", "-") for line in head]
    root.append(ElementTree.Comment("\n    " + "\n    ".join(lines) + "\n  "))
    taken = {xml_text(link.name) for link in skeleton.links}
    base = _free_name("base_link", taken)
    ElementTree.SubElement(root, "link", {"name": base})
    joint_names = []
    for link in skeleton.links:
        joint_names.append(_free_name(f"{xml_text(link.name)}_joint", taken))
    for i, link in enumerate(skeleton.links):
        parent = base if link.parent < 0 else xml_text(skeleton.links[link.parent].name)
        _add_link(root, skeleton, i, parent, joint_names, taken, raised)
    # the tip: a frame of its own at the last end
    last = skeleton.links[skeleton.tip]
    name = _free_name("tip", taken)
    ElementTree.SubElement(root, "link", {"name": name})
    turned = np.asarray(last.chain_link.R_SL, float)
    fixed = {"name": _free_name("tip_joint", taken), "type": "fixed"}
    joint = ElementTree.SubElement(root, "joint", fixed)
    _add_origin(joint, np.array([last.length, 0.0, 0.0]), turned)
    ElementTree.SubElement(joint, "parent", {"link": xml_text(last.name)})
    ElementTree.SubElement(joint, "child", {"link": name})
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _free_name(word: str, taken: set[str]) -> str:
    """Return a name that nothing has yet, and take it."""
    name = word
    number = 2
    while name in taken:
        name = f"{word}_{number}"
        number += 1
    taken.add(name)
    return name


def _numbers(values: Array | list[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def _add_origin(element: ElementTree.Element, place: Array, rotation: Array) -> None:
    attributes = {"xyz": _numbers(place), "rpy": _numbers(rpy_of(rotation))}
    ElementTree.SubElement(element, "origin", attributes)


def _add_link(
    root: ElementTree.Element,
    skeleton: Skeleton,
    i: int,
    parent: str,
    joint_names: list[str],
    taken: set[str],
    raised: bool,
) -> None:
    """Add a link and its joint; a joint about several axes has links without mass between them.

    The frame of a link that slides sits at its beam's inner end, so that its coordinate is the
    length outside, as in the robot file.
    """
    link = skeleton.links[i]
    name = xml_text(link.name)
    place = link.place
    if link.kind == "slides":
        place = place + link.rotation @ np.array([-link.length, 0.0, 0.0])
    axes: list[Array] = list(link.axes)
    if link.kind == "slides":
        axes = [np.array([1.0, 0.0, 0.0])]
    rotation = link.rotation
    for k, axis in enumerate(axes or [np.zeros(3)]):
        final = k == max(len(axes), 1) - 1
        child = name if final else _free_name(f"{name}_axis{k + 1}", taken)
        element = ElementTree.SubElement(root, "link", {"name": child})
        if final:
            _add_inertial(element, link, skeleton.planar, raised)
            _add_visual(element, link)
        word = joint_names[i] if final else _free_name(f"{name}_joint{k + 1}", taken)
        joint = ElementTree.SubElement(root, "joint", {"name": word, "type": _type_of(link)})
        _add_origin(joint, place, rotation)
        ElementTree.SubElement(joint, "parent", {"link": parent})
        ElementTree.SubElement(joint, "child", {"link": child})
        if axes:
            ElementTree.SubElement(joint, "axis", {"xyz": _numbers(axis)})
            _add_limits(joint, link)
            damping = link.joint.damping[0]
            friction = link.joint.friction[0]
            if damping or friction:
                given = {"damping": repr(float(damping)), "friction": repr(float(friction))}
                ElementTree.SubElement(joint, "dynamics", given)
            if link.chain_link.mimic is not None:
                leader, multiplier, offset = link.chain_link.mimic
                ElementTree.SubElement(
                    joint,
                    "mimic",
                    {
                        "joint": joint_names[leader],
                        "multiplier": repr(float(multiplier)),
                        "offset": repr(float(offset)),
                    },
                )
        parent = child
        place = np.zeros(3)
        rotation = np.eye(3)


def _type_of(link: SkeletonLink) -> str:
    if link.kind == "fixed":
        return "fixed"
    if link.kind == "slides":
        return "prismatic"
    return "continuous" if link.joint.limits is None or len(link.axes) > 1 else "revolute"


def _add_limits(joint: ElementTree.Element, link: SkeletonLink) -> None:
    limits = link.joint.limits
    if link.kind == "slides" and limits is None:
        limits = (0.0, link.length)
    attributes = {}
    if limits is not None and len(link.axes) < 2:
        attributes = {"lower": repr(float(limits[0])), "upper": repr(float(limits[1]))}
    effort = link.joint.effort_limit
    speed = link.joint.speed_limit
    if attributes or effort is not None or speed is not None:
        attributes["effort"] = repr(float(1e6 if effort is None else effort))
        attributes["velocity"] = repr(float(1e6 if speed is None else speed))
        ElementTree.SubElement(joint, "limit", attributes)


def _add_inertial(
    element: ElementTree.Element, link: SkeletonLink, planar: bool, raised: bool
) -> None:
    body = body_numbers(link.rigid_mass())
    if body.mass <= 0:
        return
    inertia = body.inertia
    if raised:
        inertia, _ = physical_inertia(body.inertia, 1e-9 * body.mass, planar)
    inertial = ElementTree.SubElement(element, "inertial")
    _add_origin(inertial, body.centre, np.eye(3))
    ElementTree.SubElement(inertial, "mass", {"value": repr(body.mass)})
    tensor = {}
    for word, (i, j) in {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }.items():
        tensor[word] = repr(float(inertia[i, j]))
    ElementTree.SubElement(inertial, "inertia", tensor)


def _add_visual(element: ElementTree.Element, link: SkeletonLink) -> None:
    """Draw the beam as a box along x, a fiftieth of its length thick."""
    if link.length <= 0:
        return
    visual = ElementTree.SubElement(element, "visual")
    _add_origin(visual, np.array([link.length / 2, 0.0, 0.0]), np.eye(3))
    geometry = ElementTree.SubElement(visual, "geometry")
    thick = link.length / 50
    ElementTree.SubElement(geometry, "box", {"size": _numbers([link.length, thick, thick])})
