"""Modes while one number of the robot's file runs: what a saved page needs to answer a designer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError
from ...studies.vibration.modes import Modes, modes
from ..parameters import Parameter
from .scene import Poses, Track, align_signs, drawn_poses, track_of

__all__ = ["parameter_tracks"]

Array = NDArray[np.float64]


def parameter_tracks(
    here: Modes, parameters: Sequence[Parameter], count: int, points: int
) -> Iterator[Track]:
    """Yield a Track for each parameter: `count` values with shapes, the robot's own among them."""
    for each in parameters:
        at = np.linspace(each.low, each.high, count)
        at[np.argmin(np.abs(at - each.value))] = each.value
        found = [_modes_with(here, each, value) for value in at.tolist()]
        shapes = [one.shape(points) for one in found]
        poses = [drawn_poses(one, [shape]) for one, shape in zip(found, shapes, strict=True)]
        motion, energy, kinds = align_signs(shapes)

        # How far frequencies between two values are off, seen half-way between them
        hertz = np.array([one.frequency_hz for one in found])
        middle = (at[1:] + at[:-1]) / 2
        true = np.array([_modes_with(here, each, value).frequency_hz for value in middle.tolist()])
        error = float(np.max(np.abs(np.sqrt(hertz[1:] * hertz[:-1]) / true - 1)))
        values = np.empty(2 * count - 1)
        values[::2] = at
        values[1::2] = middle
        every = np.empty((2 * count - 1, hertz.shape[1]))
        every[::2] = hertz
        every[1::2] = true

        unit, factor = each.unit
        yield track_of(
            Poses(
                np.concatenate([one.p for one in poses]),
                np.concatenate([one.R for one in poses]),
                np.concatenate([one.L for one in poses]),
            ),
            motion,
            energy,
            kind="parameter",
            name=each.path.removeprefix("links."),
            unit=unit,
            at=factor * at,
            start=factor * each.value,
            values=factor * values,
            frequency_hz=every,
            kinds=kinds,
            note=f"interpolated between {len(values)} computed values; frequencies between them "
            f"are off by at most {100 * error:.1g} %",
        )


def _modes_with(here: Modes, parameter: Parameter, value: float) -> Modes:
    """The question of `here` about the robot with another value of one number."""
    key = "theta" if here.position is None else "position"
    pose = here.theta if here.position is None else here.position
    try:
        robot = here.robot.with_(parameter.path, value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return modes(
                robot,
                count=len(here.omega),
                method=here.method,  # type: ignore[arg-type]
                joints=here.joints,
                gravity=here.gravity,
                **{key: pose if len(pose) else None},  # type: ignore[arg-type]
            )
    except SuppleError as problem:
        unit, factor = parameter.unit
        raise SuppleError(
            f"the slider of {parameter.path} runs over {factor * value:g} {unit}, where there is "
            f"no answer: {problem}; give it other ends"
        ) from None
