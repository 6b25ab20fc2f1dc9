"""simulate, linearize and their like: inputs, starts, ends, bad input, files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from pictures import shows
from supple import (
    AssumedModes,
    BangBang,
    Chirp,
    Constant,
    EndLoad,
    FiniteElements,
    Model,
    SerialRobot,
    SimulationWarning,
    StiffnessRoot,
    Strain,
    SuppleError,
    Table,
    build,
    linearize,
    load,
    load_response,
    simulate,
)
from supple.integration.plan import RunPlan
from supple.integration.spectrum import look
from supple.integration.steppers.rk4 import stable_step
from supple.papers.cells import right_number
from supple.studies.motion.simulate import static_state


@pytest.fixture(scope="module")
def model() -> Model:
    return build(load("de-luca-two-link"), AssumedModes(2), damping=StiffnessRoot(0.1))


@pytest.fixture(scope="module")
def heavy() -> Model:
    robot = load("de-luca-two-link").with_("gravity", [0, -9.81, 0])
    return build(robot, AssumedModes(2), damping=0.02)


def test_every_form_of_effort_gives_the_same_motion(model: Model) -> None:
    t = np.linspace(0, 0.5, 501)
    forms: list[Any] = [
        [0.1, -0.1],
        Constant((0.1, -0.1)),
        lambda t: [0.1, -0.1],
        lambda t, q, qd: [0.1, -0.1],
        np.tile([0.1, -0.1], (5, 1)),
        (t[::100], np.tile([0.1, -0.1], (6, 1))),
        Table([0, 1], [[0.1, -0.1]] * 2),
    ]
    ends = [simulate(model, tau, duration=0.5).q[-1] for tau in forms]
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-12


@pytest.mark.parametrize("method", ["adams", "bdf", "generalised-alpha"])
def test_methods_agree(model: Model, method: str) -> None:
    tau = BangBang(0.1, 0.1)
    wanted = simulate(model, tau, duration=0.3, dt=2e-4)
    found = simulate(model, tau, duration=0.3, dt=2e-4, method=method)
    close = 1e-6 if method != "generalised-alpha" else 1e-3
    assert np.abs(found.q - wanted.q).max() < close
    assert np.abs(wanted.balance).max() < 1e-8


def test_switches_are_on_the_grid_and_restart(model: Model) -> None:
    run = simulate(model, BangBang(0.2, 0.0773), duration=0.2, dt=1e-3)
    assert {0.0773, 0.1546} <= set(run.t.tolist())
    fine = simulate(model, BangBang(0.2, 0.0773), duration=0.2, method="adams", tolerance=1e-11)
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 1e-6


def test_chirp_is_exact_in_both_paths(model: Model) -> None:
    tau = Chirp(0.1, 0.5, 5.0, 1.0)
    one = simulate(model, tau, duration=1.0, dt=2e-4)
    other = simulate(model, tau, duration=1.0, dt=1e-2, method="adams", tolerance=1e-11)
    assert np.abs(one.q[-1] - other.q[-1]).max() < 1e-8


def test_compiled_steps_are_the_same(model: Model) -> None:
    one, other = (simulate(model, [0.1, 0.1], duration=0.2, compiled=c) for c in (False, True))
    assert np.abs(one.q - other.q).max() < 1e-12


def test_compiled_functions_are_the_same() -> None:
    robot = load("de-luca-two-link")
    one, other = (build(robot, AssumedModes(1), compiled=c) for c in (False, True))
    q, qd = np.random.default_rng(0).normal(size=(2, 5, 4))
    found = [m.forward_dynamics(q, qd, [0.1, 0.2]) for m in (one, other)]
    assert np.allclose(*found, rtol=1e-12)


def test_static_start_stays_at_rest_when_held(heavy: Model) -> None:
    q = static_state(heavy, [0.3, -0.2])
    tau = heavy.inverse_dynamics(q, np.zeros(6), np.zeros(6))
    assert np.abs(tau[2:]).max() < 1e-10
    run = simulate(heavy, tau[:2], q0="static", theta0=[0.3, -0.2], duration=0.3)
    assert np.abs(run.q - q).max() < 1e-9
    sag = supple.statics(heavy.robot, [0.3, -0.2])
    linear = heavy.tip(q) - heavy.tip(np.array([0.3, -0.2, 0, 0, 0, 0]))
    assert np.abs(linear).max() > 1e-3
    small = build(heavy.robot.with_("gravity", [0, -1e-4, 0]), AssumedModes(6))
    at_rest = static_state(small, [0.3, -0.2])
    moved = small.tip(at_rest) - small.tip(np.append([0.3, -0.2], np.zeros(12)))
    assert moved[:2] == pytest.approx(sag.tip_displacement[:2] / 98100, rel=2e-3)


def test_tip_force_is_felt(model: Model) -> None:
    run = simulate(model, None, duration=0.1, wrench=[0, 1.0, 0])
    assert run.tip[-1, 1] > 1e-3
    assert np.abs(run.balance).max() < 1e-8


def test_response_names_and_files(model: Model, tmp_path: Path) -> None:
    run = simulate(model, BangBang(0.1, 0.05), duration=0.2)
    assert run.complete
    assert run.deflection("link2", 0.5).shape == (201, 3)
    assert run.tip_rotation.shape == (201, 3, 3)
    assert set(run.energies) == {"kinetic", "elastic", "gravity"}
    frame = run.to_pandas()
    assert len(frame) == 201
    assert {"theta.link1", "d.eta.link2.xy2", "tip.y", "energy.elastic"} <= set(frame.columns)
    path = tmp_path / "run.nc"
    run.save(path)
    back = load_response(path)
    assert np.array_equal(back.q, run.q)
    assert np.array_equal(back.energy, run.energy)
    assert back.model.coordinates == model.coordinates
    assert np.array_equal(back.model.damping, model.damping)
    with pytest.raises(SuppleError, match=r"must end in \.nc"):
        run.save(tmp_path / "run.txt")
    with pytest.raises(SuppleError, match="cannot read"):
        load_response(tmp_path / "absent.nc")


def test_plot(model: Model, tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    run = simulate(model, [0.1, 0.0], duration=0.05)
    figure = run.plot(tmp_path / "run.png")
    assert len(figure.axes) == 6
    for curve in (*run.theta.T, *run.tau.T, run.q[:, 2], run.q[:, -1]):
        assert shows(figure, curve)
    assert not shows(figure, run.theta[:, 0] + 1e-6)
    assert plt.imread(tmp_path / "run.png").std() > 0  # not one colour alone
    plt.close(figure)


def test_step_beyond_the_limit_names_the_largest(model: Model) -> None:
    plan = RunPlan(model, np.array([0.0, 1.0]), (0,), Constant(0.0), None, 1e-9)
    largest = stable_step(look(plan, np.r_[0, 0, 0.01, np.zeros(10)]).poles)
    with pytest.raises(SuppleError, match="the largest admissible step is") as caught:
        simulate(model, None, q0=[0, 0, 0.01, 0, 0, 0], duration=1, step=1.2 * largest)
    named = float(str(caught.value).split("admissible step is ")[1].split(" s")[0])
    assert 0.98 * largest < named <= largest
    run = simulate(model, None, q0=[0, 0, 0.01, 0, 0, 0], duration=5, step=named)
    assert np.abs(run.q).max() < 1


def test_blow_up_says_when_and_why_and_keeps_what_it_had() -> None:
    """A bang-bang of 1 + 1 s with `paper`, whose mass matrix is cut."""
    end = right_number("DeLuca1991", "failure")[0]
    model = build(load("de-luca-two-link"), AssumedModes(2), deflection="paper")
    with pytest.warns(SimulationWarning, match=f"blew up at t = {end}.*mass matrix"):
        run = simulate(model, BangBang(0.2, 1.0), duration=2.0)
    assert not run.complete
    assert abs(run.t[-1] - float(end)) < 0.01
    assert np.isfinite(run.q).all()


def test_the_first_limit_ends_the_run_also_before_a_link_slides_off() -> None:
    rod = {"length": 1.2, "theory": "rigid", "mass_per_length": 1.0}
    boom = {"name": "boom", "joint": {"type": "prismatic", "limits": [0.2, 1.1]}, **rod}
    post = {"name": "post", "joint": {"limits": [-1, 0.3], "rotor_inertia": 1.0}, **rod}
    model = build(SerialRobot(name="slide", links=[post, boom]), AssumedModes(1))
    for push, told in (([0.0, 30.0], "boom"), ([3000.0, 30.0], "post")):
        with pytest.warns(SimulationWarning, match=f"joint {told} reached its limit"):
            run = simulate(model, push, theta0=[0, 1.0], duration=1.0)
        assert run.q[-1, 1] < 1.2
        passed = (run.q[:, 0] > 0.3) | (run.q[:, 1] > 1.1)
        assert passed[-1]
        assert not passed[:-1].any()


def test_joint_limit_ends_the_run() -> None:
    robot = load("de-luca-two-link").with_("links.link1.joint.limits", [-0.1, 0.1])
    model = build(robot, AssumedModes(1))
    with pytest.warns(SimulationWarning, match="joint link1 reached its limit"):
        run = simulate(model, [1.0, 0.0], duration=2.0)
    assert run.theta[-1, 0] >= 0.1
    assert run.t[-1] < 2
    assert simulate(model, [1.0, 0.0], duration=2.0, limits=False).complete


def test_a_function_that_fails_is_told(model: Model) -> None:
    def bad(t: float) -> list[float]:
        if t > 0.01:
            raise RuntimeError("motor off")
        return [0.0, 0.0]

    with pytest.warns(SimulationWarning, match=r"effort function failed at t = 0.01.*motor off"):
        run = simulate(model, bad, duration=0.1)
    assert 0.005 < run.t[-1] < 0.02
    with pytest.raises(SuppleError, match="must give 2 finite numbers"):
        simulate(model, lambda t: [1.0], duration=0.1)
    with pytest.raises(SuppleError, match="takes no Python function: use gauss"):
        simulate(model, lambda t, q, qd: [0.0, 0.0], duration=0.1, method="adams")


def test_interrupt_returns_what_was_computed(model: Model) -> None:
    def stop(t: float) -> list[float]:
        if t > 0.02:
            raise KeyboardInterrupt
        return [0.0, 0.0]

    with pytest.warns(SimulationWarning, match="stopped by the user"):
        run = simulate(model, stop, duration=0.1)
    assert 10 < len(run.t) < 30


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"q0": [0.0] * 5}, "q0 has shape"),
        ({"q0": [np.nan] * 6}, "not finite"),
        ({"qd0": "fast"}, "not an array"),
        ({"tau": [1.0]}, "tau has shape"),
        ({"tau": [np.inf, 0]}, "not finite"),
        ({"duration": -1}, "duration is -1"),
        ({"dt": 0.0}, "dt is 0.0"),
        ({"method": "euler"}, "method is 'euler'"),
        ({"q0": "sagging"}, "give an array or 'static'"),
        ({"tau": ([0, 0], [[1, 1], [1, 1]])}, "rising times"),
    ],
)
def test_bad_input_of_simulate(model: Model, options: dict[str, Any], said: str) -> None:
    with pytest.raises(SuppleError, match=said):
        simulate(model, **{"duration": 0.01, **options})


@pytest.mark.parametrize(
    ("basis", "said"),
    [
        (lambda: AssumedModes(0), "gives link1 no mode"),
        (lambda: AssumedModes([2, 0]), "gives link2 no mode"),
        (lambda: AssumedModes([1, 1, 1]), "count has 3 entries"),
        (lambda: AssumedModes(-1), "count is -1: give a whole number from 0"),
        (lambda: AssumedModes(1, ends="loose"), "ends is 'loose'"),  # type: ignore[arg-type]
        (lambda: AssumedModes(1, ends=[EndLoad(1.0)]), "ends has 1 entries"),
        (lambda: FiniteElements(0), "gives link1 no element"),
        (lambda: FiniteElements(2, "cubical"), "order is 'cubical'"),
        (lambda: FiniteElements(1, modes=9), "ask for fewer modes"),
        (lambda: 2, "basis is 2"),
    ],
)
def test_bad_basis(basis: Callable[[], Any], said: str) -> None:
    with pytest.raises(SuppleError, match=said):
        build(load("de-luca-two-link"), basis())


def test_bad_robots() -> None:
    bar = {"name": "a", "theory": "rigid", "length": 1.0}
    empty = supple.SerialRobot.model_validate({"name": "empty", "links": [bar]})
    with pytest.raises(SuppleError, match=r"theta.a moves no mass or inertia"):
        build(empty, AssumedModes(1))
    arm = load("de-luca-two-link")
    with pytest.raises(SuppleError, match="no rotor_inertia"):
        build(arm.with_("links.link1.joint.stiffness", 100.0), AssumedModes(1))
    with pytest.raises(SuppleError, match="is for planar arms"):
        build(arm.model_copy(update={"planar": False}), AssumedModes(1), deflection="paper")
    with pytest.raises(SuppleError, match="deflection is 'bent'"):
        build(arm, AssumedModes(1), deflection="bent")  # type: ignore[arg-type]
    with pytest.raises(SuppleError, match="moment"):
        EndLoad(1.0, 0.1, 5.0)


def test_bad_states(model: Model) -> None:
    with pytest.raises(SuppleError, match=r"q has shape \(3,\): its last axis must have 6"):
        model.mass_matrix([0, 0, 0])
    with pytest.raises(SuppleError, match="not finite"):
        model.bias([np.nan] * 6, [0] * 6)
    with pytest.raises(SuppleError, match="there is no link 'x'"):
        model.deflection_at(np.zeros(6), "x")
    with pytest.raises(SuppleError, match="different shapes"):
        model.bias(np.zeros((3, 6)), np.zeros((4, 6)))


def test_linearize(model: Model) -> None:
    found = linearize(model, [0.0, 0.5], outputs=["joints", "tip", Strain("link1", 0.0)])
    assert found.A.shape == (12, 12)
    assert found.C.shape == (6, 12)
    assert found.outputs[-1] == "strain.link1.0"
    s = 2j
    G = found.transfer(s)
    num, den = found.transfer_function(0, 1)
    assert np.polyval(num, s) / np.polyval(den, s) == pytest.approx(G[0, 1], rel=1e-6)
    assert (found.damping_ratios > 0).all()
    with pytest.raises(SuppleError, match="output 'nose'"):
        linearize(model, outputs=["nose"])
    control = pytest.importorskip("control")
    assert isinstance(found.to_control(), control.StateSpace)


def test_linearisation_predicts_small_motions(heavy: Model) -> None:
    q = static_state(heavy, [0.4, 0.3])
    found = linearize(heavy, [0.4, 0.3])
    small = 1e-5 * np.array([1, -1, 0.5, 0.2, -0.3, 0.1])
    run = simulate(heavy, found.tau, q0=q + small, duration=0.05)
    from scipy.linalg import expm

    wanted = expm(found.A * 0.05) @ np.append(small, np.zeros(6))
    assert np.abs(run.q[-1] - q - wanted[:6]).max() < 1e-3 * np.abs(small).max()


def test_friction_brakes_and_the_power_balance_still_closes() -> None:
    robot = load("de-luca-two-link").with_(
        {"links.link1.joint.friction": 0.05, "links.link2.joint.damping": 0.1}
    )
    model = build(robot, AssumedModes(1))
    run = simulate(model, [0.2, 0.0], duration=0.5, dt=2e-4)
    free = simulate(build(load("de-luca-two-link"), AssumedModes(1)), [0.2, 0.0], duration=0.5)
    assert run.theta[-1, 0] < free.theta[-1, 0]
    assert np.abs(run.balance).max() < 1e-9
    assert np.abs(simulate(model, [0.04, 0.0], duration=0.5).qd[-1, 0]) < 0.02  # creeps, held
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4)) * 0.01
    tau = model.inverse_dynamics(q, qd, qdd)
    held = model.inverse_dynamics(q, 0 * qd, qdd) - model.bias(q, 0 * qd)
    assert tau[0] - held[0] - model.bias(q, qd)[0] == pytest.approx(0.05 * np.tanh(qd[0] / 0.01))


def test_a_run_that_names_nothing_finds_a_method() -> None:
    """Elements have modes too fast for 1 ms of rk4: a step asked for is refused, its own is not."""
    model = build(supple.load("de-luca-two-link"), supple.FiniteElements(3))
    start = np.r_[0.1, np.zeros(model.size - 1)]
    run = simulate(model, tau=[0.05, 0.0], q0=start, duration=0.05)
    assert run.method == "rk4"
    assert np.allclose(np.diff(run.t), 1e-3)
    fine = simulate(model, tau=[0.05, 0.0], q0=start, duration=0.05, dt=1e-3, method="adams")
    assert np.abs(run.q[-1] - fine.q[-1]).max() < 1e-5 * np.abs(fine.q[-1]).max()
    with pytest.raises(SuppleError, match="largest admissible"):
        simulate(model, tau=[0.05, 0.0], q0=start, duration=0.05, step=1e-3)
    assert simulate(model, tau=lambda t: [0.05, 0.0], q0=start, duration=0.01).message == ""
