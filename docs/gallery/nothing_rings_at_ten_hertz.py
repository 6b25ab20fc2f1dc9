"""A proof that nothing rings at 10 Hz
===================================

A motor shakes the arm at 10 Hz. Is there any pose, with any payload up to 10 kg, in which a natural
frequency lies between 9.5 and 10.5 Hz? The answer is a proof over the whole box, not a scan.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("industrial-3")
over = {"theta.link2": (-2.0, 2.0), "payload.mass": (0.0, 10.0)}

found = supple.stopband(robot, (9.5, 10.5), over=over, progress=False)
print(found)

angle = np.linspace(-2, 2, 81)
table = supple.sweep(
    robot, "modes", over={"payload.mass": [0, 10], "theta.link2": angle}, count=3, progress=False
)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.axhspan(9.5, 10.5, color="tab:green", alpha=0.3, label="proven free")
for mass, style in ((0, "-"), (10, "--")):
    lines = table.omega.sel({"payload.mass": mass}) / (2 * np.pi)
    axes.plot(np.degrees(angle), lines.isel(mode=slice(0, 2)), f"k{style}", lw=1)
axes.set_xlabel("angle of link 2, deg (payload 0 kg and, dashed, 10 kg)")
axes.set_ylabel("frequency, Hz")
axes.legend()
figure.savefig("nothing_rings_at_ten_hertz.png", dpi=120)
