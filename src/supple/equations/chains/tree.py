"""A Tree under a basis as a Chain: its links with their integrals, its loops left open."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.tree import Tree
from ...beams.basis import Basis
from ...beams.invariants import Invariants, fields_at, invariants, rigid_invariants
from ...beams.shapes import EndLoad
from ...beams.sliding.shapes import SlidingShapes, StiffRod
from ...beams.theory import Beam
from ...errors import SuppleError
from ...kernels.spatial import body_mass, rpy_rotation, turn
from ...robot import MechanismRobot
from ...robot.joint import unit
from ...structure.link_parts import end_masses, link_beam, root_mass, section_axes
from ...structure.supports import hub_before
from .chain import Chain, ChainLink, check_link, root_stiffness
from .supports import bearing_of, foundation_of, free_of

__all__ = ["passive_values", "sections_of", "tree_chain"]

Array = NDArray[np.float64]
Sections = dict[tuple[int, float | None], int]
Shaped = tuple[Any, Invariants]


def sections_of(robot: MechanismRobot) -> Sections:
    """Return the place among a link's sections of each (link, at) that carries or ties something.

    The end is section 0, stations follow by their place. On a link that slides they are all
    stations: places that stay where they are, m from its joint, while the beam slides through.
    """
    wanted = [(i, link.at) for i, link in zip(robot.parents, robot.links, strict=True)]
    wanted += [(robot.end_index(end), end.at) for closure in robot.closures for end in closure.ends]
    out: Sections = {(i, None): 0 for i in range(-1, len(robot.links))}
    for i, link in enumerate(robot.links):
        inner = sorted({at for k, at in wanted if k == i and at is not None})
        places = [at for at in inner if at < (link.length or 0.0) or link.joint.type == "prismatic"]
        out |= {(i, at): 0 for at in inner}
        out |= {(i, at): 1 + k for k, at in enumerate(places)}
    return out


def tree_chain(
    tree: Tree,
    basis: Basis | None = None,
    loads: tuple[EndLoad, ...] = (),
    stiffening: bool = False,
) -> Chain:
    """Return a Tree as a Chain, rigid links without a basis; `loads`: on each link's end."""
    robot = tree.form
    if basis is not None:
        beams = [link_beam(robot, link) for link in robot.links]
        basis.check([link.name for link in robot.links], [beam.rigid for beam in beams])
    sections = sections_of(robot)
    # Shapes and integrals of every beam, once of those that are alike
    shaped_links: list[tuple[tuple[Any, ...], tuple[Shaped, SlidingShapes | None]]] = []
    links = []
    for i, link in enumerate(robot.links):
        beam = link_beam(robot, link)
        load = loads[i] if loads else EndLoad()
        slide: SlidingShapes | None = None
        if basis is not None:
            check_link(tree, link)
        if link.joint.type == "prismatic":
            slide = StiffRod(beam, load)
        if beam.rigid or basis is None:
            shaped: Shaped = (None, rigid_invariants(beam))
        else:
            inner = tuple(at for (j, at), k in sections.items() if j == i and k and at is not None)
            places = () if slide else inner  # of a link that slides they are no points of its own
            own = (beam, load, basis.of_link(i), places, slide is None)
            key = own if isinstance(beam, Beam) else (i,)
            known = next((found for other, found in shaped_links if other == key), None)
            if known is None:
                shapes = basis.carrying(i, beam, load, places)
                if slide is not None:
                    slide = basis.sliding(i, beam, load)
                known = (shapes, invariants(beam, shapes, load, stiffening)), slide
                shaped_links.append((key, known))
            shaped, slide = known
        links.append(_link(robot, i, sections, shaped, slide, stiffening))
    rods = tuple(robot.closure_name(i) for i, c in enumerate(robot.closures) if c.motor)
    foundation = foundation_of(tree.robot, robot.planar)
    if basis is not None:
        _check_rods(robot)
    return Chain(
        tuple(links),
        robot.gravity,
        robot.planar,
        robot.tip_index,
        rods,
        foundation=foundation,
        sprung_rods=tuple(
            (robot.closure_name(i), c.stiffness)
            for i, c in enumerate(robot.closures)
            if c.stiffness is not None
        ),
        rod_rotors=tuple(c.rotor_inertia for c in robot.closures if c.motor),
    )


