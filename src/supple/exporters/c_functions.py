"""The functions of a Model that are written as C, with states to test them on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..control.controllers import Controller
from ..equations.closed.coupled import ClosedFunctions
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.measuring import function as output_function
from ..outputs.output import Output
from .c_source import CFunction, row_by_row

__all__ = [
    "controller_function",
    "followed_motion_functions",
    "follower_count",
    "jacobian_functions",
    "model_functions",
    "output_functions",
    "random_states",
    "stiffness_by_differences",
]

Array = NDArray[np.float64]


def follower_count(model: Model) -> int:
    """Return how many coordinates follow from loops, zero where there is none."""
    functions = model.functions
    return len(functions.loops.followers) if isinstance(functions, ClosedFunctions) else 0


def model_functions(model: Model) -> list[CFunction]:
    """Return the equations of motion and the tip."""
    expression = model.functions.expression
    return [
        CFunction(
            "forward_dynamics",
            expression("forward_dynamics"),
            ("q", "qd", "tau"),
            ("qdd",),
            "Accelerations under joint efforts tau [JOINTS].",
        ),
        CFunction(
            "forward_dynamics_loaded",
            expression("forward_dynamics_loaded"),
            ("q", "qd", "tau", "wrench"),
            ("qdd",),
            "The same under a wrench [6] on the tip: force (N), then moment (N m), base axes.",
        ),
        CFunction(
            "inverse_dynamics",
            expression("inverse_dynamics"),
            ("q", "qd", "qdd"),
            ("tau",),
            "M qdd + h + D qd + K q + g, [SIZE]: joint efforts first, then what the elastic\n"
            "coordinates need, which vanishes along every motion of the robot.",
        ),
        CFunction(
            "mass_matrix",
            expression("mass_matrix"),
            ("q",),
            ("M",),
            "Mass matrix [SIZE by SIZE], row by row.",
        ),
        CFunction(
            "bias",
            expression("bias"),
            ("q", "qd"),
            ("h",),
            "Centrifugal and Coriolis forces [SIZE].",
        ),
        CFunction(
            "gravity",
            expression("gravity"),
            ("q",),
            ("g",),
            "Generalised force [SIZE] that holds the weight.",
        ),
        CFunction(
            "dissipation",
            expression("dissipation"),
            ("q", "qd"),
            ("d",),
            "Generalised force [SIZE] of damping and friction.",
        ),
        CFunction("tip", expression("tip"), ("q",), ("p",), "Position of the tip [3], m."),
        CFunction(
            "tip_rotation",
            _tip_rotation(model),
            ("q",),
            ("R",),
            "Axes of the tip as the columns of a rotation matrix [9], row by row.",
        ),
    ]


def jacobian_functions(model: Model) -> list[CFunction]:
    """Return the Jacobians of the forward dynamics."""
    return [
        CFunction(
            "jacobians",
            row_by_row(model.functions.expression("derivatives")),
            ("q", "qd", "tau"),
            ("by_q", "by_qd", "by_tau"),
            "Jacobians of forward_dynamics by q and qd [SIZE by SIZE] and tau\n"
            "[SIZE by JOINTS], row by row.",
        )
    ]


def followed_motion_functions(model: Model) -> list[CFunction]:
    """Return the functions of robots with loops that start from a known solution of these."""
    functions = model.functions
    if not isinstance(functions, ClosedFunctions):
        return []
    return [
        CFunction(
            "loops",
            functions.expression("followers"),
            ("q",),
            ("w",),
            "Coordinates that the loops determine [LOOPS], found from the assembled pose.\n"
            "NaN where the loops cannot be closed.",
        ),
        CFunction(
            "loops_near",
            functions.core("followers"),
            ("q", "near"),
            ("w",),
            "The same from a solution nearby, such as that of the last sample.",
        ),
        CFunction(
            "forward_dynamics_near",
            functions.core("forward_dynamics_loaded"),
            ("q", "qd", "tau", "wrench", "near"),
            ("qdd",),
            "forward_dynamics_loaded with loops closed from a solution nearby: several times\n"
            "as fast, and it stays on the branch on which the robot is.",
        ),
    ]


def output_functions(model: Model, outputs: dict[str, Output]) -> list[CFunction]:
    """Return one function of all outputs, one below the other."""
    if not outputs:
        return []
    import casadi as ca

    n = model.size
    motion = [ca.MX.sym(word, size) for word, size in zip("qvaw", (n, n, n, 6), strict=True)]
    values = [output_function(model, output)(*motion) for output in outputs.values()]
    combined = ca.Function("outputs", motion, [ca.densify(ca.vertcat(*values))])
    listed = []
    for name, output in outputs.items():
        listed.append(f"{name} ({', '.join(output.names(model))})")
    return [
        CFunction(
            "outputs",
            combined,
            ("q", "qd", "qdd", "wrench"),
            ("y",),
            "Outputs [OUTPUTS]: " + "; ".join(listed) + ".\nEncoders are not rounded here.",
        )
    ]


def controller_function(model: Model, law: Controller, limit: Array | None) -> CFunction:
    """Return a law without states of its own as a function of state and wanted motion."""
    import casadi as ca

    function = law.function(model)
    given = [ca.MX.sym(f"x{k}", function.numel_in(k)) for k in range(function.n_in())]
    tau = function(*given)
    if limit is not None:
        tau = ca.fmin(ca.fmax(tau, -ca.DM(limit)), ca.DM(limit))
    return CFunction(
        "controller",
        ca.Function("controller", given, [ca.densify(tau)]),
        ("q", "qd", "r", "rd", "rdd"),
        ("tau",),
        f"Joint efforts of {type(law).__name__} towards joint coordinates r and their rates.",
    )


def _tip_rotation(model: Model) -> Any:
    import casadi as ca

    tip = model.functions.expression("tip")
    q = ca.MX.sym("q", model.size)
    return ca.Function("tip_rotation", [q], [tip(q)[1].T])


def random_states(
    model: Model, start: Array, count: int, seed: int = 0
) -> tuple[Array, Array, Array, Array]:
    """Return random q, qd, qdd (count, N) and tau (count, joints) about a pose.

    Joints move by up to 0.3 rad (a tenth of the length of a link that slides) within their limits,
    all else by what small deflections are, so that loops stay closed.
    """
    rng = np.random.default_rng(seed)
    reach = np.full(model.size, 2e-3)
    drives = architecture_of(model.robot).drives
    joints = model.joints
    for k, drive in enumerate(drives):
        reach[k] = 0.05 * abs(start[k]) if drive.slides else 0.3
    q = start + reach * rng.uniform(-1, 1, (count, model.size))
    for k, drive in enumerate(drives):
        if drive.made.limits is not None:
            q[:, k] = np.clip(q[:, k], *drive.made.limits)
        if drive.slides and start[k] > 0:
            q[:, k] = np.minimum(q[:, k], 2 * start[k] - q[:, k])  # never out of the beam's end
    if isinstance(model.functions, ClosedFunctions):
        closes = model.functions.evaluator("followers")
        for _ in range(10):
            open_ = ~np.isfinite(closes(q)[0]).all(axis=1)
            q[open_] = (start + q[open_]) / 2  # nearer to where it is assembled
    qd = rng.uniform(-1, 1, (count, model.size)) * np.where(np.arange(model.size) < joints, 1, 0.1)
    qdd = rng.uniform(-1, 1, (count, model.size))
    tau = rng.uniform(-1, 1, (count, joints))
    return q, qd, qdd, tau


def stiffness_by_differences(inverse_dynamics: Any, gravity: Any, q: Array) -> Array:
    """Return the elastic stiffness (N, N) about q from the two functions, by central differences.

    Their difference at rest is the elastic force, which is linear, or nearly so where loops close.
    A slide at the end of its stroke is moved to one side alone.
    """
    size = len(q)
    step = 1e-5
    rest = np.zeros(size)
    stiffness = np.zeros((size, size))
    for k in range(size):
        forces = []
        shifts = []
        for shift in (step, -step, 0.0):
            at = q.copy()
            at[k] += shift
            try:
                force = inverse_dynamics(at, rest, rest) - gravity(at)
            except SuppleError:
                if shift == 0:
                    raise
                continue
            forces.append(force)
            shifts.append(shift)
            if len(forces) == 2:
                break
        stiffness[:, k] = (forces[0] - forces[1]) / (shifts[0] - shifts[1])
    return np.asarray((stiffness + stiffness.T) / 2)
