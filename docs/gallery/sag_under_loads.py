"""Sag under weight, wind and a load
=================================

Gravity, a distributed load on one link and a force in the middle of another: the exact static
deflection, and what the motors have to hold.
"""

import numpy as np

import supple

robot = supple.load("industrial-3")
loads = [
    supple.DistributedLoad("link1", [0, -50, 0]),  # N/m, snow
    supple.PointLoad("link2", 0.5, force=[0, -200, 0]),  # N, a cable drum
]
found = supple.statics(robot, np.radians([30, -45, -30]), gravity=[0, -9.81, 0], loads=loads)
print(found)
found.plot("sag_under_loads.png")
