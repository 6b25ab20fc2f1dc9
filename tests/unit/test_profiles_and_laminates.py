"""Profiles by their corners and walls of plies, against closed forms and other routes."""

import math
import sys

import numpy as np
import pytest

import supple
from supple.beams.theory import uniform_of
from supple.beams.varying import beam_of
from supple.kernels.polygons import moments, warping_properties
from supple.kernels.torsion import hollow_rectangle_torsion
from supple.sections import Box, Profile, Rectangle, Tube
from supple.view.scene.drawing import draw_robot

CARBON = {
    "young_modulus": 135e9,
    "transverse_modulus": 10e9,
    "shear_modulus": 5e9,
    "poisson_ratio": 0.3,
    "density": 1600,
}


def corners(depth: float, width: float, y: float = 0.0, z: float = 0.0) -> list[list[float]]:
    h = depth / 2
    b = width / 2
    return [[y - h, z - b], [y + h, z - b], [y + h, z + b], [y - h, z + b]]


def arm(material: object, section: object, **link: object) -> supple.Robot:
    return supple.SerialRobot(
        name="arm",
        links=[supple.Link(name="a", length=1.0, material=material, section=section, **link)],
        gravity=[0, 0, -9.81],
    )


# --- profiles --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_rectangle_anywhere_either_way_round_is_a_rectangle() -> None:
    want = Rectangle(depth=0.2, width=0.05).constants()
    for outline in (corners(0.2, 0.05, 3.0, -7.0), corners(0.2, 0.05)[::-1]):
        made = Profile(outline=outline)
        A, I_z, I_y, J_t, I_p = made.constants()
        assert (A, I_z, I_y, I_p) == pytest.approx((*want[:3], want[4]), rel=1e-12)
        assert pytest.approx(want.J_t, rel=1e-4) == J_t  # Saint-Venant's series
        assert made.shear(0.3) == pytest.approx((5 / 6, 5 / 6), rel=1e-4)  # energy of a parabola


@pytest.mark.slow
def test_a_hollow_profile_is_a_box_and_twists_as_the_torsion_problem_says() -> None:
    depth = 0.2
    width = 0.12
    wall = 0.012
    inner = corners(depth - 2 * wall, width - 2 * wall)
    made = Profile(outline=corners(depth, width), holes=[inner])
    want = Box(depth=depth, width=width, wall=wall).constants()
    assert made.constants()[:3] == pytest.approx(want[:3], rel=1e-12)
    right = hollow_rectangle_torsion(depth, width, wall)
    assert made.constants().J_t == pytest.approx(right, rel=2e-3)
    assert want.J_t / right < 0.99  # Bredt's would not have passed


@pytest.mark.slow
def test_many_corners_are_a_circle() -> None:
    n = np.arange(400) * 2 * np.pi / 400
    made = Profile(outline=np.stack([0.1 * np.cos(n), 0.1 * np.sin(n)], axis=1))
    A, I_z, _, J_t, _ = made.constants()
    assert pytest.approx(math.pi * 0.01, rel=1e-4) == A
    assert pytest.approx(math.pi * 1e-4 / 4, rel=2e-4) == I_z
    assert pytest.approx(2 * I_z, rel=2e-4) == J_t  # warping-free
    assert made.shear(0.0)[0] == pytest.approx(6 / 7, rel=1e-3)  # [Cowper1966] at nu = 0


def test_a_triangle_has_its_textbook_moments() -> None:
    found = moments(((0.0, 0.0), (0.3, 0.0), (0.0, 0.2)))
    assert pytest.approx(0.03) == found.A
    assert (found.y, found.z) == pytest.approx((0.1, 0.2 / 3))
    assert found.I_z == pytest.approx(0.2 * 0.3**3 / 36)
    assert found.I_yz == pytest.approx(-((0.2 * 0.3) ** 2) / 72)


