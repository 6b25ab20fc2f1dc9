"""The studio's panel: everything the reader can set, and where answers are written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import SuppleError
from ..parameters import Parameter, numbers_of, parameter, usual_parameters
from .questions import AS_GIVEN, MOST_MODES, THEORIES, StudioQuestion, slider_to_si, sliders
from .stage import COLOURINGS, Stage, add_dark
from .tables import legend, sentence

if TYPE_CHECKING:
    import viser

    from ...studies.vibration.modes import Modes

__all__ = ["Controls"]


class Controls:
    """Builds the panel and reads it.

    `on_question` is called when the question changes, `on_appearance` when only the picture does.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        found: Modes,
        stage: Stage,
        on_question: Callable[..., None],
        on_appearance: Callable[..., None],
        vary: Mapping[str, Any] | None = None,
    ) -> None:
        self.gui = server.gui
        self.robot = found.robot
        self.coordinates = sliders(found.robot)
        self.gui.set_panel_label(f"supple: {found.robot.name}")
        self.status = self.gui.add_html(sentence("starting"))
        pose = found.theta if found.position is None else found.position
        self.sliders: list[Any] = []
        with self.gui.add_folder("Pose", visible=bool(self.coordinates)):
            for c, value in zip(self.coordinates, pose.tolist(), strict=True):
                at = math.degrees(value) if c.unit == "°" else value
                low = min(c.low, at)
                high = max(c.high, at)
                step = 0.1 if c.unit == "°" else 0.001
                low = step * math.floor(low / step)
                high = step * math.ceil(high / step)
                slider = self.gui.add_slider(f"{c.name} ({c.unit})", low, high, step, at)
                slider.on_update(on_question)
                self.sliders.append(slider)
        self._dimensions(vary, on_question)
        with self.gui.add_folder("Modes"):
            self.table = self.gui.add_html("")
            numbers = [f"mode {k + 1}" for k in range(found.omega.shape[-1])]
            self.mode: Any = self.gui.add_dropdown("mode", numbers)
            self.mode.on_update(on_question)
            self.animate = self.gui.add_checkbox("animate", True)
            self.amplitude = self.gui.add_slider("amplitude", 0.0, 2.0, 0.05, 1.0)
            for handle in (self.animate, self.amplitude):
                handle.on_update(on_appearance)
        self._question(found, on_question)
        with self.gui.add_folder("Look"):
            self.colouring = self.gui.add_dropdown("colour by", COLOURINGS)
            self.legend = self.gui.add_html(legend("displacement", "0", "largest"))
            self.key = self.gui.add_html("")
            self.names = self.gui.add_checkbox("names", False)
            add_dark(self.gui, stage)
            for look in (self.colouring, self.names):
                look.on_update(on_appearance)
        with self.gui.add_folder("Frequencies along", visible=bool(self.coordinates)):
            names = tuple(c.name for c in self.coordinates) or ("nothing moves",)
            slides = [c.name for c in self.coordinates if c.name.startswith("length")]
            first = (slides or names[min(1, len(names) - 1) :])[0]
            self.along = self.gui.add_dropdown("coordinate", names, initial_value=first)
            self.along.on_update(on_appearance)
            self.plot = self.gui.add_html("")
        self.picture = self.gui.add_button("Save picture", hint="what you see, as PNG")
        self.page = self.gui.add_button("Save page", hint="one HTML file that needs no network")

    def _dimensions(self, vary: Mapping[str, Any] | None, on_question: Callable[..., None]) -> None:
        """Sliders of a few numbers of the robot's file, and a list to take any other from."""
        self.parameters: dict[str, tuple[Parameter, Any]] = {}
        chosen = usual_parameters(self.robot)
        if vary is not None:
            chosen = tuple(parameter(self.robot, path, ends) for path, ends in vary.items())
        paths = tuple(numbers_of(self.robot))
        self.folder = self.gui.add_folder(
            "Dimensions", visible=bool(paths), expand_by_default=vary is not None
        )
        for each in chosen:
            self._add_slider(each, on_question)
        with self.folder:
            self.path = self.gui.add_dropdown("another", paths or ("none",))
            self.another = self.gui.add_button("Add slider", hint="of the parameter above")
        self.another.on_click(lambda _: self.add_parameter(str(self.path.value), on_question))

    def add_parameter(self, path: str, on_question: Callable[..., None]) -> None:
        """Add a slider for a number of the robot's file, unless there is one."""
        if path not in self.parameters:
            self._add_slider(parameter(self.robot, path), on_question)

    def _add_slider(self, each: Parameter, on_question: Callable[..., None]) -> None:
        factor = each.unit[1]
        low = each.low * factor
        high = each.high * factor
        step = each.step * factor
        at = each.value * factor
        with self.folder:
            slider = self.gui.add_slider(each.label, low, high, step, at)
        slider.on_update(on_question)
        self.parameters[each.path] = (each, slider)

    def _question(self, found: Modes, on_question: Callable[..., None]) -> None:
        payload = found.robot.payload
        with self.gui.add_folder("Robot"):
            self.theory = self.gui.add_dropdown("theory", THEORIES, initial_value=AS_GIVEN)
            self.joints = self.gui.add_dropdown(
                "joints", ("locked", "free"), initial_value=found.joints
            )
            self.count = self.gui.add_number(
                "number of modes", found.omega.shape[-1], step=1, hint=f"1 to {MOST_MODES}"
            )
            self.payload = self.gui.add_number(
                "payload (kg)", payload.mass if payload else 0.0, step=0.01
            )
            for handle in (self.theory, self.joints, self.count, self.payload):
                handle.on_update(on_question)

    def question(self) -> StudioQuestion:
        """Return the question that the panel is set to."""
        pose = tuple(
            slider_to_si(float(slider.value), c.unit)
            for slider, c in zip(self.sliders, self.coordinates, strict=True)
        )
        changes = []
        for each, slider in self.parameters.values():
            value = float(slider.value) / each.unit[1]
            if abs(value - each.value) > 0.5 * each.step:  # where it began the file's own value
                changes.append((each.path, value))
        return StudioQuestion(
            self.robot,
            pose,
            str(self.theory.value),
            round(_number(self.count, "number of modes")),
            _number(self.payload, "payload"),
            str(self.joints.value),
            tuple(changes),
        )

    @property
    def mode_index(self) -> int:
        """Index of the mode picked."""
        return int(str(self.mode.value).split()[-1]) - 1

    @property
    def running(self) -> int:
        """Index of the coordinate the curves run along."""
        names = [c.name for c in self.coordinates]
        return names.index(str(self.along.value)) if names else -1

    def offer(self, count: int) -> None:
        """Offer that many modes to pick from."""
        if len(self.mode.options) != count:
            keep = min(self.mode_index, count - 1)
            names = tuple(f"mode {k + 1}" for k in range(count))
            self.mode.options = names
            self.mode.value = names[keep]

    def say(self, words: str, wrong: bool = False) -> None:
        """Write a sentence at the top of the panel."""
        self.status.content = sentence(words, wrong)


def _number(handle: Any, word: str) -> float:
    """What stands in a field; an empty one is a SuppleError."""
    try:
        value = float(handle.value)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise SuppleError(f"{word} is empty: give a number")
    return value
