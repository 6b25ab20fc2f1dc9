"""URDF plus sidecar to a serial robot: the chain from base to tip, side branches lumped to it."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..beams.varying import beam_of
from ..errors import RobotError, RobotWarning
from ..faults import nearest, quote, validate_data
from ..kernels.spatial import axis_rotation, cross_matrix, rpy_of
from ..robot import Body, Elastic, Mount, Robot, SerialRobot, Visual
from .lenient import without_negative
from .sidecar import FlexibleLink, Sidecar
from .urdf_text import UrdfJoint, UrdfLink, read_urdf

__all__ = ["urdf_robot"]

Array = NDArray[np.float64]
_PLACED = ("length", "tip", "roll")  # of a beam: where the URDF's frames say
NO_LIMIT = 100.0  # m: stroke of a sliding joint without limits
# Words in the names of links and joints that grasp, and of frames at which tools are held
_FINGER = re.compile(
    r"finger|thumb|knuckle|jaw|claw|pinky|hand.*_(index|middle|ring|little|mrl)", re.IGNORECASE
)
_GRIPPER = re.compile(r"gripper", re.IGNORECASE)
_WRIST = re.compile(r"yaw|pitch|roll|wrist", re.IGNORECASE)
_TOOL = re.compile(
    r"tool|tcp|flange|end_?effector|grasp|(^|_)eef?(_|$)|(^|_)tip(_|$)", re.IGNORECASE
)


@dataclass(frozen=True)
class _Tree:
    """Links by name, the joint above each, the joints below each, and the root."""

    links: dict[str, UrdfLink]
    above: dict[str, UrdfJoint]
    below: dict[str, list[UrdfJoint]]
    root: str


def urdf_robot(text: str, sidecar: Sidecar, where: str = "", lenient: bool = False) -> Robot:
    """Return the chain of a URDF from base to tip as a serial robot, bending as the sidecar says.

    Each link keeps its URDF frame: root = parent frame . origin . motion. What is left out or
    lumped is told by a RobotWarning; a loop, a floating or planar joint in the chain and, unless
    `lenient`, an unphysical inertia on it are refused. A mimic joint follows the one it names where
    both move the tip.
    """
    name, links, joints = read_urdf(text, where, lenient)
    tree = _tree(links, joints, where)
    base, tip = _ends(tree, sidecar, where)
    chain = _chain(tree, base, tip, where)
    tree = _with_usable_inertias(tree, chain, sidecar, lenient, where)
    _check_drives(chain, sidecar, where)
    renamed = [joint.child for joint in chain if _one_word(joint.child) != joint.child]
    if renamed:
        _warn(f"dots and spaces in the names of links become underscores: {', '.join(renamed)}")
    on_it = [joint.child for joint in chain]
    for flexible in sidecar.flexible:
        if flexible not in on_it:
            suggestion = nearest(flexible, on_it)
            hint = (
                f"did you mean '{suggestion}'?"
                if suggestion
                else f"its links are {', '.join(on_it)}"
            )
            sentence = f"flexible.{flexible} is no link of the chain from {base} to {tip}: {hint}"
            raise RobotError([sentence], where)
    robot = _serial_robot(tree, chain, sidecar, name, where)
    options = {
        link: _with_rest(tree.links[link], bends, robot, link, chain)
        for link, bends in sidecar.flexible.items()
    }
    if any(options[link] is not bends for link, bends in sidecar.flexible.items()):
        sidecar = sidecar.model_copy(update={"flexible": options})
        robot = _serial_robot(tree, chain, sidecar, name, where)
    _tell_masses(tree, sidecar, robot)
    if sidecar.flexible and not any(drive.stiffness for drive in sidecar.joints.values()):
        _warn(
            "all gears are rigid: those of most arms are softer than the links; give their "
            "stiffness in N m/rad, as joints: {JOINT: {stiffness: 2e4}} in the sidecar or by "
            "--stiffness JOINT=2e4"
        )
    return robot


def _with_usable_inertias(
    tree: _Tree, chain: list[UrdfJoint], sidecar: Sidecar, lenient: bool, where: str
) -> _Tree:
    """Judge the inertias that no body has: a fault on the chain, a note elsewhere.

    They are taken as they are, negative principal values as zero. A beam that replaces the inertial
    of its link makes it one that does not matter.
    """
    mattering = []
    for joint in chain:
        bends = sidecar.flexible.get(joint.child)
        if bends is None or bends.rest == "keep":
            mattering.append(joint.child)
    faults = []
    elsewhere = []
    links = dict(tree.links)
    for name, link in tree.links.items():
        if link.mass == 0 and link.inertia.any() and name in mattering:
            _warn(f"link {name} has an inertia but no mass: it is taken as it is")
        if link.problem is None:
            continue
        lifted = without_negative(link.inertia)
        how = "taken as it is" if lifted is link.inertia else "taken with zero instead"
        links[name] = replace(link, inertia=lifted)
        if name not in mattering:
            elsewhere.append(name)
        elif lenient:
            _warn(f"link {name}: inertia: {link.problem}; {how}")
        else:
            faults.append(
                f"link {quote(name)}: inertia: {link.problem}; mend it, or load it with --lenient "
                "(lenient=True)"
            )
    if faults:
        raise RobotError(faults, where)
    if elsewhere:
        _warn(f"inertias that no body has, off the chain and taken: {', '.join(elsewhere)}")
    return replace(tree, links=links)


def _check_drives(chain: list[UrdfJoint], sidecar: Sidecar, where: str) -> None:
    """Refuse `joints` of a sidecar that do not move the tip."""
    moving = [joint for joint in chain if joint.type != "fixed" and joint.mimic is None]
    known = [joint.name for joint in moving] + [joint.child for joint in moving]
    faults = []
    for given in sidecar.joints:
        if given not in known:
            suggestion = nearest(given, known)
            names = ", ".join(joint.name for joint in moving)
            hint = f"did you mean '{suggestion}'?" if suggestion else f"they are {names}"
            faults.append(f"joints.{given} is no joint that moves the tip: {hint}")
    if faults:
        raise RobotError(faults, where)


def _drive_of(joint: UrdfJoint, sidecar: Sidecar) -> dict[str, Any]:
    """What the sidecar says of a joint, by the name of the link it moves or its own, which wins."""
    given: dict[str, Any] = {}
    for name in (joint.child, joint.name):
        if name in sidecar.joints:
            given |= sidecar.joints[name].given()
    return given


def _serial_robot(
    tree: _Tree, chain: list[UrdfJoint], sidecar: Sidecar, name: str, where: str
) -> Robot:
    """The joints of a chain and what hangs from them as a serial robot."""
    base = chain[0].parent
    tip = chain[-1].child
    parts: list[dict[str, Any]] = []
    own: dict[str, str] = {}  # the part that each joint moves
    frame = np.eye(4)  # the URDF frame seen from the end of the last part
    for i, joint in enumerate(chain):
        first = len(parts)
        following = chain[i + 1] if i + 1 < len(chain) else None
        body = _lump_branches(tree, joint.child, None if following is None else following.child)
        bends = sidecar.flexible.get(joint.child)
        after = None if following is None else following.child
        if bends is None:
            frame = _rigid(parts, joint, body, frame)
        else:
            rest = _lump_branches(tree, joint.child, after, own=False)
            frame = _beam(parts, joint, bends, (rest, following), frame, where)
        # A link that bends is drawn as its beam; `carried` is the URDF frame seen from the end
        visuals = _drawn(tree, joint.child, after, frame, own=bends is None)
        if visuals:
            parts[-1]["visuals"] = visuals
        for part in parts[first:]:
            part["name"] = _one_word(part["name"])
        own[joint.name] = parts[first]["name"]
        parts[first]["joint"] |= _drive_of(joint, sidecar)
    for part in parts:
        if "mimic" in part["joint"]:
            part["joint"]["mimic"]["joint"] = own[part["joint"]["mimic"]["joint"]]
    if not np.array_equal(frame, np.eye(4)):
        last = {"name": _one_word(f"{tip}_tip"), "theory": "rigid", "joint": {"type": "fixed"}}
        if tip in sidecar.flexible:
            frame[:3, 3] = 0.0  # the tip of a beam is its end, in URDF axes
        last["joint"] = {"type": "fixed", "mount": _mount(frame)}
        parts.append(last)
    data: dict[str, Any] = {
        "name": sidecar.name or name,
        "source": f"URDF {name}, from {base} to {tip}",
        "gravity": sidecar.gravity,
        "materials": dict(sidecar.materials),
        "sections": dict(sidecar.sections),
        "links": parts,
        "payload": sidecar.payload,
        "visuals": _drawn(tree, base, chain[0].child, np.eye(4)),
    }
    return validate_data(SerialRobot, data, where=where)


def _one_word(name: str) -> str:
    """A URDF's name as that of a link, which is part of dotted paths."""
    return re.sub(r"[\s.]", "_", name)


