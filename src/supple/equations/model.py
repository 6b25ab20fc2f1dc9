"""Model: the immutable numbers of a Robot under a Basis, and `build`, which makes it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.held import Held, short
from ..arguments import Check, checked, instance, number, one_of, optional, reals, shown, switch
from ..beams.basis import Basis, rigid_basis
from ..beams.sliding.shapes import Velocity
from ..errors import SuppleError
from ..robot import (
    DeltaRobot,
    Joint,
    MechanismJoint,
    MechanismRobot,
    Motor,
    Robot,
    SerialRobot,
    a_robot,
)
from .accuracy import Accuracy, ModelWarning, accuracy
from .chain import Chain, chain_of, denoised
from .chain_equations import Laws, laws_of
from .chain_functions import AnyLaws, ChainFunctions
from .closed.coupled import ClosedFunctions
from .closed.coupled_delta import DeltaTies
from .closed.delta_legs import delta_legs
from .closed.loops import assembled_tree, loops_of
from .damping import (
    Damping,
    RobotDamping,
    damping_of,
    file_ratio,
    slide_ratios,
)
from .functions import Functions, still_open
from .link_fields import link_deflection, on_chord
from .link_inertia import Numbers
from .locked import locked_pose
from .locked import modal_damping as whole_damping
from .readings.de_luca import PlanarLaws
from .readings.theodore import LagrangeLaws
from .sliders import beta_count
from .tree import passive_values

__all__ = ["DEFLECTIONS", "Deflection", "Model", "a_model", "build"]

Array = NDArray[np.float64]
Deflection = Literal["rotation", "paper", "literal"]
A_PLACE = number(0, 1, give="a place from 0 (root) to 1 (end)")
DEFLECTIONS: tuple[Deflection, ...] = ("rotation", "paper", "literal")


def _check(model: Model, theta: ArrayLike | None = None) -> Accuracy:
    """Return how far the Model is from the exact beams at theta, see `Accuracy`."""
    found = accuracy(model.robot, model.basis, model.chain, model.damping, theta)
    if found is None:
        raise SuppleError(
            f"{model.robot.name} cannot be checked there: nothing bends, something is loose, or a "
            "link carries others along its length; compare modes and statics by hand"
        )
    return found


@dataclass(frozen=True)
class Model(Held):
    """The equations of motion M(q) qdd + h(q, qd) + D qd + K q + g(q) = B tau of one robot.

    q = [theta, eps, eta], see `coordinates`. Every function takes one state, (N,), or many, (B, N).

    Attributes:
        robot, basis, deflection, stiffening: what it was built from.  chain: its numbers; of a
        Delta the arms and rods of all legs, which say where their coordinates stand in q.
        stiffness, damping: (N, N), NaN on a link that slides (`rest.stiffness_at`).
        friction: (joints,), Coulomb's, N m.  functions: the same equations as CasADi functions.
        beta: how `simulate` finds the roots of links that slide; all else is by Newton's method.
    """

    robot: SerialRobot | DeltaRobot | MechanismRobot
    basis: Basis
    chain: Chain = field(repr=False)
    deflection: Deflection
    stiffening: bool
    stiffness: Array
    damping: Array
    friction: Array
    functions: Functions = field(repr=False, compare=False)
    beta: Literal["newton", "integrated"] = "newton"

    def _told(self) -> list[tuple[str, str]]:
        return [("coordinates", short(self.coordinates)), *super()._told()]

    check = _check

    @property
    def size(self) -> int:
        """Length of q."""
        return self.chain.size

    @property
    def joints(self) -> int:
        """Number of joint coordinates theta, and of efforts tau."""
        return len(self.chain.motors)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the entries of q, such as `theta.link1`, `eps.link1`, `eta.link1.xy1`."""
        return self.chain.names

    @property
    def motors(self) -> tuple[Joint | Motor, ...]:
        """What moves each entry of theta, as the robot describes it."""
        return _motors(self.robot, self.chain)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q), (N, N) or (B, N, N)."""
        M = self._call("mass_matrix", q=q)[0]
        return M.reshape(*np.shape(q)[:-1], self.size, self.size)

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return h(q, qd): centrifugal and Coriolis, without gravity, stiffness and damping."""
        return self._call("bias", q=q, qd=qd)[0]

    def gravity(self, q: ArrayLike) -> Array:
        """Return g(q), the generalised force that holds the weight."""
        return self._call("gravity", q=q)[0]

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, wrench: ArrayLike | None = None
    ) -> Array:
        """Return qdd under joint efforts tau, (joints,), and a wrench on the tip.

        `wrench` is (force, moment) or a force alone, base axes, on the last end.
        """
        if wrench is None:
            return self._call("forward_dynamics", q=q, qd=qd, tau=tau)[0]
        return self._call("forward_dynamics_loaded", q=q, qd=qd, tau=tau, wrench=_six(wrench))[0]

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return M qdd + h + D qd + K q + g, (N,): efforts first, then what eps and eta need.

        Joint friction is included. What eps and eta need vanishes for a motion that the robot
        makes by itself.
        """
        return self._call("inverse_dynamics", q=q, qd=qd, qdd=qdd)[0]

    def energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return the total energy, kinetic, elastic and gravitational, J."""
        total: Array = self._call("energies", q=q, qd=qd)[0].sum(axis=-1)
        return total

    def energies(self, q: ArrayLike, qd: ArrayLike) -> dict[str, Array]:
        """Return the energy split: kinetic, elastic, gravity, J."""
        values = self._call("energies", q=q, qd=qd)[0]
        return {name: values[..., k] for k, name in enumerate(("kinetic", "elastic", "gravity"))}

    def tip(self, q: ArrayLike) -> Array:
        """Return the position of the last link's end, or of a Delta's platform, (3,), base axes."""
        return self._call("tip", q=q)[0]

    def deflection_at(
        self,
        q: ArrayLike,
        link: str,
        fraction: float = 1.0,
        frame: Literal["root", "chord"] = "root",
    ) -> Array:
        """Return the elastic displacement (3,) of a link at a fraction of its length, link axes.

        It is relative to the tangent at the link's root, or to the `chord` from its root to its
        bent end, then in axes turned with the chord. Under `stiffening` the shortening of the bent
        beam is part of it, as it is of `tip`.
        """
        frame = one_of("root", "chord")("frame", frame)
        fraction = A_PLACE("fraction", fraction)
        tree, x = self.functions.spread(self._array("q", q))
        chain = tree or self.chain
        i = chain.index(instance(str, "the name of a link")("link", link))
        own = x[..., chain.own(i)]
        here = link_deflection(chain.links[i], own, fraction, self.stiffening)
        if frame == "root":
            return here
        length = own[..., 0] if chain.links[i].slide is not None else chain.links[i].inv.length
        end = link_deflection(chain.links[i], own, 1.0, self.stiffening)
        return on_chord(here, end, fraction, length)

    def derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike
    ) -> tuple[Array, Array, Array]:
        """Return d qdd / d(q, qd, tau), (N, N), (N, N) and (N, joints)."""
        found = self._call("derivatives", q=q, qd=qd, tau=tau)
        lead = np.broadcast_shapes(*(np.shape(x)[:-1] for x in (q, qd, tau)))
        a, b, c = (part.reshape(*lead, self.size, -1) for part in found)
        return a, b, c

    def _call(self, name: str, **given: ArrayLike) -> tuple[Array, ...]:
        arrays = {word: self._array(word, value) for word, value in given.items()}
        leads = {array.shape[:-1] for array in arrays.values()} - {()}
        if not leads:
            return self._closed(self.functions.evaluator(name)(*arrays.values()))
        if len(leads) > 1:
            raise SuppleError(
                f"{', '.join(given)} have batches of different shapes: {sorted(leads)}"
            )
        lead = leads.pop()
        flat = [np.broadcast_to(a, (*lead, a.shape[-1])) for a in arrays.values()]
        if len(lead) > 1 or lead == (0,):
            flat = [a.reshape(-1, a.shape[-1]) for a in flat]
        found = self._closed(self.functions.evaluator(name)(*flat))
        return tuple(out.reshape(*lead, *out.shape[1:]) for out in found)

    def _closed(self, found: tuple[Array, ...]) -> tuple[Array, ...]:
        """The same, unless loops stayed open."""
        if self.functions.closed and not all(np.isfinite(out).all() for out in found):
            raise SuppleError(still_open(self.robot.name))
        return found

    def _array(self, word: str, value: ArrayLike) -> Array:
        """Return an argument as an array, checked for size and NaN."""
        wanted = {"tau": self.joints, "wrench": 6}.get(word, self.size)
        array = reals(word, value)
        if array.ndim == 0 or array.shape[-1] != wanted:
            names = self.coordinates[: self.joints] if word == "tau" else self.coordinates
            what = f": {', '.join(names)}" if wanted <= 12 and word != "wrench" else ""
            raise SuppleError(f"{word} has shape {array.shape}: its last axis must have {wanted} "
                              f"entries{what}")  # fmt: skip
        if not np.isfinite(array).all():
            raise SuppleError(f"{word} holds a value that is not finite")
        if word == "q" and self.chain.sliding:
            self.chain.check_lengths(array)
        return array


