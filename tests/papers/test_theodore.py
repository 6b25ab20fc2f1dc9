"""[Theodore1997]: frozen eigenvalues, action, growth, Floquet; verdicts of `reproduce`."""

import numpy as np
import pytest

import supple
from supple.studies.papers.theodore import SCALINGS, arm_model, frozen
from supple.studies.stability import NOTE

CRUISE = np.linspace(0.1, 0.9, 42)[1:-1]


def blends(a, b):
    return supple.ParabolicBlends([0, 0, a], [0, 0, b], 1.0, 0.1)


def test_free_mode_one_grows_and_shrinks_with_its_action_conserved():
    """Errata: 2.2145 times (adiabatic 2.2146), 0.45; energy x7.5, root moment x4.8 drawn in."""
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
    out, back = (supple.free_growth(model, blends(*ends)) for ends in ((0.3, 1.0), (1.0, 0.3)))
    assert out["tip"] == pytest.approx(2.2145, abs=1.5e-4)
    assert back["tip"] == pytest.approx(0.45, abs=5e-3)
    assert back["energy"] == pytest.approx(7.5, abs=0.05)
    assert back["root_moment"] == pytest.approx(4.8, abs=0.05)
    for found in (out, back):
        assert found["action"] == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("turning", [0.0, 1.0])
def test_out_and_back_multipliers_lie_on_the_unit_circle(turning):
    model = arm_model("material", "mass")
    there = supple.ParabolicBlends([0, 0, 0.3], [turning * np.pi, -turning, 1.0], 1.0, 0.1)
    found = supple.floquet(model, supple.Repeated(there))
    assert np.abs(np.abs(found.multipliers) - 1).max() < 1e-9
    assert found.stable


def test_signs_of_the_paper_in_its_own_reading():
    """Errata, C_i = 1: extension -1.00..-0.18, retraction +0.19..+1.00 1/s."""
    model = arm_model("paper", "one")
    out, back = (frozen(model, name, CRUISE).real for name in ("extension", "retraction"))
    assert (out < 0).all()
    assert (back > 0).all()
    assert out.min() == pytest.approx(-1.00, abs=0.05)
    assert out.max() == pytest.approx(-0.18, abs=0.01)
    assert back.min() == pytest.approx(0.19, abs=0.01)
    assert back.max() == pytest.approx(1.00, abs=0.05)


def test_the_signs_change_with_the_normalisation_of_one_motion():
    found = {rule: frozen(arm_model("material", rule), "extension", CRUISE).real
             for rule in SCALINGS}  # fmt: skip
    assert (found["one"] < 0).all()
    assert (found["integral"] < 0).all()
    assert found["tip"].max() > 0.5
    assert np.abs(found["unit"]).max() < 0.05


def test_stability_says_what_frozen_eigenvalues_decide():
    found = supple.stability(arm_model("material", "one"), supple.ParabolicBlends(
        [0, 0, 1.0], [np.pi, -np.pi / 2, 0.3]), samples=41, tolerance=1e-7)  # fmt: skip
    assert NOTE in found.text
    assert "U/U_g" in found.text
    cruise = (found.t > 0.1) & (found.t < 0.9)
    assert np.ptp(found.action[cruise]) < 0.02 * found.action[cruise].mean()
    assert found.offsetting_ratio[cruise].min() > 0.0018
    assert found.offsetting_ratio[cruise].max() < 0.0047
    rate = np.gradient(found.lyapunov, found.t)
    assert rate[cruise].mean() == pytest.approx(found.lyapunov_rate[cruise].mean(), rel=0.3)


@pytest.mark.slow
def test_every_verdict_is_as_foreseen():
    found = supple.reproduce("theodore")
    assert found.ok, [claim.line() for claim in found.claims if not claim.ok]
    assert len(found.results) == 5
