"""Checks that a function's own annotations ask for."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest

import supple
from supple.arguments import (
    KINDS,
    checked,
    inner_function,
    number,
    signature_checks,
    whole_number,
)

if TYPE_CHECKING:
    from nowhere import Absent, ArrayLike, absent_check  # type: ignore[import-not-found]

Ratio = Annotated[float, number(0, 1, give="a ratio from 0 to 1")]
Limits = Annotated["float | Sequence[float]", number(0)]


@checked
def asked(
    count: Annotated[int, whole_number(1, 9)],
    kind: Literal["one", "two"] = "one",
    *rest: bool,
    on: bool = True,
    at: ArrayLike | None = None,
    ratio: Ratio | None = None,
    limits: Limits = 1.0,
    either: Literal["static"] | Sequence[Absent] | None = None,
    absent: Absent[int] | None = None,
) -> Any:
    return count, kind, rest, on, at, ratio


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"count": 10}, "count is 10: give a whole number from 1 to 9"),
        ({"count": None}, "count is None: give a whole number from 1 to 9"),
        ({"count": 1, "kind": "three"}, "kind is 'three': it must be one of one, two"),
        ({"count": 1, "on": 1}, "on is 1: give True or False"),
        ({"count": 1, "at": "here"}, "at is not an array of numbers but 'here'"),
        ({"count": 1, "ratio": 2}, "ratio is 2: give a ratio from 0 to 1"),
        ({"count": 1, "limits": -1}, "limits is -1: give a number that is not negative"),
    ],
)
def test_an_annotation_is_a_check(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(supple.SuppleError) as caught:
        asked(**given)
    assert sentence in str(caught.value)


def test_arguments_by_place_and_what_asks_nothing() -> None:
    with pytest.raises(supple.SuppleError, match="count is 'a'"):
        asked("a")  # type: ignore[arg-type]
    assert asked(2, "two", 3, 4, ratio=None)[2] == (3, 4)  # type: ignore[arg-type]
    assert asked(2, either=5, absent="anything")[0] == 2  # type: ignore[arg-type]


def test_signatures_show_types_without_checks() -> None:
    shown = {name: p.annotation for name, p in inspect.signature(asked).parameters.items()}
    assert shown["count"] == "int"
    assert shown["ratio"] == "float | None"
    assert shown["limits"] == "float | Sequence[float]"
    assert shown["at"] == "ArrayLike | None"


def test_a_check_that_is_not_imported_is_told() -> None:
    @checked
    def forgotten(count: Annotated[int, absent_check(1)] | None = None) -> None: ...

    with pytest.raises(NameError, match="forgotten: the check of count is not imported"):
        forgotten()


def _modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(supple.__path__, "supple."):
        if "kernels" not in found.name and not found.name.endswith("__main__"):
            source = importlib.util.find_spec(found.name)  # type: ignore[attr-defined]
            if "@checked\n" in Path(source.origin).read_text():
                yield importlib.import_module(found.name)


def _for_type_checkers_only(module: Any) -> dict[str, Any]:
    """What a module imports for type checkers only, by its name."""
    found = {}
    for block in ast.parse(Path(module.__file__).read_text()).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for line in block.body:
                if isinstance(line, ast.ImportFrom):
                    place = "." * line.level + (line.module or "")
                    package = module.__name__ + (".x" if hasattr(module, "__path__") else "")
                    source = importlib.import_module(place, package.rpartition(".")[0])
                    for each in line.names:
                        found[each.asname or each.name] = getattr(source, each.name, None)
    return found


def test_every_signature_of_the_package_is_understood() -> None:
    """No check is lost because what asks for it is imported for type checkers only."""
    count = 0
    for module in _modules():
        absent = _for_type_checkers_only(module)
        for function in vars(module).values():
            inner = inner_function(function)
            if not inspect.isfunction(inner) or inner.__module__ != module.__name__:
                continue
            count += hasattr(function, "__wrapped__")
            for hint in inner.__annotations__.values():
                assert "whole_number" not in hint
                for name in {n.id for n in ast.walk(ast.parse(hint)) if isinstance(n, ast.Name)}:
                    value = absent.get(name)
                    assert not (isinstance(value, type) and value in KINDS), (inner, name)
                    assert not hasattr(value, "__metadata__"), (inner, name)
    assert count >= 59


def test_checks_of_a_question() -> None:
    from supple.studies.vibration.modes import modes

    inner = inner_function(modes)
    assert set(signature_checks(inner, inner.__annotations__)) >= {"robot", "theta", "position"}
