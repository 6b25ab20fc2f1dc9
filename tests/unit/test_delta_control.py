"""The house's controllers and trajectories on the coupled Delta, and its Response."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import supple
from pictures import shows
from supple.architectures import delta
from supple.architectures.delta_motion import motion
from supple.equations.closed.rigid_delta import RigidDelta

KUO = supple.load("kuo-delta")
RIGID = KUO.with_({"upper.theory": "rigid", "lower.theory": "rigid"})
REACH = supple.PointToPoint((0.0, 0.0, 0.5), (0.05, 0.02, 0.55), 0.2)
SOFT = supple.build(KUO, supple.AssumedModes(1), damping=0.02)
HELD = np.array([-0.4, -0.5, -0.3])


def error_after(t: np.ndarray, start: float, Gp: float, Gv: float) -> np.ndarray:
    """e'' + Gv e' + Gp e = 0 from e = start at rest, critically damped: Gv^2 = 4 Gp."""
    a = Gv / 2
    assert a * a == pytest.approx(Gp)
    return start * (1 + a * t) * np.exp(-a * t)


IMPLICIT = {"method": "generalised-alpha"}  # second order; leads the motors along a path exactly


@pytest.mark.filterwarnings("ignore:the power balance")
@pytest.mark.parametrize(
    "law", [supple.Decoupling(400.0, 40.0), supple.ComputedTorque(400.0, 40.0)]
)
def test_joint_errors_obey_their_equation(law: supple.Controller) -> None:
    """Decoupling on the flexible robot, computed torque on the rigid one: [Theodore1997] (37)."""
    exact = isinstance(law, supple.Decoupling)
    model = SOFT if exact else supple.build(RIGID, supple.FiniteElements(1))
    q0 = np.zeros(model.size)
    q0[:3] = HELD + np.array([0.02, -0.01, 0.03])
    errors = []
    for dt in (2e-3, 1e-3):
        run = supple.simulate(
            model, controller=law, trajectory=HELD, q0=q0, duration=0.1, dt=dt, step=dt, **IMPLICIT
        )
        wanted = error_after(run.t[:, None], q0[:3] - HELD, 400.0, 40.0)
        errors.append(np.abs(run.theta - HELD - wanted).max())
    assert errors[1] < 2e-5  # (dt Gv / 2)^2 / 12 of 0.03 rad: 1e-6, times the steps of a decay
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)


def test_decoupling_on_its_path_is_exact() -> None:
    run = supple.simulate(
        SOFT, controller=supple.Decoupling(), path=REACH, q0="static", dt=4e-3, **IMPLICIT
    )
    wanted = motion(KUO, *REACH(run.t)).theta[0]
    assert np.abs(run.theta - wanted).max() < 1e-11  # inputs are read 1e-9 of a step before
    # what the law asks for is what the equations of motion need
    last = run.q[-1], run.qd[-1]
    qdd = SOFT.forward_dynamics(*last, run.tau[-1])
    assert qdd[:3] == pytest.approx(motion(KUO, *REACH(run.t[-1])).theta[2][0], abs=1e-8)


def test_computed_torque_leads_rigid_links_along_a_path() -> None:
    model = supple.build(RIGID, supple.FiniteElements(1))
    run = supple.simulate(model, controller=supple.ComputedTorque(), path=REACH, dt=1e-3)
    assert np.abs(run.position - REACH(run.t)[0]).max() < 2e-6  # dt^2 / 12 of some 10 m/s^2
    wanted = RigidDelta(RIGID).inverse_dynamics(*REACH(run.t))
    assert run.tau == pytest.approx(wanted, abs=2e-3)


def test_gravity_pd_holds_the_sag_for_ever() -> None:
    law = supple.GravityPD(200.0, 5.0)
    run = supple.simulate(SOFT, controller=law, trajectory=HELD, q0="static", duration=0.1, dt=5e-3)
    assert np.abs(run.q - run.q[0]).max() < 1e-9


def test_pd_without_gravity_sags_by_its_gain() -> None:
    """At rest k (theta - r) holds the weight."""
    calm = supple.build(KUO, supple.AssumedModes(1), damping=0.7)
    law = supple.JointPD(500.0, 20.0)
    run = supple.simulate(calm, controller=law, trajectory=HELD, q0="static", duration=1.0, dt=5e-3)
    assert np.abs(run.qd[-1]).max() < 1e-3
    needed = calm.gravity(run.q[-1])[:3]
    assert HELD - run.theta[-1] == pytest.approx(needed / 500.0, rel=1e-3)


def test_lqr_brings_it_back() -> None:
    weights = np.concatenate([np.full(3, 1e3), np.ones(2 * SOFT.size - 3)])
    law = supple.lqr(SOFT, HELD, weights, 0.1)
    lin = supple.linearize(SOFT, HELD)
    assert np.linalg.eigvals(lin.A - lin.B @ law.gain).real.max() < 0
    q0 = law.q.copy()
    q0[:3] += 0.02
    run = supple.simulate(SOFT, controller=law, trajectory=HELD, q0=q0, duration=1.0, dt=5e-3)
    assert np.abs(run.theta[-1] - HELD).max() < 1e-3


