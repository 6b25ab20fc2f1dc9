"""Scripts of the gallery have a title, a paragraph and a picture; `test_build` runs them."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from gallery_pages import GROUPS, SCRIPTS, title_and_text  # noqa: E402

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
