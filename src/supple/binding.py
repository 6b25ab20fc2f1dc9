"""Binds `.plot`, `.to_xarray` and their like to the answers, which themselves stay plain.

The one listed exception to the import rule: studies know no view, this file knows both.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .robot import Robot
from .studies.motion.response import Response
from .studies.motion.stability import Stability
from .studies.statics import Statics
from .studies.vibration.modes import Modes

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

    from .view.live.live import Live

__all__ = ["bind"]


def _plot_modes(self: Modes, path: str | Path | None = None, **options: Any) -> Figure:
    """Draw the mode shapes of one configuration, or the frequencies of many; never blocks."""
    from .view.figures.plots import plot_frequencies, plot_modes

    draw: Any = plot_modes if self.omega.ndim == 1 else plot_frequencies
    figure: Figure = draw(self, path=path, **options)
    return figure


def _plot_statics(self: Statics, path: str | Path | None = None) -> Figure:
    """Draw the arm at rest and sagged; never blocks."""
    from .view.figures.plots import plot_statics

    return plot_statics(self, path)


def _show(self: Any, host: str = "127.0.0.1", port: int = 8080) -> Live:
    """Show it live in the browser; returns at once where one can go on typing, else at Ctrl-C."""
    import sys

    from .view.live.live import open_browser, serve

    live = serve(self, host, port)
    print(live.sentence)  # noqa: T201 - the reader must know where to look
    open_browser(live.url)
    if not hasattr(sys, "ps1") and "ipykernel" not in sys.modules:
        live.wait()
    return live


def _save_page(self: Any, path: str | Path, **options: Any) -> Path:
    """Write one HTML page with the answer to play with; `nearby` poses along its coordinates."""
    from .view.page.reports import save_report

    return save_report(self, path, **options)


def _plot_path(self: Any, path: str | Path | None = None) -> Figure:
    """Draw path, variations and torques; never blocks."""
    from .view.figures.paths import plot_path_response

    return plot_path_response(self, path)


def _plot_workspace(
    self: Any, path: str | Path | None = None, bound: float | None = None
) -> Figure:
    """Draw the lowest frequency over the workspace; never blocks."""
    from .view.figures.paths import plot_workspace

    return plot_workspace(self, path, bound)


def _modes_to_xarray(self: Modes) -> xarray.Dataset:
    """Return frequencies, configurations and brackets as a labelled Dataset."""
    import numpy as np
    import xarray

    lead = () if self.omega.ndim == 1 else ("configuration",)
    joints = [link.name for link in getattr(self.robot, "moving", ())]
    where = {}
    if self.position is not None:  # a Delta: three motors, and where its platform is
        joints = ["motor1", "motor2", "motor3"]
        where = {"position": ((*lead, "axis"), self.position, {"units": "m"})}
    return xarray.Dataset(
        {
            "omega": ((*lead, "mode"), self.omega, {"units": "rad/s"}),
            "frequency_hz": ((*lead, "mode"), self.frequency_hz, {"units": "Hz"}),
            "width": ((*lead, "mode"), self.width, {"long_name": "relative certified bracket"}),
            "theta": ((*lead, "joint"), self.theta, {"units": "rad or m"}),
            "rigid_modes": (lead, self.rigid_modes),
            "valid": (lead, self.valid),
            **where,
        },
        coords={"mode": np.arange(1, self.omega.shape[-1] + 1), "joint": joints},
        attrs={
            "robot": self.robot.name,
            "method": self.method,
            "joints": self.joints,
            "certified": int(self.certified),
        },
    )


def _plot_response(self: Response, path: str | Path | None = None, **options: Any) -> Figure:
    """Draw deflections, joints, tip, efforts and energy over time; never blocks."""
    from .view.figures.motion import plot_response

    return plot_response(self, path, **options)


def _plot_stability(self: Stability, path: str | Path | None = None, **options: Any) -> Figure:
    """Draw frozen eigenvalues beside energy, action, amplitude and root moment; never blocks."""
    from .view.figures.stability import plot_stability

    return plot_stability(self, path, **options)


def _stored(name: str) -> Any:
    """A function of `studies.stored` as a method of Response."""

    def method(self: Response, *args: Any) -> Any:
        from .studies import storage as stored

        return getattr(stored, name)(self, *args)

    method.__doc__ = "See `supple.studies.storage`."
    return method


def bind() -> None:
    """Attach the methods; called once when the public names are first used."""
    for answer, names in (
        (Robot, {"show": _show, "save_page": _save_page}),
        (
            Modes,
            {
                "plot": _plot_modes,
                "show": _show,
                "save_page": _save_page,
                "to_xarray": _modes_to_xarray,
            },
        ),
        (Stability, {"plot": _plot_stability, "show": _show, "save_page": _save_page}),
        (Statics, {"plot": _plot_statics, "show": _show, "save_page": _save_page}),
        (
            Response,
            {
                "plot": _plot_response,
                "show": _show,
                "save_page": _save_page,
                "to_xarray": _stored("to_xarray"),
                "to_pandas": _stored("to_pandas"),
                "save": _stored("save_response"),
            },
        ),
    ):
        for name, function in names.items():
            setattr(answer, name, function)
    _bind_paths()


def _bind_paths() -> None:
    """Attach the methods of answers along paths, once their group of names is in use."""
    paged = {"show": _show, "save_page": _save_page}
    mapped = {
        "plot": _plot_workspace,
        "to_xarray": _stored("map_to_xarray"),
        "save": _stored("save_map"),
    }
    followed = {
        "plot": _plot_path,
        "to_xarray": _stored("path_to_xarray"),
        "to_pandas": _stored("path_to_pandas"),
        "save": _stored("save_path"),
    }
    for module, answer, methods in (
        ("motion.follow", "PathResponse", followed | paged),
        ("vibration.workspace", "FrequencyMap", mapped | paged),
    ):
        if (found := sys.modules.get(f"{__package__}.studies.{module}")) is not None:
            for name, method in methods.items():
                setattr(getattr(found, answer), name, method)
