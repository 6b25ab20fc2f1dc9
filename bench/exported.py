"""The exported C beside CasADi's generated code and Pinocchio: one forward dynamics.

Both C programs are compiled with the same flags and called in a loop of C, so that no binding is
timed. Pinocchio is C++ behind one call
from Python for each evaluation, which is part of its time.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple.exporters.c_library import build_library, c_compiler
from supple.exporters.skeleton import skeleton_of
from supple.exporters.urdf_files import urdf_text

from .arms import SPATIAL
from .report import Check, Report, rows_of
from .timing import REPEATS, Contestant, measure

__all__ = ["BENCHES"]

STATES = 100
ROUNDS = 200
QUICK_ROUNDS = 20
FLAGS = ["-O2"]
EXPORTED = "exported C"
GENERATED = "CasADi's generated C"
PINOCCHIO = "Pinocchio ABA, called from Python"

LOOPS = """
#include "{name}.h"
int casadi_dynamics(const double **arg, double **res, long long *iw, double *w, int mem);

void repeat_exported(int rounds, const double *q, const double *qd, const double *tau, double *qdd)
{{
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < {states}; k++)
            {name}_forward_dynamics(q + {n} * k, qd + {n} * k, tau + {joints} * k, qdd + {n} * k);
}}

void repeat_generated(int rounds, const double *q, const double *qd, const double *tau, double *qdd)
{{
    const double *arg[{arguments}];
    double *res[{results}];
    long long iw[{integers}];
    double w[{reals}];
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < {states}; k++) {{
            arg[0] = q + {n} * k;
            arg[1] = qd + {n} * k;
            arg[2] = tau + {joints} * k;
            res[0] = qdd + {n} * k;
            casadi_dynamics(arg, res, iw, w, 0);
        }}
}}
"""

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


def random_states(model: supple.Model) -> Arrays:
    """Return states and efforts, one row each, seed fixed; elastic coordinates are small."""
    random = np.random.default_rng(2031)
    q = 0.01 * random.normal(size=(STATES, model.size))
    q[:, : model.joints] = random.uniform(-1, 1, (STATES, model.joints))
    qd = 0.1 * random.normal(size=(STATES, model.size))
    tau = random.normal(size=(STATES, model.joints))
    return q, qd, tau


def compiled_loops(model: supple.Model) -> ctypes.CDLL:
    """Return a library that repeats the exported and CasADi's forward dynamics."""
    import casadi

    function = model.casadi()["forward_dynamics"]
    inputs = [casadi.SX.sym(f"x{i}", function.numel_in(i)) for i in range(function.n_in())]
    renamed = casadi.Function("casadi_dynamics", inputs, [function(*inputs)])
    generator = casadi.CodeGenerator("casadi_dynamics.c")
    generator.add(renamed)
    with tempfile.TemporaryDirectory() as folder:
        out = supple.export(model, to="c", path=Path(folder, "exported"), jacobians=False)
        name = out.files[0].stem
        sources = {}
        for path in out.files:
            if path.name in (f"{name}.h", f"{name}.c"):
                sources[path.name] = path.read_text()
        sources["casadi_dynamics.c"] = generator.dump()
        sources["loops.c"] = LOOPS.format(
            name=name,
            states=STATES,
            n=model.size,
            joints=model.joints,
            arguments=max(renamed.sz_arg(), 1),
            results=max(renamed.sz_res(), 1),
            integers=max(renamed.sz_iw(), 1),
            reals=max(renamed.sz_w(), 1),
        )
        return ctypes.CDLL(str(build_library(Path(folder), sources, "loops.so", FLAGS)))


def c_loop(loop: Any, states: Arrays, rounds: int) -> Callable[[], np.ndarray]:
    """Return a call that goes through all states `rounds` times and returns the accelerations."""
    accelerations = np.zeros_like(states[0])
    pointers = []
    for array in (*states, accelerations):
        pointers.append(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))

    def call() -> np.ndarray:
        loop(ctypes.c_int(rounds), *pointers)
        return accelerations

    return call


def pinocchio_loop(robot: supple.Robot, states: Arrays, rounds: int) -> Callable[[], np.ndarray]:
    """Return the same of Pinocchio's articulated-body algorithm on the robot's URDF."""
    import pinocchio

    model = pinocchio.buildModelFromXML(urdf_text(robot, []))
    model.gravity.linear = skeleton_of(robot).gravity
    data = model.createData()
    rows = []
    for q, qd, tau in zip(*states, strict=True):
        place: list[float] = []
        for joint, angle in zip(list(model.joints)[1:], q, strict=True):
            # a joint without limits is a point on the unit circle there
            place += [np.cos(angle), np.sin(angle)] if joint.nq == 2 else [angle]
        rows.append((np.array(place), qd, tau))

    def call() -> np.ndarray:
        found = [np.array(pinocchio.aba(model, data, *row)) for row in rows]
        for _ in range(rounds - 1):
            for place, qd, tau in rows:
                pinocchio.aba(model, data, place, qd, tau)
        return np.array(found)

    return call


def largest_difference(found: np.ndarray, wanted: np.ndarray) -> float:
    """Return the largest difference of a coordinate over its largest value in all states."""
    return float((np.abs(found - wanted).max(axis=0) / np.abs(wanted).max(axis=0)).max())


def exported_bench(
    model: supple.Model, title: str, quick: bool, rigid: supple.Robot | None = None
) -> Report:
    """Time both C programs of a model, and Pinocchio where the links are rigid."""
    missing = []
    if c_compiler() is None:
        return Report(title, "evaluation", missing=["everything: there is no C compiler"])
    rounds = QUICK_ROUNDS if quick else ROUNDS
    states = random_states(model)
    library = compiled_loops(model)
    calls = {
        EXPORTED: c_loop(library.repeat_exported, states, rounds),
        GENERATED: c_loop(library.repeat_generated, states, rounds),
    }
    if rigid is not None:
        try:
            calls[PINOCCHIO] = pinocchio_loop(rigid, states, rounds)
        except ImportError:
            missing.append("Pinocchio")

    # answers first: what differs is not worth timing
    wanted = model.forward_dynamics(*states)
    checks = []
    for name, call in calls.items():
        error = largest_difference(call(), wanted)
        checks.append(
            Check(f"{name} equals the Model in {STATES} states ({error:.0e})", error < 1e-10)
        )
    if not all(check.right for check in checks):
        return Report(title, "evaluation", checks=checks, missing=missing)

    racers = {name: Contestant(call, STATES * rounds) for name, call in calls.items()}
    timings, _ = measure(racers, 3 if quick else REPEATS)
    notes = [f"compiled by gcc or clang with {' '.join(FLAGS)}, called in a loop of C"]
    return Report(title, "evaluation", rows_of(timings), [], checks, notes, missing)


def rigid_arm(quick: bool) -> Report:
    """A spatial arm of six joints with rigid links, which Pinocchio can hold."""
    robot = supple.load(SPATIAL)
    assert isinstance(robot, supple.SerialRobot)
    rigid = robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})
    title = "exported C, six rigid links"
    return exported_bench(supple.build(rigid), title, quick, rigid)


def flexible_arm(quick: bool) -> Report:
    """The arm of [DeLuca1991], two modes a link."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    return exported_bench(model, "exported C, two flexible links, 6 coordinates", quick)


BENCHES: dict[str, Callable[[bool], Report]] = {
    "exported-rigid": rigid_arm,
    "exported-flexible": flexible_arm,
}
