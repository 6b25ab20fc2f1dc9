"""A UR5 with a flexible forearm
=============================

The published Denavit-Hartenberg rows of a UR5 describe its joints; masses are lumped at the
joints. Upper arm and forearm are tubes that bend and twist. Where does it ring, and how much do
gears of 30 kN m/rad matter?
"""

import numpy as np

import supple

aluminium = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}
tube = {"shape": "tube", "diameter": 0.1, "wall": 0.003}
# Beams run along +x: the maker's negative a of links 2 and 3 are half turns of theta.
rows = [  # a, d in m, alpha, theta, mass of the joint at its end in kg, bends
    (0, 0.0892, "90deg", 0, 3.7, False),
    (0.425, 0, 0, "180deg", 2.3, True),
    (0.3922, 0, 0, 0, 1.2, True),
    (0, 0.1092, "90deg", "-180deg", 1.2, False),
    (0, 0.0947, "-90deg", 0, 1.2, False),
    (0, 0.0823, 0, 0, 0.3, False),
]
links = []
for number, (a, d, alpha, zero, mass, bends) in enumerate(rows, 1):
    part = {"name": f"link{number}", "tip": {"mass": mass, "inertia": [0.01, 0.01, 0.01]}}
    part["joint"] = {"type": "revolute", "dh": {"a": a, "d": d, "alpha": alpha, "theta": zero}}
    if bends:
        part |= {"material": "aluminium", "section": tube, "length": a}
    else:
        part |= {"theory": "rigid", "body": {"mass": 0.1, "inertia": [0.001, 0.001, 0.001]}}
    links.append(part)
ur5 = supple.SerialRobot.model_validate(
    {"name": "ur5", "materials": {"aluminium": aluminium}, "links": links, "payload": {"mass": 5}}
)
geared = ur5.with_({f"links.link{k}.joint.stiffness": 30e3 for k in range(1, 7)})

theta = np.radians([0, -60, 80, -110, -90, 0])
for robot in (ur5, geared):
    print(supple.modes(robot, theta, count=4))
supple.modes(geared, theta, count=4).plot("ur5_with_a_flexible_forearm.png")
