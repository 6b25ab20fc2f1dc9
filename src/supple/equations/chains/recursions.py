"""The equations of motion of a chain of flexible links: one text, for any scalars.

Every link is a body with 6 + k coordinates, see `link_inertia`: the acceleration (a, alpha) of its
root and its k elastic coordinates. The three recursions (`inverse`, `mass_matrix`, `forward`) only
add the links up. Accelerations are those of the root point seen from the base ("classical", not
spatial ones), so that velocities of translation never enter. Gravity is an acceleration -g of the
base. A planar arm is the same text with zeros, see `kernels.scalars`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...kernels.scalars import (
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
    is_constant,
    ldl,
    ldl_half,
    ldl_rest,
    mass_about_z,
    matvec,
    mul,
    negate,
    scale,
    sub,
    total,
    transpose,
    vadd,
    zeros,
)
from .link_inertia import (
    LinkNumbers,
    LinkPose,
    Rates,
    Section,
    kinematics,
    own_bias,
    own_mass,
    parent,
    rates,
    tip_terms,
)

__all__ = ["Balance", "balance", "forward", "inverse", "mass_matrix", "shift_force"]

ZERO = [0.0, 0.0, 0.0]


def _end_map(section: Section) -> Matrix:
    """T (6, 6 + k): acceleration of a section from those of root and eta."""
    S = cross_matrix(negate(section.arm))
    unit = identity(3)
    top = [unit[a] + S[a] + list(section.Jv[a]) for a in range(3)]
    return top + [[0.0, 0.0, 0.0] + unit[a] + list(section.Jw[a]) for a in range(3)]


def shift_force(F: Vector, offset: Vector) -> Vector:
    """A force (force, moment) at offset, as one at the origin."""
    return F[:3] + vadd(F[3:], cross(offset, F[:3]))


def _rotate_force(R: Matrix, F: Vector) -> Vector:
    """A (force, moment) in axes turned by R."""
    return matvec(R, F[:3]) + matvec(R, F[3:])


def _rotate_mass(pose: LinkPose, M: Matrix) -> Matrix:
    """A mass of this link in the axes of the previous one."""
    if pose.about_z:
        return mass_about_z(pose.R[0][0], pose.R[1][0], M)
    back = transpose(pose.R)
    gap = [0.0, 0.0, 0.0]
    upper = [row + gap for row in back]
    lower = [gap + row for row in back]
    return congruence(upper + lower, M)


def _shift_map(offset: Vector) -> Matrix:
    """(6, 6): acceleration of a point at `offset` from that of a body's origin."""
    S = cross_matrix(negate(offset))
    unit = identity(3)
    linear = [unit[a] + S[a] for a in range(3)]
    angular = [[0.0] * 3 + unit[a] for a in range(3)]
    return linear + angular


# Constant wrenches (6,), base axes, on a section of a body: (body, section, wrench)
SectionLoads = Sequence[tuple[int, int, Vector]]


@dataclass(frozen=True)
class Balance:
    """Forces of a motion, each (6,) in its own link's axes; accelerations have -gravity in them.

    Attributes
    ----------
    poses, rates
        Of every link.
    roots, sections
        Accelerations of roots and sections.
    on_sections
        What each section carries of all that hangs there, tip bodies among them, as forces that the
        link must give.
    on_roots
        The same of each root, the whole link among it.
    elastic
        Forces on the elastic coordinates.
    """

    poses: list[LinkPose]
    rates: list[Rates]
    roots: list[Vector]
    sections: list[list[Vector]]
    on_sections: list[list[Vector]]
    on_roots: list[Vector]
    elastic: list[Vector]


