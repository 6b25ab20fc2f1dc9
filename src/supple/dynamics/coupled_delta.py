"""The coupled Delta: flexible legs, platform and closures, rigid and elastic motion together.

Each leg is a serial Model (upper arm, universal joint B, lower rod) in its own axes; the legs are
cut at D. Of all coordinates the motors and the elastic ones, u = [theta, eps, eta of leg 1, 2, 3],
are independent; six passive angles and the platform's six motions w follow from the 12 closures
c(u, w) = 0, solved by Newton inside every evaluation, so that nothing drifts:
    w' = B u',  B = -c_w^-1 c_u,   (N' M N) u'' + N' (f + M N' u') = tau,  N = [1; B].
At D: the rod's end meets the platform (3), and its z stays square to the platform's tangent (1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..beams.basis import Basis
from ..errors import SuppleError
from ..kernels.spatial import axis_rotation
from ..robot import Body, DeltaRobot, Joint, Link, Mount, SerialRobot
from .damping import Damping
from .delta_closure import DeltaClosure
from .model import Model, build
from .rigid_delta import delta_bodies, first_moment

__all__ = ["CoupledDelta", "Follower", "Terms", "couple", "leg_robot"]

Array = NDArray[np.float64]
CLOSED = 1e-12  # m and 1: closure error at which Newton stops


def leg_robot(robot: DeltaRobot) -> SerialRobot:
    """Return one leg of a Delta as a serial robot in leg axes: motor, universal joint B, rod."""
    motor = robot.motor
    shoulder = Joint(
        axis=(0.0, 1.0, 0.0),
        mount=Mount(xyz=(robot.base_radius, 0.0, 0.0)),
        stiffness=motor.stiffness,
        rotor_inertia=motor.rotor_inertia,
        damping=motor.damping,
    )
    upper = Link(name="upper", joint=shoulder, **_beam(robot.upper))
    elbow = Link(name="elbow", joint=Joint(axis=(0.0, 1.0, 0.0)), length=0.0, theory="rigid",
                 body=Body(mass=0.0))  # fmt: skip
    lower = Link(name="lower", joint=Joint(axis=(0.0, 0.0, 1.0)), **_beam(robot.lower))
    return SerialRobot(
        name=f"{robot.name}-leg",
        gravity=robot.gravity,
        materials=robot.materials,
        sections=robot.sections,
        links=(upper, elbow, lower),
    )


def _beam(link: Any) -> dict[str, Any]:
    return {k: getattr(link, k) for k in type(link).model_fields if k not in ("rods", "spacing")}


@dataclass(frozen=True)
class Follower:
    """What follows from u: passive angles (3, 2), platform's place (3,) and axes (3, 3)."""

    passive: Array
    position: Array
    R: Array


@dataclass(frozen=True)
class Terms:
    """The equations at one state: M u'' + force = tau on the motors.

    Attributes:
        M: (N, N).  force: (N,).  follower: where the rest is.  B: (12, N), rates of passive angles
        and of the platform's (velocity, angular velocity) per unit u'.  closure: largest error.
    """

    M: Array
    force: Array
    follower: Follower
    B: Array
    closure: float


