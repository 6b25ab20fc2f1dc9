"""`supple identify`, `supple where-to-measure`: parameters from measurements, which to make."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import File, Json, Plot, Save, angles
from ..output import (
    check_places,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from ..signature_options import options_of

__all__ = ["identify", "where_to_measure"]

Free = Annotated[
    list[str],
    typer.Option("--free", metavar="PATH", help="A parameter to fit; may be repeated."),
]
Prior = Annotated[
    list[str],
    typer.Option(
        "--prior",
        metavar="PATH=mean:std",
        help="Prior mean and deviation of a parameter; may be repeated.",
    ),
]


@options_of("measure.identify:identify", "kind", "damping", "sigma", "loss", "starts", "validation")
def identify(
    file: File,
    data: Annotated[list[str], typer.Argument(metavar="MEASURED.csv...", help="Measured tables.")],
    free: Free,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="0,45deg,...", help="Joint coordinates of tables that contain none."
        ),
    ] = None,
    joints: Annotated[
        str | None, typer.Option("--joints", help="locked or free, as in modes and response.")
    ] = None,
    start: Annotated[
        list[str],
        typer.Option("--start", metavar="PATH=value", help="Initial value of a parameter."),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    bound: Annotated[
        list[str], typer.Option("--bound", metavar="PATH=low:high", help="Limits of a parameter.")
    ] = [],  # noqa: B006 - as above
    prior: Prior = [],  # noqa: B006 - as above
    tie: Annotated[
        list[str],
        typer.Option(
            "--tie", metavar="PATH=FREE", help="A path whose value is tied to a free one."
        ),
    ] = [],  # noqa: B006 - as above
    out: Annotated[
        str | None, typer.Option("--out", metavar="FITTED.yaml", help="Robot file to write.")
    ] = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Fit parameters of a robot to measurements, with standard deviations."""
    from ... import files
    from ...files.disk import check_place
    from ...measure.identify import identify as ask

    check_places(plot, save)
    if out is not None:
        check_place(out, file)
    given: dict[str, Any] = {"joints": joints, **asked}
    if at is not None:
        given["theta"] = angles(at, "--at")
    given["start"] = {path: value[0] for path, value in _pairs(start, "--start", 1).items()} or None
    given["bounds"] = _pairs(bound, "--bound", 2) or None
    given["priors"] = _pairs(prior, "--prior", 2) or None
    ties = {}
    for text in tie:
        path, _, source = text.partition("=")
        if not source:
            raise SuppleError(f"--tie {text}: write it as PATH=FREE_PATH")
        ties[path] = source
    given["ties"] = ties or None
    found = ask(file, list(data), list(free), **given)
    if out is not None:
        files.dump(found.robot, out)
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    ends = {name: found.interval(name, profile=False) for name in found.names}
    if json:
        finite = {k: [x if math.isfinite(x) else None for x in pair] for k, pair in ends.items()}
        document = {
            "robot": found.nominal.name,
            "values": dict(found.values),
            "std": {k: v if math.isfinite(v) else None for k, v in found.std.items()},
            "interval_95": finite,
            "names": list(found.names),
            "correlation": found.correlation,
            "noise": dict(found.noise),
            "fit_percent": found.fit_percent,
            "warnings": list(found.warnings),
            "notes": list(found.notes),
        }
        if found.validation_percent is not None:
            document["validation_percent"] = found.validation_percent
        print_json(document, found)
        return
    say(
        f"{plain(found.nominal.name)}: {len(found.measured)} values, {len(found.names)} "
        f"parameters, fit {found.fit_percent:.4g} %"
    )
    begin = found._problem.parameters.start
    rows = []
    for k, name in enumerate(found.names):
        known = math.isfinite(found.std[name])
        rows.append(
            (
                name,
                f"{begin[k]:.6g}",
                f"{found.values[name]:.6g}",
                f"{found.std[name]:.3g}" if known else "not told",
                f"{ends[name][0]:.6g} to {ends[name][1]:.6g}" if known else "-",
            )
        )
    print_table(("parameter", "start>", "value>", "std>", "95 %>"), rows)
    for name, size in found.noise.items():
        say(f"noise of {plain(name)}: {size:.3g}")
    if found.validation_percent is not None:
        say(f"held-out values are predicted to {found.validation_percent:.4g} %")
    for line in found.notes:
        say(f"note: {line}")
    for line in found.warnings:
        say(f"Warning: {line}")
    if out is not None:
        say(f"Written: {out}")
    tell_places(plot, save)


@options_of("measure.where_to_measure:where_to_measure", "count", "modes", "noise")
def where_to_measure(
    file: File,
    free: Free,
    over: Annotated[
        list[str],
        typer.Option("--over", metavar="theta.link2=-2:2:9", help="Poses to choose from."),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    prior: Prior = [],  # noqa: B006 - as above
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
    **asked: Any,
) -> None:
    """Choose the poses that determine parameters best, with the deviations to expect."""
    import numpy as np

    from ... import files
    from ...measure.where_to_measure import where_to_measure as ask
    from ...studies.design.varied import coordinate_names
    from ..design.sweep import parse_over

    check_places(plot, save)
    robot = files.load(file)
    names = coordinate_names(robot)
    candidates = None
    if over:
        grids = {name: np.zeros(1) for name in names}
        for text in over:
            key, values = parse_over(text)
            name = key.removeprefix("theta.")
            if name not in grids or not key.startswith("theta."):
                known = ", ".join(f"theta.{name}" for name in names)
                raise SuppleError(f"--over {text}: the coordinates are {known}")
            grids[name] = np.asarray(values, float)
        mesh = np.meshgrid(*grids.values(), indexing="ij")
        candidates = np.stack([part.ravel() for part in mesh], axis=1)
    found = ask(
        robot,
        list(free),
        candidates,
        priors=_pairs(prior, "--prior", 2) or None,
        **asked,
    )
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        std = {k: v if math.isfinite(v) else None for k, v in found.std.items()}
        document = {"robot": robot.name, "theta": found.theta, "std": std}
        print_json(document | {"warnings": list(found.warnings)}, found)
        return
    say(f"{plain(robot.name)}: measure the lowest {asked['modes']} frequencies at")
    rows = [
        (str(k + 1), *(f"{math.degrees(x):.4g}" for x in theta))
        for k, theta in enumerate(found.theta)
    ]
    print_table(("pose", *(f"{name} (deg)>" for name in names)), rows)
    say(f"\nStandard deviations to expect at a noise of {found.noise:g}:")
    print_table(
        ("parameter", "std>", "of the value (%)>"),
        [
            (name, f"{size:.3g}", f"{100 * found.relative_std[k]:.3g}")
            for k, (name, size) in enumerate(found.std.items())
        ],
    )
    for line in found.warnings:
        say(f"Warning: {line}")
    tell_places(plot, save)


def _pairs(texts: list[str], option: str, count: int) -> dict[str, tuple[float, ...]]:
    """Return `PATH=a:b` as a table of numbers by path."""
    found = {}
    for text in texts:
        path, _, rest = text.partition("=")
        try:
            values = tuple(float(part) for part in rest.split(":"))
        except ValueError:
            values = ()
        if not path or len(values) != count:
            form = {1: "PATH=value", 2: "PATH=a:b"}[count]
            raise SuppleError(f"{option} {text}: write it as {form}")
        found[path] = values
    return found
