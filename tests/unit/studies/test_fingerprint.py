"""A sweep that was kept is answered from its folder only where nothing that it computes changed."""

import functools
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.studies.design.fingerprint import fingerprint


def made(text: str, name: str = "study") -> Any:
    """A function of a module of the user, from its text."""
    space: dict[str, Any] = {"__name__": "users_module", "np": np, "supple": supple}
    exec(textwrap.dedent(text), space)
    return space[name]


CHANGES = {
    "a constant after a nested lambda": (
        """
        def study(robot, theta):
            f = lambda x: x + 1
            return f(2) + {}
        """,
        ("1.0", "2.0"),
    ),
    "a constant inside a nested lambda": (
        """
        def study(robot, theta):
            return (lambda x: x + {})(2)
        """,
        ("1.0", "2.0"),
    ),
    "a helper": (
        """
        def helper(x):
            return x * {}
        def study(robot, theta):
            return helper(2)
        """,
        ("3.0", "4.0"),
    ),
    "a helper's helper": (
        """
        def inner(x):
            return x * {}
        def helper(x):
            return inner(x)
        def study(robot, theta):
            return [helper(k) for k in range(2)][1]
        """,
        ("3.0", "4.0"),
    ),
    "a constant of the module": (
        """
        SCALE = {}
        def study(robot, theta):
            return SCALE
        """,
        ("3.0", "4.0"),
    ),
    "an array of the module": (
        """
        SCALE = np.array([1.0, {}])
        def study(robot, theta):
            return SCALE.sum()
        """,
        ("3.0", "4.0"),
    ),
    "a default": ("def study(robot, theta, x={}):\n    return x\n", ("1", "2")),
    "a default by name": ("def study(robot, theta, *, x={}):\n    return x\n", ("1", "2")),
    "a closure": (
        """
        def outer(x):
            def study(robot, theta):
                return x
            return study
        study = outer({})
        """,
        ("1", "2"),
    ),
    "a function in a closure": (
        """
        def outer(x):
            def study(robot, theta):
                return x(1)
            return study
        study = outer(lambda y: y + {})
        """,
        ("1", "2"),
    ),
    "a method of a class": (
        """
        class Helper:
            def value(self):
                return {}
        def study(robot, theta):
            return Helper().value()
        """,
        ("1", "2"),
    ),
    "another name of the same size": (
        """
        def study(robot, theta):
            return {}(theta[0])
        """,
        ("np.sin", "np.cos"),
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_changes_the_answer_changes_the_fingerprint(what: str) -> None:
    text, (one, other) = CHANGES[what]
    first = fingerprint(made(text.format(one)))
    assert first == fingerprint(made(text.format(one)))
    assert first != fingerprint(made(text.format(other)))


def test_a_changed_study_is_not_answered_from_the_folder(tmp_path: Path) -> None:
    text, (one, other) = CHANGES["a constant after a nested lambda"]
    robot = supple.load("industrial-3")
    over = {"theta.link2": [0.0, 1.0]}
    folder = tmp_path / "kept"
    first = supple.sweep(robot, made(text.format(one)), over, out=folder, scheduler="serial")
    again = supple.sweep(robot, made(text.format(one)), over, out=folder, scheduler="serial")
    assert (first["value"] == 4.0).all()
    assert (again["value"] == 4.0).all()
    with pytest.raises(supple.SuppleError, match="another question"):
        supple.sweep(robot, made(text.format(other)), over, out=folder, scheduler="serial")


def test_partial_functions_and_functions_that_call_themselves() -> None:
    assert fingerprint(functools.partial(max, 1)) != fingerprint(functools.partial(max, 2))
    text = """
    def study(robot, theta, n=3):
        return {} if n == 0 else study(robot, theta, n - 1)
    """
    assert fingerprint(made(text.format(1))) != fingerprint(made(text.format(2)))
    looped: list[Any] = [1]
    looped.append(looped)
    assert fingerprint(looped)


def test_the_same_in_every_process(tmp_path: Path) -> None:
    """Sets come in another order in every process, and code from a cache has other objects."""
    module = tmp_path / "kept_study.py"
    module.write_text(
        "WORDS = {'a', 'b', 'c', 'd'}\n"
        "def study(robot, theta):\n"
        "    return 1.0 if 'x' in {'p', 'q', 'r', 's'} or 'a' in WORDS else 2.0\n"
    )
    script = (
        "import kept_study\n"
        "from supple.studies.design.fingerprint import fingerprint\n"
        "print(fingerprint(kept_study.study))\n"
    )
    told = set()
    for seed in ("1", "2", "3"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(run.stdout)
    assert len(told) == 1
