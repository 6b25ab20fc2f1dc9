"""Figures of papers recomputed, drawn like theirs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...equations.model import Model
from ...files.disk import make_folder
from ...papers.cells import Reproduction
from ...papers.di_castri_joints import POSTURES, THICKENING, JointFlexibility
from ...papers.kuo import CircleFrequencies
from ...papers.theodore import PaperMotion
from ...studies.motion.path_response import PathResponse
from ...studies.motion.response import Response
from ...studies.vibration.modes import Modes
from ..style import COLOURS, QUIET, finish, house_style
from .motion import plot_link_shapes, plot_response
from .paths import (
    plot_circle_frequencies,
    plot_link_deflections,
    plot_path_in_space,
    plot_path_response,
)
from .plots import plot_modes
from .stability import plot_paper_motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "plot_joint_flexibility"]

MARKERS = dict(zip(THICKENING, "oxs*D", strict=True))  # those of the paper
STIFFNESS_NAMES = {
    "both": "$k_{T1} = k_{T2}$",
    "shoulder": "$k_{T1}$ (elbow rigid)",
    "elbow": "$k_{T2}$ (shoulder rigid)",
}
# N m/rad, what is drawn
STIFFEST = 1e11
SOFTEST = 1e-3


def plot_joint_flexibility(
    found: JointFlexibility, path: str | Path | None = None, springs: str = "both"
) -> Figure:
    """Draw ten frequencies against joint stiffness, a row per mode and a column a posture.

    As in [DiCastri2011], Table 7; departure: logarithmic in frequency, so that all five
    slendernesses can be read; dotted lines are the rigid arm.
    """
    import matplotlib.pyplot as plt

    with house_style():
        figure, axes = plt.subplots(
            10, 3, figsize=(8.5, 18), sharex=True, sharey="row", layout="constrained"
        )
        keep = (found.stiffness <= STIFFEST) & (found.stiffness >= SOFTEST)
        for mode, row in enumerate(axes):
            for posture, ax in enumerate(row):
                # One mode at one posture: five slendernesses, the rigid arm dotted
                is_drawn = (found.stiffness <= STIFFEST) & (found.stiffness >= SOFTEST)
                ax.set(xscale="log", yscale="log", autoscale_on=False)
                ax.minorticks_off()
                for i, (table, marker) in enumerate(MARKERS.items()):
                    hertz = found.frequency_hz[springs][i, posture, is_drawn, mode]
                    style: dict[str, Any] = {"color": COLOURS[i], "marker": marker, "markersize": 3}
                    ax.plot(
                        found.stiffness[is_drawn], hertz, lw=0.8, label=f"Table {table}", **style
                    )
                rigid = found.rigid[:, posture, mode]
                ax.hlines(
                    rigid, 0, 1, transform=ax.get_yaxis_transform(), color=QUIET, lw=0.5, ls=":"
                )
            all_hertz = found.frequency_hz[springs][:, :, keep, mode]
            row[0].set_ylim(
                0.7 * all_hertz.min(), 1.4 * max(all_hertz.max(), found.rigid[..., mode].max())
            )
            row[0].set_ylabel(f"mode {mode + 1} (Hz)")
        for ax, at in zip(axes[0], POSTURES, strict=True):
            ax.set_title(f"$\\theta_2$ = {at}°")
        for ax in axes[-1]:
            ax.set_xlabel(f"{STIFFNESS_NAMES[springs]} (N m/rad)")
        axes[0][0].set_xlim(2 * STIFFEST, 0.5 * SOFTEST)  # shared by all
        handles, labels = axes[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=5)
    return finish(figure, path, mathematics=True)


def draw(found: Reproduction, folder: str | Path) -> list[Path]:
    """Draw every result of a paper that has a picture into a folder; return the files."""
    target = make_folder(folder)
    written = []
    for name, result in found.results.items():
        base = f"{found.paper}-{re.sub(r'[^a-z0-9]+', '-', name.lower())}"
        if isinstance(result, JointFlexibility):
            for springs in result.frequency_hz:
                written.append(target / f"{base}-{springs}.png")
                _close_figure(plot_joint_flexibility(result, written[-1], springs))
        elif isinstance(result, Modes):
            written.append(target / f"{base}.png")
            _close_figure(plot_modes(result, written[-1]))
        elif isinstance(result, PaperMotion):
            written.append(target / f"{base}.png")
            _close_figure(plot_paper_motion(result, name, written[-1]))
        elif isinstance(result, Response):
            written.append(target / f"{base}.png")
            _close_figure(plot_response(result, written[-1], title=name))
        elif isinstance(result, CircleFrequencies):
            written.append(target / f"{base}.png")
            _close_figure(plot_circle_frequencies(result, written[-1]))
        elif isinstance(result, PathResponse):
            written.append(target / f"{base}.png")
            _close_figure(plot_path_response(result, written[-1]))
            written.append(target / f"{base}-links.png")
            _close_figure(plot_link_deflections(result, written[-1]))
            written.append(target / f"{base}-path.png")
            _close_figure(plot_path_in_space(result, written[-1]))
        elif isinstance(result, Model):
            written.append(target / f"{base}.png")
            _close_figure(plot_link_shapes(result, written[-1], title=name))
    return written


def _close_figure(figure: Figure) -> None:
    import matplotlib.pyplot as plt

    plt.close(figure)
