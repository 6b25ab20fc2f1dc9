"""What a picture shows, by its data: figures that were written, and the curves in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

UNITS = (1.0, 180 / np.pi, 1e3)  # as they are, degrees, millimetres


def written_figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list to which every figure is added when it is written to a file."""
    from matplotlib.figure import Figure

    figures: list[Any] = []
    write = Figure.savefig

    def written(figure: Any, *given: Any, **named: Any) -> Any:
        figures.append(figure)
        return write(figure, *given, **named)

    monkeypatch.setattr(Figure, "savefig", written)
    return figures


def shows(figure: Any, values: Any) -> bool:
    """Whether some curve has these ordinates, in SI units, degrees or millimetres."""
    wanted = np.asarray(values, float)
    lines = [np.asarray(line.get_ydata(), float) for ax in figure.axes for line in ax.lines]
    return any(
        len(y) == len(wanted) and np.allclose(y, unit * wanted, rtol=1e-9, atol=1e-12)
        for y in lines
        for unit in UNITS
    )
