"""Listing: a function of scalars as a list of formulas, one step after another.

Equations of many coordinates are too long to be written out, but not to be written down: shared
parts get a name of their own, and what remains grows with the work of one evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..kernels.tape import table_known_by

__all__ = ["Listing", "listing_of"]

Array = NDArray[np.float64]
MOST_STEPS = 2_000_000
LONGEST = 60  # characters up to which a part that is used once stands inside another

# What an operation of CasADi is called here, and how many values it takes
OPERATIONS = {
    "ADD": "+",
    "SUB": "-",
    "MUL": "*",
    "DIV": "/",
    "NEG": "neg",
    "SQ": "square",
    "TWICE": "twice",
    "INV": "inverse",
    "SIN": "sin",
    "COS": "cos",
    "TAN": "tan",
    "TANH": "tanh",
    "SINH": "sinh",
    "COSH": "cosh",
    "ASIN": "asin",
    "ATAN": "atan",
    "ATAN2": "atan2",
    "EXP": "exp",
    "LOG": "log",
    "SQRT": "sqrt",
    "FABS": "abs",
    "POW": "power",
    "CONSTPOW": "power",
    "FMIN": "min",
    "FMAX": "max",
    "LT": "less",
    "LE": "at most",
    "EQ": "equal",
    "NOT": "not",
    "IF_ELSE_ZERO": "where",
}
C_NAMES = {"min": "fmin", "max": "fmax", "abs": "fabs", "power": "pow"}
PYTHON_NAMES = {"min": "min", "max": "max", "abs": "abs"}
LATEX_NAMES = {"abs": r"\left|{}\right|", "sqrt": r"\sqrt{{{}}}", "min": r"\min", "max": r"\max"}


C_LOOKUP = """\
static double look_up(const double *table, int pieces, int rows, int terms, int row, double x) {
    int piece = (int)floor(x);
    if (piece < 0) piece = 0;
    if (piece > pieces - 1) piece = pieces - 1;
    const double s = 2.0 * (x - piece) - 1.0;
    const double *series = table + ((long)piece * rows + row) * terms;
    double next = 0.0, after = 0.0;
    for (int n = terms - 1; n > 0; n--) {
        const double own = 2.0 * s * next - after + series[n];
        after = next;
        next = own;
    }
    return s * next - after + series[0];
}"""
PYTHON_LOOKUP = """
def look_up(table, row, x):
    piece = min(max(int(floor(x)), 0), len(table) - 1)
    s = 2.0 * (x - piece) - 1.0
    return np.polynomial.chebyshev.chebval(s, table[piece][row])
