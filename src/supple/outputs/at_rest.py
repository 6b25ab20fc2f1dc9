"""Rest: what outputs read of a robot at rest, bent by its weight and a load on its tip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..beams.theory import AnyBeam
from ..errors import SuppleError
from ..kernels.spatial import rpy_rotation, vector_rotation
from ..robot import JointedLink, Robot
from ..structure import Structure

__all__ = ["Rest", "RestPlace"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RestPlace:
    """A section at rest.

    Attributes
    ----------
    beam
        Of its segment, what is out of a hub.
    x
        m from its root.
    length
        m, of the whole link.
    carried
        (6,), force and moment of the outer part on the inner one, section axes.
    R
        (3, 3), section axes in base axes, turned by the sag.
    p
        (3,), its place, base axes.
    """

    beam: AnyBeam
    x: float
    length: float
    carried: Array
    R: Array
    p: Array


@dataclass(frozen=True)
class Rest:
    """A robot at rest at one configuration.

    Attributes
    ----------
    structure
        Where it is.
    gravity
        (3,).
    theta
        Of the motors.
    tip
        (6,), how the tip moves, base axes.
    state
        (i, x) to the (12,) motion and resultants of a section of segment i, its axes.
    root
        (n, 6), what each segment's root carries, force and moment on the link.
    """

    robot: Robot
    structure: Structure
    gravity: Array
    theta: Array
    tip: Array
    state: Callable[[int, float], Array]
    root: Array

    def index(self, link: str) -> int:
        """Return the place of a link among the segments, or say which there are."""
        return self.structure.pieces(link)[0]

    def place(self, link: str, fraction: float) -> RestPlace:
        """Return the section at a fraction of a link's length."""
        i, x = self.structure.section(link, fraction)
        L = float(self.structure.L[0, i])
        length = float(self.structure.L[0, self.structure.pieces(link)].sum())
        found = self.state(i, x)
        R = self.structure.R[0, i]
        a, b, c = found[3:6]
        turned = np.eye(3) + np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        p = self.structure.p[0, i] + R @ (found[:3] + np.array([x, 0, 0]))
        beam = self.structure.segments[i].beam.outside(L)
        return RestPlace(beam, x, length, found[6:], R @ turned, p)

    def reaction(self, joint: str) -> Array:
        """Return force and moment on a link at its joint, (6,), mounted axes, unbent."""
        i = self.index(joint)
        described: Any = architecture_of(self.robot).part_of_segment(joint)
        segment = self.structure.segments[i]
        R = self.structure.R[0]
        if isinstance(described, JointedLink):
            up = np.eye(3)
            if segment.parent >= 0:
                up = R[segment.parent] @ self.structure.segments[segment.parent].R_LS.T
            turn = (up @ rpy_rotation(described.joint.mount.rpy)).T @ R[i]
        else:  # the motor of a leg, about its y
            turn = vector_rotation(np.array([0.0, self.motor(joint), 0.0])) @ segment.R_LS
        return np.concatenate([turn @ self.root[i, :3], turn @ self.root[i, 3:]])

    def motor(self, joint: str) -> float:
        """Return a motor's coordinate."""
        names = [name for name, _ in architecture_of(self.robot).motors]
        if joint not in names:
            raise SuppleError(f"there is no motor '{joint}': the motors are {', '.join(names)}")
        return float(self.theta[names.index(joint)])
