"""The reference: one page per public name and per command, written anew with every build.

GROUPS says where a name stands. A public name that is missing here, or a name here that is not
public, fails the build and a test.
"""

import inspect
from pathlib import Path

import typer

import supple
from supple.cli import COMMANDS, app

GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Describe a robot": (
        "Descriptions are frozen: a changed copy is made by `robot.with_(path, value)`. Their "
        "fields are the keys of a [robot file](../howto/robot-files.md).",
        (
            *(
                "load",
                "loads",
                "dump",
                "schema",
                "check",
                "mobility",
                "Mobility",
                "Check",
                "as_mechanism",
                "material",
            ),
            *("load_profile", "Robot", "SerialRobot", "DeltaRobot", "MechanismRobot", "Link"),
            *(
                "MechanismLink",
                "UpperLink",
                "LowerLink",
                "Joint",
                "MechanismJoint",
                "Mount",
                "Gear",
            ),
            *("Motor", "Bearing", "Foundation", "Closure", "ClosureEnd", "Platform", "Body"),
            *("Material", "Ply", "Rectangle", "Box", "Circle", "Tube", "General", "Profile"),
            *("forward", "Pose", "inverse", "JointSolutions"),
        ),
    ),
    "How it vibrates": (
        "Natural frequencies, mode shapes and frequency responses of the exact beam equations.",
        (
            *("modes", "Modes", "workspace", "JointMap", "WorkspaceMap", "response"),
            *(
                "FrequencyResponse",
                "characteristic",
                "theories",
                "Theories",
                "Characteristic",
                "assumed_modes",
            ),
        ),
    ),
    "How it sags": (
        "Statics under gravity and loads.",
        ("statics", "Statics", "PointLoad", "DistributedLoad"),
    ),
    "How it moves": (
        "Equations of motion under a basis, simulation, linear models, small motion along a path.",
        (
            *("build", "Model", "AssumedModes", "FiniteElements", "Basis", "EndLoad", "Reading"),
            *("ModalDamping", "StiffnessRoot", "Accuracy", "simulate", "Response"),
            *(
                "load_response",
                "load_linear",
                "Constant",
                "Step",
                "BangBang",
                "Chirp",
                "Table",
                "linearize",
            ),
            *("StateSpace", "follow", "PathResponse", "ked", "Ked", "Loads", "Rayleigh"),
            *("Proportional", "Ratio", "RigidDelta", "stability", "Stability", "free_growth"),
            *("floquet", "Floquet", "regressor", "Regressor", "closed_form"),
        ),
    ),
    "Outputs and sensors": (
        "What can be read off a motion, a response or a static state.",
        (
            *(
                "Output",
                "Tip",
                "Place",
                "Strain",
                "Moment",
                "Stress",
                "Acceleration",
                "Accelerometer",
            ),
            *("Gyroscope", "Reaction", "ClosureForce", "Encoder", "Tachometer", "Sensor"),
        ),
    ),
    "Control": (
        "Controllers, observers and loops that are sampled as on the machine.",
        (
            *(
                "Controller",
                "JointPD",
                "Clipped",
                "GravityPD",
                "Decoupling",
                "ComputedTorque",
                "AdaptiveControl",
                "LQR",
                "lqr",
            ),
            *("Sampled", "observer", "Observer", "lqg", "LinearController", "strain_feedback"),
            *("StrainFeedback", "resonant_damping", "h_infinity", "margins", "Margins", "c_code"),
        ),
    ),
    "Moves that do not shake": (
        "Trajectories, and everything that makes one or improves one.",
        (
            *(
                "Trajectory",
                "Samples",
                "load_trajectory",
                "TrajectoryWarning",
                "PointToPoint",
                "ParabolicBlends",
                "WayPoints",
                "Hold",
                "Repeated",
            ),
            *("PlatformPath", "InvertedU", "CirclePath", "Line", "scaled_to", "shaper", "Shaper"),
            *("shaped", "scheduled", "shape", "ShapedMove", "filtered", "calm_durations"),
            *("CalmDuration", "calm_move", "CalmMove", "settled", "Corrected", "jerk_limited"),
            *("JerkLimited", "effort_limited", "PathTiming", "plan", "Plan", "PlanTrial"),
            *("invert", "Inversion", "compensate", "Compensation", "compare", "Comparison"),
        ),
    ),
    "Variants of a robot": (
        "Questions over poses, payloads and dimensions; derivatives, tolerances, proofs, optima.",
        (
            *("sweep", "track", "Tracks", "Veering", "sensitivities", "Sensitivities"),
            *("static_sensitivities", "StaticSensitivities", "tolerances", "Tolerances"),
            *("optimise", "Optimum", "stopband", "Band"),
        ),
    ),
    "Measurements": (
        "From recordings to frequencies, from frequencies to the robot, and where to measure next.",
        (
            *("resonances", "Resonances", "calibrate", "Calibration", "identify"),
            *("Identification", "where_to_measure", "MeasurementPlan"),
        ),
    ),
    "Take it along": (
        "The model in other programs, and other programs beside ours.",
        ("export", "Export", "validate", "Validation"),
    ),
    "Papers": ("Published tables beside ours.", ("reproduce", "Reproduction")),
    "Errors and warnings": (
        "Every error of supple is a SuppleError; warnings can be turned into errors as usual.",
        (
            *("SuppleError", "RobotError", "RobotWarning", "PoseWarning", "SizeWarning"),
            *(
                "ModelWarning",
                "UnstableRestWarning",
                "SimulationWarning",
                "SmallRangeWarning",
                "StepWarning",
            ),
            *("SweepWarning", "CorrectionWarning"),
        ),
    ),
}


