"""Outputs: balances of the outer part, accelerations, instruments, and their linear models."""

from __future__ import annotations

import json
from functools import cache

import casadi as ca
import numpy as np
import pytest

import supple
from supple import SuppleError
from supple.kernels.spatial import rpy_rotation
from supple.outputs.kinds import OUTPUTS
from supple.outputs.measuring import evaluator

ARM = """
supple: 1
name: spatial
architecture: serial
gravity: [0.3, -0.4, -9.81]
materials: {aluminium: {young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}
links:
  - name: base
    length: 0.4
    material: aluminium
    section: {shape: tube, diameter: 0.08, wall: 0.004}
    joint:
      {type: revolute, damping: 0.3, rotor_inertia: 0.2,
       hub: {mass: 2, com: [0, 0.02, 0.1], inertia: [0.02, 0.03, 0.04]}}
  - name: upper
    length: 0.7
    roll: 0.4
    material: aluminium
    section: {shape: box, depth: 0.06, width: 0.04, wall: 0.003}
    joint:
      {type: revolute, stiffness: 5e4, rotor_inertia: 0.1,
       mount: {rpy: [1.2, 0.2, 0], xyz: [0, 0.05, 0]}}
    tip: {mass: 1.5, com: [0.02, 0, 0], inertia: [0.01, 0.01, 0.01]}
  - name: fore
    length: 0.6
    material: aluminium
    section: {shape: tube, diameter: 0.05, wall: 0.002}
    joint: {type: revolute, axis: [0.2, 1, 0], rotor_inertia: 0.02}
payload: {mass: 2.0, com: [0.03, 0, 0], inertia: [0.01, 0.02, 0.02]}
"""
NONE = np.zeros(6)


@cache
def spatial(stiffening: bool = False) -> supple.Model:
    basis = supple.AssumedModes(2, axial=1)
    return supple.build(supple.loads(ARM), basis, stiffening=stiffening, damping=0.01)


@cache
def thin() -> supple.Model:
    """A planar arm of beams without rotary inertia, with a point mass at its end."""
    robot = supple.load("de-luca-two-link").with_({"gravity": [0.2, -9.81, 0.0]})
    return supple.build(robot.with_("payload.inertia", 0.0), supple.AssumedModes(3))


def moving(model: supple.Model, seed: int = 0) -> tuple[np.ndarray, ...]:
    """A state in motion, its efforts, and the accelerations that it then has."""
    rng = np.random.default_rng(seed)
    n = model.size
    k = model.joints
    size = np.r_[np.ones(k), np.full(n - k, 2e-3)]
    q = rng.normal(size=n) * size
    qd = rng.normal(size=n) * size * 3
    tau = rng.normal(size=k)
    return q, qd, tau, model.forward_dynamics(q, qd, tau)


def value(model: supple.Model, output: supple.Output, q, qd, qdd, wrench=NONE) -> np.ndarray:
    return evaluator(model, output)(q, qd, qdd, wrench)[0]


@pytest.mark.parametrize("stiffening", [False, True])
def test_reactions_balance_the_equations_of_motion(stiffening):
    """About its axis a joint carries its effort less damping and rotor, or its spring's."""
    model = spatial(stiffening)
    q, qd, tau, qdd = moving(model)
    assert model.coordinates[3] == "eps.upper"
    given = [tau[0] - 0.3 * qd[0] - 0.2 * qdd[0], -5e4 * q[3], tau[2] - 0.02 * qdd[2]]
    for link, wanted in zip(model.robot.links, given, strict=True):
        found = value(model, supple.Reaction(link.name), q, qd, qdd)
        scale = np.abs(found).max()
        assert link.joint.direction @ found[3:] == pytest.approx(wanted, abs=1e-9 * scale)


@pytest.mark.parametrize("stiffening", [False, True])
def test_the_first_reaction_is_the_rate_of_momentum(stiffening):
    """F = d^2 S / dt^2 - m g, S = sum of m r from the potential of unit gravity."""
    model = spatial(stiffening)
    q, qd, _, qdd = moving(model, 1)
    x, v, a = (ca.SX.sym(word, model.size) for word in "xva")
    laws = model.functions.laws
    S = ca.vertcat(*(-laws.height(ca.vertsplit(x), unit) for unit in np.eye(3).tolist()))
    speed = ca.jtimes(S, x, v)
    rate = ca.jtimes(speed, x, v) + ca.jtimes(speed, v, a)
    mass = sum(link.inv.mass + link.root_mass[0, 0] + link.tip_mass[0, 0]
               for link in model.chain.links)  # fmt: skip
    F = np.array(ca.Function("F", [x, v, a], [rate])(q, qd, qdd)).ravel()
    F -= mass * np.array(model.robot.gravity)
    found = value(model, supple.Reaction("base"), q, qd, qdd)[:3]
    turn = np.array([[np.cos(q[0]), -np.sin(q[0]), 0], [np.sin(q[0]), np.cos(q[0]), 0], [0, 0, 1]])
    np.testing.assert_allclose(found, F, atol=1e-9 * np.abs(F).max())
    # the hub apart, the first section carries the same, turned with the link
    root = value(model, supple.Moment("base", 0.0), q, qd, qdd)
    hub = model.chain.links[0].root_mass
    alpha = np.array([0, 0, qdd[0]])
    w = np.array([0, 0, qd[0]])
    felt = hub[3:, :3] @ (turn.T @ -np.array(model.robot.gravity)) + hub[3:, 3:] @ alpha
    felt = felt + np.cross(w, hub[3:, 3:] @ w)
    whole = turn.T @ value(model, supple.Reaction("base"), q, qd, qdd)[3:]
    np.testing.assert_allclose(-root, whole - felt, atol=1e-9 * np.abs(whole).max())


