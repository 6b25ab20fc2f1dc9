"""How far is a closed loop from instability: gain, phase and delay margins at every motor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, instance
from ...control.controllers import Controller
from ...control.sampled import Sampled
from ...equations.model import Model
from .linearize import linearize
from .state_space import StateSpace

__all__ = ["Margins", "margins"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
GRID_POINTS = 2000  # frequencies over the whole band, before those around poles and zeros
NEGLIGIBLE = 1e-9  # a loop gain smaller than this is rounding, and so is a factor
POINTS_AROUND = 61  # frequencies around each pole and zero


@dataclass(frozen=True)
class Margins(Answer):
    """Stability margins of a closed loop, broken at the effort of one motor after another.

    From `supple.margins`. All other loops stay closed. Where the loop is not stable there are
    none, NaN.

    Attributes
    ----------
    joints : tuple of str
        Names of the motors.
    gain_up, gain_down : ndarray
        (joints,) factors on the effort at which the loop begins to oscillate: the smallest above
        one (infinite where there is none) and the largest below one (zero where there is none).
    phase_margin : ndarray
        (joints,) phase that may be lost or gained, rad; pi where the loop gain is never one.
    delay_margin : ndarray
        (joints,) further delay that the effort may have, s; infinite where any may be.
    crossover : ndarray
        (joints,) frequency at which the phase margin is taken, rad/s; NaN where there is none.
    sensitivity_peak : ndarray
        (joints,) largest size of 1 / (1 + L) over all frequencies. Its inverse is the distance of
        the Nyquist curve from -1; below 2 is usual.
    peak_of_all : float
        Largest singular value of the sensitivity of all motors at once.
    stable : bool
        Whether every small motion of the closed loop dies away.
    """

    joints: tuple[str, ...]
    gain_up: Array
    gain_down: Array
    phase_margin: Array
    delay_margin: Array
    crossover: Array
    sensitivity_peak: Array
    peak_of_all: float
    stable: bool

    dims: ClassVar = {
        "gain_up": ("joint",),
        "gain_down": ("joint",),
        "phase_margin": ("joint",),
        "delay_margin": ("joint",),
        "crossover": ("joint",),
        "sensitivity_peak": ("joint",),
    }
    labels: ClassVar = {"joint": "joints"}
    units: ClassVar = {"phase_margin": "rad", "delay_margin": "s", "crossover": "rad/s"}
    table_rows: ClassVar = ("joint",)

    @property
    def phase_margin_deg(self) -> Array:
        """(joints,) phase margins in degrees."""
        return np.asarray(np.degrees(self.phase_margin))


A_CONTROLLER = instance(
    (Controller, Sampled), "a Controller, such as supple.JointPD(100, 10), alone or in Sampled"
)


@checked
def margins(
    model: Model,
    controller: Annotated[Controller | Sampled, A_CONTROLLER],
    q: ArrayLike | None = None,
) -> Margins:
    """Gain, phase and delay margins of a closed loop at every motor.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`. Give a model with more modes, or another payload, than
        the controller was designed for to see how robust it is.
    controller : Controller or Sampled
        The controller; in `Sampled` the margins are those of the loop as a computer closes it.
    q : array_like, optional
        State (size,) or joint coordinates (joints,), as for `linearize`.

    Returns
    -------
    Margins

    Notes
    -----
    An effort d added to motor i makes the controller command u = T d there, with all other loops
    closed. The transfer function of the loop that is broken at this motor is L = -T / (1 + T), and
    its sensitivity 1 / (1 + L) = 1 + T. Frequencies at which L is real or of size one are found on
    a grid that is dense around all poles and zeros, then refined.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> found = supple.margins(model, supple.Sampled(supple.JointPD(10, 2), period=2e-3), [0, 0])
    >>> bool((found.gain_up > 1).all())
    True
    """
    loop = linearize(model, q, outputs=["efforts"], inputs=["tau"], controller=controller)
    joints = tuple(model.chain.motors)
    k = len(joints)
    if not loop.stable:
        none = np.full(k, np.nan)
        return Margins(joints, none, none, none, none, none, none, float("nan"), False)
    frequencies = _frequency_grid(loop)
    T = loop.transfer(1j * frequencies)  # (frequencies, joints, joints)

    def largest_sensitivity(omega: float) -> float:
        return float(np.linalg.norm(np.eye(k) + loop.transfer(1j * omega), ord=2))

    sizes = np.linalg.norm(np.eye(k) + T, ord=2, axis=(1, 2))
    peak_of_all = _peak(largest_sensitivity, frequencies, sizes)
    found = []
    for i in range(k):
        alone = StateSpace(
            loop.A,
            loop.B[:, i : i + 1],
            loop.C[i : i + 1],
            loop.D[i : i + 1, i : i + 1],
            loop.states,
            loop.inputs[i : i + 1],
            loop.outputs[i : i + 1],
            loop.q,
            loop.qd,
            loop.tau,
            loop.period,
        )
        found.append(_of_one_loop(alone, frequencies, T[:, i, i]))
    up, down, phase, delay, crossover, peaks = (np.array(each) for each in zip(*found, strict=True))
    return Margins(joints, up, down, phase, delay, crossover, peaks, peak_of_all, True)


def _frequency_grid(loop: StateSpace) -> Array:
    """Return frequencies (rad/s) that resolve every pole of the closed loop and of open ones.

    The loop that is broken at one motor has its own poles, those of A - B C where 1 + T = 0.
    """
    rates: list[Any] = [loop.poles]
    for i in range(len(loop.inputs)):
        opened = loop.A - np.outer(loop.B[:, i], loop.C[i])
        values = np.linalg.eigvals(opened).astype(complex)
        if loop.period is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log(values) / loop.period
        rates.append(values)
    poles = np.concatenate(rates)
    poles = poles[np.isfinite(poles)]
    sizes = np.abs(poles)[np.abs(poles) > 1e-9 * np.abs(poles).max(initial=0.0)]
    low = sizes.min(initial=1.0) / 100
    high = 100 * sizes.max(initial=1.0) if loop.period is None else np.pi / loop.period
    grid: list[Any] = [np.geomspace(low, high, GRID_POINTS), [high]]
    spread = np.tan(np.linspace(-1.5, 1.5, POINTS_AROUND))  # dense near a resonance, wide beside it
    for pole in poles[poles.imag > 0]:
        width = max(abs(pole.real), 1e-9 * abs(pole))
        grid.append(pole.imag + width * spread)
    frequencies: Array = np.unique(np.concatenate(grid))
    return np.asarray(frequencies[(frequencies >= low) & (frequencies <= high)])


def _of_one_loop(
    loop: StateSpace, frequencies: Array, T: Complex
) -> tuple[float, float, float, float, float, float]:
    """Return what `Margins` has of one motor, in its order.

    `loop` is from an added effort to the commanded one, T its values at the frequencies.
    """

    def broken(omega: float) -> complex:
        value = complex(loop.transfer(1j * omega)[0, 0])
        return -value / (1 + value)

    with np.errstate(divide="ignore", invalid="ignore"):
        L = -T / (1 + T)

    # A real and negative L is made -1 by the factor -1 / L
    at_ends = [L[-1]] if loop.period is not None else []
    crossings = [broken(w) for w in _roots(lambda w: broken(w).imag, frequencies, L.imag)]
    real = [value.real for value in [*crossings, *at_ends] if value.real < 0]
    factors = np.array([-1 / value for value in real])
    factors = factors[(factors > NEGLIGIBLE) & (factors < 1 / NEGLIGIBLE)]
    up = float(factors[factors > 1].min(initial=np.inf))
    down = float(factors[factors < 1].max(initial=0.0))

    def sensitivity(omega: float) -> float:
        return float(abs(1 + loop.transfer(1j * omega)[0, 0]))

    peak = _peak(sensitivity, frequencies, np.abs(1 + T))

    # Where |L| is one, the angle from -1 is what phase may be lost or gained
    with np.errstate(divide="ignore"):
        size = np.log(np.abs(L))
    unit = _roots(lambda w: float(np.log(abs(broken(w)))), frequencies, size)
    if not unit:
        return up, down, float(np.pi), float("inf"), float("nan"), peak
    angles = np.array([np.angle(-broken(w)) for w in unit])
    nearest = int(np.argmin(np.abs(angles)))
    delay = float((np.mod(angles, 2 * np.pi) / np.array(unit)).min())
    return up, down, float(abs(angles[nearest])), delay, float(unit[nearest]), peak


def _peak(function: Callable[[float], float], grid: Array, values: Array) -> float:
    """Return the largest value of a function, refined between the neighbours of the largest."""
    from scipy.optimize import minimize_scalar

    k = int(np.argmax(values))
    low = float(grid[max(k - 1, 0)])
    high = float(grid[min(k + 1, len(grid) - 1)])
    found = minimize_scalar(lambda omega: -function(omega), bounds=(low, high), method="bounded")
    return max(float(values[k]), -float(found.fun))


def _roots(function: Callable[[float], float], grid: Array, values: Array) -> list[float]:
    """Return where a function is zero, between neighbours of a grid at which its sign differs."""
    from scipy.optimize import brentq

    finite = np.isfinite(values)
    changes = (np.sign(values[:-1]) * np.sign(values[1:]) < 0) & finite[:-1] & finite[1:]
    roots: list[float] = []
    for k in np.flatnonzero(changes):
        if function(grid[k]) * function(grid[k + 1]) > 0:  # the signs differ by rounding alone
            continue
        roots.append(float(brentq(function, grid[k], grid[k + 1], xtol=1e-14 * grid[k + 1])))
    return roots
