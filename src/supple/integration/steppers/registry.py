"""Every stepper by name, and the one that fits a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..inputs import Feedback
from ..plan import RunPlan
from ..spectrum import Spectrum
from .gauss import Gauss
from .generalised_alpha import GeneralisedAlpha
from .magnus import Magnus
from .multistep import Adams, BackwardDifferences
from .rk4 import MAX_PHASE_OF_MAIN_MODE, RungeKutta4, on_tape
from .stepper import Stepper

__all__ = ["STEPPERS", "choose"]

Array = NDArray[np.float64]
STEPPERS: dict[str, Stepper] = {
    kind.name: kind
    for kind in (
        RungeKutta4(),
        Adams(),
        BackwardDifferences(),
        GeneralisedAlpha(),
        Gauss(),
        Magnus(),
    )
}
STIFFNESS_RATIO = (
    20  # times as many steps for stability as for accuracy, and rk4 is the wrong method
)
MAX_STEPS_PER_SECOND = 2e4  # steps a second that rk4 may take whatever they are for
MAX_TAPED_STEPS_PER_SECOND = (
    1e5  # the same on a tape, where bdf takes ten times as long for what it asks of a step
)
FINE = RungeKutta4(0.2)  # follows the start of what stability alone would let it step over


def choose(plan: RunPlan, x: Array, spectrum: Spectrum) -> Stepper:
    """Return the stepper for a plan: exponentials where they apply, rk4 unless that is stiff.

    Where loops are closed an evaluation is dear and gauss asks for the fewest, and so is a Python
    function of the state. A run is stiff when stability asks for many more steps than the rates
    that are excited. Then it goes to bdf, unless a tape takes those steps in less time.
    """
    magnus = STEPPERS["magnus"]
    rk4 = STEPPERS["rk4"]
    if plan.controller is not None and not magnus.refusal(plan, x):
        return magnus
    dear = plan.model.functions.iterates or isinstance(plan.tau, Feedback)
    if dear and not STEPPERS["gauss"].refusal(plan, x):
        return STEPPERS["gauss"]
    wanted = rk4.own_step(plan, spectrum)
    calm = replace(spectrum, poles=np.zeros(0, complex))
    longest_step = MAX_PHASE_OF_MAIN_MODE / spectrum.excited if spectrum.excited else np.inf
    accurate = min(rk4.own_step(plan, calm), longest_step, float(plan.grid[-1] - plan.grid[0]) / 50)
    if 1 / wanted <= max(MAX_STEPS_PER_SECOND, STIFFNESS_RATIO / accurate):
        return rk4
    if isinstance(plan.tau, Feedback):
        return STEPPERS["rk4" if plan.model.reading.carries_roots else "generalised-alpha"]
    return FINE if on_tape(plan) and 1 / wanted <= MAX_TAPED_STEPS_PER_SECOND else STEPPERS["bdf"]
