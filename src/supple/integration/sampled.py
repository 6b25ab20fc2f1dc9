"""Drive: a Sampled law in one run, from the state at its samples to the efforts applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..control.controllers import Controller
from ..control.linear import LinearController
from ..control.sampled import Sampled
from ..control.trajectories import Trajectory
from ..equations.closed.coupled import ClosedFunctions, near_symbols
from ..equations.evaluate import Evaluator
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.measuring import accelerations, evaluator
from ..outputs.sensor import Sensor
from .inputs import Feedback, Input, StoppedError

__all__ = ["SampledDrive", "Timetable", "timetable"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]
SAME_TIME_FRACTION = 1e-9  # of a period: times nearer than this are one
MIN_STEPS_PER_TIME_CONSTANT = 8  # steps within the time constant of a current loop at least
# A joint whose effort exceeds its limit in more than this part of the samples is reported
SATURATED_SHARE = 0.9
FEW_SAMPLES = 20  # in runs with fewer samples it is not reported
OTHER_DELAY = 0.01  # of a period: a delay that differs by more is another one
MAX_SAMPLES = 20_000_000  # samples of one run


@dataclass(frozen=True, eq=False)
class Timetable:
    """Times at which a run stops: samples, efforts that arrive, and what the answer asks for.

    Attributes
    ----------
    t
        (m,) rising.
    reads, acts
        (m,) number of the sample read or of the effort that arrives there, -1: none.
    answer
        (m,) place in the answer's grid, -1: none.
    """

    t: Array
    reads: Places
    acts: Places
    answer: Places

    def due(self, k: int) -> tuple[int, int]:
        """Return the numbers of the sample read and of the effort that arrives at a stop."""
        return int(self.reads[k]), int(self.acts[k])

    @property
    def arrivals(self) -> set[int]:
        """Stops where the effort changes, the first among them."""
        return {0, *np.flatnonzero(self.acts >= 0).tolist()}


def timetable(given: Sampled, grid: Array) -> Timetable:
    """Return when a law reads and acts during the times of an answer's grid."""
    T = given.period
    end = float(grid[-1])
    if end / T > MAX_SAMPLES:
        raise SuppleError(
            f"{end:g} s with a sample every {T:g} s are more than {MAX_SAMPLES:g} samples: "
            f"give a longer "
            "period"
        )
    samples = T * np.arange(int(np.floor(end / T + SAME_TIME_FRACTION)) + 1)
    arrivals = samples + given.delay
    arrivals = arrivals[arrivals <= end + SAME_TIME_FRACTION * T]
    times = np.concatenate([samples, arrivals, grid])
    order = np.argsort(times, kind="stable")
    new = np.append(True, np.diff(times[order]) > SAME_TIME_FRACTION * T)
    place = np.empty(len(times), np.int64)
    place[order] = np.cumsum(new) - 1
    t = np.minimum(times[order][new], end)
    parts = np.split(place, [len(samples), len(samples) + len(arrivals)])
    reads, acts, answer = np.full((3, len(t)), -1, np.int64)
    for numbers, at in zip((reads, acts, answer), parts, strict=True):
        numbers[at] = np.arange(len(at))
    t[parts[2]] = grid  # the answer's own times, to the last bit
    return Timetable(t, reads, acts, answer)


