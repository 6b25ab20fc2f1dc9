"""How precise must it be made?
============================

Walls are rolled to 5 %, the payload is known to 2 kg. Between which bounds do the frequencies lie,
and which of the tolerances matters?
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("industrial-3").with_("payload.mass", 10.0)
within = {
    "links.link1.section.wall": 0.05 * 0.01,  # m
    "links.link2.section.wall": 0.05 * 0.01,
    "payload.mass": 2.0,  # kg
}
found = supple.tolerances(robot, within, theta=np.radians([0, 45, 45]), count=3, progress=False)
print(found)

figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for mode in range(3):
    nominal = found.frequency_hz[mode]
    low = found.low[mode] / found.omega[mode] - 1
    high = found.high[mode] / found.omega[mode] - 1
    axes.plot([100 * low, 100 * high], [mode + 1, mode + 1], "|-", lw=6, markersize=16)
    axes.text(100 * high, mode + 1.15, f"{nominal:.2f} Hz", ha="right")
axes.set_yticks([1, 2, 3])
axes.set_ylim(0.5, 3.7)
axes.set_ylabel("mode")
axes.set_xlabel("change of the frequency, %")
figure.savefig("how_precise_must_it_be.png", dpi=120)
