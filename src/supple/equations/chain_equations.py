"""Laws: the equations of a Chain in terms of q = [theta, eps, eta], in any scalars.

`equations` knows links, joints and their elastic coordinates; here springs and rotors, stiffness
and damping, energies and frames are added, and everything stands in the order of q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..beams.sliding.shapes import Velocity
from ..kernels.scalars import (
    Scalar,
    Vector,
    add,
    dot,
    matvec,
    mul,
    negate,
    scale,
    sub,
    total,
    transpose,
    vadd,
)
from .chain import Chain, ChainLink
from .end_coordinates import end_coordinates
from .forces import joint_side, rubbing, slider_forces, sliders
from .link_inertia import Numbers, kinematics
from .recursions import forward, inverse, mass_matrix
from .sliders import Slider, resolved

__all__ = ["Laws", "first_moment", "joint_side", "laws_of", "numbers", "rubbing"]

Array = NDArray[np.float64]


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


def _gather(chain: Chain, efforts: Vector, elastic: list[Vector]) -> Vector:
    """Forces on q from those on the joints' own coordinates: both theta and eps feel the joint."""
    out: Vector = [0.0] * chain.size
    for i, place in (*chain.theta.items(), *chain.eps.items()):
        out[place] = efforts[i]
    for i, values in enumerate(elastic):
        for place, value in zip(chain.own(i), values, strict=True):
            out[place] = value
    return out


def _places(chain: Chain, link: int, row: int) -> list[int]:
    """Where entry `row` of a link (0 its joint, then its elastic coordinates) stands in q."""
    if row:
        return [chain.own(link)[row - 1]]
    return [table[link] for table in (chain.theta, chain.eps) if link in table]


