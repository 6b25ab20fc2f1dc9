"""Limbs: the parts of a tree that hang on the base side by side, written out once where alike.

What one limb does depends on no other, seen from its own root: place, mass and forces of a tree
are those of its limbs. Legs that differ in nothing but where they stand share one set of functions.
On a foundation, which moves with all that it carries, the whole tree is one limb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pickle import dumps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.scalars import Matrix, Vector, total
from ..evaluate import casadi, slope
from .chain import Chain
from .chain_equations import ChainEquations, Frames, laws_of, section_frame
from .link_inertia import LinkNumbers
from .sliders import numbers_at_lengths

__all__ = ["Limb", "limbs_of", "sparse"]

Array = NDArray[np.float64]
Frame = tuple[Vector, Matrix]


class Part:
    """The functions of a limb, or of several alike, in the axes of their roots."""

    def __init__(self, laws: ChainEquations) -> None:
        self.laws = laws
        self._made: dict[Any, Any] = {}

    @cached_property
    def symbolic_form(self) -> tuple[Any, ChainEquations, Frames]:
        """Symbols of its coordinates, the laws with numbers of sliding links there, and frames."""
        ca = casadi()
        chain = self.laws.chain
        z = ca.SX.sym("z", chain.size)
        x = ca.vertsplit(z)
        own = [[x[place] for place in chain.own(i)] for i in range(len(chain.links))]
        laws = replace(self.laws, links=list(numbers_at_lengths(self.laws.links, own)))
        return z, laws, laws.frames(x)

    def function(self, name: str) -> Any:
        """Return inverse (z, zd, zdd, g), loaded (.., wrench), mass (z), kinetic (z, zd) or others.

        Weight takes (z, g), height (z, g, p).
        """
        if name not in self._made:
            inputs, output = self._expression(name)
            self._made[name] = casadi().Function(name, inputs, casadi().cse([output]))
        return self._made[name]

    def _expression(self, name: str) -> tuple[list[Any], Any]:
        """Symbols that a function takes, and what it returns in them."""
        ca = casadi()
        z, laws, _ = self.symbolic_form
        n = laws.chain.size
        zd = ca.SX.sym("v", n)
        zdd = ca.SX.sym("a", n)
        g = ca.SX.sym("g", 3)
        coordinates = ca.vertsplit(z)
        speeds = ca.vertsplit(zd)
        accelerations = ca.vertsplit(zdd)
        gravity = ca.vertsplit(g)
        at_rest = [0.0] * n
        weightless = [0.0] * 3

        def column(forces: Vector) -> Any:
            return ca.vertcat(*map(ca.SX, forces))

        if name == "mass":
            rows = [ca.horzcat(*map(sparse, row)) for row in laws.mass(coordinates)]
            return [z], ca.sparsify(ca.vertcat(*rows))
        if name == "kinetic":  # zd' M zd / 2: the momenta are the forces of unit accelerations
            momenta = laws.inverse(coordinates, at_rest, speeds, weightless, None)
            return [z, zd], ca.dot(column(momenta), zd) / 2
        if name == "height":
            links = [link for link in laws.links if isinstance(link, LinkNumbers)]  # all are, here
            parts = [[link.mass, link.root_mass[0][0], link.tip_mass[0][0]] for link in links]
            mass = total([x for part in parts for x in part])
            root = ca.SX.sym("p", 3)
            return [z, g, root], ca.SX(laws.height(coordinates, gravity) - mass * ca.dot(g, root))
        if name == "weight":
            forces = laws.inverse(coordinates, at_rest, at_rest, gravity, None)
            return [z, g], ca.densify(column(forces))
        inputs = [z, zd, zdd, g]
        wrench = None
        if name == "loaded":
            load = ca.SX.sym("F", 6)
            inputs.append(load)
            wrench = ca.vertsplit(load)
        forces = laws.inverse(coordinates, speeds, accelerations, gravity, wrench)
        return inputs, ca.densify(column(forces))

    def slope(self, name: str, k: int) -> Any:
        """Return how a function changes with its input k, as a function of the same."""
        if (name, "slope", k) not in self._made:
            self._made[name, "slope", k] = slope(self.function(name), k)
        return self._made[name, "slope", k]

    def section(self, i: int, k: int) -> Any:
        """Return z to place (3,) and link axes (3, 3) of section k of its link i."""
        if (i, k) not in self._made:
            ca, (z, laws, frames) = casadi(), self.symbolic_form
            p, R = section_frame(laws.chain, frames, i, k)
            axes = ca.vertcat(*(ca.horzcat(*map(sparse, row)) for row in R))
            found = [ca.vertcat(*map(ca.SX, p)), axes]
            self._made[i, k] = ca.Function("section", [z], ca.cse(found))
        return self._made[i, k]


@dataclass(frozen=True)
class Limb:
    """One limb of a tree.

    Attributes
    ----------
    part
        What it does.
    links
        Its links in the tree.
    places
        Of its coordinates in z.
    R, p
        (3, 3), (3,), axes and place of its root in base axes.
    """

    part: Part
    links: tuple[int, ...]
    places: tuple[int, ...]
    R: Array
    p: Array

    @cached_property
    def turn(self) -> Any:
        """R as a sparse matrix, its rounding noise dropped."""
        ca = casadi()
        return ca.sparsify(ca.DM(_clean(self.R)))

    def forces(self, name: str, z: Any, zd: Any, zdd: Any, g: Any, wrench: Any = None) -> Any:
        """Return inverse, or loaded with a wrench (6,) on its tip, on its own coordinates."""
        ca = casadi()
        at = list(self.places)
        back = self.turn.T
        given = [z[at], zd[at], zdd[at], ca.mtimes(back, g)]
        if wrench is not None:
            given.append(ca.vertcat(ca.mtimes(back, wrench[:3]), ca.mtimes(back, wrench[3:])))
        return self.part.function(name)(*given)

    def slopes(self, k: int, z: Any, zd: Any, zdd: Any, g: Any) -> Any:
        """Return how inverse changes with its own coordinates, or with their rates, k = 1."""
        ca = casadi()
        at = list(self.places)
        slope = self.part.slope("inverse", k)
        return slope(z[at], zd[at], zdd[at], ca.mtimes(self.turn.T, g))

    def weight(self, z: Any, g: Any, slopes: bool = False) -> Any:
        """Return the forces of gravity on its own coordinates, or how these change them."""
        weight_function = self.part.slope("weight", 0) if slopes else self.part.function("weight")
        return weight_function(z[list(self.places)], casadi().mtimes(self.turn.T, g))

    def inertia(self, z: Any) -> Any:
        """Return the mass matrix of its own coordinates."""
        return self.part.function("mass")(z[list(self.places)])

    def kinetic(self, z: Any, zd: Any) -> Any:
        """Return the kinetic energy."""
        at = list(self.places)
        return self.part.function("kinetic")(z[at], zd[at])

    def height(self, z: Any, g: Array) -> Any:
        """Return the potential of gravity, the base's origin at zero."""
        ca = casadi()
        turned = (ca.DM(_clean(self.R.T @ x)) for x in (g, self.p))
        return self.part.function("height")(z[list(self.places)], *turned)

    def section(self, i: int, k: int, z: Any) -> Frame:
        """Return place and link axes of section k of the tree's link i, base axes, as lists."""
        ca = casadi()
        p, R = self.part.section(self.links.index(i), k)(z[list(self.places)])
        place = ca.DM(_clean(self.p)) + ca.mtimes(self.turn, p)
        each = [ca.horzsplit(row) for row in ca.vertsplit(ca.mtimes(self.turn, R))]
        axes = [[(float(x) if x.is_constant() else x) if x.nnz() else 0.0 for x in r] for r in each]
        return ca.vertsplit(place), axes


