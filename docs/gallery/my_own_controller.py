"""My own controller
=================

A controller may be any Python function of time and state. Here a PD law with a feed-forward of the
static load drives the arm of [De Luca 1991] along a smooth move; the plot shows joints, tip and
efforts.
"""

import numpy as np

import supple

model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
move = supple.PointToPoint([0, 0], [0.6, 0.4], time=1.0)


def law(t, q, qd, reference):
    """Return the motor torques (2,), N m; the reference is position, velocity and acceleration."""
    position, velocity, _ = reference
    return np.array([30, 8]) * (position - q[:2]) + np.array([9, 1.5]) * (velocity - qd[:2])


run = supple.simulate(model, controller=law, trajectory=move, duration=1.5)
print(run)
run.plot("my_own_controller.png")
