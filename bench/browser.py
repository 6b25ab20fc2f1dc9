"""What a reader sees in a real browser: frames of a page, and a studio's slider to its numbers."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from .startup import command
from .timing import Timing

__all__ = ["BROWSER", "FLAGS", "SCREEN", "STUDIO", "browser_timings", "chromium", "served"]

STUDIO = "slider to picture sent, by the studio"
BROWSER = "slider to numbers in the page"
SCREEN = "the same, to the next frame drawn"

FLAGS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader"),
    "--enable-unsafe-swiftshader",
]
FRAMES = """() => { const v = window.supple.viewers[0], times = [];
  for (let k = 0; k < 60; k++) { const t = performance.now(); v.state.phase += 0.1; v.frame();
    times.push(performance.now() - t); }
  return times; }"""
NUDGE = """(which) => new Promise((done) => {
  const told = () => [...document.querySelectorAll("[data-role=hertz]")].map((c) => c.dataset.hz)
    .join();
  const before = told(), start = performance.now();
  const watch = new MutationObserver(() => {
    if (told() === before) return;
    watch.disconnect();
    const seen = performance.now() - start;
    requestAnimationFrame(() => done([seen, performance.now() - start]));
  });
  watch.observe(document.body, { subtree: true, childList: true, attributes: true });
  const press = { key: "ArrowRight", code: "ArrowRight", keyCode: 39, bubbles: true };
  const thumb = document.querySelectorAll("[role=slider]")[which];
  for (const kind of ["keydown", "keyup"]) thumb.dispatchEvent(new KeyboardEvent(kind, press));
})"""


RATE = """() => new Promise((done) => { let n = 0; const start = performance.now();
  const next = (now) => (now - start > 2000 ? done((1000 * n) / (now - start))
    : (n++, requestAnimationFrame(next)));
  requestAnimationFrame(next); })"""
SMALL = {"width": 700, "height": 400}  # drawn in software, a large picture is most of the wait


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
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def browser_timings(
    pages: dict[str, str], repeats: int
) -> tuple[dict[str, Timing], dict[str, Any]] | str:
    """Frames of pages (text by name) and the studio's slider; or why there is no browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "frames and slider in a browser (playwright is not installed)"
    if (found := chromium()) is None:
        return "frames and slider in a browser (no chromium here)"
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        try:
            frames = {
                name: _frames(browser, Path(folder), text, repeats) for name, text in pages.items()
            }
            sliders, told = _slider(browser, repeats)
        finally:
            browser.close()
    timings = {f"frame of the {name}": timing for name, timing in frames.items()}
    return {**timings, **sliders}, told


def _frames(browser: Any, folder: Path, text: str, repeats: int) -> Timing:
    """Seconds a frame, the median of sixty in each round."""
    place = folder / "page.html"
    place.write_text(text, encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(place.as_uri())
    page.evaluate(FRAMES)
    rounds = tuple(1e-3 * median(page.evaluate(FRAMES)) for _ in range(repeats))
    page.close()
    return Timing(rounds, rounds, outside=True)


def _slider(browser: Any, repeats: int) -> tuple[dict[str, Timing], dict[str, Any]]:
    """Seconds from a key on a slider to the new numbers in the page, and those numbers.

    The median of five presses in each round; of these seconds, those that the studio itself takes
    from the slider's message to the picture and numbers sent.
    """
    with served("industrial-3", "--at", "0,45deg,45deg") as url:
        page = browser.new_page(viewport=SMALL)
        page.goto(url)
        page.wait_for_selector("[data-role=here]", state="attached")
        page.wait_for_timeout(1500)
        page.evaluate(NUDGE, 1)
        rounds, drawn, own = [], [], []
        for _ in range(5 * repeats):
            page.wait_for_timeout(300)
            seconds = [1e-3 * ms for ms in page.evaluate(NUDGE, 1)]
            rounds.append(seconds[0])
            drawn.append(seconds[1])
            words = page.locator("[data-role=status]").inner_text()  # "6 modes in 7 ms; .."
            own.append(1e-3 * float(words.split(" in ")[1].split(" ms")[0]))
        page.wait_for_timeout(300)
        told = {
            "rate": float(page.evaluate(RATE)),
            "angle": float(page.locator("[data-role=here]").get_attribute("data-x")),
            "hertz": page.locator("[data-role=hertz]").evaluate_all(
                "cells => cells.map(c => Number(c.dataset.hz))"
            ),
        }
        page.close()
    own_, told_, drawn_ = (_by_fives(part) for part in (own, rounds, drawn))
    return {STUDIO: own_, BROWSER: told_, SCREEN: drawn_}, told


def _by_fives(seconds: list[float]) -> Timing:
    each = tuple(median(seconds[k : k + 5]) for k in range(0, len(seconds), 5))
    return Timing(each, each, outside=True)
