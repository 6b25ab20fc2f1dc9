"""From a slider to the picture: a mouse drags a joint of the studio in a real browser.

The page is watched from inside. Numbers count when they stand in the document. A picture counts
when the frame that draws it has been given to the graphics: frames are told apart by the matrices
and textures they are drawn with. Where no graphics card helps, the same processors then
rasterise it, which is told apart.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from .timing import Timing

__all__ = ["RASTER", "drag", "drag_timings", "raster_note"]

STUDIO = "slider to picture sent, by the studio"
NUMBERS = "slider to numbers in the page"
PICTURE = "slider to the frame that draws the arm there"
SHAPE = "slider to the frame that draws its new shape"
RASTER = "the first of these rasterised"
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
    if (seen.frames.length > 1) return;
    const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const poll = () => { if (gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.SIGNALED)
      seen.raster = performance.now() - start; else setTimeout(poll, 0); };
    poll();
  };
  const end = () => {
    if (seen.numbers === undefined || seen.raster === undefined || seen.frames.length < 2)
      return setTimeout(end, 20);
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
    moves, told = drag(browser, url, 5 * repeats)
    rows = {STUDIO: "own", NUMBERS: "numbers", PICTURE: "pose", SHAPE: "shape", RASTER: "raster"}
    return {
        name: _by_fives([1e-3 * move[key] for move in moves]) for name, key in rows.items()
    }, told


def drag(browser: Any, url: str, count: int) -> tuple[list[dict[str, float]], dict[str, Any]]:
    """Drag the second slider of a studio: milliseconds of every move, and what it shows at the end.

    Of a move: `own`, as the studio tells; `numbers` in the page; `pose` and `shape`, the frames
    that draw the links there and bent anew; `raster`, the first of these done.
    """
    page = browser.new_page(viewport=WINDOW)
    page.add_init_script(HOOKS)
    page.goto(url)
    page.wait_for_selector("[data-role=here]", state="attached")
    page.wait_for_timeout(1500)
    moves = _moves(page, count)
    page.wait_for_timeout(300)
    told = {
        "rate": float(page.evaluate(RATE)),
        "angle": float(page.locator("[data-role=here]").get_attribute("data-x")),
        "hertz": page.locator("[data-role=hertz]").evaluate_all(
            "cells => cells.map(c => Number(c.dataset.hz))"
        ),
    }
    page.close()
    return moves, told


def raster_note(rate: float) -> str:
    """Return what the rasterised row says of the machine, not of us."""
    return (
        f"{RASTER}: by the processor, in a browser without a graphics card that draws "
        f"{rate:.0f} frames a second; polled, so some milliseconds late"
    )


def _moves(page: Any, count: int) -> list[dict[str, float]]:
    """What the page saw of every move of a drag to and fro."""
    page.evaluate(WATCH, WATCHED)
    box = page.locator("[role=slider]").nth(1).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    moves = []
    for k in range(count + 2):
        page.wait_for_timeout(PAUSE)
        x += 2 if k % 8 < 4 else -2
        page.evaluate("() => { window.seen = null; window.armed = true; }")
        page.mouse.move(x, y)
        page.wait_for_function("window.seen")
        words = page.locator("[data-role=status]").inner_text()  # "6 modes in 7 ms; .."
        own = float(words.split(" in ")[1].split(" ms")[0])
        seen = page.evaluate("window.seen")
        pose, shape, *_ = seen.pop("frames")
        moves.append({**seen, "own": own, "pose": pose, "shape": shape})
    page.mouse.up()
    return moves[2:]


def _by_fives(seconds: list[float]) -> Timing:
    each = tuple(median(seconds[k : k + 5]) for k in range(0, len(seconds), 5))
    return Timing(each, each, outside=True)
