"""Mode shapes of a Structure of exact beams, as fields along every link, with their energies.

At a natural frequency the dynamic stiffness K(omega) is singular; its null vector moves the nodes,
and the beam equations carry the motion along every link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...assembly import Coordinates, assemble, closure_null_space, coordinates, exact_ends
from ...beams.dynamic_stiffness import carry, exact_form
from ...beams.invariants import gauss_points
from ...kernels.spatial import transport
from ...kernels.threads import one_thread
from ...structure import Release, Structure, cut_structure, short_pieces
from .elements import ElementModes
from .kinds import ENERGIES, describe_kind

__all__ = ["ENERGIES", "Shapes", "element_shapes", "exact_shapes", "strain_density"]

Array = NDArray[np.float64]
COINCIDENT = 1e-8  # relative distance of roots whose shapes are found together
GAUSS_POINTS = 12


@dataclass(frozen=True)
class Shapes(Answer):
    """Mode shapes of one configuration: n links, P stations per link, one entry per mode.

    Attributes
    ----------
    names
        Names of the links.
    x
        (n, P), stations from the root, m.
    position
        (n, P, 3), undeformed places of the stations, base axes, m.
    R
        (n, 3, 3), link axes in base axes.
    displacement, rotation
        (modes, n, P, 3), of the sections, link axes.
    share
        (modes, n, 7), fraction of the strain energy by link and kind, in the order of ENERGIES.
    density
        (modes, n, P), strain energy per length, J/m, at the mode's peak.
    planar
        Whether the robot moves in x-y only.
    residual
        (modes,), largest mismatch of motion and of section forces where beams meet bodies and
        joints, relative to the largest in the mode (nan by elements, which meet there by
        construction).

    Normalisation: the mode's mass is one, the integral of m |u|^2 plus the rotary inertia of
    sections, bodies and rotors. Sign: of all displacements of link ends in base axes, the largest
    (the last of equals) is positive.
    """

    names: tuple[str, ...]
    x: Array
    position: Array
    R: Array
    displacement: Array
    rotation: Array
    share: Array
    density: Array
    residual: Array
    planar: bool
    swings: tuple[str, ...] = ()

    labels: ClassVar = {"link": "names", "energy": tuple(ENERGIES)}
    dims: ClassVar = {
        "x": ("link", "station"),
        "position": ("link", "station", "axis"),
        "R": ("link", "axis", "own_axis"),
        "displacement": ("mode", "link", "station", "axis"),
        "rotation": ("mode", "link", "station", "axis"),
        "share": ("mode", "link", "energy"),
        "density": ("mode", "link", "station"),
        "residual": ("mode",),
    }
    table_rows: ClassVar = ("mode", "link", "station")

    @property
    def global_displacement(self) -> Array:
        """(modes, n, P, 3) displacement in base axes."""
        turned: Array = np.einsum("nij,mnpj->mnpi", self.R, self.displacement)
        return turned

    def kind(self, mode: int) -> str:
        """Say what kind of mode it is: the largest share of strain energy and where it sits."""
        if self.swings and self.swings[mode]:
            return self.swings[mode]
        return describe_kind(self.share[mode], self.names, self.planar)


def dynamic_spring(release: Release, omega: float) -> float:
    """Return the dynamic stiffness of a release: k - omega^2 J, or the two in series."""
    k = release.stiffness
    inertia = -omega * omega * release.inertia
    if release.series:
        return k * inertia / (k + inertia)
    return k + inertia


def cut_beams(
    structure: Structure, omega: float, fractions: Sequence[Array] | None = None
) -> tuple[Structure, list[list[int]]]:
    """Cut every beam into pieces shorter than half a wave; also return each link's pieces.

    fractions: where each link is cut, where that is known.
    """
    return cut_structure(structure, fractions or short_pieces(structure, omega))


def exact_forms(structure: Structure, omega: float) -> list[Array]:
    """Return the dynamic stiffness of every beam of one configuration, each by itself."""
    parts = zip(structure.segments, structure.L[0], strict=True)
    return [exact_form(segment.beam, L, omega) for segment, L in parts]


def dynamic_stiffness(
    structure: Structure, z: Coordinates, omega: float, forms: Sequence[Array] | None = None
) -> Array:
    """Return K(omega) (N, N) of one configuration in tree coordinates, closures open."""
    if forms is None:
        forms = exact_forms(structure, omega)
    springs = [[dynamic_spring(r, omega) for r in s.releases] for s in structure.segments]
    return assemble(structure, z, forms, -omega * omega, springs)


def null_vectors(K: Array, K0: Array, closure: Array, multiplicity: int) -> Array:
    """Return the (N, multiplicity) motions that need no force under K, closures shut.

    The unknowns are scaled by the larger of static and dynamic stiffness, so that soft bending and
    stiff stretching count alike.
    """
    stiffness = np.maximum(np.diag(K0), np.abs(np.diag(K)))
    scale = 1 / np.sqrt(np.where(stiffness > 0, stiffness, 1.0))
    scaled = scale[:, None] * K * scale
    basis = closure_null_space(closure * scale, len(K))
    values, vectors = np.linalg.eigh(basis.T @ scaled @ basis)
    nearest_zero = np.argsort(np.abs(values))[:multiplicity]
    motions: Array = scale[:, None] * (basis @ vectors[:, nearest_zero])
    return motions


@dataclass(frozen=True)
class _Fields:
    """One motion carried along all pieces: states at Gauss points and at stations."""

    gauss: list[Array]  # per piece (GAUSS, 12)
    stations: Array  # (n, P, 12)
    root: Array  # (pieces, 6)
    end: Array  # (pieces, 6)
    residual: float


class _Carrier:
    """Carries null vectors of one refined structure along its links."""

    def __init__(self, structure: Structure, omega: float, points: int) -> None:
        self.omega = omega
        self.points = points
        self.whole = structure
        self.fine, self.owners = cut_beams(structure, omega)
        self.z = coordinates(self.fine, exact_ends(self.fine))
        self.nodes, self.weights = gauss_points(np.array([-1.0, 1.0]), GAUSS_POINTS)
        self.forms = exact_forms(self.fine, omega)
        self.K = dynamic_stiffness(self.fine, self.z, omega, self.forms)

    def motions(self, multiplicity: int) -> Array:
        """Return the null vectors of K(omega)."""
        K0 = dynamic_stiffness(self.fine, self.z, 0.0)
        return null_vectors(self.K, K0, self.z.closure, multiplicity)

    def miss(self, vector: Array) -> float:
        """Return the root's relative distance from omega: Newton's step of phi' K phi = 0."""
        h = 1e-6 * self.omega
        change = dynamic_stiffness(self.fine, self.z, self.omega + h) - self.K
        slope = float(vector @ change @ vector) / 1e-6
        return -float(vector @ self.K @ vector) / slope if slope else 0.0

    def forces(self, vector: Array) -> tuple[Array, Array]:
        """Return the forces on each piece's root and end that drive all beyond it, (n, 6) each."""
        n = len(self.fine.segments)
        w2 = self.omega**2
        root = np.zeros((n, 6))
        end = np.zeros((n, 6))

        # Forces of the closures on the ends they hold
        multipliers = -np.linalg.lstsq(self.z.closure.T, self.K @ vector, rcond=None)[0]
        first_row = 0
        for closure in self.fine.closures:
            rows = slice(first_row, first_row + closure.rows_a.shape[1])
            first_row = rows.stop
            for piece, own_rows in ((closure.a, closure.rows_a[0]), (closure.b, closure.rows_b[0])):
                if piece >= 0:
                    end[piece] += own_rows.T @ multipliers[rows]

        # From the tips to the base
        for i in reversed(range(n)):
            segment = self.fine.segments[i]
            u_root = self.z.root[i] @ vector
            deformation = vector[self.z.inner[i]]
            end[i] -= w2 * segment.tip_mass @ (self.z.end[i] @ vector)
            beam_force = self.forms[i][:6] @ np.concatenate([u_root, deformation])
            root[i] = beam_force + transport(self.fine.L[0, i]).T @ end[i]
            if segment.parent >= 0:
                joint_force = root[i] - w2 * self.fine.root_mass[0, i] @ u_root
                end[segment.parent] += self.fine.T[0, i].T @ joint_force
        return root, end

    def fields(self, vector: Array) -> _Fields:
        """Carry one motion along all pieces."""
        root_force, end_force = self.forces(vector)
        root_motion = self.z.root @ vector
        end_motion = self.z.end @ vector
        root_states = np.concatenate([root_motion, -root_force], axis=1)
        end_states = np.concatenate([end_motion, -end_force], axis=1)

        gauss = []
        jumps = []
        stations = np.empty((len(self.owners), self.points, 12))
        for link, pieces in enumerate(self.owners):
            # The piece of the link on which each station lies
            x = np.linspace(0, self.whole.L[0, link], self.points)
            piece_ends = np.cumsum(self.fine.L[0, pieces])
            piece_of_station = np.searchsorted(piece_ends[:-1], x, "right")
            piece_starts = np.concatenate([[0.0], piece_ends])
            for k, i in enumerate(pieces):
                here = piece_of_station == k
                length = self.fine.L[0, i]
                gauss_places = np.append((self.nodes + 1) / 2, 1.0) * length  # and the end
                places = np.append(gauss_places, x[here] - piece_starts[k])
                states = carry(self.fine.segments[i].beam, self.omega, places, root_states[i])
                gauss.append(states[:GAUSS_POINTS])
                jumps.append(states[GAUSS_POINTS] - end_states[i])
                stations[link, here] = states[GAUSS_POINTS + 1 :]
        all_states = np.concatenate([end_states, root_states])
        mismatch = _largest_mismatch(np.array(jumps), all_states)
        return _Fields(gauss, stations, root_motion, end_motion, mismatch)

    def products(self, a: _Fields, b: _Fields) -> tuple[float, Array]:
        """Return mass (a, b) and twice the strain energies (a, b) per link and kind, (n, 7)."""
        mass = 0.0
        strain = np.zeros((len(self.owners), len(ENERGIES)))
        for link, pieces in enumerate(self.owners):
            for i in pieces:
                segment = self.fine.segments[i]
                beam = segment.beam
                length = self.fine.L[0, i]
                x = (self.nodes + 1) / 2 * length
                weights = self.weights * length / 2
                squares = a.gauss[i] * b.gauss[i]
                mass += float(weights @ (squares[:, :6] * beam.inertias(x)).sum(axis=1))
                mass += float(a.root[i] @ self.fine.root_mass[0, i] @ b.root[i])
                mass += float(a.end[i] @ segment.tip_mass @ b.end[i])
                N, Qy, Qz, T, My, Mz = weights @ (squares[:, 6:] * beam.compliances(x))
                strain[link, :6] += (N, Mz, My, Qy, Qz, T)
        return mass, strain

    def springs(self, a: Array, b: Array) -> tuple[float, Array]:
        """Return the rotors' mass (a, b) and twice the springs' energy (a, b) per link, (n,)."""
        mass = 0.0
        strain = np.zeros(len(self.owners))
        for link, pieces in enumerate(self.owners):
            segment = self.fine.segments[pieces[0]]
            columns = self.z.releases[pieces[0]]
            for release, x, y in zip(segment.releases, a[columns], b[columns], strict=True):
                k = release.stiffness
                J = release.inertia
                # in series, the rotor takes one part of the motion and the spring the other
                rotor_part = k / (k - self.omega**2 * J) if release.series else 1.0
                spring_part = (1 - rotor_part) if release.series else 1.0
                mass += J * rotor_part * rotor_part * x * y
                strain[link] += k * spring_part * spring_part * x * y
        return mass, strain