def inverse(
    links: list[LinkNumbers],
    s: tuple[Vector, Vector, Vector],
    eta: tuple[list[Vector], list[Vector], list[Vector]],
    gravity: Vector,
    wrench: Vector | None = None,
    tip: int = -1,
    loads: SectionLoads = (),
) -> tuple[Vector, list[Vector]]:
    """Return the joint efforts and elastic forces of a motion: M qdd + h + g, stiffness left out.

    `wrench` is a (force, moment) on the end of link `tip`, base axes, that the efforts then carry.
    """
    found = balance(links, s, eta, gravity, wrench, tip, loads)
    efforts: Vector = [0.0] * len(links)
    for i, (link, G) in enumerate(zip(links, found.on_roots, strict=True)):
        if link.axis is not None:
            efforts[i] = add(dot(link.axis, G[3:]), mul(link.rotor, s[2][i]))
    return efforts, found.elastic


def balance(
    links: list[LinkNumbers],
    s: tuple[Vector, Vector, Vector],
    eta: tuple[list[Vector], list[Vector], list[Vector]],
    gravity: Vector,
    wrench: Vector | None = None,
    tip: int = -1,
    loads: SectionLoads = (),
) -> Balance:
    """Return what every section and root carries in a motion; arguments as of `inverse`."""
    s_now, sd, sdd = s
    eta_now, etad, etadd = eta
    poses = kinematics(links, s_now, eta_now)
    rate = rates(links, poses, sd, etad)

    # Outwards: accelerations (6,) of the root and of the sections of every link, its own axes
    roots: list[Vector] = []
    ends: list[list[Vector]] = []
    for i, (link, pose) in enumerate(zip(links, poses, strict=True)):
        root = _root_acceleration(links, i, pose, rate, ends, gravity)
        if link.axis is not None:
            root = root[:3] + vadd(root[3:], scale(sdd[i], link.axis))
        roots.append(root)
        ends.append(_section_accelerations(pose, rate[i], root + etadd[i]))

    # Inwards: what every section carries, then the link as well, down to its root
    F = _outer_loads(links, poses, wrench, tip, loads)
    on_roots: list[Vector] = [[] for _ in links]
    elastic: list[Vector] = [[] for _ in links]
    for i in reversed(range(len(links))):
        link = links[i]
        pose = poses[i]
        M, H = own_mass(link, pose)
        own = vadd(matvec(M, roots[i] + etadd[i]), own_bias(link, pose, rate[i], M, H))
        tip_mass, tip_force = tip_terms(link, pose, rate[i])
        F[i][0] = vadd(F[i][0], matvec(tip_mass, ends[i][0]), tip_force)

        on_root = own[:6]
        elastic[i] = own[6:]
        for section, force in zip(pose.sections, F[i], strict=True):
            if link.count:
                J = [section.Jv[a] for a in range(3)] + [section.Jw[a] for a in range(3)]
                elastic[i] = vadd(elastic[i], matvec(transpose(J), force))
            on_root = vadd(on_root, shift_force(force, section.arm))
        on_roots[i] = on_root

        up = parent(links, i)
        if up >= 0:
            from_child = shift_force(_rotate_force(pose.R, on_root), pose.offset)
            F[up][link.carrier] = vadd(F[up][link.carrier], from_child)
    return Balance(poses, rate, roots, ends, F, on_roots, elastic)


def _outer_loads(
    links: list[LinkNumbers],
    poses: list[LinkPose],
    wrench: Vector | None,
    tip: int,
    loads: SectionLoads,
) -> list[list[Vector]]:
    """Forces on the sections of every link: minus the outer wrenches on them, link axes."""
    out: list[list[Vector]] = [[[0.0] * 6 for _ in pose.sections] for pose in poses]
    everything = list(loads)
    if wrench is not None:
        everything.append((tip % len(links), 0, wrench))
    for body, section, outer in everything:
        path_to_base = [body]
        while parent(links, path_to_base[-1]) >= 0:
            path_to_base.append(parent(links, path_to_base[-1]))

        # from base axes to those of the link
        F = negate(outer)
        for i in reversed(path_to_base):
            F = _rotate_force(transpose(poses[i].R), F)
        out[body][section] = vadd(out[body][section], F)
    return out


