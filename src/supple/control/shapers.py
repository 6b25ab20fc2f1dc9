"""Shapers: a few impulses that a command is convolved with, so that chosen modes are not excited.

A mode of circular frequency w and damping ratio zeta, driven by impulses A_i at times t_i, is left
with the residual

    V(w) = exp(-zeta w t_n) |sum A_i exp((zeta + i sqrt(1 - zeta^2)) w t_i)|,

a fraction of what one impulse of the same sum leaves. Kinds are defined by what they ask of V:

    zv, zvd, zvdd       V and its first 0, 1, 2 derivatives vanish at the design frequency
    mzv                 V vanishes there; impulses at 0, 3/8 and 3/4 of the damped period
    ei, 2hump-ei,       V has one, two, three humps of the height `tolerance` about the design
    3hump-ei            frequency, and vanishes between them

Impulses of zv, zvd, zvdd stand half a damped period apart. The undamped ei kinds are closed forms;
damped ones solve the same conditions by Newton, followed from zero damping.

Source: [Singer1990] for zv and zvd, [Singhose1997] for the ei kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable
from ..arguments import checked, number, one_of, reals
from ..errors import SuppleError

__all__ = ["SHAPERS", "Shaper", "shaper"]

Array = NDArray[np.float64]
WIDER = 3  # samples to both sides of an impulse's own two


@dataclass(frozen=True)
class Zero:
    """A pole that a shaper does not excite: frequency, damping ratio, order of the zero."""

    omega: float
    damping_ratio: float
    order: int = 1

    @property
    def exponent(self) -> complex:
        """zeta w + i w_d, the exponent of an impulse's share in the residual."""
        z = self.damping_ratio
        return self.omega * complex(z, math.sqrt(1 - z * z))


