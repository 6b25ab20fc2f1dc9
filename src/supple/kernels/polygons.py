"""Polygons: area and second moments exactly; torsion and shear by the library sectionproperties."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

from ..errors import SuppleError

__all__ = ["Moments", "Warped", "crossing", "inside", "moments", "warped"]

Points = tuple[tuple[float, float], ...]
TRIANGLES = 500  # about as many six-noded ones in a mesh


class Moments(NamedTuple):
    """Area, centroid and second moments about it: I_z = int y^2, I_y = int z^2, I_yz = int y z."""

    A: float
    y: float
    z: float
    I_z: float
    I_y: float
    I_yz: float


def moments(outline: Points, holes: tuple[Points, ...] = ()) -> Moments:
    """Return the moments of a polygon less its holes, whichever way round they are listed.

    A = 1/2 sum c, int y = 1/6 sum (y0 + y1) c, int y^2 = 1/12 sum (y0^2 + y0 y1 + y1^2) c,
    int y z = 1/24 sum (2 y0 z0 + y0 z1 + y1 z0 + 2 y1 z1) c with c = y0 z1 - y1 z0 of each side.
    """
    y_ref, z_ref = outline[0]
    total = [0.0] * 6
    for k, loop in enumerate((outline, *holes)):
        own = [0.0] * 6
        points = [(y - y_ref, z - z_ref) for y, z in loop]
        for (y0, z0), (y1, z1) in zip(points, (*points[1:], points[0]), strict=True):
            c = y0 * z1 - y1 * z0
            own[0] += c / 2
            own[1] += (y0 + y1) * c / 6
            own[2] += (z0 + z1) * c / 6
            own[3] += (y0 * y0 + y0 * y1 + y1 * y1) * c / 12
            own[4] += (z0 * z0 + z0 * z1 + z1 * z1) * c / 12
            own[5] += (2 * y0 * z0 + y0 * z1 + y1 * z0 + 2 * y1 * z1) * c / 24
        sign = (1 if own[0] > 0 else -1) * (-1 if k else 1)
        total = [a + sign * b for a, b in zip(total, own, strict=True)]
    A, S_y, S_z, yy, zz, yz = total
    if A <= 0:
        return Moments(A, 0.0, 0.0, 0.0, 0.0, 0.0)
    y, z = S_y / A, S_z / A
    return Moments(A, y + y_ref, z + z_ref, yy - A * y * y, zz - A * z * z, yz - A * y * z)


def crossing(first: Points, second: Points) -> bool:
    """Return whether two closed polygons cross or touch, or whether one does itself."""
    one, two = ([*zip(loop, (*loop[1:], loop[0]), strict=True)] for loop in (first, second))
    if first is second:
        pairs = [
            (one[i], one[j])
            for i, j in combinations(range(len(one)), 2)
            if j - i not in (1, len(one) - 1)
        ]
    else:
        pairs = [(a, b) for a in one for b in two]
    return any(_meet(*a, *b) for a, b in pairs)


def _meet(a: Any, b: Any, c: Any, d: Any) -> bool:
    """Whether the segments a b and c d have a point in common."""

    def side(p: Any, q: Any, r: Any) -> float:
        turn: float = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
        return turn

    across = side(a, b, c) * side(a, b, d), side(c, d, a) * side(c, d, b)
    if max(across) > 0:
        return False
    spans = ((a[k], b[k], c[k], d[k]) for k in (0, 1))
    return all(max(min(p, q), min(r, s)) <= min(max(p, q), max(r, s)) for p, q, r, s in spans)


def inside(point: tuple[float, float], loop: Points) -> bool:
    """Return whether a point lies inside a closed polygon: a ray from it leaves an odd number."""
    (y, z), odd = point, False
    for (y0, z0), (y1, z1) in zip(loop, (*loop[1:], loop[0]), strict=True):
        if (z0 > z) != (z1 > z) and y < y0 + (z - z0) / (z1 - z0) * (y1 - y0):
            odd = not odd
    return odd


class Warped(NamedTuple):
    """Torsion constant, m^4; shear coefficients along y and z; shear centre from centroid, m."""

    J_t: float
    k_y: float
    k_z: float
    off_y: float
    off_z: float


@lru_cache(maxsize=256)
def warped(outline: Points, holes: tuple[Points, ...]) -> Warped:
    """Return torsion constant, shear coefficients and shear centre of a polygon, on a mesh.

    Saint-Venant's torsion and the energy of the shear stresses at Poisson's ratio zero, on a mesh
    of quadratic triangles. A sentence names the library where it is not installed.
    """
    try:
        from sectionproperties.analysis.section import Section
        from sectionproperties.pre.geometry import Geometry
        from shapely import Polygon
    except ImportError:
        raise SuppleError(
            "torsion and shear of a profile are computed by sectionproperties: install it by "
            "pip install 'supple[sections]', or give torsion_constant and shear_coefficient"
        ) from None
    exact = moments(outline, holes)
    size = exact.A**0.5  # the mesh is made for sizes near one
    loops = [
        [((y - exact.y) / size, (z - exact.z) / size) for y, z in loop]
        for loop in (outline, *holes)
    ]
    geometry = Geometry(Polygon(loops[0], loops[1:]))
    geometry.create_mesh(mesh_sizes=[1 / TRIANGLES])
    section: Any = Section(geometry)
    section.calculate_geometric_properties()
    section.calculate_warping_properties()
    along_y, along_z = (float(value) for value in section.get_as())
    off_y, off_z = (float(value) * size for value in section.get_sc())
    return Warped(float(section.get_j()) * size**4, along_y, along_z, off_y, off_z)
