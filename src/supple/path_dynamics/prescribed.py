"""Led: a robot's branches at the instants of a prescribed rigid motion, and their matrices.

Every link moves by q = S(t) z in the axes of its moving root frame, z its branch's coordinates.
With the matrices of `moving_beams`, for each branch
    M = sum S' M_e S,   C = sum S' (2 M_e S' + C_e S),
    K = sum S' (M_e S'' + C_e S' + (K_e + A_e + E_e + G_e) S) + K_j,   F = sum S' P_e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import Immutable
from ..errors import SuppleError
from ..kernels.jets import Jet, jet_of, solve, transpose
from ..structure import MovingStructure
from .branches import Group
from .moving_beams import Rates
from .preload import Carried, carried_loads, joint_stiffness, pin_pairs, taken_off
from .reduction import Forms, JointReduction

__all__ = ["Loads", "PrescribedMotion", "lead"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loads(Immutable):
    """Which effects of the rigid motion act on the elastic motion.

    Parameters
    ----------
    inertia : bool
        Inertia of the rigid motion, in F.
    gravity : bool
        Weight, in F.
    gyroscopic : bool
        Gyroscopic terms, in C.
    centrifugal : bool
        Terms of the rates, in K.
    preload : bool
        Forces and moments of the rigid motion and of weight, in K.
    """

    inertia: bool = True
    gravity: bool = True
    gyroscopic: bool = True
    centrifugal: bool = True
    preload: bool = True


@dataclass(frozen=True)
class PrescribedMotion:
    """The groups of a robot at B instants of a rigid motion.

    Attributes
    ----------
    motions
        How each slot's root and end move with z, by group.
    rates
        Of each slot's frame.
    loose
        Number of loose motions f.
    width
        Length of [motors, y].
    """

    groups: tuple[Group, ...]
    moving: MovingStructure
    loads: Loads
    motions: tuple[tuple[list[Jet], list[Jet]], ...]
    rates: tuple[list[Rates], ...]
    motors: int
    size: int
    loose: int

    @cached_property
    def closing(self) -> tuple[Jet, Jet] | None:
        """A_f and A_u of A_f f + A_u u = 0, u = [motors, y]; None without closures."""
        if not self.moving.closures:
            return None
        places = {
            int(i): (g, b, s)
            for g, group in enumerate(self.groups)
            for b, branch in enumerate(group.segments)
            for s, i in enumerate(branch)
        }
        B = self.moving.structure.size
        count = sum(c.rows_a.shape[1] for c in self.moving.closures)
        A_f, A_u = (jet_of(np.zeros((B, count, n))) for n in (self.loose, self.motors + self.size))
        at = 0
        for closure in self.moving.closures:
            rows = slice(at, at + closure.rows_a.shape[1])
            at = rows.stop
            ends = ((closure.a, closure.rows_a), (closure.b, closure.rows_b))
            for i, tied in ((i, rows) for i, rows in ends if i >= 0):  # the ground stands still
                g, b, s = places[i]
                felt = tied @ self.motions[g][1][s][:, b]
                # Add columns of one branch's z to those of all
                group = self.groups[g]
                y = group.own(1, b)
                targets = (
                    (A_u, group.own(0, b), slice(0, group.motors)),
                    (A_u, slice(y.start + self.motors, y.stop + self.motors), group.y),
                    (A_f, group.own(2, b), group.f),
                )
                for target, place, own in targets:
                    for out, part in zip(target.parts, felt.parts, strict=True):
                        out[:, rows, place] += part[..., own]
        return A_f, A_u

    @cached_property
    def follow(self) -> Jet:
        """Phi (B, Nf, motors + N), f = Phi u; without rows if nothing is loose."""
        if self.closing is None:
            shape = (self.moving.structure.size, 0, self.motors + self.size)
            return jet_of(np.zeros(shape))
        A_f, A_u = self.closing
        return -solve(A_f, A_u)

    @cached_property
    def forces(self) -> Array:
        """(B, rows) forces in the closures in the rigid motion: A_f' lambda = -Q_f."""
        assert self.closing is not None
        A = transpose(self.closing[0].value)
        Q = np.concatenate(
            [
                self._load_vector(g)[..., group.f].reshape(len(A), group.count * group.loose)
                for g, group in enumerate(self.groups)
            ],
            axis=1,
        )
        return np.asarray(np.linalg.solve(A, -Q[..., None])[..., 0])

    def carried_loads(self, g: int) -> list[Carried]:
        """Return what each slot of a group carries."""
        closed = None if self.closing is None else taken_off(self.moving, self.forces)
        return carried_loads(self.groups[g], self.moving, self.rates[g], closed)

    def _load_vector(self, g: int) -> Array:
        """F (B, m, z) of a group."""
        group = self.groups[g]
        F = np.zeros((self.moving.structure.size, group.count, group.width))
        for slot, rate, root in zip(group.slots, self.rates[g], self.motions[g][0], strict=True):
            P = slot.link.load(*rate)
            F += (P[..., None, :6] @ root.value)[..., 0, :]
            F[..., slot.inner] += P[..., 6:]
        return F

    def assemble(self, g: int) -> Forms:
        """Return M, C, K, F of a group over z."""
        group, (roots, _) = self.groups[g], self.motions[g]
        shape = (self.moving.structure.size, group.count, group.width, group.width)
        M, C, K = (np.zeros(shape) for _ in range(3))
        parts: Sequence[Carried | None] = [None] * len(group.slots)
        if self.loads.preload:
            parts = carrying = self.carried_loads(g)
            joint_stiffness(K, group, roots, carrying)
        for slot, root, rate, part in zip(group.slots, roots, self.rates[g], parts, strict=True):
            # Add the links of one slot to M, C, K over z; the elastic stiffness is not among it
            loads = self.loads
            out = (M, C, K)
            a, w, dw = rate
            link = slot.link
            inner = slot.inner
            reach = slot.reach
            C_e, K_e = link.turning(w, dw)
            K_e *= loads.centrifugal
            C_e *= loads.gyroscopic
            if part is not None:
                K_e += link.geometric_stiffness(part.end, part.form, a, w, dw)
            J, J1, J2 = (x[..., reach] for x in root.parts)
            N = len(reach)
            forms = (link.M, C_e, K_e)
            by_mass = link.M[:, :6] @ np.concatenate([J, J1, J2], axis=-1)
            by_spin = C_e[..., :6] @ np.concatenate([J, J1], axis=-1)
            right = (
                by_mass[..., :N],
                by_spin[..., :N] + 2 * loads.gyroscopic * by_mass[..., N : 2 * N],
                K_e[..., :6] @ J + loads.centrifugal * (by_mass[..., 2 * N :] + by_spin[..., N:]),
            )
            # Columns as runs of neighbours: where they stand in z, and among themselves
            ends = np.flatnonzero(np.diff(reach) > 1) + 1
            edges = [0, *ends.tolist(), len(reach)]
            runs = [
                (slice(int(reach[a]), int(reach[b - 1]) + 1), slice(a, b))
                for a, b in pairwise(edges)
                if b > a
            ]
            Jt = transpose(J)
            for matrix, form, rows in zip(out, forms, right, strict=True):
                matrix[..., inner, inner] += form[..., 6:, 6:]
                if not N:
                    continue
                across = Jt @ form[..., :6, 6:]
                around = Jt @ rows[..., :6, :]
                for z, own in runs:
                    matrix[..., inner, z] += rows[..., 6:, own]
                    matrix[..., z, inner] += across[..., own, :]
                    for other, there in runs:
                        matrix[..., z, other] += around[..., own, there]
        for slot in group.slots:
            K[..., slot.inner, slot.inner] += slot.link.K[6:, 6:]
            for turn in slot.turns:
                K[..., turn.column, turn.column] += turn.stiffness
        return M, C, K, self._load_vector(g)

    def over_y(self, g: int, b: int, local: Array) -> Array:
        """Return columns over a branch's z, (B, r, z), as columns over [motors, y] of all."""
        group = self.groups[g]
        B, rows, _ = local.shape
        out = np.zeros((B, rows, self.motors + self.size))
        if group.loose:
            out += local[..., group.f] @ self.follow.value[:, group.own(2, b)]
        y = group.own(1, b)
        out[..., group.own(0, b)] += local[..., : group.motors]
        out[..., y.start + self.motors : y.stop + self.motors] += local[..., group.y]
        return out

    def roots(self) -> Array:
        """Return the motion of every root per unit y, (B, n, 6, N), segment axes."""
        out = np.zeros((*self.moving.structure.L.shape, 6, self.size))
        for g, group in enumerate(self.groups):
            for b, branch in enumerate(group.segments):
                for s, i in enumerate(branch):
                    local = self.motions[g][0][s].value[:, b]
                    out[:, i] = self.over_y(g, b, local)[..., self.motors :]
        return out

    def _end(self, i: int) -> Array:
        """(B, 6, motors + N) motion of a segment's end, or of the ground (-1), base axes."""
        if i < 0:
            return np.zeros((self.moving.structure.size, 6, self.motors + self.size))
        g, b, s = next(
            (g, b, s)
            for g, group in enumerate(self.groups)
            for b, branch in enumerate(group.segments)
            for s, at in enumerate(branch)
            if at == i
        )
        end = self.over_y(g, b, self.motions[g][1][s].value[:, b])
        R = self.moving.structure.R[:, i]
        return np.concatenate([R @ end[:, :3], R @ end[:, 3:]], axis=1)

    def tip(self) -> Array:
        """(B, 6, N) displacement and rotation of the tip, base axes."""
        structure = self.moving.structure
        return self._end(structure.tip % structure.L.shape[1])[..., self.motors :]

    def joint(self) -> JointReduction:
        """Return what joins the branches."""
        # Rows l, r of universal joints in closures, see `pin_pairs`
        pinned = any(c.pins is not None for c in self.moving.closures)
        if not self.loads.preload or not pinned:
            pins: tuple[list[Array], list[Array]] = ([], [])
        else:
            turned = [self._end(i)[:, 3:] for c in self.moving.closures for i in (c.a, c.b)]
            pins = pin_pairs(self.moving, self.forces, turned)
        return JointReduction(self.follow, pins, self.loads.gyroscopic, self.loads.centrifugal)


def lead(
    name: str, groups: tuple[Group, ...], moving: MovingStructure, loads: Loads
) -> PrescribedMotion:
    """Return the groups of a robot along a motion."""
    gravity = np.asarray(moving.structure.gravity) * loads.gravity
    w, dw, _, a = (x * loads.inertia for x in moving.frames.local())
    a = a - np.einsum("bnji,j->bni", moving.structure.R, gravity)
    rates = tuple([(a[:, i], w[:, i], dw[:, i]) for i in group.segments.T] for group in groups)
    motors, size, loose = (sum(g.all(k).stop - g.all(k).start for g in groups) for k in range(3))
    rows = sum(c.rows_a.shape[1] for c in moving.closures)
    if loose != rows:
        raise SuppleError(f"{name}: {rows} closures do not determine {loose} passive motions")
    motions = tuple(group.motions(moving) for group in groups)
    return PrescribedMotion(groups, moving, loads, motions, rates, motors, size, loose)
