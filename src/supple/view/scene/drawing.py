"""What a robot is drawn as: outlines of its links and the solids that sit on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import DeltaKinematics, lower
from ...architectures.tree import Kinematics, Tree, place_links
from ...beams.varying import VaryingBeam, beam_of
from ...errors import SuppleError
from ...files.meshes import read_mesh
from ...kernels.meshes import Mesh, box_mesh, cylinder_mesh, sphere_mesh
from ...robot import (
    Body,
    ClosureEnd,
    DeltaRobot,
    Elastic,
    JointedLink,
    MechanismLink,
    Robot,
    Visual,
    cached_for_robot,
)
from ...sections import Box, Circle, General, Profile, Rectangle, Shape, Tube

__all__ = ["MeshPart", "Outline", "Solid", "draw_robot", "draw_rods", "draw_visuals"]

Array = NDArray[np.float64]
STEEL = 7800.0  # a body is drawn as a steel ball of its mass
MOST_STROKE = 20.0  # m: what a sliding joint without limits counts for in the size of a robot
PLACES = 25  # along a link with stations
ROD = 0.014  # half thickness of a rod between joints, over the robot's size
NOMINAL = 0.012  # half thickness of a link whose section is not given, over the robot's size
THINNEST = 0.004  # half thickness below which a link is drawn thicker than it is, over the size


@dataclass(frozen=True)
class Outline:
    """A link's cross-section: (K, 2) corners y, z in link axes, m.

    `real` says whether the size is that of the section; `rigid` whether the link bends. `taper`,
    (M, 2): what multiplies y and z at even places along a link with stations, none otherwise.
    """

    name: str
    corners: Array
    real: bool
    rigid: bool
    round: bool
    taper: Array = field(default_factory=partial(np.ones, (0, 2)))


@dataclass(frozen=True)
class Solid:
    """A ball or a cylinder that moves with a link's root (end 0) or end (end 1); link -1: ground.

    Attributes
    ----------
    offset
        (3,), from that point, link axes.
    axis
        (3,), of a cylinder, link axes.
    role
        What it stands for: mass, joint, plate, base or link.
    far, far_end, far_offset
        Where a rod ends that begins there.
    """

    name: str
    kind: Literal["ball", "cylinder", "rod"]
    role: Literal["mass", "joint", "plate", "base", "link"]
    link: int
    end: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    radius: float = 0.0
    height: float = 0.0
    far: int = -1
    far_end: int = 0
    far_offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class MeshPart:
    """A mesh that moves with a link's end; link -1: ground.

    Attributes
    ----------
    vertices
        (V, 3), link axes from its end, m.
    faces
        (F, 3).
    colour
        Red, green and blue, 0 to 255.
    """

    name: str
    link: int
    vertices: Array
    faces: NDArray[np.int64]
    colour: tuple[int, int, int]


MOST_TRIANGLES = 6000  # of all meshes of a robot: what a page can sort as it moves
PALE = (176, 184, 193)  # a visual without a colour


Drawn = tuple[tuple[MeshPart, ...], tuple[str, ...]]


def draw_visuals(robot: Robot, names: tuple[str, ...]) -> Drawn:
    """Return the visuals of a robot whose links are called `names`, and the meshes that are lost.

    All meshes together have about `MOST_TRIANGLES`. They are read once for a robot.
    """
    return cached_for_robot(robot, ("visuals", names), _visual_parts, robot, names)


def _visual_parts(robot: Robot, names: tuple[str, ...]) -> Drawn:
    tree = lower(robot)
    each = [(-1, "base", visual) for visual in robot.visuals]
    last = {}
    for i, name in enumerate(names):
        last[name.partition("@")[0]] = i  # the last piece of a cut link has its end
    for name, i in last.items():
        link = tree.part_of_segment(name)
        if isinstance(link, JointedLink):
            each += [(i, name, visual) for visual in link.visuals]
    # Larger shapes have more of the triangles
    meshes = {}
    sizes = {}
    lost = []
    for k, (_, _, visual) in enumerate(each):
        try:
            meshes[k] = _visual_mesh(visual)
        except SuppleError as problem:
            lost.append(str(problem))
            continue
        sizes[k] = float(np.ptp(meshes[k][0] * visual.scale, axis=0).max())
    parts = []
    for k, mesh in meshes.items():
        i, name, visual = each[k]
        vertices, faces = mesh
        most = max(round(MOST_TRIANGLES * sizes[k] / sum(sizes.values())), 40)
        if visual.mesh is not None and len(faces) > most:
            vertices, faces = read_mesh(visual.mesh, most)
        T = visual.transform
        placed_vertices = vertices * np.asarray(visual.scale) @ T[:3, :3].T + T[:3, 3]
        if np.prod(visual.scale) < 0:
            faces = faces[:, ::-1]
        red, green, blue = (round(255 * c) for c in visual.colour or np.array(PALE) / 255)
        parts.append(MeshPart(name, i, placed_vertices, faces, (red, green, blue)))
    return tuple(parts), tuple(lost)


def _visual_mesh(visual: Visual) -> Mesh:
    if visual.box is not None:
        return box_mesh(visual.box)
    if visual.cylinder is not None:
        return cylinder_mesh(*visual.cylinder)
    if visual.sphere is not None:
        return sphere_mesh(visual.sphere)
    assert visual.mesh is not None
    return read_mesh(visual.mesh)


def draw_rods(
    robot: Robot, p: Array, ends: Array, R: Array, parents: tuple[int, ...], extent: float
) -> tuple[Solid, ...]:
    """Return rods between joints that mounts set apart: rigid links and columns under them.

    Given roots p, ends (V, n, 3) and axes R (V, n, 3, 3) of links at V poses. A Delta is drawn
    without, and ground bars of mechanisms are left out.
    """
    tree = lower(robot)
    if tree.plug_in in _DRAWN:
        return ()
    found = []
    for i, parent in enumerate(parents):
        if parent < 0:
            offset = p[:, i] if tree.open_chain else np.zeros((1, 3))
        else:
            offset = np.einsum("vji,vj->vi", R[:, parent], p[:, i] - ends[:, parent])
        apart = float(np.linalg.norm(offset[0]))
        if apart < 1e-4 * extent or np.abs(offset - offset[0]).max() > 1e-6 * extent:
            continue
        far = tuple(offset[0].tolist())
        rod = Solid(f"rod {i}", "rod", "link", parent, 1, radius=ROD * extent)
        found.append(replace(rod, far=parent, far_end=1, far_offset=far))
    return tuple(found)


def draw_robot(
    robot: Robot, names: tuple[str, ...]
) -> tuple[tuple[Outline, ...], tuple[Solid, ...]]:
    """Return the outlines of the links called `names`, and the solids.

    They do not depend on the pose, so that a robot on its way is only moved, not drawn anew.
    """
    tree = lower(robot)
    drawn = _DRAWN.get(tree.plug_in, _tree)
    stands = names.index("foundation") if "foundation" in names else -1
    outlines, solids = drawn(tree, tuple(name for name in names if name != "foundation"))
    if robot.foundation is not None and not any(s.role == "base" for s in solids):
        wide = 3 * max((s.radius for s in solids if s.role == "joint"), default=0.05)
        low = 0.3 * wide
        disc = Solid("foundation", "cylinder", "base", -1, 0, radius=wide, height=low)
        solids = (*solids, disc)
    if stands >= 0:  # a body among the links, with the base on it
        nothing = Outline("foundation", np.zeros((0, 2)), True, True, False)
        outlines = (*outlines[:stands], nothing, *outlines[stands:])
        places = [stands if s.role == "base" else s.link + (s.link >= stands) for s in solids]
        solids = tuple(
            replace(s, link=k, far=s.far + (s.far >= stands))
            for s, k in zip(solids, places, strict=True)
        )
    return outlines, solids


def _outline(
    robot: Robot,
    link: Elastic,
    name: str,
    extent: float,
    part: tuple[float, float] | None = None,
) -> Outline:
    """The outline of a link, or of a part of it from one place to another, m from its root."""
    # Sections at even places along a link with stations; None where sizes are not given
    beam = beam_of(robot, link) if link.stations is not None else None
    section = robot.section(link)
    sizes = None
    if isinstance(beam, VaryingBeam):
        start, stop = part or (0.0, beam.L)
        every = [beam.section(float(x)) for x in np.linspace(start, stop, PLACES)]
        known = [own for own in every if own is not None]
        sizes = known if len(known) == len(every) else None
    if sizes is not None:
        section = sizes[0]
    half, is_round = _half_sizes(section) if section else ((NOMINAL * extent,) * 2, True)
    y, z = (max(value, THINNEST * extent) for value in half)
    real = section is not None and (y, z) == half
    angles = np.linspace(0, 2 * np.pi, 10, endpoint=False)
    square = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]], float)
    corners = np.stack([np.cos(angles), np.sin(angles)], axis=1) if is_round else square
    if isinstance(section, Profile):
        corners = (np.array(section.outline) - section.centre()) / half
    c = math.cos(link.roll)
    s = math.sin(link.roll)
    turned = (corners * (y, z)) @ np.array([[c, s], [-s, c]])
    taper = np.ones((0, 2))
    if sizes is not None:
        taper = np.array([_half_sizes(each)[0] for each in sizes]) / half
    return Outline(name, turned, real, link.rigid, is_round, taper)


def _half_sizes(section: Shape) -> tuple[tuple[float, float], bool]:
    """Half sizes in y and z and whether the section is round."""
    if isinstance(section, Rectangle | Box):
        return (section.depth / 2, section.width / 2), False
    if isinstance(section, Circle | Tube):
        return (section.diameter / 2, section.diameter / 2), True
    if isinstance(section, Profile):
        return section.half_sizes(), False
    assert isinstance(section, General)
    c = section.constants()
    return (math.sqrt(3 * c.I_z / c.A), math.sqrt(3 * c.I_y / c.A)), False


def _ball(name: str, body: Body, link: int, end: int, extent: float) -> Solid:
    radius = (3 * body.mass / (4 * math.pi * STEEL)) ** (1 / 3)
    radius = min(max(radius, 0.012 * extent), 0.08 * extent)
    return Solid(name, "ball", "mass", link, end, body.com, (0.0, 0.0, 1.0), radius, 0.0)


def _joint(link: JointedLink, outline: Outline, i: int, extent: float) -> Solid:
    """A pin along the joint's axis a little larger than the section, or the guide of a slide."""
    y, z = np.abs(outline.corners).max(axis=0)
    along = np.abs(link.joint.direction)
    zero = (0.0, 0.0, 0.0)
    if link.joint.type == "prismatic":
        thick = max(1.8 * y, 1.8 * z, 0.02 * extent)
        return Solid(
            f"guide of {link.name}",
            "cylinder",
            "joint",
            i,
            0,
            zero,
            (1.0, 0.0, 0.0),
            thick,
            4 * thick,
        )
    across = y if along[2] > 0.7 else z if along[1] > 0.7 else max(y, z)
    radius = max(1.3 * across, 0.016 * extent)
    length = max(2.3 * float(along[1:] @ (y, z)), 2 * radius)
    a, b, c = link.joint.direction.tolist()
    name = f"joint of {link.name}"
    return Solid(name, "cylinder", "joint", i, 0, zero, (a, b, c), radius, length)


