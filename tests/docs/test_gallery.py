"""Every script of the gallery has a title and a paragraph, is short, runs and draws."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))
LONGEST_SCRIPT = 90  # lines


def gallery_pages() -> ModuleType:
    found = importlib.util.spec_from_file_location("gallery_pages", DOCS / "gallery_pages.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules["gallery_pages"] = module  # its dataclass looks itself up
    found.loader.exec_module(module)
    return module


def test_there_is_one_for_every_user() -> None:
    names = {script.stem for script in SCRIPTS}
    assert {"lightest_arm", "sampled_regulator", "shaped_program"} <= names


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_has_a_title_and_a_paragraph_and_is_short(script: Path) -> None:
    example = gallery_pages().Example.of(script)
    assert not example.title.endswith(".")
    assert len(example.paragraph) > 100
    assert len(script.read_text().splitlines()) <= LONGEST_SCRIPT


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs_and_draws(script: Path, tmp_path: Path) -> None:
    if "gcc" in script.read_text() and shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    example = gallery_pages().Example.of(script)
    printed = example.run(tmp_path)
    assert printed.strip()
    picture = tmp_path / f"{script.stem}.png"
    assert picture.stat().st_size > 10_000
    page = example.page("/picture.png", printed)
    assert page.startswith(f"# {example.title}\n")
    assert printed.strip() in page


def test_a_script_that_draws_nothing_is_an_error(tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    script.write_text('"""Title\n\nA paragraph.\n"""\n\nprint("nothing")\n')
    with pytest.raises(RuntimeError, match=r"draws no silent\.png"):
        gallery_pages().Example.of(script).run(tmp_path)
