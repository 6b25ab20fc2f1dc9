"""A robot for Exudyn: a script and its numbers, segments and springs on one kinematic tree."""

from __future__ import annotations

import io
import runpy
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..arguments import whole_number
from ..errors import SuppleError
from ..files.disk import fill, write_text, writing
from ..robot import Robot
from ..structure import as_mechanism
from .exporter import Exporter, Request, Written
from .mujoco_model import RULE, Mujoco, chain_model, joint_values
from .names import comment_text, xml_text
from .skeleton import Skeleton, skeleton_of

__all__ = ["Exudyn", "tree_numbers", "tree_tip"]

Array = NDArray[np.float64]


class Exudyn(Exporter):
    """A folder with `NAME.py` and `NAME.npz`; the script needs Exudyn and NumPy alone."""

    about: ClassVar = "Exudyn script and numbers: segments and springs on a kinematic tree"
    options: ClassVar = {"segments": whole_number(1, 200)}

    def refuse(self, robot: Robot) -> None:
        """Raise where the tree or its closures cannot be held."""
        Mujoco().refuse(robot)
        for closure in as_mechanism(robot).closures:
            if closure.type not in ("revolute", "spherical", "fixed"):
                raise SuppleError(
                    f"{robot.name} has a {closure.type} closure, which this script does not write: "
                    "export it to mujoco, c or fmu"
                )

    def write(self, request: Request, path: Path) -> Written:
        """Write both files and run the script for its frequencies."""
        segments = int(request.options.get("segments", 8))
        notes: list[str] = []
        first = 2 * np.pi * float(request.exact_hz[0]) if len(request.exact_hz) else 0.0
        tree = chain_model(request.robot, request.theta, segments, first, notes)
        numbers = tree_numbers(request.robot, request.theta, tree)
        memory = io.BytesIO()
        np.savez(memory, allow_pickle=False, **numbers)
        data = path / f"{request.name}.npz"
        script = path / f"{request.name}.py"
        with writing(data) as aside:
            fill(aside, memory.getvalue())
        template = package_files(__package__).joinpath("exudyn_robot.py.tmpl")
        text = template.read_text(encoding="utf-8").replace("@NAME@", request.name)
        write_text(script, text.replace("@HEAD@", "Frequencies are not known yet."))
        found = np.zeros(0)
        if len(request.exact_hz):
            found = _run(script, request.count)
        head = [*request.error_lines(found, RULE), *notes]
        lines = "\n".join(comment_text(line) for line in head)
        write_text(script, text.replace("@HEAD@", lines))
        return Written((script, data), found, RULE, tuple(notes))


def _run(script: Path, count: int) -> Array:
    """Frequencies that the written script finds, Hz."""
    try:
        import exudyn  # noqa: F401
    except ImportError:
        raise SuppleError(
            "Exudyn is not installed, and the export is judged with it: pip install exudyn"
        ) from None
    return np.asarray(runpy.run_path(str(script))["natural_frequencies"](count), float)


def _values(element: ElementTree.Element, word: str, otherwise: str) -> Array:
    return np.array([float(x) for x in element.get(word, otherwise).split()])


def _frame(element: ElementTree.Element) -> Array:
    """The (4, 4) transform that `pos` and `quat` of an element say."""
    from scipy.spatial.transform import Rotation

    T = np.eye(4)
    w, x, y, z = _values(element, "quat", "1 0 0 0")
    T[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
    T[:3, 3] = _values(element, "pos", "0 0 0")
    return T


def _turned_to_z(axis: Array) -> Array:
    """A rotation (4, 4) whose third column is the axis."""
    n = axis / np.linalg.norm(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(n)))]
    x = np.cross(helper, n)
    x = x / np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack([x, np.cross(n, x), n])
    return T


