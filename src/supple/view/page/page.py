"""Saved page: Scenes, tables and plots in one HTML file that opens anywhere, without a network."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...files.disk import as_path, check_place, write_text
from ..scene.scene import Scene, plain

__all__ = [
    "LIMIT",
    "Chapter",
    "Choice",
    "Heat",
    "Plot",
    "Series",
    "Table",
    "check_page",
    "is_page",
    "page_text",
    "pose_bytes",
    "save_page",
]

Array = NDArray[np.float64]
LIMIT = 1_500_000  # bytes of a page
SCRIPTS = ("maths", "track", "draw", "figure", "plot", "heat", "panel", "steer", "viewer", "page")


@dataclass(frozen=True)
class Table:
    """Rows of words and numbers; a column whose name ends with `>` is flush right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int]]
    note: str = ""


@dataclass(frozen=True)
class Series:
    """One curve; with `marks` its points only. `short` is written at its end."""

    name: str
    x: Sequence[float] | Array
    y: Sequence[float] | Array
    short: str = ""
    marks: bool = False


@dataclass(frozen=True)
class Plot:
    """Curves over a common x, with their values under the pointer."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    log: bool = False
    note: str = ""


@dataclass(frozen=True)
class Choice:
    """A slider beside a map: what it is called, and what it says at each of its stops."""

    name: str
    words: Sequence[str]


@dataclass(frozen=True)
class Heat:
    """A value over a plane in colours, with its value under the pointer.

    Attributes
    ----------
    x
        (X,).
    y
        (Y,).
    values
        (Y, X), NaN where there is none; with `choices` in front one axis for each.
    span
        Lowest and highest colour, shared where several are compared; `spans` one for each stop of
        the first choice instead.
    """

    title: str
    x_label: str
    y_label: str
    label: str
    x: Sequence[float] | Array
    y: Sequence[float] | Array
    values: Array
    span: tuple[float, float]
    note: str = ""
    choices: Sequence[Choice] = ()
    spans: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Chapter:
    """A part of a page: paragraphs, a Scene to play with, tables, plots and maps."""

    title: str = ""
    short: str = ""
    text: Sequence[str] = ()
    scene: Scene | None = None
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    maps: Sequence[Heat] = ()


def save_page(
    path: str | Path, title: str, chapters: Sequence[Chapter], lead: Sequence[str] = ()
) -> Path:
    """Write a page and return its path; one that grew too large is a sentence."""
    place = check_page(path)
    text = page_text(title, chapters, lead)
    size = len(text.encode())
    if size > LIMIT:
        raise SuppleError(
            f"'{path}' would be a page of {size / 1e6:.1f} MB, {LIMIT / 1e6:g} MB at most: ask "
            "fewer modes or configurations, or fewer instants (samples=)"
        )
    return write_text(place, text)


def pose_bytes(links: int, modes: int, points: int) -> float:
    """Return what one pose takes in a page, as measured on spatial arms and Deltas."""
    return modes * (13.0 * links * points + 60) + 50 * links


def check_page(path: str | Path) -> Path:
    """Return the path of a page to write, checked before anything is computed."""
    if not is_page(path):
        raise SuppleError(f"'{path}' is not a page: its name must end with .html")
    return check_place(path)


def is_page(path: str | Path) -> bool:
    """Return whether a name is that of a page."""
    return as_path(path).suffix.lower() in (".html", ".htm")


def page_text(title: str, chapters: Sequence[Chapter], lead: Sequence[str] = ()) -> str:
    """Return the whole page: document, style, script and data."""
    packed = []
    for chapter in chapters:
        scene = chapter.scene
        plots = [asdict(plot) for plot in chapter.plots]
        for series in (series for plot in plots for series in plot["series"]):
            for axis in ("x", "y"):  # no drawing and no pointer tells seven digits from all
                series[axis] = _short(np.asarray(series[axis], float), 7)
        packed.append(
            {
                "title": chapter.title,
                "short": chapter.short,
                "text": list(chapter.text),
                "scene": None if scene is None else _packed_scene(scene),
                "tables": [asdict(table) for table in chapter.tables],
                "plots": plots,
                "maps": [
                    {**asdict(heat), "values": _short(heat.values, 6)} for heat in chapter.maps
                ],
            }
        )
    data = {
        "title": title,
        "lead": list(lead),
        "chapters": packed,
        "footer": "Made with supple. This file needs no network and can be passed on as it is.",
    }
    text = json.dumps(plain(data), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    scripts = [f"{name}.js" for name in SCRIPTS]
    folder = files(__package__) / "assets"
    page, style, *script = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", *scripts)
    )
    parts = {
        "title": html.escape(title),
        "style": style,
        "script": "\n".join(script),
        "data": text.replace("<", "\\u003c"),
    }
    pieces = page.split("@")
    return "".join(parts[word] if k % 2 else word for k, word in enumerate(pieces))


def _short(values: Array, digits: int) -> list[Any]:
    """Numbers with so many digits, as nested lists."""
    if values.ndim > 1:
        return [_short(row, digits) for row in values]
    return [float(f"{value:.{digits}g}") for value in values]


def _packed_scene(scene: Scene) -> dict[str, Any]:
    # Numbers that are read stay as they are; what is only drawn is packed as whole numbers up to
    # `top`, a scale for each shape, or None for zeros. Displacements take two bytes, 3e-5 of the
    # largest; rotations, which only tilt sections, one
    tracks = []
    for track in scene.tracks:
        wholes = []
        for c in range(6):
            values = track.motion[..., c]
            top = 32767 if c < 3 else 127
            largest = np.abs(values).max(axis=(0, 2, 3), keepdims=True)
            if not largest.any():
                packed = None
            else:
                scale = np.where(largest > 0, largest, 1.0) / top
                kind, dtype = ("i16", np.int16) if top > 127 else ("i8", np.int8)
                packed = _pack_array(_once(values) / scale, scale.ravel().tolist(), kind, dtype)
            wholes.append(packed)
        tracks.append(
            {
                "kind": track.kind,
                "name": track.name,
                "unit": track.unit,
                "note": track.note,
                "start": track.start,
                "at": track.at,
                "values": track.values,
                "frequency_hz": track.frequency_hz,
                "kinds": track.kinds,
                "largest": track.largest,
                **{
                    key: _pack_array(_once(getattr(track, key)), [1.0], "f32", np.float32)
                    for key in ("p", "quaternion", "L")
                },
                "motion": wholes,
                "energy": _pack_array(_once(track.energy) * 255, [1 / 255], "u8", np.uint8),
            }
        )
    rest = {key: value for key, value in vars(scene).items() if key not in ("tracks", "meshes")}
    plain_rest = {
        key: [asdict(v) for v in value] if key in ("links", "solids", "shapes") else value
        for key, value in rest.items()
    }
    cloud = None if scene.cloud is None else asdict(scene.cloud)
    meshes = []
    for part in scene.meshes:
        step = float(np.abs(part.vertices).max()) / 32767 or 1.0
        meshes.append(
            {
                "link": part.link,
                "colour": part.colour,
                "vertices": _pack_array(part.vertices / step, [step], "i16", np.int16),
                "faces": _pack_array(part.faces.astype(float), [1.0], "i16", np.int16),
            }
        )
    return {**plain_rest, "tracks": tracks, "cloud": cloud, "meshes": meshes}


def _once(values: Array) -> Array:
    """Only the first row of what does not change along the track."""
    size = float(np.abs(values).max()) if values.size else 0.0
    steady = values.size and float(np.abs(values - values[:1]).max()) <= 1e-6 * size
    return values[:1] if steady else values


def _pack_array(values: Array, scale: list[float], kind: str, dtype: Any) -> dict[str, Any]:
    numbers = values if kind == "f32" else np.round(values)
    text = base64.b64encode(np.ascontiguousarray(numbers, dtype).tobytes()).decode()
    return {"type": kind, "shape": list(values.shape), "scale": scale, "bytes": text}
