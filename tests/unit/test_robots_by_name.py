"""Wherever a robot is taken, its file or its name in the library may be given."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

import supple


def functions_of_robots() -> list[str]:
    """Public functions with an argument called robot."""
    names = []
    for name in supple.__all__:
        public = getattr(supple, name)
        if inspect.isfunction(public) and "robot" in inspect.signature(public).parameters:
            names.append(name)
    return names


@pytest.mark.parametrize("name", functions_of_robots())
def test_a_word_for_a_robot_is_looked_up(name: str) -> None:
    with pytest.raises(supple.SuppleError, match="did you mean 'industrial-3'"):
        getattr(supple, name)(robot="industral-3")


def test_a_name_a_path_and_a_robot_give_the_same(tmp_path: Path) -> None:
    robot = supple.load("industrial-3")
    file = tmp_path / "arm.yaml"
    supple.dump(robot, file)
    expected = supple.modes(robot, [0.1, 0.2, 0.3], count=3)
    for given in ("industrial-3", file, str(file)):
        found = supple.modes(given, [0.1, 0.2, 0.3], count=3)  # type: ignore[arg-type]
        np.testing.assert_array_equal(found.omega, expected.omega)
    assert supple.build("industrial-3", supple.AssumedModes(1)).robot == robot  # type: ignore[arg-type]
    motors = supple.PlatformPath("kuo-delta", supple.CirclePath())  # type: ignore[arg-type]
    assert motors.robot == supple.load("kuo-delta")


def test_a_model_for_a_robot_is_still_a_sentence() -> None:
    model = supple.build("industrial-3", supple.AssumedModes(1))  # type: ignore[arg-type]
    with pytest.raises(supple.SuppleError, match="robot is a Model: give a Robot, such as its"):
        supple.statics(model)  # type: ignore[arg-type]
