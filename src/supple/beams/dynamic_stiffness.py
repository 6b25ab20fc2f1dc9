"""One exact beam at a circular frequency: its stiffness over (u0, d) and its fields along x.

The stiffness and the clamped-clamped count come from the compiled kernel. Fields follow the beam
equations as a state (motion, resultants) carried along x by the matrix exponential; a beam is first
cut into pieces so short that none of them has a natural frequency of its own below omega, so that
nothing grows and nothing is near a resonance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..kernels.roots import beam_stiffness
from .series import cut_places, series_of
from .theory import AnyBeam, Beam
from .varying import VaryingBeam

__all__ = ["carry", "cuts", "exact_form", "numbers", "root_inertia", "with_curves"]

Array = NDArray[np.float64]
MOST_PIECES = 10_000  # of one link


def numbers(beam: AnyBeam) -> Array:
    """Return the beam as a row of `kernels.roots.BeamTree.beams`; of a varying one the middle."""
    return np.asarray(beam.at([beam.L / 2])[0])


def with_curves(rows: Array, beams: Sequence[AnyBeam], top: float | None) -> Array:
    """Return rows of beams with their stiffness in powers of omega^2 behind, where any varies.

    The powers are right up to `top`, rad/s, of beams that are pieces of `cuts` up to there.
    """
    varying = [(i, beam) for i, beam in enumerate(beams) if isinstance(beam, VaryingBeam)]
    if not varying:
        return rows
    if top is None:
        raise SuppleError("a link with stations is counted in pieces, up to a highest frequency")
    curves = {i: series_of(beam).curve(top) for i, beam in varying}
    out = np.zeros((len(rows), 11 + 26 * max(map(len, curves.values()))))
    out[:, :10] = rows
    for i, curve in curves.items():
        out[i, 10], out[i, 11 : 11 + curve.size] = top * top, curve.ravel()
    return out


def cuts(beam: AnyBeam, omega: float) -> Array:
    """Return places from 0 to L between which a beam has no clamped frequency up to omega."""
    if isinstance(beam, VaryingBeam):
        return np.array(cut_places(beam, omega))
    assert isinstance(beam, Beam)
    # equal pieces, each shorter than half a wave
    count = wave_number(beam, omega) * beam.L / (0.9 * math.pi)
    if not count < MOST_PIECES:
        raise SuppleError(
            f"at {omega / (2 * math.pi):.4g} Hz the waves of a link are shorter than "
            f"1/{MOST_PIECES} of it: ask for lower frequencies"
        )
    return np.linspace(0.0, beam.L, 2 + math.floor(count))


def exact_form(beam: AnyBeam, L: float, omega: float) -> Array:
    """Return the dynamic stiffness over (u0, allowed d), (6 + m, 6 + m), of the last L metres.

    A varying beam must be a piece of `cuts`, or at rest.
    """
    if isinstance(beam, VaryingBeam):
        series = series_of(beam.outside(L))
        return series.stiffness(omega * omega) if omega else series.stiffness(0.0, 1)
    keep = np.concatenate([np.ones(6, bool), beam.active()])
    K, _ = beam_stiffness(np.array(numbers(beam)), L, omega)
    form: Array = K[np.ix_(keep, keep)]
    return form


def wave_number(beam: Beam, omega: float) -> float:
    """Return the largest wave number of the beam at omega, 1/m, over all its motions."""
    w2 = omega * omega
    best = [math.sqrt(w2 * beam.m / beam.EA), math.sqrt(w2 * beam.rIp / beam.GJ)]
    for EI, kGA, rI in zip(beam.EI, beam.kGA, beam.rI, strict=True):
        B = w2 * (rI / EI + beam.m / kGA)
        C = w2 * beam.m / EI * (1 - w2 * rI / kGA)
        best.append(math.sqrt((B + math.sqrt(B * B + 4 * C)) / 2))
    return max(best)


def state_matrix(beam: Beam, omega: float) -> Array:
    """Return A (12, 12) of y' = A y, y = (u, v, w, phi_x, psi_y, psi_z, N, Q_y, Q_z, T, M_y, M_z).

    u' = N/EA, v' = psi_z + Q_y/kGA_xy, w' = -psi_y + Q_z/kGA_xz, phi' = T/GJ, psi_y' = M_y/EI_xz,
    psi_z' = M_z/EI_xy; N' = -omega^2 m u and so on; M_z' = -Q_y - omega^2 rI psi_z,
    M_y' = Q_z - omega^2 rI psi_y.
    Source: [DiCastri2011], Eqs. (2), (3).
    """
    w2 = omega * omega
    A = np.zeros((12, 12))
    # displacements and rotations
    A[0, 6] = 1 / beam.EA
    A[1, 5] = 1
    A[1, 7] = 1 / beam.kGA[0]
    A[2, 4] = -1
    A[2, 8] = 1 / beam.kGA[1]
    A[3, 9] = 1 / beam.GJ
    A[4, 10] = 1 / beam.EI[1]
    A[5, 11] = 1 / beam.EI[0]
    # forces and moments
    A[6, 0] = -w2 * beam.m
    A[7, 1] = -w2 * beam.m
    A[8, 2] = -w2 * beam.m
    A[9, 3] = -w2 * beam.rIp
    A[10, 4] = -w2 * beam.rI[1]
    A[10, 8] = 1
    A[11, 5] = -w2 * beam.rI[0]
    A[11, 7] = -1
    return A


def carry(
    beam: AnyBeam, omega: float, x: ArrayLike, state: Array, pull: Array | None = None
) -> Array:
    """Return the states at x, (P, 12), from the state y (12,) at a short piece's root.

    y(x) = exp(A x) y, and with a weight m pull per length (an acceleration, (3,)) its particular
    solution. A varying beam is begun at its own root.
    """
    x = np.asarray(x, float)
    if isinstance(beam, VaryingBeam):
        return series_of(beam).carry(omega, x, state, pull)
    assert isinstance(beam, Beam)
    far = float(np.abs(x).max(initial=0.0)) or 1.0  # its own unit, so that no power overflows
    A = far * state_matrix(beam, omega)
    terms = [state]
    for k in range(1, 30):
        terms.append(A @ terms[-1] / k)
        if k == 1 and pull is not None:
            terms[1][6:9] -= far * beam.m * pull
    powers = (x[:, None] / far) ** np.arange(float(len(terms)))
    states: Array = powers @ np.array(terms)
    return states


def root_inertia(beam: AnyBeam, L: float) -> Array:
    """Return (6, 6 + m): the rows of u0 of the mass of the static shapes over (u0, allowed d).

    The dynamic stiffness of the last L metres begins as K - omega^2 M, and a weight does the work
    M pull. Of a uniform beam, shear or not, the static shapes of an end deformation hold L/2 of a
    displacement and L^2/12 of a rotation.
    """
    if isinstance(beam, VaryingBeam):
        series = series_of(beam.outside(L))
        return np.asarray((series.stiffness(0.0, 1) - series.stiffness(1.0, 2))[:6])
    assert isinstance(beam, Beam)
    W = np.zeros((6, 6))
    W[0, 0] = W[1, 1] = W[2, 2] = L / 2
    W[1, 5] = -(L**2) / 12
    W[2, 4] = L**2 / 12
    return np.hstack([beam.rod(0.0, L), beam.m * W[:, beam.active()]])
