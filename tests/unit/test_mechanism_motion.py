"""Equations of motion of mechanisms: trees, loops, redundant rows, poses that cannot be closed."""

import numpy as np
import pytest

from supple import (
    AssumedModes,
    ComputedTorque,
    EndLoad,
    FiniteElements,
    Hold,
    JointPD,
    MechanismRobot,
    Model,
    SuppleError,
    assumed_modes,
    build,
    forward,
    inverse,
    linearize,
    load,
    modes,
    regressor,
    simulate,
    sweep,
    tolerances,
)
from supple.equations.equilibrium import stiffness_at
from supple.integration.steppers import multistep


def in_space(robot: MechanismRobot) -> MechanismRobot:
    """The same planar mechanism described as a spatial one."""
    data = robot.model_dump(exclude_unset=True) | {"planar": False}
    return MechanismRobot.model_validate(data)


def state(model, seed: int = 0, size: float = 1e-3):
    rng = np.random.default_rng(seed)
    q = model.chain.pose() + size * rng.normal(size=model.size)
    q[: model.joints] += 0.2
    return q, 0.1 * rng.normal(size=model.size), rng.normal(size=model.joints)


def test_an_arm_written_as_a_mechanism_is_the_arm() -> None:
    arm = load("industrial-3")
    data = arm.model_dump(exclude_unset=True) | {"architecture": "mechanism"}
    twin = MechanismRobot.model_validate(data)
    one, two = (build(robot, AssumedModes(2)) for robot in (arm, twin))
    assert one.coordinates == two.coordinates
    q, qd, tau = state(one)
    for name, given in {"mass_matrix": (q,), "forward_dynamics": (q, qd, tau), "tip": (q,)}.items():
        a, b = (getattr(model, name)(*given) for model in (one, two))
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12 * np.abs(a).max())


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "two-arms"])
def test_forward_and_inverse_dynamics_agree_and_loops_are_closed(name: str) -> None:
    model = build(load(name), AssumedModes(2))
    q, qd, tau = state(model)
    qdd = model.forward_dynamics(q, qd, tau)
    back = model.inverse_dynamics(q, qd, qdd)
    wanted = np.concatenate([tau, np.zeros(model.size - model.joints)])
    np.testing.assert_allclose(
        back, wanted, atol=1e-9 * np.abs(model.inverse_dynamics(q, qd, 0 * q)).max()
    )
    if model.functions.iterates:
        assert np.abs(model.functions.evaluator("closure")(q)[0]).max() < 1e-14


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_derivatives_pass_through_the_closures(name: str) -> None:
    model = build(load(name), AssumedModes(1))
    q, qd, tau = state(model)
    found = model.derivatives(q, qd, tau)
    # rounding of the followers, 1e-16, times slopes of 7e8, over h: 1e-5 leaves 7e-3 of 2.5e3
    for k, (x, h) in enumerate(((q, 1e-5), (qd, 1e-3), (tau, 1e-3))):
        for j in range(len(x)):
            there = [np.array(part, float) for part in (q, qd, tau)]
            there[k][j] += h
            above = model.forward_dynamics(*there)
            there[k][j] -= 2 * h
            slope = (above - model.forward_dynamics(*there)) / (2 * h)
            np.testing.assert_allclose(
                found[k][:, j], slope, rtol=2e-5, atol=2e-5 * np.abs(slope).max()
            )


def test_motors_turn_all_the_way_round_and_keep_their_branch() -> None:
    model = build(load("four-bar"), AssumedModes(1))
    q = np.tile(model.chain.pose(), (73, 1))
    q[:, 0] += np.linspace(0.0, 2 * np.pi, 73)
    tips = model.tip(q)
    np.testing.assert_allclose(tips[-1], tips[0], atol=1e-12)
    assert np.linalg.norm(np.diff(tips, axis=0), axis=1).max() < 0.02  # 5 degrees of a 0.1 m crank
    q[:, 0] += 40 * np.pi
    np.testing.assert_allclose(model.tip(q), tips, atol=1e-9)


