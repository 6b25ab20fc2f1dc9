"""Outputs inside links that slide, in motion: against a balance of places seen over time.

The motion q(t) = q + qd t + qdd t^2 / 2 is looked at from nine instants: every point of the arm is
placed by numbers (frames and deflections), its acceleration is their difference of eighth order,
and force and moment on what lies beyond a section are the sums of m (a - g) over it.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import supple
from supple.outputs.measuring import evaluator

SECTIONS = [(0, 0.06, 0.05, 0.004), (1.1, 0.05, 0.04, 0.003), (1.1, 0.04, 0.035, 0.003),
            (2.0, 0.03, 0.03, 0.002)]  # fmt: skip
STEEL = {"young_modulus": 2e11, "poisson_ratio": 0.3, "density": 7850}
BEAMS = {
    "uniform": {"mass_per_length": 5, "bending_stiffness": 6e3},
    "soft": {"mass_per_length": 5, "bending_stiffness": 6e3, "axial_stiffness": 1e5},
    "stations": {
        "material": STEEL,
        "stations": [
            {"at": at, "section": {"shape": "box", "depth": h, "width": b, "wall": t}}
            for at, h, b, t in SECTIONS
        ],
    },
}
BASES = {
    "modes": supple.AssumedModes(2, axial=[0, 1, 0], torsion=0),
    "elements": supple.FiniteElements(2),
}
DIFFERENCE = np.array(
    [-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]
)
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
H = 6e-3
TIP = 1.5
PAYLOAD = 2.0
COM = np.array([0.03, 0.02, 0.01])


@cache
def arm(beam: str, planar: bool) -> supple.Robot:
    flat = np.array([1.0, 1.0, 0.0 if planar else 1.0])
    rpy = [0.0, 0.0, 0.5] if planar else [0.3, 0.2, 0.5]
    links = [
        {"name": "mast", "joint": {"type": "revolute", "rotor_inertia": 1}, "length": 1.2,
         "mass_per_length": 6, "bending_stiffness": 4e4},
        {"name": "boom", "length": 2.0, "theory": "euler-bernoulli", **BEAMS[beam],
         "joint": {"type": "prismatic", "rotor_inertia": 3,
                   "mount": {"rpy": rpy, "xyz": [0.05, 0.02, 0]}},
         "tip": {"mass": TIP, "com": (COM * flat).tolist()}},
        {"name": "jib", "joint": {"type": "revolute", "rotor_inertia": 0.4}, "length": 0.8,
         "mass_per_length": 2, "bending_stiffness": 3e3},
    ]  # fmt: skip
    return supple.loads(json.dumps({
        "supple": 1, "name": "boom", "architecture": "serial", "planar": planar,
        "gravity": (np.array([0.4, -9.81, 1.3]) * flat).tolist(),
        "links": links, "payload": {"mass": PAYLOAD},
    }))  # fmt: skip


@cache
def model(beam: str, basis: str, stiffening: bool = False, planar: bool = True) -> supple.Model:
    return supple.build(arm(beam, planar), BASES[basis], stiffening=stiffening)


def moving(arm_model: supple.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    # points slide over the kinks of the stretch of stations, places do not show a twist
    stations = arm_model.robot.links[1].stations is not None
    kept = [not (stations and ".axial" in name) for name in arm_model.coordinates]
    rng = np.random.default_rng(5)
    n = sum(kept)
    size = np.r_[np.ones(3), np.full(n - 3, 5e-3)]
    size[[".torsion" in name for name in np.array(arm_model.coordinates)[kept]]] = 0.0
    q, qd, qdd = np.zeros((3, arm_model.size))
    for part in (q, qd, qdd):
        part[kept] = rng.normal(size=n) * size
    q[1] = 1.3
    return q, 0.7 * qd, qdd


def value(arm_model: supple.Model, output: supple.Output, at: tuple) -> np.ndarray:
    return evaluator(arm_model, output)(*at, np.zeros(6))[0]


def root(arm_model: supple.Model, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Place and axes of a link's root, base axes."""

    def make() -> ca.Function:
        x = ca.SX.sym("q", arm_model.size)
        p, R, _ = arm_model.functions.laws.frames(ca.vertsplit(x))[arm_model.chain.index(link)]
        return ca.Function("root", [x], [ca.vertcat(*p), ca.vertcat(*(ca.horzcat(*r) for r in R))])

    p, R = arm_model.functions.cached(("root", link), make)(q)
    return p.full()[:, 0], R.full()


def placed(arm_model: supple.Model, q: np.ndarray, link: str, fraction: float) -> np.ndarray:
    """The place of a point of a link's axis, base axes."""
    p, R = root(arm_model, q, link)
    length = q[1] if link == "boom" else 0.8
    along = np.array([fraction * length, 0.0, 0.0])
    return p + R @ (along + arm_model.deflection_at(q, link, fraction))


