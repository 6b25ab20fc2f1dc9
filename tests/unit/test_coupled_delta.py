"""The coupled Delta: rigid limit, quasi-static limit, kineto-elasto limit, closure, power."""

import numpy as np
import pytest

import supple
from supple.architectures.delta_motion import motion
from supple.beams.basis import AssumedModes, FiniteElements
from supple.control.trajectories import InvertedU
from supple.dynamics.coupled_delta import CoupledDelta, couple
from supple.dynamics.rigid_delta import RigidDelta
from supple.kernels.newmark import generalised_alpha, newmark
from supple.studies.drive import drive
from supple.studies.follow import follow

KUO = supple.load("kuo-delta")
STATE = (np.array([0.05, -0.08, 0.55]), np.array([0.4, 0.3, -0.2]), np.array([1.0, 2.0, 3.0]))


def stiff(factor: float, robot: supple.DeltaRobot = KUO) -> supple.DeltaRobot:
    """The robot of a material so many times as stiff."""
    steel = "materials.steel."
    return robot.with_(
        {f"{steel}young_modulus": 210e9 * factor, f"{steel}shear_modulus": 80e9 * factor}
    )


def rigid(**changes: object) -> supple.DeltaRobot:
    return KUO.with_({"upper.theory": "rigid", "lower.theory": "rigid", **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"motor.rotor_inertia": 0.02, "payload": {"mass": 0.3}},
        {"upper.tip": {"mass": 0.2, "inertia": [1e-3, 1e-3, 2e-3]}, "lower.roll": 0.3},
        {"lower.rods": "parallelogram", "lower.spacing": 0.08, "motor.rotor_inertia": 0.01},
    ],
)
def test_rigid_links_give_the_rigid_dynamics(changes: dict) -> None:
    robot = rigid(**changes)
    P, v, a = STATE
    theta, rate, second = (x[0] for x in motion(robot, P, v, a).theta)
    model = couple(robot, FiniteElements(1))
    torque = RigidDelta(robot).inverse_dynamics(P, v, a)[0]
    found = model.forward_dynamics(theta, rate, torque, model.guess(theta))
    assert found == pytest.approx(second, abs=1e-10)


def quasi_static(model: CoupledDelta, torque: np.ndarray) -> np.ndarray:
    """theta'' with eta where it needs no acceleration, at the rates of theta alone."""
    P, v, _ = STATE
    theta, rate, _ = (x[0] for x in motion(model.robot, P, v).theta)
    u, ud = np.zeros(model.size), np.zeros(model.size)
    u[:3], ud[:3] = theta, rate
    near = model.guess(theta)
    for _ in range(60):
        found = model.terms(u, ud, near)
        push = torque - found.force[:3]
        # eta'' = 0: theta'' from the first rows, and the rest says what eta must be
        second = np.linalg.solve(found.M[:3, :3], push)
        force = found.force[3:] + found.M[3:, :3] @ second
        change = np.linalg.solve(model.stiffness[3:, 3:], -force)
        u[3:] += change
        if np.abs(change).max() < 1e-14 * (1 + np.abs(u).max()):
            break
    return second


def test_quasi_static_deflection_tends_to_the_rigid_motion() -> None:
    torque = np.array([2.0, 1.0, 3.0])
    P, v, _ = STATE
    wanted = RigidDelta(KUO).forward_dynamics(P, v, torque)[0]
    second = motion(KUO, P, v, wanted).theta[2][0]
    errors = [
        np.abs(quasi_static(couple(stiff(f), FiniteElements(1)), torque) - second).max()
        for f in (1e2, 1e3, 1e4)
    ]
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx([10, 10], rel=0.1)


PAIRED = KUO.with_({"lower.rods": "parallelogram", "lower.spacing": 0.08})


