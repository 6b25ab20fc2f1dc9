"""The hub of a link that slides on the base moves with the foundation under it."""

import numpy as np
import pytest

import supple

SLIDE = """
supple: 1
name: slide
architecture: {architecture}
foundation: {{translation: [1e4, null, null], mass: 1.0, inertia: [1, 1, 1]}}
links:
  - name: slide
    length: 1.0
    theory: {theory}
    joint:
      {{type: prismatic, rotor_inertia: 0.3, mount: {{xyz: [0.1, 0.2, 0], rpy: [0, 0, 90deg]}},
       hub: {{mass: 10, inertia: [0.1, 0.1, 0.1]}}}}
payload: {{mass: 2}}
"""
RIGID = "rigid\n    mass_per_length: 0.5"
SOFT = "euler-bernoulli\n    mass_per_length: 0.5\n    bending_stiffness: 1e5"


@pytest.mark.parametrize("architecture", ["serial", "mechanism"])
def test_its_mass_swings_with_the_base(architecture):
    """Rigid: k / (m_base + m_hub + m_link + m_payload), in modes and in the equations."""
    robot = supple.loads(SLIDE.format(architecture=architecture, theory=RIGID))
    wanted = np.sqrt(1e4 / (1.0 + 10.0 + 0.5 + 2.0))
    assert supple.modes(robot, [0.6], count=1).omega[0] == pytest.approx(wanted, rel=1e-10)
    model = supple.build(robot)
    linear = supple.linearize(model, [0.6, 0.0])
    assert linear.frequencies.max() == pytest.approx(wanted, rel=1e-10)
    # what the joint moves: link and payload; base and hub stand still with the motor locked
    assert supple.check(robot, [0.6]).mass == pytest.approx(0.5 + 2.0)


@pytest.mark.parametrize("architecture", ["serial", "mechanism"])
def test_bent_it_is_that_of_the_exact_beams(architecture):
    robot = supple.loads(SLIDE.format(architecture=architecture, theory=SOFT))
    exact = supple.modes(robot, [0.6], count=1, joints="free").omega[0]
    model = supple.build(robot, supple.AssumedModes(3))
    linear = supple.linearize(model, [0.6, *np.zeros(model.size - 1)])
    found = linear.frequencies[np.abs(linear.frequencies - exact).argmin()]
    assert exact < np.sqrt(1e4 / 13.5)
    assert found == pytest.approx(exact, rel=1e-6)
    assert found >= exact * (1 - 1e-9)


@pytest.mark.parametrize("architecture", ["serial", "mechanism"])
def test_its_weight_turns_the_base(architecture):
    """Forces at rest are the slopes of the potentials, the hub's offset from the base included."""
    text = SLIDE.replace("null, null]", "null, null], rotation: [1e3, 2e3, 3e3]")
    robot = supple.loads(text.format(architecture=architecture, theory=RIGID))
    model = supple.build(robot.with_("gravity", [1.0, -9.0, 3.0]))
    q = np.array([0.6, 0.01, 0.02, -0.03, 0.04])
    h = 1e-5
    still = np.zeros(5)

    def potential(q):
        found = model.energies(q, still)
        return found["elastic"] + found["gravity"]

    slopes = [(potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(5)]
    np.testing.assert_allclose(model.inverse_dynamics(q, still, still), slopes, atol=1e-6)
