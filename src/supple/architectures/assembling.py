"""Assembly of a mechanism: the passive coordinates that shut its closures, motors as asked.

Newton's method from `start`, for each configuration on its own: with the closures' openings g(q)
and their derivative J over the passive coordinates z, z <- z - J^+ g, the step that changes z least
where rows repeat one another or leave a coordinate free. Where it fails, or where the motors have
a `start` too, theta is led there from the motors' start by steps and the branch is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from .base import SINGULAR
from .hanging import hang
from .serial import rows_of
from .tree import SHUT, Tree, least_held

__all__ = [
    "follow_branch",
    "lead",
    "least_change",
    "newton",
    "refusal_reasons",
    "resolve",
    "resolve_with_clearance",
    "solve_closures",
    "well_conditioned_inverses",
]

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
RANK = 1e-6  # a singular value of J below this, of the largest, lets the mechanism move
LEAP = 0.5  # largest step of Newton's method: radians, or parts of the mechanism's size
PACE = 0.2  # largest step of theta on the way from the start, the same
BEND = 0.05  # what a step along a branch may leave its tangent by: radians, or parts of the size
NUDGE = 1e-3  # how far a first-order motion is followed to see whether it is a finite one


def resolve(m: Tree, theta: ArrayLike | None = None) -> tuple[Array, NDArray[np.object_]]:
    """Return whole configurations (B, n + rods) at theta (B, motors), and why there is none (B,).

    A whole configuration holds every joint coordinate, link by link, then the lengths of driven
    rods. The reason of a good one is empty.
    """
    return resolve_with_clearance(m, theta)[:2]


def resolve_with_clearance(
    m: Tree, theta: ArrayLike | None = None
) -> tuple[Array, NDArray[np.object_], Array]:
    """Return what `resolve` does, and the clearance (B,), zero where there is no configuration."""
    names = m.form.motors
    units = ["m" if c.kind == "slide" else "rad" for c in m.joints.coordinates if c.driven]
    each = zip(names, units + ["m"] * len(m.rods), strict=True)
    wanted = f"{len(names)} motor coordinates: " + ", ".join(f"{a} ({b})" for a, b in each)
    wanted = wanted if names else "none, it has no motor"
    if m.loops and names:
        wanted += "; a joint without a motor is marked passive: true"
    if theta is None:
        for k, c in enumerate(m.joints.coordinates):
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
    for k, j, times, offset in m.joints.mimics:
        x[:, k] = times * x[:, j] + offset
    good = np.flatnonzero(reason == "")
    clearance = np.zeros(len(x))
    if len(good):
        x[good], reason[good], clearance[good] = _close_configurations(m, x[good])
        x[good] = hang(m, x[good])
    clearance[reason != ""] = 0.0
    return x, reason, clearance


def refusal_reasons(m: Tree, x: Array) -> NDArray[np.object_]:
    """Return why shut configurations (B, ..) are no poses all the same, empty where they are."""
    return _judged_with_clearance(m, x)[0]


def _judged_with_clearance(m: Tree, x: Array) -> tuple[NDArray[np.object_], Array]:
    """`judged`, and the clearance (B,) by which it was judged."""
    reason = np.full(len(x), "", object)
    clearance = np.ones(len(x))
    if len(x):
        _strokes(m, x, reason)
        clearance = _singular(m, x, reason)
    return reason, clearance


def _strokes(m: Tree, x: Array, reason: NDArray[np.object_]) -> None:
    """Tell of slides that stand outside their beams, or short of what sits on them, in place."""
    robot = m.form
    ends = [(robot.end_index(end), end.at) for closure in robot.closures for end in closure.ends]
    ends += [(up, link.at) for up, link in zip(robot.parents, robot.links, strict=True)]
    for k, c in enumerate(m.joints.coordinates):
        link = m.form.links[c.link]
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


def _close_configurations(m: Tree, x: Array) -> tuple[Array, NDArray[np.object_], Array]:
    """Shut the closures of configurations (B, ..) whose motors stand as asked.

    Also why there is none, (B,), and the clearance, (B,).
    """
    reason = np.full(len(x), "", object)
    if m.loops and len(m.joints.passive):
        ways = (
            (_continue_from_start, solve_closures)
            if m.starts_with_motors
            else (solve_closures, _continue_from_start)
        )
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
    z = m.joints.passive
    for _ in range(100 if len(z) and len(rest) else 0):
        g, J = m.openings(rest)
        A = J[:, :, z]
        normal = A.swapaxes(1, 2) @ A + 0.03 * np.eye(len(z))
        rest[:, z] -= np.linalg.solve(normal, np.einsum("brz,br->bz", A, g)[..., None])[..., 0]
    first[failed] = rest
    if len(failed) and len(m.joints.passive):
        again, shut = solve_closures(m, first[failed])
        first[failed[shut]], done[failed] = again[shut], shut
    for b in np.flatnonzero(~done):
        nearest = first[b]
        at = np.round(x[b, m.driven], 6).tolist()
        advice = _how_to_assemble(m, x[b]) if len(x) == 1 else "try another theta"
        reason[b] = f"theta {at} cannot be assembled: closure {m.worst(nearest)}; {advice}"
    good = np.flatnonzero(done)
    clearance = np.zeros(len(x))
    reason[good], clearance[good] = _judged_with_clearance(m, first[good])
    return first, reason, clearance


def well_conditioned_inverses(J: Array) -> tuple[Array, Bools]:
    """Return inverses (B, n, n) of square matrices, and which of them are far from singular (B,).

    Far is what the sizes of a matrix and of its inverse prove: its smallest singular value is above
    1e-5 of its largest. An inverse takes a fifth of the time that singular values take.
    """
    try:
        inverses = np.asarray(np.linalg.inv(J), float)
    except np.linalg.LinAlgError:  # one of them is singular: each by itself
        inverses = np.full_like(J, np.nan)
        for b in np.flatnonzero(np.linalg.matrix_rank(J) == J.shape[1]):
            inverses[b] = np.linalg.inv(J[b])
    squares = np.square(J).sum(axis=(1, 2)) * np.square(inverses).sum(axis=(1, 2))
    return inverses, np.asarray(squares < 1e10)  # NaN is not


def least_change(J: Array, g: Array, rcond: float) -> Array:
    """Return the smallest z (B, n) with J z = g, or nearest to it, for J (B, r, n) and g (B, r)."""
    z = np.empty((len(J), J.shape[2]))
    good = np.zeros(len(J), bool)
    if J.shape[1] == J.shape[2]:
        inverses, good = well_conditioned_inverses(J)
        z[good] = (inverses[good] @ g[good, :, None])[..., 0]
    rest = ~good
    if rest.any():
        z[rest] = np.einsum("bzr,br->bz", np.linalg.pinv(J[rest], rcond=rcond), g[rest])
    return z


def newton(m: Tree, x: Array, most: int = 40) -> tuple[Array, Bools]:
    """Newton's method on the passive coordinates, all configurations at once, each by itself."""
    x, z = x.copy(), m.joints.passive
    if not m.loops and not m.joints.mimics:  # an open tree
        return x, np.ones(len(x), bool)
    slides = np.array([m.joints.coordinates[k].kind != "turn" for k in z])
    leap = np.where(slides, m.size, 1.0) * LEAP
    last, active, calm = np.full(len(x), np.inf), np.arange(len(x)), np.zeros(len(x), bool)
    for _ in range(most):
        g, J = m.openings(x[active])
        size = np.abs(g).max(axis=1)
        step = -least_change(J[:, :, z], g, 1e-10)
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


