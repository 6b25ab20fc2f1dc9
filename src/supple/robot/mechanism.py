"""MechanismRobot: a tree of links, planar or spatial, and the closures that make loops of it."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from ..values import Before, Place, as_tuple, fault, faults
from .closure import Closure, ClosureEnd
from .joint import unit_values
from .link import MechanismLink
from .robot import Robot

__all__ = ["BASE", "MechanismRobot"]

BASE = "base"
Problem = tuple[Place, str]


def _a_name(value: Any) -> Any:
    if isinstance(value, dict):
        raise fault(
            "tip is a mapping: the robot's tip names a link; a body goes to that link's tip"
        )
    return value


class MechanismRobot(Robot):
    """A mechanism: a tree of links with closures, neither one open chain nor a Delta.

    theta has one entry per motor: the driven joints in the order of the links, then the distance
    closures with a motor. `tip` names the link whose end is the tip, by default the last one.
    """

    architecture: Literal["mechanism"] = "mechanism"
    planar: Annotated[bool, Field(strict=True)] = False
    links: Annotated[tuple[MechanismLink, ...], Before(as_tuple), Field(min_length=1)]
    closures: Annotated[tuple[Closure, ...], Before(as_tuple)] = ()
    tip: Annotated[str, Before(_a_name)] | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [link.name for link in self.links]
        parents = [
            i - 1
            if link.parent is None
            else names.index(link.parent)
            if link.parent in names
            else -1
            for i, link in enumerate(self.links)
        ]
        self._place_joints_by_rows(self.links, parents)
        problems: list[Problem] = []
        for i, link in enumerate(self.links):
            found = [*self._beam_problems(link), *self._link_problems(i)]
            problems += [(("links", i), sentence) for sentence in found]
        for i in range(len(self.closures)):
            # What is wrong with one closure, a sentence each
            closure = self.closures[i]
            names = [BASE, *self._names]
            wrong = []
            for end in closure.ends:
                if end.link not in names:
                    wrong.append(f"ends name '{end.link}', not among the links: {', '.join(names)}")
                elif end.at is not None:
                    wrong += self._place_problems(names.index(end.link) - 1, end.at)
                if self.planar and end.mount.leaves_plane:
                    rule = "in a planar mechanism only x, y and yaw may be given"
                    wrong.append(f"mount leaves the plane: {rule}")
            x, y, z = unit_values(closure.axis or closure.default_axis)
            flat = abs(z) < 1e-9 or math.hypot(x, y) < 1e-9
            if self.planar and closure.axis is not None and not flat:
                axis = list(closure.axis)
                wrong.append(f"axis {axis} is neither z nor in the plane of this planar mechanism")
            if closure.ends[0].link == closure.ends[1].link:
                wrong.append(f"ends are both on {closure.ends[0].link}: a closure ties two links")
            taken = [*names, *(self.closure_name(k) for k in range(i))]
            if self.closure_name(i) in taken:
                wrong.append(f"name '{self.closure_name(i)}' is used twice: names must differ")
            problems += [(("closures", i), sentence) for sentence in wrong]
        if self.tip is not None and self.tip not in self._names:
            known = ", ".join(self._names)
            problems.append(((), f"tip '{self.tip}' is not among the links: {known}"))
        if problems:
            raise faults(problems)
        return self

    def _link_problems(self, i: int) -> list[str]:
        """What is wrong with one link beside the others, a sentence each."""
        link = self.links[i]
        joint = self.links[i].joint
        earlier = [other.name for other in self.links[:i]]
        found = []
        if link.name == BASE:
            found.append("name is 'base': that is the ground, give another name")
        if link.name in earlier:
            found.append(f"name '{link.name}' is used twice: names must differ")
        if link.parent not in (None, BASE, *earlier):
            known = ", ".join([BASE, *earlier])
            found.append(f"parent '{link.parent}' is not listed before this link: {known}")
        elif link.at is not None:
            # of this link alone: others may name parents that are not there
            parent = i - 1 if link.parent is None else [BASE, *earlier].index(link.parent) - 1
            found += self._place_problems(parent, link.at)
        if joint.mimic is not None:
            own = [other.name for other in self.links if other.joint.driven]
            if joint.mimic.joint not in own:
                sentence = (
                    f"joints with a motor are those of {', '.join(own)}" if own else "none has one"
                )
                found.append(f"mimic follows '{joint.mimic.joint}', which has no motor: {sentence}")
        count = self.freedoms(link)
        for key in ("start", "rest", "stiffness", "damping", "friction"):
            given = getattr(joint, key)
            if given is not None and len(given) not in (1, count) and given != (0.0,):
                or_all = f" value, or {count}" if count > 1 else ""
                sentence = f"{key} has {len(given)} values: this {joint.type} joint has {count}"
                found.append(f"{sentence} coordinate{'s' * (count != 1)}; give one{or_all}")
        if joint.type == "prismatic" and "start" in joint.model_fields_set:
            low = 0.0 if not link.rigid else -math.inf
            high = link.length or 0.0
            if not low <= joint.start[0] <= high:
                span = f"at most {high:g}" if link.rigid else f"from 0 to {high:g}"
                found.append(
                    f"start is {joint.start[0]:g}: it is the length outside, {span}, the length "
                    "of the link"
                )
        if joint.hangs:
            found += self._loops_around(i)
        turns = joint.hub.inertia if joint.hub is not None else (0.0,)
        if count > 1 and len(turns) == 1 and turns != (0.0,):
            found.append(f"hub of a {joint.type} joint needs three inertias, not one")
        return found + (link.out_of_plane("mechanism") if self.planar else [])

    def _loops_around(self, i: int) -> list[str]:
        """Which closures hold the joint of a link that should hang, a sentence each."""
        parents = self.parents
        found = []
        for k, closure in enumerate(self.closures):
            for end in closure.ends:
                if end.link not in (BASE, *self._names):
                    continue  # which has a sentence of its own
                at = self.end_index(end)
                while at > i:
                    at = parents[at]
                if at == i:
                    found.append(
                        f"hangs is for joints that no closure holds, and {self.closure_name(k)} "
                        f"ties {end.link}: leave it out, loops find where the joint stands"
                    )
                    break
        return found

    def _place_problems(self, i: int, at: float) -> list[str]:
        """What is wrong with a place along a link."""
        if i < 0:
            return ["at is for places along a link: base has none, use mount"]
        length = self.links[i].length or 0.0
        if at > length:
            name = self.links[i].name
            return [f"at is {at:g}: it must be at most {length:g}, the length of {name}"]
        return []

    def freedoms(self, link: MechanismLink) -> int:
        """Return the number of coordinates of a link's joint; in the plane at most one."""
        return len(link.joint.coordinates(self.planar))

    @property
    def parents(self) -> tuple[int, ...]:
        """Index of the link that carries each link, -1 for the base."""
        index = {BASE: -1, **{name: i for i, name in enumerate(self._names)}}
        return tuple(
            i - 1 if link.parent is None else index[link.parent]
            for i, link in enumerate(self.links)
        )

    def end_index(self, end: ClosureEnd) -> int:
        """Return the index of a closure end's link, -1 for the base."""
        return -1 if end.link == BASE else self._names.index(end.link)

    @property
    def tip_index(self) -> int:
        """Index of the link whose end is the tip."""
        return len(self.links) - 1 if self.tip is None else self._names.index(self.tip)

    @property
    def _names(self) -> list[str]:
        return [link.name for link in self.links]

    def closure_name(self, i: int) -> str:
        """Return the name of a closure: the one given, or closure1, closure2, ..."""
        return self.closures[i].name or f"closure{i + 1}"

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the entries of theta: driven joints, then distance closures with a motor."""
        joints = [link.name for link in self.links if link.joint.driven]
        rods = [self.closure_name(i) for i, closure in enumerate(self.closures) if closure.motor]
        return (*joints, *rods)
