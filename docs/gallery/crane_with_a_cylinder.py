"""A crane with a hydraulic cylinder
=================================

A tapered boom is pinned to its column and raised by a cylinder, a driven rod that closes a loop.
Its lowest frequency, in the plane, over the stroke of the cylinder, with and without load.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

steel = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
box = {"shape": "box", "width": 0.15, "wall": 0.006}
column = {
    "name": "column",
    "parent": "base",
    "joint": {"type": "fixed", "mount": {"rpy": [0, 0, "90deg"]}},
    "length": 2.0,
    "material": "steel",
    "section": {**box, "depth": 0.3},
}
boom = {
    "name": "boom",
    "parent": "column",
    "length": 5.0,
    "material": "steel",
    "joint": {"type": "revolute", "passive": True, "start": "-60deg"},
    "stations": [
        {"at": 0, "section": {**box, "depth": 0.3}},
        {"at": 5.0, "section": {**box, "depth": 0.12}},
    ],
}
cylinder = {
    "name": "cylinder",
    "type": "distance",
    "length": 1.7,
    "motor": True,
    "ends": [{"link": "column", "at": 0.5}, {"link": "boom", "at": 1.5}],
}
crane = supple.MechanismRobot.model_validate(
    {
        "name": "crane",
        "planar": True,
        "gravity": [0, -9.81, 0],
        "materials": {"steel": steel},
        "links": [column, boom],
        "closures": [cylinder],
        "tip": "boom",
    }
)

strokes = np.linspace(1.3, 2.5, 40)[:, None]  # m
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for mass in (0.0, 500.0):
    found = supple.modes(crane.with_("payload.mass", mass), strokes, count=1)
    axes.plot(strokes, found.frequency_hz[:, 0], label=f"{mass:g} kg at the tip")
axes.set_xlabel("length of the cylinder, m")
axes.set_ylabel("lowest frequency, Hz")
axes.legend()
figure.savefig("crane_with_a_cylinder.png", dpi=120)
