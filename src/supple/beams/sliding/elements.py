"""Finite elements on a link that slides: a mesh that stretches with the free length.

Shapes are fixed functions of eta = x/l, so a material point moves through the mesh at
d eta/dl = (1 - eta)/l and every integral is a constant times a power of l:

    N_l = (1 - eta) N' / l,    N_ll = [(1 - eta)^2 N'' - 2 (1 - eta) N'] / l^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import SuppleError
from ..invariants import foreshortening, gauss_points, invariants, stiffness
from ..shapes import EndLoad, Shapes
from ..theory import Beam
from .rates import Rate, variable
from .shapes import ROWS, Beta, Family, Shortening, SlideIntegrals, SlidingShapes, Velocity

__all__ = ["SlidingElements"]

Array = NDArray[np.float64]
Scalar = Any


@dataclass(frozen=True)
class SlidingElements(SlidingShapes):
    """Elements of a sliding link.

    Attributes:
        beam, end: the whole beam, and its end load.  shapes: the elements' shapes on the whole
        length, which stretch to the free one.
    """

    beam: Beam
    end: EndLoad
    shapes: Shapes

    @property
    def kinds(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.shapes.kinds

    @cached_property
    def member(self) -> tuple[int, ...]:  # type: ignore[override]
        """Number of each shape among those of bending, or of twist."""
        out, seen = [], {False: 0, True: 0}
        for kind in self.kinds:
            twists = kind == "torsion"
            out.append(seen[twists])
            seen[twists] += 1
        return tuple(out)

    @cached_property
    def _tables(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Integrals over eta of bending and of twist, unit length, and end values."""
        L, shapes = self.beam.L, self.shapes
        x, w = gauss_points(shapes.breaks, shapes.degree + 3)
        eta = (x / L)[:, None]
        end = [shapes.at(L, d)[0] * L**d for d in range(2)]
        unit = stiffness(replace(self.beam, EI=(1.0, 1.0), GJ=1.0), shapes)
        out = []
        for twists in (False, True):
            columns = [j for j, kind in enumerate(self.kinds) if (kind == "torsion") is twists]
            rows = [ROWS[self.kinds[j]][0] for j in columns]
            N = self._material(x, columns)
            square = unit[np.ix_(columns, columns)] * L ** (1 if twists else 3)
            out.append(
                {
                    "gram": [[np.einsum("g,gi,gj->ij", w / L, a, b) for b in N] for a in N],
                    "mean": [w / L @ a for a in N],
                    "centre": [w / L @ (eta * a) for a in N],
                    "tip": end[0][rows, columns],
                    "slope": end[1][rows, columns],
                    "K": square,
                }
            )
        return out[0], out[1]

    def families(
        self, l: Scalar, velocity: Velocity = "material", held: Scalar = None, beta: Beta = None
    ) -> tuple[Family, Family | None]:
        """Return the functions of bending and of twist at a free length."""
        if velocity != "material":
            raise SuppleError("velocity 'paper' is for AssumedModes: elements follow the material")
        bending, torsion = self._tables
        twist = _family(torsion, l, self.beam.rIp, 1) if len(torsion["tip"]) else None
        return _family(bending, l, self.beam.m, 3), twist

    def shortening(
        self, l: Scalar, pairs: tuple[tuple[int, int], ...], beta: Beta = None
    ) -> Shortening:
        """Return F = phi(eta)/l of pairs, with the rates of a material point."""
        table = self._short_tables
        place = [table["pairs"].index(pair) for pair in pairs]
        by = [1.0 / l]
        for _ in range(5):
            by.append(by[-1] / l)
        gram = [
            [(table["gram"][d][e][np.ix_(place, place)]).tolist() for e in range(3)]
            for d in range(3)
        ]
        against = [[table["against"][d][e][place].tolist() for e in range(3)] for d in range(3)]
        length = variable(l)
        return Shortening(
            pairs,
            [[_times(gram[d][e], by[d + e + 1]) for e in range(3)] for d in range(3)],
            [[_times(against[d][e], by[d + e]) for e in range(3)] for d in range(3)],
            [[v * by[d] for v in table["mean"][d][place].tolist()] for d in range(3)],
            [[v * by[d] for v in table["centre"][d][place].tolist()] for d in range(3)],
            [(1.0 / length) * v for v in table["tip"][place].tolist()],
        )

    @cached_property
    def _short_tables(self) -> dict[str, Any]:
        """Integrals over eta of phi and its material rates, phi = l F, for pairs of functions.

        F_l = [(1 - eta) phi' - phi]/l^2, F_ll = [(1 - eta)^2 phi'' - 4 (1 - eta) phi' + 2 phi]/l^3.
        """
        L, shapes = self.beam.L, self.shapes
        x, w = gauss_points(shapes.breaks, 2 * shapes.degree + 2)
        at = np.concatenate([x, [L]])
        pairs, moved = foreshortening(shapes, at)
        j, n = (np.array([pair[k] for pair in pairs], int) for k in range(2))
        half = np.where(j == n, 0.5, 1.0)
        v1, v2 = (shapes.at(at, d)[:, 1:3] for d in (1, 2))
        products = [
            (v1[..., j] * v1[..., n]).sum(axis=1),
            (v2[..., j] * v1[..., n] + v1[..., j] * v2[..., n]).sum(axis=1),
        ]
        phi = [L * moved[:, 0], *(-half * L ** (2 + d) * f for d, f in enumerate(products))]
        left = (1 - x / L)[:, None]
        p = [f[:-1] for f in phi]
        F = [p[0], left * p[1] - p[0], left**2 * p[2] - 4 * left * p[1] + 2 * p[0]]
        N = self._material(x, [j for j, kind in enumerate(self.kinds) if kind != "torsion"])
        eta = (x / L)[:, None]
        return {
            "pairs": [(self.member[a], self.member[b]) for a, b in pairs],
            "gram": [[np.einsum("g,gp,gr->pr", w / L, a, b) for b in F] for a in F],
            "against": [[np.einsum("g,gp,gi->pi", w / L, a, b) for b in N] for a in F],
            "mean": [w / L @ a for a in F],
            "centre": [w / L @ (eta * a) for a in F],
            "tip": phi[0][-1],
        }

    def _material(self, x: Array, columns: list[int]) -> list[Array]:
        """N, l N_l and l^2 N_ll (n, columns) of some shapes at places x of the whole length."""
        L, left = self.beam.L, (1 - x / self.beam.L)[:, None]
        rows = [ROWS[self.kinds[j]][0] for j in columns]
        f = [self.shapes.at(x, d)[:, rows, columns] * L**d for d in range(3)]
        return [f[0], left * f[1], left**2 * f[2] - 2 * left * f[1]]

    def fields(self, l: ArrayLike, eta: ArrayLike) -> Array:
        """Return displacements and twist (.., 4, k) at fractions of free lengths."""
        at = np.broadcast_arrays(l, eta)[1]
        found = self.shapes.at(self.beam.L * at.ravel())[:, :4]
        return found.reshape(*at.shape, 4, self.count)

    def curvature(self, l: float) -> Array:
        """Return the curvature (2, k) at the hub in x-y and x-z."""
        return self.shapes.at(0.0, 2)[0, 1:3] * (self.beam.L / l) ** 2

    def damping(
        self, found: SlideIntegrals, l: Scalar, ratios: list[float], speed: list[Scalar]
    ) -> list[Scalar]:
        """Return modal damping of the free part: as at the whole length, times L/l."""
        # (k, k) at the whole length; frequencies go as 1/l^2 and masses as l
        from scipy.linalg import eigh

        inv = invariants(self.beam, self.shapes, EndLoad())
        omega2, Phi = eigh(inv.K, inv.modal_mass)
        side = inv.modal_mass @ Phi
        C: list[list[float]] = (
            (side * (2 * (ratios[0] if ratios else 0.0) * np.sqrt(omega2))) @ side.T
        ).tolist()
        factor = self.beam.L / l
        return [factor * sum(c * v for c, v in zip(row, speed, strict=True)) for row in C]


