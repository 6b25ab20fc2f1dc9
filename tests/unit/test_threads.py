"""Linear algebra of small matrices runs in one thread, and the caller's threads come back."""

import subprocess
import sys
import threading
import timeit

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import supple
from supple.kernels.threads import one_thread, single


def threads() -> set[int]:
    return {part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"}


def test_one_thread_inside_and_the_callers_number_after() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with single():
            assert threads() == {1}
            with single():
                pass
            assert threads() == {1}  # the first caller is still inside
        assert threads() == before


def test_an_error_gives_the_threads_back() -> None:
    @one_thread
    def fails() -> None:
        raise supple.SuppleError("no")

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with pytest.raises(supple.SuppleError):
            fails()
        assert threads() == before


def test_callers_in_two_threads_both_give_back_what_was_there() -> None:
    """One enters while the other is inside: neither may take the other's one for the original."""
    inside = threading.Event()
    leave = threading.Event()

    def other() -> None:
        with single():
            inside.set()
            leave.wait(10)

    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        worker = threading.Thread(target=other)
        worker.start()
        assert inside.wait(10)
        with single():
            assert threads() == {1}
            leave.set()
            worker.join()
        assert threads() == before


def test_a_library_loaded_later_is_limited_too() -> None:
    """SciPy brings an OpenBLAS of its own, after NumPy's was looked for."""
    script = """
import numpy
from threadpoolctl import threadpool_info, threadpool_limits
from supple.kernels.threads import single

with single():
    pass
count = len(threadpool_info())
import scipy.linalg
assert len(threadpool_info()) > count
with threadpool_limits(limits=2, user_api="blas"), single():
    print({part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"})
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("{1}\n", "")


def test_a_thread_that_was_inside_leaves_the_next_one_free() -> None:
    """It lives on, outside; the number of threads is no longer its own to set."""
    been = threading.Event()
    end = threading.Event()

    def other() -> None:
        with single():
            pass
        been.set()
        end.wait(10)

    worker = threading.Thread(target=other)
    worker.start()
    assert been.wait(10)
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        with single():
            assert threads() == {1}
        assert threads() == before
    end.set()
    worker.join()
    assert before == {2}


def test_entering_takes_microseconds() -> None:
    """A study of a millisecond must not feel it; the best of many, for other work is going on."""

    def enter() -> None:
        with single():
            pass

    enter()
    assert min(timeit.repeat(enter, number=20, repeat=50)) / 20 < 50e-6
