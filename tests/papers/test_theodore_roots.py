"""[Theodore1997]: beta(l) of the clamped-mass frequency equation, Eqs. (8)-(13)."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import supple
from supple.beams.sliding.clamped_mass import ClampedMass, integrate_roots, terms
from supple.errors import SuppleError
from supple.papers.cells import right_number

MU = 0.0828 / 0.331  # payload over mass per length, Table I
ENDS = [0.0, 2e-3]  # J_L / rho A: the paper's, and one that is not zero


@cache
def law(j: float = 0.0, count: int = 4) -> ClampedMass:
    return ClampedMass(MU, j, 1.3, count)


def printed_frequency(b, l, M_L, J_L, rA):
    """Eq. (9) as printed."""
    M = M_L / (rA * l)
    J = J_L / (rA * l**3)
    ch = np.cosh(b)
    sh = np.sinh(b)
    s = np.sin(b)
    c = np.cos(b)
    return (1 + ch * c - M * b * (ch * s - sh * c) - J * b**3 * (ch * s + sh * c)
            + M * J * b**4 * (1 - ch * c))  # fmt: skip


def test_first_root_as_the_errata_gives_it():
    found = [f"{law().roots(l)[0]:.5f}" for l in (0.3, 1.0)]
    assert found == right_number("Theodore1997", "first root")


@pytest.mark.parametrize("j", ENDS)
def test_roots_solve_the_printed_equation_and_none_is_missed(j):
    for l in np.geomspace(0.014, 1.3, 15):
        found = np.array(law(j).roots(float(l)))
        scale = np.cosh(found) * (1 + MU / l * found) * (1 + j / l**3 * found**3)
        assert np.abs(printed_frequency(found, l, MU, j, 1.0) / scale).max() < 1e-13
        grid = np.linspace(1e-3, found[-1] + 1e-6, 20000)
        signs = np.sign(printed_frequency(grid, l, MU, j, 1.0))
        assert np.count_nonzero(np.diff(signs)) == 4


@pytest.mark.parametrize("j", ENDS)
def test_newton_and_the_differential_form_agree_along_the_stroke(j):
    for lengths in (np.linspace(0.3, 1.0, 71), np.linspace(1.0, 0.3, 71)):
        newton = np.array([law(j).roots(float(l)) for l in lengths])
        assert np.abs(integrate_roots(law(j), lengths) - newton).max() < 1e-9


@pytest.mark.parametrize("j", ENDS)
def test_12_and_13_against_automatic_differentiation(j):
    b = ca.SX.sym("b")
    l = ca.SX.sym("l")
    t = terms(b, l, MU, j)
    f = t.f * ca.exp(b)
    parts = [-ca.jacobian(f, l), ca.jacobian(f, b), ca.jacobian(ca.jacobian(f, b), b),
             ca.jacobian(ca.jacobian(f, l), b), ca.jacobian(ca.jacobian(f, l), l)]  # fmt: skip
    given = [x * ca.exp(b) for x in (t.f1, t.f2, t.bb, t.lb, t.ll)]
    compare = ca.Function("c", [b, l], [ca.vertcat(*parts), ca.vertcat(*given)])
    rng = np.random.default_rng(3)
    for _ in range(20):
        at = rng.uniform(0.5, 9), rng.uniform(0.2, 1.3)
        auto, ours = (np.array(x).ravel() for x in compare(*at))
        np.testing.assert_allclose(ours, auto, rtol=1e-11, atol=1e-11 * np.abs(auto).max())


@pytest.mark.parametrize("j", ENDS)
def test_derivatives_pass_through_newton(j):
    l = ca.SX.sym("l")
    roots = ca.vertcat(*law(j).roots(l))
    slope = ca.jacobian(roots, l)
    both = ca.Function("d", [l], [slope, ca.jacobian(slope, l)])
    for at in (0.1, 0.3, 0.77, 1.3):
        first, second = (np.array(x).ravel() for x in both(at))
        rates = law(j).rates(at)
        np.testing.assert_allclose(first, [r.first for r in rates], rtol=1e-10)
        np.testing.assert_allclose(second, [r.second for r in rates], rtol=1e-9)


def test_a_stroke_needs_two_positive_lengths():
    with pytest.raises(SuppleError, match="two or more positive"):
        integrate_roots(law(), [0.3])


def stroke_run(beta: str, modes: int, duration: float):
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(modes), beta=beta)
    path = supple.ParabolicBlends([0, 0, 0.3], [np.pi, -np.pi / 2, 1.0], duration, duration / 10)
    return supple.simulate(model, controller=supple.Decoupling(), trajectory=path, dt=5e-3,
                           method="adams", tolerance=1e-11)  # fmt: skip


@pytest.mark.parametrize(("modes", "duration"), [(4, 0.1), (2, 1.0)])
def test_beta_integrated_beside_the_states_agrees_with_newton(modes, duration):
    """beta_1..beta_4 along the stroke in the run itself, and the tip's motion with either.

    The paper's 1 s with its two modes; the same stroke in 0.1 s with four, to save time.
    """
    ours, newton = (stroke_run(beta, modes, duration) for beta in ("integrated", "newton"))
    assert ours.beta.shape == (len(ours.t), modes)
    roots = np.array([law(count=modes).roots(float(l)) for l in ours.q[:, 2]])
    assert np.abs(ours.beta - roots).max() < 1e-9
    assert ours.beta_drift == np.abs(ours.beta - roots).max() > 0
    assert np.ptp(ours.q[:, 2]) > 0.69
    tips = [run.deflection("link3") for run in (ours, newton)]
    assert np.abs(tips[0] - tips[1]).max() < 1e-8 * np.abs(tips[1]).max()
    assert newton.beta is None
    assert newton.beta_drift == 0.0


def test_the_drift_of_an_integrated_beta_is_reported_and_grows_with_the_tolerance():
    """A run in the paper's own reading, with (11) beside the states as the paper does it."""
    path = supple.PointToPoint([0, 0, 0.3], [0, 0, 1.0], 0.2)
    drifts = []
    for tolerance in (1e-3, 1e-6, 1e-10):
        model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), beta="integrated",
                             velocity="paper")  # fmt: skip
        run = supple.simulate(model, controller=supple.Decoupling(), trajectory=path, dt=1e-2,
                              method="adams", tolerance=tolerance)  # fmt: skip
        drifts.append(run.beta_drift)
    assert drifts[0] > 10 * drifts[1] > 100 * drifts[2] > 0


def test_beta_is_for_links_that_slide_in_assumed_modes():
    with pytest.raises(SuppleError, match="one of newton, integrated"):
        supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), beta="euler")
    with pytest.raises(SuppleError, match="only links that slide"):
        supple.build(supple.load("theodore-rrp"), supple.FiniteElements(1), beta="integrated")
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), beta="integrated")
    for method in ("magnus", "generalised-alpha"):
        with pytest.raises(SuppleError, match=r"does not integrate beta|takes no Controller"):
            supple.simulate(model, controller=supple.Decoupling(), trajectory=[0, 0, 0.5],
                            method=method)  # fmt: skip


def test_a_run_with_integrated_beta_is_stored(tmp_path):
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1), beta="integrated")
    run = supple.simulate(model, [0.1, 0, 1.0], theta0=[0, 0, 0.5], duration=0.01, dt=1e-4)
    run.save(tmp_path / "run.nc")
    back = supple.load_response(tmp_path / "run.nc")
    assert back.model.reading.beta == "integrated"
    np.testing.assert_array_equal(back.beta, run.beta)
    assert back.beta_drift == run.beta_drift < 1e-12
