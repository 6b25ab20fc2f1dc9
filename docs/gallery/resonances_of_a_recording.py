"""Resonances of a recording
=========================

An accelerometer on the tip, a tap, four seconds of ringing with noise and mains hum: frequencies
and damping ratios with their standard deviations. Here the recording is made up, so that the truth
is known: 7.20 and 23.5 Hz, damped by 1.5 % and 0.8 %.
"""

import numpy as np

import supple

rng = np.random.default_rng(7)
t = np.arange(0, 4, 1 / 800)
signal = np.zeros_like(t)
for hertz, ratio, size in ((7.2, 0.015, 1.0), (23.5, 0.008, 0.6)):
    omega = 2 * np.pi * hertz
    damped = omega * np.sqrt(1 - ratio**2)
    signal += size * np.exp(-ratio * omega * t) * np.cos(damped * t)
signal += 0.02 * rng.normal(size=len(t)) + 0.01 * np.sin(2 * np.pi * 50 * t)

found = supple.resonances({"t": t, "accel_y": signal})
print(found)
found.plot("resonances_of_a_recording.png")
