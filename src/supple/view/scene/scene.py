"""Scene: an answer as plain drawable data. What draws Scenes computes nothing else.

A Scene holds the links of a robot, the solids that sit on them, and Tracks. A Track is a run of
poses along one parameter (a joint, a number, time) with the deformation of every link at each of
them. A point of a link at the fraction s of its length is drawn at
    p + R (s L e_x + scale u(s)),
and its section is turned by R Rot(scale phi(s)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...structure import Structure, structure_of
from ...studies.configuration import where
from ...studies.statics import Statics
from ...studies.vibration.modes import Modes
from ...studies.vibration.neighbourhood import ModesAlongCoordinate, coordinates_of
from ...studies.vibration.shapes import Shapes
from ..wording import motors_of, tidy
from .drawing import MeshPart, Outline, Solid, draw_robot, draw_rods, draw_visuals

__all__ = [
    "Cloud",
    "ModeLabel",
    "Poses",
    "Scene",
    "Track",
    "frame_scene",
    "largest",
    "modes_scene",
    "plain",
    "pose_text",
    "poses_of",
    "quaternions",
    "robot_scene",
    "running",
    "statics_scene",
    "sweep_scene",
    "track_of",
    "well_seen",
]

Array = NDArray[np.float64]
POINTS = 13
SEEN = 0.1  # drawn size of a motion over the extent, at most; never smaller than it is


@dataclass(frozen=True)
class Track:
    """Poses along one parameter: V of them, n links, M shapes, P stations a link.

    Attributes
    ----------
    kind
        What runs.
    name, unit
        As one reads them.
    at
        (V,), parameter.
    start
        Where a reader begins.
    p
        (V, n, 3), link roots.
    quaternion
        (V, n, 4), link axes in base axes, w first.
    L
        (V, n).
    motion
        (V, M, n, P, 6), displacement and rotation, link axes.
    energy
        (V, M, n, P), strain energy per length over the largest: of its shape, or of all poses where
        `largest` tells its size.
    largest
        Displacement in m and strain energy per length in J/m that are drawn in the strongest
        colour; empty for shapes without a size.
    values, frequency_hz
        (F,) and (F, M), on a grid of their own, empty without frequencies.
    kinds
        V x M words, what each shape is.
    note
        How much to believe what lies between.
    """

    kind: Literal["pose", "joint", "parameter", "configuration", "time"]
    name: str
    unit: str
    at: Array
    start: float
    p: Array
    quaternion: Array
    L: Array
    motion: Array
    energy: Array
    largest: tuple[float, ...] = ()
    values: Array = field(default_factory=partial(np.zeros, 0))
    frequency_hz: Array = field(default_factory=partial(np.zeros, (0, 0)))
    kinds: tuple[tuple[str, ...], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ModeLabel:
    """What is written beside a shape: its number, frequency and kind at the starting pose."""

    number: int
    frequency_hz: float | None
    kind: str


@dataclass(frozen=True)
class Cloud:
    """Places in space, (N, 3), each with a value, (N,): drawn as dots in colours."""

    places: Array
    values: Array
    name: str
    unit: str


@dataclass(frozen=True)
class Scene:
    """A robot to draw: `to_dict()` is plain data, ready for JSON.

    Attributes
    ----------
    title, subtitle
        Of the drawing.
    centre, extent
        Of all that is drawn, m.
    up
        (3,), which way is up on the screen.
    planar
        Whether it lives in x-y.
    tip
        Index of the link whose end is traced.
    parents
        The link that carries each link, -1 for the ground.
    true_scale
        Whether roots lie on the deformed robot, drawn as it is.
    scale
        Otherwise, how many times larger than they are deformations are drawn; None for shapes
        without a size.
    moved
        What their displacement is measured from.
    cloud
        Places with a value, or None.
    meshes
        Shapes that links look like.
    around
        Corners of the box they fill at first.
    """

    title: str
    subtitle: str
    links: tuple[Outline, ...]
    solids: tuple[Solid, ...]
    tracks: tuple[Track, ...]
    shapes: tuple[ModeLabel, ...]
    centre: tuple[float, ...]
    extent: float
    up: tuple[float, ...]
    planar: bool
    tip: int
    parents: tuple[int, ...]
    true_scale: bool = False
    scale: float | None = None
    moved: str = "displacement"
    cloud: Cloud | None = None
    notes: tuple[str, ...] = ()
    meshes: tuple[MeshPart, ...] = ()
    around: tuple[tuple[float, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, numbers and words."""
        data: dict[str, Any] = plain(asdict(self))
        return data


