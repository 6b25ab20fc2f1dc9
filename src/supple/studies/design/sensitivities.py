"""What does a change buy: derivatives of natural frequencies by any parameter or coordinate.

At a root omega of K(omega, p) with null vector phi, closures C(p) phi = 0 held by lambda,

    d omega / d p = -(phi' K_p phi + 2 lambda' C_p phi) / (phi' K_omega phi),

and where several roots coincide the derivatives are the eigenvalues of the same forms on their
common null space. K is analytic in p and omega; K_p, C_p and K_omega are differences of sixth
order with steps of a per cent, which leaves an error of about 1e-12 in them.

Source: [Wittrick1962] for simple roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...arguments import checked, listed, one_of, optional, reals, whole
from ...assembly import coordinates, exact_ends
from ...errors import RobotError, SuppleError
from ...robot import Robot, a_robot
from ...structure import Joints, Structure, cut_structure, short_pieces, structure_of
from ..configuration import where
from ..vibration.modes import modes
from ..vibration.shapes import COINCIDENT, dynamic_stiffness, null_vectors
from .varied import Varied

__all__ = ["Sensitivities", "sensitivities"]

Array = NDArray[np.float64]
CENTRAL = ((-3, -1 / 60), (-2, 9 / 60), (-1, -45 / 60), (1, 45 / 60), (2, -9 / 60), (3, 1 / 60))
FORWARD = (
    *((0, -147 / 60), (1, 360 / 60), (2, -450 / 60), (3, 400 / 60)),
    *((4, -225 / 60), (5, 72 / 60), (6, -10 / 60)),
)
STEP = 1e-2  # relative to the value, or of a radian or metre


@dataclass(frozen=True, eq=False)
class Sensitivities(Natural, Answer):
    """Natural frequencies of one configuration and their derivatives.

    Attributes:
        robot, theta: what was asked about.
        omega: (count,) rad/s.  coincident: (count,) whether a root has others at the same place;
        its derivatives are then those of the whole group, ascending.
        derivatives: for each parameter (count,), rad/s per unit of the parameter.
    """

    robot: Robot
    theta: Array
    omega: Array
    derivatives: dict[str, Array]
    coincident: NDArray[np.bool_]

    dims: ClassVar = {"omega": ("mode",), "frequency_hz": ("mode",), "coincident": ("mode",)}
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s", "frequency_hz": "Hz"}

    def __repr__(self) -> str:
        names = ", ".join(self.derivatives)
        return f"<Sensitivities of {self.robot.name}: {len(self.omega)} modes by {names:.60}>"


@checked(
    robot=a_robot,
    theta=optional(reals),
    parameters=listed,
    count=whole(1, 10_000),
    position=optional(reals),
    joints=one_of("locked", "free"),
)
def sensitivities(
    robot: Robot,
    theta: ArrayLike | None = None,
    parameters: Sequence[str] = ("payload.mass",),
    count: int = 6,
    *,
    position: ArrayLike | None = None,
    joints: Joints = "locked",
) -> Sensitivities:
    """Return the derivatives of the first `count` natural frequencies by parameters.

    A parameter is a path of the robot file (`links.link1.section.wall`, `payload.mass`) or a
    coordinate (`theta.link2`, `position.x`); theta or position say where the robot stands.
    """
    if isinstance(parameters, str) or not all(isinstance(p, str) for p in parameters):
        raise SuppleError(f"parameters is {parameters!r:.60}: give a list of paths")
    asked = Varied.of(robot, tuple(parameters), theta, position)
    at = asked.placed({}, 1)
    found = modes(robot, **{k: v[0] for k, v in at.items()}, count=count + 2, joints=joints)
    omega = found.omega
    groups = np.split(
        np.arange(len(omega)), 1 + np.flatnonzero(np.diff(omega) > COINCIDENT * omega[1:])
    )
    stencils = {key: _structures(asked, key, joints) for key in asked.keys}
    slopes = {key: np.zeros(len(omega)) for key in asked.keys}
    coincident = np.zeros(len(omega), bool)
    for group in groups:
        if group[0] >= count:
            break
        coincident[group] = len(group) > 1
        _differentiate(found.structure, float(omega[group].mean()), group, stencils, slopes)
    return Sensitivities(
        robot,
        np.asarray(found.theta),
        omega[:count],
        {key: value[:count] for key, value in slopes.items()},
        coincident[:count],
    )


def _structures(asked: Varied, key: str, joints: Joints) -> list[tuple[float, Structure]]:
    """Weights (over the step) and structures of the difference that gives d/d key."""
    value = asked.value(key)
    moves = key in asked.coordinate_keys
    step = STEP * (1.0 if moves or value == 0 else abs(value))

    def one(shift: int) -> Structure:
        changed = value + shift * step
        place = asked.placed({key: np.array([changed])}, 1)
        robot = asked.robot if moves else asked.changed({key: changed})
        spot = (
            where(robot, **{k: v[0] for k, v in place.items()})
            if "theta" in place
            else where(robot, None, place["position"][0])
        )
        return structure_of(robot, spot.at, joints)

    try:
        return [(weight / step, one(shift)) for shift, weight in CENTRAL]
    except RobotError:  # at the edge of what is allowed, such as a payload of no mass
        return [(weight / step, one(shift)) for shift, weight in FORWARD]


def _differentiate(
    structure: Structure,
    omega: float,
    group: NDArray[np.int64],
    stencils: dict[str, list[tuple[float, Structure]]],
    slopes: dict[str, Array],
) -> None:
    """Fill in the derivatives of one root, or of several that coincide."""
    places = short_pieces(structure, 1.2 * omega)
    fine = cut_structure(structure, places)[0]
    z = coordinates(fine, exact_ends(fine))

    def form(one: Structure, w: float) -> tuple[Array, Array]:
        cut = cut_structure(one, places)[0]
        own = coordinates(cut, exact_ends(cut))
        return dynamic_stiffness(cut, own, w), own.closure

    K, C = form(structure, omega)
    phi = null_vectors(K, form(structure, 0.0)[0], z.closure, len(group))
    pull = -np.linalg.lstsq(C.T, K @ phi, rcond=None)[0] if len(C) else np.zeros((0, len(group)))
    h = STEP * omega
    K_w = sum(weight / h * form(structure, omega + k * h)[0] for k, weight in CENTRAL)
    mass = phi.T @ K_w @ phi
    for key, stencil in stencils.items():
        K_p: Any = 0.0
        C_p: Any = 0.0
        for weight, one in stencil:
            K1, C1 = form(one, omega)
            K_p, C_p = K_p + weight * K1, C_p + weight * C1
        force = phi.T @ K_p @ phi
        if len(C):
            tie = pull.T @ C_p @ phi
            force = force + tie + tie.T
        slopes[key][group] = np.sort(np.linalg.eigvals(np.linalg.solve(mass, -force)).real)
