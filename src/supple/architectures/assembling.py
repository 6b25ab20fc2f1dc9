"""Assembly of a mechanism: the passive coordinates that shut its closures, motors as asked.

Newton's method from `start`, for each configuration on its own: with the closures' openings g(q)
and their derivative J over the passive coordinates z, z <- z - J^+ g, the step that changes z least
where rows repeat one another or leave a coordinate free. Where it fails, or where the motors have
a `start` too, theta is led there from the motors' start by steps and the branch is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import MechanismRobot, remembered
from .base import SINGULAR, clearance
from .closing import Loop, loops_of
from .serial import rows_of
from .tree import Tree, TreeMotion, tree_of

__all__ = ["Mechanism", "inverse", "mechanism_of", "placed", "posed", "resolve"]

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
SHUT = 1e-12  # opening of a closure that counts as shut, of the mechanism's size
RANK = 1e-6  # a singular value of J below this, of the largest, lets the mechanism move
CANCELLED = 1e-13  # of the largest possible, a derivative is rounding: its joint moves both ends
ROUNDING = 1e-8  # clearance of a motion that closures leave free, shut to 1e-12
LEAP = 0.5  # largest step of Newton's method: radians, or parts of the mechanism's size
PACE = 0.2  # largest step of theta on the way from the start, the same
NUDGE = 1e-3  # how far a first-order motion is followed to see whether it is a finite one


@dataclass(frozen=True)
class Mechanism:
    """The numbers of a mechanism's geometry.

    Attributes:
        tree: its links.  loops: its closures.  size: a length, m, by which openings are judged.
        led: whether the motors have a start of their own, from which branches are followed.
    """

    robot: MechanismRobot
    tree: Tree
    loops: tuple[Loop, ...]
    size: float
    led: bool

    @property
    def rods(self) -> list[Loop]:
        """The closures whose length is an entry of theta."""
        return [loop for loop in self.loops if loop.motor]

    @property
    def motors(self) -> int:
        """Number of entries of theta."""
        return len(self.tree.motors) + len(self.rods)

    @property
    def start(self) -> Array:
        """(n + rods,) where it is assembled: joint coordinates, then lengths of driven rods."""
        lengths = [self.size if rod.length is None else rod.length for rod in self.rods]
        return np.concatenate([self.tree.start, lengths])

    @property
    def driven(self) -> NDArray[np.int64]:
        """Columns of a whole configuration (B, n + rods) that are theta."""
        n = len(self.tree.coordinates)
        return np.concatenate([self.tree.motors, n + np.arange(len(self.rods))]).astype(int)

    def openings(self, x: Array) -> tuple[Array, Array]:
        """Return g (B, r) of all closures and its derivative (B, r, n + rods) at x (B, n + rods).

        Places are divided by the mechanism's size, so that all rows count alike.
        """
        return self._opened(x, self.tree.place(x[:, : len(self.tree.coordinates)]))[:2]

    def _opened(self, x: Array, moved: TreeMotion) -> tuple[Array, Array, Array]:
        """g, its derivative J, and how large entries of J could be at most, shaped as J."""
        n = len(self.tree.coordinates)
        g, none, rod = [np.zeros((len(x), 0))], np.zeros((len(x), 0, x.shape[1])), n
        J, most = [none], [none]
        for loop in self.loops:
            length = np.full(len(x), loop.length or 0.0) if not loop.motor else x[:, rod]
            opened = loop.open(moved, length)
            rows, size = np.zeros((2, len(x), loop.rows, x.shape[1]))
            for k, G in enumerate((opened.G_a, opened.G_b)):
                motion = moved.jacobian(loop.ends[k], loop.at[k], loop.frames(moved, k)[1])
                rows[:, :, :n] += G @ motion
                for part in (slice(3), slice(3, 6)):
                    each = np.linalg.norm(G[..., part], axis=2)[..., None]
                    size[:, :, :n] += each * np.linalg.norm(motion[:, part], axis=1)[:, None]
            if loop.motor:
                rows[:, 0, rod], size[:, 0, rod], rod = -1.0, 1.0, rod + 1
            places = 1 if loop.rod else loop.E.shape[1]
            scale = np.where(np.arange(loop.rows) < places, self.size, 1.0)
            g.append(opened.g / scale)
            J.append(rows / scale[:, None])
            most.append(size / scale[:, None])
        for k, j, times, offset in self.tree.mimics:
            row = np.zeros((len(x), 1, x.shape[1]))
            row[..., k], row[..., j] = 1.0, -times
            g.append((x[:, k] - times * x[:, j] - offset)[:, None])
            J.append(row)
            most.append(np.abs(row))
        slope, size = np.concatenate(J, axis=1), np.concatenate(most, axis=1)
        slope[np.abs(slope) <= CANCELLED * size.max(axis=(1, 2), initial=0.0, keepdims=True)] = 0.0
        return np.concatenate(g, axis=1), slope, size

    def holds(self, x: Array) -> Array:
        """Return how well the closures hold the passive joints, motors held, (B, z): `clearance`.

        Each passive joint's spin or slide and each row is measured by the most that it could do, so
        that short links count like long ones; ball joints spin about base axes, which never lock.
        """
        own = [c.link if c.kind == "turn" else -1 for c in self.tree.coordinates]
        every = [k for k, i in enumerate(own) if i >= 0 and own.count(i) == 3]
        moved = placed(self, x)
        moved.w[:, every] = np.tile(np.eye(3), (len(every) // 3, 1))
        J, most = (part[..., self.tree.passive] for part in self._opened(x, moved)[1:])
        for axis in (1, 2):
            size = np.maximum(most.max(axis=axis, initial=0.0, keepdims=True), 1e-300)
            J, most = J / size, most / size
        return clearance(J)

    def clearance(self, x: Array) -> Array:
        """Return how far the closures are from singular, (B,); motions left free do not count."""
        held = self.holds(x)
        least: Array = np.where(held > ROUNDING, held, 1.0).min(axis=1, initial=1.0)
        return least

    def worst(self, x: Array) -> str:
        """Return which closure is open most at one configuration (n + rods,), and how far."""
        g, at, told = self.openings(x[None])[0][0], 0, []
        for loop in self.loops:
            places = 1 if loop.rod else loop.E.shape[1]
            gap = float(np.linalg.norm(g[at : at + places])) * self.size
            turn = float(np.linalg.norm(g[at + places : at + loop.rows]))
            at += loop.rows
            words = [f"{1e3 * gap:.4g} mm"] if gap > SHUT * self.size else []
            words += [f"{np.degrees(np.arcsin(min(turn, 1.0))):.4g} deg"] if turn > SHUT else []
            told.append(
                (max(gap / self.size, turn), f"{loop.name} stays open by {' and '.join(words)}")
            )
        return max(told)[1]


def mechanism_of(robot: MechanismRobot) -> Mechanism:
    """Return the geometry of a mechanism, made once."""

    def made() -> tuple[Tree, tuple[Loop, ...], float, bool]:
        tree, loops = tree_of(robot), loops_of(robot)
        reach = [float(tree.length.sum()), *np.abs(tree.p).sum(axis=1)]
        reach += [float(np.abs(loop.p).sum()) + (loop.length or 0.0) for loop in loops]
        driven = [link.joint for link in robot.links if link.joint.driven]
        led = any("start" in joint.model_fields_set for joint in driven)
        return tree, loops, max(reach) or 1.0, led

    return Mechanism(robot, *remembered(robot, "geometry", made))


def resolve(
    robot: MechanismRobot, theta: ArrayLike | None = None, position: ArrayLike | None = None
) -> tuple[Array, NDArray[np.object_]]:
    """Return whole configurations (B, n + rods) at theta (B, motors), and why there is none (B,).

    A whole configuration holds every joint coordinate, link by link, then the lengths of driven
    rods. The reason of a good one is empty.
    """
    m = mechanism_of(robot)
    if position is not None:
        if theta is not None:
            raise SuppleError("theta and position are both given: give one of them")
        return inverse(m, position)
    names = m.robot.motors
    units = ["m" if c.kind == "slide" else "rad" for c in m.tree.coordinates if c.driven]
    each = zip(names, units + ["m"] * len(m.rods), strict=True)
    wanted = f"{len(names)} motor coordinates: " + ", ".join(f"{a} ({b})" for a, b in each)
    wanted = wanted if names else "none, it has no motor"
    if theta is None:
        for k, c in enumerate(m.tree.coordinates):
            if c.driven and c.kind == "slide" and m.start[k] <= 0:
                raise SuppleError(f"theta is missing: give {wanted}")
        given = m.start[None, m.driven]
    else:
        given = rows_of(theta, len(names), wanted)
    # Why a theta (B, motors) is none before anything is assembled, empty where it may be one
    reason = np.full(len(given), "", object)
    reason[~np.isfinite(given).all(axis=1)] = (
        "theta holds a value that is not finite: give plain numbers in radians or metres"
    )
    for b, k in np.argwhere(given[:, len(names) - len(m.rods) :] <= 0):
        rod = m.rods[k]
        length = given[b, len(names) - len(m.rods) + k]
        reason[b] = (
            f"the length of {rod.name} is {length:g} m: it must be above 0; try another theta"
        )
    x = np.repeat(m.start[None], len(given), axis=0)
    x[:, m.driven] = given
    for k, j, times, offset in m.tree.mimics:
        x[:, k] = times * x[:, j] + offset
    good = np.flatnonzero(reason == "")
    if len(good):
        x[good], reason[good] = _assembled(m, x[good])
    return x, reason


def _strokes(m: Mechanism, x: Array, reason: NDArray[np.object_]) -> None:
    """Tell of slides that stand outside their beams, or short of what sits on them, in place."""
    robot = m.robot
    ends = [(robot.end_index(end), end.at) for closure in robot.closures for end in closure.ends]
    ends += [(up, link.at) for up, link in zip(robot.parents, robot.links, strict=True)]
    for k, c in enumerate(m.tree.coordinates):
        link = m.robot.links[c.link]
        total = link.length or 0.0
        if c.kind == "slide":
            low = -np.inf if link.rigid else 0.0
            for b in np.flatnonzero(((x[:, k] <= low) | (x[:, k] > total)) & (reason == "")):
                reason[b] = (
                    f"the free length of {link.name} is {x[b, k]:g} m: it must lie above 0 and at "
                    f"most at the beam's length {total:g} m; try another theta"
                )
            far = max((at for i, at in ends if i == c.link and at is not None), default=-np.inf)
            for b in np.flatnonzero((x[:, k] < far) & (reason == "")):
                reason[b] = (
                    f"the free length of {link.name} is {x[b, k]:g} m, and something sits at "
                    f"{far:g} m along it: it must be at least as long; try another theta"
                )


def _assembled(m: Mechanism, x: Array) -> tuple[Array, NDArray[np.object_]]:
    """Shut the closures of configurations (B, ..) whose motors stand as asked."""
    reason = np.full(len(x), "", object)
    if m.loops and len(m.tree.passive):
        ways = (_led, _shut) if m.led else (_shut, _led)
        first, done = ways[0](m, x)
        if not done.all():
            again, shut = ways[1](m, x[~done])
            first[~done] = np.where(shut[:, None], again, first[~done])
            done[~done] = shut
    else:
        first, done = x, np.abs(m.openings(x)[0]).max(axis=1, initial=0.0) <= 1e3 * SHUT
    failed = np.flatnonzero(~done)
    first[np.ix_(failed, m.driven)] = x[np.ix_(failed, m.driven)]
    # Open the closures as little as possible, in the mean square, where they cannot be shut
    rest = first[failed]
    z = m.tree.passive
    for _ in range(100 if len(z) and len(rest) else 0):
        g, J = m.openings(rest)
        A = J[:, :, z]
        normal = A.swapaxes(1, 2) @ A + 0.03 * np.eye(len(z))
        rest[:, z] -= np.linalg.solve(normal, np.einsum("brz,br->bz", A, g)[..., None])[..., 0]
    first[failed] = rest
    if len(failed) and len(m.tree.passive):
        again, shut = _shut(m, first[failed])
        first[failed[shut]], done[failed] = again[shut], shut
    for b in np.flatnonzero(~done):
        nearest = first[b]
        at = np.round(x[b, m.driven], 6).tolist()
        reason[b] = f"theta {at} cannot be assembled: closure {m.worst(nearest)}; try another theta"
    good = np.flatnonzero(done)
    if len(good):
        told = np.full(len(good), "", object)
        _strokes(m, first[good], told)
        _singular(m, first[good], told)
        reason[good] = told
    return first, reason


def _newton(m: Mechanism, x: Array, most: int = 40) -> tuple[Array, Bools]:
    """Newton's method on the passive coordinates, all configurations at once, each by itself."""
    x, z = x.copy(), m.tree.passive
    slides = np.array([m.tree.coordinates[k].kind != "turn" for k in z])
    leap = np.where(slides, m.size, 1.0) * LEAP
    last, active, calm = np.full(len(x), np.inf), np.arange(len(x)), np.zeros(len(x), bool)
    for _ in range(most):
        g, J = m.openings(x[active])
        size = np.abs(g).max(axis=1)
        step = -np.einsum("bzr,br->bz", np.linalg.pinv(J[:, :, z], rcond=1e-10), g)
        much = np.abs(step / leap).max(axis=1)
        step /= np.maximum(much, 1.0)[:, None]
        settled = (size <= SHUT) & ((size >= 0.5 * last[active]) | (size <= 1e-15))
        last[active] = size
        calm[active] = size <= SHUT
        moving = ~settled
        x[active[moving][:, None], z] += step[moving]
        active = active[moving]
        if not len(active):
            break
    if len(active):
        calm[active] = np.abs(m.openings(x[active])[0]).max(axis=1) <= SHUT
    return x, calm


