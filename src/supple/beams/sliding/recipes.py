"""Expressions written once: nested answers in CasADi symbols, kept as one function or as a table.

Writing out a sliding link takes tens of thousands of calls from Python; evaluating what was written
at another symbol happens inside CasADi. On a tape what depends on the free length alone, smoothly,
is looked up in a table. Floats stay floats: they are facts about structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ...kernels.tape import TERMS, Node, played

__all__ = ["Lookup", "Recipe", "lookup", "mapped", "recipe", "symbolic"]

Array = NDArray[np.float64]
Scalar = Any
PIECES = 128  # of a table: series of TERMS terms then end in rounding


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

        flat, values = [x for group in arguments for x in group], None
        if any(isinstance(x, Node) for x in flat):
            values = played(self.function, flat)
            assert values is not None
        else:
            values = ca.vertsplit(self.function(*[ca.vertcat(*group) for group in arguments]))
        return mapped(self.form, _Place, lambda place: values[place.index])


@dataclass(frozen=True, eq=False)
class Lookup:
    """A nested answer along a stroke as a table of a tape, in the fourth root of the length.

    Attributes:
        table: (pieces, rows, TERMS).  edges: fourth roots of the lengths between which it holds.
    """

    table: Array
    edges: tuple[float, float]
    form: Any

    def at(self, l: Node) -> Any:
        """Return the answer at a free length."""
        low, high = self.edges
        values = ((l.sqrt().sqrt() - low) * (len(self.table) / (high - low))).looked_up(self.table)
        return mapped(self.form, _Place, lambda place: values[place.index])


def lookup(write: Callable[[Array], Any], edges: tuple[float, float]) -> Lookup:
    """Return what `write` answers for arrays of lengths, analytic in them, as a table."""
    nodes = chebyshev.chebpts1(TERMS)
    to = chebyshev.chebvander(nodes, TERMS - 1) * (2 / TERMS)
    to[:, 0] /= 2
    at = (np.arange(PIECES)[:, None] + (nodes + 1) / 2) / PIECES
    rows: dict[bytes, int] = {}
    values: list[Array] = []

    def kept(x: Array) -> _Place:
        """Its row; what is equal stands there once."""
        key = x.tobytes()
        if key not in rows:
            rows[key] = len(values)
            values.append(x)
        return _Place(rows[key])

    lengths = ((edges[0] + (edges[1] - edges[0]) * at) ** 4).ravel()
    form = mapped(write(lengths), np.ndarray, kept)
    series = np.reshape(values, (len(values), PIECES, TERMS)) @ to
    return Lookup(np.ascontiguousarray(series.swapaxes(0, 1)), edges, form)


def symbolic(x: Scalar) -> bool:
    """Whether a scalar is an expression of CasADi."""
    return hasattr(x, "element_hash")


def recipe(write: Callable[..., Any], *sizes: int) -> Recipe:
    """Return what `write` answers for groups of symbols of these sizes."""
    import casadi as ca

    groups = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
    leaves: list[Scalar] = []

    def kept(x: Scalar) -> _Place:
        leaves.append(x)
        return _Place(len(leaves) - 1)

    form = mapped(write(*[ca.vertsplit(group) for group in groups]), ca.SX, kept)
    return Recipe(ca.Function("recipe", groups, [ca.vertcat(*leaves)], {"cse": True}), form)


def mapped(x: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """Return a nested answer of lists and dataclasses with every leaf of a kind changed."""
    if isinstance(x, float):  # most of them
        return x
    if isinstance(x, kind):
        return change(x)
    if isinstance(x, list | tuple):
        return type(x)(mapped(one, kind, change) for one in x)
    if is_dataclass(x) and not isinstance(x, type):
        return type(x)(*[mapped(getattr(x, f.name), kind, change) for f in fields(x)])
    return x