def _largest_mismatch(jumps: Array, states: Array) -> float:
    """The largest jump of displacement, rotation, force or moment, of the largest of its kind."""
    mismatch = 0.0
    for part in (slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 12)):
        size = np.abs(states[:, part]).max()
        if size > 0:
            mismatch = max(mismatch, float(np.abs(jumps[:, part]).max() / size))
    return mismatch


@one_thread
def exact_shapes(structure: Structure, omega: Array, points: int = 21) -> Shapes:
    """Return the shapes of the modes at the certified roots omega (modes,) of one configuration.

    Roots closer than 1e-8 share a null space; it is split into mass-orthogonal modes that differ
    most in their in-plane energy.
    """
    first_of_group = 1 + np.flatnonzero(np.diff(omega) > COINCIDENT * omega[1:])
    groups = np.split(np.arange(len(omega)), first_of_group)
    displacement = []
    rotation = []
    share = []
    density = []
    residual = []
    for group in groups:
        carrier = _Carrier(structure, float(omega[group].mean()), points)
        motions = carrier.motions(len(group))
        # The middle of a root's bracket is improved by one step
        step = carrier.miss(motions[:, 0])
        if 1e-13 < abs(step) < 1e-9:
            carrier = _Carrier(structure, carrier.omega * (1 + step), points)
            motions = carrier.motions(len(group))
        vectors = _orthogonal(carrier, motions)
        for vector in vectors.T:
            fields = carrier.fields(vector)
            mass, strain = carrier.products(fields, fields)
            rotors, springs = carrier.springs(vector, vector)
            strain[:, 6] = springs
            scale = _sign(structure, fields.stations) / np.sqrt(mass + rotors)
            motion = _link_axes(structure, fields.stations * scale)
            displacement.append(motion[..., :3])
            rotation.append(motion[..., 3:])
            share.append(strain / strain.sum())
            density.append(strain_density(structure, fields.stations[..., 6:] * scale))
            residual.append(fields.residual)
    return _shapes(structure, displacement, rotation, share, density, residual)


