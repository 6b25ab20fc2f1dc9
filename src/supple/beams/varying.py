"""VaryingBeam: a beam whose section changes along its length, exact to a stated tolerance.

The state equation y' = A(x) y of a piece is integrated by Gauss collocation of order 16, which
keeps the stiffness symmetric. Pieces are halved until they taper little, and until a uniform beam
of their least stiffness and greatest mass, whose frequencies are lower, has no clamped frequency
below the highest asked for. So the count of a piece is zero, and J = s(K) stays a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..robot import Elastic, Material, Robot, Station, Theory
from ..sections import Shape
from .dynamic_stiffness import pieces_needed
from .pieces import Complex, Pieces
from .theory import Beam

__all__ = ["VaryingBeam", "VaryingPieces", "cut_varying", "varying_of"]

Array = NDArray[np.float64]
STEEPEST = 2.0  # how many times a property of one end may be that of the other, in a piece
PIECES = 400
STAGES = 8
# What a section brings, in this order, as a row of numbers.
PROPERTIES = ("m", "EA", "EI_xy", "EI_xz", "kGA_xy", "kGA_xz", "GJ", "rI_xy", "rI_xz", "rIp")
# The decoupled parts of the state: axial, torsion, bending in x-y, bending in x-z.
PLANES = ((0, 6), (3, 9), (1, 5, 7, 11), (2, 4, 8, 10))


@dataclass(frozen=True)
class Span:
    """The beam between two stations: sizes, or stiffnesses, change linearly in between."""

    start: float
    stop: float
    first: Any
    second: Any
    material: Material | None
    theory: Theory
    plane: int | None = None

    def at(self, x: Array) -> Array:
        """Return the properties at x, (P, 10), as PROPERTIES; inf excludes a deformation."""
        t = (np.asarray(x) - self.start) / (self.stop - self.start)
        rows = np.array([self._row(float(each)) for each in np.atleast_1d(t)])
        if self.theory == "inextensible":
            rows[:, 1] = math.inf
        if self.theory != "timoshenko":
            rows[:, 4:6], rows[:, 7:9] = math.inf, 0.0
        if self.plane is not None:
            swap = self.plane
            rows[:, 2], rows[:, 4], rows[:, 7] = (
                rows[:, 2 + swap],
                rows[:, 4 + swap],
                rows[:, 7 + swap],
            )
            rows[:, 3], rows[:, 5], rows[:, 6], rows[:, 8], rows[:, 9] = *[math.inf] * 3, 0.0, 0.0
        return rows

    def _row(self, t: float) -> list[float]:
        if isinstance(self.first, Shape):
            section = _between(self.first, self.second, t)
            material: Any = self.material
            A, I_z, I_y, J_t, I_p = section.constants()
            E, rho, G = material.young_modulus, material.density, material.G
            k_xy, k_xz = section.shear(material.nu)
            shear = (k_xy * G * A, k_xz * G * A, G * J_t) if G is not None else (math.inf,) * 3
            return [rho * A, E * A, E * I_z, E * I_y, *shear, rho * I_z, rho * I_y, rho * I_p]
        mixed = [
            (1 - t) * a + t * b if a != b else a
            for a, b in zip(self.first, self.second, strict=True)
        ]
        return [float(value) for value in mixed]


def _between(first: Shape, second: Shape, t: float) -> Shape:
    """The section between two of one shape: every size, or moment, linear."""
    values: dict[str, Any] = {}
    for key in type(first).model_fields:
        a, b = getattr(first, key), getattr(second, key)
        if isinstance(a, tuple) and isinstance(b, tuple):
            values[key] = tuple((1 - t) * p + t * q for p, q in zip(a, b, strict=True))
        elif isinstance(a, float) and isinstance(b, float):
            values[key] = (1 - t) * a + t * b
        else:
            values[key] = a if a == b else None
    return type(first).model_construct(**values)


@dataclass(frozen=True)
class VaryingBeam:
    """A beam of spans along x; what asks for the numbers of a uniform beam is told so."""

    L: float
    spans: tuple[Span, ...]

    @property
    def rigid(self) -> bool:
        """Never: a rigid link with stations is refused in its description."""
        return False

    def active(self) -> NDArray[np.bool_]:
        """Which end deformations the beam allows, (6,); the same in all spans."""
        EA, xy, xz, GJ = (
            math.isfinite(self.spans[0].at(np.array([0.0]))[0, k]) for k in (1, 2, 3, 6)
        )
        return np.array([EA, xy, xz, GJ, xz, xy])

    def in_plane(self, quarter: int) -> VaryingBeam:
        """Return the beam of a planar arm: bending in x-y only, after a quarter turn or none."""
        return replace(self, spans=tuple(replace(s, plane=quarter) for s in self.spans))

    @property
    def m(self) -> float:
        """Mean mass per length, kg/m: m L is the beam's mass."""
        return self._mean(0)

    @property
    def rI(self) -> tuple[float, float]:
        """Mean rotary inertias per length, kg m."""
        return self._mean(7), self._mean(8)

    @property
    def rIp(self) -> float:
        """Mean polar inertia per length, kg m."""
        return self._mean(9)

    def _mean(self, k: int) -> float:
        nodes, weights = np.polynomial.legendre.leggauss(8)
        total = 0.0
        for span in self.spans:
            half = (span.stop - span.start) / 2
            total += half * float(weights @ span.at(span.start + half * (nodes + 1))[:, k])
        return total / self.L

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise SuppleError(
            "a link with stations has no single stiffness: exact modes and responses take it; for "
            "other questions give it as several uniform links"
        )


