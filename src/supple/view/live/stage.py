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

__all__ = ["COLOURINGS", "Stage", "add_dark", "apply_theme"]

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


def apply_theme(gui: Any, dark: bool = False) -> None:
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
        apply_theme(gui, bool(box.value))
        if stage.ground is not None:
            stage.ground.darken(bool(box.value))

    box.on_update(changed)


def colour_map(values: Array) -> NDArray[np.uint8]:
    """Return colours (N, 3) of values from 0 to 1."""
    position = np.clip(values, 0, 1) * (len(MAP) - 1)
    channels = [np.interp(position, range(len(MAP)), channel) for channel in MAP.T]
    return np.stack(channels, axis=-1).astype(np.uint8)


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
        is_first = self.scene is None
        must_build = self.scene is None or _what_is_built(self.scene) != _what_is_built(scene)
        self.scene = scene
        if must_build:
            self._build(scene)
        if is_first:
            self._set_up_view(scene)

    def _set_up_view(self, scene: Scene) -> None:
        """Camera, the direction that is up, ground and light: once, or the view would jump."""
        server = self.server
        extent = scene.extent
        up = np.asarray(scene.up)
        server.scene.set_up_direction(up)

        # From the side and above, in extents of the robot; onto the plane of a planar one
        side = np.array([1.0, 0, 0]) if abs(up[0]) < 0.9 else np.array([0, 1.0, 0])
        away = 0.6 * up - 1.1 * np.cross(up, side) + 0.75 * side
        if scene.planar:
            away = np.array([0.3, -0.21, 1.35])
        centre = np.asarray(scene.centre)
        camera = server.initial_camera
        camera.position = tuple(centre + extent * away)
        camera.look_at = tuple(centre)
        camera.up = tuple(up)

        self.ground = Ground(server.scene, scene)
        add_light(server.scene, extent * away + 0.8 * extent * up)

    def _build(self, scene: Scene) -> None:
        """Add everything that a Scene shows; `draw` puts it in its place."""
        for handle in self._frames:
            handle.remove()  # with all that is drawn in it
        world = self.server.scene
        self._frames = [world.add_frame("/base", show_axes=False)]
        self._strips = []
        self._labels = []
        self._rests = []
        pieces = scene.tracks[0].motion.shape[3] - 1
        unseen_line = np.zeros((1, 2, 3), np.float32)
        for i, link in enumerate(scene.links):
            self._frames.append(world.add_frame(f"/link/{i}", show_axes=False))
            if len(link.corners):
                prism = _prism(link.corners)
                batch = self._batch(f"/link/{i}/strips", prism, pieces, not link.round)
                self._strips.append((i, batch))
            label = world.add_label(f"/link/{i}/name", link.name, visible=self.names)
            self._labels.append(label)
            if not scene.true_scale:
                rest = world.add_line_segments(
                    f"/link/{i}/rest", unseen_line, GHOST, thickness=1.5, thickness_units="screen"
                )
                self._rests.append(rest)
        self._build_solids(scene)
        self._build_visuals(scene)
        self._poses = ()

    def _build_solids(self, scene: Scene) -> None:
        """One batch of every kind of solid on every link and on the ground, and one of rods."""
        self._riders = Riders(scene.solids)
        self._solids = []
        angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
        cylinder = _prism(np.stack([np.cos(angles), np.sin(angles)], axis=1))
        meshes = {"ball": _ball(), "cylinder": cylinder}  # of unit radius and length, along x

        groups: dict[tuple[str, int], list[int]] = {}
        rod_colours = []
        for k, solid in enumerate(scene.solids):
            if solid.kind == "rod":
                rod_colours.append(ROLES[solid.role])
            else:
                groups.setdefault((solid.kind, solid.link), []).append(k)

        self._rods = None
        if rod_colours:
            self._rods = self._batch("/base/rods", cylinder, len(rod_colours), True)
            self._rods.batched_colors = _linear(np.array(rod_colours, float))
        for kind, link in sorted(groups):
            members = groups[kind, link]
            name = f"{_folder(link)}/{kind}s"
            batch = self._batch(name, meshes[kind], len(members), kind == "cylinder")
            batch.batched_scales = self._riders.sizes[members].astype(np.float32)
            colours = [ROLES[scene.solids[k].role] for k in members]
            batch.batched_colors = _linear(np.array(colours, float))
            self._solids.append((members, batch))

    def _build_visuals(self, scene: Scene) -> None:
        """Meshes of the robot's file."""
        self._meshes = []
        for k, part in enumerate(scene.meshes):
            handle = self.server.scene.add_mesh_simple(
                f"{_folder(part.link)}/visual{k}",
                part.vertices.astype(np.float32),
                part.faces.astype(np.uint32),
                color=part.colour,
                flat_shading=True,
                side="double",
            )
            self._meshes.append((part.link, handle))

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
            self._draw_poses(track.p[v], track.quaternion[v], track.L[v])
            self._draw_strips(bent, colours)
            centres, rotations = self._riders.places(bent)
            for members, handle in self._solids:
                handle.batched_positions = centres[members].astype(np.float32)
                handle.batched_wxyzs = rotations[members].astype(np.float32)
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

    def _draw_poses(self, position: Array, quaternion: Array, length: Array) -> None:
        """Frames of the links and their undeformed centre lines; only what changed is sent."""
        if self._poses:
            old_position, old_quaternion, old_length = self._poses
        else:
            old_position = np.full_like(position, np.nan)  # unequal to anything
            old_quaternion = np.full_like(quaternion, np.nan)
            old_length = np.zeros_like(length)
        for i, handle in enumerate(self._frames[1:]):
            if (position[i] != old_position[i]).any():
                handle.position = position[i]
            if (quaternion[i] != old_quaternion[i]).any():
                handle.wxyz = quaternion[i]
        for i, handle in enumerate(self._rests):
            if length[i] != old_length[i]:
                handle.points = np.array([[[0, 0, 0], [length[i], 0, 0]]], np.float32)
        self._poses = (position, quaternion, length)

    def _draw_strips(self, bent: BentLinks, colours: list[Any]) -> None:
        """The pieces between the stations of every link, wide as the link is there."""
        assert self.scene is not None
        centres, rotations, lengths = strips(bent)
        pieces = lengths.shape[1]
        scales = np.ones((*lengths.shape, 3), np.float32)
        scales[..., 0] = 1.02 * lengths  # they overlap a little, or a bend would show gaps
        middles = (np.arange(pieces) + 0.5) / pieces
        for i, handle in self._strips:
            handle.batched_positions = centres[i].astype(np.float32)
            handle.batched_wxyzs = rotations[i].astype(np.float32)
            taper = self.scene.links[i].taper
            if len(taper):
                stations = np.linspace(0, 1, len(taper))
                scales[i, :, 1] = np.interp(middles, stations, taper[:, 0])
                scales[i, :, 2] = np.interp(middles, stations, taper[:, 1])
            handle.batched_scales = scales[i]
            handle.batched_colors = _linear(np.asarray(colours[i], float))

    @property
    def tip(self) -> Array:
        """Where the traced end was last drawn, (3,)."""
        assert self.scene is not None
        v, shape, scale = self._drawn
        track = self.scene.tracks[0]
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
        if colouring == "strain energy":
            values = energy
        else:
            displacement = np.linalg.norm(motion[..., :3], axis=-1)
            largest_of_track = self.scene.tracks[0].largest
            largest = largest_of_track[0] if largest_of_track else displacement.max()
            values = displacement / (largest or 1.0)

        colours = []
        middles_of_pieces = (values[:, 1:] + values[:, :-1]) / 2
        for link, along in zip(self.scene.links, middles_of_pieces, strict=True):
            if link.rigid:
                colours.append(np.tile(RIGID, (len(along), 1)))
            elif colouring == "plain":
                colours.append(np.tile(PLAIN, (len(along), 1)))
            else:
                colours.append(colour_map(along))
        return colours


def _draw_rods(handle: Any, scene: Scene, bent: BentLinks) -> None:
    """Rods between two links, which are bent in base axes."""
    solids = [solid for solid in scene.solids if solid.kind == "rod"]
    middle, rotation, length = rods(solids, bent)
    sizes = [(L, rod.radius, rod.radius) for L, rod in zip(length, solids, strict=True)]
    handle.batched_positions = middle.astype(np.float32)
    handle.batched_wxyzs = rotation.astype(np.float32)
    handle.batched_scales = np.array(sizes, np.float32)


def _linear(colours: Array) -> NDArray[np.uint8]:
    """Colours as a batch expects them: without the gamma of the screen."""
    c = colours / 255
    linear = np.where(c <= 0.04, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)  # of sRGB
    return np.round(255 * linear).astype(np.uint8)


def _folder(link: int) -> str:
    """The frame in which something on a link, or with -1 on the base, is drawn."""
    return "/base" if link < 0 else f"/link/{link}"


def _what_is_built(scene: Scene) -> tuple[Any, ...]:
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
