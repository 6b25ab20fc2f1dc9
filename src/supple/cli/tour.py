"""`supple tour`: a few questions answered and drawn, each with the command that asks it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..errors import SuppleError
from .arguments import Json
from .output import print_json

__all__ = ["tour"]

Out = Annotated[str, typer.Option("--out", metavar="DIR", help="Where pictures and files go.")]


class Stop(NamedTuple):
    """One stop of the tour."""

    question: str
    command: str
    answer: str
    file: str


def tour(out: Out = "tour", json: Json = False) -> None:
    """Answer a few questions about published robots and draw them, into a folder."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SuppleError(f"--out {out}: {problem.strerror}") from None
    os.environ.setdefault("MPLBACKEND", "Agg")
    stops = [stop(folder) for stop in (_file, _modes, _turning, _sag, _delta)]
    if json:
        print_json({"out": out, "stops": [stop._asdict() for stop in stops]})
        return
    for number, stop in enumerate(stops, 1):
        typer.echo(f"{number}. {stop.question}\n   $ {stop.command}\n   {stop.answer}")
        typer.echo(f"   -> {folder / stop.file}\n")


def _hertz(values: Any) -> str:
    return ", ".join(f"{value:.4g}" for value in values) + " Hz"


def _file(folder: Path) -> Stop:
    from ..files import dump, load

    name = "industrial-3.yaml"
    dump(load("industrial-3"), folder / name)
    told = "no fault; copy this file to describe your own arm"
    return Stop("What does a robot file look like?", f"supple check {folder / name}", told, name)


def _modes(folder: Path) -> Stop:
    import math

    from ..files import load
    from ..studies.modes import modes
    from ..view.plots import plot_modes

    found = modes(load("industrial-3"), [0, math.pi / 4, math.pi / 4], count=10)
    plot_modes(found, folder / "modes.png")
    sure = ", ...; certified" if found.certified else ", ...; not certified"
    told = _hertz(found.frequency_hz[:5]) + sure
    command = "supple modes industrial-3 --at 0,45deg,45deg --plot modes.png"
    return Stop("How does an industrial arm vibrate here?", command, told, "modes.png")


def _turning(folder: Path) -> Stop:
    import numpy as np

    from ..files import load
    from ..studies.modes import modes
    from ..view.plots import plot_frequencies

    theta = np.zeros((181, 3))
    theta[:, 1] = np.radians(np.arange(181))
    found = modes(load("industrial-3"), theta, count=6)
    plot_frequencies(found, path=folder / "elbow.png")
    first = found.frequency_hz[:, 0]
    told = f"the first from {first.min():.4g} to {first.max():.4g} Hz over 180 degrees of the elbow"
    command = "supple.modes(robot, theta).plot('elbow.png')  # Python, theta of shape (181, 3)"
    return Stop("How do the frequencies change with the posture?", command, told, "elbow.png")


def _sag(folder: Path) -> Stop:
    from ..files import load
    from ..studies.statics import statics
    from ..view.plots import plot_statics

    found = statics(load("industrial-3").with_("gravity", [0, -9.81, 0]))
    plot_statics(found, folder / "sag.png")
    told = f"the tip sinks by {-1000 * found.tip_displacement[1]:.3g} mm, stretched out"
    command = "supple statics FILE --plot sag.png  # with gravity: [0, -9.81, 0] in the file"
    return Stop("How does it sag under its own weight?", command, told, "sag.png")


def _delta(folder: Path) -> Stop:
    from ..files import load
    from ..studies.modes import modes
    from ..view.plots import plot_modes

    found = modes(load("kuo-delta"), position=[0.1, 0, 0.5], count=6)
    plot_modes(found, folder / "delta.png")
    command = "supple modes kuo-delta --position 0.1,0,0.5 --plot delta.png"
    return Stop("And a Delta robot?", command, _hertz(found.frequency_hz), "delta.png")
