"""A Scene on a viser server: links as strips that bend, solids that ride on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..scene.posing import BentLinks, Riders, bend, bend_in_place, exaggeration, rods, strips
from ..scene.scene import Cloud, Scene, quaternions
from .ground import Ground, add_light

if TYPE_CHECKING:
    import viser

__all__ = ["COLOURINGS", "Stage", "add_dark", "dress"]

Array = NDArray[np.float64]
Mesh = tuple[NDArray[np.float32], NDArray[np.uint32]]
COLOURINGS = ("displacement", "strain energy", "plain")
PLAIN = (91, 141, 184)
RIGID = (135, 145, 156)
GHOST = (151, 162, 173)
TRACE = (213, 94, 0)
ROLES = {
    "mass": (164, 85, 58),
    "joint": (125, 135, 146),
    "plate": (185, 137, 74),
    "base": (154, 165, 176),
    "link": RIGID,
}
# Viridis without its darkest fifth: rises evenly in lightness, safe for colour-blind readers
MAP = np.array(
    [
        [65, 68, 135],
        [53, 95, 141],
        [42, 120, 142],
        [33, 145, 140],
        [34, 168, 132],
        [68, 191, 112],
        [122, 209, 81],
        [189, 223, 38],
        [253, 231, 37],
    ],
    float,
)


def dress(gui: Any, dark: bool = False) -> None:
    """Give the panel its look."""
    gui.configure_theme(
        control_width="large",
        show_logo=False,
        show_share_button=False,
        brand_color=(0, 98, 163),
        dark_mode=dark,
    )


def add_dark(gui: Any, stage: Stage) -> None:
    """Add the choice between light and dark, for all browsers."""
    box = gui.add_checkbox("dark", False)

    def changed(_: Any) -> None:
        dress(gui, bool(box.value))
        if stage.ground is not None:
            stage.ground.darken(bool(box.value))

    box.on_update(changed)


def colour_map(values: Array) -> NDArray[np.uint8]:
    """Return colours (N, 3) of values from 0 to 1."""
    x = np.clip(values, 0, 1) * (len(MAP) - 1)
    return np.stack([np.interp(x, range(len(MAP)), channel) for channel in MAP.T], -1).astype(
        np.uint8
    )


class Stage:
    """Draws one Scene at a time; a Scene of the same robot only moves what is there.

    Every link is a frame, and what bends and rides on it is drawn in that frame: a browser applies
    the poses of frames at once and the bending of copies one picture later.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self.server = server
        self.scene: Scene | None = None
        self.names = False
        self.ground: Ground | None = None
        self._frames: list[Any] = []
        self._rests: list[Any] = []
        self._labels: list[Any] = []
        self._strips: list[tuple[int, Any]] = []
        self._solids: list[tuple[list[int], Any]] = []
        self._meshes: list[tuple[int, Any]] = []
        self._riders = Riders(())
        self._rods: Any = None
        self._poses: tuple[Array, ...] = ()
        self._drawn = (0, 0, 0.0)

    def show(self, scene: Scene) -> None:
        """Take a Scene; the next `draw` draws it."""
        rebuilt = self.scene is None or _makeup(self.scene) != _makeup(scene)
        new = self.scene is None
        self.scene = scene
        if rebuilt:
            self._build(scene)
        if new:
            # Camera, up and ground, once
            server = self.server
            extent = scene.extent
            up = np.asarray(scene.up)
            server.scene.set_up_direction(up)
            side = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
            away = 0.6 * up - 1.1 * np.cross(up, side) + 0.75 * side
            if scene.planar:
                away = np.array([0.3, -0.21, 1.35])
            camera = server.initial_camera
            centre = np.asarray(scene.centre)
            camera.position = tuple(centre + extent * away)
            camera.look_at = tuple(centre)
            camera.up = tuple(up)
            self.ground = Ground(server.scene, scene)
            add_light(server.scene, extent * away + 0.8 * extent * up)

    def _build(self, scene: Scene) -> None:
        for handle in self._frames:
            handle.remove()  # with all that is drawn in it
        world = self.server.scene
        links = scene.links
        self._frames = [world.add_frame("/base", show_axes=False)]
        self._frames += [world.add_frame(f"/link/{i}", show_axes=False) for i in range(len(links))]
        pieces = scene.tracks[0].motion.shape[3] - 1
        self._strips = [
            (i, self._batch(f"/link/{i}/strips", _prism(link.corners), pieces, not link.round))
            for i, link in enumerate(links)
            if len(link.corners)
        ]
        # One batch of every kind of solid on every link, and on the ground
        self._riders = Riders(scene.solids)
        self._solids = []
        # A cylinder of unit length and radius along x
        angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
        cylinder = _prism(np.stack([np.cos(angles), np.sin(angles)], axis=1))
        meshes = {"ball": _ball(), "cylinder": cylinder}
        long = [ROLES[solid.role] for solid in scene.solids if solid.kind == "rod"]
        self._rods = self._batch("/base/rods", cylinder, len(long), True) if long else None
        if long:
            self._rods.batched_colors = _linear(np.array(long, float))
        for kind, link in sorted({(s.kind, s.link) for s in scene.solids if s.kind != "rod"}):
            some = [k for k, s in enumerate(scene.solids) if (s.kind, s.link) == (kind, link)]
            place = "/base" if link < 0 else f"/link/{link}"
            batch = self._batch(f"{place}/{kind}s", meshes[kind], len(some), kind == "cylinder")
            batch.batched_scales = self._riders.sizes[some].astype(np.float32)
            colours = [ROLES[scene.solids[k].role] for k in some]
            batch.batched_colors = _linear(np.array(colours, float))
            self._solids.append((some, batch))
        self._meshes = []
        for k, part in enumerate(scene.meshes):
            place = "/base" if part.link < 0 else f"/link/{part.link}"
            handle = world.add_mesh_simple(
                f"{place}/visual{k}",
                part.vertices.astype(np.float32),
                part.faces.astype(np.uint32),
                color=part.colour,
                flat_shading=True,
                side="double",
            )
            self._meshes.append((part.link, handle))
        self._labels = [
            world.add_label(f"/link/{i}/name", link.name, visible=self.names)
            for i, link in enumerate(links)
        ]
        line = np.zeros((1, 2, 3), np.float32)
        self._rests = [
            world.add_line_segments(
                f"/link/{i}/rest", line, GHOST, thickness=1.5, thickness_units="screen"
            )
            for i in range(0 if scene.true_scale else len(links))
        ]
        self._poses = ()

    def _batch(self, name: str, mesh: Mesh, count: int, flat: bool) -> Any:
        """Copies of one mesh."""
        return self.server.scene.add_batched_meshes_simple(
            name,
            *mesh,
            np.tile([1.0, 0, 0, 0], (count, 1)),
            np.zeros((count, 3)),
            batched_scales=np.ones((count, 3)),
            batched_colors=np.tile(PLAIN, (count, 1)),
            lod="off",
            flat_shading=flat,
        )

    def draw(self, swing: float, colouring: str = "plain", v: int = 0, shape: int = 0) -> None:
        """Draw pose v deformed by `swing` times its usual amplitude."""
        assert self.scene is not None
        track = self.scene.tracks[0]
        motion = track.motion[v, shape]
        scale = swing * exaggeration(self.scene, motion)
        bent = bend_in_place(track.L[v], motion, scale)
        colours = self._colours(motion, track.energy[v, shape], colouring)
        with self.server.atomic():
            # Poses of the links, and their undeformed centre lines; only what changed is sent
            p = track.p[v]
            q = track.quaternion[v]
            L = track.L[v]
            nowhere = np.full_like(p, np.nan), np.full_like(q, np.nan), np.zeros_like(L)
            old = self._poses or nowhere
            for i, handle in enumerate(self._frames[1:]):
                if (p[i] != old[0][i]).any():
                    handle.position = p[i]
                if (q[i] != old[1][i]).any():
                    handle.wxyz = q[i]
            for i, handle in enumerate(self._rests):
                if L[i] != old[2][i]:
                    handle.points = np.array([[[0, 0, 0], [L[i], 0, 0]]], np.float32)
            self._poses = (p, q, L)
            centres, turns, lengths = strips(bent)
            scales = np.ones((*lengths.shape, 3), np.float32)
            scales[..., 0] = 1.02 * lengths
            middles = (np.arange(lengths.shape[1]) + 0.5) / lengths.shape[1]
            for i, handle in self._strips:
                handle.batched_positions = centres[i].astype(np.float32)
                handle.batched_wxyzs = turns[i].astype(np.float32)
                taper = self.scene.links[i].taper
                for k in range(2 if len(taper) else 0):
                    scales[i, :, 1 + k] = np.interp(
                        middles, np.linspace(0, 1, len(taper)), taper[:, k]
                    )
                handle.batched_scales = scales[i]
                handle.batched_colors = _linear(np.asarray(colours[i], float))
            centres, turns = self._riders.places(bent)
            for some, handle in self._solids:
                handle.batched_positions = centres[some].astype(np.float32)
                handle.batched_wxyzs = turns[some].astype(np.float32)
            for link, handle in self._meshes:
                if link >= 0:
                    handle.position = bent.centre[link, -1]
                    handle.wxyz = quaternions(bent.R[link, -1])
            if self._rods is not None:
                _draw_rods(self._rods, self.scene, bend(track, v, motion, scale))
            if self.names:
                for handle, centre in zip(self._labels, bent.centre, strict=True):
                    handle.position = centre[len(centre) // 2]
        self._drawn = (v, shape, scale)

    @property
    def tip(self) -> Array:
        """Where the traced end was last drawn, (3,)."""
        assert self.scene is not None
        (v, shape, scale), track = self._drawn, self.scene.tracks[0]
        place: Array = bend(track, v, track.motion[v, shape], scale).centre[self.scene.tip, -1]
        return place

    def name_links(self, on: bool) -> None:
        """Show or hide the names of the links."""
        self.names = on
        for handle in self._labels:
            handle.visible = on

    def trace(self, path: Array, wanted: bool = False) -> None:
        """Draw the path of the tip, (N, 3), or the one that is wanted."""
        if len(path) > 1:
            pairs = np.stack([path[:-1], path[1:]], axis=1)
            self.server.scene.add_line_segments(
                "/wanted" if wanted else "/trace",
                pairs,
                GHOST if wanted else TRACE,
                thickness=1.5 if wanted else 2.0,
                thickness_units="screen",
            )

    def cloud(self, cloud: Cloud, extent: float) -> None:
        """Draw places with a value as dots in colours."""
        low = float(cloud.values.min())
        high = float(cloud.values.max())
        self.server.scene.add_point_cloud(
            "/cloud",
            cloud.places,
            colour_map((cloud.values - low) / (high - low or 1.0)),
            point_size=0.006 * extent,
            point_shape="circle",
            point_shading="flat",
            precision="float32",
        )

    def _colours(self, motion: Array, energy: Array, colouring: str) -> list[Any]:
        """Colours (P, 3) of every link's pieces."""
        assert self.scene is not None
        size = np.linalg.norm(motion[..., :3], axis=-1)
        sized = self.scene.tracks[0].largest
        largest = (sized[0] if sized else size.max()) or 1.0
        values = energy if colouring == "strain energy" else size / largest
        middle = (values[:, 1:] + values[:, :-1]) / 2
        return [
            np.tile(RIGID if link.rigid else PLAIN, (len(along), 1))
            if colouring == "plain" or link.rigid
            else colour_map(along)
            for link, along in zip(self.scene.links, middle, strict=True)
        ]


def _draw_rods(handle: Any, scene: Scene, bent: BentLinks) -> None:
    """Rods between two links, which are bent in base axes."""
    long = [solid for solid in scene.solids if solid.kind == "rod"]
    middle, turned, length = rods(long, bent)
    sizes = [(L, rod.radius, rod.radius) for L, rod in zip(length, long, strict=True)]
    handle.batched_positions = middle.astype(np.float32)
    handle.batched_wxyzs = turned.astype(np.float32)
    handle.batched_scales = np.array(sizes, np.float32)


def _linear(colours: Array) -> NDArray[np.uint8]:
    """Colours as a batch expects them: without the gamma of the screen."""
    c = colours / 255
    return np.round(255 * np.where(c <= 0.04, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)).astype(
        np.uint8
    )


def _makeup(scene: Scene) -> tuple[Any, ...]:
    """What must be rebuilt when it changes."""
    outlines = tuple(
        (link.name, link.corners.tobytes(), link.taper.tobytes()) for link in scene.links
    )
    visuals = tuple((part.link, part.vertices.tobytes()) for part in scene.meshes)
    return outlines, scene.solids, visuals, scene.tracks[0].motion.shape[3]


def _prism(corners: Array) -> Mesh:
    """A prism of unit length along x over an outline (K, 2).

    Its ends have corners of their own, or smooth shading would round them off and draw ribs.
    """
    K = len(corners)
    ends = [np.column_stack([np.full(K, x), corners]) for x in (-0.5, 0.5)]
    k = np.arange(K)
    n = (k + 1) % K
    sides = np.concatenate([np.stack([k, n, n + K], 1), np.stack([k, n + K, k + K], 1)])
    fan = np.stack([np.zeros(K - 2, int), k[2:], k[1:-1]], 1)
    faces = np.concatenate([sides, fan + 2 * K, fan[:, ::-1] + 3 * K])
    return np.concatenate([*ends, *ends]).astype(np.float32), faces.astype(np.uint32)


def _ball() -> Mesh:
    """A ball of unit radius."""
    up = np.linspace(0, np.pi, 12 + 1)[:, None]
    round_ = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    x = np.sin(up) * np.cos(round_)
    y = np.sin(up) * np.sin(round_)
    z = np.cos(up) + 0 * round_
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(12), np.arange(24), indexing="ij")
    a = (i * 24 + j).ravel()
    b = (i * 24 + (j + 1) % 24).ravel()
    faces = np.concatenate([np.stack([a, a + 24, b], 1), np.stack([b, a + 24, b + 24], 1)])
    return vertices.astype(np.float32), faces.astype(np.uint32)
