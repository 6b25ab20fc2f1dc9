"""Library robots in every format: exported with the error stated, or refused in a sentence."""

import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import supple
from supple import library
from supple.exporters.registry import EXPORTERS

pytestmark = pytest.mark.soak

ONE_FILE = {"fmu": "robot.fmu", "mujoco": "robot.xml", "sdf": "robot.sdf"}
LOOPS = ("five-bar", "four-bar", "hexapod", "kuo-delta", "scara-parallel")

# what a format refuses, and the words that name the way round
REFUSED = {
    "exudyn": (("kuo-delta",), "export it to mujoco, c or fmu"),
    "simscape": (("hexapod", "scara-parallel", "theodore-rrp"), "export it to fmu"),
    "urdf": (LOOPS, "export it to mujoco, c or fmu"),
    "sdf": (LOOPS, "export it to mujoco, c or fmu"),
}


def head_of(to: str, path: Path) -> str:
    """Return the text in which a written file states its error."""
    if to == "fmu":
        with zipfile.ZipFile(path) as archive:
            return archive.read("modelDescription.xml").decode()
    if path.suffix == ".mat":
        from scipy.io import loadmat

        return "\n".join(loadmat(path)["about"])
    return path.read_text()


@pytest.mark.parametrize("to", list(EXPORTERS))
@pytest.mark.parametrize("name", list(library.names()))
def test_exported_with_its_error_or_refused(name: str, to: str, tmp_path: Path) -> None:
    robot = supple.load(name)
    place = tmp_path / ONE_FILE.get(to, "folder")
    refused, way_round = REFUSED.get(to, ((), ""))
    if name in refused:
        with pytest.raises(supple.SuppleError, match=way_round) as refusal:
            supple.export(robot, to=to, path=place)
        assert "\n" not in str(refusal.value)
        assert not place.is_file()
        return

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = supple.export(robot, to=to, path=place)
    assert out.files
    assert all(path.is_file() for path in out.files)

    certified = supple.modes(robot, out.theta, count=3).frequency_hz
    assert np.array_equal(out.exact_hz, certified[np.isfinite(certified)])
    stated = "nan"
    if to != "sdf":  # rigid: it has no natural frequency
        differences = np.abs(out.frequency_hz / out.exact_hz - 1)
        assert out.error == differences.max()
        assert out.error < 0.06
        stated = f"{out.error:.3g}"
    if to != "exudyn":
        heads = [head_of(to, path) for path in out.files[:1]]
    else:
        heads = [path.read_text() for path in out.files if path.suffix == ".py"]
    for head in heads:
        words = " ".join(head.split())
        assert "certified: " in words
        assert f"largest relative difference: {stated}" in words
        assert " ".join(out.rule.split())[:60] in words
