"""How `follow` starts, steps and damps, against closed forms and tight integrations."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple
from supple.equations.equilibrium import static_state

BEAM = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0}
# lowest frequency of a clamped-free beam: 3.5160 sqrt(EI / m L^4); here 200 Hz
STIFFNESS = (2 * np.pi * 200 / 3.51601526850015) ** 2


def arm(**more: object) -> supple.SerialRobot:
    link = {"name": "link1", **BEAM, "bending_stiffness": STIFFNESS, **more}
    return supple.SerialRobot.model_validate({"name": "arm", "planar": True, "links": [link]})


def tight(model: supple.Model, path: supple.Trajectory, total: float) -> np.ndarray:
    """Half of peak to peak of the tip's deviation after the stop, by scipy at 1e-11."""
    from supple.path_dynamics.linearised_model import PathModel

    led = PathModel(model)
    N = led.size

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        m = led.matrices(*path(np.array([t])))
        load = m.F[0] - m.C[0] @ x[N:] - m.K[0] @ x[:N]
        return np.concatenate([x[N:], np.linalg.solve(m.M[0], load)])

    x = np.zeros(2 * N)
    edges = [0.0, *path.breaks, path.duration, total]
    for a, b in pairwise(edges):
        if b - a < 1e-12:
            continue
        inside = (a + 1e-12, b - 1e-12)
        run = solve_ivp(rate, inside, x, "DOP853", rtol=1e-11, atol=1e-14, dense_output=True)
        x = run.y[:, -1]
    t = np.linspace(path.duration, total, 4001)[1:-1]
    tip = np.einsum("ij,jt->it", led.matrices(*path(np.array([total]))).tip[0], run.sol(t)[:N])
    return np.asarray(np.ptp(tip, axis=1) / 2)


def test_residual_of_a_fast_arm() -> None:
    """200 Hz and a smooth stop: steps of 1 ms by Newmark made the residual four times too large."""
    model = supple.build(arm(), supple.AssumedModes(1))
    path = supple.PointToPoint((0.0,), (0.5,), 0.02)
    found = supple.follow(model, path, after=0.02, start="rest", dt=1e-4)
    assert found.residual()[1] == pytest.approx(tight(model, path, 0.04)[1], rel=5e-3)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_samples_are_not_steps(dt: float) -> None:
    """The same motion, whatever is asked of it."""
    path = supple.PointToPoint((0.0,), (0.5,), 0.02)
    fine = supple.follow(arm(), path, after=0.02, dt=1e-4)
    found = supple.follow(arm(), path, after=0.02, dt=dt)
    every = round(dt / 1e-4)
    assert found.t == pytest.approx(fine.t[::every])
    assert found.moved == pytest.approx(fine.moved[::every], abs=2e-3 * np.abs(fine.moved).max())
    assert found.step <= 1e-3


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta"])
def test_static_start_knows_no_inertia(name: str) -> None:
    """A path whose acceleration jumps at its start: the sag alone, none without gravity."""
    robot = supple.load(name)
    if name == "kuo-delta":
        path: supple.Trajectory = supple.PointToPoint((0, 0, 0.5), (0.02, 0, 0.5), 0.4, "cubic")
        sag = supple.statics(robot, position=[0, 0, 0.5])
    else:
        robot = robot.with_("gravity", [0, -9.81, 0])
        path = supple.ParabolicBlends((0.0, 0.0, 0.0), (0.1, 0.1, 0.1), 1.0, 0.2)
        sag = supple.statics(robot, [0, 0, 0])
    found = supple.follow(robot, path, dt=0.01)
    assert found.moved[0, :3] == pytest.approx(
        sag.tip_displacement, abs=2e-2 * np.abs(sag.tip_displacement).max()
    )  # statics has no preload in its stiffness: of second order in the sag
    weightless = robot.with_("gravity", [0, 0, 0])
    assert supple.follow(weightless, path, dt=0.01).moved[0] == pytest.approx(
        np.zeros(6), abs=1e-15
    )


def test_rest_is_unbent() -> None:
    robot = arm().with_("gravity", [0, -9.81, 0])
    path = supple.PointToPoint((0.0,), (0.5,), 0.1)
    found = supple.follow(robot, path, start="rest")
    assert found.moved[0] == pytest.approx(np.zeros(6), abs=0)
    assert np.abs(found.moved).max() > 0
    with pytest.raises(supple.SuppleError, match="static, rest, periodic"):
        supple.follow(robot, path, start="zero")  # type: ignore[arg-type]


def test_peak_under_a_jump_is_twice_the_quasi_static_bend() -> None:
    """An oscillator at rest under a load that jumps swings to twice its equilibrium."""
    model = supple.build(arm(), supple.AssumedModes(1))
    path = supple.ParabolicBlends((0.0,), (1e-3,), 0.5, 0.25)  # constant acceleration, then back
    found = supple.follow(model, path, dt=1e-4)
    q = np.zeros(model.size)
    alpha = path(0.0)[2]
    K = model.stiffness[1:, 1:]
    bend = -np.linalg.solve(K, model.mass_matrix(q)[1:, :1] @ alpha)
    first = found.t < 0.2
    assert np.abs(found.y[first, 0]).max() == pytest.approx(2 * abs(bend[0]), rel=1e-3)
    assert static_state(model) == pytest.approx(np.zeros(model.size), abs=1e-15)


