"""The live player of a motion in time: play, scrub, speed, tip trace."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SuppleError
from .posing import bend
from .scene import Scene
from .stage import Stage
from .tables import sentence

if TYPE_CHECKING:
    import viser

__all__ = ["Player"]

FRAMES = 30
SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


class Player:
    """A Scene with a time track in the browser."""

    def __init__(self, server: viser.ViserServer, scene: Scene) -> None:
        track = scene.tracks[0]
        if track.kind != "time":
            raise SuppleError("this scene has no time to play")
        self.scene, self.t, self.stage = scene, track.at, Stage(server)
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._server, self._drawn = server, -1
        server.gui.set_panel_label(f"supple: {scene.title}")
        server.gui.add_html(sentence(scene.subtitle))
        self.playing = server.gui.add_checkbox("play", True)
        first, last = float(self.t[0]), float(self.t[-1])
        self.time: Any = server.gui.add_slider(
            "time (s)", first, last, (last - first) / 1000, first
        )
        self.speed = server.gui.add_dropdown("speed", SPEEDS, initial_value="1")
        self.time.on_update(lambda _: self._draw())
        self.stage.show(scene)
        self.stage.trace(self._path())
        self._draw()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread, before the server it writes to."""
        self._stopped.set()
        self._thread.join(timeout=5.0)

    def _path(self) -> np.ndarray:
        track, tip = self.scene.tracks[0], self.scene.tip
        every = range(0, len(self.t), max(1, len(self.t) // 400))
        ends = [bend(track, v, track.motion[v, 0], 1.0).centre[tip, -1] for v in every]
        return np.array(ends)

    def _draw(self) -> None:
        """Draw the computed instant nearest to the slider's time."""
        v = int(np.argmin(np.abs(self.t - float(self.time.value))))
        with self._lock:
            if v != self._drawn:
                self.stage.draw(1.0, "plain", v)
                self._drawn = v

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._stopped.wait(1 / FRAMES):
            now = time.perf_counter()
            step, last = (now - last) * float(self.speed.value), now
            if self.playing.value and self._server.get_clients():
                at = float(self.time.value) + step
                self.time.value = at if at <= self.t[-1] else float(self.t[0])
