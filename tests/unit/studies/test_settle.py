"""Moves corrected for their own loads: calm on a run of its own, and the move is kept."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from bench.shaking import MOVES, PERIODS, tried

import supple
from supple.studies.drive.settle import leaves

TWO = supple.load("de-luca-two-link")
SIX = Path(__file__).parents[3] / "bench" / "robots" / "six-like-ur5.yaml"


def left(robot: supple.Robot, move: supple.Trajectory, watched: float) -> float:
    """Half of the tip's peak to peak after a move, by `follow`."""
    run = supple.follow(robot, move, elements=2, after=watched, dt=move.duration / 400)
    after = run.moved[run.t >= move.duration, :3]
    return float(np.linalg.norm(np.ptp(after, axis=0)) / 2)


def test_what_it_predicts_is_what_a_run_leaves() -> None:
    """The sum over the modes is an upper bound of half of the tip's peak to peak, and near it."""
    move = supple.ParabolicBlends((0.0, 0.0), (0.3, 0.2), 3.4, 3.4 / 3)
    (found,), run = leaves(TWO, move, bands=[0.0]), left(TWO, move, 9.0)
    assert run < found * 1.02
    assert run > 0.8 * found


def test_a_plain_move_is_calmed_and_kept() -> None:
    """Even a move that was not shaped; its ends and its time stay."""
    move = supple.ParabolicBlends((0.0, 0.0), (0.3, 0.2), 5.0, 5.0 / 3)
    with pytest.warns(supple.CorrectionWarning, match="acceleration of coordinate") as shown:
        calm = supple.settled(TWO, move, band=0.0)
    even = np.linspace(0.0, 5.0, 40001)[1:-1]
    before, after = (np.abs(x(even)[2]).max(axis=0) for x in (move, calm))
    most = float((after / before).max())
    assert most > 1.5
    assert f", {most:.3g} times that of the command" in str(shown[0].message)
    supple.settled(TWO, move, band=0.0, raised=1.01 * most)  # says nothing
    assert calm.duration == move.duration
    for t in (0.0, 5.0):
        assert calm(t)[0] == pytest.approx(move(t)[0], abs=1e-12)
        assert calm(t)[1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert left(TWO, calm, 4.5) < 0.05 * left(TWO, move, 4.5)
    t = np.linspace(0.0, 5.0, 20001)
    x, v, a = calm(t)
    assert np.gradient(x, t, axis=0)[2:-2] == pytest.approx(v[2:-2], abs=1e-4)
    smooth = np.abs(np.diff(a, axis=0)).max(axis=1) < 0.01  # but at the breaks of the trapezoid
    assert np.gradient(v, t, axis=0)[1:][smooth][2:-2] == pytest.approx(
        a[1:][smooth][2:-2], abs=2e-2
    )


@pytest.mark.slow
def test_squares_of_the_speed_on_a_six_joint_arm() -> None:
    """A shaper alone leaves a ninth of the unshaped move here; corrected it leaves far less.

    The payload is a fifth lighter and heavier than the one it was made for.
    """
    move = MOVES["six-joint arm"]
    robot = supple.load(SIX)
    lowest = supple.modes(robot, list(move.end), count=1).frequency_hz[0]
    ends = move.start, move.end
    found = supple.compare(robot, *ends, 1.5 / lowest, ["unshaped", "scheduled"], elements=1)
    unshaped, scheduled = found.worst
    assert scheduled < 0.1 * unshaped
    plain = supple.ParabolicBlends(*ends, 1.5 / lowest, 0.5 / lowest)
    alone = supple.scheduled(robot, plain)
    (calm,), (shaken,) = leaves(robot, supple.settled(robot, alone)), leaves(robot, alone)
    assert calm < 0.3 * shaken


@pytest.mark.slow
def test_a_mechanism_is_calmed_through_the_same_door() -> None:
    """A four-bar, whose loop makes its loads change with the pose."""
    robot = supple.load("four-bar")
    ways = ["unshaped", "scheduled"]
    found = supple.compare(robot, [1.05], [1.55], methods=ways, elements=1, payload_error=0)
    unshaped, scheduled = found.worst
    assert scheduled < 0.1 * unshaped


def judge_correction(seed: int) -> None:
    """A random move, settled once and again: never more left than before, on a finer model.

    The second time next to nothing is left to correct.
    """
    rng = np.random.default_rng(seed)
    lowest = float(supple.modes(TWO, [0.0, 0.3], count=1).frequency_hz[0])
    start = rng.uniform(-0.5, 0.5, 2)
    end = start + rng.uniform(-0.6, 0.6, 2)
    law = ("cubic", "quintic", "septic")[seed % 3]
    move: supple.Trajectory = supple.PointToPoint(start, end, rng.uniform(1.5, 30) / lowest, law)
    band = (0.0, 0.05, 0.1)[seed // 3 % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.CorrectionWarning)
        for _ in range(2):
            calm = supple.settled(TWO, move, band=band)
            (before,), (after,) = (leaves(TWO, m, [band], elements=2) for m in (move, calm))
            assert after <= before * (1 + 1e-9) + 1e-9, (seed, before, after)
            move = calm


@pytest.mark.parametrize("seed", range(3))
def test_never_worse_than_before(seed: int) -> None:
    judge_correction(seed)


@pytest.mark.soak
def test_thirty_moves_are_never_worse_than_before() -> None:
    for seed in range(30):
        judge_correction(seed)


@pytest.mark.soak
@pytest.mark.parametrize("periods", PERIODS)
@pytest.mark.parametrize("name", MOVES)
def test_every_move_of_the_three_robots(name: str, periods: float) -> None:
    """1.5 periods and five random durations: scheduled ten times calmer, optimised faster."""
    found = tried(MOVES[name], periods)
    unshaped, zvd, scheduled, optimised = found.worst
    assert scheduled < 0.1 * unshaped
    assert found.duration[3] < found.duration[1:3].min()
    assert optimised <= zvd


def test_bad_input() -> None:
    with pytest.raises(supple.SuppleError, match="repeats"):
        supple.settled(supple.load("kuo-delta"), supple.CirclePath())
    with pytest.raises(supple.SuppleError, match="cannot read move"):
        supple.settled(TWO, "move")  # type: ignore[arg-type]
