"""Evaluator: a CasADi function or a tape called with arrays, one state or many."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..kernels.tape import Recorder, Tape, record_function

__all__ = [
    "AnyEvaluator",
    "Evaluator",
    "TapeEvaluator",
    "casadi",
    "column",
    "compile_function",
    "evaluator_on_tape",
    "is_small",
    "slope",
    "view",
]

Array = NDArray[np.float64]
LARGE = 600_000  # nodes times directions from which expressions of several Jacobians are too large
LONG = 700_000  # the same of one Jacobian, from which it is made along single directions
MAX_TAPE_NODES = 400_000  # of an expression: recording larger ones takes longer than it saves


class Evaluator:
    """A CasADi function of column vectors as a function of arrays.

    Called with arrays (n,) it returns arrays of the outputs' own shapes; with (B, n) the outputs
    gain a leading axis. Memory is kept per thread, so that a call costs little more than its work.

    Attributes
    ----------
    function
        The CasADi function.
    matrices
        Outputs that are matrices even where they have one column; True: all of them. Any other
        output of one column is a vector.
    """

    def __init__(self, function: Any, matrices: bool | Sequence[int] = ()) -> None:
        self.function = function
        every = range(function.n_out())
        self.matrices = frozenset(every if matrices is True else matrices or ())
        self._shapes = [function.size_out(i) for i in range(function.n_out())]
        self._local = threading.local()
        self._lent: list[Any] = []

    def __reduce__(self) -> tuple[type[Evaluator], tuple[Any]]:
        """Say how it is made again: its memory belongs to this process alone."""
        return type(self), (self.function,)

    def __call__(self, *args: Array) -> tuple[Array, ...]:
        """Return the outputs at one state, or at B states."""
        batch = args[0].shape[0] if args[0].ndim > 1 else None
        # Arrays bound to the function (mapped over a batch), and the call that runs it
        kept = getattr(self._local, "kept", None)
        if kept is None:
            kept = self._local.kept = {}
        if batch not in kept:
            if len(kept) > 4:
                kept.pop(next(key for key in kept if key is not None))
            kept[batch] = _bind_buffers(self.function, batch)
        _, inputs, outputs, run = kept[batch]
        for held, given in zip(inputs, args, strict=True):
            held[...] = given
        run()
        # CasADi stores columns one after another; columns of a vector are its entries
        lead = () if batch is None else (batch,)
        found = []
        for i, (out, (rows, columns)) in enumerate(zip(outputs, self._shapes, strict=True)):
            vector = columns == 1 and i not in self.matrices
            shaped = out if vector else out.reshape(*lead, columns, rows).swapaxes(-1, -2)
            found.append(shaped.copy())
        return tuple(found)

    def buffers(self) -> tuple[list[Array], list[Array], Any]:
        """Return arrays to fill, arrays to read and the call between them: a loop's fast path.

        They live as long as this evaluator.
        """
        kept, inputs, outputs, run = _bind_buffers(self.function, None)
        self._lent.append((kept, inputs, outputs))
        return inputs, outputs, run

    def rows(self, batch: int) -> tuple[Array, Array, Any]:
        """Return rows to fill (batch, .), rows to read, and the call or program between them."""
        kept, inputs, outputs, run = _bind_buffers(self.function, batch)
        self._lent.append((kept, inputs, outputs))
        x = np.zeros((batch, sum(part.shape[1] for part in inputs)))
        out = np.zeros((batch, sum(part.shape[1] for part in outputs)))
        ends = np.cumsum([part.shape[1] for part in inputs])[:-1]

        def fill() -> None:
            for part, given in zip(inputs, np.split(x, ends, axis=1), strict=True):
                part[...] = given
            run()
            np.concatenate(outputs, axis=1, out=out)

        return x, out, fill


class TapeEvaluator:
    """A tape as a function of arrays, as an Evaluator is one.

    Its inputs of these `widths` stand in a row, its outputs of these `shapes` in another. With
    `unit` the tape is linear in its last `unit` inputs, and the one output is its matrix, made
    column by column; it is symmetric.
    """

    def __init__(
        self,
        tape: Tape,
        widths: Sequence[int],
        shapes: Sequence[tuple[int, ...]],
        unit: int = 0,
    ) -> None:
        self.tape, self._widths, self._shapes, self._unit = tape, widths, list(shapes), unit
        ends = np.cumsum([0, *[math.prod(shape) for shape in self._shapes]])
        self._ends, self._parts = ends[1:-1], [slice(*pair) for pair in pairwise(ends.tolist())]

    def __call__(self, *args: Array) -> tuple[Array, ...]:
        """Return the outputs at one state, or at B states."""
        lead = args[0].shape[:-1]
        if self._unit:
            each = []
            for q in args[0].reshape(-1, args[0].shape[-1]):
                columns = self.tape(np.hstack([np.tile(q, (self._unit, 1)), np.eye(self._unit)]))
                each.append((columns + columns.T) / 2)
            return (np.reshape(each, (*lead, self._unit, self._unit)),)
        x = np.empty((*lead, self.tape.inputs))
        at = 0
        for width, given in zip(self._widths, args, strict=True):
            x[..., at : at + width] = given
            at += width
        out = self.tape(x)
        return tuple(
            out[..., part].reshape(*lead, *shape)
            for part, shape in zip(self._parts, self._shapes, strict=True)
        )

    def buffers(self) -> tuple[list[Array], list[Array], Any]:
        """Return arrays to fill, arrays to read and the call between them: a loop's fast path."""
        x, out, run = self.tape.bind()
        ends = np.cumsum(self._widths)[:-1]
        return np.split(x, ends), np.split(out, self._ends), run

    def rows(self, batch: int) -> tuple[Array, Array, Any]:
        """Return rows to fill (batch, .), rows to read, and the call or program between them."""
        made = self.tape
        return np.zeros((batch, made.inputs)), np.zeros((batch, made.outputs)), made.program


