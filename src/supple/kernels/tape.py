"""Tape: a function recorded from scalars, and run by the compiled kernel.

Laws that are written for any scalars are called once with the nodes of a tape, which write down
every operation. Operations that are equal are written once; a product that is only added to
something joins that sum, and such sums become one operation. Then they are put in an order with
long runs of the same kind, since asking what to do next costs more than doing it. The text of the
equations stays the only one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from . import _tape

__all__ = [
    "SERIES_TERMS",
    "Node",
    "Recorder",
    "Tape",
    "known_table",
    "record_function",
    "table_known_by",
    "tape_of_function",
]

Array = NDArray[np.float64]
ADD, SUB, MUL, DIV, MULADD, MULSUB, SUBMUL, NEG, SIN, COS, TANH = range(11)  # as in _tape.c
ABS, SQRT, LESS, NOT, WHERE, UPTO, ATAN2, ASIN, LARGER, SMALLER, EXP, LOOKUP, DOT2 = range(11, 24)
SERIES_TERMS = 24  # of the series on a piece of a table
MAX_FUSED_PRODUCTS = 6  # products in one sum: DOT2, DOT3, .. up to this
_TABLES: WeakValueDictionary[float, Any] = WeakValueDictionary()  # by the number of their content
COMMUTE = frozenset({ADD, MUL})
WORDS = {  # of CasADi
    "ADD": ADD,
    "SUB": SUB,
    "MUL": MUL,
    "DIV": DIV,
    "NEG": NEG,
    "SIN": SIN,
    "COS": COS,
    "TANH": TANH,
    "FABS": ABS,
    "SQRT": SQRT,
    "LT": LESS,
    "NOT": NOT,
    "IF_ELSE_ZERO": WHERE,
    "LE": UPTO,
    "ATAN2": ATAN2,
    "ASIN": ASIN,
    "FMAX": LARGER,
    "FMIN": SMALLER,
    "EXP": EXP,
}


class Node:
    """One value on a tape: an input, a constant or a result."""

    __slots__ = ("at", "on")
    __array_ufunc__ = None  # numpy's scalars leave the operation to the node

    def __init__(self, on: Recorder, at: int) -> None:
        self.on = on
        self.at = at

    def __add__(self, other: Any) -> Node:
        return self.on.write(ADD, self, other)

    def __radd__(self, other: Any) -> Node:
        return self.on.write(ADD, other, self)

    def __sub__(self, other: Any) -> Node:
        return self.on.write(SUB, self, other)

    def __rsub__(self, other: Any) -> Node:
        return self.on.write(SUB, other, self)

    def __mul__(self, other: Any) -> Node:
        return self.on.write(MUL, self, other)

    def __rmul__(self, other: Any) -> Node:
        return self.on.write(MUL, other, self)

    def __truediv__(self, other: Any) -> Node:
        return self.on.write(DIV, self, other)

    def __rtruediv__(self, other: Any) -> Node:
        return self.on.write(DIV, other, self)

    def __neg__(self) -> Node:
        return self.on.write(NEG, self)

    def sin(self) -> Node:
        """Return its sine."""
        return self.on.write(SIN, self)

    def cos(self) -> Node:
        """Return its cosine."""
        return self.on.write(COS, self)

    def tanh(self) -> Node:
        """Return its hyperbolic tangent."""
        return self.on.write(TANH, self)

    def sqrt(self) -> Node:
        """Return its square root."""
        return self.on.write(SQRT, self)

    def clip(self, low: float, high: float) -> Node:
        """Return it where it is between these, else the nearer of them."""
        return self.on.write(SMALLER, self.on.write(LARGER, self, low), high)

    def looked_up(self, table: Array) -> list[Node]:
        """Return rows of a table (pieces, rows, TERMS) here: Chebyshev series on pieces of width 1.

        Pieces begin at 0; what is beyond the ends is at them.
        """
        (pieces, rows, _), on = table.shape, self.on
        if id(table) not in on.tables:
            on.tables[id(table)] = table, sum(one.size for one, _ in on.tables.values())
        begin = on.tables[id(table)][1]
        own = (float(rows * SERIES_TERMS), float(pieces))
        return [on.write(LOOKUP, self, float(begin + k * SERIES_TERMS), *own) for k in range(rows)]


class Recorder:
    """Writes operations down; `inputs` are its first nodes."""

    def __init__(self, inputs: int) -> None:
        self.inputs = [Node(self, i) for i in range(inputs)]
        self._known: dict[tuple[int, ...] | float, int] = {}
        self.lines: list[tuple[int, ...] | float] = [0.0] * inputs  # of each place
        self._derivatives: dict[tuple[int, int], tuple[Array, Array]] = {}
        self.tables: dict[int, tuple[Array, int]] = {}  # and where each begins among the others

    def derivative(self, table: Array, order: int) -> Array:
        """Return the table of a table's derivative by the place."""
        key = id(table), order
        if key not in self._derivatives:
            found = np.zeros_like(table)
            found[..., : SERIES_TERMS - order] = chebyshev.chebder(table, order, scl=2.0, axis=-1)
            self._derivatives[key] = table, found
        return self._derivatives[key][1]

    def write(self, kind: int, *given: Any) -> Node:
        """Return the result of an operation, the one known already if there is one."""
        places = [x.at if type(x) is Node else self.place(float(x)) for x in given]
        if kind in COMMUTE and places[0] > places[1]:
            places.reverse()
        return Node(self, self.place((kind, *places)))

    def place(self, line: tuple[int, ...] | float) -> int:
        """Return where an operation, its kind and the places it reads, or a constant stands."""
        found = self._known.get(line)
        if found is None:
            found = self._known[line] = len(self.lines)
            self.lines.append(line)
        return found

    def tape(self, outputs: Sequence[Any]) -> Tape:
        """Return the program that works out these outputs, nodes or numbers."""
        ends = [x.at if type(x) is Node else self.place(float(x)) for x in outputs]
        # The operations that the ends need, joined and ordered, as a program of the kernel
        count = len(self.inputs)
        work, constants = _fuse_operations(count, self.lines, ends)
        place = {i: i for i in range(count)}
        place.update({i: count + k for k, i in enumerate(constants)})
        runs = []
        operands = []
        first = count + len(constants)
        for kind, members in _order_operations(work):
            for i in members:
                place[i] = first
                first += 1
                operands += [place[j] for j in work[i][1:]]
            runs += [kind, len(members)]
        tables = [one.ravel() for one, _ in self.tables.values()]
        program = _tape.program(
            count,
            np.array([self.lines[i] for i in constants], float),
            np.array(runs, np.int32),
            np.array(operands, np.int32),
            np.array([place[i] for i in ends], np.int32),
            tables[0] if len(tables) == 1 else np.concatenate([np.zeros(0), *tables]),
        )
        return Tape(count, len(ends), len(work), program)