@pytest.mark.slow
def test_a_moment_is_that_of_all_that_lies_outside():
    """-int (r - r_f) x m (a - g) over the rest of the beam and the point mass, by quadrature."""
    model = thin()
    q, qd, _, qdd = moving(model, 2)
    s, w = np.polynomial.legendre.leggauss(24)
    g = np.array(model.robot.gravity)
    L = 0.5
    m = 0.2
    for link, fraction in (("link2", 0.0), ("link2", 0.35), ("link1", 0.6)):
        beams = [("link2", 0.0 if link == "link1" else fraction)]
        if link == "link1":
            beams.append(("link1", fraction))
        here = place(model, q, link, fraction)
        total = np.zeros(3)
        for name, start in beams:
            for at, weight in zip(start + (1 - start) * (s + 1) / 2, w, strict=True):
                felt = value(model, supple.Acceleration(name, at), q, qd, qdd) - g
                arm = place(model, q, name, at) - here
                total += weight * (1 - start) / 2 * L * m * np.cross(arm, felt)
        ends = [("link2", 1.0, 0.1), *([("link2", 0.0, 1.0)] if link == "link1" else [])]
        for name, at, mass in ends:  # the payload, and the hub of the second link
            felt = value(model, supple.Acceleration(name, at), q, qd, qdd) - g
            total += mass * np.cross(place(model, q, name, at) - here, felt)
        if link == "link1":  # the hub's own inertia turns with the second link
            spin = turning_rate(model, q, qd, qdd)
            total[2] += 0.1 * spin
        found = value(model, supple.Moment(link, fraction), q, qd, qdd)
        assert found[2] == pytest.approx(-total[2], rel=1e-9)


def place(model: supple.Model, q, link: str, fraction: float) -> np.ndarray:
    """Where a section of the planar arm is, from its deflections."""
    here = np.zeros(3)
    angle = 0.0
    for i, name in enumerate(("link1", "link2")):
        angle += q[i]
        c = np.cos(angle)
        s = np.sin(angle)
        at = fraction if name == link else 1.0
        bent = model.deflection_at(q, name, at) + np.array([0.5 * at, 0, 0])
        here = here + np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ bent
        if name == link:
            return here
        part = model.chain.links[i]
        angle += float(part.shapes.at(0.5)[0, 5] @ q[model.chain.eta[i]])
    raise AssertionError(link)


def turning_rate(model: supple.Model, q, qd, qdd) -> float:
    """Angular acceleration of the second link's root."""
    eta = model.chain.eta[0]
    part = model.chain.links[0]
    slope = part.shapes.at(0.5)[0, 5]
    return float(qdd[0] + qdd[1] + slope @ qdd[eta])


@pytest.mark.parametrize("fraction", [0.0, 0.4, 1.0])
def test_acceleration_is_the_second_derivative_of_the_place(fraction):
    """Fourth-order differences of the place along q + h qd + h^2 qdd / 2."""
    model = thin()
    q, qd, _, qdd = moving(model, 3)

    def at(h: float) -> np.ndarray:
        return place(model, q + h * qd + h * h / 2 * qdd, "link2", fraction)

    h = 2e-3 / np.abs(qd).max()
    near = at(h) - 2 * at(0.0) + at(-h)
    far = at(2 * h) - 2 * at(0.0) + at(-2 * h)
    wanted = (16 * near - far) / (12 * h * h)
    found = value(model, supple.Acceleration("link2", fraction), q, qd, qdd)
    np.testing.assert_allclose(found, wanted, atol=1e-7 * np.abs(found).max())


def test_instruments_on_the_tip_of_a_spatial_arm():
    """a by the chain rule of the tip; a - g and the angular velocity in its axes."""
    model = spatial()
    q, qd, _, qdd = moving(model, 4)
    x, v, a = (ca.SX.sym(word, model.size) for word in "xva")
    p, R = model.functions.expression("tip")(x)
    speed = ca.jtimes(p, x, v)
    second = ca.jtimes(speed, x, v) + ca.jtimes(speed, v, a)
    rate = ca.reshape(ca.jtimes(ca.vec(R), x, v), 3, 3)
    found = ca.Function("f", [x, v, a], [second, R, ca.mtimes(R.T, rate)])(q, qd, qdd)
    second, R, W = (np.array(part) for part in found)
    second = second.ravel()
    tol = 1e-10 * np.abs(second).max()
    np.testing.assert_allclose(
        value(model, supple.Acceleration("fore"), q, qd, qdd), second, atol=tol
    )
    reads = R.T @ (second - np.array(model.robot.gravity))
    np.testing.assert_allclose(
        value(model, supple.Accelerometer("fore"), q, qd, qdd), reads, atol=tol
    )
    w = [W[2, 1], W[0, 2], W[1, 0]]
    np.testing.assert_allclose(value(model, supple.Gyroscope("fore"), q, qd, qdd), w, atol=1e-11)
    np.testing.assert_allclose(value(model, supple.Tip(), q, qd, qdd), model.tip(q), atol=1e-15)


STILL = """
supple: 1
name: still
architecture: serial
planar: true
gravity: [0, -9.81, 0]
materials: {stiff: {young_modulus: 70e16, poisson_ratio: 0.33, density: 2700}}
links:
  - name: upper
    length: 0.7
    theory: euler-bernoulli
    material: stiff
    section: {shape: box, depth: 0.06, width: 0.04, wall: 0.003}
    tip: {mass: 1.5}
  - name: fore
    length: 0.6
    theory: euler-bernoulli
    material: stiff
    section: {shape: tube, diameter: 0.05, wall: 0.002}
payload: {mass: 2.0}
"""


