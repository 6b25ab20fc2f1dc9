"""Description, Material, Body, Mount: the parts that stand for themselves."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..faults import Description
from ..values import Angle, NonNegative, Number, Point, Positive, Vector, as_tuple, fault

__all__ = ["Body", "Description", "Inertia", "Material", "Mount", "check_inertia"]


class Material(Description):
    """An isotropic elastic material. Give `poisson_ratio` or `shear_modulus`, not both."""

    young_modulus: Positive
    density: Positive
    poisson_ratio: Annotated[Number, Field(gt=-1, le=0.5)] | None = None
    shear_modulus: Positive | None = None
    yield_strength: Positive | None = None
    damping_ratio: NonNegative | None = None

    @model_validator(mode="after")
    def _one_shear(self) -> Self:
        if self.poisson_ratio is not None and self.shear_modulus is not None:
            raise fault("poisson_ratio and shear_modulus are both given: give one of them")
        return self

    @property
    def G(self) -> float | None:
        """Shear modulus, Pa: the one given, or E / 2 (1 + nu), or None when neither is known."""
        if self.poisson_ratio is not None:
            return self.young_modulus / (2 * (1 + self.poisson_ratio))
        return self.shear_modulus

    @property
    def nu(self) -> float:
        """Poisson's ratio, or the one that E and G imply; 0.3 when neither is known."""
        if self.poisson_ratio is not None:
            return self.poisson_ratio
        return self.young_modulus / (2 * self.shear_modulus) - 1 if self.shear_modulus else 0.3


def _six(value: Any) -> Any:
    """Read an inertia: one value about z, three principal ones, or six."""
    value = as_tuple(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value,)
    return value


Inertia = Annotated[Vector, BeforeValidator(_six, json_schema_input_type=float | Vector)]


class Body(Description):
    """A rigid body fixed to a point: mass, place of its mass centre, inertia about that centre.

    `inertia` holds one value (about local z; for a hub about the joint's axis), three (xx, yy, zz)
    or six (xx, yy, zz, xy, xz, yz), link axes, kg m^2.
    """

    mass: NonNegative = 0.0
    com: Point = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0,)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        check_inertia(self.inertia)
        return self

    def tensor(self, axis: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> np.ndarray:
        """Return the (3, 3) inertia about the mass centre; a single value counts about `axis`."""
        return _tensor(self.inertia, axis)


def check_inertia(inertia: tuple[float, ...]) -> None:
    """Raise a fault unless these are the one, three or six values of an inertia."""
    if len(inertia) not in (1, 3, 6):
        raise fault(f"inertia has {len(inertia)} values: give 1, 3 or 6 of them")
    if np.linalg.eigvalsh(_tensor(inertia, (0.0, 0.0, 1.0)))[0] < -1e-12 * max(map(abs, inertia)):
        raise fault(
            f"inertia {list(inertia)} is not that of a body: "
            "it must have no negative principal value"
        )


def _tensor(inertia: tuple[float, ...], axis: tuple[float, float, float]) -> np.ndarray:
    if len(inertia) == 1:
        a = np.asarray(axis) / np.linalg.norm(axis)
        return inertia[0] * np.outer(a, a)
    xx, yy, zz, xy, xz, yz = (*inertia, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Mount(Description):
    """A fixed transform Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll) from the previous end, as in URDF."""

    xyz: Point = (0.0, 0.0, 0.0)
    rpy: Annotated[tuple[Angle, Angle, Angle], BeforeValidator(as_tuple)] = (0.0, 0.0, 0.0)
