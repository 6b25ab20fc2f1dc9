"""LQG with strain gauges
======================

Encoders and one strain gauge per link are all that is measured, every millisecond and half a
millisecond late. An LQG law calms the links; the same gains without gauges would not see them.
"""

import supple

model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2), damping=0.01)
measures = [
    supple.Encoder("link1"),
    supple.Encoder("link2"),
    supple.Strain("link1"),
    supple.Strain("link2"),
]
law = supple.lqg(
    model,
    [0.0, 0.5],
    measures,
    state_weight=[10.0] * 6 + [1.0] * 6,
    effort_weight=10.0,
    effort_noise=0.3,
    measurement_noise=[0.01, 0.01, 0.1, 0.1],
    integral=1.0,
    period=1e-3,
    delay=0.5e-3,
)
loop = supple.Sampled(law, period=1e-3, delay=0.5e-3, effort_limit=2.0)
finer = supple.build(model.robot, supple.AssumedModes(3), damping=0.01)  # more modes than the law
move = supple.PointToPoint([0.0, 0.5], [0.2, 0.3], time=1.5)

run = supple.simulate(finer, controller=loop, trajectory=move, duration=5.0)
print(run)
run.plot("lqg_with_strain_gauges.png")
