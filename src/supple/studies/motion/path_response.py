"""PathResponse: the elastic motion about a path, and what is read off it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...answers.immutable import frozen_property
from ...arguments import one_of
from ...control.trajectories import Trajectory
from ...errors import SuppleError
from ...path_dynamics.damping import Law
from ...path_dynamics.small_motion import SmallMotion, elastic_modes
from ...robot import Robot
from ..small_range import SMALL
from .response import displacement_from_rigid

__all__ = ["PathResponse", "apply_field"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PathResponse(Answer):
    """Elastic motion of a robot whose motors follow a path, at T times.

    From `supple.follow`.

    Attributes
    ----------
    model
        The linearised model.
    path : Trajectory
        The path.
    t : ndarray
        Times (T,), s.
    wanted : ndarray
        Prescribed motion of a Delta's platform or of joints, (T, n).
    y, yd, ydd : ndarray
        Elastic coordinates and their derivatives (T, N).
    moved : ndarray
        Displacement (m) and small rotation (rad) of the platform or tip from the rigid motion,
        (T, 6), base axes.
    torque, rigid_torque : ndarray
        Efforts of the motors (T, motors) of the flexible and of the rigid robot, N m or N.
    largest : float
        Largest ratio of deflection to length, or section rotation in rad, of any link.
    step : float
        Largest integration step, s.
    law
        Damping that is added to the equations.
    notes : dict
        Further information about the run.
    outputs : dict
        Recorded outputs by name, (T,) or (T, k).
    passive : ndarray
        Coordinates of joints that nothing holds, of the undeformed robot, (T, m).
    beside : ndarray
        Approximate values (T, w) of the coordinates that loops determine, on one assembly branch.
    """

    model: SmallMotion
    path: Trajectory
    t: Array
    wanted: Array
    y: Array
    yd: Array
    ydd: Array
    moved: Array
    torque: Array
    rigid_torque: Array
    largest: float
    step: float
    law: Law | None = field(default=None, repr=False, compare=False)
    notes: dict[str, Any] = field(default_factory=dict, repr=False)
    outputs: dict[str, Array] = field(default_factory=dict)
    passive: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    beside: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def swing(self) -> Array:
        """(T, m) passive coordinates that no motor and no loop holds, as the links bend."""
        loose = self.model.loose
        return np.asarray(self.passive + self.y[:, loose]) if loose else np.zeros((len(self.t), 0))

    @property
    def led(self) -> Array:
        """(T, ..) the motion that y is small about: the path, where loops stand, what swings."""
        parts = (self.wanted, self.beside, self.passive)
        return np.hstack([part for part in parts if part.size or part is self.wanted])

    @property
    def robot(self) -> Robot:
        """The robot that moved."""
        return self.model.robot

    @frozen_property
    def tip(self) -> Array:
        """(T, 3) where the tip or platform is, base axes, as of a Response."""
        return np.asarray(self.model.place(self.led) + self.moved[:, :3])

    @property
    def small(self) -> bool:
        """Whether the elastic motion stays where a linear model holds."""
        return self.largest <= SMALL

    @property
    def stopped(self) -> bool:
        """Whether something was computed after the path's end."""
        return not self.path.periodic and bool(self.t[-1] > self.path.duration)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios of the robot's modes at the start, ascending, motors on the path."""
        x = self.led[:1]
        at_rest = self.model.matrices(x, 0 * x, 0 * x)
        C = at_rest.C[0] if self.law is None else (at_rest.C + self.law(at_rest.M))[0]
        periods2, Psi = elastic_modes(at_rest.M[0], self.model.elastic(x[0]))
        used = periods2 > 1e-14 * periods2.max(initial=0.0)
        lost = np.einsum("ij,ik,kj->j", Psi, C, Psi)[used]
        return np.asarray((lost / (2 * np.sqrt(periods2[used])))[::-1])

    @property
    def peak(self) -> Array:
        """(6,) the largest variation of place and attitude, with its sign."""
        rows = np.abs(self.moved).argmax(axis=0)
        return np.asarray(self.moved[rows, np.arange(6)])

    def residual(self) -> Array:
        """Return the vibration after the stop, (6,): half of peak to peak once the path ended."""
        if self.path.periodic:
            raise SuppleError("a path that repeats never stops: residual is for one that ends")
        after = self.moved[self.t >= self.path.duration - 1e-12]
        if len(after) < 2:
            raise SuppleError("nothing was computed after the stop: ask follow(..., after=0.5)")
        return np.asarray((after.max(axis=0) - after.min(axis=0)) / 2)

    def deflection(
        self, link: str, fraction: float = 1.0, frame: Literal["root", "chord", "rigid"] = "root"
    ) -> Array:
        """Return how a link bends at a fraction of its length, (T, 6), link axes.

        Displacements (m) and section rotations (rad) relative to the link's root, or to its
        `chord`. With `rigid` displacements alone, (T, 3), from the rigid motion, in the axes of the
        rigid link, [Kuo2016] (18) and (59).
        """
        one_of("root", "chord", "rigid")("frame", frame)
        names = self.model.names
        if link not in names:
            raise SuppleError(f"there is no link '{link}': the links are {', '.join(names)}")
        if not 0 <= fraction <= 1:
            raise SuppleError(f"fraction is {fraction}: give a place from 0 (root) to 1 (end)")
        if frame == "rigid":
            return self._from_rigid_motion(link, fraction)
        here = np.asarray(apply_field(self.model.section(link, fraction, self.led), self.y))
        length = self.model.length(link)
        if frame == "root" or not length:
            return here
        end = apply_field(self.model.section(link, 1.0, self.led), self.y)[:, :3]
        turned = np.stack([0 * end[:, 0], -end[:, 2], end[:, 1]], axis=1) / length
        return np.asarray(here - np.hstack([fraction * end, turned]))

    def _from_rigid_motion(self, link: str, fraction: float) -> Array:
        """Displacement (T, 3) of a section from the rigid motion, axes of the rigid link."""
        linearised = self.model.linearised
        if linearised is None:
            prescribed = (self.led, *self.path(self.t)[1:])
            return self.model.displaced(link, fraction, prescribed, self.y)[:, :3]
        motion = (self.led, 0 * self.led, 0 * self.led)
        unbent = np.zeros_like(self.y)
        bent = linearised.states(motion, (self.y, unbent, unbent))[0]
        rigid = linearised.states(motion, (unbent, unbent, unbent))[0]
        guess = linearised.dependent_guess(self.led, bent)
        return displacement_from_rigid(linearised.model, link, fraction, (bent, rigid), guess)


def apply_field(field: Array, y: Array) -> Array:
    """Motion (T, 6) from that per unit y, (1 or T, 6, N), and y (T, N)."""
    return np.asarray((field @ y[..., None])[..., 0])
