"""[Kuo2016] 5.3, 5.4 on the paper's own model: its equations along a path, and the search."""

import numpy as np
import pytest
from scipy.linalg import expm

import supple
from supple.architectures import delta, delta_motion
from supple.papers import kuo_search
from supple.papers.kuo_model import PaperDelta, link_matrices
from supple.papers.kuo_response import (
    GRAVITY,
    LINK_LOADS,
    TERMS,
    PathMatrices,
    _link_loads,
    half_length,
    link_fields,
    link_forms,
    newmark_columns,
    path_matrices,
    rayleigh,
    static_start,
)

ROBOT = supple.load("kuo-delta")
PATH = supple.InvertedU()
RIGHT = PaperDelta(ROBOT, slips=frozenset())


def exponentials(found: PathMatrices, start=None) -> np.ndarray:
    """Deflections per load by matrix exponentials, Newmark's method not used.

    Over each step the equations are constant, those of its middle, and solved exactly. `found` has
    the middles between the ends of the steps. (The mean of the ends would not do: it stiffens
    bending by what little the axial directions turn in a step.)
    """
    size, many = found.loads.shape[1:]
    h = found.t[2] - found.t[0]
    state = np.zeros((2 * size, many))
    if start is not None:
        state[:size] = start
    out = [state[:size].copy()]
    system = np.zeros((2 * size + many, 2 * size + many))
    system[:size, size : 2 * size] = np.eye(size)
    for k in range(1, len(found.t), 2):
        M, C, K, F = (part[k] for part in (found.M, found.C, found.K, found.loads))
        system[size : 2 * size] = np.linalg.solve(M, np.hstack([-K, -C, F]))
        step = expm(h * system)
        state = step[: 2 * size, : 2 * size] @ state + step[: 2 * size, 2 * size :]
        out.append(state[:size].copy())
    return np.array(out)


@pytest.mark.parametrize(("n", "order"), [(1, "cubic"), (2, "cubic"), (1, "quintic")])
def test_integrals_by_quadrature_are_those_of_the_tables(n, order):
    """M_e again from the fields; the whole link's mass and its moment from a rigid motion."""
    beam = PaperDelta(ROBOT).beams[1]
    form = link_forms(beam, n, order)
    M, K = link_matrices(beam, n, order)
    assert np.array_equal(form.M, M)
    assert np.array_equal(form.K, K)
    u = -np.einsum("kkij->ij", form.twice) / 2  # [e_i][e_i] summed is -2 I
    x = (np.polynomial.legendre.leggauss(8)[0] + 1) / 2
    N = link_fields(beam.L, n, order, x)[:, 3]
    w = np.tile(np.polynomial.legendre.leggauss(8)[1] / 2 * beam.L / n, n)
    spin = beam.rIp * np.einsum("p,pi,pj->ij", w, N, N)
    assert u + spin == pytest.approx(M, abs=1e-12)


@pytest.mark.parametrize("leg", range(3))
def test_rates_of_the_transformation(leg):
    """S' and S'' against differences of S along the path itself."""
    from supple.papers.kuo_response import _with_rates

    model = PaperDelta(ROBOT)
    at = 0.33
    given = [part[None] for part in PATH.at(at)]
    _, first, second = _with_rates(model, *given, leg)
    h = 1e-3
    back, here, ahead = (model.nodes(PATH.at(at + k * h)[0], leg)[1][0] for k in (-1, 0, 1))
    assert first[1][0] == pytest.approx((ahead - back) / (2 * h), abs=2e-4 * np.abs(first[1]).max())
    curve = (ahead - 2 * here + back) / h**2
    assert second[1][0] == pytest.approx(curve, abs=2e-4 * np.abs(second[1]).max())


