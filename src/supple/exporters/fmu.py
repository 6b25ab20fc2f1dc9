"""A Model as an FMU: FMI 2.0, model exchange and co-simulation, sources and binary inside."""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import tempfile
import uuid
import zipfile
from dataclasses import replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..arguments import optional
from ..equations.closed.coupled import ClosedFunctions
from ..equations.model import Model
from ..files.disk import fill, writing
from ..outputs.measuring import named_outputs
from ..outputs.output import Output
from .c_functions import follower_count
from .c_library import build_library, c_compiler
from .c_project import c_texts, exported_frequencies
from .c_source import CFunction, c_array
from .exporter import Exporter, Request, Written, model_rule
from .names import unique_identifiers, xml_text

__all__ = ["Fmu"]

Array = NDArray[np.float64]
LARGE_SOURCE = 1_000_000  # characters from which the compiler is asked for less
SAME_DATE = (1980, 1, 1, 0, 0, 0)  # of every file inside: the same robot gives the same bytes


def _outputs(name: str, value: Any) -> Any:
    return named_outputs(value)


class Fmu(Exporter):
    """One .fmu file that needs neither Python nor any library."""

    about: ClassVar = "FMI 2.0 for co-simulation and model exchange, sources and binary inside"
    suffix: ClassVar = ".fmu"
    needs_model: ClassVar = True
    options: ClassVar = {"outputs": optional(_outputs)}

    def write(self, request: Request, path: Path) -> Written:
        """Write the FMU; frequencies come from the sources inside it."""
        model = request.model
        name = request.name
        outputs: dict[str, Output] = request.options.get("outputs") or {}
        notes: list[str] = []
        options = dict(request.options) | {"jacobians": False, "functions": _near_functions(model)}
        text = c_texts(replace(request, options=options), notes)
        start = np.concatenate([request.start, np.zeros(model.size)])
        payload = getattr(request.robot, "payload", None)
        payload_mass = float(payload.mass) if payload is not None else 0.0
        wrapper = package_files(__package__).joinpath("fmu.c.tmpl").read_text(encoding="utf-8")
        replaced = {
            "NAME": name,
            "START": c_array(start),
            "PAYLOAD": repr(payload_mass),
            "GRAVITY": ", ".join(repr(float(x)) for x in request.robot.gravity),
        }
        for key, value in replaced.items():
            wrapper = wrapper.replace(f"@{key}@", value)
        content = wrapper + text.source + text.header
        guid = "{" + str(uuid.UUID(hashlib.sha256(content.encode()).hexdigest()[:32])) + "}"
        wrapper = wrapper.replace("@GUID@", guid)
        sources = {f"{name}.h": text.header, f"{name}.c": text.source, "fmu.c": wrapper}

        found = exported_frequencies(
            request, {key: value for key, value in sources.items() if key != "fmu.c"}, notes
        )
        description = _description(request, outputs, guid, start, payload_mass, found)
        entries: dict[str, bytes] = {"modelDescription.xml": description}
        for file, code in sources.items():
            entries[f"sources/{file}"] = code.encode()
        binary = _binary(name, sources, notes)
        if binary is not None:
            entries[binary[0]] = binary[1]
        with writing(path) as aside:
            fill(aside, _archive(entries))
        return Written((path,), found, model_rule(request.robot, request.model.basis), tuple(notes))


