"""`supple compare` as it is typed."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.console import Console

ROBOT = """
supple: 1
name: one-link
architecture: serial
planar: true
links:
  - {name: arm, length: 1, mass_per_length: 0.5, bending_stiffness: 400, theory: euler-bernoulli}
payload: {mass: 0.5}
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    place = tmp_path / "arm.yaml"
    place.write_text(ROBOT)
    return place


@pytest.mark.slow
def test_a_table_a_picture_and_a_page(console: Console, robot: Path, tmp_path: Path) -> None:
    picture = tmp_path / "x.png"
    page = tmp_path / "x.html"
    task = ["--from", "0", "--to", "60deg", "--duration", 0.4, "--elements", 1]
    ran = console("compare", robot, *task, "--plot", picture, "--save", page)
    assert ran.code == 0, ran.err
    for word in ("unshaped", "zvd", "scheduled", "optimised", "settled", "payload.mass 0.5 kg"):
        assert word in ran.out
    assert picture.stat().st_size > 0
    text = page.read_text()
    assert "which move ends calm" in text
    assert "Overshoot" in text
    words = ["--methods", "unshaped,ei", "--payload-error", 0]
    answer = json.loads(console("compare", robot, *task, *words, "--json").out)
    assert list(answer["methods"]) == ["unshaped", "ei"]
    assert answer["methods"]["unshaped"]["duration"] == pytest.approx(0.4)
    assert answer["methods"]["unshaped"]["settling"] == [None]
    rows = list(csv.DictReader(io.StringIO(console("compare", robot, *task, *words, "--csv").out)))
    assert [row["method"] for row in rows] == ["unshaped", "ei"]


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["--from", "0", "--to", "0"], "no move"),
        (["--from", "0,1", "--to", "1"], "start has 2 values"),
        (["--from", "0", "--to", "1", "--methods", "zvd,zvd"], "twice"),
        (["--from", "0", "--to", "1", "--methods", "what"], "method 'what'"),
        (["--from", "0", "--to", "1", "--save", "x.txt"], ".html"),
        (["--from", "0", "--to", "1", "--gains", "3"], "--gains"),
        (["--to", "1"], "--from"),
    ],
)
def test_bad_words(console: Console, robot: Path, words: list[str], word: str) -> None:
    ran = console("compare", robot, *words)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err
    assert len(ran.err.strip().splitlines()) == 1