def _how_to_assemble(m: Tree, x: Array) -> str:
    """Return what to try where the closures of a configuration (n + rods,) cannot be shut.

    The motors are let move as well: where the closures can be shut at all, the rank of their
    derivative there tells whether the passive joints alone could do it.
    """
    shut = None
    for start in (x, m.start):
        near = start.copy()
        for _ in range(200):
            g, J = m.openings(near[None])
            size = np.abs(g).max(initial=0.0)
            if not size > SHUT:
                break
            damped = J[0].T @ J[0] + np.clip(size, 1e-5, 0.03) ** 2 * np.eye(len(near))
            near = near - np.linalg.solve(damped, J[0].T @ g[0])
        if np.abs(m.openings(near[None])[0]).max(initial=0.0) <= 1e3 * SHUT:
            shut = near
            break
    names = ", ".join(link.name for link in m.form.links)
    sizes = f"check the lengths, mounts and start values of {names}"
    if shut is None:
        return f"no theta was found at which it closes: {sizes}"
    J = m.openings(shut[None])[1][0]
    ranks = []
    for columns in (np.arange(J.shape[1]), m.joints.passive):
        values = np.linalg.svd(J[:, columns], compute_uv=False)
        ranks.append(int((values > RANK * max(1e-300, values.max(initial=0.0))).sum()))
    if ranks[1] < ranks[0]:
        motors = ", ".join(m.form.motors)
        return (
            f"its motors {motors} cannot be moved independently: mark joints that have no motor "
            "passive: true"
        )
    return f"try theta near {np.round(shut[m.driven], 4).tolist()}, where it closes, or {sizes}"


