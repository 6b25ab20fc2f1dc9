"""Places and deformations of all links during a motion, as drawings need them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.invariants import strains
from ...beams.sliding.integrals import spot_fields
from ...beams.sliding.shapes import SlidingShapes, Spot
from ...beams.theory import AnyBeam
from ...equations.chains.chain import Chain, ChainLink
from ...equations.closed.coupled import ClosedFunctions
from ...equations.model import Model
from ...kernels.spatial import axis_rotation
from ...path_dynamics.linearised_model import PathModel
from ...structure.link_parts import link_beam
from .path_response import PathResponse
from .response import Response

__all__ = ["Fields", "about", "fields", "fields_at", "path_fields"]

Array = NDArray[np.float64]
Found = tuple[Array, Array, Array, Array, Array]
ALONG_LINK = np.array([1.0, 0.0, 0.0])
STRAIN_STEP = 1e-5  # of a sliding link's free length, for its strains by differences


@dataclass(frozen=True)
class Fields:
    """Links in time: T instants, n links, P stations per link.

    Attributes:
        names: names of the links.
        t: (T,), s.
        p: (T, n, 3), roots of the links, base axes, m.
        R: (T, n, 3, 3), link axes in base axes.
        L: (T, n), lengths, m.
        motion: (T, n, P, 6), elastic displacement and rotation of the sections, link axes.
        energy: (T, n, P), strain energy per length, J/m.
    """

    names: tuple[str, ...]
    t: Array
    p: Array
    R: Array
    L: Array
    motion: Array
    energy: Array


def fields(run: Response | PathResponse, samples: int = 400, points: int = 13) -> Fields:
    """Return the links of a run, or of a motion about a path, at about `samples` instants.

    For a motion about a path see `path_fields`. In a Response the roots lie on the bent arm, and
    motion is that of each link relative to its own root. A link's end turns the next one by
    R_z(psi_z) R_y(psi_y) R_x(phi), whichever reading of the deflection the model uses. A Delta's
    platform is its last link, of no length.
    """
    if isinstance(run, PathResponse):
        return path_fields(run, samples, points)
    keep = _evenly_chosen(len(run.t), samples)
    near = None if run.near is None else run.near[keep]
    return _fields_of_model(run.model, run.t[keep], run.q[keep], points, near)


def _evenly_chosen(count: int, samples: int) -> NDArray[np.intp]:
    """Indices of about `samples` of `count` instants, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(samples, count)).astype(int))


def fields_at(model: Model, q: Array, points: int = 13) -> Fields:
    """Return the links of a Model at states q (T, N), at `points` stations a link."""
    return _fields_of_model(model, np.zeros(len(q)), q, points, None)


def _fields_of_model(model: Model, t: Array, q: Array, points: int, near: Array | None) -> Fields:
    """The links of a Model at states q (T, N); near (T, w): guessed dependent coordinates."""
    names = tuple(link.name for link in model.chain.links)
    functions = model.functions
    tree, x = functions.tree_coordinates(q, near)
    if not isinstance(functions, ClosedFunctions):
        chain = tree or model.chain
        return Fields(names, t, *_fields_of_chain(chain, _beams(model.robot), x, points))

    # The tree inside a closed model may have more links: the robot's own and the tip are shown
    loops = functions.loops
    all_names = [link.name for link in loops.laws.chain.links]
    wanted = {*names, all_names[loops.laws.chain.tip]}
    shown = [i for i, name in enumerate(all_names) if name in wanted]
    found = _fields_of_chain(loops.laws.chain, _beams(loops.robot), x, points)
    shown_fields = [part[:, shown] for part in found]
    return Fields(tuple(all_names[i] for i in shown), t, *shown_fields)


def _beams(robot: Any) -> list[AnyBeam]:
    """The beam of every link of an arm or a tree."""
    return [link_beam(robot, link) for link in robot.links]


