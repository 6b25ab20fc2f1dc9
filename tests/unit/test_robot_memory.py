"""What is kept with a robot is that robot's own: no copy, changed or not, answers with it."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import supple
from supple.robot import cached_for_robot
from supple.structure import structure_of

THETA = [0.1, 0.2, 0.3]


def omega(robot):
    return supple.modes(robot, THETA, count=4).omega


@pytest.mark.parametrize(
    "changed",
    [
        lambda robot, links: robot.model_copy(update={"links": links}),
        lambda robot, links: robot.model_copy(update={"links": links}, deep=True),
        lambda robot, links: robot.with_("links.link1.length", links[0].length),
        lambda robot, links: pickle.loads(pickle.dumps(robot)).model_copy(update={"links": links}),
        lambda robot, links: copy.copy(robot).model_copy(update={"links": links}),
    ],
    ids=["copy", "deep copy", "with_", "pickle", "copy of a copy"],
)
def test_a_changed_copy_answers_for_itself(changed):
    robot = supple.load("industrial-3")
    before = omega(robot)
    other = robot.with_("links.link1.length", 1.1)
    wanted = omega(other)
    assert not np.allclose(before, wanted)
    assert np.array_equal(omega(changed(robot, other.links)), wanted)
    assert np.array_equal(omega(robot), before)


def test_it_is_asked_once_and_seen_nowhere():
    robot = supple.load("industrial-3")
    fresh = supple.load("industrial-3")
    asked = []
    for _ in range(3):
        cached_for_robot(robot, "something", lambda: asked.append(1))
    assert asked == [1]
    omega(robot)
    assert robot == fresh
    assert robot.model_dump() == fresh.model_dump()
    assert repr(robot) == repr(fresh)
    assert pickle.dumps(pickle.loads(pickle.dumps(robot))).count(b"beams") == 0


def test_what_is_kept_cannot_be_changed():
    robot = supple.load("industrial-3")
    kept = structure_of(robot, THETA).numbers
    assert kept is structure_of(robot, np.zeros((5, 3))).numbers
    arrays = [part for part in vars(kept).values() if isinstance(part, np.ndarray)]
    assert len(arrays) == 5
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_segments_that_were_exchanged_have_their_own_numbers():
    structure = structure_of(supple.load("industrial-3"), THETA)
    heavy = dataclasses.replace(structure.segments[-1], tip_mass=np.eye(6))
    changed = dataclasses.replace(structure, segments=(*structure.segments[:-1], heavy))
    assert np.array_equal(changed.tree().tip[-1], np.eye(3))
