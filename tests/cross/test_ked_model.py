"""Kineto-elasto matrices of serial arms beside the linearised Model: two programs, one motion.

The Model's residual M qdd + h + K q + g, differentiated at eta = 0 along the motion of the joints,
must give M, C, K, F of the kineto-elasto model, motor rows included.
"""

from collections.abc import Callable

import numpy as np
import pytest

import supple
from supple.architectures.delta_motion import motion
from supple.kernels.newmark import newmark
from supple.path_dynamics.kineto_elastodynamics import ked
from supple.path_dynamics.linearised_model import PathModel
from supple.path_dynamics.motors import motor_side

THETA, RATE, SECOND = (np.array(x) for x in ([0.4, -0.7, 0.5], [2.0, 3.0, -2.5], [5.0, -4.0, 3.0]))
STEP = 1e-5


def arm(planar: bool) -> supple.SerialRobot:
    """Two links that keep their length; a heavy tip; weight."""
    beam = {
        "length": 0.6,
        "mass_per_length": 0.4,
        "bending_stiffness": [30.0, 40.0],
        "polar_inertia_per_length": 0.0,
    }
    second = [0, 0, 1] if planar else [0, 1, 0]
    links = [
        {"name": "a", "joint": {"axis": [0, 0, 1]}, **beam},
        {"name": "b", "joint": {"axis": second}, **beam, "tip": {"mass": 0.7}},
    ]
    gravity = (0.0, -9.81, 0.0) if planar else (0.0, 0.0, -9.81)
    return supple.SerialRobot(name="arm", links=links, gravity=gravity, planar=planar)


def laden_arm() -> supple.SerialRobot:
    """Three links that bend, shear, twist and stretch; bodies off the axis, mounts, a spring."""
    beam = {
        "length": 0.6,
        "mass_per_length": 0.4,
        "bending_stiffness": [30.0, 40.0],
        "shear_stiffness": [4e3, 5e3],
        "torsional_stiffness": 20.0,
        "axial_stiffness": 1e5,
        "rotary_inertia_per_length": 1e-9,  # next to none: a Model turns sections by one order less
    }
    body = {
        "mass": 0.7,
        "com": [0.1, -0.05, 0.08],
        "inertia": [0.02, 0.03, 0.04, 3e-3, 2e-3, -4e-3],
    }
    mount = {"xyz": [0.05, -0.1, 0.07], "rpy": [0.3, -0.4, 0.9]}
    links = [
        {"name": "a", "joint": {"axis": [0, 0, 1], "mount": mount}, **beam, "tip": body},
        {
            "name": "b",
            "joint": {
                "axis": [0, 1, 0],
                "mount": mount,
                "hub": body,
                "stiffness": 300.0,
                "rotor_inertia": 0.1,
            },
            **beam,
            "roll": 0.3,
        },
        {"name": "c", "joint": {"axis": [1, 0.5, 1]}, **beam, "tip": body},
    ]
    return supple.SerialRobot(name="laden", links=links, gravity=(1.0, 2.0, -9.81))


def linearised(model: supple.Model) -> dict[str, np.ndarray]:
    """M, C, K (N, elastic) and F (N,) of all rows, by differences; exact for M and F."""
    d = model.joints
    size = model.size - d
    zero = np.zeros(size)
    unit = np.eye(size)

    def residual(eta: np.ndarray, etad: np.ndarray, etadd: np.ndarray) -> np.ndarray:
        q = np.r_[THETA[:d], eta]
        qd = np.r_[RATE[:d], etad]
        qdd = np.r_[SECOND[:d], etadd]
        return model.inverse_dynamics(q, qd, qdd)

    here = residual(zero, zero, zero)
    h = STEP
    return {
        "M": np.array([residual(zero, zero, e) - here for e in unit]).T,
        "C": np.array([residual(zero, h * e, zero) - residual(zero, -h * e, zero) for e in unit]).T
        / (2 * h),
        "K": np.array([residual(h * e, zero, zero) - residual(-h * e, zero, zero) for e in unit]).T
        / (2 * h),
        "F": -here,
    }


ARMS = {"planar": arm(True), "spatial": arm(False), "laden": laden_arm()}


