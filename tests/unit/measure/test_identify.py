"""Identification against truths that the tests' own elements make."""

import numpy as np
import pytest

import measured
import supple

KINDS = ("frequencies", "statics", "motion", "response")


def test_own_elements_agree_with_exact_modes():
    """The truth of these tests and the model that is fitted are the same physics."""
    exact = supple.modes(measured.arm().with_(measured.FREE), measured.poses(), count=5)
    assert np.abs(exact.frequency_hz / measured.true_frequencies() - 1).max() < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_within_four_deviations(kind):
    found, truth = measured.experiment(kind, 0)
    for path, value in truth.items():
        assert abs(found.values[path] - value) < 4 * found.std[path]
        assert found.std[path] < 0.1 * value
    assert found.correlation.shape == (len(found.names), len(found.names))
    assert found.residuals.shape == found.measured.shape


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_in_the_profiled_interval(kind):
    """95 % by likelihood. Of responses, whose profiles take longest, only the first parameter."""
    found, truth = measured.experiment(kind, 0)
    paths = list(truth)[:1] if kind == "response" else list(truth)
    for path in paths:
        low, high = found.interval(path, 0.95)
        assert low < found.values[path] < high


@pytest.mark.soak
def test_truth_is_in_the_profiled_intervals_of_a_response():
    found, truth = measured.experiment("response", 0)
    for path in truth:
        low, high = found.interval(path, 0.95)
        assert low < found.values[path] < high


@pytest.mark.slow
def test_interval_covers_as_it_says():
    inside = []
    for seed in range(40):
        found, truth = measured.experiment("frequencies", seed)
        for path, value in truth.items():
            low, high = found.interval(path, 0.9, profile=False)
            inside.append(low <= value <= high)
    # 160 dependent trials of 0.9: three standard errors are about 0.1
    assert 0.8 < np.mean(inside) <= 1.0


@pytest.mark.slow
def test_lines_are_paired_with_missing_and_foreign_ones():
    for seed in range(5):
        table, mode = measured.frequencies(seed, numbered=False, missing=0.25, foreign=2)
        found = supple.identify(measured.arm(), table, list(measured.FREE))
        assert np.array_equal(found.pairs, mode)
        assert sum("belongs to no mode" in note for note in found.notes) == 2
        assert any("was not excited" in note for note in found.notes)


def test_deviations_given_much_too_small_do_not_make_every_line_foreign():
    """Lines of two violent moves of a simulated arm: many overtones, deviations of 1e-5 and less.

    They were found by `resonances` in the ringing of `follow`, whose truth is 5,500 N m/rad and
    1.6 kg; four of the eighteen belong to modes, shifted by 1e-4 by the size of the vibration.
    """
    arm = """
supple: 1
name: floor-arm
architecture: serial
planar: true
materials: {aluminium: {young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}
sections: {bar: {shape: box, depth: 0.03, width: 0.06, wall: 0.002}}
links:
  - {name: upper, length: 0.8, material: aluminium, section: bar, tip: {mass: 1.5},
     joint: {type: revolute, stiffness: 8000, rotor_inertia: 0.5}}
  - {name: lower, length: 0.6, material: aluminium, section: bar,
     joint: {type: revolute, stiffness: 3000, rotor_inertia: 0.2}}
payload: {mass: 1}
"""
    there = [5.24911, 5.9648, 10.49667, 11.22008, 16.46835, 207.25439, 339.87818, 345.20015]
    back = [3.97868, 7.95958, 11.93614, 12.91295, 20.87735, 24.8583, 37.82266, 41.75853, 45.69296]
    sigma_there = [5e-5, 3.5e-3, 2.1e-3, 9e-5, 3.1e-3, 0.1, 0.027, 0.11]
    sigma_back = [3e-6, 2e-3, 0.019, 0.028, 2e-5, 3.6e-3, 0.029, 9.7e-3, 0.041]
    table = {
        "theta.upper": [0.8] * len(there) + [0.0] * len(back),
        "theta.lower": [1.6] * len(there) + [0.0] * len(back),
        "frequency_hz": there + back,
        "sigma_hz": sigma_there + sigma_back,
    }
    free = ["links.upper.joint.stiffness", "payload.mass"]
    found = supple.identify(supple.loads(arm), table, free)
    assert found.pairs.tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0]
    assert found.values["links.upper.joint.stiffness"] == pytest.approx(5500, rel=3e-3)
    assert found.values["payload.mass"] == pytest.approx(1.6, rel=3e-3)
    assert any("times the noise that was given" in warning for warning in found.warnings)


