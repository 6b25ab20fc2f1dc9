"""Validate: the same robot in other engines, the same questions, and a table of differences."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..arguments import as_list, brief, checked, counts, whole_number
from ..errors import SuppleError
from ..robot import Robot, a_robot
from .engines import ENGINES, Asked
from .export import certified_frequencies, default_pose

__all__ = ["Validation", "ValidationRow", "validate", "validation_table"]

Array = NDArray[np.float64]


class ValidationRow(NamedTuple):
    """One question, answered by us and by another engine.

    `difference` is relative: to our value, or for a vector to its length.
    """

    engine: str
    question: str
    ours: float
    theirs: float
    difference: float


@dataclass(frozen=True)
class Validation(Answer):
    """Answers of other engines beside ours; iterate over it row by row.

    From `supple.validate`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,), rad or m.
    rows : tuple of ValidationRow
        engine, question, ours, theirs, difference.
    skipped : tuple of str
        Engines that were not used, each with the reason.
    """

    robot: Robot
    theta: Array
    rows: tuple[ValidationRow, ...]
    skipped: tuple[str, ...]

    dims: ClassVar = {"difference": ("row",)}
    table_rows: ClassVar = ("row",)

    @property
    def difference(self) -> Array:
        """(rows,) relative differences."""
        return np.array([row.difference for row in self.rows])

    def __iter__(self) -> Iterator[ValidationRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def validation_table(found: Validation) -> Any:
    """Return the rows as a pandas DataFrame."""
    import pandas

    return pandas.DataFrame(list(found.rows), columns=list(ValidationRow._fields))


def _show_progress(words: str) -> None:
    """Replace the line on the error stream, where that is a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{words:<40}\r")
        sys.stderr.flush()


@checked
def validate(
    robot: Annotated[Robot | str, a_robot],
    theta: ArrayLike | None = None,
    engines: Annotated[Sequence[str], as_list] | None = None,
    *,
    segments: Annotated[int | Sequence[int], counts(1, 200)] = (8, 16),
    count: Annotated[int, whole_number(1, 20)] = 3,
) -> Validation:
    """Compare the answers of supple with those of other engines.

    Masses, position of the tip, natural frequencies with locked joints, static deflection and a
    short motion, by every installed engine that can represent the robot. Engines with a mesh are
    run with several meshes, so that the table shows how the difference decreases.

    Parameters
    ----------
    robot : Robot or str
        The robot, or its name.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: zero, or the usual pose of the robot.
    engines : sequence of str, optional
        mujoco, exudyn, pinocchio, opensees. Default: all that are installed.
    segments : int or sequence of int
        Segments of each elastic link in engines with a mesh.
    count : int
        Number of frequencies.

    Returns
    -------
    Validation
        Rows of engine, question, ours, theirs and relative difference.

    Examples
    --------
    >>> import supple
    >>> table = supple.validate("industrial-3", [0, 0.5, 0.5], engines=["pinocchio"])
    >>> max(row.difference for row in table) < 1e-9
    True
    """
    assert isinstance(robot, Robot)
    words = list(ENGINES) if engines is None else list(engines)
    if not all(isinstance(word, str) for word in words):
        raise SuppleError(f"engines is {brief(engines)}: it may hold {', '.join(ENGINES)}")
    for word in words:
        if word not in ENGINES:
            raise SuppleError(f"engines holds {brief(word)}: it may hold {', '.join(ENGINES)}")
    at = default_pose(robot, theta)
    case = Asked(robot, at, certified_frequencies(robot, at, count))
    meshes = [segments] if isinstance(segments, int) else list(segments)
    rows: list[ValidationRow] = []
    skipped: list[str] = []
    for word in words:
        engine = ENGINES[word]
        if not engine.installed:
            if engines is not None:
                raise SuppleError(f"{word} is not installed: pip install {engine.module}")
            skipped.append(f"{word} is not installed: pip install {engine.module}")
            continue
        refusal = engine.refusal(case)
        if refusal:
            skipped.append(f"{word}: {refusal}")
            continue
        for mesh in meshes if engine.meshes else meshes[:1]:
            title = f"{word} ({mesh} parts)" if engine.meshes else word
            _show_progress(f"asking {title} ..")
            for question in engine.answers(case, mesh):
                scale = question.scale if question.scale is not None else abs(question.ours)
                difference = abs(question.theirs - question.ours) / (scale or 1.0)
                rows.append(
                    ValidationRow(
                        title, question.question, question.ours, question.theirs, difference
                    )
                )
    _show_progress("")
    return Validation(robot, at, tuple(rows), tuple(skipped))
