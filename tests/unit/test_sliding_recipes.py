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
from supple.equations.chains.forces import elastic

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


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("stiffening", [False, True])
def test_tables_say_what_the_formulas_say(theory: str, stiffening: bool) -> None:
    """On tapes and in CasADi from tables, in floats by the formulas: from end to end of a beam."""
    steel = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
    boom = {"name": "boom", "joint": {"type": "prismatic"}, "length": 2.0, "theory": theory}
    boom |= {"material": steel, "section": {"shape": "rectangle", "depth": 0.1, "width": 0.06}}
    links = [{"name": "hub", "joint": {}, "length": 0.2, "theory": "rigid"}, boom]
    links[0]["body"] = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    robot = supple.SerialRobot.model_validate({"name": "crane", "links": links})
    model = supple.build(robot, supple.AssumedModes(2), stiffening=stiffening)
    laws = model.functions.laws
    n = model.size
    rng = np.random.default_rng(2)
    for l in (2.0, 0.02, *(2.0 * rng.uniform(0.01, 1.0, 4))):
        q = 0.01 * rng.normal(size=n)
        qd = 0.1 * rng.normal(size=n)
        q[1] = l
        wanted = [laws.mass(q.tolist()), laws.inverse(q.tolist(), qd.tolist(), [0.0] * n, False)]
        wanted.append(elastic(laws, q.tolist()))
        names = {"mass_matrix": (q,), "bias": (q, qd), "elastic": (q,)}
        for right, (name, at) in zip(wanted, names.items(), strict=True):
            size = np.abs(right).max()
            for found in (model.functions.evaluator(name), model.functions.expression(name)):
                near = np.squeeze(np.array(found(*at), float))
                np.testing.assert_allclose(near, right, rtol=0, atol=1e-11 * size, err_msg=name)


def test_a_table_goes_on_beyond_the_ends_of_the_beam() -> None:
    """A run looks where it is only now and then: numbers there are those of the ends."""
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
    q = np.array([[0.1, 0.2, l, 1e-3, 0, 1e-3, 0] for l in (1.3, 1.301, 0.013, 0.0, -0.1)])
    found = model.functions.evaluator("elastic")(q)[0][:, 3:]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)
    np.testing.assert_allclose(found[3:], found[[2, 2]], rtol=1e-12)
