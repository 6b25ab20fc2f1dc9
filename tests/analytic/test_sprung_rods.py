"""Rods that give way, `closures: stiffness`: closed forms, and the same rod written as links."""

import json
import math

import numpy as np
import pytest

import supple

STIFFNESS = 4e6  # N/m
BASE_END = (0.2, -0.8)  # m, where the cylinder stands
ALONG_BOOM = 1.2  # m, where it holds the boom
ROD_LENGTH = 1.5  # m
BOOM_LENGTH = 3.0  # m


def mechanism(links: list[dict], closures: list[dict]) -> supple.Robot:
    """Return a planar robot under gravity that carries 200 kg at the end of its boom."""
    description = {
        "supple": 1,
        "name": "boom",
        "architecture": "mechanism",
        "planar": True,
        "gravity": [0, -9.81, 0],
        "links": links,
        "closures": closures,
        "tip": "boom",
        "payload": {"mass": 200},
    }
    return supple.loads(json.dumps(description))


def boom(rod: dict | None = None, **link) -> supple.Robot:
    """Return a boom on a hinge, held by a rod between the base and a place along it."""
    own = {"theory": "rigid", "mass_per_length": 40} | link
    own |= {"name": "boom", "parent": "base", "length": BOOM_LENGTH}
    own["joint"] = {"type": "revolute", "passive": True, "start": "20deg"}
    cylinder = {
        "name": "cylinder",
        "type": "distance",
        "ends": [
            {"link": "base", "mount": {"xyz": [*BASE_END, 0]}},
            {"link": "boom", "at": ALONG_BOOM},
        ],
        "length": ROD_LENGTH,
        "stiffness": STIFFNESS,
    }
    return mechanism([own], [cylinder | (rod or {})])


def boom_on_a_link(spring: float = STIFFNESS, **link) -> supple.Robot:
    """Return the same boom on a massless link that slides through a hinge against a spring."""
    own = {"theory": "rigid", "mass_per_length": 40} | link
    own |= {"name": "boom", "parent": "base", "length": BOOM_LENGTH}
    hinge, _ = geometry()
    own["joint"] = {"type": "revolute", "passive": True, "start": hinge}
    end = ALONG_BOOM * np.array([math.cos(hinge), math.sin(hinge)])
    aim = math.atan2(end[1] - BASE_END[1], end[0] - BASE_END[0])
    turning = {"type": "revolute", "passive": True, "start": aim, "mount": {"xyz": [*BASE_END, 0]}}
    barrel = {"name": "barrel", "parent": "base", "joint": turning, "theory": "rigid", "length": 0}
    sliding = {"type": "prismatic", "passive": True, "start": ROD_LENGTH, "stiffness": spring}
    piston = {"name": "piston", "joint": sliding, "theory": "rigid", "length": 3.0}
    tie = {"ends": ["piston", {"link": "boom", "at": ALONG_BOOM}], "type": "revolute"}
    light = {"mass_per_length": 1e-9}
    return mechanism([own, barrel, piston | light], [tie])


def geometry() -> tuple[float, float]:
    """Angle of the boom, by the law of cosines, and lever arm of the rod about its hinge."""
    base = math.hypot(*BASE_END)
    aim = math.atan2(BASE_END[1], BASE_END[0])
    cosine = (ALONG_BOOM**2 + base**2 - ROD_LENGTH**2) / (2 * ALONG_BOOM * base)
    hinge = aim + math.acos(cosine)
    return hinge, ALONG_BOOM * base * math.sin(hinge - aim) / ROD_LENGTH


INERTIA = 40 * BOOM_LENGTH**3 / 3 + 200 * BOOM_LENGTH**2  # kg m2, about the hinge
STEEL = {"mass_per_length": 40, "bending_stiffness": 6e6, "axial_stiffness": 1e9}
BENDS = {"theory": "euler-bernoulli", **STEEL}


@pytest.mark.parametrize("method", ["exact", "elements"])
def test_frequency_of_a_rigid_boom(method: str) -> None:
    _, lever = geometry()
    expected = math.sqrt(STIFFNESS * lever**2 / INERTIA)
    found = supple.modes(boom(), count=1, method=method)
    assert found.omega[0] == pytest.approx(expected, rel=1e-12)
    assert found.rigid_modes == 0


def test_sag_of_a_rigid_boom() -> None:
    hinge, lever = geometry()
    moment = (40 * BOOM_LENGTH**2 / 2 + 200 * BOOM_LENGTH) * 9.81 * math.cos(hinge)
    turned = -moment / (STIFFNESS * lever**2)
    expected = BOOM_LENGTH * turned * np.array([-math.sin(hinge), math.cos(hinge), 0])
    found = supple.statics(boom())
    np.testing.assert_allclose(found.tip_displacement, expected, rtol=1e-11, atol=1e-15)


