"""Error against cost of theories, methods, bases and integrators, for docs/howto/choose.md.

`python -m bench.choosing` measures, replaces the four tables of that page (between its
`measured` marks) and draws docs/performance/choosing.svg. Errors are taken against an answer that
is right by another route: certified frequencies, or a run with a finer basis and a tighter step.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import supple

from .timing import Contestant, measure

__all__ = ["Point", "bases", "fill_tables", "integrators", "methods", "theories"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "howto" / "choose.md"
PICTURE = ROOT / "docs" / "performance" / "choosing.svg"
POSE = np.radians([0.0, 45.0, 45.0])  # of the industrial arm
MODES = 6  # frequencies that are compared
BATCH = 2000  # poses in one call
MOVE_DURATION = 1.0  # s
WATCHED = 1.5  # s, the move and what rings after it


class Point(NamedTuple):
    """One choice: its name, its error as a fraction, its cost in seconds, and what else is said."""

    name: str
    error: float
    seconds: float
    note: str = ""


def slender_beam(slenderness: float) -> supple.Robot:
    """A clamped steel bar of 1 m, `slenderness` times as long as deep."""
    depth = 1.0 / slenderness
    return supple.SerialRobot(
        name="bar",
        planar=True,
        materials={"steel": supple.Material(young_modulus=210e9, shear_modulus=81e9, density=7850)},
        sections={"bar": supple.Rectangle(depth=depth, width=depth)},
        links=[supple.Link(name="bar", length=1.0, material="steel", section="bar")],
    )


def theories(slendernesses: Sequence[float] = (5, 10, 20, 50, 100)) -> list[list[str]]:
    """Rows: length over depth, and by how much Euler-Bernoulli is too high in modes 1 to 5, %."""
    rows = []
    for slenderness in slendernesses:
        robot = slender_beam(slenderness)
        by_theory = {}
        for theory in ("timoshenko", "euler-bernoulli"):
            bar = robot.with_("links.bar.theory", theory)
            found = supple.modes(bar, count=12)
            # Modes in which the bar stretches are the same under both theories, and left out.
            stretches = np.array(["axial" in kind for kind in found.kind])
            by_theory[theory] = found.frequency_hz[~stretches][:5]
        excess = by_theory["euler-bernoulli"] / by_theory["timoshenko"] - 1
        rows.append([f"{slenderness:g}", *(f"{100 * value:.2g}" for value in excess)])
    return rows


def methods() -> list[Point]:
    """Ways to compute six natural frequencies of the industrial arm: worst error, time a pose."""
    robot = supple.load("industrial-3")
    exact = supple.modes(robot, POSE, count=MODES).frequency_hz
    poses = np.tile(POSE, (BATCH, 1)) + np.random.default_rng(0).uniform(-1, 1, (BATCH, 3))
    poses[0] = POSE
    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "exact, one pose": (lambda: supple.modes(robot, POSE, count=MODES), 1),
        f"exact, {BATCH} poses": (lambda: supple.modes(robot, poses, count=MODES), BATCH),
    }
    for count in (1, 2, 4, 8):
        calls[f"elements, {count} cubic a link"] = (
            lambda count=count: supple.modes(
                robot, POSE, count=MODES, method="elements", elements=count
            ),
            1,
        )
    calls["elements, 2 quintic a link"] = (
        lambda: supple.modes(
            robot, POSE, count=MODES, method="elements", elements=2, order="quintic"
        ),
        1,
    )
    for count in (1, 2, 4, 8):
        calls[f"assumed, {count} a link"] = (
            lambda count=count: supple.modes(
                robot, POSE, count=MODES, method="assumed", elements=count
            ),
            1,
        )
    contestants = {name: Contestant(call, units) for name, (call, units) in calls.items()}
    timings, answers = measure(contestants)
    points = []
    for name, found in answers.items():
        frequencies = np.atleast_2d(found.frequency_hz)[0]
        error = np.abs(frequencies[:MODES] / exact[: len(frequencies)] - 1)
        note = _percent(float(error[0]))
        points.append(Point(name, float(error.max()), timings[name].seconds, note))
    return points


def _ringing(model: supple.Model, **options: Any) -> supple.Response:
    """A move of the two-link arm under joint control, and what rings after it."""
    move = supple.PointToPoint((0.0, 0.0), (0.9, 0.6), MOVE_DURATION)
    controller = supple.JointPD(40.0, 6.0)
    return supple.simulate(
        model, controller=controller, trajectory=move, duration=WATCHED, samples=151, **options
    )


def _tip_error(run: supple.Response, reference: supple.Response) -> float:
    """Largest distance between the tips of two runs, over the travel of the tip."""
    distance = np.linalg.norm(run.tip - reference.tip, axis=1).max()
    travel = np.linalg.norm(reference.tip - reference.tip[0], axis=1).max()
    return float(distance / travel)


def bases() -> list[Point]:
    """Bases of a Model: error of the tip during a move, processor time of the run."""
    robot = supple.load("de-luca-two-link")
    reference = _ringing(supple.build(robot, supple.AssumedModes(6)), tolerance=1e-8, method="bdf")
    choices: dict[str, supple.Basis] = {
        **{f"AssumedModes({count})": supple.AssumedModes(count) for count in (1, 2, 3, 4)},
        **{f"FiniteElements({count})": supple.FiniteElements(count) for count in (1, 2, 4)},
        "FiniteElements(8, modes=2)": supple.FiniteElements(8, modes=2),
    }
    models = {name: supple.build(robot, basis) for name, basis in choices.items()}
    contestants = {
        name: Contestant(lambda model=model: _ringing(model)) for name, model in models.items()
    }
    timings, runs = measure(contestants, repeats=3)
    points = []
    for name, run in runs.items():
        note = f"{models[name].size}, {run.method}"
        error = _tip_error(run, reference)
        points.append(Point(name, error, timings[name].seconds, note))
    return points


def integrators() -> list[Point]:
    """Integrators of one Model: error of the tip against a tight run, processor time."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    reference = _ringing(model, method="gauss", step=1e-4)
    choices: dict[str, dict[str, Any]] = {
        "auto": {},
        "adams, tolerance 1e-6": {"method": "adams", "tolerance": 1e-6},
        "bdf, tolerance 1e-6": {"method": "bdf", "tolerance": 1e-6},
        "bdf, tolerance 1e-9": {"method": "bdf", "tolerance": 1e-9},
        "generalised-alpha": {"method": "generalised-alpha"},
        "gauss": {"method": "gauss"},
    }
    contestants = {
        name: Contestant(lambda options=options: _ringing(model, **options))
        for name, options in choices.items()
    }
    timings, runs = measure(contestants, repeats=3)
    points = []
    for name, run in runs.items():
        note = f"{run.method}"
        points.append(Point(name, _tip_error(run, reference), timings[name].seconds, note))
    return points


