"""Assembly of a mechanism: passive coordinates that close its loops, at given motor coordinates.

Newton's method from `start`, for each configuration on its own: with the residuals g(q) of the
closures and their derivative J over the passive coordinates z, z <- z - J^+ g, the step that
changes z least where rows are redundant or leave a coordinate free. Where it fails, or where the
motors have a `start` too, theta is moved there from the motors' start in small steps, which stay on
one branch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from .base import SINGULAR, rows_of_angles
from .hanging import hang
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
# Lengths are measured as parts of the mechanism's size, angles in radians
RANK_TOLERANCE = 1e-6  # singular values of J below this part of the largest count as zero
MAX_NEWTON_STEP = 0.5
MAX_THETA_STEP = 0.2  # on the way from the start
MAX_TANGENT_ERROR = 0.05  # how far a step along a branch may end from its tangent
PROBE_STEP = 1e-3  # how far a first-order motion is followed to see whether it is a finite one


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
    units += ["m"] * len(m.rods)
    if names:
        listed = ", ".join(f"{name} ({unit})" for name, unit in zip(names, units, strict=True))
        wanted = f"{len(names)} motor coordinates: {listed}"
        if m.loops:
            wanted += "; a joint without a motor is marked passive: true"
    else:
        wanted = "none, it has no motor"
    if theta is None:
        for k, c in enumerate(m.joints.coordinates):
            if c.driven and c.kind == "slide" and m.start[k] <= 0:
                raise SuppleError(f"theta is missing: give {wanted}")
        given = m.start[None, m.driven]
    else:
        given = rows_of_angles(theta, len(names), wanted)
    # Refusals (B,) that need no assembly, empty where there is none
    reason = np.full(len(given), "", object)
    reason[~np.isfinite(given).all(axis=1)] = (
        "theta holds a value that is not finite: give plain numbers in radians or metres"
    )
    rod_lengths = given[:, len(names) - len(m.rods) :]
    for b, k in np.argwhere(rod_lengths <= 0):
        reason[b] = (
            f"the length of {m.rods[k].name} is {rod_lengths[b, k]:g} m: it must be above 0; try "
            "another theta"
        )

    x = np.repeat(m.start[None], len(given), axis=0)
    x[:, m.driven] = given
    for k, j, multiplier, offset in m.joints.mimics:
        x[:, k] = multiplier * x[:, j] + offset
    good = np.flatnonzero(reason == "")
    clearance = np.zeros(len(x))
    if len(good):
        x[good], reason[good], clearance[good] = _close_configurations(m, x[good])
        x[good] = hang(m, x[good])
    clearance[reason != ""] = 0.0
    return x, reason, clearance


def refusal_reasons(m: Tree, x: Array) -> NDArray[np.object_]:
    """Return why closed configurations (B, ..) are still refused, empty where they are valid."""
    return _reasons_and_clearance(m, x)[0]


def _reasons_and_clearance(m: Tree, x: Array) -> tuple[NDArray[np.object_], Array]:
    """`refusal_reasons`, and the clearance (B,) that decides about singular poses."""
    reason = np.full(len(x), "", object)
    clearance = np.ones(len(x))
    if len(x):
        _refuse_strokes(m, x, reason)
        clearance = _refuse_singular(m, x, reason)
    return reason, clearance


def _refuse_strokes(m: Tree, x: Array, reason: NDArray[np.object_]) -> None:
    """Write to `reason` where slides are beyond their beams or short of what sits on them."""
    robot = m.form
    attached: list[tuple[int, float]] = []  # link and place along it
    for closure in robot.closures:
        for end in closure.ends:
            if end.at is not None:
                attached.append((robot.end_index(end), end.at))
    for parent, link in zip(robot.parents, robot.links, strict=True):
        if link.at is not None:
            attached.append((parent, link.at))

    for k, c in enumerate(m.joints.coordinates):
        if c.kind != "slide":
            continue
        link = robot.links[c.link]
        total = link.length or 0.0
        lowest = -np.inf if link.rigid else 0.0
        beyond = (x[:, k] <= lowest) | (x[:, k] > total)
        for b in np.flatnonzero(beyond & (reason == "")):
            reason[b] = (
                f"the free length of {link.name} is {x[b, k]:g} m: it must lie above 0 and at "
                f"most at the beam's length {total:g} m; try another theta"
            )
        farthest = max((at for i, at in attached if i == c.link), default=-np.inf)
        for b in np.flatnonzero((x[:, k] < farthest) & (reason == "")):
            reason[b] = (
                f"the free length of {link.name} is {x[b, k]:g} m, and something sits at "
                f"{farthest:g} m along it: it must be at least as long; try another theta"
            )


def _close_configurations(m: Tree, x: Array) -> tuple[Array, NDArray[np.object_], Array]:
    """Close the loops of configurations (B, ..) at their motor coordinates.

    Also returns why there is no solution, (B,), and the clearance, (B,).
    """
    reason = np.full(len(x), "", object)
    has_passive = bool(len(m.joints.passive))
    if m.loops and has_passive:
        first_method = solve_closures
        second_method = _continue_from_start
        if m.starts_with_motors:
            first_method, second_method = second_method, first_method
        found, done = first_method(m, x)
        if not done.all():
            again, closed = second_method(m, x[~done])
            found[~done] = np.where(closed[:, None], again, found[~done])
            done[~done] = closed
    else:
        found = x
        done = np.abs(m.openings(x)[0]).max(axis=1, initial=0.0) <= 1e3 * SHUT

    # Where they cannot be closed: open them as little as possible, then try once more
    failed = np.flatnonzero(~done)
    if len(failed):
        found[np.ix_(failed, m.driven)] = x[np.ix_(failed, m.driven)]
        if has_passive:
            found[failed] = _least_open(m, found[failed])
            again, closed = solve_closures(m, found[failed])
            found[failed[closed]] = again[closed]
            done[failed] = closed
    for b in np.flatnonzero(~done):
        theta = np.round(x[b, m.driven], 6).tolist()
        advice = _how_to_assemble(m, x[b]) if len(x) == 1 else "try another theta"
        reason[b] = f"theta {theta} cannot be assembled: closure {m.worst(found[b])}; {advice}"

    good = np.flatnonzero(done)
    clearance = np.zeros(len(x))
    reason[good], clearance[good] = _reasons_and_clearance(m, found[good])
    return found, reason, clearance


def _least_open(m: Tree, x: Array) -> Array:
    """Configurations (B, ..) whose closures are open as little as possible, in the mean square."""
    x = x.copy()
    z = m.joints.passive
    for _ in range(100):
        g, J = m.openings(x)
        A = J[:, :, z]
        normal = A.swapaxes(1, 2) @ A + 0.03 * np.eye(len(z))
        gradient = np.einsum("brz,br->bz", A, g)
        x[:, z] -= np.linalg.solve(normal, gradient[..., None])[..., 0]
    return x


def well_conditioned_inverses(J: Array) -> tuple[Array, Bools]:
    """Return inverses (B, n, n) of square matrices, and which of them are far from singular (B,).

    The norms of a matrix and of its inverse prove that its smallest singular value is above 1e-5 of
    its largest. An inverse takes a fifth of the time of a singular value decomposition.
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
    x = x.copy()
    z = m.joints.passive
    if not m.loops and not m.joints.mimics:  # an open tree
        return x, np.ones(len(x), bool)
    slides = np.array([m.joints.coordinates[k].kind != "turn" for k in z])
    max_step = np.where(slides, m.size, 1.0) * MAX_NEWTON_STEP
    last_size = np.full(len(x), np.inf)
    closed = np.zeros(len(x), bool)
    active = np.arange(len(x))  # configurations still iterated
    for _ in range(most):
        g, J = m.openings(x[active])
        size = np.abs(g).max(axis=1)
        step = -least_change(J[:, :, z], g, 1e-10)
        excess = np.abs(step / max_step).max(axis=1)
        step /= np.maximum(excess, 1.0)[:, None]

        stopped_falling = (size >= 0.5 * last_size[active]) | (size <= 1e-15)
        settled = (size <= SHUT) & stopped_falling
        last_size[active] = size
        closed[active] = size <= SHUT
        active = active[~settled]
        x[active[:, None], z] += step[~settled]
        if not len(active):
            break
    if len(active):
        closed[active] = np.abs(m.openings(x[active])[0]).max(axis=1) <= SHUT
    return x, closed


