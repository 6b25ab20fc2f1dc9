"""[DiCastri2011]: every printed frequency, half its last digit; the known misprints as corrected.

The printed tables are data of the package (`supple/studies/papers/di-castri.json`); ids name table,
posture (degrees), column and mode. 504 frequencies are printed in Tables 2-6 and 9-11.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import supple
from supple.papers import di_castri
from supple.papers.cells import KnownFaults, half_digit, number, printed_numbers, right_number
from supple.papers.di_castri_joints import joint_flexibility
from supple.papers.reproduce import papers, reproduce

THEORIES = ("EB", "EBX", "T")
DATA = printed_numbers("di-castri")
KNOWN = KnownFaults(DATA["known"])
PLACES = [
    *[("2", "90", "EBX", 9), ("3", "0", "EB", 10), ("3", "0", "EBX", 10), ("3", "0", "T", 10)],
    *[("3", "90", "T", 10), ("5", "45", "EBX", 10), ("10", "90,-90", "T", 7)],
]
CORRECTED = dict(zip(PLACES, right_number("DiCastri2011", "corrected"), strict=True))


def frequency_cells() -> dict[tuple[str, str, str, int], tuple[str, int]]:
    """Every printed frequency by place, with its row among the column's frequencies from 0."""
    found = {}
    for table, postures in DATA["tables"].items():
        for at, columns in postures.items():
            for column in THEORIES:
                row = 0
                for mode, text in enumerate(columns.get(column, []), 1):
                    if number(text) is not None:
                        found[table, at, column, mode] = text, row
                        row += 1
    return found


CELLS = frequency_cells()


def test_the_paper_prints_504_frequencies() -> None:
    assert len(CELLS) == 504
    assert set(CORRECTED) <= set(CELLS)


@pytest.mark.parametrize("place", CELLS, ids=lambda p: f"T{p[0]}-{p[1]}deg-{p[2]}-mode{p[3]}")
def test_frequency(place: tuple[str, str, str, int]) -> None:
    text, row = CELLS[place]
    text = CORRECTED.get(place, text)
    ours = di_castri.frequencies(*place[:3])[row]
    assert abs(ours - float(text)) <= half_digit(text)


@pytest.mark.parametrize("column", ["EB", "T"])
def test_figure_5(column: str) -> None:
    """Figure 5 has its numbers in the drawing only; the reference is another recomputation."""
    for ours, text in zip(
        di_castri.frequencies("Figure 5", "45,45", column),
        DATA["figure5"]["45,45"][column],
        strict=True,
    ):
        assert abs(ours - float(text)) <= half_digit(text)


@pytest.mark.parametrize("place", CORRECTED, ids=lambda p: f"T{p[0]}-{p[1]}deg-{p[2]}-mode{p[3]}")
def test_a_misprint_is_none_of_ours(place: tuple[str, str, str, int]) -> None:
    """The printed value of the seven cells is out of reach, so the list cannot be shortened."""
    text, row = CELLS[place]
    assert abs(di_castri.frequencies(*place[:3])[row] - float(text)) > half_digit(text)
    assert KNOWN.exact(*place) == CORRECTED[place]


def test_through_the_front_door() -> None:
    """The documented way to thicken the arm gives Table 5, 45 degrees, Timoshenko."""
    robot = supple.load("di-castri-two-link").with_(
        {"links.link1.section.depth": 50 * 0.61e-3, "links.link2.section.depth": 50 * 0.6e-3}
    )
    found = supple.modes(robot, [0, np.pi / 4], count=10)
    texts = DATA["tables"]["5"]["45"]["T"]
    assert found.certified
    for ours, text in zip(found.frequency_hz, texts, strict=True):
        assert abs(ours - float(text)) <= half_digit(text)


@pytest.fixture(scope="module")
def whole():
    return reproduce("di-castri")


def test_every_verdict_is_as_the_errata_say(whole) -> None:
    assert [cell.line() for cell in whole.cells if not cell.ok] == []
    assert [claim.line() for claim in whole.claims if not claim.ok] == []
    assert whole.ok


