"""Elastic, Link, MechanismLink, UpperLink, LowerLink: beams and what sits on their ends."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from ..sections import Section
from ..values import (
    Angle,
    Before,
    NonNegative,
    Positive,
    Size,
    SizeOrZero,
    as_pair,
    as_tuple,
    fault,
)
from .body import Body, Description, Material
from .joint import BaseJoint, Joint, MechanismJoint, unit_values
from .visual import Visuals

__all__ = [
    "Elastic",
    "JointedLink",
    "Link",
    "LowerLink",
    "MechanismLink",
    "Station",
    "Theory",
    "UpperLink",
]

Theory = Literal["timoshenko", "euler-bernoulli", "inextensible", "rigid"]


def _named_or(kind: str) -> Discriminator:
    """Tell a name from a description, so that faults are reported for the one that was meant."""
    return Discriminator(lambda value: "name" if isinstance(value, str) else kind)


NamedMaterial = Annotated[
    Annotated[str, Tag("name")] | Annotated[Material, Tag("material")], _named_or("material")
]
NamedSection = Annotated[
    Annotated[str, Tag("name")] | Annotated[Section, Tag("section")], _named_or("section")
]

STIFFNESSES = ("bending_stiffness", "axial_stiffness", "shear_stiffness", "torsional_stiffness")
_DIRECT = (*STIFFNESSES, "rotary_inertia_per_length", "polar_inertia_per_length")


PositivePair = Annotated[
    tuple[Positive, Positive],
    Before(as_pair, json_schema_input_type=Positive | tuple[Positive, Positive]),
]


class Station(Description):
    """A place along a link with its section or its stiffnesses, linear in between."""

    at: NonNegative
    section: NamedSection | None = None
    mass_per_length: Positive | None = None
    bending_stiffness: PositivePair | None = None
    axial_stiffness: Positive | None = None
    shear_stiffness: PositivePair | None = None
    torsional_stiffness: Positive | None = None
    rotary_inertia_per_length: NonNegative | None = None
    polar_inertia_per_length: NonNegative | None = None


class Elastic(Description, ABC):
    """A beam along local +x: by material and section, by its stiffnesses, or by stations."""

    length: SizeOrZero | None = None
    material: NamedMaterial | None = None
    section: NamedSection | None = None
    stations: Annotated[tuple[Station, ...], Before(as_tuple)] | None = None
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

    def _problem(self) -> str | None:
        """The first thing that makes this beam incomplete or contradictory, as a sentence."""
        if self.stations is not None:
            return self._stations_problem(self.stations)
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

    def _stations_problem(self, stations: tuple[Station, ...]) -> str | None:
        """What is wrong with the stations, as a sentence."""
        places = [station.at for station in stations]
        if self.section is not None:
            return "stations stand instead of section: give one of them"
        if not self.length:
            return "length is missing: a link that bends needs a positive length in metres"
        if len(places) < 2 or places[0] != 0 or abs(places[-1] - self.length) > 1e-9 * self.length:
            return (
                f"stations run from at: {places[0]:g} to at: {places[-1]:g}: at least two must run "
                f"from at: 0 to at: {self.length:g}, the link's length"
                if places
                else f"stations are empty: give at least two, at: 0 and at: {self.length:g}"
            )
        steps = [b - a for a, b in pairwise(places)]
        if min(steps) < 0 or 0 in (steps[0], steps[-1]) or (0, 0) in pairwise(steps):
            return "stations must rise along the link; two at the same place are a jump inside it"
        for station in stations:
            if station.section is not None and self.material is None:
                return "material is missing: stations with a section need it"
            mass, bends = (
                (getattr(station, k) or getattr(self, k))
                for k in ("mass_per_length", "bending_stiffness")
            )
            if station.section is None and (mass is None or bends is None):
                return (
                    f"the station at {station.at:g} needs a section, or mass_per_length and "
                    "bending_stiffness"
                )
        return None


class JointedLink(Elastic, ABC):
    """What links share in every architecture that lists them: name, joint, and a body instead."""

    name: Annotated[str, Field(min_length=1, pattern=r"^[^.\s]+$")]
    joint: BaseJoint
    body: Body | None = None
    visuals: Visuals = ()

    @model_validator(mode="before")
    @classmethod
    def _length_of_its_row(cls, data: Any) -> Any:
        """A link without a length has that of its row of a Denavit-Hartenberg table."""
        if not isinstance(data, Mapping) or data.get("length") is not None:
            return data
        joint = data.get("joint")
        row = joint.get("dh") if isinstance(joint, Mapping) else getattr(joint, "dh", None)
        row = row if isinstance(row, Mapping) or row is None else row.model_dump()
        if row is None or row.get("convention", "standard") != "standard" or not row.get("a"):
            return data
        return {**data, "length": row["a"]}

    def _problem(self) -> str | None:
        if self.body is not None and not self.rigid:
            return "body is for rigid links: add theory: rigid"
        if self.body is not None and (self.direct or self.material is not None):
            return "body stands instead of material, section and mass_per_length: give one of them"
        if self.joint.type == "prismatic" and not self.length:
            return "length is missing: a prismatic link needs its total length"
        if self.joint.type == "prismatic" and self.joint.bearing and self.joint.hub:
            return (
                "joint has a bearing and a hub: on a prismatic joint give one of them, or the hub "
                "as the tip of a rigid link of no length before it, which has the bearing"
            )
        return super()._problem()

    def out_of_plane(self, kind: str) -> list[str]:
        """Return what a planar arm or mechanism cannot have, a sentence each."""
        joint = self.joint
        found = []
        x, y, _ = unit_values(joint.axis or (0.0, 0.0, 1.0))
        if joint.type == "revolute" and math.hypot(x, y) > 1e-12:
            axis = list(joint.axis or ())
            found.append(
                f"axis {axis} is not z: in a planar {kind} joints turn about z; leave it out, or "
                "set planar: false"
            )
        if joint.mount.leaves_plane:
            found.append(
                f"mount leaves the plane: in a planar {kind} only x, y and yaw may be given"
            )
        quarters = self.roll / (math.pi / 2)
        if abs(quarters - round(quarters)) > 1e-9:
            found.append(
                f"roll is {self.roll:g} rad: a planar {kind} bends in its plane only if roll is a "
                "multiple of 90deg; set planar: false for other values"
            )
        return found


class Link(JointedLink):
    """A link of a serial arm: its joint, a beam along its local +x, and the body on its end.

    Examples
    --------
    >>> import supple
    >>> link = supple.Link(
    ...     name="boom",
    ...     length=1.5,
    ...     material=supple.material("aluminium-6061-t6"),
    ...     section=supple.Box(depth=0.15, width=0.2, wall=0.01),
    ... )
    >>> link.length
    1.5
    """

    joint: Joint = Joint.model_construct()


def _a_body(value: Any) -> Any:
    if isinstance(value, str):
        raise fault(
            f"tip is '{value}': a link's tip is a body, such as {{mass: 1}}; the link whose "
            "end is the tip is named by tip at the top of the file"
        )
    return value


class MechanismLink(JointedLink):
    """A link of a mechanism: a link with a parent.

    The joint sits at the end of `parent` (default: the link before; `base`), or `at` metres from
    the parent's root.
    """

    joint: MechanismJoint = MechanismJoint.model_construct()
    tip: Annotated[Body | None, Before(_a_body)] = None
    parent: Annotated[str, Field(min_length=1)] | None = None
    at: NonNegative | None = None


class UpperLink(Elastic):
    """The three equal upper arms of a Delta."""


class LowerLink(Elastic):
    """The three equal lower links of a Delta: single rods, or parallelograms of two."""

    rods: Literal["single", "twist", "parallelogram"] = "single"
    spacing: Size | None = None

    def _problem(self) -> str | None:
        if (self.rods == "parallelogram") != (self.spacing is not None):
            return "spacing goes with rods: parallelogram, and is needed there"
        return super()._problem()
