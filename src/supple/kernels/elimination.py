"""Linear equations with many structural zeros over any scalars: Gauss's elimination, written out.

A float zero is a structural zero and never enters an operation, so that loops which meet in one
body cost no more than their own blocks. The column with the fewest entries is eliminated first; its
largest entry is the pivot. Rows are exchanged by `where`, not by a branch, because the scalars may
be symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .scalars import Matrix, Scalar, Vector, is_constant, mul, sub

__all__ = ["Factors", "factorise"]

Where = Callable[[Scalar, Scalar, Scalar], Scalar]  # condition, then, else
Larger = Callable[[Scalar, Scalar], Scalar]  # whether |a| > |b|


@dataclass(frozen=True)
class Factors:
    """What elimination did to a matrix, for any right-hand sides.

    Attributes
    ----------
    steps
        (i, p, s, f): rows i and p exchanged where s holds, then f times row p subtracted from row
        i.
    pivots
        (row, column, 1 / pivot) in the order of elimination.
    upper
        Rows of the triangle, by row and column.
    where
        As of `factorise`.
    """

    steps: list[tuple[int, int, Scalar, Scalar]]
    pivots: list[tuple[int, int, Scalar]]
    upper: Matrix
    where: Where

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Factors:
        """Return the same factors with `change` applied to every scalar that is not a float."""

        def changed(x: Scalar) -> Scalar:
            return x if x is None or isinstance(x, float) else change(x)

        steps = [(i, p, changed(s), changed(f)) for i, p, s, f in self.steps]
        pivots = [(i, j, changed(x)) for i, j, x in self.pivots]
        upper = [[0.0] * len(row) for row in self.upper]
        for place, (row, _, _) in enumerate(self.pivots):
            for _, other, _ in self.pivots[place + 1 :]:
                upper[row][other] = changed(self.upper[row][other])
        return Factors(steps, pivots, upper, self.where)

    def solve(self, b: Vector) -> Vector:
        """x with A x = b."""
        y = list(b)
        for i, p, swapped, factor in self.steps:
            if swapped is not None:
                self._exchange(y, i, p, swapped)
            if factor is not None:
                y[i] = sub(y[i], mul(factor, y[p]))
        x: Vector = [0.0] * len(b)
        for place in reversed(range(len(self.pivots))):
            row, column, inverse = self.pivots[place]
            remainder = y[row]
            for _, other, _ in self.pivots[place + 1 :]:
                remainder = sub(remainder, mul(self.upper[row][other], x[other]))
            x[column] = mul(remainder, inverse)
        return x

    def solve_transposed(self, b: Vector) -> Vector:
        """x with A' x = b."""
        remainder = list(b)
        x: Vector = [0.0] * len(b)
        for place, (row, column, inverse) in enumerate(self.pivots):
            x[row] = mul(remainder[column], inverse)
            for _, other, _ in self.pivots[place + 1 :]:
                remainder[other] = sub(remainder[other], mul(self.upper[row][other], x[row]))
        for i, p, swapped, factor in reversed(self.steps):
            if factor is not None:
                x[p] = sub(x[p], mul(factor, x[i]))
            if swapped is not None:
                self._exchange(x, i, p, swapped)
        return x

    def _exchange(self, y: Vector, i: int, p: int, swapped: Scalar) -> None:
        y[i], y[p] = _exchanged(y[i], y[p], swapped, self.where)


def _exchanged(a: Scalar, b: Scalar, swapped: Scalar, where: Where) -> tuple[Scalar, Scalar]:
    """(b, a) where `swapped` holds, else (a, b); two structural zeros stay what they are."""
    if is_constant(a, 0.0) and is_constant(b, 0.0):
        return a, b
    return where(swapped, b, a), where(swapped, a, b)


def factorise(A: Matrix, where: Where, larger: Larger) -> Factors:
    """Return the factors of a square matrix, nested lists; a structural zero is the float 0.0."""
    rows = [list(row) for row in A]
    n = len(A)
    open_rows = set(range(n))
    open_columns = set(range(n))
    steps: list[tuple[int, int, Scalar, Scalar]] = []
    pivots: list[tuple[int, int, Scalar]] = []
    while open_columns:
        # The open column with the fewest entries in open rows
        entries: dict[int, list[int]] = {}
        for j in sorted(open_columns):
            entries[j] = [i for i in sorted(open_rows) if not is_constant(rows[i][j], 0.0)]
        _, column = min((len(own_rows), j) for j, own_rows in entries.items())
        p, *others = entries[column]
        open_rows.discard(p)
        open_columns.discard(column)

        # Bring the largest entry to row p
        for i in others:
            swapped = larger(rows[i][column], rows[p][column])
            for j in (column, *open_columns):
                rows[p][j], rows[i][j] = _exchanged(rows[p][j], rows[i][j], swapped, where)
            steps.append((i, p, swapped, None))

        inverse = 1.0 / rows[p][column]
        pivots.append((p, column, inverse))
        for i in others:
            factor = mul(rows[i][column], inverse)
            for j in open_columns:
                rows[i][j] = sub(rows[i][j], mul(factor, rows[p][j]))
            steps.append((i, p, None, factor))
    return Factors(steps, pivots, rows, where)
