"""Where passive joints hang at rest: the weight beyond them has no moment about their axes.

The potential of the weight, V(x) = -sum of m g . c(x), is minimised over the coordinates of joints
that hang, all else held and links unbent. Its derivatives are closed forms: a turn about w through
p moves a mass centre by w x (c - p), and a turn about an axis further in turns that motion.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..beams.varying import beam_of
from ..errors import SuppleError
from ..kernels.spatial import cross
from ..robot import MechanismLink
from .tree import Tree

__all__ = ["hang", "not_at_rest"]

Array = NDArray[np.float64]
LARGEST_STEP = 0.5  # rad
SETTLED = 1e-13  # rad
UPSIDE_DOWN_NUDGE = 1e-2  # rad, away from a balance in which the load stands on its head
NO_MOMENT = 1e-12  # of the largest weight times the robot's size
MAX_STEPS = 200
NOTICED = 1e-6  # of the largest weight times the robot's size: a moment that is no rounding


def hang(m: Tree, x: Array) -> Array:
    """Return configurations (B, ..) with the joints that hang at rest under gravity."""
    hanging = m.joints.hanging
    g = np.asarray(m.form.gravity, float)
    if not len(hanging) or not len(x) or not g.any():
        return x
    x = x.copy()
    bodies = _weights(m)
    total = sum(mass for _, mass, _, _ in bodies)
    negligible = NO_MOMENT * max(total * float(np.linalg.norm(g)) * m.size, 1e-300)
    for _ in range(MAX_STEPS):
        pull, K = _moments(m, x, hanging, bodies, g)
        # Newton's method along the principal curvatures, downhill against a negative one too;
        # what the potential does not depend on, such as a turn about the vertical, stays
        curved, axes = np.linalg.eigh(K)
        pull = np.einsum("bij,bi->bj", axes, pull)
        balanced = np.abs(pull) <= negligible
        flat = np.abs(curved) <= negligible
        on_its_head = (curved < -negligible) & (np.abs(pull) < 1e-6 * np.abs(curved))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = -pull / np.abs(curved)
        step = np.where(flat, -np.sign(pull) * LARGEST_STEP, step)
        step = np.where(balanced & flat, 0.0, step)
        step = np.where(on_its_head, UPSIDE_DOWN_NUDGE, step)
        step = np.clip(step, -LARGEST_STEP, LARGEST_STEP)
        move = np.einsum("bij,bj->bi", axes, step)
        x[:, hanging] += move
        if np.abs(move).max() <= SETTLED * (1 + np.abs(x[:, hanging]).max()):
            return x
    names = ", ".join(m.joints.coordinates[k].name for k in hanging)
    raise SuppleError(
        f"{m.robot.name}: no rest was found for the joints that hang, {names}: give their masses, "
        "or leave hangs out and give start"
    )


def not_at_rest(m: Tree, x: Array) -> list[str]:
    """Return the links on passive joints that nothing holds and that would swing away from x (n,).

    Joints with a spring, in a loop, or that hang already are left out.
    """
    tree = m.joints
    g = np.asarray(m.form.gravity, float)
    tied = {m.form.end_index(end) for closure in m.form.closures for end in closure.ends}
    in_loops = set()
    for end in tied:
        link = end
        while link >= 0 and link not in in_loops:
            in_loops.add(link)
            link = tree.parents[link]
    followers = [k for k, *_ in tree.mimics]
    free = [
        k
        for k, c in enumerate(tree.coordinates)
        if not (c.driven or c.hangs or c.stiffness or c.link in in_loops or k in followers)
        and c.kind == "turn"
        and m.form.links[c.link].joint.type != "free"
    ]
    bodies = _weights(m)
    total = sum(mass for _, mass, _, _ in bodies)
    if not free or not g.any() or not total:
        return []
    pull, _ = _moments(m, x[None], np.array(free, int), bodies, g)
    swings = np.abs(pull[0]) > NOTICED * total * float(np.linalg.norm(g)) * m.size
    names = [m.form.links[tree.coordinates[k].link].name for k in free]
    return list(dict.fromkeys(name for name, moves in zip(names, swings, strict=True) if moves))


Weight = tuple[int, float, Array, bool]  # link, mass (kg), mass centre in link axes, from its end


def _weights(m: Tree) -> list[Weight]:
    """Every mass beyond the base: beams, hubs, bodies, tips and the payload."""
    robot = m.form
    found: list[Weight] = []
    for i, link in enumerate(robot.links):
        found += _beam_weight(m, i, link)
        if link.joint.hub is not None:
            found.append((i, link.joint.hub.mass, np.asarray(link.joint.hub.com), False))
        if link.body is not None:
            slides = link.joint.type == "prismatic"
            # The body of a link that slides is measured from the beam's inner end
            back = np.array([link.length or 0.0, 0.0, 0.0]) if slides else np.zeros(3)
            found.append((i, link.body.mass, np.asarray(link.body.com) - back, slides))
        if link.tip is not None:
            found.append((i, link.tip.mass, np.asarray(link.tip.com), True))
    if robot.payload is not None:
        found.append((robot.tip_index, robot.payload.mass, np.asarray(robot.payload.com), True))
    return [weight for weight in found if weight[1] > 0]


def _beam_weight(m: Tree, i: int, link: MechanismLink) -> list[Weight]:
    if not link.length:
        return []
    M = beam_of(m.form, link).mass_matrix()
    mass = float(M[0, 0])
    if mass <= 0:
        return []
    from_root = float(M[1, 5]) / mass
    slides = link.joint.type == "prismatic"
    along = from_root - link.length if slides else from_root
    return [(i, mass, np.array([along, 0.0, 0.0]), slides)]


def _moments(
    m: Tree, x: Array, hanging: NDArray[np.int64], bodies: list[Weight], g: Array
) -> tuple[Array, Array]:
    """Return dV/dx (B, h) and d2V/dx2 (B, h, h) over h coordinates, which turn."""
    tree = m.joints
    moved = tree.place(x[:, : len(tree.coordinates)])
    gradient = np.zeros((len(x), len(hanging)))
    K = np.zeros((len(x), len(hanging), len(hanging)))
    for i, mass, com, from_end in bodies:
        movers = [h for h, k in enumerate(hanging) if tree.moves[i, 0, k]]
        if not movers:
            continue
        _, c = moved.frame(i, None if from_end else 0.0, np.eye(3), com)
        for a in movers:
            w_a = moved.w[:, hanging[a]]
            arm = c - moved.at.p[:, tree.coordinates[hanging[a]].link]
            gradient[:, a] -= mass * cross(w_a, arm) @ g
            for b in movers:
                inner, outer = sorted((a, b), key=lambda h: _outwards(m, int(hanging[h])))
                w_in = moved.w[:, hanging[inner]]
                w_out = moved.w[:, hanging[outer]]
                reach = c - moved.at.p[:, tree.coordinates[hanging[outer]].link]
                K[:, a, b] -= mass * cross(w_in, cross(w_out, reach)) @ g
    return gradient, K


def _outwards(m: Tree, column: int) -> tuple[int, int]:
    """Sort key of coordinates that move one link: from the base outwards."""
    coordinate = m.joints.coordinates[column]
    return coordinate.link, coordinate.order
