"""Every snippet of the README and of the documentation runs.

The ```` ```python ```` blocks of a page run in order in one namespace; the lines of its
```` ```console ```` blocks that begin with `$ supple` run in order in the same directory and must
end with exit code 0. A page starts in an empty directory. A comment before a block changes this:

    <!-- skip: reason -->      the block is not run
    <!-- slow -->              the whole page is marked slow
    <!-- exit: 2 -->           each command of the block must end with this exit code
"""

import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from supple.__main__ import main

ROOT = Path(__file__).parents[2]
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.exists() and "_build" not in path.parts
]
# What a newcomer types first runs as it is typed; commands of other pages share one process.
FIRST_PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "getting-started.md")
COMMENT = r"<!--\s*(?P<word>[a-z]+)\s*(?::\s*(?P<rest>.*?))?\s*-->\s*\n+"
FENCE = re.compile(
    rf"(?:^[ \t]*{COMMENT})?^(?P<indent>[ \t]*)(?P<fence>`{{3,}})(?P<language>[^\n`]*)\n"
    r"(?P<body>.*?)^[ \t]*(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = ("python", "console")
KNOWN = ("skip", "slow", "exit")
SECONDS_A_COMMAND = 300


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, text, first line number and the comment before it."""

    language: str
    text: str
    line: int
    word: str
    rest: str


def blocks_of(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        indent = len(found["indent"])
        lines = found["body"].splitlines()
        yield Block(
            language=found["language"].strip(),
            text="\n".join(line[indent:] for line in lines) + "\n",
            line=page.count("\n", 0, found.start("body")) + 1,
            word=found["word"] or "",
            rest=found["rest"] or "",
        )


def commands_of(text: str) -> list[str]:
    """The `$ ` lines of a console block, continued over lines that end in a backslash."""
    joined = text.replace("\\\n", " ")
    return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


def run_python(block: Block, page: Path, namespace: dict[str, object]) -> None:
    padded = "\n" * (block.line - 1) + block.text  # so that tracebacks show the page's lines
    exec(compile(padded, str(page), "exec"), namespace)


def run_as_process(words: list[str], directory: Path) -> tuple[int, str]:
    """Exit code and printed text of a command in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=SECONDS_A_COMMAND,
        check=False,
    )
    return found.returncode, found.stdout + found.stderr


def run_here(words: list[str], directory: Path) -> tuple[int, str]:
    """The same in this process, which has imported everything already."""
    printed = StringIO()
    code: Any = None
    with (
        chdir(directory),
        redirect_stdout(printed),
        redirect_stderr(printed),
        warnings.catch_warnings(),
        mock.patch.object(sys, "argv", words),
    ):
        warnings.simplefilter("default")  # as in a process: shown, no error
        try:
            main()
        except SystemExit as end:
            code = end.code
    return int(code or 0), printed.getvalue()


def run_console(block: Block, directory: Path, as_process: bool) -> None:
    expected = int(block.rest) if block.word == "exit" else 0
    run = run_as_process if as_process else run_here
    for command in commands_of(block.text):
        words = shlex.split(command)
        if words[0] != "supple":
            continue
        code, printed = run(words, directory)
        report = f"$ {command}\nexit code {code}\n{printed}"
        assert code == expected, report
        assert "Traceback" not in printed, report


def _parameters() -> Iterator[object]:
    for page in PAGES:
        blocks = [b for b in blocks_of(page.read_text(encoding="utf-8")) if b.language in RUNNABLE]
        if blocks:
            marks = [pytest.mark.slow] if any(b.word == "slow" for b in blocks) else []
            yield pytest.param(page, id=page.relative_to(ROOT).as_posix(), marks=marks)


@pytest.mark.parametrize("page", list(_parameters()))
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.word == "skip":
            continue
        if block.language == "python":
            run_python(block, page, namespace)
        elif block.language == "console":
            run_console(block, tmp_path, as_process=page in FIRST_PAGES)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", PAGES, ids=[p.relative_to(ROOT).as_posix() for p in PAGES])
def test_comments_before_blocks_are_understood(page: Path) -> None:
    """A skipped block says why, and a misspelt comment is not silently ignored."""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        assert block.word in ("", *KNOWN), f"{page.name}:{block.line}: unknown word {block.word}"
        assert block.word != "skip" or block.rest, f"{page.name}:{block.line}: skip without reason"


def test_blocks_are_found_with_their_lines_and_comments() -> None:
    page = (
        "# Page\n\n```python\nx = 1\n```\n\n"
        "<!-- skip: needs hardware -->\n```console\n$ supple\n```\n"
        "- item\n\n  ```python\n  y = 2\n  ```\n"
    )
    first, second, third = blocks_of(page)
    assert (first.language, first.text, first.line, first.word) == ("python", "x = 1\n", 4, "")
    assert (second.language, second.word, second.rest) == ("console", "skip", "needs hardware")
    assert (third.text, third.line) == ("y = 2\n", 14)


def test_a_faulty_snippet_fails_and_names_its_line(tmp_path: Path) -> None:
    (block,) = blocks_of("text\n\n```python\nok = 1\nraise RuntimeError('no')\n```\n")
    with pytest.raises(RuntimeError) as caught:
        run_python(block, tmp_path / "page.md", {})
    assert caught.traceback[-1].lineno + 1 == 5


def test_commands_are_those_after_the_prompt() -> None:
    text = "$ supple modes arm \\\n    --count 3\n  1  2.0 Hz\n$ ls\n"
    assert commands_of(text) == ["supple modes arm      --count 3", "ls"]