@pytest.mark.parametrize(
    ("robot", "close"),
    [(KUO, 1e-7), (PAIRED, 1e-5)],  # how a rod on two balls spins is a choice: polar inertia, 1e-5
    ids=["single", "parallelogram"],
)
def test_frequencies_are_those_of_the_structure(robot: supple.DeltaRobot, close: float) -> None:
    from scipy.linalg import eigh

    P = [0.1, 0.0, 0.5]
    model = couple(robot, FiniteElements(2))
    theta = supple.modes(robot, position=P, count=1).theta
    u = np.zeros(model.size)
    u[:3] = theta
    found = model.terms(u, np.zeros_like(u), model.guess(theta))
    omega = np.sqrt(
        eigh(model.stiffness[3:, 3:], found.M[3:, 3:], eigvals_only=True, subset_by_index=(0, 7))
    )
    wanted = supple.modes(robot, position=P, count=8, method="elements", elements=2).omega
    assert omega == pytest.approx(wanted, rel=close)


def test_parallelograms_along_a_path() -> None:
    """Small elastic motion of paired rods, coupled and kineto-elasto."""
    robot, path, scheme = stiff(300, PAIRED), InvertedU(), generalised_alpha(0.9)
    coupled = drive(couple(robot, FiniteElements(1)), path=path, step=8e-3, scheme=scheme)
    linear = follow(robot, path, elements=1, step=8e-3, scheme=scheme)
    moved, size = coupled.position - path(coupled.t)[0], np.abs(linear.tip[:, :3]).max()
    assert np.abs(moved - linear.tip[:, :3]).max() < size * size / 0.5 + 1e-4 * size
    assert coupled.closure.max() < 1e-9
    with pytest.raises(supple.SuppleError, match="need FiniteElements"):
        couple(robot, AssumedModes(1))


def test_small_elastic_motion_is_the_kineto_elasto_one() -> None:
    """They differ by second-order terms: beside the motion by less than deflection over length."""
    path, scheme, off = InvertedU(), generalised_alpha(0.9), []
    for factor in (1e2, 1e3):
        robot = stiff(factor)
        coupled = drive(couple(robot, FiniteElements(1)), path=path, step=4e-3, scheme=scheme)
        linear = follow(robot, path, elements=1, step=4e-3, scheme=scheme)
        moved = coupled.position - path(coupled.t)[0]
        size = np.abs(linear.tip[:, :3]).max()
        off.append(np.abs(moved - linear.tip[:, :3]).max() / size)
        assert off[-1] < size / 0.5
        torque = np.abs(coupled.torque - linear.torque).max() / np.abs(linear.torque).max()
        assert torque < size / 0.5
        assert coupled.closure.max() < 1e-9
    assert off[0] / off[1] > 8  # at least as 1/E; the motion itself changes with E


def held(t: float, theta: np.ndarray, rate: np.ndarray) -> np.ndarray:
    return np.array([2.0, 2.2, 2.4]) + 0.3 * np.sin(20 * t) - 5 * (theta + 0.4)


@pytest.mark.parametrize(
    ("robot", "basis"),
    [(KUO, FiniteElements(1)), (KUO, AssumedModes(1)), (PAIRED, FiniteElements(1))],
    ids=["elements", "modes", "parallelogram"],
)
def test_power_balance(robot: supple.DeltaRobot, basis: object) -> None:
    """At any state the energy grows by what the motors give: torque . theta'."""
    model = couple(robot, basis)
    rng = np.random.default_rng(3)
    P, v, _ = STATE
    theta = motion(KUO, P, v).theta[0][0]
    u, ud = np.zeros(model.size), rng.normal(size=model.size)
    u[:3] = theta
    bend = np.sqrt(np.diag(model.stiffness)[3:])
    u[3:], ud[3:] = 0.1 * rng.normal(size=bend.size) / bend, 0.5 * ud[3:] / bend
    near, torque = model.guess(theta), np.array([2.0, 1.0, 3.0])
    M = model.terms(u, ud, near).M[3:, 3:]
    h = 0.01 / np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, model.stiffness[3:, 3:]))).max())
    udd = model.forward_dynamics(u, ud, torque, near)
    E = [
        model.energy(u + s * ud + s**2 / 2 * udd, ud + s * udd, near)
        for s in (-2 * h, -h, h, 2 * h)
    ]
    gained = (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * h)
    # rounding: eps E / h with E about 5 J and h about 1e-7 s, 1e-8 W; five-point rule: (omega h)^4
    assert gained == pytest.approx(torque @ ud[:3], abs=1e-6)


