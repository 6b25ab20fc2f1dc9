"""Inputs: joint efforts over time, as functions, arrays, tables or named kinds."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..arguments import number, reals, some
from ..control.matching import match_names, motor_names
from ..errors import SuppleError
from ..files.data import read_table
from ..robot import Robot

__all__ = [
    "INPUTS",
    "BangBang",
    "Chirp",
    "Constant",
    "EffortSamples",
    "Feedback",
    "Input",
    "MemoryWarning",
    "SimulationWarning",
    "Step",
    "StoppedError",
    "Table",
    "as_input",
    "as_wrench",
    "highest_rate",
]

Array = NDArray[np.float64]
AT_ONCE = 1e-9  # of a duration: a change of efforts at its end takes so long


class SimulationWarning(UserWarning):
    """A simulation ended early, or its power balance is not closed."""


class StoppedError(Exception):
    """An integrator, or a law whose state has run away, gave up."""


class MemoryWarning(SimulationWarning):
    """A Python function of efforts does not give the same again: it is asked more than once."""


class Input(Immutable, ABC):
    """Efforts as a function of time alone. A kind of input has these duties:

    1. `value(t, width)` returns the efforts (len(t), width) at times t.
    2. `switches(end)` returns the times in (0, end) where it jumps or bends; integration
       restarts there.
    3. `rate(end)` returns how fast it changes between switches, rad/s: its highest frequency.
    """

    @abstractmethod
    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""

    def switches(self, end: float) -> list[float]:
        """Return the times in (0, end) where it jumps or bends."""
        return []

    def rate(self, end: float) -> float:
        """Return its highest frequency within 0..end, rad/s."""
        return 0.0


def _wide(amplitude: float | Sequence[float], width: int) -> Array:
    """One amplitude for every joint, or one per joint."""
    try:
        given = np.asarray(amplitude, float)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    if given.shape not in ((), (width,)) or not np.isfinite(given).all():
        raise SuppleError(
            f"amplitude is {amplitude!r}: give one number, or one for each of {width}"
        )
    return np.broadcast_to(given, (width,)).astype(float)


def highest_rate(y: Array, duration: float) -> float:
    """Return the highest frequency in samples (n, m) that holds a thousandth of the strongest."""
    ramp = np.linspace(0.0, 1.0, len(y))[:, None]
    size = np.abs(np.fft.rfft(y - y[0] - ramp * (y[-1] - y[0]), axis=0)).max(axis=1)
    if size.max() <= 1e-9 * np.abs(y).sum(axis=0).max():  # a straight line
        return 0.0
    return 2 * math.pi * float(np.flatnonzero(size >= 1e-3 * size.max())[-1]) / duration


@dataclass(frozen=True)
class Constant(Input):
    """Constant effort.

    Parameters
    ----------
    amplitude : float or sequence of float
        N m or N, one value or one per joint.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.simulate(model, tau=supple.Constant([0.1, 0.0]), duration=0.1).tau[-1]
    array([0.1, 0. ])
    """

    amplitude: float | Sequence[float] = 0.0

    checks: ClassVar = {"amplitude": some()}

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        return np.tile(_wide(self.amplitude, width), (len(t), 1))


@dataclass(frozen=True)
class Step(Input):
    """Effort that jumps from zero to a constant value.

    Parameters
    ----------
    amplitude : float or sequence of float
        N m or N, one value or one per joint.
    start : float
        Time of the jump, s.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> run = supple.simulate(model, tau=supple.Step([0.1, 0.0], start=0.05), duration=0.1)
    >>> run.tau[0], run.tau[-1]
    (array([0., 0.]), array([0.1, 0. ]))
    """

    amplitude: float | Sequence[float] = 1.0
    start: float = 0.0

    checks: ClassVar = {"amplitude": some(), "start": number(unit="of seconds")}

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        return (t >= self.start)[:, None] * _wide(self.amplitude, width)

    def switches(self, end: float) -> list[float]:
        """Return the start."""
        return [self.start] if 0 < self.start < end else []


@dataclass(frozen=True)
class BangBang(Input):
    """Constant effort, the opposite effort for as long, then zero.

    Parameters
    ----------
    amplitude : float or sequence of float
        N m or N, one value or one per joint.
    half : float
        Duration of each half, s.

    References
    ----------
    [DeLuca1991], section VII, Figs. 9 and 10 (0.2 N m; no switching time is printed).

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> run = supple.simulate(model, tau=supple.BangBang([0.2, 0.0], half=0.05), duration=0.08)
    >>> run.tau[0], run.tau[-1]
    (array([0.2, 0. ]), array([-0.2, -0. ]))
    """

    amplitude: float | Sequence[float] = 1.0
    half: float = 0.5

    checks: ClassVar = {"amplitude": some(), "half": number(0, above=True, unit="of seconds")}

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        sign = np.where(t < self.half, 1.0, np.where(t < 2 * self.half, -1.0, 0.0))
        return sign[:, None] * _wide(self.amplitude, width)

    def switches(self, end: float) -> list[float]:
        """Return the two switches."""
        return [t for t in (self.half, 2 * self.half) if 0 < t < end]


@dataclass(frozen=True)
class Chirp(Input):
    """Sine whose frequency rises linearly in time.

    Parameters
    ----------
    amplitude : float or sequence of float
        N m or N, one value or one per joint.
    f0, f1 : float
        First and last frequency, Hz.
    sweep : float
        Duration of the rise, s.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> sweep = supple.Chirp([0.1, 0.0], f0=1.0, f1=20.0, sweep=0.2)
    >>> supple.simulate(model, tau=sweep, duration=0.2).tau.shape
    (201, 2)
    """

    amplitude: float | Sequence[float] = 1.0
    f0: float = 0.1
    f1: float = 10.0
    sweep: float = 10.0

    checks: ClassVar = {
        "amplitude": some(),
        "f0": number(unit="of hertz"),
        "f1": number(unit="of hertz"),
        "sweep": number(0, above=True, unit="of seconds"),
    }

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        phase = 2 * math.pi * (self.f0 * t + (self.f1 - self.f0) * t**2 / (2 * self.sweep))
        return np.sin(phase)[:, None] * _wide(self.amplitude, width)

    def rate(self, end: float) -> float:
        """Return the highest frequency of the sweep."""
        last = self.f0 + (self.f1 - self.f0) * end / self.sweep
        return 2 * math.pi * max(abs(self.f0), abs(last))


@dataclass(frozen=True, eq=False)
class Table(Input):
    """Efforts at given times: linear in between, or constant until the next time.

    Before the first and after the last time the nearest row applies.

    Parameters
    ----------
    t : array_like
        Times (N,), s.
    values : array_like
        Efforts (N,) or (N, joints), N m or N.
    hold : bool
        Keep each value until the next time.
    names : tuple of str
        Motors to which the columns belong, in any order: links, or joints of a URDF. Without names
        they go by position.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> efforts = supple.Table([0.0, 0.1], [[0.0, 0.0], [0.2, 0.0]])
    >>> supple.simulate(model, tau=efforts, duration=0.1).tau[50].round(6)
    array([0.1, 0. ])
    """

    t: ArrayLike
    values: ArrayLike
    hold: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        t = reals("t", self.t)
        values = reals("values", self.values)
        if t.ndim != 1 or values.ndim != 2 or len(t) != len(values) or not len(t):
            raise SuppleError(
                f"a table needs times (n,) and values (n, joints); it has shapes "
                f"{t.shape} and {values.shape}"
            )
        if not (np.isfinite(t).all() and np.isfinite(values).all()) or (np.diff(t) <= 0).any():
            raise SuppleError("a table needs rising times and finite values")
        if self.names and len(self.names) != values.shape[1]:
            raise SuppleError(
                f"a table has {values.shape[1]} columns and {len(self.names)} names: give one each"
            )
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "names", tuple(self.names))
        super().__post_init__()

    def in_order(self, robot: Robot) -> Table:
        """Return the same table with its named columns in the order of the robot's motors."""
        names = [name.removeprefix("tau.") for name in self.names]
        numbers = [name.removeprefix("tau").removeprefix("_") for name in names]
        if not names or all(name.isdecimal() for name in names):
            return self
        if sorted(numbers) == [str(k + 1) for k in range(len(names))]:  # tau1, tau2: motor 1, 2
            order = [numbers.index(str(k + 1)) for k in range(len(names))]
            return replace(self, values=np.asarray(self.values)[:, order], names=())
        order = match_names(robot, motor_names(robot), names, "the table of efforts")
        return replace(self, values=np.asarray(self.values)[:, order], names=())

    def value(self, t: Array, width: int) -> Array:
        """Return the efforts at times t."""
        times = np.asarray(self.t)
        values = np.asarray(self.values)
        if values.shape[1] != width:
            raise SuppleError(
                f"the table has {values.shape[1]} columns of efforts: {width} are needed"
            )
        if self.hold:
            row = np.clip(np.searchsorted(times, t, "right") - 1, 0, len(times) - 1)
            return values[row]
        return np.stack([np.interp(t, times, column) for column in values.T], axis=1)

    def switches(self, end: float) -> list[float]:
        """Return the table's times."""
        return [float(t) for t in np.asarray(self.t) if 0 < t < end]

    def rate(self, end: float) -> float:
        """Return the highest frequency that holds a thousandth of the strongest, by Fourier."""
        times = np.asarray(self.t)
        values = np.asarray(self.values)
        if self.hold or len(times) < 3:
            return 0.0
        t = np.linspace(times[0], times[-1], min(4096, 4 * len(times)))
        most = math.pi / float(np.diff(times).min())
        return min(highest_rate(self.value(t, values.shape[1]), float(t[-1] - t[0])), most)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], hold: bool = False) -> Table:
        """Return the table of a CSV file: t and one effort per joint, named in the header.

        Columns may stand in any order: `simulate` matches them with the robot's motors by the names
        of links or joints (`elbow` or `tau.elbow`), or takes `tau1`, `tau2` by their numbers.
        """
        form = "a header with the names of the joints, then t and one effort each, with commas"
        names, rows = read_table(path, "efforts", form)
        if names and names[0].lower() not in ("t", "time"):
            raise SuppleError(
                f"cannot read efforts from {path}: its first column is '{names[0]:.40}', it must "
                f"be t; give {form}"
            )
        return cls(rows[:, 0], rows[:, 1:], hold, tuple(names[1:]))