def _near_functions(model: Model) -> list[CFunction]:
    """Return what the FMU calls, each with the loops' last solution as an input."""
    import casadi as ca

    functions = model.functions
    closed = isinstance(functions, ClosedFunctions)
    n = model.size
    guess = ca.MX.sym("near", max(follower_count(model), 1))
    guesses = [guess] if closed else []

    def core(name: str) -> Any:
        return functions.core(name) if closed else functions.expression(name)

    sizes = {"q": n, "qd": n, "qdd": n, "tau": model.joints, "wrench": 6}
    symbols = {word: ca.MX.sym(word, size) for word, size in sizes.items()}

    def near_function(name: str, inner: str, words: tuple[str, ...], out: str) -> CFunction:
        given = [symbols[word] for word in words]
        found = core(inner).call([*given, *guesses])[0]
        function = ca.Function(name, [*given, guess], [ca.densify(found)])
        return CFunction(name, function, (*words, "near"), (out,), f"{inner} for the FMU.")

    # Acceleration of the payload's mass centre, and where it is from the tip, base axes
    payload = getattr(model.robot, "payload", None)
    offset = np.zeros(3) if payload is None else np.asarray(payload.com, float)
    q = symbols["q"]
    qd = symbols["qd"]
    qdd = symbols["qdd"]
    tip = core("tip").call([q, *guesses])
    arm = ca.mtimes(tip[1], ca.DM(offset))
    velocity = ca.jtimes(tip[0] + arm, q, qd)
    acceleration = ca.jtimes(velocity, q, qd) + ca.jtimes(tip[0] + arm, q, qdd)
    place = ca.Function("payload", [q, qd, qdd, guess], [ca.densify(ca.vertcat(acceleration, arm))])
    return [
        near_function(
            "acceleration", "forward_dynamics_loaded", ("q", "qd", "tau", "wrench"), "qdd"
        ),
        near_function("mass_near", "mass_matrix", ("q",), "M"),
        near_function("dissipation_near", "dissipation", ("q", "qd"), "d"),
        near_function("tip_near", "tip", ("q",), "p"),
        CFunction(
            "payload",
            place,
            ("q", "qd", "qdd", "near"),
            ("place",),
            "Acceleration of the payload's mass centre, and its place from the tip.",
        ),
    ]


