"""A sweep as a page: maps with sliders for all that is not an axis, or curves over one key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import SuppleError
from ..wording import angles_in_degrees, key_label
from .page import Chapter, Choice, Heat, Plot, Series, Table, save_page

if TYPE_CHECKING:
    import xarray

__all__ = ["save_atlas"]

MOST = 120_000  # values in a page


def save_atlas(found: xarray.Dataset, path: str | Path, name: str) -> Path:
    """Write the frequencies of a sweep over a grid as a page and return its path."""
    if "omega" not in found or "sample" in found.dims:
        raise SuppleError("only modes over a grid make a page: save the rest as .nc, or use --csv")
    found = angles_in_degrees(found)
    hertz: Any = found["omega"] / (2 * np.pi)
    keys = [str(key) for key in hertz.dims if key != "mode" and found.sizes[key] > 1]
    hertz = hertz.squeeze([key for key in hertz.dims if key not in (*keys, "mode")])
    # Where each mode is lowest, and where highest
    tables = []
    for word, pick, worst in (("Lowest", np.argmin, np.inf), ("Highest", np.argmax, -np.inf)):
        rows: list[list[str | int]] = []
        for mode in hertz["mode"].values:
            own = hertz.sel(mode=mode).transpose(*keys)
            values = np.where(np.isfinite(own), own, worst)
            spot = np.unravel_index(pick(values), values.shape)
            where = (own[key].values[k] for key, k in zip(keys, spot, strict=True))
            rows.append([int(mode), f"{values[spot]:.5g}", *(f"{float(x):.4g}" for x in where)])
        columns = ("mode>", "Hz>", *(f"{key}>" for key in keys))
        tables.append(Table(f"{word} frequencies", columns, rows))
    if len(keys) < 2:
        plots = []
        for key in keys:
            series = [
                Series(f"mode {int(mode)}", hertz[key].values, hertz.sel(mode=mode).values)
                for mode in hertz["mode"].values
            ]
            plots.append(Plot("Frequencies", key_label(hertz, key), "frequency (Hz)", series))
        chapter = Chapter(tables=tables, plots=plots)
    else:
        # The first two keys as axes, the others and the mode as sliders; every n-th value if many
        across, up, *rest = keys
        step = 1
        while hertz.isel({key: slice(None, None, step) for key in keys}).size > MOST:
            step += 1
        part = hertz.isel({key: slice(None, None, step) for key in keys})
        part = part.transpose("mode", *rest, up, across)
        choices = [Choice("mode", [str(int(mode)) for mode in part["mode"].values])]
        choices += [Choice(key_label(part, k), [f"{x:.4g}" for x in part[k].values]) for k in rest]
        spans = [(float(np.nanmin(own)), float(np.nanmax(own))) for own in part]
        note = f"every {step}th value of each key" if step > 1 else ""
        drawn = Heat(
            "Natural frequency",
            key_label(part, across),
            key_label(part, up),
            "Hz",
            part[across].values,
            part[up].values,
            part.values,
            spans[0],
            note,
            choices,
            spans,
        )
        chapter = Chapter(tables=tables, maps=[drawn])
    lead = (
        f"Modes of {name} over {', '.join(keys) or 'one configuration'}: "
        f"{hertz.size // hertz.sizes['mode']:,} configurations, every frequency counted."
    )
    return save_page(path, f"{name}: atlas of frequencies", [chapter], [lead])
