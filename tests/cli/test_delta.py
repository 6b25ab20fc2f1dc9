"""The Delta from the command line: modes at a position, motion along a path, the paper."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray

import supple
from cli.console import Console
from pictures import shows, written_figures
from supple.architectures.delta import inverse
from supple.papers.cells import right_number


def test_modes_at_a_position(console: Console) -> None:
    run = console("modes", "kuo-delta", "--position", "0.1,0,0.5", "--count", "8", "--json")
    document = json.loads(run.out)
    assert document["certified"] is True
    wanted = np.array(right_number("Kuo2016", "right"), float)  # six digits of elements above it
    assert document["omega"] == pytest.approx(wanted, rel=1e-5)


def test_modes_at_motor_angles(console: Console) -> None:
    angles = ",".join(f"{text}deg" for text in right_number("Kuo2016", "angles"))
    run = console("modes", "kuo-delta", "--at", angles, "--json")
    # angles to 5e-4 deg = 9e-6 rad, for P = (0.1, 0, 0.5)
    wanted = float(right_number("Kuo2016", "right")[0])
    assert json.loads(run.out)["omega"][0] == pytest.approx(wanted, rel=1e-4)


def test_out_of_reach_is_one_sentence(console: Console) -> None:
    run = console("modes", "kuo-delta", "--position", "2,0,0")
    assert run.code == 2
    assert "out of reach of leg 1, 2, 3" in run.err
    assert "Traceback" not in run.err


def test_inverted_u(console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = tmp_path / "out.png"
    figures = written_figures(monkeypatch)
    run = console("simulate", "kuo-delta", "--path", "inverted-u", "--plot", str(picture))
    assert run.code == 0
    assert "72 unknowns" in run.out
    assert "after the stop" in run.out
    assert "Warning: links of kuo-delta bend" in run.out
    assert picture.exists()
    with pytest.warns(supple.SmallRangeWarning):
        found = supple.follow(supple.load("kuo-delta"), supple.InvertedU(), after=0.4)
    for curve in found.moved.T:
        assert shows(figures[0], curve)


def test_circle_as_json(console: Console) -> None:
    run = console("simulate", "kuo-delta", "--path", "circle", "--elements", "1", "--json")
    document = json.loads(run.out)
    assert document["path"] == "circle"
    assert len(document["t"]) == len(document["torque"]) == len(document["displacement"])


def test_a_controller_makes_it_the_coupled_model(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = written_figures(monkeypatch)
    picture = tmp_path / "out.png"
    stored = tmp_path / "out.nc"
    run = console(
        *("simulate", "kuo-delta", "--path", "inverted-u", "--controller", "computed-torque"),
        *("--static", "--dt", "0.01", "--duration", "0.2"),
        *("--plot", str(picture), "--save", str(stored)),
    )
    assert run.code == 0
    assert "rigid and elastic motion together, 39 coordinates" in run.out
    assert "largest distance from its path" in run.out
    assert "loops are closed to" in run.out
    again = supple.load_response(stored)
    assert again.t[-1] == pytest.approx(0.2)
    for curve in (*again.theta.T, *again.tau.T):
        assert shows(figures[0], curve)


def test_coupled_as_json(console: Console) -> None:
    law = ["--controller", "pd", "--gains", "200,5", "--modes", "1", "--duration", "0.05"]
    run = console("simulate", "kuo-delta", "--path", "circle", *law, "--dt", "0.005", "--json")
    document = json.loads(run.out)
    assert document["complete"] is True
    assert document["coordinates"][:3] == ["theta.upper1", "theta.upper2", "theta.upper3"]
    assert len(document["t"]) == len(document["tip"]) == len(document["closure"]) == 11
    assert max(document["closure"]) < 1e-9


def test_torques_and_joint_trajectories(console: Console) -> None:
    short = ["--modes", "1", "--duration", "0.02", "--dt", "0.005", "--json"]
    free = console("simulate", "kuo-delta", "--position", "0,0,0.5", "--amplitude", "2", *short)
    assert json.loads(free.out)["tau"][0] == [2.0, 2.0, 2.0]
    motors = ["--trajectory=-0.4,-0.4,-0.4:-0.5,-0.4,-0.4", "--controller", "decoupling"]
    led = console("simulate", "kuo-delta", *motors, *short)
    assert json.loads(led.out)["q"][0][:3] == [-0.4, -0.4, -0.4]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["kuo-delta"], "say where it goes"),
        (["kuo-delta", "--controller", "pd"], "or --path of a Delta's platform"),
        (
            ["kuo-delta", "--path", "circle", "--controller", "lqg"],
            "lqg is made for joints",
        ),
        (
            ["kuo-delta", "--path", "circle", "--trajectory", "0,0,0:1,1,1", "--controller", "pd"],
            "give one of them",
        ),
        (["kuo-delta", "--position", "0,0,9"], "out of reach"),
        (["kuo-delta", "--position", "0,0,0.5", "--at", "0,0,0"], "instead of theta0"),
        (["kuo-delta", "--at", "0,0,0", "--deflection", "paper"], "one reading"),
        (["industrial-3", "--path", "circle", "--controller", "pd"], "is no Delta"),
        (["industrial-3", "--position", "0,0,1"], "--position is for a Delta"),
        (["kuo-delta", "--path", "inverted-v"], "did you mean inverted-u?"),
        (["industrial-3", "--path", "circle"], "is no Delta"),
    ],
)
def test_bad_paths(console: Console, words: list[str], sentence: str) -> None:
    run = console("simulate", *words)
    assert run.code == 2
    assert sentence in run.err


def test_way_points_of_platform_and_joints(console: Console, tmp_path: Path) -> None:
    stored = tmp_path / "run.nc"
    run = console(
        "simulate", "kuo-delta", "--path", "0,0,0.5:0.05,0,0.5", "--limits", "0.5,5",
        "--elements", "1", "--dt", "0.004", "--after", "0.2", "--save", str(stored), "--json",
    )  # fmt: skip
    document = json.loads(run.out)
    # septic law: max s' = 35/16, max |s''| = 7.5132 for d = 0.05
    assert document["t"][-1] == pytest.approx(0.2 + (7.5132 * 0.05 / 5) ** 0.5, abs=1e-4)
    assert len(document["residual"]) == 6
    with xarray.open_dataset(stored) as data:
        assert data.t.values == pytest.approx(document["t"])
        assert data.wanted.values[[0, -1]] == pytest.approx(np.array([[0, 0, 0.5], [0.05, 0, 0.5]]))
        assert np.abs(data.displacement.values).max() > 0
    arm = console("simulate", "industrial-3", "--path", "0,0,0:30deg,0,10deg", "--dt", "0.01")
    assert arm.code == 0
    assert "link1, N m" in arm.out
    assert "after the stop" in arm.out


def test_where_it_is_low(console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = written_figures(monkeypatch)
    picture = tmp_path / "map.png"
    words = ["workspace", "kuo-delta", "--below", "20rad/s", "--points", "7", "--z", "0.5"]
    run = console(*words, "--plot", str(picture))
    assert run.code == 0
    assert "49 of 49 can be reached" in run.out
    assert "below 3.183 Hz (20 rad/s)" in run.out
    document = json.loads(console(*words, "--json").out)
    assert "hatched below 3.18 Hz" in figures[0].get_suptitle().replace("\n", " ")
    low, high = figures[0].axes[-1].get_ylim()
    every = np.array(document["omega"]) / (2 * np.pi)
    assert (low, high) == pytest.approx((np.nanmin(every), np.nanmax(every)), rel=1e-3)
    assert document["share_below"] == pytest.approx(len(document["points_below"]) / 49)
    assert (
        min(min(row) for plane in document["omega"] for row in plane) == document["lowest"]["omega"]
    )
    arm = console(
        "workspace", "industrial-3", "--points", "5", "--joints", "0,0:90deg,0:1", "--json"
    )
    assert list(json.loads(arm.out)["axes"]) == ["link1", "link2", "link3"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["kuo-delta", "--below", "low"], "give a positive frequency"),
        (["kuo-delta", "--z", "3"], "no point of this map can be reached"),
        (["kuo-delta", "--joints", "0:1"], "over x, y and z"),
        (["kuo-delta", "--x", "0:1:2"], "give a range from:to"),
        (["industrial-3", "--joints", "0:1"], "joints has 1 entries"),
        (["industrial-3", "--points", "300"], "the grid has 27,000,000 points"),
    ],
)
def test_bad_maps(console: Console, words: list[str], sentence: str) -> None:
    run = console("workspace", *words)
    assert run.code == 2
    assert sentence in run.err
    assert "Traceback" not in run.err


def test_linearize_takes_a_platform_position(console: Console) -> None:
    ran = console("linearize", "kuo-delta", "--position", "0,0,0.5", "--json")
    found = json.loads(ran.out)
    angles = inverse(supple.load("kuo-delta"), [0, 0, 0.5])[0, :, 0]
    assert found["q"][:3] == pytest.approx(angles.tolist(), abs=1e-12)
