"""The equations of motion of a chain of flexible links: one text, for any scalars.

Every link is a body with 6 + k coordinates: the acceleration (a, alpha) of its root, segment axes,
and its k elastic coordinates. `own_terms` and `tip_terms` say what one link weighs; `kinematics`
and `rates` how each carries the next; the three recursions (`inverse`, `mass_matrix`, `forward`)
only add these up. Accelerations are those of the root point seen from the base ("classical", not
spatial ones), so that velocities of translation never enter. Gravity is an acceleration -g of
the base. A planar arm is the same text with zeros, see `algebra`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    axis_rotation,
    combine,
    congruence,
    cross,
    cross_matrix,
    dot,
    identity,
    known,
    ldl,
    ldl_half,
    ldl_rest,
    mass_about_z,
    matmul,
    matvec,
    mul,
    negate,
    rotated_mass,
    scale,
    sub,
    total,
    transpose,
    vadd,
    zeros,
)

__all__ = ["Numbers", "Pose", "Rates", "forward", "inverse", "kinematics", "mass_matrix", "rates"]

ZERO = [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class Numbers:
    """A ChainLink's numbers as nested lists of scalars: floats, or symbols for a regressor.

    The names are those of `chain.ChainLink` and `beams.invariants.Invariants`.
    """

    R_PM: Matrix
    p_PM: Vector
    axis: Vector | None
    length: float
    mass: Scalar
    first: Scalar
    second: Scalar
    P: Matrix
    X: Matrix
    G: list[list[Matrix]]
    J: Vector
    JPsi: Matrix
    PsiJPsi: Matrix
    pairs: tuple[tuple[int, int], ...]
    N_end: Matrix
    Psi_end: Matrix
    root_mass: Matrix
    tip_mass: Matrix
    rotor: Scalar

    @property
    def count(self) -> int:
        """Number of elastic coordinates."""
        return len(self.PsiJPsi)


@dataclass(frozen=True)
class Pose:
    """Where one link is and how its end moves with its elastic coordinates.

    Attributes:
        R: this link's axes seen from the previous link's.  about_z: R is a turn about z.  offset: from the previous end to this
        root, previous axes.  z: eta and its products; Z = dz/deta.  turn: rotation of the end.
        arm: from root to end.  Jv, Jw: (3, k), displacement and rotation of the end with eta.
        angles: phi, psi_y, psi_z of the end.
    """

    R: Matrix
    about_z: bool
    offset: Vector
    z: Vector
    Z: Matrix
    turn: Matrix
    arm: Vector
    Jv: Matrix
    Jw: Matrix
    angles: Vector


@dataclass(frozen=True)
class Rates:
    """How fast one link turns and bends, link axes; what its motion adds to accelerations.

    Attributes:
        w: angular velocity of the root; W = [w][w], twice = 2 [w].  w_end: of the end.  etad, zd: rates of eta and z.
        zb: part of z's second derivative without eta's.  end: (linear, angular) acceleration of
        the end without those of root and eta.  root: angular acceleration w x axis sd.
    """

    w: Vector
    W: Matrix
    twice: Matrix
    w_end: Vector
    etad: Vector
    zd: Vector
    zb: Vector
    end: tuple[Vector, Vector]
    root: Vector


def kinematics(links: list[Numbers], s: Vector, eta: list[Vector]) -> list[Pose]:
    """Return the pose of every link; s are the joint angles (0.0 for a fixed joint)."""
    poses: list[Pose] = []
    for i, link in enumerate(links):
        before = poses[-1] if poses else None
        R = _between(link, before, s[i])
        offset = matvec(before.turn, link.p_PM) if before else link.p_PM
        poses.append(_pose(link, R, offset, eta[i]))
    return poses


def _between(link: Numbers, before: Pose | None, s: Scalar) -> Matrix:
    """R = (rotation of the previous end) R_PM Rot(axis, s); turns about one z are added first."""
    if link.axis is None:
        return matmul(before.turn, link.R_PM) if before else link.R_PM
    upright = link.axis == [0.0, 0.0, 1.0] and link.R_PM == identity(3)
    if before and upright and known(before.angles[:2], [0.0, 0.0]):
        return axis_rotation(link.axis, add(before.angles[2], s))
    fixed = matmul(before.turn, link.R_PM) if before else link.R_PM
    return matmul(fixed, axis_rotation(link.axis, s))


def _pose(link: Numbers, R: Matrix, offset: Vector, eta: Vector) -> Pose:
    z = eta + [mul(eta[j], eta[l]) for j, l in link.pairs]
    Z = identity(len(eta)) + [_product_row(eta, j, l) for j, l in link.pairs]
    phi, psi_y, psi_z = angles = matvec(link.Psi_end, eta)
    Rz = axis_rotation([0.0, 0.0, 1.0], psi_z)
    RzRy = matmul(Rz, axis_rotation([0.0, 1.0, 0.0], psi_y))
    axes = transpose([[row[0] for row in RzRy], [row[1] for row in Rz], [0.0, 0.0, 1.0]])
    return Pose(
        R=R,
        about_z=known(R[2], [0.0, 0.0, 1.0]),
        offset=offset,
        z=z,
        Z=Z,
        turn=matmul(RzRy, axis_rotation([1.0, 0.0, 0.0], phi)),
        arm=vadd([link.length, 0.0, 0.0], matvec(link.N_end, z)),
        Jv=matmul(link.N_end, Z) if eta else [[], [], []],
        Jw=matmul(axes, link.Psi_end) if eta else [[], [], []],
        angles=angles,
    )


def _product_row(eta: Vector, j: int, l: int) -> Vector:
    """d(eta_j eta_l)/d eta."""
    row: Vector = [0.0] * len(eta)
    row[j] = add(row[j], eta[l])
    row[l] = add(row[l], eta[j])
    return row


def rates(
    links: list[Numbers], poses: list[Pose], sd: Vector, etad: list[Vector]
) -> list[Rates]:
    """Return the angular velocity and the velocity-dependent accelerations of every link."""
    out: list[Rates] = []
    for i, (link, pose) in enumerate(zip(links, poses, strict=True)):
        w = matvec(transpose(pose.R), out[-1].w_end) if out else ZERO
        root = ZERO
        if link.axis is not None:
            spin = scale(sd[i], link.axis)
            root = cross(w, spin)
            w = vadd(w, spin)
        out.append(_rates(link, pose, w, etad[i], root))
    return out


def _rates(link: Numbers, pose: Pose, w: Vector, etad: Vector, root: Vector) -> Rates:
    zd = matvec(pose.Z, etad)
    zb = [0.0] * len(etad) + [mul(2.0, mul(etad[j], etad[l])) for j, l in link.pairs]
    end_v, end_w = matvec(pose.Jv, etad), matvec(pose.Jw, etad)
    S = cross_matrix(w)
    W, twice = matmul(S, S), [scale(2.0, row) for row in S]
    linear = vadd(matvec(W, pose.arm), matvec(twice, end_v), matvec(link.N_end, zb))
    angular = vadd(cross(w, end_w), _turn_bias(link, pose, etad))
    return Rates(w, W, twice, vadd(w, end_w), etad, zd, zb, (linear, angular), root)


def _turn_bias(link: Numbers, pose: Pose, etad: Vector) -> Vector:
    """Angular acceleration of the end, root axes, that R_z R_y R_x brings without eta's."""
    phi_d, y_d, z_d = matvec(link.Psi_end, etad)
    Rz = axis_rotation([0.0, 0.0, 1.0], pose.angles[2])
    spin_z = [0.0, 0.0, z_d]
    spin_y = scale(y_d, [row[1] for row in Rz])
    spin_x = scale(phi_d, [row[0] for row in pose.turn])
    return vadd(cross(spin_z, spin_y), cross(vadd(spin_z, spin_y), spin_x))


