"""`supple sweep` as it is typed."""

import json
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console

WORDS = ("sweep", "industrial-3", "--over", "theta.link2=-90deg:90deg:7", "--over")


def test_a_map(console: Console, tmp_path: Path) -> None:
    places = ["--save", tmp_path / "x.nc", "--plot", tmp_path / "x.png", "--out", tmp_path / "s"]
    ran = console(*WORDS, "payload.mass=0,10", "--count", 3, *places)
    assert ran.code == 0, ran.err
    assert "7 x 2" in ran.out
    assert "Certified" in ran.out
    import xarray

    with xarray.open_dataset(tmp_path / "x.nc") as found:
        assert found["omega"].shape == (7, 2, 3)
        assert found["theta.link2"].values[0] == pytest.approx(-np.pi / 2)
    assert (tmp_path / "x.png").exists()
    document = json.loads(console(*WORDS, "payload.mass=0,10", "--count", 3, "--json").out)
    lowest = supple.modes(supple.load("industrial-3"), [0, -np.pi / 2, 0], count=3).omega
    assert document["omega"][0][0] == lowest.tolist()
    table = console(*WORDS, "payload.mass=0", "--count", 2, "--csv").out.splitlines()
    assert len(table) == 1 + 7 * 2


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("theta.link9=0:1:3", "theta.link9"),
        ("theta.link3", "KEY="),
        ("theta.link3=0:1:x", "points"),
        ("theta.link3=a,b", "theta.link3"),
    ],
)
def test_bad_words(console: Console, word: str, told: str) -> None:
    ran = console(*WORDS, word)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
