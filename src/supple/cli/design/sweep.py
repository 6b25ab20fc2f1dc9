"""`supple sweep`: a study over everything that varies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import At, File, Json, Plot, Position, angles, measure, numbers
from ..motion.options import Path
from ..output import AS_CSV, check_places, plain, print_json, print_table, say

if TYPE_CHECKING:
    import xarray

__all__ = ["parse_over", "sweep"]

STOPPED = 130  # exit code of what was ended by Ctrl-C

Over = Annotated[
    list[str],
    typer.Option(
        "--over",
        metavar="KEY=VALUES",
        help="What varies: theta.link2=-2:2:200 (from:to:points), payload.mass=0,5,10, or over "
        "decades links.link1.joint.stiffness=1:1e11:35:log. "
        "May be repeated.",
    ),
]
Sample = Annotated[
    str | None,
    typer.Option(
        "--sample", help="random, latin or sobol points between the ends instead of a grid."
    ),
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FOLDER",
        help="Folder for the chunks; an interrupted sweep resumes from it.",
    ),
]
Scheduler = Annotated[
    str,
    typer.Option(
        "--scheduler", help="serial, threads, processes, or the tcp:// address of a Dask scheduler."
    ),
]
Shard = Annotated[
    str | None,
    typer.Option("--shard", metavar="i/n", help="Compute part i of n only, counted from 0."),
]
SaveNc = Annotated[
    str | None,
    typer.Option(
        "--save", metavar="FILE", help="Write netCDF (.nc) or an interactive page (.html)."
    ),
]
Reduce = Annotated[
    str | None,
    typer.Option("--reduce", help="Keep only the minimum or maximum, and where it is."),
]


def sweep(
    file: File,
    study: Annotated[str, typer.Argument(help="modes, statics, simulate or stability.")] = "modes",
    over: Over = [],  # noqa: B006 - typer reads it, nobody changes it
    at: At = None,
    position: Position = None,
    count: Annotated[int, typer.Option("--count", help="Number of modes per configuration.")] = 6,
    trajectory: Path = None,
    sample: Sample = None,
    samples: Annotated[int, typer.Option("--samples", help="Number of sample points.")] = 1024,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the samples.")] = 0,
    out: Out = None,
    scheduler: Scheduler = "threads",
    workers: Annotated[int | None, typer.Option("--workers", help="Number of workers.")] = None,
    shard: Shard = None,
    reduce: Reduce = None,
    save: SaveNc = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Run one study over many poses and parameters and print where the answer is lowest."""
    from ... import files
    from ...studies.design.sweep import sweep as ask
    from ..motion.simulate import trajectory_of

    check_places(plot, save, stored=True)
    given: dict[str, Any] = {"sample": sample, "samples": samples, "seed": seed}
    if study == "modes":
        given["count"] = count
    robot = files.load(file)
    if study == "stability":
        given["trajectory"] = trajectory_of(trajectory or "extension", robot)
    elif trajectory is not None:
        raise SuppleError("--trajectory is for the study stability")
    if reduce is not None:
        given["reduce"] = reduce.split(",")
    if at is not None:
        given["theta"] = angles(at, "--at")
    if position is not None:
        given["position"] = numbers(position, "--position", 3)
    spread = {"out": out, "scheduler": scheduler, "workers": workers, "shard": _shard(shard)}
    found = ask(robot, study, dict(parse_over(text) for text in over), **(given | spread))
    missing = found.attrs["configurations"] - found.attrs["computed"]
    if missing:  # a part of an answer never replaces a whole one
        from ...files.disk import partial_place

        if not found.attrs["computed"]:
            plot = None
            save = None
        plot, save = (place and str(partial_place(place)) for place in (plot, save))
    _write(found, save, plot)
    if not found.attrs["computed"] and not json:
        say("Nothing was computed, so nothing is printed, drawn or saved.")
    elif reduce is not None and not json:
        _print_reduced(found)
    elif json:
        table = found.to_dataframe().reset_index() if AS_CSV.get() else None
        print_json(_document(found), rows=None if table is None else table.to_dict("records"))
    else:
        _print(found)
    if not json:
        for word, place in (("Drawn", plot), ("Saved", save), ("Kept in", out)):
            if place is not None:
                say(f"{word}: {place}")
    if found.attrs["message"]:
        raise typer.Exit(STOPPED)


def _write(found: xarray.Dataset, save: str | None, plot: str | None) -> None:
    if save is not None and save.lower().endswith((".html", ".htm")):
        from ...view.page.atlas import save_atlas

        save_atlas(found, save, _name(found))
    elif save is not None:
        from ...files.data import write_dataset

        write_dataset(found, save)
    if plot is not None:
        from ...view.figures.sweeps import plot_sweep

        plot_sweep(found, plot)


