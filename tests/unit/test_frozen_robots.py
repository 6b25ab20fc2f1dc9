"""A Robot cannot be changed, not even through its tables, and can still be copied and sent."""

import copy
import pickle

import numpy as np
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


@pytest.mark.parametrize("name", ["industrial-3", "theodore-rrp", "four-bar", "kuo-delta"])
def test_the_numbers_of_a_model_cannot_be_changed(name: str) -> None:
    """M and h are made of them when they are first asked for, and robots lend theirs to models."""
    model = supple.build(supple.load(name), supple.AssumedModes(1))
    for twin in (model, pickle.loads(pickle.dumps(model))):
        seen: set[int] = set()
        assert _writable(twin.chain, seen) == 0
        assert len(seen) > 20


def test_what_a_robot_remembers_cannot_be_changed() -> None:
    robot = supple.load("industrial-3")
    found = supple.modes(robot, [0, 0.3, 0.3], count=2)
    numbers = found.structure.known_numbers
    for array in (numbers.beams, numbers.tip, numbers.segments[0].tip_mass):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 2
    assert _writable(numbers, set()) == 0
    again = supple.modes(robot, [0, 0.3, 0.3], count=2)
    assert (again.omega == found.omega).all()


def _writable(value: object, seen: set[int]) -> int:
    """How many arrays among a value's parts can be changed."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return int(value.flags.writeable)
    if isinstance(value, tuple | list):
        return sum(_writable(part, seen) for part in value)
    return sum(_writable(part, seen) for part in getattr(value, "__dict__", {}).values())


def test_tables_of_answers_cannot_be_changed() -> None:
    robot = supple.load("industrial-3")
    model = supple.build(robot, supple.AssumedModes(1))
    run = supple.simulate(model, duration=0.01, outputs={"tip": supple.Tip()})
    slopes = supple.sensitivities(robot, [0, 0.3, 0.3], parameters=["payload.mass"], count=1)
    for answer in (run, slopes):
        for twin in (answer, pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
            table = twin.outputs if answer is run else twin.derivatives
            with pytest.raises(supple.SuppleError, match="cannot be changed"):
                table["other"] = 1.0
            assert _writable(tuple(table.values()), set()) == 0
    assert type(dict(run.outputs)) is dict
