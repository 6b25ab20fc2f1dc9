"""What is measured of a Delta in motion: beside the mechanism that it is, statics and its path."""

from typing import Any

import numpy as np
import pytest

import supple
from supple.equations.equilibrium import static_state
from supple.outputs.measuring import evaluator
from supple.outputs.output import Output
from supple.path_dynamics.linearised_model import PathModel

BEAM: dict[str, Any] = {
    "mass_per_length": 0.195,
    "bending_stiffness": [109.0, 120.0],
    "torsional_stiffness": 83.0,
    "polar_inertia_per_length": 1e-5,
    "material": None,
    "section": None,
    "theory": None,
}


def delta(rods: str) -> supple.Robot:
    changes = {f"{part}.{key}": value for part in ("upper", "lower") for key, value in BEAM.items()}
    more: dict[str, Any] = {"platform.inertia": [1e-3, 2e-3, 3e-3], "motor.rotor_inertia": 0.02}
    more |= {"gravity": [1.0, -2.0, 9.0], "lower.rods": rods, "payload.mass": 0.3}
    more |= {"lower.spacing": 0.05} if rods == "parallelogram" else {}
    return supple.load("kuo-delta").with_(changes | more)


def value(model: supple.Model, output: Output, *motion: np.ndarray) -> np.ndarray:
    output.check(model)
    return evaluator(model, output)(*motion)[0].ravel()


def moving(model: supple.Model) -> tuple[np.ndarray, ...]:
    """Bent, in motion, pushed at the platform: q, qd, qdd, wrench."""
    rng = np.random.default_rng(1)
    more = model.size - 3
    q = np.r_[0.4, 0.5, 0.3, 1e-3 * rng.normal(size=more)]
    qd = np.r_[1.0, -2.0, 1.5, 0.05 * rng.normal(size=more)]
    return q, qd, rng.normal(size=model.size), rng.normal(size=6)


PAIRED = pytest.param("parallelogram", marks=pytest.mark.soak)


@pytest.mark.parametrize("rods", ["single", PAIRED])
def test_in_motion_as_of_the_mechanism_that_it_is(rods: str) -> None:
    """Its closures pull at the ends of three chains, the mechanism's in one tree."""
    robot = delta(rods)
    written = supple.as_mechanism(robot)
    one, two = (
        supple.build(r, supple.AssumedModes(1, ends="free", torsion=0), stiffening=True)
        for r in (robot, written)
    )
    q, qd, qdd, wrench = moving(one)
    order = [one.coordinates.index(name) for name in two.coordinates]
    tag = "b" if rods == "parallelogram" else ""
    outputs: list[Output] = [
        supple.Moment("upper2", 0.4),
        supple.Moment(f"lower2{tag}", 0.3),
        supple.Acceleration(f"lower3{tag}", 1.0),
        supple.Accelerometer(f"lower3{tag}", 0.5),
        supple.Gyroscope(f"lower1{tag}", 0.5),
        supple.Reaction("upper1"),
    ]
    for output in outputs:
        want = value(two, output, q[order], qd[order], qdd[order], wrench)
        found = value(one, output, q, qd, qdd, wrench)
        off = np.abs(found - want).max() / np.abs(want).max()
        assert off < 1e-9, type(output).__name__


@pytest.mark.parametrize("rods", ["parallelogram", "twist"])
def test_at_rest_as_statics_and_the_motor_gives_what_the_joint_feels(rods: str) -> None:
    robot = delta(rods).with_({"gravity": [0.1, -0.2, 0.9]})  # so little that it stays linear
    model = supple.build(robot, supple.AssumedModes(2))
    tag = "a" if rods == "parallelogram" else ""
    outputs: dict[str, Output] = {
        "arm": supple.Moment("upper2", 0.4),
        "rod": supple.Moment(f"lower2{tag}", 0.3),
        "joint": supple.Reaction("upper1"),
        "feels": supple.Accelerometer(f"lower3{tag}", 0.5),
    }
    q = static_state(model, [0.4, 0.5, 0.3])
    rest = np.zeros(model.size)
    six = np.zeros(6)
    exact = supple.statics(robot, theta=[0.4, 0.5, 0.3], outputs=outputs).outputs
    for name, output in outputs.items():
        found = value(model, output, q, rest, rest, six)
        # deflections are 1e-3 of the lengths, and turn and lengthen levers by as much
        np.testing.assert_allclose(found, exact[name], atol=3e-3 * np.abs(exact[name]).max())
    held = model.inverse_dynamics(q, rest, rest)[0]
    found = value(model, outputs["joint"], q, rest, rest, six)[4]
    # the rows of constant-velocity joints ask where the rigid robot is, and so lean on theta
    assert found == pytest.approx(held, rel=1e-9 if rods != "twist" else 0.01)