def plain(value: Any) -> Any:
    """Return arrays, tuples and NumPy numbers as lists and numbers, None for what is no number."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        is_finite = value.dtype.kind in "biu" or bool(np.isfinite(value).all())
        return value.tolist() if is_finite else plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def quaternions(R: Array) -> Array:
    """Return unit quaternions (..., 4), w first, of rotations (..., 3, 3).

    The eigenvector of the largest eigenvalue of Bar-Itzhack's matrix, safe at half turns.
    """
    xx = R[..., 0, 0]
    yy = R[..., 1, 1]
    zz = R[..., 2, 2]
    K = np.zeros((*R.shape[:-2], 4, 4))  # symmetric: the lower triangle is enough
    K[..., 0, 0] = xx + yy + zz
    K[..., 1, 1] = xx - yy - zz
    K[..., 2, 2] = yy - xx - zz
    K[..., 3, 3] = zz - xx - yy
    K[..., 1, 0] = R[..., 2, 1] - R[..., 1, 2]
    K[..., 2, 0] = R[..., 0, 2] - R[..., 2, 0]
    K[..., 3, 0] = R[..., 1, 0] - R[..., 0, 1]
    K[..., 2, 1] = R[..., 0, 1] + R[..., 1, 0]
    K[..., 3, 1] = R[..., 0, 2] + R[..., 2, 0]
    K[..., 3, 2] = R[..., 1, 2] + R[..., 2, 1]
    _, eigenvectors = np.linalg.eigh(K, UPLO="L")
    largest: Array = eigenvectors[..., -1]
    return largest


@dataclass(frozen=True)
class Poses:
    """Link frames of V poses: roots p (V, n, 3), axes R (V, n, 3, 3), lengths L (V, n)."""

    p: Array
    R: Array
    L: Array

    @property
    def ends(self) -> Array:
        """(V, n, 3) undeformed ends."""
        reached: Array = self.p + self.L[..., None] * self.R[..., 0]
        return reached

    @property
    def points(self) -> Array:
        """Roots, ends and the base, (N, 3)."""
        return np.concatenate([self.p.reshape(-1, 3), self.ends.reshape(-1, 3), np.zeros((1, 3))])

    @property
    def box(self) -> tuple[Array, Array]:
        """Corners of all they reach."""
        return self.points.min(axis=0), self.points.max(axis=0)

    @property
    def extent(self) -> float:
        """The longest side of that box, m."""
        low, high = self.box
        return float((high - low).max()) or 1.0


def poses_of(structure: Structure) -> Poses:
    """Link frames, the sections' own turning taken back."""
    turns = np.array([s.R_LS.T for s in structure.segments])
    return Poses(structure.p, structure.R @ turns, structure.L)


def drawn_poses(modes: Modes, each: Sequence[Shapes]) -> Poses:
    """Link frames of modes with these shapes; under weight they are those of the robot at rest."""
    if not modes.gravity:
        return poses_of(modes.structure)
    p = np.array([shapes.position[:, 0] for shapes in each])
    R = np.array([shapes.R for shapes in each])
    return Poses(p, R, np.array([shapes.x[:, -1] for shapes in each]))


