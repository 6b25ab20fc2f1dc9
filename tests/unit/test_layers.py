"""Rules of the architecture that a machine can check: layers, front door, door to the disk."""

import ast
import importlib
import importlib.metadata
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "supple"
SOURCES = sorted(PACKAGE.rglob("*.py"))
SOURCE_IDS = [path.relative_to(PACKAGE).as_posix() for path in SOURCES]

each_source = pytest.mark.parametrize("path", SOURCES, ids=SOURCE_IDS)


def faults_of_facade(tree: ast.AST, submodules: set[str]) -> Iterator[str]:
    """Imports of the public names from inside the package, which would hide a cycle."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                f"line {node.lineno}: import supple" for a in node.names if a.name == "supple"
            )
        elif isinstance(node, ast.ImportFrom) and node.module == "supple" and not node.level:
            for alias in node.names:
                if alias.name not in submodules:
                    yield f"line {node.lineno}: from supple import {alias.name}"


@each_source
def test_no_room_imports_the_front_door(path: Path) -> None:
    submodules = {p.stem for p in PACKAGE.iterdir()}
    faults = list(faults_of_facade(ast.parse(path.read_text(encoding="utf-8")), submodules))
    assert not faults, "\n".join(faults)


def test_the_front_door_check_can_fail() -> None:
    tree = ast.parse("import supple\nfrom supple import load\nfrom supple import files\n")
    assert len([*faults_of_facade(tree, {"files"})]) == 2


@each_source
def test_public_methods_are_documented(path: Path) -> None:
    """Where they are defined, or by the abstract class whose duty they fulfil."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if name.endswith("__main__"):
        return
    module = importlib.import_module(name.removesuffix(".__init__"))
    missing = [
        f"{cls.__qualname__}.{attribute}"
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
        for attribute, value in vars(cls).items()
        if not attribute.startswith("_") and inspect.isroutine(value)
        if not inspect.getdoc(getattr(cls, attribute))
    ]
    assert not missing, "no docstring: " + ", ".join(missing)


def faults_of_disk(text: str) -> Iterator[str]:
    """Calls that touch the disk by themselves; `savefig` and `to_netcdf` only inside `writing`."""
    calls = {"open", "write_text", "write_bytes", "mkdir", "loadtxt", "savetxt", "open_dataset"}
    tree = ast.parse(text)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and "writing(" in ast.unparse(node.items[0])
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rsplit(".", 1)[-1]
        bare = name == "open" if last == "open" else name != last
        if (last in calls and bare) or (
            last in ("savefig", "to_netcdf") and id(node) not in guarded
        ):
            yield f"line {node.lineno}: {name}"


@each_source
def test_files_are_the_only_door_to_the_disk(path: Path) -> None:
    if path.parent.name != "files":
        assert list(faults_of_disk(path.read_text(encoding="utf-8"))) == []


def test_the_disk_check_can_fail() -> None:
    text = "open('a')\nPath(x).write_text(t)\nfigure.savefig(p)\n"
    assert len(list(faults_of_disk(text))) == 3
    assert not list(faults_of_disk("with writing(p) as q:\n    f.savefig(q)\nwebbrowser.open(u)"))


def test_the_formatter_is_never_switched_off() -> None:
    switched_off = re.compile(r"#\s*fmt:\s*(skip|off)")
    found = [str(path) for path in SOURCES if switched_off.search(path.read_text(encoding="utf-8"))]
    assert found == []


def test_import_layers() -> None:
    found = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr


def test_architecture_page_lists_the_layers_of_the_linter() -> None:
    """The map and the machine that checks it name the same rooms in the same order."""
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.search(r'containers = \["supple"\]\nlayers = \[(.*?)\]', config, re.DOTALL)
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listing = re.search(r"```text\nsrc/supple/\n(.*?)```", page, re.DOTALL)
    assert layers is not None
    assert listing is not None
    linted = re.findall(r'"\((\w+)\)"', layers[1])
    mapped = re.findall(r"^  (\w+)(?:\.py|/)", listing[1], re.MULTILINE)
    rooms = [name for name in mapped if name not in ("__init__", "__main__")]
    assert linted == rooms[::-1]
    told = re.split(r"^  (?=\w+(?:\.py|/))", listing[1], flags=re.MULTILINE)[1:]
    words = {re.split(r"\W", room)[0]: set(re.findall(r"\w+", room)) for room in told}
    absent = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.stem not in ("__init__", "__main__")
        if path.stem not in words[path.relative_to(PACKAGE).parts[0].removesuffix(".py")]
    ]
    assert not absent, f"docs/architecture.md does not list {', '.join(sorted(absent))}"


def test_constraints_pin_every_dependency_without_addresses() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line)] == []
    pinned = {_canonical(line.split("==")[0]) for line in pins}
    required = {
        _canonical(re.split(r"[\s\[<>=!~;]", requirement)[0])
        for requirement in importlib.metadata.requires("supple") or []
    }
    assert required - {"supple"} <= pinned


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
