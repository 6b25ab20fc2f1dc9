"""Every public function with every wrong type: what is called, and what it is called with."""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import supple
from every_answer import arm, sliding_model, small_model

NOTHING = object()
WRONG: dict[str, Any] = {
    "None": None,
    "three": 3,
    "minus one": -1,
    "a half": 0.5,
    "not a number": float("nan"),
    "infinity": float("inf"),
    "huge": 1e308,
    "tiny": 5e-324,
    "complex": 1 + 2j,
    "True": True,
    "words": "some words",
    "no words": "",
    "lone surrogate": "\ud800",
    "bytes": b"abc",
    "empty list": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "list of words": ["a", "b"],
    "dict": {"a": 1},
    "object": NOTHING,
    "class": dict,
    "function": len,
    "lambda": lambda: 0,
    "path": Path("nowhere.yaml"),
    "masked": np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False]),
    "complex array": np.array([1.0 + 1j, 0.0, 0.0]),
    "object array": np.array([None, "a", 3], dtype=object),
    "three by three": np.eye(3),
    "five deep": np.zeros((1, 1, 1, 1, 1)),
    "robot": arm(),
    "model": small_model(),
    "date": np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
}

CUBE = supple.PointToPoint((0, 0), (0.1, 0), 0.05)
SLIDE = supple.ParabolicBlends((0, 0, 0.3), (0.1, -0.1, 0.4), 0.2, 0.05)

BEAM: dict[str, Any] = {"length": 0.5, "mass_per_length": 1.0, "bending_stiffness": 1.0}
UPPER, LOWER = supple.UpperLink(**BEAM), supple.LowerLink(**BEAM)

