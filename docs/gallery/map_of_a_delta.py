"""Map of a Delta's workspace
==========================

The lowest frequency of the flexible Delta of [Kuo2016] over a slice of its workspace. Places that
the legs cannot reach stay empty.
"""

import supple

robot = supple.load("kuo-delta")
found = supple.workspace(robot, x=(-0.3, 0.3), y=(-0.3, 0.3), z=(0.6, 0.6), points=25)
print(found)
found.plot("map_of_a_delta.png")
