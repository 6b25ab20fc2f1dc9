"""Places and deformations of all links during a motion, as drawings need them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.invariants import strains
from ...beams.theory import AnyBeam
from ...equations.chains.chain import Chain, ChainLink
from ...equations.chains.chain_equations import laws_of
from ...equations.chains.link_fields import section_motions
from ...equations.closed.coupled import ClosedFunctions
from ...equations.model import Model
from ...kernels.scalars import Vector
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

    Attributes
    ----------
    names
        Names of the links.
    t
        (T,), s.
    p
        (T, n, 3), roots of the links, base axes, m.
    R
        (T, n, 3, 3), link axes in base axes.
    L
        (T, n), lengths, m.
    motion
        (T, n, P, 6), elastic displacement and rotation of the sections, link axes.
    energy
        (T, n, P), strain energy per length, J/m.
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
    guess = None if run.near is None else run.near[keep]
    return _fields_of_model(run.model, run.t[keep], run.q[keep], points, guess)


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
    undamped = np.zeros((chain.size, chain.size))
    frames = laws_of(chain, undamped).frames(list(q.T))  # arrays over time as scalars
    fractions = np.linspace(0, 1, points)
    p = np.empty((T, n, 3))
    R = np.empty((T, n, 3, 3))
    L = np.empty((T, n))
    motion = np.zeros((T, n, points, 6))
    energy = np.zeros((T, n, points))
    for i, (link, (place, axes, _)) in enumerate(zip(chain.links, frames, strict=True)):
        p[:, i] = _over_time(place, T)
        R[:, i] = np.stack([_over_time(row, T) for row in axes], axis=1) @ link.R_SL
        L[:, i] = link.inv.length if link.slide is None else q[:, chain.lengths_at[i]]

        own = q[:, chain.own(i)]
        bent = section_motions(link, own, fractions, bool(link.inv.pairs))
        displacement = bent[..., :3] @ link.R_SL
        rotation = bent[..., 3:] @ link.R_SL
        motion[:, i] = np.concatenate([displacement, rotation], -1)
        energy[:, i] = _strain_energy(link, beams[i], own, fractions)
    return p, R, L, motion, energy


def _over_time(vector: Vector, count: int) -> Array:
    """(T, k) entries of a vector of scalars: constants, or arrays over time."""
    return np.stack([np.broadcast_to(x, count) for x in vector], axis=-1)


def _strain_energy(link: ChainLink, beam: AnyBeam, own: Array, fractions: Array) -> Array:
    """(T, P) strain energy per length along a link, J/m."""
    energy = np.zeros((len(own), len(fractions)))
    if link.slide is not None:
        return _strain_energy_of_slider(link, beam, own, fractions)
    if link.shapes is None:
        return energy
    for modulus, strain in strains(beam, link.shapes, fractions * link.inv.length):
        energy += modulus / 2 * (own @ strain.T) ** 2
    return energy


def _strain_energy_of_slider(link: ChainLink, beam: AnyBeam, own: Array, fractions: Array) -> Array:
    """As `_strain_energy`, of a link that slides: own = [l, eta]; strains by differences."""
    l = own[:, :1]
    here = section_motions(link, own, fractions, False)
    after = section_motions(link, own, fractions + STRAIN_STEP, False)
    before = section_motions(link, own, fractions - STRAIN_STEP, False)
    slope = (after - before) / (2 * (STRAIN_STEP * l[..., None]))

    # Extension, curvatures, shears and twist with their stiffnesses
    properties = np.array([beam.outside(float(out)).at(fractions * out) for out in l[:, 0]])
    stiffness = np.where(np.isfinite(properties), properties, 0.0)[..., 1:7]  # (T, P, 6)
    shear = slope[..., 1:3] - here[..., [5, 4]] * np.array([1.0, -1.0])
    strain = np.concatenate([slope[..., [0, 5, 4]], shear, slope[..., 3:4]], axis=-1)
    energy: Array = (stiffness * strain**2).sum(axis=-1) / 2
    return energy


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
        guess = model.dependent_guess(prescribed, q)
        return _fields_of_model(model.model, t, q, points, guess)

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
