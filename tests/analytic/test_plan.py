"""Planned moves: the analytic switches of a spring-mass pair, limits kept, rest at the end."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import supple

ROTOR = 1.0
LOAD = 2.0
SPRING = 50.0
EFFORT = 1.0


def pair() -> supple.Model:
    link = {
        "name": "a",
        "length": 1.0,
        "theory": "rigid",
        "body": {"inertia": LOAD},
        "joint": {"stiffness": SPRING, "rotor_inertia": ROTOR},
    }
    robot = supple.SerialRobot(name="pair", planar=True, links=[link])
    return supple.build(robot, supple.AssumedModes(1))


def test_the_fastest_move_of_a_spring_mass_pair() -> None:
    """Full effort with switches at t1, T/2, T - t1: the whole turns by 1, the spring is at rest.

    With jumps a_i of the effort at t_i: sum a_i (T - t_i)^2 / 2 = J, sum a_i cos w(t_i - T/2) = 0.
    """
    w = np.sqrt(SPRING * (1 / ROTOR + 1 / LOAD))

    def conditions(z: np.ndarray) -> list[float]:
        t1, T = z
        jumps = [(0.0, 1), (t1, -2), (T / 2, 2), (T - t1, -2), (T, 1)]
        turned = sum(a * (T - t) ** 2 / 2 for t, a in jumps) * EFFORT / (ROTOR + LOAD)
        return [turned - 1.0, sum(a * np.cos(w * (t - T / 2)) for t, a in jumps)]

    rigid = 2 * np.sqrt((ROTOR + LOAD) / EFFORT)
    roots = [
        fsolve(conditions, [f * rigid, 1.05 * rigid], full_output=True)
        for f in np.linspace(0.3, 0.52, 23)
    ]
    good = [z for z, _, flag, _ in roots if flag == 1 and 0 < z[0] < z[1] / 2]
    t1, T = min(good, key=lambda z: z[1])
    found = supple.plan(pair(), [0.0], [1.0], effort_limit=EFFORT, pieces=100)
    assert T - 1e-6 <= found.duration <= T * (1 + 1e-3)  # efforts change on pieces only
    sign = np.sign(np.asarray(found.tau)[:, 0])
    before = np.flatnonzero(np.diff(sign) != 0)
    piece = found.duration / (len(found.t) - 1)
    assert found.t[before] == pytest.approx([t1, T / 2, T - t1], abs=2 * piece)
    assert found.residual < 1e-6


def test_it_begins_and_ends_at_rest_and_keeps_limits() -> None:
    found = supple.plan(pair(), [0.0], [1.0], 5.0, effort_limit=EFFORT, speed_limit=0.4, pieces=40)
    assert found.duration == pytest.approx(5.0)
    assert np.abs(found.tau).max() <= EFFORT * (1 + 1e-6)
    assert np.abs(found.qd[:, 0]).max() <= 0.4 * (1 + 1e-6)
    assert found.q[[0, -1], 0] == pytest.approx([0, 1], abs=1e-9)
    assert found.q[[0, -1], 1] == pytest.approx([0, 0], abs=1e-9)
    assert found.qd[[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)


def test_the_motion_is_that_of_the_equations() -> None:
    """Integrated by SciPy under the planned efforts it arrives where the plan says."""

    model = pair()
    found = supple.plan(model, [0.0], [1.0], effort_limit=EFFORT, pieces=50)
    end = replayed(found)
    assert end == pytest.approx([1, 0, 0, 0], abs=2e-5)


def replayed(found: supple.Plan) -> np.ndarray:
    """The state at the end of a plan by SciPy's integrator on forward dynamics."""
    from scipy.integrate import solve_ivp

    model = found.model
    n = model.size
    tau = np.asarray(found.tau)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        efforts = [np.interp(t, found.t, column) for column in tau.T]
        return np.concatenate([y[n:], model.forward_dynamics(y[:n], y[n:], efforts)])

    start = np.concatenate([found.q[0], found.qd[0]])
    step = 2 * found.duration / (len(found.t) - 1)
    given = {"method": "DOP853", "rtol": 1e-8, "atol": 1e-10, "max_step": step}
    return np.asarray(solve_ivp(rate, (0.0, found.duration), start, **given).y[:, -1])


