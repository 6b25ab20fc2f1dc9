"""adams and bdf: SUNDIALS CVODES, steps and orders chosen by its own estimate of the error.

A run is made in blocks of samples, each a call over s = 0..1 with its length as a parameter; inputs
in a block are polynomials in s that were compared with the inputs themselves. So one solver serves
every block of a model, whatever its inputs are, and a run can be watched and stopped.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from ..plan import Chunk, RunPlan, StoppedError
from .stepper import Stepper

__all__ = ["Adams", "BackwardDifferences"]

Array = NDArray[np.float64]
BLOCKS = (64, 8, 1)  # samples in one call
SAMPLES_PER_CALL = 8  # samples in one call where loops may run into a dead point
DEGREE = 7  # of the polynomials
FIT_TOLERANCE = 1e-11  # of an input's largest value: how well they meet it between their nodes
SHORTEST_PIECE = 2e-10  # of the run: a piece in which an input jumps
MAX_STEPS_PER_CALL = 20_000  # steps in one call where an evaluation solves equations inside
MAX_STEPS_PER_RADIAN = 200  # steps a rad of the fastest pole: so many lead nowhere
NODES = chebyshev.chebpts1(DEGREE + 1)
BETWEEN = np.cos(np.pi * np.arange(DEGREE + 2) / (DEGREE + 1))
VALUES = chebyshev.chebvander(NODES, DEGREE)
CHECK = chebyshev.chebvander(BETWEEN, DEGREE)


@dataclass
class _Course:
    """What one run knows: sizes of its inputs and states, and how long one call may be, s."""

    scale: Array
    unit: Array
    longest: float = float("inf")


class _Multistep(Stepper):
    """CVODES by one of its two families, restarted at every switch of the input."""

    order = None
    takes = frozenset({"data", "controller", "wrench", "beta", "loops", "memory"})
    iteration: ClassVar[str]

    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield block after block."""
        scale = np.abs(plan.inputs(plan.grid)).max(axis=0, initial=0.0)
        course = _Course(scale, _units(plan, x))
        ends = [*plan.starts[1:], len(plan.grid) - 1]
        for first, last in zip(plan.starts, ends, strict=True):
            a = first
            while a < last:
                for size in BLOCKS:
                    if size > last - a or (
                        size > SAMPLES_PER_CALL and plan.model.functions.iterates
                    ):
                        continue
                    times = (plan.grid[a], plan.grid[a + size])
                    states = self._block(plan, x, times, size, course)
                    if states is not None:
                        yield Chunk(a + 1, states)
                        a = a + size
                        x = states[-1]
                        break

    def _block(
        self, plan: RunPlan, x: Array, times: tuple[float, float], size: int, course: _Course
    ) -> Array | None:
        """States (size, .) at equal parts of a stretch; None: it is too long for one call.

        So it is where no polynomial meets its inputs, or where MOST steps do not reach its end. A
        single sample is cut in halves until it is not, or a jump has no room left.
        """
        (start, end), middle = times, (times[0] + times[1]) / 2
        half = (end - start) / 2 * (1 - 1e-9)  # a hair inside: a switch acts from its own side
        u = plan.inputs(middle + half * np.concatenate([NODES, BETWEEN]))
        course.scale = np.maximum(course.scale, np.abs(u).max(axis=0, initial=0.0))
        series = np.linalg.solve(VALUES, u[: DEGREE + 1])
        off = np.abs(CHECK @ series - u[DEGREE + 1 :]).max(axis=0)
        jumps = bool((off > FIT_TOLERANCE * course.scale).any())
        if jumps and size == 1:
            jumps = end - start > SHORTEST_PIECE * plan.grid[-1]
        found = None
        if not jumps and end - start <= course.longest:
            p = np.concatenate([series.ravel("F"), [end - start], course.unit])
            # CVODES from 0 to 1 with `size` equal parts, made once for a model and a law
            key = ("cvodes", self.name, plan.tolerance, plan.controller, plan.width, size)
            solver: Any = plan.model.functions.cached(key, self._make_integrator, plan, size)
            with _heard() as pressed:
                try:
                    found = np.array(solver(x0=x / course.unit, p=p)["xf"]).T * course.unit
                except (RuntimeError, SystemError) as problem:
                    if pressed:
                        raise KeyboardInterrupt from None
                    much = MAX_STEPS_PER_RADIAN * plan.fastest * (end - start)
                    least = MAX_STEPS_PER_CALL
                    if "TOO_MUCH_WORK" not in str(problem) or much < least:
                        raise StoppedError(str(problem)) from None
                    course.longest = 0.51 * (end - start)  # later ones are cut
        if found is not None or size > 1:
            return found
        first = self._block(plan, x, (start, middle), 1, course)
        assert first is not None
        return self._block(plan, first[-1], (middle, end), 1, course)

    def _make_integrator(self, plan: RunPlan, size: int) -> Any:
        import casadi as ca

        f = plan.rate()
        symbol = plan.model.functions.symbol
        width = plan.width
        x = symbol("x", f.numel_in(0))
        s = symbol("s", 1)
        inputs = (DEGREE + 1) * width
        p = symbol("p", inputs + 1 + f.numel_in(0))
        z = 2 * s - 1
        length = p[inputs]
        unit = p[inputs + 1 :]
        columns = ca.vertsplit(p[:inputs], DEGREE + 1) if width else []
        u = []
        for column in columns:  # Chebyshev's series at z, by Clenshaw
            first, *series = ca.vertsplit(column)
            b1: Any = 0.0
            b2: Any = 0.0
            for c in reversed(series):
                b1, b2 = c + 2 * z * b1 - b2, b1
            u.append(first + z * b1 - b2)
        options: Any = {
            "linear_multistep_method": self.name,
            "nonlinear_solver_iteration": self.iteration,
            "reltol": plan.tolerance,
            "abstol": plan.tolerance * 1e-2,
            "max_num_steps": MAX_STEPS_PER_CALL if plan.model.functions.iterates else 10_000_000,
            "disable_internal_warnings": True,
            "show_eval_warnings": False,  # steps into a dead point are told by the run itself
        }
        problem = {"x": x, "t": s, "p": p, "ode": length * f(unit * x, ca.vertcat(*u)) / unit}
        parts = (np.arange(1, size + 1) / size).tolist()
        return ca.integrator("run", "cvodes", problem, 0.0, parts, options)


