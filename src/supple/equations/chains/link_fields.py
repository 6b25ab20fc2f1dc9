"""Fields: what a link does along its axis, as numbers, for answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...beams.invariants import foreshortening
from .chain import Chain, ChainLink

__all__ = ["link_deflection", "root_moments"]

Array = NDArray[np.float64]


def link_deflection(part: ChainLink, own: Array, fraction: float, stiffening: bool) -> Array:
    """Return the elastic displacement (.., 3) of a link, link axes, from its own coordinates.

    With `stiffening` its shortening -1/2 int (v'^2 + w'^2) is part of it, as of the tip; that of a
    link that slides by the chords of 64 and 128 pieces of its axis, extrapolated.
    """
    if part.shapes is None:
        return np.zeros((*own.shape[:-1], 3))
    if part.slide is not None:
        # A link that slides, section axes, from own = [l, eta]
        places = np.linspace(0.0, fraction, 129) if stiffening else np.array([fraction])
        l = own[..., :1]
        alike = l.size > 0 and (l == l.flat[0]).all()  # as where a mode is looked at in one pose
        fields = part.slide.fields(l.ravel()[:1] if alike else l, places)
        moved = np.einsum("...pak,...k->...pa", fields, own[..., 1:])[..., :3]
        end: Array = moved[..., -1, :].copy()
        if stiffening and fraction:
            coarse_fine = []
            for each in (2, 1):
                rise = np.diff(moved[..., ::each, 1:], axis=-2)
                pieces = l * fraction * each / 128
                coarse_fine.append(-((rise**2).sum(axis=-1) / (2 * pieces)).sum(axis=-1))
            end[..., 0] += (4 * coarse_fine[1] - coarse_fine[0]) / 3
        moved = end
    else:
        x = np.array([fraction * part.inv.length])
        moved = own @ part.shapes.at(x)[0, :3].T
        pairs, short = foreshortening(part.shapes, x) if stiffening else ((), None)
        for k, (j, n) in enumerate(pairs):
            assert short is not None
            moved = moved + (own[..., j] * own[..., n])[..., None] * short[0, :, k]
    turned: Array = moved @ part.R_SL
    return turned


def root_moments(chain: Chain, q: Array, link: str) -> Array:
    """Return the bending moments (.., 2) at a link's root for states (.., N), in x-y and x-z."""
    i = chain.index(link)
    # EI times the curvature (2,) at a link's root, from its own coordinates
    part, rows = chain.links[i], []
    stiff = np.where(np.isfinite(part.EI), part.EI, 0.0)
    for x in q.reshape(-1, chain.size):
        own = x[chain.own(i)]
        if part.slide is not None:
            beam = part.slide.beam
            there = beam.at([beam.L - float(own[0])])[0, 2:4]  # at the hub
            stiff = np.where(np.isfinite(there), there, 0.0)
            *_, about_y, about_z = part.slide.curvature(float(own[0]))
            moment: Array = stiff * (np.array([about_z, np.negative(about_y)]) @ own[1:])
        elif part.shapes is None:
            moment = np.zeros(2)
        else:
            slope = part.shapes.at(0.0, derivative=1)[0]
            moment = stiff * np.array([slope[5] @ own, -slope[4] @ own])
        rows.append(moment)
    return np.array(rows).reshape(*q.shape[:-1], 2)
