"""Cross-sections: sizes in, geometric constants out. `depth` lies in the link's x-y plane.

Sections are doubly symmetric. `second_moment_z` resists bending in x-y, `second_moment_y` in x-z.
Shear coefficients default to Cowper's values for the shape, which depend on Poisson's ratio nu.
Source: [Cowper1966], Table 1 (rectangle, circle, hollow circle, thin-walled box).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from .faults import Description
from .kernels.polygons import Points, Warped, crossing, inside, moments, warping_properties
from .values import Before, Coordinate, Pair, Positive, Size, as_pair, as_tuple, fault

__all__ = [
    "Box",
    "Circle",
    "Constants",
    "General",
    "Profile",
    "Rectangle",
    "Section",
    "Shape",
    "Tube",
]


CORNERS = 1000
ZETA_5 = 1.0369277551433699263


class Constants(NamedTuple):
    """Geometric constants of a section: area m^2, second moments m^4 (I_z: bending in x-y)."""

    A: float
    I_z: float
    I_y: float
    J_t: float
    I_p: float


ShearPair = Annotated[Pair, Before(as_pair, json_schema_input_type=float | Pair)]


class Shape(Description, ABC):
    """A cross-section. Duties of a shape:

    1. `constants()`: area, second moments, torsion constant (inf: no torsion), polar moment.
    2. `cowper(nu)`: its default shear coefficients in x-y and x-z at Poisson's ratio nu.
    """

    shear_coefficient: ShearPair | None = Field(
        default=None, description="one value or [x-y, x-z]; Cowper's for the shape by default"
    )

    @model_validator(mode="after")
    def _positive_shear(self) -> Self:
        if self.shear_coefficient is not None and min(self.shear_coefficient) <= 0:
            raise fault(
                f"shear_coefficient is {list(self.shear_coefficient)}: "
                "it must be positive, usually 0.4 to 1"
            )
        return self

    @abstractmethod
    def constants(self) -> Constants:
        """Area, second moments, torsion constant and polar moment."""

    @abstractmethod
    def cowper(self, nu: float) -> tuple[float, float]:
        """Shear coefficients in x-y and x-z by Cowper's formulas."""

    def shear(self, nu: float) -> tuple[float, float]:
        """Shear coefficients in x-y and x-z: those given, else Cowper's for Poisson's ratio nu."""
        return self.shear_coefficient or self.cowper(nu)


def rectangle_torsion(depth: float, width: float) -> float:
    """Saint-Venant's torsion constant of a rectangle, a >= b.

    J_t = a b^3 [1/3 - (64/pi^5) (b/a) sum_{n odd} tanh(n pi a / 2 b) / n^5], the sum as that of
    1 / n^5, 31 zeta(5) / 32, less the quickly falling one of 1 - tanh.
    """
    a = max(depth, width)
    b = min(depth, width)
    falls = [math.exp(-n * math.pi * a / b) for n in range(1, 14, 2)]
    rest = (2 * e / (1 + e) / (2 * k + 1) ** 5 for k, e in enumerate(falls))
    series = 31 / 32 * ZETA_5 - sum(rest)
    return a * b**3 * (1 / 3 - 64 / math.pi**5 * (b / a) * series)


class Rectangle(Shape):
    """A solid rectangular section: `depth` in the x-y plane, `width` in the x-z plane.

    Examples
    --------
    >>> import supple
    >>> supple.Rectangle(depth=0.02, width=0.05).shape
    'rectangle'
    """

    shape: Literal["rectangle"] = "rectangle"
    depth: Size
    width: Size

    def constants(self) -> Constants:
        h = self.depth
        b = self.width
        I_z = b * h**3 / 12
        I_y = h * b**3 / 12
        return Constants(h * b, I_z, I_y, rectangle_torsion(h, b), I_z + I_y)

    def cowper(self, nu: float) -> tuple[float, float]:
        value = 10 * (1 + nu) / (12 + 11 * nu)
        return value, value


def _box_shear(depth: float, width: float, nu: float) -> float:
    """Cowper's thin-walled box of uniform wall, loaded along `depth` (mid-line sizes)."""
    n = width / depth
    m = n  # flange area over web area: equal walls
    top = 10 * (1 + nu) * (1 + 3 * m) ** 2
    bottom = 12 + 72 * m + 150 * m**2 + 90 * m**3 + nu * (11 + 66 * m + 135 * m**2 + 90 * m**3)
    return top / (bottom + 10 * n**2 * ((3 + nu) * m + 3 * m**2))


