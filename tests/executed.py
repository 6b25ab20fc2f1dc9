"""Which modules of the package no test runs: `python -m pytest -p executed tests/unit tests/cli`.

A module counts as run when one of its functions was called; importing it is not enough. The plugin
puts a mark into every function as its module is loaded and lists the rest at the end of the
session. Commands that tests start as processes of their own are not seen.
"""

import ast
import builtins
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType
from typing import Any

import pytest

RUN: set[str] = set()
KNOWN: set[str] = set()
MARK = ast.parse("__run__.add(__name__)").body[0]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def marked(text: str) -> tuple[ast.Module, int]:
    """A module with the mark at the start of its functions, and how many these are."""
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    for node in functions:
        start = 0 if ast.get_docstring(node, clean=False) is None else 1
        node.body.insert(start, ast.copy_location(MARK, node.body[0]))
    return ast.fix_missing_locations(tree), len(functions)


class Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        tree, count = marked(self.get_data(self.path).decode("utf-8"))
        if count:
            KNOWN.add(fullname)
        return compile(tree, self.path, "exec")


class Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "supple":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def pytest_configure() -> None:
    """Watch what is loaded from now on; only where pytest took this as a plugin."""
    builtins.__run__ = RUN  # type: ignore[attr-defined]
    sys.meta_path.insert(0, Finder())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    quiet = sorted(KNOWN - RUN)
    terminalreporter.section(f"{len(quiet)} of {len(KNOWN)} modules were not run")
    for name in quiet:
        terminalreporter.write_line(name)
