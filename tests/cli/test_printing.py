"""Commands print through `say` and `print_table`, where names lose what would steer a terminal."""

import ast
from pathlib import Path

import supple

ROOM = Path(supple.__file__).parent
DOORS = {  # who may write to a stream, and why
    # these doors themselves; whether a terminal reads them
    "cli/output.py": {"typer.echo", "Console", "sys.stdout"},
    "__main__.py": {"sys.stderr"},  # one word, before anything else can be imported
    "cli/__init__.py": {"sys.stdout", "sys.stderr"},  # how they write what they cannot encode
    "answers/answer.py": {"print"},  # the address of a live view, for a script or a notebook
    "files/disk.py": {"os.write"},  # into a pipe that was asked for
    "studies/design/workers.py": {"sys.stderr"},  # bars: counts and times, no names
    "exporters/validate.py": {"sys.stderr"},  # the engine that is asked: names of engines only
    "integration/progress.py": {"sys.stderr", "Console"},
    "papers/kuo_search.py": {"sys.stdout", "sys.stderr"},  # a program: tables of numbers
    "studies/drive/compare.py": {"sys.stderr", "Console"},
    "studies/drive/plan.py": {"sys.stderr", "Console"},  # a bar: time alone
    "studies/vibration/workspace.py": {"Console"},
}
WRITERS = {"print", "input", "typer.echo", "typer.secho", "click.echo", "echo", "secho", "Console"}
STREAMS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "os.write"}


def name_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def writers(text: str) -> set[str]:
    """Names in a program that write to a terminal."""
    seen = {name_of(n) for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute)} & STREAMS
    calls = [n.func for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
    return seen | ({name_of(call) for call in calls} & WRITERS)


def test_the_search_finds_what_it_looks_for() -> None:
    text = "import sys\nprint(1)\ntyper.echo('x')\nsys.stdout.write('y')\nsay('z')\na.print(t)"
    assert writers(text) == {"print", "typer.echo", "sys.stdout"}


def test_nothing_but_the_doors_writes_to_a_terminal() -> None:
    found = {
        path.relative_to(ROOM).as_posix(): writers(path.read_text(encoding="utf-8"))
        for path in sorted(ROOM.rglob("*.py"))
    }
    beside = {name: seen - DOORS.get(name, set()) for name, seen in found.items()}
    assert {name: seen for name, seen in beside.items() if seen} == {}
    assert {name for name in DOORS if not found.get(name)} == set()  # no door that nobody uses