def limbs_of(laws: ChainEquations) -> tuple[Limb, ...]:
    """Return the limbs of a tree."""
    chain = laws.chain
    if chain.foundation is not None:
        everything = tuple(range(len(chain.links))), tuple(range(chain.size))
        return (Limb(Part(laws), *everything, np.eye(3), np.zeros(3)),)
    members: dict[int, list[int]] = {}
    roots: list[int] = []
    for i, link in enumerate(chain.links):
        up = i - 1 if link.parent is None else link.parent
        roots.append(i if up < 0 else roots[up])
        members.setdefault(roots[i], []).append(i)
    parts: list[tuple[Any, Part]] = []
    out = []
    for root, inside in members.items():
        # A chain of its own, in the axes of its root
        first = chain.links[root]
        tip = chain.tip % len(chain.links)
        links = [replace(first, parent=-1, carrier=0, R_PM=np.eye(3), p_PM=np.zeros(3))]
        for i in inside[1:]:
            before = chain.links[i].parent
            up = i - 1 if before is None else before
            links.append(replace(chain.links[i], parent=inside.index(up)))
        end = inside.index(tip) if tip in inside else 0
        own = Chain(tuple(links), chain.gravity, chain.planar, end)
        part_laws = laws_of(own, np.zeros((own.size,) * 2))
        content: list[Any] = [end]  # all that its functions depend on
        for link, numbers in zip(links, part_laws.links, strict=True):
            content += [numbers if isinstance(numbers, LinkNumbers) else dumps(numbers)]
            content += [link.spring is None, float(link.rotor), link.order, link.passive]
            content += [axis.tolist() for axis in (*link.leading, link.R_SL)]
            for support in (link.bearing, link.floats):
                if support is not None:
                    content += [support.columns.tolist(), support.R_MS.tolist(), support.count]
        part = next((part for key, part in parts if key == content), None) or Part(part_laws)
        parts.append((content, part))
        places = np.zeros(own.size, int)
        for j, i in enumerate(inside):
            for mine, its in ((own.theta, chain.theta), (own.eps, chain.eps)):
                places[[mine[j]] if j in mine else []] = its.get(i, 0)
            supported = list(own.supports[j][1]) if j in own.supports else []
            places[supported] = list(chain.supports[i][1]) if supported else []
            places[list(own.passive[j])] = chain.passive[i]
            places[own.eta[j]] = range(chain.eta[i].start, chain.eta[i].stop)
        out.append(Limb(part, tuple(inside), tuple(places.tolist()), first.R_PM, first.p_PM))
    return tuple(out)


def sparse(value: Any) -> Any:
    """Return a scalar as a symbol, empty where it is a structural zero."""
    ca = casadi()
    return ca.SX(1, 1) if isinstance(value, float) and value == 0.0 else ca.SX(value)


def _clean(a: Array) -> Array:
    """The same with rounding noise against the largest entry dropped."""
    return np.where(np.abs(a) <= 1e-14 * np.abs(a).max(initial=0.0), 0.0, a)
