"""Options of the design commands take units and per cent."""

import json
import re

import numpy as np
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
    ("text", "sentence"),
    [
        ("payload.mass=20%", "per cent of zero"),
        ("links.link1.section.wall=2kg", "must be in m"),
        ("links.link1.section.wall=thick", "number"),
        ("payload.mass", "write PATH=+-"),
    ],
)
def test_faults_are_sentences(console: Console, text: str, sentence: str) -> None:
    ran = console("tolerances", "industrial-3", "--within", text)
    assert ran.code == 2
    assert sentence in ran.err
    assert "Traceback" not in ran.err


def test_least_mass_on_the_command_line(console: Console) -> None:
    words = ("optimise", "industrial-3", "--vary", "links.*.section.wall=4mm:20mm")
    found = answer(console, *words, "--minimise", "mass", "--lowest", "4.5", "--at", "0,1,0")
    assert found["lowest_hz"] == pytest.approx(4.5, rel=1e-4)
    assert found["mass"] < found["start_mass"]
    ran = console(*words, "--minimise", "mass", "--at", "0,1,0")
    assert ran.code == 2
    assert "lowest" in ran.err


def test_limits_of_rates_take_degrees(console: Console) -> None:
    words = ("plan", "de-luca-two-link", "--by", "jerk", "--to", "30deg,20deg", "--json")
    fine = (*words, "--acceleration-limit", "8,8", "--jerk-limit", "100,100")
    plain = json.loads(console(*fine, "--speed-limit", f"{2 * np.pi / 3},{np.pi / 2}").out)
    degrees = json.loads(console(*fine, "--speed-limit", "120deg/s, 90 deg/s").out)
    assert degrees["duration"] == pytest.approx(plain["duration"], rel=1e-12)
    wrong = console(*fine, "--speed-limit", "120deg/s^2,90deg/s")
    assert wrong.code == 2
    assert "'120deg/s^2' is not per s: write 120deg/s" in wrong.err
    wrong = console(*fine, "--speed-limit", "fast")
    assert "give numbers in rad/s or m/s with commas between them" in wrong.err


def test_tables_of_moves_are_in_degrees(console: Console) -> None:
    words = ("plan", "de-luca-two-link", "--by", "jerk", "--to", "30deg,20deg")
    out = console(
        *words, "--speed-limit", "2,2", "--acceleration-limit", "8,8", "--jerk-limit", "100,100"
    ).out
    assert re.search(r"link1 +0 +30 .* deg, deg/s, deg/s\^2", out)
    out = console("simulate", "de-luca-two-link", "--duration", "0.1", "--amplitude", "0.1").out
    assert re.search(r"theta\.link1 .* deg, deg/s", out)
    out = console("check", "industrial-3").out
    assert "joints at 0 deg, 0 deg, 0 deg" in out
    out = console("sweep", "industrial-3", "modes", "--over", "theta.link2=0,1", "--count", "1").out
    assert "theta.link2 57.3 deg" in out


def test_a_servo_is_told_in_one_line(console: Console) -> None:
    words = ("compare", "de-luca-two-link", "--from", "0,0", "--to", "20deg,10deg")
    out = console(*words, "--methods", "unshaped", "--gains", "60,12:6,1.2", "--duration", "1").out
    assert "(JointPD, position gains 60, 12, velocity gains 6, 1.2)" in out


def test_a_move_of_three_parts_is_told_where_its_time_goes(console: Console) -> None:
    words = ("simulate", "de-luca-two-link", "--controller", "pd")
    said = console(*words, "--trajectory", "0,0:20deg,10deg:1").err
    assert "one colon between two poses, and the time of the move as --duration" in said