@dataclass(frozen=True)
class CoupledDelta:
    """A flexible Delta whose rigid and elastic motions act on each other.

    u = [theta of the three motors, (eps), eta of leg 1, of leg 2, of leg 3].
    """

    robot: DeltaRobot
    leg: Model
    _functions: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def sprung(self) -> bool:
        """Whether motors act through springs."""
        return bool(self.leg.chain.sprung)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """(3, k) where each leg's independent coordinates stand in u, in the order of its q."""
        n = self.leg.size - 3 - int(self.sprung)
        lead = [[leg] + ([3 + leg] if self.sprung else []) for leg in range(3)]
        first = 6 if self.sprung else 3
        return np.array([[*lead[k], *range(first + k * n, first + (k + 1) * n)] for k in range(3)])

    @cached_property
    def kept(self) -> NDArray[np.int64]:
        """(k,) the independent coordinates among a leg's q: all but the angles of joint B."""
        return np.array([0, *range(3, self.leg.size)])

    @property
    def size(self) -> int:
        """Length of u."""
        return int(self.own.max()) + 1

    @cached_property
    def stiffness(self) -> Array:
        """(N, N) elastic stiffness on u."""
        K = np.zeros((self.size, self.size))
        for place in self.own:
            K[np.ix_(place, place)] = self.leg.stiffness[np.ix_(self.kept, self.kept)]
        return K

    @cached_property
    def damping(self) -> Array:
        """(N, N) damping of motors and links on u."""
        D = np.zeros((self.size, self.size))
        for place in self.own:
            D[np.ix_(place, place)] = self.leg.damping[np.ix_(self.kept, self.kept)]
        return D

    @cached_property
    def axes(self) -> Array:
        """(3, 3, 3) axes of the legs in base axes."""
        return delta.leg_axes(self.robot)

    @cached_property
    def closure(self) -> DeltaClosure:
        """What holds the legs to the platform."""
        radius = self.robot.platform.radius
        return DeltaClosure(self.axes, radius, self.own, self.kept, self.size)

    @cached_property
    def platform(self) -> Array:
        """(6, 6) mass of the platform about its centre, platform axes."""
        return delta_bodies(self.robot).platform

    def guess(self, theta: ArrayLike) -> Follower:
        """Return the rest of the undeformed robot at motor angles."""
        P = delta.direct(self.robot, theta)
        phi = delta.inverse(self.robot, P)[0]
        return Follower(phi[:, 1:], P[0], np.eye(3))

    def place(self, u: Array, start: Follower) -> tuple[Follower, float]:
        """Solve the closures for what follows from u, from a nearby start; the error with it."""
        follower, error, *_ = self._closed(u, start)
        return follower, error

    def _closed(
        self, u: Array, start: Follower
    ) -> tuple[Follower, float, list[Array], Array, Array]:
        """The follower, its error, the rods' ends and the closures' derivatives there."""
        passive, position, R = start.passive, start.position, start.R
        for _ in range(30):
            ends = self._ends(self._legs(u, passive))
            c, W, U = self.closure.rows(ends, position, R)
            error = float(np.abs(c).max())
            if error < CLOSED:
                return Follower(passive, position, R), error, ends, W, U
            step = np.asarray(np.linalg.solve(W, -c), np.float64)
            passive = passive + step[:6].reshape(3, 2)
            position = position + step[6:9]
            R = _turned(step[9:]) @ R
        raise SuppleError(
            f"the legs of {self.robot.name} cannot be closed here (error {error:.1e} m): the "
            "motion has run into a singular pose or out of reach"
        )

    def terms(self, u: Array, ud: Array, start: Follower) -> Terms:
        """Return mass, forces and rates of the followers at a state."""
        follower, error, ends, W, U = self._closed(u, start)
        q = self._legs(u, follower.passive)
        W_inverse = np.linalg.inv(W)
        B = -W_inverse @ U
        wd = B @ ud
        qd = self._legs(ud, wd[:6].reshape(3, 2))
        M, f, jp, jz = self._dynamics(q, qd)
        bias = self.closure.bias(ends[1], ends[3], qd, jp, jz, wd[9:], follower.R)
        wdd = -W_inverse @ bias
        return Terms(*self._projected(M, f, B, wd, wdd, follower), follower, B, error)

    def torques(self, terms: Terms, udd: Array) -> Array:
        """Return the motor torques (3,) that a motion needs."""
        return np.asarray(terms.M[:3] @ udd + terms.force[:3])

    def forward_dynamics(self, u: Array, ud: Array, torque: ArrayLike, start: Follower) -> Array:
        """Return u'' under motor torques (3,)."""
        found = self.terms(u, ud, start)
        push = -found.force
        push[:3] += np.asarray(torque, float)
        return np.asarray(np.linalg.solve(found.M, push))

    def energy(self, u: Array, ud: Array, start: Follower) -> float:
        """Return kinetic, elastic and gravitational energy, J."""
        found = self.terms(u, ud, start)
        q = self._legs(u, found.follower.passive)
        legs = self.leg.energies(q, np.zeros_like(q))
        weight = np.asarray(self.robot.gravity)
        s = found.follower.R @ first_moment(self.platform)
        height = -weight @ (self.platform[0, 0] * found.follower.position + s)
        still = float(legs["elastic"].sum() + legs["gravity"].sum() + height)
        return float(ud @ found.M @ ud / 2) + still

    def _legs(self, u: Array, passive: Array) -> Array:
        """(3, n) coordinates of the legs from u and the passive angles."""
        q = np.empty((3, self.leg.size))
        q[:, self.kept] = u[self.own]
        q[:, 1:3] = passive
        return q

    def _ends(self, q: Array) -> list[Array]:
        """Place and z (3 legs, 3) of the rods' ends and their Jacobians (3, 3, n), leg axes."""
        found: list[Array] = self._function("ends")(q)
        return found

    def _dynamics(self, q: Array, qd: Array) -> list[Array]:
        """M, forces, J' q' of place and z, of the legs."""
        found: list[Array] = self._function("dynamics")(q, qd)
        return found

    def _function(self, name: str) -> Any:
        if name not in self._functions:
            self._functions[name] = _made(self.leg, name)
        return self._functions[name]

    def _projected(
        self, M: Array, f: Array, B: Array, wd: Array, wdd: Array, follower: Follower
    ) -> tuple[Array, Array]:
        """N' M N and N' (f + M N' u') on u."""
        P, g = _platform_terms(self.platform, np.asarray(self.robot.gravity), follower.R, wd[9:])
        D, mixed = np.zeros((12, 12)), np.zeros((self.size, 12))
        out, force = np.zeros((self.size, self.size)), np.zeros(self.size)
        rest = np.zeros(12)
        for k, place in enumerate(self.own):
            dep = slice(2 * k, 2 * k + 2)
            total = f[k] + M[k][:, 1:3] @ wdd[dep]
            out[np.ix_(place, place)] = M[k][np.ix_(self.kept, self.kept)]
            mixed[place, dep] = M[k][self.kept, 1:3]
            D[dep, dep] = M[k][1:3, 1:3]
            force[place] += total[self.kept]
            rest[dep] = total[1:3]
        D[6:, 6:] = P
        rest[6:] = g + P @ wdd[6:]
        cross = mixed @ B
        return out + cross + cross.T + B.T @ (D @ B), force + B.T @ rest


