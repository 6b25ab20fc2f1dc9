"""Sizes that no robot has are refused where it is described; within the bounds all is answered."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import supple
from supple.beams.dynamic_stiffness import carry, state_matrix
from supple.beams.theory import Beam
from supple.errors import SuppleError

ARM = supple.load("di-castri-two-link")


def sized(length: float, diameter: float) -> supple.Robot:
    round_ = {"shape": "circle", "diameter": diameter}
    changes: dict[str, Any] = {f"links.{link.name}.length": length for link in ARM.links}
    return ARM.with_(changes | {f"links.{link.name}.section": round_ for link in ARM.links})


@pytest.mark.parametrize("length", [1e-12, 1e12, 3e18])
def test_no_robot_has_such_links(length: float) -> None:
    with pytest.raises(SuppleError, match=r"link1\.length: .* from 1e-09 m to 1e\+09 m"):
        ARM.with_("links.link1.length", length)


@pytest.mark.parametrize(
    "section",
    [
        {"shape": "circle", "diameter": 3e18},
        {"shape": "tube", "diameter": 1.0, "wall": 1e-12},
        {"shape": "rectangle", "depth": 1e12, "width": 1.0},
    ],
)
def test_nor_such_sections(section: dict[str, Any]) -> None:
    with pytest.raises(SuppleError, match="no size of a robot"):
        ARM.with_("links.link1.section", section)


def test_nor_hangs_its_links_so_far_away() -> None:
    with pytest.raises(SuppleError, match=r"1e\+12 m is too far away"):
        ARM.with_("links.link2.joint.mount", {"xyz": [1e12, 0, 0]})
    with pytest.raises(SuppleError, match="too far away"):
        ARM.with_("payload", {"mass": 1.0, "com": [0, -1e12, 0]})


@pytest.mark.parametrize("length", [1e-9, 1e-4, 1e9])
@pytest.mark.parametrize("diameter", [1e-9, 1e9])
def test_at_the_bounds_modes_have_kinds_shapes_and_pictures(
    tmp_path: Path, length: float, diameter: float
) -> None:
    found = supple.modes(sized(length, diameter), [0.3, 0.4], count=2)
    assert np.isfinite(found.omega).all()
    assert all(found.kind)
    assert np.isfinite(found.shapes.displacement).all()
    found.plot(tmp_path / "modes.png")
    assert "nan" not in repr(found)


def test_a_link_that_is_nothing_beside_its_load_has_no_assumed_modes() -> None:
    with pytest.raises(SuppleError, match="so heavy"):
        supple.modes(sized(1e-4, 1e-6), [0.3, 0.4], count=2, method="assumed")


@pytest.mark.parametrize("L", [1e-9, 1.0, 1e9, 1e12])
def test_a_piece_of_any_length_is_carried_as_by_the_exponential(L: float) -> None:
    """y(x) = exp(A x) y; powers of metres overflow at 1e12 m, powers of the piece's own do not."""
    beam = Beam(L, m=1 / L, EA=L, GJ=L**3, EI=(L**3, 2 * L**3), kGA=(L, L), rI=(L, L), rIp=L)
    state = np.array([1, 1, 1, 1 / L, 1 / L, 1 / L, 1, 1, 1, L, L, L])
    found = carry(beam, 0.5, [0.3 * L, L], state)
    for x, row in zip((0.3 * L, L), found, strict=True):
        wanted = expm(state_matrix(beam, 0.5) * x) @ state
        np.testing.assert_allclose(row / state, wanted / state, rtol=1e-9)


def test_moves_runs_and_bands_beyond_all_numbers_are_refused_in_a_sentence() -> None:
    """Each was a ZeroDivisionError, numpy's RuntimeWarning, or Ruckig's own words."""
    model = supple.build(ARM, supple.AssumedModes(1))
    with pytest.raises(SuppleError, match=r"duration is 1e-300 s: give at least 1e-12 s"):
        supple.simulate(model, duration=1e-300)
    with pytest.raises(SuppleError, match=r"1e-300 apart: there is no move"):
        supple.jerk_limited([0.0], [1e-300], 1.0, 4.0, 40.0)
    with pytest.raises(SuppleError, match=r"band .* below 1e\+12 Hz"):
        supple.stopband(ARM, (0.1, 1e308), {"theta.link2": (0.0, 0.1)})


def test_a_box_of_many_turns_is_one_turn() -> None:
    """It ran for ever: a joint that has turned once stands where it stood."""
    once = supple.stopband(ARM, (0.1, 0.2), {"theta.link2": (0.0, 2 * np.pi)})
    many = supple.stopband(ARM, (0.1, 0.2), {"theta.link2": (0.0, 1e12)})
    assert many.free is True
    assert many.cells == once.cells
    with pytest.raises(
        SuppleError, match=r"theta\.link2 .* no pose: give angles within 1e\+06 rad"
    ):
        supple.stopband(ARM, (0.1, 0.2), {"theta.link2": (1e18, 2e18)})