def test_sets_that_cannot_be_told_apart_are_named():
    """At one pose of a straight arm three parameters change two lines."""
    table = {"theta.lower": [0.0, 0.0, 0.0], "frequency_hz": [2.9, 2.91, 2.9], "mode": [1, 1, 1]}
    names = ["links.upper.joint.stiffness", "payload.mass"]
    found = supple.identify(measured.arm(), table, names)
    assert all(np.isinf(found.std[name]) for name in names)
    assert any(all(name in line for name in names) for line in found.warnings)
    assert any("add a pose" in line for line in found.warnings)


def test_a_prior_answers_what_data_do_not():
    table = {"theta.lower": [0.0, 0.0, 0.0], "frequency_hz": [2.9, 2.91, 2.9], "mode": [1, 1, 1]}
    names = ["links.upper.joint.stiffness", "payload.mass"]
    found = supple.identify(measured.arm(), table, names, priors={"payload.mass": (1.3, 0.05)})
    assert found.values["payload.mass"] == pytest.approx(1.3, abs=0.01)
    assert found.std["payload.mass"] == pytest.approx(0.05, rel=0.1)
    assert np.isfinite(found.std["links.upper.joint.stiffness"])


def test_known_noise_and_conditions():
    """sigma_hz is taken as it is; a payload in a column is a known condition of its row."""
    f = {}
    for mass in (0.5, 1.5):
        robot = measured.arm().with_({**measured.FREE, "payload.mass": mass})
        f[mass] = supple.modes(robot, measured.poses(), count=3).frequency_hz
    rng = np.random.default_rng(0)
    values = np.concatenate([f[0.5].ravel(), f[1.5].ravel()])
    values = values * (1 + 1e-3 * rng.standard_normal(len(values)))
    table = {
        "theta.lower": np.tile(np.repeat(measured.poses()[:, 1], 3), 2),
        "frequency_hz": values,
        "mode": np.tile([1.0, 2.0, 3.0], 12),
        "payload.mass": np.repeat([0.5, 1.5], 18),
        "sigma_hz": 1e-3 * values,
    }
    names = list(measured.FREE)[:3]
    found = supple.identify(measured.arm(), table, names)
    for name in names:
        assert abs(found.values[name] - measured.FREE[name]) < 4 * found.std[name]
    doubled = supple.identify(measured.arm(), table | {"sigma_hz": 2e-3 * values}, names)
    for name in names:
        assert doubled.std[name] == pytest.approx(2 * found.std[name], rel=0.01)


def test_degrees_ties_bounds_and_outliers():
    table, _ = measured.frequencies(3)
    degrees = {
        "theta.upper [deg]": np.degrees(table["theta.upper"]),
        "theta.lower [deg]": np.degrees(table["theta.lower"]),
        "frequency_hz": table["frequency_hz"],
        "mode": table["mode"],
    }
    names = list(measured.FREE)
    plain = supple.identify(measured.arm(), table, names)
    same = supple.identify(measured.arm(), degrees, names)
    for name in names:
        assert same.values[name] == pytest.approx(plain.values[name], rel=1e-6)
    tied = supple.identify(
        measured.arm(),
        table,
        names[:1],
        ties={"links.lower.bending_stiffness": (names[0], 260 / 900)},
    )
    assert tied.robot.links[1].bending_stiffness[0] == pytest.approx(
        tied.values[names[0]] * 260 / 900
    )
    bound = supple.identify(measured.arm(), table, names, bounds={names[0]: (700, 850)})
    assert bound.values[names[0]] <= 850
    assert any("bound" in line for line in bound.warnings)
    wrong = dict(table)
    wrong["frequency_hz"] = np.array(table["frequency_hz"])
    wrong["frequency_hz"][4] *= 1.2
    robust = supple.identify(measured.arm(), wrong, names, loss="cauchy")
    spoiled = supple.identify(measured.arm(), wrong, names)
    for name in names[:2]:
        error = abs(robust.values[name] - measured.FREE[name])
        assert error < abs(spoiled.values[name] - measured.FREE[name])
        assert error < 5 * robust.std[name]


@pytest.mark.slow
def test_sensors_and_validation():
    """Gain, bias and delay of a sensor are found with the robot; held-out rows are predicted."""
    t, torque, out = measured.true_motion()
    rng = np.random.default_rng(0)
    size = 0.005 * out.std(axis=0)
    tip = 1.05 * np.interp(t - 4e-3, t, out[:, 1]) + 2e-4
    table = {
        "t": t,
        "tau.link": torque,
        "theta.link": out[:, 0] + size[0] * rng.standard_normal(len(t)),
        "tip.y": tip + size[1] * rng.standard_normal(len(t)),
    }
    free = ["links.link.bending_stiffness"]
    free += ["sensor.tip.y.gain", "sensor.tip.y.bias", "sensor.tip.y.delay"]
    robot = measured.hub_arm().with_(measured.HUB_FREE).with_(free[0], 45.0)
    found = supple.identify(robot, table, free, theta0=[0.0], validation=0.25)
    assert found.values["sensor.tip.y.gain"] == pytest.approx(1.05, abs=0.01)
    assert found.values["sensor.tip.y.delay"] == pytest.approx(4e-3, abs=5e-4)
    assert found.values[free[0]] == pytest.approx(46.0, rel=0.02)
    assert found.validation_percent > 95


