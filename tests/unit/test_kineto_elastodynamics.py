"""Kineto-elasto-dynamics: against points in space, known spinning beams, the paper's equations."""

import numpy as np
import pytest
from scipy.linalg import eigh

import supple
from spinning import first_flapwise
from supple.control.trajectories import CirclePath, InvertedU, Trajectory
from supple.equations.closed.rigid_delta import RigidDelta
from supple.kernels.spatial import transport
from supple.papers.cells import right_number
from supple.path_dynamics.kineto_elastodynamics import Ked, Loads, ked
from supple.structure import moving_structure

KUO = supple.load("kuo-delta")
H = 1e-3
STILL = Loads(preload=False)


def delta_robot(rods: str) -> supple.DeltaRobot:
    """Kuo's Delta without polar inertia, so that points alone carry its mass."""
    bar = {
        "mass_per_length": 0.195,
        "bending_stiffness": [10.9, 12.0],
        "axial_stiffness": 5.25e6,
        "torsional_stiffness": 8.3,
        "material": None,
        "section": None,
        "theory": None,
        "polar_inertia_per_length": 0.0,
    }
    changes = {f"{part}.{key}": value for part in ("upper", "lower") for key, value in bar.items()}
    more = {"lower.rods": rods, "lower.roll": 0.4, "upper.roll": -0.2, "motor.stiffness": 200.0}
    if rods == "parallelogram":
        more["lower.spacing"] = 0.05
    return KUO.with_(changes | more)


def arm_robot() -> supple.SerialRobot:
    beam = {
        "length": 0.6,
        "mass_per_length": 0.4,
        "bending_stiffness": [30.0, 40.0],
        "axial_stiffness": 1e6,
        "torsional_stiffness": 20.0,
        "polar_inertia_per_length": 0.0,
    }
    links = [
        {"name": "a", "joint": {"axis": [0, 0, 1]}, **beam},
        {"name": "b", "joint": {"axis": [0, 1, 0], "stiffness": 300.0}, **beam, "roll": 0.3},
        {"name": "c", "joint": {"axis": [1, 0.5, 1]}, **beam, "tip": {"mass": 0.7}},
    ]
    return supple.SerialRobot(name="arm", links=links, gravity=(0.0, 0.0, -9.81))


class Swing(Trajectory):
    """Three joints that swing, each its own way."""

    duration = 1.0

    def at(self, t):
        f = np.array([3.0, 4.0, 5.0])
        x = np.sin(np.outer(t, f))
        return x, f * np.cos(np.outer(t, f)), -(f**2) * x


CASES = {
    "single": (delta_robot("single"), InvertedU()),
    "twist": (delta_robot("twist"), InvertedU()),
    "parallelogram": (delta_robot("parallelogram"), InvertedU()),
    "serial": (arm_robot(), Swing()),
}


def points(model: Ked, path: Trajectory, t: float) -> tuple[np.ndarray, ...]:
    """Masses, rigid places (P, 3), displacements per unit y (P, 3, N) in space, as defined."""
    moving = moving_structure(model.robot, *(np.atleast_2d(x) for x in path(t)))
    roots = model.roots(*path(t))[0]
    mass = []
    place = []
    G = []
    for i, part in enumerate(model.meshes):
        R = moving.structure.R[0, i]
        p = moving.structure.p[0, i]
        x, weights = part.quadrature()
        stations = [
            (w * part.beam.m, s, N) for s, w, N in zip(x, weights, part.field(x), strict=True)
        ]
        tip = model.structure.segments[i].tip_mass[0, 0]
        stations.append((tip, part.L, part.end))
        for m, s, N in stations:
            u = transport(s) @ roots[i]
            u[:, model.inner[i]] += N
            mass.append(m)
            place.append(p + s * R[:, 0])
            G.append(R @ u[:3])
    return np.array(mass), np.array(place), np.array(G)


@pytest.mark.parametrize("case", CASES)
def test_matrices_are_those_of_points_in_space(case: str) -> None:
    """M = sum m G'G, C = 2 sum m G'G', K - K_e = sum m G'G'', F = -sum m G'(r'' - g).

    G' and G'' by five-point differences in time; bodies without inertia of their own.
    """
    robot, path = CASES[case]
    if case != "serial":
        robot = robot.with_("platform.inertia", [1e-15, 1e-15, 1e-15])
    t = 0.33
    model = ked(robot, path(t)[0], 1, loads=STILL)
    each = [points(model, path, t + k * H) for k in range(-2, 3)]
    m = each[2][0]
    r = [e[1] for e in each]
    G = [e[2] for e in each]
    G1 = (G[0] - 8 * G[1] + 8 * G[3] - G[4]) / (12 * H)
    G2 = (-G[0] + 16 * G[1] - 30 * G[2] + 16 * G[3] - G[4]) / (12 * H**2)
    a = (-r[0] + 16 * r[1] - 30 * r[2] + 16 * r[3] - r[4]) / (12 * H**2)
    found = model.matrices(*path(t))
    wanted = {
        "M": np.einsum("p,pci,pcj->ij", m, G[2], G[2]),
        "C": 2 * np.einsum("p,pci,pcj->ij", m, G[2], G1),
        "K": np.einsum("p,pci,pcj->ij", m, G[2], G2) + model.stiffness,
        "F": -np.einsum("p,pci,pc->i", m, G[2], a - np.asarray(robot.gravity)),
    }
    rest = {"K": model.stiffness}
    for name, value in wanted.items():
        ours = getattr(found, name)[0] - rest.get(name, 0.0)
        exact = value - rest.get(name, 0.0)
        # differences: h^4 = 1e-12 times derivatives some 1e4 times the second, rounding 1e-16/h^2
        assert np.abs(ours - exact).max() < 1e-6 * np.abs(exact).max(), name


