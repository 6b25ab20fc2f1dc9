"""One friction law everywhere, one meaning of damping, and the ratios that a robot really gets."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from supple import AssumedModes
from supple.architectures.kinds import architecture_of, lower
from supple.beams.shapes import PLANES

BEAM = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 200.0}


def arm(**more: object) -> supple.SerialRobot:
    links = [{"name": f"link{k}", **BEAM, **more} for k in (1, 2)]
    return supple.SerialRobot.model_validate({"name": "arm", "planar": True, "links": links})


def test_friction_of_a_ball_joint_is_that_law_about_the_axis_it_turns_about() -> None:
    """f tanh(|w| / 0.01) against w at any attitude, and damping d w."""
    body = {"mass": 1.0, "com": [0.2, 0.0, 0.0], "inertia": [0.1, 0.2, 0.3]}
    link = {"name": "one", "length": 0.5, "theory": "rigid", "body": body}

    def model(friction: float, damping: float) -> supple.Model:
        joint = {"type": "spherical", "friction": friction, "damping": damping}
        return supple.build(supple.MechanismRobot(name="ball", links=[{**link, "joint": joint}]))

    rough = model(0.3, 0.0)
    smooth = model(0.0, 0.0)
    for q, qd in (([0.0] * 3, [0, 0.004, 0]), ([0.4, -0.7, 1.1], [0.003, -0.005, 0.002])):
        c = np.cos(q)
        s = np.sin(q)
        rates = [
            [c[2] * c[1], -s[2], 0],
            [s[2] * c[1], c[2], 0],
            [-s[1], 0, 1],
        ]  # of yaw-pitch-roll
        w = np.array(rates) @ qd
        speed = float(np.linalg.norm(w))
        a = [m.forward_dynamics(q, qd, []) for m in (smooth, rough, model(0.0, 0.2))]
        felt = smooth.mass_matrix(q) @ (a[0] - a[1])
        wanted = 0.3 * np.tanh(speed / 0.01) * np.array(rates).T @ w / speed
        assert felt == pytest.approx(wanted, rel=1e-9, abs=1e-12)
        felt = smooth.mass_matrix(q) @ (a[0] - a[2])
        assert felt == pytest.approx(0.2 * np.array(rates).T @ w, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("turn", [0.0, 1e-6, 0.06, 0.07, 1.3, 3.0, np.pi - 1e-6])
def test_a_spring_of_a_ball_joint_turns_back_by_its_angle(turn: float) -> None:
    """k phi about the axis of the turn, however large; small swings go at sqrt(k / I)."""
    body = {"mass": 1.0, "inertia": [0.2, 0.2, 0.2]}
    joint = {"type": "spherical", "stiffness": 3.0}
    link = {"name": "one", "length": 0.5, "theory": "rigid", "body": body, "joint": joint}
    model = supple.build(supple.MechanismRobot(name="ball", gravity=[0, 0, 0], links=[link]))
    q = np.array([0.0, 0.0, turn])
    rest = np.zeros(3)
    qdd = model.forward_dynamics(q, rest, [])
    assert qdd == pytest.approx([0, 0, -3.0 * turn / 0.2], rel=1e-6, abs=1e-9)
    assert model.energy(q, rest) == pytest.approx(3.0 * turn**2 / 2, rel=1e-6, abs=1e-15)
    A = supple.linearize(model, q, rest, []).A
    assert np.isfinite(A).all()
    assert A[5, 2] == pytest.approx(-3.0 / 0.2, rel=1e-5)


def test_a_spring_of_a_passive_hinge_pulls_towards_its_rest() -> None:
    joint = {"type": "revolute", "passive": True, "stiffness": 3.0, "rest": 0.2}
    link = {"name": "one", "length": 0.5, "theory": "rigid", "joint": joint,
            "body": {"mass": 1.0, "inertia": 0.2}}  # fmt: skip
    robot = supple.MechanismRobot(name="hinge", planar=True, gravity=[0, 0, 0], links=[link])
    model = supple.build(robot)
    for q in (-0.4, 0.2, 0.9):
        assert model.forward_dynamics([q], [0.0], []) == pytest.approx([-15.0 * (q - 0.2)])
        assert model.energy([q], [0.0]) == pytest.approx(1.5 * (q - 0.2) ** 2)
        assert model.inverse_dynamics([q], [0.0], [0.0]) == pytest.approx([3.0 * (q - 0.2)])


def test_friction_is_one_law_of_model_path_and_rigid_delta() -> None:
    """Joints that creep: f tanh(v / 0.01) in the Model, along a path and of the rigid Delta."""
    rubbing = arm(joint={"friction": 0.3})
    model = supple.build(rubbing, AssumedModes(1))
    zero = np.zeros(model.size)
    v = np.zeros(model.size)
    v[:2] = 0.004, -0.02
    felt = model.inverse_dynamics(zero, v, zero) - model.bias(zero, v)
    assert felt[:2] == pytest.approx(0.3 * np.tanh(v[:2] / 0.01), rel=1e-12)
    path = supple.PointToPoint((0.0, 0.0), (0.01, -0.02), 2.0)
    both = [supple.follow(x, path, dt=0.05) for x in (rubbing, arm())]
    wanted = 0.3 * np.tanh(path(both[0].t)[1] / 0.01)
    assert both[0].rigid_torque - both[1].rigid_torque == pytest.approx(wanted, abs=1e-9)
    delta = supple.load("kuo-delta")
    rough = delta.with_("motor.friction", 0.2)
    motion = ([0, 0, 0.5], [0.001, 0.0005, -0.002], [0.0, 0.0, 0.0])
    torque = [supple.RigidDelta(x).inverse_dynamics(*motion)[0] for x in (rough, delta)]
    from supple.architectures.delta_motion import motion as moved

    speed = moved(delta, *motion).theta[1][0]
    assert torque[0] - torque[1] == pytest.approx(0.2 * np.tanh(speed / 0.01), rel=1e-9)


def test_slides_creep_in_metres() -> None:
    """A slide's friction turns over within 1 mm/s, not within 0.01 of whatever unit."""
    robot = supple.load("theodore-rrp").with_("links.link3.joint.friction", 2.0)
    model = supple.build(robot, AssumedModes(1))
    q = np.zeros(model.size)
    v = np.zeros(model.size)
    zero = np.zeros(model.size)
    q[2] = 0.5
    v[2] = 5e-4
    plain = supple.build(supple.load("theodore-rrp"), AssumedModes(1))
    felt = model.inverse_dynamics(q, v, zero) - plain.inverse_dynamics(q, v, zero)
    assert felt[2] == pytest.approx(2.0 * np.tanh(0.5), rel=1e-9)
    path = supple.PointToPoint((0, 0, 0.5), (0, 0, 0.5004), 1.0)
    runs = [supple.follow(x, path, dt=0.05) for x in (model, plain)]
    wanted = 2.0 * np.tanh(path(runs[0].t)[1][:, 2] / 1e-3)
    assert runs[0].rigid_torque[:, 2] - runs[1].rigid_torque[:, 2] == pytest.approx(
        wanted, abs=1e-9
    )


