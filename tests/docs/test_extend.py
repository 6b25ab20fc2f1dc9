"""docs/howto/extend.md: every toy of the page is added to a copy of the package, and used there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "extend.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (src/supple/\S+)\n")
KINDS = ("section", "joint", "basis", "controller", "stepper", "study")
WORDS = (*KINDS, "mechanism", "robot family")
RUNNER = """
import json, sys, traceback, warnings
warnings.simplefilter("error", UserWarning)
found = {}
for kind, text in json.load(sys.stdin).items():
    try:
        exec(compile(text, kind, "exec"), {"__name__": kind})
        found[kind] = ""
    except BaseException:
        found[kind] = traceback.format_exc()
print(json.dumps(found))
"""
Run = Callable[..., str]


def chapters() -> dict[str, str]:
    """The page's sections by their headings."""
    parts = re.split(r"^## (.+)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def applied(text: str, change: str) -> str:
    """The text of a file with a change made: each part's old lines must stand there once."""
    for part in re.split(r"^@@\n", change, flags=re.MULTILINE):
        lines = part.splitlines()
        assert all(line[:1] in (" ", "+", "-", "") for line in lines), part
        old = "".join(line[1:] + "\n" for line in lines if line[:1] in (" ", "-"))
        new = "".join(line[1:] + "\n" for line in lines if line[:1] in (" ", "+"))
        assert old.strip(), f"a change must say where:\n{part}"
        assert text.count(old) == 1, f"these lines stand {text.count(old)} times:\n{old}"
        text = text.replace(old, new)
    return text


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Python in a place whose package has every toy of the page."""
    place = tmp_path_factory.mktemp("extended")
    hidden = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "supple", place / "src" / "supple", ignore=hidden)
    for language, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        named = FILE.match(text)
        if named is None:
            continue
        path = place / named[1]
        body = text[named.end() :]
        if language == "diff":
            path.write_text(applied(path.read_text(encoding="utf-8"), body), encoding="utf-8")
        else:
            assert not path.exists(), f"{named[1]} is there already: a change is a diff"
            path.write_text(body, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(place / "src"), "MPLBACKEND": "Agg"}

    def ran(*arguments: str, told: str = "") -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command,
            cwd=place,
            env=environment,
            input=told,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return ran


@pytest.mark.slow
def test_a_toy_of_each_kind_is_used_through_public_doors(run: Run) -> None:
    used = {}
    for kind, chapter in chapters().items():
        found = FENCE.findall(chapter)
        (used[kind],) = [t for word, t in found if word == "python" and not FILE.match(t)]
    faults = json.loads(run("-c", RUNNER, told=json.dumps(used)).splitlines()[-1])
    assert faults == dict.fromkeys(used, "")


@pytest.mark.slow
def test_toys_are_commands(run: Run) -> None:
    blocks = [text for word, text in FENCE.findall(PAGE.read_text("utf-8")) if word == "console"]
    assert len(blocks) == 4
    for block in blocks:
        assert run("-m", "supple", *shlex.split(block.removeprefix("$ supple ")))


def test_the_page_adds_one_of_each_kind_and_names_files_that_exist() -> None:
    assert [f"A {word}" for word in WORDS] == list(chapters())
    for language, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        named = FILE.match(text)
        if named is not None:
            assert (ROOT / named[1]).exists() == (language == "diff"), named[1]
    for path in re.findall(r"`(\w+/[\w/]+\.py)`", PAGE.read_text(encoding="utf-8")):
        assert (ROOT / "src" / "supple" / path).exists() or (ROOT / path).exists(), path
