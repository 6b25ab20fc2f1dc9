"""What must be known: the equations of motion linear in named constants, for identification."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..arguments import checked, reals
from ..equations.chains.chain import check_lengths
from ..equations.evaluate import Evaluator
from ..equations.model import Model
from ..equations.regression import regressor_function
from ..errors import SuppleError

__all__ = ["Regressor", "regressor"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regressor(Answer):
    """Inverse dynamics linear in inertial constants, M qdd + h (+ g) = Y(q, qd, qdd) pi.

    From `supple.regressor`.

    Attributes
    ----------
    model : Model
        The model.
    names : tuple of str
        Names of the p constants.
    pi : ndarray
        Their values in the model, (p,).
    """

    model: Model
    names: tuple[str, ...]
    pi: Array
    _evaluate: Evaluator = field(repr=False, compare=False)

    labels: ClassVar = {"constant": "names"}
    dims: ClassVar = {"pi": ("constant",)}
    table_rows: ClassVar = ("constant",)

    def __call__(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return Y, (N, p), or (B, N, p) for many states."""
        states = [reals(name, x) for name, x in zip(("q", "qd", "qdd"), (q, qd, qdd), strict=True)]
        if any(x.shape[-1:] != (self.model.size,) or x.ndim > 2 for x in states):
            raise SuppleError(f"q, qd and qdd must have {self.model.size} entries each")
        check_lengths(self.model.chain, states[0])
        Y: Array = self._evaluate(*states)[0]
        return Y.reshape(*states[0].shape, len(self.pi))

    def identifiable(self, samples: int = 0, seed: int = 0) -> int:
        """Return how many combinations of the constants any motion can tell apart.

        A robot with loops is moved about its assembled pose, where they can be closed.
        """
        rng = np.random.default_rng(seed)
        count = samples or 4 * len(self.pi)
        q, qd, qdd = rng.normal(size=(3, count, self.model.size))
        if self.model.functions.needs:
            q = self.model.chain.pose() + 0.03 * q
        else:
            for i, at in self.model.chain.lengths_at.items():
                q[:, at] = rng.uniform(0.3, 1.0, count) * self.model.chain.links[i].inv.length
        Y = self(q, qd, qdd).reshape(-1, len(self.pi))
        Y = Y[np.isfinite(Y).all(axis=1)]
        return int(np.linalg.matrix_rank(Y / np.maximum(np.abs(Y).max(axis=0), 1e-300)))


@checked
def regressor(model: Model, gravity: bool = True) -> Regressor:
    """Inverse dynamics of a model as a linear function of its inertial constants.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`. Stiffness and damping are left out.
    gravity : bool
        Include gravity.

    Returns
    -------
    Regressor
        M qdd + h (+ g) = Y(q, qd, qdd) pi.

    Notes
    -----
    The constants are the integrals over the links and the ten inertial parameters of the bodies;
    lengths and the end values of the shape functions are kinematics and stay numbers. For a sliding
    link the constants are its mass and the rotary inertia of its sections; their distribution and
    the shapes are known. For robots with loops they are those of the tree, projected onto the
    independent coordinates.

    References
    ----------
    [DeLuca1991], section V, here for any number of links and modes.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.regressor(model).pi.shape
    (17,)
    """
    names, values, function = regressor_function(model, gravity)
    return Regressor(model, names, values, Evaluator(function))
