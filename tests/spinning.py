"""The spinning beam by a power series in thirty digits: the first flapwise frequency."""

from functools import cache

import mpmath as mp


def _end_derivatives(
    start: int, spin: mp.mpf, omega: mp.mpf, terms: int = 120
) -> tuple[mp.mpf, mp.mpf]:
    """w''(1) and w'''(1) of the solution w = x^start + .. of the flapwise equation.

    w'''' - Omega^2/2 ((1 - x^2) w')' - omega^2 w = 0, tension Omega^2 (1 - x^2)/2, in units of
    sqrt(EI / m L^4); no hub.
    """
    a = [mp.mpf(0)] * (terms + 4)  # w = sum a[k] x^k
    a[start] = mp.mpf(1)
    for k in range(terms):
        tension = spin**2 / 2 * (k + 1) * ((k + 2) * a[k + 2] - k * a[k])
        a[k + 4] += (tension + omega**2 * a[k]) / ((k + 4) * (k + 3) * (k + 2) * (k + 1))
    second = mp.fsum(k * (k - 1) * c for k, c in enumerate(a))
    third = mp.fsum(k * (k - 1) * (k - 2) * c for k, c in enumerate(a))
    return second, third


@cache
def first_flapwise(spin: float) -> float:
    """Return the first flapwise frequency of a uniform beam, clamped on the axis it turns about.

    It lies between two bounds: those of the beam at rest and of a chain without stiffness added,
    omega_0^2 + Omega^2, and Rayleigh's quotient of the shape at rest, omega_0^2 + 1.2 Omega^2.
    """
    with mp.workdps(30):
        gamma = mp.mpf(spin)

        def determinant(omega: mp.mpf) -> mp.mpf:
            """Zero where a mix of x^2 + .. and x^3 + .. has no moment and no shear at the end."""
            moment_2, shear_2 = _end_derivatives(2, gamma, omega)
            moment_3, shear_3 = _end_derivatives(3, gamma, omega)
            return moment_2 * shear_3 - shear_2 * moment_3

        at_rest = mp.mpf("3.5160152685")  # first root of cos x cosh x = -1, squared
        low = mp.sqrt(at_rest**2 + gamma**2) - 1e-6
        high = mp.sqrt(at_rest**2 + 1.2 * gamma**2) + 1e-6
        return float(mp.findroot(determinant, (low, high), solver="anderson", tol=1e-24))
