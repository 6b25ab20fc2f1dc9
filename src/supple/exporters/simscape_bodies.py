"""Elastic links as reduced-order solids for Simscape Multibody, one .mat file each.

A link is meshed with Timoshenko elements and reduced to the frames at which it is joined, with six
degrees of freedom each (Tx Ty Tz Rx Ry Rz), and some modes with these frames held (Craig and
Bampton). M, K and C hold the frames first, then the modes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..arguments import whole_number
from ..assembly import closure_null_space
from ..beams.theory import AnyBeam
from ..equations.damping import file_ratio
from ..errors import SuppleError
from ..kernels.spatial import transport
from ..robot import Robot
from ..structure import Structure, structure_of
from .exporter import Exporter, Request, Written, elastic_frequencies
from .mat_file import mat_bytes, read_mat, write_mat
from .names import unique_identifiers
from .skeleton import Skeleton, SkeletonLink, skeleton_of

__all__ = ["ReducedBody", "Simscape", "beam_matrices", "joined_frequencies", "reduced_body"]

Array = NDArray[np.float64]
ELEMENTS = 24  # of each link before it is reduced
STIFF = 1e4  # times the bending stiffness: what a deformation gets that a link excludes
IN_PLANE = (0, 1, 5)  # Tx, Ty, Rz of a frame
RULE = "It falls with the number of modes kept in each body: modes=8 instead of modes=4."


class Simscape(Exporter):
    """A folder with one .mat file for each elastic link."""

    about: ClassVar = "Simscape: one reduced-order solid per elastic link, M, K, C as .mat"
    options: ClassVar = {"modes": whole_number(0, 60)}

    def refuse(self, robot: Robot) -> None:
        """Raise where a body cannot be one solid: it slides through a joint and bends."""
        links = skeleton_of(robot).links
        if not any(link.flexible for link in links):
            raise SuppleError(f"{robot.name} has no elastic link: export it to urdf instead")
        for link in links:
            if link.kind == "slides" and link.flexible:
                raise SuppleError(
                    f"{link.name} of {robot.name} slides and bends, and a reduced solid has one "
                    "length: export it to fmu, which Simulink imports"
                )

    def write(self, request: Request, path: Path) -> Written:
        """Write the bodies; frequencies come from them as read again, joined at theta."""
        skeleton = skeleton_of(request.robot)
        modes = int(request.options.get("modes", 4))
        words = unique_identifiers([link.name for link in skeleton.links], "link")

        # The numbers of every elastic link, by its name
        files: dict[str, Path] = {}
        solids: dict[str, dict[str, Any]] = {}
        stiffened: list[str] = []
        for i, (link, word) in enumerate(zip(skeleton.links, words, strict=True)):
            if not link.flexible or link.length <= 0:
                continue
            body = reduced_body(link.beam, frames_along(skeleton, i), modes)
            if body.stiffened:
                stiffened.append(link.name)
            files[link.name] = path / f"{word}.mat"
            solids[link.name] = _solid(request, link, body)

        # Frequencies from the bytes of the files
        read = {name: read_mat(mat_bytes(solid)) for name, solid in solids.items()}
        found = joined_frequencies(request, read)

        notes = _notes(skeleton, stiffened)
        about = [*request.error_lines(found, RULE), *notes]
        for name, solid in solids.items():
            write_mat(files[name], solid, about)
        return Written(tuple(files.values()), found, RULE, tuple(notes))


def _solid(request: Request, link: SkeletonLink, body: ReducedBody) -> dict[str, Any]:
    """The variables of one .mat file."""
    first_omega = 2 * np.pi * float(request.exact_hz[0]) if len(request.exact_hz) else 0.0
    ratio = file_ratio(request.robot, link.name) or 0.0
    damping_time = 2 * ratio / first_omega if first_omega else 0.0  # s
    frames = len(body.places)
    return {
        "M": body.mass,
        "K": body.stiffness,
        "C": damping_time * body.stiffness,
        "origins": np.column_stack([body.places, np.zeros((frames, 2))]),
        "quaternions": np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1)),
        "hub_mass": link.root_mass,
        "end_mass": link.tip_mass,
    }


def _notes(skeleton: Skeleton, stiffened: list[str]) -> list[str]:
    """What is to be added in Simscape, and what a solid cannot leave out."""
    notes = [
        "Bodies on the ends of links (hub_mass, end_mass: 6 x 6, about the first and the last "
        "frame) are separate solids in Simscape."
    ]
    sprung = [link.name for link in skeleton.links if link.joint.stiffness is not None]
    if sprung:
        notes.append(f"Springs in the joints of {', '.join(sprung)} are to be added in Simscape.")
    if stiffened:
        notes.append(
            f"{', '.join(stiffened)} exclude deformations, which a solid needs: these have "
            f"{STIFF:g} times the stiffness in bending."
        )
    return notes


def frames_along(skeleton: Skeleton, i: int) -> list[float]:
    """Where a link is joined to others, metres from its root: root, places along it, end."""
    link = skeleton.links[i]
    places = {0.0, link.length}
    for child, described in zip(skeleton.links, skeleton.robot.links, strict=True):
        if child.parent == i and described.at is not None:
            places.add(float(described.at))
    for closure in skeleton.closures:
        for end in closure.ends:
            if skeleton.robot.end_index(end) == i and end.at is not None:
                places.add(float(end.at))
    return sorted(places)


# ---------------------------------------------------------------------- one body


@dataclass(frozen=True)
class ReducedBody:
    """M and K over the frames at `places` (m from the root) and the modes kept."""

    mass: Array
    stiffness: Array
    places: Array
    stiffened: bool


def reduced_body(beam: AnyBeam, places: list[float], modes: int) -> ReducedBody:
    """Return a beam reduced to frames at these places and some modes with the frames held."""
    from scipy.linalg import eigh

    # A mesh with a node at every frame
    parts = []
    for start, stop in pairwise(places):
        count = max(2, round(ELEMENTS * (stop - start) / places[-1]))
        parts.append(np.linspace(start, stop, count + 1)[:-1])
    nodes = np.concatenate([*parts, [places[-1]]])
    M, K, stiffened = beam_matrices(beam, nodes)

    # Craig and Bampton: static shapes of the frames, then modes with the frames held
    joined = [int(np.argmin(np.abs(nodes - place))) for place in places]
    boundary = [6 * node + k for node in joined for k in range(6)]
    inner = [k for k in range(len(M)) if k not in boundary]
    inner_stiffness = K[np.ix_(inner, inner)]
    static_shapes = -np.linalg.solve(inner_stiffness, K[np.ix_(inner, boundary)])
    count = min(modes, len(inner))
    mode_shapes = np.zeros((len(inner), 0))
    if count:
        inner_mass = M[np.ix_(inner, inner)]
        mode_shapes = eigh(inner_stiffness, inner_mass, subset_by_index=[0, count - 1])[1]

    frames = len(boundary)
    T = np.zeros((len(M), frames + count))
    T[boundary, range(frames)] = 1.0
    T[inner, :frames] = static_shapes
    T[inner, frames:] = mode_shapes
    mass = T.T @ M @ T
    stiffness = T.T @ K @ T
    stiffness[frames:, :frames] = 0.0  # zero but for rounding
    stiffness[:frames, frames:] = 0.0
    return ReducedBody((mass + mass.T) / 2, (stiffness + stiffness.T) / 2, nodes[joined], stiffened)


def beam_matrices(beam: AnyBeam, nodes: Array) -> tuple[Array, Array, bool]:
    """Return M and K (6 n, 6 n) of a beam meshed at nodes (n,), free at both ends.

    Elements are interdependent Timoshenko elements, fully integrated. Last: whether an excluded
    deformation was given a large stiffness.
    """
    size = 6 * len(nodes)
    M = np.zeros((size, size))
    K = np.zeros((size, size))
    stiffened = False
    for e, (start, stop) in enumerate(pairwise(nodes)):
        section = beam.at([(start + stop) / 2])[0]
        numbers, raised = _deformable(section, float(nodes[-1]))
        stiffened = stiffened or raised
        mass, stiffness = _element_matrices(numbers, float(stop - start))
        at = slice(6 * e, 6 * e + 12)
        M[at, at] += mass
        K[at, at] += stiffness
    return M, K, stiffened


def _deformable(section: Array, length: float) -> tuple[Array, bool]:
    """Return the numbers of a section that stretches, bends and twists, and whether any was raised.

    A solid in Simscape has all deformations: those that a theory excludes are made stiff.
    """
    m, EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ, rI_xy, rI_xz, rIp = section
    stiffened = not np.isfinite([EA, EI_xy, EI_xz, GJ]).all()
    softest = min(EI_xy, EI_xz)
    if not np.isfinite(EA):
        EA = STIFF * softest / length**2
    if not np.isfinite(EI_xy):
        EI_xy = STIFF * softest
    if not np.isfinite(EI_xz):
        EI_xz = STIFF * softest
    if not np.isfinite(GJ):
        GJ = STIFF * softest
    if rIp <= 0:
        rIp = 1e-6 * m * length**2
    return np.array([m, EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ, rI_xy, rI_xz, rIp]), stiffened


def _element_matrices(section: Array, h: float) -> tuple[Array, Array]:
    """M and K (12, 12) of one element of length h, six degrees of freedom at each end."""
    m, EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ, rI_xy, rI_xz, rIp = section
    # places of the degrees of freedom, stiffness and inertia per length
    stretch = ((0, 6), EA, m)
    twist = ((3, 9), GJ, rIp)
    # x-y: Ty, Rz; x-z: Tz, -Ry
    bending_xy = ((1, 5, 7, 11), 1.0, EI_xy, kGA_xy, rI_xy)
    bending_xz = ((2, 4, 8, 10), -1.0, EI_xz, kGA_xz, rI_xz)

    M = np.zeros((12, 12))
    K = np.zeros((12, 12))
    points, weights = np.polynomial.legendre.leggauss(4)
    for point, weight in zip(points, weights, strict=True):
        s = (point + 1) / 2
        w = weight * h / 2
        line = np.array([1 - s, s])
        slope = np.array([-1.0, 1.0]) / h
        for rows, stiffness, inertia in (stretch, twist):
            K[np.ix_(rows, rows)] += w * stiffness * np.outer(slope, slope)
            M[np.ix_(rows, rows)] += w * inertia * np.outer(line, line)
        for plane, sign, EI, kGA, rI in (bending_xy, bending_xz):
            signs = np.array([1.0, sign, 1.0, sign])
            phi = 12 * EI / (kGA * h**2) if np.isfinite(kGA) else 0.0
            shapes = _bending_functions(s, h, phi)
            deflection, rotation, curvature, shear = (shape * signs for shape in shapes)
            K[np.ix_(plane, plane)] += w * EI * np.outer(curvature, curvature)
            if phi:
                K[np.ix_(plane, plane)] += w * kGA * np.outer(shear, shear)
            M[np.ix_(plane, plane)] += w * m * np.outer(deflection, deflection)
            M[np.ix_(plane, plane)] += w * rI * np.outer(rotation, rotation)
    return M, K


def _bending_functions(s: float, h: float, phi: float) -> tuple[Array, Array, Array, Array]:
    """Deflection, rotation, curvature and shear of an element over (v1, psi1, v2, psi2) at s.

    phi = 12 EI / (kGA h^2) is the ratio of shear to bending compliance.
    """
    mu = 1 / (1 + phi)
    deflection = mu * np.array(
        [
            1 - 3 * s**2 + 2 * s**3 + phi * (1 - s),
            h * (s - 2 * s**2 + s**3 + phi / 2 * (s - s**2)),
            3 * s**2 - 2 * s**3 + phi * s,
            h * (-(s**2) + s**3 + phi / 2 * (s**2 - s)),
        ]
    )
    slope = np.array(
        [
            -6 * s + 6 * s**2 - phi,
            h * (1 - 4 * s + 3 * s**2 + phi / 2 * (1 - 2 * s)),
            6 * s - 6 * s**2 + phi,
            h * (-2 * s + 3 * s**2 + phi / 2 * (2 * s - 1)),
        ]
    )
    slope = mu / h * slope
    rotation = mu * np.array(
        [
            6 / h * (s**2 - s),
            1 - 4 * s + 3 * s**2 + phi * (1 - s),
            6 / h * (s - s**2),
            -2 * s + 3 * s**2 + phi * s,
        ]
    )
    curvature = np.array(
        [6 / h * (2 * s - 1), -4 + 6 * s - phi, 6 / h * (1 - 2 * s), -2 + 6 * s + phi]
    )
    curvature = mu / h * curvature
    return deflection, rotation, curvature, slope - rotation


# ---------------------------------------------------------------------- the bodies joined


def joined_frequencies(request: Request, bodies: dict[str, dict[str, Array]]) -> Array:
    """Return the frequencies, Hz, of the bodies as read from their files, joined as in the robot.

    Motors are locked; passive joints move, springs act, and loops are closed.

    Parameters
    ----------
    request : Request
        The robot and its pose.
    bodies : dict
        Variables of the .mat file of every elastic link, by the link's name.
    """
    robot = request.robot
    configuration = architecture_of(robot).resolve(request.theta, None).at
    structure = structure_of(robot, configuration)
    assembly = _Assembly(structure, bodies)
    for link in dict.fromkeys(structure.links):
        if link in bodies:
            assembly.add_solid(link, bodies[link])
        else:
            assembly.add_rigid(link)

    free = assembly.motions_with_closed_loops()
    mass = free.T @ assembly.M @ free
    stiffness = free.T @ assembly.K @ free
    return elastic_frequencies(mass, stiffness, request.count)


class _Assembly:
    """M and K of all bodies over common coordinates, link by link from the base.

    The coordinates of a link are the motions that its joint leaves, then those of its frames but
    the first, then those of its modes. Every frame has its motion (6, N) per unit of these.
    """

    def __init__(self, structure: Structure, bodies: dict[str, dict[str, Array]]) -> None:
        size = sum(len(segment.releases) for segment in structure.segments)
        for body in bodies.values():
            size += len(body["M"]) - 6
        self.structure = structure
        self.M = np.zeros((size, size))
        self.K = np.zeros((size, size))
        self.used = 0  # coordinates of the links so far
        self.end_motion = np.zeros((len(structure.segments), 6, size))
        self.releases: list[int] = []  # coordinate of every release, in the order of the segments
        self.out_of_plane: list[int] = []

    def add_solid(self, link: str, body: dict[str, Array]) -> None:
        """Add an elastic link; each of its pieces in the structure ends at one of its frames."""
        pieces = self.structure.pieces(link)
        first = pieces[0]
        root = self.root_motion(first)
        own = len(body["M"]) - 6
        motion = np.zeros((len(body["M"]), self.M.shape[0]))
        motion[:6] = root
        motion[6:, self.used : self.used + own] = np.eye(own)
        if self.structure.planar:
            for k in _out_of_plane(body):
                self.out_of_plane.append(self.used + k - 6)
        self.used += own
        self.M += motion.T @ body["M"] @ motion
        self.K += motion.T @ body["K"] @ motion

        places = body["origins"][:, 0]
        ends = np.cumsum(self.structure.L[0, pieces])
        for piece, end in zip(pieces, ends, strict=True):
            frame = int(np.argmin(np.abs(places - end)))
            self.add_bodies(piece, root, motion[6 * frame : 6 * frame + 6])
            root = self.end_motion[piece]

    def add_rigid(self, link: str) -> None:
        """Add a rigid link, whose end moves with its root."""
        structure = self.structure
        for piece in structure.pieces(link):
            root = self.root_motion(piece)
            length = float(structure.L[0, piece])
            rod = structure.segments[piece].beam.outside(length).rod(0.0, length)
            self.M += root.T @ rod @ root
            self.add_bodies(piece, root, transport(length) @ root)

    def root_motion(self, i: int) -> Array:
        """Motion (6, N) of a segment's root: its parent's end, and what its joint leaves."""
        structure = self.structure
        segment = structure.segments[i]
        root = np.zeros((6, self.M.shape[0]))
        if segment.parent >= 0:
            root += structure.T[0, i] @ self.end_motion[segment.parent]
        for release in segment.releases:
            root[:, self.used] = release.toward(0)
            self.K[self.used, self.used] += release.stiffness
            if not release.series:
                self.M[self.used, self.used] += release.inertia
            self.releases.append(self.used)
            self.used += 1
        return root

    def add_bodies(self, i: int, root: Array, end: Array) -> None:
        """Add the rigid bodies at root and end of a segment, and keep its end's motion."""
        root_mass = self.structure.root_mass[0, i]
        tip_mass = self.structure.segments[i].tip_mass
        self.M += root.T @ root_mass @ root
        self.M += end.T @ tip_mass @ end
        self.end_motion[i] = end

    def motions_with_closed_loops(self) -> Array:
        """Orthonormal basis (N, n) of the motions that keep loops closed and stay in the plane."""
        size = self.M.shape[0]
        constraints = [np.eye(size)[self.out_of_plane]]
        for closure in self.structure.closures:
            rows = np.zeros((closure.rows_a.shape[1], size))
            if closure.a >= 0:
                rows += closure.rows_a[0] @ self.end_motion[closure.a]
            if closure.b >= 0:
                rows += closure.rows_b[0] @ self.end_motion[closure.b]
            constraints.append(rows)
        ties = self.structure.known_numbers.ties  # of mimic joints
        rows = np.zeros((ties.shape[1], size))
        rows[:, self.releases] = ties.T
        constraints.append(rows)
        return closure_null_space(np.vstack(constraints), size)


def _out_of_plane(body: dict[str, Array]) -> list[int]:
    """Rows of a body's matrices, behind those of its first frame, that leave the x-y plane."""
    frames = 6 * len(body["origins"])
    frame_rows = [k for k in range(frames) if k % 6 not in IN_PLANE]
    leaving = [k for k in frame_rows if k >= 6]
    # a mode is in the plane unless it moves with what is out of it
    for k in range(frames, len(body["M"])):
        coupled = np.abs(body["M"][k, :frames])
        if coupled[frame_rows].max() >= 1e-6 * coupled.max():
            leaving.append(k)
    return leaving
