"""Small pieces of HTML and SVG for the studio: the table of modes and the frequency plot."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .style import COLOURS

__all__ = ["frequency_plot", "modes_table", "sentence"]

Array = NDArray[np.float64]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 250, 46, 20, 8, 34


def modes_table(hertz: Array, kinds: Sequence[str] | None, picked: int) -> str:
    """Return the modes as a table; kinds may still be on their way."""
    words = kinds or ["..."] * len(hertz)
    cell, strong = "padding:1px 6px", "font-weight:700;background:#5b8db833"
    rows = "".join(
        f'<tr data-mode="{i}" style="{strong if i == picked else ""}">'
        f'<td style="{cell}">{i + 1}</td>'
        f'<td style="{cell};text-align:right;font-variant-numeric:tabular-nums" '
        f'data-role="hertz" data-hz="{value!r}">{value:#.6g}</td>'
        f'<td style="{cell}">{html.escape(kind)}</td></tr>'
        for i, (value, kind) in enumerate(zip(hertz.tolist(), words, strict=True))
    )
    head = "".join(
        f'<th style="{cell};text-align:{side};opacity:.7">{name}</th>'
        for name, side in (("mode", "left"), ("Hz", "right"), ("kind", "left"))
    )
    return (
        '<div style="font-size:12px;padding:0 10px"><table data-role="modes" '
        f'style="border-collapse:collapse;width:100%"><tr>{head}</tr>{rows}</table></div>'
    )


def sentence(words: str, wrong: bool = False) -> str:
    """Return what the studio says, marked when something was wrong."""
    look = "color:#b3261e;font-weight:600" if wrong else "opacity:.75"
    role = "problem" if wrong else "status"
    return (
        f'<div data-role="{role}" style="font-size:12px;padding:2px 10px;{look}">'
        f"{html.escape(words)}</div>"
    )


def frequency_plot(
    x: Array, hertz: Array, label: str, here: tuple[float, float] | None, picked: int
) -> str:
    """Return frequencies (F, M) over x as SVG, logarithmic, with a mark at `here` (x, Hz)."""
    low, high = math.log(hertz.min() / 1.15), math.log(hertz.max() * 1.15)
    px = LEFT + (x - x[0]) / (x[-1] - x[0]) * (WIDTH - LEFT - RIGHT)
    scale = (HEIGHT - TOP - BOTTOM) / (high - low)
    py = HEIGHT - BOTTOM - (np.log(hertz) - low) * scale
    lines = "".join(
        f'<polyline fill="none" stroke="{COLOURS[m % 6]}" '
        f'stroke-width="{3 if m == picked else 1.5}" '
        f'points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py[:, m], strict=True))}">'
        f"<title>mode {m + 1}</title></polyline>"
        for m in range(hertz.shape[1])
    )
    mark = ""
    if here is not None:
        a = LEFT + (here[0] - x[0]) / (x[-1] - x[0]) * (WIDTH - LEFT - RIGHT)
        b = HEIGHT - BOTTOM - (math.log(here[1]) - low) * scale
        mark = (
            f'<line data-role="here" data-x="{here[0]!r}" x1="{a:.1f}" x2="{a:.1f}" y1="{TOP}" '
            f'y2="{HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="4 3" opacity=".6"/>'
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4.5" fill="{COLOURS[picked % 6]}" '
            'stroke="#fff"/>'
        )
    return (
        f'<div style="padding:0 6px"><svg viewBox="0 0 {WIDTH} {HEIGHT}" data-role="frequencies" '
        f'style="width:100%;font:11px system-ui">{_axes(x, low, high, scale, label)}{lines}{mark}'
        "</svg></div>"
    )


def _axes(x: Array, low: float, high: float, scale: float, label: str) -> str:
    floor = HEIGHT - BOTTOM
    out = []
    for value in np.linspace(x[0], x[-1], 5):
        a = LEFT + (value - x[0]) / (x[-1] - x[0]) * (WIDTH - LEFT - RIGHT)
        out.append(_rule(a, a, TOP, floor))
        out.append(_words(a, floor + 13, "middle", f"{value:.4g}"))
    for value in _round_values(math.exp(low), math.exp(high)):
        b = floor - (math.log(value) - low) * scale
        out.append(_rule(LEFT, WIDTH - RIGHT, b, b))
        out.append(_words(LEFT - 5, b + 4, "end", f"{value:g}"))
    out.append(_words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "middle", html.escape(label)))
    out.append(_words(10, TOP + 4, "start", "Hz"))
    return "".join(out)


def _rule(x1: float, x2: float, y1: float, y2: float) -> str:
    where = f'x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"'
    return f'<line {where} stroke="currentColor" opacity=".14"/>'


def _words(x: float, y: float, anchor: str, words: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor" opacity=".7">{words}</text>'


def _round_values(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if high / low < 1000 else (1.0,)
    return [s * 10.0**e for e in powers for s in steps if low <= s * 10.0**e <= high]
