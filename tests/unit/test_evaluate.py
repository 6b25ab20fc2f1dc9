"""Evaluators: arrays that are lent live as long as the evaluator does."""

import gc

import casadi as ca
import numpy as np

from supple import AssumedModes, build, load
from supple.equations.evaluate import Evaluator, TapeEvaluator, evaluator_on_tape


def test_lent_arrays_outlive_the_names_they_were_given() -> None:
    model = build(load("industrial-3"), AssumedModes(1))

    def bound():
        inputs, outputs, run = model.functions.evaluator("forward_dynamics").buffers()
        for array in inputs:
            array[:] = 0.1
        return outputs[0], run

    out, run = bound()
    gc.collect()
    waste = [np.full(n, np.nan) for n in range(1, 40) for _ in range(20)]
    run()
    wanted = model.forward_dynamics(*(np.full(n, 0.1) for n in (model.size, model.size, 3)))
    np.testing.assert_array_equal(out, wanted)
    assert waste


def test_tape_of_a_function_equals_the_function_itself() -> None:
    """A function that calls another, its matrices by rows, at one state and at many."""
    x = ca.SX.sym("x", 2)
    inner = ca.Function("inner", [x], [ca.vertcat(x[0] * x[1], ca.sin(x[0]), x[1])])
    q = ca.MX.sym("q", 2)
    w = ca.MX.sym("w", 3)
    parts = [ca.densify(ca.jacobian(inner(q), q)), inner(q) + w, ca.mtimes(w, inner(q).T), w[0]]
    function = ca.Function("whole", [q, w], parts)
    on_tape = evaluator_on_tape(function, (3,))
    assert isinstance(on_tape, TapeEvaluator)
    plain = Evaluator(function, (3,))
    rng = np.random.default_rng(0)
    for lead in ((), (1,), (7,)):
        states = rng.normal(size=(*lead, 2)), rng.normal(size=(*lead, 3))
        for mine, theirs in zip(on_tape(*states), plain(*states), strict=True):
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-14, atol=1e-15)


def test_function_that_a_tape_cannot_hold_is_called_as_it_is() -> None:
    """A solver inside has no expression of scalars."""
    A = ca.MX.sym("A", 4)
    b = ca.MX.sym("b", 2)
    solved = ca.Function("solved", [A, b], [ca.solve(ca.reshape(A, 2, 2), b, "qr")])
    found = evaluator_on_tape(solved)
    assert isinstance(found, Evaluator)
    np.testing.assert_allclose(found(np.array([2.0, 0, 0, 4]), np.ones(2))[0], [0.5, 0.25])
