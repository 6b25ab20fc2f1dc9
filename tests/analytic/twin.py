"""A second evaluation of planar arms, in many digits and by another method, for tests only.

Nothing of `supple` is used but the Robot's fields. Where the kernel condenses dynamic stiffnesses
in relative coordinates with tau functions, this walks from the ground to the tip with transfer
matrices in absolute coordinates. The state is (u, v, psi, N, T, M); along a beam

    u' = N / EA,  v' = psi + T / kGA,  psi' = M / EI,
    N' = -w^2 m u,  T' = -w^2 m v,  M' = -T - w^2 rI psi,

so that a theory is a choice of flexibilities (1/EA = 0, 1/kGA = 0, rI = 0, 1/EI = 0). Its
exponential is written in cosh and sinh of complex arguments. Unknowns are the three forces at the
ground and one angle per released joint; f(z), z = w^2, is the determinant of the three conditions
at the tip and one per such joint; a spring alone is a jump of psi by M / k. f is entire and its
zeros are the squared natural frequencies, rigid-body ones included, so the number of zeros below R
is the winding of f along |z| = R.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp, mpf

from supple.beams.theory import theory_of
from supple.robot import Body, Link, SerialRobot

Matrix = list[list[Any]]  # of mpf or mpc


@dataclass(frozen=True)
class Piece:
    """One link: flexibilities a (1/EA), b (1/EI), s (1/kGA), bodies (3, 3), and its joint."""

    L: Any
    m: Any
    rI: Any
    a: Any
    b: Any
    s: Any
    hub: Matrix
    tip: Matrix
    angle: Any
    offset: tuple[Any, Any]
    released: bool
    k: Any
    J: Any
    series: bool


def pieces(robot: SerialRobot, theta: Sequence[float], joints: str = "locked") -> list[Piece]:
    """The links of a planar arm at one configuration."""
    assert robot.planar
    angles = iter(theta)
    arm = []
    for link in robot.links:
        joint = link.joint
        assert joint.type in ("revolute", "fixed")
        angle = mpf(joint.mount.rpy[2])
        if joint.type == "revolute":
            angle += mpf(next(angles))
        payload = robot.payload if link is robot.links[-1] else None
        tip = _sum(_body(link.tip), _body(payload))
        hub = _sum(_body(joint.hub), _body(link.body))
        offset = (mpf(joint.mount.xyz[0]), mpf(joint.mount.xyz[1]))

        # A free motor's rotor sits behind its spring; a spring without a rotor then carries nothing
        free = joints == "free" and joint.type == "revolute"
        k = mpf(joint.stiffness or 0)
        J = mpf(joint.rotor_inertia)
        series = free and k > 0 and J > 0
        if free and not series:
            k = mpf(0)
        if not free:
            J = mpf(0)
        released = free or joint.stiffness is not None
        arm.append(Piece(*_beam(robot, link), hub, tip, angle, offset, released, k, J, series))
    return arm


def _beam(robot: SerialRobot, link: Link) -> tuple[Any, ...]:
    """L, m, rI and the flexibilities 1/EA, 1/EI, 1/kGA under the link's theory."""
    zero = mpf(0)
    L = mpf(link.length or 0)
    theory = theory_of(robot, link)
    has_no_beam = link.material is None and link.mass_per_length is None
    if link.body is not None or has_no_beam:
        return L, zero, zero, zero, zero, zero
    if link.material is not None:
        m, stretch, bend, shear, rI = _section(robot, link)
    else:
        m, stretch, bend, shear, rI = _direct(link)
    if theory == "rigid":
        return L, m, rI, zero, zero, zero
    if theory == "timoshenko":
        return L, m, rI, stretch, bend, shear
    if theory == "inextensible":
        stretch = zero
    return L, m, zero, stretch, bend, zero


def _section(robot: SerialRobot, link: Link) -> tuple[Any, ...]:
    """m, 1/EA, 1/EI, 1/kGA, rI of a rectangle or a box that gives its shear coefficient."""
    material = robot.material(link)
    shape = robot.section(link)
    E = mpf(material.young_modulus)
    G = E / (2 * (1 + mpf(material.poisson_ratio)))
    rho = mpf(material.density)
    depth = mpf(shape.depth)
    width = mpf(shape.width)
    wall = mpf(getattr(shape, "wall", 0))
    inner_depth = depth - 2 * wall if wall else mpf(0)
    inner_width = width - 2 * wall if wall else mpf(0)
    A = depth * width - inner_depth * inner_width
    I = (width * depth**3 - inner_width * inner_depth**3) / 12
    kGA = mpf(shape.shear_coefficient[0]) * G * A
    return rho * A, 1 / (E * A), 1 / (E * I), 1 / kGA, rho * I


