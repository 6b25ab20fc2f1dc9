"""Small pieces of HTML and SVG for the studio: the table of modes and plots of curves."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scene.scene import Scene
from ..style import COLOURS

__all__ = ["colour_legend", "curves_plot", "legend", "modes_table", "round_ticks", "sentence"]

Array = NDArray[np.float64]
# Size and margins of a plot, px
WIDTH = 420
HEIGHT = 250
LEFT = 58
RIGHT = 36
TOP = 8
BOTTOM = 34


def modes_table(hertz: Array, kinds: Sequence[str] | None, picked: int) -> str:
    """Return the modes as a table; without kinds, dots in their place."""
    cell = "padding:1px 6px"
    highlight = "font-weight:700;background:#5b8db833"

    head = ""
    for name, side in (("mode", "left"), ("Hz", "right"), ("kind", "left")):
        head += f'<th style="{cell};text-align:{side};opacity:.7">{name}</th>'

    rows = ""
    words = kinds or ["..."] * len(hertz)
    for i, (value, kind) in enumerate(zip(hertz.tolist(), words, strict=True)):
        rows += (
            f'<tr data-mode="{i}" style="{highlight if i == picked else ""}">'
            f'<td style="{cell}">{i + 1}</td>'
            f'<td style="{cell};text-align:right;font-variant-numeric:tabular-nums" '
            f'data-role="hertz" data-hz="{value!r}">{value:#.6g}</td>'
            f'<td style="{cell}">{html.escape(kind)}</td></tr>'
        )
    return (
        '<div style="font-size:12px;padding:0 10px"><table data-role="modes" '
        f'style="border-collapse:collapse;width:100%"><tr>{head}</tr>{rows}</table></div>'
    )


def legend(what: str, low: str, high: str) -> str:
    """Return a colour bar with its title and the values at its ends."""
    bar = "linear-gradient(90deg,#414487,#2a788e,#22a884,#7ad151,#fde725)"
    return (
        '<div data-role="legend" style="font-size:12px;padding:2px 10px">'
        f"{html.escape(what)}<br>{html.escape(low)} "
        f'<span style="display:inline-block;width:9em;height:.7em;border-radius:.3em;'
        f'background:{bar}"></span> {html.escape(high)}</div>'
    )


def colour_legend(field: str, scene: Scene) -> str:
    """Return the legend of the colours of links, with values where they are known."""
    if field == "plain":
        return ""
    shows_energy = field == "strain energy"
    title = "strain energy per length" if shows_energy else scene.moved
    top = "largest"
    largest = scene.tracks[0].largest
    if largest:
        displacement = largest[0]
        energy = largest[1]
        top = f"{energy:.3g} J/m" if shows_energy else f"{1e3 * displacement:.3g} mm"
    return legend(title, "0", top)


def sentence(words: str, wrong: bool = False) -> str:
    """Return a message of the studio, highlighted if it reports a problem."""
    look = "color:#b3261e;font-weight:600" if wrong else "opacity:.75"
    role = "problem" if wrong else "status"
    return (
        f'<div data-role="{role}" style="font-size:12px;padding:2px 10px;{look}">'
        f"{html.escape(words)}</div>"
    )


def curves_plot(
    x: Array,
    y: Array,
    names: Sequence[str],
    labels: tuple[str, str],
    here: float | None = None,
    picked: int = -1,
    log: bool = False,
    at: float | None = None,
) -> str:
    """Return curves y (F, M) over x as SVG, with a mark at x = here, and at its value `at`."""
    scales = _Scales.of(x, y, log)
    px = scales.px(x)
    py = scales.py(y)
    lines = ""
    for m, name in enumerate(names):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py[:, m], strict=True))
        lines += (
            f'<polyline fill="none" stroke="{COLOURS[m % 6]}" '
            f'stroke-width="{3 if m == picked else 1.5}" {_DASHES[m // 6 % 2]} '
            f'points="{points}"><title>{html.escape(name)}</title></polyline>'
        )
    mark = ""
    if here is not None:
        a = scales.px(here)
        mark = (
            f'<line data-role="here" data-x="{here!r}" x1="{a:.1f}" x2="{a:.1f}" y1="{TOP}" '
            f'y2="{HEIGHT - BOTTOM}" stroke="currentColor" stroke-dasharray="4 3" opacity=".6"/>'
        )
        if at is not None:
            dot = f'cx="{a:.1f}" cy="{scales.py(at):.1f}" r="4.5" fill="{COLOURS[picked % 6]}"'
            mark += f'<circle {dot} stroke="#fff"/>'
    # Names at the right end, from the bottom up, at least 11 px apart
    ends = []
    y_text = math.inf
    for m in np.argsort(-py[-1]):
        y_text = min(float(py[-1, m]) + 4, y_text - 11)
        place = f'x="{WIDTH - RIGHT + 4}" y="{y_text:.1f}"'
        short_name = names[m] if len(names[m]) < 7 else names[m].split()[-1]
        ends.append(f'<text {place} fill="{COLOURS[m % 6]}">{html.escape(short_name)}</text>')
    return (
        f'<div style="padding:0 6px"><svg viewBox="0 0 {WIDTH} {HEIGHT}" data-role="curves" '
        f'style="width:100%;font:11px system-ui">{_axes(scales, x, labels, log)}{lines}'
        f"{''.join(ends)}{mark}</svg></div>"
    )


_DASHES = ("", 'stroke-dasharray="5 3"')


@dataclass(frozen=True)
class _Scales:
    """From values to pixels of the drawing."""

    x0: float
    x1: float
    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, x: Array, y: Array, log: bool) -> _Scales:
        """Return scales that contain all curves, with a margin."""
        low = float(np.nanmin(y))
        high = float(np.nanmax(y))
        if log:
            low = math.log(low / 1.15)
            high = math.log(high * 1.15)
        else:
            margin = 0.06 * (high - low or abs(high) or 1.0)
            low -= margin
            high += margin
        return cls(float(x[0]), float(x[-1]), low, high, log)

    def px(self, x: Any) -> Any:
        """Pixels of x."""
        fraction = (x - self.x0) / (self.x1 - self.x0 or 1.0)
        return LEFT + fraction * (WIDTH - LEFT - RIGHT)

    def py(self, y: Any) -> Any:
        """Pixels of y."""
        value = np.log(y) if self.log else y
        fraction = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - fraction * (HEIGHT - TOP - BOTTOM)


def _axes(scales: _Scales, x: Array, labels: tuple[str, str], log: bool) -> str:
    """Grid lines with their values, and the labels of both axes."""
    floor = HEIGHT - BOTTOM
    out = []
    for value in round_ticks(float(x[0]), float(x[-1])):
        a = scales.px(value)
        out.append(_rule(a, a, TOP, floor))
        out.append(_words(a, floor + 13, "middle", f"{value:.4g}"))
    if log:
        ticks = _log_ticks(math.exp(scales.low), math.exp(scales.high))
    else:
        ticks = round_ticks(scales.low, scales.high)
    for value in ticks:
        b = float(scales.py(value))
        out.append(_rule(LEFT, WIDTH - RIGHT, b, b))
        out.append(_words(LEFT - 5, b + 4, "end", f"{value:.4g}"))
    out.append(_words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4, "middle", html.escape(labels[0])))
    turn = f'transform="translate(10 {(TOP + floor) / 2:.0f}) rotate(-90)"'
    out.append(
        f'<text {turn} text-anchor="middle" fill="currentColor" opacity=".7">'
        f"{html.escape(labels[1])}</text>"
    )
    return "".join(out)


def _log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two values, with twice and five times them on short axes."""
    multiples = (1.0, 2.0, 5.0) if high / low < 1000 else (1.0,)
    ticks = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for multiple in multiples:
            value = multiple * 10.0**power
            if low <= value <= high:
                ticks.append(value)
    return ticks


def round_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round values between two, about `count` of them."""
    span = high - low or 1.0
    power = 10.0 ** math.floor(math.log10(span / count))
    step = next(s * power for s in (1, 2, 5, 10) if span / (s * power) <= count + 1)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _rule(x1: float, x2: float, y1: float, y2: float) -> str:
    where = f'x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"'
    return f'<line {where} stroke="currentColor" opacity=".14"/>'


def _words(x: float, y: float, anchor: str, words: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="currentColor" opacity=".7">{words}</text>'