def _times(rows: list[list[float]], factor: Scalar) -> list[list[Scalar]]:
    return [[value * factor if value else 0.0 for value in row] for row in rows]


def _family(table: dict[str, Any], l: Scalar, density: float, power: int) -> Family:
    """A family's integrals at a free length: constants times powers of l."""
    by = [1.0, 1.0 / l, 1.0 / (l * l)]
    square = [1.0, by[1], by[2], by[1] * by[2], by[2] * by[2]]
    gram = [[(table["gram"][d][e]).tolist() for e in range(3)] for d in range(3)]
    scaled = [
        [
            [[value * square[d + e] if d + e else value for value in row] for row in gram[d][e]]
            for e in range(3)
        ]
        for d in range(3)
    ]
    once = {
        name: [
            [value * by[d] if d else value for value in table[name][d].tolist()] for d in range(3)
        ]
        for name in ("mean", "centre")
    }
    length = variable(l)
    stiff = 1.0 / (length * length * length) if power == 3 else 1.0 / length
    K = [[stiff * value if value else Rate(0.0) for value in row] for row in table["K"].tolist()]
    tip = [Rate(value) for value in table["tip"].tolist()]
    slope = [(1.0 / length) * value for value in table["slope"].tolist()]
    modal = [length * density * gram[0][0][i][i] for i in range(len(tip))]
    return Family(scaled, once["mean"], once["centre"], tip, slope, K, modal)
