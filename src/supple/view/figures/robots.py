"""Figures of robots as they stand, and of the shapes of their links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...structure import structure_of
from ...studies.configuration import where
from ...studies.vibration.neighbourhood import usual_pose
from ..scene.drawing import MeshPart, draw_rods, draw_visuals
from ..scene.scene import pose_text, poses_of
from ..style import COLOURS, QUIET, finish, house_style, wrap_text
from .plots import limits_of, set_planar_axes, set_spatial_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_robot"]

Array = NDArray[np.float64]
MAX_POSES = 12  # panels in one figure
LIGHT = np.array([-0.3, -0.5, 0.81])  # where the light comes from, base axes


def plot_robot(
    robot: Robot,
    theta: ArrayLike | None = None,
    path: str | Path | None = None,
    position: ArrayLike | None = None,
) -> Figure:
    """Draw a robot, undeformed, at one pose or one panel for each of several poses.

    Links are lines along their beams, joints rings, and bodies at the ends dots; rigid links
    between joints are grey rods, or what they look like where a robot has visuals. As in
    [DiCastri2011], Figures 1 and 4, [DeLuca1991], Fig. 1, [Theodore1997], Fig. 3, and [Kuo2016],
    Figs. 1 and 2.
    """
    import matplotlib.pyplot as plt

    if theta is None and position is None:
        usual = usual_pose(robot)
        theta = usual.get("theta")
        position = usual.get("position")
    configuration = where(robot, theta, position)
    if (configuration.reason != "").any():
        worst = int(np.flatnonzero(configuration.reason != "")[0])
        raise SuppleError(f"{robot.name}: {configuration.reason[worst]}")
    count = len(configuration.reason)
    if count > MAX_POSES:
        raise SuppleError(f"{count} poses are given: draw at most {MAX_POSES} in one figure")

    # Points of every link at every pose, (poses, links, 2, 3)
    structure = structure_of(robot, configuration.at)
    names = tuple(segment.name for segment in structure.segments)
    poses = poses_of(structure)
    ends = poses.p + poses.L[..., None] * poses.R[..., :, 0]
    lines = np.stack([poses.p, ends], axis=2)
    planar = architecture_of(robot).planar
    meshes = () if planar else draw_visuals(robot, names)[0]
    dressed = {part.link for part in meshes}
    parents = architecture_of(robot).hangs(names).parents
    rods = [
        rod
        for rod in draw_rods(robot, poses.p, ends, poses.R, parents, poses.extent)
        if rod.link not in dressed
    ]
    points = [lines.reshape(-1, 3)]
    for number in range(count if meshes else 0):
        corners, _ = _triangles(meshes, ends[number], poses.R[number])
        points.append(corners.reshape(-1, 3))
    box = limits_of(np.concatenate(points))

    columns = min(count, 4 if count > 4 or count == 4 else 3)
    rows = -(-count // columns)
    width, height, _ = np.ptp(box, axis=1)
    panel_height = 3.4 * min(max(height / width, 0.35), 1.6) + 0.8 if planar else 4.0
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(max(3.6 * columns, 5.0), panel_height * rows + 0.4),
            squeeze=False,
            subplot_kw={} if planar else {"projection": "3d"},
            layout="constrained",
        )
        for number, ax in enumerate(axes.flat):
            if number >= count:
                ax.remove()
                continue
            if meshes:
                _draw_meshes(ax, meshes, ends[number], poses.R[number])
            for rod in rods:
                start = ends[number, rod.link] if rod.link >= 0 else np.zeros(3)
                R = poses.R[number, rod.link] if rod.link >= 0 else np.eye(3)
                line = np.array([start, start + R @ np.asarray(rod.far_offset)])
                line = line[:, : 2 if planar else 3]
                ax.plot(*line.T, color=QUIET, linewidth=3.0, solid_capstyle="round")
            _draw_links(ax, robot, names, lines[number], planar)
            if planar:
                set_planar_axes(
                    ax, box, first=number % columns == 0, last=number + columns >= count
                )
            else:
                set_spatial_axes(ax, box, robot)
            here = None if configuration.position is None else configuration.position[number]
            ax.set_title(
                wrap_text(pose_text(robot, configuration.theta[number], here), 3.2, 9), fontsize=9
            )
        figure.suptitle(robot.name, fontsize=10)
    return finish(figure, path)


def _draw_meshes(ax: Any, meshes: tuple[MeshPart, ...], places: Array, R: Array) -> None:
    """What links look like, at one pose: ends of links (n, 3) and their axes (n, 3, 3)."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

    # One collection of all triangles: matplotlib sorts within one, not between several
    corners, colours = _triangles(meshes, places, R)
    skin = Poly3DCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.2)
    ax.add_collection3d(skin)


def _triangles(meshes: tuple[MeshPart, ...], places: Array, R: Array) -> tuple[Array, Array]:
    """Corners (F, 3, 3) of all meshes in base axes, and their shaded colours (F, 3)."""
    corners = []
    colours = []
    for part in meshes:
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


def _draw_links(ax: Any, robot: Robot, names: tuple[str, ...], lines: Any, planar: bool) -> None:
    """Links (n, 2, 3) of one pose, and the plates of a Delta."""
    axes = slice(0, 2) if planar else slice(0, 3)
    base = np.zeros((1, 3))
    ax.plot(*base[:, axes].T, marker="s", color=QUIET, markersize=7, zorder=1)
    for name, line in zip(names, lines, strict=True):
        if not np.ptp(line, axis=0).any():  # a body without length
            continue
        points = line[:, axes].T
        ax.plot(*points, color=COLOURS[0], linewidth=2.4, solid_capstyle="round")
        ax.plot(*points[:, :1], "o", color="white", markeredgecolor=COLOURS[0], markersize=6)
        ax.plot(*points[:, 1:], "o", color=COLOURS[1], markersize=4)
        middle = line.mean(axis=0)[axes]
        ax.text(*middle, f" {name}", fontsize=7, color="#3c4043")
    if planar:
        return
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    plates = architecture_of(robot).hangs(names).plates
    for (links, end), colour in zip(plates, (QUIET, COLOURS[1]), strict=False):
        corners = lines[links, end]
        plate = Poly3DCollection([corners], facecolor=colour, edgecolor=colour, alpha=0.35)
        ax.add_collection3d(plate)