@pytest.mark.slow
def test_a_channel_has_its_shear_centre_outside_and_check_says_so() -> None:
    b = 0.06
    h = 0.10
    t = 0.002
    outline = [[0, 0], [h, 0], [h, b], [h - t, b], [h - t, t], [t, t], [t, b], [0, b]]
    made = Profile(outline=outline)
    bm = b - t / 2
    hm = h - t
    e = 3 * bm**2 / (hm + 6 * bm)  # thin channel, from the middle of its web
    centre = made.centre()[1]
    assert -made.warping_properties().off_z == pytest.approx(e + centre - t / 2, rel=0.02)
    found = supple.check(arm(supple.material("steel"), made), [0.0])
    assert any("shear centre" in note and "not computed" in note for note in found.notes)
    tidy = supple.check(arm(supple.material("steel"), Profile(outline=corners(0.1, 0.06))), [0.0])
    assert not any("shear centre" in note for note in tidy.notes)


def test_what_is_given_asks_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sectionproperties.analysis.section", None)
    warping_properties.cache_clear()
    bare = Profile(outline=corners(0.1, 0.03))
    with pytest.raises(supple.SuppleError, match=r"supple\[sections\]"):
        supple.modes(arm(supple.material("steel"), bare), [0.0], count=2)
    solid = Rectangle(depth=0.1, width=0.03)
    given = bare.model_copy(
        update={"torsion_constant": solid.constants().J_t, "shear_coefficient": (0.85, 0.85)}
    )
    alike = supple.Rectangle(depth=0.1, width=0.03, shear_coefficient=0.85)
    steel = supple.material("steel")
    found = [supple.modes(arm(steel, s), [0.0], count=5).omega for s in (given, alike)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"outline": [[0, 0], [1, 0]]}, "has 2 corners"),
        ({"outline": [[0, 0], [1, 1], [1, 0], [0, 1]]}, "crosses itself"),
        ({"outline": corners(1, 1), "holes": [corners(1, 0.2, 0.4)]}, "inside the outline"),
        ({"outline": corners(1, 1), "holes": [corners(0.1, 0.1, 9)]}, "inside the outline"),
        ({"outline": corners(9, 9), "holes": [corners(1, 1), corners(1, 1, 0.5)]}, "one another"),
        ({"outline": [[0, 0], [1, 0], [2, 0]]}, "crosses itself|no area"),
        ({"outline": [[0, 0], [0.3, 0], [0, 0.2]]}, "principal axes turned"),
        ({"outline": [[0, 0, 1], [1, 0, 1], [1, 1, 1]]}, "outline"),
        ({"outline": [["3 kg", 0], [1, 0], [1, 1]]}, "must be in m"),
        ({}, "outline is missing"),
    ],
)
def test_no_section_gets_a_sentence(section: dict[str, object], said: str) -> None:
    with pytest.raises(supple.RobotError, match=said):
        Profile(**section)


def test_the_angle_told_turns_the_outline_upright() -> None:
    with pytest.raises(supple.RobotError, match="turn its corners by") as refusal:
        Profile(outline=[[0, 0], [0.3, 0], [0, 0.2]])
    a = math.radians(float(str(refusal.value).split("turn its corners by ")[1].split(" deg")[0]))
    turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    outline = np.array([[0, 0], [0.3, 0], [0, 0.2]]) @ turn.T
    assert abs(moments(tuple(map(tuple, outline.tolist()))).I_yz) < 1e-4 * 0.03 * 0.02


def test_files_take_profiles_with_units_and_write_them_back() -> None:
    text = """
supple: 1
name: arm
architecture: serial
sections:
  rail: {shape: profile, outline: [[0 mm, 0 mm], [80 mm, 0], [80 mm, 40 mm], [0, 40 mm]]}
links:
  - {name: a, length: 1, section: rail, material: {young_modulus: 7e10, density: 2700},
     theory: rigid}
"""
    robot = supple.loads(text)
    assert robot.sections["rail"].outline[2] == (0.08, 0.04)
    assert supple.loads(supple.dump(robot)) == robot
    wide = robot.with_("links.a.section.outline", corners(0.08, 0.05))
    assert pytest.approx(0.004, rel=1e-12) == moments(wide.section(wide.links[0]).outline).A
    (outline,), _ = draw_robot(robot, ("a",))
    assert outline.real
    want = np.array([[-0.04, -0.02], [0.04, -0.02], [0.04, 0.02], [-0.04, 0.02]])
    np.testing.assert_allclose(outline.corners, want, atol=1e-15)  # about its centroid


