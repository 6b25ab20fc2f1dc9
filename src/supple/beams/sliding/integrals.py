"""Integrals of a link that slides on the wide set [N, N_l, N_ll, e_x], see `shapes`."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

from ...kernels.tape import Node
from ..shapes import PLANES
from .clamped_mass import Stroke
from .rates import Rate, place, variable
from .recipes import lookup, recipe, symbolic
from .shapes import (
    ROWS,
    Beta,
    Matrix,
    Pairs,
    ShapeFamily,
    Shortening,
    SlideIntegrals,
    SlidingShapes,
    Spot,
    Velocity,
)

__all__ = ["integrals", "spot_fields"]

Scalar = Any
MAX_LENGTHS = 64  # whose integrals are kept
_KINDS = ("axial", "xy", "xz", "torsion")  # whose own field moves a component


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

    Expressions are written once for each kind of question and then evaluated at what is given, or
    looked up in a table where they can be.

    Source: [Theodore1997], Eqs. (24), (28), (29); (24) corrected, s_dot = l_dot in (28).
    """
    if isinstance(l, float | int) and held is None and beta is None:
        # Numbers at one length: links that are alike share their shapes, and ask for the same
        length = float(l)
        at_length = (length, velocity, stiffening, start)
        if at_length not in shapes.numbers:
            if len(shapes.numbers) >= MAX_LENGTHS:
                shapes.numbers.pop(next(iter(shapes.numbers)))
            shapes.numbers[at_length] = _integrals(
                shapes, length, velocity, None, None, stiffening, start
            )
        return deepcopy(shapes.numbers[at_length])
    if not (isinstance(l, Node) or symbolic(l)):
        return _integrals(shapes, l, velocity, held, beta, stiffening, start)
    other, roots = [] if held is None else [held], [] if beta is None else list(beta)
    key = (velocity, len(other), None if beta is None else len(roots), stiffening, start)

    def write(at: list[Scalar], other: list[Scalar], roots: list[Scalar]) -> SlideIntegrals:
        own = other[0] if other else None
        given = None if beta is None else roots
        return _integrals(shapes, at[0], velocity, own, given, stiffening, start)

    found: SlideIntegrals
    if shapes.analytic and not (other or roots):
        found = _looked_up(shapes, key, lambda at: write([at], [], []), l)
    else:
        if key not in shapes.recipes:
            shapes.recipes[key] = recipe(write, 1, len(other), len(roots))
        found = shapes.recipes[key].at([l], other, roots)
    return found


