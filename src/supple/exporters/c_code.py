"""Controllers as C: one file without dependencies, for the computer that runs them."""

from __future__ import annotations

import re
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief, checked
from ..control.controllers import Controller
from ..control.linear import LinearController
from ..control.sampled import Sampled
from ..equations.model import Model
from ..errors import SuppleError
from .c_source import CFunction, c_comment, c_source, c_tables

__all__ = ["c_code", "linear_law_text"]

Array = NDArray[np.float64]
NO_LIMIT = 1e308  # effort that is never asked for


def _a_name(word: str, value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,60}", value):
        return value
    raise SuppleError(f"{word} is {brief(value)}: give a name that C allows, such as 'law'")


@checked
def c_code(
    controller: Controller | Sampled, model: Model, name: Annotated[str, _a_name] = "law"
) -> str:
    """C99 source code of a controller, with the same interface for every kind.

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
        ``void NAME_reset(void)`` and ``void NAME_step(const double *y, const double *r, double
        *tau)``, to be called once per sample. A comment lists what to measure, entry by entry of
        y, and what r holds: the desired joint coordinates, followed by their rates and
        accelerations where the controller uses them. The numbers of entries are the constants
        ``NAME_MEASURED``, ``NAME_WANTED`` and ``NAME_JOINTS``. The `effort_limit` of `Sampled` is
        kept. It compiles without a warning and needs the mathematics of the C library alone.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> text = supple.c_code(supple.JointPD(10, 2), model, name="servo")
    >>> print(text[: text.index("*/")])
    /*
     * JointPD of de-luca-two-link
     *
     * y[0] theta.link1
     * y[1] theta.link2
     * y[2] d.theta.link1
     * y[3] d.theta.link2
     * r[0] theta.link1 wanted
     * r[1] theta.link2 wanted
     * r[2] d.theta.link1 wanted
     * r[3] d.theta.link2 wanted
     * tau[0] effort of link1, N m or N
     * tau[1] effort of link2, N m or N
    <BLANKLINE>
    """
    limit: Array | None = None
    law: Any = controller
    period: float | None = None
    if isinstance(controller, Sampled):
        controller.check(model)
        law = controller.law
        period = controller.period
        limit = controller.by_joint("effort_limit", model)
    if not isinstance(law, Controller):
        raise SuppleError(
            f"controller is {brief(law)}: give a Controller, alone or in supple.Sampled"
        )
    law.check(model)
    if not isinstance(law, LinearController):
        return _law_without_states(law, model, name, limit, period)
    if period is not None:
        law = law.sampled(period)
    if law.period is None:
        raise SuppleError("this law is continuous: give supple.Sampled(law, period)")
    return _law_with_states(law, model, name, limit)


def _opening(
    law: Controller, model: Model, name: str, period: float | None, measured: list[str], orders: int
) -> str:
    """Return the comment that says what to measure, and the numbers of entries.

    `orders`: 1 for desired coordinates alone, 2 with their rates, 3 with accelerations.
    """
    when = "" if period is None else f", one step every {period!r} s"
    lines = [f"{type(law).__name__} of {model.robot.name}{when}", ""]
    lines += [f"y[{i}] {word}" for i, word in enumerate(measured)]
    joints = [f"theta.{motor}" for motor in model.chain.motors]
    wanted = [
        f"{prefix}{joint} wanted" for prefix in ("", "d.", "dd.")[:orders] for joint in joints
    ]
    lines += [f"r[{i}] {word}" for i, word in enumerate(wanted)]
    efforts = [f"effort of {motor}, N m or N" for motor in model.chain.motors]
    lines += [f"tau[{i}] {word}" for i, word in enumerate(efforts)]
    if any(word.removeprefix("d.").startswith("eta.") for word in measured):
        lines += ["", "eta: elastic coordinates of the model; supple.observer estimates them."]
    sizes = {"MEASURED": len(measured), "WANTED": len(wanted), "JOINTS": model.joints}
    constants = ", ".join(f"{name}_{word} = {count}" for word, count in sizes.items())
    declarations = (
        f"enum {{ {constants} }};\n"
        f"void {name}_reset(void);\n"
        f"void {name}_step(const double *y, const double *r, double *tau);\n"
    )
    return c_comment(lines) + declarations


