"""A path of a platform, or of a tip, as the motion of the motors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from ..answers.immutable import frozen_property
from ..architectures.assembling import resolve
from ..architectures.delta_motion import motion
from ..architectures.kinds import architecture_of, tree_at_assembly
from ..architectures.posing import configurations_of_tip, configurations_of_tip_motion, inverse
from ..architectures.tree import Tree, place_links
from ..errors import SuppleError
from ..robot import DeltaRobot, Robot, a_robot
from .trajectories import CirclePath, InvertedU, Trajectory

__all__ = ["PlatformPath", "leads_platform"]

Array = NDArray[np.float64]
KNOTS = 33  # poses solved one after another on every stretch between two breaks
LEAP = 0.5  # rad or m: a joint that moves more from knot to knot is lost
MET = 1e-9  # of the robot's size: where the tip is met


@dataclass(frozen=True)
class PlatformPath(Trajectory):
    """Motor motion of a rigid robot whose platform or tip follows a path.

    Parameters
    ----------
    robot : Robot
        A Delta (solved in closed form), or an arm or mechanism with as many motors as its tip has
        coordinates, 2 in the plane or 3 in space (solved by Newton's method along the path).
    path : Trajectory
        Path of x, y, z (x, y in the plane), base axes, m: `CirclePath`, `InvertedU`, `WayPoints`,
        ...

    Examples
    --------
    >>> import supple
    >>> motors = supple.PlatformPath(supple.load("kuo-delta"), supple.CirclePath())
    >>> motors.at(0.1)[0].shape
    (3,)
    """

    robot: Robot
    path: Trajectory
    smooth = True

    checks: ClassVar = {"robot": a_robot}

    def __post_init__(self) -> None:
        """Check that it is a path for the robot, and that it can be followed."""
        super().__post_init__()
        kind = architecture_of(self.robot)
        words, size = ("x, y", 2) if kind.planar else ("x, y, z", 3)
        if len(kind.drives) != size:
            raise SuppleError(
                f"{self.robot.name} has {len(kind.drives)} "
                f"motor{'' if len(kind.drives) == 1 else 's'} for {size} coordinates of its tip: "
                "lead its motors with a trajectory"
            )
        if not isinstance(self.path, Trajectory) or self.path(0.0)[0].shape != (size,):
            such = (
                "supple.InvertedU()" if size == 3 else "supple.PointToPoint([0, 0.3], [0.1, 0.3])"
            )
            raise SuppleError(f"path must be a Trajectory of {words}, such as {such}")
        if kind.asked_by == "position":
            return
        self._knots  # noqa: B018  a path that cannot be followed is refused here

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of the motors."""
        return tuple(name for name, _ in architecture_of(self.robot).motors)

    @property
    def periodic(self) -> bool:  # type: ignore[override]
        """Whether the path repeats."""
        return self.path.periodic

    @property
    def duration(self) -> float:
        return self.path.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.path.breaks

    @property
    def seams(self) -> tuple[float, ...]:
        return self.path.seams

    @property
    def _geometry(self) -> Tree:
        return tree_at_assembly(self.robot)

    @frozen_property
    def _knots(self) -> tuple[Array, Array]:
        """Times (K,) and whole configurations (K, ..), one solved after the other."""
        m = self._geometry
        T = self.duration
        edges = sorted({0.0, *(t for t in self.breaks if 0 < t < T), T})
        t = np.unique(np.concatenate([np.linspace(a, b, KNOTS) for a, b in pairwise(edges)]))
        P = self.path(t)[0]
        first, reason = inverse(m, P[:1])
        found = [first[0]]
        if not reason[0]:  # theta alone must say where its loops stand
            x, reason = resolve(m, first[0, m.driven])
            tip = place_links(m, x).frame(m.form.tip_index, None, np.eye(3), np.zeros(3))[1]
            if not reason[0] and np.abs(tip[0, : P.shape[1]] - P[0]).max() > MET * m.size:
                reason = np.array(["its loops are assembled otherwise at these motor coordinates"])
        if reason[0]:
            raise SuppleError(f"path begins at {P[0].tolist()}: {reason[0]}; begin elsewhere")
        for k in range(1, len(t)):
            x, far = configurations_of_tip(m, P[k : k + 1], None, found[-1])
            if far[0] > MET * m.size or np.abs(x[0] - found[-1]).max() > LEAP:
                raise SuppleError(
                    f"path leaves what {self.robot.name} can reach, or meets a singular pose, at "
                    f"{np.round(P[k], 6).tolist()} after {t[k]:.4g} s: lead it elsewhere"
                )
            found.append(x[0])
        return t, np.array(found)

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        if architecture_of(self.robot).asked_by == "position":
            return motion(cast("DeltaRobot", self.robot), *self.path.at(t)).theta
        m, (known, poses) = self._geometry, self._knots
        guesses = np.stack([np.interp(t, known, column) for column in poses.T], axis=1)
        found: Any = configurations_of_tip_motion(m, guesses, *self.path.at(t))
        return tuple(part[:, m.driven] for part in found)


def leads_platform(trajectory: object) -> bool:
    """Whether a trajectory can be that of a platform only."""
    return isinstance(trajectory, CirclePath | InvertedU)
