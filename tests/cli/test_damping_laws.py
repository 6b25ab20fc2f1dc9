"""Damping laws on the command line: the same answers as from Python, and sentences."""

import json

import numpy as np
import pytest

import supple
from cli.console import Console
from supple.cli.motion.damping import link_damping_law, path_damping_law

CIRCLE = "circle:centre=0,0,0.6:radius=0.05:period=0.8"


def test_laws_along_a_path():
    assert path_damping_law("0.02") == path_damping_law("2%") == 0.02
    law = supple.Proportional(0.3, 2e-4)
    for text in ("rayleigh:alpha=0.3:beta=2e-4", "rayleigh:alpha=0.3/s:beta=0.2ms"):
        assert path_damping_law(text) == law
    assert path_damping_law("rayleigh:ratio=5%:second=3") == supple.Rayleigh(0.05, 1, 3)


def test_laws_of_links():
    assert link_damping_law("0.02") == 0.02
    assert link_damping_law("0.02,0.01") == supple.ModalDamping([0.02, 0.01])
    assert link_damping_law("stiffness-root:factor=0.2") == supple.StiffnessRoot(0.2)
    assert link_damping_law(None) is path_damping_law(None) is None


def test_a_path_with_rayleighs_damping_is_that_of_python(console: Console):
    given = ("--path", CIRCLE, "--damping", "rayleigh:alpha=0.3:beta=0.2ms", "--elements", "1")
    answer = json.loads(console("simulate", "kuo-delta", *given, "--dt", "0.01", "--json").out)
    path = supple.CirclePath((0, 0, 0.6), 0.05, 0.8)
    law = supple.Proportional(0.3, 2e-4)
    found = supple.follow("kuo-delta", path, elements=1, dt=0.01, damping=law, after=0.4)
    np.testing.assert_allclose(answer["displacement"], found.moved[:, :3], rtol=0, atol=1e-12)
    # zeta = (alpha / w + beta w) / 2 of every mode, in closed form
    w = supple.modes("kuo-delta", position=path(0.0)[0], count=2).omega
    np.testing.assert_allclose(found.damping_ratios[:2], (0.3 / w + 2e-4 * w) / 2, rtol=5e-2)


def test_a_linearised_model_with_a_law_is_that_of_python(console: Console):
    law = ("--damping", "stiffness-root:factor=0.1")
    text = console("linearize", "de-luca-two-link", *law, "--json").out
    model = supple.build(
        "de-luca-two-link", supple.AssumedModes(2), damping=supple.StiffnessRoot(0.1)
    )
    ratios = supple.linearize(model, np.zeros(2)).damping_ratios
    np.testing.assert_allclose(json.loads(text)["damping_ratios"], ratios, rtol=1e-9)


@pytest.mark.parametrize(
    ("law", "text", "words"),
    [
        (path_damping_law, "rayleigh", "give its ratio"),
        (path_damping_law, "rayleigh:gamma=1", "'gamma=1' is not known; rayleigh has ratio"),
        (path_damping_law, "rayleigh:alpha=-1", "alpha is '-1': give a number .* in 1/s"),
        (path_damping_law, "rayleigh:beta=1kg", "beta is '1kg'"),
        (path_damping_law, "rayleigh:beta=1:beta=2", "beta is given twice"),
        (path_damping_law, "rayleigh:ratio=0.1:alpha=1", "ratio and alpha or beta"),
        (path_damping_law, "stiffness-root", "law of a model's links"),
        (path_damping_law, "0.1,0.2", "one ratio for all links"),
        (path_damping_law, "much", "give a ratio, such as 0.02"),
        (path_damping_law, "nan", "give a ratio, such as 0.02"),
        (link_damping_law, "rayleigh:ratio=0.1", "along a --path"),
        (link_damping_law, "stiffness-root:factor=x", "factor is 'x'"),
    ],
)
def test_bad_laws_are_told_in_a_sentence(law, text, words):
    with pytest.raises(supple.SuppleError, match=words):
        law(text)


def test_as_many_ratios_as_links():
    law = supple.ModalDamping([0.01, 0.02, 0.03])
    with pytest.raises(
        supple.SuppleError, match="damping has 3 ratios: de-luca-two-link has 2 links"
    ):
        supple.build("de-luca-two-link", supple.AssumedModes(1), damping=law)
