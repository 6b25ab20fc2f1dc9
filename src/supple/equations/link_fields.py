"""Fields: what a link does along its axis, as numbers, for answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .chain import Chain, ChainLink

__all__ = ["link_deflection", "on_chord", "root_moments"]

Array = NDArray[np.float64]


def link_deflection(part: ChainLink, own: Array, fraction: float) -> Array:
    """Return the elastic displacement (.., 3) of a link, link axes, from its own coordinates."""
    if part.shapes is None:
        return np.zeros((*own.shape[:-1], 3))
    if part.slide is not None:
        fields = part.slide.fields(own[..., 0], fraction)
        moved = np.einsum("...ak,...k->...a", fields, own[..., 1:])
        turned: Array = moved[..., :3] @ part.R_SL
        return turned
    field = part.R_SL.T @ part.shapes.at(fraction * part.inv.length)[0, :3]
    displacement: Array = own @ field.T
    return displacement


def on_chord(here: Array, end: Array, fraction: float, length: Array | float) -> Array:
    """Return a displacement (.., 3) relative to the chord, given those here and at the end.

    u - f u_end, in axes whose x is the chord: R' with R e_x along L e_x + u_end, turned the short
    way.
    """
    chord = end + np.asarray(length, float)[..., None] * np.array([1.0, 0.0, 0.0])
    c = chord / np.linalg.norm(chord, axis=-1, keepdims=True)
    w = np.cross(np.array([1.0, 0.0, 0.0]), c)
    off = here - fraction * end
    back: Array = off - np.cross(w, off) + np.cross(w, np.cross(w, off)) / (1 + c[..., :1])
    return back


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