@pytest.mark.parametrize("name", ["arm", "kuo-delta", "four-bar"])
def test_modal_damping_is_the_ratio_of_every_mode_of_the_robot(name: str) -> None:
    robot = arm() if name == "arm" else supple.load(name)
    model = supple.build(robot, AssumedModes(2), modal_damping=0.03)
    found = np.array(model.check().damping_ratios)
    assert found == pytest.approx(np.full(len(found), 0.03), rel=1e-6)
    assert len(found) >= 4


def test_the_robot_decays_with_its_modal_damping() -> None:
    """The linearised arm with motors locked: -Re lambda / |lambda| of the blocks of M, D, K."""
    model = supple.build(arm(), AssumedModes(2), modal_damping=0.03)
    k = model.joints
    q = np.zeros(model.size)
    M = model.mass_matrix(q)[k:, k:]
    D = model.damping[k:, k:]
    K = model.stiffness[k:, k:]
    n = len(M)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), -np.linalg.solve(M, D)]])
    values = np.linalg.eigvals(A)
    assert -values.real / np.abs(values) == pytest.approx(np.full(2 * n, 0.03), rel=1e-6)


def test_damping_of_the_links_gives_other_ratios_and_they_are_told() -> None:
    """One ratio of each link's own modes is not that of the robot's: the softest gets less."""
    robot = arm(damping_ratio=0.03)
    model = supple.build(robot, AssumedModes(2))
    found = model.check()
    k = model.joints
    q = np.zeros(model.size)
    M = model.mass_matrix(q)[k:, k:]
    D = model.damping[k:, k:]
    K = model.stiffness[k:, k:]
    squares, shapes = eigh(K, M)
    own = np.einsum("ik,ij,jk->k", shapes, D, shapes) / (2 * np.sqrt(squares))
    count = len(found.damping_ratios)
    assert found.damping_ratios == pytest.approx(own[:count], rel=1e-9)
    assert max(abs(x / 0.03 - 1) for x in found.damping_ratios) > 0.01
    assert f"damping of these modes: {100 * found.damping_ratios[0]:.3g}" in str(found)
    run = supple.follow(robot, supple.PointToPoint((0.0, 0.0), (0.1, 0.1), 0.5), dt=0.01)
    assert run.damping_ratios[:2] == pytest.approx(found.damping_ratios[:2], rel=0.02)


def test_both_dampings_are_refused() -> None:
    with pytest.raises(supple.SuppleError, match="damping and modal_damping are both given"):
        supple.build(arm(), AssumedModes(1), damping=0.01, modal_damping=0.01)
    with pytest.raises(supple.SuppleError, match="modal_damping is -1"):
        supple.build(arm(), AssumedModes(1), modal_damping=-1.0)
    law = supple.StiffnessRoot(0.1)
    with pytest.raises(supple.SuppleError, match="give its damping as a ratio"):
        supple.build(supple.load("theodore-rrp"), AssumedModes(1), damping=law)


