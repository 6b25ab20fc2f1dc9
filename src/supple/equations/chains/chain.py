"""Chain: a serial arm or a tree under a basis as plain numbers, what the equations run over."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...architectures.coordinate_map import CoordinateMap, Meaning, Slot
from ...architectures.tree import Tree
from ...beams.invariants import Invariants
from ...beams.shapes import EndLoad, LinkShapes
from ...beams.sliding.clamped_mass import SHORTEST_FREE_FRACTION
from ...beams.sliding.shapes import SlidingShapes
from ...beams.theory import AnyBeam
from ...errors import SuppleError
from ...robot import MechanismLink
from ...robot.joint import TURNS
from ...structure import Structure
from .sprung_turns import BearingCoupling
from .supports import Support

__all__ = [
    "Chain",
    "ChainLink",
    "check_lengths",
    "check_link",
    "distal_loads",
    "drop_rounding_noise",
    "mimics",
    "root_stiffness",
]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ChainLink:
    """One link as numbers, in segment axes (the section's, after `roll`).

    Attributes
    ----------
    R_PM
        (3, 3), these axes at joint angle zero, seen from the previous end.
    p_PM
        (3,), the joint, seen from the previous end.
    axis
        (3,) unit, or None for a fixed joint.
    inv
        Integrals of the beam.
    shapes
        None for a rigid link.
    root_mass, tip_mass
        (6, 6), bodies at the root and at the end.
    rotor, spring
        Of the joint; spring None: rigid.
    R_SL
        (3, 3), link axes seen from segment axes.
    slide
        Shapes of a link that slides; inv and shapes are then those of its whole length, clamped
        there.
    EI
        Bending stiffness at the root.
    parent
        Place of the link that carries it, -1 for the base, None for the link before.
    carrier
        0 on that link's end, k on its station k - 1.
    stations
        (x, N (3, kz), Psi (3, k)) of sections along this link that carry others; where it slides x
        alone counts.
    passive
        No motor moves its joint.
    leading
        Axes of a universal or spherical joint that turn before `axis`.
    order
        Which coordinate of the joint turns about each axis, leading ones first; -1: the cross of
        its bearing.
    bearing
        The springs before its joint.
    under
        What a joint about several axes feels of them, where they turn.
    mimic
        The link whose motor its passive joint follows, multiplier and offset.
    floats
        What a free joint is, a support without springs whose coordinates are passive.
    """

    name: str
    R_PM: Array
    p_PM: Array
    axis: Array | None
    inv: Invariants
    shapes: LinkShapes | None
    root_mass: Array
    tip_mass: Array
    rotor: float
    spring: float | None
    R_SL: Array
    slide: SlidingShapes | None = None
    EI: tuple[float, float] = (math.inf, math.inf)
    parent: int | None = None
    carrier: int = 0
    stations: tuple[tuple[float, Array, Array], ...] = ()
    passive: bool = False
    leading: tuple[Array, ...] = ()
    order: tuple[int, ...] = (0,)
    bearing: Support | None = None
    under: BearingCoupling | None = None
    mimic: tuple[int, float, float] | None = None
    floats: Support | None = None

    @property
    def freedoms(self) -> int:
        """Number of its joint's coordinates, if it has a joint."""
        return sum(k >= 0 for k in self.order)

    @property
    def moves(self) -> bool:
        """Whether its joint has a coordinate."""
        return self.axis is not None or self.slide is not None


@dataclass(frozen=True)
class Chain:
    """The links of an open chain or tree, and where their coordinates stand in q.

    q = [theta, eps, bearings by joint, foundation, passive, eta].

    Attributes
    ----------
    tip
        The link whose end is the tip.
    lengths
        Names of motors that move no joint but the length of a closure; theta has them after the
        joints'.
    followers
        Places, among the coordinates of the whole tree, of those that loops determine: they are
        left out of q.
    start
        (N,), q of the assembled pose, unbent; empty: zero.
    foundation
        Springs that all of it stands on.
    sprung_rods
        Name and stiffness (N/m) of closures whose length gives way: one entry of eps each, after
        the joints'.
    rod_rotors
        (kg) what moves with each of `lengths`; empty: nothing.
    """

    links: tuple[ChainLink, ...]
    gravity: tuple[float, float, float]
    planar: bool
    tip: int = -1
    lengths: tuple[str, ...] = ()
    followers: tuple[int, ...] = ()
    start: tuple[float, ...] = ()
    foundation: Support | None = None
    sprung_rods: tuple[tuple[str, float], ...] = ()
    rod_rotors: tuple[float, ...] = ()

    @cached_property
    def joints(self) -> tuple[int, ...]:
        """Links whose joint a motor moves, in order: one entry of theta each."""
        return tuple(i for i, link in enumerate(self.links) if link.moves and not link.passive)

    @property
    def motors(self) -> tuple[str, ...]:
        """Names of the entries of theta: of links, then of closures."""
        return (*(self.links[i].name for i in self.joints), *self.lengths)

    @cached_property
    def sprung(self) -> tuple[int, ...]:
        """Links whose motor has a spring: one entry of eps each."""
        return tuple(i for i in self.joints if self.links[i].spring is not None)

    @cached_property
    def theta(self) -> dict[int, int]:
        """Place in q of the joint coordinate of each link with a motor."""
        return {link: place for place, link in enumerate(self.joints)}

    @cached_property
    def _independent_places(self) -> tuple[list[tuple[int, ...]], ...]:
        """Places in q of springs, supports, passive and elastic coordinates, followers left out.

        One tuple for every sprung link, every support and, twice, every link.
        """
        counts = [
            [1 for _ in (*self.sprung, *self.sprung_rods)],
            [support.count for support in self._springs.values()],
            [link.freedoms * link.passive for link in self.links],
            [link.inv.count for link in self.links],
        ]
        full_start = start = len(self.motors)
        parts: tuple[list[tuple[int, ...]], ...] = ([], [], [], [])
        for part, sizes in zip(parts, counts, strict=True):
            for size in sizes:
                independent = [
                    k for k in range(full_start, full_start + size) if k not in self.followers
                ]
                part.append(tuple(range(start, start + len(independent))))
                full_start = full_start + size
                start = start + len(independent)
        return parts

    @property
    def _springs(self) -> dict[int, Support]:
        """Bearings by their link, then the foundation as -1."""
        each = {i: link.bearing for i, link in enumerate(self.links)} | {-1: self.foundation}
        return {i: support for i, support in each.items() if support is not None}

    @cached_property
    def eps(self) -> dict[int, int]:
        """Place in q of the spring angle of each sprung link; one that follows has none."""
        places = self._independent_places[0][: len(self.sprung)]
        return {i: at[0] for i, at in zip(self.sprung, places, strict=True) if at}

    @cached_property
    def rod_eps(self) -> dict[str, int]:
        """Place in q of how far each closure that gives way is longer than it should be."""
        places = self._independent_places[0][len(self.sprung) :]
        return {name: at[0] for (name, _), at in zip(self.sprung_rods, places, strict=True) if at}

    @cached_property
    def rotors_of_rods(self) -> dict[int, float]:
        """Mass, kg, on the length of each driven closure that has one, by its place in q."""
        first = len(self.joints)
        return {first + k: mass for k, mass in enumerate(self.rod_rotors) if mass}

    @cached_property
    def supports(self) -> dict[int, tuple[Support, tuple[int, ...]]]:
        """Bearings by their link, then the foundation as -1, with their places in q."""
        places = zip(self._springs.items(), self._independent_places[1], strict=True)
        return {i: (support, at) for (i, support), at in places}

    @property
    def passive(self) -> tuple[tuple[int, ...], ...]:
        """Places in q of the passive coordinates of each link."""
        return tuple(self._independent_places[2])

    @cached_property
    def eta(self) -> tuple[slice, ...]:
        """Place in q of the elastic coordinates of each link."""
        counts = [len(at) for part in self._independent_places for at in part]
        first = len(self.motors) + sum(counts[: -len(self.links)])
        edges = np.cumsum([first, *counts[-len(self.links) :]]).tolist()
        return tuple(slice(a, b) for a, b in pairwise(edges))

    @property
    def stiff(self) -> int:
        """Number of coordinates before the elastic ones of the links."""
        return int(self.eta[0].start)

    @cached_property
    def bodies(self) -> tuple[tuple[int, int], ...]:
        """(link, turn) of all that the recursions run over: a link, after its leading turns.

        Bearings and free joints come before these as turn -1 of a link, a foundation as (-1, -1).
        """
        first = ((-1, -1),) if self.foundation is not None else ()
        starts = [-1 if link.bearing or link.floats else 0 for link in self.links]
        ends = [1 + len(link.leading) for link in self.links]
        return first + tuple((i, k) for i, a in enumerate(starts) for k in range(a, ends[i]))

    @cached_property
    def body(self) -> tuple[int, ...]:
        """Place among the bodies of every link."""
        last = [(i, len(link.leading)) for i, link in enumerate(self.links)]
        return tuple(self.bodies.index(each) for each in last)

    def turning_coordinates(self, i: int, turn: int = 0) -> list[int]:
        """Places in q of what turns link i about one of its axes: theta and eps, or a passive."""
        if turn < 0 or self.links[i].axis is None:
            return []
        if self.links[i].passive:
            k = self.links[i].order[turn]
            return [self.passive[i][k] if k >= 0 else self.supports[i][1][-1]]
        return [table[i] for table in (self.theta, self.eps) if i in table]

    def elastic_coordinates(self, n: int) -> list[int]:
        """Places in q of the elastic coordinates of body n: of a support, or a link's own."""
        i, turn = self.bodies[n]
        if turn < 0:
            support, places = self.supports.get(i, (self.links[i].floats, self.passive[i]))
            return list(places[: support.columns.shape[1]]) if support is not None else []
        return self.own(i) if n == self.body[i] else []

    @cached_property
    def sliding(self) -> tuple[int, ...]:
        """Links that slide."""
        return tuple(i for i, link in enumerate(self.links) if link.slide is not None)

    def own(self, i: int) -> list[int]:
        """Places in q of a link's own coordinates: eta, after the length of one that slides."""
        bent = list(range(self.eta[i].start, self.eta[i].stop))
        return [self.lengths_at[i], *bent] if self.links[i].slide is not None else bent

    @cached_property
    def lengths_at(self) -> dict[int, int]:
        """Place in q of the free length of every link that slides; one that follows has none."""
        passive = {i: self.passive[i][0] for i in self.sliding if self.passive[i]}
        return passive | {i: self.theta[i] for i in self.sliding if i in self.theta}

    def pose(self, theta: Array | None = None) -> Array:
        """Return q unbent with the motors at theta; None: where the robot is assembled."""
        q = np.array(self.start) if self.start else np.zeros(self.size)
        if theta is not None:
            q[: len(self.motors)] = theta
        return q

    def stroke(self, i: int) -> tuple[float, float]:
        """Return the least and largest free length of a link that slides.

        A rigid carriage may stand at zero and below, unless something sits along it.
        """
        link = self.links[i]
        full_length = self.links[i].inv.length
        least = -math.inf if link.shapes is None else SHORTEST_FREE_FRACTION * full_length
        return max([least, *(x * (1 - 1e-12) for x, *_ in link.stations)]), full_length * (
            1 + 1e-12
        )

    @property
    def size(self) -> int:
        """Length of q."""
        return int(self.eta[-1].stop)

    @cached_property
    def coordinate_map(self) -> CoordinateMap:
        """What each entry of q is: name, unit, owner and meaning."""
        slots = enumerate(_slots(self))
        return CoordinateMap.of(slot for k, slot in slots if k not in self.followers)

    @cached_property
    def dependent_map(self) -> CoordinateMap:
        """What each coordinate is that loops or other joints determine, in the tree's order."""
        slots = enumerate(_slots(self))
        return CoordinateMap.of(
            replace(slot, independent=False) for k, slot in slots if k in self.followers
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, such as `theta.link1`, `eps.link1`, `eta.link1.xy1`."""
        return self.coordinate_map.names

    def index(self, name: str) -> int:
        """Return the place of the link of this name."""
        for i, link in enumerate(self.links):
            if link.name == name:
                return i
        known = ", ".join(link.name for link in self.links)
        raise SuppleError(f"there is no link '{name}': the links are {known}")

    def stiffness(self) -> Array:
        """(N, N) stiffness: joint springs on eps, the links' on eta, zero on theta.

        Zero too on eta of a link that slides, whose stiffness depends on its length.
        """
        K = np.zeros((self.size, self.size))
        for i, place_ in self.eps.items():
            K[place_, place_] = self.links[i].spring or 0.0
        for name, stiffness in self.sprung_rods:
            if name in self.rod_eps:
                K[self.rod_eps[name], self.rod_eps[name]] = stiffness
        for support, places in self.supports.values():
            K[np.ix_(places, places)] = support.K
        for link, part in zip(self.links, self.eta, strict=True):
            if link.slide is None:
                K[part, part] = drop_rounding_noise(link.inv.K)
        return K


def mimics(chain: Chain) -> tuple[tuple[int, int, float, float], ...]:
    """Return the joint coordinates that follow others: place, the other's, multiplier, offset."""
    each = [(chain.passive[i], link.mimic) for i, link in enumerate(chain.links)]
    return tuple((at[0], chain.theta[m[0]], m[1], m[2]) for at, m in each if m is not None)


def check_lengths(chain: Chain, q: Array) -> None:
    """Raise a SuppleError unless every free length in q lies on its beam."""
    for i, at in chain.lengths_at.items():
        free, (least, most) = q[..., at], chain.stroke(i)
        low = float(free.min(initial=most))
        high = float(free.max(initial=least))
        if low < least or high > most:
            span = f"between {least:g} m and" if math.isfinite(least) else "at most at"
            raise SuppleError(
                f"the free length of {chain.links[i].name} is {low if low < least else high:g} "
                f"m: it must lie {span} the beam's length {most:g} m; give its joint coordinate"
            )


def _slots(chain: Chain) -> list[Slot]:
    """What every coordinate of the whole tree is, followers among them."""
    slots = []
    for k, name in enumerate(chain.motors):
        slides = k >= len(chain.joints) or chain.links[chain.joints[k]].slide is not None
        slots.append(Slot(f"theta.{name}", "m" if slides else "rad", name, "motor"))
    for i in chain.sprung:
        slots.append(Slot(f"eps.{chain.links[i].name}", "rad", chain.links[i].name, "spring"))
    for name, _ in chain.sprung_rods:
        slots.append(Slot(f"eps.{name}", "m", name, "spring"))
    for i, (support, _) in chain.supports.items():
        owner = chain.links[i].name if i >= 0 else "foundation"
        word = f"bearing.{owner}" if i >= 0 else owner
        for name in support.names:
            unit = {"x": "m", "y": "m", "z": "m"}.get(name, "1" if name.isdigit() else "rad")
            slots.append(Slot(f"{word}.{name}", unit, owner, "bearing"))
    for link in chain.links:
        if not link.passive:
            continue
        kind = "spherical" if link.freedoms == 3 else "universal"
        words = [turn.word for turn in TURNS["free" if link.floats else kind]]
        if link.floats and chain.planar:
            words = [word for word in words if word in (".x", ".y", ".yaw")]
        meaning: Meaning = "passive" if link.mimic is None else "mimic"
        for word in words if link.freedoms > 1 else [""]:
            slides = link.slide is not None or word in (".x", ".y", ".z")
            unit = "m" if slides else "rad"
            slots.append(Slot(f"passive.{link.name}{word}", unit, link.name, meaning))
    for link in chain.links:
        seen: dict[str, int] = {}
        for kind in link.shapes.kinds if link.shapes is not None else ():
            seen[kind] = seen.get(kind, 0) + 1
            unit = "rad" if kind == "torsion" else "m"
            slots.append(Slot(f"eta.{link.name}.{kind}{seen[kind]}", unit, link.name, "elastic"))
    return slots


def drop_rounding_noise(A: Array) -> Array:
    """Return a positive matrix with the rounding noise off its diagonal set to zero."""
    d = np.sqrt(np.abs(np.diag(A)))
    return np.where(np.abs(A) <= 1e-13 * np.outer(d, d), 0.0, A)


def check_link(tree: Tree, link: MechanismLink) -> None:
    """Raise a SuppleError unless a link and its joint are ones that the equations know."""
    joint = link.joint
    if joint.driven and joint.stiffness is not None and joint.reflected_inertia <= 0:
        where = tree.lowered.motor or f"links.{link.name}.joint"
        raise SuppleError(
            f"{where} has a spring but no rotor_inertia: give the inertia of its motor (reflected "
            "to the joint), or remove stiffness"
        )


def distal_loads(structure: Structure) -> tuple[EndLoad, ...]:
    """Return M_L and J_L of the rest of the arm about the end of every link, (MD) = 0.

    Links that meet in a closure carry equal parts of the mass there.
    Source: [DeLuca1991], Eq. (28), for any number of links.
    """
    n = len(structure.segments)
    beyond = [segment.tip_mass.copy() for segment in structure.segments]
    for closure in structure.closures:
        shared = structure.segments[closure.b].tip_mass[0, 0] / len(structure.closures)
        beyond[closure.a] += np.diag([shared] * 3 + [0.0] * 3)
    for i in reversed(range(n)):
        L = structure.L[0, i]
        segment = structure.segments[i]
        if segment.parent < 0:
            continue
        to_end = np.eye(6)
        to_end[:3, 3:] = -np.array([[0, 0, 0], [0, 0, -L], [0, L, 0]])
        distal_mass = segment.beam.outside(float(L)).mass_matrix() + structure.root_mass[0, i]
        distal_mass = distal_mass + to_end.T @ beyond[i] @ to_end
        T = structure.T[0, i]
        beyond[segment.parent] = beyond[segment.parent] + T.T @ distal_mass @ T
    return tuple(EndLoad(M[0, 0], tuple(np.maximum(np.diag(M)[3:], 0.0))) for M in beyond)


def root_stiffness(beam: AnyBeam) -> tuple[float, float]:
    """Return EI of both bending planes at a beam's root."""
    xy, xz = beam.at([0.0])[0, 2:4].tolist()
    return xy, xz
