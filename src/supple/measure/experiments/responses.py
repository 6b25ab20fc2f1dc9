"""Frequency responses measured between places of a robot.

Real and imaginary parts carry the same noise. With a `coherence` column its size is
|H| sqrt((1 - c) / (2 c)) times a factor that is estimated; without, it is constant plus a share of
|H|, both estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...outputs.kinds import Acceleration, Moment, Strain
from ...robot import Robot
from ...studies.vibration.response import response
from ..parameters import Setting
from ..tables import MeasuredTable, Places
from .dampings import link_damping_ratios
from .experiment import Experiment, NoiseGroup

__all__ = ["Responses"]

Array = NDArray[np.float64]
KNOWN = ("frequency_hz", "input", "output", "real", "imag", "coherence", "pose")


class Responses(Experiment):
    """Complex values at frequencies; real parts first, then imaginary ones."""

    kind = "response"

    def __init__(
        self,
        table: MeasuredTable,
        robot: Robot,
        theta: Sequence[float] | None,
        joints: Any,
        damping: str | None,
        sigma: float | None,
    ) -> None:
        self.name = table.name
        self.joints = joints
        self.damping = damping
        self.places, passed_over = Places.of(table, robot, theta, KNOWN)
        self.notes = [f"column '{key}' of {table.name} is passed over" for key in passed_over]
        for word in ("frequency_hz", "real", "imag", "input", "output"):
            if word not in table.columns:
                raise SuppleError(f"{table.name} has no column {word}: a response needs it")
        self.f = table.numbers("frequency_hz")
        if (self.f < 0).any():
            raise SuppleError(f"{table.name}: frequency_hz is negative in some rows")
        self.inputs = [str(word) for word in table.columns["input"]]
        self.outputs = [str(word) for word in table.columns["output"]]
        H = table.numbers("real") + 1j * table.numbers("imag")
        self.measured = np.concatenate([H.real, H.imag])
        self.size = len(H)
        self.groups = []
        coherence = table.columns.get("coherence")
        for pair in dict.fromkeys(zip(self.inputs, self.outputs, strict=True)):
            here = [p == pair for p in zip(self.inputs, self.outputs, strict=True)]
            rows = np.flatnonzero(here)
            both = np.concatenate([rows, rows + self.size])
            word = f"{pair[1]} / {pair[0]}"
            if sigma is not None:
                self.groups.append(NoiseGroup(word, both, np.full(len(both), float(sigma))))
            elif coherence is not None:
                c = np.clip(table.numbers("coherence")[rows], 1e-3, 1 - 1e-6)
                weight = np.abs(H[rows]) * np.sqrt((1 - c) / (2 * c))
                self.groups.append(NoiseGroup(word, both, weight=np.tile(weight, 2)))
            else:
                self.groups.append(NoiseGroup(word, both, mixed=True))

    def predict(self, setting: Setting) -> Array:
        H = np.empty(self.size, complex)
        for conditions, poses in self.places.batches().items():
            robot = setting.robot.with_(dict(conditions)) if conditions else setting.robot
            damped = damping_of(robot, self.damping, setting.modal_damping)
            for pose in poses:
                rows = np.flatnonzero(self.places.pose == pose)
                H[rows] = self._one(robot, int(pose), rows, damped)
        return np.concatenate([H.real, H.imag])

    def _one(
        self, robot: Robot, pose: int, rows: NDArray[np.int64], damped: dict[str, Any]
    ) -> NDArray[np.complex128]:
        """The rows of one pose."""
        f, at_frequency = np.unique(self.f[rows], return_inverse=True)
        inputs = list(dict.fromkeys(self.inputs[k] for k in rows))
        words = list(dict.fromkeys(self.outputs[k] for k in rows))
        outputs = []
        column = {}
        count = 0
        for word in words:
            output, component, wide = response_output(word)
            column[word] = count + component
            outputs.append(output)
            count += wide
        where = {key: at[pose] for key, at in self.places.where(slice(None)).items()}
        found = response(
            robot,
            **where,
            frequency_hz=f,
            inputs=inputs,
            outputs=outputs,
            joints=self.joints,
            **damped,
        )
        out = np.empty(len(rows), complex)
        for k, row in enumerate(rows):
            out[k] = found.values[
                at_frequency[k], column[self.outputs[row]], inputs.index(self.inputs[row])
            ]
        return out

    def labels(self) -> list[str]:
        channels = [
            f"{o} / {i} at {f:.5g} Hz"
            for o, i, f in zip(self.outputs, self.inputs, self.f, strict=True)
        ]
        return [f"{word}, real" for word in channels] + [f"{word}, imaginary" for word in channels]

    def blocks(self) -> NDArray[np.int64]:
        return np.tile(np.arange(self.size), 2)

    def figure(self, setting: Setting) -> dict[str, Any]:
        return {"x": np.tile(self.f, 2), "label": "frequency (Hz)"}


def response_output(word: str) -> tuple[Any, int, int]:
    """Return an output of `response` by its word, the component meant, and how many it has."""
    kind, _, rest = word.partition(".")
    place, _, axis = rest.rpartition(".")
    if kind == "acceleration" and axis in ("x", "y", "z") and place:
        link, _, fraction = place.partition("@")
        return Acceleration(link, float(fraction or 1.0)), "xyz".index(axis), 3
    if kind == "strain" and rest:
        link, _, fraction = rest.partition("@")
        return Strain(link, float(fraction or 0.0)), 0, 1
    if kind == "moment" and axis in ("x", "y", "z") and "@" in place:
        link, _, fraction = place.partition("@")
        return Moment(link, float(fraction)), "xyz".index(axis), 3
    return word, 0, 1


def damping_of(robot: Robot, kind: str | None, modal: float | None) -> dict[str, Any]:
    """Return the damping that `response` takes: structural of the links, or modal."""
    if kind == "modal" or (kind is None and modal is not None):
        if modal is None:
            raise SuppleError('damping is "modal": make damping_ratio free, or give it in start=')
        return {"modal_damping": modal}
    ratios = link_damping_ratios(robot)
    if len(set(ratios.values())) <= 1:
        return {"structural_damping": 2 * next(iter(ratios.values()), 0.0)}
    each = ", ".join(f"{link} {value:g}" for link, value in ratios.items())
    raise SuppleError(
        f"damping_ratio differs between links ({each}): a response has one loss factor; give all "
        'links the same one, tie them with ties=, or use damping="modal"'
    )
