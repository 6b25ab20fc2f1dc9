"""A robot at one pose: links, rods between joints, and what its links look like."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...robot import Robot
from ...studies.vibration.neighbourhood import usual_pose
from ..scene.posing import bend
from ..scene.scene import Scene, robot_scene, told_pose
from ..style import COLOURS, QUIET, finish, styled, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_robot"]

Array = NDArray[np.float64]
LIGHT = np.array([-0.3, -0.5, 0.81])  # where the light comes from, base axes


def plot_robot(
    robot: Robot, path: str | Path | None = None, pose: Mapping[str, Any] | None = None
) -> Figure:
    """Draw a robot at a pose (theta or position, else its usual one), as large as it is."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    at: Mapping[str, Any] = usual_pose(robot) if pose is None else pose
    scene = robot_scene(robot, **at)
    track = scene.tracks[0]
    placed = bend(track, 0, track.motion[0, 0], 0.0)
    with styled():
        figure = plt.figure(figsize=(5.8, 5.6), layout="constrained")
        ax: Any = figure.add_subplot(projection="3d", computed_zorder=False)
        points = [np.zeros((1, 3)), placed.centre.reshape(-1, 3)]

        # One collection of all triangles: matplotlib sorts within one, not between several
        corners, colours = _triangles(scene, placed.centre[:, -1], placed.R[:, -1])
        if len(corners):
            skin = Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.2)
            ax.add_collection3d(skin)
            points.append(corners.reshape(-1, 3))
        for rod in (solid for solid in scene.solids if solid.kind == "rod"):
            ends = []
            for owner, end, offset in (
                (rod.link, rod.end, rod.offset),
                (rod.far, rod.far_end, rod.far_offset),
            ):
                here = np.asarray(offset)
                if owner >= 0:
                    here = placed.centre[owner, -end] + placed.R[owner, -end] @ here
                ends.append(here)
            ax.plot(*np.array(ends).T, color=QUIET, linewidth=3.0, solid_capstyle="round")
        for i, link in enumerate(scene.links):
            if len(link.corners) and track.L[0, i] > 0:
                colour = QUIET if link.rigid else COLOURS[0]
                ax.plot(*placed.centre[i].T, color=colour, linewidth=3.0)
        for solid in scene.solids:
            if solid.role == "joint" and solid.kind != "rod" and solid.link >= 0:
                here = placed.centre[solid.link, -solid.end]
                ax.plot(*here[:, None], "o", color="white", markeredgecolor=QUIET, markersize=5)

        # Equal scales on all axes, z as the robot stands
        every = np.concatenate(points)
        low = every.min(axis=0)
        high = every.max(axis=0)
        room = 0.04 * float((high - low).max())
        for name, a, b in zip("xyz", low - room, high + room, strict=True):
            getattr(ax, f"set_{name}lim")(a, b)
            getattr(ax, f"set_{name}label")(f"{name} (m)", fontsize=8)
            getattr(ax, f"{name}axis").set_major_locator(MaxNLocator(4))
            ax.tick_params(axis=name, labelsize=7)
        if scene.up[2] < 0:
            ax.invert_zaxis()
        ax.set_box_aspect(high - low + 2 * room, zoom=0.9)
        ax.view_init(elev=20, azim=-50)
        position = at.get("position")
        joints = np.asarray(at.get("theta", ()), float)
        told = told_pose(robot, joints, None if position is None else np.asarray(position))
        ax.set_title(wrapped(f"{robot.name}, {told}", 5.4, 9))
        return finish(figure, path)


def _triangles(scene: Scene, places: Array, R: Array) -> tuple[Array, Array]:
    """Corners (F, 3, 3) of all meshes in base axes, and their shaded colours (F, 3)."""
    corners = [np.zeros((0, 3, 3))]
    colours = [np.zeros((0, 3))]
    for part in scene.meshes:
        vertices = part.vertices
        if part.link >= 0:
            vertices = places[part.link] + vertices @ R[part.link].T
        faces = vertices[part.faces]
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        shade = 0.55 + 0.45 * np.abs(normals @ LIGHT)
        corners.append(faces)
        colours.append(np.clip(shade[:, None] * np.asarray(part.colour) / 255, 0, 1))
    return np.concatenate(corners), np.concatenate(colours)