def _platform_terms(mass: Array, weight: Array, R: Array, w: Array) -> tuple[Array, Array]:
    """(6, 6) mass of the platform, base axes, and its forces at rest of v' and w'."""
    T = np.kron(np.eye(2), R)
    P = T @ mass @ T.T
    s = R @ first_moment(mass)
    force = np.cross(w, np.cross(w, s)) - P[0, 0] * weight
    moment = np.cross(w, P[3:, 3:] @ w) - np.cross(s, weight)
    return P, np.concatenate([force, moment])


def _turned(rotation: Array) -> Array:
    angle = float(np.linalg.norm(rotation))
    return axis_rotation(rotation / angle, angle) if angle > 0 else np.eye(3)


def _made(leg: Model, name: str) -> Any:
    """Make one of the functions of a leg over (q, q') for batches of states."""
    import casadi as ca

    from .evaluate import Evaluator

    q, qd = ca.SX.sym("q", leg.size), ca.SX.sym("qd", leg.size)
    p, R = leg.functions.expression("tip")(q)
    z = R[:, 2]
    if name == "ends":
        outputs = [p, z, ca.jacobian(p, q), ca.jacobian(z, q)]
        inputs = [q]
    else:
        M = leg.functions.expression("mass_matrix")(q)
        zero = ca.SX.zeros(leg.size)
        f = leg.functions.expression("inverse_dynamics")(q, qd, zero)
        twice = [ca.jtimes(ca.jtimes(x, q, qd), q, qd) for x in (p, z)]
        outputs, inputs = [M, f, *twice], [q, qd]
    dense = ca.cse([ca.densify(x) for x in outputs])
    return Evaluator(ca.Function(name, inputs, dense))


def couple(
    robot: DeltaRobot, basis: Basis, damping: Damping | float | None = None, stiffening: bool = True
) -> CoupledDelta:
    """Return the coupled model of a Delta with shape functions on its links.

    Rods: single, on true universal joints. Gravity must be along z, so that the legs are alike.
    """
    if robot.lower.rods != "single":
        raise SuppleError(
            f"lower.rods is {robot.lower.rods}: the coupled model knows single rods on universal "
            "joints; try with_('lower.rods', 'single'), or follow() for small elastic motion"
        )
    if robot.gravity[0] or robot.gravity[1]:
        raise SuppleError("gravity is not along z: the coupled model needs legs that are alike")
    return CoupledDelta(robot, build(leg_robot(robot), basis, "rotation", stiffening, damping))
