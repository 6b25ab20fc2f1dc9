"""Where a run passes what its motors can do: effort and speed limits, told and not enforced."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ...architectures.kinds import architecture_of
from ...equations.chains.link_fields import link_deflection
from ...integration.plan import SimulationWarning
from ...robot import Robot
from ..small_range import SMALL, SmallRangeWarning, too_large
from .response import Response

__all__ = ["largest_deflection_ratio", "past_limits", "warn_past_limits"]

ROUNDING = 1e-9  # relative, by which a limit may be passed without a word
LOOKS = 200  # samples of a run at which its links' bending is looked at


def largest_deflection_ratio(found: Response) -> float:
    """Return the largest deflection of a link's end over its length, of links that do not slide."""
    model = found.model
    most = 0.0
    rows = found.q[:: len(found.q) // LOOKS + 1]
    for i, link in enumerate(model.chain.links):
        if not link.inv.count or link.slide is not None:
            continue
        own = model.chain.own(i)
        if len(own) == link.inv.count:  # no loop ties any of them
            moved = link_deflection(link, rows[:, own], 1.0, model.stiffening)
            most = max(most, float(np.linalg.norm(moved, axis=-1).max()) / float(link.inv.length))
    return most


def warn_past_limits(found: Response) -> Response:
    """Return the same run, after a warning for each limit that its motors pass.

    And one where a mechanism bends further than its linear beams can be trusted with; arms and
    Deltas, whose papers go there, are told by `follow`.
    """
    by_joints = architecture_of(found.model.robot).asked_by == "theta"
    if (
        by_joints
        and found.model.functions.needs
        and (most := largest_deflection_ratio(found)) > SMALL
    ):
        warning = too_large(found.model.robot.name, most, "stiffen the links, or drive slower")
        warnings.warn(warning, SmallRangeWarning, stacklevel=4)
    joints = found.model.joints
    for sentence in past_limits(found.model.robot, found.t, found.tau, found.qd[:, :joints]):
        warnings.warn(sentence, SimulationWarning, stacklevel=4)
    return found


def past_limits(
    robot: Robot, t: NDArray[np.float64], tau: NDArray[np.float64], thetad: NDArray[np.float64]
) -> list[str]:
    """Return a sentence for each limit that is passed: which motor, when first, and by how much.

    t (T,), tau and thetad (T, motors); limits are on the joint side.
    """
    sentences = []
    for k, drive in enumerate(architecture_of(robot).drives):
        units = ("N", "m/s") if drive.slides else ("N m", "rad/s")
        cases = (
            ("effort", drive.made.effort_limit, tau, units[0]),
            ("speed", drive.made.speed_limit, thetad, units[1]),
        )
        for word, limit, values, unit in cases:
            size = np.abs(values[:, k])
            if limit is None or not (over := size > limit * (1 + ROUNDING)).any():
                continue
            most = float(size.max())
            first = float(t[over.argmax()])
            keeps = "; a controller in supple.Sampled keeps it" if word == "effort" else ""
            sentences.append(
                f"the {word} of joint {drive.name} reaches {most:.4g}, its {word}_limit is "
                f"{limit:g} {unit}: passed from t = {first:.4g} s, by up to {most - limit:.3g} "
                f"{unit} ({most / limit - 1:.1%}){keeps}"
            )
    return sentences
