"""What do the papers say: published tables recomputed, ours beside theirs, a verdict a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..errors import SuppleError
from .papers import de_luca, di_castri
from .papers.cells import Cell, Claim, Reproduction

__all__ = ["Cell", "Claim", "Reproduction", "papers", "reproduce"]

PAPERS: Mapping[str, Callable[[], Reproduction]] = {
    "di-castri": di_castri.reproduction,
    "de-luca": de_luca.reproduction,
}


def papers() -> tuple[str, ...]:
    """Return the names of the papers that can be recomputed."""
    return tuple(PAPERS)


def reproduce(paper: str) -> Reproduction:
    """Return a paper recomputed, cell by cell; `.ok` if every verdict is as our errata foresee."""
    if paper not in PAPERS:
        raise SuppleError(f"'{paper}' is not a paper known here: give one of {', '.join(PAPERS)}")
    return PAPERS[paper]()