def test_efforts_make_the_move_of_soft_links() -> None:
    """Two modes per link: the efforts ended at theta2 = 0.307 with -119 rad/s."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    found = supple.plan(model, [0, 0], [0.9, 0.7], 3.0, effort_limit=[3, 1.5])
    assert found.residual < 0.01
    end = replayed(found)
    assert end[:2] == pytest.approx([0.9, 0.7], abs=1e-3)
    assert np.abs(end[model.size : model.size + 2]).max() < 1e-3 * np.abs(found.qd).max()
    run = supple.simulate(model, tau=found.tau, q0=found.q[0])
    assert run.t[-1] == pytest.approx(found.duration)
    assert run.q[-1, :2] == pytest.approx([0.9, 0.7], abs=1e-3)
    again = supple.simulate(model, tau=(found.t, found.tau), q0=found.q[0], duration=3.0)
    assert again.q[-1] == pytest.approx(run.q[-1], abs=1e-6)


def test_least_effort_is_least() -> None:
    """Between the optimum of the rigid robot and a plain quintic, whatever the limit."""
    start = np.array([2.0944, 1.0472])
    end = np.array([2.4944, 1.4472])
    stiff = supple.build(_stiff("five-bar"))
    optimum = supple.plan(stiff, start, end, 0.3).effort
    model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    found = supple.plan(model, start, end, 0.3, pieces=20)
    s = np.linspace(0.0, 1.0, 2001)
    q = start + np.outer(10 * s**3 - 15 * s**4 + 6 * s**5, end - start)
    qd = np.outer(30 * s**2 - 60 * s**3 + 30 * s**4, end - start) / 0.3
    qdd = np.outer(60 * s - 180 * s**2 + 120 * s**3, end - start) / 0.3**2
    squares = (stiff.inverse_dynamics(q, qd, qdd) ** 2).sum(axis=1)
    quintic = 0.3 * np.trapezoid(squares, s)
    # efforts rise from rest in three intervals, whose lengths are periods of the fast modes
    assert optimum < found.effort < 1.04 * optimum < quintic
    assert found.residual < 1e-4
    most = np.abs(found.tau).max(axis=0)
    tight, loose = (
        supple.plan(model, start, end, 0.3, effort_limit=factor * most, pieces=20).effort
        for factor in (0.9, 3.0)
    )
    assert loose == pytest.approx(found.effort, rel=1e-9)
    assert loose < tight < 1.02 * loose


def test_shortening_is_no_linear_part_of_a_deflection() -> None:
    """Under stiffening a limit of the deflection was kept with a third to spare."""
    model = supple.build(arm(), supple.AssumedModes(1), stiffening=True)
    quick = supple.plan(model, [0.0], [0.5], effort_limit=2.0, pieces=30)
    most = max(np.linalg.norm(model.deflection_at(q, "bar", 1.0)) for q in quick.q)
    limit = 0.7 * most
    kept = supple.plan(model, [0.0], [0.5], effort_limit=2.0, deflection_limit=limit, pieces=30)
    bent = max(np.linalg.norm(model.deflection_at(q, "bar", 1.0)) for q in kept.q)
    assert bent == pytest.approx(limit, rel=1e-3)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"effort_limit": None}, "needs effort_limit"),
        ({"effort_limit": -1.0}, "positive"),
        ({"effort_limit": 1.0, "duration": 0.5}, "too short"),
        ({"effort_limit": 1.0, "duration": -1.0}, "duration"),
        ({"effort_limit": 1.0, "end": [0.0]}, "no move"),
        ({"effort_limit": 1.0, "pieces": 1}, "pieces"),
    ],
)
def test_bad_input(given: dict, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.plan(pair(), [0.0], **{"end": [1.0], **given})


def arm(**more: object) -> supple.SerialRobot:
    """One aluminium bar of 1 m, 20 mm by 5 mm, bending in its plane."""
    link = {
        "name": "bar",
        "length": 1.0,
        "theory": "euler-bernoulli",
        "material": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700},
        "section": {"shape": "rectangle", "depth": 0.01, "width": 0.03},
        "tip": {"mass": 0.2},
        **more,
    }
    return supple.SerialRobot(name="bar", planar=True, links=[link])


def test_a_stress_limit_is_kept_and_active() -> None:
    """The bar's root carries M(t); its outer fibre E I v'' (h/2) / I: the limit is met there."""
    model = supple.build(arm(), supple.AssumedModes(1))
    quick = supple.plan(model, [0.0], [0.5], effort_limit=2.0, pieces=30)
    row = 70e9 * supple.Strain("bar", 0.0, 0.005).row(model)[0]
    most = np.abs(quick.q @ row).max()
    limit = 0.7 * most
    kept = supple.plan(model, [0.0], [0.5], effort_limit=2.0, stress_limit=limit, pieces=30)
    assert np.abs(kept.q @ row).max() == pytest.approx(limit, rel=1e-3)
    assert kept.duration > quick.duration
    assert kept.limits["stress"] == limit


