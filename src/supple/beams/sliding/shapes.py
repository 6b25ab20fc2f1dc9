"""Shapes of a link that slides: their integrals as functions of the free length.

A point of the axis sits at r = x e_x + N(x; l) eta, x from the hub on. The beam moves through the
hub, so rates are those of a material point: N, and N_l and N_ll, its first and second derivative
along l with the distance from the far end held. Together with e_x, the slide itself, they are the
*wide* set [N, N_l, N_ll, e_x], 3 k + 1 columns, in which position, velocity and acceleration of
the whole beam, the part inside the hub included, are linear:

    r_t = N eta_t + (N_l eta + e_x) l_t,    r_tt = .. + 2 N_l eta_t l_t + N_ll eta l_t^2.

Where a section that leaves the hub shears or twists, N_l jumps there from 0 to g. N_ll then has a
peak g delta(x), at which N_l counts as g/2: the hub feels the flux of momentum m g eta l_t^2 and
the slide half of m (g eta)^2 l_t^2, so that by Hamilton's principle a hub without friction does no
work. The same holds where slopes jump inside, from element to element.

With geometric stiffening a bent beam keeps its length: N then has a column more for each product
eta_i eta_j of one plane, its foreshortening -1/2 int v'^2 along x, and eta those products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ..invariants import beam_points
from ..shapes import PLANES, EndLoad, LinkShapes
from ..theory import AnyBeam, Beam
from ..varying import VaryingBeam
from .rates import Rate, call
from .recipes import Lookup, Recipe
from .weighted import MovingWeights

__all__ = [
    "ROWS",
    "Beta",
    "ShapeFamily",
    "Shortening",
    "SlideIntegrals",
    "SlidingShapes",
    "Spot",
    "StiffRod",
    "Velocity",
    "only_material",
]

Array = NDArray[np.float64]
Scalar = Any
Matrix = list[list[Scalar]]
Velocity = Literal["material", "paper"]
Beta = Sequence[Scalar] | None
Pairs = tuple[tuple[int, int], ...]
# Component (0..2 displacement, 3..5 rotation) that each kind of shape moves, and for bending the
# component and sign of the section's rotation, sign times the slope.
ROWS = PLANES | {"axial": (0, 0, 1.0), "torsion": (3, 3, 1.0)}


@dataclass(frozen=True)
class ShapeFamily:
    """Functions of (eta, l) that shapes are made of: those of bending, in both planes, or of twist.

    Attributes
    ----------
    gram
        gram[d][e][i][j]: integral over eta in 0..1 of the d-th derivative along l of function i
        times the e-th derivative of function j; d and e from 0 to 2.
    mean, centre
        mean[d][i], centre[d][i]: integrals of the d-th derivative of function i, and of eta times
        that derivative.
    tip, slope
        Rates of each function and of its slope in x at the end, without shear.
    stiffness
        Rates (n, n).
    modal
        Rates (n,), modal mass with the end load.
    turning
        Gram and mean of the slopes without shear, where sections have rotary inertia.
    """

    gram: list[list[Matrix]]
    mean: Matrix
    centre: Matrix
    tip: list[Rate]
    slope: list[Rate]
    stiffness: list[list[Rate]]
    modal: list[Rate]
    turning: tuple[list[list[Matrix]], Matrix] | None = None


@dataclass(frozen=True)
class Shortening:
    """Foreshortening of pairs (i, j) of bending functions: F = -int v_i' v_j', half of it if i = j.

    Attributes
    ----------
    pairs
        Numbers (i, j) of the functions of each pair p.
    gram, mean, centre
        gram[d][e][p][r], mean[d][p], centre[d][p]: integrals over eta as in `ShapeFamily`.
    against
        against[d][e][p][i]: integrals of F_p times bending function i.
    tip
        Rates of F at the end.
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

    Attributes
    ----------
    at
        A fraction of the free length: the material that is there now, and moves on with the beam;
        or, `held`, m from the hub: a place that the beam slides through.
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
       x-y, x-z, axial, torsion.
    2. `families(l, velocity, ..)` returns the functions of bending and stretch, and those of twist
       (None where there are none), at a free length, float or expression; shape j is number
       `member[j]` of its own.
       Integrals over eta begin at the fraction `start`; None: at the hub, with what jumps there.
    3. `shortening(l, pairs, beta, start)` returns the foreshortening of pairs of bending functions.
    4. `fields(l, eta)` returns displacements and rotations (.., 6, k) at fractions of free
       lengths, arrays that broadcast, numbers only; `shaped(l)` the same as polynomials.
    5. `spot(l, eta, pairs, beta)` returns Rates of every shape and of its slope in x, without
       shear, at one place eta, and of the foreshortening of pairs there; `curvature(l, eta)`
       returns (4, k), the rates of stretch, twist, psi_y and psi_z along x.
    6. `damping(found, l, ratios, speed)` returns the (k,) forces of modal damping at rates `speed`.
    7. `analytic`: whether duties 2, 3 and 5 also take arrays of free lengths, are analytic in them,
       and take longer to work out than to look up.

    Families hold integrals for the properties of `unit`: those of a uniform beam, or ones where the
    section varies and the properties stand inside the integrals.
    """

    beam: AnyBeam
    end: EndLoad
    kinds: tuple[str, ...]
    member: tuple[int, ...]
    analytic: ClassVar[bool] = False

    @abstractmethod
    def families(
        self,
        l: Scalar,
        velocity: Velocity = "material",
        held: Scalar = None,
        beta: Beta = None,
        start: float | None = None,
    ) -> tuple[ShapeFamily, ShapeFamily | None]:
        """Return the functions of bending and of twist at a free length."""

    @abstractmethod
    def shortening(
        self, l: Scalar, pairs: Pairs, beta: Beta = None, start: float | None = None
    ) -> Shortening:
        """Return the foreshortening of pairs of bending functions at a free length."""

    @abstractmethod
    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and rotations (.., 6, k) at fractions of free lengths."""

    @abstractmethod
    def shapes_at(self, l: float) -> LinkShapes:
        """Return the shapes at a free length as those of a link that does not slide."""

    @abstractmethod
    def spot(
        self, l: Scalar, eta: Rate, pairs: Pairs, beta: Beta = None
    ) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        """Return shapes and their slopes, and the foreshortening of pairs, at one place."""

    @abstractmethod
    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        """Return the rates of stretch, twist, psi_y and psi_z along x, (4, k), at a fraction."""

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
        return Beam(self.beam.L, 1.0, EA=1.0, EI=(1.0, 1.0), GJ=1.0, rI=(1.0, 1.0), rIp=1.0)

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
            powers = weights.project_to_series(np.stack([eta**k for k in range(3)], axis=-1)[None])
            m, first, second = weights.moments(0, 3, l).values(powers)
            one = weights.project_to_series(np.ones((1, 1, 1)))
            about = [l * weights.moments(column, 1, l).values(one)[0] for column in (9, 8, 7)]
            return l * m, l * l * first, l * l * l * second, about
        if start is not None and isinstance(beam, Beam):
            out = [x * (1 - start**k) / k for k, x in ((1, l), (2, l * l), (3, l * l * l))]
            about = [x * out[0] for x in (beam.rIp, beam.rI[1], beam.rI[0])]
            return beam.m * out[0], beam.m * out[1], beam.m * out[2], about
        if isinstance(beam, Beam):
            m = beam.m * beam.L
            first = beam.m * beam.L**2 / 2
            second = beam.m * beam.L**3 / 3
            about = [beam.rIp * beam.L, beam.rI[1] * beam.L, beam.rI[0] * beam.L]
        else:
            s, w = beam_points(beam, 3)
            rows = beam.at(s) * w[:, None]
            m, first, second = (float(rows[:, 0] @ s**k) for k in range(3))
            about = rows[:, [9, 8, 7]].sum(axis=0).tolist()
        back = l - self.beam.L
        return m, first + m * back, second + (2 * first + m * back) * back, about

    @cached_property
    def lookups(self) -> dict[tuple[Any, ...], Lookup]:
        """The same as tables, where shapes are `analytic`."""
        return {}

    @cached_property
    def numbers(self) -> dict[tuple[Any, ...], SlideIntegrals]:
        """Integrals at lengths that were asked for last."""
        return {}

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


