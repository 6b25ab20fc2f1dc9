"""A hostile user: names as code, signals at random moments, small files that claim much, doors.

Each test prints how many cases were tried and how many faults were found.
"""

from __future__ import annotations

import ctypes
import io
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cli.console import Console
from soak.figures import Figures
from supple.exporters.names import comment_text
from supple.files import disk
from supple.view.live.door import AccessControl

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX"),
]
CODE_PIECES = ["*/", "/*", "//", "*", "/", "\\", "\n", "\r", "??/", "??'", '"', "'", "#", ";"]
CODE_PIECES += ["int intruder=1;", "\u2028", "\u037e", "\udcff", "%", "}", "{", "\x00", "\t", "é"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
def test_names_do_not_become_code(figures: Figures, tmp_path: Path) -> None:
    """Random names between the marks of a comment: the compiler sees nothing of them."""
    chance = random.Random(figures.seed)
    for batch in range(20):
        names = ["".join(chance.choices(CODE_PIECES, k=chance.randint(1, 8))) for _ in range(200)]
        text = "\n".join(f"/* {comment_text(name)} */" for name in names)
        source = tmp_path / f"{batch}.c"
        library = tmp_path / f"{batch}.so"
        source.write_text(text + "\nint present = 1;\n")
        command = ["gcc", "-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-shared"]
        built = subprocess.run(
            [*command, "-fPIC", str(source), "-o", str(library)], capture_output=True, check=False
        )
        for name in names:
            figures.tried()
            if set(comment_text(name)) & set("*/\\\n\r?"):
                figures.found(name, ValueError("a mark of C is left"))
        if built.returncode or hasattr(ctypes.CDLL(str(library)), "intruder"):
            figures.found(text, ValueError(built.stderr.decode()[:200]))
    figures.close()


SWEEP = ["sweep", "industrial-3", "--over", "theta.link2=0:1:150", "--over", "theta.link3=0:1:150"]


def supple_command(*words: str) -> list[str]:
    return [sys.executable, "-m", "supple", *words]


def hears_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_sweeps_that_are_ended(figures: Figures, tmp_path: Path, by: signal.Signals) -> None:
    """The whole file stays, the folder is resumed, nothing unfinished is left."""
    whole = tmp_path / "o.nc"
    folder = tmp_path / "kept"
    subprocess.run(
        supple_command("sweep", "industrial-3", "--over", "theta.link2=0:1:3", "--save", "o.nc"),
        cwd=tmp_path, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    before = whole.read_bytes()
    chance = random.Random(figures.seed)
    for _ in range(12):
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen(
            supple_command(*SWEEP, "--out", "kept", "--save", "o.nc"),
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=hears_ctrl_c,  # noqa: PLW1509
        )  # fmt: skip
        time.sleep(chance.uniform(0.5, 3.0))
        process.send_signal(by)
        said = process.communicate(timeout=60)
        finished = process.returncode == 0
        figures.tried()
        if "Traceback" in "".join(said):
            figures.found("".join(said), ValueError("a traceback"))
        if not finished and whole.read_bytes() != before:
            figures.found(str(process.returncode), ValueError("the whole file was replaced"))
        if not finished and "every root lies in" in said[0]:
            figures.found(said[0], ValueError("certified what was not computed"))
        whole.write_bytes(before)
        again = subprocess.run(
            supple_command(*SWEEP, "--out", "kept"), cwd=tmp_path, capture_output=True, check=False
        )
        left = [place.name for place in tmp_path.rglob(f"{disk.ASIDE}*")]
        if again.returncode or [name for name in left if "kept" in name]:
            figures.found(again.stderr.decode(), ValueError(f"not resumed, left: {left}"))
    figures.close()


def test_shards_that_start_together(figures: Figures, tmp_path: Path) -> None:
    """Twelve times four processes on one new folder, as a batch system starts them."""
    for attempt in range(12):
        words = [*SWEEP[:4], "--out", f"kept-{attempt}", "--shard"]
        shards = [
            subprocess.Popen(
                supple_command(*words, f"{k}/4"),
                cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )
            for k in range(4)
        ]  # fmt: skip
        for shard in shards:
            said = shard.communicate(timeout=120)[1]
            figures.tried()
            if shard.returncode:
                figures.found(said, ValueError("a shard failed"))
    figures.close()


def peak_megabytes(code: str, *arguments: str) -> tuple[float, str]:
    """Peak memory of a process beyond that of importing supple, and what it said."""
    script = (
        "import resource, sys, supple, numpy\n"
        "import xarray, netCDF4\n"
        "from supple.files import joint_trajectories\n"
        "start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    " + code + "\n"
        "except supple.SuppleError as problem:\n    print('told:', problem)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True, text=True, check=False, timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)),
    )  # fmt: skip
    lines = done.stdout.strip().splitlines() or ["1e9"]
    return float(lines[-1]) if not done.returncode else 1e9, done.stdout + done.stderr


def never_written_netcdf(place: Path) -> None:
    with netCDF4.Dataset(place, "w") as found:
        found.createDimension("t", 800_000_000)
        found.createVariable("t", "f8", ("t",), chunksizes=(1_000_000,))


def compressed_netcdf(place: Path) -> None:
    with netCDF4.Dataset(place, "w") as found:
        found.createDimension("t", 60)
        found.createDimension("x", 1_000_000)
        made = found.createVariable("q", "f8", ("t", "x"), zlib=True, complevel=1)
        for k in range(60):
            made[k] = 0.0


def wide_csv(place: Path) -> None:
    place.write_text("t,a\n" + "," * 100_000_000)


def long_csv(place: Path) -> None:
    rows = "".join(f"{k},1\n" for k in range(1_000_000))
    with place.open("w") as file:
        file.write("t,a\n")
        for _ in range(5):
            file.write(rows)


def json_of_lists(place: Path) -> None:
    place.write_text("[" + "[]," * 50_000_000 + "[]]")


def json_of_points(place: Path) -> None:
    point = json.dumps({"positions": [0.0] * 6, "time_from_start": 1.0})
    place.write_text(
        '{"joint_names": ["a","b","c","d","e","f"], "points": ['
        + ",".join(itertools.repeat(point, 1_000_000))
        + "]}"
    )


def mcap_of_spaces(place: Path) -> None:
    from mcap.writer import CompressionType, Writer

    with place.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD, chunk_size=100_000_000)
        writer.start()
        schema = writer.register_schema("trajectory_msgs/JointTrajectory", "jsonschema", b"{}")
        channel = writer.register_channel("/plan", "json", schema)
        for _ in range(20):
            writer.add_message(channel, log_time=0, publish_time=0, data=b" " * 100_000_000)
        writer.finish()


RESPONSE = "supple.load_response(sys.argv[1])"
TRAJECTORY = "joint_trajectories.read_joint_trajectory(sys.argv[1])"
# name: how it is made, who reads it, and how many megabytes reading it may take
FILES: dict[str, tuple[Callable[[Path], None], str, float]] = {
    "never.nc": (never_written_netcdf, RESPONSE, 300),
    "packed.nc": (compressed_netcdf, RESPONSE, 300),
    "wide.csv": (wide_csv, TRAJECTORY, 700),
    "long.csv": (long_csv, TRAJECTORY, 700),
    "lists.json": (json_of_lists, TRAJECTORY, 700),
    "points.json": (json_of_points, TRAJECTORY, 700),
    "spaces.mcap": (mcap_of_spaces, TRAJECTORY, 900),
}


def test_small_files_do_not_take_gigabytes(figures: Figures, tmp_path: Path) -> None:
    for name, (make, reader, most) in FILES.items():
        place = tmp_path / name
        make(place)
        taken, said = peak_megabytes(reader, str(place))
        sys.stderr.write(f"\n{name}: {place.stat().st_size / 1e6:.3g} MB take {taken:.0f} MB")
        figures.tried()
        if taken > most or "Traceback" in said:
            figures.found(name, ValueError(f"{taken:.0f} MB: {said[-300:]}"))
        place.unlink()
    figures.close()


def test_forged_chunks_are_not_unpacked(figures: Figures, tmp_path: Path) -> None:
    """Archives of zeros under every compression that Python can read."""
    from supple.files.chunks import Chunks

    chunks = Chunks(tmp_path, "key", {})
    kinds = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    for index, kind in enumerate(kinds):
        held = io.BytesIO()
        zeros = io.BytesIO()
        key = io.BytesIO()
        np.save(zeros, np.zeros(40_000_000))
        np.save(key, np.array("key"))
        with zipfile.ZipFile(held, "w", kind) as archive:
            archive.writestr("omega.npy", zeros.getvalue())
            archive.writestr("key.npy", key.getvalue())
        raw = held.getvalue()
        chunks.place(index).write_bytes(raw + chunks._seal(index, raw))
        figures.tried()
        if chunks.load(index) is not None:
            figures.found(str(kind), ValueError(f"{len(raw):,} bytes were unpacked"))
    figures.close()


def test_gains_that_are_tried_are_not_all_kept(figures: Figures) -> None:
    """Memory of a process that tries gains: the second half adds next to nothing."""
    code = (
        "model = supple.build(supple.load('de-luca-two-link'), supple.AssumedModes(2))\n"
        "    path = supple.PointToPoint([0, 0], [0.1, 0], 0.01)\n"
        "    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "    for k in range(120):\n"
        "        law = supple.Decoupling(1.0 + k, 1.0)\n"
        "        supple.simulate(model, controller=law, trajectory=path, duration=0.002)\n"
        "        if k == 60: half = peak()\n"
        "    print('grew', peak() - half)"
    )
    _, said = peak_megabytes(code)
    figures.tried()
    grew = float(said.partition("grew ")[2].split()[0])
    sys.stderr.write(f"\n60 more gains take {grew:.1f} MB")
    if grew > 10:
        figures.found(said, ValueError(f"{grew} MB"))
    figures.close()


def test_doors_open_only_to_their_own_address(figures: Figures) -> None:
    """Every pair of a Host and an Origin: let in only where both are the same address."""
    names = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "192.0.2.1",
        "192.0.2.2",
        "10.0.0.1",
        "[2001:db8::1]",
    ]
    names += [
        "evil.example",
        "127.0.0.1.evil.example",
        "0x7f000001",
        "2130706433",
        "[::ffff:7f00:1]",
    ]
    ports = ["", ":80", ":8080", ":8081", ":443"]
    for bound in ("127.0.0.1", "0.0.0.0", "192.0.2.1"):
        door = AccessControl(bound, 8080)
        places = [name + port for name in names for port in ports]
        for host, page in itertools.product(places, places):
            for scheme in ("http://", "https://"):
                figures.tried()
                same = host == page or host.removesuffix(":80") == page.removesuffix(":80")
                if door.welcomes(host, scheme + page) and not (same and scheme == "http://"):
                    figures.found(f"{bound} {host} {scheme}{page}", ValueError("let in"))
    figures.close()