def track_of(poses: Poses, motion: Array, energy: Array, **more: Any) -> Track:
    """Return a Track of poses, with motion (V, M, n, P, 6) and energy (V, M, n, P) as they are."""
    # Signs of (V, n, 4) such that neighbours are near; the first has its w positive
    q = quaternions(poses.R)
    q = q * np.where(q[:1, :, :1] < 0, -1.0, 1.0)
    for v in range(1, len(q)):
        q[v] *= np.where((q[v] * q[v - 1]).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    sized = bool(more.get("largest"))
    peak = energy.max(axis=None if sized else (2, 3), keepdims=True)
    energy = energy / np.where(peak > 0, peak, 1.0)
    return Track(p=poses.p, quaternion=q, L=poses.L, motion=motion, energy=energy, **more)


def largest(motion: Array, energy: Array) -> tuple[float, float]:
    """Return the largest displacement, m, and strain energy per length, J/m, of motions."""
    moved = np.linalg.norm(motion[..., :3], axis=-1)
    return float(moved.max(initial=0.0)), float(energy.max(initial=0.0))


def well_seen(size: float, extent: float) -> float:
    """Return 1, 2, 5, 10, .. : how many times larger a motion of some size is drawn to be seen."""
    if not size > 0:
        return 1.0
    room = max(1.0, SEEN * extent / size)
    power = 10.0 ** math.floor(math.log10(room))
    return float(max(step * power for step in (1, 2, 5) if step * power <= room * (1 + 1e-12)))


def _mesh_corners(poses: Poses, meshes: tuple[MeshPart, ...]) -> Array:
    """Corners of the boxes around meshes, at all poses, (N, 3)."""
    found = []
    for part in meshes:
        box = np.array([part.vertices.min(axis=0), part.vertices.max(axis=0)])
        corners = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i, j, k in np.ndindex(2, 2, 2)])
        if part.link < 0:
            found.append(corners)
            continue
        turned = np.einsum("vij,cj->vci", poses.R[:, part.link], corners)
        found.append((poses.ends[:, part.link, None] + turned).reshape(-1, 3))
    return np.concatenate(found)


def frame_scene(robot: Robot, poses: Poses, names: tuple[str, ...], **more: Any) -> Scene:
    """Return a Scene framed around its poses."""
    low, high, extent = *poses.box, poses.extent
    links, solids = draw_robot(robot, names)
    centre = (low + high) / 2
    parents, tip, _ = architecture_of(robot).hangs(names)
    rods = draw_rods(robot, poses.p, poses.ends, poses.R, parents, extent)
    meshes, lost = draw_visuals(robot, names)
    around: tuple[tuple[float, ...], ...] = ()
    if meshes:
        # Links that are drawn as they look need no rods, pins and balls
        dressed = {part.link for part in meshes}
        rods = tuple(rod for rod in rods if rod.link not in dressed)
        solids = tuple(s for s in solids if s.link not in dressed or s.name == "payload")
        nothing = np.zeros((0, 2))
        links = tuple(
            replace(link, corners=nothing, real=True) if link.rigid and i in dressed else link
            for i, link in enumerate(links)
        )
        corners = _mesh_corners(poses, meshes)
        low = np.minimum(low, corners.min(axis=0))
        high = np.maximum(high, corners.max(axis=0))
        centre = (low + high) / 2
        extent = float((high - low).max())
        first = _mesh_corners(Poses(poses.p[:1], poses.R[:1], poses.L[:1]), meshes)
        around = tuple(tuple(corner) for corner in (first.min(axis=0), first.max(axis=0)))
    solids = (*solids, *rods)
    notes = [f"Not drawn: {sentence}." for sentence in lost[:2]]
    drawn = poses.L.max(axis=0) > 0
    thin = [link.name for link, seen in zip(links, drawn, strict=True) if seen and not link.real]
    if thin:
        notes.append(f"Drawn thicker than they are, or without a known section: {', '.join(thin)}.")
    if any(solid.role == "mass" for solid in solids):
        notes.append("Bodies are drawn as steel balls of their mass.")
    return Scene(
        links=links,
        solids=solids,
        meshes=meshes,
        around=around,
        centre=tuple(centre.tolist()),
        extent=extent,
        up=architecture_of(robot).up,  # against gravity, where there is any
        planar=architecture_of(robot).planar,
        tip=tip,
        parents=parents,
        notes=(*more.pop("notes", ()), *notes),
        **more,
    )


def pose_text(robot: Robot, theta: Array, position: Array | None) -> str:
    """Return a pose as one reads it: degrees, metres, or the place of a platform."""
    if position is not None:
        return "platform at (" + ", ".join(f"{value:.4g}" for value in position) + ") m"
    each = [
        f"{value:.4g} m" if slide else f"{math.degrees(value):.4g}°"
        for value, slide in zip(theta, motors_of(robot)[1], strict=True)
    ]
    return "joints at " + ", ".join(each) if each else "its only pose"


