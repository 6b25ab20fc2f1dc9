"""Which dimensions are best: the lowest frequency over poses made as high as limits allow.

The lowest of several frequencies has corners where two of them meet. The bound formulation has
none: maximise t under omega_k(x, pose) >= t for the first few modes of every pose, limits on mass,
sag and stress, and bounds on every dimension. A frequency is placed likewise: minimise t under
-t <= omega_k(x, pose)/target - 1 <= t. Derivatives are those of `sensitivities`; SciPy's SLSQP
solves it. Over a box of poses the set is exchanged: the worst pose of the box joins it until none
is worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import Check, checked, instance, number, one_of, optional, reals, switch
from ...errors import SuppleError
from ...robot import Robot, a_robot
from ...structure import structure_of
from ..check import stresses
from ..configuration import where
from ..statics import statics
from ..vibration.modes import modes
from .sensitivities import sensitivities
from .varied import Varied
from .workers import Progress

__all__ = ["Optimum", "mass_of", "optimise", "worst_pose"]

Array = NDArray[np.float64]
EXCHANGES = 20  # of the set of poses, at most
MODES = 3  # of every pose that are kept above the bound: more than may meet at the lowest
LARGEST = 1e30  # of a number in a robot file


@dataclass(frozen=True, eq=False)
class Optimum(Answer):
    """The best dimensions that were found.

    Attributes:
        robot: with these dimensions.  values: of the paths that were varied.
        lowest_hz, start_hz: the lowest frequency over the poses, of the optimum and at the start;
        where one is placed, that one where it is farthest from its target.
        mass: of links and bodies without the payload, kg.  sag: largest over the poses, m.
        stress: highest von Mises stress under gravity over the poses, Pa, of the links whose
        section tells it; zero where none does.
        active: the limits that hold it back, in words.
        kkt: length of the gradient that the active limits do not balance, relative to the
        objective's own: zero at an optimum.
        elements_hz: the same frequency again, by finite elements.
        evaluations: how often the robot was asked.
    """

    robot: Robot
    values: dict[str, float]
    lowest_hz: float
    start_hz: float
    mass: float
    sag: float
    stress: float
    active: tuple[str, ...]
    kkt: float
    elements_hz: float
    evaluations: int

    @property
    def gain(self) -> float:
        """How much higher the lowest frequency is, as a fraction."""
        return self.lowest_hz / self.start_hz - 1

    def __repr__(self) -> str:
        return (
            f"<Optimum of {self.robot.name}: {self.start_hz:.4g} to {self.lowest_hz:.4g} Hz "
            f"({100 * self.gain:+.3g} %), {self.mass:.4g} kg, {len(self.values)} dimensions>"
        )


def mass_of(robot: Robot, theta: ArrayLike) -> float:
    """Return the mass of links and bodies without the payload, kg."""
    bare = robot.with_("payload", None) if robot.payload is not None else robot
    structure = structure_of(bare, np.atleast_2d(np.asarray(theta, float)))
    each = zip(structure.segments, structure.L[0], strict=True)
    beams = sum(segment.beam.outside(float(L)).mass for segment, L in each)
    bodies = sum(float(s.tip_mass[0, 0]) for s in structure.segments)
    return float(beams + bodies + structure.root_mass[0, :, 0, 0].sum())


ARGUMENTS: dict[str, Check] = {
    "robot": a_robot,
    "vary": instance(Mapping, "ranges such as {'links.link1.section.wall': (0.004, 0.02)}"),
    "at": optional(reals),
    "over": optional(instance(Mapping, "ranges such as {'theta.link2': (-2, 2)}")),
    "place": optional(reals),
    "mass": optional(number(0, above=True)),
    "sag": optional(number(0, above=True)),
    "stress": optional(number(0, above=True)),
    "tolerance": number(0, 0.1, above=True),
    "progress": optional(switch),
    "maximise": one_of("lowest"),
}


@checked(**ARGUMENTS)
def optimise(  # noqa: PLR0913 - the last ones are limits, all by name
    robot: Robot,
    vary: Mapping[str, tuple[float, float]],
    maximise: str = "lowest",
    *,
    at: ArrayLike | None = None,
    over: Mapping[str, tuple[float, float]] | None = None,
    place: tuple[int, float] | None = None,
    mass: float | None = None,
    sag: float | None = None,
    stress: float | None = None,
    tolerance: float = 1e-7,
    progress: bool | None = None,
) -> Optimum:
    """Return the dimensions that make the lowest natural frequency over poses as high as possible.

    Args:
        robot: where the search begins; its own values are clipped to the bounds.
        vary: paths of the robot file and their bounds, {"links.link1.section.wall": (low, high)}.
        maximise: "lowest", the lowest frequency over all poses.
        at: poses, (joints,) or (P, joints); positions of a Delta's platform.
        over: a box of poses, {"theta.link2": (-2, 2)}: its worst pose is looked for by 1,024 points
        and a descent from the worst of them, which is a search and no proof (`stopband` proves).
        place: (mode, Hz) instead: that mode of every pose as near as can be to a frequency.
        mass: links and bodies without the payload may weigh this much, kg.
        sag, stress: the tip may sag so far, m, and the highest von Mises stress, Pa, be so high
        under gravity at any of the poses.
        tolerance: relative, of the frequency.  progress: whether to tell it on the error stream.
    """
    from scipy.optimize import minimize

    limits = {"mass": mass, "sag": sag, "stress": stress}
    task = _Task(robot, vary, at, limits, Progress(400, "designs", progress))
    task.aim(over or {}, place)
    begin = task.start()
    try:
        for _ in range(EXCHANGES):
            found = minimize(
                lambda z: task.sign * z[-1],
                begin,
                jac=lambda z: np.append(np.zeros(len(z) - 1), task.sign),
                bounds=[(0.0, 1.0)] * len(vary) + [(None, None)],
                constraints={"type": "ineq", "fun": task.room, "jac": task.slopes},
                method="SLSQP",
                options={"ftol": tolerance, "maxiter": 200},
            )
            if (worse := worst_pose(task, found.x)) is None:
                break
            task.poses = np.vstack([task.poses, worse])
            begin = np.append(found.x[:-1], task.bound(task.robot(found.x[:-1])))
    finally:
        task.telling.end()
    past = -min(task.room(found.x)[task.rows :], default=0.0)
    if past > 1e-5:
        raise SuppleError(f"no design in these bounds keeps the limits: {100 * past:.3g} % over")
    if not found.success and found.status != 8:  # 8: no step improves any more
        raise SuppleError(f"the search stopped before an optimum: {found.message.lower()}")
    return task.optimum(found.x)


class _Task:
    """The design problem over z = [dimensions scaled to 0..1, t over the first frequency]."""

    def __init__(
        self, robot: Robot, vary: Any, at: Any, limits: dict[str, Any], telling: Progress
    ) -> None:
        if not isinstance(vary, Mapping) or not vary:
            raise SuppleError("vary is empty: give paths and bounds, {'links.a.length': (1, 2)}")
        self.telling, self.count = telling, 0
        self.limits = {name: limit for name, limit in limits.items() if limit is not None}
        self.keys = tuple(vary)
        poses = None if at is None else np.atleast_2d(np.asarray(at, float))
        key = architecture_of(robot).asked_by
        self.asked = Varied.of(robot, self.keys, **({} if poses is None else {key: poses[0]}))
        if self.asked.coordinate_keys:
            raise SuppleError(f"'{self.asked.coordinate_keys[0]}' is a pose: vary dimensions")
        start = self.asked.theta if key == "theta" else self.asked.position
        self.key, self.poses = key, np.array([start]) if poses is None else poses
        self.low, self.high = np.empty(len(self.keys)), np.empty(len(self.keys))
        for k, (name, edges) in enumerate(vary.items()):
            low, high = (float(edge) for edge in edges)
            if not (np.isfinite([low, high]).all() and low < high):
                raise SuppleError(f"vary '{name}' is {edges!r}: give (low, high)")
            if max(abs(low), abs(high)) > LARGEST:
                raise SuppleError(f"vary '{name}' goes beyond {LARGEST:g}, where no robot is")
            self.low[k], self.high[k] = low, high
        for name, limit in self.limits.items():
            if not (np.isfinite(limit) and limit > 0):
                raise SuppleError(f"{name} is {limit!r}: give a positive limit")
        if "stress" in self.limits and not self._stress(robot):
            raise SuppleError(
                f"stress is limited, but {robot.name} has no stress: it needs gravity, and links "
                "with a section"
            )
        self._kept: tuple[bytes, Any] | None = None

    def robot(self, x: Array) -> Robot:
        """The robot with scaled dimensions x."""
        values = self.low + np.clip(x, 0.0, 1.0) * (self.high - self.low)
        return self.asked.changed(dict(zip(self.keys, values, strict=True)))

    def aim(self, box: Mapping[str, Any], place: Any) -> None:
        """Take the box of poses, and what is asked of frequencies: t as a bound, and its sign."""
        self.box = {name: reals(f"over '{name}'", edges).ravel() for name, edges in box.items()}
        for name, edges in self.box.items():
            if len(edges) != 2 or not np.isfinite(edges).all() or not edges[0] < edges[1]:
                raise SuppleError(f"over '{name}' is {box[name]!r}: give (low, high)")
        self.around = Varied.of(self.asked.robot, tuple(box), **{self.key: self.poses[0]})
        if self.around.parameter_keys:
            raise SuppleError(
                f"over has '{self.around.parameter_keys[0]}': it is a box of poses, as theta.link2"
            )
        self.mode, self.sign = MODES, -1.0
        if place is not None:
            wanted = np.ravel(place)
            if len(wanted) != 2 or wanted[0] not in range(1, 100) or not 0 < wanted[1] < LARGEST:
                raise SuppleError(f"place is {wanted.tolist()}: give (mode, Hz), such as (1, 12.0)")
            self.mode, self.first, self.sign = int(wanted[0]), 2 * np.pi * wanted[1], 1.0

    @property
    def rows(self) -> int:
        """How many rows of `room` are of frequencies."""
        return len(self.poses) * (MODES if self.sign < 0 else 2)

    def start(self) -> Array:
        """Return where the search begins: the robot as it is."""
        own = np.array([self.asked.value(key) for key in self.keys])
        x = np.clip((own - self.low) / (self.high - self.low), 0.0, 1.0)
        if self.sign < 0:
            self.first = float(self._omega(self.robot(x)).min())
        self.began = self.farthest(self._omega(self.robot(x)))
        return np.append(x, self.bound(self.robot(x)))

    def bound(self, robot: Robot) -> float:
        """Return t of a design at the poses so far."""
        return float((self.sign * self.short(self._omega(robot))).max() * self.sign)

    def short(self, omega: Array) -> Array:
        """Return what decides at each pose, (..): the lowest, or how far the placed one is off."""
        if self.sign < 0:
            return np.asarray(omega.min(axis=-1) / self.first)
        return np.asarray(np.abs(omega[..., -1] / self.first - 1))

    def farthest(self, omega: Array) -> float:
        """Return the frequency that decides among poses."""
        worst = omega[int(np.argmax(self.sign * self.short(omega)))]
        return float(worst.min() if self.sign < 0 else worst[-1])

    def _omega(self, robot: Robot) -> Array:
        place: dict[str, Any] = {self.key: self.poses}
        return np.atleast_2d(modes(robot, **place, count=self.mode).omega)

    def _limits(self, robot: Robot) -> list[float]:
        """What is left of the limits, relative."""
        found = {}
        if "mass" in self.limits:
            found["mass"] = mass_of(robot, self.poses[0])
        if "sag" in self.limits:
            found["sag"] = self._sag(robot)
        if "stress" in self.limits:
            found["stress"] = self._stress(robot)
        return [1 - found[name] / limit for name, limit in self.limits.items()]

    def _stress(self, robot: Robot) -> float:
        worst = 0.0
        for pose in self.poses:
            place: dict[str, Any] = {self.key: pose}
            structure = structure_of(
                robot, where(robot, place.get("theta"), place.get("position")).at
            )
            each = stresses(robot, structure, statics(robot, **place))
            worst = max([worst, *(stress for stress, _ in each.values())])
        return worst

    def _sag(self, robot: Robot) -> float:
        place: dict[str, Any] = {self.key: self.poses}
        found = statics(robot, **place)
        return float(np.linalg.norm(np.atleast_2d(found.tip_displacement), axis=-1).max())

    def room(self, z: Array) -> Array:
        """Constraints >= 0: every frequency over the bound, then the limits."""
        self.count += 1
        self.telling.step(1)
        robot = self.robot(z[:-1])
        omega = self._omega(robot) / self.first
        off = omega[:, -1:] - 1
        room = omega - z[-1] if self.sign < 0 else z[-1] + np.hstack([-off, off])
        return np.append(room.ravel(), self._limits(robot))

    def slopes(self, z: Array) -> Array:
        """Derivatives (constraints, dimensions + 1): frequencies exactly, limits by differences."""
        robot, span = self.robot(z[:-1]), self.high - self.low
        rows = []
        for pose in self.poses:
            place: dict[str, Any] = {self.key: pose}
            found = sensitivities(robot, parameters=self.keys, count=self.mode, **place)
            own = np.array([found.derivatives[key] for key in self.keys]) * span[:, None]
            each = own.T if self.sign < 0 else np.array([-own[:, -1], own[:, -1]])
            rows += [np.append(row / self.first, self.sign) for row in each]
        base, step = np.array(self._limits(robot)), 1e-5
        table = np.zeros((len(base), len(z)))
        for k in range(len(z) - 1):
            moved = z[:-1].copy()
            moved[k] += step if moved[k] < 0.5 else -step
            table[:, k] = (np.array(self._limits(self.robot(moved))) - base) / (moved[k] - z[k])
        return np.vstack([np.array(rows), table])

    def optimum(self, z: Array) -> Optimum:
        """Return the answer at a solution."""
        from scipy.optimize import nnls

        robot = self.robot(z[:-1])
        z = np.append(np.clip(z[:-1], 0.0, 1.0), self.bound(robot))
        room, slopes = self.room(z), self.slopes(z)
        listed = range(1, MODES + 1) if self.sign < 0 else (self.mode,) * 2
        names = [f"mode {k} at pose {p + 1}" for p in range(len(self.poses)) for k in listed]
        names += list(self.limits)
        active = [i for i, left in enumerate(room) if left < 1e-5]
        gradients, told = [slopes[i] for i in active], [names[i] for i in active]
        for k, key in enumerate(self.keys):
            for edge, sign in ((0.0, 1.0), (1.0, -1.0)):
                if abs(z[k] - edge) < 1e-6:
                    gradients.append(sign * np.eye(len(z))[k])
                    told.append(f"{key} at its {'lower' if sign > 0 else 'upper'} bound")
        wanted = np.append(np.zeros(len(z) - 1), self.sign)
        kkt = float(nnls(np.array(gradients).T, wanted)[1]) if gradients else 1.0
        place: dict[str, Any] = {self.key: self.poses}
        second = modes(robot, **place, count=self.mode, method="elements")
        return Optimum(
            robot,
            {
                key: self.low[k] + z[k] * (self.high - self.low)[k]
                for k, key in enumerate(self.keys)
            },
            self.farthest(self._omega(robot)) / (2 * np.pi),
            self.began / (2 * np.pi),
            mass_of(robot, self.poses[0]),
            self._sag(robot) if any(robot.gravity) else 0.0,
            self._stress(robot) if any(robot.gravity) else 0.0,
            tuple(dict.fromkeys(told)),
            kkt,
            self.farthest(np.atleast_2d(second.omega)) / (2 * np.pi),
            self.count,
        )


def worst_pose(task: _Task, z: Array) -> Array | None:
    """Return the worst pose of the box, None where those known are as bad."""
    if not task.box:
        return None
    from scipy.optimize import minimize
    from scipy.stats import qmc

    robot, low, high = task.robot(z[:-1]), *np.array(list(task.box.values())).T

    def ask(u: Array) -> tuple[Array, Array]:
        columns = dict(zip(task.box, (low + np.atleast_2d(u) * (high - low)).T, strict=True))
        poses = task.around.placed(columns, len(np.atleast_2d(u)))[task.key]
        place: dict[str, Any] = {task.key: poses}
        found = modes(robot, count=task.mode, **place)
        return poses, np.where(found.valid, -task.sign * task.short(found.omega), np.inf)

    points = qmc.Sobol(len(low), seed=0).random_base2(10)
    first = points[int(np.argmin(ask(points)[1]))]
    last = minimize(
        lambda u: float(ask(u)[1][0]),
        first,
        method="Nelder-Mead",
        bounds=[(0, 1)] * len(low),
        options={"xatol": 1e-6, "fatol": 1e-9},
    )
    pose, value = ask(last.x)
    return pose if value[0] < -task.sign * task.bound(robot) - 1e-6 else None