def _direct(link: Link) -> tuple[Any, ...]:
    """The same from stiffnesses given directly; an absent one excludes its deformation."""

    def flexibility(stiffness: float | None) -> Any:
        return 1 / mpf(stiffness) if stiffness else mpf(0)

    EI = link.bending_stiffness[0] if link.bending_stiffness else None
    kGA = link.shear_stiffness[0] if link.shear_stiffness else None
    return (
        mpf(link.mass_per_length),
        flexibility(link.axial_stiffness),
        flexibility(EI),
        flexibility(kGA),
        mpf(link.rotary_inertia_per_length or 0),
    )


def _body(body: Body | None) -> Matrix:
    """(3, 3) mass over (u, v, psi) about the point the body sits on."""
    if body is None:
        return [[mpf(0)] * 3 for _ in range(3)]
    m = mpf(body.mass)
    x = mpf(body.com[0])
    y = mpf(body.com[1])
    J = mpf(body.inertia[0] if len(body.inertia) == 1 else body.inertia[2])
    return [
        [m, mpf(0), -m * y],
        [mpf(0), m, m * x],
        [-m * y, m * x, J + m * (x * x + y * y)],
    ]


def _sum(a: Matrix, b: Matrix) -> Matrix:
    return [[x + y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def _times(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b, strict=True))
    return [[mp.fdot(row, column) for column in columns] for row in a]


def _even(X: Any, L: Any) -> tuple[Any, Any]:
    """cosh(sqrt(X) L) and sinh(sqrt(X) L) / sqrt(X): both entire in X, whatever the branch."""
    if X == 0:
        return mpf(1), L
    root = mp.sqrt(X)
    return mp.cosh(root * L), mp.sinh(root * L) / root


def bending(z: Any, p: Piece) -> Matrix:
    """exp(A L) over (v, psi, T, M); A^2 has double eigenvalues X, Y, the textbook's lambda^2."""
    A = [[0, 1, p.s, 0], [0, 0, 0, p.b], [-z * p.m, 0, 0, 0], [0, -z * p.rI, -1, 0]]
    Q = _times(A, A)
    # X + Y = 2 half and X Y = last
    half = -z * (p.rI * p.b + p.m * p.s) / 2
    last = z * p.m * p.b * (z * p.rI * p.s - 1)
    split = mp.sqrt(half * half - last)
    if split == 0:  # a link that does not bend: A is nilpotent
        total = [[mpf(int(i == j)) for j in range(4)] for i in range(4)]
        powers = ((A, p.L), (Q, p.L**2 / 2), (_times(A, Q), p.L**3 / 6))
        for power, factor in powers:
            total = _sum(total, [[factor * x for x in row] for row in power])
        return total
    X = half + split
    Y = half - split
    cx, sx = _even(X, p.L)
    cy, sy = _even(Y, p.L)
    d = X - Y
    even = _combination((cx - cy) / d, (X * cy - Y * cx) / d, Q)
    odd = _combination((sx - sy) / d, (X * sy - Y * sx) / d, Q)
    return _sum(even, _times(A, odd))


def _combination(q: Any, one: Any, Q: Matrix) -> Matrix:
    """q Q + one I."""
    return [[q * Q[i][j] + (one if i == j else 0) for j in range(4)] for i in range(4)]


def _along(z: Any, p: Piece, Y: Matrix) -> Matrix:
    """The states at a beam's end from those at its root."""
    c, s = _even(-z * p.m * p.a, p.L)
    u, v, psi, N, T, M = Y
    e = _times(bending(z, p), [v, psi, T, M])
    end_u = [c * x + p.a * s * n for x, n in zip(u, N, strict=True)]
    end_N = [-z * p.m * s * x + c * n for x, n in zip(u, N, strict=True)]
    return [end_u, e[0], e[1], end_N, e[2], e[3]]


def _past_body(z: Any, mass: Matrix, Y: Matrix) -> Matrix:
    """The state on the far side of a rigid body: forces f - z M d."""
    motions = Y[:3]
    forces = []
    for force, inertia in zip(Y[3:], _times(mass, motions), strict=True):
        forces.append([f - z * q for f, q in zip(force, inertia, strict=True)])
    return motions + forces


def _past_mount(p: Piece, Y: Matrix) -> Matrix:
    """From the previous end to this root: offset in the previous axes, then turned axes."""
    x, y = p.offset
    c = mp.cos(p.angle)
    s = mp.sin(p.angle)
    u, v, psi, N, T, M = Y
    u = [a - y * q for a, q in zip(u, psi, strict=True)]
    v = [a + x * q for a, q in zip(v, psi, strict=True)]
    M = [a - x * t + y * n for a, t, n in zip(M, T, N, strict=True)]
    return [
        [c * a + s * b for a, b in zip(u, v, strict=True)],
        [c * b - s * a for a, b in zip(u, v, strict=True)],
        psi,
        [c * a + s * b for a, b in zip(N, T, strict=True)],
        [c * b - s * a for a, b in zip(N, T, strict=True)],
        M,
    ]


def determinant(arm: Sequence[Piece], z: Any) -> Any:
    """f(z): zero exactly at the squared natural frequencies, with their multiplicity."""
    zero = mpf(0)
    one = mpf(1)
    # Rows are the six states, columns the unknowns: first the three forces at the ground
    Y = [[zero] * 3 for _ in range(3)]
    Y += [[one if i == j else zero for j in range(3)] for i in range(3)]
    conditions: Matrix = []
    for i, p in enumerate(arm):
        if i:
            Y = _past_body(z, arm[i - 1].tip, Y)
        Y = _past_mount(p, Y)
        if p.released and not p.J and p.k:  # a spring alone: psi jumps by M / k
            Y[2] = [x + q / p.k for x, q in zip(Y[2], Y[5], strict=True)]
        elif p.released:  # M = (k - z J) eps, or k and -z J in series
            dynamic = p.k - z * p.J
            if p.series:
                conditions.append([dynamic * x for x in Y[5]] + [z * p.k * p.J])
            else:
                conditions.append([*Y[5], -dynamic])
            Y = [[*row, one if j == 2 else zero] for j, row in enumerate(Y)]
        Y = _along(z, p, _past_body(z, p.hub, Y))
    conditions += _past_body(z, arm[-1].tip, Y)[3:]
    width = len(Y[0])
    f = _det([row + [zero] * (width - len(row)) for row in conditions])
    return mp.re(f) if mp.im(z) == 0 else f


def _det(A: Matrix) -> Any:
    """Determinant by elimination with partial pivoting."""
    A = [list(row) for row in A]
    n = len(A)
    det = mpf(1)
    for i in range(n):
        pivot = max(range(i, n), key=lambda row: abs(A[row][i]))
        if A[pivot][i] == 0:
            return mpf(0)
        if pivot != i:
            A[i], A[pivot] = A[pivot], A[i]
            det = -det
        det *= A[i][i]
        for r in range(i + 1, n):
            g = A[r][i] / A[i][i]
            if g != 0:
                A[r] = [x - g * y for x, y in zip(A[r], A[i], strict=True)]
    return det


def digits(arm: Sequence[Piece], omega: float, wanted: int = 40) -> int:
    """Working digits: the wanted ones and what growing solutions cost on the way to the tip."""
    growth = sum(abs(float((omega**2 * p.m * p.b) ** 0.25 * p.L)) for p in arm)
    return wanted + int(growth / 2.3 * 2) + 3 * len(arm)


def refine(arm: Sequence[Piece], omega: float) -> Any:
    """The zero of f next to omega, in many digits."""
    with mp.workdps(digits(arm, omega)):
        return secant(lambda w: determinant(arm, w * w), omega)


def secant(f: Callable[[Any], Any], start: float) -> Any:
    """The zero of f next to a start that is nearly one, by secants."""
    a = mpf(start)
    b = a * (1 + mpf("1e-13"))
    fa = f(a)
    fb = f(b)
    for _ in range(60):
        if fb == fa or abs(b - a) < abs(b) * mpf(10) ** -35:
            return b
        following = b - fb * (b - a) / (fb - fa)
        a = b
        fa = fb
        b = following
        fb = f(b)
    raise ArithmeticError(f"no convergence from {start!r}")


def zeros_below(arm: Sequence[Piece], omega: float, steps: int = 32) -> int:
    """The number of zeros of f inside |z| = omega^2, rigid-body ones included."""
    with mp.workdps(digits(arm, omega, wanted=20)):
        return zeros_inside(lambda z: determinant(arm, z), mpf(omega) ** 2, steps)


def zeros_inside(f: Callable[[Any], Any], R: Any, steps: int = 32) -> int:
    """The number of zeros inside |z| = R of an entire f that is real on the real axis.

    The argument of f is followed along half of the circle. A step is halved until the argument
    turns by less than half a radian in each of its halves, so that no turn is lost between points
    (a whole turn could hide in every half step only with four zeros per step at the start).
    """
    known: dict[Any, Any] = {}
    turn = mpf(0)
    stack = [(mpf(i) / steps, mpf(i + 1) / steps) for i in range(steps)]

    def value(t: Any) -> Any:
        if t not in known:
            known[t] = f(R * mp.expjpi(t) if t else R)
        return known[t]

    while stack:
        a, b = stack.pop()
        middle = (a + b) / 2
        first = mp.arg(value(middle) / value(a))
        second = mp.arg(value(b) / value(middle))
        if max(abs(first), abs(second)) < 0.5:
            turn += first + second
        else:
            stack += [(a, middle), (middle, b)]
    count = turn / mp.pi
    nearest = int(mp.nint(count))
    assert abs(count - nearest) < 1e-6, "the circle passes through a zero"
    return nearest