class Tape:
    """A recorded function: arrays (.., inputs) to arrays (.., outputs).

    Attributes
    ----------
    size
        Operations.
    inputs, outputs
        How many of each.
    program
        That of the kernel.
    """

    def __init__(self, inputs: int, outputs: int, size: int, program: Any) -> None:
        self.inputs = inputs
        self.outputs = outputs
        self.size = size
        self.program = program

    def __call__(self, x: Array) -> Array:
        """Return the outputs at inputs (.., inputs)."""
        given = np.ascontiguousarray(x, float)
        out = np.empty((*given.shape[:-1], self.outputs))
        _tape.evaluate(self.program, given, out)
        return out

    def bind(self) -> tuple[Array, Array, Callable[[], None]]:
        """Return an array to fill, one to read and the call between them."""
        x = np.zeros(self.inputs)
        out = np.zeros(self.outputs)
        return x, out, partial(_tape.evaluate, self.program, x, out)

    def rk4(self, x: Array, p: Array) -> Array:
        """Return the states (steps, n) of x' = f(x, u), steps of the classical Runge-Kutta method.

        p is (steps, 3 width + 1): u(t), u(t + h/2), u(t + h) and h of each step.
        """
        out = np.empty((len(p), len(x)))
        _tape.rk4(self.program, np.ascontiguousarray(x, float), np.ascontiguousarray(p, float), out)
        return out


