"""Random robots that fall under gravity, each with a reference that shares no code with a run.

Serial robots are integrated by SciPy from `model.forward_dynamics`. Four-bar linkages, whose driven
bar may only rock, have a reference in absolute angles of their three bars with two multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import supple
from supple.robot import MechanismRobot, SerialRobot

DENSITY = 2700.0
DEPTH = 0.01
WIDTH = 0.02
PAYLOAD = 0.2
MATERIAL = {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": DENSITY}
SECTION = {"shape": "rectangle", "depth": DEPTH, "width": WIDTH}
GRAVITY = 9.81


@dataclass(frozen=True)
class Swing:
    """A robot let go at a state: model, start, duration, and the reference in joints at times."""

    name: str
    model: Any
    q0: np.ndarray
    qd0: np.ndarray
    duration: float
    dead_points: bool = False
    lengths: tuple[float, ...] = ()

    def reference(self, t: np.ndarray) -> np.ndarray | None:
        """Joint coordinates (n, joints) at times t; None: there is no independent one."""
        if self.lengths:
            if self.model.size > 1:
                return None
            return four_bar_angles(self, t)[:, :1]
        return serial_coordinates(self, t)

    @cached_property
    def range(self) -> float:
        """How far the joints move."""
        found = self.reference(np.linspace(0, self.duration, 101))
        return 1.0 if found is None else float(np.ptp(found, axis=0).max())


def random_serial(seed: int, flexible: bool) -> Swing:
    """One to three links that fall, rigid or with two modes each."""
    rng = np.random.default_rng([1991, seed])
    count = int(rng.integers(1, 4)) if not flexible else int(rng.integers(1, 3))
    planar = flexible or bool(rng.random() < 0.5)
    links = []
    for i in range(count):
        hub = {"mass": 0.1} if planar else {"mass": 0.1, "inertia": [1e-3, 1e-3, 1e-3]}
        joint: dict[str, Any] = {"type": "revolute", "hub": hub}
        if not planar:
            joint["axis"] = [[0, 0, 1], [0, 1, 0]][int(rng.integers(0, 2))]
        links.append(
            {
                "name": f"link{i + 1}",
                "length": float(rng.uniform(0.2, 0.7)),
                "theory": "euler-bernoulli" if flexible else "rigid",
                "joint": joint,
                "material": MATERIAL,
                "section": SECTION,
            }
        )
    robot = SerialRobot.model_validate(
        {
            "name": f"swing-{seed}",
            "planar": planar,
            "gravity": [0, -GRAVITY, 0],
            "links": links,
            "payload": {"mass": float(rng.uniform(0.05, 0.5))},
        }
    )
    model = supple.build(robot, supple.AssumedModes(1))
    q0 = np.zeros(model.size)
    qd0 = np.zeros(model.size)
    q0[: model.joints] = rng.uniform(-1.5, 1.5, model.joints)
    qd0[: model.joints] = rng.uniform(-3, 3, model.joints)
    name = f"{'flexible' if flexible else 'rigid'} arm {seed}"
    return Swing(name, model, q0, qd0, 0.3 if flexible else 1.5)


def random_four_bar(seed: int, flexible: bool) -> Swing:
    """A four-bar linkage in a vertical plane, Grashof or not, its first bar driven."""
    rng = np.random.default_rng([1875, seed])
    while True:
        a, b, c, d = rng.uniform(0.15, 0.6, 4)
        angle = rng.uniform(-np.pi, np.pi)
        pin = a * np.array([np.cos(angle), np.sin(angle)])
        across = np.array([d, 0.0]) - pin
        gap = float(np.hypot(*across))
        if not abs(b - c) + 0.05 < gap < b + c - 0.05:
            continue
        opening = np.arccos((b**2 + gap**2 - c**2) / (2 * b * gap)) * rng.choice([-1, 1])
        coupler = np.arctan2(across[1], across[0]) + opening
        end = pin + b * np.array([np.cos(coupler), np.sin(coupler)])
        rocker = np.arctan2(end[1], end[0] - d)
        if abs(np.sin(coupler - rocker)) > 0.4:
            break
    theory = "euler-bernoulli" if flexible else "rigid"

    def bar(name: str, length: float, joint: dict[str, Any], **more: Any) -> dict[str, Any]:
        part = {"name": name, "length": float(length), "theory": theory, "joint": joint}
        return part | {"material": MATERIAL, "section": SECTION} | more

    def turned(angle: float) -> list[float]:
        return [float((angle + np.pi) % (2 * np.pi) - np.pi)]

    passive = {"type": "revolute", "passive": True}
    links = [
        bar("driven", a, {"type": "revolute", "start": turned(angle)}),
        bar("coupler", b, passive | {"start": turned(coupler - angle)}),
        bar(
            "rocker",
            c,
            passive | {"start": turned(rocker), "mount": {"xyz": [float(d), 0, 0]}},
            parent="base",
        ),
    ]
    robot = MechanismRobot.model_validate(
        {
            "name": f"four-bar-{seed}",
            "planar": True,
            "gravity": [0, -GRAVITY, 0],
            "links": links,
            "closures": [{"name": "pin", "ends": ["coupler", "rocker"], "type": "revolute"}],
            "tip": "coupler",
            "payload": {"mass": PAYLOAD},
        }
    )
    model = supple.build(robot, supple.AssumedModes(1))
    q0 = np.zeros(model.size)
    qd0 = np.zeros(model.size)
    q0[0] = turned(angle)[0]
    qd0[0] = float(rng.uniform(-6, 6))
    turns = a + d < b + c and abs(a - d) > abs(b - c)  # the driven bar goes all the way round
    name = f"{'flexible' if flexible else 'rigid'} four-bar {seed}"
    lengths = (a, b, c, d, q0[0], coupler, rocker)
    return Swing(name, model, q0, qd0, 0.4 if flexible else 1.5, not turns, lengths)


def serial_coordinates(swing: Swing, t: np.ndarray) -> np.ndarray:
    """Joint coordinates by SciPy from the model's accelerations."""
    model = swing.model
    n = swing.model.size
    tau = np.zeros(model.joints)

    def rates(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], model.forward_dynamics(x[:n], x[n:], tau)])

    start = np.concatenate([swing.q0, swing.qd0])
    tolerances = {"method": "DOP853", "rtol": 1e-10, "atol": 1e-10}
    found = solve_ivp(rates, (0, swing.duration), start, t_eval=t, **tolerances)
    return found.y[: model.joints].T


