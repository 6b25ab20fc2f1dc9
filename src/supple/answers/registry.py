"""The one registry of answers: functions that draw, describe and store each kind.

A line names functions of rooms above this one, `room.module:function`; they are imported when first
asked for, so that an answer costs nothing that it is not used for. `view`, `files` and the command
line read this table and nothing else. A kind of answer has these duties, all of them optional:

1. `plot(answer, path, **options)` draws it with matplotlib.
2. `scene(answer)` returns it as a Scene, for the browser.
3. `report(answer, **options)` returns it as a Report, a page.
4. `dataset(answer)` returns it as an xarray Dataset; without, what the answer's `dims` say.
5. `table(answer)` returns it as a pandas DataFrame; without, the rows of its Dataset.
6. `text(answer)` returns what `print` shows; without, the names and values of its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..errors import SuppleError

__all__ = ["KINDS", "Kind", "duty", "import_function", "require_duty"]


@dataclass(frozen=True)
class Kind:
    """Where the functions of one kind of answer stand; empty where it has none."""

    plot: str = ""
    scene: str = ""
    report: str = ""
    dataset: str = ""
    table: str = ""
    text: str = ""


KINDS: dict[str, Kind] = {
    "robot.robot:Robot": Kind(
        text="view.summaries.robots:robot_text",
        scene="view.scene.scenes:pose_scene",
        report="view.page.reports:robot_report",
    ),
    "studies.vibration.modes:Modes": Kind(
        text="view.summaries.vibration:modes_text",
        plot="view.figures.plots:plot_modes",
        scene="view.scene.scene:modes_scene",
        report="view.page.reports:modes_report",
    ),
    "studies.vibration.theories:Theories": Kind(
        text="view.summaries.vibration:theories_text", plot="view.figures.plots:plot_theories"
    ),
    "studies.vibration.response:FrequencyResponse": Kind(
        text="view.summaries.vibration:frequency_response_text",
        plot="view.figures.frequency:plot_frequency_response",
    ),
    "studies.statics:Statics": Kind(
        text="view.summaries.poses:statics_text",
        plot="view.figures.plots:plot_statics",
        scene="view.scene.scene:statics_scene",
        report="view.page.reports:statics_report",
    ),
    "studies.vibration.workspace:FrequencyMap": Kind(
        text="view.summaries.vibration:frequency_map_text",
        plot="view.figures.paths:plot_workspace",
        scene="view.scene.scenes:workspace_scene",
        report="view.page.reports:workspace_report",
        dataset="studies.storage:map_to_xarray",
    ),
    "studies.motion.response:Response": Kind(
        text="view.summaries.motion:response_text",
        plot="view.figures.motion:plot_response",
        scene="view.scene.scenes:response_scene",
        report="view.page.reports:response_report",
        dataset="studies.storage:to_xarray",
        table="studies.storage:to_pandas",
    ),
    "studies.motion.path_response:PathResponse": Kind(
        text="view.summaries.motion:path_response_text",
        plot="view.figures.paths:plot_path_response",
        scene="view.scene.scenes:path_scene",
        report="view.page.reports:path_report",
        dataset="studies.storage:path_to_xarray",
        table="studies.storage:path_to_pandas",
    ),
    "studies.motion.state_space:StateSpace": Kind(
        text="view.summaries.motion:state_space_text",
        plot="view.figures.frequency:plot_state_space",
    ),
    "studies.motion.margins:Margins": Kind(text="view.summaries.motion:margins_text"),
    "studies.motion.stability:Stability": Kind(
        text="view.summaries.motion:stability_text",
        plot="view.figures.stability:plot_stability",
        report="view.page.reports:stability_report",
    ),
    "studies.design.track:Tracks": Kind(
        text="view.summaries.design:tracks_text", plot="view.figures.sweeps:plot_tracks"
    ),
    "control.trajectories:Trajectory": Kind(
        plot="view.figures.trajectories:plot_trajectory",
    ),
    "control.shapers:Shaper": Kind(text="view.summaries.drive:shaper_text"),
    "studies.drive.shape:ShapedMove": Kind(
        text="view.summaries.drive:shaped_move_text", plot="view.figures.shaping:plot_shaped"
    ),
    "studies.drive.compare:Comparison": Kind(
        text="view.summaries.drive:comparison_text",
        plot="view.figures.comparing:plot_comparison",
        report="view.page.comparing:comparison_report",
    ),
    "measure.resonances:Resonances": Kind(
        text="view.summaries.measured:resonances_text",
        plot="view.figures.measuring:plot_resonances",
        report="view.page.measuring:resonances_report",
    ),
    "measure.calibrate:Calibration": Kind(
        text="view.summaries.measured:calibration_text",
        plot="view.figures.measuring:plot_calibration",
        report="view.page.measuring:calibration_report",
    ),
    "measure.identify:Identification": Kind(
        text="view.summaries.measured:identification_text",
        plot="view.figures.measuring:plot_identification",
        report="view.page.measuring:identification_report",
        table="measure.identify:parameter_table",
    ),
    "measure.where_to_measure:MeasurementPlan": Kind(
        text="view.summaries.measured:measurement_plan_text",
        plot="view.figures.measuring:plot_plan",
        report="view.page.measuring:plan_report",
    ),
    "exporters.validate:Validation": Kind(
        text="view.summaries.exchange:validation_text", table="exporters.validate:validation_table"
    ),
    "papers.cells:Reproduction": Kind(
        text="view.summaries.exchange:reproduction_text", table="papers.cells:table"
    ),
    "studies.vibration.characteristic:Characteristic": Kind(
        text="view.summaries.vibration:characteristic_text",
        plot="view.figures.frequency:plot_characteristic",
    ),
    "studies.check:Check": Kind(text="view.summaries.poses:check_text"),
    "studies.kinematics.forward:Pose": Kind(text="view.summaries.poses:pose_text"),
    "studies.kinematics.inverse:JointSolutions": Kind(
        text="view.summaries.poses:joint_solutions_text"
    ),
    "studies.design.sensitivities:Sensitivities": Kind(
        text="view.summaries.design:sensitivities_text"
    ),
    "studies.design.static_sensitivities:StaticSensitivities": Kind(
        text="view.summaries.design:static_sensitivities_text"
    ),
    "studies.vibration.assumed:AssumedResult": Kind(
        text="view.summaries.vibration:assumed_modes_text"
    ),
    "studies.motion.stability:Floquet": Kind(text="view.summaries.motion:floquet_text"),
    "studies.design.tolerances:Tolerances": Kind(text="view.summaries.design:tolerances_text"),
    "studies.design.stopband:Band": Kind(text="view.summaries.design:band_text"),
    "studies.design.optimise:Optimum": Kind(text="view.summaries.design:optimum_text"),
    "studies.drive.invert:Inversion": Kind(text="view.summaries.drive:inversion_text"),
    "studies.drive.compensate:Compensation": Kind(text="view.summaries.drive:compensation_text"),
    "studies.drive.plan:Plan": Kind(text="view.summaries.drive:plan_text"),
    "studies.drive.plan_trial:PlanTrial": Kind(text="view.summaries.drive:plan_trial_text"),
    "studies.mobility:Mobility": Kind(text="view.summaries.poses:mobility_text"),
    "studies.regressor:Regressor": Kind(text="view.summaries.motion:regressor_text"),
    "studies.vibration.shapes:Shapes": Kind(text="view.summaries.vibration:shapes_text"),
    "exporters.export:Export": Kind(text="view.summaries.exchange:export_text"),
    "equations.model:Model": Kind(text="view.summaries.robots:model_text"),
    "beams.basis:Basis": Kind(text="view.summaries.robots:basis_text"),
    "equations.accuracy:Accuracy": Kind(text="view.summaries.motion:accuracy_text"),
}

_PACKAGE = __package__.rpartition(".")[0]


def import_function(place: str) -> Callable[..., Any]:
    """Return the function at `room.module:function` of this package."""
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(f"{_PACKAGE}.{module}"), name)
    return function


def duty(answer: object, name: str) -> Callable[..., Any] | None:
    """Return the function that fulfils a duty for this kind of answer, None if there is none."""
    for cls in type(answer).__mro__:
        kind = KINDS.get(f"{cls.__module__.removeprefix(_PACKAGE + '.')}:{cls.__name__}")
        if kind is not None and (place := getattr(kind, name)):
            return import_function(place)
    return None


def require_duty(answer: object, name: str, verb: str) -> Callable[..., Any]:
    """Return the function that fulfils a duty, or raise a sentence that names the kinds with it."""
    if (function := duty(answer, name)) is None:
        known = [key.partition(":")[2] for key, kind in KINDS.items() if getattr(kind, name)]
        raise SuppleError(
            f"{type(answer).__name__} cannot be {verb}: give one of {', '.join(known)}"
        )
    return function
