"""Derivatives of natural frequencies against closed forms, many digits and differences."""

import mpmath as mp
import numpy as np
import pytest

import supple

BEAM = {
    "name": "a",
    "length": 1.3,
    "mass_per_length": 2.0,
    "bending_stiffness": 50.0,
    "theory": "inextensible",
}


def cantilever(**changes: object) -> supple.SerialRobot:
    return supple.SerialRobot(name="one", planar=True, links=[{**BEAM, **changes}])


def test_powers_of_a_uniform_cantilever() -> None:
    """omega is proportional to L^-2 EI^1/2 m^-1/2."""
    keys = ["links.a.length", "links.a.bending_stiffness.0", "links.a.mass_per_length"]
    found = supple.sensitivities(cantilever(bending_stiffness=[50.0, 50.0]), [0.0], keys, count=4)
    w = found.omega
    assert found.derivatives[keys[0]] == pytest.approx(-2 * w / 1.3, rel=1e-9)
    assert found.derivatives[keys[1]] == pytest.approx(w / 100, rel=1e-9)
    assert found.derivatives[keys[2]] == pytest.approx(-w / 4, rel=1e-9)
    assert not found.coincident.any()


def test_a_tip_mass_in_thirty_digits() -> None:
    """1 + cos b cosh b + mu b (cos b sinh b - sin b cosh b) = 0, mu = m / rho A L."""
    mass = 0.7
    found = supple.sensitivities(
        cantilever(), [0.0], ["payload.mass"], count=3
    )  # at no mass: the edge of what a payload may be
    loaded = supple.sensitivities(
        cantilever().with_("payload.mass", mass), [0.0], ["payload.mass"], count=3
    )
    with mp.workdps(30):

        def equation(b: mp.mpf, mu: mp.mpf) -> mp.mpf:
            turn = mp.cos(b) * mp.sinh(b) - mp.sin(b) * mp.cosh(b)
            return 1 + mp.cos(b) * mp.cosh(b) + mu * b * turn

        unit = mp.sqrt(mp.mpf(50) / (2 * mp.mpf("1.3") ** 4))
        for answer, m in ((found, mp.mpf(0)), (loaded, mp.mpf("0.7"))):
            mu = m / (2 * mp.mpf("1.3"))
            for k, w in enumerate(answer.omega):
                b = mp.findroot(lambda x, mu=mu: equation(x, mu), mp.sqrt(mp.mpf(float(w)) / unit))
                slope = -mp.diff(lambda u, b=b: equation(b, u), mu) / mp.diff(
                    lambda x, mu=mu: equation(x, mu), b
                )
                exact = 2 * b * unit * slope / (2 * mp.mpf("1.3"))
                ours = answer.derivatives["payload.mass"][k]
                assert float(abs(ours / exact - 1)) < 1e-9


def test_differences_of_an_arm() -> None:
    robot = supple.load("industrial-3")
    theta = np.array([0.0, 0.7, 0.5])
    keys = ["theta.link2", "links.link1.section.wall", "links.link2.length"]
    found = supple.sensitivities(robot, theta, keys, count=6)

    def omega(key: str, value: float) -> np.ndarray:
        if key == "theta.link2":
            return supple.modes(robot, [theta[0], value, theta[2]], count=6).omega
        return supple.modes(robot.with_(key, value), theta, count=6).omega

    for key, value in zip(keys, (0.7, 0.01, 1.5), strict=True):
        h = 1e-3 * value
        f = [omega(key, value + k * h) for k in (-2, -1, 1, 2)]
        slope = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
        assert found.derivatives[key] == pytest.approx(slope, rel=1e-7)


