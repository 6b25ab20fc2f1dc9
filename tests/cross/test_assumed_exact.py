"""Bases against exact beams: frequencies fall from above; planar arms as spatial ones."""

import numpy as np
import pytest

from supple import (
    AssumedModes,
    FiniteElements,
    SerialRobot,
    assumed_modes,
    build,
    linearize,
    load,
    modes,
    simulate,
)

THETA = [0.2, 0.9]


def two_links() -> SerialRobot:
    robot = load("de-luca-two-link")
    assert isinstance(robot, SerialRobot)
    return robot


@pytest.mark.parametrize("joints", ["locked", "free"])
def test_assumed_frequencies_fall_to_the_exact_ones(joints: str) -> None:
    """m = 1 .. 6 modes per link: bending only, so against the inextensible, torsion-rigid arm."""
    exact = modes(two_links(), THETA, count=6, joints=joints).omega
    before = np.full(6, np.inf)
    for m in range(1, 7):
        omega = assumed_modes(build(two_links(), AssumedModes(m)), THETA, joints).omega[:6]
        k = len(omega)
        assert (omega >= exact[:k] * (1 - 1e-10)).all()
        assert (omega <= before[:k] * (1 + 1e-10)).all()
        before = np.append(omega, np.full(6 - k, np.inf))
    assert np.abs(before / exact - 1)[:3].max() < 1e-7
    assert np.abs(before / exact - 1).max() < 1e-3


@pytest.mark.parametrize("joints", ["locked", "free"])
@pytest.mark.parametrize("ends", ["distal", "free"])
def test_three_timoshenko_links(joints: str, ends: str) -> None:
    robot = load("industrial-3")
    theta = [0, 0.785, 0.785]
    exact = modes(robot, theta, count=3, joints=joints).omega
    before = np.full(3, np.inf)
    for m in (1, 2, 4, 6):
        basis = AssumedModes(m, ends=ends, at=theta, axial=m)  # type: ignore[arg-type]
        omega = assumed_modes(build(robot, basis), theta, joints).omega[:3]
        assert (omega >= exact * (1 - 1e-10)).all()
        assert (omega <= before * (1 + 1e-10)).all()
        before = omega


@pytest.mark.parametrize(
    "basis",
    [FiniteElements(4), FiniteElements(2, "quintic"), FiniteElements(6, "quintic", modes=3)],
)
def test_elements_lie_above(basis: FiniteElements) -> None:
    for joints in ("locked", "free"):
        exact = modes(two_links(), THETA, count=4, joints=joints).omega
        omega = assumed_modes(build(two_links(), basis), THETA, joints).omega[:4]  # type: ignore[arg-type]
        assert (omega >= exact * (1 - 1e-10)).all()
        assert np.abs(omega / exact - 1).max() < 1e-2


def test_linearised_frequencies_are_those_modes() -> None:
    model = build(two_links(), AssumedModes(3))
    found = linearize(model, [*THETA, *[0.0] * 6])
    assert found.frequencies == pytest.approx(assumed_modes(model, THETA, "free").omega, rel=1e-9)
    assert np.abs(found.damping_ratios).max() < 1e-9


def test_a_spatial_arm_in_a_plane_is_the_planar_one() -> None:
    planar = two_links()
    spatial = planar.model_copy(update={"planar": False})
    flat = build(planar, AssumedModes(2))
    full = build(spatial, AssumedModes(2))
    keep = [k for k, name in enumerate(full.coordinates) if ".xz" not in name]
    assert [full.coordinates[k] for k in keep] == list(flat.coordinates)
    rng = np.random.default_rng(3)
    for q, qd in rng.normal(size=(10, 2, 6)):
        wide_q, wide_qd = np.zeros((2, full.size))
        wide_q[keep] = q
        wide_qd[keep] = qd
        tau = rng.normal(size=2)
        qdd = flat.forward_dynamics(q, qd, tau)
        wide = full.forward_dynamics(wide_q, wide_qd, tau)
        assert np.abs(wide[keep] - qdd).max() < 1e-11 * np.abs(qdd).max()
        assert np.abs(np.delete(wide, keep)).max() < 1e-11 * np.abs(qdd).max()
        assert np.allclose(flat.tip(q), full.tip(wide_q), atol=1e-14)
    run = [simulate(m, [0.1, -0.05], duration=0.2) for m in (flat, full)]
    assert np.abs(run[0].tip - run[1].tip).max() < 1e-12


