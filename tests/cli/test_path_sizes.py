"""Paths with sizes of their own on the command line."""

import numpy as np
import pytest

import supple
from supple.cli.motion.paths import path_of


def test_sizes_of_paths():
    delta = supple.load("kuo-delta")
    arm = supple.load("de-luca-two-link")
    circle = path_of(delta, "circle:centre=0,0,0.6:radius=0.05:period=0.8", "1,1")
    assert circle == supple.CirclePath((0, 0, 0.6), 0.05, 0.8)
    lifted = path_of(delta, "inverted-u:move=0.1,0,0.1:law=septic", "1,1")
    assert lifted == supple.InvertedU(move=(0.1, 0, 0.1))
    blends = path_of(arm, "blends:start=0,0:end=30deg,0.5:duration=2", "1,1")
    assert np.allclose(blends.at(2.0)[0], [np.pi / 6, 0.5])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("circle:size=3", "size=3"),
        ("square:side=3", "must begin"),
        ("circle:radius=1,2", "one number"),
        ("circle:radius=x", "--path"),
        ("blends:start=0,0", "give end"),
    ],
)
def test_bad_sizes(text, words):
    with pytest.raises(supple.SuppleError, match=words):
        path_of(supple.load("kuo-delta"), text, "1,1")