def a_model(name: str, given: Any) -> Model:
    """Return a Model, or raise a sentence that says how to get one."""
    if isinstance(given, Model):
        return given
    what = "a Robot" if isinstance(given, Robot) else shown(given)
    raise SuppleError(
        f"{name} is {what}: give a Model, such as supple.build(robot, supple.AssumedModes(2))"
    )


ARGUMENTS: dict[str, Check] = {
    "robot": a_robot,
    "deflection": one_of(*DEFLECTIONS),
    "stiffening": optional(switch),
    "velocity": one_of("material", "paper"),
    "beta": one_of("newton", "integrated"),
    "compiled": switch,
}


@checked(**ARGUMENTS)
def build(  # noqa: PLR0913 - every choice by keyword
    robot: Robot,
    basis: Basis | None = None,
    deflection: Deflection = "rotation",
    stiffening: bool | None = None,
    damping: Damping | float | None = None,
    velocity: Velocity = "material",
    beta: Literal["newton", "integrated"] = "newton",
    compiled: bool = False,
    *,
    modal_damping: float | None = None,
) -> Model:
    """Return the Model of a robot under a basis: an arm, a Delta or a mechanism, its loops closed.

    `deflection` says how a bent link turns the next one: `rotation` by R_z R_y R_x of its end
    section, `paper` and `literal` as in `dynamics.paper`. `stiffening` adds geometric stiffening
    (foreshortening of bent links); None: for robots with loops, where it matters most. `damping`
    is a ratio of each link's own modes, a Damping, or None for the robot file's; `modal_damping` a
    ratio of the whole robot's modes instead, motors locked at the basis' `at`. `velocity` of links
    that slide is that of the `material`, or as the `paper` [Theodore1997] (24) prints it; their
    `beta` is found by Newton's method at each length, or `integrated` by (11) beside the states of
    a run, as the paper does, which drifts. `compiled` turns every function into C when first used.

    Warns where statics or the lowest frequency miss those of the exact beams by more than 5 %, and
    names the basis that mends it (`model.check()`). `basis` may be left out where nothing bends.
    """
    if modal_damping is not None:
        if damping is not None:
            raise SuppleError(
                "damping and modal_damping are both given: damping is the ratio of each link's own "
                "modes, modal_damping that of the whole robot's; give one of them"
            )
        damping = RobotDamping(modal_damping)
    basis = rigid_basis(robot) if basis is None else basis
    made = _built(robot, basis, (deflection, velocity, beta), stiffening, damping, compiled)
    found = accuracy(made.robot, made.basis, made.chain, made.damping)
    if found is not None and not found.good:
        warnings.warn(f"{found} (model.check())", ModelWarning, stacklevel=3)
    return made