def _how_to_assemble(m: Tree, x: Array) -> str:
    """Return what to try where the closures of a configuration (n + rods,) cannot be shut.

    The motors are let move as well: where the closures can be shut at all, the rank of their
    derivative there tells whether the passive joints alone could do it.
    """
    shut = None
    for start in (x, m.start):
        guess = start.copy()
        for _ in range(200):
            g, J = m.openings(guess[None])
            size = np.abs(g).max(initial=0.0)
            if not size > SHUT:
                break
            damped = J[0].T @ J[0] + np.clip(size, 1e-5, 0.03) ** 2 * np.eye(len(guess))
            guess = guess - np.linalg.solve(damped, J[0].T @ g[0])
        if np.abs(m.openings(guess[None])[0]).max(initial=0.0) <= 1e3 * SHUT:
            shut = guess
            break
    names = ", ".join(link.name for link in m.form.links)
    sizes = f"check the lengths, mounts and start values of {names}"
    if shut is None:
        return f"no theta was found at which it closes: {sizes}"
    J = m.openings(shut[None])[1][0]
    ranks = []
    for columns in (np.arange(J.shape[1]), m.joints.passive):
        values = np.linalg.svd(J[:, columns], compute_uv=False)
        ranks.append(int((values > RANK_TOLERANCE * max(1e-300, values.max(initial=0.0))).sum()))
    if ranks[1] < ranks[0]:
        motors = ", ".join(m.form.motors)
        return (
            f"its motors {motors} cannot be moved independently: mark joints that have no motor "
            "passive: true"
        )
    return f"try theta near {np.round(shut[m.driven], 4).tolist()}, where it closes, or {sizes}"


