"""Natural frequencies of a Model: the modes of its equations, undeformed and unloaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..dynamics.model import Model
from ..errors import SuppleError

__all__ = ["AssumedResult", "assumed_modes"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AssumedResult:
    """Elastic modes of a Model at one configuration.

    Attributes:
        omega: (count,), rad/s, rising.  vectors: (N, count), in the coordinates q, modal mass one.
        rigid_modes: how many zero frequencies there are beside them.
    """

    omega: Array
    vectors: Array
    rigid_modes: int


def assumed_modes(
    model: Model,
    theta: ArrayLike | None = None,
    joints: Literal["locked", "free"] = "locked",
    count: int | None = None,
) -> AssumedResult:
    """Return the elastic modes of a model at theta: K x = omega^2 M x.

    Free joints carry no force, so their motion follows from the elastic one and M is condensed:
    M_ee - M_et M_tt^-1 M_te. The zero modes drop out exactly, and small frequencies lose nothing.
    """
    from scipy.linalg import cho_factor, cho_solve, eigh

    if joints not in ("locked", "free"):
        raise SuppleError(f"joints is '{joints}': it must be locked or free")
    k, n = model.joints, model.size
    if n == k:
        raise SuppleError("the model has no elastic coordinate: no mode to find")
    q = np.zeros(n)
    if theta is not None:
        given = np.asarray(theta, float)
        if given.shape != (k,):
            raise SuppleError(f"theta has shape {given.shape}: give {k} joint coordinates")
        q[:k] = given
    M, K = model.mass_matrix(q), model.stiffness
    follow = np.zeros((k, n - k))
    if joints == "free" and k:
        follow = -cho_solve(cho_factor(M[:k, :k]), M[:k, k:])
    elastic = M[k:, k:] + M[k:, :k] @ follow
    wanted = n - k if count is None else min(count, n - k)
    value, vector = eigh(K[k:, k:], (elastic + elastic.T) / 2, subset_by_index=(0, wanted - 1))
    omega: Array = np.sqrt(np.maximum(value, 0.0))
    return AssumedResult(omega, np.vstack([follow @ vector, vector]), k if joints == "free" else 0)