"""


@dataclass(frozen=True)
class Step:
    """One value: its operation, and the places of the values that it takes."""

    operation: str
    taken: tuple[int, ...] = ()
    text: str = ""  # of an input, its name; of a lookup, the numbers of table and row
    value: float = 0.0  # of a constant


@dataclass(frozen=True)
class Listing:
    """Values computed one after another, and which of them are the outputs.

    Attributes
    ----------
    steps
        Each takes values before it.
    outputs
        By name, a place for each entry, row by row, None where an entry is zero; shapes: of the
        outputs.
    tables
        (pieces, rows, terms), Chebyshev series on pieces of length one, of what depends on a free
        length alone.
    """

    steps: tuple[Step, ...]
    outputs: dict[str, tuple[int | None, ...]]
    shapes: dict[str, tuple[int, ...]]
    tables: tuple[Array, ...] = ()

    @property
    def size(self) -> int:
        """Number of operations."""
        return sum(step.operation not in ("input", "constant") for step in self.steps)

    def c(self, name: str) -> str:
        """Return a C function: inputs, then one array for each output, row by row."""
        given = ", ".join(f"double *{output}" for output in self.outputs)
        lines = ["#include <math.h>", "", *self._c_tables()]
        lines.append(f"void {name}(const double *q, const double *qd, {given}) {{")
        lines.append("    (void)q;")
        lines.append("    (void)qd;")
        lines += [f"    const double {left} = {right};" for left, right in self._lines("c")]
        for output, places in self._texts("c"):
            lines += [f"    {output}[{k}] = {text};" for k, text in enumerate(places)]
        return "\n".join([*lines, "}", ""])

    def python(self, name: str) -> str:
        """Return a Python function of q and qd with NumPy arrays as its outputs."""
        lines = ["from math import *", "", "import numpy as np", ""]
        if self.tables:
            lines += [f"tables = {[table.tolist() for table in self.tables]!r}", "", PYTHON_LOOKUP]
        lines.append("")
        lines.append(f"def {name}(q, qd):")
        lines += [f"    {left} = {right}" for left, right in self._lines("python")]
        for output, places in self._texts("python"):
            shape = self.shapes[output]
            lines.append(f"    {output} = np.array([{', '.join(places)}]).reshape{shape}")
        lines.append(f"    return {', '.join(self.outputs)}")
        return "\n".join([*lines, ""])

    def _c_tables(self) -> list[str]:
        """Tables as arrays, and the function that reads them."""
        if not self.tables:
            return []
        lines = []
        for k, table in enumerate(self.tables):
            values = ", ".join(repr(float(x)) for x in table.ravel())
            lines.append(f"static const double table{k}[{table.size}] = {{{values}}};")
        return [*lines, "", C_LOOKUP, ""]

    def latex(self) -> str:
        """Return one aligned LaTeX block: the steps, then the outputs that are not zero."""
        rows = [f"{left} &= {right}" for left, right in self._lines("latex")]
        for output, places in self._texts("latex"):
            width = self.shapes[output][-1] if len(self.shapes[output]) > 1 else 1
            for k, text in enumerate(places):
                row, column = divmod(k, width)
                place = f"{row + 1}" if width == 1 else f"{row + 1},{column + 1}"
                if text != "0":
                    rows.append(f"{output}_{{{place}}} &= {text}")
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _written(self, language: str) -> tuple[list[tuple[str, str]], list[str]]:
        """Lines (name, formula), and the text of every value where it is used."""
        uses = [0] * len(self.steps)
        for step in self.steps:
            for place in step.taken:
                uses[place] += 1
        for entries in self.outputs.values():
            for entry in entries:
                if entry is not None:
                    uses[entry] += 1
        lines: list[tuple[str, str]] = []
        texts: list[str] = []
        for k, step in enumerate(self.steps):
            taken = [texts[place] for place in step.taken]
            if step.operation == "lookup":
                text = self._lookup(step, taken[0], language)
            else:
                text = _formula(step, taken, language)
            inside = step.operation in ("input", "constant")
            if not inside and uses[k] and (uses[k] > 1 or len(text) > LONGEST):
                name = f"t_{{{len(lines) + 1}}}" if language == "latex" else f"t{len(lines) + 1}"
                lines.append((name, text))
                text = name
            texts.append(text)
        return lines, texts

    def _lookup(self, step: Step, place: str, language: str) -> str:
        """One row of a table at a place."""
        which, row = (int(part) for part in step.text.split())
        if language == "latex":
            return rf"\operatorname{{table}}_{{{which + 1},{row + 1}}}\left({place}\right)"
        if language == "python":
            return f"look_up(tables[{which}], {row}, {place})"
        pieces, rows, terms = self.tables[which].shape
        return f"look_up(table{which}, {pieces}, {rows}, {terms}, {row}, {place})"

    def _lines(self, language: str) -> list[tuple[str, str]]:
        return self._written(language)[0]

    def _texts(self, language: str) -> list[tuple[str, list[str]]]:
        texts = self._written(language)[1]
        found = []
        for output, places in self.outputs.items():
            found.append((output, ["0" if place is None else texts[place] for place in places]))
        return found


def _formula(step: Step, taken: Sequence[str], language: str) -> str:
    """One step in a language, its values in place; sums and products of two in brackets."""
    kind = step.operation
    latex = language == "latex"
    if kind == "input":
        word, place = step.text.split()
        return f"{_symbol(word)}_{{{int(place) + 1}}}" if latex else f"{word}[{place}]"
    if kind == "constant":
        return _constant(step.value, latex)
    a = taken[0]
    b = taken[-1]
    if kind in ("+", "-"):
        return rf"\left({a} {kind} {b}\right)" if latex else f"({a} {kind} {b})"
    if kind == "*":
        return rf"{a} \, {b}" if latex else f"({a} * {b})"
    if kind == "/":
        return rf"\frac{{{a}}}{{{b}}}" if latex else f"({a} / {b})"
    if kind == "neg":
        return rf"\left(-{a}\right)" if latex else f"(-{a})"
    if kind == "square":
        return rf"\left({a}\right)^2" if latex else f"({a} * {a})"
    if kind == "twice":
        return rf"2 \, {a}" if latex else f"(2.0 * {a})"
    if kind == "inverse":
        return rf"\frac{{1}}{{{a}}}" if latex else f"(1.0 / {a})"
    if kind in ("less", "at most", "equal"):
        sign = {"less": "<", "at most": "<=", "equal": "=="}[kind]
        return rf"\left[{a} {sign} {b}\right]" if latex else f"({a} {sign} {b})"
    if kind == "not":
        return rf"\left[\mathrm{{not}}\ {a}\right]" if latex else f"(1 - ({a}))"
    if kind == "where":
        if latex:
            return rf"\left[{a}\right] {b}"
        return f"(({a}) ? {b} : 0.0)" if language == "c" else f"({b} if {a} else 0.0)"
    if kind == "power" and language != "c":
        return rf"\left({a}\right)^{{{b}}}" if latex else f"({a} ** {b})"
    every = ", ".join(taken)
    if not latex:
        names = C_NAMES if language == "c" else PYTHON_NAMES
        return f"{names.get(kind, kind)}({every})"
    word = LATEX_NAMES.get(kind, rf"\operatorname{{{kind}}}")
    return word.format(every) if "{}" in word else rf"{word}\left({every}\right)"


def _symbol(word: str) -> str:
    return r"\dot q" if word == "qd" else word


def _constant(value: float, latex: bool) -> str:
    """A number with all its digits; in LaTeX as a reader takes it in."""
    if not latex:
        text = repr(float(value))
        return f"({text})" if value < 0 else text
    text = f"{value:.6g}"
    if "e" in text:
        digits, power = text.split("e")
        text = rf"{digits} \cdot 10^{{{int(power)}}}"
    return f"({text})" if value < 0 else text


def listing_of(function: Any, shapes: dict[str, tuple[int, ...]]) -> Listing:
    """Return a CasADi function of scalars as a Listing; inputs are q and qd, outputs dense."""
    import casadi as ca

    if function.n_instructions() > MOST_STEPS:
        raise SuppleError(
            f"these equations take {function.n_instructions():,} operations: give fewer modes or "
            "elements, or use the functions of the model"
        )
    known = {getattr(ca, f"OP_{word}"): name for word, name in OPERATIONS.items()}
    steps: list[Step] = []
    value_at: dict[int, int] = {}  # which value each place of the work vector holds
    outputs: dict[str, list[int | None]] = {}
    names = list(shapes)
    for k, name in enumerate(names):
        outputs[name] = [None] * function.numel_out(k)

    constants: dict[float, int] = {}
    tables: list[Array] = []
    for k in range(function.n_instructions()):
        kind = function.instruction_id(k)
        output_place = function.instruction_output(k)
        used = function.instruction_input(k)
        if kind == ca.OP_OUTPUT:
            # CasADi stores columns; rows are written
            name = names[output_place[0]]
            rows = shapes[name][0]
            width = shapes[name][-1] if len(shapes[name]) > 1 else 1
            column, row = divmod(output_place[1], rows)
            outputs[name][row * width + column] = value_at[used[0]]
            continue
        if kind == ca.OP_CONST:
            value = float(function.instruction_constant(k))
            if value not in constants:
                constants[value] = len(steps)
                steps.append(Step("constant", value=value))
            value_at[output_place[0]] = constants[value]
            continue
        if kind == ca.OP_CALL:
            table = table_known_by(steps[value_at[used[1]]].value) if len(used) == 2 else None
            if table is None:
                raise SuppleError("these equations call functions that cannot be written down")
            which = next((n for n, other in enumerate(tables) if other is table), len(tables))
            if which == len(tables):
                tables.append(table)
            at = value_at[used[0]]  # before its place is used again
            for row, place in enumerate(output_place):
                value_at[place] = len(steps)
                steps.append(Step("lookup", (at,), f"{which} {row}"))
            continue
        if kind == ca.OP_INPUT:
            step = Step("input", text=f"{function.name_in(used[0])} {used[1]}")
        elif kind in known:
            step = Step(known[kind], tuple(value_at[place] for place in used))
        else:
            raise SuppleError("these equations hold an operation that cannot be written down")
        value_at[output_place[0]] = len(steps)
        steps.append(step)
    zero = constants.get(0.0)
    for name, places in outputs.items():
        outputs[name] = [None if place == zero else place for place in places]
    found = {name: tuple(places) for name, places in outputs.items()}
    return Listing(tuple(steps), found, shapes, tuple(tables))