class Adams(_Multistep):
    """Adams-Moulton to order 12 with functional iteration: for motions that are not stiff."""

    name = "adams"
    iteration = "functional"


class BackwardDifferences(_Multistep):
    """Backward differences to order 5 with Newton's iteration: for stiff motions."""

    name = "bdf"
    iteration = "newton"


def _units(plan: RunPlan, x: Array) -> Array:
    """(len(x),) what counts as one of each state: an absolute tolerance is a part of it.

    Elastic coordinates and rates are measured by what the energy put into vibration could make of
    them alone, 2 E = k q^2 = m qd^2, and by their start; joints and what is added up by one.
    """
    model = plan.model
    n = plan.model.size
    k = plan.model.joints
    unit = np.ones(len(x))
    if not plan.energy > 0 or n == k:
        return unit
    stiff = np.abs(np.diag(model.stiffness))[k:]
    heavy = np.diag(model.mass_matrix(x[:n]))[k:]
    with np.errstate(divide="ignore"):
        unit[k:n] = np.sqrt(2 * plan.energy / stiff)
    unit[n + k : 2 * n] = np.sqrt(2 * plan.energy / heavy)
    least = np.maximum(np.abs(x), 1e-9)
    return np.where(np.isfinite(unit), np.clip(unit, least, 1.0), 1.0)


@contextmanager
def _heard() -> Iterator[list[int]]:
    """Collect Ctrl-C while a solver runs, which tells of it as a failure of its own."""
    pressed: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.getsignal(signal.SIGINT)
    if not callable(before):
        yield pressed
        return

    def hear(number: int, frame: Any) -> None:
        pressed.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)
