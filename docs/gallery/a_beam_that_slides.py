"""A beam that slides out of its hub
=================================

The third link of the arm of [Theodore1997] is a beam that slides through its hub. Drawn in it
becomes stiffer, pushed out softer; `stability` shows what happens to its vibration on the way.
"""

import supple

model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(2))
move = supple.ParabolicBlends([0, 0, 0.3], [1.0, -0.5, 1.0], duration=1.0)
found = supple.stability(model, move)
print(found)
found.plot("a_beam_that_slides.png")
