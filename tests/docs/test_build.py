"""The documentation builds, and a warning is an error."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from gallery_pages import GROUPS  # noqa: E402


@pytest.mark.slow
def test_documentation_builds_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    found = subprocess.run(
        [*command, "-d", tmp_path / "doctrees", DOCS, tmp_path / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    site = tmp_path / "html"
    assert (site / "index.html").exists()

    # Designer, control engineer and planner: scripts that do a whole job print and draw
    for name in GROUPS["Whole jobs"]:
        page = (site / "gallery" / f"{name}.html").read_text(encoding="utf-8")
        assert "<p>It prints</p>" in page, name
        assert (site / "_images" / f"{name}.png").stat().st_size > 10_000
