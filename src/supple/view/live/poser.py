"""A robot without anything elastic in the browser: sliders for its joints, and no modes."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ..page.reports import Report, report
from ..scene.scene import robot_scene
from .questions import slider_to_si, sliders
from .sending import Saving
from .stage import Stage, add_dark
from .tables import sentence

if TYPE_CHECKING:
    import viser

__all__ = ["Poser"]

FIRST_STATUS = "Nothing of this robot is elastic yet: move it, and choose the links that bend."


class Poser:
    """A robot at the pose that its sliders give. All browsers see and set the same state."""

    def __init__(self, server: viser.ViserServer, robot: Robot, pose: Mapping[str, Any]) -> None:
        self.server = server
        self.robot = robot
        self.stage = Stage(server)
        self._lock = threading.Lock()
        gui = server.gui
        gui.set_panel_label(f"supple: {robot.name}")
        self.status = gui.add_html(sentence(FIRST_STATUS))

        # One slider per coordinate, degrees or metres
        self._word = architecture_of(robot).asked_by
        self.coordinates = sliders(robot)
        self.sliders: list[Any] = []
        start = np.asarray(pose[self._word], float).tolist()
        with gui.add_folder("Pose", visible=bool(self.coordinates)):
            for coordinate, value in zip(self.coordinates, start, strict=True):
                at = math.degrees(value) if coordinate.unit == "°" else value
                step = 0.1 if coordinate.unit == "°" else 0.001
                low = step * math.floor(min(coordinate.low, at) / step)
                high = step * math.ceil(max(coordinate.high, at) / step)
                name = f"{coordinate.name} ({coordinate.unit})"
                slider = gui.add_slider(name, low, high, step, at)
                slider.on_update(self._moved)
                self.sliders.append(slider)
        with gui.add_folder("Look"):
            self.names = gui.add_checkbox("names", False)
            self.names.on_update(lambda _: self.stage.name_links(bool(self.names.value)))
            add_dark(gui, self.stage)
        self.picture = gui.add_button("Save picture", hint="what you see, as PNG")
        self.page = gui.add_button("Save page", hint="one HTML file that needs no network")
        self._saving = Saving(self._say)
        self.picture.on_click(self._save)
        self.page.on_click(self._save)
        self._moved()

    def stop(self) -> None:
        """End it: there is no thread to end."""

    @property
    def pose(self) -> dict[str, list[float]]:
        """Pose that the sliders give, rad and m."""
        each = zip(self.sliders, self.coordinates, strict=True)
        return {self._word: [slider_to_si(float(slider.value), c.unit) for slider, c in each]}

    def _say(self, words: str, wrong: bool = False) -> None:
        self.status.content = sentence(words, wrong)

    def _moved(self, *_: Any) -> None:
        with self._lock:
            try:
                scene = robot_scene(self.robot, **self.pose)
            except SuppleError as problem:
                self._say(str(problem), wrong=True)
                return
            self.stage.show(scene)
            self.stage.draw(0.0)
            self._say(FIRST_STATUS)

    def _save(self, event: Any) -> None:
        robot = self.robot
        pose = self.pose

        def make_page() -> Report:
            return report(robot, pose=pose)

        wants_page = event.target is self.page
        self._saving.begin(event.client, robot.name, make_page if wants_page else None)
