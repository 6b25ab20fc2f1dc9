"""supple: robots whose links bend. How do they vibrate, sag and move?

Public names are imported when first used: `import supple` alone loads nothing, and a name brings
only the module that holds it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .readable_help import make_help_readable

if TYPE_CHECKING:
    from .beams.basis import AssumedModes, Basis, FiniteElements
    from .beams.shapes import EndLoad
    from .budget import SizeWarning
    from .control.adaptive import AdaptiveControl
    from .control.calm import CalmMove
    from .control.controllers import (
        LQR,
        Clipped,
        ComputedTorque,
        Controller,
        Decoupling,
        ExpressionLaw,
        GravityPD,
        JointPD,
        lqr,
    )
    from .control.dampers import StrainFeedback, h_infinity, resonant_damping, strain_feedback
    from .control.filters import CalmDuration, calm_durations, filtered
    from .control.linear import LinearController
    from .control.lines import Line
    from .control.matching import TrajectoryWarning
    from .control.observers import Observer, lqg, observer
    from .control.platform import PlatformPath
    from .control.sampled import Sampled
    from .control.shapers import Shaper, shaper
    from .control.shaping import Samples, shaped
    from .control.trajectories import (
        CirclePath,
        Hold,
        InvertedU,
        ParabolicBlends,
        PointToPoint,
        Repeated,
        Trajectory,
        WayPoints,
        scaled_to,
    )
    from .control.trajectory_files import load_trajectory
    from .equations.accuracy import Accuracy, ModelWarning
    from .equations.build import build
    from .equations.closed.rigid_delta import RigidDelta
    from .equations.damping import ModalDamping, StiffnessRoot
    from .equations.equilibrium import UnstableRestWarning
    from .equations.model import Model
    from .equations.reading import Reading
    from .errors import PoseWarning, RobotError, RobotWarning, SuppleError
    from .exporters.c_code import c_code
    from .exporters.export import Export, export
    from .exporters.validate import Validation, validate
    from .files import dump, load, load_profile, loads, schema
    from .integration.inputs import BangBang, Chirp, Constant, Step, Table
    from .library import material
    from .link_loads import DistributedLoad, PointLoad
    from .measure.calibrate import Calibration, calibrate
    from .measure.identify import Identification, identify
    from .measure.resonances import Resonances, resonances
    from .measure.where_to_measure import MeasurementPlan, where_to_measure
    from .outputs.kinds import (
        Acceleration,
        Accelerometer,
        ClosureForce,
        Encoder,
        Gyroscope,
        Moment,
        Place,
        Reaction,
        Strain,
        Stress,
        Tachometer,
        Tip,
    )
    from .outputs.output import Output
    from .outputs.sensor import Sensor
    from .papers.reproduce import Reproduction, reproduce
    from .path_dynamics.damping import Proportional, Ratio, Rayleigh
    from .path_dynamics.kineto_elastodynamics import Ked, Loads, ked
    from .robot import (
        Bearing,
        Body,
        Closure,
        ClosureEnd,
        DeltaRobot,
        Foundation,
        Gear,
        Joint,
        Link,
        LowerLink,
        Material,
        MechanismJoint,
        MechanismLink,
        MechanismRobot,
        Motor,
        Mount,
        Platform,
        Ply,
        Robot,
        SerialRobot,
        UpperLink,
    )
    from .sections import Box, Circle, General, Profile, Rectangle, Tube
    from .structure import as_mechanism
    from .studies.check import Check, check
    from .studies.closed_form import closed_form
    from .studies.design.optimise import Optimum, optimise
    from .studies.design.sensitivities import Sensitivities, sensitivities
    from .studies.design.static_sensitivities import StaticSensitivities, static_sensitivities
    from .studies.design.stopband import Band, stopband
    from .studies.design.sweep import SweepWarning, sweep
    from .studies.design.tolerances import Tolerances, tolerances
    from .studies.design.track import Tracks, Veering, track
    from .studies.drive.calm import calm_move
    from .studies.drive.compare import Comparison, compare
    from .studies.drive.compensate import Compensation, compensate
    from .studies.drive.invert import Inversion, invert
    from .studies.drive.limited import JerkLimited, PathTiming, effort_limited, jerk_limited
    from .studies.drive.plan import Plan, plan
    from .studies.drive.plan_trial import PlanTrial
    from .studies.drive.settle import Corrected, CorrectionWarning, settled
    from .studies.drive.shape import ShapedMove, scheduled, shape
    from .studies.kinematics.forward import Pose, forward
    from .studies.kinematics.inverse import JointSolutions, inverse
    from .studies.mobility import Mobility, mobility
    from .studies.motion.follow import SmallRangeWarning, StepWarning, follow
    from .studies.motion.linearize import StateSpace, linearize
    from .studies.motion.margins import Margins, margins
    from .studies.motion.path_response import PathResponse
    from .studies.motion.response import Response
    from .studies.motion.simulate import SimulationWarning, simulate
    from .studies.motion.stability import Floquet, Stability, floquet, free_growth, stability
    from .studies.regressor import Regressor, regressor
    from .studies.statics import Statics, statics
    from .studies.storage import load_linear, load_response
    from .studies.vibration.assumed import assumed_modes
    from .studies.vibration.characteristic import Characteristic, characteristic
    from .studies.vibration.modes import Modes, modes
    from .studies.vibration.response import FrequencyResponse, response
    from .studies.vibration.theories import Theories, theories
    from .studies.vibration.workspace import JointMap, WorkspaceMap, workspace

__all__ = [
    "LQR",
    "Acceleration",
    "Accelerometer",
    "Accuracy",
    "AdaptiveControl",
    "AssumedModes",
    "Band",
    "BangBang",
    "Basis",
    "Bearing",
    "Body",
    "Box",
    "Calibration",
    "CalmDuration",
    "CalmMove",
    "Characteristic",
    "Check",
    "Chirp",
    "Circle",
    "CirclePath",
    "Clipped",
    "Closure",
    "ClosureEnd",
    "ClosureForce",
    "Comparison",
    "Compensation",
    "ComputedTorque",
    "Constant",
    "Controller",
    "Corrected",
    "CorrectionWarning",
    "Decoupling",
    "DeltaRobot",
    "DistributedLoad",
    "Encoder",
    "EndLoad",
    "Export",
    "ExpressionLaw",
    "FiniteElements",
    "Floquet",
    "Foundation",
    "FrequencyResponse",
    "Gear",
    "General",
    "GravityPD",
    "Gyroscope",
    "Hold",
    "Identification",
    "Inversion",
    "InvertedU",
    "JerkLimited",
    "Joint",
    "JointMap",
    "JointPD",
    "JointSolutions",
    "Ked",
    "Line",
    "LinearController",
    "Link",
    "Loads",
    "LowerLink",
    "Margins",
    "Material",
    "MeasurementPlan",
    "MechanismJoint",
    "MechanismLink",
    "MechanismRobot",
    "Mobility",
    "ModalDamping",
    "Model",
    "ModelWarning",
    "Modes",
    "Moment",
    "Motor",
    "Mount",
    "Observer",
    "Optimum",
    "Output",
    "ParabolicBlends",
    "PathResponse",
    "PathTiming",
    "Place",
    "Plan",
    "PlanTrial",
    "Platform",
    "PlatformPath",
    "Ply",
    "PointLoad",
    "PointToPoint",
    "Pose",
    "PoseWarning",
    "Profile",
    "Proportional",
    "Ratio",
    "Rayleigh",
    "Reaction",
    "Reading",
    "Rectangle",
    "Regressor",
    "Repeated",
    "Reproduction",
    "Resonances",
    "Response",
    "RigidDelta",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Sampled",
    "Samples",
    "Sensitivities",
    "Sensor",
    "SerialRobot",
    "ShapedMove",
    "Shaper",
    "SimulationWarning",
    "SizeWarning",
    "SmallRangeWarning",
    "Stability",
    "StateSpace",
    "StaticSensitivities",
    "Statics",
    "Step",
    "StepWarning",
    "StiffnessRoot",
    "Strain",
    "StrainFeedback",
    "Stress",
    "SuppleError",
    "SweepWarning",
    "Table",
    "Tachometer",
    "Theories",
    "Tip",
    "Tolerances",
    "Tracks",
    "Trajectory",
    "TrajectoryWarning",
    "Tube",
    "UnstableRestWarning",
    "UpperLink",
    "Validation",
    "Veering",
    "WayPoints",
    "WorkspaceMap",
    "__version__",
    "as_mechanism",
    "assumed_modes",
    "build",
    "c_code",
    "calibrate",
    "calm_durations",
    "calm_move",
    "characteristic",
    "check",
    "closed_form",
    "compare",
    "compensate",
    "dump",
    "effort_limited",
    "export",
    "filtered",
    "floquet",
    "follow",
    "forward",
    "free_growth",
    "h_infinity",
    "identify",
    "inverse",
    "invert",
    "jerk_limited",
    "ked",
    "linearize",
    "load",
    "load_linear",
    "load_profile",
    "load_response",
    "load_trajectory",
    "loads",
    "lqg",
    "lqr",
    "margins",
    "material",
    "mobility",
    "modes",
    "observer",
    "optimise",
    "plan",
    "regressor",
    "reproduce",
    "resonances",
    "resonant_damping",
    "response",
    "scaled_to",
    "scheduled",
    "schema",
    "sensitivities",
    "settled",
    "shape",
    "shaped",
    "shaper",
    "simulate",
    "stability",
    "static_sensitivities",
    "statics",
    "stopband",
    "strain_feedback",
    "sweep",
    "theories",
    "tolerances",
    "track",
    "validate",
    "where_to_measure",
    "workspace",
]

# The module of each public name; it is imported when the name is first used.
_MODULES = {
    "beams.basis": ("AssumedModes", "Basis", "FiniteElements"),
    "beams.shapes": ("EndLoad",),
    "budget": ("SizeWarning",),
    "control.adaptive": ("AdaptiveControl",),
    "control.calm": ("CalmMove",),
    "control.controllers": (
        "Clipped",
        "ComputedTorque",
        "Controller",
        "Decoupling",
        "ExpressionLaw",
        "GravityPD",
        "JointPD",
        "LQR",
        "lqr",
    ),
    "control.dampers": ("StrainFeedback", "h_infinity", "resonant_damping", "strain_feedback"),
    "control.filters": ("CalmDuration", "calm_durations", "filtered"),
    "control.linear": ("LinearController",),
    "control.lines": ("Line",),
    "control.matching": ("TrajectoryWarning",),
    "control.observers": ("Observer", "lqg", "observer"),
    "control.platform": ("PlatformPath",),
    "control.sampled": ("Sampled",),
    "control.shapers": ("Shaper", "shaper"),
    "control.shaping": ("Samples", "shaped"),
    "control.trajectories": (
        "CirclePath",
        "Hold",
        "InvertedU",
        "ParabolicBlends",
        "PointToPoint",
        "Repeated",
        "Trajectory",
        "WayPoints",
        "scaled_to",
    ),
    "control.trajectory_files": ("load_trajectory",),
    "equations.accuracy": ("Accuracy", "ModelWarning"),
    "equations.build": ("build",),
    "equations.closed.rigid_delta": ("RigidDelta",),
    "equations.damping": ("ModalDamping", "StiffnessRoot"),
    "equations.equilibrium": ("UnstableRestWarning",),
    "equations.model": ("Model",),
    "equations.reading": ("Reading",),
    "errors": ("PoseWarning", "RobotError", "RobotWarning", "SuppleError"),
    "exporters.c_code": ("c_code",),
    "exporters.export": ("Export", "export"),
    "exporters.validate": ("Validation", "validate"),
    "files": ("dump", "load", "load_profile", "loads", "schema"),
    "integration.inputs": ("BangBang", "Chirp", "Constant", "Step", "Table"),
    "library": ("material",),
    "link_loads": ("DistributedLoad", "PointLoad"),
    "measure.calibrate": ("Calibration", "calibrate"),
    "measure.identify": ("Identification", "identify"),
    "measure.resonances": ("Resonances", "resonances"),
    "measure.where_to_measure": ("MeasurementPlan", "where_to_measure"),
    "outputs.kinds": (
        "Acceleration",
        "Accelerometer",
        "ClosureForce",
        "Encoder",
        "Gyroscope",
        "Moment",
        "Place",
        "Reaction",
        "Strain",
        "Stress",
        "Tachometer",
        "Tip",
    ),
    "outputs.output": ("Output",),
    "outputs.sensor": ("Sensor",),
    "papers.reproduce": ("Reproduction", "reproduce"),
    "path_dynamics.damping": ("Proportional", "Ratio", "Rayleigh"),
    "path_dynamics.kineto_elastodynamics": ("Ked", "Loads", "ked"),
    "robot": (
        "Bearing",
        "Body",
        "Closure",
        "ClosureEnd",
        "DeltaRobot",
        "Foundation",
        "Gear",
        "Joint",
        "Link",
        "LowerLink",
        "Material",
        "MechanismJoint",
        "MechanismLink",
        "MechanismRobot",
        "Motor",
        "Mount",
        "Platform",
        "Ply",
        "Robot",
        "SerialRobot",
        "UpperLink",
    ),
    "sections": ("Box", "Circle", "General", "Profile", "Rectangle", "Tube"),
    "structure": ("as_mechanism",),
    "studies.check": ("Check", "check"),
    "studies.closed_form": ("closed_form",),
    "studies.design.optimise": ("Optimum", "optimise"),
    "studies.design.sensitivities": ("Sensitivities", "sensitivities"),
    "studies.design.static_sensitivities": ("StaticSensitivities", "static_sensitivities"),
    "studies.design.stopband": ("Band", "stopband"),
    "studies.design.sweep": ("SweepWarning", "sweep"),
    "studies.design.tolerances": ("Tolerances", "tolerances"),
    "studies.design.track": ("Tracks", "Veering", "track"),
    "studies.drive.calm": ("calm_move",),
    "studies.drive.compare": ("Comparison", "compare"),
    "studies.drive.compensate": ("Compensation", "compensate"),
    "studies.drive.invert": ("Inversion", "invert"),
    "studies.drive.limited": ("JerkLimited", "PathTiming", "effort_limited", "jerk_limited"),
    "studies.drive.plan": ("Plan", "plan"),
    "studies.drive.plan_trial": ("PlanTrial",),
    "studies.drive.settle": ("Corrected", "CorrectionWarning", "settled"),
    "studies.drive.shape": ("ShapedMove", "scheduled", "shape"),
    "studies.kinematics.forward": ("Pose", "forward"),
    "studies.kinematics.inverse": ("JointSolutions", "inverse"),
    "studies.mobility": ("Mobility", "mobility"),
    "studies.motion.follow": ("SmallRangeWarning", "StepWarning", "follow"),
    "studies.motion.linearize": ("StateSpace", "linearize"),
    "studies.motion.margins": ("Margins", "margins"),
    "studies.motion.path_response": ("PathResponse",),
    "studies.motion.response": ("Response",),
    "studies.motion.simulate": ("SimulationWarning", "simulate"),
    "studies.motion.stability": ("Floquet", "Stability", "floquet", "free_growth", "stability"),
    "studies.regressor": ("Regressor", "regressor"),
    "studies.statics": ("Statics", "statics"),
    "studies.storage": ("load_linear", "load_response"),
    "studies.vibration.assumed": ("assumed_modes",),
    "studies.vibration.characteristic": ("Characteristic", "characteristic"),
    "studies.vibration.modes": ("Modes", "modes"),
    "studies.vibration.response": ("FrequencyResponse", "response"),
    "studies.vibration.theories": ("Theories", "theories"),
    "studies.vibration.workspace": ("JointMap", "WorkspaceMap", "workspace"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("supple")
    if name in _MODULE_OF:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
        value = getattr(module, name)
        make_help_readable(value)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'supple' has no attribute '{name}'")


def __dir__() -> list[str]:
    return list(__all__)
