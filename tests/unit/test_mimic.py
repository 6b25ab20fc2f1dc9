"""Mimic joints: no coordinate of their own, in every question that an arm is asked.

The other way is the same arm with all joints free: what follows is a linear map of theta, so its
mass, forces and stiffness are G' M G, G' f of that arm.
"""

import time

import numpy as np
import pytest

import supple

TUBE = {"shape": "tube", "diameter": 0.08, "wall": 0.003}
BEAM = {
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700},
    "section": TUBE,
}
STIFF = {
    "theory": "rigid",
    "length": 0.3,
    "body": {"mass": 2.0, "com": [0.2, 0.01, 0.0], "inertia": [0.01, 0.02, 0.025]},
}
TIP = {"mass": 1.0, "inertia": [0.01, 0.02, 0.02]}
MIMIC = {"joint": "b", "multiplier": -0.7, "offset": 0.3}
THETA = np.array([0.3, 0.4])
G = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -0.7]])
ALL = G @ THETA + [0.0, 0.0, 0.3]


def arm(beams: bool = True, mimic: dict | None = MIMIC) -> supple.SerialRobot:
    """Three links in space; the third joint follows the second one's motor."""
    hung = {"mount": {"xyz": [0, 0.05, 0], "rpy": [0.2, 0, 0]}, "limits": [-2, 2]}
    last = {"axis": [0, 1, 0.2], "damping": 0.3, "friction": 0.2, "limits": [-0.8, 1.5]}
    joints = [
        {"axis": [0, 0, 1], "rotor_inertia": 0.2},
        {"axis": [0, 1, 0], "damping": 0.1, "effort_limit": 5.0, **hung},
        last if mimic is None else last | {"mimic": mimic},
    ]
    own = [{"length": 0.6, **BEAM}, {"length": 0.5, **BEAM}, {"length": 0.4, "tip": TIP, **BEAM}]
    parts = zip("abc", joints, own if beams else [STIFF] * 3, strict=True)
    links = [{"name": name, "joint": joint, **beam} for name, joint, beam in parts]
    whole = {"name": "follower", "gravity": [0, 0, -9.81], "links": links}
    return supple.SerialRobot.model_validate(whole)


def spread(size: int) -> np.ndarray:
    """All coordinates of the arm with three motors per coordinate of the one with two."""
    whole = np.zeros((size + 1, size))
    whole[:3, :2] = G
    whole[3:, 2:] = np.eye(size - 2)
    return whole


@pytest.mark.parametrize("beams", [False, True])
def test_equations_are_those_of_the_arm_with_all_joints_reduced(beams):
    basis = supple.FiniteElements(1) if beams else None
    model, free = (supple.build(arm(beams, m), basis) for m in (MIMIC, None))
    rng = np.random.default_rng(3)
    N = spread(model.size)
    q, qd, qdd = rng.normal(0, 0.4, (3, model.size))
    q[2:] *= 0.01
    Q = N @ q + np.eye(len(N))[2] * 0.3
    assert model.joints == 2
    assert free.joints == 3
    M = free.mass_matrix(Q)
    assert model.mass_matrix(q) == pytest.approx(N.T @ M @ N, abs=1e-12 * np.abs(M).max())
    for name, given in (("bias", (qd,)), ("gravity", ()), ("inverse_dynamics", (qd, qdd))):
        theirs = N.T @ getattr(free, name)(Q, *(N @ x for x in given))
        ours = getattr(model, name)(q, *given)
        assert ours == pytest.approx(theirs, abs=1e-11 * np.abs(theirs).max() + 1e-13), name
    assert model.tip(q) == pytest.approx(free.tip(Q), abs=1e-14)
    assert model.energy(q, qd) == pytest.approx(free.energy(Q, N @ qd), rel=1e-12)
    assert model.damping[1, 1] == pytest.approx(0.1 + 0.7**2 * 0.3, rel=1e-14)
    tau = np.array([1.0, -2.0])
    back = model.inverse_dynamics(q, qd, model.forward_dynamics(q, qd, tau))
    assert back[:2] == pytest.approx(tau, abs=1e-6)


