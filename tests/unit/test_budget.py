"""Sizes are judged before they are computed, and large equations do not explode."""

import numpy as np
import pytest

import supple
from supple import budget
from supple.equations import evaluate
from supple.errors import SuppleError

GB = r"would take about [\d,]+ GB of memory, more than the 4 GB that are allowed: "


def test_what_is_too_large_is_refused_before_it_is_made() -> None:
    arm = supple.load("de-luca-two-link")
    with pytest.raises(SuppleError, match=GB + "give fewer elements"):
        supple.modes(arm, method="elements", elements=100_000)
    with pytest.raises(SuppleError, match=GB + "give fewer elements"):
        supple.build(arm, supple.FiniteElements(10_000))
    with pytest.raises(SuppleError, match=GB + "give fewer modes"):
        supple.build(arm, supple.AssumedModes(10_000))
    with pytest.raises(SuppleError, match=r"points is 999999999999"):
        supple.workspace(arm, points=999_999_999_999)
    model = supple.build(arm, supple.AssumedModes(1))
    for duration, dt in ((1.0, 5e-324), (1e308, None), (9e7, 1.0)):
        with pytest.raises(SuppleError, match=r"more than 1e8 samples|GB of memory"):
            supple.simulate(model, duration=duration, dt=dt)
    with pytest.raises(SuppleError, match=r"infinitely many steps, at most 1e.08 are computed"):
        supple.follow(supple.load("kuo-delta"), supple.InvertedU(), after=1e308)


def test_the_bound_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_MEMORY_GB", "0.001")
    with pytest.raises(SuppleError, match=r"more than the 0\.001 GB"):
        budget.afford("it", 0.002, 0.0, "give less")
    monkeypatch.setenv("SUPPLE_MEMORY_GB", "much")
    budget.afford("it", 3.9, 0.0, "give less")
    with pytest.raises(SuppleError, match="more than the 4 GB"):
        budget.afford("it", float("nan"), 0.0, "give less")


def test_what_takes_long_is_told() -> None:
    with pytest.warns(supple.SizeWarning, match="it will take about 50 s"):
        budget.afford("it", 0.0, 50.0, "give less")
    with pytest.warns(supple.SizeWarning, match="it will take about 10 minutes"):
        budget.afford("it", 0.0, 600.0, "give less")


def test_slopes_along_single_directions_are_those_of_the_whole_expression(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = supple.load("industrial-3")
    whole = supple.build(robot, supple.AssumedModes(2))
    q = np.linspace(0.1, 0.4, whole.size)
    qd = np.linspace(-0.2, 0.3, whole.size)
    tau = np.ones(whole.joints)
    expected = whole.functions.evaluator("derivatives")(q, qd, tau)
    monkeypatch.setattr(evaluate, "LARGE", 0)
    apart = supple.build(robot, supple.AssumedModes(2))
    found = apart.functions.evaluator("derivatives")(q, qd, tau)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12 * abs(other).max())


def test_sixteen_spatial_links_do_not_explode() -> None:
    """The expression of all slopes took 1.7 million nodes, 900 MB and 20 s."""
    axes = ([0, 0, 1], [0, 1, 0], [1, 0, 0])
    tube = {"shape": "tube", "diameter": 0.05, "wall": 0.003}
    metal = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}
    links = [
        {
            "name": f"l{i}",
            "joint": {"axis": axes[i % 3]},
            "length": 0.3,
            "material": metal,
            "section": tube,
        }
        for i in range(16)
    ]
    robot = supple.SerialRobot(name="snake", links=links)
    functions = supple.build(robot, supple.AssumedModes(2)).functions
    assert functions.expression("forward_dynamics").n_nodes() < 30_000
    assert functions.expression("derivatives").n_nodes() < 100
