"""`supple shape` as it is typed."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console
from pictures import shows, written_figures


@pytest.fixture
def move(tmp_path: Path) -> Path:
    t = np.arange(0, 1.0005, 0.001)
    x = supple.ParabolicBlends([0, 0], [1.2, -0.8], 1.0, 0.2)(t)[0]
    place = tmp_path / "in.csv"
    rows = np.column_stack([t, x])
    np.savetxt(place, rows, delimiter=",", header="t,shoulder,elbow", comments="")
    return place


def test_one_command(
    console: Console, move: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = written_figures(monkeypatch)
    out = tmp_path / "out.csv"
    picture = tmp_path / "out.png"
    words = ["--frequency", 7.2, "--damping", 0.02, "--shaper", "zvd"]
    ran = console("shape", move, *words, "--out", out, "--plot", picture)
    assert ran.code == 0, ran.err
    assert "0.139 s more" in ran.out
    assert out.read_text().startswith("t,shoulder,elbow\n")
    rows = np.loadtxt(out, delimiter=",", skiprows=1)
    assert rows[-1, 1:] == pytest.approx([1.2, -0.8])
    assert np.diff(rows[:, 0]) == pytest.approx(0.001)
    assert all(shows(figures[0], column) for column in rows[:, 1:].T)
    found = json.loads(console("shape", move, *words, "--json").out)
    assert found["time_added"] == pytest.approx(1 / (7.2 * np.sqrt(1 - 0.0004)), abs=1e-3)
    assert np.max(found["residual_after"]) < 1e-8 * np.max(found["residual_before"])


def test_with_a_robot(console: Console, move: Path) -> None:
    move.write_text(move.read_text().replace("shoulder,elbow", "link1,link2"))
    found = json.loads(console("shape", move, "--robot", "de-luca-two-link", "--json").out)
    assert np.max(found["residual_after"]) < 0.1 * np.max(found["residual_before"])


BAD = {
    "empty": ("", "empty"),
    "garbage": ("t,a\n0,1\n0.1,x\n", "row 3"),
    "short row": ("t,a,b\n0,1,2\n0.1,1\n", "row 3"),
    "no time": ("a,b\n0,1\n", "first column is t"),
    "back": ("t,a\n0,0\n0.2,1\n0.1,2\n", "does not rise"),
    "one row": ("t,a\n0,0\n", "two or more"),
    "not finite": ("t,a\n0,0\n0.1,nan\n", "not finite"),
}


@pytest.mark.parametrize(("text", "word"), BAD.values(), ids=BAD)
def test_bad_files(console: Console, tmp_path: Path, text: str, word: str) -> None:
    place = tmp_path / "in.csv"
    out = tmp_path / "out.csv"
    place.write_text(text)
    out.write_text("precious")
    ran = console("shape", place, "--frequency", 3, "--out", out)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err
    assert len(ran.err.strip().splitlines()) == 1
    assert out.read_text() == "precious"


@pytest.mark.parametrize(
    ("words", "word"),
    [
        (["--frequency", "600", "--rate", "1000"], "twice the frequency"),
        (["--frequency", "0"], "positive"),
        (["--frequency", "abc"], "--frequency"),
        (["--frequency", "7", "--shaper", "zvx"], "zvd"),
        (["--frequency", "7", "--speed-limit", "0"], "speed_limit is 0.0: it allows no move"),
        (["--frequency", "7", "--out", "x.txt"], ".csv"),
        (["--robot", "industrial-3"], "3"),
        ([], "--frequency"),
    ],
)
def test_bad_words(console: Console, move: Path, words: list[str], word: str) -> None:
    ran = console("shape", move, *words)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err


@pytest.mark.parametrize(
    ("name", "begin", "end"),
    [
        ("kuo-delta", [1.4, 1.4, 1.4], [0.0, 0.0, 0.0]),  # rods that are too short to meet there
        ("theodore-rrp", [0.0, 0.0, 0.5], [0.1, 0.1, 9.0]),  # further out than the link is long
    ],
)
def test_a_path_that_cannot_be_reached(
    console: Console, tmp_path: Path, name: str, begin: list[float], end: list[float]
) -> None:
    """One sentence, and what stood there stays."""
    given = supple.load(name)
    robot = tmp_path / "robot.yaml"
    if name == "kuo-delta":
        given = given.with_("lower.length", 0.3)
    robot.write_text(supple.dump(given), encoding="utf-8")
    t = np.linspace(0.0, 1.0, 101)
    x = supple.PointToPoint(begin, end, 1.0)(t)[0]
    place = tmp_path / "in.csv"
    out = tmp_path / "out.csv"
    rows = np.column_stack([t, x])
    np.savetxt(place, rows, delimiter=",", header="t,a,b,c", comments="")
    out.write_text("mine", encoding="utf-8")
    ran = console("shape", place, "--robot", robot, "--out", out)
    assert ran.code == 2
    assert len(ran.err.strip().splitlines()) == 1
    assert "Traceback" not in ran.err
    assert out.read_text() == "mine"


@pytest.mark.slow
def test_from_nothing_to_a_shaped_file_in_two_seconds(move: Path, tmp_path: Path) -> None:
    """A new process, its processor time: what else runs here does not count."""
    out = tmp_path / "shaped.csv"
    words = ["--frequency", "7.2", "--damping", "0.02", "--shaper", "zvd", "--out", str(out)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "supple", "shape", str(move), *words]
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert out.exists()
    assert took < 2.0


def test_the_move_itself_is_not_written_over(console: Console, move: Path, tmp_path: Path) -> None:
    before = move.read_text(encoding="utf-8")
    ran = console("shape", str(move), "--frequency", "7.2", "--out", str(move))
    assert ran.code == 2
    assert "it is the file that is read" in ran.err
    assert move.read_text(encoding="utf-8") == before
    ran = console("shape", str(move), "--frequency", "7.2", "--out", str(tmp_path / "no" / "x.csv"))
    assert ran.err.count("cannot write") == 1
    missing = str(tmp_path / "none.csv")
    assert "cannot read" in console("shape", missing, "--frequency", "7", "--out", str(move)).err