def _delta(tree: Tree, names: tuple[str, ...]) -> tuple[tuple[Outline, ...], tuple[Solid, ...]]:
    """Legs with their joints, the platform as a disc, the base as a ring."""
    robot = cast("DeltaRobot", tree.robot)
    outlines = []
    solids = []
    leg = (robot.upper.length or 0.0) + (robot.lower.length or 0.0)
    extent = 0.75 * (robot.base_radius + leg)  # a leg bent
    thin = 0.004 * extent
    for i, name in enumerate(names):
        link = tree.part_of_segment(name)
        if link is None:  # the platform
            plate = robot.platform
            point = np.zeros((0, 2))
            outlines.append(Outline(name, point, True, True, False))
            wide = plate.radius
            high = plate.thickness
            solids.append(Solid("platform", "cylinder", "plate", i, 0, radius=wide, height=high))
            # Where the two rods of a parallelogram meet the platform
            for k in range(3 if robot.lower.spacing is not None else 0):
                c = math.cos(robot.angles[k])
                s = math.sin(robot.angles[k])
                along = (-s, c, 0.0)
                r = robot.platform.radius
                rail = f"rail {k + 1} of the platform"
                long = robot.lower.spacing or 0.0
                solids.append(
                    Solid(rail, "cylinder", "joint", i, 0, (r * c, r * s, 0.0), along, thin, long)
                )
            continue
        outline = _outline(robot, link, name, extent)
        outlines.append(outline)
        size = max(2.2 * float(np.abs(outline.corners).max()), 0.012 * extent)
        axis = (0.0, 1.0, 0.0)
        if link is robot.upper:
            drive = f"motor of {name}"
            half = size / 2.2
            wide = max(min(1.5 * size, 0.02 * extent), 1.4 * half)
            solids.append(
                Solid(drive, "cylinder", "joint", i, 0, (0.0,) * 3, axis, wide, 2.4 * wide)
            )
            if (gap := robot.lower.spacing) is not None:
                bar = f"crossbar of {name}"
                zero = (0.0, 0.0, 0.0)
                solids.append(Solid(bar, "cylinder", "joint", i, 1, zero, axis, thin, gap))
        else:
            for end, letter in enumerate("BD"):
                word = f"joint {letter} of {name}"
                solids.append(Solid(word, "ball", "joint", i, end, radius=0.6 * size))
    wide = robot.base_radius
    solids.append(Solid("base", "cylinder", "base", -1, 0, radius=wide, height=3 * thin))
    if robot.payload is not None and robot.payload.mass > 0:
        solids.append(_ball("payload", robot.payload, len(names) - 1, 1, extent))
    return tuple(outlines), tuple(solids)


