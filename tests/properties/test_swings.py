"""Robots that fall, with few and many samples, by every stepper, against an independent integrator.

A run is right when its state is within 2 % of the reference and its power balance closes to 1e-3,
or it says that it is not. The whole set is in the soak tests.
"""

import warnings
from typing import Any

import numpy as np
import pytest

import supple
from properties.random_swings import Swing, random_four_bar, random_serial

STRETCHES = 1  # number of a linkage whose driven bar is stopped by coupler and rocker in line
STEPPERS = [None, "rk4", "adams", "bdf", "generalised-alpha", "gauss"]


def run_of(swing: Swing, samples: int, method: str | None) -> Any:
    """Let the robot go."""
    given = {"q0": swing.q0, "qd0": swing.qd0, "duration": swing.duration, "samples": samples}
    return supple.simulate(swing.model, method=method, **given)


def fault_of(swing: Swing, run: Any) -> str:
    """What is wrong with a run that told nothing."""
    name = f"{swing.name}, {len(run.t) - 1} samples, {run.method}, step {run.step}"
    if not run.complete:
        return f"{name}: incomplete without a warning"
    if run.openness > 1e-3:
        return f"{name}: balance open by {run.openness:.1e}"
    reference = swing.reference(run.t)
    if reference is None:
        return ""
    off = np.abs(run.theta - reference).max() / max(np.ptp(reference, axis=0).max(), 1e-3)
    return f"{name}: state off by {off:.1e}" if off > 0.02 else ""


def faults_of(swing: Swing, samples: int, method: str | None) -> tuple[str, bool]:
    """What is wrong with a run and not told, and whether it warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = run_of(swing, samples, method)
    return ("", True) if caught else (fault_of(swing, run), False)


@pytest.fixture(scope="module")
def pendulum() -> Swing:
    return random_serial(2, flexible=False)


@pytest.mark.parametrize("samples", [12, 1500])
@pytest.mark.parametrize("method", [None, "bdf", "gauss"])
def test_a_rigid_pendulum_of_three_links(pendulum: Swing, samples: int, method: str) -> None:
    assert faults_of(pendulum, samples, method) == ("", False)


def test_energy_exchanged_is_that_of_the_pendulum(pendulum: Swing) -> None:
    """It was 6e9 J: nearly parallel eigenvectors of motions that do not vibrate at all."""
    run = supple.simulate(pendulum.model, q0=pendulum.q0, duration=0.5, samples=20)
    energies = run.energies
    largest = max(float(np.ptp(part)) for part in energies.values())
    assert run.exchanged == pytest.approx(largest)
    assert run.notes["vibration"] == 0.0


@pytest.mark.parametrize(("seed", "method"), [(0, None), (0, "bdf"), (5, "rk4")])
def test_a_rocker_passes_its_dead_points(seed: int, method: str | None) -> None:
    """It was thrown back on its branch: 0.4 m off, energy lost, and complete without a word."""
    swing = random_four_bar(seed, flexible=False)
    assert swing.dead_points
    run = run_of(swing, 15, method)
    assert fault_of(swing, run) == ""
    assert run.notes["dead points"]
    assert run.closure.max() < 1e-9


def test_a_crank_that_turns_needs_no_help() -> None:
    swing = next(one for one in map(rigid_four_bar, range(20)) if not one.dead_points)
    assert faults_of(swing, 15, None) == ("", False)


def rigid_four_bar(seed: int) -> Swing:
    return random_four_bar(seed, flexible=False)


def test_a_law_that_runs_into_a_dead_point_ends_there() -> None:
    """A controller that overshoots: no effort of its joint leads on, so time and pose are told."""
    swing = rigid_four_bar(STRETCHES)
    a, b, c, d = swing.lengths[:4]
    furthest = float(np.arccos((a**2 + d**2 - (b + c) ** 2) / (2 * a * d)))  # stretched out
    goal = np.sign(swing.q0[0]) * (furthest - 0.15)
    with pytest.warns(supple.SimulationWarning, match="dead point"):
        run = supple.simulate(
            swing.model,
            controller=supple.JointPD(20.0, 0.0),
            trajectory=[goal],
            q0=swing.q0,
            duration=2.0,
            samples=40,
        )
    assert not run.complete
    assert "theta.driven" in run.message
    assert abs(abs(run.theta[-1, 0]) - furthest) < 0.15
