"""Elastic links as reduced-order solids for Simscape Multibody, one .mat file each.

A link is meshed with Timoshenko elements and reduced to the frames at which it is joined, with six
degrees of freedom each (Tx Ty Tz Rx Ry Rz), and some modes with these frames held (Craig and
Bampton). M, K and C hold the frames first, then the modes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..arguments import whole_number
from ..beams.theory import AnyBeam
from ..equations.damping import file_ratio
from ..errors import SuppleError
from ..files.disk import fill, writing
from ..robot import Robot
from ..structure import structure_of
from .exporter import Exporter, Request, Written, elastic_frequencies
from .names import unique_identifiers
from .skeleton import Skeleton, SkeletonLink, skeleton_of

__all__ = ["ReducedBody", "Simscape", "beam_matrices", "reduced_body"]

Array = NDArray[np.float64]
ELEMENTS = 24  # of each link before it is reduced
STIFF = 1e4  # times the bending stiffness: what a deformation gets that a link excludes
RULE = "It falls with the number of modes kept in each body: modes=8 instead of modes=4."


class Simscape(Exporter):
    """A folder with one .mat file for each elastic link."""

    about: ClassVar = "Simscape: one reduced-order solid per elastic link, M, K, C as .mat"
    options: ClassVar = {"modes": whole_number(0, 60)}

    def refuse(self, robot: Robot) -> None:
        """Raise where a body cannot be one solid: it slides through a joint and bends."""
        if not any(link.flexible for link in skeleton_of(robot).links):
            raise SuppleError(f"{robot.name} has no elastic link: export it to urdf instead")
        for link in skeleton_of(robot).links:
            if link.kind == "slides" and link.flexible:
                raise SuppleError(
                    f"{link.name} of {robot.name} slides and bends, and a reduced solid has one "
                    "length: export it to fmu, which Simulink imports"
                )

    def write(self, request: Request, path: Path) -> Written:
        """Write the bodies, read them again, and join them at theta for the frequencies."""
        from scipy.io import loadmat, savemat

        skeleton = skeleton_of(request.robot)
        modes = int(request.options.get("modes", 4))
        first = 2 * np.pi * float(request.exact_hz[0]) if len(request.exact_hz) else 0.0
        notes: list[str] = [
            "Bodies on the ends of links (hub_mass, end_mass: 6 x 6, about the first and the last "
            "frame) are separate solids in Simscape."
        ]
        words = unique_identifiers([link.name for link in skeleton.links], "link")
        files: list[Path] = []
        read: dict[int, dict[str, Array]] = {}
        stiffened: list[str] = []
        for i, (link, word) in enumerate(zip(skeleton.links, words, strict=True)):
            if not link.flexible or link.length <= 0:
                continue
            body = reduced_body(link.beam, frames_along(skeleton, i), modes)
            if body.stiffened:
                stiffened.append(link.name)
            ratio = file_ratio(request.robot, link.name) or 0.0
            data: dict[str, Any] = {
                "M": body.mass,
                "K": body.stiffness,
                "C": (2 * ratio / first if first else 0.0) * body.stiffness,
                "origins": np.column_stack([body.places, np.zeros((len(body.places), 2))]),
                "quaternions": np.tile([1.0, 0.0, 0.0, 0.0], (len(body.places), 1)),
                "hub_mass": link.root_mass,
                "end_mass": link.tip_mass,
            }
            memory = io.BytesIO()
            savemat(memory, data)
            place = path / f"{word}.mat"
            with writing(place) as aside:
                fill(aside, memory.getvalue())
            files.append(place)
            read[i] = loadmat(io.BytesIO(memory.getvalue()))
        if stiffened:
            notes.append(
                f"{', '.join(stiffened)} exclude deformations, which a solid needs: these have "
                f"{STIFF:g} times the stiffness in bending."
            )
        found = np.zeros(0)
        if skeleton.closures or any(
            link.motor is None and link.kind != "fixed" for link in skeleton.links
        ):
            notes.append(
                "The robot has loops or passive joints: Simscape joins its bodies, and no "
                "frequency of the whole is given here; each body is checked alone."
            )
        else:
            found = joined_frequencies(request, skeleton, read)
        return Written(tuple(files), found, RULE, tuple(notes))


def frames_along(skeleton: Skeleton, i: int) -> list[float]:
    """Where a link is joined to others, metres from its root: root, places along it, end."""
    link = skeleton.links[i]
    places = {0.0, link.length}
    for child, described in zip(skeleton.links, skeleton.robot.links, strict=True):
        if child.parent == i and described.at is not None:
            places.add(float(described.at))
    return sorted(places)


@dataclass(frozen=True)
class ReducedBody:
    """M and K over the frames at `places` (m from the root) and the modes kept."""

    mass: Array
    stiffness: Array
    places: Array
    stiffened: bool


def beam_matrices(beam: AnyBeam, nodes: Array) -> tuple[Array, Array, bool]:
    """Return M and K (6 n, 6 n) of a beam meshed at nodes (n,), free at both ends.

    Elements are interdependent Timoshenko elements, fully integrated. Last: whether an excluded
    deformation was given a large stiffness.
    """
    size = 6 * len(nodes)
    M, K = np.zeros((size, size)), np.zeros((size, size))
    stiffened = False
    points, weights = np.polynomial.legendre.leggauss(4)
    for e in range(len(nodes) - 1):
        h = float(nodes[e + 1] - nodes[e])
        m, EA, EIz, EIy, kGAy, kGAz, GJ, rIz, rIy, rIp = beam.at([(nodes[e] + nodes[e + 1]) / 2])[0]
        softest = min(EIz, EIy)
        length = float(nodes[-1])
        if not np.isfinite([EA, EIz, EIy, GJ]).all():
            stiffened = True
        EA = EA if np.isfinite(EA) else STIFF * softest / length**2
        EIz = EIz if np.isfinite(EIz) else STIFF * softest
        EIy = EIy if np.isfinite(EIy) else STIFF * softest
        GJ = GJ if np.isfinite(GJ) else STIFF * softest
        rIp = rIp if rIp > 0 else 1e-6 * m * length**2
        at = slice(6 * e, 6 * e + 12)
        k, mass = np.zeros((12, 12)), np.zeros((12, 12))
        for point, weight in zip(points, weights, strict=True):
            s, w = (point + 1) / 2, weight * h / 2
            line = np.array([1 - s, s])
            slope = np.array([-1.0, 1.0]) / h
            for rows, stiff, inertia in (((0, 6), EA, m), ((3, 9), GJ, rIp)):
                k[np.ix_(rows, rows)] += w * stiff * np.outer(slope, slope)
                mass[np.ix_(rows, rows)] += w * inertia * np.outer(line, line)
            # x-y: Ty, Rz; x-z: Tz, -Ry
            for plane, sign, EI, kGA, rI in (
                ((1, 5, 7, 11), 1.0, EIz, kGAy, rIz),
                ((2, 4, 8, 10), -1.0, EIy, kGAz, rIy),
            ):
                turns = np.array([1.0, sign, 1.0, sign])
                phi = 12 * EI / (kGA * h**2) if np.isfinite(kGA) else 0.0
                N, P, bend, shear = _bending_functions(s, h, phi)
                N, P, bend, shear = N * turns, P * turns, bend * turns, shear * turns
                k[np.ix_(plane, plane)] += w * EI * np.outer(bend, bend)
                if phi:
                    k[np.ix_(plane, plane)] += w * kGA * np.outer(shear, shear)
                mass[np.ix_(plane, plane)] += w * (m * np.outer(N, N) + rI * np.outer(P, P))
        K[at, at] += k
        M[at, at] += mass
    return M, K, stiffened


def _bending_functions(s: float, h: float, phi: float) -> tuple[Array, Array, Array, Array]:
    """Deflection, rotation, curvature and shear of an element over (v1, psi1, v2, psi2) at s."""
    mu = 1 / (1 + phi)
    N = mu * np.array(
        [
            1 - 3 * s**2 + 2 * s**3 + phi * (1 - s),
            h * (s - 2 * s**2 + s**3 + phi / 2 * (s - s**2)),
            3 * s**2 - 2 * s**3 + phi * s,
            h * (-(s**2) + s**3 + phi / 2 * (s**2 - s)),
        ]
    )
    slope = (
        mu
        / h
        * np.array(
            [
                -6 * s + 6 * s**2 - phi,
                h * (1 - 4 * s + 3 * s**2 + phi / 2 * (1 - 2 * s)),
                6 * s - 6 * s**2 + phi,
                h * (-2 * s + 3 * s**2 + phi / 2 * (2 * s - 1)),
            ]
        )
    )
    P = mu * np.array(
        [
            6 / h * (s**2 - s),
            1 - 4 * s + 3 * s**2 + phi * (1 - s),
            6 / h * (s - s**2),
            -2 * s + 3 * s**2 + phi * s,
        ]
    )
    bend = (
        mu
        / h
        * np.array([6 / h * (2 * s - 1), -4 + 6 * s - phi, 6 / h * (1 - 2 * s), -2 + 6 * s + phi])
    )
    return N, P, bend, slope - P


def reduced_body(beam: AnyBeam, places: list[float], modes: int) -> ReducedBody:
    """Return a beam reduced to frames at these places and some modes with the frames held."""
    from scipy.linalg import eigh

    parts = []
    for start, stop in pairwise(places):
        count = max(2, round(ELEMENTS * (stop - start) / places[-1]))
        parts.append(np.linspace(start, stop, count + 1)[:-1])
    nodes = np.concatenate([*parts, [places[-1]]])
    M, K, stiffened = beam_matrices(beam, nodes)
    joined = [int(np.argmin(np.abs(nodes - place))) for place in places]
    kept = [6 * node + k for node in joined for k in range(6)]
    inner = [k for k in range(len(M)) if k not in kept]
    static = -np.linalg.solve(K[np.ix_(inner, inner)], K[np.ix_(inner, kept)])
    count = min(modes, len(inner))
    shapes = np.zeros((len(inner), 0))
    if count:
        last = [0, count - 1]
        shapes = eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)], subset_by_index=last)[1]
    T = np.zeros((len(M), len(kept) + count))
    T[kept, range(len(kept))] = 1.0
    T[inner, : len(kept)] = static
    T[inner, len(kept) :] = shapes
    mass, stiffness = T.T @ M @ T, T.T @ K @ T
    stiffness[len(kept) :, : len(kept)] = 0.0  # zero but for rounding
    stiffness[: len(kept), len(kept) :] = 0.0
    symmetric = (mass + mass.T) / 2, (stiffness + stiffness.T) / 2
    return ReducedBody(*symmetric, nodes[joined], stiffened)


def joined_frequencies(
    request: Request, skeleton: Skeleton, read: dict[int, dict[str, Array]]
) -> Array:
    """Return the frequencies of the bodies as read from their files, joined with locked joints."""
    at = architecture_of(request.robot).resolve(request.theta, None).at
    structure = structure_of(request.robot, at)
    names = [segment.name for segment in structure.segments]
    # Motion of every frame over the coordinates so far: frames of elastic links are free
    size = sum(data["M"].shape[0] - 6 for i, data in read.items() if skeleton.links[i].flexible)
    M, K = np.zeros((size, size)), np.zeros((size, size))
    motion: dict[tuple[int, float], Array] = {}
    used = 0
    for i, link in enumerate(skeleton.links):
        root = np.zeros((6, size))
        if link.parent >= 0:
            root = _root_motion(skeleton, structure, names, motion, link)
        if link.joint.stiffness is not None:
            raise SuppleError(
                f"{link.name} has a spring in its joint, which is no part of a solid: add it in "
                "Simscape, or export to fmu"
            )
        if i not in read:  # rigid: its end moves with its root
            motion[i, link.length] = _motion_at_offset(root, np.array([link.length, 0.0, 0.0]))
            motion[i, 0.0] = root
            spatial = link.rigid_mass()
            M += root.T @ spatial @ root
            continue
        data = read[i]
        own = data["M"].shape[0] - 6
        T = np.zeros((data["M"].shape[0], size))
        T[:6] = root
        T[6:, used : used + own] = np.eye(own)
        used += own
        M += T.T @ data["M"] @ T
        K += T.T @ data["K"] @ T
        for k, place in enumerate(data["origins"][:, 0]):
            motion[i, float(place)] = T[6 * k : 6 * k + 6]
        M += root.T @ link.root_mass @ root
        end = motion[i, float(data["origins"][-1, 0])]
        M += end.T @ link.tip_mass @ end
    if skeleton.planar:  # motion out of the plane is no question there
        in_plane = []
        used = 0
        for i in sorted(read):
            own = read[i]["M"].shape[0] - 6
            frames = 6 * (len(read[i]["origins"]) - 1)
            for k in range(own):
                out_of_plane = [j for j in range(6 + frames) if j % 6 in (2, 3, 4)]
                coupled = np.abs(read[i]["M"][6 + k, : 6 + frames])
                in_it = k % 6 not in (2, 3, 4)
                if k >= frames:  # a mode: in the plane unless it moves with what is out of it
                    in_it = coupled[out_of_plane].max() < 1e-6 * coupled.max()
                if in_it:
                    in_plane.append(used + k)
            used += own
        M, K = M[np.ix_(in_plane, in_plane)], K[np.ix_(in_plane, in_plane)]
    return elastic_frequencies(M, K, request.count)


def _root_motion(
    skeleton: Skeleton,
    structure: Any,
    names: list[str],
    motion: dict[Any, Array],
    link: SkeletonLink,
) -> Array:
    """Motion of a link's root, own axes, as its parent's frame carries it."""
    i = link.parent
    described = skeleton.robot.links[skeleton.links.index(link)]
    parent = skeleton.links[i]
    place = parent.length if described.at is None else float(described.at)
    known = [(abs(at - place), at) for (number, at) in motion if number == i]
    frame = motion[i, min(known)[1]]
    offset = link.place - np.array([place, 0.0, 0.0])
    moved = _motion_at_offset(frame, offset)
    R_parent = structure.R[0, names.index(parent.name)]
    R_own = structure.R[0, names.index(link.name)]
    turn = R_own.T @ R_parent
    return np.vstack([turn @ moved[:3], turn @ moved[3:]])


def _motion_at_offset(frame: Array, offset: Array) -> Array:
    """Motion (6, n) of a point at an offset from a frame, frame axes."""
    x, y, z = offset
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.vstack([frame[:3] - cross @ frame[3:], frame[3:]])
