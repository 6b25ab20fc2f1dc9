"""The right model of the flexible Delta: symmetry, double roots, orders, limits, shapes."""

import numpy as np
import pytest

import supple

ROBOT = supple.load("kuo-delta")
KINDS = {
    "single": ROBOT,
    "twist": ROBOT.with_("lower.rods", "twist"),
    "parallelogram": ROBOT.with_({"lower.rods": "parallelogram", "lower.spacing": 0.08}),
}
each_kind = pytest.mark.parametrize("kind", KINDS)
P = np.array([0.1, 0.0, 0.5])


def turned(position: np.ndarray, angle: float) -> np.ndarray:
    c = np.cos(angle)
    s = np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ position


@each_kind
@pytest.mark.parametrize("method", ["exact", "elements"])
def test_a_third_of_a_turn_changes_nothing(kind: str, method: str) -> None:
    position = np.array([0.07, -0.04, 0.55])
    every = [turned(position, k * 2 * np.pi / 3) for k in range(3)]
    omega = supple.modes(KINDS[kind], position=every, count=8, method=method, elements=2).omega
    assert np.abs(omega / omega[0] - 1).max() < 1e-9


@each_kind
def test_mirrored_positions_sound_alike(kind: str) -> None:
    pair = np.array([[0.07, 0.05, 0.55], [0.07, -0.05, 0.55]])
    omega = supple.modes(KINDS[kind], position=pair, count=8).omega
    assert np.abs(omega[1] / omega[0] - 1).max() < 1e-9


@each_kind
def test_double_roots_on_the_axis(kind: str) -> None:
    """With three equal legs every mode that is not symmetric comes twice."""
    found = supple.modes(KINDS[kind], position=[0, 0, 0.5], count=9)
    assert found.certified
    gaps = np.diff(found.omega) / found.omega[:-1]
    doubles = (gaps < 1e-9).sum()
    assert doubles >= 2
    assert ((gaps < 1e-9) | (gaps > 1e-4)).all()


@each_kind
@pytest.mark.parametrize(("order", "rate"), [("cubic", 4), ("quintic", 8)])
def test_elements_fall_to_the_exact_ones(kind: str, order: str, rate: int) -> None:
    """Bending rules the first six: error ~ n^-4 and n^-8, from above."""
    exact = supple.modes(KINDS[kind], position=P, count=6).omega
    mesh = (2, 4, 8) if order == "cubic" else (1, 2)
    errors = np.array(
        [
            supple.modes(
                KINDS[kind], position=P, count=6, method="elements", elements=n, order=order
            ).omega
            / exact
            - 1
            for n in mesh
        ]
    )
    assert (errors > -1e-10).all()
    seen = np.log2(errors[:-1] / errors[1:])
    if order == "cubic":
        assert seen == pytest.approx(np.full_like(seen, rate), abs=0.2)
    else:  # n = 2 is at rounding for the lowest: those not yet there show the order
        clear = errors[1] > 1e-11
        assert clear.any()
        assert seen[0][clear].min() > rate - 1.5


@each_kind
def test_theories_in_order(kind: str) -> None:
    """Timoshenko <= Euler-Bernoulli <= inextensible, mode by mode."""
    section = {"shape": "rectangle", "depth": 0.02, "width": 0.015}
    robot = KINDS[kind].with_({"upper.section": section, "lower.section": section})
    omega = [
        supple.modes(robot.with_({"upper.theory": t, "lower.theory": t}), position=P, count=8).omega
        for t in ("timoshenko", "euler-bernoulli", "inextensible")
    ]
    assert (omega[0] <= omega[1] * (1 + 1e-12)).all()
    assert (omega[1] <= omega[2] * (1 + 1e-12)).all()


@each_kind
def test_motor_stiffness_tends_to_the_clamp(kind: str) -> None:
    """omega falls with a softer motor, and the loss tends to zero as 1/k."""
    clamped = supple.modes(KINDS[kind], position=P, count=6).omega
    soft = [
        supple.modes(KINDS[kind].with_("motor.stiffness", k), position=P, count=6).omega
        for k in (1e3, 1e4, 1e5)
    ]
    loss = np.array([1 - omega / clamped for omega in soft])
    assert (loss > 0).all()
    assert loss[:-1] / loss[1:] == pytest.approx(np.full((2, 6), 10.0), rel=0.1)