def robot_scene(
    robot: Robot, theta: ArrayLike | None = None, position: ArrayLike | None = None
) -> Scene:
    """Return a robot at one pose, undeformed."""
    structure = structure_of(robot, where(robot, theta, position).at)
    poses = poses_of(structure)
    names = tuple(s.name for s in structure.segments)
    zero_fields = np.zeros((1, 1, len(names), POINTS, 6))
    track = track_of(
        poses,
        zero_fields,
        zero_fields[..., 0],
        kind="pose",
        name="pose",
        unit="",
        at=np.zeros(1),
        start=0.0,
    )
    return frame_scene(
        robot, poses, names, title=robot.name, subtitle=robot.source, tracks=(track,), shapes=()
    )


def _labels(modes: Modes, shapes: Shapes) -> tuple[ModeLabel, ...]:
    return tuple(
        ModeLabel(i + 1, float(hertz), shapes.kind(i)) for i, hertz in enumerate(modes.frequency_hz)
    )


def modes_scene(
    modes: Modes,
    nearby: Iterable[ModesAlongCoordinate] = (),
    points: int = POINTS,
    varied: Iterable[Track] = (),
) -> Scene:
    """Return the modes of one configuration, with what was computed along its coordinates.

    `varied` are Tracks over numbers of the robot's file.
    """
    if modes.omega.ndim > 1:
        return sweep_scene(modes)
    shapes = modes.shape(points)
    poses = drawn_poses(modes, [shapes])
    rest_track = track_of(
        poses,
        np.concatenate([shapes.displacement, shapes.rotation], axis=-1)[None],
        shapes.density[None],
        kind="pose",
        name="pose",
        unit="",
        at=np.zeros(1),
        start=0.0,
        values=np.zeros(1),
        frequency_hz=modes.frequency_hz[None],
    )
    pose = modes.theta if modes.position is None else modes.position
    tracks = tuple(_nearby(part, float(pose[part.index])) for part in nearby)
    inside = "" if modes.plane is None else f" in the {modes.plane} plane"
    proof = f"certified{inside}: no frequency in this range is missing"
    if modes.plane is not None and modes.out_of_plane_hz is not None:
        proof += f"; out of it the lowest is {modes.out_of_plane_hz:.4g} Hz"
    proof = proof if modes.certified else "uncertified"
    proof = f"under its weight, {proof}" if modes.gravity else proof
    return frame_scene(
        modes.robot,
        poses,
        shapes.names,
        title=modes.robot.name,
        subtitle=f"{pose_text(modes.robot, modes.theta, modes.position)}, joints {modes.joints}; "
        f"{proof}",
        tracks=(rest_track, *tracks, *varied),
        shapes=_labels(modes, shapes),
    )


def _nearby(part: ModesAlongCoordinate, own: float) -> Track:
    turn = math.degrees(1.0) if part.coordinate.unit == "rad" else 1.0
    # How far frequencies between the computed poses can be believed, in words
    between = f"interpolated between {len(part.values)} computed poses"
    if part.error < 1e-9:
        trust = f"{between}; the frequencies do not change along it"
    else:
        trust = f"{between}; frequencies between them are off by at most {100 * part.error:.1g} %"
    motion, energy, kinds = align_signs(part.shapes)
    return track_of(
        drawn_poses(part.found, part.shapes),
        motion,
        energy,
        kind="joint",
        name=part.coordinate.name,
        unit="°" if part.coordinate.unit == "rad" else "m",
        at=turn * part.at,
        start=turn * own,
        values=turn * part.values,
        frequency_hz=part.frequency_hz,
        kinds=kinds,
        note=trust,
    )


