"""Which modules run while a robot is built and simulated: `python -m bench.visits [robot ..]`.

What three families have in common, and what each has beyond: closures, and where links stand. Only
functions that are called count, after everything has been imported and called once.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import supple

__all__ = ["main", "visited"]

ROOT = Path(supple.__file__).parent
ROBOTS = ("de-luca-two-link", "five-bar", "kuo-delta")


def visited(name: str, mass: float) -> set[str]:
    """Return the modules whose functions are called by `build` and `simulate` of a robot.

    mass: of its payload, so that a robot is one that nothing was asked of before.
    """
    robot = supple.load(name).with_("payload", {"mass": mass})
    found: set[str] = set()

    def look(frame: FrameType, _event: str, _given: Any) -> None:
        code = frame.f_code
        if code.co_flags & inspect.CO_OPTIMIZED and code.co_filename.startswith(f"{ROOT}/"):
            place = Path(code.co_filename).relative_to(ROOT).with_suffix("")
            found.add(".".join(part for part in place.parts if part != "__init__"))

    sys.setprofile(look)
    try:
        model = supple.build(robot, supple.AssumedModes(1))
        supple.simulate(model, 0.1 * np.ones(model.joints), duration=0.02, limits=False)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Print what the robots have in common and what each has beyond."""
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or ROBOTS
    for name in names:
        visited(name, 0.1)
    each = {name: visited(name, 0.2) for name in names}
    common = set.intersection(*each.values())
    lines = [f"all {len(names)}: {len(common)} modules", f"  {' '.join(sorted(common))}"]
    for name, own in each.items():
        lines += [f"{name}: {len(own - common)} more", f"  {' '.join(sorted(own - common))}"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
