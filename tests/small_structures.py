"""Structures made by hand: a few beams, releases and closures, without a robot around them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.beams.theory import Beam
from supple.kernels.roots import count_below, natural_frequencies
from supple.kernels.spatial import axis_rotation
from supple.structure import ClosureRows, Release, Segment, Structure

inf = math.inf


@dataclass(frozen=True)
class Part:
    """A beam on the end of another (-1: on the ground), at p or else at that end, turned by R."""

    beam: Beam
    parent: int = -1
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    p: tuple[float, float, float] | None = None
    releases: tuple[Release, ...] = ()
    root: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))
    tip: np.ndarray = field(default_factory=lambda: np.zeros((6, 6)))


def build(
    parts: Sequence[Part], closures: Sequence[ClosureRows] = (), planar: bool = False
) -> Structure:
    """Return the parts as a Structure of one configuration."""
    segments = []
    p = []
    for i, part in enumerate(parts):
        where = np.zeros(3) if part.p is None else np.asarray(part.p, float)
        if part.p is None and part.parent >= 0:
            before = parts[part.parent]
            where = p[part.parent] + before.beam.L * before.R[:, 0]
        p.append(where)
        releases = part.releases
        segments.append(Segment(f"part{i}", part.parent, part.beam, releases, np.eye(3), part.tip))
    R = np.array([part.R for part in parts])[None]
    L = np.array([[part.beam.L for part in parts]])
    root = np.array([part.root for part in parts])[None]
    return Structure(
        tuple(segments), R, np.array(p)[None], L, root, planar, closures=tuple(closures)
    )


def letting_go(*directions: int, stiffness: float = 0.0) -> tuple[Release, ...]:
    """Releases along the given coordinates: 0, 1, 2 displacements, 3, 4, 5 rotations."""
    return tuple(Release(tuple(np.eye(6)[k]), stiffness) for k in directions)


def to_ground(segment: int, *directions: int) -> ClosureRows:
    """Hold the end of a segment in the given coordinates of its own axes."""
    rows = np.eye(6)[list(directions)][None]
    return ClosureRows(segment, -1, rows, np.zeros_like(rows))


def joined(structure_R: np.ndarray, a: int, b: int, *directions: int) -> ClosureRows:
    """Tie the ends of two segments in the given base coordinates; structure_R: (n, 3, 3)."""
    rows = [np.kron(np.eye(2), structure_R[k])[list(directions)][None] for k in (a, b)]
    return ClosureRows(a, b, rows[0], -rows[1])


def turned(degrees: float) -> np.ndarray:
    """Axes turned about z."""
    return axis_rotation((0, 0, 1), math.radians(degrees))


def exact_roots(structure: Structure, count: int, rigid: int = 0) -> np.ndarray:
    """The first elastic roots of the exact solver, rad/s."""
    return natural_frequencies(structure.tree(), count, rigid, 1.0).omega[0]


def exact_count(structure: Structure, omega: float) -> int:
    """The exact solver's count of natural frequencies below omega."""
    return int(count_below(structure.tree(), np.array([omega]))[0][0])


def bar(
    L: float = 1.0,
    h: float = 0.02,
    b: float = 0.03,
    theory: str = "timoshenko",
    planar: bool = False,
) -> Beam:
    """A rectangular steel bar; h in the x-y plane."""
    E = 2.1e11
    rho = 7800.0
    nu = 0.3
    kappa = 5 / 6
    A = h * b
    Iz = b * h**3 / 12
    Iy = h * b**3 / 12
    G = E / (2 * (1 + nu))
    shear = theory == "timoshenko"
    kGA = kappa * G * A if shear else inf
    EA = inf if theory == "inextensible" else E * A
    rI = (rho * Iz, rho * Iy) if shear else (0.0, 0.0)
    if planar:
        return Beam(L, rho * A, EA, (E * Iz, inf), (kGA, inf), inf, (rI[0], 0.0), 0.0)
    torsion = G * 0.2 * (Iz + Iy)
    return Beam(L, rho * A, EA, (E * Iz, E * Iy), (kGA, kGA), torsion, rI, rho * (Iz + Iy))
