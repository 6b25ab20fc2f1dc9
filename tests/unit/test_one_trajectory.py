"""Every move is a Trajectory: whatever makes one fits whatever takes one."""

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import supple
from supple import SuppleError, Trajectory

ZV = supple.shaper("zv", 5.0)


@cache
def case(name: str) -> SimpleNamespace:
    """A robot with one move that everybody is asked about."""
    if name == "arm":
        # ten times as high in frequency as the paper's, so that short moves suit it
        stiff = {f"links.link{k}.bending_stiffness": 100.0 for k in (1, 2)}
        robot = supple.load("de-luca-two-link").with_(stiff)
        start = [0.1, 0.8]
        end = [0.4, 1.0]
        duration = 0.3
        basis: Any = supple.AssumedModes(1)
    elif name == "five-bar":
        robot = supple.load("five-bar")
        start = [2.2, 0.9]
        end = [2.3, 0.85]
        duration = 0.2
        basis = supple.AssumedModes(1)
    else:
        robot = supple.load("kuo-delta").with_({"materials.steel.young_modulus": 2.1e13})
        start = [0.0, 0.0, 0.5]
        end = [0.05, 0.02, 0.55]
        duration = 0.4
        basis = supple.FiniteElements(1)
    delta = name == "delta"
    names = {"arm": ("link1", "link2"), "five-bar": ("left", "right"), "delta": ("x", "y", "z")}
    angles = [start, end]  # of the motors
    if delta:
        angles = [np.ravel(supple.modes(robot, position=p, count=1).theta) for p in (start, end)]
    return SimpleNamespace(
        name=name,
        robot=robot,
        delta=delta,
        names=names[name],
        start=start,
        end=end,
        angles=angles,
        time=duration,
        model=supple.build(robot, basis),
        damped=supple.build(robot, basis, damping=0.05),
        move=supple.PointToPoint(start, end, duration, "septic"),
    )


def saved(c: SimpleNamespace, place: Path) -> Trajectory:
    supple.Samples(*sampled(c), names=c.names).save(place)
    return supple.load_trajectory(place)


def sampled(c: SimpleNamespace) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(0.0, c.time, 201)
    return t, c.move.at(t)[0]


def motors(c: SimpleNamespace, move: Trajectory) -> Trajectory:
    """A move of the motors, also of a Delta's."""
    return supple.PlatformPath(c.robot, move) if c.delta and not move.names else move


SLOW = {"arm": (2.0, 12.0, 150.0), "five-bar": (1.0, 8.0, 100.0), "delta": (1.0, 8.0, 100.0)}
MAKES: dict[str, Callable[[SimpleNamespace, Path], Any]] = {
    "polynomial": lambda c, _: c.move,
    "samples": lambda c, _: supple.Samples(*sampled(c)),
    "csv": lambda c, d: saved(c, d / "x.csv"),
    "json": lambda c, d: saved(c, d / "x.json"),
    "yaml": lambda c, d: saved(c, d / "x.yaml"),
    "shaped": lambda c, _: supple.shaped(c.move, ZV),
    "shape": lambda c, _: supple.shape(c.move, "zv", 5.0, rate=500),
    "shape for a robot": lambda c, _: supple.shape(motors(c, c.move), "zv", robot=c.robot),
    "scheduled": lambda c, _: supple.scheduled(c.robot, c.move, "zv", platform=c.delta),
    "plan": lambda c, _: supple.plan(c.model, *c.angles, c.time, pieces=20),
    "invert": lambda c, _: supple.invert(c.damped, c.move, window=(-0.2, c.time + 0.2)),
    "calm_move": lambda c, _: supple.calm_move(
        c.robot, c.start, c.end, *SLOW[c.name][:2], platform=c.delta
    ),
    "compensate": lambda c, _: supple.compensate(c.robot, c.move, rounds=1),
    "settled": lambda c, _: supple.settled(
        c.robot, supple.scheduled(c.robot, c.move, "zv", platform=c.delta), rounds=1
    ),
    "jerk_limited": lambda c, _: supple.jerk_limited(c.start, c.end, *SLOW[c.name]),
    "effort_limited": lambda c, _: supple.effort_limited(
        c.model, motors(c, c.move), 5.0, pieces=40
    ),
    "joined": lambda c, _: c.move + supple.Hold(c.end, 0.1),
}
NOT_MADE = {"five-bar": {"invert"}, "delta": {"invert"}}  # see `REFUSED`