def solve_closures(m: Tree, x: Array) -> tuple[Array, Bools]:
    """Newton's method from given passive coordinates; axes must not end up opposite."""
    found, done = newton(m, x)
    found = np.where(np.isfinite(found), found, x)
    moved = m.joints.place(found[:, : len(m.joints.coordinates)])
    for loop in m.loops:
        R_a = np.broadcast_to(loop.frames(moved, 0)[0], (len(x), 3, 3))
        R_b = np.broadcast_to(loop.frames(moved, 1)[0], (len(x), 3, 3))
        Q = R_a.swapaxes(1, 2) @ R_b
        if loop.turn == "axis":
            done &= np.einsum("i,bij,j->b", loop.a, Q, loop.a) > 0
        elif loop.turn == "fixed":
            done &= np.trace(Q, axis1=1, axis2=2) > 0
    # Coordinates that no loop determines return as near to their start as the closures allow:
    # z <- z0 - J^+ (g - J (z - z0)) has the nearest closed z as its fixed point
    z = m.joints.passive
    J = m.openings(found)[1][:, :, z]
    values = np.linalg.svd(J, compute_uv=False)
    rank = (values > RANK_TOLERANCE * values[:, :1]).sum(axis=1)
    for b in np.flatnonzero(done & (rank < len(z)) & (rank > 0)):
        guess = found[b : b + 1].copy()
        z0 = x[b, z]
        for _ in range(30):
            g, J = m.openings(guess)
            back = np.linalg.pinv(J[0][:, z], rcond=RANK_TOLERANCE)
            new = z0 - back @ (g[0] - J[0][:, z] @ (guess[0, z] - z0))
            change = np.abs(new - guess[0, z]).max()
            guess[0, z] = new
            if change < 1e-12:
                break
        again, closed = newton(m, guess)
        if closed[0]:
            found[b] = again[0]
    return found, done


def _continue_from_start(m: Tree, x: Array) -> tuple[Array, Bools]:
    """Move theta from the motors' start to its given values in short steps, on one branch."""
    home, shut = solve_closures(m, m.start[None])
    if not shut[0]:
        return x.copy(), np.zeros(len(x), bool)
    return lead(m, np.repeat(home, len(x), axis=0), x[:, m.driven], np.inf)


def lead(m: Tree, x: Array, theta: Array, bend: float = MAX_TANGENT_ERROR) -> tuple[Array, Bools]:
    """Move the motors of closed configurations x (B, ..) to theta (B, motors), on one branch.

    Steps follow the closures to first order; what Newton's method then adds to a passive coordinate
    is at most `bend`, else the step is halved. Also returns which of them arrived, (B,).
    """
    z = m.joints.passive
    home = x[:, m.driven]
    found = x.copy()
    coordinates = m.joints.coordinates
    motor_scale = [1.0 if c.kind == "turn" else m.size for c in coordinates if c.driven]
    motor_scale += [m.size] * len(m.rods)
    passive_scale = np.array([1.0 if coordinates[k].kind == "turn" else m.size for k in z])

    way = theta - home
    done = np.zeros(len(x))  # part of the way, 0 .. 1
    alive = np.ones(len(x), bool)
    distance = np.abs(way / np.array(motor_scale)).max(axis=1, initial=0.0)
    pace = MAX_THETA_STEP / np.maximum(distance, MAX_THETA_STEP)
    while (going := np.flatnonzero(alive & (done < 1))).size:
        # Along the tangent: z' = -J_z^+ J_theta theta'
        ahead = np.minimum(done[going] + pace[going], 1.0)
        trial = found[going]
        step = (ahead - done[going])[:, None] * way[going]
        _, J = m.openings(trial)
        opened = np.einsum("brt,bt->br", J[:, :, m.driven], step)
        trial[:, z] -= least_change(J[:, :, z], opened, 1e-8)
        trial[:, m.driven] = home[going] + ahead[:, None] * way[going]

        # Closed by Newton's method, which must not add much
        closed_at, good = newton(m, trial, 8)
        change = np.abs(closed_at[:, z] - found[going][:, z]).max(axis=1, initial=0.0)
        correction = np.abs((closed_at - trial)[:, z] / passive_scale).max(axis=1, initial=0.0)
        good &= change < 5 * MAX_THETA_STEP * max(1.0, m.size)
        good &= correction <= bend
        found[going[good]] = closed_at[good]
        done[going[good]] = ahead[good]
        pace[going] *= np.where(good, 1.0, 0.5)
        alive[going] &= pace[going] > 1e-4
    arrived = done >= 1
    found[np.ix_(arrived, m.driven)] = theta[arrived]
    return found, arrived


