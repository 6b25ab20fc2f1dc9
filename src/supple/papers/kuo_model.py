"""The reading `paper` of [Kuo2016]: the model behind its Tables 2 and 3, with its four slips.

This is not a model to use: it is kept here, apart from the right one (`structure`), to show
where the printed numbers come from. Each slip can be switched off by itself:

`swapped`    (55) with the printed labels: V_D = (53)^-1 [V_P - (52) V_B], though (52) is the
             coefficient of V_D and (53) that of V_B.
`rotation`   (59) as printed: R_y(phi1)' takes delta_7..9 into the rod, and no torsion at B. Off:
             the rotation (R_y(phi2) R_z(phi3))', and the universal joint carries torsion.
`slope`      w' = +gamma_2 in (58), (60). Off: w' = -gamma_2. (v' = gamma_3 in both.)
`half`       the 1/2 of the kinetic energy left in the platform's masses: m_p / 2 in translation and
             rho h_p b h^3 / 24 about every axis, b = sqrt(3) r_B, h = 1.5 r_B. Off: the full disc.

Entries of (52), (53) are the corrected ones, derived here from the geometry.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..beams.theory import Beam, uniform_of
from ..kernels.spatial import axis_rotation, cross_matrix
from ..robot import DeltaRobot

__all__ = ["SLIPS", "PaperDelta"]

Array = NDArray[np.float64]
SLIPS = ("swapped", "rotation", "slope", "half")
FIELDS = {"cubic": (1, 2), "quintic": (2, 3)}  # nodal values of u and phi, and of v and w
DENSITY = 7800.0  # Table 1; the platform's printed inertia uses the links' steel


@dataclass(frozen=True)
class PaperDelta:
    """The paper's finite-element Delta: `n` elements per link, order "cubic" or "quintic".

    Attributes
    ----------
    slips
        Those that are made; the paper makes all four.
    hips
        "clamped" as in (57), the motors prescribed; "free" to turn about the motors' axes.
    """

    robot: DeltaRobot
    n: int = 1
    order: str = "cubic"
    slips: frozenset[str] = frozenset(SLIPS)
    hips: Literal["clamped", "free"] = "clamped"

    def without(self, *slips: str) -> PaperDelta:
        """Return the model with some slips switched off."""
        return replace(self, slips=self.slips - set(slips))

    @property
    def size(self) -> int:
        """Degrees of freedom: 6 + 3 (12 n - 4) for cubic elements, Eq. (61); printed 30..282."""
        u, v = FIELDS[self.order]
        node = 2 * u + 2 * v
        clamped = 6 + 3 * (2 * node * self.n + 2 * (node - 6) - 4)
        return clamped if self.hips == "clamped" else clamped + 3

    def frequencies(self, position: ArrayLike, count: int = 8) -> Array:
        """Return the first natural frequencies at one position, rad/s, (count,)."""
        from scipy.linalg import eigh

        M, K = self.matrices(position)
        squares = eigh(K, M, eigvals_only=True, subset_by_index=(0, count - 1))
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))

    def matrices(self, position: ArrayLike) -> tuple[Array, Array]:
        """Return M and K, Eq. (44) at rest: sum S' M_e S, sum S' K_e S, and the platform's mass."""
        M = np.zeros((self.size, self.size))
        K = np.zeros((self.size, self.size))
        M[:6, :6] = self.platform_mass()
        for leg in range(3):
            for (mass, stiff), S in zip(self._links, self.nodes(position, leg), strict=True):
                M += S[0].T @ mass @ S[0]
                K += S[0].T @ stiff @ S[0]
        return M, K

    def platform_mass(self) -> Array:
        """Return the (6, 6) mass of the platform, halved by the slip `half`."""
        body = self.robot.platform.body
        plate = self.robot.platform
        if "half" not in self.slips:
            return np.diag([body.mass] * 3 + list(body.inertia))
        b = np.sqrt(3) * plate.radius
        h = 1.5 * plate.radius
        about = DENSITY * plate.thickness * b * h**3 / 24
        return np.diag([body.mass / 2] * 3 + [about] * 3)

    @property
    def beams(self) -> tuple[Beam, Beam]:
        """Upper arm and rod as beams."""
        upper = uniform_of(self.robot, self.robot.upper)
        lower = uniform_of(self.robot, self.robot.lower)
        return upper, lower

    @cached_property
    def _links(self) -> list[tuple[Array, Array]]:
        """Mass and stiffness of an upper arm and of a rod."""
        return [link_matrices(beam, self.n, self.order) for beam in self.beams]

    def nodes(self, position: ArrayLike, leg: int) -> tuple[Array, Array]:
        """Return S of a leg's upper arm and rod at positions (B, 3): Eqs. (54)-(60).

        Each is (B, nodal values, size): the nodal values of a link by the global variables.
        """
        at = delta.place(self.robot, position)
        many = len(at.position)
        phi1, phi2, phi3 = at.phi[:, leg].T
        # Rows that pick V_P, V_B and the remaining variables of a leg, Eqs. (51), (54)
        each = (self.size - 6) // 3
        pick = np.eye(self.size)
        first = 6 + leg * each
        V_P = pick[:6]
        V_B = pick[first : first + 6]
        own = pick[first + 6 : first + each]
        # V_D by the global variables, Eq. (55)
        wrist = np.tile(-self.robot.platform.radius * at.R_leg[leg, :, 0], (many, 1))
        of_D = _coefficient(at.R_lower[:, leg], wrist)
        of_B = _coefficient(at.R_upper[:, leg], at.position - at.B[:, leg])
        if "swapped" in self.slips:
            of_D, of_B = of_B, of_D
        V_D = np.linalg.solve(of_D, V_P - of_B @ V_B)
        into = axis_rotation((0, 1, 0), phi1)
        if "rotation" not in self.slips:
            into = axis_rotation((0, 1, 0), phi2) @ axis_rotation((0, 0, 1), phi3)
        into = np.swapaxes(into, 1, 2)
        start = into @ V_B[:3]
        twist = (into @ V_B[3:])[:, :1]
        if "rotation" in self.slips:
            twist = np.zeros_like(twist)
        chord = (V_D[:, 1:3] - start[:, 1:]) / (self.robot.lower.length or 1.0)
        # (v', w') from (gamma_2, gamma_3)
        slope = np.array([[0.0, 1.0], [1.0 if "slope" in self.slips else -1.0, 0.0]])
        # The upper arm is clamped at A and has V_B at its end; the rod's inner variables come
        # after those of the arm
        hip = np.zeros((many, 6, self.size))
        if self.hips == "free":
            hip[:, 5] = own[-1]
        elbow = np.tile(np.concatenate([V_B[:4], slope @ V_B[4:]]), (many, 1, 1))
        inner = iter(own[2:])
        arm = self._beam(inner, hip, elbow)
        root = np.concatenate([start, twist, own[:2] + chord], axis=1)
        end = np.concatenate([V_D[:, :4], slope @ V_D[:, 4:] + chord], axis=1)
        return arm, self._beam(inner, root, end)

    def _beam(self, inner: Iterator[Array], start: Array, end: Array) -> Array:
        """Nodal values of a beam from those of its ends, (B, 6, size), the ones between free."""
        u, v = FIELDS[self.order]
        extra = 2 * (u - 1) + 2 * (v - 2)
        many = len(start)

        def free(count: int) -> Array:
            rows = np.array([*islice(inner, count)]).reshape(-1, self.size)
            return np.tile(rows, (many, 1, 1))

        nodes = [self._node(start, free(extra))]
        for _ in range(self.n - 1):
            nodes.append(self._node(free(6), free(extra)))
        nodes.append(self._node(end, free(extra)))
        return np.concatenate(nodes, axis=1)

    def _node(self, main: Array, more: Array) -> Array:
        """One node's values as `link_matrices` has them, from (u, v, w, phi, v', w') and more."""
        rows = np.concatenate([main, more], axis=1)
        if self.order == "cubic":  # u, phi, v, v', w, w'
            return rows[:, [0, 3, 1, 4, 2, 5]]
        return rows[:, [0, 6, 3, 7, 1, 4, 8, 2, 5, 9]]


