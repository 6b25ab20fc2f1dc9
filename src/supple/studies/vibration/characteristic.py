"""The characteristic matrix of planar arms, 6n x 6n, whose determinant vanishes at every mode.

A second road to the frequencies of `modes`, and a check of them. It is not a way to find them:
nothing says whether a root was missed, cosh and sinh overflow on slender links, and at

    omega_lim = sqrt(kGS / rho I)

the determinant changes sign without a root, because its basis function sinh(lambda_1 x) does.

Source: [DiCastri2011], Eqs. (22)-(40), (A.1)-(A.4), (B.1)-(B.5). Departures, each a misprint there:
(25) has E I Psi'(0), not E I Psi(0); (29) lambda_2^2 has both terms positive; (A.1, A.4, B.1, B.4)
w/(cL) reads wL/c; (A.4) row 1 has the factors t_n1, t_n2 and sin in column 3; (B.1) row 3 column 4
has cos(theta), row 5 column 1 a minus, no alpha beside w^2 M, and -w^2 M sinh in column 4. Above
omega_lim, left out there, cosh and sinh become cos and sin, with lambda_1^2 = -(28) and
t_1 = (lambda_1^2 - rho w^2 / kG) / lambda_1. Beyond the paper, by the same equations: hubs, offset
mounts, bodies off the axis, springs in the joints, and links without axial deformation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, number, reals, whole_number
from ...beams.theory import Beam
from ...errors import SuppleError
from ...robot import Robot
from ...structure import Segment, Structure, structure_of
from ..configuration import where
from .modes import modes

__all__ = [
    "Characteristic",
    "characteristic",
    "characteristic_matrix",
    "determinant_sign",
    "omega_lim",
    "singularity",
]

Array = NDArray[np.float64]
PLANE = (0, 1, 5)  # u, v, psi_z of the six motions
MOTION = [2, 0, 1]  # the paper's order of (U, V, Psi): psi, u, v
FORCE = [2, 1, 0]  # and of (N, T, M): moment, shear, axial


A_FREQUENCY = number(0, give="a positive angular frequency, rad/s")


@dataclass(frozen=True)
class Characteristic(Answer):
    """Characteristic matrix of one planar arm in one pose, [DiCastri2011] Eq. (39).

    From `supple.characteristic`.

    Attributes
    ----------
    robot : Robot
        The arm.
    theta : ndarray
        Joint coordinates (joints,), rad.
    omega : ndarray
        Certified natural frequencies, rad/s: the roots of the determinant.
    """

    robot: Robot
    theta: Array
    omega: Array
    structure: Structure = field(repr=False, compare=False)

    dims: ClassVar = {"omega": ("mode",)}
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s"}

    def matrix(self, omega: float) -> Array:
        """Return M(omega), (6n, 6n), over A_i1..A_i4, B_i1, B_i2 of links i = 1..n.

        Rows: psi, u, v at the ground; psi, u, v, moment, shear and axial force at every joint;
        moment, shear and axial force at the end.
        """
        return characteristic_matrix(self.structure, A_FREQUENCY("omega", omega))

    def determinant(self, omega: ArrayLike) -> Any:
        """Return det M(omega), [DiCastri2011] (40), shaped as omega; inf if it overflows."""
        frequencies = reals("omega", omega)
        with np.errstate(over="ignore"):
            values = [np.linalg.det(self.matrix(one)) for one in frequencies.ravel().tolist()]
        return np.reshape(values, frequencies.shape)[()]

    def scaled_determinant(self, omega: ArrayLike) -> Any:
        """Return det M(omega) with rows and columns scaled to one, for plots: the same roots."""
        frequencies = reals("omega", omega)
        values = [
            np.linalg.det(_scaled_matrix(self.structure, A_FREQUENCY("omega", one)))
            for one in frequencies.ravel().tolist()
        ]
        return np.reshape(values, frequencies.shape)[()]

    def coefficients(self, mode: int) -> Array:
        """Return the coefficients of a mode, (n, 6): A_i1..A_i4, B_i1, B_i2, [DiCastri2011] (38).

        Parameters
        ----------
        mode : int
            Number of the mode, from 1. The largest coefficient is scaled to one.
        """
        index = whole_number(1, len(self.omega))("mode", mode) - 1
        scaled, size = _scaled_and_size(self.structure, float(self.omega[index]))
        null_vector = np.linalg.svd(scaled)[2][-1] / size
        table = null_vector.reshape(-1, 6)
        largest = table.flat[int(np.argmax(np.abs(table)))]
        return np.asarray(table / largest)


@checked
def characteristic(
    robot: Robot, theta: ArrayLike | None = None, count: Annotated[int, whole_number(1, 1000)] = 10
) -> Characteristic:
    """Return the characteristic matrix of a planar arm as a function of frequency.

    Parameters
    ----------
    robot : Robot
        A planar serial arm whose links all bend and whose joints are locked or sprung.
    theta : array_like, optional
        Joint coordinates, rad, (joints,). Default: zero.
    count : int
        Number of certified natural frequencies that are marked in its plot.

    Returns
    -------
    Characteristic
        `.matrix(omega)`, `.determinant(omega)`, `.coefficients(mode)`, `.omega`, `.plot()`.

    References
    ----------
    [DiCastri2011], Eqs. (38)-(40).

    Examples
    --------
    >>> import supple
    >>> found = supple.characteristic(supple.load("industrial-3"), [0, 0.785, 0.785], count=3)
    >>> found.matrix(30.0).shape
    (18, 18)
    """
    configuration = where(robot, theta)
    if not configuration.single:
        raise SuppleError("a characteristic matrix is of one configuration: give theta (joints,)")
    structure = structure_of(robot, configuration.at)
    _check_structure(structure)
    omega = modes(robot, theta, count).omega
    return Characteristic(robot, configuration.theta[0], omega, structure)


def omega_lim(beam: Beam) -> float:
    """Return sqrt(kGS / rho I), where (28) is zero; infinite without shear or rotary inertia."""
    kGA = beam.kGA[0]
    rI = beam.rI[0]
    return math.sqrt(kGA / rI) if rI > 0 and math.isfinite(kGA) else math.inf


def wave_numbers(beam: Beam, omega: float) -> tuple[float, float]:
    """Return (28) and the corrected (29): lambda_1^2 (negative above omega_lim) and lambda_2^2.

    With EI = inf excluded and kGA = inf allowed both are alpha^2 of (B.5) for Euler-Bernoulli.
    """
    m = beam.m
    EI = beam.EI[0]
    kGA = beam.kGA[0]
    rI = beam.rI[0]
    w2 = omega**2
    mean = w2 * (rI / EI + m / kGA) / 2
    split = w2 * (rI / EI - m / kGA) / 2
    second = mean + math.sqrt(split**2 + w2 * m / EI)
    # The product of both is known: no cancellation near omega_lim
    product = w2 * m / EI * (1 - w2 * rI / kGA)
    return product / second, second


def _bending(beam: Beam, omega: float, x: float) -> Array:
    """V, Psi, shear force and moment at x, (4, 4) over A_1..A_4: Eqs. (32), (36), (2)."""
    EI = beam.EI[0]
    inertia = omega**2 * beam.m  # force per displacement and length
    b = inertia / beam.kGA[0]

    # lambda_1 and lambda_2; above omega_lim the first pair of functions oscillates too
    first, second = wave_numbers(beam, omega)
    l1 = math.sqrt(abs(first))
    l2 = math.sqrt(second)
    if first > 0:
        sign = 1
        c1 = math.cosh(l1 * x)
        s1 = math.sinh(l1 * x)
    else:
        sign = -1
        c1 = math.cos(l1 * x)
        s1 = math.sin(l1 * x)
    c2 = math.cos(l2 * x)
    s2 = math.sin(l2 * x)

    # Rotation per displacement of each pair, then the four rows
    t1 = (l1**2 + sign * b) / l1
    t2 = (l2**2 - b) / l2
    moment1 = EI * l1 * sign * t1
    moment2 = EI * l2 * t2
    V = [c1, s1, c2, s2]
    Psi = [sign * t1 * s1, t1 * c1, -t2 * s2, t2 * c2]
    T = [-inertia / l1 * s1, -sign * inertia / l1 * c1, -inertia / l2 * s2, inertia / l2 * c2]
    M = [moment1 * c1, moment1 * s1, -moment2 * c2, -moment2 * s2]
    return np.array([V, Psi, T, M])


def _axial(beam: Beam, omega: float, x: float) -> Array:
    """U and axial force at x, (2, 2) over B_1, B_2: Eq. (33).

    Without axial deformation B_2 is the force at the root: U = B_1, N = B_2 - w^2 m x B_1.
    """
    if math.isinf(beam.EA):
        return np.array([[1.0, 0.0], [-(omega**2) * beam.m * x, 1.0]])
    k = omega * math.sqrt(beam.m / beam.EA)
    c = math.cos(k * x)
    s = math.sin(k * x)
    stiff = beam.EA * k
    return np.array([[c, s], [-stiff * s, stiff * c]])


def _state(beam: Beam, omega: float, x: float) -> tuple[Array, Array]:
    """Motion (U, V, Psi) and force (N, T, M) at x, (3, 6) each over A_1..A_4, B_1, B_2."""
    v, psi, shear, moment = _bending(beam, omega, x)
    motion = np.zeros((3, 6))
    force = np.zeros((3, 6))
    motion[0, 4:], force[0, 4:] = _axial(beam, omega, x)
    motion[1:, :4] = (v, psi)
    force[1:, :4] = (shear, moment)
    return motion, force


def _check_structure(structure: Structure) -> None:
    """Refuse what the paper's equations do not describe."""
    if not structure.planar or structure.closures or structure.size != 1:
        raise SuppleError(
            "the characteristic matrix is of one planar serial arm, one configuration"
        )
    for i, segment in enumerate(structure.segments):
        beam = segment.beam
        if not isinstance(beam, Beam):
            raise SuppleError(f"{segment.name}: links of the characteristic matrix are uniform")
        if segment.parent != i - 1 or math.isinf(beam.EI[0]):
            raise SuppleError(f"{segment.name}: every link of the characteristic matrix must bend")
        if any(r.stiffness == 0 or r.inertia for r in segment.releases):
            raise SuppleError(f"{segment.name}: its joint must be locked or sprung, not free")