def _shut(m: Mechanism, x: Array) -> tuple[Array, Bools]:
    """Newton's method from where the passive coordinates stand; axes must not end up opposite."""
    found, done = _newton(m, x)
    found = np.where(np.isfinite(found), found, x)
    moved = m.tree.place(found[:, : len(m.tree.coordinates)])
    for loop in m.loops:
        R_a, R_b = (np.broadcast_to(loop.frames(moved, k)[0], (len(x), 3, 3)) for k in (0, 1))
        Q = R_a.swapaxes(1, 2) @ R_b
        if loop.turn == "axis":
            done &= np.einsum("i,bij,j->b", loop.a, Q, loop.a) > 0
        elif loop.turn == "fixed":
            done &= np.trace(Q, axis1=1, axis2=2) > 0
    # Move coordinates that no loop holds as near to their start as the closures let them:
    # z <- z0 - J^+ (g - J (z - z0)) has the nearest shut z as its fixed point
    z = m.tree.passive
    J = m.openings(found)[1][:, :, z]
    values = np.linalg.svd(J, compute_uv=False)
    rank = (values > RANK * values[:, :1]).sum(axis=1)
    for b in np.flatnonzero(done & (rank < len(z)) & (rank > 0)):
        near, z0 = found[b : b + 1].copy(), x[b, z]
        for _ in range(30):
            g, J = m.openings(near)
            back = np.linalg.pinv(J[0][:, z], rcond=RANK)
            new = z0 - back @ (g[0] - J[0][:, z] @ (near[0, z] - z0))
            change = np.abs(new - near[0, z]).max()
            near[0, z] = new
            if change < 1e-12:
                break
        again, shut = _newton(m, near)
        found[b] = again[0] if shut[0] else found[b]
    return found, done


