"""Scripts of the gallery have a title, a paragraph and a picture; the site's build runs them."""

import shutil
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from gallery_pages import GROUPS, SCRIPTS, run_script, title_and_text  # noqa: E402

NAMES = [name for names in GROUPS.values() for name in names]


def test_every_script_stands_in_one_group() -> None:
    assert sorted(NAMES) == sorted(script.stem for script in SCRIPTS.glob("*.py"))
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_short_and_says_what_it_shows(name: str) -> None:
    script = SCRIPTS / f"{name}.py"
    title, text = title_and_text(script)
    assert title
    assert text
    assert f'"{name}.png"' in script.read_text(encoding="utf-8")
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 70


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS["Whole jobs"])
def test_a_whole_job_is_done_without_a_detour(name: str, tmp_path: Path) -> None:
    """Designer, control engineer and planner: nothing but the script is needed."""
    script = SCRIPTS / f"{name}.py"
    if "gcc" in script.read_text(encoding="utf-8") and shutil.which("gcc") is None:
        pytest.skip("no C compiler")
    printed = run_script(script, tmp_path)
    assert printed.strip()
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