def _built(
    robot: Robot,
    basis: Basis,
    readings: tuple[Deflection, Velocity, Literal["newton", "integrated"]],
    stiffening: bool | None,
    damping: Damping | float | None,
    compiled: bool,
) -> Model:
    """The Model, unchecked."""
    deflection, velocity, beta = readings
    if not isinstance(basis, Basis):
        raise SuppleError(f"basis is {shown(basis)}: give a basis, such as AssumedModes(2)")
    if isinstance(robot, DeltaRobot):
        return _delta(
            robot, basis, (deflection, velocity), stiffening is not False, damping, compiled
        )
    if isinstance(robot, MechanismRobot):
        if (deflection, velocity, beta) != ("rotation", "material", "newton"):
            raise SuppleError(
                f"{robot.name} is a mechanism: deflection, velocity and beta have one "
                "reading there; leave them out"
            )
        return _mechanism(robot, basis, stiffening, damping_of(damping), compiled)
    stiffening = bool(stiffening)
    if stiffening and velocity == "paper":
        raise SuppleError("stiffening goes with velocity 'material', not with 'paper'")
    chain = chain_of(robot, basis, stiffening)
    _check_beta(chain, beta)
    assert isinstance(robot, SerialRobot)
    if deflection != "rotation":
        _check_planar(robot, deflection, stiffening)
    law = damping_of(damping)
    D = _damping_matrix(robot, chain, law, basis)
    friction = tuple(motor.friction for motor in _motors(robot, chain))
    rubbed = friction if any(friction) else ()
    laws = laws_of(chain, D, rubbed, slide_ratios(robot, chain, law), velocity)
    _check_mass(chain, laws)
    K = chain.stiffness()
    for i in chain.sliding:
        for array in (K, D):
            array[chain.eta[i], chain.eta[i]] = np.nan
    arrays = (K, D, np.array(friction))
    for array in arrays:
        array.setflags(write=False)
    functions = ChainFunctions(_chosen(laws, deflection, velocity), compiled)
    return Model(robot, basis, chain, deflection, stiffening, *arrays, functions, beta)