def _section_accelerations(pose: LinkPose, rate: Rates, motion: Vector) -> list[Vector]:
    """Accelerations (6,) of the sections of a link, given those of its root and eta."""
    return [
        vadd(matvec(_end_map(section), motion), own.bias)
        for section, own in zip(pose.sections, rate.sections, strict=True)
    ]


def _root_acceleration(
    links: list[LinkNumbers],
    i: int,
    pose: LinkPose,
    rate: list[Rates],
    ends: list[list[Vector]],
    gravity: Vector,
) -> Vector:
    """Acceleration of a root from that of the section carrying it, its joint's left out."""
    up = parent(links, i)
    section = links[i].carrier
    end = ends[up][section] if up >= 0 else negate(gravity) + ZERO
    linear = vadd(end[:3], cross(end[3:], pose.offset))
    if up >= 0:
        w = rate[up].sections[section].w
        linear = vadd(linear, cross(w, cross(w, pose.offset)))
    back = transpose(pose.R)
    return matvec(back, linear) + vadd(matvec(back, end[3:]), rate[i].root)


def mass_matrix(
    links: list[LinkNumbers], s: Vector, eta: list[Vector]
) -> list[tuple[int, int, int, int, Scalar]]:
    """Return the mass matrix as entries (link, row, link', column, value), row 0 the joint.

    Composite bodies from the tips to the base; the force of a unit acceleration of each
    coordinate is carried down alongside.
    """
    poses = kinematics(links, s, eta)
    entries: list[tuple[int, int, int, int, Scalar]] = []
    # Of every section of every link: the mass beyond it, and forces (link, column, force) on it
    mass_beyond = [[zeros(6, 6) for _ in pose.sections] for pose in poses]
    forces_beyond: list[list[list[tuple[int, int, Vector]]]] = []
    for pose in poses:
        forces_beyond.append([[] for _ in pose.sections])

    for i in reversed(range(len(links))):
        link = links[i]
        pose = poses[i]
        elastic = range(link.count)

        # The link with all that its sections carry, at its root
        tip_mass, _ = tip_terms(link, pose, None)
        mass_beyond[i][0] = combine(mass_beyond[i][0], tip_mass)
        M, _ = own_mass(link, pose)
        columns_beyond: list[tuple[int, int, Vector]] = []
        for n, section in enumerate(pose.sections):
            T = _end_map(section)
            M = combine(M, congruence(T, mass_beyond[i][n]))
            for other, column, force in forces_beyond[i][n]:
                columns_beyond.append((other, column, matvec(transpose(T), force)))

        # Rows of its elastic coordinates
        for other, column, force in columns_beyond:
            for j in elastic:
                entries.append((i, 1 + j, other, column, force[6 + j]))
        for j in elastic:
            for m in range(j, link.count):
                entries.append((i, 1 + j, i, 1 + m, M[6 + j][6 + m]))

        # Its own coordinates join those whose forces are carried on, and the row of its joint
        columns_beyond = [(other, column, force[:6]) for other, column, force in columns_beyond]
        for j in elastic:
            columns_beyond.append((i, 1 + j, [M[a][6 + j] for a in range(6)]))
        if link.axis is not None:
            columns_beyond.append((i, 0, matvec([row[3:6] for row in M[:6]], link.axis)))
            for other, column, force in columns_beyond:
                entries.append((i, 0, other, column, dot(link.axis, force[3:])))

        # Down to the section of the parent that carries it
        up = parent(links, i)
        if up >= 0:
            X = _shift_map(pose.offset)
            turned = _rotate_mass(pose, [row[:6] for row in M[:6]])
            here = congruence(X, turned)
            mass_beyond[up][link.carrier] = combine(mass_beyond[up][link.carrier], here)
            for other, column, force in columns_beyond:
                shifted = shift_force(_rotate_force(pose.R, force), pose.offset)
                forces_beyond[up][link.carrier].append((other, column, shifted))
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
    links: list[LinkNumbers],
    s: tuple[Vector, Vector],
    eta: tuple[list[Vector], list[Vector]],
    effort: tuple[Vector, list[Vector]],
    gravity: Vector,
    wrench: Vector | None = None,
    tip: int = -1,
    loads: SectionLoads = (),
) -> tuple[Vector, list[Vector]]:
    """Return joint and elastic accelerations under joint efforts and elastic forces.

    The articulated-body recursion with elastic coordinates: from the tips inwards, each link's
    elastic accelerations and then its joint's are eliminated; outwards they are put back. O(n).
    """
    s_now, sd = s
    eta_now, etad = eta
    joint_efforts, elastic_forces = effort
    poses = kinematics(links, s_now, eta_now)
    rate = rates(links, poses, sd, etad)

    # Inwards: articulated mass and force that every section carries
    mass_beyond = [[zeros(6, 6) for _ in pose.sections] for pose in poses]
    F = _outer_loads(links, poses, wrench, tip, loads)
    eliminated: list[_Eliminated | None] = [None] * len(links)
    for i in reversed(range(len(links))):
        link = links[i]
        pose = poses[i]
        own_efforts = (joint_efforts[i], elastic_forces[i])
        A, f, eliminated[i] = _eliminate(link, pose, rate[i], mass_beyond[i], F[i], own_efforts)
        up = parent(links, i)
        if up < 0:
            continue
        # To the section that carries it, in its axes
        section = link.carrier
        w = rate[up].sections[section].w
        f = vadd(f, matvec([row[3:] for row in A], rate[i].root))
        A = _rotate_mass(pose, A)
        f = _rotate_force(pose.R, f)
        f = vadd(f, matvec([row[:3] for row in A], cross(w, cross(w, pose.offset))))
        shifted = congruence(_shift_map(pose.offset), A)
        mass_beyond[up][section] = combine(mass_beyond[up][section], shifted)
        F[up][section] = vadd(F[up][section], shift_force(f, pose.offset))

    # Outwards: accelerations of joints and elastic coordinates
    sdd: Vector = [0.0] * len(links)
    etadd: list[Vector] = [[] for _ in links]
    ends: list[list[Vector]] = []
    for i, (link, pose, part) in enumerate(zip(links, poses, eliminated, strict=True)):
        assert part is not None
        root = _root_acceleration(links, i, pose, rate, ends, gravity)
        if link.axis is not None:
            # The root's acceleration with the joint's; about a free axis the latter comes second
            free = _free_axis(link)
            push = mul(part.u, 1.0 / part.D)
            if free is None:
                sdd[i] = sub(push, dot(part.U, root))
                root = root[:3] + vadd(root[3:], scale(sdd[i], link.axis))
            else:
                rest = [0.0 if a == free else x for a, x in enumerate(root)]
                absolute = sub(push, dot(part.U, rest))
                sdd[i] = sub(absolute, root[free])
                root = [absolute if a == free else x for a, x in enumerate(root)]
        if link.count:
            load = [sub(x, dot(row, root)) for x, row in zip(part.load, part.coupling, strict=True)]
            etadd[i] = ldl_rest(part.factors, load)
        ends.append(_section_accelerations(pose, rate[i], root + etadd[i]))
    return sdd, etadd


