"""`modal_damping`: the ratio asked for is that of the poles, whatever hangs where."""

import numpy as np
import pytest

import supple
from supple.equations.equilibrium import stiffness_at

BAR = {
    "mass_per_length": 2.0,
    "bending_stiffness": [300.0, 200.0],
    "torsional_stiffness": 150.0,
    "rotary_inertia_per_length": 1e-3,
}
BALL = {"type": "spherical", "stiffness": 40.0, "start": [0.1, 0.2, 0.3]}
HINGE = {"type": "revolute", "passive": True, "start": 0.4, "stiffness": 30.0}
CROSS = {"type": "universal", "stiffness": [25.0, 35.0], "start": [0.3, -0.2]}


def tree(first: dict[str, object], second: dict[str, object], planar: bool) -> supple.Robot:
    """Two links without a motor, the second along the first."""
    hub = {"mass": 0.1, "inertia": [0.02, 0.02, 0.02]}
    links = [
        {"name": "a", "joint": first | {"hub": hub}, "length": 1.0} | BAR,
        {"name": "b", "joint": second, "length": 0.6, "parent": "a", "at": 0.5} | BAR,
    ]
    return supple.MechanismRobot.model_validate({"name": "tree", "planar": planar, "links": links})


@pytest.mark.parametrize(
    ("first", "second", "planar"),
    [
        (HINGE, HINGE, True),
        ({"type": "spherical"}, CROSS, False),
        (BALL, CROSS, False),
        (BALL | {"stiffness": [40.0, 30.0, 20.0]}, CROSS, False),
    ],
    ids=["plane", "loose ball", "ball", "ball of three springs"],
)
def test_poles_of_passive_trees_have_the_ratio(first, second, planar) -> None:
    """Springs of joints take part; what is loose keeps its zeros."""
    model = supple.build(tree(first, second, planar), supple.AssumedModes(1), modal_damping=0.03)
    poles = np.linalg.eigvals(supple.linearize(model, model.chain.pose()).A)
    ring = poles[poles.imag > 1e-4 * np.abs(poles).max()]
    np.testing.assert_allclose(-ring.real / np.abs(ring), 0.03, rtol=1e-6)
    loose = 0 if "stiffness" in first else 3
    assert len(ring) == model.size - loose


@pytest.mark.parametrize("name", ["industrial-3", "two-arms"])
def test_links_damp_one_another_in_motion(name: str) -> None:
    """D of the forward dynamics is the Model's, also between links."""
    model = supple.build(supple.load(name), supple.AssumedModes(1), modal_damping=0.05)
    q = np.array(model.chain.pose())
    tau = [0.0] * model.joints
    h = 1e-3
    pushed = [
        model.forward_dynamics(q, h * e, tau) - model.forward_dynamics(q, -h * e, tau)
        for e in np.eye(model.size)
    ]
    found = -model.mass_matrix(q) @ np.array(pushed).T / (2 * h)
    np.testing.assert_allclose(found, model.damping, atol=1e-6 * np.abs(model.damping).max())


def test_check_of_links_that_carry_others_along_them() -> None:
    """Elements on the whole link against exact beams cut where something hangs."""
    robot = tree(HINGE, HINGE, True)
    found = supple.build(robot, supple.FiniteElements(4)).check()
    exact = supple.modes(robot, count=3).frequency_hz
    np.testing.assert_allclose(found.exact_hz[:3], exact, rtol=1e-6)
    off = np.array(found.frequency_hz[:3]) / exact - 1
    assert (off > -1e-9).all()
    assert off.max() < 3e-3


BOX = {
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700},
    "section": {"shape": "box", "depth": 0.1, "width": 0.06, "wall": 0.004},
}
TURN = {"type": "revolute", "hub": {"mass": 1.0, "inertia": 0.1}}


def boom(**changes: object) -> dict[str, object]:
    return {"name": "boom", "joint": {"type": "prismatic"}, "length": 1.5, **BOX} | changes


def sliding_arm(**changes: object) -> supple.Robot:
    """A column that turns, a boom that slides on its end."""
    column = {"name": "column", "joint": TURN, "length": 0.6, **BOX}
    own = boom(tip={"mass": 2.0, "inertia": 0.01}, **changes)
    return supple.SerialRobot.model_validate(
        {"name": "arm", "planar": True, "links": [column, own]}
    )


