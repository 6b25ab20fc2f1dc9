"""Which modules run while a robot is built and simulated: `python -m bench.visits [robot ..]`.

What three families have in common, and what each has beyond: closures, and where links stand. Only
functions that are called count, after everything has been imported and called once.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import supple

__all__ = ["main", "modules_by_robot"]

ROOT = Path(supple.__file__).parent
ROBOTS = ("de-luca-two-link", "five-bar", "kuo-delta")


def modules_by_robot(names: Iterable[str]) -> dict[str, set[str]]:
    """Return the modules that each robot runs, after everything was imported and called once."""
    for name in names:
        build_and_simulate(name, payload_mass=0.1)
    return {name: visited_modules(name, payload_mass=0.2) for name in names}


def build_and_simulate(name: str, payload_mass: float) -> None:
    """Run `build` and `simulate`; another payload makes a robot about which nothing is cached."""
    robot = supple.load(name).with_("payload", {"mass": payload_mass})
    model = supple.build(robot, supple.AssumedModes(1))
    supple.simulate(model, 0.1 * np.ones(model.joints), duration=0.02, limits=False)


def visited_modules(name: str, payload_mass: float) -> set[str]:
    """Return the modules whose functions are called by `build_and_simulate`."""
    called: set[CodeType] = set()

    def note_call(frame: FrameType, _event: str, _argument: Any) -> None:
        called.add(frame.f_code)

    # A trace function that returns None is called for calls alone, not of lines.
    sys.settrace(note_call)
    try:
        build_and_simulate(name, payload_mass)
    finally:
        sys.settrace(None)

    modules = set()
    for code in called:
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if is_function and code.co_filename.startswith(f"{ROOT}/"):
            path = Path(code.co_filename).relative_to(ROOT).with_suffix("")
            modules.add(".".join(part for part in path.parts if part != "__init__"))
    return modules


def main() -> None:
    """Print what the robots have in common and what each has beyond."""
    warnings.simplefilter("ignore")
    names = sys.argv[1:] or ROBOTS
    modules = modules_by_robot(names)
    common = set.intersection(*modules.values())
    lines = [f"all {len(names)}: {len(common)} modules", f"  {' '.join(sorted(common))}"]
    for name, own in modules.items():
        lines += [f"{name}: {len(own - common)} more", f"  {' '.join(sorted(own - common))}"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
