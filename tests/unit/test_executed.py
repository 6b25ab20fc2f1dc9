"""The list of modules that no test runs: functions are marked, and called ones count."""

import builtins

import pytest

from executed import marked

TEXT = '''"""Text."""

def called(x):
    """Return x."""
    return x

def quiet():
    """Return nothing."""
'''


def test_a_call_leaves_its_mark_and_an_import_none(monkeypatch: pytest.MonkeyPatch) -> None:
    run: set[str] = set()
    monkeypatch.setattr(builtins, "__run__", run, raising=False)
    tree, count = marked(TEXT)
    assert count == 2
    space = {"__name__": "some.module"}
    exec(compile(tree, "some", "exec"), space)
    assert run == set()
    assert space["called"](3) == 3  # type: ignore[operator]
    assert run == {"some.module"}
    told = [space[name].__doc__ for name in ("called", "quiet")]  # type: ignore[attr-defined]
    assert told == ["Return x.", "Return nothing."]
