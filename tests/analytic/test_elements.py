"""Finite elements on one link: what each kind claims, patch tests, statics, masses, no locking."""

import math
from dataclasses import replace

import numpy as np
import pytest

import supple
from small_structures import Part, bar, build, exact_roots, inf
from supple.beams.fixed.elements import ELEMENTS, mesh
from supple.beams.theory import Beam
from supple.errors import SuppleError
from supple.studies.vibration.elements import _elastic_motions, element_modes, modes_on

ORDERS = sorted(ELEMENTS)
THEORIES = ("timoshenko", "euler-bernoulli", "inextensible")
MOVES = {
    "rod": Beam(1.0, 5.0, EA=1e8),
    "euler-bernoulli": Beam(1.0, 5.0, EI=(1e4, inf)),
    "timoshenko": Beam(1.0, 5.0, EI=(1e4, inf), kGA=(4e6, inf), rI=(4e-3, 0.0)),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("move", sorted(MOVES))
def test_frequencies_converge_with_the_declared_order_from_above(order: str, move: str) -> None:
    """Against the exact solver; the first two modes, meshes fine enough to show the order."""
    element = ELEMENTS[order]
    structure = build([Part(MOVES[move])])
    exact = exact_roots(structure, 2)
    meshes = (2, 4, 8) if element.orders[move] > 4 else (8, 16, 32)
    errors = np.array([element_modes(structure, 2, n, order).omega / exact - 1 for n in meshes])
    assert (errors > -1e-12).all() == element.from_above
    assert (np.diff(errors, axis=0) < 1e-12).all() == element.from_above
    clear = errors[1:] > 1e-13
    observed = np.log2(errors[:-1] / np.where(clear, errors[1:], 1))
    last = [column[mask][-1] for column, mask in zip(observed.T, clear.T, strict=True)]
    assert last == pytest.approx([element.orders[move]] * 2, abs=0.6)


def test_every_kind_claims_an_order_for_every_motion() -> None:
    assert all(set(element.orders) == set(MOVES) for element in ELEMENTS.values())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slenderness", [10, 100, 1e4])
def test_shear_does_not_lock(order: str, slenderness: float) -> None:
    """A slender Timoshenko cantilever keeps the accuracy of an Euler-Bernoulli one on any mesh."""
    errors = []
    for theory in ("timoshenko", "euler-bernoulli"):
        structure = build([Part(bar(1.0, 1 / slenderness, 2 / slenderness, theory, planar=True))])
        exact = exact_roots(structure, 3)
        errors.append(element_modes(structure, 3, 4, order).omega / exact - 1)
    assert errors[0] == pytest.approx(errors[1], rel=60 / slenderness + 1e-3)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("slenderness", [10, 1e4])
def test_cubic_and_quintic_agree_with_textbook_elements(order: str, slenderness: float) -> None:
    """The same trial functions in nodal coordinates, assembled the textbook way, here by hand."""
    beam = bar(1.0, 1 / slenderness, 1 / slenderness, "euler-bernoulli", planar=True)
    M, K = _textbook(beam, 3, order)
    scale = np.outer(*[np.sqrt(np.diag(K))] * 2)
    G = np.linalg.cholesky(K / scale)
    C = np.linalg.solve(G, np.linalg.solve(G, M / scale).T)
    expected = 1 / np.sqrt(np.linalg.eigvalsh((C + C.T) / 2)[::-1][:5])
    structure = build([Part(replace(beam, EA=inf))])
    found = element_modes(structure, 5, 3, order).omega
    assert found == pytest.approx(expected, rel=1e-10)


def _textbook(beam: Beam, n: int, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Clamped M and K of Hermite elements with nodal v, v' (and v'' for quintic ones)."""
    per = 2 if order == "cubic" else 3
    l = beam.L / n
    powers = np.arange(2 * per)
    conditions = [
        [math.perm(p, d) * s ** (p - d) if p >= d else 0 for p in powers]
        for s in (0.0, l)
        for d in range(per)
    ]
    shapes = np.linalg.inv(np.array(conditions))  # columns: polynomials of unit nodal values
    x, weights = np.polynomial.legendre.leggauss(8)
    x = l * (x + 1) / 2
    weights = weights * l / 2
    N = (x[:, None] ** powers) @ shapes
    second = powers * (powers - 1) * x[:, None] ** np.maximum(powers - 2, 0)
    B = second @ shapes
    m = beam.m * (N.T * weights) @ N
    k = beam.EI[0] * (B.T * weights) @ B
    M, K = np.zeros((2, per * (n + 1), per * (n + 1)))
    for e in range(n):
        at = slice(per * e, per * (e + 2))
        M[at, at] += m
        K[at, at] += k
    return M[2:, 2:], K[2:, 2:]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("n", [1, 3])
def test_mass_of_rigid_motion_is_the_beams(order: str, theory: str, n: int) -> None:
    beam = bar(0.7, theory=theory)
    assert mesh(beam, n, order).mass[:6, :6] == pytest.approx(beam.mass_matrix(), abs=1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_a_rigid_link_has_no_coordinates(order: str) -> None:
    part = mesh(Beam(0.5, 3.0, rIp=0.1), 4, order)
    assert part.size == 0
    assert part.field([0.1, 0.5]).shape == (2, 6, 0)
    assert part.mass == pytest.approx(Beam(0.5, 3.0, rIp=0.1).mass_matrix())
    assert mesh(Beam(0.0, 0.0), 4, order).mass == pytest.approx(np.zeros((6, 6)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
@pytest.mark.parametrize("n", [1, 4])
def test_constant_strains_are_exact(order: str, theory: str, n: int) -> None:
    """Patch test: pure stretch, twist and bending in both planes, everywhere along the link."""
    beam = bar(0.8, theory=theory)
    part = mesh(beam, n, order)
    L = beam.L
    x = np.linspace(0, beam.L, 11)
    zero = np.zeros_like(x)
    states = {
        0: ([x, zero, zero, zero, zero, zero], beam.EA),
        3: ([zero, zero, zero, x, zero, zero], beam.GJ),
        4: ([zero, zero, -(x**2) / 2, zero, x, zero], beam.EI[1]),
        5: ([zero, x**2 / 2, zero, zero, zero, x], beam.EI[0]),
    }
    for component, (field, stiffness) in states.items():
        u = np.array(field).T
        w = _static(part, u[-1])
        assert part.field(x) @ w == pytest.approx(u, abs=1e-12 * L)
        resultants = np.zeros((len(x), 6))
        resultants[:, component] = stiffness
        assert part.resultants(x) @ w == pytest.approx(resultants, abs=1e-9 * stiffness)
        assert w @ part.stiffness @ w == pytest.approx(stiffness * L)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("slenderness", [5, 50, 1e4])
def test_tip_loads_deflect_exactly(order: str, theory: str, n: int, slenderness: float) -> None:
    """Compliance S K^-1 S' of the end: L/EA, L^3/3EI + L/kGA, L^2/2EI, L/EI, L/GJ."""
    beam = bar(1.3, 1.3 / slenderness, 2.1 / slenderness, theory)
    part = mesh(beam, n, order)
    L = beam.L
    expected = np.diag([L / beam.EA, 0, 0, L / beam.GJ, 0, 0])
    for (v, psi, sign), EI, kGA in zip(((1, 5, 1), (2, 4, -1)), beam.EI, beam.kGA, strict=True):
        expected[v, v] = L**3 / (3 * EI) + L / kGA
        expected[psi, psi] = L / EI
        expected[v, psi] = expected[psi, v] = sign * L**2 / (2 * EI)
    found = part.end @ _solve(part.stiffness, part.end.T)
    scale = np.diag(1 / np.sqrt(np.where(expected > 0, expected, 1).diagonal()))
    assert scale @ found @ scale == pytest.approx(scale @ expected @ scale, abs=1e-11)


def test_shear_force_and_moment_balance_under_a_tip_load() -> None:
    """F_y at the end: Q_y = F, M_z = F (L - x); F_z: Q_z = F, M_y = -F (L - x)."""
    for theory in ("timoshenko", "euler-bernoulli"):
        for order in ORDERS:
            part = mesh(bar(1.0, theory=theory), 3, order)
            x = np.linspace(0, 1, 7)
            for row, moment, sign in ((1, 5, 1), (2, 4, -1)):
                w = _solve(part.stiffness, part.end[row])
                found = part.resultants(x) @ w
                expected = np.zeros((7, 6))
                expected[:, row] = 1
                expected[:, moment] = sign * (1 - x)
                assert found == pytest.approx(expected, abs=1e-9)


def test_fields_are_the_integrals_of_the_strains() -> None:
    """v' = psi_z + Q_y/kGA, w' = -psi_y + Q_z/kGA, psi' = M/EI, u' = N/EA, phi' = T/GJ."""
    beam = bar(1.0, 0.2, 0.1)
    x = np.linspace(0.013, 0.987, 17)
    h = 1e-5
    for order in ORDERS:
        part = mesh(beam, 3, order)
        w = np.random.default_rng(1).standard_normal(part.size)
        slope = (part.field(x + h) - part.field(x - h)) @ w / (2 * h)
        u = part.field(x) @ w
        r = part.resultants(x) @ w * part.compliances(x)
        expected = r.copy()
        expected[:, 1] += u[:, 5]
        expected[:, 2] -= u[:, 4]
        assert slope == pytest.approx(expected, abs=1e-7)
        assert part.field([0.0]) == pytest.approx(0)


def test_energies_add_up_to_half_omega_squared() -> None:
    structure = build([Part(bar(1.0, 0.1, 0.07))])
    found = element_modes(structure, 6, 4, "quintic")
    assert found.energies(0).sum(axis=0) == pytest.approx(found.omega**2 / 2)
    x, weights = found.meshes[0].quadrature()
    motion = found.motion(0, x)
    beam = found.meshes[0].beam
    density = np.array([beam.m, beam.m, beam.m, beam.rIp, beam.rI[1], beam.rI[0]])
    products = np.einsum("p,c,pci,pcj->ij", weights, density, motion, motion)
    assert products == pytest.approx(np.eye(6), abs=1e-9)


@pytest.mark.parametrize("count", [3, 8])
@pytest.mark.parametrize("robot", ["industrial-3", "theodore-rrp", "de-luca-two-link"])
def test_many_poses_at_once_and_one_by_one_agree(robot: str, count: int) -> None:
    """Frequencies of a batch against those of single poses and of the shapes, by Jacobi's method.

    A shape's Rayleigh quotient is its omega^2: energies of links and springs, with z' M z = 1.
    """
    found = supple.load(robot)
    few = np.random.default_rng(7).uniform(0.4, 0.6, (3, len(found.links)))
    batch = supple.modes(found, few, count=count, method="elements", elements=3)
    for row, part in enumerate(batch.parts):
        alone = modes_on(part.structure, count, part.links)
        assert part.omega == pytest.approx(alone.omega, rel=1e-11)
        motions, _ = _elastic_motions(part.structure, part.links)
        assert part.omega == pytest.approx(motions.modes(count).omega, rel=1e-11)
        assert batch.omega[row] == pytest.approx(part.omega, rel=0)
        energy = sum(part.energies(i).sum(axis=0) for i in range(len(part.links)))
        for segment, columns in zip(part.structure.segments, part.z.releases, strict=True):
            for release, twist in zip(segment.releases, part.vectors[columns], strict=True):
                energy = energy + release.stiffness * twist**2 / 2
        assert energy == pytest.approx(part.omega**2 / 2, rel=1e-9)


def test_frequencies_far_apart_keep_their_digits() -> None:
    """A tool 1e8 times as heavy as its link puts the first frequency far below the others.

    They then come from Jacobi's method, and are those of the exact solver.
    """
    beam = bar(1.0, 0.05, 0.05, "euler-bernoulli", planar=True)
    tool = 1e8 * beam.m * beam.L
    light = build([Part(replace(beam, EA=inf))])
    heavy = replace(light, segments=(replace(light.segments[0], tip_mass=tool * np.eye(6)),))
    found = element_modes(heavy, 6, 16, "quintic").omega
    assert found[-1] / found[0] > 1e3
    assert found == pytest.approx(exact_roots(heavy, 6), rel=1e-6)


def test_bad_meshes_are_refused_in_a_sentence() -> None:
    structure = build([Part(bar())])
    with pytest.raises(SuppleError, match="order is 'septic': choose one of cubic, quintic"):
        element_modes(structure, 2, 4, "septic")
    with pytest.raises(SuppleError, match="0 elements"):
        element_modes(structure, 2, 0)
    with pytest.raises(SuppleError, match="2 numbers of elements"):
        element_modes(structure, 2, [1, 2])
    with pytest.raises(SuppleError, match="elastic coordinates"):
        element_modes(structure, 100, 1)


def _solve(K: np.ndarray, right: np.ndarray) -> np.ndarray:
    d = np.sqrt(np.diag(K))
    scaled = right / (d[:, None] if right.ndim > 1 else d)
    y = np.linalg.solve(K / np.outer(d, d), scaled)
    return y / (d[:, None] if right.ndim > 1 else d)


def _static(part: object, end: np.ndarray) -> np.ndarray:
    """The coordinates of least energy that bring the end where it is asked to be."""
    free = part.beam.active()  # type: ignore[attr-defined]
    S, K = part.end[free], part.stiffness  # type: ignore[attr-defined]
    return _solve(K, S.T) @ np.linalg.solve(S @ _solve(K, S.T), end[free])
