"""Which beam theory?
==================

Timoshenko's beam is the right one for short and thick links, Euler-Bernoulli's for slender ones.
The links of [DiCastri2011] are thickened, and the error of the simpler theory in the first five
frequencies is drawn: small for the lowest, not small for the fifth.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("di-castri-two-link")
theta = np.radians([0, 45])
depths = np.linspace(0.01, 0.08, 15)  # m
error = np.empty((len(depths), 5))
for i, depth in enumerate(depths):
    omega = {}
    for theory in ("timoshenko", "euler-bernoulli"):
        changes = {}
        for link in robot.links:
            changes[f"links.{link.name}.theory"] = theory
            changes[f"links.{link.name}.section.depth"] = depth
        omega[theory] = supple.modes(robot.with_(changes), theta, count=5).omega
    error[i] = omega["euler-bernoulli"] / omega["timoshenko"] - 1

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for mode in range(5):
    axes.plot(1e3 * depths, 100 * error[:, mode], label=f"mode {mode + 1}")
axes.set_xlabel("depth of the links, mm")
axes.set_ylabel("error of Euler-Bernoulli, %")
axes.legend()
figure.savefig("thick_and_thin_beams.png", dpi=120)