def simulate(c: SimpleNamespace, move: Trajectory) -> Any:
    """Under a servo; a Delta's platform by its path, or by names x, y, z."""
    word = "path" if c.delta and not move.names else "trajectory"
    law = supple.JointPD(50.0, 5.0)
    return supple.simulate(c.model, controller=law, dt=0.01, duration=0.05, **{word: move})


def compare(c: SimpleNamespace, move: Trajectory | Path) -> Any:
    return supple.compare(
        c.robot,
        c.start,
        c.end,
        methods={"plain": "unshaped", "given": move},
        payload_error=0.0,
        elements=1,
    )


def saves(c: SimpleNamespace, move: Trajectory, folder: Path) -> None:
    for ending in (".csv", ".json", ".yaml"):
        place = folder / f"out{ending}"
        move.save(place, rate=200)
        again = supple.load_trajectory(place)
        t = np.linspace(0.0, move.duration, 17)
        assert np.abs(again.at(t)[0] - move.at(t)[0]).max() < 1e-3 * c.time
        assert again.names == move.names


TAKES: dict[str, Callable[[SimpleNamespace, Any, Path], Any]] = {
    "simulate": lambda c, m, _: simulate(c, m),
    "follow": lambda c, m, _: supple.follow(c.robot, m, elements=1, dt=5e-3),
    "compare": lambda c, m, _: compare(c, m),
    "shape": lambda c, m, _: supple.shape(m, "zv", 5.0, rate=200),
    "shape for a robot": lambda c, m, _: supple.shape(motors(c, m), "zv", robot=c.robot, rate=200),
    "shaped": lambda c, m, _: supple.shaped(m, ZV),
    "scheduled": lambda c, m, _: supple.scheduled(c.robot, m, "zv", platform=c.delta),
    "settled": lambda c, m, _: supple.settled(c.robot, m, rounds=1),
    "compensate": lambda c, m, _: supple.compensate(c.robot, m, rounds=1),
    "stability": lambda c, m, _: supple.stability(c.model, m, samples=21, tolerance=1e-5),
    "invert": lambda c, m, _: supple.invert(c.damped, m, window=(-0.1, m.duration + 0.1)),
    "effort_limited": lambda c, m, _: supple.effort_limited(c.model, motors(c, m), 5.0, pieces=40),
    "save": saves,
}
REFUSED = {  # what robots with loops cannot be asked, and what the sentence names instead
    "invert": "is for serial arms .*: correct the path of any other robot by supple.compensate",
    "stability": "has loops: .* are for trees; simulate it",
}


TRIED_WITH_LOOPS = {"csv", "scheduled", "shape for a robot"}  # the others are soak


def cells() -> Iterator[Any]:
    """Every robot with every way to make a move for it."""
    for name in ("arm", "five-bar", "delta"):
        for make in MAKES:
            if make in NOT_MADE.get(name, ()):
                continue
            if name == "arm":
                yield pytest.param(name, make)
            elif make in TRIED_WITH_LOOPS:
                yield pytest.param(name, make, marks=pytest.mark.slow)
            else:
                yield pytest.param(name, make, marks=pytest.mark.soak)


