"""Robot: what every robot has, whatever its architecture."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from ..answers.answer import Shown
from ..answers.immutable import FrozenTable
from ..answers.registry import import_function
from ..arguments import brief, checks_of
from ..editing import edit_fields
from ..errors import SuppleError
from ..sections import Box, General, Profile, Section, Shape, Tube
from ..values import Table, Triple
from .body import Body, Description, Material
from .denavit_hartenberg import placed_by_rows
from .link import STIFFNESSES, Elastic, Station
from .springs import Foundation
from .visual import Visuals

__all__ = ["Robot", "a_robot", "need_robot"]


class Robot(Description, Shown, ABC):
    """Base class of robot descriptions: what all architectures have in common."""

    supple: Literal[1] = Field(default=1, description="format version")
    name: Annotated[str, Field(min_length=1)]
    source: str = ""
    gravity: Triple = (0.0, 0.0, 0.0)
    materials: Table[Material] = Field(default_factory=FrozenTable)
    sections: Table[Section] = Field(default_factory=FrozenTable)
    payload: Body | None = None
    foundation: Foundation | None = None
    visuals: Visuals = ()

    def plot(
        self,
        theta: Any = None,
        path: str | PathLike[str] | None = None,
        *,
        position: Any = None,
    ) -> Any:
        """Draw the robot, undeformed, at one pose, or one panel for each of several poses.

        theta: joint coordinates, (joints,) or (B, joints), rad or m; or the position of a Delta's
        platform. Default: its usual pose. path: a picture to write (.png, .svg, .pdf).
        """
        return import_function("view.figures.robots:plot_robot")(self, theta, path, position)

    def material(self, link: Elastic) -> Material | None:
        """Return the link's material, looked up when it is a name."""
        return self.materials[link.material] if isinstance(link.material, str) else link.material

    def section(self, link: Elastic | Station) -> Shape | None:
        """Return the section of a link or station, looked up when it is a name."""
        return self.sections[link.section] if isinstance(link.section, str) else link.section

    def with_(self, path: str | Mapping[str, Any], value: Any = None) -> Self:
        """Return a copy with one field changed, or with several: `with_({path: value, ...})`.

        A path is dotted, `links.link2.section.depth`; a path through a shared name makes a
        private copy of the shared material or section for that link.
        """
        changes = {path: value} if isinstance(path, str) else path
        if not isinstance(changes, Mapping) or not all(isinstance(each, str) for each in changes):
            raise SuppleError(
                f"path is {brief(path)}: give a dotted path such as 'links.link1.length', or "
                "{path: value, ...}"
            )
        try:
            return edit_fields(self, changes)
        except RecursionError:
            raise SuppleError(
                f"value is {brief(value)}: it holds itself, or is nested too deeply; write it out"
            ) from None

    def _place_joints_by_rows(self, links: Any, parents: Sequence[int]) -> None:
        """Give joints with a row of a Denavit-Hartenberg table the mount and axis it stands for."""
        if all(link.joint.dh is None for link in links):
            return
        placed = []
        for link, parent in zip(links, parents, strict=True):
            row = link.joint.dh
            if row is None:
                placed.append(link)
                continue
            before = None if parent < 0 else links[parent].joint.dh
            length_before = None if parent < 0 else links[parent].length or 0.0
            mount, axis = placed_by_rows(row, before, length_before)
            joint = link.joint.model_copy(update={"mount": mount, "axis": axis})
            placed.append(link.model_copy(update={"joint": joint}))
        self.__dict__["links"] = tuple(placed)

    def _beam_problems(self, link: Elastic) -> list[str]:
        """What is wrong with a link's references and name, a sentence each."""
        problems = []
        if getattr(link, "name", "") == "foundation":
            problems.append("name 'foundation' is kept for what the robot stands on: give another")
        for key, table in (("material", [*self.materials]), ("section", [*self.sections])):
            given = getattr(link, key)
            if isinstance(given, str) and given not in table:
                from ..faults import nearest

                known = ", ".join(table) or "none is given"
                suggestion = nearest(given, table)
                hint = f"; did you mean '{suggestion}'?" if suggestion else ""
                problems.append(f"{key} '{given}' is not among {key}s: {known}{hint}")
        for station in link.stations or ():
            if isinstance(station.section, str) and station.section not in self.sections:
                known = ", ".join(self.sections) or "none is given"
                problems.append(f"section '{station.section}' is not among sections: {known}")
        if not problems:
            problems += self._station_problems(link)
        lost = isinstance(link.material, str) and link.material not in self.materials
        material = None if lost else self.material(link)
        if link.theory == "timoshenko" and material is not None and material.G is None:
            problems.append("theory timoshenko needs poisson_ratio or shear_modulus in material")
        if material is not None and material.layup is not None:
            every = [link.section, *(station.section for station in link.stations or ())]
            shapes = [self.sections.get(s) if isinstance(s, str) else s for s in every]
            if not all(shape is None or isinstance(shape, Tube | Box) for shape in shapes):
                problems.append(
                    "material is a laminate, the wall of a tube or box: give one of these sections"
                )
        return problems

    def _station_problems(self, link: Elastic) -> list[str]:
        """What two stations with a length between them do not agree in, a sentence each."""
        problems = []
        for pair in pairwise(link.stations or ()):
            if pair[0].at == pair[1].at:
                continue
            kinds: list[type] = []
            given: list[list[bool]] = []
            for station in pair:
                named = station.section
                shape = self.sections[named] if isinstance(named, str) else named
                if isinstance(shape, Profile):  # outlines become their moments
                    kinds.append(General)
                    continue
                kinds.append(type(shape))
                owners = [station, link] if shape is None else [shape]
                keys = STIFFNESSES if shape is None else type(shape).model_fields
                given.append([any(getattr(x, key) is not None for x in owners) for key in keys])
            where = f"stations at {pair[0].at:g} and {pair[1].at:g} m"
            if kinds[0] is not kinds[1]:
                problems.append(
                    f"{where} have different shapes: a shape may change at a jump only, two "
                    "stations at the same place"
                )
            elif len(given) == 2 and given[0] != given[1]:
                problems.append(
                    f"{where} do not give the same values: what changes between them must be "
                    "given at both"
                )
        return problems


@checks_of(Robot)
def a_robot(name: str, given: Any) -> Robot:
    """Return a Robot: itself, the one of a file, or the one of the library with this name.

    Every public function that takes a robot checks it by this. `files` stands above this room, so
    that it is called by its place.
    """
    if isinstance(given, Robot):
        return given
    if isinstance(given, str | PathLike):
        given = import_function("files.robots:load")(given)
    need_robot(given, name)
    robot: Robot = given
    return robot


def need_robot(given: object, name: str = "robot") -> None:
    """Raise a SuppleError unless this is a Robot."""
    if isinstance(given, Robot):
        return
    if isinstance(getattr(given, "robot", None), Robot):
        raise SuppleError(f"{name} is a {type(given).__name__}: give a Robot, such as its .robot")
    raise SuppleError(
        f"{name} is {brief(given)}: give a Robot, the name of its file, such as 'arm.yaml', or a "
        "name that `supple robots` lists"
    )