def _law_without_states(
    law: Controller, model: Model, name: str, limit: Array | None, period: float | None
) -> str:
    """The law as arithmetic of what it measures and of the desired motion."""
    import casadi as ca

    measured, function = law.of_measurements(model)
    used = [bool(function.jac_sparsity(0, i).nnz()) for i in (2, 3)]  # rates, accelerations
    orders = 3 if used[1] else 2 if used[0] else 1
    joints = model.joints
    y = ca.MX.sym("y", len(measured))
    r = ca.MX.sym("r", orders * joints)
    zero_rates = ca.MX.zeros(joints)
    wanted = [r[i * joints : (i + 1) * joints] if i < orders else zero_rates for i in range(3)]
    tau = function(y, *wanted)
    if limit is not None:
        most = ca.DM(np.where(np.isfinite(limit), limit, NO_LIMIT))
        tau = ca.fmin(ca.fmax(tau, -most), most)
    step = CFunction("step", ca.Function("step", [y, r], [tau]), ("y", "r"), ("tau",), "")
    opening = _opening(law, model, name, period, measured, orders)
    arithmetic = c_source(name, [step]).text
    reset = f"void {name}_reset(void)\n{{\n}}\n"
    return f"{opening}\n#include <math.h>\n\n{arithmetic}\n{reset}"


def _law_with_states(law: LinearController, model: Model, name: str, limit: Array | None) -> str:
    """The law as tables, its states kept in the file."""
    measured = [word for output in law.measures for word in output.names(model)]
    states = max(len(law.A), 1)
    definition = linear_law_text(name, law, model, limit)[1]
    return f"""{_opening(law, model, name, law.period, measured, 1)}
static double {name}_states[{states}];

static {definition}
void {name}_reset(void)
{{
    int i;
    for (i = 0; i < {states}; i++) {name}_states[i] = 0.0;
}}

void {name}_step(const double *y, const double *r, double *tau)
{{
    {name}_controller_step({name}_states, y, r, tau);
}}
"""


def linear_law_text(
    name: str, law: LinearController, model: Model, limit: Array | None
) -> tuple[str, str]:
    """Return declaration and definition of `NAME_controller_step(z, y, r, tau)`."""
    states = len(law.A)
    inputs = law.B.shape[1]
    joints = len(law.tau0)
    measured = [word for output in law.measures for word in output.names(model)]
    about = c_comment(
        [
            f"{type(law).__name__}, one step every {law.period!r} s.",
            f"z [{max(states, 1)}]: its states, zero at the start, renewed by the call.",
            f"y [{inputs - joints}]: {', '.join(measured)}.",
            f"r [{joints}]: joint coordinates wanted. tau [{joints}]: efforts.",
        ]
    )
    declaration = (
        f"void {name}_controller_step(double *z, const double *y, const double *r, double *tau)"
    )
    most = np.full(joints, NO_LIMIT)
    if limit is not None:
        most = np.where(np.isfinite(limit), limit, NO_LIMIT)
    offset = np.concatenate([law.y0, law.r0])
    tables = {"D": law.D, "offset": offset, "tau0": law.tau0, "limit": most}
    variables = f"u[{inputs}]"
    own_effort = ""
    keep_excess = ""
    add_excess = ""
    update = "    (void)z;\n"
    if states:
        tables |= {"A": law.A, "B": law.B, "C": law.C}
        variables += f", next[{states}]"
        own_effort = f"        for (j = 0; j < {states}; j++) sum += C[i * {states} + j] * z[j];\n"
        if limit is not None and law.anti_windup is not None:
            # what was cut off goes back into the states, against wind-up
            tables["W"] = law.anti_windup
            variables += f", excess[{joints}]"
            keep_excess = "        excess[i] = tau[i] - sum;\n"
            add_excess = (
                f"        for (j = 0; j < {joints}; j++) sum += W[i * {joints} + j] * excess[j];\n"
            )
        update = f"""    for (i = 0; i < {states}; i++) {{
        double sum = 0.0;
        for (j = 0; j < {states}; j++) sum += A[i * {states} + j] * z[j];
        for (j = 0; j < {inputs}; j++) sum += B[i * {inputs} + j] * u[j];
{add_excess}        next[i] = sum;
    }}
    for (i = 0; i < {states}; i++) z[i] = next[i];
"""
    definition = f"""{declaration}
{{
{c_tables(tables)}
    double {variables};
    int i, j;

    for (j = 0; j < {inputs}; j++)
        u[j] = (j < {inputs - joints} ? y[j] : r[j - {inputs - joints}]) - offset[j];
    for (i = 0; i < {joints}; i++) {{
        double sum = tau0[i];
{own_effort}        for (j = 0; j < {inputs}; j++) sum += D[i * {inputs} + j] * u[j];
        tau[i] = sum > limit[i] ? limit[i] : sum < -limit[i] ? -limit[i] : sum;
{keep_excess}    }}
{update}}}
"""
    return about + f"{declaration};\n", definition
