"""Frequencies of my arm
=====================

A two-link arm is described in Python and asked for its natural frequencies in one pose. Every
frequency comes with its kind and with a certificate that none below it is missing; the picture
shows the shapes.
"""

import numpy as np

import supple

aluminium = supple.Material(young_modulus=70e9, poisson_ratio=0.33, density=2700)
arm = supple.SerialRobot(
    name="my-arm",
    planar=True,
    links=[
        supple.Link(
            name="upper",
            length=0.6,
            material=aluminium,
            section=supple.Tube(diameter=0.08, wall=0.003),
            tip=supple.Body(mass=1.5),  # motor of the elbow
        ),
        supple.Link(
            name="fore",
            length=0.5,
            material=aluminium,
            section=supple.Tube(diameter=0.06, wall=0.003),
        ),
    ],
    payload=supple.Body(mass=2.0),
)

found = supple.modes(arm, theta=np.radians([0, 60]), count=4)
print(found)
found.plot("frequencies_of_my_arm.png")
