"""Exact frequency responses: statics at zero, poles of modes, zeros in closed form."""

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

import supple

INDUSTRIAL = supple.load("industrial-3")
THETA = np.radians([10, 45, 45])
PINNED = supple.SerialRobot(
    name="pinned",
    planar=True,
    links=[{"name": "link1", "length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0}],
)


def test_at_zero_frequency_it_is_the_compliance():
    found = supple.response(
        INDUSTRIAL,
        THETA,
        [0.0, 10.0],
        inputs=["force.x", "force.y", "moment.z"],
        outputs=["tip.x", "tip.y", "tip.rz"],
        joints="locked",
    )
    wanted = supple.statics(INDUSTRIAL, THETA).compliance[np.ix_([0, 1, 5], [0, 1, 5])]
    assert found.values[0] == pytest.approx(wanted, rel=1e-10, abs=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("joints", ["locked", "free"])
def test_poles_are_those_of_modes(joints):
    found = supple.response(INDUSTRIAL, THETA, [250.0], ["force.y"], ["tip.y"], joints=joints)
    wanted = supple.modes(INDUSTRIAL, THETA, joints=joints, count=10).omega
    wanted = wanted[wanted < 2 * math.pi * 250]
    assert found.poles.imag == pytest.approx(wanted, rel=1e-12)
    close = supple.response(
        INDUSTRIAL, THETA, wanted[0] * (1 + np.array([-1e-6, 1e-6])) / (2 * math.pi),
        ["force.y"], ["tip.y"], joints=joints,
    ).values[:, 0, 0]  # fmt: skip
    assert close[0] * close[1] < 0  # through infinity between the two


def closed_form(first: float, sign: int) -> float:
    """s L^2 sqrt(m / EI) = 2 a^2 with tan a = sign tanh a."""
    with mpmath.workdps(30):
        a = mpmath.findroot(
            lambda x: mpmath.sin(x) * mpmath.cosh(x) - sign * mpmath.sinh(x) * mpmath.cos(x), first
        )
        return float(2 * a * a)


def test_zeros_of_hub_torque_to_tip_in_closed_form():
    """sin b + sinh b = 0 with b = (1 + i) a: tan a + tanh a = 0, real pairs s = +-2 a^2."""
    found = supple.response(PINNED, [0.0], [48.0], ["tau.link1"], ["tip.y", "theta.link1"])
    wanted = [closed_form(x, -1) for x in (2.365, 5.498, 8.639, 11.781)]
    zeros = found.zeros("tau.link1", "tip.y")
    assert np.abs(zeros.imag).max() == 0
    assert zeros.real == pytest.approx(wanted, rel=1e-9)


def test_zeros_of_tip_force_to_strain_in_closed_form():
    """At the root by reciprocity those of hub torque to tip; at x of a clamped beam, by hand.

    A load on the tip bends the beam there by w'' = A (cosh + cos)(b x) + B (sinh + sin)(b x), with
    w''(L) = 0; it vanishes at x where the two rows are parallel.
    """
    where = (0.0, 0.5)
    strains = [supple.Strain("link1", x, 0.01) for x in where]
    found = supple.response(PINNED, [0.0], [48.0], ["force.y"], strains, joints="locked")
    zeros = found.zeros("force.y", strains[0])
    wanted = [closed_form(x, -1) for x in (2.365, 5.498, 8.639, 11.781)]
    assert zeros.imag == pytest.approx(0, abs=1e-9)
    assert zeros.real == pytest.approx(wanted, rel=1e-9)

    def parallel(b: float) -> float:
        rows = [(math.cosh(y) + math.cos(y), math.sinh(y) + math.sin(y)) for y in (b / 2, b)]
        return (rows[0][0] * rows[1][1] - rows[0][1] * rows[1][0]) / math.cosh(b)

    b = np.linspace(1.0, math.sqrt(2 * math.pi * 48), 4000)
    signs = np.array([parallel(x) for x in b])
    places = np.flatnonzero(signs[1:] * signs[:-1] < 0)
    roots = [brentq(parallel, b[k], b[k + 1], xtol=1e-13) ** 2 for k in places]
    inner = found.zeros("force.y", strains[1])
    assert len(roots) > 1
    assert inner[np.abs(inner.real) < 1e-6].imag == pytest.approx(roots, rel=1e-9)


def test_zeros_of_the_joint_are_clamped_frequencies_and_a_hub_moves_none():
    found = supple.response(PINNED, [0.0], [48.0], ["tau.link1"], ["tip.y", "theta.link1"])
    clamped = supple.modes(PINNED, [0.0], count=6).omega
    collocated = found.zeros("tau.link1", "theta.link1")
    assert collocated == pytest.approx(1j * clamped[clamped < 2 * math.pi * 48], rel=1e-9)
    heavy = PINNED.with_({"links.link1.joint.hub": {"inertia": 0.3}, "payload.mass": 0.7})
    same = supple.response(heavy, [0.0], [48.0], ["tau.link1"], ["tip.y"])
    zeros = same.zeros("tau.link1", "tip.y")
    assert zeros == pytest.approx(found.zeros("tau.link1", "tip.y"), rel=1e-9)


def test_it_equals_the_linearised_model_below_its_truncation():
    """Axial deformation is linear in an element: half the length leaves a quarter of the error."""
    frequencies = np.array([1.0, 8.0, 20.0])
    found = supple.response(
        INDUSTRIAL, THETA, frequencies, ["tau.link1", "tau.link2"], ["theta.link1", "theta.link2"]
    )
    errors = []
    for elements in (2, 4):
        model = supple.build(INDUSTRIAL, supple.FiniteElements(elements))
        q = np.zeros(model.size)
        q[:3] = THETA
        G = supple.linearize(model, q).transfer(2j * math.pi * frequencies)[:, :2, :2]
        size = np.abs(found.values).max(axis=(1, 2))
        errors.append(np.abs(G - found.values).max(axis=(1, 2)) / size)
    assert (errors[1] < 0.3 * errors[0]).all()
    assert (errors[1] < 1e-7 * frequencies**2).all()  # what the first neglected modes weigh


def test_a_sprung_joint_answers_on_the_motor_side():
    """Rotor J behind a spring k on a rigid link of inertia I: two masses in closed form."""
    J = 0.2
    k = 300.0
    inertia = 1.5
    robot = supple.SerialRobot(
        name="two",
        planar=True,
        links=[
            {
                "name": "a",
                "theory": "rigid",
                "joint": {"stiffness": k, "rotor_inertia": J, "hub": {"inertia": inertia}},
            }
        ],
    )
    f = np.array([0.5, 2.0, 9.0])
    found = supple.response(robot, [0.0], f, ["tau.a"], ["theta.a", "tip.rz"])
    w2 = (2 * math.pi * f) ** 2
    det = (k - w2 * J) * (k - w2 * inertia) - k * k
    assert found.values[:, 0, 0] == pytest.approx((k - w2 * inertia) / det, rel=1e-12)
    assert found.values[:, 1, 0] == pytest.approx(k / det, rel=1e-12)
    massless = robot.with_("links.a.joint.rotor_inertia", 0.0)
    soft = supple.response(massless, [0.0], f, ["tau.a"], ["theta.a"])
    assert soft.values[:, 0, 0] == pytest.approx(1 / k - 1 / (w2 * inertia), rel=1e-12)


def test_structural_damping_scales_a_clamped_beam():
    """E (1 + i eta) alone: H(omega) = H_0(omega / sqrt(1 + i eta)) / (1 + i eta), at rest exact."""
    eta = 0.05
    given = (["force.y"], ["tip.y"])
    damped = supple.response(
        PINNED, [0.0], [0.0, 0.4], *given, joints="locked", structural_damping=eta
    )
    static = supple.response(PINNED, [0.0], [0.0, 0.4], *given, joints="locked")
    assert damped.values[0] == pytest.approx(static.values[0] / (1 + 1j * eta), rel=1e-12)


def test_modal_damping_at_resonance_and_far_from_it():
    omega = supple.modes(PINNED, [0.0], count=1).omega[0]
    f = np.array([0.0, omega / (2 * math.pi)])
    free = supple.response(PINNED, [0.0], f * [1, 0.5], ["force.y"], ["tip.y"], joints="locked")
    found = supple.response(
        PINNED, [0.0], f, ["force.y"], ["tip.y"], joints="locked", modal_damping=0.01
    )
    assert found.values[0, 0, 0] == pytest.approx(free.values[0, 0, 0], rel=1e-9)
    # Every clamped mode of a uniform beam has phi(L)^2 = 4 / (m L); beyond the tenth, which is 500
    # times as fast, they add what they add at rest.
    every = supple.modes(PINNED, [0.0], count=10).omega
    sums = [(4 / (every**2 - w**2 + 2j * 0.01 * every * w)).sum() for w in (0.0, omega)]
    peak = sums[1] + found.values[0, 0, 0] - sums[0]
    assert found.values[1, 0, 0] == pytest.approx(peak, rel=1e-8)


def test_modal_damping_far_below_the_first_mode():
    """Losses of a band that ends far below the first mode: -2 i zeta omega sum 4 / omega_k^3."""
    every = supple.modes(PINNED, [0.0], count=60).omega
    w = every[0] / 50
    given = {"inputs": ["force.y"], "outputs": ["tip.y"], "joints": "locked"}
    found = supple.response(PINNED, [0.0], [w / (2 * math.pi)], modal_damping=0.01, **given)
    lost = (4 / (every**2 - w**2 + 2j * 0.01 * every * w)).sum().imag
    assert found.values[0, 0, 0].imag == pytest.approx(lost, rel=1e-4)  # eight modes: 1 / 400^1.5


def test_a_delta_answers_at_its_platform():
    robot = supple.load("kuo-delta")
    found = supple.response(
        robot, None, [0.0], ["force.z"], ["tip.z"], position=[0, 0, 0.6], joints="locked"
    )
    assert not len(found.poles)
    assert not len(found.zeros("force.z", "tip.z"))
    wanted = supple.statics(robot, position=[0, 0, 0.6]).compliance[2, 2]
    assert found.values[0, 0, 0] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"inputs": ["torque.link1"]}, "input is 'torque.link1': give tau.LINK"),
        ({"inputs": ["tau.link9"]}, "there is no link 'link9': the links are link1"),
        ({"inputs": ["tau.link1"], "joints": "locked"}, "does nothing with this joint locked"),
        ({"outputs": ["nose"]}, "output is 'nose': give tip.x"),
        ({"frequency_hz": [-1.0]}, "frequency_hz must be"),
        ({"structural_damping": 0.1, "modal_damping": 0.1}, "give one of them"),
        ({"joints": "loose"}, "it must be one of locked, free"),
    ],
)
def test_bad_questions_are_told(given, sentence):
    asked = {"frequency_hz": [1.0], "inputs": ["force.y"], "outputs": ["tip.y"]} | given
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.response(INDUSTRIAL, THETA, **asked)


