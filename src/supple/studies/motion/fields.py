"""Where every section of every link is during a motion: what a drawing needs of an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.invariants import strains
from ...beams.sliding.integrals import spot_fields
from ...beams.sliding.shapes import Spot
from ...beams.theory import AnyBeam
from ...equations.chains.chain import Chain, ChainLink
from ...equations.closed.coupled import ClosedFunctions
from ...equations.model import Model
from ...kernels.spatial import axis_rotation, transport
from ...path_dynamics.kineto_elastodynamics import Ked
from ...path_dynamics.linearised_model import PathModel
from ...structure import moving_structure
from ...structure.link_parts import link_beam
from .path_response import PathResponse
from .response import Response

__all__ = ["Fields", "about", "fields", "fields_at", "path_fields"]

Array = NDArray[np.float64]
Found = tuple[Array, Array, Array, Array, Array]
ALONG_LINK = np.array([1.0, 0.0, 0.0])
NEAR = 1e-5  # of a sliding link's free length: the step of its strains


@dataclass(frozen=True)
class Fields:
    """Links in time: T instants, n links, P stations a link.

    Attributes:
        names: links.  t: (T,).  p: (T, n, 3), roots, base axes.  R: (T, n, 3, 3), link axes in base
        axes.  L: (T, n).  motion: (T, n, P, 6), elastic displacement and rotation of the sections,
        link axes.  energy: (T, n, P), strain energy per length, J/m.
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

    Of a motion about a path see `path_fields`. Of a Response roots lie on the bent arm; motion is
    what each link adds to its own root. A link's end turns the next one by R_z(psi_z) R_y(psi_y)
    R_x(phi), whatever the model's own reading of the deflection is. A Delta's platform is its last
    link, of no length.
    """
    if isinstance(run, PathResponse):
        return path_fields(run, samples, points)
    model, count = run.model, len(run.t)
    keep = np.unique(np.linspace(0, count - 1, min(samples, count)).astype(int))
    near = None if run.near is None else run.near[keep]
    return _fields_of_model(model, run.t[keep], run.q[keep], points, near)


def fields_at(model: Model, q: Array, points: int = 13) -> Fields:
    """Return the links of a Model at states q (T, N), at `points` stations a link."""
    return _fields_of_model(model, np.zeros(len(q)), q, points, None)


def _fields_of_model(model: Model, t: Array, q: Array, points: int, near: Array | None) -> Fields:
    """The links of a Model at states q (T, N), followers of its loops near some (T, w)."""
    names, functions = tuple(link.name for link in model.chain.links), model.functions
    tree, x = functions.tree_coordinates(q, near)
    if not isinstance(functions, ClosedFunctions):
        return Fields(
            names, t, *_fields_of_chain(tree or model.chain, _beams(model.robot), x, points)
        )
    loops = functions.loops
    # the links of the robot, and its tip: a template has more in its tree
    every = [link.name for link in loops.laws.chain.links]
    wanted = {*names, every[loops.laws.chain.tip]}
    shown = [i for i, name in enumerate(every) if name in wanted]
    found = _fields_of_chain(loops.laws.chain, _beams(loops.robot), x, points)
    each = [part[:, shown] for part in found]
    return Fields(tuple(every[i] for i in shown), t, *each)


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
    sections: list[list[tuple[Array, Array]]] = []  # place and axes of the end and the stations
    for i, link in enumerate(chain.links):
        parent = i - 1 if link.parent is None else link.parent
        carrier, carrier_axes = sections[parent][link.carrier] if parent >= 0 else ground
        root, axes = _root_frame(chain, i, q, carrier, carrier_axes)
        L[:, i] = link.inv.length if link.slide is None else q[:, chain.lengths_at[i]]
        bent, energy[:, i] = _bending_along(link, beams[i], q[:, chain.own(i)], points)
        end = bent[:, -1, :3] + L[:, i, None] * ALONG_LINK
        places = [(end, bent[:, -1, 3:]), *_stations(link, q[:, chain.own(i)], L[:, i])]
        sections.append(
            [
                (root + np.einsum("tij,tj->ti", axes, arm), axes @ _end_rotations(angles))
                for arm, angles in places
            ]
        )
        p[:, i] = root
        R[:, i] = axes @ link.R_SL
        motion[:, i] = np.concatenate([bent[..., :3] @ link.R_SL, bent[..., 3:] @ link.R_SL], -1)
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
    if i in chain.supports:
        support, places = chain.supports[i][0], tuple(chain.supports[i][1])
    elif i >= 0 and (free := chain.links[i].floats) is not None:
        support, places = free, chain.passive[i]
    else:
        return np.zeros((len(q), 3)), np.broadcast_to(np.eye(3), (len(q), 3, 3))
    x = q[:, list(places)[: support.columns.shape[1]]] @ support.columns.T
    return x[:, :3], _end_rotations(x[:, 3:])


def _bending_along(link: ChainLink, beam: AnyBeam, own: Array, points: int) -> tuple[Array, Array]:
    """(T, P, 6) displacement and rotation along a link and (T, P) energy, segment axes."""
    if link.slide is not None:
        # own = [l, eta]: strains by differences
        l, s = own[:, :1], np.linspace(0, 1, points)
        before, here, after = (
            np.einsum("tpak,tk->tpa", link.slide.fields(l, s + step), own[:, 1:])
            for step in (-NEAR, 0.0, NEAR)
        )
        h = NEAR * l[..., None]
        slope = (after - before) / (2 * h)
        stiff = np.array([beam.outside(float(out)).at(s * out) for out in l[:, 0]])  # (T, P, 10)
        modulus = np.where(np.isfinite(stiff), stiff, 0.0)[..., 1:7]
        sheared = slope[..., 1:3] - here[..., [5, 4]] * np.array([1.0, -1.0])
        strain = np.concatenate([slope[..., [0, 5, 4]], sheared, slope[..., 3:4]], axis=-1)
        return here, (modulus * strain**2).sum(axis=-1) / 2
    if link.shapes is None:
        return np.zeros((len(own), points, 6)), np.zeros((len(own), points))
    x = np.linspace(0, link.inv.length, points)
    bent = np.einsum("pck,tk->tpc", link.shapes.at(x), own)
    energy = np.zeros((len(own), points))
    for modulus, strain in strains(beam, link.shapes, x):
        energy += modulus / 2 * (own @ strain.T) ** 2
    return bent, energy


def _end_rotations(phi: Array) -> Array:
    """(T, 3, 3) rotations R_z R_y R_x of the end sections."""
    x, y, z = (axis_rotation(axis, phi[:, k]) for k, axis in enumerate(np.eye(3)))
    return z @ y @ x


def path_fields(run: PathResponse, samples: int = 400, points: int = 13) -> Fields:
    """Return the links of a PathResponse at about `samples` instants, evenly chosen.

    p, R, L are those of the rigid motion; motion is the whole elastic motion of each section away
    from it, X(x) u_root + N(x) w, linear in y, so that it may be drawn larger than it is.
    """
    count = len(run.t)
    keep = np.unique(np.linspace(0, count - 1, min(samples, count)).astype(int))
    model, y = run.model, run.y[keep]
    if not isinstance(model, Ked):
        assert isinstance(model, PathModel)
        # Of a Model: its bent arm about the straight one
        led, drawn = run.led[keep], []
        for each in (0 * y, y):
            q = model.states((led, led, led), (each,) * 3)[0]
            drawn.append(
                _fields_of_model(model.model, run.t[keep], q, points, model.dependent_guess(led, q))
            )
        return about(drawn[1], drawn[0])
    wanted = run.led[keep], *run.path(run.t[keep])[1:]
    roots, structure = model.roots(*wanted), moving_structure(model.robot, *wanted).structure
    T, n = len(keep), len(model.meshes)
    motion, energy = np.zeros((T, n, points, 6)), np.zeros((T, n, points))
    for i, (mesh, segment) in enumerate(zip(model.meshes, structure.segments, strict=True)):
        x = np.linspace(0, mesh.L, points)
        root = np.einsum("tck,tk->tc", roots[:, i], y)
        carry, w = np.array([transport(float(at)) for at in x]), y[:, model.inner[i]]
        bent = np.einsum("pab,tb->tpa", carry, root) + np.einsum("pak,tk->tpa", mesh.field(x), w)
        force = np.einsum("pak,tk->tpa", mesh.resultants(x), w)
        turned = [bent[..., k : k + 3] @ segment.R_LS.T for k in (0, 3)]
        motion[:, i], energy[:, i] = (
            np.concatenate(turned, -1),
            (force**2 * mesh.compliances(x) / 2).sum(axis=-1),
        )
    axes = structure.R @ np.array([s.R_LS.T for s in structure.segments])
    names = tuple(segment.name for segment in structure.segments)
    return Fields(names, run.t[keep], structure.p, axes, structure.L, motion, energy)


def about(drawn: Fields, rest: Fields) -> Fields:
    """Return the same sections as motions about the poses of `rest`, which may be drawn larger."""
    x = np.linspace(0, 1, drawn.motion.shape[2])[:, None] * np.array([1.0, 0.0, 0.0])
    bent, straight = (f.L[:, :, None, None] * x for f in (drawn, rest))
    there = drawn.p[:, :, None] + _times(drawn.R, bent + drawn.motion[..., :3])
    moved = _times(rest.R.swapaxes(-1, -2), there - rest.p[:, :, None]) - straight
    R = rest.R.swapaxes(-1, -2) @ drawn.R  # (T, n, 3, 3), small
    skew = (R - R.swapaxes(-1, -2)) / 2
    phi = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    turned = phi[:, :, None] + _times(R, drawn.motion[..., 3:])
    return replace(rest, motion=np.concatenate([moved, turned], axis=-1), energy=drawn.energy)


def _times(R: Array, v: Array) -> Array:
    """R (T, n, 3, 3) times v (T, n, P, 3)."""
    turned: Array = np.einsum("tnij,tnpj->tnpi", R, v)
    return turned
