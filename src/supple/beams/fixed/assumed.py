"""Assumed modes: the natural shapes of one link, clamped at its root, loaded at its end.

The strains of a link (curvature and shear of each plane, stretch, twist) are expanded in
orthonormal Legendre polynomials. The stiffness is then diagonal, the root is clamped by
integrating from it, the end load is part of the mass, and the lowest eigenvectors are the shapes
to rounding: clamped-mass shapes of [DeLuca1991] (16)-(22) without a transcendental equation, the
same way for Euler-Bernoulli and Timoshenko beams, for stretch and for twist, with no mode missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from ...errors import SuppleError
from ..invariants import beam_points
from ..shapes import PLANES, EndLoad, LinkShapes, join_shapes
from ..theory import AnyBeam, Beam

__all__ = ["assumed_shapes", "natural_shapes"]

Array = NDArray[np.float64]
RIGID_MOTIONS = {"pinned": ("turn",), "free": ("shift", "turn")}  # of a root that is not clamped


def assumed_shapes(
    beam: AnyBeam,
    end: EndLoad,
    count: int,
    axial: int = 0,
    torsion: int = 0,
    root: str = "clamped",
) -> LinkShapes:
    """Return the lowest natural shapes of a link: x-y, x-z, axial, torsion, those it allows.

    In bending the root is clamped, `pinned` (free to turn about its joint) or `free` (to turn and
    to move sideways). All are measured from the place and the tangent of the root, which the joint
    carries. Each is normalised so that its modal mass with
    the end load equals the link's mass, and its sign so that the integral of m times the
    displacement (of the twist in torsion) is positive.

    Source: [DeLuca1991], Eqs. (16)-(22), (30); (30) lacks the end terms.
    """
    # Natural shapes in one bending plane; rotary inertia and shear as the beam has them
    parts = []
    for plane, (kind, (row, turn, sign)) in enumerate(PLANES.items()):
        if beam.deforms.EI[plane]:
            basis = _strain_basis((0.0, *beam.breaks, beam.L), 24 + 4 * count)
            turned = "once"
            moved = "twice"
            K = basis.gram(beam, 2 + plane, "zeroth")
            if beam.deforms.kGA[plane]:
                turned = "slope"
                moved = "deflection"
                shear = basis.gram(beam, 4 + plane, "zeroth")
                none = np.zeros_like(K)
                K = np.block([[K, none], [none, shear]])
            slope = basis.fields[turned]
            deflection = basis.fields[moved]
            tip = np.stack([deflection[-1].sum(axis=1), slope[-1].sum(axis=1)])
            load = np.array([[end.mass, end.moment], [end.moment, end.about[2 - plane]]])
            M = basis.gram(beam, 0, moved) + tip.T @ load @ tip
            M += basis.gram(beam, 7 + plane, turned)
            if root != "clamped":
                rigid_motions = RIGID_MOTIONS[root]
                M = _released_mass(
                    M, basis, beam, plane, (moved, turned), (load, tip), rigid_motions
                )
            A = _lowest(M, K, count, beam.mass)
            A *= np.where(basis.mean(beam, 0, moved) @ A < 0, -1.0, 1.0)
            series = np.zeros((len(basis.breaks) - 1, 6, count, deflection.shape[2]))
            series[:, row] = np.einsum("kn,ekp->enp", A, deflection)
            series[:, turn] = sign * np.einsum("kn,ekp->enp", A, slope)
            parts.append(LinkShapes(basis.breaks, series, (kind,) * count))
    if axial and beam.deforms.EA:
        parts.append(_rod(beam, "axial", axial, end.mass))
    if torsion and beam.deforms.GJ:
        parts.append(_rod(beam, "torsion", torsion, end.about[0]))
    return join_shapes(parts)


def _released_mass(
    M: Array,
    basis: _Strains,
    beam: AnyBeam,
    plane: int,
    fields: tuple[str, str],
    end: tuple[Array, Array],
    rigid_motions: tuple[str, ...],
) -> Array:
    """Mass of the strains of a plane (k, k) while the link's root moves as it likes.

    A turn phi adds x phi to the deflection and phi to the slope, a shift adds itself to the
    deflection. They take no strain, so they follow from the strains a: J r + C a = 0, which
    leaves M - C' J^-1 C.
    """
    moved, turned = fields
    load, tip = end
    x, weights = beam_points(beam, basis.size + 2, basis.breaks)
    properties = beam.at(x)
    mass = weights * properties[:, 0]
    rotary = weights * properties[:, 7 + plane]

    # Deflection and slope along the link (r, P), and at its end (r, 2), per unit of each motion
    deflection = np.stack([x if motion == "turn" else np.ones_like(x) for motion in rigid_motions])
    slope = np.array([1.0 if motion == "turn" else 0.0 for motion in rigid_motions])
    end_deflection = [beam.L if motion == "turn" else 1.0 for motion in rigid_motions]
    at_end = np.column_stack([end_deflection, slope])

    coupling = (mass * deflection) @ basis.at(basis.fields[moved], x)  # C
    coupling += np.outer(slope, rotary @ basis.at(basis.fields[turned], x))
    coupling += at_end @ load @ tip
    inertia = (mass * deflection) @ deflection.T  # J
    inertia += rotary.sum() * np.outer(slope, slope)
    inertia += at_end @ load @ at_end.T
    return np.asarray(M - coupling.T @ np.linalg.solve(inertia, coupling))


@dataclass(frozen=True)
class _Strains:
    """Orthonormal polynomials on each span of a beam, and their integrals from the root on.

    Attributes
    ----------
    breaks
        (e + 1,).
    size
        Polynomials on each span.
    zeroth, once, twice
        (e, k, size + 2), Legendre series of all k = e size functions, and of their integrals, on
        each span.
    """

    breaks: Array
    size: int
    zeroth: Array
    once: Array
    twice: Array

    @cached_property
    def fields(self) -> dict[str, Array]:
        """The functions by name; with shear every strain is one of bending or of shear."""
        slope = np.concatenate([self.once, np.zeros_like(self.once)], axis=1)
        deflection = np.concatenate([self.twice, self.once], axis=1)
        own = {"zeroth": self.zeroth, "once": self.once, "twice": self.twice}
        return own | {"slope": slope, "deflection": deflection}

    @cached_property
    def _plain(self) -> dict[str, tuple[Array, Array]]:
        """Integrals of products of functions, and of the functions, where the beam is uniform."""
        return {}

    def gram(self, beam: AnyBeam, column: int, name: str) -> Array:
        """Integrals of products of functions with a property of the beam, (k, k)."""
        return self._integrals(beam, column, name)[0]

    def mean(self, beam: AnyBeam, column: int, name: str) -> Array:
        """Integrals of functions with a property of the beam, (k,)."""
        return self._integrals(beam, column, name)[1]

    def _integrals(self, beam: AnyBeam, column: int, name: str) -> tuple[Array, Array]:
        if isinstance(beam, Beam) and name in self._plain:
            value = beam.at([0.0])[0, column]
            return value * self._plain[name][0], value * self._plain[name][1]
        x, w = beam_points(beam, self.size + 2, self.breaks)
        f = self.at(self.fields[name], x)
        uniform = isinstance(beam, Beam)
        weight = w if uniform else w * beam.at(x)[:, column]
        found = (f * weight[:, None]).T @ f, weight @ f
        if not uniform:
            return found
        self._plain[name] = found
        return self._integrals(beam, column, name)

    def at(self, series: Array, x: Array) -> Array:
        """Return functions (e, k, terms) at x, (P, k)."""
        piece = np.clip(np.searchsorted(self.breaks, x, "right") - 1, 0, len(series) - 1)
        a = self.breaks[piece]
        b = self.breaks[piece + 1]
        basis = legendre.legvander((2 * x - a - b) / (b - a), series.shape[2] - 1)
        out = np.empty((len(x), series.shape[1]))
        for k in np.unique(piece):
            out[piece == k] = basis[piece == k] @ series[k].T
        return out


@lru_cache(maxsize=16)
def _strain_basis(places: tuple[float, ...], size: int) -> _Strains:
    """Orthonormal polynomials, `size` on each span, with their first and second integrals."""
    breaks = np.array(places)
    e = len(breaks) - 1
    lengths = np.diff(breaks)
    zeroth, once, twice = (np.zeros((e, e * size, size + 2)) for _ in range(3))
    for i, L in enumerate(lengths):
        own = slice(i * size, (i + 1) * size)
        zeroth[i, own, :size] = np.diag(np.sqrt((2 * np.arange(size) + 1) / L))
        once[i, own, : size + 1] = legendre.legint(zeroth[i, own, :size], lbnd=-1, axis=1) * L / 2
        if i:
            once[i, : i * size, 0] = once[i - 1, : i * size].sum(axis=1)
        twice[i] = legendre.legint(once[i, :, :-1], lbnd=-1, axis=1) * L / 2
        if i:
            twice[i, : i * size, 0] += twice[i - 1, : i * size].sum(axis=1)
    for array in (breaks, zeroth, once, twice):
        array.setflags(write=False)
    return _Strains(breaks, size, zeroth, once, twice)


def _rod(beam: AnyBeam, kind: str, count: int, load: float) -> LinkShapes:
    """Natural shapes in stretch (u, EA, m) or twist (phi, GJ, rho I_p).

    A link without inertia of its own there is a spring: one shape, linear in x where it is uniform.
    Where its end carries none either it turns by one at the end.
    """
    soft, heavy = (1, 0) if kind == "axial" else (6, 9)
    inert = bool(beam.at([beam.L / 2])[0, heavy] > 0)
    count, size = (count, 24 + 4 * count) if inert else (1, 24 if beam.breaks else 1)
    basis = _strain_basis((0.0, *beam.breaks, beam.L), size)
    field = basis.once
    K = basis.gram(beam, soft, "zeroth")
    tip = field[-1].sum(axis=1)
    M = basis.gram(beam, heavy, "once") + load * np.outer(tip, tip)
    if inert:
        A = _lowest(M, K, count, beam.mass)
    else:
        A = np.linalg.solve(K, tip)[:, None]
        A *= np.sqrt(beam.mass / load) / (tip @ A) if load > 0 else 1 / (tip @ A)
    places, w = beam_points(beam, size + 2, basis.breaks)
    A *= np.where(w @ basis.at(field, places) @ A < 0, -1.0, 1.0)
    series = np.zeros((len(basis.breaks) - 1, 6, count, field.shape[2]))
    series[:, 0 if kind == "axial" else 3] = np.einsum("kn,ekp->enp", A, field)
    return LinkShapes(basis.breaks, series, (kind,) * count)


def _lowest(M: Array, K: Array, count: int, modal_mass: float) -> Array:
    """Eigenvectors (size, count) of the lowest frequencies, a' M a = modal_mass.

    A heavy end load spreads the eigenvalues so far that those found are orthogonal to a few
    digits only; solving once more among them mends that.
    """
    from scipy.linalg import eigh, solve_triangular

    size = len(K)
    root = np.sqrt(np.diagonal(K))
    sizes = root[:, None] * root
    diagonal = np.count_nonzero(np.abs(K) > 1e-12 * sizes) == size  # that of a uniform beam is
    if diagonal:
        scaled = M / sizes
    else:
        G = np.linalg.cholesky(K)
        scaled = solve_triangular(G, solve_triangular(G, M, lower=True).T, lower=True)
    value, vector = eigh((scaled + scaled.T) / 2, subset_by_index=(size - count, size - 1))
    if value[0] <= size * np.finfo(float).eps * value[-1]:
        raise SuppleError(
            "the assumed modes of a link cannot be told apart: what its end carries is so heavy "
            "beside it that its own mass is lost in rounding; take theory: inextensible or rigid, "
            "fewer modes, or elements"
        )
    last = vector[:, ::-1]
    back = last / root[:, None] if diagonal else solve_triangular(G, last, lower=True, trans=1)
    A: Array = back / np.sqrt(value[::-1])
    chosen: Array = A @ natural_shapes(A.T @ M @ A, A.T @ K @ A, count, modal_mass)
    return chosen


def natural_shapes(M: Array, K: Array, count: int, modal_mass: float) -> Array:
    """Return the lowest eigenvectors (k, count) of K a = omega^2 M a with a' M a = modal_mass."""
    from scipy.linalg import eigh

    _, vector = eigh(K, M, subset_by_index=(0, count - 1))
    scaled: Array = vector * np.sqrt(modal_mass)
    return scaled
