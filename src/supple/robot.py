"""Robot, Link, Joint, Material, Body: descriptions only, frozen, SI, validated when made.

A Robot says what is there. It knows no basis, no mesh and no study; `beams.theory` turns one of its
links into numbers and `structure` turns the whole of it, at a configuration, into beams and bodies.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from .editing import edited
from .errors import SuppleError
from .sections import Section, Shape
from .values import (
    Angle,
    NonNegative,
    Number,
    Positive,
    Triple,
    Vector,
    as_tuple,
    fault,
    faults,
)

__all__ = [
    "Body",
    "DeltaRobot",
    "Elastic",
    "Joint",
    "Link",
    "LowerLink",
    "Material",
    "Motor",
    "Mount",
    "Platform",
    "Robot",
    "SerialRobot",
    "Theory",
    "UpperLink",
    "need_robot",
]

Theory = Literal["timoshenko", "euler-bernoulli", "inextensible", "rigid"]


class Description(BaseModel, ABC):
    """What all parts share: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Material(Description):
    """An isotropic elastic material. Give `poisson_ratio` or `shear_modulus`, not both."""

    young_modulus: Positive
    density: Positive
    poisson_ratio: Annotated[Number, Field(gt=-1, le=0.5)] | None = None
    shear_modulus: Positive | None = None
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
    com: Triple = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0,)

    @model_validator(mode="after")
    def _physical(self) -> Self:
        if len(self.inertia) not in (1, 3, 6):
            raise fault(f"inertia has {len(self.inertia)} values: give 1, 3 or 6 of them")
        if np.linalg.eigvalsh(self.tensor())[0] < -1e-12 * max(map(abs, self.inertia)):
            raise fault(
                f"inertia {list(self.inertia)} is not that of a body: "
                "it must have no negative principal value"
            )
        return self

    def tensor(self, axis: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> np.ndarray:
        """Return the (3, 3) inertia about the mass centre; a single value counts about `axis`."""
        if len(self.inertia) == 1:
            a = np.asarray(axis) / np.linalg.norm(axis)
            return self.inertia[0] * np.outer(a, a)
        xx, yy, zz, xy, xz, yz = (*self.inertia, 0.0, 0.0, 0.0)[:6]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


class Mount(Description):
    """A fixed transform Trans(xyz) Rz(yaw) Ry(pitch) Rx(roll) from the previous end, as in URDF."""

    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Annotated[tuple[Angle, Angle, Angle], BeforeValidator(as_tuple)] = (0.0, 0.0, 0.0)


class Joint(Description):
    """What moves a link: its type, axis, place, drive and hub.

    With `stiffness` (N m/rad, in series) theta is the motor side and the link turns by theta + eps.
    """

    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    axis: Triple | None = None
    mount: Mount = Mount()
    stiffness: Positive | None = None
    rotor_inertia: NonNegative = 0.0
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    limits: Annotated[tuple[Angle, Angle], BeforeValidator(as_tuple)] | None = None
    hub: Body | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.axis is not None and self.type == "prismatic":
            raise fault("axis is not for a prismatic joint: the beam slides along its own x")
        if self.axis is not None and not any(self.axis):
            raise fault("axis is [0, 0, 0]: give a direction, such as [0, 0, 1]")
        if self.limits is not None and self.limits[0] >= self.limits[1]:
            raise fault(f"limits {list(self.limits)}: the lower one must be below the upper one")
        if self.stiffness is not None and self.type != "revolute":
            raise fault(f"stiffness is for revolute joints, not for a {self.type} one")
        return self

    @property
    def direction(self) -> np.ndarray:
        """Unit vector of the axis, mounted axes, (3,): z unless given, x for a prismatic joint."""
        default = (1.0, 0.0, 0.0) if self.type == "prismatic" else (0.0, 0.0, 1.0)
        a = np.asarray(self.axis or default)
        a = a / np.abs(a).max()  # else the square of a small number is zero
        return np.asarray(a / np.linalg.norm(a))


def _named_or(kind: str) -> Discriminator:
    """Tell a name from a description, so that faults are reported for the one that was meant."""
    return Discriminator(lambda value: "name" if isinstance(value, str) else kind)


NamedMaterial = Annotated[
    Annotated[str, Tag("name")] | Annotated[Material, Tag("material")], _named_or("material")
]
NamedSection = Annotated[
    Annotated[str, Tag("name")] | Annotated[Section, Tag("section")], _named_or("section")
]

_STIFFNESSES = ("bending_stiffness", "axial_stiffness", "shear_stiffness", "torsional_stiffness")
_DIRECT = (*_STIFFNESSES, "rotary_inertia_per_length", "polar_inertia_per_length")


def _pair(value: Any) -> Any:
    """Read one value as the same in both bending planes."""
    value = as_tuple(value)
    return (value, value) if isinstance(value, int | float) else value


PositivePair = Annotated[
    tuple[Positive, Positive],
    BeforeValidator(_pair, json_schema_input_type=Positive | tuple[Positive, Positive]),
]


class Elastic(Description, ABC):
    """A uniform beam along local +x: by material and section, or by its stiffnesses directly."""

    length: NonNegative | None = None
    material: NamedMaterial | None = None
    section: NamedSection | None = None
    theory: Theory | None = None
    roll: Angle = 0.0
    mass_per_length: Positive | None = None
    bending_stiffness: PositivePair | None = None
    axial_stiffness: Positive | None = None
    shear_stiffness: PositivePair | None = None
    torsional_stiffness: Positive | None = None
    rotary_inertia_per_length: NonNegative | None = None
    polar_inertia_per_length: NonNegative | None = None
    damping_ratio: NonNegative | None = None
    tip: Body | None = None

    @property
    def rigid(self) -> bool:
        """Whether the link does not deform."""
        return self.theory == "rigid"

    @property
    def direct(self) -> bool:
        """Whether the beam is given by its stiffnesses, without material and section."""
        return self.mass_per_length is not None or any(
            getattr(self, k) is not None for k in _DIRECT
        )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (problem := self._problem()) is not None:
            raise fault(problem)
        return self

    def _problem(self) -> str | None:
        """The first thing that makes this beam incomplete or contradictory, as a sentence."""
        if self.direct and (self.material is not None or self.section is not None):
            return "give either material and section, or mass_per_length and stiffnesses, not both"
        if (self.material is None) != (self.section is None):
            absent = "material" if self.material is None else "section"
            return f"{absent} is missing: a beam needs material and section together"
        if self.rigid:
            return None
        if not self.length:
            given = "missing" if self.length is None else f"{self.length:g}"
            return f"length is {given}: a link that bends needs a positive length in metres"
        if self.direct and self.mass_per_length is None:
            return "mass_per_length is missing: it goes with the stiffnesses"
        if self.direct and self.bending_stiffness is None:
            return "bending_stiffness is missing: give it, or set theory: rigid"
        if not self.direct and self.material is None:
            return "material and section are missing (or mass_per_length and bending_stiffness)"
        if self.theory == "timoshenko" and self.direct and self.shear_stiffness is None:
            return "theory timoshenko needs shear_stiffness: give it, or use euler-bernoulli"
        return None


class Link(Elastic):
    """The Joint that moves it, a beam along its local +x, and what sits on its end."""

    name: Annotated[str, Field(min_length=1, pattern=r"^[^.\s]+$")]
    joint: Joint = Joint()
    body: Body | None = None

    def _problem(self) -> str | None:
        if self.body is not None and not self.rigid:
            return "body is for rigid links: add theory: rigid"
        if self.body is not None and (self.direct or self.material is not None):
            return "body stands instead of material, section and mass_per_length: give one of them"
        if self.joint.type == "prismatic" and not self.length:
            return "length is missing: a prismatic link needs its total length"
        return super()._problem()


class UpperLink(Elastic):
    """The three upper arms of a Delta, alike."""


class LowerLink(Elastic):
    """The three lower links of a Delta, alike: one rod each, or parallelograms of two."""

    rods: Literal["single", "twist", "parallelogram"] = "single"
    spacing: Positive | None = None

    def _problem(self) -> str | None:
        if (self.rods == "parallelogram") != (self.spacing is not None):
            return "spacing goes with rods: parallelogram, and is needed there"
        return super()._problem()


class Platform(Description):
    """The moving plate of a Delta: a disc of this mass unless its inertia is given."""

    radius: Positive
    thickness: Positive
    mass: NonNegative
    inertia: Inertia | None = None

    @property
    def body(self) -> Body:
        """The platform about its centre: I_z = m r^2 / 2, I_x = I_y = m (3 r^2 + h^2) / 12."""
        if self.inertia is not None:
            return Body(mass=self.mass, inertia=self.inertia)
        side = self.mass * (3 * self.radius**2 + self.thickness**2) / 12
        return Body(mass=self.mass, inertia=(side, side, self.mass * self.radius**2 / 2))


class Motor(Description):
    """The three motors of a Delta, alike; without stiffness they clamp."""

    stiffness: Positive | None = None
    rotor_inertia: NonNegative = 0.0
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    limits: Annotated[tuple[Angle, Angle], BeforeValidator(as_tuple)] | None = None


class Robot(Description, ABC):
    """What every robot has, whatever its architecture."""

    supple: Literal[1] = Field(default=1, description="format version")
    name: Annotated[str, Field(min_length=1)]
    source: str = ""
    gravity: Triple = (0.0, 0.0, 0.0)
    materials: dict[str, Material] = {}
    sections: dict[str, Section] = {}
    payload: Body | None = None

    if TYPE_CHECKING:  # bound in answers.py

        def show(self, host: str = ..., port: int = ...) -> Any: ...
        def save_page(self, path: Any, nearby: int = 21) -> Any: ...

    def material(self, link: Elastic) -> Material | None:
        """Return the link's material, looked up when it is a name."""
        return self.materials[link.material] if isinstance(link.material, str) else link.material

    def section(self, link: Elastic) -> Shape | None:
        """Return the link's section, looked up when it is a name."""
        return self.sections[link.section] if isinstance(link.section, str) else link.section

    def with_(self, path: str | Mapping[str, Any], value: Any = None) -> Self:
        """Return a copy with one field changed, or with several: `with_({path: value, ...})`.

        A path is dotted, `links.link2.section.depth`; a path through a shared name makes a
        private copy of the shared material or section for that link.
        """
        return edited(self, path if isinstance(path, Mapping) else {path: value})

    def _beam_problems(self, link: Elastic) -> list[str]:
        """What is wrong with a link's references, a sentence each."""
        problems = []
        for key, table in (("material", [*self.materials]), ("section", [*self.sections])):
            given = getattr(link, key)
            if isinstance(given, str) and given not in table:
                known = ", ".join(table) or "none is given"
                problems.append(f"{key} '{given}' is not among {key}s: {known}")
        lost = isinstance(link.material, str) and link.material not in self.materials
        material = None if lost else self.material(link)
        if link.theory == "timoshenko" and material is not None and material.G is None:
            problems.append("theory timoshenko needs poisson_ratio or shear_modulus in material")
        return problems


class SerialRobot(Robot):
    """One open chain of links, planar or spatial."""

    architecture: Literal["serial"] = "serial"
    planar: Annotated[bool, Field(strict=True)] = False
    links: Annotated[tuple[Link, ...], BeforeValidator(as_tuple), Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [link.name for link in self.links]
        problems: list[tuple[tuple[str | int, ...], str]] = [
            (("links", i, "name"), f"name '{link.name}' is used twice: names must differ")
            for i, link in enumerate(self.links)
            if link.name in names[:i]
        ]
        for i, link in enumerate(self.links):
            found = self._beam_problems(link) + (self._planar_problems(link) if self.planar else [])
            problems += [(("links", i), sentence) for sentence in found]
        if problems:
            raise faults(problems)
        return self

    @staticmethod
    def _planar_problems(link: Link) -> list[str]:
        joint, found = link.joint, []
        if joint.type == "revolute" and math.hypot(*joint.direction[:2]) > 1e-12:
            axis = list(joint.axis or ())
            found.append(f"axis {axis} is not z: in a planar arm joints turn about z")
        if any(joint.mount.rpy[:2]) or joint.mount.xyz[2]:
            found.append("mount leaves the plane: in a planar arm only x, y and yaw may be given")
        quarters = link.roll / (math.pi / 2)
        if abs(quarters - round(quarters)) > 1e-9:
            found.append(
                f"roll is {link.roll:g} rad: a planar arm bends in its plane only if roll is a "
                "multiple of 90deg; set planar: false for other values"
            )
        return found

    @property
    def moving(self) -> tuple[Link, ...]:
        """The links whose joint is not fixed, one entry of theta each."""
        return tuple(link for link in self.links if link.joint.type != "fixed")


def need_robot(given: object) -> None:
    """Raise a SuppleError unless this is a Robot."""
    if not isinstance(given, Robot):
        load = f"supple.load({given!r})" if isinstance(given, str) else "supple.load('arm.yaml')"
        raise SuppleError(f"robot is {given!r:.60}: give a Robot, such as {load}")


class DeltaRobot(Robot):
    """Three legs from a base to a platform; z points down as in [Kuo2016]."""

    architecture: Literal["delta"] = "delta"
    base_radius: Positive
    platform: Platform
    upper: UpperLink
    lower: LowerLink
    motor: Motor = Motor()
    angles: Annotated[tuple[Angle, Angle, Angle], BeforeValidator(as_tuple)] = (
        0.0,
        2 * math.pi / 3,
        4 * math.pi / 3,
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        parts = {"upper": self.upper, "lower": self.lower}
        problems: list[tuple[tuple[str | int, ...], str]] = [
            ((key,), text) for key, part in parts.items() for text in self._beam_problems(part)
        ]
        if problems:
            raise faults(problems)
        return self