@pytest.mark.parametrize("spin", [0, 1, 2, 3, 6, 12])
def test_spinning_beam_stiffens(spin: int) -> None:
    beam = {
        "name": "blade",
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 1.0,
        "polar_inertia_per_length": 0.0,
    }
    robot = supple.SerialRobot(name="blade", links=[beam])
    off = []
    for elements in (4, 8):
        found = ked(robot, [0.0], elements, "quintic").matrices([0.3], [float(spin)], [0.0])
        omega = np.sqrt(eigh(found.K[0], found.M[0], eigvals_only=True))
        flap = omega[1] if spin else omega[0]
        lag = omega[0]
        off.append(flap / first_flapwise(spin) - 1)
    # quintic elements: order eight in frequency, down to the rounding of eigh
    assert abs(off[1]) < max(off[0] / 2**7, 1e-10)
    assert off[0] < 1e-6
    # without Coriolis coupling (the beam keeps its length) lag^2 = flap^2 - Omega^2
    assert lag**2 == pytest.approx(flap**2 - spin**2, rel=1e-6)


@pytest.mark.parametrize("rods", ["single", "twist"])
def test_at_rest_it_is_the_structure(rods: str) -> None:
    robot = KUO.with_("lower.rods", rods)
    P = [0.1, 0.0, 0.5]
    model = ked(robot, P, 2, loads=STILL)
    found = model.matrices(P, [0, 0, 0], [0, 0, 0])
    omega = np.sqrt(eigh(found.K[0], found.M[0], eigvals_only=True, subset_by_index=(0, 7)))
    wanted = supple.modes(robot, position=P, count=8, method="elements", elements=2).omega
    assert omega == pytest.approx(wanted, rel=1e-7)  # eigh loses eps (omega_max / omega)^2
    sag = found.tip[0] @ np.linalg.solve(found.K[0], found.F[0])
    exact = supple.statics(robot, position=P)
    # cubic elements give nodal displacements under uniform weight exactly
    assert sag[:3] == pytest.approx(exact.tip_displacement, abs=1e-12)
    assert sag[3:] == pytest.approx(exact.tip_rotation, abs=1e-12)


def root_wrenches(model: Ked, motion: tuple[np.ndarray, ...]) -> np.ndarray:
    """Force and moment at every root in the rigid motion, (B, n, 6), by Newton-Euler."""
    prescribed = model.at_motion(*motion)
    out = np.zeros((*prescribed.moving.structure.L.shape, 6))
    for g, group in enumerate(model.groups):
        for s, part in enumerate(prescribed.carried_loads(g)):
            out[:, group.segments[:, s]] = part.root
    return out


def test_roots_carry_the_motor_torques() -> None:
    """Newton-Euler through the closures equals virtual power in the platform's coordinates."""
    t = np.linspace(0, 0.8, 9)
    model = ked(KUO, [0.1, 0, 0.5], 1)
    arms = [i for i, s in enumerate(model.structure.segments) if s.name.startswith("upper")]
    torque = root_wrenches(model, InvertedU()(t))[:, arms, 4]
    assert torque == pytest.approx(RigidDelta(KUO).inverse_dynamics(*InvertedU()(t)), abs=1e-12)


@pytest.mark.parametrize("case", ["single", "serial"])
def test_a_rigid_motion_needs_the_rigid_torque(case: str) -> None:
    """-F of a motor's row is its torque in the rigid motion, behind a spring as well."""
    robot, path = (KUO, InvertedU()) if case == "single" else (arm_robot(), Swing())
    model = ked(robot, path(0.0)[0], 1)
    t = np.linspace(0.1, 0.7, 5)
    wrench = root_wrenches(model, path(t))
    axes = dict(model.motors)
    for i, k in model.springs:
        axes[i] = model.structure.segments[i].releases[k].toward(0)
    wanted = np.stack([wrench[:, i] @ axes[i] for i in sorted(axes)], axis=1)
    zero = np.zeros((5, model.size))
    assert model.matrices(*path(t)).torque(zero, zero, zero) == pytest.approx(wanted, abs=1e-11)


def test_degrees_of_freedom_of_the_errata() -> None:
    found = [ked(KUO, [0.1, 0, 0.5], n).size for n in (1, 2, 3)]
    assert found == [6 + 3 * (12 * n - 2) for n in (1, 2, 3)]
    assert found == [int(text) for text in right_number("Kuo2016", "unknowns")]


def test_loads_can_be_switched() -> None:
    path = InvertedU()
    t = 0.3
    full = ked(KUO, [0.1, 0, 0.5], 1).matrices(*path(t))
    none = Loads(False, False, False, False, False)
    bare = ked(KUO, [0.1, 0, 0.5], 1, loads=none).matrices(*path(t))
    assert not bare.F.any()
    assert not bare.C.any()
    assert np.array_equal(bare.M, full.M)
    assert np.abs(bare.K[0] - bare.K[0].T).max() < 1e-12 * np.abs(bare.K).max()
    parts = [
        ked(KUO, [0.1, 0, 0.5], 1, loads=Loads(inertia, not inertia)).matrices(*path(t)).F
        for inertia in (True, False)
    ]
    assert sum(parts) == pytest.approx(full.F, rel=1e-12, abs=1e-15)


def test_circle_is_symmetric_under_a_third_of_a_turn() -> None:
    path = CirclePath()
    model = ked(KUO, [0.1, 0, 0.5], 1)
    each = [model.matrices(*path(0.1 + k / 3)) for k in range(3)]
    values = [np.linalg.eigvalsh(m.M[0]) for m in each]
    assert values[1] == pytest.approx(values[0], rel=1e-11)
    assert values[2] == pytest.approx(values[0], rel=1e-11)