def _beam_mass(robot: Robot, name: str) -> Array:
    """(6, 6) rigid mass of a link's beam about its root, in the beam's axes."""
    assert isinstance(robot, SerialRobot)
    link = next(each for each in robot.links if each.name == _one_word(name))
    return beam_of(robot, link).mass_matrix()


def _with_rest(
    given: UrdfLink, bends: FlexibleLink, robot: Robot, name: str, chain: list[UrdfJoint]
) -> FlexibleLink:
    """Return a beam with what it does not weigh of the URDF's inertial as hub and end.

    They share the mass so that the mass centre stays where it is, and the inertia that their
    distance does not give already: as a rigid body the link is what it was. An inertia that is
    less than the beam's own is left out, with a note.
    """
    if bends.rest != "keep" or not given.mass:
        return bends
    k = next(i for i, joint in enumerate(chain) if joint.child == name)
    start = np.asarray(bends.from_)
    stop = np.asarray(chain[k + 1].origin[:3, 3] if bends.to is None else bends.to)
    along = stop - start
    R = _axes(along, bends.y)
    # The beam: mass, mass centre and inertia about it, in the link's axes
    beam = _beam_mass(robot, name)
    beam_mass = float(beam[0, 0])
    beam_com = start + along / np.linalg.norm(along) * beam[1, 5] / beam_mass
    beam_lever = cross_matrix(R.T @ (beam_com - start))
    beam_inertia = R @ (beam[3:, 3:] + beam_mass * beam_lever @ beam_lever) @ R.T
    mass = given.mass - beam_mass
    if mass <= 0:
        return bends
    com = (given.mass * given.com - beam_mass * beam_com) / mass
    inertia = given.inertia - beam_inertia
    for each, centre, sign in ((given.mass, given.com, 1.0), (beam_mass, beam_com, -1.0)):
        lever = cross_matrix(centre - com)
        inertia = inertia - sign * each * lever @ lever
    # The mass centre lies this part of the way from hub to end, and as far beside both
    part = float(np.clip((com - start) @ along / (along @ along), 0.0, 1.0))
    across = com - start - part * along
    lever = cross_matrix(along)
    by_distance = -mass * part * (1 - part) * lever @ lever
    # Two bodies at the very ends may have more inertia than there is: then they move inwards
    spread = 1.0
    if _is_of_a_body(inertia):
        low = 0.0
        if not _is_of_a_body(inertia - by_distance):
            while spread - low > 1e-9:
                middle = (low + spread) / 2
                if _is_of_a_body(inertia - middle**2 * by_distance):
                    low = middle
                else:
                    spread = middle
            spread = low
        inertia = inertia - spread**2 * by_distance
    else:
        inertia = np.zeros((3, 3))
        _warn(f"link {name}: the inertia that its beam leaves over is no body's, and left out")
    inwards = (1 - spread) * along
    bodies = {}
    for word, share, offset in (
        ("hub", 1 - part, across + part * inwards),
        ("end", part, across - (1 - part) * inwards),
    ):
        if share * mass > 1e-12 * given.mass:
            bodies[word] = _body(share * mass, offset, share * inertia)
    return bends.model_copy(update=bodies)


