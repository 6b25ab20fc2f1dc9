"""Basis: which shape functions every link of a robot gets, and the kinds there are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from ..answers.immutable import Immutable
from ..arguments import brief, checks_of, counts, instance, one_of, optional, vector
from ..budget import afford
from ..errors import SuppleError
from .fixed.assumed import assumed_shapes
from .fixed.elements import ELEMENTS
from .fixed.reduced import element_shapes
from .shapes import EndLoad, LinkShapes
from .sliding.elements import SlidingElements
from .sliding.following import following_modes
from .sliding.modes import NORMALISATIONS, Normalisation, sliding_modes
from .sliding.shapes import SlidingShapes
from .theory import AnyBeam, Beam

__all__ = ["BASES", "AssumedModes", "Basis", "Count", "FiniteElements"]

Count = int | Sequence[int]
Ends = Literal["distal", "free"] | Sequence[EndLoad]


class Basis(Immutable, ABC):
    """Base class of shape functions for the links of a robot.

    Notes
    -----
    A kind of basis implements:

    1. ``check(names, rigid)`` raises a SuppleError if it does not fit the links of a robot.
    2. ``ends``: load at the end of each link, which determines its damped modes: ``distal`` (the
       rest of the arm at the pose ``at``), ``free``, or one EndLoad per link.
    3. ``shapes(i, beam, end)`` returns the Shapes of link i, zero at its root, polynomial between
       breaks, in the order x-y, x-z, axial, torsion; links differ by entries of lists only.
    4. ``carrying(i, beam, end, places)`` returns them for a link with bodies or closures at places
       inside it, m from its root: those of 3, unless the basis can do better.
    5. ``sliding(i, beam, end)`` returns the shapes of a sliding link i.
    6. ``from_above``: whether frequencies converge to the exact ones from above.
    """

    from_above: ClassVar[bool]
    at: Sequence[float] | None
    ends: Ends

    def __post_init__(self) -> None:
        """Check what does not depend on the robot; EndLoads are kept as a tuple."""
        super().__post_init__()
        ends: Any = self.ends
        if isinstance(ends, list | tuple) and all(isinstance(end, EndLoad) for end in ends):
            known: Any = tuple(ends)
        else:
            given = ends if isinstance(ends, str) else brief(ends)
            known = one_of("distal", "free")("ends", given)
        object.__setattr__(self, "ends", known)

    @abstractmethod
    def check(self, names: Sequence[str], rigid: Sequence[bool]) -> None:
        """Raise a SuppleError unless the basis fits links of these names."""

    def end(self, i: int) -> EndLoad | None:
        """Return the end load of link i, or None for that of the rest of the arm."""
        if isinstance(self.ends, str):
            return None if self.ends == "distal" else EndLoad()
        return self.ends[i]

    def of_link(self, i: int) -> tuple[Any, ...]:
        """Return what it says of link i: links with the same beam and load then have its shapes."""
        given = [getattr(self, part.name) for part in fields(self) if part.name != "at"]  # type: ignore[arg-type]
        return tuple(x[i] if isinstance(x, list | tuple) else x for x in given)

    @abstractmethod
    def shapes(self, i: int, beam: AnyBeam, end: EndLoad) -> LinkShapes:
        """Return the shapes of link i."""

    def carrying(
        self, i: int, beam: AnyBeam, end: EndLoad, places: tuple[float, ...]
    ) -> LinkShapes:
        """Return the shapes of link i that carries something at places inside it."""
        return self.shapes(i, beam, end)

    @abstractmethod
    def sliding(self, i: int, beam: AnyBeam, end: EndLoad) -> SlidingShapes:
        """Return the shapes of a link i that slides."""


checks_of(Basis)(instance(Basis, "a Basis, such as supple.AssumedModes(2)"))


@dataclass(frozen=True)
class AssumedModes(Basis):
    """Basis of the lowest natural shapes of each link, with a load at its end.

    Parameters
    ----------
    count : int or sequence of int
        Modes per bending plane, for every link or one number per link.
    ends : {"distal", "free"} or sequence of EndLoad
        Load at the end of each link: the rest of the arm at `at` (with (MD) = 0), none, or as
        given.
    at : sequence of float, optional
        Joint coordinates at which the rest of the robot is evaluated. Default: sliding links fully
        extended and other joints at zero; those of a mechanism at their `start`.
    axial, torsion : int or sequence of int, optional
        Modes in tension and in torsion. Default torsion: one for links that have torsional
        stiffness and inertia, which only spatial robots do.
    normalisation : {"mass", "one", "integral", "tip", "unit"}
        Scaling of the shapes of a sliding link along its length: as for other links, C_i = 1 of the
        paper, unit integral of psi^2, unit tip value, or constant modal mass. The motion does not
        depend on it.
    root : {"clamped", "pinned", "free"}
        Root of a link whose natural shapes are taken: clamped, free to turn about its joint
        ("unconstrained" shapes, without the inertia of hub and rotor), or free altogether. Shapes
        are measured from the place and the tangent of the root, which joint or hub carries, so
        that efforts of the joints do no work on them; those of a sliding link that is not clamped
        stretch with the length outside. All converge to the same answers; pinned and free shapes
        have no moment at the root and do so slowly where a joint is held or a hub clamps.

    References
    ----------
    [DeLuca1991], Eqs. (16)-(22), (28); [Theodore1997], section III.B, of driven ends.

    Examples
    --------
    >>> import supple
    >>> supple.build(supple.load("industrial-3"), supple.AssumedModes([2, 1, 1])).size
    7
    """

    count: Count
    ends: Ends = "distal"
    at: Sequence[float] | None = None
    axial: Count = 0
    torsion: Count | None = None
    normalisation: Normalisation = "mass"
    root: Literal["clamped", "pinned", "free"] = "clamped"
    from_above: ClassVar[bool] = True

    checks: ClassVar = {
        "count": counts(0),
        "at": optional(vector()),
        "axial": counts(0),
        "torsion": optional(counts(0)),
        "normalisation": one_of(*NORMALISATIONS),
        "root": one_of("clamped", "pinned", "free"),
    }

    def check(self, names: Sequence[str], rigid: Sequence[bool]) -> None:
        """Raise a SuppleError unless counts and ends fit links of these names."""
        for word in ("count", "axial", "torsion"):
            if getattr(self, word) is not None:
                check_count(word, getattr(self, word), len(names))
        if self.normalisation not in NORMALISATIONS:
            raise SuppleError(
                f"normalisation is '{self.normalisation}': give {', '.join(NORMALISATIONS)}"
            )
        each = [
            2 * per_link(self.count, i)
            + per_link(self.axial, i)
            + (1 if self.torsion is None else per_link(self.torsion, i))
            for i in range(len(names))
        ]
        _check_links(self, names, rigid, each, "mode")

    def shapes(self, i: int, beam: AnyBeam, end: EndLoad) -> LinkShapes:
        """Return the natural shapes of link i."""
        axial = per_link(self.axial, i)
        torsion = self._twists(i, beam, end)
        if torsion and beam.deforms.GJ and beam.mass_matrix()[3, 3] + end.about[0] <= 0:
            raise SuppleError(
                f"torsion is {torsion} but link {i + 1} has no inertia in torsion: give it "
                "polar_inertia_per_length, or ask for torsion=0 there"
            )
        return assumed_shapes(beam, end, per_link(self.count, i), axial, torsion, self.root)

    def sliding(self, i: int, beam: AnyBeam, end: EndLoad) -> SlidingShapes:
        """Return natural shapes that follow the free length.

        Of a beam with stations, or with a root that is not clamped, they are those of its whole
        length, stretched to the free one.
        """
        axial = per_link(self.axial, i) if beam.deforms.EA else 0
        more = any(beam.deforms.kGA) or axial > 0
        found: SlidingShapes | None = None
        clamped = self.root == "clamped"
        if isinstance(beam, Beam) and more and clamped:
            load = EndLoad(end.mass, end.about, end.moment)
            count = per_link(self.count, i)
            torsion = self._twists(i, beam, end)
            found = following_modes(beam, load, count, axial, torsion)
        if found is not None:
            return found
        if not isinstance(beam, Beam) or more or not clamped:
            shapes = self.shapes(i, beam, end)
            # series end where all that follows is below 1e-11
            size = np.abs(shapes.coefficients).max(axis=(0, 1, 3))  # (k,)
            seen = (np.abs(shapes.coefficients) > 1e-11 * size[:, None]).any(axis=(0, 1, 2))
            terms = int(np.nonzero(seen)[0][-1]) + 1
            short = LinkShapes(shapes.breaks, shapes.coefficients[..., :terms], shapes.kinds)
            return SlidingElements(beam, end, short)
        count = per_link(self.count, i)
        torsion = self._twists(i, beam, end)
        return sliding_modes(beam, end, count, torsion, self.normalisation)

    def _twists(self, i: int, beam: AnyBeam, end: EndLoad) -> int:
        """How many shapes in torsion link i gets."""
        if self.torsion is not None:
            return per_link(self.torsion, i)
        return int(beam.deforms.GJ and beam.mass_matrix()[3, 3] + end.about[0] > 0)


@dataclass(frozen=True)
class FiniteElements(Basis):
    """Basis of finite elements on each link, complete or reduced to a few coordinates.

    Parameters
    ----------
    count : int or sequence of int
        Elements, for every link or one number per link.
    order : {"cubic", "quintic"}
        Order of the elements.
    modes : int or sequence of int, optional
        Reduce each deformation of a link to its static shapes under unit motions of the end and
        this many natural shapes with the end fixed. Default: keep every coordinate.
    at, ends
        As for `AssumedModes`, for the modes to which a damping ratio belongs. The elements
        themselves need no end load.

    References
    ----------
    [CraigBampton1968] for the reduction, with the root clamped and the end as interface.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.FiniteElements(2))
    >>> model.size
    10
    """

    count: Count
    order: str = "cubic"
    modes: Count | None = None
    at: Sequence[float] | None = None
    ends: Ends = "distal"
    from_above: ClassVar[bool] = True

    checks: ClassVar = {
        "count": counts(0),
        "modes": optional(counts(0)),
        "at": optional(vector()),
        "order": one_of(*ELEMENTS),
    }

    def check(self, names: Sequence[str], rigid: Sequence[bool]) -> None:
        """Raise a SuppleError unless counts and order fit links of these names."""
        check_count("count", self.count, len(names))
        if self.modes is not None:
            check_count("modes", self.modes, len(names))
        if self.order not in ELEMENTS:
            raise SuppleError(f"order is '{self.order}': choose one of {', '.join(ELEMENTS)}")
        each = [3 * per_link(self.count, i) for i in range(len(names))]
        _check_links(self, names, rigid, each, "element")

    def shapes(self, i: int, beam: AnyBeam, end: EndLoad) -> LinkShapes:
        """Return the shapes of link i's elements."""
        return self.carrying(i, beam, end, ())

    def carrying(
        self, i: int, beam: AnyBeam, end: EndLoad, places: tuple[float, ...]
    ) -> LinkShapes:
        """Return the shapes of elements that meet at these places, where shear and moment jump."""
        modes = None if self.modes is None else per_link(self.modes, i)
        return element_shapes(beam, per_link(self.count, i), self.order, modes, places)

    def sliding(self, i: int, beam: AnyBeam, end: EndLoad) -> SlidingShapes:
        """Return the same elements on the part outside, stretched with it."""
        return SlidingElements(beam, end, self.shapes(i, beam, end))


