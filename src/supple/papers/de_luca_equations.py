"""PlanarLaws: planar arms whose bent links turn the next one as [DeLuca1991] writes it.

The end of a link turns the next one by E = [[1, -y'], [y', 1]], which also stretches it by
1 + y'^2. `literal` keeps that E as it stands; `paper` cuts every element of the mass matrix to
first order in the elastic coordinates, which gives (32), and derives h from it by (26). Cutting
loses O(delta) centrifugal terms and lets the mass matrix become indefinite at large deflections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from ..architectures.tree import Tree
from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import first_moment, joint_side, rubbing
from ..equations.chains.forces import Equations
from ..equations.chains.link_inertia import LinkNumbers
from ..equations.evaluate import column
from ..equations.reading import PaperReading, Reading
from ..errors import SuppleError
from ..kernels.scalars import (
    Matrix,
    Scalar,
    Vector,
    add,
    axis_rotation,
    dot,
    ldl,
    ldl_solve,
    matmul,
    matvec,
    mul,
    negate,
    scale,
    sub,
    total,
    transpose,
    vadd,
)

__all__ = ["DeLucaReading", "PlanarLaws", "kinetic_energy", "planar_frames"]


@dataclass(frozen=True)
class _PlanarFrame:
    """Root and axes of a link in the base plane, with rates; W need not be a rotation.

    Attributes
    ----------
    r, rd
        Root and its velocity (2,).
    W, Wd
        (2, 2).
    alpha, alphad
        Angle and its rate.
    """

    r: Vector
    rd: Vector
    W: Matrix
    Wd: Matrix
    alpha: Scalar
    alphad: Scalar


def _point_motion(frame: _PlanarFrame, p: Vector, pd: Vector) -> tuple[Vector, Vector]:
    """Place and velocity of a point p of a frame, itself moving at pd."""
    place = vadd(frame.r, matvec(frame.W, p))
    return place, vadd(frame.rd, matvec(frame.Wd, p), matvec(frame.W, pd))


def planar_frames(
    chain: Chain, links: list[LinkNumbers], q: Vector, qd: Vector
) -> list[tuple[_PlanarFrame, _PlanarFrame]]:
    """Return root and end frame of every link with the paper's E."""
    (s, eta), (sd, etad) = joint_side(chain, q), joint_side(chain, qd)
    unit = [[1.0, 0.0], [0.0, 1.0]]
    end = _PlanarFrame([0.0, 0.0], [0.0, 0.0], unit, [[0.0, 0.0], [0.0, 0.0]], 0.0, 0.0)
    out = []
    for i, link in enumerate(links):
        # The root frame from the previous end: W = W_end A(yaw + s), [DeLuca1991], Eqs. (3)-(7)
        r, rd = _point_motion(end, link.p_PM[:2], [0.0, 0.0])
        turn = [row[:2] for row in axis_rotation([0.0, 0.0, 1.0], s[i])[:2]]
        A = matmul([row[:2] for row in link.R_PM[:2]], turn)
        SA = [negate(A[1]), A[0]]
        both = zip(matmul(end.Wd, A), matmul(end.W, SA), strict=True)
        Wd = [vadd(a, scale(sd[i], b)) for a, b in both]
        alpha = add(end.alpha, s[i])
        alphad = add(end.alphad, sd[i])
        root = _PlanarFrame(r, rd, matmul(end.W, A), Wd, alpha, alphad)
        # The frame of its end: W E, and the rate of E is S y'
        N = link.N_end[:2]
        slope = link.Psi_end[2]
        p = vadd([link.length, 0.0], matvec(N, eta[i]))
        pd = matvec(N, etad[i])
        y = dot(slope, eta[i])
        yd = dot(slope, etad[i])
        r, rd = _point_motion(root, p, pd)
        E = [[1.0, mul(-1.0, y)], [y, 1.0]]
        S = [[0.0, mul(-1.0, yd)], [yd, 0.0]]
        both = zip(matmul(root.Wd, E), matmul(root.W, S), strict=True)
        Wd = [vadd(a, b) for a, b in both]
        end = _PlanarFrame(r, rd, matmul(root.W, E), Wd, add(alpha, y), add(alphad, yd))
        out.append((root, end))
    return out


def kinetic_energy(chain: Chain, links: list[LinkNumbers], q: Vector, qd: Vector) -> Scalar:
    """Return T of beams, bodies and rotors.

    Source: [DeLuca1991], Eqs. (8)-(11), with rotary inertia and off-axis mass centres added.
    """
    _, eta = joint_side(chain, q)
    _, etad = joint_side(chain, qd)
    parts: list[Scalar] = []
    for i, (root, end) in enumerate(planar_frames(chain, links, q, qd)):
        link = links[i]
        parts.append(_beam_energy(link, root, eta[i], etad[i]))
        parts.append(_body_energy(link.root_mass, root))
        parts.append(_body_energy(link.tip_mass, end))
    for i, place in chain.theta.items():
        rotor = float(chain.links[i].rotor)
        parts.append(mul(0.5 * rotor, mul(qd[place], qd[place])))
    return total(parts)