def test_the_counts_of_the_errata(whole) -> None:
    """Delta-dagger of Table 6 is wrong at 45 and 90 degrees but for mode 1."""
    every, met = map(int, right_number("DiCastri2011", "counts"))
    frequencies = [c for c in whole.cells if c.column in THEORIES and c.table != "Figure 5"]
    numeric = [c for c in frequencies if number(c.printed) is not None]
    assert len(numeric) == every
    assert sum(c.verdict == "agrees" for c in numeric) == met
    wrong = [c for c in whole.cells if c.column == "dEB" and c.verdict == "misprint"]
    assert {(c.table, c.posture) for c in wrong} == {("Table 6", "45"), ("Table 6", "90")}
    assert len(wrong) == 18


def test_shear_coefficients() -> None:
    """Printed for the strips; of the box that of the library, which the tables identify."""
    found = {
        value
        for table in ("2", "9")
        for section in di_castri.arm(table, "T").sections.values()
        for value in np.atleast_1d(section.shear_coefficient).tolist()
    }
    assert found == {float(text) for text in right_number("DiCastri2011", "shear")}


def test_every_printed_cell_has_a_verdict(whole) -> None:
    dashes = sum(
        text == "—"
        for postures in DATA["tables"].values()
        for columns in postures.values()
        for texts in columns.values()
        for text in texts
    )
    printed_cells = sum(
        len(texts)
        for postures in DATA["tables"].values()
        for columns in postures.values()
        for texts in columns.values()
    )
    assert len(whole.cells) == printed_cells - dashes + 20  # and the 20 of Figure 5


def test_a_changed_number_is_noticed() -> None:
    """One digit changed in the data, and the verdict is unexplained and not ok."""
    columns = {"T": ["0.2003", *DATA["tables"]["2"]["0"]["T"][1:]]}
    cell = next(iter(di_castri._posture_cells("2", "0", columns, KNOWN)))
    assert (cell.verdict, cell.expected, cell.ok) == ("differs", "agrees", False)
    assert "EXPECTED agrees" in cell.line()


def test_answers_are_plain_data(whole) -> None:
    again = json.loads(json.dumps(whole.to_dict()))
    assert again["ok"] is True
    assert len(again["cells"]) == len(whole.cells)
    assert whole.lines()[-1].strip() == whole.summary == "Every verdict is as expected."


def test_papers_are_listed_and_an_unknown_one_is_refused() -> None:
    assert "di-castri" in papers()
    with pytest.raises(supple.SuppleError, match="di-castri"):
        reproduce("no-such-paper")


def test_joint_flexibility_both_limits() -> None:
    """Table 7: 1e11 N m/rad is rigid; soft springs are pinned joints, zero modes counted."""
    found = joint_flexibility(np.array([1e11, 1e6, 1e-6, 1e-8]))
    assert found.rigid.shape == (5, 3, 10)
    for name in ("both", "shoulder", "elbow"):
        assert found.frequency_hz[name].shape == (5, 3, 4, 10)
        drop = found.drop(name)
        assert (drop[:, :, 0] > -1e-10).all()
        assert (drop[:, :, 0] < 1e-5).all()
        # Softening a joint lowers every frequency.
        assert (np.diff(found.frequency_hz[name], axis=2) < 1e-9 * found.rigid[:, :, None]).all()
        zeros = found.zeros[name]
        pinned = found.pinned[name]
        assert (pinned[..., :zeros] == 0).all()
        assert (pinned[..., zeros:] > 0).all()
        for index, allowed in ((-2, 1e-5), (-1, 1e-7)):
            soft = found.frequency_hz[name][:, :, index]
            np.testing.assert_allclose(soft[..., zeros:], pinned[..., zeros:], rtol=allowed)
        fall = (
            found.frequency_hz[name][:, :, -2, :zeros] / found.frequency_hz[name][..., -1, :zeros]
        )
        np.testing.assert_allclose(fall, 10, rtol=1e-3)  # as sqrt(k)
