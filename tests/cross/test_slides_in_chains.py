"""A link that slides in mid-chain, with flexible links beyond it, and one that twists."""

from functools import cache

import numpy as np
import pytest

import supple
from cross.slides import check_held, held_twin, pinocchio_twin
from supple.beams.basis import AssumedModes, FiniteElements
from supple.equations.build import build
from supple.errors import SuppleError
from supple.studies.motion.simulate import simulate

MATERIAL = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700.0}
L = 1.2  # the slide's whole length


def link(name: str, length: float, joint: dict, depth: float, width: float, **more):
    section = {"shape": "rectangle", "depth": depth, "width": width}
    return {"name": name, "length": length, "joint": joint, "material": MATERIAL,
            "section": section, "theory": "euler-bernoulli", **more}  # fmt: skip


def arm(**changes):
    """Turns, slides, turns: all links bend, the slide in the middle; spatial, with gravity."""
    first = {"type": "revolute", "mount": {"rpy": [0.3, -0.2, 0.1]}, "hub": {"inertia": 0.05}}
    slide = {"type": "prismatic", "mount": {"xyz": [0, 0.02, 0.01], "rpy": [0.4, 0.5, -0.3]}}
    last = {"type": "revolute", "axis": [0, 1, 0], "mount": {"rpy": [0.2, 0.1, 0.6]}}
    links = [
        link("upper", 0.5, first, 0.02, 0.03),
        link("ram", L, slide, 0.012, 0.016, roll=0.3, tip={"mass": 0.2, "inertia": [2e-4] * 3}),
        link("fore", 0.4, last, 0.008, 0.012),
    ]
    payload = {"mass": 0.3, "com": [0.02, 0.01, 0.0], "inertia": [1e-3, 2e-3, 3e-3]}
    robot = supple.SerialRobot(name="mid", gravity=[1.0, -2.0, -9.0], links=links, payload=payload)
    return robot.with_(changes) if changes else robot


# One load a link, so that shapes do not depend on how far the slide is out.
LOADS = (supple.EndLoad(2.0, (0.1, 0.3, 0.4)), supple.EndLoad(0.9, (0.02, 0.05, 0.07)),
         supple.EndLoad(0.3, (1e-3, 2e-3, 3e-3)))  # fmt: skip
BASES = [AssumedModes(1, LOADS, torsion=(0, 1, 0)), FiniteElements((1, 2, 1))]
NAMES = ["modes", "elements"]


def start(model, l=0.6, bent=1e-3):
    q = np.zeros(model.size)
    q[: model.joints] = 0.4, l, -0.7
    q[model.joints :] = bent * np.cos(1 + np.arange(model.size - model.joints))
    return q


@pytest.mark.parametrize("basis", BASES, ids=NAMES)
@pytest.mark.parametrize("stiffening", [False, True], ids=["plain", "stiffened"])
def test_held_still_with_links_beyond_it_equals_a_fixed_link_and_a_rod(basis, stiffening):
    robot = arm(**{"links.ram.theory": "inextensible"})
    twins = (build(one, basis, stiffening=stiffening) for one in (robot, held_twin(robot, 1, 0.7)))
    check_held(*twins, "ram", 1, 0.7, rounds=2, bent=2e-3)


def test_rigid_links_with_the_slide_in_the_middle_equal_pinocchio():
    pin = pytest.importorskip("pinocchio")
    robot = arm(**{f"links.{name}.theory": "rigid" for name in ("upper", "ram", "fore")})
    model = build(robot, AssumedModes(1))
    twin = pinocchio_twin(robot)
    data = twin.createData()
    rng = np.random.default_rng(5)
    for _ in range(10):
        q, qd, qdd = (rng.normal(size=3) for _ in range(3))
        q[1] = rng.uniform(0.2, L)
        ours = model.inverse_dynamics(q, qd, qdd)
        theirs = pin.rnea(twin, data, q, qd, qdd)
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("basis", BASES, ids=NAMES)
def test_energy_balance_while_it_slides_between_links_that_bend(basis):
    model = build(arm(), basis, damping=0.01)
    q0 = start(model, bent=1e-4)
    run = simulate(model, [2.0, 25.0, 0.5], q0, duration=0.06, dt=2e-3, method="adams",
                   tolerance=1e-12)  # fmt: skip
    assert run.complete
    assert np.abs(run.balance).max() < 1e-8 * np.abs(run.energies["kinetic"]).max()
    assert np.ptp(run.q[:, 1]) > 5e-3


@cache
def moved(kind: str):
    """A motion of all joints, the slide out from 0.4 to 0.9 m in 0.25 s; undamped, no gravity.

    Damping of the two bases is of different modes: with the end load, and without.
    """
    bases = {"modes": AssumedModes((2, 3, 2), LOADS, torsion=(1, 2, 1)),
             "elements": FiniteElements((1, 2, 1), "quintic", modes=1)}  # fmt: skip
    changes = {f"links.{name}.theory": "inextensible" for name in ("upper", "ram", "fore")}
    model = build(arm(gravity=[0, 0, 0], **changes), bases[kind])
    path = supple.PointToPoint([0.4, 0.4, -0.7], [0.5, 0.9, -0.6], 0.25, "septic")
    return simulate(model, controller=supple.Decoupling(), trajectory=path, method="bdf",
                    tolerance=1e-7, dt=1e-2)  # fmt: skip


