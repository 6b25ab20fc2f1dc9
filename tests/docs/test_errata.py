"""The errata are one list: the page of the documentation and the data of the package agree."""

import re
from pathlib import Path

from supple.papers.cells import printed_numbers

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "papers" / "errata.md"


def test_page_and_data_hold_the_same_entries() -> None:
    told = []
    numbers = []
    source = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"## \[(\w+)\]", line):
            source = found[1]
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line[:1] == "|" else []
        if len(cells) == 3 and cells[0] not in ("where", "---"):
            told.append((source, *cells))
        if len(cells) == 4 and cells[0] not in ("number", "---"):
            numbers.append((source, *cells[:3], cells[3].split()))
    data = printed_numbers("errata")
    assert told == [tuple(entry.values()) for entry in data["errata"]]
    assert numbers == [tuple(entry.values()) for entry in data["numbers"]]
    assert len(told) > 40
    assert len(numbers) > 15


def test_every_source_is_known() -> None:
    sources = (PAGE.parents[2] / "reference" / "sources.md").read_text(encoding="utf-8")
    entries = [*printed_numbers("errata")["errata"], *printed_numbers("errata")["numbers"]]
    assert all(entry["source"] in sources for entry in entries)


def test_every_number_is_read_by_a_test_or_the_package() -> None:
    """No number of the list is there for show."""
    tops = (PAGE.parents[3] / "tests", PAGE.parents[3] / "src")
    texts = " ".join(
        path.read_text(encoding="utf-8") for top in tops for path in top.rglob("*.py")
    ).replace("'", '"')
    for entry in printed_numbers("errata")["numbers"]:
        assert f'right_number("{entry["source"]}", "{entry["name"]}")' in texts, entry["name"]


def test_the_page_of_stability_names_arrays_that_are_there() -> None:
    """Every array that the how-to lists is one of the answer's."""
    from dataclasses import fields

    from supple.studies.motion.stability import Stability

    text = (PAGE.parents[2] / "howto" / "stability.md").read_text(encoding="utf-8")
    listed = text.split("`found.eigenvalues`,")[1].split("are arrays over")[0]
    known = {each.name for each in fields(Stability)}
    assert set(re.findall(r"`(\w+)`", listed)) <= known