HOSTILE = ["9" * 5000, "-" + "9" * 400, "1e309", "1e-400", "x" * 5000, "../" * 2000, "[" * 3000]
HOSTILE += ["0:1:" + "9" * 5000, "theta.link2=0:1:" + "9" * 5000, "9" * 400 + "/" + "9" * 400]
LONG = {"tour", "reproduce", "view", "materials", "robots"}


def test_hostile_values_of_every_option(figures: Figures, console: Console, tmp_path: Path) -> None:
    """Each option of each command gets each hostile value: a sentence, exit code 0 to 2."""
    from soak.test_commands import options
    from supple.cli import COMMANDS

    os.chdir(tmp_path)
    for name in COMMANDS:
        if name in LONG:
            continue
        for option in options(name):
            if not option.startswith("--") or option == "--help":
                continue
            for value in HOSTILE:
                words = [name, "de-luca-two-link", option, value]
                try:
                    ran = console(*words)
                except BaseException as problem:  # noqa: BLE001 - this is what is looked for
                    figures.found(" ".join(words)[:300], problem)
                    continue
                figures.tried(ran.err or ran.out)
                if ran.code not in (0, 1, 2):
                    figures.found(" ".join(words)[:300], ValueError(f"exit code {ran.code}"))
    figures.close()


