"""Damping ratios of measured lines, beside their frequencies.

A link with the damping ratio zeta has the loss factor 2 zeta, so that a mode has the ratio
sum zeta_i U_i / U over the links' parts U_i of its strain energy; springs of joints lose nothing.
Noise is constant, estimated or given by `std_damping`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...studies.vibration.modes import modes
from ..parameters import Setting
from ..tables import MeasuredTable
from .experiment import Experiment, NoiseGroup
from .frequencies import Frequencies

__all__ = ["Dampings", "link_damping_ratios"]

Array = NDArray[np.float64]


class Dampings(Experiment):
    """The `damping_ratio` column of a table of frequencies; empty fields are left out."""

    kind = "frequencies"

    def __init__(self, table: MeasuredTable, lines: Frequencies) -> None:
        self.name = table.name
        self.lines = lines
        self.notes = []
        ratios = table.columns["damping_ratio"]
        if isinstance(ratios, list):
            raise SuppleError(f"{table.name}: column 'damping_ratio' holds words: give numbers")
        self.rows = np.flatnonzero(np.isfinite(ratios))
        self.measured = np.asarray(ratios[self.rows], float)
        if (np.abs(self.measured) >= 1).any():
            row = int(self.rows[np.flatnonzero(np.abs(self.measured) >= 1)[0]]) + 1
            raise SuppleError(
                f"{table.name}: damping_ratio is {ratios[row - 1]:g} in row {row}: it must be a "
                "fraction of critical damping below 1; per cent are divided by 100"
            )
        deviation = None
        if "std_damping" in table.columns:
            deviation = table.numbers("std_damping")[self.rows]
            if (deviation <= 0).any():
                raise SuppleError(f"{table.name}: std_damping must be positive")
        own = np.arange(len(self.rows))
        self.groups = [NoiseGroup(f"damping ratios of {self.name}", own, deviation)]

    def predict(self, setting: Setting) -> Array:
        """Return the ratio of each line's mode; NaN for lines that belong to none."""
        predicted = np.full(len(self.rows), np.nan)
        mode = self.lines.mode[self.rows]
        if setting.modal_damping is not None:
            predicted[mode >= 0] = setting.modal_damping
            return predicted
        places = self.lines.places
        pose = places.pose[self.rows]
        for conditions, poses in places.batches().items():
            robot = setting.robot.with_(dict(conditions)) if conditions else setting.robot
            for each in poses:
                here = np.flatnonzero((pose == each) & (mode >= 0))
                if len(here):
                    ratios = self._of_modes(robot, int(each), int(mode[here].max()) + 1)
                    predicted[here] = ratios[mode[here]]
        return predicted

    def _of_modes(self, robot: Robot, pose: int, count: int) -> Array:
        """Damping ratios of the first modes at a pose, (count,)."""
        where = {key: at[pose] for key, at in self.lines.places.where(slice(None)).items()}
        found = modes(robot, **where, count=count, joints=self.lines.joints)
        by_link = found.energy_shares[:, :, :-1].sum(axis=2)  # the last kind is that of joints
        of_links = link_damping_ratios(robot)
        ratio = [_ratio_of(segment.name, of_links) for segment in found.structure.segments]
        return np.asarray(by_link @ np.array(ratio))

    def labels(self) -> list[str]:
        words = self.lines.labels()
        return [f"{words[row]}, damping" for row in self.rows]

    def blocks(self) -> NDArray[np.int64]:
        return np.asarray(self.lines.places.pose[self.rows])


def link_damping_ratios(robot: Robot) -> dict[str, float]:
    """Return the damping ratio of every elastic link by name: its own, or its material's."""
    ratios: dict[str, float] = {}
    for path, link in architecture_of(robot).parts().items():
        if link.rigid:
            continue
        material = robot.material(link)
        ratio = link.damping_ratio
        if ratio is None and material is not None:
            ratio = material.damping_ratio
        ratios[path.rpartition(".")[2]] = ratio or 0.0
    return ratios


def _ratio_of(segment: str, of_links: dict[str, float]) -> float:
    """The ratio of a link, of a piece of it (boom@0.9), or of a leg of a Delta (upper2)."""
    output_name = segment.partition("@")[0]
    for name in (output_name, output_name.rstrip("0123456789")):
        if name in of_links:
            return of_links[name]
    return 0.0


def wants_dampings(table: MeasuredTable, parameters: Sequence[str]) -> bool:
    """Whether a table holds damping ratios, and a parameter that changes them is free."""
    if "damping_ratio" not in table.columns:
        return False
    return any(name.rpartition(".")[2] == "damping_ratio" for name in parameters)
