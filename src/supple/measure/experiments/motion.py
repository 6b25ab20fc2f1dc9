"""Time histories: the torques that were applied, and what sensors read.

The model starts from rest at the first row; torques are linear between rows. Noise of each column
is white with a constant size. Angles of the first row that are not round are readings like all
others: the angle at which the robot really started is then fitted too, as `theta0.LINK`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.basis import AssumedModes, Basis
from ...equations.build import build
from ...errors import SuppleError
from ...outputs.kinds import Acceleration, Accelerometer, Gyroscope, Moment, Strain, Tip
from ...robot import Robot
from ...studies.design.varied import coordinate_names
from ...studies.motion.simulate import simulate
from ..parameters import Setting
from ..tables import MOST_TURNS, MeasuredTable
from .experiment import Experiment, NoiseGroup

__all__ = ["MotionRecord"]

Array = NDArray[np.float64]
PLACED = {
    "strain": Strain,
    "accelerometer": Accelerometer,
    "acceleration": Acceleration,
    "gyroscope": Gyroscope,
    "moment": Moment,
}
WORD = re.compile(r"(\w+)\.(.+?)(?:@([0-9.eE+-]+))?(?:\.([xyz]))?$")


class MotionRecord(Experiment):
    """Columns of readings over time, one after the other."""

    kind = "motion"

    def __init__(
        self,
        table: MeasuredTable,
        robot: Robot,
        basis: Basis | None,
        theta0: Sequence[float] | None,
        sigma: float | None,
    ) -> None:
        self.name = table.name
        self.basis = basis
        names = coordinate_names(robot)
        time = "t" if "t" in table.columns else "time"
        if time not in table.columns:
            raise SuppleError(f"{table.name} has no column t: time in seconds")
        self.t = table.numbers(time)
        back = np.flatnonzero(np.diff(self.t) <= 0)
        if len(back):
            k = int(back[0])
            raise SuppleError(
                f"{table.name}: t goes from {self.t[k]:.9g} to {self.t[k + 1]:.9g} s in row "
                f"{k + 2}: it must rise"
            )
        if len(self.t) < 4:
            raise SuppleError(f"{table.name} has {len(self.t)} rows: a motion needs four or more")
        self.tau = np.zeros((len(self.t), len(names)))
        self.columns: list[str] = []
        self.outputs: dict[str, Any] = {}
        self.component: dict[str, tuple[str, int]] = {}
        self.notes = []
        for key in table.columns:
            head, _, rest = key.partition(".")
            if key == time or key.startswith("sigma."):
                continue
            if head == "tau":
                if rest not in names:
                    raise SuppleError(
                        f"{table.name}: column '{key}' is no motor of {robot.name}: it has "
                        f"{', '.join(names)}"
                    )
                self.tau[:, names.index(rest)] = table.numbers(key)
            elif head == "theta":
                if rest not in names:
                    raise SuppleError(
                        f"{table.name}: column '{key}' is no joint of {robot.name}: it has "
                        f"{', '.join(names)}"
                    )
                values = table.numbers(key)
                if np.abs(values).max() > 5 * MOST_TURNS:
                    raise SuppleError(
                        f"{table.name}: '{key}' goes up to {np.abs(values).max():.4g} rad: if "
                        f"these are degrees, name the column '{key} [deg]'"
                    )
                self.columns.append(key)
            elif self._sensor(key, robot):
                self.columns.append(key)
            else:
                self.notes.append(f"column '{key}' of {table.name} is passed over")
        if not self.columns:
            raise SuppleError(
                f"{table.name} has no readings: give theta.LINK, tip.x, strain.LINK@0.1 or "
                "accelerometer.LINK@1.x beside t and tau.LINK"
            )
        self.names = names
        self.measured = np.concatenate([table.numbers(key) for key in self.columns])
        N = len(self.t)
        self.groups = []
        for k, key in enumerate(self.columns):
            rows = np.arange(k * N, (k + 1) * N)
            known = None if sigma is None else np.full(N, float(sigma))
            if f"sigma.{key}" in table.columns:
                known = table.numbers(f"sigma.{key}")
            self.groups.append(NoiseGroup(key, rows, known))

        # Where the robot starts
        self.fitted_start: dict[str, float] = {}
        self.theta0 = np.zeros(len(names))
        if theta0 is not None:
            self.theta0 = np.asarray(theta0, float)
            if self.theta0.shape != (len(names),):
                raise SuppleError(f"theta0 has {self.theta0.size} values, {len(names)} are needed")
        else:
            for k, name in enumerate(names):
                column = f"theta.{name}"
                if column in self.columns:
                    first = float(table.numbers(column)[0])
                    self.theta0[k] = first
                    if first != round(first, 6):
                        self.fitted_start[f"theta0.{name}"] = first
        steps = np.diff(self.t)
        self.even = bool(np.ptp(steps) <= 1e-6 * steps.mean() + 4e-16 * np.abs(self.t).max())
        self.step = float(steps.mean() if self.even else steps.min())

    def _sensor(self, key: str, robot: Robot) -> bool:
        """Take a column that is an output of a run; False where it is none."""
        if key in ("tip.x", "tip.y", "tip.z"):
            self.outputs["tip"] = Tip()
            self.component[key] = ("tip", "xyz".index(key[-1]))
            return True
        found = WORD.fullmatch(key)
        if not found or found.group(1) not in PLACED:
            return False
        kind, link, fraction, axis = found.groups()
        place = float(fraction) if fraction else (0.0 if kind == "strain" else 1.0)
        word = f"{kind}.{link}@{place:g}"
        self.outputs[word] = PLACED[kind](link, place)
        if axis is None and kind != "strain":
            raise SuppleError(f"column '{key}': say which axis, such as '{key}.x'")
        self.component[key] = (word, "xyz".index(axis) if axis else 0)
        return True

    def predict(self, setting: Setting) -> Array:
        theta0 = self.theta0.copy()
        for k, name in enumerate(self.names):
            theta0[k] = setting.values.get(f"theta0.{name}", theta0[k])
        elastic = AssumedModes(2) if self.basis is None else self.basis
        t = self.t - self.t[0]
        delays = [setting.sensor(key, "delay") for key in self.columns]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = build(setting.robot, elastic, modal_damping=setting.modal_damping)
            start: Any = np.zeros(model.size)
            start[: len(theta0)] = theta0
            begin: dict[str, Any] = {"q0": start}
            if any(setting.robot.gravity):
                begin = {"q0": "static", "theta0": theta0}
            run = simulate(
                model,
                tau=(t, self.tau),
                duration=float(t[-1]),
                dt=self.step,
                outputs=self.outputs or None,
                limits=False,
                progress=False,
                **begin,
            )
        columns = []
        for key, delay in zip(self.columns, delays, strict=True):
            if key.startswith("theta."):
                values = run.theta[:, self.names.index(key[6:])]
            else:
                word, component = self.component[key]
                read = np.asarray(run.outputs[word])
                values = read if read.ndim == 1 else read[:, component]
            if delay or not self.even or len(run.t) != len(t):
                from scipy.interpolate import CubicSpline

                values = CubicSpline(run.t, values)(np.clip(t - delay, 0.0, run.t[-1]))
            gain = setting.sensor(key, "gain")
            bias = setting.sensor(key, "bias")
            columns.append(gain * values + bias)
        return np.concatenate(columns)

    def labels(self) -> list[str]:
        return [f"{key} at {t:.5g} s" for key in self.columns for t in self.t]

    def blocks(self) -> NDArray[np.int64]:
        return np.tile(np.arange(len(self.t)), len(self.columns))

    def figure(self, setting: Setting) -> dict[str, Any]:
        return {"x": np.tile(self.t, len(self.columns)), "label": "time (s)"}