def align_signs(each: Sequence[Shapes]) -> tuple[Array, Array, tuple[tuple[str, ...], ...]]:
    """Motion (V, M, n, P, 6) with signs such that each shape is near the last; energy; kinds."""
    motion = np.array([np.concatenate([s.displacement, s.rotation], axis=-1) for s in each])
    for v in range(1, len(motion)):
        alike = np.einsum("mnpi,mnpi->m", motion[v, ..., :3], motion[v - 1, ..., :3])
        motion[v] *= np.where(alike < 0, -1.0, 1.0)[:, None, None, None]
    energy = np.array([shapes.density for shapes in each])
    return motion, energy, tuple(tuple(s.kind(m) for m in range(len(s.share))) for s in each)


def sweep_scene(
    modes: Modes,
    x: ArrayLike | None = None,
    name: str = "",
    unit: str = "",
    most: int | None = None,
) -> Scene:
    """Return many configurations as one track, or `most` of them, evenly spaced.

    x defaults to the one coordinate that changes, or else to the number of the configuration.
    """
    if modes.omega.ndim == 1:
        return modes_scene(modes)
    at, name, unit = running(modes) if x is None else (np.asarray(x, float), name, unit)
    total = len(modes.omega)
    if at.shape != (total,):
        raise SuppleError(f"x has shape {at.shape}: give one value for each configuration")
    rows_shown = np.linspace(0, total - 1, min(total, most or total)).round().astype(int)
    each = [modes.at(b).shape(POINTS) for b in rows_shown.tolist()]
    poses = drawn_poses(modes, each)
    at = at[rows_shown]
    if not modes.gravity:
        poses = Poses(poses.p[rows_shown], poses.R[rows_shown], poses.L[rows_shown])
    motion, energy, kinds = align_signs(each)
    track = track_of(
        poses,
        motion,
        energy,
        kind="configuration",
        name=name or "configuration",
        unit=unit,
        at=at,
        start=float(at[0]),
        values=at,
        frequency_hz=modes.frequency_hz[rows_shown],
        kinds=kinds,
        note=f"interpolated between {len(at)} computed configurations",
    )
    count_shown = f"{total}" if len(at) == total else f"{len(at)} of {total}"
    return frame_scene(
        modes.robot,
        poses,
        each[0].names,
        title=modes.robot.name,
        subtitle=f"{count_shown} configurations, joints {modes.joints}",
        tracks=(track,),
        shapes=_labels(modes.at(0), each[0]),
    )


def running(modes: Modes) -> tuple[Array, str, str]:
    """Return values, name and unit of the one coordinate that rises; else numbers from 1 on."""
    pose = modes.theta if modes.position is None else modes.position
    changing = np.flatnonzero(np.ptp(pose, axis=0) > 0)
    values = pose[:, changing[0]] if len(changing) == 1 else np.zeros(len(pose))
    if len(changing) != 1 or np.any(np.diff(values) <= 0):
        return np.arange(1.0, len(pose) + 1), "", ""
    c = coordinates_of(modes.robot)[int(changing[0])]
    return (np.degrees(values), c.name, "°") if c.unit == "rad" else (values, c.name, c.unit)


def statics_scene(sag: Statics) -> Scene:
    """Return the sagged robot of one configuration."""
    if sag.tip_displacement.ndim > 1:
        raise SuppleError("sag is drawn for one configuration: ask for one")
    at = sag.theta
    if architecture_of(sag.robot).asked_by == "position":
        at = np.append(sag.position[-1, 0], sag.theta)
    structure = structure_of(sag.robot, at)
    poses = poses_of(structure)
    local = [np.einsum("nji,npj->npi", poses.R[0], u) for u in (sag.displacement, sag.rotation)]
    motion = np.concatenate(local, axis=-1)[None, None]
    energy = sag.energy[None, None]
    moves = ", ".join(tidy(1e3 * sag.tip_displacement, 4))
    size = largest(motion, energy)
    track = track_of(
        poses,
        motion,
        energy,
        kind="pose",
        name="pose",
        unit="",
        at=np.zeros(1),
        start=0.0,
        largest=size,
    )
    return frame_scene(
        sag.robot,
        poses,
        sag.names,
        title=sag.robot.name,
        subtitle=f"sag: the tip moves ({moves}) mm",
        tracks=(track,),
        shapes=(ModeLabel(1, None, "sag"),),
        moved="displacement from rest",
        scale=well_seen(size[0], poses.extent),
    )
