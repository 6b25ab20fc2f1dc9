"""Who asks which family a robot is: counted, so that a new family stays one file.

Counted outside `architectures`, `papers` and the description itself: isinstance and match on a
family's class, tables keyed by such classes,
`architecture ==`, the names of a Delta's links, `functions.closed`, and whether a robot has what
only some have: `links`, `closures`, `upper`, `platform`, `motor`, `moving`, ..
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.answers.registry import import_function
from supple.architectures import forms
from supple.architectures.kinds import architecture_of
from supple.architectures.tree import Tree
from supple.files import load
from supple.files.robots import DESCRIPTIONS, architectures
from supple.library import names
from supple.robot import (
    Closure,
    ClosureEnd,
    DeltaRobot,
    Joint,
    Link,
    MechanismJoint,
    MechanismLink,
    Motor,
    Mount,
)

PACKAGE = Path(__file__).parents[2] / "src" / "supple"
FAMILIES = {"SerialRobot", "DeltaRobot", "MechanismRobot"}
OWN = {"links", "closures", "moving", "planar", "upper", "lower", "platform", "motor", "motors"}
OWN |= {"architecture"}
LINKS = ("upper", "lower", "platform")
FREE = ("architectures", "papers", "robot", "faults", "library")
MOST = 4  # it may only fall; a few are wanted, one for each table of families


def named(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & FAMILIES


def texts(node: ast.AST) -> list[str]:
    return [
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def asks(node: ast.AST) -> bool:
    """Whether a piece of code asks which family a robot is."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "isinstance":
            return bool(named(node.args[1]))
        if node.func.id in ("hasattr", "getattr"):
            return bool(OWN & {*texts(node.args[1])}) and "robot" in ast.unparse(node.args[0])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr == "startswith" and any(
            t in LINKS for a in node.args for t in texts(a)
        )
    if isinstance(node, ast.Compare):
        whole = ast.unparse(node.left)
        literal = any(t in LINKS for side in (node.left, *node.comparators) for t in texts(side))
        return whole.endswith(".architecture") or (literal and not isinstance(node.ops[0], ast.In))
    if isinstance(node, ast.Attribute):
        return node.attr == "closed" and ast.unparse(node.value).endswith("functions")
    if isinstance(node, ast.Dict):
        return any(key is not None and bool(named(key)) for key in node.keys)
    return isinstance(node, ast.match_case) and bool(named(node.pattern))


def questions() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in FREE:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if asks(node):
                    yield f"{place}:{getattr(node, 'lineno', 0)} {ast.unparse(node)[:60]}"


def test_few_places_ask_which_family_a_robot_is() -> None:
    found = list(questions())
    assert len(found) <= MOST, "\n".join(found)


@pytest.mark.parametrize("name", names())
def test_every_architecture_does_its_duties(name: str) -> None:
    robot = load(name)
    asked = architecture_of(robot)
    assert isinstance(asked, Tree)
    each = asked.coordinates()
    motors = asked.motors
    assert all(c.low < c.high and c.unit in ("rad", "m") and c.key for c in each)
    pose = asked.usual()
    assert set(pose) == {asked.asked_by}
    found = asked.resolve(**{"theta": None, "position": None, **pose})
    assert found.reason.tolist() == [""]
    assert found.theta.shape == (1, len(motors))
    assert asked.reachable(pose[asked.asked_by][None], asked.asked_by).tolist() == [True]
    assert set(asked.parts())
    assert all(path for path in asked.parts())
    assert len(asked.up) == 3
    assert asked.description.startswith("a ")
    assert len(asked.drives) == len(motors)
    assert asked.reach is None or asked.reach > 0
    stretched = asked.outstretched
    assert stretched is None or stretched.shape == (len(motors),)
    from supple.structure import structure_of

    segments = tuple(s.name for s in structure_of(robot, found.at).segments)
    parents, tip, plates = asked.hangs(segments)
    assert len(parents) == len(segments)
    assert 0 <= tip < len(segments)
    assert all(-1 <= parent < i for i, parent in enumerate(parents))
    driven = [drive for drive in asked.drives if drive.segment]
    assert {drive.segment for drive in driven} <= set(segments)
    assert all(np.linalg.norm(drive.axis) == pytest.approx(1) for drive in driven)
    assert all(end in (0, -1) and len(links) > 2 for links, end in plates)
    assert all(
        asked.part_of_segment(segment) is not None or segment == "platform" for segment in segments
    )


def test_every_family_that_can_be_loaded_has_an_architecture() -> None:
    from supple.architectures.kinds import FAMILIES

    assert set(FAMILIES) == set(architectures().values())


def test_parts_made_without_being_validated_are_those_that_validation_makes() -> None:
    ends: Any = ("lower", "platform")
    pairs = [
        (forms.JOINT, MechanismJoint()),
        (forms.MOTOR, MechanismJoint(axis=(0.0, 1.0, 0.0))),
        (forms.ELBOW, MechanismJoint(type="universal")),
        (forms.FREE, MechanismJoint(type="free")),
        (forms.MOUNT, Mount()),
        (forms.END, ClosureEnd(link="platform")),
        (
            forms.WRISTS["single"],
            Closure(ends=ends, type="universal", axes=((0, 0, 1), (0, 1, 0))),
        ),
        (forms.WRISTS["parallelogram"], Closure(ends=ends, type="spherical")),
        (forms.WRISTS["twist"], Closure(ends=ends, type="constant-velocity")),
        (forms.HELD_WRIST, Closure(ends=ends, type="fixed")),
        (Link.model_fields["joint"].default, Joint()),
        (MechanismLink.model_fields["joint"].default, MechanismJoint()),
        (DeltaRobot.model_fields["motor"].default, Motor()),
    ]
    for made, validated in pairs:
        assert made == validated
        assert repr(made) == repr(validated)
        assert made.model_fields_set == validated.model_fields_set
        assert made.model_dump() == validated.model_dump()


def test_a_file_finds_the_class_of_its_family_without_the_others() -> None:
    found = {word: import_function(place) for word, place in DESCRIPTIONS.items()}
    assert found == architectures()
