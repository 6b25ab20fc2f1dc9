"""A robot as MuJoCo's XML: elastic links as chains of rigid segments with springs between them.

The rule: a link of length L has n springs in the middle of n equal elements, h = L / n long, so
that the rigid segments are h/2, h, .., h, h/2 long. A spring has the compliance of its element:
h / EI about y and z, h / GJ about x, and where the link stretches and shears h / EA and h / kGA.
That is the midpoint rule for the curvature: errors of frequencies and deflections fall with n^-2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..arguments import whole_number
from ..equations.damping import file_ratio
from ..errors import SuppleError
from ..files.disk import write_text
from ..kernels.spatial import motion_transform, rpy_rotation
from ..robot import Closure, ClosureEnd, Robot
from ..structure import as_mechanism
from .exporter import Exporter, Request, Written, elastic_frequencies
from .names import comment_text, refuse_names, xml_text
from .skeleton import (
    BodyNumbers,
    Skeleton,
    SkeletonLink,
    body_numbers,
    physical_inertia,
    skeleton_of,
)

__all__ = [
    "Mujoco",
    "chain_model",
    "constraint_rows",
    "joint_stiffness",
    "joint_values",
    "loaded_model",
    "mass_matrix",
    "pose_model",
    "structure_matrices",
]

Array = NDArray[np.float64]
RULE = (
    "It falls with the square of the number of segments: segments=16 has a quarter of segments=8."
)
SMALLEST_MASS = 1e-7  # of the robot's mass: what a body that weighs nothing gets
SMALLEST_INERTIA = 1e-9  # of the robot's mass times m^2
POINTS = np.polynomial.legendre.leggauss(8)  # in which a compliance is integrated
STEP_OVER_PERIOD = 0.25  # time step times the highest angular frequency


class Mujoco(Exporter):
    """One XML file that `mujoco.MjModel.from_xml_path` loads."""

    about: ClassVar = "MuJoCo XML: elastic links as chains of segments with springs"
    suffix: ClassVar = ".xml"
    options: ClassVar = {"segments": whole_number(1, 200)}

    def refuse(self, robot: Robot) -> None:
        """Raise where MuJoCo has no such joint, support or name."""
        written = as_mechanism(robot)
        _refuse_names(robot)
        for closure in written.closures:
            if closure.type in ("distance", "constant-velocity"):
                raise SuppleError(
                    f"{robot.name} has a {closure.type} closure, which MuJoCo's equality "
                    "constraints do not hold: export it to c or fmu, or replace it by a link"
                )
        supported = [link.name for link in written.links if link.joint.bearing is not None]
        if supported or written.foundation is not None:
            what = f"a bearing at {supported[0]}" if supported else "a foundation"
            raise SuppleError(
                f"{robot.name} has {what}: this export knows joint springs alone; export it to c "
                "or fmu, or leave the support out of a copy"
            )

    def write(self, request: Request, path: Path) -> Written:
        """Write the XML, load it with MuJoCo and find its frequencies from M, K and constraints."""
        segments = int(request.options.get("segments", 8))
        notes: list[str] = []
        first = 2 * np.pi * float(request.exact_hz[0]) if len(request.exact_hz) else 0.0
        tree = chain_model(request.robot, request.theta, segments, first, notes)
        text = _text(tree)
        model = loaded_model(text)
        data = pose_model(model, request.robot, request.theta)
        mass, stiffness, fastest = structure_matrices(model, data)
        found = elastic_frequencies(mass, stiffness, request.count)

        # A time step that resolves the fastest vibration
        step = float(f"{STEP_OVER_PERIOD / fastest:.1e}") if fastest > 0 else 1e-3
        option = tree.find("option")
        assert option is not None
        step = min(step, 2e-3)
        option.set("timestep", repr(step))
        for kind in ("connect", "weld"):  # constraints as hard as the step allows
            for constraint in tree.iter(kind):
                constraint.set("solref", _numbers([4 * step, 1.0]))
        _add_keyframe(tree, data.qpos)
        head = [*request.error_lines(found, RULE), *notes]
        comment = "\n".join(["", *(f"  {comment_text(line)}" for line in head), ""])
        tree.insert(0, ElementTree.Comment(comment.replace("--", "-")))
        write_text(path, _text(tree))
        return Written((path,), found, RULE, tuple(notes))


def _refuse_names(robot: Robot) -> None:
    """Raise where the name of a link is one that chains of segments give to their own parts."""
    names = [link.name for link in as_mechanism(robot).links]
    owners = "|".join(re.escape(xml_text(name)) for name in names)
    segment = rf"(?:{owners}):\d+(?::\w+)?"  # LINK:1, LINK:1:rz
    reserved = re.compile(rf"world|closure:.*|{segment}", re.DOTALL)
    refuse_names(robot.name, names, reserved, xml_text)


def loaded_model(text: str) -> Any:
    """Return MuJoCo's model of an XML text; a sentence where MuJoCo is not installed."""
    try:
        import mujoco
    except ImportError:
        raise SuppleError(
            "MuJoCo is not installed, and the export is judged with it: pip install mujoco"
        ) from None
    try:
        return mujoco.MjModel.from_xml_string(text)
    except ValueError as problem:
        said = " ".join(str(problem).split())[:200]
        raise SuppleError(f"MuJoCo does not take the model: {said}") from None


