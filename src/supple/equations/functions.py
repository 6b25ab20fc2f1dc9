"""Functions: the equations of one Model as CasADi functions, each made when first asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..architectures.coordinate_map import CoordinateMap
from ..architectures.kinds import architecture_of
from ..errors import SuppleError
from ..robot import Robot
from .chains.chain import Chain
from .evaluate import AnyEvaluator, Evaluator, slope
from .evaluate import compile_function as as_c

__all__ = ["INPUTS", "Functions", "LoopFunctions", "near_at", "need_open", "slope_of"]

Array = NDArray[np.float64]
MOST_DERIVED = 64  # functions made of the equations, such as integrators, that a Model caches
_MISSING = object()


# What the equations are asked by name, and what each takes
INPUTS: dict[str, tuple[str, ...]] = {
    "mass_matrix": ("q",),
    "bias": ("q", "qd"),
    "gravity": ("q",),
    "forward_dynamics": ("q", "qd", "tau"),
    "forward_dynamics_loaded": ("q", "qd", "tau", "wrench"),
    "forward_dynamics_ends": ("q", "qd", "tau"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "elastic": ("q",),
    "dissipation": ("q", "qd"),
    "stiffness": ("q",),
    "energies": ("q", "qd"),
    "tip": ("q",),
    "derivatives": ("q", "qd", "tau"),
}


class Functions(Mapping[str, Any], ABC):
    """The equations of a Model by name. A kind of functions has these duties:

    1. `names`: what there is: mass_matrix, bias, gravity, forward_dynamics, inverse_dynamics, ..
    2. `make(name)` returns one of them as a CasADi function of q, qd, qdd, tau, wrench.
    3. `ends()` returns the coordinates in which forward_dynamics_ends is cheapest.
    4. `symbol(word, size)` returns a symbol that its functions can be called with.
    """

    names: tuple[str, ...]
    plain: tuple[str, ...] = ()  # functions that are never compiled
    needs: frozenset[Literal["loops"]] = frozenset()  # what a stepper must take besides
    iterates: bool = False  # whether an evaluation solves equations inside: exact slopes are dear
    everywhere: bool = True  # whether every theta is a pose
    not_finite: str = ""  # what a value that is not finite means, where that is known

    def __init__(self, compile_: bool) -> None:
        self._compile = compile_
        self._made: dict[str, AnyEvaluator] = {}
        self._expressions: dict[str, Any] = {}
        self._derived: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the functions made so far, which are made again."""
        rebuilt = ("_made", "_expressions", "_derived")
        return {key: {} if key in rebuilt else value for key, value in vars(self).items()}

    @abstractmethod
    def make(self, name: str) -> Any:
        """Return the function of this name, made afresh."""

    @abstractmethod
    def ends(self) -> Array:
        """Return B (N, N): B q are the coordinates of `forward_dynamics_ends`."""

    def ratios(self, i: int) -> list[float]:
        """Return the damping ratios of a link that slides."""
        return []

    def tree_coordinates(self, q: Array, near: Array | None = None) -> tuple[Chain | None, Array]:
        """Return the tree whose loops were closed and its coordinates at states (.., N).

        None and q itself where no coordinate was left out. `near` (.., W): about where the
        coordinates are that loops determine, so that they stay on one branch.
        """
        return None, q

    @property
    def dependent_map(self) -> CoordinateMap:
        """What each coordinate is that loops or other joints determine: there is none."""
        return CoordinateMap(())

    @property
    def guess_symbols(self) -> list[Any]:
        """What expressions take besides their inputs: symbols near the followers, if bound."""
        return []

    def alongside(self, other: Functions) -> Functions:
        """Return the same functions for symbols of another Model's, whose loops are near these."""
        return self

    def symbol(self, word: str, size: int) -> Any:
        """Return a symbol that the functions can be called with."""
        import casadi as ca

        return ca.SX.sym(word, size)

    def __getitem__(self, name: str) -> Any:
        found = self.evaluator(name)
        return found.function if isinstance(found, Evaluator) else self.expression(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def evaluator(self, name: str, near: bool = False) -> AnyEvaluator:
        """Return the function of this name for arrays.

        `near`: it takes as last input about where the coordinates are that loops determine.
        """
        key = f"{name} near" if near else name
        if key not in self._made:
            function = self.core(name) if near else self.expression(name)
            as_it_is = not self._compile or name in self.plain
            square = name in ("mass_matrix", "stiffness", "derivatives", "hold", "led")
            self._made[key] = Evaluator(function if as_it_is else as_c(function), square)
        return self._made[key]

    def core(self, name: str) -> Any:
        """Return one function that also takes a place near what follows from loops, `near_at`."""
        return self.expression(name)

    def expression(self, name: str) -> Any:
        """Return the function of this name as a CasADi function, never compiled."""
        if name not in self._expressions:
            if name not in self.names:
                raise KeyError(f"no function '{name}': there are {', '.join(self.names)}")
            self._expressions[name] = self.make(name)
        return self._expressions[name]

    def cached(self, key: Any, make: Callable[..., Any], *given: Any) -> Any:
        """Return make(..), made once from these functions, such as a step of an integrator.

        The last MOST_DERIVED that were asked for are cached: a designer who tries a thousand gains
        does not keep a thousand integrators.
        """
        cached = self._derived
        found = cached.pop(key, _MISSING)
        if found is _MISSING:
            found = make(*given)
        cached[key] = found  # the last of the dictionary is the last that was asked for
        while len(cached) > MOST_DERIVED:
            with suppress(KeyError, RuntimeError, StopIteration):  # another thread was faster
                cached.pop(next(iter(cached)), None)
        return found


class LoopFunctions(Functions):
    """Equations of a robot with loops: every function solves their closures."""

    needs: frozenset[Literal["loops"]] = frozenset({"loops"})
    iterates = True
    everywhere = False
    not_finite = (
        "the loops of {name} cannot be closed at this q: out of reach, or at a singular pose; try "
        "joint coordinates nearer to where it is assembled, or less deflection"
    )

    def open_at(self, robot: Robot, q: Array, found: Array) -> SuppleError:
        """Return what to raise where rows of what was `found` at states q are not finite.

        Where the robot cannot be assembled unbent, that says which closure stays open.
        """
        first = int(np.isfinite(found.reshape(q[..., 0].size, -1)).all(axis=1).argmin())
        kind = architecture_of(robot)
        theta = q.reshape(-1, q.shape[-1])[first, : len(kind.drives)]
        why = kind.resolve(theta, None).reason[0]
        sentence = f"the loops of {robot.name} cannot be closed at this q: {why}"
        return SuppleError(sentence if why else self.not_finite.format(name=robot.name))


def slope_of(functions: Functions, name: str, k: int) -> Evaluator:
    """Return the Jacobian of a function's first output by its input k, for arrays, made once."""
    slopes = functions.cached(("slopes", name), dict)
    if k not in slopes:
        slopes[k] = Evaluator(slope(functions.expression(name), k), True)
    found: Evaluator = slopes[k]
    return found


def near_at(functions: Functions, q: Any) -> list[Any]:
    """Return what `core` takes besides its inputs at q: what follows from loops, or nothing.

    It is held as slopes are taken, so that they need not go through how it was found.
    """
    import casadi as ca

    if "followers" not in functions.names:
        return []
    return [ca.stop_diff(functions.expression("followers")(q), 1)]


def need_open(functions: Functions, name: str, told: str) -> None:
    """Raise what is told of a robot of this name where its functions solve closures inside."""
    if functions.needs:
        raise SuppleError(f"{name} has loops: {told}")
