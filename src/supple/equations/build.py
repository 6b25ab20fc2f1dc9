"""build: a Robot under a Basis as a Model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..architectures.base import warn_near
from ..architectures.kinds import DeltaKinematics, lower, tree_at_assembly
from ..architectures.tree import Kinematics, Tree
from ..arguments import brief, checked
from ..beams.basis import AssumedModes, Basis
from ..beams.sliding.shapes import Velocity
from ..errors import SuppleError
from ..robot import Robot
from .accuracy import ModelWarning, accuracy, sliding_error, twisting_pose
from .chain_functions import MANY, ChainFunctions
from .chains.balls import Ball
from .chains.chain import Chain, drop_rounding_noise, mimics
from .chains.chain_equations import ChainEquations, laws_of
from .chains.forces import Equations, held_together
from .chains.sliders import Slider
from .chains.tree import passive_values
from .closed.coupled import ClosedFunctions
from .closed.loops import AssembledTree, assembled_tree, loops_of
from .closed.template import part_basis, part_book
from .closed.unbent import Unbent, unbent_delta
from .damping import Damping, ModalDamping, RobotDamping, damping_of, file_ratio, slide_ratios
from .functions import Functions
from .locked import locked_pose
from .locked import modal_damping as whole_damping
from .model import Model
from .reading import Beta, Deflection, Reading

__all__ = ["build"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _BuildRequest:
    """Options of `build`."""

    basis: Basis
    reading: Reading
    stiffening: bool | None
    damping: Damping
    compiled: bool


@checked
def build(
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
    """Equations of motion of a robot, with a basis for the deformation of its links.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism. Loops are closed within the equations.
    basis : Basis, optional
        Shape functions of the links, such as ``AssumedModes(2)`` or ``FiniteElements(4)``. Not
        needed where nothing bends.
    deflection, velocity, beta : str, optional
        Single choices of `reading`, given alone.
    stiffening : bool, optional
        Include geometric stiffening (foreshortening of bent links). Default: for robots with loops,
        where it matters most.
    damping : Damping or float, optional
        Damping ratio of each link's own modes, or a `ModalDamping` or `StiffnessRoot`. Default: the
        ratios of the robot file.
    compiled : bool
        Translate every function to C and compile it when it is first used.
    reading : Reading or str, optional
        Correct equations (``"right"``, the default), or as printed in a paper: ``"de-luca"``,
        ``"theodore"``.
    modal_damping : float, optional
        Instead of `damping`: damping ratio of the modes of the whole robot, with locked motors, at
        the pose `at` of the basis.

    Returns
    -------
    Model
        Mass matrix, forces, forward and inverse dynamics, energy, tip.

    Warns
    -----
    ModelWarning
        If the static deflection or the lowest frequency differs from that of the exact beams by
        more than 5 %. It names the basis to use instead. Checked at the pose `at` of the basis and,
        where torsion is left out of a spatial robot, also with bent joints; see ``model.check()``.

    Notes
    -----
    The equations are M(q) qdd + h(q, qd) + D qd + K q + g(q) = B tau with
    q = [theta, eps, eta]: joint coordinates, twist of joint springs, elastic coordinates of every
    link.

    References
    ----------
    [DeLuca1991], [Theodore1997].

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    >>> model.size
    6
    >>> model.mass_matrix(np.zeros(6)).shape
    (6, 6)
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
        for path, part in lower(robot).parts().items():
            if not part.rigid:
                bent = f"{path.rpartition('.')[2]} bends"
                raise SuppleError(f"basis is missing: {bent}, give one such as AssumedModes(2)")
        basis = AssumedModes(1)
    if not isinstance(basis, Basis):
        raise SuppleError(f"basis is {brief(basis)}: give a basis, such as AssumedModes(2)")
    request = _BuildRequest(basis, read, stiffening, damping_of(damping), compiled)
    model = replace(_built(robot, request), modal_damping=modal_damping)
    _warn_if_inaccurate(model)
    return model


def _warn_if_inaccurate(model: Model) -> None:
    """Warn where statics or the lowest frequency is far from that of the exact beams."""
    parts = (model.robot, model.basis, model.chain)
    found = accuracy(*parts, model.damping)
    how_to_check = "model.check()"
    if found is None or found.good:
        theta = twisting_pose(*parts)
        if theta is not None:
            found = accuracy(*parts, model.damping, theta)
            how_to_check = "model.check(theta)"
    if found is not None and not found.good:
        warnings.warn(f"{found.sentence} ({how_to_check})", ModelWarning, stacklevel=4)
        return
    sentence = sliding_error(model.chain)
    if sentence:
        warnings.warn(sentence, ModelWarning, stacklevel=4)


