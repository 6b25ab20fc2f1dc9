"""Random arms, dimensions and boxes, for claims that brute force must not contradict."""

from typing import Any

import numpy as np

import supple

METAL = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}


def random_arm(rng: np.random.Generator) -> supple.Robot:
    """A planar or spatial arm of two or three links, boxes or tubes, some joints sprung."""
    planar = bool(rng.random() < 0.6)
    links: list[dict[str, Any]] = []
    for k in range(int(rng.integers(2, 4))):
        depth = rng.uniform(0.06, 0.2)
        section: dict[str, Any] = {
            "shape": "box",
            "depth": depth,
            "width": rng.uniform(0.06, 0.2),
            "wall": rng.uniform(0.004, 0.012),
        }
        if not planar and rng.random() < 0.5:
            section = {"shape": "tube", "diameter": depth, "wall": rng.uniform(0.003, 0.01)}
        joint: dict[str, Any] = {"type": "revolute"}
        if not planar:
            joint["axis"] = [[0, 0, 1], [0, 1, 0]][int(rng.integers(2))]
        if rng.random() < 0.4:
            joint["stiffness"] = 10 ** rng.uniform(4.5, 6.5)
        inertia = float(rng.uniform(0, 0.2))
        tip = {"mass": rng.uniform(0, 12), "inertia": inertia if planar else [inertia] * 3}
        link = {"name": f"l{k}", "length": rng.uniform(0.4, 1.6), "material": METAL}
        links.append(link | {"section": section, "joint": joint, "tip": tip})
    payload = {"mass": float(rng.uniform(0, 10))}
    return supple.SerialRobot(name="random", planar=planar, links=links, payload=payload)


def random_joint_box(
    rng: np.random.Generator, robot: supple.Robot, most: int
) -> dict[str, tuple[float, float]]:
    """One or more coordinates, each over a piece of a turn that need not hold zero."""
    names = [link.name for link in robot.links][1:]
    chosen = rng.permutation(names)[: int(rng.integers(1, most + 1))]
    box = {}
    for name in chosen.tolist():
        low = rng.uniform(-np.pi, np.pi)
        box[f"theta.{name}"] = (low, low + rng.uniform(0.1, 2.5))
    return box


def poses_of(
    rng: np.random.Generator, robot: supple.Robot, box: dict[str, tuple[float, float]], count: int
) -> np.ndarray:
    """Poses spread over a box at random, its corners among them."""
    theta = np.zeros((count, len(robot.links)))
    names = [link.name for link in robot.links]
    for key, (low, high) in box.items():
        column = rng.uniform(low, high, count)
        column[: count // 4] = rng.choice([low, high], count // 4)
        theta[:, names.index(key.partition(".")[2])] = column
    return theta