def test_forward_statics_and_locked_modes_are_those_of_the_pose():
    robot = arm()
    free = arm(mimic=None)
    assert [link.name for link in robot.moving] == ["a", "b"]
    for sag in (False, True):
        ours = supple.forward(robot, THETA, sag=sag)
        theirs = supple.forward(free, ALL, sag=sag)
        assert ours.position == pytest.approx(theirs.position, abs=1e-15)
        assert ours.rotation == pytest.approx(theirs.rotation, abs=1e-15)
    ours = supple.modes(robot, THETA, count=6)
    theirs = supple.modes(free, ALL, count=6)
    assert ours.certified
    assert ours.omega == pytest.approx(theirs.omega, rel=1e-14)
    with pytest.raises(supple.SuppleError, match="theta has 3 entries: give 2"):
        supple.modes(robot, ALL)


def test_free_modes_are_certified_and_bounded_by_elements():
    robot = arm()
    found = supple.modes(robot, THETA, count=6, joints="free")
    assert found.certified
    assert found.rigid_modes == 2
    assert found.shapes.residual.max() < 1e-11
    rough, fine = (
        supple.modes(
            robot, THETA, count=6, joints="free", method="elements", elements=n, order="quintic"
        ).omega
        / found.omega
        - 1
        for n in (2, 4)
    )
    assert (fine > -1e-11).all()
    assert (rough > 3.9 * fine).all()  # twist, of second order, is the slowest to converge
    assert fine.max() < 1e-3
    other = supple.modes(arm(mimic=None), ALL, count=6, joints="free")
    assert np.abs(other.omega / found.omega - 1).max() > 0.05  # three joints, not two
    poses = np.random.default_rng(2).uniform(-2, 2, (9, 2))
    many = supple.modes(robot, poses, count=4, joints="free")
    alone = [supple.modes(robot, pose, count=4, joints="free").omega for pose in poses]
    assert many.certified
    assert (many.omega == alone).all()


def test_responses_are_those_of_the_arm_with_all_joints_reduced():
    """Z = H^-1 over all joints gives Z' = G' Z G, and the tip moves as its joints do."""
    robot = arm()
    f = np.array([0.5, 3.0, 20.0, 60.0])
    names = [f"theta.{name}" for name in "abc"]
    found = supple.response(robot, THETA, f, ["tau.a", "tau.b"], [*names[:2], "tip.z"])
    free = supple.response(arm(mimic=None), ALL, f, ["tau.a", "tau.b", "tau.c"], [*names, "tip.z"])
    for ours, H in zip(found.values, free.values, strict=True):
        joints = np.linalg.inv(G.T @ np.linalg.inv(H[:3]) @ G)
        assert ours[:2] == pytest.approx(joints, rel=1e-8)
        tip = H[3:] @ np.linalg.inv(H[:3]) @ G @ joints
        assert ours[2:] == pytest.approx(tip, rel=1e-8)
    modes = supple.modes(robot, THETA, count=8, joints="free").frequency_hz
    assert found.poles.imag / 2 / np.pi == pytest.approx(modes[modes <= 60], rel=1e-11)
    with pytest.raises(supple.SuppleError, match="c has no motor: its joint follows that of b"):
        supple.response(robot, THETA, f, ["tau.c"], ["tip.z"])


def test_inverse_moves_what_follows_and_heeds_its_limits():
    robot = arm(False)
    rng = np.random.default_rng(7)
    low, high = robot.limits(robot.links[1])
    assert (low, high) == pytest.approx(((1.5 - 0.3) / -0.7, (-0.8 - 0.3) / -0.7))
    for theta in rng.uniform([-3, low], [3, high], (50, 2)):
        pose = supple.forward(robot, theta)
        found = supple.inverse(robot, position=pose.position, rotation=pose.rotation)
        assert found.error < 1e-9
        assert ((low <= found.solutions[:, 1]) & (found.solutions[:, 1] <= high)).all()


def test_check_holds_what_follows_with_the_other_joints_motor():
    robot = arm()
    free = arm(mimic=None)
    ours = supple.check(robot, THETA)
    theirs = supple.check(free, ALL)
    wanted = theirs.holding["b"] - 0.7 * theirs.holding["c"]
    assert ours.holding == {"a": pytest.approx(0, abs=1e-12), "b": pytest.approx(wanted)}
    assert any("b needs" in note and "effort_limit" in note for note in ours.notes)
    assert any("outside its limits -1.7" in note for note in supple.check(robot, [0, -1.9]).notes)


