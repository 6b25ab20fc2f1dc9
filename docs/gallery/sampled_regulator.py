"""From the model to C that runs on the controller

A control engineer's day. Encoders, strain gauges, a computer that samples at 1 kHz and is half a
millisecond late, motors with limits: design a regulator for all of that, look at its margins, see
whether it stands a payload that it was not designed for, try it on a finer model, and compile the C
that will run on the machine. The C answers to the simulated readings with the same torques.
"""

import ctypes
import subprocess

import matplotlib.pyplot as plt
import numpy as np

import supple

robot = supple.load("de-luca-two-link")
pose = [0.0, 0.5]
goal = [0.2, 0.3]
model = supple.build(robot, supple.AssumedModes(2), damping=0.01)
gauges = [supple.Encoder("link1"), supple.Encoder("link2")]
gauges += [supple.Strain("link1"), supple.Strain("link2")]

# Linear-quadratic regulator on a Kalman filter, exact for held efforts that come late
weights = {"state_weight": [30.0] * 2 + [1.0] * 4 + [0.05] * 6, "effort_weight": 100.0}
noise = {"effort_noise": 0.1, "measurement_noise": [0.01, 0.01, 0.1, 0.1]}
timing = {"period": 1e-3, "delay": 0.5e-3}
law = supple.lqg(model, pose, gauges, **weights, **noise, **timing, integral=1.0)
drive = supple.Sampled(law, **timing, effort_limit=0.08)

# Margins of the sampled loop on a finer model, and how it stands other payloads
finer = supple.build(robot, supple.AssumedModes(4), damping=0.01)
print(supple.margins(finer, drive, pose))
for mass in (0.05, 0.1, 0.2):  # kg; designed for 0.1
    heavy = supple.build(robot.with_("payload.mass", mass), supple.AssumedModes(4), damping=0.01)
    loop = supple.linearize(heavy, pose, controller=drive)
    print(f"payload {mass} kg: stable {loop.stable}, least damping {loop.damping_ratios.min():.3f}")

# A move on the finer model, with what the sensors read
start = np.concatenate([pose, np.zeros(finer.size - 2)])
readings = {f"y{i}": gauge for i, gauge in enumerate(gauges)}
run = supple.simulate(
    finer, controller=drive, trajectory=goal, q0=start, duration=8.0, dt=5e-4, outputs=readings
)

# The same law as C: fed with the readings, it answers with the same torques
with open("law.c", "w") as file:
    file.write(supple.c_code(drive, model))
strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC"]
subprocess.run(["gcc", *strict, "law.c", "-o", "law.so", "-lm"], check=True)
compiled = ctypes.CDLL("./law.so")
compiled.law_reset()
Numbers = ctypes.c_double * 4
answers = []
for k in range(0, len(run.t) - 1, 2):  # every millisecond; the efforts arrive half a one later
    tau = Numbers()
    y = [run.outputs[name][k] for name in readings]
    compiled.law_step(Numbers(*y), Numbers(*goal), tau)
    answers.append(tau[:2])
print("largest difference of C and simulation", np.abs(answers - run.tau[1::2]).max(), "N m")

figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
axes[0].plot(run.t, np.degrees(run.theta), label=["link1", "link2"])
axes[0].set_ylabel("joint angle (deg)")
axes[0].legend()
axes[1].plot(run.t, run.tau)
axes[1].plot(run.t[1::400], answers[::200], "ko", ms=3)
axes[1].set_ylabel("torque (N m); dots: compiled C")
axes[1].set_xlabel("time (s)")
figure.savefig("sampled_regulator.png", dpi=120)