@dataclass(frozen=True, eq=False)
class Shaper(Immutable):
    """Impulses with which a command is convolved.

    From `supple.shaper`.

    Attributes
    ----------
    kind : str
        Name; several are joined by a star.
    times, amplitudes : ndarray
        Impulses (n,), s, in order; the amplitudes sum to 1.
    frequency_hz, damping_ratio : float
        Design values; for several modes those of the lowest.
    zeros : tuple
        Poles that the shaper leaves at rest.

    Notes
    -----
    The residual vibration at frequency f is
    exp(-zeta w t_n) abs(sum A_i exp(zeta w t_i + i w_d t_i)), a fraction of the unshaped vibration.

    Examples
    --------
    >>> import supple
    >>> shaper = supple.shaper("zv", frequency_hz=5.0)
    >>> shaper.times, shaper.amplitudes
    (array([0. , 0.1]), array([0.5, 0.5]))
    """

    kind: str
    times: Array
    amplitudes: Array
    frequency_hz: float
    damping_ratio: float
    zeros: tuple[Zero, ...] = ()

    checks: ClassVar = {"times": reals, "amplitudes": reals}

    @property
    def duration(self) -> float:
        """Time of the last impulse, s: how much longer a shaped move takes."""
        return float(self.times[-1])

    def residual(self, frequency_hz: ArrayLike, damping_ratio: float | None = None) -> Array:
        """Return V at frequencies, as a fraction; damping is that of the design unless given."""
        zeta = self.damping_ratio if damping_ratio is None else damping_ratio
        w = 2 * np.pi * np.asarray(frequency_hz, float)
        left = np.exp(np.multiply.outer(zeta * w, self.times - self.duration))
        turned = np.exp(1j * math.sqrt(1 - zeta**2) * np.multiply.outer(w, self.times))
        return np.abs((left * turned) @ self.amplitudes)

    def insensitivity(self, level: float = 0.05) -> float:
        """Return the width of the band about the design with V <= level, over the design frequency.

        The ends are the outermost crossings that can be reached from the design frequency without
        V rising above the level; touching it (as ei kinds do) is no crossing. It ends at ten times
        the design frequency.
        """
        if not 0 < level < 1:
            raise SuppleError(f"level is {level!r}: give a fraction between 0 and 1, such as 0.05")
        from scipy.optimize import brentq

        f0 = self.frequency_hz
        if self.residual(f0) > level * (1 + 1e-9):
            return 0.0
        ends = []
        for stop in (0.0, 10 * f0):
            f = np.linspace(f0, stop, 2000 if stop == 0 else 18000)
            above = np.flatnonzero(self.residual(f) > level * (1 + 1e-9))
            if not len(above):
                ends.append(stop)
                continue
            inner = f[above[0] - 1]
            outer = f[above[0]]
            inside = float(self.residual(inner)) - level
            ends.append(
                brentq(lambda x: float(self.residual(x)) - level, inner, outer, xtol=1e-14 * f0)
                if inside < 0
                else inner
            )
        return float(ends[1] - ends[0]) / f0

    def convolved(self, other: Shaper) -> Shaper:
        """Return the shaper that does both: every impulse of one starts the other."""
        times = np.add.outer(self.times, other.times).ravel()
        amplitudes = np.multiply.outer(self.amplitudes, other.amplitudes).ravel()
        order = np.argsort(times, kind="stable")
        lowest = self if self.frequency_hz <= other.frequency_hz else other
        return Shaper(
            f"{self.kind}*{other.kind}",
            times[order],
            amplitudes[order],
            lowest.frequency_hz,
            lowest.damping_ratio,
            (*self.zeros, *other.zeros),
        )

    def discrete(self, rate: float) -> Array:
        """Return the shaper as coefficients (m,) at a rate in Hz, its zeros kept.

        Each impulse is shared by the two samples about it, in proportion; the smallest change of
        those shares that restores the sum and every zero at its own frequency is then added:
        A' = A + C^+ (d - C A), with C the conditions as rows. Where these samples are too few for
        the conditions, their neighbours take part as well.
        """
        highest = max([self.frequency_hz, *(zero.omega / (2 * math.pi) for zero in self.zeros)])
        if not rate > 2 * highest:
            raise SuppleError(
                f"rate is {rate:g} Hz: it must be above twice the frequency {highest:g} "
                "Hz that is shaped"
            )
        place = self.times * rate
        first = np.floor(place + 1e-9).astype(int)
        share = np.clip(place - first, 0.0, 1.0)
        share[share < 1e-9] = 0.0
        shares = np.zeros(first[-1] + 2 + WIDER)
        np.add.at(shares, first, self.amplitudes * (1 - share))
        np.add.at(shares, first + 1, self.amplitudes * share)
        used = np.flatnonzero(shares)
        for _wider in range(1 + WIDER):
            t = used / rate
            own = shares[used]
            rows = [np.ones(len(t))]
            for zero in self.zeros:
                grown = np.exp(zero.exponent * (t - t[-1]))
                for k in range(zero.order):
                    term = (t / t[-1]) ** k * grown
                    rows += [term.real, term.imag]
            C = np.array(rows)
            wanted = np.eye(len(rows))[0]
            for _ in range(3):  # the second and third time for rounding only
                own = own + np.linalg.lstsq(C, wanted - C @ own, rcond=1e-13)[0]
            open_by = float(np.abs(wanted - C @ own).max())
            if open_by < 1e-9:
                impulses = np.zeros(used[-1] + 1)
                impulses[used] = own
                return impulses
            used = np.unique([used, np.maximum(used - 1, 0), used + 1])
        raise SuppleError(
            f"at {rate:g} Hz the samples are too far apart for this shaper (a condition stays "
            f"open by {open_by:.1e}): sample faster, or choose one with fewer zeros"
        )


def _zv_family(count: int, zeta: float) -> tuple[list[float], list[float], list[float]]:
    """Zv and its derivatives: (1 + K)^-count times the binomials, half a period apart."""
    K = math.exp(-zeta * math.pi / math.sqrt(1 - zeta**2))
    shares = [math.comb(count, i) * K**i / (1 + K) ** count for i in range(count + 1)]
    return [i / 2 for i in range(count + 1)], shares, [1.0]


