"""Text of a user's file in generated C: it stays text, and the C compiles for every robot."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

import supple
from supple.exporters.names import comment_text

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler")
# What ends a comment, or seems to: plainly, by a trigraph, by joined lines, in other alphabets
ATTACKS = [
    "*/ int intruder = 1; /*",
    "*/ __attribute__((constructor)) static void f(void) { __builtin_trap(); } /*",
    "*\\\n/ int intruder = 1; /*",
    "*??/\n/ int intruder = 1; /*",
    "// */\r\nint intruder = 1; /*",
    "\u2028*/int intruder = 1;/*\udcff",
]


def shared_library(text: str, folder: Path) -> str:
    """Compile C text as strictly as its readers would."""
    source = folder / "law.c"
    library = folder / "law.so"
    source.write_text(text)
    flags = ["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    return str(library)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_leaves_a_comment(attack):
    text = comment_text(attack)
    assert text.isascii()
    assert text.isprintable()
    assert not set(text) & set("*/\\?\n")


@needs_gcc
@pytest.mark.parametrize("attacked", ["robot", "link"])
def test_names_of_robots_links_and_outputs_do_not_run_as_code(attacked, tmp_path):
    attack = "*/int/**/intruder=1;/*"  # names of links hold no spaces
    robot = supple.load("de-luca-two-link")
    if attacked == "robot":
        robot = robot.with_("name", attack)
    else:
        robot = robot.with_("links.link1.name", attack)
    model = supple.build(robot, supple.AssumedModes(1), damping=0.01)
    law = supple.lqg(
        model,
        [0.0, 0.5],
        [supple.Encoder(robot.links[0].name), supple.Encoder("link2")],
        period=1e-3,
    )
    text = supple.c_code(law, model)
    library = ctypes.CDLL(shared_library(text, tmp_path))
    library.law_reset()
    assert not hasattr(library, "intruder")
    assert "intruder" in text  # the name is still told, without the marks of C
