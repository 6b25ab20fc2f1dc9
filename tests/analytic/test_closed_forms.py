"""Exact modes against frequency equations of single beams, and spatial arms against their planes.

The equations are solved here by a scan and bisection in thirty digits that know nothing of our
roots, so that a missing or an extra root shows as well. Euler-Bernoulli beams in
beta = (m w^2 / EI)^(1/4) L; Timoshenko beams in b, r, s by Huang's equations (1961).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import supple
from analytic import twin
from supple.kernels.roots import count_below, natural_frequencies
from supple.robot import SerialRobot
from supple.structure import Release, Structure, structure_of

RELATIVE = 1e-10
L = 0.7
m = 2.0
EI = 50.0
EA = 3e4
GJ = 20.0
POLAR = 1e-3
COUNT = 8


def beam(planar: bool = True, **more: Any) -> SerialRobot:
    """One Euler-Bernoulli link by its stiffnesses."""
    direct = {"mass_per_length": m, "bending_stiffness": EI, "theory": "inextensible"}
    return SerialRobot.model_validate(
        {"name": "beam", "planar": planar, "links": [{"name": "a", "length": L, **direct, **more}]}
    )


def zeros(f: Callable[[Any], Any], last: float, points: int = 1500) -> list[float]:
    """All zeros of f in (0, last], by sign changes on a grid and bisection, thirty digits."""
    with mp.workdps(30):
        grid = [mpf(last) * i / points for i in range(1, points + 1)]
        values = [mp.re(f(x)) for x in grid]
        signs = [mp.sign(value) for value in values]
        return [
            float(_bisected(f, a, b, sign))
            for a, b, sign, other in zip(grid, grid[1:], signs, signs[1:], strict=False)
            if sign != other
        ]


def _bisected(f: Callable[[Any], Any], low: Any, high: Any, sign: Any) -> Any:
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (middle, high) if mp.sign(mp.re(f(middle))) == sign else (low, middle)
    return low


def assert_bending(robot: SerialRobot, equation: Callable[..., Any], **more: Any) -> None:
    """Our frequencies are omega = beta^2 sqrt(EI / m) / L^2, beta the zeros of the equation."""
    found = supple.modes(robot, count=COUNT, **more)
    ours = np.sqrt(found.omega * L**2 / math.sqrt(EI / m))

    def f(b: Any) -> Any:
        return equation(b, mp.cos(b), mp.sin(b), mp.cosh(b), mp.sinh(b))

    np.testing.assert_allclose(ours, zeros(f, ours[-1] * 1.0001), rtol=RELATIVE / 2)


def test_cantilever() -> None:
    assert_bending(beam(), lambda b, c, s, ch, sh: 1 + c * ch)


def test_pinned_free() -> None:
    robot = beam()
    assert supple.modes(robot, joints="free").rigid_modes == 1
    assert_bending(robot, lambda b, c, s, ch, sh: s * ch - c * sh, joints="free")


@pytest.mark.parametrize("ratio", [1e-3, 0.3, 10.0, 1e4])
def test_cantilever_with_a_tip_mass(ratio: float) -> None:
    robot = beam(tip={"mass": ratio * m * L})
    assert_bending(robot, lambda b, c, s, ch, sh: 1 + c * ch + ratio * b * (c * sh - s * ch))


@pytest.mark.parametrize(("mass", "inertia"), [(0.0, 0.2), (0.5, 0.1), (20.0, 3.0)])
def test_clamped_mass(mass: float, inertia: float) -> None:
    """Mass and inertia at the tip, in units of m L and m L^3."""
    robot = beam(tip={"mass": mass * m * L, "inertia": inertia * m * L**3})

    def equation(b: Any, c: Any, s: Any, ch: Any, sh: Any) -> Any:
        alone = 1 + c * ch + mass * b * (c * sh - s * ch)
        return alone - inertia * b**3 * (c * sh + s * ch) + mass * inertia * b**4 * (1 - c * ch)

    assert_bending(robot, equation)


@pytest.mark.parametrize("stiffness", [1e-3, 1.0, 1e3, 1e7])
def test_a_spring_at_the_root(stiffness: float) -> None:
    """V = a sin + b sinh + c (cos - cosh) with V''(0) = (k L / EI) V'(0), free at the end."""
    robot = beam(joint={"stiffness": stiffness * EI / L})

    def equation(b: Any, c: Any, s: Any, ch: Any, sh: Any) -> Any:
        q = mpf(stiffness) / (2 * b)
        moment = (-s + q * (c + ch), sh + q * (c + ch))
        force = (-c - q * (s - sh), ch - q * (s - sh))
        return moment[0] * force[1] - moment[1] * force[0]

    assert_bending(robot, equation)


