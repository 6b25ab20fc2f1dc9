"""Natural frequencies by assumed modes: of a Structure, and of a Model and its equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, one_of, whole_number
from ...beams.fixed.assumed import assumed_shapes
from ...beams.fixed.elements import mesh
from ...beams.fixed.on_beam import ShapesOnBeam
from ...beams.shapes import EndLoad
from ...beams.theory import AnyBeam
from ...equations.chains.chain import distal_loads
from ...equations.equilibrium import stiffness_at
from ...equations.model import Model
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...structure import Joints, Structure
from .elements import ElementModes, ScaledLink, modes_on, scale_to_unit_stiffness

__all__ = ["AssumedResult", "assumed_modes", "modes_of_shapes"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AssumedResult(Answer):
    """Elastic modes of a Model at one configuration.

    Attributes
    ----------
    omega
        (count,), rad/s, rising.
    vectors
        (N, count), in the coordinates q, modal mass one.
    rigid_modes
        How many zero frequencies there are beside them.
    """

    omega: Array
    vectors: Array
    rigid_modes: int

    dims: ClassVar = {"omega": ("mode",), "vectors": ("coordinate", "mode")}
    table_rows: ClassVar = ("mode",)
    units: ClassVar = {"omega": "rad/s"}


@one_thread
@checked
def assumed_modes(
    model: Model,
    theta: ArrayLike | None = None,
    joints: Annotated[Joints, one_of("locked", "free")] = "locked",
    count: Annotated[int, whole_number(1, 100_000)] | None = None,
) -> AssumedResult:
    """Elastic modes of a model at a pose, from its mass and stiffness matrices.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: zero.
    joints : {"locked", "free"}
        Whether the motors hold the joints.
    count : int, optional
        Number of modes. Default: all of them.

    Returns
    -------
    AssumedResult
        Frequencies in `omega` (rad/s).

    Notes
    -----
    Solves K x = omega^2 M x. Free joints transmit no effort, so their motion follows from the
    elastic motion and M is replaced by M_ee - M_et M_tt^-1 M_te: the zero modes disappear exactly
    and low frequencies lose no accuracy.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.assumed_modes(model, [0, 0]).omega.round(3)
    array([ 2.753, 16.576])
    """
    from scipy.linalg import cho_factor, cho_solve, eigh

    k = model.joints
    n = model.size
    if n == k:
        raise SuppleError("the model has no elastic coordinate: no mode to find")
    q = model.chain.pose()
    if theta is not None:
        given = np.asarray(theta, float)
        if given.shape != (k,):
            raise SuppleError(f"theta has shape {given.shape}: give {k} joint coordinates")
        q[:k] = given
    M = model.mass_matrix(q)
    K = stiffness_at(model, q)
    follow = np.zeros((k, n - k))
    if joints == "free" and k:
        follow = -cho_solve(cho_factor(M[:k, :k]), M[:k, k:])
    elastic = M[k:, k:] + M[k:, :k] @ follow
    wanted = n - k if count is None else min(count, n - k)
    # M x = K x / omega^2: the lowest frequencies are the largest eigenvalues, the accurate ones
    last = (n - k - wanted, n - k - 1)
    value, vector = eigh((elastic + elastic.T) / 2, K[k:, k:], subset_by_index=last)
    omega: Array = 1 / np.sqrt(value[::-1])
    vector = vector[:, ::-1] * omega
    return AssumedResult(omega, np.vstack([follow @ vector, vector]), k if joints == "free" else 0)


def modes_of_shapes(structure: Structure, count: int, each: int) -> ElementModes:
    """Return modes of a structure with so many assumed modes in every deformation of a link.

    The shapes carry the rest of the robot at their ends, see `distal_loads`.
    """
    if each < 1 or each != int(each):
        raise SuppleError(
            f"elements is {each}: by assumed modes give a whole number of 1 or more, "
            "the modes in every deformation of a link"
        )
    pairs = zip(structure.segments, structure.L[0], distal_loads(structure), strict=True)
    return modes_on(
        structure, count, [_assumed_link(s.beam, float(L), end, each) for s, L, end in pairs]
    )


@lru_cache(maxsize=256)
def _assumed_link(beam: AnyBeam, L: float, end: EndLoad, each: int) -> ScaledLink:
    """One link with its natural shapes; links alike share their numbers."""
    if beam.rigid:
        return scale_to_unit_stiffness(mesh(beam, 1, "cubic", L))
    beam = beam.outside(L)
    return scale_to_unit_stiffness(
        ShapesOnBeam(beam, L, assumed_shapes(beam, end, each, each, each))
    )
