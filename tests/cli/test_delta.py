"""The Delta from the command line: modes at a position, motion along a path, the paper."""

import json
from pathlib import Path

import pytest

from cli.console import Console


def test_modes_at_a_position(console: Console) -> None:
    run = console("modes", "kuo-delta", "--position", "0.1,0,0.5", "--count", "8", "--json")
    document = json.loads(run.out)
    assert document["certified"] is True
    # errata, exact beams agree with them to 4e-6
    wanted = [20.5547, 22.5634, 24.9832, 53.9768, 61.9038, 62.8200, 111.308, 121.289]
    assert document["omega"] == pytest.approx(wanted, rel=1e-5)


def test_modes_at_motor_angles(console: Console) -> None:
    run = console("modes", "kuo-delta", "--at", "-10.764deg,-29.302deg,-29.302deg", "--json")
    # the errata's angles, printed to 5e-4 deg, for P = (0.1, 0, 0.5)
    assert json.loads(run.out)["omega"][0] == pytest.approx(20.5547, rel=1e-4)


def test_out_of_reach_is_one_sentence(console: Console) -> None:
    run = console("modes", "kuo-delta", "--position", "2,0,0")
    assert run.code == 2
    assert "out of reach of leg 1, 2, 3" in run.err
    assert "Traceback" not in run.err


def test_inverted_u(console: Console, tmp_path: Path) -> None:
    picture = tmp_path / "out.png"
    run = console("simulate", "kuo-delta", "--path", "inverted-u", "--plot", str(picture))
    assert run.code == 0
    assert "72 unknowns" in run.out
    assert "after the stop" in run.out
    assert "Warning: links of kuo-delta bend" in run.out
    assert picture.stat().st_size > 20_000


def test_circle_as_json(console: Console) -> None:
    run = console("simulate", "kuo-delta", "--path", "circle", "--elements", "1", "--json")
    document = json.loads(run.out)
    assert document["path"] == "circle"
    assert len(document["t"]) == len(document["torque"]) == len(document["displacement"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["kuo-delta"], "say where it goes"),
        (["kuo-delta", "--path", "inverted-v"], "did you mean inverted-u?"),
        (["industrial-3", "--path", "circle"], "is no Delta"),
    ],
)
def test_bad_paths(console: Console, words: list[str], sentence: str) -> None:
    run = console("simulate", *words)
    assert run.code == 2
    assert sentence in run.err
