"""Answers of many robots to every question, as arrays by name: what a rebuilding must not change.

`PYTHONPATH=tests python -m cross.stored_answers` writes `data/stored-answers.npz` with this code.
A question that is refused is stored as the class of the refusal, so that refusals stay too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from mechanisms import random_mechanism
from properties.random_arms import random_arm
from supple.architectures.kinds import architecture_of

DATA = Path(__file__).parent / "data" / "stored-answers.npz"
LIBRARY = (
    "de-luca-two-link",
    "di-castri-two-link",
    "five-bar",
    "four-bar",
    "hexapod",
    "industrial-3",
    "kuo-delta",
    "scara-parallel",
    "theodore-rrp",
    "two-arms",
)
ARMS = range(18)
MECHANISMS = (0, 1, 2, 3, 5, 7, 8, 9, 11, 12, 13, 14)
SPRINGS = {"translation": [2e6, None, 3e6]}
FOUNDATION = {
    "translation": [2e7, 3e7, None],
    "rotation": [None, None, 2e5],
    "mass": 20.0,
    "inertia": [1.0, 1.0, 2.0],
}
CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "borne": ("industrial-3", {"links.link2.joint.bearing": SPRINGS, "foundation": FOUNDATION}),
    "geared": (
        "industrial-3",
        {"links.link3.joint.mimic": {"joint": "link2", "multiplier": -0.5, "offset": 0.2}},
    ),
    "sprung": (
        "industrial-3",
        {"links.link2.joint.stiffness": 2e5, "links.link2.joint.rotor_inertia": 3.0},
    ),
    "slid": ("theodore-rrp", {"foundation": {"translation": [1e6, None, 2e6], "mass": 5.0}}),
    "turning": ("kuo-delta", {"motor.stiffness": 300.0, "motor.rotor_inertia": 0.02}),
    "paired": ("kuo-delta", {"lower.rods": "parallelogram", "lower.spacing": 0.08}),
    "twisting": ("kuo-delta", {"lower.rods": "twist"}),
    "standing": ("five-bar", {"foundation": {"translation": [1e6, 2e6, None], "mass": 5.0}}),
}
CASES = (
    *LIBRARY,
    *CHANGED,
    *(f"arm-{seed}" for seed in ARMS),
    *(f"mechanism-{seed}" for seed in MECHANISMS),
)
LARGEST_RUN = 24  # coordinates up to which a Model is run and linearised
LARGEST_LOOPS = 12  # the same, of random mechanisms, whose loops are dear to write


def robot_of(case: str) -> tuple[supple.Robot, dict[str, Any]]:
    """Return the robot of a case and the pose at which it is asked, for `modes`."""
    kind, _, seed = case.rpartition("-")
    if kind == "arm":
        arm = random_arm(int(seed), links=1 + int(seed) % 4)
        return arm.robot, {"theta": arm.theta}
    if kind == "mechanism":
        robot: supple.Robot = random_mechanism(int(seed))
        return robot, architecture_of(robot).usual()
    name, changes = CHANGED.get(case, (case, {}))
    robot = supple.load(name).with_(changes) if changes else supple.load(name)
    pose = architecture_of(robot).usual()
    if name == "kuo-delta":
        return robot, {"position": [0.05, -0.03, 0.6]}
    if name in ("four-bar", "five-bar", "scara-parallel", "hexapod"):
        return robot, pose
    moved = 0.1 * np.arange(1, 1 + len(pose["theta"]))
    return robot, {"theta": pose["theta"] + (moved if name != "theodore-rrp" else 0.2 * moved)}


def answers_of(case: str, nudge: float = 0.0) -> dict[str, np.ndarray]:
    """Return all answers of a case by name; of what is refused, which class of error it is.

    A `nudge` of 1e-13 moves the pose and the frequencies by as little, and the length of a first
    link where there is no motor to move: what the answers then change by is how sharp they can be
    at all, with another processor's rounding for instance.
    """
    robot, pose = robot_of(case)
    if nudge:
        pose = {word: np.asarray(value) * (1 + nudge) + nudge for word, value in pose.items()}
        if not any(value.size for value in pose.values()):
            first = next(link for link in robot.links if link.length)  # type: ignore[attr-defined]
            robot = robot.with_(f"links.{first.name}.length", first.length * (1 + nudge))
    found: dict[str, np.ndarray] = {}

    def ask(name: str, question: Callable[[], Any]) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = question()
            except supple.SuppleError as refusal:
                found[name] = np.array(type(refusal).__name__)
                return None
        if not isinstance(answer, supple.Model):
            found[name] = np.asarray(answer)
        return answer

    ask("modes", lambda: supple.modes(robot, count=5, **pose).omega)
    ask("modes.free", lambda: supple.modes(robot, count=4, joints="free", **pose).omega)
    load = {"force": [1.0, -2.0, 0.0 if architecture_of(robot).planar else 0.5]}
    ask("statics", lambda: supple.statics(robot, **pose, **load).tip_displacement)
    ask("statics.rotation", lambda: supple.statics(robot, **pose, **load).tip_rotation)
    frequency = np.array([0.7, 3.1, 17.0]) * (1 + nudge)
    ask("response", lambda: supple.response(robot, frequency_hz=frequency, **pose).values)
    model = ask("build", lambda: supple.build(robot, supple.AssumedModes(1, torsion=0)))
    if model is not None:
        _ask_model(case, model, pose, ask)
        if not case.startswith("mechanism"):
            ask("follow", lambda: _follow(robot, pose))
    if model is not None and not model.functions.needs:
        basis = supple.FiniteElements(1)
        stiff = architecture_of(robot).open_chain
        fine = ask("build.elements", lambda: supple.build(robot, basis, stiffening=stiff))
        state = np.linspace(0.2, 0.3, fine.size)
        state[fine.joints :] *= 1e-3
        for i, place in fine.chain.lengths_at.items():
            state[place] = 0.6 * fine.chain.stroke(i)[1]
        ask("elements.bias", lambda: fine.bias(state, 0.1 + state))
        ask("elements.forward", lambda: fine.forward_dynamics(state, state, [0.3] * fine.joints))
    return found


def _ask_model(case: str, model: supple.Model, pose: dict[str, Any], ask: Any) -> None:
    rng = np.random.default_rng(4)
    n = model.size
    family = architecture_of(model.robot)
    theta = family.resolve(pose.get("theta"), pose.get("position")).theta[0]
    rest = model.chain.pose(theta)
    q = rest + 1e-4 * rng.normal(size=n) * (np.arange(n) >= model.joints)
    qd = 0.1 * rng.normal(size=n)
    tau = rng.normal(size=model.joints)
    loops = bool(model.functions.needs)
    small = n <= (LARGEST_LOOPS if case.startswith("mechanism") else LARGEST_RUN)
    if loops and not small:
        ask("mass matrix", lambda: model.mass_matrix(rest))
        return
    ask("stiffness", lambda: model.stiffness)
    ask("damping", lambda: model.damping)
    ask("mass matrix", lambda: model.mass_matrix(q))
    ask("bias", lambda: model.bias(q, qd))
    ask("gravity", lambda: model.gravity(q))
    ask("forward dynamics", lambda: model.forward_dynamics(q, qd, tau))
    ask("tip", lambda: model.tip(q))
    if small and not case.startswith("mechanism"):
        ask("linearisation", lambda: supple.linearize(model, rest).A)
        how: dict[str, Any] = {"duration": 0.004, "samples": 5, "limits": False}
        # a given step: equations are compared here, not the choice of steps
        how |= {"method": "gauss", "step": 4e-5} if loops else {"method": "rk4"}
        ask("run", lambda: supple.simulate(model, tau, q0=rest, **how).q)


def _follow(robot: supple.Robot, pose: dict[str, Any]) -> np.ndarray:
    """The tip's elastic motion and the efforts along a short rest-to-rest move."""
    (start,) = pose.values()
    start = np.asarray(start, float)
    end = start + 0.02 * np.ones(len(start))
    path = supple.ParabolicBlends(start, end, duration=0.2, blend=0.08)
    found = supple.follow(robot, path, elements=1, dt=0.02, step=4e-3)
    return np.hstack([found.moved, found.torque])


def all_answers() -> dict[str, np.ndarray]:
    """Return the answers of all cases, named case/question."""
    out = {}
    for case in CASES:
        for name, value in answers_of(case).items():
            out[f"{case}/{name}"] = value
    return out


if __name__ == "__main__":
    np.savez_compressed(DATA, **all_answers())  # type: ignore[arg-type]
    sys.stdout.write(f"{DATA.name}: {DATA.stat().st_size} bytes\n")