# ---------------------------------------------------------------------- the XML


@dataclass
class _Writing:
    """What is known while the tree is written."""

    skeleton: Skeleton
    theta: Array
    segments: int
    damping_time: dict[str, float]  # s, damping of a spring over its stiffness, by link
    total_mass: float
    # links whose inertia was raised, in order, and free lengths of those that slide and bend
    raised: dict[str, None] = field(default_factory=dict)
    held_lengths: dict[str, float] = field(default_factory=dict)
    # of every link: (where its rigid pieces begin, their elements), root first
    pieces: dict[int, list[tuple[float, ElementTree.Element]]] = field(default_factory=dict)


def chain_model(
    robot: Robot, theta: Array, segments: int, first_omega: float, notes: list[str]
) -> ElementTree.Element:
    """Return a robot as MuJoCo's XML, at rest with its motors at zero.

    Parameters
    ----------
    theta : ndarray
        Joint coordinates; the free length of a link that slides and bends is the one there.
    segments : int
        Springs of each elastic link.
    first_omega : float
        Angular frequency (rad/s) at which the damping ratios of the links are met.
    notes : list of str
        Sentences on what cannot be held are added to it.
    """
    skeleton = skeleton_of(robot)
    masses = [body_numbers(link.rigid_mass()).mass for link in skeleton.links]
    damping_time = {}
    for link in skeleton.links:
        ratio = file_ratio(robot, link.name) if first_omega else None
        damping_time[link.name] = 2 * ratio / first_omega if ratio else 0.0
    state = _Writing(skeleton, theta, segments, damping_time, sum(masses))

    root = ElementTree.Element("mujoco", {"model": xml_text(robot.name)})
    ElementTree.SubElement(root, "compiler", {"angle": "radian", "autolimits": "true"})
    ElementTree.SubElement(
        root,
        "option",
        {
            "gravity": _numbers(skeleton.gravity),
            "integrator": "implicitfast",
            "jacobian": "dense",
        },
    )
    world = ElementTree.SubElement(root, "worldbody")
    for i in range(len(skeleton.links)):
        _add_link(state, i, world)
    if state.raised:
        notes.append(
            f"The inertia of {', '.join(state.raised)} is that of no rigid body (given about one "
            "axis alone): the two smaller ones are raised until MuJoCo takes it."
        )
    if state.held_lengths:
        lengths = ", ".join(f"{name} {length:.6g} m" for name, length in state.held_lengths.items())
        notes.append(
            f"Links that slide and bend have the segments of their length outside at theta0 "
            f"({lengths}): export again for another length."
        )
    if skeleton.closures:
        notes.append(
            "Loops are closed by equality constraints, as hard as the time step allows. A motion "
            "under smooth efforts follows the stated rule. Efforts that jump excite vibrations "
            "along the bars: their phase needs more segments than the first frequencies do."
        )
    tip_at = skeleton.links[skeleton.tip]
    _add_site(state, skeleton.tip, _tip_length(state, tip_at), "tip", np.zeros(3), np.eye(3))
    equality = ElementTree.SubElement(root, "equality")
    for k, closure in enumerate(skeleton.closures):
        _add_closure(state, k, closure, world, equality)
    for link in skeleton.links:
        if link.chain_link.mimic is not None:
            leader, multiplier, offset = link.chain_link.mimic
            ElementTree.SubElement(
                equality,
                "joint",
                {
                    "joint1": xml_text(link.name),
                    "joint2": xml_text(skeleton.links[leader].name),
                    "polycoef": _numbers([offset, multiplier, 0, 0, 0]),
                },
            )
    actuator = ElementTree.SubElement(root, "actuator")
    sensor = ElementTree.SubElement(root, "sensor")
    for link in skeleton.motors:
        name = xml_text(link.name)
        motor = {"name": name, "joint": name}
        if link.joint.effort_limit is not None:
            motor["ctrlrange"] = _numbers([-link.joint.effort_limit, link.joint.effort_limit])
        ElementTree.SubElement(actuator, "motor", motor)
        ElementTree.SubElement(sensor, "jointpos", {"name": f"theta:{name}", "joint": name})
        ElementTree.SubElement(sensor, "jointvel", {"name": f"rate:{name}", "joint": name})
    place = {"name": "tip:position", "objtype": "site", "objname": "tip"}
    ElementTree.SubElement(sensor, "framepos", place)
    return root


