"""Every public function, called with every wrong type, raises a SuppleError or nothing."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import supple
from wrong_types import CALLS, WRONG, called, foreign

SLOW = {"closed_form", "follow", "scheduled", "stability", "h_infinity", "plan"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CALLS]
)
def test_no_foreign_exception(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each argument in turn is replaced by each wrong value; the others are right."""
    monkeypatch.chdir(tmp_path)  # what is written by such names is written there
    assert list(foreign(name, called(name), CALLS[name])) == []


def test_every_public_function_is_called() -> None:
    public = {name for name in supple.__all__ if inspect.isfunction(getattr(supple, name))}
    assert public - set(CALLS) == set()


def test_the_walk_can_fail() -> None:
    assert len(list(foreign("int", np.linalg.det, {"a": np.eye(2)}))) > 5


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: supple.Link(lenght=1), "Link: unknown key 'lenght': did you mean 'length'?"),
        (
            lambda: supple.PointToPoint([0], [1], time=0),
            "time is 0: give a positive number of seconds",
        ),
        (lambda: supple.simulate(supple.load("industrial-3")), "model is a Robot: give a Model"),
        (
            lambda: supple.modes(CALLS["simulate"]["model"]),
            "robot is a Model: give a Robot, such as its .robot",
        ),
        (
            lambda: supple.statics("industral-3"),
            "did you mean 'industrial-3'?",
        ),
        (lambda: supple.lqr(supple.load("industrial-3"), [0, 0, 0]), "model is a Robot"),
        (
            lambda: supple.modes(supple.load("industrial-3"), WRONG["masked"]),
            "theta holds masked entries",
        ),
        (
            lambda: supple.modes(supple.load("industrial-3"), WRONG["complex array"]),
            "complex numbers",
        ),
        (
            lambda: supple.simulate(CALLS["simulate"]["model"], tolerance=1e308),
            "tolerance is 1e+308",
        ),
        (lambda: supple.loads("name: \ud800"), "lone surrogate"),
    ],
)
def test_the_sentence_says_what_to_give(given: object, sentence: str) -> None:
    with pytest.raises(supple.SuppleError) as caught:
        given()  # type: ignore[operator]
    assert sentence in str(caught.value)


def test_checks_keep_the_callers_values() -> None:
    start = np.array([0.0, 0.0])
    path = supple.PointToPoint(start, [1, 0], 1.0)
    start[:] = 7.0
    assert path.start == (0.0, 0.0)
    assert path == supple.PointToPoint([0, 0], (1, 0), 1.0)
    assert hash(path) == hash(supple.PointToPoint([0, 0], (1, 0), 1.0))


def test_errors_survive_a_pickle() -> None:
    with pytest.raises(supple.RobotError) as caught:
        supple.Link(lenght=1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.faults == caught.value.faults


class Held(supple.Trajectory):
    """A trajectory of the user's own."""

    duration = 1.0

    def __init__(self, law: object) -> None:
        self.law = law

    def at(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = np.zeros((len(t), 1))
        return x, x, x


def test_a_lambda_inside_gets_a_sentence() -> None:
    with pytest.raises(supple.SuppleError, match="law is a function made on the fly"):
        pickle.dumps(Held(lambda t: t))
    assert pickle.loads(pickle.dumps(Held(len))).law is len


def test_users_own_kinds_compare_by_identity() -> None:
    one = Held(1)
    other = Held(1)
    assert one == one  # noqa: PLR0124
    assert one != other
    assert len({one, other}) == 2
