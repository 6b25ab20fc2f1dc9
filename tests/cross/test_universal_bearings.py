"""A bearing that turns under a universal or ball joint, which passes it what the joint holds.

Without springs of its own a universal joint passes one moment, about its cross, and a ball none;
with springs they are in series with those of the bearing.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import supple
from supple.equations.chains.forces import elastic, strain
from supple.equations.equilibrium import stiffness_at

ALUMINIUM = {"young_modulus": 7e10, "poisson_ratio": 0.3, "density": 2700}
MOUNT = {"rpy": [0.2, -0.3, 0.4], "xyz": [0.02, 0.01, -0.03]}
TIP = {"mass": 0.7, "com": [0.02, 0.03, 0.05], "inertia": [0.01, 0.02, 0.015]}


def coupled() -> list[list[float]]:
    """A stiffness of six by six in which every motion pulls on every other."""
    A = np.random.default_rng(1).normal(size=(6, 6))
    size = np.array([3e3, 3e3, 3e3, 30, 30, 30])
    K = (A @ A.T + 6 * np.eye(6)) * np.outer(size, size)
    return ((K + K.T) / 2).tolist()


def arm(theory: str, *joints: dict) -> supple.Robot:
    """A driven arm, then a rod on a joint, or on several with nothing between them."""
    tube = {"material": ALUMINIUM, "theory": theory}
    first = {"name": "arm", "joint": {"type": "revolute", "rotor_inertia": 0.3}, "length": 0.8,
             "section": {"shape": "tube", "diameter": 0.05, "wall": 0.003}, **tube}  # fmt: skip
    between = [{"name": f"turn{k}", "joint": j, "length": 0.0, "theory": "rigid"}
               for k, j in enumerate(joints[:-1])]  # fmt: skip
    rod = {"name": "rod", "joint": joints[-1], "length": 0.6, "tip": TIP,
           "section": {"shape": "tube", "diameter": 0.03, "wall": 0.002}, **tube}  # fmt: skip
    return supple.loads(json.dumps({
        "supple": 1, "name": "universal", "architecture": "mechanism", "gravity": [0, 0, -9.81],
        "links": [first, *between, rod],
    }))  # fmt: skip


def universal(bearing: dict, **more) -> dict:
    return {"type": "universal", "bearing": bearing, "mount": MOUNT, **more}


BEARINGS = {
    "one": ({"rotation": [2e2, None, None]}, {}),
    "three": ({"rotation": [2e2, 4e2, 9e2]}, {"axes": [[0, 1, 0.3], [0.2, 0, 1]]}),
    "matrix": ({"matrix": coupled()}, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BEARINGS)
def test_frequencies_are_those_of_the_exact_beams(name):
    """Where the joint is bent, so that its second axis is none of the bearing's."""
    bearing, more = BEARINGS[name]
    robot = arm("timoshenko", universal(bearing, start=[0.4, -0.3], **more))
    exact = supple.modes(robot, [0.3], count=4).omega
    model = supple.build(robot, supple.FiniteElements(2, "quintic"))
    q = model.chain.pose([0.3])
    K, M = (A[1:, 1:] for A in (stiffness_at(model, q), model.mass_matrix(q)))
    found = np.sqrt(np.abs(eigh(K, M, eigvals_only=True)))
    found = found[found > 0.01 * exact[0]][:4]
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_alike_in_all_directions_it_is_a_sprung_turn_of_the_cross():
    """Three joints in a row, y, x with the spring, z: any pose, any speed."""
    k = 250.0
    basis = supple.AssumedModes(1)
    one = supple.build(arm("rigid", universal({"rotation": [k, k, k]})), basis)
    turns = [
        {"type": "revolute", "passive": True, "axis": axis}
        for axis in np.eye(3)[[1, 0, 2]].tolist()
    ]
    turns[0]["mount"] = MOUNT
    turns[1] |= {"stiffness": k, "rest": 0.0}
    other = supple.build(arm("rigid", *turns), basis)
    assert one.coordinates == ("theta.arm", "bearing.rod.cross", "passive.rod.1", "passive.rod.2")
    order = [0, 2, 1, 3]  # theta, y, x, z
    rng = np.random.default_rng(4)
    for _ in range(5):
        q = rng.normal(size=4)
        qd = rng.normal(size=4)
        q[1] *= 0.2
        found = one.forward_dynamics(q, qd, [2.0])
        wanted = other.forward_dynamics(q[order], qd[order], [2.0])
        np.testing.assert_allclose(found[order], wanted, rtol=1e-10)
        assert one.energy(q, qd) == pytest.approx(other.energy(q[order], qd[order]), rel=1e-12)
        np.testing.assert_allclose(one.tip(q)[0], other.tip(q[order])[0], atol=1e-14)


