"""Ten natural frequencies of an arm at many poses: supple, SciPy elements and OpenSeesPy.

Every engine gets the same arm and poses. The error printed beside a time is the largest over the
poses, relative to the certified answer, so that speed is read at a known accuracy; the certified
answer itself is held against spectral elements, which share no line of code with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import supple

from .arms import SPATIAL, PlainArm, plain, poses
from .opensees import OpenSeesArm, opensees
from .report import Check, Goal, Report, rows_of
from .scipy_beams import ScipyArm
from .timing import Contestant, Timing, measure

__all__ = ["BENCHES"]

COUNT = 10
BATCH = 10_000
QUICK_BATCH = 1_000
POSES = 40
QUICK_POSES = 5
MESHES = (4, 8, 16)
DEGREES = (8, 12)
EXACT = "supple exact, batch"
SINGLE = "supple exact, one call each"
PRECISE = 1e-6  # error up to which a peer counts as a peer of the exact answer


@dataclass(frozen=True)
class Case:
    """One arm. tolerance: what spectral elements of degree 12 reach on it in double precision."""

    robot: str | Path
    title: str
    tolerance: float
    goal: float | None = None

    def __call__(self, quick: bool) -> Report:
        robot = supple.load(self.robot)
        many = poses(len(robot.links), QUICK_BATCH if quick else BATCH)
        few = many[: QUICK_POSES if quick else POSES]
        peers, missing = contestants(plain(robot), few)
        timings, answers = measure({**ours(robot, many, few), **peers}, repeats=3 if quick else 5)
        exact = answers[EXACT].omega[: len(few)]
        answers |= {EXACT: exact}
        errors = {name: omega / exact[: len(omega)] - 1 for name, omega in answers.items()}
        width = float(supple.modes(robot, few, count=COUNT).width.max())
        return Report(
            f"{self.title}: {COUNT} modes, {len(few)} poses ({len(many)} in the batch)",
            "configuration",
            rows_of(timings, more=columns(errors, width), data=data(errors)),
            self._goals(timings, errors, len(many)),
            checks(errors, width, self.tolerance),
            ["ratio to the first row; errors against the certified answer, largest over poses"],
            missing,
        )

    def _goals(self, timings: dict[str, Timing], errors: dict[str, Any], batch: int) -> list[Goal]:
        peers = {name: t for name, t in timings.items() if not name.startswith("supple")}
        precise = [t for name, t in peers.items() if abs(errors[name]).max() <= PRECISE]
        goals = []
        if self.goal:
            goals.append(Goal(f"exact, batch of {batch}", self.goal, timings[EXACT].seconds))
        fastest = max(timings[EXACT].over(t) for t in peers.values())
        goals.append(
            Goal("exact batch over the fastest peer, however inaccurate", 1.0, fastest, False)
        )
        if precise:
            value = max(timings[SINGLE].over(t) for t in precise)
            text = f"exact single call over the fastest peer with errors below {PRECISE:g}"
            goals.append(Goal(text, 1.0, value, False))
        return goals


def ours(robot: supple.SerialRobot, many: np.ndarray, few: np.ndarray) -> dict[str, Contestant]:
    """What supple does: the batch, single calls, and its own elements."""
    found = {
        EXACT: Contestant(lambda: supple.modes(robot, many, count=COUNT), len(many)),
        SINGLE: Contestant(
            lambda: np.array([supple.modes(robot, theta, count=COUNT).omega for theta in few]),
            len(few),
        ),
    }
    part = few[:4]  # they are the check, not the racer
    for n, order in ((4, "cubic"), (8, "cubic"), (16, "cubic"), (4, "quintic")):
        found[f"supple elements, {n} {order} per link"] = Contestant(
            lambda n=n, order=order: (
                supple.modes(
                    robot, part, count=COUNT, method="elements", elements=n, order=order
                ).omega
            ),
            len(part),
        )
    return found


def contestants(arm: PlainArm, few: np.ndarray) -> tuple[dict[str, Contestant], list[str]]:
    """Return the peers on the same poses, and which of them are not there."""
    models: dict[str, Any] = {}
    for elements in MESHES:
        models[f"scipy, {elements} cubic per link"] = ScipyArm(arm, elements)
    for degree in DEGREES:
        models[f"scipy, 1 of degree {degree} per link"] = ScipyArm(arm, degree=degree)
    missing = []
    ops = opensees()
    if ops is None:
        missing.append("OpenSeesPy (not installed, or it does not load)")
    else:
        for elements in MESHES:
            models[f"OpenSeesPy, {elements} cubic per link"] = OpenSeesArm(ops, arm, elements)
    racers = {}
    for name, model in models.items():
        racers[name] = Contestant(lambda model=model: model.batch(few), len(few))
    return racers, missing


def columns(errors: dict[str, np.ndarray], width: float) -> dict[str, dict[str, str]]:
    """Errors of the first, fifth and tenth mode, and the worst of all."""
    found = {}
    for name, error in errors.items():
        worst_by_mode = abs(error).max(axis=0)
        found[name] = {
            "mode 1": f"{worst_by_mode[0]:.0e}",
            "mode 5": f"{worst_by_mode[4]:.0e}",
            "mode 10": f"{worst_by_mode[-1]:.0e}",
            "worst": f"{worst_by_mode.max():.0e}",
        }
    for name in (EXACT, SINGLE):
        found[name] = {
            "mode 1": "",
            "mode 5": "",
            "mode 10": "",
            "worst": f"<{width:.0e} certified",
        }
    return found


def data(errors: dict[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """The same for JSON, mode by mode."""
    return {name: {"errors": abs(error).max(axis=0).tolist()} for name, error in errors.items()}


def checks(errors: dict[str, np.ndarray], width: float, tolerance: float) -> list[Check]:
    """Hold the answers against one another."""
    found = [
        Check(f"certified to {width:.0e}", width <= 1e-9),
        Check("single calls give the batch's bits", not errors[SINGLE].any()),
    ]
    spectral = abs(errors[f"scipy, 1 of degree {DEGREES[-1]} per link"]).max()
    text = f"exact and spectral elements agree to {spectral:.0e} (allowed {tolerance:g})"
    found.append(Check(text, spectral <= tolerance))
    for engine in ("supple elements", "scipy", "OpenSeesPy"):
        meshes = [errors.get(f"{engine}, {n} cubic per link") for n in MESHES]
        if all(mesh is not None for mesh in meshes):
            coarse, middle, fine = (abs(mesh).max() for mesh in meshes)
            from_above = min(mesh.min() for mesh in meshes) > -1e-6
            falling = coarse > middle > fine and from_above
            found.append(Check(f"{engine} falls to the exact answer from above", falling))
    return found


BENCHES = {
    "modes-industrial": Case("industrial-3", "Industrial arm of three links", 1e-9, 50e-6),
    "modes-two-link": Case("di-castri-two-link", "Very slender two-link arm", 1e-6),
    "modes-spatial": Case(SPATIAL, "Spatial arm of six joints", 1e-9),
}