def tree_numbers(robot: Robot, theta: Array, tree: ElementTree.Element) -> dict[str, Any]:
    """Return the tree of a chain model as arrays: one link for each motion, axes along z.

    Links between two motions of one body weigh nothing. Closures are frames on two links.
    """
    skeleton = skeleton_of(robot)
    rows: dict[str, list[Any]] = {
        key: []
        for key in (
            *("parents", "slides", "transforms", "masses", "centres", "inertias"),
            *("stiffness", "damping", "rest", "rotors", "start"),
        )
    }
    names: list[str] = []
    start = joint_values(robot, theta)
    # where every body ends: the number of its last link, and its axes seen from that link
    ends: dict[str, tuple[int, Array]] = {}

    def walk(element: ElementTree.Element, parent: int, seen: Array) -> None:
        for body in element.findall("body"):
            if body.get("name", "").startswith("closure:"):
                continue  # small bodies that MuJoCo's closures need
            last = parent
            offset = seen @ _frame(body)
            for joint in body.findall("joint"):
                align = _turned_to_z(_values(joint, "axis", "0 0 1"))
                value = float(start.get(joint.get("name", ""), 0.0))
                transform = offset @ align
                if "ref" in joint.attrib:  # a slide stands where it was written at its reference
                    shift = np.eye(4)
                    shift[2, 3] = -float(joint.get("ref", "0"))
                    transform = transform @ shift
                rows["parents"].append(last)
                rows["slides"].append(int(joint.get("type") == "slide"))
                rows["transforms"].append(transform)
                rows["masses"].append(0.0)
                rows["centres"].append(np.zeros(3))
                rows["inertias"].append(np.zeros((3, 3)))
                rows["stiffness"].append(float(joint.get("stiffness", "0")))
                rows["damping"].append(float(joint.get("damping", "0")))
                rows["rest"].append(float(joint.get("springref", "0")))
                rows["rotors"].append(float(joint.get("armature", "0")))
                rows["start"].append(value)
                names.append(joint.get("name", ""))
                last = len(names) - 1
                offset = align.T
            inertial = body.find("inertial")
            if last >= 0 and inertial is not None:
                _add_mass(rows, last, offset, inertial)
            ends[body.get("name", "")] = (last, offset)
            walk(body, last, offset)

    world = tree.find("worldbody")
    assert world is not None
    walk(world, -1, np.eye(4))
    found: dict[str, Any] = {key: np.array(values) for key, values in rows.items()}
    motors = [names.index(xml_text(link.name)) for link in skeleton.motors]
    found["motors"] = np.array(motors, int)
    found["gravity"] = skeleton.gravity
    found |= _closures(skeleton, tree, ends)
    for body in tree.iter("body"):
        for site in body.findall("site"):
            if site.get("name") == "tip":
                last, seen = ends[body.get("name", "")]
                found["tip_link"] = np.array(last)
                found["tip_frame"] = seen @ _frame(site)
    return found


def tree_tip(given: Any, coordinates: Array) -> Array:
    """Return the position of the tip (3,) at coordinates of the tree."""
    frames: list[Array] = []
    for k, parent in enumerate(given["parents"]):
        before = frames[parent] if parent >= 0 else np.eye(4)
        motion = np.eye(4)
        value = float(coordinates[k])
        if given["slides"][k]:
            motion[2, 3] = value
        else:
            motion[:2, :2] = [[np.cos(value), -np.sin(value)], [np.sin(value), np.cos(value)]]
        frames.append(before @ given["transforms"][k] @ motion)
    return np.asarray((frames[int(given["tip_link"])] @ given["tip_frame"])[:3, 3])


def _add_mass(
    rows: dict[str, list[Any]], k: int, seen: Array, inertial: ElementTree.Element
) -> None:
    """Add a body to link k; bodies without a motion of their own share one."""
    R = seen[:3, :3]
    p = seen[:3, 3]
    mass = float(inertial.get("mass", "0"))
    centre = R @ _values(inertial, "pos", "0 0 0") + p
    xx, yy, zz, xy, xz, yz = _values(inertial, "fullinertia", "0 0 0 0 0 0")
    tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    old_mass = rows["masses"][k]
    old_centre = rows["centres"][k]
    old_tensor = rows["inertias"][k]
    total = old_mass + mass
    common = (old_mass * old_centre + mass * centre) / total
    for m, c in ((old_mass, old_centre), (mass, centre)):
        d = c - common
        tensor = tensor + m * (d @ d * np.eye(3) - np.outer(d, d))
    rows["masses"][k] = total
    rows["centres"][k] = common
    rows["inertias"][k] = old_tensor + tensor


def _closures(
    skeleton: Skeleton, tree: ElementTree.Element, ends: dict[str, tuple[int, Array]]
) -> dict[str, Any]:
    """Links (c, 2), frames (c, 2, 4, 4) and held axes (c, 6) of the closures."""
    holders = {}
    for element in tree.iter():
        for child in element.findall("site"):
            holders[child.get("name", "")] = (element, child)
    bodies = {id(body): body.get("name", "") for body in tree.iter("body")}
    parent_body = {id(child): body for body in tree.iter() for child in body.findall("body")}
    links = []
    frames = []
    axes = []
    for k, closure in enumerate(skeleton.closures):
        axis = np.asarray(closure.axis or (0, 0, 1), float)
        align = _turned_to_z(axis)
        both_links = []
        both_frames = []
        for word in ("a", "b"):
            holder, site = holders[f"closure:{k}:{word}"]
            T = _frame(site)
            name = bodies.get(id(holder), "")
            if name.startswith("closure:"):
                T = _frame(holder) @ T
                name = bodies.get(id(parent_body[id(holder)]), "")
            link, seen = ends.get(name, (-1, np.eye(4)))
            both_links.append(link)
            both_frames.append(seen @ T @ align)
        links.append(both_links)
        frames.append(both_frames)
        turns = {"revolute": [1, 1, 0], "spherical": [0, 0, 0], "fixed": [1, 1, 1]}[closure.type]
        planar = skeleton.planar
        axes.append([1, 1, 0, 0, 0, turns[2]] if planar else [1, 1, 1, *turns])
    count = len(links)
    return {
        "closure_links": np.array(links, int).reshape(count, 2),
        "closure_frames": np.array(frames, float).reshape(count, 2, 4, 4),
        "closure_axes": np.array(axes, int).reshape(count, 6),
    }
