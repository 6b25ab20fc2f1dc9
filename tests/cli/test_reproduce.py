"""`supple reproduce`: what it prints, writes and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from supple.cli import app
from supple.papers import reproduce as study
from supple.papers.cells import Cell, Claim, Reproduction, Window, as_printed, gap

ENDS = ("both", "shoulder", "elbow")


def made_up(verdict: str, expected: str) -> Reproduction:
    window = Window(verdict, 12.0, 13.0)  # type: ignore[arg-type]
    cell = Cell("Table 1", "0", "T", 3, "12.3", 12.31234, (window,), expected, "because")  # type: ignore[arg-type]
    fine = Cell("Table 1", "0", "T", 4, "5.0", 5.0, (as_printed("5.0"),))
    claim = Claim("Table 2", "a", "b", (gap("off", 0.0, 1e-9),))
    return Reproduction("made-up", "[Nobody]", (cell, fine), (claim,))


@pytest.mark.parametrize(
    ("verdict", "expected", "code"),
    [("misprint", "misprint", 0), ("differs", "agrees", 1), ("agrees", "misprint", 1)],
)
def test_exit_code_is_zero_only_if_every_verdict_is_expected(
    verdict: str, expected: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "PAPERS", {"made-up": lambda: made_up(verdict, expected)})
    run = CliRunner().invoke(app, ["reproduce"])
    assert run.exit_code == code
    assert ("NOT every verdict" in run.output) == (code == 1)
    assert ("EXPECTED" in run.output) == (code == 1)
    assert "12.3123" in run.output
    plain = CliRunner().invoke(app, ["reproduce", "made-up", "--json"])
    assert plain.exit_code == code
    assert json.loads(plain.output)["ok"] is (code == 0)


@pytest.mark.slow
def test_di_castri_prints_and_writes(tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["reproduce", "di-castri", "--out", str(tmp_path / "new")])
    assert run.exit_code == 0, run.output
    assert "Every verdict is as expected." in run.output
    assert "543.00496" in run.output
    names = {path.name for path in (tmp_path / "new").iterdir()}
    pictures = {f"di-castri-table-7-{end}.png" for end in ENDS}
    assert names == pictures | {
        "di-castri-figure-5-eb.png",
        "di-castri-figure-5-t.png",
        "di-castri.json",
    }
    whole = json.loads((tmp_path / "new" / "di-castri.json").read_text(encoding="utf-8"))
    assert whole["ok"] is True
    assert len(whole["cells"]) == 914
