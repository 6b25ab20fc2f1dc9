"""The live studio of a robot: set it, ask, draw. One worker asks, one animator draws."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...studies.vibration.modes import Modes
from ..page.reports import Report, report
from ..scene.scene import Cloud, modes_scene
from .controls import Controls
from .questions import StudioQuestion, ask, frequencies_along, only, slider_to_si
from .sending import Saving
from .stage import Stage
from .tables import colour_legend, curves_plot, legend, modes_table

if TYPE_CHECKING:
    import viser

__all__ = ["Studio"]

Array = NDArray[np.float64]
FRAMES = 25  # a second
SWING = 0.8  # drawn swings a second, whatever the frequency
CURVE = 61  # poses of the frequency curves
HOLD = 0.5  # s after a change in which the shape stands still, so that the picture keeps up
BREATH = 0.02  # s in which an answer leaves before kinds and curves are computed


class Studio:
    """A robot in the browser. All browsers see and set the same state.

    Attributes
    ----------
    found
        The answer on show.
    latency
        Seconds from the last change to its picture.
    """

    def __init__(
        self, server: viser.ViserServer, found: Modes, vary: Mapping[str, Any] | None = None
    ) -> None:
        self.server = server
        self.found = found
        self.latency = 0.0
        self.stage = Stage(server)
        self.kinds: list[str] | None = None
        self._place = 0
        self._lock = threading.RLock()
        self._wanted = threading.Event()
        self._stopped = threading.Event()
        self._changed = time.perf_counter()
        self._curve: tuple[Any, Array, Array] | None = None
        self._seen: StudioQuestion | None = None
        self._status_text = ""
        self.controls = Controls(
            server, found, self.stage, self._request_answer, self._on_appearance, vary
        )
        self._saving = Saving(self.controls.say)
        self.controls.picture.on_click(self._save)
        self.controls.page.on_click(self._save)
        self._answer(self.controls.question())
        self._threads = [
            threading.Thread(target=target, daemon=True) for target in (self._work, self._animate)
        ]
        for thread in self._threads:
            thread.start()
        self._wanted.set()

    def stop(self) -> None:
        """End the threads, before the server they write to."""
        self._stopped.set()
        self._wanted.set()
        for thread in self._threads:
            thread.join(timeout=5.0)

    # -- asking ---------------------------------------------------------------------------------

    def _request_answer(self, *_: Any) -> None:
        self._changed = time.perf_counter()
        self._wanted.set()

    def _work(self) -> None:
        while not self._stopped.is_set():
            self._wanted.wait()
            if self._stopped.is_set():
                return
            self._wanted.clear()
            try:
                self._answer(self.controls.question())
                if not self._wanted.wait(BREATH):
                    self._add_kinds_and_curves()
            except SuppleError as problem:
                self.controls.say(str(problem), wrong=True)
            except Exception as problem:  # noqa: BLE001 - the studio must live on, and say so
                self.controls.say(f"This failed inside supple: {problem!r}", wrong=True)

    def _add_kinds_and_curves(self) -> None:
        """What takes longer than frequencies, unless the reader has moved on."""
        if self.kinds is None and not self._wanted.is_set():
            self.kinds = self.found.kind
        if not self._wanted.is_set():
            self._compute_curves()
        self._write(self.controls.mode_index)
        if not self._wanted.is_set():
            self.controls.say(self._status_text)

    def _answer(self, question: StudioQuestion) -> None:
        """Frequencies and the picked shape: what must follow the slider."""
        found = self.found if question == self._seen else ask(question)
        picked = min(self.controls.mode_index, found.omega.shape[-1] - 1)
        part, place = only(found, picked)
        scene = modes_scene(part, points=21)
        with self._lock:
            if question != self._seen:
                self.kinds = None
            self.found = found
            self._seen = question
            self._place = place
            self.stage.show(scene)
            self._draw(1.0)
        self.server.flush()  # the picture takes a browser longest: it leaves before the numbers
        self.controls.offer(found.omega.shape[-1])
        self._write(picked)
        self.server.flush()
        self.latency = time.perf_counter() - self._changed
        inside = "" if found.plane is None else f" in the {found.plane} plane"
        proof = f"certified{inside}, none is missing" if found.certified else "not certified"
        self._status_text = f"{len(found.omega)} modes in {1e3 * self.latency:.0f} ms; {proof}"
        self.controls.say(self._status_text)

    def _write(self, picked: int) -> None:
        hertz = self.found.frequency_hz
        picked = min(picked, len(hertz) - 1)
        self.controls.table.content = modes_table(hertz, self.kinds, picked)
        if self._curve is None:
            return
        (k, *_), x, curves = self._curve
        if curves.shape[1] != len(self.found.omega):
            return
        c = self.controls.coordinates[k]
        here = float(self.controls.sliders[k].value)
        names = [f"{m + 1}" for m in range(curves.shape[1])]
        self.controls.plot.content = curves_plot(
            x,
            curves,
            names,
            (f"{c.name} ({c.unit})", "frequency (Hz)"),
            here,
            picked,
            log=True,
            at=float(self.found.frequency_hz[picked]),
        )

    def _compute_curves(self) -> None:
        """Frequencies along one coordinate, computed once while only that one moves."""
        question = self._seen
        k = self.controls.running
        if question is None or k < 0:
            return
        rest = (*question.pose[:k], *question.pose[k + 1 :])
        key = (k, rest, replace(question, pose=()))
        if self._curve is not None and self._curve[0] == key:
            return
        c = self.controls.coordinates[k]
        slider = self.controls.sliders[k]
        self.controls.say(f"{self._status_text}; computing the frequencies along {c.name} ...")
        x = np.linspace(slider.min, slider.max, CURVE)
        found = []
        for part in np.array_split(x, CURVE // 8):
            values = np.array([slider_to_si(value, c.unit) for value in part.tolist()])
            found.append(frequencies_along(question, k, values))
            if self._wanted.is_set():
                return
        hertz = np.concatenate(found)
        reached = np.isfinite(hertz[:, 0])
        if reached.sum() > 1:
            self._curve = (key, x[reached], hertz[reached])

    # -- drawing --------------------------------------------------------------------------------

    def _on_appearance(self, *_: Any) -> None:
        self.stage.name_links(bool(self.controls.names.value))
        if self.stage.scene is not None:
            field = str(self.controls.colouring.value)
            self.controls.legend.content = colour_legend(field, self.stage.scene)
        with self._lock:
            self._draw(1.0)
        self._request_answer()

    def _draw(self, swing: float) -> None:
        amount = swing * float(self.controls.amplitude.value)
        self.stage.draw(amount, str(self.controls.colouring.value), shape=self._place)

    def _animate(self) -> None:
        start = time.perf_counter()
        while not self._stopped.wait(1 / FRAMES):
            now = time.perf_counter()
            if not self.controls.animate.value or not self.server.get_clients():
                continue
            if now - self._changed < HOLD:
                start = now - HOLD  # goes on from its largest
                continue
            phase = 2 * math.pi * SWING * (now - start)
            with self._lock:
                self._draw(math.cos(phase))

    def map(self, cloud: Cloud, extent: float) -> None:
        """Lay a map's places under the robot."""
        self.stage.cloud(cloud, extent)
        low = f"{cloud.values.min():.4g} {cloud.unit}"
        high = f"{cloud.values.max():.4g} {cloud.unit}"
        self.controls.key.content = legend(f"dots: {cloud.name}", low, high)

    # -- saving ---------------------------------------------------------------------------------

    def _save(self, event: Any) -> None:
        found = self.found

        def make_page() -> Report:
            self.controls.say("Computing the poses around this one for the page ...")
            return report(found, nearby=13)

        wants_page = event.target is self.controls.page
        self._saving.begin(event.client, found.robot.name, make_page if wants_page else None)
