"""Payload and pose in one table
=============================

A sweep over two things at once returns an xarray Dataset whose dimensions carry their names, so
that selecting, plotting and saving work as everywhere else in the Python world.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("industrial-3")
over = {"payload.mass": np.array([0.0, 5.0, 10.0, 20.0]), "theta.link2": np.linspace(-2.5, 2.5, 61)}
table = supple.sweep(robot, "modes", over=over, count=2, progress=False)

frequency = table.omega / (2 * np.pi)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for mass in table["payload.mass"].values:
    lowest = frequency.sel({"payload.mass": mass}).isel(mode=0)
    axes.plot(np.degrees(table["theta.link2"]), lowest, label=f"{mass:g} kg")
axes.set_xlabel("angle of link 2, deg")
axes.set_ylabel("lowest frequency, Hz")
axes.legend(title="payload")
figure.savefig("payload_and_pose.png", dpi=120)