@one_thread
def element_shapes(structure: Structure, found: ElementModes, points: int = 21) -> Shapes:
    """Return the shapes of modes found by elements, in the form of exact ones."""
    displacement = []
    rotation = []
    share = []
    density = []
    x = np.linspace(0, 1, points) * structure.L[0][:, None]
    n = len(structure.segments)
    count = len(found.omega)
    stations = np.array([found.motion(i, x[i]) for i in range(n)])  # (n, P, 6, modes)
    forces = np.array([found.resultants(i, x[i]) for i in range(n)])  # (n, P, 6, modes)
    energy = np.array([found.energies(i) for i in range(n)])  # (n, 6, modes): N Qy Qz T My Mz
    for mode in range(count):
        motion = stations[..., mode]
        motion = _link_axes(structure, motion * _sign(structure, motion))
        displacement.append(motion[..., :3])
        rotation.append(motion[..., 3:])
        N, Qy, Qz, T, My, Mz = energy[..., mode].T
        springs = []
        for i in range(n):
            motion_of_springs = found.vectors[found.z.releases[i], mode]
            k = np.array([release.stiffness for release in structure.segments[i].releases])
            springs.append(float((k * motion_of_springs**2).sum() / 2))
        strain = np.array([N, Mz, My, Qy, Qz, T, springs]).T
        share.append(strain / strain.sum())
        density.append(strain_density(structure, forces[..., mode]))
    return _shapes(structure, displacement, rotation, share, density, [np.nan] * count)


