"""Templates written out: an arm or a Delta as the mechanism that it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..architectures import delta
from ..architectures.kinds import Delta
from ..errors import SuppleError
from ..kernels.spatial import axis_rotation, rpy_of
from ..robot import DeltaRobot, MechanismRobot, SerialRobot

__all__ = ["written_arm", "written_delta"]


def written_arm(robot: SerialRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return an arm as a tree without branches."""
    data = robot.model_dump(exclude_unset=True)
    return MechanismRobot.model_validate(data | {"architecture": "mechanism"})


def written_delta(robot: DeltaRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return a Delta as three legs and a free platform, with closures at all wrists."""
    place = Delta(robot).usual()["position"] if position is None else position
    at, reason = delta.resolve(robot, None, place)
    if len(at) != 1 or reason[0]:
        raise SuppleError(reason[0] or "give one position to assemble a Delta at")
    data = robot.model_dump(exclude_unset=True)
    links, closures = _legs(robot, data, delta.inverse(robot, at[0, :3])[0])
    free = {"type": "free", "start": [*at[0, :3], 0.0, 0.0, 0.0]}
    platform = {"name": "platform", "parent": "base", "joint": free, "theory": "rigid"}
    links.append(platform | {"body": robot.platform.body})
    kept = ("gravity", "materials", "sections", "payload", "foundation", "source")
    whole = {key: data[key] for key in kept if key in data}
    whole |= {"name": f"{robot.name}-as-mechanism", "tip": "platform"}
    return MechanismRobot.model_validate(whole | {"links": links, "closures": closures})


def _legs(
    robot: DeltaRobot, data: dict[str, Any], phi: np.ndarray
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Links and closures of a Delta whose legs' joints stand at phi (3, 3)."""
    upper = data["upper"]
    lower = {k: value for k, value in data["lower"].items() if k not in ("rods", "spacing")}
    rods, radius = robot.lower.rods, robot.platform.radius
    half = (robot.lower.spacing or 0.0) / 2 * (rods == "parallelogram")
    links: list[dict[str, Any]] = []
    closures: list[dict[str, Any]] = []
    for leg, angle in enumerate(robot.angles):
        c, s = np.cos(angle), np.sin(angle)
        hip = {"xyz": [robot.base_radius * c, robot.base_radius * s, 0.0], "rpy": [0, 0, angle]}
        motor = data.get("motor", {}) | {"axis": [0, 1, 0], "mount": hip, "start": phi[leg, 0]}
        arm = f"upper{leg + 1}"
        links.append({"name": arm, "parent": "base", "joint": motor, **upper})
        for tag, side in (("a", -half), ("b", half)) if half else (("", 0.0),):
            elbow: dict[str, Any] = {"type": "universal", "start": list(phi[leg, 1:])}
            elbow["mount"] = {"xyz": [0, side, 0]}
            rod, on = f"lower{leg + 1}{tag}", arm
            place = [radius * c - side * s, radius * s + side * c, 0.0]
            wrist: dict[str, Any] = {"link": "platform", "mount": {"xyz": place}}
            wrist["mount"]["rpy"] = [0, 0, angle]
            tie: dict[str, Any] = {"type": "spherical", "ends": [rod, wrist]}
            if rods == "single":
                tie |= {"type": "universal", "axes": [[0, 0, 1], [0, 1, 0]]}
            if rods == "twist":  # a third turn, held by the arm as the platform holds the rod
                turned = [
                    axis_rotation((0, 1, 0), a) @ axis_rotation((0, 0, 1), phi[leg, 2])
                    for a in (phi[leg, 1], phi[leg, 0] + phi[leg, 1])
                ]
                wrist["mount"]["rpy"] = rpy_of(axis_rotation((0, 0, 1), angle) @ turned[1])
                tie |= {"type": "constant-velocity", "ends": [wrist, rod]}
                held = [{"link": arm, "mount": {"rpy": rpy_of(turned[0])}}, f"spin{leg + 1}"]
                closures.append({"name": f"elbow-{rod}", "type": tie["type"], "ends": held})
                spin = {"type": "revolute", "passive": True, "axis": [1, 0, 0]}
                for name, joint in ((f"elbow{leg + 1}", elbow), (f"spin{leg + 1}", spin)):
                    links.append({"name": name, "parent": on, "joint": joint, "theory": "rigid"})
                    on = name
                elbow = {"type": "fixed"}
            links.append({"name": rod, "parent": on, "joint": elbow, **lower})
            closures.append({"name": f"wrist-{rod}", **tie})
    return links, closures