AnyEvaluator = Evaluator | TapeEvaluator


def evaluator_on_tape(function: Any, matrices: Sequence[int] = ()) -> AnyEvaluator:
    """Return a CasADi function for many states as a tape, or as it is where a tape cannot hold it.

    A tape is 30 to 60 times as fast: what was several calls shares its work there, and states are
    worked out side by side. `matrices`: as of an Evaluator.
    """
    written = function if function.is_a("SXFunction") else _expand_if_small(function)
    if written is None or written.n_nodes() > MAX_TAPE_NODES:
        return Evaluator(function, matrices)
    widths = [function.numel_in(i) for i in range(function.n_in())]
    if not sum(widths):
        return Evaluator(function, matrices)  # constants: nothing to record
    recorder = Recorder(sum(widths))
    entries = record_function(written, recorder.inputs)
    if entries is None:
        return Evaluator(function, matrices)
    shapes: list[tuple[int, ...]] = []
    outputs: list[Any] = []
    first = 0
    for i in range(function.n_out()):
        rows, columns = function.size_out(i)
        vector = columns == 1 and i not in matrices
        shapes.append((rows,) if vector else (rows, columns))
        # CasADi stores columns one after another, arrays hold rows
        for row in range(rows):
            outputs += entries[first + row : first + rows * columns : rows]
        first += rows * columns
    return TapeEvaluator(recorder.tape(outputs), widths, shapes)


def _expand_if_small(function: Any) -> Any:
    """Return a function that calls others as one of scalars; None where it would be too large."""
    if _written_size(function) > MAX_TAPE_NODES:
        return None
    try:
        return function.expand()
    except RuntimeError:  # it holds a solver, or what else scalars cannot say
        return None


def _written_size(function: Any) -> int:
    """Return the nodes that a function and all it calls would have in scalars, at most."""
    if function.is_a("SXFunction"):
        return int(function.n_nodes())
    if not function.is_a("MXFunction"):  # a map of another one
        inner = function.info().get("f")
        return int(function.info()["n"]) * _written_size(inner) if inner is not None else 0
    import casadi as ca

    total = 0
    for k in range(function.n_instructions()):
        if function.instruction_id(k) == ca.OP_CALL:
            total += _written_size(function.instruction_MX(k).which_function())
    return total


