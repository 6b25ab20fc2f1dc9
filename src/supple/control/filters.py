"""Commands made calmer without impulses: filters, and durations at which a time law leaves least.

A low-pass w^2 / (s^2 + 2 zeta w s + w^2) takes what is fast out of a command; a notch
(s^2 + 2 zeta w s + w^2) / (s + w)^2 has its zeros on the poles of a mode, so that the mode is not
excited at all. Both pass a standing command as it is and run longer than it. What a time law s(t/T)
leaves in a mode is |int s'' exp((zeta w + i w_d)(t - T)) dt| / w_d, a function of T that has zeros
or minima.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked, number, one_of, whole_number
from ..errors import SuppleError
from .trajectories import LAWS

__all__ = ["CalmDuration", "calm_durations", "filtered"]

Array = NDArray[np.float64]
CALM = 1e-6  # of the move: where a filtered command has come to its end
A_RATIO = number(0, 1, give="a damping ratio from 0 to 1")
HERTZ = number(1e-6, 1e7, unit="of Hz")


class CalmDuration(NamedTuple):
    """Duration of a move by a time law, and the vibration that remains after it.

    Parameters
    ----------
    time : float
        Duration, s.
    left : float
        Remaining amplitude, as a fraction of the move.
    """

    time: float
    left: float


@checked
def filtered(
    samples: ArrayLike,
    rate: Annotated[float, HERTZ],
    kind: Literal["low-pass", "notch"] = "notch",
    frequency_hz: Annotated[float, HERTZ] = 10.0,
    damping_ratio: Annotated[float, A_RATIO] | None = None,
) -> Array:
    """Pass samples of a command through a notch or a low-pass filter.

    Parameters
    ----------
    samples : array_like
        Positions, (N,) or (N, joints).
    rate : float
        Samples per second.
    kind : {"notch", "low-pass"}
        A notch at the frequency and damping ratio of a mode, or a second-order low-pass with this
        corner.
    frequency_hz : float
        Frequency of the mode or corner, Hz.
    damping_ratio : float, optional
        Default: 0 for the notch, 1 for the low-pass.

    Returns
    -------
    ndarray
        Filtered samples; more rows than before, until the filter has settled.

    Notes
    -----
    The filter acts exactly on the straight lines between the samples.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> ramp = np.linspace(0.0, 1.0, 100)
    >>> bool(abs(supple.filtered(ramp, 1000, "low-pass", 20.0)[-1] - 1) < 1e-3)
    True
    """
    from scipy.signal import cont2discrete, dlsim

    try:
        x = np.asarray(samples, float)
    except (OverflowError, TypeError, ValueError):
        x = np.empty(0)
    if x.ndim not in (1, 2) or len(x) < 2 or not x.size or not np.isfinite(x).all():
        raise SuppleError("samples: give positions (N,) or (N, joints), finite numbers")
    if frequency_hz >= rate / 2:
        raise SuppleError(
            f"frequency_hz is {frequency_hz:g}: at {rate:g} samples per second it must be below "
            f"{rate / 2:g}"
        )
    w = 2 * np.pi * frequency_hz
    if kind == "notch":
        above = [1.0, 2 * (damping_ratio or 0.0) * w, w * w]
        below = [1.0, 2 * w, w * w]
    else:
        ratio = 1.0 if damping_ratio is None else damping_ratio
        if not ratio:
            raise SuppleError("a low-pass without damping never ends: give a damping_ratio above 0")
        above = [w * w]
        below = [1.0, 2 * ratio * w, w * w]
    slowest = -float(np.roots(below).real.max())
    tail = int(min(np.ceil(rate * np.log(1e3 / CALM) / slowest), 1e18))
    if tail > 10**7:
        raise SuppleError(
            f"frequency_hz is {frequency_hz:g}: this filter would run for {tail / rate:.3g} s at "
            f"{rate:g} samples per second; give a higher frequency, more damping or a lower rate"
        )
    columns = x.reshape(len(x), -1)
    moved = np.concatenate([columns, np.repeat(columns[-1:], tail, axis=0)]) - columns[0]
    num, den, step = cont2discrete((above, below), 1 / rate, method="foh")
    y = np.stack([dlsim((num, den, step), column)[1][:, 0] for column in moved.T], axis=1)
    off = np.abs(y - moved[-1]).max(axis=1) > CALM * max(float(np.abs(moved).max()), 1e-300)
    stop = max(len(x), int(np.flatnonzero(off).max(initial=0)) + 2)
    y = y[: min(stop, len(y))]
    y[-1] = moved[-1]
    return np.asarray((y + columns[0]).reshape(len(y), *x.shape[1:]))


@checked
def calm_durations(
    law: Annotated[str, one_of(*LAWS)],
    frequency_hz: ArrayLike,
    damping_ratio: Annotated[float, A_RATIO] = 0.0,
    count: Annotated[int, whole_number(1, 100)] = 3,
    shortest: Annotated[float, number(0, unit="of seconds")] = 0.0,
) -> list[CalmDuration]:
    """Durations of a move at which a time law excites given modes least.

    Parameters
    ----------
    law : {"cubic", "quintic", "septic"}
        Time law, as for `PointToPoint`.
    frequency_hz : float or array_like
        Frequencies of the modes, Hz. With several the worst one counts.
    damping_ratio : float
        Damping ratio of the modes.
    count : int
        Number of durations.
    shortest : float
        Smallest duration to consider, s.

    Returns
    -------
    list of CalmDuration
        The first `count` durations, each with the amplitude `left` in the worst mode as a fraction
        of the move.

    Examples
    --------
    >>> import supple
    >>> [round(found.time, 3) for found in supple.calm_durations("septic", 7.2)]
    [0.309, 0.461, 0.606]
    """
    from scipy.optimize import minimize_scalar

    hertz = np.atleast_1d(np.asarray(frequency_hz, float))
    if (
        hertz.ndim != 1
        or not hertz.size
        or not (hertz >= 1e-6).all()
        or not np.isfinite(hertz).all()
    ):
        raise SuppleError(
            f"frequency_hz is {frequency_hz!r:.60}: give frequencies in Hz, above 0 (1e-6 at least)"
        )
    if damping_ratio >= 1:
        raise SuppleError("damping_ratio is 1 or more: such a mode does not vibrate")
    low = float(hertz.min())
    high = float(hertz.max())
    if high > 1e3 * low or shortest * high > 1e3:
        raise SuppleError(
            "modes a thousand times apart, or a move of a thousand periods: give modes and a "
            "shortest duration that belong together"
        )

    left = partial(_worst_residual, law, hertz, damping_ratio)
    found: list[CalmDuration] = []
    step = 0.05 / high
    T = max(shortest, 0.5 / low)
    values = [left(T), left(T + step)]
    while len(found) < count and T * low < count + 50:
        T += step
        values.append(left(T + step))
        if values[-3] >= values[-2] <= values[-1]:
            best = minimize_scalar(
                left, bounds=(T - step, T + step), method="bounded", options={"xatol": 1e-10 * T}
            )
            found.append(CalmDuration(float(best.x), float(best.fun)))
    if not found:
        raise SuppleError(f"the {law} law has no calm duration for these modes: shape the command")
    return found


def _worst_residual(law: str, hertz: Array, damping_ratio: float, T: float) -> float:
    """What a time law of duration T leaves in the worst of some modes, a part of the move."""
    nodes, weights = np.polynomial.legendre.leggauss(24 + int(2 * hertz.max() * T))
    tau = (nodes + 1) / 2
    w = 2 * np.pi * hertz
    w_d = w * np.sqrt(1 - damping_ratio**2)
    wave = np.exp(np.outer(damping_ratio * w + 1j * w_d, T * (tau - 1)))
    rise = LAWS[law].deriv(2)(tau)
    return float((np.abs(wave @ (weights / 2 * rise)) / (w_d * T)).max())
