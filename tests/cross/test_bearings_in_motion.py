"""Bearings and foundations in the equations of motion: modes, energy, statics, series, limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from cross.test_bearings import arm

ROTORS = {"links.one.joint.rotor_inertia": 5.0, "links.two.joint.rotor_inertia": 2.0}
THETA = np.array([0.4, -0.7])


@pytest.fixture(scope="module")
def model() -> supple.Model:
    return supple.build(arm(**ROTORS), supple.AssumedModes(1))


def test_coordinates_stand_as_the_contract_says(model: supple.Model) -> None:
    """q = [theta, eps, bearing by joint, foundation, eta]; z of bearing one is rigid, and its rz
    works in series with the joint's spring.
    """
    before_eta = [name for name in model.coordinates if not name.startswith("eta")]
    assert before_eta == [
        *("theta.one", "theta.two", "eps.one"),
        *("bearing.one.x", "bearing.one.y", "bearing.one.rx"),
        *(f"bearing.two.{k}" for k in ("x", "y", "z", "rx", "ry", "rz")),
        *(f"foundation.{k}" for k in ("x", "y", "rx", "ry", "rz")),
    ]
    place = model.coordinates.index("eps.one")
    np.testing.assert_allclose(model.stiffness[place, place], 1 / (1 / 1e5 + 1 / 3e5), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("joints", ["locked", "free"])
def test_the_linearised_model_comes_to_the_exact_modes(joints: str) -> None:
    """As elements shrink: bending as h^4, stretch and twist as h^2, from above."""
    robot = arm(**ROTORS, gravity=(0.0, 0.0, 0.0))
    exact = supple.modes(robot, THETA, count=6, joints=joints)
    off = []
    for n in (2, 4):
        fine = supple.build(robot, supple.FiniteElements(n))
        off.append(supple.assumed_modes(fine, THETA, joints, count=6).omega / exact.omega - 1)
    assert (off[1] > -1e-11).all()
    assert (off[1] < 0.3 * off[0]).all()
    assert off[1].max() < 2e-4


def test_equations_agree_with_one_another(model: supple.Model) -> None:
    """M qdd + h + g + K q + D qd = tau, and power: d/dt T = qd' (tau - g - K q - D qd)."""
    rng = np.random.default_rng(0)
    q = 0.01 * rng.normal(size=model.size)
    q[:2] += THETA
    qd = rng.normal(size=model.size)
    tau = np.array([3.0, 4.0])
    qdd = model.forward_dynamics(q, qd, tau)
    terms = [
        model.mass_matrix(q) @ qdd,
        model.bias(q, qd),
        model.gravity(q),
        model.stiffness @ q,
        model.damping @ qd,
    ]
    left = sum(terms) - np.concatenate([tau, np.zeros(model.size - 2)])
    assert np.abs(left).max() < 1e-12 * max(np.abs(term).max() for term in terms)
    h, faster = 1e-4, 1 / np.abs(qdd).max()  # the energy is quadratic in qd: any step is exact
    along = [model.energy(q + s * qd, qd) for s in (h, -h)]
    across = [model.energy(q, qd + s * qdd) for s in (faster, -faster)]
    change = (along[0] - along[1]) / (2 * h) + (across[0] - across[1]) / (2 * faster)
    power = qd[:2] @ tau - qd @ model.damping @ qd
    size = np.abs(along[0] - along[1]) / (2 * h)
    assert abs(change - power) < 1e-7 * size


@pytest.mark.slow
def test_a_run_keeps_its_energy_and_shows(model: supple.Model, tmp_path) -> None:
    run = supple.simulate(model, q0=model.chain.pose(THETA), duration=0.1)
    moved = np.ptp(run.energy)
    stored = 0.5 * np.einsum("ti,ij,tj->t", run.q, model.stiffness, run.q).max()
    assert moved < 1e-6 * stored
    from supple.studies.motion.fields import fields

    drawn = fields(run, 5, 5)
    there = drawn.motion[-1, -1, -1, :3] + drawn.L[-1, -1] * np.array([1.0, 0, 0])
    np.testing.assert_allclose(drawn.p[-1, -1] + drawn.R[-1, -1] @ there, run.tip[-1], atol=1e-12)
    assert (tmp_path / run.save_page(tmp_path / "run.html").name).exists()


