"""Drawings and joint trajectories that somebody damaged, or made to do damage: sentences, soon."""

import contextlib
import json
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

import supple
from supple.files.joint_trajectories import read_joint_trajectory, write_joint_trajectory
from supple.files.recordings import read_columns
from unit.test_disk import damaged

Numbers = list[tuple[int, Any]]


def drawing(*entities: tuple[str, Numbers], unit: str = "4") -> str:
    """A DXF drawing of entities, each its kind and its numbers by code."""
    words = ["0", "SECTION", "2", "HEADER", "9", "$INSUNITS", "70", unit, "0", "ENDSEC"]
    words += ["0", "SECTION", "2", "ENTITIES"]
    for kind, numbers in entities:
        words += ["0", kind, *(str(word) for pair in numbers for word in pair)]
    return "\n".join([*words, "0", "ENDSEC", "0", "EOF", ""])


def corners(*more: tuple[int, Any]) -> Numbers:
    """A triangle, and what is asked beside it."""
    return [*more, (10, 0), (20, 0), (10, 9), (20, 0), (10, 0), (20, 9)]


CIRCLE: tuple[str, Numbers] = ("CIRCLE", [(10, 0), (20, 0), (40, 10)])
LINE: tuple[str, Numbers] = ("LINE", [(10, 0), (20, 0), (11, 1), (21, 0)])
DRAWINGS = {
    "no corners": (drawing(("LWPOLYLINE", [(70, 1)])), "has no corners"),
    "flag nan": (drawing(("LWPOLYLINE", corners((70, "nan")))), "where a number belongs"),
    "flag inf": (drawing(("LWPOLYLINE", corners((70, "inf")))), "where a number belongs"),
    "bulge nan": (drawing(("LWPOLYLINE", [*corners((70, 1)), (42, "nan")])), "a number belongs"),
    "bulge tiny": (drawing(("LWPOLYLINE", [*corners((70, 1)), (42, 5e-324)])), "Profile"),
    "angle inf": (drawing(("ARC", [*CIRCLE[1], (50, "inf")])), "where a number belongs"),
    "huge": (drawing(("CIRCLE", [(10, "1e308"), (20, 0), (40, "1e308")])), "Profile"),
    "unit": (drawing(CIRCLE, unit="\u00b2"), "does not say its unit"),
    "many": (drawing(*[LINE] * 2001), "more than 2,000 curves"),
}


@pytest.mark.parametrize(("text", "sentence"), DRAWINGS.values(), ids=DRAWINGS)
def test_drawings(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "a.dxf").write_text(text, encoding="utf-8")
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.load_profile(tmp_path / "a.dxf")


def test_an_arc_of_360_degrees_is_a_circle(tmp_path: Path) -> None:
    """Its ends are one angle, and it was a division by zero."""
    for name, entity in (("a", CIRCLE), ("b", ("ARC", [*CIRCLE[1], (50, 0), (51, 360)]))):
        (tmp_path / f"{name}.dxf").write_text(drawing(entity), encoding="utf-8")
    circle, arc = (supple.load_profile(tmp_path / f"{name}.dxf") for name in "ab")
    assert arc.outline == circle.outline


POINTS = [{"positions": [k], "time_from_start": k} for k in range(2)]


def message(**changes: Any) -> str:
    return json.dumps({"joint_names": ["a"], "points": POINTS, **changes})


def at(stamp: Any, place: Any = 0) -> list[Any]:
    return [{"positions": [place], "time_from_start": stamp}, POINTS[1]]


LAUGHS = "a: &a [1, 1]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{', '.join(['*' + chr(97 + k)] * 10)}]\n" for k in range(12)
)
TRAJECTORIES = {
    "wide.csv": ("t,q\n0," + "1" * 200_000 + "\n1,2\n", "is no CSV file"),
    "far.csv": ("t,q\n-1e308,0\n1e308,2\n", "beyond 1e\\+12"),
    "deep.json": ("[" * 200_000, "is not JSON"),
    "deeper.json": ('{"a":' * 200_000, "is not JSON"),
    "time.json": (message(points=at(10**400)), "time_from_start of point 1"),
    "sec.json": (message(points=at({"sec": 10**400})), "time_from_start of point 1"),
    "words.json": (message(points=at({"sec": "now"})), "time_from_start of point 1"),
    "place.json": (message(points=at(0, 10**400)), "positions of point 1"),
    "true.json": (message(points=at(0, True)), "positions of point 1"),
    "short.json": (message(joint_names=["a", "b"]), "2 joints, but point 1 has 1"),
    "list.json": (message(points=[[1]]), "point 1 is no mapping"),
    "none.json": (message(points=None), "key points is missing"),
    "names.json": (message(joint_names=[["a"]]), "holds no names"),
    "half.json": (message(joint_names=["\ud800"]), "lone surrogate"),
    "deep.yaml": ("[" * 50_000, "nested deeper than 30 levels"),  # was a segmentation fault
    "laughs.yaml": (LAUGHS + "joint_names: *m\npoints: []\n", "more than 2,000,000 values"),
    "self.yaml": ("joint_names: [x]\npoints: &p [*p]\n", "the alias"),
    "twice.yaml": ("points: []\npoints: []\n", "given twice"),
    "object.yaml": ("a: !!python/object:os.system x\n", "is not known"),
    "cut.mcap": ("\u0089MCAP0\r\n", "is not a readable MCAP log"),
    "no\0name.csv": ("", "cannot name"),
}


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_trajectories(tmp_path: Path, name: str) -> None:
    text, sentence = TRAJECTORIES[name]
    if name.endswith(".mcap"):
        pytest.importorskip("mcap")
    if "\0" not in name:
        (tmp_path / name).write_bytes(text.encode("utf-8"))
    with pytest.raises(supple.SuppleError, match=sentence):
        read_joint_trajectory(tmp_path / name)


