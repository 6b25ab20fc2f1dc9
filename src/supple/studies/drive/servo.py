"""Frequencies of a robot as its servo holds it: what a command of its joints excites.

A command moves the motors; the modes it excites are those with the motors held, by ideal locks or
springs (`modes` with locked joints), or by the loop of a Controller (poles of the linearised loop).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SuppleError

if TYPE_CHECKING:
    from ...beams.basis import Basis
    from ...control.controllers import Controller
    from ...equations.model import Model
    from ...robot import Robot

__all__ = ["closed_loop_poles", "held_modes"]

Array = NDArray[np.float64]


def held_modes(
    robot: Robot,
    poses: Array,
    count: int,
    servo: Controller | None = None,
    basis: Basis | Model | None = None,
    *,
    platform: bool = False,
) -> tuple[Array, Array]:
    """Return circular frequencies and damping ratios, (m, count) each, at joint poses (m, joints).

    Without a servo they are the certified modes with locked motors, ratios zero where the robot's
    links name none; with one they are the oscillating poles of its loop at rest, lowest first.
    `basis`: of the Model for a servo, three assumed modes per link unless given; or the Model.
    `platform`: the poses are places of a Delta's platform, (m, 3).
    """
    from ...architectures.kinds import architecture_of

    if servo is None:
        from ..vibration.modes import modes

        where: Any = {"position" if platform else "theta": poses}
        found = modes(robot, **where, count=count)
        # The smallest damping ratio that the robot's links or materials name, else 0
        named = []
        for link in architecture_of(robot).parts().values():
            if link.rigid:
                continue
            material = robot.material(link)
            ratio = link.damping_ratio
            if ratio is None and material is not None:
                ratio = material.damping_ratio
            named.append(ratio or 0.0)
        smallest = min(named, default=0.0)
        return np.atleast_2d(found.omega), np.full((len(poses), count), smallest)
    from ...beams.basis import AssumedModes
    from ...equations.build import build
    from ...equations.model import Model
    from ...robot import cached_for_robot

    if platform:
        poses = architecture_of(robot).resolve(None, poses).theta
    model = basis
    if basis is None:  # asked again and again along a path
        model = cached_for_robot(robot, "held by a servo", build, robot, AssumedModes(3))
    elif not isinstance(basis, Model):
        model = build(robot, basis)
    pairs = []
    for theta, poles in zip(poses, closed_loop_poles(model, servo, poses), strict=True):
        upper = poles[(poles.imag > 1e-9) & (-poles.real < 0.7 * np.abs(poles))]
        upper = upper[np.argsort(np.abs(upper))][:count]
        if len(upper) < count:
            raise SuppleError(
                f"the loop has {len(upper)} oscillating poles at {np.round(theta, 3).tolist()}, "
                f"{count} are asked for: ask for fewer, or for more assumed modes"
            )
        pairs.append(upper)
    poles = np.array(pairs)
    return np.abs(poles), -poles.real / np.abs(poles)


def closed_loop_poles(model: Any, controller: Controller, poses: Array) -> NDArray[Any]:
    """Return the poles (m, 2N) of a controlled Model about rest at poses (m, joints), 1/s.

    With tau = c(q, qd), efforts on the first rows: M x'' + (D - c_qd) x' + (K - c_q) x = 0, since
    nothing moves: forces of inertia have no slopes there.
    """
    import casadi as ca

    from ...control.controllers import ReferenceMotion
    from ...equations.equilibrium import slopes_at_rest, static_state
    from ...equations.evaluate import Evaluator

    controller.check(model)
    n = model.size
    k = model.joints
    q, qd = (model.functions.symbol(word, n) for word in ("q", "qd"))
    r = model.functions.symbol("r", k)
    zero_rates = ca.DM.zeros(k)
    tau = controller.effort(model, q, qd, ReferenceMotion(r, zero_rates, zero_rates))
    slopes = [ca.densify(ca.jacobian(tau, x)) for x in (q, qd)]
    law = Evaluator(ca.Function("slopes", [q, qd, r], slopes))
    zero = np.zeros(n)
    found = []
    for theta in poses:
        x = static_state(model, theta)
        c_q, c_qd = (part.reshape(k, n) for part in law(x, zero, x[:k]))
        K, D = slopes_at_rest(model, x)
        K[:k] -= c_q
        D[:k] -= c_qd
        below = -np.linalg.solve(model.mass_matrix(x), np.hstack([K, D]))
        found.append(np.linalg.eigvals(np.vstack([np.eye(n, 2 * n, n), below])))
    return np.array(found)
