"""Intervals cover as they say: 200 seeded experiments of each kind, truth by other elements."""

import numpy as np
import pytest

import measured
import supple

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("kind", ["frequencies", "statics", "motion", "response"])
def test_coverage_and_deviations(kind):
    inside = []
    errors = []
    deviations = []
    for seed in range(200):
        found, truth = measured.experiment(kind, seed)
        for path, value in truth.items():
            low, high = found.interval(path, 0.95, profile=False)
            inside.append(low <= value <= high)
        errors.append([found.values[path] - value for path, value in truth.items()])
        deviations.append([found.std[path] for path in truth])
    assert 0.93 <= np.mean(inside) <= 0.97
    scatter = np.std(errors, axis=0) / np.mean(deviations, axis=0)
    assert (np.abs(scatter - 1) < 0.2).all()


def test_pairs_are_right():
    """A quarter of the lines missing, two foreign ones, no mode numbers."""
    for seed in range(200):
        table, mode = measured.frequencies(seed, numbered=False, missing=0.25, foreign=2)
        found = supple.identify(measured.arm(), table, list(measured.FREE))
        assert np.array_equal(found.pairs, mode), seed