def _frozen(K: Array, D: Array, friction: Array) -> tuple[Array, Array, Array]:
    for array in (K, D, friction):
        array.setflags(write=False)
    return K, D, friction


def _built(robot: Robot, request: _BuildRequest) -> Model:
    """The Model of a Tree; coordinates that closures or other joints determine are not in q."""
    tree = tree_at_assembly(robot)
    form = tree.form
    stiffening = request.stiffening
    if stiffening is None:
        stiffening = bool(form.closures)
    _check_start(tree)

    # The tree under its basis, where it is assembled, loops still open
    basis = part_basis(request.basis, tree)
    opened = assembled_tree(tree, basis, stiffening)
    chain = opened.chain
    if not chain.size:
        raise SuppleError("no joint of the robot moves and no link bends: nothing to build")
    _check_reading(tree, chain, request.reading, stiffening)

    # Damping and friction of motors, passive joints and links
    friction = _friction(tree, opened)
    D = _tree_damping(tree, opened, request)
    ratios = slide_ratios(robot, chain, request.damping)
    laws = laws_of(
        chain,
        D,
        tuple(friction.tolist()) if friction.any() else (),
        ratios,
        springs=(opened.springs, opened.rest),
        balls=opened.balls,
    )
    laws = _damped_along(robot, request, laws)

    # Coordinates that closures determine, or other joints, follow from the others
    loops = None
    if mimics(chain) or form.closures:
        closed_form = _UNBENT.get(lower(robot).plug_in)
        loops = loops_of(form, laws, opened.z, closed_form and closed_form(tree))
    followers = () if loops is None else loops.followers
    independent = [k for k in range(chain.size) if k not in followers]
    start = tuple(opened.z[independent].tolist())
    if not (followers or any(start)):
        start = ()  # its joints are at zero, which is nowhere special
    book = replace(chain, followers=followers, start=start)
    functions: Functions
    if loops is not None and followers:
        functions = ClosedFunctions(loops, request.compiled)
    else:  # closures between what cannot move hold nothing
        loops = None
        equations: Equations = laws
        for paper in request.reading.plug_ins:
            equations = paper.equations(equations, request.reading)
        functions = ChainFunctions(equations, request.compiled)

    K = np.array(held_together(laws), float)
    for k, j, multiplier, _ in mimics(chain):
        D[j, j] += multiplier**2 * D[k, k]
    _along_slides(chain, K, D)
    motors = len(chain.motors)
    loose = bool(opened.places) and loops is None
    arrays = _frozen(
        K[np.ix_(independent, independent)],
        D[np.ix_(independent, independent)],
        friction if loose else friction[:motors],
    )
    if loops is None:
        check_inertia(book.names, _mass_matrix(laws, functions))
    elif loops.unbent is None:
        check_inertia(book.names, loops.mass_where_assembled())
    own = part_book(tree, book)
    return Model(robot, request.basis, own, request.reading, stiffening, *arrays, functions)


# Trees whose unbent poses have a closed form: Newton's method of their closures starts there
_UNBENT: dict[type[Kinematics], Callable[[Tree], Unbent]] = {DeltaKinematics: unbent_delta}


def _check_start(tree: Tree) -> None:
    """Refuse a robot whose loops cannot be assembled at its start, or are singular there."""
    if not tree.form.closures or lower(tree.robot) is not tree:
        return  # a closed form has found its start
    found = tree.resolve(tree.start[tree.driven], None)
    if found.reason[0]:
        raise SuppleError(f"{tree.robot.name} at its start: {found.reason[0]}")
    warn_near(tree.robot, found, stacklevel=6)


def _check_reading(tree: Tree, chain: Chain, reading: Reading, stiffening: bool) -> None:
    """Refuse a paper's reading of a robot that the paper does not know."""
    name = tree.robot.name
    if reading.right:
        return
    if not tree.open_chain:
        raise SuppleError(
            f"{name} has loops: deflection, velocity and beta have one reading there; leave them "
            "out"
        )
    for paper in reading.plug_ins:
        paper.check(tree, chain, reading, stiffening)
    if chain.supports or mimics(chain):
        what = "bearings or a foundation" if chain.supports else "mimic joints"
        raise SuppleError(
            f"{name} has {what}: no paper's reading knows them; leave out deflection, velocity "
            "and beta"
        )


