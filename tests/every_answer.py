"""One small answer of every kind, made once, for tests that walk them all."""

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.papers.cells import Cell, Claim, as_printed, gap


@cache
def arm() -> supple.Robot:
    return supple.load("industrial-3")


@cache
def small_model() -> supple.Model:
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))


@cache
def sliding_model() -> supple.Model:
    return supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))


def damped_model() -> supple.Model:
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1), damping=0.05)


def _there_and_back() -> supple.Trajectory:
    move = supple.ParabolicBlends((0, 0, 0.3), (0.1, -0.1, 0.4), 0.2, 0.05)
    return supple.Repeated(move)


@cache
def _ringing() -> dict[str, Any]:
    t = np.arange(0, 4, 1 / 200)
    decay = np.exp(-0.02 * 2 * np.pi * 7.0 * t) * np.cos(2 * np.pi * 7.0 * t)
    noise = np.random.default_rng(0).standard_normal(len(t))
    return {"t": t, "accel": decay + 0.01 * noise}


def _lines() -> dict[str, Any]:
    f = supple.modes(arm(), [0.0, 0.2, 0.3], count=3).frequency_hz
    noisy = f * (1 + 1e-3 * np.array([1.0, -1.0, 0.5]))
    return {
        "theta.link2": [0.2] * 3,
        "theta.link3": [0.3] * 3,
        "frequency_hz": noisy,
        "mode": [1.0, 2.0, 3.0],
    }


MAKERS: dict[str, Callable[[], Any]] = {
    "Resonances": lambda: supple.resonances(_ringing()),
    "Calibration": lambda: supple.calibrate(_ringing()),
    "Identification": lambda: supple.identify(arm(), _lines(), ["links.link1.section.wall"]),
    "MeasurementPlan": lambda: supple.where_to_measure(
        arm(), ["links.link1.section.wall"], np.eye(3), 2
    ),
    "Modes": lambda: supple.modes(arm(), [0.1, 0.2, 0.3], count=3),
    "Modes, many": lambda: supple.modes(arm(), np.eye(3), count=3),
    "Modes of a Delta": lambda: supple.modes(
        supple.load("kuo-delta"), position=[0.1, 0, 0.5], count=3
    ),
    "Modes by elements": lambda: supple.modes(arm(), count=3, method="elements", elements=2),
    "Shapes": lambda: supple.modes(arm(), count=2).shapes,
    "Statics": lambda: supple.statics(arm(), force=[0, 1, 0]),
    "Statics, many": lambda: supple.statics(arm(), np.eye(3), force=[0, 1, 0]),
    "JointMap": lambda: supple.workspace(arm(), points=2),
    "WorkspaceMap": lambda: supple.workspace(supple.load("kuo-delta"), points=2),
    "Mobility": lambda: supple.mobility(supple.load("five-bar")),
    "Check": lambda: supple.check(arm(), [0.1, 0.2, 0.3]),
    "Pose": lambda: supple.forward(arm(), [0.1, 0.2, 0.3]),
    "JointSolutions": lambda: supple.inverse(arm(), [2.0, 0.5, 0.0]),
    "FrequencyResponse": lambda: supple.response(
        arm(), [0.1, 0.2, 0.3], [1.0, 2.0], inputs=["force.y"], outputs=["tip.y"]
    ),
    "ShapedMove": lambda: supple.shape(
        supple.PointToPoint((0, 0), (0.1, 0), 0.2), "zv", 7.2, rate=100.0
    ),
    "Inversion": lambda: supple.invert(
        damped_model(), supple.PointToPoint((0, 0), (0.1, 0), 0.2), window=(-0.1, 0.3)
    ),
    "Compensation": lambda: supple.compensate(
        supple.load("de-luca-two-link"),
        supple.PointToPoint((0.2, 0.8), (0.7, 1.1), 3.0),
        rounds=1,
    ),
    "Comparison": lambda: supple.compare(
        supple.load("de-luca-two-link"),
        [0, 0],
        [0.1, 0.05],
        0.5,
        ["unshaped", "zv"],
        payload_error=0.0,
        elements=1,
        after=0.5,
    ),
    "Theories": lambda: supple.theories(arm(), [0.1, 0.2, 0.3], count=2),
    "Characteristic": lambda: supple.characteristic(arm(), [0.1, 0.2, 0.3], count=2),
    "Export": lambda: supple.export(
        small_model(), to="c", path=str(Path(tempfile.mkdtemp()) / "arm")
    ),
    "Validation": lambda: supple.validate(arm(), [0.1, 0.2, 0.3], engines=["pinocchio"]),
    "Tolerances": lambda: supple.tolerances(arm(), {"links.link1.length": 0.01}, count=2),
    "Tracks": lambda: supple.track(arm(), {"theta.link2": [0.0, 0.1]}, 2),
    "Band": lambda: supple.stopband(arm(), (1.0, 2.0), {"theta.link2": (0.0, 0.1)}),
    "Optimum": lambda: supple.optimise(
        arm(), {"links.link1.section.wall": (0.009, 0.011)}, at=[[0, 0, 0]], tolerance=1e-3
    ),
    "StaticSensitivities": lambda: supple.static_sensitivities(
        arm(), parameters=["links.link1.length"], force=[0, -1, 0]
    ),
    "Sensitivities": lambda: supple.sensitivities(
        arm(), [0.1, 0.2, 0.3], parameters=["links.link1.length", "theta.link2"], count=2
    ),
    "AssumedResult": lambda: supple.assumed_modes(small_model()),
    "Response": lambda: supple.simulate(small_model(), tau=[0.1, 0.0], duration=0.01),
    "PathResponse": lambda: supple.follow(
        arm(), supple.PointToPoint((0, 0, 0), (0.01, 0, 0), 0.05), elements=1
    ),
    "PathResponse, damped": lambda: supple.follow(
        arm(), supple.PointToPoint((0, 0, 0), (0.01, 0, 0), 0.05), elements=1, damping=0.02
    ),
    "StateSpace": lambda: supple.linearize(small_model(), outputs=["joints", "tip"]),
    "Margins": lambda: supple.margins(small_model(), supple.JointPD(10.0, 2.0)),
    "Stability": lambda: supple.stability(sliding_model(), _there_and_back().there, samples=11),  # type: ignore[attr-defined]
    "Floquet": lambda: supple.floquet(sliding_model(), _there_and_back()),
    "Regressor": lambda: supple.regressor(small_model()),
    "Reproduction": lambda: supple.Reproduction(
        "made-up",
        "[Nobody]",
        (Cell("Table 1", "0,0", "T", 1, "12.3", 12.3123, (as_printed("12.3"),)),),
        (Claim("Figure 1", "it rings", "it does", (gap("off", 0.0, 1e-9),)),),
    ),
}


@cache
def answer(name: str) -> Any:
    return MAKERS[name]()
