"""The coupled Delta: flexible legs, platform and closures, rigid and elastic motion together.

Each leg is a serial Model (upper arm, joint B, lower rod) in its own axes; the legs are cut at D.
Of all coordinates the motors and the elastic ones, u = [theta, eps, eta of leg 1, 2, 3], are
independent; the passive angles and the platform's six motions w follow from the closures
c(u, w) = 0, solved by Newton inside every evaluation, so that nothing drifts:
    w' = B u',  B = -c_w^-1 c_u,   (N' M N) u'' + N' (f + M N' u') = tau,  N = [1; B].
At D: the rod's end meets the platform (3) and, for single rods, its z stays square to the
platform's tangent (1): 12 equations for 12 followers. Parallelograms: 18 for 18; the second rod of
a leg hangs on a massless image of the upper arm, which shares its coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..architectures import delta
from ..beams.basis import Basis, FiniteElements
from ..errors import SuppleError
from ..kernels.spatial import axis_rotation
from ..robot import Body, DeltaRobot, Joint, Link, Mount, SerialRobot
from .chain import chain_of
from .damping import Damping
from .delta_closure import DeltaClosure
from .laws import laws_of
from .model import Functions, Model, build
from .rigid_delta import delta_bodies, first_moment

__all__ = ["CoupledDelta", "Follower", "Terms", "couple", "leg_robot"]

Array = NDArray[np.float64]
CLOSED = 1e-12  # m and 1: closure error at which Newton stops
NOTHING = 1e-20  # share of its mass that the image of an arm has: far below rounding


def leg_robot(robot: DeltaRobot, side: float = 0.0, image: bool = False) -> SerialRobot:
    """Return one leg of a Delta as a serial robot in leg axes: motor, joint B, rod.

    side: where the rod stands along the arm's y.  image: with an upper arm without mass.
    """
    motor = robot.motor
    shoulder = Joint(
        axis=(0.0, 1.0, 0.0),
        mount=Mount(xyz=(robot.base_radius, 0.0, 0.0)),
        stiffness=motor.stiffness,
        rotor_inertia=motor.rotor_inertia * (NOTHING if image else 1.0),
        damping=motor.damping,
        friction=0.0 if image else motor.friction,
    )
    arm = _beam(robot.upper)
    upper = Link(name="upper", joint=shoulder, **(_massless(robot, arm) if image else arm))
    about = Joint(axis=(0.0, 1.0, 0.0), mount=Mount(xyz=(0.0, side, 0.0)))
    elbow = Link(name="elbow", joint=about, length=0.0, theory="rigid", body=Body(mass=0.0))
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


def _massless(robot: DeltaRobot, arm: dict[str, Any]) -> dict[str, Any]:
    """The same beam with next to no mass."""
    out = {**arm, "tip": None}
    for key in ("mass_per_length", "rotary_inertia_per_length", "polar_inertia_per_length"):
        if arm[key] is not None:
            out[key] = NOTHING * arm[key]
    material = robot.material(robot.upper)
    if material is not None:
        out["material"] = material.model_copy(update={"density": NOTHING * material.density})
    return out


@dataclass(frozen=True)
class Follower:
    """What follows from u: passive angles (rods, 2), platform's place (3,) and axes (3, 3)."""

    passive: Array
    position: Array
    R: Array


