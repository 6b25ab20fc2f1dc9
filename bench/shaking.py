"""How much a move leaves shaking: plain, shaped, scheduled and optimised, on three robots.

Moves from rest to rest with a trapezoid of speed that take 1.5 periods of the lowest mode, and five
random durations. Made on few modes for the payload as it is told, tried on more of them with the
payload a fifth lighter and heavier: the worst of all is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import supple

from .report import Check, Goal, Report

__all__ = ["BENCHES", "MOVES", "Move", "tried"]

SIX = Path(__file__).with_name("robots") / "six-like-ur5.yaml"
SEED = 16


@dataclass(frozen=True)
class Move:
    """A robot's move: where from, where to, elements to a link when it is tried."""

    robot: str
    start: Sequence[float]
    end: Sequence[float]
    elements: int


MOVES = {
    "two-link arm": Move("de-luca-two-link", (0.0, 0.0), (0.9, 0.7), 2),
    "six-joint arm": Move(
        str(SIX), (0, -1.2, 1.0, -0.5, 0.3, 0), (0.8, -0.7, 0.5, -0.2, 0.6, 0.3), 2
    ),
    "Delta": Move("kuo-delta", (-0.08, -0.02, 0.5), (0.08, 0.02, 0.6), 2),
}
PERIODS = (1.5, *np.random.default_rng(SEED).uniform(1.0, 3.0, 5).tolist())


def tried(move: Move, periods: float) -> supple.Comparison:
    """The four methods on a move of so many periods of the lowest mode where it ends."""
    robot = supple.load(move.robot)
    where = {"position" if robot.architecture == "delta" else "theta": list(move.end)}
    lowest = float(supple.modes(robot, **where, count=1).frequency_hz[0])  # type: ignore[arg-type]
    return supple.compare(
        robot,
        move.start,
        move.end,
        periods / lowest,
        elements=move.elements,
        progress=False,
    )


def shaking(quick: bool) -> Report:
    """Return what is left by each method, the worst of all payloads; two durations when quick."""
    notes = []
    goals = []
    checks = []
    measured = []
    for name, move in MOVES.items():
        ratios = []
        faster = []
        equal = []
        for periods in PERIODS[: 2 if quick else None]:
            found = tried(move, periods)
            left = found.worst
            each = ", ".join(
                f"{method} {1e3 * x:.3g} mm in {T:.3g} s"
                for method, x, T in zip(found.methods, left, found.duration, strict=True)
            )
            measured.append(
                {
                    "robot": name,
                    "periods": periods,
                    "methods": list(found.methods),
                    "left": left.tolist(),
                    "duration": found.duration.tolist(),
                }
            )
            notes.append(f"{name}, {periods:.3f} periods: {each}")
            ratios.append(left[2] / left[0])
            faster.append(found.duration[3] / found.duration[1:3].min())
            equal.append(left[3] / left[1])
        goals += [
            Goal(f"{name}: scheduled over unshaped, worst", 0.1, max(ratios), seconds=False),
            Goal(f"{name}: optimised over shaped, time", 1.0, max(faster), seconds=False),
            Goal(f"{name}: optimised over zvd, left", 1.0, max(equal), seconds=False),
        ]
        checks.append(Check(f"{name}: every method shakes less", max(ratios) < 1))
    return Report("what a move leaves shaking", "move", (), goals, checks, notes, (), measured)


BENCHES = {"shaking": shaking}