@pytest.mark.parametrize("inertia", [1e-4, 0.3, 50.0])
def test_a_free_hub(inertia: float) -> None:
    """A free joint with a hub of inertia (units of m L^3): V''(0) = -inertia b^4 V'(0)."""
    robot = beam(joint={"hub": {"inertia": inertia * m * L**3}})

    def equation(b: Any, c: Any, s: Any, ch: Any, sh: Any) -> Any:
        q = -mpf(inertia) * b**3 / 2
        moment = (-s + q * (c + ch), sh + q * (c + ch))
        force = (-c - q * (s - sh), ch - q * (s - sh))
        return moment[0] * force[1] - moment[1] * force[0]

    assert_bending(robot, equation, joints="free")


def let_go(structure: Structure, *axes: int) -> Structure:
    """The structure with motions of its root let go."""
    releases = tuple(Release(tuple(np.eye(6)[i])) for i in axes)
    first = replace(structure.segments[0], releases=releases)
    return replace(structure, segments=(first, *structure.segments[1:]))


def roots(structure: Structure, count: int = COUNT) -> np.ndarray:
    return natural_frequencies(structure.tree(), count, structure.rigid_modes, 1.0).omega[0]


def test_free_free_by_releases() -> None:
    structure = let_go(structure_of(beam()), 0, 1, 5)
    assert structure.rigid_modes == 3
    ours = np.sqrt(roots(structure) * L**2 / math.sqrt(EI / m))
    exact = zeros(lambda b: 1 - mp.cos(b) * mp.cosh(b), ours[-1] * 1.0001)
    # Both ends free: the root's stiffness has its poles (clamped-free) within exp(-b) of the roots.
    np.testing.assert_allclose(ours[:3], exact[:3], rtol=RELATIVE / 2)
    width = natural_frequencies(structure.tree(), COUNT, structure.rigid_modes, 1.0).width[0]
    assert (np.abs(ours / np.array(exact, float) - 1) <= width).all()  # rounding is told


def test_sliding_free_by_releases() -> None:
    """The root may move across but not turn: tan b + tanh b = 0, and one rigid-body mode."""
    structure = let_go(structure_of(beam()), 1)
    assert structure.rigid_modes == 1
    ours = np.sqrt(roots(structure) * L**2 / math.sqrt(EI / m))
    exact = zeros(lambda b: mp.sin(b) * mp.cosh(b) + mp.cos(b) * mp.sinh(b), ours[-1] * 1.0001)
    np.testing.assert_allclose(ours, exact, rtol=RELATIVE / 2)


STIFF = {"bending_stiffness": 1e12, "theory": None}  # bending far above what is asked


@pytest.mark.parametrize("ratio", [0.0, 0.3, 100.0])
def test_axial_rod_with_a_tip_mass(ratio: float) -> None:
    """cos k = ratio k sin k, omega = k sqrt(EA / m) / L; (n - 1/2) pi without the mass."""
    robot = beam(axial_stiffness=EA, tip={"mass": ratio * m * L}, **STIFF)
    ours = supple.modes(robot, count=COUNT).omega * L / math.sqrt(EA / m)
    exact = zeros(lambda k: mp.cos(k) - ratio * k * mp.sin(k), ours[-1] * 1.0001)
    np.testing.assert_allclose(ours, exact, rtol=RELATIVE)
    if not ratio:
        np.testing.assert_allclose(ours, (np.arange(COUNT) + 0.5) * math.pi, rtol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 2.0])
def test_torsion_with_a_tip_inertia(ratio: float) -> None:
    """cos k = ratio k sin k, omega = k sqrt(GJ / rho I_p) / L."""
    tip = {"inertia": [ratio * POLAR * L, 1.0, 1.0]}
    torsion = {"torsional_stiffness": GJ, "polar_inertia_per_length": POLAR}
    robot = beam(planar=False, tip=tip, **torsion, **STIFF)
    ours = supple.modes(robot, count=COUNT).omega * L / math.sqrt(GJ / POLAR)
    exact = zeros(lambda k: mp.cos(k) - ratio * k * mp.sin(k), ours[-1] * 1.0001)
    np.testing.assert_allclose(ours, exact, rtol=RELATIVE)


