"""Fields: what a link does along its axis, as numbers, for answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chain import Chain, ChainLink

__all__ = ["root_moments", "slide_deflection"]

Array = NDArray[np.float64]


def slide_deflection(part: ChainLink, p: Array, fraction: float) -> Array:
    """Return the elastic displacement (.., 3) of a link that slides, p = [l, eta], link axes."""
    assert part.slide is not None
    moved = np.einsum("...ak,...k->...a", part.slide.fields(p[..., 0], fraction), p[..., 1:])
    turned: Array = moved[..., :3] @ part.R_SL
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
