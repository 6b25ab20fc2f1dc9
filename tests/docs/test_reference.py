"""The reference holds every public name once, and every command with all its options."""

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import supple
from supple.cli import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

import reference_pages  # noqa: E402


def test_every_public_name_has_its_place() -> None:
    assert reference_pages.missing_and_unknown() == ([], [])


@pytest.mark.parametrize("name", sorted(set(supple.__all__) - {"__version__"}))
def test_every_public_name_has_a_summary(name: str) -> None:
    assert len(reference_pages.summary_of(name)) > 10


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_page_with_its_options(name: str) -> None:
    page = reference_pages.command_page(name)
    assert "`--json`" in page
    assert "| Argument or option | Meaning |" in page


@pytest.mark.parametrize("cls", [supple.Link, supple.Joint, supple.Body, supple.Tube])
def test_signatures_of_descriptions_can_be_read(cls: type) -> None:
    text = str(inspect.signature(cls))
    assert "Validator" not in text
    assert "float" in text
    assert "Parameters" in (cls.__doc__ or "")


@pytest.mark.parametrize("name", sorted(set(supple.__all__) - {"__version__"}))
def test_help_shows_types_without_quotes_and_a_docstring(name: str) -> None:
    public = getattr(supple, name)
    shown = pydoc.render_doc(public, renderer=pydoc.plaintext)
    own, _, _ = shown.partition("inherited from pydantic")
    signatures = "\n".join(line for line in own.splitlines() if " = {" not in line)
    for quoted in (": 'float", ": 'int", ": 'str", ": 'ArrayLike", "-> '"):
        assert quoted not in signatures
    assert reference_pages.summary_of(name)[:30] in shown


def test_help_of_a_class_that_was_used() -> None:
    """Pydantic builds a class when it is first used, and that must not hide its docstring."""
    script = (
        "import pydoc, supple\n"
        "supple.Body(mass=2.0)\n"
        "print(pydoc.render_doc(supple.Body, renderer=pydoc.plaintext))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    assert reference_pages.summary_of("Body") in shown
