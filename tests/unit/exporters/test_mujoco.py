"""MuJoCo: chains of segments whose frequencies converge as the rule says, and that move right."""

from pathlib import Path

import numpy as np
import pytest

import supple
from hostile import LINK, hostile_robot
from supple import library
from supple.architectures.kinds import architecture_of

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("name", list(library.names()))
def test_frequency_error_falls_with_the_square(name: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    errors = []
    for segments in (4, 8):
        out = supple.export(name, "mujoco", path, segments=segments)
        assert out.error == pytest.approx(np.abs(out.frequency_hz / out.exact_hz - 1).max())
        errors.append(out.error)
    assert errors[1] < 0.02
    assert 3.5 < errors[0] / errors[1] < 4.6
    text = path.read_text()
    assert "certified:" in text
    model = mujoco.MjModel.from_xml_path(str(path))
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SITE, "tip") >= 0
    for drive in architecture_of(supple.load(name)).drives:
        assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, drive.name) >= 0


@pytest.mark.soak
@pytest.mark.parametrize("name", list(library.names()))
def test_from_two_to_sixteen_segments(name: str, tmp_path: Path) -> None:
    errors = []
    for segments in (2, 4, 8, 16):
        out = supple.export(name, "mujoco", tmp_path / "arm.xml", segments=segments)
        errors.append(out.error)
    print(name, errors)
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert (ratios[1:] > 3.5).all()


def test_a_tip_moves_as_simulate_says(tmp_path: Path) -> None:
    """Within what the error of the frequencies allows over the run."""
    robot = supple.load("de-luca-two-link")
    path = tmp_path / "arm.xml"
    out = supple.export(robot, "mujoco", path, segments=16)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    tau = [0.05, 0.02]
    data.ctrl[:] = tau
    duration = 0.5
    mujoco.mj_forward(model, data)
    while data.time < duration - model.opt.timestep / 2:
        mujoco.mj_step(model, data)
    ours = supple.build(robot, supple.AssumedModes(4))
    run = supple.simulate(ours, tau, duration=float(data.time), tolerance=1e-9, method="adams")
    start = ours.tip(run.q[0])
    end = ours.tip(run.q[-1])
    moved = np.linalg.norm(end - start)
    tip = data.site("tip").xpos
    assert np.linalg.norm(tip - end) < 5 * max(out.error, 1e-3) * moved


def test_hostile_names(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    supple.export(hostile_robot(), "mujoco", path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, f"{LINK}0") >= 0


def test_joint_springs_and_rotors(tmp_path: Path) -> None:
    robot = supple.load("industrial-3").with_(
        {"links.link2.joint.stiffness": 2e5, "links.link2.joint.rotor_inertia": 1.0}
    )
    out = supple.export(robot, "mujoco", tmp_path / "arm.xml", theta0=[0, 0.5, -0.4], segments=16)
    assert out.error < 5e-3


def test_what_it_cannot_hold_is_refused_with_a_way_round(tmp_path: Path) -> None:
    robot = supple.load("industrial-3").with_(
        "foundation", {"translation": [1e8, 1e8, 1e8], "mass": 10}
    )
    with pytest.raises(supple.SuppleError, match="export it to c or fmu"):
        supple.export(robot, "mujoco", tmp_path / "arm.xml")