def _is_of_a_body(inertia: Array) -> bool:
    """Whether a body can have this inertia: no principal value exceeds the other two."""
    values = np.linalg.eigvalsh(inertia)
    return bool(values[0] >= 0 and values[0] + values[1] >= values[2])


def _tell_masses(tree: _Tree, sidecar: Sidecar, robot: Robot) -> None:
    """Say what each link that bends weighed, and what it weighs now."""
    for name, bends in sidecar.flexible.items():
        old = tree.links[name].mass
        if not old:
            continue
        beam = float(_beam_mass(robot, name)[0, 0])
        bodies = {"hub": bends.hub, "end": bends.end}
        masses = {word: body.mass for word, body in bodies.items() if body is not None}
        sentence = f"its beam, hub and end replace {old:g} kg of the URDF's inertial: "
        sentence += ", ".join(
            f"{word} {mass:.4g} kg" for word, mass in {"beam": beam, **masses}.items()
        )
        new = beam + sum(masses.values())
        change = new - old
        if abs(change) > 1e-6 * old:
            sentence += f"; {abs(change):.4g} kg {'more' if change > 0 else 'less'}"
            if change < 0 and not masses:
                sentence += " (`rest: keep`, or --rest keep, makes hub and end of it)"
        _warn(f"link {name}: {sentence}")


