"""Slider: a link that slides, whose numbers depend on its free length.

To the recursions a slider is a link without a joint whose first elastic coordinate is its free
length: p = [l, eta]. Its fields are linear in z on the wide set [N, N_l, N_ll, e_x] of
`beams.sliding`, with

    z = [eta, 0, 0, 0],   zd = Z pd = [etad, eta ld, 0, ld],   zb = [0, 2 etad ld, eta ld^2, 0],

(with stiffening eta and its products in place of eta), so that every convective term comes out of
the same lines that serve a link of fixed length.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...beams.sliding.clamped_mass import SHORTEST_FREE_FRACTION, ClampedMass
from ...beams.sliding.integrals import integrals, spot_fields
from ...beams.sliding.modes import SlidingModes
from ...beams.sliding.rates import Rate, call
from ...beams.sliding.shapes import Beta, SlideIntegrals, SlidingShapes, Spot, Velocity
from ...kernels.scalars import Scalar, Vector, dot, matvec, mul, scale, vadd, zeros
from ...kernels.tape import Node
from .chain import Chain
from .link_inertia import CarryingSection, LinkNumbers

__all__ = ["Slider", "beta_count", "beta_rates", "given_beta", "newton_beta", "numbers_at_lengths"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Slider:
    """What a sliding link's numbers are made from.

    Attributes
    ----------
    fixed
        The numbers that do not depend on the length.
    shapes, velocity
        See `integrals`.
    ratios
        (k,), damping ratio of each shape.
    beta
        Roots of the frequency equation that come from elsewhere, as states of their own; None: by
        Newton's method at the free length.
    stiffening
        A bent beam keeps its length.
    spots
        Sections that carry others, or are asked.
    damped_at
        The free length at which the damping of the whole robot's modes was taken.
    factors
        Of its mass, and of the rotary inertia of sections about x, y, z.
    """

    fixed: LinkNumbers
    shapes: SlidingShapes
    velocity: Velocity
    ratios: tuple[float, ...]
    beta: Beta = None
    stiffening: bool = False
    spots: tuple[Spot, ...] = ()
    damped_at: float | None = None
    factors: tuple[Scalar, ...] = ()

    def at(self, l: Scalar, held: Scalar = None, start: float | None = None) -> LinkNumbers:
        """Return the link's numbers at a free length; its shapes those of another one, if given.

        With `start` they are those of its beam alone, beyond that fraction of the free length.
        """
        at = self._inside(l)
        shapes = self.shapes
        found = integrals(shapes, at, self.velocity, held, self.beta, self.stiffening, start)
        names = ("mass", "first", "second", "P", "X", "G", "J", "JPsi", "PsiJPsi")
        own: dict[str, Any] = {name: getattr(found, name) for name in (*names, "N_end", "Psi_end")}
        if self.factors:
            # The integrals of inertia times its factors
            m, *about = self.factors
            width = len(found.JPsi[0]) // 3
            turns = {"torsion": 0, "xz": 1, "xy": 2}
            axis = [turns.get(kind) for kind in self.shapes.kinds]
            kinds = [axis[j % width] if j % width < len(axis) else None for j in range(3 * width)]
            own |= {
                **{name: mul(m, getattr(found, name)) for name in ("mass", "first", "second")},
                **{name: [scale(m, row) for row in getattr(found, name)] for name in ("P", "X")},
                "G": [[[scale(m, row) for row in part] for part in each] for each in found.G],
                "J": [mul(a, x) for a, x in zip(about, found.J, strict=True)],
                "JPsi": [scale(a, row) for a, row in zip(about, found.JPsi, strict=True)],
                "PsiJPsi": [
                    row if a is None else scale(about[a], row)
                    for a, row in zip(kinds, found.PsiJPsi, strict=True)
                ],
            }
        pairs = shapes.pairs if self.stiffening else ()
        stations = tuple(
            CarryingSection(*spot_fields(shapes, at, spot, self.beta, self.stiffening))
            for spot in (self.spots if start is None else ())
        )
        if start is not None:
            own["root_mass"] = zeros(6, 6)
        return replace(
            self.fixed,
            **own,
            axis=None,
            length=l,
            pairs=pairs,
            slides=True,
            stations=stations,
        )

    def _bending(self, l: Scalar) -> SlideIntegrals:
        wide = self.stiffening and self.velocity == "material"  # they are written already
        return integrals(self.shapes, self._inside(l), "material", None, self.beta, wide)

    def _inside(self, l: Scalar) -> Scalar:
        """A free length as an expression that stays on the beam.

        A run that slides off is ended there by `simulate`; until it looks, the integrator must find
        numbers beyond the beam.
        """
        if isinstance(l, int | float | np.ndarray) or not self.shapes.kinds:
            return l  # a number that was checked, or a rigid carriage, good anywhere
        full_length = self.shapes.beam.L
        if isinstance(l, Node):
            return l.clip(SHORTEST_FREE_FRACTION * full_length, full_length)
        import casadi as ca

        return ca.fmin(ca.fmax(l, SHORTEST_FREE_FRACTION * full_length), full_length)

    def stiffness(self, l: Scalar) -> list[list[Rate]]:
        """Return K(l), (k, k), with its derivative along l."""
        return self._bending(l).K

    def elastic(self, p: Vector) -> Vector:
        """Return the force of bending on [l, eta]: 1/2 eta' (dK/dl) eta, K eta.

        Source: [Theodore1997], Eq. (34), whose prismatic row lacks the first.
        """
        l = p[0]
        eta = p[1:]
        if not eta:
            return [0.0]
        K = self.stiffness(l)
        value, slope = (
            [[getattr(x, part) for x in row] for row in K] for part in ("value", "first")
        )
        row = mul(0.5, dot(eta, matvec(slope, eta))) if self.velocity == "material" else 0.0
        return [row, *matvec(value, eta)]

    def energy(self, p: Vector) -> Scalar:
        """Return the strain energy 1/2 eta' K eta."""
        return mul(0.5, dot(p[1:], self.elastic(p)[1:])) if p[1:] else 0.0

    def damping(self, p: Vector, pd: Vector) -> Vector:
        """Return the force of damping on [l, eta]: that of R = zeta omega (d/dt sqrt(m) eta)^2.

        m is the modal mass, so that the law does not depend on how shapes are scaled along l; at
        constant length it is 2 zeta omega m etad.
        """
        l = p[0]
        eta = p[1:]
        etad = pd[1:]
        if not any(self.ratios):
            return [0.0] * len(p)
        found = self._bending(l)
        drift = [mul(0.5, mul(m.first / m.value, x)) for m, x in zip(found.modal, eta, strict=True)]
        speed = vadd(etad, scale(pd[0], drift))
        force = self.shapes.damping(found, l, list(self.ratios), speed)
        return [dot(drift, force), *force]

    def scales(self, p: Vector) -> list[tuple[Scalar, Scalar]]:
        """Return s and ds/dl eta of every shape: s eta, s = sqrt(m/m_0), is what D is made for.

        m_0 is the modal mass at `damped_at`; so D does not depend on how shapes are scaled along l.
        """
        then = integrals(self.shapes, self.damped_at, "material", None, None, False).modal
        each = zip(self._bending(p[0]).modal, then, p[1:], strict=True)
        s = [(call("sqrt", now.value / first.value), now, x) for now, first, x in each]
        return [(scale, mul(scale, mul(0.5 * now.first / now.value, x))) for scale, now, x in s]


