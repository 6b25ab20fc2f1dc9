"""Links in time: their ends meet, and the last one is the model's tip."""

import numpy as np
import pytest

import supple
from supple.kernels.spatial import axis_rotation
from supple.studies.motion.fields import fields, fields_at
from supple.view.scene.posing import bend
from supple.view.scene.scenes import response_scene


def section_turn(angles: np.ndarray) -> np.ndarray:
    """(T, 3, 3) rotation R_z R_y R_x of an end section with these angles."""
    R_x, R_y, R_z = (axis_rotation(np.eye(3)[k], angles[:, k]) for k in range(3))
    return R_z @ R_y @ R_x


SPATIAL = """
supple: 1
name: spatial
architecture: serial
gravity: [0, 0, -9.81]
materials: {steel: {young_modulus: 210e9, poisson_ratio: 0.3, density: 7800}}
sections: {strip: {shape: rectangle, depth: 0.006, width: 0.004}}
links:
  - {name: a, joint: {axis: [0, 0, 1]}, length: 0.5, material: steel, section: strip, roll: 30deg}
  - {name: b, joint: {axis: [0, 1, 0], mount: {xyz: [0.02, 0.01, 0], rpy: [20deg, 10deg, 0]}},
     length: 0.4, material: steel, section: strip, tip: {mass: 0.05}}
"""


@pytest.fixture(scope="module", params=["planar", "spatial"])
def run(request: pytest.FixtureRequest) -> supple.Response:
    robot = supple.load("de-luca-two-link") if request.param == "planar" else supple.loads(SPATIAL)
    model = supple.build(robot, supple.AssumedModes(2))
    effort = 0.1 if request.param == "planar" else 0.02
    return supple.simulate(model, tau=lambda t, q, qd: np.full(2, effort), duration=0.3)


def test_the_last_end_is_the_tip(run: supple.Response) -> None:
    found = fields(run, samples=10**6)
    ends = found.motion[:, -1, -1, :3] + found.L[:, -1, None] * np.array([1.0, 0, 0])
    tip = found.p[:, -1] + np.einsum("tij,tj->ti", found.R[:, -1], ends)
    np.testing.assert_allclose(tip, run.tip, atol=1e-10)


@pytest.mark.parametrize("name", ["industrial-3", "five-bar", "theodore-rrp"])
def test_links_that_shorten_as_they_bend_end_at_the_tip(name: str) -> None:
    model = supple.build(supple.load(name), supple.AssumedModes(2), stiffening=True)
    start = {"theta0": [0.2, 0.3, 0.8]} if name == "theodore-rrp" else {}
    q = supple.simulate(model, duration=1e-3, samples=2, **start).q[:1].copy()
    q[:, model.joints :] += 3e-3 * np.random.default_rng(1).normal(size=model.size - model.joints)
    found = fields_at(model, q, points=3)
    i = found.names.index(model.chain.links[-1].name)
    end = found.motion[:, i, -1, :3] + found.L[:, i, None] * np.array([1.0, 0, 0])
    tip = found.p[:, i] + np.einsum("tij,tj->ti", found.R[:, i], end)
    np.testing.assert_allclose(tip, model.tip(q), atol=1e-12)


def test_deflections_are_those_of_the_response(run: supple.Response) -> None:
    found = fields(run, samples=10**6, points=5)
    for i, name in enumerate(found.names):
        for k, fraction in enumerate(np.linspace(0, 1, 5)):
            given = run.deflection(name, float(fraction))
            np.testing.assert_allclose(found.motion[:, i, k, :3], given, atol=1e-12)


def test_strain_energy_per_length_adds_up_to_the_model_s(run: supple.Response) -> None:
    found = fields(run, samples=10**6, points=201)
    total = np.trapezoid(found.energy, np.linspace(0, 1, 201), axis=-1) * found.L
    elastic = run.energies["elastic"]
    np.testing.assert_allclose(total.sum(axis=1), elastic, atol=1e-3 * elastic.max())