def _led(m: Mechanism, x: Array) -> tuple[Array, Bools]:
    """Lead theta from the motors' start to where it is asked, the branch kept by short steps."""
    home, shut = _shut(m, m.start[None])
    far = np.array([1.0 if c.kind == "turn" else m.size for c in m.tree.coordinates if c.driven])
    far = np.concatenate([far, np.full(len(m.rods), m.size)])
    way = x[:, m.driven] - home[:, m.driven]
    if not shut[0]:
        return x.copy(), np.zeros(len(x), bool)
    found, done = np.repeat(home, len(x), axis=0), np.zeros(len(x))
    pace = PACE / np.maximum(np.abs(way / far).max(axis=1, initial=0.0), PACE)
    alive = np.ones(len(x), bool)
    while (going := np.flatnonzero(alive & (done < 1))).size:
        ahead = np.minimum(done[going] + pace[going], 1.0)
        # Follow the closures to first order: z' = -J_z^+ J_theta theta'
        trial = found[going]
        step = (ahead - done[going])[:, None] * way[going]
        _, J = m.openings(trial)
        z = m.tree.passive
        pushed = np.einsum("brt,bt->br", J[:, :, m.driven], step)
        trial[:, z] -= np.einsum("bzr,br->bz", np.linalg.pinv(J[:, :, z], rcond=1e-8), pushed)
        trial[:, m.driven] = home[0, m.driven] + ahead[:, None] * way[going]
        shut_at, good = _newton(m, trial, 8)
        leap = np.abs(shut_at[:, m.tree.passive] - found[going][:, m.tree.passive]).max(axis=1)
        good &= leap < 5 * PACE * max(1.0, m.size)
        found[going[good]], done[going[good]] = shut_at[good], ahead[good]
        pace[going] *= np.where(good, 1.0, 0.5)
        alive[going] &= pace[going] > 1e-4
    exact = done >= 1
    found[exact[:, None] & np.isin(np.arange(x.shape[1]), m.driven)] = x[exact][:, m.driven].ravel()
    return found, exact


