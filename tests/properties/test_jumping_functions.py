"""Python functions that jump, whenever they do: found, or told.

The same efforts as a Table, which says its switches itself, are the reference.
"""

import warnings

import numpy as np
import pytest

import supple
from supple import AssumedModes, SimulationWarning, build, load, simulate
from supple.equations.equilibrium import stiffness_at
from supple.integration.inputs import Feedback
from supple.integration.time_functions import as_time_function, written_times

KINDS = ("levels", "pulse", "pulse on a level", "there and back", "slopes", "stairs", "ends")


@pytest.fixture(scope="module")
def arm() -> supple.Model:
    return build(load("de-luca-two-link"), AssumedModes(1))


def drawn(kind: str, T: float, rng: np.random.Generator) -> supple.Table:
    """Efforts of two joints with jumps at random times; pulses down to 3e-5 of the run."""
    width = T * 10 ** rng.uniform(-4.5, -2)
    begin = rng.uniform(0, T - width)
    if kind == "levels":
        t = np.r_[0, np.sort(rng.uniform(0, T, 4))]
        return supple.Table(t, rng.uniform(-0.2, 0.2, (5, 2)), hold=True)
    if kind.startswith("pulse"):
        rows = np.tile(rng.uniform(-0.05, 0.05, 2) * (kind != "pulse"), (3, 1))
        rows[1] = rng.uniform(-0.2, 0.2, 2)
        return supple.Table([0, begin, begin + width], rows, hold=True)
    if kind == "there and back":
        at = rng.uniform(0.05, 0.9, 3) * T
        t = np.r_[0, np.sort(np.r_[at, at + T * 10 ** rng.uniform(-4, -2.5, 3)])]
        return supple.Table(t, 0.2 * (-1.0) ** np.arange(7)[:, None] * np.ones(2), hold=True)
    if kind == "slopes":
        t = np.r_[0, np.sort(rng.uniform(0, T, 5)), T]
        return supple.Table(t, rng.uniform(-0.2, 0.2, (7, 2)))
    if kind == "stairs":
        t = np.arange(60) * T / 60
        return supple.Table(t, 0.2 * np.sin(np.outer(t, [9, 14]) / T), hold=True)
    e = 10 ** rng.uniform(-9, -3)
    return supple.Table([0, e * T, T - e * T], rng.uniform(-0.2, 0.2, (3, 2)), hold=True)


def off(model: supple.Model, run: supple.Response, exact: supple.Response) -> float:
    """How far a run ends from another, in the norm of energy, of the largest kinetic energy."""
    q = exact.q[-1]
    dq = run.q[-1] - exact.q[-1]
    dv = run.qd[-1] - exact.qd[-1]
    M = model.mass_matrix(q)
    K = stiffness_at(model, q)
    most = max(v @ model.mass_matrix(at) @ v for at, v in zip(exact.q, exact.qd, strict=True))
    return float(np.sqrt((dq @ K @ dq + dv @ M @ dv) / most))


def check(model: supple.Model, seed: int, T: float) -> None:
    rng = np.random.default_rng(seed)
    table = drawn(KINDS[seed % len(KINDS)], T, rng)
    given = {"duration": T, "samples": 30, "limits": False}

    def law(t, *state):
        return table.value(np.array([t]), 2)[0]

    tight = simulate(model, table, method="adams", tolerance=1e-11, **given)
    plain = simulate(model, table, **given)
    for form in (law, lambda t, q, qd: law(t)):
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            run = simulate(model, form, **given)
        worst = max(1e-3, 3 * off(model, plain, tight))  # what rk4 makes of it by itself
        assert shown or off(model, run, tight) < worst, (run.step, off(model, run, tight))


@pytest.mark.parametrize("seed", range(7))
def test_jumps_are_found_or_told(arm, seed):
    check(arm, seed, 0.3)


@pytest.mark.soak
@pytest.mark.parametrize("T", [0.3, 2.0])
def test_three_hundred_functions_that_jump(arm, T):
    for seed in range(7, 157):
        check(arm, seed, T)


def test_a_jump_at_the_very_end_changes_nothing(arm):
    """The last stage saw it, and the balance of a motion of nothing stayed open by all of it."""
    for law in (lambda t: [0.1 * (t >= 0.1), 0], lambda t, q, qd: [0.1 * (t >= 0.1), 0]):
        assert not simulate(arm, law, duration=0.1).q.any()


