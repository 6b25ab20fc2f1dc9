"""Kineto-elasto-dynamics: small elastic motion about a prescribed rigid motion, M, C, K, F(t).

The unknowns y are the elastic coordinates of all links (and the twists of sprung joints); what is
loose in between, passive joints and platform, follows from the closures: A_f f + A_y y = 0. So
every link moves by q = S(t) y, and with the matrices of `moving_beams`
    M = sum S' M_e S,   C = sum S' (2 M_e S' + C_e S),
    K = sum S' (M_e S'' + C_e S' + (K_e + A_e + E_e + G_e) S) + K_j,   F = sum S' P_e,
K_j the preload's part of the joints (`joint_stiffness`).
The motion of the motors is prescribed, serial arm and Delta alike.
Source: [Kuo2016], Eqs. (42)-(44); departures: closures from the true joints, no nodal variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable, frozen_property
from ..architectures.kinds import architecture_of
from ..arguments import checked, counts, one_of
from ..beams.fixed.elements import Mesh, mesh
from ..errors import SuppleError
from ..kernels.spatial import transport
from ..robot import Robot, cached_for_robot
from ..structure import Structure, moving_structure
from .branches import Group, groups_of
from .motors import motor_side
from .moving_beams import CarriedLink, carried_link
from .prescribed import Loads, PrescribedMotion, lead
from .reduction import reduce_to_independent
from .small_motion import Matrices, MovingLinks, SmallMotion, State

__all__ = ["Ked", "Loads", "Matrices", "ked"]

Array = NDArray[np.float64]
MOST_ROOTS = 4_000_000  # numbers of the roots of all links worked out together


@dataclass(frozen=True)
class Ked(Immutable, SmallMotion):
    """Robot with finite elements on its links whose motors follow a prescribed motion.

    From `supple.ked`. The coordinates are y = [springs, elastic coordinates of every segment].

    Attributes
    ----------
    robot : Robot
        The robot.
    structure
        The robot in one pose, divided into segments.
    meshes : tuple
        Mesh of each segment.
    loads : Loads
        Effects that are included.
    """

    robot: Robot
    structure: Structure
    meshes: tuple[Mesh, ...]
    loads: Loads = field(default_factory=Loads)

    @cached_property
    def links(self) -> tuple[CarriedLink, ...]:
        """Constant matrices of every segment; equal segments of a robot share theirs."""
        out = []
        roots = self.structure.root_mass[0]
        for part, segment, root in zip(self.meshes, self.structure.segments, roots, strict=True):
            alike = (part.beam, part.L, part.n, part.element.continuous)
            key = ("carried link", *alike, root.tobytes(), segment.tip_mass.tobytes())
            carried_part = cached_for_robot(
                self.robot, key, carried_link, part, root, segment.tip_mass
            )
            out.append(carried_part)
        return tuple(out)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The branches of the structure, those alike together."""
        return groups_of(self.structure.segments, self.meshes, self.links, self.motors)

    @cached_property
    def springs(self) -> tuple[tuple[int, int], ...]:
        """(segment, release) of the sprung joints, which are among y."""
        return tuple(
            (i, k)
            for i, s in enumerate(self.structure.segments)
            for k, r in enumerate(s.releases)
            if not r.floating
        )

    @cached_property
    def motors(self) -> tuple[tuple[int, Array], ...]:
        """(segment, direction (6,)) of the motors that act on a root without a spring between."""
        segments = self.structure.segments
        found = []
        names = [segment.name for segment in segments]
        for drive in architecture_of(self.robot).drives:
            if not drive.slides and drive.made.stiffness is None:
                i = names.index(drive.segment)
                turned = segments[i].R_LS.T @ drive.axis[3:]
                found.append((i, np.concatenate([np.zeros(3), turned])))
        return tuple(found)

    @cached_property
    def inner(self) -> tuple[slice, ...]:
        """Where the elastic coordinates of each segment stand in y, after the springs."""
        at = len(self.springs)
        out = []
        for part in self.meshes:
            out.append(slice(at, at + part.size))
            at += part.size
        return tuple(out)

    @cached_property
    def order(self) -> NDArray[np.int64] | None:
        """(N,) where each entry of y stands branch by branch; None if it stands there already."""
        place = np.zeros(self.size, np.int64)
        for group in self.groups:
            for b, branch in enumerate(group.segments):
                first = group.own(1, b).start - group.motors
                for i, slot in zip(branch, group.slots, strict=True):
                    inner = slice(slot.inner.start + first, slot.inner.stop + first)
                    place[self.inner[i]] = np.arange(inner.start, inner.stop)
                    for turn in slot.turns:
                        if (int(i), turn.release) in self.springs:
                            at = self.springs.index((int(i), turn.release))
                            place[at] = first + turn.column
        return None if np.array_equal(place, np.arange(self.size)) else place

    @property
    def size(self) -> int:
        """Length of y."""
        return int(self.inner[-1].stop)

    @property
    def names(self) -> tuple[str, ...]:
        """Segments in order."""
        return tuple(s.name for s in self.structure.segments)

    def elastic(self, x: Array) -> Array:
        """Return the elastic stiffness, which is the same everywhere."""
        return self.stiffness

    @frozen_property
    def stiffness(self) -> Array:
        """(N, N) elastic stiffness; it does not change in time."""
        K = np.zeros((self.size, self.size))
        for column, (i, k) in enumerate(self.springs):
            K[column, column] = self.structure.segments[i].releases[k].stiffness
        for part, place in zip(self.meshes, self.inner, strict=True):
            K[place, place] = part.stiffness
        return K

    def matrices(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Matrices:
        """Return M, C, K, F at the instants of a motion, (B, ..) each as in `moving_structure`."""
        along_motion = self.at_motion(x, v, a)
        forms = [along_motion.assemble(g) for g in range(len(self.groups))]
        found = reduce_to_independent(self.groups, forms, along_motion.joint(), along_motion.tip())
        if self.order is not None:
            keep = self.order
            square = (slice(None), keep[:, None], keep[None, :])
            M, C, K, F = found.drive
            drive = (M[..., keep], C[..., keep], K[..., keep], F)
            found = replace(
                found,
                M=found.M[square],
                C=found.C[square],
                K=found.K[square],
                F=found.F[:, keep],
                tip=found.tip[..., keep],
                drive=drive,
            )
        if self.motor_rows is None:
            return found
        return replace(found, drive=self._rows_of_all_motors(found))

    @cached_property
    def motor_rows(self) -> list[int] | None:
        """Row of every motor among those of the branches and then of y; None if already in order.

        A motor moves what lies beyond it as the twist of its spring does, so that its row is the
        spring's without the spring.
        """
        direct: list[int] = []  # segments of motors without springs, branch by branch
        driven = [i for i, _ in self.motors]
        for group in self.groups:
            for branch in group.segments:
                direct += [int(i) for i in branch if i in driven]
        rows = []
        for drive in architecture_of(self.robot).drives:
            if drive.slides:
                continue
            segment = self.names.index(drive.segment)
            if segment in direct:
                rows.append(direct.index(segment))
            elif (segment, 0) in self.springs:
                rows.append(len(direct) + self.springs.index((segment, 0)))
        return None if rows == list(range(len(direct))) else rows

    def _rows_of_all_motors(self, found: Matrices) -> tuple[Array, Array, Array, Array]:
        """Rows of M, C, K and F of all motors, those behind springs as well."""
        joined = zip(found.drive, (found.M, found.C, found.K, found.F), strict=True)
        M, C, K, F = (np.concatenate(both, axis=1)[:, self.motor_rows] for both in joined)
        for row, place in enumerate(self.motor_rows or ()):
            column = place - len(self.motors)
            if column >= 0:
                K[:, row, column] -= self.stiffness[column, column]
        return M, C, K, F

    def at_motion(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> PrescribedMotion:
        """Return the robot at the instants of a motion, all its links led along."""
        x, v, a = np.atleast_2d(x, v, a)
        moving = moving_structure(self.robot, x, v, a)
        return lead(self.robot.name, self.groups, moving, self.loads)

    def place(self, x: Array) -> Array:
        """Return where the unbent tip or platform is, (B, 3), base axes."""
        s = moving_structure(self.robot, x, 0 * x, 0 * x).structure
        return np.asarray(s.p[:, s.tip] + s.L[:, s.tip, None] * s.R[:, s.tip, :, 0])

    def roots(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Return the motion of every root per unit y, (B, n, 6, N), segment axes."""
        found = self.at_motion(x, v, a).roots()
        return found if self.order is None else found[..., self.order]

    def displaced(self, link: str, fraction: float, motion: State, y: Array) -> Array:
        """Return how far a section is from its rigid motion, (B, 6), axes of the rigid link.

        X(x) u_root + N(x) w: what the root moves, carried along the link, and what the link bends.
        Source: [Kuo2016], Eqs. (18), (59).
        """
        i = self.names.index(link)
        part = self.meshes[i]
        R_LS = self.structure.segments[i].R_LS
        x = fraction * part.L
        out = np.empty((len(y), 6))
        many = max(1, MOST_ROOTS // max(1, 6 * len(self.meshes) * self.size))
        for first in range(0, len(y), many):
            rows = slice(first, first + many)
            root = self.roots(*(each[rows] for each in motion))[:, i]
            out[rows] = np.einsum("bck,bk->bc", root, y[rows]) @ transport(x).T
        out += y[:, self.inner[i]] @ part.field([x])[0].T
        return np.concatenate([out[:, :3] @ R_LS.T, out[:, 3:] @ R_LS.T], axis=1)

    def draw_links(self, motion: State, y: Array, points: int) -> MovingLinks:
        """Return where links are and how their sections move: X(x) u_root + N(x) w, linear in y."""
        roots = self.roots(*motion)
        structure = moving_structure(self.robot, *motion).structure
        shape = (len(y), len(self.meshes), points)
        moved = np.zeros((*shape, 6))
        energy = np.zeros(shape)
        for i, (part, segment) in enumerate(zip(self.meshes, structure.segments, strict=True)):
            x = np.linspace(0, part.L, points)
            w = y[:, self.inner[i]]
            root = np.einsum("tck,tk->tc", roots[:, i], y)
            displacement = np.einsum("pab,tb->tpa", transport(x), root)
            bent = displacement + np.einsum("pak,tk->tpa", part.field(x), w)
            force = np.einsum("pak,tk->tpa", part.resultants(x), w)
            moved[:, i, :, :3] = bent[..., :3] @ segment.R_LS.T
            moved[:, i, :, 3:] = bent[..., 3:] @ segment.R_LS.T
            energy[:, i] = (force**2 * part.compliances(x) / 2).sum(axis=-1)
        axes = structure.R @ np.array([segment.R_LS.T for segment in structure.segments])
        return MovingLinks(structure.p, axes, structure.L, moved, energy)

    def section(self, link: str, fraction: float, x: Array) -> Array:
        """Return how a section moves per unit y, (1, 6, N), link axes."""
        i = self.names.index(link)
        part = self.meshes[i]
        R_LS = self.structure.segments[i].R_LS
        out = np.zeros((1, 6, self.size))
        field_ = part.field([fraction * part.L])[0].reshape(2, 3, part.size)
        out[0, :, self.inner[i]] = (R_LS @ field_).reshape(6, part.size)
        return out

    def length(self, link: str) -> float:
        """Return the length over which a link bends."""
        part = self.meshes[self.names.index(link)]
        return part.L if part.size else 0.0

    def torques(self, motion: State, found: Matrices, state: State) -> tuple[Array, Array]:
        """Return the efforts of all motors, and those of the rigid motion."""
        flexible, rigid = super().torques(motion, found, state)
        # Friction jumps where a motor turns round: added here, the motors' rows stay smooth in time
        own = motor_side(self.robot, *motion)
        return flexible + own, rigid + own


@checked
def ked(
    robot: Robot,
    at: ArrayLike,
    elements: Annotated[int | Sequence[int], counts()] = 2,
    order: Annotated[str, one_of("cubic", "quintic")] = "cubic",
    loads: Loads | None = None,
) -> Ked:
    """Kineto-elasto-dynamic model of a robot: linear vibration about a prescribed rigid motion.

    Parameters
    ----------
    robot : Robot
        Arm or Delta.
    at : array_like
        Any pose of the motion: joint coordinates (joints,), or position (3,) of a Delta's platform.
    elements : int or sequence of int
        Finite elements per link.
    order : {"cubic", "quintic"}
        Order of the elements.
    loads : Loads, optional
        Which loads of the rigid motion are included. Default: all.

    Returns
    -------
    Ked

    References
    ----------
    [Kuo2016], Eqs. (39)-(44).

    Examples
    --------
    >>> import supple
    >>> found = supple.ked(supple.load("industrial-3"), [0, 0, 0], elements=1)
    >>> len(found.meshes)
    3
    """
    from ..structure import structure_of

    structure = structure_of(robot, at)
    each = [elements] * len(structure.segments) if isinstance(elements, int) else list(elements)
    if len(each) != len(structure.segments):
        raise SuppleError(f"{len(each)} numbers of elements: give one, or one for each segment")
    meshes = []
    for segment, n, L in zip(structure.segments, each, structure.L[0].tolist(), strict=True):
        key = ("mesh", segment.beam, n, order, L)
        meshes.append(cached_for_robot(robot, key, mesh, segment.beam, n, order, L))
    return Ked(robot, structure, tuple(meshes), loads or Loads())