@pytest.mark.parametrize(("name", "make"), list(cells()))
def test_whatever_makes_a_move_fits_whatever_takes_one(
    name: str, make: str, tmp_path: Path
) -> None:
    c = case(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        move = MAKES[make](c, tmp_path)
        assert isinstance(move, Trajectory)
        assert move.duration > 0
        x, v, a = move.at(0.4 * move.duration)
        assert x.shape == v.shape == a.shape == (len(c.start),)
        for word, take in TAKES.items():
            if name != "arm" and word in REFUSED:
                with pytest.raises(SuppleError, match=REFUSED[word]):
                    take(c, move, tmp_path)
                continue
            try:
                take(c, move, tmp_path)
            except SuppleError as fault:
                pytest.fail(f"{make} does not fit {word}: {fault}")


def asks(c: SimpleNamespace) -> dict[str, Callable[..., Any]]:
    """Who takes a move as a file or an array as well; `c.x`, of a Delta's platform."""
    law = supple.JointPD(50.0, 5.0)
    options: dict[str, Any] = {"controller": law, "duration": 0.05, "dt": 0.01}
    word = "path" if c.delta else "trajectory"
    found: dict[str, Callable[..., Any]] = {
        "simulate": lambda m, **k: supple.simulate(c.model, **{word: m}, **options, **k),
        "follow": lambda m, **k: supple.follow(c.robot, m, elements=1, dt=0.01, **k),
        "shape": lambda m, **k: supple.shape(m, "zv", 5.0, **k),
        "scheduled": lambda m, **k: supple.scheduled(c.robot, m, "zv", platform=c.delta, **k),
        "settled": lambda m, **k: supple.settled(c.robot, m, rounds=1, **k),
        "compensate": lambda m, **k: supple.compensate(c.robot, m, rounds=1, **k),
    }
    if not c.delta:  # of a Delta these are asked of motors
        found |= {
            "shape for a robot": lambda m, **k: supple.shape(m, "zv", robot=c.robot, **k),
            "effort_limited": lambda m, **k: supple.effort_limited(c.model, m, 5.0, pieces=40, **k),
        }
    if c.name == "arm":
        found |= {
            "stability": lambda m, **k: supple.stability(
                c.model, m, samples=21, tolerance=1e-5, **k
            ),
            "invert": lambda m, **k: supple.invert(c.damped, m, window=(-0.1, 0.5), **k),
        }
    return found


@pytest.mark.parametrize(
    "name",
    ["arm", *(pytest.param(name, marks=pytest.mark.slow) for name in ("five-bar", "delta"))],
)
def test_a_file_name_and_an_array_are_taken_as_well(name: str, tmp_path: Path) -> None:
    c = case(name)
    t, x = sampled(c)
    for ending in (".csv", ".json", ".yaml"):
        supple.Samples(t, x, names=c.names).save(tmp_path / f"move{ending}")
    place = tmp_path / "move.csv"
    rate = 1 / (t[1] - t[0])
    for take, ask in asks(c).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            by_name = ask(str(place))
            by_array = ask(x, rate=rate)
        one, other = (getattr(found, "duration", found) for found in (by_name, by_array))
        if isinstance(one, float):
            assert one == pytest.approx(other, rel=2e-3), take
        with pytest.raises(SuppleError, match=r"path|trajectory"):
            ask(object())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # How a file is read does not depend on the robot; of ROS are .json and .yaml
        endings = (".csv", ".json", ".yaml") if name == "arm" else (".yaml",)
        for ending in endings:
            compare(c, tmp_path / f"move{ending}")


@pytest.mark.parametrize(
    ("take", "word"),
    [
        ("invert", "path"),
        ("follow", "path"),
        ("compensate", "path"),
        ("settled", "command"),
        ("shape", "move"),
        ("effort_limited", "path"),
    ],
)
def test_names_of_before_are_understood(take: str, word: str) -> None:
    c = case("arm")
    function = getattr(supple, take)
    first = {"invert": c.damped, "effort_limited": c.model}.get(take, c.robot)
    more: dict[str, Any] = {"effort_limited": {"effort_limit": 5.0}}.get(take, {})
    more = {"shape": {"frequency_hz": 5.0}, "invert": {"window": (-0.1, 0.5)}}.get(take, more)
    given = () if take == "shape" else (first,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert function(*given, **{word: c.move}, **more) is not None
        with pytest.raises(SuppleError, match="both given"):
            function(*given, **{word: c.move, "trajectory": c.move}, **more)


ALL = [
    supple.PointToPoint([0, 0.1, 0], [1, -0.5, 0.3], 1.3),
    supple.ParabolicBlends([0, 0], [1, -0.5], 1.0, 0.2),
    supple.InvertedU(),
    supple.CirclePath(),
    supple.WayPoints([[0, 0], [1, 1], [0, 0.5]], 1.0, 4.0, pause=0.1),
    supple.Hold([0.1, 0.2]),
    supple.Samples(np.linspace(0, 1, 30), np.sin(np.linspace(0, 1, 30))),
    supple.shaped(supple.ParabolicBlends([0, 0], [1, -0.5], 1.0, 0.2), ZV),
    supple.Repeated(supple.PointToPoint([0.0], [1.0], 0.7, "quintic")),
    supple.Line(supple.load("de-luca-two-link"), [0.1, 0.8], [[0.5, 0.6]], 0.5, 2.0),
]


@pytest.mark.parametrize("move", ALL, ids=lambda move: type(move).__name__)
def test_one_time_is_one_of_many(move: Trajectory) -> None:
    """Prepared polynomials against the formulas themselves, between and at the breaks."""
    t = np.random.default_rng(3).uniform(-0.1, 1.1 * move.duration, 400)
    t = np.concatenate([t, [0.0, move.duration]])
    many = move.at(t)
    each = [move.at(float(one)) for one in t]
    for k in range(3):
        single = np.array([one[k] for one in each])
        largest = np.abs(many[k]).max()
        assert np.abs(single - many[k]).max() <= 3e-10 * max(largest, 1e-300)


@pytest.mark.parametrize("move", ALL, ids=lambda move: type(move).__name__)
def test_one_time_costs_microseconds(move: Trajectory) -> None:
    """It cost up to a millisecond: polynomials were made anew at every call."""
    times = np.linspace(0.01, 0.98, 2000) * move.duration
    move.at(0.5)
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        for t in times.tolist():
            move.at(t)
        best = min(best, (time.process_time() - begin) / len(times))
    assert best < 25e-6  # about 3 on a quiet machine


def test_what_an_effort_of_ones_own_may_do_with_it() -> None:
    """The arrays are the caller's own."""
    move = supple.PointToPoint([0.0], [1.0], 1.0)
    for t in (-1.0, 0.0, 0.3, 1.0, 2.0):
        position, velocity, acceleration = move.at(t)
        position += 1.0
        velocity += 1.0
        acceleration += 1.0
        assert move.at(t)[0] != position


def test_moves_are_joined() -> None:
    there = supple.PointToPoint([0.0, 0.0], [1.0, 0.5], 1.0)
    back = supple.PointToPoint([1.0, 0.5], [0.0, 0.0], 2.0)
    both = there + back + there
    assert both.duration == pytest.approx(4.0)
    assert len(both.parts) == 3
    t = np.linspace(0.0, 4.0, 801)
    x, v, _ = both.at(t)
    assert x[t <= 1] == pytest.approx(there.at(t[t <= 1])[0])
    assert x[t >= 3] == pytest.approx(there.at(t[t >= 3] - 3)[0])
    assert np.gradient(x, t, axis=0)[1:-1] == pytest.approx(v[1:-1], abs=2e-3)
    with pytest.raises(SuppleError, match="begins at 0 in coordinate 1, where the first one ends"):
        there + there
    with pytest.raises(SuppleError, match="no end"):
        supple.CirclePath() + there
    named = supple.Samples([0, 1], [[0, 0], [1, 0.5]], names=("a", "b"))
    turned = supple.Samples([0, 1], [[0.5, 1], [0, 0]], names=("b", "a"))
    assert (named + turned).at(1.5)[0] == pytest.approx(named.at(0.5)[0])


def test_samples_say_what_is_wrong() -> None:
    with pytest.raises(SuppleError, match=r"t has shape \(3,\) and positions \(2, 1\)"):
        supple.Samples([0, 1, 2], [[0], [1]])
    with pytest.raises(SuppleError, match=r"does not rise from 1 s to 0\.5 s"):
        supple.Samples([0, 1, 0.5], [0, 1, 2])
    with pytest.raises(SuppleError, match="two coordinates are named a"):
        supple.Samples([0, 1], [[0, 0], [1, 1]], names=("a", "a"))
    with pytest.raises(SuppleError, match="finite"):
        supple.Samples([0, 1], [[0, np.nan], [1, 1]])
    late = supple.Samples([5.0, 6.0], [0.0, 1.0])
    assert late.begin == 5.0
    assert late.duration == 1.0
    assert late.at(1.0)[0] == pytest.approx([1.0])


def test_every_trajectory_is_drawn(tmp_path: Path) -> None:
    for k, move in enumerate((ALL[0], ALL[2], ALL[6])):
        place = tmp_path / f"{k}.png"
        figure = move.plot(place)
        assert place.stat().st_size > 10_000
        labels = [ax.get_ylabel() for ax in figure.axes]
        assert [label.split()[0] for label in labels] == ["position", "velocity", "acceleration"]
    assert "m/s" in ALL[2].plot(place).axes[1].get_ylabel()
