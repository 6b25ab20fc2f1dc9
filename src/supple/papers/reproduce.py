"""What do the papers say: published tables recomputed, ours beside theirs, a verdict a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..arguments import shown
from ..errors import SuppleError
from . import di_castri
from .cells import Cell, Claim, Reproduction

__all__ = ["Cell", "Claim", "Reproduction", "papers", "reproduce"]


def _de_luca() -> Reproduction:
    """[DeLuca1991]; imported when asked for, since it brings all of dynamics with it."""
    from . import de_luca

    return de_luca.reproduction()


def _theodore() -> Reproduction:
    """[Theodore1997]; imported when asked for."""
    from . import theodore

    return theodore.reproduction()


def _kuo() -> Reproduction:
    """[Kuo2016]; imported when asked for."""
    from . import kuo

    return kuo.reproduction()


PAPERS: Mapping[str, Callable[[], Reproduction]] = {
    "di-castri": di_castri.reproduction,
    "de-luca": _de_luca,
    "theodore": _theodore,
    "kuo": _kuo,
}


def papers() -> tuple[str, ...]:
    """Return the names of the papers that can be recomputed."""
    return tuple(PAPERS)


def reproduce(paper: str) -> Reproduction:
    """Return a paper recomputed, cell by cell; `.ok` if every verdict is as our errata foresee."""
    if not isinstance(paper, str) or paper not in PAPERS:
        raise SuppleError(
            f"{shown(paper)} is not a paper known here: give one of {', '.join(PAPERS)}"
        )
    return PAPERS[paper]()
