"""Tapered and stepped links: Bessel closed forms, uniform pieces, certified."""

import time
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import supple
from supple.beams.series import series_of
from supple.beams.varying import VaryingBeam
from supple.structure import cut_structure, short_pieces, structure_of

E = 70e9
RHO = 2700.0
ALUMINIUM = {"young_modulus": E, "poisson_ratio": 0.33, "density": RHO}


def arm(stations, theory="euler-bernoulli", **robot):
    link = {"name": "a", "length": 1.0, "theory": theory, "material": ALUMINIUM}
    links = [link | {"stations": stations}]
    return supple.SerialRobot(**({"name": "tapered", "planar": True, "links": links} | robot))


def bar(at, depth, width=0.05):
    return {"at": at, "section": {"shape": "rectangle", "depth": depth, "width": width}}


def wedge(omega, root, tip):
    """Determinant of a clamped wedge: W = x^(-1/2) Z_1(2 k sqrt(x)), x from the apex.

    k^4 = 12 rho omega^2 / E c^2, depth = c x; clamped W = W' = 0, free W'' = (x^3 W'')' = 0.
    """
    far = mpmath.mpf(root) / (mpmath.mpf(root) - mpmath.mpf(tip))
    k = (12 * RHO * omega**2 / (E * (mpmath.mpf(root) / far) ** 2)) ** mpmath.mpf("0.25")
    a = 2 * k * mpmath.sqrt(far)
    b = 2 * k * mpmath.sqrt(far - 1)
    J = mpmath.besselj
    Y = mpmath.bessely
    I = mpmath.besseli
    K = mpmath.besselk
    return mpmath.det(
        mpmath.matrix(
            [
                [J(1, a), Y(1, a), I(1, a), K(1, a)],
                [-J(2, a), -Y(2, a), I(2, a), -K(2, a)],
                [J(3, b), Y(3, b), I(3, b), K(3, b)],
                [J(2, b), Y(2, b), I(2, b), -K(2, b)],
            ]
        )
    )


def test_a_wedge_against_bessel_functions():
    root = 0.06
    tip = 0.02
    found = supple.modes(arm([bar(0, root), bar(1, tip)], "inextensible"), [0.0], count=3)
    assert found.certified
    with mpmath.workdps(30):
        for omega in found.omega:
            low, high = (wedge(mpmath.mpf(omega) * (1 + s * 1e-9), root, tip) for s in (-1, 1))
            assert low * high < 0, omega


@pytest.mark.parametrize("size", [1e-6, 2e-3, 1e6])
def test_a_taper_of_any_size(size):
    """Alike beams: omega goes as 1 / size. Powers of omega^2 once overflowed above 1e5 rad/s."""
    wanted = supple.modes(arm([bar(0, 0.06), bar(1, 0.02)], "timoshenko"), [0.0], count=9)
    stations = [bar(0, 0.06 * size, 0.05 * size), bar(size, 0.02 * size, 0.05 * size)]
    link = {"name": "a", "length": size, "material": ALUMINIUM, "stations": stations}
    found = supple.modes(arm([], links=[link]), [0.0], count=9)
    assert found.certified
    assert found.omega * size == pytest.approx(wanted.omega, rel=1e-9)
    held = supple.response(
        arm([], links=[link]), [0.0], [0.3 / size], ["force.y"], ["tip.y"], joints="locked"
    )
    plain = arm([bar(0, 0.06), bar(1, 0.02)], "timoshenko")
    alike = supple.response(plain, [0.0], [0.3], ["force.y"], ["tip.y"], joints="locked")
    assert held.values[0, 0, 0] * size == pytest.approx(alike.values[0, 0, 0], rel=1e-9)


def test_a_step_is_two_uniform_links():
    stepped = arm([bar(0, 0.06), bar(0.4, 0.06), bar(0.4, 0.03), bar(1, 0.03)], "timoshenko")
    found = supple.modes(stepped, [0.0], count=3)
    assert found.certified
    plain = two_in_a_row().with_("planar", True)
    assert found.omega == pytest.approx(supple.modes(plain, [0.0], count=3).omega, rel=1e-9)


