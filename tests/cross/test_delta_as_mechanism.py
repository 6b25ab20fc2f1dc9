"""A Delta written as a mechanism: tree, universal and spherical ties, against its own equations."""

import math
from typing import Any

import numpy as np
import pytest

from supple import AssumedModes, DeltaRobot, MechanismRobot, build, load
from supple.architectures import delta
from supple.equations.closed.delta_legs import _carrying

HOME = np.array([0.0, 0.0, 0.8])


def as_mechanism(robot: DeltaRobot) -> MechanismRobot:
    """Legs on a tree, the platform hung on the first rod, the others tied to it.

    The platform's link runs from the first rod's end to the centre: x inward, y along the tangent.
    Rods of a parallelogram stand on universal joints, which lock their spin, and carry balls.
    """
    theta = delta.inverse(robot, HOME)[0, :, 0]
    sides = [("", 0.0)]
    if robot.lower.rods == "parallelogram":
        sides = [("a", -robot.lower.spacing / 2), ("b", robot.lower.spacing / 2)]
    links, closures, r = [], [], robot.platform.radius
    for k, angle in enumerate(robot.angles):
        place = [robot.base_radius * math.cos(angle), robot.base_radius * math.sin(angle), 0.0]
        joint = {
            "axis": [0, 1, 0],
            "mount": {"xyz": place, "rpy": [0, 0, angle]},
            "start": float(theta[k]),
        }
        links.append(
            {"name": f"upper{k + 1}", "parent": "base", "joint": joint} | _beam(robot.upper)
        )
        for tag, side in sides:
            start = _angles(robot, theta[k], angle)
            name = f"lower{k + 1}{tag}"
            joint = {"type": "universal", "mount": {"xyz": [0, side, 0]}, "start": start}
            links.append(
                {"name": name, "parent": f"upper{k + 1}", "joint": joint} | _beam(robot.lower)
            )
            if len(links) > 2:
                closures.append(_tie(name, robot, angle, side))
    start = _angles(robot, theta[0], robot.angles[0])
    level = [-start[1], math.pi - float(theta[0]) - start[0]]
    joint = {"type": "universal", "axes": [[0, 0, 1], [0, 1, 0]], "start": level}
    if len(sides) > 1:
        joint = {"type": "spherical", "start": [0.0, level[1], 0.0]}
    body = robot.platform.body
    tip = {"mass": body.mass, "inertia": np.diag(body.tensor()).tolist()}
    ball = {"type": "fixed"}
    if len(sides) > 1:  # from the ball, beside the leg's plane, to where the tangent is crossed
        links.append(
            {
                "name": "ball",
                "parent": "lower1a",
                "joint": joint,
                "length": 0.0,
                "theory": "rigid",
                "body": {"mass": 0.0},
            }
        )
        joint = ball | {"mount": {"xyz": [0.0, robot.lower.spacing / 2, 0.0]}}
    links.append(
        {
            "name": "platform",
            "parent": links[-1]["name"] if len(sides) > 1 else "lower1",
            "joint": joint,
            "length": r,
            "theory": "rigid",
            "body": {"mass": 0.0},
            "tip": tip,
        }
    )
    data = {
        "name": "delta",
        "architecture": "mechanism",
        "gravity": robot.gravity,
        "materials": robot.materials,
        "sections": robot.sections,
        "links": links,
        "closures": closures,
    }
    return MechanismRobot.model_validate(data)


def _beam(part: Any) -> dict[str, Any]:
    return {
        k: v for k, v in part.model_dump(exclude_unset=True).items() if k not in ("rods", "spacing")
    }


def _angles(robot: DeltaRobot, theta: float, angle: float) -> list[float]:
    """Angles of joint B at home: about the arm's y, about the rod's z."""
    x = HOME @ [math.cos(angle), math.sin(angle), 0], HOME @ [-math.sin(angle), math.cos(angle), 0]
    L1, L2 = robot.upper.length, robot.lower.length
    elbow = robot.base_radius - robot.platform.radius + L1 * math.cos(theta)
    rod = [x[0] - elbow, x[1], HOME[2] + L1 * math.sin(theta)]
    return [math.atan2(-rod[2], rod[0]) - float(theta), math.asin(rod[1] / L2)]


def _tie(name: str, robot: DeltaRobot, angle: float, side: float) -> dict[str, Any]:
    """A rod's end tied to the platform, in axes of its leg there."""
    turn = np.array(
        [[math.cos(angle), math.sin(angle), 0], [-math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    ) @ np.diag([-1.0, 1.0, -1.0])
    place = (turn @ [robot.platform.radius, side, 0.0]).tolist()
    end = {"link": "platform", "mount": {"xyz": place, "rpy": [0, math.pi, -angle]}}
    kind = (
        {"type": "universal", "axes": [[0, 0, 1], [0, 1, 0]]} if not side else {"type": "spherical"}
    )
    return {"ends": [name, end]} | kind


@pytest.mark.parametrize("rods", ["single", "parallelogram"])
def test_a_delta_written_as_a_mechanism_moves_as_the_delta(rods: str) -> None:
    robot = load("kuo-delta")
    if rods == "parallelogram":
        robot = robot.with_({"lower.rods": rods, "lower.spacing": 0.06})
    old = build(robot, AssumedModes(1))
    twin = as_mechanism(robot)
    arm, rod = _carrying(robot, AssumedModes(1)).ends
    ends = [arm if link.name.startswith("upper") else rod for link in twin.links]
    new = build(twin, AssumedModes(1, ends=ends))
    assert new.coordinates == old.coordinates
    rng = np.random.default_rng(1)
    q, qd = 1e-4 * rng.normal(size=old.size), 0.1 * rng.normal(size=old.size)
    q[:3], tau = delta.inverse(robot, [0.02, 0.03, 0.78])[0, :, 0], rng.normal(size=3)
    given = {
        "tip": (q,),
        "mass_matrix": (q,),
        "bias": (q, qd),
        "gravity": (q,),
        "energy": (q, qd),
        "inverse_dynamics": (q, qd, qd),
        "forward_dynamics": (q, qd, tau),
    }
    for name, args in given.items():
        a, b = (getattr(model, name)(*args) for model in (old, new))
        np.testing.assert_allclose(b, a, rtol=1e-10, atol=1e-10 * np.abs(a).max(), err_msg=name)
