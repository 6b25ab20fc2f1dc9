"""The main job on the four published robots: our numbers beside the papers', poses to play with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from .. import files
from ..beams.basis import AssumedModes
from ..control.controllers import Decoupling
from ..control.trajectories import NAMED, InvertedU
from ..equations.build import build
from ..integration.inputs import BangBang
from ..studies.motion.follow import follow
from ..studies.motion.path_response import PathResponse
from ..studies.motion.response import Response
from ..studies.motion.simulate import simulate
from ..studies.vibration.modes import Modes, modes
from ..studies.vibration.neighbourhood import ModesAlongCoordinate, around
from . import kuo, theodore
from .cells import Reproduction, Verdict, half_digit
from .reproduce import reproduce, whole_runs

__all__ = ["Row", "Stop", "stops", "tour"]


@dataclass(frozen=True)
class Row:
    """One printed number beside ours; `right`: by the right model, where the paper's is not."""

    quantity: str
    unit: str
    printed: str
    ours: float
    verdict: str
    right: float | None = None


@dataclass(frozen=True)
class Stop:
    """One robot of the tour.

    Attributes
    ----------
    name
        Of the library.
    title, text
        For a reader who knows nothing yet.
    table
        What the rows are.
    tally
        How often each verdict was given over all that was recomputed.
    motion
        Words about a motion of the robot and the motion, where one is computed.
    """

    name: str
    title: str
    text: tuple[str, ...]
    found: Modes
    nearby: tuple[ModesAlongCoordinate, ...]
    table: str
    rows: tuple[Row, ...]
    tally: Mapping[Verdict, int] = field(default_factory=dict)
    note: str = ""
    motion: tuple[str, Response | PathResponse] | None = None


def stops() -> tuple[str, ...]:
    """Return the names of the robots visited."""
    return tuple(STOPS)


def tour(names: tuple[str, ...] | None = None) -> Iterator[Stop]:
    """Yield one stop after the other, each computed when it is asked for."""
    for name in names or stops():
        with whole_runs():
            stop = STOPS[name]()
        yield stop


def _industrial() -> Stop:
    paper = reproduce("di-castri")
    robot = files.load("industrial-3")
    found = modes(robot, np.radians([0.0, -45.0, 90.0]), 8)
    cells = [c for c in paper.cells if c.table == "Table 9" and c.column == "T"]
    rows = tuple(Row(f"mode {c.mode}", "Hz", c.printed, float(c.ours), c.verdict) for c in cells)
    return Stop(
        "industrial-3",
        "An industrial arm with three links",
        (
            "Three aluminium box beams of 1.5 m, with motors at the elbows and a 35 kg tool. Even "
            "held still by its motors, the arm rings when it is struck or stops: each row of the "
            "list is one way of vibrating (a mode), with its frequency in swings a second (Hz). "
            "Pick a row to see it move.",
            "Drag the joint sliders: the frequencies change with the posture. That is why a "
            "controller tuned in one posture can fail in another.",
        ),
        found,
        tuple(around(found)),
        "Di Castri and Messina (2011), Table 9, Timoshenko beams",
        rows,
        _tally(paper),
        "Every printed number of this paper was recomputed and counted; "
        "`supple reproduce di-castri` lists those that differ, and why.",
    )


def _tally(paper: Reproduction) -> Mapping[Verdict, int]:
    return dict(sum(paper.tally().values(), Counter[Verdict]()).most_common())


def _de_luca() -> Stop:
    paper = reproduce("de-luca")
    robot = files.load("de-luca-two-link")
    found = modes(robot, np.radians([0.0, 60.0]), 6)
    cells = [c for c in paper.cells if c.table == "Section VII" and c.column == "f_hz"]
    rows = tuple(
        Row(f"link {c.mode // 10}, shape {c.mode % 10}", "Hz", c.printed, float(c.ours), c.verdict)
        for c in cells
    )
    # Both joints pushed by 0.2 N m for half a second, pulled back, then let go: Figure 9
    model = build(robot, AssumedModes(2))
    words = (
        "The same robot while its motors push for half a second, pull back, and let go. The links "
        "are drawn as they bend, not larger. Drag the time, or slow it down."
    )
    swing = (words, simulate(model, tau=BangBang(0.2, 0.5), duration=2.0))
    return Stop(
        "de-luca-two-link",
        "Two very soft links",
        (
            "Half a metre each, soft enough to sway once in two seconds. The paper writes its "
            "equations of motion with two shapes per link; each belongs to the link clamped at "
            "its joint, carrying the rest of the arm as a mass. So the table below lists links one "
            "by one, the picture and its list the whole arm: their frequencies are near, not "
            "equal.",
        ),
        found,
        tuple(around(found)),
        "De Luca and Siciliano (1991), section VII: frequencies of the shapes",
        rows,
        _tally(paper),
        "Every printed number and coefficient of this paper was recomputed; `supple reproduce "
        "de-luca` lists those that differ, and why.",
        motion=swing,
    )


