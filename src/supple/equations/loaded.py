"""A Model under constant loads on its links, which act together with its weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..architectures.kinds import architecture_of
from ..beams.invariants import fields_at, gauss_points
from ..errors import SuppleError
from ..link_loads import DistributedLoad, Load, PointLoad
from .chain_functions import ChainFunctions
from .chains.chain_equations import Laws, loaded_laws
from .model import Model

__all__ = ["loaded_model"]

Array = NDArray[np.float64]
LEAST_POINTS = 8  # of Gauss's rule on a stretch: forces per length of degree 10 and more
Section = tuple[float, Array, Array, Array]  # x or -1 at the end, N and Psi there, wrench (6,)


def loaded_model(model: Model, loads: Sequence[Load]) -> Model:
    """Return the Model with dead loads, base axes, on its links; their potential is its weight's.

    A force per length acts at Gauss's points of the stretches of the link's basis.
    """
    if not loads:
        return model
    functions = model.functions
    if not isinstance(functions, ChainFunctions) or not isinstance(functions.laws, Laws):
        raise SuppleError(
            "loads on links are simulated of arms and trees without loops, read as supple reads "
            "them: use wrench, which acts on the tip, or supple.statics(..., loads=)"
        )
    laws = functions.laws
    placed: list[tuple[int, list[Section]]] = []
    for load in loads:
        i = laws.chain.index(load.link)
        if laws.chain.links[i].slide is not None and not (
            isinstance(load, PointLoad) and load.fraction == 1
        ):
            raise SuppleError(
                f"link {load.link} slides: a load that stays within it is not offered; put it on "
                "the link's end (fraction 1), or on another link"
            )
        placed.append((i, _sections(model, laws, i, load)))
    changed = ChainFunctions(loaded_laws(laws, placed), functions._compile)
    return replace(model, functions=changed)


def _sections(model: Model, laws: Laws, i: int, load: Load) -> list[Section]:
    """Return where a load acts on a link, and with which wrenches (6,)."""
    part = laws.chain.links[i]
    length = float(part.inv.length)
    planar = architecture_of(model.robot).planar
    if isinstance(load, PointLoad):
        moment = np.asarray(load.moment, float)
        if moment.any() and not planar:
            raise SuppleError(
                f"the moment on {load.link} keeps its direction in space, which has no potential "
                "there: give it as two forces beside each other, or as wrench on the tip"
            )
        places = [(load.fraction * length, load.wrench)]
    else:
        assert isinstance(load, DistributedLoad)
        breaks = np.array([0.0, length])
        count = LEAST_POINTS
        if part.shapes is not None:
            breaks = part.shapes.breaks
            count = max(count, part.shapes.degree + 2)
        x, weights = gauss_points(breaks, count)
        places = []
        for at, weight in zip(x, weights, strict=True):
            force = weight * load.at(float(at) / length)
            places.append((float(at), np.concatenate([force, np.zeros(3)])))
    found: list[Section] = []
    for x_here, wrench in places:
        N, Psi = fields_at(part.shapes, x_here, bool(part.inv.pairs))
        at_end = x_here >= length * (1 - 1e-12)
        found.append((-1.0 if at_end else x_here, N, Psi, wrench))
    return found
