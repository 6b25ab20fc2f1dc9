"""What a user installs: the sdist holds the C source, the wheel the compiled module and data."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the sdist, and the wheel made from that sdist."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(
        PACKAGE, tree / "src" / "supple", ignore=shutil.ignore_patterns("*.so", "*.pyc")
    )
    for path in (ROOT / name for name in BUILT_BY_PIP):
        if path.exists():  # a file that the build needs and misses fails the build itself
            shutil.copy(path, tree)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", tree / "dist", tree]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return tree / "dist"


@pytest.mark.slow
def test_sdist_holds_every_source(built: Path) -> None:
    (archive,) = built.glob("supple-*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.split("/src/", 1)[1] for name in opened.getnames() if "/src/supple/" in name}
    assert _files(".py", ".c", ".h", ".yaml") <= names


@pytest.mark.slow
def test_wheel_uses_the_stable_abi_and_holds_the_data(built: Path) -> None:
    (archive,) = built.glob("supple-*.whl")
    assert "-cp311-abi3-" in archive.name
    names = set(zipfile.ZipFile(archive).namelist())
    assert _files(".py", ".yaml", ".typed") | {"supple/py.typed"} <= names
    assert "supple/kernels/_exact.abi3.so" in names
    assert not any(name.endswith((".c", ".h")) for name in names)