def per_link(count: Count, i: int) -> int:
    """Return the entry of link i of a number given for all links or for each."""
    return count if isinstance(count, int) else int(count[i])


def _check_links(
    basis: AssumedModes | FiniteElements,
    names: Sequence[str],
    rigid: Sequence[bool],
    each: Sequence[int],
    what: str,
) -> None:
    """Raise a SuppleError unless every link that bends has a shape, and each link has its end.

    A model with `each` coordinates on its links is judged before their integrals are taken: two
    links of 65 coordinates: 56,000 operations, 32 MB, 4 s; both grow with the square.
    """
    for i, name in enumerate(names):
        if not rigid[i] and per_link(basis.count, i) < 1:
            raise SuppleError(
                f"{type(basis).__name__} gives {name} no {what}: give it at least one, or set its "
                "theory to rigid"
            )
    ends = basis.ends
    links = len(names)
    if not isinstance(ends, str) and len(ends) != links:
        raise SuppleError(f"ends has {len(ends)} entries: give one EndLoad for each of {links}")
    bent = [n for n, stiff in zip(each, rigid, strict=True) if not stiff]
    square = float(sum(n**2 for n in bent))
    subject = f"a model with {max(bent, default=0):,} coordinates on a link"
    afford(subject, 4e-6 * square, 5e-4 * square, f"give fewer {what}s")


def check_count(word: str, count: Count, links: int) -> None:
    """Raise a SuppleError unless `count` is a whole number, or one for each link."""
    given: list[Any] = [count] if isinstance(count, int) else list(count)
    integers = all(isinstance(n, int) or hasattr(n, "dtype") for n in given)
    if not integers or any(isinstance(n, bool) or int(n) != n or n < 0 for n in given):
        raise SuppleError(f"{word} is {count}: give whole numbers that are not negative")
    if not isinstance(count, int) and len(given) != links:
        raise SuppleError(
            f"{word} has {len(given)} entries: give one number, or one for each of {links} links"
        )


BASES: dict[str, type[Basis]] = {"assumed": AssumedModes, "elements": FiniteElements}
