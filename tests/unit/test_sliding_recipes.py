"""Integrals of a sliding link in symbols: written once, equal to the numbers, kept by a pickle."""

import pickle
from dataclasses import fields

import casadi as ca
import numpy as np
import pytest

import supple
from supple.beams.basis import AssumedModes, FiniteElements
from supple.beams.sliding import integrals as room
from supple.beams.sliding.integrals import integrals
from supple.beams.sliding.rates import Rate
from supple.equations.build import build

ROBOT = supple.load("theodore-rrp")


def leaves(x):
    if isinstance(x, Rate):
        return [y for part in (x.value, x.first, x.second) for y in leaves(part)]
    return [y for one in x for y in leaves(one)] if isinstance(x, list) else [x]


def flat(found):
    return [y for f in fields(found) for y in leaves(getattr(found, f.name))]


@pytest.mark.parametrize("stiffening", [False, True])
@pytest.mark.parametrize("basis", [AssumedModes(2), FiniteElements(2, "quintic", modes=1)], ids=str)
def test_expressions_are_the_numbers(basis, stiffening, monkeypatch):
    (shapes,) = (one.slide for one in build(ROBOT, basis).chain.links if one.slide is not None)
    l = ca.SX.sym("l")
    integrals(shapes, 2 * l, stiffening=stiffening)
    monkeypatch.setattr(room, "_integrals", lambda *_: pytest.fail("written a second time"))
    again = flat(integrals(pickle.loads(pickle.dumps(shapes)), l, stiffening=stiffening))
    monkeypatch.undo()
    at = ca.Function("at", [l], [ca.vertcat(*again)])
    numbers = [float(x) for x in flat(integrals(shapes, 0.7, stiffening=stiffening))]
    np.testing.assert_allclose(np.array(at(0.7)).ravel(), numbers, rtol=1e-12, atol=1e-14)
    floats = [isinstance(x, float) and x == 0.0 for x in again]
    assert sum(floats) > 0  # what is absent by structure stays a plain zero
