"""Moves from command to command: written by one, read by every other, columns in any order."""

import json
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console

ARM = "de-luca-two-link"


def written(place: Path, names: list[str], columns: np.ndarray, t: np.ndarray) -> Path:
    """A CSV file by hand."""
    lines = [",".join(["t", *names])]
    for time, row in zip(t, columns, strict=True):
        lines.append(",".join([repr(float(time)), *(repr(float(x)) for x in row)]))
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return place


@pytest.fixture
def both(tmp_path: Path) -> tuple[Path, Path]:
    """One move of 1.6 s, and the same with its columns in the other order."""
    t = np.arange(0, 1.6005, 0.01)
    x = supple.PointToPoint([0.0, 0.2], [0.6, 0.9], 1.6)(t)[0]
    plain = written(tmp_path / "plain.csv", ["link1", "link2"], x, t)
    turned = written(tmp_path / "turned.csv", ["link2", "link1"], x[:, ::-1], t)
    return plain, turned


def test_shape_takes_columns_by_their_names(
    console: Console, both: tuple[Path, Path], tmp_path: Path
) -> None:
    """Reversed columns under the robot's own names were shaped for another pose."""
    answers = [json.loads(console("shape", f, "--robot", ARM, "--json").out) for f in both]
    assert answers[0]["frequency_hz"] == answers[1]["frequency_hz"]
    at_end = supple.modes(supple.load(ARM), [0.6, 0.9], count=1).frequency_hz
    assert answers[1]["frequency_hz"] == pytest.approx(at_end)
    out = [tmp_path / f"out{k}.csv" for k in (0, 1)]
    for given, place in zip(both, out, strict=True):
        assert console("shape", given, "--robot", ARM, "--out", place).code == 0
    one, other = (supple.load_trajectory(place) for place in out)
    assert one.names == other.names == ("link1", "link2")
    assert other.positions == pytest.approx(one.positions)


def test_a_file_goes_from_command_to_command(
    console: Console, both: tuple[Path, Path], tmp_path: Path
) -> None:
    """shape, then simulate, compare and plan along it: the same whatever the order of columns."""
    shaped = tmp_path / "shaped.json"
    assert console("shape", both[1], "--robot", ARM, "--out", shaped).code == 0
    again = supple.load_trajectory(shaped)
    turned = tmp_path / "turned.yaml"
    supple.Samples(again.t, again.positions[:, ::-1], names=again.names[::-1]).save(turned)
    found = []
    for file in (shaped, turned):
        drive = ("--controller", "pd", "--gains", "60,12:6,1.2", "--duration", "0.2")
        run = json.loads(console("simulate", ARM, "--trajectory", file, *drive, "--json").out)
        task = ("--from", "0,0.2", "--to", "0.6,0.9", "--payload-error", "0")
        words = ("--methods", f"unshaped,{file}", "--elements", "1")
        table = json.loads(console("compare", ARM, *task, *words, "--json").out)
        timed = tmp_path / "timed.csv"
        by = ("--by", "path", "--path", file, "--effort-limit", "5,2", "--out", timed)
        ran = console("plan", ARM, *by)
        assert ran.code == 0, ran.err
        last = supple.load_trajectory(timed)
        assert last.names == ("link1", "link2")
        assert last.goals()[1] == pytest.approx([0.6, 0.9], abs=1e-6)
        tip = np.array(run["tip"])
        found.append((tip, table["methods"][str(file)]["residual"], last.duration))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-4)
    assert found[0][2] == pytest.approx(found[1][2], rel=1e-3)


