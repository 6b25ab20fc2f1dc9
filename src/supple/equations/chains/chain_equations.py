"""Equations of motion of a Chain in terms of q = [theta, eps, passive, eta], in any scalars.

`recursions` works on links, joints and their elastic coordinates; here springs and rotors,
stiffness and damping, energies and frames are added, and everything is arranged in the order of q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.sliding.shapes import Spot
from ...kernels.scalars import (
    Scalar,
    Vector,
    add,
    dot,
    identity,
    matvec,
    mul,
    negate,
    scale,
    sub,
    total,
    transpose,
    vadd,
    zeros,
)
from .balls import Ball
from .chain import Chain, ChainLink
from .end_coordinates import end_coordinates
from .forces import (
    Equations,
    coulomb,
    damped_rates,
    joint_side,
    rubbing,
    slider_forces,
    spring_extension,
    strain,
)
from .link_inertia import CarryingSection, LinkNumbers, LinkPose, kinematics, parent
from .recursions import Balance, SectionLoads, balance, forward, inverse, mass_matrix
from .sliders import Slider, numbers_at_lengths
from .sprung_turns import SprungTurns
from .supports import support_numbers

__all__ = [
    "ChainEquations",
    "Frames",
    "LoadedSection",
    "balance_of",
    "first_moment",
    "joint_side",
    "laws_of",
    "loaded_laws",
    "numbers",
    "rubbing",
    "section_frame",
]

Array = NDArray[np.float64]
Frames = list[tuple[Vector, list[Vector], LinkPose]]


def numbers(link: ChainLink) -> LinkNumbers:
    """Return a link's numbers as nested lists; rounding noise of constant rotations is dropped."""
    inv = link.inv
    clean = _clean
    return LinkNumbers(
        R_PM=clean(link.R_PM),
        p_PM=clean(link.p_PM),
        axis=None if link.axis is None else clean(link.axis),
        length=float(inv.length),
        mass=float(inv.mass),
        first=float(inv.first),
        second=float(inv.second),
        P=inv.P.tolist(),
        X=inv.X.tolist(),
        G=inv.G.tolist(),
        J=inv.J.tolist(),
        JPsi=inv.JPsi.tolist(),
        PsiJPsi=inv.PsiJPsi.tolist(),
        pairs=inv.pairs,
        N_end=inv.N_end.tolist(),
        Psi_end=inv.Psi_end.tolist(),
        root_mass=link.root_mass.tolist(),
        tip_mass=link.tip_mass.tolist(),
        rotor=0.0 if link.spring is not None else float(link.rotor),
        parent=link.parent,
        carrier=link.carrier,
        stations=tuple(CarryingSection(x, N.tolist(), Psi.tolist()) for x, N, Psi in link.stations),
    )


def _clean(a: Array) -> Any:
    """Nested list with rounding noise against the largest entry dropped."""
    return np.where(np.abs(a) <= 1e-14 * np.abs(a).max(initial=0.0), 0.0, a).tolist()


def _gather(chain: Chain, efforts: Vector, elastic: list[Vector]) -> Vector:
    """Forces on q from those on the joints' own coordinates: both theta and eps feel the joint."""
    forces: Vector = [0.0] * chain.size
    for n, (i, turn) in enumerate(chain.bodies):
        for place in chain.turning_coordinates(i, turn):
            forces[place] = efforts[n]
        places = chain.elastic_coordinates(n) if elastic[n] else []
        for place, value in zip(places, elastic[n], strict=True):
            forces[place] = value
    return forces


def _places(chain: Chain, body: int, row: int) -> list[int]:
    """Places in q of entry `row` of a body: 0 its joint, then its elastic coordinates."""
    if row == 0:
        return chain.turning_coordinates(*chain.bodies[body])
    return [chain.elastic_coordinates(body)[row - 1]]


