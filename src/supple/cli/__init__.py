"""The command line: parse, call, print. `supple --help` imports nothing heavy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from ..errors import SuppleError
from .catalogue.reproduce import reproduce
from .catalogue.robots import check, robots, schema
from .catalogue.tour import tour
from .catalogue.view import view
from .drive.shape import shape
from .kinematics.forward import forward, inverse
from .motion.linearize import linearize
from .motion.simulate import simulate
from .motion.stability import stability
from .output import with_csv
from .vibration.modes import modes
from .vibration.statics import statics
from .vibration.workspace import workspace

__all__ = ["app", "main"]

app = typer.Typer(
    name="supple",
    help="Robots whose links bend: how do they vibrate, sag and move?",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# A command, and the line about it that fits into eighty columns.
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "robots": (robots, "List the robots of the library."),
    "check": (check, "Find every fault of a robot file, with its place."),
    "schema": (schema, "Print the JSON schema of robot files, for editors."),
    "forward": (forward, "Where is the tip, at given joint coordinates."),
    "inverse": (inverse, "Which joint coordinates put the tip there."),
    "modes": (modes, "How does it vibrate here: frequencies and kinds of mode."),
    "workspace": (workspace, "Where does it vibrate low: a map over all its poses."),
    "statics": (statics, "How far does it sag: gravity, tip loads, compliance."),
    "simulate": (simulate, "How does it move: under efforts, a controller, a path."),
    "linearize": (linearize, "What does it do close to rest: frequencies, A, B, C, D."),
    "stability": (stability, "What does vibration do while a link slides."),
    "shape": (shape, "Make a joint trajectory end without vibration."),
    "reproduce": (reproduce, "Recompute published tables, ours beside theirs."),
    "tour": (tour, "Visit four published robots; writes a page to play with."),
    "view": (view, "Show a robot and its modes live in the browser."),
}
for name, (command, line) in COMMANDS.items():
    app.command(name, short_help=line)(with_csv(command))

# Our matrices are small: threads of the linear algebra cost more than they give (a Delta's page
# takes 4 s with two, 1.8 s with one). Read when NumPy is imported, so set before any command runs.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer keeps its name to itself


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"supple {version('supple')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Robots whose links bend: how do they vibrate, sag and move?"""


def main() -> None:
    """Run the command line; bad input ends with one sentence a fault and exit code 2."""
    for name in THREADS:
        os.environ.setdefault(name, "1")
    arguments = sys.argv[1:] or ["--help"]
    try:
        code = app(arguments, prog_name="supple", standalone_mode=False)
    except SuppleError as problem:
        typer.echo(str(problem), err=True)
        code = 2
    except _UsageError as problem:
        text = " ".join(problem.format_message().split())  # type: ignore[attr-defined]
        typer.echo(f"{text.rstrip('.')} (see `{_asked()} --help`)", err=True)
        code = 2
    except OSError as problem:
        typer.echo(f"{problem.filename}: {problem.strerror}", err=True)
        code = 2
    sys.exit(code)


def _asked() -> str:
    """The command that was asked for, as far as it is one."""
    return " ".join(["supple", *(word for word in sys.argv[1:2] if word in COMMANDS)])