def _extent(tree: Tree) -> float:
    """Size of a robot, m: of a chain its links in a row, of others what they span at rest."""
    links = tree.form.links
    if tree.open_chain:
        extent = 0.0
        for link in links:
            share = 0.5 if link.joint.type == "prismatic" else 1.0
            extent += share * min(link.length or 0.0, MOST_STROKE)
            extent += float(np.linalg.norm(link.joint.mount.xyz))
        return extent or 1.0
    moved = place_links(tree, tree.resolve(tree.usual()["theta"], None).at)
    tips = [moved.frame(i, None, np.eye(3), np.zeros(3))[1] for i in range(len(links))]
    return float(np.ptp(np.concatenate([*tips, moved.at.p[0]]), axis=0).max()) or 1.0


def _tree(tree: Tree, names: tuple[str, ...]) -> tuple[tuple[Outline, ...], tuple[Solid, ...]]:
    """Links as they are, pins at revolute joints, balls where more is free, plates of bodies."""
    robot = tree.form
    links = {link.name: link for link in robot.links}
    extent = _extent(tree)
    outlines = []
    solids = []
    last = {}
    rods = [robot.closure_name(k) for k in range(len(robot.closures))]
    for i, name in enumerate(names):
        if name in rods:  # where a rod that gives way begins: the rod itself is drawn below
            outlines.append(Outline(name, np.zeros((0, 2)), True, True, False))
            continue
        link = links[name if name in links else name.rpartition("@")[0]]
        outline = _outline(robot, link, name, extent, _part_of(link, names, i))
        outlines.append(outline)
        last[link.name] = i
        if name == link.name:
            if link.joint.type != "fixed" and robot.freedoms(link) > 1:
                size = max(1.3 * float(np.abs(outline.corners).max()), 0.012 * extent)
                solids.append(Solid(f"joint of {name}", "ball", "joint", i, 0, radius=size))
            elif link.joint.type != "fixed":
                solids.append(_joint(link, outline, i, extent))
            if (body := link.body) is not None and body.mass > 0:
                wide = float(np.linalg.norm(body.com))
                about = body.inertia
                flat = len(about) >= 3 and about[2] > 1.5 * max(about[:2]) and wide > 0
                disc = (0, 0, 1), wide, 0.02 * extent
                solids.append(
                    Solid(f"plate of {name}", "cylinder", "plate", i, 0, body.com, *disc)
                    if flat
                    else _ball(f"body of {name}", body, i, 0, extent)
                )
    for link in robot.links:
        if link.tip is not None and link.tip.mass > 0:
            solids.append(_ball(f"body on {link.name}", link.tip, last[link.name], 1, extent))
    for k, closure in enumerate(robot.closures):
        ends = [_closure_end(end, links, names, last) for end in closure.ends]
        word = f"closure {robot.closure_name(k)}"
        if closure.type == "distance":
            (owner, end, place), (far, far_end, far_place) = ends
            rod = Solid(word, "rod", "joint", owner, end, place, radius=0.012 * extent)
            solids.append(replace(rod, far=far, far_end=far_end, far_offset=far_place))
            continue
        owner, end, place = ends[0] if ends[0][0] >= 0 else ends[1]
        size = 1.3 * float(np.abs(outlines[owner].corners).max(initial=0.0))
        size = max(size, 0.012 * extent)
        axis = tuple(closure.direction.tolist())
        kind: Literal["ball", "cylinder"] = "cylinder" if closure.type == "revolute" else "ball"
        solids.append(Solid(word, kind, "joint", owner, end, place, axis, size, 2.4 * size))
    if robot.payload is not None and robot.payload.mass > 0:
        tip = last[robot.links[robot.tip_index].name]
        solids.append(_ball("payload", robot.payload, tip, 1, extent))
    return tuple(outlines), tuple(solids)


