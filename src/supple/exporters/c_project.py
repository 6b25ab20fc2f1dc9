"""A Model as C99: dynamics, Jacobians, outputs, an integrator, controller and observer.

The source needs the C library's mathematics and nothing else: no allocation, no globals, no Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arguments import brief, optional, switch
from ..control.controllers import Controller
from ..control.linear import LinearController
from ..control.observers import Observer
from ..control.sampled import Sampled
from ..equations.equilibrium import assembled_pose
from ..equations.model import Model
from ..errors import SuppleError
from ..files.disk import write_text
from ..outputs.measuring import named_outputs
from .c_code import linear_law_text
from .c_functions import (
    controller_function,
    followed_motion_functions,
    follower_count,
    jacobian_functions,
    model_functions,
    output_functions,
    random_states,
    stiffness_by_differences,
)
from .c_library import CLibrary, c_compiler
from .c_source import CFunction, CSource, c_array, c_comment, c_source, c_tables
from .exporter import Exporter, Request, Written, model_frequencies, model_rule

__all__ = ["CProject", "CText", "c_texts", "exported_frequencies"]

Array = NDArray[np.float64]
LARGEST_MODEL = 1_500_000  # characters of source from which Jacobians are left out by default
TEST_VECTORS = 5
ORDINARY_CONDITION = 1e6  # of a mass matrix, up to which accelerations are compared as all else is


def _outputs(name: str, value: Any) -> Any:
    return named_outputs(value)


def _controller(name: str, value: Any) -> Any:
    if isinstance(value, Controller | Sampled):
        return value
    raise SuppleError(f"{name} is {brief(value)}: give a Controller, alone or in supple.Sampled")


def _observer(name: str, value: Any) -> Any:
    if isinstance(value, Observer) and value.period is not None:
        return value
    raise SuppleError(f"{name} is {brief(value)}: give supple.observer(model, theta, period=..)")


@dataclass(frozen=True)
class CText:
    """The C of one Model: header, source, and the source of its Jacobians, empty: left out."""

    header: str
    source: str
    jacobians: str


class CProject(Exporter):
    """A folder with `NAME.h`, `NAME.c`, `NAME_test.c`, CMakeLists.txt and a Makefile."""

    about: ClassVar = "C99 without allocation or globals: dynamics, Jacobians, integrator"
    needs_model: ClassVar = True
    options: ClassVar = {
        "jacobians": optional(switch),
        "outputs": optional(_outputs),
        "controller": optional(_controller),
        "observer": optional(_observer),
    }

    def write(self, request: Request, path: Path) -> Written:
        """Write the folder; frequencies come from the compiled source where there is a compiler."""
        notes: list[str] = []
        text = c_texts(request, notes)
        name = request.name
        sources = {f"{name}.h": text.header, f"{name}.c": text.source}
        found = exported_frequencies(request, sources, notes)

        rule = model_rule(request.robot, request.model.basis)
        head = c_comment(request.error_lines(found, rule))
        files = {f"{name}.h": head + text.header, f"{name}.c": head + text.source}
        if text.jacobians:
            files[f"{name}_jacobians.c"] = head + text.jacobians
        units = [file for file in files if file.endswith(".c")]
        files[f"{name}_test.c"] = _test_program(request)
        files["CMakeLists.txt"] = _cmake(name, units)
        files["Makefile"] = _makefile(name, units)
        places = tuple(write_text(path / file, content) for file, content in files.items())
        return Written(places, found, rule, tuple(notes))


def c_texts(request: Request, notes: list[str]) -> CText:
    """Return header and sources of a Model; what was left out is added to the notes.

    Jacobians stand in a file of their own: they are far longer than all else, and who does not use
    them need not compile them.
    """
    model = request.model
    options = request.options
    name = request.name
    outputs = options.get("outputs") or {}
    for output in outputs.values():
        output.check(model)
    functions = model_functions(model)
    functions += followed_motion_functions(model)
    functions += output_functions(model, outputs)
    functions += options.get("functions", [])
    extra, texts = _controller_texts(request)
    functions += extra
    source = c_source(name, functions)
    declared = list(zip(functions, source.declarations, strict=True))

    jacobians = ""
    wanted = options.get("jacobians")
    if wanted is None and len(source.text) > LARGEST_MODEL:
        notes.append(
            "The Jacobians of this large model are left out; jacobians=True writes them too."
        )
    elif wanted is not False:
        slopes = jacobian_functions(model)
        second = c_source(name, slopes)
        declared += list(zip(slopes, second.declarations, strict=True))
        jacobians = f'#include "{name}.h"\n\n#include <math.h>\n\n{second.text}'

    sizes = {"SIZE": model.size, "JOINTS": model.joints, "LOOPS": follower_count(model)}
    sizes["OUTPUTS"] = sum(len(output.names(model)) for output in outputs.values())
    header = _header(request, declared, source.stack, sizes, texts)
    return CText(header, _source(name, source, model, texts), jacobians)


def exported_frequencies(request: Request, sources: dict[str, str], notes: list[str]) -> Array:
    """Return frequencies from M and the forces that the written C gives, joints locked, Hz."""
    model = request.model
    q = assembled_pose(model, request.theta)
    size = model.size
    if c_compiler() is None:
        notes.append(
            "There is no C compiler here: the frequencies are those of the functions before they "
            "were written as C."
        )
        mass = model.mass_matrix(q)
        stiffness = stiffness_by_differences(model.inverse_dynamics, model.gravity, q)
        return model_frequencies(mass, stiffness, model.joints, request.count)
    library = CLibrary(sources, request.name)
    mass = library.call("mass_matrix", q, size=size * size).reshape(size, size)
    stiffness = stiffness_by_differences(
        lambda *state: library.call("inverse_dynamics", *state, size=size),
        lambda at: library.call("gravity", at, size=size),
        q,
    )
    return model_frequencies(mass, stiffness, model.joints, request.count)


# ---------------------------------------------------------------------- header and source


def _header(
    request: Request,
    declared: list[tuple[CFunction, str]],
    stack: int,
    sizes: dict[str, int],
    texts: list[tuple[str, str]],
) -> str:
    name = request.name
    model = request.model
    lines = [
        f"{request.robot.name}: equations of motion M(q) qdd + h + D qd + K q + g = B tau.",
        "Units are SI: m, rad, kg, N, N m, s. No function allocates or keeps anything, so that",
        "any number of threads may call them; outputs must not overlap inputs.",
        f"Largest use of the stack by one function: about {stack} bytes.",
        "Entries of q:",
    ]
    for k, word in enumerate(model.coordinates):
        lines.append(f"  {k}  {word}")
    guard = f"{name.upper()}_H"
    parts = [
        c_comment(lines),
        f"#ifndef {guard}\n#define {guard}\n",
        '#ifdef __cplusplus\nextern "C" {\n#endif\n',
    ]
    meanings = {
        "SIZE": "entries of q, qd and qdd",
        "JOINTS": "entries of tau, and joint coordinates in front of q",
        "LOOPS": "coordinates that loops determine, which are not in q",
        "OUTPUTS": "entries of y",
    }
    for word, value in sizes.items():
        parts.append(f"#define {name}_{word} {value} /* {meanings[word]} */")
    parts.append("")
    for each, declaration in declared:
        parts.append(c_comment(each.about.split("\n")) + f"{declaration};\n")
    about_step = [
        "One step of the classical Runge-Kutta method, in place: q and qd after dt seconds under",
        "constant tau [JOINTS] and wrench [6]. Keep dt below 0.2 over the highest frequency in rad",
        "per second, or the vibration is damped by the method.",
    ]
    parts.append(c_comment(about_step) + f"{_step_declaration(name)};\n")
    for declaration, _ in texts:
        parts.append(declaration)
    parts.append("#ifdef __cplusplus\n}\n#endif\n#endif\n")
    return "\n".join(parts)


def _step_declaration(name: str) -> str:
    arguments = "double *q, double *qd, const double *tau, const double *wrench, double dt"
    return f"void {name}_step({arguments})"


def _source(name: str, source: CSource, model: Model, texts: list[tuple[str, str]]) -> str:
    parts = [f'#include "{name}.h"\n\n#include <math.h>\n', source.text, _step(name, model)]
    parts += [definition for _, definition in texts]
    return "\n".join(parts)


def _step(name: str, model: Model) -> str:
    """The fixed-step integrator; loops are closed once from the start, then from stage to stage."""
    n = model.size
    loops = follower_count(model)
    if loops:
        declare = f"    double w[{loops}], near[{loops}];\n"
        first = f"    {name}_loops(q, near);\n"
        rate = (
            f"        {name}_forward_dynamics_near(at, rate, tau, wrench, near, acceleration);\n"
            f"        {name}_loops_near(at, near, w);\n"
            f"        for (i = 0; i < {loops}; i++) near[i] = w[i];\n"
        )
    else:
        declare = first = ""
        rate = f"        {name}_forward_dynamics_loaded(at, rate, tau, wrench, acceleration);\n"
    return f"""{_step_declaration(name)}
{{
    static const double place[4] = {{0.0, 0.5, 0.5, 1.0}};
    static const double weight[4] = {{1.0, 2.0, 2.0, 1.0}};
    double at[{n}], rate[{n}], acceleration[{n}], sum_q[{n}], sum_qd[{n}];
{declare}    int i, stage;

    for (i = 0; i < {n}; i++) {{
        at[i] = q[i];
        rate[i] = qd[i];
        sum_q[i] = 0.0;
        sum_qd[i] = 0.0;
    }}
{first}    for (stage = 0; stage < 4; stage++) {{
{rate}        for (i = 0; i < {n}; i++) {{
            const double step = stage < 3 ? place[stage + 1] * dt : 0.0;
            const double velocity = rate[i];
            sum_q[i] += weight[stage] * velocity;
            sum_qd[i] += weight[stage] * acceleration[i];
            at[i] = q[i] + step * velocity;
            rate[i] = qd[i] + step * acceleration[i];
        }}
    }}
    for (i = 0; i < {n}; i++) {{
        q[i] += dt / 6.0 * sum_q[i];
        qd[i] += dt / 6.0 * sum_qd[i];
    }}
}}
"""


# ---------------------------------------------------------------------- controller and observer


def _controller_texts(request: Request) -> tuple[list[CFunction], list[tuple[str, str]]]:
    """Return a law as a function of CasADi, or declarations and definitions of one with states."""
    model = request.model
    name = request.name
    functions: list[CFunction] = []
    texts: list[tuple[str, str]] = []
    given = request.options.get("controller")
    if given is not None:
        law = given
        limit = None
        if isinstance(given, Sampled):
            given.check(model)
            law = given.law
            limit = given.by_joint("effort_limit", model)
        if not isinstance(law, Controller):
            raise SuppleError(f"controller is {brief(law)}: give a Controller")
        law.check(model)
        if isinstance(law, LinearController):
            if isinstance(given, Sampled):
                law = law.sampled(given.period)
            if law.period is None:
                raise SuppleError("this law is continuous: give supple.Sampled(law, period)")
            texts.append(linear_law_text(name, law, model, limit))
        else:
            functions.append(controller_function(model, law, limit))
    observer = request.options.get("observer")
    if observer is not None:
        texts.append(_observer_text(name, observer, model))
    return functions, texts


def _observer_text(name: str, observer: Observer, model: Model) -> tuple[str, str]:
    plant = observer.plant
    states = len(observer.A)
    joints = observer.B.shape[1]
    outputs = len(observer.C)
    if len(plant.q) != model.size:
        raise SuppleError(
            f"observer was designed for {len(plant.q)} coordinates, the model has {model.size}: "
            "give one made with supple.observer(model, theta, period=...)"
        )
    about = c_comment(
        [
            f"Kalman filter about rest, one step every {observer.period!r} s.",
            f"z [{states}]: its states, zero at the start, renewed by the call.",
            f"y [{outputs}]: what is measured. tau [{joints}]: the effort that is commanded now.",
            "q, qd [SIZE]: the estimate after this measurement.",
        ]
    )
    arguments = "double *z, const double *y, const double *tau, double *q, double *qd"
    declaration = f"void {name}_observer_step({arguments})"
    tables = c_tables(
        {
            "A": observer.A,
            "B": observer.B,
            "C": observer.C,
            "L": observer.gain,
            "y0": plant.y,
            "tau0": plant.tau,
            "q0": plant.q,
        }
    )
    n = model.size
    definition = f"""{declaration}
{{
{tables}
    double corrected[{states}], error[{outputs}];
    int i, j;

    for (i = 0; i < {outputs}; i++) {{
        error[i] = y[i] - y0[i];
        for (j = 0; j < {states}; j++) error[i] -= C[i * {states} + j] * z[j];
    }}
    for (i = 0; i < {states}; i++) {{
        corrected[i] = z[i];
        for (j = 0; j < {outputs}; j++) corrected[i] += L[i * {outputs} + j] * error[j];
    }}
    for (i = 0; i < {n}; i++) {{
        q[i] = q0[i] + corrected[i];
        qd[i] = corrected[{n} + i];
    }}
    for (i = 0; i < {states}; i++) {{
        double sum = 0.0;
        for (j = 0; j < {states}; j++) sum += A[i * {states} + j] * corrected[j];
        for (j = 0; j < {joints}; j++) sum += B[i * {joints} + j] * (tau[j] - tau0[j]);
        z[i] = sum;
    }}
}}
"""
    return about + f"{declaration};\n", definition


# ---------------------------------------------------------------------- test program and builds


def _test_program(request: Request) -> str:
    """A program that compares the C with numbers of the Model and returns 0 where they agree."""
    model = request.model
    name = request.name
    start = assembled_pose(model, request.theta)
    q, qd, qdd, tau = random_states(model, start, TEST_VECTORS)
    tables = {
        "q": q,
        "qd": qd,
        "qdd": qdd,
        "tau": tau,
        "forward": model.forward_dynamics(q, qd, tau),
        "inverse": model.inverse_dynamics(q, qd, qdd),
        "mass": model.mass_matrix(q),
        "tip": model.tip(q),
    }
    # Solving with the mass matrix multiplies the rounding of its entries by its condition number
    condition = np.linalg.cond(model.mass_matrix(q))
    tables["rounding"] = np.maximum(1.0, condition / ORDINARY_CONDITION)
    listed = []
    for word, value in tables.items():
        rows = np.asarray(value).reshape(TEST_VECTORS, -1)
        numbers = c_array(rows)
        listed.append(f"static const double expected_{word}[{rows.size}] = {{\n    {numbers}}};")
    n = model.size
    joints = model.joints
    sizes = {"forward": n, "inverse": n, "mass": n * n, "tip": 3}
    arguments = {
        "forward": f"forward_dynamics(q, qd, expected_tau + k * {max(joints, 0)}, found)",
        "inverse": f"inverse_dynamics(q, qd, expected_qdd + k * {n}, found)",
        "mass": "mass_matrix(q, found)",
        "tip": "tip(q, found)",
    }
    calls = []
    for word, call in arguments.items():
        size = sizes[word]
        calls.append(f"        {name}_{call};")
        compared = f"difference(found, expected_{word} + k * {size}, {size})"
        if word == "forward":
            compared += " / expected_rounding[k]"
        calls.append(f"        worst = worse(worst, {compared});")
    numbers = "\n".join(listed)
    body = "\n".join(calls)
    head = c_comment(["Numbers of the Model beside those of the C. Returns 0 where they agree."])
    return f"""{head}#include <math.h>
