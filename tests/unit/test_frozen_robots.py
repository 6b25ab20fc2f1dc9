"""A Robot cannot be changed, not even through its tables, and can still be copied and sent."""

import copy
import pickle

import pytest

import supple


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta"])
def test_tables_of_a_robot_cannot_be_changed(name: str) -> None:
    robot = supple.load(name)
    before = supple.modes(robot, **_where(name), count=2).omega
    for table in (robot.materials, robot.sections):
        word, part = next(iter(table.items()))
        for change in (
            lambda t=table, w=word, p=part: t.__setitem__(w, p),
            lambda t=table, w=word: t.__delitem__(w),
            lambda t=table: t.clear(),
            lambda t=table, w=word: t.pop(w),
            lambda t=table: t.popitem(),
            lambda t=table, w=word, p=part: t.update({w: p}),
            lambda t=table, p=part: t.setdefault("new", p),
            lambda t=table, w=word, p=part: t.__ior__({w: p}),
        ):
            with pytest.raises(supple.SuppleError, match="cannot be changed"):
                change()
    assert supple.modes(robot, **_where(name), count=2).omega == pytest.approx(before, rel=0)


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta"])
def test_a_robot_is_picklable_copyable_and_a_key(name: str) -> None:
    robot = supple.load(name)
    for twin in (pickle.loads(pickle.dumps(robot)), copy.deepcopy(robot), copy.copy(robot)):
        assert twin == robot
        assert hash(twin) == hash(robot)
        with pytest.raises(supple.SuppleError, match="cannot be changed"):
            twin.materials["other"] = next(iter(robot.materials.values()))
    assert robot.with_("name", "twin") != robot
    assert type(robot).model_validate(robot.model_dump()) == robot


def _where(name: str) -> dict:
    return {"position": [0, 0, 0.5]} if name == "kuo-delta" else {"theta": [0, 0.3, 0.3]}
