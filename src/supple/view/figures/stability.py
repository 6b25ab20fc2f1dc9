"""Figures of vibration while a link slides, and Figs. 4-8 of [Theodore1997] as it draws them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...papers.theodore import PaperMotion
from ...studies.motion.stability import Stability
from ..style import COLOURS, QUIET, finish, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_paper_motion", "plot_stability"]


def plot_stability(found: Stability, path: str | Path | None = None) -> Figure:
    """Draw frozen eigenvalues beside what decides: energy, action, amplitude, root moment."""
    import matplotlib.pyplot as plt

    panels: list[tuple[str, Any]] = [
        ("frozen eigenvalues, real part (1/s)", found.eigenvalues.real),
        ("natural frequency (rad/s)", found.omega),
        ("energy of vibration (J)", found.energy),
        ("action E/omega (J s)", found.action),
        ("tip deflection (mm)", 1e3 * found.end_deflection[:, 1:]),
        ("root moment (N m)", found.root_moment),
    ]
    slides = found.beta.size > 0
    if slides:
        panels += [("roots beta", found.beta), ("V of (41) (J)", found.lyapunov)]
    rows = len(panels) // 2
    with house_style():
        figure, axes = plt.subplots(
            rows, 2, figsize=(9, 2.4 * rows), sharex=True, layout="constrained"
        )
        for ax, (label, values) in zip(axes.flat, panels, strict=True):
            ax.plot(found.t, values, lw=0.9)
            ax.set_ylabel(label)
        for ax, names in zip(axes[2], (("y", "z"), ("x-y", "x-z")), strict=True):
            ax.legend(ax.get_lines(), names, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
        for ax in axes[-1]:
            ax.set_xlabel("time (s)")
        if found.tip_amplitude.size:
            axes[2][0].plot(found.t, 1e3 * found.tip_amplitude, color=QUIET, lw=0.8)
            axes[2][0].plot(found.t, -1e3 * found.tip_amplitude, color=QUIET, lw=0.8)
        if slides:
            axes[3][0].plot(found.t, found.beta_integrated, "k:", lw=1.2)
            axes[3][0].set_title("Newton's method; dotted: integrated, (11)", color=QUIET)
            rate = axes[3][1].twinx()
            rate.plot(found.t, found.lyapunov_rate, color=COLOURS[1], lw=0.6)
            rate.set_ylabel("rate of V (W)", color=COLOURS[1])
        axes[0][0].axhline(0, color=QUIET, lw=0.6)
        axes[0][0].set_title("depends on the scale of the shapes: decides nothing", color=QUIET)
        axes[0][1].set_yscale("log")
        figure.suptitle(found.response.model.robot.name, fontsize=9)
    return finish(figure, path)


def plot_paper_motion(found: PaperMotion, title: str, path: str | Path | None = None) -> Figure:
    """Draw one of Figs. 4-8: in-plane solid, out-of-plane dashed; retraction dashed in Fig. 8."""
    import matplotlib.pyplot as plt

    draw = {
        "Fig. 4": _joints,
        "Fig. 5": _amplitudes,
        "Fig. 6": _eigenvalues,
        "Fig. 7": _eigenvalues,
        "Fig. 8": _roots,
    }[title[:6]]
    with house_style():
        figure, axes = plt.subplots(
            *_LAYOUT[title[:6]], figsize=(8, 6), sharex=True, squeeze=False, layout="constrained"
        )
        draw(axes, found, title)
        for ax in axes[-1]:
            ax.set_xlabel("time (s)")
        figure.suptitle(title, fontsize=9)
    return finish(figure, path)


_LAYOUT = {"Fig. 4": (2, 2), "Fig. 5": (2, 2), "Fig. 6": (2, 2), "Fig. 7": (2, 2), "Fig. 8": (4, 1)}
_PLANES = ((0, "-"), (1, "--"))
_PLANE_NAMES = ("in-plane", "out-of-plane")


def _joints(axes: Any, found: PaperMotion, _: str) -> None:
    """Desired joint positions and velocities."""
    for row, (r, unit) in enumerate((("position", ""), ("velocity", "/s"))):
        for name, ls in (("extension", "-"), ("retraction", "--")):
            values = found.wanted[name][row]
            for k in range(2):
                label = f"joint {k + 1}" if name == "extension" else None
                angle = np.degrees(values[:, k])
                axes[row][0].plot(found.t, angle, ls=ls, color=COLOURS[k], label=label)
            axes[row][1].plot(found.t, values[:, 2], ls=ls, color=COLOURS[2], label=name)
        axes[row][0].set_ylabel(f"joints 1, 2: {r} (deg{unit})")
        axes[row][1].set_ylabel(f"joint 3: {r} (m{unit})")
    for ax in axes[0]:
        ax.legend()


def _amplitudes(axes: Any, found: PaperMotion, _: str) -> None:
    """Mode amplitudes, extension left and retraction right."""
    for column, name in enumerate(("extension", "retraction")):
        eta = found.amplitudes[name]
        modes = eta.shape[1] // 2
        for row in range(2):
            for plane, ls in _PLANES:
                eta_j = 1e3 * eta[:, plane * modes + row]
                axes[row][column].plot(found.t, eta_j, ls, lw=1.0, label=_PLANE_NAMES[plane])
            axes[row][column].set_ylabel(f"mode {row + 1} (mm; C_i = 1)")
        axes[0][column].set_title(name)
    axes[0][0].legend(loc="upper left")


def _eigenvalues(axes: Any, found: PaperMotion, title: str) -> None:
    """Real and imaginary parts of the frozen eigenvalues, a mode a column."""
    values = found.eigenvalues["extension" if "extension" in title else "retraction"]
    for column in range(2):
        for plane, ls in _PLANES:
            one = values[:, 2 * column + plane]
            axes[0][column].plot(found.t, one.real, ls, lw=1.0, label=_PLANE_NAMES[plane])
            axes[1][column].plot(found.t, one.imag, ls, lw=1.0)
        axes[0][column].axhline(0, color=QUIET, lw=0.6)
        axes[0][column].set(title=f"mode {column + 1}", ylabel="real part (1/s)")
        axes[1][column].set_ylabel("imaginary part (rad/s)")
    axes[0][0].legend()


def _roots(axes: Any, found: PaperMotion, _: str) -> None:
    """beta_1..beta_4 over time, extension solid and retraction dashed."""
    for k, (ax,) in enumerate(axes):
        for name, ls in (("extension", "-"), ("retraction", "--")):
            ax.plot(found.t, found.roots[name][:, k], ls, lw=1.1, label=name)
        ax.set_ylabel(f"beta_{k + 1}")
        if k == 0:
            ax.legend(loc="center right")
