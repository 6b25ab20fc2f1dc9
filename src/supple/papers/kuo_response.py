"""[Kuo2016]: time response of the paper's own model, the one behind its Tables 2 and 3.

The model is `kuo_model.PaperDelta`, carried along the rigid motion as (39)-(44) say:
    M = sum S' M_e S,   C = 2 sum S' (M_e S' + B_e S),
    K = sum S' (M_e S'' + 2 B_e S' + (K_e + K_d) S),   F = sum S' P_e.
The paper does not say which of its terms its program kept, with which signs, what damps the
motion and how it starts. So every load is its own column here (`LOADS`), the terms of C and K come
in four versions (`TERMS`), and the equations are linear: what any combination of loads does is the
sum of what each does. `kuo_search` goes through the combinations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from ..architectures import delta_motion
from ..architectures.frames import Frames
from ..beams.theory import Beam
from ..control.trajectories import Trajectory
from ..equations.closed.rigid_delta import RigidDelta
from ..kernels.spatial import cross, cross_matrix
from .kuo_model import FIELDS, PaperDelta, hermite_shapes, link_matrices

__all__ = [
    "LINK_LOADS",
    "LOADS",
    "PLATFORM_LOADS",
    "TERMS",
    "PathMatrices",
    "Terms",
    "half_length",
    "newmark_columns",
    "path_matrices",
    "rayleigh",
    "static_start",
]

Array = NDArray[np.float64]
Frame = Literal["rigid", "root", "chord"]
Terms = Literal["frozen", "moving", "stiffened", "printed"]
GRAVITY = np.array([0.0, 0.0, 9.81])  # m/s^2, z down
TERMS = {
    "frozen": "M and K_e at every instant, nothing that comes from the motion",
    "moving": "and S', S'', B_e, M_s",
    "stiffened": "and the tension of (34)-(36), with its slips corrected",
    "printed": "B_e as (23) and the tension as (37), (40) print them",
}
LINK_LOADS = {
    "weight": "G_e of (32), gravity down, in link axes",
    "weight, axes not turned": "G_e with gravity along the z of every link",
    "Z, velocity": "(25): -rho A int N dV_o/dt",
    "Z, turning": "(25): -rho A int N (w' x r), and spin",
    "Y, velocity": "(24): -rho A int N (w x V_o)",
    "Y, turning": "(24): -rho A int N (w x w x r)",
    "Y, printed signs": "(24) with +w_x w_y, +w_x w_z, its first bracket on N_u",
    "Y, as printed": "(24) to the letter: its first bracket on N_v",
}
PLATFORM_LOADS = {
    "weight of platform": "m_p g",
    "inertia of platform": "-m_p P''",
    "torque of motors": "(16), on hips that are free",
}
LOADS = (
    *(f"{name}, arms" for name in LINK_LOADS),
    *(f"{name}, rods" for name in LINK_LOADS),
    *PLATFORM_LOADS,
)
E_X = np.array([1.0, 0.0, 0.0])
DIFFERENCE_STEP = 2e-3  # s, of the differences that give S' and S''


@dataclass(frozen=True)
class PathMatrices:
    """M, C, K along a path, and the load of every name, at evenly spaced instants.

    Attributes
    ----------
    t
        (T,).
    M, C, K
        (T, N, N), of (44), without physical damping.
    elastic
        (T, N, N), the stiffness of the beams alone.
    loads
        (T, N, m), one column per name of `LOADS`.
    """

    t: Array
    M: Array
    C: Array
    K: Array
    elastic: Array
    loads: Array

    def damped(self, ratio: float) -> PathMatrices:
        """Return the same with alpha M + beta K_e in C: a ratio at modes 1 and 2 of the start."""
        alpha, beta = rayleigh(self.M[0], self.elastic[0], ratio)
        C = self.C + alpha * self.M + beta * self.elastic
        return PathMatrices(self.t, self.M, C, self.K, self.elastic, self.loads)


@dataclass(frozen=True)
class LinkForms:
    """Integrals over one link's nodal values, its axes: all that (21)-(41) need.

    Attributes
    ----------
    M, K
        (n, n), (21) and (29).
    turn
        (3, n, n), rho A int N' [e_i] N.
    twice
        (3, 3, n, n), rho A int N' [e_i] [e_j] N.
    first, along
        (n, 3), rho A int N and rho A int x N.
    spin
        (n,), rho I_x int N_phi.
    slopes
        (3, n, n), int x^k (N_vx N_vx' + N_wx N_wx').
    mass_per_length, L
        Of the beam.
    """

    M: Array
    K: Array
    turn: Array
    twice: Array
    first: Array
    along: Array
    spin: Array
    slopes: Array
    mass_per_length: float
    L: float


def link_forms(beam: Beam, n: int, order: str) -> LinkForms:
    """Return the integrals of one link of n elements."""
    M, K = link_matrices(beam, n, order)
    s, weight = leggauss(8)
    element = (s + 1) / 2
    l = beam.L / n
    x = np.concatenate([(k + element) * l for k in range(n)])
    w = np.tile(weight / 2 * l, n)
    N = link_fields(beam.L, n, order, element)
    N_x = link_fields(beam.L, n, order, element, derivative=1)

    axes = cross_matrix(np.eye(3))
    u = N[:, :3]
    turn = beam.m * np.einsum("p,pai,kab,pbj->kij", w, u, axes, u)
    twice = beam.m * np.einsum("p,pai,kab,lbc,pcj->klij", w, u, axes, axes, u)
    slope = N_x[:, 1:3]
    slopes = np.stack([np.einsum("p,pai,paj->ij", w * x**k, slope, slope) for k in range(3)])
    return LinkForms(
        M,
        K,
        turn,
        twice,
        beam.m * np.einsum("p,pai->ia", w, u),
        beam.m * np.einsum("p,pai->ia", w * x, u),
        beam.rIp * np.einsum("p,pi->i", w, N[:, 3]),
        slopes,
        beam.m,
        beam.L,
    )


def link_fields(L: float, n: int, order: str, element: Array, derivative: int = 0) -> Array:
    """u, v, w, phi of a link per nodal value, (n points, 4, values), at fractions of each element.

    The nodal values are those of `link_matrices`.
    """
    u, v = FIELDS[order]
    node = 2 * u + 2 * v
    out = np.zeros((n, len(element), 4, (n + 1) * node))
    kinds = ((0, 0, u), (3, u, u), (1, 2 * u, v), (2, 2 * u + v, v))  # field, first, values
    for row, first, values in kinds:
        shapes = hermite_shapes(values, L / n, derivative, element)
        for k in range(n):
            places = [e * node + first + d for e in (k, k + 1) for d in range(values)]
            out[k, :, row, places] = shapes.T
    return out.reshape(n * len(element), 4, -1)


def path_matrices(
    model: PaperDelta, path: Trajectory, t: Array, terms: Terms = "moving"
) -> PathMatrices:
    """Return the paper's equations at the instants t of a path of the platform."""
    assert terms in get_args(Terms)
    position, velocity, acceleration = path(t % path.duration if path.periodic else t)
    moved = delta_motion.motion(model.robot, position, velocity, acceleration)
    frames = delta_motion.moving_links(model.robot, moved)
    arm_form, rod_form = (link_forms(beam, model.n, model.order) for beam in model.beams)
    tension = _tensions(model, acceleration, frames)

    many = len(t)
    N = model.size
    M = np.zeros((many, N, N))
    C = np.zeros((many, N, N))
    K = np.zeros((many, N, N))
    elastic = np.zeros((many, N, N))
    loads = np.zeros((many, N, len(LOADS)))
    M[:, :6, :6] = model.platform_mass()
    for leg in range(3):
        transformations = _with_rates(model, position, velocity, acceleration, leg)
        for link, form in enumerate((arm_form, rod_form)):
            S, S1, S2 = (part[link] for part in transformations)
            w, dw, v, a = (part[:, leg] for part in frames[link].local())
            S_T = np.swapaxes(S, 1, 2)
            stiffness = S_T @ form.K @ S
            M += S_T @ form.M @ S
            K += stiffness
            elastic += stiffness
            if terms != "frozen":
                B, K_d = _motion_terms(form, w, dw, terms)
                if terms != "moving":
                    g_x = -(frames[link].R[:, leg, :, 0] @ GRAVITY)
                    K_d = K_d + _stiffening(form, tension[link][:, leg], a[:, 0] + g_x, w, terms)
                C += 2 * S_T @ (form.M @ S1 + B @ S)
                K += S_T @ (form.M @ S2 + 2 * B @ S1 + K_d @ S)
            gravity = np.einsum("tji,j->ti", frames[link].R[:, leg], GRAVITY)
            columns = slice(link * len(LINK_LOADS), (link + 1) * len(LINK_LOADS))
            loads[:, :, columns] += S_T @ _link_loads(form, w, dw, v, a, gravity)
    mass = model.robot.platform.body.mass
    loads[:, :3, LOADS.index("weight of platform")] = mass * GRAVITY
    loads[:, :3, LOADS.index("inertia of platform")] = -mass * acceleration
    if model.hips == "free":
        torque = RigidDelta(model.robot, "paper").inverse_dynamics(position, velocity, acceleration)
        each = (N - 6) // 3
        for leg in range(3):
            hip = 6 + (leg + 1) * each - 1  # w' at A: a turn about -y
            loads[:, hip, LOADS.index("torque of motors")] = -torque[:, leg]
    return PathMatrices(t, M, C, K, elastic, loads)


