"""Exporter: one way out of the house. The duties of every kind, and what each is handed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..arguments import Check
from ..beams.basis import AssumedModes, Basis, FiniteElements, per_link
from ..equations.equilibrium import assembled_pose, standing
from ..equations.model import Model
from ..errors import SuppleError
from ..files.disk import check_place, make_folder
from ..robot import Robot

__all__ = [
    "Exporter",
    "Request",
    "Written",
    "elastic_frequencies",
    "has_loops_or_branches",
    "model_frequencies",
    "model_rule",
]

Array = NDArray[np.float64]
ZERO_MODE = 1e-6  # of the highest frequency of a model: below it a mode is a rigid one


@dataclass(frozen=True)
class Request:
    """What is to be exported.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates at which frequencies are compared and from which models start.
    name : str
        Identifier for files and functions, made from the robot's name or as requested.
    count : int
        Number of frequencies that are compared.
    given_model : Model or None
        The Model, where the exporter needs one.
    q0 : ndarray or None
        State from which models start, where it was given.
    exact_hz : ndarray
        The certified frequencies at `theta`, Hz.
    options : mapping
        What was asked of this exporter besides.
    """

    robot: Robot
    theta: Array
    name: str
    count: int
    given_model: Model | None
    q0: Array | None
    exact_hz: Array
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The Model, its loops led from `theta`."""
        assert self.given_model is not None
        return standing(self.given_model, self.theta)

    @property
    def start(self) -> Array:
        """The state q from which models start, unbent at `theta` unless `q0` was given."""
        if self.q0 is not None:
            return self.q0
        return assembled_pose(self.model, self.theta)

    def error_of(self, frequency_hz: Array) -> float:
        """Largest relative difference between frequencies and the certified ones.

        Zero where nothing bends; NaN where the export has no frequencies of its own.
        """
        count = min(len(frequency_hz), len(self.exact_hz))
        if not count:
            return 0.0 if not len(self.exact_hz) else float("nan")
        return float(np.abs(frequency_hz[:count] / self.exact_hz[:count] - 1).max())

    def error_lines(self, frequency_hz: Array, rule: str) -> list[str]:
        """Sentences for the head of an exported file: its frequencies beside the certified ones."""
        if not len(self.exact_hz):
            return ["Nothing bends: there is no natural frequency to compare."]
        pose = ", ".join(f"{x:.6g}" for x in self.theta)
        found = ", ".join(f"{x:.6g}" for x in frequency_hz)
        exact = ", ".join(f"{x:.6g}" for x in self.exact_hz)
        return [
            f"Natural frequencies at theta = [{pose}], joints locked, undamped, unloaded:",
            f"  of this export: {found} Hz",
            f"  certified:      {exact} Hz",
            f"  largest relative difference: {self.error_of(frequency_hz):.3g}",
            f"  {rule}",
        ]


@dataclass(frozen=True)
class Written:
    """What an exporter has written, and the frequencies found from that, Hz.

    `notes` are sentences on what the exported thing leaves out.
    """

    files: tuple[Path, ...]
    frequency_hz: Array
    rule: str
    notes: tuple[str, ...] = ()


class Exporter(ABC):
    """A format in which robots leave. An exporter has these duties:

    1. `about`: one line for the help.
    2. `suffix`: how the written file ends; "" where it is a folder.
    3. `needs_model`: whether it takes equations of motion, made with `basis`.
    4. `options`: what it takes besides, each with the check of its value.
    5. `refuse(robot)` raises a SuppleError when the format cannot hold the robot, with a way round.
    6. `write(request, path)` writes, and reads back or runs what was written for its frequencies.
    """

    about: ClassVar[str]
    suffix: ClassVar[str] = ""
    needs_model: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Check]] = {}

    def refuse(self, robot: Robot) -> None:  # noqa: B027 - most formats hold every robot
        """Raise a SuppleError when the format cannot hold the robot."""

    @abstractmethod
    def write(self, request: Request, path: Path) -> Written:
        """Write the robot and return what was written."""

    def place(self, path: str | Path) -> Path:
        """Return where to write, refused in a sentence before anything is computed."""
        if not self.suffix:
            return make_folder(path)
        place = check_place(path)
        if place.suffix.lower() != self.suffix:
            raise SuppleError(
                f"path is {place}: this export is one file; give a name that ends in {self.suffix}"
            )
        return place


def has_loops_or_branches(robot: Robot) -> bool:
    """Whether loops or several carried links load the ends of its links.

    Natural shapes of a link with a body at its end have next to no moment there, so that they
    converge slowly under such loads. Elements have every end load exactly.
    """
    form = architecture_of(robot).form
    carriers = [parent for parent in form.parents if parent >= 0]
    return bool(form.closures) or len(set(carriers)) < len(carriers)


def model_rule(robot: Robot, basis: Basis | None) -> str:
    """Return the sentence that says which basis makes the error of an exported Model smaller."""
    if isinstance(basis, AssumedModes) and not has_loops_or_branches(robot):
        most = max(per_link(basis.count, i) for i in range(len(architecture_of(robot).form.links)))
        return f"It is that of the Model: basis=supple.AssumedModes({max(2 * most, 2)}) lessens it."
    finer = 4 if architecture_of(robot).planar else 2
    if isinstance(basis, FiniteElements):
        finer = 2 * (basis.count if isinstance(basis.count, int) else max(basis.count))
    return (
        f"It is that of the Model: basis=supple.FiniteElements({finer}) lessens it, and twice as "
        "many elements divide it by four or more."
    )


def elastic_frequencies(mass: Array, stiffness: Array, count: int) -> Array:
    """Return the lowest nonzero natural frequencies of M and K, Hz.

    Parameters
    ----------
    mass, stiffness : ndarray
        (n, n) matrices of the coordinates that are free to move.
    count : int
        How many to return at most.
    """
    from scipy.linalg import eigh

    if not len(mass):
        return np.zeros(0)
    # Coordinates of unlike units are brought to a unit diagonal first
    scale = 1 / np.sqrt(np.diag(mass))
    scaling = np.outer(scale, scale)
    squares = eigh(stiffness * scaling, mass * scaling, eigvals_only=True)
    omega = np.sqrt(np.maximum(squares, 0.0))
    elastic = omega[omega > ZERO_MODE * omega[-1]]
    return np.asarray(elastic[:count] / (2 * np.pi))


def model_frequencies(mass: Array, stiffness: Array, joints: int, count: int) -> Array:
    """Return frequencies of a Model's M and K with its motors locked, Hz; theta comes first in q.

    A coordinate that is loose and massless in this pose is left out.
    """
    return elastic_frequencies(mass[joints:, joints:], stiffness[joints:, joints:], count)
