"""Into MuJoCo, with its error stated
==================================

Elastic links become chains of segments on springs. How many segments are enough? Every export
states how far its own frequencies are from the certified ones.
"""

import matplotlib.pyplot as plt

import supple

robot = supple.load("industrial-3")
segments = [2, 4, 8, 16]
errors = []
for count in segments:
    written = supple.export(robot, to="mujoco", path=f"arm{count}.xml", segments=count)
    errors.append(100 * written.error)
    print(f"{count:2} segments: {100 * written.error:.3f} % off")

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.loglog(segments, errors, "o-")
axes.set_xticks(segments, [str(count) for count in segments])
axes.xaxis.set_minor_locator(plt.NullLocator())
axes.set_xlabel("segments of each link")
axes.set_ylabel("largest error of three frequencies, %")
figure.savefig("into_mujoco.png", dpi=120)
