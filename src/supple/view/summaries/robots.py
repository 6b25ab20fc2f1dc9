"""Summaries of what answers are computed from: a Robot and a Model."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from .layout import count_of, labelled, number, numbers, table

__all__ = ["basis_text", "model_text", "robot_text"]

MOST_COORDINATES = 12  # names of coordinates that are listed


def robot_text(robot: Any) -> str:
    """What the robot is made of: links with length, section and material, payload, gravity."""
    from ...architectures.kinds import architecture_of

    tree = architecture_of(robot)
    motors = {name for name, _ in tree.motors}
    rows = []
    for link in tree.form.links:
        elastic = "rigid" if link.theory == "rigid" else _elasticity(link)
        driven = "driven" if link.name in motors else ""
        joint = " ".join(word for word in (link.joint.type, driven) if word)
        length = "" if link.length is None else number(link.length)
        rows.append((link.name, length, elastic, joint))
    payload = "" if robot.payload is None else f"{number(robot.payload.mass)} kg"
    gravity = f"{numbers(robot.gravity)} m/s2" if any(robot.gravity) else "none"
    return "\n".join(
        [
            f"{robot.name}: {tree.description}",
            *table(("link", "length (m)", "material, section", "joint"), rows),
            *labelled(
                [
                    ("closures", ", ".join(str(closure.name) for closure in tree.form.closures)),
                    ("payload", payload),
                    ("gravity", gravity),
                    ("source", robot.source or ""),
                ]
            ),
        ]
    )


def _elasticity(link: Any) -> str:
    """Material and section of a link by name, or what stands in their place."""
    if link.stations:
        return f"{count_of(len(link.stations), 'station')} along its length"
    named = [part for part in (link.material, link.section) if isinstance(part, str)]
    if named:
        return ", ".join(named)
    return "stiffness given" if link.bending_stiffness or link.axial_stiffness else "rigid"


def model_text(model: Any) -> str:
    """Coordinates of the equations of motion, their basis, and what acts beside stiffness."""
    elastic = model.size - model.joints
    names = list(model.coordinates)
    shown = ", ".join(names[:MOST_COORDINATES])
    if len(names) > MOST_COORDINATES:
        shown += f" and {len(names) - MOST_COORDINATES} more"
    damping = "none"
    if model.modal_damping is not None:
        damping = f"{number(100 * model.modal_damping, 3)} % of every mode"
    elif model.damping.any():
        damping = "of links and joints (.damping)"
    return "\n".join(
        [
            f"Model of {model.robot.name}: {count_of(model.joints, 'joint')} and "
            f"{count_of(elastic, 'other coordinate')}",
            *labelled(
                [
                    ("coordinates", shown),
                    ("basis", basis_text(model.basis)),
                    ("damping", damping),
                    ("friction", "of joints (.friction)" if model.friction.any() else "none"),
                    ("stiffening", "geometric stiffening included" if model.stiffening else ""),
                ]
            ),
        ]
    )


def basis_text(basis: Any) -> str:
    """The call that makes it: `AssumedModes(2)`, with what differs from the defaults."""
    words = []
    for field in fields(basis):
        value = getattr(basis, field.name)
        if field.default is MISSING:
            words.append(str(value))
        elif value is not field.default and value != field.default:
            words.append(f"{field.name}={value!r}")
    return f"{type(basis).__name__}({', '.join(words)})"
