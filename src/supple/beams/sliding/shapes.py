"""Shapes of a link that slides: their integrals as functions of the free length.

A point of the axis sits at r = x e_x + N(x; l) eta, x from the hub on. The beam moves through the
hub, so rates are those of a material point: N, and N_l and N_ll, its first and second derivative
along l with the distance from the far end held. Together with e_x, the slide itself, they are the
*wide* set [N, N_l, N_ll, e_x], 3 k + 1 columns, in which position, velocity and acceleration of
the whole beam, the part inside the hub included, are linear:

    r_t = N eta_t + (N_l eta + e_x) l_t,    r_tt = .. + 2 N_l eta_t l_t + N_ll eta l_t^2.

With geometric stiffening a bent beam keeps its length: N then has a column more for each product
eta_i eta_j of one plane, its foreshortening -1/2 int v'^2 along x, and eta those products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..invariants import beam_points
from ..shapes import PLANES, EndLoad
from ..theory import AnyBeam, Beam
from ..varying import VaryingBeam
from .rates import Rate, call, place, variable
from .recipes import Recipe, recipe, symbolic
from .weighted import MovingWeights

__all__ = [
    "ROWS",
    "Beta",
    "Family",
    "Shortening",
    "SlideIntegrals",
    "SlidingShapes",
    "Spot",
    "StiffRod",
    "Velocity",
    "integrals",
    "spot_fields",
]

Array = NDArray[np.float64]
Scalar = Any
Matrix = list[list[Scalar]]
Velocity = Literal["material", "paper"]
Beta = Sequence[Scalar] | None
Pairs = tuple[tuple[int, int], ...]
# Component (0..2 displacement, 3..5 rotation) that each kind of shape moves, and for bending the
# component and sign of the section's rotation, sign times the slope.
ROWS = PLANES | {"torsion": (3, 3, 1.0)}


@dataclass(frozen=True)
class Family:
    """Functions of (eta, l) that shapes are made of: those of bending, in both planes, or of twist.

    Attributes:
        gram[d][e][i][j]: integrals over eta in 0..1 of the d-th derivative along l of function i
        times the e-th of function j, d and e from 0 to 2.  mean[d][i], centre[d][i]: integrals of
        the same, and of eta times it.  tip, slope: Rates of each function and of its slope in x at
        the end.  stiffness: Rates (n, n).  modal: Rates (n,), modal mass with the end load.
    """

    gram: list[list[Matrix]]
    mean: Matrix
    centre: Matrix
    tip: list[Rate]
    slope: list[Rate]
    stiffness: list[list[Rate]]
    modal: list[Rate]


@dataclass(frozen=True)
class Shortening:
    """Foreshortening of pairs (i, j) of bending functions: F = -int v_i' v_j', half of it if i = j.

    Attributes:
        pairs: of functions.  gram[d][e][p][r], mean[d][p], centre[d][p]: integrals over eta as in
        `Family`.  against[d][e][p][i]: of F_p times bending function i.  tip: Rates of F at the
        end.
    """

    pairs: tuple[tuple[int, int], ...]
    gram: list[list[Matrix]]
    against: list[list[Matrix]]
    mean: Matrix
    centre: Matrix
    tip: list[Rate]


@dataclass(frozen=True)
class Spot:
    """A section of a link that slides.

    Attributes:
        at: a fraction of the free length: the material that is there now, and moves on with the
        beam; or, `held`, m from the hub: a place that the beam slides through.
    """

    at: float
    held: bool = False


@dataclass(frozen=True)
class SlideIntegrals:
    """Integrals of a link at one free length, names as in `Invariants`, on the wide set.

    kz = k + number of products.  P, X, N_end: (3, 3 kz + 1).  G: (3, 3, 3 kz + 1, 3 kz + 1).
    JPsi, Psi_end: (3, 3 kz).  PsiJPsi: (3 kz, 3 kz).  mass, first, second, J: of the whole beam,
    the part inside the hub included.  K: (k, k) Rates.  modal: (k,) Rates of the modal masses.
    """

    length: Scalar
    mass: float
    first: Scalar
    second: Scalar
    P: Matrix
    X: Matrix
    G: list[list[Matrix]]
    J: list[float]
    JPsi: Matrix
    PsiJPsi: Matrix
    N_end: Matrix
    Psi_end: Matrix
    K: list[list[Rate]]
    modal: list[Rate]


class SlidingShapes(ABC):
    """Shape functions of a link that slides. A kind has these duties:

    1. `beam`, `end`, `kinds`: the whole beam, the end load, and what each shape does, in the order
       x-y, x-z, torsion.
    2. `families(l, velocity, ..)` returns the functions of bending and of twist at a free length,
       float or expression, (None where there are none); shape j is number `member[j]` of its own.
       Integrals over eta begin at the fraction `start`.
    3. `shortening(l, pairs, beta, start)` returns the foreshortening of pairs of bending functions.
    4. `fields(l, eta)` returns displacements and twist (.., 4, k) at fractions of free lengths,
       arrays that broadcast, numbers only.
    5. `spot(l, eta, pairs, beta)` returns Rates of every shape and of its slope in x at one place
       eta, and of the foreshortening of pairs there; `curvature(l, eta)` returns (3, k), the rates
       of twist, psi_y and psi_z along x.
    6. `damping(found, l, ratios, speed)` returns the (k,) forces of modal damping at rates `speed`.

    Families hold integrals for the properties of `unit`: those of a uniform beam, or ones where the
    section varies and the properties stand inside the integrals.
    """

    beam: AnyBeam
    end: EndLoad
    kinds: tuple[str, ...]
    member: tuple[int, ...]

    @abstractmethod
    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float = 0.0,
    ) -> tuple[Family, Family | None]:
        """Return the functions of bending and of twist at a free length."""

    @abstractmethod
    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float = 0.0
    ) -> Shortening:
        """Return the foreshortening of pairs of bending functions at a free length."""

    @abstractmethod
    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and twist (.., 4, k) at fractions of free lengths."""

    @abstractmethod
    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""

    @abstractmethod
    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of twist, psi_y and psi_z along x, (3, k), at a fraction of l."""

    def damping(
        self, found: SlideIntegrals, l: Scalar, ratios: list[float], speed: list[Scalar]
    ) -> list[Scalar]:
        """Return 2 zeta omega m times the speeds; right where the shapes are the modes."""
        modes = zip(found.K, found.modal, ratios, speed, strict=True)
        return [
            2 * zeta * call("sqrt", row[j].value * m.value) * v
            for j, (row, m, zeta, v) in enumerate(modes)
        ]

    @cached_property
    def unit(self) -> Beam:
        """What the families' integrals are multiplied by."""
        if isinstance(self.beam, Beam):
            return self.beam
        return Beam(self.beam.L, 1.0, EI=(1.0, 1.0), GJ=1.0, rIp=1.0)

    def rod(
        self, l: Scalar, start: float | None = None
    ) -> tuple[Scalar, Scalar, Scalar, list[Scalar]]:
        """Return mass, first and second moment about the hub, and rotary inertia, all of it.

        Or of what lies beyond a fraction `start` of the free length.
        """
        beam = self.beam  # int m s^k from the inner end, k from 0 to 2
        if start is not None and isinstance(beam, VaryingBeam):
            weights = MovingWeights(beam, np.array([start, 1.0]))
            eta = start + (1 - start) * (1 + np.polynomial.legendre.leggauss(3)[0]) / 2
            powers = weights.projected(np.stack([eta**k for k in range(3)], axis=-1)[None])
            m, first, second = weights.moments(0, 3, l).values(powers)
            one = weights.projected(np.ones((1, 1, 1)))
            about = [l * weights.moments(column, 1, l).values(one)[0] for column in (9, 8, 7)]
            return l * m, l * l * first, l * l * l * second, about
        if start is not None and isinstance(beam, Beam):
            out = [x * (1 - start**k) / k for k, x in ((1, l), (2, l * l), (3, l * l * l))]
            about = [x * out[0] for x in (beam.rIp, beam.rI[1], beam.rI[0])]
            return beam.m * out[0], beam.m * out[1], beam.m * out[2], about
        if isinstance(beam, Beam):
            m, first, second = beam.m * beam.L, beam.m * beam.L**2 / 2, beam.m * beam.L**3 / 3
            about = [beam.rIp * beam.L, beam.rI[1] * beam.L, beam.rI[0] * beam.L]
        else:
            s, w = beam_points(beam, 3)
            rows = beam.at(s) * w[:, None]
            m, first, second = (float(rows[:, 0] @ s**k) for k in range(3))
            about = rows[:, [9, 8, 7]].sum(axis=0).tolist()
        back = l - self.beam.L
        return m, first + m * back, second + (2 * first + m * back) * back, about

    @cached_property
    def recipes(self) -> dict[tuple[Any, ...], Recipe]:
        """Integrals in symbols, kept for each kind of question, see `integrals`."""
        return {}

    @property
    def count(self) -> int:
        """Number of shapes, k."""
        return len(self.kinds)

    @property
    def pairs(self) -> Pairs:
        """Pairs of shapes of one bending plane: the products that shorten a bent beam."""
        planes = [
            [j for j, kind in enumerate(self.kinds) if kind == plane] for plane in ("xy", "xz")
        ]
        return tuple((j, n) for plane in planes for j in plane for n in plane if j <= n)


