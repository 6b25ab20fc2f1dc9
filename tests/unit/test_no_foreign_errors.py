"""Numbers, names and drawings that ended in another library's error, or never ended."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.kernels.polygons import crossing, mesh_slenderness, moments


def drawing(*entities: str) -> str:
    """A DXF drawing in millimetres."""
    head = "0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n4\n0\nENDSEC\n0\nSECTION\n2\nENTITIES\n"
    return head + "\n".join(entities) + "\n0\nENDSEC\n0\nEOF\n"


def circle(radius: float) -> str:
    return f"0\nCIRCLE\n10\n0\n20\n0\n40\n{radius}"


def test_a_curve_inside_a_hole_is_refused(tmp_path: Path) -> None:
    """Three circles in one another: what is inside the hole was subtracted once more."""
    place = tmp_path / "a.dxf"
    place.write_text(drawing(circle(20), circle(10), circle(5)))
    with pytest.raises(supple.SuppleError, match="lies inside holes entry 1: a section is one"):
        supple.load_profile(place)
    place.write_text(drawing(circle(20), circle(10)))
    profile = supple.load_profile(place)
    area = moments(profile.outline, profile.holes).A
    assert area == pytest.approx(math.pi * (0.02**2 - 0.01**2), rel=1e-9)


def test_an_arc_of_next_to_no_angle_is_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "a.dxf"
    place.write_text(drawing("0\nARC\n10\n0\n20\n0\n40\n1\n50\n0\n51\n3e-322"))
    with pytest.raises(supple.SuppleError):
        supple.load_profile(place)


def test_a_drawing_of_very_many_corners_is_refused_at_once(tmp_path: Path) -> None:
    corners = "".join(f"\n10\n{math.cos(k)}\n20\n{math.sin(k)}" for k in range(30_000))
    place = tmp_path / "a.dxf"
    place.write_text(drawing(f"0\nLWPOLYLINE\n70\n1{corners}"))
    with pytest.raises(supple.SuppleError, match="more than 20,000 corners"):
        supple.load_profile(place)


def slow_crossing(first: list, second: list) -> bool:
    """Every pair of sides, one after another, in exact arithmetic."""
    from fractions import Fraction

    def sides(loop: list) -> list:
        points = [(Fraction(x), Fraction(y)) for x, y in loop]
        return list(zip(points, [*points[1:], points[0]], strict=True))

    def turn(p: tuple, q: tuple, r: tuple) -> Fraction:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    def meet(a: tuple, b: tuple, c: tuple, d: tuple) -> bool:
        if turn(a, b, c) * turn(a, b, d) > 0 or turn(c, d, a) * turn(c, d, b) > 0:
            return False
        return all(
            max(min(a[k], b[k]), min(c[k], d[k])) <= min(max(a[k], b[k]), max(c[k], d[k]))
            for k in (0, 1)
        )

    one = sides(first)
    two = sides(second)
    if first is second:
        n = len(one)
        pairs = [(i, j) for i in range(n) for j in range(i + 2, n) if (i, j) != (0, n - 1)]
        return any(meet(*one[i], *one[j]) for i, j in pairs)
    return any(meet(*a, *b) for a in one for b in two)


def test_crossing_polygons_as_the_slow_way_finds_them() -> None:
    rng = np.random.default_rng(3)
    answers = set()
    for _ in range(300):
        first, second = (
            [(float(x), float(y)) for x, y in rng.integers(0, 7, (rng.integers(3, 7), 2))]
            for _ in "ab"
        )
        for pair in ((first, second), (first, first)):
            expected = slow_crossing(*pair)
            answers.add(expected)
            one = tuple(pair[0])
            two = one if pair[0] is pair[1] else tuple(pair[1])
            assert crossing(one, two) == expected, pair
    assert answers == {True, False}


def test_thin_strips_are_judged_before_they_are_meshed() -> None:
    strip = ((0.0, 0.0), (1.0, 0.0), (1.0, 1e-6), (0.0, 1e-6))
    assert mesh_slenderness((strip,)) == pytest.approx(2e6, rel=1e-3)
    profile = supple.Profile(outline=strip)
    with pytest.raises(supple.SuppleError, match="give torsion_constant and shear_coefficient"):
        profile.constants()
    assert supple.Profile(outline=strip, torsion_constant=1e-19).constants().J_t == 1e-19
    wall = 1e-3  # of a tube that people do build
    ring = [2 * np.pi * k / 96 for k in range(96)]
    tube = tuple(
        tuple((r * math.cos(a), r * math.sin(a)) for a in ring) for r in (0.05, 0.05 - wall)
    )
    assert mesh_slenderness(tube) < 1000


@pytest.mark.parametrize("effort", [1e16, 1e30])
def test_runs_that_would_never_end_are_refused(effort: float) -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match=r"would be .* steps, at most 3e"):
        supple.simulate(model, [effort, 0.0], duration=0.1)


def test_gravity_that_never_ends_is_refused() -> None:
    robot = supple.load("de-luca-two-link").with_("gravity", [0, -1e30, 0])
    with pytest.raises(supple.SuppleError, match=r"would be .* steps, at most 3e"):
        supple.simulate(supple.build(robot, supple.AssumedModes(1)), duration=0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"samples": 10**400}, "samples is .* give at most 100,000,000"),
        ({"step": 1e-320}, "more than 3e.08 steps: give a longer step"),
        ({"wrench": [[1.0], [1.0, 2.0]]}, "wrench is not an array of numbers"),
        ({"tau": range(10**30)}, "tau holds more than 100,000,000 numbers"),
    ],
)
def test_runs_of_absurd_sizes(options: dict, sentence: str) -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match=sentence):
        supple.simulate(model, **options)


def test_a_range_without_end_is_not_written_out() -> None:
    with pytest.raises(supple.SuppleError, match="theta holds more than 100,000,000 numbers"):
        supple.modes(supple.load("de-luca-two-link"), range(10**12))


def test_a_frequency_whose_square_is_no_number() -> None:
    """As at zero: a robot that nothing holds goes away without end."""
    robot = supple.load("de-luca-two-link")
    answer = supple.response(robot, frequency_hz=[1e-320, 1.0], inputs=["force.y"])
    assert np.isinf(np.abs(answer.values[0])).all()
    assert np.isfinite(answer.values[1]).all()


def test_kinds_of_shapers_that_are_no_words() -> None:
    t = np.arange(0, 2, 0.002)
    with pytest.raises(supple.SuppleError, match="shapers names"):
        supple.calibrate({"t": t, "tip": np.sin(40 * t)}, shapers=[["zv"]])


def test_a_recording_of_very_many_columns_is_refused_at_once(tmp_path: Path) -> None:
    place = tmp_path / "wide.csv"
    row = ",".join("0" for _ in range(300_000))
    place.write_text(f"{row}\n{row}\n")
    with pytest.raises(supple.SuppleError, match="has 300,000 columns, at most 10,000 are read"):
        supple.resonances(place)