def numbers_at_lengths(
    links: list[LinkNumbers | Slider], eta: list[Vector], held: list[Vector] | None = None
) -> list[LinkNumbers]:
    """Return every link's numbers, those of sliders at their free length, eta[i][0].

    `held` are coordinates whose lengths the shapes belong to, where they are others.
    """
    return [
        link.at(p[0], h[0] if held else None) if isinstance(link, Slider) else link
        for link, p, h in zip(links, eta, held or eta, strict=True)
    ]


def _equations(chain: Chain) -> list[tuple[int, ClampedMass]]:
    """Place in q of the free length, and frequency equation, for every beta of a chain in order."""
    out = []
    for i in chain.sliding:
        slide = chain.links[i].slide
        laws = slide.laws if isinstance(slide, SlidingModes) else ()
        out += [(chain.lengths_at[i], law) for law in laws]
    return out


def beta_count(chain: Chain) -> int:
    """Return the number of beta of all links that slide."""
    return sum(law.count for _, law in _equations(chain))


def newton_beta(chain: Chain, q: Array) -> Array:
    """Return beta (.., b) of all links that slide at states (.., N), by Newton's method."""
    flat = q.reshape(-1, q.shape[-1])
    rows = [
        [b for place, law in _equations(chain) for b in law.roots(float(x[place]))] for x in flat
    ]
    return np.array(rows).reshape(*q.shape[:-1], -1)


def beta_rates(chain: Chain, beta: Vector, q: Vector, qd: Vector) -> Vector:
    """Return d beta/dt = (f_1/f_2) dl/dt.

    Source: [Theodore1997], Eqs. (11)-(13).
    """
    owners = [pair for pair in _equations(chain) for _ in range(pair[1].count)]
    return [
        law.rate(b, q[place]).first * qd[place]
        for b, (place, law) in zip(beta, owners, strict=True)
    ]


def given_beta(
    chain: Chain, links: list[LinkNumbers | Slider], beta: Vector
) -> list[LinkNumbers | Slider]:
    """Return the links with beta of those that slide as given, in the order of `newton_beta`."""
    out = list(links)
    start = 0
    for i in chain.sliding:
        slider = out[i]
        slide = chain.links[i].slide
        if isinstance(slider, Slider) and isinstance(slide, SlidingModes):
            stop = start + sum(law.count for law in slide.laws)
            out[i] = replace(slider, beta=tuple(beta[start:stop]))
            start = stop
    return out
