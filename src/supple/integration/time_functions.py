"""Python functions of time: where they jump, how fast they are, and the times written in them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers.answer import Shown
from ..answers.immutable import Immutable
from ..control.trajectories import Trajectory
from ..errors import SuppleError
from .inputs import Feedback, Input, MemoryWarning, highest_rate

__all__ = ["TimeFunction", "as_time_function", "located_jumps", "written_times"]

Array = NDArray[np.float64]
SCAN_POINTS = 4000  # times at which a Python function of time is looked at before a run
MAX_SCAN_POINTS = 64 * SCAN_POINTS  # where so many do not show all of it, it is asked step by step
MAX_JUMPS = 2000  # of one function
UNSEEN_BEND = 0.1  # of its range: what lies so far from a line between two looks was not seen
GOLDEN_RATIO = 0.6180339887498949
JUMP_FRACTION = 0.02  # of its range: a change between two looks that may be a jump
SMALL_JUMP_FRACTION = (
    1e-4  # of its range: the same, where it is three times what it changes beside them
)
MAX_CODE_PARTS = 2000  # of a function that are looked through for numbers
TIME_OFFSET = (
    1e-12  # of a run: how far on either side of a time that a function knows it is looked at
)


def parts_of(item: Any) -> list[Any]:
    """Return the parts of what may be found in a function in which numbers may stand."""
    match item:
        case np.ndarray():
            return item.ravel()[:MAX_CODE_PARTS].tolist() if item.dtype.kind in "fiu" else []
        case dict():
            return list(item.values())
        case list() | tuple():
            return list(item)
        case CodeType():
            return list(item.co_consts)
        case FunctionType():
            code = item.__code__
            found = [code, item.__defaults__, item.__kwdefaults__]
            for cell in item.__closure__ or ():
                with suppress(ValueError):  # it is empty
                    found.append(cell.cell_contents)
            return found + [item.__globals__.get(name) for name in code.co_names]
        case MethodType():
            return [item.__self__, item.__func__]
        case partial():
            return [item.func, item.args, item.keywords]
        case Trajectory():
            return [*item.breaks, item.duration]
        case Input():
            return list(item.switches(np.inf))
        case Immutable() | Shown():  # models and robots
            return []
    return [vars(type(item)).get("__call__"), getattr(item, "__dict__", None)]


@dataclass(frozen=True, eq=False)
class TimeFunction(Input):
    """A Python function of time alone, and the times of its jumps, located once."""

    given: Feedback
    jumps: tuple[float, ...]
    fastest: float

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        rows = [self.given(float(at), np.zeros(0), np.zeros(0)) for at in t]
        return np.array(rows).reshape(len(t), self.given.width)

    def switches(self, end: float) -> list[float]:
        """Return the jumps."""
        return [t for t in self.jumps if 0 < t < end]

    def rate(self, end: float) -> float:
        """Return its highest frequency."""
        return self.fastest


def as_time_function(given: Input | Feedback, duration: float, dt: float) -> Input | Feedback:
    """Return a Python function of time alone as an Input whose jumps are known.

    It is looked at 4,000 times, twice in each `dt`, and on both sides of every time that is written
    in it. One that fails somewhere, jumps all the time, or does not say the same when it is asked
    again (a warning) stays as it is: it is asked step by step, and what it gives is kept.
    """
    if not isinstance(given, Feedback) or given.of_state or not given.width:
        return given
    time_function = TimeFunction(given, (), 0.0)

    f = partial(time_function.value, width=given.width)
    known = written_times(given.function, duration)
    hair = TIME_OFFSET * duration
    known = np.clip(np.concatenate([known - hair, known + hair]), 0.0, duration)
    looks = first = min(max(SCAN_POINTS, int(2 * duration / dt)), MAX_SCAN_POINTS)
    try:
        while True:
            t = np.union1d(np.linspace(0.0, duration, looks + 1), known)
            values = f(t)
            if looks == first and _remembers(f, t[::4], values[::4]):
                return given
            # Between them at places that differ from interval to interval: equal ones could miss a
            # vibration whose periods fit between them
            place = (GOLDEN_RATIO * np.arange(1, len(t))) % 1.0
            between = t[:-1] + place * np.diff(t)
            seen = f(between)
            line = values[:-1] + place[:, None] * np.diff(values, axis=0)
            unseen = (
                np.abs(seen - line) > UNSEEN_BEND * np.ptp(np.vstack([values, seen]), axis=0)
            ).any(1)
            edges = t
            order = np.argsort(np.concatenate([t, between]), kind="stable")
            t = np.concatenate([t, between])[order]
            values = np.vstack([values, seen])[order]
            jumps: list[float] = []
            if unseen.sum() <= MAX_JUMPS:
                jumps = located_jumps(f, t, values)
                if len(jumps) > MAX_JUMPS:
                    return given
                unseen[np.searchsorted(edges, jumps, "left") - 1] = False
            if not unseen.any():
                break
            if looks >= MAX_SCAN_POINTS:
                return given
            looks *= 4
    except (SuppleError, KeyboardInterrupt):  # reported when the run gets there
        return given
    # How fast it is between its jumps: what they add is taken away
    smooth = values.copy()
    for at in np.searchsorted(t, jumps):
        smooth[at:] -= smooth[at] - smooth[at - 1]
    smooth *= np.ptp(smooth, axis=0) > 1e-3 * np.ptp(values, axis=0)  # else jumps too small to find
    even = np.searchsorted(t, np.linspace(0.0, duration, looks + 1))
    return TimeFunction(given, tuple(jumps), highest_rate(smooth[even], duration))


def _remembers(f: Callable[[Array], Array], t: Array, values: Array) -> bool:
    """Whether a function of time returns something else when called again, which is reported."""
    other = (f(t) != values).any(axis=1)
    if other.any():
        warnings.warn(
            "the effort function of time does not give the same again when it is asked twice "
            f"(first at t = {t[other][0]:g} s): it remembers, or is random, and has been asked "
            "before the run; give it as supple.Sampled(law, period), or as f(t, q, qd), which "
            "is asked during the run alone",
            MemoryWarning,
            stacklevel=7,
        )
    return bool(other.any())


def located_jumps(f: Callable[[Array], Array], t: Array, values: Array) -> list[float]:
    """Return where a function of time jumps, (n,) to (n, m), as seen at times t, to rounding.

    Between two of them it may jump where it changes by more than JUMP of its range, or by SMALL and
    three times what it changes beside them. It does where halving the interval again and again does
    not make the change less; what is left on either side is looked at in the same way. The time
    returned is the first after a jump.
    """
    range_ = np.ptp(values, axis=0)
    change = np.abs(np.diff(values, axis=0))
    length = np.diff(t)[:, None]
    slope = np.pad(change / np.maximum(length, 1e-300), ((1, 1), (0, 0)))
    expected = length * np.maximum(slope[:-2], slope[2:])
    sharp = (change > SMALL_JUMP_FRACTION * range_) & (change > 3 * expected)
    todo = np.flatnonzero(((change > JUMP_FRACTION * range_) | sharp).any(axis=1)).tolist()
    found: list[float] = []
    for k in todo:
        parts = [(*t[k : k + 2].tolist(), *values[k : k + 2])]
        while parts and len(found) <= MAX_JUMPS:
            first, last, u, v = start, end, low, high = parts.pop()
            least = np.maximum(np.abs(v - u) / 2, SMALL_JUMP_FRACTION * range_)
            while end - start > 1e-14 * t[-1]:
                middle = (start + end) / 2
                w = f(np.array([middle]))[0]
                from_low, from_high = (np.abs(x - w).max() for x in (low, high))
                if from_high >= from_low:
                    start = middle
                    low = w
                else:
                    end = middle
                    high = w
                if (np.abs(high - low) <= least).all():
                    break
            else:
                found.append(end)
                sides = (first, start, u, low), (end, last, high, v)
                parts += [side for side in sides if (np.abs(side[3] - side[2]) > least).any()]
    return sorted(found)


def written_times(function: Any, duration: float, most: int = 4000) -> Array:
    """Return times in (0, duration] that are written in a function or known to it.

    A pulse may be too short for any number of looks to meet, but its edges mostly stand in the code
    of a function, in what it closes over, its defaults, globals or its object, as numbers t, their
    sums t + width, or as a period. They are places to look at, no more.
    """
    numbers: dict[float, None] = {}
    todo: list[Any] = [function]
    met: dict[int, Any] = {}
    while todo and len(met) < MAX_CODE_PARTS and len(numbers) < most:
        item = todo.pop(0)
        if isinstance(item, int | float | np.integer | np.floating):
            size: Any = abs(item)
            if 0 < size <= duration:
                numbers[float(size)] = None
        elif id(item) not in met and not isinstance(item, str | bytes | ModuleType | type | None):
            met[id(item)] = item
            todo += parts_of(item)
    own = np.array(list(numbers))
    every = [own]
    if len(own) <= 40:
        every += [np.add.outer(own, own).ravel(), np.subtract.outer(own, own).ravel()]
        every += [c * np.arange(2, duration / c) for c in own if duration / c <= most / 10]
    found = np.concatenate(every)[:most]
    return np.unique(found[(found > 0) & (found <= duration)])
