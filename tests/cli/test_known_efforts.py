"""Efforts known beforehand beside a controller, efforts that are cut off, moves within efforts."""

import json
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console

ARM = supple.load("de-luca-two-link")
MODEL = supple.build(ARM, supple.AssumedModes(1))
MOVE = supple.PointToPoint([0.0, 0.2], [0.5, 0.5], 0.8)
T = np.linspace(0.0, 0.8, 41)
TAU = np.column_stack([0.3 * np.sin(2 * np.pi * T / 0.8), -0.1 * np.sin(2 * np.pi * T / 0.8)])


def test_known_efforts_are_added_to_those_of_a_law() -> None:
    """A law without gains leaves them alone; one with gains does what a function says."""
    known = supple.Table(T, TAU)
    with_nothing = supple.simulate(
        MODEL, tau=known, controller=supple.JointPD(0.0, 0.0), trajectory=MOVE, dt=0.02
    )
    theta0 = MOVE.at(0.0)[0]
    alone = supple.simulate(MODEL, tau=known, theta0=theta0, duration=0.8, dt=0.02)
    assert with_nothing.q == pytest.approx(
        np.stack([np.interp(with_nothing.t, alone.t, column) for column in alone.q.T], axis=1),
        abs=1e-7,
    )

    def law(t, q, qd, reference):
        r, rd, _ = reference
        added = [np.interp(t, T, column) for column in TAU.T]
        return 20.0 * (r - q[:2]) + 2.0 * (rd - qd[:2]) + added

    ours = supple.simulate(
        MODEL, tau=known, controller=supple.JointPD(20.0, 2.0), trajectory=MOVE, dt=0.02
    )
    theirs = supple.simulate(MODEL, controller=law, trajectory=MOVE, dt=0.02)
    at = np.stack([np.interp(ours.t, theirs.t, column) for column in theirs.theta.T], axis=1)
    assert ours.theta == pytest.approx(at, abs=2e-5)
    again = supple.simulate(
        MODEL,
        tau=known,
        controller=lambda t, q, qd, ref: 20 * (ref[0] - q[:2]) + 2 * (ref[1] - qd[:2]),
        trajectory=MOVE,
        dt=0.02,
    )
    assert again.theta[-1] == pytest.approx(ours.theta[-1], abs=2e-5)
    sampled = supple.Sampled(supple.JointPD(20.0, 2.0), period=5e-4)
    close = supple.simulate(MODEL, tau=known, controller=sampled, trajectory=MOVE, dt=0.02)
    assert close.theta[-1] == pytest.approx(ours.theta[-1], abs=5e-3)


def test_laws_that_know_the_acceleration_take_no_efforts() -> None:
    with pytest.raises(supple.SuppleError, match="finds its own feed-forward"):
        supple.simulate(MODEL, tau=[0.1, 0.1], controller=supple.Decoupling(), trajectory=MOVE)
    with pytest.raises(supple.SuppleError, match="put it into the controller"):
        supple.simulate(
            MODEL,
            tau=lambda t, q, qd: q[:2],
            controller=supple.JointPD(20, 2),
            trajectory=MOVE,
        )


def test_efforts_are_cut_off() -> None:
    """Against a function that does the same with NumPy."""
    law = supple.Clipped(supple.JointPD(60.0, 6.0), (0.4, 0.1))
    run = supple.simulate(MODEL, controller=law, trajectory=MOVE, dt=0.02)
    assert np.abs(run.tau).max(axis=0) == pytest.approx([0.4, 0.1])

    def function(t, q, qd, reference):
        asked = 60 * (reference[0] - q[:2]) + 6 * (reference[1] - qd[:2])
        return np.clip(asked, [-0.4, -0.1], [0.4, 0.1])

    same = supple.simulate(MODEL, controller=function, trajectory=MOVE, dt=0.02)
    assert run.theta[-1] == pytest.approx(same.theta[-1], abs=1e-3)
    with pytest.raises(supple.SuppleError, match="the robot names none"):
        supple.simulate(MODEL, controller=supple.Clipped(supple.JointPD(60, 6)), trajectory=MOVE)


def test_a_calm_move_keeps_efforts() -> None:
    """By the inverse dynamics of the rigid arm, which is what limits it."""
    free = supple.calm_move(ARM, [0, 0], [0.6, 0.4], 2.0, 8.0)
    rigid = supple.build(
        ARM.with_({f"links.link{k}.theory": "rigid" for k in (1, 2)}), supple.AssumedModes(1)
    )

    def peak(move: supple.Trajectory) -> np.ndarray:
        x, v, a = move.at(np.linspace(0, move.duration, 2001))
        return np.abs(rigid.inverse_dynamics(x, v, a)).max(axis=0)

    limit = 0.3 * peak(free)
    found = supple.calm_move(ARM, [0, 0], [0.6, 0.4], 2.0, 8.0, effort_limit=limit)
    used = (peak(found) / limit).max()
    assert 0.9 < used <= 1.01
    assert found.duration > free.duration
    with pytest.raises(supple.SuppleError, match="times effort_limit"):
        supple.calm_move(
            ARM, [0, 0], [0.6, 0.4], 2.0, 8.0, effort_limit=limit, duration=free.duration
        )


