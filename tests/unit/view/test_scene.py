"""Scenes: plain data that puts every link where the library has it."""

import json
import math

import numpy as np
import pytest

import supple
from supple.architectures.serial import place
from supple.errors import SuppleError
from supple.studies.motion.fields import Fields, path_fields
from supple.studies.vibration.neighbourhood import around, coordinates_of
from supple.view.scene.posing import bend
from supple.view.scene.scene import (
    modes_scene,
    quaternions,
    robot_scene,
    statics_scene,
    sweep_scene,
    well_seen,
)
from supple.view.scene.scenes import path_scene, scene_of, time_scene, workspace_scene

POSES = {
    "de-luca-two-link": {"theta": [0.2, 0.9]},
    "di-castri-two-link": {"theta": [0.0, 0.5]},
    "industrial-3": {"theta": [0.1, 0.7, -0.4]},
    "kuo-delta": {"position": [0.1, 0.0, 0.5]},
    "theodore-rrp": {"theta": [0.3, 0.7, 0.8]},
}


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("name", POSES)
def test_every_library_robot_becomes_plain_data(name: str) -> None:
    found = supple.modes(supple.load(name), count=4, **POSES[name])
    scene = modes_scene(found)
    again = json.loads(json.dumps(scene.to_dict(), allow_nan=False))
    assert [m["frequency_hz"] for m in again["shapes"]] == found.frequency_hz.tolist()
    assert [m["kind"] for m in again["shapes"]] == found.kind
    assert len(again["links"]) == len(found.structure.segments) == len(again["parents"])


@pytest.mark.parametrize("name", POSES)
def test_points_of_the_scene_are_those_of_the_shapes(name: str) -> None:
    """p + R (s L e_x + u) equals position + global displacement, to rounding."""
    found = supple.modes(supple.load(name), count=3, **POSES[name])
    track = modes_scene(found).tracks[0]
    shapes = found.shape(13)
    for i in range(len(shapes.names)):
        R = rotation(track.quaternion[0, i])
        s = np.linspace(0, 1, 13)[:, None] * track.L[0, i] * np.eye(3)[0]
        for mode in range(3):
            drawn = track.p[0, i] + (s + track.motion[0, mode, i, :, :3]) @ R.T
            true = shapes.position[i] + shapes.global_displacement[mode, i]
            np.testing.assert_allclose(drawn, true, atol=1e-12)


def test_quaternions_of_random_and_of_half_turns() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        R = Q * np.sign(np.linalg.det(Q))
        np.testing.assert_allclose(rotation(quaternions(R)), R, atol=1e-12)
    for axis in np.eye(3):
        R = 2 * np.outer(axis, axis) - np.eye(3)
        np.testing.assert_allclose(rotation(quaternions(R)), R, atol=1e-12)


def test_strain_energy_per_length_adds_up_to_that_of_the_mode() -> None:
    """Its integral, springs aside, is omega^2 / 2 for unit modal mass; by elements as well."""
    for method, tolerance in (("exact", 1e-5), ("elements", 1e-3), ("assumed", 1e-4)):
        found = supple.modes(
            supple.load("industrial-3"), [0, 0.3, 0.2], count=4, method=method, elements=16
        )
        shapes = found.shape(401)
        total = np.trapezoid(shapes.density, shapes.x[None], axis=-1).sum(axis=1)
        np.testing.assert_allclose(total, found.omega**2 / 2, rtol=tolerance)


def test_the_pose_asked_for_is_one_of_those_nearby() -> None:
    found = supple.modes(supple.load("industrial-3"), [0.1, 0.7, -0.4], count=3)
    parts = list(around(found, count=7))
    for part, own in zip(parts, found.theta, strict=True):
        (k,) = np.flatnonzero(part.at == own)
        np.testing.assert_array_equal(part.found.omega[k], found.omega)
        assert set(part.at) <= set(part.values)
    assert parts[0].error < 1e-9  # turning the whole arm changes nothing
    assert 1e-6 < parts[1].error < 0.05


