"""The flexible Delta: frequencies at one pose, strokes beside MuJoCo, coupled runs."""

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
    path = supple.InvertedU()
    damping = supple.Proportional(0.0, BETA)
    single = stiff()
    twist = stiff(**{"lower.rods": "twist"})
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
    more = {}
    off = {}
    for name in [key for key in racers if not key.startswith("supple")]:
        t, moved = answers[name]
        rows = np.minimum(np.searchsorted(t, ours.t[1:] - 1e-9), len(t) - 1)
        peak = np.abs(ours.moved[:, :3]).max()
        off[name] = float(np.abs(moved[rows] - ours.moved[1:, :3]).max() / peak)
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


def coupled(quick: bool) -> Report:
    """Default runs of coupled Deltas: a stroke led by its motors, and a move under two servos."""
    kuo = supple.load("kuo-delta")
    pair = {"lower.rods": "parallelogram", "lower.spacing": 0.08}
    kinds = {"single": kuo, "twist": kuo.with_("lower.rods", "twist"), "pairs": kuo.with_(pair)}
    path = supple.InvertedU()
    racers = {}
    for name, robot in kinds.items():
        for n in (1,) if quick else (1, 2):
            model = supple.build(robot, supple.AssumedModes(n))
            led = supple.PlatformPath(robot, path)
            first = led(0.0)[0]
            move = supple.PointToPoint(first.tolist(), (first + 0.1).tolist(), 0.5)
            laws = {
                "stroke": (supple.Decoupling(100.0, 20.0), led),
                "pd": (supple.JointPD(300.0, 30.0), move),
                "gravity pd": (supple.GravityPD(300.0, 30.0), move),
            }
            for word, (law, way) in laws.items():
                racers[f"{name}, {model.size} coordinates, {word}"] = Contestant(
                    lambda model=model, law=law, way=way: supple.simulate(
                        model, controller=law, trajectory=way
                    )
                )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", supple.SmallRangeWarning)  # Kuo's own robot bends much
        timings, found = measure(racers, 1 if quick else 3)
    worst = {name: timings[name].seconds / float(run.t[-1]) for name, run in found.items()}
    return Report(
        "Coupled Deltas by default",
        "run",
        rows_of(timings, more={n: {"times real time": f"{w:.2f}"} for n, w in worst.items()}),
        [Goal(f"{name}, times real time", 3.0, value, False) for name, value in worst.items()],
        [
            Check(
                "loops closed to 1e-10", max(run.closure.max() for run in found.values()) < 1e-10
            ),
            Check("every run is whole", all(run.complete for run in found.values())),
        ],
    )


def equal_error(quick: bool) -> Report:
    """The stroke to 1 % of the platform's peak, each engine beside a finer run of its own."""
    path = supple.InvertedU()
    racers = {}
    pair = stiff(**{"lower.rods": "parallelogram", "lower.spacing": 0.08})
    led = supple.PlatformPath(pair, path)
    law = supple.Decoupling(100.0, 20.0)

    def run(n: int, compiled: bool, dt: float) -> Contestant:
        model = supple.build(pair, supple.AssumedModes(n), damping=0.05, compiled=compiled)
        start = {"q0": "static", "theta0": led(0.0)[0], "dt": dt}
        return Contestant(lambda: supple.simulate(model, controller=law, trajectory=led, **start))

    def moved(answer: supple.Response) -> tuple[np.ndarray, np.ndarray]:
        return answer.t, answer.tip - path(answer.t)[0]

    racers = {"supple": run(1, False, 4e-3), "supple, generated C": run(1, True, 4e-3)}
    fine = {"supple": moved(run(2, False, 1e-3).call())}
    missing = []
    try:
        from .delta_mujoco import MujocoDelta

        for n, step in ((4, 2e-4), (5, 1.5e-4)) if quick else ((4, 2e-4), (5, 1.5e-4), (6, 1e-4)):
            racers[f"MuJoCo, n = {n}"] = Contestant(MujocoDelta(pair, path, n, BETA, step).run)
        fine["MuJoCo"] = MujocoDelta(pair, path, 8, BETA, 5e-5).run()
    except ImportError:
        missing.append("MuJoCo")
    timings, answers = measure(racers, 1 if quick else 3)
    at = np.linspace(0.02, 0.8, 40)
    off = {}
    for name, answer in answers.items():
        own = moved(answer) if name.startswith("supple") else answer
        both = [
            np.stack([np.interp(at, t, x[:, k]) for k in range(3)])
            for t, x in (own, fine[name.split(",")[0]])
        ]
        off[name] = float(np.abs(both[0] - both[1]).max() / np.abs(both[1]).max())
    near = [name for name in off if name.startswith("MuJoCo") and off[name] < 0.0105]
    goals = []
    if near:
        peer = min(near, key=lambda name: timings[name].seconds)
        for name, most in (("supple", 1.0), ("supple, generated C", 0.5)):
            ratio = timings[name].over(timings[peer])
            goals.append(
                Goal(f"{name}: time over {peer} ({off[peer]:.1%} off)", most, ratio, False)
            )
    return Report(
        "Delta with parallelograms, inverted U of 0.8 s, coupled, to 1 % of the platform's peak",
        "stroke",
        rows_of(timings, more={n: {"off its finer run": f"{e:.2%}"} for n, e in off.items()}),
        goals,
        [Check("supple within 1 % of its finer run", off["supple"] < 0.01)],
        ["finer: supple with two modes a plane at 1 ms, MuJoCo with eight pieces a link at 50 us"],
        missing,
    )


BENCHES = {
    "delta-modes": frequencies,
    "delta-stroke": stroke,
    "delta-coupled": coupled,
    "delta-equal-error": equal_error,
}