def test_a_planar_loop_in_space_is_held_by_its_plane() -> None:
    """Rows that no joint can satisfy tie bending out of the plane; in it nothing changes."""
    flat = load("five-bar").with_(
        {f"links.{name}.theory": "euler-bernoulli" for name in ("left", "left2", "right", "right2")}
    )
    one, two = (build(robot, AssumedModes(1, torsion=0)) for robot in (flat, in_space(flat)))
    assert two.size == one.size + 1  # four bend out of the plane, three rows tie them
    assert len(two.functions.loops.followers) == 5
    q, qd, tau = state(one)
    place = [two.coordinates.index(name) for name in one.coordinates]
    wide = two.chain.pose()
    fast = np.zeros(two.size)
    wide[place] = q
    fast[place] = qd
    a = one.forward_dynamics(q, qd, tau)
    b = two.forward_dynamics(wide, fast, tau)
    np.testing.assert_allclose(b[place], a, rtol=1e-8, atol=1e-8 * np.abs(a).max())
    np.testing.assert_allclose(np.delete(b, place), 0.0, atol=1e-8 * np.abs(a).max())


def test_what_cannot_be_closed_is_refused() -> None:
    robot = load("five-bar")
    model = build(robot.with_("links.left2.length", 0.3), AssumedModes(1))
    far = model.chain.pose([np.pi, 0.0])  # cranks stretched away from each other
    with pytest.raises(SuppleError, match=r"cannot be closed at this q: .* stays open by"):
        model.tip(far)
    with pytest.raises(SuppleError, match=r"cannot be closed at this q: .* stays open by"):
        simulate(model, q0=far, duration=0.01)
    short = robot.with_({"links.left2.length": 0.05, "links.right2.length": 0.05})
    with pytest.raises(SuppleError, match=r"cannot be assembled.*tool"):
        build(short, AssumedModes(1))


def test_a_run_starts_in_the_pose_that_other_studies_find() -> None:
    """One motor of two: what no loop holds is as near to its start as the loop lets it."""
    robot = load("five-bar").with_("links.right.joint.passive", True)
    robot = robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})
    model = build(robot)
    for theta in (0.3, 0.8, 2.8):
        run = simulate(model, [0.0], theta0=[theta], duration=1e-3)
        assert run.tip[0] == pytest.approx(forward(robot, [theta]).position, abs=1e-12)


def test_motors_that_a_loop_ties_are_refused() -> None:
    data = load("four-bar").model_dump(exclude_unset=True)
    for link in data["links"]:
        link["joint"] = {k: v for k, v in link["joint"].items() if k != "passive"}
        link["theory"] = "rigid"
    with pytest.raises(SuppleError, match=r"cannot be assembled|tie the motors"):
        build(MechanismRobot.model_validate(data), AssumedModes(1))


def test_rigid_links_that_loops_hold_altogether_are_refused() -> None:
    """A bar on a hinge with its end nailed down: it was an error of the algebra behind."""
    bar = {"name": "bar", "joint": {"passive": True}, "length": 1.0, "theory": "rigid"}
    nail = {"type": "revolute", "ends": ["bar", {"link": "base", "mount": {"xyz": [1, 0, 0]}}]}
    whole = {"name": "nailed", "planar": True, "links": [bar | {"mass_per_length": 1.0}]}
    with pytest.raises(SuppleError, match="nailed: its loops hold all its joints"):
        build(MechanismRobot.model_validate(whole | {"closures": [nail]}))
    whole["links"][0]["joint"] = {"type": "revolute"}
    with pytest.raises(SuppleError, match="hold the motor bar, so that it cannot move"):
        build(MechanismRobot.model_validate(whole | {"closures": [nail]}))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "two-arms"])