def _check_beta(chain: Chain, beta: str) -> None:
    if beta == "integrated" and not beta_count(chain):
        raise SuppleError("beta is 'integrated': only links that slide and bend in AssumedModes "
                          "have a beta; leave it out")  # fmt: skip


def _delta(
    robot: DeltaRobot, basis: Basis, readings: tuple[str, str], stiffening: bool,
    damping: Damping | float | None, compiled: bool,
) -> Model:  # fmt: skip
    """The Model of a Delta: legs cut at D, closed by what follows from q."""
    if readings != ("rotation", "material"):
        raise SuppleError(
            f"{robot.name} is a Delta: deflection and velocity have one reading there"
        )
    legs = delta_legs(robot, basis, stiffening)
    K, D = legs.book.stiffness(), _damping_matrix(robot, legs.book, damping_of(damping), basis)
    arrays = (K, D, np.full(3, robot.motor.friction))
    for array in arrays:
        array.setflags(write=False)
    functions = ClosedFunctions(DeltaTies(legs, *arrays), compiled)
    return Model(robot, basis, legs.book, "rotation", stiffening, *arrays, functions)


def _mechanism(
    robot: MechanismRobot, basis: Basis, stiffening: bool | None, law: Damping, compiled: bool
) -> Model:
    """The Model of a mechanism: a tree, its loops closed by coordinates that follow from q."""
    stiffening = bool(robot.closures) if stiffening is None else stiffening
    tree = assembled_tree(robot, basis, stiffening)
    chain = tree.chain
    D = _damping_matrix(robot, chain, law, basis)
    motors = [motor.friction for motor in _motors(robot, chain)]
    friction = np.array([*motors, *[0.0] * len(chain.sprung), *passive_values(robot, "friction")])
    for k, value in zip(tree.places, passive_values(robot, "damping"), strict=True):
        D[k, k] = value
    ratios = slide_ratios(robot, chain, law)
    rubbed = tuple(friction.tolist()) if friction.any() else ()
    laws = laws_of(chain, D, rubbed, ratios, springs=(tree.springs, tree.rest))
    loops = loops_of(robot, laws, tree.z) if robot.closures else None
    followers = loops.followers if loops is not None else ()
    kept = [k for k in range(chain.size) if k not in followers]
    book = replace(chain, followers=followers, start=tuple(tree.z[kept].tolist()))
    K = np.array(laws.K, float)
    for i in chain.sliding:
        for array in (K, D):
            array[chain.eta[i], chain.eta[i]] = np.nan
    rubs = friction[: len(motors)]
    functions: Functions = ChainFunctions(laws, compiled)
    if loops is not None:
        functions = ClosedFunctions(loops, compiled)
    elif len(friction) > len(motors):
        rubs = friction
    arrays = (K[np.ix_(kept, kept)], D[np.ix_(kept, kept)], rubs)
    for array in arrays:
        array.setflags(write=False)
    model = Model(robot, basis, book, "rotation", stiffening, *arrays, functions)
    check_inertia(book.names, model.mass_matrix(book.pose()))
    return model