def test_a_run_keeps_its_energy_and_reads_outputs():
    robot = arm(False).with_({f"links.c.joint.{key}": 0.0 for key in ("damping", "friction")})
    model = supple.build(robot.with_("links.b.joint.damping", 0.0))
    read = {"turn": supple.Gyroscope("c", 1.0), "before": supple.Gyroscope("b", 1.0)}
    read["root"] = supple.Reaction("c")
    run = supple.simulate(model, duration=0.25, theta0=THETA, tau=np.zeros(2), outputs=read)
    assert np.ptp(run.energy) < 1e-7 * np.abs(run.energy).max()
    assert run.outputs["root"].shape == (len(run.t), 6)
    # the spin of c about its axis, beside that of b: -0.7 theta_b'
    axis = np.array([0, 1, 0.2]) / np.hypot(1, 0.2)
    along = (run.outputs["turn"] - run.outputs["before"]) @ axis
    assert along == pytest.approx(-0.7 * run.qd[:, 1], abs=1e-9)


FAULTS = {
    "no link": ({"mimic": {"joint": "x"}}, "mimic follows 'x', which is no link: .* a, b"),
    "itself": ({"mimic": {"joint": "c"}}, "'c', which has no coordinate of its own"),
    "motor": ({"mimic": MIMIC, "effort_limit": 3}, "effort_limit is for joints with a motor"),
    "rotor": ({"mimic": MIMIC, "rotor_inertia": 3}, "rotor_inertia is for joints with a motor"),
    "spring": ({"mimic": MIMIC, "stiffness": 3}, "stiffness is for joints with a motor"),
    "fixed": ({"mimic": MIMIC, "type": "fixed"}, "mimic is for joints that move"),
    "limits": ({"mimic": MIMIC, "limits": [9, 10]}, "have nothing in common"),
    "key": ({"mimic": {"joint": "b", "ratio": 2}}, "unknown key 'ratio'"),
}


@pytest.mark.parametrize("key", FAULTS)
def test_faults_are_sentences(key):
    joint, sentence = FAULTS[key]
    with pytest.raises(supple.RobotError, match=sentence):
        arm().with_("links.c.joint", joint)


def test_what_does_not_know_them_says_so():
    robot = arm()
    with pytest.raises(supple.SuppleError, match=r"theta.b moves c as well"):
        supple.stopband(robot, (1, 2), over={"theta.b": (0, 1)})
    assert supple.loads(supple.dump(robot)) == robot


def test_a_leader_with_a_spring_moves_others_by_its_motor():
    """Free modes, and how motors answer efforts, are those of the equations of motion."""
    robot = arm().with_({"links.b.joint.stiffness": 1e4, "links.b.joint.rotor_inertia": 0.1})
    still = robot.with_({f"links.{link}.joint.{word}": 0.0 for link in "bc"
                         for word in ("damping", "friction")} | {"gravity": [0, 0, 0]})  # fmt: skip
    found = supple.modes(still, THETA, count=3, joints="free")
    assert (found.certified, found.rigid_modes) == (True, 2)
    model = supple.build(still, supple.FiniteElements(3))
    lin = supple.linearize(model, model.chain.pose(THETA))
    poles = np.linalg.eigvals(lin.A).imag
    off = np.sort(poles[poles > 1.0])[:3] / found.omega - 1
    assert (off > -1e-8).all()
    assert off.max() < 2e-3
    ask = {"inputs": ["tau.b"], "outputs": ["theta.a", "theta.b"], "joints": "free"}
    answer = supple.response(still, THETA, [2.0], **ask).values[0, :, 0]
    moved = np.linalg.solve(4j * np.pi * np.eye(len(lin.A)) - lin.A, lin.B)[:2, 1]
    np.testing.assert_allclose(moved, answer, rtol=1e-4)


def test_many_coordinates_are_linearised_in_a_second():
    """Written out in single numbers 38 coordinates took 14 s; A is that of M, K and D."""
    smooth = arm().with_({"gravity": [0, 0, 0], "links.c.joint.friction": 0.0})
    model = supple.build(smooth, supple.FiniteElements(2))
    q = np.zeros(model.size)
    n = model.size
    began = time.process_time()
    found = supple.linearize(model, q)
    assert time.process_time() - began < 5.0
    M = model.mass_matrix(q)
    wanted = np.zeros((2 * n, 2 * n))
    wanted[:n, n:] = np.eye(n)
    wanted[n:] = -np.linalg.solve(M, np.hstack([model.stiffness, model.damping]))
    assert pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max()) == found.A