@dataclass(frozen=True)
class Laws:
    """Expressions of the equations of motion of one Chain in any scalars, lists in, lists out.

    Attributes:
        chain: the numbers.  links: the same as lists; symbols may stand in them.
        K, D: nested lists (N, N).  friction: (joints,) Coulomb's, N m; empty: none.
    """

    chain: Chain
    links: list[Numbers | Slider]
    K: list[Vector]
    D: list[Vector]
    friction: tuple[float, ...] = ()

    @cached_property
    def turned(self) -> tuple[list[Numbers | Slider], list[Any], list[Any]]:
        """The links in end coordinates zeta = B eta, with B and its inverse of every link."""
        found = [end_coordinates(link) for link in self.chain.links]
        links = [own if isinstance(own, Slider) else numbers(link)
                 for own, (link, _, _) in zip(self.links, found, strict=True)]  # fmt: skip
        return links, [B.tolist() for _, B, _ in found], [_clean(A) for _, _, A in found]

    @cached_property
    def turned_forces(self) -> list[tuple[Any, Any]]:
        """Stiffness and damping of every link in end coordinates."""
        out = []
        for i, A in enumerate(self.turned[2]):
            own = np.ix_(self.chain.own(i), self.chain.own(i))
            T = np.reshape(A, (len(A), len(A)))
            pair = [_clean(T.T @ np.asarray(X, float)[own] @ T) for X in (self.K, self.D)]
            out.append((pair[0], pair[1]))
        return out

    def mass(self, q: Vector, held: Vector | None = None) -> list[Vector]:
        """M(q), nested list (N, N); a sprung joint's rotor stands on theta alone.

        `held`: coordinates whose lengths the shapes of sliders belong to, if not q.
        """
        s, eta = joint_side(self.chain, q)
        shaped = None if held is None else joint_side(self.chain, held)[1]
        M = [[0.0] * self.chain.size for _ in range(self.chain.size)]
        for i, row, l, column, value in mass_matrix(resolved(self.links, eta, shaped), s, eta):
            for a in _places(self.chain, i, row):
                for b in _places(self.chain, l, column):
                    M[a][b] = M[b][a] = value
        for i, a in self.chain.theta.items():
            if self.chain.links[i].slide is None:
                M[a][a] = add(M[a][a], float(self.chain.links[i].rotor))
        return M

    def inverse(
        self,
        q: Vector,
        qd: Vector,
        qdd: Vector,
        gravity: bool | Vector,
        wrench: Vector | None = None,
    ) -> Vector:
        """M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench.

        `gravity` may be another acceleration (3,) than the robot's.
        """
        chain = self.chain
        (s, eta), (sd, etad), (sdd, etadd) = (joint_side(chain, x) for x in (q, qd, qdd))
        own = list(map(float, chain.gravity)) if gravity else [0.0] * 3
        g = gravity if isinstance(gravity, list) else own
        links = resolved(self.links, eta)
        found = inverse(links, (s, sd, sdd), (eta, etad, etadd), g, wrench)
        out = _gather(chain, *found)
        for i in chain.sprung:
            place = chain.theta[i]
            out[place] = add(out[place], mul(float(chain.links[i].rotor), qdd[place]))
        return out

    def forces(self, q: Vector, qd: Vector) -> Vector:
        """-K q - D qd on theta and eps; those on eta depend on the coordinates.

        For a link that slides both its length and eta are its own, and stand here.
        """
        rows = slice(0, len(self.chain.joints) + len(self.chain.sprung))
        rest = [0.0] * (self.chain.size - rows.stop)
        felt = vadd(negate(matvec(self.K[rows], q)), negate(matvec(self.D[rows], qd)))
        for k, torque in enumerate(rubbing(self.friction, qd)):
            felt[k] = sub(felt[k], torque)
        out = felt + rest
        for i, own in slider_forces(self, q, qd):
            for place, value in zip(self.chain.own(i), own, strict=True):
                out[place] = sub(out[place], value)
        return out

    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Accelerations under efforts tau, (joints,)."""
        ends = self.forward_ends(self._to_ends(q), self._to_ends(qd), tau, wrench)
        out = list(ends)
        for A, part, link in zip(self.turned[2], self.chain.eta, self.links, strict=True):
            if not isinstance(link, Slider):
                out[part] = matvec(A, ends[part])
        return out

    def _to_ends(self, q: Vector) -> Vector:
        """q with the end coordinates zeta = B eta of every link in place of eta."""
        out = list(q)
        for B, part, link in zip(self.turned[1], self.chain.eta, self.links, strict=True):
            if not isinstance(link, Slider):
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
            [applied[place] for place in chain.own(i)]
            if isinstance(link, Slider)
            else vadd(negate(matvec(K, z)), negate(matvec(D, zd)))
            for i, (link, (K, D), z, zd) in enumerate(
                zip(self.links, self.turned_forces, zeta, zetad, strict=True)
            )
        ]
        g = list(map(float, chain.gravity))
        links = resolved(self.turned[0], zeta)
        found = forward(links, (s, sd), (zeta, zetad), (torque, elastic), g, wrench)
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
        for pose in kinematics(resolved(self.links, eta), s, eta):
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
        bent = [slider.energy(p) for _, slider, p in sliders(self, q)]
        return kinetic, total([mul(0.5, dot(q, matvec(self.K, q))), *bent]), self.height(q)

    def height(self, q: Vector, gravity: Vector | None = None) -> Scalar:
        """Potential of gravity, -g . sum of m r over beams and bodies; of another g if given."""
        g = [float(x) for x in self.chain.gravity] if gravity is None else gravity
        out: Scalar = 0.0
        if gravity is None and not any(g):
            return out
        links = resolved(self.links, joint_side(self.chain, q)[1])
        for link, (p, R, pose) in zip(links, self.frames(q), strict=True):
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


def laws_of(
    chain: Chain,
    D: Array,
    friction: tuple[float, ...] = (),
    ratios: Sequence[Sequence[float]] = (),
    velocity: Velocity = "material",
) -> Laws:
    """Return the equations of a chain with its own numbers; ratios: of each slider's damping."""
    links: list[Numbers | Slider] = []
    for i, link in enumerate(chain.links):
        plain = numbers(link)
        if link.slide is not None:
            own = tuple(ratios[i]) if ratios else ()
            shortens = bool(link.inv.pairs)
            links.append(Slider(plain, link.slide, velocity, own, stiffening=shortens))
        else:
            links.append(plain)
    return Laws(chain, links, chain.stiffness().tolist(), D.tolist(), friction)