def follow_branch(m: Tree, theta: Array, first: Array | None = None) -> tuple[Array, int]:
    """Return whole configurations (K, ..) through theta (K, motors), all on one branch.

    The branch of `first`, or of `resolve` at the first theta. Also returns how many were reached.
    Configurations that `resolve` finds are used as long as they follow one another continuously.
    """
    x, reason = resolve(m, theta)
    good = reason == ""
    z = m.joints.passive
    if first is not None:
        x[0] = first
        good[0] = True
    if not good[0]:
        return x, 0
    change = np.diff(x, axis=0)
    _, J = m.openings(x[:-1])
    coordinates = m.joints.coordinates
    passive_scale = np.array([1.0 if coordinates[k].kind == "turn" else m.size for k in z])
    for k in range(1, len(x)):
        if good[k] and good[k - 1]:
            # On the same branch if the step is near the tangent
            step = change[k - 1]
            slope = np.linalg.pinv(J[k - 1][:, z], rcond=1e-8) @ J[k - 1][:, m.driven]
            tangent_error = np.abs((step[z] + slope @ step[m.driven]) / passive_scale).max()
            if tangent_error <= MAX_TANGENT_ERROR:
                continue
        moved, arrived = lead(m, x[k - 1 : k], theta[k : k + 1])
        if not arrived[0]:
            return x, k
        if k < len(x) - 1:
            change[k] = x[k + 1] - moved[0]
            J[k] = m.openings(moved)[1][0]
        x[k] = moved[0]
        good[k] = not refusal_reasons(m, moved)[0]
        if not good[k]:
            return x, k
    return x, len(x)


def _refuse_singular(m: Tree, x: Array, reason: NDArray[np.object_]) -> Array:
    """Write to `reason` where passive joints have a first-order motion that is not a finite one.

    Each direction n of the null space of J is followed: z + h n is closed again, and must stay
    within a tenth of h. Where the null space is empty, the clearance decides, which is returned,
    (B,).
    """
    z = m.joints.passive
    if not m.loops or not len(z):
        return m.clearance(x)
    # Only where J has nearly a null space, and not where two axes of a ball joint are in line
    is_held = m.holds(x)
    suspects = np.flatnonzero((is_held.min(axis=1, initial=1.0) <= RANK_TOLERANCE) & (reason == ""))
    J = m.openings(x[suspects])[1][:, :, z]
    _, values, Vt = np.linalg.svd(J)
    wide = np.zeros((len(suspects), len(z)))
    wide[:, : values.shape[1]] = values
    loose = wide <= RANK_TOLERANCE * np.maximum(wide[:, :1], 1e-300)
    for k in range(len(z)):
        chosen = np.flatnonzero(loose[:, k] & (reason[suspects] == ""))
        if not len(chosen):
            continue
        rows = suspects[chosen]
        n = Vt[chosen, k]
        probed = x[rows].copy()
        probed[:, z] += PROBE_STEP * n
        closed_at, closed = newton(m, probed)
        moved_back = np.abs(closed_at[:, z] - probed[:, z]).max(axis=1)
        not_finite = ~closed | (moved_back > 0.1 * PROBE_STEP * np.abs(n).max(axis=1))
        for b, direction in zip(rows[not_finite], n[not_finite], strict=True):
            joint = m.joints.coordinates[z[int(np.argmax(np.abs(direction)))]]
            at = np.round(x[b, m.driven], 6).tolist()
            reason[b] = (
                f"theta {at} is singular: with its motors held, the joint of {joint.name} can "
                "still begin to move, and the loads there have no limit; try a theta nearby"
            )
    clearance = least_held(is_held)
    for b in np.flatnonzero((clearance < SINGULAR) & (reason == "")):
        reason[b] = (
            f"theta {np.round(x[b, m.driven], 6).tolist()} is singular: with its motors held, "
            "its loops hold some joints hardly at all; try a theta farther away"
        )
    return clearance
