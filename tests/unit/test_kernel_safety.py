"""The compiled kernel checks what it is given, and counts nothing that is not finite."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import supple
from supple.kernels import _exact
from supple.kernels.roots import BeamTree, count_below, natural_frequencies
from supple.structure import structure_of


def tree(name="industrial-3", at=((0, 0.5, 1.0), (0, 1.0, 0.2)), joints="locked"):
    return structure_of(supple.load(name), at, joints).tree()


def delta():
    return tree("kuo-delta", ((0, 0, 0.5), (0.1, 0, 0.6)))


TABLES = [field.name for field in fields(BeamTree)]
WRONG = {
    "a parent far away": {"parents": [-1, 0, 2_000_000]},
    "a parent that comes later": {"parents": [1, 0, 1]},
    "its own parent": {"parents": [-1, 1, 1]},
    "a parent below the ground": {"parents": [-1, 0, -2]},
    "slices that fall": {"start": [0, 2, 1, 0]},
    "slices of nothing": {"start": [0, 0, 0, 7]},
    "a segment too few": {"parents": [-1, 0]},
}


@pytest.mark.parametrize("name", WRONG)
def test_malformed_trees_are_refused_twice(name):
    good = tree(joints="free")
    changed = {k: np.array(v, np.int32) for k, v in WRONG[name].items()}
    with pytest.raises(ValueError, match="BeamTree"):
        replace(good, **changed)
    refused_in_c(good, changed)


def refused_in_c(good, changed, *more):
    """The compiled side refuses the same without the help of BeamTree."""
    for key, value in changed.items():
        object.__setattr__(good, key, value)
    B = 2
    skip = np.zeros(B, np.int64)
    evals = np.zeros(B, np.int64)
    omega = np.zeros((B, 3))
    width = np.zeros((B, 3))
    with pytest.raises(ValueError, match="malformed structure"):
        _exact.solve(good.pack(), 3, skip, 1.0, 1e-9, omega, width, evals, 0)
    with pytest.raises(ValueError, match="malformed structure"):
        _exact.count(good.pack(), np.ones(B), evals, np.zeros(B), skip, 0.0)


@pytest.mark.parametrize("which", range(13))
@pytest.mark.parametrize("make", [tree, delta])
def test_a_table_of_another_size_is_refused(make, which):
    R, n, B, c, root, let, arrays = make().pack()
    for other in (lambda x: x[:0], lambda x: np.append(x, x[:1])):
        changed = other(arrays[which].ravel())
        if len(changed) == arrays[which].size:
            continue
        tables = (*arrays[:which], changed, *arrays[which + 1 :])
        with pytest.raises(ValueError, match="malformed structure"):
            _exact.count((R, n, B, c, root, let, tables), *np.zeros((4, B)), 0.0)


def test_sizes_are_bounded():
    packed = tree().pack()
    huge = 2**62
    for place in range(6):
        for size in (-1, 4, huge):
            wrong = (*packed[:place], size, *packed[place + 1 :])
            if wrong == packed:
                continue
            with pytest.raises(ValueError, match="malformed structure"):
                _exact.count(wrong, *np.zeros((4, 2)), 0.0)
    with pytest.raises(ValueError, match="thirteen"):
        _exact.count((*packed[:6], packed[6][:3]), *np.zeros((4, 2)), 0.0)


def test_answers_of_another_size_are_refused():
    packed = tree().pack()
    B = 2
    ints = np.zeros(B, np.int64)
    one = np.zeros((B, 3))
    for wrong in range(4):
        out = [ints, one, one.copy(), ints.copy()]
        out[wrong] = out[wrong][:1]
        with pytest.raises(ValueError, match="another size"):
            _exact.solve(packed, 3, out[0], 1.0, 1e-9, *out[1:], 0)
    for count, skip, guess, tolerance in (
        (0, 0, 1.0, 1e-9),
        (10**9, 0, 1.0, 1e-9),
        (3, 0, np.inf, 1e-9),
        (3, 0, np.nan, 1e-9),
        (3, -1, 1.0, 1e-9),
        (3, 0, 1.0, 0.0),
        (3, 0, 1.0, 1e-300),  # narrower than doubles are: it was looked for without end
    ):
        with pytest.raises(ValueError, match="must"):
            _exact.solve(packed, count, ints + skip, guess, tolerance, one, one, ints, 0)
    with pytest.raises(ValueError, match="ten numbers"):
        _exact.beam(np.zeros(9), 1.0, 1.0, np.zeros(144))


def test_arrays_of_objects_are_refused():
    """Numbers written over their pointers ended the process; so did what was read there."""
    R, n, B, c, root, let, arrays = tree().pack()
    packed = (R, n, B, c, root, let, arrays)
    ints = np.zeros(2, np.int64)
    one = np.zeros((2, 3))
    for wrong in range(4):
        out = [ints, one, one.copy(), ints.copy()]
        out[wrong] = out[wrong].astype(object)
        with pytest.raises(ValueError, match="doubles or integers"):
            _exact.solve(packed, 3, out[0], 1.0, 1e-9, *out[1:], 0)
    for which in range(13):
        changed = arrays[which].astype(object)
        tables = (*arrays[:which], changed, *arrays[which + 1 :])
        with pytest.raises(ValueError, match="doubles or integers"):
            _exact.count((R, n, B, c, root, let, tables), *np.zeros((4, B)), 0.0)
    with pytest.raises(ValueError, match="doubles or integers"):
        _exact.beam(np.zeros(10), 1.0, 1.0, np.zeros(144, object))


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("table", ["beams", "L", "T", "tip", "root", "releases"])
def test_what_is_not_finite_is_never_counted(table, poison):
    """A poisoned configuration is NaN or not certified; it neither hangs nor counts at random."""
    good = tree(joints="free")
    value = np.array(getattr(good, table), float)
    value[(0, 1, 0, 0) if table == "T" else (0,) * value.ndim] = poison  # the ground has no T
    wrong = replace(good, **{table: value})
    found = natural_frequencies(wrong, 3, 3, 1.0)
    J, m, _ = count_below(wrong, np.full(2, 50.0))
    assert ((J >= 0) <= np.isfinite(m)).all()
    if table in ("L", "T"):  # the neighbour does not notice
        clean = natural_frequencies(good, 3, 3, 1.0)
        assert np.array_equal(found.omega[1], clean.omega[1])
    if not np.isfinite(poison) and table in ("L", "T", "tip", "root"):
        assert np.isnan(found.omega[0]).all()
        assert J[0] == -1
