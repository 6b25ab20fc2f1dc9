from typing import Any

LANES: int

def solve(
    structure: tuple[Any, ...],
    count: int,
    skip: Any,
    guess: float,
    tolerance: float,
    omega: Any,
    width: Any,
    evaluations: Any,
    lanes: int,
    /,
) -> None: ...
def count(
    structure: tuple[Any, ...], omega: Any, J: Any, m: Any, e: Any, sigma: float, /
) -> None: ...
def beam(numbers: Any, length: float, omega: float, out: Any, /) -> int: ...