def own_mass(link: Numbers, pose: Pose) -> tuple[Matrix, list[list[Vector]]]:
    """Mass (6 + k, 6 + k) of a link's beam and root bodies, and H_ab = int m r_a N_b (rows kz)."""
    z, k = pose.z, link.count
    H = [[matvec(transpose(link.G[a][b]), z) if k else [] for b in range(3)] for a in range(3)]
    H[0] = [vadd(H[0][b], link.X[b]) for b in range(3)]
    c = vadd([link.first, 0.0, 0.0], matvec(link.P, z))
    J = _rotational(link, z, H)
    v_eta = matmul(link.P, pose.Z) if k else [[], [], []]
    moment = [vadd(H[1][2], negate(H[2][1])), vadd(H[2][0], negate(H[0][2])),
              vadd(H[0][1], negate(H[1][0]))]  # fmt: skip
    w_eta = combine(matmul(moment, pose.Z), link.JPsi) if k else [[], [], []]
    trace_G = combine(combine(link.G[0][0], link.G[1][1]), link.G[2][2])
    eta_eta = combine(congruence(pose.Z, trace_G), link.PsiJPsi) if k else []
    C = cross_matrix(negate(c))
    M = _blocks(link.mass, C, J, v_eta, w_eta, eta_eta)
    for a in range(6):
        for b in range(6):
            M[a][b] = add(M[a][b], link.root_mass[a][b])
    return M, H