def test_a_sine_is_no_faster_than_it_is():
    """Looks at irregular times made it ten times as fast, and steps as short."""
    given = Feedback(lambda t: [np.sin(2 * np.pi * 2001 * t)], 1, of_state=False)
    assert 2001 < as_time_function(given, 0.1, 1e-3).rate(0.1) / (2 * np.pi) < 2 * 2001


@pytest.mark.parametrize("form", ["time", "state"])
def test_a_pulse_of_a_millisecond_in_a_long_run(arm, form):
    """20 ms in 100 s was shorter than the time between two looks, and between two samples."""

    def pulse(t):
        return [0.2 if 3.0 <= t < 3.001 else 0.0, 0.0]

    law = pulse if form == "time" else lambda t, q, qd: pulse(t)
    given = {"duration": 6.0, "samples": 6}
    run = simulate(arm, law, **given)
    rows = supple.Table([0, 3.0, 3.001], [[0, 0], [0.2, 0], [0, 0.0]], hold=True)
    assert off(arm, run, simulate(arm, rows, method="adams", tolerance=1e-11, **given)) < 1e-3


def test_fast_parts_beside_a_jump_count(arm):
    """The rate of a function that jumps was taken as zero: 300 Hz by steps of 6 ms."""

    def law(t):
        return [0.2 * np.sin(600 * np.pi * t) if t < 0.06 else 0.0, 0.0]

    run = simulate(arm, law, duration=0.1, samples=4)
    tight = simulate(arm, law, duration=0.1, samples=4, method="adams", tolerance=1e-11)
    assert off(arm, run, tight) < 0.02


class Pulse:
    """A law as an object."""

    def __init__(self) -> None:
        self.start = 0.25
        self.rows = np.array([0.5, 0.75])

    def __call__(self, t: float) -> list[float]:
        return [1.0 if self.start <= t < self.start + 0.0625 else 0.0]


def test_times_written_in_a_function_are_known():
    begin = 0.125
    empty = ()

    def law(t, width=0.03125):
        return [float(begin <= t < begin + width or t % 0.75 < 0.001), *empty]

    assert {0.125, 0.03125, 0.125 + 0.03125, 0.75} <= set(written_times(law, 1.0).tolist())
    known = written_times(Pulse(), 1.0).tolist()
    assert {0.25, 0.5, 0.75, 0.25 + 0.0625} <= set(known)
    assert list(written_times(np.cos, 1.0)) == []


@pytest.fixture(scope="module")
def rod() -> supple.Model:
    """A rigid rod of 3 kg and 1 m that turns: 1 kg m2."""
    turns = supple.Joint(type="revolute")
    link = supple.Link(name="rod", joint=turns, length=1.0, mass_per_length=3.0, theory="rigid")
    return build(supple.SerialRobot(name="rod", planar=True, links=[link]))


def test_a_relay_switches_where_it_should(rod):
    """qdd = +-1: from q = 0 to 0.1 in sqrt(0.2) s, and back to it after 2 sqrt(0.2) s more."""
    run = simulate(rod, lambda t, q, qd: [1.0 if q[0] < 0.1 else -1.0], duration=1.2)
    once = np.sqrt(0.2)
    rest = 1.2 - once
    assert run.q[-1, 0] == pytest.approx(0.1 + once * rest - rest**2 / 2, abs=1e-8)
    assert run.openness < 1e-6


@pytest.mark.parametrize("closed", [True, False])
def test_a_relay_with_hysteresis_is_told(rod, closed):
    """It remembers: asked for a trial step, it has switched. It is not asked before the run."""
    state = [1.0]

    def law(t, q, qd):
        if abs(q[0]) > 0.1:
            state[0] = -np.sign(q[0])
        return [state[0]]

    class Law:
        on = 1.0

        def __call__(self, t, q, qd):
            if abs(q[0]) > 0.1:
                self.on = -np.sign(q[0])
            return [self.on]

    with pytest.warns(SimulationWarning, match="same again when it is asked twice at one time"):
        run = simulate(rod, law if closed else Law(), duration=0.6)
    once = np.sqrt(0.2)
    rest = 0.6 - once  # it may switch a step too early: by 1 ms of a speed of 2 sqrt(0.2)
    assert run.q[-1, 0] == pytest.approx(0.1 + once * rest - rest**2 / 2, abs=1e-3)


def test_a_law_that_adds_up_by_itself_is_told(rod):
    class Adds:
        total = 0.0

        def __call__(self, t, q, qd):
            self.total += 1e-3 * (0.1 - q[0])
            return [self.total]

    with pytest.warns(SimulationWarning, match=r"give it as supple.Sampled\(law, period\)"):
        simulate(rod, Adds(), duration=0.05)
