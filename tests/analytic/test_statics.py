"""Sag and compliance against closed forms, symmetry, and the stiffness the modes see."""

import math

import numpy as np
import pytest

import supple
from supple.robot import SerialRobot
from supple.sections import Rectangle

E = 2.1e11
NU = 0.3
RHO = 7800.0
G = E / (2 * (1 + NU))
L, H, B = 1.3, 0.02, 0.03  # length, depth (y), width (z)
MATERIAL = {"young_modulus": E, "poisson_ratio": NU, "density": RHO}
SECTION = {"shape": "rectangle", "depth": H, "width": B}


def beam(theory="timoshenko", joint=None, gravity=(0, 0, -9.81), **link):
    return SerialRobot(
        name="beam",
        gravity=gravity,
        links=[
            {
                "name": "beam",
                "length": L,
                "material": MATERIAL,
                "section": SECTION,
                "theory": theory,
                "joint": joint or {},
                **link,
            }
        ],
    )


A = H * B
I_Z = B * H**3 / 12
I_Y = H * B**3 / 12
KAPPA = 10 * (1 + NU) / (12 + 11 * NU)


def test_uniform_weight_with_shear():
    """w = q L^4 / 8 EI + q L^2 / 2 kappa G A."""
    q = RHO * A * 9.81
    sag = supple.statics(beam(), [0.4])
    expected = q * L**4 / (8 * E * I_Y) + q * L**2 / (2 * KAPPA * G * A)
    # across: rounding of gravity turned into link axes, some eps of the sag
    assert sag.tip_displacement == pytest.approx([0, 0, -expected], rel=1e-12, abs=1e-14 * expected)
    assert sag.root_force[0] == pytest.approx([0, 0, q * L], abs=1e-9)
    assert sag.root_moment[0] == pytest.approx([0, -q * L**2 / 2, 0], abs=1e-9)


def test_sag_curve_of_a_cantilever():
    """w(x) = -q x^2 (6 L^2 - 4 L x + x^2) / 24 EI."""
    q = RHO * A * 9.81
    sag = supple.statics(beam("euler-bernoulli"), [0.0], points=11)
    x = sag.x[0]
    exact = -q * x**2 * (6 * L**2 - 4 * L * x + x**2) / (24 * E * I_Y)
    assert sag.displacement[0, :, 2] == pytest.approx(exact, abs=1e-15)


def test_compliance_of_a_cantilever():
    C = supple.statics(beam(), [0.0]).compliance
    expected = np.zeros((6, 6))
    expected[0, 0] = L / (E * A)
    expected[1, 1] = L**3 / (3 * E * I_Z) + L / (KAPPA * G * A)
    expected[2, 2] = L**3 / (3 * E * I_Y) + L / (KAPPA * G * A)
    expected[1, 5] = expected[5, 1] = L**2 / (2 * E * I_Z)
    expected[2, 4] = expected[4, 2] = -(L**2) / (2 * E * I_Y)
    J_t = Rectangle(depth=H, width=B).constants().J_t
    expected[3, 3] = L / (G * J_t)
    expected[4, 4] = L / (E * I_Y)
    expected[5, 5] = L / (E * I_Z)
    assert pytest.approx(expected, rel=1e-12, abs=1e-18) == C


def test_motor_spring_adds_its_own_turn():
    stiff = supple.statics(beam(), [0.0]).compliance
    sprung = supple.statics(beam(joint={"stiffness": 400.0}), [0.0]).compliance
    assert sprung[1, 1] - stiff[1, 1] == pytest.approx(L**2 / 400, rel=1e-12)
    assert sprung[5, 5] - stiff[5, 5] == pytest.approx(1 / 400, rel=1e-12)
    assert sprung[2, 2] == pytest.approx(stiff[2, 2], rel=1e-12)