def _mzv(zeta: float) -> tuple[list[float], list[float], list[float]]:
    """B_i = A_i exp(zeta w t_i) = (1, sqrt 2, 1) c closes a triangle at 0, 135, 270 degrees."""
    times = [0.0, 3 / 8, 3 / 4]
    decay = [math.exp(-2 * math.pi * zeta / math.sqrt(1 - zeta**2) * t) for t in times]
    shares = [b * d for b, d in zip((1.0, math.sqrt(2), 1.0), decay, strict=True)]
    return times, [a / sum(shares) for a in shares], [1.0]


def _undamped_ei(humps: int, V: float) -> tuple[list[float], list[float]]:
    """Amplitudes of the undamped ei kinds, and the frequencies of their zeros over the design's.

    With x = exp(i pi f/f0) the residual is |sum A_k x^k|, so the zeros are those of a polynomial.
    Source: [Singhose1997], closed forms for one, two and three humps.
    """
    if humps == 1:
        A = [(1 + V) / 4, (1 - V) / 2, (1 + V) / 4]
    elif humps == 2:
        X = (V**2 * (math.sqrt(1 - V**2) + 1)) ** (1 / 3)
        first = (3 * X**2 + 2 * X + 3 * V**2) / (16 * X)
        A = [first, 0.5 - first, 0.5 - first, first]
    else:
        first = (1 + 3 * V + 2 * math.sqrt(2 * (V**2 + V))) / 16
        A = [first, (1 - V) / 4, 1 - 2 * first - (1 - V) / 2, (1 - V) / 4, first]
    angles = np.angle(np.roots(A)) % (2 * np.pi)
    return A, sorted((angles / np.pi).tolist())


@lru_cache(maxsize=64)
def _damped_ei(
    humps: int, zeta: float, tolerance: float = 0.05
) -> tuple[list[float], list[float], list[float]]:
    """Times over the damped period, amplitudes, and zeros over the design frequency of an ei kind.

    Unknowns: impulses, frequencies of the zeros and of the side humps. Conditions: amplitudes sum
    to 1, S = 0 at each zero, V = tolerance and dV/dw = 0 at each hump (the middle one of odd kinds
    at the design frequency, where even kinds have a zero).
    """
    from scipy.optimize import fsolve

    A, zeros = _undamped_ei(humps, tolerance)
    n = len(A)
    tops = [(a + b) / 2 for a, b in pairwise(zeros)]
    free_zeros = [z for z in zeros if abs(z - 1) > 1e-9]
    free_tops = [f for f in tops if abs(f - 1) > 1e-9]

    def residual(w: float, t: Array, a: Array, z: float) -> tuple[complex, float]:
        """S at w, design frequency 1 and period 1, scaled by exp(-zeta w t_n); d|S|^2/dw."""
        c = 2 * np.pi * complex(z / math.sqrt(1 - z**2), 1.0)
        part = a * np.exp(c * w * t - c.real * w * t[-1])
        S, dS = part.sum(), (part * (c * t - c.real * t[-1])).sum()
        return S, 2 * (S.conjugate() * dS).real

    def conditions(x: Array, z: float) -> list[float]:
        a, t = x[:n], np.concatenate([[0.0], x[n : 2 * n - 1]])
        at = x[2 * n - 1 :]
        found = [a.sum() - 1]
        conditions_left = [*at[: len(free_zeros)], *([1.0] if humps == 2 else [])]
        for w in conditions_left:
            S, _ = residual(w, t, a, z)
            found += [S.real, S.imag]
        for w in [*at[len(free_zeros) :], *([1.0] if humps != 2 else [])]:
            S, slope = residual(w, t, a, z)
            found += [(abs(S) ** 2 - tolerance**2) / tolerance, slope / tolerance]
        return found

    x = np.array([*A, *(i / 2 for i in range(1, n)), *free_zeros, *free_tops])
    for z in np.linspace(0.0, zeta, 2 + int(zeta / 0.005)):
        x = fsolve(conditions, x, args=(z,), full_output=True, xtol=1e-13)[0]
        worst = float(np.abs(conditions(x, z)).max())
        if worst > 1e-10 or (x[:n] <= 0).any():
            raise SuppleError(
                f"damping_ratio is {zeta:g}: no {humps}-hump shaper was found beyond {z:g}; "
                "use zvd, or a smaller ratio"
            )
    times = [0.0, *x[n : 2 * n - 1]]
    at = [*x[2 * n - 1 : 2 * n - 1 + len(free_zeros)], *([1.0] if humps == 2 else [])]
    return times, x[:n].tolist(), at


