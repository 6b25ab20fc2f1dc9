"""One thread of linear algebra while matrices are small: there more threads only wait for another.

BLAS starts as many threads as there are cores for a product of 20 x 20 too. Some libraries
count threads for the process, some for each thread that calls: every caller sets one on entering
and, on leaving, the number that held before anybody was inside.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["one_thread", "single"]

P = ParamSpec("P")
T = TypeVar("T")


class _Inside:
    """How many callers are inside, and what the threads were before the first of them."""

    count = 0
    before: Any = None
    known: tuple[Any, frozenset[str]] | None = None


_LOCK = threading.Lock()
_DEPTH = threading.local()
_LIBRARIES = frozenset(("numpy", "scipy.linalg", "casadi"))  # each brings a BLAS of its own


@contextmanager
def single() -> Iterator[None]:
    """Limit the linear algebra of this caller to one thread."""
    _DEPTH.value = getattr(_DEPTH, "value", 0) + 1
    if _DEPTH.value == 1:
        _enter()
    try:
        yield
    finally:
        _DEPTH.value -= 1
        if _DEPTH.value == 0:
            _leave()


def _enter() -> None:
    with _LOCK:
        loaded = _LIBRARIES & sys.modules.keys()
        if _Inside.known is None or _Inside.known[1] != loaded:
            from threadpoolctl import ThreadpoolController

            _Inside.known = (ThreadpoolController(), loaded)
        limit = _Inside.known[0].limit(limits=1, user_api="blas")
        if _Inside.count == 0:
            _Inside.before = limit
        _Inside.count += 1


def _leave() -> None:
    with _LOCK:
        _Inside.before.restore_original_limits()
        _Inside.count -= 1


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function, run with one thread of linear algebra."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        with single():
            return function(*args, **options)

    return call