def test_a_place_of_a_rod_accelerates_as_its_second_derivative() -> None:
    """The rod's end in motion is the platform's rim: P'' + R'' r, by differences of the tip."""
    model = supple.build(delta("single"), supple.AssumedModes(1))
    q, qd, qdd, wrench = moving(model)
    found = value(model, supple.Acceleration("lower1", 1.0), q, qd, qdd, wrench)
    rim = np.array([0.05, 0.0, 0.0])
    h = 1e-4

    def place(t: float) -> np.ndarray:
        p, R = model.functions.evaluator("tip")(q + t * qd + t * t / 2 * qdd)
        return np.asarray(p.ravel() + R.reshape(3, 3) @ rim)

    second = sum(c * place(k * h) for k, c in zip(range(-2, 3), (-1, 16, -30, 16, -1), strict=True))
    np.testing.assert_allclose(found, second / (12 * h * h), rtol=1e-6)  # 1e-16 / h^2


def test_outputs_along_the_path_of_a_platform() -> None:
    """The Model led by its motors moves as the kineto-elasto equations do: two programs."""
    robot = delta("single")
    path = supple.PointToPoint((0, 0, 0.6), (0.1, 0, 0.65), 0.4)
    wanted = supple.follow(robot.with_(_light()), path, elements=1, dt=4e-3)
    outputs = {"tip": supple.Tip(), "root": supple.Reaction("upper1")}
    found = supple.follow(robot.with_(_light()), path, elements=1, dt=4e-3, outputs=outputs)
    size = np.abs(wanted.moved).max(axis=0)
    assert (np.abs(found.moved - wanted.moved).max(axis=0) < 1e-8 * size).all()
    np.testing.assert_allclose(found.torque, wanted.torque, atol=1e-9 * np.abs(wanted.torque).max())
    assert found.wanted.tolist() == wanted.wanted.tolist()
    shaken = found.outputs["tip"] - found.wanted
    bent = np.abs(found.moved[:, :3]).max()
    assert np.abs(shaken - found.moved[:, :3]).max() < 10 * bent**2  # linear but for the squares
    # what the first joint feels is the effort of the same motion, but for the rotor's
    led = supple.PlatformPath(robot, path)(found.t)
    elastic = (found.y, found.yd, found.ydd)
    motion = [np.hstack(each) for each in zip(led, elastic, strict=True)]
    assert isinstance(found.model, PathModel)
    effort = found.model.model.inverse_dynamics(*motion)[:, 0]
    felt = found.outputs["root"][:, 4] + 0.02 * led[2][:, 0]
    np.testing.assert_allclose(felt, effort, atol=1e-9 * np.abs(effort).max())


def _light() -> dict[str, Any]:
    """Next to no rotary inertia: a Model turns sections by one order less than these equations."""
    return {f"{part}.polar_inertia_per_length": 1e-9 for part in ("upper", "lower")}


def test_outputs_of_a_linear_model_of_a_delta() -> None:
    """C against differences of the outputs along the motion that the efforts give."""
    model = supple.build(delta("single"), supple.AssumedModes(1))
    n, (q, _, _, _) = model.size, moving(model)
    output = supple.Moment("upper1", 0.2)
    tau = np.array([0.3, -0.2, 0.1])
    C = supple.linearize(model, q, np.zeros(n), tau, outputs=[output]).C

    def seen(x: np.ndarray) -> np.ndarray:
        qdd = model.forward_dynamics(x[:n], x[n:], tau)
        return value(model, output, x[:n], x[n:], qdd, np.zeros(6))

    x = np.r_[q, np.zeros(n)]
    h = 1e-4
    for k in (0, 5, n + 1):
        step = h * np.eye(2 * n)[k]
        slope = 8 * (seen(x + step) - seen(x - step)) - seen(x + 2 * step) + seen(x - 2 * step)
        slope /= 12 * h  # rounding, 1e-10 / h, is the larger error
        np.testing.assert_allclose(C[:, k], slope, atol=1e-5 * np.abs(C).max())
