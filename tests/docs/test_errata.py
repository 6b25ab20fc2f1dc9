"""The errata are one list: the page of the documentation and the data of the package agree."""

import re
from pathlib import Path

from supple.papers.cells import printed

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "papers" / "errata.md"


def test_page_and_data_hold_the_same_entries() -> None:
    told, source = [], ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"## \[(\w+)\]", line):
            source = found[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if len(cells) == 3 and cells[0] not in ("where", "---"):
            told.append((source, *cells))
    data = printed("errata")["errata"]
    assert told == [tuple(entry.values()) for entry in data]
    assert len(told) > 30


def test_every_source_is_known() -> None:
    sources = (PAGE.parents[2] / "reference" / "sources.md").read_text(encoding="utf-8")
    assert all(f"[{entry['source']}]" in sources or entry["source"] in sources
               for entry in printed("errata")["errata"])  # fmt: skip
