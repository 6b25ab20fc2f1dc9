"""The command line under random words, signals and full disks: sentences, and no file lost."""

import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import supple
from cli.console import Console
from soak.figures import Figures, minutes
from supple.cli import COMMANDS

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX"),
]

VALUES = [
    *(
        "0",
        "-1",
        "3",
        "1e308",
        "5e-324",
        "nan",
        "inf",
        "",
        " ",
        "x",
        "0,0",
        "0,45deg,1",
        "1:2",
        ":",
    ),
    *("999999999999", "../..", "/dev/null", "/dev/full", "/nowhere/x.png", "a.html", "a.nc"),
    *("a.png", "industrial-3", "kuo-delta", "de-luca-two-link", "circle", "\x1b[31m", "é", "$$"),
    *("--", "-", "\U0001f4a9"),
]
LONG = {"tour", "reproduce", "view", "workspace", "simulate", "sweep", "stopband", "optimise"}


def options(name: str) -> list[str]:
    import typer.main

    from supple.cli import app

    group = typer.main.get_command(app)
    return [word for p in group.commands[name].params for word in p.opts]  # type: ignore[attr-defined]


def test_random_words(
    figures: Figures, console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit codes 0 to 2, one sentence, never a traceback. Long commands get too little to start."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(3)
    names = sorted(set(COMMANDS) - {"tour", "reproduce"})
    known = {name: [o for o in options(name) if o.startswith("--")] for name in names}
    while time.monotonic() < end:
        name = chance.choice(names)
        words = [name]
        if name not in LONG or chance.random() < 0.3:
            words += [chance.choice(("industrial-3", "kuo-delta", "no-such-robot"))]
        if name in LONG:
            words += ["--at", "x"]  # refused before anything is computed
        for _ in range(chance.randrange(4)):
            words.append(chance.choice(known[name]))
            if chance.random() < 0.8:
                words.append(chance.choice(VALUES))
        if name == "view":
            words += ["--port", "-1"]
        try:
            ran = console(*words)
        except BaseException as problem:  # noqa: BLE001 - what is looked for
            figures.found(repr(words), problem)
            continue
        if ran.code not in (0, 1, 2) or "Traceback" in ran.err:
            figures.found(repr(words), ValueError(f"code {ran.code}: {ran.err[:200]}"))
        else:
            figures.tried()
    figures.close()


URDF = """<robot name="arm"><link name="base"/><link name="forearm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="elbow"
type="continuous"><parent link="base"/><child link="forearm"/><axis xyz="0 0 1"/></joint></robot>"""
MOVE = "t,q1\n" + "".join(f"{0.01 * k},{min(0.01 * k, 1) ** 2}\n" for k in range(150))
RINGDOWN = "t,x\n" + "".join(
    f"{k / 200},{math.exp(-k / 200) * math.sin(2 * math.pi * 7 * k / 200)!r}\n" for k in range(600)
)
MEASURED = "theta.link2,mode,frequency_hz\n0,1,4.8\n1,1,5.3\n0.5,1,5.0\n"
GIVEN = {"arm.urdf": URDF, "move.csv": MOVE, "ringdown.csv": RINGDOWN, "measured.csv": MEASURED}
SLIDES = ["--joints", "0:90deg,0:90deg,0", "--points", "4"]
# What is kept, by the command that writes it: every option of every command that names a file;
# tests/cli/test_hostile.py looks whether all are here.
WRITERS = {
    "arm.yaml": ["import", "arm.urdf", "--out", "arm.yaml"],
    "modes.png": ["modes", "industrial-3", "--plot", "modes.png"],
    "modes.html": ["modes", "industrial-3", "--save", "modes.html"],
    "map.pdf": ["workspace", "industrial-3", *SLIDES, "--plot", "map.pdf"],
    "map.nc": ["workspace", "industrial-3", *SLIDES, "--save", "map.nc"],
    "sag.svg": ["statics", "industrial-3", "--plot", "sag.svg"],
    "sag.html": ["statics", "industrial-3", "--save", "sag.html"],
    "bode.png": ["response", "industrial-3", "--plot", "bode.png"],
    "run.png": ["simulate", "de-luca-two-link", "--duration", "0.3", "--plot", "run.png"],
    "run.nc": ["simulate", "de-luca-two-link", "--duration", "0.3", "--save", "run.nc"],
    "run.html": ["simulate", "de-luca-two-link", "--duration", "0.3", "--save", "run.html"],
    "law.svg": ["linearize", "de-luca-two-link", "--outputs", "tip", "--plot", "law.svg"],
    "poles.png": ["stability", "theodore-rrp", "--plot", "poles.png"],
    "poles.html": ["stability", "theodore-rrp", "--save", "poles.html"],
    "kept": ["sweep", "industrial-3", "--over", "theta.link2=0:1:9", "--out", "kept"],
    "sweep.nc": ["sweep", "industrial-3", "--over", "theta.link2=0:1:9", "--save", "sweep.nc"],
    "sweep.png": ["sweep", "industrial-3", "--over", "theta.link2=0:1:9", "--plot", "sweep.png"],
    "track.png": ["track", "industrial-3", "--over", "theta.link2=0:1:9", "--plot", "track.png"],
    "best.yaml": [
        *("optimise", "industrial-3", "--vary", "links.link1.length=1:1.5"),
        *("--at", "0,0,0", "--out", "best.yaml"),
    ],
    "shaped.csv": ["shape", "move.csv", "--frequency", "7", "--out", "shaped.csv"],
    "shaped.png": ["shape", "move.csv", "--frequency", "7", "--plot", "shaped.png"],
    "move.yaml": [
        *("plan", "de-luca-two-link", "--by", "jerk", "--to", "0.5,0", "--speed-limit", "1"),
        *("--acceleration-limit", "4", "--jerk-limit", "40", "--out", "move.yaml"),
    ],
    "ways.png": [
        *("compare", "de-luca-two-link", "--from", "0,0", "--to", "0.5,0"),
        *("--methods", "unshaped,zvd", "--plot", "ways.png"),
    ],
    "ways.html": [
        *("compare", "de-luca-two-link", "--from", "0,0", "--to", "0.5,0"),
        *("--methods", "unshaped,zvd", "--save", "ways.html"),
    ],
    "arm": ["export", "de-luca-two-link", "--to", "c", "--out", "arm"],
    "lines.png": ["resonances", "ringdown.csv", "--plot", "lines.png"],
    "lines.csv": ["resonances", "ringdown.csv", "--out", "lines.csv"],
    "lines.html": ["resonances", "ringdown.csv", "--save", "lines.html"],
    "shaper.png": ["calibrate", "ringdown.csv", "--plot", "shaper.png"],
    "shaper.html": ["calibrate", "ringdown.csv", "--save", "shaper.html"],
    "shaper.yaml": ["calibrate", "ringdown.csv", "--out", "shaper.yaml"],
    "fitted.yaml": [
        *("identify", "industrial-3", "measured.csv", "--free", "links.link1.section.wall"),
        *("--out", "fitted.yaml"),
    ],
    "fitted.html": [
        *("identify", "industrial-3", "measured.csv", "--free", "links.link1.section.wall"),
        *("--save", "fitted.html"),
    ],
    "fitted.png": [
        *("identify", "industrial-3", "measured.csv", "--free", "links.link1.section.wall"),
        *("--plot", "fitted.png"),
    ],
    "poses.png": [
        *("where-to-measure", "industrial-3", "--free", "links.link1.section.wall"),
        *("--plot", "poses.png"),
    ],
    "poses.html": [
        *("where-to-measure", "industrial-3", "--free", "links.link1.section.wall"),
        *("--save", "poses.html"),
    ],
    "printed": ["reproduce", "di-castri", "--out", "printed"],
    "tour": ["tour", "--out", "tour"],
    "view.html": ["view", "industrial-3", "--save", "view.html"],
    "view.png": ["view", "industrial-3", "--plot", "view.png"],
}
ENDINGS = {".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".pdf": b"%%EOF", ".svg": b"</svg>"}
LAST = {name for name in WRITERS if "." in name}  # those that are one file


def whole(path: Path, first: dict[Path, bytes]) -> bool:
    """Whether each file of an answer is there to its end; texts that have none are as at first."""
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        raw = file.read_bytes()
        if file.suffix == ".nc":
            good = opens(file)
        elif file.suffix in ENDINGS:
            good = raw.rstrip(b"\n").endswith(ENDINGS[file.suffix])
        else:
            good = file.name.startswith(".") or raw == first.get(file, raw)
        if not good:
            return False
    return path.exists()


def opens(path: Path) -> bool:
    """Whether HDF5 finds all that it has written; it refuses a file that was cut."""
    import netCDF4

    try:
        netCDF4.Dataset(path).close()
    except OSError:
        return False
    return True


def written(folder: Path, name: str) -> tuple[list[str], dict[Path, bytes], float]:
    """The command that writes this, what it wrote at first, and how long that took."""
    for given, text in GIVEN.items():
        (folder / given).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "supple", *WRITERS[name]]
    start = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    usual = time.monotonic() - start
    first = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert whole(folder / name, first)
    return command, first, usual


def _mind_interrupts() -> None:
    """Jobs in the background of a shell ignore Ctrl-C and hand that down."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("name", sorted(WRITERS))
@pytest.mark.parametrize("with_", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_signals_at_any_moment(
    figures: Figures, tmp_path: Path, name: str, with_: signal.Signals
) -> None:
    """Whenever it comes, the file that was there is whole: the old one or the new one."""
    command, first, usual = written(tmp_path, name)
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(0.5)
    while time.monotonic() < end:
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=_mind_interrupts,  # noqa: PLW1509 - nothing here holds a lock
        )
        moment = usual * (chance.random() if chance.random() < 0.5 else chance.uniform(0.7, 1.1))
        time.sleep(moment)
        process.send_signal(with_)
        said = process.communicate(timeout=60)[1].decode(errors="replace")
        ours = "supple" in said and "Traceback" in said
        if not whole(tmp_path / name, first) or ours:
            figures.found(
                f"{name} after {moment:.3f} s\n{said}", ValueError("lost, or a traceback")
            )
        else:
            figures.tried()
    figures.close()


@pytest.mark.parametrize("name", sorted(LAST))
def test_disks_that_fill_up_at_any_size(figures: Figures, tmp_path: Path, name: str) -> None:
    """RLIMIT_FSIZE: every file of the process is cut at some size; the old answer stays."""
    command, first, _ = written(tmp_path, name)
    kept = first[tmp_path / name]
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(0.3)
    while time.monotonic() < end:
        size = chance.randrange(len(kept))
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        )
        good = (
            ran.returncode == 2
            and ran.stderr.startswith("cannot write")
            and "\nTrace" not in ran.stderr
        )
        if (tmp_path / name).read_bytes() != kept or not good:
            figures.found(f"{name} at {size}: {ran.returncode} {ran.stderr}", OSError("full disk"))
        else:
            figures.tried()
    figures.close()


def test_two_processes_that_save_one_file(figures: Figures, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "supple", *WRITERS["run.nc"]]
    end = time.monotonic() + minutes(0.3)
    while time.monotonic() < end:
        both = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL) for _ in "ab"]
        codes = [process.wait() for process in both]
        if codes != [0, 0] or supple.load_response(tmp_path / "run.nc").t[-1] != 0.3:
            figures.found(str(codes), ValueError("not whole"))
        else:
            figures.tried()
    figures.close()


@pytest.mark.parametrize("ending", ["nc", "html", "png", "yaml"])
def test_kills_while_writing(figures: Figures, tmp_path: Path, ending: str) -> None:
    """A child that does nothing but write is killed, hundreds of times; the file stays whole."""
    robot = supple.load("di-castri-two-link")
    found = supple.modes(robot, count=2)
    place = tmp_path / f"kept.{ending}"
    if ending == "nc":
        run = supple.simulate(supple.build(robot, supple.AssumedModes(1)), duration=0.01)
    write = {
        "nc": lambda: run.save(place),
        "html": lambda: found.save_page(place),
        "png": lambda: found.plot(place),
        "yaml": lambda: supple.dump(robot, place),
    }[ending]
    write()
    chance = random.Random(figures.seed)
    end = time.monotonic() + minutes(0.5)
    while time.monotonic() < end:
        child = os.fork()
        if not child:
            try:
                while True:
                    write()
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0.01, 0.5))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kept = supple.load(place) == robot if ending == "yaml" else whole(place, {})
        if kept:
            figures.tried()
        else:
            figures.found(ending, ValueError("not whole"))
    left = len(list(tmp_path.glob(".supple-*")))
    sys.stderr.write(f"\n{ending}: {left} unfinished files left beside it, removed after a day\n")
    figures.close()
