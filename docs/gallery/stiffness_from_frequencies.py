"""Stiffness from measured frequencies
===================================

Two lines were read off at three poses. Which gear stiffnesses and which payload explain them, and
how sure is that? The measurement is made up from a robot with other parameters and 0.2 % noise.
"""

import numpy as np

import supple

nominal = supple.load("industrial-3").with_(
    {"links.link1.joint.stiffness": 1e6, "links.link2.joint.stiffness": 1e6, "payload.mass": 5.0}
)
truth = nominal.with_(
    {"links.link1.joint.stiffness": 6e5, "links.link2.joint.stiffness": 3e5, "payload.mass": 8.0}
)
poses = np.radians([[0, 0, 0], [0, 45, 45], [0, 90, -45], [0, 120, 0]])
measured = supple.modes(truth, poses, count=3).frequency_hz
measured = measured * (1 + 0.002 * np.random.default_rng(1).normal(size=measured.shape))

table = {f"theta.link{k + 1}": np.repeat(poses[:, k], 3) for k in range(3)}
table |= {"frequency_hz": measured.ravel(), "mode": np.tile([1, 2, 3], len(poses))}
free = ["links.link1.joint.stiffness", "links.link2.joint.stiffness", "payload.mass"]

found = supple.identify(nominal, table, free=free)
print(found)
found.plot("stiffness_from_frequencies.png")