def _time(seconds: float) -> str:
    """A duration in the unit in which one says it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _percent(error: float) -> str:
    """An error in per cent with two digits; what is below 1e-7 % is not measured here."""
    if error < 1e-9:
        return "below 1e-7"
    return f"{100 * error:.0f}" if error > 1 else f"{100 * error:.2g}"


def _rows(points: Sequence[Point]) -> list[list[str]]:
    return [[p.name, p.note, _percent(p.error), _time(p.seconds)] for p in points]


def fill_tables(page: str, tables: dict[str, tuple[Sequence[str], list[list[str]]]]) -> str:
    """Return the page with the tables between its marks replaced."""
    for mark, (header, rows) in tables.items():
        lines = [
            "| " + " | ".join(header) + " |",
            "|---|" + "---:|" * (len(header) - 1),
            *("| " + " | ".join(row) + " |" for row in rows),
        ]
        pattern = rf"(<!-- measured: {mark} -->\n)(?:\|.*\n)*(<!-- end -->)"
        page, found = re.subn(
            pattern, lambda m, lines=lines: m[1] + "\n".join([*lines, m[2]]), page
        )
        if found != 1:
            raise SystemExit(f"{PAGE.name} has no place '<!-- measured: {mark} -->' for a table")
    return page


def draw(by_title: dict[str, list[Point]], path: Path) -> None:
    """One picture for each question: error over time, both logarithmic."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(by_title), figsize=(13, 4.6), layout="constrained")
    for axis, (title, points) in zip(axes, by_title.items(), strict=True):
        for group, marker in (("exact", "o"), ("elements", "s"), ("assumed", "^"), ("", "D")):
            own = [p for p in points if _group(p.name) == group]
            axis.plot(
                [1e3 * p.seconds for p in own],
                [100 * max(p.error, 1e-9) for p in own],
                marker,
                label=group or None,
            )
        for point in points:
            to_the_left = _group(point.name) == "assumed" or point.name.startswith("bdf")
            axis.annotate(
                point.name,
                (1e3 * point.seconds, 100 * max(point.error, 1e-9)),
                xytext=(-7 if to_the_left else 7, -3),
                ha="right" if to_the_left else "left",
                textcoords="offset points",
                fontsize=7.5,
            )
        axis.set(xscale="log", yscale="log", title=title, xlabel="time (ms)")
        axis.margins(x=0.85, y=0.12)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("error (%)")
    figure.savefig(path)
    plt.close(figure)


def _group(name: str) -> str:
    for group, begins in (
        ("exact", ("exact",)),
        ("elements", ("elements", "FiniteElements")),
        ("assumed", ("assumed", "AssumedModes")),
    ):
        if name.startswith(begins):
            return group
    return ""


def main() -> None:
    """Measure everything, write the tables into the page and draw the picture."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    warnings.simplefilter("ignore")
    by_method = methods()
    by_basis = bases()
    by_integrator = integrators()
    tables = {
        "theories": (
            ("length over depth", *(f"mode {mode} (%)" for mode in range(1, 6))),
            theories(),
        ),
        "methods": (
            ("method", "first mode (%)", "worst of six (%)", "time a pose"),
            _rows(by_method),
        ),
        "bases": (
            ("basis", "coordinates, integrator", "tip error (%)", "time of the run"),
            _rows(by_basis),
        ),
        "integrators": (
            ("method", "taken", "tip error (%)", "time of the run"),
            _rows(by_integrator),
        ),
    }
    PAGE.write_text(fill_tables(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    pictures = {
        "six frequencies, industrial-3": by_method,
        "basis, run of de-luca-two-link": by_basis,
        "integrator, AssumedModes(2)": by_integrator,
    }
    draw(pictures, PICTURE)


if __name__ == "__main__":
    main()
