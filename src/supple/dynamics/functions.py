"""The functions of a Chain as CasADi expressions: from q = [theta, eps, eta] to the equations.

One function a quantity, made when it is first asked for. CasADi's virtual machine evaluates them;
`compiled` turns one into C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algebra import Scalar, Vector, add, matvec, mul, scale, sub, transpose, vadd
from .chain import Chain, ChainLink
from .equations import Numbers, forward, inverse, kinematics, mass_matrix

__all__ = ["Laws", "joint_side", "mass_entries", "numbers"]

Array = NDArray[np.float64]


def numbers(link: ChainLink) -> Numbers:
    """Return a link's numbers as nested lists; rounding noise of constant rotations is dropped."""
    inv = link.inv

    def clean(a: Array) -> Any:
        return np.where(np.abs(a) < 1e-15, 0.0, a).tolist()

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


def mass_entries(chain: Chain, links: list[Numbers], q: Vector) -> list[Vector]:
    """Return M(q) as a full nested list; a sprung joint's rotor stands on theta alone."""
    s, eta = joint_side(chain, q)
    M = [[0.0] * chain.size for _ in range(chain.size)]
    for i, row, l, column, value in mass_matrix(links, s, eta):
        for a in _places(chain, i, row):
            for b in _places(chain, l, column):
                M[a][b] = M[b][a] = value
    for i, a in chain.theta.items():
        M[a][a] = add(M[a][a], float(chain.links[i].rotor))
    return M


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
        K, D: nested lists (N, N).  friction: (joints,) Coulomb torques.
    """

    chain: Chain
    links: list[Numbers]
    K: list[Vector]
    D: list[Vector]

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
        """-K q - D qd."""
        return vadd(scale(-1.0, matvec(self.K, q)), scale(-1.0, matvec(self.D, qd)))

    def forward(
        self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None
    ) -> Vector:
        """Accelerations: a sprung joint's link side feels its spring, its rotor the motor."""
        chain = self.chain
        (s, eta), (sd, etad) = (joint_side(chain, x) for x in (q, qd))
        applied = self.forces(q, qd)
        torque: Vector = [0.0] * len(chain.links)
        for i, place in chain.theta.items():
            motor = add(tau[place], applied[place])
            torque[i] = applied[chain.eps[i]] if i in chain.eps else motor
        elastic = [applied[part] for part in chain.eta]
        g = list(map(float, chain.gravity))
        found = forward(self.links, (s, sd), (eta, etad), (torque, elastic), g, wrench)
        out = _gather(chain, *found)
        for i in chain.sprung:
            theta, eps = chain.theta[i], chain.eps[i]
            motor = sub(add(tau[theta], applied[theta]), torque[i])
            out[theta] = mul(motor, 1.0 / float(chain.links[i].rotor))
            out[eps] = sub(found[0][i], out[theta])
        return out

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


Maker = Callable[[Mapping[str, Scalar]], list[Any]]
