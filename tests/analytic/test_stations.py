"""Tapered and stepped links: Bessel closed forms, uniform pieces, certified."""

import mpmath
import numpy as np
import pytest

import supple

E, RHO = 70e9, 2700.0
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
    a, b = 2 * k * mpmath.sqrt(far), 2 * k * mpmath.sqrt(far - 1)
    J, Y, I, K = mpmath.besselj, mpmath.bessely, mpmath.besseli, mpmath.besselk
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


@pytest.mark.slow
def test_a_wedge_against_bessel_functions():
    root, tip = 0.06, 0.02
    found = supple.modes(arm([bar(0, root), bar(1, tip)], "inextensible"), [0.0], count=3)
    assert found.certified
    with mpmath.workdps(30):
        for omega in found.omega:
            near = [mpmath.mpf(omega) * (1 + d) for d in (-1e-6, 1e-6)]
            exact = mpmath.findroot(lambda w: wedge(w, root, tip), near, solver="anderson")
            assert omega == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.slow
def test_a_step_is_two_uniform_links():
    stepped = arm([bar(0, 0.06), bar(0.4, 0.06), bar(0.4, 0.03), bar(1, 0.03)], "timoshenko")
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
    plain = supple.SerialRobot(name="two", planar=True, links=links)
    found = supple.modes(stepped, [0.0], count=3)
    assert found.certified
    assert found.omega == pytest.approx(supple.modes(plain, [0.0], count=3).omega, rel=1e-9)


@pytest.mark.slow
def test_alike_stations_are_a_uniform_link_in_space():
    tapered = arm([bar(0, 0.04), bar(1, 0.04)], "timoshenko", planar=False)
    same = {"name": "a", "length": 1.0, "material": ALUMINIUM, "section": bar(0, 0.04)["section"]}
    plain = supple.SerialRobot(name="uniform", links=[same])
    found = supple.modes(tapered, [0.0], count=3)
    assert found.omega == pytest.approx(supple.modes(plain, [0.0], count=3).omega, rel=1e-9)


@pytest.mark.slow
def test_what_does_not_take_them_says_so():
    robot = arm([bar(0, 0.06), bar(1, 0.02)])
    for ask in (
        lambda: supple.statics(robot, [0.0], force=[0, 1, 0]),
        lambda: supple.modes(robot, [0.0], method="elements"),
        lambda: supple.build(robot, supple.FiniteElements(2)),
        lambda: supple.modes(robot, [0.0], count=1).shapes,
    ):
        with pytest.raises(supple.SuppleError, match="stations"):
            ask()


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
