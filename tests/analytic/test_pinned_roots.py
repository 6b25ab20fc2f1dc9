"""Assumed modes of links that turn freely about their roots, beside those of clamped ones."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import supple

STEEL = {"young_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7800}
BAR = {"shape": "rectangle", "depth": 0.01, "width": 0.02}


def arm(links=1, theory="euler-bernoulli", **more):
    each = {"length": 0.8, "material": STEEL, "section": BAR, "theory": theory} | more
    described = [{"name": f"link{k + 1}", "joint": {}, **each} for k in range(links)]
    return supple.SerialRobot(name="arm", planar=True, gravity=[0, 0, 0], links=described)


def free_frequencies(model, q):
    """Natural frequencies with free joints, rad/s, those of the joints alone left out."""
    M = model.mass_matrix(q)
    return np.sqrt(np.abs(eigh(model.stiffness, M, eigvals_only=True)))[model.joints :]


def test_one_pinned_mode_is_the_mode_of_a_free_link():
    """tan(z) = tanh(z) of a beam on a pin: one shape has it to rounding, a clamped one does not."""
    z = brentq(lambda x: np.tan(x) - np.tanh(x), 3.8, 4.0)
    EI = 2.1e11 * 0.02 * 0.01**3 / 12
    exact = z**2 * np.sqrt(EI / (7800 * 0.02 * 0.01)) / 0.8**2
    for root, accuracy in (("pinned", 1e-10), ("clamped", 0.5)):
        model = supple.build(arm(), supple.AssumedModes(1, root=root), stiffening=False)
        error = free_frequencies(model, [0.0, 0.0])[0] / exact - 1
        assert abs(error) < accuracy
        assert error > -1e-12
        assert root == "pinned" or error > 0.1


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_both_roots_converge_to_the_exact_beams(theory):
    """Two links with a heavy end, joints free and locked, against the certified frequencies."""
    robot = arm(2, theory, tip={"mass": 0.5, "inertia": 0.01})
    theta = [0.2, 0.9]
    exact = {k: supple.modes(robot, theta, count=3, joints=k).omega for k in ("free", "locked")}
    errors = {}
    for root in ("clamped", "pinned"):
        for count in (1, 2, 4, 8):
            model = supple.build(robot, supple.AssumedModes(count, root=root))
            q = np.concatenate([theta, np.zeros(model.size - 2)])
            M = model.mass_matrix(q)
            K = model.stiffness
            locked = np.sqrt(eigh(K[2:, 2:], M[2:, 2:], eigvals_only=True))
            for name, found in (("free", free_frequencies(model, q)), ("locked", locked)):
                error = (found[:2] / exact[name][-3:][:2] - 1).max()
                errors.setdefault((root, name), []).append(error)
    for each in errors.values():
        assert min(each) > -1e-8  # from above
        assert (np.diff(each) < 0).all()
    for key in (("clamped", "free"), ("clamped", "locked"), ("pinned", "free")):
        assert errors[key][-1] < 2e-4
    # With free joints pinned shapes are better; a moment at the root, which a locked joint carries,
    # they only approach: the error falls with the first power of their number
    assert errors["pinned", "free"][0] < errors["clamped", "free"][0]
    slow = errors["pinned", "locked"]
    assert slow[2] / slow[3] == pytest.approx(2, rel=0.3)


def test_a_tapered_pinned_link_is_free_to_turn():
    """One shape of a tapered link against many elements with a free joint."""
    stations = [{"at": 0, "section": BAR}, {"at": 0.8, "section": BAR | {"depth": 0.005}}]
    link = {"name": "link1", "joint": {}, "length": 0.8, "material": STEEL, "stations": stations}
    robot = supple.SerialRobot(name="arm", planar=True, gravity=[0, 0, 0], links=[link])
    model = supple.build(robot, supple.AssumedModes(1, root="pinned"))
    exact = supple.modes(robot, [0.0], count=2, joints="free").omega
    assert free_frequencies(model, [0.0, 0.0])[0] == pytest.approx(exact[exact > 1][0], rel=1e-8)


def test_one_free_mode_is_the_mode_of_a_free_beam():
    """A free shape measured from its root's tangent, put on a root that moves and turns.

    Independent route: cosh z cos z = 1 of a free beam; rigid motions are added by hand.
    """
    z = brentq(lambda x: np.cosh(x) * np.cos(x) - 1, 4.5, 5.0)
    model = supple.build(arm(), supple.AssumedModes(1, root="free"), stiffening=False)
    EI = 2.1e11 * 0.02 * 0.01**3 / 12
    m = 7800 * 0.02 * 0.01
    exact = z**2 * np.sqrt(EI / m) / 0.8**2
    x, weights = np.polynomial.legendre.leggauss(24)
    x = 0.4 * (x + 1)
    weights = 0.4 * m * weights
    bent = [model.deflection_at(np.array([[0.0, 1e-3]]), "link1", s / 0.8)[0, 1] / 1e-3 for s in x]
    fields = np.stack([np.ones_like(x), x, bent])
    M = (weights * fields) @ fields.T
    K = np.diag([0, 0, model.stiffness[-1, -1]])
    assert np.sqrt(eigh(K, M, eigvals_only=True)[-1]) == pytest.approx(exact, rel=1e-8)


@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
@pytest.mark.parametrize("root", ["pinned", "free"])
def test_roots_of_a_sliding_link_converge_to_the_hub_that_clamps(root):
    """Frequencies at three free lengths, from above, with the first power of the number."""
    robot = supple.load("theodore-rrp")
    errors = []
    for count in (2, 4, 8):
        model = supple.build(robot, supple.AssumedModes(count, root=root))
        each = []
        for length in (0.3, 0.6, 1.0):
            exact = supple.modes(robot, [0, 0, length], count=1).omega[0]
            q = np.zeros(model.size)
            q[2] = length
            M = model.mass_matrix(q)[3:, 3:]
            still = np.zeros(model.size)
            bent = [q + 1e-6 * row for row in np.eye(model.size)[3:]]
            K = np.array([model.inverse_dynamics(p, still, still)[3:] / 1e-6 for p in bent])
            each.append(np.sqrt(eigh(K, M, eigvals_only=True)[0]) / exact - 1)
        errors.append(each)
    errors = np.array(errors)
    assert (errors > 0).all()
    assert (np.diff(errors, axis=0) < 0).all()
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.3)


def test_torques_do_no_work_on_shapes_of_any_root():
    """[Theodore1997] III.B in its own coordinates: the flexible rows of the efforts are psi'(0).

    The angle of a pinned link's own frame is phi = theta - psi'(0) eta, so that a torque tau does
    the work tau (d phi + psi'(0) d eta). One motion of both sets of coordinates is the same.
    """
    model = supple.build(arm(), supple.AssumedModes(1, root="pinned"), stiffening=False)
    q = [0.0, 1e-3]
    # sin(z x / L) / sin(z) + sinh(z x / L) / sinh(z): its slope at the root, scaled as the model's
    z = brentq(lambda x: np.tan(x) - np.tanh(x), 3.8, 4.0)
    slope = z * (1 / np.sin(z) + 1 / np.sinh(z)) / 0.8
    tip = model.deflection_at([[0.0, 1e-6]], "link1")[0, 1] / 1e-6
    slope *= tip / (2 - 0.8 * slope)
    to_frame = np.array([[1.0, slope], [0.0, 1.0]])  # theta = phi + psi'(0) eta
    M = to_frame.T @ model.mass_matrix([0.0, 0.0]) @ to_frame
    assert abs(M[0, 1]) < 1e-9 * np.sqrt(M[0, 0] * M[1, 1])  # natural shapes of a free link
    efforts = np.array([1.0, slope])
    own = np.linalg.solve(
        to_frame.T @ model.mass_matrix(q) @ to_frame, efforts - to_frame.T @ model.stiffness @ q
    )
    found = model.forward_dynamics(q, [0.0, 0.0], [1.0])
    assert to_frame @ own == pytest.approx(found, rel=1e-9)


def test_roots_are_told_in_one_sentence():
    with pytest.raises(supple.SuppleError, match="clamped, pinned, free"):
        supple.AssumedModes(1, root="sprung")


SLIDE = {"EI": 1165.4916, "m": 0.4303 / 1.3, "payload": 0.0828, "L": 1.3}  # [Theodore1997] Table I


def frequencies_on_springs(length, sideways, turning, top):
    """First two of a sliding beam whose hub rests on springs, in closed form, rad/s.

    v = a cos + b sin + c cosh + d sinh outside; the part inside is a rigid rod on the hub:
    -w^2 (m_in v + S v') = -k v - EI v''' and -w^2 (S v + J v') = -k_r v' + EI v'' at the root.
    """
    EI = SLIDE["EI"]
    m = SLIDE["m"]
    mp = SLIDE["payload"]
    inside = SLIDE["L"] - length
    mass = m * inside
    moment = -m * inside**2 / 2
    inertia = m * inside**3 / 3

    def determinant(w):
        b = (m * w**2 / EI) ** 0.25
        z = b * length
        v0 = np.array([1.0, 0, 1, 0])  # values at the root of cos, sin, cosh, sinh
        slope0 = b * np.array([0, 1.0, 0, 1])
        bend0 = b**2 * np.array([-1.0, 0, 1, 0])
        shear0 = b**3 * np.array([0, -1.0, 0, 1])
        bend = b**2 * np.array([-np.cos(z), -np.sin(z), np.cosh(z), np.sinh(z)])
        shear = b**3 * np.array([np.sin(z), -np.cos(z), np.sinh(z), np.cosh(z)])
        end = np.array([np.cos(z), np.sin(z), np.cosh(z), np.sinh(z)])
        rows = np.array([
            (sideways - w**2 * mass) * v0 - w**2 * moment * slope0 + EI * shear0,
            (turning - w**2 * inertia) * slope0 - w**2 * moment * v0 - EI * bend0,
            bend,
            EI * shear + mp * w**2 * end,
        ])  # fmt: skip
        return np.linalg.det(rows / np.abs(rows).max(axis=1, keepdims=True))

    grid = np.linspace(0.5, top, 20001)
    values = [determinant(w) for w in grid]
    changes = np.flatnonzero(np.diff(np.sign(values)))[:2]
    return [brentq(determinant, grid[i], grid[i + 1], xtol=1e-12) for i in changes]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::supple.ModelWarning")
@pytest.mark.parametrize("sideways", [1e4, None])
@pytest.mark.parametrize("turning", [3e3, 30.0])
def test_a_hub_that_does_not_clamp_a_sliding_link(sideways, turning):
    """A bearing at the slide: closed form, exact modes, Models, and vibration along a slide."""
    springs = {"rotation": [None, turning, turning]}
    if sideways is not None:
        springs["translation"] = [None, sideways, sideways]
    robot = supple.load("theodore-rrp").with_("links.link3.joint.bearing", springs)
    bases = {
        "two": supple.AssumedModes(2),
        "pinned": supple.AssumedModes(2, root="pinned"),
        "more": supple.AssumedModes(4, root="pinned"),
    }
    models = {name: supple.build(robot, basis) for name, basis in bases.items()}
    first = []
    for length in (0.3, 0.6, 1.0):
        exact = frequencies_on_springs(length, sideways or 1e13, turning, 3000)
        found = supple.modes(robot, [0, 0, length], count=4).omega[::2]  # both planes alike
        assert found == pytest.approx(exact, rel=1e-6 if sideways is None else 1e-9)
        first.append(exact[0])
        errors = {}
        for name, model in models.items():
            q = np.zeros(model.size)
            q[2] = length
            M = model.mass_matrix(q)[3:, 3:]
            still = np.zeros(model.size)
            bent = [q + 1e-6 * row for row in np.eye(model.size)[3:]]
            K = np.array([model.inverse_dynamics(p, still, still)[3:] / 1e-6 for p in bent])
            errors[name] = np.sqrt(eigh((K + K.T) / 2, M, eigvals_only=True)[0]) / exact[0] - 1
        assert min(errors.values()) > -1e-6
        assert errors["two"] < 1e-5
        assert errors["more"] <= errors["pinned"] + 1e-9
    path = supple.ParabolicBlends([0, 0, 0.3], [0, 0, 1.0], 1.0, 0.1)
    grown = supple.free_growth(models["two"], path)
    assert grown["omega"] == pytest.approx(first[2] / first[0], rel=1e-5)
    if min(first) > 90:  # slow beside the vibration: its action is conserved
        assert grown["energy"] == pytest.approx(first[2] / first[0], rel=1e-4)