def _numbers(values: Any) -> str:
    return " ".join(repr(float(x)) for x in np.asarray(values, float).ravel())


def _quaternion(R: Array) -> str:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return _numbers([w, x, y, z])


def _tip_length(state: _Writing, link: SkeletonLink) -> float:
    """Where the end of a link is from its root: of a slide the length outside."""
    if link.kind == "slides":
        return _free_length(state, link)
    return link.length


def _free_length(state: _Writing, link: SkeletonLink) -> float:
    if link.motor is not None:
        return float(state.theta[link.motor])
    return float(link.joint.start[0])


def _add_link(state: _Writing, i: int, world: ElementTree.Element) -> None:
    """Add one link: its body, the motions of its joint, and the segments of its beam."""
    link = state.skeleton.links[i]
    place = link.place
    parent = world
    if link.parent >= 0:
        carrier = state.skeleton.links[link.parent]
        at = float(place[0])
        if carrier.kind == "slides":  # its end is where the slide stands
            at += _free_length(state, carrier) - carrier.length
        parent, start = _piece_at(state, link.parent, at)
        place = np.array([at - start, *place[1:]])
    body = ElementTree.SubElement(
        parent,
        "body",
        {
            "name": xml_text(link.name),
            "pos": _numbers(place),
            "quat": _quaternion(link.rotation),
        },
    )
    _add_joint(state, link, body)

    # The beam from its root to its end; of a slide, what is inside moves along with the root
    inside = 0.0
    length = link.length
    if link.kind == "slides":
        length = _free_length(state, link)
        inside = link.length - length
        if link.flexible:
            state.held_lengths[link.name] = length
    count = state.segments if link.flexible and length > 0 else 0
    h = length / count if count else 0.0
    springs = [(j + 0.5) * h for j in range(count)]
    starts = [0.0, *springs]
    stops = [*springs, length]
    pieces: list[tuple[float, ElementTree.Element]] = [(0.0, body)]
    for j, at in enumerate(springs):
        piece = ElementTree.SubElement(
            pieces[-1][1],
            "body",
            {"name": f"{xml_text(link.name)}:{j + 1}", "pos": _numbers([at - starts[j], 0, 0])},
        )
        _add_springs(state, link, piece, j, inside + j * h, inside + (j + 1) * h)
        pieces.append((at, piece))
    state.pieces[i] = pieces

    for j, (start, piece) in enumerate(pieces):
        first = -inside if j == 0 else starts[j]
        spatial = _shift(link.beam.rod(inside + first, inside + stops[j]), inside + start)
        if j == 0:
            spatial = spatial + link.root_mass
        if j == len(pieces) - 1:
            spatial = spatial + _shift(link.tip_mass, -(length - start))
        numbers = body_numbers(spatial)
        if j == 0:
            numbers = _inertia_on_the_joint(state, link, body, numbers)
        _add_inertia(state, link, piece, numbers)
        if stops[j] > first:
            ElementTree.SubElement(
                piece,
                "geom",
                {
                    "type": "capsule",
                    "fromto": _numbers([first - start, 0, 0, stops[j] - start, 0, 0]),
                    "size": repr(0.02 * max(link.length, 1e-3)),
                    "contype": "0",
                    "conaffinity": "0",
                    "mass": "0",
                },
            )