@dataclass(frozen=True)
class StiffRod(SlidingShapes):
    """A sliding link that keeps its shape: no shape function, the slide alone."""

    beam: AnyBeam
    end: EndLoad
    kinds: tuple[str, ...] = ()
    member: tuple[int, ...] = ()

    def families(self, *_: Any, **__: Any) -> tuple[Family, Family | None]:
        return Family([[]], [], [], [], [], [], []), None

    def shortening(self, *_: Any, **__: Any) -> Shortening:
        return Shortening((), [[]], [[]], [], [], [])

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        return np.zeros((*np.broadcast(l, eta).shape, 3, 0))

    def spot(self, *_: Any, **__: Any) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        return [], []

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        return [[], [], []]


def integrals(
    shapes: SlidingShapes,
    l: Scalar,
    velocity: Velocity = "material",
    held: Scalar = None,
    beta: Beta = None,
    stiffening: bool = False,
    start: float | None = None,
) -> SlideIntegrals:
    """Return the integrals of a sliding link at a free length, float or expression.

    Under velocity `paper` shapes are those of a length `held`, if given, see SlidingModes. `beta`
    are the roots of the frequency equation where they come from elsewhere than Newton's method.
    `stiffening` adds the columns of foreshortening. With `start` integrals are those
    of what lies beyond that fraction of l.

    Expressions are written once for each kind of question and then evaluated at what is given.

    Source: [Theodore1997], Eqs. (24), (28), (29); (24) corrected, s_dot = l_dot in (28).
    """
    if not symbolic(l):
        return _integrals(shapes, l, velocity, held, beta, stiffening, start)
    other, roots = [] if held is None else [held], [] if beta is None else list(beta)
    key = (velocity, len(other), None if beta is None else len(roots), stiffening, start)

    def write(at: list[Scalar], other: list[Scalar], roots: list[Scalar]) -> SlideIntegrals:
        own, given = other[0] if other else None, None if beta is None else roots
        return _integrals(shapes, at[0], velocity, own, given, stiffening, start)

    if key not in shapes.recipes:
        shapes.recipes[key] = recipe(write, 1, len(other), len(roots))
    found: SlideIntegrals = shapes.recipes[key].at([l], other, roots)
    return found