@pytest.mark.parametrize(
    ("name", "duration"),
    [("three", 1.0), pytest.param("matrix", 0.1, marks=pytest.mark.slow)],
)
def test_energy_is_kept_while_its_stiffness_turns_with_the_joint(name, duration):
    bearing, more = BEARINGS[name]
    robot = arm("rigid", universal(bearing, start=[0.4, -0.3], **more))
    model = supple.build(robot, supple.AssumedModes(1))
    q0 = model.chain.pose([0.3])
    q0[1] = 0.01
    run = supple.simulate(model, [3.0], q0, duration=duration, method="adams", tolerance=1e-12)
    first = run.q[:, model.coordinates.index("passive.rod.1")]
    assert np.ptp(first) > 0.4 * duration
    assert run.openness < 1e-8


def test_about_its_first_axis_alone_it_carries_nothing():
    basis = supple.AssumedModes(1)
    plain, soft = (
        supple.build(arm("rigid", universal({"translation": [1e5, None, None], **turned})), basis)
        for turned in ({}, {"rotation": [None, 3e2, None]})
    )
    assert plain.coordinates == soft.coordinates
    q, qd = np.random.default_rng(2).normal(size=(2, plain.size))
    q[1] *= 1e-3
    np.testing.assert_allclose(
        soft.forward_dynamics(q, qd, [1.0]), plain.forward_dynamics(q, qd, [1.0]), rtol=1e-12
    )


def test_what_cannot_be_built_is_a_sentence():
    basis = supple.AssumedModes(1)
    with pytest.raises(supple.SuppleError, match="where it starts"):
        supple.build(arm("rigid", universal({"rotation": [None, None, 3e2]})), basis)


SOFT = {"rotation": [2e2, 4e2, 9e2]}
AXES = {"axes": [[0, 1, 0.3], [0.2, 0, 1]]}
SPRUNG = {
    "universal": universal(SOFT, stiffness=[60.0, 150.0], start=[0.4, -0.3], **AXES),
    "universal, one spring": universal(SOFT, stiffness=[60.0, 0.0], start=[0.4, -0.3], **AXES),
    "universal, matrix": universal({"matrix": coupled()}, stiffness=60.0, start=[0.4, -0.3]),
    "universal, first axis": universal(
        {"rotation": [None, 3e2, None], "translation": [1e5, None, None]},
        stiffness=[60.0, 150.0], start=[0.4, -0.3],
    ),
    "ball": {"type": "spherical", "bearing": SOFT, "mount": MOUNT, "stiffness": 60.0,
             "start": [0.4, -0.3, 0.2]},
    "ball, matrix": {"type": "spherical", "bearing": {"matrix": coupled()}, "mount": MOUNT,
                     "stiffness": 60.0, "start": [0.4, -0.3, 0.2]},
    "ball of springs": {"type": "spherical", "bearing": {"matrix": coupled()}, "mount": MOUNT,
                        "stiffness": [60.0, 0.0, 90.0], "start": [0.4, -0.3, 0.2]},
}  # fmt: skip


@pytest.mark.parametrize("name", SPRUNG)
def test_with_springs_of_the_joint_frequencies_are_the_exact_ones(name):
    robot = arm("rigid", SPRUNG[name])
    model = supple.build(robot, supple.AssumedModes(1))
    q = model.chain.pose([0.3])
    K, M = (A[1:, 1:] for A in (stiffness_at(model, q), model.mass_matrix(q)))
    found = np.sqrt(np.abs(eigh(K, M, eigvals_only=True)))
    exact = supple.modes(robot, [0.3], count=model.size - 1).omega
    np.testing.assert_allclose(found[-len(exact) :], exact, rtol=1e-8)


