"""The URDFs of two public packages: how many load, and their rigid dynamics beside Pinocchio's.

`pip install -e '.[robots]'` brings the packages; without them the test is skipped.
"""

import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import supple

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.soak
FOLDERS = {
    "example-robot-data": "cmeel.prefix/share/example-robot-data/robots",
    "pybullet": "pybullet_data",
}
# Of the files with joints: how many there are, load, and load with lenient=True
COUNTED = {"example-robot-data": (67, 63, 67), "pybullet": (60, 47, 54)}


def urdf_files(package: str) -> list[Path]:
    """Return the URDFs with joints of an installed package, or skip."""
    for place in sys.path:
        folder = Path(place) / FOLDERS[package]
        if folder.is_dir():
            found = sorted(folder.rglob("*.urdf"))
            return [file for file in found if "<joint" in file.read_text(errors="replace")]
    pytest.skip(f"{package} is not installed: pip install '.[robots]'")


def loaded(file: Path, lenient: bool) -> tuple[supple.Robot | None, list[str]]:
    """Return the robot, None where it is refused, and the notes or the refusal."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            robot = supple.load(file, lenient=lenient)
        except supple.SuppleError as problem:
            return None, [str(problem)]
    return robot, [str(note.message) for note in notes]


def differences(file: Path, robot: supple.Robot) -> dict[str, float] | None:
    """Return relative differences to Pinocchio at five poses; None where it refuses the file."""
    try:
        model = pin.buildModelFromUrdf(str(file))
    except (ValueError, RuntimeError):
        return None
    base, tip = re.search(r", from (.*) to (.*)$", robot.source).groups()

    # Joints of our chain, those that follow another one included: q_chain = G theta + offset
    chain = [link for link in robot.links if link.joint.type != "fixed"]
    names = [link.joint.name for link in chain]
    motors = [link.name for link in robot.moving]
    G = np.zeros((len(chain), len(motors)))
    offset = np.zeros(len(chain))
    for row, link in enumerate(chain):
        mimic = link.joint.mimic
        G[row, motors.index(link.name if mimic is None else mimic.joint)] = (
            1.0 if mimic is None else mimic.multiplier
        )
        offset[row] = 0.0 if mimic is None else mimic.offset

    # Side branches stand at zero: their rows and columns are left out
    rows = [model.joints[model.getJointId(name)].idx_v for name in names]
    model.gravity.linear = np.asarray(robot.gravity)
    data = model.createData()

    ours = supple.build(robot)
    rng = np.random.default_rng(8)
    worst = {"mass matrix": 0.0, "gravity": 0.0, "position": 0.0, "rotation": 0.0}
    for _ in range(5):
        theta = rng.uniform(-1, 1, len(motors))
        for k, link in enumerate(robot.moving):
            if link.joint.type == "prismatic":
                low, high = link.joint.limits or (0.0, 1.0)
                theta[k] = low + (high - low) * rng.uniform(0.2, 0.8)
        velocity = np.zeros(model.nv)
        velocity[rows] = G @ theta + offset
        q = pin.integrate(model, pin.neutral(model), velocity)
        M = pin.crba(model, data, q)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(rows, rows)]
        torque = pin.computeGeneralizedGravity(model, data, q)[rows]
        pin.framesForwardKinematics(model, data, q)
        at_base = data.oMf[model.getFrameId(base, pin.BODY)]
        there = at_base.inverse() * data.oMf[model.getFrameId(tip, pin.BODY)]
        pose = supple.forward(robot, theta)

        expected = G.T @ M @ G
        weight = 9.81 * sum(body.mass for body in model.inertias)
        apart = {
            "mass matrix": (ours.mass_matrix(theta) - expected) / np.abs(expected).max(),
            "gravity": (ours.gravity(theta) - G.T @ torque) / (weight or 1.0),
            "position": pose.position - there.translation,
            "rotation": pose.rotation - there.rotation,
        }
        found = {key: float(np.abs(value).max()) for key, value in apart.items()}
        worst = {key: max(value, found[key]) for key, value in worst.items()}
    return worst


@pytest.mark.parametrize("package", list(FOLDERS))
def test_public_urdfs_load_and_equal_pinocchio(package: str) -> None:
    strict = []
    lenient = []
    compared = 0
    largest = 0.0
    files = urdf_files(package)
    for file in files:
        robot, _ = loaded(file, lenient=False)
        strict += [file] if robot is not None else []
        robot, notes = loaded(file, lenient=True)
        if robot is None:
            print(f"refused: {file.name}: {notes[0][:200]}")
            continue
        lenient.append(file)
        print(f"{file.name}: {len(robot.moving)} joints; {'; '.join(notes)[:200]}")
        # Without joints there is nothing to compare; a negative inertia is zero here only
        if not robot.moving or any("zero instead" in note for note in notes):
            continue
        try:
            worst = differences(file, robot)
        except supple.SuppleError as problem:
            # A chain whose last links weigh nothing has no equations of motion
            assert "inertia" in str(problem), f"{file}: {problem}"  # noqa: PT017
            print(f"   not built: {problem}")
            continue
        if worst is None:
            continue
        compared += 1
        print("  ", {key: f"{value:.1e}" for key, value in worst.items()})
        largest = max(largest, *worst.values())
    told = f"{len(files)} files, {len(strict)} load, {len(lenient)} leniently"
    print(f"{package}: {told}, {compared} compared, at most {largest:.1e} apart")
    assert largest < 1e-12
    assert (len(files), len(strict), len(lenient)) == COUNTED[package]
