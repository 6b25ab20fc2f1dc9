"""Names that would steer a terminal, terminals that cannot write them, Ctrl-C, and partial runs."""

import io
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import supple
import supple.cli
from cli.console import Console
from soak.test_commands import MOVE, URDF, WRITERS
from supple.papers import reproduce as papers

NASTY = "evil\x1b]0;owned\x07\x1b[31m\nindustrial-3: certified\u202e\u9e9f"
LIMITS = ["--speed-limit", "1", "--acceleration-limit", "4", "--jerk-limit", "40"]
# Words after each command, with a robot of a hostile name; {file} is what stands in FILES.
WORDS: dict[str, list[str]] = {
    "check": [],
    "modes": [],
    "statics": [],
    "simulate": ["--duration", "0.01"],
    "linearize": [],
    "workspace": ["--points", "2"],
    "forward": [],
    "inverse": ["--position", "0.5,0.2,0"],
    "response": ["--frequency", "1:2:3"],
    "stability": ["--modes", "1"],
    "sweep": ["--over", "theta.link2=0:1:2"],
    "track": ["--over", "theta.link2=0:1:3"],
    "tolerances": ["--within", "links.link2.length=0.001"],
    "stopband": ["--band", "0.1,0.2", "--over", "theta.link2=0:0.1"],
    "optimise": ["--vary", "links.link2.length=0.5:0.51"],
    "plan": ["--by", "jerk", "--to", "0.1,0", *LIMITS],
    "compare": ["--from", "0,0", "--to", "0.1,0", "--methods", "unshaped"],
    "shape": ["--frequency", "7", "--out", "shaped.csv"],
    "import": ["--out", "a.yaml"],
    "view": ["--save", "view.html"],
    "export": ["--to", "urdf", "--out", "exported"],
    "validate": ["--engines", "pinocchio"],
    "identify": ["measured.csv", "--free", "links.link2.length"],
    "where-to-measure": ["--free", "links.link2.length", "--count", "1"],
}
# no robot of one's own
NAMELESS = {"robots", "materials", "schema", "reproduce", "tour", "resonances", "calibrate"}
FILES = {"stability": "theodore-rrp"}  # others: di-castri-two-link


class Terminal(io.TextIOWrapper):
    """One that knows Latin-1 alone, and remembers the letters that it was asked to write."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="latin-1")
        self.asked = ""

    def write(self, text: str) -> int:
        self.asked += text
        return super().write(text)


def hostile(folder: Path, command: str) -> Path:
    """A file for a command, whose names would steer a terminal."""
    if command == "shape":
        place = folder / "move.csv"
        name = '"' + NASTY.replace("\n", "\r") + '"'
        place.write_text(MOVE.replace("q1", name), encoding="utf-8", newline="")
    elif command == "import":
        place = folder / "a.urdf"
        name = '"evil&#10;&#x85;industrial-3: certified&#x9e9f;"'
        place.write_text(URDF.replace('"arm"', name), encoding="utf-8")
    else:
        place = folder / "nasty.yaml"
        robot = supple.load(FILES.get(command, "di-castri-two-link")).with_("name", NASTY)
        supple.dump(robot.with_("links.link1.name", "a\x1b[2Jb"), place)
    return place


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    return hostile(tmp_path, "modes")


@pytest.mark.parametrize("command", sorted(supple.cli.COMMANDS.keys() - NAMELESS))
def test_names_steer_no_terminal_and_are_not_lost_on_a_poor_one(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command of the registry: what would be obeyed is written out, foreign letters too."""
    from supple.__main__ import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "measured.csv").write_text("theta.link2,mode,frequency_hz\n0,1,10\n1,1,11\n")
    words = ["supple", command, hostile(tmp_path, command).name, *WORDS[command]]
    out = Terminal()
    err = Terminal()
    for name, value in {"stdout": out, "stderr": err, "argv": words}.items():
        monkeypatch.setattr(f"sys.{name}", value)
    with pytest.raises(SystemExit) as ended:
        main()
    for stream in (out, err):
        stream.flush()
        assert all(c.isprintable() for c in stream.asked.replace("\n", ""))
        assert not any(x.startswith("industrial-3: cert") for x in stream.asked.splitlines())
    assert ended.value.code == 0, err.asked
    raw: Any = out.buffer
    files = {"view": [b"view.html"], "export": [b"exported"], "validate": [b"pinocchio"]}
    told = files.get(command, [b"evil\\", b"\\u9e9f"])
    assert all(word in raw.getvalue() for word in told)


def test_every_option_that_writes_is_among_the_soak_tests() -> None:
    """There it is killed, interrupted and starved of space."""
    import typer.main

    commands: Any = typer.main.get_command(supple.cli.app)
    told = {
        (name, option)
        for name, command in commands.commands.items()
        for option in ("--plot", "--save", "--out")
        if any(option in p.opts for p in command.params)
    }
    here = {(words[0], word) for words in WRITERS.values() for word in words if word[:2] == "--"}
    assert told - here == set()


def test_names_in_errors_and_options_are_escaped(console: Console, nasty: Path) -> None:
    for words in (
        ("modes", nasty, "--at", "1,2,3"),
        ("modes", "no\x1b[31mfile\n"),
        ("modes", nasty, "--position", "0,0,\x1b[31m"),
        ("mo\x1bdes",),
        ("modes", nasty, "--c\x07unt", "3"),
    ):
        ran = console(*words)
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert all(c.isprintable() for c in ran.err.replace("\n", ""))