def _coefficient(R: Array, p: Array) -> Array:
    """(B, 6, 6): what a small motion in link axes at a point does at p from it: (52) and (53)."""
    out = np.zeros((len(R), 6, 6))
    out[:, :3, :3] = R
    out[:, 3:, 3:] = R
    out[:, :3, 3:] = -cross_matrix(p) @ R
    return out


def link_matrices(beam: Beam, n: int, order: str) -> tuple[Array, Array]:
    """Return M and K of one link over its nodes' (u.., phi.., v.., w..), Eqs. (21), (29).

    Polar moment in M and K alike; bending by Euler-Bernoulli, nodal w' = dw/dx.
    """
    u, v = FIELDS[order]
    l = beam.L / n
    node = 2 * u + 2 * v
    M, K = (np.zeros(((n + 1) * node,) * 2) for _ in "MK")
    starts = {"u": 0, "phi": u, "v": 2 * u, "w": 2 * u + v}
    kinds = (
        ("u", u, beam.m, beam.EA, 1),
        ("phi", u, beam.rIp, beam.GJ, 1),
        ("v", v, beam.m, beam.EI[0], 2),
        ("w", v, beam.m, beam.EI[1], 2),
    )
    for name, values, inertia, stiffness, bends in kinds:
        mass = hermite(values, l, 0)
        stiff = hermite(values, l, bends)
        for k in range(n):
            local = [e * node + starts[name] + d for e in (k, k + 1) for d in range(values)]
            M[np.ix_(local, local)] += inertia * mass
            K[np.ix_(local, local)] += stiffness * stiff
    return M, K


def hermite(values: int, l: float, derivative: int) -> Array:
    """int N^(d) N^(d)' dx of the Hermite shapes on 0..l with `values` nodal values at each end."""
    s, weight = leggauss(2 * values)
    N = hermite_shapes(values, l, derivative, (s + 1) / 2)
    return np.asarray(np.einsum("p,pi,pj->ij", weight / 2 * l, N, N))


def hermite_shapes(values: int, l: float, derivative: int, s: Array) -> Array:
    """Hermite shapes on 0..l, or a derivative, at the fractions s: (points, 2 values)."""
    powers = [Polynomial.basis(k) for k in range(2 * values)]
    rows = [
        [p.deriv(d)(end) if d else p(end) for p in powers]
        for end in (0.0, 1.0)
        for d in range(values)
    ]
    coefficients = np.linalg.inv(np.array(rows))  # columns: shapes in powers of s = x / l
    scale = np.array([l**d for _ in range(2) for d in range(values)])
    at = np.array([[p.deriv(derivative)(t) if derivative else p(t) for p in powers] for t in s])
    return np.asarray(at @ coefficients * scale / l**derivative)
