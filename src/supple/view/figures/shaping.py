"""Figures of shaped moves: the command before and after, and what it leaves of each mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...control.shaping import residual_amplitude
from ...studies.drive.shape import ShapedMove
from ..style import COLOURS, QUIET, finish, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_shaped"]

MOST = 6  # joints drawn; more would not be read


def plot_shaped(found: ShapedMove, path: str | Path | None = None) -> Figure:
    """Draw position and speed before and after shaping, and the vibration left over frequency."""
    import matplotlib.pyplot as plt

    with house_style():
        figure, axes = plt.subplots(1, 3, figsize=(12.4, 3.6), layout="constrained")
        for move, style, name in ((found.before, "--", "as given"), (found.after, "-", "shaped")):
            v = np.gradient(move.positions, move.t, axis=0)
            for j, joint in enumerate(found.joint_names[:MOST]):
                colour = COLOURS[j % len(COLOURS)]
                label = joint if style == "-" else None
                axes[0].plot(move.t, move.positions[:, j], style, color=colour, label=label, lw=1.4)
                axes[1].plot(move.t, v[:, j], style, color=colour, lw=1.4)
            axes[1].plot([], [], style, color=QUIET, label=name)
        for ax, what in ((axes[0], "position (rad or m)"), (axes[1], "speed (rad/s or m/s)")):
            ax.set(xlabel="time (s)", title=what, xlim=tuple(found.after.t[[0, -1]]))
            ax.legend(loc="best", fontsize=8)
        same = ", the same along the whole path" if found.shaper is None else ""
        axis = f"natural frequency (Hz){same}"
        f = np.linspace(0.3 * found.frequency_hz.min(), 1.7 * found.frequency_hz.max(), 400)
        ratio = float(found.damping_ratio[0])
        for move, colour, name in (
            (found.before, QUIET, "as given"),
            (found.after, COLOURS[0], "shaped"),
        ):
            left = np.linalg.norm(residual_amplitude(move.t, move.positions, f, ratio), axis=1)
            axes[2].plot(f, np.maximum(left, 1e-12), color=colour, label=name)
        for k, own in enumerate(found.frequency_hz):
            axes[2].axvline(
                own, color=COLOURS[1], lw=0.9, ls=":", label=None if k else "shaped for"
            )
        axes[2].set(yscale="log", xlabel=axis, xlim=(f[0], f[-1]))
        axes[2].set_title("vibration left by the move (rad or m)")
        axes[2].legend(loc="best", fontsize=8)
        figure.suptitle(
            f"{found.kind} shaper: {found.before.duration:.3g} s and {found.time_added:.3g} s more",
            fontsize=10,
        )
    return finish(figure, path)
