"""The flexible four-bar of Bauchau et al. (Multibody System Dynamics 2016), one axis turned 5 deg.

Bars of 0.12, 0.24 and 0.12 m, steel (207 GPa, 0.3, 7800 kg/m^3), 16 mm square, the last 8 mm; the
crank turns at 0.6 rad/s. Rigid bars cannot move at all, since the third axis is not parallel to the
others; elastic ones do, by bending and twisting. What is printed of the sections is 52.99 MN,
1131 N m^2 and 733.5 N m^2 of the thick ones, 13.25 MN, 70.66 and 45.84 N m^2 of the thin one.
"""

import warnings

import numpy as np
import pytest

from supple import (
    FiniteElements,
    JointPD,
    MechanismRobot,
    PointToPoint,
    SmallRangeWarning,
    SuppleError,
    build,
    modes,
    simulate,
    statics,
)
from supple.structure import structure_of
from supple.studies.vibration.elements import element_modes

TILT = np.radians(5.0)


def four_bar(tilt: float = TILT) -> MechanismRobot:
    def bar(name: str, length: float, side: float, **joint: object) -> dict[str, object]:
        section = {"shape": "rectangle", "depth": side, "width": side}
        return {"name": name, "length": length, "material": steel, "section": section} | joint

    steel = {"young_modulus": 207e9, "poisson_ratio": 0.3, "density": 7800.0}
    right = np.pi / 2
    foot = {"xyz": [0.24, 0, 0]}
    links = [
        bar("crank", 0.12, 0.016, parent="base", joint={"start": right}),
        bar("coupler", 0.24, 0.016, joint={"passive": True, "start": -right}),
        bar(
            "follower",
            0.12,
            0.008,
            parent="base",
            joint={"passive": True, "start": right, "mount": foot},
        ),
    ]
    ends = ["coupler", {"link": "follower", "mount": {"rpy": [0, 0, -right]}}]
    closure = {"ends": ends, "type": "revolute", "axis": [np.sin(tilt), 0, np.cos(tilt)]}
    return MechanismRobot.model_validate(
        {"name": "misaligned", "links": links, "closures": [closure], "tip": "coupler"}
    )


def test_sections_are_those_that_are_printed() -> None:
    thick, _, thin = (s.beam for s in structure_of(four_bar()).segments)
    for beam, EA, EI, GJ, m in (
        (thick, 52.99e6, 1131.0, 733.5, 1.997),
        (thin, 13.25e6, 70.66, 45.84, 0.4992),
    ):
        found = (beam.EA, beam.EI[0], beam.GJ, beam.m)
        np.testing.assert_allclose(found, (EA, EI, GJ, m), rtol=1e-3)


def test_where_it_is_assembled() -> None:
    exact = modes(four_bar(), count=6)
    assert exact.certified
    above = element_modes(exact.structure, 6, 8, "quintic")
    assert (above.omega > exact.omega * (1 - 1e-9)).all()
    np.testing.assert_allclose(above.omega, exact.omega, rtol=1e-5)
    assert statics(four_bar(), force=[0, 0, 10.0]).small


def test_rigid_bars_cannot_move() -> None:
    with pytest.raises(SuppleError, match=r"cannot be assembled.*deg"):
        modes(four_bar(), [np.pi / 2 - 0.5], count=1)


@pytest.mark.soak
def test_elastic_bars_move_and_say_when_they_bend_too_far() -> None:
    """Turned by 0.3 rad at the speed of the paper the loop stays shut and energy is balanced."""
    model = build(four_bar(), FiniteElements(1), damping=0.02)
    start = model.chain.pose()[:1]
    path = PointToPoint(start, start - 0.3, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallRangeWarning)
        run = simulate(model, controller=JointPD(2e3, 20.0), trajectory=path, duration=0.5, dt=0.01)
    assert run.complete
    assert run.closure.max() < 1e-10
    assert run.openness < 1e-4
    assert run.theta[-1, 0] == pytest.approx(start[0] - 0.3, abs=5e-3)
    assert run.energies["elastic"][-1] > 1e-3  # what a rigid loop would not let happen
