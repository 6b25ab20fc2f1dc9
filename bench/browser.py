"""What a reader sees in a real browser: frames of a page, and a slider of the studio."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from .slider import drag_timings
from .startup import command
from .timing import Timing

__all__ = ["FLAGS", "browser_timings", "chromium", "served"]

FLAGS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader"),
    "--enable-unsafe-swiftshader",
]
FRAMES = """() => { const v = window.supple.viewers[0], times = [];
  for (let k = 0; k < 60; k++) { const t = performance.now(); v.state.phase += 0.1; v.frame();
    times.push(performance.now() - t); }
  return times; }"""


def chromium() -> str | None:
    """Where the system's Chromium is."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def served(*words: str) -> Iterator[str]:
    """A studio started from the command line: its address, until the block ends."""
    line = [*command(), "view", *words, "--port", "0", "--json"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        if os.name == "posix":
            process.send_signal(signal.SIGINT)  # Ctrl-C
        else:
            process.terminate()
        process.communicate(timeout=20)


def browser_timings(
    pages: dict[str, str], repeats: int
) -> tuple[dict[str, Timing], dict[str, Any]] | str:
    """Frames of pages (text by name) and the studio's slider; or why there is no browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "frames and slider in a browser (playwright is not installed)"
    executable = chromium()
    if executable is None:
        return "frames and slider in a browser (no chromium here)"
    timings = {}
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            for name, text in pages.items():
                timings[f"frame of the {name}"] = _frames(browser, Path(folder), text, repeats)
            with served("industrial-3", "--at", "0,45deg,45deg") as url:
                sliders, shown = drag_timings(browser, url, repeats)
        finally:
            browser.close()
    return {**timings, **sliders}, shown


def _frames(browser: Any, folder: Path, text: str, repeats: int) -> Timing:
    """Seconds a frame, the median of sixty in each round."""
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    page.evaluate(FRAMES)
    rounds = tuple(1e-3 * median(page.evaluate(FRAMES)) for _ in range(repeats))
    page.close()
    return Timing(rounds, rounds, outside=True)
