"""Static deflections of the tip under known loads; noise is constant, one size per unit.

`tip.x` .. `tip.rz` are displacements and turns from the undeformed pose, gravity included, as
`statics` has them. With reference="unloaded" they are differences from the same pose without load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...link_loads import PointLoad
from ...robot import Robot
from ...studies.statics import statics
from ..parameters import Setting
from ..tables import MeasuredTable, Places
from .experiment import Experiment, NoiseGroup

__all__ = ["StaticLoads"]

Array = NDArray[np.float64]
LOADS = ("force.x", "force.y", "force.z", "moment.x", "moment.y", "moment.z")
MOTIONS = ("tip.x", "tip.y", "tip.z", "tip.rx", "tip.ry", "tip.rz")


class StaticLoads(Experiment):
    """Motions of the tip, column by column."""

    kind = "statics"

    def __init__(
        self,
        table: MeasuredTable,
        robot: Robot,
        theta: Sequence[float] | None,
        reference: str,
        sigma: float | None,
    ) -> None:
        self.name = table.name
        self.reference = reference
        at_places = [k for k in table.columns if "@" in k and k.startswith(("force.", "moment."))]
        known = (*LOADS, *MOTIONS, *at_places, "pose", "sigma")
        self.places, passed_over = Places.of(table, robot, theta, known)
        self.notes = [f"column '{key}' of {table.name} is passed over" for key in passed_over]
        self.columns = [word for word in MOTIONS if word in table.columns]
        if not self.columns:
            raise SuppleError(f"{table.name} has none of {', '.join(MOTIONS)}: nothing to compare")
        self.wrench = np.zeros((len(table), 6))
        for k, word in enumerate(LOADS):
            if word in table.columns:
                self.wrench[:, k] = table.numbers(word)
        self.place_loads = {word: table.numbers(word) for word in at_places}
        loads = np.abs(self.wrench).sum() + sum(np.abs(v).sum() for v in self.place_loads.values())
        if not loads and not any(robot.gravity):
            raise SuppleError(f"{table.name}: no load in any row, and {robot.name} has no gravity")
        self.measured = np.concatenate([table.numbers(word) for word in self.columns])
        self.rows = len(table)
        self.groups = []
        own = table.columns.get("sigma")
        for word, of_kind in (("displacements", False), ("turns", True)):
            chosen = [
                np.arange(k * self.rows, (k + 1) * self.rows)
                for k, name in enumerate(self.columns)
                if (".r" in name) == of_kind
            ]
            if chosen:
                rows = np.concatenate(chosen)
                known_sigma = None
                if own is not None:
                    known_sigma = np.tile(table.numbers("sigma"), len(chosen))
                elif sigma is not None:
                    known_sigma = np.full(len(rows), float(sigma))
                self.groups.append(NoiseGroup(f"{word} of {self.name}", rows, known_sigma))

    def predict(self, setting: Setting) -> Array:
        moved = np.empty((self.rows, 6))
        for conditions, poses in self.places.batches().items():
            robot = setting.robot.with_(dict(conditions)) if conditions else setting.robot
            for pose in poses:
                rows = np.flatnonzero(self.places.pose == pose)
                where = {key: at[pose] for key, at in self.places.where(slice(None)).items()}
                # linear in the load: one answer per pose serves every row there
                unloaded = statics(robot, **where, points=2)
                extra = self._from_places(robot, where, rows, unloaded)
                moved[rows] = self.wrench[rows] @ unloaded.compliance.T + extra
                if self.reference == "undeformed":
                    moved[rows] += unloaded.moved
        picked = [moved[:, MOTIONS.index(word)] for word in self.columns]
        return np.concatenate(picked)

    def _from_places(
        self, robot: Robot, where: dict[str, Any], rows: NDArray[np.int64], unloaded: Any
    ) -> Array:
        """Motion of the tip by loads elsewhere than on the tip, (rows, 6)."""
        total = np.zeros((len(rows), 6))
        for word, size in self.place_loads.items():
            if not np.any(size[rows]):
                continue
            kind, _, rest = word.partition(".")
            place, _, axis = rest.rpartition(".")
            link, _, fraction = place.partition("@")
            unit = np.eye(3)["xyz".index(axis)]
            zero = np.zeros(3)
            force = unit if kind == "force" else zero
            moment = unit if kind == "moment" else zero
            load = PointLoad(link, float(fraction), force=force, moment=moment)
            found = statics(robot, **where, points=2, loads=[load])
            total += np.outer(size[rows], found.moved - unloaded.moved)
        return total

    def labels(self) -> list[str]:
        return [f"{word}, row {k + 1}" for word in self.columns for k in range(self.rows)]

    def blocks(self) -> NDArray[np.int64]:
        return np.tile(np.arange(self.rows), len(self.columns))
