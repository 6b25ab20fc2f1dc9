"""Expressions written once: nested answers in CasADi symbols, kept as one function.

Writing out a sliding link takes tens of thousands of calls from Python; evaluating what was written
at another symbol happens inside CasADi. Floats stay floats: they are facts about structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

__all__ = ["Recipe", "mapped", "recipe", "symbolic"]

Scalar = Any


@dataclass(frozen=True)
class _Place:
    """Where an expression of a nested answer stands among the outputs."""

    index: int


@dataclass(frozen=True)
class Recipe:
    """A nested answer with the places of its expressions, and the function that gives them."""

    function: Any
    form: Any

    def at(self, *arguments: Sequence[Scalar]) -> Any:
        """Return the answer at these arguments, groups of scalars as they were when written."""
        import casadi as ca

        values = ca.vertsplit(self.function(*[ca.vertcat(*group) for group in arguments]))
        return mapped(self.form, _Place, lambda place: values[place.index])


def symbolic(x: Scalar) -> bool:
    """Whether a scalar is an expression of CasADi."""
    return hasattr(x, "element_hash")


def recipe(write: Callable[..., Any], *sizes: int) -> Recipe:
    """Return what `write` answers for groups of symbols of these sizes."""
    import casadi as ca

    groups = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
    leaves: list[Scalar] = []

    def kept(x: Scalar) -> _Place:
        leaves.append(x)
        return _Place(len(leaves) - 1)

    form = mapped(write(*[ca.vertsplit(group) for group in groups]), ca.SX, kept)
    return Recipe(ca.Function("recipe", groups, [ca.vertcat(*leaves)], {"cse": True}), form)


def mapped(x: Any, kind: type, change: Callable[[Any], Any]) -> Any:
    """Return a nested answer of lists and dataclasses with every leaf of a kind changed."""
    if isinstance(x, float):  # most of them
        return x
    if isinstance(x, kind):
        return change(x)
    if isinstance(x, list | tuple):
        return type(x)(mapped(one, kind, change) for one in x)
    if is_dataclass(x) and not isinstance(x, type):
        return type(x)(*[mapped(getattr(x, f.name), kind, change) for f in fields(x)])
    return x
