"""Random arms: mass matrix, power balance and the three recursions agree with themselves."""

import numpy as np
import pytest

from properties.random_arms import random_arm
from supple import AssumedModes, FiniteElements, Model, SerialRobot, SuppleError, build, regressor

SEEDS = range(24)


def _buildable(robot: SerialRobot, seed: int) -> SerialRobot:
    """Springs get rotors, gravity is on: what `build` needs and what makes it harder."""
    changes = {
        f"links.{link.name}.joint.rotor_inertia": 0.2
        for link in robot.links
        if link.joint.stiffness is not None
    }
    return robot.with_({**changes, "gravity": [1.0, -9.0, 0.0 if robot.planar else 2.0]})


def model_of(seed: int, **options: object) -> Model:
    arm = random_arm(seed, links=1 + seed % 4)
    robot = _buildable(arm.robot, seed)
    basis = AssumedModes(1 + seed % 3, axial=seed % 2, torsion=(seed // 2) % 2)
    try:
        return build(robot, basis, damping=0.01, **options)  # type: ignore[arg-type]
    except SuppleError as problem:
        if "torsion shapes need inertia" in str(problem) or "singular" in str(problem):
            pytest.skip(str(problem))
        raise


def state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Joints anywhere; elastic coordinates that bend the ends by up to a few hundredths."""
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-2, 2, (2, model.size))
    for i, part in enumerate(model.chain.eta):
        scale = 0.05 / (1e-12 + np.abs(model.chain.links[i].inv.Psi_end).max(initial=0.0))
        q[part] *= scale
        qd[part] *= scale
    return q, qd


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_positive_definite(seed: int, stiffening: bool) -> None:
    model = model_of(seed, stiffening=stiffening)
    q, _ = state(model, seed)
    M = model.mass_matrix(q)
    assert np.array_equal(M, M.T)
    d = np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M / np.outer(d, d))[0] > 0


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_bias_does_no_work_beyond_the_mass_matrix(seed: int, stiffening: bool) -> None:
    """qd' (dM/dt qd - 2 h) = 0 to 1e-12 of its terms."""
    import casadi as ca

    model = model_of(seed, stiffening=stiffening)
    q, qd = state(model, seed)
    x = ca.SX.sym("x", model.size)
    v = ca.SX.sym("v", model.size)
    M = model.functions.expression("mass_matrix")(x)
    rate = ca.Function("rate", [x, v], [ca.jtimes(ca.mtimes(M, v), x, v)])
    Md_qd = np.array(rate(q, qd)).ravel()
    h = model.bias(q, qd)
    size = np.abs(qd * Md_qd).sum() + 2 * np.abs(qd * h).sum()
    assert abs(qd @ (Md_qd - 2 * h)) <= 1e-12 * size


@pytest.mark.parametrize("seed", SEEDS)
def test_bias_is_that_of_christoffel(seed: int) -> None:
    """h = dM/dt qd - 1/2 d(qd' M qd)/dq, from the mass matrix alone."""
    import casadi as ca

    model = model_of(seed)
    q, qd = state(model, seed)
    x = ca.SX.sym("x", model.size)
    v = ca.SX.sym("v", model.size)
    momentum = ca.mtimes(model.functions.expression("mass_matrix")(x), v)
    h = ca.jtimes(momentum, x, v) - ca.gradient(ca.dot(momentum, v), x) / 2
    wanted = np.array(ca.Function("h", [x, v], [h])(q, qd)).ravel()
    assert np.abs(model.bias(q, qd) - wanted).max() <= 1e-11 * max(1e-9, np.abs(wanted).max())


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_undoes_inverse(seed: int, stiffening: bool) -> None:
    model = model_of(seed, stiffening=stiffening)
    q, qd = state(model, seed)
    tau = np.random.default_rng(seed).normal(size=model.joints)
    qdd = model.forward_dynamics(q, qd, tau)
    forces = model.inverse_dynamics(q, qd, qdd)
    size = np.abs(model.mass_matrix(q)) @ np.abs(qdd) + np.abs(model.stiffness) @ np.abs(q) + 1
    wanted = np.append(tau, np.zeros(model.size - model.joints))
    assert (np.abs(forces - wanted) / size).max() < 1e-12
    sum_of_terms = model.mass_matrix(q) @ qdd + model.bias(q, qd) + model.gravity(q)
    sum_of_terms += model.stiffness @ q + model.damping @ qd
    assert (np.abs(sum_of_terms - forces) / size).max() < 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_power_balance(seed: int) -> None:
    """dE/dt = tau' theta_d - qd' D qd to 1e-9 of the powers at work, tip wrench included."""
    import casadi as ca

    model = model_of(seed, stiffening=bool(seed % 2))
    q, qd = state(model, seed)
    rng = np.random.default_rng(seed)
    tau = rng.normal(size=model.joints)
    wrench = rng.normal(size=6)
    wrench[3:] = 0
    qdd = model.forward_dynamics(q, qd, tau, wrench)

    # Rate of the energy, E_q qd + E_qd qdd
    x = ca.SX.sym("x", model.size)
    v = ca.SX.sym("v", model.size)
    E = ca.sum1(model.functions.expression("energies")(x, v))
    slope = ca.Function("slope", [x, v], [ca.gradient(E, x), ca.gradient(E, v)])
    by_q, by_qd = (np.array(part).ravel() for part in slope(q, qd))

    # Power of efforts, damping and tip force
    p = model.functions.expression("tip")(x)[0]
    tip_velocity = np.array(ca.Function("speed", [x, v], [ca.jtimes(p, x, v)])(q, qd)).ravel()
    power = tau @ qd[: model.joints] - qd @ model.damping @ qd + wrench[:3] @ tip_velocity
    size = np.abs(by_q * qd).sum() + np.abs(by_qd * qdd).sum()
    assert abs(by_q @ qd + by_qd @ qdd - power) <= 1e-9 * size


@pytest.mark.parametrize("seed", range(6))
def test_finite_elements_are_a_basis_like_any_other(seed: int) -> None:
    arm = random_arm(seed, links=2)
    robot = _buildable(arm.robot, seed)
    model = build(robot, FiniteElements(2, modes=None if seed % 2 else 1))
    q, qd = state(model, seed)
    tau = np.ones(model.joints)
    qdd = model.forward_dynamics(q, qd, tau)
    forces = model.inverse_dynamics(q, qd, qdd)
    size = np.abs(model.mass_matrix(q)) @ np.abs(qdd) + np.abs(model.stiffness) @ np.abs(q) + 1
    wanted = np.append(tau, np.zeros(model.size - model.joints))
    assert (np.abs(forces - wanted) / size).max() < 1e-11


@pytest.mark.parametrize("seed", range(8))
def test_batches_and_derivatives(seed: int) -> None:
    model = model_of(seed)
    states = [state(model, 100 + k) for k in range(7)]
    q, qd = (np.array(part) for part in zip(*states, strict=True))
    tau = np.random.default_rng(seed).normal(size=(7, model.joints))
    many = model.forward_dynamics(q, qd, tau)
    one = [model.forward_dynamics(*x) for x in zip(q, qd, tau, strict=True)]
    assert np.array_equal(many, np.array(one))
    assert model.mass_matrix(q).shape == (7, model.size, model.size)
    dq, dqd, dtau = model.derivatives(q[0], qd[0], tau[0])
    # M d(qdd)/d(qd) = -dh/d(qd) - D, and h is quadratic in qd: central differences are exact
    M = model.mass_matrix(q[0])
    scale = np.abs(model.bias(q[0], 2 + np.abs(qd[0]))).max()
    for k, e in enumerate(np.eye(model.size)):
        slope = (model.bias(q[0], qd[0] + e) - model.bias(q[0], qd[0] - e)) / 2
        wanted = -slope - model.damping[:, k]
        size = scale + np.abs(model.damping).max() + np.abs(M) @ np.abs(dqd[:, k])
        assert (np.abs(M @ dqd[:, k] - wanted) <= 1e-10 * size).all()
    assert dq.shape == (model.size, model.size)
    assert dtau.shape == (model.size, model.joints)
    assert np.allclose(M @ dtau, np.eye(model.size)[:, : model.joints], atol=1e-8)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_regressor(seed: int) -> None:
    """M qdd + h + g = Y pi."""
    model = model_of(seed)
    Y = regressor(model)
    q, qd = state(model, seed)
    qdd = np.random.default_rng(seed).normal(size=model.size)
    wanted = model.inverse_dynamics(q, qd, qdd) - model.stiffness @ q - model.damping @ qd
    size = np.abs(Y(q, qd, qdd)) @ np.abs(Y.pi) + np.abs(model.stiffness @ q)
    assert (np.abs(Y(q, qd, qdd) @ Y.pi - wanted) <= 1e-12 * size).all()
    assert len(set(Y.names)) == len(Y.names)
    # other states than those of `identifiable` give the same number of independent directions
    states = np.random.default_rng(1000 + seed).normal(size=(3, 5 * len(Y.pi), model.size))
    rows = Y(*states).reshape(-1, len(Y.pi))
    values = np.linalg.svd(rows / np.maximum(np.abs(rows).max(axis=0), 1e-300), compute_uv=False)
    rank = Y.identifiable()
    assert values[rank - 1] > 1e-9 * values[0]
    assert (values[rank:] < 1e-12 * values[0]).all()


@pytest.mark.parametrize(("gravity", "count"), [([0, -9.81, 0], 6), ([0, 0, 0], 4)])
def test_base_parameters_of_two_rigid_links(gravity: list[float], count: int) -> None:
    """J_1 + m_2 l_1^2, J_2 and both first moments of link 2; gravity sees those of link 1 too."""
    tip = {"mass": 0.3, "com": [0.01, 0.02, 0], "inertia": 0.01}
    link = {"length": 0.5, "theory": "rigid", "mass_per_length": 1.0, "tip": tip}
    links = [{"name": f"link{i}", **link} for i in (1, 2)]
    robot = SerialRobot(name="two", planar=True, gravity=gravity, links=links)
    assert regressor(build(robot)).identifiable() == count
