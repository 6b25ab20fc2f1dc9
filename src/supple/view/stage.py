"""A Scene on a viser server: links as strips that bend, solids that ride on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .drawing import Outline, Solid
from .posing import Bent, bend, exaggeration, strips
from .scene import Scene, quaternions

if TYPE_CHECKING:
    import viser

__all__ = ["COLOURINGS", "Stage"]

Array = NDArray[np.float64]
COLOURINGS = ("displacement", "strain energy", "plain")
PLAIN, RIGID, GHOST, TRACE = (91, 141, 184), (135, 145, 156), (151, 162, 173), (213, 94, 0)
ROLES = {
    "mass": (164, 85, 58),
    "joint": (125, 135, 146),
    "plate": (185, 137, 74),
    "base": (154, 165, 176),
}
# Viridis without its darkest fifth: rises evenly in lightness, safe for colour-blind readers
MAP = np.array(
    [[65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132], [68, 191, 112],
     [122, 209, 81], [189, 223, 38], [253, 231, 37]], float
)  # fmt: skip


def mapped(values: Array) -> NDArray[np.uint8]:
    """Return colours (N, 3) of values from 0 to 1."""
    x = np.clip(values, 0, 1) * (len(MAP) - 1)
    return np.stack([np.interp(x, range(len(MAP)), channel) for channel in MAP.T], -1).astype(
        np.uint8
    )


class Stage:
    """Draws one Scene at a time; a Scene of the same robot only moves what is there."""

    def __init__(self, server: viser.ViserServer) -> None:
        self.server = server
        self.scene: Scene | None = None
        self.names = False
        self._links: list[Any] = []
        self._solids: list[Any] = []
        self._labels: list[Any] = []
        self._last = Bent(np.zeros((0, 0, 3)), np.zeros((0, 0, 3, 3)))

    def show(self, scene: Scene) -> None:
        """Take a Scene; the next `draw` draws it."""
        rebuilt = self.scene is None or _makeup(self.scene) != _makeup(scene)
        new = self.scene is None
        self.scene = scene
        if rebuilt:
            self._build(scene)
        if new:
            self._frame(scene)
        if not scene.true_scale:
            self._ghost(scene)

    def _frame(self, scene: Scene) -> None:
        """Camera, up and ground, once."""
        server, extent = self.server, scene.extent
        up = np.asarray(scene.up)
        server.scene.set_up_direction(up)
        away = np.array([0.35, -0.25, 1.6]) if scene.planar else _aside(up)
        camera, centre = server.initial_camera, np.asarray(scene.centre)
        camera.position = tuple(centre + extent * away)
        camera.look_at, camera.up = tuple(centre), tuple(up)
        level = -0.06 * extent if scene.planar else _floor(scene)
        place = np.array([0, 0, level]) if scene.planar else up * level
        cell = 10.0 ** np.floor(np.log10(extent / 2))
        server.scene.add_grid(
            "/ground", plane="xy", infinite_grid=True, cell_size=cell, section_size=5 * cell,
            fade_distance=8 * extent, position=tuple(place), cell_color=(222, 227, 231),
            section_color=(196, 204, 211),
        )  # fmt: skip

    def _build(self, scene: Scene) -> None:
        for handle in (*self._links, *self._solids, *self._labels):
            handle.remove()
        pieces = scene.tracks[0].motion.shape[3] - 1
        drawn = [(i, link) for i, link in enumerate(scene.links) if len(link.corners)]
        self._links = [self._link(i, link, pieces) for i, link in drawn]
        self._drawn = [i for i, _ in drawn]
        self._solids = [self._solid(k, solid) for k, solid in enumerate(scene.solids)]
        self._labels = [
            self.server.scene.add_label(f"/name/{i}", link.name, visible=self.names)
            for i, link in enumerate(scene.links)
        ]

    def _link(self, i: int, link: Outline, pieces: int) -> Any:
        vertices, faces = _prism(link.corners)
        zeros = np.zeros((pieces, 3))
        return self.server.scene.add_batched_meshes_simple(
            f"/link/{i}", vertices, faces, np.tile([1.0, 0, 0, 0], (pieces, 1)), zeros,
            batched_scales=np.ones((pieces, 3)), batched_colors=np.tile(PLAIN, (pieces, 1)),
            lod="off", flat_shading=not link.round,
        )  # fmt: skip

    def _solid(self, k: int, solid: Solid) -> Any:
        colour = ROLES[solid.role]
        if solid.kind == "ball":
            return self.server.scene.add_icosphere(f"/solid/{k}", solid.radius, color=colour)
        vertices, faces = _cylinder(np.asarray(solid.axis), solid.radius, solid.height)
        return self.server.scene.add_mesh_simple(
            f"/solid/{k}", vertices, faces, color=colour, flat_shading=True
        )

    def _ghost(self, scene: Scene) -> None:
        """The undeformed centre lines."""
        rest = self.bent(np.zeros_like(scene.tracks[0].motion[0, 0]), 0.0).centre
        ends = np.stack([rest[:, 0], rest[:, -1]], axis=1)
        self.server.scene.add_line_segments(
            "/ghost", ends, GHOST, thickness=1.5, thickness_units="screen"
        )

    def bent(self, motion: Array, scale: float, v: int = 0) -> Bent:
        """Return the sections of the present Scene at pose v, deformed."""
        assert self.scene is not None
        return bend(self.scene.tracks[0], v, motion, scale)

    def draw(self, swing: float, colouring: str = "plain", v: int = 0, shape: int = 0) -> None:
        """Draw pose v deformed by `swing` times its usual amplitude."""
        assert self.scene is not None
        track = self.scene.tracks[0]
        motion = track.motion[v, shape]
        bent = self.bent(motion, swing * exaggeration(self.scene, motion), v)
        colour = self._colours(motion, track.energy[v, shape], colouring)
        with self.server.atomic():
            for handle, i in zip(self._links, self._drawn, strict=True):
                self._move_link(handle, i, bent, colour)
            for handle, solid in zip(self._solids, self.scene.solids, strict=True):
                _move_solid(handle, solid, bent)
            if self.names:
                for handle, centre in zip(self._labels, bent.centre, strict=True):
                    handle.position = centre[len(centre) // 2]
        self._last = bent

    @property
    def tip(self) -> Array:
        """Where the traced end was last drawn, (3,)."""
        assert self.scene is not None
        place: Array = self._last.centre[self.scene.tip, -1]
        return place

    def name_links(self, on: bool) -> None:
        """Show or hide the names of the links."""
        self.names = on
        for handle in self._labels:
            handle.visible = on

    def trace(self, path: Array) -> None:
        """Draw the path of the tip, (N, 3)."""
        if len(path) > 1:
            pairs = np.stack([path[:-1], path[1:]], axis=1)
            self.server.scene.add_line_segments(
                "/trace", pairs, TRACE, thickness=2.0, thickness_units="screen"
            )

    def _colours(self, motion: Array, energy: Array, colouring: str) -> Callable[[int], Any]:
        assert self.scene is not None
        links = self.scene.links
        size = np.linalg.norm(motion[..., :3], axis=-1)
        largest = size.max() or 1.0
        values = energy if colouring == "strain energy" else size / largest
        middle = (values[:, 1:] + values[:, :-1]) / 2

        def colour(i: int) -> Any:
            if colouring == "plain" or links[i].rigid:
                return np.tile(RIGID if links[i].rigid else PLAIN, (middle.shape[1], 1))
            return mapped(middle[i])

        return colour

    @staticmethod
    def _move_link(handle: Any, i: int, bent: Bent, colour: Callable[[int], Any]) -> None:
        centre, q, length = strips(bent, i)
        scales = np.ones((len(length), 3))
        scales[:, 0] = 1.02 * length
        handle.batched_positions = centre.astype(np.float32)
        handle.batched_wxyzs = q.astype(np.float32)
        handle.batched_scales = scales.astype(np.float32)
        handle.batched_colors = np.asarray(colour(i), np.uint8)


def _move_solid(handle: Any, solid: Solid, bent: Bent) -> None:
    if solid.link < 0:
        handle.position = np.asarray(solid.offset)
        return
    k = -1 if solid.end else 0
    R = bent.R[solid.link, k]
    handle.position = bent.centre[solid.link, k] + R @ np.asarray(solid.offset)
    handle.wxyz = quaternions(R)


def _makeup(scene: Scene) -> tuple[Any, ...]:
    """What must be rebuilt when it changes."""
    outlines = tuple((link.name, link.corners.tobytes()) for link in scene.links)
    return outlines, scene.solids, scene.tracks[0].motion.shape[3]


def _aside(up: Array) -> Array:
    side = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
    other = np.cross(up, side)
    return np.asarray(0.6 * up - 1.1 * other + 0.75 * side)


def _floor(scene: Scene) -> float:
    track = scene.tracks[0]
    x = np.array([[1.0, 0.0, 0.0]])
    bent = bend(track, 0, np.zeros((*track.motion.shape[2:4], 6)), 0.0)
    points = np.concatenate([bent.centre.reshape(-1, 3), 0 * x])
    return float((points @ np.asarray(scene.up)).min() - 0.03 * scene.extent)


def _prism(corners: Array) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """A prism of unit length along x over an outline (K, 2)."""
    K = len(corners)
    ends = [np.column_stack([np.full(K, x), corners]) for x in (-0.5, 0.5)]
    k = np.arange(K)
    n = (k + 1) % K
    sides = np.concatenate([np.stack([k, n, n + K], 1), np.stack([k, n + K, k + K], 1)])
    fan = np.stack([np.zeros(K - 2, int), k[2:], k[1:-1]], 1)
    faces = np.concatenate([sides, fan, fan[:, ::-1] + K])
    return np.concatenate(ends).astype(np.float32), faces.astype(np.uint32)


def _cylinder(
    axis: Array, radius: float, height: float
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """A cylinder about its centre along an axis."""
    a = axis / np.linalg.norm(axis)
    y = np.cross(a, [1.0, 0, 0] if abs(a[0]) < 0.9 else [0, 1.0, 0])
    y /= np.linalg.norm(y)
    angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    vertices, faces = _prism(circle)
    vertices = vertices * np.array([height, 1, 1])
    turned = vertices @ np.stack([a, y, np.cross(a, y)])
    return turned.astype(np.float32), faces