def _theodore() -> Stop:
    robot = files.load("theodore-rrp")
    found = modes(robot, [0.3, 0.7, 0.8], 6)
    stiffness = 1165.4916
    mass = 0.331
    named = ("sliding speed at cruise", "wave speed at 1.0 m")
    rows = [
        Row(name, "m/s", c.printed, float(c.ours), c.verdict)
        for name, c in zip(named, theodore.printed_numbers(), strict=True)
    ]
    for length in (0.3, 1.0):
        omega = modes(robot, [0.0, 0.0, length], 1).omega[0]
        ours = float((omega**2 * mass * length**4 / stiffness) ** 0.25)
        # The first root of [Theodore1997], Eq. (9) with J_L = 0, by bisection
        ratio = 0.0828 / (mass * length)
        theirs = 0.1
        high = 1.9
        for _ in range(60):
            b = (theirs + high) / 2
            tied = math.cosh(b) * math.sin(b) - math.sinh(b) * math.cos(b)
            above = 1 + math.cosh(b) * math.cos(b) - ratio * b * tied > 0
            theirs, high = (b, high) if above else (theirs, b)
        quantity = f"wave number 1 at {length:g} m, Eq. (9)"
        printed = f"{theirs:.5f}"
        agrees = abs(ours - float(printed)) <= 1.0001 * half_digit(printed)
        row = Row(quantity, "", printed, ours, "agrees" if agrees else "differs")
        rows.append(row)
    # The paper's extension under its control law, and what swings on after the stop
    model = build(robot, AssumedModes(2))
    law = Decoupling(100.0, 20.0)
    path = NAMED["extension"]
    words = (
        "The same robot turning half round while the beam slides out to its full reach, joints "
        "held to their paths by a controller. The joints stop on time; the tip swings on."
    )
    reach = (words, simulate(model, controller=law, trajectory=path, duration=1.5))
    return Stop(
        "theodore-rrp",
        "A spatial arm with a link that slides",
        (
            "Two joints turn and the third slides a 1.3 m beam out of its hub. The longer the "
            "part outside, the softer: drag its length and watch every frequency fall.",
        ),
        found,
        tuple(around(found)),
        "Theodore and Ghosal (1997), the beam",
        tuple(rows),
        note="A wave number says how much the beam curves in its first mode; the frequency follows "
        "from it. The paper prints its equation (9) and no roots: the paper's column holds that "
        "equation solved.",
        motion=reach,
    )


def _kuo() -> Stop:
    paper = kuo.tables()
    robot = kuo.robot()
    found, shown = (modes(robot, position=kuo.P, count=count) for count in (8, 6))
    finest = [c for c in paper.cells if c.table == "Table 2" and c.posture.startswith("n = 8")]
    rows = tuple(
        Row(f"mode {c.mode}", "rad/s", c.printed, float(c.ours), c.verdict, float(omega))
        for c, omega in zip(finest, found.omega, strict=True)
    )
    # The paper's inverted U at half its speed, where bending stays small
    path = InvertedU(times=(0.4, 0.8, 1.2, 1.6))
    words = (
        "The same robot lifting its platform over an obstacle and setting it down, at half the "
        "paper's speed. Its weight alone bends the legs; the stroke makes them swing. The dashed "
        "robot and the thin grey line are where rigid legs would be."
    )
    pick = (words, follow(robot, path, modal_damping=0.05, dt=2e-3, after=0.4))
    return Stop(
        "kuo-delta",
        "A Delta robot with thin legs",
        (
            "Three legs of thin steel bars carry one platform, as in a pick-and-place robot. It "
            "rings after every stroke, and how fast depends on where the platform is.",
            "The picture and its list show the right model of this robot. The table below has "
            "two columns of ours: the first repeats the paper's own model, slips included, and "
            "meets what it prints; the second is the right model, that of the picture. The paper "
            "counts in rad/s: divided by 6.283 they are the Hz of the list.",
        ),
        shown,
        tuple(around(shown, count=13)),
        "Kuo (2016), Table 2, platform at (0.1, 0, 0.5) m",
        rows,
        _tally(paper),
        "They differ because the paper's model ties its legs wrongly at the joints (three slips) "
        "and counts half of the platform's mass; every number of its Tables 2 and 3 was recomputed "
        "that way.",
        motion=pick,
    )


STOPS: Mapping[str, Callable[[], Stop]] = {
    "industrial-3": _industrial,
    "de-luca-two-link": _de_luca,
    "theodore-rrp": _theodore,
    "kuo-delta": _kuo,
}
