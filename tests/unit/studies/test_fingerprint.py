"""A sweep that was kept is answered from its folder only where nothing that it computes changed."""

import functools
import importlib
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.studies.design.fingerprint import fingerprint


def function_from(text: str, name: str = "study") -> Any:
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
    "a helper that keeps its answers": (
        """
        import functools
        @functools.lru_cache
        def helper(x):
            return x * {}
        def study(robot, theta):
            return helper(2)
        """,
        ("3.0", "4.0"),
    ),
    "a helper for each type": (
        """
        import functools
        @functools.singledispatch
        def helper(x):
            return 0.0
        @helper.register
        def of_float(x: float):
            return x * {}
        def study(robot, theta):
            return helper(2.0)
        """,
        ("3.0", "4.0"),
    ),
    "an attribute of the function": (
        """
        def study(robot, theta):
            return study.scale
        study.scale = {}
        """,
        ("3.0", "4.0"),
    ),
    "a property that is computed once": (
        """
        import functools
        class Helper:
            @functools.cached_property
            def value(self):
                return {}
        def study(robot, theta):
            return Helper().value
        """,
        ("1", "2"),
    ),
    "a method of a class of classes": (
        """
        class Kind(type):
            def value(cls):
                return {}
        class Helper(metaclass=Kind):
            pass
        def study(robot, theta):
            return Helper.value()
        """,
        ("1", "2"),
    ),
    "an object that is called": (
        """
        class Study:
            def __call__(self, robot, theta):
                return {}
        study = Study()
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
    first = fingerprint(function_from(text.format(one)))
    assert first == fingerprint(function_from(text.format(one)))
    assert first != fingerprint(function_from(text.format(other)))


def test_a_changed_study_is_not_answered_from_the_folder(tmp_path: Path) -> None:
    text, (one, other) = CHANGES["a constant after a nested lambda"]
    robot = supple.load("industrial-3")
    over = {"theta.link2": [0.0, 1.0]}
    folder = tmp_path / "kept"
    first = supple.sweep(
        robot, function_from(text.format(one)), over, out=folder, scheduler="serial"
    )
    again = supple.sweep(
        robot, function_from(text.format(one)), over, out=folder, scheduler="serial"
    )
    assert (first["value"] == 4.0).all()
    assert (again["value"] == 4.0).all()
    with pytest.raises(supple.SuppleError, match="another question"):
        supple.sweep(robot, function_from(text.format(other)), over, out=folder, scheduler="serial")


IMPORTS = [
    "from helping_module import helper; return helper(2)",
    "import helping_module; return helping_module.helper(2)",
    "import helping_module as other; return other.helper(2)",
]


@pytest.mark.parametrize("line", IMPORTS)
def test_a_helper_that_is_imported_inside_the_function(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = set()
    for factor in (3.0, 4.0):
        (tmp_path / "helping_module.py").write_text(
            f"FACTOR = {factor}\ndef helper(x):\n    return FACTOR * x\n"
        )
        sys.modules.pop("helping_module", None)
        importlib.invalidate_caches()
        found.add(fingerprint(function_from(f"def study(robot, theta):\n    {line}\n")))
    sys.modules.pop("helping_module", None)
    assert len(found) == 2
    missing = "def study(robot, theta):\n    import no_such_module_of_mine as m\n    return m.x\n"
    assert fingerprint(function_from(missing)) == fingerprint(function_from(missing))


def test_a_module_of_a_package_that_is_imported_inside_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Met before and after the function has run, and imported it, the same."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "helping_package").mkdir()
    (tmp_path / "helping_package" / "__init__.py").write_text("")
    (tmp_path / "helping_package" / "inner.py").write_text("def helper(x):\n    return 3 * x\n")
    study = function_from(
        "def study(robot, theta):\n    from helping_package import inner\n"
        "    return inner.helper(2)\n"
    )
    before = fingerprint(study)
    assert study(None, None) == 6
    assert fingerprint(study) == before
    for name in ("helping_package", "helping_package.inner"):
        sys.modules.pop(name)


class Called:
    """A study that is an object."""

    def __call__(self, robot: supple.Robot, theta: Any) -> float:
        return 3.0


@pytest.mark.parametrize("scheduler", ["serial", "threads"])
def test_studies_that_have_no_name_of_their_own(tmp_path: Path, scheduler: str) -> None:
    robot = supple.load("industrial-3")
    study = function_from("def study(scale, robot, theta):\n    return scale * 2.0\n")
    over = {"theta.link2": [0.0, 1.0]}
    for scale, folder in ((1.0, "one"), (2.0, "two")):
        asked = {"out": tmp_path / folder, "scheduler": scheduler}
        found = supple.sweep(robot, functools.partial(study, scale), over, **asked)
        assert (found["value"] == 2 * scale).all()
    with pytest.raises(supple.SuppleError, match="another question"):
        supple.sweep(robot, functools.partial(study, 3.0), over, out=tmp_path / "one")
    found = supple.sweep(robot, Called(), over, out=tmp_path / "called", scheduler=scheduler)
    assert (found["value"] == 3.0).all()


def test_partial_functions_and_functions_that_call_themselves() -> None:
    assert fingerprint(functools.partial(max, 1)) != fingerprint(functools.partial(max, 2))
    text = """
    def study(robot, theta, n=3):
        return {} if n == 0 else study(robot, theta, n - 1)
    """
    assert fingerprint(function_from(text.format(1))) != fingerprint(function_from(text.format(2)))
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