def test_an_arm_turned_as_a_whole_moves_alike() -> None:
    """Frame invariance: base, gravity and answer turn together."""
    robot = load("industrial-3").model_copy(update={"planar": False, "gravity": (1.0, -9.0, 2.0)})
    angles = (0.4, -0.7, 1.1)
    from supple.kernels.spatial import rpy_rotation

    R = rpy_rotation(angles)
    turned = robot.with_(
        {
            "links.link1.joint.mount.rpy": list(angles),
            "gravity": (R @ np.array(robot.gravity)).tolist(),
        }
    )
    a, b = (build(r, AssumedModes(1, torsion=1)) for r in (robot, turned))
    q, qd = np.random.default_rng(5).normal(size=(2, a.size)) * 0.1
    tau = np.array([1.0, 2.0, 3.0])
    first, second = (m.forward_dynamics(q, qd, tau) for m in (a, b))
    assert np.abs(first - second).max() < 1e-9 * np.abs(first).max()
    assert np.allclose(R @ a.tip(q), b.tip(q), atol=1e-12)


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("joints", ["locked", "free"])
def test_modes_by_assumed_modes(joints: str, planar: bool) -> None:
    """The same question, the same answer: frequencies from above, kinds, shapes."""
    robot = load("industrial-3").model_copy(update={"planar": planar})
    theta = [0, 0.7, 0.8]
    exact = modes(robot, theta, count=5, joints=joints)
    found = modes(robot, theta, count=5, joints=joints, method="assumed")
    assert (found.omega >= exact.omega * (1 - 1e-10)).all()
    assert found.omega == pytest.approx(exact.omega, rel=1e-3)
    assert found.kind == exact.kind
    assert not found.certified
    for a, b in zip(found.shapes.displacement, exact.shapes.displacement, strict=True):
        assert min(np.abs(a - b).max(), np.abs(a + b).max()) < 0.01 * np.abs(b).max()


@pytest.mark.parametrize("rods", ["single", "twist", "parallelogram"])
def test_assumed_modes_on_a_delta_fall_to_the_exact_ones(rods: str) -> None:
    """Halving with the number of modes where rods carry torque (no shape has one), else fast."""
    spacing = {"lower.spacing": 0.06} if rods == "parallelogram" else {}
    robot = load("kuo-delta").with_({"lower.rods": rods, **spacing})
    at = {"position": [0.1, 0.0, 0.5], "count": 6}
    exact = modes(robot, **at).omega
    off = [modes(robot, method="assumed", elements=m, **at).omega / exact - 1 for m in (4, 8)]
    assert (off[1] > 0).all()
    faster = 2**4 if rods == "parallelogram" else 1.8
    assert (off[0] / off[1] > faster).all()
    assert off[1].max() < 2e-3
    shapes = modes(robot, method="assumed", **at).shapes.displacement
    same = modes(robot, **at).shapes.displacement
    assert np.abs(np.abs(shapes) - np.abs(same)).max() < 0.02 * np.abs(same).max()


def test_modes_of_shapes_are_those_of_the_model() -> None:
    """One question by two roads: tree coordinates of a Structure, and the equations of motion."""
    robot = load("industrial-3")
    theta = [0.1, 0.785, -0.5]
    for joints in ("locked", "free"):
        found = modes(robot, theta, count=6, method="assumed", elements=3, joints=joints).omega
        model = build(robot, AssumedModes(3, at=theta, axial=3, torsion=3))
        assert found == pytest.approx(assumed_modes(model, theta, joints, 6).omega, rel=1e-9)  # type: ignore[arg-type]