def test_a_path_that_sees_nothing_has_no_zeros():
    found = supple.response(
        PINNED, [0.0], [20.0], ["force.y", "tau.link1"], [supple.Strain("link1", 0.0)]
    )
    with pytest.raises(supple.SuppleError, match="does not move"):
        found.zeros("force.y", supple.Strain("link1", 0.0))


@pytest.mark.parametrize("kind", ["bode", "nyquist"])
def test_plots_show_every_path(tmp_path, kind):
    f = np.linspace(0.5, 60, 50)
    found = supple.response(
        INDUSTRIAL,
        THETA,
        f,
        ["force.y"],
        ["tip.x", "tip.y"],
        joints="locked",
        structural_damping=0.02,
    )
    figure = found.plot(tmp_path / f"{kind}.png", kind=kind)
    lines = figure.axes[0].get_legend().get_texts()
    assert [text.get_text() for text in lines] == ["tip.x / force.y", "tip.y / force.y"]


def test_moments_accelerations_and_tips_are_outputs_too():
    """Exact moments and accelerations against the linearised model, whose elements hold them."""
    robot = supple.load("de-luca-two-link")
    outputs = [supple.Tip(), supple.Moment("link1", 0.0), supple.Acceleration("link2", 1.0)]
    outputs += [supple.Moment("link2", 0.5), supple.Encoder("link2"), supple.Strain("link1", 0.2)]
    theta = [0.0, 0.6]
    f = np.array([0.2, 0.9])
    exact = supple.response(robot, theta, f, inputs=["tau.link1", "force.y"], outputs=outputs)
    assert exact.outputs[3] == "moment.link1@0.x"
    model = supple.build(robot, supple.FiniteElements(4))
    lin = supple.linearize(model, theta, outputs=outputs, inputs=("tau", "tip force"))
    pick = [lin.inputs.index(name) for name in ("tau.link1", "force.y")]
    G = lin.transfer(2j * np.pi * f)[:, :, pick]
    for row, name in enumerate(exact.outputs):
        size = np.abs(G[:, row]).max()
        np.testing.assert_allclose(exact.values[:, row], G[:, row], atol=1e-4 * size, err_msg=name)
    with pytest.raises(supple.SuppleError, match=r"Moment\(link, fraction\)"):
        supple.response(robot, theta, f, outputs=[supple.Gyroscope("link1")])


