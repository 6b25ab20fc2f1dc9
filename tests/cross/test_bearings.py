"""Bearings and foundations: modes and sags against polynomials, springs by hand, OpenSees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import supple
from cross.ritz import Beam, Ritz, skew
from supple.kernels.spatial import axis_rotation, rpy_rotation
from supple.studies.design import stopband
from supple.studies.design.band_edge import BandEdge

LINK = {
    "length": 1.2,
    "theory": "euler-bernoulli",
    "mass_per_length": 8.0,
    "bending_stiffness": [9e4, 5e4],
    "axial_stiffness": 4e7,
    "torsional_stiffness": 3e4,
    "polar_inertia_per_length": 0.02,
    "rotary_inertia_per_length": 0.0,
}
BEAM = {"L": 1.2, "EA": 4e7, "EI": (9e4, 5e4), "GJ": 3e4, "m": 8.0, "rIp": 0.02}
NAN = np.nan


def full_matrix() -> np.ndarray:
    A = np.random.default_rng(1).normal(size=(6, 6))
    S = np.diag([1e4, 1e4, 1e4, 8e2, 8e2, 8e2])
    return S @ (A @ A.T + 3 * np.eye(6)) @ S


def arm(**changes: object) -> supple.SerialRobot:
    """Two links in space, mounted askew; joint 1 sprung on a bearing, joint 2 on a full matrix."""
    first = {
        "axis": [0, 0, 1],
        "stiffness": 1e5,
        "mount": {"xyz": [0.1, 0, 0.3], "rpy": [0.2, 0.3, -0.4]},
        "bearing": {"translation": [1e8, 2e7, None], "rotation": [2e5, None, 3e5]},
    }
    second = {
        "axis": [0, 1, 1],
        "mount": {"rpy": [0, 0.5, 0.1]},
        "hub": {"mass": 2, "inertia": [0.1, 0.1, 0.2]},
        "bearing": {"matrix": full_matrix().tolist()},
    }
    tip = {"mass": 3, "inertia": [0.1, 0.2, 0.3], "com": [0.05, 0, 0.02]}
    robot = supple.SerialRobot(
        name="on-springs",
        gravity=(1.0, -2.0, -9.81),
        foundation={
            "translation": [2e7, 3e7, None],
            "rotation": [6e5, 4e5, 5e5],
            "mass": 40,
            "inertia": [3, 2, 4],
        },
        links=[
            supple.Link(name="one", joint=first, tip=tip, **LINK),
            supple.Link(name="two", joint=second, **LINK),
        ],
        payload={"mass": 4},
    )
    return robot.with_(changes) if changes else robot


def by_polynomials(theta: tuple[float, float]) -> tuple[Ritz, np.ndarray]:
    """The same arm by energies, and its tip's motion (6, N)."""
    M1 = rpy_rotation([0.2, 0.3, -0.4])
    R1 = M1 @ axis_rotation([0, 0, 1], theta[0])
    p1 = np.array([0.1, 0, 0.3])
    M2 = R1 @ rpy_rotation([0, 0.5, 0.1])
    R2 = M2 @ axis_rotation(np.array([0, 1, 1]) / np.sqrt(2), theta[1])
    r = Ritz([Beam(R1, p1, **BEAM), Beam(R2, p1 + 1.2 * R1[:, 0], **BEAM)], frames=2)
    r.join(r.ground(), r.frame(0), np.eye(3), np.diag([2e7, 3e7, NAN, 6e5, 4e5, 5e5]))
    r.body(r.frame(0), np.eye(3), 40, inertia=np.diag([3, 2, 4]))
    T = np.eye(6)
    T[:3, 3:] = -skew(p1)
    r.join(T @ r.frame(0), r.frame(1), M1, np.diag([1e8, 2e7, NAN, 2e5, NAN, 3e5]))
    r.join(r.frame(1), r.beams[0].motion(0, r.N), M1, np.diag([NAN] * 5 + [1e5]))
    end = r.beams[0].motion(1.2, r.N)
    r.body(end, R1, 3, [0.05, 0, 0.02], np.diag([0.1, 0.2, 0.3]))
    root = r.beams[1].motion(0, r.N)
    r.join(end, root, M2, full_matrix())
    r.body(root, R2, 2, inertia=np.diag([0.1, 0.1, 0.2]))
    tip = r.beams[1].motion(1.2, r.N)
    r.body(tip, R2, 4)
    return r, tip


