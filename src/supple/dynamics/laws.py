"""Laws: the equations of a Chain in terms of q = [theta, eps, eta], in any scalars.

`equations` knows links, joints and their elastic coordinates; here springs and rotors, stiffness
and damping, energies and frames are added, and everything stands in the order of q.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import (
    Scalar,
    Vector,
    add,
    dot,
    matvec,
    mul,
    negate,
    scale,
    sub,
    tanh,
    total,
    transpose,
    vadd,
)
from .bodies import Numbers, kinematics
from .chain import Chain, ChainLink
from .ends import end_coordinates
from .equations import forward, inverse, mass_matrix

__all__ = ["Laws", "first_moment", "joint_side", "laws_of", "numbers", "rubbing"]

Array = NDArray[np.float64]
CREEP = 0.01  # rad/s, within which friction changes its sign


def numbers(link: ChainLink) -> Numbers:
    """Return a link's numbers as nested lists; rounding noise of constant rotations is dropped."""
    inv, clean = link.inv, _clean
    return Numbers(
        R_PM=clean(link.R_PM),
        p_PM=clean(link.p_PM),
        axis=None if link.axis is None else clean(link.axis),
        length=float(inv.length),
        mass=float(inv.mass),
        first=float(inv.first),
        second=float(inv.second),
        P=inv.P.tolist(),
        X=inv.X.tolist(),
        G=inv.G.tolist(),
        J=inv.J.tolist(),
        JPsi=inv.JPsi.tolist(),
        PsiJPsi=inv.PsiJPsi.tolist(),
        pairs=inv.pairs,
        N_end=inv.N_end.tolist(),
        Psi_end=inv.Psi_end.tolist(),
        root_mass=link.root_mass.tolist(),
        tip_mass=link.tip_mass.tolist(),
        rotor=0.0 if link.spring is not None else float(link.rotor),
    )


def _clean(a: Array) -> Any:
    """Nested list with rounding noise against the largest entry dropped."""
    return np.where(np.abs(a) <= 1e-14 * np.abs(a).max(initial=0.0), 0.0, a).tolist()


def rubbing(friction: tuple[float, ...], qd: Vector) -> Vector:
    """Coulomb's friction in the joints, smoothed: f tanh(speed / 0.01 rad/s)."""
    return [mul(f, tanh(mul(1 / CREEP, qd[k]))) if f else 0.0 for k, f in enumerate(friction)]


def joint_side(chain: Chain, x: Vector) -> tuple[Vector, list[Vector]]:
    """Return the joints' own coordinates theta + eps, one a link, and eta of every link."""
    s: Vector = []
    for i in range(len(chain.links)):
        value = x[chain.theta[i]] if i in chain.theta else 0.0
        s.append(add(value, x[chain.eps[i]]) if i in chain.eps else value)
    return s, [list(x[part]) for part in chain.eta]


def _gather(chain: Chain, efforts: Vector, elastic: list[Vector]) -> Vector:
    """Forces on q from those on the joints' own coordinates: both theta and eps feel the joint."""
    out: Vector = [0.0] * chain.size
    for i, place in (*chain.theta.items(), *chain.eps.items()):
        out[place] = efforts[i]
    for part, values in zip(chain.eta, elastic, strict=True):
        out[part] = values
    return out


def _places(chain: Chain, link: int, row: int) -> list[int]:
    """Where entry `row` of a link (0 its joint, then its elastic coordinates) stands in q."""
    if row:
        return [chain.eta[link].start + row - 1]
    return [table[link] for table in (chain.theta, chain.eps) if link in table]


