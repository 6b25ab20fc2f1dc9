"""The floor below a robot on a viser server, and its light."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..scene.posing import LARGEST, ends, towards
from ..scene.scene import Scene

__all__ = ["FLOORS", "Ground", "add_light"]

Array = NDArray[np.float64]
FLOORS = {  # colours of its lines, light and dark
    "cells": ((226, 230, 234), (58, 63, 68)),
    "sections": ((196, 204, 211), (92, 100, 108)),
}
FLOOR = 2.0  # half the side of the floor over the robot's extent


class Ground:
    """A floor of lines, whose cells are round lengths.

    An endless grid computes every pixel of the window: half the time of a frame where no graphics
    card helps.
    """

    def __init__(self, world: Any, scene: Scene) -> None:
        planar = scene.planar
        extent = scene.extent
        up = np.array([0.0, 0.0, 1.0]) if planar else np.asarray(scene.up)
        if planar:
            level = -0.06 * extent
        else:
            # How high the floor lies: below all poses, with room where free ends could bend through
            # it
            track = scene.tracks[0]
            upwards = np.asarray(scene.up)
            free = float((ends(track) @ upwards).min())
            low = min(0.0, free, float((track.p @ upwards).min()))
            close_to_ground = free < low + LARGEST * scene.extent
            level = low - scene.extent * (0.03 + LARGEST * close_to_ground)
        cell = 10.0 ** np.floor(np.log10(extent / 2))
        far = cell * max(5, round(FLOOR * extent / cell / 5) * 5)
        at = np.arange(-far, far + cell / 2, cell)
        rules = np.array([[[a, -far, 0], [a, far, 0]] for a in at])
        turn = np.roll(towards(up), -1, axis=1)  # z is up
        both = np.concatenate([rules, rules[..., [1, 0, 2]]]) @ turn.T + level * up
        strong = np.tile(np.isclose(at / (5 * cell) % 1, 0), 2)
        self.lines = {
            name: world.add_line_segments(
                f"/ground/{name}",
                both[chosen],
                FLOORS[name][0],
                thickness=1.0,
                thickness_units="screen",
            )
            for name, chosen in (("cells", ~strong), ("sections", strong))
        }

    def darken(self, dark: bool) -> None:
        """Draw it for a dark or a light background."""
        for name, handle in self.lines.items():
            handle.colors = np.full(handle.colors.shape, FLOORS[name][dark], np.uint8)


def add_light(world: Any, place: Array) -> None:
    """Plain light from one side, so that colours are those of the map."""
    world.configure_environment_map(hdri=None)
    world.configure_default_lights(enabled=False)
    world.add_light_ambient("/light/all", intensity=1.9)
    world.add_light_directional("/light/side", intensity=1.6, position=tuple(place))