def _part_of(link: MechanismLink, names: tuple[str, ...], i: int) -> tuple[float, float] | None:
    """From where to where a piece of a cut link runs, m from its root; None of a whole link.

    The pieces of a link stand one after the other, each named by the place where it begins.
    """
    cut = f"{link.name}@"
    begins = float(names[i].removeprefix(cut)) if names[i].startswith(cut) else 0.0
    is_cut = i + 1 < len(names) and names[i + 1].startswith(cut)
    if link.length is None or link.joint.type == "prismatic" or not (begins or is_cut):
        return None
    ends = float(names[i + 1].removeprefix(cut)) if is_cut else link.length
    return begins, ends


def _closure_end(
    end: ClosureEnd, links: dict[str, MechanismLink], names: tuple[str, ...], last: dict[str, int]
) -> tuple[int, int, tuple[float, float, float]]:
    """Which drawn part an end of a closure sits on, at its root (0) or end (1), and how far off."""
    x, y, z = end.mount.xyz
    if end.link not in links:
        return -1, 0, (x, y, z)
    piece = f"{end.link}@{end.at:g}" if end.at is not None else ""
    if piece in names:
        return names.index(piece), 0, (x, y, z)
    if end.at is None or end.at >= (links[end.link].length or 0.0):
        return last[end.link], 1, (x, y, z)
    return names.index(end.link), 0, (end.at + x, y, z)


# Trees that are drawn in a way of their own
_DRAWN: dict[type[Kinematics], Callable[..., Any]] = {DeltaKinematics: _delta}
