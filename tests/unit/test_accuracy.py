"""Models beside the exact beams: torsion by default, `model.check()`, what `build` warns of."""

import numpy as np
import pytest

import supple
from supple import AssumedModes, FiniteElements
from supple.equations.equilibrium import static_state
from supple.studies.vibration.assumed import assumed_modes

TUBE = {
    "length": 1.0,
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700},
    "section": {"shape": "tube", "diameter": 0.05, "wall": 0.002},
}


def bent_arm(**more: object) -> supple.SerialRobot:
    """An L: the second link stands across the first, so that its weight twists it."""
    links = [
        {"name": "one", **TUBE},
        {"name": "two", "joint": {"mount": {"rpy": [0, 0, "90deg"]}}, **TUBE},
    ]
    return supple.SerialRobot.model_validate(
        {"name": "bent", "gravity": [0, 0, -9.81], "links": links, **more}
    )


def sag_error(model: supple.Model) -> float:
    """How far the sag of the equations of motion is from `statics`, at zero."""
    start = np.zeros(model.size)
    sag = model.tip(static_state(model)) - model.tip(start)
    exact = supple.statics(model.robot, np.zeros(model.joints)).tip_displacement
    return float(np.linalg.norm(sag - exact) / np.linalg.norm(exact))


def test_links_of_spatial_robots_twist_by_default() -> None:
    model = supple.build(bent_arm(), AssumedModes(2))
    assert [name for name in model.coordinates if "torsion" in name] == [
        "eta.one.torsion1",
        "eta.two.torsion1",
    ]
    assert sag_error(model) < 0.02
    planar = supple.build(supple.load("industrial-3"), AssumedModes(2))
    assert not [name for name in planar.coordinates if "torsion" in name]
    none = supple.build(supple.load("theodore-rrp"), AssumedModes(2))  # no torsional stiffness
    assert not [name for name in none.coordinates if "torsion" in name]


def test_without_inertia_in_torsion_there_is_no_shape() -> None:
    """A thin link that carries nothing: no inertia about its axis, so nothing to twist."""
    link = {"name": "thin", "length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 10.0,
            "torsional_stiffness": 5.0}  # fmt: skip
    robot = supple.SerialRobot.model_validate({"name": "thin", "links": [link]})
    assert not [n for n in supple.build(robot, AssumedModes(1)).coordinates if "torsion" in n]
    heavy = robot.with_("links.thin.polar_inertia_per_length", 1e-3)
    assert [n for n in supple.build(heavy, AssumedModes(1)).coordinates if "torsion" in n]


def test_a_model_without_torsion_is_told() -> None:
    with pytest.warns(supple.ModelWarning, match=r"try AssumedModes\(2, torsion=1\)"):
        model = supple.build(bent_arm(), AssumedModes(2, torsion=0))
    found = model.check()
    assert not found.good
    assert found.static == pytest.approx(sag_error(model), abs=0.4)  # of unit forces, the largest
    assert found.static > sag_error(model) > 0.05
    assert "torsion=1" in str(found)


def test_torsion_left_out_is_told_where_only_another_pose_shows_it() -> None:
    """Stretched out nothing twists. Across, the tip's sag under P is P L^3 (2/3 EI + 1/GJ)."""
    straight = bent_arm().with_("links.two.joint.mount.rpy", [0, 0, 0])
    with pytest.warns(supple.ModelWarning, match=r"torsion=1\) \(model.check\(theta\)\)") as shown:
        model = supple.build(straight, AssumedModes(2, torsion=0))
    assert len(shown) == 1
    assert model.check().good
    tube = supple.Tube(shape="tube", diameter=0.05, wall=0.002)
    EI = 70e9 * tube.constants()[1]
    GJ = 70e9 / (2 * 1.33) * tube.constants()[3]
    twist = 1 / GJ / (2 / (3 * EI) + 1 / GJ)
    assert model.check([np.pi / 2] * 2).static == pytest.approx(twist, rel=0.05)


def test_torsion_left_out_where_nothing_twists_is_quiet(recwarn: pytest.WarningsRecorder) -> None:
    """A joint that only turns the whole arm, a planar arm, and links without torsion."""
    one = bent_arm().model_copy(update={"links": bent_arm().links[:1]})
    for robot in (one, supple.load("industrial-3"), supple.load("theodore-rrp")):
        supple.build(robot, AssumedModes(2, torsion=0))
    assert not [w for w in recwarn if issubclass(w.category, supple.ModelWarning)]


@pytest.mark.parametrize(
    "basis", [AssumedModes(1), AssumedModes(3), AssumedModes(2, torsion=0), FiniteElements(1)]
)
def test_frequencies_are_those_of_model_and_beams(basis: supple.Basis) -> None:
    model = supple.build(bent_arm(), basis)
    found = model.check()
    own = assumed_modes(model, count=3).omega / (2 * np.pi)
    exact = supple.modes(model.robot, [0, 0], count=3).frequency_hz
    assert found.frequency_hz[:3] == pytest.approx(own, rel=1e-6)
    assert found.exact_hz[:3] == pytest.approx(exact, rel=1e-4)
    assert found.modal == pytest.approx(abs(own[0] / exact[0] - 1), abs=1e-4)


def test_a_good_basis_is_quiet(recwarn: pytest.WarningsRecorder) -> None:
    for robot in (bent_arm(), supple.load("industrial-3"), supple.load("kuo-delta")):
        assert supple.build(robot, AssumedModes(2)).check().good
    assert not [w for w in recwarn if issubclass(w.category, supple.ModelWarning)]


def test_what_cannot_be_checked_is_a_sentence() -> None:
    rigid = bent_arm().with_({"links.one.theory": "rigid", "links.two.theory": "rigid"})
    with pytest.raises(supple.SuppleError, match="cannot be checked"):
        supple.build(rigid, AssumedModes(1)).check()


def test_other_poses_can_be_asked() -> None:
    """Stretched out, the weight twists nothing: the same model is good there."""
    model = supple.build(bent_arm(), AssumedModes(2, torsion=0))
    assert not model.check().good
    assert model.check([0.0, -np.pi / 2]).good