class EffortSamples(np.ndarray):
    """Efforts (n, joints) that know their times: an array, linear between them as an input.

    Attributes
    ----------
    times
        (n,) s; None of a part or a result of another shape, which is a plain array.
    rest
        (joints,) efforts after the last time, or None: the last row.
    """

    times: Array | None
    rest: Array | None

    @classmethod
    def at(cls, times: Array, values: Array, rest: Array | None = None) -> EffortSamples:
        """Return efforts (n, joints) with their times (n,)."""
        found = np.array(values, float).view(cls)
        found.times = np.array(times, float)
        found.rest = None if rest is None else np.array(rest, float)
        found.setflags(write=False)
        return found

    def __array_finalize__(self, source: Any) -> None:
        times = getattr(source, "times", None)
        is_complete = times is not None and self.shape == source.shape
        self.times = times if is_complete else None
        self.rest = None

    def table(self) -> Table | None:
        """Return them as an Input; None without times."""
        if self.times is None:
            return None
        times = self.times
        values = np.asarray(self)
        if self.rest is not None:
            end = float(times[-1])
            times = np.append(times, end * (1 + AT_ONCE))
            values = np.vstack([values, self.rest])
        return Table(times, values)


INPUTS: dict[str, type[Input]] = {
    "constant": Constant,
    "step": Step,
    "bang-bang": BangBang,
    "chirp": Chirp,
}


