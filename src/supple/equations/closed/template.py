"""A Delta as the mechanism that it is: its arms and rods, and their basis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...beams.basis import Basis
from ...beams.shapes import EndLoad
from ...errors import SuppleError
from ...robot import MechanismRobot
from ..chains.chain import Chain

__all__ = ["delta_basis", "delta_book"]


def _parts(written: MechanismRobot) -> list[int]:
    """0 of an arm, 1 of a rod, -1 of any other link."""
    return [{"upper": 0, "lower": 1}.get(link.name[:5], -1) for link in written.links]


def delta_basis(basis: Basis, written: MechanismRobot) -> Basis:
    """Return the basis with its lists for (upper, lower) over all links of the mechanism."""
    changes: dict[str, Any] = {}
    for word in ("count", "axial", "torsion", "modes", "ends"):
        given = getattr(basis, word, None)
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != 2:
                raise SuppleError(
                    f"{word} has {len(given)} entries: give one for all links of a Delta, or two, "
                    "for its upper arms and its rods"
                )
            none = EndLoad() if word == "ends" else 0
            changes[word] = [given[part] if part >= 0 else none for part in _parts(written)]
    if basis.at is not None:
        raise SuppleError("at is not for a Delta: leave it out, or give ends")
    return replace(basis, **changes) if changes else basis  # type: ignore[type-var]


def delta_book(written: MechanismRobot, tree: Chain, start: tuple[float, ...]) -> Chain:
    """Return the arms and rods of all legs with their places in q; it has no geometry.

    q = [theta, eps, bearings, foundation, eta of upper1, lower1, upper2, ..].
    """
    plain: dict[str, Any] = {"leading": (), "order": (0,), "passive": False, "parent": None}
    links = [
        replace(link, **plain, axis=None if part else link.axis)
        for link, part in zip(tree.links, _parts(written), strict=True)
        if part >= 0
    ]
    return Chain(tuple(links), tree.gravity, False, start=start, foundation=tree.foundation)
