"""URDF text to links and joints: checked element by element, then read by yourdfpy.

The text is first scanned by the standard library's parser, which refuses document types and
entities before any is expanded and tells every fault with its line; then yourdfpy reads it.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from dataclasses import dataclass, field, replace
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from ..errors import RobotError, RobotWarning, SuppleError
from ..faults import nearest, quote
from ..kernels.spatial import rpy_of
from ..robot import Visual
from ..robot.body import inertia_fault
from .meshes import MESH_TYPES, find_mesh

__all__ = ["UrdfJoint", "UrdfLink", "read_urdf", "resolve_mimics"]

Array = NDArray[np.float64]
DEPTH = 40
ELEMENTS = 200_000
TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
# Numbers of an element: attribute, how many, needed.
_NUMBERS: dict[str, tuple[tuple[str, int, bool], ...]] = {
    "origin": (("xyz", 3, False), ("rpy", 3, False)),
    "axis": (("xyz", 3, True),),
    "mass": (("value", 1, True),),
    "inertia": tuple((f"i{ab}", 1, ab[0] == ab[1]) for ab in ("xx", "yy", "zz", "xy", "xz", "yz")),
    "limit": tuple((key, 1, False) for key in ("lower", "upper", "effort", "velocity")),
    "dynamics": (("damping", 1, False), ("friction", 1, False)),
    "mimic": (("multiplier", 1, False), ("offset", 1, False)),
}
_READ_IN = {"joint", "link", "inertial"}  # elsewhere (visual, collision) nothing is read


@dataclass(frozen=True)
class UrdfLink:
    """A link: mass, mass centre and inertia about it in link axes; None without `inertial`.

    `problem` says why no body has this inertia, if that is so; whether it matters depends on where
    the link hangs.
    """

    name: str
    mass: float | None
    com: Array
    inertia: Array
    problem: str | None = None
    visuals: tuple[Visual, ...] = ()

    @property
    def is_massless(self) -> bool:
        """Whether it has neither mass nor inertia."""
        return not self.mass and not self.inertia.any()


@dataclass(frozen=True)
class UrdfJoint:
    """A joint: child frame = parent frame . origin . motion about or along `axis`."""

    name: str
    type: str
    parent: str
    child: str
    origin: Array
    axis: Array
    limits: tuple[float, float] | None
    effort: float | None
    velocity: float | None
    damping: float
    friction: float
    mimic: str | None
    multiplier: float
    offset: float


@dataclass
class _Scan:
    """What the scan has met: open elements, and the faults found."""

    stack: list[tuple[str, dict[str, str], set[str]]] = field(default_factory=list)
    names: dict[str, dict[str, int]] = field(default_factory=lambda: {"link": {}, "joint": {}})
    faults: list[str] = field(default_factory=list)
    count: int = 0


def read_urdf(
    text: str, where: str = "", lenient: bool = False
) -> tuple[str, list[UrdfLink], list[UrdfJoint]]:
    """Return name, links and joints of a URDF, or raise RobotError with every fault of it.

    With `lenient` joint limits in the wrong order, which some programs read as none, are left out
    with a note.
    """
    # Blank lines before the declaration are a common slip, which XML forbids: it is left out
    text = re.sub(r"^\s+<\?xml[^>]*\?>", lambda found: "\n" * found[0].count("\n"), text)
    scan = _Scan()
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(sentence: str) -> RobotError:
        return RobotError([f"{sentence} (line {parser.CurrentLineNumber})"], where)

    def doctype(*_: Any) -> None:
        raise refuse(
            "the file has a document type (DOCTYPE), which may hold entities: remove it, a URDF "
            "needs none"
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        scan.count += 1
        if tag.startswith("xacro:") or any("${" in v or "$(" in v for v in attributes.values()):
            raise refuse(
                f"this is a xacro file (<{tag}>): expand it first, `xacro arm.xacro > arm.urdf`"
            )
        if len(scan.stack) >= DEPTH or scan.count > ELEMENTS:
            raise refuse(f"the file is nested deeper than {DEPTH} levels or has too many elements")
        if not scan.stack and tag != "robot":
            raise refuse(f"the first element is <{tag[:40]}>: a URDF begins with <robot>")
        _look(scan, tag, attributes, parser.CurrentLineNumber)
        scan.stack.append((tag, attributes, set()))

    def end(_: str) -> None:
        tag, attributes, inside = scan.stack.pop()
        if tag == "joint" and len(scan.stack) == 1:
            for wanted in {"parent", "child"} - inside:
                sentence = f"joint {quote(attributes.get('name', ''))} has no <{wanted} link=...>"
                scan.faults.append(f"{sentence} (line {parser.CurrentLineNumber})")

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = doctype
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    try:
        parser.Parse(text.encode("utf-8"), True)
    except expat.ExpatError as problem:
        reason = expat.ErrorString(problem.code)
        raise RobotError([f"this is not XML: {reason} (line {problem.lineno})"], where) from None
    if not scan.faults and not scan.names["link"]:
        scan.faults.append("the robot has no link: a URDF needs at least one <link>")
    if scan.faults:
        raise RobotError(scan.faults[:50], where)
    return _by_yourdfpy(text, where, lenient)


def _look(scan: _Scan, tag: str, attributes: dict[str, str], line: int) -> None:
    """Note the faults of one element that is read later."""
    outer = [entry[0] for entry in scan.stack]
    if outer:
        scan.stack[-1][2].add(tag)
    if not outer and not attributes.get("name"):
        scan.faults.append(f"<robot> has no name (line {line})")
    if outer == ["robot"] and tag in scan.names:
        name = attributes.get("name", "")
        if not name or name in scan.names[tag]:
            sentence = (
                f"is used twice, first in line {scan.names[tag][name]}" if name else "is missing"
            )
            scan.faults.append(f"name {quote(name)} of a <{tag}> {sentence} (line {line})")
        scan.names[tag].setdefault(name, line)
        kind = attributes.get("type")
        if tag == "joint" and kind not in TYPES:
            given = "missing" if kind is None else quote(kind)
            sentence = f"joint {quote(name)}: type is {given}: it must be one of {', '.join(TYPES)}"
            scan.faults.append(f"{sentence} (line {line})")
    if not outer[1:] or not set(outer[1:]) <= _READ_IN:
        return
    owner = f"{outer[1]} {quote(scan.stack[1][1].get('name', ''))}"
    named = {"parent": "link", "child": "link", "mimic": "joint"}.get(tag)
    if named is not None and not attributes.get(named):
        scan.faults.append(f"{owner}: <{tag}> names no {named} (line {line})")
    for key, count, needed in _NUMBERS.get(tag, ()):
        if key not in attributes:
            if needed:
                scan.faults.append(f"{owner}: <{tag}> has no {key} (line {line})")
            continue
        try:
            values = [float(part) for part in attributes[key].split()]
        except ValueError:
            values = []
        if len(values) != count or not all(abs(v) < 1e30 for v in values):
            wanted = "a finite number" if count == 1 else f"{count} finite numbers"
            sentence = f"{owner}: {key} of <{tag}> is {quote(attributes[key])}: it must be {wanted}"
            scan.faults.append(f"{sentence} (line {line})")


def _by_yourdfpy(
    text: str, where: str, lenient: bool
) -> tuple[str, list[UrdfLink], list[UrdfJoint]]:
    try:
        import yourdfpy
    except ImportError:
        raise SuppleError(
            "reading URDF needs yourdfpy: install it, as by `pip install 'supple[urdf]'`"
        ) from None
    logging.getLogger("yourdfpy").setLevel(logging.CRITICAL)
    try:
        read = yourdfpy.URDF.load(
            io.BytesIO(text.encode("utf-8")),
            build_scene_graph=False,
            load_meshes=False,
        ).robot
    except Exception as problem:  # noqa: BLE001 - a library's own, told as one sentence
        said = " ".join(str(problem).split())[:200] or type(problem).__name__
        raise RobotError([f"yourdfpy cannot read this URDF: {said}"], where) from None
    faults: list[str] = []
    colours = {each.name: each.color for each in read.materials if each.color is not None}
    links = [_link(each, faults) for each in read.links]
    lost: list[str] = []
    links = [
        replace(link, visuals=_visuals(each, colours, where, lost))
        for link, each in zip(links, read.links, strict=True)
    ]
    if lost and where:
        listed = ", ".join(dict.fromkeys(lost[:3])) + (", ..." if len(lost) > 3 else "")
        warnings.warn(f"meshes that are not drawn: {listed}", RobotWarning, stacklevel=5)
    joints = [_joint(each, faults, lenient) for each in read.joints]
    if faults:
        raise RobotError(faults, where)
    return str(read.name), links, resolve_mimics(joints, where, lenient)


def _link(given: Any, faults: list[str]) -> UrdfLink:
    inertial = given.inertial
    if inertial is None or (inertial.mass is None and inertial.inertia is None):
        return UrdfLink(given.name, None, np.zeros(3), np.zeros((3, 3)))
    origin = np.eye(4) if inertial.origin is None else inertial.origin
    mass = float(inertial.mass or 0.0)
    tensor = np.zeros((3, 3)) if inertial.inertia is None else inertial.inertia
    if mass < 0:
        faults.append(f"link {quote(given.name)}: mass is {mass:g} kg: it must not be negative")
        return UrdfLink(given.name, None, np.zeros(3), np.zeros((3, 3)))
    R = origin[:3, :3]
    six = [*np.diag(tensor).tolist(), *tensor[[0, 0, 1], [1, 2, 2]].tolist()]
    problem = inertia_fault(six, mass)
    return UrdfLink(given.name, mass, origin[:3, 3], R @ tensor @ R.T, problem)


def _visuals(
    given: Any, colours: dict[str, Any], where: str, lost: list[str]
) -> tuple[Visual, ...]:
    """What a link is drawn as, in its axes; meshes that cannot be drawn are added to `lost`."""
    found = []
    for each in given.visuals:
        # What is drawn only is no fault of a robot: what makes no sense is left out
        with contextlib.suppress(RobotError, ValueError, TypeError, AttributeError):
            visual = _visual(each, colours, where, lost)
            if visual is not None:
                found.append(visual)
    return tuple(found)


def _visual(given: Any, colours: dict[str, Any], where: str, lost: list[str]) -> Visual | None:
    """One shape, or None for a mesh that cannot be drawn."""
    shape: dict[str, Any] = {}
    geometry = given.geometry
    if geometry.box is not None:
        shape["box"] = tuple(float(size) for size in geometry.box.size)
    elif geometry.cylinder is not None:
        shape["cylinder"] = (float(geometry.cylinder.radius), float(geometry.cylinder.length))
    elif geometry.sphere is not None:
        shape["sphere"] = float(geometry.sphere.radius)
    elif geometry.mesh is not None:
        name = str(geometry.mesh.filename)
        path = find_mesh(name, where) if name.lower().endswith(MESH_TYPES) else None
        if path is None:
            lost.append(name)
            return None
        shape["mesh"] = path
        scale = 1.0 if geometry.mesh.scale is None else geometry.mesh.scale
        factors = np.atleast_1d(np.asarray(scale, float)).ravel()[:3]  # some files give four
        shape["scale"] = tuple(np.broadcast_to(factors, 3).tolist())

    colour = None
    if given.material is not None:
        colour = given.material.color or colours.get(given.material.name)
    if colour is not None:
        shape["colour"] = tuple(float(np.clip(part, 0, 1)) for part in colour.rgba[:3])
    T = np.eye(4) if given.origin is None else np.asarray(given.origin, float)
    shape["mount"] = {"xyz": T[:3, 3].tolist(), "rpy": list(rpy_of(T[:3, :3]))}
    return Visual(**shape)


def _joint(given: Any, faults: list[str], lenient: bool) -> UrdfJoint:
    axis = np.asarray(given.axis, float)
    limit = given.limit
    if not axis.any() and given.type in ("revolute", "continuous", "prismatic"):
        faults.append(f"joint {quote(given.name)}: axis is 0 0 0: give a direction, such as 0 0 1")
    limits = None
    if limit is not None and given.type in ("revolute", "prismatic"):
        limits = (limit.lower or 0.0, limit.upper or 0.0)
        if limits[0] >= limits[1]:
            if limits[0] > limits[1]:
                sentence = f"joint {quote(given.name)}: limits {limits[0]:g}, {limits[1]:g}: "
                sentence += "the lower one must be below the upper"
                if lenient:
                    warnings.warn(f"{sentence}; taken as none", RobotWarning, stacklevel=6)
                else:
                    faults.append(sentence)
            limits = None
    dynamics = given.dynamics
    mimic = given.mimic
    damping, friction = (
        float(getattr(dynamics, key, None) or 0.0) for key in ("damping", "friction")
    )
    if min(damping, friction) < 0:
        complaint = f"damping {damping:g} and friction {friction:g} must not be negative"
        faults.append(f"joint {quote(given.name)}: {complaint}")
    return UrdfJoint(
        given.name,
        given.type,
        given.parent,
        given.child,
        np.eye(4) if given.origin is None else np.asarray(given.origin, float),
        axis,
        limits,
        None if limit is None else limit.effort,
        None if limit is None else limit.velocity,
        damping,
        friction,
        None if mimic is None else mimic.joint,
        1.0 if mimic is None or mimic.multiplier is None else float(mimic.multiplier),
        0.0 if mimic is None else float(mimic.offset or 0.0),
    )


def resolve_mimics(joints: list[UrdfJoint], where: str, lenient: bool = False) -> list[UrdfJoint]:
    """Return the joints, each mimic one as it follows the joint at the end of its line.

    With `lenient` one that mimics no joint of the file is a joint of its own, with a note.
    """
    by_name = {joint.name: joint for joint in joints}
    found = []
    faults = []
    for joint in joints:
        at = joint
        way = [joint.name]
        multiplier = 1.0
        offset = 0.0
        while (leader := at.mimic) is not None:
            offset = offset + multiplier * at.offset
            multiplier = multiplier * at.multiplier
            if leader not in by_name or leader in way:
                suggestion = nearest(leader, by_name)
                complaint = f"mimics {quote(leader)}, which is no joint"
                complaint += f"; did you mean '{suggestion}'?" if suggestion else ""
                if leader in way:
                    detour = f" by way of {', '.join(way[1:])}" if len(way) > 1 else ""
                    complaint = f"mimics itself{detour}"
                sentence = f"joint {quote(joint.name)} {complaint}"
                if lenient and leader not in way:
                    at = joint
                    multiplier = 1.0
                    offset = 0.0
                    warnings.warn(f"{sentence}; taken as its own", RobotWarning, stacklevel=5)
                else:
                    faults.append(sentence)
                break
            at = by_name[leader]
            way.append(at.name)
        other = None if at is joint else at.name
        found.append(replace(joint, mimic=other, multiplier=multiplier, offset=offset))
    if faults:
        raise RobotError(faults, where)
    return found
