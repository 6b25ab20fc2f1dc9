"""What do the papers say: published tables recomputed, ours beside theirs, a verdict a cell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ..arguments import shown
from ..errors import SuppleError
from . import di_castri
from .cells import Cell, Claim, Reproduction

__all__ = ["Cell", "Claim", "Reproduction", "papers", "reproduce", "whole_runs"]


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
    with whole_runs():
        return PAPERS[paper]()


@contextmanager
def whole_runs() -> Iterator[None]:
    """Let Ctrl-C end all that is computed inside.

    A motion that is stopped keeps what it has and warns; no verdict may rest on such a part.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="stopped by the user")
        try:
            yield
        except UserWarning as told:
            raise KeyboardInterrupt(str(told)) from None
