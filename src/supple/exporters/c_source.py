"""CasADi functions as plain C99 functions of arrays.

CasADi's code generator writes the arithmetic. What it wraps around that (symbols of a shared
library, memory management, pointers to pointers) is taken away, and one plain function of arrays is
put in front of each: no allocation, no globals, no names but its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .names import comment_text

__all__ = ["CFunction", "CSource", "c_array", "c_comment", "c_source", "c_tables", "row_by_row"]


@dataclass(frozen=True)
class CFunction:
    """One function of the generated source.

    Attributes
    ----------
    name : str
        Its name after the prefix: `forward_dynamics`.
    function : casadi.Function
        Its arithmetic; matrices leave it column by column, see `row_by_row`.
    inputs, outputs : tuple of str
        Names of the arguments in C.
    about : str
        What it computes, one or several lines for the header.
    """

    name: str
    function: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class CSource:
    """Generated C: static arithmetic, then plain functions; their declarations; stack in bytes."""

    text: str
    declarations: tuple[str, ...]
    stack: int


def row_by_row(function: Any, name: str = "rows") -> Any:
    """Return a CasADi function whose matrices are laid out row by row when written as C."""
    import casadi as ca

    given = [ca.MX.sym(f"x{k}", function.sparsity_in(k)) for k in range(function.n_in())]
    found = [ca.densify(out).T for out in function.call(given)]
    return ca.Function(name, given, found)


def c_source(prefix: str, functions: Sequence[CFunction]) -> CSource:
    """Return functions as C99 text, each under `PREFIX_name`."""
    import casadi as ca

    generator = ca.CodeGenerator(
        "generated.c", {"with_mem": False, "casadi_int": "int", "with_header": False}
    )
    entries = []
    for k, each in enumerate(functions):
        given = []
        for i in range(each.function.n_in()):
            given.append(ca.MX.sym(f"x{i}", each.function.sparsity_in(i)))
        found = each.function.call(given)
        dense = [ca.densify(out) for out in found[: len(each.outputs)]]
        entry = ca.Function(f"entry{k}", given, dense)
        entries.append(entry)
        generator.add(entry)
    arithmetic, called = _plain_arithmetic(generator.dump())

    stack = 0
    bodies: list[str] = []
    declarations: list[str] = []
    for k, (each, entry) in enumerate(zip(functions, entries, strict=True)):
        arguments = [f"const double *{word}" for word in each.inputs]
        arguments += [f"double *{word}" for word in each.outputs]
        declaration = f"void {prefix}_{each.name}({', '.join(arguments)})"
        declarations.append(declaration)
        sizes = {
            "arg": max(entry.sz_arg(), 1),
            "res": max(entry.sz_res(), 1),
            "iw": max(entry.sz_iw(), 1),
            "w": max(entry.sz_w(), 1),
        }
        stack = max(stack, 8 * (sizes["arg"] + sizes["res"] + sizes["w"]) + 4 * sizes["iw"])
        lines = [declaration, "{"]
        lines.append(f"    const double *arg[{sizes['arg']}] = {{0}};")
        lines.append(f"    double *res[{sizes['res']}] = {{0}};")
        lines.append(f"    int integers[{sizes['iw']}] = {{0}};")
        lines.append(f"    double numbers[{sizes['w']}] = {{0}};")
        for i, word in enumerate(each.inputs):
            lines.append(f"    arg[{i}] = {word};")
        for i, word in enumerate(each.outputs):
            lines.append(f"    res[{i}] = {word};")
        lines.append(f"    (void){called[f'entry{k}']}(arg, res, integers, numbers, 0);")
        lines.append("}")
        bodies.append("\n".join(lines))
    return CSource(arithmetic + "\n" + "\n\n".join(bodies) + "\n", tuple(declarations), stack)


def _plain_arithmetic(text: str) -> tuple[str, dict[str, str]]:
    """Return the static functions of generated text, and which one each entry calls."""
    # Everything before the first helper: prefixes, types and visibility
    head = text.index("/* Symbol visibility in DLLs */")
    start = text.index("#endif\n\n", text.index("#define CASADI_SYMBOL_EXPORT\n  #endif", head))
    body = text[start + len("#endif\n\n") :]
    body = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", body, flags=re.DOTALL)

    kept_lines: list[str] = []
    called: dict[str, str] = {}
    lines = iter(body.splitlines())
    for line in lines:
        if line.startswith("CASADI_SYMBOL_EXPORT"):
            # A function of the library's interface: remember whom an entry calls, drop the rest
            entry = re.match(r"CASADI_SYMBOL_EXPORT int (entry\d+)\(", line)
            while not line.rstrip().endswith("}") or line.startswith("  "):
                line = next(lines)  # noqa: PLW2901 - the block is walked to its end
                found = re.search(r"return (casadi_f\d+)\(", line)
                if entry is not None and found is not None:
                    called[entry[1]] = found[1]
            continue
        if re.match(r"/\* entry\d+:", line):
            continue
        if re.match(r"(void|int|(const )?casadi_(real|int)\*?) casadi_\w+\(", line):
            line = f"static {line}"  # noqa: PLW2901 - helpers belong to this file alone
        opening = re.match(r"static int casadi_f\d+\(.*\) \{$", line)
        kept_lines.append(line)
        if opening is not None:
            kept_lines.append("  (void)arg; (void)res; (void)iw; (void)w; (void)mem;")
    plain = "\n".join(kept_lines)
    plain = re.sub(r"\bCASADI_PREFIX\((\w+)\)", r"casadi_\1", plain)
    # a map over nothing copies nothing, from a null pointer with an offset
    plain = re.sub(r"casadi_copy\(0, 0, 0\+ i\*0\);", "", plain)
    plain = re.sub(r"\bcasadi_real\b", "double", plain)
    plain = re.sub(r"\bcasadi_int\b", "int", plain)
    return _without_unused(plain, set(called.values())), called


def _without_unused(text: str, used: set[str]) -> str:
    """Return generated text without the helpers and tables that nothing in it uses.

    Definitions stand before their uses, so that one pass from the end finds what is needed.
    """
    blocks = re.split(r"\n(?=static |#ifndef |#define )", text)
    needed = set(used)
    lines: list[str] = []
    for block in reversed(blocks):
        name = re.match(r"static [^=(]*?(casadi_\w+)[\[(]", block)
        if name is not None and name[1] not in needed:
            continue
        needed |= set(re.findall(r"\bcasadi_\w+", block))
        lines.append(block.rstrip())
    return "\n\n".join(reversed(lines)) + "\n"


def c_array(values: Any, indent: str = "    ") -> str:
    """Return numbers as the inside of a C initialiser, with every digit, some to a line."""
    import numpy as np

    flat = [repr(float(x)) for x in np.asarray(values, float).ravel()] or ["0.0"]
    rows = [", ".join(flat[i : i + 4]) for i in range(0, len(flat), 4)]
    return f",\n{indent}".join(rows)


def c_comment(lines: Sequence[str]) -> str:
    """Return lines as one C comment; none of them can end it."""
    body = "\n".join(f" * {comment_text(line)}".rstrip() for line in lines)
    return f"/*\n{body}\n */\n"


def c_tables(values: dict[str, Any]) -> str:
    """Return constant tables for the inside of a function."""
    import numpy as np

    lines = []
    for word, value in values.items():
        size = max(np.size(value), 1)
        inside = c_array(value, "        ")
        lines.append(f"    static const double {word}[{size}] = {{\n        {inside}}};")
    return "\n".join(lines)
