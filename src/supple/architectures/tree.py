"""Tree: one robot, whatever it was described as: links, joints, closures, bodies and motors.

A description is lowered once (`kinds.lower`). Everything behind it asks the Tree: where the robot
is at a configuration, what moves it, how its links hang together, what each slot of its vectors
means. How poses are found is a plug-in, `Kinematics`: the general one shuts closures by Newton's
method; those of open chains and of the Delta are closed forms with the same answers.

A whole configuration x (B, n + rods) holds every joint coordinate, link by link, then the lengths
of driven rods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import frozen
from ..robot import Elastic, JointedLink, MechanismLink, MechanismRobot, Motor, Robot
from .base import (
    Branch,
    Coordinate,
    JointSolution,
    MotorDrive,
    Resolved,
    SegmentConnections,
    clearance,
)
from .closing import Loop, loops_of
from .coordinate_map import CoordinateMap, Slot
from .forms import Lowered
from .joint_tree import JointTree, TreeMotion, joint_tree_of

__all__ = ["ROUNDING", "SHUT", "Kinematics", "Tree", "least_held", "outstretched", "place_links"]

Array = NDArray[np.float64]
SHUT = 1e-12  # opening of a closure that counts as shut, of the mechanism's size
CANCELLED = 1e-13  # of the largest possible, a derivative is rounding: its joint moves both ends
ROUNDING = 1e-8  # clearance of a motion that closures leave free, shut to 1e-12
FOUNDATION = "foundation"


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A lowered robot. It is immutable, and made once for every description.

    Attributes
    ----------
    robot : Robot
        The description that it was lowered from.
    lowered : Lowered
        The same in normal form.
    plug_in : type[Kinematics]
        How its poses are found.
    """

    robot: Robot
    lowered: Lowered
    plug_in: type[Kinematics]

    # ------------------------------------------------------------------ what it is made of

    @property
    def form(self) -> MechanismRobot:
        """Links with parents and joints, closures, and bodies."""
        return self.lowered.form

    @property
    def planar(self) -> bool:
        """Whether it moves in x-y only."""
        return self.form.planar

    @property
    def inside(self) -> str:
        """What frequencies of a planar robot are about, in words; of one in space nothing."""
        return " in the x-y plane" if self.planar else ""

    @cached_property
    def joints(self) -> JointTree:
        """Links and joints as numbers, closures left open."""
        lowered = joint_tree_of(self.form)
        if self.lowered.straight:
            turns = tuple(c._replace(order=0) for c in lowered.coordinates)
            lowered = replace(lowered, coordinates=turns)
        return frozen(lowered)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Closures as numbers."""
        lowered = loops_of(self.form)
        if self.lowered.straight:
            lowered = tuple(replace(loop, straight=True) for loop in lowered)
        return frozen(lowered)

    @cached_property
    def size(self) -> float:
        """A length, m, by which openings of closures are judged."""
        reach = [float(self.joints.length.sum()), *np.abs(self.joints.p).sum(axis=1)]
        reach += [float(np.abs(loop.p).sum()) + (loop.length or 0.0) for loop in self.loops]
        return max(reach) or 1.0

    @cached_property
    def starts_with_motors(self) -> bool:
        """Whether motors have a start of their own, from which branches are followed."""
        driven = [link.joint for link in self.form.links if link.joint.driven]
        return any("start" in joint.model_fields_set for joint in driven)

    @cached_property
    def passive_joints_are_free(self) -> bool:
        """Whether no passive joint has a spring, damping or friction."""
        passive = [c for c in self.joints.coordinates if not c.driven]
        return not any(c.stiffness or c.damping or c.friction for c in passive)

    @cached_property
    def rods(self) -> list[Loop]:
        """The closures whose length is an entry of theta."""
        return [loop for loop in self.loops if loop.motor]

    @cached_property
    def start(self) -> Array:
        """(n + rods,) whole configuration at which it is assembled."""
        lengths = [self.size if rod.length is None else rod.length for rod in self.rods]
        return frozen(np.concatenate([self.joints.start, lengths]))

    @cached_property
    def driven(self) -> NDArray[np.int64]:
        """Columns of a whole configuration that are theta."""
        n = len(self.joints.coordinates)
        rods = n + np.arange(len(self.rods))
        return frozen(np.concatenate([self.joints.motors, rods]).astype(int))

    @cached_property
    def drives(self) -> tuple[MotorDrive, ...]:
        """What moves each entry of theta: driven joints, then driven rods."""
        found = []
        for link in self.form.links:
            if link.joint.driven:
                drive = _drive(link, _motor(link, self._limits(link)))
                found.append(drive._replace(also=self._mimics_of(link.name)))
        for rod in self.rods:
            motor = Motor(stiffness=rod.stiffness, rotor_inertia=rod.rotor)
            found.append(MotorDrive(rod.name, True, motor))
        return tuple(found)

    def _mimics_of(self, name: str) -> tuple[tuple[str, Array], ...]:
        """The links whose joints follow that of another one, and their motions beside its own."""
        found = []
        for link in self.form.links:
            mimic = link.joint.mimic
            if mimic is not None and mimic.joint == name:
                found.append((link.name, mimic.multiplier * _drive(link, Motor()).axis))
        return tuple(found)

    def _limits(self, link: MechanismLink) -> tuple[float, float] | None:
        """Limits of a joint's coordinate, narrowed by those of joints that follow it."""
        low, high = link.joint.limits or (-np.inf, np.inf)
        for other in self.form.links:
            mimic = other.joint.mimic
            own = other.joint.limits
            if mimic is None or mimic.joint != link.name or own is None or not mimic.multiplier:
                continue
            ends = sorted((end - mimic.offset) / mimic.multiplier for end in own)
            low = max(low, ends[0])
            high = min(high, ends[1])
        return None if np.isinf(low) else (low, high)

    @property
    def motors(self) -> tuple[tuple[str, bool], ...]:
        """Name and whether it slides of each entry of theta."""
        return tuple((drive.name, drive.slides) for drive in self.drives)

    @cached_property
    def theta_map(self) -> CoordinateMap:
        """What each entry of theta is."""
        return CoordinateMap.of(
            Slot(f"theta.{name}", "m" if slides else "rad", name, "motor")
            for name, slides in self.motors
        )

    @cached_property
    def configuration_map(self) -> CoordinateMap:
        """What each entry of a whole configuration is.

        A passive coordinate is independent where there is no closure that could hold it.
        """
        followers = [k for k, *_ in self.joints.mimics]
        slots = []
        for k, c in enumerate(self.joints.coordinates):
            unit = "rad" if c.kind == "turn" else "m"
            owner = self.form.links[c.link].name
            if c.driven:
                slots.append(Slot(f"theta.{c.name}", unit, owner, "motor"))
            elif k in followers:
                slots.append(Slot(f"mimic.{c.name}", unit, owner, "mimic", independent=False))
            else:
                free = not self.loops
                slots.append(Slot(f"passive.{c.name}", unit, owner, "passive", independent=free))
        slots += [Slot(f"theta.{rod.name}", "m", rod.name, "motor") for rod in self.rods]
        return CoordinateMap.of(slots)

    # ------------------------------------------------------------------ the description behind it

    def parts(self) -> Mapping[str, Elastic]:
        """Return the beams by their paths in the robot file."""
        return self.lowered.parts

    def part_of_segment(self, name: str) -> Elastic | None:
        """Return the part behind a segment of the Structure, None for a body.

        A link may be cut into link@place.
        """
        origins = self.lowered.origins
        path = origins.get(name, origins.get(name.rpartition("@")[0], ""))
        return self.lowered.parts.get(path)

    def hangs(self, names: tuple[str, ...]) -> SegmentConnections:
        """Return how segments of these names hang together; parts of a link on one another."""
        own = {link.name: i for i, link in enumerate(self.form.links)}
        last: dict[str, int] = {}
        parents = []
        for place, name in enumerate(names):
            link = name if name in own or name == FOUNDATION else name.rpartition("@")[0]
            parent = self.form.parents[own[link]] if link in own else -1
            before = self.form.links[parent].name if parent >= 0 else FOUNDATION
            parents.append(last.get(link, last.get(before, -1)))
            last[link] = place
        plates = tuple(([last[name] for name in meet], end) for meet, end in self.lowered.plates)
        return SegmentConnections(
            tuple(parents), last[self.form.links[self.form.tip_index].name], plates
        )

    @property
    def load(self) -> tuple[str, float] | None:
        """Path and mass, kg, of what the tip carries: the payload, else the last link's body."""
        payload = self.robot.payload
        if payload is not None and payload.mass:
            return "payload.mass", payload.mass
        if self.lowered.carried is not None:
            return self.lowered.carried
        for link in reversed(self.form.links):
            if link.tip is not None and link.tip.mass:
                return f"{self.lowered.origins[link.name]}.tip.mass", link.tip.mass
        return None

    @property
    def up(self) -> tuple[float, ...]:
        """Which way is up on a page: against gravity, where there is any."""
        if self.planar:
            return (0.0, 1.0, 0.0)
        g = np.asarray(self.robot.gravity)
        size = float(np.linalg.norm(g))
        return tuple((-g / size).tolist()) if size else self.lowered.up

    @property
    def outstretched(self) -> Array | None:
        """Theta (motors,) with links that slide at their ends; None where loops decide.

        Other motors stand at their start.
        """
        if self.form.closures:
            return None
        theta = self.start[self.driven].copy()
        lengths = outstretched(self.form)
        for k, (name, slides) in enumerate(self.motors):
            joint = next(link.joint for link in self.form.links if link.name == name)
            if slides and "start" not in joint.model_fields_set:
                theta[k] = lengths[name]
        return theta

    # ------------------------------------------------------------------ kinematics: the plug-in

    @cached_property
    def kinematics(self) -> Kinematics:
        """How its poses are found."""
        return self.plug_in(self)

    @property
    def asked_by(self) -> Literal["theta", "position"]:
        """The word by which a pose is usually given."""
        return self.plug_in.asked_by

    @property
    def takes_position(self) -> bool:
        """Whether a pose may be given by the tip's position."""
        return self.plug_in.takes_position

    @property
    def open_chain(self) -> bool:
        """Whether it is one chain, link after link, that a closed form places."""
        return self.plug_in.open_chain

    @property
    def description(self) -> str:
        """What it is, in words, for `supple check`."""
        return self.kinematics.description

    @property
    def reach(self) -> float | None:
        """How far the tip may come from the base, m; None where it is not known."""
        return self.kinematics.reach

    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the coordinates of a pose and the ranges worth showing."""
        return self.kinematics.coordinates()

    def usual(self) -> dict[str, Array]:
        """Return a pose to begin with, for `modes`."""
        return self.kinematics.usual()

    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Return the configurations at theta or position, (k,) or (B, k)."""
        return self.kinematics.resolve(theta, position)

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """Return which poses (B, k) of a grid, given as theta or position, it may stand at."""
        return self.kinematics.reachable(poses, word)

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Return theta (B, motors) and its rates along a motion as `moving_structure` takes it."""
        return self.kinematics.joint_motion(x, v, a)

    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[JointSolution]:
        """Return theta that puts the tip at places P (B, 3), with axes R (B, 3, 3) if given."""
        return self.kinematics.solve(P, R, start)

    def branch(self, theta: Array, first: Array | None = None) -> Branch:
        """Return where loops stand as the motors go through theta (K, motors), kept on one branch.

        That of `first` (w,), or where `resolve` finds the robot at the first of them.
        """
        return self.kinematics.branch(theta, first)

    # ------------------------------------------------------------------ closures

    def openings(self, x: Array) -> tuple[Array, Array]:
        """Return g (B, r) of all closures and its derivative (B, r, n + rods) at x (B, n + rods).

        Places are divided by the robot's size, so that all rows count alike.
        """
        return self._closure_residual(x, place_links(self, x))[:2]

    def _closure_residual(self, x: Array, moved: TreeMotion) -> tuple[Array, Array, Array]:
        """g, its derivative J, and how large entries of J could be at most, shaped as J."""
        n = len(self.joints.coordinates)
        g = [np.zeros((len(x), 0))]
        none = np.zeros((len(x), 0, x.shape[1]))
        rod = n
        J = [none]
        most = [none]
        for loop in self.loops:
            length = np.full(len(x), loop.length or 0.0) if not loop.motor else x[:, rod]
            opened = loop.open(moved, length)
            rows, size = np.zeros((2, len(x), loop.rows, x.shape[1]))
            for k, G in enumerate((opened.G_a, opened.G_b)):
                place = loop.frames(moved, k)[1]
                columns, motion = moved.moving_columns(loop.ends[k], loop.at[k], place)
                if not len(columns):
                    continue
                rows[:, :, columns] += G @ motion
                for part in (slice(3), slice(3, 6)):
                    each = np.sqrt(np.square(G[..., part]).sum(axis=2))[..., None]
                    most_motion = np.sqrt(np.square(motion[:, part]).sum(axis=1))[:, None]
                    size[:, :, columns] += each * most_motion
            if loop.motor:
                rows[:, 0, rod] = -1.0
                size[:, 0, rod] = 1.0
                rod = rod + 1
            places = 1 if loop.rod else loop.E.shape[1]
            scale = np.where(np.arange(loop.rows) < places, self.size, 1.0)
            g.append(opened.g / scale)
            J.append(rows / scale[:, None])
            most.append(size / scale[:, None])
        for k, j, times, offset in self.joints.mimics:
            row = np.zeros((len(x), 1, x.shape[1]))
            row[..., k] = 1.0
            row[..., j] = -times
            g.append((x[:, k] - times * x[:, j] - offset)[:, None])
            J.append(row)
            most.append(np.abs(row))
        slope = np.concatenate(J, axis=1)
        size = np.concatenate(most, axis=1)
        slope[np.abs(slope) <= CANCELLED * size.max(axis=(1, 2), initial=0.0, keepdims=True)] = 0.0
        return np.concatenate(g, axis=1), slope, size

    def holds(self, x: Array) -> Array:
        """Return how well the closures hold the passive joints, motors held, (B, z): `clearance`.

        Each passive joint's spin or slide and each row is measured by the most that it could do, so
        that short links count like long ones; ball joints spin about base axes, which never lock.
        """
        own = [c.link if c.kind == "turn" else -1 for c in self.joints.coordinates]
        every = [k for k, i in enumerate(own) if i >= 0 and own.count(i) == 3]
        moved = place_links(self, x)
        moved.w[:, every] = np.tile(np.eye(3), (len(every) // 3, 1))
        J, most = self._closure_residual(x, moved)[1:]
        J, most = self._joined_with_closures(J, most)
        for axis in (1, 2):
            size = np.maximum(most.max(axis=axis, initial=0.0, keepdims=True), 1e-300)
            J = J / size
            most = most / size
        return clearance(J)

    def _joined_with_closures(self, J: Array, most: Array) -> tuple[Array, Array]:
        """Slopes of closures over passive coordinates, joints that sit at a closure left out.

        A body on a joint of its own, tied to another link where the joint is, makes with
        its closure a joint between the two links, as the sprung wrist of a Delta does. Rows of
        rotation that its own turns can open are left out with these turns.
        """
        rows_kept = np.ones(J.shape[1], bool)
        columns_kept = np.zeros(J.shape[2], bool)
        columns_kept[self.joints.passive] = True
        J = J.copy()
        most = most.copy()
        first = 0
        for loop in self.loops:
            turns = slice(first + (1 if loop.rod else loop.E.shape[1]), first + loop.rows)
            first += loop.rows
            for i, place, along in zip(loop.ends, loop.p, loop.at, strict=True):
                ties = sum(other.ends.count(i) for other in self.loops)
                if i < 0 or ties > 1 or i in self.joints.parents or along is not None:
                    continue
                if self.joints.length[i] or place.any():
                    continue
                coordinates = enumerate(self.joints.coordinates)
                own = [k for k, c in coordinates if c.link == i and c.kind == "turn"]
                left = turns.stop - turns.start - len(own)
                if not own or left < 0 or not columns_kept[own].all():
                    continue
                # the directions of rotation that these turns leave closed, (B, 3, left)
                closed = np.linalg.qr(J[:, turns, own], mode="complete")[0][..., len(own) :]
                rest = slice(turns.start, turns.start + left)
                J[:, rest] = closed.swapaxes(1, 2) @ J[:, turns]
                most[:, rest] = most[:, turns].max(axis=1, keepdims=True)
                rows_kept[rest.stop : turns.stop] = False
                columns_kept[own] = False
                break
        return J[:, rows_kept][..., columns_kept], most[:, rows_kept][..., columns_kept]

    def clearance(self, x: Array) -> Array:
        """Return how far the closures are from singular, (B,); motions left free do not count."""
        return least_held(self.holds(x))

    def worst(self, x: Array) -> str:
        """Return which closure is open most at one configuration (n + rods,), and how far."""
        g = self.openings(x[None])[0][0]
        at = 0
        descriptions = []
        for loop in self.loops:
            places = 1 if loop.rod else loop.E.shape[1]
            gap = float(np.linalg.norm(g[at : at + places])) * self.size
            turn = float(np.linalg.norm(g[at + places : at + loop.rows]))
            at += loop.rows
            words = [f"{1e3 * gap:.4g} mm"] if gap > SHUT * self.size else []
            words += [f"{np.degrees(np.arcsin(min(turn, 1.0))):.4g} deg"] if turn > SHUT else []
            descriptions.append(
                (max(gap / self.size, turn), f"{loop.name} stays open by {' and '.join(words)}")
            )
        return max(descriptions)[1]


def least_held(holds: Array) -> Array:
    """Return the `Tree.clearance` (B,) of what `Tree.holds` has found, (B, z)."""
    least: Array = np.where(holds > ROUNDING, holds, 1.0).min(axis=1, initial=1.0)
    return least


def place_links(tree: Tree, x: Array) -> TreeMotion:
    """Return the links at whole configurations (B, n + rods)."""
    return tree.joints.place(x[:, : len(tree.joints.coordinates)])


def outstretched(form: MechanismRobot) -> dict[str, float]:
    """Return where joints stand with links that slide out to their ends, others at zero."""
    slides = {link.name: link.joint.type == "prismatic" for link in form.links}
    out = {link.name: (link.length or 0.0) * slides[link.name] for link in form.links}
    for link in form.links:
        mimic = link.joint.mimic
        if mimic is not None and slides[link.name] and mimic.multiplier > 0:
            most = ((link.length or 0.0) - mimic.offset) / mimic.multiplier
            out[mimic.joint] = min(out[mimic.joint], most)
    return out


def _drive(link: JointedLink, made: Motor) -> MotorDrive:
    """The joint of a link: it pushes where it slides, and turns elsewhere."""
    slides = link.joint.type == "prismatic"
    zero = np.zeros(3)
    axis = [link.joint.direction, zero] if slides else [zero, link.joint.direction]
    return MotorDrive(link.name, slides, made, link.name, np.concatenate(axis))


def _motor(link: MechanismLink, limits: tuple[float, float] | None) -> Motor:
    """The motor of a joint."""
    joint = link.joint
    return Motor(
        stiffness=None if joint.stiffness is None else joint.stiffness[0],
        rotor_inertia=joint.rotor_inertia,
        gear=joint.gear,
        bearing=joint.bearing,
        damping=joint.damping[0],
        friction=joint.friction[0],
        limits=limits,
        effort_limit=joint.effort_limit,
        speed_limit=joint.speed_limit,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Kinematics(ABC):
    """How the poses of a Tree are found: a plug-in. Every kind has these duties:

    1. `asked_by`: the word, theta or position, by which a pose is usually given;
       `takes_position`: whether a position may be given at all; `open_chain`: whether it is for
       single chains
    2. `coordinates()`: name, unit, range and usual value of each coordinate of a pose
    3. `resolve(theta, position)`: whole configurations, and why there is none
    4. `usual()`: a pose to begin with
    5. `reachable(poses, word)`: which poses of a grid it may stand at
    6. `told`, `reach`: what `supple check` says of it, how far its tip comes
    7. `joint_motion(x, v, a)`: theta and its rates along a motion
    8. `solve(P, R, start)`: theta that puts the tip at poses, for `inverse`
    9. `branch(theta)`: where loops stand along a motion of the motors, on one branch
    """

    tree: Tree
    asked_by: ClassVar[Literal["theta", "position"]] = "theta"
    takes_position: ClassVar[bool] = True
    open_chain: ClassVar[bool] = False

    @abstractmethod
    def coordinates(self) -> tuple[Coordinate, ...]:
        """Return the coordinates of a pose and the ranges worth showing."""

    @abstractmethod
    def resolve(self, theta: ArrayLike | None, position: ArrayLike | None) -> Resolved:
        """Return the configurations at theta or position, (k,) or (B, k)."""

    @property
    @abstractmethod
    def description(self) -> str:
        """What it is, in words, for `supple check`."""

    @property
    def reach(self) -> float | None:
        """How far the tip may come from the base, m; None where it is not known."""
        return None

    @abstractmethod
    def solve(self, P: Array, R: Array | None, start: ArrayLike | None) -> list[JointSolution]:
        """Return theta that puts the tip at places P (B, 3), with axes R (B, 3, 3) if given."""

    def joint_motion(self, x: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Return theta (B, motors) and its rates along a motion as `moving_structure` takes it."""
        return x, v, a

    def branch(self, theta: Array, first: Array | None = None) -> Branch:
        """Return where loops stand along theta (K, motors): nowhere, there are none."""
        return Branch(np.zeros((len(theta), 0)), len(theta), np.ones(len(theta)))

    def usual(self) -> dict[str, Array]:
        """Return a pose to begin with, for `modes`."""
        return {self.asked_by: np.array([c.usual for c in self.coordinates()])}

    def reachable(self, poses: Array, word: str) -> NDArray[np.bool_]:
        """Return which poses (B, k) of a grid, given as theta or position, it may stand at."""
        return np.ones(len(poses), bool)
