"""How much does the beam theory matter: one robot under every theory, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...architectures.kinds import architecture_of
from ...arguments import checked, one_of, whole_number
from ...errors import SuppleError
from ...faults import nearest
from ...robot import Robot
from ...structure import Joints
from ..configuration import joint_names
from .modes import Method, Modes, modes
from .shapes import Shapes

__all__ = ["THEORIES", "Theories", "theories", "with_theory"]

Array = NDArray[np.float64]
THEORIES = ("timoshenko", "euler-bernoulli", "inextensible", "rigid")
COMPARED = THEORIES[:3]  # a rigid link does not vibrate; the first that can be computed is compared
EXTRA_MODES = 5  # beyond those listed: a like shape may stand under a higher number
LIKE = 0.5  # modal assurance criterion from which two shapes are the same mode
STATIONS = 21  # per link, at which shapes are compared


def with_theory(robot: Robot, theory: str) -> Robot:
    """Return the robot with one beam theory on every link that bends."""
    if theory not in THEORIES:
        suggestion = nearest(theory, THEORIES)
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        raise SuppleError(f"theory {theory}: it must be one of {', '.join(THEORIES)}{hint}")
    paths = [
        f"{path}.theory" for path, link in architecture_of(robot).parts().items() if not link.rigid
    ]
    return robot.with_(dict.fromkeys(paths, theory))


@dataclass(frozen=True)
class Theories(Natural, Answer):
    """Natural frequencies of one robot under several beam theories.

    From `supple.theories`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta, position : ndarray
        Pose, as in `Modes`.
    joints, method : str
        As requested.
    names : tuple of str
        Theories that could be computed; the first one is the reference.
    omega : ndarray
        Frequencies, (theories, count), rad/s.
    difference : ndarray
        Difference from the reference, percent, (theories, count): mode by mode in the order of
        frequency, as in [DiCastri2011] (46).
    partner : ndarray of int
        Number of the mode that has the shape of the reference's mode, (theories, count); 0 where
        none has.
    partner_hz, partner_difference : ndarray
        Frequency of that mode, Hz, and its difference from the reference, percent; NaN where there
        is none.
    likeness : ndarray
        Modal assurance criterion of the two shapes, 0 to 1.
    missing : mapping
        Theories that could not be computed, and why.
    found : tuple of Modes
        The answers themselves, in the order of `names`.

    Examples
    --------
    >>> import supple
    >>> found = supple.theories(supple.load("industrial-3"), [0, 0.785, 0.785], count=3)
    >>> found.names
    ('timoshenko', 'euler-bernoulli', 'inextensible')
    >>> found.difference[1].round(2)
    array([0.19, 1.69, 3.83])
    """

    robot: Robot
    theta: Array
    position: Array | None
    joints: str
    method: str
    names: tuple[str, ...]
    omega: Array
    difference: Array
    partner: NDArray[np.int64]
    partner_hz: Array
    partner_difference: Array
    likeness: Array
    missing: Mapping[str, str]
    found: tuple[Modes, ...] = field(repr=False, compare=False)

    labels: ClassVar = {"theory": "names", "joint": joint_names}
    dims: ClassVar = {
        "omega": ("theory", "mode"),
        "frequency_hz": ("theory", "mode"),
        "difference": ("theory", "mode"),
        "partner": ("theory", "mode"),
        "partner_hz": ("theory", "mode"),
        "partner_difference": ("theory", "mode"),
        "likeness": ("theory", "mode"),
        "theta": ("joint",),
        "position": ("axis",),
        "certified": (),
    }
    table_rows: ClassVar = ("mode",)
    columns: ClassVar = ("frequency_hz", "difference", "partner", "partner_difference")
    units: ClassVar = {
        "omega": "rad/s",
        "frequency_hz": "Hz",
        "partner_hz": "Hz",
        "difference": "%",
        "partner_difference": "%",
        "theta": "rad or m",
        "position": "m",
    }

    @property
    def reference(self) -> str:
        """Theory from which differences are taken."""
        return self.names[0]

    @property
    def certified(self) -> bool:
        """Whether every frequency is proven to be the one of its number."""
        return all(each.certified for each in self.found)


@checked
def theories(
    robot: Robot,
    theta: ArrayLike | None = None,
    count: Annotated[int, whole_number(1, 10_000)] = 10,
    method: Annotated[Method, one_of("exact", "elements")] = "exact",
    joints: Joints | Mapping[str, str] | Sequence[str] = "locked",
    *,
    position: ArrayLike | None = None,
    elements: Annotated[int, whole_number()] = 8,
    order: Annotated[str, one_of("cubic", "quintic")] = "cubic",
) -> Theories:
    """Compare Timoshenko, Euler-Bernoulli and inextensible beams on one robot.

    Every link that bends is given one theory after another; rigid links stay rigid. Modes are
    compared twice: by their number, as [DiCastri2011] (46) does, and by their shape, because
    theories may order the same modes differently.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta, position : array_like, optional
        One pose, as for `modes`.
    count : int
        Number of elastic modes.
    method : {"exact", "elements"}
        As for `modes`.
    joints, elements, order
        As for `modes`.

    Returns
    -------
    Theories
        One row per theory. `plot` overlays their shapes, mode by mode.

    Notes
    -----
    A theory whose stiffness the robot file does not give is left out, and `missing` says why.
    Shapes of modes at the same frequency may be mixed in any way, so that such modes may have no
    partner.

    References
    ----------
    [DiCastri2011], Eq. (46), Tables 2-6, 9-11 and Figure 5.

    Examples
    --------
    >>> import supple
    >>> found = supple.theories(supple.load("industrial-3"), [0, 0.785, 0.785], count=2)
    >>> found.frequency_hz.shape
    (3, 2)
    """
    found: dict[str, Modes] = {}
    missing: dict[str, str] = {}
    for theory in COMPARED:
        try:
            variant = with_theory(robot, theory)
        except SuppleError as problem:
            missing[theory] = str(problem).splitlines()[0]
            continue
        found[theory] = modes(
            variant,
            theta,
            count + EXTRA_MODES,
            method,
            joints,
            position=position,
            elements=elements,
            order=order,
        )
        if found[theory].omega.ndim > 1:
            raise SuppleError("theories are compared at one pose: give theta as (joints,)")
    if not found:
        raise SuppleError(f"no theory can be computed: {'; '.join(missing.values())}")

    names = tuple(found)
    answers = tuple(found.values())
    reference = answers[0]
    count = min([count, *(len(each.omega) for each in answers)])
    omega = np.array([each.omega[:count] for each in answers])
    difference = 100 * (omega / omega[0] - 1)

    # The mode of every theory that has the shape of the reference's mode.
    reference_shapes = reference.shape(STATIONS)
    partner = np.zeros((len(names), count), int)
    likeness = np.zeros((len(names), count))
    partner_hz = np.full((len(names), count), np.nan)
    for row, each in enumerate(answers):
        alike = assurance(reference_shapes, each.shape(STATIONS))
        for mode, column in _pairs(alike):
            if mode < count and alike[mode, column] >= LIKE:
                partner[row, mode] = column + 1
                likeness[row, mode] = alike[mode, column]
                partner_hz[row, mode] = each.frequency_hz[column]
    return Theories(
        robot,
        reference.theta,
        reference.position,
        reference.joints,
        method,
        names,
        omega,
        difference,
        partner,
        partner_hz,
        100 * (partner_hz / reference.frequency_hz[:count] - 1),
        likeness,
        missing,
        answers,
    )


def assurance(first: Shapes, second: Shapes) -> Array:
    """Modal assurance criterion of every pair of shapes, (modes, modes), from 0 to 1.

    The displacements are weighted by the length that a station stands for.
    """
    lengths = np.ptp(first.x, axis=1)
    weight = np.sqrt(np.repeat(lengths, first.x.shape[1]) / first.x.shape[1])
    rows = []
    for shapes in (first, second):
        field_values = shapes.global_displacement.reshape(len(shapes.displacement), -1, 3)
        weighted = (field_values * weight[:, None]).reshape(len(field_values), -1)
        size = np.linalg.norm(weighted, axis=1, keepdims=True)
        rows.append(weighted / np.where(size > 0, size, 1.0))
    return np.asarray((rows[0] @ rows[1].T) ** 2)


def _pairs(alike: Array) -> list[tuple[int, int]]:
    """Pairs of modes that are most alike in all, each mode used once."""
    from scipy.optimize import linear_sum_assignment

    chosen: Any = linear_sum_assignment(-alike)
    return list(zip(chosen[0].tolist(), chosen[1].tolist(), strict=True))
