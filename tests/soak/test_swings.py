"""A hundred robots that fall: rigid and flexible arms, four-bar linkages that rock or turn.

Few and many samples, every stepper: energy and state against an independent integrator, or a
warning. Prints how many runs were tried, how many warned and what was found.
"""

from collections.abc import Callable

import pytest

from properties.random_swings import Swing, random_four_bar, random_serial
from properties.test_swings import STEPPERS, faults_of
from soak.figures import Figures

SETS: dict[str, tuple[Callable[[int], Swing], int]] = {
    "rigid-arms": (lambda seed: random_serial(seed, flexible=False), 35),
    "flexible-arms": (lambda seed: random_serial(seed, flexible=True), 20),
    "rigid-four-bars": (lambda seed: random_four_bar(seed, flexible=False), 35),
    "flexible-four-bars": (lambda seed: random_four_bar(seed, flexible=True), 10),
}


@pytest.mark.soak
@pytest.mark.parametrize("method", STEPPERS, ids=str)
@pytest.mark.parametrize("kind", SETS)
def test_swings(kind: str, method: str | None, figures: Figures) -> None:
    make, count = SETS[kind]
    warned = 0
    for seed in range(count):
        swing = make(seed)
        for samples in (12, 400):
            fault, told = faults_of(swing, samples, method)
            warned += told
            if fault:
                figures.found(fault, AssertionError(fault))
            else:
                figures.tried()
    print(f"{kind}, {method}: {warned} of {2 * count} runs warned")
    figures.close()
