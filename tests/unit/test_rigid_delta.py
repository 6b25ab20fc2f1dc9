"""Rigid dynamics of the Delta: power balance, Lagrange's equations, the paper's lumped masses."""

import numpy as np
import pytest

import supple
from supple.architectures.delta_motion import jacobian, motion, moving_links
from supple.equations.closed.rigid_delta import RigidDelta

ROBOT = supple.load("kuo-delta")
HEAVY = ROBOT.with_(
    {
        "upper.tip": {"mass": 0.2, "com": [0.01, 0.02, -0.01], "inertia": [1e-3, 2e-3, 2e-3]},
        "lower.tip": {"mass": 0.1, "com": [0.0, 0.01, 0.0], "inertia": [1e-4, 2e-4, 3e-4]},
        "payload": {"mass": 0.3},
        "motor.rotor_inertia": 0.01,
        "lower.theory": "timoshenko",
    }
)
PAIRED = ROBOT.with_({"lower.rods": "parallelogram", "lower.spacing": 0.06})
H = 1e-3
# The robot's numbers, for formulas that are written out
DENSITY = 7800.0  # kg/m^3
WIDTH = 5e-3  # m, of its square rods
UPPER_LENGTH = 0.5  # m
LOWER_LENGTH = 0.6  # m
UPPER_MASS = DENSITY * WIDTH**2 * UPPER_LENGTH  # kg
LOWER_MASS = DENSITY * WIDTH**2 * LOWER_LENGTH  # kg
PLATFORM_MASS = 0.5  # kg


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    c = np.cos
    s = np.sin
    return (
        np.array([0.1 * c(2 * t), 0.1 * s(2 * t) + 0.02 * t, 0.5 + 0.05 * s(3 * t)]),
        np.array([-0.2 * s(2 * t), 0.2 * c(2 * t) + 0.02, 0.15 * c(3 * t)]),
        np.array([-0.4 * c(2 * t), -0.4 * s(2 * t), -0.45 * s(3 * t)]),
    )


def slope(values: list[float]) -> float:
    return (values[0] - 8 * values[1] + 8 * values[3] - values[4]) / (12 * H)


@pytest.mark.parametrize("robot", [ROBOT, HEAVY, PAIRED], ids=["kuo", "heavy", "paired"])
@pytest.mark.parametrize("masses", ["uniform", "paper"])
def test_power_balance(robot: supple.DeltaRobot, masses: str) -> None:
    model = RigidDelta(robot, masses)
    for t in (0.2, 0.9):
        energy = [sum(model.energy(*path(t + k * H)[:2]))[0] for k in range(-2, 3)]
        tau = model.inverse_dynamics(*path(t))[0]
        power = tau @ motion(robot, *path(t)).theta[1][0]
        assert slope(energy) == pytest.approx(power, abs=1e-9)  # five-point rule: h^4 = 1e-12


@pytest.mark.parametrize("robot", [ROBOT, HEAVY, PAIRED], ids=["kuo", "heavy", "paired"])
def test_forward_undoes_inverse(robot: supple.DeltaRobot) -> None:
    model = RigidDelta(robot)
    force = np.array([1.0, -2.0, 0.5])
    P, v, a = path(0.4)
    tau = model.inverse_dynamics(P, v, a, force)
    assert model.forward_dynamics(P, v, tau, force)[0] == pytest.approx(a, abs=1e-12)


@pytest.mark.parametrize("robot", [ROBOT, HEAVY], ids=["kuo", "heavy"])
def test_lagrange(robot: supple.DeltaRobot) -> None:
    """d/dt dT/dv - dT/dP + dV/dP by differences of the energies alone equals the loads."""
    model = RigidDelta(robot)
    P, v, a = path(0.4)
    step = 1e-4

    def T(P: np.ndarray, v: np.ndarray) -> float:
        return float(model.energy(P, v)[0][0])

    M = model.mass_matrix(P)[0]
    Mdot = (model.mass_matrix(P + step * v)[0] - model.mass_matrix(P - step * v)[0]) / (2 * step)
    gradient = [
        (T(P + step * e, v) - T(P - step * e, v)) / (2 * step)
        - (model.energy(P + step * e, v)[1][0] - model.energy(P - step * e, v)[1][0]) / (2 * step)
        for e in np.eye(3)
    ]
    wanted = M @ a + Mdot @ v - gradient
    assert model.loads(motion(robot, P, v, a))[0] == pytest.approx(wanted, abs=1e-6)


