"""The second peer: OpenSeesPy with Timoshenko elements and consistent masses.

An element takes its geometry when it enters the domain, so every pose builds its model anew, as
OpenSees users do. Of its two eigenvalue solvers that take consistent masses the faster one counts.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .arms import PlainArm
from .timing import stopwatch

__all__ = ["OpenSeesArm", "opensees"]

SOLVERS = ("-genBandArpack", "-fullGenLapack")


def opensees() -> ModuleType | None:
    """Return the engine, quiet, or None where it is not installed or cannot be loaded.

    Its wheel brings a BLAS that its own LAPACK does not find: it is loaded first.
    """
    spec = importlib.util.find_spec("openseespylinux")
    if spec is not None and spec.origin is not None:
        for name in ("libquadmath.so.0", "libgfortran.so.4", "libblas.so.3"):
            path = Path(spec.origin).parent / "lib" / name
            if path.exists():
                ctypes.CDLL(str(path))
    try:
        import openseespy.opensees as ops
    except (ImportError, RuntimeError):
        return None
    ops.logFile(os.devnull, "-noEcho")
    return ops


class OpenSeesArm:
    """Natural frequencies of an arm by `elements` equal elements per link."""

    def __init__(self, ops: ModuleType, arm: PlainArm, elements: int) -> None:
        self.ops = ops
        self.arm = arm
        self.elements = elements
        self.solver = SOLVERS[0]
        theta = np.full(len(arm.beams), 0.7)
        self.solver = min(SOLVERS, key=lambda solver: self._trial(theta, solver))

    def _trial(self, theta: np.ndarray, solver: str) -> float:
        if not np.isfinite(self.omega(theta, 10, solver)).all():
            return np.inf
        return min(stopwatch(lambda: self.omega(theta, 10, solver))[0] for _ in range(3))

    def omega(self, theta: np.ndarray, count: int = 10, solver: str = "") -> np.ndarray:
        """Build the arm at a pose and return its lowest natural frequencies."""
        if self.arm.planar:
            self._planar(theta)
        else:
            self._spatial(theta)
        squares = np.array(self.ops.eigen(solver or self.solver, count))
        return np.sqrt(np.where(squares > 0, squares, np.nan))

    def batch(self, thetas: np.ndarray) -> np.ndarray:
        """Return the frequencies of many poses, one after the other."""
        return np.array([self.omega(theta) for theta in thetas])

    def _start(self, ndm: int, ndf: int) -> Any:
        ops = self.ops
        ops.wipe()
        ops.model("basic", "-ndm", ndm, "-ndf", ndf)
        ops.node(0, *[0.0] * ndm)
        ops.fix(0, *[1] * ndf)
        return ops

    def _planar(self, theta: np.ndarray) -> None:
        """A = 1, E = EA and so on: with I/A from EI/EA rotary inertia comes out as rho I."""
        ops = self._start(2, 3)
        ops.geomTransf("Linear", 1)
        node = 0
        x = 0.0
        y = 0.0
        angle = 0.0  # of the link to the x axis
        for beam, tip, joint_angle in zip(self.arm.beams, self.arm.tips, theta, strict=True):
            angle += float(joint_angle)
            dx = np.cos(angle).item() * beam.L / self.elements
            dy = np.sin(angle).item() * beam.L / self.elements
            section = (beam.EA, beam.kGA[0], 1.0, beam.EI[0] / beam.EA, 1.0)
            for _ in range(self.elements):
                node += 1
                x += dx
                y += dy
                ops.node(node, x, y)
                ops.element("ElasticTimoshenkoBeam", node, node - 1, node, *section, 1,
                            "-mass", beam.m, "-cMass")  # fmt: skip
            tip_mass, tip_inertia = tip
            ops.mass(node, tip_mass, tip_mass, tip_inertia)

    def _spatial(self, theta: np.ndarray) -> None:
        ops = self._start(3, 6)
        rotations = self.arm.turns(theta)
        node = 0
        position = np.zeros(3)
        R = np.eye(3)
        for i, (beam, tip) in enumerate(zip(self.arm.beams, self.arm.tips, strict=True)):
            R = R @ rotations[i]
            ops.geomTransf("Linear", i + 1, *R[:, 2].tolist())
            G = beam.GJ * beam.m / beam.rIp  # so that the polar inertia m J / A is rho I_p
            inertias = (beam.GJ / G, beam.EI[1] / beam.EA, beam.EI[0] / beam.EA)
            shear_areas = (beam.kGA[0] / G, beam.kGA[1] / G)
            section = (beam.EA, G, 1.0, *inertias, *shear_areas)
            for _ in range(self.elements):
                node += 1
                position = position + R[:, 0] * (beam.L / self.elements)
                ops.node(node, *position.tolist())
                ops.element("ElasticTimoshenkoBeam", node, node - 1, node, *section, i + 1,
                            "-mass", beam.m, "-cMass")  # fmt: skip
            tip_mass, tip_inertia = tip
            ops.mass(node, *[tip_mass] * 3, *[tip_inertia] * 3)
