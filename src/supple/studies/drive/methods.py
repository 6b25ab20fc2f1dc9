"""Ways to make one move: what a method of a comparison tells the motors.

The move is made for the robot as it is known, its motors held: the plain one, the same shaped or
scheduled over the path, and the fastest that leaves no more than those do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...beams.basis import Basis
from ...control.controllers import Controller
from ...control.matching import coordinate_names, trajectory_for
from ...control.shapers import SHAPERS, Shaper, shaper
from ...control.shaping import schedule, shaped
from ...control.trajectories import ParabolicBlends, PointToPoint, Trajectory
from ...control.trajectory_files import is_file_name
from ...equations.build import build
from ...equations.model import Model
from ...errors import SuppleError
from ...robot import Robot
from .calm import calm_move, families
from .servo import held_modes
from .settle import correction, leaves
from .trials import driven, trial_with_ideal_motors

__all__ = ["Task"]

Array = NDArray[np.float64]
SAMPLES_PER_PERIOD = 50  # of a run to a period of the lowest mode
ACCELERATION_SHARE = 0.95  # of the acceleration that is left to a move before it is corrected
DURATION_HALVINGS = 5  # halvings of the time between the fastest move and the shaped one
RESIDUAL_SHARE = 0.6  # of what the shaped move leaves may be left by a faster one
BANDS = (0.05, 0.1)  # by which frequencies may be off: less is left within each of them
NO_LIMIT = 1e30  # N m or N: of motors without a limit
END_TOLERANCE = 1e-3  # of the travel: how far from start or end a given move may begin or end
LARGEST_COORDINATE = 1e4  # rad or m of a coordinate, beyond which a move is a slip of the pen


@dataclass(frozen=True)
class Task:
    """A move from rest to rest of a robot whose motors are held."""

    robot: Robot
    start: Array
    end: Array
    servo: Controller | None
    coarse: Basis
    groups: int
    limits: Array | None = None
    _built: list[tuple[Robot, Model]] = field(default_factory=list, init=False, repr=False)
    _commands: dict[tuple[int, str], tuple[Trajectory, Trajectory]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __post_init__(self) -> None:
        """Check that there is a move."""
        size = len(architecture_of(self.robot).coordinates())
        for name in ("start", "end"):
            if getattr(self, name).shape != (size,):
                raise SuppleError(
                    f"{name} has {getattr(self, name).size} values: {self.robot.name} needs {size}"
                )
            if np.abs(getattr(self, name)).max(initial=0.0) > LARGEST_COORDINATE:
                raise SuppleError(
                    f"{name} lies beyond {LARGEST_COORDINATE:g} rad or m: check its units"
                )
        if np.array_equal(self.start, self.end):
            raise SuppleError("start and end are the same: there is no move to compare")

    @property
    def platform(self) -> bool:
        """Whether the coordinates are those of a Delta's platform."""
        return architecture_of(self.robot).asked_by == "position"

    @cached_property
    def basis(self) -> Any:
        """What the poles of the loop are found on: with a servo a Model, made once."""
        return self.coarse if self.servo is None else build(self.robot, self.coarse)

    @cached_property
    def rings(self) -> list[slice]:
        """The groups of modes to shape for: those that ring together where the move ends."""
        for count in (8, 6, 3, 2):
            try:
                return families(self.held_modes(self.end[None], count)[0][0])[: self.groups]
            except SuppleError:
                continue
        return [slice(0, 1)]

    def held_modes(self, poses: Array, count: int) -> tuple[Array, Array]:
        """Frequencies and ratios as the motors are held, (m, count) each."""
        omega, ratio = held_modes(
            self.robot, poses, count, self.servo, self.basis, platform=self.platform
        )
        if not np.isfinite(omega).all():
            raise SuppleError("the move leaves what the robot can reach: no frequency there")
        return omega, ratio

    def target(self, poses: Array, ring: slice) -> Array:
        """The frequency to shape for, (m,): the middle of modes that ring together."""
        omega = self.held_modes(poses, ring.stop)[0][:, ring]
        return np.asarray((omega[:, 0] + omega[:, -1]) / 2)

    @cached_property
    def ratio(self) -> float:
        """The damping ratio to shape for."""
        return float(min(self.held_modes(self.end[None], 1)[1][0, 0], 0.6))

    @property
    def period(self) -> float:
        """Of the lowest mode where the move ends, s."""
        return float(2 * np.pi / self.held_modes(self.end[None], 1)[0][0, 0])

    def finer(self, robot: Robot, fine: Basis, damping: float | None) -> Model:
        """The finer Model of a robot, built once."""
        for known, model in self._built:
            if known is robot:
                return model
        self._built.append((robot, build(robot, fine, damping=damping)))
        return self._built[-1][1]

    def plain_move(self, duration: float | None, law: str) -> Trajectory:
        """The move as an ordinary controller would make it."""
        T = 1.5 * self.period if duration is None else duration
        ends = self.start.tolist(), self.end.tolist()
        return (
            ParabolicBlends(*ends, T, T / 3) if law == "trapezoid" else PointToPoint(*ends, T, law)
        )

    def driving(self, move: Trajectory, given: Any) -> tuple[Trajectory, Controller | None]:
        """The command and the controller of a method."""
        if isinstance(given, Controller):
            return move, given
        if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Controller):
            return self.driving(move, given[1])[0], given[0]
        if isinstance(given, Trajectory) or is_file_name(given):
            return self._check_given_move(given), self.servo
        if isinstance(given, Shaper):
            return shaped(move, given), self.servo
        return self._by_word(move, given), self.servo

    def _check_given_move(self, given: Trajectory | str) -> Trajectory:
        """A move made elsewhere, if it goes where this one does."""
        label = f"method {given if isinstance(given, str) else type(given).__name__:.60}"
        found = trajectory_for(self.robot, given, name=label, leads="coordinates")
        if found.periodic:
            raise SuppleError(f"{label} repeats: give a Trajectory that ends")
        travel = np.abs(self.end - self.start).max()
        names = coordinate_names(self.robot)
        begins, ends = given.goals() if found is given else found.goals()
        for word, wanted, there in (("begins", self.start, begins), ("ends", self.end, ends)):
            off = np.abs(there - wanted)
            if off.max() <= END_TOLERANCE * travel:
                continue
            j = int(np.argmax(off))
            hint = ""
            if abs(there[j] - np.degrees(wanted[j])) <= 1e-3 * abs(there[j]):
                hint = f"; it seems to be in degrees: write '{names[j]} [deg]' in its header"
            raise SuppleError(
                f"{label} {word} at {there[j]:.6g} in {names[j]}, the move to compare at "
                f"{wanted[j]:.6g}: give one from start to end{hint}"
            )
        return found

    def _by_word(self, move: Trajectory, word: Any) -> Trajectory:
        """The command of a word, made once for a move."""
        key = (id(move), str(word))
        if key in self._commands:
            return self._commands[key][1]
        kind = word.removeprefix("scheduled-") if isinstance(word, str) else word
        kind = "zvd" if kind == "scheduled" else kind
        found = move
        if word == "optimised":
            found = self._fastest_calm_move(move)
        elif word != "unshaped":
            if not isinstance(kind, str) or kind not in SHAPERS:
                raise SuppleError(
                    f"method {word!r:.60}: give unshaped, scheduled, optimised, one of "
                    f"{', '.join(SHAPERS)}, a file, a Trajectory, a Shaper or a Controller"
                )
            if word == kind:
                f = [float(self.target(self.end[None], k)[0]) / (2 * np.pi) for k in self.rings]
                found = shaped(move, shaper(kind, f, self.ratio))
            else:
                for ring in self.rings:
                    design = shaper(kind, 1.0, self.ratio)
                    found = schedule(found, design, partial(self.target, ring=ring))
                found = correction(self.robot, found) if self.corrects else found
        self._commands[key] = (move, found)
        return found

    def _fastest_calm_move(self, move: Trajectory) -> Trajectory:
        """The fastest move that leaves no more than the shaped ones on the robot as it is known."""
        _, v, a = move(np.linspace(0.0, move.duration, 4001)[1:-1])
        most = [np.where(x > 0, x, 1.0) for x in (np.abs(v).max(axis=0), np.abs(a).max(axis=0))]
        how: Any = {"servo": self.servo, "basis": self.basis, "platform": self.platform}
        how["groups"] = self.groups
        if self.limits is not None:
            how["effort_limit"] = tuple(np.minimum(self.limits, NO_LIMIT).tolist())

        def make_move(band: float, **more: Any) -> Trajectory:
            push = ACCELERATION_SHARE * most[1] if self.corrects else most[1]
            found: Trajectory = calm_move(
                self.robot,
                self.start,
                self.end,
                most[0].tolist(),
                push.tolist(),
                band=band,
                **how,
                **more,
            )
            return correction(self.robot, found, band) if self.corrects else found

        rivals = [self._by_word(move, word) for word in ("zvd", "scheduled")]
        bounds = sorted((self.residuals_of(rival) for rival in rivals), key=max)
        longest = min(rival.duration for rival in rivals)
        shortest = calm_move(
            self.robot, self.start, self.end, *(x.tolist() for x in most), left=4.0, **how
        ).duration
        for band, bound in product(BANDS if self.corrects else BANDS[:1], bounds):
            most_left = [RESIDUAL_SHARE * left for left in bound]
            found = _quickest(self, partial(make_move, band), shortest, longest, most_left)
            if found is not None:
                return found
        return make_move(BANDS[0], left=rivals[0])

    @property
    def corrects(self) -> bool:
        """Whether moves are corrected for the loads of their own motion."""
        return self.servo is None

    def residuals_of(self, command: Trajectory) -> list[float]:
        """What a command leaves on the robot as it is known, with few modes, m.

        Where it is corrected, for frequencies off by up to each of BANDS: a shaper leaves little
        more when they are, and neither may what is faster.
        """
        if self.corrects:
            return leaves(self.robot, command, BANDS)
        total = command.duration + 1.5 * self.period
        t = np.linspace(0.0, total, 1 + round(total / self.period * SAMPLES_PER_PERIOD))
        if self.servo is None:
            return [
                trial_with_ideal_motors(self.robot, command, t, self.platform, 1, None).residual
            ]
        return [driven(self.basis, self.servo, command, t, self.platform).residual]


def _quickest(
    task: Task,
    make_move: Callable[..., Trajectory],
    shortest: float,
    longest: float,
    bound: list[float],
) -> Trajectory | None:
    """The fastest move that leaves no more than its bounds, None if none is faster."""
    low = shortest
    high = longest
    best = None
    for k in range(DURATION_HALVINGS):
        T = (0.97 * high) if k == 0 else (low + high) / 2
        try:
            found = make_move(duration=max(T, shortest))
            calm = all(x <= y for x, y in zip(task.residuals_of(found), bound, strict=True))
        except SuppleError:  # too short for the limits
            calm = False
        if calm:
            high = found.duration
            best = found
        elif k == 0:
            return None
        else:
            low = T
        if high - low < 0.01 * high:
            break
    return best
