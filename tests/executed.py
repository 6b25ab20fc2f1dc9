"""Which modules of the package no test runs: `python -m pytest -p executed tests/unit tests/cli`.

A module counts as run when one of its functions was called; importing it is not enough. The
list stands at the end of the session and is empty after `make test`.
"""

import ast
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "supple"
CALLED: set[CodeType] = set()


def called(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        CALLED.add(frame.f_code)


def pytest_sessionstart() -> None:
    threading.setprofile(called)
    sys.setprofile(called)


def never_run(codes: set[CodeType]) -> list[str]:
    """Modules that have functions of which none is among the codes."""
    run = {Path(code.co_filename) for code in codes if code.co_name != "<module>"}
    quiet = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))
        if functions and path not in run:
            quiet.append(str(path.relative_to(PACKAGE)))
    return quiet


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    sys.setprofile(None)
    quiet = never_run(CALLED)
    terminalreporter.section(f"{len(quiet)} modules were not run")
    for name in quiet:
        terminalreporter.write_line(name)