def test_a_rolled_link_bends_about_its_own_z():
    """A strain by a distance is about the link's z, whatever the section's roll."""
    steel = supple.Material(young_modulus=2e11, poisson_ratio=0.3, density=7800)
    found = []
    for roll in (0.0, np.pi / 2):
        depth, width = (0.05, 0.02) if roll == 0 else (0.02, 0.05)
        section = supple.Rectangle(depth=depth, width=width, shear_coefficient=0.85)
        link = supple.Link(name="a", length=1.0, material=steel, section=section, roll=roll)
        robot = supple.SerialRobot(name="one", links=[link])
        asked = {"inputs": ["force.y"], "outputs": [supple.Strain("a", 0.0)], "joints": "locked"}
        found.append(supple.response(robot, [0.0], [0.0, 5.0], **asked).values)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


@pytest.mark.slow
def test_the_force_of_a_driven_rod_is_an_input() -> None:
    """A boom lifted by a cylinder: reciprocity, and the linear model of its equations."""
    bar = {"mass_per_length": 20.0, "bending_stiffness": 3000.0}
    swing = {"type": "revolute", "passive": True, "start": 0.5}
    feet = [{"link": "base", "mount": {"xyz": [0.3, -0.5, 0]}}, {"link": "boom", "at": 1.0}]
    rod = {"name": "ram", "type": "distance", "motor": True, "length": 1.0, "ends": feet}
    boom = {"name": "boom", "joint": swing, "length": 2.0, "tip": {"mass": 15}} | bar
    given = {"name": "crane", "planar": True, "links": [boom], "closures": [rod]}
    robot = supple.MechanismRobot.model_validate(given)
    f = np.array([0.5, 2.0])
    ask = {"inputs": ["tau.ram", "force.y"], "joints": "free"}
    found = supple.response(robot, [1.1], f, outputs=["theta.ram", "tip.y"], **ask).values
    np.testing.assert_allclose(found[:, 0, 1], found[:, 1, 0], rtol=1e-9)
    model = supple.build(robot, supple.FiniteElements(2, "quintic"))  # the rod on a node
    lin = supple.linearize(model, model.chain.pose(np.array([1.1])), outputs=[supple.Tip()])
    for k, s in enumerate(2j * np.pi * f):
        moved = np.linalg.solve(s * np.eye(len(lin.A)) - lin.A, lin.B)[:, 0]
        off = [moved[0], (lin.C @ moved)[1]] - found[k, :, 0]
        assert np.abs(off).max() < 1e-3 * np.abs(found[k, :, 0]).max()