def _singular(m: Mechanism, x: Array, reason: NDArray[np.object_]) -> None:
    """Tell of poses whose passive joints have a first-order motion that is not a finite one.

    Each direction n of the null space of J is followed: z + h n is shut again, and must stay
    within a tenth of h of where it was sent. Where there is none, the clearance decides.
    """
    z = m.tree.passive
    if not m.loops or not len(z):
        return
    J = m.openings(x)[1][:, :, z]
    _, values, Vt = np.linalg.svd(J)
    wide = np.zeros((len(x), len(z)))
    wide[:, : values.shape[1]] = values
    loose = wide <= RANK * np.maximum(wide[:, :1], 1e-300)
    # and not two axes of a ball joint in line
    loose &= (m.holds(x).min(axis=1, initial=1.0) <= RANK)[:, None]
    for k in range(len(z)):
        rows = np.flatnonzero(loose[:, k] & (reason == ""))
        if not len(rows):
            continue
        n = Vt[rows, k]
        sent = x[rows].copy()
        sent[:, z] += NUDGE * n
        back, shut = _newton(m, sent)
        astray = np.abs(back[:, z] - sent[:, z]).max(axis=1) > 0.1 * NUDGE * np.abs(n).max(axis=1)
        for b, direction in zip(rows[~shut | astray], n[~shut | astray], strict=True):
            joint = m.tree.coordinates[z[int(np.argmax(np.abs(direction)))]]
            at = np.round(x[b, m.driven], 6).tolist()
            reason[b] = (
                f"theta {at} is singular: with its motors held, the joint of {joint.name} can "
                "still begin to move, and the loads there have no limit; try a theta nearby"
            )
    for b in np.flatnonzero((m.clearance(x) < SINGULAR) & (reason == "")):
        reason[b] = (
            f"theta {np.round(x[b, m.driven], 6).tolist()} is singular: with its motors held, "
            "its loops hold some joints hardly at all; try a theta farther away"
        )


