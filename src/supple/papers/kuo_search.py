"""[Kuo2016] 5.3, 5.4: which loads, damping and start would give the printed responses?

The paper prints eighteen numbers of its responses and does not say which loads were applied, what
damps the motion and how it starts. Here the paper's own model (`kuo_response`) is run with every
combination of them, and the nearest are shown. `python -m supple.papers.kuo_search` takes some
minutes and prints the tables that docs/theory/papers/kuo.md shows.

A `Setting` is a version of the model; a run of it has one column per load. A row of
`load_weights()` says how often each load is applied, and the response is the sum of the columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import files
from ..control.trajectories import CirclePath, InvertedU
from ..robot import DeltaRobot
from .cells import printed_numbers
from .kuo_model import SLIPS, PaperDelta
from .kuo_response import (
    LOADS,
    Frame,
    PathMatrices,
    Terms,
    half_length,
    newmark_columns,
    path_matrices,
    static_start,
)

__all__ = [
    "MODELS",
    "NAMED_CASES",
    "NUMBERS",
    "Case",
    "Found",
    "Setting",
    "case_numbers",
    "load_weights",
    "made_up_targets",
    "misses",
    "motions",
    "search",
    "settings",
    "size_ratios",
    "targets",
]

Array = NDArray[np.float64]
Start = Literal["undeformed", "sagged", "from the sag"]
Responses = tuple[Array, Array]  # on the inverted U and on the last turn of the circle
UNITS = np.array([1e3] * 3 + [180 / np.pi] * 3)  # mm and degrees
NUMBERS = (  # eighteen that are printed: sections 5.4 and 6
    *(f"U, peak {axis}" for axis in ("x", "y", "z", "about x", "about y", "about z")),
    *(f"U, end {axis}" for axis in ("x", "y", "z", "about x", "about y", "about z")),
    *(f"circle, {axis}" for axis in ("x", "y", "z", "about x", "about y", "about z")),
)
MODELS = {
    "tables": (SLIPS, "the model of Tables 2 and 3, with its four slips"),
    "whole platform": (("swapped", "rotation", "slope"), "its platform not halved"),
    "right joints": ((), "all four slips corrected"),
}
DAMPING = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)
STARTS: tuple[Start, ...] = ("undeformed", "sagged", "from the sag")
ALL_TERMS: tuple[Terms, ...] = ("frozen", "moving", "stiffened", "printed")
CIRCLE = (5.0, 5.0, 1.5, 0.5, 0.5, 0.15)  # section 6: half ranges, along z the mean
TURNS = 5  # section 5.3
STEPS = {"U": 800, "circle": 500}  # of 1 ms and 2 ms
SCORES: dict[str, slice] = {
    "three peaks of 5.4": slice(0, 3),
    "six peaks of 5.4": slice(0, 6),
    "twelve numbers of 5.4": slice(0, 12),
    "six numbers of the circle": slice(12, 18),
    "all eighteen": slice(0, 18),
}


@dataclass(frozen=True)
class Setting:
    """A version of the paper's model, all but its loads.

    Attributes
    ----------
    model
        A name of `MODELS`.
    terms
        Of C and K, a name of `kuo_response.TERMS`.
    damping
        Rayleigh's ratio at modes 1 and 2.
    start
        undeformed; with the deflection of the first instant's loads; or the same, and told from
        there.
    hips
        "clamped", the motors follow the path; "free", they apply the torques of (16).
    """

    model: str = "tables"
    terms: Terms = "stiffened"
    damping: float = 0.0
    start: Start = "undeformed"
    hips: Literal["clamped", "free"] = "clamped"

    def line(self) -> str:
        """Return it in words."""
        drive = "" if self.hips == "clamped" else ", driven by torques"
        return f"{self.model}, {self.terms}, {100 * self.damping:g} %, {self.start}{drive}"


@dataclass(frozen=True)
class Case:
    """A setting with its loads: (name, factor) of those that are applied."""

    setting: Setting
    loads: tuple[tuple[str, float], ...]

    def weights(self) -> Array:
        """Return the factor of every load, (m,)."""
        given = dict(self.loads)
        return np.array([given.get(name, 0.0) for name in LOADS])

    def load_line(self) -> str:
        """Return the loads in words, those of arms and rods together where they are the same."""
        given = dict(self.loads)
        parts = []
        for name in LOADS:
            factor = given.get(name, 0.0)
            shown = name
            if name.endswith(", arms"):
                both = name.removesuffix(", arms")
                if factor and given.get(f"{both}, rods", 0.0) == factor:
                    given[f"{both}, rods"] = 0.0
                    shown = both
            if factor:
                parts.append(shown if factor == 1 else f"{factor:+g} ({shown})")
        return "; ".join(parts)


@dataclass(frozen=True)
class Found:
    """A case, its eighteen numbers, and how far they are from a target (`misses`)."""

    case: Case
    numbers: Array
    miss: float


def targets() -> Array:
    """Return the eighteen printed numbers, mm and degrees."""
    data = printed_numbers("kuo")["inverted_u"]
    texts = [text for key in ("max_mm", "max_deg", "final_mm", "final_deg") for text in data[key]]
    return np.array([*map(float, texts), *CIRCLE])


def misses(numbers: Array, wanted: Array) -> Array:
    """Return how far numbers are from those wanted, (.., 18), in parts of the printed size.

    Of the numbers at the end of the U, in parts of that axis' printed peak.
    """
    size = np.abs(np.concatenate([wanted[:6], wanted[:6], wanted[12:]]))
    return np.asarray(np.abs(numbers - wanted) / size)


@cache
def paper_robot() -> DeltaRobot:
    """Return the paper's robot."""
    found = files.load("kuo-delta")
    assert isinstance(found, DeltaRobot)
    return found


