"""Export: a robot or a Model in the format of another tool, with its own error stated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..architectures.kinds import architecture_of
from ..arguments import brief, checked, instance, whole_number
from ..beams.basis import AssumedModes, Basis
from ..equations.accuracy import ModelWarning
from ..equations.build import build
from ..equations.model import Model
from ..errors import SuppleError
from ..robot import Robot, a_robot
from ..studies.configuration import where
from ..studies.vibration.modes import modes
from .exporter import Exporter, Request
from .names import identifier
from .registry import EXPORTERS, exporter_named

__all__ = ["Export", "export"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Export(Answer):
    """Files written by `supple.export`, and their error against the certified robot.

    Attributes
    ----------
    to : str
        The format.
    files : tuple of pathlib.Path
        Written files; the first is the one to open.
    theta : ndarray
        Joint coordinates at which the frequencies are compared.
    frequency_hz : ndarray
        First natural frequencies of the exported model, computed from its files, joints locked, Hz.
    exact_hz : ndarray
        The certified ones, Hz.
    error : float
        Largest relative difference between the two.
    rule : str
        How the error decreases.
    notes : tuple of str
        What the format cannot represent.
    """

    to: str
    files: tuple[Path, ...]
    theta: Array
    frequency_hz: Array
    exact_hz: Array
    error: float
    rule: str
    notes: tuple[str, ...] = ()

    dims: ClassVar = {"frequency_hz": ("mode",), "exact_hz": ("exact_mode",)}
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"frequency_hz": "Hz", "exact_hz": "Hz"}


def _robot_or_model(name: str, given: Any) -> Robot | Model:
    return given if isinstance(given, Model) else a_robot(name, given)


def _format(name: str, given: Any) -> str:
    if isinstance(given, str) and given in EXPORTERS:
        return given
    raise SuppleError(f"{name} is {brief(given)}: it must be one of {', '.join(EXPORTERS)}")


@checked
def export(
    robot_or_model: Annotated[Robot | Model | str, _robot_or_model],
    to: Annotated[str, _format],
    path: str | Path,
    *,
    basis: Basis | None = None,
    theta0: ArrayLike | None = None,
    q0: ArrayLike | None = None,
    name: Annotated[str, instance(str, "a word")] | None = None,
    count: Annotated[int, whole_number(1, 50)] = 3,
    **options: Any,
) -> Export:
    """Write a robot or a Model in the format of another tool.

    Every export states its own error: the first natural frequencies of what was written, found
    from the written thing itself, beside the certified ones.

    Parameters
    ----------
    robot_or_model : Robot, Model or str
        What to export. A Robot is built with `basis` where equations of motion are needed.
    to : str
        The format: c, fmu, mujoco, exudyn, simscape, matlab, urdf, sdf.
    path : str or Path
        File to write (fmu, mujoco, sdf), or folder (the others).
    basis : Basis, optional
        Shape functions of a Robot's links. Default: ``AssumedModes(2)``.
    theta0 : array_like, optional
        Joint coordinates (rad or m) at which frequencies are compared and from which models start.
        Default: zero, or where the robot usually stands.
    q0 : array_like, optional
        Whole state from which models start. Default: unbent at `theta0`.
    name : str, optional
        Word from which names of files and functions are made. Default: the robot's name.
    count : int
        Number of frequencies to compare.
    **options
        What one format takes besides, such as ``segments=16`` of mujoco; see the how-to.

    Returns
    -------
    Export
        The files, their frequencies, the certified ones and the largest relative difference.

    Examples
    --------
    >>> import tempfile
    >>> import supple
    >>> folder = tempfile.mkdtemp()
    >>> out = supple.export("de-luca-two-link", to="c", path=folder)
    >>> out.error < 0.05
    True
    """
    exporter = exporter_named(to)
    checked_options = _check_options(to, exporter, options)
    robot = robot_or_model.robot if isinstance(robot_or_model, Model) else robot_or_model
    assert isinstance(robot, Robot)
    exporter.refuse(robot)
    place = exporter.place(path)

    model = None
    if exporter.needs_model:
        model = _model_of(robot_or_model, basis)
    elif basis is not None and not isinstance(robot_or_model, Model):
        raise SuppleError(f"basis is given: {to} is made from the robot itself; leave basis out")

    state = None
    if q0 is not None:
        if model is None:
            raise SuppleError(f"q0 is given: {to} takes joint coordinates; give theta0")
        state = np.asarray(q0, float)
        if state.shape != (model.size,) or not np.isfinite(state).all():
            raise SuppleError(
                f"q0 has shape {state.shape}: give {model.size} finite numbers, "
                f"{', '.join(model.coordinates)}"
            )
        if theta0 is not None:
            raise SuppleError("q0 and theta0 are both given: give one of them")
        theta0 = state[: model.joints]
    theta = default_pose(robot, theta0)
    request = Request(
        robot,
        theta,
        identifier(robot.name if name is None else name),
        count,
        model,
        state,
        certified_frequencies(robot, theta, count),
        checked_options,
    )
    written = exporter.write(request, place)
    return Export(
        to,
        written.files,
        theta,
        written.frequency_hz,
        request.exact_hz,
        request.error_of(written.frequency_hz),
        written.rule,
        written.notes,
    )


def _check_options(to: str, exporter: Exporter, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of one exporter, each checked."""
    found = {}
    for word, value in options.items():
        if word not in exporter.options:
            takes = ", ".join(exporter.options)
            allowed = f"it takes {takes}" if takes else "it takes none of its own"
            raise SuppleError(f"export to {to} takes no '{word}': {allowed}")
        found[word] = exporter.options[word](word, value)
    return found


def _model_of(robot_or_model: Robot | Model | str, basis: Basis | None) -> Model:
    """Return the Model that was given, or that of the robot under a basis."""
    if isinstance(robot_or_model, Model):
        if basis is not None:
            raise SuppleError("basis is given with a Model, which has its own: leave basis out")
        return robot_or_model
    assert isinstance(robot_or_model, Robot)
    with warnings.catch_warnings():
        # the export states its error itself
        warnings.simplefilter("ignore", ModelWarning)
        return build(robot_or_model, AssumedModes(2) if basis is None else basis)


def default_pose(robot: Robot, theta: ArrayLike | None) -> Array:
    """Return joint coordinates (joints,): those given, zero, or where the robot usually stands."""
    family = architecture_of(robot)
    if theta is not None:
        configuration = where(robot, theta)
    else:
        usual = family.usual()
        outstretched = family.outstretched
        if outstretched is not None:
            configuration = where(robot, outstretched)
        else:
            configuration = where(robot, usual.get("theta"), usual.get("position"))
    if not configuration.single:
        raise SuppleError("theta0 holds several configurations: give one, (joints,)")
    return np.asarray(configuration.theta[0], float)


def certified_frequencies(robot: Robot, theta: Array, count: int) -> Array:
    """Return the first certified frequencies at a pose, joints locked, Hz; empty: nothing bends."""
    parts = architecture_of(robot).parts().values()
    if all(part.rigid for part in parts):
        try:
            return np.asarray(modes(robot, theta, count=count).frequency_hz, float)
        except SuppleError:  # no spring either
            return np.zeros(0)
    found = np.asarray(modes(robot, theta, count=count).frequency_hz, float)
    return np.asarray(found[np.isfinite(found)])