def test_at_rest_they_are_those_of_statics():
    """Elements of fifth degree hold the moments of uniform weight; the sag is 1e-11 of the length.

    Statics is linear: what is left is as small as the sag.
    """
    robot = supple.loads(STILL)
    theta = [0.3, 0.4]
    model = supple.build(robot, supple.FiniteElements(1, order="quintic"))
    still = supple.linearize(model, theta)
    outputs = {
        "upper": supple.Reaction("upper"),
        "fore": supple.Reaction("fore"),
        "root": supple.Moment("upper"),
        "middle": supple.Moment("fore", 0.5),
        "strain": supple.Strain("fore", 0.5, (-0.025, 0.0)),
        "stress": supple.Stress("fore", 0.5),
        "accelerometer": supple.Accelerometer("upper", 0.5),
    }
    sag = supple.statics(robot, theta, points=3)
    qdd = model.forward_dynamics(still.q, still.qd, still.tau)
    found = {name: value(model, o, still.q, still.qd, qdd) for name, o in outputs.items()}
    for i, name in enumerate(("upper", "fore")):
        c = np.cos(theta[i])
        s = np.sin(theta[i])
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        force = turn @ sag.root_force[i]
        moment = turn @ sag.root_moment[i]
        np.testing.assert_allclose(found[name][:3], force, atol=1e-9 * np.abs(force).max())
        assert found[name][5] == pytest.approx(moment[2], rel=1e-9)
    assert found["root"][2] == pytest.approx(-sag.root_moment[0, 2], rel=1e-9)
    # the middle of the forearm carries half of its weight and the payload
    section = robot.section(robot.links[1])
    A, I_z, *_ = section.constants()
    weight = 9.81 * (2700 * A * 0.3 * 0.15 + 2.0 * 0.3) * np.cos(0.7)
    assert found["middle"][2] == pytest.approx(-weight, rel=1e-9)
    bending = weight * 0.025 / I_z
    stretch = 9.81 * (2700 * A * 0.3 + 2.0) * np.sin(0.7) / A
    assert found["strain"][0] == pytest.approx(-(bending + stretch) / 70e16, rel=1e-6)
    assert found["stress"][0] == pytest.approx(bending + stretch, rel=1e-9)
    np.testing.assert_allclose(
        found["accelerometer"], [9.81 * np.sin(0.3), 9.81 * np.cos(0.3), 0], atol=1e-6
    )


def test_a_wrench_on_the_tip_reaches_every_section():
    model = thin()
    q, qd, tau, _ = moving(model, 5)
    wrench = np.array([3.0, -2.0, 0, 0, 0, 0.7])
    qdd = model.forward_dynamics(q, qd, tau, wrench)
    for i, name in enumerate(("link1", "link2")):
        found = value(model, supple.Reaction(name), q, qd, qdd, wrench)
        assert found[5] == pytest.approx(tau[i], abs=1e-10)
    end = value(model, supple.Moment("link2", 1.0), q, qd, qdd, wrench)
    assert end[2] == pytest.approx(0.7, abs=1e-12)  # of a point mass nothing is added


@pytest.mark.slow
def test_slopes_of_outputs_are_those_of_the_motion():
    model = spatial()
    outputs = [
        supple.Tip(),
        supple.Moment("upper", 0.3),
        supple.Accelerometer("fore", 0.5),
        supple.Gyroscope("fore"),
        supple.Reaction("upper"),
        supple.Strain("fore", 0.1, (0.02, 0.01)),
        supple.Encoder("base", 1000),
    ]
    found = supple.linearize(
        model, [0.2, 0.4, -0.3], outputs=outputs, inputs=("tau", "tip force", "tip moment")
    )
    n = model.size
    h = 1e-6

    def all_of(x, u):
        tau = found.tau + u[:3]
        wrench = u[3:]
        qdd = model.forward_dynamics(x[:n], x[n:], tau, wrench)
        return np.concatenate([value(model, o, x[:n], x[n:], qdd, wrench) for o in outputs])

    x = np.concatenate([found.q, found.qd])
    u = np.zeros(9)
    rng = np.random.default_rng(0)
    for _ in range(3):
        dx = rng.normal(size=2 * n)
        du = rng.normal(size=9)
        slope = (all_of(x + h * dx, u + h * du) - all_of(x - h * dx, u - h * du)) / (2 * h)
        wanted = found.C @ dx + found.D @ du
        np.testing.assert_allclose(wanted, slope, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())
    assert found.inputs[:4] == ("tau.base", "tau.upper", "tau.fore", "force.x")
    assert len(found.outputs) == len(found.C) == 20


