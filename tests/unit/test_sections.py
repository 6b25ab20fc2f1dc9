"""Sections against closed forms and published values."""

import math

import mpmath
import pytest
from pydantic import TypeAdapter, ValidationError

import supple
from supple.sections import Box, Circle, General, Rectangle, Section, Tube, rectangle_torsion


def test_rectangle_bends_in_x_y_with_depth_cubed() -> None:
    A, I_z, I_y, _, I_p = Rectangle(depth=0.2, width=0.05).constants()
    assert pytest.approx(0.01) == A
    assert pytest.approx(0.05 * 0.2**3 / 12) == I_z
    assert pytest.approx(0.2 * 0.05**3 / 12) == I_y
    assert pytest.approx(I_z + I_y) == I_p


@pytest.mark.parametrize(
    ("ratio", "beta"),
    # Timoshenko and Goodier, Theory of Elasticity, torsion of rectangular bars: J = beta a b^3.
    [(1.0, 0.1406), (1.5, 0.196), (2.0, 0.229), (3.0, 0.263), (4.0, 0.281), (10.0, 0.312)],
)
def test_rectangle_torsion_by_saint_venant(ratio: float, beta: float) -> None:
    assert rectangle_torsion(ratio, 1.0) / ratio == pytest.approx(beta, abs=6e-4)
    assert rectangle_torsion(1.0, ratio) == rectangle_torsion(ratio, 1.0)


@pytest.mark.parametrize("ratio", [1.0, 3.3, 17.5, 19.9, 500.0])
def test_rectangle_torsion_at_any_ratio(ratio: float) -> None:
    """Thirty digits of the series; between 17.4 and 20 the exponentials used to overflow."""
    with mpmath.workdps(30):
        series = mpmath.nsum(
            lambda k: mpmath.tanh((2 * k + 1) * mpmath.pi * ratio / 2) / (2 * k + 1) ** 5,
            [0, mpmath.inf],
        )
        exact = ratio * (mpmath.mpf(1) / 3 - 64 / mpmath.pi**5 / ratio * series)
    assert rectangle_torsion(ratio, 1.0) == pytest.approx(float(exact), rel=1e-14)


def test_thin_strip_torsion_is_a_third() -> None:
    assert rectangle_torsion(1e4, 1.0) / 1e4 == pytest.approx(1 / 3, rel=1e-4)


@pytest.mark.parametrize(
    ("shape", "nu", "value"),
    # Cowper 1966, Table 1: 10 (1 + nu) / (12 + 11 nu) and 6 (1 + nu) / (7 + 6 nu).
    [
        (Rectangle(depth=1, width=0.3), 0.3, 0.849673),
        (Rectangle(depth=1, width=0.3), 0.0, 5 / 6),
        (Circle(diameter=1), 0.3, 0.886364),
        (Circle(diameter=1), 0.0, 6 / 7),
    ],
)
def test_cowper_of_solid_shapes(shape: Rectangle | Circle, nu: float, value: float) -> None:
    assert shape.shear(nu) == pytest.approx((value, value), rel=1e-6)


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.5])
def test_tube_runs_from_circle_to_thin_wall(nu: float) -> None:
    nearly_solid = Tube(diameter=1, wall=0.5 - 1e-9)
    assert nearly_solid.shear(nu) == pytest.approx(Circle(diameter=1).shear(nu), rel=1e-6)
    assert nearly_solid.constants() == pytest.approx(Circle(diameter=1).constants(), rel=1e-6)
    thin = 2 * (1 + nu) / (4 + 3 * nu)  # Cowper 1966, thin-walled round tube
    assert Tube(diameter=1, wall=1e-7).shear(nu)[0] == pytest.approx(thin, rel=1e-6)


def test_thin_tube_constants() -> None:
    d = 0.1
    t = 1e-6
    A, I_z, I_y, J_t, I_p = Tube(diameter=d, wall=t).constants()
    assert pytest.approx(math.pi * d * t, rel=1e-4) == A
    assert pytest.approx(math.pi * d**3 * t / 8, rel=1e-4) == I_z == I_y
    assert J_t == I_p == 2 * I_z


@pytest.mark.parametrize("nu", [0.0, 0.3])
def test_tall_narrow_box_shears_as_a_rectangle(nu: float) -> None:
    tall = Box(depth=1, width=1e-6, wall=1e-8)
    assert tall.shear(nu)[0] == pytest.approx(10 * (1 + nu) / (12 + 11 * nu), rel=1e-4)


def test_square_thin_box_shears_alike_in_both_planes() -> None:
    # Cowper 1966, box with m = n = 1, nu = 0.3: 20.8 * 10 / (324 + 0.3 * 302 + 10 * 6.3).
    expected = 10 * 1.3 * 16 / (324 + 0.3 * 302 + 10 * (3.3 + 3))
    assert Box(depth=1, width=1, wall=1e-9).shear(0.3) == pytest.approx((expected, expected))


