"""Controllers, trajectories and closed loops."""

import numpy as np
import pytest

import supple
from supple.control.trajectories import NAMED, InvertedU, Slowed
from supple.errors import SuppleError
from supple.integration.closed_loop import Reference

RRP = supple.load("theodore-rrp")
TWO = supple.load("de-luca-two-link")
TRAJECTORIES = [
    supple.ParabolicBlends([0.0, 1.0], [2.0, -1.0], 1.0, 0.2),
    supple.PointToPoint([0.0, 1.0], [2.0, -1.0], 1.5, "cubic"),
    supple.PointToPoint([0.0, 1.0], [2.0, -1.0], 1.5, "quintic"),
    supple.PointToPoint([0.0, 1.0], [2.0, -1.0], 1.5, "septic"),
    supple.WayPoints([[0, 0], [1, 0.5], [0.2, 1]], 2.0, 5.0, pause=0.1),
    supple.Repeated(supple.ParabolicBlends([0.0, 1.0], [2.0, -1.0], 1.0, 0.2)),
    InvertedU(),
    Slowed(supple.PointToPoint([0.0, 1.0], [2.0, -1.0], 1.0), 1.7),
]


@pytest.mark.parametrize("path", TRAJECTORIES, ids=lambda p: type(p).__name__)
def test_velocity_and_acceleration_are_derivatives_of_position(path):
    edges = np.array([0.0, *path.breaks, path.duration])
    t = np.linspace(0.01, 0.99, 400) * path.duration
    t = t[np.abs(t[:, None] - edges).min(axis=1) > 1e-3]
    h = 1e-5
    x, v, a = path(t)
    np.testing.assert_allclose((path(t + h)[0] - path(t - h)[0]) / (2 * h), v, atol=2e-6)
    np.testing.assert_allclose((path(t + h)[1] - path(t - h)[1]) / (2 * h), a, atol=3e-5)
    assert (np.abs(path(0.0)[0] - x[0]) < 0.2).all()


@pytest.mark.parametrize("path", TRAJECTORIES, ids=lambda p: type(p).__name__)
def test_a_trajectory_tells_of_all_its_jumps(path):
    """What is looked for beside the breaks that a trajectory declares is not there."""
    declared = [t for t in (*path.breaks, path.duration) if 0 < t < path.duration]
    found = Reference(path).switches(path.duration)
    assert sorted(set(found)) == pytest.approx(sorted(set(declared)))


def test_fastest_blends_under_limits_and_time_scaling():
    path = supple.ParabolicBlends.within([0, 0], [1.0, -3.0], 2.0, [4.0, 8.0])
    _, v, a = path(np.linspace(1e-9, path.duration - 1e-9, 4001))
    assert np.abs(v).max() == pytest.approx(2.0)
    assert (np.abs(a).max(axis=0) <= np.array([4.0, 8.0]) * (1 + 1e-9)).all()
    short = supple.ParabolicBlends.within([0], [0.1], 10.0, 4.0)
    assert np.abs(short(np.linspace(0, short.duration, 999))[2]).max() == pytest.approx(4.0)
    there = supple.Repeated(supple.ParabolicBlends([0.3], [1.0], 1.0, 0.1))
    assert supple.scaled_to(there, 0.2, 10.0).periodic
    slow = supple.scaled_to(supple.PointToPoint([0, 0], [1, 2], 1.0, "septic"), 0.5, 100.0)
    speed = np.abs(slow(np.linspace(0, slow.duration, 5001))[1])
    assert speed.max() == pytest.approx(0.5, rel=1e-6)


def test_decoupling_makes_the_joint_error_obey_37():
    """Through the forward dynamics, at random states of two arms: qdd_r = u to 1e-10."""
    rng = np.random.default_rng(4)
    heavy = RRP.with_("gravity", [0, 0, -9.81])
    for robot, theta in ((heavy, (0.3, -0.4, 0.6)), (TWO, (0.3, 0.5))):
        model = supple.build(robot, supple.AssumedModes(2))
        law = supple.Decoupling(100, 20)
        k = model.joints
        for _ in range(5):
            q = np.r_[theta, rng.normal(size=model.size - k) * 1e-3]
            qd = rng.normal(size=model.size) * 0.3
            r, rd, rdd = rng.normal(size=(3, k))
            tau = law.efforts(model, (q[None], qd[None]), (r[None], rd[None], rdd[None]))[0]
            u = rdd - 20 * (qd[:k] - rd) - 100 * (q[:k] - r)
            qdd = model.forward_dynamics(q, qd, tau)
            np.testing.assert_allclose(qdd[:k], u, atol=1e-10 * np.abs(qdd).max())