@pytest.mark.parametrize("case", ARMS)
@pytest.mark.parametrize("elements", [1, 2])
def test_all_terms_are_those_of_the_linearised_model(case: str, elements: int) -> None:
    """M, C, F and K with preload: the Model has foreshortening and finite rotations of its ends.

    In space the preload's moments count in K as well: they couple bending and twist.
    """
    robot = ARMS[case]
    model = supple.build(robot, supple.FiniteElements(elements), stiffening=True)
    wanted = linearised(model)
    d = model.joints
    where = (THETA[:d], RATE[:d], SECOND[:d])
    small = ked(robot, where[0], elements)
    found = small.matrices(*where)
    elastic = np.concatenate([np.zeros((d, small.size)), small.stiffness])
    rotors = motor_side(robot, *np.atleast_2d(*where))[0]  # not among the rows of a Ked
    wanted["F"][:d] += rotors
    for k, name in enumerate("MCKF"):
        rest = elastic if name == "K" else 0.0
        ours = np.concatenate([found.drive[k][0], getattr(found, name)[0]]) - rest
        exact = wanted[name] - rest
        # differences leave rounding, 1e-16 of the elastic stiffness over the step
        assert np.abs(ours - exact).max() < 1e-7 * np.abs(exact).max(), name


def test_a_led_model_is_the_same_by_its_own_derivatives() -> None:
    """PathModel differentiates the Model's expressions, the kineto-elasto model never sees it."""
    robot = ARMS["laden"]
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True)
    led = PathModel(model)
    small = ked(robot, THETA, 1)
    ours, theirs = (x.matrices(THETA, RATE, SECOND) for x in (led, small))
    for name in ("M", "C", "K", "F", "tip"):
        a = getattr(ours, name)
        b = getattr(theirs, name)
        assert np.abs(a - b).max() < 1e-7 * np.abs(b).max(), name
    for link in led.names:
        a, b = (x.section(link, 0.7, THETA[None]) for x in (led, small))
        assert a == pytest.approx(b, abs=1e-12)
        assert led.length(link) == small.length(link)
    assert led.elastic(THETA) == pytest.approx(small.elastic(THETA), abs=1e-9)


@pytest.mark.parametrize(
    "name", ["de-luca-two-link", "di-castri-two-link", "industrial-3", "four-bar", "five-bar"]
)
def test_both_engines_agree_on_library_robots(name: str) -> None:
    """Whole answers of `follow`; sections turn by one order less in a Model, 3e-8 of K at most."""
    robot = supple.load(name)
    here = np.ravel(supple.modes(robot, count=1).theta)
    path = supple.PointToPoint(here, here + 0.1, 3.0)
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True)
    found = supple.follow(robot, path, elements=1, dt=5e-3)
    wanted = supple.follow(model, path, dt=5e-3)
    assert found.model.linearised is None
    assert wanted.model.linearised is not None
    for ours, theirs in ((found.moved, wanted.moved), (found.torque, wanted.torque)):
        assert np.abs(ours - theirs).max() < 1e-9 * np.abs(theirs).max()


@pytest.mark.filterwarnings("ignore:links of laden bend:supple.SmallRangeWarning")
def test_a_sprung_motor_feels_what_damps_its_joint() -> None:
    """Its torque turns the rotor and twists the joint, which modal damping damps too.

    The links bend by more than a linear model is good for: here two linear programs are compared.
    """
    robot = laden_arm()
    path = supple.PointToPoint([0.0, 0.0, 0.0], [0.3, 0.2, -0.1], 0.5)
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True, modal_damping=0.05)
    found = supple.follow(robot, path, elements=1, modal_damping=0.05, start="rest", dt=0.01)
    wanted = supple.follow(model, path, start="rest", dt=0.01)
    assert found.torque == pytest.approx(wanted.torque, abs=1e-6 * np.abs(wanted.torque).max())


def test_motors_keep_their_order_where_arms_alike_are_not_neighbours() -> None:
    """Of three arms the outer ones are alike and are computed together."""
    beam = {
        "length": 0.6,
        "mass_per_length": 0.4,
        "bending_stiffness": [300.0, 400.0],
        "polar_inertia_per_length": 0.0,
        "parent": "base",
    }
    links = [
        {"name": name, **beam, "joint": {"type": "revolute"}, "tip": {"mass": mass}}
        for name, mass in (("a", 0.5), ("b", 2.0), ("c", 0.5))
    ]
    robot = supple.MechanismRobot(name="three", links=links, gravity=(0, -9.81, 0), tip="c")
    path = supple.PointToPoint([0.0, 0.1, 0.2], [0.3, 0.3, 0.1], 1.0)
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True)
    found = supple.follow(robot, path, elements=1, dt=0.01)
    wanted = supple.follow(model, path, dt=0.01)
    assert found.torque == pytest.approx(wanted.torque, abs=1e-9 * np.abs(wanted.torque).max())