def _bodies(
    chain: Chain,
    links: list[LinkNumbers | Slider],
    eta: list[Vector],
    held: list[Vector] | None = None,
) -> list[LinkNumbers]:
    """The bodies of the recursions: links, and supports and leading turns as bodies of their own.

    `held`: elastic coordinates at which the shapes of sliders are taken, if not eta.
    """
    own_eta = [eta[n] for n in chain.body]
    own_held = None if held is None else [held[n] for n in chain.body]
    found = numbers_at_lengths(links, own_eta, own_held)
    if len(chain.body) == len(chain.bodies):
        return found

    bodies: list[LinkNumbers] = []
    if chain.foundation is not None:
        bodies.append(support_numbers(chain.foundation, replace(_TURN, parent=-1)))
    ground = len(bodies) - 1
    for i, (link, part) in enumerate(zip(found, chain.links, strict=True)):
        up = i - 1 if link.parent is None else link.parent
        # the body that carries the next one, and the section on which it does
        body, section = (chain.body[up], link.carrier) if up >= 0 else (ground, 0)
        R_PM = link.R_PM
        p_PM = link.p_PM
        support = part.bearing or part.floats
        if support is not None:
            R_MS = support.R_MS
            R_PS = _clean(np.array(R_PM) @ R_MS.T)
            mounted = replace(_TURN, R_PM=R_PS, p_PM=p_PM, parent=body, carrier=section)
            bodies.append(support_numbers(support, mounted))
            body = len(bodies) - 1
            section = 0
            R_PM = _clean(R_MS)
            p_PM = [0.0] * 3
        for axis in part.leading:
            turn = replace(
                _TURN, R_PM=R_PM, p_PM=p_PM, axis=_clean(axis), parent=body, carrier=section
            )
            bodies.append(turn)
            body = len(bodies) - 1
            section = 0
            R_PM = identity(3)
            p_PM = [0.0] * 3
        bodies.append(replace(link, R_PM=R_PM, p_PM=p_PM, parent=body, carrier=section))
    return bodies


_NONE: list[Vector] = [[], [], []]
_TURN = LinkNumbers(
    R_PM=identity(3),
    p_PM=[0.0] * 3,
    axis=None,
    length=0.0,
    mass=0.0,
    first=0.0,
    second=0.0,
    P=_NONE,
    X=_NONE,
    G=[[[] for _ in range(3)] for _ in range(3)],
    J=[0.0] * 3,
    JPsi=_NONE,
    PsiJPsi=[],
    pairs=(),
    N_end=_NONE,
    Psi_end=_NONE,
    root_mass=zeros(6, 6),
    tip_mass=zeros(6, 6),
    rotor=0.0,
)


@dataclass(frozen=True)
class Push:
    """A wrench (6,), base axes, on a section of a body, per metre of its free length if so."""

    body: int
    section: int
    wrench: Vector
    per_length: bool = False


def _present(pushes: Sequence[Push], links: list[LinkNumbers]) -> SectionLoads:
    """Pushes on bodies as they are: those per metre times the free length."""
    out: list[tuple[int, int, Vector]] = []
    for push in pushes:
        wrench = push.wrench
        if push.per_length:
            wrench = scale(links[push.body].length, wrench)
        out.append((push.body, push.section, wrench))
    return out


