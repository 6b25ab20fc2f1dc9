"""The lightest arm that stays above 5.5 Hz
========================================

Walls of the three links are free between 4 and 20 mm. Which arm is lightest while its lowest
frequency stays above 5.5 Hz in every pose of a box of joint angles?
"""

import matplotlib.pyplot as plt

import supple

robot = supple.load("industrial-3")
walls = {f"links.link{k}.section.wall": (0.004, 0.02) for k in (1, 2, 3)}
best = supple.optimise(
    robot,
    walls,
    minimise="mass",
    lowest=5.5,
    over={"theta.link2": (-2.0, 2.0)},
    progress=False,
)
print(best)

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.bar(["link 1", "link 2", "link 3"], [1e3 * best.values[path] for path in walls])
axes.axhline(10, color="k", lw=1, ls="--", label="before")
axes.set_ylabel("wall, mm")
axes.legend()
figure.savefig("least_mass.png", dpi=120)
