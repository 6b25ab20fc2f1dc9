"""What does it look like close by: a Model linearised at a state, as a StateSpace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...answers.held import Held
from ...arguments import checked, instance, listed, number, optional, reals, shown, some
from ...equations.model import Model, a_model
from ...errors import SuppleError
from .simulate import static_state

if TYPE_CHECKING:
    import control

__all__ = ["StateSpace", "Strain", "linearize"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class Strain(Held):
    """An output: the strain along a link at a fraction of its length, at a place of its section.

    Attributes:
        offset: distance from the axis to the gauge, m, along -y of the link: bending in its x-y
        plane alone, 1 gives the curvature in 1/m, whatever the section's roll. Or (y, z), where
        the gauge sits in the section's own axes: u' - y psi_z' + z psi_y', stretch included.
    """

    link: str
    fraction: float = 0.0
    offset: float | tuple[float, float] = 1.0

    checks: ClassVar = {
        "link": instance(str, "the name of a link"),
        "fraction": number(0, 1, give="a place from 0 (root) to 1 (end)"),
        "offset": some(),
    }


Output = str | Strain


@dataclass(frozen=True)
class StateSpace(Answer):
    """dx/dt = A x + B u, y = C x + D u, for small changes about a state.

    Attributes:
        A: (2 N, 2 N), x = [q, qd].  B: (2 N, joints).  C: (outputs, 2 N).  D: (outputs, joints).
        states, inputs, outputs: names.  q, qd, tau: where it was taken.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    q: Array
    qd: Array
    tau: Array

    dims: ClassVar = {
        "A": ("state", "from_state"),
        "B": ("state", "input"),
        "C": ("output", "from_state"),
        "D": ("output", "input"),
        "q": ("coordinate",),
        "qd": ("coordinate",),
        "tau": ("input",),
    }
    table_rows: ClassVar = ("state",)

    def labels(self) -> dict[str, Any]:
        """Return the names of states, inputs and outputs."""
        states = list(self.states)
        names = {"state": states, "from_state": states, "coordinate": states[: len(self.q)]}
        return names | {"input": list(self.inputs), "output": list(self.outputs)}

    @property
    def eigenvalues(self) -> Complex:
        """(2 N,) eigenvalues of A, by rising magnitude."""
        values = np.linalg.eigvals(self.A).astype(complex)
        ordered: Complex = values[np.argsort(np.abs(values), kind="stable")]
        return ordered

    @property
    def frequencies(self) -> Array:
        """(k,) natural frequencies |lambda|, rad/s, of the oscillating pairs, rising."""
        return np.abs(self._pairs())

    @property
    def damping_ratios(self) -> Array:
        """(k,) -Re lambda / |lambda| of the oscillating pairs."""
        pairs = self._pairs()
        ratio: Array = -pairs.real / np.abs(pairs)
        return ratio

    def _pairs(self) -> Complex:
        """Eigenvalues above the real axis by more than rounding can lift them.

        Rounding of each entry of A moves lambda by eps |y|' |A| |x| / |y' x| at most, x and y its
        right and left eigenvectors: so a slow pair counts beside however fast ones, and the double
        zeros of free joints do not.
        """
        from scipy.linalg import eig

        if not len(self.A):
            return np.zeros(0, complex)
        values, left, right = eig(self.A, left=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            felt = np.einsum("ik,ij,jk->k", np.abs(left), np.abs(self.A), np.abs(right))
            felt = felt / np.abs(np.einsum("ik,ik->k", left.conj(), right))
        lifted = 10 * len(self.A) * np.finfo(float).eps * np.nan_to_num(felt, nan=np.inf)
        pairs: Complex = values[values.imag > lifted]
        return pairs[np.argsort(np.abs(pairs), kind="stable")]

    def transfer(self, s: complex | ArrayLike) -> Complex:
        """Return G(s) = C (s I - A)^-1 B + D, (outputs, joints), or one for each s."""
        points = np.atleast_1d(np.asarray(s, complex))
        eye = np.eye(len(self.A))
        G = np.array([self.C @ np.linalg.solve(z * eye - self.A, self.B) + self.D for z in points])
        return G if np.ndim(s) else G[0]

    def transfer_function(self, output: int = 0, effort: int = 0) -> tuple[Array, Array]:
        """Return numerator and denominator of one entry of G(s), highest power first."""
        from scipy.signal import ss2tf

        row = slice(output, output + 1)
        num, den = ss2tf(self.A, self.B, self.C[row], self.D[row], input=effort)
        return num[0], den

    def to_control(self) -> control.StateSpace:
        """Return the same system for python-control."""
        try:
            import control
        except ImportError:
            raise SuppleError(
                "python-control is not installed: pip install supple[control]"
            ) from None
        names: dict[str, Any] = {word: [name.replace(".", "_") for name in getattr(self, word)]
                                 for word in ("states", "inputs", "outputs")}  # fmt: skip
        return control.ss(self.A, self.B, self.C, self.D, **names)


@checked(model=a_model, q=optional(reals), qd=optional(reals), tau=optional(reals))
def linearize(
    model: Model,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    outputs: Sequence[Output] = ("joints",),
) -> StateSpace:
    """Return a model linearised at a state.

    q None is zero; (joints,) is the static sag at these joint coordinates. tau None is the effort
    that holds the joints' accelerations at zero. Outputs: `joints`, `rates` (of the joints), `tip`
    (position), `state`, or a Strain.
    """
    state = _state(model, q)
    speed = np.zeros(model.size) if qd is None else np.asarray(qd, float)
    effort = _holding(model, state, speed) if tau is None else np.asarray(tau, float)
    dq, dqd, dtau = model.derivatives(state, speed, effort)
    n = model.size
    A = np.block([[np.zeros((n, n)), np.eye(n)], [dq, dqd]])
    B = np.vstack([np.zeros((n, model.joints)), dtau])
    rows = [_rows(model, state, output) for output in _listed(outputs)]
    C = np.vstack([block for block, _ in rows])
    names = tuple(name for _, each in rows for name in each)
    states = (*model.coordinates, *(f"d.{name}" for name in model.coordinates))
    inputs = tuple(f"tau.{name}" for name in model.chain.motors)
    D = np.zeros((len(C), model.joints))
    return StateSpace(A, B, C, D, states, inputs, names, state, speed, effort)


def _holding(model: Model, q: Array, qd: Array) -> Array:
    """The efforts under which the joints do not accelerate, whatever the links do meanwhile.

    qdd = a + P tau, so that tau = -P_jj^-1 a_j.
    """
    k = model.joints
    free = model.forward_dynamics(q, qd, np.zeros(k))
    P = model.derivatives(q, qd, np.zeros(k))[2]
    return np.asarray(-np.linalg.solve(P[:k], free[:k]), float)


def _state(model: Model, q: ArrayLike | None) -> Array:
    if q is None:
        return model.chain.pose()
    given = np.asarray(q, float)
    if given.shape == (model.joints,) and model.joints != model.size:
        return static_state(model, given)
    return given


def _listed(outputs: Any) -> Sequence[Output]:
    single = isinstance(outputs, str | Strain)
    given: list[Any] = [outputs] if single else listed("outputs", outputs)
    if not given:
        raise SuppleError("outputs is empty: give joints, rates, tip, state or a Strain")
    return given


def _rows(model: Model, q: Array, output: Output) -> tuple[Array, list[str]]:
    """Rows of C and their names."""
    n, k = model.size, model.joints
    unit = np.eye(2 * n)
    names = model.chain.motors
    if isinstance(output, Strain):
        return _strain_row(model, output), [f"strain.{output.link}.{output.fraction:g}"]
    if not isinstance(output, str):
        raise SuppleError(
            f"output {shown(output)} is not known: give joints, rates, tip, state or a Strain"
        )
    if output == "joints":
        return unit[:k], [f"theta.{name}" for name in names]
    if output == "rates":
        return unit[n : n + k], [f"d.theta.{name}" for name in names]
    if output == "state":
        return unit, [*model.coordinates, *(f"d.{name}" for name in model.coordinates)]
    if output == "tip":
        J = _tip_jacobian(model, q)
        return np.hstack([J, np.zeros_like(J)]), ["tip.x", "tip.y", "tip.z"]
    raise SuppleError(
        f"output {shown(output)} is not known: give joints, rates, tip, state or a Strain"
    )


def _tip_jacobian(model: Model, q: Array) -> Array:
    def make() -> Any:
        import casadi as ca

        from ...equations.evaluate import Evaluator, slope

        x = model.functions.symbol("q", model.size)
        p = model.functions.expression("tip")(x)[0]
        return Evaluator(slope(ca.Function("tip", [x], [p]), 0), True)

    J: Array = model.functions.derived("tip jacobian", make)(q)[0]
    return J


def _strain_row(model: Model, output: Strain) -> Array:
    """What a Strain is per unit q: slopes of the section's fields, weighted by where it sits."""
    i = model.chain.index(output.link)
    link = model.chain.links[i]
    if not 0 <= output.fraction <= 1:
        raise SuppleError(f"fraction is {output.fraction}: give a place from 0 (root) to 1 (end)")
    if link.slide is not None:
        raise SuppleError(f"link {output.link} slides: strain at a place of it is not offered")
    if link.shapes is None:
        raise SuppleError(f"link {output.link} is rigid: it has no strain")
    row = np.zeros((1, 2 * model.size))
    slope = link.shapes.at(output.fraction * link.inv.length, derivative=1)
    if isinstance(output.offset, int | float):
        row[0, model.chain.eta[i]] = output.offset * (link.R_SL.T @ slope[0, 3:])[2]
        return row
    try:
        y, z = (float(value) for value in output.offset)
    except (TypeError, ValueError):
        raise SuppleError(
            f"offset of a Strain is {output.offset!r}: give a distance, or (y, z) in the section"
        ) from None
    row[0, model.chain.eta[i]] = slope[0, 0] - y * slope[0, 5] + z * slope[0, 4]
    return row