def test_energy_along_a_run() -> None:
    """Energy gained equals the work of the motors over a run, the better the smaller the step."""
    model = couple(KUO, AssumedModes(1))
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        run = drive(
            model,
            torque=held,
            position=[0.02, 0.01, 0.5],
            duration=0.1,
            step=step,
            scheme=newmark(),
        )
        power = (run.torque * run.ud[:, :3]).sum(axis=1)
        work = step * (power[1:] + power[:-1]).sum() / 2
        energy = run.energy()
        errors.append(abs(energy[-1] - energy[0] - work) / np.abs(energy - energy[0]).max())
    assert errors[2] < errors[1] / 4 < errors[0] / 16  # second order at least


@pytest.mark.slow
def test_closure_does_not_drift() -> None:
    model = couple(KUO, AssumedModes(1), damping=0.02)
    run = drive(model, torque=held, position=[0.02, 0.01, 0.5], duration=2.0, step=2e-3)
    assert not run.message
    assert run.closure.max() < 1e-9


@pytest.mark.soak
def test_closure_over_a_minute() -> None:
    model = couple(KUO, AssumedModes(1), damping=0.02)
    run = drive(model, torque=held, position=[0.02, 0.01, 0.5], duration=60.0, step=2e-3)
    assert not run.message
    assert run.t[-1] == pytest.approx(60.0)
    assert run.closure.max() < 1e-9


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lower.rods": "twist"}, "knows single and parallelogram"),
        ({"gravity": [1.0, 0.0, 9.81]}, "gravity is not along z"),
    ],
)
def test_what_it_cannot_do_is_a_sentence(changes: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        couple(KUO.with_(changes), FiniteElements(1))


def test_bad_drives_are_sentences() -> None:
    model = couple(rigid(), FiniteElements(1))
    with pytest.raises(supple.SuppleError, match="either torque or path"):
        drive(model)
    with pytest.raises(supple.SuppleError, match="three numbers"):
        drive(model, torque=[1.0], position=[0, 0, 0.5])
    with pytest.raises(supple.SuppleError, match="position is missing"):
        drive(model, torque=[1.0, 1, 1])


def test_a_servo_follows_the_path() -> None:
    """Rigid links: feedforward alone keeps the path; with PD a soft start error dies out."""
    robot = rigid()
    path = supple.PointToPoint((0.0, 0.0, 0.5), (0.05, 0.02, 0.55), 0.4)
    model = couple(robot, FiniteElements(1))
    servo = supple.PathServo(robot, path, 200.0, 5.0)
    run = drive(model, torque=servo, position=[0, 0, 0.5], start="zero", duration=0.4, step=2e-3)
    assert not run.message
    # generalised-alpha at 2 ms: (h omega)^2 of the path's own pace, 1e-4 of 0.05 m
    assert np.abs(run.position - path(run.t)[0]).max() < 1e-5
    with pytest.raises(supple.SuppleError, match="gains"):
        supple.PathServo(robot, path, -1.0, 0.0)


def test_a_run_into_a_wall_keeps_what_it_had() -> None:
    model = couple(rigid(), FiniteElements(1))
    run = drive(model, torque=[-30.0, -30, -30], position=[0, 0, 0.5], duration=2.0, step=2e-3)
    assert "stopped at t" in run.message
    assert len(run.t) == len(run.u) < 1001
