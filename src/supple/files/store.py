"""A Zarr store beside the chunks of a sweep, for answers that do not fit into memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SuppleError
from .chunks import Chunks

if TYPE_CHECKING:
    import xarray

__all__ = ["store_chunks"]


def store_chunks(chunks: Chunks, count: int, chunk: int) -> xarray.Dataset:
    """Write what chunks hold into `atlas.zarr` and return it, read as needed.

    Variables are (configuration, ...); what is not there is NaN, False or zero. One chunk is held
    in memory at a time.
    """
    try:
        import dask.array as lazy
        import xarray
        import zarr
    except ImportError:
        raise SuppleError(
            "an answer of this size needs the extras: pip install 'supple[zarr,dask]'"
        ) from None
    place = chunks.folder / "atlas.zarr"
    read: Any = lazy.from_zarr
    data: dict[str, Any] = {}
    try:
        group: Any = zarr.open_group(store=str(place), mode="a")
        for index in chunks:
            for name, value in chunks[index].items():
                if name not in data:
                    fill: Any = {"f": np.nan, "b": False}.get(value.dtype.kind, 0)
                    own = value.shape[1:]
                    data[name] = group.require_array(
                        name,
                        shape=(count, *own),
                        chunks=(chunk, *own),
                        dtype=value.dtype,
                        fill_value=fill,
                    )
                start = index * chunk
                data[name][start : start + len(value)] = value
    except Exception as problem:  # noqa: BLE001 - what a damaged store or a full disk raises there
        why = getattr(problem, "strerror", None) or f"it is damaged ({type(problem).__name__})"
        raise SuppleError(
            f"cannot write {place}: {why}; remove it, it is made again from the chunks beside it"
        ) from None
    arrays = {
        name: (
            ("configuration", *(f"{name}_{k}" for k in range(array.ndim - 1))),
            read(array),
        )
        for name, array in data.items()
    }
    return xarray.Dataset(arrays)
