"""A varying beam as power series in omega^2: its states along x and its dynamic stiffness.

Along x the state (v, psi, Q, M) of one bending plane obeys, with c = 1/EI, s = 1/kGA,
    v' = psi + s Q,   psi' = c M,   Q' = -omega^2 m v,   M' = -Q - omega^2 r psi,
and stretch and twist (u, N) u' = N/EA, N' = -omega^2 m u. With y = sum omega^(2k) y_k every term
follows from the one before by integrals along x alone, taken on Gauss points of panels on which
the properties are resolved to rounding. The states converge for every omega, like
(wave number L)^(4k) / (4k)!; the stiffness does up to the first clamped frequency of the beam.
So a link is cut into pieces that are proven to have no clamped frequency up to twice the highest
requested omega: their count is zero, and the truncation error of a series falls like 4^-k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..kernels.roots import beam_stiffness
from .shapes import PLANES
from .theory import Beam
from .varying import GAUSS_POINTS, VaryingBeam, panel_nodes

__all__ = ["CLAMPED_FREQUENCY_MARGIN", "StiffnessSeries", "cut_places", "series_of"]

Array = NDArray[np.float64]
STIFFNESS_TERMS = 32  # of the stiffness in omega^2: (1/4)^27 is rounding
STATE_TERMS = 14  # of the states: a piece is at most 1.1 half waves long, 3.4^56 / 56! is 1e-45
# Clamped frequencies of a piece lie above this times the highest requested omega
CLAMPED_FREQUENCY_MARGIN = 2.0
MAX_PIECES = 2000
# Rows of the state (u, v, w, phi, psi_y, psi_z, then forces) that one motion uses, and the sign by
# which its rotation and moment enter; columns of the properties: compliances, inertias.
MOTIONS: tuple[tuple[tuple[int, ...], tuple[float, ...], tuple[int, ...], tuple[int, ...]], ...] = (
    ((0, 6), (1.0, 1.0), (1,), (0,)),
    *(
        ((v, psi, 6 + v, 6 + psi), (1.0, sign, 1.0, sign), (2 + k, 4 + k), (0, 7 + k))
        for k, (v, psi, sign) in enumerate(PLANES.values())
    ),
    ((3, 9), (1.0, 1.0), (6,), (9,)),
)


@lru_cache(maxsize=1)
def _integrator() -> Array:
    """(n, n): from values at the Gauss points to integrals from -1 to each of them."""
    t, _, series = panel_nodes()
    once = legendre.legint(np.eye(GAUSS_POINTS), lbnd=-1, axis=1)  # row k: the integral of P_k
    out: Array = legendre.legvander(t, GAUSS_POINTS) @ once.T @ series
    return out


@dataclass(frozen=True)
class Panels:
    """Gauss points of p panels between edges (p + 1,), with the properties there, (p, n, 10)."""

    edges: Array
    rows: Array

    @cached_property
    def x(self) -> Array:
        """(p, n): the points."""
        a = self.edges[:-1, None]
        b = self.edges[1:, None]
        return np.asarray((a + b) / 2 + (b - a) / 2 * panel_nodes()[0])

    def integral(self, f: Array) -> tuple[Array, Array]:
        """Return int_0^x f at every point, (p, n, ..), and over the whole, (..)."""
        half = np.diff(self.edges) / 2
        scaled = half.reshape(-1, *[1] * (f.ndim - 1)) * f
        inner = np.moveaxis(np.tensordot(_integrator(), scaled, (1, 1)), 0, 1)
        per_panel = np.tensordot(panel_nodes()[1], scaled, (0, 1))
        before = np.cumsum(per_panel, axis=0)
        inner[1:] += before[:-1, None]
        return inner, before[-1]


class StiffnessSeries:
    """The power series of one varying beam, by motion: stretch, bending x-y, x-z, twist."""

    def __init__(self, beam: VaryingBeam) -> None:
        edges = beam.edges()
        t = panel_nodes()[0]
        rows = [beam.on_panel((a + b) / 2 + (b - a) / 2 * t) for a, b in pairwise(edges)]
        self.beam = beam
        self.panels = Panels(edges, np.array(rows))
        # which motions can deform at all: their first stiffness is finite
        self.soft = [bool(np.isfinite(rows[0][0, columns[0]])) for _, _, columns, _ in MOTIONS]
        self.unit = _unit_of_omega_squared(self.slowest())
        self._states: dict[int, tuple[list[Array], list[Array]]] = {}
        self._forms: dict[tuple[int, int], Array] = {}
        self._curves: dict[float, Array] = {}

    def states(self, plane: int, terms: int) -> tuple[list[Array], list[Array]]:
        """Return y_k at the points, (p, n, s, s), and at the end, (s, s), k < terms, s 2 or 4.

        Of powers of omega^2 / unit.
        """
        along, ends = self._states.setdefault(plane, ([], []))
        while len(along) < terms:
            y, end = self._next_term(plane, along[-1] if along else None)
            along.append(y)
            ends.append(end)
        return along[:terms], ends[:terms]

    def _next_term(self, plane: int, before: Array | None) -> tuple[Array, Array]:
        """The term after `before`, at the points (p, n, s, s) and at the end (s, s).

        The first term is the beam without inertia, started by unit states.
        """
        rows = self.panels.rows
        integral = self.panels.integral
        motion_rows, _, stiffness_columns, inertia_columns = MOTIONS[plane]
        size = len(motion_rows)
        half = size // 2
        y = np.zeros((*rows.shape[:2], size, size))
        end = np.zeros((size, size))
        start = np.eye(size) if before is None else np.zeros((size, size))

        # Force: Q' = -omega^2 m v, or N' = -omega^2 m u
        deflection: Any = 0 if before is None else before[:, :, 0]
        load = -self.unit * rows[..., inertia_columns[0], None] * deflection
        force, force_at_end = integral(load + np.zeros(size))
        y[:, :, half] = force + start[half]
        end[half] = force_at_end + start[half]

        compliance = 1 / rows[..., stiffness_columns[0], None]
        if size == 4:
            # M' = -Q - omega^2 r psi,  psi' = c M,  v' = psi + s Q
            rotation: Any = 0 if before is None else before[:, :, 1]
            inertia_moment = -self.unit * rows[..., inertia_columns[1], None] * rotation
            moment, moment_at_end = integral(inertia_moment - y[:, :, 2])
            y[:, :, 3] = moment + start[3]
            end[3] = moment_at_end + start[3]

            slope, slope_at_end = integral(compliance * y[:, :, 3])
            y[:, :, 1] = slope + start[1]
            end[1] = slope_at_end + start[1]

            shear = y[:, :, 2] / rows[..., stiffness_columns[1], None]
            moved, moved_at_end = integral(y[:, :, 1] + shear)
        else:
            # u' = N / EA
            moved, moved_at_end = integral(compliance * y[:, :, half])
        y[:, :, 0] = moved + start[0]
        end[0] = moved_at_end + start[0]
        return y, end

    def form(self, plane: int, terms: int) -> Array:
        """Return the dynamic stiffness, (terms, s, s) over (root, d), of (omega^2 / unit)^k.

        With the states [[A, B], [C, D]] at the end and X the rigid transport, the forces at the
        root are f_0 = B^-1 (d - (A - X) u_0), hence (root, root) X'C - (X'D - 1) B^-1 (A - X),
        (root, d) (X'D - 1) B^-1 and (d, d) D B^-1. A - X and X'D - 1 have no constant term, so that
        nothing cancels. A motion that cannot deform has its rigid inertia, and no d.
        """
        key = (plane, terms)
        if key not in self._forms:
            self._forms[key] = self._new_form(plane, terms)
        return self._forms[key]

    def _new_form(self, plane: int, terms: int) -> Array:
        size = len(MOTIONS[plane][0])
        half = size // 2
        form = np.zeros((terms, size, size))

        # States at the end, [[A, B], [C, D]]
        known = min(terms, STATE_TERMS if self.soft[plane] else 2)
        E = np.zeros((terms, size, size))
        E[:known] = self.states(plane, known)[1]
        A = E[:, :half, :half]
        B = E[:, :half, half:]
        C = E[:, half:, :half]
        D = E[:, half:, half:]
        X = np.eye(half)
        X[0, 1:] = self.beam.L

        if not self.soft[plane]:
            if terms > 1:
                form[1, :half, :half] = X.T @ C[1]
            return form

        B_inverse = np.zeros_like(B)
        B_inverse[0] = np.linalg.inv(B[0])
        for k in range(1, terms):
            product = np.einsum("jab,jbc->ac", B[1 : k + 1], B_inverse[k - 1 :: -1])
            B_inverse[k] = -B_inverse[0] @ product

        # A - X and X'D - 1, whose constant terms are zero
        A_minus_X = A.copy()
        A_minus_X[0] = 0.0
        XD_minus_1 = X.T @ D
        XD_minus_1[0] = 0.0
        root_end = _product(XD_minus_1, B_inverse)
        form[:, :half, :half] = X.T @ C - _product(root_end, A_minus_X)
        form[:, :half, half:] = root_end
        form[:, half:, :half] = root_end.swapaxes(1, 2)
        form[:, half:, half:] = _product(D, B_inverse)
        return (form + form.swapaxes(1, 2)) / 2

    def stiffness(self, w2: float, terms: int = STIFFNESS_TERMS) -> Array:
        """Return the dynamic stiffness (6 + m, 6 + m) over (u_0, allowed d) at one omega^2."""
        full = np.zeros((12, 12))
        for plane, (rows, signs, _, _) in enumerate(MOTIONS):
            half = len(rows) // 2
            powers = (w2 / self.unit) ** np.arange(float(terms))
            block = np.tensordot(powers, self.form(plane, terms), 1)
            sign = np.array([*signs[:half], *signs[:half]])
            places = [*rows[:half], *(row + 6 for row in rows[:half])]
            full[np.ix_(places, places)] = block * sign[:, None] * sign
        keep = np.concatenate([np.ones(6, bool), self.beam.active()])
        reduced: Array = full[np.ix_(keep, keep)]
        return reduced

    def curve(self, top: float) -> Array:
        """Return (terms, 26): the stiffness in powers of (omega / top)^2, as the kernel reads it.

        Upper triangles of stretch (3), bending in x-y and x-z (10 each) and twist (3). Beyond the
        second power the series is economised by Chebyshev polynomials on 0 .. 1.
        """
        if top in self._curves:
            return self._curves[top]
        columns = []
        for plane in range(4):
            powers = (top * top / self.unit) ** np.arange(float(STIFFNESS_TERMS))
            scaled = self.form(plane, STIFFNESS_TERMS) * powers[:, None, None]
            i, j = np.triu_indices(scaled.shape[1])
            columns.append(scaled[:, i, j])
        # Power series (TERMS, n) on 0 .. 1 in as few terms as rounding allows
        power = np.concatenate(columns, axis=1)
        t, fit, back = _shifted_chebyshev()
        values = t[:, None] ** np.arange(STIFFNESS_TERMS - 2) @ power[2:]
        chebyshev = fit @ values
        size = np.maximum(np.abs(power[0]), np.abs(power[1])) + 1e-300
        # coefficients fall evenly: from the first that is below rounding on, all are
        negligible = np.flatnonzero((np.abs(chebyshev) <= 2e-16 * size).all(axis=1))
        keep = max(int(negligible[0]), 1) if len(negligible) else len(chebyshev)
        self._curves[top] = np.concatenate([power[:2], back[:keep, :keep].T @ chebyshev[:keep]])
        return self._curves[top]

    def transfer(
        self, w2: NDArray[np.complex128], x: float | None = None
    ) -> NDArray[np.complex128]:
        """Return (F, 12, 12): the state at x (None: the end) per unit state at the root."""
        T = np.zeros((len(w2), 12, 12), complex)
        powers = (w2[:, None] / self.unit) ** np.arange(STATE_TERMS)
        for plane, (rows, signs, _, _) in enumerate(MOTIONS):
            along, ends = self.states(plane, STATE_TERMS)
            at_x = ends if x is None else [self._at(y, [x])[0] for y in along]
            terms = np.array(at_x)
            sign = np.outer(signs, signs)
            block = np.einsum("fk,kab->fab", powers, terms * sign)
            T[np.ix_(range(len(w2)), rows, rows)] = block
        return T

    def carry(self, omega: float, x: Array, state: Array, pull: Array | None = None) -> Array:
        """Return the states at x, (P, 12), from the state (12,) at the root.

        pull: an acceleration (3,) that adds the weight m(x) pull. Its effect is that of the term of
        omega^2 for a root that moves by pull.
        """
        out = np.zeros((len(x), 12))
        for plane, (rows, signs, _, _) in enumerate(MOTIONS):
            terms = STATE_TERMS if omega else 1
            along, _ = self.states(plane, terms + (pull is not None and not omega))
            start = state[list(rows)] * signs
            scaled_omega2 = omega**2 / self.unit
            moved = sum(scaled_omega2**k * along[k] @ start for k in range(terms))
            if pull is not None and plane < 3:
                moved = moved + along[1][..., 0] * (pull[plane] / self.unit)
            out[:, list(rows)] = self._at(np.asarray(moved), x) * signs
        return out

    def _at(self, values: Array, x: ArrayLike) -> Array:
        """Values (p, n, ..) at the points, interpolated at x (P,)."""
        x = np.asarray(x, float)
        edges = self.panels.edges
        panel = np.clip(np.searchsorted(edges, x, "right") - 1, 0, len(edges) - 2)
        a = edges[panel]
        b = edges[panel + 1]
        xi = (2 * x - a - b) / (b - a)  # -1 .. 1 on each panel
        basis = legendre.legvander(xi, GAUSS_POINTS - 1) @ panel_nodes()[2]
        return np.asarray(np.einsum("xn,xn...->x...", basis, values[panel]))

    def slowest(self) -> Beam:
        """Return a uniform beam whose clamped frequencies lie below: least stiff, most inert.

        Between the points a series differs from its mean by no more than the sum of its other
        coefficients.
        """
        series = np.einsum("kj,pjc->pkc", panel_nodes()[2], self.panels.rows)
        with np.errstate(invalid="ignore"):
            spread = np.nan_to_num(np.abs(series[:, 1:]).sum(axis=1), nan=0.0) * (1 + 1e-12)
        mean = np.where(np.isfinite(self.panels.rows[:, 0]), series[:, 0], np.inf)
        low = np.maximum((mean - spread).min(axis=0), 1e-300)
        high = (mean + spread).max(axis=0)
        _, EA, xy, xz, k_xy, k_xz, GJ, *_ = low.tolist()
        m, r_xy, r_xz, r_p = high[[0, 7, 8, 9]].tolist()
        return Beam(self.beam.L, m, EA, (xy, xz), (k_xy, k_xz), GJ, (r_xy, r_xz), r_p)


@lru_cache(maxsize=512)
def series_of(beam: VaryingBeam) -> StiffnessSeries:
    """Return the series of a beam, cached."""
    return StiffnessSeries(beam)


@lru_cache(maxsize=512)
def cut_places(beam: VaryingBeam, omega: float) -> tuple[float, ...]:
    """Return where to cut a beam so that no piece has a clamped frequency up to twice omega.

    Each span between stations is cut evenly, into as few pieces as suffice.
    """
    cuts = [0.0]
    for a, b in zip((0.0, *beam.breaks), (*beam.breaks, beam.L), strict=True):
        n = 1
        while True:
            places = np.linspace(a, b, n + 1).tolist()
            if all(_piece_is_short(beam, start, stop, omega) for start, stop in pairwise(places)):
                cuts += places[1:]
                break
            n += 1 + n // 4
            if n + len(cuts) > MAX_PIECES:
                raise SuppleError(
                    f"a link with stations needs more than {MAX_PIECES} pieces up to {omega:.4g} "
                    "rad/s: ask for fewer frequencies"
                )
    return tuple(cuts)


def _piece_is_short(beam: VaryingBeam, start: float, stop: float, omega: float) -> bool:
    """Whether a piece has no clamped frequency up to the margin times omega."""
    bound = series_of(beam.part(start, stop)).slowest()
    numbers = np.array(bound.at([0.0])[0])
    _, clamped_count = beam_stiffness(numbers, bound.L, CLAMPED_FREQUENCY_MARGIN * omega)
    return clamped_count == 0


def _unit_of_omega_squared(bound: Beam) -> float:
    """A power of four near the first clamped frequency squared.

    In this unit no power of omega^2 overflows, and no term is much larger than the first ones.
    """
    wave_number = math.pi / bound.L
    squares = []
    for stiffness, inertia in ((bound.EA, bound.m), (bound.GJ, bound.rIp)):
        if inertia:
            squares.append(wave_number**2 * stiffness / inertia)
    if bound.m:
        squares += [wave_number**4 * stiffness / bound.m for stiffness in bound.EI]
    usable = [square for square in squares if 0 < square < math.inf]
    return 4.0 ** round(math.log(min(usable), 4)) if usable else 1.0


@lru_cache(maxsize=1)
def _shifted_chebyshev() -> tuple[Array, Array, Array]:
    """Points t (n,) of 0 .. 1, values there to T_k(2 t - 1) (n, n), these to powers of t (n, n)."""
    n = STIFFNESS_TERMS - 2
    angle = np.pi * (np.arange(n) + 0.5) / n
    fit = 2 / n * np.cos(np.outer(np.arange(n), angle))
    fit[0] /= 2
    power = np.zeros((n, n))
    power[0, 0] = 1.0
    power[1, :2] = (-1.0, 2.0)
    for k in range(2, n):  # T_(k+1) = 2 (2 t - 1) T_k - T_(k-1)
        power[k] = -2 * power[k - 1] - power[k - 2]
        power[k, 1:] += 4 * power[k - 1, :-1]
    return (1 + np.cos(angle)) / 2, fit, power


def _product(a: Array, b: Array) -> Array:
    """The product of two power series of matrices, (terms, ., .)."""
    terms = [np.einsum("jab,jbc->ac", a[: k + 1], b[k::-1]) for k in range(len(a))]
    return np.array(terms)
