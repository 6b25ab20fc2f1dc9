"""`supple plan` as it is typed."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.console import Console

ARM = "de-luca-two-link"
LIMITS = ("--speed-limit", "1", "--acceleration-limit", "4")


def rows_of(place: Path) -> np.ndarray:
    return np.loadtxt(place, delimiter=",", skiprows=1)


def test_a_jerk_limited_move_is_written(console: Console, tmp_path: Path) -> None:
    out = tmp_path / "move.csv"
    words = ("plan", ARM, "--to", "1,0.5", "--by", "jerk", *LIMITS, "--jerk-limit", "40")
    ran = console(*words, "--out", out)
    assert ran.code == 0, ran.err
    assert "1.35 s by jerk" in ran.out  # d/v + v/a + a/j
    assert out.read_text().startswith("t,link1,link2\n")
    rows = rows_of(out)
    assert rows[0, 1:] == pytest.approx([0.0, 0.0])
    assert rows[-1, 1:] == pytest.approx([1.0, 0.5])
    assert rows[-1, 0] == pytest.approx(1.35)
    answer = json.loads(console(*words, "--json").out)
    assert answer["peak_speed"] == pytest.approx([1.0, 0.5], rel=1e-6)


def test_a_path_under_effort_limits(console: Console, tmp_path: Path) -> None:
    place = tmp_path / "path.csv"
    out = tmp_path / "timed.csv"
    place.write_text("t,link1,link2\n0,0,0\n1,0.3,0.5\n2,0.9,0.7\n", encoding="utf-8")
    words = ("plan", ARM, "--by", "path", "--path", place, "--effort-limit", "5,2")
    ran = console(*words, "--out", out)
    assert ran.code == 0, ran.err
    rows = rows_of(out)
    assert rows[-1, 1:] == pytest.approx([0.9, 0.7])
    assert np.linalg.norm(rows[:, 1:] - [0.3, 0.5], axis=1).min() < 5e-3


@pytest.mark.slow
def test_by_effort_and_calm(console: Console) -> None:
    by = ("--effort-limit", "3,1.5", "--deflection-limit", "0.2")
    answer = json.loads(
        console("plan", ARM, "--to", "0.3,0.2", "--duration", "3", *by, "--json").out
    )
    assert answer["duration"] == pytest.approx(3.0)
    assert answer["residual_on_finer_model"] < 0.05 * 0.2  # of the deflection that is allowed
    assert set(answer["used_of_limits"]) == {"effort", "deflection"}
    ran = console("plan", ARM, "--to", "0.3,0.2", "--by", "calm", *LIMITS)
    assert ran.code == 0, ran.err
    assert "by calm" in ran.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--to", "1,0.5", "--by", "magic"), "choose one of effort, calm, jerk, path"),
        (("--to", "1,0.5", "--by", "jerk"), "needs --speed-limit"),
        (("--to", "1,0.5", "--by", "jerk", *LIMITS), "needs --jerk-limit"),
        (
            ("--to", "1,0.5", "--by", "calm", *LIMITS, "--stress-limit", "1e6"),
            "is not for --by calm",
        ),
        (("--by", "calm", *LIMITS), "give --to"),
        (("--by", "path"), "give --path"),
        (("--to", "1,0.5", "--by", "jerk", *LIMITS, "--jerk-limit", "-3"), "jerk_limit"),
        (("--to", "1,0.5,2", "--by", "jerk", *LIMITS, "--jerk-limit", "3"), "needs 2"),
        (("--to", "1,0.5"), "effort_limit"),
        (("--to", "1,x", "--effort-limit", "3"), "--to 1,x"),
        (("--to", "1,0.5", "--effort-limit", "3", "--out", "move.txt"), "it must end in"),
        (("--to", "1,0.5", "--effort-limit", "3", "--rate", "0"), "--rate"),
        (("--to", "1,0.5", "--effort-limit", "3", "--pieces", "1"), "pieces"),
        (("--to", "1,0.5", "--effort-limit", "3", "--modes", "0"), "at least one"),
        (("--to", "1,0.5", "--by", "calm", *LIMITS, "--modes", "2"), "is not for --by calm"),
        (("--to", "1,0.5", "--effort-limit", "3", "--search-time", "0.01"), "0.01 s of search"),
    ],
)
def test_bad_words(console: Console, words: tuple[str, ...], sentence: str) -> None:
    ran = console("plan", ARM, *words)
    assert ran.code == 2
    assert sentence in ran.err
    assert "Traceback" not in ran.err


def test_nothing_is_overwritten_by_a_plan_that_fails(console: Console, tmp_path: Path) -> None:
    out = tmp_path / "move.csv"
    out.write_text("mine", encoding="utf-8")
    ran = console("plan", ARM, "--to", "1,0.5", "--by", "jerk", *LIMITS, "--out", out)
    assert ran.code == 2
    assert out.read_text() == "mine"


def test_ctrl_c_is_an_interruption_and_no_verdict(tmp_path: Path) -> None:
    """It was told as "no move was found", exit code 2."""
    out = tmp_path / "move.csv"
    out.write_text("mine", encoding="utf-8")
    words = ["plan", "two-arms", "--to", "0.3,0.8,-1,0.8,-1", "--effort-limit", "50"]
    command = [sys.executable, "-m", "supple", *words, "--out", str(out)]
    # A shell lets its background jobs ignore Ctrl-C, and children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    with running:
        time.sleep(6.0)
        assert running.poll() is None, running.communicate()[1]
        running.send_signal(signal.SIGINT)
        try:
            told = running.communicate(timeout=60)[1]
        finally:
            running.kill()
    assert running.returncode == 130
    assert "no move" not in told
    assert out.read_text() == "mine"
