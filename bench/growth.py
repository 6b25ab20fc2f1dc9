"""How the cost of exact modes grows with the number of links.

Alike links share the work of one beam a frequency, so arms of alike and of all-different links are
timed apart. A fitted exponent of 1 is linear growth; the fixed cost of a call pulls it below.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import supple
from supple.kernels.roots import natural_frequencies
from supple.structure import structure_of

from .arms import plain, poses
from .report import Check, Goal, Report, rows_of
from .scipy_beams import ScipyArm
from .timing import Contestant, Timing, measure

__all__ = ["BENCHES"]

LINKS = (1, 2, 3, 6, 12, 25, 50)
QUICK_LINKS = (1, 2, 3, 6, 12)
SHORT = 6  # links up to which the peer's spectral elements confirm the answer
BATCH, QUICK_BATCH = 500, 100  # the same for every arm: a call's own cost is shared alike
SLOPE = 1.1  # what is called linear, in view of caches and a busy machine


def arm(n: int, alike: bool) -> supple.SerialRobot:
    """Return a planar arm of n links; else lengths and sections differ from link to link."""
    spread = np.zeros(n) if alike else np.random.default_rng(7).uniform(-0.2, 0.2, n)
    aluminium = supple.Material(young_modulus=70e9, poisson_ratio=0.34, density=2700)
    links = tuple(
        supple.Link(
            name=f"link{i + 1}",
            joint=supple.Joint(),
            length=0.5 * (1 + s),
            material=aluminium,
            section=supple.Rectangle(depth=0.05 * (1 - s), width=0.06 * (1 + s)),
            tip=supple.Body(mass=2.0 * (1 + s), inertia=(0.01,)),
        )
        for i, s in enumerate(spread)
    )
    return supple.SerialRobot(name=f"chain-{n}", planar=True, links=links)


def exponent(links: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log links, by least squares."""
    return float(np.polyfit(np.log(links), np.log(seconds), 1)[0])


def kernel(robot: supple.SerialRobot, thetas: np.ndarray) -> Contestant:
    """The compiled search alone, a unit being one evaluation of K(omega) and its count."""
    structure = structure_of(robot, thetas)
    tree = structure.tree()
    guess = 100.0
    evaluations = int(natural_frequencies(tree, 10, 0, guess).evaluations.sum())
    return Contestant(lambda: natural_frequencies(tree, 10, 0, guess), evaluations)


def bench(quick: bool, alike: bool) -> Report:
    """Time every number of links; all of them take turns in each round."""
    numbers = QUICK_LINKS if quick else LINKS
    robots = {n: arm(n, alike) for n in numbers}
    thetas = {n: poses(n, QUICK_BATCH if quick else BATCH) for n in numbers}
    batches = {
        n: Contestant(lambda n=n: supple.modes(robots[n], thetas[n]), len(thetas[n]))
        for n in numbers
    }
    whole, answers = measure({f"{n} links": batches[n] for n in numbers}, 3 if quick else 5)
    kernels = {n: kernel(robots[n], thetas[n]) for n in numbers}
    single, _ = measure({f"{n} links": kernels[n] for n in numbers}, 3 if quick else 5)
    found = {n: answers[f"{n} links"] for n in numbers}
    more = {
        f"{n} links": {
            "an evaluation": f"{1e9 * single[f'{n} links'].seconds:.0f} ns",
            "evaluations": f"{kernels[n].units / len(thetas[n]):.0f}",
        }
        for n in numbers
    }
    return Report(
        f"Growth with the number of {'alike' if alike else 'all-different'} links, 10 modes, batch",
        "configuration",
        rows_of(whole, more=more, data=_data(single)),
        _goals(numbers, whole, single),
        _checks(robots, thetas, found),
        ["ratio to one link; linear growth has exponent 1; fixed costs pull it below"],
    )


def _data(single: dict[str, Timing]) -> dict[str, dict[str, float]]:
    return {
        name: {"seconds_per_evaluation": timing.seconds, "size": int(name.split()[0])}
        for name, timing in single.items()
    }


def _goals(
    numbers: Sequence[int], whole: dict[str, Timing], single: dict[str, Timing]
) -> list[Goal]:
    """Exponents over all numbers of links, and over the larger ones, where fixed costs are gone."""
    goals = []
    for what, timings in (("evaluation", single), ("configuration", whole)):
        for least in (1, 6):
            some = [n for n in numbers if n >= least]
            if len(some) < 3:
                continue  # two points make no fit
            slope = exponent(some, [timings[f"{n} links"].seconds for n in some])
            text = f"exponent of the time a {what}, {least} to {some[-1]} links"
            goals.append(Goal(text.replace("a evaluation", "an evaluation"), SLOPE, slope, False))
    return goals


def _checks(
    robots: dict[int, supple.SerialRobot],
    thetas: dict[int, np.ndarray],
    found: dict[int, supple.Modes],
) -> list[Check]:
    """Short arms against the peer's spectral elements, long ones against our quintic elements.

    On long arms the peer's absolute coordinates lose digits of the first mode to rounding.
    """
    width = max(float(modes.width.max()) for modes in found.values())
    errors = {n: abs(_other(robots[n], thetas[n][0]) / found[n].omega[0] - 1).max() for n in robots}
    short = max(error for n, error in errors.items() if n <= SHORT)
    long = max((error for n, error in errors.items() if n > SHORT), default=0.0)
    return [
        Check(f"certified to {width:.0e}", width <= 1e-9),
        Check(f"spectral elements agree to {short:.0e}, up to {SHORT} links", short <= 1e-8),
        Check(f"quintic elements agree to {long:.0e}, more links", long <= 1e-6),
    ]


def _other(robot: supple.SerialRobot, theta: np.ndarray) -> np.ndarray:
    """The same frequencies by elements; fewer links share the ten modes, so each needs more."""
    n = len(robot.links)
    if n <= SHORT:
        return ScipyArm(plain(robot), degree=12 + 24 // n).omega(theta)
    return supple.modes(robot, theta, method="elements", elements=2, order="quintic").omega


BENCHES = {
    "growth-alike": lambda quick: bench(quick, alike=True),
    "growth-different": lambda quick: bench(quick, alike=False),
}
