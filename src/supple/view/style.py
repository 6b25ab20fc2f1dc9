"""One look for every figure: colour-blind safe, light lines, units on every axis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SuppleError
from ..files.disk import writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "finish", "styled"]

# Okabe and Ito's palette, safe for the common colour deficiencies
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
QUIET = "#9aa0a6"

RC: dict[str, object] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5f6368",
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "grid.color": "#e4e6e8",
    "grid.linewidth": 0.6,
    "xtick.color": "#3c4043",
    "ytick.color": "#3c4043",
    "legend.frameon": False,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "lines.linewidth": 1.6,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style, leaving the user's own settings alone."""
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {**RC, "axes.prop_cycle": cycler(color=COLOURS)}
    with mpl.rc_context(settings):
        yield


def finish(figure: Figure, path: str | Path | None) -> Figure:
    """Save the figure when a path is given, by its ending; else show it without blocking."""
    import matplotlib.pyplot as plt

    if path is not None:
        known = figure.canvas.get_supported_filetypes()
        ending = Path(path).suffix.lstrip(".").lower()
        if ending not in known:
            raise SuppleError(f"'{path}' has no known picture ending: try .png, .svg or .pdf")
        with writing(path) as place:
            figure.savefig(place)
    elif plt.isinteractive():
        plt.show(block=False)
    return figure