@pytest.mark.parametrize("theta", [(0.0, 0.0), (0.4, -0.7), (2.1, 1.3)])
def test_modes_and_statics_against_polynomials(theta: tuple[float, float]) -> None:
    robot, (r, tip) = arm(), by_polynomials(theta)
    found = supple.modes(robot, theta, count=10)
    assert found.certified
    np.testing.assert_allclose(found.omega, r.modes(10), rtol=1e-9)
    load = np.array([10, 20, 30, 1, 2, 3.0])
    sag = supple.statics(robot, theta, force=load[:3], moment=load[3:])
    moved = tip @ r.sag(robot.gravity, load, tip)
    np.testing.assert_allclose(sag.moved, moved, rtol=1e-9, atol=1e-12)
    assert sag.names == ("foundation", "one", "two")
    np.testing.assert_allclose(
        sag.displacement[0, 0], (r.frame(0) @ r.sag(robot.gravity, load, tip))[:3], atol=1e-14
    )


def test_a_batch_and_the_other_methods() -> None:
    robot = arm()
    poses = np.array([[0.0, 0.0], [0.4, -0.7], [2.1, 1.3]])
    many = supple.modes(robot, poses, count=6)
    for row, pose in zip(many.omega, poses, strict=True):
        assert np.array_equal(row, supple.modes(robot, pose, count=6).omega)
    elements = supple.modes(
        robot, poses[1], count=6, method="elements", elements=6, order="quintic"
    )
    np.testing.assert_allclose(elements.omega, many.omega[1], rtol=1e-9)
    assert (elements.omega >= many.omega[1] * (1 - 1e-12)).all()
    few, more = (
        supple.modes(robot, poses[1], count=6, method="assumed", elements=n).omega for n in (3, 8)
    )
    assert (np.abs(more / many.omega[1] - 1) < np.abs(few / many.omega[1] - 1) + 1e-9).all()
    np.testing.assert_allclose(more, many.omega[1], rtol=2e-3)


def cantilever_on(k: float, c: float) -> list[float]:
    """b of the first roots of a uniform beam, root on springs k (along y) and c (about z).

    v = A cos + B sin + C cosh + D sinh with EI v''' = -k v and EI v'' = c v' at the root (EI = L
    = m = 1) and a free end: the determinant of these four conditions.
    """

    def det(b: float) -> float:
        cb = np.cos(b)
        sb = np.sin(b)
        ch = np.cosh(b)
        sh = np.sinh(b)
        rows = [
            [k, -(b**3), k, b**3],
            [-(b**2), -c * b, b**2, -c * b],
            [-cb, -sb, ch, sh],
            [sb, -cb, sh, ch],
        ]
        return float(
            np.linalg.det(np.array(rows) / np.array([1, 1, np.exp(b), np.exp(b)])[:, None])
        )

    grid = np.linspace(0.05, 9, 2000)
    values = [det(b) for b in grid]
    pairs = [
        (a, b) for a, b, x, y in zip(grid, grid[1:], values, values[1:], strict=False) if x * y < 0
    ]
    return [brentq(det, a, b, xtol=1e-15, rtol=1e-14) for a, b in pairs]


@pytest.mark.parametrize("where", ["bearing", "foundation"])
@pytest.mark.parametrize(("k", "c"), [(20.0, 3.0), (500.0, 0.4), (3.0, 90.0)])
def test_a_beam_on_two_springs_in_closed_form(where: str, k: float, c: float) -> None:
    """x, y and the rotation about z of a planar arm; the other springs do nothing."""
    springs = {"translation": [None, k, 7.0], "rotation": [1.0, 2.0, c]}
    joint = {"bearing": springs} if where == "bearing" else {}
    robot = supple.SerialRobot(
        name="one",
        planar=True,
        foundation=springs if where == "foundation" else None,
        links=[
            {
                "name": "one",
                "joint": joint,
                "length": 1.0,
                "theory": "euler-bernoulli",
                "mass_per_length": 1.0,
                "bending_stiffness": 1.0,
            }
        ],
    )
    roots = cantilever_on(k, c)[:3]
    found = supple.modes(robot, [0.0], count=len(roots))
    assert found.certified
    np.testing.assert_allclose(found.omega, np.square(roots), rtol=1e-10)


