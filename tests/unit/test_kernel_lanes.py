"""The same bits at every width of the kernel, in a batch and alone."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.kernels import _exact
from supple.kernels.roots import natural_frequencies
from supple.structure import structure_of

ARMS = np.random.default_rng(3).uniform(-3, 3, (11, 3))
PLACES = [[0, 0, 0.6], [0.1, 0.05, 0.5], [0, 0.1, 0.6], [-0.1, 0, 0.55], [0.02, 0.02, 0.7]]
SLIDES = [[0, 0, 0.5], [0.3, 0.2, 0.7], [0.1, 0, 1.0], [0, 0.4, 0.6], [1, 1, 0.9]]
LEGS = 0.375 + np.random.default_rng(4).uniform(-0.03, 0.03, (5, 6))
CASES = {
    "an arm": ("industrial-3", ARMS, "locked"),
    "free joints": ("industrial-3", ARMS, "free"),
    "a Delta": ("kuo-delta", PLACES, "locked"),
    "a free Delta": ("kuo-delta", PLACES, "free"),
    "lengths that differ": ("theodore-rrp", SLIDES, "locked"),
    "legs that slide": ("hexapod", LEGS, "locked"),
    "a loop in space": ("scara-parallel", None, "free"),
}


@pytest.mark.parametrize("name", CASES)
def test_neither_width_nor_neighbours_change_a_bit(name: str) -> None:
    robot, at, joints = CASES[name]
    structure = structure_of(supple.load(robot), at, joints)
    tree = structure.tree()
    skip = structure.rigid_modes
    widths = [lanes for lanes in (1, 2, 4, 8) if lanes <= _exact.LANES]
    one, *others = (natural_frequencies(tree, 6, skip, 1.0, lanes=n) for n in (*widths, 0))
    assert np.isfinite(one.omega).all()
    for other in others:
        assert np.array_equal(other.omega, one.omega)
        assert np.array_equal(other.width, one.width)
    for b in range(structure.size):
        alone = natural_frequencies(structure.at(b).tree(), 6, skip[b], 1.0)
        assert np.array_equal(alone.omega[0], one.omega[b])
        assert np.array_equal(alone.width[0], one.width[b])


def test_a_width_that_the_processor_has_not_is_refused() -> None:
    tree = structure_of(supple.load("industrial-3"), ARMS, "locked").tree()
    for lanes in (-1, 3, 2 * _exact.LANES):
        with pytest.raises(ValueError, match="no more than this processor has"):
            natural_frequencies(tree, 6, 0, 1.0, lanes=lanes)


def test_many_modes_cost_as_many_times_one() -> None:
    """Shear waves are on the grid, so that it is not too coarse above the first cut-off."""
    structure = structure_of(supple.load("industrial-3"), ARMS, "locked")
    tree = structure.tree()
    guess = structure.known_numbers.guess
    few, many = (natural_frequencies(tree, n, 0, guess).evaluations.mean() / n for n in (10, 100))
    assert many < 1.1 * few
    assert many < 9
