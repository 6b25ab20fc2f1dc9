"""Compact coefficients of a closed form: those that [DeLuca1991] prints, and any arm's."""

import numpy as np
import pytest
import sympy

import supple


@pytest.fixture(scope="module")
def model():
    return supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1), deflection="paper")


@pytest.fixture(scope="module")
def form(model):
    return supple.closed_form(model)


def test_coefficients_are_those_of_the_appendix(form):
    """Typed from the paper's appendix with one mode a link; t_1 and t_2 are multiplied out."""
    found = form.compact()
    n = {sympy.Symbol(word, real=True): value for word, value in form.values.items()}
    value = {str(symbol): number for symbol, number in n.items()}
    l1 = value["l1"]
    l2 = value["l2"]
    m_p = value["m_t2"]
    J_p = value["J_t2zz"]
    phi1 = value["phi1_y1"]
    slope1 = value["psi1_z1"]
    phi2 = value["phi2_y1"]
    v21 = value["v2_y1"]
    w21 = value["w2_y1"]
    turned = value["J_h2zz"] + value["Jo2"] + J_p + m_p * l2**2
    first = value["md2"] + m_p * l2  # m_2 d_2 + m_p l_2
    t_1 = phi1 - l1 * slope1  # per unit of delta_11
    t_2 = v21 + m_p * phi2  # per unit of delta_21
    printed = {
        "b_12_1": turned,
        "b_12_2": first * l1,
        "b_12_3": first * t_1,
        "b_12_4": -l1 * t_2,
        "b_13_2": first * (phi1 + l1 * slope1),
        "b_13_3": -(phi1 + l1 * slope1) * t_2,
        "b_14_1": w21 + J_p * value["psi2_z1"] + m_p * l2 * phi2,
        "b_14_2": t_2 * l1,
        "b_14_3": t_2 * t_1,
        "b_22_1": turned,
        "b_23_1": turned * slope1,
        "b_23_2": first * phi1,
        "b_23_3": -first * phi1 * slope1,
        "b_23_4": -phi1 * t_2,
    }
    for word, right in printed.items():
        assert found.values[word] == pytest.approx(right, rel=1e-12), word


def test_elements_are_those_of_the_model(model, form):
    """Numbers in the coefficients' places, at a state chosen at random, against the Model."""
    found = form.compact()
    rng = np.random.default_rng(3)
    q = rng.normal(scale=0.3, size=model.size)
    qd = rng.normal(size=model.size)
    numbers = {sympy.Symbol(word, real=True): number for word, number in found.values.items()}
    numbers |= dict(zip((*form.q, *form.qd), (*q, *qd), strict=True))
    M = model.mass_matrix(q)
    h = model.bias(q, qd)
    for i in range(model.size):
        assert float(found.elements[f"h_{i + 1}"].subs(numbers)) == pytest.approx(h[i], rel=1e-10)
        for j in range(i, model.size):
            ours = float(found.elements[f"B_{{{i + 1}{j + 1}}}"].subs(numbers))
            assert ours == pytest.approx(M[i, j], rel=1e-10)
    assert "b_{12 3}" in found.latex()


def test_steps_have_no_coefficients(model):
    with pytest.raises(supple.SuppleError, match="list of steps"):
        supple.closed_form(model, form="steps").compact()
