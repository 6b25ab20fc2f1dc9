"""Options that come from the signature of the Python function."""

import inspect

import pytest
from typer.main import get_command

import supple
from supple.cli import COMMANDS, app
from supple.cli.signature_options import described

# The options that a command hands to its function as they are
TAKEN = {
    "compare": ("duration", "groups", "payload_error", "law", "band", "damping", "elements"),
    "export": ("count", "name"),
    "identify": ("kind", "damping", "sigma", "loss", "starts", "validation"),
    "modes": ("count", "method", "elements", "order"),
    "optimise": ("minimise", "lowest", "mass", "sag", "stress"),
    "resonances": ("count", "excitation", "force"),
    "response": ("structural_damping", "modal_damping"),
    "stability": ("amplitude", "mode"),
    "stopband": ("resolution", "cells"),
    "tolerances": ("count",),
    "track": ("count",),
    "validate": ("count",),
    "where-to-measure": ("count", "modes", "noise"),
    "workspace": ("points", "method"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_options_have_the_defaults_and_words_of_the_signature(name: str) -> None:
    function = getattr(supple, name.replace("-", "_"))
    options = {one.name: one for one in get_command(app).commands[name].params}  # type: ignore[attr-defined]
    for argument in TAKEN[name]:
        option = options[argument]
        assert option.default == inspect.signature(function).parameters[argument].default
        words, text = described(function, argument)
        assert option.help == text
        assert text.endswith(".")
        assert "`" not in text
        if words:
            assert option.metavar == "|".join(words)


def test_a_docstring_speaks_of_options() -> None:
    _, text = described(supple.optimise, "lowest")
    assert text == "Required lowest frequency in Hz, with --minimise mass."


def test_a_number_that_python_refuses_is_refused_with_the_same_sentence() -> None:
    from typer.testing import CliRunner

    ran = CliRunner().invoke(
        app, ["tolerances", "industrial-3", "--within", "payload.mass=1", "--count", "0"]
    )
    with pytest.raises(supple.SuppleError) as refusal:
        supple.tolerances(supple.load("industrial-3"), {"payload.mass": 1.0}, count=0)
    assert str(ran.exception) == str(refusal.value)


def test_every_command_is_in_the_list() -> None:
    assert set(get_command(app).commands) == set(COMMANDS)  # type: ignore[attr-defined]