@pytest.mark.parametrize("link", [0, 1], ids=["arm", "rod"])
def test_loads_of_a_link_move_its_mass_centre(link):
    """Virtual work in a translation: mass times gravity less the centre's acceleration.

    The centre's acceleration by differences of where it is, not from any rate of the angles.
    """
    beam = RIGHT.beams[link]
    form = link_forms(beam, 1, "cubic")
    at = 0.33
    h = 1e-3
    leg = 1

    def middle(t):
        placed = delta.place(ROBOT, PATH.at(t)[0])
        R = (placed.R_upper, placed.R_lower)[link][0, leg]
        root = (placed.A, placed.B)[link][0, leg]
        return root + beam.L / 2 * R[:, 0]

    near, far = (middle(at + k * h) + middle(at - k * h) for k in (1, 2))
    acceleration = (16 * near - far - 30 * middle(at)) / (12 * h**2)  # fourth order
    moved = delta_motion.motion(ROBOT, *PATH.at(at))
    frame = delta_motion.moving_links(ROBOT, moved)[link]
    w, dw, v, a = (part[:, leg] for part in frame.local())
    R = frame.R[:, leg]
    loads = _link_loads(form, w, dw, v, a, GRAVITY @ R)[0]
    right = ("weight", "Z, velocity", "Z, turning", "Y, velocity", "Y, turning")
    total = loads[:, [list(LINK_LOADS).index(name) for name in right]].sum(axis=1)
    # Nodal values u, phi, v, v', w, w' at both ends when the link moves along each base axis
    nodes = np.zeros((12, 3))
    nodes[[0, 2, 4]] = R[0].T
    nodes[[6, 8, 10]] = R[0].T
    wanted = beam.m * beam.L * (GRAVITY - acceleration)
    assert total @ nodes == pytest.approx(wanted, rel=1e-5)


def test_damping_has_its_ratio_at_two_modes():
    M, K = PaperDelta(ROBOT).matrices((0.1, 0, 0.5))
    alpha, beta = rayleigh(M, K, 0.05)
    omega = PaperDelta(ROBOT).frequencies((0.1, 0, 0.5))[:2]
    assert alpha / (2 * omega) + beta * omega / 2 == pytest.approx([0.05, 0.05])


@pytest.mark.parametrize("frame", ["rigid", "root", "chord"])
def test_half_length_frames(frame):
    """An arm has no other root than the rigid one; ends of a chord do not bend."""
    position = np.array([[0.1, 0.0, 0.5]])
    rigid = half_length(PaperDelta(ROBOT, 2), position, 0, "rigid")
    arm, _ = half_length(PaperDelta(ROBOT, 2), position, 0, frame)
    if frame != "chord":
        assert np.array_equal(arm, rigid[0])
    else:  # nothing that moves both ends alike
        assert arm[0, 0] == pytest.approx(rigid[0][0, 0] - 0.5 * np.eye(66)[6])


@pytest.mark.slow
@pytest.mark.parametrize("terms", TERMS)
def test_newmark_and_matrix_exponentials_meet(terms):
    """Exported M, C, K, F(t) solved by another method."""
    loads = kuo_search.Case(kuo_search.Setting(), kuo_search.links_alone()).weights()
    off = []
    for steps in (800, 1600):
        t = np.linspace(0, 0.8, 2 * steps + 1)
        found = path_matrices(PaperDelta(ROBOT), PATH, t, terms).damped(0.02)
        parts = (found.t, found.M, found.C, found.K, found.elastic, found.loads)
        ends = PathMatrices(*(part[::2] for part in parts))
        start = static_start(found)
        ours = newmark_columns(ends, start)[:, :6] @ loads
        other = exponentials(found, start)[:, :6] @ loads
        each = [
            np.abs(ours[:, part] - other[:, part]).max() / np.abs(other[:, part]).max()
            for part in (slice(0, 3), slice(3, 6))  # displacements, rotations
        ]
        off.append(each)
    assert all(fine < coarse for coarse, fine in zip(*off, strict=True))
    # Newmark's phase is late by (omega h)^2 / 12 of omega t: 0.7 % of the eighth mode at 0.5 ms
    assert max(off[1]) < 1e-2


@pytest.mark.slow
def test_the_documented_nearest_is_found_again():
    version = kuo_search.Setting("tables", "stiffened", 0.2, hips="free")
    tried, nearest, _ = kuo_search.search(iter([version]))
    assert tried == len(kuo_search.load_weights("free"))
    assert nearest["twelve numbers of 5.4"].miss == pytest.approx(0.359, abs=5e-4)
    off = kuo_search.misses(nearest["twelve numbers of 5.4"].numbers, kuo_search.targets())
    assert off[:12].mean() == pytest.approx(nearest["twelve numbers of 5.4"].miss)
