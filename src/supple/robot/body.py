"""Description, Material, Body, Mount: the parts that stand for themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import model_validator

from ..faults import Description
from ..on_demand import ModuleOnDemand
from ..values import Angle, Before, NonNegative, Number, Point, Positive, Vector, as_tuple, fault
from .layup import Layup, Membrane, Stiff, membrane

if TYPE_CHECKING:
    import numpy as np
else:
    np = ModuleOnDemand("numpy")

__all__ = [
    "NO_MOUNT",
    "Body",
    "Description",
    "Inertia",
    "Material",
    "Mount",
    "check_inertia",
    "inertia_fault",
    "principal_inertias",
]

# Three significant digits leave each value off by up to 0.5 % of itself. Where I1 + I2 = I3, as for
# every flat body, the sum of the three errors is up to 1 % of I3: less than that is rounding.
TRIANGLE_ROUNDING = 0.01
# A principal value below zero by no more than this part of the largest comes from computing it.
NEGATIVE_ROUNDING = 1e-9
# Inertia of one kilogram on a sphere of a micrometre, m^2: no part of a robot is smaller.
LEAST_INERTIA = 1e-12


class Material(Description):
    """An isotropic elastic material, or with `layup` a laminate of plies.

    Isotropic: give `poisson_ratio` or `shear_modulus`, not both. A laminate is the wall of a tube
    or box: young_modulus along the fibres, transverse_modulus across them, shear_modulus and
    poisson_ratio in the plane of the ply, and the angles of the plies to the link's x.

    Examples
    --------
    >>> import supple
    >>> steel = supple.Material(young_modulus=210e9, density=7850, poisson_ratio=0.3)
    >>> steel.young_modulus
    210000000000.0
    """

    young_modulus: Positive
    density: Positive
    poisson_ratio: Number | None = None
    shear_modulus: Positive | None = None
    transverse_modulus: Positive | None = None
    layup: Layup | None = None
    yield_strength: Positive | None = None
    damping_ratio: NonNegative | None = None

    def _problem(self) -> str | None:
        if self.layup:
            thick = [ply.thickness for ply in self.layup if ply.thickness is not None]
            if len(thick) not in (0, len(self.layup)):
                return "layup gives the thickness of some plies only: give it for all, or for none"
            for key in ("transverse_modulus", "shear_modulus", "poisson_ratio"):
                if any(
                    getattr(self, key) is None and getattr(ply, key) is None for ply in self.layup
                ):
                    return f"{key} is missing: a ply has one, in its plane"
            for _, _, (E1, E2, _, nu12, _) in self._plies():
                if nu12**2 >= E1 / E2:
                    most = (E1 / E2) ** 0.5
                    return f"poisson_ratio is {nu12:g}: below {most:.4g} for these moduli, in size"
            if self.membrane.coupling > 1e-6:
                return (
                    "layup is not balanced, a tube of it would twist when it is stretched: give "
                    "each ply its opposite, such as -45deg for 45deg"
                )
            return None
        nu = self.poisson_ratio
        if self.transverse_modulus is not None:
            return "transverse_modulus is given without layup: it is that of a laminate's plies"
        if nu is not None and not -1 < nu <= 0.5:
            bound = "greater than -1" if nu <= -1 else "at most 0.5"
            allowed_range = "(above -1, up to 0.5, such as 0.3)"
            return f"poisson_ratio is {nu:g}: it must be {bound} {allowed_range}"
        if nu is not None and self.shear_modulus is not None:
            return "poisson_ratio and shear_modulus are both given: give one of them"
        return None

    def _plies(self) -> list[tuple[float, float, Stiff]]:
        """Angle, thickness and elasticity of each ply."""
        keys = ("young_modulus", "transverse_modulus", "shear_modulus", "poisson_ratio", "density")
        found = []
        for ply in self.layup or ():
            own = [getattr(ply, key) for key in keys]
            values = [getattr(self, k) if v is None else v for k, v in zip(keys, own, strict=True)]
            found.append((ply.angle, ply.thickness or 1.0, Stiff(*values)))
        return found

    @property
    def membrane(self) -> Membrane:
        """Moduli of a laminate in its plane."""
        return membrane(self._plies())

    @property
    def thickness(self) -> float | None:
        """Thickness of all plies, m; None where it is not given."""
        given = [ply.thickness for ply in self.layup or ()]
        return sum(t for t in given if t is not None) if given and None not in given else None

    @property
    def E(self) -> float:
        """Young's modulus along the link, Pa: of a laminate that of its plies together."""
        return self.young_modulus if self.layup is None else self.membrane.E

    @property
    def rho(self) -> float:
        """Density, kg/m^3: of a laminate that of its plies together."""
        return self.density if self.layup is None else self.membrane.density

    @property
    def G(self) -> float | None:
        """Shear modulus, Pa: the one given, or E / 2 (1 + nu), or None when neither is known."""
        if self.layup is not None:
            return self.membrane.G
        if self.poisson_ratio is not None:
            return self.young_modulus / (2 * (1 + self.poisson_ratio))
        return self.shear_modulus

    @property
    def nu(self) -> float:
        """Poisson's ratio as shear coefficients take it; 0.3 when nothing is known of it.

        The one given, or that E and G imply. Zero for a laminate: Cowper's coefficients are then
        those of the energy of the shear flow, which ask nothing of the wall but its G.
        """
        if self.layup is not None:
            return 0.0
        if self.poisson_ratio is not None:
            return self.poisson_ratio
        return self.young_modulus / (2 * self.shear_modulus) - 1 if self.shear_modulus else 0.3


