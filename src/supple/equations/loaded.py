"""A Model under constant loads on its links, which act together with its weight."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..beams.invariants import fields_at, gauss_points
from ..beams.sliding.elements import SlidingElements
from ..errors import SuppleError
from ..link_loads import DistributedLoad, Load, PointLoad
from .chain_functions import ChainFunctions
from .chains.chain_equations import ChainEquations, LoadedSection, loaded_laws
from .closed.coupled import ClosedFunctions
from .functions import Functions
from .model import Model

__all__ = ["loaded_model", "tip_loaded_model"]

Array = NDArray[np.float64]
SLIDING_STRETCHES = 2  # of a free length under a force per length
LEAST_POINTS = 8  # of Gauss's rule on a stretch: forces per length of degree 10 and more


def loaded_model(model: Model, loads: Sequence[Load]) -> Model:
    """Return the Model with dead loads, base axes, on its links.

    A force per length acts at Gauss's points of the stretches of the link's basis. On a link that
    slides a load stays at its fraction of the free length, on the material that is there.
    """
    if not loads:
        return model
    laws = _laws_of(model)
    sections: list[LoadedSection] = []
    for load in loads:
        sections += _sections(laws, load)
    return _with_sections(model, laws, sections)


def tip_loaded_model(model: Model, wrench: Array) -> Model:
    """Return the Model under a constant wrench (6,), base axes, on its tip."""
    laws = _laws_of(model)
    tip = laws.chain.tip % len(laws.chain.links)
    return _with_sections(model, laws, [LoadedSection(tip, np.asarray(wrench, float))])


def _laws_of(model: Model) -> ChainEquations:
    """The equations of a Model over all coordinates of its tree."""
    functions = model.functions
    if isinstance(functions, ClosedFunctions):
        return functions.loops.laws
    if isinstance(functions, ChainFunctions) and isinstance(functions.laws, ChainEquations):
        return functions.laws
    raise SuppleError(
        "loads on links act on models that supple reads its own way: leave out reading, "
        "deflection, velocity and beta, or use wrench, which acts on the tip"
    )


def _with_sections(model: Model, laws: ChainEquations, sections: Sequence[LoadedSection]) -> Model:
    """The Model with wrenches on sections of its tree."""
    changed = loaded_laws(laws, sections)
    functions: Functions = model.functions
    if isinstance(functions, ClosedFunctions):
        loops = copy(functions.loops)
        # What was written of the tree belongs to the robot without loads
        for cached in ("symbolic_tree", "symbols", "function_cache"):
            vars(loops).pop(cached, None)
        loops.laws = changed
        functions = ClosedFunctions(loops, functions._compile, functions.near)
    else:
        functions = ChainFunctions(changed, functions._compile)
    return replace(model, functions=functions)


def _sections(laws: ChainEquations, load: Load) -> list[LoadedSection]:
    """Return where a load acts on its link, and with which wrenches (6,)."""
    i = laws.chain.index(load.link)
    part = laws.chain.links[i]
    length = float(part.inv.length)
    if isinstance(load, PointLoad):
        if load.fraction == 1:
            return [LoadedSection(i, load.wrench)]
        if part.slide is not None:
            return [LoadedSection(i, load.wrench, load.fraction)]
        return [_section(laws, i, load.fraction * length, load.wrench)]
    assert isinstance(load, DistributedLoad)
    found: list[LoadedSection] = []
    if part.slide is not None:
        # At fractions of the free length, whatever it is
        breaks = np.linspace(0.0, 1.0, SLIDING_STRETCHES + 1)
        if isinstance(part.slide, SlidingElements):
            breaks = part.slide.shapes_at(length).breaks / length
        places, weights = gauss_points(breaks, LEAST_POINTS)
        for fraction, weight in zip(places.tolist(), weights.tolist(), strict=True):
            wrench = np.concatenate([weight * load.at(fraction), np.zeros(3)])
            found.append(LoadedSection(i, wrench, fraction, per_length=True))
        return found
    breaks = np.array([0.0, length])
    count = LEAST_POINTS
    if part.shapes is not None:
        breaks = part.shapes.breaks
        count = max(count, part.shapes.degree + 2)
    places, weights = gauss_points(breaks, count)
    for x, weight in zip(places.tolist(), weights.tolist(), strict=True):
        force = weight * load.at(x / length)
        found.append(_section(laws, i, x, np.concatenate([force, np.zeros(3)])))
    return found


def _section(laws: ChainEquations, i: int, x: float, wrench: Array) -> LoadedSection:
    """A wrench on the section at x metres of a link that does not slide."""
    part = laws.chain.links[i]
    fields = fields_at(part.shapes, x, bool(part.inv.pairs))
    return LoadedSection(i, wrench, x, fields)
