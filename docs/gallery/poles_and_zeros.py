"""From motor torque to tip
========================

The exact frequency response of a free arm from the torque of its first motor to the motion of its
motor and of its tip. Between resonances the motor side has zeros; the tip does not, which is why
control from the tip is hard.
"""

import numpy as np

import supple

robot = supple.load("de-luca-two-link")
frequency = np.geomspace(0.2, 100, 600)
found = supple.response(
    robot,
    [0, 0.6],
    frequency,
    inputs=["tau.link1"],
    outputs=["theta.link1", "tip.y"],
    structural_damping=0.01,
)
print(found)
found.plot("poles_and_zeros.png")