@pytest.mark.soak
def test_a_plan_is_tried_on_a_finer_model() -> None:
    """One mode when planned, more when tried: joints are led as planned, so bending is alike."""
    model = supple.build(arm(), supple.AssumedModes(1))
    given = {"effort_limit": 2.0, "deflection_limit": 0.05, "pieces": 20}
    found = supple.plan(model, [0.0], [0.5], 1.0, **given)
    tried = found.tried()
    assert tried.finer.size > model.size
    assert set(tried.passed) == {"effort", "deflection"}
    bent = np.abs([model.deflection_at(q, "bar", 1.0)[1] for q in found.q]).max()
    assert 0.0 < tried.residual < bent
    assert tried.passed["deflection"] == pytest.approx(bent / 0.05, rel=0.1)
    assert tried.kept == (max(tried.passed.values()) <= 1.0)
    assert "mm left on the finer model" in repr(tried)
    with pytest.raises(supple.SuppleError, match="finer"):
        found.tried("finer")  # type: ignore[arg-type]


def test_it_says_why_there_is_no_move() -> None:
    heavy = supple.SerialRobot(name="bar", planar=True, gravity=(0, -9.81, 0), links=arm().links)
    model = supple.build(heavy, supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="cannot hold the arm at rest at the start"):
        supple.plan(model, [0.0], [0.5], effort_limit=1.0)
    with pytest.raises(supple.SuppleError, match="sag at the start of the move is"):
        supple.plan(model, [0.0], [0.5], effort_limit=20.0, deflection_limit=1e-4)
    light = supple.build(arm(), supple.AssumedModes(1))
    with pytest.raises(
        supple.SuppleError, match=r"0\.05 s are too short for the limits \(effort\)"
    ):
        supple.plan(light, [0.0], [0.5], 0.05, effort_limit=2.0, pieces=20)
    link = {"name": "a", "length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 9.0}
    bare = supple.build(
        supple.SerialRobot(name="bare", planar=True, links=[link]), supple.AssumedModes(1)
    )
    with pytest.raises(supple.SuppleError, match="stress_limit: link a names no material"):
        supple.plan(bare, [0.0], [0.5], effort_limit=2.0, stress_limit=1e6)


def _stiff(name: str) -> supple.MechanismRobot:
    """A mechanism of the library with links that do not bend."""
    robot = supple.load(name)
    assert isinstance(robot, supple.MechanismRobot)
    return robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})


@pytest.mark.slow
def test_loops_are_shut_along_a_plan() -> None:
    """The efforts planned move the closed equations there, at rest and within the limits.

    No straight line between the same poses is faster under the same limits.
    """
    model = supple.build(_stiff("five-bar"))
    start = np.array([2.0944, 1.0472])
    end = np.array([2.4944, 1.4472])
    found = supple.plan(model, start, end, effort_limit=4.0, pieces=20)
    assert 0.999 * 4.0 < np.abs(found.tau).max() <= 4.0 * (1 + 1e-6)
    run = supple.simulate(model, tau=found.tau, q0=found.q[0], samples=len(found.t) - 1)
    np.testing.assert_allclose(run.q, found.q, atol=1e-5)
    assert np.abs(run.qd[-1]).max() < 1e-4 * np.abs(run.qd).max()
    assert found.tried(model).residual < 1e-5
    line = supple.effort_limited(model, [start, end], effort_limit=4.0)
    assert found.duration < line.duration < 1.3 * found.duration
    efforts = line.effort(np.linspace(0, line.duration, 301))
    assert 0.99 * 4.0 < np.abs(efforts).max() < 4.02
    led = supple.follow(model, line)  # the same efforts by another way
    np.testing.assert_allclose(led.torque, line.effort(led.t), atol=1e-6)