def test_closed_loops_steps_and_bandwidths():
    """Poles under joint PD from [M, K + Gp, D + Gv]; steps go to 1; a sensor adds its pole."""
    model = spatial()
    law = supple.JointPD(800.0, 60.0)
    outputs = ["joints", supple.Sensor(supple.Strain("fore"), bandwidth=40.0)]
    found = supple.linearize(model, [0.1, 0.2, 0.3], outputs=outputs, controller=law)
    assert found.inputs == ("reference.base", "reference.upper", "reference.fore")
    alone = supple.linearize(model, [0.1, 0.2, 0.3])
    F = np.zeros((3, 2 * model.size))
    F[:, :3] = -800 * np.eye(3)
    F[:, model.size : model.size + 3] = -60 * np.eye(3)
    wanted = np.append(np.linalg.eigvals(alone.A + alone.B @ F), -2 * np.pi * 40.0)
    np.testing.assert_allclose(
        np.sort_complex(found.eigenvalues), np.sort_complex(wanted), rtol=1e-6, atol=1e-4
    )
    assert found.stable
    steps = found.step([0.0, 0.1, 400.0])
    assert steps.shape == (3, 4, 3)
    np.testing.assert_allclose(steps[0], 0, atol=1e-12)
    still = -found.C @ np.linalg.solve(found.A, found.B)
    np.testing.assert_allclose(steps[2], still, atol=1e-6)
    np.testing.assert_allclose(found.transfer(0.0).real, still, rtol=1e-9, atol=1e-12)


def test_sensors_are_late_slow_noisy_and_the_same_again():
    t = np.linspace(0, 1, 2001)
    wave = np.sin(2 * np.pi * 5 * t)[:, None]
    tip = supple.Tip()
    slow = supple.Sensor(tip, bandwidth=5.0).over_time(t, wave)
    late = t > 0.6  # the start has died away
    assert np.abs(slow[late]).max() == pytest.approx(1 / np.sqrt(2), rel=1e-4)
    shifted = supple.Sensor(tip, delay=0.05).over_time(t, wave)
    np.testing.assert_allclose(
        shifted[200:, 0], np.sin(2 * np.pi * 5 * (t[200:] - 0.05)), atol=1e-4
    )
    noisy = supple.Sensor(tip, noise=0.1, seed=3)
    first = noisy.over_time(t, 0 * wave)
    assert first.std() == pytest.approx(0.1, rel=0.05)
    np.testing.assert_array_equal(first, noisy.over_time(t, 0 * wave))
    assert (first != supple.Sensor(tip, noise=0.1, seed=4).over_time(t, 0 * wave)).any()
    counts = supple.Sensor(supple.Encoder("a", 100), noise=0.01).over_time(t, wave)
    np.testing.assert_allclose(counts / (2 * np.pi / 100) % 1 % 1, 0, atol=1e-9)


def test_outputs_of_a_run_by_name():
    model = thin()
    outputs = {
        "tip": supple.Tip(),
        "root": supple.Strain("link1"),
        "angle": supple.Encoder("link2", 4096),
    }
    run = supple.simulate(model, [0.1, 0.0], duration=0.05, outputs=outputs)
    np.testing.assert_allclose(run.outputs["tip"], run.tip, atol=1e-14)
    assert run.outputs["root"].shape == run.t.shape
    step = 2 * np.pi / 4096
    np.testing.assert_allclose(
        run.outputs["angle"], step * np.round(run.q[:, 1] / step), atol=1e-12
    )
    assert "output_root" in run.to_xarray()
    assert "output.tip.z" in run.to_pandas()


@pytest.mark.slow
def test_outputs_that_are_not_there():
    model = thin()
    cases = [
        (supple.Moment("link9"), "no link 'link9'"),
        (supple.Encoder("nothing"), "no motor 'nothing'"),
        (supple.Stress("link1"), "no section with an outer fibre"),
        (supple.Strain("link1", 0.0, (1.0, 2.0, 3.0)), "give a distance"),
        (supple.Sensor(supple.Tip(), noise=(0.1, 0.2)), "noise has 2 entries"),
        ("tip", "output 'a' is 'tip'"),
    ]
    for output, sentence in cases:
        with pytest.raises(SuppleError, match=sentence):
            supple.simulate(model, duration=0.001, outputs={"a": output})
    with pytest.raises(SuppleError, match="give a dict of outputs"):
        supple.simulate(model, duration=0.001, outputs=[supple.Tip()])
    with pytest.raises(SuppleError, match="fraction is 2"):
        supple.Moment("link1", 2)
    delta = supple.build(supple.load("kuo-delta"), supple.AssumedModes(1))
    with pytest.raises(SuppleError, match="no motor 'lower1'"):
        supple.simulate(delta, duration=0.001, outputs={"a": supple.Reaction("lower1")})
    with pytest.raises(SuppleError, match="no slope at rest"):
        supple.linearize(spatial(), outputs=[supple.Stress("fore")])
    with pytest.raises(SuppleError, match="it needs a controller"):
        supple.linearize(model, inputs=["reference"])
    with pytest.raises(SuppleError, match="'wind' is not known"):
        supple.linearize(model, inputs=["wind"])
    with pytest.raises(SuppleError, match="delay is not linearised"):
        supple.linearize(model, outputs=[supple.Sensor(supple.Tip(), delay=0.1)])


@pytest.mark.parametrize("name", sorted(OUTPUTS.keys() - {"closureforce"}))  # that: test_mobility
def test_every_kind_says_its_names_and_runs(name):
    model = spatial()
    made = {"tip": supple.Tip(), "encoder": supple.Encoder("fore", 100)}
    output = made.get(name) or OUTPUTS[name]("fore")
    q, qd, _, qdd = moving(model, 6)
    assert len(value(model, output, q, qd, qdd)) == len(output.names(model))


