"""The pictures of the documentation, drawn anew with every build so that they show what is true."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

import supple

os.environ.setdefault("MPLBACKEND", "Agg")


def modes(path: Path) -> None:
    """The industrial arm of [DiCastri2011], six modes."""
    supple.modes(supple.load("industrial-3"), np.radians([0, 45, 45]), count=6).plot(path)


def elbow(path: Path) -> None:
    """Its frequencies while the elbow turns."""
    angle = np.radians(np.linspace(-120, 120, 121))
    theta = np.column_stack([0 * angle, angle, 0 * angle])
    supple.modes(supple.load("industrial-3"), theta, count=6).plot(path)


def sag(path: Path) -> None:
    """Its sag under gravity."""
    robot = supple.load("industrial-3")
    supple.statics(robot, np.radians([0, 45, 45]), gravity=[0, -9.81, 0]).plot(path)


def swing(path: Path) -> None:
    """The two-link arm of [DeLuca1991] under bang-bang torques."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    supple.simulate(model, tau=supple.BangBang(0.2), duration=2.0).plot(path)


def retraction(path: Path) -> None:
    """The sliding link of [Theodore1997] drawn in: beside its eigenvalues what really happens."""
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
    supple.stability(model, supple.ParabolicBlends([0, 0, 1.0], [3.1416, -1.5708, 0.3], 1.0)).plot(
        path
    )


def stroke(path: Path) -> None:
    """A Delta ten times as stiff as that of [Kuo2016], along its inverted U."""
    steel = {"materials.steel.young_modulus": 210e10, "materials.steel.shear_modulus": 80e10}
    stiff = supple.load("kuo-delta").with_(steel)
    supple.follow(stiff, supple.InvertedU(), damping=0.02, after=0.3).plot(path)


def shaking(path: Path) -> None:
    """Four ways to make one move of the two-link arm of [DeLuca1991], with a wrong payload."""
    arm = supple.load("de-luca-two-link")
    supple.compare(arm, [0, 0], [0.9, 0.7], elements=2, progress=False).plot(path)


def theories(path: Path) -> None:
    """The industrial arm of [DiCastri2011] under three beam theories, six modes."""
    supple.theories(supple.load("industrial-3"), np.radians([0, 45, 45]), count=6).plot(path)


def coordinates(path: Path) -> None:
    """Fig. 5 of [DeLuca1991], one panel for each coordinate."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    run = supple.simulate(model, q0=[0, 0, 0, 0, 0.1, 0.002], duration=2.0)
    run.plot(path, what="coordinates")


def _stiff_delta() -> supple.Robot:
    """The Delta of [Kuo2016] of a material ten times as stiff, which stays in the small range."""
    steel = {"materials.steel.young_modulus": 210e10, "materials.steel.shear_modulus": 80e10}
    return supple.load("kuo-delta").with_(steel)


def deflections(path: Path) -> None:
    """Figs. 8-11 of [Kuo2016] of a stiffer robot: its links at half their length."""
    steady = supple.follow(
        _stiff_delta(), supple.CirclePath(), start="periodic", damping=0.05, dt=5e-3
    )
    steady.plot(path, what="deflections", fraction=0.5)


def way(path: Path) -> None:
    """Fig. 13 of [Kuo2016] of a stiffer robot: wanted and reached."""
    supple.follow(_stiff_delta(), supple.InvertedU(), damping=0.02).plot(path, what="path")


FIGURES = (
    *(modes, elbow, sag, swing, retraction, stroke, shaking),
    *(theories, coordinates, deflections, way),
)
DRAWN: dict[str, Callable[[Path], None]] = {draw.__name__: draw for draw in FIGURES}


def draw_all(folder: Path) -> None:
    """Write every picture as PNG into a folder."""
    import matplotlib.pyplot as plt

    folder.mkdir(exist_ok=True)
    for name, draw in DRAWN.items():
        draw(folder / f"{name}.png")
        plt.close("all")
