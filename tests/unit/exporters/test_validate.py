"""Other engines give our answers, the nearer the finer their mesh."""

from collections import defaultdict

import numpy as np
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
        errors = [found["motion y"][f"{engine} ({n} parts)"] for n in (4, 8)]
        assert 3.5 < errors[0] / errors[1] < 4.6
    errors = [found["deflection under 1 N y"][f"mujoco ({n} parts)"] for n in (4, 8)]
    assert 3.5 < errors[0] / errors[1] < 4.6
    assert set(table.to_pandas().columns) == {
        *("engine", "question", "ours", "theirs", "difference")
    }


def test_a_loop_moves_as_in_mujoco() -> None:
    pytest.importorskip("mujoco")
    table = supple.validate("four-bar", None, ["mujoco"], segments=(4, 8))
    moved = by_question(table)["motion x"]
    assert moved["mujoco (8 parts)"] < 5e-6
    assert moved["mujoco (8 parts)"] < 0.3 * moved["mujoco (4 parts)"]


def test_an_inertia_about_one_axis_is_not_raised_where_the_joint_can_have_it() -> None:
    pytest.importorskip("mujoco")
    table = supple.validate("theodore-rrp", [0.1, 0.2, 0.9], ["mujoco"], segments=8)
    motion = [row.difference for row in table if row.question.startswith("motion")]
    assert len(motion) == 3
    assert max(motion) < 5e-3


@pytest.mark.slow
def test_pinocchio_agrees_to_rounding() -> None:
    pytest.importorskip("pinocchio")
    for name in ("two-arms", "theodore-rrp"):
        table = supple.validate(name, None, ["pinocchio"])
        assert sum(row.question.startswith("motion, links rigid") for row in table) == 3
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
    assert found["vibration under a pulse of 1 N, joints locked, y"]["opensees (8 parts)"] < 1e-6


def test_what_cannot_be_asked_is_said() -> None:
    table = supple.validate("kuo-delta", None, ["pinocchio"])
    assert len(table) == 0
    assert "loops" in table.skipped[0]
    with pytest.raises(supple.SuppleError, match="engines holds 'gazebo'"):
        supple.validate("industrial-3", None, ["gazebo"])


@pytest.mark.slow
def test_implicit_steps_move_as_mujocos_own() -> None:
    pytest.importorskip("mujoco")
    from xml.etree import ElementTree

    from supple.exporters.engines import Asked, midpoint_steps, mujoco_steps
    from supple.exporters.export import certified_frequencies, default_pose
    from supple.exporters.mujoco_model import (
        chain_model,
        loaded_model,
        pose_model,
        structure_matrices,
    )

    robot = supple.load("four-bar")
    theta = default_pose(robot, None)
    asked = Asked(robot, theta, certified_frequencies(robot, theta, 1))
    tree = chain_model(asked.weightless, theta, 4, 0.0, [])
    model = loaded_model(ElementTree.tostring(tree, "unicode"))
    fastest = structure_matrices(model, pose_model(model, asked.weightless, theta))[2]
    own = mujoco_steps(model, asked, fastest)
    ends = [midpoint_steps(model, asked, n) for n in (100, 200, 400)]
    changes = [np.linalg.norm(ends[k + 1] - ends[k]) for k in range(2)]
    assert changes[1] < 0.3 * changes[0]  # the error falls with the square of the step
    extrapolated = ends[2] + (ends[2] - ends[1]) / 3
    assert np.linalg.norm(extrapolated - own) < 2e-6 * np.linalg.norm(own)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two-arms", "scara-parallel"])
def test_spatial_motions_come_nearer_with_segments(name: str) -> None:
    """Our own side once stopped at 3e-4 (scara-parallel) and 1e-4 (two-arms), whatever the mesh."""
    pytest.importorskip("mujoco")
    table = supple.validate(name, None, ["mujoco"], segments=(8, 16))
    moved: dict[str, float] = defaultdict(float)
    for row in table:
        if row.question.startswith("motion"):
            moved[row.engine] = max(moved[row.engine], row.difference)
    if name == "two-arms":
        assert 3.5 < moved["mujoco (8 parts)"] / moved["mujoco (16 parts)"] < 4.6
    assert moved["mujoco (16 parts)"] < 2e-5
