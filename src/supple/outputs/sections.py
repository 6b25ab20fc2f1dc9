"""Sections: place, motion and load of a section anywhere along a link, as expressions.

The load on a section is the balance of all that lies outside it: inertia and weight of the rest of
its beam, of what its end and stations carry, and the wrench on the tip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..arguments import instance, number
from ..beams.invariants import fields_at, invariants, rigid_invariants
from ..beams.shapes import EndLoad
from ..beams.sliding.shapes import Spot
from ..equations.chain_functions import ChainFunctions
from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import ChainEquations, balance_of, numbers
from ..equations.chains.link_inertia import (
    CarryingSection,
    LinkNumbers,
    Section,
    own_bias,
    own_mass,
)
from ..equations.chains.recursions import Balance, shift_force
from ..equations.chains.sliders import Slider
from ..equations.closed.coupled import ClosedFunctions
from ..equations.model import Model
from ..errors import SuppleError
from ..kernels.scalars import (
    Scalar,
    Vector,
    axis_rotation,
    cross,
    identity,
    matmul,
    matvec,
    negate,
    scale,
    transpose,
    vadd,
    zeros,
)
from ..structure.link_parts import link_beam
from .loops import OpenTree, pull_beyond, step_function
from .output import Motion

__all__ = [
    "LINK",
    "PLACE",
    "Cut",
    "chain_with",
    "cut_section",
    "joint_force",
    "open_laws",
    "section_load",
]

LINK = instance(str, "the name of a link")
PLACE = number(0, 1, give="a place from 0 (root) to 1 (end)")


@dataclass(frozen=True)
class Cut:
    """A section of one link in motion: bodies side by side, and where it stands among them.

    Attributes
    ----------
    balance, links
        Of the whole robot.
    n
        Place of its link among the bodies, i: among the links.
    fraction, x
        Of the link's length, or free length, and m from its root.
    section
        The section itself.
    acceleration
        (6,), -gravity in it, link axes.
    w
        Angular velocity, link axes.
    """

    balance: Balance
    links: list[LinkNumbers]
    n: int
    i: int
    fraction: float
    x: Scalar
    section: Section
    acceleration: Vector
    w: Vector
    s: Vector
    etadd: Vector

    def axes(self, v: Vector) -> Vector:
        """Return a vector of link axes in those of the section."""
        return matvec(transpose(self.section.turn), v)

    def base(self, v: Vector) -> Vector:
        """Return a vector of link axes in those of the base."""
        n = self.n
        while n >= 0:
            v = matvec(self.balance.poses[n].R, v)
            given = self.links[n].parent
            n = n - 1 if given is None else given
        return v


Moved = Model | OpenTree


def open_laws(model: Moved, what: str) -> ChainEquations:
    """Return the equations of a chain or tree, or a sentence that says what has none."""
    if isinstance(model, OpenTree):
        return model.laws
    functions = model.functions
    if isinstance(functions, ClosedFunctions):
        return functions.loops.laws
    if isinstance(functions, ChainFunctions) and isinstance(functions.laws, ChainEquations):
        return functions.laws
    raise SuppleError(
        f"{what} is for models of deflection 'rotation' and velocity 'material': this one reads "
        "its equations as a paper prints them"
    )


def chain_with(model: Moved, what: str) -> Chain:
    """Return the links that can be asked, or a sentence that says why there are none."""
    return open_laws(model, what).chain


def cut_section(
    model: Moved, what: str, link: str, fraction: float, motion: Motion, gravity: bool
) -> Cut:
    """Return the section at a fraction of a link's length, of one that slides of its free length.

    There it is the material that is at that place now, and moves on with the beam.
    """
    laws = open_laws(model, what)
    i = chain_with(model, what).index(link)
    part = model.chain.links[i]
    links = list(laws.links)
    k = 0
    own = links[i]
    x = fraction * part.inv.length
    if fraction < 1 and isinstance(own, Slider):
        k = 1 + len(own.spots)
        links[i] = replace(own, spots=(*own.spots, Spot(fraction)))
    elif fraction < 1 and isinstance(own, LinkNumbers):
        N, Psi = fields_at(part.shapes, x, bool(part.inv.pairs))
        k = 1 + len(own.stations)
        station = CarryingSection(x, N.tolist(), Psi.tolist())
        links[i] = replace(own, stations=(*own.stations, station))
    wrench = motion.load()
    found, bodies, (s, etadd) = balance_of(
        replace(laws, links=links), motion.lists(), gravity, wrench
    )
    n = model.chain.body[i]
    if isinstance(own, Slider):
        x = fraction * bodies[n].length
    section = found.poses[n].sections[k]
    acceleration = found.sections[n][k]
    w = found.rates[n].sections[k].w
    return Cut(found, bodies, n, i, fraction, x, section, acceleration, w, s, etadd[n])


def section_load(model: Moved, at: Cut, motion: Motion) -> tuple[Vector, Vector]:
    """Return force and moment of the outer part on the inner one, at the section, its axes."""
    found = at.balance
    n = at.n
    pose = found.poses[n]
    rate = found.rates[n]
    link = at.links[n]
    # The numbers of the link's beam beyond the section, without what sits at its root
    part = model.chain.links[at.i]
    described = open_laws(model, "Moment").links[at.i]
    robot: Any = model.robot
    own: Vector = [0.0] * 6
    if isinstance(described, Slider):
        outer = described.at(link.length, start=at.fraction) if at.fraction < 1 else None
    else:
        beam = link_beam(robot, robot.links[at.i])
        if part.shapes is None:
            inv = rigid_invariants(beam, at.x)
        else:
            inv = invariants(beam, part.shapes, EndLoad(), bool(part.inv.pairs), at.x)
        outer = replace(numbers(replace(part, inv=inv)), root_mass=zeros(6, 6))
    if outer is not None:
        M, H = own_mass(outer, pose)
        own = vadd(matvec(M, found.roots[n] + at.etadd), own_bias(outer, pose, rate, M, H))[:6]
    places = [link.length, *(station.x for station in link.stations)]
    for k, (section, x) in enumerate(zip(pose.sections, places, strict=True)):
        force = found.on_sections[n][k]
        if isinstance(described, Slider) and 0 < k <= len(described.spots):
            if not described.spots[k - 1].held:  # a load on the beam itself
                own = vadd(own, shift_force(scale(step_function(x, at.x), force), section.arm))
                continue
            # held by the hub along the beam, which slides through
            force = scale(step_function(x, at.x), [0.0, *force[1:]])
        elif k and not isinstance(described, Slider) and x < at.x * (1 - 1e-12):
            continue
        own = vadd(own, shift_force(force, section.arm))
    moment = vadd(own[3:], negate(cross(at.section.arm, own[:3])))
    force = at.axes(negate(own[:3]))
    moment = at.axes(negate(moment))
    if not isinstance(model, OpenTree):
        return force, moment
    p, R, _ = model.laws.frames(motion.lists()[0])[at.i]
    about = vadd(p, matvec(R, at.section.arm))
    pulls = pull_beyond(model, motion, at.i, at.x, about)
    more = [at.axes(matvec(transpose(R), each)) for each in pulls]
    return vadd(force, more[0]), vadd(moment, more[1])


def joint_force(model: Moved, i: int, motion: Motion) -> tuple[Vector, Vector]:
    """Return force and moment on a link at its joint, mounted axes.

    From the link's own axes back through the joint's turns, then through its bearing's.
    """
    laws = open_laws(model, "Reaction")
    wrench = motion.load()
    found, links, (s, _) = balance_of(laws, motion.lists(), True, wrench)
    n = model.chain.body[i]
    part = model.chain.links[i]
    G = found.on_roots[n]
    back = part.R_SL.T.tolist()
    first = n - len(part.leading)
    turn = identity(3)
    for k in range(n, first - 1, -1):
        axis = links[k].axis
        turn = turn if axis is None else matmul(axis_rotation(axis, s[k]), turn)
    turn = matmul(back, turn)
    if part.bearing or part.floats:
        turn = matmul(found.poses[first - 1].sections[0].turn, turn)
    force = G[:3]
    moment = G[3:]
    if isinstance(model, OpenTree):
        p, R, _ = model.laws.frames(motion.lists()[0])[i]
        pulls = pull_beyond(model, motion, i, -1.0, p)
        inside = [negate(matvec(transpose(R), each)) for each in pulls]
        force = vadd(force, inside[0])
        moment = vadd(moment, inside[1])
    return matvec(turn, force), matvec(turn, moment)