class SampledDrive:
    """A Sampled law in one run: what it has answered, and what acts now."""

    def __init__(
        self, given: Sampled, model: Model, path: Trajectory | None, wrench: Input | None = None
    ) -> None:
        given.check(model)
        self.given = given
        self.joints = model.joints
        # about where the followers of loops are at the last sample, where there are any
        self.near: Array | None = None
        self._loops = isinstance(model.functions, ClosedFunctions)
        law: Any = given.law
        if isinstance(law, LinearController):
            assert path is not None
            law = Measuring(law.sampled(given.period), model, (path, wrench), self)
        else:
            law = self._function(model, path)
        self.law = Feedback(law, model.joints, of_state=True)
        self.ours = isinstance(given.law, LinearController | Controller)
        self.limit = given.by_joint("effort_limit", model)
        self.step = given.by_joint("quantisation", model)
        lag = given.by_joint("lag", model)
        self.lag = lag if lag is not None and lag.any() else None
        self.samples = 0
        self.at_limit = np.zeros(model.joints)  # samples at which a joint asked for more
        self._answers: dict[int, Array] = {}
        self._since = 0.0
        self._command = self._first = np.zeros(model.joints)

    def warnings(self, names: Sequence[str]) -> list[str]:
        """Return what a run of this law should tell: joints (`names`) that stay at their limit.

        And a law that was designed for another delay than it runs with.
        """
        messages = []
        law = self.given.law
        given = self.given
        designed = law.delay if isinstance(law, LinearController) else None
        if designed is not None and abs(designed - given.delay) > OTHER_DELAY * given.period:
            messages.append(
                f"this law was designed for efforts that come {designed:g} s late and runs with a "
                f"delay of {given.delay:g} s: give both the same, such as "
                f"supple.lqg(.., period={given.period:g}, delay={given.delay:g})"
            )
        if self.samples < FEW_SAMPLES or self.limit is None:
            return messages
        for name, count, limit in zip(names, self.at_limit, self.limit, strict=True):
            part = count / self.samples
            if part > SATURATED_SHARE:
                messages.append(
                    f"joint {name} asks for more than its effort limit {limit:g} in {part:.0%} of "
                    "the samples: the loop hardly controls it; give a larger limit, lower gains "
                    "or a slower move"
                )
        return messages

    @property
    def longest(self) -> float:
        """The longest step that follows the current loops."""
        return (
            float(self.lag[self.lag > 0].min()) / MIN_STEPS_PER_TIME_CONSTANT
            if self.lag is not None
            else np.inf
        )

    def begin(self, t: float, read: int, act: int, state: tuple[Array, Array, Array]) -> None:
        """Read the state where a sample is due, and let an effort act that arrives.

        The state is q, qd and what a run carries beside them, see `states`.
        """
        if read >= 0:
            q = state[0].copy()
            qd = state[1].copy()
            self.near = state[2].copy() if self._loops else None
            if self.step is not None:
                k = self.joints
                step = np.where(self.step > 0, self.step, 1.0)
                q[:k] = np.where(self.step > 0, step * np.round(q[:k] / step), q[:k])
            try:
                answer = self.law(read * self.given.period, q, qd)
            except SuppleError as problem:
                if self.ours:  # its model has no answer in a state like this
                    raise StoppedError(str(problem)) from None
                raise
            if self.limit is not None:
                self.at_limit += np.abs(answer) > self.limit * (1 + 1e-9)
                answer = np.clip(answer, -self.limit, self.limit)
            self.samples += 1
            self._answers[read] = answer
        if act >= 0:
            if self.lag is not None:
                self._first = self.now(t)
            self._command = self._answers.pop(act)
            self._since = t

    def now(self, t: float) -> Array:
        """Return what acts at one time, (joints,)."""
        return np.asarray(self.efforts(np.array([t]))[0], float)

    def efforts(self, t: Array) -> Array:
        """Return what acts at times (n,) until the next effort arrives, (n, joints)."""
        if self.lag is None:
            return np.broadcast_to(self._command, (len(t), self.joints))
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.exp(-(t - self._since)[:, None] / self.lag)
        left = np.where(self.lag > 0, left, 0.0)
        return np.asarray(self._command + left * (self._first - self._command))

    def _function(
        self, model: Model, path: Trajectory | None
    ) -> Callable[[float, Array, Array], ArrayLike]:
        """The law as a function of time and state."""
        law = self.given.law
        if isinstance(law, Controller):
            assert path is not None
            controller = law
            bound = near_symbols(model)[0] if self._loops else model
            evaluator: Evaluator = model.functions.cached(
                ("law of one state", controller), lambda: Evaluator(controller.function(bound))
            )
            return lambda t, q, qd: evaluator(
                q, qd, *path(t), *([] if self.near is None else [self.near])
            )[0]
        if path is None or self.given.follows is False:
            return law
        function = law
        return lambda t, q, qd: function(t, q, qd, path(t))


class Measuring:
    """A LinearController from sample to sample: its states, and what its sensors have shown."""

    def __init__(
        self,
        law: LinearController,
        model: Model,
        led: tuple[Trajectory, Input | None],
        drive: SampledDrive,
    ) -> None:
        self.law, self.model, (self.path, self.wrench), self.drive = law, model, led, drive
        self.z = np.zeros(len(law.A))
        loops = isinstance(model.functions, ClosedFunctions)
        self.reads = [evaluator(model, output, near=loops) for output in law.measures]
        self.noise: list[np.random.Generator | None] = []
        for place, output in enumerate(law.measures):
            named = output.named(f"measure {place}")
            self.noise.append(named.generator() if isinstance(named, Sensor) else None)
        self.shown: list[Array] = []

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """Return the efforts of a sample, and step on."""
        law = self.law
        tau = self.drive.now(t)
        guess = self.drive.near
        wrench = None if self.wrench is None else self.wrench.value(np.array([t]), 6)[0]
        load = np.zeros(6) if wrench is None else wrench
        qdd = accelerations(self.model, (q, qd), (tau, wrench), guess)
        motion = (q, qd, qdd, load, *([] if guess is None else [guess]))
        # What the sensors show: low-passed since the last sample, noisy, rounded
        values = [read(*motion)[0] for read in self.reads]
        before = self.shown
        seen = []
        for k, output in enumerate(law.measures):
            value = values[k]
            noise = self.noise[k]
            if isinstance(output, Sensor) and output.bandwidth is not None and before:
                left = np.exp(-2 * np.pi * output.bandwidth * float(law.period or 0.0))
                value = value + left * (before[k] - value)
            values[k] = value
            if isinstance(output, Sensor) and noise is not None:
                value = value + np.asarray(output.noise) * noise.standard_normal(len(value))
            seen.append(output.read(value))
        self.shown, y = values, np.concatenate(seen)
        u = np.concatenate([y - law.y0, self.path(t)[0] - law.r0])
        effort = law.tau0 + law.C @ self.z + law.D @ u
        self.z = law.A @ self.z + law.B @ u
        if law.anti_windup is not None and self.drive.limit is not None:
            applied = np.clip(effort, -self.drive.limit, self.drive.limit)
            self.z = self.z + law.anti_windup @ (applied - effort)
        return np.asarray(effort)