def _rotational(link: Numbers, z: Vector, H: list[list[Vector]]) -> Matrix:
    """Inertia about the root, root bodies left out: tr Q - Q + J, Q_ab = int m r_a r_b.

    Q_ab = H_ab z, and for a = b = x also X_x z + int m x^2, which is kept with the constants.
    """
    Q = [[dot(H[a][b], z) if b >= a else 0.0 for b in range(3)] for a in range(3)]
    Q[0][0] = add(Q[0][0], dot(link.X[0], z))
    J = zeros(3, 3)
    for a in range(3):
        constant = add(link.J[a], link.second if a else 0.0)
        J[a][a] = add(constant, total([Q[b][b] for b in range(3) if b != a]))
        for b in range(a + 1, 3):
            J[a][b] = J[b][a] = mul(-1.0, Q[a][b])
    return J


def _blocks(
    mass: Scalar, C: Matrix, J: Matrix, v_eta: Matrix, w_eta: Matrix, eta_eta: Matrix
) -> Matrix:
    """The symmetric matrix of (a, alpha, eta) from its upper blocks."""
    M = []
    for a in range(3):
        M.append([mass if a == b else 0.0 for b in range(3)] + list(C[a]) + list(v_eta[a]))
    for a in range(3):
        M.append([C[b][a] for b in range(3)] + list(J[a]) + list(w_eta[a]))
    for j in range(len(eta_eta)):
        M.append([v_eta[a][j] for a in range(3)] + [w_eta[a][j] for a in range(3)] + eta_eta[j])
    return M


def own_bias(
    link: Numbers, pose: Pose, rate: Rates, M: Matrix, H: list[list[Vector]]
) -> Vector:
    """Inertial forces (6 + k) of a link's beam and root bodies at zero acceleration.

    F = w x (w x c) + 2 w x P zd + P zb; moment w x (J w + JPsi etad) + 2 (tr D - D') w +
    int m r x N zb, D_ab = int m r_a zd N_b; elastic rows Z' int m N'(w x (w x r) + 2 w x N zd + N zb).
    """
    w, zd, zb = rate.w, rate.zd, rate.zb
    c = [M[1][5], M[2][3], M[0][4]]
    F = vadd(matvec(rate.W, c), matvec(rate.twice, matvec(link.P, zd)), matvec(link.P, zb))
    D = [[dot(H[a][b], zd) if zd else 0.0 for b in range(3)] for a in range(3)]
    trace = total([D[a][a] for a in range(3)])
    spin = vadd(matvec([row[3:6] for row in M[3:6]], w), matvec(link.JPsi, rate.etad))
    stir = vadd(scale(trace, w), negate(matvec(transpose(D), w)))
    N = vadd(cross(w, spin), scale(2.0, stir))
    if link.pairs:
        moment = [sub(dot(H[1][2], zb), dot(H[2][1], zb)), sub(dot(H[2][0], zb), dot(H[0][2], zb)),
                  sub(dot(H[0][1], zb), dot(H[1][0], zb))]  # fmt: skip
        N = vadd(N, moment)
    return F + N + (_elastic_bias(link, pose, rate, H) if link.count else [])


def _elastic_bias(link: Numbers, pose: Pose, rate: Rates, H: list[list[Vector]]) -> Vector:
    rows: list[Vector] = []
    for a in range(3):
        for b in range(3):
            rows.append(scale(rate.W[a][b], H[b][a]))
            if not known(rate.twice[a][b], 0.0):
                rows.append(scale(rate.twice[a][b], matvec(link.G[a][b], rate.zd)))
    if link.pairs:
        rows += [matvec(link.G[a][a], rate.zb) for a in range(3)]
    return matvec(transpose(pose.Z), vadd(*rows))


def tip_terms(link: Numbers, pose: Pose, rate: Rates | None) -> tuple[Matrix, Vector]:
    """Mass (6, 6) of the bodies on a link's end, about the end, link axes; their inertial force."""
    if known(link.tip_mass, zeros(6, 6)):
        return zeros(6, 6), [0.0] * 6
    M = rotated_mass(pose.turn, link.tip_mass)
    if rate is None:
        return M, [0.0] * 6
    w, c = rate.w_end, [M[1][5], M[2][3], M[0][4]]
    return M, cross(w, cross(w, c)) + cross(w, matvec([row[3:] for row in M[3:]], w))


