"""`supple sweep` as it is typed."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console
from supple.cli.design.sweep import parse_over

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
    ("word", "sentence"),
    [
        ("theta.link9=0:1:3", "theta.link9"),
        ("theta.link3", "KEY="),
        ("theta.link3=0:1:x", "points"),
        ("theta.link3=0:1:\u00b2", "points"),
        ("theta.link3=a,b", "theta.link3"),
    ],
)
def test_bad_words(console: Console, word: str, sentence: str) -> None:
    ran = console(*WORDS, word)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_an_atlas_is_a_page_with_sliders(console: Console, tmp_path: Path) -> None:
    place = tmp_path / "atlas.html"
    ran = console(
        *("sweep", "industrial-3", "--over", "theta.link2=-1:1:5", "--over", "theta.link3=0:1:4"),
        *("--over", "payload.mass=0,5", "--count", "3", "--save", place),
    )
    assert ran.code == 0, ran.out
    text = place.read_text(encoding="utf-8")
    (data,) = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.S)
    (chapter,) = json.loads(data)["chapters"]
    (heat,) = chapter["maps"]
    assert [choice["name"] for choice in heat["choices"]] == ["mode", "payload.mass (kg)"]
    robot = supple.load("industrial-3").with_("payload.mass", 5.0)
    there = supple.modes(robot, [0, -1, 1.0], count=3).frequency_hz
    for mode in range(3):
        assert heat["values"][mode][1][3][0] == pytest.approx(there[mode], rel=1e-5)


def test_an_odd_grid_passes_through_its_middle() -> None:
    assert parse_over("theta.link2=-2.5:2.5:41")[1][20] == 0.0


def test_tolerances_print_what_python_returns(console: Console) -> None:
    words = ("tolerances", "industrial-3", "--at", "0,0.7,0.5", "--count", "2")
    ran = console(*words, "--within", "links.link1.section.wall=2e-4", "--json")
    answer = json.loads(ran.out)
    within = {"links.link1.section.wall": 2e-4}
    found = supple.tolerances(supple.load("industrial-3"), within, theta=[0, 0.7, 0.5], count=2)
    np.testing.assert_allclose(answer["low_hz"], found.low / (2 * np.pi), rtol=1e-12)
    np.testing.assert_allclose(answer["high_hz"], found.high / (2 * np.pi), rtol=1e-12)
    assert answer["monotonic"] == found.monotonic.tolist()
    table = console(*words, "--within", "links.link1.section.wall=2e-4")
    assert f"{found.high[1] / (2 * np.pi):.5g}" in table.out
    bad = console(*words, "--within", "links.link1.section.wall")
    assert bad.code == 2
    assert "write PATH=+-" in bad.err


def test_stability_along_a_trajectory(console: Console) -> None:
    words = ("sweep", "theodore-rrp", "stability", "--over", "payload.mass=0.1")
    ran = console(*words, "--csv")
    assert ran.code == 0, ran.err
    assert "offsetting_ratio" in ran.out
    ran = console("sweep", "theodore-rrp", "--trajectory", "extension", "--over", "payload.mass=0")
    assert (ran.code, "is for the study stability" in ran.err) == (2, True)
    robot = supple.load("theodore-rrp")
    with pytest.raises(supple.SuppleError, match="needs a trajectory"):
        supple.sweep(robot, "stability", {"payload.mass": [0.1]})


OVER = ("--over", "theta.link2=-0.05:0.05")
EVERYWHERE = {
    "stopband": ("--band", "5.9,6.3", *OVER),
    "track": ("--over", "theta.link2=0:0.1:3", "--count", 1),
    "sweep": ("--over", "theta.link2=0:0.1:3", "--count", 1),
    "workspace": ("--points", 2),
    "tolerances": ("--within", "links.link1.section.wall=1e-4", "--count", 1),
    "optimise": ("--vary", "links.link1.section.wall=0.01:0.011", "--at", "0,0,0"),
}


@pytest.mark.parametrize("command", EVERYWHERE)
def test_frequencies_of_planar_arms_say_their_plane(console: Console, command: str) -> None:
    """`stopband` proved 5.9 to 6.3 Hz free of an arm that rings at 6.114 Hz out of its plane."""
    assert "in the x-y plane" in console(command, "industrial-3", *EVERYWHERE[command]).out
    answer = json.loads(console(command, "industrial-3", *EVERYWHERE[command], "--json").out)
    assert answer["plane"] == "x-y"


def test_a_sweep_with_wide_brackets_is_not_certified(console: Console, tmp_path: Path) -> None:
    """A heavy body far off its link: brackets of 1e-6, not certified by `modes` either."""
    beam = {"mass_per_length": 1.0, "bending_stiffness": 100.0, "theory": "inextensible"}
    tip = {"mass": 1e9, "com": [0.1, 0, 0], "inertia": 1e-3}
    links = [{"name": "one", "length": 1.8, **beam, "tip": tip}]
    robot = supple.SerialRobot(name="heavy", planar=True, links=links)
    supple.dump(robot, tmp_path / "heavy.yaml")
    assert not supple.modes(robot, [0.0], 3).certified
    words = ("sweep", tmp_path / "heavy.yaml", "--over", "theta.one=0:1:2", "--count", 3)
    for more in ((), ("--reduce", "minimum,maximum")):
        ran = console(*words, *more)
        assert ran.code == 0, ran.err
        assert "Not certified" in ran.out