# Each with arguments that are right and cheap; one after another is then replaced.
CALLS: dict[str, dict[str, Any]] = {
    "load": {"source": "industrial-3"},
    "loads": {"text": supple.dump(arm())},
    "dump": {"robot": arm()},
    "modes": {
        "robot": arm(),
        "theta": [0, 0, 0],
        "count": 2,
        "method": "exact",
        "joints": "locked",
        "elements": 2,
        "order": "cubic",
    },
    "statics": {
        "robot": arm(),
        "theta": [0, 0, 0],
        "force": [0, 1, 0],
        "moment": [0, 0, 1],
        "gravity": [0, 0, 0],
        "points": 3,
    },
    "workspace": {
        "robot": arm(),
        "joints": [0, 0, (0, 1)],
        "points": 2,
        "count": 1,
        "method": "exact",
    },
    "build": {
        "robot": supple.load("de-luca-two-link"),
        "basis": supple.AssumedModes(1),
        "deflection": "rotation",
        "stiffening": False,
        "damping": 0.01,
        "velocity": "material",
        "beta": "newton",
    },
    "Reading": {"deflection": "rotation", "velocity": "material", "beta": "newton"},
    "simulate": {
        "model": small_model(),
        "tau": [0, 0],
        "q0": [0, 0, 0, 0],
        "qd0": [0, 0, 0, 0],
        "duration": 0.002,
        "dt": 1e-3,
        "method": "rk4",
        "tolerance": 1e-6,
        "outputs": {"root": supple.Strain("link1")},
    },
    "follow": {
        "robot": arm(),
        "path": supple.PointToPoint((0, 0, 0), (0.01, 0, 0), 0.01),
        "elements": 1,
        "order": "cubic",
        "step": 1e-3,
        "start": "static",
        "damping": 0.01,
        "after": 0.0,
        "periods": 1,
    },
    "linearize": {
        "model": small_model(),
        "q": [0, 0, 0, 0],
        "qd": [0, 0, 0, 0],
        "tau": [0, 0],
        "outputs": ["joints"],
        "inputs": ["tau"],
        "controller": None,
    },
    "lqr": {"model": small_model(), "theta": [0, 0], "state_weight": 1.0, "effort_weight": 1.0},
    "regressor": {"model": small_model(), "gravity": True},
    "closed_form": {"model": small_model(), "simplify": False},
    "assumed_modes": {"model": small_model(), "theta": [0, 0], "joints": "locked", "count": 1},
    "stability": {
        "model": sliding_model(),
        "trajectory": SLIDE,
        "controller": supple.Decoupling(),
        "samples": 5,
        "tolerance": 1e-6,
    },
    "floquet": {"model": sliding_model(), "trajectory": supple.Repeated(SLIDE)},
    "free_growth": {"model": sliding_model(), "trajectory": SLIDE, "mode": 1, "phase": 0.0},
    "ked": {"robot": arm(), "at": [0, 0, 0], "elements": 1, "order": "cubic"},
    "scaled_to": {"trajectory": CUBE, "velocity": 1.0, "acceleration": 1.0},
    "reproduce": {"paper": "none of them"},
    "load_response": {"path": "nowhere.nc"},
    "PointToPoint": {"start": [0, 0], "end": [1, 0], "time": 1.0, "law": "septic"},
    "ParabolicBlends": {"start": [0, 0], "end": [1, 0], "duration": 1.0, "blend": 0.1},
    "Hold": {"point": [0, 0], "time": 1.0},
    "CirclePath": {"centre": [0, 0, 0.5], "radius": 0.1, "period": 1.0},
    "InvertedU": {
        "start": [0, 0, 0.5],
        "move": [0.1, 0, 0.1],
        "times": [0.2, 0.4, 0.6, 0.8],
        "law": "septic",
    },
    "WayPoints": {
        "points": [[0, 0], [1, 1]],
        "velocity": 1.0,
        "acceleration": 1.0,
        "law": "septic",
        "pause": 0.0,
    },
    "Repeated": {"there": CUBE},
    "PlatformPath": {"robot": supple.load("kuo-delta"), "path": supple.InvertedU()},
    "JointPD": {"position_gain": 1.0, "velocity_gain": 1.0},
    "GravityPD": {"position_gain": 1.0, "velocity_gain": 1.0},
    "Decoupling": {"position_gain": 1.0, "velocity_gain": 1.0},
    "ComputedTorque": {"position_gain": 1.0, "velocity_gain": 1.0},
    "LQR": {"gain": np.zeros((2, 8)), "q": np.zeros(4), "tau": np.zeros(2)},
    "Sampled": {
        "law": supple.JointPD(1.0, 1.0),
        "period": 1e-3,
        "delay": 0.0,
        "effort_limit": 1.0,
        "quantisation": 1e-3,
        "lag": 0.0,
    },
    "Constant": {"amplitude": 1.0},
    "Step": {"amplitude": 1.0, "start": 0.1},
    "BangBang": {"amplitude": 1.0, "half": 0.5},
    "Chirp": {"amplitude": 1.0, "f0": 1.0, "f1": 2.0, "sweep": 1.0},
    "Table": {"t": [0, 1], "values": [[0.0, 0.0], [1.0, 1.0]], "hold": False},
    "AssumedModes": {"count": 1, "ends": "distal", "at": None, "axial": 0, "torsion": 0},
    "FiniteElements": {"count": 1, "order": "cubic"},
    "EndLoad": {"mass": 1.0, "inertia": 0.1, "moment": 0.0},
    "ModalDamping": {"ratio": 0.01},
    "StiffnessRoot": {"factor": 0.1},
    "Rayleigh": {"ratio": 0.1, "first": 1, "second": 2},
    "Proportional": {"alpha": 0.1, "beta": 0.1},
    "Ratio": {"ratio": 0.01},
    "Loads": {},
    "Strain": {"link": "link1", "fraction": 0.5, "offset": 1.0},
    "Tip": {},
    "Moment": {"link": "link1", "fraction": 0.5},
    "Stress": {"link": "link1", "fraction": 0.5},
    "Acceleration": {"link": "link1", "fraction": 0.5},
    "Accelerometer": {"link": "link1", "fraction": 0.5},
    "Gyroscope": {"link": "link1", "fraction": 0.5},
    "Reaction": {"joint": "link1"},
    "Encoder": {"joint": "link1", "counts": 4096},
    "Sensor": {
        "output": supple.Strain("link1"),
        "noise": 0.1,
        "seed": 0,
        "bandwidth": 10.0,
        "delay": 0.0,
    },
    "Material": {"young_modulus": 70e9, "density": 2700, "poisson_ratio": 0.3},
    "Body": {"mass": 1.0, "com": [0, 0, 0], "inertia": 0.1},
    "Mount": {"xyz": [0, 0, 0], "rpy": [0, 0, 0]},
    "Joint": {
        "type": "revolute",
        "axis": [0, 0, 1],
        "stiffness": 1.0,
        "limits": [0, 1],
        "hub": None,
    },
    "Motor": {"stiffness": 1.0, "rotor_inertia": 0.1},
    "Bearing": {"translation": [1.0, None, 2.0], "rotation": [None, 1.0, 1.0]},
    "Foundation": {"translation": [1.0, 2.0, 2.0], "mass": 3.0, "inertia": [1.0, 1.0, 1.0]},
    "Gear": {"ratio": 100.0, "motor_inertia": 1e-4, "efficiency": 0.8},
    "Link": {
        "name": "a",
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 1.0,
        "joint": supple.Joint(),
    },
    "UpperLink": {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0},
    "LowerLink": {
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 1.0,
        "rods": "single",
    },
    "Platform": {"radius": 0.1, "thickness": 0.01, "mass": 1.0},
    "Rectangle": {"depth": 0.1, "width": 0.1},
    "Box": {"depth": 0.1, "width": 0.1, "wall": 0.01},
    "Circle": {"diameter": 0.1},
    "Tube": {"diameter": 0.1, "wall": 0.01},
    "General": {"area": 0.1, "second_moment_z": 0.1},
    "SerialRobot": {
        "name": "a",
        "links": arm().links,
        "materials": arm().materials,
        "sections": arm().sections,
        "gravity": [0, 0, 0],
    },
    "Model.mass_matrix": {"q": [0.0] * 4},
    "Model.bias": {"q": [0.0] * 4, "qd": [0.0] * 4},
    "Model.forward_dynamics": {
        "q": [0.0] * 4,
        "qd": [0.0] * 4,
        "tau": [0.0] * 2,
        "wrench": [0.0] * 6,
    },
    "Model.inverse_dynamics": {"q": [0.0] * 4, "qd": [0.0] * 4, "qdd": [0.0] * 4},
    "Model.energy": {"q": [0.0] * 4, "qd": [0.0] * 4},
    "Model.tip": {"q": [0.0] * 4},
    "Model.deflection_at": {"q": [0.0] * 4, "link": "link1", "fraction": 0.5},
    "Robot.with_": {"path": "name", "value": "other"},
    "forward": {"robot": arm(), "theta": [0, 0, 0], "sag": False},
    "inverse": {"robot": arm(), "position": [2.0, 0.5, 0.0], "rotation": None, "start": None},
    "invert": {"model": small_model(), "path": CUBE, "window": (-0.1, 0.1)},
    "scheduled": {
        "robot": supple.load("de-luca-two-link"),
        "trajectory": CUBE,
        "kind": "zvd",
        "modes": 1,
        "servo": None,
        "damping_ratio": 0.01,
    },
    "calm_move": {
        "robot": supple.load("de-luca-two-link"),
        "start": [0, 0],
        "end": [0.1, 0],
        "speed_limit": 1.0,
        "acceleration_limit": 4.0,
        "jerk_limit": 20.0,
        "duration": 3.0,
        "band": 0.0,
        "platform": False,
    },
    "compensate": {
        "robot": supple.load("de-luca-two-link"),
        "path": supple.PointToPoint((0.2, 0.8), (0.21, 0.81), 0.2),
    },
    "compare": {
        "robot": supple.load("de-luca-two-link"),
        "start": [0, 0],
        "end": [0.1, 0],
        "duration": 0.5,
        "methods": ["unshaped"],
        "servo": None,
        "law": "trapezoid",
        "payload_error": 0.0,
        "band": None,
        "elements": 1,
        "after": 0.2,
        "progress": False,
    },
    "sensitivities": {
        "robot": arm(),
        "theta": [0, 0.1, 0.2],
        "parameters": ["links.link1.length"],
        "count": 2,
        "joints": "locked",
    },
    "shape": {
        "move": CUBE,
        "kind": "zvd",
        "frequency_hz": 7.2,
        "damping_ratio": 0.01,
        "rate": 100.0,
    },
    "material": {"name": "aluminium-6061-t6"},
    "sweep": {
        "robot": arm(),
        "over": {"theta.link2": [0.0, 0.1]},
        "count": 1,
        "scheduler": "threads",
        "workers": 1,
        "progress": False,
    },
    "tolerances": {
        "robot": arm(),
        "within": {"links.link1.length": 0.01},
        "theta": [0, 0, 0],
        "count": 1,
        "joints": "locked",
    },
    "track": {
        "robot": arm(),
        "over": {"theta.link2": [0.0, 0.1]},
        "count": 1,
        "theta": [0, 0, 0],
        "joints": "locked",
        "progress": False,
    },
    "stopband": {
        "robot": arm(),
        "band": (1.0, 2.0),
        "over": {"theta.link2": (0.0, 0.1)},
        "theta": [0, 0, 0],
        "resolution": 0.1,
        "cells": 10,
        "progress": False,
    },
    "optimise": {
        "robot": arm(),
        "vary": {"sections.box.wall": (0.005, 0.02)},
        "maximise": "highest",
        "at": [[0, 0, 0]],
        "mass": 100.0,
        "sag": 0.1,
        "tolerance": 1e-3,
        "progress": False,
    },
    "shaped": {"trajectory": CUBE, "shaper": supple.shaper("zv", 7.2)},
    "shaper": {"kind": "zvd", "frequency_hz": 7.2, "damping_ratio": 0.02, "tolerance": 0.05},
    "Closure": {"ends": ["a", "b"], "type": "revolute", "axis": [0, 0, 1]},
    "ClosureEnd": {"link": "a", "at": 0.1},
    "MechanismJoint": {"type": "revolute", "axis": [0, 0, 1], "passive": True, "start": 0.1},
    "MechanismLink": {"name": "a", "length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0},
    "MechanismRobot": {"name": "a", "links": supple.load("two-arms").links, "tip": None},
    "DeltaRobot": {
        "name": "a",
        "base_radius": 0.1,
        "platform": supple.load("kuo-delta").platform,
        "upper": UPPER,
        "lower": LOWER,
        "angles": [0, 2, 4],
    },
    "RigidDelta": {"robot": supple.load("kuo-delta"), "masses": "uniform", "gravity": True},
}


def called(name: str) -> Callable[..., Any]:
    """A public name, or a method of a robot or model."""
    owner, _, method = name.partition(".")
    if not method:
        found: Callable[..., Any] = getattr(supple, name)
        return found
    return getattr({"Model": small_model(), "Robot": arm()}[owner], method)  # type: ignore[no-any-return]


def foreign(name: str, call: Callable[..., Any], right: dict[str, Any]) -> Iterator[str]:
    """What a call raises that is no SuppleError, with one argument after another wrong."""
    for argument in right:
        for word, value in WRONG.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    call(**right | {argument: value})
            except supple.SuppleError as problem:
                if "Traceback" in str(problem) or not str(problem).strip():
                    yield f"{name}({argument}={word}): an empty sentence"
            except Exception as problem:  # noqa: BLE001 - this is what is looked for
                yield f"{name}({argument}={word}): {type(problem).__name__}: {problem!s:.80}"