def _tree(links: list[UrdfLink], joints: list[UrdfJoint], where: str) -> _Tree:
    """The tree of links, or every reason why it is none."""
    by_name = {link.name: link for link in links}
    above: dict[str, UrdfJoint] = {}
    below: dict[str, list[UrdfJoint]] = {link.name: [] for link in links}
    faults = []
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in by_name:
                suggestion = nearest(name, by_name)
                hint = f"; did you mean '{suggestion}'?" if suggestion else ""
                sentence = f"joint {quote(joint.name)}: its {role} {quote(name)} is no link"
                faults.append(sentence + hint)
        if joint.child in above:
            first = above[joint.child].name
            faults.append(
                f"link {quote(joint.child)} hangs from two joints, {quote(first)} and "
                f"{quote(joint.name)}: a URDF is a tree; write loops as architecture: mechanism"
            )
        above.setdefault(joint.child, joint)
        below.setdefault(joint.parent, []).append(joint)
    roots = [name for name in by_name if name not in above]
    if not faults and not roots:
        faults.append("the joints go round in a circle: no link is the first one")
    if not faults and len(roots) > 1:
        sentence = ", ".join(map(quote, roots[:5]))
        faults.append(
            f"links {sentence} hang from no joint: one of them is the base, join the others"
        )
    reached = set()
    open_ = roots[:1]
    while open_ and not faults:
        name = open_.pop()
        reached.add(name)
        open_ += [joint.child for joint in below[name]]
    if not faults and len(reached) < len(by_name):
        lost = ", ".join(quote(name) for name in by_name if name not in reached)
        faults.append(f"the joints of {lost} go round in a circle, apart from the base")
    if faults:
        raise RobotError(faults, where)
    return _Tree(by_name, above, below, roots[0])


def _ends(tree: _Tree, sidecar: Sidecar, where: str) -> tuple[str, str]:
    """Base and tip: those named, else the root and the link behind the most moving joints.

    A finger is no tip where anything else moves: the frame that carries it is.
    """
    for key, given in (("base", sidecar.base), ("tip", sidecar.tip)):
        if given is not None and given not in tree.links:
            suggestion = nearest(given, tree.links)
            hint = (
                f"did you mean '{suggestion}'?"
                if suggestion
                else f"links are {', '.join(tree.links)}"
            )
            raise RobotError([f"{key} {quote(given)} is no link of the URDF: {hint}"], where)
    base = sidecar.base or tree.root
    if sidecar.tip is not None:
        return base, sidecar.tip
    tip, moving = _farthest(tree, base, fingers=False)
    if moving == 0:
        tip, _ = _farthest(tree, base, fingers=True)
    return base, tip


