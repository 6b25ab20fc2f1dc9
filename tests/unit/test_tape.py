"""Tapes: recorded once, run by the kernel; they say what the scalars themselves would say."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple
from supple.beams.sliding.recipes import lookup
from supple.equations.chain_functions import ChainFunctions
from supple.equations.evaluate import TapeEvaluator
from supple.integration.steppers.collocated import (
    LEARNED,
    SPLIT,
    STAGES,
    TABLEAU,
    TWICE,
    A,
    B,
    C,
    stage_inverses,
)
from supple.integration.steppers.gauss import Gauss
from supple.kernels import _tape
from supple.kernels.scalars import cos, sin, tanh
from supple.kernels.tape import Recorder, Tape, tape_of_function

CHAIN = """
name: chain
links:
  - {name: a, joint: {axis: [0, 0, 1], stiffness: 900, rotor_inertia: 0.02, damping: 0.3,
     friction: 0.4}, length: 0.4, mass_per_length: 1.2, bending_stiffness: 90,
     torsional_stiffness: 70}
  - {name: b, joint: {axis: [0, 1, 0]}, length: 0.3, mass_per_length: 0.8, bending_stiffness: 40,
     torsional_stiffness: 30, tip: {mass: 0.3, com: [0.02, 0.01, 0]}}
  - {name: c, joint: {axis: [0.6, 0, 0.8]}, length: 0.2, mass_per_length: 0.5,
     bending_stiffness: 20}
"""


def law(x, y, z):
    """Every operation that a tape knows, some of them twice, some joined."""
    a = x * y + z
    b = z - x * y
    c = x * y - z
    d = 2.0 / (1.5 + x * x) - y / z
    return [a, b, c, d, -a, sin(x) * cos(y), tanh(z), x, 3.0, a * a + a * a, 1.0 - x, x - 1.0]


def test_it_says_what_plain_numbers_say() -> None:
    tape = Recorder(3)
    made = tape.tape(law(*tape.inputs))
    given = np.random.default_rng(0).normal(size=(21, 3))
    expected = np.array([law(*row.tolist()) for row in given])
    assert np.array_equal(made(given), expected)  # the same operations, the same bits
    assert np.array_equal(made(given[4]), expected[4])  # alone or in lanes
    assert made(given.reshape(3, 7, 3)).shape == (3, 7, 12)
    assert made(np.zeros((0, 3))).shape == (0, 12)


def test_equal_operations_are_written_once_and_products_join_sums() -> None:
    tape = Recorder(2)
    x, y = tape.inputs
    assert tape.tape([x * y + 1.0]).size == 1
    assert tape.tape([x * y + 1.0, y * x + 1.0]).size == 1
    assert tape.tape([x * y + 1.0, x * y]).size == 2  # a product that is asked for stays


@pytest.mark.parametrize("count", range(2, 15))
def test_sums_of_products_are_few_operations_of_the_same_bits(count: int) -> None:
    """Up to six products in one, added up from the first to the last; alone and in lanes."""
    tape = Recorder(2 * count)

    def summed(x: list) -> list:
        total = x[0] * x[1]
        for k in range(1, count):
            total = total + x[2 * k] * x[2 * k + 1]
        return [total, total * total]

    made = tape.tape(summed(tape.inputs))
    assert made.size == 1 + max(1, count - 5)
    given = np.random.default_rng(count).normal(size=(21, 2 * count)) * 10.0 ** np.arange(2 * count)
    expected = np.array([summed(row.tolist()) for row in given])
    for rows in (given, given[:3], given[:1]):
        assert np.array_equal(made(rows), expected[: len(rows)])


def test_a_function_of_casadi_is_replayed() -> None:
    """Every operation that a tape knows, at one state, at the stages of a step and at many."""
    x = ca.SX.sym("x", 3)
    y = ca.SX.sym("y")
    a = x[0]
    b = x[1]
    c = x[2]
    outputs = ca.vertcat(
        *(a + b, a - b, a * b, a / b, -a, ca.sin(a), ca.cos(b), ca.tanh(c), ca.fabs(a), a * a),
        *(ca.sqrt(ca.fabs(a)), ca.if_else(a < b, c, y), ca.if_else(a <= b, y, c), 2 * a, 3.0),
        *(ca.atan2(a, b), ca.asin(ca.tanh(a)), ca.fmax(a, y), ca.fmin(b, y), y, ca.exp(a), 1 / b),
    )
    function = ca.Function("f", [x, y], [outputs, a - y])
    tape = tape_of_function(function)
    assert tape is not None
    given = np.random.default_rng(5).normal(size=(20, 4))
    given[3, 1] = given[3, 0]  # neither is less
    wanted = np.array([ca.vertcat(*function(row[:3], row[3])).full().ravel() for row in given])
    for rows in (given, given[:3], given[:1]):
        np.testing.assert_array_equal(tape(rows), wanted[: len(rows)])
    np.testing.assert_array_equal(tape(given[3]), wanted[3])


def test_what_a_tape_does_not_know_is_left_to_casadi() -> None:
    x = ca.SX.sym("x")
    assert tape_of_function(ca.Function("f", [x], [ca.log(x)])) is None
    y = ca.MX.sym("y")
    assert tape_of_function(ca.Function("f", [y], [y + 1])) is None


def test_rk4_turns_an_oscillator() -> None:
    """x'' = u - x under u = 2: x = 2 (1 - cos t), to the method's order."""
    tape = Recorder(3)
    x, v, u = tape.inputs
    made = tape.tape([v, u - x])
    errors = []
    for steps in (50, 100):
        h = 2.0 / steps
        found = made.rk4(np.zeros(2), np.tile([2.0, 2.0, 2.0, h], (steps, 1)))
        assert found.shape == (steps, 2)
        errors.append(abs(found[-1, 0] - 2 * (1 - math.cos(2.0))))
    assert errors[0] < 1e-6
    assert 14 < errors[0] / errors[1] < 18


