"""A rigid link that slides may be given by its body, measured from its inner end."""

import numpy as np
import pytest

import supple

ARM = "length: 1.0, mass_per_length: 1, bending_stiffness: 100, theory: euler-bernoulli"


def gantry(car: str) -> supple.Robot:
    return supple.loads(f"""
    name: gantry
    planar: true
    links:
      - {{name: car, joint: {{type: prismatic}}, length: 0.8, theory: rigid, {car}}}
      - {{name: arm, joint: {{type: revolute}}, {ARM}}}
    """)


def test_a_body_counts_as_the_tip_it_is() -> None:
    """com of a body is from the inner end, that of a tip from the outer one, 0.8 m apart."""
    body = gantry("body: {mass: 5, com: [0.5, 0.1, 0], inertia: 0.2}")
    tip = gantry("tip: {mass: 5, com: [-0.3, 0.1, 0], inertia: 0.2}")
    theta = [0.5, 1.0]
    for joints in ("locked", "free"):
        found, want = (supple.modes(r, theta, count=3, joints=joints).omega for r in (body, tip))
        np.testing.assert_allclose(found, want, rtol=1e-12)
    heavy = body.with_("links.car.body.mass", 50.0)
    free = [supple.modes(r, theta, count=1, joints="free").omega[0] for r in (body, heavy)]
    assert free[1] < 0.995 * free[0]


def test_build_knows_it_too() -> None:
    body = gantry("body: {mass: 5, com: [0.5, 0.1, 0], inertia: 0.2}")
    model = supple.build(body, supple.AssumedModes(1))
    q = np.array([0.5, 1.0, 0.0])
    assert model.mass_matrix(q)[0, 0] == 6.0  # 5 kg of body, 1 kg of arm


def test_a_slider_crank() -> None:
    """The crank's effective inertia with the rod nearly massless: m (dx / dtheta)^2."""
    robot = supple.loads("""
    name: slider-crank
    architecture: mechanism
    planar: true
    links:
      - {name: crank, joint: {start: 40deg, stiffness: 100}, length: 0.15, theory: rigid,
         mass_per_length: 1.0e-9}
      - {name: rod, joint: {passive: true, start: -60deg}, length: 0.4, theory: rigid,
         mass_per_length: 1.0e-9}
      - {name: slider, parent: base, joint: {type: prismatic, passive: true, start: 0.5},
         length: 1.0, theory: rigid, body: {mass: 2}}
    closures: [{ends: [rod, slider]}]
    """)
    theta = np.radians(70)
    a = 0.15
    b = 0.4
    rate = -a * np.sin(theta) - a**2 * np.sin(theta) * np.cos(theta) / np.sqrt(
        b**2 - (a * np.sin(theta)) ** 2
    )
    found = supple.modes(robot, [theta], count=1)
    np.testing.assert_allclose(found.omega, [np.sqrt(100 / (2 * rate**2))], rtol=1e-6)


BEAM = "mass_per_length: 1.5, bending_stiffness: [90, 60], theory: euler-bernoulli"


@pytest.mark.parametrize(
    ("planar", "at"), [(True, None), (False, None), (True, [0.4, 0.3, -0.6]), ("mimic", None)]
)
def test_an_arm_as_a_mechanism_carries_the_same_shapes(planar, at) -> None:
    """Assumed modes of a mechanism that slides take the distal parts where those of the arm do."""
    led = ", mimic: {joint: out, multiplier: 0.8, offset: 0.1}" * (planar == "mimic")
    robot = supple.loads(f"""
    name: sliding arm
    planar: {"true" if planar else "false"}
    gravity: [0, -9.81, 0]
    payload: {{mass: 0.7}}
    links:
      - {{name: turn, joint: {{type: revolute, rotor_inertia: 0.1}}, length: 0.8, {BEAM}}}
      - {{name: out, joint: {{type: prismatic, hub: {{mass: 0.6, com: [0.05, 0.02, 0]}},
         mount: {{rpy: [0, 0, 0.4]}}}}, length: 0.9, {BEAM}, tip: {{mass: 0.4}}}}
      - {{name: more, joint: {{type: {"prismatic" if led else "revolute"}{led},
         mount: {{xyz: [0.1, 0, 0], rpy: [0, 0, -0.9]}}}}, length: 0.7, {BEAM}}}
    """)
    models = [
        supple.build(r, supple.AssumedModes(2, at=at)) for r in (supple.as_mechanism(robot), robot)
    ]
    rng = np.random.default_rng(4)
    q, qd = rng.normal(0, 0.02, (2, models[0].size))
    q[1] += 0.5
    for word in ("mass_matrix", "gravity", "tip"):
        ours, its = (getattr(m, word)(q) for m in models)
        np.testing.assert_allclose(ours, its, rtol=1e-10, atol=1e-10 * np.abs(its).max())
    ours, its = (m.bias(q, qd) for m in models)
    np.testing.assert_allclose(ours, its, rtol=1e-10, atol=1e-10 * np.abs(its).max())
    ours, its = (m.energies(q, qd) for m in models)
    for word, wanted in its.items():
        np.testing.assert_allclose(ours[word], wanted, rtol=1e-10)