class Box(Shape):
    """A rectangular tube of uniform wall; `depth` and `width` are outer sizes.

    Torsion follows Bredt's formula for thin walls unless `torsion_constant` is given. The formula
    is low by about half the ratio of wall to side, see `torsion_error`.

    Examples
    --------
    >>> import supple
    >>> supple.Box(depth=0.15, width=0.2, wall=0.01).depth
    0.15
    """

    shape: Literal["box"] = "box"
    depth: Size
    width: Size
    wall: Size
    torsion_constant: Positive | None = Field(
        default=None, description="m^4; Bredt's for thin walls by default"
    )

    @model_validator(mode="after")
    def _hollow(self) -> Self:
        if 2 * self.wall >= min(self.depth, self.width):
            raise fault(
                f"wall is {self.wall:g}: it must be below half the smaller outer size "
                f"{min(self.depth, self.width):g}; for a solid bar use shape: rectangle"
            )
        return self

    def constants(self) -> Constants:
        """Outer minus inner rectangle; torsion by Bredt, 2 t b^2 h^2 / (b + h) on the mid-line."""
        h = self.depth
        b = self.width
        t = self.wall
        h_inner = h - 2 * t
        b_inner = b - 2 * t
        h_mid = h - t
        b_mid = b - t

        area = h * b - h_inner * b_inner
        I_z = (b * h**3 - b_inner * h_inner**3) / 12
        I_y = (h * b**3 - h_inner * b_inner**3) / 12
        J_t = self.torsion_constant or 2 * t * (b_mid * h_mid) ** 2 / (b_mid + h_mid)
        return Constants(area, I_z, I_y, J_t, I_z + I_y)

    def cowper(self, nu: float) -> tuple[float, float]:
        d = self.depth - self.wall
        w = self.width - self.wall
        return _box_shear(d, w, nu), _box_shear(w, d, nu)

    def torsion_error(self) -> tuple[float, float]:
        """Return how far J_t is from the solution of the torsion problem, relative, and that J_t.

        Bredt's is 5 % low at wall / side 0.1, 13 % at 0.2 and 38 % at 0.4 of a square.
        """
        from .kernels.torsion import hollow_rectangle_torsion  # loads NumPy

        right = hollow_rectangle_torsion(self.depth, self.width, self.wall)
        return self.constants().J_t / right - 1, right


def _round(outer: float, inner: float) -> Constants:
    second = math.pi * (outer**4 - inner**4) / 64
    return Constants(math.pi * (outer**2 - inner**2) / 4, second, second, 2 * second, 2 * second)


class Circle(Shape):
    """A solid round section.

    Examples
    --------
    >>> import supple
    >>> supple.Circle(diameter=0.02).diameter
    0.02
    """

    shape: Literal["circle"] = "circle"
    diameter: Size

    def constants(self) -> Constants:
        return _round(self.diameter, 0.0)

    def cowper(self, nu: float) -> tuple[float, float]:
        value = 6 * (1 + nu) / (7 + 6 * nu)
        return value, value


class Tube(Shape):
    """A round tube; `diameter` is the outer one.

    Examples
    --------
    >>> import supple
    >>> supple.Tube(diameter=0.08, wall=0.003).wall
    0.003
    """

    shape: Literal["tube"] = "tube"
    diameter: Size
    wall: Size

    @model_validator(mode="after")
    def _hollow(self) -> Self:
        if 2 * self.wall >= self.diameter:
            raise fault(
                f"wall is {self.wall:g}: it must be below half the diameter {self.diameter:g}; "
                "for a solid bar use shape: circle"
            )
        return self

    def constants(self) -> Constants:
        return _round(self.diameter, self.diameter - 2 * self.wall)

    def cowper(self, nu: float) -> tuple[float, float]:
        m2 = (1 - 2 * self.wall / self.diameter) ** 2
        s = (1 + m2) ** 2
        value = 6 * (1 + nu) * s / ((7 + 6 * nu) * s + (20 + 12 * nu) * m2)
        return value, value


