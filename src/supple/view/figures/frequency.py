"""Bode and Nyquist plots of exact frequency responses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import SuppleError
from ...studies.vibration.response import FrequencyResponse
from ..style import COLOURS, QUIET, finish, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_frequency_response"]

PATHS = 7  # lines that can be told apart


def plot_frequency_response(
    found: FrequencyResponse,
    path: str | Path | None = None,
    kind: Literal["bode", "nyquist"] = "bode",
) -> Figure:
    """Draw size and phase over frequency with the poles marked, or the curve in the plane."""
    if kind not in ("bode", "nyquist"):
        raise SuppleError(f"kind is {kind!r}: it must be bode or nyquist")
    pairs = [
        (f"{output} / {name}", found.values[:, o, i])
        for o, output in enumerate(found.outputs)
        for i, name in enumerate(found.inputs)
    ][:PATHS]
    shown = len(found.outputs) * len(found.inputs)
    with styled():
        figure = (_bode if kind == "bode" else _nyquist)(found, pairs)
        more = f" (the first {PATHS} of {shown} paths)" if shown > PATHS else ""
        title = f"{found.robot.name}, joints {found.joints}{more}"
        figure.suptitle(title, fontsize=10)
    return finish(figure, path)


def _bode(found: FrequencyResponse, pairs: list[tuple[str, Any]]) -> Figure:
    import matplotlib.pyplot as plt

    figure, (size, phase) = plt.subplots(
        2, 1, figsize=(8, 6), sharex=True, layout="constrained", height_ratios=(2, 1)
    )
    f = found.frequency_hz
    wide = f.max() > 20 * f[f > 0].min()
    for (name, values), colour in zip(pairs, COLOURS, strict=False):
        good = np.isfinite(values) & (np.abs(values) > 0) & ((f > 0) | (not wide))
        size.plot(f[good], np.abs(values[good]), color=colour, label=name, lw=1.2)
        angle = np.degrees(np.angle(values[good]))
        jump = np.abs(np.diff(angle, prepend=angle[:1])) > 180
        phase.plot(f[good], np.where(jump, np.nan, angle), color=colour, lw=1.2)
    for pole in found.poles.imag / (2 * np.pi):
        for ax in (size, phase):
            ax.axvline(pole, color=QUIET, lw=0.6, ls=":", zorder=0)
    size.set_yscale("log")
    if wide:
        size.set_xscale("log")
    size.set_ylabel("size (output / input, SI)")
    phase.set_ylabel("phase (deg)")
    phase.set_yticks([-180, -90, 0, 90, 180])
    phase.set_ylim(-190, 190)
    phase.set_xlabel("frequency (Hz); dotted: natural frequencies")
    size.legend(loc="best", fontsize=8)
    return figure


def _nyquist(found: FrequencyResponse, pairs: list[tuple[str, Any]]) -> Figure:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 6), layout="constrained")
    for (name, values), colour in zip(pairs, COLOURS, strict=False):
        good = values[np.isfinite(values)]
        ax.plot(good.real, good.imag, color=colour, label=name, lw=1.2)
        ax.plot(good.real[:1], good.imag[:1], "o", color=colour, ms=4)
    ax.axhline(0, color=QUIET, lw=0.6)
    ax.axvline(0, color=QUIET, lw=0.6)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("real part (output / input, SI); the dot is the lowest frequency")
    ax.set_ylabel("imaginary part")
    ax.legend(loc="best", fontsize=8)
    return figure
