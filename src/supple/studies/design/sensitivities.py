"""What does a change buy: derivatives of natural frequencies by any parameter or coordinate.

At a root omega of K(omega, p) with null vector phi, closures C(p) phi = 0 held by lambda,

    d omega / d p = -(phi' K_p phi + 2 lambda' C_p phi) / (phi' K_omega phi),

and where several roots coincide the derivatives are the eigenvalues of the same forms on their
common null space. K is analytic in p and omega; K_p, C_p and K_omega are differences of sixth
order with steps of a per cent, which leaves an error of about 1e-12 in them, and shorter ones where
a difference of fourth order does not agree.

Source: [Wittrick1962] for simple roots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...arguments import as_list, checked, one_of, whole_number
from ...assembly import coordinates, exact_ends
from ...errors import RobotError, SuppleError
from ...robot import Robot
from ...structure import Joints, Structure, cut_structure, short_pieces, structure_of
from ..configuration import where
from ..vibration.modes import modes
from ..vibration.shapes import COINCIDENT, dynamic_stiffness, null_vectors
from .varied import Varied

__all__ = ["Sensitivities", "difference", "sensitivities"]

Array = NDArray[np.float64]
# Places in steps, weights of a difference of sixth order, and of a lower one that tells its error
CENTRAL = (
    *((-3, -1 / 60, 0.0), (-2, 9 / 60, 1 / 12), (-1, -45 / 60, -8 / 12)),
    *((1, 45 / 60, 8 / 12), (2, -9 / 60, -1 / 12), (3, 1 / 60, 0.0)),
)
FORWARD = (
    *((0, -147 / 60, -137 / 60), (1, 360 / 60, 5.0), (2, -450 / 60, -5.0)),
    *((3, 400 / 60, 10 / 3), (4, -225 / 60, -5 / 4), (5, 72 / 60, 1 / 5), (6, -10 / 60, 0.0)),
)
STEPS = (1e-2, 1e-3, 1e-4, 1e-5)  # relative to the value, or of a radian or metre
ERROR_TOLERANCE = 1e-6  # what the lower order may be off; the higher one is then off by 1e-9


@dataclass(frozen=True, eq=False)
class Sensitivities(Natural, Answer):
    """Natural frequencies in one pose and their derivatives.

    From `supple.sensitivities`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,).
    omega : ndarray
        Natural frequencies (count,), rad/s.
    derivatives : dict
        For each parameter an array (count,), rad/s per unit of the parameter.
    coincident : ndarray of bool
        Whether a frequency coincides with others, (count,). Its derivatives are then those of the
        whole group, ascending.
    """

    robot: Robot
    theta: Array
    omega: Array
    derivatives: dict[str, Array]
    coincident: NDArray[np.bool_]

    dims: ClassVar = {"omega": ("mode",), "frequency_hz": ("mode",), "coincident": ("mode",)}
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s", "frequency_hz": "Hz"}


@checked
def sensitivities(
    robot: Robot,
    theta: ArrayLike | None = None,
    parameters: Annotated[Sequence[str], as_list] = ("payload.mass",),
    count: Annotated[int, whole_number(1, 10_000)] = 6,
    *,
    position: ArrayLike | None = None,
    joints: Annotated[Joints, one_of("locked", "free")] = "locked",
) -> Sensitivities:
    """Derivatives of natural frequencies with respect to parameters.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: zero.
    parameters : sequence of str
        Paths of the robot file (``links.link1.section.wall``, ``payload.mass``) or coordinates
        (``theta.link2``, ``position.x``).
    count : int
        Number of modes.
    position : array_like, optional
        Instead of `theta`: position (3,) of a Delta's platform, m.
    joints : {"locked", "free"}
        Whether the motors hold the joints.

    Returns
    -------
    Sensitivities

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.sensitivities(robot, [0, 0.785, 0.785], ["payload.mass"], count=2)
    >>> found.derivatives["payload.mass"].round(3)  # rad/s per kg
    array([-0.299, -0.954])
    """
    if isinstance(parameters, str) or not all(isinstance(p, str) for p in parameters):
        raise SuppleError(f"parameters is {parameters!r:.60}: give a list of paths")
    varied = Varied.of(robot, tuple(parameters), theta, position)
    at = varied.configurations_at({}, 1)
    found = modes(robot, **{k: v[0] for k, v in at.items()}, count=count + 2, joints=joints)
    omega = found.omega
    groups = np.split(
        np.arange(len(omega)), 1 + np.flatnonzero(np.diff(omega) > COINCIDENT * omega[1:])
    )
    coincident = np.zeros(len(omega), bool)
    roots = []
    for group in groups:
        if group[0] < count:
            coincident[group] = len(group) > 1
            roots.append(_Root.of(found.structure, float(omega[group].mean()), group))
    slopes = {key: _slopes(varied, key, joints, roots, omega) for key in varied.keys}
    return Sensitivities(
        robot,
        np.asarray(found.theta),
        omega[:count],
        {key: value[:count] for key, value in slopes.items()},
        coincident[:count],
    )


def difference(
    name: str,
    at: Callable[[float], Any],
    value: float,
    size: float,
    slopes: Callable[[list[tuple[float, float, Any]]], Array],
    least: float = 0.0,
) -> Array:
    """Return a derivative of what `at` gives about a value, by the longest step short enough.

    `slopes` makes a derivative of it, (2, n), with either of two weights. Steps of a per cent of
    `size` are too long where pieces are short (a branch close to a link's end) or a singular pose
    is near. `least`: what is small enough to be of no interest.
    """
    best = np.zeros(0)
    error = np.inf
    problem = None
    for step in (size * x for x in STEPS):
        try:
            try:
                around = [(w / step, low / step, at(value + k * step)) for k, w, low in CENTRAL]
            except RobotError:  # at the edge of what is allowed, such as a payload of no mass
                around = [(w / step, low / step, at(value + k * step)) for k, w, low in FORWARD]
        except SuppleError as refused:
            problem = problem or refused
            continue
        found, rough = slopes(around)
        off = float(np.abs(found - rough).max(initial=0.0))
        if off < error:
            best = found
            error = off
        if off <= ERROR_TOLERANCE * max(np.abs(found).max(initial=0.0), least):
            break
    if problem is not None and not np.isfinite(error):
        if isinstance(problem, RobotError):
            raise problem
        raise SuppleError(f"{name} cannot change by a little and all else stay: {problem}")
    return best


def _slopes(asked: Varied, key: str, joints: Joints, roots: Sequence[_Root], omega: Array) -> Array:
    """d omega / d key."""
    value = asked.value(key)
    moves = key in asked.coordinate_keys
    size = 1.0 if moves or value == 0 else abs(value)

    def one(changed: float) -> Structure:
        place = asked.configurations_at({key: np.array([changed])}, 1)
        robot = asked.robot if moves else asked.robot_at({key: changed})
        spot = (
            where(robot, **{k: v[0] for k, v in place.items()})
            if "theta" in place
            else where(robot, None, place["position"][0])
        )
        return structure_of(robot, spot.at, joints)

    def slopes(around: list[tuple[float, float, Structure]]) -> Array:
        both = np.zeros((2, len(omega)))
        for root in roots:
            both[:, root.group] = root.slopes(around)
        return both

    return difference(key, one, value, size, slopes, 1e-3 * omega.max(initial=0.0) / size)


@dataclass(frozen=True)
class _Root:
    """One natural frequency, or several that coincide, and how they move.

    Attributes
    ----------
    group
        Their numbers.
    places
        Where links are cut.
    phi
        Null vectors.
    pull
        Forces in closures.
    mass
        phi' K_omega phi.
    """

    omega: float
    group: NDArray[np.int64]
    places: Any
    phi: Array
    pull: Array
    mass: Array

    @classmethod
    def of(cls, structure: Structure, omega: float, group: NDArray[np.int64]) -> _Root:
        """Return a root of a structure, all about it that its slopes need."""
        places = short_pieces(structure, 1.2 * omega)
        K, C = _form(structure, places, omega)
        phi = null_vectors(K, _form(structure, places, 0.0)[0], C, len(group))
        pull: Array = np.zeros((0, len(group)))
        if len(C):
            pull = np.asarray(-np.linalg.lstsq(C.T, K @ phi, rcond=None)[0], float)

        def forms(around: list[tuple[float, float, Array]]) -> Array:
            return np.array([sum(x[n] * x[2] for x in around) for n in (0, 1)])

        def at(w: float) -> Array:
            return np.asarray(phi.T @ _form(structure, places, w)[0] @ phi)

        mass = difference("omega", at, omega, omega, forms)
        return cls(omega, group, places, phi, pull, mass)

    def slopes(self, around: Sequence[tuple[float, float, Structure]]) -> Array:
        """(2, n) derivatives by the difference of higher and of lower order."""
        out = []
        K_p: list[Any] = [0.0, 0.0]
        C_p: list[Any] = [0.0, 0.0]
        for *weights, one in around:
            K, C = _form(one, self.places, self.omega)
            for n, weight in enumerate(weights):
                K_p[n], C_p[n] = K_p[n] + weight * K, C_p[n] + weight * C
        for K, C in zip(K_p, C_p, strict=True):
            force = self.phi.T @ K @ self.phi
            if len(self.pull):
                tie = self.pull.T @ C @ self.phi
                force = force + tie + tie.T
            out.append(np.sort(np.linalg.eigvals(np.linalg.solve(self.mass, -force)).real))
        return np.array(out)


def _form(one: Structure, places: Any, w: float) -> tuple[Array, Array]:
    """K(w) and C of a structure, its links cut at places."""
    cut = cut_structure(one, places)[0]
    own = coordinates(cut, exact_ends(cut))
    return dynamic_stiffness(cut, own, w), own.closure