def _six(value: Any) -> Any:
    """Read an inertia: one value about z, three principal ones, or six."""
    value = as_tuple(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value,)
    return value


Inertia = Annotated[Vector, Before(_six, json_schema_input_type=float | Vector)]


class Body(Description):
    """A rigid body fixed to a point: mass, mass centre, and inertia about the mass centre.

    `inertia` is one value (about local z; for a hub about the joint's axis), three (xx, yy, zz) or
    six (xx, yy, zz, xy, xz, yz), link axes, kg m^2.

    Examples
    --------
    >>> import supple
    >>> supple.Body(mass=2.0, com=(0, 0, 0.05), inertia=(0.01, 0.01, 0.02)).mass
    2.0
    """

    mass: NonNegative = 0.0
    com: Point = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0,)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        check_inertia(self.inertia, self.mass)
        return self

    def tensor(self, axis: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> np.ndarray:
        """Return the (3, 3) inertia about the mass centre; a single value counts about `axis`."""
        return _tensor(self.inertia, axis)


def check_inertia(inertia: tuple[float, ...], mass: float) -> None:
    """Raise a fault unless these are one, three or six values without a negative principal one.

    Energies would have no bound. Whether a body can have them at all is `inertia_fault`'s question,
    which files are asked.
    """
    if len(inertia) not in (1, 3, 6):
        raise fault(f"inertia has {len(inertia)} values: give 1, 3 or 6 of them")
    six = (0.0, 0.0, *inertia) if len(inertia) == 1 else inertia
    if principal_inertias(six)[0] < -_negligible(six, mass):
        raise fault(
            f"inertia {list(inertia)} is not that of a body: "
            "it must have no negative principal value"
        )


def principal_inertias(inertia: Sequence[float]) -> list[float]:
    """Return the principal values, rising, of three or six values of an inertia, kg m^2."""
    if not any(inertia[3:]):
        return sorted(inertia[:3])  # it stands in its principal axes
    values: list[float] = np.linalg.eigvalsh(_tensor(tuple(inertia), (0.0, 0.0, 1.0))).tolist()
    return values


def inertia_fault(inertia: Sequence[float], mass: float) -> str | None:
    """Return why no body of this mass has this inertia about its mass centre, else None.

    It is given by three or six values, xx, yy, zz, xy, xz, yz, kg m^2. Rounding is no fault,
    neither that of files nor that of eigenvalues. An inertia about one axis alone, which one value
    in a robot file gives as well, is taken as it is.
    """
    low, middle, high = principal_inertias(inertia)
    negligible = _negligible(inertia, mass)
    if low < -negligible:
        return f"it must have no negative principal value, and has {low:g} kg m^2"
    about_one_axis = middle <= negligible
    missing = high - low - middle
    if about_one_axis or missing <= max(TRIANGLE_ROUNDING * high, LEAST_INERTIA * mass):
        return None
    return (
        f"the principal values {low:g}, {middle:g}, {high:g} belong to no body: any two of them "
        "together must exceed the third"
    )


def _negligible(inertia: Sequence[float], mass: float) -> float:
    """Size below which a principal value is zero, kg m^2."""
    return max(NEGATIVE_ROUNDING * max(map(abs, inertia)), LEAST_INERTIA * mass)


def _tensor(inertia: tuple[float, ...], axis: tuple[float, float, float]) -> np.ndarray:
    if len(inertia) == 1:
        along = np.asarray(axis, float)
        along = along / math.sqrt(along @ along)
        return inertia[0] * along[:, None] * along
    xx, yy, zz, xy, xz, yz = (*inertia, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Mount(Description):
    """Fixed transform Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll) from the previous end, as in URDF.

    Examples
    --------
    >>> import supple
    >>> supple.Mount(xyz=(0, 0, 0.3), rpy=("90deg", 0, 0)).xyz
    (0.0, 0.0, 0.3)
    """

    xyz: Point = (0.0, 0.0, 0.0)
    rpy: Annotated[tuple[Angle, Angle, Angle], Before(as_tuple)] = (0.0, 0.0, 0.0)

    @property
    def leaves_plane(self) -> bool:
        """Whether it does more than move in x-y and turn about z."""
        return any(self.rpy[:2]) or bool(self.xyz[2])


# Made without validators, which pydantic builds when a class is first validated.
NO_MOUNT = Mount.model_construct()
