"""Printing: one JSON document, or a table to read."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from ..errors import SuppleError

if TYPE_CHECKING:
    from ..answers.answer import Answer

__all__ = [
    "check_places",
    "columns_of",
    "configuration_text",
    "digits",
    "draw_answer",
    "plain",
    "plane_of",
    "print_json",
    "print_table",
    "save_answer",
    "say",
    "tell_places",
    "with_csv",
]

Csv = Annotated[bool, typer.Option("--csv", help="Print one CSV table and nothing else.")]


CONSOLE_WIDTH = 1000  # characters of a line before it is broken


AS_CSV = ContextVar("AS_CSV", default=False)  # whether documents are printed as one CSV table


def with_csv(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has `--csv` beside its `--json`: the same document as one table."""
    command_signature = signature(command)
    last = Parameter("csv", Parameter.KEYWORD_ONLY, default=False, annotation=Csv)

    @wraps(command)
    def run(*args: Any, csv: bool = False, **options: Any) -> None:
        if csv and options.get("json"):
            raise SuppleError("--json and --csv are both given: give one of them")
        AS_CSV.set(csv)
        command(*args, **options | ({"json": True} if csv else {}))

    hints = get_type_hints(command, include_extras=True)
    own = [p.replace(annotation=hints[p.name]) for p in command_signature.parameters.values()]
    run.__signature__ = command_signature.replace(parameters=[*own, last])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, "csv": Csv}
    return run


def print_json(
    document: Any, answer: Answer | None = None, rows: Sequence[Any] | None = None
) -> None:
    """Print one JSON document, numbers with every digit; as CSV where that is asked for.

    The CSV is the table of the answer, or these rows, or the document's own lists as columns.
    """
    if not AS_CSV.get():
        say(json.dumps(document, default=_plain, allow_nan=False))
    elif answer is not None:
        say(answer.to_csv(), nl=False)
    else:
        text = io.StringIO()
        content = document if rows is None else {"": list(rows)}
        columns = columns_of(json.loads(json.dumps(content, default=_plain)))
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([columns, *zip(*columns.values(), strict=True)])
        say(text.getvalue(), nl=False)


def columns_of(document: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return a document as columns: its longest lists are the rows, all else is repeated."""
    count = max((len(v) for v in document.values() if isinstance(v, list)), default=1) or 1
    columns: dict[str, list[Any]] = {}
    for key, value in document.items():
        fits = isinstance(value, list) and len(value) == count
        for name, part in _flatten_column(key, value if fits else [value] * count):
            columns[name] = part
    return columns


def _flatten_column(name: str, column: list[Any]) -> Iterable[tuple[str, list[Any]]]:
    """One column, or one for each key or place inside its entries."""
    # What is inside each entry, by its key or place
    each: list[dict[Any, Any]] = [
        entry
        if isinstance(entry, dict)
        else dict(enumerate(entry if isinstance(entry, list) else ()))
        for entry in column
    ]
    keys = dict.fromkeys(key for inside in each for key in inside)
    if not keys:
        yield name, column
    for key in keys:
        inner = [inside.get(key) for inside in each]
        word = str(key + 1 if isinstance(key, int) else key)
        yield from _flatten_column(f"{name}.{word}" if name else word, inner)


def _plain(value: Any) -> Any:
    """NumPy arrays and scalars as lists and numbers."""
    return value.tolist()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; columns whose name ends with `>` are flush right."""
    rows = [[plain(cell) for cell in row] for row in rows]
    names = [plain(name.rstrip(">")) for name in columns]
    every = [names, *rows]
    widths = [max(len(row[k]) for row in every) for k in range(len(names))]
    ascii_only = all(cell.isascii() and "\t" not in cell for row in every for cell in row)
    if ascii_only and sum(widths) + 2 * len(widths) < CONSOLE_WIDTH and not _shows_styles():
        # As rich would, which takes 30 ms to import
        for row in every:
            cells = [
                cell.rstrip().rjust(width) if name.endswith(">") else cell.ljust(width)
                for name, cell, width in zip(columns, row, widths, strict=True)
            ]
            typer.echo("  ".join(cells))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, heading in zip(columns, names, strict=True):
        flush = "right" if name.endswith(">") else "left"
        table.add_column(heading, justify=flush)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*row)
    console = Console(
        highlight=False, markup=False, emoji=False, soft_wrap=True, width=CONSOLE_WIDTH
    )
    console.print(table)


def _shows_styles() -> bool:
    """Whether what is printed may show a heading in bold: a terminal, or one is claimed."""
    claims = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS")
    return sys.stdout.isatty() or any(os.environ.get(name) for name in claims)


def draw_answer(found: Answer, path: str, **options: Any) -> None:
    """Draw an answer into a file, without a screen."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    found.plot(path, **options)


def check_places(plot: str | None, save: str | None, stored: bool = False) -> None:
    """Refuse places that cannot be written before anything is computed.

    stored: whether the answer can also be kept as data, not only as a page.
    """
    if plot is not None:
        from ..view.style import check_picture

        check_picture(plot)
    if save is None:
        return
    from ..files.disk import check_place
    from ..view.page.page import check_page, is_page

    if not stored or is_page(save):
        check_page(save)
    elif not save.lower().endswith(".nc"):
        raise SuppleError(f"--save {save}: it must end in .nc (netCDF) or .html (a page)")
    else:
        check_place(save)


def save_answer(found: Any, save: str, store: Callable[[Any, str], Any] | None = None) -> None:
    """Save an answer by the ending: a page, or by `store`, as netCDF unless given."""
    from ..view.page.page import is_page
    from ..view.page.reports import save_report

    (save_report if is_page(save) else store or type(found).save)(found, save)


def tell_places(plot: str | None, save: str | None) -> None:
    """Say what was written."""
    for word, place in (("Drawn", plot), ("Saved", save)):
        if place is not None:
            say(f"{word}: {place}")


def say(text: str = "", err: bool = False, nl: bool = True) -> None:
    """Print lines; what a terminal would obey instead of showing it is written out."""
    typer.echo("\n".join(map(plain, text.split("\n"))), err=err, nl=nl)


def plain(text: str) -> str:
    r"""Return a name with line breaks, escape sequences and the like written out, as \x1b."""
    return "".join(
        c if c.isprintable() or c == "\t" else c.encode("unicode_escape").decode() for c in text
    )


def digits(value: float) -> str:
    """A number with six digits, trailing zeros kept."""
    return f"{value:#.6g}".rstrip(".")


def plane_of(robot: Any) -> tuple[str, dict[str, str]]:
    """Return the plane that a planar robot's frequencies are about, in words and for JSON."""
    from ..architectures.kinds import architecture_of

    inside = architecture_of(robot).inside
    return inside, {"plane": "x-y"} if inside else {}


def configuration_text(found: Any, where: Mapping[str, Any]) -> str:
    """Where an answer holds, as one reads it: degrees, metres where something slides."""
    if "position" in where:
        return ", ".join(f"{value:g}" for value in where["position"]) + " m"
    from ..architectures.kinds import architecture_of

    texts = [
        f"{value:g} m" if slides else f"{math.degrees(value):g} deg"
        for (_, slides), value in zip(architecture_of(found.robot).motors, found.theta, strict=True)
    ]
    zero = "all zero" if not any(found.theta) else "its start"
    hint = f" ({zero}, as --at is not given)" if where["theta"] is None and texts else ""
    return (", ".join(texts) or "its only configuration") + hint
