"""A Scene on a viser server: links as strips that bend, solids that ride on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .posing import Bent, Riders, bend, exaggeration, strips, towards
from .scene import Cloud, Scene

if TYPE_CHECKING:
    import viser

__all__ = ["COLOURINGS", "Stage", "add_dark", "dress"]

Array = NDArray[np.float64]
Mesh = tuple[NDArray[np.float32], NDArray[np.uint32]]
COLOURINGS = ("displacement", "strain energy", "plain")
PLAIN, RIGID, GHOST, TRACE = (91, 141, 184), (135, 145, 156), (151, 162, 173), (213, 94, 0)
ROLES = {
    "mass": (164, 85, 58),
    "joint": (125, 135, 146),
    "plate": (185, 137, 74),
    "base": (154, 165, 176),
}
CELLS, SECTIONS = (226, 230, 234), (196, 204, 211)
FLOOR = 2.0  # half the side of the floor over the robot's extent
# Viridis without its darkest fifth: rises evenly in lightness, safe for colour-blind readers
MAP = np.array(
    [[65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132], [68, 191, 112],
     [122, 209, 81], [189, 223, 38], [253, 231, 37]], float
)  # fmt: skip


def dress(gui: Any, dark: bool = False) -> None:
    """Give the panel its look."""
    gui.configure_theme(
        control_width="large", show_logo=False, show_share_button=False,
        brand_color=(0, 98, 163), dark_mode=dark,
    )  # fmt: skip


def add_dark(gui: Any) -> None:
    """Add the choice between light and dark, for all browsers."""
    box = gui.add_checkbox("dark", False)
    box.on_update(lambda _: dress(gui, bool(box.value)))


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
        self._rest: list[Any] = []
        self._drawn: list[int] = []
        self._at = 0
        self._riders: list[Riders] = []
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
            self._ghost(0)

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
        self._ground(np.array([0.0, 0.0, 1.0]) if scene.planar else up, level, extent)
        self._light(extent * away + 0.8 * extent * up)

    def _ground(self, up: Array, level: float, extent: float) -> None:
        """A floor of lines, whose cells are round lengths.

        An endless grid computes every pixel of the window: half the time of a frame where no
        graphics card helps.
        """
        cell = 10.0 ** np.floor(np.log10(extent / 2))
        far = cell * max(5, round(FLOOR * extent / cell / 5) * 5)
        at = np.arange(-far, far + cell / 2, cell)
        rules = np.array([[[a, -far, 0], [a, far, 0]] for a in at])
        both = np.concatenate([rules, rules[..., [1, 0, 2]]]) @ _level(up).T + level * up
        strong = np.tile(np.isclose(at / (5 * cell) % 1, 0), 2)
        for name, chosen, colour in (("cells", ~strong, CELLS), ("sections", strong, SECTIONS)):
            self.server.scene.add_line_segments(
                f"/ground/{name}", both[chosen], colour, thickness=1.0, thickness_units="screen"
            )

    def _light(self, place: Array) -> None:
        """Plain light from one side, so that colours are those of the map."""
        world = self.server.scene
        world.configure_environment_map(hdri=None)
        world.configure_default_lights(enabled=False)
        world.add_light_ambient("/light/all", intensity=1.9)
        world.add_light_directional("/light/side", intensity=1.6, position=tuple(place))

    def _build(self, scene: Scene) -> None:
        for handle in (*self._links, *self._solids, *self._labels, *self._rest):
            handle.remove()
        self._rest = []
        pieces = scene.tracks[0].motion.shape[3] - 1
        drawn = [(i, link) for i, link in enumerate(scene.links) if len(link.corners)]
        self._drawn = [i for i, _ in drawn]
        self._links = [
            self._batch(f"/link/{i}", _prism(link.corners), pieces, flat=not link.round)
            for i, link in drawn
        ]
        self._riders, self._solids = [], []
        for kind, mesh in (("ball", _ball()), ("cylinder", _cylinder())):
            some = [solid for solid in scene.solids if solid.kind == kind]
            if some:
                handle = self._batch(f"/{kind}s", mesh, len(some), flat=kind == "cylinder")
                colours = np.array([ROLES[solid.role] for solid in some], float)
                handle.batched_colors = _linear(colours)
                self._riders.append(Riders(some))
                self._solids.append(handle)
                handle.batched_scales = self._riders[-1].sizes.astype(np.float32)
        self._labels = [
            self.server.scene.add_label(f"/name/{i}", link.name, visible=self.names)
            for i, link in enumerate(scene.links)
        ]

    def _batch(self, name: str, mesh: Mesh, count: int, flat: bool) -> Any:
        """Copies of one mesh; all that moves is drawn so, and therefore arrives together."""
        return self.server.scene.add_batched_meshes_simple(
            name, *mesh, np.tile([1.0, 0, 0, 0], (count, 1)), np.zeros((count, 3)),
            batched_scales=np.ones((count, 3)), batched_colors=np.tile(PLAIN, (count, 1)),
            lod="off", flat_shading=flat,
        )  # fmt: skip

    def _ghost(self, v: int) -> None:
        """The undeformed centre lines at pose v."""
        assert self.scene is not None
        rest = self.bent(np.zeros_like(self.scene.tracks[0].motion[0, 0]), 0.0, v).centre
        ends = np.stack([rest[:, 0], rest[:, -1]], axis=1)
        if self._rest:
            self._rest[0].points = ends.astype(np.float32)
        else:
            self._rest.append(
                self.server.scene.add_line_segments(
                    "/ghost", ends, GHOST, thickness=1.5, thickness_units="screen"
                )
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
            if v != self._at and not self.scene.true_scale:
                self._ghost(v)
            self._move_links(bent, colour)
            for handle, riders in zip(self._solids, self._riders, strict=True):
                _place(handle, *riders.places(bent))
            if self.names:
                for handle, centre in zip(self._labels, bent.centre, strict=True):
                    handle.position = centre[len(centre) // 2]
        self._last, self._at = bent, v

    def _move_links(self, bent: Bent, colour: Callable[[int], Any]) -> None:
        centres, turns, lengths = strips(bent)
        scales = np.ones((*lengths.shape, 3), np.float32)
        scales[..., 0] = 1.02 * lengths
        for handle, i in zip(self._links, self._drawn, strict=True):
            _place(handle, centres[i], turns[i])
            handle.batched_scales = scales[i]
            handle.batched_colors = _linear(np.asarray(colour(i), float))

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

    def trace(self, path: Array, wanted: bool = False) -> None:
        """Draw the path of the tip, (N, 3), or the one that is wanted."""
        if len(path) > 1:
            pairs = np.stack([path[:-1], path[1:]], axis=1)
            self.server.scene.add_line_segments(
                "/wanted" if wanted else "/trace", pairs, GHOST if wanted else TRACE,
                thickness=1.5 if wanted else 2.0, thickness_units="screen",
            )  # fmt: skip

    def cloud(self, cloud: Cloud, extent: float) -> None:
        """Draw places with a value as dots in colours."""
        low, high = float(cloud.values.min()), float(cloud.values.max())
        self.server.scene.add_point_cloud(
            "/cloud", cloud.places, mapped((cloud.values - low) / (high - low or 1.0)),
            point_size=0.006 * extent, point_shape="circle", point_shading="flat",
            precision="float32",
        )  # fmt: skip

    def _colours(self, motion: Array, energy: Array, colouring: str) -> Callable[[int], Any]:
        assert self.scene is not None
        links = self.scene.links
        size = np.linalg.norm(motion[..., :3], axis=-1)
        sized = self.scene.tracks[0].largest
        largest = (sized[0] if sized else size.max()) or 1.0
        values = energy if colouring == "strain energy" else size / largest
        middle = (values[:, 1:] + values[:, :-1]) / 2

        def colour(i: int) -> Any:
            if colouring == "plain" or links[i].rigid:
                return np.tile(RIGID if links[i].rigid else PLAIN, (middle.shape[1], 1))
            return mapped(middle[i])

        return colour


def _place(handle: Any, centre: Array, q: Array) -> None:
    handle.batched_positions = centre.astype(np.float32)
    handle.batched_wxyzs = q.astype(np.float32)


def _linear(colours: Array) -> NDArray[np.uint8]:
    """Colours as a batch expects them: without the gamma of the screen."""
    c = colours / 255
    return np.round(255 * np.where(c <= 0.04, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)).astype(
        np.uint8
    )


def _makeup(scene: Scene) -> tuple[Any, ...]:
    """What must be rebuilt when it changes."""
    outlines = tuple((link.name, link.corners.tobytes()) for link in scene.links)
    return outlines, scene.solids, scene.tracks[0].motion.shape[3]


def _level(up: Array) -> Array:
    """A rotation whose z is up."""
    return np.roll(towards(up), -1, axis=1)


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


def _prism(corners: Array) -> Mesh:
    """A prism of unit length along x over an outline (K, 2)."""
    K = len(corners)
    ends = [np.column_stack([np.full(K, x), corners]) for x in (-0.5, 0.5)]
    k = np.arange(K)
    n = (k + 1) % K
    sides = np.concatenate([np.stack([k, n, n + K], 1), np.stack([k, n + K, k + K], 1)])
    fan = np.stack([np.zeros(K - 2, int), k[2:], k[1:-1]], 1)
    faces = np.concatenate([sides, fan, fan[:, ::-1] + K])
    return np.concatenate(ends).astype(np.float32), faces.astype(np.uint32)


def _cylinder() -> Mesh:
    """A cylinder of unit length and radius along x."""
    angles = np.linspace(0, 2 * np.pi, 36, endpoint=False)
    return _prism(np.stack([np.cos(angles), np.sin(angles)], axis=1))


def _ball(rings: int = 12, sides: int = 24) -> Mesh:
    """A ball of unit radius."""
    up = np.linspace(0, np.pi, rings + 1)[:, None]
    round_ = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    x, y, z = np.sin(up) * np.cos(round_), np.sin(up) * np.sin(round_), np.cos(up) + 0 * round_
    vertices = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    a, b = (i * sides + j).ravel(), (i * sides + (j + 1) % sides).ravel()
    faces = np.concatenate([np.stack([a, a + sides, b], 1), np.stack([b, a + sides, b + sides], 1)])
    return vertices.astype(np.float32), faces.astype(np.uint32)