def _inertia_on_the_joint(
    state: _Writing, link: SkeletonLink, body: ElementTree.Element, numbers: BodyNumbers
) -> BodyNumbers:
    """Move what no rigid body can have of an inertia about the joint's axis to the joint itself.

    A robot file may give a hub's inertia about its joint alone. MuJoCo refuses such a body, but a
    joint may have an inertia of its own (`armature`). Both are the same where nothing below turns
    the joint about its own axis: on the base, and on a rigid link that turns about axes
    perpendicular to this one. Elsewhere the body's other inertias are raised (`_add_inertia`).
    """
    if link.kind != "turns" or len(link.axes) != 1 or state.skeleton.planar:
        return numbers
    axis = link.axes[0]
    about_axis = float(axis @ numbers.inertia @ axis)
    excess = 2 * about_axis - float(np.trace(numbers.inertia))
    principal = np.allclose(numbers.inertia @ axis, about_axis * axis, atol=1e-9 * about_axis)
    if excess <= 0 or not principal or _turned_about(state, link, link.rotation @ axis):
        return numbers
    carrying = body.findall("joint")[-1]  # behind a joint spring, which the hub follows
    carrying.set("armature", repr(float(carrying.get("armature", "0")) + excess))
    return BodyNumbers(
        numbers.mass, numbers.centre, numbers.inertia - excess * np.outer(axis, axis)
    )


def _turned_about(state: _Writing, link: SkeletonLink, axis: Array) -> bool:
    """Whether the parent of a link can turn about an axis, given in the parent's axes."""
    if link.parent < 0:
        return False
    parent = state.skeleton.links[link.parent]
    if parent.flexible or parent.kind == "free":
        return True
    if parent.kind == "turns":
        square = all(abs(float(axis @ other)) < 1e-9 for other in parent.axes)
        # a turn of the parent carries the axis around: what is below may then turn about it
        return not square or parent.parent >= 0
    return _turned_about(state, parent, parent.rotation @ axis)


def _shift(spatial_mass: Array, along: float) -> Array:
    """A (6, 6) mass about a point of the beam, about the point that is `along` further on."""
    T = motion_transform(np.eye(3), np.array([-along, 0.0, 0.0]))
    return np.asarray(T.T @ spatial_mass @ T)


def _piece_at(state: _Writing, i: int, at: float) -> tuple[ElementTree.Element, float]:
    """The segment of a link that holds the point `at`, and where it begins."""
    found = state.pieces[i][0]
    for start, piece in state.pieces[i]:
        if at >= start:
            found = (start, piece)
    return found[1], found[0]


