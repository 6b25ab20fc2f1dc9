"""Every verdict of `reproduce` turns when its number is wrong: in the answer, and at its source."""

import dataclasses
import math

import numpy as np
import pytest

import supple
from supple.papers import de_luca, di_castri, di_castri_joints, kuo, theodore
from supple.papers.cells import Cell, Claim, Measure, half_digit, number
from supple.papers.kuo_model import PaperDelta


def wrong(cell: Cell) -> list[float | str]:
    """Numbers that are not ours: off by 5 %, at least by two units of the last printed digit."""
    if isinstance(cell.ours, str):
        return ["EB: bending x-y 100 %, most in link1"]
    digits = 4 * half_digit(cell.printed) if number(cell.printed) is not None else 0.0
    off = max(0.05 * abs(cell.ours), digits)
    return [cell.ours - off, cell.ours + off, math.nan]


@pytest.mark.parametrize("paper", ["di-castri", "de-luca", "kuo", "theodore"])
def test_no_verdict_is_right_for_any_number(paper, monkeypatch):
    """Claims rest on numbers with two finite bounds, and turn when any of them is passed."""
    found = supple.reproduce(paper)
    assert found.ok, "\n".join(found.lines())
    deaf = [
        cell.line()
        for cell in found.cells
        for ours in wrong(cell)
        if dataclasses.replace(cell, ours=ours).ok
    ]
    assert deaf == []
    for claim in found.claims:
        assert claim.measures, claim.line()
        for i, measure in enumerate(claim.measures):
            assert measure.origin, f"{claim.line()}: {measure.what} does not say whose bounds"
            assert math.isfinite(measure.high - measure.low), measure
            if measure.side == "paper" and claim.expected != "agrees":
                continue  # passed already: see below
            hair = 1e-3 + 0.05 * (abs(measure.low) + abs(measure.high))
            for ours in (measure.low - hair, measure.high + hair, math.nan):
                changed = dataclasses.replace(measure, ours=ours)
                measures = (*claim.measures[:i], changed, *claim.measures[i + 1 :])
                assert not dataclasses.replace(claim, measures=measures).ok, measure
        if claim.expected != "agrees":  # numbers as the paper states them make it agree
            stated = tuple(
                dataclasses.replace(m, ours=(m.low + m.high) / 2) if m.side == "paper" else m
                for m in claim.measures
            )
            assert dataclasses.replace(claim, measures=stated).verdict == "agrees"
    if paper == "theodore":  # its runs are dear: turned here, where they are known
        assert len(found.results) == 5
        figures = found.results["Fig. 4 desired joint motion"]
        monkeypatch.setattr(theodore, "run", bent)
        assert not theodore._tracking_claim(figures).ok
        near = theodore.slide
        monkeypatch.setattr(
            theodore, "slide", lambda T, model: near(T, model) * (1 + 0.01 * (model == "mass"))
        )
        assert not any(claim.ok for claim in theodore._convective_claims())
        assert not theodore._elements_claim().ok
        assert not theodore._end_condition_claim().ok
        monkeypatch.setattr(theodore, "slide", lambda T, _: near(T, "elements"))
        assert [claim.verdict for claim in theodore._convective_claims()] == ["agrees"] * 2


def scaled(function, factor, which=lambda *given, **named: True):
    """The function with its arrays or numbers times a factor, where the arguments are such."""

    def times(value):
        if isinstance(value, dict):
            return {key: times(part) for key, part in value.items()}
        if isinstance(value, tuple):
            return tuple(times(part) for part in value)
        return value * factor

    def changed(*given, **named):
        found = function(*given, **named)
        return times(found) if which(*given, **named) else found

    return changed


class Changed:
    """An answer with some of its readings replaced."""

    def __init__(self, found, **readings):
        self._found = found
        self._readings = readings

    def __getattr__(self, name):
        return self._readings[name] if name in self._readings else getattr(self._found, name)


def test_joint_flexibility_off_by_a_thousandth_turns_each_of_its_claims():
    found = di_castri_joints.joint_flexibility()
    assert all(claim.ok for claim in di_castri_joints.claims(found))
    off = dataclasses.replace(
        found, frequency_hz={k: 1.001 * f for k, f in found.frequency_hz.items()}
    )
    assert [c.line() for c in di_castri_joints.claims(off) if c.ok] == []


