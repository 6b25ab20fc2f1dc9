"""Springs in the elbows and at the platform joints of a Delta, against three other routes.

The same springs on a mechanism written by hand, of plain joints and closures; rigid legs, whose
springs bend by angles in closed form; and power balances of runs.
"""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from supple.architectures import delta

PLACE = np.array([0.05, 0.02, 0.7])
USUAL = np.array([0.0, 0.0, 0.66])  # where its springs are unloaded, unless a rest is given
ELBOW = [50.0, 80.0]
WRIST = [30.0, 60.0]


def sprung(rods: str = "single", **more: Any) -> supple.DeltaRobot:
    """Kuo's Delta with springs in all passive joints."""
    robot = supple.load("kuo-delta")
    assert isinstance(robot, supple.DeltaRobot)
    if rods == "parallelogram":
        robot = robot.with_({"lower.rods": rods, "lower.spacing": 0.06})
    wrist: Any = WRIST if rods == "single" else 40.0
    return robot.with_({"elbow.stiffness": ELBOW, "wrist.stiffness": wrist, **more})


def by_hand(place: np.ndarray = USUAL) -> supple.MechanismRobot:
    """The same Delta as a mechanism: massless bodies on sprung joints, fixed to the platform."""
    plain = supple.load("kuo-delta")
    assert isinstance(plain, supple.DeltaRobot)
    phi = delta.inverse(plain, place)[0]
    data = supple.as_mechanism(plain, place).model_dump(mode="json", exclude_unset=True)
    links = []
    for link in data["links"]:
        links.append(link)
        if not link["name"].startswith("lower"):
            continue
        link["joint"]["stiffness"] = ELBOW
        leg = int(link["name"][-1]) - 1
        start = [-phi[leg, 2], -phi[leg, 0] - phi[leg, 1]]
        axes = [[0, 0, 1], [0, 1, 0]]
        joint = {"type": "universal", "axes": axes, "start": start, "stiffness": WRIST}
        body = {"name": f"wrist{leg + 1}", "parent": link["name"], "theory": "rigid"}
        links.append({**body, "joint": joint})
    for closure in data["closures"]:
        leg = closure["name"][-1]
        closure["ends"] = [{"link": f"wrist{leg}"}, closure["ends"][1]]
        closure["type"] = "fixed"
        closure.pop("axes")
    return supple.MechanismRobot.model_validate({**data, "links": links})


def test_exact_modes_statics_and_responses_are_those_of_the_mechanism_by_hand() -> None:
    robot = sprung()
    twin = by_hand()
    theta = delta.inverse(robot, PLACE)[0, :, 0]
    ours = supple.modes(robot, position=PLACE, count=8)
    assert ours.certified
    theirs = supple.modes(twin, theta, count=8)
    np.testing.assert_allclose(ours.omega, theirs.omega, rtol=1e-10)
    assert ours.omega[0] > 1.2 * supple.modes("kuo-delta", position=PLACE, count=1).omega[0]
    elements = supple.modes(robot, position=PLACE, count=8, method="elements")
    np.testing.assert_allclose(elements.omega, ours.omega, rtol=3e-5)
    sag = supple.statics(robot, position=PLACE)
    other = supple.statics(twin, theta)
    np.testing.assert_allclose(sag.tip_displacement, other.tip_displacement, rtol=1e-9)
    given: Any = {"frequency_hz": [1.0, 4.0], "inputs": ["force.z"], "outputs": ["tip.z", "tip.rx"]}
    one = supple.response(robot, position=PLACE, **given).values
    np.testing.assert_allclose(one, supple.response(twin, theta, **given).values, rtol=1e-8)


@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_equations_of_motion_are_those_of_a_mechanism(rods: str) -> None:
    robot = sprung(rods, **{"elbow.damping": 0.2, "wrist.damping": 0.1})
    twin = by_hand() if rods == "single" else supple.as_mechanism(robot, USUAL)
    if rods == "single":  # damping as that of the Delta
        changes = {f"links.lower{k}.joint.damping": 0.2 for k in (1, 2, 3)}
        twin = twin.with_(changes | {f"links.wrist{k}.joint.damping": 0.1 for k in (1, 2, 3)})
    basis = supple.AssumedModes(1)
    ours = supple.build(robot, basis)
    theirs = supple.build(twin, basis)
    assert ours.coordinates == theirs.coordinates
    rng = np.random.default_rng(1)
    q = 1e-4 * rng.normal(size=ours.size)
    qd = 0.1 * rng.normal(size=ours.size)
    q[:3] = delta.inverse(robot, PLACE)[0, :, 0]
    states = {"tip": (q,), "energy": (q, qd), "mass_matrix": (q,), "inverse_dynamics": (q, qd, qd)}
    for name, given in states.items():
        a = np.asarray(getattr(ours, name)(*given))
        b = np.asarray(getattr(theirs, name)(*given))
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9 * np.abs(a).max(), err_msg=name)


