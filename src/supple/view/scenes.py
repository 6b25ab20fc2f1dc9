"""Scenes of motions and maps, and the one door to the Scene of any answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from ..robot import Robot
from ..studies.around import around, usual_pose
from ..studies.fields import Fields, fields, path_fields
from ..studies.modes import Modes, modes
from ..studies.motion import Response
from ..studies.statics import Statics
from .scene import (
    Cloud,
    Poses,
    Scene,
    framed,
    largest,
    modes_scene,
    robot_scene,
    statics_scene,
    track_of,
    well_seen,
)

if TYPE_CHECKING:
    from ..studies.follow import PathResponse
    from ..studies.workspace import WorkspaceMap

__all__ = ["about", "path_scene", "response_scene", "scene_of", "time_scene", "workspace_scene"]

Array = NDArray[np.float64]
STATIONS = 9  # a link in time; pages draw cubics between them


def response_scene(run: Response, samples: int = 400, scale: float | None = None) -> Scene:
    """Return a Response as a motion in time, drawn at about `samples` instants.

    Bending too small to be seen is drawn larger by a round factor, about the straight links at the
    same joint coordinates; a `scale` of 1 draws it as it is.
    """
    drawn, robot = fields(run, samples, STATIONS), run.model.robot
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


def about(drawn: Fields, rest: Fields) -> Fields:
    """Return the same sections as motions about the poses of `rest`, which may be drawn larger."""
    x = np.linspace(0, 1, drawn.motion.shape[2])[:, None] * np.array([1.0, 0.0, 0.0])
    bent, straight = (f.L[:, :, None, None] * x for f in (drawn, rest))
    there = drawn.p[:, :, None] + _turned(drawn.R, bent + drawn.motion[..., :3])
    moved = _turned(rest.R.swapaxes(-1, -2), there - rest.p[:, :, None]) - straight
    R = rest.R.swapaxes(-1, -2) @ drawn.R  # (T, n, 3, 3), small
    skew = (R - R.swapaxes(-1, -2)) / 2
    phi = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
    turned = phi[:, :, None] + _turned(R, drawn.motion[..., 3:])
    return replace(rest, motion=np.concatenate([moved, turned], axis=-1), energy=drawn.energy)


def _turned(R: Array, v: Array) -> Array:
    """R (T, n, 3, 3) times v (T, n, P, 3)."""
    turned: Array = np.einsum("tnij,tnpj->tnpi", R, v)
    return turned


def time_scene(robot: Robot, drawn: Fields, subtitle: str = "", **more: Any) -> Scene:
    """Return links in time as a Scene, by default true to scale: roots lie on the deformed robot.

    With `scale` the roots are those of the rigid motion, and motion is what is added to all of it.
    """
    poses, motion = Poses(drawn.p, drawn.R, drawn.L), drawn.motion[:, None]
    track = track_of(
        poses, motion, drawn.energy[:, None], kind="time", name="time", unit="s", at=drawn.t,
        start=float(drawn.t[0]), largest=largest(motion, drawn.energy),
    )  # fmt: skip
    looks = {
        "true_scale": "scale" not in more,
        "moved": "displacement from the link's root",
        **more,
    }
    return framed(
        robot, poses, drawn.names, title=robot.name, subtitle=subtitle, tracks=(track,), shapes=(),
        **looks,
    )  # fmt: skip


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


def workspace_scene(found: WorkspaceMap, nearby: int = 13) -> Scene:
    """Return a Delta where its lowest frequency is lowest, in the slice of the map it lies in."""
    place, _ = found.lowest
    here = modes(found.robot, position=place, count=max(4, found.omega.shape[-1]))
    scene = modes_scene(here, around(here, count=nearby) if nearby > 1 else ())
    k = int(np.argmin(np.abs(found.z - place[2])))
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    hertz = found.omega[:, :, k, 0] / (2 * np.pi)
    known = np.isfinite(hertz)
    places = np.stack([x, y, np.full_like(x, found.z[k])], axis=-1)[known]
    cloud = Cloud(places, hertz[known], f"lowest frequency at z = {found.z[k]:.4g} m", "Hz")
    return replace(scene, cloud=cloud)


def _pose(robot: Robot) -> Scene:
    return robot_scene(robot, **usual_pose(robot))


def scene_of(answer: Any) -> Scene:
    """Return any answer as a Scene: a Robot, Modes, Statics, a motion or a map."""
    if isinstance(answer, Scene):
        return answer
    for kind, make in _makers().items():
        if isinstance(answer, kind):
            return make(answer)
    known = ", ".join(kind.__name__ for kind in _makers())
    raise SuppleError(f"{type(answer).__name__} cannot be drawn: give one of {known}")


def _makers() -> Mapping[type, Callable[[Any], Scene]]:
    from ..studies.follow import PathResponse
    from ..studies.workspace import WorkspaceMap

    return {
        Robot: _pose,
        Modes: modes_scene,
        Statics: statics_scene,
        Response: response_scene,
        PathResponse: path_scene,
        WorkspaceMap: workspace_scene,
    }