def _eliminate(
    link: LinkNumbers,
    pose: LinkPose,
    rate: Rates,
    beyond: list[Matrix],
    F: list[Vector],
    effort: tuple[Scalar, Vector],
) -> tuple[Matrix, Vector, _Eliminated]:
    """Articulated mass (6, 6) and force (6,) of a link and all beyond it, seen at its root.

    Parameters
    ----------
    link, pose, rate : LinkNumbers, LinkPose, Rates
        The link, where it is and how fast it moves.
    beyond, F : list
        Articulated mass (6, 6) and force (6,) that each section carries.
    effort : tuple
        Joint effort, and forces on the elastic coordinates.
    """
    joint_effort, elastic_forces = effort
    M, b = _carried_mass_and_bias(link, pose, rate, beyond, F)
    A, p, elastic = _eliminate_elastic(M, b, elastic_forces, link.count)
    factors, load, coupling = elastic
    if link.axis is None:
        return A, p, _Eliminated(factors, load, coupling, [], 0.0, 0.0)

    # The joint: (axis' A axis + rotor) sdd = effort - axis' (p + A a_root)
    U = matvec([row[3:] for row in A], link.axis)
    D = add(dot(link.axis, U[3:]), link.rotor)
    u = sub(joint_effort, dot(link.axis, p[3:]))
    V = scale(1.0 / D, U)
    free = _free_axis(link)
    if free is not None:
        V[free] = 1.0
    eliminated = _Eliminated(factors, load, coupling, V, D, u)
    for a in range(6):
        for c in range(a, 6):
            A[a][c] = A[c][a] = 0.0 if free in (a, c) else sub(A[a][c], mul(U[a], V[c]))
    p = [joint_effort if a == free else add(p[a], mul(V[a], u)) for a in range(6)]
    return A, p, eliminated