def _looked_up(shapes: SlidingShapes, key: Any, write: Callable[[Any], Any], l: Scalar) -> Any:
    """What `write` answers at a free length, from a table that is made once."""
    if key not in shapes.lookups:
        low, high = Stroke(shapes.beam.L).edges
        shapes.lookups[key] = lookup(write, (low * (1 - 1e-9), high * (1 + 1e-9)))
    return shapes.lookups[key].at(l)


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
    beam = shapes.unit
    found = shapes.families(l, velocity, held, beta, start)
    mass, first, second, about = shapes.rod(l, start)
    pairs = shapes.pairs if stiffening else ()
    functions = sorted({(shapes.member[j], shapes.member[n]) for j, n in pairs})
    short = shapes.shortening(l, tuple(functions), beta, start) if pairs else None
    wide = _Wide(shapes, *found, l, pairs, short)
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
        JPsi=[wide.moment(3, beam.rIp, 0)[:-1], *wide.turned_moments()],
        PsiJPsi=wide.turned_products([row[:-1] for row in wide.products(3, 3, beam.rIp)[:-1]]),
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
    roots = [] if beta is None else list(beta)
    pairs = shapes.pairs if stiffening else ()
    functions = sorted({(shapes.member[j], shapes.member[n]) for j, n in pairs})

    def write(at: list[Scalar], roots: list[Scalar]) -> tuple[Matrix, Matrix]:
        length = at[0]
        given = None if beta is None else roots
        eta = spot.at / variable(length) if spot.held else place(spot.at, length)
        found = shapes.spot(length, eta, tuple(functions), given)
        N, Psi = _section(shapes, pairs, functions, *found)
        N[0][-1] = 0.0 if spot.held else 1.0
        return N, Psi

    x = spot.at if spot.held else spot.at * l
    if not (isinstance(l, Node) or symbolic(l)):
        return x, *write([l], roots)
    key = (spot, None if beta is None else len(roots), stiffening)
    if shapes.analytic and not roots:
        return x, *_looked_up(shapes, key, lambda at: write([at], []), l)
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
    width = shapes.count + len(pairs)
    member = shapes.member
    six: Matrix = [[0.0] * (3 * width + 1) for _ in range(6)]
    moved: list[tuple[int, int, Rate]] = []
    for j, (kind, (value, slope)) in enumerate(zip(shapes.kinds, values, strict=True)):
        row, turn, sign = ROWS[kind]
        moved.append((row, j, value))
        if kind in PLANES:
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
    bending: ShapeFamily
    torsion: ShapeFamily | None
    l: Scalar
    pairs: tuple[tuple[int, int], ...] = ()
    short: Shortening | None = None

    def family(self, kind: str) -> ShapeFamily:
        """The functions a kind of shape is made of."""
        chosen = self.torsion if kind == "torsion" else self.bending
        assert chosen is not None
        return chosen

    @property
    def width(self) -> int:
        """Columns of N: shapes, and products of two."""
        return self.shapes.count + len(self.pairs)

    def _moving(self, component: int) -> list[tuple[int, int, bool]]:
        """(column, function, whether it is one of foreshortening) of what moves a component."""
        each = enumerate(zip(self.shapes.kinds, self.shapes.member, strict=True))
        out = [(j, i, False) for j, (kind, i) in each if ROWS[kind][0] == component]
        if not component and self.short is not None:
            place = self.short.pairs.index
            member = self.shapes.member
            k = self.shapes.count
            for p, (j, n) in enumerate(self.pairs):
                out.append((k + p, place((member[j], member[n])), True))
        return out

    def moment(self, component: int, density: float, power: int) -> list[Scalar]:
        """Integrals of density x^power times a component, (3 kz + 1,)."""
        out: list[Scalar] = [0.0] * (3 * self.width + 1)
        scale = density * self.l * (self.l if power else 1.0)
        for j, i, shortens in self._moving(component):
            table: Any = self.short if shortens else self.family(_KINDS[component])
            for d in range(3):
                out[d * self.width + j] = scale * (table.centre if power else table.mean)[d][i]
        return out

    def products(self, a: int, b: int, density: float) -> Matrix:
        """Integrals of density times products of two components, (3 kz + 1, 3 kz + 1)."""
        width = self.width
        scale = density * self.l
        out: Matrix = [[0.0] * (3 * width + 1) for _ in range(3 * width + 1)]
        short: Any = self.short
        for (j, i, one), (n, m, other) in product(self._moving(a), self._moving(b)):
            table = short if one and other else self.family(_KINDS[a])
            for d, e in product(range(3), range(3)):
                if one == other:
                    value = table.gram[d][e][i][m]
                else:
                    value = short.against[d][e][i][m] if one else short.against[e][d][m][i]
                out[d * width + j][e * width + n] = scale * value
        return out

    def _turning(self, component: int) -> list[tuple[int, int, float]]:
        """(column, function, sign) of what turns sections about y (4) or z (5)."""
        each = [ROWS[kind] for kind in self.shapes.kinds]
        return [
            (j, self.shapes.member[j], sign)
            for j, (_, turn, sign) in enumerate(each)
            if turn == component
        ]

    def turned_moments(self) -> Matrix:
        """Integrals of the rotary inertia times the rotations about y and z, (2, 3 kz)."""
        out: Matrix = [[0.0] * (3 * self.width) for _ in range(2)]
        found: Any = self.bending.turning
        for a in range(2) if found is not None else ():
            scale = self.shapes.unit.rI[1 - a] * self.l
            for j, i, sign in self._turning(4 + a):
                for d in range(3):
                    out[a][d * self.width + j] = sign * scale * found[1][d][i]
        return out

    def turned_products(self, out: Matrix) -> Matrix:
        """Add integrals of the rotary inertia times products of rotations to those of twist."""
        found: Any = self.bending.turning
        for a in range(2) if found is not None else ():
            scale = self.shapes.unit.rI[1 - a] * self.l
            own = self._turning(4 + a)
            for (j, i, _), (n, m, _) in product(own, own):
                for d, e in product(range(3), range(3)):
                    value = found[0][d][e][i][m]
                    out[d * self.width + j][e * self.width + n] = scale * value
        return out

    def stiffness(self) -> list[list[Rate]]:
        """(k, k) Rates; shapes of different kinds do not work on one another."""
        kinds = self.shapes.kinds
        member = self.shapes.member
        zero = Rate(0.0)
        beam = self.shapes.unit
        modulus = {"xy": beam.EI[0], "xz": beam.EI[1], "axial": beam.EA, "torsion": beam.GJ}
        return [
            [
                self.family(a).stiffness[i][m] * modulus[a] if a == b else zero
                for b, m in zip(kinds, member, strict=True)
            ]
            for a, i in zip(kinds, member, strict=True)
        ]
