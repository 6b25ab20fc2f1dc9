"""Controllers as C: one file without dependencies, for the computer that runs them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked, shown
from ..control.controllers import Controller
from ..control.linear import LinearController
from ..control.sampled import Sampled
from ..equations.model import Model, a_model
from ..errors import SuppleError
from .names import comment_text

__all__ = ["c_code"]

Array = NDArray[np.float64]
LONGEST_COMMENT = 10_000  # letters of a user's text in a comment


def _a_name(word: str, value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,60}", value):
        return value
    raise SuppleError(f"{word} is {shown(value)}: give a name that C allows, such as 'law'")


@checked(model=a_model, name=_a_name)
def c_code(controller: Controller | Sampled, model: Model, name: str = "law") -> str:
    """C99 source code of a controller.

    Parameters
    ----------
    controller : Controller or Sampled
        Controller to translate. One with states of its own needs a period, its own or that of
        `Sampled`.
    model : Model
        Equations of motion for which it was designed.
    name : str
        Prefix of the functions.

    Returns
    -------
    str
        A controller with states becomes ``NAME_reset()`` and ``NAME_step(y, r, tau)``, to be called
        once per sample with the outputs y and the desired joint coordinates r. Any other becomes
        CasADi's function ``NAME(arg, res, iw, w, mem)`` of q, qd, r, rd, rdd. Both respect the
        `effort_limit` of `Sampled`.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> "int servo(" in supple.c_code(supple.JointPD(10, 2), model, name="servo")
    True
    """
    limit: Array | None = None
    law: Any = controller
    if isinstance(controller, Sampled):
        controller.check(model)
        law, limit = controller.law, controller.by_joint("effort_limit", model)
    if not isinstance(law, Controller):
        raise SuppleError(f"controller is {shown(law)}: give a Controller, alone or in Sampled")
    law.check(model)
    if not isinstance(law, LinearController):
        import casadi as ca

        function = law.function(model)
        inputs = [ca.MX.sym(f"x{i}", function.numel_in(i)) for i in range(function.n_in())]
        tau = function(*inputs)
        if limit is not None:
            tau = ca.fmin(ca.fmax(tau, -ca.DM(limit)), ca.DM(limit))
        renamed = ca.Function(name, inputs, [tau])
        generator = ca.CodeGenerator(f"{name}.c")
        generator.add(renamed.expand() if function.is_a("SXFunction") else renamed)
        text: str = generator.dump()
        return text
    if isinstance(controller, Sampled):
        law = law.sampled(controller.period)
    if law.period is None:
        raise SuppleError("this law is continuous: give supple.Sampled(law, period)")
    return _linear(law, model, name, limit)


def _linear(law: LinearController, model: Model, name: str, limit: Array | None) -> str:
    """A, B, C and D as tables, and the step."""
    s, w, k = len(law.A), law.B.shape[1], len(law.tau0)
    names = [word for output in law.measures for word in output.names(model)]
    offset = np.concatenate([law.y0, law.r0])
    cut = law.anti_windup if limit is not None else None
    most = np.full(k, 1e308) if limit is None else np.where(np.isfinite(limit), limit, 1e308)
    tables = {
        "A": law.A,
        "B": law.B,
        "C": law.C,
        "D": law.D,
        "offset": offset,
        "tau0": law.tau0,
        "limit": most,
    }
    keeps_excess, adds_excess = "", ""
    if cut is not None:  # what was cut off goes back into the states, against wind-up
        tables["W"] = cut
        keeps_excess = "\n        excess[i] = tau[i] - wanted;"
        adds_excess = (
            f"\n        for (int j = 0; j < {k}; j++) next[i] += {name}_W[i * {k} + j] * excess[j];"
        )
    declared = f", excess[{k}]" if cut is not None else ""
    keeps_wanted = "\n        const double wanted = sum;" if cut is not None else ""
    each = []
    for key, value in tables.items():  # row by row, with every digit
        flat = [repr(float(x)) for x in value.ravel()] or ["0.0"]
        lines = ",\n    ".join(", ".join(flat[i : i + 6]) for i in range(0, len(flat), 6))
        each.append(f"static const double {name}_{key}[{len(flat)}] = {{\n    {lines}}};")
    listed = "\n".join(each)
    law_name = comment_text(type(law).__name__)
    robot_name = comment_text(model.robot.name)
    measured = comment_text(", ".join(names))
    wanted = comment_text(", ".join(model.chain.motors))
    return f"""/* {law_name} of {robot_name}: one step every {float(law.period or 0.0)!r} s.
   y: {measured}
   r: {wanted} */
{listed}
static double {name}_z[{max(s, 1)}];

void {name}_reset(void)
{{
    for (int i = 0; i < {s}; i++) {name}_z[i] = 0.0;
}}

void {name}_step(const double *y, const double *r, double *tau)
{{
    double u[{w}], next[{max(s, 1)}]{declared};
    for (int j = 0; j < {w}; j++)
        u[j] = (j < {w - k} ? y[j] : r[j - {w - k}]) - {name}_offset[j];
    for (int i = 0; i < {k}; i++) {{
        double sum = {name}_tau0[i];
        for (int j = 0; j < {s}; j++) sum += {name}_C[i * {s} + j] * {name}_z[j];
        for (int j = 0; j < {w}; j++) sum += {name}_D[i * {w} + j] * u[j];{keeps_wanted}
        if (sum > {name}_limit[i]) sum = {name}_limit[i];
        if (sum < -{name}_limit[i]) sum = -{name}_limit[i];
        tau[i] = sum;{keeps_excess}
    }}
    for (int i = 0; i < {s}; i++) {{
        next[i] = 0.0;
        for (int j = 0; j < {s}; j++) next[i] += {name}_A[i * {s} + j] * {name}_z[j];
        for (int j = 0; j < {w}; j++) next[i] += {name}_B[i * {w} + j] * u[j];{adds_excess}
    }}
    for (int i = 0; i < {s}; i++) {name}_z[i] = next[i];
}}
"""
