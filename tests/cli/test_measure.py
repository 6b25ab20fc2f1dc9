"""The commands of measurements: from a recording to a fitted robot file."""

import json

import numpy as np
from typer.testing import CliRunner

import supple
from supple.cli import app

RUN = CliRunner()


def test_from_recording_to_robot_file(tmp_path):
    robot = supple.load("industrial-3")
    truth = robot.with_("links.link1.section.wall", 0.011)
    t = np.arange(0, 10, 1 / 400)
    rng = np.random.default_rng(0)
    y = 0.01 * rng.standard_normal(len(t))
    for f in supple.modes(truth, [0, 0.5, 0.3], count=2).frequency_hz:
        y = y + np.exp(-0.01 * 2 * np.pi * f * t) * np.cos(2 * np.pi * f * t)
    np.savetxt(tmp_path / "ring.csv", np.c_[t, y], delimiter=",", header="t,a", comments="")
    lines = tmp_path / "lines.csv"
    done = RUN.invoke(
        app, ["resonances", str(tmp_path / "ring.csv"), "--out", str(lines), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.output)["frequency_hz"]) == 2
    fitted = tmp_path / "fitted.yaml"
    words = ["identify", "industrial-3", str(lines), "--free", "links.link1.section.wall"]
    words += ["--at", "0,0.5,0.3", "--out", str(fitted), "--save", str(tmp_path / "fit.html")]
    done = RUN.invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.output)["values"]["links.link1.section.wall"]
    assert abs(value - 0.011) < 2e-4
    assert supple.load(str(fitted)).links[0].name == "link1"
    assert (tmp_path / "fit.html").stat().st_size > 10_000
    done = RUN.invoke(
        app,
        [
            *("where-to-measure", "industrial-3", "--free", "payload.mass", "--count", "2"),
            *("--over", "theta.link2=-1:1:5", "--over", "theta.link3=-1:1:5"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "payload.mass" in done.output