def test_joint_error_follows_37_in_time_and_flexible_motion_ignores_the_gains():
    model = supple.build(RRP, supple.AssumedModes(1))
    path = NAMED["extension"]
    off = np.r_[path(0.0)[0] + [0.1, -0.05, 0.01], 0.0, 0.0]
    run = supple.simulate(model, controller=supple.Decoupling(100, 20), trajectory=path, q0=off,
                          qd0=np.zeros(5), duration=0.2, tolerance=1e-13)  # fmt: skip
    e0 = off[:3] - path(0.0)[0]
    exact = e0 * (1 + 10 * run.t[:, None]) * np.exp(-10 * run.t[:, None])
    np.testing.assert_allclose(run.theta - path(run.t)[0], exact, atol=1e-10)
    exact_joints = {"trajectory": path, "duration": 0.2, "tolerance": 1e-12, "method": "adams"}
    runs = [supple.simulate(model, controller=supple.Decoupling(*gains), **exact_joints)
            for gains in ((100, 20), (2500, 60))]  # fmt: skip
    bent = [one.q[:, 3:] for one in runs]
    np.testing.assert_allclose(bent[0], bent[1], atol=1e-8 * np.abs(bent[0]).max())


def test_gains_are_one_value_or_one_a_joint_in_any_sequence():
    model = supple.build(RRP, supple.AssumedModes(1))
    options = {"trajectory": [0, 0, 0.5], "duration": 0.01, "theta0": [0.1, 0, 0.5]}
    ends = [supple.simulate(model, controller=supple.JointPD(gain, 2.0), **options).q[-1]
            for gain in (50.0, [50.0, 50.0, 50.0], np.full(3, 50.0), (50, 50, 50))]  # fmt: skip
    for end in ends[1:]:
        np.testing.assert_array_equal(end, ends[0])


def test_other_laws_settle_where_they_should():
    """Under gravity: PD sags, PD with gravity does not, LQR hardly; the rigid model's law sags."""
    model = supple.build(TWO.with_("gravity", [0, -9.81, 0]), supple.AssumedModes(1), damping=0.05)
    goal = [0.3, 0.4]
    path = supple.PointToPoint([0.2, 0.5], goal, 0.5, "quintic")
    off = {}
    for law in (supple.GravityPD(100.0, 10.0), supple.JointPD(100.0, 10.0),
                supple.ComputedTorque(100, 20), supple.lqr(model, goal, 100.0, 1.0)):  # fmt: skip
        run = supple.simulate(model, controller=law, trajectory=path, q0="static", duration=4.0,
                              method="bdf", tolerance=1e-7, dt=1e-2)  # fmt: skip
        off[type(law).__name__] = np.abs(run.theta[-1] - goal).max()
    assert off["GravityPD"] < 0.01
    assert off["LQR"] < 0.01
    assert 0.03 < off["JointPD"] < 0.2
    assert 0.03 < off["ComputedTorque"] < 0.2


def test_computed_torque_tracks_a_stiff_arm():
    """Its law is exact but for what bending adds."""
    model = supple.build(RRP, supple.AssumedModes(1))
    run = supple.simulate(model, controller=supple.ComputedTorque(400, 40), dt=5e-3,
                          trajectory=NAMED["extension"], duration=0.3, tolerance=1e-7)  # fmt: skip
    assert 0 < np.abs(run.theta - NAMED["extension"](run.t)[0]).max() < 5e-3


def test_a_python_law_is_a_controller_too():
    model = supple.build(TWO, supple.AssumedModes(1))

    def law(t, q, qd, wanted):
        return -5.0 * (q[:2] - wanted[0]) - 1.0 * (qd[:2] - wanted[1])

    both = [
        supple.simulate(
            model,
            controller=one,
            trajectory=[0.1, 0.1],
            duration=0.05,
            dt=5e-4,
            method="rk4",
            theta0=[0, 0],
        )
        for one in (law, supple.JointPD(5.0, 1.0))
    ]
    np.testing.assert_allclose(both[0].q, both[1].q, atol=1e-10)


def test_rk4_agrees_with_adams():
    model = supple.build(RRP, supple.AssumedModes(1))
    runs = [
        supple.simulate(
            model,
            controller=supple.Decoupling(),
            trajectory=NAMED["extension"],
            duration=0.1,
            method=method,
        )
        for method in ("rk4", "adams")
    ]
    ends = [run.deflection("link3")[-1] for run in runs]
    np.testing.assert_allclose(ends[0], ends[1], atol=2e-3 * np.abs(ends[1]).max())


@pytest.mark.parametrize("name", ["extension", "retraction"])
def test_the_default_is_as_good_as_adams_at_the_same_tolerance(name):
    """Against adams three digits tighter; its own error is about a hundred times its tolerance."""
    model = supple.build(RRP, supple.AssumedModes(2))
    options = {"controller": supple.Decoupling(), "trajectory": NAMED[name], "dt": 5e-3,
               "duration": 0.3}  # fmt: skip
    tight = supple.simulate(model, method="adams", tolerance=1e-12, **options)
    peak = np.abs(tight.deflection("link3")).max()
    for tolerance in (1e-7, 1e-9):
        run = supple.simulate(model, tolerance=tolerance, **options)
        assert run.method == "magnus"
        assert run.t[-1] == 0.3
        off = np.abs(run.deflection("link3") - tight.deflection("link3")).max() / peak
        assert off < 1e3 * tolerance
        assert np.abs(run.tau - tight.tau).max() < 1e4 * tolerance * np.abs(tight.tau).max()
        kinetic = np.abs(run.energies["kinetic"]).max()
        assert np.abs(run.balance).max() < 1e3 * tolerance * kinetic
        assert np.abs(run.work - tight.work).max() < 1e3 * tolerance * kinetic


