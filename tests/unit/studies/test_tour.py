"""The tour meets what the papers print."""

import numpy as np
import pytest

from supple import library
from supple.studies.tour import stops, tour


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
    assert "873 agrees" in stop.tally


def test_delta_is_the_right_model_and_says_so() -> None:
    """Right values: errata of [Kuo2016], n = 8, rad/s."""
    (stop,) = tour(("kuo-delta",))
    right = [20.5547, 22.5634, 24.9832, 53.9768, 61.9038, 62.8200, 111.308, 121.289]
    np.testing.assert_allclose([row.ours for row in stop.rows], right, rtol=1e-5)
    assert "four slips" in stop.note


def test_all_stops_are_library_robots() -> None:
    assert set(stops()) <= set(library.names())