def two_in_a_row():
    """Two uniform links, 0.4 m of 0.06 m depth and 0.6 m of 0.03 m, fixed to one another."""
    section = {"shape": "rectangle", "width": 0.05}
    links = [
        {"name": "a", "length": 0.4, "material": ALUMINIUM, "section": section | {"depth": 0.06}},
        {
            "name": "b",
            "length": 0.6,
            "material": ALUMINIUM,
            "section": section | {"depth": 0.03},
            "joint": {"type": "fixed"},
        },
    ]
    return supple.SerialRobot(name="two", links=links, gravity=[0, -9.81, 3])


def test_alike_stations_are_a_uniform_link_in_space():
    tapered = arm([bar(0, 0.04), bar(1, 0.04)], "timoshenko", planar=False)
    same = {"name": "a", "length": 1.0, "material": ALUMINIUM, "section": bar(0, 0.04)["section"]}
    plain = supple.SerialRobot(name="uniform", links=[same])
    found = supple.modes(tapered, [0.0], count=3)
    assert found.omega == pytest.approx(supple.modes(plain, [0.0], count=3).omega, rel=1e-9)


@pytest.mark.parametrize(
    ("stations", "sentence"),
    [
        ([bar(0, 0.1), bar(0.5, 0.1)], "must run from at: 0 to at: 1"),
        ([bar(0, 0.1), bar(0.6, 0.1), bar(0.5, 0.1), bar(1, 0.1)], "must rise along the link"),
        ([{"at": 0}, bar(1, 0.1)], "needs a section, or mass_per_length"),
    ],
)
def test_faults_of_stations_are_told(stations, sentence):
    with pytest.raises(ValueError, match=sentence):
        arm(stations)


def test_round_trip():
    robot = arm([bar(0, 0.06), bar(1, 0.02)])
    assert supple.loads(supple.dump(robot)) == robot
    assert np.isclose(robot.links[0].stations[1].at, 1.0)


def two_link(first, theory="timoshenko", **robot):
    """An arm whose first link has stations, or another beam, and which carries a uniform one."""
    tip = {"mass": 1.0, "inertia": [1e-3, 2e-3, 3e-3]}
    a = {"name": "a", "length": 1.0, "theory": theory, "material": ALUMINIUM, "tip": tip} | first
    section = {"shape": "rectangle", "depth": 0.03, "width": 0.02}
    b = {"name": "b", "length": 0.8, "theory": theory, "material": ALUMINIUM, "section": section}
    usual = {"name": "two", "links": [a, b], "gravity": [0, -9.81, 0], "payload": {"mass": 0.5}}
    return supple.SerialRobot(**(usual | robot))


ALIKE = (
    two_link({"stations": [bar(0, 0.04), bar(0.5, 0.04), bar(1, 0.04)]}),
    two_link({"section": bar(0, 0.04)["section"]}),
)
POSE = [0.3, 0.7]


def test_statics_of_a_tapered_arm_against_thirty_digits():
    """Weight and tip load on a clamped Timoshenko wedge: v = int M (L - x) / EI + Q / kGA."""
    root = 0.06
    tip = 0.02
    width = 0.05
    force = 30.0
    g = 9.81
    k = 0.8
    stations = [bar(0, root), bar(1, tip)]
    for station in stations:
        station["section"]["shear_coefficient"] = k
    robot = arm(stations, "timoshenko", gravity=[0, -g, 0])
    found = supple.statics(robot, [0.0], force=[0, -force, 0])
    with mpmath.workdps(30):
        G = mpmath.mpf(E) / (2 * (1 + mpmath.mpf(0.33)))

        def depth(x):
            return mpmath.mpf(root) + (mpmath.mpf(tip) - mpmath.mpf(root)) * x

        def bends(x):
            y = 1 - x
            near = depth(x)
            rise = mpmath.mpf(tip) - mpmath.mpf(root)
            Q = force + RHO * width * g * (near * y + rise * y**2 / 2)
            M = force * y + RHO * width * g * (near * y**2 / 2 + rise * y**3 / 3)
            return M * (1 - x) * 12 / (E * width * depth(x) ** 3) + Q / (k * G * width * depth(x))

        exact = -mpmath.quad(bends, [0, 0.5, 1])
    assert found.tip_displacement[1] == pytest.approx(float(exact), rel=1e-12)
    half = supple.statics(robot, [0.0], force=[0, -force, 0], gravity=[0, 0, 0])
    work = -force * half.tip_displacement[1] / 2
    assert half.strain_energy.sum() == pytest.approx(work, rel=1e-12)