def test_names_that_do_not_match_are_told(console: Console, tmp_path: Path) -> None:
    t = np.linspace(0, 1, 51)
    x = supple.PointToPoint([0.0, 0.0], [0.6, 0.9], 1.0)(t)[0]
    strange = written(tmp_path / "strange.csv", ["link1", "elbow"], x, t)
    drive = ("--controller", "pd")
    for words in (
        ("shape", strange, "--robot", ARM),
        ("simulate", ARM, "--trajectory", strange, *drive),
        ("compare", ARM, "--from", "0,0", "--to", "0.6,0.9", "--methods", f"unshaped,{strange}"),
        ("plan", ARM, "--by", "path", "--path", strange, "--effort-limit", "5,2"),
    ):
        ran = console(*words)
        assert ran.code == 2
        assert "names elbow: de-luca-two-link has link1, link2" in ran.err
        assert "Traceback" not in ran.err
    nameless = tmp_path / "nameless.csv"
    nameless.write_text(strange.read_text().partition("\n")[2])
    numbered = tmp_path / "numbered.csv"
    numbered.write_text(strange.read_text().replace("link1,elbow", "1,2"))
    for file in (nameless, numbered):  # by position
        ran = console("shape", file, "--robot", ARM, "--json")
        assert ran.code == 0, ran.err
        at_end = supple.modes(supple.load(ARM), [0.6, 0.9], count=1).frequency_hz
        assert json.loads(ran.out)["frequency_hz"] == pytest.approx(at_end)


@pytest.mark.filterwarnings("always")
def test_degrees_are_told_or_read(console: Console, tmp_path: Path) -> None:
    """A file in degrees was a move of several turns, or of 23 s, without a word."""
    t = np.linspace(0, 1.6, 161)
    x = supple.PointToPoint([0.0, 0.0], [0.6, 0.9], 1.6)(t)[0]
    bare = written(tmp_path / "bare.csv", ["link1", "link2"], np.degrees(x), t)
    ran = console("shape", bare, "--robot", ARM, "--speed-limit", "2")
    assert "write 'link1 [deg]' in the header" in ran.err
    assert "are its angles in degrees?" in ran.err
    task = ("compare", ARM, "--from", "0,0", "--to", "0.6,0.9")
    ran = console(*task, "--methods", f"unshaped,{bare}")
    assert ran.code == 2
    assert "it seems to be in degrees" in ran.err
    marked = tmp_path / "marked.csv"
    marked.write_text(bare.read_text().replace("link1,link2", "link1 [deg],link2 [deg]"))
    assert supple.load_trajectory(marked).positions == pytest.approx(x)
    assert supple.load_trajectory(marked).names == ("link1", "link2")
    wrong = tmp_path / "wrong.csv"
    wrong.write_text(bare.read_text().replace("link1,", "link1 [furlong],"))
    ran = console("shape", wrong, "--frequency", "3")
    assert ran.code == 2
    assert "'link1 [furlong]' has a unit that is not known" in ran.err


def test_a_move_to_another_place_is_not_compared() -> None:
    """One to another place "settled first"."""
    arm = supple.load(ARM)
    elsewhere = supple.PointToPoint([0.0, 0.0], [0.6, 0.4], 1.0)
    for given, word in (
        (elsewhere, "ends at 0.4 in link2, the move to compare at 0.9"),
        (supple.PointToPoint([0.1, 0.0], [0.6, 0.9], 1.0), "begins at 0.1 in link1"),
        (supple.CirclePath(), "for 2 coordinates|needs"),
    ):
        with pytest.raises(supple.SuppleError, match=word):
            supple.compare(arm, [0, 0], [0.6, 0.9], methods={"a": "unshaped", "b": given})


def test_efforts_are_taken_by_their_names(console: Console, tmp_path: Path) -> None:
    """The header of a table of efforts was not looked at."""
    t = np.linspace(0.0, 0.2, 21)
    tau = np.column_stack([0.2 * np.sin(20 * t), 0.05 * np.cos(9 * t)])
    plain = written(tmp_path / "plain.csv", ["link1", "link2"], tau, t)
    turned = written(tmp_path / "turned.csv", ["tau.link2", "tau.link1"], tau[:, ::-1], t)
    tips = []
    for file in (plain, turned):
        ran = console("simulate", ARM, "--input", file, "--duration", "0.2", "--json")
        assert ran.code == 0, ran.err
        tips.append(json.loads(ran.out)["tip"])
    assert tips[0] == tips[1]
    model = supple.build(supple.load(ARM), supple.AssumedModes(1))
    run = supple.simulate(model, tau=str(turned), duration=0.2)
    assert run.tau[:, 0] == pytest.approx(np.interp(run.t, t, tau[:, 0]))
    strange = written(tmp_path / "strange.csv", ["link1", "elbow"], tau, t)
    ran = console("simulate", ARM, "--input", strange, "--duration", "0.2")
    assert ran.code == 2
    assert "names elbow: de-luca-two-link has link1, link2" in ran.err