def only_material() -> SuppleError:
    """Return the sentence for shapes that know one velocity alone."""
    return SuppleError(
        "velocity 'paper' is for AssumedModes of a uniform link that neither shears nor stretches: "
        "elements, and the shapes of other links, follow the material"
    )


@dataclass(frozen=True)
class StiffRod(SlidingShapes):
    """A sliding link that keeps its shape: no shape function, the slide alone."""

    beam: AnyBeam
    end: EndLoad
    kinds: tuple[str, ...] = ()
    member: tuple[int, ...] = ()

    def families(self, *_: Any, **__: Any) -> tuple[ShapeFamily, ShapeFamily | None]:
        return ShapeFamily([[]], [], [], [], [], [], []), None

    def shortening(self, *_: Any, **__: Any) -> Shortening:
        return Shortening((), [[]], [[]], [], [], [])

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        return np.zeros((*np.broadcast(l, eta).shape, 6, 0))

    def shapes_at(self, l: float) -> LinkShapes:
        return LinkShapes(np.array([0.0, l]), np.zeros((1, 6, 0, 1)), ())

    def spot(self, *_: Any, **__: Any) -> tuple[list[tuple[Rate, Rate]], list[Rate]]:
        return [], []

    def curvature(self, l: Scalar, eta: float = 0.0) -> Matrix:
        return [[], [], [], []]
