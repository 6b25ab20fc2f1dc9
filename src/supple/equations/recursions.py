"""The equations of motion of a chain of flexible links: one text, for any scalars.

Every link is a body with 6 + k coordinates, see `bodies`: the acceleration (a, alpha) of its root
and its k elastic coordinates. The three recursions (`inverse`, `mass_matrix`, `forward`) only add
the links up. Accelerations are those of the root point seen from the base ("classical", not
spatial ones), so that velocities of translation never enter. Gravity is an acceleration -g of
the base. A planar arm is the same text with zeros, see `algebra`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
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
from .link_inertia import Numbers, Pose, Rates, kinematics, own_bias, own_mass, rates, tip_terms

__all__ = ["forward", "inverse", "mass_matrix"]

ZERO = [0.0, 0.0, 0.0]


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
        M = combine(
            own_mass(link, pose)[0], congruence(T, combine(beyond, tip_terms(link, pose, None)[0]))
        )
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


def _joint_acceleration(link: Numbers, part: _Eliminated, root: Vector) -> tuple[Scalar, Vector]:
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
