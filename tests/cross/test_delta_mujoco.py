"""Frequencies of the Delta beside MuJoCo's: the same robot as chains of short sprung pieces."""

import numpy as np
import pytest

import supple

pytest.importorskip("mujoco")

from cross.delta_mujoco import frequencies

ROBOT = supple.load("kuo-delta")


@pytest.mark.parametrize("position", [(0.1, 0.0, 0.5), (-0.05, 0.12, 0.62)])
def test_first_six_frequencies(position: tuple[float, float, float]) -> None:
    """Within 1 % at 4 pieces a link, and a quarter of the error with each halving."""
    exact = supple.modes(ROBOT, position=position, count=6).omega
    errors = np.array([frequencies(ROBOT, np.array(position), n) / exact - 1 for n in (4, 8, 16)])
    assert np.abs(errors[0]).max() < 0.01
    ratios = errors[:-1] / errors[1:]
    assert ratios == pytest.approx(np.full_like(ratios, 4.0), rel=0.1)  # second order
