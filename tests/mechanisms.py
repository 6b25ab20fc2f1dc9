"""Mechanisms that several tests share: Kuo's Delta written as a mechanism, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures import delta
from supple.architectures.assembling import mechanism_of
from supple.architectures.tree import TreeMotion
from supple.kernels.spatial import rpy_rotation
from supple.robot import DeltaRobot, MechanismRobot


def delta_as_mechanism(robot: DeltaRobot, position: Any) -> MechanismRobot:
    """Return a Delta of single rods or parallelograms as links and closures.

    Its legs are its own; the platform hangs on the first rod by the joint of the wrist, and the
    other wrists are closures: universal with single rods, spherical with parallelograms. It is
    assembled near a platform position.
    """
    phi = delta.inverse(robot, position)[0]
    keys = ("length", "material", "section", "theory", "tip", "roll")
    upper, lower = ({k: getattr(part, k) for k in keys} for part in (robot.upper, robot.lower))
    links: list[dict[str, Any]] = []
    half, radius, wrists = (robot.lower.spacing or 0.0) / 2, robot.platform.radius, []
    sides = (("a", -half), ("b", half)) if half else (("", 0.0),)
    for leg, angle in enumerate(robot.angles):
        c, s = np.cos(angle), np.sin(angle)
        hip = {"xyz": [robot.base_radius * c, robot.base_radius * s, 0.0], "rpy": [0, 0, angle]}
        motor = {"axis": [0, 1, 0], "mount": hip, "start": phi[leg, 0]}
        for key in ("stiffness", "rotor_inertia"):
            motor |= {key: getattr(robot.motor, key)} if getattr(robot.motor, key) else {}
        arm = f"upper{leg + 1}"
        links.append({"name": arm, "parent": "base", "joint": motor, **upper})
        for tag, side in sides:
            elbow = {
                "type": "universal",
                "start": list(phi[leg, 1:]),
                "mount": {"xyz": [0, side, 0]},
            }
            links.append({"name": f"lower{leg + 1}{tag}", "parent": arm, "joint": elbow, **lower})
            place = [radius * c - side * s, radius * s + side * c, 0.0]
            wrists.append((links[-1]["name"], {"xyz": place, "rpy": [0, 0, angle]}))
    axes = [[0, 0, 1], [0, 1, 0]]
    wrist: dict[str, Any] = {"type": "universal", "axes": axes}
    wrist["start"] = [-phi[0, 2], -phi[0, 0] - phi[0, 1]]
    if half:  # Rz Ry Rx = Rz(-phi3) Ry(-phi1 - phi2)
        wrist = {"type": "spherical", "start": [0.0, *wrist["start"][::-1]]}
    links.append({"name": "wrist", "parent": wrists[0][0], "joint": wrist, "theory": "rigid"})
    hub = {"type": "fixed", "mount": {"xyz": [-x for x in wrists[0][1]["xyz"]]}}
    body = robot.platform.body
    links.append({"name": "platform", "joint": hub, "theory": "rigid", "body": body})
    closures: list[dict[str, Any]] = []
    for rod, place in wrists[1:]:
        ends = [rod, {"link": "platform", "mount": place}]
        closures.append({"name": f"wrist-{rod}", "ends": ends, "type": "spherical"})
        closures[-1] |= {} if half else {"type": "universal", "axes": axes}
    whole = {
        "name": f"{robot.name}-as-mechanism",
        "gravity": robot.gravity,
        "materials": dict(robot.materials),
        "sections": dict(robot.sections),
        "links": links,
        "closures": closures,
        "tip": "platform",
        "payload": robot.payload,
    }
    return MechanismRobot.model_validate(whole)


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
    planar, loops = bool(rng.random() < 0.5), int(rng.integers(1, 5))
    links = [_random_link(rng, i, planar) for i in range(int(rng.integers(3, 7)))]
    if all(link["theory"] == "rigid" for link in links):
        links[0] |= {"theory": "euler-bernoulli"}
    base = {"name": f"random-{seed}", "planar": planar, "links": links, "payload": {"mass": 0.3}}
    base["gravity"] = [0, -9.81, 0]
    open_ = MechanismRobot.model_validate(base)
    m = mechanism_of(open_)
    moved = m.tree.place(m.start[None])
    closures = []
    for k in range(loops):
        a, b = rng.choice(len(links) + 1, 2, replace=False) - 1
        closures.append(_random_closure(rng, open_, moved, int(a), int(b), k))
    return MechanismRobot.model_validate(base | {"closures": closures})


def _random_link(rng: np.random.Generator, i: int, planar: bool) -> dict[str, Any]:
    L, thick = float(rng.uniform(0.2, 0.6)), float(rng.uniform(0.01, 0.03))
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