def test_damping_ratio_of_the_file_is_that_of_the_links() -> None:
    """One link: its own modes are the robot's, so that the decay has the file's ratio."""
    robot = arm(damping_ratio=0.03)
    path = supple.ParabolicBlends((0.0,), (1e-3,), 0.0125, 0.00625)
    given, plain, modal = (
        supple.follow(r, path, after=0.06, dt=5e-5, **options)
        for r, options in (
            (robot, {}),
            (arm(), {"damping": 0.03}),
            (arm(), {"modal_damping": 0.03}),
        )
    )
    after = given.t > path.duration + 0.02  # by then the second mode is 1e-2 of itself
    t = given.t[after]
    y = given.moved[after, 1]
    peaks = [k for k in range(1, len(y) - 1) if y[k - 1] < y[k] >= y[k + 1]]
    decrement = np.log(y[peaks[0]] / y[peaks[-1]]) / (len(peaks) - 1)
    assert decrement / np.hypot(decrement, 2 * np.pi) == pytest.approx(0.03, rel=0.02)
    assert t[peaks[-1]] > t[peaks[0]]
    largest = np.abs(given.moved).max()
    assert plain.moved == pytest.approx(given.moved, abs=1e-12 * largest)
    assert modal.moved == pytest.approx(given.moved, abs=1e-6 * largest)
    undamped = supple.follow(arm(), path, after=0.06, dt=5e-5)
    assert undamped.residual()[1] > 1.2 * given.residual()[1]


def test_links_are_damped_as_in_a_model() -> None:
    """A Model of the same elements moves as those of `follow`; assumed modes are their limit.

    Two links with ratios of their own. Cubic elements are off by h^4: those of half the length lie
    within a fifteenth of the difference from where they go.
    """
    links = [
        {"name": f"link{k}", **BEAM, "bending_stiffness": 2e3, "damping_ratio": zeta}
        for k, zeta in ((1, 0.05), (2, 0.01))
    ]
    robot = supple.SerialRobot.model_validate({"name": "arm", "planar": True, "links": links})
    path = supple.ParabolicBlends((0.0, 0.3), (0.01, 0.32), 0.2, 0.1)
    coarse, fine = (supple.follow(robot, path, after=0.3, elements=n).moved for n in (2, 4))
    same, limit = (
        supple.follow(supple.build(robot, basis, stiffening=True), path, after=0.3).moved
        for basis in (supple.FiniteElements(2), supple.AssumedModes(4))
    )
    largest = np.abs(fine).max()
    assert same == pytest.approx(coarse, abs=1e-10 * largest)
    assert np.abs(fine - coarse).max() < 1e-3 * largest
    assert fine == pytest.approx(limit, abs=np.abs(fine - coarse).max() / 12)


def test_both_dampings_are_refused() -> None:
    with pytest.raises(supple.SuppleError, match="damping and modal_damping are both given"):
        supple.follow(
            arm(), supple.PointToPoint((0.0,), (0.5,), 0.1), damping=0.1, modal_damping=0.1
        )


def test_a_step_that_is_too_long_is_told() -> None:
    path = supple.PointToPoint((0.0,), (0.5,), 0.02)
    with pytest.warns(supple.StepWarning, match="leave step out"):
        supple.follow(arm(), path, after=0.1, step=1e-3)


def test_equations_along_a_schedule_are_series() -> None:
    """A frequency by splines: its joints part the path, so that no instant is asked in a step."""
    from supple.control.shapers import shaper
    from supple.control.shaping import POINTS, Scheduled
    from supple.path_dynamics.equations_in_time import EquationsAlongPath
    from supple.path_dynamics.kineto_elastodynamics import ked

    times = np.linspace(0.0, 0.5, 2 * POINTS - 1)
    omega = 60 + 10 * np.abs(times - 0.2)  # a corner, as where a path has many moves
    move = supple.ParabolicBlends((0.0,), (0.5,), 0.5, 0.1)
    path = Scheduled(move, shaper("zvd", 1.0), times, omega)
    assert set(path.breaks) <= set(path.seams)
    along = EquationsAlongPath(ked(arm(), [0.0], 1), path, path.duration, None)
    assert all(piece.series is not None for piece in along.pieces)
    t = np.linspace(0.0, path.duration, 999)[1:-1]
    found = along(t)
    exact = along.model.matrices(*path(t))
    assert np.abs(found.F - exact.F).max() < 2e-9 * np.abs(exact.F).max()


def swinging(stiffness: float) -> supple.PathResponse:
    """A bar that falls from its side, unbent at first."""
    link = {"name": "bar", "length": 0.3, "mass_per_length": 1.0, "bending_stiffness": stiffness}
    told = {"name": "loose", "planar": True, "gravity": [0, -9.81, 0]}
    given = told | {"links": [link | {"joint": {"passive": True}}]}
    robot = supple.MechanismRobot.model_validate(given)
    return supple.follow(robot, supple.PointToPoint([], [], 0.1), start="rest")


def test_leaps_carry_fast_modes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stiff bar rings 1200 times; from row to row it is what short steps make it."""
    from supple.studies.motion import follow as module

    found = swinging(2e3)
    assert found.step == pytest.approx(1e-3)
    monkeypatch.setattr(module, "MANY", 1e9)
    fine = swinging(2e3)
    assert fine.step < 1e-5
    size = np.ptp(fine.moved, axis=0) / 2
    assert (np.abs(found.moved - fine.moved) <= module.CLOSE / 5 * size + 1e-18).all()


def test_leaps_are_left_where_modes_turn_into_one_another() -> None:
    """A led arm whose second link turns against the first: twice the leap is another motion."""
    links = [
        {"name": n, "length": 0.3, "mass_per_length": 1.0, "bending_stiffness": 2e6} for n in "ab"
    ]
    links[1]["joint"] = {"passive": True, "start": "30deg"}
    told = {"name": "two", "planar": True, "gravity": [0, -9.81, 0], "links": links}
    robot = supple.MechanismRobot.model_validate(told)
    found = supple.follow(robot, supple.PointToPoint([0.0], [0.8], 0.1), start="rest")
    assert found.step < 1e-4
