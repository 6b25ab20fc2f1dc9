"""Can the data answer: directions of the parameters that change nothing that was measured.

Columns of the weighted Jacobian are scaled to relative changes of the parameters. A singular value
that is nothing beside the largest one belongs to a combination of parameters which these data do
not see; one so small that the combination is known to no better than its own size, to one that
they hardly see.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..studies.vibration.modes import modes
from .estimation import NULL, Problem
from .parameters import ParameterSet

__all__ = ["Blindness", "blind_directions", "describe_blindness"]

Array = NDArray[np.float64]
TAKES_PART = 0.1  # share of a parameter in a direction from which it is named
MODES = 5  # at poses that are proposed
NINETY = (math.pi / 2, -math.pi / 2, math.pi / 4, -math.pi / 4)


@dataclass(frozen=True)
class Blindness:
    """Directions that the data do not see: rows (q, p) in x, and the names that take part."""

    directions: Array
    sets: tuple[tuple[str, ...], ...]


def blind_directions(
    problem: Problem, jacobian: Array, sigma: Array, used: NDArray[np.bool_]
) -> Blindness:
    """Return the directions of x of which nothing is known, priors counted as data."""
    p = problem.parameters
    scaled = np.where(used[:, None], jacobian / sigma[:, None], 0.0)
    has_prior = np.isfinite(p.prior_std)
    weight = np.where(
        has_prior, p.slopes(np.zeros(len(p.names))) / np.where(has_prior, p.prior_std, 1.0), 0.0
    )
    rows = np.vstack([scaled, np.diag(weight)])
    # Columns of unit length: what counts is whether effects differ in kind, not in size
    effect = np.linalg.norm(rows, axis=0)
    seen = effect > 1e-9 * effect.max(initial=0.0)
    length = np.where(seen, effect, 1.0)
    _, s, V = np.linalg.svd(np.where(seen, rows / length, 0.0), full_matrices=False)
    normalised = V[s < NULL * max(s.max(initial=0.0), 1e-300)]
    if not len(normalised):
        return Blindness(np.zeros((0, len(p.names))), ())
    # A basis of the null space with as many zeros as it can have names the smallest sets
    sparse = _row_echelon(normalised)
    sets = []
    for row in sparse:
        part = np.abs(row) >= TAKES_PART * np.abs(row).max()
        sets.append(tuple(name for name, here in zip(p.names, part, strict=True) if here))
    directions = sparse / length
    return Blindness(directions / np.linalg.norm(directions, axis=1, keepdims=True), tuple(sets))


def _row_echelon(rows: Array) -> Array:
    """The reduced row echelon form of a few directions, pivots on their largest entries."""
    A = rows.copy()
    done: list[int] = []
    for k in range(len(A)):
        columns = [j for j in range(A.shape[1]) if j not in done]
        sizes = [float(np.abs(A[k:, j]).max()) for j in columns]
        pivot = columns[int(np.argmax(sizes))]
        row = k + int(np.argmax(np.abs(A[k:, pivot])))
        A[[k, row]] = A[[row, k]]
        A[k] /= A[k, pivot]
        for other in range(len(A)):
            if other != k:
                A[other] -= A[other, pivot] * A[k]
        done.append(pivot)
    A[np.abs(A) < 1e-3] = 0.0
    return A


def describe_blindness(
    problem: Problem, blindness: Blindness, x: Array, kinds: Sequence[str]
) -> list[str]:
    """Return a sentence for each set, with what would help."""
    sentences = []
    p = problem.parameters
    for names, direction in zip(blindness.sets, blindness.directions, strict=True):
        here = "these poses" if "frequencies" in kinds or "statics" in kinds else "these data"
        if len(names) == 1:
            what = f"{names[0]} has no effect on {here}"
        else:
            all_names = f"{', '.join(names[:-1])} and {names[-1]}"
            what = f"{all_names} cannot be told apart from {here}"
        pose = _helpful_pose(p, x, direction) if "motion" not in kinds else ""
        advice = f"add a pose with {pose}, " if pose else "measure something else as well, "
        fix = "fix it" if len(names) == 1 else "fix one of them"
        sentences.append(f"{what}: {advice}{fix} (leave it out of free), or give a prior")
    return sentences


def _helpful_pose(p: ParameterSet, x: Array, direction: Array) -> str:
    """The pose whose frequencies change most along a direction, in words; none if none do."""
    family = architecture_of(p.robot)
    if family.asked_by != "theta" or not family.open_chain:
        return ""
    motors = family.motors
    best = 0.0
    words = ""
    step = 1e-3 * direction / max(float(np.linalg.norm(direction)), 1e-300)
    try:
        up = p.setting(x + step).robot
        down = p.setting(x - step).robot
    except SuppleError:
        return ""
    at_zero = np.array([0.5 if slides else 0.0 for _, slides in motors])
    poses = {"all joints at 0": at_zero}
    for k, (name, slides) in enumerate(motors):
        for angle in () if slides else NINETY:
            pose = at_zero.copy()
            pose[k] = angle
            others = " and all others at 0" if len(motors) > 1 else ""
            poses[f"{name} at {math.degrees(angle):.0f} deg{others}"] = pose
    for description, theta in poses.items():
        try:
            f = [modes(robot, theta, count=MODES).omega for robot in (up, down)]
        except SuppleError:
            continue
        gain = float(np.abs(np.log(f[0] / f[1])).max()) / 2e-3
        if gain > 1.05 * best:
            best = gain
            words = description
    return words if best > 1e-4 else ""
