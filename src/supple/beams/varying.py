"""VaryingBeam: a beam whose section changes along its length; and the beam of any link.

Between two stations sizes, or stiffnesses, change linearly, and the properties of the section
follow from the sizes. They are held as Legendre series on panels so short that the series is good
to rounding: evaluating and bounding them is then cheap and the same everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import ArrayLike, NDArray

from ..errors import SuppleError
from ..robot import Elastic, Material, Robot, Station, Theory
from ..sections import Profile, Shape
from .theory import AnyBeam, rigid_rod, theory_of, uniform_of

__all__ = ["Span", "VaryingBeam", "beam_of", "panel_nodes"]

Array = NDArray[np.float64]
GAUSS_POINTS = 16  # Gauss points of a panel
SERIES_TOLERANCE = 2e-15  # last coefficients of a panel's series, beside its largest
MAX_PANELS = 4096


@lru_cache(maxsize=1)
def panel_nodes() -> tuple[Array, Array, Array]:
    """Return Gauss points (n,), weights (n,) and the matrix (n, n) from values to a series."""
    t, w = legendre.leggauss(GAUSS_POINTS)
    k = np.arange(GAUSS_POINTS)
    series = (2 * k + 1)[:, None] / 2 * legendre.legvander(t, GAUSS_POINTS - 1).T * w
    return t, w, series


@dataclass(frozen=True)
class Span:
    """The beam between two stations, `first` and `second`: shapes, or rows of properties.

    plane: None, or which bending plane a planar arm keeps as its x-y.  excluded: columns of the
    properties made infinite.
    """

    start: float
    stop: float
    first: Any
    second: Any
    material: Material | None
    theory: Theory
    plane: int | None = None
    excluded: tuple[int, ...] = ()

    def section(self, x: float) -> Any:
        """Return the section at x, or None where stiffnesses are given instead."""
        if not isinstance(self.first, Shape):
            return None
        # The section between two of one shape: every size, or moment, linear
        t = (x - self.start) / (self.stop - self.start)
        values: dict[str, Any] = {}
        for key in type(self.first).model_fields:
            a = getattr(self.first, key)
            b = getattr(self.second, key)
            if isinstance(a, tuple) and isinstance(b, tuple):
                values[key] = tuple((1 - t) * p + t * q for p, q in zip(a, b, strict=True))
            elif isinstance(a, float) and isinstance(b, float):
                values[key] = (1 - t) * a + t * b
            else:
                values[key] = a
        return type(self.first).model_construct(**values)

    def exact(self, x: Array) -> Array:
        """Return the properties at x, (P, 10), from the sizes there."""
        each = []
        for place in x.tolist():
            section = self.section(place)
            if section is not None:
                material: Any = self.material
                A, I_z, I_y, J_t, I_p = section.constants()
                E = material.E
                rho = material.rho
                G = material.G
                k_xy, k_xz = section.shear(material.nu)
                shear = (k_xy * G * A, k_xz * G * A, G * J_t) if G is not None else (math.inf,) * 3
                inert = (rho * I_z, rho * I_y, rho * I_p)
                each.append([rho * A, E * A, E * I_z, E * I_y, *shear, *inert])
            else:
                part = (place - self.start) / (self.stop - self.start)
                ends = zip(self.first, self.second, strict=True)
                each.append([(1 - part) * a + part * b if a != b else a for a, b in ends])
        rows = np.array(each)
        if self.theory in ("inextensible", "rigid"):
            rows[:, 1] = math.inf
        if self.theory == "rigid":
            rows[:, 2:7] = math.inf
        elif self.theory != "timoshenko":
            rows[:, 4:6] = math.inf
            rows[:, 7:9] = 0.0
        if self.plane is not None:
            for k in (2, 4, 7):
                rows[:, k] = rows[:, k + self.plane]
            rows[:, [3, 5, 6]] = math.inf
            rows[:, [8, 9]] = 0.0
        rows[:, list(self.excluded)] = math.inf
        return rows


@lru_cache(maxsize=1024)
def _panels(span: Span) -> tuple[Array, Array]:
    """Edges (p + 1,) and Legendre series (p, n, 10) of a span's properties, good to rounding.

    So are the inverses of the stiffnesses on each panel, which the beam equations integrate. An
    infinite stiffness is left infinite, in the first coefficient.
    """
    t, _, series = panel_nodes()
    todo = [(span.start, span.stop)]
    edges = [span.start]
    panels = []
    while todo:
        a, b = todo.pop()
        rows = span.exact((a + b) / 2 + (b - a) / 2 * t)
        soft = np.isfinite(rows[0])
        c = np.zeros((GAUSS_POINTS, 10))
        c[0, ~soft] = math.inf
        c[:, soft] = series @ rows[:, soft]
        used = rows[:, soft][:, (rows[0, soft] > 0)]
        both = np.abs(series @ np.hstack([used / used[0], used[0] / used]))
        if both[-2:].max() <= SERIES_TOLERANCE * 8:
            edges.append(b)
            panels.append(c)
        elif len(panels) + len(todo) > MAX_PANELS or b - a <= 1e-9 * (span.stop - span.start):
            raise SuppleError(
                f"the section changes too steeply between {span.start:g} and {span.stop:g} m: "
                "look at the sizes of these stations"
            )
        else:
            todo += [((a + b) / 2, b), (a, (a + b) / 2)]
    return np.array(edges), np.array(panels)


@dataclass(frozen=True)
class VaryingBeam(AnyBeam):
    """A beam of spans; x = 0 is at `start` of them, so that a part is a beam of its own."""

    L: float
    spans: tuple[Span, ...]
    start: float = 0.0

    @property
    def breaks(self) -> tuple[float, ...]:
        """Stations inside the beam."""
        inside = (span.stop - self.start for span in self.spans)
        return tuple(x for x in inside if 1e-12 * self.L < x < (1 - 1e-12) * self.L)

    def edges(self) -> Array:
        """Return 0, the ends of the panels inside, and L: smooth and well resolved in between."""
        every = np.concatenate([_panels(span)[0] for span in self.spans]) - self.start
        inside = every[(every > 1e-9 * self.L) & (every < (1 - 1e-9) * self.L)]
        return np.array(sorted({0.0, *inside.tolist(), self.L}))

    def at(self, x: ArrayLike, derivative: int = 0) -> Array:
        """Return the properties at x, or their derivatives along x, (P, 10).

        At a jump they are those of the span that begins there.
        """
        places = self.start + np.atleast_1d(np.asarray(x, float))
        stops = np.array([span.stop for span in self.spans])
        which = np.minimum(np.searchsorted(stops, places, "right"), len(stops) - 1)
        out = np.empty((len(places), 10))
        for k in sorted(set(which.tolist())):
            here = which == k
            out[here] = self._inside(int(k), places[here], derivative)
        return out

    def _inside(self, k: int, places: Array, derivative: int = 0) -> Array:
        """Properties at places of span k, its ends included."""
        edges, series = _panels(self.spans[k])
        panel = np.clip(np.searchsorted(edges, places, "right") - 1, 0, len(series) - 1)
        a = edges[panel]
        b = edges[panel + 1]
        soft = np.isfinite(series[0, 0])
        out = np.full((len(places), 10), 0.0 if derivative else math.inf)
        series = series[panel][:, :, soft]
        if derivative:
            scale = (2 / (b - a)) ** derivative
            series = legendre.legder(series, derivative, axis=1) * scale[:, None, None]
        basis = legendre.legvander((2 * places - a - b) / (b - a), series.shape[1] - 1)
        out[:, soft] = np.einsum("pn,pnc->pc", basis, series)
        return out

    def section(self, x: float) -> Shape | None:
        """Return the section at x, or None where stiffnesses are given instead."""
        place = self.start + x
        span = next((s for s in self.spans if place < s.stop), self.spans[-1])
        found: Shape | None = span.section(place)
        return found

    def on_panel(self, x: Array) -> Array:
        """Return the properties at points x (P,) that lie inside one panel, its ends excluded."""
        middle = self.start + float(x.mean())
        k = next((i for i, s in enumerate(self.spans) if middle < s.stop), len(self.spans) - 1)
        return self._inside(k, self.start + x)

    def outside(self, L: float) -> VaryingBeam:
        """Return the last L metres."""
        return self.part(self.L - L, self.L)

    def part(self, a: float, b: float) -> VaryingBeam:
        """Return the beam between a and b."""
        return replace(self, L=b - a, start=self.start + a)

    def in_plane(self, quarter: int) -> VaryingBeam:
        """Return the beam of a planar arm: bending in x-y only, after a quarter turn or none."""
        return replace(self, spans=tuple(replace(s, plane=quarter) for s in self.spans))

    def stiff(self) -> VaryingBeam:
        """Return the beam with every deformation excluded."""
        return replace(self, spans=tuple(replace(s, excluded=(1, 2, 3, 6)) for s in self.spans))

    def rod(self, start: float, stop: float) -> Array:
        """Return the (6, 6) rigid mass about x = 0 of the beam laid from start, up to stop."""
        if stop <= start:
            return np.zeros((6, 6))
        part = self.part(0.0, stop - start)
        t, w, _ = panel_nodes()
        a = part.edges()[:-1, None]
        b = part.edges()[1:, None]
        s = (a + b) / 2 + (b - a) / 2 * t
        weights = (b - a) / 2 * w
        rows = np.concatenate([part.on_panel(each) for each in s]) * weights.reshape(-1, 1)
        x = s.ravel() + start
        moments = [float(rows[:, 0] @ x**k) for k in range(3)]
        turning = (float(rows[:, 9].sum()), float(rows[:, 8].sum()), float(rows[:, 7].sum()))
        return rigid_rod(moments[0], moments[1], moments[2], turning)


def beam_of(robot: Robot, link: Elastic) -> AnyBeam:
    """Return the numbers of a link under its theory, length as given, axes before `roll`."""
    if link.stations is None:
        return uniform_of(robot, link)
    theory = theory_of(robot, link)
    material = robot.material(link)
    spans = []
    for a, b in pairwise(link.stations):
        if b.at > a.at:
            first, second = (_station_section(robot, link, station) for station in (a, b))
            spans.append(Span(a.at, b.at, first, second, material, theory))
    return VaryingBeam(link.length or 0.0, tuple(spans))


def _station_section(robot: Robot, link: Elastic, station: Station) -> Any:
    """The section of a station, or its properties as a row; what it leaves out is the link's."""
    section = station.section
    if section is not None:
        shape = robot.sections[section] if isinstance(section, str) else section
        material = robot.material(link)
        if isinstance(shape, Profile) and material is not None:
            return shape.general(material.nu)  # whose moments are linear in between
        return shape

    def own(key: str, default: Any) -> Any:
        value = getattr(station, key)
        value = getattr(link, key) if value is None else value
        return default if value is None else value

    r = own("rotary_inertia_per_length", 0.0)
    pair = (math.inf, math.inf)
    return (
        own("mass_per_length", 0.0),
        own("axial_stiffness", math.inf),
        *own("bending_stiffness", pair),
        *own("shear_stiffness", pair),
        own("torsional_stiffness", math.inf),
        *(r, r),
        own("polar_inertia_per_length", 2 * r),
    )
