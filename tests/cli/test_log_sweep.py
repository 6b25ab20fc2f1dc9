"""Ranges over decades on the command line."""

import numpy as np
import pytest

import supple
from supple.cli.design.sweep import parse_over


def test_a_logarithmic_range():
    key, values = parse_over("links.link1.joint.stiffness=1:1e11:35:log")
    assert key == "links.link1.joint.stiffness"
    assert np.allclose(values, np.logspace(0, 11, 35), rtol=1e-12)
    assert (values[0], values[-1]) == (1.0, 1e11)
    assert parse_over("a=5:7:1:log")[1] == [5.0]


@pytest.mark.parametrize("text", ["a=0:10:5:log", "a=-1:10:5:log", "a=1:10:5:logs", "a=1:2:x:log"])
def test_bad_ranges(text):
    with pytest.raises(supple.SuppleError, match="log"):
        parse_over(text)