def _farthest(tree: _Tree, base: str, fingers: bool) -> tuple[str, int]:
    """The link behind the most moving joints, and how many: the tool's, else the deepest."""
    best = (-1, False, -1)
    tip = base
    open_ = [(base, 0, 0)]
    while open_:
        name, moving, depth = open_.pop(0)
        rank = (moving, bool(_TOOL.search(name)), depth)
        if rank > best:
            best = rank
            tip = name
        for joint in tree.below[name]:
            if _grasps(joint) and not fingers:
                continue
            moves = joint.type != "fixed" and joint.mimic is None
            open_.append((joint.child, moving + moves, depth + 1))
    return tip, best[0]


def _grasps(joint: UrdfJoint) -> bool:
    """Whether a joint carries a finger, by the names of the joint and of its link."""
    opens = _GRIPPER.search(joint.name) and not _WRIST.search(joint.name)
    if joint.type != "fixed" and (opens or _FINGER.search(joint.name)):
        return True
    return bool(_FINGER.search(joint.child))


def _chain(tree: _Tree, base: str, tip: str, where: str) -> list[UrdfJoint]:
    """The joints from base to tip."""
    chain: list[UrdfJoint] = []
    name = tip
    while name != base:
        if name not in tree.above:
            raise RobotError([f"tip {quote(tip)} does not hang from base {quote(base)}"], where)
        chain.append(tree.above[name])
        name = chain[-1].parent
    if not chain:
        raise RobotError([f"no joint lies between base {quote(base)} and tip {quote(tip)}"], where)
    chain.reverse()
    leading = {joint.name for joint in chain if joint.type != "fixed"}
    faults = []
    for i, joint in enumerate(chain):
        if joint.type in ("floating", "planar"):
            faults.append(
                f"joint {quote(joint.name)} is {joint.type}: on the way to the tip joints are "
                "revolute, continuous, prismatic or fixed; name another base or tip in the sidecar"
            )
        if joint.mimic is not None and joint.mimic not in leading and joint.type != "fixed":
            _warn(
                f"joint {joint.name} mimics {joint.mimic}, which is not on the way to the tip: it "
                f"has no coordinate and is held at {joint.offset:g}"
            )
            placement = joint.origin @ _joint_transform_at_rest(joint)
            chain[i] = replace(joint, type="fixed", origin=placement, mimic=None)
    if faults:
        raise RobotError(faults, where)
    light = [joint.child for joint in chain if tree.links[joint.child].is_massless]
    if light:
        _warn(f"without an inertial, and massless here: {', '.join(light)}")
    on_it = {joint.child for joint in chain}
    each = [j.child for n in (base, *(joint.child for joint in chain)) for j in tree.below[n]]
    branches = [child for child in each if child not in on_it]
    if branches:
        listed = ", ".join(branches)
        _warn(f"side branches are lumped to the chain, their joints at zero: {listed}")
    return chain


def _lump_branches(tree: _Tree, name: str, following: str | None, own: bool = True) -> Body | None:
    """A link and all side branches that hang from it as one body about its frame, or None."""
    bodies: list[tuple[float, Array, Array]] = []
    open_ = [(name, np.eye(4), own)]
    while open_:
        at, T, counts = open_.pop()
        link = tree.links[at]
        R = T[:3, :3]
        if counts and not link.is_massless:
            bodies.append((link.mass or 0.0, T[:3, 3] + R @ link.com, R @ link.inertia @ R.T))
        for joint in tree.below[at]:
            if at == name and joint.child == following:
                continue
            open_.append((joint.child, T @ joint.origin @ _joint_transform_at_rest(joint), True))
    return _one(bodies) if bodies else None