def missing_and_unknown() -> tuple[list[str], list[str]]:
    """Return the public names without a place, and the names here that are not public."""
    placed = [name for _, names in GROUPS.values() for name in names]
    public = set(supple.__all__) - {"__version__"}
    twice = sorted({name for name in placed if placed.count(name) > 1})
    return sorted(public - set(placed)), sorted(set(placed) - public) + twice


def summary_of(name: str) -> str:
    """Return the first sentence of a name's docstring."""
    text = inspect.getdoc(getattr(supple, name)) or ""
    first = " ".join(text.split("\n\n")[0].split())
    return first.replace("|", "\\|")


def page_of(name: str) -> str:
    """Return the page of one public name."""
    value = getattr(supple, name)
    if inspect.isclass(value) and issubclass(value, BaseException):
        directive = [f".. autoexception:: supple.{name}"]
    elif inspect.isclass(value):
        directive = [
            f".. autoclass:: supple.{name}",
            "   :members:",
            "   :inherited-members: BaseModel",
        ]
    else:
        directive = [f".. autofunction:: supple.{name}"]
    body = "\n".join(directive)
    return f"# {name}\n\n```{{eval-rst}}\n.. currentmodule:: supple\n\n{body}\n```\n"


def overview() -> str:
    """Return the page that lists every name with one sentence, group by group."""
    lines = [
        "# Python",
        "",
        "Everything here is a name of the package `supple`. Angles are radians and all units SI.",
        "A name is imported when it is first used: `import supple` alone loads nothing heavy.",
    ]
    for title, (sentence, names) in GROUPS.items():
        lines += ["", f"## {title}", "", sentence, "", "| Name | What it is |", "|---|---|"]
        lines += [f"| [`{name}`](python/{name}.md) | {summary_of(name)} |" for name in names]
        lines += ["", "```{toctree}", ":hidden:", ""]
        lines += [f"python/{name}" for name in names]
        lines += ["```"]
    return "\n".join(lines) + "\n"


def command_page(name: str) -> str:
    """Return the page of one command: what it does, its arguments and all its options."""
    command = typer.main.get_command(app).commands[name]
    text = inspect.cleandoc(command.help or "")
    arguments = []
    rows = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            word = parameter.metavar or parameter.name.upper()
            arguments.append(word)
            rows.append(f"| `{word}` | {_cell(parameter.help)} |")
            continue
        words = ", ".join(f"`{option}`" for option in parameter.opts)
        given = ""
        if not parameter.is_flag:
            given = f"`{parameter.metavar or 'NUMBER'}`"
        default = parameter.default
        shown = (
            "" if default in (None, False, "") or callable(default) else f" Default: `{default}`."
        )
        rows.append(f"| {words} {_cell(given)} | {_cell(parameter.help)} {_cell(shown)} |")
    usage = " ".join(["supple", name, *arguments, "[OPTIONS]"])
    table = "\n".join(["| Argument or option | Meaning |", "|---|---|", *rows])
    return f"# supple {name}\n\n{text}\n\n```text\n{usage}\n```\n\n{table}\n"


def _cell(text: str | None) -> str:
    """Return text for a cell of a table, on one line."""
    return " ".join((text or "").split()).replace("|", "\\|") if text else ""


def command_overview() -> str:
    """Return the page that lists every command."""
    rows = [
        f"| [`supple {name}`](commands/{name}.md) | {line} |"
        for name, (_, line) in COMMANDS.items()
    ]
    pages = [f"commands/{name}" for name in COMMANDS]
    return "\n".join(
        [
            "# Commands",
            "",
            "Each command has `--help`, takes `--json` to print one JSON document, and `--csv` to",
            "print a table. What all of them share stands on [one page](command-line.md).",
            "",
            "| Command | What it does |",
            "|---|---|",
            *rows,
            "",
            "```{toctree}",
            ":hidden:",
            "",
            *pages,
            "```",
            "",
        ]
    )


def write_all(folder: Path) -> None:
    """Write the overview and all pages below `folder`; pages that are unchanged are left alone."""
    missing, unknown = missing_and_unknown()
    if missing or unknown:
        raise ValueError(f"docs/reference_pages.py: missing {missing}, unknown or twice {unknown}")
    (folder / "python").mkdir(exist_ok=True)
    (folder / "commands").mkdir(exist_ok=True)
    pages = {folder / "python.md": overview(), folder / "commands.md": command_overview()}
    for name in COMMANDS:
        pages[folder / "commands" / f"{name}.md"] = command_page(name)
    for _, names in GROUPS.values():
        for name in names:
            pages[folder / "python" / f"{name}.md"] = page_of(name)
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