def _uniform(segment: Segment) -> Beam:
    """The beam of a segment that `_checked` let pass."""
    assert isinstance(segment.beam, Beam)
    return segment.beam


def _compliance(segment: Segment) -> Array:
    """(3, 3) jump of the motion at a joint per force through it: 1/k_T for a spring."""
    rows = [r.toward(0)[list(PLANE)] for r in segment.releases]
    springs = [np.outer(a, a) / r.stiffness for a, r in zip(rows, segment.releases, strict=True)]
    return sum(springs, np.zeros((3, 3)))


def _sections(structure: Structure, omega: float, i: int) -> tuple[Array, Array, Array, Array]:
    """Motion and force at both sides of link i, (3, 6) each: joint, hub and tip body included.

    Before its joint the root moves less by what the spring gives, and the force is that of the beam
    and the hub; past its tip the end hands on what its body leaves.
    """
    segment = structure.segments[i]
    square = np.ix_(PLANE, PLANE)
    hub = structure.root_mass[0, i][square]
    tip = segment.tip_mass[square]
    motion, force = _state(_uniform(segment), omega, 0.0)
    force = force + omega**2 * hub @ motion
    motion = motion - _compliance(segment) @ force
    end, end_force = _state(_uniform(segment), omega, float(structure.L[0, i]))
    return motion, force, end, end_force - omega**2 * tip @ end


