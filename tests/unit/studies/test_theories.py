"""Theories side by side: against the paper's tables, and axial modes that no theory may change."""

from __future__ import annotations

import numpy as np
import pytest

import supple
from supple.papers.cells import half_digit, printed_numbers
from supple.papers.di_castri_joints import two_links


@pytest.mark.parametrize(("table", "at"), [("9", "-45,90"), ("11", "-90,-90")])
def test_differences_are_those_of_the_printed_frequencies(table: str, at: str) -> None:
    columns = printed_numbers("di-castri")["tables"][table][at]
    angles = np.radians([0.0, *map(float, at.split(","))])
    found = supple.theories(supple.load("industrial-3"), angles)
    EB = np.array(columns["EB"], float)
    T = np.array(columns["T"], float)
    # each printed frequency is known to half its last digit
    rounding = [
        100 * eb / t * (half_digit(text_eb) / eb + half_digit(text_t) / t)
        for eb, t, text_eb, text_t in zip(EB, T, columns["EB"], columns["T"], strict=True)
    ]
    assert np.all(np.abs(found.difference[1] - 100 * (EB / T - 1)) <= np.array(rounding))
    assert found.names == ("timoshenko", "euler-bernoulli", "inextensible")
    assert found.certified


def test_the_same_shape_is_found_where_theories_order_modes_differently() -> None:
    """A straight arm's axial modes are the same under T and EB: closed form, difference zero.

    Table 6 of the paper compares T's mode 7 (bending) with EB's mode 7 (axial): 11 %.
    """
    found = supple.theories(two_links(100), [0.0, 0.0])
    axial = [k for k, kind in enumerate(found.found[0].kind[:10]) if kind.startswith("axial")]
    assert axial == [3, 7]
    assert found.partner[1, 7] == 7
    assert np.abs(found.partner_difference[1, axial]).max() < 1e-9
    assert found.difference[1, 6] == pytest.approx(11, abs=0.5)
    # an inextensible arm has no axial mode
    assert (found.partner[2, axial] == 0).all()
    assert np.isnan(found.partner_difference[2, axial]).all()


def test_more_is_left_out_and_frequencies_rise() -> None:
    for name, pose in (("kuo-delta", {"position": [0.1, 0, 0.5]}), ("five-bar", {})):
        omega = supple.theories(supple.load(name), count=4, **pose).omega
        assert (np.diff(omega, axis=0) >= -1e-9 * omega[:-1]).all()


def test_a_theory_that_the_file_does_not_describe_is_named() -> None:
    found = supple.theories(supple.load("de-luca-two-link"), count=3)
    assert found.reference == "euler-bernoulli"
    assert "shear_stiffness" in found.missing["timoshenko"]
    assert "without timoshenko" in repr(found)


def test_one_pose_only() -> None:
    with pytest.raises(supple.SuppleError, match="one pose"):
        supple.theories(supple.load("industrial-3"), np.zeros((2, 3)), count=2)


def test_shapes_are_overlaid() -> None:
    found = supple.theories(supple.load("industrial-3"), [0, 0.8, 0.8], count=3)
    figure = found.plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(found.names)
    assert len(figure.axes) == 3
    # of every panel: three links at rest, and three links of three theories
    assert [len(ax.lines) for ax in figure.axes] == [12, 12, 12]
