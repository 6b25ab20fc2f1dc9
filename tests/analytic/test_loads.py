"""Loads anywhere on links: closed forms, elements by hand, and rest in simulation."""

import numpy as np
import pytest
from scipy.integrate import simpson

import supple
from supple.equations.equilibrium import static_state
from supple.equations.loaded import loaded_model
from supple.outputs.kinds import EndFrame

E = 7e10
DENSITY = 2700.0
LENGTH = 1.2
DEPTH = 0.02
WIDTH = 0.03
MATERIAL = {"young_modulus": E, "poisson_ratio": 0.3, "density": DENSITY}
EI = E * WIDTH * DEPTH**3 / 12
BAR = {"shape": "rectangle", "depth": DEPTH, "width": WIDTH}


def arm(links=1, section=BAR, planar=True, **link):
    each = {"length": LENGTH, "material": MATERIAL, "theory": "euler-bernoulli", "joint": {}}
    where = {"stations": section} if isinstance(section, list) else {"section": section}
    described = [{"name": f"link{k + 1}", **each, **where, **link} for k in range(links)]
    return supple.SerialRobot(name="arm", planar=planar, gravity=[0, 0, 0], links=described)


def test_a_force_and_a_moment_within_a_cantilever():
    load = supple.PointLoad("link1", 0.4, force=[0, -10, 0], moment=[0, 0, 3])
    place = {"there": supple.Place("link1", 0.4), "root": supple.Moment("link1", 0)}
    found = supple.statics(arm(), [0.0], loads=[load], outputs=place)
    a = 0.4 * LENGTH
    at_load = -10 * a**3 / (3 * EI) + 3 * a**2 / (2 * EI)
    slope = -10 * a**2 / (2 * EI) + 3 * a / EI
    assert found.tip_displacement[1] == pytest.approx(at_load + slope * (LENGTH - a), rel=1e-11)
    assert found.tip_rotation[2] == pytest.approx(slope, rel=1e-11)
    assert found.outputs["there"] == pytest.approx([a, at_load, 0], rel=1e-11, abs=1e-14)
    assert found.outputs["root"][2] == pytest.approx(3 - 10 * a, rel=1e-11)
    work = (-10 * at_load + 3 * slope) / 2
    assert found.strain_energy.sum() == pytest.approx(work, rel=1e-10)


def test_a_force_spread_along_a_cantilever():
    constant = supple.statics(arm(), [0.0], loads=[supple.DistributedLoad("link1", [0, -5, 0])])
    assert constant.tip_displacement[1] == pytest.approx(-5 * LENGTH**4 / (8 * EI), rel=1e-11)
    x = constant.x[0]
    shape = -5 * x**2 * (6 * LENGTH**2 - 4 * LENGTH * x + x**2) / (24 * EI)
    assert constant.displacement[0, :, 1] == pytest.approx(shape, rel=1e-10, abs=1e-15)
    rising = supple.DistributedLoad("link1", lambda fraction: [0, -5 * fraction, 0])
    found = supple.statics(arm(), [0.0], loads=[rising])
    assert found.tip_displacement[1] == pytest.approx(-11 * 5 * LENGTH**4 / (120 * EI), rel=1e-11)


def test_a_uniform_load_is_a_weight_of_the_same_size():
    """The exact weight of a tapered arm in gravity, as a load of the same size per length."""
    end = BAR | {"depth": DEPTH / 3, "width": WIDTH / 2}
    robot = arm(2, section=[{"at": 0, "section": BAR}, {"at": LENGTH, "section": end}])
    pull = np.array([0.3, -9.81, 0])

    def mass_per_length(fraction):
        depth = DEPTH * (1 - fraction * 2 / 3)
        width = WIDTH * (1 - fraction / 2)
        return DENSITY * depth * width * pull

    loads = [supple.DistributedLoad(name, mass_per_length) for name in ("link1", "link2")]
    theta = [0.3, -0.8]
    ours = supple.statics(robot, theta, loads=loads)
    weight = supple.statics(robot, theta, gravity=pull)
    size = np.abs(weight.tip_displacement).max()
    assert np.abs(ours.tip_displacement - weight.tip_displacement).max() < 1e-9 * size
    assert np.abs(ours.displacement - weight.displacement).max() < 1e-9 * size
    assert ours.root_moment == pytest.approx(weight.root_moment, rel=1e-9, abs=1e-9)
    assert ours.strain_energy == pytest.approx(weight.strain_energy, rel=1e-8)


