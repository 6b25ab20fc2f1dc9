"""Natural frequencies measured at poses, with or without the numbers of their modes.

Noise is relative: ln f has a constant standard deviation, estimated or given by `sigma_hz`.

Without mode numbers the lines of a pose are paired with the computed modes by the assignment of
highest likelihood. Of every mode below the highest line a share MISSED was not excited; of every
line a share FOREIGN belongs to no mode, and then stands anywhere in the band. A line is foreign
when that is likelier than the nearest mode, which for a noise of 0.1 % is at about 4.5 deviations.
The computed modes are complete, since their count is certified.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...robot import Robot
from ...studies.vibration.modes import modes
from ..parameters import Setting
from ..tables import MeasuredTable, Places
from .experiment import Experiment, NoiseGroup

__all__ = ["Frequencies"]

Array = NDArray[np.float64]
FOREIGN = 0.1
MISSED = 0.2
MOST_MODES = 60
SMALLEST_NOISE = 5e-4  # relative: lines are paired as if their noise were no smaller
KNOWN = ("frequency_hz", "mode", "pose", "damping_ratio", "sigma_hz", "std_hz", "std_damping")


class Frequencies(Experiment):
    """Lines at poses."""

    kind = "frequencies"
    unit = "Hz"

    def __init__(
        self,
        table: MeasuredTable,
        robot: Robot,
        theta: Sequence[float] | None,
        joints: Any,
        sigma: float | None,
    ) -> None:
        self.name = table.name
        self.joints = joints
        self.places, passed_over = Places.of(table, robot, theta, KNOWN)
        self.notes = [f"column '{key}' of {table.name} is passed over" for key in passed_over]
        if "frequency_hz" not in table.columns:
            raise SuppleError(f"{table.name} has no column frequency_hz")
        self.lines = table.numbers("frequency_hz")
        if (self.lines <= 0).any():
            row = int(np.flatnonzero(self.lines <= 0)[0]) + 1
            raise SuppleError(f"{table.name}: frequency_hz is {self.lines[row - 1]:g} in row {row}")
        self.measured = np.log(self.lines)
        rows = np.arange(len(self.lines))

        numbers = table.columns.get("mode")
        given = np.full(len(self.lines), -1)
        if numbers is not None:
            raw = np.asarray(numbers if not isinstance(numbers, list) else np.nan, float)
            raw = np.broadcast_to(raw, given.shape)
            has_number = np.isfinite(raw)
            mode_numbers = raw[has_number]
            if (mode_numbers < 1).any() or (mode_numbers != np.round(mode_numbers)).any():
                raise SuppleError(f"{table.name}: column mode must hold whole numbers from 1 on")
            given[has_number] = mode_numbers.astype(int) - 1
            for pose in range(len(self.places.coordinates)):
                here = given[(self.places.pose == pose) & (given >= 0)]
                if len(set(here.tolist())) < len(here) and "pose" not in table.columns:
                    continue  # repeated measurements of one mode are welcome
        self.given = given
        self.mode = given.copy()
        self.pairing = bool((given < 0).any())

        self.groups = []
        sigma_hz = None
        for word in ("sigma_hz", "std_hz"):
            if word in table.columns:
                sigma_hz = table.numbers(word)
                if (sigma_hz <= 0).any():
                    raise SuppleError(f"{table.name}: {word} must be positive")
                break
        if sigma_hz is not None:
            self.groups.append(
                NoiseGroup(f"frequencies of {self.name}", rows, sigma_hz / self.lines)
            )
        else:
            known = None if sigma is None else np.full(len(rows), float(sigma))
            self.groups.append(NoiseGroup(f"frequencies of {self.name}", rows, known))
        self._count = self._modes_needed(robot)

    def _modes_needed(self, robot: Robot) -> int:
        """How many modes are computed at a pose: those asked for, or beyond the highest line."""
        most = int(np.bincount(self.places.pose).max())
        count = max(int(self.given.max()) + 1, 1)
        if not self.pairing:
            return count
        count = max(count, most + 3)
        # repeated lines at one pose (several recordings) do not need more modes
        while count < MOST_MODES:
            found = self._compute_frequencies(robot, count)
            highest = np.nanmin(found[:, -1])
            if not np.isfinite(highest) or highest > 2.0 * self.lines.max():
                break
            count += 4
        return min(count, MOST_MODES)

    def _compute_frequencies(self, robot: Robot, count: int) -> Array:
        """Frequencies (poses, count), Hz, ascending; NaN where a pose has fewer."""
        found = np.full((len(self.places.coordinates), count), np.nan)
        for conditions, poses in self.places.batches().items():
            changed = robot.with_(dict(conditions)) if conditions else robot
            where: Any = self.places.where(poses)
            answer = modes(changed, **where, count=count, joints=self.joints)
            f = np.atleast_2d(answer.frequency_hz)
            found[poses, : f.shape[1]] = f
            bad = ~np.isfinite(f[:, 0])
            if bad.any():
                pose = int(poses[np.flatnonzero(bad)[0]])
                raise SuppleError(
                    f"{self.name}: pose {pose + 1} ({self.places.describe(pose, robot)}) is none "
                    f"of {robot.name}: {np.atleast_1d(answer.reason)[bad][0]}"
                )
        return found

    def predict(self, setting: Setting) -> Array:
        """Return ln f of the modes that lines are paired with; NaN for foreign lines."""
        found = self._compute_frequencies(setting.robot, self._count)
        predicted = np.full(len(self.lines), np.nan)
        paired = self.mode >= 0
        f = found[self.places.pose[paired], self.mode[paired]]
        with np.errstate(invalid="ignore"):
            predicted[paired] = np.log(f)
        if np.isnan(predicted[paired]).any():
            raise SuppleError(
                f"{self.name}: column mode goes up to {int(self.mode.max()) + 1}, the robot has "
                "fewer modes there"
            )
        return predicted

    def assign(self, setting: Setting, sigma: float) -> float:
        """Pair lines with modes, pose by pose; return minus the log likelihood of the pairing."""
        from scipy.optimize import linear_sum_assignment

        found = self._compute_frequencies(setting.robot, self._count)
        known = self.groups[0].sigma
        deviation = known if known is not None else np.full(len(self.lines), sigma)
        deviation = np.maximum(deviation, max(sigma, SMALLEST_NOISE))
        band = math.log(max(self.lines.max() / self.lines.min(), 1.0) * 4.0)
        total = 0.0
        for pose in range(len(found)):
            rows = np.flatnonzero((self.places.pose == pose) & (self.given < 0))
            if not len(rows):
                continue
            taken = self.given[(self.places.pose == pose) & (self.given >= 0)]
            f = found[pose].copy()
            f[taken] = np.nan
            candidates = np.flatnonzero(np.isfinite(f))
            gap = self.measured[rows][:, None] - np.log(f[candidates])[None, :]
            size = deviation[rows][:, None]
            as_mode = 0.5 * (gap / size) ** 2 + np.log(size * math.sqrt(2 * math.pi))
            as_mode = as_mode - math.log(1 - FOREIGN) - math.log(1 - MISSED)
            as_foreign = -math.log(FOREIGN) + math.log(band)
            # a mode above the highest line was not looked for: missing it costs nothing
            reach = self.lines[rows].max() * (1 + 3 * float(size.max()))
            missed = np.where(f[candidates] <= reach, -math.log(MISSED), 0.0)
            cost = np.full((len(rows), len(candidates) + len(rows)), np.inf)
            cost[:, : len(candidates)] = as_mode - missed
            for k in range(len(rows)):
                cost[k, len(candidates) + k] = as_foreign
            finite = np.where(np.isfinite(cost), cost, 1e9)
            line, column = linear_sum_assignment(finite)
            mode = np.where(
                column < len(candidates), candidates[np.minimum(column, len(candidates) - 1)], -1
            )
            self.mode[rows[line]] = mode
            total += float(finite[line, column].sum() + missed.sum())
        return total

    def values_of(self, predicted: Array) -> Array:
        return np.exp(predicted)

    def labels(self) -> list[str]:
        return [
            f"pose {pose + 1}, " + (f"mode {mode + 1}" if mode >= 0 else "no mode")
            for pose, mode in zip(self.places.pose, self.mode, strict=True)
        ]

    def blocks(self) -> NDArray[np.int64]:
        return self.places.pose

    def findings(self, setting: Setting) -> list[str]:
        """Foreign lines, and modes below the highest line of a pose that were not excited."""
        if not self.pairing:
            return []
        sentences: list[str] = []
        found = self._compute_frequencies(setting.robot, self._count)
        for pose in range(len(found)):
            rows = np.flatnonzero(self.places.pose == pose)
            for row in rows[self.mode[rows] < 0]:
                sentences.append(f"{self.lines[row]:.5g} Hz of pose {pose + 1} belongs to no mode")
            seen = set(self.mode[rows][self.mode[rows] >= 0].tolist())
            top = max(seen, default=-1)
            for mode in range(top):
                if mode not in seen:
                    sentences.append(
                        f"mode {mode + 1} of pose {pose + 1} ({found[pose, mode]:.5g} Hz) was not "
                        "excited"
                    )
        return sentences

    def missing(self) -> list[tuple[int, int]]:
        """Return (pose, mode), from 1 on, of modes below the highest line without a line."""
        out = []
        for pose in range(len(self.places.coordinates)):
            seen = set(self.mode[self.places.pose == pose].tolist()) - {-1}
            out += [(pose + 1, m + 1) for m in range(max(seen, default=-1)) if m not in seen]
        return out
