"""Templates: robots whose links are copies of parts of the description, as legs of a Delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...architectures.kinds import lower
from ...architectures.tree import Tree
from ...beams.basis import Basis
from ...beams.shapes import EndLoad
from ...errors import SuppleError
from ..chains.chain import Chain

__all__ = ["part_basis", "part_book"]


def _parts(tree: Tree) -> list[int] | None:
    """Which part of the description every link is a copy of, -1 of a link that is a body.

    None where every link is a part of its own.
    """
    origins = [tree.lowered.origins.get(link.name) for link in tree.form.links]
    parts = list(tree.parts())
    if origins == parts:
        return None
    return [-1 if path is None else parts.index(path) for path in origins]


def part_basis(basis: Basis, tree: Tree) -> Basis:
    """Return a basis whose lists have one entry for every link, given one for every part."""
    which = _parts(tree)
    parts = list(tree.parts())
    if which is None:
        return basis
    changes: dict[str, Any] = {}
    for word in ("count", "axial", "torsion", "modes", "ends"):
        given = getattr(basis, word, None)
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != len(parts):
                raise SuppleError(
                    f"{word} has {len(given)} entries: give one for all links of "
                    f"{tree.robot.name}, or {len(parts)}, for its {' and its '.join(parts)} links"
                )
            none = EndLoad() if word == "ends" else 0
            changes[word] = [given[part] if part >= 0 else none for part in which]
    if basis.at is not None:
        raise SuppleError(
            f"at is not for {tree.robot.name}, whose links are copies: leave it out, or give ends"
        )
    return replace(basis, **changes) if changes else basis  # type: ignore[type-var]


def part_book(tree: Tree, chain: Chain) -> Chain:
    """Return the links that are copies of parts, with their places in q; it has no geometry.

    That is how the Model of a template lists its links, bodies left out, where loops determine all
    passive joints; any other robot's is its chain. q = [theta, eps, bearings, foundation, eta].
    """
    which = _parts(tree)
    passive = [k for part in replace(chain, followers=()).passive for k in part]
    if which is None or any(k not in chain.followers for k in passive):
        return chain
    plain: dict[str, Any] = {"leading": (), "order": (0,), "passive": False, "parent": None}
    links = [
        replace(link, **plain, axis=None if link.passive else link.axis)
        for link, part in zip(chain.links, which, strict=True)
        if part >= 0
    ]
    # a pose in closed form needs no start: its motors stand at zero unless they are given
    placed_by_formula = lower(tree.robot) is not tree
    start = () if placed_by_formula and chain.foundation is None else chain.start
    return Chain(
        tuple(links), chain.gravity, chain.planar, start=start, foundation=chain.foundation
    )