def four_bar_angles(swing: Swing, t: np.ndarray) -> np.ndarray:
    """Absolute angles (n, 3) of the bars: M x'' + C' lambda = f, C x'' = -C' x'."""
    a, b, c, d, first, second, third = swing.lengths
    lengths = np.array([a, b, c])
    masses = DENSITY * DEPTH * WIDTH * lengths
    own = masses * (lengths**2 / 3 + DEPTH**2 / 12)
    carried = masses[1] + PAYLOAD  # at the end of the first bar
    moment = (masses[1] / 2 + PAYLOAD) * b
    arms = np.array([(masses[0] / 2 + carried) * a, moment, masses[2] * c / 2])
    signed = np.array([a, b, -c])

    def slopes(x: np.ndarray) -> np.ndarray:
        return np.stack([-signed * np.sin(x), signed * np.cos(x)])

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        x = y[:3]
        v = y[3:]
        M = np.diag(own + np.array([carried * a**2, PAYLOAD * b**2, 0.0]))
        M[0, 1] = M[1, 0] = moment * a * np.cos(x[0] - x[1])
        bend = moment * a * np.sin(x[0] - x[1])
        force = np.array([-bend * v[1] ** 2, bend * v[0] ** 2, 0.0])
        force -= GRAVITY * arms * np.cos(x)
        C = slopes(x)
        opening = np.array([signed @ np.cos(x) - d, signed @ np.sin(x)])
        second_rate = np.stack([-signed * np.cos(x), -signed * np.sin(x)]) @ v**2
        pull = -second_rate - 40 * C @ v - 400 * opening  # Baumgarte, against drift
        whole = np.block([[M, C.T], [C, np.zeros((2, 2))]])
        return np.concatenate([v, np.linalg.solve(whole, np.concatenate([force, pull]))[:3]])

    x = np.array([first, second, third])
    C = slopes(x)
    led = np.linalg.solve(C[:, 1:], -C[:, 0] * swing.qd0[0])
    start = np.concatenate([x, [swing.qd0[0]], led])
    tolerances = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
    return solve_ivp(rates, (0, swing.duration), start, t_eval=t, **tolerances).y[:3].T