def _carried_mass_and_bias(
    link: LinkNumbers, pose: LinkPose, rate: Rates, beyond: list[Matrix], F: list[Vector]
) -> tuple[Matrix, Vector]:
    """Mass (6 + k, 6 + k) and bias force (6 + k) of a link with all that its sections carry."""
    M, H = own_mass(link, pose)
    b = own_bias(link, pose, rate, M, H)
    tip_mass, tip_force = tip_terms(link, pose, rate)
    for n, (section, section_rate) in enumerate(zip(pose.sections, rate.sections, strict=True)):
        mass = beyond[n]
        force = F[n]
        if n == 0:  # the end, with the bodies on it
            mass = combine(mass, tip_mass)
            force = vadd(force, tip_force)
        T = _end_map(section)
        M = combine(M, congruence(T, mass))
        b = vadd(b, matvec(transpose(T), vadd(force, matvec(mass, section_rate.bias))))
    return M, b


def _eliminate_elastic(
    M: Matrix, b: Vector, elastic_forces: Vector, k: int
) -> tuple[Matrix, Vector, tuple[Any, Vector, Matrix]]:
    """Schur complement of the k elastic coordinates, and what puts their accelerations back.

    With M = [[A, C'], [C, E]] and E = L D L': A - C' E^-1 C, p + C' E^-1 (f - b); then the factors
    of E, and L^-1 (f - b) and L^-1 C.
    """
    A = [row[:6] for row in M[:6]]
    p = b[:6]
    coupling = [row[:6] for row in M[6:]]
    if not k:
        return A, p, (None, [], coupling)
    factors = ldl([row[6:] for row in M[6:]])
    load = ldl_half(factors, [sub(elastic_forces[j], b[6 + j]) for j in range(k)])
    coupling = transpose([ldl_half(factors, column) for column in transpose(coupling)])
    weighted = [scale(factors[1][j], coupling[j]) for j in range(k)]
    for a in range(6):
        for c in range(a, 6):
            drop = total([mul(coupling[j][a], weighted[j][c]) for j in range(k)])
            A[a][c] = A[c][a] = sub(A[a][c], drop)
    p = [add(p[a], total([mul(weighted[j][a], load[j]) for j in range(k)])) for a in range(6)]
    return A, p, (factors, load, coupling)


def _free_axis(link: LinkNumbers) -> int | None:
    """The moment (3, 4 or 5) that a joint about a coordinate axis passes on as its effort alone.

    Without rotor inertia that row of the articulated mass vanishes: a structural zero.
    """
    units = identity(3)
    if not is_constant(link.rotor, 0.0) or link.axis not in units:
        return None
    return 3 + units.index(link.axis)
