"""Four ways to stop shaking
=========================

The same move unshaped, with a ZVD shaper, with one that follows the pose, and optimised; each is
designed on the nominal arm and tried with a payload that is 20 % wrong.
"""

import supple

arm = supple.load("de-luca-two-link")
found = supple.compare(arm, [0, 0], [0.9, 0.7], elements=2, progress=False)
print(found)
found.plot("four_ways_to_stop.png")
