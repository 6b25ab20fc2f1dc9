"""From plain data to a description, or to one error with every fault, its place and its line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ..errors import RobotError
from ..values import Place
from .known import get, plain
from .mending import mend_data
from .sentences import Fault, sentences, without_typos

__all__ = ["Fault", "every_fault", "robot_error", "validate_data"]

AnyModel = TypeVar("AnyModel", bound=BaseModel)

MAX_SENTENCES = 50  # sentences printed of one description
MAX_SENTENCE_LENGTH = 500  # characters printed of one sentence
MORE = "there are {} more faults: mend the ones above first"


def validate_data(
    model: type[AnyModel],
    data: Mapping[str, Any],
    lines: Mapping[Place, int] | None = None,
    where: str = "",
    earlier: Iterable[Fault] = (),
) -> AnyModel:
    """Return the description that `data` holds, or raise RobotError with every fault of it.

    `lines` gives the line of each place in the file, `earlier` the faults found while reading it.
    """
    found = list(earlier)
    try:
        description = model.model_validate(data)
    except ValidationError:
        found += every_fault(model, data)
    if found:
        raise robot_error(found, data, lines, where)
    return description


def robot_error(
    found: Iterable[Fault], data: Any, lines: Mapping[Place, int] | None = None, where: str = ""
) -> RobotError:
    """The error that tells the faults in the order of the file, each with its place and line."""
    # Line of the key a fault is about, else of the part that holds it; 0 when not known
    numbered = []
    known = lines or {}
    for fault in dict.fromkeys(found):
        place: Place = fault.place if fault.key is None else (*fault.place, fault.key)
        while place and place not in known:
            place = place[:-1]
        numbered.append((known.get(place, 0), fault))
    numbered.sort(key=lambda pair: pair[0] or math.inf)
    texts = []
    for line, fault in numbered[:MAX_SENTENCES]:
        # the place as a dotted path, links by their name where they have one
        parts: list[str] = []
        part = data
        for key in fault.place:
            part = get(part, key)
            name = get(part, "name") if parts in (["links"], ["closures"]) else None
            parts.append(name if isinstance(name, str) and name.strip() else str(key))
        text = (f"{'.'.join(parts)}: " if parts else "") + fault.sentence
        short = (
            text if len(text) <= MAX_SENTENCE_LENGTH else text[: MAX_SENTENCE_LENGTH - 3] + "..."
        )
        printed = "".join(c if c.isprintable() else "?" for c in short)
        texts.append(printed + (f" (line {line})" if line else ""))
    if len(numbered) > MAX_SENTENCES:
        texts.append(MORE.format(len(numbered) - MAX_SENTENCES))
    return RobotError(texts, where)


def every_fault(model: type[BaseModel], data: Mapping[str, Any]) -> list[Fault]:
    """Return faults of the data as it is, then with those mended, until all has been checked."""
    data = plain(data)
    found = dict[Fault, None]()
    for _ in range(5):
        try:
            model.model_validate(data)
            break
        except ValidationError as problem:
            errors: list[Any] = problem.errors(include_url=False)
        for error in without_typos(errors[:MAX_SENTENCES], model, data):
            found.update(dict.fromkeys(sentences(error, model, data)))
        if len(errors) > MAX_SENTENCES:
            return [*found, Fault((), MORE.format(len(errors) - MAX_SENTENCES))]
        if any(not error["loc"] for error in errors):
            break
        data = mend_data(data, errors, model)
    return list(found)