def _fields_of_chain(chain: Chain, beams: list[AnyBeam], q: Array, points: int) -> Found:
    """p, R, L, motion and energy of the links of one chain or tree at states q (T, N)."""
    T = len(q)
    n = len(chain.links)
    p = np.empty((T, n, 3))
    R = np.empty((T, n, 3, 3))
    L = np.empty((T, n))
    motion = np.zeros((T, n, points, 6))
    energy = np.zeros((T, n, points))
    ground = _support_motion(chain, -1, q)
    # Place and axes, base axes, of the end and the stations of every link
    sections: list[list[tuple[Array, Array]]] = []
    for i, link in enumerate(chain.links):
        parent = i - 1 if link.parent is None else link.parent
        carrier, carrier_axes = sections[parent][link.carrier] if parent >= 0 else ground
        root, axes = _root_frame(chain, i, q, carrier, carrier_axes)
        L[:, i] = link.inv.length if link.slide is None else q[:, chain.lengths_at[i]]
        own = q[:, chain.own(i)]
        bent, energy[:, i] = _bending_along(link, beams[i], own, points)

        end = bent[:, -1, :3] + L[:, i, None] * ALONG_LINK
        end_angles = bent[:, -1, 3:]
        own_sections = []
        for arm, angles in [(end, end_angles), *_stations(link, own, L[:, i])]:
            place = root + np.einsum("tij,tj->ti", axes, arm)
            own_sections.append((place, axes @ _end_rotations(angles)))
        sections.append(own_sections)

        p[:, i] = root
        R[:, i] = axes @ link.R_SL
        displacement = bent[..., :3] @ link.R_SL
        rotation = bent[..., 3:] @ link.R_SL
        motion[:, i] = np.concatenate([displacement, rotation], -1)
    return p, R, L, motion, energy


def _root_frame(
    chain: Chain, i: int, q: Array, carrier: Array, carrier_axes: Array
) -> tuple[Array, Array]:
    """(T, 3) and (T, 3, 3): root of link i and its axes, behind its support and its joint."""
    link = chain.links[i]
    root = carrier + carrier_axes @ link.p_PM
    axes = carrier_axes @ link.R_PM
    support = link.bearing or link.floats
    if support is not None:
        moved, tilted = _support_motion(chain, i, q)
        mounted = axes @ support.R_MS.T
        root = root + np.einsum("tij,tj->ti", mounted, moved)
        axes = mounted @ tilted @ support.R_MS
    joint = np.broadcast_to(np.eye(3), (len(q), 3, 3))
    turns = [] if link.axis is None else [*link.leading, link.axis]
    for k, axis in enumerate(turns):
        angle = q[:, chain.turning_coordinates(i, k)].sum(axis=1)  # of its motor and its spring
        joint = joint @ axis_rotation(axis, angle)
    return root, axes @ joint


def _stations(link: ChainLink, own: Array, lengths: Array) -> list[tuple[Array, Array]]:
    """Place (T, 3) and angles (T, 3) of each section along a link that carries others."""
    found = []
    for at, N, Psi in link.stations:
        if link.slide is None:
            k = Psi.shape[1]
            fields = np.broadcast_to(np.vstack([N[:, :k], Psi]), (len(own), 6, k))
            eta = own
        else:  # a place that the link slides through
            k = link.slide.count
            spot = Spot(at, held=True)
            each = [spot_fields(link.slide, length, spot)[1:] for length in lengths]
            fields = np.array([[row[:k] for row in (*N_l, *Psi_l)] for N_l, Psi_l in each])
            eta = own[:, 1:]
        moved = np.einsum("tak,tk->ta", fields, eta)
        found.append((moved[:, :3] + at * ALONG_LINK, moved[:, 3:]))
    return found


def _support_motion(chain: Chain, i: int, q: Array) -> tuple[Array, Array]:
    """(T, 3) and (T, 3, 3): how a bearing or free joint i, or the foundation (-1), moves."""
    free_joint = chain.links[i].floats if i >= 0 else None
    if i in chain.supports:
        support, coordinates = chain.supports[i][0], tuple(chain.supports[i][1])
    elif free_joint is not None:
        support, coordinates = free_joint, chain.passive[i]
    else:
        return np.zeros((len(q), 3)), np.broadcast_to(np.eye(3), (len(q), 3, 3))
    own = q[:, list(coordinates)[: support.columns.shape[1]]]
    moved = own @ support.columns.T
    return moved[:, :3], _end_rotations(moved[:, 3:])


def _bending_along(link: ChainLink, beam: AnyBeam, own: Array, points: int) -> tuple[Array, Array]:
    """(T, P, 6) displacement and rotation along a link and (T, P) energy, segment axes."""
    if link.slide is not None:
        return _bending_along_slider(link.slide, beam, own, points)
    if link.shapes is None:
        return np.zeros((len(own), points, 6)), np.zeros((len(own), points))
    x = np.linspace(0, link.inv.length, points)
    bent = np.einsum("pck,tk->tpc", link.shapes.at(x), own)
    energy = np.zeros((len(own), points))
    for modulus, strain in strains(beam, link.shapes, x):
        energy += modulus / 2 * (own @ strain.T) ** 2
    return bent, energy