def solve_closures(m: Tree, x: Array) -> tuple[Array, Bools]:
    """Newton's method from where the passive coordinates stand; axes must not end up opposite."""
    found, done = newton(m, x)
    found = np.where(np.isfinite(found), found, x)
    moved = m.joints.place(found[:, : len(m.joints.coordinates)])
    for loop in m.loops:
        R_a, R_b = (np.broadcast_to(loop.frames(moved, k)[0], (len(x), 3, 3)) for k in (0, 1))
        Q = R_a.swapaxes(1, 2) @ R_b
        if loop.turn == "axis":
            done &= np.einsum("i,bij,j->b", loop.a, Q, loop.a) > 0
        elif loop.turn == "fixed":
            done &= np.trace(Q, axis1=1, axis2=2) > 0
    # Move coordinates that no loop holds as near to their start as the closures let them:
    # z <- z0 - J^+ (g - J (z - z0)) has the nearest shut z as its fixed point
    z = m.joints.passive
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
        again, shut = newton(m, near)
        found[b] = again[0] if shut[0] else found[b]
    return found, done


def _continue_from_start(m: Tree, x: Array) -> tuple[Array, Bools]:
    """Lead theta from the motors' start to where it is asked, the branch kept by short steps."""
    home, shut = solve_closures(m, m.start[None])
    if not shut[0]:
        return x.copy(), np.zeros(len(x), bool)
    return lead(m, np.repeat(home, len(x), axis=0), x[:, m.driven], np.inf)


def lead(m: Tree, x: Array, theta: Array, bend: float = BEND) -> tuple[Array, Bools]:
    """Lead the motors of shut configurations x (B, ..) to theta (B, motors), the branch kept.

    In steps that follow the closures to first order; what Newton's method then adds to a passive
    coordinate is at most `bend`, else steps are halved. And which of them arrived.
    """
    z, home, found = m.joints.passive, x[:, m.driven], x.copy()
    far = np.array([1.0 if c.kind == "turn" else m.size for c in m.joints.coordinates if c.driven])
    far = np.concatenate([far, np.full(len(m.rods), m.size)])
    size = np.array([1.0 if m.joints.coordinates[k].kind == "turn" else m.size for k in z])
    way, done, alive = theta - home, np.zeros(len(x)), np.ones(len(x), bool)
    pace = PACE / np.maximum(np.abs(way / far).max(axis=1, initial=0.0), PACE)
    while (going := np.flatnonzero(alive & (done < 1))).size:
        ahead = np.minimum(done[going] + pace[going], 1.0)
        # z' = -J_z^+ J_theta theta'
        trial = found[going]
        step = (ahead - done[going])[:, None] * way[going]
        _, J = m.openings(trial)
        pushed = np.einsum("brt,bt->br", J[:, :, m.driven], step)
        trial[:, z] -= least_change(J[:, :, z], pushed, 1e-8)
        trial[:, m.driven] = home[going] + ahead[:, None] * way[going]
        shut_at, good = newton(m, trial, 8)
        leap = np.abs(shut_at[:, z] - found[going][:, z]).max(axis=1, initial=0.0)
        good &= leap < 5 * PACE * max(1.0, m.size)
        good &= np.abs((shut_at - trial)[:, z] / size).max(axis=1, initial=0.0) <= bend
        found[going[good]], done[going[good]] = shut_at[good], ahead[good]
        pace[going] *= np.where(good, 1.0, 0.5)
        alive[going] &= pace[going] > 1e-4
    exact = done >= 1
    found[np.ix_(exact, m.driven)] = theta[exact]
    return found, exact


