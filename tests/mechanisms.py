"""Mechanisms that several tests share: random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures.joint_tree import TreeMotion
from supple.architectures.kinds import lower
from supple.kernels.spatial import rpy_rotation
from supple.robot import MechanismRobot

THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")
CLOSING = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "slot",
    "distance",
)


def random_mechanism(seed: int) -> MechanismRobot:
    """Return mechanism number `seed`: 1 to 4 loops, assembled exactly at its `start`.

    A random tree at a random pose; each closure ties two of its frames, whose mounts are chosen so
    that it is shut there. Motors, passive joints of every type, springs, bodies, mixed theories.
    """
    rng = np.random.default_rng([20160, seed])
    planar = bool(rng.random() < 0.5)
    loops = int(rng.integers(1, 5))
    links = [_random_link(rng, i, planar) for i in range(int(rng.integers(3, 7)))]
    if all(link["theory"] == "rigid" for link in links):
        links[0] |= {"theory": "euler-bernoulli"}
    base = {"name": f"random-{seed}", "planar": planar, "links": links, "payload": {"mass": 0.3}}
    base["gravity"] = [0, -9.81, 0]
    open_ = MechanismRobot.model_validate(base)
    m = lower(open_)
    moved = m.joints.place(m.start[None])
    closures = []
    for k in range(loops):
        a, b = rng.choice(len(links) + 1, 2, replace=False) - 1
        closures.append(_random_closure(rng, open_, moved, int(a), int(b), k))
    return MechanismRobot.model_validate(base | {"closures": closures})


def _random_link(rng: np.random.Generator, i: int, planar: bool) -> dict[str, Any]:
    L = float(rng.uniform(0.2, 0.6))
    thick = float(rng.uniform(0.01, 0.03))
    mount = {"xyz": [*rng.uniform(-0.2, 0.2, 2), 0.0 if planar else rng.uniform(-0.2, 0.2)]}
    mount["rpy"] = [0, 0, rng.uniform(-3, 3)] if planar else list(rng.uniform(-1.5, 1.5, 3))
    kinds = ["revolute", "revolute", "universal", "spherical", "prismatic", "fixed"]
    joint: dict[str, Any] = {"type": str(rng.choice(kinds)), "mount": mount}
    count = {"universal": 2, "spherical": 3, "fixed": 0}.get(joint["type"], 1)
    count = min(count, 1) if planar else count
    if joint["type"] in ("revolute", "prismatic"):
        joint["passive"] = bool(rng.random() < 0.7)
    slides = joint["type"] == "prismatic"
    if count:
        joint["start"] = [0.6 * L] if slides else list(rng.uniform(-1.2, 1.2, count))
    if count and joint.get("passive", True) and rng.random() < 0.4:
        joint["stiffness"] = [1e4] if slides else list(10 ** rng.uniform(1, 3, count))
    link = {
        "name": f"link{i + 1}",
        "parent": "base"
        if i == 0
        else str(rng.choice(["base", *(f"link{k + 1}" for k in range(i))])),
        "joint": joint,
        "length": L,
        "theory": str(rng.choice(THEORIES, p=(0.4, 0.3, 0.15, 0.15))),
        "material": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700},
        "section": {"shape": "rectangle", "depth": thick, "width": 1.3 * thick},
    }
    if rng.random() < 0.4:
        link["tip"] = {"mass": float(rng.uniform(0.1, 2)), "inertia": [1e-3, 2e-3, 2.5e-3]}
    return link


def _random_closure(
    rng: np.random.Generator, robot: MechanismRobot, moved: TreeMotion, a: int, b: int, k: int
) -> dict[str, Any]:
    """A closure between links a and b that is shut where the tree stands."""
    planar = robot.planar
    ends: list[dict[str, Any]] = []
    frames = []
    for i in (a, b):
        at = None
        if i >= 0 and robot.links[i].joint.type != "prismatic" and rng.random() < 0.3:
            at = float(0.5 * (robot.links[i].length or 0.0))
        ends.append({"link": "base" if i < 0 else robot.links[i].name, "at": at})
        frames.append(moved.frame(i, at, np.eye(3), np.zeros(3)))
    xyz = rng.uniform(-0.1, 0.1, 3) * ([1, 1, 0] if planar else 1)
    rpy = [0, 0, rng.uniform(-3, 3)] if planar else rng.uniform(-1, 1, 3)
    ends[0]["mount"] = {"xyz": list(xyz), "rpy": list(rpy)}
    (R_a, p_a), (R_b, p_b) = ((R[0], p[0]) for R, p in frames)
    R, p = R_a @ rpy_rotation(rpy), p_a + R_a @ xyz  # the frame that both ends share
    turned = R_b.T @ R
    pitch = -np.arcsin(np.clip(turned[2, 0], -1, 1))
    angles = [np.arctan2(turned[2, 1], turned[2, 2]), pitch, np.arctan2(turned[1, 0], turned[0, 0])]
    ends[1]["mount"] = {"xyz": list(R_b.T @ (p - p_b)), "rpy": angles}
    if planar:
        ends[1]["mount"]["rpy"][:2] = [0, 0]
        ends[1]["mount"]["xyz"][2] = 0.0
    kind = str(rng.choice(CLOSING))
    closure = {"name": f"loop{k + 1}", "ends": ends, "type": kind}
    if kind == "distance":  # a rod of 0.3 m along the shared frame's x
        ends[1]["mount"]["xyz"] = list(np.asarray(ends[1]["mount"]["xyz"]) + 0.3 * turned[:, 0])
        closure |= {"length": 0.3, "motor": bool(rng.random() < 0.5)}
    return closure
