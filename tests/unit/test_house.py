"""How the house is kept: functions beside lines, helpers used once, folders, the formatter.

What is wanted: fewer than 50 functions in 1,000 lines, lambdas among them, and less than half of
the private ones used once in their module; the ceilings stand a little below.
"""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "supple"
TEXTS = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
MODULES = 14  # in a folder
A_THOUSAND = 49.8  # functions and lambdas in 1,000 lines; wanted 50
ONCE = 0.46  # of the private functions; wanted 0.5


def named(text: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, FUNCTIONS)]


def lambdas(text: str) -> int:
    return sum(isinstance(node, ast.Lambda) for node in ast.walk(ast.parse(text)))


def private(text: str) -> list[tuple[str, int]]:
    """Private functions of a module and how often their names stand beside their definition."""
    own = [name for name in named(text) if name.startswith("_") and not name.startswith("__")]
    return [(name, len(re.findall(rf"\b{name}\b", text)) - own.count(name)) for name in own]


def test_few_modules_in_a_folder() -> None:
    counts: dict[Path, int] = {}
    for path in TEXTS:
        counts[path.parent] = counts.get(path.parent, 0) + (path.stem != "__init__")
    assert {str(place): n for place, n in counts.items() if n > MODULES} == {}


def test_the_formatter_is_never_switched_off() -> None:
    found = [str(path) for path, text in TEXTS.items() if re.search(r"#\s*fmt:\s*(skip|off)", text)]
    assert found == []


def test_functions_beside_lines() -> None:
    lines = sum(len(text.splitlines()) for text in TEXTS.values())
    functions = sum(len(named(text)) + lambdas(text) for text in TEXTS.values())
    assert 1000 * functions / lines <= A_THOUSAND


def test_private_functions_used_once() -> None:
    uses = [count for text in TEXTS.values() for _, count in private(text)]
    assert sum(count <= 1 for count in uses) / len(uses) <= ONCE


def test_the_counts_can_fail() -> None:
    text = "def _a():\n    return _b() + _b()\n\n\ndef _b():\n    return 1\n\n\nx = _a()\n"
    assert private(text) == [("_a", 1), ("_b", 2)]
    assert named("class C:\n    def f(self):\n        def g(): ...\n") == ["f", "g"]
    assert lambdas("f = lambda x: (lambda y: y)(x)\n") == 2