def test_the_tip_has_an_attitude_too():
    """Roll, pitch and yaw make the axes of the tip again, in a model and at rest."""
    model = spatial()
    rng = np.random.default_rng(11)
    q = np.concatenate([[0.3, 0.4, -0.8], 1e-3 * rng.standard_normal(model.size - 3)])
    zero = np.zeros(model.size)
    found = value(model, supple.Tip(rotation=True), q, zero, zero)
    p, R = (np.array(x) for x in model.functions.expression("tip")(q))
    np.testing.assert_allclose(found[:3], p[:, 0], rtol=1e-12)
    np.testing.assert_allclose(rpy_rotation(found[3:]), R, atol=1e-12)
    names = supple.Tip(rotation=True).names(model)
    assert names == ["tip.x", "tip.y", "tip.z", "tip.roll", "tip.pitch", "tip.yaw"]
    robot = supple.loads(STILL)
    theta = [0.3, 0.4]
    sag = supple.statics(robot, theta, outputs={"tip": supple.Tip(rotation=True)})
    pose = supple.forward(robot, theta)
    np.testing.assert_allclose(rpy_rotation(sag.outputs["tip"][3:]), pose.rotation, atol=1e-9)


def test_statics_measures_what_a_model_at_rest_does():
    """Outputs of the exact sag and of a stiff model at rest: as near as the sag is small."""
    robot = supple.loads(STILL)
    theta = [0.3, 0.4]
    model = supple.build(robot, supple.FiniteElements(1, order="quintic"))
    still = supple.linearize(model, theta)
    outputs = {
        "tip": supple.Tip(),
        "upper": supple.Reaction("upper"),
        "fore": supple.Reaction("fore"),
        "root": supple.Moment("upper"),
        "middle": supple.Moment("fore", 0.5),
        "strain": supple.Strain("fore", 0.5, (-0.025, 0.01)),
        "curvature": supple.Strain("fore", 0.25),
        "stress": supple.Stress("fore", 0.5),
        "felt": supple.Accelerometer("upper", 0.5),
        "still": supple.Acceleration("fore", 0.5),
        "turning": supple.Gyroscope("fore", 0.5),
        "count": supple.Encoder("fore", 100),
        "rate": supple.Tachometer("fore"),
    }
    sag = supple.statics(robot, theta, outputs=outputs)
    qdd = model.forward_dynamics(still.q, still.qd, still.tau)
    for name, output in outputs.items():
        want = output.read(value(model, output, still.q, still.qd, qdd))
        scale = max(1e-30, np.abs(want).max())
        least = 1e-6 if name in ("still", "turning") else 1e-9 * scale
        rough = 1e-6 * scale if name in ("strain", "curvature") else least
        np.testing.assert_allclose(np.atleast_1d(sag.outputs[name]), want, atol=rough, err_msg=name)
    many = supple.statics(robot, [theta, [0.1, 0.2]], outputs=outputs)
    assert many.outputs["root"].shape == (2, 3)
    assert many.outputs["stress"].shape == (2,)
    np.testing.assert_allclose(many.outputs["root"][0], sag.outputs["root"], rtol=1e-12)
    with pytest.raises(SuppleError, match="there is no link 'hand'"):
        supple.statics(robot, theta, outputs={"a": supple.Moment("hand")})
    with pytest.raises(SuppleError, match="outputs is 3"):
        supple.statics(robot, theta, outputs=3)
    with pytest.raises(SuppleError, match="give a distance"):
        supple.statics(robot, theta, outputs={"a": supple.Strain("fore", 0.0, (1.0, 2.0, 3.0))})
    noisy = supple.Sensor(supple.Tip(), noise=(0.1, 0.2))
    with pytest.raises(SuppleError, match="noise has 2 entries"):
        supple.statics(robot, theta, outputs={"a": noisy})


def test_a_spatial_arm_at_rest_under_a_load_has_the_moments_of_its_levers():
    """Moments, reactions and stresses of statics by levers in the unbent pose, rolled sections."""
    robot = supple.loads(ARM)
    theta = [0.3, 0.4, -0.8]
    force = np.array([3.0, -20.0, 15.0])
    moment = np.array([1.0, 2.0, -0.5])
    outputs = {"m": supple.Moment("fore", 0.3), "r": supple.Reaction("fore")}
    outputs |= {"e": supple.Strain("fore", 0.3, (0.01, 0.02)), "s": supple.Stress("fore", 0.3)}
    free = supple.statics(robot, theta, force, moment, gravity=[0, 0, 0], outputs=outputs)
    frames = supple.forward(robot, theta)
    R = frames.rotation
    arm = R[:, 0] * 0.6 * 0.7
    want = R.T @ (moment + np.cross(arm, force))
    np.testing.assert_allclose(free.outputs["m"], want, rtol=1e-9)
    E = 70e9
    section = robot.section(robot.links[2])
    A, I_z, I_y, *_ = section.constants()
    N = (R.T @ force)[0]
    strain = N / (E * A) - 0.01 * want[2] / (E * I_z) + 0.02 * want[1] / (E * I_y)
    assert free.outputs["e"] == pytest.approx(strain, rel=1e-9)
    shear = want[0] * 0.025 / (2 * I_z)
    bend = np.hypot(want[1], want[2]) * 0.025 / I_z + abs(N) / A
    assert free.outputs["s"] == pytest.approx(np.sqrt(bend**2 + 3 * shear**2), rel=1e-9)
    back = free.outputs["r"]
    assert np.linalg.norm(back[:3]) == pytest.approx(np.linalg.norm(force), rel=1e-9)
    whole = moment + np.cross(R[:, 0] * 0.6, force)
    axis = np.array([0.2, 1, 0]) / np.hypot(0.2, 1)
    link = R.T @ -whole  # about the joint's axis it is the same in link and mounted axes
    assert axis @ back[3:] == pytest.approx(axis @ link, rel=1e-9)