def _bending_along_slider(
    slide: SlidingShapes, beam: AnyBeam, own: Array, points: int
) -> tuple[Array, Array]:
    """As `_bending_along`, of a link that slides: own = [l, eta]; strains by differences."""
    l = own[:, :1]
    eta = own[:, 1:]
    s = np.linspace(0, 1, points)

    def section_motion(fractions: Array) -> Array:
        moved: Array = np.einsum("tpak,tk->tpa", slide.fields(l, fractions), eta)
        return moved

    here = section_motion(s)
    difference = section_motion(s + STRAIN_STEP) - section_motion(s - STRAIN_STEP)
    slope = difference / (2 * (STRAIN_STEP * l[..., None]))

    # Extension, curvatures, shears and twist with their stiffnesses
    properties = np.array([beam.outside(float(out)).at(s * out) for out in l[:, 0]])  # (T, P, 10)
    stiffness = np.where(np.isfinite(properties), properties, 0.0)[..., 1:7]
    shear = slope[..., 1:3] - here[..., [5, 4]] * np.array([1.0, -1.0])
    strain = np.concatenate([slope[..., [0, 5, 4]], shear, slope[..., 3:4]], axis=-1)
    return here, (stiffness * strain**2).sum(axis=-1) / 2


def _end_rotations(phi: Array) -> Array:
    """(T, 3, 3) rotations R_z R_y R_x of the end sections."""
    R_x = axis_rotation((1, 0, 0), phi[:, 0])
    R_y = axis_rotation((0, 1, 0), phi[:, 1])
    R_z = axis_rotation((0, 0, 1), phi[:, 2])
    return R_z @ R_y @ R_x


def path_fields(run: PathResponse, samples: int = 400, points: int = 13) -> Fields:
    """Return the links of a PathResponse at about `samples` instants, evenly chosen.

    p, R, L are those of the rigid motion; motion is the whole elastic motion of each section away
    from it, X(x) u_root + N(x) w, linear in y, so that it may be drawn larger than it is.
    """
    keep = _evenly_chosen(len(run.t), samples)
    model = run.model
    t = run.t[keep]
    y = run.y[keep]
    if model.linearised is None:
        motion = run.led[keep], *run.path(t)[1:]
        return Fields(model.names, t, *model.draw_links(motion, y, points))
    return _fields_of_path_model(model.linearised, t, run.led[keep], y, points)


def _fields_of_path_model(
    model: PathModel, t: Array, prescribed: Array, y: Array, points: int
) -> Fields:
    """Of a Model linearised along its path: the bent arm as a motion about the straight one."""

    def drawn(elastic: Array) -> Fields:
        motion = (prescribed, prescribed, prescribed)
        q = model.states(motion, (elastic, elastic, elastic))[0]
        near = model.dependent_guess(prescribed, q)
        return _fields_of_model(model.model, t, q, points, near)

    straight = drawn(0 * y)
    return about(drawn(y), straight)


def about(drawn: Fields, rest: Fields) -> Fields:
    """Return the same sections as motions about the poses of `rest`, which may be drawn larger."""
    fractions = np.linspace(0, 1, drawn.motion.shape[2])[:, None] * ALONG_LINK
    along_drawn = drawn.L[:, :, None, None] * fractions
    along_rest = rest.L[:, :, None, None] * fractions
    places = drawn.p[:, :, None] + _times(drawn.R, along_drawn + drawn.motion[..., :3])
    moved = _times(rest.R.swapaxes(-1, -2), places - rest.p[:, :, None]) - along_rest
    R = rest.R.swapaxes(-1, -2) @ drawn.R  # (T, n, 3, 3), small
    skew = (R - R.swapaxes(-1, -2)) / 2
    phi = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    turned = phi[:, :, None] + _times(R, drawn.motion[..., 3:])
    return replace(rest, motion=np.concatenate([moved, turned], axis=-1), energy=drawn.energy)


def _times(R: Array, v: Array) -> Array:
    """R (T, n, 3, 3) times v (T, n, P, 3)."""
    turned: Array = np.einsum("tnij,tnpj->tnpi", R, v)
    return turned