def test_tip_load_turns_with_the_arm():
    """The same load in link axes gives the same sag in link axes, whatever the pose."""
    force = np.array([3.0, -2.0, 5.0])
    angle = 1.1
    c = math.cos(angle)
    s = math.sin(angle)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    plain = supple.statics(beam(gravity=(0, 0, 0)), [0.0], force=force)
    turned = supple.statics(beam(gravity=(0, 0, 0)), [angle], force=R @ force)
    assert turned.tip_displacement == pytest.approx(R @ plain.tip_displacement, rel=1e-12)


def spatial_arm():
    rng = np.random.default_rng(5)
    links = [
        {
            "name": f"link{i}",
            "length": 0.6 + 0.2 * i,
            "material": MATERIAL,
            "section": SECTION,
            "roll": 0.4 * i,
            "theory": ("timoshenko", "rigid", "inextensible")[i],
            "tip": {"mass": 0.5, "com": [0.1, 0.05, 0.02]},
            "joint": {
                "axis": list(rng.normal(size=3)),
                "stiffness": 800.0,
                "mount": {"xyz": [0.1, 0.2, 0.3], "rpy": [0.1, 0.2, 0.3]},
                "hub": {"mass": 0.3, "com": [0, 0.02, 0]},
            },
        }
        for i in range(3)
    ]
    return SerialRobot(name="spatial", gravity=(1, 2, -9.81), links=links)


def test_compliance_is_symmetric_and_superposes():
    robot = spatial_arm()
    theta = [0.3, -0.8, 1.2]
    load = np.array([1.0, -2.0, 3.0, 0.1, 0.2, -0.3])
    bare = supple.statics(robot, theta)
    loaded = supple.statics(robot, theta, force=load[:3], moment=load[3:])
    C = bare.compliance
    assert pytest.approx(C.T, rel=1e-9, abs=1e-15) == C
    assert np.linalg.eigvalsh(C).min() > 0
    change = np.concatenate(
        [
            loaded.tip_displacement - bare.tip_displacement,
            loaded.tip_rotation - bare.tip_rotation,
        ]
    )
    assert change == pytest.approx(C @ load, rel=1e-9)


def test_sag_by_virtual_work():
    """The tip's fall under gravity is what a unit tip load does on the weights (Maxwell, Betti)."""
    robot = spatial_arm()
    theta = [0.3, -0.8, 1.2]
    g = np.array(robot.gravity)
    sag = supple.statics(robot, theta, points=401)
    unit = supple.statics(robot, theta, force=[0, 0, 1], gravity=[0, 0, 0], points=401)
    base = supple.statics(robot, theta, gravity=[0, 0, 0])
    assert base.tip_displacement == pytest.approx(0, abs=1e-18)
    work = 0.0
    for i, link in enumerate(robot.links):
        m = RHO * A
        along = unit.displacement[i] @ g
        work += m * np.trapezoid(along, unit.x[i])
        R = _axes(sag, i)
        for body, end in ((link.tip, -1), (link.joint.hub, 0)):
            turn = _rotation(unit, i, end)
            moved = unit.displacement[i, end] + np.cross(turn, R @ np.array(body.com))
            work += body.mass * moved @ g
    assert sag.tip_displacement[2] == pytest.approx(work, rel=1e-5)


def _axes(sag, i):
    from supple.architectures.serial import place

    return place(sag.robot, sag.theta).R[0, i]


def _rotation(sag, i, end):
    """Rotation of a section in base axes, from a unit-load answer's own structure."""
    from supple.assembly import coordinates, exact_ends
    from supple.structure import structure_of
    from supple.studies.vibration.shapes import dynamic_stiffness

    structure = structure_of(sag.robot, sag.theta)
    z = coordinates(structure, exact_ends(structure))
    R = structure.R[0]
    tip = np.kron(np.eye(2), R[-1]) @ z.end[-1]
    moved = np.linalg.solve(dynamic_stiffness(structure, z, 0.0), tip.T[:, 2])
    return R[i] @ ((z.end if end else z.root)[i] @ moved)[3:]