def _drawn(
    tree: _Tree, name: str, following: str | None, carried: Array, own: bool = True
) -> tuple[Visual, ...]:
    """Visuals of a link and of the side branches on it, in the frame in which it is `carried`."""
    found = []
    open_ = [(name, carried, own)]
    while open_:
        at, T, counts = open_.pop()
        for visual in tree.links[at].visuals if counts else ():
            mount = Mount(**_mount(T @ visual.transform))
            found.append(visual.model_copy(update={"mount": mount}))
        for joint in tree.below[at]:
            if at != name or joint.child != following:
                open_.append(
                    (joint.child, T @ joint.origin @ _joint_transform_at_rest(joint), True)
                )
    return tuple(found)


def _one(bodies: list[tuple[float, Array, Array]]) -> Body:
    """Bodies (mass, centre, tensor about it) as one."""
    mass = sum(m for m, _, _ in bodies)
    if len(bodies) == 1:
        return _body(*bodies[0])
    com = sum((m * c for m, c, _ in bodies), np.zeros(3)) / (mass or 1.0)
    tensor = np.zeros((3, 3))
    for m, c, inertia in bodies:
        C = cross_matrix(c - com)
        tensor += inertia - m * C @ C
    return _body(mass, com, tensor)


def _joint_transform_at_rest(joint: UrdfJoint) -> Array:
    """A joint of a side branch at zero, a mimic one at its offset."""
    T = np.eye(4)
    if joint.type == "prismatic":
        T[:3, 3] = joint.offset * joint.axis / np.linalg.norm(joint.axis)
    elif joint.type in ("revolute", "continuous") and joint.offset:
        T[:3, :3] = axis_rotation(joint.axis / np.linalg.norm(joint.axis), joint.offset)
    return T


def _body(mass: float, com: Array, tensor: Array) -> Body:
    I = tensor
    six = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return Body(mass=mass, com=tuple(com.tolist()), inertia=tuple(float(v) for v in six))


def _rigid(
    parts: list[dict[str, Any]], joint: UrdfJoint, body: Body | None, carried: Array
) -> Array:
    """Add a rigid link in its URDF frame; return that frame seen from the part's end."""
    T = carried @ joint.origin
    part: dict[str, Any] = {"name": joint.child, "theory": "rigid"}
    if joint.type != "prismatic":
        part["joint"] = _joint(joint, T, np.eye(3))
        if body is not None:
            part["body"] = body
        parts.append(part)
        return np.eye(4)
    slide = np.eye(4)
    slide[:3, :3] = _axes(joint.axis, None)
    limits = joint.limits
    if limits is None:
        _warn(f"joint {joint.name} slides without limits: a stroke of {NO_LIMIT:g} m is assumed")
    part["length"] = NO_LIMIT if limits is None else max(limits[1], limits[1] - limits[0])
    part["joint"] = _joint(joint, T @ slide, slide[:3, :3])
    if body is not None:
        part["tip"] = _rotate_body(body, slide[:3, :3])
    parts.append(part)
    return np.asarray(np.linalg.inv(slide))