def test_stations_of_profiles_change_their_moments_linearly() -> None:
    steel = supple.material("steel")
    ends = [
        Profile(outline=corners(d, 0.05), torsion_constant=d**4, shear_coefficient=d)
        for d in (0.1, 0.06)
    ]
    stations = [{"at": at, "section": s} for at, s in zip((0.0, 1.0), ends, strict=True)]
    robot = arm(steel, None, stations=stations)
    beam = beam_of(robot, robot.links[0])
    middle = (ends[0].constants().I_z + ends[1].constants().I_z) / 2
    assert beam.at([0.5])[0, 2] == pytest.approx(steel.young_modulus * middle, rel=1e-12)
    assert supple.modes(robot, [0.0], count=3).certified


# --- laminates -------------------------------------------------------------------------------


def test_an_isotropic_laminate_is_the_tube_itself() -> None:
    E = 70e9
    nu = 0.33
    plain = supple.Material(young_modulus=E, poisson_ratio=nu, density=2700)
    plies = supple.Material(
        young_modulus=E,
        transverse_modulus=E,
        shear_modulus=E / (2 * (1 + nu)),
        poisson_ratio=nu,
        density=2700,
        layup=[0.0, "30deg", "77deg", -1.0],
    )
    section = Tube(diameter=0.08, wall=0.003, shear_coefficient=0.5)
    a, b = (uniform_of(r := arm(m, section), r.links[0]) for m in (plain, plies))
    for key in ("m", "EA", "EI", "kGA", "GJ", "rI", "rIp"):
        assert getattr(b, key) == pytest.approx(getattr(a, key), rel=1e-12), key


def test_plus_and_minus_45_have_their_closed_forms() -> None:
    E1 = 135e9
    E2 = 10e9
    G12 = 5e9
    nu12 = 0.3
    wall = supple.Material(**CARBON, layup=["45deg", "-45deg"])
    rest = 1 - nu12**2 * E2 / E1
    Q11 = E1 / rest
    Q22 = E2 / rest
    Q12 = nu12 * E2 / rest
    assert pytest.approx((Q11 + Q22 - 2 * Q12) / 4, rel=1e-12) == wall.G
    U = (Q11 + Q22 + 2 * Q12) / 4  # 1/E = 1/4 (1/G12 + 1/U): shear and even stretch of each ply
    assert pytest.approx(4 / (1 / G12 + 1 / U), rel=1e-12) == wall.E


def test_quasi_isotropic_plies_are_isotropic_in_their_plane() -> None:
    wall = supple.Material(**CARBON, layup=["0deg", "45deg", "-45deg", "90deg"])
    E, G, nu, rho, _ = wall.membrane
    assert pytest.approx(E / (2 * (1 + nu)), rel=1e-12) == G
    turned = supple.Material(**CARBON, layup=["15deg", "60deg", "-30deg", "105deg"])
    assert turned.membrane[:3] == pytest.approx((E, G, nu), rel=1e-12)
    assert rho == 1600


def test_along_and_across_the_fibres() -> None:
    along, across = (supple.Material(**CARBON, layup=[angle]) for angle in (0, "90deg"))
    assert pytest.approx((135e9, 5e9)) == (along.E, along.G)
    assert pytest.approx((10e9, 5e9)) == (across.E, across.G)


