"""What sits `at` a place along a link that slides: a sleeve that the beam slides through.

It stays s metres from the joint, whatever the length outside, and moves and turns with the section
of the bent beam that is there.
"""

from __future__ import annotations

import json
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

import supple
from supple.equations.chains.link_fields import link_deflection
from supple.equations.equilibrium import stiffness_at
from supple.outputs.measuring import evaluator
from supple.studies.motion.fields import fields

SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
FIRST = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
AT = 0.6
H = 5e-3
BOOM = {"name": "boom", "parent": "base", "length": 2.0, "theory": "euler-bernoulli",
        "joint": {"type": "prismatic", "rotor_inertia": 2, "start": 1.2},
        "mass_per_length": 5, "bending_stiffness": 4e3, "tip": {"mass": 1.0}}  # fmt: skip
JIB = {"name": "jib", "parent": "boom", "at": AT, "length": 0.7, "mass_per_length": 3,
       "joint": {"type": "revolute", "rotor_inertia": 0.2,
                 "mount": {"rpy": [0, 0, -1.0], "xyz": [0.02, -0.05, 0]}},
       "bending_stiffness": 1.5e3, "tip": {"mass": 0.8}}  # fmt: skip


def mechanism(links: list[dict], **more) -> supple.Robot:
    given = {"supple": 1, "name": "sleeve", "architecture": "mechanism", "planar": True,
             "gravity": [0.3, -9.81, 0], "links": links, **more}  # fmt: skip
    return supple.loads(json.dumps(given))


@cache
def sleeve_model(basis: str = "modes", stiffening: bool = False) -> supple.Model:
    bases = {"modes": supple.AssumedModes(2), "elements": supple.FiniteElements(2)}
    return supple.build(mechanism([BOOM, JIB]), bases[basis], stiffening=stiffening)


@pytest.mark.slow
def test_locked_frequencies_are_those_of_the_exact_beams():
    """The sleeve on a node of cubic elements, half-way: from above, with their fourth order."""
    robot = mechanism([BOOM, JIB])
    theta = [1.2, 0.3]
    exact = supple.modes(robot, theta, count=5).omega
    errors = []
    for n in (2, 4, 8):
        model = supple.build(robot, supple.FiniteElements(n))
        q = model.chain.pose(theta)
        own = slice(model.joints, None)
        K, M = (A[own, own] for A in (stiffness_at(model, q), model.mass_matrix(q)))
        omega = np.sqrt(eigh(K, M, eigvals_only=True)[:5])
        assert (omega > exact * (1 - 1e-9)).all()
        errors.append(np.abs(omega / exact - 1).max())
    assert errors[2] < 5e-4
    assert errors[0] > 12 * errors[1] > 144 * errors[2]


def test_free_frequencies_are_those_of_the_exact_beams():
    """Motors let go: the beam slides under the sleeve, which stays. Elements from above."""
    robot = mechanism([BOOM, JIB])
    theta = [1.2, 0.3]
    model = sleeve_model("elements")
    found = supple.modes(robot, theta, count=3, joints="free")
    assert (found.certified, found.rigid_modes) == (True, 2)
    q = model.chain.pose(theta)
    omega2 = eigh(stiffness_at(model, q), model.mass_matrix(q), eigvals_only=True)
    off = np.sqrt(omega2[2:5]) / found.omega - 1
    assert (off > -1e-9).all()
    assert off.max() < 2e-2
    above = supple.modes(robot, theta, count=3, joints="free", method="elements", order="quintic")
    np.testing.assert_allclose(above.omega, found.omega, rtol=1e-6)


def test_a_passive_slide_swings_without_what_it_slides_under():
    """Along a straight beam, sqrt(k/m) of the beam and its tip, the jib at rest."""
    slide = {"type": "prismatic", "passive": True, "start": 1.2, "stiffness": 50.0}
    robot = mechanism([BOOM | {"joint": slide}, JIB])
    assert supple.modes(robot, [0.3], count=1).omega[0] == pytest.approx(np.sqrt(50 / 11), rel=1e-9)