def test_loops_and_stations_and_slides_at_rest():
    bar = supple.load("four-bar").with_("gravity", [0, -9.81, 0])
    found = supple.statics(bar, [1.0], outputs={"crank": supple.Reaction(bar.links[0].name)})
    sag = supple.statics(bar, [1.0])
    assert found.outputs["crank"][5] == pytest.approx(sag.root_moment[0, 2], rel=1e-12)
    delta = supple.load("kuo-delta")
    upper = supple.statics(delta, position=[0, 0, 0.6], outputs={"m": supple.Moment("upper1")})
    holding = supple.check(delta, position=[0, 0, 0.6]).holding
    assert abs(upper.outputs["m"][1]) == pytest.approx(abs(next(iter(holding.values()))), rel=1e-6)
    slide = supple.load("theodore-rrp").with_("gravity", [0, 0, -9.81])
    at = {"m": supple.Moment("link3", 0.5), "s": supple.Strain("link3", 0.5)}
    out = supple.statics(slide, [0.0, 0.0, 1.0], outputs=at)
    assert np.isfinite(out.outputs["m"]).all()
    assert np.isfinite(out.outputs["s"])


def test_outputs_along_a_path_balance_what_leads_it():
    """Reaction, moment and acceleration along a path, by the torque and the tip of the answer.

    The answer is linear in y, the outputs are not: they agree as far as the links bend little.
    """
    soft = supple.load("de-luca-two-link")
    robot = soft.with_({"links.link1.bending_stiffness": 5e3, "links.link2.bending_stiffness": 5e3})
    path = supple.PointToPoint([0.0, 0.0], [0.3, -0.2], 0.5)
    model = supple.build(robot, supple.AssumedModes(1))
    outputs = {
        "tip": supple.Tip(),
        "root": supple.Reaction("link1"),
        "m": supple.Moment("link1"),
        "a": supple.Acceleration("link2", 1.0),
        "e": supple.Encoder("link2"),
    }
    found = supple.follow(model, path, dt=0.002, outputs=outputs)
    rotor = model.robot.links[0].joint.reflected_inertia
    want = found.torque[:, 0] - rotor * path(found.t)[2][:, 0]
    root = found.outputs["root"][:, 5]
    np.testing.assert_allclose(root, want, atol=1e-4 * np.abs(want).max())
    a = np.diff(found.outputs["tip"], 2, axis=0) / 0.002**2
    np.testing.assert_allclose(found.outputs["a"][1:-1], a, atol=2e-2 * np.abs(a).max())
    np.testing.assert_allclose(found.outputs["e"], path(found.t)[0][:, 1], atol=1e-14)
    assert "output.m.z" in found.to_pandas().columns
    assert found.to_xarray()["output_m"].shape == (len(found.t), 3)
    with pytest.raises(SuppleError, match="no link 'hand'"):
        supple.follow(robot, path, outputs={"m": supple.Moment("hand")})
    alone = supple.follow(robot, path, dt=0.05, elements=1, outputs={"tip": supple.Tip()})
    np.testing.assert_allclose(alone.outputs["tip"][-1], found.outputs["tip"][-1], atol=1e-4)


def test_outputs_along_a_path_of_a_robot_with_loops():
    """What the crank's joint feels is the effort that leads it."""
    robot = supple.load("four-bar").with_("gravity", [0, -9.81, 0])
    path = supple.PointToPoint([1.0], [1.2], 0.2)
    outputs = {"r": supple.Reaction("crank"), "tip": supple.Tip()}
    found = supple.follow(robot, path, elements=1, dt=5e-3, outputs=outputs)
    want = found.torque[:, 0]
    np.testing.assert_allclose(found.outputs["r"][:, 5], want, atol=1e-3 * np.abs(want).max())
    rigid = np.array([supple.forward(robot, x).position for x in found.wanted])
    off = np.abs(found.outputs["tip"] - rigid - found.moved[:, :3]).max()
    assert off < 1e-3 * np.abs(found.moved[:, :3]).max()  # squares of a millimetre's bending


@pytest.mark.slow
def test_a_four_bar_in_motion_balances_its_pins():
    """Closure forces by multipliers: each pin of a loop, against efforts and free pins."""
    robot = supple.load("four-bar").with_("gravity", [0, -9.81, 0])
    model = supple.build(robot, supple.AssumedModes(1))
    names = [link.name for link in robot.links]
    rng = np.random.default_rng(3)
    still = supple.linearize(model, [1.0])
    q = still.q + 1e-5 * rng.standard_normal(model.size)
    qd = 0.1 * rng.standard_normal(model.size) * np.r_[1.0, np.full(model.size - 1, 1e-3)]
    tau = still.tau + 3.0
    qdd = model.forward_dynamics(q, qd, tau)
    # the motor's pin: the effort, less what its rotor and damping take
    first = value(model, supple.Reaction(names[0]), q, qd, qdd)
    joint = robot.links[0].joint
    effort = tau[0] - joint.reflected_inertia * qdd[0] - joint.damping[0] * qd[0]
    assert first[5] == pytest.approx(effort, rel=1e-9)
    # passive pins without springs carry no moment about their axes
    for name in names[1:]:
        found = value(model, supple.Reaction(name), q, qd, qdd)
        assert abs(found[5]) < 1e-9 * np.abs(first).max(), name
    # at an unloaded, massless end the moment vanishes; a hub apart, the root's moment is the pin's
    moment = value(model, supple.Moment(names[1]), q, qd, qdd)
    assert abs(moment[2]) < 1e-9 * np.abs(first).max()
    # acceleration of the tip, by differences of its place
    tip = names[robot.tip_index]
    a = value(model, supple.Acceleration(tip, 1.0), q, qd, qdd)
    h = 1e-5  # elastic accelerations are large: truncation is 7e-3 at 1e-4, and goes with h^2
    places = [model.tip(q + s * qd + s * s / 2 * qdd) for s in (-h, 0.0, h)]
    p = [np.asarray(getattr(each, "position", each)) for each in places]
    second = (p[0] - 2 * p[1] + p[2]) / h**2
    np.testing.assert_allclose(a, second, atol=1e-3 * np.abs(second).max())


