"""Which inputs make outputs follow: a frequency response inverted, frequency by frequency.

About its pose a robot answers linearly, y(omega) = H(omega) u(omega), and u = H^-1 y taken over a
window that is long enough is the bounded one of all inputs that give y: where H has zeros in the
right half plane it begins before the path does. H is exact, so no mode is left out; but its
inverse grows with frequency, near the ends of a move as a chirp, so that a highest frequency is
stated. Source: [Bayo1987].
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...control.trajectories import Trajectory
from ...errors import SuppleError

__all__ = ["inputs_along"]

Array = NDArray[np.float64]
MAX_STEP = 1e-3  # s, at most
MAX_SAMPLES = 200_000  # samples
WINDOW_TOLERANCE = 1e-3  # of the largest input may be left at the ends of a window


def inputs_along(
    H: Callable[[Array], NDArray[np.complex128]],
    path: Trajectory,
    window: tuple[float, float],
    cutoff_hz: float,
) -> tuple[Array, Array]:
    """Return t (N,) and inputs (N, n) with which n outputs follow a path of theirs.

    H: from frequencies (F,) in Hz to (F, n, n), of a robot that is free to move, so that
    -omega^2 H has an inverse at all frequencies. Accelerations of the path are followed, which
    vanish outside it; above half of `cutoff_hz` they fade out like a cosine.
    """
    step = min(MAX_STEP, 0.25 / cutoff_hz)
    count = round((window[1] - window[0]) / step)
    if not 16 <= count <= MAX_SAMPLES:
        raise SuppleError(
            f"window is {window!r}: that is {count} samples, give one of 16 to {MAX_SAMPLES}"
        )

    # The accelerations that are wanted, over the window and over frequency
    t: Array = np.asarray(window[0] + step * np.arange(count), float)
    acceleration = path.at(np.clip(t, 0.0, path.duration))[2]
    within_path = (t >= 0) & (t <= path.duration)
    acceleration = np.where(within_path[:, None], acceleration, 0.0)
    f: Array = np.asarray(np.fft.rfftfreq(count, step), float)
    in_band = (f > 0) & (f <= cutoff_hz)
    fade = np.cos(np.pi / 2 * np.clip(2 * f[in_band] / cutoff_hz - 1, 0, 1)) ** 2
    wanted = fade[:, None] * np.fft.rfft(acceleration, axis=0)[in_band]

    # -omega^2 H u = acceleration, frequency by frequency
    omega = 2 * np.pi * f[in_band]
    acceleration_response = -(omega**2)[:, None, None] * H(f[in_band])
    found = np.zeros((len(f), acceleration.shape[1]), complex)
    found[in_band] = np.linalg.solve(acceleration_response, wanted[..., None])[..., 0]
    inputs = np.fft.irfft(found, count, axis=0)

    # The window is repeated by the transform: inputs must have died out at its ends
    edge = max(1, count // 50)
    left_at_ends = np.abs(np.concatenate([inputs[:edge], inputs[-edge:]])).max()
    if left_at_ends > WINDOW_TOLERANCE * np.abs(inputs).max():
        raise SuppleError(
            f"the inputs do not die out within the window {window!r}: "
            f"{left_at_ends / np.abs(inputs).max():.2g} of the largest is left at its ends; give a "
            "longer window, or damping where zeros lie on the imaginary axis"
        )
    return t, inputs
