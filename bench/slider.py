"""From a slider to the picture: a mouse drags a joint of the studio in a real browser.

The page is watched from inside. Numbers count when they stand in the document. A picture counts
when the frame that draws it has been given to the graphics: frames are told apart by the matrices
and textures they are drawn with. Where no graphics card helps, the same processors then
rasterise it; moves of their own wait for that.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from .timing import Timing

__all__ = ["drag", "drag_timings"]

STUDIO = "slider to picture sent, by the studio"
NUMBERS = "slider to numbers in the page"
PICTURE = "slider to the frame that draws the arm there"
SHAPE = "slider to the frame that draws its new shape"
RASTER = "slider to the arm there, rasterised"
WINDOW = {"width": 700, "height": 400}
PAUSE, WATCHED = 120, 200  # ms: shorter together than the studio's hold of its animation

HOOKS = """(() => {
  const kind = WebGL2RenderingContext.prototype;
  let hash = 0, gl = null, last = 0;
  const wrap = (name, note) => { const own = kind[name];
    kind[name] = function (...a) { note(this, a); return own.apply(this, a); }; };
  const mix = (_, a) => { for (const part of a) if (part instanceof Float32Array)
    for (let i = 0; i < part.length; i++) hash = (hash * 31 + ((part[i] * 1e6) | 0)) | 0; };
  for (const name of ["uniformMatrix4fv", "texSubImage2D", "texImage2D"]) wrap(name, mix);
  for (const name of ["drawElements", "drawElementsInstanced", "drawArrays"])
    wrap(name, (context) => { gl = context; });
  const next = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => next((now) => {
    hash = 0; gl = null; draw(now);
    if (gl && hash !== last) { last = hash; window.drawn?.(performance.now(), gl); } });
})()"""
WATCH = """(watched) => document.addEventListener("mousemove", (event) => {
  if (!window.armed) return;
  window.armed = false;
  const told = () => [...document.querySelectorAll("[data-role=hertz]")].map((c) => c.dataset.hz)
    .join();
  const start = event.timeStamp, before = told(), seen = { frames: [] };
  const watch = new MutationObserver(() => {
    if (seen.numbers === undefined && told() !== before) seen.numbers = performance.now() - start;
  });
  watch.observe(document.body, { subtree: true, childList: true, attributes: true });
  window.drawn = (now, gl) => {
    seen.frames.push(now - start);
    if (!window.reading || seen.frames.length > 1) return;
    gl.readPixels(5, 5, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));  // waits for it
    seen.raster = performance.now() - start;
  };
  const end = () => {
    if (seen.numbers === undefined || seen.frames.length < 2) return setTimeout(end, 20);
    watch.disconnect(); window.drawn = undefined; window.seen = seen; };
  setTimeout(end, watched);
}, true)"""
RATE = """() => new Promise((done) => { let n = 0; const start = performance.now();
  const next = (now) => (now - start > 2000 ? done((1000 * n) / (now - start))
    : (n++, requestAnimationFrame(next)));
  requestAnimationFrame(next); })"""


def drag_timings(browser: Any, url: str, repeats: int) -> tuple[dict[str, Timing], dict[str, Any]]:
    """Seconds from the mouse to numbers and picture, and the numbers then shown.

    The median of five moves in each round.
    """
    moves, shown = drag(browser, url, 5 * repeats)
    rows = {STUDIO: "own", NUMBERS: "numbers", PICTURE: "pose", SHAPE: "shape", RASTER: "raster"}
    return {
        name: _by_fives([1e-3 * move[key] for move in moves]) for name, key in rows.items()
    }, shown


def drag(browser: Any, url: str, count: int) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Drag the second slider of a studio: milliseconds of every move, and what it shows at the end.

    Of a move: `own`, as the studio tells; `numbers` in the page; `pose` and `shape`, the frames
    that draw the links there and bent anew; `raster`, a frame of the first kind rasterised.
    """
    page = browser.new_page(viewport=WINDOW)
    page.add_init_script(HOOKS)
    page.goto(url)
    page.wait_for_selector("[data-role=here]", state="attached")
    page.wait_for_timeout(1500)
    moves = _moves(page, count)
    page.wait_for_timeout(300)
    shown = {
        "rate": float(page.evaluate(RATE)),
        "angle": float(page.locator("[data-role=here]").get_attribute("data-x")),
        "hertz": page.locator("[data-role=hertz]").evaluate_all(
            "cells => cells.map(c => Number(c.dataset.hz))"
        ),
    }
    page.close()
    return moves, shown


def _moves(page: Any, count: int) -> list[dict[str, float]]:
    """What the page saw of every move of a drag to and fro."""
    page.evaluate(WATCH, WATCHED)
    box = page.locator("[role=slider]").nth(1).bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    moves = []
    for k in range(count + 2):
        x += 2 if k % 8 < 4 else -2
        seen = _moved(page, x, y, reading=False)
        words = page.locator("[data-role=status]").inner_text()  # "6 modes in 7 ms; .."
        seen["own"] = float(words.split(" in ")[1].split(" ms")[0])
        seen["pose"], seen["shape"], *_ = seen.pop("frames")
        seen["raster"] = _moved(page, x + 1, y, reading=True)["raster"]
        moves.append(seen)
    page.mouse.up()
    return moves[2:]


def _moved(page: Any, x: float, y: float, reading: bool) -> dict[str, Any]:
    """What the page saw of one move; `reading` a pixel makes it wait for its first frame."""
    page.wait_for_timeout(PAUSE)
    page.evaluate(
        "(r) => { window.seen = null; window.reading = r; window.armed = true; }", reading
    )
    page.mouse.move(x, y)
    page.wait_for_function("window.seen")
    seen: dict[str, Any] = page.evaluate("window.seen")
    return seen


def _by_fives(seconds: list[float]) -> Timing:
    each = tuple(median(seconds[k : k + 5]) for k in range(0, len(seconds), 5))
    return Timing(each, each, outside=True)