@pytest.mark.slow
def test_a_stiff_four_bar_at_rest_carries_what_statics_says():
    robot = supple.load("four-bar").with_("gravity", [0, -9.81, 0])
    stiff = {f"materials.{name}.young_modulus": 2e16 for name in robot.materials}
    robot = robot.with_(stiff)
    model = supple.build(robot, supple.AssumedModes(1))
    still = supple.linearize(model, [1.0])
    qdd = np.zeros(model.size)
    outputs = {f"r.{link.name}": supple.Reaction(link.name) for link in robot.links}
    outputs |= {f"m.{link.name}": supple.Moment(link.name, 0.4) for link in robot.links}
    sag = supple.statics(robot, [1.0], outputs=outputs)
    scale = np.abs(sag.outputs[f"r.{robot.links[0].name}"]).max()
    for name, output in outputs.items():
        got = value(model, output, still.q, still.qd, qdd)
        np.testing.assert_allclose(got, sag.outputs[name], atol=1e-6 * scale, err_msg=name)


def test_strain_of_a_link_whose_bending_follows_from_a_loop():
    """Some of its coordinates are none of q: it was a ValueError."""
    data = supple.load("five-bar").model_dump(exclude_unset=True) | {"planar": False}
    data["links"] = [link | {"theory": "euler-bernoulli"} for link in data["links"]]
    model = supple.build(
        supple.MechanismRobot.model_validate(data), supple.AssumedModes(1, torsion=0)
    )
    q = model.chain.pose() + 1e-4 * np.random.default_rng(2).standard_normal(model.size)
    tied = {name.split(".")[1] for name in model.functions.loops.named if "eta" in name}
    assert tied
    h = 0.01
    for link in model.robot.links:
        w = [model.deflection_at(q, link.name, 0.5 + s)[2] for s in (-h, 0.0, h)]
        bent = (w[0] - 2 * w[1] + w[2]) / (h * link.length) ** 2  # psi_y = -w'
        found = value(model, supple.Strain(link.name, 0.5, (0.0, 1.0)), q, 0 * q, 0 * q)
        assert found == pytest.approx(-bent, rel=1e-3), link.name
    with pytest.raises(SuppleError, match=f"some bending of {min(tied)} follows from a loop"):
        supple.Strain(min(tied)).row(model)


def test_what_a_tilted_bearing_carries_is_told_in_its_mounted_axes():
    """Springs in mounted axes: F = -K d there, also where the bearing has tilted the joint."""
    springs = {"translation": [1e4, 2e4, 3e4], "rotation": [300.0, 400.0, None]}
    mount = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.3, -0.4, 0.9]}
    body = {"mass": 3.0, "com": [0.25, 0.1, 0], "inertia": [0.01, 0.02, 0.03]}
    link = {"name": "a", "length": 0.5, "theory": "rigid", "body": body, "roll": 0.4}
    link |= {"joint": {"mount": mount, "bearing": springs}}
    model = supple.build(supple.SerialRobot(name="tilted", links=[link], gravity=(1, 2, -9)))
    q = np.array([0.7, 0.03, -0.02, 0.05, 0.3, -0.2])
    qd = np.array([1.0, 0.2, 0.1, -0.3, 2.0, 1.0])
    tau = np.array([0.4])
    qdd = model.forward_dynamics(q, qd, tau)
    found = value(model, supple.Reaction("a"), q, qd, qdd)
    np.testing.assert_allclose(found[:3], -np.array([1e4, 2e4, 3e4]) * q[1:4], rtol=1e-9)


def test_reaction_of_a_universal_joint_is_in_its_mounted_axes():
    """A thin rod that swings from the ground: m (a - g) of its middle, base axes."""
    joint = {"type": "universal", "mount": {"rpy": [0.0, 0.0, 0.0]}}
    link = {"name": "a", "length": 0.5, "theory": "rigid", "joint": joint}
    link |= {"body": {"mass": 3.0, "com": [0.25, 0, 0], "inertia": [0.01, 0.02, 0.03]}}
    robot = supple.MechanismRobot(name="swing", links=[link], gravity=(1.0, 2.0, -9.0))
    model = supple.build(robot)
    q = np.array([0.6, -0.9])
    qd = np.array([1.5, -2.0])
    qdd = model.forward_dynamics(q, qd, np.zeros(0))
    found = value(model, supple.Reaction("a"), q, qd, qdd)
    pulled = value(model, supple.Acceleration("a", 0.5), q, qd, qdd) - np.array(robot.gravity)
    np.testing.assert_allclose(found[:3], 3.0 * pulled, rtol=1e-9)


def rolled(planar: bool, roll: str) -> supple.Robot:
    """An arm under its weight whose flat bar stands on edge, in the plane or in space."""
    bar = {"shape": "rectangle", "depth": 0.02, "width": 0.05}
    metal = {"young_modulus": 7e10, "poisson_ratio": 0.3, "density": 2700, "yield_strength": 2e8}
    link = {"name": "bar", "joint": {"type": "revolute", "rotor_inertia": 1}, "length": 1.0,
            "roll": roll, "material": metal, "section": bar}  # fmt: skip
    return supple.loads(json.dumps({
        "supple": 1, "name": "rolled", "architecture": "serial", "planar": planar,
        "gravity": [0, -9.81, 0], "links": [link], "payload": {"mass": 1.0},
    }))  # fmt: skip


