"""A palletizer
============

Arm, coupler and two parallel rods: the hand of a palletizer stays level because a parallelogram
carries it, and both motors stay in the base. The robot is a mechanism with one closed loop.
"""

import numpy as np

import supple

steel = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7850}
bar = {"shape": "box", "depth": 0.12, "width": 0.08, "wall": 0.005}
rod = {"shape": "tube", "diameter": 0.04, "wall": 0.004}


def link(name, length, section, parent, start=None, **joint):
    """Return one link; `start` makes its joint passive."""
    passive = {} if start is None else {"passive": True, "start": start}
    return {
        "name": name,
        "parent": parent,
        "length": length,
        "material": "steel",
        "section": section,
        "joint": {"type": "revolute", **passive, **joint},
    }


palletizer = supple.MechanismRobot.model_validate(
    {
        "name": "palletizer",
        "planar": True,
        "gravity": [0, -9.81, 0],
        "materials": {"steel": steel},
        "links": [
            link("arm", 1.2, bar, "base"),
            link("forearm", 1.4, bar, "arm", start="-120deg"),
            link("crank", 0.4, bar, "base"),
            link("rod", 1.2, rod, "crank", start="-90deg"),
        ],
        # the rod pushes the forearm 0.4 m from the elbow
        "closures": [{"ends": ["rod", {"link": "forearm", "at": 0.4}], "type": "revolute"}],
        "tip": "forearm",
        "payload": {"mass": 60},
    }
)

found = supple.modes(palletizer, np.radians([90, -30]), count=4)
print(found)
found.plot("palletizer.png")
