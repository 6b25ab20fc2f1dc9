"""What a reader waits for: the studio from its command, its answer to a slider, the saved page."""

from __future__ import annotations

import math
import time
import urllib.request
from typing import Any

import numpy as np

import supple
from supple.studies.vibration.neighbourhood import around
from supple.view.live.questions import StudioQuestion, ask, only
from supple.view.page.page import Chapter, page_text
from supple.view.scene.scene import modes_scene

from .browser import browser_timings, served
from .report import Check, Goal, Report, rows_of
from .timing import Contestant, Timing, measure

__all__ = ["BENCHES"]

POSE = (0.0, 0.7853981633974483, 0.7853981633974483)
PAGE_LIMIT = 1.5e6
FRAME = 1 / 60
SERVES = "supple view, until it serves"
SLIDER = "slider to Scene, three links"


def serving() -> tuple[float, str]:
    """Seconds from the command to the first page served, and that page."""
    start = time.perf_counter()
    with served("industrial-3") as url, urllib.request.urlopen(url) as answer:
        page = answer.read().decode()
        seconds = time.perf_counter() - start
    return seconds, page


def drag(robot: Any, angle: float) -> Any:
    """What the studio does when a slider moves: frequencies and the drawn shape as a Scene."""
    found = ask(StudioQuestion(robot, (0.0, angle, POSE[2])))
    part, place = only(found, 2)
    return found, modes_scene(part, points=21).tracks[0].motion[0, place]


def bench(quick: bool) -> Report:
    """Run everything of this topic."""
    repeats = 3 if quick else 5
    robot = supple.load("industrial-3")
    delta_robot = supple.load("kuo-delta")

    # From the command to the first page; the first of all only warms the disk
    starts = [serving() for _ in range(repeats + 1)][1:]
    seconds = tuple(duration for duration, _ in starts)
    _, first_page = starts[0]

    # What the studio computes when a slider moves, and pages that are saved
    modes_of_arm = supple.modes(robot, POSE, count=6)
    modes_of_delta = supple.modes(delta_robot, position=[0.1, 0, 0.5], count=6)
    angles = iter(np.linspace(0.1, 2, 1000))
    timings, answers = measure(
        {
            SLIDER: Contestant(lambda: drag(robot, float(next(angles)))),
            "page of three links": Contestant(lambda: page(modes_of_arm)),
            "page of a Delta": Contestant(lambda: page(modes_of_delta)),
        },
        repeats,
    )
    pages = {name: text for name, text in answers.items() if name.startswith("page")}

    # What a browser shows of both, where there is one
    seen = browser_timings(pages, repeats)
    if isinstance(seen, str):
        missing = [seen]
        notes = []
        browser_rows: dict[str, Timing] = {}
        browser_checks = []
    else:
        browser_rows, shown = seen
        missing = []
        notes = [f"the browser draws {shown['rate']:.0f} frames a second"]
        browser_checks = [check_shown_numbers(robot, shown)]
    rows = {SERVES: Timing(seconds, seconds, outside=True), **timings, **browser_rows}

    goals = [Goal(SERVES, 1.5, rows[SERVES].seconds)]
    goals.append(Goal(SLIDER, 50e-3, timings[SLIDER].seconds))
    for name, text in pages.items():
        size = len(text.encode())
        goals.append(Goal(f"bytes of the {name}", PAGE_LIMIT, size, seconds=False))
    for name, timing in browser_rows.items():
        limit = FRAME if name.startswith("frame") else 50e-3
        goals.append(Goal(name, limit, timing.seconds))

    checks = [Check("the studio serves a page", "<html" in first_page)]
    checks += check_drawing(robot, *answers[SLIDER])
    for name, text in pages.items():
        checks.append(Check(f"the {name} needs no network", not names_an_address(text)))
    checks += browser_checks
    return Report("Looking at it", "run", rows_of(rows), goals, checks, notes, missing)


def check_shown_numbers(robot: Any, shown: dict[str, Any]) -> Check:
    """Whether the numbers in the browser are the library's at the slider's angle."""
    pose = (0.0, math.radians(shown["angle"]), POSE[2])
    frequency_hz = supple.modes(robot, pose, count=6).frequency_hz
    same = bool((frequency_hz == shown["hertz"]).all())
    return Check("the browser shows the library's numbers", same)


def check_drawing(robot: Any, found: Any, motion: np.ndarray) -> list[Check]:
    """Whether what the slider draws is what the library answers."""
    again = supple.modes(robot, (0.0, 0.1, POSE[2]), count=6)
    same = bool((found.omega == again.omega).all())
    drawn_size = np.abs(motion[..., :3]).max()
    mode_size = np.abs(again.shape(21).displacement[2]).max()
    return [
        Check("the slider's frequencies are the library's", same),
        Check("the drawn shape is the mode's", bool(np.isclose(drawn_size, mode_size))),
    ]


def names_an_address(text: str) -> bool:
    """Whether a page names an address; that of SVG is a name, not a place."""
    plain = text.replace("http://www.w3.org/2000/svg", "")
    return "http://" in plain or "https://" in plain


def page(found: Any) -> str:
    """The whole page of modes, poses around it included."""
    return page_text(found.robot.name, [Chapter(scene=modes_scene(found, around(found)))])


BENCHES = {"view": bench}
