"""Slopes of loops put together from their parts against those through the whole equations."""

import numpy as np
import pytest

import supple
from supple.equations.closed.coupled import ClosedFunctions
from supple.equations.evaluate import Evaluator, casadi, slope


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "kuo-delta", "scara-parallel"])
def test_slopes_are_those_of_the_inverse_dynamics(name: str) -> None:
    """In motion and at rest: derivatives through Newton's method say the same."""
    model = supple.build(supple.load(name), supple.AssumedModes(1))
    functions = model.functions
    n = model.size
    assert isinstance(functions, ClosedFunctions)
    random = np.random.default_rng(3)
    q = model.chain.pose() + 1e-4 * random.normal(size=n)
    qd, qdd = random.normal(size=(2, n)) * [[0.5], [5.0]]
    whole = functions.expression("inverse_dynamics")
    near = functions.followers(q)
    by_q, by_qd, M, p, axes, R, r = functions.evaluator("slopes", near=True)(q, qd, qdd, near)
    for found, k in ((by_q, 0), (by_qd, 1), (M, 2)):
        wanted = Evaluator(slope(whole, k), True)(q, qd, qdd)[0]
        assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
    assert r == pytest.approx(model.inverse_dynamics(q, qd, qdd), rel=1e-12, abs=1e-12)
    tip = functions.expression("tip")
    x = casadi().MX.sym("x", n)
    turned = casadi().Function("axes", [x], [casadi().vec(tip(x)[1])])
    for found, function in ((p, tip), (axes, turned)):
        wanted = Evaluator(slope(function, 0), True)(q)[0]
        assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
    assert np.abs(R - functions.evaluator("tip")(q)[1]).max() < 1e-14
    still = np.zeros(n)
    held = functions.evaluator("hold", near=True)(q, near)[0]
    wanted = Evaluator(slope(whole, 0), True)(q, still, still)[0]
    assert np.abs(held - wanted).max() <= 1e-11 * np.abs(wanted).max()


def test_legs_that_are_alike_share_their_functions() -> None:
    """Five legs of the hexapod are one part; the sixth carries the platform."""
    model = supple.build(supple.load("hexapod"), supple.AssumedModes(1))
    assert isinstance(model.functions, ClosedFunctions)
    limbs = model.functions.loops.symbolic_tree.limbs
    assert len(limbs) == 6
    assert len({id(limb.part) for limb in limbs}) == 2
    slides = {id(link.slide) for link in model.chain.links if link.slide is not None}
    assert len(slides) == 1
