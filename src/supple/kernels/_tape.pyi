"""Types of the compiled tapes; see _tape.c."""

from typing import Any

def program(
    inputs: int, constants: Any, runs: Any, operands: Any, outputs: Any, tables: Any
) -> object: ...
def evaluate(program: object, x: Any, out: Any) -> None: ...
def rk4(program: object, x: Any, p: Any, out: Any) -> None: ...
def collocate(
    how: object,
    x: Any,
    out: Any,
    start: Any,
    tableau: Any,
    split: Any,
    inverse: Any,
    learned: Any,
    count: Any,
    held: int,
    width: int,
    follow: int,
    h: float,
    close: float,
    most: int,
    /,
) -> int: ...
