"""The tour meets what the papers print."""

import numpy as np
import pytest

from supple import library
from supple.papers.cells import right_number
from supple.papers.tour import stops, tour


@pytest.mark.parametrize("name", ["de-luca-two-link", "theodore-rrp"])
def test_printed_numbers_are_met(name: str) -> None:
    (stop,) = tour((name,))
    assert stop.rows
    assert {row.verdict for row in stop.rows} == {"agrees"}
    assert stop.found.certified


@pytest.mark.slow
def test_industrial_arm_counts_every_cell_of_its_paper() -> None:
    (stop,) = tour(("industrial-3",))
    assert {row.verdict for row in stop.rows} == {"agrees"}
    assert stop.tally["agrees"] == 873


def test_delta_meets_the_print_by_its_model_and_has_the_right_one_beside() -> None:
    (stop,) = tour(("kuo-delta",))
    assert [row.printed for row in stop.rows] == [f"{row.ours:.4f}" for row in stop.rows]
    assert stop.tally == {"agrees": 96}
    right = np.array(right_number("Kuo2016", "right"), float)
    np.testing.assert_allclose([row.right for row in stop.rows], right, rtol=1e-5)
    assert "slips" in stop.note
    assert stop.motion is not None
    assert stop.motion[1].small


def test_all_stops_are_library_robots() -> None:
    assert set(stops()) <= set(library.names())
