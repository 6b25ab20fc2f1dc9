"""Options of the design commands take units and per cent."""

import json

import pytest

from cli.console import Console


def answer(console: Console, *words: str) -> dict:
    ran = console(*words, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_tolerances_in_millimetres_and_per_cent(console: Console) -> None:
    wall = "links.link1.section.wall"
    found = [
        answer(console, "tolerances", "industrial-3", "--within", f"{wall}={text}", "--count", "1")
        for text in ("0.0002", "0.2mm", "2%")
    ]
    assert found[0]["within"][wall] == pytest.approx(2e-4)
    for other in found[1:]:
        assert other["within"][wall] == pytest.approx(2e-4, rel=1e-12)
        assert other["low_hz"] == pytest.approx(found[0]["low_hz"], rel=1e-9)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("payload.mass=20%", "per cent of zero"),
        ("links.link1.section.wall=2kg", "must be in m"),
        ("links.link1.section.wall=thick", "number"),
        ("payload.mass", "write PATH=+-"),
    ],
)
def test_faults_are_sentences(console: Console, text: str, told: str) -> None:
    ran = console("tolerances", "industrial-3", "--within", text)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_least_mass_on_the_command_line(console: Console) -> None:
    words = ("optimise", "industrial-3", "--vary", "links.*.section.wall=4mm:20mm")
    found = answer(console, *words, "--minimise", "mass", "--lowest", "4.5", "--at", "0,1,0")
    assert found["lowest_hz"] == pytest.approx(4.5, rel=1e-4)
    assert found["mass"] < found["start_mass"]
    ran = console(*words, "--minimise", "mass", "--at", "0,1,0")
    assert ran.code == 2
    assert "lowest" in ran.err
