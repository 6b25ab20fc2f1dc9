"""Every command: what it prints to read, and its one JSON document."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.console import Console
from supple import library
from supple.cli import COMMANDS
from supple.files import dump, load, schema
from supple.papers.tour import stops

DESIGN_WORDS = {
    *(
        "forward",
        "inverse",
        "import",
        "materials",
        "shape",
        "stopband",
    ),  # the words of the map, in use or to come
    *("robots", "check", "modes", "statics", "simulate", "linearize", "stability", "workspace"),
    *(
        "response",
        "sweep",
        "track",
        "tolerances",
        "optimise",
        "compare",
        "plan",
        "identify",
        "validate",
        "reproduce",
        "view",
    ),
    *("export", "tour", "resonances", "calibrate", "where-to-measure"),
}

# [DiCastri2011], Figure 5, recomputed independently: 45, 45 deg, Timoshenko and Euler-Bernoulli.
FIGURE_5 = {
    "timoshenko": [5.64644, 21.2404, 79.0882, 210.856, 283.475, 333.930, 494.236, 592.810],
    "euler-bernoulli": [5.65713, 21.6000, 82.1202, 222.066, 302.954, 368.074, 534.694, 623.902],
}


def test_words_are_those_of_the_map() -> None:
    assert COMMANDS.keys() - {"schema"} <= DESIGN_WORDS


def test_help_lists_every_command(console: Console) -> None:
    for words in ((), ("--help",), ("-h",)):
        ran = console(*words)
        assert ran.code == 0
        assert all(word in ran.out for word in COMMANDS)


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_has_help_and_takes_json(console: Console, word: str) -> None:
    ran = console(word, "--help")
    assert ran.code == 0
    assert "--json" in ran.out


def test_version(console: Console) -> None:
    import supple

    assert console("--version").out == f"supple {supple.__version__}\n"


def test_robots(console: Console) -> None:
    assert all(name in console("robots").out for name in library.names())
    listed = json.loads(console("robots", "--json").out)["robots"]
    assert [robot["name"] for robot in listed] == list(library.names())


def test_check_of_a_sound_file(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    dump(load("industrial-3"), path)
    ran = console("check", path)
    assert (ran.code, ran.err) == (0, "")
    assert "no fault" in ran.out
    assert json.loads(console("check", path, "--json").out)["valid"] is True


def test_check_of_a_faulty_file(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("name: arm\nlinks:\n - {name: a, lenght: 1}\n - {name: b, length: -1}\n")
    ran = console("check", path)
    assert ran.code == 2
    assert ran.out == ""
    assert "links.a: unknown key 'lenght': did you mean 'length'? (line 3)" in ran.err
    assert "links.b: length is -1" in ran.err
    ran = console("check", path, "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["valid"], ran.err) == (2, False, "")
    assert len(found["faults"]) == 4


def test_schema_is_one_json_document(console: Console) -> None:
    assert json.loads(console("schema").out) == json.loads(console("schema", "--json").out)
    assert json.loads(console("schema").out) == json.loads(json.dumps(schema()))


@pytest.mark.parametrize("theory", FIGURE_5)
def test_modes_document_of_the_contract(console: Console, theory: str) -> None:
    words = ("industrial-3", "--at", "0,45deg,45deg", "--count", 8, "--theory", theory)
    ran = console("modes", *words, "--json")
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert found["robot"] == "industrial-3"
    assert (found["method"], found["theory"], found["certified"]) == ("exact", theory, True)
    assert found["configuration"] == pytest.approx([0, math.pi / 4, math.pi / 4])
    assert found["frequency_hz"] == pytest.approx(FIGURE_5[theory], rel=5e-6)  # six digits
    assert found["omega"] == pytest.approx([2 * math.pi * hz for hz in found["frequency_hz"]])


def test_modes_table_to_read(console: Console) -> None:
    ran = console("modes", "industrial-3", "--at", "0,45deg,45deg")
    assert ran.code == 0
    for part in ("mode", "Hz", "rad/s", "kind", "5.64644", "35.4777", "bending", "Certified"):
        assert part in ran.out
    assert "0 deg, 45 deg, 45 deg" in ran.out


def test_names_are_printed_as_they_are(console: Console, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(
        'name: "[red] :robot:"\nlinks:\n'
        ' - {name: "[/b]", length: 1, mass_per_length: 1, bending_stiffness: 1}\n'
        ' - {name: ":smile:", length: 1, mass_per_length: 1, bending_stiffness: 1}\n'
    )
    ran = console("modes", path, "--count", 4)
    assert ran.code == 0
    assert "[red] :robot:" in ran.out
    assert "[/b]" in ran.out or ":smile:" in ran.out


def test_modes_at_zero_says_so(console: Console) -> None:
    assert "all zero, as --at is not given" in console("modes", "industrial-3").out


def test_a_negative_first_angle_is_no_option(console: Console) -> None:
    words = ("modes", "di-castri-two-link", "--count", 1, "--json", "--at")
    found = json.loads(console(*words, "-45deg,90deg").out)
    assert found["configuration"] == pytest.approx([-math.pi / 4, math.pi / 2])
    assert found["frequency_hz"] == pytest.approx([0.2490], abs=5e-5)  # Table 2 of the paper


def test_modes_with_free_joints_count_the_rigid_ones(console: Console) -> None:
    words = ("modes", "industrial-3", "--at", "0,1,1", "--joints", "free", "--count", 2)
    assert json.loads(console(*words, "--json").out)["rigid_modes"] == 3
    assert "3 rigid-body modes at zero" in console(*words).out


def test_modes_by_elements_lie_above_and_are_not_certified(console: Console) -> None:
    words = ("modes", "industrial-3", "--at", "0,1,1", "--count", 3, "--json")
    exact = json.loads(console(*words).out)
    meshed = json.loads(console(*words, "--method", "elements", "--elements", 4).out)
    assert (meshed["method"], meshed["certified"]) == ("elements", False)
    assert meshed["omega"] == pytest.approx(exact["omega"], rel=1e-3)
    assert all(m >= e for m, e in zip(meshed["omega"], exact["omega"], strict=True))


def test_modes_of_mixed_theories_name_one_a_link(console: Console) -> None:
    found = json.loads(console("modes", "theodore-rrp", "--at", "0,0,0.3", "--json").out)
    assert found["theory"] == ["rigid", "rigid", "euler-bernoulli"]


def test_modes_of_a_delta(console: Console) -> None:
    """Source: [Kuo2016] with the right kinematics, rad/s at P = (0.1, 0, 0.5)."""
    words = ("modes", "kuo-delta", "--position", "0.1,0,0.5", "--count", 3)
    found = json.loads(console(*words, "--json").out)
    assert found["omega"] == pytest.approx([20.5547, 22.5634, 24.9832], abs=1e-4)
    assert found["position"] == [0.1, 0, 0.5]
    assert "0.1, 0, 0.5 m" in console(*words).out


def test_modes_draws_a_picture(console: Console, tmp_path: Path) -> None:
    picture = tmp_path / "modes.png"
    ran = console("modes", "industrial-3", "--count", 2, "--plot", picture, "--json")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert json.loads(ran.out)["certified"] is True


def test_statics(console: Console) -> None:
    words = ("statics", "industrial-3", "--at", "0,0,0", "--force", "0,-100,0")
    found = json.loads(console(*words, "--json").out)
    assert found["tip_displacement"][1] == pytest.approx(-100 * found["compliance"][1][1])
    assert found["tip_displacement"][1] < 0
    ran = console(*words)
    assert "Compliance" in ran.out
    assert "Nothing loads it" not in ran.out
    assert "Nothing loads it" in console("statics", "industrial-3").out


def test_view_saves_a_page(console: Console, tmp_path: Path) -> None:
    page = tmp_path / "arm.html"
    ran = console("view", "theodore-rrp", "--count", "2", "--save", page, "--json")
    answer = json.loads(ran.out)
    assert answer == {"robot": "theodore-rrp", "page": str(page), "bytes": page.stat().st_size}
    assert "opens in any browser" in console("view", "theodore-rrp", "--save", page).out
    console(
        "modes", "theodore-rrp", "--at", "0,0,0.8", "--count", "2", "--save", tmp_path / "m.html"
    )
    answer = json.loads(
        console("modes", "theodore-rrp", "--at", "0,0,0.8", "--count", "2", "--json").out
    )
    text = (tmp_path / "m.html").read_text()
    for hertz in answer["frequency_hz"]:
        assert f"{hertz:.4g}" in text


@pytest.mark.slow
def test_tour_compares_four_robots_and_writes_a_page(console: Console, tmp_path: Path) -> None:
    ran = console("tour", "--out", tmp_path / "tour", "--json")
    found = json.loads(ran.out)
    assert ran.code == 0
    assert [stop["robot"] for stop in found["stops"]] == list(stops())
    assert all(stop["certified"] and stop["rows"] for stop in found["stops"])
    page = tmp_path / "tour" / "index.html"
    assert found["page"] == str(page.resolve())
    assert page.stat().st_size < 1.5e6  # it is meant to be sent
    text = page.read_text()
    for stop in found["stops"]:
        assert stop["robot"] in text
        for row in stop["rows"]:
            assert row["printed"] in text
            assert f"{row['ours']:.7g}" in text


def test_module_and_script_are_the_same() -> None:
    script = Path(sys.executable).with_name("supple")
    words = ["modes", "industrial-3", "--count", "1", "--json"]
    by_module = subprocess.run(
        [sys.executable, "-m", "supple", *words], capture_output=True, check=True
    )
    by_script = subprocess.run([script, *words], capture_output=True, check=True)
    assert by_module.stdout == by_script.stdout


def test_a_closed_pipe_is_no_traceback() -> None:
    read, write = os.pipe()
    os.close(read)
    ran = subprocess.run(
        [sys.executable, "-m", "supple", "schema"],
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert "Traceback" not in ran.stderr