def test_a_load_that_swings_is_planned_to_rest() -> None:
    """On its rod at the tip of a five-bar: it hangs at the end, as the joints stand."""
    data = _stiff("five-bar").model_dump(exclude_unset=True)
    rod = {"name": "rod", "parent": "left2", "length": 0.2, "theory": "rigid"}
    rod |= {"joint": {"type": "revolute", "passive": True}, "mass_per_length": 0.1}
    given = data | {"links": [*data["links"], rod | {"tip": {"mass": 0.5}}], "tip": "rod"}
    model = supple.build(supple.MechanismRobot.model_validate(given | {"payload": None}))
    found = supple.plan(model, [2.0944, 1.0472], [2.3944, 1.3472], 0.8, pieces=30)
    assert np.ptp(found.q[:, 2]) > 0.3
    assert np.abs(found.qd[[0, -1]]).max() < 1e-9
    trial = found.tried(model)
    assert trial.residual < 1e-3 * np.linalg.norm(model.tip(found.q[-1]) - model.tip(found.q[0]))
    with pytest.raises(supple.SuppleError, match="rod swings freely"):
        supple.effort_limited(model, [[2.0944, 1.0472], [2.3944, 1.3472]], effort_limit=9.0)


@pytest.mark.slow
def test_eliminated_states_find_the_same_moves() -> None:
    """Two programmes, one in all states and one in the efforts alone: equal optima.

    Slopes and curvature of the second are those of differences.
    """
    from supple.studies.drive.collocation import SolverLimits, Transcription
    from supple.studies.drive.plan import _Planner
    from supple.studies.drive.shooting import Shooting

    model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    limits = {"effort": np.array([7.0, 5.7]), "speed": np.array([2.0, 3.0])}
    limits |= {"deflection": 1e-3, "stress": None}
    planner = _Planner(model, [2.0944, 1.0472], [2.4944, 1.4472], limits, 20, 500)
    guess = planner._smooth_move(0.3, planner._choose_grid(0.3))
    rng = np.random.default_rng(4)
    for free_duration in (False, True):
        shooting = Shooting(planner.task, guess, free_duration)
        x = shooting.unknowns_of(guess)
        change = rng.normal(size=x.size)
        change[-1] *= free_duration
        slopes = shooting._all_slopes(x)
        weights = rng.normal(size=len(slopes))
        curvature = shooting._all_curvature(x, weights)
        sides = [x + side * 1e-5 * change for side in (-1, 1)]
        low, high = (shooting._all_rows(side) for side in sides)
        assert slopes @ change == pytest.approx((high - low) / 2e-5, abs=1e-6)
        low, high = (weights @ shooting._all_slopes(side) for side in sides)
        by_differences = (high - low) / 2e-5
        assert curvature @ change == pytest.approx(
            by_differences, abs=1e-4 * np.abs(by_differences).max()
        )
    full = Transcription(planner.task, guess, False).solve(guess, SolverLimits(100))
    few = Shooting(planner.task, guess, False).solve(guess, SolverLimits(100))
    assert full.success
    assert few.success
    assert few.motion.tau == pytest.approx(
        full.motion.tau, abs=1e-4 * np.abs(full.motion.tau).max()
    )
    assert few.motion.z == pytest.approx(full.motion.z, abs=1e-6)


