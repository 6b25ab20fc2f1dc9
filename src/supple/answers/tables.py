"""Answers as labelled data: a Dataset, the rows of a table, and what a notebook shows."""

from __future__ import annotations

from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas
    import xarray

__all__ = ["SHOWN_ROWS", "dataset", "dataset_as_columns", "frame"]

BATCH = "configuration"
SHOWN_ROWS = 10  # rows of a table that a notebook shows
AXES = {"axis": ("x", "y", "z"), "motion": ("x", "y", "z", "about x", "about y", "about z")}


def dataset(answer: Any) -> xarray.Dataset:
    """Return an answer as a Dataset: the arrays that its `dims` name, all else as attributes.

    Arrays that `dims` does not name get axes of their own.
    """
    import xarray

    data = {}
    metadata = {}
    for name in dict.fromkeys([*vars(answer), *answer.dims]):
        value = getattr(answer, name)
        if isinstance(value, np.ndarray | np.generic | list):
            array = np.asarray(value)
            own = tuple(f"{name}_{k}" for k in range(array.ndim))
            dims = answer.dims.get(name, own)
            dims = (BATCH, *dims) if array.ndim == len(dims) + 1 else dims
            unit = answer.units.get(name)
            data[name] = (dims, array, {"units": unit} if unit else {})
        elif not name.startswith("_"):
            parts = value.items() if isinstance(value, dict) else [("", value)]
            for key, part in parts:
                if isinstance(part, str | float | int):
                    plain = int(part) if isinstance(part, bool) else part
                    metadata[f"{name}.{key}" if key else name] = plain
    sizes = {
        dim: n for dims, array, _ in data.values() for dim, n in zip(dims, array.shape, strict=True)
    }
    labels: dict[str, Any] = {
        dim: list(words) for dim, words in AXES.items() if sizes.get(dim) == len(words)
    }
    labels |= {dim: np.arange(1, sizes[dim] + 1) for dim in ("mode", "branch") if dim in sizes}
    for dim, given in answer.labels.items():
        if dim in sizes:
            entries = attrgetter(given)(answer) if isinstance(given, str) else given
            entries = entries(answer) if callable(entries) else entries
            labels[dim] = entries if isinstance(entries, np.ndarray) else list(entries)
    if (robot := getattr(answer, "robot", None)) is not None:
        metadata["robot"] = robot.name
    for name in labels.keys() & data.keys():
        labels[name] = data.pop(name)
    return xarray.Dataset(data, coords=labels, attrs=metadata)


def frame(answer: Any) -> pandas.DataFrame:
    """Return the rows of an answer's Dataset along its `table_rows`."""
    data = answer.to_xarray()
    rows = [dim for dim in answer.table_rows if dim in data.sizes]
    if not rows and BATCH not in data.sizes:  # one row of all that it says
        data = data.assign(data.attrs)
    if BATCH in data.sizes and BATCH not in rows:
        rows.insert(0, BATCH)
    chosen = [name for name, part in data.items() if not rows or set(rows) & set(part.dims)]
    return dataset_as_columns(
        data[[name for name in answer.columns if name in data] or chosen], rows
    )


def dataset_as_columns(data: xarray.Dataset, rows: list[str]) -> pandas.DataFrame:
    """Return the variables of a Dataset as columns, a row for each entry of `rows`.

    A variable with further axes has a column for each of their entries, `name.entry`; one with
    fewer is repeated. Without `rows` there is one row.
    """
    import pandas

    columns: dict[str, Any] = {}
    shape = tuple(data.sizes[dim] for dim in rows)
    for name, variable in data.data_vars.items():
        rest = [dim for dim in variable.dims if dim not in rows]
        own = [dim for dim in rows if dim in variable.dims]
        array: Any = variable.transpose(*own, *rest).values
        for at in product(*(range(data.sizes[dim]) for dim in rest)):
            words = [
                str(data[dim].values[k]) if dim in data.coords else str(k + 1)
                for dim, k in zip(rest, at, strict=True)
            ]
            part = array[(..., *at)] if at else array
            place = tuple(slice(None) if dim in own else None for dim in rows)
            full = np.broadcast_to(part[place], shape).ravel()
            # Values as they are, complex ones in two columns
            parts = [("", full)]
            if full.dtype.kind == "c":
                parts = [(".real", full.real), (".imag", full.imag)]
            for word, values in parts:
                columns[".".join([str(name), *words]) + word] = values
    if not rows:
        return pandas.DataFrame(columns)
    labels = [
        data[dim].values if dim in data.coords else np.arange(data.sizes[dim]) for dim in rows
    ]
    index = pandas.MultiIndex.from_product(labels, names=rows)
    return pandas.DataFrame(columns, index=index if len(rows) > 1 else index.get_level_values(0))
