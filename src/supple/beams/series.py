"""A varying beam as power series in omega^2: its states along x and its dynamic stiffness.

Along x the state (v, psi, Q, M) of one bending plane obeys, with c = 1/EI, s = 1/kGA,
    v' = psi + s Q,   psi' = c M,   Q' = -omega^2 m v,   M' = -Q - omega^2 r psi,
and stretch and twist (u, N) u' = N/EA, N' = -omega^2 m u. With y = sum omega^(2k) y_k every term
follows from the one before by integrals along x alone, taken on Gauss points of panels on which
the properties are resolved to rounding. The states converge for every omega, like
(wave number L)^(4k) / (4k)!; the stiffness does up to the first clamped frequency of the beam.
So a link is cut into pieces that are proven to have no clamped frequency up to twice the highest
omega asked for: their count is zero, and what is left out of a series falls like 4^-k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

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
STATE_TERMS = 14  # of the states: a piece is at most 1.1 half waves long, 3.4^56 / 56! is nothing
CLAMPED_FREQUENCY_MARGIN = (
    2.0  # no clamped frequency of a piece lies below this times the highest omega asked for
)
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
        a, b = self.edges[:-1, None], self.edges[1:, None]
        return np.asarray((a + b) / 2 + (b - a) / 2 * panel_nodes()[0])

    def integral(self, f: Array) -> tuple[Array, Array]:
        """Return int_0^x f at every point, (p, n, ..), and over the whole, (..)."""
        half = np.diff(self.edges) / 2
        scaled = half.reshape(-1, *[1] * (f.ndim - 1)) * f
        inner = np.moveaxis(np.tensordot(_integrator(), scaled, (1, 1)), 0, 1)
        whole = np.tensordot(panel_nodes()[1], scaled, (0, 1))
        before = np.cumsum(whole, axis=0)
        inner[1:] += before[:-1, None]
        return inner, before[-1]


class StiffnessSeries:
    """The power series of one varying beam, by motion: stretch, bending x-y, x-z, twist."""

    def __init__(self, beam: VaryingBeam) -> None:
        edges = beam.edges()
        t = panel_nodes()[0]
        rows = [beam.on_panel((a + b) / 2 + (b - a) / 2 * t) for a, b in pairwise(edges)]
        self.beam, self.panels = beam, Panels(edges, np.array(rows))
        self.soft = [bool(np.isfinite(rows[0][0, k[0]])) for _, _, k, _ in MOTIONS]
        # Unit of omega^2, a power of four, so that no power of it leaves the range: about the
        # first clamped frequency, terms are then at most of the size of the first ones
        slow = self.slowest()
        pairs = ((slow.EA, slow.m), (slow.GJ, slow.rIp))
        first = [(math.pi / slow.L) ** 2 * stiff / heavy for stiff, heavy in pairs if heavy]
        first += [(math.pi / slow.L) ** 4 * stiff / slow.m for stiff in slow.EI if slow.m]
        known = [value for value in first if 0 < value < math.inf]
        self.unit = 4.0 ** round(math.log(min(known), 4)) if known else 1.0
        self._states: dict[int, tuple[list[Array], list[Array]]] = {}
        self._forms: dict[tuple[int, int], Array] = {}
        self._curves: dict[float, Array] = {}

    def states(self, plane: int, terms: int) -> tuple[list[Array], list[Array]]:
        """Return y_k at the points, (p, n, s, s), and at the end, (s, s), k < terms, s 2 or 4.

        Of powers of omega^2 / unit.
        """
        along, ends = self._states.setdefault(plane, ([], []))
        while len(along) < terms:
            # The next term; the first is the beam without inertia, started by unit states
            before = along[-1] if along else None
            rows, integral = self.panels.rows, self.panels.integral
            soft, heavy = [(*columns, 0)[:2] for columns in MOTIONS[plane][2:]]
            c = 1 / rows[..., soft[0], None]
            size = len(MOTIONS[plane][0])
            half = size // 2
            here, end = np.zeros((*rows.shape[:2], size, size)), np.zeros((size, size))
            first = np.eye(size) if before is None else np.zeros((size, size))
            load = (
                -self.unit * rows[..., heavy[0], None] * (0 if before is None else before[:, :, 0])
            )
            force, far = integral(load + np.zeros(size))
            here[:, :, half], end[half] = force + first[half], far + first[half]
            if size == 4:
                turn = (
                    -self.unit
                    * rows[..., heavy[1], None]
                    * (0 if before is None else before[:, :, 1])
                )
                moment, far = integral(turn - here[:, :, 2])
                here[:, :, 3], end[3] = moment + first[3], far + first[3]
                slope, far = integral(c * here[:, :, 3])
                here[:, :, 1], end[1] = slope + first[1], far + first[1]
                moved, far = integral(here[:, :, 1] + here[:, :, 2] / rows[..., soft[1], None])
            else:
                moved, far = integral(c * here[:, :, half])
            here[:, :, 0], end[0] = moved + first[0], far + first[0]
            along.append(here)
            ends.append(end)
        return along[:terms], ends[:terms]

    def form(self, plane: int, terms: int) -> Array:
        """Return the dynamic stiffness, (terms, s, s) over (root, d), of (omega^2 / unit)^k.

        With the states [[A, B], [C, D]] at the end and X the rigid transport, the forces at the
        root are f_0 = B^-1 (d - (A - X) u_0), hence (root, root) X'C - (X'D - 1) B^-1 (A - X),
        (root, d) (X'D - 1) B^-1 and (d, d) D B^-1. A - X and X'D - 1 have no constant term, so that
        nothing cancels. A motion that cannot deform has its rigid inertia, and no d.
        """
        key = (plane, terms)
        if key not in self._forms:
            size = len(MOTIONS[plane][0])
            half, L = size // 2, self.beam.L
            out = np.zeros((terms, size, size))
            E = np.zeros((terms, size, size))
            known = min(terms, STATE_TERMS if self.soft[plane] else 2)
            E[:known] = self.states(plane, known)[1]
            A, B, C, D = (
                E[:, :half, :half],
                E[:, :half, half:],
                E[:, half:, :half],
                E[:, half:, half:],
            )
            X = np.eye(half)
            X[0, 1:] = L
            if not self.soft[plane]:
                if terms > 1:
                    out[1, :half, :half] = X.T @ C[1]
                self._forms[key] = out
            else:
                inverse = np.zeros_like(B)
                inverse[0] = np.linalg.inv(B[0])
                for k in range(1, terms):
                    inverse[k] = -inverse[0] @ np.einsum(
                        "jab,jbc->ac", B[1 : k + 1], inverse[k - 1 :: -1]
                    )
                rise, lift = A.copy(), X.T @ D
                rise[0], lift[0] = 0.0, 0.0
                across = _product(lift, inverse)
                out[:, :half, :half] = X.T @ C - _product(across, rise)
                out[:, :half, half:] = across
                out[:, half:, :half] = across.swapaxes(1, 2)
                out[:, half:, half:] = _product(D, inverse)
                self._forms[key] = (out + out.swapaxes(1, 2)) / 2
        return self._forms[key]

    def stiffness(self, w2: float, terms: int = STIFFNESS_TERMS) -> Array:
        """Return the dynamic stiffness (6 + m, 6 + m) over (u_0, allowed d) at one omega^2."""
        whole = np.zeros((12, 12))
        for plane, (rows, signs, _, _) in enumerate(MOTIONS):
            form, half = self.form(plane, terms), len(rows) // 2
            powers = (w2 / self.unit) ** np.arange(float(terms))
            both = np.array([*signs[:half], *signs[:half]])
            places = [*rows[:half], *(r + 6 for r in rows[:half])]
            whole[np.ix_(places, places)] = np.tensordot(powers, form, 1) * both[:, None] * both
        keep = np.concatenate([np.ones(6, bool), self.beam.active()])
        kept: Array = whole[np.ix_(keep, keep)]
        return kept

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
        # Power series (TERMS, n) on 0 .. 1 in as few terms as rounding asks for
        power = np.concatenate(columns, axis=1)
        t, fit, back = _shifted_chebyshev()
        chebyshev = fit @ (t[:, None] ** np.arange(STIFFNESS_TERMS - 2) @ power[2:])
        size = np.maximum(np.abs(power[0]), np.abs(power[1])) + 1e-300
        # they fall evenly: the first that is nothing is the last that is not only rounding
        nothing = np.flatnonzero((np.abs(chebyshev) <= 2e-16 * size).all(axis=1))
        keep = max(int(nothing[0]), 1) if len(nothing) else len(chebyshev)
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
            terms = np.array(ends) if x is None else np.array([self._at(y, [x])[0] for y in along])
            sign = np.outer(signs, signs)
            block = np.einsum("fk,kab->fab", powers, terms * sign)
            T[np.ix_(range(len(w2)), rows, rows)] = block
        return T

    def carry(self, omega: float, x: Array, state: Array, pull: Array | None = None) -> Array:
        """Return the states at x, (P, 12), from the state (12,) at the root.

        pull: an acceleration (3,) of the weight m(x) pull, beside it: what the term of omega^2
        does to a root that moves by pull.
        """
        out = np.zeros((len(x), 12))
        for plane, (rows, signs, _, _) in enumerate(MOTIONS):
            terms = STATE_TERMS if omega else 1
            along, _ = self.states(plane, terms + (pull is not None and not omega))
            start = state[list(rows)] * signs
            each = omega**2 / self.unit
            moved = sum(each**k * along[k] @ start for k in range(terms))
            if pull is not None and plane < 3:
                moved = moved + along[1][..., 0] * (pull[plane] / self.unit)
            out[:, list(rows)] = self._at(np.asarray(moved), x) * signs
        return out

    def _at(self, values: Array, x: ArrayLike) -> Array:
        """Values (p, n, ..) at the points, interpolated at x (P,)."""
        x, edges = np.asarray(x, float), self.panels.edges
        panel = np.clip(np.searchsorted(edges, x, "right") - 1, 0, len(edges) - 2)
        a, b = edges[panel], edges[panel + 1]
        basis = legendre.legvander((2 * x - a - b) / (b - a), GAUSS_POINTS - 1) @ panel_nodes()[2]
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
        low, high = (mean - spread).min(axis=0), (mean + spread).max(axis=0)
        low = np.maximum(low, 1e-300)
        _, EA, xy, xz, k_xy, k_xz, GJ, *_ = low.tolist()
        m, r_xy, r_xz, r_p = high[[0, 7, 8, 9]].tolist()
        return Beam(self.beam.L, m, EA, (xy, xz), (k_xy, k_xz), GJ, (r_xy, r_xz), r_p)


@lru_cache(maxsize=512)
def series_of(beam: VaryingBeam) -> StiffnessSeries:
    """Return the series of a beam, kept for those asked before."""
    return StiffnessSeries(beam)


@lru_cache(maxsize=512)
def cut_places(beam: VaryingBeam, omega: float) -> tuple[float, ...]:
    """Return where to cut a beam so that no piece has a clamped frequency up to AHEAD omega.

    Each span between stations is cut evenly, into as few pieces as will do.
    """
    cuts = [0.0]
    for a, b in zip((0.0, *beam.breaks), (*beam.breaks, beam.L), strict=True):
        n, short = 1, False
        while not short:
            at = np.linspace(a, b, n + 1).tolist()
            for p, q in pairwise(at):  # until one may have a clamped frequency
                slow = series_of(beam.part(p, q)).slowest()
                short = (
                    beam_stiffness(
                        np.array(slow.at([0.0])[0]), slow.L, CLAMPED_FREQUENCY_MARGIN * omega
                    )[1]
                    == 0
                )
                if not short:
                    break
            if short:
                cuts += at[1:]
                break
            n += 1 + n // 4
            if n + len(cuts) > MAX_PIECES:
                raise SuppleError(
                    f"a link with stations needs more than {MAX_PIECES} pieces up to {omega:.4g} "
                    "rad/s: ask for fewer frequencies"
                )
    return tuple(cuts)


@lru_cache(maxsize=1)
def _shifted_chebyshev() -> tuple[Array, Array, Array]:
    """Points t (n,) of 0 .. 1, values there to T_k(2 t - 1) (n, n), these to powers of t (n, n)."""
    n = STIFFNESS_TERMS - 2
    angle = np.pi * (np.arange(n) + 0.5) / n
    fit = 2 / n * np.cos(np.outer(np.arange(n), angle))
    fit[0] /= 2
    power = np.zeros((n, n))
    power[0, 0], power[1, :2] = 1.0, (-1.0, 2.0)
    for k in range(2, n):  # T_(k+1) = 2 (2 t - 1) T_k - T_(k-1)
        power[k] = -2 * power[k - 1] - power[k - 2]
        power[k, 1:] += 4 * power[k - 1, :-1]
    return (1 + np.cos(angle)) / 2, fit, power


def _product(a: Array, b: Array) -> Array:
    """The product of two power series of matrices, (terms, ., .)."""
    return np.array([np.einsum("jab,jbc->ac", a[: k + 1], b[k::-1]) for k in range(len(a))])