def test_compare_says_which_method_needs_too_much() -> None:
    found = supple.compare(
        ARM,
        [0, 0],
        [0.6, 0.4],
        methods=["unshaped", "zvd"],
        payload_error=0,
        elements=1,
        effort_limit=[0.05, 10.0],
    )
    assert any("unshaped needs" in note and "of link1" in note for note in found.notes)
    servo = supple.compare(
        ARM,
        [0, 0],
        [0.6, 0.4],
        methods=["unshaped"],
        payload_error=0,
        servo=supple.JointPD(60.0, 12.0),
        effort_limit=0.5,
    )
    assert servo.peak_effort.max() <= 0.5 * (1 + 1e-9)


def test_runs_are_drawn_with_what_was_wanted_and_measured(tmp_path: Path) -> None:
    run = supple.simulate(
        MODEL,
        controller=supple.JointPD(20.0, 2.0),
        trajectory=MOVE,
        dt=0.02,
        outputs={"gauge": supple.Strain("link1", 0.0, 1e-3), "end": supple.Tip()},
    )
    assert run.reference == pytest.approx(MOVE.at(run.t)[0])
    figure = run.plot(tmp_path / "run.png")
    labels = [
        text.get_text()
        for ax in figure.axes
        if ax.get_legend()
        for text in ax.get_legend().get_texts()
    ]
    assert "link1 wanted" in labels
    heads = [ax.get_ylabel() for ax in figure.axes]
    assert {"gauge, measured", "end, measured"} <= set(heads)
    run.save(tmp_path / "run.nc")
    assert supple.load_response(tmp_path / "run.nc").reference == pytest.approx(run.reference)


@pytest.mark.parametrize(
    "words",
    [
        ("lqr", "--weights", "10,1"),
        ("lqg", "--period", "0.002", "--weights", "10,1"),
        ("pd", "--gains", "60,12:6,1.2", "--effort-limit", "0.5,0.2"),
        ("pd", "--gains", "60,6", "--effort-limit", "0.5", "--period", "0.002"),
    ],
    ids=" ".join,
)
def test_laws_of_the_command_line(console: Console, tmp_path: Path, words: tuple) -> None:
    place = tmp_path / "move.csv"
    MOVE.save(place, rate=200)
    drive = ("--trajectory", place, "--modes", "1", "--dt", "0.02", "--controller", *words)
    ran = console("simulate", "de-luca-two-link", *drive, "--json")
    assert ran.code == 0, ran.err
    answer = json.loads(ran.out)
    assert answer["complete"]
    if "--effort-limit" in words:
        assert np.abs(answer["tau"])[:, 0].max() <= 0.5 + 1e-12


def test_known_efforts_of_the_command_line(console: Console, tmp_path: Path) -> None:
    place = tmp_path / "move.csv"
    efforts = tmp_path / "tau.csv"
    MOVE.save(place, rate=200)
    rows = np.column_stack([T, TAU[:, ::-1]])
    np.savetxt(efforts, rows, delimiter=",", header="t,link2,link1", comments="")
    drive = ("--trajectory", place, "--controller", "pd", "--gains", "20,2", "--modes", "1")
    words = ("simulate", "de-luca-two-link", *drive, "--dt", "0.02", "--json")
    answer = json.loads(console(*words, "--feed-forward", efforts).out)
    ours = supple.simulate(
        MODEL,
        tau=supple.Table(T, TAU),
        controller=supple.JointPD(20.0, 2.0),
        trajectory=MOVE,
        dt=0.02,
    )
    assert np.array(answer["q"])[-1, :2] == pytest.approx(ours.theta[-1], abs=1e-4)


def test_stability_says_stable_or_not_first() -> None:
    robot = supple.load("theodore-rrp")
    model = supple.build(robot, supple.AssumedModes(1))
    from supple.control.trajectories import NAMED

    found = supple.stability(model, NAMED["retraction"], samples=41, tolerance=1e-6)
    assert found.text.splitlines()[0] == found.verdict
    assert found.stable
    assert found.verdict.startswith("Stable: ")
    each = [
        supple.free_growth(model, NAMED["retraction"], phase=phase)["action"]
        for phase in (0.0, 0.7, 1.4, 2.1)
    ]
    assert max(each) <= found.growth * (1 + 1e-6)  # no start does more than the worst one
