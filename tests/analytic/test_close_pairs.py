"""Natural frequencies that coincide or nearly do: two planes of bending with one stiffness or two.

A straight cantilever bends in its two planes as two planar cantilevers. Each of these has simple
roots, far apart: the second road to the pairs of the spatial one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple
from small_structures import Part, bar, build
from supple.kernels.roots import natural_frequencies
from supple.structure import structure_of

COUNT = 12
APART = [0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3]


@pytest.mark.parametrize("apart", APART)
@pytest.mark.parametrize("length", [0.35, 0.61, 1.0])
def test_two_planes_of_one_beam(length: float, apart: float) -> None:
    """Pairs are met where each plane has its own root, however near to one another they are."""
    beam = bar(length, theory="euler-bernoulli")
    beam = replace(beam, EI=(beam.EI[0], beam.EI[0] * (1 + apart)), GJ=np.inf, EA=np.inf)
    spatial = natural_frequencies(build([Part(beam)]).tree(), COUNT, 0, 1.0)

    planes = []
    for stiffness in beam.EI:
        planar = replace(beam, EI=(stiffness, np.inf))
        tree = build([Part(planar)], planar=True).tree()
        planes.append(natural_frequencies(tree, COUNT // 2, 0, 1.0).omega[0])
    expected = np.sort(np.concatenate(planes))

    assert (spatial.width < 1e-10).all()
    assert (np.diff(spatial.omega[0]) >= 0).all()
    assert (np.abs(spatial.omega[0] / expected - 1) <= spatial.width[0]).all()


def test_pairs_cost_little_more_than_simple_roots() -> None:
    """A sliding link with equal planes: ten modes in pairs, in half of the looks of before."""
    structure = structure_of(
        supple.load("theodore-rrp"),
        np.column_stack([np.zeros(64), np.zeros(64), np.linspace(0.35, 0.95, 64)]),
    )
    guess = structure.known_numbers.guess
    found = natural_frequencies(structure.tree(), 10, 0, guess)
    assert np.median(found.evaluations) < 130  # 261 before pairs were looked for as pairs
    lower = found.omega[:, ::2]
    upper = found.omega[:, 1::2]
    assert (upper / lower - 1 <= found.width[:, ::2]).all()