def test_the_matrices_by_rotation_of_stress_and_strain_agree() -> None:
    """The second route: Q turned as a fourth-order tensor, of a general layup."""
    layup = [("20deg", 1e-4), ("-20deg", 1e-4), ("65deg", 3e-4), ("-65deg", 3e-4), ("0deg", 2e-4)]
    plies = [{"angle": angle, "thickness": t} for angle, t in layup]
    wall = supple.Material(**CARBON, layup=plies)
    S = np.array([[1 / 135e9, -0.3 / 135e9, 0], [-0.3 / 135e9, 1 / 10e9, 0], [0, 0, 1 / 5e9]])
    Q = np.linalg.inv(S)
    A = np.zeros((3, 3))
    C = np.zeros((2, 2, 2, 2))
    pair = {(0, 0): 0, (1, 1): 1, (0, 1): 2, (1, 0): 2}
    for ij, a in pair.items():
        for kl, b in pair.items():
            C[(*ij, *kl)] = Q[a, b]
    for angle, t in layup:
        w = math.radians(float(angle[:-3]))
        R = np.array([[math.cos(w), -math.sin(w)], [math.sin(w), math.cos(w)]])
        turned = np.einsum("ia,jb,kc,ld,abcd", R, R, R, R, C)
        A += t * np.array(
            [[turned[(*p, *q)] for q in ((0, 0), (1, 1), (0, 1))] for p in ((0, 0), (1, 1), (0, 1))]
        )
    total = sum(t for _, t in layup)
    assert pytest.approx((A[0, 0] - A[0, 1] ** 2 / A[1, 1]) / total, rel=1e-12) == wall.E
    assert pytest.approx(A[2, 2] / total, rel=1e-12) == wall.G
    assert wall.thickness == pytest.approx(total)


def test_a_hybrid_wall_weighs_and_stiffens_by_thickness() -> None:
    glass = {"young_modulus": 45e9, "transverse_modulus": 12e9, "shear_modulus": 5.5e9}
    outer = {"angle": 0, "thickness": "0.1 mm", **glass, "poisson_ratio": 0.28, "density": 2000}
    wall = supple.Material(**CARBON, layup=[{"angle": "0deg", "thickness": "0.3 mm"}, outer])
    assert wall.rho == pytest.approx((3 * 1600 + 2000) / 4)
    bound = (3 * 135e9 + 45e9) / 4  # rule of mixtures, from below but for Poisson's ratios
    assert bound <= wall.E <= bound * 1.0001


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layup": ["45deg"]}, "not balanced"),
        ({"layup": [0, 45, -45]}, "write degrees as 45deg"),
        ({"layup": []}, "layup"),
        ({"layup": [0], "shear_modulus": None}, "shear_modulus is missing"),
        ({"layup": [0], "poisson_ratio": 4}, "below 3.674"),
        ({"layup": [{"angle": 0, "thickness": 1e-4}, 0.0]}, "some plies only"),
        ({"layup": [{"angle": 0, "tickness": 1e-4}]}, "did you mean 'thickness'"),
        ({"layup": ["45 kg"]}, "angle"),
        ({}, "without layup"),
    ],
)
def test_no_laminate_gets_a_sentence(change: dict[str, object], said: str) -> None:
    with pytest.raises(supple.RobotError, match=said):
        supple.Material(**{**CARBON, **change})


def test_laminates_in_files_robots_and_check() -> None:
    wall = supple.Material(**CARBON, layup=[{"angle": a, "thickness": 2.5e-4} for a in (0, 0)])
    robot = arm(wall, Tube(diameter=0.06, wall=0.001))
    assert supple.loads(supple.dump(robot)) == robot
    found = supple.check(robot, [0.0])
    assert any("plies are 0.0005 m thick" in note for note in found.notes)
    assert "a" not in found.stress
    matched = supple.check(robot.with_("links.a.section.wall", 5e-4), [0.0])
    assert not any("plies" in note for note in matched.notes)
    with pytest.raises(supple.RobotError, match="wall of a tube or box"):
        arm(wall, Rectangle(depth=0.1, width=0.1))
    # A cantilever's first frequency: (1.875^2 / 2 pi) sqrt(EI / m L^4), long and thin
    slim = robot.with_({"links.a.length": 6.0, "links.a.theory": "euler-bernoulli"})
    A, I_z, *_ = Tube(diameter=0.06, wall=0.001).constants()
    want = 1.8751040687**2 * math.sqrt(135e9 * I_z / (1600 * A * 6.0**4))
    assert supple.modes(slim, [0.0], count=1).omega[0] == pytest.approx(want, rel=1e-9)
    model = supple.build(robot, supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="laminate"):
        supple.simulate(model, duration=0.01, outputs={"root": supple.Stress("a", 0.0)})