def _with_rates(
    model: PaperDelta, position: Array, velocity: Array, acceleration: Array, leg: int
) -> tuple[tuple[Array, Array], tuple[Array, Array], tuple[Array, Array]]:
    """S of arm and rod with their first and second derivatives in time, fourth-order differences.

    S depends on where the platform is, so that P + v s + a s^2 / 2 has the derivatives of the path.
    """
    at = []
    h = DIFFERENCE_STEP
    for k in (-2, -1, 0, 1, 2):
        s = k * h
        at.append(model.nodes(position + velocity * s + acceleration * s**2 / 2, leg))
    S = []
    S1 = []
    S2 = []
    for link in range(2):
        far_back, back, here, ahead, far_ahead = (each[link] for each in at)
        S.append(here)
        S1.append((far_back - 8 * back + 8 * ahead - far_ahead) / (12 * h))
        S2.append((-far_back + 16 * back - 30 * here + 16 * ahead - far_ahead) / (12 * h**2))
    return (S[0], S[1]), (S1[0], S1[1]), (S2[0], S2[1])


def _motion_terms(form: LinkForms, w: Array, dw: Array, terms: Terms) -> tuple[Array, Array]:
    """B_e and dB_e/dt - M_s of (22), (23), (T, n, n) each."""
    sign = -1.0 if terms == "printed" else 1.0
    B = sign * np.einsum("tk,kij->tij", w, form.turn)
    B_rate = sign * np.einsum("tk,kij->tij", dw, form.turn)
    return B, B_rate + np.einsum("tk,tl,klij->tij", w, w, form.twice)


