"""Exact modes against an independent evaluation in forty digits (`twin`), on hard cases.

Every case checks three things. The first `count` roots agree with the twin's to 1e-12, a thousand
times better than what is promised (1e-9). The twin's refined roots are distinct. The twin finds, by
the winding of its own determinant, exactly `count` roots (and the rigid-body ones) below a
frequency between the last of them and the next: so root k is the k-th one and none is missing.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from analytic import twin
from supple.kernels.roots import natural_frequencies
from supple.robot import SerialRobot
from supple.structure import structure_of

PROMISED = 1e-9
ACHIEVED = 1e-12

STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800.0}


def link(name: str, length: float, depth: float, **more: Any) -> dict[str, Any]:
    """A steel strip 50 mm wide."""
    section = {"shape": "rectangle", "depth": depth, "width": 0.05, "shear_coefficient": 0.85}
    return {"name": name, "length": length, "material": STEEL, "section": section, **more}


def arm(*links: dict[str, Any], **more: Any) -> SerialRobot:
    return SerialRobot.model_validate({"name": "case", "planar": True, "links": links, **more})


@dataclass(frozen=True)
class Case:
    robot: SerialRobot
    theta: tuple[float, ...]
    count: int = 10
    joints: str = "locked"


def chain(n: int, depth: float, theory: str | None = None, spring: float | None = None) -> Any:
    joint = {"stiffness": spring} if spring else {}
    tip = {"mass": 0.3, "inertia": 1e-3}
    return arm(
        *(
            link(f"l{i}", 0.4 + 0.01 * i, depth, joint=joint, tip=tip, theory=theory)
            for i in range(n)
        )
    )


def mixed() -> SerialRobot:
    """Every theory once; hub, offset mount, mass centres off the axis, a fixed joint, a spring."""
    rod = {"mass_per_length": 3.0, "bending_stiffness": 5e3, "axial_stiffness": 2e7}
    box = {"shape": "box", "depth": 0.08, "width": 0.06, "wall": 0.004, "shear_coefficient": 0.44}
    hub = {"mass": 2.0, "com": [0.03, -0.02, 0.0], "inertia": 0.01}
    tip = {"mass": 1.5, "com": [0.05, 0.04, 0.0], "inertia": [0.1, 0.1, 0.02]}
    bend = {"type": "fixed", "mount": {"xyz": [0.05, 0.1, 0.0], "rpy": [0.0, 0.0, 0.4]}}
    return arm(
        {"name": "a", "length": 0.8, "material": STEEL, "section": box, "theory": "timoshenko"},
        {"name": "b", "theory": "rigid", "length": 0.3, "body": hub, "joint": {"hub": hub}},
        link("c", 0.6, 0.01, theory="euler-bernoulli", joint={"stiffness": 2e3}, tip=tip),
        {"name": "d", "length": 0.5, "joint": bend, **rod},
        link("e", 0.4, 0.008, theory="inextensible"),
        link("f", 0.2, 0.03, theory="rigid"),
        payload={"mass": 2.0, "com": [0.0, 0.1, 0.0], "inertia": 0.05},
    )


def pair(mass: float) -> SerialRobot:
    """A heavy body between two beams tuned alike: it couples them by about beam mass over `mass`.

    Clamped-clamped (4.730..) of the first link is put on clamped-free (1.875..) of the second.
    """
    second = 1.0 * 1.8751040687119611 / 4.730040744862704
    heavy = {"mass": mass, "inertia": mass}
    return arm(
        link("a", 1.0, 0.01, theory="inextensible", tip=heavy),
        link("b", second, 0.01, theory="inextensible"),
    )


def motors(*, spring: float | None) -> SerialRobot:
    joint = {"rotor_inertia": 0.02} | ({"stiffness": spring} if spring else {})
    plain: dict[str, Any] = {"hub": {"mass": 0.5, "inertia": 1e-3}}
    return arm(
        link("a", 0.5, 0.01, joint=joint, tip={"mass": 1.0, "inertia": 2e-3}),
        link("b", 0.4, 0.008, joint=plain),
        link("c", 0.3, 0.006, joint=joint, tip={"mass": 0.2}),
    )


def heavy(mass: float) -> SerialRobot:
    return arm(
        link("a", 0.5, 0.01),
        link("b", 0.4, 0.01),
        payload={"mass": mass, "inertia": 0.1 * mass},
    )


def at_the_limit() -> SerialRobot:
    """One link whose seventh root lies within 1e-9 of omega_lim = sqrt(kGA / rho I)."""
    return arm(link("a", 0.3250682407298852, 0.1))


# A slender or stiffly sprung chain is where absolute coordinates lose digits, a stubby one is where
# the shear terms rule, and beyond omega_lim the solutions change their kind.
CASES = {
    "slender, L/h = 800": Case(arm(link("a", 0.8, 1e-3), link("b", 0.8, 1e-3)), (0.3, 0.7), 20),
    "slender, three links, inextensible": Case(chain(3, 5e-4, "inextensible"), (0.0, 1.0, -2.0)),
    "stubby, L/h = 2": Case(arm(link("a", 0.4, 0.2), link("b", 0.3, 0.15)), (0.0, 0.8), 20),
    "stubby, L/h = 0.5": Case(arm(link("a", 0.1, 0.2)), (0.0,), 12),
    "above omega_lim": Case(arm(link("a", 0.3, 0.1), link("b", 0.3, 0.1)), (0.0, 1.2), 40),
    "a root at omega_lim": Case(at_the_limit(), (0.0,), 8),
    "nearly coincident pair, 1e-4": Case(pair(4e4), (0.0, 0.5), 6),
    "nearly coincident pair, 1e-9": Case(pair(4e9), (0.0, 0.5), 6),
    "axial and bending cross, straight": Case(chain(2, 0.03), (0.0, 1e-9), 16),
    "soft springs, 1e1": Case(chain(3, 0.02, spring=1e1), (0.2, 0.5, -0.9)),
    "stiff springs, 1e11": Case(chain(3, 0.02, spring=1e11), (0.2, 0.5, -0.9)),
    "slender with springs of 1e11": Case(chain(3, 5e-4, spring=1e11), (0.2, 0.5, -0.9)),
    "slender with springs of 1e1": Case(chain(3, 5e-4, spring=1e1), (0.2, 0.5, -0.9)),
    "20 links": Case(chain(20, 0.01), tuple(math.sin(3.0 * i) for i in range(20)), 12),
    "20 slender links, springs of 1e11": Case(
        chain(20, 1e-3, spring=1e11), tuple(math.cos(2.0 * i) for i in range(20)), 10
    ),
    "50 links": Case(chain(50, 0.02, "euler-bernoulli"), (0.1,) * 50, 5),
    "mixed theories": Case(mixed(), (0.1, 0.6, -1.1, 0.4, 0.9), 16),
    "heavy payload, 300 times the arm": Case(heavy(1e3), (0.0, 1.5)),
    "heavy payload, 300 000 times the arm": Case(heavy(1e6), (0.0, 1.5)),
    "cantilever, clamped-clamped next to it": Case(arm(link("a", 0.7, 0.02)), (0.0,), 12),
    "cantilever of Euler-Bernoulli": Case(
        arm(link("a", 0.7, 0.02, theory="inextensible")), (0.0,), 12
    ),
    "slender link on a stiff one": Case(
        arm(link("a", 0.3, 0.2), link("b", 0.9, 2e-3), link("c", 0.3, 0.2)), (0.0, 0.9, 0.0), 12
    ),
    "light links between heavy bodies": Case(
        arm(
            link("a", 0.5, 1e-3, tip={"mass": 1e3, "inertia": 1e2}),
            link("b", 0.5, 0.1, tip={"mass": 1e-6}),
        ),
        (0.0, 1.0),
        8,
    ),
    "free joints": Case(chain(3, 0.01), (0.0, 0.4, 1.0), 10, "free"),
    "free joints with rotors": Case(motors(spring=None), (0.0, 0.4, 1.0), 10, "free"),
    "free joints, springs in series": Case(motors(spring=40.0), (0.0, 0.4, 1.0), 10, "free"),
    "folded upon itself": Case(chain(2, 0.01), (0.0, math.pi), 12),
}


def roots(case: Case, tolerance: float | None = None) -> tuple[np.ndarray, int]:
    structure = structure_of(case.robot, case.theta, case.joints)
    more = {} if tolerance is None else {"tolerance": tolerance}
    skip = structure.rigid_modes
    return natural_frequencies(structure.tree(), case.count + 1, skip, 1.0, **more).omega[0], skip


LONG = ("20 links", "20 slender links, springs of 1e11", "50 links")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in CASES]
)
def test_against_forty_digits(name: str) -> None:
    case = CASES[name]
    omega, rigid = roots(case)
    links = twin.pieces(case.robot, case.theta, case.joints)
    exact = [twin.refine(links, w) for w in omega[:-1]]
    errors = [abs(float((w - x) / x)) for w, x in zip(omega, exact, strict=False)]
    assert max(errors) <= ACHIEVED, f"worst {max(errors):.1e} at root {np.argmax(errors) + 1}"
    assert all(b - a > a * 1e-20 for a, b in itertools.pairwise(exact))
    between = math.sqrt(omega[-2] * omega[-1])
    assert twin.zeros_below(links, between, 8 + case.count) == case.count + rigid


def test_the_case_above_the_limit_is_above_it() -> None:
    """omega_lim = sqrt(kGA / rho I) lies among the roots of the cases that are about it."""
    E = 210e9
    nu = 0.3
    rho = 7800.0
    h = 0.1
    limit = math.sqrt(0.85 * E / (2 * (1 + nu)) / rho / (h**2 / 12))
    above, _ = roots(CASES["above omega_lim"])
    assert (above > limit).sum() > 10
    near, _ = roots(CASES["a root at omega_lim"])
    assert np.min(abs(near / limit - 1)) < 1e-9


def test_the_pairs_are_close() -> None:
    for name, gap in (("1e-4", 1e-4), ("1e-9", 1e-9)):
        omega, _ = roots(CASES[f"nearly coincident pair, {name}"])
        assert np.min(np.diff(omega) / omega[:-1]) < gap


def test_the_twin_can_fail() -> None:
    """A robot that is slightly another one is told apart, and the count sees a missing root."""
    case = CASES["mixed theories"]
    omega, _ = roots(case)
    other = case.robot.model_copy(update={"payload": None})
    links = twin.pieces(other, case.theta)
    assert abs(float(twin.refine(links, omega[0]) / omega[0]) - 1) > PROMISED
    assert twin.zeros_below(links, 1.001 * omega[4]) >= 4
    assert twin.zeros_below(twin.pieces(case.robot, case.theta), 1.0001 * omega[4]) == 5