def test_a_platform_stays_within_reach() -> None:
    found = supple.modes(supple.load("kuo-delta"), position=[0.1, 0.0, 0.5], count=2)
    parts = list(around(found, count=5))
    assert [p.coordinate.name for p in parts] == ["platform x", "platform y", "platform z"]
    assert all(np.all(np.diff(p.at) > 0) for p in parts)


def test_limits_of_a_joint_are_its_range() -> None:
    robot = supple.load("industrial-3").with_("links.link2.joint.limits", [-1.0, 0.5])
    assert (coordinates_of(robot)[1].low, coordinates_of(robot)[1].high) == (-1.0, 0.5)
    assert coordinates_of(robot)[0].high == math.radians(150)


def test_sweep_statics_and_bare_robot() -> None:
    robot = supple.load("industrial-3")
    theta = np.zeros((5, 3))
    theta[:, 1] = np.linspace(0, 1, 5)
    many = supple.modes(robot, theta, count=3)
    scene = sweep_scene(many, theta[:, 1], "elbow", "rad")
    np.testing.assert_array_equal(scene.tracks[0].frequency_hz, many.frequency_hz)
    sag = supple.statics(robot, [0, 0.4, 0.2], gravity=(0, -9.81, 0))
    drawn = statics_scene(sag).tracks[0]
    R = rotation(drawn.quaternion[0, -1])
    np.testing.assert_allclose(R @ drawn.motion[0, 0, -1, -1, :3], sag.tip_displacement, atol=1e-12)
    assert robot_scene(robot, [0, 0, 0]).shapes == ()
    with pytest.raises(SuppleError, match="one value for each configuration"):
        sweep_scene(many, [0.0, 1.0])


def test_sag_of_a_delta_hangs_on_its_platform() -> None:
    sag = supple.statics(supple.load("kuo-delta"), position=[0.1, 0, 0.5])
    track = statics_scene(sag).tracks[0]
    np.testing.assert_allclose(track.p[0, -1], [0.1, 0, 0.5], atol=1e-12)
    np.testing.assert_allclose(track.motion[0, 0, -1, -1, :3], sag.tip_displacement, atol=1e-9)


def test_a_motion_in_time_is_true_to_scale() -> None:
    robot = supple.load("de-luca-two-link")
    t = np.linspace(0, 1, 11)
    R = np.broadcast_to(np.eye(3), (11, 2, 3, 3))
    p = np.zeros((11, 2, 3))
    p[:, 1, 0] = 0.5
    motion = np.zeros((11, 2, 13, 6))
    links = Fields(
        ("link1", "link2"), t, p, R, np.full((11, 2), 0.5), motion, np.zeros((11, 2, 13))
    )
    scene = time_scene(robot, links)
    assert scene.true_scale
    assert scene.tracks[0].kind == "time"
    assert scene.extent == pytest.approx(1.0)


@pytest.fixture(scope="module")
def path() -> supple.PathResponse:
    tube = {"shape": "tube", "diameter": 0.03, "wall": 0.002}
    robot = supple.load("kuo-delta").with_({"upper.section": tube, "lower.section": tube})
    return supple.follow(robot, supple.InvertedU(), step=0.02, damping=0.05)


def test_a_path_moves_the_platform_by_what_was_computed(path: supple.PathResponse) -> None:
    """At any scale: wanted place plus so many times the displacement from the rigid motion."""
    scene = path_scene(path)
    track = scene.tracks[0]
    assert not scene.true_scale
    for v in (0, 7, len(track.at) - 1):
        for times in (0.0, 1.0, 30.0):
            drawn = bend(track, v, track.motion[v, 0], times).centre[scene.tip, -1]
            true = path.wanted[v] + times * path.moved[v, :3]
            np.testing.assert_allclose(drawn, true, atol=1e-12)
    assert track.largest[0] >= np.linalg.norm(path.moved[:, :3], axis=1).max()