def test_a_frequency_off_by_two_digits_turns_its_cells(monkeypatch):
    """Differences too, the rounded and the misprinted ones among them."""
    monkeypatch.setattr(
        di_castri, "frequencies",
        lambda *place, f=di_castri.frequencies: tuple(np.array(f(*place)) * 1.001 ** (
            place[2] == "T"))
    )  # fmt: skip
    data = di_castri.printed_numbers("di-castri")
    known = di_castri.KnownFaults(data["known"])
    cells = [
        cell
        for table in ("2", "5", "6", "10")
        for at, columns in data["tables"][table].items()
        for cell in di_castri._posture_cells(table, at, columns, known)
    ]
    # 1e-3 of 100 % moves a difference by 0.1: seen where it is printed to 0.01 or exactly known
    watched = [c for c in cells if c.column == "T"]
    watched += [c for c in cells if c.column[0] == "d" and c.expected in ("rounded", "misprint")]
    assert len([c for c in watched if c.column[0] == "d"]) > 20
    assert [c.line() for c in watched if c.ok] == []


def drifting(figure, *_, run=de_luca.scenario):
    energy = run(figure).energy
    return Changed(run(figure), energy=energy * np.linspace(1, 1 + 1e-6, len(energy)))


def fewer_terms(paper, read=de_luca.printed_numbers):
    data = read(paper)
    return data | {"coefficients": {k: v for k, v in data["coefficients"].items() if k != "b113"}}


DE_LUCA = [
    ("_closed_form_claim", "printed_numbers", fewer_terms),
    ("_energy_claim", "scenario", drifting),
    ("_printed_energy_claim", "_form_drift", scaled(de_luca._form_drift, 1.01)),
    ("_printed_energy_claim", "closed_form", lambda m, p, f=de_luca.closed_form: f(m, not p)),
    (
        "_payload_claim",
        "_shape_change",
        lambda payloads, f=de_luca._shape_change: [1.1 * change for change in f(payloads)],
    ),
    (
        "_bias_claim",
        "scenario",
        lambda figure, f=de_luca.scenario: Changed(f(figure), theta=1.1 * f(figure).theta),
    ),
    ("_node_claim", "node", lambda m, f=de_luca.node: 0.99 * (f(m) or 1.0)),
]


@pytest.mark.parametrize(("claim", "source", "other"), DE_LUCA, ids=lambda x: str(x)[:20])
def test_de_luca_claims_turn_with_their_source(claim, source, other, monkeypatch):
    assert getattr(de_luca, claim)().ok
    monkeypatch.setattr(de_luca, source, other)
    assert not getattr(de_luca, claim)().ok


def turned_tip(name, again=False, f=kuo.motion):
    return Changed(f(name, again), moved=f(name, again).moved * (1.0 if again else 1.01))


def other_leg(name, f=kuo.motion):
    run = f(name)
    return Changed(run, deflection=lambda leg, x: run.deflection(leg, x) * (1 + (leg == "upper2")))


def circle_off(rows):
    found = kuo.circle_frequencies()
    right = found.right.copy()
    right[rows] *= 1 + 1e-4
    return lambda: dataclasses.replace(found, right=right)


KUO = [
    ("_third_of_a_turn", kuo, "circle_frequencies", lambda: circle_off(slice(3, 4))),
    ("_third_of_a_turn", kuo, "circle_frequencies", lambda: circle_off(slice(None))),
    ("_right", kuo, "modes", lambda f=kuo.modes: lambda *a, **k: Changed(
        f(*a, **k), omega=f(*a, **k).omega * (1 if "method" in k else 1.0001))),
    ("_circle", kuo, "motion", lambda: turned_tip),
    ("_phases", kuo, "motion", lambda: other_leg),
    ("_circle_torques", kuo.RigidDelta, "inverse_dynamics", lambda: scaled(
        kuo.RigidDelta.inverse_dynamics, 1.001)),
    ("_conclusion", kuo, "printed_numbers", lambda f=kuo.printed_numbers: lambda paper: {
        "inverted_u": {"max_deg": ["5"], "max_mm": ["13"]}}),
    ("_torques", kuo.RigidDelta, "inverse_dynamics", lambda: scaled(
        kuo.RigidDelta.inverse_dynamics, 1.001)),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "owner", "source", "make"), KUO, ids=lambda x: str(x)[:20])
def test_kuo_claims_turn_with_their_source(claim, owner, source, make, monkeypatch):
    assert getattr(kuo, claim)().ok
    monkeypatch.setattr(owner, source, make())
    assert not getattr(kuo, claim)().ok


@pytest.mark.parametrize("slip", kuo.SLIPS)
def test_slips_turn_with_their_source(slip, monkeypatch):
    monkeypatch.setattr(
        PaperDelta, "frequencies",
        scaled(PaperDelta.frequencies, 1.0001, lambda model, *_: slip not in model.slips
               and model.order == "cubic"),
    )  # fmt: skip
    assert not kuo._slip(slip).ok


def test_unknowns_turn_with_their_source(monkeypatch):
    monkeypatch.setattr(PaperDelta, "size", property(lambda model, f=PaperDelta.size: f.fget(model)
                                                     + 3 * 2))  # fmt: skip
    assert not kuo._counts(kuo.printed_numbers("kuo")).ok