def _end_map(pose: Pose) -> Matrix:
    """T (6, 6 + k): acceleration of the end from those of root and eta."""
    S = cross_matrix(negate(pose.arm))
    unit = identity(3)
    top = [unit[a] + S[a] + list(pose.Jv[a]) for a in range(3)]
    return top + [[0.0, 0.0, 0.0] + unit[a] + list(pose.Jw[a]) for a in range(3)]


def _moved(F: Vector, offset: Vector) -> Vector:
    """A force (force, moment) at offset, as one at the origin."""
    return F[:3] + vadd(F[3:], cross(offset, F[:3]))


def _turned(R: Matrix, F: Vector) -> Vector:
    return matvec(R, F[:3]) + matvec(R, F[3:])


def _rotated(pose: Pose, M: Matrix) -> Matrix:
    """A mass of this link in the axes of the previous one."""
    if pose.about_z:
        return mass_about_z(pose.R[0][0], pose.R[1][0], M)
    return rotated_mass(pose.R, M)


def _shift_map(offset: Vector) -> Matrix:
    S = cross_matrix(negate(offset))
    unit = identity(3)
    return [unit[a] + S[a] for a in range(3)] + [[0.0] * 3 + unit[a] for a in range(3)]


def _offset_bias(pose: Pose, before: Rates) -> Vector:
    """Acceleration of this root beyond the previous end's, w x (w x offset), previous axes."""
    return cross(before.w_end, cross(before.w_end, pose.offset))


def inverse(
    links: list[Numbers],
    s: tuple[Vector, Vector, Vector],
    eta: tuple[list[Vector], list[Vector], list[Vector]],
    gravity: Vector,
    wrench: Vector | None = None,
) -> tuple[Vector, list[Vector]]:
    """Return the joint efforts and elastic forces of a motion: M qdd + h + g, stiffness left out.

    `wrench` is a (force, moment) on the last end, base axes, that the efforts then carry.
    """
    poses = kinematics(links, s[0], eta[0])
    rate = rates(links, poses, s[1], eta[1])
    roots, ends = _accelerations(links, poses, rate, s[2], eta[2], gravity)
    F = _wrench_on_end(poses, wrench)
    efforts: Vector = [0.0] * len(links)
    elastic: list[Vector] = [[] for _ in links]
    for i in reversed(range(len(links))):
        link, pose = links[i], poses[i]
        M, H = own_mass(link, pose)
        own = vadd(matvec(M, roots[i] + eta[2][i]), own_bias(link, pose, rate[i], M, H))
        tip, gyro = tip_terms(link, pose, rate[i])
        F = vadd(F, matvec(tip, ends[i]), gyro)
        J = [pose.Jv[a] for a in range(3)] + [pose.Jw[a] for a in range(3)]
        elastic[i] = vadd(own[6:], matvec(transpose(J), F)) if link.count else []
        F = vadd(own[:6], _moved(F, pose.arm))
        if link.axis is not None:
            efforts[i] = add(dot(link.axis, F[3:]), mul(link.rotor, s[2][i]))
        F = _moved(_turned(pose.R, F), pose.offset)
    return efforts, elastic


def _wrench_on_end(poses: list[Pose], wrench: Vector | None) -> Vector:
    """Minus the outer wrench on the last end, in the last link's axes."""
    if wrench is None:
        return [0.0] * 6
    F = negate(wrench)
    for pose in poses:
        F = _turned(transpose(pose.R), F)
    return F


def _accelerations(
    links: list[Numbers], poses: list[Pose], rate: list[Rates], sdd: Vector,
    etadd: list[Vector], gravity: Vector,
) -> tuple[list[Vector], list[Vector]]:  # fmt: skip
    """Accelerations (6,) of the root and of the end of every link, its own axes."""
    roots: list[Vector] = []
    ends: list[Vector] = []
    before = negate(gravity) + ZERO
    for i, (link, pose) in enumerate(zip(links, poses, strict=True)):
        root = _root_acceleration(pose, before, rate[i], rate[i - 1] if i else None)
        if link.axis is not None:
            root = root[:3] + vadd(root[3:], scale(sdd[i], link.axis))
        linear, angular = rate[i].end
        before = vadd(matvec(_end_map(pose), root + etadd[i]), linear + angular)
        roots.append(root)
        ends.append(before)
    return roots, ends