@pytest.mark.slow
def test_a_held_robot_sags_as_statics_say() -> None:
    """Small gravity, so that the sag is linear; rigid links, so that no basis is between."""
    rigid = {f"links.{name}.theory": "rigid" for name in ("one", "two")}
    stiff = {
        f"links.{name}.{key}": None
        for name in ("one", "two")
        for key in ("bending_stiffness", "axial_stiffness", "torsional_stiffness")
    }
    robot = arm(**ROTORS, **rigid, **stiff, gravity=(1e-3, -2e-3, -9.81e-3))
    made = supple.build(robot)
    run = supple.simulate(made, q0="static", theta0=THETA, duration=1e-3)
    straight = made.tip(made.chain.pose(THETA))
    sag = supple.statics(robot, THETA)
    np.testing.assert_allclose(run.tip[0] - straight, sag.tip_displacement, rtol=1e-5)


def rod(bearing: dict, **joint: object) -> supple.SerialRobot:
    return supple.SerialRobot(
        name="rod",
        links=[
            supple.Link(
                name="rod",
                theory="rigid",
                length=1.0,
                body={"mass": 3.0, "com": [0.5, 0, 0], "inertia": [0.1, 0.3, 0.3]},
                joint={"bearing": bearing, **joint},
            )
        ],
    )


def test_springs_in_series_about_an_oblique_axis_are_combined() -> None:
    """A full matrix has the joint's axis among its motions: locked modes must not change."""
    A = np.random.default_rng(5).normal(size=(6, 6))
    K = 1e4 * (A @ A.T + np.eye(6))
    robot = rod({"matrix": K.tolist()}, stiffness=2e4, rotor_inertia=0.7, axis=[1, 2, -1])
    made = supple.build(robot)
    assert made.coordinates == (
        *("theta.rod", "eps.rod"),
        *(f"bearing.rod.{k}" for k in range(1, 6)),
    )
    for joints in ("locked", "free"):
        exact = supple.modes(robot, [0.3], count=6, joints=joints).omega
        found = supple.assumed_modes(made, [0.3], joints).omega
        np.testing.assert_allclose(found, exact[: len(found)], rtol=1e-9)
        assert len(found) == len(exact)


def test_what_moves_no_mass_is_refused_by_name() -> None:
    with pytest.raises(supple.SuppleError, match=r"links.rod.joint.bearing gives way about the"):
        supple.build(rod({"rotation": [None, None, 1e5]}))
    made = supple.build(
        rod({"rotation": [None, None, 1e5]}, gear={"ratio": 50, "motor_inertia": 1e-4})
    )
    assert made.coordinates == ("theta.rod", "bearing.rod.rz")
    assert made.mass_matrix(np.zeros(2))[0, 0] == pytest.approx(0.3 + 3 * 0.25 + 0.25)
    fixed = rod({"translation": [1e6, 1e6, 1e6], "rotation": [1e3, 1e3, 1e3]}, type="fixed")
    assert len(supple.modes(fixed, count=9).omega) == 6
    assert supple.build(fixed).size == 6