def test_motor_spring_alone() -> None:
    """Rigid links, sprung motors, on the axis: vertical mode omega^2 = 3 k J_z^2 / M_zz."""
    from supple.architectures.delta_motion import jacobian
    from supple.equations.closed.rigid_delta import RigidDelta

    rigid = ROBOT.with_(
        {"upper.theory": "rigid", "lower.theory": "rigid", "motor.stiffness": 500.0}
    )
    at = [0.03, -0.02, 0.5]
    J = jacobian(rigid, at)[0]
    M = RigidDelta(rigid).mass_matrix(at)[0]
    wanted = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, 500 * J.T @ J)).real))
    for method in ("exact", "elements"):
        found = supple.modes(rigid, position=at, count=3, method=method).omega
        assert found == pytest.approx(wanted, rel=1e-9)


def test_wide_parallelograms_hold_the_platform() -> None:
    """Rotations of the platform stiffen with the spacing; its translations hardly move."""
    omega = [
        supple.modes(
            ROBOT.with_({"lower.rods": "parallelogram", "lower.spacing": s}),
            position=[0, 0, 0.5],
            count=6,
        ).omega
        for s in (0.02, 0.05, 0.1)
    ]
    assert (np.diff([w.min() for w in omega]) >= -1e-9 * omega[0].min()).all()
    # with the arms rigid and rods without mass in bending the translations alone do not see spacing
    stiff = [
        supple.modes(
            ROBOT.with_(
                {
                    "lower.rods": "parallelogram",
                    "lower.spacing": s,
                    "upper.theory": "rigid",
                    "lower.theory": "rigid",
                    "motor.stiffness": 100.0,
                }
            ),
            position=[0, 0, 0.5],
            count=3,
        ).omega
        for s in (0.02, 0.1)
    ]
    assert stiff[0] == pytest.approx(stiff[1], rel=1e-6)  # but for the polar inertia of the rods


def test_parallelogram_of_rigid_arms_is_trusses() -> None:
    """Rigid arms: six pin-ended rods, each a spring EA / L along itself, hold the platform.

    Heavy platform, light rods: K = sum EA/L g g', g = (x, p x x), in its six motions.
    """
    from supple.architectures import delta

    s = 0.08
    robot = ROBOT.with_(
        {
            "lower.rods": "parallelogram",
            "lower.spacing": s,
            "upper.theory": "rigid",
            "platform.mass": 500.0,
            "platform.inertia": [2.0, 2.5, 3.0],
        }
    )
    at = delta.place(robot, P)
    K = np.zeros((6, 6))
    for leg in range(3):
        x = at.R_lower[0, leg, :, 0]
        for side in (-s / 2, s / 2):
            p = 0.05 * at.R_leg[leg, :, 0] + side * at.R_leg[leg, :, 1]
            g = np.concatenate([x, np.cross(p, x)])
            K += 210e9 * 25e-6 / 0.6 * np.outer(g, g)
    M = np.diag([500.0] * 3 + [2.0, 2.5, 3.0])
    wanted = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    # the platform's modes lie among many bending modes of the pinned rods, pi^2 sqrt(EI/mL^4) k^2:
    # those come with six equal ones each and do not move the platform
    found = supple.modes(robot, position=P, count=60).omega
    rods = np.pi**2 * np.sqrt(10.9375 / (0.195 * 0.6**4)) * np.arange(1, 12) ** 2
    checked = 0
    for omega in wanted:
        near = found[np.abs(found / omega - 1).argmin()]
        clear = np.abs(rods / omega - 1).min() > 0.05
        if clear and omega < found[-1]:
            # rods of 0.117 kg on 500 kg: a third of their mass goes along, 6 x 0.117 / 3 / 500
            assert near == pytest.approx(omega, rel=1e-3)
            checked += 1
    assert checked >= 4


@each_kind
def test_shapes_meet_at_joints_and_bodies(kind: str) -> None:
    """Motion and section forces of the exact shapes match where beams meet, and shares add up."""
    shapes = supple.modes(KINDS[kind], position=P, count=6).shapes
    assert shapes.residual.max() < 1e-6  # of the largest; the roots are good to 1e-9
    assert shapes.share.sum(axis=(1, 2)) == pytest.approx(np.ones(6), rel=1e-9)