def packages_behind(requirement: str, seen: set[str]) -> None:
    """Add the names of all installed packages that a requirement brings, by its extras too."""
    wanted = Requirement(requirement)
    name = canonicalize_name(wanted.name)
    if name in seen:
        return
    try:
        needs = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return  # an extra that is not installed here
    seen.add(name)
    for need in needs:
        marker = Requirement(need).marker
        extras = wanted.extras or {""}
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            packages_behind(need, seen)


def test_licences_behind_every_extra(figures: Figures) -> None:
    """No package under the GPL comes with an extra unless pyproject names it and its licence."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    for extra, requirements in project["optional-dependencies"].items():
        if extra in ("dev", "bench"):
            continue
        behind: set[str] = set()
        for requirement in requirements:
            packages_behind(requirement, behind)
        for name in sorted(behind - {"supple"}):
            about = metadata.metadata(name)
            words = [about.get("License-Expression") or "", (about.get("License") or "")[:80]]
            words += about.get_all("Classifier") or []
            gpl = [word for word in words if re.search(r"(?<!L)GPL|GNU General Public", word)]
            stated = re.search(rf"#.*{re.escape(name)}.*GPL", text)
            figures.tried()
            if gpl and not stated:
                figures.found(f"{extra}: {name}", ValueError(f"{name} by {extra}: {gpl[0]}"))
    figures.close()