def _stiffening(form: LinkForms, end: Array, pull: Array, w: Array, terms: Terms) -> Array:
    """Stiffness of the tension P(x), (T, n, n).

    (35) is P_r - m (L - x) (a_x + g_x) + m (L^2 - x^2) (w_y^2 + w_z^2) / 2. (40) prints P_r A_s
    with A_s of (37), which has a factor L too much, and B_s has it too.
    """
    m = form.mass_per_length
    L = form.L
    even, linear, square = form.slopes
    spread = (w[:, 1] ** 2 + w[:, 2] ** 2) / 2
    factor = L if terms == "printed" else 1.0
    out = np.multiply.outer(factor * end, even)
    out += np.multiply.outer(m * pull, factor * linear - L * even)
    out += np.multiply.outer(m * spread, L**2 * even - square)
    return np.asarray(out)


def _tensions(
    model: PaperDelta,
    acceleration: Array,
    frames: tuple[Frames, Frames],
) -> tuple[Array, Array]:
    """P_r of arms and rods, (T, 3) each, by the paper's rigid model (13)-(16): m2 at both ends."""
    arms, rods = frames
    m2 = model.beams[1].m * model.beams[1].L
    mass = model.robot.platform.body.mass + 3 * m2
    along_rods = rods.R[..., 0]
    force = mass * (acceleration - GRAVITY)
    rod = -np.linalg.solve(np.swapaxes(along_rods, 1, 2), force[..., None])[..., 0]
    at_elbow = rod[..., None] * along_rods - m2 * (rods.a - GRAVITY)
    return np.einsum("tli,tli->tl", at_elbow, arms.R[..., 0]), rod


