"""Where the rigid Delta is at motor angles, as expressions: `architectures.delta` in symbols."""

from __future__ import annotations

from typing import Any

from .delta_legs import DeltaLegs

__all__ = ["rigid_followers", "rod_axes", "turns"]


def rigid_followers(legs: DeltaLegs) -> Any:
    """Return theta (3,) to w of the undeformed Delta as a CasADi function.

    The platform is on the axis of the circle through the elbows moved inward by r_B, at the height
    sqrt(L2^2 - R^2) below it; see `architectures.delta.direct`.
    """
    import casadi as ca

    robot, theta = legs.robot, ca.SX.sym("theta", 3)
    L1, L2 = robot.upper.length or 0.0, robot.lower.length or 0.0
    r, sides = robot.base_radius - robot.platform.radius, len(legs.chains)
    axes = [ca.DM(legs.axes[sides * leg]) for leg in range(3)]
    elbows = [ca.vertcat(r + L1 * ca.cos(a), 0.0, -L1 * ca.sin(a)) for a in ca.vertsplit(theta)]
    C = [ca.mtimes(R, e) for R, e in zip(axes, elbows, strict=True)]
    # The lower point at L2 from three points; where there is none, the nearest to it
    a, b = C[1] - C[0], C[2] - C[0]
    n = ca.cross(a, b)
    area2 = ca.dot(n, n)
    middle = ca.cross(ca.dot(a, a) * b - ca.dot(b, b) * a, n) / (2 * area2)
    height2 = ca.fmax(L2**2 - ca.dot(middle, middle), 1e-6 * L2**2)
    down = ca.if_else(n[2] >= 0, n, -n) * ca.sqrt(height2 / area2)
    P = C[0] + middle + down
    out: list[Any] = []
    for leg in range(3):
        rod = ca.mtimes(axes[leg].T, P) - elbows[leg]
        both = ca.atan2(-rod[2], rod[0])
        angles = [both - theta[leg], ca.asin(rod[1] / L2), *[0.0] * (legs.passive - 2)]
        out += angles * sides
    return ca.Function("rigid", [theta], ca.cse([ca.vertcat(*out, P, 0.0, 0.0, 0.0)]))


def rod_axes(theta: Any, phi2: Any, phi3: Any) -> tuple[Any, Any]:
    """Return the axes (3, 3) of arm and rod in leg axes: R_y(phi1), R_y(phi1 + phi2) R_z(phi3)."""
    import casadi as ca

    return _about(1, theta), ca.mtimes(_about(1, theta + phi2), _about(2, phi3))


def turns(angles: Any) -> tuple[Any, Any]:
    """Return R = R_z(c) R_y(b) R_x(a), and E with angular velocity E (a', b', c'), base axes."""
    import casadi as ca

    a, b, c = (angles[k] for k in range(3))
    z, y = _about(2, c), _about(1, b)
    zy = ca.mtimes(z, y)
    return ca.mtimes(zy, _about(0, a)), ca.horzcat(zy[:, 0], z[:, 1], ca.DM([0.0, 0.0, 1.0]))


def _about(axis: int, angle: Any) -> Any:
    """(3, 3) rotation about x, y or z."""
    import casadi as ca

    c, s, i, k = ca.cos(angle), ca.sin(angle), (axis + 1) % 3, (axis + 2) % 3
    rows = [[0.0] * 3 for _ in range(3)]
    rows[axis][axis] = 1.0
    rows[i][i], rows[i][k], rows[k][i], rows[k][k] = c, -s, s, c
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))
