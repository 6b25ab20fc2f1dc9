"""Synthetic measurements with known truth: an arm of the tests' own elements, noise by seed."""

from functools import cache

import numpy as np

import supple
from own_elements import OwnLink, own_arm, small_motion

TRUE = {"EI1": 900.0, "EI2": 260.0, "k1": 8_000.0, "k2": 2_500.0, "payload": 1.3}
LOSS = 0.02
RESPONSE_HZ = np.concatenate([np.linspace(2.0, 12.0, 22), np.linspace(14.0, 60.0, 18)])
NOISE = {"frequencies": 2e-3, "response": 0.02, "statics": 2e-5, "motion": 1.0}

ARM = """
supple: 1
name: measured-arm
architecture: serial
planar: true
links:
  - {name: upper, length: 0.8, mass_per_length: 1.6, bending_stiffness: 800, axial_stiffness: 2e7,
     theory: euler-bernoulli, damping_ratio: 0.013, tip: {mass: 0.9, inertia: 0.004},
     joint: {type: revolute, stiffness: 7e3, rotor_inertia: 0.5}}
  - {name: lower, length: 0.6, mass_per_length: 0.9, bending_stiffness: 300, axial_stiffness: 2e7,
     theory: euler-bernoulli, damping_ratio: 0.013,
     joint: {type: revolute, stiffness: 3e3, rotor_inertia: 0.2}}
payload: {mass: 1.0}
"""
FREE = {
    "links.upper.bending_stiffness": TRUE["EI1"],
    "links.lower.bending_stiffness": TRUE["EI2"],
    "links.upper.joint.stiffness": TRUE["k1"],
    "payload.mass": TRUE["payload"],
}
HUB = """
supple: 1
name: measured-hub
architecture: serial
planar: true
links:
  - {name: link, length: 0.7, mass_per_length: 0.8, bending_stiffness: 40, theory: inextensible,
     joint: {type: revolute, damping: 0.4, hub: {mass: 0.1, inertia: 0.06}}, tip: {mass: 0.25}}
"""
HUB_FREE = {
    "links.link.bending_stiffness": 46.0,
    "links.link.joint.damping": 0.5,
    "links.link.tip.mass": 0.3,
}


@cache
def arm() -> supple.Robot:
    return supple.loads(ARM)


@cache
def hub_arm() -> supple.Robot:
    return supple.loads(HUB)


@cache
def poses() -> np.ndarray:
    elbow = np.array([0.0, 0.5, 1.0, 1.6, 2.2, -0.8])
    return np.stack([np.zeros(len(elbow)), elbow], axis=1)


@cache
def true_arm(elbow: float):
    upper = OwnLink(0.8, 2e7, TRUE["EI1"], 1.6, TRUE["k1"], 0.9, 0.004)
    lower = OwnLink(0.6, 2e7, TRUE["EI2"], 0.9, 3e3, TRUE["payload"])
    return own_arm([upper, lower], [0.0, elbow])


def damped_modes(elbow: float, ratios: dict, count: int):
    """Frequencies (Hz) and damping ratios from complex eigenvalues, each link with its own loss."""
    upper = OwnLink(0.8, 2e7, TRUE["EI1"], 1.6, TRUE["k1"], 0.9, 0.004)
    without = OwnLink(0.6, 0.0, 0.0, 0.9, 3e3, TRUE["payload"])
    truth = true_arm(elbow)
    K_upper = own_arm([upper, without], [0.0, elbow]).K_beam
    K_lower = truth.K_beam - K_upper
    K = truth.K + 2j * (ratios["upper"] * K_upper + ratios["lower"] * K_lower)
    squares = np.linalg.eigvals(np.linalg.solve(truth.M, K))
    squares = squares[np.argsort(squares.real)][:count]
    return np.sqrt(squares.real) / (2 * np.pi), 0.5 * squares.imag / squares.real


@cache
def true_frequencies(count: int = 5) -> np.ndarray:
    return np.array([true_arm(float(elbow)).frequencies(count) for _, elbow in poses()])


