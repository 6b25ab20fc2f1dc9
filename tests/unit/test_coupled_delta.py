"""The coupled Delta: rigid limit, quasi-static limit, kineto-elasto limit, frequencies, power."""

import warnings

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from supple.architectures import delta
from supple.architectures.delta_motion import motion
from supple.architectures.kinds import tree_at_assembly
from supple.beams.basis import AssumedModes, FiniteElements
from supple.equations.build import build
from supple.equations.closed.rigid_delta import RigidDelta
from supple.equations.closed.unbent import unbent_delta
from supple.equations.equilibrium import static_state
from supple.equations.model import Model
from supple.kernels.newmark import generalised_alpha
from supple.studies.motion.fields import fields
from supple.studies.motion.follow import follow

KUO = supple.load("kuo-delta")
PAIRED = {"lower.rods": "parallelogram", "lower.spacing": 0.08}
TWIST = {"lower.rods": "twist"}
TILTED = {"gravity": [3.0, -2.0, 9.0]}
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
        {"motor.rotor_inertia": 0.02, "payload": {"mass": 0.3, "com": [0.01, 0.0, 0.02]}},
        {"upper.tip": {"mass": 0.2, "inertia": [1e-3, 1e-3, 2e-3]}, "lower.roll": 0.3},
        {**PAIRED, "motor.rotor_inertia": 0.01, "motor.damping": 0.2},
        {**TWIST, "upper.roll": 0.2, "lower.roll": 0.3},
        TILTED,
    ],
)
def test_rigid_links_give_the_rigid_dynamics(changes: dict) -> None:
    robot = rigid(**changes)
    P, v, a = STATE
    theta, rate, second = (x[0] for x in motion(robot, P, v, a).theta)
    model = build(robot, FiniteElements(1))
    torque = RigidDelta(robot).inverse_dynamics(P, v, a)[0]
    assert model.forward_dynamics(theta, rate, torque) == pytest.approx(second, abs=1e-10)
    assert model.inverse_dynamics(theta, rate, second) == pytest.approx(torque, abs=1e-10)
    assert model.tip(theta) == pytest.approx(P, abs=1e-12)
    kinetic, height = RigidDelta(robot).energy(P, v)
    assert model.energy(theta, rate) == pytest.approx(kinetic[0] + height[0], abs=1e-10)


def test_a_force_on_the_platform() -> None:
    P, v, a = STATE
    force = np.array([3.0, -2.0, 5.0])
    theta, rate, second = (x[0] for x in motion(KUO, P, v, a).theta)
    torque = RigidDelta(rigid()).inverse_dynamics(P, v, a, force)[0]
    found = build(rigid(), FiniteElements(1)).forward_dynamics(theta, rate, torque, force)
    assert found == pytest.approx(second, abs=1e-10)


def test_the_start_of_newton_is_the_rigid_robot() -> None:
    """The closed form in symbols against that of `architectures.delta`."""
    unbent = unbent_delta(tree_at_assembly(KUO))
    model = build(rigid(), AssumedModes(1))
    rng = np.random.default_rng(5)
    for P in rng.uniform([-0.15, -0.15, 0.4], [0.15, 0.15, 0.7], (20, 3)):
        phi = delta.inverse(KUO, P)[0]
        found = np.array(unbent.passive(phi[:, 0])).ravel()
        assert found == pytest.approx(np.concatenate([phi[:, 1:].ravel(), P, [0, 0, 0]]), abs=1e-12)
    for theta in rng.uniform(-3, 3, (40, 3)):  # the same assembly, or none
        try:
            P = delta.direct(KUO, theta)[0]
        except supple.SuppleError:
            with pytest.raises(supple.SuppleError, match="cannot be closed"):
                model.tip(theta)
        else:
            assert model.tip(theta) == pytest.approx(P, abs=1e-9)