def test_a_path_keeps_legs_and_platform_together(path: supple.PathResponse) -> None:
    """Ends of rods move as the platform does there: u + phi x arm, to first order."""
    found = path_fields(path)
    base = np.einsum("tnij,tnpj->tnpi", found.R, found.motion[..., :3])
    phi = np.einsum("tij,tj->ti", found.R[:, -1], found.motion[:, -1, -1, 3:])
    for leg in (1, 2, 3):
        i = found.names.index(f"lower{leg}")
        end = found.p[:, i] + found.L[:, i, None] * found.R[:, i, :, 0]
        carried = base[:, -1, -1] + np.cross(phi, end - found.p[:, -1])
        np.testing.assert_allclose(base[:, i, -1], carried, atol=1e-14)
        upper = found.names.index(f"upper{leg}")
        np.testing.assert_allclose(base[:, upper, -1], base[:, i, 0], atol=1e-14)


def test_strain_energy_along_a_path_adds_up(path: supple.PathResponse) -> None:
    """Its integral is y' K y / 2."""
    found = path_fields(path, points=401)
    total = np.trapezoid(found.energy, np.linspace(0, 1, 401), axis=-1) * found.L
    whole = np.einsum("ti,ij,tj->t", path.y, path.model.stiffness, path.y) / 2
    np.testing.assert_allclose(total.sum(axis=1), whole, rtol=1e-3)


def test_every_answer_becomes_a_scene(path: supple.PathResponse) -> None:
    robot = supple.load("kuo-delta")
    found = supple.workspace(robot, points=3)
    cloud = workspace_scene(found, nearby=0).cloud
    assert cloud is not None
    assert cloud.values.min() == found.lowest[1] / (2 * math.pi)
    answers = [robot, supple.modes(robot, position=[0.1, 0, 0.5], count=2), path, found]
    answers.append(supple.statics(robot, position=[0.1, 0, 0.5]))
    for answer in answers:
        json.dumps(scene_of(answer).to_dict(), allow_nan=False)
    with pytest.raises(SuppleError, match="int cannot be drawn"):
        scene_of(3)


def test_motions_are_drawn_by_round_factors() -> None:
    """At most a tenth of the extent, never smaller than they are."""
    sizes = [1e-6, 3e-5, 1e-3, 0.04, 0.2, 0.0]
    assert [well_seen(size, 1.0) for size in sizes] == [1e5, 2000, 100, 2, 1, 1]


def test_a_sweep_runs_along_the_one_coordinate_that_changes() -> None:
    theta = np.zeros((5, 3))
    theta[:, 1] = np.linspace(0, 1, 5)
    many = supple.modes(supple.load("industrial-3"), theta, count=2)
    track = sweep_scene(many).tracks[0]
    assert (track.name, track.unit) == ("joint of link2", "°")
    np.testing.assert_allclose(track.at, np.degrees(theta[:, 1]))
    theta[:, 2] = 0.1 * theta[:, 1]
    track = sweep_scene(supple.modes(many.robot, theta, count=2)).tracks[0]
    assert track.at.tolist() == [1, 2, 3, 4, 5]


def test_a_map_over_joints_has_its_dots_where_the_tip_is() -> None:
    robot = supple.load("industrial-3")
    found = supple.workspace(robot, joints=[0.2, (-1.0, 1.0), (0.0, 1.0)], points=3)
    cloud = workspace_scene(found, nearby=0).cloud
    assert cloud is not None
    theta = found.points().reshape(-1, 3)
    np.testing.assert_allclose(cloud.places, place(robot, theta).tip, atol=1e-12)
    np.testing.assert_allclose(cloud.values, found.omega[..., 0].ravel() / (2 * math.pi))


def test_rails_stand_where_the_legs_do() -> None:
    """Each rail is centred on its leg's D and lies along the leg's y, whatever the angles."""
    angles = [0.3, 2.0, 4.5]
    robot = supple.load("kuo-delta").with_(
        {"lower.rods": "parallelogram", "lower.spacing": 0.06, "angles": angles}
    )
    shapes = supple.modes(robot, position=[0, 0, 0.5], count=1)
    rails = [x for x in scene_of(shapes).solids if x.name.startswith("rail")]
    assert len(rails) == 3
    for rail, angle in zip(rails, angles, strict=True):
        c = np.cos(angle)
        s = np.sin(angle)
        assert rail.offset == pytest.approx((0.05 * c, 0.05 * s, 0.0))
        assert rail.axis == pytest.approx((-s, c, 0.0))