def stiffened(factor: float) -> supple.SerialRobot:
    six = {"translation": [1e8, 2e7, 3e7], "rotation": [2e5, 4e5, 3e5]}
    larger = {key: [factor * x for x in three] for key, three in six.items()}
    return arm(
        **{
            "links.one.joint.bearing": larger,
            "links.two.joint.bearing": {"matrix": (factor * full_matrix()).tolist()},
            "foundation": {**larger, "mass": 40, "inertia": [3, 2, 4]},
        }
    )


def test_stiff_springs_come_to_rigid_ones_as_one_over_k() -> None:
    """omega(k) = omega(rigid) (1 - c / k + ..): a hundred times as stiff, a hundredth of it."""
    theta = (0.4, -0.7)
    rigid = arm(
        **{"links.one.joint.bearing": None, "links.two.joint.bearing": None, "foundation": None}
    )
    wanted = supple.modes(rigid, theta, count=6).omega
    off = [1 - supple.modes(stiffened(f), theta, count=6).omega / wanted for f in (1e3, 1e5)]
    assert (off[0] > 0).all()
    np.testing.assert_allclose(off[0] / off[1], 100.0, rtol=0.05)
    sag = [supple.statics(robot, theta).moved for robot in (rigid, stiffened(1e3), stiffened(1e5))]
    np.testing.assert_allclose((sag[1] - sag[0]) / (sag[2] - sag[0]), 100.0, rtol=1e-3)
    silent = arm(
        **{"links.one.joint.bearing": {}, "links.two.joint.bearing": None, "foundation.mass": 9.0}
    ).with_({"foundation.translation": None, "foundation.rotation": None})
    np.testing.assert_allclose(supple.modes(silent, theta, count=6).omega, wanted, rtol=1e-10)


def test_springs_in_series_by_hand() -> None:
    """A rigid rod under a tip force: what joint, bearing and foundation add, each alone."""
    L = 2.0
    F = 30.0
    k = 4e5
    c = 7e4
    k_f = 2e6
    c_f = 3e5
    joint = 5e4
    robot = supple.SerialRobot(
        name="rod",
        planar=True,
        foundation={"translation": [1e9, k_f, None], "rotation": [None, None, c_f]},
        links=[
            {
                "name": "rod",
                "theory": "rigid",
                "length": L,
                "mass_per_length": 3.0,
                "joint": {
                    "mount": {"xyz": [0.5, 0, 0]},
                    "stiffness": joint,
                    "bearing": {"translation": [None, k, None], "rotation": [None, None, c]},
                },
            }
        ],
    )
    sag = supple.statics(robot, [0.0], force=[0, F, 0])
    turned = F * L / joint + F * L / c + F * (L + 0.5) / c_f
    fallen = F / k + F / k_f + F * L**2 * (1 / joint + 1 / c) + F * (L + 0.5) ** 2 / c_f
    np.testing.assert_allclose(sag.tip_rotation, [0, 0, turned], rtol=1e-12)
    np.testing.assert_allclose(sag.tip_displacement, [0, fallen, 0], rtol=1e-12)
    np.testing.assert_allclose(sag.compliance[1, 1], fallen / F, rtol=1e-12)
    # joint and bearing have nothing between them: of five springs four carry mass (x along the
    # rod, y, the turn of the rod), the foundation has none of its own, so three modes are left
    found = supple.modes(robot, [0.0], count=10)
    assert len(found.omega) == 3


def test_response_stands_on_the_same_springs() -> None:
    robot = arm()
    theta = (0.4, -0.7)
    found = supple.response(
        robot, theta, np.array([1e-6, 60.0]), inputs=["force.z"], outputs=["tip.z"], joints="locked"
    )
    still = supple.statics(robot, theta).compliance[2, 2]
    np.testing.assert_allclose(found.values[0, 0, 0].real, still, rtol=1e-9)
    omega = supple.modes(robot, theta, count=7).omega
    below = omega[omega < 2 * np.pi * 60]
    np.testing.assert_allclose(found.poles.imag, below, rtol=1e-12)


