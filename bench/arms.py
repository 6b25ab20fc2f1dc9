"""The arms and poses of the benches, and their plain numbers as another engine wants them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import supple
from supple.beams.theory import Beam
from supple.beams.varying import beam_of

__all__ = ["SPATIAL", "PlainArm", "plain", "poses", "rotation"]

SPATIAL = Path(__file__).parent / "robots" / "spatial-6.yaml"


@dataclass(frozen=True)
class PlainArm:
    """What a peer is given: beams, end bodies and joint geometry, nothing computed by supple.

    Attributes
    ----------
    beams
        Stiffnesses and masses a length.
    tips
        (n, 2) mass and inertia (about z if planar, else about any axis).
    mounts
        (n, 3, 3).
    axes
        (n, 3).
    """

    planar: bool
    beams: tuple[Beam, ...]
    tips: tuple[tuple[float, float], ...]
    mounts: np.ndarray
    axes: np.ndarray

    def turns(self, theta: np.ndarray) -> np.ndarray:
        """Return each link's axes seen from the link before, (n, 3, 3)."""
        return self.mounts @ rotation(self.axes, theta)


def plain(robot: supple.SerialRobot) -> PlainArm:
    """Return a robot's numbers; joints turn, bodies sit on link ends, alike about all axes."""
    links = robot.links
    return PlainArm(
        robot.planar,
        tuple(beam_of(robot, link) for link in links),
        tuple((link.tip.mass, link.tip.inertia[0]) if link.tip else (0.0, 0.0) for link in links),
        np.array([_mounted(*link.joint.mount.rpy) for link in links]),
        np.array([link.joint.direction for link in links]),
    )


def _mounted(roll: float, pitch: float, yaw: float) -> np.ndarray:
    x, y, z = rotation(np.eye(3), np.array([roll, pitch, yaw]))
    return z @ y @ x


def rotation(axes: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return rotations by angles (n,) about unit axes (n, 3), by Rodrigues' formula, (n, 3, 3)."""
    K = np.zeros((len(axes), 3, 3))
    K[:, (2, 0, 1), (1, 2, 0)] = axes
    K[:, (1, 2, 0), (2, 0, 1)] = -axes
    s = np.sin(angles)[:, None, None]
    c = np.cos(angles)[:, None, None]
    return np.eye(3) + s * K + (1 - c) * (K @ K)


def poses(joints: int, count: int, seed: int = 2011) -> np.ndarray:
    """Return random configurations (count, joints) between -150 and 150 degrees, seed fixed."""
    return np.random.default_rng(seed).uniform(-2.6, 2.6, (count, joints))