def _root_acceleration(pose: Pose, end: Vector, rate: Rates, before: Rates | None) -> Vector:
    """Acceleration of a root from that of the previous end, joint acceleration left out."""
    linear = vadd(end[:3], cross(end[3:], pose.offset))
    if before is not None:
        linear = vadd(linear, _offset_bias(pose, before))
    back = transpose(pose.R)
    return matvec(back, linear) + vadd(matvec(back, end[3:]), rate.root)


def mass_matrix(
    links: list[Numbers], s: Vector, eta: list[Vector]
) -> list[tuple[int, int, int, int, Scalar]]:
    """Return the mass matrix as entries (link, row, link', column, value), row 0 the joint.

    Composite bodies from the tip to the base; the force of a unit acceleration of each
    coordinate is carried down alongside.
    """
    poses = kinematics(links, s, eta)
    entries: list[tuple[int, int, int, int, Scalar]] = []
    beyond = zeros(6, 6)
    carried: list[tuple[int, int, Vector]] = []
    for i in reversed(range(len(links))):
        link, pose, k = links[i], poses[i], links[i].count
        T = _end_map(pose)
        M = combine(own_mass(link, pose)[0], congruence(T, combine(beyond, tip_terms(link, pose, None)[0])))
        carried = [(l, c, matvec(transpose(T), F)) for l, c, F in carried]
        entries += [(i, 1 + j, l, c, F[6 + j]) for l, c, F in carried for j in range(k)]
        entries += [(i, 1 + j, i, 1 + m, M[6 + j][6 + m]) for j in range(k) for m in range(j, k)]
        carried = [(l, c, F[:6]) for l, c, F in carried]
        carried += [(i, 1 + j, [M[a][6 + j] for a in range(6)]) for j in range(k)]
        if link.axis is not None:
            column = matvec([row[3:6] for row in M[:6]], link.axis)
            carried.append((i, 0, column))
            entries += [(i, 0, l, c, dot(link.axis, F[3:])) for l, c, F in carried]
        X = _shift_map(pose.offset)
        beyond = congruence(X, _rotated(pose, [row[:6] for row in M[:6]]))
        carried = [(l, c, _moved(_turned(pose.R, F), pose.offset)) for l, c, F in carried]
    return entries


@dataclass(frozen=True)
class _Eliminated:
    """What the inward pass of `forward` keeps of one link for the outward pass.

    `load` and `coupling` are already divided by the triangle of the elastic mass's factors.
    """

    factors: Any
    load: Vector
    coupling: Matrix
    U: Vector
    D: Scalar
    u: Scalar


def forward(
    links: list[Numbers],
    s: tuple[Vector, Vector],
    eta: tuple[list[Vector], list[Vector]],
    effort: tuple[Vector, list[Vector]],
    gravity: Vector,
    wrench: Vector | None = None,
) -> tuple[Vector, list[Vector]]:
    """Return joint and elastic accelerations under joint efforts and elastic forces.

    The articulated-body recursion with elastic coordinates: from the tip inwards, each link's
    elastic accelerations and then its joint's are eliminated; outwards they are put back. O(n).
    """
    poses = kinematics(links, s[0], eta[0])
    rate = rates(links, poses, s[1], eta[1])
    beyond, F = zeros(6, 6), _wrench_on_end(poses, wrench)
    kept: list[_Eliminated | None] = [None] * len(links)
    for i in reversed(range(len(links))):
        link, pose = links[i], poses[i]
        M, b = _articulated(link, pose, rate[i], beyond, F)
        effort_i = (effort[0][i], effort[1][i])
        beyond, F, kept[i] = _eliminate(link, M, b, effort_i)
        if i:
            beyond, F = _to_previous(pose, rate[i], rate[i - 1], beyond, F)
    return _outward(links, poses, rate, kept, gravity)


def _articulated(
    link: Numbers, pose: Pose, rate: Rates, beyond: Matrix, F: Vector
) -> tuple[Matrix, Vector]:
    """Mass and force (6 + k) of a link together with all beyond its end."""
    own, H = own_mass(link, pose)
    tip, gyro = tip_terms(link, pose, rate)
    T, end = _end_map(pose), combine(beyond, tip)
    M = combine(own, congruence(T, end))
    at_end = vadd(F, gyro, matvec(end, rate.end[0] + rate.end[1]))
    return M, vadd(own_bias(link, pose, rate, own, H), matvec(transpose(T), at_end))


