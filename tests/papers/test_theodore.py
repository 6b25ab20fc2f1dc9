"""[Theodore1997]: frozen eigenvalues, action, growth, Floquet; verdicts of `reproduce`."""

import numpy as np
import pytest

import supple
from supple.beams.sliding.integrals import integrals
from supple.integration.held_joints import flexible
from supple.papers.cells import half_digit, right_number
from supple.papers.theodore import SCALINGS, arm_model, frozen
from supple.studies.motion.stability import NOTE

CRUISE = np.linspace(0.11, 0.89, 79)  # every 10 ms between the blends


def blends(a, b):
    return supple.ParabolicBlends([0, 0, a], [0, 0, b], 1.0, 0.1)


def adiabatic(model):
    """Tip amplitude of mode 1 at 1.0 m over that at 0.3 m with E/omega conserved exactly."""
    system = flexible(model)
    amplitudes = []
    for l in (0.3, 1.0):
        q = system.state(np.array([0.0, 0.0, l]))
        modes = system.modes(q)
        bent = np.r_[q[:3], modes.shapes[:, 0]]
        tip = np.linalg.norm(model.deflection_at(bent, "link3"))
        amplitudes.append(tip / np.sqrt(modes.omega[0]))  # sqrt(2 E)/omega at E = omega
    return amplitudes[1] / amplitudes[0]


def test_free_mode_one_grows_and_shrinks_with_its_action_conserved():
    """Mode 1, released at rest from its bent shape at 0.3 m, on the paper's stroke of 1 s.

    Its blends take 0.1 s. Started a quarter of a period later it is as far above the adiabatic
    growth, which is the mean over the phase, as it was below.
    """
    grown, slowly, _ = right_number("Theodore1997", "growth")
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
    out, back = (supple.free_growth(model, blends(*ends)) for ends in ((0.3, 1.0), (1.0, 0.3)))
    released, later = (
        supple.free_growth(model, blends(0.3, 1.0), phase=phase)["end_deflection"]
        for phase in (0, np.pi / 2)
    )
    assert f"{released:.4f}" == grown
    assert (released + later) / 2 == pytest.approx(adiabatic(model), rel=1e-5)
    assert f"{out['end_deflection']:.4f}" == f"{adiabatic(model):.4f}" == slowly
    assert out["end_deflection"] == pytest.approx(adiabatic(model), rel=1e-7)
    drawn_in = right_number("Theodore1997", "retraction")
    for key, text in zip(("end_deflection", "energy", "root_moment"), drawn_in, strict=True):
        assert abs(back[key] - float(text)) <= half_digit(text)
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
    """C_i = 1: the ends of both ranges."""
    model = arm_model("paper", "one")
    out, back = (frozen(model, name, CRUISE).real for name in ("extension", "retraction"))
    assert (out < 0).all()
    assert (back > 0).all()
    ends = (out.min(), out.max(), back.min(), back.max())
    assert [f"{x:.2f}" for x in ends] == right_number("Theodore1997", "frozen")


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


def test_the_rate_of_the_lyapunov_function_is_that_of_the_motion():
    """dV/dt by all terms against differences of V in time, turning and sliding together."""
    path = supple.PointToPoint([0, 0, 1.0], [0.6, -0.3, 0.7], 0.2)
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), damping=0.01)
    found = supple.stability(model, path, samples=2001, tolerance=1e-11)
    V = found.lyapunov
    h = found.t[1] - found.t[0]
    sixth = np.convolve(V, np.array([1, -9, 45, 0, -45, 9, -1]) / (60 * h), "valid")
    size = np.abs(found.lyapunov_rate).max()
    assert np.abs(sixth - found.lyapunov_rate[3:-3]).max() < 1e-5 * size
    assert np.abs(found.lyapunov_rate - found.lyapunov_own).max() > 0.1 * size  # forcing


@pytest.mark.parametrize("rule", ["mass", "one"])
def test_42_leaves_out_exactly_what_goes_with_the_slides_acceleration_and_the_square_of_u(rule):
    """A slide alone: V_dot - (42) = -q_fd' (l_tt int m N'N_l + U^2 int m N'N_ll) q_f."""
    model = arm_model("material", rule)
    system = flexible(model)
    slide = model.chain.links[2].slide
    rng = np.random.default_rng(3)
    left = []
    for U, Ud in ((0.7, 0.0), (0.35, 0.0), (0.7, 5.0)):
        rng = np.random.default_rng(3)
        l = 0.6
        eta = rng.normal(size=4) * 1e-3
        etad = rng.normal(size=4)
        q = np.r_[0, 0, l, eta]
        qd = np.r_[0, 0, U, etad]
        etadd = system.rows(q, qd, np.array([0, 0, Ud]))[0].ravel()
        M, K, Md, Kd = system.masses(q, qd)
        rate = etad @ M @ etadd + etad @ K @ eta + (etad @ Md @ etad + eta @ Kd @ eta) / 2
        own = (eta @ Kd @ eta - etad @ Md @ etad) / 2
        found = integrals(slide, l)
        G = np.array([found.G[a][a] for a in (1, 2)]).sum(axis=0).astype(float)
        end = np.array([[float(x) for x in row] for row in found.N_end[1:]])
        G = G + 0.0828 * end.T @ end
        N_l = G[:4, 4:8]
        N_ll = G[:4, 8:12]
        named = -etad @ (Ud * N_l + U**2 * N_ll) @ eta
        assert rate - own == pytest.approx(named, rel=1e-7)
        left.append(rate - own)
    assert left[0] / left[1] == pytest.approx(4, rel=1e-6)
    assert abs(left[2]) > 2 * abs(left[0])
