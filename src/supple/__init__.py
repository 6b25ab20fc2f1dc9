"""supple: robots whose links bend. How do they vibrate, sag and move?

Public names are found when first used: `import supple` alone loads nothing, and the first name of a
group brings its whole group, so that no later call pays for an import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .beams.basis import AssumedModes, Basis, FiniteElements
    from .beams.shapes import EndLoad
    from .budget import SizeWarning
    from .control.calm import CalmMove
    from .control.controllers import (
        LQR,
        ComputedTorque,
        Controller,
        Decoupling,
        GravityPD,
        JointPD,
        lqr,
    )
    from .control.dampers import StrainFeedback, h_infinity, resonant_damping, strain_feedback
    from .control.filters import CalmDuration, calm_durations, filtered
    from .control.linear import LinearController
    from .control.lines import Line
    from .control.observers import Observer, lqg, observer
    from .control.platform import PlatformPath
    from .control.sampled import Sampled
    from .control.shapers import Shaper, shaper
    from .control.shaping import shaped
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
    from .equations.accuracy import Accuracy, ModelWarning
    from .equations.build import build
    from .equations.closed.rigid_delta import RigidDelta
    from .equations.damping import ModalDamping, StiffnessRoot
    from .equations.model import Model
    from .equations.readings.reading import Reading
    from .errors import PoseWarning, RobotError, RobotWarning, SuppleError
    from .export.c_code import c_code
    from .files import dump, load, load_profile, loads, schema
    from .integration.inputs import BangBang, Chirp, Constant, Step, Table
    from .library import material
    from .outputs.kinds import (
        Acceleration,
        Accelerometer,
        Encoder,
        Gyroscope,
        Moment,
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
    from .studies.motion.follow import SmallRangeWarning, StepWarning, follow
    from .studies.motion.linearize import StateSpace, linearize
    from .studies.motion.path_response import PathResponse
    from .studies.motion.response import Response
    from .studies.motion.simulate import SimulationWarning, simulate
    from .studies.motion.stability import Floquet, Stability, floquet, free_growth, stability
    from .studies.regressor import Regressor, regressor
    from .studies.statics import Statics, statics
    from .studies.storage import load_response
    from .studies.vibration.assumed import assumed_modes
    from .studies.vibration.modes import Modes, modes
    from .studies.vibration.response import FrequencyResponse, response
    from .studies.vibration.workspace import JointMap, WorkspaceMap, workspace

    __version__: str

__all__ = [
    "LQR",
    "Acceleration",
    "Accelerometer",
    "Accuracy",
    "AssumedModes",
    "Band",
    "BangBang",
    "Basis",
    "Bearing",
    "Body",
    "Box",
    "CalmDuration",
    "CalmMove",
    "Check",
    "Chirp",
    "Circle",
    "CirclePath",
    "Closure",
    "ClosureEnd",
    "Comparison",
    "Compensation",
    "ComputedTorque",
    "Constant",
    "Controller",
    "Corrected",
    "CorrectionWarning",
    "Decoupling",
    "DeltaRobot",
    "Encoder",
    "EndLoad",
    "FiniteElements",
    "Floquet",
    "Foundation",
    "FrequencyResponse",
    "Gear",
    "General",
    "GravityPD",
    "Gyroscope",
    "Hold",
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
    "Material",
    "MechanismJoint",
    "MechanismLink",
    "MechanismRobot",
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
    "Plan",
    "PlanTrial",
    "Platform",
    "PlatformPath",
    "Ply",
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
    "Response",
    "RigidDelta",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Sampled",
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
    "Tip",
    "Tolerances",
    "Tracks",
    "Trajectory",
    "Tube",
    "UpperLink",
    "Veering",
    "WayPoints",
    "WorkspaceMap",
    "__version__",
    "as_mechanism",
    "assumed_modes",
    "build",
    "c_code",
    "calm_durations",
    "calm_move",
    "check",
    "closed_form",
    "compare",
    "compensate",
    "dump",
    "effort_limited",
    "filtered",
    "floquet",
    "follow",
    "forward",
    "free_growth",
    "h_infinity",
    "inverse",
    "invert",
    "jerk_limited",
    "ked",
    "linearize",
    "load",
    "load_profile",
    "load_response",
    "loads",
    "lqg",
    "lqr",
    "material",
    "modes",
    "observer",
    "optimise",
    "plan",
    "regressor",
    "reproduce",
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
    "tolerances",
    "track",
    "workspace",
]

# Each group is loaded as one: its modules, and the public names each of them holds.
_CORE = {
    "errors": ("PoseWarning", "RobotError", "RobotWarning", "SuppleError"),
    "budget": ("SizeWarning",),
    "robot": (
        *("Bearing", "Body", "Closure", "ClosureEnd", "DeltaRobot", "Foundation", "Gear"),
        *("Joint", "Link", "LowerLink", "Material"),
        *("MechanismJoint", "MechanismLink", "MechanismRobot", "Motor", "Mount"),
        *("Platform", "Ply", "Robot", "SerialRobot", "UpperLink"),
    ),
    "sections": ("Box", "Circle", "General", "Profile", "Rectangle", "Tube"),
    "library": ("material",),
    "structure": ("as_mechanism",),
    "files": ("dump", "load", "load_profile", "loads", "schema"),
    "studies.vibration.modes": ("Modes", "modes"),
    "studies.statics": ("Statics", "statics"),
    "studies.check": ("Check", "check"),
    "studies.kinematics.forward": ("Pose", "forward"),
    "studies.kinematics.inverse": ("JointSolutions", "inverse"),
    "papers.reproduce": ("Reproduction", "reproduce"),
}
_PATHS = {
    "control.lines": ("Line",),
    "control.platform": ("PlatformPath",),
    "control.trajectories": ("CirclePath", "Hold", "InvertedU", "PointToPoint", "WayPoints"),
    "path_dynamics.kineto_elastodynamics": ("Ked", "Loads", "ked"),
    "path_dynamics.damping": ("Proportional", "Ratio", "Rayleigh"),
    "equations.closed.rigid_delta": ("RigidDelta",),
    "studies.motion.follow": ("SmallRangeWarning", "StepWarning", "follow"),
    "studies.motion.path_response": ("PathResponse",),
    "studies.vibration.workspace": ("JointMap", "WorkspaceMap", "workspace"),
}
_MOTION = {
    "outputs.kinds": (
        *("Acceleration", "Accelerometer", "Encoder", "Gyroscope", "Moment", "Reaction"),
        *("Strain", "Stress", "Tachometer", "Tip"),
    ),
    "outputs.output": ("Output",),
    "outputs.sensor": ("Sensor",),
    "beams.basis": ("AssumedModes", "Basis", "FiniteElements"),
    "beams.shapes": ("EndLoad",),
    "control.controllers": (
        *("ComputedTorque", "Controller", "Decoupling", "GravityPD", "JointPD", "LQR", "lqr"),
    ),
    "control.sampled": ("Sampled",),
    "control.dampers": (*("StrainFeedback", "h_infinity", "resonant_damping", "strain_feedback"),),
    "control.linear": ("LinearController",),
    "control.observers": ("Observer", "lqg", "observer"),
    "export.c_code": ("c_code",),
    "control.trajectories": ("ParabolicBlends", "Repeated", "Trajectory", "scaled_to"),
    "control.filters": ("CalmDuration", "calm_durations", "filtered"),
    "control.shapers": ("Shaper", "shaper"),
    "control.shaping": ("shaped",),
    "studies.design.optimise": ("Optimum", "optimise"),
    "studies.design.sensitivities": ("Sensitivities", "sensitivities"),
    "studies.design.static_sensitivities": ("StaticSensitivities", "static_sensitivities"),
    "studies.design.stopband": ("Band", "stopband"),
    "control.calm": ("CalmMove",),
    "studies.drive.calm": ("calm_move",),
    "studies.drive.settle": ("Corrected", "CorrectionWarning", "settled"),
    "studies.drive.plan_trial": ("PlanTrial",),
    "studies.drive.limited": ("JerkLimited", "PathTiming", "effort_limited", "jerk_limited"),
    "studies.drive.compare": ("Comparison", "compare"),
    "studies.drive.compensate": ("Compensation", "compensate"),
    "studies.design.sweep": ("SweepWarning", "sweep"),
    "studies.design.tolerances": ("Tolerances", "tolerances"),
    "studies.design.track": ("Tracks", "Veering", "track"),
    "studies.drive.invert": ("Inversion", "invert"),
    "studies.drive.plan": ("Plan", "plan"),
    "studies.drive.shape": ("ShapedMove", "scheduled", "shape"),
    "equations.damping": ("ModalDamping", "StiffnessRoot"),
    "equations.accuracy": ("Accuracy", "ModelWarning"),
    "equations.build": ("build",),
    "equations.model": ("Model",),
    "equations.readings.reading": ("Reading",),
    "studies.vibration.assumed": ("assumed_modes",),
    "studies.vibration.response": ("FrequencyResponse", "response"),
    "studies.closed_form": ("closed_form",),
    "integration.inputs": ("BangBang", "Chirp", "Constant", "Step", "Table"),
    "studies.motion.linearize": ("StateSpace", "linearize"),
    "studies.motion.response": ("Response",),
    "studies.regressor": ("Regressor", "regressor"),
    "studies.motion.simulate": ("SimulationWarning", "simulate"),
    "studies.motion.stability": ("Floquet", "Stability", "floquet", "free_growth", "stability"),
    "studies.storage": ("load_response",),
}
_GROUPS = (_CORE, _MOTION, _PATHS)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("supple")
    for group in _GROUPS:
        if any(name in names for names in group.values()):
            for module, names in group.items():
                found = import_module(f".{module}", __name__)
                globals().update({name: getattr(found, name) for name in names})
            return globals()[name]
    raise AttributeError(f"module 'supple' has no attribute '{name}'")


def __dir__() -> list[str]:
    return list(__all__)