def inverse(m: Mechanism, position: ArrayLike) -> tuple[Array, NDArray[np.object_]]:
    """Return whole configurations whose tip is at positions (B, 2) or (B, 3), and why not (B,).

    Newton's method on all coordinates from `start`, closures and place of the tip together.
    """
    k = 2 if m.robot.planar else 3
    if m.motors != k:
        raise SuppleError(
            f"position has {k} coordinates and {m.robot.name} {m.motors} "
            f"motor{'' if m.motors == 1 else 's'}: position is for "
            "mechanisms that have as many motors; give theta"
        )
    try:
        P = np.atleast_2d(np.asarray(position, float))
    except (TypeError, ValueError):
        P = np.empty((0, 0))
    if P.ndim != 2 or P.shape[1] not in (k, 3) or (P.shape[1] == 3 and k == 2 and P[:, 2].any()):
        raise SuppleError(f"position must be {k} numbers of the tip, or an array (B, {k})")
    P = P[:, :k]
    reason = np.full(len(P), "", object)
    reason[~np.isfinite(P).all(axis=1)] = "position holds a value that is not finite: give numbers"
    x = np.repeat(m.start[None], len(P), axis=0)
    good = np.flatnonzero(reason == "")
    x[good], far = posed(m, P[good], None, m.start)
    for b in good[far > 1e3 * SHUT * m.size]:
        reason[b] = f"position {P[b].tolist()} is out of reach of {m.robot.name}: try one nearer"
    good = good[far <= 1e3 * SHUT * m.size]
    if len(good):
        x[good] = _newton(m, x[good])[0]
        told = np.full(len(good), "", object)
        _strokes(m, x[good], told)
        _singular(m, x[good], told)
        reason[good] = told
    return x, reason