#include <stdio.h>

#include "{name}.h"

{numbers}

/* The larger of two errors; one that is not a number stays. */
static double worse(double a, double b)
{{
    return (a > b || a != a) ? a : b;
}}

/* Largest difference of two arrays over the largest entry expected. */
static double difference(const double *found, const double *expected, int size)
{{
    double largest = 0.0, scale = 1e-300;
    int i;
    for (i = 0; i < size; i++) {{
        largest = worse(fabs(found[i] - expected[i]), largest);
        if (fabs(expected[i]) > scale) scale = fabs(expected[i]);
    }}
    return largest / scale;
}}

int main(void)
{{
    static double found[{n * n}];
    double worst = 0.0;
    int k;
    for (k = 0; k < {TEST_VECTORS}; k++) {{
        const double *q = expected_q + k * {n};
        const double *qd = expected_qd + k * {n};
{body}
    }}
    printf("largest relative difference: %.3g\\n", worst);
    return worst < 1e-9 ? 0 : 1;
}}
"""


def _cmake(name: str, units: list[str]) -> str:
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
add_library({name} STATIC {" ".join(units)})
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({name} PUBLIC m)
endif()
enable_testing()
add_executable({name}_test {name}_test.c)
target_link_libraries({name}_test {name})
add_test(NAME {name}_test COMMAND {name}_test)
"""


def _makefile(name: str, units: list[str]) -> str:
    listed = " ".join(units)
    return f"""CC ?= cc
CFLAGS ?= -std=c99 -O2 -Wall -Wextra -Wpedantic

test: {name}_test
\t./{name}_test

{name}_test: {name}_test.c {listed} {name}.h
\t$(CC) $(CFLAGS) {name}_test.c {listed} -o $@ -lm

clean:
\trm -f {name}_test

.PHONY: test clean
"""
