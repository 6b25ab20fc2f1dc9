"""Exact responses with modal damping: undamped ones with their modes exchanged for damped ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frequency_system import FrequencySystem

__all__ = ["with_modes"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


def with_modes(
    undamped: Callable[[Array], Complex],
    wide: FrequencySystem,
    ports: tuple[Array, Callable[[Complex], tuple[Any, Any]]],
    omega: Array,
    natural: Array,
    zeta: float,
) -> Complex:
    """Return H (F, outputs, inputs) with modal damping zeta of the modes at `natural`, rad/s.

    ports: of the wide system the loads of unit inputs, and the outputs as rows over the motion.
    The undamped H of the band's system, and of the modes up to the end of the wide one
    sum r_k [1 / (omega_k^2 - omega^2 + 2 i zeta omega_k omega) - 1 / (omega_k^2 - omega^2)],
    r_k the residue. What higher modes would change falls with the cube of their frequency.
    """
    # Poles (P,) and residues (P, outputs, inputs): c phi phi' b, phi of unit modal mass. phi = v /
    # sqrt(-v' K' v), K' = dK / d omega^2 by a complex step, which K, analytic, allows
    (forces, rows), s = ports, wide.scale()
    b = s[:, None] * forces
    each: list[float] = []
    outer: list[Complex] = []
    within, k = natural[natural <= wide.top / 1.001], 0
    while k < len(within):
        same = int((np.abs(within[k:] - within[k]) <= 1e-8 * within[k]).sum())
        w2 = within[k] ** 2
        step = 1e-20 * w2
        K = wide.stiffness(np.array([w2 + 1j * step])) * s[:, None] * s
        V = np.linalg.svd(K[0].real)[2][-same:]
        mass = -V @ (K[0].imag / step) @ V.T
        values, turn = np.linalg.eigh((mass + mass.T) / 2)
        phi = (turn / np.sqrt(values)).T @ V
        c, _ = rows(np.array([w2 + 0j]))
        for one in phi:
            each.append(float(within[k]))
            outer.append(np.outer((c[0] * s) @ one, one @ b))
        k += same
    shape = (len(outer), c.shape[1] if outer else 0, b.shape[1])
    poles, residues = np.array(each), np.array(outer, complex).reshape(shape)
    near = (np.abs(omega[:, None] - poles) < 1e-4 * poles).any(axis=1)
    rest: Any = 0.0
    for factor in (1 + 3e-4, 1 - 3e-4):  # the smooth remainder, from both sides of a near pole
        at = np.where(near, factor * omega, omega)
        modal = 1 / (poles**2 - at[:, None] ** 2)
        rest = rest + (undamped(at) - np.tensordot(modal, residues, 1)) / 2
    w = omega[:, None]
    damped = 1 / (poles**2 - w**2 + 2j * zeta * poles * w)
    return np.asarray(rest + np.tensordot(damped, residues, 1))