def _beam(
    parts: list[dict[str, Any]],
    joint: UrdfJoint,
    bends: FlexibleLink,
    beyond: tuple[Body | None, UrdfJoint | None],
    carried: Array,
    where: str,
) -> Array:
    """Add a link that bends, after a rigid one that turns where its beam is not on the axis."""
    rest, following = beyond
    start = np.asarray(bends.from_)
    if bends.to is None and following is None:
        sentence = f"flexible.{joint.child}: to is missing: it is the last link, say where it ends"
        raise RobotError([sentence], where)
    stop = np.asarray(bends.to) if bends.to is not None else following.origin[:3, 3]  # type: ignore[union-attr]
    length = float(np.linalg.norm(stop - start))
    if not length:
        sentence = f"flexible.{joint.child}: from and to are the same point: a beam needs a length"
        raise RobotError([sentence], where)
    beam = np.eye(4)
    end = np.eye(4)
    beam[:3, :3] = _axes(stop - start, bends.y)
    beam[:3, 3] = start
    end[:3, :3] = beam[:3, :3]
    end[:3, 3] = stop
    T = carried @ joint.origin
    off = np.linalg.norm(np.cross(joint.axis, start)) / max(
        float(np.linalg.norm(joint.axis)), 1e-300
    )
    name = joint.child
    if joint.type == "prismatic" or (joint.type != "fixed" and off > 1e-12 * length):
        carried = _rigid(parts, joint, None, carried)
        parts[-1]["name"] = f"{name}_root"
        place: dict[str, Any] = {"type": "fixed", "mount": _mount(carried @ beam)}
    else:
        place = _joint(joint, T @ beam, beam[:3, :3])
    if bends.hub is not None:
        place["hub"] = _rotate_body(bends.hub, beam[:3, :3], np.asarray(joint.axis))
    own = {key: getattr(bends, key) for key in Elastic.model_fields if key not in _PLACED}
    part: dict[str, Any] = {"name": name, "joint": place, **own, "length": length}
    tips = [body for body in (bends.end,) if body is not None]
    if rest is not None:  # what hangs from it is carried by its end
        tips.append(rest.model_copy(update={"com": tuple((np.asarray(rest.com) - stop).tolist())}))
    if tips:
        merged = _one([(tip.mass, np.asarray(tip.com), tip.tensor()) for tip in tips])
        part["tip"] = _rotate_body(merged, beam[:3, :3])
    parts.append(part)
    return np.asarray(np.linalg.inv(end))


def _rotate_body(body: Body, R: Array, axis: Array | None = None) -> Body:
    """A body in URDF axes as one in axes R; a single inertia counts about `axis`, else URDF z."""
    tensor = body.tensor() if axis is None or not axis.any() else body.tensor(tuple(axis))
    return _body(body.mass, R.T @ np.asarray(body.com), R.T @ tensor @ R)


def _joint(joint: UrdfJoint, T: Array, R: Array) -> dict[str, Any]:
    """The joint of a part mounted at T, its axis in axes R of the URDF frame."""
    if joint.type == "fixed":
        return {"type": "fixed", "mount": _mount(T)}
    sliding = joint.type == "prismatic"
    found: dict[str, Any] = {
        "type": "prismatic" if sliding else "revolute",
        "name": joint.name or None,
        "mount": _mount(T),
        "damping": joint.damping,
        "friction": joint.friction,
        "limits": joint.limits,
    }
    if not sliding:
        found["axis"] = tuple((R.T @ joint.axis + 0.0).tolist())
    if joint.mimic is not None:
        how = {"multiplier": joint.multiplier, "offset": joint.offset}
        return found | {"mimic": {"joint": joint.mimic, **how}}
    for key, value in (("effort_limit", joint.effort), ("speed_limit", joint.velocity)):
        if value:
            found[key] = value
    return found


def _mount(T: Array) -> dict[str, Any]:
    """A transform as xyz and rpy."""
    xyz = [0.0 if abs(x) < 1e-15 else float(x) for x in T[:3, 3]]
    return {"xyz": tuple(xyz), "rpy": tuple(rpy_of(T[:3, :3]))}


def _axes(x: Array, y: Any) -> Array:
    """Axes (3, 3) with x along a direction and y as near to the given one as can be."""
    x = np.asarray(x, float) / np.linalg.norm(x)
    preferred = np.array([0.0, 1.0, 0.0]) if y is None else np.asarray(y, float)
    if np.linalg.norm(np.cross(x, preferred)) < 1e-6 * np.linalg.norm(preferred):
        preferred = np.array([0.0, 0.0, 1.0])
    z = np.cross(x, preferred)
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RobotWarning, stacklevel=4)
