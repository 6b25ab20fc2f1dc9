"""Sliding links that start in vibration: section IV of [Theodore1997] posed on a sliding arm."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

import supple


@pytest.fixture(scope="module")
def model():
    return supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), damping=0.0)


def slide(start, end):
    return supple.PointToPoint([0, 0, start], [0, 0, end], 0.15)


@pytest.mark.parametrize(("start", "end"), [(0.6, 0.8), (0.8, 0.6)])
def test_a_mode_along_extension_and_retraction(model, start, end):
    """The run against the transition matrix of the free vibration, and what it must keep."""
    found = supple.stability(model, slide(start, end), samples=301, amplitude=1e-3)
    growth = supple.free_growth(model, slide(start, end), phase=0.0)
    assert found.tip_amplitude[0] == pytest.approx(1e-3, rel=1e-9)
    for name, values in (
        ("end_deflection", found.tip_amplitude),
        ("energy", found.energy),
        ("action", found.action),
    ):
        assert values[-1] / values[0] == pytest.approx(growth[name], rel=1e-5)
    # extension makes the tip swing further with less energy, retraction the other way round
    assert (found.tip_amplitude[-1] > 1e-3) == (end > start)
    assert (found.energy[-1] < found.energy[0]) == (end > start)
    # an adiabatic invariant: it moves by the order of omega' / (2 omega^2)
    slow = found.offsetting_ratio.max()
    assert found.action == pytest.approx(np.full(301, found.action[0]), rel=slow)
    swing = np.linalg.norm(found.end_deflection, axis=1)
    assert (swing < found.tip_amplitude * 1.01).all()
    assert swing.max() > 0.9 * found.tip_amplitude.max()
    # V and its rate are those of one motion
    work = cumulative_trapezoid(found.lyapunov_rate, found.t, initial=0)
    assert found.lyapunov - found.lyapunov[0] == pytest.approx(work, abs=1e-3 * np.ptp(work))
    assert found.lyapunov[0] == pytest.approx(found.energy[0], rel=1e-6)


def test_roots_are_recorded_by_both_methods(model):
    found = supple.stability(model, slide(0.6, 0.8), samples=101, amplitude=1e-3)
    assert found.beta.shape == found.beta_integrated.shape == (101, 1)
    assert np.abs(found.beta - found.beta_integrated).max() == found.root_drift < 1e-7
    assert found.beta[-1, 0] > found.beta[0, 0]
    kept = found.to_xarray()
    assert kept["beta_integrated"].dims == ("t", "root")


def test_a_deflection_that_is_released(model):
    """It starts where statics say, and swings as far to the other side."""
    load = supple.PointLoad("link3", 1.0, force=[0, 5, 0])
    found = supple.stability(model, slide(0.6, 0.61), samples=301, released=[load])
    sag = supple.statics(model.robot, [0, 0, 0.6], loads=[load])
    there = np.linalg.norm(sag.displacement[-1, -1])
    assert np.linalg.norm(found.end_deflection[0]) == pytest.approx(there, rel=0.03)  # one shape
    assert np.abs(found.response.qd[0]).max() == 0
    way = found.end_deflection[0] / np.linalg.norm(found.end_deflection[0])
    along = found.end_deflection @ way
    assert along.min() == pytest.approx(-along[0], rel=0.02)


def test_a_quarter_later_it_passes_the_middle(model):
    found = supple.stability(
        model, slide(0.6, 0.61), samples=51, amplitude=1e-3, mode=2, phase=np.pi / 2
    )
    assert np.abs(found.end_deflection[0]).max() < 1e-15
    assert found.tip_amplitude[0] == pytest.approx(1e-3, rel=1e-9)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("mode is 9", {"amplitude": 1e-3, "mode": 9}),
        ("amplitude is", {"amplitude": -1.0}),
        ("both given", {"amplitude": 1e-3, "released": [supple.PointLoad("link3")]}),
        ("PointLoad", {"released": [3]}),
    ],
)
def test_bad_starts_are_one_sentence(model, words, options):
    with pytest.raises(supple.SuppleError, match=words):
        supple.stability(model, slide(0.6, 0.7), **options)