def quasi_static(model: Model, torque: np.ndarray) -> np.ndarray:
    """theta'' with eta where it needs no acceleration, at the rates of theta alone."""
    P, v, _ = STATE
    theta, rate, _ = (x[0] for x in motion(model.robot, P, v).theta)
    q, qd, qdd = (np.zeros(model.size) for _ in range(3))
    q[:3] = theta
    qd[:3] = rate
    for _ in range(60):
        qdd[:3] = 0.0
        qdd[:3] = np.linalg.solve(
            model.mass_matrix(q)[:3, :3], torque - model.inverse_dynamics(q, qd, qdd)[:3]
        )
        force = model.inverse_dynamics(q, qd, qdd)[3:]
        change = np.linalg.solve(model.stiffness[3:, 3:], -force)
        q[3:] += change
        if np.abs(change).max() < 1e-14 * (1 + np.abs(q).max()):
            break
    return qdd[:3]


def test_quasi_static_deflection_tends_to_the_rigid_motion() -> None:
    torque = np.array([2.0, 1.0, 3.0])
    P, v, _ = STATE
    wanted = RigidDelta(KUO).forward_dynamics(P, v, torque)[0]
    second = motion(KUO, P, v, wanted).theta[2][0]
    errors = [
        np.abs(quasi_static(build(stiff(f), FiniteElements(1)), torque) - second).max()
        for f in (1e2, 1e3, 1e4)
    ]
    assert np.array(errors[:-1]) / errors[1:] == pytest.approx([10, 10], rel=0.1)


def locked(model: Model, theta: np.ndarray, count: int = 8) -> np.ndarray:
    """Natural frequencies with the motors held, unbent."""
    M = model.mass_matrix(np.concatenate([theta, np.zeros(model.size - 3)]))[3:, 3:]
    last = (0, count - 1)
    return np.sqrt(eigh(model.stiffness[3:, 3:], M, eigvals_only=True, subset_by_index=last))


@pytest.mark.parametrize(
    ("changes", "close"),
    # how a rod on two balls spins is a choice: polar inertia, 1e-5
    [({}, 1e-7), (TWIST, 1e-7), (PAIRED, 1e-5), ({"motor.stiffness": 300.0,
      "motor.rotor_inertia": 0.01}, 1e-7)],
    ids=["single", "twist", "parallelogram", "sprung"],
)  # fmt: skip
def test_frequencies_are_those_of_the_structure(changes: dict, close: float) -> None:
    P = [0.1, 0.0, 0.5]
    robot = KUO.with_({"gravity": [0, 0, 0], **changes})
    model = build(robot, FiniteElements(1))
    wanted = supple.modes(robot, position=P, count=8, method="elements", elements=1)
    if "motor.stiffness" not in changes:
        assert locked(model, wanted.theta) == pytest.approx(wanted.omega, rel=close)
    if changes == TWIST:  # whose neutral follows free motors here: another question there
        return
    loose = supple.modes(robot, position=P, count=6, method="elements", elements=1, joints="free")
    rest = np.concatenate([wanted.theta, np.zeros(model.size - 3)])
    found = supple.linearize(model, rest).frequencies[:6]
    assert found == pytest.approx(loose.omega, rel=close)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
@pytest.mark.parametrize("changes", [{}, TWIST, PAIRED], ids=["single", "twist", "parallelogram"])
def test_assumed_modes_fall_to_the_exact_frequencies(changes: dict, theory: str) -> None:
    """From above, whatever the joints and the theory; axial and torsion shapes included."""
    robot = KUO.with_({"upper.theory": theory, "lower.theory": theory, **changes})
    exact = supple.modes(robot, position=[0.1, 0.0, 0.5], count=3)
    errors = [
        locked(build(robot, AssumedModes(n, axial=1, torsion=1)), exact.theta, 3) / exact.omega - 1
        for n in (1, 2, [2, 3])
    ]
    assert (errors[0] > errors[1]).all()
    assert (errors[1] > errors[2]).all()
    assert (errors[2] > 0).all()
    assert errors[0].max() < 1e-2  # one mode, shaped by what hangs on the link: a per cent