def _check_rods(robot: MechanismRobot) -> None:
    """Refuse a driven rod with a spring and no mass between motor and spring."""
    for i, closure in enumerate(robot.closures):
        if closure.motor and closure.stiffness is not None and not closure.rotor_inertia:
            raise SuppleError(
                f"closures.{robot.closure_name(i)} has a motor and a spring but no rotor_inertia: "
                "give the mass that the motor moves (kg, reflected to the stroke), or remove "
                "stiffness or motor"
            )


def _link(
    robot: MechanismRobot,
    i: int,
    sections: Sections,
    shaped: Shaped,
    slide: SlidingShapes | None,
    stiffening: bool,
) -> ChainLink:
    link = robot.links[i]
    joint = robot.links[i].joint
    parent = robot.parents[i]
    R_LS = section_axes(robot, link)
    beam = link_beam(robot, link)
    shapes, inv = shaped
    R_SL_before = section_axes(robot, robot.links[parent]).T if parent >= 0 else np.eye(3)
    mass = root_mass(link, beam, np.array([beam.L]), R_LS)[0]
    if slide is not None:
        mass = np.zeros((6, 6))
        hub = joint.hub
        if hub is not None and sections[parent, link.at]:  # along its parent: it stands at the root
            mass = turn(body_mass(hub.mass, hub.com, hub.tensor(tuple(joint.direction))), R_LS)
    places = sorted((k, at) for (j, at), k in sections.items() if j == i and k)
    stations = [
        (float(at), *fields_at(shapes, at, stiffening)) for _, at in places if at is not None
    ]
    stiffness = joint.stiffness[0] if joint.stiffness is not None else None
    carries = slide is not None and bool(stations)
    bearing, spring, under = bearing_of(link, robot.planar, R_LS, stiffness, carries)
    # Axes of its joint in the order in which they turn, and the coordinate of each
    turns = () if joint.type == "prismatic" else joint.coordinates(robot.planar)
    order = [k for _, k in sorted((turn.order, k) for k, turn in enumerate(turns))]
    axes = [unit(turns[k].axis) for k in order if joint.type != "free"]
    if bearing is not None and bearing.is_universal_cross:
        # between the two of a universal joint its bearing turns the cross
        axes = [axes[0], unit(tuple(np.cross(axes[0], axes[1]))), axes[1]]
        order = [0, -1, 1]
    turned = [R_LS.T @ axis for axis in axes]
    leaders = [
        k for k, one in enumerate(robot.links) if joint.mimic and one.name == joint.mimic.joint
    ]
    return ChainLink(
        name=link.name,
        R_PM=R_SL_before @ rpy_rotation(joint.mount.rpy) @ R_LS,
        p_PM=R_SL_before @ np.asarray(joint.mount.xyz),
        axis=turned[-1] if turned else None,
        inv=inv,
        shapes=shapes,
        root_mass=mass,
        tip_mass=turn(_tip_mass(robot, i, sections), R_LS),
        rotor=joint.reflected_inertia,
        spring=spring,
        R_SL=R_LS.T,
        slide=slide,
        EI=root_stiffness(beam),
        parent=parent,
        carrier=sections[parent, link.at],
        stations=tuple(stations),
        passive=not joint.driven and joint.type != "fixed",
        leading=tuple(turned[:-1]),
        order=tuple(order) or (0,),
        bearing=bearing,
        under=under,
        mimic=(leaders[0], joint.mimic.multiplier, joint.mimic.offset) if joint.mimic else None,
        floats=free_of(robot.planar, R_LS) if joint.type == "free" else None,
    )


def _tip_mass(robot: MechanismRobot, i: int, sections: Sections) -> Array:
    """(6, 6) what sits on a link's end: its tip, the payload, hubs that others slide through."""
    payload = robot.payload if i == robot.tip_index else None
    M: Array = sum(end_masses(robot.links[i], payload), np.zeros((6, 6)))
    for child, link in enumerate(robot.links):
        if robot.parents[child] == i and link.joint.type == "prismatic":
            M = M + (0.0 if sections[i, link.at] else hub_before(link))
    return M


def passive_values(robot: MechanismRobot, word: str) -> list[float]:
    """Return `start`, `damping` or `friction` of every passive coordinate, in the order of q."""
    out: list[float] = []
    for link in robot.links:
        if not link.joint.driven:
            count = robot.freedoms(link)
            given = getattr(link.joint, word)
            out += list(given) * count if len(given) == 1 else list(given[:count])
    return out