def _integrals(
    shapes: SlidingShapes,
    l: Scalar,
    velocity: Velocity,
    held: Scalar,
    beta: Beta,
    stiffening: bool,
    start: float | None,
) -> SlideIntegrals:
    """The integrals, written out."""
    beam, found = shapes.unit, shapes.families(l, velocity, held, beta, start or 0.0)
    mass, first, second, about = shapes.rod(l, start)
    pairs = shapes.pairs if stiffening else ()
    functions = sorted({(shapes.member[j], shapes.member[n]) for j, n in pairs})
    short = shapes.shortening(l, tuple(functions), beta, start or 0.0) if pairs else None
    wide = _Wide(shapes, *found, l, pairs, short)
    polar = beam.rIp
    each = zip(shapes.kinds, shapes.member, strict=True)
    tips = [(wide.family(kind).tip[i], wide.family(kind).slope[i]) for kind, i in each]
    N_end, Psi_end = _section(shapes, pairs, functions, tips, short.tip if short else [])
    out = SlideIntegrals(
        length=l,
        mass=mass,
        first=first,
        second=second,
        P=[wide.moment(a, beam.m, 0) for a in range(3)],
        X=[wide.moment(a, beam.m, 1) for a in range(3)],
        G=[[wide.products(a, b, beam.m) for b in range(3)] for a in range(3)],
        J=about,
        JPsi=[wide.moment(3 + a, polar, 0)[:-1] for a in range(3)],
        PsiJPsi=[row[:-1] for row in wide.products(3, 3, polar)[:-1]],
        N_end=N_end,
        Psi_end=Psi_end,
        K=wide.stiffness(),
        modal=[
            wide.family(kind).modal[i] for kind, i in zip(shapes.kinds, shapes.member, strict=True)
        ],
    )
    # Fill the column e_x: integrals of 1 times the others, over the whole beam
    out.P[0][-1], out.X[0][-1] = out.mass, out.first
    for b in range(3):
        for j in range(len(out.P[0]) - 1):
            out.G[0][b][-1][j] = out.G[b][0][j][-1] = out.P[b][j]
    out.G[0][0][-1][-1] = out.mass
    out.N_end[0][-1] = 1.0
    return out


