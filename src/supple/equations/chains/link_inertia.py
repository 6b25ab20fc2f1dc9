"""One link of a chain: where it is, how it carries the next one, and what it weighs.

`kinematics` and `rates` go from the base to the tip; `own_mass`, `own_bias` and `tip_terms` are the
inertia of one link in its 6 + k coordinates: the acceleration (a, alpha) of its root, segment axes,
and its k elastic coordinates. Any scalars, see `kernels.scalars`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...kernels.scalars import (
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
    is_constant,
    matmul,
    matvec,
    mul,
    negate,
    scale,
    sub,
    total,
    transpose,
    turned_tensor,
    vadd,
    zeros,
)

__all__ = [
    "CarryingSection",
    "LinkNumbers",
    "LinkPose",
    "Rates",
    "Section",
    "SectionRates",
    "kinematics",
    "own_bias",
    "own_mass",
    "parent",
    "rates",
    "tip_terms",
]

ZERO = [0.0, 0.0, 0.0]


@dataclass(frozen=True)
class CarryingSection:
    """A section of a link that carries another one: its place x, and its fields N and Psi there."""

    x: Scalar
    N: Matrix
    Psi: Matrix


@dataclass(frozen=True)
class LinkNumbers:
    """A ChainLink's numbers as nested lists of scalars: floats, or symbols for a regressor.

    The names are those of `chain.ChainLink` and `beams.invariants.Invariants`. One that `slides`
    has its free length as first elastic coordinate and its integrals on the wide set, see
    `sliders`; its Psi arrays then belong to the first entries of z.

    It hangs on link `parent` (-1: the base; None: the link before), at that link's end or, where
    `carrier` is k > 0, at its station k - 1. `stations` carry other links along this one.
    """

    R_PM: Matrix
    p_PM: Vector
    axis: Vector | None
    length: Scalar
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
    slides: bool = False
    parent: int | None = None
    carrier: int = 0
    stations: tuple[CarryingSection, ...] = ()

    @property
    def count(self) -> int:
        """Number of elastic coordinates, the free length of one that slides among them."""
        if self.slides:
            return len(self.PsiJPsi) // 3 - len(self.pairs) + 1
        return len(self.PsiJPsi)


@dataclass(frozen=True)
class Section:
    """A section of a bent link, link axes: its end, or a station.

    Attributes
    ----------
    turn
        Its rotation.
    arm
        From the root to it.
    Jv, Jw
        (3, k), its displacement and rotation with eta.
    angles
        Phi, psi_y, psi_z.
    Psi
        (3, turning), (N: (3, kz)), its fields.
    """

    turn: Matrix
    arm: Vector
    Jv: Matrix
    Jw: Matrix
    angles: Vector
    N: Matrix
    Psi: Matrix


@dataclass(frozen=True)
class LinkPose:
    """Where one link is and how its sections move with its elastic coordinates.

    Attributes
    ----------
    R
        This link's axes seen from the link that carries it.
    about_z
        R is a turn about z.
    offset
        From the carrying section to this root, the carrying link's axes.
    z
        Eta and its products; Z = dz/deta.
    sections
        The end, then the stations.
    """

    R: Matrix
    about_z: bool
    offset: Vector
    z: Vector
    Z: Matrix
    sections: tuple[Section, ...]

    @property
    def turn(self) -> Matrix:
        """Rotation of the end."""
        return self.sections[0].turn

    @property
    def arm(self) -> Vector:
        """From the root to the end."""
        return self.sections[0].arm


@dataclass(frozen=True)
class SectionRates:
    """Angular velocity of a section; its acceleration (6,) without those of root and eta."""

    w: Vector
    bias: Vector


@dataclass(frozen=True)
class Rates:
    """How fast one link turns and bends, link axes; what its motion adds to accelerations.

    Attributes
    ----------
    w
        Angular velocity of the root; W = [w][w], twice = 2 w.
    etad, zd
        Rates of eta and z.
    zb
        Part of z's second derivative without eta's.
    root
        Angular acceleration w x axis sd.
    sections
        Of the end, then of the stations.
    """

    w: Vector
    W: Matrix
    twice: Vector
    etad: Vector
    zd: Vector
    zb: Vector
    root: Vector
    sections: tuple[SectionRates, ...]


def parent(links: list[LinkNumbers], i: int) -> int:
    """Return the place of the link that carries link i, -1 for the base."""
    given = links[i].parent
    return i - 1 if given is None else given


def kinematics(links: list[LinkNumbers], s: Vector, eta: list[Vector]) -> list[LinkPose]:
    """Return the pose of every link; s are the joint angles (0.0 for a fixed joint)."""
    poses: list[LinkPose] = []
    for i, link in enumerate(links):
        up = parent(links, i)
        before = poses[up].sections[link.carrier] if up >= 0 else None
        R = _joint_rotation(link, before, s[i])
        offset = matvec(before.turn, link.p_PM) if before else link.p_PM
        z, Z = _field_coordinates(link, eta[i])
        end = CarryingSection(link.length, link.N_end, link.Psi_end)
        sections = [_section(at, z, Z, bool(eta[i])) for at in (end, *link.stations)]
        about_z = is_constant(R[2], [0.0, 0.0, 1.0])
        poses.append(LinkPose(R, about_z, offset, z, Z, tuple(sections)))
    return poses


def _joint_rotation(link: LinkNumbers, before: Section | None, angle: Scalar) -> Matrix:
    """R = (turn of the carrying section) R_PM Rot(axis, angle).

    Turns about one z, of the carrying section and of the joint, are added first.
    """
    if link.axis is None:
        return matmul(before.turn, link.R_PM) if before else link.R_PM
    upright = is_constant(link.axis, [0.0, 0.0, 1.0]) and is_constant(link.R_PM, identity(3))
    if before and upright and is_constant(before.angles[:2], [0.0, 0.0]):
        return axis_rotation(link.axis, add(before.angles[2], angle))
    fixed = matmul(before.turn, link.R_PM) if before else link.R_PM
    return matmul(fixed, axis_rotation(link.axis, angle))


def _field_coordinates(link: LinkNumbers, eta: Vector) -> tuple[Vector, Matrix]:
    """z, in which the fields of a link are linear, and Z = dz/deta."""
    own = eta[1:] if link.slides else eta
    z = own + [mul(own[j], own[l]) for j, l in link.pairs]
    Z = identity(len(own))
    for j, l in link.pairs:  # d(eta_j eta_l)/d eta
        row: Vector = [0.0] * len(own)
        row[j] = add(row[j], own[l])
        row[l] = add(row[l], own[j])
        Z.append(row)
    if not link.slides:
        return z, Z

    # The wide set of `sliders`: z, 0, 0, 0 with zd = Z pd
    width = len(z)
    k = len(Z[0]) if Z else 0
    by_eta = [[0.0, *row] for row in Z]
    convected = [[x] + [0.0] * k for x in z]
    empty = [[0.0] * (k + 1) for _ in range(width)]
    drive = [1.0] + [0.0] * k
    return [*z, *([0.0] * (2 * width + 1))], [*by_eta, *convected, *empty, drive]


def _section(at: CarryingSection, z: Vector, Z: Matrix, bends: bool) -> Section:
    """A section of a bent link: its turn R_z R_y R_x, its place, and how they change with eta."""
    angles = matvec(at.Psi, z[: len(at.Psi[0])])
    phi, psi_y, psi_z = angles
    Rz = axis_rotation([0.0, 0.0, 1.0], psi_z)
    RzRy = matmul(Rz, axis_rotation([0.0, 1.0, 0.0], psi_y))
    turn = matmul(RzRy, axis_rotation([1.0, 0.0, 0.0], phi))
    arm = vadd([at.x, 0.0, 0.0], matvec(at.N, z))
    if not bends:
        return Section(turn, arm, [[], [], []], [[], [], []], angles, at.N, at.Psi)
    # Axes about which phi, psi_y and psi_z turn the section
    axes = transpose([[row[0] for row in RzRy], [row[1] for row in Rz], [0.0, 0.0, 1.0]])
    Jv = matmul(at.N, Z)
    Jw = matmul(axes, _turning(at.Psi, Z))
    return Section(turn, arm, Jv, Jw, angles, at.N, at.Psi)


def _turning(Psi: Matrix, Z: Matrix) -> Matrix:
    """Psi of the entries of z that turn the section, times their Z, (rows, k)."""
    width = len(Psi[0])
    return matmul(Psi, Z[:width]) if width else [[0.0] * len(Z[0]) for _ in Psi]


def rates(
    links: list[LinkNumbers], poses: list[LinkPose], sd: Vector, etad: list[Vector]
) -> list[Rates]:
    """Return the angular velocity and the velocity-dependent accelerations of every link."""
    out: list[Rates] = []
    for i, (link, pose) in enumerate(zip(links, poses, strict=True)):
        up = parent(links, i)
        w = matvec(transpose(pose.R), out[up].sections[link.carrier].w) if up >= 0 else ZERO
        root = ZERO
        if link.axis is not None:
            spin = scale(sd[i], link.axis)
            root = cross(w, spin)
            w = vadd(w, spin)

        zd = matvec(pose.Z, etad[i])
        zb = _field_bias(link, pose, etad[i], zd)
        S = cross_matrix(w)
        W = matmul(S, S)
        twice = scale(2.0, w)
        sections = []
        for section in pose.sections:
            end_v = matvec(section.Jv, etad[i])
            end_w = matvec(section.Jw, etad[i])
            linear = vadd(matvec(W, section.arm), cross(twice, end_v), matvec(section.N, zb))
            angular = vadd(cross(w, end_w), _turn_bias(section, zd, zb))
            sections.append(SectionRates(vadd(w, end_w), linear + angular))
        out.append(Rates(w, W, twice, etad[i], zd, zb, root, tuple(sections)))
    return out


def _field_bias(link: LinkNumbers, pose: LinkPose, etad: Vector, zd: Vector) -> Vector:
    """zb: the part of the second derivative of z that etadd does not bring."""
    bent = etad[1:] if link.slides else etad
    zb = [0.0] * len(bent) + [mul(2.0, mul(bent[j], bent[l])) for j, l in link.pairs]
    if not link.slides:
        return zb
    ld = etad[0]
    width = len(link.PsiJPsi) // 3
    convected = scale(mul(2.0, ld), zd[:width])
    centrifugal = scale(mul(ld, ld), pose.z[:width])
    return [*zb, *convected, *centrifugal, 0.0]


def _turn_bias(section: Section, zd: Vector, zb: Vector) -> Vector:
    """Angular acceleration of a section, root axes, that R_z R_y R_x brings without etadd."""
    turning = len(section.Psi[0])
    phi_d, y_d, z_d = matvec(section.Psi, zd[:turning])
    phi_b, y_b, z_b = matvec(section.Psi, zb[:turning])
    Rz = axis_rotation([0.0, 0.0, 1.0], section.angles[2])
    axis_y = [row[1] for row in Rz]
    axis_x = [row[0] for row in section.turn]
    spin_z = [0.0, 0.0, z_d]
    spin_y = scale(y_d, axis_y)
    spin_x = scale(phi_d, axis_x)
    gyroscopic = vadd(cross(spin_z, spin_y), cross(vadd(spin_z, spin_y), spin_x))
    return vadd(gyroscopic, [0.0, 0.0, z_b], scale(y_b, axis_y), scale(phi_b, axis_x))


def own_mass(link: LinkNumbers, pose: LinkPose) -> tuple[Matrix, list[list[Vector]]]:
    """Mass (6 + k, 6 + k) of a link's beam and root bodies, and H_ab = int m r_a N_b (rows kz).

    With r = x e_x + N z the mass matrix over (a, alpha, eta) has the blocks

        m 1    -[c]    int m N Z
               J       (int m r x N + JPsi) Z
        sym.           Z' (int m N'N + PsiJPsi) Z.
    """
    z = pose.z
    bends = link.count > 0
    H = [[matvec(transpose(link.G[a][b]), z) if bends else [] for b in range(3)] for a in range(3)]
    H[0] = [vadd(H[0][b], link.X[b]) for b in range(3)]
    first_moment = vadd([link.first, 0.0, 0.0], matvec(link.P, z))  # int m r

    force_of_eta: Matrix = [[], [], []]
    moment_of_eta: Matrix = [[], [], []]
    eta_eta: Matrix = []
    if bends:
        moment = [  # int m r x N
            vadd(H[1][2], negate(H[2][1])),
            vadd(H[2][0], negate(H[0][2])),
            vadd(H[0][1], negate(H[1][0])),
        ]
        force_of_eta = matmul(link.P, pose.Z)
        moment_of_eta = combine(matmul(moment, pose.Z), _turning(link.JPsi, pose.Z))
        eta_eta = _elastic_mass(link, pose)
    M = _blocks(
        link.mass,
        cross_matrix(negate(first_moment)),
        _inertia_about_root(link, z, H),
        force_of_eta,
        moment_of_eta,
        eta_eta,
    )
    for a in range(6):
        for b in range(6):
            M[a][b] = add(M[a][b], link.root_mass[a][b])
    return M, H


def _inertia_about_root(link: LinkNumbers, z: Vector, H: list[list[Vector]]) -> Matrix:
    """Rotational inertia (3, 3) of a bent beam about its root: tr Q - Q + J, Q_ab = int m r_a r_b.

    Q_ab = H_ab z; Q_xx has X_x z and int m x^2 more, of which the latter is added with J.
    """
    Q = [[dot(H[i][j], z) if j >= i else 0.0 for j in range(3)] for i in range(3)]
    Q[0][0] = add(Q[0][0], dot(link.X[0], z))
    J = zeros(3, 3)
    for i in range(3):
        constant = add(link.J[i], link.second if i else 0.0)
        J[i][i] = add(constant, total([Q[j][j] for j in range(3) if j != i]))
        for j in range(i + 1, 3):
            J[i][j] = J[j][i] = mul(-1.0, Q[i][j])
    return J


def _elastic_mass(link: LinkNumbers, pose: LinkPose) -> Matrix:
    """Mass (k, k) of the elastic coordinates: displacements, rotary inertia, drive of a slide."""
    trace_G = combine(combine(link.G[0][0], link.G[1][1]), link.G[2][2])
    mass = congruence(pose.Z, trace_G)
    turning = len(link.PsiJPsi)
    if turning:
        mass = combine(mass, congruence(pose.Z[:turning], link.PsiJPsi))
    if link.slides:
        mass[0][0] = add(mass[0][0], link.rotor)
    return mass


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
    link: LinkNumbers, pose: LinkPose, rate: Rates, M: Matrix, H: list[list[Vector]]
) -> Vector:
    """Inertial forces (6 + k) of a link's beam and root bodies at zero acceleration.

    F = w x (w x c) + 2 w x P zd + P zb; moment w x (J w + JPsi zd) + 2 (tr D - D') w + JPsi zb +
    int m r x N zb, D_ab = int m r_a zd N_b; elastic rows
    Z' int m N'(w x (w x r) + 2 w x N zd + N zb).
    """
    w = rate.w
    zd = rate.zd
    zb = rate.zb
    has_zb = bool(link.pairs) or link.slides

    c = [M[1][5], M[2][3], M[0][4]]
    F = vadd(matvec(rate.W, c), cross(rate.twice, matvec(link.P, zd)), matvec(link.P, zb))

    D = [[dot(H[a][b], zd) if zd else 0.0 for b in range(3)] for a in range(3)]
    trace = total([D[a][a] for a in range(3)])
    turning = len(link.JPsi[0])
    spin = vadd(matvec([row[3:6] for row in M[3:6]], w), matvec(link.JPsi, zd[:turning]))
    stir = vadd(scale(trace, rate.twice), negate(matvec(transpose(D), rate.twice)))
    N = vadd(cross(w, spin), stir, matvec(link.JPsi, zb[:turning]))
    if has_zb:
        moment = [
            sub(dot(H[1][2], zb), dot(H[2][1], zb)),
            sub(dot(H[2][0], zb), dot(H[0][2], zb)),
            sub(dot(H[0][1], zb), dot(H[1][0], zb)),
        ]
        N = vadd(N, moment)
    if not link.count:
        return F + N

    fields: list[Vector] = []
    S = cross_matrix(rate.twice)
    for a in range(3):
        for b in range(3):
            fields.append(scale(rate.W[a][b], H[b][a]))
            if not is_constant(S[a][b], 0.0):
                fields.append(scale(S[a][b], matvec(link.G[a][b], zd)))
    if has_zb:
        fields += [matvec(link.G[a][a], zb) for a in range(3)]
    elastic = matvec(transpose(pose.Z), vadd(*fields))
    turning = len(link.PsiJPsi)
    if link.slides and turning:
        spun = matvec(link.PsiJPsi, zb[:turning])
        elastic = vadd(elastic, matvec(transpose(pose.Z[:turning]), spun))
    return F + N + elastic


def tip_terms(link: LinkNumbers, pose: LinkPose, rate: Rates | None) -> tuple[Matrix, Vector]:
    """Mass (6, 6) of the bodies on a link's end, about the end, link axes; their inertial force."""
    tip = link.tip_mass
    if is_constant(tip, zeros(6, 6)):
        return zeros(6, 6), [0.0] * 6
    c = matvec(pose.turn, [tip[1][5], tip[2][3], tip[0][4]])
    J = turned_tensor(pose.turn, [row[3:] for row in tip[3:]])
    M = _blocks(tip[0][0], cross_matrix(negate(c)), J, [[], [], []], [[], [], []], [])
    if rate is None:
        return M, [0.0] * 6
    w = rate.sections[0].w
    return M, cross(w, cross(w, c)) + cross(w, matvec(J, w))