def test_a_pair_of_a_square_tube_splits() -> None:
    link = {
        "name": "a",
        "length": 1.0,
        "material": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700},
        "section": {"shape": "box", "depth": 0.05, "width": 0.05, "wall": 0.003},
    }
    robot = supple.SerialRobot(name="square", links=[link])
    key = "links.a.section.depth"
    found = supple.sensitivities(robot, [0.0], [key], count=2)
    assert found.coincident.tolist() == [True, True]
    h = 1e-4
    up, down = (supple.modes(robot.with_(key, 0.05 + s * h), [0.0], count=2).omega for s in (1, -1))
    # one branch rises faster than the other: sorted above, the other way round below
    slopes = (up - down[::-1]) / (2 * h)
    assert found.derivatives[key] == pytest.approx(np.sort(slopes), rel=1e-4)


def test_a_delta() -> None:
    robot = supple.load("kuo-delta")
    place = np.array([0.05, 0.02, 0.5])
    keys = ["position.x", "upper.length"]
    found = supple.sensitivities(robot, parameters=keys, position=place, count=3)
    h = 2e-4

    def omega(x: float, length: float) -> np.ndarray:
        moved = robot.with_("upper.length", length)
        return supple.modes(moved, position=[x, 0.02, 0.5], count=3).omega

    for key, f in (
        ("position.x", lambda k: omega(0.05 + k * h, 0.5)),
        ("upper.length", lambda k: omega(0.05, 0.5 + k * h)),
    ):
        slope = (f(-2) - 8 * f(-1) + 8 * f(1) - f(2)) / (12 * h)
        assert found.derivatives[key] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        (["theta.linkX"], "theta.link1"),
        (["links.link1.nothing"], "nothing"),
        (["links.link1.material"], "only a number"),
        (["position.x", "theta.link1"], "both"),
        ("payload.mass", "list"),
    ],
)
def test_bad_input(keys: object, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.sensitivities(supple.load("industrial-3"), [0, 0, 0], keys)


SAGGING = {
    "name": "a",
    "length": 1.3,
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700},
    "section": {"shape": "rectangle", "depth": 0.05, "width": 0.03, "shear_coefficient": 0.85},
    "theory": "timoshenko",
}


def test_sag_of_a_cantilever_in_thirty_digits() -> None:
    """v = -g (M L^3 / 3 EI + M L / kGA + m L^4 / 8 EI + m L^2 / 2 kGA), by its parameters."""
    values = {
        "links.a.length": 1.3,
        "links.a.section.depth": 0.05,
        "payload.mass": 2.0,
        "theta.a": 0.0,
    }
    robot = supple.SerialRobot(
        name="one", planar=True, links=[SAGGING], gravity=[0, -9.81, 0], payload={"mass": 2.0}
    )
    found = supple.static_sensitivities(robot, [0.0], list(values))
    with mp.workdps(30):

        def v(L: mp.mpf, h: mp.mpf, M: mp.mpf) -> mp.mpf:
            A = h * mp.mpf("0.03")
            E = mp.mpf("70e9")
            EI = E * h**3 * mp.mpf("0.03") / 12
            G = E / mp.mpf("2.6")
            g = mp.mpf("9.81")
            kGA = mp.mpf("0.85") * G * A
            m = 2700 * A
            bent = M * L**3 / (3 * EI) + m * L**4 / (8 * EI)
            return -g * (bent + M * L / kGA + m * L**2 / (2 * kGA))

        at = (mp.mpf("1.3"), mp.mpf("0.05"), mp.mpf(2))
        exact = [float(mp.diff(v, at, tuple(int(i == k) for i in range(3)))) for k in range(3)]
        assert found.moved[1] == pytest.approx(float(v(*at)), rel=1e-12)
    slopes = [found.derivatives[key][1] for key in values]
    assert slopes[:3] == pytest.approx(exact, rel=1e-9)
    assert slopes[3] == pytest.approx(0.0, abs=1e-9)  # gravity's part across falls as the cosine