class VaryingPieces(Pieces):
    """A varying beam cut into pieces."""

    def transfer(self, i: int, h: float, w2: Complex, loss: complex = 1.0) -> Complex:
        """Return the state at h from the root of piece i, (F, 12, 12), by Gauss collocation.

        Y_j = y_0 + h sum a_jk A(x_k) Y_k, y_1 = y_0 + h sum b_k A(x_k) Y_k, plane by plane.
        """
        beam: Any = self.beam
        x0 = float(self.x[i])
        span = next(s for s in beam.spans if s.start <= x0 and self.x[i + 1] <= s.stop)
        c, a, b = _gauss()
        return _collocated(_matrices(span.at(x0 + c * h), w2, loss), h, a, b)


def _gauss() -> tuple[Array, Array, Array]:
    """Nodes c, coefficients a and weights b of Gauss collocation on 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(STAGES)
    c, b = (nodes + 1) / 2, weights / 2
    powers = np.arange(STAGES)
    V = c[:, None] ** powers
    a = (c[:, None] ** (powers + 1) / (powers + 1)) @ np.linalg.inv(V)
    return c, a, b


def _matrices(rows: Array, w2: Complex, loss: complex) -> Complex:
    """A (F, P, 12, 12) at the nodes; see `dynamic_stiffness.state_matrix`."""
    m, EA, xy, xz, k_xy, k_xz, GJ, r_xy, r_xz, r_p = rows.T
    A = np.zeros((len(w2), len(rows), 12, 12), complex)
    w = w2[:, None]
    A[..., 0, 6], A[..., 3, 9] = 1 / EA / loss, 1 / GJ / loss
    A[..., 1, 5], A[..., 1, 7] = 1, 1 / k_xy / loss
    A[..., 2, 4], A[..., 2, 8] = -1, 1 / k_xz / loss
    A[..., 4, 10], A[..., 5, 11] = 1 / xz / loss, 1 / xy / loss
    A[..., 6, 0] = A[..., 7, 1] = A[..., 8, 2] = -w * m
    A[..., 9, 3] = -w * r_p
    A[..., 10, 8], A[..., 10, 4] = 1, -w * r_xz
    A[..., 11, 7], A[..., 11, 5] = -1, -w * r_xy
    return A


def _collocated(A: Complex, h: float, a: Array, b: Array) -> Complex:
    T = np.zeros((len(A), 12, 12), complex)
    for plane in PLANES:
        n, s = len(plane), len(b)
        own = A[:, :, plane][..., plane]  # (F, s, n, n)
        big = -h * np.einsum("jk,fkxy->fjxky", a, own).reshape(len(A), s * n, s * n)
        big += np.eye(s * n)
        start = np.broadcast_to(np.tile(np.eye(n), (s, 1)), (len(A), s * n, n))
        Y = np.linalg.solve(big, start.astype(complex)).reshape(len(A), s, n, n)
        T[np.ix_(range(len(A)), plane, plane)] = np.eye(n) + h * np.einsum(
            "k,fkxy,fkyz->fxz", b, own, Y
        )
    return T


def cut_varying(beam: VaryingBeam, omega: float) -> VaryingPieces:
    """Return the beam in pieces that are accurate and without a clamped frequency up to omega.

    No property changes by more than STEEPEST within a piece: then the apex towards which a taper
    runs is at least three pieces away, and collocation of order 16 leaves less than 1e-14.
    """
    cuts = [0.0]
    for span in beam.spans:
        open_ = [(span.start, span.stop)]
        while open_:
            x0, x1 = open_.pop(0)
            h, ends = x1 - x0, span.at(np.array([x0, (x0 + x1) / 2, x1]))
            finite = np.isfinite(ends[0]) & (ends > 0).all(axis=0)
            ratio = (ends[:, finite].max(axis=0) / ends[:, finite].min(axis=0)).max()
            short = ratio <= STEEPEST and pieces_needed(_lowest(span, x0, x1), h, omega) == 1
            if short or len(cuts) + len(open_) > PIECES:
                cuts.append(x1)
            else:
                open_ = [(x0, x0 + h / 2), (x0 + h / 2, x1), *open_]
    if len(cuts) > PIECES:
        raise SuppleError("a link with stations needs too many pieces: ask for fewer frequencies")
    return VaryingPieces(beam, np.array(cuts), beam.active())  # type: ignore[arg-type]


def _lowest(span: Span, x0: float, x1: float) -> Beam:
    """A uniform beam of lower clamped frequencies: least stiffness, greatest mass between x0, x1.

    Properties are sampled at 17 places; the largest step between two of them is the margin.
    """
    rows = span.at(np.linspace(x0, x1, 17))
    with np.errstate(invalid="ignore"):
        step = np.nan_to_num(np.abs(np.diff(rows, axis=0)).max(axis=0), nan=0.0)
    low, high = rows.min(axis=0) - step, rows.max(axis=0) + step
    low = np.maximum(low, 1e-3 * rows.min(axis=0))
    return Beam(
        L=x1 - x0,
        m=float(high[0]),
        EA=float(low[1]),
        EI=(float(low[2]), float(low[3])),
        kGA=(float(low[4]), float(low[5])),
        GJ=float(low[6]),
        rI=(float(high[7]), float(high[8])),
        rIp=float(high[9]),
    )


def varying_of(robot: Robot, link: Elastic, theory: Theory) -> VaryingBeam:
    """Return the beam of a link with stations, under a theory."""
    stations = link.stations or ()
    material = robot.material(link)
    spans = []
    for a, b in pairwise(stations):
        if b.at > a.at:
            first, second = (_known(robot, link, station) for station in (a, b))
            if isinstance(first, Shape) != isinstance(second, Shape) or (
                isinstance(first, Shape) and type(first) is not type(second)
            ):
                raise SuppleError(
                    f"stations at {a.at:g} and {b.at:g} m have different shapes: a shape may "
                    "change at a jump only, two stations at the same place"
                )
            spans.append(Span(a.at, b.at, first, second, material, theory))
    return VaryingBeam(link.length or 0.0, tuple(spans))


def _known(robot: Robot, link: Elastic, station: Station) -> Any:
    """The section of a station, or its properties as a row; what it leaves out is the link's."""
    section = station.section
    if section is not None:
        return robot.sections[section] if isinstance(section, str) else section

    def own(key: str, default: Any) -> Any:
        value = getattr(station, key)
        value = getattr(link, key) if value is None else value
        return default if value is None else value

    r = own("rotary_inertia_per_length", 0.0)
    pair = (math.inf, math.inf)
    return (
        own("mass_per_length", 0.0),
        own("axial_stiffness", math.inf),
        *own("bending_stiffness", pair),
        *own("shear_stiffness", pair),
        own("torsional_stiffness", math.inf),
        *(r, r),
        own("polar_inertia_per_length", 2 * r),
    )