def test_a_reading_is_one_thing_however_it_is_given() -> None:
    robot = supple.load("de-luca-two-link")
    basis = AssumedModes(1)
    by_word = supple.build(robot, basis, deflection="paper")
    by_name = supple.build(robot, basis, reading="de-luca")
    by_kind = supple.build(robot, basis, reading=supple.Reading(deflection="paper"))
    assert by_word == by_name == by_kind
    assert by_word.reading == supple.Reading("paper", "material", "newton")
    q = np.array([0.3, 0.5, 0.02, 0.03])
    assert by_word.mass_matrix(q) == pytest.approx(by_kind.mass_matrix(q), rel=1e-13)
    right = supple.build(robot, basis).mass_matrix(q)
    assert by_word.mass_matrix(q) != pytest.approx(right, rel=1e-6)
    assert supple.build(robot, basis, reading="right").reading.right
    with pytest.raises(supple.SuppleError, match="reading and deflection are both given"):
        supple.build(robot, basis, deflection="paper", reading="de-luca")
    with pytest.raises(supple.SuppleError, match="one of right, de-luca, theodore"):
        supple.build(robot, basis, reading="kuo")
    with pytest.raises(supple.SuppleError, match="has loops: deflection"):
        supple.build(supple.load("four-bar"), basis, reading="theodore")


def test_planes_of_bending_stand_in_one_table() -> None:
    """(v, psi, sign) of psi = sign v' is written once; whoever needs it reads that table."""
    package = Path(supple.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    found = [path.name for path, text in texts.items() if re.search(r"\(2, 4, -1\.0", text)]
    assert found == ["shapes.py"]
    assert PLANES == {"xy": (1, 5, 1.0), "xz": (2, 4, -1.0)}


def test_the_motors_of_a_delta_have_one_name() -> None:
    """That of the link each turns, in coordinates, drives, inputs, sweeps and the mechanism."""
    robot = supple.load("kuo-delta")
    names = [drive.name for drive in architecture_of(robot).drives]
    assert names == ["upper1", "upper2", "upper3"]
    assert list(supple.as_mechanism(robot).motors) == names
    model = supple.build(robot, supple.AssumedModes(1))
    assert [f"theta.{name}" for name in names] == list(model.coordinates[:3])
    assert list(supple.check(robot).holding) == names
    theta = supple.modes(robot, position=[0, 0, 0.8], count=1).theta
    over = {f"theta.{name}": [value] for name, value in zip(names, theta, strict=True)}
    assert supple.sweep(robot, "modes", over=over, count=1).omega.shape == (1, 1, 1, 1)
    found = supple.response(
        robot,
        position=[0, 0, 0.8],
        frequency_hz=[1.0],
        joints="free",
        inputs=["tau.upper2"],
        outputs=["tip.x"],
        modal_damping=0.01,
    )
    assert found.values.shape == (1, 1, 1)


@pytest.mark.parametrize("kind", ["spherical", "free", "universal"])
def test_coordinates_of_a_model_have_the_words_of_the_tree(kind) -> None:
    robot = supple.loads(f"""
    name: words
    architecture: mechanism
    links:
      - {{name: b, joint: {{type: {kind}}}, theory: rigid, body: {{mass: 1, com: [0.5, 0, 0],
         inertia: [0.1, 0.1, 0.1]}}}}
    """)
    words = [f"passive.{c.name}" for c in lower(robot).joints.coordinates]
    assert list(supple.build(robot, supple.AssumedModes(1)).coordinates) == words


def test_the_tip_is_one_place_in_runs_and_along_paths() -> None:
    """`tip` (T, 3), m, base axes: where a robot sags, led along a path and let go."""
    robot = supple.load("five-bar")
    theta = np.array([joint.start[0] for joint in (robot.links[0].joint, robot.links[2].joint)])
    model = supple.build(robot, AssumedModes(1))
    led = supple.follow(model, supple.Hold(theta, 0.01), dt=5e-3)
    run = supple.simulate(model, q0="static", theta0=theta, duration=1e-3)
    assert led.tip.shape == (3, 3)
    sag = np.abs(led.moved[0, :3]).max()
    squares = 2 * sag**2 / robot.links[0].length  # which are left out
    assert led.tip[0] == pytest.approx(run.tip[0], abs=squares)
    assert squares < 1e-2 * sag


@pytest.mark.parametrize(
    ("name", "start"), [("kuo-delta", [0, 0, 0.75]), ("industrial-3", [0, 0.5, 0.5])]
)
def test_damping_of_a_path_is_that_of_a_model(name: str, start: list[float]) -> None:
    """Ratios of the whole robot's modes that 0.02 of each link's own ones comes to."""
    robot = supple.load(name)
    model = supple.build(robot, supple.FiniteElements(1), stiffening=True, damping=0.02)
    path = supple.PointToPoint(start, np.add(start, 0.001), 0.1)
    one = supple.follow(robot, path, elements=1, damping=0.02, dt=0.01)
    two = supple.follow(model, path, dt=0.01)
    np.testing.assert_allclose(one.damping_ratios[:6], two.damping_ratios[:6], rtol=1e-6)