@pytest.mark.parametrize("name", ["ram", "fore"])
def test_assumed_modes_against_elements_while_it_slides(name):
    """Different functions, one motion: deflections of the slide and of the link beyond it."""
    ours, theirs = (moved(kind).deflection(name) for kind in ("modes", "elements"))
    assert np.abs(theirs).max() > 1e-4
    assert np.abs(ours - theirs).max() < 1e-3 * np.abs(theirs).max()
    tips = [moved(kind).tip for kind in ("modes", "elements")]
    assert np.abs(tips[0] - tips[1]).max() < 5e-6


def twisting(payload=4e-4):
    """The RRP arm with a tube for link 3, which carries a bar across its end."""
    robot = supple.load("theodore-rrp")
    links = [one.model_dump(exclude_unset=True) for one in robot.links]
    tube = {"shape": "tube", "diameter": 0.02, "wall": 0.002}
    keep = {key: links[2][key] for key in ("name", "joint", "length")}
    links[2] = {**keep, "material": MATERIAL, "section": tube, "theory": "euler-bernoulli"}
    given = {**robot.model_dump(exclude_unset=True), "links": links,
             "payload": {"mass": 0.0828, "inertia": [payload, payload, 0.0]}}  # fmt: skip
    return supple.SerialRobot(**given)


@pytest.mark.parametrize(
    ("basis", "tolerance"),
    [(AssumedModes(1, torsion=2), 1e-10), (FiniteElements(3, "quintic"), 1e-7)],
    ids=NAMES,
)
@pytest.mark.parametrize("l", [0.25, 1.1])
def test_twist_of_a_held_slide_has_the_known_frequency(basis, tolerance, l):
    """kappa tan kappa = rho I_p l / J, omega = kappa/l sqrt(G/rho): a shaft with a disc."""
    model = build(twisting(), basis)
    q = np.r_[0.0, 0.0, l, np.zeros(model.size - 3)]
    kinds = [name for name in model.coordinates if ".torsion" in name]
    at = [model.coordinates.index(name) for name in kinds]
    from scipy.linalg import eigvalsh
    from scipy.optimize import brentq

    from supple.equations.equilibrium import stiffness_at

    K, M = (A[np.ix_(at, at)] for A in (stiffness_at(model, q), model.mass_matrix(q)))
    # the tip's bodies turn the same way at the end: their inertia is in M already
    found = np.sqrt(eigvalsh(K, M))[0]
    G = 70e9 / (2 * 1.33)
    rho = 2700.0
    polar = np.pi / 32 * (0.02**4 - 0.016**4)
    kappa = brentq(lambda k: k * np.tan(k) - rho * polar * l / 4e-4, 1e-6, np.pi / 2 - 1e-9,
                   xtol=1e-14)  # fmt: skip
    assert found == pytest.approx(kappa / l * np.sqrt(G / rho), rel=tolerance)


@pytest.mark.parametrize("basis", [AssumedModes(1, torsion=1), FiniteElements(1)], ids=NAMES)
def test_energy_balance_of_a_slide_that_twists(basis):
    """A payload off the axis drives bending and twist together while the link slides."""
    robot = twisting().with_({"payload.com": [0.01, 0.05, 0.02], "gravity": [1.0, -2.0, -9.0]})
    model = build(robot, basis, damping=0.01)
    q0 = np.zeros(model.size)
    q0[:3] = (0.2, 0.7, 0.5)
    q0[3:] = 1e-4
    run = simulate(model, [20.0, -20.0, 12.0], q0, duration=0.05, dt=1e-3, method="adams",
                   tolerance=1e-12)  # fmt: skip
    twist = [k for k, name in enumerate(model.coordinates) if ".torsion" in name]
    assert np.ptp(run.q[:, twist[0]]) > 1e-5
    assert np.ptp(run.q[:, 2]) > 5e-3
    assert np.abs(run.balance).max() < 1e-8 * np.abs(run.energies["kinetic"]).max()


@cache
def twisted(kind: str):
    """Rotation of the end of a slide whose payload sits off its axis, 0.3 to 0.9 m in 0.15 s."""
    robot = twisting().with_("payload.com", [0.0, 0.05, 0.02])
    bases = {"modes": AssumedModes(3, torsion=2),
             "elements": FiniteElements(2, "quintic", modes=2)}  # fmt: skip
    model = build(robot, bases[kind])
    path = supple.PointToPoint([0, 0, 0.3], [0.6, -0.4, 0.9], 0.15, "septic")
    return simulate(model, controller=supple.Decoupling(), trajectory=path, method="bdf",
                    tolerance=1e-8, dt=5e-3)  # fmt: skip


def test_twist_by_modes_against_elements_while_it_slides():
    turns = []
    for kind in ("modes", "elements"):
        run = twisted(kind)
        rigid = run.q.copy()
        rigid[:, 3:] = 0.0
        R0 = run.model.functions.evaluator("tip")(rigid)[1]
        relative = np.swapaxes(R0, 1, 2) @ run.tip_rotation
        turns.append((relative[:, 2, 1] - relative[:, 1, 2]) / 2)  # about the link's x
    assert np.abs(turns[1]).max() > 1e-4
    assert np.abs(turns[0] - turns[1]).max() < 1e-2 * np.abs(turns[1]).max()


def test_assumed_torsion_needs_a_stiffness_to_twist_against():
    """theodore-rrp gives no torsional stiffness: the deformation is left out, not an error."""
    model = build(supple.load("theodore-rrp"), AssumedModes(1, torsion=1))
    assert not any("torsion" in name for name in model.coordinates)
    with pytest.raises(SuppleError, match="no link"):
        model.deflection_at(np.r_[0, 0, 0.5, 0, 0], "link4")
