"""What becomes of the chunks of a sweep: one Dataset, a Zarr store, or what is left of them.

A reduction keeps of each chunk what a map needs: the least and largest value with where they are,
and histograms. Reductions of chunks are reduced again, so nothing else is ever held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...values import unit_of
from .swept import DIMS, UNITS

if TYPE_CHECKING:
    import xarray

__all__ = [
    "REDUCTIONS",
    "checked_reduction",
    "dataset",
    "merge_chunks",
    "on_grid",
    "reduce_chunk",
    "reduced_dataset",
]

Array = NDArray[Any]
REDUCTIONS = ("minimum", "maximum", "histogram")


def dims_of(name: str, ndim: int) -> tuple[str, ...]:
    """Return the names of a variable's own axes."""
    return DIMS.get(name) or tuple(f"{name}_{k}" for k in range(ndim))


def unit(path: str) -> dict[str, str]:
    """Return the unit of a key as attributes, empty where it is not known; of joints that turn."""
    head, _, last = path.rpartition(".")
    if head == "theta":
        return {"units": "rad"}
    known = "m" if head == "position" else unit_of(last)
    return {"units": known} if known else {}


def coordinates(axes: Mapping[str, Array], grid: bool, modes: int) -> dict[str, Any]:
    """Return the coordinates of a Dataset: the keys, and the numbers of modes."""
    coords: dict[str, Any] = {
        path: ((path,) if grid else ("sample",), axis, unit(path)) for path, axis in axes.items()
    }
    if modes:
        coords["mode"] = np.arange(1, modes + 1)
    return coords


def dataset(
    answers: Mapping[int, Mapping[str, Array]],
    axes: Mapping[str, Array],
    grid: bool,
    shape: tuple[int, ...],
    chunk: int,
) -> xarray.Dataset:
    """Return all chunks as one Dataset; what was not computed is NaN, False or zero."""
    import xarray

    first = next(iter(answers.values()), {})
    dims = tuple(axes) if grid else ("sample",)
    count = int(np.prod(shape))
    data: dict[str, Any] = {}
    for name, like in first.items():
        fill: Any = np.nan if like.dtype.kind == "f" else False if like.dtype.kind == "b" else 0
        values = np.full((count, *like.shape[1:]), fill, like.dtype)
        for index, answer in answers.items():
            start = index * chunk
            values[start : start + len(answer[name])] = answer[name]
        attributes = {"units": UNITS[name]} if name in UNITS else {}
        own = dims_of(name, like.ndim - 1)
        data[name] = ((*dims, *own), values.reshape(*shape, *like.shape[1:]), attributes)
    modes = first["omega"].shape[1] if "omega" in first else 0
    return xarray.Dataset(data, coordinates(axes, grid, modes))


def on_grid(
    flat: xarray.Dataset, axes: Mapping[str, Array], grid: bool, shape: tuple[int, ...]
) -> xarray.Dataset:
    """Return a Dataset over `configuration` as one over the keys, without reading it."""
    import xarray

    dims = tuple(axes) if grid else ("sample",)
    data: dict[str, Any] = {}
    for name, found in flat.data_vars.items():
        own = found.shape[1:]
        attributes = {"units": UNITS[str(name)]} if name in UNITS else {}
        names = (*dims, *dims_of(str(name), len(own)))
        data[str(name)] = (names, found.data.reshape(*shape, *own), attributes)
    modes = flat["omega"].shape[1] if "omega" in flat else 0
    return xarray.Dataset(data, coordinates(axes, grid, modes))


def reduce_chunk(
    answer: Mapping[str, Array],
    columns: Mapping[str, Array],
    how: Sequence[str],
    edges: Array | None,
) -> dict[str, Array]:
    """Return what is left of one chunk, (1, ...) each: extremes, where they are, counts."""
    table = np.array(list(columns.values()))  # (keys, m)
    left: dict[str, Array] = {"configurations": np.array([table.shape[1]])}
    for name, values in answer.items():
        if values.dtype.kind != "f":
            if values.dtype.kind == "b":
                left[f"{name}_count"] = values.sum(axis=0)[None]
            continue
        rules = ("maximum",) if name == "width" else how  # of brackets the widest, always
        for word, pick, worst in (("minimum", np.argmin, np.inf), ("maximum", np.argmax, -np.inf)):
            if word in rules:
                row = pick(np.where(np.isfinite(values), values, worst), axis=0)
                best = np.take_along_axis(values, row[None], axis=0)
                left[f"{name}_{word}"] = best
                left[f"{name}_{word}_at"] = np.moveaxis(table[:, row], 0, -1)[None]
        if edges is not None and name == "omega":
            counts = [np.histogram(column, edges)[0] for column in values.T]
            left["omega_histogram"] = np.array(counts)[None]
    return left


def merge_chunks(chunks: Iterable[Mapping[str, Array]]) -> dict[str, Array]:
    """Return the reductions of chunks, in their order, as one."""
    total: dict[str, Array] = {}
    for chunk in chunks:
        if not total:
            total = {name: np.array(value) for name, value in chunk.items()}
            continue
        for name, value in chunk.items():
            if name.endswith("_at"):
                continue
            if name.endswith(("_minimum", "_maximum")):
                sign = 1 if name.endswith("_minimum") else -1
                better = sign * value < sign * total[name]
                better |= np.isnan(total[name]) & ~np.isnan(value)
                total[name] = np.where(better, value, total[name])
                spot = f"{name}_at"
                total[spot] = np.where(better[..., None], chunk[spot], total[spot])
            else:
                total[name] = total[name] + value
    return total


def reduced_dataset(total: Mapping[str, Array], keys: Sequence[str], edges: Any) -> xarray.Dataset:
    """Return reductions as a Dataset: `omega_minimum` (mode), `omega_minimum_at` (mode, key)..."""
    import xarray

    data: dict[str, Any] = {}
    for name, value in total.items():
        base = name.partition("_minimum")[0].partition("_maximum")[0].partition("_histogram")[0]
        axes: tuple[str, ...] = ()
        if name.endswith("_at"):
            axes = ("key",)
        elif name.endswith("_histogram"):
            axes = ("bin",)
        own = dims_of(base, value.ndim - 1 - len(axes)) if value.ndim > 1 else ()
        attributes = {"units": UNITS[base]} if base in UNITS and not axes else {}
        data[name] = ((*own, *axes), value[0], attributes)
    coords: dict[str, Any] = {"key": list(keys)}
    if edges is not None:
        coords["bin"] = 0.5 * (edges[1:] + edges[:-1])
    return xarray.Dataset(data, coords)


def checked_reduction(how: Any, edges: Any) -> tuple[tuple[str, ...], Array | None]:
    """Return the reductions asked for and the edges of a histogram, rad/s."""
    words = (how,) if isinstance(how, str) else tuple(how or ())
    for word in words:
        if word not in REDUCTIONS:
            raise SuppleError(f"reduce is {word!r:.40}: choose of {', '.join(REDUCTIONS)}")
    if ("histogram" in words) != (edges is not None):
        raise SuppleError(
            "a histogram needs its edges, and edges a histogram: give reduce='histogram' with "
            "edges=, two or more increasing frequencies in rad/s"
        )
    if edges is None:
        return words, None
    try:
        found = np.asarray(edges, float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.ndim != 1 or len(found) < 2 or not (np.diff(found) > 0).all():
        raise SuppleError(f"edges is {edges!r:.60}: give two or more increasing numbers, rad/s")
    return words, found