def _eliminate(
    link: Numbers, M: Matrix, b: Vector, effort: tuple[Scalar, Vector]
) -> tuple[Matrix, Vector, _Eliminated]:
    """Mass and force (6,) seen at the root before the joint, its own coordinates free to move."""
    k = link.count
    A, p = [row[:6] for row in M[:6]], b[:6]
    coupling = [row[:6] for row in M[6:]]
    factors, load = None, []
    if k:
        factors = ldl([row[6:] for row in M[6:]])
        load = ldl_half(factors, [sub(effort[1][j], b[6 + j]) for j in range(k)])
        coupling = transpose([ldl_half(factors, column) for column in transpose(coupling)])
        weighted = [scale(factors[1][j], coupling[j]) for j in range(k)]
        for a in range(6):
            for c in range(a, 6):
                drop = total([mul(coupling[j][a], weighted[j][c]) for j in range(k)])
                A[a][c] = A[c][a] = sub(A[a][c], drop)
        p = [add(p[a], total([mul(weighted[j][a], load[j]) for j in range(k)])) for a in range(6)]
    if link.axis is None:
        return A, p, _Eliminated(factors, load, coupling, [], 0.0, 0.0)
    U = matvec([row[3:] for row in A], link.axis)
    D = add(dot(link.axis, U[3:]), link.rotor)
    u = sub(effort[0], dot(link.axis, p[3:]))
    V = scale(1.0 / D, U)
    free = _free_axis(link)
    if free is not None:
        V[free] = 1.0
    kept = _Eliminated(factors, load, coupling, V, D, u)
    for a in range(6):
        for c in range(a, 6):
            A[a][c] = A[c][a] = 0.0 if free in (a, c) else sub(A[a][c], mul(U[a], V[c]))
    p = [effort[0] if a == free else add(p[a], mul(V[a], u)) for a in range(6)]
    return A, p, kept


def _free_axis(link: Numbers) -> int | None:
    """The moment (3, 4 or 5) that a joint about a coordinate axis passes on as its effort alone.

    Without rotor inertia that row of the articulated mass vanishes: a structural zero.
    """
    units = identity(3)
    if not known(link.rotor, 0.0) or link.axis not in units:
        return None
    return 3 + units.index(link.axis)


def _to_previous(
    pose: Pose, rate: Rates, before: Rates, A: Matrix, p: Vector
) -> tuple[Matrix, Vector]:
    """Articulated mass and force at a root, carried to the previous end and its axes."""
    p = vadd(p, matvec([row[3:] for row in A], rate.root))
    A, p = _rotated(pose, A), _turned(pose.R, p)
    p = vadd(p, matvec([row[:3] for row in A], _offset_bias(pose, before)))
    return congruence(_shift_map(pose.offset), A), _moved(p, pose.offset)


def _joint_acceleration(
    link: Numbers, part: _Eliminated, root: Vector
) -> tuple[Scalar, Vector]:
    """A joint's acceleration, and the root's with it; about a free axis the latter comes first."""
    assert link.axis is not None
    free, push = _free_axis(link), mul(part.u, 1.0 / part.D)
    if free is None:
        sdd = sub(push, dot(part.U, root))
        return sdd, root[:3] + vadd(root[3:], scale(sdd, link.axis))
    rest = [0.0 if a == free else x for a, x in enumerate(root)]
    absolute = sub(push, dot(part.U, rest))
    return sub(absolute, root[free]), [absolute if a == free else x for a, x in enumerate(root)]


def _outward(
    links: list[Numbers], poses: list[Pose], rate: list[Rates],
    kept: list[_Eliminated | None], gravity: Vector,
) -> tuple[Vector, list[Vector]]:  # fmt: skip
    """Accelerations of joints and elastic coordinates, from the base to the tip."""
    sdd: Vector = [0.0] * len(links)
    etadd: list[Vector] = [[] for _ in links]
    before = negate(gravity) + ZERO
    for i, (link, pose, part) in enumerate(zip(links, poses, kept, strict=True)):
        assert part is not None
        root = _root_acceleration(pose, before, rate[i], rate[i - 1] if i else None)
        if link.axis is not None:
            sdd[i], root = _joint_acceleration(link, part, root)
        if link.count:
            load = [sub(x, dot(row, root)) for x, row in zip(part.load, part.coupling, strict=True)]
            etadd[i] = ldl_rest(part.factors, load)
        if i + 1 < len(links):
            linear, angular = rate[i].end
            before = vadd(matvec(_end_map(pose), root + etadd[i]), linear + angular)
    return sdd, etadd
