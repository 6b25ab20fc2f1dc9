"""Which joints put the tip there: every solution found, every try told, the nearest otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.base import JointSolution
from ...architectures.kinds import architecture_of
from ...arguments import checked, rows, vector
from ...errors import SuppleError
from ...kernels.spatial import rpy_rotation
from ...robot import Robot, need_robot

__all__ = ["JointSolutions", "inverse"]

Array = NDArray[np.float64]


LONGEST = 1e12  # m: links measure 1e9 m at most


@dataclass(frozen=True)
class JointSolutions(Answer):
    """Joint coordinates that put the tip at a pose, or as near to it as the robot comes.

    From `supple.inverse`.

    Attributes
    ----------
    robot : Robot
        The robot.
    position, rotation : ndarray
        The requested pose.
    theta : ndarray
        Solution (joints,) nearest to the start; where there is none, the nearest pose found.
    solutions : ndarray
        All solutions found, (S, joints), nearest to the start first; empty if the pose is out of
        reach. An arm with redundant joints has a continuum of solutions, of which these are some.
    error : float
        The larger of `position_error` and `rotation_error`.
    position_error, rotation_error : float
        Errors at `theta`, m and rad.
    reached : bool
        Whether the pose is met to rounding.
    method : str
        "closed form" or "least squares".
    tries, try_errors : ndarray
        Where each search ended, (T, joints), and the error there, (T,).
    reason : str
        For a pose of a batch without an answer: why. Its `theta` is NaN.
    """

    robot: Robot
    position: Array
    rotation: Array | None
    theta: Array
    solutions: Array
    error: float
    position_error: float
    rotation_error: float
    reached: bool
    method: str
    tries: Array
    try_errors: Array
    reason: str = ""

    dims: ClassVar = {
        "position": ("axis",),
        "rotation": ("axis", "own_axis"),
        "theta": ("joint",),
        "solutions": ("solution", "joint"),
        "tries": ("try", "joint"),
        "try_errors": ("try",),
    }
    table_rows: ClassVar = ("try",)

    @property
    def sentence(self) -> str:
        """How many solutions there are, or how near the robot comes, in one sentence."""
        if self.reason:
            return self.reason
        if self.reached:
            count = len(self.solutions)
            return f"{count} solution{'' if count == 1 else 's'} by {self.method}"
        turned = "" if self.rotation is None else f" and {self.rotation_error:.6g} rad"
        return (
            f"{np.round(self.position, 6).tolist()} is out of reach: the nearest pose found is "
            f"{self.position_error:.6g} m{turned} away, the best of {len(self.tries)} tries"
        )


@checked
def inverse(
    robot: Robot,
    position: Annotated[ArrayLike, rows],
    rotation: ArrayLike | None = None,
    start: ArrayLike | None = None,
) -> Any:
    """Joint coordinates that put the tip of the undeformed robot at a given pose.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    position : array_like
        Position of the tip, (3,), or (2,) for a planar arm, m. Many poses are (B, 3).
    rotation : array_like, optional
        Attitude of the tip: axes (3, 3) in base axes; or roll, pitch, yaw; or one angle in the
        plane. Many are (B, 3, 3). Default: the attitude is left open.
    start : array_like, optional
        Joint coordinates (joints,) near which a solution is wanted. Default: zero, or the middle of
        the joint limits.

    Returns
    -------
    JointSolutions or list of JointSolutions
        A list for many poses, which together cost little more than one.

    Notes
    -----
    A Delta, and arms with two parallel revolute joints (three with `rotation`), are solved in
    closed form. A mechanism is solved by Newton's method from its start, and refused where that
    fails. Other arms are solved by Newton's method on the squared distance from several starts,
    within the joint limits. A pose out of reach is not an error: `reached` is False and `theta` is
    the nearest pose found, where the squared position error plus the squared product of reach and
    angle error is smallest.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> found = supple.inverse(robot, [0.7, 0.3])
    >>> found.reached, found.method
    (True, 'closed form')
    >>> supple.forward(robot, found.theta).position.round(6)
    array([0.7, 0.3, 0. ])
    """
    need_robot(robot)
    single = np.ndim(position) == 1
    given = [position] if single else list(position)  # type: ignore[arg-type]
    P = np.full((len(given), 3), np.nan)
    reason = [""] * len(given)
    for b, each in enumerate(given):
        try:
            # One position (3,), or (2,) in the plane of a planar robot, checked
            flat = architecture_of(robot).planar and np.shape(each) == (2,)
            place = np.array(vector(2 if flat else 3)("position", each))
            if np.abs(place).max() > LONGEST:
                raise SuppleError(f"position lies beyond {LONGEST:g} m, where no robot reaches")
            P[b] = np.append(place, 0.0) if flat else place
        except SuppleError as problem:
            reason[b] = str(problem)
    R = None if rotation is None else _attitudes(rotation, single, len(P))
    good = [b for b, why in enumerate(reason) if not why]
    try:
        turns = None if R is None else R[good]
        solved = dict(zip(good, architecture_of(robot).solve(P[good], turns, start), strict=True))
    except SuppleError:  # of one pose: the others are asked one by one
        solved = {}
        for b in good:
            try:
                turn = None if R is None else R[b : b + 1]
                solved[b] = architecture_of(robot).solve(P[b : b + 1], turn, start)[0]
            except SuppleError as problem:
                reason[b] = str(problem)
    if not solved and len(set(reason)) == 1:  # one pose, or what is wrong with all of them
        raise SuppleError(reason[0])
    theta = np.full(len(architecture_of(robot).motors), np.nan)
    none = JointSolution(
        theta, theta[:0, None], np.nan, np.nan, False, "none", theta[:0, None], theta[:0]
    )
    found = []
    for b, p in enumerate(P):
        one = solved.get(b, none)
        error = max(one.position_error, one.rotation_error)
        question = (robot, p, None if R is None else R[b])
        found.append(JointSolutions(*question, error=error, **one._asdict(), reason=reason[b]))
    return found[0] if single else found


def _attitudes(rotation: ArrayLike, single: bool, count: int) -> Array:
    """Attitudes (B, 3, 3) from matrices, or roll, pitch, yaw, or angles in the plane."""
    try:
        given = np.asarray(rotation, float)
    except (TypeError, ValueError):
        given = np.full(1, np.nan)
    given = given[None] if single else given
    if given.shape == (count,):
        given = np.stack([0 * given, 0 * given, given], axis=-1)
    if given.shape == (count, 3) and np.isfinite(given).all():
        given = np.array([rpy_rotation(each) for each in given])
    if given.shape == (count, 3, 3) and np.isfinite(given).all():
        square = np.abs(given @ np.swapaxes(given, 1, 2) - np.eye(3)).max()
        if square < 1e-9 and (np.linalg.det(given) > 0).all():
            return given
    raise SuppleError(
        "rotation is not one: give a 3 x 3 rotation matrix, or roll, pitch and yaw in radians, or "
        "for a planar arm one angle, for each position"
    )
