"""`supple tour`: the main job on the published robots, as a table and as one page."""

from __future__ import annotations

from typing import Annotated

import typer

from ..arguments import Json
from ..output import print_json, print_table, say

__all__ = ["tour"]

Out = Annotated[
    str, typer.Option("--out", metavar="DIR", help="Folder for index.html and its files.")
]


def tour(out: Out = "tour", json: Json = False) -> None:
    """Visit four published robots: our numbers beside the papers', and an interactive page."""
    import time

    from ...files.disk import make_folder
    from ...papers.tour import stops
    from ...papers.tour import tour as visit
    from ...view.page.page import check_page
    from ...view.page.tour import save_tour

    check_page(make_folder(out) / "index.html")  # before anything is computed
    start = time.perf_counter()
    visited = []
    for name in stops():
        say(f"computing {name} ...", err=True)
        visited += list(visit((name,)))
        if not json:
            stop = visited[-1]
            from ...view.page.tour import stop_table

            say(f"\n{stop.name}: {stop.table}")
            print_table(*stop_table(stop))
            if stop.tally:
                tally = ", ".join(f"{count} {verdict}" for verdict, count in stop.tally.items())
                say(f"all that was recomputed: {tally}")
            if stop.note:
                say(stop.note)
    page = save_tour(visited, out)
    if json:
        rows = [{"robot": stop.name, **vars(row)} for stop in visited for row in stop.rows]
        stop_rows = [
            {
                "robot": stop.name,
                "table": stop.table,
                "rows": [vars(row) for row in stop.rows],
                "recomputed": dict(stop.tally),
                "frequency_hz": stop.found.frequency_hz,
                "certified": stop.found.certified,
            }
            for stop in visited
        ]
        print_json({"page": str(page.resolve()), "stops": stop_rows}, rows=rows)
        return
    seconds = time.perf_counter() - start
    size = page.stat().st_size / 1e3
    say(f"\nFour robots in {seconds:.0f} s. The page to look at ({size:.0f} kB):")
    say(f"  {page.resolve().as_uri()}")