def test_rigid_legs_swing_as_springs_of_closed_form_angles() -> None:
    """K = J' k J of the angles over the platform's place, M by the rigid Delta of [Kuo2016]."""
    stiff = {"upper.theory": "rigid", "lower.theory": "rigid", "motor.rotor_inertia": 0.02}
    robot = sprung(**stiff)
    plain = supple.load("kuo-delta").with_(stiff)
    assert isinstance(plain, supple.DeltaRobot)

    def angles(place: np.ndarray) -> np.ndarray:
        phi = delta.inverse(plain, place)[0]
        return np.column_stack([phi[:, 1], phi[:, 2], -phi[:, 2], -phi[:, 0] - phi[:, 1]])

    h = 1e-5
    steps = h * np.eye(3)
    J = np.array([(angles(PLACE + e) - angles(PLACE - e)) / (2 * h) for e in steps])
    K = np.einsum("ilk,k,jlk->ij", J, np.array(ELBOW + WRIST), J)
    M = supple.RigidDelta(plain).mass_matrix(PLACE)[0]
    wanted = np.sqrt(eigh(K, M, eigvals_only=True))
    found = supple.modes(robot, position=PLACE, count=3, joints="free")
    np.testing.assert_allclose(found.omega, wanted, rtol=1e-8)


def test_springs_of_a_rigid_delta_store_what_their_angles_say() -> None:
    """The potential of the springs over the motors, from the same closed-form angles."""
    stiff = {"upper.theory": "rigid", "lower.theory": "rigid", "motor.rotor_inertia": 0.02}
    robot = sprung(**stiff)
    weightless = robot.with_("gravity", [0, 0, 0])
    model = supple.build(weightless)

    def angles(place: np.ndarray) -> np.ndarray:
        phi = delta.inverse(robot, place)[0]
        return np.column_stack([phi[:, 1], phi[:, 2], -phi[:, 2], -phi[:, 0] - phi[:, 1]])

    theta = delta.inverse(robot, PLACE)[0, :, 0]
    turned = angles(PLACE) - angles(USUAL)
    stored = 0.5 * (np.square(turned) @ np.array(ELBOW + WRIST)).sum()
    still = np.zeros(3)
    rest = delta.inverse(robot, USUAL)[0, :, 0]
    gained = model.energy(theta, still) - model.energy(rest, still)
    np.testing.assert_allclose(gained, stored, rtol=1e-9)


def test_a_run_with_springs_and_dampers_far_from_rest_closes_its_power_balance() -> None:
    """The matrix of implicit steps was without them: no step converged."""
    robot = sprung(**{"elbow.damping": 0.2, "wrist.damping": 0.1})
    with pytest.warns(UserWarning, match="miss those of the exact beams"):
        model = supple.build(robot, supple.AssumedModes(1))
    theta = delta.inverse(robot, PLACE)[0, :, 0]
    run = supple.simulate(model, theta0=theta, duration=0.02, step=2e-5)
    assert run.tip[-1, 2] < PLACE[2] - 0.001  # springs draw it up to where they are unloaded
    assert np.abs(run.balance).max() < 1e-6 * np.ptp(np.asarray(run.energy))


def test_a_path_is_followed_as_by_the_mechanism_by_hand() -> None:
    robot = sprung()
    twin = by_hand()
    path = supple.CirclePath(centre=(0, 0, 0.66), radius=0.02, period=0.8)
    ours = supple.follow(robot, path, elements=1, dt=0.02)
    motors = supple.PlatformPath(twin, path)
    theirs = supple.follow(twin, motors, elements=1, dt=0.02)
    np.testing.assert_allclose(ours.moved, theirs.moved, rtol=0, atol=1e-7)
    assert np.abs(ours.moved[:, 3:]).max() > 1e-3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"wrist.stiffness": [1, 2, 3]}, "wrist: stiffness has 3 values"),
        ({"elbow.stiffness": -1}, "elbow: stiffness is -1"),
        ({"wrist.rest": [0.1, 0.2]}, "rest goes with stiffness"),
        ({"lower.rods": "twist", "elbow.stiffness": 5}, "elbow is not for rods: twist"),
    ],
)
def test_bad_springs_are_told_in_a_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(supple.RobotError, match=sentence):
        supple.load("kuo-delta").with_(change)


def test_what_does_not_know_springs_says_so() -> None:
    with pytest.raises(supple.SuppleError, match="wrist of kuo-delta has springs"):
        supple.RigidDelta(supple.load("kuo-delta").with_("wrist.stiffness", 5.0))
    path = supple.CirclePath(centre=(0, 0, 0.66), radius=0.02, period=0.8)
    with pytest.raises(supple.SuppleError, match="passive joints of kuo-delta have springs"):
        supple.follow(sprung(), path, damping=supple.Proportional(1.0, 1e-4), elements=1)
