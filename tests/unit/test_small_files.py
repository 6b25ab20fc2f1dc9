"""Small files that claim much: sizes are judged before anything is allocated."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import netCDF4
import numpy as np
import pytest

import supple
from supple.equations.functions import MOST_DERIVED
from supple.files import data as tables
from supple.files import joint_trajectories
from supple.files.chunks import Chunks
from supple.files.data import SEAL_MARK, seal


def swollen_netcdf(place: Path, how: str) -> None:
    """A few kilobytes that unpack to gigabytes."""
    with netCDF4.Dataset(place, "w") as found:
        if how == "never written":
            found.createDimension("t", 800_000_000)
            found.createVariable("t", "f8", ("t",), chunksizes=(1_000_000,))
        else:  # ten values in a chunk that is unpacked whole
            found.createDimension("t", None)
            chunk = found.createVariable("t", "f8", ("t",), zlib=True, chunksizes=(200_000_000,))
            chunk.setncattr("units", "s")


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("how", ["never written", "one huge chunk"])
def test_a_small_netcdf_file_that_unpacks_to_gigabytes(tmp_path: Path, how: str, sealed: bool):
    place = tmp_path / "run.nc"
    swollen_netcdf(place, how)
    if sealed:
        seal(place)
        assert SEAL_MARK in place.read_bytes()
    assert place.stat().st_size < 50_000
    with pytest.raises(supple.SuppleError, match=r"it unpacks to .* GB"):
        supple.load_response(place)


def test_a_forged_chunk_of_a_sweep_is_as_good_as_absent(tmp_path: Path) -> None:
    chunks = Chunks(tmp_path / "kept", "key", {})
    chunks.save(0, {"omega": np.zeros(10)})
    assert chunks.ready() == {0}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in (("omega", np.zeros(2_000_000)), ("key", np.array("key"))):
            text = io.BytesIO()
            np.save(text, value)
            archive.writestr(f"{name}.npy", text.getvalue())
    raw = held.getvalue()
    chunks.place(1).write_bytes(raw + hashlib.sha256(b"key 1 " + raw).digest())
    assert chunks.ready() == {0}


def mcap_log(place: Path, chunks: int, size: int) -> None:
    """A log of chunks of spaces, each of which is small enough by itself."""
    from mcap.writer import CompressionType, Writer

    with place.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD, chunk_size=size)
        writer.start()
        schema = writer.register_schema("trajectory_msgs/JointTrajectory", "jsonschema", b"{}")
        channel = writer.register_channel("/plan", "json", schema)
        for _ in range(chunks):
            writer.add_message(channel, log_time=0, publish_time=0, data=b" " * size)
        writer.finish()


def test_a_small_log_of_many_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "log.mcap"
    mcap_log(place, 10, 1_000_000)
    assert place.stat().st_size < 20_000
    monkeypatch.setattr(joint_trajectories, "MAX_BYTES", 5_000_000)
    with pytest.raises(supple.SuppleError, match="unpacks to more than 5 MB"):
        joint_trajectories.read_joint_trajectory(place)


def test_json_with_too_many_values_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "move.json"
    place.write_text("[" + "0," * 200_000 + "0]")
    monkeypatch.setattr(joint_trajectories, "MAX_VALUES", 100_000)
    with pytest.raises(supple.SuppleError, match="more than 100,000 values"):
        joint_trajectories.read_joint_trajectory(place)


def test_csv_with_too_many_columns_is_refused_line_by_line(tmp_path: Path) -> None:
    place = tmp_path / "move.csv"
    place.write_text("t,a\n0,1\n" + "," * 2 * tables.MOST_COLUMNS)
    with pytest.raises(supple.SuppleError, match="line 3 has more than 10,000 columns"):
        joint_trajectories.read_joint_trajectory(place)
    with pytest.raises(supple.SuppleError, match="line 3 has more than 10,000 columns"):
        supple.Table.from_csv(place)


def test_csv_says_what_it_said(tmp_path: Path) -> None:
    place = tmp_path / "move.csv"
    for text, told in (
        ("", "is empty"),
        ("a,b\n0,1\n", "the first line is 'a,b'"),
        ("t,a\n0,1\n\n1,x\n", "row 3 holds '1,x', which are not all numbers"),
        ("t,a\n0,1\n1,2,3\n", "row 3 has 3 values, the header has 2"),
        ("t,a\n0,1\n", "has 1 rows of numbers"),
    ):
        place.write_text(text)
        with pytest.raises(supple.SuppleError, match=told):
            joint_trajectories.read_joint_trajectory(place)
    place.write_bytes(b"t,a\n0,1\n\xff\xfe,1\n")
    with pytest.raises(supple.SuppleError, match="is not text"):
        joint_trajectories.read_joint_trajectory(place)
    place.write_bytes("\ufefft,a\r\n0,1\r\n1,2\r\n".encode())
    found = joint_trajectories.read_joint_trajectory(place)
    assert found.names == ("a",)
    assert found.positions.tolist() == [[1.0], [2.0]]


def test_a_trajectory_without_joints_is_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "move.json"
    point = {"positions": [], "time_from_start": 0.0}
    place.write_text(json.dumps({"joint_names": [], "points": [point, {**point}]}))
    with pytest.raises(supple.SuppleError, match="joint_names is missing, or holds no names"):
        joint_trajectories.read_joint_trajectory(place)


def test_a_model_keeps_a_bounded_number_of_steppers() -> None:
    """It kept one for every gain that was ever tried."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    path = supple.PointToPoint([0.0, 0.0], [0.1, 0.0], 0.01)
    first = None
    for gain in [*range(1, 40), 1]:
        law = supple.JointPD(float(gain), 1.0)
        run = supple.simulate(model, controller=law, trajectory=path, duration=0.002)
        first = run if first is None else first
    assert len(model.functions._derived) <= MOST_DERIVED
    assert (run.q == first.q).all()  # the first law again, its stepper made anew
