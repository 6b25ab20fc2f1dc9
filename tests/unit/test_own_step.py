"""The step that rk4 takes, against what its stability function does to every mode of a motion."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import supple
from supple.integration.closed_loop import Reference
from supple.integration.plan import RunPlan
from supple.integration.spectrum import Spectrum
from supple.integration.steppers.rk4 import RungeKutta4, stable_step


def own_step(swings: np.ndarray, duration: float) -> float:
    rates = swings[:, 0]
    spectrum = Spectrum(np.concatenate([1j * rates, -1j * rates]), rates.max(), swings=swings)
    plan: Any = SimpleNamespace(tau=None, grid=np.array([0.0, duration]), controller=None)
    return RungeKutta4().own_step(plan, spectrum)


def grown(z: np.ndarray) -> np.ndarray:
    return 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24


@pytest.mark.parametrize("seed", range(60))
def test_undamped_modes_keep_their_energy_and_the_state(seed: int) -> None:
    """100 periods of the fastest lose 1e-3 of the energy at most; after 20 it is within 2 %."""
    chance = np.random.default_rng(seed)
    rates = 10.0 ** chance.uniform(0, 3, chance.integers(1, 12))
    share = 10.0 ** chance.uniform(-5, 0, len(rates))
    share /= share.sum()
    period = 2 * np.pi / rates.max()
    swings = np.stack([rates, 0 * rates, share, np.sqrt(share)], axis=1)
    h = own_step(swings, 100 * period)
    z = 1j * rates * h
    lost = 1 - (share * np.abs(grown(z)) ** (2 * 100 * period / h)).sum()
    steps = 20 * period / h
    off = np.sqrt((share * np.abs(grown(z) ** steps - np.exp(z * steps)) ** 2).sum())
    assert lost < 1e-3
    assert off < 0.02
    assert h * rates.max() <= 0.5


def test_a_mode_that_hardly_moves_asks_for_no_short_steps() -> None:
    """A fast one with 4e-6 of the energy, damped, beside a slow one: it was 0.2 rad of the fast."""
    swings = np.array([[1e3, 0.0, 1.0, 1.0], [6e4, 0.3, 4e-6, 7e-3]])
    assert own_step(swings, 0.1) * 6e4 == pytest.approx(0.5)
    assert own_step(swings[:1], 0.1) * 1e3 == pytest.approx((1e-4 * 72 / 100) ** 0.2)


def test_a_part_of_a_deflection_counts_as_much_as_energy() -> None:
    """Half of a link's deflection by a mode with little energy is followed as closely."""
    swings = np.array([[1e3, 0.0, 1e-3, 0.5], [1e1, 0.0, 1.0, 1.0]])
    assert own_step(swings, 1.0) * 1e3 == pytest.approx(0.2 * 2**0.25, rel=1e-6)
    assert own_step(swings, 1.0) < 0.8 * stable_step(np.array([1e3j]))


def test_delays_that_nearly_meet_a_blend_ask_for_no_short_steps() -> None:
    """A delay of 0.2 s (1 + 5e-5) beside a blend of 0.2 s: steps were 6e-7 s, a run took 14 s."""
    model: Any = None  # asked for nothing here
    move = supple.ParabolicBlends([0, 0], [0.6, 0.4], duration=1.0, blend=0.2)
    path = supple.shaped(move, supple.shaper("zvd", 5.0, 0.01))
    assert min(np.diff([0.0, *path.breaks])) < 2e-5
    edges = np.array([0.0, *path.breaks, path.duration, 1.3])
    plan = RunPlan(model, edges, tuple(range(len(edges) - 1)), Reference(path), None, 1e-8)
    assert plan.piece == pytest.approx(0.1, rel=1e-3)


def test_a_run_over_slivers_is_the_run_by_short_steps() -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    move = supple.ParabolicBlends([0, 0], [0.6, 0.4], duration=1.0, blend=0.2)
    path = supple.shaped(move, supple.shaper("zvd", 5.0, 0.01))
    given = {"controller": supple.JointPD(200.0, 20.0), "trajectory": path}
    own = supple.simulate(model, **given)
    short = supple.simulate(model, **given, step=2e-5)
    assert np.abs(own.q - short.q).max() < 1e-6 * np.abs(short.q).max()


@pytest.mark.parametrize("asked", [{}, {"tolerance": 1e-6}, {"step": 0.01}], ids=str)
def test_what_stands_still_asks_for_no_steps(asked: dict[str, float]) -> None:
    """It went to bdf, whose equations of a long chain take ten seconds and 700 MB to make."""
    arm = supple.load("industrial-3").with_("links.link3.length", 0.1)
    model = supple.build(arm, supple.AssumedModes(3))
    theta0 = [0.1, 0.2, 0.3]
    run = supple.simulate(model, theta0=theta0, duration=0.1, **asked)
    assert run.method == "rk4"
    assert np.array_equal(run.q, np.tile([*theta0, *[0.0] * (model.size - 3)], (len(run.t), 1)))
    assert not run.qd.any()