@pytest.mark.parametrize("name", ["universal", "ball"])
def test_springs_in_series_settle_where_their_energy_is_least(name):
    """By minimisation over the bearing's turn, which is small: equal to the first order of it."""
    stiff = 1e3  # times stiffer than SOFT
    given = SPRUNG[name] | {"bearing": {"rotation": [stiff * k for k in SOFT["rotation"]]}}
    model = supple.build(arm("rigid", given), supple.AssumedModes(1))
    laws = model.functions.laws
    ball = name == "ball"
    q = model.chain.pose([0.3])
    own = [model.coordinates.index(f"passive.rod{w}") for w in (
        (".roll", ".pitch", ".yaw") if ball else (".1", ".2"))]  # fmt: skip
    rest = q[own].copy()
    q[own] += np.random.default_rng(3).normal(size=len(own)) * 0.5
    k = np.sqrt(given["stiffness"])
    about = np.sqrt(given["bearing"]["rotation"])
    a, b = (np.array(axis) / np.linalg.norm(axis) for axis in AXES["axes"])
    if ball:
        there = [Rotation.from_euler("ZYX", x[::-1]) for x in (rest, q[own])]
    else:
        turn = Rotation.from_rotvec(a * q[own[0]]) * Rotation.from_rotvec(b * q[own[1]])

    def strained(x: np.ndarray) -> np.ndarray:
        back = Rotation.from_euler("ZYX", x[2::-1]).inv()
        if ball:
            return np.r_[about * x, k * (back * there[1] * there[0].inv()).as_rotvec()]
        made = Rotation.from_rotvec(a * x[3]) * Rotation.from_rotvec(b * x[4])
        gap = (made.inv() * back * turn).as_rotvec()
        return np.r_[about * x[:3], k * (x[3:] - rest), 1e6 * gap]

    start = np.zeros(3) if ball else np.r_[np.zeros(3), q[own]]
    least = least_squares(strained, start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    free = np.square(strained(start)).sum() / 2
    drop = 1 - float(strain(laws, q.tolist())) / free
    assert drop > 3e-5
    assert 1 - least.cost / free == pytest.approx(drop, rel=2e-2)


@pytest.mark.parametrize("name", ["universal, matrix", "ball, matrix", "ball of springs"])
def test_a_stiff_bearing_under_springs_is_none(name):
    """To the first order of its compliance, in which it goes to zero."""
    given = SPRUNG[name]
    hard = supple.build(
        arm("rigid", {key: x for key, x in given.items() if key != "bearing"}),
        supple.AssumedModes(1),
    )
    q = np.random.default_rng(5).normal(size=hard.size) * 0.5
    off = []
    force = elastic(hard.functions.laws, q.tolist())
    for stiff in (1e4, 1e6):
        bearing = {"matrix": (stiff * np.array(coupled())).tolist()}
        model = supple.build(arm("rigid", given | {"bearing": bearing}), supple.AssumedModes(1))
        own = [model.coordinates.index(word) for word in hard.coordinates]
        x = np.zeros(model.size)
        x[own] = q
        felt = np.array(elastic(model.functions.laws, x.tolist()), float)[own]
        off.append(np.abs(felt - force).max() / np.abs(force).max())
    assert off[0] < 1e-3
    assert off[1] == pytest.approx(off[0] / 100, rel=0.05)


@pytest.mark.parametrize("name", ["universal", "ball", "ball of springs"])
def test_energy_is_kept_with_springs_in_series(name):
    """Far from where they are unloaded: forces are the slopes of the energy."""
    model = supple.build(arm("rigid", SPRUNG[name] | {"rest": 0.1}), supple.AssumedModes(1))
    run = supple.simulate(model, [3.0], model.chain.pose([0.3]), duration=0.3, method="adams",
                          tolerance=1e-12)  # fmt: skip
    assert np.ptp(run.q[:, -3:], axis=0).max() > 0.3
    assert run.openness < 1e-8


@pytest.mark.parametrize(
    "joint",
    [*SPRUNG.values(), {"type": "revolute", "passive": True, "stiffness": 50.0, "bearing": SOFT}],
)
def test_modal_damping_of_springs_in_series(joint):
    model = supple.build(arm("rigid", joint), supple.AssumedModes(1), modal_damping=0.03)
    q = model.chain.pose([0.0])
    own = np.s_[1:, 1:]
    K, M, D = (A[own] for A in (stiffness_at(model, q), model.mass_matrix(q), model.damping))
    omega2, V = eigh(K, M)
    found = np.einsum("ij,ik,kj->j", V, D, V)
    omega = np.sqrt(np.maximum(omega2, 0.0))
    np.testing.assert_allclose(found, 0.06 * omega, atol=1e-7 * found.max())


def test_modal_damping_reaches_its_turn():
    """The mode with the motor held, its passive joint loose, gets the ratio that was asked for."""
    robot = arm("rigid", universal(BEARINGS["three"][0], start=[0.4, -0.3]))
    model = supple.build(robot, supple.AssumedModes(1), modal_damping=0.03)
    q = model.chain.pose([0.0])
    own = np.ix_([1, 2, 3], [1, 2, 3])
    K, M, D = (A[own] for A in (stiffness_at(model, q), model.mass_matrix(q), model.damping))
    omega2, V = eigh(K, M)
    found = np.einsum("ij,ik,kj->j", V, D, V)
    np.testing.assert_allclose(found[:2], 0.0, atol=1e-9 * found[2])
    assert found[2] / (2 * np.sqrt(omega2[2])) == pytest.approx(0.03, rel=1e-9)
