"""Random serial arms with fixed seeds: valid robots of every mixture the description allows.

`random_arm(seed)` returns a robot and a pose: 1 to 8 links of mixed theories (rigid ones among
them), slenderness 5 to 500, joints locked, sprung or fixed, hubs, tips and a payload. Planar arms
turn about z; spatial ones have random axes, mounts and rolls. `with_theory` changes the theory of
all links that bend, which is what may be compared mode by mode.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.robot import SerialRobot

THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")
CHANCES = (0.4, 0.25, 0.2, 0.15)
SPATIAL = 0.15  # part of the arms that are spatial, when not asked for


@dataclass(frozen=True)
class Arm:
    """A robot and the joint coordinates at which it is looked at."""

    robot: SerialRobot
    theta: np.ndarray


def random_arm(seed: int, planar: bool | None = None, links: int | None = None) -> Arm:
    """Return arm number `seed`; the same seed gives the same arm for ever."""
    rng = np.random.default_rng([20110, seed])
    flat = bool(rng.random() >= SPATIAL) if planar is None else planar
    n = int(rng.integers(1, 9)) if links is None else links
    theories = rng.choice(THEORIES, size=n, p=CHANCES)
    if (theories == "rigid").all():
        theories[rng.integers(n)] = "timoshenko"
    parts = [_link(rng, i, str(theory), flat) for i, theory in enumerate(theories)]
    robot = SerialRobot.model_validate(
        {
            "name": f"random-{seed}",
            "planar": flat,
            "links": parts,
            "payload": _body(rng, rng.uniform(0.1, 5), 0.2, flat) if rng.random() < 0.5 else None,
        }
    )
    return Arm(robot, rng.uniform(-np.pi, np.pi, len(robot.moving)))


def with_theory(robot: SerialRobot, theory: str) -> SerialRobot:
    """Return the robot with the theory of all links that bend changed; rigid ones stay rigid."""
    links = tuple(
        link if link.rigid else link.model_copy(update={"theory": theory}) for link in robot.links
    )
    return robot.model_copy(update={"links": links})


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """A number with a uniform logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _link(rng: np.random.Generator, i: int, theory: str, planar: bool) -> dict[str, Any]:
    L = _between(rng, 0.2, 2.0)
    h = L / _between(rng, 5, 500)
    material = _material(rng)
    section = _section(rng, h)
    area = h * section.get("width", h)
    mass = material["density"] * area * L
    stiffness = material["young_modulus"] * area * h**2 / 12 / L
    link: dict[str, Any] = {
        "name": f"link{i + 1}",
        "length": L,
        "theory": theory,
        "joint": _joint(rng, stiffness, mass, L, planar),
    }
    link |= _beam(rng, theory, material, section, mass / L, stiffness * L)
    if rng.random() < 0.4:
        link["tip"] = _body(rng, mass * _between(rng, 0.1, 5), 0.1 * L, planar)
    if not planar and rng.random() < 0.3:
        link["roll"] = rng.uniform(-np.pi, np.pi)
    return link


def _material(rng: np.random.Generator) -> dict[str, float]:
    return {
        "young_modulus": _between(rng, 2e9, 2.1e11),
        "poisson_ratio": rng.uniform(0.2, 0.4),
        "density": _between(rng, 1000, 8000),
    }


def _section(rng: np.random.Generator, h: float) -> dict[str, Any]:
    shape = str(rng.choice(["rectangle", "box", "circle", "tube"]))
    width = h * _between(rng, 0.5, 2)
    wall = rng.uniform(0.05, 0.4)
    sizes: dict[str, dict[str, float]] = {
        "rectangle": {"depth": h, "width": width},
        "box": {"depth": h, "width": width, "wall": wall * min(h, width)},
        "circle": {"diameter": h},
        "tube": {"diameter": h, "wall": wall * h},
    }
    return {"shape": shape, **sizes[shape]}


def _beam(
    rng: np.random.Generator,
    theory: str,
    material: dict[str, float],
    section: dict[str, Any],
    m: float,
    EI: float,
) -> dict[str, Any]:
    """Material and section, or a rigid body, or numbers given directly."""
    draw = rng.random()
    if theory == "rigid" and draw < 0.4:
        return {"body": {"mass": m, "com": [0.1, 0, 0], "inertia": [0.02 * m] * 3}}
    if draw < 0.85:
        return {"material": material, "section": section}
    h2 = section.get("depth", section.get("diameter")) ** 2
    return {
        "mass_per_length": m,
        "bending_stiffness": [EI, 1.5 * EI],
        "axial_stiffness": 12 * EI / h2,
        "shear_stiffness": 4 * EI / h2,
        "torsional_stiffness": 0.7 * EI,
        "rotary_inertia_per_length": m * h2 / 12,
    }


def _joint(
    rng: np.random.Generator, stiffness: float, mass: float, L: float, planar: bool
) -> dict[str, Any]:
    if rng.random() < 0.1:
        joint: dict[str, Any] = {"type": "fixed"}
    else:
        joint = {"type": "revolute"}
        if rng.random() < 0.4:
            joint["stiffness"] = stiffness * _between(rng, 0.1, 1e3)
            joint["rotor_inertia"] = mass * L**2 * _between(rng, 1e-3, 1)
    if rng.random() < 0.4:
        joint["hub"] = _body(rng, mass * _between(rng, 0.1, 5), 0.1 * L, planar)
    if rng.random() < 0.4:
        joint["mount"] = _mount(rng, L, planar)
    if not planar and joint["type"] == "revolute" and rng.random() < 0.7:
        joint["axis"] = rng.standard_normal(3).tolist()
    return joint


def _mount(rng: np.random.Generator, L: float, planar: bool) -> dict[str, Any]:
    xyz = rng.uniform(-0.1, 0.1, 3) * L
    rpy = rng.uniform(-np.pi, np.pi, 3)
    if planar:
        xyz[2] = rpy[0] = rpy[1] = 0
    return {"xyz": xyz.tolist(), "rpy": rpy.tolist()}


def _body(rng: np.random.Generator, mass: float, size: float, planar: bool) -> dict[str, Any]:
    """A body of a radius of gyration up to `size`, every other one off the point it sits on."""
    com = rng.uniform(-size, size, 3) * (rng.random() < 0.5)
    radii = rng.uniform(0.2, 1, 3) * size
    inertia = mass * radii**2
    return {
        "mass": mass,
        "com": com.tolist(),
        "inertia": inertia[:1].tolist() if planar else inertia.tolist(),
    }