def _link_loads(form: LinkForms, w: Array, dw: Array, v: Array, a: Array, gravity: Array) -> Array:
    """Loads of one link's nodal values, (T, n, m): one column per name of `LINK_LOADS`."""
    # Velocity of the origin in link axes changes by a - w x V
    turning_velocity = cross(w, v)
    centrifugal = cross(w, cross(w, np.broadcast_to(E_X, w.shape)))
    printed_signs = centrifugal * np.array([1.0, -1.0, -1.0])
    columns = {
        "weight": gravity @ form.first.T,
        "weight, axes not turned": np.tile(GRAVITY[2] * form.first[:, 2], (len(w), 1)),
        "Z, velocity": -(a - turning_velocity) @ form.first.T,
        "Z, turning": -cross(dw, np.broadcast_to(E_X, w.shape)) @ form.along.T
        - np.multiply.outer(dw[:, 0], form.spin),
        "Y, velocity": -turning_velocity @ form.first.T,
        "Y, turning": -centrifugal @ form.along.T,
        "Y, printed signs": -turning_velocity @ form.first.T - printed_signs @ form.along.T,
        "Y, as printed": -turning_velocity @ _first_on_v(form.first).T
        - printed_signs @ _first_on_v(form.along).T,
    }
    return np.stack([columns[name] for name in LINK_LOADS], axis=2)


def _first_on_v(integrals: Array) -> Array:
    """Integrals (n, 3) of N_u, N_v, N_w with N_v in the place of N_u."""
    return integrals[:, [1, 1, 2]]


def rayleigh(M: Array, K: Array, ratio: float) -> tuple[float, float]:
    """Return alpha and beta that give a damping ratio at modes 1 and 2."""
    from scipy.linalg import eigh

    squares = eigh(K, M, eigvals_only=True, subset_by_index=(0, 1))
    first, second = np.sqrt(np.maximum(squares, 0.0))
    if first + second == 0:
        return 0.0, 0.0
    beta = 2 * ratio / (first + second)
    return float(beta * first * second), float(beta)


def static_start(found: PathMatrices) -> Array:
    """Return the deflection (N, m) that carries each load of the first instant at rest."""
    return np.asarray(np.linalg.solve(found.elastic[0], found.loads[0]))


def newmark_columns(found: PathMatrices, start: Array | None = None) -> Array:
    """Return the deflections (T, N, m) under each load, by Newmark's average acceleration.

    start: (N, m) at the first instant, at rest. Default: undeformed.
    """
    M = found.M
    C = found.C
    K = found.K
    loads = found.loads
    h = float(found.t[1] - found.t[0])
    q = np.zeros(loads.shape[1:]) if start is None else np.array(start)
    v = np.zeros_like(q)
    acceleration = np.linalg.solve(M[0], loads[0] - K[0] @ q)
    inverse = np.linalg.inv(M + h / 2 * C + h**2 / 4 * K)
    out = np.empty(loads.shape)
    out[0] = q
    for k in range(1, len(found.t)):
        q = q + h * v + h**2 / 4 * acceleration
        v = v + h / 2 * acceleration
        acceleration = inverse[k] @ (loads[k] - C[k] @ v - K[k] @ q)
        q = q + h**2 / 4 * acceleration
        v = v + h / 2 * acceleration
        out[k] = q
    return out


def half_length(model: PaperDelta, position: Array, leg: int, frame: Frame) -> tuple[Array, Array]:
    """u, v, w, phi at half length of a leg's arm and rod per global variable, (T, 4, N) each.

    frame: "rigid", from the rigid motion, as the paper's nodal variables are; "root", from the
    link's root section, turned with it; "chord", from the line between the ends.
    """
    out = []
    for beam, S in zip(model.beams, model.nodes(position, leg), strict=True):
        element = np.array([0.0, 0.5, 1.0])
        fields = link_fields(beam.L, model.n, model.order, element)
        slopes = link_fields(beam.L, model.n, model.order, element, derivative=1)
        middle = fields[1] if model.n % 2 else fields[3 * (model.n // 2)]
        if model.n > 1 and model.n % 2:
            middle = fields[3 * (model.n // 2) + 1]
        root = fields[0]
        end = fields[-1]
        if frame == "root":
            middle = middle - root
            middle[1:3] -= beam.L / 2 * slopes[0][1:3]
        elif frame == "chord":
            middle = middle - (root + end) / 2
        out.append(np.asarray(middle @ S))
    return out[0], out[1]
