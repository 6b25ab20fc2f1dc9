"""Certified natural frequencies of structures with varying beams, by the count J = s(K)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...structure import Structure
from .frequency_system import FrequencySystem, system_of

__all__ = ["varying_frequencies"]

Array = NDArray[np.float64]
HALF = 5e-12  # half the relative width of a certified bracket
POINTS = 8  # looked at inside each open bracket, a round


def varying_frequencies(structure: Structure, count: int) -> tuple[Array, Array]:
    """Return omega and relative bracket widths, (B, count) each, NaN where none can be counted."""
    omega, width = np.full((2, structure.size, count), np.nan)
    for b in range(structure.size):
        one = structure.at(b)
        omega[b], width[b] = _roots(one, count, int(structure.rigid_modes[b]))
    return omega, width


def _below(system: FrequencySystem, s: Array, w: Array) -> tuple[NDArray[np.int64], Array, Array]:
    """J, sign and logarithm of the determinant at frequencies w (F,)."""
    K = system.stiffness((w**2).astype(complex)).real * s[:, None] * s
    values = np.linalg.eigvalsh(K)
    J = (values < 0).sum(axis=1)
    return J, np.where(J % 2, -1.0, 1.0), np.log(np.abs(values) + 1e-300).sum(axis=1)


def _roots(one: Structure, count: int, skip: int) -> tuple[Array, Array]:
    """Bracket every root by J, then refine it by the determinant, then certify it by J."""
    top = 1.0
    for _ in range(60):
        system = system_of(one, top)
        s = system.scale()
        if int(_below(system, s, np.array([top]))[0][0]) >= skip + count:
            break
        top *= 4.0
    else:
        raise SuppleError("no natural frequencies were found up to 1e36 rad/s: look at the units")
    k = skip + np.arange(count)
    low, high = np.full(count, top * 1e-12), np.full(count, top)
    j_low, j_high = np.full(count, skip), np.full(count, skip + count)
    for _ in range(60):
        open_ = ((j_low != k) | (j_high != k + 1)) & (high - low > HALF * high)
        if not open_.any():
            break
        ends = np.unique(np.stack([low[open_], high[open_]], axis=1), axis=0)
        inside = np.linspace(0, 1, POINTS + 2)[1:-1]
        w = np.unique(np.concatenate([a + (b - a) * inside for a, b in ends]))
        J = _below(system, s, w)[0]
        for r in range(count):
            under, over = w[k[r] >= J], w[k[r] < J]
            if len(under) and under.max() > low[r]:
                low[r], j_low[r] = under.max(), J[np.argmax(np.where(k[r] >= J, w, -1.0))]
            if len(over) and over.min() < high[r]:
                high[r], j_high[r] = over.min(), J[np.argmin(np.where(k[r] < J, w, np.inf))]
    root = _refined(system, s, low, high, (j_low == k) & (j_high == k + 1))
    return root, _certified(system, s, root, k, high - low)


def _refined(
    system: FrequencySystem, s: Array, low: Array, high: Array, single: NDArray[np.bool_]
) -> Array:
    """Illinois on the determinant inside brackets of one root each; the middle of the others."""
    root = (low + high) / 2
    at = np.flatnonzero(single)
    if not len(at):
        return np.asarray(root)
    a, b = low[at], high[at]
    _, sign, reference = _below(system, s, a)
    fa = sign.copy()
    _, sign, size = _below(system, s, b)
    fb = sign * np.exp(np.minimum(size - reference, 600.0))
    for _ in range(60):
        x = b - fb * (b - a) / (fb - fa)
        _, sign, size = _below(system, s, x)
        fx = sign * np.exp(np.minimum(size - reference, 600.0))
        crossed = fx * fb < 0
        a, fa = np.where(crossed, b, a), np.where(crossed, fb, fa / 2)
        done = np.abs(x - b) <= 1e-14 * x
        b, fb = x, fx
        if done.all():
            break
    root[at] = b
    return np.asarray(root)


def _certified(
    system: FrequencySystem, s: Array, root: Array, k: NDArray[np.int64], open_: Array
) -> Array:
    """Relative widths of brackets around the roots with J <= k before and J > k behind."""
    width = np.full(len(root), np.inf)
    for half in (HALF, 1e-10, 4e-10):
        before = _below(system, s, root * (1 - half))[0]
        behind = _below(system, s, np.minimum(root * (1 + half), system.top))[0]
        good = (before <= k) & (behind > k) & ~np.isfinite(width)
        width[good] = 2 * half
    return width
