"""Which dimensions are best: the lowest frequency over poses made as high as limits allow.

The lowest of several frequencies has corners where two of them meet. The bound formulation has
none: maximise t under omega_k(x, pose) >= t for the first few modes of every pose, limits on mass,
sag and stress, and bounds on every dimension. Derivatives are those of `sensitivities`; SciPy's
SLSQP solves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import checked, instance, number, one_of, optional, reals, switch
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

__all__ = ["Optimum", "mass_of", "optimise"]

Array = NDArray[np.float64]
MODES = 3  # of every pose that are kept above the bound: more than may meet at the lowest
LARGEST = 1e30  # of a number in a robot file


@dataclass(frozen=True, eq=False)
class Optimum(Answer):
    """The best dimensions that were found.

    Attributes:
        robot: with these dimensions.  values: of the paths that were varied.
        lowest_hz, start_hz: the lowest frequency over the poses, of the optimum and at the start.
        mass: of links and bodies without the payload, kg.  sag: largest over the poses, m.
        stress: highest von Mises stress under gravity over the poses, Pa, of the links whose
        section tells it; zero where none does.
        active: the limits that hold it back, in words.
        kkt: length of the gradient that the active limits do not balance, relative to the
        objective's own: zero at an optimum.
        elements_hz: the lowest frequency again, by finite elements.
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


@checked(
    robot=a_robot,
    vary=instance(Mapping, "ranges such as {'links.link1.section.wall': (0.004, 0.02)}"),
    at=optional(reals),
    mass=optional(number(0, above=True)),
    sag=optional(number(0, above=True)),
    stress=optional(number(0, above=True)),
    tolerance=number(0, 0.1, above=True),
    progress=optional(switch),
    maximise=one_of("lowest"),
)
def optimise(  # noqa: PLR0913 - the last ones are limits, all by name
    robot: Robot,
    vary: Mapping[str, tuple[float, float]],
    maximise: str = "lowest",
    *,
    at: ArrayLike | None = None,
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
        mass: links and bodies without the payload may weigh this much, kg.
        sag, stress: the tip may sag so far, m, and the highest von Mises stress, Pa, be so high
        under gravity at any of the poses.
        tolerance: relative, of the frequency.  progress: whether to tell it on the error stream.
    """
    from scipy.optimize import minimize

    if maximise != "lowest":
        raise SuppleError(f"maximise is {maximise!r}: give 'lowest', the lowest over all poses")
    limits = {"mass": mass, "sag": sag, "stress": stress}
    task = _Task(robot, vary, at, limits, Progress(400, "designs", progress))
    try:
        found = minimize(
            lambda z: -z[-1],
            task.start(),
            jac=lambda z: np.append(np.zeros(len(z) - 1), -1.0),
            bounds=[(0.0, 1.0)] * len(vary) + [(None, None)],
            constraints={"type": "ineq", "fun": task.room, "jac": task.slopes},
            method="SLSQP",
            options={"ftol": tolerance, "maxiter": 200},
        )
    finally:
        task.telling.end()
    over = -min(task.room(found.x)[len(task.poses) * MODES :], default=0.0)
    if over > 1e-5:
        raise SuppleError(f"no design in these bounds keeps the limits: {100 * over:.3g} % over")
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
        self.place: dict[str, Any] = {key: self.poses}
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

    def start(self) -> Array:
        """Return where the search begins: the robot as it is."""
        own = np.array([self.asked.value(key) for key in self.keys])
        x = np.clip((own - self.low) / (self.high - self.low), 0.0, 1.0)
        self.first = float(self._omega(self.robot(x)).min())
        self.began = self.first
        return np.append(x, 1.0)

    def _omega(self, robot: Robot) -> Array:
        return np.atleast_2d(modes(robot, **self.place, count=MODES).omega)

    def _limits(self, robot: Robot) -> list[float]:
        """What is left of the limits, relative."""
        found = {
            "mass": lambda: mass_of(robot, self.poses[0]),
            "sag": lambda: self._sag(robot),
            "stress": lambda: self._stress(robot),
        }
        return [1 - found[name]() / limit for name, limit in self.limits.items()]

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
        found = statics(robot, **self.place)
        return float(np.linalg.norm(np.atleast_2d(found.tip_displacement), axis=-1).max())

    def room(self, z: Array) -> Array:
        """Constraints >= 0: every frequency over the bound, then the limits."""
        self.count += 1
        self.telling.step(1)
        robot = self.robot(z[:-1])
        return np.append((self._omega(robot) / self.first - z[-1]).ravel(), self._limits(robot))

    def slopes(self, z: Array) -> Array:
        """Derivatives (constraints, dimensions + 1): frequencies exactly, limits by differences."""
        robot, span = self.robot(z[:-1]), self.high - self.low
        rows = []
        for pose in self.poses:
            place: dict[str, Any] = {self.key: pose}
            found = sensitivities(robot, parameters=self.keys, count=MODES, **place)
            own = np.array([found.derivatives[key] for key in self.keys]) * span[:, None]
            rows += [np.append(column / self.first, -1.0) for column in own.T]
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
        lowest = float(self._omega(robot).min())
        z = np.append(np.clip(z[:-1], 0.0, 1.0), lowest / self.first)
        room, slopes = self.room(z), self.slopes(z)
        names = [
            f"mode {k + 1} at pose {p + 1}" for p in range(len(self.poses)) for k in range(MODES)
        ]
        names += list(self.limits)
        active = [i for i, left in enumerate(room) if left < 1e-5]
        gradients, told = [slopes[i] for i in active], [names[i] for i in active]
        for k, key in enumerate(self.keys):
            for edge, sign in ((0.0, 1.0), (1.0, -1.0)):
                if abs(z[k] - edge) < 1e-6:
                    gradients.append(sign * np.eye(len(z))[k])
                    told.append(f"{key} at its {'lower' if sign > 0 else 'upper'} bound")
        wanted = np.append(np.zeros(len(z) - 1), -1.0)
        kkt = float(nnls(np.array(gradients).T, wanted)[1]) if gradients else 1.0
        second = modes(robot, **self.place, count=1, method="elements")
        return Optimum(
            robot,
            {
                key: self.low[k] + z[k] * (self.high - self.low)[k]
                for k, key in enumerate(self.keys)
            },
            lowest / (2 * np.pi),
            self.began / (2 * np.pi),
            mass_of(robot, self.poses[0]),
            self._sag(robot) if any(robot.gravity) else 0.0,
            self._stress(robot) if any(robot.gravity) else 0.0,
            tuple(told),
            kkt,
            float(np.min(second.frequency_hz)),
            self.count,
        )