@pytest.mark.parametrize(
    ("table", "free", "said"),
    [
        ({"theta.lower": [90.0], "frequency_hz": [3.0]}, ["payload.mass"], "deg"),
        ({"theta.wrist": [0.0], "frequency_hz": [3.0]}, ["payload.mass"], "no coordinate"),
        ({"frequency_hz": [3.0]}, ["payload.mass", "links.upper.length"], "2 parameters are free"),
        ({"frequency_hz": [np.nan]}, ["payload.mass"], "not a number"),
        ({"frequency_hz": [-3.0]}, ["payload.mass"], "frequency_hz is -3"),
        ({"something": [1.0]}, ["payload.mass"], "has the columns something"),
        ({"t": [0, 1, 0.5, 2], "tip.x": [0, 0, 0, 0]}, ["payload.mass"], "must rise"),
        ({"frequency_hz": [3.0]}, ["payload.mas"], "payload"),
        ({"frequency_hz": [3.0]}, [], "free is empty"),
        ({"force.y": [0.0], "tip.y": [0.0]}, ["payload.mass"], "no load"),
    ],
)
def test_bad_input_is_a_sentence(table, free, said):
    with pytest.raises(supple.SuppleError, match=said):
        supple.identify(measured.arm(), table, free)


def test_where_to_measure():
    """The plan's deviations are those of a fit at its poses, and no exchange betters it."""
    names = list(measured.FREE)
    rng = np.random.default_rng(0)
    candidates = np.stack([np.zeros(60), rng.uniform(-2.5, 2.5, 60)], axis=1)
    plan = supple.where_to_measure(measured.arm(), names, candidates, 4, modes=4, noise=2e-3)
    assert plan.theta.shape == (4, 2)
    f = supple.modes(measured.arm(), plan.theta, count=4).frequency_hz
    table = {
        "theta.lower": np.repeat(plan.theta[:, 1], 4),
        "frequency_hz": f.ravel(),
        "mode": np.tile([1.0, 2, 3, 4], 4),
    }
    fit = supple.identify(measured.arm(), table, names, sigma=2e-3)
    for name in names:
        assert plan.std[name] == pytest.approx(fit.std[name], rel=1e-3)
    chance = [
        supple.where_to_measure(
            measured.arm(), names, candidates[rng.choice(60, 4, replace=False)], 4, noise=2e-3
        ).gain[-1]
        for _ in range(10)
    ]
    assert plan.gain[-1] > max(chance)


def test_damping_ratios_of_lines_are_fitted():
    """Truth by the tests' own elements with complex stiffness: both links have their own ratio."""
    elbow = 1.0
    ratios = {"upper": 0.02, "lower": 0.005}
    f, zeta = measured.damped_modes(elbow, ratios, 4)
    table = {
        "theta.lower": np.full(4, elbow),
        "frequency_hz": f,
        "damping_ratio": zeta,
        "mode": [1.0, 2.0, 3.0, 4.0],
    }
    robot = measured.arm().with_(measured.FREE)
    free = ["links.upper.damping_ratio", "links.lower.damping_ratio"]
    found = supple.identify(robot, table, free)
    assert found.values[free[0]] == pytest.approx(0.02, rel=1e-3)
    assert found.values[free[1]] == pytest.approx(0.005, rel=1e-3)
    both = supple.identify(robot, table, ["damping_ratio"])
    assert both.values["damping_ratio"] == pytest.approx(zeta.mean(), rel=1e-6)
    unused = supple.identify(robot, table, ["payload.mass"])
    assert any("damping_ratio" in note for note in unused.notes)
    with pytest.raises(supple.SuppleError, match="per cent are divided by 100"):
        supple.identify(robot, table | {"damping_ratio": 100 * zeta}, free)


def test_noise_of_responses_is_constant_relative_or_both():
    """Of pure noise the other share is exactly zero; of both, each is found."""
    from supple.measure.estimation import _noise_shares

    rng = np.random.default_rng(0)
    modulus = np.exp(rng.uniform(-3, 3, 400))
    nothing = np.zeros((400, 1))
    information = np.eye(1)
    for a, b in ((0.5, 0.0), (0.0, 0.1), (0.5, 0.3)):
        noise = np.sqrt(a**2 + b**2 * modulus**2) * rng.standard_normal(400)
        shares = np.sqrt(_noise_shares(noise, modulus, nothing, information))
        assert shares == pytest.approx([a, b], rel=0.2, abs=0)
