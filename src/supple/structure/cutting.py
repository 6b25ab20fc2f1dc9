"""Links cut into pieces, each a Segment of its own, as fields and counts need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..beams.dynamic_stiffness import cuts
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from .parts import Segment, Structure

__all__ = ["cut_structure", "short_pieces"]

Array = NDArray[np.float64]


def short_pieces(structure: Structure, omega: float, varying: bool = False) -> list[Array]:
    """Return, as fractions 0 .. 1 of each link, pieces without a clamped frequency up to omega.

    varying: cut only beams that are not uniform. Lengths are those of the first configuration.
    """
    fractions = []
    for segment, L in zip(structure.segments, structure.L[0], strict=True):
        stays_whole = (varying and not isinstance(segment.beam, VaryingBeam)) or L == 0
        if stays_whole:
            fractions.append(np.array([0.0, 1.0]))
        else:
            fractions.append(cuts(segment.beam.outside(float(L)), omega) / L)
    return fractions


def cut_structure(
    structure: Structure, fractions: Sequence[Array]
) -> tuple[Structure, list[list[int]]]:
    """Return the structure with link i cut at fractions[i], and the pieces of each link."""
    segments: list[Segment] = []
    pieces_of: list[list[int]] = []
    lengths: list[Array] = []
    root_masses: list[Array] = []
    link_of_piece: list[int] = []
    start_of_piece: list[float] = []  # as a fraction of its link
    no_mass = np.zeros_like(structure.root_mass[:, 0])
    for i, (segment, cut_places) in enumerate(zip(structure.segments, fractions, strict=True)):
        length = structure.L[:, i]
        first = len(segments)
        count = len(cut_places) - 1
        pieces_of.append(list(range(first, first + count)))
        parent = pieces_of[segment.parent][-1] if segment.parent >= 0 else -1
        if isinstance(segment.beam, VaryingBeam) and (length != length[0]).any():
            raise SuppleError(
                f"{segment.name} has stations and slides: ask for one length of it at a time"
            )
        for k, (start, stop) in enumerate(pairwise(cut_places)):
            beam = segment.beam  # a uniform beam has the same properties at any length
            if isinstance(beam, VaryingBeam):  # cut even where there is one piece: it may slide
                outside = beam.outside(float(length[0]))
                beam = outside.part(start * length[0], stop * length[0])
            is_first = k == 0
            is_last = k == count - 1
            piece = replace(
                segment,
                parent=parent if is_first else first + k - 1,
                beam=beam,
                releases=segment.releases if is_first else (),
                tip_mass=segment.tip_mass if is_last else np.zeros((6, 6)),
            )
            segments.append(piece)
            link_of_piece.append(i)
            start_of_piece.append(float(start))
            lengths.append(length * (stop - start))
            root_masses.append(structure.root_mass[:, i] if is_first else no_mass)

    # Closures hold the last piece of a link, releases belong to its first
    last_pieces = {-1: -1}
    first_pieces = {-1: -1}
    for i, pieces in enumerate(pieces_of):
        last_pieces[i] = pieces[-1]
        first_pieces[i] = pieces[0]

    begin = np.array(start_of_piece)
    hinges = structure.hinges
    if hinges is not None:
        hinges = hinges[:, link_of_piece]
        hinges[:, begin > 0] = np.eye(hinges.shape[-1])  # goes on where the one before ends

    def places() -> Array:
        along = (structure.L[:, link_of_piece] * begin)[..., None]
        directions = structure.R[:, link_of_piece][..., 0]
        roots: Array = structure.p[:, link_of_piece] + directions * along
        return roots

    # axes and places are computed when first read
    poses: dict[str, Any] = {"R": lambda: structure.R[:, link_of_piece], "p": places}
    fine = replace(
        structure,
        segments=tuple(segments),
        hinges=hinges,
        **poses,
        L=np.stack(lengths, axis=1),
        root_mass=np.stack(root_masses, axis=1),
        closures=tuple(c.renumber(last_pieces, first_pieces) for c in structure.closures),
        rods=tuple((name, c.renumber(last_pieces, first_pieces)) for name, c in structure.rods),
        tip=pieces_of[structure.tip][-1],
    )
    return fine, pieces_of