def _binary(name: str, sources: dict[str, str], notes: list[str]) -> tuple[str, bytes] | None:
    """Compile the sources for this machine; return where the binary stands inside, and itself."""
    machine = platform.machine().lower()
    known = {"linux": ("linux64", ".so"), "darwin": ("darwin64", ".dylib")}
    folder_name, ending = known.get(sys.platform, ("", ""))
    if c_compiler() is None or not folder_name or machine not in ("x86_64", "amd64"):
        notes.append(
            "The FMU holds its sources and no binary for this machine: most tools compile them "
            "themselves; install gcc here to have one."
        )
        return None
    size = sum(map(len, sources.values()))
    flags = ["-O1" if size > LARGE_SOURCE else "-O2"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = build_library(Path(folder), sources, f"{name}{ending}", flags)
        return f"binaries/{folder_name}/{name}{ending}", place.read_bytes()


def _archive(entries: dict[str, bytes]) -> bytes:
    """Return a zip file of these entries, the same bytes for the same content."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name, SAME_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return memory.getvalue()


def _description(
    request: Request,
    outputs: dict[str, Output],
    guid: str,
    start: Array,
    payload_mass: float,
    frequency_hz: Array,
) -> bytes:
    """Return modelDescription.xml; its variables stand in the order of their value references."""
    model = request.model
    name = request.name
    lines = request.error_lines(frequency_hz, model_rule(request.robot, request.model.basis))
    root = ElementTree.Element(
        "fmiModelDescription",
        {
            "fmiVersion": "2.0",
            "modelName": xml_text(request.robot.name),
            "guid": guid,
            "description": xml_text(" ".join(" ".join(lines).split())),
            "generationTool": "supple",
            "variableNamingConvention": "structured",
            "numberOfEventIndicators": "0",
        },
    )
    for kind in ("ModelExchange", "CoSimulation"):
        attributes = {
            "modelIdentifier": name,
            "canNotUseMemoryManagementFunctions": "true",
            "canGetAndSetFMUstate": "true",
            "canSerializeFMUstate": "true",
        }
        if kind == "CoSimulation":
            attributes["canHandleVariableCommunicationStepSize"] = "true"
        element = ElementTree.SubElement(root, kind, attributes)
        listed = ElementTree.SubElement(element, "SourceFiles")
        for file in (f"{name}.c", "fmu.c"):
            ElementTree.SubElement(listed, "File", {"name": file})
    categories = ElementTree.SubElement(root, "LogCategories")
    ElementTree.SubElement(categories, "Category", {"name": "logStatusError"})
    ElementTree.SubElement(root, "DefaultExperiment", {"startTime": "0", "stopTime": "1"})
    variables = ElementTree.SubElement(root, "ModelVariables")
    structure = ElementTree.SubElement(root, "ModelStructure")

    def add(word: str, about: str, value: float | None = None, **attributes: str) -> int:
        """Add a variable and return its number, counted from one."""
        derivative = attributes.pop("derivative", None)
        reference = len(variables)
        variable = ElementTree.SubElement(
            variables,
            "ScalarVariable",
            {
                "name": word,
                "valueReference": str(reference),
                "description": xml_text(about),
                **attributes,
            },
        )
        real = ElementTree.SubElement(variable, "Real")
        if value is not None:
            real.set("start", repr(float(value)))
        if derivative is not None:
            real.set("derivative", derivative)
        return reference + 1

    motors = unique_identifiers(model.chain.motors, "joint")
    for word, motor in zip(motors, model.chain.motors, strict=True):
        add(f"tau_{word}", f"effort on {motor}, N m or N", 0.0, causality="input")
    for kind, unit in (("force", "N"), ("moment", "N m")):
        for axis in "xyz":
            add(f"tip_{kind}_{axis}", f"{kind} on the tip, base axes, {unit}", 0, causality="input")
    tuned = {"causality": "parameter", "variability": "tunable"}
    add("payload_mass", "mass at the payload's mass centre, kg", payload_mass, **tuned)
    add("damping_factor", "times the model's damping and friction", 1.0, **tuned)

    coordinates = unique_identifiers(model.coordinates, "q")
    states: list[int] = []
    for prefix, about, values in (
        ("q", "coordinate", start[: model.size]),
        ("qd", "rate of", start[model.size :]),
    ):
        for word, named, value in zip(coordinates, model.coordinates, values, strict=True):
            number = add(
                f"{prefix}_{word}",
                f"{about} {named}",
                float(value),
                causality="local",
                variability="continuous",
                initial="exact",
            )
            states.append(number)
    derivatives: list[int] = []
    for number, named in zip(states, [*coordinates, *coordinates], strict=True):
        prefix = "q" if number - states[0] < model.size else "qd"
        derivatives.append(
            add(
                f"der({prefix}_{named})",
                "derivative",
                causality="local",
                variability="continuous",
                derivative=str(number),
            )
        )
    shown: list[int] = []
    for word, motor in zip(motors, model.chain.motors, strict=True):
        shown.append(add(f"theta_{word}", f"coordinate of {motor}", causality="output"))
    for axis in "xyz":
        shown.append(add(f"tip_{axis}", "position of the tip, base axes, m", causality="output"))
    named_values = []
    for given, output in outputs.items():
        parts = output.names(model)
        suffixes = [""] if len(parts) == 1 else [f"_{k + 1}" for k in range(len(parts))]
        named_values += [
            (f"{given}{suffix}", part) for suffix, part in zip(suffixes, parts, strict=True)
        ]
    words = unique_identifiers((given for given, _ in named_values), "output")
    for word, (_, part) in zip(words, named_values, strict=True):
        shown.append(add(f"y_{word}", part, causality="output"))

    for part, numbers in (
        ("Outputs", shown),
        ("Derivatives", derivatives),
        ("InitialUnknowns", sorted([*shown, *derivatives])),
    ):
        element = ElementTree.SubElement(structure, part)
        for number in numbers:
            ElementTree.SubElement(element, "Unknown", {"index": str(number)})
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True))