def test_energy_is_balanced(name: str) -> None:
    model = build(load(name), AssumedModes(1))
    run = simulate(
        model,
        tau=np.full(model.joints, 0.1),
        duration=0.05,
        method="adams",
        tolerance=1e-12,
        dt=1e-3,
        limits=False,
    )
    assert np.abs(run.balance).max() < 1e-8 * max(np.ptp(run.energies["kinetic"]), 1.0)
    assert run.closure.max() < 1e-12


def test_a_deflection_relative_to_the_chord_vanishes_at_both_ends() -> None:
    model = build(load("four-bar"), AssumedModes(2))
    q, _, _ = state(model)
    root = model.deflection_at(q, "coupler", 0.5)
    end = model.deflection_at(q, "coupler", 1.0)
    chord = model.deflection_at(q, "coupler", 0.5, frame="chord")
    for fraction in (0.0, 1.0):
        there = model.deflection_at(q, "coupler", fraction, frame="chord")
        np.testing.assert_allclose(there, 0.0, atol=1e-15)
    angle = np.arctan2(end[1], 0.28 + end[0])
    off = root - end / 2
    turned = [
        np.cos(angle) * off[0] + np.sin(angle) * off[1],
        -np.sin(angle) * off[0] + np.cos(angle) * off[1],
        0.0,
    ]
    np.testing.assert_allclose(chord, turned, atol=1e-15)
    with pytest.raises(SuppleError, match="root"):
        model.deflection_at(q, "coupler", frame="tip")
    run = simulate(model, q0=q, duration=1e-4)
    np.testing.assert_allclose(run.deflection("coupler", 0.5, frame="chord")[0], chord, atol=1e-15)


def held(name: str) -> tuple[Model, JointPD]:
    """A library mechanism with one mode per link, and springs and dampers that hold its motors."""
    robot = load(name)
    model = build(robot, AssumedModes(1))
    turns = np.array([link.joint.type == "revolute" for link in robot.links if link.joint.driven])
    return model, JointPD(np.where(turns, 50.0, 2e4).tolist(), np.where(turns, 1.0, 200.0).tolist())


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "duration"),
    [
        ("four-bar", 1.0),
        ("five-bar", 1.0),
        ("two-arms", 1.0),
        ("scara-parallel", 1.0),
        ("hexapod", 1.0),
    ],
)
def test_energy_is_balanced_to_1e_8(name: str, duration: float) -> None:
    model, law = held(name)
    theta = model.chain.pose()[: model.joints]
    run = simulate(
        model,
        controller=law,
        trajectory=theta,
        duration=duration,
        method="adams",
        tolerance=1e-12,
        dt=0.01,
        limits=False,
    )
    assert run.complete
    assert np.abs(run.balance).max() < 1e-8


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "duration"), [("four-bar", 60.0), ("five-bar", 60.0), ("hexapod", 2.0)]
)
def test_loops_stay_closed_for_long(name: str, duration: float) -> None:
    model, law = held(name)
    theta = model.chain.pose()[: model.joints]
    start = theta + 0.1 * (1 if name != "hexapod" else 0.01)
    run = simulate(
        model,
        controller=law,
        trajectory=theta,
        theta0=start,
        duration=duration,
        dt=0.05,
        limits=False,
    )
    assert run.complete
    assert run.closure.max() < 1e-10