@dataclass(frozen=True)
class Terms:
    """The equations at one state: M u'' + force = tau on the motors.

    Attributes:
        M: (N, N).  force: (N,).  follower: where the rest is.  B: (.., N), rates of passive angles
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

    u = [theta of the three motors, (eps), eta of leg 1, of leg 2, of leg 3]; eta of a leg: upper
    arm, then its rods. A chain is one rod with the arm it hangs on; chain k belongs to leg
    k // len(legs).

    Attributes:
        legs: the Model of a leg, and that of the second rod on the arm's image.
    """

    robot: DeltaRobot
    legs: tuple[Model, ...]
    _functions: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def leg(self) -> Model:
        """The Model of a leg with its first rod."""
        return self.legs[0]

    @property
    def rods(self) -> int:
        """Number of rods, and of chains: 3 or 6."""
        return 3 * len(self.legs)

    @cached_property
    def sprung(self) -> bool:
        """Whether motors act through springs."""
        return bool(self.leg.chain.sprung)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """(rods, k) where each chain's independent coordinates stand in u, in its q's order."""
        arm, _, rod = (part.stop - part.start for part in self.leg.chain.eta)
        sides, out = len(self.legs), []
        for leg in range(3):
            lead = [leg] + ([3 + leg] if self.sprung else [])
            first = (6 if self.sprung else 3) + leg * (arm + sides * rod)
            for side in range(sides):
                start = first + arm + side * rod
                out.append([*lead, *range(first, first + arm), *range(start, start + rod)])
        return np.array(out)

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
        for k, place in enumerate(self.own):
            each = self.legs[k % len(self.legs)].stiffness
            K[np.ix_(place, place)] += each[np.ix_(self.kept, self.kept)]
        return K

    @cached_property
    def damping(self) -> Array:
        """(N, N) damping of motors and links on u."""
        D = np.zeros((self.size, self.size))
        for k, place in enumerate(self.own):
            each = self.legs[k % len(self.legs)].damping
            D[np.ix_(place, place)] += each[np.ix_(self.kept, self.kept)]
        return D

    @cached_property
    def axes(self) -> Array:
        """(rods, 3, 3) axes of the chains' legs in base axes."""
        return np.repeat(delta.leg_axes(self.robot), len(self.legs), axis=0)

    @cached_property
    def closure(self) -> DeltaClosure:
        """What holds the legs to the platform."""
        anchor = np.zeros((self.rods, 3))
        anchor[:, 0] = self.robot.platform.radius
        anchor[:, 1] = np.tile(_sides(self.robot), 3)
        carried = self.robot.lower.rods == "single"
        return DeltaClosure(self.axes, anchor, carried, self.own, self.kept, self.size)

    @cached_property
    def platform(self) -> Array:
        """(6, 6) mass of the platform about its centre, platform axes."""
        return delta_bodies(self.robot).platform

    def guess(self, theta: ArrayLike) -> Follower:
        """Return the rest of the undeformed robot at motor angles."""
        P = delta.direct(self.robot, theta)
        phi = np.repeat(delta.inverse(self.robot, P)[0, :, 1:], len(self.legs), axis=0)
        return Follower(phi, P[0], np.eye(3))

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
            passive = passive + step[:-6].reshape(-1, 2)
            position = position + step[-6:-3]
            R = _turned(step[-3:]) @ R
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
        qd = self._legs(ud, wd[:-6].reshape(-1, 2))
        M, f, jp, jz = self._dynamics(q, qd)
        bias = self.closure.bias(ends[1], ends[3], qd, jp, jz, wd[-3:], follower.R)
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
        sides = len(self.legs)
        each = [
            leg.energies(q[k::sides], np.zeros_like(q[k::sides])) for k, leg in enumerate(self.legs)
        ]
        weight = np.asarray(self.robot.gravity)
        s = found.follower.R @ first_moment(self.platform)
        height = -weight @ (self.platform[0, 0] * found.follower.position + s)
        still = sum(float(part["gravity"].sum()) for part in each) + float(height)
        return float(ud @ found.M @ ud / 2 + u @ self.stiffness @ u / 2) + still

    def _legs(self, u: Array, passive: Array) -> Array:
        """(rods, n) coordinates of the chains from u and the passive angles."""
        q = np.empty((self.rods, self.leg.size))
        q[:, self.kept] = u[self.own]
        q[:, 1:3] = passive
        return q

    def _ends(self, q: Array) -> list[Array]:
        """Place and z (rods, 3) of the rods' ends and their Jacobians (rods, 3, n), leg axes."""
        return self._each("ends", q)

    def _dynamics(self, q: Array, qd: Array) -> list[Array]:
        """M, forces, J' q' of place and z, of the chains."""
        return self._each("dynamics", q, qd)

    def _each(self, name: str, *args: Array) -> list[Array]:
        if name not in self._functions:
            self._functions[name] = [_made(leg, name) for leg in self.legs]
        return _over_chains(self._functions[name], args)

    def _projected(
        self, M: Array, f: Array, B: Array, wd: Array, wdd: Array, follower: Follower
    ) -> tuple[Array, Array]:
        """N' M N and N' (f + M N' u') on u."""
        P, g = _platform_terms(self.platform, np.asarray(self.robot.gravity), follower.R, wd[-3:])
        D, mixed = np.zeros((len(B), len(B))), np.zeros((self.size, len(B)))
        out, force = np.zeros((self.size, self.size)), np.zeros(self.size)
        rest = np.zeros(len(B))
        for k, place in enumerate(self.own):
            dep = slice(2 * k, 2 * k + 2)
            total = f[k] + M[k][:, 1:3] @ wdd[dep]
            out[np.ix_(place, place)] += M[k][np.ix_(self.kept, self.kept)]
            mixed[place, dep] = M[k][self.kept, 1:3]
            D[dep, dep] = M[k][1:3, 1:3]
            force[place] += total[self.kept]
            rest[dep] = total[1:3]
        D[-6:, -6:] = P
        rest[-6:] = g + P @ wdd[-6:]
        cross = mixed @ B
        return out + cross + cross.T + B.T @ (D @ B), force + B.T @ rest


