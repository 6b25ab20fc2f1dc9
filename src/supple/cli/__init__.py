"""The command line: parse, call, print. A command imports what it needs, no other command."""

from __future__ import annotations

import io
import os
import re
import sys
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any

import typer

from ..answers.registry import import_function
from ..errors import RobotError, RobotWarning, SuppleError
from .output import plain, say, with_csv

__all__ = ["app", "main", "make_app"]

# Where a command stands, and the line about it that fits into eighty columns.
COMMANDS: dict[str, tuple[str, str]] = {
    "robots": ("catalogue.robots:robots", "List the robots of the library."),
    "check": ("catalogue.robots:check", "Find every fault of a robot file, with its place."),
    "materials": ("catalogue.imports:materials", "List common materials with their sources."),
    "import": (
        "catalogue.imports:import_",
        "Make a robot file from a URDF or a Denavit-Hartenberg table.",
    ),
    "schema": ("catalogue.robots:schema", "Print the JSON schema of robot files, for editors."),
    "forward": (
        "kinematics.forward:forward",
        "Position and attitude of the tip at given joint coordinates.",
    ),
    "inverse": (
        "kinematics.forward:inverse",
        "Joint coordinates that put the tip at a given position.",
    ),
    "modes": ("vibration.modes:modes", "Natural frequencies and kinds of mode in one pose."),
    "workspace": (
        "vibration.workspace:workspace",
        "Map of the lowest frequency over the workspace.",
    ),
    "statics": (
        "vibration.statics:statics",
        "Sag under gravity and tip loads; compliance of the tip.",
    ),
    "response": ("vibration.response:response", "Exact frequency responses with poles and zeros."),
    "simulate": (
        "motion.simulate:simulate",
        "Motion under efforts, a controller, or along a path.",
    ),
    "linearize": ("motion.linearize:linearize", "Linearised model: frequencies, A, B, C, D."),
    "stability": (
        "motion.stability:stability",
        "Growth and decay of vibration while a link slides.",
    ),
    "sweep": ("design.sweep:sweep", "One study over many poses and parameters: maps."),
    "track": ("design.track:track", "Follow modes as branches while one quantity changes."),
    "tolerances": (
        "design.tolerances:tolerances",
        "Intervals of frequencies from tolerances of parameters.",
    ),
    "stopband": (
        "design.stopband:stopband",
        "Prove that no pose or payload has a frequency in a band.",
    ),
    "optimise": (
        "design.optimise:optimise",
        "Find dimensions that make the lowest frequency highest.",
    ),
    "resonances": (
        "measure.recordings:resonances",
        "Natural frequencies and damping from recordings.",
    ),
    "calibrate": (
        "measure.recordings:calibrate",
        "Recommend a shaper from recordings of vibration.",
    ),
    "identify": ("measure.identify:identify", "Fit parameters of a robot to measurements."),
    "where-to-measure": (
        "measure.identify:where_to_measure",
        "Choose the poses that determine parameters best.",
    ),
    "shape": ("drive.shape:shape", "Shape a joint trajectory so that it ends at rest."),
    "plan": ("drive.plan:plan", "Plan a rest-to-rest move under limits and write it."),
    "compare": ("drive.compare:compare", "Compare ways to make a move: residual, time, effort."),
    "export": (
        "exporting.export:export",
        "Write C, FMU, MuJoCo, Exudyn, Simscape, MATLAB or URDF.",
    ),
    "validate": (
        "exporting.validate:validate",
        "Ask other engines the same questions and compare.",
    ),
    "reproduce": (
        "catalogue.reproduce:reproduce",
        "Recompute published tables, ours beside theirs.",
    ),
    "tour": ("catalogue.tour:tour", "Visit four published robots; writes an interactive page."),
    "view": ("catalogue.view:view", "Show a robot and its modes live in the browser."),
}
# Our matrices are small: threads of the linear algebra cost more than they give (a Delta's page
# takes 4 s with two, 1.8 s with one). Read when NumPy is imported, so set before any command runs.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # typer keeps its name to itself


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"supple {version('supple')}")
        raise typer.Exit


def _options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Robots whose links bend: how do they vibrate, sag and move?"""


def make_app(names: Iterable[str] = COMMANDS, list_only: bool = False) -> typer.Typer:
    """Return the command line with these commands, by default all: only they are imported.

    list_only: for a list of the commands that runs none of them; nothing is imported.
    """
    app = typer.Typer(
        name="supple",
        help="Robots whose links bend: how do they vibrate, sag and move?",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in names:
        place, line = COMMANDS[name]
        command = _unloaded if list_only else with_csv(import_function(f"cli.{place}"))
        app.command(name, short_help=line)(command)
    return app


def _unloaded() -> None:
    """Stand for a command in a list of them."""


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()["app"] = make_app()  # all of it, for tests and for the reference
    return globals()["app"]


def main() -> int:
    """Run the command line and return its exit code; bad input ends with one sentence a fault."""
    for name in THREADS:
        os.environ.setdefault(name, "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names that it cannot write are escaped, not lost
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] or ["--help"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RobotWarning)
            warnings.showwarning = partial(_tell, warnings.showwarning, set())
            known = arguments[0] in COMMANDS
            app = make_app(arguments[:1] if known else COMMANDS, list_only=not known)
            code = int(app(arguments, prog_name="supple", standalone_mode=False) or 0)
        if code == 130:  # typer tells of Ctrl-C so
            raise KeyboardInterrupt
        return code
    except RobotError as problem:
        for line in str(problem).split("\n"):
            say(line, err=True)
    except SuppleError as problem:
        say(plain(str(problem)), err=True)
    except _UsageError as problem:
        text = " ".join(problem.format_message().split())  # type: ignore[attr-defined]
        if re.search(r"extra argument.* \(-?[0-9]", text):
            text += "; values of one option are joined by commas, such as --at 0,45deg"
        command = " ".join(["supple", *(word for word in sys.argv[1:2] if word in COMMANDS)])
        say(plain(f"{text.rstrip('.')} (see `{command} --help`)"), err=True)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:  # who read our output has gone, as in `supple robots | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as problem:
        say(plain(f"{problem.filename or 'supple'}: {problem.strerror or problem}"), err=True)
    except MemoryError:
        say("this needs more memory than there is: ask for less", err=True)
    return 2


def _tell(
    usual: Any, seen: set[str], message: Warning | str, category: type[Warning], *rest: Any
) -> None:
    """Tell our own warnings as plain sentences on the error stream, once; others as usual."""
    if category.__module__.partition(".")[0] == __name__.partition(".")[0]:
        if str(message) not in seen:
            word = "note" if issubclass(category, RobotWarning) else "Warning"
            say(f"{word}: {message}", err=True)
        seen.add(str(message))
    else:
        usual(message, category, *rest)