def _body_energy(M: Matrix, frame: _PlanarFrame) -> Scalar:
    """1/2 m |v|^2 + 1/2 J alpha'^2 of a body whose mass centre stands off its frame's origin."""
    m = M[0][0]
    c = first_moment(M)[:2]
    inertia = M[5][5]
    if isinstance(m, float) and m:
        inertia = inertia - (c[0] ** 2 + c[1] ** 2) / m
    Wc = matvec(frame.Wd, c)
    spread = 0.0 if isinstance(m, float) and not m else mul(1.0 / m, dot(Wc, Wc))
    linear = total([mul(m, dot(frame.rd, frame.rd)), mul(2.0, dot(frame.rd, Wc)), spread])
    return mul(0.5, add(linear, mul(inertia, mul(frame.alphad, frame.alphad))))


def _beam_energy(link: LinkNumbers, frame: _PlanarFrame, eta: Vector, etad: Vector) -> Scalar:
    """1/2 int m |rd + Wd p + W pd|^2 + 1/2 int rho I (alpha' + psi')^2 from the integrals."""
    columns = [frame.rd, *transpose(frame.Wd), *transpose(frame.W)]
    # Integrals of m times products of the fields 1, x + u, v, u', v' (rates), (5, 5)
    P = link.P
    X = link.X
    G = link.G
    bent = [dot(P[a], x) for x in (eta, etad) for a in range(2)]
    first = [link.mass, add(link.first, bent[0]), *bent[1:]]
    gram = [[0.0] * 5 for _ in range(5)]
    gram[0] = first
    fields = [(0, eta), (1, eta), (0, etad), (1, etad)]
    for k, (a, left) in enumerate(fields):
        for l, (b, right) in enumerate(fields):
            value = dot(left, matvec(G[a][b], right)) if eta else 0.0
            value = add(value, dot(X[b], right)) if k == 0 else value
            value = add(value, dot(X[a], left)) if l == 0 else value
            gram[k + 1][l + 1] = add(value, link.second) if k == l == 0 else value
        gram[k + 1][0] = first[k + 1]
    parts = []
    for k in range(5):
        for l in range(5):
            parts.append(mul(gram[k][l], dot(columns[k], columns[l])))
    spin = mul(link.J[2], mul(frame.alphad, frame.alphad))
    if eta:
        spin = add(spin, mul(2.0, mul(frame.alphad, dot(link.JPsi[2], etad))))
        spin = add(spin, dot(etad, matvec(link.PsiJPsi, etad)))
    return mul(0.5, add(total(parts), spin))