def test_a_stepped_arm_sags_as_two_uniform_links_in_a_row():
    steps = [bar(0, 0.06), bar(0.4, 0.06), bar(0.4, 0.03), bar(1, 0.03)]
    stepped = arm(steps, "timoshenko", planar=False, gravity=[0, -9.81, 3])
    load = {"force": [1, 2, 3], "moment": [0.1, 0.2, 0.3]}
    a, b = (supple.statics(robot, [0.4], **load) for robot in (stepped, two_in_a_row()))
    assert a.compliance == pytest.approx(b.compliance, rel=1e-12, abs=1e-18)
    assert a.moved == pytest.approx(b.moved, rel=1e-12, abs=1e-18)
    assert a.strain_energy.sum() == pytest.approx(b.strain_energy.sum(), rel=1e-12)
    assert a.root_moment[0] == pytest.approx(b.root_moment[0], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("key", ["tip_displacement", "compliance", "displacement", "energy"])
def test_alike_stations_sag_as_a_uniform_link(key):
    a, b = (supple.statics(robot, POSE, [1, 2, 3], [0.1, 0.2, 0.3]) for robot in ALIKE)
    size = np.abs(getattr(b, key)).max()
    assert getattr(a, key) == pytest.approx(getattr(b, key), rel=1e-12, abs=1e-13 * size)


@pytest.mark.parametrize("method", ["exact", "elements", "assumed"])
def test_alike_stations_have_the_shapes_of_a_uniform_link(method):
    a, b = (supple.modes(robot, POSE, 4, method, elements=4) for robot in ALIKE)
    assert a.omega == pytest.approx(b.omega, rel=1e-10)
    assert a.kind == b.kind
    assert a.shapes.displacement == pytest.approx(b.shapes.displacement, abs=1e-7)
    assert a.shapes.share == pytest.approx(b.shapes.share, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("basis", [supple.AssumedModes(1), supple.FiniteElements(2)])
def test_alike_stations_move_as_a_uniform_link(basis):
    a, b = (supple.build(robot.with_("planar", True), basis, stiffening=True) for robot in ALIKE)
    q = 0.01 * np.arange(1, a.size + 1)
    for ask in (
        lambda model: model.mass_matrix(q),
        lambda model: model.stiffness,
        lambda model: model.bias(q, q),
        lambda model: model.gravity(q),
    ):
        size = np.abs(ask(b)).max()
        assert ask(a) == pytest.approx(ask(b), rel=1e-9, abs=1e-11 * size)


def test_elements_and_assumed_modes_close_in_on_a_tapered_arm_from_above():
    robot = two_link({"stations": [bar(0, 0.06), bar(1, 0.02)]}, planar=True)
    exact = supple.modes(robot, POSE, 3).omega
    fine = [supple.modes(robot, POSE, 3, "elements", elements=n).omega for n in (2, 4, 8)]
    for coarse, finer in pairwise(fine):
        assert (finer < coarse * (1 + 1e-10)).all()
    assert (fine[-1] >= exact * (1 - 1e-9)).all()
    orders = np.log2((fine[1] / exact - 1) / (fine[2] / exact - 1))
    assert (orders > 1.9).all()  # 2 of shear that is tied, 4 of bending, as ELEMENTS claims
    quintic, finer = (
        supple.modes(robot, POSE, 3, "elements", elements=n, order="quintic").omega for n in (3, 6)
    )
    assert (np.log2((quintic / exact - 1) / (finer / exact - 1)) > 6).all()  # 8 in the limit
    assert (quintic >= exact * (1 - 1e-9)).all()
    assumed = supple.modes(robot, POSE, 3, "assumed", elements=12).omega
    assert assumed == pytest.approx(exact, rel=1e-4)
    assert (assumed >= exact * (1 - 1e-9)).all()


@pytest.mark.slow
def test_tapered_links_of_a_delta_and_a_mechanism():
    delta = supple.load("kuo-delta")
    section = delta.section(delta.upper)
    L = delta.upper.length
    alike = [{"at": 0, "section": section}, {"at": L, "section": section}]
    other = delta.with_({"upper.section": None, "upper.stations": alike})
    at = [0.05, 0.02, 0.7]
    for ask in (
        lambda robot: supple.modes(robot, position=at, count=4, method="elements").omega,
        lambda robot: supple.modes(robot, position=at, count=4).omega,
        lambda robot: supple.statics(robot, position=at, force=[1, 2, 3]).tip_displacement,
    ):
        assert ask(other) == pytest.approx(ask(delta), rel=1e-9)
    bars = supple.load("five-bar")
    link = bars.links[1]
    alike = [{"at": s, "section": bars.section(link)} for s in (0, link.length)]
    path = f"links.{link.name}"
    other = bars.with_({f"{path}.section": None, f"{path}.stations": alike})
    for ask in (
        lambda robot: supple.modes(robot, [2.0, 1.0], count=4).omega,
        lambda robot: supple.statics(robot, [2.0, 1.0], force=[1, 2, 0]).tip_displacement,
        lambda robot: supple.build(robot, supple.AssumedModes(1)).stiffness,
    ):
        assert ask(other) == pytest.approx(ask(bars), rel=1e-9, abs=1e-12)


def test_a_sliding_link_is_measured_from_its_inner_end():
    """A slide out by 0.6 of 1 m is a clamped beam of what the stations say beyond 0.4 m."""
    slide = {
        "name": "a",
        "length": 1.0,
        "theory": "euler-bernoulli",
        "material": ALUMINIUM,
        "stations": [bar(0, 0.06), bar(1, 0.03)],
        "joint": {"type": "prismatic"},
    }
    fixed = slide | {"length": 0.6, "stations": [bar(0, 0.048), bar(0.6, 0.03)], "joint": {}}
    a, b = (supple.SerialRobot(name="s", planar=True, links=[link]) for link in (slide, fixed))
    for ask in (
        lambda robot, at: supple.modes(robot, at, 3).omega,
        lambda robot, at: supple.modes(robot, at, 3, "elements").omega,
        lambda robot, at: supple.statics(robot, at, force=[1, 2, 0]).tip_displacement,
    ):
        assert ask(a, [0.6]) == pytest.approx(ask(b, [0.0]), rel=1e-11, abs=1e-18)


def test_a_stubby_slide_beside_a_slow_link_is_what_stands_outside():
    """It needs no cut at the slow link's frequencies; what slid in is still not there."""
    slow = {"name": "slow", "length": 2.0, "material": ALUMINIUM, "joint": {"type": "fixed"}}
    slow |= {"section": bar(0, 0.02)["section"], "theory": "euler-bernoulli"}
    slide = slow | {"name": "stub", "parent": "base", "length": 0.4, "section": None}
    fixed = slide | {"length": 0.1, "stations": [bar(0, 0.01), bar(0.1, 0.012)]}
    slide |= {"stations": [bar(0, 0.012), bar(0.2, 0.008), bar(0.4, 0.012)]}
    slide |= {"joint": {"type": "prismatic", "start": 0.1}}
    a, b = (
        supple.MechanismRobot(name="m", planar=True, links=[slow, link]) for link in (slide, fixed)
    )
    found = supple.modes(a, count=3)
    wanted = supple.modes(b, count=3)
    assert found.certified
    assert found.omega == pytest.approx(wanted.omega, rel=1e-10)
    many = supple.modes(a, [[0.1], [0.2], [0.1]], count=3).omega
    assert many[[0, 2]] == pytest.approx(np.array([wanted.omega] * 2), rel=1e-10)


@pytest.mark.parametrize(
    ("across", "table"),
    [(4, [23.289, 73.9, 165.23, 299.7, 478.1]), (5, [24.308, 75.56, 167.21, 301.9, 480.4])],
)
def test_a_double_taper_against_printed_tables(across, table):
    """Depth falls to a quarter and width to 1 / across: lambda = omega L^2 / h sqrt(12 rho / E).

    The printed values, got by numerical integration, are up to 4e-4 low: where depth and width
    fall alike, Bessel functions give 23.2922635 for their 23.289 (next test).
    Source: [Mabie1972], as the guide VPCS quotes it, sheet SDLL09.
    """
    stations = [bar(0, 0.04, 0.05), bar(1, 0.01, 0.05 / across)]
    found = supple.modes(arm(stations, "inextensible"), [0.0], count=5)
    assert found.certified
    assert found.omega / 0.01 * np.sqrt(12 * RHO / E) == pytest.approx(table, rel=4e-4)


# omega L^2 sqrt(rho A / E I) of the root, three frequencies: rows depth falls by 0, 0.2, .., 0.8 of
# itself, columns width alike. The second of 0.4 and 0.4 is misprinted (38.4920) and left out.
PRINTED = """
3.51602 3.76286 4.09698 4.58531 5.39759  22.0345 22.5018 23.1186 24.0211 25.6558
3.60828 3.85512 4.18932 4.67816 5.49266  20.6210 21.0567 21.6327 22.4774 24.0153
3.73708 3.98419 4.31878 4.80842 5.62552  19.1138 19.5166 nan     20.8343 22.2710
3.93428 4.18235 4.51799 5.00903 5.82882  17.4879 17.8557 18.3441 19.0649 20.3952
4.29249 4.54368 4.88244 5.37614 6.19639  15.7427 16.0725 16.5123 17.1657 18.3855
61.6972 62.1525 62.7763 63.7515 65.7470  56.1923 56.6303 57.2257 58.1466 60.0094
50.3537 50.7714 51.3346 52.1963 53.9173  44.0248 44.4175 44.9432 45.7384 47.3051
36.8846 37.2439 37.7223 38.4392 39.8336"""


def test_double_tapers_against_printed_digits():
    """Half the last printed digit; 3.608274868 and 4.182344962 were rounded up, 0.513 and 0.504.

    Source: [Ozgumus2006], as Table 1 of doi 10.1186/s40712-015-0040-0 quotes it.
    """
    table = np.array(PRINTED.split(), float)
    pairs = table[:50].reshape(5, 2, 5)
    third = table[50:].reshape(5, 5)
    for i, j in np.ndindex(5, 5):
        ends = [bar(0, 0.04, 0.05), bar(1, 0.04 * (1 - 0.2 * i), 0.05 * (1 - 0.2 * j))]
        found = supple.modes(arm(ends, "inextensible"), [0.0], count=3)
        assert found.certified
        ours = found.omega * np.sqrt(12 * RHO / E) / 0.04
        off = np.abs(ours - [*pairs[i, :, j], third[i, j]]) / [1e-5, 1e-4, 1e-4]
        assert np.nanmax(off) < (0.52 if (i, j) in ((1, 0), (3, 1)) else 0.5), (i, j)


def test_a_double_taper_against_bessel_functions():
    """W = Z_2(2 k sqrt(x)) / x, x from the apex, where depth and width fall alike."""
    found = supple.modes(arm([bar(0, 0.04, 0.04), bar(1, 0.01, 0.01)], "inextensible"), count=3)

    def determinant(omega):
        far = mpmath.mpf(4) / 3  # the apex is a third of a metre beyond the tip
        k = (12 * RHO * omega**2 / (E * (mpmath.mpf(0.04) / far) ** 2)) ** mpmath.mpf("0.25")
        a = 2 * k * mpmath.sqrt(far)
        b = 2 * k * mpmath.sqrt(far / 4)
        J = mpmath.besselj
        Y = mpmath.bessely
        I = mpmath.besseli
        K = mpmath.besselk
        return mpmath.det(
            mpmath.matrix(
                [
                    [J(2, a), Y(2, a), I(2, a), K(2, a)],
                    [-J(3, a), -Y(3, a), I(3, a), -K(3, a)],
                    [J(4, b), Y(4, b), I(4, b), K(4, b)],
                    [J(3, b), Y(3, b), I(3, b), -K(3, b)],
                ]
            )
        )

    assert found.certified
    with mpmath.workdps(40):
        for omega in found.omega:
            low, high = (determinant(mpmath.mpf(omega) * (1 + s * 1e-9)) for s in (-1, 1))
            assert low * high < 0, omega


def at(series, j):
    """Coefficient j of a series, nothing before the first."""
    return series[j] if j >= 0 else 0


def tapered_timoshenko(omega, root, tip, k, load):
    """Determinant of a clamped tapered Timoshenko beam with a load (mass, inertia) at its end.

    Power series in x of (v, psi, Q, M): kGA (v' - psi) = Q, EI psi' = M, Q' = -omega^2 m v,
    M' = -Q - omega^2 r psi; they converge as far as the apex of the taper. At the end
    Q = omega^2 mass v, M = omega^2 inertia psi.
    """
    d = mpmath.mpf(root)
    rise = mpmath.mpf(tip) - mpmath.mpf(root)
    width = mpmath.mpf(0.05)
    cube = [d**3, 3 * d**2 * rise, 3 * d * rise**2, rise**3]
    G = mpmath.mpf(E) / (2 * (1 + mpmath.mpf(0.33)))
    shear = [mpmath.mpf(k) * G * width * c for c in (d, rise)]
    EI, r = ([s * width * c / 12 for c in cube] for s in (E, RHO))
    m = [RHO * width * c for c in (d, rise)]
    w2 = omega**2
    columns = []
    for start in ((1, 0), (0, 1)):
        v = [mpmath.mpf(0)]
        psi = [mpmath.mpf(0)]
        Q = [mpmath.mpf(start[0])]
        M = [mpmath.mpf(start[1])]
        for n in range(260):
            at = lambda series, j: series[j] if j >= 0 else 0  # noqa: E731
            bent = M[n] - sum(EI[j] * (n + 1 - j) * at(psi, n + 1 - j) for j in (1, 2, 3))
            turned = shear[0] * psi[n] + shear[1] * at(psi, n - 1)
            moved = Q[n] + turned - shear[1] * n * v[n]
            Q.append(-w2 * (m[0] * v[n] + m[1] * at(v, n - 1)) / (n + 1))
            heavy = sum(r[j] * at(psi, n - j) for j in range(4))
            M.append((-Q[n] - w2 * heavy) / (n + 1))
            psi.append(bent / (EI[0] * (n + 1)))
            v.append(moved / (shear[0] * (n + 1)))
        ends = [mpmath.fsum(series) for series in (v, psi, Q, M)]
        columns.append((ends[2] - w2 * load[0] * ends[0], ends[3] - w2 * load[1] * ends[1]))
    return columns[0][0] * columns[1][1] - columns[0][1] * columns[1][0]


def test_a_tapered_timoshenko_arm_against_thirty_digits():
    root = 0.06
    tip = 0.03
    k = 0.8
    load = (1.5, 0.004)
    stations = [bar(0, root), bar(1, tip)]
    for station in stations:
        station["section"]["shear_coefficient"] = k
    body = {"mass": load[0], "inertia": load[1]}
    robot = arm(stations, "timoshenko", payload=body)
    found = supple.modes(robot, [0.0], count=4)
    assert found.certified
    with mpmath.workdps(40):
        for omega in found.omega:
            at = [mpmath.mpf(omega) * (1 + s * 1e-9) for s in (-1, 1)]
            low, high = (tapered_timoshenko(w, root, tip, k, load) for w in at)
            assert low * high < 0, omega


@pytest.mark.slow
def test_a_tapered_link_costs_at_most_five_times_a_uniform_one():
    """Amortised over the poses of a batch; both are measured in the same minute."""
    theta = np.random.default_rng(1).uniform(-2, 2, (10_000, 2))
    plain = ALIKE[1].with_("planar", True)
    tapered = two_link({"stations": [bar(0, 0.05), bar(1, 0.03)]}, planar=True)
    spent = []
    for robot in (plain, tapered):
        start = time.process_time()
        found = supple.modes(robot, theta, count=8)
        spent.append(time.process_time() - start)
        assert np.isfinite(found.omega).all()
        assert found.certified  # every bracket within 1e-9
    assert spent[1] < 5 * spent[0]


def test_a_series_keeps_no_terms_of_rounding():
    """Chebyshev coefficients that are noise would come back as huge powers that cancel."""
    links = two_link({"stations": [bar(0, 0.05), bar(1, 0.03)]}, planar=True)
    structure = structure_of(links, np.array([POSE]), "locked")
    top = 2000.0
    fine = cut_structure(structure, short_pieces(structure, top, varying=True))[0]
    for piece in [s.beam for s in fine.segments if isinstance(s.beam, VaryingBeam)]:
        series = series_of(piece)
        curve = series.curve(2 * top)
        assert len(curve) <= 16
        t = np.linspace(0, 1, 11)
        found = t[:, None] ** np.arange(len(curve)) @ curve
        rows, columns = np.triu_indices(4)
        form = (
            series.form(1, 32)[:, rows, columns]
            * (4 * top**2 / series.unit) ** np.arange(32.0)[:, None]
        )
        plain = t[:, None] ** np.arange(32) @ form
        size = np.abs(form[:2]).max(axis=0)
        assert (np.abs(found[:, 3:13] - plain) <= 4e-15 * size).all()