# --- drawings --------------------------------------------------------------------------------


def drawing(*entities: str, units: int | None = 4) -> str:
    header = f"0\nSECTION\n2\nHEADER\n9\n$INSUNITS\n70\n{units}\n0\nENDSEC\n" if units else ""
    return f"{header}0\nSECTION\n2\nENTITIES\n{''.join(entities)}0\nENDSEC\n0\nEOF\n"


def line(x0: float, y0: float, x1: float, y1: float) -> str:
    return f"0\nLINE\n8\n0\n10\n{x0}\n20\n{y0}\n11\n{x1}\n21\n{y1}\n"


def polyline(*corners: tuple[float, float, float]) -> str:
    each = "".join(f"10\n{x}\n20\n{y}\n42\n{b}\n" for x, y, b in corners)
    return f"0\nLWPOLYLINE\n8\n0\n90\n{len(corners)}\n70\n1\n{each}"


def test_a_drawing_of_lines_and_a_circle_is_a_plate_with_a_hole(tmp_path) -> None:
    """80 x 40 mm, lines in any order and direction, a bore of 20 mm in the middle."""
    sides = [line(0, 0, 80, 0), line(80, 40, 80, 0), line(0, 40, 80, 40), line(0, 0, 0, 40)]
    place = tmp_path / "plate.dxf"
    place.write_text(drawing(*sides, "0\nCIRCLE\n10\n40\n20\n20\n40\n10\n"))
    found = moments(*_loops(supple.load_profile(place)))
    bore = math.pi * 0.01**2
    assert pytest.approx(0.08 * 0.04 - bore, rel=1e-6) == found.A
    want = 0.04 * 0.08**3 / 12 - math.pi * 0.01**4 / 4
    assert found.I_z == pytest.approx(want, rel=1e-4)  # 96 corners, of the same area
    assert (found.y, found.z) == pytest.approx((0.04, 0.02), rel=1e-9)


def test_bulges_and_arcs_are_round(tmp_path) -> None:
    """A slot of two half circles, by bulges and by arcs: A = pi r^2 + 2 r L."""
    r = 5.0
    L = 20.0
    bulged = polyline((0, -r, 0.0), (L, -r, 1.0), (L, r, 0.0), (0, r, 1.0))
    arcs = f"0\nARC\n10\n{L}\n20\n0\n40\n{r}\n50\n270\n51\n90\n"
    arcs += f"0\nARC\n10\n0\n20\n0\n40\n{r}\n50\n90\n51\n270\n"
    parts = [line(0, -r, L, -r), line(L, r, 0, r), arcs]
    found = []
    for name, text in (("a", drawing(bulged)), ("b", drawing(*parts, units=None))):
        (tmp_path / f"{name}.dxf").write_text(text)
        unit = "mm" if name == "b" else None
        found.append(moments(*_loops(supple.load_profile(tmp_path / f"{name}.dxf", unit))))
    want = (math.pi * r**2 + 2 * r * L) * 1e-6
    assert [each.A for each in found] == pytest.approx([want, want], rel=1e-3)
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-15)


def _loops(section: Profile) -> tuple[object, object]:
    return section.outline, section.holes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AutoCAD Binary DXF\r\n\x1a", "ASCII DXF"),
        ("", "does not say its unit"),
        (drawing(line(0, 0, 1, 0), units=None), "does not say its unit"),
        (drawing(), "no closed curve"),
        (drawing(line(0, 0, 1, 0), line(1, 0, 1, 1)), "ends open at"),
        (drawing("0\nSPLINE\n10\n0\n"), "only LINE, ARC"),
        (drawing("0\nLINE\n10\nfar\n"), "where a number belongs"),
    ],
)
def test_no_drawing_gets_a_sentence(tmp_path, text: str, said: str) -> None:
    place = tmp_path / "a.dxf"
    place.write_text(text)
    with pytest.raises(supple.SuppleError, match=said):
        supple.load_profile(place)
    with pytest.raises(supple.SuppleError, match="cannot be read"):
        supple.load_profile(tmp_path / "nowhere.dxf")
