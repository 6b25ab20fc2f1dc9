"""Evaluators: arrays that are lent live as long as the evaluator does."""

import gc

import numpy as np

from supple import AssumedModes, build, load


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
