"""Scenes of motions and maps, and the one door to the Scene of any answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...answers.registry import require_duty
from ...architectures.kinds import architecture_of
from ...robot import Robot
from ...structure import structure_of
from ...studies.configuration import where
from ...studies.motion.fields import Fields, about, fields, path_fields
from ...studies.motion.response import Response
from ...studies.vibration.modes import modes
from ...studies.vibration.neighbourhood import around, coordinates_of, usual_pose
from .scene import (
    Cloud,
    Poses,
    Scene,
    frame_scene,
    largest,
    modes_scene,
    poses_of,
    robot_scene,
    track_of,
    well_seen,
)

if TYPE_CHECKING:
    from ...studies.motion.path_response import PathResponse
    from ...studies.vibration.workspace import FrequencyMap

__all__ = [
    "is_elastic",
    "path_scene",
    "pose_scene",
    "poses_scene",
    "response_scene",
    "running_pairs",
    "scene_of",
    "slice_through",
    "time_scene",
    "workspace_scene",
]

Array = NDArray[np.float64]
STATIONS = 9  # a link in time; pages draw cubics between them


def response_scene(run: Response, samples: int = 400, scale: float | None = None) -> Scene:
    """Return a Response as a motion in time, drawn at about `samples` instants.

    Bending too small to be seen is drawn larger by a round factor, about the straight links at the
    same joint coordinates; a `scale` of 1 draws it as it is.
    """
    drawn = fields(run, samples, STATIONS)
    robot = run.model.robot
    ended = f"; {run.message}" if run.message else ""
    words = f"{run.t[-1] - run.t[0]:.4g} s by {run.method}"
    straight = run.q * (np.arange(run.q.shape[1]) < run.model.joints)
    rest = fields(replace(run, q=straight), samples, STATIONS)
    moved = about(drawn, rest)
    size = largest(moved.motion, moved.energy)[0]
    scale = well_seen(size, Poses(rest.p, rest.R, rest.L).extent) if scale is None else scale
    if scale == 1:
        return time_scene(robot, drawn, f"{words}, drawn true to scale{ended}")
    words = f"{words}; bending moves sections by up to {1e3 * size:.3g} mm{ended}"
    return time_scene(robot, moved, words, scale=scale, moved="displacement by bending")


def time_scene(robot: Robot, drawn: Fields, subtitle: str = "", **more: Any) -> Scene:
    """Return links in time as a Scene, by default true to scale: roots lie on the deformed robot.

    With `scale` the roots are those of the rigid motion, and motion is what is added to all of it.
    """
    poses = Poses(drawn.p, drawn.R, drawn.L)
    motion = drawn.motion[:, None]
    track = track_of(
        poses,
        motion,
        drawn.energy[:, None],
        kind="time",
        name="time",
        unit="s",
        at=drawn.t,
        start=float(drawn.t[0]),
        largest=largest(motion, drawn.energy),
    )
    looks = {
        "true_scale": "scale" not in more,
        "moved": "displacement from the link's root",
        **more,
    }
    return frame_scene(
        robot,
        poses,
        drawn.names,
        title=robot.name,
        subtitle=subtitle,
        tracks=(track,),
        shapes=(),
        **looks,
    )


def path_scene(run: PathResponse, samples: int = 400) -> Scene:
    """Return a motion along a path: the rigid motion, with the elastic one drawn larger."""
    drawn = path_fields(run, samples, STATIONS)
    size = largest(drawn.motion, drawn.energy)[0]
    scale = well_seen(size, Poses(drawn.p, drawn.R, drawn.L).extent)
    words = f"{run.t[-1]:.4g} s along its path; sections leave the rigid motion by up to "
    words += f"{1e3 * size:.3g} mm"
    if not run.small:
        words += "; bends more than a linear model can be trusted with"
    moved = "displacement from the rigid motion"
    return time_scene(run.robot, drawn, words, scale=scale, moved=moved)


def workspace_scene(found: FrequencyMap, nearby: int = 13) -> Scene:
    """Return a robot where its lowest frequency is lowest, in the slice of the map it lies in."""
    word = found.asked_by
    where: dict[str, Any] = {word: found.lowest[0]}
    here = modes(found.robot, count=max(4, found.omega.shape[-1]), **where)
    scene = modes_scene(here, around(here, count=nearby) if nearby > 1 else ())
    pairs = running_pairs(found)
    part = slice_through(found, pairs[0 if word == "position" else -1] if pairs else ())
    hertz = found.omega[part][..., 0].ravel() / (2 * np.pi)
    known = np.isfinite(hertz)
    places = found.points()[part].reshape(len(hertz), -1)[known]
    if word == "theta":  # where the tip is
        structure = structure_of(found.robot, places)
        places = poses_of(structure).ends[:, structure.tip]
    cloud = Cloud(places, hertz[known], "lowest frequency, place by place", "Hz")
    return replace(scene, cloud=cloud)


def running_pairs(found: FrequencyMap) -> list[tuple[int, ...]]:
    """Return the pairs of axes that hold more than one value, or the single one, or none."""
    running = [k for k, values in enumerate(found.axes.values()) if len(values) > 1]
    pairs: list[tuple[int, ...]] = list(combinations(running, 2))
    return pairs or [tuple(running)] * bool(running)


def slice_through(found: FrequencyMap, running: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the index of the slice along some axes, the others where the frequency is lowest."""
    values = zip(found.axes.values(), found.lowest[0], strict=True)
    at = [int(np.argmin(np.abs(axis - own))) for axis, own in values]
    return tuple(slice(None) if k in running else i for k, i in enumerate(at))


