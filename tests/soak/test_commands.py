"""The command line under random words, signals and full disks: sentences, and no file lost."""

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
    chance, end = random.Random(figures.seed), time.monotonic() + minutes(3)
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


WRITERS = {
    "run.nc": ["simulate", "de-luca-two-link", "--duration", "0.3", "--save", "run.nc"],
    "run.html": ["simulate", "de-luca-two-link", "--duration", "0.3", "--save", "run.html"],
    "modes.png": ["modes", "industrial-3", "--plot", "modes.png"],
    "modes.pdf": ["modes", "industrial-3", "--plot", "modes.pdf"],
    "modes.html": ["modes", "industrial-3", "--save", "modes.html"],
    "map.nc": ["workspace", "industrial-3", "--points", "5", "--save", "map.nc"],
}
ENDINGS = {".html": b"</html>\n", ".png": b"IEND\xaeB`\x82", ".pdf": b"%%EOF\n", ".nc": b""}


def whole(path: Path) -> bool:
    raw = path.read_bytes()
    if path.suffix == ".nc":
        return raw[-46:-32] == b"supple-seal-1\n"
    return raw.rstrip(b"\n").endswith(ENDINGS[path.suffix].rstrip(b"\n"))


def _mind_interrupts() -> None:
    """Jobs in the background of a shell ignore Ctrl-C and hand that down."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("name", sorted(WRITERS))
@pytest.mark.parametrize("with_", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_signals_at_any_moment(
    figures: Figures, tmp_path: Path, name: str, with_: signal.Signals
) -> None:
    """Whenever it comes, the file that was there is whole: the old one or the new one."""
    command = [sys.executable, "-m", "supple", *WRITERS[name]]
    start = time.monotonic()
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    usual, chance = time.monotonic() - start, random.Random(figures.seed)
    assert whole(tmp_path / name)
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
        if not whole(tmp_path / name) or ours:
            figures.found(
                f"{name} after {moment:.3f} s\n{said}", ValueError("lost, or a traceback")
            )
        else:
            figures.tried()
    figures.close()


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_disks_that_fill_up_at_any_size(figures: Figures, tmp_path: Path, name: str) -> None:
    """RLIMIT_FSIZE: every file of the process is cut at some size; the old answer stays."""
    command = [sys.executable, "-m", "supple", *WRITERS[name]]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    kept, chance = (tmp_path / name).read_bytes(), random.Random(figures.seed)
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
    chance, end = random.Random(figures.seed), time.monotonic() + minutes(0.5)
    while time.monotonic() < end:
        child = os.fork()
        if not child:
            while True:
                write()
        time.sleep(chance.uniform(0.01, 0.5))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        kept = supple.load(place) == robot if ending == "yaml" else whole(place)
        if kept:
            figures.tried()
        else:
            figures.found(ending, ValueError("not whole"))
    left = len(list(tmp_path.glob(".supple-*")))
    sys.stderr.write(f"\n{ending}: {left} unfinished files left beside it, removed after a day\n")
    figures.close()
