"""Exudyn: the written script, run by Exudyn, has the certified frequencies as the rule says."""

from pathlib import Path

import pytest

import supple
from hostile import hostile_robot
from supple import library

pytest.importorskip("exudyn")
HELD = [name for name in library.names() if name != "kuo-delta"]


@pytest.mark.parametrize("name", HELD)
def test_frequencies_of_the_assembled_robot(name: str, tmp_path: Path) -> None:
    errors = [
        supple.export(name, "exudyn", tmp_path, segments=segments).error for segments in (4, 8)
    ]
    assert errors[1] < 0.02
    assert 3.5 < errors[0] / errors[1] < 4.6


def test_universal_closures_are_refused_with_a_way_round(tmp_path: Path) -> None:
    with pytest.raises(supple.SuppleError, match="export it to mujoco, c or fmu"):
        supple.export("kuo-delta", "exudyn", tmp_path)


def test_hostile_names(tmp_path: Path) -> None:
    out = supple.export(hostile_robot(), "exudyn", tmp_path)
    assert out.files[0].read_text().isascii()
    assert out.error < 0.02
