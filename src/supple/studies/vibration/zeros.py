"""Zeros of a transfer function of beams: all of them inside a circle, counted.

det [[K, b], [c', 0]] is analytic in lambda = s^2 within the band of a FrequencySystem. Its zeros on
the real axis are bracketed by its sign; how many there are inside the circle is counted by its
phase along it, and those off the axis are found by Newton's method until the count is met.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError

__all__ = ["zeros_within"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
ZERO_RADIUS = 1e-10  # of the circle: what lies inside this smaller one is zero
GRIDS = (200, 1600)  # points between which zeros on the real axis are looked for
SAME_AS_POLE = 1e-7  # relative distance below which a zero and a pole are one
Determinant = Callable[[Complex], tuple[Complex, Array]]  # phase and logarithm of the size


def zeros_within(determinant: Determinant, top: float, poles: Array, rigid: int) -> Complex:
    """Return lambda of every zero with |lambda| <= top^2, sorted by size, complex.

    poles: lambda of the elastic poles; rigid: how many poles there are at zero. A zero of the
    determinant that is a pole too belongs to a mode that the path does not see, and is none.
    """
    # How many there are, at zero and elsewhere
    radius = top**2 * (1 + 1e-9)
    core = ZERO_RADIUS * radius
    zeros_at_zero = _winding(determinant, core)
    wanted = _winding(determinant, radius) - zeros_at_zero

    found: list[complex] = []
    for points in GRIDS:
        found = [complex(value) for value in _on_real_axis(determinant, core, radius, points)]
        if len(found) >= wanted:
            break
    if len(found) < wanted:
        known = [*found, *[0j] * zeros_at_zero]
        found += _off_axis(determinant, radius, wanted - len(found), known)

    # A zero on a pole cancels it
    for pole in poles:
        cancelled = [z for z in found if abs(z - pole) <= SAME_AS_POLE * abs(pole)]
        if cancelled:
            found.remove(cancelled[0])
    found += [0j] * max(0, zeros_at_zero - rigid)
    return np.array(sorted(found, key=abs), complex)


def _on_real_axis(determinant: Determinant, core: float, radius: float, points: int) -> Array:
    """Zeros on the real axis outside the core: sign changes on a grid even in omega, refined."""
    grid_side = np.linspace(np.sqrt(core / radius), 1, points) ** 2 * radius
    brackets = []
    for grid in (grid_side, -grid_side):
        sign = np.sign(determinant(grid.astype(complex))[0].real)
        at = np.flatnonzero(sign[1:] * sign[:-1] < 0)
        brackets.append(np.stack([grid[at], grid[at + 1]]))
    a, b = np.concatenate(brackets, axis=1)
    if not len(a):
        return np.asarray(a)

    # The Illinois method, all brackets together: false position in which the end that stays
    # counts half
    phase, reference = determinant(a.astype(complex))
    fa = phase.real.copy()
    fb = _real(determinant, b, reference)
    for _ in range(80):
        x = b - fb * (b - a) / (fb - fa)
        fx = _real(determinant, x, reference)
        crossed = fx * fb < 0
        a = np.where(crossed, b, a)
        fa = np.where(crossed, fb, fa / 2)
        done = np.abs(x - b) <= 1e-14 * np.abs(x)
        b = x
        fb = np.where(fx == 0, 1e-300 * np.sign(fb), fx)
        if done.all():
            break
    return np.asarray(b)


def _winding(determinant: Determinant, radius: float) -> int:
    """Zeros inside the circle: turns of the determinant's phase along it."""
    angle = np.linspace(0, np.pi, 65)  # the other half is its mirror image
    phase = determinant(radius * np.exp(1j * angle))[0]
    for _ in range(40):
        steps = np.abs(np.angle(phase[1:] / phase[:-1]))
        wide = np.flatnonzero(steps > 0.7)
        if not len(wide):
            return round(float(np.angle(phase[1:] / phase[:-1]).sum()) / np.pi)
        middle = (angle[wide] + angle[wide + 1]) / 2
        angle = np.insert(angle, wide + 1, middle)
        phase = np.insert(phase, wide + 1, determinant(radius * np.exp(1j * middle))[0])
    raise SuppleError("a zero lies on the edge of the band: ask up to another frequency")


def _real(determinant: Determinant, x: Array, reference: Array) -> Array:
    """The determinant on the real axis beside its size at a reference point."""
    phase, size = determinant(x.astype(complex))
    return np.asarray(phase.real * np.exp(np.minimum(size - reference, 600.0)))


def _off_axis(
    determinant: Determinant, radius: float, wanted: int, known: list[complex]
) -> list[complex]:
    """Zeros off the real axis, by Newton's method with the known ones divided out."""
    rng = np.random.default_rng(20110)
    found: list[complex] = []
    for _ in range(60):
        x = radius * np.sqrt(rng.random()) * np.exp(1j * np.pi * rng.random())
        for _ in range(60):
            h = 1e-6 * max(abs(x), 1e-6 * radius)
            phase, size = determinant(np.array([x - h, x, x + h]))
            value = phase * np.exp(size - size[1])
            slope = (value[2] - value[0]) / (2 * h) / value[1]
            slope -= sum(1 / (x - other) for other in (*known, *found))
            step = 1 / slope
            x -= step
            if abs(x) > 2 * radius or abs(step) < 1e-13 * abs(x):
                break
        if abs(x) <= radius and abs(step) < 1e-9 * abs(x):
            found += [x] if abs(x.imag) < 1e-9 * abs(x) else [x, x.conjugate()]
        if len(found) >= wanted:
            return found
    raise SuppleError(
        f"{wanted - len(found)} zeros off the axes were counted but not found: ask up to a lower "
        "frequency"
    )
