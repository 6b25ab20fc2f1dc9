"""Linear equations with many structural zeros over any scalars: Gauss's elimination, written out.

A float zero is a fact about structure and is never touched, so that loops which meet in one body
cost what their own blocks cost. Columns are taken in the order of fewest rows; among the rows that
have an entry there the largest one is the pivot, exchanged by `where` and not by a branch.
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

    Attributes:
        steps: (i, p, s, f): rows i and p exchanged where s, then f times row p taken from row i.
        pivots: (row, column, 1 / pivot) in the order of elimination.  upper: rows of the triangle,
        by row and column.  where: as of `factored`.
    """

    steps: list[tuple[int, int, Scalar, Scalar]]
    pivots: list[tuple[int, int, Scalar]]
    upper: Matrix
    where: Where

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Factors:
        """Return the same factors with every scalar that is no plain float changed."""

        def new(x: Scalar) -> Scalar:
            return x if x is None or isinstance(x, float) else change(x)

        steps = [(i, p, new(s), new(f)) for i, p, s, f in self.steps]
        pivots = [(i, j, new(x)) for i, j, x in self.pivots]
        upper = [[0.0] * len(row) for row in self.upper]
        for place, (row, _, _) in enumerate(self.pivots):
            for _, other, _ in self.pivots[place + 1 :]:
                upper[row][other] = new(self.upper[row][other])
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
            rest = y[row]
            for _, other, _ in self.pivots[place + 1 :]:
                rest = sub(rest, mul(self.upper[row][other], x[other]))
            x[column] = mul(rest, inverse)
        return x

    def solve_transposed(self, b: Vector) -> Vector:
        """x with A' x = b."""
        rest, x = list(b), [0.0] * len(b)
        for place, (row, column, inverse) in enumerate(self.pivots):
            x[row] = mul(rest[column], inverse)
            for _, other, _ in self.pivots[place + 1 :]:
                rest[other] = sub(rest[other], mul(self.upper[row][other], x[row]))
        for i, p, swapped, factor in reversed(self.steps):
            if factor is not None:
                x[p] = sub(x[p], mul(factor, x[i]))
            if swapped is not None:
                self._exchange(x, i, p, swapped)
        return x

    def _exchange(self, y: Vector, i: int, p: int, swapped: Scalar) -> None:
        if not (is_constant(y[i], 0.0) and is_constant(y[p], 0.0)):
            y[i], y[p] = self.where(swapped, y[p], y[i]), self.where(swapped, y[i], y[p])


def factorise(A: Matrix, where: Where, larger: Larger) -> Factors:
    """Return the factors of a square matrix, nested lists; a structural zero is the float 0.0."""
    rows, n = [list(row) for row in A], len(A)
    open_rows, open_columns = set(range(n)), set(range(n))
    steps: list[tuple[int, int, Scalar, Scalar]] = []
    pivots: list[tuple[int, int, Scalar]] = []
    while open_columns:
        held = {
            j: [i for i in sorted(open_rows) if not is_constant(rows[i][j], 0.0)]
            for j in sorted(open_columns)
        }
        _, column = min((len(own), j) for j, own in held.items())
        p, *others = held[column]
        open_rows.discard(p)
        open_columns.discard(column)
        for i in others:
            swapped = larger(rows[i][column], rows[p][column])
            for j in (column, *open_columns):
                a, b = rows[p][j], rows[i][j]
                if not (is_constant(a, 0.0) and is_constant(b, 0.0)):
                    rows[p][j], rows[i][j] = where(swapped, b, a), where(swapped, a, b)
            steps.append((i, p, swapped, None))
        inverse = 1.0 / rows[p][column]
        pivots.append((p, column, inverse))
        for i in others:
            factor = mul(rows[i][column], inverse)
            for j in open_columns:
                rows[i][j] = sub(rows[i][j], mul(factor, rows[p][j]))
            steps.append((i, p, None, factor))
    return Factors(steps, pivots, rows, where)