def spot_fields(
    shapes: SlidingShapes, l: Scalar, spot: Spot, beta: Beta = None, stiffening: bool = False
) -> tuple[Scalar, Matrix, Matrix]:
    """Return x, N (3, 3 kz + 1) and Psi (3, 3 kz) of a section; arguments as of `integrals`."""
    roots, pairs = [] if beta is None else list(beta), shapes.pairs if stiffening else ()
    functions = sorted({(shapes.member[j], shapes.member[n]) for j, n in pairs})

    def write(at: list[Scalar], roots: list[Scalar]) -> tuple[Matrix, Matrix]:
        length, given = at[0], None if beta is None else roots
        eta = spot.at / variable(length) if spot.held else place(spot.at, length)
        found = shapes.spot(length, eta, tuple(functions), given)
        N, Psi = _section(shapes, pairs, functions, *found)
        N[0][-1] = 0.0 if spot.held else 1.0
        return N, Psi

    x = spot.at if spot.held else spot.at * l
    if not symbolic(l):
        return x, *write([l], roots)
    key = (spot, None if beta is None else len(roots), stiffening)
    if key not in shapes.recipes:
        shapes.recipes[key] = recipe(write, 1, len(roots))
    return x, *shapes.recipes[key].at([l], roots)


def _section(
    shapes: SlidingShapes,
    pairs: Pairs,
    functions: list[tuple[int, int]],
    values: list[tuple[Rate, Rate]],
    short: list[Rate],
) -> tuple[Matrix, Matrix]:
    """N and Psi of a section, what it moves and turns by per unit of the wide set.

    `values`: each shape and its slope in x; `short`: the foreshortening of `functions`.
    """
    width, member = shapes.count + len(pairs), shapes.member
    six: Matrix = [[0.0] * (3 * width + 1) for _ in range(6)]
    moved: list[tuple[int, int, Rate]] = []
    for j, (kind, (value, slope)) in enumerate(zip(shapes.kinds, values, strict=True)):
        row, turn, sign = ROWS[kind]
        moved.append((row, j, value))
        if kind != "torsion":
            moved.append((turn, j, slope * sign))
    for p, (j, n) in enumerate(pairs):
        moved.append((0, shapes.count + p, short[functions.index((member[j], member[n]))]))
    for row, j, value in moved:
        for d, part in enumerate((value.value, value.first, value.second)):
            six[row][d * width + j] = part
    return six[:3], [row[:-1] for row in six[3:]]


