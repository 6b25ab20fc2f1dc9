"""Shaping a ROS trajectory
========================

A JointTrajectory message, as a planner writes it, with the joints in the order of their names. It
is shaped for the arm's own lowest mode along the path and written back; names stay with their
joints.
"""

import json
from pathlib import Path

import numpy as np

import supple

robot = supple.load("de-luca-two-link")
times = np.linspace(0, 1, 101)
progress = 10 * times**3 - 15 * times**4 + 6 * times**5
points = [
    {
        "positions": [0.5 * s, 0.8 * s],
        "time_from_start": {"sec": int(t), "nanosec": int(t % 1 * 1e9)},
    }
    for t, s in zip(times, progress, strict=True)
]
message = {"joint_names": ["link2", "link1"], "points": points}
Path("planned.json").write_text(json.dumps(message))

shaped = supple.shape("planned.json", "zvd", robot=robot, servo=supple.JointPD([400, 80], [40, 8]))
shaped.save("calm.json")
print(shaped)
shaped.plot("shaping_a_ros_trajectory.png")