def known_table(table: Array, number: float | None = None) -> float:
    """Return the number by which `played` knows a table (pieces, rows, TERMS) from now on.

    A function of CasADi that takes a place and this number, and stays a call, is looked up there.
    """
    if number is None:
        number = float(int.from_bytes(blake2b(table.tobytes(), digest_size=6).digest(), "big"))
    _TABLES[number] = table
    return number


def table_known_by(number: float) -> Any:
    """Return the table (pieces, rows, TERMS) of a number that `known_table` gave, or None."""
    return _TABLES.get(number)


def tape_of_function(function: Any) -> Tape | None:
    """Return a CasADi function of scalars as a tape, or None where it needs what tapes do not know.

    Inputs stand in a row, one after another, and so do the outputs, all of them dense columns.
    """
    tape = Recorder(sum(function.numel_in(i) for i in range(function.n_in())))
    outputs = record_function(function, tape.inputs)
    return None if outputs is None else tape.tape(outputs)


def record_function(function: Any, x: Sequence[Any]) -> list[Any] | None:
    """Return the outputs of a CasADi function at scalars x, nodes of a tape, all in a row."""
    import casadi as ca

    if not function.is_a("SXFunction"):
        return None
    kinds = {getattr(ca, f"OP_{word}"): kind for word, kind in WORDS.items()}
    short = {ca.OP_SQ: (MUL, None), ca.OP_TWICE: (ADD, None), ca.OP_INV: (DIV, 1.0)}
    tape = next(node.on for node in x if isinstance(node, Node))
    given = [one.at if isinstance(one, Node) else tape.place(float(one)) for one in x]
    begins = np.cumsum([0, *[function.numel_in(i) for i in range(function.n_in())]]).tolist()
    ends = np.cumsum([0, *[function.numel_out(i) for i in range(function.n_out())]]).tolist()
    value_at = [0] * (function.sz_w() + 1)
    outputs: list[Any] = [0.0] * ends[-1]
    place, ask, reads, makes = (
        tape.place,
        *(getattr(function, f"instruction_{word}") for word in ("id", "input", "output")),
    )
    for k in range(function.n_instructions()):
        kind = ask(k)
        target = makes(k)[0]
        if kind == ca.OP_CONST:
            value_at[target] = place(function.instruction_constant(k))
            continue
        used = reads(k)
        if kind == ca.OP_CALL:
            rows = _table_call(tape, [Node(tape, value_at[one]) for one in used])
            if rows is None:
                return None
            for own, row in zip(makes(k), rows, strict=True):
                value_at[own] = row.at
        elif kind == ca.OP_INPUT:
            value_at[target] = given[begins[used[0]] + used[1]]
        elif kind == ca.OP_OUTPUT:
            outputs[ends[target] + makes(k)[1]] = Node(tape, value_at[used[0]])
        elif kind in short:
            own, first = short[kind]
            a = value_at[used[0]]
            value_at[target] = place((own, a if first is None else place(first), a))
        elif kind in kinds:
            own = kinds[kind]
            a = value_at[used[0]]
            b = value_at[used[-1]]
            commutes = a > b and own in COMMUTE
            value_at[target] = place(
                (own, a) if len(used) == 1 else (own, b, a) if commutes else (own, a, b)
            )
        else:
            return None
    return outputs


