"""A million poses on a cluster
============================

Frequencies over a grid of poses and payloads, chunk by chunk into a folder that can be resumed
after a power cut. Here 20,000 poses on this machine; with `scheduler="tcp://head:8786"` and finer
grids it is a million on a Dask cluster, bit by bit the same.
"""

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("industrial-3")
over = {
    "payload.mass": np.array([0.0, 10.0]),
    "theta.link2": np.linspace(-2.5, 2.5, 100),
    "theta.link3": np.linspace(-2.5, 2.5, 100),
}
table = supple.sweep(robot, "modes", over=over, count=1, out="poses", progress=False)

lowest = table.omega.isel(mode=0).sel({"payload.mass": 10.0}) / (2 * np.pi)
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
degrees = np.degrees(over["theta.link2"])
levels = axes.contourf(degrees, degrees, lowest.transpose("theta.link3", "theta.link2"), 20)
figure.colorbar(levels, label="lowest frequency with 10 kg, Hz")
axes.set_xlabel("angle of link 2, deg")
axes.set_ylabel("angle of link 3, deg")
figure.savefig("a_million_poses.png", dpi=120)
