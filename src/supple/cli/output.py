"""Printing: one JSON document, or a table to read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import typer

__all__ = [
    "check_places",
    "digits",
    "print_json",
    "print_table",
    "save_answer",
    "save_plot",
    "tell_places",
    "told_configuration",
]


def print_json(document: Any) -> None:
    """Print one JSON document, numbers with every digit."""
    typer.echo(json.dumps(document, default=_plain, allow_nan=False))


def _plain(value: Any) -> Any:
    """NumPy arrays and scalars as lists and numbers."""
    return value.tolist()


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; columns whose name ends with `>` are flush right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False, emoji=False, soft_wrap=True, width=1000).print(table)


def save_plot(draw: Callable[[Any, str], Any], found: Any, path: str) -> None:
    """Draw an answer into a file, without a screen."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    draw(found, path)


def check_places(plot: str | None, save: str | None, stored: bool = False) -> None:
    """Refuse places that cannot be written before anything is computed.

    stored: whether the answer can also be kept as data, not only as a page.
    """
    from ..errors import SuppleError
    from ..files.disk import check_place
    from ..view.page.page import check_page, is_page

    if plot is not None:
        from ..view.style import check_picture

        check_picture(plot)
    if save is None:
        return
    if not stored or is_page(save):
        check_page(save)
    elif not save.lower().endswith(".nc"):
        raise SuppleError(f"--save {save}: it must end in .nc (netCDF) or .html (a page)")
    else:
        check_place(save)


def save_answer(found: Any, save: str, store: Callable[[Any, str], Any] | None = None) -> None:
    """Save an answer by the ending: a page, or as data where `store` can."""
    from ..view.page.page import is_page
    from ..view.page.reports import save_report

    (save_report if store is None or is_page(save) else store)(found, save)


def tell_places(plot: str | None, save: str | None) -> None:
    """Say what was written."""
    for word, place in (("Drawn", plot), ("Saved", save)):
        if place is not None:
            typer.echo(f"{word}: {place}")


def digits(value: float) -> str:
    """A number with six digits, trailing zeros kept."""
    return f"{value:#.6g}".rstrip(".")


def told_configuration(found: Any, where: Mapping[str, Any]) -> str:
    """Where an answer holds, as one reads it: degrees, metres where something slides."""
    if "position" in where:
        return ", ".join(f"{value:g}" for value in where["position"]) + " m"
    if not hasattr(found.robot, "moving"):  # a Delta, asked by its motor angles
        return ", ".join(f"{math.degrees(value):g} deg" for value in found.theta)
    told = [
        f"{value:g} m" if link.joint.type == "prismatic" else f"{math.degrees(value):g} deg"
        for link, value in zip(found.robot.moving, found.theta, strict=True)
    ]
    hint = " (all zero, as --at is not given)" if where["theta"] is None and told else ""
    return (", ".join(told) or "its only configuration") + hint
