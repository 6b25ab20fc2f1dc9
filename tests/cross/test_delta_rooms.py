"""The Delta by the mechanism that it is, against answers of the equations it once had of its own.

`data/delta-rooms.json` was written by `answers` with the code of commit 149723d, whose Delta was
three open legs in symbols of their own, tied to a platform in the base's axes.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.architectures import delta
from supple.outputs.measuring import evaluator
from supple.outputs.output import Output

STORED = json.loads((Path(__file__).parent / "data" / "delta-rooms.json").read_text())
PAIRS = {"lower.rods": "parallelogram", "lower.spacing": 0.08}
MOTOR = {"motor.rotor_inertia": 0.02, "motor.damping": 0.3, "motor.friction": 0.1}
LOADED = {"payload": {"mass": 0.3, "com": [0.01, 0.0, 0.02]}, "gravity": [3.0, -2.0, 9.0]}
BEARING = {"translation": [2e6, None, 3e6], "rotation": [None, None, 5e3]}
CASES: dict[str, tuple[dict[str, Any], supple.Basis]] = {
    "single": ({}, supple.AssumedModes(1)),
    "twist": ({"lower.rods": "twist"}, supple.AssumedModes(1)),
    "parallelogram": (PAIRS, supple.AssumedModes(1)),
    "single-sprung": (
        {**MOTOR, **LOADED, "motor.stiffness": 300.0, "lower.roll": 0.3},
        supple.AssumedModes([1, 2], axial=1),
    ),
    "twist-rolled": (
        {**MOTOR, **LOADED, "lower.rods": "twist", "upper.roll": 0.2, "lower.roll": 0.3},
        supple.AssumedModes(1),
    ),
    "parallelogram-borne": (
        {**PAIRS, **MOTOR, **LOADED, "motor.bearing": BEARING},
        supple.AssumedModes(1),
    ),
}
PLACES = ([0.05, -0.08, 0.55], [-0.06, 0.03, 0.65])


def made(case: str) -> supple.Model:
    changes, basis = CASES[case]
    return supple.build(supple.load("kuo-delta").with_(changes), basis)


def states(model: supple.Model) -> list[np.ndarray]:
    """Two bent states."""
    rng = np.random.default_rng(5)
    out = []
    for place in PLACES:
        q = 1e-4 * rng.normal(size=model.size)
        q[:3] = delta.inverse(model.robot, place)[0, :, 0]
        out.append(q)
    return out


def answers(model: supple.Model) -> dict[str, Any]:
    """Every function of a Model at two bent states, and its linearised frequencies at one."""
    out: dict[str, Any] = {"coordinates": list(model.coordinates)}
    rng = np.random.default_rng(7)
    n = model.size
    for k, q in enumerate(states(model)):
        qd = 0.1 * rng.normal(size=n)
        qdd = rng.normal(size=n)
        qd[:3] = rng.normal(size=3)
        tau = rng.normal(size=3)
        wrench = rng.normal(size=6)
        A, B, C = model.derivatives(q, qd, tau)
        out |= {
            f"{word}.{k}": np.asarray(value).tolist()
            for word, value in {
                "tip": model.tip(q),
                "mass": model.mass_matrix(q) @ qdd,
                "bias": model.bias(q, qd),
                "gravity": model.gravity(q),
                "energies": list(model.energies(q, qd).values()),
                "inverse": model.inverse_dynamics(q, qd, qdd),
                "forward": model.forward_dynamics(q, qd, tau),
                "loaded": model.forward_dynamics(q, qd, tau, wrench),
                "slopes": A @ q + B @ qd + C @ tau,
                "deflection": model.deflection_at(q, "upper2", 0.7),
            }.items()
        }
    rest = model.chain.pose(np.asarray(q[:3]))
    out["frequencies"] = supple.linearize(model, rest).frequencies.tolist()
    return out


def run(model: supple.Model, **steps: float) -> supple.Response:
    """Torques on legs at rest, for a hundredth of a second."""
    q = model.chain.pose(delta.inverse(model.robot, PLACES[0])[0, :, 0])
    given = {"q0": q, "duration": 0.01, "limits": False, "method": "gauss", **steps}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return supple.simulate(model, [2.0, 1.0, 1.5], **given)


def measured(model: supple.Model) -> dict[str, Any]:
    """Loads and motions of sections and joints of all legs, bent, in motion, pushed."""
    rng = np.random.default_rng(3)
    n = model.size
    q = 1e-4 * rng.normal(size=n)
    qd = 0.1 * rng.normal(size=n)
    qdd = rng.normal(size=n)
    q[:3] = delta.inverse(model.robot, PLACES[0])[0, :, 0]
    wrench = rng.normal(size=6)
    b = "b" if model.robot.lower.rods == "parallelogram" else ""
    outputs: list[Output] = [
        supple.Moment("upper2", 0.4),
        supple.Moment(f"lower2{b}", 0.3),
        supple.Accelerometer(f"lower3{b}", 0.5),
        supple.Gyroscope(f"lower1{b}", 1.0),
        supple.Reaction("upper1"),
    ]
    return {
        type(output).__name__ + output.link if hasattr(output, "link") else "Reaction": evaluator(
            model, output
        )(q, qd, qdd, wrench)[0]
        .ravel()
        .tolist()
        for output in outputs
    }


@pytest.mark.parametrize("case", CASES)
def test_every_function_is_that_of_the_old_room(case: str) -> None:
    """Accelerations by their forces; what else the mass matrix divides, to its condition."""
    model = made(case)
    found = answers(model)
    mass = [model.mass_matrix(q) for q in states(model)]
    lost = max(1e-10, np.finfo(float).eps * np.linalg.cond(mass[1]))
    for name, value in STORED[case].items():
        word, k = (*name.split("."), "")[:2]
        one = found[name]
        two = value
        if word == "coordinates":
            assert one == two
            continue
        if word in ("forward", "loaded"):
            one, two = (mass[int(k)] @ np.array(x) for x in (one, two))
        close = (lost if word in ("slopes", "frequencies") else 1e-10) * np.abs(two).max()
        np.testing.assert_allclose(one, two, rtol=0, atol=close, err_msg=name)


@pytest.mark.parametrize("case", ["single", "twist", "parallelogram"])
def test_what_is_measured_is_that_of_the_old_room(case: str) -> None:
    found = measured(made(case))
    for name, value in STORED[f"{case}-measured"].items():
        size = np.abs(value).max()
        np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-10 * size, err_msg=name)


@pytest.mark.parametrize("case", ["single", "twist", "parallelogram"])
def test_a_run_is_that_of_the_old_room(case: str) -> None:
    """To what the run itself can be known: its mass matrix multiplies rounding by 1e7 and more, so
    that runs in other steps, all of them short, are as far from one another.
    """
    model = made(case)
    stored = STORED[f"{case}-run"]
    found = run(model, tolerance=1e-13)
    others = [run(model, step=step) for step in (5e-6, 2.5e-6)]
    for word in ("tip", "q"):
        value = getattr(found, word)[-1]
        spread = max(np.abs(getattr(one, word)[-1] - value).max() for one in others)
        assert spread < 5e-9
        close = max(1e-10, 2 * spread)
        np.testing.assert_allclose(value, stored[word], rtol=0, atol=close)