def _table_call(tape: Recorder, given: list[Node]) -> list[Node] | None:
    """Rows of a known table, or of what CasADi makes of it by differentiating it forwards.

    T(x) is called with (x, number); its derivative T'(x) dx with (x, number, dx, 0); and that of
    this one, T''(x) dx sx + T'(x) sdx, with (x, number, dx, 0, sx, 0, sdx, 0). None: another call.
    """
    number = tape.lines[given[1].at] if len(given) > 1 else None
    table = _TABLES.get(number) if isinstance(number, float) else None
    if table is None or len(given) not in (2, 4, 8):
        return None
    place = given[0]
    if len(given) == 2:
        return place.looked_up(table)
    slopes = place.looked_up(tape.derivative(table, 1))
    if len(given) == 4:
        return [row * given[2] for row in slopes]
    bends = place.looked_up(tape.derivative(table, 2))
    both = given[2] * given[4]
    return [bend * both + row * given[6] for bend, row in zip(bends, slopes, strict=True)]


def _fuse_operations(
    inputs: int, lines: list[Any], ends: list[int]
) -> tuple[dict[int, tuple[int, ...]], list[int]]:
    """Operations that are needed, by place, products joined to sums; and constants needed."""
    uses = [0] * len(lines)
    for i in ends:
        uses[i] += 2  # an output is kept as it is
    for i in range(len(lines) - 1, inputs - 1, -1):
        if uses[i] and type(lines[i]) is tuple:
            for j in lines[i][1:]:
                uses[j] += 1
    work: dict[int, tuple[int, ...]] = {}
    gone: set[int] = set()

    def product(j: int) -> tuple[int, ...] | None:
        line = lines[j]
        return line if uses[j] == 1 and type(line) is tuple and line[0] == MUL else None

    for i in range(len(lines) - 1, inputs - 1, -1):
        line = lines[i]
        if not uses[i] or i in gone or type(line) is not tuple:
            continue
        work[i] = line
        if line[0] in (ADD, SUB):
            a, b = line[1:]
            if (own := product(b)) is not None and b != a:
                work[i] = (MULADD if line[0] == ADD else SUBMUL, *own[1:], a)
                gone.add(b)
            elif (own := product(a)) is not None and b != a:
                work[i] = (MULADD if line[0] == ADD else MULSUB, *own[1:], b)
                gone.add(a)
    for i in sorted(work):  # a b + (c d + ..), where nothing else asks for what is in brackets
        line = work[i]
        inner = work.get(line[3], (ADD,)) if line[0] == MULADD and uses[line[3]] == 1 else (ADD,)
        if inner[0] == MUL or DOT2 <= inner[0] < DOT2 + MAX_FUSED_PRODUCTS - 2:
            work[i] = (DOT2 if inner[0] == MUL else inner[0] + 1, *inner[1:], *line[1:3])
            del work[line[3]]
    used = {j for line in work.values() for j in line[1:]} | set(ends)
    return work, [j for j in sorted(used) if j >= inputs and type(lines[j]) is float]


def _order_operations(work: dict[int, tuple[int, ...]]) -> list[tuple[int, list[int]]]:
    """Runs of equal operations: of what can be done next, always the kind that most wait for."""
    waits = dict.fromkeys(work, 0)
    next_: dict[int, list[int]] = {i: [] for i in work}
    for i, line in work.items():
        for j in line[1:]:
            if j in work:
                waits[i] += 1
                next_[j].append(i)
    ready: dict[int, list[int]] = {}
    for i in sorted(work):
        if not waits[i]:
            ready.setdefault(work[i][0], []).append(i)
    out = []
    while ready:
        kind = max(ready, key=lambda k: (len(ready[k]), -k))
        members = ready.pop(kind)
        out.append((kind, members))
        for i in members:
            for j in next_[i]:
                waits[j] -= 1
                if not waits[j]:
                    ready.setdefault(work[j][0], []).append(j)
    return out
