"""Every work cited by key in the code and in the pages stands in the list of sources."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "reference" / "sources.md"
KEY = re.compile(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?)\]")


def test_every_cited_key_is_listed() -> None:
    listed = set(re.findall(rf"^{KEY.pattern}$", LIST.read_text(encoding="utf-8"), re.MULTILINE))
    pages = [
        path
        for folder in ("src", "docs", "tests", "bench")
        for suffix in ("*.py", "*.md", "*.yaml", "*.c", "*.h")
        for path in (ROOT / folder).rglob(suffix)
    ]
    missing = {
        f"{path.relative_to(ROOT)}: [{key}]"
        for path in pages
        for key in KEY.findall(path.read_text(encoding="utf-8"))
        if key not in listed
    }
    assert not missing, "not in docs/reference/sources.md:\n" + "\n".join(sorted(missing))
