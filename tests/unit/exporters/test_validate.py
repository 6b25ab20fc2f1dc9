"""Other engines give our answers, the nearer the finer their mesh."""

from collections import defaultdict

import pytest

import supple


def by_question(table: supple.Validation) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in table:
        found[row.question][row.engine] = row.difference
    return found


def test_mujoco_and_exudyn_come_nearer() -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("exudyn")
    table = supple.validate("de-luca-two-link", [0.3, 0.4], ["mujoco", "exudyn"], segments=(4, 8))
    found = by_question(table)
    assert found["mass, kg"]["mujoco (8 parts)"] < 1e-6
    assert found["tip x"]["mujoco (8 parts)"] < 1e-12
    for engine in ("mujoco", "exudyn"):
        for k in (1, 2, 3):
            errors = [found[f"frequency {k}, Hz"][f"{engine} ({n} parts)"] for n in (4, 8)]
            assert 3.5 < errors[0] / errors[1] < 4.6
        assert found["motion y"][f"{engine} (8 parts)"] < 0.02
    errors = [found["deflection under 1 N y"][f"mujoco ({n} parts)"] for n in (4, 8)]
    assert 3.5 < errors[0] / errors[1] < 4.6
    assert set(table.to_pandas().columns) == {
        *("engine", "question", "ours", "theirs", "difference")
    }


def test_pinocchio_agrees_to_rounding() -> None:
    pytest.importorskip("pinocchio")
    table = supple.validate("two-arms", None, ["pinocchio"])
    assert len(table) >= 4
    assert max(row.difference for row in table) < 1e-9


def test_opensees_has_the_frequencies() -> None:
    pytest.importorskip("openseespy")
    from supple.exporters.engines import ENGINES

    if not ENGINES["opensees"].installed:
        pytest.skip("OpenSeesPy does not load here")
    table = supple.validate("industrial-3", [0, 0.5, 0.5], ["opensees"], segments=(4, 8))
    found = by_question(table)
    for k in (1, 2, 3):
        errors = [found[f"frequency {k}, Hz"][f"opensees ({n} parts)"] for n in (4, 8)]
        assert errors[1] < 1e-3
        assert errors[1] < errors[0]


def test_what_cannot_be_asked_is_said() -> None:
    table = supple.validate("kuo-delta", None, ["pinocchio"])
    assert len(table) == 0
    assert "loops" in table.skipped[0]
    with pytest.raises(supple.SuppleError, match="engines holds 'gazebo'"):
        supple.validate("industrial-3", None, ["gazebo"])