@cache
def motions(model: str, terms: Terms, hips: Literal["clamped", "free"]) -> tuple[PathMatrices, ...]:
    """Return the undamped equations on the inverted U and on five turns of the circle."""
    delta = PaperDelta(paper_robot(), slips=frozenset(MODELS[model][0]), hips=hips)
    path = InvertedU()
    lifted = path_matrices(delta, path, np.linspace(0, path.duration, STEPS["U"] + 1), terms)
    turn = path_matrices(delta, CirclePath(), np.arange(STEPS["circle"]) / STEPS["circle"], terms)

    def repeated(part: Array) -> Array:
        return np.concatenate([part] * TURNS + [part[:1]])

    t = np.linspace(0, TURNS, TURNS * STEPS["circle"] + 1)
    parts = (turn.M, turn.C, turn.K, turn.elastic, turn.loads)
    return lifted, PathMatrices(t, *(repeated(part) for part in parts))


def responses(
    setting: Setting, integrate: Callable[..., Array] = newmark_columns, every: int = 1
) -> Responses:
    """Return the platform's motion per load, (T, 6, m) on the U and on the circle's last turn.

    Millimetres and degrees; `every` so manieth instant.
    """
    out = []
    for equations in motions(setting.model, setting.terms, setting.hips):
        damped = equations.damped(setting.damping)
        start = None if setting.start == "undeformed" else static_start(damped)
        moved = integrate(damped, start)[:, :6] * UNITS[:, None]
        out.append(moved - moved[0] if setting.start == "from the sag" else moved)
    lifted, turns = out
    return lifted[::every], turns[-STEPS["circle"] - 1 :: every]


def numbers_of(found: Responses, weights: Array) -> Array:
    """Return the eighteen numbers, (n, 18), of n combinations of loads, weights (n, m)."""
    lifted = np.tensordot(weights, found[0], axes=(1, 2))  # (n, T, 6)
    highest = lifted.max(axis=1)
    lowest = lifted.min(axis=1)
    peak = np.where(highest > -lowest, highest, lowest)
    turn = np.tensordot(weights, found[1], axes=(1, 2))
    circle = (turn.max(axis=1) - turn.min(axis=1)) / 2
    circle[:, 2] = turn[:, :-1, 2].mean(axis=1)
    return np.concatenate([peak, lifted[:, -1], circle], axis=1)


def case_numbers(case: Case, integrate: Callable[..., Array] = newmark_columns) -> Array:
    """Return the eighteen numbers (18,) of one case."""
    found = numbers_of(responses(case.setting, integrate), case.weights()[None])
    return np.asarray(found[0])


def settings() -> Iterator[Setting]:
    """Return the versions of the model that are searched, driven by motion and by torques."""
    each = product(MODELS, ALL_TERMS, DAMPING, STARTS)
    for model, terms, damping, start in each:
        yield Setting(model, terms, damping, start)
    for model, terms, damping in product(MODELS, ALL_TERMS, DAMPING):
        yield Setting(model, terms, damping, hips="free")