def test_a_point_load_is_the_tip_load_of_an_arm_cut_there():
    """A two-link arm in space loaded within link 1, against three links joined rigidly."""
    robot = arm(2, planar=False)
    theta = [0.2, 0.9]
    force = np.array([1.0, -4.0, 2.0])
    moment = np.array([0.3, 0.2, -0.1])
    load = supple.PointLoad("link1", 0.35, force=force, moment=moment)
    ours = supple.statics(robot, theta, loads=[load])
    inner = arm(1, planar=False).with_("links.link1.length", 0.35 * LENGTH)
    cut = supple.statics(inner, theta[:1], force=force, moment=moment)
    ahead = LENGTH * 0.65 * np.array([np.cos(0.2), np.sin(0.2), 0])
    ahead = ahead + LENGTH * np.array([np.cos(1.1), np.sin(1.1), 0])
    moved = cut.tip_displacement + np.cross(cut.tip_rotation, ahead)
    assert ours.tip_displacement == pytest.approx(moved, rel=1e-9, abs=1e-13)
    assert ours.tip_rotation == pytest.approx(cut.tip_rotation, rel=1e-9, abs=1e-13)


def test_loads_in_a_loop():
    """Betti: a load within a link of a four-bar moves the tip as a tip load moves that place."""
    robot = supple.load("four-bar")
    link = supple.as_mechanism(robot).links[1].name
    theta = [0.9]
    load = supple.PointLoad(link, 0.3, force=[0, 1, 0])
    there = {"there": supple.Place(link, 0.3)}
    weightless = {"gravity": [0, 0, 0], "outputs": there}
    at_rest = supple.statics(robot, theta, **weightless).outputs["there"]
    by_tip = supple.statics(robot, theta, force=[1, 0, 0], **weightless).outputs["there"] - at_rest
    by_load = supple.statics(robot, theta, loads=[load], gravity=[0, 0, 0])
    assert by_load.tip_displacement[0] == pytest.approx(by_tip[1], rel=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: supple.PointLoad("link1", 1.5), "fraction"),
        (
            lambda: loaded_model(
                supple.build(supple.load("four-bar"), supple.AssumedModes(2, axial=1)),
                [supple.PointLoad("no", 0.5)],
            ),
            "crank, coupler, rocker",
        ),
        (
            lambda: supple.simulate(
                supple.build(arm(2), supple.AssumedModes(1), reading="de-luca"),
                loads=[supple.PointLoad("link1", 0.5)],
            ),
            "leave out reading",
        ),
        (
            lambda: supple.linearize(
                supple.build(arm(2), supple.AssumedModes(2)), inputs=["force.link7@0.5.y"]
            ),
            "link1, link2",
        ),
        (
            lambda: supple.follow(
                arm(2), supple.PointToPoint([0, 0], [0.1, 0], 1.0), loads=["wind"]
            ),
            "PointLoad",
        ),
        (lambda: supple.PointLoad("link1", 0.5, force=[1, 2]), "three numbers"),
        (lambda: supple.DistributedLoad("link1", "much"), "three numbers"),
        (lambda: supple.statics(arm(), [0.0], loads=["x"]), "PointLoad"),
        (lambda: supple.statics(arm(), [0.0], loads=[supple.PointLoad("no", 0.5)]), "no link 'no'"),
        (
            lambda: supple.statics(arm(), [0.0], loads=[supple.DistributedLoad("link1", np.sin)]),
            "three numbers",
        ),
    ],
)
def test_bad_loads_are_one_sentence(make, words):
    with pytest.raises(supple.SuppleError, match=words):
        make()


def test_a_place_in_motion():
    """Place is the closed form of a bent arm, its rates the numerical derivatives along a run."""
    model = supple.build(arm(2), supple.AssumedModes(2), damping=0.01)
    outputs = {f"rate {k}": supple.Place("link2", 0.5, rate=k) for k in range(3)}
    outputs |= {"end": supple.Place("link2", 1.0), "tip": supple.Tip()}
    run = supple.simulate(model, tau=[2.0, 0.5], duration=0.02, dt=2e-5, outputs=outputs)
    assert run.outputs["end"] == pytest.approx(run.outputs["tip"], abs=1e-13)
    q = run.q
    half = LENGTH / 2
    ends = [run.deflection("link1", 1.0), run.deflection("link2", 0.5)]
    slope = q[:, 2:4] @ model.chain.links[0].shapes.at(LENGTH)[0, 5]
    first = q[:, 0]
    second = q[:, 0] + slope + q[:, 1]
    x = LENGTH * np.cos(first) - ends[0][:, 1] * np.sin(first)
    x = x + half * np.cos(second) - ends[1][:, 1] * np.sin(second)
    assert run.outputs["rate 0"][:, 0] == pytest.approx(x, abs=1e-9)
    for k in (1, 2):
        slope = np.gradient(run.outputs[f"rate {k - 1}"], run.t, axis=0)[2:-2]
        size = np.abs(slope).max()
        assert np.abs(slope - run.outputs[f"rate {k}"][2:-2]).max() < 5e-4 * size