def test_a_pivot_of_exactly_zero() -> None:
    """A search that lands on the decoupled axial root of a straight arm, to the last bit.

    The axial pivot is then exactly zero; it once made this root NaN (rad/s below, springs in N m).
    """
    robot = supple.load("di-castri-two-link").with_(
        {f"links.link{i}.section.depth": 0.1 * x for i, x in ((1, 0.61), (2, 0.6))}
        | {f"links.link{i}.joint.stiffness": 177827.94100389228 for i in (1, 2)}
    )
    found = supple.modes(robot, [0.0, 0.0], 10)
    assert found.certified
    assert found.kind[4].startswith("axial")
    structure = structure_of(robot, [0.0, 0.0])
    at = 7727.48274652122
    assert abs(found.omega[4] / at - 1) < 1e-10
    J, mantissa, _ = count_below(structure.tree(), np.array([at]))
    assert J[0] in (4, 5)
    assert np.isfinite(mantissa).all()


# Timoshenko: b^2 = m w^2 L^4 / EI, r^2 = I / A L^2, s^2 = EI / kGA L^2.


def timoshenko(r: float, s: float) -> tuple[SerialRobot, float]:
    """One link by its stiffnesses without axial deformation, and omega for b = 1."""
    shear = {"shear_stiffness": EI / (s * L) ** 2, "rotary_inertia_per_length": m * (r * L) ** 2}
    return beam(theory="timoshenko", **shear), math.sqrt(EI / m) / L**2


def huang(b: Any, r: float, s: float) -> tuple[Any, ...]:
    """cosh(b alpha), sinh(b alpha) / sqrt(1 - b^2 r^2 s^2), cos(b beta), sin(b beta)."""
    r2 = mpf(r) ** 2
    s2 = mpf(s) ** 2
    root = mp.sqrt((r2 - s2) ** 2 + 4 / b**2)
    alpha = mp.sqrt((root - r2 - s2) / 2 + 0j)
    beta = mp.sqrt((root + r2 + s2) / 2)
    edge = mp.sqrt(1 - b**2 * r2 * s2 + 0j)
    return mp.cosh(b * alpha), mp.sinh(b * alpha) / edge, mp.cos(b * beta), mp.sin(b * beta)


SHAPES = [(1e-4, 2e-4), (0.02, 0.035), (0.1, 0.18), (0.3, 0.5), (0.2, 0.2)]  # L/h about 2900 to 1


@pytest.mark.parametrize(("r", "s"), SHAPES)
def test_timoshenko_cantilever(r: float, s: float) -> None:
    robot, unit = timoshenko(r, s)
    ours = supple.modes(robot, count=16).omega / unit

    def equation(b: Any) -> Any:
        ch, sh, c, sn = huang(b, r, s)
        r2 = mpf(r) ** 2
        s2 = mpf(s) ** 2
        return mp.re(2 + (b**2 * (r2 - s2) ** 2 + 2) * ch * c - b * (r2 + s2) * sh * sn)

    exact = _in_square_roots(equation, ours[-1])
    np.testing.assert_allclose(ours, exact, rtol=RELATIVE)
    if r * s > 0.01:
        assert ours[-1] > 1 / (r * s)  # beyond omega_lim


@pytest.mark.parametrize(("r", "s"), SHAPES)
def test_timoshenko_free_free(r: float, s: float) -> None:
    robot, unit = timoshenko(r, s)
    structure = let_go(structure_of(robot), 0, 1, 5)
    ours = roots(structure, 16) / unit

    def equation(b: Any) -> Any:
        ch, sh, c, sn = huang(b, r, s)
        r2 = mpf(r) ** 2
        s2 = mpf(s) ** 2
        factor = b * (b**2 * r2 * (r2 - s2) ** 2 + 3 * r2 - s2)
        return mp.re(2 - 2 * ch * c + factor * sh * sn)

    exact = [x for x in _in_square_roots(equation, ours[-1]) if abs(x * r * s - 1) > 1e-9]
    np.testing.assert_allclose(ours, exact, rtol=RELATIVE)


def _in_square_roots(equation: Callable[[Any], Any], last: float) -> np.ndarray:
    """Zeros in b, scanned in sqrt(b), where bending roots are evenly spread."""
    found = zeros(lambda x: equation(x * x), math.sqrt(last) * 1.0001, 3000)
    return np.array(found) ** 2


