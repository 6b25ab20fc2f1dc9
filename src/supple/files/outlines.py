"""Outlines of sections from CAD: the closed curves of a DXF drawing as a Profile."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from ..errors import SuppleError
from ..kernels.polygons import moments
from ..sections import Profile
from ..values import quantity
from .data import read_bytes
from .disk import as_path

__all__ = ["load_profile"]

Point = tuple[float, float]
Group = tuple[int, str]
UNITS = {1: "in", 2: "ft", 4: "mm", 5: "cm", 6: "m"}  # of $INSUNITS
MAX_BYTES = 10_000_000  # bytes
MAX_CURVES = 2000  # curves, of which each is held against every other
MOST_CORNERS = 20_000  # of all curves together
CORNERS_PER_CIRCLE = 96  # corners that a full circle is drawn with
KINDS = ("LINE", "ARC", "CIRCLE", "LWPOLYLINE")


def load_profile(path: str | Path, unit: str | None = None) -> Profile:
    """Read a cross-section from a DXF drawing.

    The section is the largest closed curve of the drawing, less the closed curves inside it.

    Parameters
    ----------
    path : str or path
        DXF file. LINE, ARC, CIRCLE and LWPOLYLINE are read; arcs become polygons of 96 corners per
        turn with the same area.
    unit : str, optional
        Unit of the drawing: mm, cm, m, in or ft. Default: the one stated in the file ($INSUNITS).

    Returns
    -------
    Profile
        The x of the drawing is the y of the section, its y is the section's z.
    """
    name = str(as_path(path))
    # The text of a drawing, not more than a section needs
    try:
        raw = read_bytes(path, MAX_BYTES + 1)
    except (OSError, ValueError, TypeError) as problem:
        raise SuppleError(f"{name} cannot be read: {problem}") from None
    if len(raw) > MAX_BYTES:
        raise SuppleError(f"{name} has more than {MAX_BYTES:,} bytes: save the outline alone")
    lines = raw.decode("utf-8", "replace").splitlines()
    groups = list[Group]()
    for k in range(0, len(lines) - 1, 2):  # pairs of code and value, a line each
        try:
            groups.append((int(lines[k]), lines[k + 1].strip()))
        except ValueError:
            raise SuppleError(
                f"{name} is no DXF drawing in text form (line {k + 1}): save it as ASCII DXF"
            ) from None
    # Metres of one drawing unit
    if unit is None:
        codes = [
            groups[k + 1][1]
            for k, group in enumerate(groups[:-1])
            if group == (9, "$INSUNITS") and groups[k + 1][0] == 70
        ]
        unit = UNITS.get(int(codes[0])) if codes and codes[0].isdecimal() else None
        if unit is None:
            raise SuppleError(f"{name} does not say its unit: give unit='mm', or another")
    if unit not in UNITS.values():
        raise SuppleError(f"unit is {unit!r}: it must be one of {', '.join(UNITS.values())}")
    scale = quantity(f"1 {unit}", "m")
    pieces: list[list[Point]] = []
    count = 0
    for kind, own in _entities(groups):
        if kind not in KINDS:
            raise SuppleError(f"{name}: it holds a {kind[:40]}: only {', '.join(KINDS)} are read")
        if len(pieces) == MAX_CURVES:
            raise SuppleError(
                f"{name} holds more than {MAX_CURVES:,} curves: save the outline alone"
            )
        corners = _corners(kind, own)
        count += len(corners)
        if count > MOST_CORNERS:
            raise SuppleError(
                f"{name} holds more than {MOST_CORNERS:,} corners: save the outline alone, coarser"
            )
        pieces.append([(x * scale, y * scale) for x, y in corners])
    loops = _join_loops(pieces, name)
    if not loops:
        raise SuppleError(f"{name} holds no closed curve: draw the outline of the section")
    loops.sort(key=lambda loop: -abs(moments(tuple(loop)).A))
    return Profile(outline=tuple(loops[0]), holes=tuple(tuple(loop) for loop in loops[1:]))


def _entities(groups: list[Group]) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """Each entity of the drawing with its numbers."""
    inside = False
    kind = ""
    own = list[tuple[int, float]]()
    for k, (code, value) in enumerate(groups):
        if code == 2 and k and groups[k - 1] == (0, "SECTION"):
            inside = value == "ENTITIES"
        elif inside and code == 0:
            if kind:
                yield kind, own
            kind = "" if value == "ENDSEC" else value
            own = []
            inside = value != "ENDSEC"
        elif inside and kind and (10 <= code < 60 or code == 70):
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if not math.isfinite(number):
                raise SuppleError(f"a {kind} has '{value[:20]}' where a number belongs")
            own.append((code, number))


def _first(own: list[tuple[int, float]], code: int) -> float:
    return next((value for c, value in own if c == code), 0.0)


def _arc(centre: Point, r: float, start: float, sweep: float) -> list[Point]:
    """Corners along an arc, both ends among them; inner ones lie out so that its area is kept."""
    count = max(2, math.ceil(abs(sweep) / (2 * math.pi) * CORNERS_PER_CIRCLE))
    step = sweep / count
    chord = math.sin(abs(step))  # zero of an arc of next to no angle
    out = r * math.sqrt(abs(step) / chord) if chord else r  # of a polygon with the circle's area
    corners = []
    for k in range(count + 1):
        size = r if k in (0, count) and abs(sweep) < 6.28 else out
        a = start + k * step
        corners.append((centre[0] + size * math.cos(a), centre[1] + size * math.sin(a)))
    return corners


def _corners(kind: str, own: list[tuple[int, float]]) -> list[Point]:
    """Corners of a LINE, ARC, CIRCLE or LWPOLYLINE in turn.

    A bulge b of a polyline's corner is an arc to the next one that turns by 4 atan b.
    """
    place = (_first(own, 10), _first(own, 20))
    r = _first(own, 40)
    if kind == "LINE":
        return [place, (_first(own, 11), _first(own, 21))]
    if kind == "ARC":
        start, stop = (math.radians(_first(own, code)) for code in (50, 51))
        return _arc(place, r, start, (stop - start) % (2 * math.pi) or 2 * math.pi)
    if kind == "CIRCLE":
        around = _arc(place, r, 0.0, 2 * math.pi)
        return [*around[:-1], around[0]]
    corners: list[list[float]] = []
    for code, value in own:
        if code == 10:
            corners.append([value, 0.0, 0.0])
        elif code in (20, 42) and corners:
            corners[-1][1 if code == 20 else 2] = value
    if not corners:
        raise SuppleError("a LWPOLYLINE has no corners: draw it again, or leave it out")
    closed = int(_first(own, 70)) & 1
    points = [(x, y) for x, y, _ in corners]
    pairs = list(zip(points, [*points[1:], points[0]], [b for *_, b in corners], strict=True))
    out = [points[0]]
    for (x0, y0), (x1, y1), bulge in pairs if closed else pairs[:-1]:
        if bulge:
            sweep = 4 * math.atan(bulge)
            chord = math.hypot(x1 - x0, y1 - y0)
            r = chord / (2 * math.sin(abs(sweep) / 2))
            away = math.copysign(r * math.cos(sweep / 2), bulge) / (chord or 1.0)
            centre = ((x0 + x1) / 2 - (y1 - y0) * away, (y0 + y1) / 2 + (x1 - x0) * away)
            out += _arc(centre, r, math.atan2(y0 - centre[1], x0 - centre[0]), sweep)[1:-1]
        out.append((x1, y1))
    return out


def _join_loops(pieces: list[list[Point]], name: str) -> list[list[Point]]:
    """Closed loops of pieces that meet end to end, each without its first corner again."""
    flat = [value for piece in pieces for point in piece for value in point]
    tolerance = 1e-6 * (max(flat, default=0.0) - min(flat, default=0.0))
    loops = []
    rest = [piece for piece in pieces if len(piece) > 1]
    while rest:
        loop = list(rest.pop())
        while math.dist(loop[0], loop[-1]) > tolerance:
            for k, piece in enumerate(rest):
                turned = piece[::-1] if math.dist(piece[-1], loop[-1]) <= tolerance else piece
                if math.dist(turned[0], loop[-1]) <= tolerance:
                    loop.extend(turned[1:])
                    del rest[k]
                    break
            else:
                x, y = loop[-1]
                raise SuppleError(f"{name}: a curve ends open at ({x:.6g}, {y:.6g}) m: close it")
        loops.append(loop[:-1])
    return loops