@pytest.mark.slow
def test_a_delta_is_planned_and_tried() -> None:
    """It was refused for lack of time, and its trial was an AttributeError."""
    model = supple.build(supple.load("kuo-delta"), supple.AssumedModes(1))
    start = [-0.594, -0.594, -0.594]
    end = [-0.45, -0.5, -0.55]
    found = supple.plan(model, start, end, 0.5)
    assert found.residual < 0.01
    run = supple.simulate(model, tau=found.tau, q0=found.q[0])
    assert run.q[-1, :3] == pytest.approx(end, abs=0.01 * 0.144)
    trial = found.tried(model)
    assert trial.residual < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "end"),
    [
        ([0.0, 0.5236, -1.2217, 0.5236, -1.2217], [0.183, 0.7084, -1.2125, 0.3951, -1.4894]),
        # passed a stop between the points at which limits are kept
        ([0.0247, 0.4822, -1.3044, 0.4366, -1.1653], [0.2477, 0.5876, -1.084, 0.5498, -0.9607]),
    ],
)
def test_two_arms_are_planned_beside_their_stops(start: list[float], end: list[float]) -> None:
    """Twenty coordinates were refused after a minute; simulate ends a run that touches a stop."""
    model = supple.build(supple.load("two-arms"), supple.AssumedModes(1))
    found = supple.plan(model, start, end, 1.0, search_time=40.0)
    for joint, motor in enumerate(model.motors):
        if motor.limits is not None:
            low, high = motor.limits
            assert low < found.q[:, joint].min()
            assert found.q[:, joint].max() < high
    run = supple.simulate(model, tau=found.tau, q0=found.q[0])
    assert run.t[-1] == pytest.approx(1.0)
    assert run.q[-1, :5] == pytest.approx(end, abs=0.002 * np.ptp(np.subtract(end, start)))
    assert np.abs(run.qd[-1, :5]).max() < 0.01 * np.abs(run.qd[:, :5]).max()
    assert found.residual < 1e-3