# Kind by name: damping ratio to times (damped periods), amplitudes, zeros (design frequencies).
SHAPERS: dict[str, Callable[..., tuple[list[float], list[float], list[float]]]] = {
    "zv": partial(_zv_family, 1),
    "mzv": _mzv,
    "zvd": partial(_zv_family, 2),
    "zvdd": partial(_zv_family, 3),
    "ei": partial(_damped_ei, 1),
    "2hump-ei": partial(_damped_ei, 2),
    "3hump-ei": partial(_damped_ei, 3),
}
ORDERS = {"zvd": 2, "zvdd": 3}


@checked
def shaper(
    kind: Annotated[str, one_of(*SHAPERS)],
    frequency_hz: float | Sequence[float] | None = None,
    damping_ratio: float | Sequence[float] = 0.0,
    *,
    band: tuple[float, float] | None = None,
    tolerance: Annotated[float, number()] = 0.05,
) -> Shaper:
    """Design an input shaper for one mode, for several modes, or for a band of frequencies.

    Parameters
    ----------
    kind : {"zv", "mzv", "zvd", "zvdd", "ei", "2hump-ei", "3hump-ei"}
        Kind of shaper. Later ones are longer and less sensitive to errors of the frequency.
    frequency_hz : float or sequence of float
        Natural (undamped) frequency, Hz. The shapers of several modes are convolved.
    damping_ratio : float or sequence of float
        Damping ratio, one value or one per frequency.
    band : (low, high), optional
        Instead of `frequency_hz`: a band in Hz. The shaper has as many impulses as its kind; their
        amplitudes and spacing minimise the largest residual vibration in the band.
    tolerance : float
        Residual vibration at the humps of the ei kinds, a fraction.

    Returns
    -------
    Shaper
        Impulse `times` (s) and `amplitudes`.

    References
    ----------
    [Singer1990] for zv and zvd, [Singhose1997] for the ei kinds.

    Examples
    --------
    >>> import supple
    >>> shaper = supple.shaper("zvd", frequency_hz=7.2, damping_ratio=0.02)
    >>> shaper.times.round(4)
    array([0.    , 0.0695, 0.1389])
    >>> round(float(shaper.residual(7.9)), 4)  # vibration left if the true frequency is 10 % higher
    0.0216
    """
    if kind not in SHAPERS:
        raise SuppleError(f"shaper is {kind!r}: choose one of {', '.join(SHAPERS)}")
    if (band is None) == (frequency_hz is None):
        raise SuppleError("give frequency_hz, or band=(low, high) in Hz, one of the two")
    if not 0 < tolerance < 0.5:
        raise SuppleError(f"tolerance is {tolerance!r}: give a fraction such as 0.05")
    if band is not None:
        return _for_band(kind, band, _numbers("damping_ratio", damping_ratio, 1)[0])
    frequencies = _numbers("frequency_hz", frequency_hz)
    ratios = _numbers("damping_ratio", damping_ratio, len(frequencies))
    shapers = []
    for hertz, zeta in zip(frequencies, ratios, strict=True):
        damped_period = 1 / (hertz * math.sqrt(1 - zeta**2))
        design = SHAPERS[kind]
        times, amplitudes, at = design(zeta, tolerance) if kind.endswith("ei") else design(zeta)
        omega = 2 * np.pi * hertz
        zeros = tuple(Zero(omega * ratio, zeta, ORDERS.get(kind, 1)) for ratio in at)
        when = np.array(times) * damped_period
        shapers.append(Shaper(kind, when, np.array(amplitudes), hertz, zeta, zeros))
    return reduce(Shaper.convolved, shapers)


