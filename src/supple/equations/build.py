"""build: a Robot under a Basis as a Model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..architectures.assembling import mechanism_of
from ..architectures.base import warn_near
from ..architectures.kinds import Serial, architecture_of
from ..arguments import checked, one_of, optional, shown, switch
from ..beams.basis import AssumedModes, Basis
from ..beams.sliding.shapes import Velocity
from ..errors import SuppleError
from ..robot import DeltaRobot, MechanismRobot, Robot, SerialRobot, a_robot
from ..structure import as_mechanism
from .accuracy import ModelWarning, accuracy, across
from .chain_functions import MANY, AnyLaws, ChainFunctions
from .chains.balls import Ball
from .chains.chain import Chain, chain_of, denoised, mimics
from .chains.chain_equations import Laws, laws_of
from .chains.forces import held_together
from .chains.link_inertia import Numbers
from .chains.sliders import Slider, beta_count
from .chains.tree import passive_values
from .closed.coupled import ClosedFunctions
from .closed.loops import AssembledTree, assembled_tree, loops_of
from .closed.template import delta_basis, delta_book
from .closed.unbent import unbent_delta
from .damping import Damping, RobotDamping, damping_of, file_ratio, slide_ratios
from .functions import Functions
from .locked import locked_pose
from .locked import modal_damping as whole_damping
from .model import Model
from .readings.de_luca import PlanarLaws
from .readings.reading import BETAS, DEFLECTIONS, VELOCITIES, Beta, Deflection, Reading
from .readings.theodore import LagrangeLaws

__all__ = ["build"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Asked:
    """What a Model is built with."""

    basis: Basis
    reading: Reading
    stiffening: bool | None
    damping: Damping
    compiled: bool


@checked(
    robot=a_robot,
    deflection=optional(one_of(*DEFLECTIONS)),
    stiffening=optional(switch),
    velocity=optional(one_of(*VELOCITIES)),
    beta=optional(one_of(*BETAS)),
    compiled=switch,
)
def build(  # noqa: PLR0913 - every choice by keyword
    robot: Robot,
    basis: Basis | None = None,
    deflection: Deflection | None = None,
    stiffening: bool | None = None,
    damping: Damping | float | None = None,
    velocity: Velocity | None = None,
    beta: Beta | None = None,
    compiled: bool = False,
    *,
    reading: Reading | str | None = None,
    modal_damping: float | None = None,
) -> Model:
    """Return the Model of a robot under a basis: an arm, a Delta or a mechanism, its loops closed.

    `reading` says whether the equations are right, or written as a paper prints them: a `Reading`,
    or `right`, `de-luca`, `theodore`; its `deflection`, `velocity` and `beta` may be given alone
    instead. `stiffening` adds geometric stiffening (foreshortening of bent links); None: for robots
    with loops, where it matters most. `damping` is a ratio of each link's own modes, a Damping, or
    None for the robot file's; `modal_damping` a ratio of the whole robot's modes instead, motors
    locked at the basis' `at`. `compiled` turns every function into C when first used.

    Warns where statics or the lowest frequency miss those of the exact beams by more than 5 %, and
    names the basis that mends it (`model.check()`): at the basis' `at`, and where torsion is left
    out of a spatial robot also with its joints bent. No `basis` is needed where nothing bends.
    """
    if modal_damping is not None:
        if damping is not None:
            raise SuppleError(
                "damping and modal_damping are both given: damping is the ratio of each link's own "
                "modes, modal_damping that of the whole robot's; give one of them"
            )
        damping = RobotDamping(modal_damping)
    read = Reading.of(reading, deflection=deflection, velocity=velocity, beta=beta)
    if basis is None:  # none is needed where nothing bends
        for path, part in architecture_of(robot).parts().items():
            if not part.rigid:
                bent = f"{path.rpartition('.')[2]} bends"
                raise SuppleError(f"basis is missing: {bent}, give one such as AssumedModes(2)")
        basis = AssumedModes(1)
    if not isinstance(basis, Basis):
        raise SuppleError(f"basis is {shown(basis)}: give a basis, such as AssumedModes(2)")
    asked = _Asked(basis, read, stiffening, damping_of(damping), compiled)
    made = replace(_FAMILIES[type(robot)](robot, asked), modal_damping=modal_damping)
    parts, asks = (made.robot, made.basis, made.chain), "model.check()"
    found = accuracy(*parts, made.damping)
    if (found is None or found.good) and (theta := across(*parts)) is not None:
        found, asks = accuracy(*parts, made.damping, theta), "model.check(theta)"
    if found is not None and not found.good:
        warnings.warn(f"{found} ({asks})", ModelWarning, stacklevel=3)
    return made


def _frozen(K: Array, D: Array, friction: Array) -> tuple[Array, Array, Array]:
    for array in (K, D, friction):
        array.setflags(write=False)
    return K, D, friction


def _serial(robot: SerialRobot, asked: _Asked) -> Model:
    """The Model of an arm: one open chain."""
    basis, reading, stiffening = asked.basis, asked.reading, bool(asked.stiffening)
    if stiffening and reading.velocity == "paper":
        raise SuppleError("stiffening goes with velocity 'material', not with 'paper'")
    chain = chain_of(robot, basis, stiffening)
    if reading.beta == "integrated" and not beta_count(chain):
        raise SuppleError(
            "beta is 'integrated': only links that slide and bend in AssumedModes have a beta; "
            "leave it out"
        )
    if reading.deflection != "rotation":
        word = f"'{reading.deflection}'"
        if not robot.planar:
            raise SuppleError(f"deflection {word} is for planar arms; {robot.name} is spatial")
        if stiffening:
            raise SuppleError(f"stiffening goes with deflection 'rotation', not with {word}")
    if (chain.supports or mimics(chain)) and not reading.right:
        what = "bearings or a foundation" if chain.supports else "mimic joints"
        raise SuppleError(
            f"{robot.name} has {what}: no paper's reading knows them; leave out deflection, "
            "velocity and beta"
        )
    D = _damping_matrix(robot, chain, asked)
    if mimics(chain):
        return _geared(robot, asked, chain, D)
    friction = tuple(drive.made.friction for drive in architecture_of(robot).drives)
    rubbed = friction if any(friction) else ()
    ratios = slide_ratios(robot, chain, asked.damping)
    laws = _damped_along(robot, asked, laws_of(chain, D, rubbed, ratios, reading.velocity))
    functions = ChainFunctions(_read(laws, reading), asked.compiled)
    # The mass matrix must be positive definite at a configuration with nothing special
    if not chain.size:
        raise SuppleError("no joint of the robot moves and no link bends: nothing to build")
    q = [0.3 * (k + 1) if k < len(chain.joints) else 0.0 for k in range(chain.size)]
    for i in chain.sliding:
        q[chain.theta[i]] = 0.7 * chain.links[i].inv.length
    if functions.taped and chain.size >= MANY:  # where it is dear in single numbers
        M = functions.evaluator("mass_matrix")(np.array(q))[0]
    else:
        M = np.array(laws.mass(q), float)
    check_inertia(chain.names, M)
    K = chain.stiffness()
    _along_slides(chain, K, D)
    arrays = _frozen(K, D, np.array(friction))
    return Model(robot, basis, chain, reading, stiffening, *arrays, functions)


def _geared(robot: SerialRobot, asked: _Asked, chain: Chain, D: Array) -> Model:
    """The Model of an arm some of whose joints follow others: these are left out of q."""
    joints = [*robot.moving, *(link for link in robot.jointed if link.joint.mimic is not None)]
    places = [*range(len(robot.moving)), *(mimic[0] for mimic in mimics(chain))]
    friction, z = np.zeros(chain.stiff), np.zeros(chain.size)
    friction[places] = [link.joint.friction for link in joints]
    D[places, places] = [link.joint.damping for link in joints]
    z[: len(robot.moving)] = Serial(robot).outstretched
    for k, j, multiplier, offset in mimics(chain):
        z[k] = multiplier * z[j] + offset
    tree = AssembledTree(chain, z, tuple(places), np.zeros_like(D), ())
    return _tied(robot, asked, tree, D, friction, bool(asked.stiffening))


def _delta(robot: DeltaRobot, asked: _Asked) -> Model:
    """The Model of a Delta: that of the mechanism it is, in the coordinates of its legs.

    What it knows beyond that is where it stands unbent, in closed form.
    """
    _only_right(robot, asked.reading)
    if robot.motor.stiffness is not None and not robot.motor.reflected_inertia:
        raise SuppleError(
            "motor has a spring but no rotor_inertia: give the inertia of the motors, or remove "
            "motor.stiffness"
        )
    stiffening, written = asked.stiffening is not False, as_mechanism(robot)
    tree = assembled_tree(written, delta_basis(asked.basis, written), stiffening)
    kept = [k for k in range(tree.chain.size) if k not in tree.places]
    still = () if robot.foundation is None else tuple(tree.z[kept].tolist())
    book = delta_book(written, tree.chain, still)
    K, D = book.stiffness(), _damping_matrix(robot, book, asked)
    arrays = _frozen(K, D, np.full(3, robot.motor.friction))
    whole = np.zeros((tree.chain.size,) * 2)
    whole[np.ix_(kept, kept)] = D
    laws = laws_of(tree.chain, whole, tuple(arrays[2].tolist()) * bool(robot.motor.friction))
    loops = loops_of(written, laws, tree.z, unbent_delta(robot, written))
    functions = ClosedFunctions(loops, asked.compiled)
    return Model(robot, asked.basis, book, asked.reading, stiffening, *arrays, functions)


def _mechanism(robot: MechanismRobot, asked: _Asked) -> Model:
    """The Model of a mechanism: a tree, its loops closed by coordinates that follow from q."""
    _only_right(robot, asked.reading)
    stiffening = bool(robot.closures) if asked.stiffening is None else asked.stiffening
    if robot.closures:  # the pose in which it is assembled must not be singular
        m = mechanism_of(robot)
        found = architecture_of(robot).resolve(m.start[m.driven], None)
        if found.reason[0]:
            raise SuppleError(f"{robot.name} at its start: {found.reason[0]}")
        warn_near(robot, found)
    tree = assembled_tree(robot, asked.basis, stiffening)
    chain = tree.chain
    D = _damping_matrix(robot, chain, asked)
    motors = [drive.made.friction for drive in architecture_of(robot).drives]
    friction = np.zeros(chain.stiff)
    friction[: len(motors)] = motors
    friction[list(tree.places)] = passive_values(robot, "friction")
    damped = dict(zip(tree.places, passive_values(robot, "damping"), strict=True))
    # one value for all directions acts on the turn, not on each angle
    for ball in (b for b in tree.balls if isinstance(b, Ball)):
        at = list(ball.turns)
        damped |= dict.fromkeys(at, 0.0) if ball.damping else {}
        friction[at] = 0.0 if ball.friction else friction[at]
    for k, value in damped.items():
        D[k, k] += value
    return _tied(robot, asked, tree, D, friction, stiffening)


def _tied(
    robot: Any, asked: _Asked, tree: AssembledTree, D: Array, friction: Array, stiffening: bool
) -> Model:
    """The Model of a tree: coordinates that closures or other joints determine are left out."""
    chain, motors = tree.chain, len(tree.chain.motors)
    if not chain.size:
        raise SuppleError("no joint of the robot moves and no link bends: nothing to build")
    ratios = slide_ratios(robot, chain, asked.damping)
    rubbed = tuple(friction.tolist()) if friction.any() else ()
    laws = laws_of(chain, D, rubbed, ratios, springs=(tree.springs, tree.rest), balls=tree.balls)
    laws = _damped_along(robot, asked, laws)
    loops = loops_of(robot, laws, tree.z) if mimics(chain) or robot.closures else None
    followers = loops.followers if loops is not None else ()
    loops = loops if followers else None  # closures between what cannot move hold nothing
    kept = [k for k in range(chain.size) if k not in followers]
    book = replace(chain, followers=followers, start=tuple(tree.z[kept].tolist()))
    K = np.array(held_together(laws), float)
    for k, j, multiplier, _ in mimics(chain):
        D[j, j] += multiplier**2 * D[k, k]
    _along_slides(chain, K, D)
    rubs = friction[:motors]
    functions: Functions = ChainFunctions(laws, asked.compiled)
    if loops is not None:
        functions = ClosedFunctions(loops, asked.compiled)
    elif len(friction) > motors:
        rubs = friction
    arrays = _frozen(K[np.ix_(kept, kept)], D[np.ix_(kept, kept)], rubs)
    model = Model(robot, asked.basis, book, asked.reading, stiffening, *arrays, functions)
    if loops is not None:
        M = loops.mass_where_assembled()
    else:  # a slide whose start lies off its beam is looked at where it can stand
        at = np.array(book.pose())
        for i, place in book.lengths_at.items():
            least, most = book.stroke(i)
            at[place] = at[place] if least <= at[place] <= most else 0.7 * most
        M = model.mass_matrix(at)
    check_inertia(book.names, M)
    return model


_FAMILIES: dict[type[Robot], Callable[..., Model]] = {
    SerialRobot: _serial,
    DeltaRobot: _delta,
    MechanismRobot: _mechanism,
}


def _only_right(robot: Robot, reading: Reading) -> None:
    if not reading.right:
        raise SuppleError(
            f"{robot.name} has loops: deflection, velocity and beta have one reading there; leave "
            "them out"
        )


def _read(laws: Laws, reading: Reading) -> AnyLaws:
    """The right laws, or a paper's own reading of them."""
    if reading.deflection != "rotation":
        links = [link for link in laws.links if isinstance(link, Numbers)]
        return PlanarLaws(
            laws.chain, links, laws.K, laws.D, laws.friction, variant=reading.deflection
        )
    if reading.velocity == "paper":
        same = {part.name: getattr(laws, part.name) for part in fields(laws)}
        return LagrangeLaws(**same)
    return laws