@dataclass(frozen=True)
class _Wide:
    """Tables on the wide set from the families' integrals over eta."""

    shapes: SlidingShapes
    bending: Family
    torsion: Family | None
    l: Scalar
    pairs: tuple[tuple[int, int], ...] = ()
    short: Shortening | None = None

    def family(self, kind: str) -> Family:
        """The functions a kind of shape is made of."""
        chosen = self.torsion if kind == "torsion" else self.bending
        assert chosen is not None
        return chosen

    @property
    def width(self) -> int:
        """Columns of N: shapes, and products of two."""
        return self.shapes.count + len(self.pairs)

    def _moving(self, component: int) -> list[tuple[int, int]]:
        """(column, function) of what moves a component by its own field."""
        pairs = zip(self.shapes.kinds, self.shapes.member, strict=True)
        if component or self.short is None:
            return [(j, i) for j, (kind, i) in enumerate(pairs) if ROWS[kind][0] == component]
        place, member, k = self.short.pairs.index, self.shapes.member, self.shapes.count
        return [(k + p, place((member[j], member[n]))) for p, (j, n) in enumerate(self.pairs)]

    def _of(self, component: int) -> Family | Shortening:
        if not component and self.short is not None:
            return self.short
        return self.family("torsion" if component == 3 else "xy")

    def moment(self, component: int, density: float, power: int) -> list[Scalar]:
        """Integrals of density x^power times a component, (3 kz + 1,)."""
        out: list[Scalar] = [0.0] * (3 * self.width + 1)
        scale = density * self.l * (self.l if power else 1.0)
        for j, i in self._moving(component):
            table = self._of(component)
            for d in range(3):
                out[d * self.width + j] = scale * (table.centre if power else table.mean)[d][i]
        return out

    def products(self, a: int, b: int, density: float) -> Matrix:
        """Integrals of density times products of two components, (3 kz + 1, 3 kz + 1)."""
        width, scale = self.width, density * self.l
        out: Matrix = [[0.0] * (3 * width + 1) for _ in range(3 * width + 1)]
        for j, i in self._moving(a):
            for n, m in self._moving(b):
                for d in range(3):
                    for e in range(3):
                        if self.short is None or (a and b):
                            value = self._of(a).gram[d][e][i][m]
                        elif a == b:
                            value = self.short.gram[d][e][i][m]
                        else:
                            against = self.short.against
                            value = against[e][d][m][i] if a else against[d][e][i][m]
                        out[d * width + j][e * width + n] = scale * value
        return out

    def stiffness(self) -> list[list[Rate]]:
        """(k, k) Rates; shapes of different kinds do not work on one another."""
        kinds, member = self.shapes.kinds, self.shapes.member
        zero, beam = Rate(0.0), self.shapes.unit
        modulus = {"xy": beam.EI[0], "xz": beam.EI[1], "torsion": beam.GJ}
        return [
            [
                self.family(a).stiffness[i][m] * modulus[a] if a == b else zero
                for b, m in zip(kinds, member, strict=True)
            ]
            for a, i in zip(kinds, member, strict=True)
        ]
