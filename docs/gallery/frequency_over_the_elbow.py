"""Frequency over the elbow
========================

How the frequencies change while one joint turns: two hundred poses in one call, each certified.
The lowest frequency of the arm of [DiCastri2011] is lowest with the arm stretched out.
"""

import numpy as np

import supple

robot = supple.load("industrial-3")
angle = np.radians(np.linspace(-150, 150, 200))
theta = np.column_stack([0 * angle, angle, 0 * angle])

found = supple.modes(robot, theta, count=5)
lowest = found.frequency_hz[:, 0]
print(
    f"lowest {lowest.min():.2f} Hz with the elbow at {np.degrees(angle[lowest.argmin()]):.0f} deg"
)
found.plot("frequency_over_the_elbow.png")
