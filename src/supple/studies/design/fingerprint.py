"""A hash of an object by its contents, by which a sweep knows whether it computed this before.

Of a function that is its code, its constants and those of functions nested in it, its defaults, its
closure, its attributes, and everything that it reaches by name in its module or in modules that it
imports itself: helpers that it calls, constants that it reads, and the same of modules of the user
that it looks into. Code of Python itself and of installed packages counts by its name and version.
What code finds by other ways (a file that it reads, `eval`, `globals()`) is not seen.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import importlib
import sys
import sysconfig
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["fingerprint"]

# These are themselves wherever they are met; equal ones of other kinds may be one object or two
ONE_OF_A_KIND = (types.FunctionType, type, types.ModuleType)
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented))


def fingerprint(value: Any) -> str:
    """Return a hash of what an object holds; TypeError where that cannot be known."""
    mill = _ContentHash()
    mill.add(value)
    return mill.hash.hexdigest()[:16]


class _ContentHash:
    """Feeds objects to one hash; what contains itself, and functions met again, by number."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.numbers: dict[int, int] = {}
        self.alive: list[Any] = []  # so that no address is used twice

    def word(self, *words: str) -> None:
        """Add some words, each with its length."""
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self.hash.update(len(data).to_bytes(8, "little") + data)

    def add(self, value: Any) -> None:
        """Add one object and all that it holds."""
        if isinstance(value, PLAIN):
            self.word(type(value).__name__, repr(value))
            return
        if id(value) in self.numbers:
            self.word("again", str(self.numbers[id(value)]))
            return
        if isinstance(value, frozenset | set):
            # sets come in another order in every process
            self.word("set", *sorted(fingerprint(one) for one in value))
            return
        self.numbers[id(value)] = len(self.numbers)
        self.alive.append(value)
        self.contents(value)
        if not isinstance(value, ONE_OF_A_KIND):
            del self.numbers[id(value)]

    def contents(self, value: Any) -> None:
        """Add what one object holds."""
        if isinstance(value, np.ndarray) and value.dtype.kind != "O":
            self.word("array", str(value.dtype), str(value.shape))
            self.hash.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple | list):
            self.word(_name(type(value)), str(len(value)))
            for one in value:
                self.add(one)
        elif isinstance(value, Mapping):
            self.word(_name(type(value)), str(len(value)))
            for key, one in value.items():
                self.add(key)
                self.add(one)
        elif isinstance(value, types.CodeType):
            self.code(value)
        elif isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, types.MethodType):
            self.word("method")
            self.add(value.__func__)
            self.add(value.__self__)
        elif isinstance(value, functools.partial):
            self.word("partial")
            self.add((value.func, value.args, value.keywords))
        elif isinstance(value, types.ModuleType):
            self.word("module", value.__name__, _version(value.__name__))
        elif isinstance(value, types.BuiltinFunctionType | np.ufunc):
            self.word("builtin", str(getattr(value, "__module__", "")), value.__name__)
        elif isinstance(value, type):
            self.type(value)
        elif isinstance(value, functools.cached_property):
            self.word("cached property")
            self.add(value.func)
        else:
            self.instance(value)
            # what a decorator of Python's own wraps (functools.lru_cache) pickles as a name alone
            wrapped = getattr(value, "__wrapped__", None)
            if isinstance(wrapped, types.FunctionType):
                self.add(wrapped)

    def code(self, code: types.CodeType) -> None:
        """Instructions, names and constants; nested functions are constants."""
        self.word("code", *code.co_names, "/", *code.co_varnames, "/", *code.co_freevars)
        self.hash.update(code.co_code)
        self.add(code.co_exceptiontable)
        self.add(code.co_consts)

    def function(self, function: types.FunctionType) -> None:
        """Code, defaults, closure, and what the code finds in its module by name."""
        self.word("function", function.__qualname__)
        if not _is_users(function.__module__):
            self.word(function.__module__, _version(function.__module__))
            return
        self.code(function.__code__)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:  # not yet bound
                self.word("empty cell")
                continue
            self.add(content)
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is not None:
            self.add(wrapped)
        for name, content in sorted(vars(function).items()):
            if name != "__wrapped__":
                self.word("attribute", name)
                self.add_named(content, set())
        names = _names_of(function.__code__)
        for name in sorted(names & function.__globals__.keys()):
            self.word("global", name)
            self.add_named(function.__globals__[name], names)
        for module in _imported_by(function.__code__, function.__globals__.get("__package__")):
            self.add_named(module, names)

    def add_named(self, value: Any, names: set[str]) -> None:
        """Something that code finds by name: of the user's modules what it may look up there."""
        if isinstance(value, types.ModuleType) and _is_users(value.__name__):
            self.word("module", value.__name__)
            for name in sorted(names & vars(value).keys()):
                self.word("attribute", name)
                self.add_named(vars(value)[name], names - {name})
            return
        before = self.hash.copy()
        try:
            self.add(value)
        except TypeError:  # a logger, a lock, an open file: it holds no numbers of the answer
            self.hash = before
            self.word("opaque", _name(type(value)))

    def type(self, kind: type) -> None:
        """The name of a class; of the user's own also its methods and constants."""
        self.word("class", _name(kind))
        if not _is_users(kind.__module__):
            self.word(_version(kind.__module__))
            return
        for base in kind.__bases__:
            self.add(base)
        if type(kind) is not type:
            self.add(type(kind))
        for name, value in sorted(vars(kind).items()):
            inner = value
            if isinstance(value, staticmethod | classmethod):
                inner = value.__func__
            if isinstance(value, property):
                inner = (value.fget, value.fset, value.fdel)
            dunder = name.startswith("__") and not isinstance(inner, types.FunctionType)
            if not dunder and not isinstance(
                inner, types.MemberDescriptorType | types.GetSetDescriptorType
            ):
                self.word("member", name)
                self.add(inner)

    def instance(self, value: Any) -> None:
        """An object as pickle takes it apart: its class and its state."""
        parts = value.__reduce_ex__(4)
        self.word("object")
        if isinstance(parts, str):
            self.word(parts)
            return
        for part in parts[:3]:
            self.add(part)
        for entries in parts[3:5]:
            self.add(None if entries is None else list(entries))


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _names_of(code: types.CodeType) -> set[str]:
    """All names that code, and code nested in it, looks up."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_of(constant)
    return names


def _imported_by(code: types.CodeType, package: str | None) -> list[types.ModuleType]:
    """The user's modules that code, and code nested in it, imports when it runs.

    They are imported here, as the code is about to do: one that cannot be is left to the code.
    """
    found: list[types.ModuleType] = []
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for k, step in enumerate(steps):
        if step.opname != "IMPORT_NAME":
            continue
        # pushed before it: how many packages up, and which names are taken from there
        level = steps[k - 2].argval
        wanted = steps[k - 1].argval
        try:
            module = importlib.import_module("." * level + step.argval, package)
            if not _is_users(module.__name__):
                continue
            if hasattr(module, "__path__"):
                for name in set(wanted or ()) - vars(module).keys():
                    importlib.import_module(f"{module.__name__}.{name}")
        except Exception:  # noqa: BLE001 - whatever a module of the user raises
            continue
        found.append(module)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _imported_by(constant, package)
    return found


@functools.cache
def _is_users(module: str) -> bool:
    """Whether a module is neither of Python nor of an installed package, nor of supple itself."""
    top = module.partition(".")[0]
    if top == "supple" or top in sys.stdlib_module_names - {"__main__"}:
        return False
    place = getattr(sys.modules.get(module), "__file__", None)
    if place is None:
        return True  # a notebook, or text that was executed
    packages = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return not any(place.startswith(folder) for folder in packages)


@functools.cache
def _version(module: str) -> str:
    """The version of an installed package, empty where it has none."""
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))
