"""Options of a command that its Python function takes under the same name.

Their types, their defaults and what `--help` says of them come from the function's own signature
and docstring, so that they are written once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any

import typer

from ..answers.registry import import_function

__all__ = ["options_of"]

Command = Callable[..., None]
KINDS: dict[str, Any] = {"bool": bool, "float": float, "int": int, "str": str}
LAST = ("out", "plot", "save", "json")  # options that every command has at its end
SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z])")


def options_of(place: str, *names: str, **metavars: str) -> Callable[[Command], Command]:
    """Return a decorator of a command: it takes these arguments of a function as options.

    place: where the function stands, `studies.design.optimise:optimise`.
    names: its arguments, numbers and words; the command gets them as keywords.
    metavars: more of them, with what `--help` calls their values, `lowest="HZ"`.
    """

    def around(command: Command) -> Command:
        function = import_function(place)
        added = [_option(function, name, metavars.get(name)) for name in (*names, *metavars)]
        own = inspect.signature(command)
        own_parameters = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        last = next(
            (k for k, p in enumerate(own_parameters) if p.name in LAST), len(own_parameters)
        )
        own_parameters[last:last] = added
        every = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in own_parameters]
        command.__signature__ = own.replace(parameters=every)  # type: ignore[attr-defined]
        command.__annotations__ |= {p.name: p.annotation for p in added}
        return command

    return around


def _option(function: Callable[..., Any], name: str, metavar: str | None) -> Parameter:
    """Return one argument of a function as the parameter of a command."""
    argument = inspect.signature(function).parameters[name]
    kind, _, none = str(argument.annotation).partition(" | ")
    plain_type = KINDS.get(kind, type(argument.default))
    words, text = described(function, name)
    shown = metavar or "|".join(words) or None
    option = typer.Option(option_name(name), metavar=shown, help=text)
    value: Any = plain_type | None if none else plain_type
    annotation = Annotated[value, option]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=argument.default, annotation=annotation)


def option_name(name: str) -> str:
    """Return the option of an argument: `--payload-error` of payload_error."""
    return f"--{name.replace('_', '-')}"


def described(function: Callable[..., Any], name: str) -> tuple[list[str], str]:
    """Return the words that a docstring allows for an argument, and what it says of it.

    This is its first sentence, and the one about its default.
    """
    lines = (inspect.getdoc(function) or "").splitlines()
    heading = re.compile(rf"(?:\w+, )*{name}(?:, \w+)* : ")
    place = next(k for k, line in enumerate(lines) if heading.match(line))
    words = re.findall(r'"([^"]+)"', lines[place])
    end = next(
        (k for k in range(place + 1, len(lines)) if not lines[k].startswith("    ")), len(lines)
    )
    text = " ".join(line.strip() for line in lines[place + 1 : end])
    sentences = SENTENCE_END.split(text)
    relevant = [one for k, one in enumerate(sentences) if k == 0 or one.startswith("Default")]
    return words, as_typed(" ".join(relevant), list(inspect.signature(function).parameters))


def as_typed(text: str, arguments: list[str]) -> str:
    """Return a sentence about Python with its arguments as options, as one types them."""
    for name in arguments:
        text = re.sub(rf'``{name}="(\w+)"``', rf"{option_name(name)} \1", text)
        text = re.sub(rf"(?<!`)`{name}`(?!`)", option_name(name), text)
    return text.replace("`", "")