@cache
def load_weights(hips: Literal["clamped", "free"] = "clamped") -> Array:
    """Return the combinations of loads that are tried, (n, m): each right, absent or reversed.

    Loads of the platform also halved, as its mass is; gravity also in axes that are not turned;
    (24) also with its printed signs, to the letter, or with the velocity's part twice (as if
    dV_o/dt were the acceleration already). Arms and rods apart where both have the load, but for
    (24). With free hips the torque of the motors too, with both signs, and fewer of the others.
    """
    signs = (-1.0, 0.0, 1.0)
    halves = (-1.0, -0.5, 0.0, 0.5, 1.0) if hips == "clamped" else (0.0, 0.5, 1.0)
    torque = (0.0,) if hips == "clamped" else (-1.0, 0.0, 1.0)
    weight = [(arms, rods, 0.0) for arms, rods in product(signs, signs)]
    weight += [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]
    brackets = [  # factors of the four versions of (24)
        (0.0, 0.0, 0.0, 0.0),
        (1.0, 1.0, 0.0, 0.0),
        (-1.0, -1.0, 0.0, 0.0),
        (2.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
        (0.0, 0.0, 0.0, -1.0),
    ]
    if hips == "free":
        brackets = brackets[:2]
    rows = product(weight, halves, halves, signs, signs, signs, brackets, torque)
    out = []
    for gravity, platform_weight, platform_inertia, velocity, arms, rods, Y, motor in rows:
        each = {
            "weight, arms": gravity[0],
            "weight, rods": gravity[1],
            "weight, axes not turned, arms": gravity[2],
            "weight, axes not turned, rods": gravity[2],
            "Z, velocity, rods": velocity,
            "Z, turning, arms": arms,
            "Z, turning, rods": rods,
            "weight of platform": platform_weight,
            "inertia of platform": platform_inertia,
            "torque of motors": motor,
        }
        kinds = ("velocity", "turning", "printed signs", "as printed")
        for kind, factor in zip(kinds, Y, strict=True):
            each[f"Y, {kind}, arms"] = factor
            each[f"Y, {kind}, rods"] = factor
        out.append([each.get(name, 0.0) for name in LOADS])
    return np.array(out)


def made_up_targets(count: int, seed: int = 0) -> Array:
    """Return made-up numbers (count, 18): the printed ones, each up to twice or half as large."""
    rng = np.random.default_rng(seed)
    factors = 2.0 ** rng.uniform(-1, 1, (count, len(NUMBERS)))
    return np.asarray(targets() * factors)


def search(
    versions: Iterator[Setting], made_up: Array | None = None, every: int = 5, block: int = 4000
) -> tuple[int, dict[str, Found], dict[str, Array]]:
    """Try every combination of loads on versions of the model.

    Returns how many were tried, the nearest case by every score of `SCORES`, and by score how near
    the nearest case is to each of the made-up targets.
    """
    tried = 0
    wanted = targets()
    made_up = np.zeros((0, len(NUMBERS))) if made_up is None else made_up
    nearest: dict[str, Found] = {}
    by_chance = {name: np.full(len(made_up), np.inf) for name in SCORES}
    for setting in versions:
        found = responses(setting, every=every)
        weights = load_weights(setting.hips)
        for first in range(0, len(weights), block):
            rows = weights[first : first + block]
            numbers = numbers_of(found, rows)
            tried += len(rows)
            off = misses(numbers, wanted)
            for name, part in SCORES.items():
                mean = off[:, part].mean(axis=1)
                best = int(mean.argmin())
                if name not in nearest or mean[best] < nearest[name].miss:
                    pairs = zip(LOADS, rows[best], strict=True)
                    loads = tuple((load, float(factor)) for load, factor in pairs if factor)
                    nearest[name] = Found(Case(setting, loads), numbers[best], float(mean[best]))
            for k, target in enumerate(made_up):
                other = misses(numbers, target)
                for name, part in SCORES.items():
                    smallest = float(other[:, part].mean(axis=1).min())
                    by_chance[name][k] = min(by_chance[name][k], smallest)
    return tried, nearest, by_chance


def links_alone(weight: float = 1.0) -> tuple[tuple[str, float], ...]:
    """Loads of the links with their right signs, nothing of the platform."""
    out = [(f"weight, {which}", weight) for which in ("arms", "rods")]
    out.append(("Z, velocity, rods", 1.0))
    for name in ("Z, turning", "Y, velocity", "Y, turning"):
        out += [(f"{name}, arms", 1.0), (f"{name}, rods", 1.0)]
    return tuple((name, factor) for name, factor in out if factor)


PLATFORM = (("weight of platform", 1.0), ("inertia of platform", 1.0))
# Cases that can be said in words; the search finds others
NAMED_CASES: dict[str, Case] = {
    "all loads, right signs": Case(
        Setting(damping=0.05, start="sagged"), (*links_alone(), *PLATFORM)
    ),
    "loads of the links alone": Case(Setting(), links_alone()),
    "loads of the links alone, platform not halved": Case(
        Setting(model="whole platform"), links_alone()
    ),
}


def size_ratios(case: Case, frame: Frame) -> Array:
    """Return rod over arm, (4,): largest u, v, w, phi at half length on the circle's last turn.

    Source: [Kuo2016], section 5.3, which compares them and does not say in which frame.
    """
    setting = case.setting
    _, turns = motions(setting.model, setting.terms, setting.hips)
    damped = turns.damped(setting.damping)
    start = None if setting.start == "undeformed" else static_start(damped)
    last = (newmark_columns(damped, start) @ case.weights())[-STEPS["circle"] - 1 :]
    slips = frozenset(MODELS[setting.model][0])
    delta = PaperDelta(paper_robot(), slips=slips, hips=setting.hips)
    position = CirclePath()(np.linspace(0, 1, STEPS["circle"] + 1))[0]
    largest = []
    for field in half_length(delta, position, 0, frame):
        largest.append(np.abs(np.einsum("tcn,tn->tc", field, last)).max(axis=0))
    arm, rod = largest
    ratio = np.full(4, np.nan)
    np.divide(rod, arm, out=ratio, where=arm > 1e-15)
    return ratio


def _row(name: str, case: Case, numbers: Array) -> str:
    off = misses(numbers, targets())
    parts = [slice(0, 12), slice(12, 18)]
    cells = " | ".join(f"{100 * off[part].mean():.0f} %" for part in parts)
    values = [f"{value:.3g}" for value in numbers]
    peaks, ends, circle = (", ".join(values[k : k + 6]) for k in (0, 6, 12))
    place = f"{case.load_line()}. *{case.setting.line()}*"
    return f"| {name} | {place} | {peaks} | {ends} | {circle} | {cells} |"


def main() -> None:
    """Run the whole search and print its tables."""
    lines: list[str] = []
    made_up = made_up_targets(20)
    versions = list(settings())
    tried, nearest, by_chance = search(_with_progress(versions), made_up)
    printed = [f"{value:.4g}" for value in targets()]
    peaks, ends, circle = (", ".join(printed[k : k + 6]) for k in (0, 6, 12))
    lines.append(f"{tried:,} combinations of {len(versions)} versions of the model\n")
    lines.append("| | Loads, *model* | Peaks | Ends | Circle | off, 5.4 | off, circle |")
    lines.append("|---|---|---|---|---|---|---|")
    lines.append(f"| **printed** | not stated | {peaks} | {ends} | {circle} | | |")
    for name, case in NAMED_CASES.items():
        lines.append(_row(name, case, case_numbers(case)))
    for name, found in nearest.items():
        lines.append(_row(f"nearest by the {name}", found.case, case_numbers(found.case)))
    lines.append("\n| Score | Nearest | Made-up targets met as closely |\n|---|---|---|")
    for name, found in nearest.items():
        closer = int((by_chance[name] <= found.miss).sum())
        lines.append(f"| {name} | {100 * found.miss:.1f} % | {closer} of {len(made_up)} |")
    lines.append("\n| Rod over arm | Frame | u | v | w | phi |\n|---|---|---|---|---|---|")
    frames: tuple[Frame, ...] = ("rigid", "root", "chord")
    for name, case in NAMED_CASES.items():
        for frame in frames:
            ratios = " | ".join(_ratio(value) for value in size_ratios(case, frame))
            lines.append(f"| {name} | {frame} | {ratios} |")
    sys.stdout.write("\n".join(lines) + "\n")


def _ratio(value: float) -> str:
    """A ratio, or a dash where neither link moves: u and phi are straight in one element."""
    return f"{value:.3g}" if np.isfinite(value) else "-"


def _with_progress(versions: list[Setting]) -> Iterator[Setting]:
    for done, setting in enumerate(versions):
        if done % 20 == 0:
            sys.stderr.write(f"{done} of {len(versions)}: {setting.line()}\n")
        yield setting


if __name__ == "__main__":
    main()
