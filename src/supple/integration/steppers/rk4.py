"""rk4: the classical fourth-order Runge-Kutta method, with steps that follow the motion.

One step turns a mode by z = lambda h and multiplies it by R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24. On
the imaginary axis |R|^2 = 1 - phi^6/72 + ..: of a mode's energy phi^5/72 is lost in a radian.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...control.controllers import Controller
from ...equations.chain_functions import ChainFunctions
from ...equations.evaluate import compile_function, view
from ...kernels.tape import Tape, tape_of_function
from ..inputs import Feedback
from ..plan import Chunk, RunPlan
from ..spectrum import Spectrum
from .functions import follow_function
from .samples import follow_samples
from .stepper import Stepper

__all__ = ["RungeKutta4", "on_tape", "stable_step"]

Array = NDArray[np.float64]
STEPS_PER_CHUNK = 1000  # steps between two looks at what came out
STEPS_PER_CHUNK_WITH_CLOSURES = 32  # the same where one step solves closures
MAX_ENERGY_LOSS = 1e-4  # of the energy of the fastest mode excited, in a run
MAX_PHASE_OF_MAIN_MODE = 0.2  # rad in a step of a mode that is all of the motion
MAX_PHASE_OF_ANY_MODE = 0.5  # rad in a step of any mode that is excited
REFERENCE_PHASE = 40 * np.pi  # rad of a mode, 20 periods, over which the state is asked for
MIN_STEPS_PER_PIECE = 16  # steps between two switches of a motion wanted
MIN_STEPS_OF_FUNCTION_RUN = (
    1000  # steps of a run in which a Python function of the state may do what it likes
)


class RungeKutta4(Stepper):
    """Explicit steps of fourth order, as in [DeLuca1991].

    Without a wrench, and under laws that tapes know, they are carried out in end coordinates, a
    constant linear change that the method does not notice.
    """

    name = "rk4"
    order = 4
    takes = frozenset({"data", "function", "controller", "wrench", "beta", "loops", "memory"})

    def __init__(self, part: float = 0.8) -> None:
        self.part = part  # of the longest stable step

    def own_step(self, plan: RunPlan, spectrum: Spectrum) -> float:
        """Return h with sum of share_j N_j (omega_j h)^5 / 72 = LOST, or what stability allows.

        Mode j turns by N_j rad in the run and has a share of the energy. It is late by phi^4 / 120
        in a radian and has a weight w_j in the state: the root of the sum of
        (w_j N_j phi_j^4)^2, N_j up to WATCHED, is at most WATCHED LONGEST^4.
        """
        duration = float(plan.grid[-1] - plan.grid[0])
        step = stable_step(spectrum.poles) * self.part
        if spectrum.excited:
            rate, turned, share, weight = spectrum.mode_table(duration).T
            lost = float((share * np.maximum(turned, 1.0) * rate**5).sum()) / 72
            late = float(np.linalg.norm(weight * np.clip(turned, 1.0, REFERENCE_PHASE) * rate**4))
            followed = MAX_PHASE_OF_MAIN_MODE * (REFERENCE_PHASE / late) ** 0.25
            step = min(
                step,
                MAX_PHASE_OF_ANY_MODE / spectrum.excited,
                followed,
                (MAX_ENERGY_LOSS / lost) ** 0.2,
            )
        if plan.controller is not None:
            step = min(step, plan.piece / MIN_STEPS_PER_PIECE)
        if isinstance(plan.tau, Feedback) and plan.drive is None:
            step = min(step, duration / MIN_STEPS_OF_FUNCTION_RUN)
        return step

    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield the states at the samples; inputs act a hair inside each step, from their side."""
        if isinstance(plan.tau, Feedback) and plan.drive is None:
            yield from follow_function(plan, plan.tau, x, step)
            return
        n = plan.model.size
        width = plan.width
        grid = plan.grid
        one, ends = _make_step(plan)
        T = np.eye(len(x))
        if ends:
            T[:n, :n] = T[n : 2 * n, n : 2 * n] = plan.model.functions.ends()
        back = np.asarray(np.linalg.inv(T).T, float)
        x = T @ x
        if plan.drive is not None:
            yield from follow_samples(plan, plan.drive, x, step, (one.run, back))
            return
        each = np.full(len(grid), step)
        if plan.course is not None:  # longer where the rates are lower
            each = step / np.interp(grid, *plan.course)
        longest = np.minimum(each[1:], each[:-1])
        counts = np.maximum(1, np.ceil(np.diff(grid) / longest - 1e-9)).astype(np.int64)
        last = np.cumsum(counts)
        size = int(min(STEPS_PER_CHUNK if one.cheap else STEPS_PER_CHUNK_WITH_CLOSURES, last[-1]))
        done = 0
        for a in range(0, int(last[-1]), size):
            # steps of length zero fill the last chunk: they change nothing
            place = np.arange(a, a + size)
            i = np.minimum(np.searchsorted(last, place, "right"), len(counts) - 1)
            h = np.where(place < last[-1], (np.diff(grid) / counts)[i], 0.0)
            t = grid[i] + (place - last[i] + counts[i]) * h
            at = np.stack([t + 1e-9 * h, t + h / 2, t + (1 - 1e-9) * h], axis=1)
            u = plan.inputs(at.ravel()).reshape(size, 3 * width)
            states = one.run(x, np.concatenate([u, h[:, None]], axis=1))
            x = states[-1]
            here = last[done : int(np.searchsorted(last, a + size, "right"))] - a - 1
            if len(here):
                yield Chunk(done + 1, states[here] @ back)
                done += len(here)


