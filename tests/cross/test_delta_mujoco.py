"""Frequencies of the Delta beside MuJoCo's: the same robot as chains of short sprung pieces."""

import numpy as np
import pytest

import supple
from supple.beams.basis import FiniteElements
from supple.equations.damping import Damping

pytest.importorskip("mujoco")

from cross.delta_mujoco import follow_path, frequencies

ROBOT = supple.load("kuo-delta")


@pytest.mark.parametrize("position", [(0.1, 0.0, 0.5), (-0.05, 0.12, 0.62)])
def test_first_six_frequencies(position: tuple[float, float, float]) -> None:
    """Within 1 % at 4 pieces a link, and a quarter of the error with each halving."""
    exact = supple.modes(ROBOT, position=position, count=6).omega
    errors = np.array([frequencies(ROBOT, np.array(position), n) / exact - 1 for n in (4, 8, 16)])
    assert np.abs(errors[0]).max() < 0.01
    ratios = errors[:-1] / errors[1:]
    assert ratios == pytest.approx(np.full_like(ratios, 4.0), rel=0.1)  # second order


class ByStiffness(Damping):
    """D = beta K, as MuJoCo's hinges have it."""

    def matrix(self, i, inv, ratio):
        return 1e-2 * inv.K


def off_by(found: np.ndarray, t: np.ndarray, wanted: np.ndarray, times: np.ndarray) -> float:
    """Largest difference over the peak."""
    rows = np.searchsorted(times, t - 1e-9)
    return float(np.abs(wanted[rows] - found).max() / np.abs(found).max())


@pytest.mark.slow
def test_inverted_u_of_small_motion() -> None:
    """Kineto-elasto motion of a robot ten times as stiff: within 3 % of its peak, and improving."""
    steel = "materials.steel."
    robot = ROBOT.with_({f"{steel}young_modulus": 210e10, f"{steel}shear_modulus": 80e10})
    path = supple.InvertedU()
    ours = supple.follow(robot, path, damping=supple.Proportional(0.0, 2e-3))
    assert ours.small
    off = []
    for n in (3, 6):
        times, theirs = follow_path(robot, path, n, 2e-3)
        off.append(off_by(ours.moved[:, :3], ours.t, theirs, times))
    assert off[1] < 0.03
    assert off[1] < off[0] / 2


@pytest.mark.slow
def test_inverted_u_of_large_motion() -> None:
    """Coupled motion of the paper's soft robot, bent by 0.2 rad: within 3 % of its peak."""
    path = supple.InvertedU()
    model = supple.build(ROBOT, FiniteElements(2), damping=ByStiffness())
    law = supple.Decoupling()  # started on the path it holds the motors to it, as MuJoCo's do
    ours = supple.simulate(model, controller=law, path=path, q0="static", dt=2e-3)
    moved = ours.position - path(ours.t)[0]
    times, theirs = follow_path(ROBOT, path, 8, 1e-2)
    assert off_by(moved, ours.t, theirs, times) < 0.03


@pytest.mark.slow
def test_parallelograms_by_mujoco_alone() -> None:
    """MuJoCo's own integrator and soft closures, four pieces a link: within 3 % of the peak."""
    from bench.delta_mujoco import MujocoDelta

    steel = "materials.steel."
    robot = ROBOT.with_(
        {
            f"{steel}young_modulus": 210e10,
            f"{steel}shear_modulus": 80e10,
            "lower.rods": "parallelogram",
            "lower.spacing": 0.08,
        }
    )
    path = supple.InvertedU()
    ours = supple.follow(robot, path, damping=supple.Proportional(0.0, 2e-3))
    times, theirs = MujocoDelta(robot, path, 4, 2e-3, 2e-4).run()
    assert off_by(ours.moved[1:, :3], ours.t[1:], theirs, times) < 0.03
