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
from typing import Any, ClassVar, ParamSpec, TypeVar

__all__ = ["one_thread", "single"]

P = ParamSpec("P")
T = TypeVar("T")


class _Inside:
    """How many callers are inside, and what the threads were before the first of them."""

    count = 0
    before: ClassVar[dict[str, tuple[Any, int]]] = {}  # of each library, by its file
    libraries: tuple[Any, ...] = ()
    modules = 0  # how many were loaded when the libraries were looked for


_LOCK = threading.Lock()
_DEPTH = threading.local()


@contextmanager
def single() -> Iterator[None]:
    """Limit the linear algebra of this caller to one thread."""
    _DEPTH.value = getattr(_DEPTH, "value", 0) + 1
    if _DEPTH.value == 1:
        with _LOCK:
            if _Inside.modules != len(sys.modules):  # any module may bring a BLAS of its own
                from threadpoolctl import ThreadpoolController

                found = ThreadpoolController().lib_controllers
                _Inside.libraries = tuple(one for one in found if one.user_api == "blas")
                _Inside.modules = len(sys.modules)
            for library in _Inside.libraries:
                if library.filepath not in _Inside.before:
                    _Inside.before[library.filepath] = (library, library.get_num_threads())
                library.set_num_threads(1)
            _Inside.count += 1
    try:
        yield
    finally:
        _DEPTH.value -= 1
        if _DEPTH.value == 0:
            with _LOCK:
                for library, threads in _Inside.before.values():
                    library.set_num_threads(threads)
                    # Of a pool that the process shares, threadpoolctl 3.8 heeds one thread, the
                    # first to set it, until that thread lets go.
                    if (let_go := getattr(library, "clear_controlling_thread", None)) is not None:
                        let_go()
                _Inside.count -= 1
                if _Inside.count == 0:
                    _Inside.before.clear()


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function, run with one thread of linear algebra."""

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        with single():
            return function(*args, **options)

    return call