def test_a_link_with_stations_is_drawn_as_it_tapers():
    from supple.view.scene.drawing import draw_robot

    shape = {"shape": "box", "wall": 0.006}
    stations = [
        {"at": 0, "section": shape | {"depth": 0.8, "width": 0.6}},
        {"at": 6, "section": shape | {"depth": 0.2, "width": 0.3}},
    ]
    steel = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
    link = {"name": "boom", "length": 6, "material": steel, "stations": stations}
    (outline,), _ = draw_robot(supple.SerialRobot(name="boom", links=[link]), ("boom",))
    assert outline.real
    assert np.abs(outline.corners).max(axis=0) == pytest.approx([0.4, 0.3])
    assert outline.taper[0] == pytest.approx([1, 1])
    assert outline.taper[-1] == pytest.approx([0.25, 0.5])
    assert outline.taper[12] == pytest.approx([0.625, 0.75])


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta", "five-bar"])
def test_a_robot_on_springs_is_drawn_with_its_foundation(name: str) -> None:
    """One outline and one motion a link: a page drew nothing at all of such a robot."""
    springs = {"translation": [2e5, 3e5, 5e5], "rotation": [2e3, 1.5e3, 4e3], "mass": 8.0}
    plain = supple.load(name)
    robot = plain.with_("foundation", springs)
    where = {"position": [0.0, 0.0, 0.6]} if name == "kuo-delta" else {}
    found = supple.modes(robot, count=1, **where)
    scene = modes_scene(found)
    names = [link.name for link in scene.links]
    assert names.index("foundation") == 0
    assert names[1:] == [link.name for link in modes_scene(supple.modes(plain, **where)).links]
    assert scene.tracks[0].motion.shape[2] == len(scene.links) == len(scene.parents)
    stands = [solid.link for solid in scene.solids if solid.role == "base"]
    assert stands == [0]
    pins = {solid.name: solid.link for solid in scene.solids if solid.role == "joint"}
    assert all(names[k] in pin for pin, k in pins.items() if " of " in pin)


def test_a_cylinder_is_drawn_between_its_ends() -> None:
    """From the base to a place along the boom, as long as theta says; it was not drawn."""
    from supple.view.scene.posing import bend, rods

    boom = {"name": "boom", "joint": {"passive": True, "start": 0.5}, "length": 4.0}
    boom |= {"mass_per_length": 50.0, "bending_stiffness": 5e6}
    rod = {"name": "lift", "type": "distance", "motor": True, "length": 1.4}
    rod["ends"] = [{"link": "base", "mount": {"xyz": [0.5, -1.0, 0]}}, {"link": "boom", "at": 1.5}]
    whole = {"name": "crane", "planar": True, "links": [boom], "closures": [rod]}
    robot = supple.MechanismRobot.model_validate(whole)
    found = supple.modes(robot, [1.7], count=2)
    assert found.kind[0].endswith("%")  # one link, though it is computed in two pieces
    scene = scene_of(found)
    (drawn,) = [solid for solid in scene.solids if solid.kind == "rod"]
    motion = scene.tracks[0].motion[0, 0]
    for scale in (0.0, 1e-3):  # its length does not change to first order, as it is held
        centre, _, length = rods([drawn], bend(scene.tracks[0], 0, motion, scale))
        assert length == pytest.approx([1.7], abs=1e-5)
    run = supple.simulate(supple.build(robot, supple.AssumedModes(1)), theta0=[1.7], duration=0.01)
    still = scene_of(run).tracks[0]
    (drawn,) = [solid for solid in scene_of(run).solids if solid.kind == "rod"]
    centre, _, length = rods([drawn], bend(still, 0, still.motion[0, 0], 0.0))
    assert length == pytest.approx([1.7], abs=1e-6)
    assert centre[0, 1] > -1.0