@pytest.mark.slow
def test_splines_cost_hardly_more_than_collocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same least effort by two programmes: splines begin more smoothly, so they cost more."""
    from supple.studies.drive import plan as module

    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    by_collocation = supple.plan(model, [0, 0], [0.5, 0.3], 3.0)
    monkeypatch.setattr(module, "MANY_FOR_COLLOCATION", 1)
    by_splines = supple.plan(model, [0, 0], [0.5, 0.3], 3.0)
    assert by_splines.residual < 1e-3
    assert replayed(by_splines)[:2] == pytest.approx([0.5, 0.3], abs=5e-4)
    assert by_collocation.effort < by_splines.effort * (1 + 1e-3)
    assert by_splines.effort < 1.03 * by_collocation.effort


@pytest.mark.slow
def test_a_fastest_move_of_many_coordinates_is_found() -> None:
    """Refused after 13 s: states that did not satisfy the equations were taken for moves.

    The fastest straight line of the robot that does not bend is what a plan may not be far from.
    """
    model = supple.build(supple.load("two-arms"), supple.AssumedModes(1))
    start = [0.00213, 0.60468, -1.28578, 0.60436, -1.2556]
    end = [-0.046, 0.72022, -1.27621, 0.55335, -1.5052]
    limit = [0.83468, 17.393, 9.67094, 25.5597, 1.82048]
    found = supple.plan(model, start, end, effort_limit=limit)
    line = supple.effort_limited(model, [start, end], effort_limit=limit)
    assert found.duration < 1.1 * line.duration
    assert (np.abs(found.tau) <= np.array(limit) * (1 + 1e-9)).all()
    last = replayed(found)
    assert last[:5] == pytest.approx(end, abs=0.002)
    assert np.abs(last[20:25]).max() < 0.01 * np.abs(found.qd[:, :5]).max()


def test_a_quadratic_programme_with_equations() -> None:
    """A quadratic programme of 300 equations came back as no step at all.

    Least |x|^2 / 2 - x_1 with x_1 + .. + x_n = 1 and x_1 <= 0.3: the others share what is left.
    """
    from supple.studies.drive.spline_moves import _solve_quadratic

    n = 8
    rows = np.stack([np.ones(n), np.eye(n)[0]])
    low = np.array([1.0, -1e20])
    high = np.array([1.0, 0.3])
    x, multipliers = _solve_quadratic(np.eye(n), -np.eye(n)[0], rows, low, high, equations=1)
    assert x == pytest.approx([0.3] + [0.1] * (n - 1), abs=1e-12)
    assert np.abs(multipliers) == pytest.approx([0.8], abs=1e-9)
    rows = rows[[0, 1, 1]]
    low = np.array([1.0, -1e20, 0.5])
    high = np.array([1.0, 0.3, 1e20])
    with pytest.raises(supple.SuppleError, match="no step"):
        _solve_quadratic(np.eye(n), np.zeros(n), rows, low, high, equations=1)


@pytest.mark.slow
def test_a_move_of_a_stiff_loop_is_found_by_splines() -> None:
    """Refused after 60 s of search by collocation."""
    model = supple.build(supple.load("four-bar"), supple.AssumedModes(1))
    found = supple.plan(model, [1.0493], [1.3175], effort_limit=0.2651, search_time=10.0)
    line = supple.effort_limited(model, [[1.0493], [1.3175]], effort_limit=0.2651)
    assert found.duration < 1.2 * line.duration
    assert np.abs(found.tau).max() <= 0.2651 * (1 + 1e-9)
    assert replayed(found)[0] == pytest.approx(1.3175, abs=0.002)


def test_links_that_would_bend_by_more_than_their_length() -> None:
    """Refused after 6 s, as a miss by 127 %; now before any search."""
    model = supple.build(supple.load("di-castri-two-link"), supple.AssumedModes(1))
    with pytest.raises(
        supple.SuppleError, match=r"1 s are too short for link link1.*times its length.*4\.98 s"
    ):
        supple.plan(model, [0, 0], [0.3, 0.2], 1.0, search_time=20.0)
    found = supple.plan(model, [0, 0], [0.3, 0.2], 3.0)
    assert replayed(found)[:2] == pytest.approx([0.3, 0.2], abs=1e-3)


def test_a_search_ends_with_its_time() -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    with pytest.raises(supple.SuppleError, match=r"0\.05 s of search.*search_time"):
        supple.plan(model, [0, 0], [0.9, 0.7], effort_limit=[3, 1.5], search_time=0.05)


def test_a_replay_that_touches_a_stop_names_the_joint() -> None:
    """It was told as a miss by "inf %"."""
    from supple.studies.drive.plan import _Candidate, _Planner

    model = supple.build(arm(joint={"limits": [-0.1, 0.6]}), supple.AssumedModes(1))
    limits = {"effort": np.array([2.0]), "speed": np.array([np.inf])}
    limits |= {"deflection": None, "stress": None}
    planner = _Planner(model, [0.0], [0.5], limits, 20, 500)
    t = np.linspace(0.0, 2.0, 21)
    still = np.zeros((21, model.size))
    pushed = _Candidate(
        t, still, still, np.full((21, 1), 2.0), lambda s: np.zeros((len(s), model.size))
    )
    residual = planner.replay(pushed).residual
    with pytest.raises(supple.SuppleError, match=r"joint bar reached its limit of 34\.3775 deg"):
        planner._check_residual(residual, 20, 2.0)


@pytest.mark.parametrize("pieces", [8, 20])
def test_joints_stay_from_their_stops_between_the_points(pieces: int) -> None:
    """The second joint would swing by far more than its stops allow; they are met, not passed."""
    free = supple.load("de-luca-two-link")
    start = [0.0, 0.0]
    end = [0.6, 0.0]
    duration = 3.0
    wide = supple.plan(supple.build(free, supple.AssumedModes(1)), start, end, duration)
    swing = np.abs(wide.q[:, 1]).max()
    stop = 0.3 * swing
    stopped = free.with_({"links.link2.joint.limits": [-stop, stop]})
    model = supple.build(stopped, supple.AssumedModes(1))
    found = supple.plan(model, start, end, duration, pieces=pieces)
    margin = 2e-3 * 0.6  # by which joints are kept away from stops
    run = supple.simulate(model, tau=found.tau, q0=found.q[0], samples=20 * (len(found.t) - 1))
    assert run.t[-1] == pytest.approx(duration)  # a run that touches a stop ends there
    most = np.abs(run.q[:, 1]).max()
    assert stop - 1.5 * margin < most < stop - margin / 2
    assert replayed(found)[:2] == pytest.approx(end, abs=1e-3)
