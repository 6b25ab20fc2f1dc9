"""Bearing, Foundation, Gear: springs between two frames, and a motor behind its gear."""

from __future__ import annotations

import math
from abc import ABC
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, WithJsonSchema, model_validator

from ..on_demand import ModuleOnDemand
from ..values import Before, NonNegative, Number, Positive, as_tuple, fault
from .body import Body, Description, Inertia, check_inertia

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = ["PLANAR", "Bearing", "Foundation", "Gear", "Springs"]

PLANAR = (0, 1, 5)  # x, y and the rotation about z, of six motions
Three = Annotated[tuple[Positive | None, Positive | None, Positive | None], Before(as_tuple)]


def _six_by_six(value: Any) -> Any:
    """Read a stiffness matrix; a fault tells of the whole of it."""
    rows = as_tuple(value)
    if not isinstance(rows, tuple) or len(rows) != 6:
        given = f"{len(rows)} row{'s' * (len(rows) != 1)}" if isinstance(rows, tuple) else "no list"
        raise fault(f"matrix has {given}: it must have 6 rows of 6 values, translations first")
    out = []
    for row in map(as_tuple, rows):
        if not isinstance(row, tuple) or len(row) != 6:
            given = f"{len(row)} values" if isinstance(row, tuple) else "no list"
            raise fault(f"matrix has a row of {given}: it must have 6 rows of 6 values")
        for x in row:
            number = isinstance(x, int | float) and not isinstance(x, bool)
            if not number or not math.isfinite(x) or abs(x) > 1e30:
                raise fault(
                    f"matrix holds {x!r:.40}: it must hold finite numbers, N/m, N and N m/rad"
                )
        out.append(tuple(map(float, row)))
    return tuple(out)


_ROW = {"type": "array", "items": {"type": "number"}, "minItems": 6, "maxItems": 6}
SixBySix = Annotated[
    tuple[tuple[float, ...], ...],
    Before(_six_by_six),
    WithJsonSchema({"type": "array", "items": _ROW, "minItems": 6, "maxItems": 6}),
]


class Springs(Description, ABC):
    """Six springs between two frames, or their 6 x 6 stiffness, translations first.

    A motion x = (displacement, small rotation) of the second frame seen from the first one costs
    the energy x' K x / 2. A spring that is None, or absent, is rigid.
    """

    translation: Three | None = None
    rotation: Three | None = None
    matrix: SixBySix | None = None

    @model_validator(mode="after")
    def _one_description(self) -> Self:
        if self.matrix is None:
            return self
        if self.translation is not None or self.rotation is not None:
            other = "translation" if self.translation is not None else "rotation"
            raise fault(f"matrix and {other} are both given: the matrix stands instead of the six")
        K = np.array(self.matrix)
        size = np.sqrt(np.abs(np.diag(K)))
        if (np.abs(K - K.T) > 1e-9 * np.outer(size, size)).any():
            raise fault("matrix is not symmetric: a stiffness must be, K_ij = K_ji")
        if not size.all() or np.linalg.eigvalsh(K / np.outer(size, size))[0] <= 1e-12:
            raise fault(
                "matrix is not positive definite: every motion must be held; give what is rigid "
                "as null among translation and rotation"
            )
        return self

    def soft(self, planar: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the motions that give way, (6, m) unit columns, and their stiffness (m, m).

        In the plane these are x, y and the rotation about z; the others are held.
        """
        used = list(PLANAR if planar else range(6))
        if self.matrix is not None:
            K = np.array(self.matrix)
            return np.eye(6)[:, used], ((K + K.T) / 2)[np.ix_(used, used)]
        six = (*(self.translation or (None,) * 3), *(self.rotation or (None,) * 3))
        finite = [(k, s) for k, s in enumerate(six) if s is not None and k in used]
        return np.eye(6)[:, [k for k, _ in finite]], np.diag([s for _, s in finite])


class Bearing(Springs):
    """Massless springs between the mounted frame and the joint, in mounted axes."""


class Foundation(Springs):
    """Springs between the ground and the base frame, and the body on them.

    The body sits at the origin of the base frame; `inertia` is about it, in base axes.
    """

    mass: NonNegative = 0.0
    inertia: Inertia = (0.0,)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        check_inertia(self.inertia, self.mass)
        return self

    @property
    def body(self) -> Body:
        """Mass and inertia as a Body."""
        return Body(mass=self.mass, inertia=self.inertia)


class Gear(Description):
    """Gearbox between a motor and its joint; the joint has ratio^2 times the motor's inertia.

    Efforts, speeds and limits are on the joint side, so `efficiency` does not change the motion: it
    determines the effort of the motor in `supple check` and `motor_effort` of a simulation.

    Examples
    --------
    >>> import supple
    >>> supple.Gear(ratio=121, motor_inertia=2e-4).ratio
    121.0
    """

    ratio: Positive
    motor_inertia: NonNegative
    efficiency: Annotated[Number, Field(gt=0, le=1)] | None = None

    @property
    def reflected_inertia(self) -> float:
        """ratio^2 motor_inertia, kg m^2 (kg where the joint slides)."""
        return self.ratio**2 * self.motor_inertia

    def motor_effort(self, effort: Any, speed: Any = 0.0) -> Any:
        """Return the effort of the motor for one at the joint, numbers or arrays.

        effort / (ratio efficiency) where the motor drives or holds, effort speed >= 0, and
        effort efficiency / ratio where the joint drives it back.
        """
        part = 1.0 if self.efficiency is None else self.efficiency
        return np.where(np.multiply(effort, speed) >= 0, 1 / part, part) * effort / self.ratio
