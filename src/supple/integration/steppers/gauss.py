"""Gauss's collocation for a Model: implicit steps of twelfth order that damp nothing.

With nodes c, weights b and coefficients a of six stages, stage accelerations A_i satisfy
    r(q + c_i h v + h^2 sum (a a)_ij A_j, v + h sum a_ij A_j, A_i) = 0
and carry a step by q_1 = q + h v + h^2 sum (b a)_j A_j, v_1 = v + h sum b_j A_j. A mode that turns
by phi in a step keeps its amplitude and is 1.74e-13 phi^12 slow; modes much faster than the step
stay as small as they are. Nothing is read at the ends of a step, so that inputs may jump there.

Source: [Hairer2006], II.1.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ..inputs import Feedback, StoppedError
from ..plan import Chunk, RunPlan
from ..spectrum import Spectrum
from .collocated import STAGES, USUAL, C, CollocationSteps
from .law_steps import follow_law
from .stepper import Stepper

__all__ = ["Gauss"]

Array = NDArray[np.float64]
MAX_PHASE_PER_STEP = 4.2  # rad of the fastest rate excited in a step: 5e-6 of a rad is lost in one
SAMPLES_PER_BLOCK = 64  # samples whose inputs are read at once
SAMPLES_PER_CHUNK = 16  # samples that are looked at together: dead points, faults, limits
MIN_STEPS_PER_PIECE = 4  # steps between two switches of the input


class Gauss(Stepper):
    """Implicit steps of twelfth order without damping; under Decoupling on its path joints are led.

    The matrix of Newton's method is kept from step to step as long as it leads there quickly.
    """

    name = "gauss"
    order = 2 * STAGES
    late = math.factorial(STAGES) ** 2 / (math.factorial(order) * math.factorial(order + 1))
    takes = frozenset({"data", "function", "controller", "wrench", "loops"})

    def own_step(self, plan: RunPlan, spectrum: Spectrum) -> float:
        """Return PHASE rad of the fastest rate excited, less where a finer tolerance is asked."""
        step = plan.piece / MIN_STEPS_PER_PIECE
        phase = MAX_PHASE_PER_STEP * min(1.0, plan.tolerance / USUAL) ** (1 / self.order)
        return min(step, phase / spectrum.excited) if spectrum.excited else step

    def refusal(self, plan: RunPlan, x: Array) -> str:
        """Return what keeps it from a plan: a law that is sampled, or what `takes` leaves out."""
        if plan.drive is not None:
            return "takes no sampled law"
        return super().refusal(plan, x)

    def run(self, plan: RunPlan, x: Array, step: float) -> Iterator[Chunk]:
        """Yield states, some at once: what looks at each chunk of them costs as much as steps."""
        if isinstance(plan.tau, Feedback):
            yield from follow_law(plan, plan.tau, x, step)
            return
        n = plan.model.size
        system = CollocationSteps(plan, x)
        q = x[:n].copy()
        qd = x[n : 2 * n].copy()
        work = float(x[2 * n])
        edges = [*plan.starts, len(plan.grid) - 1]
        for first, last in pairwise(edges):
            system.forget()
            for a in range(first, last, SAMPLES_PER_BLOCK):
                ends = plan.grid[a : min(a + SAMPLES_PER_BLOCK, last) + 1]
                counts = np.maximum(1, np.ceil(np.diff(ends) / step - 1e-9)).astype(int)
                h = np.repeat(np.diff(ends) / counts, counts)
                t = ends[0] + np.concatenate([[0.0], np.cumsum(h)[:-1]])
                at = t[:, None] + h[:, None] * np.append(C, 1 - 1e-9)
                u = plan.inputs(at.ravel()).reshape(len(t), STAGES + 1, -1)
                done = np.cumsum(counts) - 1
                states: list[Array] = []
                place = a + 1  # of the first of these states
                for k in range(len(t)):
                    try:
                        q, qd, power = system.step(float(t[k]), float(h[k]), (q, qd), u[k])
                    except (StoppedError, SuppleError):
                        if states:  # who catches it goes on from the last of them
                            yield Chunk(place, np.array(states))
                        raise
                    work += power
                    if k == done[0]:
                        done = done[1:]
                        states.append(np.concatenate([q, qd, [work], system.near]))
                    if states and (len(states) == SAMPLES_PER_CHUNK or not len(done)):
                        yield Chunk(place, np.array(states))
                        place += len(states)
                        states = []
