"""`supple reproduce`: the tables of the papers recomputed, ours beside theirs."""

from __future__ import annotations

import json as writer
import os
from pathlib import Path
from typing import Annotated

import typer

from ..arguments import Json
from ..output import print_json, print_table, say

__all__ = ["reproduce"]

Paper = Annotated[
    str | None,
    typer.Argument(metavar="[PAPER]", help="Short name of a paper. Default: all papers."),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Folder for every cell (.json) and the figures."),
]


HEADINGS = {
    "printed": "Numbers that the paper prints:",
    "recomputed": "Numbers that the paper only draws, beside a computation apart from supple:",
    "claims": "Statements of the paper:",
}


def reproduce(paper: Paper = None, out: Out = None, json: Json = False) -> None:
    """Recompute published tables; exit code 1 unless every verdict is as expected."""
    from ...papers.reproduce import papers
    from ...papers.reproduce import reproduce as ask

    found = [ask(name) for name in ([paper] if paper else papers())]
    written = []
    if out:  # figures and the whole answers, into a folder
        os.environ.setdefault("MPLBACKEND", "Agg")
        from ...files.disk import write_text
        from ...view.figures.papers import draw

        for one in found:
            text = writer.dumps(one.to_dict(), indent=1, ensure_ascii=False)
            written += [*draw(one, out), write_text(Path(out) / f"{one.paper}.json", text)]
    if json:
        ok = all(one.ok for one in found)
        rows = [
            {"paper": one.paper, **row}
            for one in found
            for row in one.to_pandas().to_dict("records")
        ]
        print_json({"ok": ok, "papers": [one.to_dict() for one in found]}, rows=rows)
    else:
        for one in found:
            from ...papers.cells import MEANING

            say(f"{one.paper} {one.source}: ours beside what is printed")
            tally = one.tally()
            used = [v for v in MEANING if any(counts[v] for counts in tally.values())]
            for kind, heading in HEADINGS.items():
                counted = one.tally((kind,))
                if not counted:
                    continue
                say(f"\n{heading}\n")
                lines = []
                for table, counts in counted.items():
                    each = [str(counts[verdict] or "") for verdict in used]
                    lines.append((table, str(counts.total()), *each))
                print_table(("table", "entries>", *(f"{verdict}>" for verdict in used)), lines)
            for (verdict, why), cells in one.grouped().items():
                say(f"\n{verdict}{f': {why}' if why else ''}\n")
                print_table(
                    ("  table", "at, deg", "column", "mode>", "printed>", "ours>"),
                    [
                        (
                            f"  {c.table}",
                            c.posture,
                            c.column,
                            str(c.mode),
                            c.printed,
                            c.formatted_value,
                        )
                        for c in cells
                    ],
                )
            say("\nStatements, what we measure of them, and where the bounds come from:")
            for claim in one.claims:
                say(f"  {claim.line()}")
                for measure in claim.measures:
                    say(f"      {measure.line()}")
            say("\nNotes:")
            for note in (*one.notes, *(f"{verdict}: {MEANING[verdict]}" for verdict in used)):
                say(f"  {note}")
            say(f"\n{one.summary}")
        for path in written:
            say(f"wrote {path}")
    if not all(one.ok for one in found):
        raise typer.Exit(1)