def _chosen(laws: Laws, deflection: Deflection, velocity: Velocity) -> AnyLaws:
    """The right laws, or a paper's own reading of them."""
    if deflection != "rotation":
        links = [link for link in laws.links if isinstance(link, Numbers)]
        return PlanarLaws(laws.chain, links, laws.K, laws.D, deflection, laws.friction)
    return LagrangeLaws(laws) if velocity == "paper" else laws


def _check_planar(robot: SerialRobot, deflection: str, stiffening: bool) -> None:
    if not robot.planar:
        raise SuppleError(f"deflection '{deflection}' is for planar arms; {robot.name} is spatial")
    if stiffening:
        raise SuppleError(f"stiffening goes with deflection 'rotation', not with '{deflection}'")


def _motors(robot: Robot, chain: Chain) -> tuple[Joint | Motor, ...]:
    if isinstance(robot, DeltaRobot):
        return (robot.motor,) * 3
    if isinstance(robot, MechanismRobot):
        joints = [robot.links[i].joint for i in chain.joints]
        return (*(_motor(joint) for joint in joints), *(Motor() for _ in chain.lengths))
    assert isinstance(robot, SerialRobot)
    return tuple(robot.links[i].joint for i in chain.joints)


def _motor(joint: MechanismJoint) -> Motor:
    """The motor of a mechanism's joint."""
    return Motor(
        stiffness=None if joint.stiffness is None else joint.stiffness[0],
        rotor_inertia=joint.rotor_inertia,
        damping=joint.damping[0],
        friction=joint.friction[0],
        limits=joint.limits,
    )


def _damping_matrix(robot: Robot, chain: Chain, law: Damping, basis: Basis) -> Array:
    """(N, N): joint damping on theta, the links' own on eta, or that of the robot's modes."""
    D = np.zeros((chain.size, chain.size))
    if isinstance(law, RobotDamping):
        pose = locked_pose(robot, basis, chain)
        if pose is None:
            raise SuppleError(
                f"modal_damping of {robot.name}: its modes are not known where it is built; give "
                "damping, the ratio of each link's own modes, or a basis with at="
            )
        D = whole_damping(pose, chain, law.ratio)
    for k, motor in enumerate(_motors(robot, chain)):
        D[k, k] = motor.damping
    for i, (link, part) in enumerate(zip(chain.links, chain.eta, strict=True)):
        if link.inv.count and link.slide is None:
            D[part, part] += denoised(law.matrix(i, link.inv, file_ratio(robot, link.name)))
    return D


def _check_mass(chain: Chain, laws: Laws) -> None:
    """Raise unless the mass matrix is positive definite at a configuration with nothing special."""
    if not chain.size:
        raise SuppleError("no joint of the robot moves and no link bends: nothing to build")
    q = [0.3 * (k + 1) if k < len(chain.joints) else 0.0 for k in range(chain.size)]
    for i in chain.sliding:
        q[chain.theta[i]] = 0.7 * chain.links[i].inv.length
    check_inertia(chain.names, np.array(laws.mass(q), float))


def check_inertia(names: Sequence[str], M: Array) -> None:
    """Raise a SuppleError unless a mass matrix is positive definite."""
    scale = np.sqrt(np.maximum(np.diag(M), 0.0))
    for k, name in enumerate(names):
        if scale[k] == 0.0:
            raise SuppleError(
                f"{name} moves no mass or inertia: give its links or bodies some, or its joint a "
                "hub or rotor_inertia"
            )
    lowest = np.linalg.eigvalsh(M / np.outer(scale, scale))[0]
    if lowest < 1e-13:
        raise SuppleError("the mass matrix is singular: some motion moves no mass; give joints "
                          "rotor_inertia or a hub, and links that shear or twist their rotary and "
                          "polar inertia")  # fmt: skip


def _six(wrench: ArrayLike) -> Array:
    """Return a force as a wrench without moment."""
    given = reals("wrench", wrench)
    if given.shape[-1:] == (3,):
        return np.concatenate([given, np.zeros_like(given)], axis=-1)
    return given
