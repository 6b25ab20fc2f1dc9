"""A load that hangs from a boom
=============================

A crane's load hangs on three metres of rope. Under its weight it swings in two directions, just
below the frequency of a pendulum; the boom bounces with the load as a mass at its end. Both
against the angle of the boom.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

steel = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
boom = {
    "name": "boom",
    "joint": {"type": "revolute", "axis": [0, -1, 0]},
    "length": 8.0,
    "material": steel,
    "section": {"shape": "box", "depth": 0.3, "width": 0.2, "wall": 0.008},
}
load = {
    "name": "load",
    "joint": {"type": "universal", "hangs": True},
    "length": 3.0,
    "theory": "rigid",
    "body": {"mass": 800, "com": [3, 0, 0]},
}
crane = supple.MechanismRobot(name="crane", gravity=[0, 0, -9.81], links=[boom, load])

angles = np.linspace(0, 80, 17)  # deg
found = supple.modes(crane, np.radians(angles)[:, None], count=3, gravity=True)
print(found.at(8))

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(angles, found.frequency_hz, label=["swing across", "swing along", "boom and load"])
axes.axhline(np.sqrt(9.81 / 3) / (2 * np.pi), color="k", lw=1, ls="--", label="pendulum, 3 m")
axes.set(xlabel="angle of the boom (deg)", ylabel="natural frequency (Hz)", ylim=(0, None))
axes.legend()
figure.savefig("a_load_that_hangs.png", dpi=120)
