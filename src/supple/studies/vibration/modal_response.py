"""Exact responses with modal damping: undamped ones with their modes exchanged for damped ones.

The undamped response is a sum over infinitely many modes,

    H(omega) = sum_k r_k / (omega_k^2 - omega^2),   r_k = c phi_k phi_k' b,

phi_k of unit modal mass, b the forces of unit inputs and c the outputs. The modes inside a band are
replaced by damped ones, 1 / (omega_k^2 - omega^2 + 2 i zeta omega_k omega); the smooth remainder of
all higher modes is left as it is. What damping would change in it falls with the cube of their
frequency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frequency_system import FrequencySystem

__all__ = ["modally_damped_response"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Response = Callable[[Array], Complex]  # from omega (F,) to H (F, outputs, inputs)
OutputRows = Callable[[Complex], tuple[Any, Any]]  # from omega^2 to rows over the unknowns
COINCIDENT = 1e-8  # relative distance below which frequencies are one, with several modes
COMPLEX_STEP = 1e-20  # of omega^2
CLOSE_TO_POLE = 1e-4  # relative distance below which H and its pole cancel too many digits
BESIDE_POLE = 3e-4  # relative: where the remainder is taken instead, on both sides


def modally_damped_response(
    undamped_response: Response,
    system: FrequencySystem,
    forces: Array,
    output_rows: OutputRows,
    omega: Array,
    natural_omega: Array,
    damping_ratio: float,
) -> Complex:
    """Return H (F, outputs, inputs) in which every mode has the same damping ratio.

    Parameters
    ----------
    undamped_response : callable
        The exact H without damping, at frequencies (F,), rad/s.
    system : FrequencySystem
        The robot, cut for a band that holds `natural_omega`.
    forces : array
        (unknowns of the system, inputs), those of unit inputs.
    output_rows : callable
        At squared frequencies (F,): outputs as rows (F, outputs, unknowns) over the motion.
    omega : array
        Frequencies (F,), rad/s.
    natural_omega : array
        Natural frequencies, ascending, rad/s; those above the system's band are left undamped.
    damping_ratio : float
        Of every mode.
    """
    poles, residues = modal_residues(system, forces, output_rows, natural_omega)
    remainder = response_without_modes(undamped_response, omega, poles, residues)

    w = omega[:, None]
    damped_modes = 1 / (poles**2 - w**2 + 2j * damping_ratio * poles * w)
    return np.asarray(remainder + np.tensordot(damped_modes, residues, 1))


def modal_residues(
    system: FrequencySystem, forces: Array, output_rows: OutputRows, natural_omega: Array
) -> tuple[Array, Complex]:
    """Return the poles (P,) in the system's band, rad/s, and their residues (P, outputs, inputs).

    A natural frequency that several modes share has as many poles.
    """
    scale = system.scale()
    scaled_forces = scale[:, None] * forces
    within_band = natural_omega[natural_omega <= system.top / 1.001]
    poles: list[float] = []
    residues: list[Complex] = []
    outputs = 0
    for frequency, multiplicity in group_coincident(within_band):
        rows, _ = output_rows(np.array([frequency**2 + 0j]))
        outputs = rows.shape[1]
        for mode in modes_of_unit_mass(system, frequency, multiplicity):
            poles.append(frequency)
            residues.append(np.outer((rows[0] * scale) @ mode, mode @ scaled_forces))
    shape = (len(residues), outputs, scaled_forces.shape[1])
    return np.array(poles), np.array(residues, complex).reshape(shape)


def group_coincident(frequencies: Array) -> list[tuple[float, int]]:
    """Return each of some ascending frequencies with the number of modes that share it."""
    groups: list[tuple[float, int]] = []
    first = 0
    while first < len(frequencies):
        frequency = float(frequencies[first])
        distance = np.abs(frequencies[first:] - frequency)
        multiplicity = int((distance <= COINCIDENT * frequency).sum())
        groups.append((frequency, multiplicity))
        first += multiplicity
    return groups


def modes_of_unit_mass(system: FrequencySystem, frequency: float, multiplicity: int) -> Array:
    """Return the modes (multiplicity, unknowns) at one natural frequency, in scaled unknowns.

    The modal mass of the null vectors v of K is -v' K' v with K' = dK / d omega^2, here by a
    complex step, which K, analytic in omega^2, allows.
    """
    scale = system.scale()
    w2 = frequency**2
    step = COMPLEX_STEP * w2
    K = system.stiffness(np.array([w2 + 1j * step])) * scale[:, None] * scale
    null_vectors = np.linalg.svd(K[0].real)[2][-multiplicity:]
    mass = -null_vectors @ (K[0].imag / step) @ null_vectors.T
    masses, directions = np.linalg.eigh((mass + mass.T) / 2)
    return np.asarray((directions / np.sqrt(masses)).T @ null_vectors)


def response_without_modes(
    undamped_response: Response, omega: Array, poles: Array, residues: Complex
) -> Complex:
    """Return the part of H (F, outputs, inputs) that modes at the poles do not make.

    Close to a pole H and its mode are large and cancel; there the remainder, which is smooth, is
    the mean of those on both sides of the pole.
    """
    is_close = (np.abs(omega[:, None] - poles) < CLOSE_TO_POLE * poles).any(axis=1)
    remainder: Any = 0.0
    for factor in (1 + BESIDE_POLE, 1 - BESIDE_POLE):
        at = np.where(is_close, factor * omega, omega)
        undamped_modes = 1 / (poles**2 - at[:, None] ** 2)
        smooth = undamped_response(at) - np.tensordot(undamped_modes, residues, 1)
        remainder = remainder + smooth / 2
    return np.asarray(remainder)