def _damped_along(robot: Robot, asked: _Asked, laws: Laws) -> Laws:
    """The laws with sliders that know at which free length the robot's own damping was taken."""
    chain, links = laws.chain, list(laws.links)
    bent = [i for i in chain.sliding if chain.links[i].inv.count]
    if bent and isinstance(asked.damping, RobotDamping):
        pose = locked_pose(robot, asked.basis, chain)
        assert pose is not None  # or there would be no damping matrix
        for i in bent:
            slider = links[i]
            assert isinstance(slider, Slider)
            links[i] = replace(slider, damped_at=pose.length(chain.links[i].name))
    return replace(laws, links=links)


def _along_slides(chain: Chain, K: Array, D: Array) -> None:
    """Write NaN where stiffness and damping depend on the length of a link that slides."""
    for part in (chain.eta[i] for i in chain.sliding):
        D[part] += np.where(D[part] != 0, np.nan, 0.0)
        D[:, part] += np.where(D[:, part] != 0, np.nan, 0.0)
        K[part, part] = D[part, part] = np.nan


def _damping_matrix(robot: Robot, chain: Chain, asked: _Asked) -> Array:
    """(N, N): joint damping on theta, the links' own on eta, or that of the robot's modes."""
    law, basis = asked.damping, asked.basis
    D = np.zeros((chain.size, chain.size))
    if isinstance(law, RobotDamping):
        pose = locked_pose(robot, basis, chain)
        if pose is None:
            raise SuppleError(
                f"modal_damping of {robot.name}: its modes are not known where it is built; give "
                "damping, the ratio of each link's own modes, or a basis with at="
            )
        D = whole_damping(pose, chain, law.ratio)
    for k, drive in enumerate(architecture_of(robot).drives):
        D[k, k] = drive.made.damping
    for i, (link, part) in enumerate(zip(chain.links, chain.eta, strict=True)):
        if link.inv.count and link.slide is None:
            D[part, part] += denoised(law.matrix(i, link.inv, file_ratio(robot, link.name)))
    return D


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
        raise SuppleError(
            "the mass matrix is singular: some motion moves no mass; give joints "
            "rotor_inertia or a hub, and links that shear or twist their rotary and "
            "polar inertia"
        )