def test_opensees_with_zero_length_elements() -> None:
    """The same cubic elements and springs in OpenSees: equal to 1e-8."""
    from bench.opensees import opensees

    ops = opensees()
    if ops is None:
        pytest.skip("openseespy is not here")
    n = 4
    mass = 3.0
    inertia = 0.2
    theta = 0.6
    foundation = [2e7, 3e7, 4e7, 6e5, 4e5, 5e5]
    bearing = [1e8, 2e7, 5e7, 2e5, 6e5, 3e5]
    robot = supple.SerialRobot(
        name="one",
        foundation={
            "translation": foundation[:3],
            "rotation": foundation[3:],
            "mass": 40,
            "inertia": [3, 2, 4],
        },
        links=[
            supple.Link(
                name="one",
                joint={"bearing": {"translation": bearing[:3], "rotation": bearing[3:]}},
                tip={"mass": mass, "inertia": [inertia] * 3},
                **LINK,
            )
        ],
    )
    ops.wipe()
    ops.model("basic", "-ndm", 3, "-ndf", 6)
    for node in (0, 1, 2):
        ops.node(node, 0.0, 0.0, 0.0)
    ops.fix(0, *[1] * 6)
    for tag, k in enumerate(foundation + bearing, start=1):
        ops.uniaxialMaterial("Elastic", tag, k)
    ops.element("zeroLength", 1, 0, 1, "-mat", *range(1, 7), "-dir", *range(1, 7))
    ops.element("zeroLength", 2, 1, 2, "-mat", *range(7, 13), "-dir", *range(1, 7))
    ops.mass(1, 40, 40, 40, 3, 2, 4)
    along = np.array([np.cos(theta), np.sin(theta), 0.0])
    ops.geomTransf("Linear", 1, 0.0, 0.0, 1.0)
    G = BEAM["GJ"] * BEAM["m"] / BEAM["rIp"]  # the polar inertia is m J / A
    numbers = (
        1.0,
        BEAM["EA"],
        G,
        BEAM["GJ"] / G,
        BEAM["EI"][1] / BEAM["EA"],
        BEAM["EI"][0] / BEAM["EA"],
    )
    for k in range(1, n + 1):
        ops.node(2 + k, *(along * 1.2 * k / n).tolist())
        ops.element(
            "elasticBeamColumn", 2 + k, 1 + k, 2 + k, *numbers, 1, "-mass", BEAM["m"], "-cMass"
        )
    ops.mass(2 + n, mass, mass, mass, inertia, inertia, inertia)
    theirs = np.sqrt(np.array(ops.eigen("-fullGenLapack", 6)))
    ours = supple.modes(robot, [theta], count=6, method="elements", elements=n)
    np.testing.assert_allclose(ours.omega, theirs, rtol=1e-8)


def test_a_stopband_turns_the_bearings_with_the_arm() -> None:
    """Springs of joint two stay in its mounted axes: what is proven holds at every pose."""
    robot = arm(
        **{
            "links.one.joint.bearing": {"rotation": [3e3, 4e4, None]},
            "links.two.joint.bearing": {"rotation": [2e3, 6e4, None]},
        }
    )
    over = {"theta.one": (0.2, 1.4), "theta.two": (-1.3, -0.2)}
    rng = np.random.default_rng(3)
    poses = np.column_stack([rng.uniform(*over[key], 40) for key in over])
    hertz = supple.modes(robot, poses, count=8).frequency_hz
    for f in (6.0, 25.0, 60.0):
        edge = BandEdge(robot, stopband._parse_box(robot, over, None), 2 * np.pi * f)
        count, _ = edge.count_and_shares(poses, np.zeros_like(poses))
        assert np.array_equal(count, (hertz < f).sum(axis=1))
    gaps = [(hertz[:, k].max(), hertz[:, k + 1].min()) for k in range(5)]
    low, high = max(gaps, key=lambda gap: gap[1] / gap[0])
    width = high - low
    assert supple.stopband(robot, (low + 0.4 * width, high - 0.4 * width), over=over).free