def posed(m: Mechanism, P: Array, R: Array | None, start: Array) -> tuple[Array, Array]:
    """Return whole configurations whose tip is at P (B, 2 or 3), turned as R (B, 3, 3), if given.

    Newton's method on all coordinates from a whole configuration, closures and tip together, the
    shortest step where there are more motors than needed; and how far it missed, (B,), m.
    """
    x = np.repeat(_shut(m, start[None])[0] if m.loops else start[None], len(P), axis=0)
    last, active = np.full(len(P), np.inf), np.arange(len(P))  # each by itself, as in `_newton`
    for _ in range(60):
        g, J = _with_tip(m, x[active], P[active], None if R is None else R[active])
        size = np.abs(g).max(axis=1, initial=0.0)
        settled = (size <= SHUT) & ((size >= 0.5 * last[active]) | (size <= 1e-15))
        last[active] = size
        step = -np.einsum("bzr,br->bz", np.linalg.pinv(J, rcond=1e-8), g)
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / LEAP, 1.0)
        x[active[~settled]] += step[~settled]
        active = active[~settled]
        if not len(active):
            break
    return x, np.abs(_with_tip(m, x, P, R)[0]).max(axis=1, initial=0.0) * m.size


def _with_tip(m: Mechanism, x: Array, P: Array, R: Array | None) -> tuple[Array, Array]:
    """Openings of the closures, and how far the tip is from P and R, with their derivatives."""
    g, J = m.openings(x)
    n, tip, k = len(m.tree.coordinates), m.robot.tip_index, P.shape[1]
    moved = placed(m, x)
    axes, at = moved.frame(tip, None, np.eye(3), np.zeros(3))
    tied = np.eye(3)[:, 2:] if m.robot.planar else np.eye(3)
    none, zero = np.zeros((3, 0)), np.zeros(3)
    pose = Loop(
        "tip",
        (-1, tip),
        (None, None),
        np.zeros((2, 3, 3)),
        np.zeros((2, 3)),
        np.eye(3)[:, :k],
        "none" if R is None else "fixed",
        none if R is None else tied,
        zero,
        zero,
        False,
        None,
        False,
    )
    turned = np.broadcast_to(np.eye(3), (len(x), 3, 3)) if R is None else R
    place = np.concatenate([P, np.zeros((len(P), 3 - k))], axis=1)
    base = np.broadcast_to(np.eye(3), (len(x), 3, 3))
    near = pose.opening(base if R is None else turned, place, axes, at)
    rows = np.zeros((len(x), pose.rows, x.shape[1]))
    rows[:, :, :n] = near.G_b @ moved.jacobian(tip, None, at)
    scale = np.where(np.arange(pose.rows) < k, m.size, 1.0)
    return (
        np.concatenate([g, near.g / scale], axis=1),
        np.concatenate([J, rows / scale[:, None]], axis=1),
    )


def placed(m: Mechanism, x: Array) -> TreeMotion:
    """Return the links at whole configurations (B, n + rods)."""
    return m.tree.place(x[:, : len(m.tree.coordinates)])