@pytest.mark.parametrize("planar", [True, False])
def test_a_planar_arm_is_a_spatial_one_in_its_plane(planar: bool) -> None:
    springs = {"translation": [3e5, 2e5, 1e5], "rotation": [1e4, 2e4, 3e4]}
    link = {
        "theory": "rigid",
        "length": 0.8,
        "body": {"mass": 2.0, "com": [0.3, 0, 0], "inertia": [0.2, 0.2, 0.2]},
    }
    robot = supple.SerialRobot(
        name="plane",
        planar=planar,
        gravity=(0, -9.81, 0),
        foundation={**springs, "mass": 5, "inertia": [1, 1, 1]},
        links=[
            supple.Link(name="a", joint={"rotor_inertia": 0.5, "bearing": springs}, **link),
            supple.Link(name="b", **link),
        ],
    )
    made = supple.build(robot)
    run = supple.simulate(made, q0=made.chain.pose(np.array([0.5, 0.4])), duration=0.2)
    assert made.size == (8 if planar else 14)
    np.testing.assert_allclose(run.tip[-1], IN_THE_PLANE.setdefault("tip", run.tip[-1]), atol=1e-8)


IN_THE_PLANE: dict[str, np.ndarray] = {}


def as_mechanism(robot: supple.SerialRobot) -> supple.MechanismRobot:
    given = robot.model_dump(exclude_none=True, exclude={"architecture"})
    for link in given["links"]:
        for key in ("damping", "friction"):
            link["joint"].pop(key)
    return supple.MechanismRobot(**given)


def test_a_tree_is_the_arm_it_describes(model: supple.Model) -> None:
    tree = supple.build(as_mechanism(model.robot), supple.AssumedModes(1))
    assert tree.coordinates == model.coordinates
    rng = np.random.default_rng(2)
    q = 0.01 * rng.normal(size=model.size)
    qd = rng.normal(size=model.size)
    for found, wanted in (
        (tree.mass_matrix(q), model.mass_matrix(q)),
        (tree.forward_dynamics(q, qd, [1.0, 2.0]), model.forward_dynamics(q, qd, [1.0, 2.0])),
        (tree.stiffness, model.stiffness),
        (tree.tip(q), model.tip(q)),
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-9 * np.abs(wanted).max())
    for method in ("exact", "elements"):
        pair = [
            supple.modes(robot, THETA, count=6, method=method).omega
            for robot in (tree.robot, model.robot)
        ]
        np.testing.assert_allclose(*pair, rtol=1e-10)


def four_bar(**changes: object) -> supple.MechanismRobot:
    """The library's four-bar on a foundation, its crank and rocker on bearings."""
    robot = supple.load("four-bar")
    soft = {"translation": [3e6, 2e6, 1e6], "rotation": [1e4, 2e4, 3e4]}
    crank, coupler, rocker = (link.name for link in robot.links)
    return robot.with_(
        {
            "foundation": {**soft, "mass": 8.0, "inertia": [1.0, 1.0, 0.5]},
            f"links.{crank}.joint.bearing": soft,
            f"links.{crank}.joint.rotor_inertia": 0.02,
            f"links.{coupler}.joint.bearing": soft,
            f"links.{rocker}.joint.bearing": {"translation": [4e6, 5e6, None]},
            **changes,
        }
    )


def locked(made: supple.Model, q: np.ndarray) -> np.ndarray:
    """Frequencies of an unloaded model with its motors held; followers have no springs."""
    k = made.joints
    values = eigh(made.mass_matrix(q)[k:, k:], made.stiffness[k:, k:], eigvals_only=True)
    return 1 / np.sqrt(values[::-1])


@pytest.mark.slow
def test_a_four_bar_on_springs() -> None:
    """Linearised equations come to the exact modes; statics to the elements; energy is kept."""
    robot = four_bar(gravity=(0.0, 0.0, 0.0))
    theta = np.array([link.joint.start[0] for link in robot.links if link.joint.driven])
    exact = supple.modes(robot, theta, count=5)
    assert exact.certified
    elements = supple.modes(robot, theta, count=5, method="elements", elements=6, order="quintic")
    np.testing.assert_allclose(elements.omega, exact.omega, rtol=1e-8)
    off = []
    for n in (1, 2):
        made = supple.build(robot, supple.FiniteElements(n))
        off.append(locked(made, made.chain.pose(theta))[:5] / exact.omega - 1)
    assert (off[1] > -1e-7).all()
    assert (off[1] < np.maximum(0.5 * off[0], 1e-7)).all()
    assert off[1].max() < 2e-2


