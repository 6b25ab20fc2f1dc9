"""Polygons: area and second moments exactly; torsion and shear by the library sectionproperties."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from ..errors import SuppleError

__all__ = ["PolygonMoments", "Warped", "crossing", "inside", "moments", "warping_properties"]

Points = tuple[tuple[float, float], ...]
MESH_TRIANGLES = 500  # about as many six-noded ones in a mesh
MAX_SLENDERNESS = 10_000.0  # length over thickness of a profile that is meshed
SAMPLES = 8  # points of a side at which the thickness is measured


class PolygonMoments(NamedTuple):
    """Area, centroid and second moments about it: I_z = int y^2, I_y = int z^2, I_yz = int y z."""

    A: float
    y: float
    z: float
    I_z: float
    I_y: float
    I_yz: float


def moments(outline: Points, holes: tuple[Points, ...] = ()) -> PolygonMoments:
    """Return the moments of a polygon less its holes, whichever way round they are listed.

    A = 1/2 sum c, int y = 1/6 sum (y0 + y1) c, int y^2 = 1/12 sum (y0^2 + y0 y1 + y1^2) c,
    int y z = 1/24 sum (2 y0 z0 + y0 z1 + y1 z0 + 2 y1 z1) c with c = y0 z1 - y1 z0 of each side.
    """
    # About the first corner, so that a polygon far from the origin loses no digits
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
        is_hole = k > 0
        listed_clockwise = own[0] <= 0
        sign = -1 if is_hole != listed_clockwise else 1
        total = [a + sign * b for a, b in zip(total, own, strict=True)]
    A, S_y, S_z, yy, zz, yz = total
    if A <= 0:
        return PolygonMoments(A, 0.0, 0.0, 0.0, 0.0, 0.0)
    y = S_y / A
    z = S_z / A
    return PolygonMoments(A, y + y_ref, z + z_ref, yy - A * y * y, zz - A * z * z, yz - A * y * z)


def crossing(first: Points, second: Points) -> bool:
    """Return whether two closed polygons cross or touch, or whether one does itself.

    Every side of one is compared with every side of the other whose bounding box meets its own.
    """
    import numpy as np

    one = np.array(first, float)
    two = np.array(second, float)
    if (one.max(axis=0) < two.min(axis=0)).any() or (two.max(axis=0) < one.min(axis=0)).any():
        return False
    # Sides from a to b of the first, and from c to d of the second
    a = one
    b = np.roll(one, -1, axis=0)
    c = two
    d = np.roll(two, -1, axis=0)
    low = np.minimum(c, d)
    high = np.maximum(c, d)
    last = len(one) - 1
    for i in range(len(one)):
        boxes_meet = (np.maximum(a[i], b[i]) >= low).all(axis=1)
        boxes_meet &= (np.minimum(a[i], b[i]) <= high).all(axis=1)
        if first is second:  # every pair once, without neighbours, which share a corner
            boxes_meet[: i + 2] = False
            boxes_meet[last] &= i != 0
        j = np.flatnonzero(boxes_meet)
        if not len(j):
            continue
        sides = _turn(a[i], b[i], c[j]) * _turn(a[i], b[i], d[j])
        across = _turn(c[j], d[j], a[i]) * _turn(c[j], d[j], b[i])
        if (np.maximum(sides, across) <= 0).any():
            return True
    return False


def _turn(p: Any, q: Any, r: Any) -> Any:
    """Twice the area of the triangles p q r, positive where they turn to the left."""
    first = q - p
    second = r - p
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def inside(point: tuple[float, float], loop: Points) -> bool:
    """Return whether a point lies inside a closed polygon.

    A ray from a point inside crosses an odd number of sides.
    """
    y, z = point
    odd = False
    for (y0, z0), (y1, z1) in zip(loop, (*loop[1:], loop[0]), strict=True):
        reaches_height = (z0 > z) != (z1 > z)
        if reaches_height and y < y0 + (z - z0) / (z1 - z0) * (y1 - y0):
            odd = not odd
    return odd


class Warped(NamedTuple):
    """Torsion constant, m^4; shear coefficients along y and z; shear centre from centroid, m."""

    J_t: float
    k_y: float
    k_z: float
    off_y: float
    off_z: float


def mesh_slenderness(loops: tuple[Points, ...]) -> float:
    """Return the integral along all sides of 1 / (distance to the nearest other side).

    A mesh of well-shaped triangles needs a few of them per length that equals the local thickness,
    so their number is a few times this one with any mesh generator.
    """
    import numpy as np

    starts = np.concatenate([np.array(loop, float) for loop in loops])
    ends = np.concatenate([np.roll(np.array(loop, float), -1, axis=0) for loop in loops])
    # neighbours on the same loop meet in a corner: their distance says nothing
    first = np.cumsum([0, *(len(loop) for loop in loops)])
    before = np.arange(len(starts)) - 1
    after = np.arange(len(starts)) + 1
    before[first[:-1]] = first[1:] - 1
    after[first[1:] - 1] = first[:-1]
    along = ends - starts
    squares = np.maximum((along**2).sum(axis=1), 1e-300)
    total = 0.0
    for k, (start, side) in enumerate(zip(starts, along, strict=True)):
        points = start + np.linspace(0.05, 0.95, SAMPLES)[:, None] * side
        away = points[:, None] - starts
        foot = np.clip((away * along).sum(axis=2) / squares, 0.0, 1.0)
        distance = np.linalg.norm(away - foot[..., None] * along, axis=2)
        distance[:, [k, before[k], after[k]]] = np.inf
        nearest = np.maximum(distance.min(axis=1), 1e-300)
        total += float(np.sqrt(squares[k]) * np.mean(1 / nearest))
    return total


@lru_cache(maxsize=256)
def warping_properties(outline: Points, holes: tuple[Points, ...]) -> Warped:
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
    slenderness = mesh_slenderness((outline, *holes))
    if slenderness > MAX_SLENDERNESS:
        raise SuppleError(
            f"this profile is thin: its sides are {slenderness:.2g} times as long as the material "
            f"between them is thick, and the mesh for torsion and shear would be too large (at "
            f"most {MAX_SLENDERNESS:g}); give torsion_constant and shear_coefficient, of an open "
            "strip sum(length thickness^3) / 3"
        )
    exact = moments(outline, holes)
    size = exact.A**0.5  # the mesh is made for sizes near one
    loops = [
        [((y - exact.y) / size, (z - exact.z) / size) for y, z in loop]
        for loop in (outline, *holes)
    ]
    geometry = Geometry(Polygon(loops[0], loops[1:]))
    geometry.create_mesh(mesh_sizes=[1 / MESH_TRIANGLES])
    section: Any = Section(geometry)
    section.calculate_geometric_properties()
    section.calculate_warping_properties()
    along_y, along_z = (float(value) for value in section.get_as())
    off_y, off_z = (float(value) * size for value in section.get_sc())
    return Warped(float(section.get_j()) * size**4, along_y, along_z, off_y, off_z)
