"""Model: the immutable numbers of a Robot under a Basis; `build` makes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.immutable import Immutable, frozen
from ..answers.registry import import_function
from ..architectures.coordinate_map import CoordinateMap
from ..architectures.kinds import architecture_of
from ..arguments import brief, checks_of, instance, number, one_of, reals
from ..beams.basis import AssumedModes, Basis
from ..errors import SuppleError
from ..robot import Motor, Robot
from .accuracy import Accuracy, accuracy
from .chains.chain import Chain, check_lengths
from .chains.link_fields import link_deflection
from .functions import Functions, LoopFunctions
from .reading import Reading

__all__ = ["Model", "a_model"]

Array = NDArray[np.float64]
A_PLACE = number(0, 1, give="a place from 0 (root) to 1 (end)")


def _check(model: Model, theta: ArrayLike | None = None) -> Accuracy:
    """Return how far the Model is from the exact beams at theta, see `Accuracy`."""
    found = accuracy(model.robot, model.basis, model.chain, model.damping, theta)
    if found is None:
        raise SuppleError(
            f"{model.robot.name} cannot be checked there: it cannot stand there, nothing bends or "
            "something is loose; give another theta, or compare modes and statics by hand"
        )
    return found


@dataclass(frozen=True)
class Model(Immutable):
    """Equations of motion M(q) qdd + h(q, qd) + D qd + K q + g(q) = B tau of one robot.

    From `supple.build`. q = [theta, eps, eta], see `coordinates`. Every function takes one state,
    (N,), or many, (B, N).

    Attributes
    ----------
    robot : Robot
        The robot.
    basis : Basis
        Shape functions of its links.
    chain
        Numerical data of the links; for a Delta those of all legs, with their place in q.
    reading : Reading
        How the equations are written.
    stiffening : bool
        Whether geometric stiffening is included.
    stiffness, damping : ndarray
        K and D, (N, N); NaN for a sliding link, whose stiffness depends on its length.
    friction : ndarray
        Coulomb friction of the joints (joints,), N m.
    functions
        The same equations as CasADi functions.
    modal_damping : float or None
        Damping ratio of the robot's modes from which `damping` was computed; None for other
        damping.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> q = np.zeros(model.size)
    >>> acceleration = model.forward_dynamics(q, 0 * q, [0.1, 0.0])
    >>> effort = model.inverse_dynamics(q, 0 * q, acceleration)
    >>> abs(effort).round(9)[:2]
    array([0.1, 0. ])
    """

    robot: Robot
    basis: Basis
    chain: Chain = field(repr=False)
    reading: Reading
    stiffening: bool
    stiffness: Array
    damping: Array
    friction: Array
    functions: Functions = field(repr=False, compare=False)
    modal_damping: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Hold still, the numbers of its chain too."""
        frozen(self.chain)
        super().__post_init__()

    check = _check

    def plot(self, what: str = "shapes", path: str | PathLike[str] | None = None) -> Any:
        """Draw the shapes of the links over their length, as [DeLuca1991], Figs. 2-4.

        what: `shapes`.  path: a picture to write (.png, .svg, .pdf).
        """
        one_of("shapes")("what", what)
        return import_function("view.figures.motion:plot_link_shapes")(self, path)

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
    def coordinate_map(self) -> CoordinateMap:
        """What each entry of q is: name, unit, owner, meaning.

        Elastic entries are amplitudes of shape functions: m of bending and stretch, rad of torsion;
        of finite elements, displacements and rotations of nodes.
        """
        if isinstance(self.basis, AssumedModes):
            return self.chain.coordinate_map
        return CoordinateMap.of(
            replace(slot, unit="m or rad") if slot.meaning == "elastic" else slot
            for slot in self.chain.coordinate_map
        )

    @property
    def dependent_map(self) -> CoordinateMap:
        """What each coordinate is that follows from q: loops or other joints determine it."""
        return self.functions.dependent_map

    @property
    def motors(self) -> tuple[Motor, ...]:
        """What moves each entry of theta, as the robot describes it."""
        return tuple(drive.made for drive in architecture_of(self.robot).drives)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return M(q), (N, N) or (B, N, N)."""
        M = self._call("mass_matrix", q=q)[0]
        return M.reshape(*np.shape(q)[:-1], self.size, self.size)

    def bias(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return h(q, qd): centrifugal and Coriolis, without gravity, stiffness and damping."""
        return self._call("bias", q=q, qd=qd)[0]

    def coriolis(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return the Coriolis matrix C(q, qd) by Christoffel symbols, so that bias = C qd.

        Parameters
        ----------
        q, qd : array_like
            One state, (N,), or many, (B, N).

        Returns
        -------
        ndarray
            C, (N, N) or (B, N, N). M' - 2 C is skew-symmetric along every motion.

        Notes
        -----
        The bias is a quadratic form of the rates, h_i = sum_jk c_ijk qd_j qd_k with symmetric
        Christoffel symbols c_ijk, and C_ij = sum_k c_ijk qd_k. A column of C is therefore the
        difference of two biases, exactly: C e_j = (h(qd + e_j) - h(qd - e_j)) / 4.

        Where loops take away what a coordinate moves in the tree, the same part of the digits goes
        with it: the platform of the library's hexapod counts 130,000 kg m2 in the torsion of the
        rod it hangs on, of which 0.6 are left, and M' - 2 C is skew to 1e-11 of M' instead of
        1e-15 (to 1e-13 in coordinates of equal inertia).
        """
        positions = self._array("q", q)
        rates = self._array("qd", qd)
        positions, rates = np.broadcast_arrays(positions, rates)
        lead = rates.shape[:-1]
        # Steps as large as the rates themselves lose the fewest digits.
        step = np.maximum(np.abs(rates).max(axis=-1, keepdims=True), 1.0)[..., None]
        steps = step * np.eye(self.size)
        many_positions = np.broadcast_to(positions[..., None, :], (*lead, self.size, self.size))
        after = self.bias(many_positions, rates[..., None, :] + steps)
        before = self.bias(many_positions, rates[..., None, :] - steps)
        columns = (after - before) / (4 * step)
        return np.swapaxes(columns, -1, -2)

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
        six = reals("wrench", wrench)
        if six.shape[-1:] == (3,):  # a force is a wrench without moment
            six = np.concatenate([six, np.zeros_like(six)], axis=-1)
        return self._call("forward_dynamics_loaded", q=q, qd=qd, tau=tau, wrench=six)[0]

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return M qdd + h + D qd + K q + g, (N,): efforts first, then what eps and eta need.

        Joint friction is included. What eps and eta need vanishes along every motion that
        satisfies the equations.
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
        near: Array | None = None,
    ) -> Array:
        """Return the elastic displacement (3,) of a link at a fraction of its length, link axes.

        It is relative to the tangent at the link's root, or to the `chord` from its root to its
        bent end, then in axes turned with the chord. Under `stiffening` the shortening of the bent
        beam is part of it, as it is of `tip`. `near`: about where the followers of loops are.
        """
        frame = one_of("root", "chord")("frame", frame)
        fraction = A_PLACE("fraction", fraction)
        chain = self.chain
        x = self._array("q", q)
        i = chain.index(instance(str, "the name of a link")("link", link))
        slides = i in chain.sliding and i not in chain.lengths_at
        if slides or chain.eta[i].stop - chain.eta[i].start < chain.links[i].inv.count:
            # loops determine some of its coordinates
            tree, x = self.functions.tree_coordinates(x, near)
            chain = tree or chain
        own = x[..., chain.own(i)]
        here = link_deflection(chain.links[i], own, fraction, self.stiffening)
        if frame == "root":
            return here
        length = own[..., 0] if chain.links[i].slide is not None else chain.links[i].inv.length
        end = link_deflection(chain.links[i], own, 1.0, self.stiffening)
        # u - f u_end in axes whose x is the chord: R' with R e_x along L e_x + u_end, turned the
        # short way
        ahead = np.array([1.0, 0.0, 0.0])
        off = here - fraction * end
        chord = end + np.asarray(length, float)[..., None] * ahead
        c = chord / np.linalg.norm(chord, axis=-1, keepdims=True)
        w = np.cross(ahead, c)
        back: Array = off - np.cross(w, off) + np.cross(w, np.cross(w, off)) / (1 + c[..., :1])
        return back

    def derivatives(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike
    ) -> tuple[Array, Array, Array]:
        """Return d qdd / d(q, qd, tau), (N, N), (N, N) and (N, joints)."""
        found = self._call("derivatives", q=q, qd=qd, tau=tau)
        lead = np.broadcast_shapes(*(np.shape(x)[:-1] for x in (q, qd, tau)))
        a, b, c = (part.reshape(*lead, self.size, -1) for part in found)
        return a, b, c

    def casadi(self) -> dict[str, Any]:
        """Return the equations of motion as CasADi functions, for NMPC and other symbolic work.

        Returns
        -------
        dict of casadi.Function
            mass_matrix(q), bias(q, qd), gravity(q), forward_dynamics(q, qd, tau),
            forward_dynamics_loaded(q, qd, tau, wrench), inverse_dynamics(q, qd, qdd), tip(q) with
            position and rotation, jacobians(q, qd, tau) of the forward dynamics by q, qd and tau,
            and residual(q, qd, qdd, tau), which is zero along every motion: what an implicit
            integrator needs. Robots with loops close them inside.
        """
        import casadi as ca

        names = ("mass_matrix", "bias", "gravity", "forward_dynamics", "forward_dynamics_loaded")
        found = {name: self.functions.expression(name) for name in names}
        inverse = self.functions.expression("inverse_dynamics")
        found["inverse_dynamics"] = inverse
        found["tip"] = self.functions.expression("tip")
        found["jacobians"] = self.functions.expression("derivatives")
        q, qd, qdd = (ca.MX.sym(word, self.size) for word in ("q", "qd", "qdd"))
        tau = ca.MX.sym("tau", self.joints)
        effort = ca.vertcat(tau, ca.DM.zeros(self.size - self.joints, 1))
        found["residual"] = ca.Function(
            "residual",
            [q, qd, qdd, tau],
            [inverse(q, qd, qdd) - effort],
            ["q", "qd", "qdd", "tau"],
            ["residual"],
        )
        return found

    def _call(self, name: str, **given: ArrayLike) -> tuple[Array, ...]:
        arrays = {word: self._array(word, value) for word, value in given.items()}
        leads = {array.shape[:-1] for array in arrays.values()} - {()}
        if not leads:
            return self._require_closed(arrays, self.functions.evaluator(name)(*arrays.values()))
        if len(leads) > 1:
            raise SuppleError(
                f"{', '.join(given)} have batches of different shapes: {sorted(leads)}"
            )
        lead = leads.pop()
        flat = [np.broadcast_to(a, (*lead, a.shape[-1])) for a in arrays.values()]
        if len(lead) > 1 or lead == (0,):
            flat = [a.reshape(-1, a.shape[-1]) for a in flat]
        found = self._require_closed(arrays, self.functions.evaluator(name)(*flat))
        return tuple(out.reshape(*lead, *out.shape[1:]) for out in found)

    def _require_closed(self, at: dict[str, Array], found: tuple[Array, ...]) -> tuple[Array, ...]:
        """The same, unless loops stayed open."""
        if isinstance(self.functions, LoopFunctions):
            for out in found:
                if not np.isfinite(out).all():
                    raise self.functions.open_at(self.robot, at["q"], out)
        return found

    def _array(self, word: str, value: ArrayLike) -> Array:
        """Return an argument as an array, checked for size and NaN."""
        wanted = {"tau": self.joints, "wrench": 6}.get(word, self.size)
        array = reals(word, value)
        if array.ndim == 0 or array.shape[-1] != wanted:
            names = self.coordinates[: self.joints] if word == "tau" else self.coordinates
            what = f": {', '.join(names)}" if wanted <= 12 and word != "wrench" else ""
            raise SuppleError(
                f"{word} has shape {array.shape}: its last axis must have {wanted} entries{what}"
            )
        if not np.isfinite(array).all():
            raise SuppleError(f"{word} holds a value that is not finite")
        if word == "q" and self.chain.sliding:
            check_lengths(self.chain, array)
        return array


@checks_of(Model)
def a_model(name: str, given: Any) -> Model:
    """Return a Model, or raise a sentence that says how to get one."""
    if isinstance(given, Model):
        return given
    what = "a Robot" if isinstance(given, Robot) else brief(given)
    raise SuppleError(
        f"{name} is {what}: give a Model, such as supple.build(robot, supple.AssumedModes(2))"
    )