def _friction(tree: Tree, opened: AssembledTree) -> Array:
    """Coulomb friction of every joint coordinate, in the order of the tree's coordinates."""
    friction = np.zeros(opened.chain.stiff)
    motors = [drive.made.friction for drive in tree.drives]
    friction[: len(motors)] = motors
    friction[list(opened.places)] = passive_values(tree.form, "friction")
    # one value for all directions of a ball joint acts on the turn, not on each angle
    for ball in (b for b in opened.balls if isinstance(b, Ball)):
        if ball.friction:
            friction[list(ball.turns)] = 0.0
    return friction


def _tree_damping(tree: Tree, opened: AssembledTree, request: _BuildRequest) -> Array:
    """Damping matrix over all coordinates of the tree: motors, passive joints and links."""
    chain = opened.chain
    opened_chain = replace(chain, followers=opened.places)
    book = part_book(tree, opened_chain)
    if book is opened_chain:
        D = _damping_matrix(tree.robot, chain, request)
    else:  # links that are copies of parts: none of their coordinates is passive
        places = [chain.names.index(name) for name in book.names]
        D = np.zeros((chain.size, chain.size))
        D[np.ix_(places, places)] = _damping_matrix(tree.robot, book, request)

    damped = dict(zip(opened.places, passive_values(tree.form, "damping"), strict=True))
    for ball in (b for b in opened.balls if isinstance(b, Ball)):
        if ball.damping:
            damped |= dict.fromkeys(ball.turns, 0.0)
    for i, closure in enumerate(tree.form.closures):
        if closure.damping:
            damped[chain.rod_eps[tree.form.closure_name(i)]] = closure.damping
    for k, value in damped.items():
        D[k, k] += value
    return D


def _mass_matrix(laws: ChainEquations, functions: Functions) -> Array:
    """Mass matrix of an open tree at a configuration with nothing special about it."""
    chain = laws.chain
    q = np.zeros(chain.size)
    q[: len(chain.joints)] = 0.3 * (1 + np.arange(len(chain.joints)))
    for i, place in chain.lengths_at.items():
        q[place] = 0.7 * chain.links[i].inv.length
    taped = isinstance(functions, ChainFunctions) and functions.uses_tapes
    if taped and chain.size >= MANY:  # where it is dear in single numbers
        return functions.evaluator("mass_matrix")(q)[0]
    return np.array(laws.mass(q.tolist()), float)


def _damped_along(robot: Robot, request: _BuildRequest, laws: ChainEquations) -> ChainEquations:
    """The laws with sliders that know at which free length the robot's own damping was taken."""
    chain = laws.chain
    links = list(laws.links)
    bent = [i for i in chain.sliding if chain.links[i].inv.count]
    if bent and isinstance(request.damping, RobotDamping):
        pose = locked_pose(robot, request.basis, chain)
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


def _damping_matrix(robot: Robot, chain: Chain, request: _BuildRequest) -> Array:
    """(N, N): joint damping on theta, the links' own on eta, or that of the robot's modes."""
    law = request.damping
    basis = request.basis
    D = np.zeros((chain.size, chain.size))
    if isinstance(law, RobotDamping):
        pose = locked_pose(robot, basis, chain)
        if pose is None:
            raise SuppleError(
                f"modal_damping of {robot.name}: its modes are not known where it is built; give "
                "damping, the ratio of each link's own modes, or a basis with at="
            )
        D = whole_damping(pose, chain, law.ratio)
    ratios = law.ratio if isinstance(law, ModalDamping) else None
    if isinstance(ratios, Sequence) and len(ratios) > len(chain.links):
        raise SuppleError(
            f"damping has {len(ratios)} ratios: {robot.name} has {len(chain.links)} links; give "
            "one ratio, or one for each link"
        )
    for k, drive in enumerate(lower(robot).drives):
        D[k, k] = drive.made.damping
    for i, (link, part) in enumerate(zip(chain.links, chain.eta, strict=True)):
        if link.inv.count and link.slide is None:
            D[part, part] += drop_rounding_noise(
                law.matrix(i, link.inv, file_ratio(robot, link.name))
            )
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
