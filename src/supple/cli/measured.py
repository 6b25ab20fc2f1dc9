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

__all__ = ["Measured", "as_lists", "measured", "output_of", "print_outputs"]

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
        near = nearest(kind, OUTPUTS)
        hint = f"; did you mean {near}?" if near else ""
        raise SuppleError(f"--outputs {word}: the kinds are {', '.join(OUTPUTS)}{hint}")
    made: Any = OUTPUTS[kind]
    words = [part.name for part in fields(made) if part.name != "rotation"][:2]
    if len(rest) > len(words) or (words and not rest):
        raise SuppleError(f"--outputs {word}: write {FORM}")
    try:
        place = [float(value) for value in rest[1:]]
    except ValueError:
        raise SuppleError(f"--outputs {word}: write {FORM}") from None
    return made(*rest[:1], *place)  # type: ignore[no-any-return]


def measured(text: str | None) -> dict[str, Output] | None:
    """Return the outputs of a list of words, named by them."""
    return None if text is None else {word.strip(): output_of(word) for word in text.split(",")}


def as_lists(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return outputs for a JSON document; nothing without them."""
    return {"outputs": dict(outputs)} if outputs else {}


def print_outputs(outputs: Mapping[str, Any], still: bool = False) -> None:
    """Print a row for each value: its size at the end and its largest, or alone at rest."""
    import numpy as np

    if not outputs:
        return
    rows = []
    for name, values in outputs.items():
        parts = np.atleast_2d(values) if still else np.asarray(values).reshape(len(values), -1)
        for k, column in enumerate(parts.T):
            word = name if parts.shape[1] == 1 else f"{name}.{k + 1}"
            last, most = f"{column[-1]:.6g}", f"{np.abs(column).max():.6g}"
            rows.append((word, last) if still else (word, last, most))
    say("")
    print_table(
        ("output (SI)", "at rest>") if still else ("output (SI)", "at the end>", "largest>"), rows
    )