NAMES = ("mass_matrix", "bias", "gravity", "forward_dynamics", "forward_dynamics_loaded")
NAMES += ("inverse_dynamics", "elastic", "dissipation", "stiffness", "energies", "tip")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("many", [False, True])
def test_the_equations_are_those_of_the_expressions(
    name: str, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same laws by CasADi and by a tape, also where M is put together from its columns."""
    monkeypatch.setattr("supple.equations.chain_functions.MANY", 2 if many else 1000)
    model = supple.build(supple.loads(CHAIN), supple.AssumedModes(2))
    taped = model.functions.evaluator(name)
    plain = model.functions.expression(name)
    assert isinstance(taped, TapeEvaluator)
    generator = np.random.default_rng(1)
    given = [0.1 * generator.normal(size=(9, plain.numel_in(i))) for i in range(plain.n_in())]
    found = taped(*given)
    solved = name.startswith("forward")  # a solution is as exact as M's condition lets it be
    for k in range(9):
        rounding = 1e-15 * np.linalg.cond(model.mass_matrix(given[0][k])) if solved else 1e-13
        expected = plain.call([part[k] for part in given])
        for out, value in zip(found, expected, strict=True):
            wanted = np.array(value).reshape(out[k].shape)
            allowed = rounding * np.abs(wanted).max()
            np.testing.assert_allclose(out[k], wanted, rtol=0, atol=allowed)


def test_a_run_is_the_one_of_the_expressions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of the tape and steps of the CasADi function: one motion, to rounding."""
    words = {"duration": 0.05, "step": 2e-5, "theta0": [0.1, 0.4, -0.2], "method": "rk4"}

    def run() -> supple.Response:
        model = supple.build(supple.loads(CHAIN), supple.AssumedModes(2))
        return supple.simulate(model, lambda t: [0.4, 3.0 * t, -0.1], **words)

    taped = run()
    monkeypatch.setattr(ChainFunctions, "uses_tapes", False)
    plain = run()
    assert np.abs(taped.q[-1]).max() > 0.01
    np.testing.assert_allclose(taped.q, plain.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(taped.energies["kinetic"], plain.energies["kinetic"], rtol=1e-9)
    assert taped.openness == pytest.approx(plain.openness, rel=1e-3)


HUB = {"mass": 0.5, "inertia": [2e-3, 2e-3, 2e-3]}
HUBS = {f"links.{link}.joint.hub": HUB for link in "abc"}
LAWS = {
    "pd": lambda model: supple.JointPD([30.0, 20, 10], 0.2),
    "gravity": lambda model: supple.GravityPD(30.0, 0.2),
    "lqr": lambda model: supple.LQR(
        0.1 * np.cos(np.arange(6.0 * model.size)).reshape(3, -1), np.zeros(model.size), np.ones(3)
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_closed_loop_is_the_one_of_the_expressions(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The law and the equations on one tape, and both as CasADi writes them: one motion."""
    heavy = supple.loads(CHAIN).with_({**HUBS, "gravity": [0, 0, -9.81]})
    move = supple.ParabolicBlends([0.1, 0.2, 0.0], [0.3, -0.1, 0.2], duration=5e-3, blend=1e-3)

    def run() -> supple.Response:
        model = supple.build(heavy, supple.AssumedModes(1))
        words = {"controller": LAWS[name](model), "trajectory": move}
        return supple.simulate(model, step=5e-6, method="rk4", **words)

    asked = []
    told = Tape.rk4
    monkeypatch.setattr(Tape, "rk4", lambda *given: asked.append(1) or told(*given))
    taped = run()
    assert asked
    monkeypatch.setattr(ChainFunctions, "uses_tapes", False)
    plain = run()
    assert np.abs(taped.qd[-1]).max() > 0.1
    np.testing.assert_allclose(taped.q, plain.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(taped.tau, plain.tau, rtol=0, atol=1e-8 * np.abs(plain.tau).max())
    np.testing.assert_allclose(taped.work, plain.work, rtol=0, atol=1e-12)


def test_a_law_that_tapes_do_not_know_is_followed_as_an_expression() -> None:
    class Soft(supple.JointPD):
        def effort(self, model, q, qd, wanted):
            return ca.atan(super().effort(model, q, qd, wanted))

    model = supple.build(supple.loads(CHAIN).with_(HUBS), supple.AssumedModes(1))
    words = {"trajectory": [0.1, 0.1, 0.1], "theta0": [0, 0, 0], "duration": 0.02}
    found = supple.simulate(model, controller=Soft(5.0, 0.5), method="rk4", **words)
    error = found.q[:, :3] - 0.1
    expected = np.arctan(-5.0 * error - 0.5 * found.qd[:, :3])
    np.testing.assert_allclose(found.tau, expected, rtol=0, atol=1e-12)


def test_calm_efforts_are_left_to_the_tape() -> None:
    """140,000 steps a second: bdf took ten times as long, and 48 s and 700 MB for 16 links."""
    link = (
        "{{name: {}, joint: {{axis: {}}}, length: 0.3, section: {{shape: tube, diameter: 0.05, "
        "wall: 0.003}}, material: {{young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}}}"
    )
    links = link.format("a", [0, 0, 1]), link.format("b", [0, 1, 0])
    robot = supple.loads(f"name: tubes\nlinks:\n  - {links[0]}\n  - {links[1]}\n")
    model = supple.build(robot, supple.AssumedModes(2))
    given = ([0.0, 1.0], [[0.0, 0.0], [0.1, 0.1]])
    found = supple.simulate(model, given, duration=0.06)
    assert found.method == "rk4"
    assert found.step < 1 / 2e4
    close = supple.simulate(model, given, duration=0.06, method="adams", tolerance=1e-12)
    size = np.abs(close.q).max(axis=0)
    assert size.min() > 0
    assert (np.abs(found.q - close.q).max(axis=0) < 0.02 * size).all()  # each by itself


def test_sixteen_spatial_links_are_soon_ready() -> None:
    """What its equations cost: the operations of a rate, and of all that a run asks for."""
    links = [
        f"{{name: l{i}, joint: {{axis: [0, {i % 2}, {1 - i % 2}], damping: 1}}, length: 0.3, "
        "mass_per_length: 1.2, bending_stiffness: 7000, torsional_stiffness: 5000, "
        "theory: euler-bernoulli}"
        for i in range(16)
    ]
    robot = supple.loads("name: sixteen\nlinks:\n" + "".join(f"  - {link}\n" for link in links))
    model = supple.build(robot, supple.AssumedModes(2))
    assert model.functions.rate_in_ends().size < 12_000
    assert model.functions.evaluator("mass_matrix").tape.size < 10_000
    M = model.mass_matrix(np.zeros(model.size))
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0


GOOD = (
    2,
    np.array([1.5]),
    np.array([[2, 1], [4, 1]], np.int32),
    np.array([0, 1, 3, 2, 0], np.int32),
    np.array([4], np.int32),
    np.zeros(0),
)
TABLE = {  # one row, of a table of two pieces, looked up at the first input
    1: np.array([0.0, 24.0, 2.0]),
    2: np.array([[22, 1]], np.int32),
    3: np.array([0, 2, 3, 4], np.int32),
    4: np.array([5], np.int32),
    5: np.concatenate([[1.0, 0.5], np.zeros(22), [2.0, -1.0], np.zeros(22)]),
}
WRONG = {
    "an operand that comes later": {3: np.array([0, 1, 4, 2, 0], np.int32)},
    "an operand before all": {3: np.array([-1, 1, 3, 2, 0], np.int32)},
    "an operand too few": {3: np.array([0, 1, 3, 2], np.int32)},
    "an operand too many": {3: np.array([0, 1, 3, 2, 0, 0], np.int32)},
    "no such operation": {2: np.array([[2, 1], [28, 1]], np.int32)},
    "a sum of fewer products": {2: np.array([[2, 1], [23, 1]], np.int32)},
    "a table that ends too soon": TABLE | {5: np.zeros(47)},
    "a row before its table": TABLE | {1: np.array([-1.0, 24.0, 2.0])},
    "a row that is no constant": TABLE | {3: np.array([0, 1, 3, 4], np.int32)},
    "a table without pieces": TABLE | {1: np.array([0.0, 24.0, 0.0])},
    "a run of less than nothing": {2: np.array([[2, 1], [4, -1]], np.int32)},
    "a run of too many": {2: np.array([[2, 1], [4, 2**31 - 1]], np.int32)},
    "an output that is not there": {4: np.array([5], np.int32)},
    "an output before all": {4: np.array([-1], np.int32)},
    "less than no inputs": {0: -1},
    "inputs without end": {0: 2**40},
}


@pytest.mark.parametrize("name", WRONG)
def test_the_kernel_refuses_what_is_no_program(name: str) -> None:
    given = [WRONG[name].get(i, part) for i, part in enumerate(GOOD)]
    with pytest.raises(ValueError, match="no program"):
        _tape.program(*given)


def test_a_table_is_looked_up_and_goes_on_at_its_ends() -> None:
    """1 + s/2 on its first piece and 2 - s on its second, s from -1 to 1 on each."""
    program = _tape.program(*(TABLE.get(i, part) for i, part in enumerate(GOOD)))
    x = np.array([-1.0, 0.0, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, math.nan])
    wanted = np.array([0.5, 0.5, 1.0, 1.25, 3.0, 2.0, 1.0, 1.0, math.nan])
    for some in (slice(0, 1), slice(0, 3), slice(None)):  # alone, few, many
        out = np.zeros(len(x[some]))
        _tape.evaluate(program, np.stack([x, x], axis=1)[some].copy(), out)
        np.testing.assert_array_equal(out, wanted[some])


def test_the_kernel_refuses_arrays_that_do_not_fit() -> None:
    program = _tape.program(*GOOD)
    out = np.zeros(1)
    _tape.evaluate(program, np.array([2.0, 3.0]), out)
    assert out[0] == 2.0 * 3.0 * 1.5 + 2.0
    for x, y in (
        (np.zeros(3), np.zeros(1)),
        (np.zeros(2), np.zeros(2)),
        (np.zeros(1), np.zeros(0)),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            _tape.evaluate(program, x, y)
    for x, p, y in ((1, 4, 2), (2, 4, 1), (1, 3, 1)):
        with pytest.raises(ValueError, match="do not fit"):
            _tape.rk4(program, np.zeros(x), np.zeros(p), np.zeros(y))
    with pytest.raises(ValueError, match="Capsule"):
        _tape.evaluate("a program", np.zeros(2), out)


def pendulum(x):
    """q'' + 9 sin q = u as a residual over (q, qd, qdd, u), with nothing that follows."""
    q, v, a, u = x
    return [a + 9.0 * sin(q) - u, v * u]


def collocated(how, x, out, inverse, h, held=0, most=30, width=1, follow=0):
    start = np.array([0.3, -0.2])
    more = (held, width, follow, h, 1e-13, most)
    learned = np.zeros((LEARNED, 2 * STAGES + 1))
    count = np.zeros(1, np.int64)
    return _tape.collocate(how, x, out, start, TABLEAU, SPLIT, inverse, learned, count, *more)


def test_a_step_by_collocation_solves_its_equations() -> None:
    """By a program and by a call alike; its end against SciPy's DOP853, order twelve.

    (CasADi's integrators cannot be loaded under sanitizers, where this runs too.)
    """
    made = Recorder(4)
    tape = made.tape(pendulum(made.inputs))
    ends = []
    for h in (1.0, 0.5):
        found = []
        for call in (False, True):
            x = np.zeros((STAGES, 4))
            out = np.zeros((STAGES, 2))
            x[:, 3] = 0.5
            one = np.ones((1, 1))
            inverse = stage_inverses(one, 0 * one, 9.0 * one, h)

            def fill(x=x, out=out) -> None:
                out[:] = tape(x)

            assert collocated(fill if call else tape.program, x, out, inverse, h) > 0
            places = 0.3 - 0.2 * h * C + h**2 * TWICE @ x[:, 2]
            assert np.abs(x[:, 2] + 9 * np.sin(places) - 0.5).max() < 1e-13 / h**2
            found.append(x[:, 2].copy())
        np.testing.assert_array_equal(*found)
        acc = found[0]
        ends.append(np.array([0.3 - 0.2 * h + h**2 * B @ A @ acc, -0.2 + h * B @ acc]))
    wrong = []
    for h, end in zip((1.0, 0.5), ends, strict=True):
        exact = solve_ivp(
            lambda t, y: [y[1], 0.5 - 9 * math.sin(y[0])],
            (0, h),
            [0.3, -0.2],
            "DOP853",
            rtol=3e-14,
            atol=1e-14,
        )
        wrong.append(np.abs(end - exact.y[:, -1]).max())
    assert wrong[0] < 1e-5
    assert wrong[1] < wrong[0] / 4000  # a step of half the length: 2^-13


def test_a_mode_keeps_its_amplitude_and_is_as_late_as_gauss_says() -> None:
    """R(i phi) = 1 + i phi b' (1 - i phi A)^-1 1 turns by phi (1 - late phi^12)."""
    for phase in (1.0, 1.2):
        stages = np.linalg.solve(np.eye(STAGES) - 1j * phase * A, np.ones(STAGES))
        turned = 1 + 1j * phase * B @ stages
        assert abs(abs(turned) - 1) < 1e-13
        late = phase - np.angle(turned)
        assert late == pytest.approx(Gauss.late * phase**13, rel=0.05)


def test_stages_solved_by_pairs_are_those_of_one_large_matrix() -> None:
    """One iteration on a linear problem finds what the whole matrix says."""
    rng = np.random.default_rng(3)
    n = 4
    h = 0.3
    M, D, K = (part @ part.T + np.eye(n) for part in rng.normal(size=(3, n, n)))
    weights = np.eye(STAGES), h * A, h**2 * TWICE
    whole = sum(np.kron(a, part) for a, part in zip(weights, (M, D, K), strict=True))
    r = rng.normal(size=(STAGES, n))
    x = np.zeros((STAGES, 3 * n))
    out = np.zeros((STAGES, n))

    def fill() -> None:
        out[:] = r + (whole @ x[:, 2 * n :].ravel()).reshape(STAGES, n)

    learned = np.zeros((LEARNED, 2 * STAGES * n + 1))
    count = np.zeros(1, np.int64)
    inverse = stage_inverses(M, D, K, h)
    more = (0, 0, 0, h, 1e-9, 10)
    start = np.zeros(2 * n)
    found = _tape.collocate(fill, x, out, start, TABLEAU, SPLIT, inverse, learned, count, *more)
    assert found == 1  # the second iteration finds nothing left
    expected = np.linalg.solve(whole, -r.ravel())
    np.testing.assert_allclose(x[:, 2 * n :].ravel(), expected, rtol=0, atol=1e-11)


def test_what_iterations_show_betters_a_wrong_matrix() -> None:
    """With a matrix that is off by a third, fewer iterations the second time, and the same end."""
    made = Recorder(4)
    tape = made.tape(pendulum(made.inputs))
    one = np.ones((1, 1))
    h = 0.6
    inverse = stage_inverses(one, 0 * one, 4.0 * one, h)
    learned = np.zeros((LEARNED, 2 * STAGES + 1))
    count = np.zeros(1, np.int64)
    start = np.array([0.3, -0.2])
    more = (0, 1, 0, h, 1e-13, 30)
    counts = []
    ends = []
    for _ in range(2):
        x = np.zeros((STAGES, 4))
        out = np.zeros((STAGES, 2))
        given = (tape.program, x, out, start, TABLEAU, SPLIT, inverse, learned, count)
        counts.append(_tape.collocate(*given, *more))
        ends.append(x[:, 2])
    assert 0 < counts[1] < counts[0]
    assert count[0] > 1
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-11)


def test_a_step_that_cannot_be_solved_says_so() -> None:
    made = Recorder(4)
    tape = made.tape(pendulum(made.inputs))
    x = np.zeros((STAGES, 4))
    out = np.zeros((STAGES, 2))
    one = np.ones((1, 1))
    inverse = stage_inverses(one, 0 * one, 9.0 * one, 0.2)
    assert collocated(tape.program, x, out, inverse, 0.2, most=1) == 0
    x[:, 3] = np.nan
    assert collocated(tape.program, x, out, inverse, 0.2) == 0

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        collocated(broken, x, out, inverse, 0.2)
    wrong = [(x[:2], out, inverse), (x, out[:, :1].copy(), inverse), (x, out, inverse[:2])]
    for given in wrong:
        with pytest.raises(ValueError, match="do not fit"):
            collocated(tape.program, *given, 0.2)
    with pytest.raises(ValueError, match="do not fit"):
        collocated(tape.program, x, out, inverse, 0.2, held=2)
    for beyond in ({"width": 2**62}, {"width": 2**63 - 4}, {"follow": 2**62}, {"held": 2**62}):
        with pytest.raises(ValueError, match="do not fit"):  # sums that would overflow
            collocated(tape.program, x, out, inverse, 0.2, **beyond)


def test_derivatives_of_a_table_are_played_as_those_of_its_spline():
    """Loops of links that slide are differentiated twice: the hexapod had no tape because of it."""
    table = lookup(lambda l: [np.sin(3 * l), l * np.exp(-l)], (0.5, 1.1))
    z = ca.SX.sym("z", 2)
    v = ca.SX.sym("v", 2)
    first, second = table.at(0.4 + 0.3 * z[0] ** 2 + 0.1 * z[1])
    e = ca.vertcat(first * z[1], first * second)
    along = ca.jtimes(e, z, v)
    parts = [e, ca.jacobian(e, z), ca.jtimes(along, z, v), ca.jacobian(along, z)]
    function = ca.Function("f", [z, v], [ca.densify(part) for part in parts])
    tape = tape_of_function(function)
    x = np.array([0.7, 0.3, 0.2, -1.1])
    wanted = np.concatenate([np.array(out).ravel(order="F") for out in function(x[:2], x[2:])])
    assert tape is not None
    np.testing.assert_allclose(tape(x), wanted, rtol=1e-12, atol=1e-12)
    # the first entry by the first coordinate, in closed form
    length = 0.4 + 0.3 * 0.49 + 0.03
    slope = 0.42 * 3 * np.cos(3 * length)  # d first / d z_0
    assert wanted[2] == pytest.approx(0.3 * slope, rel=1e-9)
