"""Assumed modes: the natural shapes of one link, clamped at its root, loaded at its end.

The strains of a link (curvature and shear of each plane, stretch, twist) are expanded in
orthonormal Legendre polynomials. The stiffness is then diagonal, the root is clamped by
integrating from it, the end load is part of the mass, and the lowest eigenvectors are the shapes
to rounding: clamped-mass shapes of [DeLuca1991] (16)-(22) without a transcendental equation, the
same way for Euler-Bernoulli and Timoshenko beams, for stretch and for twist, with no mode missed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ...errors import SuppleError
from ..shapes import EndLoad, Shapes, joined
from ..theory import Beam

__all__ = ["assumed_shapes", "natural_shapes"]

Array = NDArray[np.float64]
# Rows of `FIELDS` for displacement and rotation of each kind, and the sign of the rotation.
_PLANES = {"xy": (1, 5, 1.0), "xz": (2, 4, -1.0)}


def assumed_shapes(
    beam: Beam, end: EndLoad, count: int, axial: int = 0, torsion: int = 0
) -> Shapes:
    """Return the lowest natural shapes of a link: x-y, x-z, axial, torsion, those it allows.

    Each is normalised so that its modal mass with the end load equals the link's mass, and its
    sign so that the integral of m times the displacement (of the twist in torsion) is positive.

    Source: [DeLuca1991], Eqs. (16)-(22), (30); (30) lacks the end terms.
    """
    parts = [_bending(beam, end, plane, count) for plane in (0, 1) if math.isfinite(beam.EI[plane])]
    if axial and math.isfinite(beam.EA):
        parts.append(_rod(beam, "axial", axial, beam.EA, beam.m, end.mass))
    if torsion and math.isfinite(beam.GJ):
        parts.append(_rod(beam, "torsion", torsion, beam.GJ, beam.rIp, end.about[0]))
    return joined(parts)


def _strain_basis(L: float, size: int) -> tuple[Array, Array, Array]:
    """Series (size, size + 2) of orthonormal polynomials on [0, L], first and second integrals."""
    zeroth = np.zeros((size, size + 2))
    zeroth[:, :size] = np.diag(np.sqrt((2 * np.arange(size) + 1) / L))
    once, twice = np.zeros_like(zeroth), np.zeros_like(zeroth)
    once[:, : size + 1] = legendre.legint(zeroth[:, :size], lbnd=-1, axis=1) * L / 2
    twice[:, : size + 2] = legendre.legint(once[:, : size + 1], lbnd=-1, axis=1) * L / 2
    return zeroth, once, twice


def _gram(a: Array, b: Array, L: float) -> Array:
    """Integrals over the link of products of two sets of Legendre series, (ka, kb)."""
    weights = L / (2 * np.arange(a.shape[1]) + 1)
    product: Array = (a * weights) @ b.T
    return product


def _bending(beam: Beam, end: EndLoad, plane: int, count: int) -> Shapes:
    """Natural shapes in one bending plane; rotary inertia and shear as the beam has them."""
    size = 24 + 4 * count
    _, once, twice = _strain_basis(beam.L, size)
    slope, deflection = once, twice
    stiffness = np.full(size, beam.EI[plane])
    if math.isfinite(beam.kGA[plane]):
        slope = np.vstack([once, np.zeros_like(once)])
        deflection = np.vstack([twice, once])
        stiffness = np.concatenate([stiffness, np.full(size, beam.kGA[plane])])
    tip = np.stack([deflection.sum(axis=1), slope.sum(axis=1)])
    load = np.array([[end.mass, end.moment], [end.moment, end.about[2 - plane]]])
    M = beam.m * _gram(deflection, deflection, beam.L) + tip.T @ load @ tip
    M += beam.rI[plane] * _gram(slope, slope, beam.L)
    A = _lowest(M, stiffness, count, beam.m * beam.L)
    A *= np.where(A.T @ deflection[:, 0] < 0, -1.0, 1.0)
    kind = ("xy", "xz")[plane]
    row, turn, sign = _PLANES[kind]
    series = np.zeros((1, 6, count, deflection.shape[1]))
    series[0, row], series[0, turn] = A.T @ deflection, sign * (A.T @ slope)
    return Shapes(np.array([0.0, beam.L]), series, (kind,) * count)


def _rod(beam: Beam, kind: str, count: int, stiffness: float, m: float, load: float) -> Shapes:
    """Natural shapes in stretch (u, EA, m) or twist (phi, GJ, rho I_p).

    A link without inertia of its own there is a spring: one shape, linear in x. Where its end
    carries none either it turns by one at the end.
    """
    count, size = (count, 24 + 4 * count) if m > 0 else (1, 1)
    _, field, _ = _strain_basis(beam.L, size)
    tip = field.sum(axis=1)
    M = m * _gram(field, field, beam.L) + load * np.outer(tip, tip)
    if m > 0 or load > 0:
        A = _lowest(M, np.full(size, stiffness), count, beam.m * beam.L)
    else:
        A = 1 / tip[:, None]
    A *= np.where(A.T @ field[:, 0] < 0, -1.0, 1.0)
    series = np.zeros((1, 6, count, field.shape[1]))
    series[0, 0 if kind == "axial" else 3] = A.T @ field
    return Shapes(np.array([0.0, beam.L]), series, (kind,) * count)


def _lowest(M: Array, stiffness: Array, count: int, modal_mass: float) -> Array:
    """Eigenvectors (size, count) of the lowest frequencies, a' M a = modal_mass; K is diagonal.

    A heavy end load spreads the eigenvalues so far that those found are orthogonal to a few
    digits only; solving once more among them mends that.
    """
    from scipy.linalg import eigh

    s = 1 / np.sqrt(stiffness)
    size = len(s)
    value, vector = eigh(s[:, None] * M * s, subset_by_index=(size - count, size - 1))
    if value[0] <= size * np.finfo(float).eps * value[-1]:
        raise SuppleError(
            "the assumed modes of a link cannot be told apart: what its end carries is so heavy "
            "beside it that its own mass is lost in rounding; take theory: inextensible or rigid, "
            "fewer modes, or elements"
        )
    A = s[:, None] * vector[:, ::-1] / np.sqrt(value[::-1])
    chosen: Array = A @ natural_shapes(A.T @ M @ A, (A.T * stiffness) @ A, count, modal_mass)
    return chosen


def natural_shapes(M: Array, K: Array, count: int, modal_mass: float) -> Array:
    """Return the lowest eigenvectors (k, count) of K a = omega^2 M a with a' M a = modal_mass."""
    from scipy.linalg import eigh

    _, vector = eigh(K, M, subset_by_index=(0, count - 1))
    scaled: Array = vector * np.sqrt(modal_mass)
    return scaled