def _add_joint(state: _Writing, link: SkeletonLink, body: ElementTree.Element) -> None:
    """Add the motions of a joint; those of its coordinate have the link's name."""
    joint = link.joint
    name = xml_text(link.name)
    common: dict[str, str] = {}
    if link.kind == "fixed":
        return
    if link.kind == "free":
        planar = state.skeleton.planar
        motions = [("slide", axis) for axis in np.eye(3)[: 2 if planar else 3]]
        motions += [("hinge", axis) for axis in (np.eye(3)[2:] if planar else np.eye(3)[::-1])]
        for (kind, axis), word in zip(motions, _free_words(planar), strict=True):
            attributes = {"name": f"{name}:{word}", "type": kind, "axis": _numbers(axis)}
            ElementTree.SubElement(body, "joint", attributes)
        return
    amounts = {"damping": joint.damping, "frictionloss": joint.friction}
    for k in range(max(len(link.axes), 1)):
        slides = link.kind == "slides"
        axis = np.array([1.0, 0.0, 0.0]) if slides else link.axes[k]
        coordinate = 0 if slides else link.order[k]
        word = name if len(link.axes) < 2 else f"{name}:{coordinate + 1}"
        attributes = common | {
            "name": word,
            "type": "slide" if slides else "hinge",
            "axis": _numbers(axis),
        }
        if slides:
            attributes["ref"] = repr(_free_length(state, link))
        for key, values in amounts.items():
            value = values[coordinate] if len(values) > 1 else values[0]
            if value:
                attributes[key] = repr(float(value))
        if joint.limits is not None and len(link.axes) < 2:
            attributes["range"] = _numbers(joint.limits)
        if link.motor is not None and joint.reflected_inertia:
            attributes["armature"] = repr(float(joint.reflected_inertia))
        if link.motor is None and joint.stiffness is not None:
            stiffness = joint.stiffness[coordinate if len(joint.stiffness) > 1 else 0]
            attributes["stiffness"] = repr(float(stiffness))
            if joint.rest is not None:
                rest = joint.rest[coordinate if len(joint.rest) > 1 else 0]
                attributes["springref"] = repr(float(rest))
        ElementTree.SubElement(body, "joint", attributes)
    if link.motor is not None and joint.stiffness is not None:
        # a spring in series: the motor turns by theta, the link by theta and the spring's turn
        driven = body.find("joint")
        assert driven is not None
        if "armature" not in driven.attrib:
            driven.set("armature", repr(SMALLEST_INERTIA * state.total_mass))
        attributes = {
            "name": f"{name}:spring",
            "type": "slide" if link.kind == "slides" else "hinge",
            "axis": driven.get("axis", "0 0 1"),
            "stiffness": repr(float(joint.stiffness[0])),
        }
        ElementTree.SubElement(body, "joint", attributes)


def _free_words(planar: bool) -> list[str]:
    return ["x", "y", "yaw"] if planar else ["x", "y", "z", "yaw", "pitch", "roll"]


def _add_springs(
    state: _Writing,
    link: SkeletonLink,
    piece: ElementTree.Element,
    j: int,
    start: float,
    stop: float,
) -> None:
    """Add the motions between two segments, each with the stiffness of the element around it."""
    nodes, weights = POINTS
    x = start + (stop - start) * (nodes + 1) / 2
    stiffness = link.beam.at(x)[:, 1:7]  # EA, then EI, kGA of both planes, GJ; infinite: excluded
    EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ = weights @ (1 / stiffness) * (stop - start) / 2
    motions = [
        ("slide", 0, EA, "ux", True),
        ("slide", 1, kGA_xy, "uy", True),
        ("slide", 2, kGA_xz, "uz", False),
        ("hinge", 0, GJ, "rx", False),
        ("hinge", 1, EI_xz, "ry", False),
        ("hinge", 2, EI_xy, "rz", True),
    ]
    for kind, direction, soft, word, in_plane in motions:
        if soft <= 0 or (state.skeleton.planar and not in_plane):
            continue  # the theory excludes this deformation
        attributes = {
            "name": f"{xml_text(link.name)}:{j + 1}:{word}",
            "type": kind,
            "axis": _numbers(np.eye(3)[direction]),
            "stiffness": repr(1 / float(soft)),
        }
        if damping := state.damping_time[link.name] / float(soft):
            attributes["damping"] = repr(damping)
        ElementTree.SubElement(piece, "joint", attributes)


