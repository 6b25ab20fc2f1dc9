"""What `help()` and editors show of public names: types without quotes, docstrings as text.

Annotations are kept as text (`from __future__ import annotations`), and Python shows text in a
signature with quotes: `count: 'int' = 10`. Text whose `repr` has none reads `count: int = 10`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

__all__ = ["UnquotedText", "make_help_readable"]

_done: set[type] = set()


class UnquotedText(str):
    """Text that stands in a signature as it is, without quotes.

    Examples
    --------
    >>> UnquotedText("float | None")
    float | None
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def make_help_readable(public: object) -> None:
    """Let `help()` show the types of a public function, or of a class and its methods, unquoted.

    A docstring that a class composes when it is looked at is composed here: `help()` looks into
    the class's dictionary, where it would find the object that composes it, and show nothing.
    """
    if isinstance(public, FunctionType):
        _unquote_function(public)
    elif isinstance(public, type):
        for cls in public.__mro__:
            if cls not in _done and cls.__module__.startswith("supple."):
                _done.add(cls)
                if not isinstance(vars(cls).get("__doc__", ""), str | None):
                    type.__setattr__(cls, "__doc__", cls.__doc__)
                for function in _functions_of(cls):
                    _unquote_function(function)


def _functions_of(cls: type) -> Iterator[Callable[..., Any]]:
    """Yield the functions behind the methods and properties that a class itself defines."""
    for member in list(vars(cls).values()):
        if isinstance(member, staticmethod | classmethod):
            yield member.__func__
        elif isinstance(member, property) and member.fget is not None:
            yield member.fget
        elif isinstance(member, FunctionType):
            yield member


def _unquote_function(function: Any) -> None:
    """Change the annotations of a function, and of those that its decorators wrap."""
    while function is not None:
        annotations = getattr(function, "__annotations__", None) or {}
        for name, written in annotations.items():
            if type(written) is str:
                annotations[name] = UnquotedText(written)
        function = getattr(function, "__wrapped__", None)
