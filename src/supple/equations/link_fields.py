"""Fields: what a link does along its axis, as numbers, for answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..beams.invariants import foreshortening
from .chain import Chain, ChainLink

__all__ = ["bent_deflection", "root_moments", "slide_deflection"]

Array = NDArray[np.float64]


def slide_deflection(part: ChainLink, p: Array, fraction: float, stiffening: bool) -> Array:
    """Return the elastic displacement (.., 3) of a link that slides, p = [l, eta], link axes.

    With `stiffening`, its shortening -1/2 int (v'^2 + w'^2) too, by the chords of 64 and 128 pieces
    of the axis, extrapolated.
    """
    assert part.slide is not None
    places = np.linspace(0.0, fraction, 129 if stiffening else 1)
    places[-1] = fraction
    l = p[..., :1]
    moved = np.einsum("...pak,...k->...pa", part.slide.fields(l, places), p[..., 1:])[..., :3]
    end = moved[..., -1, :].copy()
    if stiffening and fraction:
        short = []
        for each in (2, 1):
            rise = np.diff(moved[..., ::each, 1:], axis=-2)
            pieces = l * fraction * each / 128
            short.append(-((rise**2).sum(axis=-1) / (2 * pieces)).sum(axis=-1))
        end[..., 0] += (4 * short[1] - short[0]) / 3
    turned: Array = end @ part.R_SL
    return turned


def bent_deflection(part: ChainLink, eta: Array, fraction: float) -> Array:
    """Return the elastic displacement (.., 3) of a link, its shortening included, link axes."""
    assert part.shapes is not None
    x = np.array([fraction * part.inv.length])
    pairs, short = foreshortening(part.shapes, x)
    moved = eta @ part.shapes.at(x)[0, :3].T
    for k, (j, n) in enumerate(pairs):
        moved = moved + (eta[..., j] * eta[..., n])[..., None] * short[0, :, k]
    turned: Array = moved @ part.R_SL
    return turned


def root_moments(chain: Chain, q: Array, link: str) -> Array:
    """Return the bending moments (.., 2) at a link's root for states (.., N), in x-y and x-z."""
    i = chain.index(link)
    rows = [_root_moment(chain.links[i], x[chain.own(i)]) for x in q.reshape(-1, chain.size)]
    return np.array(rows).reshape(*q.shape[:-1], 2)


def _root_moment(part: ChainLink, own: Array) -> Array:
    """EI times the curvature (2,) at a link's root, from its own coordinates."""
    EI = np.array(part.EI)
    stiff = np.where(np.isfinite(EI), EI, 0.0)
    if part.slide is not None:
        bent: Array = stiff * (part.slide.curvature(float(own[0])) @ own[1:])
        return bent
    if part.shapes is None:
        return np.zeros(2)
    slope = part.shapes.at(0.0, derivative=1)[0]
    moment: Array = stiff * np.array([slope[5] @ own, -slope[4] @ own])
    return moment