LOADS = [
    supple.PointLoad("link1", 0.5, force=[0.2, -0.6, 0], moment=[0, 0, 0.1]),
    supple.DistributedLoad("link2", lambda fraction: [0, -0.4 * (1 + fraction), 0]),
]


def model_in_elements():
    """Two links in elements, and their Model."""
    robot = arm(2)
    return robot, supple.build(robot, supple.FiniteElements(2), damping=0.0)


def test_loads_at_rest_in_simulation_are_statics():
    robot, model = model_in_elements()
    theta = [0.3, -0.7]

    def small(size):
        return [
            supple.PointLoad(
                "link1", 0.5, force=[2e-4 * size, -6e-4 * size, 0], moment=[0, 0, 1e-4 * size]
            ),
            supple.DistributedLoad("link2", lambda x: [0, -4e-4 * size * (1 + x), 0]),
        ]

    # Both signs, so that what is quadratic in the loads drops out
    bent = [model.tip(static_state(loaded_model(model, small(k)), theta)) for k in (1, -1)]
    exact = supple.statics(robot, theta, loads=small(1)).tip_displacement
    assert (bent[0] - bent[1]) / 2 == pytest.approx(exact, abs=2e-9 * np.abs(exact).max())


def test_the_power_balance_closes_under_loads():
    _, model = model_in_elements()
    run = supple.simulate(
        model,
        q0=[0.3, -0.7, *np.zeros(model.size - 2)],
        duration=0.05,
        loads=LOADS,
        method="adams",
        tolerance=1e-11,
    )
    assert np.abs(run.q[-1, :2] - run.q[0, :2]).max() > 1e-4
    assert run.openness < 1e-8


@pytest.mark.parametrize("name", ["de-luca-two-link", "industrial-3", "di-castri-two-link"])
def test_a_tolerance_closes_the_power_balance_of_the_default_method_under_a_force_within(name):
    """Nothing is damped, so that all that a step loses is its own; without it 2e-8 to 9e-7."""
    robot = supple.load(name)
    model = supple.build(robot, supple.AssumedModes(2))
    force = supple.PointLoad(robot.links[-1].name, 0.5, force=(0.3, 2.0, 0.0))
    run = supple.simulate(model, duration=0.5, loads=[force], tolerance=1e-8)
    assert run.method == "rk4"
    assert run.openness < 1e-8
    assert np.ptp(run.work - run.energy) < 1e-8 * run.exchanged


def test_a_load_on_the_end_is_the_wrench():
    _, model = model_in_elements()
    load = supple.PointLoad("link2", 1.0, force=[0, -1, 0], moment=[0, 0, 0.2])
    options = {"duration": 0.05, "method": "adams"}
    by_load = supple.simulate(model, loads=[load], **options)
    by_wrench = supple.simulate(model, wrench=[0, -1, 0, 0, 0, 0.2], **options)
    assert np.abs(by_load.q - by_wrench.q).max() < 1e-7 * np.abs(by_wrench.q).max()


def test_a_shaken_section_answers_as_the_static_load_and_by_reciprocity():
    robot = arm(2)
    theta = [0.2, 0.5]
    inputs = ["force.link1@0.5.y", "moment.link2@0.25.z", "force.y"]
    outputs = ["tip.y", supple.Place("link1", 0.5), supple.Place("link1", 0.5, rate=2)]
    found = supple.response(robot, theta, [0.0, 17.0], inputs, outputs, joints="locked")
    load = supple.PointLoad("link1", 0.5, force=[0, 1, 0])
    turn = supple.PointLoad("link2", 0.25, moment=[0, 0, 1])
    for k, each in enumerate((load, turn)):
        sag = supple.statics(robot, theta, loads=[each])
        assert found.values[0, 0, k].real == pytest.approx(sag.tip_displacement[1], rel=1e-9)
    middle = found.outputs.index("place.link1@0.5.y")
    shaken = found.outputs.index("acceleration.link1@0.5.y")
    assert found.values[1, middle, 2] == pytest.approx(found.values[1, 0, 0], rel=1e-9)
    ratio = found.values[1, shaken, 0] / found.values[1, middle, 0]
    assert ratio == pytest.approx(-((2 * np.pi * 17) ** 2), rel=1e-10)
    with pytest.raises(supple.SuppleError, match="from 0"):
        supple.response(robot, theta, [1.0], ["force.link1@3.y"])