def strain_density(structure: Structure, forces: Array) -> Array:
    """Return the strain energy per length (n, P) of section forces (n, P, 6): N^2 / 2 EA, ..

    The P sections are evenly spaced along each link.
    """
    fractions = np.linspace(0, 1, forces.shape[1])
    compliances = []
    for segment, L in zip(structure.segments, structure.L[0], strict=True):
        beam = segment.beam.outside(float(L))
        compliances.append(beam.compliances(fractions * L))
    density: Array = (forces**2 * np.array(compliances) / 2).sum(axis=-1)
    return density


def _shapes(
    structure: Structure,
    displacement: list[Array],
    rotation: list[Array],
    share: list[Array],
    density: list[Array],
    residual: list[float],
) -> Shapes:
    points = displacement[0].shape[1]
    x = np.linspace(0, 1, points) * structure.L[0][:, None]
    R = np.array([structure.R[0, i] @ s.R_LS.T for i, s in enumerate(structure.segments)])
    return Shapes(
        tuple(s.name for s in structure.segments),
        x,
        structure.p[0][:, None] + x[..., None] * R[:, None, :, 0],
        R,
        np.array(displacement),
        np.array(rotation),
        np.array(share),
        np.array(density),
        np.array(residual),
        structure.planar,
    )


def _orthogonal(carrier: _Carrier, vectors: Array) -> Array:
    """Split a null space: orthogonal in mass, extreme in bending in x-y."""
    if vectors.shape[1] == 1:
        return vectors
    fields = [carrier.fields(v) for v in vectors.T]
    m = len(fields)
    M = np.empty((m, m))
    U = np.empty((m, m))  # strain energy of bending in x-y
    for i in range(m):
        for j in range(m):
            mass, strain = carrier.products(fields[i], fields[j])
            rotors, _ = carrier.springs(vectors[:, i], vectors[:, j])
            M[i, j] = mass + rotors
            U[i, j] = strain[:, 1].sum()
    C = np.linalg.inv(np.linalg.cholesky(M))
    _, turn = np.linalg.eigh(C @ U @ C.T)
    split: Array = vectors @ (C.T @ turn[:, ::-1])
    return split


def _sign(structure: Structure, stations: Array) -> float:
    """The sign that makes the largest displacement of a link's end positive, base axes."""
    ends = np.einsum("nij,nj->ni", structure.R[0], stations[:, -1, :3]).ravel()[::-1]
    largest = np.abs(ends).max()
    first = int(np.argmax(np.abs(ends) >= (1 - 1e-6) * largest))
    return 1.0 if ends[first] >= 0 else -1.0


def _link_axes(structure: Structure, stations: Array) -> Array:
    """Turn motions (n, P, 6 or 12) from section axes to link axes, (n, P, 6)."""
    R_LS = np.array([segment.R_LS for segment in structure.segments])
    displacement = np.einsum("nij,npj->npi", R_LS, stations[..., :3])
    rotation = np.einsum("nij,npj->npi", R_LS, stations[..., 3:6])
    return np.concatenate([displacement, rotation], axis=-1)