def test_the_default_takes_rk4_where_exponentials_do_not_fit():
    path = {"trajectory": NAMED["retraction"], "duration": 0.01}
    law = supple.Decoupling()
    model = supple.build(RRP, supple.AssumedModes(1))
    heavy = supple.build(RRP.with_("payload.com", [0.1, 0.05, 0]), supple.AssumedModes(1))
    rigid = supple.build(RRP.with_("links.link3.theory", "rigid"), supple.AssumedModes(1))
    off = {"theta0": [0.1, 0, 1.0]}
    for one, controller, more, words in (
        (model, law, off, "start on the path"),
        (heavy, law, {}, "linear"),
        (rigid, law, {}, "links that bend"),
        (model, supple.ComputedTorque(), {}, "for Decoupling"),
    ):
        assert supple.simulate(one, controller=controller, **path, **more).method == "rk4"
        with pytest.raises(SuppleError, match=words):
            supple.simulate(one, controller=controller, method="magnus", **path, **more)
    assert supple.simulate(model, controller=law, method="auto", **path).method == "magnus"


def test_exponential_steps_over_many_periods_and_beyond_the_end_of_a_path():
    """Series are cut where they do not settle; a path that has ended stands still."""
    model = supple.build(RRP, supple.AssumedModes(1), damping=0.01)
    there = supple.PointToPoint([0, 0, 0.9], [0.3, -0.2, 1.1], 0.1)
    for path, duration in ((supple.Repeated(there), 1.0), (there, 0.4)):
        runs = [supple.simulate(model, controller=supple.Decoupling(), trajectory=path, dt=5e-3,
                                duration=duration, method=method)
                for method in (None, "adams")]  # fmt: skip
        assert [run.method for run in runs] == ["magnus", "adams"]
        ours, theirs = (run.deflection("link3") for run in runs)
        assert np.abs(ours - theirs).max() < 1e-5 * np.abs(theirs).max()
        np.testing.assert_allclose(runs[0].theta, runs[1].theta, atol=1e-8)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"controller": supple.Decoupling()}, "needs a trajectory"),
        ({"controller": supple.Decoupling(), "trajectory": [0, 0]}, "3 joints"),
        (
            {"controller": supple.Decoupling(), "trajectory": [0, 0, 0.5], "tau": [0, 0, 0]},
            "its own",
        ),
        ({"controller": 3, "trajectory": [0, 0, 0.5]}, "give a Controller"),
    ],
)
def test_bad_closed_loops_get_a_sentence(options, words):
    with pytest.raises(SuppleError, match=words):
        supple.simulate(supple.build(RRP, supple.AssumedModes(1)), **options)


def test_a_singular_pose_gets_a_sentence():
    """Without hub inertia joint 1 moves no mass where every link lies on its axis."""
    light = RRP.with_({"links.link1.joint.hub": None, "links.link2.joint.hub": None,
                       "links.link2.length": 1e-9})  # fmt: skip
    model = supple.build(light, supple.AssumedModes(1))
    with pytest.raises(SuppleError, match="singular pose"):
        supple.simulate(model, controller=supple.Decoupling(), trajectory=[0, 0, 0.5])


def test_negative_gains_are_refused_where_they_are_given() -> None:
    with pytest.raises(supple.SuppleError, match="position_gain is -1: give values"):
        supple.Decoupling(-1)


def test_a_law_in_expressions_is_the_law_itself():
    """Against JointPD of the same gains, and a function that is called at every stage."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    move = supple.PointToPoint([0, 0], [0.2, 0.1], 0.1)

    @supple.ExpressionLaw
    def law(q, qd, r, rd, rdd):
        return [10 * (r[k] - q[k]) + 2 * (rd[k] - qd[k]) for k in range(2)]

    own = supple.simulate(model, controller=law, trajectory=move)
    ours = supple.simulate(model, controller=supple.JointPD(10, 2), trajectory=move)
    assert own.method == ours.method
    np.testing.assert_allclose(own.q, ours.q, atol=1e-12)
    np.testing.assert_allclose(own.tau, ours.tau, atol=1e-10)
    a, b = (supple.linearize(model, controller=each).A for each in (law, supple.JointPD(10, 2)))
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())


def test_what_is_no_law_in_expressions_is_told():
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    with pytest.raises(SuppleError, match="gives 1 efforts: it must give one for each of 2 joints"):
        supple.simulate(model, controller=supple.ExpressionLaw(lambda q, *rest: q[0]),
                        trajectory=[0, 0], duration=0.01)  # fmt: skip
    with pytest.raises(SuppleError, match="cannot be written in expressions: TypeError"):
        supple.simulate(model, controller=supple.ExpressionLaw(lambda q: q), trajectory=[0, 0],
                        duration=0.01)  # fmt: skip