def test_an_arm_as_a_mechanism_keeps_them():
    """The same modes, loads and equations."""
    robot = arm()
    written = supple.as_mechanism(robot)
    assert written.motors == ("a", "b")
    assert supple.loads(supple.dump(written)) == written
    for joints in ("locked", "free"):
        ours, its = (supple.modes(r, THETA, count=3, joints=joints) for r in (written, robot))
        np.testing.assert_allclose(ours.omega, its.omega, rtol=1e-10)
    held = [supple.check(r, THETA).holding for r in (written, robot)]
    assert held[0] == pytest.approx(held[1], rel=1e-9)
    models = [supple.build(r, supple.AssumedModes(1)) for r in (written, robot)]
    rng = np.random.default_rng(4)
    q, qd = rng.normal(0, 0.01, (2, models[0].size))
    ours, its = (m.forward_dynamics(q, qd, [1.0, 2.0]) for m in models)
    np.testing.assert_allclose(ours, its, rtol=1e-8, atol=1e-8 * np.abs(its).max())


def test_one_motor_of_a_loop_may_lead_the_other():
    """A five-bar whose cranks are geared: G' M G, G' f of the one with two motors."""
    free = supple.load("five-bar")
    geared = free.with_("links.right.joint", {
        "mount": {"xyz": [0.2, 0, 0]},
        "mimic": {"joint": "left", "multiplier": -1.0, "offset": np.pi},
    })  # fmt: skip
    assert geared.motors == ("left",)
    theta = [2.0]
    both = [2.0, np.pi - 2.0]
    ours = supple.modes(geared, theta, count=3)
    its = supple.modes(free, both, count=3)
    np.testing.assert_allclose(ours.omega, its.omega, rtol=1e-10)
    loose, above = (
        supple.modes(geared, theta, count=3, joints="free", **how)
        for how in ({}, {"method": "elements", "order": "quintic"})
    )
    assert (loose.certified, loose.rigid_modes) == (True, 1)
    np.testing.assert_allclose(above.omega, loose.omega, rtol=1e-6)
    each = supple.check(free, both).holding
    held = supple.check(geared, theta).holding["left"]
    assert held == pytest.approx(each["left"] - each["right"], rel=1e-9)
    model, whole = (supple.build(r, supple.AssumedModes(1)) for r in (geared, free))
    N = np.zeros((whole.size, model.size))
    N[:2, 0] = (1.0, -1.0)
    N[2:, 1:] = np.eye(model.size - 1)
    rng = np.random.default_rng(2)
    q = rng.normal(0, 1e-3, model.size)
    qd = rng.normal(size=model.size)
    q[0] = 2.0
    at = N @ q + np.eye(whole.size)[1] * np.pi
    M = N.T @ whole.mass_matrix(at) @ N
    np.testing.assert_allclose(model.mass_matrix(q), M, atol=1e-9 * np.abs(M).max())
    h = N.T @ whole.bias(at, N @ qd)
    np.testing.assert_allclose(model.bias(q, qd), h, atol=1e-9 * np.abs(h).max())
    np.testing.assert_allclose(model.tip(q), whole.tip(at), atol=1e-12)


@pytest.mark.parametrize(
    ("joint", "sentence"),
    [
        ({"mimic": {"joint": "left2"}}, "'left2', which has no motor"),
        ({"mimic": {"joint": "left"}, "passive": True}, "without the key passive"),
        ({"mimic": {"joint": "left"}, "stiffness": 3}, "stiffness is not for a joint that follows"),
        ({"mimic": {"joint": "left"}, "rotor_inertia": 3}, "not for a mimic one"),
        ({"mimic": {"joint": "left"}, "type": "universal"}, "mimic is for revolute and prismatic"),
    ],
)
def test_faults_in_mechanisms_are_sentences(joint, sentence):
    with pytest.raises(supple.RobotError, match=sentence):
        supple.load("five-bar").with_("links.right.joint", joint)


@pytest.mark.parametrize("family", [supple.SerialRobot, supple.MechanismRobot])
def test_its_bearing_gives_way_about_its_own_axis(family):
    """The joint is held by the motor that it follows: the exact frequencies, motors locked."""
    data = arm(beams=False).model_dump(exclude_unset=True, exclude={"architecture"})
    data["links"][2]["joint"]["bearing"] = {"rotation": [300.0, 200.0, None]}
    data["links"][2]["joint"]["axis"] = [0, 1, 0]
    robot = family.model_validate(data)
    model = supple.build(robot)
    assert model.coordinates[-2:] == ("bearing.c.rx", "bearing.c.ry")
    q = model.chain.pose(THETA)
    K, M = (A[2:, 2:] for A in (model.stiffness, model.mass_matrix(q)))
    found = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    np.testing.assert_allclose(found, supple.modes(robot, THETA, count=2).omega, rtol=1e-9)