def test_on_a_rigid_slide_it_is_mounted_on_the_ground():
    """A beam that does not bend slides through a sleeve that stands still: the same two arms."""
    stiff = {**BOOM, "theory": "rigid"}
    ground = {**JIB, "parent": "base"}
    del ground["at"]
    mount = {"rpy": [0, 0, -1.0], "xyz": [AT + 0.02, -0.05, 0]}
    ground["joint"] = {**JIB["joint"], "mount": mount}
    basis = supple.AssumedModes(2)
    one, other = (supple.build(mechanism([stiff, jib]), basis) for jib in (JIB, ground))
    rng = np.random.default_rng(0)
    size = np.r_[1, 1, np.full(one.size - 2, 0.02)]
    q, qd, qdd = (rng.normal(size=one.size) * size for _ in range(3))
    q[0] = 1.3
    for a, b in (
        (one.mass_matrix(q), other.mass_matrix(q)),
        (one.inverse_dynamics(q, qd, qdd), other.inverse_dynamics(q, qd, qdd)),
        (one.tip(q)[0], other.tip(q)[0]),
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def root(model: supple.Model, q: np.ndarray, link: str) -> tuple[np.ndarray, np.ndarray]:
    def make() -> ca.Function:
        x = ca.SX.sym("q", model.size)
        p, R, _ = model.functions.laws.frames(ca.vertsplit(x))[model.chain.index(link)]
        return ca.Function("root", [x], [ca.vertcat(*p), ca.vertcat(*(ca.horzcat(*r) for r in R))])

    p, R = model.functions.cached(("root", link), make)(q)
    return p.full()[:, 0], R.full()


def points(model: supple.Model, q0: np.ndarray, start: float):
    """(mass, place as a function of q) of the boom beyond a fraction, its tip, and the jib."""
    t, w = np.polynomial.legendre.leggauss(12)
    l = q0[0]
    e = np.array([1.0, 0.0, 0.0])
    boom = []
    jib = []
    for a, b in ((start, max(start, 0.5)), (max(start, 0.5), 1.0)):
        for s, part in zip((a + b) / 2 + (b - a) / 2 * t, (b - a) / 2 * w, strict=True):
            back = (1 - s) * l

            def place(q, back=back):
                f = 1 - back / q[0]
                return f * q[0] * e + model.deflection_at(q, "boom", f)

            boom.append((5 * l * part, place))
    boom.append((1.0, lambda q: q[0] * e + model.deflection_at(q, "boom", 1.0)))
    for a, b in ((0, 0.5), (0.5, 1)):
        for s, part in zip((a + b) / 2 + (b - a) / 2 * t, (b - a) / 2 * w, strict=True):
            jib.append((3 * 0.7 * part, s))
    jib.append((0.8, 1.0))

    def hung(q, s):
        p, R = root(model, q, "jib")
        return p + R @ (0.7 * s * e + model.deflection_at(q, "jib", s))

    return boom, [(m, lambda q, s=s: hung(q, s)) for m, s in jib]


@pytest.mark.parametrize(
    ("basis", "stiffening"),
    [
        pytest.param("modes", False, marks=pytest.mark.slow),
        ("elements", False),
        pytest.param("elements", True, marks=pytest.mark.slow),
    ],
)
def test_forces_are_those_of_places_seen_over_time(basis, stiffening):
    """Root of the jib, kinetic energy, and the moment in the boom on both sides of the sleeve."""
    model = sleeve_model(basis, stiffening)
    rng = np.random.default_rng(3)
    n = model.size
    size = np.r_[1, 1, np.full(n - 2, 0.01)]
    q, qd, qdd = (rng.normal(size=n) * size for _ in range(3))
    q[0] = 1.35
    qd[0] = 0.4
    times = [q + qd * s + qdd * s * s / 2 for s in H * np.arange(-4, 5)]
    # where the jib begins: on the section at AT, turned by its slope
    f = AT / q[0]
    h = 1e-2
    v = np.array([model.deflection_at(q, "boom", f + k * h) for k in range(-4, 5)])
    slope = FIRST @ v[:, 1] / (h * q[0])
    c = np.cos(slope)
    s = np.sin(slope)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    there = v[4] + [AT, 0, 0] + turn @ [0.02, -0.05, 0]
    p, R = root(model, q, "jib")
    np.testing.assert_allclose(p, there, atol=1e-9)
    angle = slope - 1.0 + q[1]
    np.testing.assert_allclose(R[:2, 0], [np.cos(angle), np.sin(angle)], atol=1e-9)
    # kinetic energy; the part inside the hub slides only
    boom, jib = points(model, q, 0.02)
    inside = 5 * (2.0 - q[0] * 0.98)
    T = (inside + 2) * qd[0] ** 2 / 2 + 0.2 * qd[1] ** 2 / 2
    forces = []
    for m, where in boom + jib:
        places = np.array([where(x) for x in times])
        T += m * np.sum((FIRST @ places / H) ** 2) / 2
        forces.append(m * (SECOND @ places / H**2 - np.array([0.3, -9.81, 0])))
    found = qd @ model.mass_matrix(q) @ qd / 2
    assert found == pytest.approx(T, rel=3e-6)  # of the first 2 % the bending is left out
    for fraction in (0.3, 0.7):
        boom, jib = points(model, q, fraction)
        centre = fraction * q[0] * np.array([1.0, 0, 0])
        centre = centre + model.deflection_at(q, "boom", fraction)
        moment = np.zeros(3)
        hung = np.zeros(3)
        for m, where in boom + (jib if fraction * q[0] < AT else []):
            places = np.array([where(x) for x in times])
            F = m * (SECOND @ places / H**2 - np.array([0.3, -9.81, 0]))
            moment += np.cross(places[4] - centre, F)
        if fraction * q[0] < AT:  # along the beam the hub holds the jib, not the beam
            for m, where in jib:
                places = np.array([where(x) for x in times])
                hung += m * (SECOND @ places / H**2 - np.array([0.3, -9.81, 0]))
            moment -= np.cross(v[4] + [AT, 0, 0] - centre, [hung[0], 0, 0])
        output = evaluator(model, supple.Moment("boom", fraction))
        found = output(q, qd, qdd, np.zeros(6))[0]
        assert -found[2] == pytest.approx(moment[2], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("basis", "stiffening"), [("modes", False), ("elements", True)])
def test_energy_is_kept_while_it_slides(basis, stiffening):
    model = sleeve_model(basis, stiffening)
    q0 = model.chain.pose([1.25, 0.4])
    run = supple.simulate(model, [40.0, 3.0], q0,
                          duration=0.3, method="adams", tolerance=1e-12)  # fmt: skip
    assert np.ptp(run.q[:, 0]) > 0.05
    assert run.openness < 1e-8


def propped() -> supple.Model:
    """A boom whose middle rests on a post that leans with it: closed at a place along it."""
    post = {"name": "post", "parent": "base", "length": 0.5, "theory": "rigid",
            "mass_per_length": 2,
            "joint": {"type": "revolute", "passive": True, "start": "90deg",
                      "mount": {"xyz": [AT, -0.5, 0]}}}  # fmt: skip
    hold = {"ends": [{"link": "boom", "at": AT}, "post"], "type": "revolute"}
    robot = mechanism([BOOM, post], closures=[hold], tip="boom")
    return supple.build(robot, supple.AssumedModes(3), stiffening=False)


@pytest.mark.slow
def test_a_closure_along_a_slide_props_it_up():
    """The middle of the boom stays on a circle about the post's foot; energy is kept."""
    model = propped()
    q0 = model.chain.pose()
    run = supple.simulate(model, [90.0], q0, duration=0.1, method="adams", tolerance=1e-12)
    assert run.openness < 1e-8
    for q in run.q[:: len(run.q) // 5]:
        tree, x = model.functions.tree_coordinates(q[None])
        f = AT / x[0, 0]
        down = link_deflection(tree.links[0], x[0, tree.own(0)], f, False)
        assert np.hypot(down[0], down[1] + 0.5) == pytest.approx(0.5, abs=1e-7)


def test_a_length_that_leaves_no_room_for_it_is_refused():
    model = sleeve_model("elements")
    with pytest.raises(supple.SuppleError, match=r"must lie between 0.6 m and"):
        supple.simulate(model, q0=model.chain.pose([0.5, 0.0]), duration=0.01)


def test_a_drawing_puts_it_where_the_equations_do():
    model = sleeve_model("elements")
    run = supple.simulate(model, [5.0, 0.5], model.chain.pose([1.25, 0.4]), duration=0.02)
    found = fields(run, samples=3, points=5)
    for k, t in enumerate(found.t):
        q = run.q[np.argmin(np.abs(run.t - t))]
        np.testing.assert_allclose(found.p[k, 1], root(model, q, "jib")[0], atol=1e-12)


FOOT = np.array([0.9, -0.6, 0.3])
STIFF = {"theory": "rigid", "mass_per_length": 3, "tip": {"mass": 1.0, "inertia": [0.01] * 3}}


def leaning(planar: bool, slide: dict, closure: str = "", hung: bool = False) -> supple.Robot:
    """An arm, a boom that slides out of it, and a strut to a place along the boom, not square.

    Or a rod to the base; with `hung` something swings at that place as well. All links are rigid.
    """
    foot = FOOT * [1, 1, not planar]
    R = Rotation.from_euler("z", 0.3) * Rotation.from_euler("ZYX", [0.4, 0.2 * (not planar), 0])
    place = Rotation.from_euler("z", 0.3).apply([0.5, 0, 0]) + R.apply([AT, 0, 0])
    d = place - foot
    length = float(np.linalg.norm(d))
    yaw = float(np.arctan2(d[1], d[0]))
    arm = {"name": "arm", "length": 0.5, **STIFF,
           "joint": {"type": "revolute", "rotor_inertia": 0.4, "start": 0.3, "stiffness": 4e3,
                     "bearing": {"translation": [3e5, 4e5, 6e5]}}}  # fmt: skip
    mount = {"rpy": [0, 0.2 * (not planar), 0.4]}
    boom = {"name": "boom", "length": 2.0, **STIFF,
            "joint": {"type": "prismatic", "start": 1.2, "mount": mount} | slide}  # fmt: skip
    joint = {"type": "revolute", "passive": True, "start": yaw, "stiffness": 90.0}
    if not planar:
        joint |= {"type": "spherical", "start": [0, -np.arcsin(d[2] / length), yaw]}
    strut = {"name": "strut", "parent": "base", "length": length, **STIFF,
             "joint": joint | {"mount": {"xyz": foot.tolist()}}}  # fmt: skip
    end = {"link": "boom", "at": AT}
    tie = {"ends": [end, "strut"], "type": "revolute" if planar else "spherical"}
    if closure == "distance":
        tie = {"ends": ["base", end], "type": closure, "length": float(np.linalg.norm(place))}
    swings = {"name": "bob", "parent": "boom", "at": AT, "length": 0.4, **STIFF,
              "joint": {"type": "revolute", "passive": True, "stiffness": 30.0}}  # fmt: skip
    links = [arm, boom, strut, *([swings] if hung else [])]
    return mechanism(links, planar=planar, closures=[tie], tip="boom")


SLIDES: dict[str, tuple] = {
    "driven": (False, {"rotor_inertia": 2.0}),
    "sprung": (False, {"passive": True, "stiffness": 500.0}),
    "sprung, hung": (False, {"passive": True, "stiffness": 500.0}, "", True),
    "rod": (True, {"passive": True, "stiffness": 500.0}, "distance"),
    "bearing": (
        False,
        {"passive": True, "bearing": {"translation": [2e4, 5e4, None]}},
        "",
        True,
    ),
    "sprung, bearing": (
        True,
        {"passive": True, "stiffness": 5e3, "bearing": {"translation": [2e4, 5e4, None]}},
        "distance",
        True,
    ),
}


@pytest.mark.parametrize("name", SLIDES)
def test_a_closure_along_a_slide_that_is_let_go(name):
    """Passive, or its motor let go: the boom slides through, the place stays; as in the Model."""
    robot = leaning(*SLIDES[name])
    theta = [0.3, 1.2][: 1 + (name == "driven")]
    model = supple.build(robot)
    q = model.chain.pose(theta)
    M = model.mass_matrix(q)
    K = model.functions.evaluator("stiffness")(q)[0]
    for joints, held in (("locked", len(theta)), ("free", 0)):
        found = supple.modes(robot, theta, count=9, joints=joints)
        omega2 = eigh(K[held:, held:], M[held:, held:], eigvals_only=True)
        zero = int((np.abs(omega2) < 1e-6 * found.omega[0] ** 2).sum())
        assert (found.certified, found.rigid_modes) == (True, zero)
        np.testing.assert_allclose(found.omega, np.sqrt(omega2[zero:]), rtol=1e-9)
        above = supple.modes(robot, theta, count=9, joints=joints, method="elements")
        np.testing.assert_allclose(above.omega, found.omega, rtol=1e-9)


def test_a_batch_of_closures_along_a_slide_is_its_rows():
    """The arm turns the boom about a hinge: what the rows take of the slide turns with it."""
    data = leaning(True, {"passive": True, "stiffness": 500.0}).model_dump(exclude_unset=True)
    hinge = {"name": "hinge", "length": 0.0, "joint": {"type": "revolute", "passive": True}}
    data["links"] = [data["links"][0], hinge | {"theory": "rigid"}, *data["links"][1:]]
    robot = supple.MechanismRobot.model_validate(data)
    theta = np.array([[0.3], [0.6], [0.1]])
    many = supple.modes(robot, theta, count=3, joints="free").omega
    each = [supple.modes(robot, at, count=3, joints="free").omega for at in theta]
    np.testing.assert_array_equal(many, each)
    assert np.ptp(many[:, 0]) > 1e-2


def test_a_motor_answers_through_a_closure_along_a_slide():
    """The response of the exact beams is that of the linearised Model."""
    robot = leaning(*SLIDES["sprung, bearing"]).with_("gravity", [0, 0, 0])
    hertz = [0.3, 1.0, 4.0]
    found = supple.response(robot, [0.3], hertz, ["tau.arm"], ["tip.x", "tip.y"], joints="free")
    model = supple.build(robot)
    line = supple.linearize(model, model.chain.pose([0.3]), outputs=[supple.Tip()])
    wanted = [
        line.C[:2] @ np.linalg.solve(2j * np.pi * f * np.eye(len(line.A)) - line.A, line.B)
        for f in hertz
    ]
    np.testing.assert_allclose(found.values, wanted, rtol=1e-8)


def test_energy_is_kept_by_a_slide_that_is_let_go_along_a_closure():
    model = supple.build(leaning(*SLIDES["bearing"]))
    run = supple.simulate(model, [2.0], duration=0.1, method="adams", tolerance=1e-12)
    assert np.ptp(run.q[:, model.coordinates.index("passive.boom")]) > 0.01
    assert run.openness < 1e-8