@dataclass(frozen=True)
class Laws:
    """Expressions of the equations of motion of one Chain in any scalars, lists in, lists out.

    Attributes:
        chain: the numbers.  links: the same as lists; symbols may stand in them.
        K, D: nested lists (N, N).  friction: (joints,) Coulomb's, N m; empty: none.
    """

    chain: Chain
    links: list[Numbers]
    K: list[Vector]
    D: list[Vector]
    friction: tuple[float, ...] = ()

    @cached_property
    def turned(self) -> tuple[list[Numbers], list[Any], list[Any]]:
        """The links in end coordinates zeta = B eta, with B and its inverse of every link."""
        found = [end_coordinates(link) for link in self.chain.links]
        return ([numbers(link) for link, _, _ in found], [B.tolist() for _, B, _ in found],
                [_clean(A) for _, _, A in found])  # fmt: skip

    @cached_property
    def turned_forces(self) -> list[tuple[Any, Any]]:
        """Stiffness and damping of every link in end coordinates."""
        out = []
        for A, part in zip(self.turned[2], self.chain.eta, strict=True):
            k = len(A)
            pair = [np.reshape([row[part] for row in X[part]], (k, k)) for X in (self.K, self.D)]
            T = np.reshape(A, (k, k))
            out.append((_clean(T.T @ pair[0] @ T), _clean(T.T @ pair[1] @ T)))
        return out

    def mass(self, q: Vector) -> list[Vector]:
        """M(q), nested list (N, N); a sprung joint's rotor stands on theta alone."""
        s, eta = joint_side(self.chain, q)
        M = [[0.0] * self.chain.size for _ in range(self.chain.size)]
        for i, row, l, column, value in mass_matrix(self.links, s, eta):
            for a in _places(self.chain, i, row):
                for b in _places(self.chain, l, column):
                    M[a][b] = M[b][a] = value
        for i, a in self.chain.theta.items():
            M[a][a] = add(M[a][a], float(self.chain.links[i].rotor))
        return M

    def inverse(
        self, q: Vector, qd: Vector, qdd: Vector, gravity: bool, wrench: Vector | None = None
    ) -> Vector:
        """M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench."""
        chain = self.chain
        (s, eta), (sd, etad), (sdd, etadd) = (joint_side(chain, x) for x in (q, qd, qdd))
        g = list(map(float, chain.gravity)) if gravity else [0.0] * 3
        found = inverse(self.links, (s, sd, sdd), (eta, etad, etadd), g, wrench)
        out = _gather(chain, *found)
        for i in chain.sprung:
            place = chain.theta[i]
            out[place] = add(out[place], mul(float(chain.links[i].rotor), qdd[place]))
        return out

    def forces(self, q: Vector, qd: Vector) -> Vector:
        """-K q - D qd on theta and eps; those on eta depend on the coordinates."""
        rows = slice(0, len(self.chain.joints) + len(self.chain.sprung))
        rest = [0.0] * (self.chain.size - rows.stop)
        felt = vadd(negate(matvec(self.K[rows], q)), negate(matvec(self.D[rows], qd)))
        for k, torque in enumerate(rubbing(self.friction, qd)):
            felt[k] = sub(felt[k], torque)
        return felt + rest

    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Accelerations under efforts tau, (joints,)."""
        ends = self.forward_ends(self.to_ends(q), self.to_ends(qd), tau, wrench)
        out = list(ends)
        for A, part in zip(self.turned[2], self.chain.eta, strict=True):
            out[part] = matvec(A, ends[part])
        return out

    def to_ends(self, q: Vector) -> Vector:
        """q with the end coordinates zeta = B eta of every link in place of eta."""
        out = list(q)
        for B, part in zip(self.turned[1], self.chain.eta, strict=True):
            out[part] = matvec(B, q[part])
        return out

    def forward_ends(
        self, x: Vector, xd: Vector, tau: Vector, wrench: Vector | None = None
    ) -> Vector:
        """Accelerations in end coordinates: the cheapest form, and what integrators step through.

        A sprung joint's link side feels its spring, its rotor the motor.
        """
        chain = self.chain
        (s, zeta), (sd, zetad) = (joint_side(chain, value) for value in (x, xd))
        applied = vadd(self.forces(x, xd), list(tau) + [0.0] * (chain.size - len(tau)))
        torque: Vector = [0.0] * len(chain.links)
        for i, place in chain.theta.items():
            torque[i] = applied[chain.eps.get(i, place)]
        elastic = [
            vadd(negate(matvec(K, z)), negate(matvec(D, zd)))
            for (K, D), z, zd in zip(self.turned_forces, zeta, zetad, strict=True)
        ]
        g = list(map(float, chain.gravity))
        found = forward(self.turned[0], (s, sd), (zeta, zetad), (torque, elastic), g, wrench)
        out = _gather(chain, *found)
        for i in chain.sprung:
            theta, eps = chain.theta[i], chain.eps[i]
            out[theta] = mul(sub(applied[theta], torque[i]), 1.0 / float(chain.links[i].rotor))
            out[eps] = sub(found[0][i], out[theta])
        return out

    def tip(self, q: Vector) -> tuple[Vector, list[Vector]]:
        """Position (3,) and axes (3, 3) of the last end in base axes."""
        p, R, pose = self.frames(q)[-1]
        back = transpose(_numbers_back(self.chain))
        turned = [matvec(R, column) for column in transpose(pose.turn)]
        axes = [vadd(*(scale(b[k], turned[k]) for k in range(3))) for b in back]
        return vadd(p, matvec(R, pose.arm)), transpose(axes)

    def frames(self, q: Vector) -> list[tuple[Vector, list[Vector], Any]]:
        """Root position and axes in base axes of every link, and its pose."""
        s, eta = joint_side(self.chain, q)
        p: Vector = [0.0] * 3
        R = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        out = []
        for pose in kinematics(self.links, s, eta):
            p = vadd(p, matvec(R, pose.offset))
            columns = [matvec(R, column) for column in transpose(pose.R)]
            R = transpose(columns)
            out.append((p, R, pose))
            p = vadd(p, matvec(R, pose.arm))
        return out

    def energies(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic, elastic and gravitational energy.

        T = 1/2 qd' M qd through the inverse dynamics: M qd is the effort of qdd = qd at rest.
        """
        rest: Vector = [0.0] * self.chain.size
        momentum = self.inverse(q, rest, list(qd), gravity=False)
        kinetic = mul(0.5, dot(momentum, qd))
        return kinetic, mul(0.5, dot(q, matvec(self.K, q))), self.height(q)

    def height(self, q: Vector) -> Scalar:
        """Potential of gravity, -g . sum of m r over beams and bodies."""
        g = [float(x) for x in self.chain.gravity]
        out: Scalar = 0.0
        if not any(g):
            return out
        for link, (p, R, pose) in zip(self.links, self.frames(q), strict=True):
            beam = vadd([link.first, 0.0, 0.0], matvec(link.P, pose.z))
            root, tip = link.root_mass, link.tip_mass
            moment = vadd(beam, first_moment(root), scale(tip[0][0], pose.arm))
            moment = vadd(moment, matvec(pose.turn, first_moment(tip)))
            mass = total([link.mass, root[0][0], tip[0][0]])
            out = sub(out, add(mul(mass, dot(g, p)), dot(g, matvec(R, moment))))
        return out


def first_moment(M: list[Vector]) -> Vector:
    """Mass times the place of the mass centre, from a (6, 6) mass."""
    return [M[1][5], M[2][3], M[0][4]]


def _numbers_back(chain: Chain) -> list[Vector]:
    """Link axes of the last link seen from its segment axes."""
    back: list[Vector] = _clean(chain.links[-1].R_SL)
    return back


def laws_of(chain: Chain, D: Array, friction: tuple[float, ...] = ()) -> Laws:
    """Return the equations of a chain with its own numbers."""
    links = [numbers(link) for link in chain.links]
    return Laws(chain, links, chain.stiffness().tolist(), D.tolist(), friction)
