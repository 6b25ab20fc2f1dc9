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
    out = []
    for segment, L in zip(structure.segments, structure.L[0], strict=True):
        whole = (varying and not isinstance(segment.beam, VaryingBeam)) or L == 0
        at = np.array([0.0, 1.0]) if whole else cuts(segment.beam.outside(float(L)), omega) / L
        out.append(at)
    return out


def cut_structure(
    structure: Structure, fractions: Sequence[Array]
) -> tuple[Structure, list[list[int]]]:
    """Return the structure with link i cut at fractions[i], and the pieces of each link."""
    segments: list[Segment] = []
    owners: list[list[int]] = []
    L, mass = [], []
    starts: list[tuple[int, float]] = []  # the link of each piece, and where on it that begins
    none = np.zeros_like(structure.root_mass[:, 0])
    for i, (segment, at) in enumerate(zip(structure.segments, fractions, strict=True)):
        length, first, count = structure.L[:, i], len(segments), len(at) - 1
        owners.append(list(range(first, first + count)))
        parent = owners[segment.parent][-1] if segment.parent >= 0 else -1
        if isinstance(segment.beam, VaryingBeam) and (length != length[0]).any():
            raise SuppleError(
                f"{segment.name} has stations and slides: ask for one length of it at a time"
            )
        for k, (a, b) in enumerate(pairwise(at)):
            beam = segment.beam  # of a uniform link the whole one's numbers
            if isinstance(beam, VaryingBeam):  # even in one piece: what slid in is not there
                beam = beam.outside(float(length[0])).part(a * length[0], b * length[0])
            segments.append(
                replace(
                    segment,
                    parent=parent if k == 0 else first + k - 1,
                    beam=beam,
                    releases=segment.releases if k == 0 else (),
                    tip_mass=segment.tip_mass if k == count - 1 else np.zeros((6, 6)),
                )
            )
            starts.append((i, float(a)))
            L.append(length * (b - a))
            mass.append(structure.root_mass[:, i] if k == 0 else none)
    ends, roots_of = ({-1: -1} | {i: own[k] for i, own in enumerate(owners)} for k in (-1, 0))
    closures = tuple(c.renumber(ends, roots_of) for c in structure.closures)
    link, begin = [i for i, _ in starts], np.array([a for _, a in starts])
    hinges = structure.hinges
    if hinges is not None:
        hinges = hinges[:, link]
        hinges[:, begin > 0] = np.eye(hinges.shape[-1])  # goes on where the one before ends

    def places() -> Array:
        along = (structure.L[:, link] * begin)[..., None]
        roots: Array = structure.p[:, link] + structure.R[:, link][..., 0] * along
        return roots

    poses: dict[str, Any] = {"R": lambda: structure.R[:, link], "p": places}  # made when read
    fine = replace(
        structure,
        segments=tuple(segments),
        hinges=hinges,
        **poses,
        L=np.stack(L, axis=1),
        root_mass=np.stack(mass, axis=1),
        closures=closures,
        rods=tuple((name, c.renumber(ends, roots_of)) for name, c in structure.rods),
        tip=owners[structure.tip][-1],
    )
    return fine, owners