def test_reduced_elements_of_a_parallelogram() -> None:
    robot = KUO.with_(PAIRED)
    exact = supple.modes(robot, position=[0.1, 0.0, 0.5], count=3)
    found = locked(build(robot, FiniteElements(3, modes=1)), exact.theta, 3)
    assert found == pytest.approx(exact.omega, rel=1e-4)


SCHEME = generalised_alpha(0.8)


def run_along(robot: supple.DeltaRobot, path: supple.Trajectory, dt: float) -> supple.Response:
    """The coupled robot with its motors on the path: what Decoupling does when started there.

    By the same steps of the same scheme as the linear one, so that these do not tell them apart.
    """
    model = build(robot, FiniteElements(1))
    same = {"dt": dt, "step": dt, "method": "generalised-alpha"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.SimulationWarning)  # such long steps lose energy
        return supple.simulate(
            model, controller=supple.Decoupling(), path=path, q0="static", **same
        )


@pytest.mark.parametrize("changes", [PAIRED, TWIST, TILTED], ids=["parallelogram", "twist", "tilt"])
def test_every_kind_along_a_path(changes: dict) -> None:
    """Small elastic motion, coupled and kineto-elasto, apart by second-order terms."""
    robot = stiff(300, KUO.with_(changes))
    path = supple.InvertedU()
    coupled = run_along(robot, path, 8e-3)
    linear = follow(robot, path, elements=1, step=8e-3, scheme=SCHEME)
    moved = coupled.position - path(coupled.t)[0]
    size = np.abs(linear.moved[:, :3]).max()
    assert np.abs(moved - linear.moved[:, :3]).max() < size * size / 0.5 + 2e-4 * size
    assert coupled.closure.max() < 1e-9


def test_small_elastic_motion_is_the_kineto_elasto_one() -> None:
    """They differ by second-order terms: beside the motion by less than deflection over length."""
    path = supple.InvertedU()
    off = []
    for factor in (1e2, 1e3):
        robot = stiff(factor)
        coupled = run_along(robot, path, 4e-3)
        linear = follow(robot, path, elements=1, step=4e-3, scheme=SCHEME)
        moved = coupled.position - path(coupled.t)[0]
        size = np.abs(linear.moved[:, :3]).max()
        off.append(np.abs(moved - linear.moved[:, :3]).max() / size)
        assert off[-1] < size / 0.5
        torque = np.abs(coupled.tau - linear.torque).max() / np.abs(linear.torque).max()
        assert torque < size / 0.5
        assert coupled.closure.max() < 1e-9
    assert off[0] / off[1] > 8  # at least as 1/E; the motion itself changes with E


@pytest.mark.parametrize(
    ("changes", "basis"),
    [
        ({}, FiniteElements(1)),
        (TILTED, AssumedModes(1)),
        (TWIST, AssumedModes(1, torsion=1)),
        (PAIRED, AssumedModes(1)),
        ({"motor.stiffness": 300.0, "motor.rotor_inertia": 0.01}, AssumedModes(1)),
    ],
    ids=["elements", "tilted", "twist", "parallelogram", "sprung"],
)
def test_power_balance(changes: dict, basis: object) -> None:
    """At any state the energy grows by what the motors give: torque . theta'."""
    model = build(KUO.with_(changes) if changes else KUO, basis)
    rng = np.random.default_rng(3)
    P, v, _ = STATE
    q = np.zeros(model.size)
    qd = rng.normal(size=model.size)
    q[:3] = motion(KUO, P, v).theta[0][0]
    bend = np.sqrt(np.diag(model.stiffness)[3:])
    q[3:] = 0.1 * rng.normal(size=bend.size) / bend
    qd[3:] = 0.5 * qd[3:] / bend
    torque = np.array([2.0, 1.0, 3.0])
    M = model.mass_matrix(q)[3:, 3:]
    h = 0.01 / np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, model.stiffness[3:, 3:]))).max())
    qdd = model.forward_dynamics(q, qd, torque)
    E = [
        model.energy(q + s * qd + s**2 / 2 * qdd, qd + s * qdd) for s in (-2 * h, -h, h, 2 * h)
    ]  # fmt: skip
    gained = (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * h)
    # rounding: eps E / h with E about 5 J and h about 1e-7 s, 1e-8 W; five-point rule: (omega h)^4
    assert gained == pytest.approx(torque @ qd[:3], abs=1e-6)
    again = model.inverse_dynamics(q, qd, qdd)
    M = model.mass_matrix(q)
    rounding = 1e-12 * float((np.abs(M) @ np.abs(qdd)).max())
    assert again[:3] == pytest.approx(torque, abs=rounding)
    parts = M @ qdd + model.bias(q, qd) + model.gravity(q)
    parts += model.stiffness @ q + model.damping @ qd
    assert again == pytest.approx(parts, abs=rounding)


