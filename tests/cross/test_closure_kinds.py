"""Every kind of closure against the joint that it is: two bars as a tree and as a loop.

Two bars that bend meet in a joint. As a tree the second hangs on the first by that joint (or by
massless links that make it: a slide and a ball for a slot, a rod for a distance; for shafts that
turn alike, which no chain of turns is, a ball with the closure on it). As a loop it hangs on the
ground by a free joint, which holds nothing, and the closure ties it to the first. Modes, statics,
motion and the linearised model must be the same.
"""

from typing import Any

import numpy as np
import pytest

from supple import AssumedModes, MechanismRobot, build, linearize, modes, simulate, statics
from supple.kernels.spatial import rpy_of

KINDS = (
    "fixed",
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "constant-velocity",
    "spherical",
    "slot",
    "distance",
)
BAR = {
    "material": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700},
    "section": {"shape": "rectangle", "depth": 0.006, "width": 0.009},
}
ROD = 0.15  # m, of the distance
OUT = 0.2  # m, where slides begin
BENT = {"slot": np.pi / 2, "distance": 0.0}  # rad, about z where the joint lets the bars turn


def rigid(name: str, parent: str, joint: dict[str, Any], length: float = 0.0) -> dict[str, Any]:
    """A link without mass."""
    made = {"name": name, "parent": parent, "joint": joint, "theory": "rigid"}
    return made | ({"length": length} if length else {})


def slide(name: str, parent: str, mount: dict[str, Any], start: float) -> dict[str, Any]:
    joint = {"type": "prismatic", "passive": True, "mount": mount, "start": start}
    return rigid(name, parent, joint, 4.0)


def twins(kind: str, planar: bool) -> tuple[MechanismRobot, MechanismRobot]:
    """The same two bars as a tree, and as a loop by a closure of this kind."""
    tilt = [0.0, 0.0, 0.3] if planar else [0.2, -0.3, 0.3]
    first = {"name": "first", "parent": "base", "joint": {"type": "revolute", "start": 0.5}}
    first |= {"length": 0.5, **BAR}
    second = {"name": "second", "length": 0.4, **BAR}
    second["tip"] = {"mass": 0.2, "inertia": [1e-4, 2e-4, 2.5e-4]}
    middle: list[dict[str, Any]] = []
    mount = {"rpy": tilt}
    bent = BENT.get(kind, 0.4)
    ball = [0.0, 0.0, bent]
    if kind in ("prismatic", "cylindrical", "slot"):
        middle = [slide("stick", "first", mount, OUT)]
    if kind == "distance":
        middle = [rigid("rod", "first", {"type": "universal", "mount": mount}, ROD)]
    own: dict[str, Any] = {
        "fixed": {"type": "fixed"},
        "prismatic": {"type": "fixed"},
        "revolute": {"type": "revolute", "passive": True, "start": bent},
        "cylindrical": {"type": "revolute", "passive": True, "axis": [1, 0, 0]},
        "universal": {"type": "universal", "start": [0.0, bent]},
    }.get(kind, {"type": "spherical", "start": ball})
    if planar:
        free = {"type": "revolute", "passive": True, "start": ball[2]}
        own = {"fixed": own, "prismatic": own, "cylindrical": {"type": "fixed"}}.get(kind, free)
        if kind == "distance":
            middle[0]["joint"] = {"type": "revolute", "passive": True, "mount": mount}
    whole = {"name": f"tree-{kind}", "planar": planar, "gravity": [1.0, -9.0, 0 if planar else 2.0]}
    whole["tip"] = "second"
    last = middle[-1]["name"] if middle else "first"
    tied = own if middle else {**own, "mount": mount}
    closure = {
        "type": kind,
        "ends": [{"link": "first", "mount": mount}, {"link": "second", "at": 0}],
    }
    closure |= {"distance": {"length": ROD}, "universal": {"axes": [[0, 1, 0], [0, 0, 1]]}}.get(
        kind, {}
    )
    if kind in ("cylindrical", "slot"):
        closure["axis"] = [1, 0, 0]
    links = [first, *middle, {**second, "parent": last, "joint": tied}]
    held = [closure] if kind == "constant-velocity" else []
    tree = MechanismRobot.model_validate(whole | {"links": links, "closures": held})
    R, p = _frames(tree)["second"]
    start = [*p[:2], rpy_of(R)[2]] if planar else [*p, *rpy_of(R)]
    links = [first, {**second, "parent": "base", "joint": {"type": "free", "start": start}}]
    named = {"name": f"loop-{kind}", "links": links, "closures": [closure]}
    return tree, MechanismRobot.model_validate(whole | named)


def _frames(robot: MechanismRobot) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    from supple.architectures.kinds import lower

    m = lower(robot)
    at = m.joints.place(m.start[None]).at
    return {link.name: (at.R[0, i], at.p[0, i]) for i, link in enumerate(robot.links)}


@pytest.mark.parametrize("planar", [True, False], ids=["plane", "space"])
@pytest.mark.parametrize("kind", KINDS)
def test_modes_and_statics(kind: str, planar: bool) -> None:
    tree, loop = twins(kind, planar)
    for joints in ("locked", "free"):
        one, two = (modes(robot, count=6, joints=joints) for robot in (tree, loop))
        assert one.rigid_modes == two.rigid_modes
        width = np.maximum(one.width, two.width)
        assert width.max() < 1e-8  # proven, though rods without mass blur some to 1.3e-9
        np.testing.assert_allclose(two.omega / one.omega, 1.0, atol=width.max())
    axes = _frames(tree)["second"][0]
    force = (
        20 * axes[:, 1 if kind in ("prismatic", "cylindrical") else 0]
    )  # no work on what is free
    weightless = [robot.with_("gravity", [0, 0, 0]) for robot in (tree, loop)]
    a, b = (statics(robot, force=force) for robot in weightless)
    assert force @ b.tip_displacement == pytest.approx(force @ a.tip_displacement, rel=1e-9)
    if kind == "fixed":  # nothing is free, so that all of it is determined
        np.testing.assert_allclose(b.moved, a.moved, atol=1e-9 * np.abs(a.moved).max())


QUICK = ("revolute", "prismatic", "slot", "distance")  # in the plane; a second or two each


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "planar"),
    [
        pytest.param(kind, planar, marks=[] if planar and kind in QUICK else [pytest.mark.soak])
        for planar in (True, False)
        for kind in KINDS
    ],
)
def test_motion_and_linearised_model(kind: str, planar: bool) -> None:
    tree, loop = twins(kind, planar)
    basis = AssumedModes(1, ends="free")
    one, two = (build(robot, basis, stiffening=True) for robot in (tree, loop))
    assert two.size == one.size
    runs = [
        simulate(
            model, tau=[1.0], duration=0.02, dt=1e-3, method="adams", tolerance=1e-10, limits=False
        )
        for model in (one, two)
    ]
    moved = np.ptp(runs[0].tip, axis=0).max()
    assert moved > 5e-4
    np.testing.assert_allclose(runs[1].tip, runs[0].tip, rtol=0, atol=1e-6 * moved)
    for run in runs:
        assert np.abs(run.balance).max() < 1e-7 * np.ptp(run.energies["kinetic"])
    assert runs[1].closure.max() < 1e-11
    still = []
    for robot in (tree, loop):
        model = build(robot.with_("gravity", [0, 0, 0]), basis, stiffening=True)
        q = model.chain.pose()
        still.append(linearize(model, q, 0 * q, [0.0]).frequencies)
    np.testing.assert_allclose(still[1], still[0], rtol=0, atol=1e-7 * still[0].max())