def follow_branch(m: Tree, theta: Array, first: Array | None = None) -> tuple[Array, int]:
    """Return whole configurations (K, ..) through theta (K, motors), all on one branch.

    It is that of `first`, or of `resolve` at the first one, from one to the next; and how many were
    reached. Those that `resolve` finds are taken as long as they follow one another.
    """
    x, reason = resolve(m, theta)
    z, good = m.joints.passive, reason == ""
    if first is not None:
        x[0], good[0] = first, True
    if not good[0]:
        return x, 0
    change = np.diff(x, axis=0)
    _, J = m.openings(x[:-1])
    size = np.array([1.0 if m.joints.coordinates[k].kind == "turn" else m.size for k in z])
    for k in range(1, len(x)):
        if good[k] and good[k - 1]:
            step = change[k - 1]
            held = np.linalg.pinv(J[k - 1][:, z], rcond=1e-8) @ J[k - 1][:, m.driven]
            if np.abs((step[z] + held @ step[m.driven]) / size).max() <= BEND:
                continue
        rest, done = lead(m, x[k - 1 : k], theta[k : k + 1])
        if not done[0]:
            return x, k
        if k < len(x) - 1:
            change[k] = x[k + 1] - rest[0]
            J[k] = m.openings(rest)[1][0]
        x[k], good[k] = rest[0], not refusal_reasons(m, rest)[0]
        if not good[k]:
            return x, k
    return x, len(x)


def _singular(m: Tree, x: Array, reason: NDArray[np.object_]) -> Array:
    """Tell of poses whose passive joints have a first-order motion that is not a finite one.

    Each direction n of the null space of J is followed: z + h n is shut again, and must stay
    within a tenth of h of where it was sent. Where there is none, the clearance, which is
    returned (B,), decides.
    """
    z = m.joints.passive
    if not m.loops or not len(z):
        return m.clearance(x)
    # Only where J has nearly a null space, and not where two axes of a ball joint are in line
    held = m.holds(x)
    suspects = np.flatnonzero((held.min(axis=1, initial=1.0) <= RANK) & (reason == ""))
    J = m.openings(x[suspects])[1][:, :, z]
    _, values, Vt = np.linalg.svd(J)
    wide = np.zeros((len(suspects), len(z)))
    wide[:, : values.shape[1]] = values
    loose = wide <= RANK * np.maximum(wide[:, :1], 1e-300)
    for k in range(len(z)):
        chosen = np.flatnonzero(loose[:, k] & (reason[suspects] == ""))
        if not len(chosen):
            continue
        rows, n = suspects[chosen], Vt[chosen, k]
        sent = x[rows].copy()
        sent[:, z] += NUDGE * n
        back, shut = newton(m, sent)
        astray = np.abs(back[:, z] - sent[:, z]).max(axis=1) > 0.1 * NUDGE * np.abs(n).max(axis=1)
        for b, direction in zip(rows[~shut | astray], n[~shut | astray], strict=True):
            joint = m.joints.coordinates[z[int(np.argmax(np.abs(direction)))]]
            at = np.round(x[b, m.driven], 6).tolist()
            reason[b] = (
                f"theta {at} is singular: with its motors held, the joint of {joint.name} can "
                "still begin to move, and the loads there have no limit; try a theta nearby"
            )
    clearance = least_held(held)
    for b in np.flatnonzero((clearance < SINGULAR) & (reason == "")):
        reason[b] = (
            f"theta {np.round(x[b, m.driven], 6).tolist()} is singular: with its motors held, "
            "its loops hold some joints hardly at all; try a theta farther away"
        )
    return clearance
