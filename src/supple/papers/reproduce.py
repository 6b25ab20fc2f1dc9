"""What do the papers say: published tables recomputed, ours beside theirs, a verdict a cell."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module

from ..arguments import brief
from ..errors import SuppleError
from .cells import Cell, Claim, Reproduction

__all__ = ["Cell", "Claim", "Reproduction", "papers", "reproduce", "whole_runs"]


def _recompute(module: str) -> Reproduction:
    """A paper recomputed; imported when asked for, since it brings all of dynamics with it."""
    found: Reproduction = import_module(f".{module}", __package__).reproduction()
    return found


PAPERS: Mapping[str, Callable[[], Reproduction]] = {
    module.replace("_", "-"): partial(_recompute, module)
    for module in ("di_castri", "de_luca", "theodore", "kuo")
}


def papers() -> tuple[str, ...]:
    """Return the names of the papers that can be recomputed."""
    return tuple(PAPERS)


def reproduce(paper: str) -> Reproduction:
    """Recompute the tables and claims of a paper, cell by cell.

    Parameters
    ----------
    paper : str
        Short name as listed by `supple reproduce`, such as ``"de-luca"``.

    Returns
    -------
    Reproduction
        `ok` is True if every verdict agrees with the errata that we know of.
    """
    if not isinstance(paper, str) or paper not in PAPERS:
        raise SuppleError(
            f"{brief(paper)} is not a paper known here: give one of {', '.join(PAPERS)}"
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