def sliding_crank() -> supple.Robot:
    """A crank that drives a boom through a swivel: its slide has no motor."""
    swivel = {"type": "revolute", "passive": True, "start": 2.4, "hub": {"mass": 1, "inertia": 0.1}}
    slide = {"type": "prismatic", "passive": True, "start": 0.9}
    links = [
        {"name": "crank", "joint": TURN | {"start": 1.2}, "length": 0.6, **BOX},
        {"name": "swivel", "parent": "base", "length": 0.0, "body": {"mass": 0.1}}
        | {"theory": "rigid", "joint": swivel | {"mount": {"xyz": [0.9, 0, 0]}}},
        boom(joint=slide),
    ]
    ends = [{"ends": ["crank", "boom"], "type": "revolute"}]
    given = {"name": "crank", "planar": True, "links": links, "closures": ends, "tip": "crank"}
    return supple.MechanismRobot.model_validate(given)


@pytest.mark.parametrize(
    ("robot", "basis"),
    [
        (sliding_arm(), supple.AssumedModes(2, at=[0.3, 0.7])),
        (sliding_arm(), supple.FiniteElements(2)),
        (sliding_crank(), supple.AssumedModes(2)),
    ],
    ids=["held in", "elements", "no motor"],
)
def test_robots_with_slides_have_the_ratio_where_it_was_taken(robot, basis) -> None:
    """By the poles of the blocks of the Model's own functions, motors locked."""
    model = supple.build(robot, basis, modal_damping=0.03)
    found = model.check()
    k = model.joints
    q = model.chain.pose(np.array(found.theta))
    one = np.eye(model.size)
    lost = np.array([model.functions.evaluator("dissipation")(q, e)[0] for e in one]).T
    M, D, K = (A[k:, k:] for A in (model.mass_matrix(q), lost, stiffness_at(model, q)))
    still = np.zeros_like(M)
    n = len(M)
    A = np.block([[still, np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    poles = np.linalg.eigvals(A)
    np.testing.assert_allclose(-poles.real / np.abs(poles), 0.03, rtol=1e-6)
    own = np.sort(np.abs(poles))[: 2 * len(found.frequency_hz) : 2] / (2 * np.pi)
    np.testing.assert_allclose(found.frequency_hz, own, rtol=1e-8)  # `check` stands there too
    exact = supple.modes(robot, list(found.theta), count=1).frequency_hz
    np.testing.assert_allclose(found.exact_hz[:1], exact, rtol=1e-5)
    x = q - 0.01
    v = np.linspace(0.3, 1.0, model.size)
    tau = np.ones(k)
    a = model.forward_dynamics(x, v, tau)
    needed = model.inverse_dynamics(x, v, a)
    size = np.abs(model.mass_matrix(x)).max() * np.abs(a).max()
    np.testing.assert_allclose(needed, np.r_[tau, np.zeros(n)], atol=1e-11 * size)


def test_modal_damping_of_a_slide_does_not_depend_on_how_shapes_are_scaled() -> None:
    """One motion, whose own coordinates differ by a factor that depends on the length."""
    robot = sliding_arm(theory="inextensible")
    runs = [
        supple.simulate(
            supple.build(robot, supple.AssumedModes(1, normalisation=rule), modal_damping=0.1),
            tau=[40.0, -30.0], q0=[0.0, 1.2, 0.0, 0.0], duration=0.2, tolerance=1e-10,
        )
        for rule in ("mass", "unit")
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].tip, runs[1].tip, atol=1e-8)
    lost = [run.energy[0] + run.work[-1] - run.energy[-1] for run in runs]
    assert abs(lost[0]) < 1e-6 * np.ptp(runs[0].energy)  # `work` is less what is lost
    free = supple.build(robot, supple.AssumedModes(1), modal_damping=0.0)
    undamped = supple.simulate(
        free, tau=[40.0, -30.0], q0=[0.0, 1.2, 0.0, 0.0], duration=0.2, tolerance=1e-10
    )
    assert np.abs(undamped.tip - runs[0].tip).max() > 1e-5
