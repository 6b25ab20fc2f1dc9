"""[DeLuca1991]: 20 printed numbers, the closed form term by term, six scenarios, energy."""

from itertools import dropwhile, takewhile

import numpy as np
import pytest

from supple import AssumedModes, build
from supple.papers import de_luca
from supple.papers.cells import half_digit, printed_numbers, right_number

DATA = printed_numbers("de-luca")
FIGURES = list(DATA["scenarios"])


def test_printed_numbers_to_the_last_digit() -> None:
    cells = list(takewhile(lambda cell: cell.table == "Section VII", de_luca._cells()))
    assert len(cells) == 20
    assert [cell.line() for cell in cells if cell.verdict != "agrees"] == []


def test_stiffness() -> None:
    K = de_luca.arm_model().stiffness
    assert np.abs(K - np.diag(np.diag(K))).max() < 1e-10
    for value, text in zip(np.diag(K), right_number("DeLuca1991", "stiffness"), strict=True):
        assert abs(value - float(text)) <= half_digit(text)


def test_end_loads() -> None:
    from supple.equations.chains.chain import distal_loads
    from supple.structure import structure_of

    first, second = distal_loads(structure_of(de_luca.arm(), [0.0, 0.0]))
    found = (first.mass, first.about[2], second.mass, second.about[2])
    wanted = [float(text) for text in right_number("DeLuca1991", "end loads")]
    assert found == pytest.approx(wanted, abs=5e-7)  # the second has six digits, the others end
    assert first.moment == second.moment == 0.0  # (MD) = 0


def test_frequency_equation() -> None:
    """(22) vanishes at beta of every shape."""
    model = de_luca.arm_model()
    for i, (M_L, J_L) in enumerate(((1.2, 0.1 + 0.1 * 0.25 / 3 + 0.0005 + 0.025), (0.1, 0.0005))):
        for k in np.diag(model.stiffness)[2 + 2 * i : 4 + 2 * i]:
            beta = (k / 0.1 * 0.2) ** 0.25
            s, c, sh, ch = (f(0.5 * beta) for f in (np.sin, np.cos, np.sinh, np.cosh))
            m = M_L * beta / 0.2
            j = J_L * beta**3 / 0.2
            terms = [
                1 + c * ch,
                -m * (s * ch - c * sh),
                -j * (s * ch + c * sh),
                m * j * (1 - c * ch),
            ]
            assert abs(sum(terms)) < 1e-10 * max(map(abs, terms))


def test_closed_form_term_by_term() -> None:
    """`paper` equals (32)-(34) with the five corrections at random states."""
    model = de_luca.arm_model()
    form = de_luca.closed_form(model)
    rng = np.random.default_rng(32)
    for q, qd in rng.normal(size=(100, 2, 6)):
        B, h = (np.array(part) for part in form(q, qd))
        assert np.abs(B - model.mass_matrix(q)).max() < 1e-13 * np.abs(B).max()
        assert np.abs(h[:, 0] - model.bias(q, qd)).max() < 1e-12 * np.abs(h).max()


def test_misprints_are_the_five_of_the_errata() -> None:
    after = dropwhile(lambda cell: cell.table != "Appendix", de_luca._cells())
    cells = list(takewhile(lambda cell: cell.table == "Appendix", after))
    wrong = {f"h{cell.mode}" for cell in cells if cell.verdict != "agrees"}
    entry = next(
        e["place"] for e in printed_numbers("errata")["errata"] if e["place"].startswith("h107")
    )
    assert wrong == set(entry.split(", "))
    assert all(cell.ok for cell in cells)
    _, rest = de_luca.coefficients(de_luca.arm_model())
    assert rest < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES)
def test_scenario_ends_where_the_errata_says(figure: str) -> None:
    end = de_luca.scenario(figure).theta[-1]
    for value, text in zip(end, DATA["scenarios"][figure]["theta"], strict=True):
        assert abs(value - float(text)) <= half_digit(text)


@pytest.mark.parametrize("figure", FIGURES)
def test_rk4_at_1_ms(figure: str) -> None:
    run = de_luca.scenario(figure, "rk4")
    assert len(run.t) == 2001
    theta = np.array(DATA["scenarios"][figure]["theta"], float)
    assert np.abs(run.theta[-1] - theta).max() < float(right_number("DeLuca1991", "rk4")[0])


@pytest.mark.slow
@pytest.mark.parametrize("figure", ["Fig. 5", "Fig. 6"])
def test_free_runs_conserve_energy(figure: str) -> None:
    run = de_luca.scenario(figure)
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-10


@pytest.mark.slow
def test_reproduction() -> None:
    found = de_luca.reproduction()
    assert found.ok, "\n".join(found.lines())
    text = "\n".join(found.lines())
    lost = right_number("DeLuca1991", "energy")[0]
    assert f"energy goes wrong by {lost} %" in text  # Fig. 6 with h as printed


def test_node_of_the_second_shape_moves_out_and_vanishes() -> None:
    """Figs. 2-4: zero, nominal and double payload."""
    places = [de_luca.node(build(de_luca.arm(k), AssumedModes(2))) for k in (0.0, 1.0, 2.0)]
    assert places[0] == pytest.approx(0.7834, abs=1e-3)  # node of the second cantilever mode
    assert places[1] is not None
    assert places[0] < places[1] < 1
    assert places[2] is None


def test_generated_closed_form_is_that_of_the_model() -> None:
    sympy = pytest.importorskip("sympy")
    from supple import closed_form

    robot = de_luca.arm()
    model = build(robot, AssumedModes(1), deflection="paper")
    found = closed_form(model)
    symbols = [sympy.Symbol(name, real=True) for name in found.values]
    f = sympy.lambdify([found.q, found.qd, symbols], [found.B, found.h])
    q, qd = np.random.default_rng(0).normal(size=(2, 4))
    B, h = f(q, qd, list(found.values.values()))
    assert np.abs(B - model.mass_matrix(q)).max() < 1e-14
    assert np.abs(h[:, 0] - model.bias(q, qd)).max() < 1e-13
    assert "\\begin{aligned}" in found.latex()
    assert "| constant | value |" in found.markdown()
    assert not closed_form(build(robot, AssumedModes(4))).written_out
