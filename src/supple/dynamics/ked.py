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
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..assembly import transport
from ..beams.elements import Mesh, mesh
from ..errors import SuppleError
from ..kernels.jets import Jet, jet_of, solve
from ..robot import Robot
from ..structure import MovingStructure, Structure, motor_axes, moving_structure
from .moving_beams import CarriedLink, Rates, carried_link
from .preload import Carried, Motions, Turn, carried, joint_stiffness

__all__ = ["Ked", "Loads", "Matrices", "Motions", "ked"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loads:
    """What acts on the elastic motion, each by choice.

    Attributes:
        inertia: of the rigid motion, in F.  gravity: weight, in F.  gyroscopic: C.  centrifugal:
        the rates' part of K.  preload: forces and moments of the rigid motion (and weight), in K.
    """

    inertia: bool = True
    gravity: bool = True
    gyroscopic: bool = True
    centrifugal: bool = True
    preload: bool = True


@dataclass(frozen=True)
class Matrices:
    """The equations at B instants, and what is read off with them.

    Attributes:
        M, C, K: (B, N, N).  F: (B, N).  tip: (B, 6, N), motion of the last end per unit y, base
        axes.  drive: rows of M, C, K, (B, motors, N), and of F, (B, motors): the torque of a motor
        is M y'' + C y' + K y - F there; -F alone is the torque of the rigid motion.
    """

    M: Array
    C: Array
    K: Array
    F: Array
    tip: Array
    drive: tuple[Array, Array, Array, Array]

    def torque(self, y: Array, yd: Array, ydd: Array) -> Array:
        """Return the torques of the motors without springs, (B, motors), for y.. (B, N)."""
        M, C, K, F = self.drive
        parts = ((M, ydd), (C, yd), (K, y))
        return np.asarray(sum(np.einsum("bij,bj->bi", A, x) for A, x in parts) - F)


@dataclass(frozen=True)
class Ked:
    """A robot with finite elements on its links, its motors led along a motion.

    Attributes:
        structure: the robot at one configuration, for its parts.  meshes: one per segment.
        loads: what is included.
    """

    robot: Robot
    structure: Structure
    meshes: tuple[Mesh, ...]
    loads: Loads = field(default_factory=Loads)

    @cached_property
    def links(self) -> tuple[CarriedLink, ...]:
        """Constant matrices of every segment; those of segments alike are one."""
        roots, made = self.structure.root_mass[0], {}
        out = []
        for part, root, s in zip(self.meshes, roots, self.structure.segments, strict=True):
            key = (part.beam, part.L, part.n, root.tobytes(), s.tip_mass.tobytes())
            if key not in made:
                made[key] = carried_link(part, root, s.tip_mass)
            out.append(made[key])
        return tuple(out)

    @cached_property
    def springs(self) -> tuple[tuple[int, int], ...]:
        """(segment, release) of the sprung joints, which are among y."""
        return self._releases(floating=False)

    @cached_property
    def passive(self) -> tuple[tuple[int, int], ...]:
        """(segment, release) of the loose motions, which follow from the closures."""
        return self._releases(floating=True)

    def _releases(self, floating: bool) -> tuple[tuple[int, int], ...]:
        return tuple(
            (i, k)
            for i, s in enumerate(self.structure.segments)
            for k, r in enumerate(s.releases)
            if r.floating == floating
        )

    @cached_property
    def motors(self) -> tuple[tuple[int, Array], ...]:
        """(segment, direction (6,)) of the motors that act on a root without a spring between."""
        return motor_axes(self.robot, self.structure)

    @cached_property
    def inner(self) -> tuple[slice, ...]:
        """Where the elastic coordinates of each segment stand in y, after the springs."""
        at, out = len(self.springs), []
        for part in self.meshes:
            out.append(slice(at, at + part.size))
            at += part.size
        return tuple(out)

    @property
    def size(self) -> int:
        """Length of y."""
        return int(self.inner[-1].stop)

    @cached_property
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
        x, v, a = np.atleast_2d(x, v, a)
        moving = moving_structure(self.robot, x, v, a)
        motions = self.motions(moving)
        rates = self._rates(moving)
        loaded: list[Carried] | None = None
        if self.loads.preload:
            loaded, forces = carried(self.links, moving, motions, rates)
        B, d = moving.structure.size, len(self.motors)
        N = self.size + d
        M, C, K = (np.zeros((B, N, N)) for _ in range(3))
        F = np.zeros((B, N))
        K[:, d:, d:] = self.stiffness
        moved, rows = [], []
        for i, (link, root) in enumerate(zip(self.links, motions.root, strict=True)):
            load = None if loaded is None else loaded[i]
            inner = slice(self.inner[i].start + d, self.inner[i].stop + d)
            part = _add(link, root, inner, rates[i], load, self.loads, (M, C, K, F))
            if part is not None:
                moved.append(root.value)
                rows.append(part)
        if moved:
            J = np.concatenate(moved, axis=1).swapaxes(1, 2)
            for k, matrix in enumerate((M, C, K)):
                matrix[:] += J @ np.concatenate([part[k] for part in rows], axis=1)
        if loaded is not None:
            K += joint_stiffness(moving, motions, loaded, forces)
        free = (slice(None), slice(d, None), slice(d, None))
        drive = (M[:, :d, d:], C[:, :d, d:], K[:, :d, d:], F[:, :d])
        tip = self._tip(moving, motions)[:, :, d:]
        return Matrices(M[free], C[free], K[free], F[:, d:], tip, drive)

    def motions(self, moving: MovingStructure) -> Motions:
        """Return how the links move with (motors, y), closures shut."""
        B, d, Nf = moving.structure.size, len(self.motors), len(self.passive)
        N = d + self.size
        roots: list[tuple[Jet, Jet]] = []
        ends: list[tuple[Jet, Jet]] = []
        for i, segment in enumerate(self.structure.segments):
            zero = (jet_of(np.zeros((B, 6, N))), jet_of(np.zeros((B, 6, Nf))))
            y, f = zero
            if segment.parent >= 0:
                T = moving.transform(i)
                y, f = (T @ part for part in ends[segment.parent])
            for column, (at, direction) in enumerate(self.motors):
                y.value[:, :, column] += direction if at == i else 0.0
            y = _with_columns(y, moving, self.springs, i, d)
            f = _with_columns(f, moving, self.passive, i, 0)
            roots.append((y, f))
            X = transport(float(moving.structure.L[0, i]))
            end = X @ y
            inner = slice(self.inner[i].start + d, self.inner[i].stop + d)
            end.value[:, :, inner] += self.meshes[i].end
            ends.append((end, X @ f))
        if not moving.closures:
            self._check_held(Nf)
            loose = tuple(f for _, f in roots)
            root, end = (tuple(y for y, _ in part) for part in (roots, ends))
            return Motions(root, end, loose, None, self._turns(moving, np.zeros((B, 0, N))))
        A_y, A_f = (_rows(moving, [end[k] for end in ends]) for k in (0, 1))
        if A_f.shape[1] != A_f.shape[2]:
            raise SuppleError(
                f"{self.robot.name}: {A_f.shape[1]} closures do not determine {A_f.shape[2]} "
                "passive motions"
            )
        follow = -solve(A_f, A_y)
        return Motions(
            tuple(self._followed(i, *part, follow) for i, part in enumerate(roots)),
            tuple(self._followed(i, *part, follow) for i, part in enumerate(ends)),
            tuple(f for _, f in roots),
            A_f,
            self._turns(moving, follow.value),
        )

    def _turns(self, moving: MovingStructure, follow: Array) -> tuple[tuple[Turn, ...], ...]:
        """The joint motions of every root in their order; follow (B, Nf, N) holds the loose."""
        d = len(self.motors)
        unit = np.eye(d + self.size)[:, None, :]
        out: list[tuple[Turn, ...]] = []
        for i, segment in enumerate(self.structure.segments):
            turns = [Turn(axis[3:], unit[k]) for k, (at, axis) in enumerate(self.motors) if at == i]
            for k in range(len(segment.releases)):
                axis = moving.structure.segments[i].releases[k].toward(slice(None))[..., 3:]
                if (i, k) in self.springs:
                    much = unit[d + self.springs.index((i, k))]
                else:
                    much = follow[:, self.passive.index((i, k))]
                turns.append(Turn(axis, much))
            out.append(tuple(turns))
        return tuple(out)

    def _followed(self, i: int, y: Jet, f: Jet, follow: Jet) -> Jet:
        """A segment's motion with the loose coordinates that reach it put in terms of y."""
        above, at = set(), i
        while at >= 0:
            above.add(at)
            at = self.structure.segments[at].parent
        columns = [k for k, (segment, _) in enumerate(self.passive) if segment in above]
        return y + f[:, :, columns] @ follow[:, columns] if columns else y

    def _rates(self, moving: MovingStructure) -> list[Rates]:
        """a less gravity, w, w' of each frame, own axes, (B, 3); zero where not wanted."""
        gravity = np.asarray(self.structure.gravity) * self.loads.gravity
        w, dw, _, a = (x * self.loads.inertia for x in moving.frames.local())
        a = a - np.einsum("bnji,j->bni", moving.structure.R, gravity)
        return [(a[:, i], w[:, i], dw[:, i]) for i in range(len(self.meshes))]

    def root_wrenches(self, x: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """Force and moment that each root carries in the rigid motion, (B, n, 6), segment axes.

        The moment of a motor's link about its axis is the motor's torque (rotor not included).
        """
        x, v, a = np.atleast_2d(x, v, a)
        moving = moving_structure(self.robot, x, v, a)
        motions = self.motions(moving)
        parts, _ = carried(self.links, moving, motions, self._rates(moving))
        return np.stack([part.root for part in parts], axis=1)

    def _check_held(self, loose: int) -> None:
        if loose:
            raise SuppleError(f"{self.robot.name}: a joint is let go that no closure holds")

    def _tip(self, moving: MovingStructure, motions: Motions) -> Array:
        """(B, 6, N) displacement and rotation of the last segment's end, base axes."""
        R, end = moving.structure.R[:, -1], motions.end[-1].value
        return np.concatenate([R @ end[:, :3], R @ end[:, 3:]], axis=1)


def _with_columns(
    part: Jet, moving: MovingStructure, which: Sequence[tuple[int, int]], i: int, first: int
) -> Jet:
    """Add the directions of a segment's own releases to their columns, counted from `first`."""
    for column, (segment, k) in enumerate(which, first):
        if segment == i:
            direction = moving.release(i, k)
            for target, source in zip(part.parts, direction.parts, strict=True):
                target[:, :, column] += source
    return part


def _rows(moving: MovingStructure, ends: Sequence[Jet]) -> Jet:
    """Closure rows over the columns of the ends' motions."""
    each = [c.rows_a @ ends[c.a] + c.rows_b @ ends[c.b] for c in moving.closures]
    return Jet(*(np.concatenate([jet.parts[k] for jet in each], axis=1) for k in range(3)))


def _add(
    link: CarriedLink,
    root: Jet,
    inner: slice,
    rates: Rates,
    load: Carried | None,
    loads: Loads,
    out: tuple[Array, Array, Array, Array],
) -> tuple[Array, Array, Array] | None:
    """Add one link's rows on its elastic coordinates to M, C, K, and all of it to F.

    Returns its rows on the root's motion, (B, 6, N) for M, C and K, if the root moves. The elastic
    stiffness stands in K already.
    """
    a, w, dw = rates
    M, C, K, F = out
    C_e, K_e = link.turning(w, dw)
    K_e *= loads.centrifugal
    C_e *= loads.gyroscopic
    if load is not None:
        K_e += link.preloaded(load.end, load.form, a, w, dw)
    P = link.load(a, w, dw)
    F[:, inner] += P[:, 6:]
    forms = (link.M[None], C_e, K_e)
    for matrix, form in zip((M, C, K), forms, strict=True):
        matrix[:, inner, inner] += form[:, 6:, 6:]
    if not root.value.any():
        return None
    J, J1, J2 = root.parts
    F += np.einsum("bij,bi->bj", J, P[:, :6])
    M_c, C_c, K_c = (form[:, :, :6] for form in forms)
    N = J.shape[2]
    by_mass = M_c @ np.concatenate([J, J1, J2], axis=2)
    by_spin = C_c @ np.concatenate([J, J1], axis=2)
    right = (
        by_mass[:, :, :N],
        by_spin[:, :, :N] + 2 * loads.gyroscopic * by_mass[:, :, N : 2 * N],
        K_c @ J + loads.centrifugal * (by_mass[:, :, 2 * N :] + by_spin[:, :, N:]),
    )
    for matrix, form, rows in zip((M, C, K), forms, right, strict=True):
        matrix[:, inner, :] += rows[:, 6:]
        rows[:, :6, inner] += form[:, :6, 6:]
    return right[0][:, :6], right[1][:, :6], right[2][:, :6]


def ked(
    robot: Robot,
    at: ArrayLike,
    elements: int | Sequence[int] = 2,
    order: str = "cubic",
    loads: Loads | None = None,
) -> Ked:
    """Return the kineto-elasto-dynamic model of a robot with elements on every link.

    `at`: any configuration of the motion (joint coordinates, or a Delta's platform position).
    """
    from ..structure import structure_of

    structure = structure_of(robot, at)
    each = [elements] * len(structure.segments) if isinstance(elements, int) else list(elements)
    if len(each) != len(structure.segments):
        raise SuppleError(f"{len(each)} numbers of elements: give one, or one for each segment")
    meshes = tuple(
        mesh(s.beam, n, order, L)
        for s, n, L in zip(structure.segments, each, structure.L[0], strict=True)
    )
    return Ked(robot, structure, meshes, loads or Loads())