@pytest.mark.filterwarnings("ignore:the power balance")
@pytest.mark.filterwarnings("ignore:steps of 0.001 s keep the energy")  # both are late alike
def test_a_function_as_controller_is_the_same_law() -> None:
    def law(t: float, q: np.ndarray, qd: np.ndarray, wanted: tuple) -> np.ndarray:
        r, rd, _ = wanted
        return -200 * (q[:3] - r) - 5 * (qd[:3] - rd)

    runs = [
        supple.simulate(SOFT, controller=each, path=REACH, q0="static", step=1e-3, **IMPLICIT)
        for each in (law, supple.JointPD(200.0, 5.0))
    ]
    assert runs[0].q == pytest.approx(runs[1].q, abs=1e-7)


def test_paths_lead_the_platform_and_trajectories_the_motors() -> None:
    law = supple.Decoupling()
    square = [(0, 0, 0.5), (0.03, 0, 0.5), (0.03, 0.03, 0.52)]
    for path in (supple.InvertedU(), supple.CirclePath(radius=0.05), REACH,
                 supple.WayPoints(square, velocity=1.0, acceleration=20.0)):  # fmt: skip
        run = supple.simulate(SOFT, controller=law, path=path, duration=0.02, dt=5e-3, **IMPLICIT)
        theta = delta.inverse(KUO, path(run.t)[0])[..., 0]
        assert run.theta == pytest.approx(theta, abs=1e-11)
    blends = supple.ParabolicBlends(HELD, HELD + 0.1)
    run = supple.simulate(
        SOFT, controller=law, trajectory=blends, duration=0.02, dt=5e-3, **IMPLICIT
    )
    assert run.theta == pytest.approx(blends(run.t)[0], abs=1e-11)
    same = [
        supple.simulate(SOFT, controller=law, duration=0.01, dt=5e-3, **{word: given}).q
        for word, given in (
            ("path", supple.InvertedU()),
            ("trajectory", supple.InvertedU()),  # it can be nothing but a platform's
            ("trajectory", supple.PlatformPath(KUO, supple.InvertedU())),
        )
    ]
    assert (same[0] == same[1]).all()
    assert (same[0] == same[2]).all()


ARM = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
LAW = supple.Decoupling()


@pytest.mark.parametrize(
    ("model", "asked", "sentence"),
    [
        (SOFT, {"path": REACH}, "needs a controller"),
        (SOFT, {"controller": LAW, "path": REACH, "trajectory": HELD}, "both given"),
        (SOFT, {"controller": LAW, "path": [0, 0, 0.5]}, "samples need their rate"),
        (SOFT, {"position": [0, 0, 0.5], "theta0": HELD}, "instead of theta0"),
        (SOFT, {"position": [0, 0, 5.0]}, "out of reach"),
        (SOFT, {"controller": LAW, "path": supple.PointToPoint((0, 0, 0.5), (0, 0, 3), 1)},
         "out of reach"),
        (SOFT, {"controller": LAW, "path": REACH, "method": "magnus"}, "magnus"),
        (ARM, {"controller": LAW, "path": REACH}, "path has 3 coordinates: de-luca"),
        (ARM, {"position": [0, 0, 0.5]}, "position is for a Delta"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_sentence(model: supple.Model, asked: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.simulate(model, **asked)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: supple.stability(SOFT, supple.ParabolicBlends(HELD, HELD + 0.1)),
        lambda: supple.closed_form(SOFT),
    ],
)
def test_what_is_for_open_chains_says_so(ask: Callable[[], object]) -> None:
    with pytest.raises(supple.SuppleError, match="has loops"):
        ask()


def test_motor_limits_end_a_run() -> None:
    robot = KUO.with_("motor.limits", [-0.6, -0.25])
    model = supple.build(robot, supple.AssumedModes(1))
    with pytest.warns(supple.SimulationWarning, match="upper1 reached its limit"):
        supple.simulate(model, [6.0, 0, 0], "static", theta0=HELD, duration=1.0, dt=5e-3)
    with pytest.raises(supple.SuppleError, match="takes joint upper"):
        supple.simulate(model, controller=LAW, path=supple.InvertedU())


def test_a_response_is_stored_and_drawn(tmp_path: Path) -> None:
    run = supple.simulate(SOFT, controller=LAW, path=REACH, q0="static", dt=1e-2)
    run.save(tmp_path / "run.nc")
    again = supple.load_response(tmp_path / "run.nc")
    assert (again.q == run.q).all()
    assert again.tip == pytest.approx(run.tip, abs=1e-12)
    assert again.energy == pytest.approx(run.energy, abs=1e-12)
    assert run.deflection("lower2", 0.5).shape == (len(run.t), 3)
    assert (run.position == run.tip).all()
    data = run.to_xarray()
    assert list(data.joint.values) == ["upper1", "upper2", "upper3"]
    figure = run.plot(tmp_path / "run.png")
    for curve in (*run.theta.T, *run.tau.T, np.linalg.norm(run.deflection("lower2"), axis=1)):
        assert shows(figure, curve)
    assert run.to_pandas().shape[0] == len(run.t)
