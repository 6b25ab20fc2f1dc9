"""Damping laws as options of commands, such as `--damping rayleigh:alpha=0.3:beta=1e-4`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...errors import SuppleError

if TYPE_CHECKING:
    from ...equations.damping import Damping
    from ...path_dynamics.damping import MotionDamping

__all__ = ["link_damping_law", "path_damping_law"]

SUCH = "rayleigh:ratio=0.05, rayleigh:alpha=0.3:beta=1e-4 or stiffness-root:factor=0.1"
# What the sizes of each law are measured in: units as they may be written, with their factors
UNITS: dict[str, dict[str, float]] = {
    "alpha": {"": 1.0, "1/s": 1.0, "/s": 1.0, "s^-1": 1.0},
    "beta": {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6},
    "ratio": {"": 1.0, "%": 1e-2},
    "factor": {"": 1.0},
    "first": {"": 1.0},
    "second": {"": 1.0},
}
SIZES = {
    "rayleigh": ("ratio", "first", "second", "alpha", "beta"),
    "stiffness-root": ("factor",),
}


def link_damping_law(text: str | None) -> Damping | float | None:
    """Return the damping of links that `build` takes: ratios, or the root of the stiffness."""
    from ...equations.damping import ModalDamping, StiffnessRoot

    if text is None:
        return None
    name, _, _ = text.partition(":")
    if name not in SIZES:
        ratios = [_value(part, "ratio", text) for part in text.split(",")]
        return ratios[0] if len(ratios) == 1 else ModalDamping(ratios)
    given = _sizes(text)
    if name == "stiffness-root":
        return StiffnessRoot(**given)
    raise SuppleError(
        f"--damping {text}: Rayleigh's damping is for robots along a --path, whose mass matrix it "
        "takes; without one give a ratio, such as 0.02, one for each link, stiffness-root, or "
        "--modal-damping 0.02"
    )


def path_damping_law(text: str | None) -> MotionDamping | float | None:
    """Return the damping along a path that `follow` takes: a ratio, or Rayleigh's."""
    from ...path_dynamics.damping import Proportional, Rayleigh

    if text is None:
        return None
    name, _, _ = text.partition(":")
    if name not in SIZES:
        if "," in text:
            raise SuppleError(
                f"--damping {text}: along a --path give one ratio for all links, or those of each "
                "link as damping_ratio in the robot file"
            )
        return _value(text, "ratio", text)
    if name == "stiffness-root":
        raise SuppleError(
            f"--damping {text}: stiffness-root is a law of a model's links; along a --path give a "
            "ratio, such as 0.02, or rayleigh:ratio=0.05 or rayleigh:alpha=0.3:beta=1e-4"
        )
    given = _sizes(text)
    if "alpha" in given or "beta" in given:
        other = [word for word in given if word not in ("alpha", "beta")]
        if other:
            raise SuppleError(
                f"--damping {text}: {other[0]} and alpha or beta are both given: alpha (1/s) and "
                "beta (s) say the law alone"
            )
        return Proportional(**given)
    if "ratio" not in given:
        raise SuppleError(f"--damping {text}: give its ratio=, or alpha= and beta=")
    return Rayleigh(**given)


def _sizes(text: str) -> dict[str, Any]:
    """The sizes of a law, NAME:size=value:size=value."""
    name, *parts = text.split(":")
    given: dict[str, Any] = {}
    for part in parts:
        word, equals, value = part.partition("=")
        if not equals or word not in SIZES[name]:
            known = ", ".join(SIZES[name])
            raise SuppleError(f"--damping {text}: '{part}' is not known; {name} has {known}")
        if word in given:
            raise SuppleError(f"--damping {text}: {word} is given twice")
        size = _value(value, word, text)
        is_mode_number = word in ("first", "second") and size == round(size)
        given[word] = round(size) if is_mode_number else size
    return given


def _value(value: str, word: str, text: str) -> float:
    """One size in SI, from a number with or without its unit."""
    known = UNITS[word]
    for unit in sorted(known, key=len, reverse=True):
        if not value.strip().endswith(unit):
            continue
        number = value.strip().removesuffix(unit) if unit else value
        try:
            found = float(number) * known[unit]
        except ValueError:
            continue
        if math.isfinite(found) and found >= 0:
            return found
    units = ", ".join(unit for unit in known if unit)
    in_units = f", plain or in {units}" if units else ""
    if word == "ratio" and value == text:
        raise SuppleError(f"--damping {text}: give a ratio, such as 0.02, or a law: {SUCH}")
    raise SuppleError(
        f"--damping {text}: {word} is '{value}': give a number that is not negative{in_units}"
    )