STUBS = {"0.67 ms": 0.67e-3, "1 us": 1e-6}


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS)
def test_a_short_last_step_changes_no_rate(console: Console, tmp_path: Path, stub: float) -> None:
    """125 Hz with a stub at the end became 1,500 samples/s, or a million."""
    move = supple.PointToPoint([0.0], [1.0], 0.8, "quintic")
    t = np.append(np.arange(100) / 125, 99 / 125 + stub)
    file = written(tmp_path / "stub.csv", ["q"], move(t)[0], t)
    answer = json.loads(console("shape", file, "--frequency", "7.2", "--json").out)
    assert answer["rate"] == pytest.approx(125, rel=1e-6)
    assert np.max(answer["residual_after"]) < 1e-4


@pytest.mark.parametrize(
    "gaps",
    [
        np.append(np.tile([1e-5, 8e-3], 100), 1e-5),
        np.tile([1e-6, 1e-6, 8e-3], 100),
        np.append(np.full(1000, 1e-6), np.full(100, 8e-3)),
    ],
    ids=["10 us, 8 ms", "1 us, 1 us, 8 ms", "1,000 of 1 us"],
)
def test_tiny_gaps_set_no_rate(gaps: np.ndarray) -> None:
    """Gaps of 10 us between those of 8 ms asked for 100,000 samples/s: the typical gap counts."""
    t = np.append(0.0, np.cumsum(gaps))
    move = supple.PointToPoint([0.0], [1.0], t[-1], "quintic")
    with pytest.warns(supple.TrajectoryWarning, match="resampled by splines at 12"):
        found = supple.shape(supple.Samples(t, move(t)[0]), "zvd", 7.2, 0.02)
    assert found.rate == pytest.approx(125, rel=0.01)
    assert found.residual_after[0, 0] < 1e-4 * found.residual_before[0, 0]
    again = found.before.at(t)[0]
    assert np.abs(again - move(t)[0]).max() < 1e-6


def test_sparse_way_points_are_told_the_truth() -> None:
    """Twelve points of a planner: what is told is what a spline through the samples leaves."""
    from scipy.integrate import solve_ivp

    move = supple.PointToPoint([0.0], [1.2], 0.62, "quintic")
    t = np.linspace(0, 0.62, 12)
    f = 6.0
    zeta = 0.01
    w = 2 * np.pi * f
    for rate in (None, 1 / t[1]):
        found = supple.shape(supple.Samples(t, move(t)[0]), "zvd", f, zeta, rate=rate)

        def swings(s: float, y: np.ndarray, played=found.at) -> list[float]:
            return [y[1], -(w**2) * y[0] - 2 * zeta * w * y[1] - played(float(s))[2][0]]

        run = solve_ivp(
            swings, (0.0, found.duration), [0.0, 0.0], rtol=1e-9, atol=1e-12, max_step=1e-3
        )
        y, yd = run.y[:, -1]
        left = float(np.hypot(y, (yd + zeta * w * y) / (w * np.sqrt(1 - zeta**2))))
        told = float(found.residual_after[0, 0])
        assert left <= told * 1.01 + 1e-7
        if rate is None:
            assert found.rate >= 50 * f
            assert told < 1e-4 * found.residual_before[0, 0]
        else:
            assert told > 1e-3 * found.residual_before[0, 0]  # so much a spline does leave