def stable_step(poles: NDArray[np.complex128]) -> float:
    """Return the largest step at which rk4 does not amplify any of these poles.

    |R(lambda h)| <= 1; modes that grow by themselves are left out.
    """
    return _stable_step(np.asarray(poles, complex).tobytes())


@lru_cache(64)
def _stable_step(pole_bytes: bytes) -> float:
    """Find the step of `stable_step` by bisection; a run asks for that of one spectrum often."""
    poles = np.frombuffer(pole_bytes, complex)
    scale = np.abs(poles).max(initial=0.0)
    values = poles[(poles.real <= 1e-7 * scale) & (np.abs(poles) > 1e-7 * scale)]
    if not len(values):
        return float("inf")
    z = values / np.abs(values)
    z = np.minimum(z.real, 0.0) + 1j * z.imag
    low = np.zeros(len(z))
    high = np.full(len(z), 4.0)
    for _ in range(50):
        middle = (low + high) / 2
        w = z * middle
        stable = np.abs(1 + w * (1 + w / 2 * (1 + w / 3 * (1 + w / 4)))) <= 1 + 1e-9
        low = np.where(stable, middle, low)
        high = np.where(stable, high, middle)
    return float((low / np.abs(values)).min())


def on_tape(plan: RunPlan) -> bool:
    """Whether steps of a plan may run on a tape, unless its law needs what tapes do not know.

    A law that gives qdd at less cost than the forward dynamics, or has states, is followed as an
    expression.
    """
    functions = plan.model.functions
    law = plan.controller
    if plan.wrench is not None or plan.compiled or plan.memory or plan.model.reading.carries_roots:
        return False
    own = law is None or type(law).acceleration is Controller.acceleration
    return own and isinstance(functions, ChainFunctions) and functions.uses_tapes


def _make_step(plan: RunPlan) -> tuple[Accumulated | Taped, bool]:
    """The step of a plan, made once for its model and law, and whether x is in end coordinates."""
    model = plan.model
    functions = plan.model.functions
    controller = plan.controller
    if on_tape(plan) and isinstance(functions, ChainFunctions):
        law = None if controller is None else controller.function(model)
        if (rate := functions.rate_in_ends(law)) is not None:
            return Taped(rate), True
    plain = plan.wrench is None and not model.chain.sliding and not functions.iterates
    ends = plain and controller is None

    def make() -> Accumulated | Taped:
        import casadi as ca

        width = plan.width
        if ends:
            # dx/dt = f(x, tau), x = [B q, B qd, work], cheaper than `rate`; see `end_coordinates`
            n = model.size
            joints = model.joints
            A = ca.sparsify(ca.DM(np.linalg.inv(functions.ends())))
            y = functions.symbol("x", 2 * n + 1)
            tau = functions.symbol("u", joints)
            q = y[:n]
            qd = y[n : 2 * n]
            lost = functions.expression("dissipation")(A @ q, A @ qd)
            power = ca.dot(tau, qd[:joints, 0]) - ca.dot(A @ qd, lost)
            qdd = functions.expression("forward_dynamics_ends")(q, qd, tau)
            f = ca.Function("rate", [y, tau], ca.cse([ca.vertcat(qd, qdd, power)]))
        else:
            f = plan.rate()
        if not plan.compiled and f.is_a("SXFunction") and (tape := tape_of_function(f)) is not None:
            return Taped(tape)
        # One step: x, [u(t), u(t + dt/2), u(t + dt), dt] to x
        kind: Any = ca.SX if f.is_a("SXFunction") else ca.MX
        x = kind.sym("x", f.numel_in(0))
        p = kind.sym("p", 3 * width + 1)
        a = p[:width]
        b = p[width : 2 * width]
        c = p[2 * width : 3 * width]
        dt = p[3 * width]
        half = dt / 2
        k1 = f(x, a)
        k2 = f(x + half * k1, b)
        k3 = f(x + half * k2, b)
        k4 = f(x + dt * k3, c)
        step = ca.Function("step", [x, p], ca.cse([x + dt / 6 * (k1 + k4 + 2 * (k2 + k3))]))
        return Accumulated(compile_function(step) if plan.compiled else step, f.is_a("SXFunction"))

    key = ("rk4", ends, plan.width, plan.compiled, controller)
    found: Accumulated | Taped = functions.cached(key, make)
    return found, ends


class Taped:
    """The rate of a state as a tape, stepped by the kernel."""

    cheap = True

    def __init__(self, rate: Tape) -> None:
        self.rate = rate

    def run(self, x: Array, p: Array) -> Array:
        """Return the states (n, len(x)) after each of the n steps with parameters p (n, width)."""
        return self.rate.rk4(x, p)


class Accumulated:
    """A step function carried over many steps in one call; `cheap`: it solves nothing inside."""

    def __init__(self, step: Any, cheap: bool) -> None:
        self.step = step
        self.cheap = cheap
        self._runs: dict[int, tuple[Any, ...]] = {}

    def run(self, x: Array, p: Array) -> Array:
        """Return the states (n, len(x)) after each of the n steps with parameters p (n, width)."""
        n = len(p)
        if n not in self._runs:
            if len(self._runs) > 16:
                self._runs.pop(next(iter(self._runs)))
            function = self.step.mapaccum(n)
            state = np.zeros(len(x))
            given = np.zeros(p.shape)
            out = np.zeros((n, len(x)))
            buffer, call = function.buffer()
            for i, array in enumerate((state, given)):
                buffer.set_arg(i, view(array))
            buffer.set_res(0, view(out))
            self._runs[n] = (state, given, out, call, buffer, function)
        state, given, out, call, *_ = self._runs[n]
        state[:] = x
        given[:] = p
        call()
        result: Array = out.copy()
        return result