@pytest.mark.parametrize("roll", ["90deg", "-90deg", "180deg"])
def test_a_rolled_section_of_a_planar_arm_is_that_of_the_same_arm_in_space(roll):
    outputs = {"s": supple.Stress("bar"), "y": supple.Strain("bar", 0.0, (0.01, 0.0)),
               "z": supple.Strain("bar", 0.0, (0.0, 0.02))}  # fmt: skip
    found = []
    for planar in (True, False):
        robot = rolled(planar, roll)
        rest = supple.statics(robot, [0.0], outputs=outputs).outputs
        model = supple.build(robot, supple.AssumedModes(1))
        q = model.chain.pose([0.0])
        q[model.chain.eta[0]] = (
            [1e-3] if planar else [0.0, 1e-3, 0.0] if "9" in roll else [1e-3, 0.0, 0.0]
        )
        moved = [value(model, outputs[name], q, 0 * q, 0 * q)[0] for name in outputs]
        check = supple.check(robot, [0.0]).stress["bar"][0]
        still = supple.response(
            robot, [0.0], [0.0], inputs=["force.y"], outputs=list(outputs.values())[1:]
        )
        moved += still.values[0, :, 0].real.tolist()
        found.append([*rest.values(), *np.abs(moved), check])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-12)
    # by hand: M c / I of the bar, 0.05 m high where it stands on edge
    M, h, b = 9.81 * (1.0 + 2.7 / 2), *((0.02, 0.05) if roll == "180deg" else (0.05, 0.02))
    assert found[0][0] == pytest.approx(M * (h / 2) / (b * h**3 / 12), rel=1e-9)


def test_an_accelerometer_on_an_arm_that_sags_reads_its_tilt():
    """Slopes of a cantilever, m g L^3 / 6 EI and M g L^2 / 2 EI, and its twist T L / GJ."""
    L = 1.5
    m = 2.0
    EI = (4e4, 3e4)
    GJ = 2e4
    M = 3.0
    c = 0.1
    beam = {"mass_per_length": m, "bending_stiffness": list(EI), "torsional_stiffness": GJ}
    tip = {"mass": M, "com": [0, c, 0], "inertia": [0.1, 0.1, 0.1]}
    link = {"name": "one", "length": L, "theory": "inextensible", **beam, "tip": tip}
    gravity = np.array([0.0, -3.0, -9.0])
    robot = supple.SerialRobot(name="arm", gravity=gravity.tolist(), links=[link])
    sag = supple.statics(robot, [0.0], outputs={"felt": supple.Accelerometer("one")})
    slope = gravity * (m * L**3 / 6 + M * L**2 / 2)  # of v and w, times EI
    turn = np.array([c * M * gravity[2] * L / GJ, -slope[2] / EI[1], slope[1] / EI[0]])
    wanted = -gravity + np.cross(turn, gravity)  # (1 + turn x)' (-g)
    assert sag.outputs["felt"] == pytest.approx(wanted, rel=1e-9)
    assert np.abs(np.cross(turn, gravity)).min() > 1e-4


@pytest.mark.parametrize("place", [0.013, 0.4, 0.71, 0.987])
def test_stress_along_a_steep_taper_is_that_of_the_section_there(place):
    """A bar that thins to a twentieth: M c / I, with a torque Saint-Venant's rectangle there."""
    import casadi as ca

    from supple.outputs.stress import stress_along, von_mises
    from supple.structure.link_parts import link_beam

    thick = 0.1
    thin = 0.005
    stations = [{"at": x, "section": {"shape": "rectangle", "depth": h, "width": 0.03}}
                for x, h in ((0, thick), (1.0, thin))]  # fmt: skip
    metal = {"young_modulus": 7e10, "poisson_ratio": 0.3, "density": 2700}
    link = {"name": "horn", "length": 1.0, "material": metal, "stations": stations}
    robot = supple.SerialRobot(name="horn", links=[link])
    x = ca.SX.sym("x")
    load = ca.SX.sym("load", 6)
    along = stress_along(link_beam(robot, robot.links[0]), x, load, False)
    f = ca.Function("f", [x, load], [along])
    h = thick + (thin - thick) * place
    bent = float(f(place, [0, 0, 0, 0, 0, 7.0]))
    assert bent == pytest.approx(7.0 * (h / 2) / (0.03 * h**3 / 12), rel=1e-11)
    section = supple.Rectangle(shape="rectangle", depth=h, width=0.03)
    carried = [30.0, 0, 0, 5.0, -2.0, 7.0]
    assert float(f(place, carried)) == pytest.approx(von_mises(section, carried), rel=1e-9)


@pytest.mark.parametrize("kind", sorted(OUTPUTS))
def test_every_value_of_an_output_is_named_in_words_with_its_unit(kind: str) -> None:
    model = supple.build(supple.load("industrial-3"), supple.AssumedModes(1))
    output = OUTPUTS[kind]() if kind == "tip" else OUTPUTS[kind]("link1")
    entries = output.entries
    assert len(entries) == len(output.names(model))
    assert len({word for word, _ in entries}) == len(entries)
    assert all(unit for _, unit in entries)
    assert supple.Sensor(output).entries == entries
