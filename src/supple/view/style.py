"""One look for every figure: colour-blind safe, light lines, units on every axis."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import SuppleError
from ..files.disk import as_path, check_place, fill, writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "check_picture",
    "finish",
    "house_style",
    "plain_ticks",
    "shades",
    "wrap_text",
]

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


UNDATED: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the house style, leaving the user's own settings alone."""
    import matplotlib as mpl
    from cycler import cycler

    settings: Any = {**RC, "axes.prop_cycle": cycler(color=COLOURS)}
    with mpl.rc_context(settings):
        yield


def wrap_text(text: str, inches: float, size: float = 10.0) -> str:
    """Return a text in lines that fit a width, of letters of some size in points."""
    import textwrap

    letters = max(int(inches * 72 / (0.56 * size)), 12)
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def shades(low: float, high: float) -> Any:
    """Return how colours run from low to high: in equal ratios where they differ much."""
    from matplotlib.colors import LogNorm, Normalize

    return LogNorm(low, high) if low > 0 and high > 10 * low else Normalize(low, high)


def plain_ticks(bar: Any) -> None:
    """Write a colour bar's ticks as plain numbers, on a logarithmic scale too."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

    wide = isinstance(bar.mappable.norm, LogNorm)
    bar.ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if wide else MaxNLocator(7))
    bar.ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())


def check_picture(path: str | Path) -> Path:
    """Return the path of a picture to write, checked before anything is computed."""
    from matplotlib.backend_bases import FigureCanvasBase

    ending = as_path(path).suffix.lstrip(".").lower()
    if ending not in FigureCanvasBase.get_supported_filetypes():
        raise SuppleError(f"'{path}' has no known picture ending: try .png, .svg or .pdf")
    return check_place(path)


def finish(figure: Figure, path: str | Path | None, mathematics: bool = False) -> Figure:
    """Save the figure when a path is given, by its ending; else show it without blocking.

    mathematics: whether dollars in its texts are ours and mean formulas; those of names do not.

    A saved figure is let go of, so that a thousand of them can be saved in one run.
    """
    import matplotlib.pyplot as plt

    if not mathematics:
        # Draw every text as it is written: a name may hold dollars, which would mean mathematics.
        # Ticks that matplotlib writes itself keep theirs: powers of ten on logarithmic axes
        from matplotlib.axis import Axis
        from matplotlib.text import Text
        from matplotlib.ticker import FixedFormatter, FuncFormatter

        ticks = {
            id(label)
            for axis in figure.findobj(Axis)
            if not isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter)
            for label in [*axis.get_ticklabels(), *axis.get_ticklabels(minor=True), axis.offsetText]
        }
        for text in figure.findobj(Text):
            if id(text) not in ticks:
                text.set_parse_math(False)
    if path is not None:
        with writing(check_picture(path)) as aside:
            drawn = BytesIO()  # a disk that fills up must not interrupt matplotlib halfway
            kind = aside.suffix[1:].lower()
            with plt.rc_context({"svg.hashsalt": "supple"}):  # the same picture, the same bytes
                figure.savefig(drawn, format=kind, metadata=UNDATED.get(kind))
            fill(aside, drawn.getbuffer())
        plt.close(figure)
    elif (shell := _notebook_shell()) is not None:
        _show_once(figure, shell)
    elif plt.isinteractive():
        plt.show(block=False)
    return figure


def _notebook_shell() -> Any:
    """Return the shell of a notebook that draws pictures below its cells, else None."""
    import matplotlib as mpl

    if "ipykernel" not in sys.modules or "inline" not in mpl.get_backend():
        return None
    from IPython import get_ipython

    return get_ipython()


def _show_once(figure: Figure, shell: Any) -> None:
    """Show a figure below the cell that is running, where it may also be the cell's value.

    A notebook shows the value of the last line, and the inline backend shows every open figure
    when a cell ends: without this a picture appears twice, once or not at all.
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    display(figure)  # type: ignore[no-untyped-call]
    plt.close(figure)
    shown_in = shell.execution_count
    figure._ipython_display_ = partial(_show_in_later_cell, figure, shown_in)  # type: ignore[attr-defined]


def _show_in_later_cell(figure: Figure, shown_in: int) -> None:
    """Show a figure as the value of a cell, unless that cell shows it already."""
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython().execution_count != shown_in:
        del figure._ipython_display_  # type: ignore[attr-defined]
        display(figure)  # type: ignore[no-untyped-call]