@dataclass(frozen=True)
class PlanarLaws(Equations):
    """The equations of a planar chain with the paper's E, as CasADi expressions.

    Same methods as `laws.Laws`; mass matrix and h come from the kinetic energy by automatic
    differentiation, h by Christoffel's symbols, [DeLuca1991] (26).
    """

    links: list[LinkNumbers]
    variant: Literal["paper", "literal"] = "paper"

    def mass(self, q: Vector) -> list[Vector]:
        """B(q): the Hessian of T in qd, cut to first order in eta for `paper`."""
        import casadi as ca

        M = ca.densify(self._mass(column(q)))
        return transpose([ca.vertsplit(column) for column in ca.horzsplit(M)])

    def _mass(self, q: Any) -> Any:
        import casadi as ca

        n = self.chain.size
        start = len(self.chain.joints) + len(self.chain.sprung)
        qd = ca.SX.sym("qd", n)
        T = kinetic_energy(self.chain, self.links, ca.vertsplit(q), ca.vertsplit(qd))
        M = ca.hessian(T, qd)[0]
        return self._truncate(M, q, start, 1) if self.variant == "paper" else M

    def _truncate(self, expression: Any, q: Any, start: int, order: int) -> Any:
        """Taylor's series of an expression in eta about zero, up to first or second order."""
        import casadi as ca

        bent = q[start:]
        flat = ca.vec(expression)
        zero = ca.SX.zeros(bent.numel())
        hold = ca.SX.sym("hold", bent.numel())
        first = ca.jtimes(flat, bent, hold)
        out = ca.substitute(flat, bent, zero) + ca.substitute(
            ca.substitute(first, bent, zero), hold, bent
        )
        if order == 2:
            second = ca.jtimes(first, bent, hold)
            out += ca.substitute(ca.substitute(second, bent, zero), hold, bent) / 2
        return ca.simplify(ca.reshape(out, *expression.shape))

    def inverse(
        self, q: Vector, qd: Vector, qdd: Vector, gravity: bool, wrench: Vector | None = None
    ) -> Vector:
        """M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench."""
        import casadi as ca

        Q = column(q)
        V = column(qd)
        A = column(qdd)
        return ca.vertsplit(self._rest(Q, V, gravity, wrench) + self._mass(Q) @ A)

    def _rest(self, Q: Any, V: Any, gravity: bool, wrench: Vector | None) -> Any:
        """h(q, qd), with gravity and a tip wrench as asked."""
        import casadi as ca

        n = self.chain.size
        q = ca.SX.sym("q", n)
        v = ca.SX.sym("v", n)
        M = self._mass(q)
        momentum = M @ v
        rest = ca.jtimes(momentum, q, v) - ca.gradient(ca.dot(momentum, v), q) / 2
        if gravity:
            rest += ca.gradient(self._height(q), q) if any(self.chain.gravity) else 0
        if wrench is not None:
            end = planar_frames(self.chain, self.links, ca.vertsplit(q), [0.0] * n)[-1][1]
            force = ca.vertcat(wrench[0], wrench[1], wrench[5])
            rest -= ca.jtimes(ca.vertcat(*end.r, end.alpha), q, force, True)
        return ca.substitute([rest], [q, v], [Q, V])[0]

    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Accelerations under efforts tau, (joints,) or on every coordinate (N,)."""
        import casadi as ca

        n = self.chain.size
        forces = vadd(scale(-1.0, matvec(self.K, q)), scale(-1.0, matvec(self.D, qd)))
        forces = vadd(forces, list(tau) + [0.0] * (n - len(tau)))
        for k, torque in enumerate(rubbing(self.friction, qd)):
            forces[k] = sub(forces[k], torque)
        rest = ca.vertsplit(self._rest(column(q), column(qd), True, wrench))
        load = [sub(a, b) for a, b in zip(forces, rest, strict=True)]
        return ldl_solve(ldl(self.mass(q)), load)

    def energies(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic, elastic and gravitational energy."""
        Q = column(q)
        V = column(qd)
        import casadi as ca

        kinetic = ca.dot(V, self._mass(Q) @ V) / 2
        height = self._height(Q) if any(self.chain.gravity) else 0.0
        return kinetic, mul(0.5, dot(q, matvec(self.K, q))), height

    def _height(self, q: Any) -> Any:
        """Potential of gravity, to second order in eta for `paper`."""
        import casadi as ca

        x = ca.vertsplit(q)
        _, eta = joint_side(self.chain, x)
        g = [float(value) for value in self.chain.gravity[:2]]
        out: Scalar = 0.0
        frames = planar_frames(self.chain, self.links, x, [0.0] * self.chain.size)
        for link, (root, end), bent in zip(self.links, frames, eta, strict=True):
            beam = vadd([link.first, 0.0], matvec(link.P[:2], bent))
            for frame, mass, moment in (
                (root, link.mass, beam),
                (root, link.root_mass[0][0], first_moment(link.root_mass)[:2]),
                (end, link.tip_mass[0][0], first_moment(link.tip_mass)[:2]),
            ):
                place = vadd(scale(mass, frame.r), matvec(frame.W, moment))
                out = sub(out, dot(g, place))
        start = len(self.chain.joints) + len(self.chain.sprung)
        return self._truncate(ca.SX(out), q, start, 2) if self.variant == "paper" else out

    def tip(self, q: Vector) -> tuple[Vector, Matrix]:
        """Position (3,) and axes (3, 3) of the last end; axes as the paper has them."""
        _, end = planar_frames(self.chain, self.links, q, [0.0] * self.chain.size)[-1]
        W = end.W
        return [*end.r, 0.0], [[*W[0], 0.0], [*W[1], 0.0], [0.0, 0.0, 1.0]]


class DeLucaReading(PaperReading):
    """How a bent link turns the next one, as [DeLuca1991] writes it; planar arms only."""

    keeps_definite = False  # what is cut off may outweigh the rest

    def check(self, tree: Tree, chain: Chain, reading: Reading, stiffening: bool) -> None:
        """Refuse spatial arms and geometric stiffening."""
        word = f"'{reading.deflection}'"
        if not tree.planar:
            raise SuppleError(f"deflection {word} is for planar arms; {tree.robot.name} is spatial")
        if stiffening:
            raise SuppleError(f"stiffening goes with deflection 'rotation', not with {word}")

    def equations(self, laws: Equations, reading: Reading) -> Equations:
        """Return the paper's equations of the same numbers."""
        links = [link for link in laws.links if isinstance(link, LinkNumbers)]
        variant = cast("Any", reading.deflection)
        return PlanarLaws(laws.chain, links, laws.K, laws.D, laws.friction, variant=variant)

    def closed_form_mass(
        self, chain: Chain, links: Any, q: Sequence[Any], qd: Sequence[Any], reading: Reading
    ) -> Any:
        """Return B(q) of (32) in symbols, or with the paper's E uncut."""
        import sympy

        T = kinetic_energy(chain, links, list(q), list(qd))
        B = sympy.Matrix(len(q), len(q), lambda i, j: T.diff(qd[i], qd[j]) if i <= j else 0)
        if reading.deflection == "paper":
            bent = [x for part in joint_side(chain, list(q))[1] for x in part]
            straight = dict.fromkeys(bent, 0)
            slopes = sum((x * B.diff(x).subs(straight) for x in bent), sympy.zeros(*B.shape))
            B = B.subs(straight) + slopes
        return B + B.T - sympy.diag(*B.diagonal())
