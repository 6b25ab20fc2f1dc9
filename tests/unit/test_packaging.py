"""What a user installs: the sdist holds the C source, the wheel the compiled module and data."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "supple"
BUILT_BY_PIP = ("pyproject.toml", "setup.py", "LICENSE", "README.md")


def _files(*suffixes: str) -> set[str]:
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.suffix in suffixes
    }


def _built(tree: Path, optimised: bool = True) -> Path:
    """A directory with the sdist, and the wheel made from that sdist."""
    shutil.copytree(
        PACKAGE, tree / "src" / "supple", ignore=shutil.ignore_patterns("*.so", "*.pyc")
    )
    for path in (ROOT / name for name in BUILT_BY_PIP):
        if path.exists():  # a file that the build needs and misses fails the build itself
            shutil.copy(path, tree)
    if not optimised:  # nobody runs it: its compiler need not think long
        words = (tree / "setup.py").read_text(encoding="utf-8")
        assert "-O3" in words
        (tree / "setup.py").write_text(words.replace("-O3", "-O0"), encoding="utf-8")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", tree / "dist", tree]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return tree / "dist"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("quick"), optimised=False)


def _needs(tag: str) -> tuple[int, int]:
    """The libc that a wheel's tag asks for; beyond all where it was made here from its source."""
    place = tag.rsplit("-", maxsplit=1)[-1]
    if not place.startswith(("linux", "manylinux")):
        return (0, 0)  # pure, or another system's
    old = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
    found = re.match(r"manylinux_(\d+)_(\d+)_", place)
    return (int(found[1]), int(found[2])) if found else old.get(place.split("_")[0], (99, 0))


def test_every_pinned_version_comes_as_a_wheel_for_debian_12() -> None:
    """A version without one is compiled by whoever installs it, if he has what that takes.

    Pure wheels do not tell whether they were made here: `make` refuses sources (--only-binary).
    """
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines}
    seen = 0
    wrong = {}
    for part in distributions():
        name = re.sub(r"[-_.]+", "-", part.name).lower()
        if name not in pins:
            continue
        words = re.findall(r"^Tag: (\S+)", part.read_text("WHEEL") or "", re.MULTILINE)
        oldest = min((_needs(tag) for word in words for tag in word.split(".")), default=(99, 0))
        if oldest > (2, 36):
            wrong[name] = (part.version, words)
        seen += 1
    assert wrong == {}
    assert seen > 100


def test_make_installs_wheels_only() -> None:
    """A pin without a wheel fails at once, by its name, and on every machine alike."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--only-binary :all:" in re.search(r"^PIP_INSTALL := (.*)$", text, re.MULTILINE)[1]  # type: ignore[index]
    assert "$(PIP) install" not in text.replace("PIP_INSTALL := $(PIP) install", "")


@pytest.mark.slow
def test_sdist_holds_every_source(packed: Path) -> None:
    (archive,) = packed.glob("supple-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.split("/src/", 1)[1] for name in opened.getnames() if "/src/supple/" in name}
    assert _files(".py", ".c", ".h", ".yaml") <= names


@pytest.mark.slow
def test_wheel_uses_the_stable_abi_and_holds_the_data(packed: Path) -> None:
    (archive,) = packed.glob("supple-*.whl")
    assert "-cp311-abi3-" in archive.name
    names = set(zipfile.ZipFile(archive).namelist())
    assert _files(".py", ".yaml", ".typed") | {"supple/py.typed"} <= names
    assert {"supple/kernels/_exact.abi3.so", "supple/kernels/_tape.abi3.so"} <= names
    assert not any(name.endswith((".c", ".h")) for name in names)


def _pythons() -> list[Path]:
    """Every other Python on this machine that is new enough, one of each minor version."""
    found: dict[str, Path] = {}
    places = [Path(folder) for folder in os.get_exec_path()]
    places += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    for place in places:
        for minor in range(11, 30):
            python = place / f"python3.{minor}"
            if not python.exists() or f"3.{minor}" in found:
                continue
            asked = "import sys; sys.exit(sys.version_info < (3, 11))"
            if subprocess.run([python, "-c", asked], capture_output=True, check=False).returncode:
                continue  # a name without a Python behind it
            found[f"3.{minor}"] = python
    return list(found.values())


@pytest.mark.soak
@pytest.mark.parametrize("python", _pythons(), ids=lambda path: path.name)
def test_the_wheel_works_in_a_new_environment(built: Path, python: Path, tmp_path: Path) -> None:
    """One wheel, every Python; its dependencies are those that pip finds for that Python."""
    (wheel,) = built.glob("supple-*.whl")
    subprocess.run([python, "-m", "venv", tmp_path / "new"], check=True)
    inside = tmp_path / "new" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [inside, "-m", "pip", "--quiet", "install", "--only-binary=:all:", wheel]
    subprocess.run(install, check=True, cwd=tmp_path)
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    check = ROOT / "tests" / "installed.py"
    ran = subprocess.run(
        [inside, check], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "works under Python 3." in ran.stdout


@pytest.mark.soak
def test_the_sdist_installs_in_a_new_environment(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("supple-*.tar.gz")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "new"], check=True)
    inside = tmp_path / "new" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([inside, "-m", "pip", "--quiet", "install", archive], check=True, cwd=tmp_path)
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run([inside, ROOT / "tests" / "installed.py"], cwd=tmp_path, env=clean, check=True)
