"""Planar answers say so: certified in the x-y plane, and the lowest frequency out of it."""

import json

import numpy as np
import pytest

import supple
from supple.view.scene.scenes import scene_of

FLAT = {
    "name": "flat",
    "planar": True,
    "links": [
        {
            "name": "blade",
            "length": 1.0,
            "mass_per_length": 1.0,
            "bending_stiffness": [100.0, 64.0],
            "theory": "inextensible",
        }
    ],
}


def test_the_lowest_out_of_plane_frequency_is_told() -> None:
    """A cantilever: 3.516 sqrt(EI / m L^4) in each plane, sqrt(64 / 100) apart."""
    found = supple.modes(supple.SerialRobot.model_validate(FLAT), count=2)
    assert found.plane == "x-y"
    assert found.out_of_plane_hz == pytest.approx(0.8 * found.frequency_hz[0], rel=1e-9)
    assert "in the x-y plane" in found.proof
    assert f"{found.out_of_plane_hz:.6g} Hz" in found.proof
    assert "in the x-y plane" in scene_of(found).subtitle
    assert f"{found.out_of_plane_hz:.4g} Hz" in scene_of(found).subtitle


def test_a_rolled_blade_swaps_its_planes() -> None:
    rolled = supple.SerialRobot.model_validate(FLAT).with_("links.blade.roll", np.pi / 2)
    found = supple.modes(rolled, count=3)
    assert found.out_of_plane_hz == pytest.approx(found.frequency_hz[0] / 0.8, rel=1e-9)


def test_above_what_is_told_none_is() -> None:
    rolled = supple.SerialRobot.model_validate(FLAT).with_(
        "links.blade.bending_stiffness", [1, 1e6]
    )
    assert supple.modes(rolled, count=2).out_of_plane_hz is None


def test_spatial_robots_have_no_plane() -> None:
    spatial = supple.SerialRobot.model_validate({**FLAT, "planar": False})
    found = supple.modes(spatial, count=1)
    assert found.plane is None
    assert found.out_of_plane_hz is None
    assert found.proof.startswith("Certified: counted exactly")
    by_elements = supple.modes(supple.SerialRobot.model_validate(FLAT), count=1, method="elements")
    assert by_elements.proof.startswith("Not certified")


def test_table_and_document_say_so(tmp_path) -> None:
    from typer.testing import CliRunner

    from supple.cli import app

    file = tmp_path / "flat.json"
    file.write_text(json.dumps({"supple": 1, "architecture": "serial", **FLAT}))
    table = CliRunner().invoke(app, ["modes", str(file), "--count", "1"])
    assert "Certified in the x-y plane" in table.stdout
    answer = json.loads(
        CliRunner().invoke(app, ["modes", str(file), "--count", "1", "--json"]).stdout
    )
    assert answer["certified"] is True
    assert answer["plane"] == "x-y"
    assert answer["out_of_plane_hz"] == pytest.approx(0.8 * answer["frequency_hz"][0])
