"""Templates written out: an arm or a Delta as the mechanism that it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..architectures import delta
from ..architectures.kinds import Delta
from ..errors import SuppleError
from ..robot import DeltaRobot, MechanismRobot, SerialRobot

__all__ = ["written_arm", "written_delta"]


def written_arm(robot: SerialRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return an arm as a tree without branches."""
    if robot.coupling is not None:
        raise SuppleError(f"{robot.name} has mimic joints: no joint of a mechanism follows another")
    data = robot.model_dump(exclude_unset=True)
    return MechanismRobot.model_validate(data | {"architecture": "mechanism"})


def written_delta(robot: DeltaRobot, position: ArrayLike | None = None) -> MechanismRobot:
    """Return a Delta whose platform hangs on its first rod, with closures at its other wrists."""
    if robot.lower.rods == "twist":
        raise SuppleError(
            f"{robot.name} stands on constant-velocity joints (rods: twist): no closure is one; "
            "ask for rods single or parallelogram"
        )
    place = Delta(robot).usual()["position"] if position is None else position
    at, reason = delta.resolve(robot, None, place)
    if len(at) != 1 or reason[0]:
        raise SuppleError(reason[0] or "give one position to assemble a Delta at")
    data = robot.model_dump(exclude_unset=True)
    links, closures = _legs(robot, data, delta.inverse(robot, at[0, :3])[0])
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
    paired = robot.lower.rods == "parallelogram"
    half, radius = (robot.lower.spacing or 0.0) / 2 * paired, robot.platform.radius
    links: list[dict[str, Any]] = []
    wrists: list[tuple[str, dict[str, Any]]] = []
    for leg, angle in enumerate(robot.angles):
        c, s = np.cos(angle), np.sin(angle)
        hip = {"xyz": [robot.base_radius * c, robot.base_radius * s, 0.0], "rpy": [0, 0, angle]}
        motor = data.get("motor", {}) | {"axis": [0, 1, 0], "mount": hip, "start": phi[leg, 0]}
        arm = f"upper{leg + 1}"
        links.append({"name": arm, "parent": "base", "joint": motor, **upper})
        for tag, side in (("a", -half), ("b", half)) if half else (("", 0.0),):
            mount = {"xyz": [0, side, 0]}
            elbow = {"type": "universal", "start": list(phi[leg, 1:]), "mount": mount}
            rod = f"lower{leg + 1}{tag}"
            links.append({"name": rod, "parent": arm, "joint": elbow, **lower})
            place = [radius * c - side * s, radius * s + side * c, 0.0]
            wrists.append((rod, {"xyz": place, "rpy": [0, 0, angle]}))
    axes = [[0, 0, 1], [0, 1, 0]]
    level = [-phi[0, 2], -phi[0, 0] - phi[0, 1]]
    wrist = {"type": "universal", "axes": axes, "start": level}
    if half:  # Rz Ry Rx = Rz(-phi3) Ry(-phi1 - phi2)
        wrist = {"type": "spherical", "start": [0.0, *level[::-1]]}
    links.append({"name": "wrist", "parent": wrists[0][0], "joint": wrist, "theory": "rigid"})
    hub = {"type": "fixed", "mount": {"xyz": [-x for x in wrists[0][1]["xyz"]]}}
    body = robot.platform.body
    links.append({"name": "platform", "joint": hub, "theory": "rigid", "body": body})
    tie = {"type": "spherical"} if half else {"type": "universal", "axes": axes}
    closures = [
        {"name": f"wrist-{rod}", "ends": [rod, {"link": "platform", "mount": place}], **tie}
        for rod, place in wrists[1:]
    ]
    return links, closures