@pytest.mark.slow
def test_a_four_bar_on_springs_keeps_its_energy() -> None:
    falling = supple.build(four_bar(gravity=(0.0, -9.81, 0.0)), supple.AssumedModes(1))
    run = supple.simulate(falling, duration=0.02)
    stored = 0.5 * np.einsum("ti,ij,tj->t", run.q, falling.stiffness, run.q).max()
    assert np.ptp(run.energy) < 1e-5 * stored


SOFT = {"translation": [2e6, 3e6, 1e6], "rotation": [4e3, None, 5e3]}
GROUND = {
    "translation": [2e6, 3e6, 1e6],
    "rotation": [4e4, 3e4, 5e4],
    "mass": 20,
    "inertia": [1, 1, 2],
}


def test_a_delta_on_springs_is_the_mechanism_it_stands_for() -> None:
    """Bearings of its motors in leg axes, and a foundation; the same tree described by links."""
    robot = supple.load("kuo-delta").with_({"motor.bearing": SOFT, "foundation": GROUND})
    tree = supple.as_mechanism(robot)
    assert tree.links[0].joint.bearing is not None
    place = [0.05, 0.02, 0.7]
    theta = supple.inverse(robot, position=place).theta
    pair = [
        supple.modes(robot, position=place, count=8),
        supple.modes(tree, theta, count=8),
    ]
    assert pair[0].certified
    np.testing.assert_allclose(pair[0].omega, pair[1].omega, rtol=1e-9)
    clamped = robot.with_({"motor.bearing": None, "foundation": None})
    assert (supple.modes(clamped, position=place, count=8).omega > pair[0].omega).all()
    sags = [
        supple.statics(robot, position=place, force=[1, 2, 3]),
        supple.statics(tree, theta, force=[1, 2, 3]),
    ]
    np.testing.assert_allclose(sags[0].tip_displacement, sags[1].tip_displacement, rtol=1e-8)
    model = supple.build(robot, supple.AssumedModes(1, torsion=0))
    assert {"foundation.x", "bearing.upper3.x"} <= set(model.coordinates)


@pytest.mark.slow
def test_a_delta_on_bearings_in_motion() -> None:
    robot = supple.load("kuo-delta").with_({"motor.bearing": SOFT, "gravity": [0, 0, 0]})
    place = [0.05, 0.02, 0.7]
    theta = supple.inverse(robot, position=place).theta
    exact = supple.modes(robot, position=place, count=6)
    off = []
    for n in (1, 2):
        made = supple.build(robot, supple.FiniteElements(n))
        off.append(locked(made, made.chain.pose(theta))[:6] / exact.omega - 1)
    assert made.coordinates[3:8] == tuple(
        f"bearing.upper1.{k}" for k in ("x", "y", "z", "rx", "rz")
    )
    assert (off[1] > -1e-7).all()
    assert (off[1] < 0.3 * off[0]).all()


def test_a_rigid_twin_stands_on_the_ground() -> None:
    """ComputedTorque knows the rigid arm; with stiff springs its run is that of the ground's."""
    stiff = {"translation": [1e9, 1e9, 1e9], "rotation": [1e8, 1e8, None]}
    ground = {**stiff, "mass": 3.0, "inertia": [0.2, 0.2, 0.2]}
    still = rod(stiff, rotor_inertia=0.5).with_("foundation", ground)
    law = supple.ComputedTorque()
    move = supple.ParabolicBlends([0.0], [0.5], 0.2, 0.05)
    ends = [
        supple.simulate(supple.build(robot), controller=law, trajectory=move).q[-1, 0]
        for robot in (still, rod({}, rotor_inertia=0.5))
    ]
    np.testing.assert_allclose(*ends, atol=1e-4)