def frequencies(seed: int, numbered: bool = True, missing: float = 0.0, foreign: int = 0):
    """Lines at six poses, some missing, some foreign; and the true mode of each, 0 if foreign."""
    rng = np.random.default_rng(seed)
    f = true_frequencies()
    noisy = f * (1 + NOISE["frequencies"] * rng.standard_normal(f.shape))
    keep = np.ones(f.size, bool)
    keep[rng.choice(f.size, round(missing * f.size), replace=False)] = False
    pose, mode = (index.ravel()[keep] for index in np.indices(f.shape))
    values = noisy.ravel()[keep]
    mode = mode + 1
    if foreign:
        extra_pose = rng.integers(0, len(f), foreign)
        extra = np.exp(rng.uniform(np.log(f.min()), np.log(f.max()), foreign))
        # a foreign line on top of a mode cannot be told by anybody: at least 3 % away
        for k in range(foreign):
            while np.abs(extra[k] / f[extra_pose[k]] - 1).min() < 0.03:
                extra[k] = np.exp(rng.uniform(np.log(f.min()), np.log(f.max())))
        pose = np.append(pose, extra_pose)
        values = np.append(values, extra)
        mode = np.append(mode, np.zeros(foreign, int))
    order = rng.permutation(len(values))
    at = poses()[pose[order]]
    table = {"theta.upper": at[:, 0], "theta.lower": at[:, 1], "frequency_hz": values[order]}
    if numbered:
        table["mode"] = mode[order].astype(float)
    return table, mode[order]


@cache
def true_response() -> np.ndarray:
    return np.stack([true_arm(1.0).response(RESPONSE_HZ, 1, row, 0.026) for row in (0, 1)], axis=1)


def response(seed: int, relative: bool = True):
    rng = np.random.default_rng(seed)
    H = true_response()
    size = np.abs(H) if relative else np.sqrt((np.abs(H) ** 2).mean(axis=0))
    noise = rng.standard_normal(H.shape) + 1j * rng.standard_normal(H.shape)
    H = H + NOISE["response"] * size * noise
    n = len(RESPONSE_HZ)
    return {
        "theta.lower": 1.0,
        "frequency_hz": np.tile(RESPONSE_HZ, 2),
        "input": ["force.y"] * (2 * n),
        "output": ["tip.x"] * n + ["tip.y"] * n,
        "real": H.T.ravel().real,
        "imag": H.T.ravel().imag,
    }


@cache
def true_statics():
    loads = [(20.0, 0.0, 0.0), (0.0, 30.0, 0.0), (0.0, -30.0, 0.0), (0.0, 0.0, 8.0)]
    rows = []
    for _, elbow in poses()[1:4]:
        for load in loads:
            rows.append((elbow, *load, *true_arm(float(elbow)).sag(load)))
    return np.array(rows)


def statics(seed: int):
    rng = np.random.default_rng(seed)
    rows = true_statics()
    noise = NOISE["statics"]
    return {
        "theta.lower": rows[:, 0],
        "force.x": rows[:, 1],
        "force.y": rows[:, 2],
        "moment.z": rows[:, 3],
        "tip.x": rows[:, 4] + noise * rng.standard_normal(len(rows)),
        "tip.y": rows[:, 5] + noise * rng.standard_normal(len(rows)),
        "tip.rz": rows[:, 6] + 3 * noise * rng.standard_normal(len(rows)),
    }


STATIC_FREE = {k: FREE[k] for k in list(FREE)[:3]}


@cache
def true_motion():
    t = np.arange(0.0, 0.8, 5e-3)
    torque = 0.05 * np.sin(2 * np.pi * (1.5 * t + 4.0 * t**2))
    link = OwnLink(0.7, 1e9, 46.0, 0.8, None, 0.3)
    truth = own_arm([link], [0.0], elements=12, free_root=True, hub=0.06)
    return t, torque, small_motion(truth, t, torque, 0.5)


def motion(seed: int):
    rng = np.random.default_rng(seed)
    t, torque, out = true_motion()
    size = 0.02 * out.std(axis=0)
    noisy = out + size * rng.standard_normal(out.shape)
    noisy[0, 0] = 0.0  # it starts at rest at zero, which is known
    return {"t": t, "tau.link": torque, "theta.link": noisy[:, 0], "tip.y": noisy[:, 1]}


@cache
def experiment(kind: str, seed: int):
    """The fit of one experiment, and the true values by path."""
    if kind == "frequencies":
        return supple.identify(arm(), frequencies(seed)[0], list(FREE)), FREE
    if kind == "response":
        near = {path: 1.02 * value for path, value in FREE.items()}
        found = supple.identify(arm(), response(seed), list(FREE), joints="locked", start=near)
        return found, FREE
    if kind == "statics":
        near = {path: 1.02 * value for path, value in STATIC_FREE.items()}
        found = supple.identify(arm(), statics(seed), list(STATIC_FREE), start=near)
        return found, STATIC_FREE
    near = {path: 1.02 * value for path, value in HUB_FREE.items()}
    found = supple.identify(
        hub_arm(), motion(seed), list(HUB_FREE), basis=supple.AssumedModes(3), start=near
    )
    return found, HUB_FREE