def test_model_of_a_rigid_boom() -> None:
    """One coordinate, the extension; its mass is the boom's inertia over the lever's square."""
    _, lever = geometry()
    model = supple.build(boom())
    assert model.coordinate_map.names == ("eps.cylinder",)
    assert model.stiffness == pytest.approx(np.array([[STIFFNESS]]))
    mass = model.mass_matrix(np.zeros(1))[0, 0]
    assert mass == pytest.approx(INERTIA / lever**2, rel=1e-12)
    run = supple.simulate(model, q0=[1e-3], duration=0.5)
    assert np.ptp(run.energy) <= 1e-9 * STIFFNESS * 1e-6
    held = supple.simulate(model, q0="static", duration=0.2)
    assert np.ptp(held.q) <= 1e-12


def test_boom_that_bends_on_a_rod_and_on_a_link() -> None:
    """The rod as a link that slides against a spring: other parts, the same answers."""
    rod = boom(**BENDS)
    link = boom_on_a_link(**BENDS)
    for count in (1, 4):
        one, other = (supple.modes(robot, count=count).omega for robot in (rod, link))
        np.testing.assert_allclose(one, other, rtol=1e-9)
    sags = [supple.statics(robot).tip_displacement for robot in (rod, link)]
    np.testing.assert_allclose(sags[0], sags[1], rtol=1e-9, atol=1e-15)
    finer = supple.modes(rod, count=2, method="elements", elements=30).omega  # both bend
    np.testing.assert_allclose(finer, supple.modes(rod, count=2).omega, rtol=1e-6)


PUSH = [0.0, -500.0, 0.0]  # N, on the tip, from the first instant


def test_models_on_a_rod_and_on_a_link_move_alike() -> None:
    basis = supple.AssumedModes(2)
    rod, link = (supple.build(robot(**BENDS), basis) for robot in (boom, boom_on_a_link))
    runs = [supple.simulate(model, q0="static", duration=0.3, wrench=PUSH) for model in (rod, link)]
    np.testing.assert_allclose(runs[0].tip, runs[1].tip, atol=2e-8)
    assert np.ptp(runs[0].tip, axis=0).max() > 1e-3


def test_a_stiff_rod_is_a_rigid_one() -> None:
    stiff = boom({"stiffness": 1e18}, **BENDS)  # a billion times EA/L of the boom
    rigid = boom({"stiffness": None}, **BENDS)
    one, other = (supple.modes(robot, count=4).omega for robot in (stiff, rigid))
    np.testing.assert_allclose(one, other, rtol=1e-8)


def test_driven_rod_with_a_spring() -> None:
    """Locked: the spring alone. Free: rotor and boom swing against each other on the spring."""
    _, lever = geometry()
    rotor = 900.0
    driven = boom({"motor": True, "rotor_inertia": rotor})
    locked = supple.modes(driven, [ROD_LENGTH], count=1)
    assert locked.omega[0] == pytest.approx(math.sqrt(STIFFNESS * lever**2 / INERTIA), rel=1e-12)
    felt = INERTIA / lever**2
    free = supple.modes(driven, [ROD_LENGTH], count=1, joints="free")
    expected = math.sqrt(STIFFNESS * (1 / felt + 1 / rotor))
    assert free.rigid_modes == 1
    assert free.omega[0] == pytest.approx(expected, rel=1e-12)
    model = supple.build(driven)
    assert model.coordinate_map.names == ("theta.cylinder", "eps.cylinder")
    mass = model.mass_matrix(model.chain.pose())
    np.testing.assert_allclose(mass, [[felt + rotor, felt], [felt, felt]], rtol=1e-12)
    poles = np.sort(np.abs(supple.linearize(model, model.chain.pose()).poles))
    assert poles[-1] == pytest.approx(expected, rel=0.02)  # gravity turns with the boom


def test_damped_rod_rings_down() -> None:
    _, lever = geometry()
    felt = INERTIA / lever**2
    ratio = 0.05
    damping = 2 * ratio * math.sqrt(STIFFNESS * felt)
    weightless = boom({"damping": damping}).with_("gravity", [0, 0, 0])
    model = supple.build(weightless)
    poles = supple.linearize(model, [0.0]).poles
    np.testing.assert_allclose(-poles.real / np.abs(poles), ratio, rtol=1e-9)


@pytest.mark.parametrize(
    ("rod", "words"),
    [
        ({"type": "revolute", "length": None}, "stiffness is for distance closures"),
        ({"stiffness": None, "damping": 3.0}, "give stiffness"),
        ({"rotor_inertia": 3.0}, "motor: true"),
        ({"stiffness": -1.0}, "stiffness"),
    ],
)
def test_faults(rod: dict, words: str) -> None:
    with pytest.raises(supple.RobotError, match=words):
        boom(rod)


def test_build_of_a_driven_rod_needs_a_mass() -> None:
    with pytest.raises(supple.SuppleError, match="rotor_inertia"):
        supple.build(boom({"motor": True}))


@pytest.mark.parametrize("to", ["mujoco", "exudyn", "urdf", "sdf"])
def test_exporters_without_rods_say_so(to: str, tmp_path) -> None:
    with pytest.raises(supple.SuppleError, match=r"closure|loop"):
        supple.export(boom(**BENDS), to=to, path=tmp_path / "boom")