@pytest.mark.parametrize("basis", [supple.AssumedModes(2), supple.FiniteElements(3)])
def test_a_link_that_slides_is_as_long_as_it_is(basis: supple.Basis) -> None:
    """Tip and strain energy of a sliding arm against the model's own."""
    model = supple.build(supple.load("theodore-rrp"), basis)
    q = np.zeros((3, model.size))
    q[:, :3] = [[0.2, -0.4, 0.3], [0.5, 0.1, 0.7], [1.0, 0.3, 1.2]]
    q[:, 3:] = np.random.default_rng(5).normal(scale=1e-3, size=(3, model.size - 3))
    zero = np.zeros(3)
    run = supple.Response(model, np.arange(3.0), q, 0 * q, q[:, :3], zero, "given")
    found = fields(run, points=801)
    np.testing.assert_array_equal(found.L[:, 2], q[:, 2])
    ends = found.motion[:, -1, -1, :3] + found.L[:, -1, None] * np.array([1.0, 0, 0])
    tip = found.p[:, -1] + np.einsum("tij,tj->ti", found.R[:, -1], ends)
    np.testing.assert_allclose(tip, run.tip, atol=1e-12)
    total = np.trapezoid(found.energy, np.linspace(0, 1, 801), axis=-1) * found.L
    np.testing.assert_allclose(total.sum(axis=1), run.energies["elastic"], rtol=2e-3)


SLIDE = """
supple: 1
name: slide
architecture: serial
materials: {steel: {young_modulus: 210e9, poisson_ratio: 0.3, density: 7800}}
sections: {strip: {shape: rectangle, depth: 0.006, width: 0.004}}
links:
  - {name: arm, joint: {axis: [0, 0, 1]}, length: 0.2, theory: rigid, mass_per_length: 2}
  - {name: beam, joint: {type: prismatic, mount: {rpy: [0, 30deg, 0]}}, length: 1.2,
     theory: euler-bernoulli, material: steel, section: strip, roll: 25deg,
     tip: {mass: 0.3, inertia: [1e-3, 2e-3, 3e-3]}}
"""


@pytest.mark.parametrize("basis", [supple.AssumedModes(2, torsion=2), supple.FiniteElements(3)])
def test_a_link_that_slides_twists(basis: supple.Basis) -> None:
    """Its drawn end turns as the model's tip does, and its energy holds that of twist."""
    model = supple.build(supple.loads(SLIDE), basis)
    twists = [j for j, name in enumerate(model.coordinates) if "torsion" in name or "twist" in name]
    assert twists, model.coordinates
    q = np.zeros((2, model.size))
    q[:, :2] = [[0.4, 0.5], [-0.3, 0.9]]
    q[0, twists] = 0.02
    q[1, 2:] = 1e-3
    run = supple.Response(model, np.arange(2.0), q, 0 * q, q[:, :2], np.zeros(2), "given")
    found = fields(run, points=801)
    R_SL = model.chain.links[-1].R_SL  # angles follow one another in the section's axes
    turned = section_turn(found.motion[:, -1, -1, 3:] @ R_SL.T)
    drawn = found.R[:, -1] @ R_SL.T @ turned @ R_SL
    np.testing.assert_allclose(drawn, run.tip_rotation, atol=1e-8)
    assert abs(found.motion[0, -1, -1, 3]) > 1e-3
    total = np.trapezoid(found.energy, np.linspace(0, 1, 801), axis=-1) * found.L
    np.testing.assert_allclose(total.sum(axis=1), run.energies["elastic"], rtol=2e-3)


def test_the_scene_draws_the_tip_where_it_is(run: supple.Response) -> None:
    scene = response_scene(run, samples=50, scale=1)
    track = scene.tracks[0]
    assert scene.true_scale
    assert len(track.at) == 50
    v = 30
    drawn = bend(track, v, track.motion[v, 0], 1.0).centre[scene.tip, -1]
    k = int(np.flatnonzero(run.t == track.at[v])[0])
    np.testing.assert_allclose(drawn, run.tip[k], atol=1e-10)


def test_bending_drawn_larger_is_the_same_at_a_scale_of_one(run: supple.Response) -> None:
    """About the straight links: at 0 the rigid tip, at 1 the true one, whatever is drawn."""
    scene = response_scene(run, samples=50, scale=7)
    track = scene.tracks[0]
    still = run.q.copy()
    still[:, run.model.joints :] = 0
    for v in (0, 30, 49):
        k = int(np.flatnonzero(run.t == track.at[v])[0])
        rigid = bend(track, v, track.motion[v, 0], 0.0).centre[scene.tip, -1]
        np.testing.assert_allclose(rigid, run.model.tip(still[k]), atol=1e-12)
        true = bend(track, v, track.motion[v, 0], 1.0).centre[scene.tip, -1]
        np.testing.assert_allclose(true, run.tip[k], atol=1e-10)
    assert (scene.scale, scene.true_scale) == (7, False)
