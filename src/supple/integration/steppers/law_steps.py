"""Steps of Gauss's collocation under efforts that a Python function of time and state gives.

The function is asked at the six stages of a step, in every iteration, and once at its end. Steps
are as long as the motion allows: two polynomials of the accelerations meet at every seam between
two steps, and what they differ by there shows the error. A mode that nothing excites therefore
asks for no short step, however fast it is.

Where efforts jump, they leave the polynomial through their values at the stages. Such a step is
halved until the jump sits in a piece too short to matter, so that a switch costs no accuracy
wherever it comes from. Steps end at the times that are written in the function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...kernels import _tape
from ..inputs import Feedback, StoppedError
from ..plan import Chunk, RunPlan
from ..time_functions import written_times
from .collocated import STAGES, THROUGH, TWICE, USUAL, A, C, CollocationSteps
from .functions import MAX_JUMPS_PER_STEP, MAX_WRITTEN_TIMES, NEGLIGIBLE_JUMP, JumpDetector

__all__ = ["follow_law"]

Array = NDArray[np.float64]
SEAM = 6e-3  # of the speeds: what the accelerations at a seam may differ by, times the step
FADES = 0.998  # of the largest speeds is left after a step
ORDER = STAGES + 1  # of that difference in the step
GROWTH = 2.0  # of a step at most, beside the one before
WORTHWHILE = 1.2  # growth that a new matrix is made for
SAFETY = 0.9
CALMS = 0.8  # of the largest error is left after a step
LEAST_STEPS = 400  # in a run: a function of the state may do what it likes between its looks
REMEMBERS = 1000  # the same of a function that remembers
FEW_JUMPS = 20  # that no law is blamed for
SHORTEST = 1e-14  # of a run: a step that must converge
FAST = 1e8  # rad/s: nothing moves like this
STILL = 1e-10  # root of J: speeds below this are rounding
RIGID_PART = 1e-6  # of the joints' speeds: elastic ones below this do not count
AT_START = THROUGH[0]  # weights of the values at the nodes in their polynomial at 0
AT_END = THROUGH.sum(axis=0)  # and at 1


def follow_law(plan: RunPlan, law: Feedback, x: Array, step: float) -> Iterator[Chunk]:
    """Yield state after state at the samples, with the efforts that were applied.

    Steps are equal, unless the plan is run with steps of its own choice: then `step` is the first
    one, and the first after each jump.
    """
    steps = LawSteps(plan, law, x, step)
    known = written_times(law.function, float(plan.grid[-1]), MAX_WRITTEN_TIMES)
    for k, (first, last) in enumerate(pairwise(plan.grid.tolist())):
        hair = 1e-9 * (last - first)
        here = known[(known > first - hair) & (known < last + hair)]
        inside = here[(here > first + hair) & (here < last - hair)].tolist()
        if k in plan.starts:
            steps.restart(first)
        applied = steps.efforts
        for begin, end in pairwise([first, *inside, last]):
            if np.abs(here - begin).min(initial=1.0) <= hair:
                applied_now = steps.ask_again(begin)
                applied = applied_now if begin == first else applied
            # A switch acts from its own side: before it the function is asked a hair earlier
            written = np.abs(here - end).min(initial=1.0) <= hair
            steps.carry(begin, end, end - hair * written)
        at_end = steps.ask(last) if written else steps.efforts
        yield Chunk(k + 1, steps.state[None], applied[None], at_end)
    steps.watch.report_warnings()


class _Attempt(NamedTuple):
    """A step that converged: its end, the work done, efforts at its end, and what it missed."""

    q: Array
    qd: Array
    work: float
    efforts: Array
    bend: Array
    error: float


class LawSteps(CollocationSteps):
    """Steps of a plan under a Python function.

    Attributes
    ----------
    q, qd, work
        Where the run is.
    efforts
        What the function gave there.
    wanted
        s, the next step.
    watch
        What the efforts were so far.
    """

    def __init__(self, plan: RunPlan, law: Feedback, x: Array, step: float) -> None:
        super().__init__(plan, x)
        n = plan.model.size
        duration = float(plan.grid[-1] - plan.grid[0])
        self.q = x[:n].copy()
        self.qd = x[n : 2 * n].copy()
        self.work = float(x[2 * n])
        self.law = law
        self.first = step
        self.wanted = step
        self.equal = not plan.fastest  # a step that was given is taken as it is
        self.longest = step if self.equal else max(step, duration / LEAST_STEPS)
        self.seam = SEAM * min(1.0, plan.tolerance / USUAL) ** (ORDER / (2 * STAGES))
        self.watch = JumpDetector(law.width, duration)
        self._evaluate: Callable[[], object] = self._how
        if not callable(self._how):
            self._evaluate = partial(_tape.evaluate, self._how, self._x, self._out)
        self._how = self._ask_stages
        self._times = np.zeros(STAGES)
        self._fixed: Array | None = None  # efforts at the stages that are not asked any more
        self._speeds = np.zeros(2)  # of joints and of links, of late, root of J
        self._step_before = step
        self._error = 0.0  # of late, over what is allowed
        self.efforts = self.ask(float(plan.grid[0]))

    @property
    def state(self) -> Array:
        """Where the run is, as the state of a plan."""
        return np.concatenate([self.q, self.qd, [self.work], self.near])

    def ask(self, t: float) -> Array:
        """Return what the function gives at a time, where the run is."""
        return self.law(t, self.q.copy(), self.qd.copy())

    def restart(self, t: float) -> None:
        """Begin anew where an input of the plan jumps."""
        self.forget()
        self.wanted = self.first
        self.efforts = self.ask(t)

    def ask_again(self, t: float) -> Array:
        """Return the efforts at a time that is written in the function; it may jump there."""
        before = self.efforts
        self.efforts = self.ask(t)
        largest = np.maximum(self.watch.largest, np.abs(self.efforts))
        if (np.abs(self.efforts - before) > 1e-6 * largest).any():
            self.forget()
            self.wanted = self.first
        return self.efforts

    def carry(self, begin: float, end: float, latest: float) -> None:
        """Carry the run from one time to another; the function is asked until `latest`."""
        t = begin
        halvings = 0
        watch = self.watch
        while t < end:
            rest = end - t
            if rest <= 4 * math.ulp(end):
                return
            h = rest / max(1, math.ceil(rest / self.wanted - 1e-9))
            until = end if h == rest else t + h
            tiny = h <= NEGLIGIBLE_JUMP * watch.duration
            attempt = self._attempt(t, h, min(until, latest), tiny)
            if attempt is None:
                if h <= SHORTEST * watch.duration:
                    self._give_up(t)
                halvings += 1
                self.wanted = h / 2
                continue
            scale = max(1.0, h / self._step_before) ** STAGES
            watch.bend = watch.bend * scale
            most = np.maximum(np.abs(self.efforts), np.abs(attempt.efforts))
            jump = watch.jumps(attempt.bend, most, h, halvings)
            watch.bend = watch.bend / scale
            if watch.doubts(jump, halvings) and not np.array_equal(self.efforts, self.ask(t)):
                watch.forgot = t
                self.longest = min(self.longest, watch.duration / REMEMBERS)
                self.wanted = min(self.wanted, self.longest)
                self._restore()
                continue
            late = not self.equal and attempt.error > 1.0 and not tiny
            if (jump or late) and watch.forgot is None and not watch.chatters:
                halvings += 1
                shorter = 0.5 if jump else SAFETY * attempt.error ** (-1 / ORDER)
                self.wanted = h * min(max(shorter, 0.2), 0.5 if jump else 0.8)
                self._restore()
                continue
            watch.lost = watch.lost or (watch.chatters and jump)
            self._accept(attempt, h)
            if watch.inside and (halvings or watch.forgot is not None):
                # A jump, in a piece too short to matter or of a function that remembers
                watch.found += 1
                watch.chatters = watch.found > max(FEW_JUMPS, MAX_JUMPS_PER_STEP * watch.steps)
                self.forget()
                self.wanted = min(self.first, self.longest)
            t = until
            halvings = 0

    def _give_up(self, t: float) -> None:
        """Say that no step, however short, leads on."""
        hint = ", or keep away from singular poses" if self.model.functions.not_finite else ""
        if not np.abs(self.qd).max(initial=0.0) < FAST:
            raise StoppedError("speeds grew beyond every bound")
        raise SuppleError(f"a step did not converge at t = {t:g} s: try a smaller step{hint}")

    def _accept(self, attempt: _Attempt, h: float) -> None:
        """Go to the end of a step, and choose the next one."""
        watch = self.watch
        watch.bend = np.maximum(attempt.bend, 3e-4 * watch.late)
        before = self._step_before
        self._step_before = h
        self.q = attempt.q
        self.qd = attempt.qd
        self.efforts = attempt.efforts
        self.work += attempt.work
        if self.equal or watch.chatters:
            self.wanted = self.first
            return
        if attempt.error < 0.0:  # not known: nothing to compare with
            return
        # The error of a vibration comes and goes with its phase: the largest of late decides
        scaled = self._error * (h / before) ** ORDER
        self._error = max(attempt.error, CALMS * scaled, 1e-12)
        grown = SAFETY * self._error ** (-1 / ORDER)
        if grown > WORTHWHILE:
            self.wanted = min(max(self.wanted, h * min(grown, GROWTH)), self.longest)

    def _attempt(self, t: float, h: float, until: float, tiny: bool) -> _Attempt | None:
        """Try one step; None where its iterations do not end."""
        self._saved = (self._before, self._last, self._followers, self._here, self.near)
        before = self._before
        start = (self.q, self.qd)
        self._times = t + C * h
        self._fixed = None
        if self.watch.forgot is not None:
            self._fixed = self._ask_ahead(h)
        found = self._converged(t, h, start)
        if found is None and (tiny or self.watch.chatters):  # efforts jump with every iteration
            self.watch.lost = self.watch.lost or self.watch.chatters
            self._fixed = np.tile(self._with_wrench(t, self.efforts), (STAGES, 1))
            found = self._converged(t, h, start)
        if found is None:
            self._restore()
            return None
        q, qd, work = found
        n = len(q)
        k = self.k
        at_stages = self._x[:, 3 * n : 3 * n + k]
        try:
            efforts = self.law(until, q.copy(), qd.copy())
        except StoppedError:
            self._restore()
            return None
        bend = np.abs(AT_START @ at_stages - self.efforts) + np.abs(AT_END @ at_stages - efforts)
        bend = np.maximum(bend, 0.5 * np.ptp(at_stages, axis=0) * (self._fixed is not None))
        return _Attempt(q, qd, work, efforts, bend, self._seam_error(h, before))

    def _converged(
        self, t: float, h: float, start: tuple[Array, Array]
    ) -> tuple[Array, Array, float] | None:
        """The end of a step, with the matrix at hand or with a new one."""
        if abs(h - self._h) > 1e-9 * h:
            self._inverse = None
        u = np.tile(self._with_wrench(t, self.efforts), (STAGES + 1, 1))
        for renewed in (0, 1):
            try:
                found = self._iterated(t, h, start, u, renewed)
            except StoppedError:  # an iteration ran away
                found = None
            if found is not None and np.isfinite(found[0]).all() and np.isfinite(found[1]).all():
                return found
            self._inverse = None
        return None

    def _restore(self) -> None:
        """Go back to before a step that is not taken."""
        self._before, self._last, self._followers, self._here, self.near = self._saved

    def _with_wrench(self, t: float, efforts: Array) -> Array:
        """Efforts, and the wrench where there is one."""
        if self.plan.wrench is None:
            return efforts
        return np.concatenate([efforts, self.plan.wrench.value(np.array([t]), 6)[0]])

    def _ask_stages(self) -> None:
        """Fill the residuals of the stages from their states."""
        n = len(self.q)
        inputs = self._x[:, 3 * n : 3 * n + self.plan.width]
        if self._fixed is not None:
            inputs[...] = self._fixed
        else:
            states = self._x[:, : 2 * n].copy()  # the function may keep or change what it gets
            for row, t, state in zip(inputs, self._times.tolist(), states, strict=True):
                row[...] = self.inputs(t, state[:n], state[n:])
        self._evaluate()

    def _ask_ahead(self, h: float) -> Array:
        """Efforts at the stages, each asked once, where the last step's accelerations lead."""
        acc = np.zeros((STAGES, len(self.q)))
        if self._before is not None:
            powers = (1 + C * h / self._last)[:, None] ** np.arange(STAGES)
            acc = powers @ THROUGH @ self._before
        rows = []
        for i in range(STAGES):
            q = self.q + h * C[i] * self.qd + h**2 * TWICE[i] @ acc
            rows.append(self.inputs(float(self._times[i]), q, self.qd + h * A[i] @ acc))
        return np.array(rows)

    def _seam_error(self, h: float, before: Array | None) -> float:
        """Speeds that the polynomials of two steps disagree about, over those allowed; -1: unknown.

        Measured by kinetic energy, that of the joints and that of the links each by itself.
        """
        M = self.mass
        k = self.k
        speeds = _energy_norms(M, k, self.qd)
        self._speeds = np.maximum(FADES * self._speeds, speeds)
        if before is None:
            return -1.0
        assert self._before is not None
        # The values at the seam: of this step at its start, of the last one at its end
        gap = AT_START @ self._before - AT_END @ before
        share = 2 * h**STAGES / (h**STAGES + self._saved[1] ** STAGES)
        allowed = np.maximum(self._speeds, h * _energy_norms(M, k, AT_START @ self._before))
        allowed = np.maximum(allowed, RIGID_PART * allowed[0]) + STILL
        return float((h * share * _energy_norms(M, k, gap) / allowed).max() / self.seam)


def _energy_norms(M: Array, joints: int, v: Array) -> Array:
    """Roots of v' M v of the joints and of the links, root of J (twice the kinetic energy)."""
    of_joints = v[:joints]
    of_links = v[joints:]
    joint_energy = abs(of_joints @ M[:joints, :joints] @ of_joints)
    link_energy = abs(of_links @ M[joints:, joints:] @ of_links)
    return np.sqrt([joint_energy, link_energy])