def bent(name, velocity="material", f=theodore.run):
    run = f(name, velocity)
    times = 1.1 if velocity == "paper" else 1.0
    return Changed(run, deflection=lambda link: times * run.deflection(link),
                   theta=run.theta * (1 + 1e-4))  # fmt: skip


THEODORE = [
    ("_roots_claim", "integrate_roots", lambda law, lengths, f=theodore.integrate_roots:
     f(law, lengths) * (1 + 1e-8)),
    ("_eigenvalue_claim", "frozen", scaled(theodore.frozen, 1.04)),
    ("_scaling_claim", "frozen", lambda model, *rest, f=theodore.frozen: f(model, *rest) * (
        1 + 1e-2 * (model is not theodore.arm_model("material", "one")))),
    ("_inertia_claim", "exact_roots", lambda *at, f=theodore.exact_roots: [
        beta * (1 + 1e-6) for beta in f(*at)]),
    ("_growth_claim", "_growth", scaled(theodore._growth, 1.0001)),
    ("_unstable_claim", "_growth", scaled(theodore._growth, 1.02)),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "source", "other"), THEODORE, ids=lambda x: str(x)[:20])
def test_theodore_claims_turn_with_their_source(claim, source, other, monkeypatch):
    assert getattr(theodore, claim)().ok
    monkeypatch.setattr(theodore, source, other)
    assert not getattr(theodore, claim)().ok


def test_claims_about_lyapunovs_function_turn_with_their_source(monkeypatch):
    """Rates off by a thousandth turn all three; so does a printed rate that is right after all."""
    signs, size, driven = theodore._lyapunov_claims()
    assert [claim.verdict for claim in (signs, size, driven)] == [
        "agrees", "misprint", "not reproducible",
    ]  # fmt: skip
    for name in ("vibrating_slide", "driven_slide"):
        run = getattr(theodore, name)
        monkeypatch.setattr(
            theodore,
            name,
            lambda at, run=run: dataclasses.replace(run(at), rate=1.001 * run(at).rate),
        )
    assert [claim.line() for claim in theodore._lyapunov_claims() if claim.ok] == []
    monkeypatch.undo()

    run = theodore.vibrating_slide
    monkeypatch.setattr(
        theodore, "vibrating_slide", lambda at: dataclasses.replace(run(at), printed=run(at).rate)
    )
    assert theodore._lyapunov_claims()[1].verdict == "agrees"
    monkeypatch.setattr(theodore, "driven_slide", run)  # a motion in which nothing turns
    assert theodore._lyapunov_claims()[2].verdict == "agrees"
    monkeypatch.setattr(theodore, "_growth", lambda name, f=theodore._growth: {
        **f(name), "energy": 1.0})  # fmt: skip
    assert theodore._conserved_claim().verdict == "differs"


def test_sizes_and_coupling_turn_with_their_source(monkeypatch):
    assert all(claim.ok for claim in kuo._size_claims())
    run = kuo.motion
    monkeypatch.setattr(kuo, "motion", lambda name, again=False: turned_tip(name, again, run))
    assert not any(claim.ok for claim in kuo._size_claims())
    assert all(claim.ok for claim in de_luca._coupling_claims())
    states = de_luca._form_states
    more = np.array([1, 1, 1.1] + [1] * 9)  # of the deflection of link 1
    monkeypatch.setattr(de_luca, "_form_states", lambda *at, **how: more * states(*at, **how))
    assert not any(claim.ok for claim in de_luca._coupling_claims())


def test_a_claims_verdict_follows_from_its_measures():
    """Every class can come out, whatever was foreseen."""

    def claim(paper, independent, corrected=None):
        sides = {"paper": paper, "independent": independent, "corrected": corrected}
        measures = tuple(
            Measure("x", 0.0 if holds else 2.0, -1.0, 1.0, side, "made up")
            for side, holds in sides.items() if holds is not None
        )  # fmt: skip
        return Claim("Fig. 1", "says", "ours", measures).verdict

    assert claim(True, True) == "agrees"
    assert claim(False, True) == "not reproducible"
    assert claim(False, True, True) == "misprint"
    assert claim(False, True, False) == "not reproducible"
    assert claim(True, False) == claim(False, False, True) == "differs"


def test_what_the_paper_prints_is_told_from_what_it_draws():
    figure = [cell for cell in di_castri.reproduction().cells if cell.table == "Figure 5"]
    assert len(figure) == 20
    assert {cell.origin for cell in figure} == {"recomputed"}
    drawn = [cell for cell in de_luca._cells() if cell.origin == "recomputed"]
    assert len(drawn) == 12