def _add_inertia(
    state: _Writing, link: SkeletonLink, body: ElementTree.Element, numbers: BodyNumbers
) -> None:
    """Add mass and inertia; what MuJoCo does not take is raised by as little as it asks for."""
    least = SMALLEST_INERTIA * state.total_mass
    mass = max(numbers.mass, SMALLEST_MASS * state.total_mass)
    inertia, noticed = physical_inertia(numbers.inertia, least, state.skeleton.planar)
    if noticed:
        state.raised.setdefault(link.name)
    full = [inertia[k] for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    ElementTree.SubElement(
        body,
        "inertial",
        {"pos": _numbers(numbers.centre), "mass": repr(mass), "fullinertia": _numbers(full)},
    )


# ---------------------------------------------------------------------- closures


def _add_site(
    state: _Writing, i: int, at: float, name: str, offset: Array, rotation: Array
) -> None:
    """Add a frame to a link, `at` metres from its root."""
    piece, start = _piece_at(state, i, at)
    place = np.array([at - start, 0.0, 0.0]) + offset
    attributes = {"name": name, "pos": _numbers(place), "quat": _quaternion(rotation)}
    ElementTree.SubElement(piece, "site", attributes)


def _end_frame(
    state: _Writing, end: ClosureEnd, world: ElementTree.Element
) -> tuple[ElementTree.Element, Array, Array]:
    """The element that holds one end of a closure, and its frame there."""
    R = rpy_rotation(end.mount.rpy)
    p = np.asarray(end.mount.xyz, float)
    i = state.skeleton.robot.end_index(end)
    if i < 0:
        return world, p, R
    link = state.skeleton.links[i]
    turned = np.asarray(link.chain_link.R_SL, float)
    at = _tip_length(state, link) if end.at is None else float(end.at)
    piece, start = _piece_at(state, i, at)
    return piece, np.array([at - start, 0.0, 0.0]) + turned @ p, turned @ R


def _add_closure(
    state: _Writing,
    k: int,
    closure: Closure,
    world: ElementTree.Element,
    equality: ElementTree.Element,
) -> None:
    """Tie two frames: a small body moves on the first as the closure lets it, held to the second.

    A spherical closure, and one that turns in the plane, hold the two points together alone.
    """
    frames = [_end_frame(state, end, world) for end in closure.ends]
    names = [f"closure:{k}:{word}" for word in ("a", "b")]
    pointwise = closure.type == "spherical" or (
        state.skeleton.planar and closure.type in ("revolute", "universal")
    )
    first, p, R = frames[0]
    if not pointwise:
        body = ElementTree.SubElement(
            first, "body", {"name": f"closure:{k}", "pos": _numbers(p), "quat": _quaternion(R)}
        )
        for n, (kind, axis) in enumerate(_closure_motions(closure)):
            attributes = {"name": f"closure:{k}:{n}", "type": kind, "axis": _numbers(axis)}
            ElementTree.SubElement(body, "joint", attributes)
        least = SMALLEST_INERTIA * state.total_mass
        ElementTree.SubElement(
            body,
            "inertial",
            {
                "pos": "0 0 0",
                "mass": repr(SMALLEST_MASS * state.total_mass),
                "fullinertia": _numbers([least, least, least, 0, 0, 0]),
            },
        )
        first = body
        p = np.zeros(3)
        R = np.eye(3)
    for (element, place, turned), name in zip([(first, p, R), frames[1]], names, strict=True):
        attributes = {"name": name, "pos": _numbers(place), "quat": _quaternion(turned)}
        ElementTree.SubElement(element, "site", attributes)
    kind = "connect" if pointwise else "weld"
    attributes = {"site1": names[0], "site2": names[1], "solimp": "0.99 0.9999 0.001"}
    ElementTree.SubElement(equality, kind, attributes)


def _closure_motions(closure: Closure) -> list[tuple[str, Array]]:
    """The motions that a closure leaves free, in turn, axes of its first frame."""
    default = (1, 0, 0) if closure.type == "prismatic" else (0, 0, 1)
    axis = np.asarray(closure.axis or default, float)
    if closure.type == "revolute":
        return [("hinge", axis)]
    if closure.type == "prismatic":
        return [("slide", axis)]
    if closure.type == "cylindrical":
        return [("slide", axis), ("hinge", axis)]
    if closure.type == "universal":
        first, second = closure.axes or ((0, 1, 0), (0, 0, 1))
        # the second axis belongs to the other frame, which stands square to the first
        return [("hinge", np.asarray(first, float)), ("hinge", np.asarray(second, float))]
    if closure.type == "slot":
        turns = [("hinge", turn) for turn in np.eye(3)[::-1]]
        return [("slide", axis), *turns]
    return []  # fixed


# ---------------------------------------------------------------------- its frequencies


def pose_model(model: Any, robot: Robot, theta: Array) -> Any:
    """Return MuJoCo's data with the motors at theta and all loops closed."""
    import mujoco

    data = mujoco.MjData(model)
    motors = {xml_text(link.name) for link in skeleton_of(robot).motors}
    held_dofs: list[int] = []
    for word, value in joint_values(robot, theta).items():
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, word)
        data.qpos[model.jnt_qposadr[number]] = value
        if word in motors:
            held_dofs.append(int(model.jnt_dofadr[number]))
    # Springs stay unbent; what loops determine is found by Newton's method
    loose = []
    for number in range(model.njnt):
        dof = int(model.jnt_dofadr[number])
        if dof not in held_dofs and not joint_stiffness(model, number):
            loose.append(dof)
    for _ in range(50):
        mujoco.mj_forward(model, data)
        J, error = constraint_rows(model, data)
        if not len(error) or np.abs(error).max() < 1e-12:
            break
        data.qpos[loose] -= np.linalg.lstsq(J[:, loose], error, rcond=1e-10)[0]
    data.qvel[:] = 0
    mujoco.mj_forward(model, data)
    return data