def test_loads_in_loops_at_rest_are_statics_and_close_the_power_balance():
    robot = supple.load("four-bar").with_("gravity", [0, 0, 0])
    model = supple.build(robot, supple.FiniteElements(1), damping=0.0)

    def small(size):
        along = [1e-2 * size, 4e-2 * size, 0]
        return [
            supple.PointLoad(
                "coupler", 0.4, force=[2e-2 * size, -3e-2 * size, 0], moment=[0, 0, 1e-2 * size]
            ),
            supple.DistributedLoad("rocker", lambda fraction: [along[0] * fraction, along[1], 0]),
        ]

    # Both signs, so that what is quadratic in the loads drops out
    bent = [model.tip(static_state(loaded_model(model, small(k)), [0.9])) for k in (1, -1)]
    exact = supple.statics(robot, [0.9], loads=small(1)).tip_displacement
    assert (bent[0] - bent[1]) / 2 == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())

    large = [
        supple.PointLoad("coupler", 0.4, force=[3, -5, 0], moment=[0, 0, 0.5]),
        supple.DistributedLoad("rocker", [1, 4, 0]),
    ]
    slow = supple.build(robot, supple.AssumedModes(1, axial=1), damping=0.0)
    run = supple.simulate(
        slow, theta0=[0.9], duration=0.01, loads=large, method="adams", tolerance=1e-10
    )
    assert abs(run.q[-1, 0] - 0.9) > 1e-3
    assert run.openness < 1e-8


def test_loads_on_a_delta_do_the_work_of_their_places():
    robot = supple.load("kuo-delta")
    model = supple.build(robot, supple.AssumedModes(1), damping=0.0)
    theta = supple.inverse(robot, position=[0.02, 0.03, 0.6]).theta
    force = np.array([3.0, -5.0, 2.0])
    load = supple.PointLoad("lower2", 0.25, force=force)
    place = {"place": supple.Place("lower2", 0.25)}
    options = {"theta0": theta, "duration": 0.01, "outputs": place}
    run = supple.simulate(model, loads=[load], **options)
    free = supple.simulate(model, **options)
    assert run.openness < 1e-7
    assert np.abs(run.q - free.q).max() > 1e-5
    # What the load gave is in the robot: its energy without the potential of the load
    gained = model.energy(run.q[-1], run.qd[-1]) - model.energy(run.q[0], run.qd[0])
    work = force @ (run.outputs["place"][-1] - run.outputs["place"][0])
    assert gained == pytest.approx(work, rel=1e-5)


@pytest.mark.parametrize("basis", [supple.AssumedModes(3), supple.FiniteElements(2)])
def test_loads_within_a_sliding_link_at_rest_are_statics(basis):
    robot = supple.load("theodore-rrp")
    model = supple.build(robot, basis, damping=0.0)
    theta = [0.3, 0.4, 0.7]
    accuracy = 1e-7 if isinstance(basis, supple.FiniteElements) else 1e-3
    force = [1e-5, 2e-5, -1e-5]
    for load in (
        supple.PointLoad("link3", 0.4, force=force),
        supple.PointLoad("link3", 0.6, moment=force),
        supple.DistributedLoad("link3", lambda fraction: np.array(force) * (1 + fraction)),
    ):
        q = static_state(loaded_model(model, [load]), theta)
        unbent = model.tip([*theta, *np.zeros(model.size - 3)])
        exact = supple.statics(robot, theta, loads=[load]).tip_displacement
        assert model.tip(q) - unbent == pytest.approx(exact, abs=accuracy * np.abs(exact).max())


