"""A robot program that stops without ringing

A planner's day. A path planner has written joint positions at 50 Hz, its columns in its own order.
The gains of the machine's servo are known. Shape the program for the vibration that the arm has
under this servo, compare it with the program as it was, on a robot whose payload is wrong by 20 %
to either side, and hand it back as a JointTrajectory for ROS.
"""

import numpy as np

import supple

robot = supple.load("industrial-3")

# What the planner wrote: seconds and degrees; columns are found by their names
t = np.linspace(0.0, 0.8, 41)
x = t / 0.8
s = 10 * x**3 - 15 * x**4 + 6 * x**5
rows = np.column_stack([t, 30 * s, -20 * s, 40 * s])
header = "t,link3 [deg],link2 [deg],link1 [deg]"
np.savetxt("program.csv", rows, delimiter=",", header=header, comments="")
start = [0.0, 0.0, 0.0]
end = np.radians([40.0, -20.0, 30.0])

# Shaped for the lowest mode under the servo
servo = supple.JointPD(position_gain=[8e5, 2e5, 5e4], velocity_gain=[3e4, 6e3, 1e3])
shaped = supple.shape("program.csv", "ei", robot=robot, servo=servo)
print(shaped)
shaped.save("shaped.yaml")  # a JointTrajectory of ROS; .csv and .json are other names for it

# As planned and shaped, under the servo, on finer models with payloads that nobody told us about
found = supple.compare(
    robot,
    start,
    end,
    methods={"as planned": "program.csv", "shaped": "shaped.yaml"},
    servo=servo,
    payload_error=0.2,
    damping=0.01,
    progress=False,
)
print(found)
before, after = found.residual.max(axis=1)
print(f"largest vibration after the stop: {1e3 * before:.3g} mm, shaped {1e3 * after:.3g} mm")
found.plot("shaped_program.png")
