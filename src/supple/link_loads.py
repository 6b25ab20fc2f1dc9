"""Loads anywhere on a link: forces and moments at a point, and forces spread along it.

At rest a load enters exactly. Its work on the static shapes of a beam follows from the deflection
that it causes on the beam clamped at its root and free at its end, by reciprocity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .answers.immutable import Immutable
from .arguments import brief, instance, number
from .beams.invariants import gauss_points
from .beams.theory import AnyBeam
from .beams.varying import VaryingBeam
from .errors import SuppleError
from .kernels.spatial import transport
from .structure import Structure

__all__ = [
    "DistributedLoad",
    "Load",
    "PointLoad",
    "SegmentLoad",
    "a_list_of_loads",
    "placed_loads",
    "unit_load",
]

Array = NDArray[np.float64]
NODES = 8  # of Gauss's rule on a stretch of a beam: forces along it of degree 10 and more
STRETCHES = 4  # into which a beam is cut at least where a force is spread along it


class Load(Immutable):
    """A load on one link, in base axes; a PointLoad or a DistributedLoad."""

    link: str

    def points(self, count: int) -> list[tuple[float, Array]]:
        """Return the load as fractions of the link with wrenches (6,), per metre if distributed."""
        raise NotImplementedError


def _three_numbers(name: str, value: Any) -> Array:
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        found = np.full(1, np.nan)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise SuppleError(f"{name} is {brief(value)}: give three numbers, base axes")
    return found


@dataclass(frozen=True)
class PointLoad(Load):
    """A force and a moment on one section of a link, constant in base axes.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link, from 0 (root) to 1 (end).
    force, moment : array_like
        (3,) each, N and N m, base axes.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("industrial-3")
    >>> push = supple.PointLoad("link1", 0.5, force=[0, -1000, 0])
    >>> found = supple.statics(arm, [0, 0, 0], loads=[push])
    >>> bool(found.tip_displacement[1] < 0)
    True
    """

    link: str
    fraction: float = 1.0
    force: ArrayLike = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)

    checks: ClassVar = {
        "link": instance(str, "the name of a link"),
        "fraction": number(0, 1, give="a place from 0 (root) to 1 (end)"),
        "force": _three_numbers,
        "moment": _three_numbers,
    }

    @property
    def wrench(self) -> Array:
        """(6,) force, then moment, base axes."""
        return np.concatenate([np.asarray(self.force, float), np.asarray(self.moment, float)])

    def points(self, count: int) -> list[tuple[float, Array]]:
        return [(float(self.fraction), self.wrench)]


def _force_along(name: str, value: Any) -> Any:
    return value if callable(value) else _three_numbers(name, value)


@dataclass(frozen=True)
class DistributedLoad(Load):
    """A force per length along a whole link, in base axes.

    Parameters
    ----------
    link : str
        Name of the link.
    force_per_length : array_like or callable
        (3,) N/m, or a smooth function of the fraction of the link's length that returns (3,).

    Examples
    --------
    >>> import supple
    >>> wind = supple.DistributedLoad("link2", [0, -3, 0])
    >>> found = supple.statics(supple.load("industrial-3"), [0, 0, 0], loads=[wind])
    >>> bool(found.tip_displacement[1] < 0)
    True
    """

    link: str
    force_per_length: ArrayLike | Callable[[float], ArrayLike] = (0.0, 0.0, 0.0)

    checks: ClassVar = {
        "link": instance(str, "the name of a link"),
        "force_per_length": _force_along,
    }

    def at(self, fraction: float) -> Array:
        """Return the force per length (3,) at a fraction of the link, N/m."""
        if not callable(self.force_per_length):
            return np.asarray(self.force_per_length, float)
        try:
            given = self.force_per_length(float(fraction))
        except Exception as problem:
            raise SuppleError(
                f"force_per_length of {self.link} failed at the fraction {fraction:g}: "
                f"{type(problem).__name__}: {problem}"
            ) from problem
        return _three_numbers(f"force_per_length of {self.link} at {fraction:g}", given)

    def points(self, count: int) -> list[tuple[float, Array]]:
        """Return Gauss points as fractions, with wrenches (6,) per metre times their weight."""
        nodes, weights = np.polynomial.legendre.leggauss(count)
        found = []
        for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
            found.append(
                (float(node), np.concatenate([weight * self.at(float(node)), np.zeros(3)]))
            )
        return found


def a_list_of_loads(name: str, value: Any) -> tuple[Load, ...]:
    """Return loads as a tuple, or say what they must be."""
    if isinstance(value, Load):
        return (value,)
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise SuppleError(
            f'{name} is {brief(value)}: give a list such as [supple.PointLoad("link1", 0.5, '
            "force=[0, -10, 0])]"
        )
    for each in value:
        if not isinstance(each, PointLoad | DistributedLoad):
            raise SuppleError(
                f"{name} has {brief(each)}: give supple.PointLoad or supple.DistributedLoad"
            )
    return tuple(value)


def unit_load(name: str) -> PointLoad | None:
    """Return the unit load of an input such as force.LINK@0.5.y, None of any other word."""
    kind, _, rest = str(name).partition(".")
    place, _, axis = rest.rpartition(".")
    link, at, fraction = place.rpartition("@")
    if kind not in ("force", "moment") or not at or axis not in ("x", "y", "z"):
        return None
    try:
        where_on_link = float(fraction)
    except ValueError:
        where_on_link = math.nan
    if not 0 <= where_on_link <= 1:
        raise SuppleError(
            f"input is {name!r}: its place is {fraction!r}, give one from 0 (root) to 1 (end), "
            f"such as {kind}.{link}@0.5.{axis}"
        )
    unit = tuple(np.eye(3)["xyz".index(axis)].tolist())
    if kind == "force":
        return PointLoad(link, where_on_link, force=unit)
    return PointLoad(link, where_on_link, moment=unit)


@dataclass(frozen=True)
class SegmentLoad:
    """All loads on one segment of a Structure, in its axes.

    Attributes
    ----------
    beam
        What is outside of a hub.
    at, wrench
        (P,) m and (P, 6), of point loads.
    spread
        Functions x -> (3,), N/m.
    """

    beam: AnyBeam
    length: float
    at: Array
    wrench: Array
    spread: tuple[Callable[[float], Array], ...]

    @property
    def resultant(self) -> Array:
        """(6,) what the root carries of all loads, about the root."""
        return -transport(self.length).T @ self.state_at(np.array([self.length]), after=True)[0, 6:]

    def breaks(self) -> Array:
        """Return where the load or the beam may jump, from 0 to the length."""
        cuts = [np.array([0.0, self.length]), self.at]
        if self.spread:
            cuts.append(np.linspace(0.0, self.length, STRETCHES + 1))
        if isinstance(self.beam, VaryingBeam):
            edges = self.beam.edges()
            fine = [np.linspace(a, b, 3) for a, b in pairwise(edges)]
            cuts += fine
        inside = np.concatenate(cuts)
        return np.unique(np.clip(inside, 0.0, self.length))

    def state_at(self, x: ArrayLike, after: bool = False) -> Array:
        """Return (P, 12) motion and resultants at x of a beam whose root neither moves nor carries.

        The resultants are those just inside a point load, or with `after` those just outside it.
        """
        wanted = np.asarray(x, float)
        stops = np.unique(np.concatenate([self.breaks(), wanted]))
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        nodes = (nodes + 1) / 2
        weights = weights / 2
        moved = np.zeros(6)
        resultants = self._jump(0.0)
        inner = {0.0: np.zeros(12)}
        outer = {0.0: np.concatenate([moved, resultants])}
        for a, b in pairwise(stops):
            step = b - a
            # d(b) = X(b - a) d(a) + int X(b - t) c(t) n(t) dt, n the resultants at t
            places = a + step * nodes
            compliances = self.beam.compliances(places)
            grown = transport(step) @ moved
            for place, weight, compliance in zip(places, weights, compliances, strict=True):
                n = self._carry_resultant(resultants, a, place, nodes, weights)
                grown = grown + step * weight * transport(b - place) @ (compliance * n)
            moved = grown
            resultants = self._carry_resultant(resultants, a, b, nodes, weights)
            inner[float(b)] = np.concatenate([moved, resultants])
            resultants = resultants + self._jump(b)
            outer[float(b)] = np.concatenate([moved, resultants])
        found = outer if after else inner
        return np.array([found[float(place)] for place in wanted]).reshape(len(wanted), 12)

    def _jump(self, x: float) -> Array:
        """Resultants taken away by point loads at x."""
        return -np.asarray(self.wrench[self.at == x].sum(axis=0))

    def _carry_resultant(
        self, carried: Array, a: float, b: float, nodes: Array, weights: Array
    ) -> Array:
        """Resultants at b from those at a, with what is spread between them."""
        found = transport(a - b).T @ carried
        if not self.spread:
            return np.asarray(found)
        step = b - a
        places = a + step * nodes
        pushed = sum((np.array([force(x) for x in places]) for force in self.spread), np.zeros(3))
        pushed = step * weights[:, None] * pushed
        found[:3] -= pushed.sum(axis=0)
        found[4] += (places - b) @ pushed[:, 2]
        found[5] -= (places - b) @ pushed[:, 1]
        return np.asarray(found)

    def energy(self, root: Array, weight: Array, carry: Callable[..., Array]) -> float:
        """Return the strain energy of the beam, J, given its root's state and its own weight."""
        places, weights = gauss_points(self.breaks(), NODES // 2)
        states = carry(self.beam, 0.0, places, root, weight) + self.state_at(places)
        density = (states[:, 6:] ** 2 * self.beam.compliances(places) / 2).sum(axis=1)
        return float(weights @ density)


def placed_loads(structure: Structure, loads: Sequence[Load]) -> dict[int, SegmentLoad]:
    """Return the loads of every loaded segment of a Structure at its first configuration."""
    at: dict[int, list[float]] = {}
    wrenches: dict[int, list[Array]] = {}
    spread: dict[int, list[Callable[[float], Array]]] = {}
    for load in loads:
        own = structure.pieces(load.link)
        if isinstance(load, PointLoad):
            i, x = structure.section(load.link, load.fraction)
            turn = np.kron(np.eye(2), structure.R[0, i].T)
            at.setdefault(i, []).append(x)
            wrenches.setdefault(i, []).append(turn @ load.wrench)
        else:
            assert isinstance(load, DistributedLoad)
            link_length = float(structure.L[0, own].sum())
            begin = 0.0
            for i in own:
                along = _spread_on(load, structure.R[0, i], begin, link_length)
                spread.setdefault(i, []).append(along)
                begin += float(structure.L[0, i])
    found = {}
    for i in sorted({*at, *spread}):
        length = float(structure.L[0, i])
        beam = structure.segments[i].beam.outside(length)
        places = np.array(at.get(i, []))
        wrench = np.array(wrenches.get(i, [])).reshape(-1, 6)
        found[i] = SegmentLoad(beam, length, places, wrench, tuple(spread.get(i, [])))
    return found


def _spread_on(
    load: DistributedLoad, R: Array, begin: float, whole: float
) -> Callable[[float], Array]:
    """Return the force per length (3,) at x metres of a segment, its axes."""

    def force(x: float) -> Array:
        fraction = min((begin + x) / whole, 1.0) if whole else 0.0
        return np.asarray(R.T @ load.at(fraction))

    return force
