"""Outputs as the command line writes them: strain:link1:0.1, moment:link2:0.5, reaction:link1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SuppleError
from .output import print_table, say

if TYPE_CHECKING:
    from ..outputs.output import Output

__all__ = ["Measured", "as_lists", "output_of", "parse_outputs", "print_outputs"]

FORM = "KIND:LINK:FRACTION, such as strain:link1:0.1, moment:link2:0.5, reaction:link1 or tip"
Measured = Annotated[
    str | None,
    typer.Option(
        "--outputs",
        metavar="KIND:LINK:FRACTION,..",
        help="What to measure: tip, strain:link1:0.1, moment, stress, acceleration, accelerometer "
        "or gyroscope at a place, reaction:link1, encoder:link1:COUNTS, tachometer:link1.",
    ),
]


def output_of(word: str) -> Output:
    """Return an output as typed."""
    from ..faults import nearest  # loads pydantic and numpy, which --help does not need
    from ..outputs.kinds import OUTPUTS

    kind, *rest = word.strip().split(":")
    if kind not in OUTPUTS:
        suggestion = nearest(kind, OUTPUTS)
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        raise SuppleError(f"--outputs {word}: the kinds are {', '.join(OUTPUTS)}{hint}")
    output_class: Any = OUTPUTS[kind]
    words = [part.name for part in fields(output_class) if part.name != "rotation"][:2]
    if len(rest) > len(words) or (words and not rest):
        raise SuppleError(f"--outputs {word}: write {FORM}")
    try:
        place = [float(value) for value in rest[1:]]
    except ValueError:
        raise SuppleError(f"--outputs {word}: write {FORM}") from None
    return output_class(*rest[:1], *place)  # type: ignore[no-any-return]


def parse_outputs(text: str | None) -> dict[str, Output] | None:
    """Return the outputs of a list of words, named by them."""
    return None if text is None else {word.strip(): output_of(word) for word in text.split(",")}


def as_lists(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return outputs for a JSON document; nothing without them."""
    return {"outputs": dict(outputs)} if outputs else {}


def print_outputs(outputs: Mapping[str, Any], still: bool = False) -> None:
    """Print a row for each value: its size at the end and its largest, or alone at rest.

    Outputs are named by what was typed, which says what each of their values is.
    """
    import numpy as np

    if not outputs:
        return
    rows = []
    for name, values in outputs.items():
        parts = np.atleast_2d(values) if still else np.asarray(values).reshape(len(values), -1)
        numbered = tuple((f"{k + 1}", "SI") for k in range(parts.shape[1]))
        entries = output_of(name).entries or numbered
        for (entry, unit), column in zip(entries, parts.T, strict=True):
            word = f"{name} {entry}".rstrip()
            last = f"{column[-1] + 0.0:.6g}"  # -0 is 0
            largest = f"{np.abs(column).max():.6g}"
            rows.append((word, last, unit) if still else (word, last, largest, unit))
    say("")
    times = ("at rest>",) if still else ("at the end>", "largest>")
    print_table(("output", *times, "unit"), rows)