def test_static_stiffness_is_the_low_frequency_limit():
    """Rayleigh: a light cantilever adds 33/140 of its mass to a heavy payload's."""
    robot = beam("euler-bernoulli").with_("payload.mass", 1e6)
    sag = supple.statics(robot, [0.0], gravity=[0, 0, 0])
    found = supple.modes(robot, [0.0], count=2)
    stiffness = 1 / np.array([sag.compliance[1, 1], sag.compliance[2, 2]])
    mass = 1e6 + 33 / 140 * RHO * A * L
    assert found.omega**2 * mass == pytest.approx(np.sort(stiffness), rel=1e-10)


def test_many_configurations():
    theta = np.linspace(-1, 1, 5)[:, None]
    many = supple.statics(beam(), theta)
    assert many.tip_displacement.shape == (5, 3)
    assert many.compliance.shape == (5, 6, 6)
    one = supple.statics(beam(), theta[2])
    assert many.compliance[2] == pytest.approx(one.compliance)


def test_rigid_robot_does_not_sag():
    sag = supple.statics(beam("rigid"), [0.0])
    assert not sag.tip_displacement.any()
    assert not sag.compliance.any()


@pytest.mark.parametrize("bad", [[1, 2], [1, 2, math.nan], "abc"])
def test_bad_force(bad):
    with pytest.raises(ValueError, match="force"):
        supple.statics(beam(), [0.0], force=bad)


def test_delta_sags_straight_down_on_its_axis():
    robot = supple.load("kuo-delta")
    sag = supple.statics(robot, position=[0, 0, 0.5])
    assert sag.tip_displacement[:2] == pytest.approx([0, 0], abs=1e-12)
    assert sag.tip_displacement[2] > 0
    assert sag.compliance[0, 0] == pytest.approx(sag.compliance[1, 1], rel=1e-9)
    rounding = 1e-12 * np.abs(sag.compliance).max()
    assert pytest.approx(sag.compliance, rel=1e-9, abs=rounding) == sag.compliance.T


@pytest.mark.parametrize("roll", ["0deg", "35deg"])
def test_strain_energy_is_half_force_times_deflection(roll):
    """Clapeyron: an arm bent by a tip load alone stores half of what the load works."""
    links = [
        {"name": "a", "length": 0.6, "material": MATERIAL, "section": SECTION, "roll": roll},
        {"name": "b", "length": 0.5, "material": MATERIAL, "section": SECTION, "roll": roll,
         "joint": {"axis": [0, 1, 0]}, "theory": "euler-bernoulli"},
    ]  # fmt: skip
    arm = SerialRobot(name="arm", links=links)
    force = np.array([30.0, -20.0, 50.0])
    moment = np.array([2.0, 3.0, -1.0])
    sag = supple.statics(arm, [0.3, 0.8], force, moment, gravity=(0, 0, 0), points=801)
    work = (force @ sag.tip_displacement + moment @ sag.tip_rotation) / 2
    assert sag.strain_energy.sum() == pytest.approx(work, rel=1e-12)
    along = np.trapezoid(sag.energy, sag.x, axis=-1)  # what is drawn, by another rule
    np.testing.assert_allclose(along, sag.strain_energy, rtol=1e-5)
    np.testing.assert_allclose(sag.rotation[-1, -1], sag.tip_rotation, rtol=1e-12)


def test_strain_energy_of_a_cantilever_under_its_weight():
    """Euler-Bernoulli: M = q (L - x)^2 / 2 stores q^2 L^5 / 40 EI; its end turns q L^3 / 6 EI."""
    sag = supple.statics(beam("euler-bernoulli"), [0.0])
    q = 9.81 * RHO * A
    EI = E * I_Y
    assert sag.strain_energy[0] == pytest.approx(q**2 * L**5 / (40 * EI), rel=1e-12)
    np.testing.assert_allclose(sag.rotation[0, -1], [0, q * L**3 / (6 * EI), 0], atol=1e-15)
    top = (q * L**2 / 2) ** 2 / (2 * EI)
    assert sag.energy[0, 0] == pytest.approx(top, rel=1e-12)