@pytest.mark.parametrize("packing", ["NONE", "LZ4", "ZSTD"])
def test_a_log_that_unpacks_to_far_more_than_it_is(
    tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes of zeros, packed well, took as much memory as they claimed."""
    writer = pytest.importorskip("mcap.writer")
    place = tmp_path / "a.mcap"
    for blank in (0, 1_000_000):
        with open(place, "wb") as file:
            log = writer.Writer(file, compression=writer.CompressionType[packing])
            log.start()
            schema = log.register_schema("JointTrajectory", "jsonschema", b"{}")
            channel = log.register_channel("/move", "json", schema)
            log.add_message(channel, 0, message().encode() + b" " * blank, 0)
            log.finish()
        monkeypatch.setattr("supple.files.joint_trajectories.MAX_BYTES", 100_000)
        if not blank:
            assert read_joint_trajectory(place).names == ("a",)
            continue
        with pytest.raises(supple.SuppleError, match=r"(unpacks to more|is larger) than 0 MB"):
            read_joint_trajectory(place)


def test_what_a_message_held_beside_its_points_is_written_again(tmp_path: Path) -> None:
    """A date in YAML became one of Python's, which JSON does not know."""
    text = f"header: {{stamp: 2020-01-01}}\njoint_names: [a]\npoints: {json.dumps(POINTS)}\n"
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    write_joint_trajectory(tmp_path / "b.json", read_joint_trajectory(tmp_path / "a.yaml"))
    assert json.loads((tmp_path / "b.json").read_text())["header"] == {"stamp": "2020-01-01"}


SQUARE = [
    (code, x)
    for y, z in ((-20, -20), (20, -20), (20, 20), (-20, 20))
    for code, x in ((10, y), (20, z))
]
SEEDS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a.dxf": (drawing(CIRCLE, ("LWPOLYLINE", [(70, 1), *SQUARE])), supple.load_profile),
    "b.dxf": (drawing(CIRCLE, ("LWPOLYLINE", corners((70, 1), (42, 0.3)))), supple.load_profile),
    "a.csv": ("t,q1,q2\n0,1,2\n0.5,1.5,2.5\n1,2,3e-1\n", read_joint_trajectory),
    "a.json": (message(), read_joint_trajectory),
    "a.yaml": (message().replace("}, {", "},\n {"), read_joint_trajectory),
}


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_bytes(tmp_path: Path, name: str) -> None:
    text, read = SEEDS[name]
    chance = random.Random(12)
    for _ in range(150):
        (tmp_path / name).write_bytes(damaged(text.encode(), chance))
        with contextlib.suppress(supple.SuppleError):
            read(tmp_path / name)


def test_a_text_recording_takes_little_more_memory_than_its_numbers(tmp_path: Path) -> None:
    """Two million rows of 2 bytes are 16 MB of numbers; wide text buffers took 36 MB for them."""
    place = tmp_path / "zeros.csv"
    place.write_bytes(b"a\n" + b"0\n" * 2_000_000)
    tracemalloc.start()
    try:
        columns = read_columns(place).columns
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(columns["a"]) == 2_000_000
    assert peak < 28e6


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"t,a\n0," + b"1" * 2_000_000, "line 2 is longer than 1,000,000 characters"),
        (b"\0" * 100_000, "neither text nor a known format"),
        ("t,a\n0,1\n".encode("utf-16"), "neither text nor a known format"),
    ],
)
def test_recordings_that_are_no_tables(tmp_path: Path, content: bytes, sentence: str) -> None:
    place = tmp_path / "a.csv"
    place.write_bytes(content)
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.resonances(place)


def test_a_small_mat_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    """20 million zeros are 0.2 MB when they are compressed, and took a gigabyte to read."""
    place = tmp_path / "zeros.mat"
    savemat(place, {"x": np.zeros(20_000_000)}, do_compression=True)
    with pytest.raises(supple.SuppleError, match=r"holds 20,000,000 numbers in .* bytes"):
        supple.resonances(place, rate=1000.0)


def test_a_recording_too_long_for_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUPPLE_MEMORY_GB", "0.001")
    with pytest.raises(supple.SuppleError, match=r"resonances of 20,000 samples would take .* cut"):
        supple.resonances(np.sin(np.arange(20_000.0)), rate=1000.0)