@pytest.mark.parametrize("name", ["$$", "$a$b$", "a_b^c", "\\frac", "$\\frac{1}{0}$", "%", "\n$"])
def test_dollars_in_names_draw_as_they_are(tmp_path: Path, name: str) -> None:
    robot = supple.load("di-castri-two-link").with_({"name": name, "links.link1.name": "$$"})
    found = supple.modes(robot, count=2)
    found.plot(tmp_path / "a.png")
    supple.modes(robot, [[0, 0], [0, 1]], count=2).plot(tmp_path / "b.svg")
    supple.statics(robot).plot(tmp_path / "c.png")


def test_a_part_of_a_run_does_not_replace_a_whole_one(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "run.nc"
    words = ("simulate", "de-luca-two-link", "--duration", "0.02", "--save", place)
    assert console(*words).code == 0
    whole = place.read_bytes()
    import supple.studies.motion.simulate as module

    real = module._collect

    def stopped(*args: Any) -> Any:
        states, applied, _ = real(*args)
        part = None if applied is None else applied[:5]
        return states[:5], part, "stopped by the user at t = 0.004 s"

    monkeypatch.setattr(module, "_collect", stopped)
    ran = console(*words)
    assert ran.code == 1
    assert place.read_bytes() == whole
    assert f"Saved: {tmp_path / 'run.partial.nc'}" in ran.out
    assert not supple.load_response(tmp_path / "run.partial.nc").complete


def test_reproduce_ends_at_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped() -> Any:
        warnings.warn("stopped by the user at t = 1 s", supple.SimulationWarning, stacklevel=1)
        return "a verdict on a part of the motion"

    monkeypatch.setitem(papers.PAPERS, "kuo", stopped)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        papers.reproduce("kuo")


AT_IMPORT = """
import sys, time

class Pause:
    def find_spec(self, name, *_):
        if name == {name!r}:
            sys.meta_path.remove(self)
            print("now", flush=True)
            # In short pieces: a signal just before one long sleep would wait for its end
            for _ in range(int(100 * {seconds})):
                time.sleep(0.01)

sys.meta_path.insert(0, Pause())
sys.argv = ["supple", *{words!r}]
from supple.__main__ import main
main()
"""


def interrupted(name: str, seconds: float, after: float, *words: str) -> tuple[int, str]:
    """Ctrl-C so long after a command begins to import what is named: exit code, what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", AT_IMPORT.format(name=name, seconds=seconds, words=words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["supple.cli", "typer", "numpy", "supple.papers", "casadi"])
def test_ctrl_c_while_importing_is_answered_by_one_line(name: str) -> None:
    """The import waits for it; what comes before `supple.__main__` is Python's own to tell."""
    code, said = interrupted(name, 60.0, 0.0, "reproduce", "theodore")
    assert (code, said) == (130, "stopped\n")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("after", [0.0, 0.05, 0.5])
def test_ctrl_c_while_computing_is_answered_by_one_line(after: float) -> None:
    """Four million poses take minutes on any machine: the command is certainly at work."""
    words = ("workspace", "industrial-3", "--points", "159")
    code, said = interrupted("supple.studies.vibration.workspace", 0.0, after, *words)
    assert "Traceback" not in said
    assert code == 130
    assert said.endswith("stopped\n")


def die(task: int) -> int:
    os._exit(3)


@pytest.mark.slow
def test_a_worker_that_dies_is_told_in_a_sentence() -> None:
    from supple.studies.design.workers import compute_tasks

    with pytest.raises(supple.SuppleError, match="a worker process ended before its work was done"):
        list(compute_tasks(die, range(4), "processes", 1))


def test_ctrl_c_before_the_first_answer_of_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("supple.studies.design.sweep.compute_tasks", stopped)
    with pytest.warns(supple.SweepWarning, match="stopped by the user: 0 of 5"):
        found = supple.sweep(
            supple.load("industrial-3"), over={"theta.link2": [0.0, 0.25, 0.5, 0.75, 1.0]}
        )
    assert "stopped by the user" in found.attrs["message"]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_of_a_terminal_reaches_workers_too_and_they_are_silent(tmp_path: Path) -> None:
    """A terminal sends it to every process of the group; one line answers."""
    words = ["sweep", "industrial-3", "--over", "theta.link2=0:1:2000", "--over"]
    words += ["theta.link3=0:1:2000", "--scheduler", "processes", "--workers", "2", "--out", "kept"]
    process = subprocess.Popen(
        [sys.executable, "-m", "supple", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    end = time.monotonic() + 50
    while time.monotonic() < end and not list(tmp_path.glob("kept/*")):
        time.sleep(0.1)
    while time.monotonic() < end and len(list(tmp_path.glob("kept/**/*"))) < 4:
        time.sleep(0.1)  # both workers are at work
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert "Traceback" not in said
    assert "stopped" in said


def test_ctrl_c_that_compiled_code_calls_something_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bindings of a drawing library tell of it as a TypeError: a traceback until now."""
    from supple.__main__ import main

    def swallow() -> int:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise TypeError("incompatible function arguments")

    monkeypatch.setattr(supple.cli, "main", swallow)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(SystemExit) as ended:
            main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.value.code == 130
    assert capsys.readouterr().err == "stopped\n"


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_sweep_on_a_full_disk_is_a_sentence(console: Console, tmp_path: Path) -> None:
    """netCDF tells of it as a RuntimeError."""
    import xarray

    def full(*given: object, **words: object) -> None:
        raise RuntimeError("NetCDF: HDF error")

    words = ["sweep", "industrial-3", "--over", "theta.link2=0:1:2", "--save"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xarray.Dataset, "to_netcdf", full)
        ran = console(*words, str(tmp_path / "a.nc"))
    assert ran.code == 2
    assert ran.err.startswith("cannot write")
