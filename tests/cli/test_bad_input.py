"""Bad input never shows a traceback: one sentence a fault, exit code 2, at once."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import supple
from cli.console import Console, Ran
from soak.test_commands import URDF

ARM = """\
name: arm
planar: true
links:
  - {name: link1, length: 1, mass_per_length: 1, bending_stiffness: 1}
  - {name: link2, length: 1, mass_per_length: 1, bending_stiffness: 1}
"""
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
)

FILES = {
    "negative length": (
        ARM.replace("link2, length: 1", "link2, length: -1"),
        "link2: length is -1",
    ),
    "not a number": (ARM.replace("link2, length: 1", "link2, length: .nan"), "length is nan"),
    "infinite": (ARM.replace("link2, length: 1", "link2, length: .inf"), "length is inf"),
    "a text": (
        ARM.replace("link2, length: 1", "link2, length: 1 parsec"),
        "length: '1 parsec' is given",
    ),
    "unknown section": (
        "name: arm\nmaterials:\n  al: {young_modulus: 1, density: 1, poisson_ratio: 0.3}\n"
        "sections:\n  box: {shape: circle, diameter: 1}\n"
        "links:\n  - {name: a, length: 1, material: al, section: bx}\n",
        "links.a: section 'bx' is not among sections: box; did you mean 'box'? (line 7)",
    ),
    "unknown key": (
        ARM.replace("planar", "plannar"),
        "unknown key 'plannar': did you mean 'planar'?",
    ),
    "key twice": (ARM + "planar: true\n", "key 'planar' is given twice"),
    "not YAML": ("links: [a, b\nname: }", "this is not YAML"),
    "empty": ("", "the file is empty"),
    "a list": ("- 1\n", "this is a list, not a robot"),
    "another version": ("supple: 99\n" + ARM, "supple is 99"),
    "alias bomb": (BOMB, "more than 20,000 values"),
    "deep": ("[" * 200_000, "nested deeper than 30 levels"),
    "large": ("# " + "x" * 2_000_000, "larger than 1 MB"),
    "binary": ("\0\1\2", "the file is binary"),
    "not UTF-8": (b"name: \xff", "not UTF-8 text"),
}

WORDS = {
    "wrong number of angles": (
        "modes industrial-3 --at 0,1",
        "needs 3 (the joints of link1, link2",
    ),
    "not an angle": ("modes industrial-3 --at 0,1,x", "'x' is not an angle"),
    "angle nan": ("modes industrial-3 --at 0,1,nan", "'nan' is not an angle"),
    "angle too large": ("modes industrial-3 --at 0,1,1e999", "must be finite"),
    "no angle": ("modes industrial-3 --at ,", "'' is not an angle"),
    "unknown robot": ("modes industral-3", "did you mean 'industrial-3'?"),
    "no robot": ("modes", "Missing argument"),
    "unknown command": ("mods industrial-3", "No such command"),
    "unknown option": ("modes industrial-3 --cuont 3", "--cuont"),
    "count zero": ("modes industrial-3 --count 0", "count is 0"),
    "count no number": ("modes industrial-3 --count many", "--count"),
    "unknown method": ("modes industrial-3 --method magic", "method is 'magic'"),
    "unknown theory": ("modes industrial-3 --theory timo", "did you mean timoshenko?"),
    "unknown joints": ("modes industrial-3 --joints loose", "joints is 'loose'"),
    "nothing elastic": ("modes industrial-3 --theory rigid", "nothing elastic"),
    "idle mesh": ("modes industrial-3 --elements 4", "--elements would change nothing with --meth"),
    "idle order": ("modes industrial-3 --method assumed --order quintic", "--order would change"),
    "no elements": ("modes industrial-3 --method elements --elements 0", "elements"),
    "a directory": ("check .", "is a directory"),
    "position of an arm": ("modes industrial-3 --position 0,0,1", "--position is for a Delta"),
    "Delta without place": ("modes kuo-delta", "give the platform by --position"),
    "Delta out of reach": ("modes kuo-delta --position 0,0,9", "out of reach"),
    "stroke missing": ("modes theodore-rrp", "link3 (m outside)"),
    "stroke too long": ("modes theodore-rrp --at 0,0,2", "free length of link3"),
    "two forces": ("statics industrial-3 --force 1,2", "2 numbers are given, 3 are needed"),
    "force no number": ("statics industrial-3 --force a,b,c", "give 3 numbers"),
    "effort as an angle": (
        "simulate de-luca-two-link --input step --amplitude 45deg",
        "--amplitude 45deg: give plain numbers",
    ),
    "picture format": ("modes industrial-3 --count 1 --plot x.unknown", "picture ending"),
    "no such folder": ("modes industrial-3 --count 1 --plot /nowhere/x.png", "/nowhere"),
    "folder not to be made": ("tour --out /dev/null/x", "cannot make /dev/null/x"),
    "page that is none": ("view industrial-3 --save arm.pdf", "must end with .html"),
    "page into nowhere": ("modes industrial-3 --count 1 --save /nowhere/x.html", "/nowhere"),
    "view of nothing": ("view no-such-robot", "no-such-robot"),
    "port too high": ("view industrial-3 --port 70000", "0 to 65535"),
    "view out of reach": ("view kuo-delta --position 0,0,9", "out of reach"),
    "unknown paper": ("reproduce someone", "not a paper known here"),
}


def one_sentence(ran: Ran, sentence: str) -> None:
    assert ran.code == 2
    assert ran.out == ""
    assert sentence in ran.err
    assert ran.err.count("\n") == 1, ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["check", "modes"])
def test_bad_files(console: Console, tmp_path: Path, command: str, name: str) -> None:
    content, sentence = FILES[name]
    path = tmp_path / "arm.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    start = time.process_time()
    ran = console(command, path)
    assert time.process_time() - start < 2
    one_sentence(ran, sentence)
    assert str(path) in ran.err


@pytest.mark.parametrize("name", WORDS)
def test_bad_words(console: Console, name: str) -> None:
    words, sentence = WORDS[name]
    one_sentence(console(*words.split(" ")), sentence)


@pytest.mark.parametrize("name", ["wrong number of angles", "unknown robot", "count zero"])
def test_json_prints_nothing_when_there_is_no_answer(console: Console, name: str) -> None:
    words, sentence = WORDS[name]
    one_sentence(console(*words.split(" "), "--json"), sentence)


def test_no_more_modes_than_there_are(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(
        "name: arm\nplanar: true\nlinks:\n"
        "  - {name: a, length: 1, theory: rigid, mass_per_length: 1, joint: {stiffness: 10}}\n"
    )
    ran = console("modes", path, "--json")
    assert ran.code == 0
    assert len(json.loads(ran.out)["omega"]) == 1


def test_several_faults_are_told_one_a_line(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(ARM.replace(" length: 1,", " length: -1,"))
    ran = console("modes", path)
    assert ran.code == 2
    assert [line.count("must be at least 0") for line in ran.err.splitlines()] == [1, 1]


@pytest.mark.parametrize("kind", ["100 MB", "alias bomb"])
def test_hostile_files_from_a_cold_start(tmp_path: Path, kind: str) -> None:
    """In a process of its own, so that a hang or a crash of the interpreter would show."""
    path = tmp_path / "arm.yaml"
    if kind == "100 MB":
        with path.open("wb") as file:
            file.truncate(100 * 2**20)
            file.write(b"name: arm\n")
    else:
        path.write_text(BOMB)
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(
        [sys.executable, "-m", "supple", "modes", path],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    stop = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert stop.ru_utime + stop.ru_stime - start.ru_utime - start.ru_stime < 2
    one_sentence(Ran(ran.returncode, ran.stdout, ran.stderr), str(path))


def test_an_interrupt_is_no_traceback(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("supple.files.load", interrupted)
    assert console("check", "industrial-3").code == 130


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--save", "answer"], "must end in .nc (netCDF) or .html (a page)"),
        (["--save", "/nowhere/a.nc"], "there is no folder /nowhere"),
        (["--save", "folder.html"], "it is a folder"),
        (["--plot", "a.xyz"], "no known picture ending"),
        (["--plot", "/nowhere/a.png"], "there is no folder /nowhere"),
    ],
)
def test_places_are_refused_before_anything_is_computed(
    console: Console,
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.html").mkdir()
    monkeypatch.setattr("supple.equations.build.build", lambda *_, **__: pytest.fail("computed"))
    one_sentence(console("simulate", "de-luca-two-link", *words), sentence)


def test_a_tour_finds_out_at_once_that_it_cannot_write(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("supple.papers.tour.tour", lambda *_: pytest.fail("computed"))
    (tmp_path / "file").touch()
    one_sentence(console("tour", "--out", tmp_path / "file"), "it is a file; give another name")
    (tmp_path / "tour" / "index.html").mkdir(parents=True)
    one_sentence(console("tour", "--out", tmp_path / "tour"), "index.html: it is a folder")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("response industrial-3 --frequency 0:1e308:5", "ask for lower frequencies"),
        ("response industrial-3 --frequency 1:1e9:3", "ask for lower frequencies"),
        ("response industrial-3 --frequency 1:3e6:3", "GB of memory"),
        ("track industrial-3 --over theta.link2=0:1e308:5", "two or more finite numbers"),
        ("tolerances industrial-3 --within links.link2.length=1e308", "up to 1e30"),
        (
            "plan de-luca-two-link --by jerk --to 0.5,0 --speed-limit 1e308 "
            "--acceleration-limit 1e308 --jerk-limit 1e308",
            "give one positive limit (at most 1e+30)",
        ),
    ],
)
def test_numbers_beyond_all_bounds_are_one_sentence(
    console: Console, words: str, sentence: str
) -> None:
    """They were an overflow, warnings of NumPy's, or what a library prints of itself."""
    ran = console(*words.split())
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["import arm.urdf", "plan arm.yaml --to 0.5,0", "optimise arm.yaml --vary x=1:2"]
)
def test_what_is_read_is_not_written_over(console: Console, tmp_path: Path, words: str) -> None:
    """`import a.urdf --out a.urdf` replaced the only URDF by a robot file."""
    command, name, *rest = words.split()
    place = tmp_path / name
    if name == "arm.urdf":
        place.write_text(URDF)
    else:
        supple.dump(supple.load("de-luca-two-link"), place)
    before = place.read_bytes()
    ran = console(command, place, *rest, "--out", place)
    assert ran.code == 2
    assert "it is the file that is read" in ran.err
    assert place.read_bytes() == before