@dataclass(frozen=True)
class ChainEquations(Equations):
    """Expressions of the equations of motion of one Chain in any scalars, lists in, lists out."""

    links: list[LinkNumbers | Slider]
    # Constant wrenches on sections: `loads` have a potential and act together with the weight;
    # `pushes` have none (moments in space, places that a beam slides along) and do work
    loads: SectionLoads = ()
    pushes: tuple[Push, ...] = ()

    @cached_property
    def end_coordinate_links(self) -> tuple[list[LinkNumbers | Slider], list[Any], list[Any]]:
        """The links in end coordinates zeta = B eta, with B and its inverse of every link."""
        links: list[LinkNumbers | Slider] = []
        to_ends = []
        from_ends = []
        for own, link in zip(self.links, self.chain.links, strict=True):
            changed, B, A = end_coordinates(link)
            links.append(own if isinstance(own, Slider) else numbers(changed))
            to_ends.append(B.tolist())
            from_ends.append(_clean(A))
        return links, to_ends, from_ends

    @cached_property
    def turned_forces(self) -> tuple[list[Any], Any]:
        """Stiffness of every link, and damping of them all (N, N), in end coordinates."""
        K = np.asarray(self.K, float)
        D = np.asarray(self.D, float)
        T_all = np.eye(self.chain.size)
        stiffnesses = []
        for i, A in enumerate(self.end_coordinate_links[2]):
            own = np.ix_(self.chain.own(i), self.chain.own(i))
            T = np.reshape(A, (len(A), len(A)))
            T_all[own] = T
            stiffnesses.append(_clean(T.T @ K[own] @ T))
        return stiffnesses, _clean(T_all.T @ D @ T_all)

    def mass(self, q: Vector, held: Vector | None = None) -> list[Vector]:
        """M(q), nested list (N, N); a sprung joint's rotor acts on theta alone.

        `held`: coordinates at whose lengths the shapes of sliders are taken, if not q.
        """
        s, eta = joint_side(self.chain, q)
        shaped = None if held is None else joint_side(self.chain, held)[1]
        M = [[0.0] * self.chain.size for _ in range(self.chain.size)]
        links = _bodies(self.chain, self.links, eta, shaped)
        for i, row, l, column, value in mass_matrix(links, s, eta):
            for a in _places(self.chain, i, row):
                for b in _places(self.chain, l, column):
                    M[a][b] = value
                    M[b][a] = value
        for i, a in self.chain.theta.items():
            if self.chain.links[i].slide is None:
                M[a][a] = add(M[a][a], float(self.chain.links[i].rotor))
        for a, rotor in self.chain.rotors_of_rods.items():
            M[a][a] = add(M[a][a], rotor)
        return M

    def inverse(
        self,
        q: Vector,
        qd: Vector,
        qdd: Vector,
        gravity: bool | Vector,
        wrench: Vector | None = None,
    ) -> Vector:
        """M qdd + h, plus g when `gravity`, less the generalised force of a tip wrench.

        `gravity` may be another acceleration (3,) than the robot's.
        """
        chain = self.chain
        out = _gather(chain, *inverse(*_motion(self, (q, qd, qdd), gravity, wrench)))
        for i in chain.sprung:
            place = chain.theta[i]
            out[place] = add(out[place], mul(float(chain.links[i].rotor), qdd[place]))
        for place, rotor in chain.rotors_of_rods.items():
            out[place] = add(out[place], mul(rotor, qdd[place]))
        return out

    def forces(self, q: Vector, qd: Vector, D: list[Vector] | None = None) -> Vector:
        """-K q - D qd on theta, eps and passive coordinates, and on length and eta of sliders.

        Those on other eta depend on the choice of elastic coordinates. `D`: damping in the given
        coordinates, where these are not q.
        """
        rows = slice(0, self.chain.stiff)
        rest = [0.0] * (self.chain.size - rows.stop)
        bent = spring_extension(self, q)
        lossy = self.D if D is None else D
        loss = matvec(lossy[rows], damped_rates(self, q, qd))
        felt = vadd(negate(matvec(self.K[rows], bent)), negate(loss))
        for k, torque in enumerate(rubbing(self.friction, qd, self.chain)):
            felt[k] = sub(felt[k], torque)
        out = felt + rest
        for ball in self.balls:
            for place, force in ball.spring_forces(q) + ball.lost(q, qd, coulomb):
                out[place] = sub(out[place], force)
        for i, own in slider_forces(self, q, qd, lossy):
            for place, value in zip(self.chain.own(i), own, strict=True):
                out[place] = sub(out[place], value)
        return out

    def forward(self, q: Vector, qd: Vector, tau: Vector, wrench: Vector | None = None) -> Vector:
        """Accelerations under efforts tau, (joints,)."""
        ends = self.forward_ends(self._to_ends(q), self._to_ends(qd), tau, wrench)
        out = list(ends)
        for A, part, link in zip(
            self.end_coordinate_links[2], self.chain.eta, self.links, strict=True
        ):
            if not isinstance(link, Slider):
                out[part] = matvec(A, ends[part])
        return out

    def _to_ends(self, q: Vector) -> Vector:
        """q with the end coordinates zeta = B eta of every link in place of eta."""
        out = list(q)
        for B, part, link in zip(
            self.end_coordinate_links[1], self.chain.eta, self.links, strict=True
        ):
            if not isinstance(link, Slider):
                out[part] = matvec(B, q[part])
        return out

    def forward_ends(
        self, x: Vector, xd: Vector, tau: Vector, wrench: Vector | None = None
    ) -> Vector:
        """Accelerations in end coordinates: the cheapest form, which integrators use.

        The link side of a sprung joint feels the spring, the rotor feels the motor.
        """
        chain = self.chain
        s, zeta = joint_side(chain, x)
        sd, zetad = joint_side(chain, xd)
        stiffnesses, D = self.turned_forces
        speeds = damped_rates(self, x, xd)
        efforts = list(tau) + [0.0] * (chain.size - len(tau))
        applied = vadd(self.forces(x, xd, D), efforts)

        # Forces on the joint and on the elastic coordinates of every body
        torque: Vector = []
        elastic: list[Vector] = []
        for n, (i, turn) in enumerate(chain.bodies):
            places = chain.turning_coordinates(i, turn)
            torque.append(applied[places[-1]] if places else 0.0)
            if turn < 0:
                elastic.append([applied[place] for place in chain.elastic_coordinates(n)])
            else:
                elastic.append([])
        for i, (n, link, K) in enumerate(zip(chain.body, self.links, stiffnesses, strict=True)):
            if isinstance(link, Slider):
                elastic[n] = [applied[place] for place in chain.own(i)]
            else:
                damping = matvec(D[chain.eta[i]], speeds)
                elastic[n] = vadd(negate(matvec(K, zeta[n])), negate(damping))

        gravity = list(map(float, chain.gravity))
        links = _bodies(chain, self.end_coordinate_links[0], zeta)
        found = forward(
            links,
            (s, sd),
            (zeta, zetad),
            (torque, elastic),
            gravity,
            wrench,
            chain.body[chain.tip],
            (*self.loads, *_present(self.pushes, links)),
        )
        accelerations = _gather(chain, *found)
        for i in chain.sprung:
            theta = chain.theta[i]
            n = chain.body[i]
            rotor = float(chain.links[i].rotor)
            accelerations[theta] = mul(sub(applied[theta], torque[n]), 1.0 / rotor)
            accelerations[chain.eps[i]] = sub(found[0][n], accelerations[theta])
        return accelerations

    def tip(self, q: Vector) -> tuple[Vector, list[Vector]]:
        """Position (3,) and axes (3, 3) of the tip in base axes."""
        return section_frame(self.chain, self.frames(q), self.chain.tip)

    def frames(self, q: Vector) -> Frames:
        """Root position and axes in base axes of every link, and its pose."""
        s, eta = joint_side(self.chain, q)
        links = _bodies(self.chain, self.links, eta)
        out: Frames = []
        for i, pose in enumerate(kinematics(links, s, eta)):
            up = parent(links, i)
            p: Vector = [0.0] * 3
            R = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
            if up >= 0:
                p, R, before = out[up]
                p = vadd(p, matvec(R, before.sections[links[i].carrier].arm))
            p = vadd(p, matvec(R, pose.offset))
            columns = [matvec(R, column) for column in transpose(pose.R)]
            out.append((p, transpose(columns), pose))
        return [out[n] for n in self.chain.body]

    def energies(self, q: Vector, qd: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Kinetic, elastic and gravitational energy.

        T = 1/2 qd' M qd through the inverse dynamics: M qd is the effort of qdd = qd at rest.
        """
        rest: Vector = [0.0] * self.chain.size
        momentum = self.inverse(q, rest, list(qd), gravity=False)
        kinetic = mul(0.5, dot(momentum, qd))
        return kinetic, strain(self, q), add(self.height(q), self.load_potential(q))

    def load_forces(self, q: Vector, loads: SectionLoads) -> Vector:
        """Forces (N,) that hold wrenches on sections: minus their generalised forces."""
        if not loads:
            return [0.0] * self.chain.size
        zero_rates: Vector = [0.0] * self.chain.size
        links, s, eta, g, wrench, tip, _ = _motion(self, (q, zero_rates, zero_rates), False, None)
        return _gather(self.chain, *inverse(links, s, eta, g, wrench, tip, loads))

    def push_forces(self, q: Vector) -> Vector:
        """Forces (N,) that hold the outer loads without potential."""
        if not self.pushes:
            return [0.0] * self.chain.size
        eta = joint_side(self.chain, q)[1]
        return self.load_forces(q, _present(self.pushes, _bodies(self.chain, self.links, eta)))

    def load_potential(self, q: Vector) -> Scalar:
        """Potential of the constant loads: -F . p, and in the plane -M_z times the angle turned."""
        out: Scalar = 0.0
        if not self.loads:
            return out
        s, eta = joint_side(self.chain, q)
        links = _bodies(self.chain, self.links, eta)
        poses = kinematics(links, s, eta)
        frames = self.frames(q)
        for body, section, wrench in self.loads:
            p, R, pose = frames[self.chain.body.index(body)]
            place = vadd(p, matvec(R, pose.sections[section].arm))
            out = sub(out, dot(wrench[:3], place))
            if not wrench[5]:
                continue
            n = body
            k = section
            while n >= 0:
                axis = links[n].axis
                angle = poses[n].sections[k].angles[2]
                if axis is not None:
                    angle = add(angle, mul(axis[2], s[n]))
                out = sub(out, mul(wrench[5], angle))
                n, k = parent(links, n), links[n].carrier
        return out

    def height(self, q: Vector, gravity: Vector | None = None) -> Scalar:
        """Potential of gravity, -g . sum of m r over beams and bodies; of another g if given."""
        g = [float(x) for x in self.chain.gravity] if gravity is None else gravity
        out: Scalar = 0.0
        if gravity is None and not any(g):
            return out
        own = [[q[place] for place in self.chain.own(i)] for i in range(len(self.links))]
        links = numbers_at_lengths(self.links, own)
        if self.chain.foundation is not None:  # its body, and hubs of links that slide on the base
            stands, (p, R) = self.chain.foundation.mass.tolist(), base_frame(self.chain, q)
            moment = vadd(scale(stands[0][0], p), matvec(R, first_moment(stands)))
            out = sub(out, dot(g, moment))
        for link, (p, R, pose) in zip(links, self.frames(q), strict=True):
            beam = vadd([link.first, 0.0, 0.0], matvec(link.P, pose.z))
            root = link.root_mass
            tip = link.tip_mass
            moment = vadd(beam, first_moment(root), scale(tip[0][0], pose.arm))
            moment = vadd(moment, matvec(pose.turn, first_moment(tip)))
            mass = total([link.mass, root[0][0], tip[0][0]])
            out = sub(out, add(mul(mass, dot(g, p)), dot(g, matvec(R, moment))))
        return out


def _motion(
    laws: ChainEquations,
    x: tuple[Vector, Vector, Vector],
    gravity: bool | Vector,
    wrench: Vector | None,
) -> Any:
    """A motion q, qd, qdd as the recursions take it."""
    chain = laws.chain
    (s, eta), (sd, etad), (sdd, etadd) = (joint_side(chain, part) for part in x)
    own = list(map(float, chain.gravity)) if gravity else [0.0] * 3
    g = gravity if isinstance(gravity, list) else own
    links = _bodies(chain, laws.links, eta)
    loads = laws.loads if gravity is True else ()
    tip = chain.body[chain.tip]
    return links, (s, sd, sdd), (eta, etad, etadd), g, wrench, tip, loads


def balance_of(
    laws: ChainEquations, x: tuple[Vector, Vector, Vector], gravity: bool, wrench: Vector | None
) -> tuple[Balance, list[LinkNumbers], tuple[Vector, list[Vector]]]:
    """Return what every root and section carries in a motion q, qd, qdd, bodies side by side.

    Also the links as the recursions saw them, and the joints' coordinates with etadd.
    """
    links, s, eta, g, load, tip, loads = _motion(laws, x, gravity, wrench)
    everything = (*loads, *_present(laws.pushes, links))
    return balance(links, s, eta, g, load, tip, everything), links, (s[0], eta[2])


def base_frame(chain: Chain, q: Vector) -> tuple[Vector, list[Vector]]:
    """Return place (3,) and axes (3, 3) of the base frame, which a foundation lets move."""
    if chain.foundation is None:
        return [0.0] * 3, identity(3)
    support, places = chain.supports[-1]
    body = support_numbers(support, replace(_TURN, parent=-1))
    pose = kinematics([body], [0.0], [[q[place] for place in places]])[0]
    return pose.arm, pose.turn


def section_frame(chain: Chain, frames: Frames, i: int, k: int = 0) -> tuple[Vector, list[Vector]]:
    """Return place and link axes (3, 3) of section k of link i, given all frames, base axes."""
    p, R, pose = frames[i]
    at = pose.sections[k]
    back = transpose(_clean(chain.links[i].R_SL))
    turned = [matvec(R, column) for column in transpose(at.turn)]
    axes = [vadd(*(scale(b[k], turned[k]) for k in range(3))) for b in back]
    return vadd(p, matvec(R, at.arm)), transpose(axes)


def first_moment(M: list[Vector]) -> Vector:
    """Mass times the place of the mass centre, from a (6, 6) mass."""
    return [M[1][5], M[2][3], M[0][4]]


@dataclass(frozen=True)
class LoadedSection:
    """A constant wrench (6,), base axes, on a section of one link.

    Attributes
    ----------
    link
        Its place in the chain.
    at
        m from its root, of a link that slides a fraction of its free length; None: its end.
    fields
        N and Psi there, of a link that does not slide.
    per_length
        Whether the wrench is per metre of a free length.
    """

    link: int
    wrench: Array
    at: float | None = None
    fields: tuple[Array, Array] | None = None
    per_length: bool = False


def loaded_laws(laws: ChainEquations, sections: Sequence[LoadedSection]) -> ChainEquations:
    """Return the equations with constant wrenches on sections of links.

    A force on material that does not change has a potential. A moment has one in the plane only; a
    force on a fraction of a free length, along which the beam slides, has none.
    """
    parts = list(laws.chain.links)
    links = list(laws.links)
    loads: list[tuple[int, int, Vector]] = list(laws.loads)
    pushes: list[Push] = list(laws.pushes)
    for section in sections:
        i = section.link
        own = links[i]
        body = laws.chain.body[i]
        force, moment = np.split(section.wrench, 2)
        place = 0
        if section.at is not None and isinstance(own, Slider):
            links[i] = replace(own, spots=(*own.spots, Spot(section.at)))
            wrench = section.wrench.tolist()
            pushes.append(Push(body, len(own.spots) + 1, wrench, section.per_length))
            continue
        if section.at is not None:
            assert section.fields is not None
            parts[i] = replace(
                parts[i], stations=(*parts[i].stations, (section.at, *section.fields))
            )
            links[i] = numbers(parts[i])
            place = len(parts[i].stations)
        turning = [0.0] * 3 + moment.tolist()
        if laws.chain.planar:
            loads.append((body, place, section.wrench.tolist()))
        else:
            if force.any():
                loads.append((body, place, force.tolist() + [0.0] * 3))
            if moment.any():
                pushes.append(Push(body, place, turning))
    chain = replace(laws.chain, links=tuple(parts))
    return replace(laws, chain=chain, links=links, loads=tuple(loads), pushes=tuple(pushes))


def laws_of(
    chain: Chain,
    D: Array,
    friction: tuple[float, ...] = (),
    ratios: Sequence[Sequence[float]] = (),
    springs: tuple[Array, tuple[float, ...]] | None = None,
    balls: tuple[Ball | SprungTurns, ...] = (),
) -> ChainEquations:
    """Return the equations of a chain with its own numbers; ratios: of each slider's damping.

    `springs`: (N, N) stiffness of passive joints, and where they are unloaded, (N,).
    """
    links: list[LinkNumbers | Slider] = []
    for i, link in enumerate(chain.links):
        plain = numbers(link)
        if link.slide is not None:
            own = tuple(ratios[i]) if ratios else ()
            shortens = bool(link.inv.pairs)
            spots = tuple(Spot(x, held=True) for x, _, _ in link.stations)
            links.append(Slider(plain, link.slide, "material", own, None, shortens, spots))
        else:
            links.append(plain)
    K, rest = (0.0, ()) if springs is None else springs
    stiff = (chain.stiffness() + K).tolist()
    return ChainEquations(chain, links, stiff, D.tolist(), friction, rest, balls)