def test_sag_against_central_differences() -> None:
    robot = supple.load("industrial-3")
    theta = [0.3, 0.7, 0.5]
    link = robot.links[0].name
    keys = [f"links.{link}.length", f"theta.{robot.links[2].name}"]
    load = {"force": [1.0, -20.0, 3.0], "moment": [0.0, 0.0, 2.0]}
    found = supple.static_sensitivities(robot, theta, keys, **load)
    h = 1e-5

    def moved(shift: float, key: str) -> np.ndarray:
        if key.startswith("theta"):
            at = [theta[0], theta[1], theta[2] + shift]
            return supple.statics(robot, at, **load).moved
        changed = robot.with_(key, robot.links[0].length + shift)
        return supple.statics(changed, theta, **load).moved

    for key in keys:
        slope = (moved(h, key) - moved(-h, key)) / (2 * h)
        size = np.abs(slope).max()
        assert size > 1e-12
        np.testing.assert_allclose(found.derivatives[key], slope, rtol=1e-6, atol=1e-6 * size)


STEEL = {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700}
BAR = {"material": STEEL, "section": {"shape": "rectangle", "depth": 0.02, "width": 0.026}}


def _slope(function, value: float) -> np.ndarray:
    """A derivative by Richardson's extrapolation of steps of 1e-4: off by about 1e-9."""
    h = 1e-4 * value
    one, two = (
        (np.asarray(function(value + k * h)) - np.asarray(function(value - k * h))) / (2 * k * h)
        for k in (1, 2)
    )
    return (4 * one - two) / 3


@pytest.mark.parametrize("path", ["links.stem.length", "links.branch.at"])
def test_a_branch_close_to_the_end_of_a_link(path: str) -> None:
    """The piece between is 10 mm; steps of a per cent of the length, 5 mm, were off by a third."""
    robot = supple.MechanismRobot.model_validate(
        {
            "name": "branched",
            "planar": True,
            "gravity": [0, -9.81, 0],
            "links": [
                {"name": "stem", "length": 0.52, "joint": {"type": "fixed"}, **BAR},
                {
                    "name": "branch",
                    "parent": "stem",
                    "at": 0.51,
                    "length": 0.4,
                    "joint": {"type": "fixed", "mount": {"rpy": [0, 0, 1.0]}},
                    **BAR,
                },
                {
                    "name": "end",
                    "parent": "stem",
                    "length": 0.3,
                    "joint": {"type": "fixed", "mount": {"rpy": [0, 0, -0.7]}},
                    "tip": {"mass": 1.9},
                    **BAR,
                },
            ],
        }
    )
    value = 0.52 if path.endswith("length") else 0.51
    right = _slope(lambda x: supple.modes(robot.with_(path, x), count=3).omega, value)
    found = supple.sensitivities(robot, None, [path], count=3).derivatives[path]
    assert np.allclose(found, right, rtol=1e-6, atol=1e-6 * np.abs(right).max())
    moved = _slope(lambda x: supple.statics(robot.with_(path, x)).moved, value)
    found = supple.static_sensitivities(robot, None, [path]).derivatives[path]
    assert np.allclose(found, moved, rtol=1e-6, atol=1e-6 * np.abs(moved).max())


@pytest.mark.parametrize("ratio", [2.0, 20.0, 40.0, 400.0])
def test_roots_close_to_the_frequency_of_a_rotor_on_its_spring(ratio: float) -> None:
    """A rotor J on a spring k that carries I: omega^2 = k (1/J + 1/I).

    K(omega) has a pole at sqrt(k/J): steps of a per cent of omega came close to it, or past it.
    """
    k = 1000.0
    J = 0.08
    inertia = ratio * J
    joint = {"stiffness": k, "rotor_inertia": J}
    hub = {"joint": {**joint, "hub": {"inertia": inertia}}, "theory": "rigid"}
    link = {"name": "a", "length": 0.1, **hub}
    robot = supple.SerialRobot(name="rotor", planar=True, links=[link])
    path = "links.a.joint.hub.inertia"
    found = supple.sensitivities(robot, [0.0], [path], count=1, joints="free")
    omega = np.sqrt(k * (1 / J + 1 / inertia))
    assert found.omega[0] == pytest.approx(omega, rel=1e-9)
    assert found.derivatives[path][0] == pytest.approx(-k / (2 * omega * inertia**2), rel=1e-6)