@pytest.mark.slow
def test_a_run_of_many_steps_is_cut_and_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps held down by a mode that is not excited: there were too many of them for one call.

    They were told as loops that can no longer be closed.
    """
    monkeypatch.setattr(multistep, "MAX_STEPS_PER_CALL", 400)
    robot = load("four-bar").with_("gravity", [0, 0, 0])
    model = build(robot, AssumedModes(1), damping=0.0)
    q0 = model.chain.pose()
    q0[-1] += 1e-4
    one, other = (
        simulate(model, q0=q0, duration=0.1, samples=1, method=name) for name in ("adams", "gauss")
    )
    assert one.complete
    elastic = slice(model.joints, None)  # gauss may be 2 % off after 20 periods
    assert one.q[-1, elastic] == pytest.approx(other.q[-1, elastic], abs=0.02 * 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["four-bar", "scara-parallel", pytest.param("hexapod", marks=pytest.mark.soak)]
)
def test_stiffness_is_the_second_derivative_of_the_energy(name: str) -> None:
    """Along any direction, loops closed: links that slide in a loop had none."""
    model = build(load(name).with_("gravity", [0, 0, 0]), AssumedModes(1), damping=0.0)
    q = model.chain.pose()
    rng = np.random.default_rng(1)
    K = stiffness_at(model, q)
    for _ in range(3):
        d = 1e-5 * rng.standard_normal(model.size)
        energy = [float(model.energies(x, 0 * q)["elastic"]) for x in (q - d, q, q + d)]
        assert d @ K @ d == pytest.approx(energy[0] - 2 * energy[1] + energy[2], rel=1e-4)


def test_assumed_modes_are_those_of_the_assembled_pose() -> None:
    """Nothing said of theta, as `modes`; from above, as Rayleigh's quotients are."""
    model = build(load("five-bar"), AssumedModes(2))
    exact = modes(model.robot, count=2).omega
    found = assumed_modes(model, count=2).omega
    assert (found >= exact).all()
    assert found == pytest.approx(exact, rel=5e-4)  # of modes that carry the rest at their ends


def test_a_universal_closure_with_axes_in_the_plane_holds_the_turn() -> None:
    """Its fourth row is one of the plane: `modes` knew it, `build` did not."""
    bar = {"name": "bar", "joint": {"type": "revolute", "passive": True}, "length": 1.0}
    bar |= {"mass_per_length": 2.0, "bending_stiffness": 3.0}
    closure = {"type": "universal", "ends": [{"link": "base", "mount": {"xyz": [1, 0, 0]}}, "bar"]}
    closure["axes"] = [[1, 0, 0], [0, 1, 0]]
    whole = {"name": "held", "planar": True, "links": [bar], "closures": [closure]}
    robot = MechanismRobot.model_validate(whole)
    model = build(robot, FiniteElements(4), stiffening=False)
    beta = 3.926602312047919  # tan x = tanh x, one end pinned and one clamped
    assert modes(robot, count=1).omega[0] == pytest.approx(beta**2 * np.sqrt(1.5), rel=1e-9)
    assert linearize(model).frequencies[0] == pytest.approx(beta**2 * np.sqrt(1.5), rel=1e-3)


def test_ends_of_a_basis_are_one_a_link_of_a_mechanism() -> None:
    basis = AssumedModes(1, ends=[EndLoad(1.0)])
    with pytest.raises(SuppleError, match="ends has 1 entries"):
        build(load("four-bar"), basis)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "kuo-delta"])
def test_regressor_of_a_robot_with_loops(name: str) -> None:
    """Y pi is M qdd + h + g, and fewer combinations than constants can be told apart."""
    robot = load(name)
    model = build(robot, AssumedModes(1))
    Y = regressor(model)
    rng = np.random.default_rng(4)
    small = 1e-4 if name == "kuo-delta" else 1e-2
    q = model.chain.pose() + small * rng.normal(size=(3, model.size))
    qd, qdd = rng.normal(size=(2, 3, model.size))
    each = zip(q, qd, qdd, strict=True)
    want = [model.mass_matrix(x) @ a + model.bias(x, v) + model.gravity(x) for x, v, a in each]
    found = Y(q, qd, qdd) @ Y.pi
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-11 * np.abs(want).max())
    if name != "kuo-delta":  # whose loops cannot be closed as far away as that looks
        assert 0 < Y.identifiable(samples=40) < len(Y.pi)  # a loop hides some from its motors


def rigid_four_bar() -> MechanismRobot:
    stiff = {f"links.{name}.theory": "rigid" for name in ("crank", "coupler", "rocker")}
    return load("four-bar").with_(stiff)