def attitude(arm_model: supple.Model, q: np.ndarray, link: str, fraction: float) -> np.ndarray:
    """The axes of a section, base axes: R_z(v') R_y(-w'), slopes by differences along the link."""
    length = q[1] if link == "boom" else 0.8
    h = 1e-2 if fraction + 8e-2 < 1 else -1e-2  # one-sided, of eighth order
    c = [-761 / 280, 8, -14, 56 / 3, -35 / 2, 56 / 5, -14 / 3, 8 / 7, -1 / 8]
    v = np.array([arm_model.deflection_at(q, link, fraction + k * h) for k in range(9)])
    _, z, y = (np.array(c) @ v) / (h * length)
    Rz = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    Ry = np.array([[np.cos(y), 0, -np.sin(y)], [0, 1, 0], [np.sin(y), 0, np.cos(y)]])
    return root(arm_model, q, link)[1] @ Rz @ Ry


def seen(arm_model: supple.Model, at: tuple, where) -> tuple[np.ndarray, np.ndarray]:
    """Place now and acceleration of `where(q)`, by its places at nine instants."""
    q, qd, qdd = at
    t = H * np.arange(-4, 5)
    places = np.array([where(q + qd * s + qdd * s * s / 2) for s in t])
    return places[4], DIFFERENCE @ places / H**2


def material(arm_model: supple.Model, at: tuple, fraction: float):
    """Where the point of the boom is that is at a fraction of its free length now."""
    back = (1 - fraction) * at[0][1]  # from the far end
    return lambda q: placed(arm_model, q, "boom", 1 - back / q[1])


def density(arm_model: supple.Model, x: float) -> float:
    """Mass per length of the boom (kg/m), x m from its inner end."""
    if arm_model.robot.links[1].stations is None:
        return 5.0
    height, width, wall = box(x)
    area = height * width - (height - 2 * wall) * (width - 2 * wall)
    return STEEL["density"] * area


def polar_inertia(x: float) -> float:
    """Polar inertia per length (kg m) of the boom with stations, x m from its inner end."""
    height, width, wall = box(x)
    outside = width * height * (width**2 + height**2) / 12
    inner_width = width - 2 * wall
    inner_height = height - 2 * wall
    inside = inner_width * inner_height * (inner_width**2 + inner_height**2) / 12
    return STEEL["density"] * (outside - inside)


def box(x: float) -> tuple[float, float, float]:
    """Depth, width and wall of the boom with stations, x m from its inner end."""
    before, after = SECTIONS[:2] if x < 1.1 else SECTIONS[2:]
    s = (x - before[0]) / (after[0] - before[0])
    depth, width, wall = (1 - s) * np.array(before[1:]) + s * np.array(after[1:])
    return depth, width, wall


def quadrature(edges: list[float]) -> list[tuple[float, float]]:
    """Ten Gauss points and weights between every two neighbouring edges."""
    points, weights = np.polynomial.legendre.leggauss(10)
    found = []
    for a, b in pairwise(edges):
        middle = (a + b) / 2
        half = (b - a) / 2
        for point, weight in zip(points, weights, strict=True):
            found.append((middle + half * point, half * weight))
    return found