def parse_over(text: str, option: str = "--over") -> tuple[str, list[float]]:
    """Return a key and its values from text.

    `theta.link2=-90deg:90deg:200`, `payload.mass=0,5,10`, or over decades
    `links.link1.joint.stiffness=1:1e11:35:log`.
    """
    key, equals, values = text.partition("=")
    if not equals or not key or not values:
        raise SuppleError(f"{option} {text}: write KEY=from:to:points or KEY=value,value,...")
    parts = values.split(":")
    if len(parts) == 1:
        return key, [measure(part, key, option) for part in values.split(",")]
    ends = [measure(part, key, option) for part in parts[:2]]
    if len(parts) == 2:
        return key, ends
    over_decades = len(parts) == 4 and parts[3] == "log"
    counted = (len(parts) == 3 or over_decades) and parts[2].isdecimal() and len(parts[2]) <= 9
    if not counted or not 1 <= int(parts[2]) <= 10**7:
        raise SuppleError(
            f"{option} {text}: write from:to:points, or from:to:points:log over decades, points "
            "from 1 to 10000000"
        )
    points = int(parts[2])
    last = max(points - 1, 1)
    if over_decades:
        if min(ends) <= 0:
            raise SuppleError(
                f"{option} {text}: a logarithmic range lies above zero; give two ends above zero, "
                "or leave out :log"
            )
        ratio = ends[1] / ends[0]
        inside = [ends[0] * ratio ** (k / last) for k in range(1, points - 1)]
        return key, [ends[0], *inside, ends[1]][:points]
    return key, [((last - k) * ends[0] + k * ends[1]) / last for k in range(points)]


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    i, slash, n = text.partition("/")
    if not slash or not i.isdecimal() or not n.isdecimal() or len(i + n) > 18:
        raise SuppleError(f"--shard {text}: write i/n, such as 0/8")
    return int(i), int(n)


def _document(found: xarray.Dataset) -> dict[str, Any]:
    import numpy as np

    def plain(values: Any) -> Any:
        array = np.asarray(values)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            plain_values = array.astype(object)
            plain_values[~np.isfinite(array)] = None
            return plain_values
        return array

    return {
        "robot": _name(found),
        **({"plane": "x-y"} if _inside(found) else {}),
        "study": found.attrs["study"],
        "configurations": int(found.attrs["configurations"]),
        "computed": int(found.attrs["computed"]),
        "dims": {str(k): int(v) for k, v in found.sizes.items()},
        "over": {str(k): plain(found[k]) for k in found.coords if k != "mode"},
        **{str(k): plain(v) for k, v in found.data_vars.items()},
    }


def _name(found: xarray.Dataset) -> str:
    import json

    return str(json.loads(found.attrs["robot"])["name"])


def _inside(found: xarray.Dataset) -> str:
    """What the frequencies are about: of a planar robot its plane."""
    import json

    return " in the x-y plane" * bool(json.loads(found.attrs["robot"]).get("planar"))


def _say_width(found: xarray.Dataset, width: float) -> None:
    """Say how well the roots are known, and what was counted; never of what was not computed."""
    from ...studies.vibration.modes import CERTIFIED_WIDTH

    count, total = (found.attrs[word] for word in ("computed", "configurations"))
    if count < total:
        say(f"{total - count:,} of {total:,} configurations were not computed.")
    word = f"Certified{_inside(found)}" if width <= CERTIFIED_WIDTH else "Not certified"
    which = "every root" if count == total else f"every root of the {count:,} that were computed"
    say(f"{word}: {which} lies in a counted bracket, the widest {width:.1e} of it.")


def _print_reduced(found: xarray.Dataset) -> None:
    import numpy as np

    keys = [str(key) for key in found["key"].values]
    count = int(found["configurations"])
    say(f"{plain(_name(found))}: {count:,} configurations of {', '.join(keys)}")
    rows = []
    for name in found.data_vars:
        if not str(name).endswith(("_minimum", "_maximum")) or str(name).startswith("width"):
            continue
        spots = found[f"{name}_at"].values.reshape(-1, len(keys))
        for k, value in enumerate(np.ravel(found[name].values)):
            where = ", ".join(f"{key} {x:.4g}" for key, x in zip(keys, spots[k], strict=True))
            shown = value / (2 * np.pi) if str(name).startswith("omega") else value
            rows.append((str(name), str(k + 1), f"{shown:.6g}", where))
    print_table(("value", "entry>", "Hz (omega) or SI>", "at"), rows)
    if "width_maximum" in found:
        _say_width(found, float(found["width_maximum"].max()))


def _print(found: xarray.Dataset) -> None:
    import numpy as np

    from ...view.wording import angles_in_degrees

    found = angles_in_degrees(found)
    keys = [str(k) for k in found.coords if k != "mode"]
    units = {k: found[k].attrs.get("units", "") for k in keys}
    shape = " x ".join(str(v) for k, v in found.sizes.items() if k not in ("mode", "axis"))
    say(f"{plain(_name(found))}: {found.attrs['study']} over {', '.join(keys)} ({shape})")
    if "omega" not in found:
        say("Use --save, --csv, --plot or --json for the numbers.")
        return
    hertz = found["omega"] / (2 * np.pi)
    rows = []
    for mode in found["mode"].values:
        own = hertz.sel(mode=mode)
        if not np.isfinite(own).any():
            continue
        row = [str(int(mode))]
        for best, worst in ((np.argmin, np.inf), (np.argmax, -np.inf)):
            values = np.where(np.isfinite(own.values), own.values, worst)
            spot = own[dict(zip(own.dims, np.unravel_index(best(values), own.shape), strict=True))]
            where = ", ".join(f"{k} {float(spot[k]):.4g} {units[k]}".rstrip() for k in keys)
            row += [f"{float(spot):.5g}", where]
        rows.append(row)
    print_table(("mode>", "lowest Hz>", "at", "highest Hz>", "at"), rows)
    missing = found.attrs["configurations"] - found.attrs["computed"]
    bad = int((~found["valid"]).sum()) - missing
    if bad:
        say(f"{bad} configurations have no answer: out of reach, or singular")
    _say_width(found, float(found["width"].max()))