def test_gravity_off_z_is_a_turned_robot() -> None:
    """Turned about z by the angle by which gravity turns: the same motion, turned.

    By explicit steps, which decide nothing from the last bits of what they carry.
    """
    angle = 0.4
    R = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    g = np.array([3.0, -2.0, 9.0])
    one = KUO.with_({"gravity": g.tolist()})
    other = KUO.with_(
        {"gravity": (R @ g).tolist(), "angles": [a + angle for a in KUO.angles]}
    )  # fmt: skip
    runs = [
        supple.simulate(build(robot, AssumedModes(1)), [2.0, 1.0, 1.5], "static", duration=0.05,
                        theta0=[-0.4, -0.5, -0.3], dt=2e-3, method="rk4")
        for robot in (one, other)
    ]  # fmt: skip
    assert runs[1].tip == pytest.approx(runs[0].tip @ R.T, abs=1e-10)
    assert np.abs(runs[0].tip[-1] - runs[0].tip[0]).max() > 1e-3
    assert runs[0].tip[-1, :2] != pytest.approx([0, 0], abs=1e-3)


def test_the_sag_under_tilted_gravity_is_that_of_statics() -> None:
    robot = stiff(1e4, KUO.with_(TILTED))
    P = [0.05, 0.02, 0.5]
    sag = supple.statics(robot, position=P)
    model = build(robot, FiniteElements(2))
    q = static_state(model, delta.inverse(robot, P)[0, :, 0])
    assert model.tip(q) - P == pytest.approx(sag.tip_displacement, rel=2e-4)


def test_integrators_agree() -> None:
    """Implicit steps that shrink tend to CVODES', by second order; the power balance closes."""
    model = build(KUO, AssumedModes(1), damping=0.02)
    start = {"q0": "static", "theta0": [-0.4, -0.5, -0.3], "duration": 0.05}
    fine = supple.simulate(model, [2.0, 1.0, 1.5], **start, dt=1e-2, method="adams")
    assert np.abs(fine.balance).max() < 1e-9
    off = []
    left = []
    for dt in (2.5e-4, 1.25e-4):  # a jump of the torques at the start: fine steps
        run = supple.simulate(model, [2.0, 1.0, 1.5], **start, step=dt, method="generalised-alpha")
        off.append(np.abs(run.tip[-1] - fine.tip[-1]).max())
        left.append(np.abs(run.balance).max())
    assert off[0] / off[1] == pytest.approx(4, rel=0.25)
    assert left[0] / left[1] == pytest.approx(4, rel=0.25)


def test_generated_c_gives_the_same_motion() -> None:
    start = {"q0": "static", "theta0": [-0.4, -0.5, -0.3], "duration": 0.02, "dt": 2e-3}
    runs = [
        supple.simulate(build(rigid(), AssumedModes(1)), [2.0, 1.0, 1.5], **start, compiled=c)
        for c in (False, True)
    ]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-12)
    model = build(rigid(), AssumedModes(1), compiled=True)
    assert model.tip(runs[0].q) == pytest.approx(runs[0].tip, abs=1e-12)