def _over_chains(functions: Sequence[Any], args: tuple[Array, ...]) -> list[Array]:
    """A function of the chains for all of them: first and second rods in turn."""
    sides = len(functions)
    parts = [function(*(x[k::sides] for x in args)) for k, function in enumerate(functions)]
    if sides == 1:
        return list(parts[0])
    pairs = zip(*parts, strict=True)
    return [np.stack(pair, axis=1).reshape(-1, *pair[0].shape[1:]) for pair in pairs]


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

    Rods: single on true universal joints, or parallelograms (with FiniteElements, unreduced).
    Gravity must be along z, so that the legs are alike.
    """
    if robot.lower.rods == "twist":
        raise SuppleError(
            "lower.rods is twist: such joints stop a finite motion; the coupled model knows single "
            "and parallelogram, follow() small elastic motion with twist as well"
        )
    if robot.gravity[0] or robot.gravity[1]:
        raise SuppleError("gravity is not along z: the coupled model needs legs that are alike")
    sides = _sides(robot)
    first = build(leg_robot(robot, sides[0]), basis, "rotation", stiffening, damping)
    if len(sides) == 1:
        return CoupledDelta(robot, (first,))
    if not isinstance(basis, FiniteElements) or basis.modes is not None:
        raise SuppleError("parallelograms need FiniteElements(n) without reduction as their basis")
    return CoupledDelta(robot, (first, _second_rod(robot, sides[1], first)))


def _sides(robot: DeltaRobot) -> tuple[float, ...]:
    """Where the rods of a leg stand along the arm's y."""
    if robot.lower.rods != "parallelogram":
        return (0.0,)
    half = (robot.lower.spacing or 0.0) / 2
    return (-half, half)


def _second_rod(robot: DeltaRobot, side: float, first: Model) -> Model:
    """The chain of a leg's second rod: the arm's coordinates without its mass, springs, damping."""
    described = leg_robot(robot, side, image=True)
    chain = chain_of(described, first.basis, first.stiffening)
    rod = chain.eta[2]
    K, D = (np.zeros((chain.size, chain.size)) for _ in "KD")
    K[rod, rod], D[rod, rod] = first.stiffness[rod, rod], first.damping[rod, rod]
    laws = replace(laws_of(chain, D), K=K.tolist())
    arrays = (K, D, np.zeros(len(chain.joints)))
    functions = Functions(laws, False)
    return Model(described, first.basis, chain, "rotation", first.stiffening, *arrays, functions)
