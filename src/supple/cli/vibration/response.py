"""`supple response`: exact frequency responses with poles and zeros, Bode and Nyquist plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Plot, Position, configuration_arguments, joint_words
from ..output import (
    check_places,
    configuration_text,
    digits,
    draw_answer,
    plain,
    plane_of,
    print_json,
    print_table,
    say,
    tell_places,
)
from ..signature_options import options_of

if TYPE_CHECKING:
    from ...studies.vibration.response import FrequencyResponse

__all__ = ["response"]

Band = Annotated[
    str,
    typer.Option("--frequency", metavar="FROM:TO:COUNT", help="Frequencies, Hz, evenly spaced."),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        help="tau.LINK, force.x .. force.z, moment.x .. moment.z; may be repeated. "
        "Default: force.y.",
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        help="tip.x .. tip.z, tip.rx .. tip.rz, theta.LINK, strain.LINK@FRACTION; may be "
        "repeated. Default: tip.y.",
    ),
]
JointsOption = Annotated[
    str,
    typer.Option("--joints", metavar="free|locked", help="Whether the motors are free or locked."),
]
Kind = Annotated[str, typer.Option("--kind", metavar="bode|nyquist", help="What --plot draws.")]


@options_of("studies.vibration.response:response", "structural_damping", "modal_damping")
def response(
    file: File,
    at: At = None,
    position: Position = None,
    frequency: Band = "0:100:401",
    input: Inputs = None,  # noqa: A002 - the field's word
    output: Outputs = None,
    joints: JointsOption = "free",
    plot: Plot = None,
    kind: Kind = "bode",
    json: Json = False,
    **asked: Any,
) -> None:
    """Print exact frequency responses: peaks, poles and zeros."""
    import numpy as np

    from ... import files
    from ...outputs.kinds import Strain
    from ...studies.vibration.response import response as ask

    check_places(plot, None)
    robot = files.load(file)
    where = configuration_arguments(robot, at, position)
    try:  # such as 0:100:401
        low, high, count = frequency.split(":")
        ends = (float(low), float(high))
        points = int(count)
    except ValueError:
        raise SuppleError(
            f"--frequency {frequency}: write FROM:TO:COUNT, such as 0:100:401"
        ) from None
    if not 1 <= points <= MOST:
        raise SuppleError(f"--frequency {frequency}: COUNT runs from 1 to {MOST}")
    wanted: list[Any] = list(output or ["tip.y"])
    for k, text in enumerate(wanted):  # strain.LINK@0.5 is the curvature at half the link
        if text.startswith("strain."):
            link, _, fraction = text.removeprefix("strain.").partition("@")
            try:
                wanted[k] = Strain(link, float(fraction or 0.0), 1.0)
            except ValueError:
                raise SuppleError(f"--output {text}: write strain.LINK@FRACTION, 0 to 1") from None
    found = ask(
        robot,
        frequency_hz=np.linspace(*ends, points),
        inputs=input or ["force.y"],
        outputs=wanted,
        joints=joint_words(joints),
        **asked,
        **where,
    )
    if plot is not None:
        draw_answer(found, plot, kind=kind)
    _tell(found, where, json)
    if not json:
        tell_places(plot, None)


MOST = 10**6  # frequencies of one answer


def _pairs(values: Any) -> Any:
    """Complex numbers as pairs of real and imaginary part; what is not finite as null."""
    import numpy as np

    flat = np.stack([np.real(values), np.imag(values)], axis=-1).astype(object)
    flat[~np.isfinite(flat.astype(float))] = None
    return flat.tolist()


def _tell(found: FrequencyResponse, where: dict[str, Any], json: bool) -> None:
    import numpy as np

    paths = [(output, name) for output in found.outputs for name in found.inputs]
    inside, plane = plane_of(found.robot)
    if json:
        keys = ("joints", "inputs", "outputs", "frequency_hz")
        document: dict[str, Any] = {
            "robot": found.robot.name,
            **plane,
            "configuration": found.theta,
        }
        document |= {key: getattr(found, key) for key in keys}
        document |= {"values": _pairs(found.values), "poles": _pairs(found.poles)}
        document |= {"rigid_modes": found.rigid_modes}
        zeros = {f"{o} / {i}": _pairs(_zeros(found, i, o)) for o, i in paths}
        print_json(document | {"zeros": zeros}, found)
        return
    say(f"{plain(found.robot.name)} at {configuration_text(found, where)}, joints {found.joints}")
    poles = ", ".join(digits(p / (2 * np.pi)) for p in found.poles.imag) or "none"
    say(f"natural frequencies{inside} in the band, Hz: {poles}")
    if found.rigid_modes:
        say(f"and {found.rigid_modes} at zero: nothing holds the motors")
    say()
    rows = []
    for (output, name), values in zip(paths, found.values.reshape(-1, len(paths)).T, strict=True):
        size = np.where(np.isfinite(values), np.abs(values), -1.0)
        k = int(np.argmax(size))
        lines = []
        for z in _zeros(found, name, output):
            kind = " r" if abs(z.real) > abs(z.imag) else ""
            if abs(z.imag) > 1e-9 * abs(z) and abs(z.real) > 1e-9 * abs(z):
                kind = " (complex)"
            lines.append(digits(abs(z) / 6.283185307179586) + kind)
        peak = f"{digits(float(size[k]))} at {found.frequency_hz[k]:g} Hz"
        rows.append((output, name, peak, ", ".join(lines) or "none"))
    print_table(
        ("output", "input", "largest value (SI)", "zeros, Hz (r: real, no minimum phase)"), rows
    )


def _zeros(found: FrequencyResponse, name: str, output: str) -> Any:
    """Zeros of a path; none where the input does not move the output."""
    try:
        return found.zeros(name, output)
    except SuppleError:
        return []