def test_fields_meet_at_the_platform() -> None:
    """Where the drawing puts the rods' ends is where the platform holds them."""
    robot = KUO.with_(PAIRED)
    model = build(robot, AssumedModes(1), stiffening=False)
    run = supple.simulate(model, [2.0, 1.0, 1.5], "static", duration=0.02,
                          theta0=[-0.4, -0.5, -0.3], dt=5e-3)  # fmt: skip
    drawn = fields(run, points=5)
    assert drawn.names[-1] == "platform"
    for leg, (tag, side) in enumerate([("1a", -0.04), ("2b", 0.04)]):
        i = drawn.names.index(f"lower{tag}")
        reach = drawn.motion[:, i, -1, :3] + [0.6, 0.0, 0.0]
        end = drawn.p[:, i] + np.einsum("tij,tj->ti", drawn.R[:, i], reach)
        anchor = delta.leg_axes(robot)[leg] @ [0.05, side, 0.0]
        assert end == pytest.approx(run.tip + run.tip_rotation @ anchor, abs=1e-12)


def held(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return np.array([2.0, 2.2, 2.4]) + 0.3 * np.sin(20 * t) - 5 * (q[:3] + 0.4)


def around(model: Model, seconds: float) -> supple.Response:
    """Circles of the platform under a controller."""
    law = supple.GravityPD(200.0, 5.0)
    circle = supple.CirclePath((0.0, 0.0, 0.5), 0.05, 1.0)
    return supple.simulate(
        model, controller=law, path=circle, q0="static", duration=seconds, dt=2e-3
    )


def tumble(model: Model, seconds: float) -> supple.Response:
    """Torques that know nothing of a path, and no damping but the links'."""
    return supple.simulate(
        model, held, "static", duration=seconds, position=[0.02, 0.01, 0.5], dt=2e-3
    )


def ring(model: Model, seconds: float) -> supple.Response:
    """Free vibration from the unbent robot, motors held."""
    return supple.simulate(
        model, controller=supple.Decoupling(), trajectory=[-0.4, -0.45, -0.4], duration=seconds,
        dt=2e-3,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("run", [around, tumble, ring])
def test_closure_does_not_drift(run: object) -> None:
    found = run(build(KUO, AssumedModes(1), damping=0.02), 1.0)  # type: ignore[operator]
    assert found.complete
    assert found.closure.max() < 1e-9


@pytest.mark.soak
@pytest.mark.parametrize("run", [around, tumble, ring])
def test_closure_over_a_minute(run: object) -> None:
    found = run(build(KUO, FiniteElements(1), damping=0.02), 60.0)  # type: ignore[operator]
    assert found.complete
    assert found.t[-1] == pytest.approx(60.0)
    assert found.closure.max() < 1e-9


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: build(KUO, AssumedModes([1, 1, 1])), "or 2, for its upper and its lower links"),
        (lambda: build(KUO, AssumedModes(1, at=[0, 0, 0])), "at is not for kuo-delta"),
        (lambda: build(KUO, AssumedModes(1), "paper"), "one reading"),
        (lambda: build(KUO.with_("motor.stiffness", 10.0), AssumedModes(1)), "no rotor_inertia"),
        (lambda: build(rigid(), AssumedModes(1)).tip([1.15, 2.15, 0.49]), "cannot be closed"),
    ],
)
def test_what_it_cannot_do_is_a_sentence(make: object, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        make()  # type: ignore[operator]


def test_a_run_into_a_wall_keeps_what_it_had() -> None:
    model = build(rigid(), FiniteElements(1))
    with pytest.warns(supple.SimulationWarning, match="singular"):
        run = supple.simulate(model, [-30.0, -30, -30], position=[0, 0, 0.5], duration=2.0, dt=2e-3)
    assert not run.complete
    assert 10 < len(run.t) == len(run.q) < 1001