def test_lumped_masses_are_those_of_the_paper() -> None:
    """T of [Kuo2016], Eq. (11), with the velocities of the same motion."""
    P, v, _ = path(0.4)
    phid = motion(ROBOT, P, v).theta[1][0]
    T = PLATFORM_MASS / 2 * v @ v
    T += UPPER_MASS * UPPER_LENGTH**2 / 6 * phid @ phid
    T += LOWER_MASS / 2 * sum(v @ v + UPPER_LENGTH**2 * rate**2 for rate in phid)
    thin = ROBOT.with_("upper.theory", "euler-bernoulli")
    assert RigidDelta(thin, "paper").energy(P, v)[0][0] == pytest.approx(T, rel=1e-12)


def test_uniform_rods() -> None:
    """One thin rod: m/6 (vB.vB + vB.vD + vD.vD), and its spin, whose inertia is 1e-6 of that."""
    P, v, _ = path(0.4)
    moved = motion(ROBOT, P, v)
    phid = moved.theta[1][0]
    rods = moving_links(ROBOT, moved)[1]
    T = PLATFORM_MASS / 2 * v @ v
    T += UPPER_MASS * UPPER_LENGTH**2 / 6 * phid @ phid
    T += LOWER_MASS / 6 * sum(vB @ vB + vB @ v + v @ v for vB in rods.v[0])

    polar_inertia = DENSITY * WIDTH**4 / 6 * LOWER_LENGTH  # of a square rod about its axis
    for R, angular_velocity in zip(moved.at.R_lower[0], rods.w[0], strict=True):
        T += polar_inertia / 2 * (R[:, 0] @ angular_velocity) ** 2
    assert RigidDelta(ROBOT).energy(P, v)[0][0] == pytest.approx(T, rel=1e-12)


def test_weight_on_the_axis_by_virtual_work() -> None:
    """At rest on the axis: 3 tau dtheta = weight done on all parts, by symmetry."""
    model = RigidDelta(ROBOT)
    step = 1e-5
    V = [model.energy([0, 0, 0.5 + s], [0, 0, 0])[1][0] for s in (-step, step)]
    slope_theta = jacobian(ROBOT, [0, 0, 0.5])[0, :, 2]
    tau = model.inverse_dynamics([0, 0, 0.5], [0, 0, 0], [0, 0, 0])[0]
    assert tau == pytest.approx([tau[0]] * 3, rel=1e-12)
    assert tau @ slope_theta == pytest.approx((V[1] - V[0]) / (2 * step), rel=1e-8)


def test_the_payloads_centre_has_its_height() -> None:
    """The platform does not turn: a centre at c adds -m g . c to the potential energy, always."""
    m = 2.0
    g = np.array([0.3, -0.5, 9.0])
    plain = supple.load("kuo-delta").with_({"payload": {"mass": m}, "gravity": g.tolist()})
    for c in ([0.05, -0.02, 0.1], [0.0, 0.0, -0.3]):
        moved = plain.with_("payload", {"mass": m, "com": c})
        for P in ([0.0, 0.0, 0.5], [0.1, -0.05, 0.6]):
            one, other = (RigidDelta(r).energy(P, [1.0, 0, 0]) for r in (moved, plain))
            assert one[1] - other[1] == pytest.approx(-m * g @ c, abs=1e-12)
            assert one[0] == pytest.approx(other[0], rel=1e-12)