class General(Shape):
    """A section given by its constants; without a torsion constant torsion is excluded."""

    shape: Literal["general"] = "general"
    area: Positive
    second_moment_z: Positive
    second_moment_y: Positive | None = None
    torsion_constant: Positive | None = None
    polar_moment: Positive | None = None

    def constants(self) -> Constants:
        I_z = self.second_moment_z
        I_y = self.second_moment_y or I_z
        return Constants(
            self.area, I_z, I_y, self.torsion_constant or math.inf, self.polar_moment or I_z + I_y
        )

    def cowper(self, nu: float) -> tuple[float, float]:
        """5/6 in both planes: nothing is known of the shape."""
        return 5 / 6, 5 / 6


Corners = Annotated[
    tuple[Annotated[tuple[Coordinate, Coordinate], Before(as_tuple)], ...],
    Before(as_tuple),
]


class Profile(Shape):
    """A section given by its outline: corners [y, z] in order, and those of its holes.

    The beam axis runs through the centroid, wherever the corners are measured from. Area and second
    moments are exact; torsion constant and shear coefficients, unless given, are computed by the
    library sectionproperties on a mesh (an optional extra).
    """

    shape: Literal["profile"] = "profile"
    outline: Corners
    holes: Annotated[tuple[Corners, ...], Before(as_tuple)] = ()
    torsion_constant: Positive | None = Field(
        default=None, description="m^4; computed by sectionproperties by default"
    )

    def _problem(self) -> str | None:
        """The first thing that makes this no section, as a sentence."""
        loops: list[tuple[str, Points]] = [("outline", self.outline)]
        loops += [(f"holes entry {k + 1}", hole) for k, hole in enumerate(self.holes)]
        for name, loop in loops:
            if not 3 <= len(loop) <= CORNERS:
                return f"{name} has {len(loop)} corners: give 3 to {CORNERS} of them, as [y, z]"
            if crossing(loop, loop):
                return f"{name} crosses itself: list its corners in turn"
        for name, loop in loops[1:]:
            if crossing(self.outline, loop) or not inside(loop[0], self.outline):
                return f"{name} does not lie inside the outline"
        for i, hole in enumerate(self.holes):
            for k, other in enumerate(self.holes[:i]):
                if crossing(hole, other):
                    return "holes cross one another: join them into one"
                for inner, outer in ((i, k), (k, i)):
                    if inside(self.holes[inner][0], self.holes[outer]):
                        return (
                            f"holes entry {inner + 1} lies inside holes entry {outer + 1}: a "
                            "section is one piece, leave out what is inside a hole"
                        )
        A, _, _, I_z, I_y, I_yz = moments(self.outline, self.holes)
        if A <= 0:
            return "outline encloses no area: list its corners in turn, the holes inside it"
        if abs(I_yz) > 1e-6 * max(I_z, I_y):
            angle = math.degrees(math.atan2(-2 * I_yz, I_z - I_y) / 2)
            return (
                f"outline has its principal axes turned by {-angle:.4g} deg: turn its corners by "
                f"{angle:.4g} deg, so that they lie along y and z, and the link by roll"
            )
        return None

    def warping_properties(self) -> Warped:
        """Torsion constant, shear coefficients and shear centre on a mesh."""
        return warping_properties(self.outline, self.holes)

    def constants(self) -> Constants:
        A, _, _, I_z, I_y, _ = moments(self.outline, self.holes)
        return Constants(
            A, I_z, I_y, self.torsion_constant or self.warping_properties().J_t, I_z + I_y
        )

    def cowper(self, nu: float) -> tuple[float, float]:
        """Shear coefficients by the energy of the shear stresses, as Cowper's at nu = 0."""
        return self.warping_properties()[1:3]

    def half_sizes(self) -> tuple[float, float]:
        """How far its corners lie from the centroid along y and along z at most, m."""
        centre = self.centre()
        y, z = (max(abs(p[k] - centre[k]) for p in self.outline) for k in (0, 1))
        return y, z

    def centre(self) -> tuple[float, float]:
        """Return the centroid, in the axes in which corners are given, m."""
        return moments(self.outline, self.holes)[1:3]

    def general(self, nu: float) -> General:
        """Return the same by its constants, as `general` gives them."""
        A, I_z, I_y, J_t, I_p = self.constants()
        return General(
            area=A,
            second_moment_z=I_z,
            second_moment_y=I_y,
            torsion_constant=J_t,
            polar_moment=I_p,
            shear_coefficient=self.shear(nu),
        )


Section = Annotated[
    Rectangle | Box | Circle | Tube | General | Profile, Field(discriminator="shape")
]