def test_a_load_within_a_sliding_link_pushes_the_material_that_is_there():
    """Its power is force times the velocity of that material, which slides past its place."""
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), damping=0.0)
    force = np.array([1.0, 2.0, -1.0])
    moment = [0.2, -0.1, 0.3]
    loads = [
        supple.PointLoad("link3", 0.4, force=force),
        supple.PointLoad("link2", 0.5, moment=moment),  # in space: no potential
    ]
    beside = {"at": 0.4, "before": 0.399, "behind": 0.401}
    outputs = {name: supple.Place("link3", x) for name, x in beside.items()}
    outputs |= {"rate": supple.Place("link3", 0.4, rate=1), "spin": supple.Gyroscope("link2", 0.5)}
    outputs["frame"] = EndFrame("link2")
    run = supple.simulate(
        model,
        q0=[0.3, 0.4, 0.7, 1e-3, 2e-3],
        qd0=[0.1, 0.1, 0.2, 0, 0],
        duration=0.05,
        dt=1e-4,
        loads=loads,
        method="adams",
        tolerance=1e-11,
        outputs=outputs,
    )
    assert run.openness < 1e-8
    seen = run.outputs
    # along the beam, per metre of the free length
    tangent = (seen["behind"] - seen["before"]) / (0.002 * run.q[:, 2:3])
    material = seen["rate"] + 0.6 * run.qd[:, 2:3] * tangent
    spin = np.einsum("tab,tb->ta", seen["frame"].reshape(-1, 3, 3), seen["spin"])
    power = material @ force + spin @ moment
    assert run.work[-1] == pytest.approx(simpson(power, x=run.t), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "elements", "theta", "link"),
    [
        ("de-luca-two-link", 6, [0.2, 0.5], "link1"),
        pytest.param("four-bar", 2, [0.9], "coupler", marks=pytest.mark.slow),
    ],
)
def test_load_inputs_of_linearize_answer_as_the_exact_beams(name, elements, theta, link):
    """Arm and loop, against the exact frequency response."""
    robot = supple.load(name).with_("gravity", [0, 0, 0])
    model = supple.build(robot, supple.FiniteElements(elements))
    inputs = [f"force.{link}@0.5.y", f"moment.{link}@0.25.z"]
    outputs = [supple.Place(link, 0.5), supple.Moment(link, 0.1)]
    state = [*theta, *np.zeros(model.size - len(theta))]
    linear = supple.linearize(model, state, inputs=["tau", *inputs], outputs=outputs)
    assert linear.inputs[-2:] == tuple(inputs)
    s = 2j * np.pi * 2.0
    shaken = np.linalg.solve(s * np.eye(len(linear.A)) - linear.A, linear.B)
    ours = (linear.C @ shaken + linear.D)[:, -2:]
    exact = supple.response(robot, theta, [2.0], inputs, outputs, joints="free").values[0]
    assert np.abs(ours - exact).max() < 1e-5 * np.abs(exact).max()


def test_follow_under_loads_and_a_process_force():
    """Joints that stand still on their path, against the same arm with fixed joints, simulated."""
    motors = arm(2)
    fixed = motors.with_({"links.link1.joint.type": "fixed", "links.link2.joint.type": "fixed"})
    t = np.linspace(0.0, 0.2, 41)
    wrench = np.zeros((41, 6))
    wrench[:, 1] = 2e-3 * np.sin(20 * t)
    wrench[:, 5] = 3e-4 * np.sin(31 * t)
    loads = [
        supple.PointLoad("link1", 0.5, force=[0, 2e-3, 0]),
        supple.DistributedLoad("link2", [5e-4, 1e-4, 0]),
    ]
    stand = supple.PointToPoint([0, 0], [1e-12, 0], 0.2)
    followed = supple.follow(motors, stand, wrench=(t, wrench), loads=loads, damping=0.01)
    model = supple.build(fixed, supple.FiniteElements(2), stiffening=True, damping=0.01)
    run = supple.simulate(model, wrench=(t, wrench), loads=loads, q0="static", duration=0.2)
    at = np.searchsorted(run.t, followed.t - 1e-9)
    assert np.abs(followed.tip - run.tip[at]).max() < 1e-4 * np.ptp(run.tip[:, 1])


def test_a_constant_process_force_is_held_as_statics_say():
    move = supple.PointToPoint([0.3, -0.7], [0.3, -0.6], 0.5)
    force = [3e-4, -2e-4, 0]
    moment = [0, 0, 1e-4]
    followed = supple.follow(arm(2), move, wrench=[*force, *moment], dt=0.05)
    exact = supple.statics(arm(2), [0.3, -0.7], force=force, moment=moment)
    assert followed.moved[0, :2] == pytest.approx(exact.tip_displacement[:2], rel=1e-5)
    assert followed.moved[0, 5] == pytest.approx(exact.tip_rotation[2], rel=1e-5)
    about_shoulder = np.cross(followed.tip[0], force)[2] + moment[2]
    assert followed.torque[0, 0] == pytest.approx(-about_shoulder, rel=1e-6)
