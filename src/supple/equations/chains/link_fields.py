"""Fields: what a link does along its axis, as numbers, for answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...beams.invariants import foreshortening
from ...beams.sliding.shapes import SlidingShapes
from .chain import Chain, ChainLink

__all__ = ["link_deflection", "root_moments", "section_motions"]

Array = NDArray[np.float64]


def link_deflection(part: ChainLink, own: Array, fraction: float, stiffening: bool) -> Array:
    """Return the elastic displacement (.., 3) of a link, link axes, from its own coordinates.

    With `stiffening` its shortening -1/2 int (v'^2 + w'^2) is part of it, as of the tip.
    """
    moved = section_motions(part, own, np.array([fraction]), stiffening)
    turned: Array = moved[..., 0, :3] @ part.R_SL
    return turned


def section_motions(part: ChainLink, own: Array, fractions: Array, stiffening: bool) -> Array:
    """Return displacements and rotations (.., P, 6) of sections of a link, section axes.

    Parameters
    ----------
    part : ChainLink
        The link.
    own : ndarray
        Its own coordinates (.., k): elastic amplitudes, of a slider its free length first.
    fractions : ndarray
        Places of the sections (P,), from 0 at the root to 1 at the end of the (free) length.
    stiffening : bool
        Whether its shortening is part of the displacements.
    """
    if part.shapes is None:
        return np.zeros((*own.shape[:-1], len(fractions), 6))
    if part.slide is not None:
        return _sliding_section_motions(part.slide, own, fractions, stiffening)

    places = fractions * part.inv.length
    moved: Array = np.einsum("pak,...k->...pa", part.shapes.at(places), own)
    if stiffening:
        pairs, short = foreshortening(part.shapes, places)
        for k, (j, n) in enumerate(pairs):
            product = own[..., j] * own[..., n]
            moved[..., :3] += product[..., None, None] * short[:, :, k]
    return moved


def _sliding_section_motions(
    slide: SlidingShapes, own: Array, fractions: Array, stiffening: bool
) -> Array:
    """Sections of a link that slides, own = [l, eta]."""
    l = own[..., :1]
    eta = own[..., 1:]
    one_length = l.size > 0 and (l == l.flat[0]).all()  # as where modes are drawn in one pose
    lengths = l.ravel()[:1] if one_length else l

    def motions(places: Array) -> Array:
        fields = slide.fields(lengths, places)
        moved: Array = np.einsum("...pak,...k->...pa", fields, eta)
        return moved

    moved: Array = motions(fractions)
    if not stiffening:
        return moved
    for k, fraction in enumerate(fractions):
        if not fraction:
            continue
        # Its shortening by the chords of 64 and of 128 pieces of its axis, extrapolated
        sideways = motions(np.linspace(0.0, fraction, 129))[..., 1:3]
        estimates = []
        for every in (2, 1):
            rise = np.diff(sideways[..., ::every, :], axis=-2)
            piece = l * fraction * every / 128  # m
            estimates.append(-((rise**2).sum(axis=-1) / (2 * piece)).sum(axis=-1))
        coarse, fine = estimates
        moved[..., k, 0] += (4 * fine - coarse) / 3
    return moved


def root_moments(chain: Chain, q: Array, link: str) -> Array:
    """Return the bending moments (.., 2) at a link's root for states (.., N), in x-y and x-z."""
    i = chain.index(link)
    # EI times the curvature (2,) at a link's root, from its own coordinates
    part = chain.links[i]
    rows = []
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