SLIDE = supple.PointToPoint((0.0, 0.0, 0.3), (np.pi / 2, -0.7, 1.0), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("basis", [supple.AssumedModes(2), supple.FiniteElements(2)])
def test_links_that_slide_as_under_the_decoupling_law(basis: supple.Basis) -> None:
    """Joints held to the path by the law, all nonlinear terms, an adaptive integrator: apart by the
    second order of Newmark's steps alone, since a point mass on the last link leaves eta linear."""
    model = supple.build(supple.load("theodore-rrp"), basis)
    law = supple.Decoupling(position_gain=100, velocity_gain=20)
    wanted = supple.simulate(
        model, controller=law, trajectory=SLIDE, theta0=[0, 0, 0.3], duration=1.2, dt=2e-3
    )
    off = []
    for step in (1e-3, 5e-4):
        found = supple.follow(model, SLIDE, step=step, start="rest", after=0.2, scheme=newmark())
        rows = slice(None, None, round(2e-3 / step))
        gap = np.abs(found.y[rows] - wanted.q[:, 3:]).max()
        off.append(gap / np.abs(wanted.q[:, 3:]).max())
        bent = found.deflection("link3")[rows, :3] - wanted.deflection("link3")
        assert np.abs(bent).max() < 4e-4 * np.abs(wanted.deflection("link3")).max()
    assert off[1] < 1e-4
    assert off[0] / off[1] == pytest.approx(4, rel=0.05)
    # efforts: turning joints to the same order, the slide's own has squares of eta as well
    torque = np.abs(found.torque[rows] - wanted.tau).max(axis=0) / np.abs(wanted.tau).max(axis=0)
    assert (torque < [5e-5, 5e-5, 5e-4]).all()
    chosen = supple.follow(model, SLIDE, dt=2e-3, start="rest", after=0.2)
    gap = np.abs(chosen.y - wanted.q[:, 3:]).max() / np.abs(wanted.q[:, 3:]).max()
    assert gap < off[1] / 4  # steps of fourth order are nearer than Newmark's at 0.5 ms


def delta_robot(rods: str) -> supple.DeltaRobot:
    """Kuo's Delta ten times as stiff, with next to no rotary inertia in its sections."""
    beam = {
        "mass_per_length": 0.195,
        "bending_stiffness": [109.0, 120.0],
        "axial_stiffness": 5.25e6,
        "torsional_stiffness": 83.0,
        "material": None,
        "section": None,
        "theory": None,
        "polar_inertia_per_length": 1e-9,
    }
    changes = {f"{part}.{key}": value for part in ("upper", "lower") for key, value in beam.items()}
    more = {"lower.rods": rods, "platform.inertia": [1e-3, 2e-3, 3e-3]}
    if rods == "parallelogram":
        more["lower.spacing"] = 0.05
    return supple.load("kuo-delta").with_(changes | more)


def slope(f: Callable[[float], np.ndarray], h: float = 1e-4) -> np.ndarray:
    """f'(0) to h^4."""
    return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h)


@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_a_delta_is_the_linearised_coupled_model(rods: str) -> None:
    """The coupled model, its loops closed by Newton's method, differentiated at rest of y."""
    robot = delta_robot(rods)
    path = supple.InvertedU()
    t = 0.23
    coupled = supple.build(robot, supple.FiniteElements(1), stiffening=True)
    theta, rate, second = (x[0] for x in motion(robot, *(x[None] for x in path(t))).theta)
    N = coupled.size - 3

    def residual(y: np.ndarray, yd: np.ndarray) -> np.ndarray:
        q = np.r_[theta, y]
        qd = np.r_[rate, yd]
        qdd = np.r_[second, np.zeros(N)]
        return coupled.inverse_dynamics(q, qd, qdd)

    small = ked(robot, path(t)[0], 1)
    found = small.matrices(*path(t))
    zero = np.zeros(N)
    elastic = np.concatenate([np.zeros((3, N)), small.stiffness])
    wanted = {
        "M": coupled.mass_matrix(np.r_[theta, zero])[:, 3:],
        "C": np.array([slope(lambda s, e=e: residual(zero, s * e)) for e in np.eye(N)]).T,
        "K": np.array([slope(lambda s, e=e: residual(s * e, zero)) for e in np.eye(N)]).T - elastic,
        "F": -residual(zero, zero),
    }
    for k, name in enumerate("MCKF"):
        ours = np.concatenate([found.drive[k][0], getattr(found, name)[0]])
        ours = ours - elastic if name == "K" else ours
        assert np.abs(ours - wanted[name]).max() < 1e-8 * np.abs(wanted[name]).max(), name