def joint_values(robot: Robot, theta: Array) -> dict[str, float]:
    """Return the value of every joint in a chain model with the motors at theta, unbent."""
    skeleton = skeleton_of(robot)
    tree = architecture_of(skeleton.robot)
    found = tree.resolve(theta, None)
    if found.reason[0]:
        raise SuppleError(found.reason[0])
    values: list[list[float]] = [[] for _ in skeleton.links]
    for k, coordinate in enumerate(tree.joints.coordinates):
        values[coordinate.link].append(float(found.at[0, k]))
    named: dict[str, float] = {}
    for link, own in zip(skeleton.links, values, strict=True):
        name = xml_text(link.name)
        if link.kind == "free":
            order = [0, 1, 2] if skeleton.planar else [0, 1, 2, 5, 4, 3]
            for word, k in zip(_free_words(skeleton.planar), order, strict=True):
                named[f"{name}:{word}"] = own[k]
        elif len(link.axes) > 1:
            for k in link.order:
                named[f"{name}:{k + 1}"] = own[k]
        elif link.kind != "fixed" and own:
            named[name] = own[0]
    return named


def joint_stiffness(model: Any, number: int) -> float:
    """Linear stiffness of a joint, whatever else its spring has."""
    return float(np.ravel(model.jnt_stiffness[number])[0])


def constraint_rows(model: Any, data: Any) -> tuple[Array, Array]:
    """Jacobian (rows, nv) and error (rows,) of the equality constraints."""
    import mujoco

    rows = np.asarray(data.efc_type) == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    J = np.asarray(data.efc_J, float).reshape(-1, model.nv)
    return J[rows], np.asarray(data.efc_pos, float)[rows]


def mass_matrix(model: Any, data: Any) -> Array:
    """M (nv, nv); versions of MuJoCo differ in how they are asked."""
    import mujoco

    M = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, M)
    except TypeError:
        mujoco.mj_fullM(model, M, data.qM)
    return M


def structure_matrices(model: Any, data: Any) -> tuple[Array, Array, float]:
    """Return M and K of what moves with the motors locked, constraints kept; the highest omega."""
    M = mass_matrix(model, data)
    K = np.zeros(model.nv)
    held_dofs = []
    motors = {int(joint) for joint in model.actuator_trnid[:, 0]}
    for number in range(model.njnt):
        dof = int(model.jnt_dofadr[number])
        K[dof] = joint_stiffness(model, number)
        if number in motors:
            held_dofs.append(dof)
    free = [k for k in range(model.nv) if k not in held_dofs]
    if not free:
        return np.zeros((0, 0)), np.zeros((0, 0)), 0.0
    M = M[np.ix_(free, free)]
    stiffness = np.diag(K[free])
    J, _ = constraint_rows(model, data)
    if len(J):
        _, sizes, Vt = np.linalg.svd(J[:, free])
        rank = int((sizes > 1e-9 * sizes.max(initial=0.0)).sum())
        N = Vt[rank:].T
        M = N.T @ M @ N
        stiffness = N.T @ stiffness @ N
    highest = elastic_frequencies(M, stiffness, len(M))
    return M, stiffness, float(2 * np.pi * highest[-1]) if len(highest) else 0.0


def _add_keyframe(tree: ElementTree.Element, qpos: Array) -> None:
    keyframe = ElementTree.SubElement(tree, "keyframe")
    ElementTree.SubElement(keyframe, "key", {"name": "start", "qpos": _numbers(qpos)})


def _text(tree: ElementTree.Element) -> str:
    ElementTree.indent(tree)
    return ElementTree.tostring(tree, "unicode") + "\n"
