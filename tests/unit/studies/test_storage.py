"""What is saved is loaded again, whatever the links are called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray

import supple
from supple.files.data import read_dataset


@pytest.fixture(scope="module")
def ros() -> supple.Model:
    """An arm whose links are named as ROS does: arm/forearm."""
    robot = supple.load("de-luca-two-link").with_(
        {"links.link1.name": "arm/upper", "links.link2.name": "arm/50%"}
    )
    return supple.build(robot, supple.AssumedModes(1))


def test_outputs_of_a_run_come_back(ros: supple.Model, tmp_path: Path) -> None:
    outputs = {
        "arm/upper root": supple.Strain("arm/upper"),
        "tip": supple.Tip(),
        "output_x": supple.Encoder("arm/50%"),
    }
    run = supple.simulate(
        ros, supple.Step([0.1, 0.0]), duration=0.02, step=1e-4, method="rk4", outputs=outputs
    )
    run.save(tmp_path / "run.nc")
    back = supple.load_response(tmp_path / "run.nc")
    assert list(back.outputs) == list(run.outputs)
    for name, values in run.outputs.items():
        np.testing.assert_array_equal(back.outputs[name], values)
    assert (back.step, back.openness, back.exchanged) == (run.step, run.openness, run.exchanged)
    assert (back.q == run.q).all()


@pytest.mark.parametrize("period", [None, 1e-3])
def test_a_linear_model_comes_back(ros: supple.Model, tmp_path: Path, period: float | None) -> None:
    from dataclasses import replace

    outputs = [supple.Tip(), supple.Strain("arm/upper")]
    linear = replace(supple.linearize(ros, [0.0, 0.5], outputs=outputs), period=period)
    linear.save(tmp_path / "linear.nc")
    back = supple.load_linear(tmp_path / "linear.nc")
    assert back == linear
    assert back.inputs == ("tau.arm/upper", "tau.arm/50%")
    with pytest.raises(supple.SuppleError, match="is not a response"):
        supple.load_response(tmp_path / "linear.nc")


def test_what_is_no_linear_model_is_a_sentence(ros: supple.Model, tmp_path: Path) -> None:
    run = supple.simulate(ros, duration=0.01)
    run.save(tmp_path / "run.nc")
    with pytest.raises(supple.SuppleError, match="it holds no A; give a file written by"):
        supple.load_linear(tmp_path / "run.nc")
    linear = supple.linearize(ros, [0.0, 0.5]).to_xarray().copy(deep=True)
    linear["A"] = linear["A"].copy(data=np.array(linear["A"]))
    linear["A"][0, 0] = np.nan
    linear.to_netcdf(tmp_path / "nan.nc")
    with pytest.raises(supple.SuppleError, match="not finite"):
        supple.load_linear(tmp_path / "nan.nc")
    linear.drop_vars("state").to_netcdf(tmp_path / "names.nc")
    with pytest.raises(supple.SuppleError, match=r"cannot read .* as a linear model"):
        supple.load_linear(tmp_path / "names.nc")


def test_a_sweep_over_links_with_slashes_is_saved(ros: supple.Model, tmp_path: Path) -> None:
    found = supple.sweep(ros.robot, over={"theta.arm/upper": [0.0], "theta.arm/50%": [0.0, 0.5]})
    from supple.files.data import write_dataset

    write_dataset(found, tmp_path / "o.nc")
    with xarray.open_dataset(tmp_path / "o.nc") as plain:  # what other programs see
        assert "theta.arm%2Fupper" in plain.coords
    back = read_dataset(tmp_path / "o.nc", "a sweep")
    xarray.testing.assert_identical(back, found)


ANSWERS = {
    "modes": lambda model: supple.modes(model.robot, [0.0, 0.5], count=3),
    "statics": lambda model: supple.statics(model.robot, [0.0, 0.5]),
    "response": lambda model: supple.response(
        model.robot,
        [0.0, 0.5],
        [1.0, 2.0],
        inputs=["tau.arm/upper"],
        outputs=["tip.y", supple.Strain("arm/upper", 0, 1)],
    ),
    "sensitivities": lambda model: supple.sensitivities(
        model.robot, [0.0, 0.5], parameters=["links.arm/upper.length"], count=2
    ),
    "tracks": lambda model: supple.track(model.robot, {"theta.arm/50%": [0.0, 0.1, 0.2]}, count=2),
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_answer_about_links_with_slashes_is_saved(
    ros: supple.Model, tmp_path: Path, kind: str
) -> None:
    found = ANSWERS[kind](ros)
    found.save(tmp_path / "answer.nc")
    assert read_dataset(tmp_path / "answer.nc", "an answer").attrs["robot"]