# A spatial arm whose joints all turn about z is its planar arm and what it does out of the plane.

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800.0}
SECTION = {"shape": "rectangle", "depth": 0.03, "width": 0.02, "shear_coefficient": [0.85, 0.8]}
BODY = {"mass": 1.2, "inertia": [0.004, 0.006, 0.008]}


def arm(planar: bool, theory: str) -> SerialRobot:
    each = {"material": STEEL, "section": SECTION, "tip": BODY, "theory": theory}
    links = [{"name": f"l{i}", "length": 0.4 + 0.1 * i, **each} for i in range(3)]
    return SerialRobot.model_validate({"name": "arm", "planar": planar, "links": links})


def out_of_plane(robot: SerialRobot, theta: list[float], z: Any) -> Any:
    """Determinant of bending in x-z and torsion by transfer matrices over (w, chi, phi, Q, M, T).

    chi is the slope of w, so that the rotations are (phi, -chi) in link axes.
    """
    E, rho, h, b = (mpf(x) for x in (210e9, 7800.0, 0.03, 0.02))
    G = E / (2 * mpf("1.3"))
    A = h * b
    I_y = h * b**3 / 12
    I_p = (b * h**3 + h * b**3) / 12
    J_t = mpf(supple.Rectangle.model_validate(SECTION).constants().J_t)
    timoshenko = robot.links[0].theory == "timoshenko"
    Y = [[mpf(int(i == j + 3)) for j in range(3)] for i in range(6)]
    for i, link in enumerate(robot.links):
        c = mp.cos(mpf(theta[i]))
        s = mp.sin(mpf(theta[i]))
        Y = [Y[0], *_turned(Y[1], Y[2], c, s), Y[3], *_turned(Y[4], Y[5], c, s)]
        shear = 1 / (mpf(0.8) * G * A) if timoshenko else mpf(0)
        rotary = rho * I_y if timoshenko else mpf(0)
        piece = _piece(link.length, rho * A, rotary, 1 / (E * I_y), shear)
        w, chi, Q, M = twin._times(twin.bending(z, piece), [Y[0], Y[1], Y[3], Y[4]])
        even, odd = twin._even(-z * rho * I_p / (G * J_t), piece.L)
        phi = [even * p + odd / (G * J_t) * t for p, t in zip(Y[2], Y[5], strict=True)]
        T = [even * t - z * rho * I_p * odd * p for p, t in zip(Y[2], Y[5], strict=True)]
        loads = zip((w, chi, phi), (Q, M, T), (1.2, 0.006, 0.004), strict=True)
        Y = [
            w,
            chi,
            phi,
            *([f - z * mpf(k) * d for d, f in zip(*p, strict=True)] for *p, k in loads),
        ]
    return twin._det(Y[3:])


def _turned(chi: Any, phi: Any, c: Any, s: Any) -> list[Any]:
    pairs = list(zip(chi, phi, strict=True))
    return [[c * x + s * p for x, p in pairs], [c * p - s * x for x, p in pairs]]


def _piece(length: float, m: Any, rI: Any, b: Any, s: Any) -> twin.Piece:
    none = [[mpf(0)] * 3] * 3
    more = (none, none, mpf(0), (mpf(0), mpf(0)), False, mpf(0), mpf(0), False)
    return twin.Piece(mpf(length), m, rI, mpf(0), b, s, *more)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli", "inextensible"])
@pytest.mark.parametrize("theta", [[0.0, 0.0, 0.0], [0.3, 0.8, -1.4]], ids=["straight", "bent"])
def test_spatial_is_planar_and_out_of_plane(theory: str, theta: list[float]) -> None:
    whole = supple.modes(arm(False, theory), theta, 20).omega
    inside = supple.modes(arm(True, theory), theta, 20).omega
    inside = inside[inside < whole[-1] * 1.0001]
    near = abs(whole[:, None] / inside - 1).argmin(axis=0)
    np.testing.assert_allclose(whole[near], inside, rtol=RELATIVE)
    across = np.delete(whole, near)
    assert len(across) + len(inside) == len(whole)
    with mp.workdps(60):
        f = lambda z: out_of_plane(arm(False, theory), theta, z)  # noqa: E731
        exact = [float(twin.secant(lambda x: mp.re(f(x * x)), x)) for x in across]
        np.testing.assert_allclose(across, exact, rtol=RELATIVE)
        assert len(set(exact)) == len(across)
        assert twin.zeros_inside(f, mpf(whole[-1] * 1.0001) ** 2) == len(across)