def outer(arm_model: supple.Model, at: tuple, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about a section of the boom that keep what lies beyond it moving."""
    q = at[0]
    free_length = q[1]
    hidden = 2.0 - free_length  # of the boom, inside its guide
    section_jump = 1 - (2.0 - 1.1) / free_length
    edges = sorted({fraction, 0.5, 1.0, section_jump})
    beam_points = quadrature([edge for edge in edges if edge >= fraction])

    # Point masses, each with its place as a function of q: boom, its tip, jib, payload
    masses = []
    for s, weight in beam_points:
        mass = density(arm_model, hidden + s * free_length) * free_length * weight
        masses.append((mass, material(arm_model, at, s)))
    com = COM * [1, 1, 0 if arm_model.robot.planar else 1]

    def tip_place(q):
        return placed(arm_model, q, "boom", 1.0) + attitude(arm_model, q, "boom", 1.0) @ com

    masses.append((TIP, tip_place))
    for s, weight in quadrature([0, 0.5, 1]):
        masses.append((2 * 0.8 * weight, lambda q, s=s: placed(arm_model, q, "jib", s)))
    masses.append((PAYLOAD, lambda q: placed(arm_model, q, "jib", 1.0)))

    force = np.zeros(3)
    moment = np.zeros(3)
    centre = placed(arm_model, q, "boom", fraction)
    gravity = np.array(arm_model.robot.gravity)
    for mass, where in masses:
        place, acceleration = seen(arm_model, at, where)
        share = mass * (acceleration - gravity)
        force += share
        moment += np.cross(place - centre, share)

    if not arm_model.robot.planar and arm_model.robot.links[1].stations is not None:
        polar = 0.0
        for s, weight in beam_points:
            polar += polar_inertia(hidden + s * free_length) * free_length * weight
        moment += spin_moment(arm_model, at, polar)
    return force, moment


def spin_moment(arm_model: supple.Model, at: tuple, polar: float) -> np.ndarray:
    """Moment that spins the sections about the boom's own x, along which it does not twist."""
    q, qd, qdd = at
    instants = H * np.arange(-4, 5)
    axes = np.array([root(arm_model, q + qd * t + qdd * t * t / 2, "boom")[1] for t in instants])
    R = axes[4]
    first_derivative = np.tensordot(FIRST / H, axes, 1)
    second_derivative = np.tensordot(DIFFERENCE / H**2, axes, 1)
    W = R.T @ first_derivative  # cross product matrix of the angular velocity
    omega = np.array([W[2, 1], W[0, 2], W[1, 0]])
    alpha_x = (R.T @ second_derivative - W @ W)[2, 1]
    along_x = np.array([alpha_x, 0, 0]) + np.cross(omega, [omega[0], 0, 0])
    return R @ (polar * along_x)


CASES = [
    ("uniform", "modes", False, True),
    ("soft", "modes", False, True),
    ("stations", "elements", False, True),
    pytest.param("uniform", "modes", True, False, marks=pytest.mark.soak),
    pytest.param("stations", "modes", False, False, marks=pytest.mark.slow),
    pytest.param("uniform", "elements", True, True, marks=pytest.mark.slow),
    pytest.param("stations", "elements", True, True, marks=pytest.mark.soak),
    pytest.param("stations", "modes", True, True, marks=pytest.mark.soak),
]


@pytest.mark.parametrize(("beam", "basis", "stiffening", "planar"), CASES)
def test_the_load_on_a_section_balances_what_lies_beyond(beam, basis, stiffening, planar):
    arm_model = model(beam, basis, stiffening, planar)
    fraction = 0.3
    at = moving(arm_model)
    force, moment = outer(arm_model, at, fraction)
    axes = attitude(arm_model, at[0], "boom", fraction)
    force = force @ axes
    moment = moment @ axes
    found = value(arm_model, supple.Moment("boom", fraction), at)
    np.testing.assert_allclose(found, -moment, rtol=0, atol=1e-9 * np.abs(moment).max())
    if beam == "stations":
        # A box: bending and the axial force at its corner, Bredt's shear
        height, width, wall = box(2.0 - at[0][1] * (1 - fraction))
        inner_height = height - 2 * wall
        inner_width = width - 2 * wall
        area = width * height - inner_width * inner_height
        I_z = (width * height**3 - inner_width * inner_height**3) / 12
        I_y = (height * width**3 - inner_height * inner_width**3) / 12
        sigma = abs(force[0]) / area
        sigma += abs(moment[2]) * height / 2 / I_z + abs(moment[1]) * width / 2 / I_y
        tau = moment[0] / (2 * (height - wall) * (width - wall) * wall)
        stress = value(arm_model, supple.Stress("boom", fraction), at)[0]
        assert stress == pytest.approx(np.sqrt(sigma**2 + 3 * tau**2), rel=1e-9)


@pytest.mark.parametrize(("beam", "basis", "stiffening", "planar"), CASES[:4])
def test_acceleration_and_spin_are_those_of_the_material(beam, basis, stiffening, planar):
    arm_model = model(beam, basis, stiffening, planar)
    fraction = 0.4
    at = moving(arm_model)
    q, qd, qdd = at
    _, wanted = seen(arm_model, at, material(arm_model, at, fraction))
    found = value(arm_model, supple.Acceleration("boom", fraction), at)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
    axes = attitude(arm_model, q, "boom", fraction)
    read = value(arm_model, supple.Accelerometer("boom", fraction), at)
    felt = (wanted - arm_model.robot.gravity) @ axes
    np.testing.assert_allclose(read, felt, rtol=0, atol=1e-8 * np.abs(felt).max())
    # spin: R' dR/dt of the same piece of material, by differences of eighth order
    back = (1 - fraction) * q[1]
    t = H * np.arange(-4, 5)
    each = [q + qd * s + qdd * s * s / 2 for s in t]
    turned = np.array([attitude(arm_model, x, "boom", 1 - back / x[1]) for x in each])
    W = axes.T @ np.tensordot(FIRST / H, turned, 1)
    spin = value(arm_model, supple.Gyroscope("boom", fraction), at)
    np.testing.assert_allclose(spin, [W[2, 1], W[0, 2], W[1, 0]], atol=1e-8 * np.abs(W).max())


@pytest.mark.parametrize(("beam", "basis"), [("uniform", "modes"), ("stations", "elements")])
def test_a_strain_is_the_curvature_of_the_bent_beam(beam, basis):
    """v'' of the deflections, by differences of eighth order along the boom."""
    arm_model = model(beam, basis)
    q = moving(arm_model)[0]
    for fraction in (0.2, 0.75):
        h = 2e-2
        v = [arm_model.deflection_at(q, "boom", fraction + k * h)[1] for k in range(-4, 5)]
        bent = DIFFERENCE @ v / (h * q[1]) ** 2
        found = value(arm_model, supple.Strain("boom", fraction, 0.02), (q, 0 * q, 0 * q))
        assert found[0] == pytest.approx(0.02 * bent, rel=1e-8)


def cantilever(gravity: float) -> supple.Robot:
    tube = {"shape": "tube", "diameter": 0.05, "wall": 0.004}
    link = {"name": "boom", "length": 2.0, "theory": "euler-bernoulli", "material": STEEL,
            "joint": {"type": "prismatic", "rotor_inertia": 1}, "section": tube}  # fmt: skip
    return supple.loads(json.dumps({
        "supple": 1, "name": "cantilever", "architecture": "serial", "planar": True,
        "gravity": [0, -gravity, 0], "links": [link], "payload": {"mass": 3.0},
    }))  # fmt: skip


@pytest.mark.slow
def test_at_rest_they_are_those_of_a_cantilever():
    """m g (l - x)^2 / 2 + M g (l - x), of a polynomial that quintic elements hold."""
    g = 0.01
    l = 1.4
    f = 0.3
    robot = cantilever(0.01)
    A = np.pi * (0.05**2 - 0.042**2) / 4
    I = np.pi * (0.05**4 - 0.042**4) / 64
    d = l * (1 - f)
    M = -g * (7850 * A * d**2 / 2 + 3.0 * d)
    wanted = {"m": [0, 0, M], "e": M / (2e11 * I) * 0.02, "s": abs(M) * 0.025 / I}
    outputs = {"m": supple.Moment("boom", f), "e": supple.Strain("boom", f, 0.02),
               "s": supple.Stress("boom", f)}  # fmt: skip
    arm_model = supple.build(robot, supple.FiniteElements(2, "quintic"))
    run = supple.simulate(arm_model, q0="static", theta0=[l], duration=1e-4, outputs=outputs)
    along = supple.follow(robot, supple.PointToPoint([l], [l + 1e-9], 0.05),
                          outputs=outputs)  # fmt: skip
    for name, value_ in wanted.items():
        size = 1e-8 * np.abs(value_).max()
        for found in (
            run.outputs[name][0],
            supple.statics(robot, [l], outputs=outputs).outputs[name],
        ):
            np.testing.assert_allclose(found, value_, atol=size)
        if name != "e":  # its cubic elements bend less truly than they carry
            np.testing.assert_allclose(along.outputs[name][0], value_, atol=100 * size)
    # the slope of the strain by the tip's force: -(l - x) c / EI
    slope = supple.linearize(arm_model, run.q[0], outputs=[outputs["e"], outputs["m"]],
                             inputs=("tau", "tip force"))  # fmt: skip
    assert np.isfinite(slope.C).all()
    h = 1e-6
    for k in range(arm_model.size):
        step = np.eye(arm_model.size)[k] * h
        pair = [
            value(arm_model, outputs["e"], (run.q[0] + s * step, 0 * step, 0 * step))
            for s in (1, -1)
        ]
        assert slope.C[0, k] == pytest.approx((pair[0] - pair[1])[0] / (2 * h), rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_with_stations_the_load_at_rest_is_that_of_statics():
    robot = arm("stations", True).with_("gravity", [1e-5, -1e-4, 0])
    theta = [0.3, 1.4, -0.5]
    outputs = {"m": supple.Moment("boom", 0.25), "s": supple.Stress("boom", 0.25)}
    rest = supple.statics(robot, theta, outputs=outputs).outputs
    arm_model = supple.build(robot, supple.FiniteElements(2))
    q = supple.simulate(arm_model, q0="static", theta0=theta, duration=1e-4).q[0]
    for name, output in outputs.items():  # the arms of these loads move with the sag, 1e-8
        found = value(arm_model, output, (q, 0 * q, 0 * q))
        np.testing.assert_allclose(found, rest[name], rtol=1e-7)


def test_a_strain_of_a_slide_is_no_row():
    with pytest.raises(supple.SuppleError, match="no fixed sum of q"):
        supple.Strain("boom", 0.2).row(model("uniform", "modes"))
