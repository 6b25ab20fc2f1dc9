"""StateSpace: a Model linearised at a state, as matrices: poles, transfer functions, steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import reals
from ...errors import SuppleError

if TYPE_CHECKING:
    import control

__all__ = ["StateSpace"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True)
class StateSpace(Answer):
    """Linear model dx/dt = A x + B u, y = C x + D u, for small changes about a state.

    From `supple.linearize`. With a `period` it is x+ = A x + B u from one sample to the next.

    Attributes
    ----------
    A, B, C, D : ndarray
        Matrices (n, n), (n, inputs), (outputs, n) and (outputs, inputs); x = [q, qd], followed by
        states of sensors and controllers.
    states, inputs, outputs : tuple of str
        Names.
    q, qd, tau : ndarray
        State and efforts at which it was linearised.
    period : float or None
        Sampling period, s; None in continuous time.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.linearize(model, controller=supple.JointPD(10, 2)).poles.shape
    (8,)
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
    period: float | None = None

    labels: ClassVar = {
        "state": "states",
        "from_state": "states",
        "coordinate": "coordinates",
        "input": "inputs",
        "output": "outputs",
    }
    dims: ClassVar = {
        "A": ("state", "from_state"),
        "B": ("state", "input"),
        "C": ("output", "from_state"),
        "D": ("output", "input"),
        "q": ("coordinate",),
        "qd": ("coordinate",),
        "tau": ("joint",),
    }
    table_rows: ClassVar = ("state",)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates: the first half of the states."""
        return self.states[: len(self.q)]

    @property
    def eigenvalues(self) -> Complex:
        """(2 N,) eigenvalues of A, by rising magnitude."""
        values = np.linalg.eigvals(self.A).astype(complex)
        ordered: Complex = values[np.argsort(np.abs(values), kind="stable")]
        return ordered

    @property
    def poles(self) -> Complex:
        """(n,) eigenvalues as rates, 1/s: of a sampled system log(lambda) / period."""
        values = self.eigenvalues
        if self.period is None:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.log(values) / self.period)

    @property
    def stable(self) -> bool:
        """Whether every small motion dies away."""
        values = self.eigenvalues
        return bool((values.real < 0).all() if self.period is None else (np.abs(values) < 1).all())

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
        if self.period is None:
            pairs: Complex = values[values.imag > lifted]
        else:  # a negative one swings at half the sampling rate
            swinging = (values.imag > lifted) | ((values.real < -lifted) & (values.imag == 0))
            pairs = np.log(values[swinging].astype(complex)) / self.period
        return pairs[np.argsort(np.abs(pairs), kind="stable")]

    def transfer(self, s: complex | ArrayLike) -> Complex:
        """Return G(s) = C (s I - A)^-1 B + D, (outputs, inputs), or one for each s.

        Of a sampled system s stands for z = exp(s period). At a pole it is refused.
        """
        points = np.atleast_1d(np.asarray(s, complex))
        if self.period is not None:
            points = np.exp(points * self.period)
        eye = np.eye(len(self.A))
        G = np.zeros((len(points), *self.D.shape), complex)
        for k, z in enumerate(points):
            try:
                G[k] = self.C @ np.linalg.solve(z * eye - self.A, self.B) + self.D
            except np.linalg.LinAlgError:
                at = np.ravel(np.asarray(s, complex))[k]
                sentence = f"s = {at:g} is a pole of this system, where G is not finite"
                raise SuppleError(f"{sentence}: ask beside it, or give the robot damping") from None
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
        names: dict[str, Any] = {
            word: [name.replace(".", "_") for name in getattr(self, word)]
            for word in ("states", "inputs", "outputs")
        }
        more = {} if self.period is None else {"dt": self.period}
        return control.ss(self.A, self.B, self.C, self.D, **more, **names)

    def step(self, t: ArrayLike) -> Array:
        """Return the answers to unit steps at t = 0, (times, outputs, inputs), from rest.

        Times rise from zero; of a sampled system they are its samples, rounded down.
        """
        times = reals("t", t)
        if times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any() or times[0] < 0:
            raise SuppleError(f"t has shape {times.shape}: give rising times, none below zero")
        n, m = self.B.shape
        rows = []
        z = np.vstack([np.zeros((n, m)), np.eye(m)])
        before = 0.0
        joined = np.block([[self.A, self.B], [np.zeros((m, n + m))]])
        if self.period is not None:
            joined[n:, n:] = np.eye(m)
        for at in times.tolist():
            # What carries [x, u] with constant u from one time to another
            from scipy.linalg import expm

            if self.period is None:
                after = np.asarray(expm((at - before) * joined))
            else:
                count = int(at / self.period + 1e-9) - int(before / self.period + 1e-9)
                after = np.asarray(np.linalg.matrix_power(joined, count))
            z = after @ z
            before = at
            rows.append(self.C @ z[:n] + self.D)
        return np.array(rows)