def pose_scene(robot: Robot) -> Scene:
    """Return a robot at rest in its usual pose."""
    return robot_scene(robot, **usual_pose(robot))


def is_elastic(robot: Robot) -> bool:
    """Return whether anything of a robot bends or is sprung, so that it has modes."""
    pose = usual_pose(robot)
    configuration = where(robot, pose.get("theta"), pose.get("position"))
    numbers = structure_of(robot, configuration.at).known_numbers
    return bool(numbers.bends or numbers.sprung)


def poses_scene(robot: Robot, pose: Mapping[str, Any], count: int = 21) -> Scene:
    """Return a robot at a pose, and on its way along each coordinate through it; nothing bends."""
    scene = robot_scene(robot, **pose)
    word = architecture_of(robot).asked_by
    own = np.asarray(pose[word], float)
    zero_fields = np.zeros((1, 1, len(scene.links), 2, 6))
    tracks = [scene.tracks[0]]
    for index, coordinate in enumerate(coordinates_of(robot)):
        values = np.linspace(
            min(coordinate.low, own[index]), max(coordinate.high, own[index]), count
        )
        along = np.repeat(own[None], count, axis=0)
        along[:, index] = values
        given: dict[str, Any] = {"theta": None, "position": None, word: along}
        found = architecture_of(robot).resolve(**given)
        reached = found.reason == ""
        if reached.sum() < 2:
            continue
        turn = np.degrees(1.0) if coordinate.unit == "rad" else 1.0
        tracks.append(
            track_of(
                poses_of(structure_of(robot, found.at[reached])),
                np.repeat(zero_fields, reached.sum(), axis=0),
                np.repeat(zero_fields[..., 0], reached.sum(), axis=0),
                kind="joint",
                name=coordinate.name,
                unit="°" if coordinate.unit == "rad" else "m",
                at=turn * values[reached],
                start=float(turn * own[index]),
            )
        )
    return replace(scene, tracks=tuple(tracks))


def scene_of(answer: Any) -> Scene:
    """Return any answer as a Scene: a Robot, Modes, Statics, a motion or a map."""
    if isinstance(answer, Scene):
        return answer
    scene: Scene = require_duty(answer, "scene", "drawn")(answer)
    return scene