def test_what_cannot_move_beside_a_loop_changes_nothing() -> None:
    """A post on the base; and two posts that a closure ties, beside a pendulum."""
    robot = rigid_four_bar()
    data = robot.model_dump(exclude_unset=True)
    post = {"name": "post", "parent": "base", "joint": {"type": "fixed"}, "length": 0.3}
    post |= {"theory": "rigid", "mass_per_length": 2.0}
    twin = MechanismRobot.model_validate(data | {"links": [*data["links"], post]})
    q, qd, tau = state(build(robot))
    found = [build(each).forward_dynamics(q, qd, tau) for each in (robot, twin)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    arm = post | {"name": "arm", "joint": {}}
    gravity = {"name": "posts", "planar": True, "gravity": [0, -9.81, 0]}
    tied = {
        "links": [arm, post, post | {"name": "other"}],
        "closures": [{"ends": ["post", "other"]}],
    }
    alone, beside = (
        build(MechanismRobot.model_validate(gravity | each)) for each in ({"links": [arm]}, tied)
    )
    given = [0.3], [0.2], [0.1]
    assert beside.forward_dynamics(*given) == pytest.approx(alone.forward_dynamics(*given))


def test_loops_are_closed_to_rounding_near_their_dead_points() -> None:
    robot = rigid_four_bar().with_({"links.coupler.length": 0.13, "links.crank.joint.start": 1.5})
    model = build(robot)
    at = model.chain.pose() + 0.2
    assert np.abs(model.functions.evaluator("closure")(at)[0]).max() < 1e-15


def test_a_mechanism_without_motors() -> None:
    """Bars in a loop that only swing: linearised in many coordinates; what cannot move is told."""
    robot = load("four-bar").with_("links.crank.joint.passive", True)
    found = linearize(build(robot.with_("gravity", [0, 0, 0]), FiniteElements(3)))
    assert found.B.shape == (len(found.A), 0)
    over = found.frequencies[:2] / modes(robot, count=2).omega - 1
    assert (over > 0).all()  # elements, from above
    assert (over < 2e-3).all()
    with pytest.raises(SuppleError, match="has no motor: forward says"):
        inverse(robot, [0.1, 0.2, 0])
    arm = {"name": "a", "joint": {"passive": True}, "length": 1.0, "mass_per_length": 1.0}
    arm |= {"bending_stiffness": 1e3}
    tree = MechanismRobot.model_validate({"name": "tree", "links": [arm]})  # no loop, in space
    assert linearize(build(tree, FiniteElements(12))).B.shape[1] == 0
    still = arm | {"joint": {"type": "fixed"}, "bending_stiffness": None, "theory": "rigid"}
    with pytest.raises(SuppleError, match="nothing to build"):
        build(MechanismRobot.model_validate({"name": "still", "links": [still]}))


def test_a_cylinder_under_a_boom_at_rest() -> None:
    """I phi'' = f dl/dphi, so l'' = (dl/dphi)^2 f / I of a uniform bar of I = m L^3 / 3."""
    boom = {"name": "boom", "parent": "base", "length": 2.0, "mass_per_length": 3.0}
    boom |= {"theory": "rigid", "joint": {"passive": True, "start": 0.5}}
    foot = np.array([0.3, -0.6])
    s = 0.8
    phi = 0.5
    rod = {"name": "cylinder", "type": "distance", "motor": True, "length": 1.1}
    rod["ends"] = [{"link": "base", "mount": {"xyz": [*foot, 0]}}, {"link": "boom", "at": s}]
    robot = MechanismRobot(name="boom", planar=True, links=[boom], closures=[rod])
    arm = s * np.array([np.cos(phi), np.sin(phi)]) - foot
    length = np.hypot(*arm)
    lever = arm @ (s * np.array([-np.sin(phi), np.cos(phi)])) / length
    found = build(robot).forward_dynamics([length], [0.0], [7.0])
    assert found[0] == pytest.approx(lever**2 * 7.0 / (3.0 * 2.0**3 / 3), rel=1e-9)


def test_a_universal_joint_of_which_a_loop_holds_one_axis() -> None:
    """All modes have the damping asked for; computed torque cannot hold the other axis."""
    bar = {"length": 0.4, "mass_per_length": 1.0, "bending_stiffness": 500.0}
    cross = {"type": "universal", "start": [0.2, 0.9], "stiffness": 20.0}
    hinge = {"passive": True, "stiffness": 30.0}
    links = [bar | {"name": "a", "parent": "base", "joint": hinge | {"start": 0.3}}]
    links.append(bar | {"name": "b", "joint": cross})
    far = hinge | {"start": 1.2, "mount": {"xyz": [0.5, 0, 0]}}
    links.append(bar | {"name": "c", "parent": "base", "joint": far})
    rod = {"type": "distance", "length": 0.35, "ends": ["b", "c"]}
    robot = MechanismRobot.model_validate({"name": "x", "links": links, "closures": [rod]})
    model = build(robot, AssumedModes(1), modal_damping=0.03, stiffening=False)
    stands = forward(robot).position  # nearest to the start, which is open by 8 cm
    np.testing.assert_allclose(model.tip(model.chain.pose()), stands, atol=1e-12)
    poles = np.linalg.eigvals(linearize(model).A)
    ring = poles[poles.imag > 0]
    assert len(ring) == model.size
    np.testing.assert_allclose(-ring.real / np.abs(ring), 0.03, rtol=1e-6)
    held = {f"links.{name}.joint.{key}": None for name in "ac" for key in ("passive", "stiffness")}
    with pytest.raises(SuppleError, match=r"b\.1 swings freely"):
        simulate(
            build(robot.with_(held), AssumedModes(1)),
            controller=ComputedTorque(),
            trajectory=Hold([0.3, 1.2]),
            duration=0.01,
        )


@pytest.mark.parametrize("compiled", [False, True])
def test_what_ball_joints_rub_away_is_in_the_balance(compiled: bool) -> None:
    """Power balance of rk4, which accounts for it apart from the motion, 1e-6 of the energy."""
    bar: dict = {"length": 0.5, "mass_per_length": 0.5, "theory": "rigid"}
    bar |= {"tip": {"mass": 0.1, "inertia": [1e-3, 1e-3, 1e-3]}}
    held = {"type": "spherical", "friction": 0.05, "damping": 0.02, "stiffness": 1.0}
    data = {"name": "flail", "gravity": [0, -9.81, 0]}
    data["links"] = [{"name": "arm", **bar}, {"name": "ball", "joint": held, **bar}]
    model = build(MechanismRobot.model_validate(data))
    run = simulate(model, [0.0], duration=0.1, method="rk4", compiled=compiled)
    assert np.abs(run.balance).max() < 1e-6


def test_sweeps_and_tracks_ask_a_mechanism_at_its_start() -> None:
    """As `modes` does: at zero a four-bar or a cylinder can hardly stand."""
    robot = load("five-bar")
    here = modes(robot, count=2).omega
    found = tolerances(robot, within={"payload.mass": 0.01}, count=2)
    np.testing.assert_allclose(found.omega, here, rtol=1e-9)
    moved = sweep(robot, "modes", over={"payload.mass": [0.5]}, count=2)
    np.testing.assert_allclose(moved.omega.values[0], here, rtol=1e-12)


def test_a_wrench_on_the_tip_of_a_loop() -> None:
    """A force on a four-bar's tip does work: the energy gained is that of the force's way."""
    model = build(load("four-bar"), AssumedModes(2, axial=1))
    run = simulate(model, duration=0.05, wrench=[0.0, -20.0, 0.0])
    work = -20.0 * (run.tip[-1, 1] - run.tip[0, 1])
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, rel=1e-6)
