"""Efforts that are known beforehand, added to those of a controller."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.controllers import Controller, FeedForward
from ..control.sampled import Sampled
from ..control.trajectories import Trajectory
from ..errors import SuppleError
from .inputs import Feedback, Input

__all__ = ["WithEfforts", "with_feed_forward"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WithEfforts(Trajectory):
    """A motion wanted with efforts in the place of its acceleration, as `FeedForward` reads it.

    Attributes
    ----------
    move
        Of the joints.
    efforts
        Over time.
    duration
        s, of the run; after its own end the move stands still, and the efforts go on.
    """

    move: Trajectory
    efforts: Input
    duration: float = 0.0
    smooth: bool = field(default=True, init=False)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of its coordinates."""
        return self.move.names

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where the move or the efforts change."""
        own = [*self.move.breaks, self.move.duration, *self.efforts.switches(self.duration)]
        inside = np.unique([t for t in own if 0 < t < self.duration])
        new = np.diff(inside, prepend=-1.0) > 1e-9 * self.duration
        return tuple(inside[new].tolist())

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities and efforts."""
        x, v, _ = self.move.at(t)
        return x, v, self.efforts.value(t, x.shape[1])


def with_feed_forward(
    controller: Any, move: Trajectory, efforts: Input | Feedback, duration: float
) -> tuple[Any, Trajectory]:
    """Return a controller that adds efforts to its own, and the motion that it is given."""
    if isinstance(efforts, Feedback):
        raise SuppleError(
            "tau depends on the state, or cannot be looked at beforehand: beside a controller give "
            "an array, (times, values), an Input or a function of time; or put it into the "
            "controller"
        )
    law = controller.law if isinstance(controller, Sampled) else controller
    if isinstance(law, Controller):
        added: Any = FeedForward(law)
        wanted: Trajectory = WithEfforts(move, efforts, duration)
    else:
        wanted = move

        def added(t: float, q: Array, qd: Array, reference: Any) -> Array:
            own: Array = np.asarray(law(t, q, qd, reference), float)
            known: Array = efforts.value(np.array([t]), move.size)[0]
            return own + known

    if isinstance(controller, Sampled):
        return replace(controller, law=added), wanted
    return added, wanted
