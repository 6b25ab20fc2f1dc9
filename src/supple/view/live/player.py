"""The live player: a motion in time, many configurations, or a sag; play, scrub, look, save."""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ..page.reports import Report, frequency_plots
from ..scene.posing import bend
from ..scene.scene import Scene
from .sending import Saving
from .stage import COLOURINGS, Stage, add_dark
from .tables import colour_legend, curves_plot, modes_table, sentence

if TYPE_CHECKING:
    import viser

__all__ = ["Player", "tip_path"]

Array = NDArray[np.float64]
FRAMES = 30
SPEEDS = ("0.01", "0.1", "0.25", "0.5", "1", "2")
SWING = 0.8  # drawn swings a second of shapes without a size
MARKS = 5  # the curve's mark is moved so often a second


class Player:
    """The Scene of a page's first chapter in the browser, with its curves."""

    def __init__(self, server: viser.ViserServer, report: Report) -> None:
        chapter = report.chapters[0]
        if chapter.scene is None:
            raise SuppleError("this page has no scene to play")
        self.report = report
        self.scene = chapter.scene
        self.track = chapter.scene.tracks[0]
        self.plots = [*chapter.plots, *frequency_plots(chapter.scene)]
        self.t = self.track.at
        self.stage = Stage(server)
        self._server = server
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._drawn: tuple[Any, ...] = ()
        self._phase = 0.0  # of shapes that swing, rad
        self._marked = 0.0  # when the curves were last marked, s
        self._now = float(self.t[0])
        gui = server.gui
        gui.set_panel_label(f"supple: {self.scene.title}")
        self.status = gui.add_html(sentence(self.scene.subtitle))
        is_static = len(self.t) < 2 and self.scene.scale is not None
        self.playing = gui.add_checkbox("play", not is_static, visible=not is_static)
        # What runs: time, or a coordinate
        self.time: Any = None
        if len(self.t) >= 2:
            first = float(self.t[0])
            last = float(self.t[-1])
            unit = f" ({self.track.unit})" if self.track.unit else ""
            fine = (last - first) / 1000
            self.time = gui.add_slider(f"{self.track.name}{unit}", first, last, fine, first)
            self.time.on_update(self._on_slider)
            timed = self.track.kind == "time"
            self.speed = gui.add_dropdown("speed", SPEEDS, initial_value="1", visible=timed)
        self._looks(gui)
        self.table = gui.add_html("")
        self.curve: Any = None
        if self.plots:
            names = tuple(plot.title for plot in self.plots)
            self.curve = gui.add_dropdown(
                "curves", names, initial_value=names[min(1, len(names) - 1)]
            )
            self.curve.on_update(self._mark)
            self.plot = gui.add_html("")
        self.picture = gui.add_button("Save picture", hint="what you see, as PNG")
        self.page = gui.add_button("Save page", hint="one HTML file that needs no network")
        self._saving = Saving(self._say)
        for button in (self.picture, self.page):
            button.on_click(self._save)
        self.stage.show(self.scene)
        self._trace()
        self._draw()
        self._update_panel()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, before the server it writes to."""
        self._stopped.set()
        self._thread.join(timeout=5.0)

    # -- the panel ------------------------------------------------------------------------------

    def _looks(self, gui: Any) -> None:
        self.mode: Any = None
        if len(self.scene.shapes) > 1:
            names = tuple(f"mode {shape.number}" for shape in self.scene.shapes)
            self.mode = gui.add_dropdown("mode", names)
            self.mode.on_update(self._on_frame)
        sized = self.scene.scale is not None
        plainly = self.scene.true_scale
        first = "plain" if plainly else "displacement"
        self.colour = gui.add_dropdown("colour by", COLOURINGS, initial_value=first)
        self.colour.on_update(self._on_appearance)
        self.legend = gui.add_html(colour_legend(first, self.scene))
        self.amplitude: Any = None
        if not plainly:
            top = 4 * (self.scene.scale or 0.5)
            word = "times larger" if sized else "amplitude"
            self.amplitude = gui.add_slider(word, 0.0, top, top / 200, self.scene.scale or 1.0)
            self.amplitude.on_update(self._on_appearance)
        self.names = gui.add_checkbox("names", False)
        self.names.on_update(self._on_appearance)
        add_dark(gui, self.stage)

    # -- drawing --------------------------------------------------------------------------------

    @property
    def at(self) -> int:
        """The computed instant or configuration nearest to the slider."""
        return int(np.argmin(np.abs(self.t - self._now)))

    @property
    def shape_index(self) -> int:
        """Index of the shape drawn."""
        return 0 if self.mode is None else int(str(self.mode.value).split()[-1]) - 1

    @property
    def amplitude_factor(self) -> float:
        """How much of the usual deformation is drawn."""
        if self.amplitude is None:
            return 1.0
        return float(self.amplitude.value) / (self.scene.scale or 1.0)

    def _draw(self) -> None:
        amount = self.amplitude_factor
        if self.scene.scale is None and not self.scene.true_scale:
            amount *= math.cos(self._phase)
        pose = self.at
        shape = self.shape_index
        colouring = str(self.colour.value)
        wanted = (pose, shape, amount, colouring, bool(self.names.value))
        with self._lock:
            if wanted != self._drawn:
                self.stage.draw(amount, colouring, pose, shape)
                self._drawn = wanted

    def seek(self, x: float) -> None:
        """Go to a time or configuration."""
        self._now = x
        if self.time is not None:
            self.time.value = x
        self._on_frame()

    def _on_slider(self, event: Any) -> None:
        """A reader moved the slider; what the player itself writes there is no news."""
        if event.client is not None:
            self._now = float(self.time.value)
            self._on_frame()

    def _on_frame(self, *_: Any) -> None:
        self._draw()
        self._update_panel()

    def _on_appearance(self, *_: Any) -> None:
        """A reader changed colours, names or how much larger it is drawn."""
        self.legend.content = colour_legend(str(self.colour.value), self.scene)
        self.stage.name_links(bool(self.names.value))
        self._trace()
        self._on_frame()

    def _trace(self) -> None:
        if self.track.kind != "time":
            return
        scale = self.scene.scale
        self.stage.trace(tip_path(self.scene, self.amplitude_factor * (scale or 1.0)))
        if scale is not None:
            self.stage.trace(tip_path(self.scene, 0.0), wanted=True)

    # -- numbers and curves ---------------------------------------------------------------------

    def _update_panel(self) -> None:
        """Slider, frequencies of a configuration, and the mark on the curves: seldom in play."""
        now = time.perf_counter()
        if self.playing.value and now - self._marked < 1 / MARKS:
            return
        self._marked = now
        if self.time is not None and self.playing.value:
            self.time.value = self._now
        if len(self.track.frequency_hz) == len(self.t) and self.scene.shapes:
            kinds = self.track.kinds[self.at] if self.track.kinds else None
            self.table.content = modes_table(
                self.track.frequency_hz[self.at], kinds, self.shape_index
            )
        self._mark()

    def _mark(self, *_: Any) -> None:
        if self.curve is None:
            return
        plot = next(p for p in self.plots if p.title == str(self.curve.value))
        here = float(self.t[self.at]) if self.time is not None else None
        curves = [np.asarray(series.y, float) for series in plot.series]
        self.plot.content = curves_plot(
            np.asarray(plot.series[0].x, float),
            np.stack(curves, axis=1),
            [series.name for series in plot.series],
            (plot.x_label, plot.y_label),
            here,
            -1,
            plot.log,
        )

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._stopped.wait(1 / FRAMES):
            now = time.perf_counter()
            step = now - last
            last = now
            if not self.playing.value or not self._server.get_clients():
                continue
            self._phase += 2 * math.pi * SWING * step
            if self.track.kind == "time":
                at = self._now + (step * float(self.speed.value))
                self._now = at if at <= self.t[-1] else float(self.t[0])
            self._on_frame()

    # -- saving ---------------------------------------------------------------------------------

    def _save(self, event: Any) -> None:
        make_page = (lambda: self.report) if event.target is self.page else None
        self._saving.begin(event.client, self.scene.title, make_page)

    def _say(self, words: str) -> None:
        """Write a sentence at the top of the panel."""
        self.status.content = sentence(words)


def tip_path(scene: Scene, scale: float) -> Array:
    """Return where the tip goes along the first track, (N, 3), deformed by so many times."""
    track = scene.tracks[0]
    count = len(scene.tracks[0].at)
    every = range(0, count, max(1, count // 400))
    ends = [bend(track, v, track.motion[v, 0], scale).centre[scene.tip, -1] for v in every]
    return np.array(ends)
