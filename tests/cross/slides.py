"""Twins of arms with a link that slides, for the checks of such links."""

import numpy as np

import supple
from supple.dynamics.rest import stiffness_at


def held_twin(robot, k: int, l: float):
    """The robot with link k held at l: a fixed link, and a rigid rod behind its joint."""
    links = [link.model_dump(exclude_unset=True) for link in robot.links]
    described, m = links[k], robot.links[k].mass_per_length
    inside = robot.links[k].length - l
    rod = m * inside
    behind = {"mass": rod, "com": [-inside / 2, 0, 0],
              "inertia": [0.0, rod * inside**2 / 12, rod * inside**2 / 12]}  # fmt: skip
    joint = {"type": "fixed", "hub": behind}
    if "mount" in described["joint"]:
        joint["mount"] = described["joint"]["mount"]
    links[k] = {**described, "length": l, "joint": joint}
    return supple.SerialRobot(**{**robot.model_dump(exclude_unset=True), "links": links})


def same_fields(slide, fixed, link: str, q, place: int):
    """T with (slide's coordinates) = T (fixed's): both then displace the link alike.

    The free length, at `place` in the slide's q, comes out as zero: add it where q is meant.
    """
    n, i = slide.size, fixed.chain.index(link)
    keep = [k for k in range(n) if k != place]
    T = np.zeros((n, n - 1))
    T[keep] = np.eye(n - 1)
    own, other = slide.chain.eta[i], fixed.chain.eta[i]
    at = np.linspace(0.02, 1.0, 50)
    sides = []
    for model, part, start in ((slide, own, q), (fixed, other, np.delete(q, place))):
        units = np.array([np.eye(model.size)[k] for k in range(part.start, part.stop)]) + start
        sides.append(np.array([model.deflection_at(units, link, x) for x in at]))
    A, B = (side.transpose(0, 2, 1).reshape(-1, side.shape[1]) for side in sides)
    found, *_ = np.linalg.lstsq(A, B, rcond=None)
    np.testing.assert_allclose(A @ found, B, atol=1e-8 * np.abs(B).max())
    T[own, other] = found
    return T


def check_held(slide, fixed, link: str, place: int, l: float, rounds: int = 3, tolerance=1e-9):
    """Every term of an arm with a slide held at l against those of its twin without a slide."""
    rng, n = np.random.default_rng(1), fixed.size
    rest = np.zeros(slide.size)
    rest[place] = l
    T = same_fields(slide, fixed, link, rest, place)
    size = np.r_[np.ones(fixed.joints), np.full(n - fixed.joints, 0.05)]
    for _ in range(rounds):
        q, qd, qdd = (rng.normal(size=n) * size for _ in range(3))
        Q, V, A = T @ q + rest, T @ qd, T @ qdd
        pairs = [
            (T.T @ slide.mass_matrix(Q) @ T, fixed.mass_matrix(q)),
            (T.T @ slide.bias(Q, V), fixed.bias(q, qd)),
            (T.T @ slide.gravity(Q), fixed.gravity(q)),
            (T.T @ stiffness_at(slide, Q) @ T, fixed.stiffness),
            (T.T @ slide.inverse_dynamics(Q, V, A), fixed.inverse_dynamics(q, qd, qdd)),
            (slide.tip(Q), fixed.tip(q)),
            (slide.energy(Q, V), fixed.energy(q, qd)),
        ]
        for ours, theirs in pairs:
            allowed = tolerance * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=allowed)