def test_shear_of_a_box_knows_proportions_and_planes_alone() -> None:
    flat = Box(depth=0.15, width=0.20, wall=0.01).shear(0.3)
    assert Box(depth=1.5, width=2.0, wall=0.1).shear(0.3) == pytest.approx(flat, rel=1e-12)
    assert Box(depth=0.20, width=0.15, wall=0.01).shear(0.3) == pytest.approx(flat[::-1], rel=1e-12)
    assert flat[0] < flat[1]  # the wider the flanges, the more of the section shears nothing


def test_box_is_outer_minus_inner_and_bredt() -> None:
    A, I_z, I_y, J_t, I_p = Box(depth=0.15, width=0.20, wall=0.01).constants()
    assert pytest.approx(0.15 * 0.20 - 0.13 * 0.18) == A
    assert pytest.approx((0.20 * 0.15**3 - 0.18 * 0.13**3) / 12) == I_z
    assert pytest.approx((0.15 * 0.20**3 - 0.13 * 0.18**3) / 12) == I_y
    assert pytest.approx(4 * (0.14 * 0.19) ** 2 * 0.01 / (2 * (0.14 + 0.19))) == J_t
    assert I_p == I_z + I_y


def test_general_keeps_what_is_given_and_excludes_torsion_without_constant() -> None:
    full = General(area=1, second_moment_z=2, second_moment_y=3, torsion_constant=4, polar_moment=5)
    assert full.constants() == (1, 2, 3, 4, 5)
    assert General(area=1, second_moment_z=2).constants() == (1, 2, 2, math.inf, 4)


def test_shear_coefficient_given_wins_over_cowper() -> None:
    assert Rectangle(depth=1, width=1, shear_coefficient=0.85).shear(0.3) == (0.85, 0.85)
    assert Rectangle(depth=1, width=1, shear_coefficient=(0.8, 0.7)).shear(0.3) == (0.8, 0.7)


@pytest.mark.parametrize(
    "given",
    [
        {"shape": "box", "depth": 1, "width": 1, "wall": 0.5},
        {"shape": "tube", "diameter": 1, "wall": 0.5},
        {"shape": "circle", "diameter": 0},
        {"shape": "circle", "diameter": 1, "shear_coefficient": 0},
        {"shape": "circle", "diameter": math.inf},
        {"shape": "circle", "diameter": "0.1"},
        {"shape": "hexagon", "diameter": 1},
        {"diameter": 1},
    ],
)
def test_impossible_sections_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Section).validate_python(given)


@pytest.mark.parametrize(("ratio", "low"), [(0.1, 0.05), (0.2, 0.13), (0.4, 0.38)])
def test_bredt_is_low_for_thick_walls(ratio: float, low: float) -> None:
    """Square boxes: Bredt's J_t is 5, 13 and 38 % below the solution of the torsion problem."""
    error, right = supple.Box(depth=0.1, width=0.1, wall=0.1 * ratio).torsion_error()
    assert -error == pytest.approx(low, abs=0.006)
    told = supple.Box(depth=0.1, width=0.1, wall=0.1 * ratio, torsion_constant=right)
    assert told.constants().J_t == right
    assert told.torsion_error()[0] == pytest.approx(0, abs=1e-12)


def test_the_torsion_problem_between_its_limits() -> None:
    """All wall: a solid square by Saint-Venant. Thin: Bredt, off by about t / 2 of the side."""
    from supple.kernels.torsion import hollow_rectangle_torsion
    from supple.sections import rectangle_torsion

    solid = hollow_rectangle_torsion(1.0, 1.0, 0.4999)
    assert solid == pytest.approx(rectangle_torsion(1.0, 1.0), rel=2e-3)
    thin = supple.Box(depth=1.0, width=1.0, wall=0.01)
    assert abs(thin.torsion_error()[0]) < 0.006


def test_check_tells_thick_walls() -> None:
    link = {
        "name": "one",
        "length": 1.0,
        "section": {"shape": "box", "depth": 0.1, "width": 0.1, "wall": 0.02},
        "material": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700},
    }
    robot = supple.SerialRobot.model_validate({"name": "arm", "links": [link]})
    notes = " ".join(supple.check(robot).notes)
    assert "Bredt's torsion constant is 13% too low" in notes
    right = supple.Box(depth=0.1, width=0.1, wall=0.02).torsion_error()[1]
    mended = robot.with_("links.one.section.torsion_constant", right)
    assert "Bredt" not in " ".join(supple.check(mended).notes)
    assert "Bredt" not in " ".join(supple.check(robot.with_("planar", True)).notes)
    thin = {**link["section"], "wall": 0.001}
    tapered = {key: value for key, value in link.items() if key != "section"}
    tapered["stations"] = [{"at": 0, "section": thin}, {"at": 1, "section": link["section"]}]
    (note,) = (n for n in supple.check(robot.with_("links", [tapered])).notes if "Bredt" in n)
    assert note.startswith("links.one.stations.1: Bredt's torsion constant is 13% too low")
