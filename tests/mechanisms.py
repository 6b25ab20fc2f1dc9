"""Mechanisms that several tests share: Kuo's Delta written as a mechanism, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures import delta
from supple.robot import DeltaRobot, MechanismRobot


def delta_as_mechanism(robot: DeltaRobot, position: Any) -> MechanismRobot:
    """Return a Delta of single rods as links and closures, assembled near a platform position.

    Its legs are its own; the platform hangs on the first rod by the universal joint of the wrist,
    and the other two wrists are universal closures.
    """
    phi = delta.inverse(robot, position)[0]
    keys = ("length", "material", "section", "theory", "tip", "roll")
    upper, lower = ({k: getattr(part, k) for k in keys} for part in (robot.upper, robot.lower))
    links: list[dict[str, Any]] = []
    radius, out = robot.platform.radius, []
    for leg, angle in enumerate(robot.angles):
        c, s = np.cos(angle), np.sin(angle)
        hip = {"xyz": [robot.base_radius * c, robot.base_radius * s, 0.0], "rpy": [0, 0, angle]}
        motor = {"axis": [0, 1, 0], "mount": hip, "start": phi[leg, 0]}
        for key in ("stiffness", "rotor_inertia"):
            motor |= {key: getattr(robot.motor, key)} if getattr(robot.motor, key) else {}
        elbow = {"type": "universal", "start": list(phi[leg, 1:])}
        links.append({"name": f"upper{leg + 1}", "parent": "base", "joint": motor, **upper})
        links.append({"name": f"lower{leg + 1}", "joint": elbow, **lower})
        out.append({"xyz": [radius * c, radius * s, 0.0], "rpy": [0, 0, angle]})
    wrist = {
        "type": "universal",
        "axes": [[0, 0, 1], [0, 1, 0]],
        "start": [-phi[0, 2], -phi[0, 0] - phi[0, 1]],
    }
    links.append({"name": "wrist", "parent": "lower1", "joint": wrist, "theory": "rigid"})
    links.append(
        {
            "name": "platform",
            "joint": {"type": "fixed", "mount": {"xyz": [-radius, 0.0, 0.0]}},
            "theory": "rigid",
            "body": robot.platform.body,
        }
    )
    closures = [
        {
            "name": f"wrist{leg + 1}",
            "ends": [f"lower{leg + 1}", {"link": "platform", "mount": out[leg]}],
            "type": "universal",
            "axes": [[0, 0, 1], [0, 1, 0]],
        }
        for leg in (1, 2)
    ]
    return MechanismRobot.model_validate(
        {
            "name": f"{robot.name}-as-mechanism",
            "gravity": robot.gravity,
            "materials": dict(robot.materials),
            "sections": dict(robot.sections),
            "links": links,
            "closures": closures,
            "tip": "platform",
            "payload": robot.payload,
        }
    )
