"""Exact modes held against finite elements on 2,000 random arms with fixed seeds.

For each arm: exact counts equal those of the elements below a frequency at which the mesh is
converged, which is judged by the mesh alone (n against 2 n elements); no root is missed or
repeated; frequencies of elements fall to the exact ones from above; Timoshenko <= Euler-Bernoulli
<= inextensible, mode by mode.
"""

import itertools
import math

import numpy as np
import pytest

from properties.random_arms import Arm, random_arm, with_theory
from supple.beams.dynamic_stiffness import wave_number
from supple.kernels.roots import Roots, count_below, natural_frequencies
from supple.structure import Structure, structure_of
from supple.studies.vibration.elements import ElementModes, element_modes

COUNT = 10  # modes looked at
CONVERGED = 1e-4  # relative change from n to 2 n elements up to which a mode counts as converged
ROUNDING = 1e-9  # relative, allowed where an inequality holds exactly
ARMS = 2000
BATCH = 25
QUICK = 2
BATCHES = [
    pytest.param(
        range(at, at + BATCH),
        marks=[]
        if at < QUICK * BATCH
        else [pytest.mark.slow if at < ARMS // 2 else pytest.mark.soak],
    )
    for at in range(0, ARMS, BATCH)
]
each_batch = pytest.mark.parametrize("seeds", BATCHES, ids=lambda r: f"{r.start}-{r.stop - 1}")


@each_batch
def test_counts_roots_and_bounds(seeds: range) -> None:
    for seed in seeds:
        arm = random_arm(seed)
        structure = structure_of(arm.robot, arm.theta)
        coarse, fine = two_meshes(structure)
        good = converged(coarse, fine)
        assert good >= 3, f"arm {seed}: only {good} modes converged, refine the mesh"
        roots = natural_frequencies(structure.tree(), good, 0, 1.0)
        assert not (fault := wrong_counts(structure, fine[:good])), f"arm {seed}: {fault}"
        assert not (fault := wrong_roots(structure, roots)), f"arm {seed}: {fault}"
        exact = roots.omega[0]
        allowed = 1 - ROUNDING
        assert (fine[:good] >= exact * allowed).all(), f"arm {seed}: elements from below"
        assert (coarse[:good] >= fine[:good] * allowed).all(), f"arm {seed}: finer mesh is higher"
        change = np.maximum(coarse[:good] - fine[:good], ROUNDING * exact)
        assert (fine[:good] - exact <= change).all(), f"arm {seed}: does not fall to the exact ones"


@each_batch
def test_stiffer_theories_ring_higher(seeds: range) -> None:
    """Timoshenko <= Euler-Bernoulli (shear locked, rotary inertia gone) <= inextensible."""
    for seed in seeds:
        arm = random_arm(seed)
        low, middle, high = (
            exact(arm, theory) for theory in ("timoshenko", "euler-bernoulli", "inextensible")
        )
        assert (low <= middle * (1 + ROUNDING)).all(), f"arm {seed}"
        assert (middle <= high * (1 + ROUNDING)).all(), f"arm {seed}"


@pytest.mark.parametrize("seed", range(40))
def test_free_joints(seed: int) -> None:
    """Motors let go, behind their springs or not: rigid modes counted, elastic ones as above."""
    arm = random_arm(seed, links=1 + seed % 4)
    structure = structure_of(arm.robot, arm.theta, joints="free")
    coarse, fine = (element_modes(structure, 6, n, "quintic") for n in (4, 8))
    assert fine.rigid == structure.rigid_modes
    roots = natural_frequencies(structure.tree(), 6, fine.rigid, 1.0)
    good = converged(coarse.omega, fine.omega)
    assert good >= 2
    assert (fine.omega[:good] >= roots.omega[0][:good] * (1 - ROUNDING)).all()
    assert fine.omega[:good] == pytest.approx(roots.omega[0][:good], rel=CONVERGED)
    assert not wrong_roots(structure, roots, fine.rigid)


def two_meshes(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of n and 2 n elements, n by link: one element a wave at the highest mode."""
    first = solved(structure, 3)
    top = first.omega[-1]
    n = [
        min(1 + math.floor(wave_number(s.beam, top) * L / (1.5 * math.pi)), 8)
        for s, L in zip(structure.segments, structure.L[0], strict=True)
    ]
    coarse = solved(structure, n)
    fine = element_modes(structure, len(coarse.omega), [2 * k for k in n], "quintic")
    return coarse.omega, fine.omega


def solved(structure: Structure, n: int | list[int]) -> ElementModes:
    """As many modes as asked, or as the mesh has coordinates for."""
    each = [n] * len(structure.segments) if isinstance(n, int) else n
    few = 3 * sum(k for k, s in zip(each, structure.segments, strict=True) if not s.beam.rigid)
    return element_modes(structure, min(COUNT, few), each, "quintic")


def converged(coarse: np.ndarray, fine: np.ndarray) -> int:
    """How many modes, from the lowest on, the finer mesh hardly changes."""
    changed = coarse / fine - 1 > CONVERGED
    return int(np.argmax(changed)) if changed.any() else len(fine)


def wrong_counts(structure: Structure, omega: np.ndarray) -> str:
    """Compare counts in every gap below a converged mode that is wider than the uncertainty."""
    for k, (low, high) in enumerate(itertools.pairwise([0.0, *omega])):
        J = counted(structure, (low + high) / 2)
        if high - low > 4 * CONVERGED * high and k != J:
            return f"{k} modes of elements but {J} exact ones below {(low + high) / 2:.9g} rad/s"
    return ""


def wrong_roots(structure: Structure, roots: Roots, rigid: int = 0) -> str:
    """Just below root k there must be at most k - 1 roots, and just above it at least k."""
    omega = roots.omega[0]
    if (np.diff(omega) < -1e-11 * omega[1:]).any():
        return "roots are not ascending"
    for k, root in enumerate(omega):
        below, above = (counted(structure, root * (1 + s)) - rigid for s in (-1e-9, 1e-9))
        if below > k or above < k + 1:
            return f"root {k + 1} at {root:.12g} rad/s: {below} below it and {above} with it"
    return ""


def counted(structure: Structure, omega: float) -> int:
    return int(count_below(structure.tree(), np.array([omega]))[0][0])


def exact(arm: Arm, theory: str) -> np.ndarray:
    structure = structure_of(with_theory(arm.robot, theory), arm.theta)
    return natural_frequencies(structure.tree(), COUNT, 0, 1.0).omega[0]