def characteristic_matrix(structure: Structure, omega: float) -> Array:
    """Return M(omega) of Eq. (39), (6n, 6n), over A_i1..A_i4, B_i1, B_i2 of links i = 1..n.

    Rows: (22)-(24) at the ground, (25) at every joint, (26) at the end effector; at each place psi,
    u, v and then moment, shear, axial force. Columns of Euler-Bernoulli links stand in the order of
    (A.1), cosh before cos, an even permutation of (B.1).
    """
    _check_structure(structure)
    n = len(structure.segments)
    square = np.ix_(PLANE, PLANE)
    links = [_sections(structure, omega, i) for i in range(n)]
    M = np.zeros((6 * n, 6 * n))
    M[:3, :6] = links[0][0][MOTION]
    for i, ((_, _, end, end_force), (motion, force, _, _)) in enumerate(pairwise(links)):
        T = structure.T[0, i + 1][square]
        rows = 6 * i + 3
        left = slice(6 * i, 6 * i + 6)
        right = slice(6 * i + 6, 6 * i + 12)
        M[rows : rows + 3, left], M[rows + 3 : rows + 6, left] = (T @ end)[MOTION], end_force[FORCE]
        M[rows : rows + 3, right] = -motion[MOTION]
        M[rows + 3 : rows + 6, right] = -(T.T @ force)[FORCE]
    M[-3:, -6:] = links[-1][3][FORCE]
    return M


def _scaled_matrix(structure: Structure, omega: float) -> Array:
    """M(omega) scaled so that no unit of measure counts."""
    return _scaled_and_size(structure, omega)[0]


def _scaled_and_size(structure: Structure, omega: float) -> tuple[Array, Array]:
    """M(omega) and the sizes of its columns, rows and columns in units of what they hold.

    The units are those of the solutions at both ends of every link, not of the entries of M: a
    column that vanishes at a root must not be blown up again.
    """
    ends = [
        np.concatenate(
            [*_state(_uniform(segment), omega, 0.0), *_state(_uniform(segment), omega, float(L))]
        )
        for segment, L in zip(structure.segments, structure.L[0], strict=True)
    ]
    table = abs(np.concatenate(ends, axis=1))  # (12, 6n): U, V, Psi, N, T, M at root and end
    unit = np.ones(6)
    size = np.ones(table.shape[1])
    for _ in range(4):
        size = np.linalg.norm(table / np.tile(unit, 2)[:, None], axis=0)
        unit = (table / size).reshape(2, 6, -1).max(axis=(0, 2))
    motion = unit[:3][MOTION]
    force = unit[3:][FORCE]
    rows = np.concatenate([motion, *[motion, force] * (len(ends) - 1), force])
    scaled: Array = characteristic_matrix(structure, omega) / rows[:, None] / size
    return scaled, size


def determinant_sign(structure: Structure, omega: float) -> int:
    """Return the sign of det M(omega), Eq. (40): it changes at simple roots and at omega_lim."""
    return round(float(np.linalg.slogdet(_scaled_matrix(structure, omega))[0]))


def singularity(structure: Structure, omega: float, multiplicity: int = 1) -> float:
    """Return the singular value that vanishes at a root over the next one that does not.

    For a root of multiplicity r the r smallest vanish: the largest of these over the next.
    """
    values = np.linalg.svd(_scaled_matrix(structure, omega), compute_uv=False)
    return float(values[-multiplicity] / values[-multiplicity - 1])
