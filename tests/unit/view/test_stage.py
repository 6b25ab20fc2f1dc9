"""What a live view sends: frames of links, and what bends in them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple
from supple.studies.vibration.neighbourhood import usual_pose
from supple.view.live.ground import FLOORS
from supple.view.live.live import serve
from supple.view.live.questions import StudioQuestion, ask, only, slider_to_si, sliders
from supple.view.scene.posing import bend, ends, exaggeration
from supple.view.scene.scene import modes_scene, robot_scene

ROBOTS = ["industrial-3", "kuo-delta", "theodore-rrp", "de-luca-two-link", "di-castri-two-link"]


@pytest.fixture(params=ROBOTS)
def studio(request: Any) -> Iterator[Any]:
    live = serve(supple.load(request.param), port=0)
    live.shown.stop()  # its threads draw too
    yield live.shown
    live.stop()


def placed(frame: Any, points: np.ndarray) -> np.ndarray:
    """Points of a frame in base axes."""
    w, x, y, z = frame.wxyz
    turned_ = Rotation.from_quat([x, y, z, w]).apply(np.asarray(points, float))
    return np.asarray(turned_ + frame.position)


def test_links_and_solids_stand_where_the_scene_bends_them(studio: Any) -> None:
    """Frames times what is drawn in them, against sections bent in base axes."""
    stage = studio.stage
    scene = stage.scene
    track = stage.scene.tracks[0]
    stage.draw(0.7)
    motion = track.motion[0, 0]
    bent = bend(track, 0, motion, 0.7 * exaggeration(scene, motion))
    for i, handle in stage._strips:
        middle = (bent.centre[i, :-1] + bent.centre[i, 1:]) / 2
        drawn = placed(stage._frames[1 + i], handle.batched_positions)
        np.testing.assert_allclose(drawn, middle, atol=2e-6 * scene.extent)
    for some, handle in stage._solids:
        for k, point in zip(some, handle.batched_positions, strict=True):
            solid = scene.solids[k]
            if solid.link < 0:
                wanted = np.array(solid.offset)
                got = point
            else:
                end = -1 if solid.end else 0
                R = bent.R[solid.link, end]
                at = bent.centre[solid.link, end]
                wanted = at + R @ np.array(solid.offset)
                got = placed(stage._frames[1 + solid.link], point[None])[0]
            np.testing.assert_allclose(got, wanted, atol=2e-6 * scene.extent)


def test_ends_are_those_of_sections_that_do_not_bend(studio: Any) -> None:
    track = studio.stage.scene.tracks[0]
    straight = bend(track, 0, np.zeros_like(track.motion[0, 0]), 0.0).centre[:, -1]
    np.testing.assert_allclose(ends(track)[0], straight, atol=1e-12)


def test_a_drag_builds_nothing_anew(studio: Any) -> None:
    robot = studio.found.robot
    stage = studio.stage
    pose = np.array(next(iter(usual_pose(robot).values())), float)
    before = [id(handle) for _, handle in (*stage._strips, *stage._solids)]
    for k, coordinate in enumerate(sliders(robot)):
        moved = pose.copy()
        moved[k] += slider_to_si(2.0 if coordinate.unit == "°" else 0.01, coordinate.unit)
        part, _ = only(ask(StudioQuestion(robot, tuple(moved))), 0)
        stage.show(modes_scene(part, points=21))
        stage.draw(1.0)
    assert before == [id(handle) for _, handle in (*stage._strips, *stage._solids)]


def test_the_floor_follows_light_and_dark() -> None:
    live = serve(supple.load("industrial-3"), port=0)
    try:
        stage = live.shown.stage
        for dark in (True, False):
            stage.ground.darken(dark)
            for name, handle in stage.ground.lines.items():
                assert np.unique(handle.colors.reshape(-1, 3), axis=0).tolist() == [
                    list(FLOORS[name][dark])
                ]
    finally:
        live.stop()


def test_crossbars_end_where_the_rods_of_a_parallelogram_begin_and_end() -> None:
    robot = supple.load("kuo-delta").with_({"lower.rods": "parallelogram", "lower.spacing": 0.08})
    scene = robot_scene(robot, position=[0.1, 0.05, 0.6])
    track = scene.tracks[0]
    names = [link.name for link in scene.links]
    rest = bend(track, 0, np.zeros_like(track.motion[0, 0]), 0.0)
    roots = {name: rest.centre[i, 0] for i, name in enumerate(names)}
    tips = {name: rest.centre[i, -1] for i, name in enumerate(names)}
    for leg in (1, 2, 3):
        for name, at in ((f"crossbar of upper{leg}", roots), (f"rail {leg} of the platform", tips)):
            bar = next(solid for solid in scene.solids if solid.name == name)
            R = rest.R[bar.link, -bar.end]
            middle = rest.centre[bar.link, -bar.end] + R @ np.array(bar.offset)
            half = bar.height / 2 * R @ np.array(bar.axis)
            np.testing.assert_allclose(middle - half, at[f"lower{leg}a"], atol=1e-12)
            np.testing.assert_allclose(middle + half, at[f"lower{leg}b"], atol=1e-12)


def test_a_cylinder_is_drawn_as_long_as_theta_says() -> None:
    boom = {"name": "boom", "joint": {"passive": True, "start": 0.5}, "length": 4.0}
    boom |= {"mass_per_length": 50.0, "bending_stiffness": 5e6}
    rod = {"name": "lift", "type": "distance", "motor": True, "length": 1.7}
    rod["ends"] = [{"link": "base", "mount": {"xyz": [0.5, -1.0, 0]}}, {"link": "boom", "at": 1.5}]
    whole = {"name": "crane", "planar": True, "links": [boom], "closures": [rod]}
    live = serve(supple.MechanismRobot.model_validate(whole), port=0)
    stage = live.shown.stage
    live.shown.stop()
    stage.draw(0.0)
    assert stage._rods.batched_scales[0, 0] == pytest.approx(1.7, abs=1e-6)
    middle = stage._rods.batched_positions[0]
    assert np.linalg.norm(middle - [0.5, -1.0, 0.0]) == pytest.approx(0.85, abs=1e-6)
    live.stop()
