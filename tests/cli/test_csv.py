"""Every command prints one CSV table with `--csv`, the numbers of its `--json`."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from supple.cli import COMMANDS, app
from supple.cli.output import columns_of

ASKED = {
    "robots": (),
    "check": ("industrial-3",),
    "schema": (),
    "modes": ("industrial-3", "--count", "2"),
    "workspace": ("industrial-3", "--points", "2"),
    "statics": ("industrial-3", "--force", "0,1,0"),
    "simulate": ("de-luca-two-link", "--modes", "1", "--duration", "0.005"),
    "linearize": ("de-luca-two-link", "--modes", "1"),
}
SLOW = {"stability", "reproduce", "tour", "view"}  # the same door, minutes or a server


def table(*words: str) -> list[list[str]]:
    run = CliRunner().invoke(app, [*words, "--csv"])
    assert run.exit_code == 0, run.output
    return list(csv.reader(io.StringIO(run.stdout)))


@pytest.mark.parametrize("name", ASKED)
def test_one_table_and_nothing_else(name: str) -> None:
    head, *rows = table(name, *ASKED[name])
    assert rows
    assert len(set(head)) == len(head)
    assert {len(row) for row in rows} == {len(head)}


def test_every_command_has_both() -> None:
    for name in COMMANDS:
        text = CliRunner().invoke(app, [name, "--help"]).output
        assert "--csv" in text, name
        assert "--json" in text, name
    assert not (set(ASKED) | SLOW) - set(COMMANDS)


def test_the_numbers_are_those_of_json() -> None:
    words = ("modes", "industrial-3", "--count", "3")
    head, *rows = table(*words)
    answer = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [float(row[head.index("omega")]) for row in rows] == answer["omega"]


def test_both_at_once_are_refused() -> None:
    run = CliRunner().invoke(app, ["robots", "--json", "--csv"])
    assert "give one of them" in str(run.exception)


def test_a_document_as_columns() -> None:
    told = {"name": "a", "t": [0, 1], "q": [[1, 2], [3, 4]], "end": [7, 8, 9][:1], "rows": {"x": 5}}
    assert columns_of(told) == {
        "name": ["a", "a"],
        "t": [0, 1],
        "q.1": [1, 3],
        "q.2": [2, 4],
        "end.1": [7, 7],
        "rows.x": [5, 5],
    }


def test_faults_are_a_table_too(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("supple: 1\nname: x\narchitecture: serial\nlinks: []\n")
    run = CliRunner().invoke(app, ["check", str(tmp_path / "bad.yaml"), "--csv"])
    assert run.exit_code == 2
    assert "faults" in run.stdout.splitlines()[0]
