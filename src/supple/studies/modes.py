"""How does it vibrate here: natural frequencies and mode shapes at a Configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures.serial import configuration
from ..errors import SuppleError
from ..kernels.roots import natural_frequencies
from ..robot import Robot, SerialRobot
from ..structure import Joints, Structure, structure_of
from .shapes import Shapes, exact_shapes

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

__all__ = ["Method", "Modes", "modes"]

Array = NDArray[np.float64]
Method = Literal["exact", "elements", "assumed"]
WIDTH = 1e-9  # a root is certified when its bracket is narrower than this, relative


@dataclass(frozen=True)
class Modes:
    """Natural frequencies, and on demand shapes, of a robot at one or many configurations.

    Attributes:
        robot: the robot asked about.  theta: (joints,) or (B, joints).  method, joints: as asked.
        omega: (count,) or (B, count), rad/s, elastic modes only.  rigid_modes: how many zero ones
        there are beside them.  width: relative width of the certified bracket around each root
        (zero width is not claimed: infinite for methods that certify nothing).
    """

    robot: Robot
    theta: Array
    method: str
    joints: str
    omega: Array
    width: Array
    rigid_modes: int
    structure: Structure = field(repr=False)

    if TYPE_CHECKING:  # bound in answers.py

        def plot(self, path: Any = None, **options: Any) -> Figure: ...
        def to_xarray(self) -> xarray.Dataset: ...

    @property
    def frequency_hz(self) -> Array:
        """Natural frequencies in Hz, shaped as omega."""
        hertz: Array = self.omega / (2 * math.pi)
        return hertz

    @property
    def certified(self) -> bool:
        """Whether every root is proven to be the one of its number, by the Wittrick-Williams count."""
        return bool((self.width <= WIDTH).all())

    @cached_property
    def shapes(self) -> Shapes:
        """Mode shapes with 21 stations a link; `shape(points)` gives any number."""
        return self.shape(21)

    def shape(self, points: int) -> Shapes:
        """Return the mode shapes at `points` stations along every link, of one configuration."""
        if self.omega.ndim > 1:
            raise SuppleError("shapes are of one configuration: ask modes.at(b).shapes")
        return exact_shapes(self.structure, self.omega, points)

    @property
    def kind(self) -> list[str]:
        """What each mode is: where most of its strain energy sits."""
        return [self.shapes.kind(mode) for mode in range(len(self.omega))]

    def at(self, b: int) -> Modes:
        """Return configuration b of a batch."""
        return Modes(
            self.robot,
            self.theta[b],
            self.method,
            self.joints,
            self.omega[b],
            self.width[b],
            self.rigid_modes,
            self.structure.at(b),
        )


def modes(
    robot: Robot,
    theta: ArrayLike | None = None,
    count: int = 10,
    method: Method = "exact",
    joints: Joints = "locked",
) -> Modes:
    """Return the first `count` elastic natural frequencies of a robot at theta.

    theta is (joints,), or (B, joints) for many configurations at once; None means all zero.
    `exact` solves the beam equations and certifies every root.
    """
    _check(count, method, joints)
    structure = structure_of(robot, theta, joints)
    if all(s.beam.rigid and not _sprung(s.releases) for s in structure.segments):
        raise SuppleError(f"{robot.name} has nothing elastic: all links are rigid, no joint sprung")
    single = theta is None or np.ndim(theta) == 1
    found = natural_frequencies(structure.tree(), count, structure.rigid_modes, _guess(structure))
    if not np.isfinite(found.omega).all():
        raise SuppleError(f"{robot.name}: a free joint carries no inertia, so its motion is not defined")
    take = 0 if single else slice(None)
    given = configuration(robot, theta) if isinstance(robot, SerialRobot) else np.asarray(theta)
    return Modes(
        robot,
        given[take],
        method,
        joints,
        found.omega[take],
        found.width[take],
        structure.rigid_modes,
        structure,
    )


def _sprung(releases: object) -> bool:
    return any(r.stiffness > 0 for r in releases)  # type: ignore[attr-defined]


def _check(count: int, method: str, joints: str) -> None:
    if not isinstance(count, int) or not 1 <= count <= 10_000:
        raise SuppleError(f"count is {count}: give a whole number from 1 to 10000")
    if method not in ("exact", "elements", "assumed"):
        raise SuppleError(f"method is '{method}': it must be exact, elements or assumed")
    if joints not in ("locked", "free"):
        raise SuppleError(f"joints is '{joints}': it must be locked or free")


def _guess(structure: Structure) -> float:
    """A first frequency to look at, from the robot alone: the softest beam as a cantilever."""
    guesses = [1e3]
    for segment in structure.segments:
        beam = segment.beam
        finite = [EI for EI in beam.EI if math.isfinite(EI)]
        if finite and beam.L > 0:
            guesses.append(3.5 * math.sqrt(min(finite) / (beam.m * beam.L**4)))
    return min(guesses[1:], default=guesses[0])
