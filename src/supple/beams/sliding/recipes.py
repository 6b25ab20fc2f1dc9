"""Expressions written once: nested answers in CasADi symbols, kept as one function or as a table.

Writing out a sliding link takes tens of thousands of calls from Python; evaluating what was written
at another symbol happens inside CasADi. On a tape what depends on the free length alone, smoothly,
is looked up in a table. Floats stay floats: they are facts about structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ...kernels.tape import SERIES_TERMS, Node, known_table, record_function

__all__ = ["Lookup", "Recipe", "lookup", "map_leaves", "recipe", "symbolic"]

Array = NDArray[np.float64]
Scalar = Any
TABLE_PIECES = 16  # of a table: series of TERMS terms then end in rounding


@dataclass(frozen=True)
class _Place:
    """Where an expression of a nested answer stands among the outputs."""

    index: int


@dataclass(frozen=True)
class Recipe:
    """A nested answer with the places of its expressions, and the function that gives them."""

    function: Any
    form: Any

    def at(self, *arguments: Sequence[Scalar]) -> Any:
        """Return the answer at these arguments, groups of scalars as they were when written."""
        import casadi as ca

        flat = [x for group in arguments for x in group]
        values = None
        if any(isinstance(x, Node) for x in flat):
            values = record_function(self.function, flat)
            assert values is not None
        else:
            values = ca.vertsplit(self.function(*[ca.vertcat(*group) for group in arguments]))
        return map_leaves(self.form, _Place, lambda place: values[place.index])


@dataclass(frozen=True, eq=False)
class Lookup:
    """A nested answer along a stroke as a table, in the fourth root of the length.

    Attributes
    ----------
    table
        (pieces, rows, TERMS), Chebyshev series.
    edges
        Fourth roots of the lengths between which it holds.
    """

    table: Array
    edges: tuple[float, float]
    form: Any

    def at(self, l: Scalar) -> Any:
        """Return the answer at a free length, a node of a tape or an expression of CasADi."""
        low, high = self.edges
        place = (l.sqrt().sqrt() - low) * (len(self.table) / (high - low))
        values: list[Scalar]
        if isinstance(place, Node):
            values = place.looked_up(self.table)
        else:
            import casadi as ca

            values = ca.vertsplit(self._function(place, known_table(self.table, self._number)))
        return map_leaves(self.form, _Place, lambda own: values[own.index])

    @cached_property
    def _number(self) -> float:
        """What the table is known by; a copy from another process is not known yet."""
        return known_table(self.table)

    @cached_property
    def _function(self) -> Any:
        """The table as a CasADi function that stays a call: a spline of Bernstein's polynomials."""
        import casadi as ca

        pieces, rows, _ = self.table.shape
        degree = SERIES_TERMS - 1
        to = np.zeros(
            (SERIES_TERMS, SERIES_TERMS)
        )  # Chebyshev's polynomials in Bernstein's, of one degree
        for n in range(SERIES_TERMS):
            own = [(-1) ** (n - j) * comb(2 * n, 2 * j) / comb(n, j) for j in range(n + 1)]
            for m in range(n, degree):
                own = [
                    own[0],
                    *(
                        (b * (m + 1 - j) + a * j) / (m + 1)
                        for j, (a, b) in enumerate(pairwise(own), 1)
                    ),
                    own[-1],
                ]
            to[n] = own
        points = self.table @ to
        line = np.zeros((pieces * degree + 1, rows))
        for j in range(SERIES_TERMS):
            line[j::degree][:pieces] += points[:, :, j]
        line[degree:-1:degree] /= 2  # where two pieces meet
        knots = [0.0, *np.repeat(np.arange(pieces + 1.0), degree).tolist(), float(pieces)]
        x = ca.MX.sym("x")
        which = ca.MX.sym("which")
        options = {"lookup_mode": ["binary"]}
        spline = ca.bspline(x, ca.DM(line.ravel()), [knots], [degree], rows, options)
        return ca.Function("table", [x, which], [spline], {"never_inline": True})


def lookup(write: Callable[[Array], Any], edges: tuple[float, float]) -> Lookup:
    """Return what `write` answers for arrays of lengths, analytic in them, as a table."""
    nodes = chebyshev.chebpts1(SERIES_TERMS)
    to = chebyshev.chebvander(nodes, SERIES_TERMS - 1) * (2 / SERIES_TERMS)
    to[:, 0] /= 2
    at = (np.arange(TABLE_PIECES)[:, None] + (nodes + 1) / 2) / TABLE_PIECES
    rows: dict[bytes, int] = {}
    values: list[Array] = []

    def cached_place(x: Array) -> _Place:
        """Its row; what is equal stands there once."""
        key = x.tobytes()
        if key not in rows:
            rows[key] = len(values)
            values.append(x)
        return _Place(rows[key])

    lengths = ((edges[0] + (edges[1] - edges[0]) * at) ** 4).ravel()
    form = map_leaves(write(lengths), np.ndarray, cached_place)
    series = np.reshape(values, (len(values), TABLE_PIECES, SERIES_TERMS)) @ to
    return Lookup(np.ascontiguousarray(series.swapaxes(0, 1)), edges, form)


def symbolic(x: Scalar) -> bool:
    """Whether a scalar is an expression of CasADi."""
    return hasattr(x, "element_hash")


def recipe(write: Callable[..., Any], *sizes: int) -> Recipe:
    """Return what `write` answers for groups of symbols of these sizes."""
    import casadi as ca

    groups = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
    leaves: list[Scalar] = []

    def cached_place(x: Scalar) -> _Place:
        leaves.append(x)
        return _Place(len(leaves) - 1)

    form = map_leaves(write(*[ca.vertsplit(group) for group in groups]), ca.SX, cached_place)
    return Recipe(ca.Function("recipe", groups, [ca.vertcat(*leaves)], {"cse": True}), form)


def map_leaves(x: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """Return a nested answer of lists and dataclasses with every leaf of a kind changed."""
    if isinstance(x, float):  # most of them
        return x
    if isinstance(x, kind):
        return change(x)
    if isinstance(x, list | tuple):
        return type(x)(map_leaves(one, kind, change) for one in x)
    if is_dataclass(x) and not isinstance(x, type):
        return type(x)(*[map_leaves(getattr(x, f.name), kind, change) for f in fields(x)])
    return x