def casadi() -> Any:
    """Return CasADi, loaded when it is first needed."""
    import casadi as ca

    return ca


def column(values: Sequence[Any]) -> Any:
    """Return scalars as one CasADi column."""
    return casadi().vertcat(*values)


def view(array: Any) -> memoryview:
    """Return the memory of a contiguous array for a CasADi buffer."""
    return memoryview(array.reshape(-1))


def _bind_buffers(function: Any, batch: int | None) -> tuple[Any, list[Array], list[Array], Any]:
    lead = () if batch is None else (batch,)
    inputs = [np.zeros((*lead, function.numel_in(i))) for i in range(function.n_in())]
    outputs = [np.zeros((*lead, function.numel_out(i))) for i in range(function.n_out())]
    mapped = function if batch is None else function.map(batch)
    buffer, run = mapped.buffer()
    for i, array in enumerate(inputs):
        buffer.set_arg(i, view(array))
    for i, array in enumerate(outputs):
        buffer.set_res(i, view(array))
    return (mapped, buffer), inputs, outputs, run


def is_small(function: Any) -> bool:
    """Return whether the expression of a function's Jacobian can be made in a second or two.

    It takes some ten operations for each node and direction of change in the worst case: 16
    spatial links (20,700 nodes, 176 directions) made 1.7 million nodes, in 20 s and 900 MB.
    """
    if not function.is_a("SXFunction"):
        return False
    directions = sum(function.numel_in(i) for i in range(function.n_in()))
    return bool(function.n_nodes() * directions < LARGE)


def slope(function: Any, k: int) -> Any:
    """Return the Jacobian of a function's first output by its input k, of the same inputs.

    A function that is large or holds a solver is differentiated along one direction after another,
    since the expression of its whole Jacobian would be far larger than itself. Of a limb of a few
    links it is two to three times as large, and runs in a twentieth of the time: 33,000 nodes by 20
    directions become 78,000 in 0.1 s. Looking for equal parts in it takes longer and finds few.
    """
    import casadi as ca

    small = function.is_a("SXFunction") and function.n_nodes() * function.numel_in(k) < LONG
    kind: Any = ca.SX if small else ca.MX
    x = [kind.sym(f"x{i}", function.numel_in(i)) for i in range(function.n_in())]
    if small:
        out = ca.jacobian(function.call(x)[0], x[k])
        return ca.Function("slope", x, [ca.densify(out)])
    n = function.numel_in(k)
    found = function.call(x)
    if not n:
        return ca.Function("slope", x, [ca.DM(function.numel_out(0), 0)])
    seeds = [ca.DM.eye(n) if i == k else ca.DM.zeros(part.numel(), n) for i, part in enumerate(x)]
    same = list(range(len(x) + len(found)))
    along = function.forward(1).map(f"{function.name()}_{k}", "serial", n, same, [])
    return ca.Function("slope", x, [ca.densify(along.call([*x, *found, *seeds])[0])])


def compile_function(function: Any, optimisation: str = "-O2") -> Any:
    """Return the same CasADi function as generated C, built with the system's C compiler."""
    import casadi as ca

    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        raise SuppleError("compiling needs a C compiler: install gcc, or leave compiled=True out")
    windows = os.name == "nt"
    # Windows keeps a library that is in use: the folder then stays, as temporary ones do there
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=windows) as folder:
        generator = ca.CodeGenerator("generated.c")
        generator.add(function)
        generator.generate(folder + "/")
        library = Path(folder) / ("generated.dll" if windows else "generated.so")
        place = [] if windows else ["-fPIC"]  # code on Windows can stand anywhere as it is
        command = [compiler, optimisation, *place, "-shared", f"{folder}/generated.c"]
        done = subprocess.run(
            [*command, "-o", str(library), "-lm"], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SuppleError(f"the C compiler {compiler} failed: {done.stderr.strip()[:200]}")
        return ca.external(function.name(), str(library))
