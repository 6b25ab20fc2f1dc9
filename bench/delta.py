"""The flexible Delta: frequencies at one pose, and one inverted-U stroke beside MuJoCo."""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np

import supple

from .report import Check, Goal, Report, rows_of
from .timing import REPEATS, Contestant, measure

__all__ = ["BENCHES"]

P = (0.1, 0.0, 0.5)
# The right model at P, n = 8 cubic elements, by an independent computation, rad/s.
WANTED = (20.5547, 22.5634, 24.9832, 53.9768, 61.9038, 62.8200, 111.308, 121.289)
BETA = 2e-3  # damping beta K, which MuJoCo's hinges can have as well


def stiff(**changes: object) -> supple.DeltaRobot:
    """Kuo's robot of a material ten times as stiff, so that its stroke stays in the small range."""
    steel = "materials.steel."
    robot = supple.load("kuo-delta").with_(
        {f"{steel}young_modulus": 210e10, f"{steel}shear_modulus": 80e10, **changes}
    )
    assert isinstance(robot, supple.DeltaRobot)
    return robot


def frequencies(quick: bool) -> Report:
    """Eight frequencies at one pose, exact and by two elements per link."""
    robot = supple.load("kuo-delta")
    racers = {
        "supple exact, certified": Contestant(lambda: supple.modes(robot, position=P, count=8)),
        "supple elements, n = 2": Contestant(
            lambda: supple.modes(robot, position=P, count=8, method="elements", elements=2)
        ),
    }
    timings, answers = measure(racers, 3 if quick else REPEATS)
    errors = {k: float(np.abs(a.omega / np.array(WANTED) - 1).max()) for k, a in answers.items()}
    exact, elements = timings
    return Report(
        "Delta, eight frequencies at one pose",
        "pose",
        rows_of(timings, more={k: {"error": f"{e:.0e}"} for k, e in errors.items()}),
        [
            Goal("exact, in milliseconds", 0.01, timings[exact].seconds),
            Goal("elements, in milliseconds", 0.02, timings[elements].seconds),
        ],
        [
            Check("exact frequencies are those of the errata to 1e-5", errors[exact] < 1e-5),
            Check("n = 2 within 0.1 % of them", errors[elements] < 1e-3),
        ],
    )


def stroke(quick: bool) -> Report:
    """0.8 s of inverted U: the kineto-elasto model at 1 ms, and MuJoCo's sprung pieces."""
    path, damping = supple.InvertedU(), supple.Proportional(0.0, BETA)
    single, twist = stiff(), stiff(**{"lower.rods": "twist"})
    pair = stiff(**{"lower.rods": "parallelogram", "lower.spacing": 0.08})
    racers = {
        f"supple, {name}, n = 2": Contestant(
            lambda robot=robot: supple.follow(robot, path, damping=damping)
        )
        for name, robot in (("single rods", single), ("twist", twist), ("parallelograms", pair))
    }
    missing = []
    try:
        from .delta_mujoco import MujocoDelta

        for n in (2, 4):
            racers[f"MuJoCo, parallelograms, n = {n}"] = Contestant(
                MujocoDelta(pair, path, n, BETA, 2e-4).run
            )
    except ImportError:
        missing.append("MuJoCo")
    if importlib.util.find_spec("exudyn") is None:
        missing.append("Exudyn")
    else:
        from .delta_exudyn import ExudynDelta

        # it settles for 1 s before the stroke of 0.8 s, in steps that cost the same
        racers["Exudyn, parallelograms, n = 2"] = Contestant(
            ExudynDelta(pair, path, 2, BETA, 1e-3).run, 1.8 / 0.8
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error", supple.SmallRangeWarning)
        timings, answers = measure(racers, 3 if quick else REPEATS)
    ours = answers["supple, parallelograms, n = 2"]
    more, off = {}, {}
    for name in [key for key in racers if not key.startswith("supple")]:
        t, moved = answers[name]
        rows = np.minimum(np.searchsorted(t, ours.t[1:] - 1e-9), len(t) - 1)
        peak = np.abs(ours.tip[:, :3]).max()
        off[name] = float(np.abs(moved[rows] - ours.tip[1:, :3]).max() / peak)
        more[name] = {"apart": f"{off[name]:.1%} of peak"}
    checks = [
        Check("MuJoCo at n = 4 within 3 % of the peak", off[n] < 0.03) for n in off if "4" in n
    ]
    coarse = [value for name, value in off.items() if name.endswith("n = 2")]
    if len(coarse) == 2:
        checks.append(Check("MuJoCo and Exudyn alike at n = 2", bool(np.ptp(coarse) < 0.01)))
    own = [name for name in racers if name.startswith("supple")]
    goals = [Goal(f"{name}: faster than real time", 0.8, timings[name].seconds) for name in own]
    ours_s = timings["supple, parallelograms, n = 2"].seconds
    for name, apart in off.items():
        ratio = ours_s / timings[name].seconds
        text = f"supple's parallelograms: time over that of {name} ({apart:.1%} apart)"
        goals.append(Goal(text, 1.0, ratio, seconds=False))
    return Report(
        "Delta, inverted U of 0.8 s, displacement of the platform",
        "stroke",
        rows_of(timings, more=more),
        goals,
        checks,
        ["MuJoCo steps 0.2 ms with soft closures; supple and Exudyn 1 ms with exact ones"],
        missing,
    )


BENCHES = {"delta-modes": frequencies, "delta-stroke": stroke}
