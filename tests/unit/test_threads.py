"""Linear algebra of small matrices runs in one thread, and the caller's threads come back."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import supple
from supple.kernels.threads import one_thread, single


def threads() -> set[int]:
    """Of the linear algebra that supple itself uses; other engines in a process have theirs."""
    own = ("numpy", "scipy", "casadi")
    return {
        part["num_threads"]
        for part in threadpool_info()
        if part["user_api"] == "blas" and any(word in part["filepath"] for word in own)
    }


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
    inside, leave = threading.Event(), threading.Event()

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