def _numbers(name: str, given: object, count: int | None = None) -> list[float]:
    values = np.atleast_1d(reals(name, given))
    if count is not None and len(values) == 1:
        values = np.repeat(values, count)
    ratio = name == "damping_ratio"
    good = (values >= 0) & (values < 1) if ratio else (values > 0) & (values < 1e9)
    if values.ndim != 1 or not good.all() or count not in (None, len(values)) or not len(values):
        wanted = "0 <= ratio < 1" if ratio else "positive frequencies in Hz"
        many = f", one or {count}" if count and count > 1 else ""
        raise SuppleError(f"{name} is {given!r}: give {wanted}{many}")
    return [float(value) for value in values]


def _for_band(kind: str, band: tuple[float, float], zeta: float) -> Shaper:
    """The kind's number of impulses, equally spaced, with the least largest residual in a band.

    Without damping this is [Dolph1946]: half a period of the band's middle apart, S is the
    polynomial T_n(cos(w h / 2) / cos(w_low h / 2)) of Chebyshev, over its value at w = 0. Roots x
    of sum A_k x^k are zeros at s = log(x) / h, kept at any rate as those of other kinds.
    """
    low, high = _numbers("band", band, None) if np.ndim(band) == 1 and len(band) == 2 else (0, 0)
    if not 0 < low < high:
        raise SuppleError(f"band is {band!r}: give (low, high) in Hz, the lower one first")
    n = len(SHAPERS[kind](0.0)[0])
    middle = (low + high) / 2
    spacing = 0.5 / (middle * math.sqrt(1 - zeta**2))
    places = np.cos(np.pi * (np.arange(n - 1) + 0.5) / (n - 1))
    turned = 2 * np.arccos(math.cos(np.pi * low / (low + high)) * places)
    amplitudes = np.poly(np.exp(1j * turned)).real
    if zeta:
        spacing, amplitudes = _least_in_band(n, (low, high), zeta, spacing)
    roots = np.roots(amplitudes[::-1])
    poles = (np.log(np.abs(roots)) + 1j * (np.angle(roots) % (2 * np.pi))) / spacing
    zeros = [Zero(float(abs(s)), float(s.real / abs(s))) for s in poles]
    times = np.arange(n, dtype=float) * spacing
    return Shaper(kind, times, amplitudes / amplitudes.sum(), middle, zeta, tuple(zeros))


def _least_in_band(
    n: int, band: tuple[float, float], zeta: float, usual: float
) -> tuple[float, Array]:
    """Spacing and amplitudes of n impulses with the least largest residual, damped.

    For a given spacing the amplitudes solve a linear program at 201 frequencies: |S| is bounded by
    its projections on 8 directions, then on its own direction where that was too little, until the
    bound is met. The spacing is searched about the usual one.
    """
    from scipy.optimize import linprog, minimize_scalar

    w = 2 * np.pi * np.linspace(*band, 201)
    exponent = complex(zeta, math.sqrt(1 - zeta**2))

    def best(spacing: float) -> tuple[float, Array]:
        t = spacing * np.arange(n)
        S = np.exp(exponent * np.multiply.outer(w, t) - zeta * np.multiply.outer(w, t[-1:]))
        rows = np.real(np.exp(-0.25j * np.pi * np.arange(8))[:, None, None] * S).reshape(-1, n)
        for _ in range(20):
            found = linprog(
                [*np.zeros(n), 1.0],
                A_ub=np.hstack([rows, -np.ones((len(rows), 1))]),
                b_ub=np.zeros(len(rows)),
                A_eq=[[*np.ones(n), 0.0]],
                b_eq=[1.0],
                method="highs",
            )
            if found.status:
                raise SuppleError(f"band {band!r}: no shaper was found ({found.message})")
            left = S @ found.x[:n]
            high = np.abs(left) > found.fun * (1 + 1e-7) + 1e-12
            if not high.any():
                break
            own = left[high].conj() / np.abs(left[high])
            rows = np.vstack([rows, np.real(own[:, None] * S[high])])
        return float(np.abs(left).max()), np.asarray(found.x[:n])

    found = minimize_scalar(
        lambda s: best(s)[0],
        bounds=(0.6 * usual, 1.25 * usual),
        method="bounded",
        options={"xatol": 1e-4 * usual},
    )
    return float(found.x), best(float(found.x))[1]
