"""One thread of linear algebra while matrices are small: there more threads only wait for another.

BLAS starts as many threads as there are cores for a product of 20 x 20 too. The limit is that of
the whole process while any caller is inside, and is given back when the last one has left.
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
    """How many callers are inside, and what gives the threads back."""

    count = 0
    limit: Any = None
    known: tuple[Any, frozenset[str]] | None = None


_LOCK = threading.Lock()
_LIBRARIES = frozenset(("numpy", "scipy.linalg", "casadi"))  # each brings a BLAS of its own


@contextmanager
def single() -> Iterator[None]:
    """Limit the linear algebra of this process to one thread until the last caller leaves."""
    with _LOCK:
        _Inside.count += 1
        if _Inside.count == 1:
            loaded = _LIBRARIES & sys.modules.keys()
            if _Inside.known is None or _Inside.known[1] != loaded:
                from threadpoolctl import ThreadpoolController

                _Inside.known = (ThreadpoolController(), loaded)
            _Inside.limit = _Inside.known[0].limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _LOCK:
            _Inside.count -= 1
            if _Inside.count == 0:
                _Inside.limit.restore_original_limits()


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function, run with one thread of linear algebra."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        with single():
            return function(*args, **options)

    return call