@dataclass(frozen=True)
class Feedback:
    """Efforts that a Python function gives: f(t) or f(t, q, qd)."""

    function: Callable[..., ArrayLike]
    width: int
    of_state: bool

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Return the efforts, or a sentence that says what went wrong and when."""
        if self.of_state and not (np.isfinite(q).all() and np.isfinite(qd).all()):
            raise StoppedError("the state is no longer finite")
        try:
            given = self.function(t, q, qd) if self.of_state else self.function(t)
            efforts = np.asarray(given, float)
        except Exception as problem:
            raise SuppleError(
                f"the effort function failed at t = {t:g} s: {type(problem).__name__}: {problem}"
            ) from problem
        if efforts.shape != (self.width,) or not np.isfinite(efforts).all():
            raise SuppleError(
                f"the effort function gave {given!r} at t = {t:g} s: it must give "
                f"{self.width} finite numbers"
            )
        return efforts


def as_input(given: Any, width: int, duration: float, word: str = "tau") -> Input | Feedback:
    """Return efforts in any of their forms as an Input, or a Feedback for a Python function.

    None is zero; an array (width,) is constant; (n, width) are n equal intervals of the run, held.
    """
    if given is None:
        return Constant(0.0)
    if isinstance(given, Input):
        return given
    if callable(given):
        try:
            wanted = [
                p for p in inspect.signature(given).parameters.values() if p.default is p.empty
            ]
        except (TypeError, ValueError):
            return Feedback(given, width, of_state=True)
        return Feedback(given, width, of_state=len(wanted) > 1)
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[1]) == 2:
        return Table(*given)
    if isinstance(given, EffortSamples) and (table := given.table()) is not None:
        return table
    array = reals(word, given, "give numbers, a function or an Input such as supple.Step(1.0)")
    if not np.isfinite(array).all():
        raise SuppleError(f"{word} holds a value that is not finite")
    if array.shape == (width,):
        return Constant(tuple(array.tolist()))
    if array.ndim == 2 and array.shape[1] == width and len(array):
        return Table(np.arange(len(array)) * duration / len(array), array, hold=True)
    raise SuppleError(
        f"{word} has shape {array.shape}: give ({width},) for constant efforts, (n, "
        f"{width}) for n equal intervals, or (times, values)"
    )


def as_wrench(wrench: Any, duration: float) -> Input | None:
    """Return the tip wrench as an Input, None where there is none."""
    if wrench is None:
        return None
    if isinstance(wrench, str | PathLike):
        wrench = Table.from_csv(wrench)
        if wrench.values.shape[1] != 6:
            raise SuppleError(
                f"the wrench file has {wrench.values.shape[1]} columns besides t: give six, force "
                "x, y, z and moment x, y, z"
            )
    if isinstance(wrench, tuple) and len(wrench) == 2 and np.ndim(wrench[1]) == 2:
        wrench = Table(*wrench)
    elif not isinstance(wrench, Input) and not callable(wrench):
        numbers = reals("wrench", wrench, "give a force, six numbers, (times, values) or an Input")
        if numbers.shape == (3,):
            wrench = np.concatenate([numbers, np.zeros(3)])  # a force has no moment
    load = as_input(wrench, 6, duration, "wrench")
    if isinstance(load, Feedback):
        raise SuppleError("wrench is a function: give numbers, (times, values) or an Input")
    return load
