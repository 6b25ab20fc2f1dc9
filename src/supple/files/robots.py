"""Robot files: `load`, `loads` and `dump`. All faults of a file are reported, with their lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import library
from ..answers.registry import import_function
from ..arguments import checked
from ..editing import as_plain_data
from ..errors import RobotError, SuppleError
from ..faults import nearest, quote, validate_data
from ..robot import Robot, need_robot
from .data import read_bytes
from .disk import check_place, write_text
from .lenient import judge_inertias
from .reading import Document, read_yaml
from .writing import write

if TYPE_CHECKING:
    from .sidecar import Sidecar

__all__ = ["architectures", "dump", "load", "loads", "sidecar_text", "urdf_links"]

BYTES_LIMIT = 1_000_000
VERSION = 1
# Where the classes of the families that come with supple stand, by the word that `architecture:`
# of a robot file gives: a file imports its own and no other. `FAMILIES` knows every family.
DESCRIPTIONS = {
    "serial": "robot.serial:SerialRobot",
    "delta": "robot.delta:DeltaRobot",
    "mechanism": "robot.mechanism:MechanismRobot",
}


def architectures() -> dict[str, type[Robot]]:
    """Return the class of every family by its word in robot files."""
    from ..architectures.kinds import FAMILIES

    return {kind.model_fields["architecture"].default: kind for kind in FAMILIES}


def load(
    source: str | os.PathLike[str],
    sidecar: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    lenient: bool = False,
) -> Robot:
    """Read a robot from a file, from the library by its name, or from a URDF.

    Parameters
    ----------
    source : str or path
        Robot file (YAML), URDF, sidecar of a URDF, or a name that `supple robots` lists. A file of
        that name takes precedence over the library.
    sidecar : str, path or mapping, optional
        For a URDF: which of its links bend, and with which material and section. A sidecar that
        names its `urdf` may be given alone as `source`.
    lenient : bool
        Take what is refused otherwise, with a `RobotWarning` each: a negative principal inertia as
        zero; in the chain of a URDF, inertias that no rigid body can have as they are (robot files
        take them with a note anyway), and joint limits in the wrong order as none.

    Returns
    -------
    Robot
        A `SerialRobot`, `DeltaRobot` or `MechanismRobot`. It is immutable;
        ``robot.with_(path, value)`` returns a changed copy. Every function that takes a Robot takes
        `source` as well: ``supple.modes("industrial-3", [0, 0, 0])``.

    Raises
    ------
    RobotError
        Lists every fault of the file, one sentence each.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> [link.name for link in robot.links]
    ['link1', 'link2', 'link3']
    >>> robot.with_("links.link1.length", 2.0).links[0].length
    2.0
    """
    if not isinstance(source, str | os.PathLike):
        raise SuppleError(
            f"source is {quote(source)}: give the path of a robot file or a library name"
        )
    name = os.fspath(source)
    if name in library.names() and not os.path.isfile(name):
        text = library.path(name).read_text(encoding="utf-8")
    else:
        text = _text(name)
    if text.lstrip().startswith("<"):
        from .sidecar import Sidecar

        if sidecar is None or isinstance(sidecar, Mapping):
            bends = validate_data(Sidecar, dict(sidecar or {}), where="sidecar")
        else:
            sidecar_path = os.fspath(sidecar)
            own = read_yaml(_text(sidecar_path), sidecar_path)
            if not isinstance(own.data, Mapping):
                fault_sentence = "this is not a sidecar: keys such as flexible: come first"
                raise RobotError([fault_sentence], sidecar_path)
            bends = validate_data(Sidecar, own.data, own.lines, sidecar_path, own.faults)
        return _with_sidecar(text, bends, name, lenient)
    document = read_yaml(text, name)
    no_robot = isinstance(document.data, Mapping) and "links" not in document.data
    if no_robot and {"urdf", "flexible"} & set(document.data):
        from .sidecar import Sidecar

        given = validate_data(Sidecar, document.data, document.lines, name, document.faults)
        if given.urdf is None:
            raise RobotError(["urdf is missing: name the URDF file, or load it with this"], name)
        place = os.path.join(os.path.dirname(name), given.urdf)
        return _with_sidecar(_text(place), given, place, lenient)
    if sidecar is not None:
        raise SuppleError(f"sidecar is for a URDF: {name} is a robot file, which says it all")
    judged = judge_inertias(document.data, lenient)
    folder = os.path.dirname(os.path.abspath(name))
    seen_from_file = _with_mesh_names(judged, lambda mesh: os.path.join(folder, mesh))
    return _robot(document._replace(data=seen_from_file), name)


def _with_mesh_names(data: Any, rename: Callable[[str], str]) -> Any:
    """Return the data of a robot file with other names of the meshes in its `visuals`."""
    if isinstance(data, list):
        return [_with_mesh_names(part, rename) for part in data]
    if not isinstance(data, Mapping):
        return data
    changed = dict(data)
    for key, value in data.items():
        if key == "visuals" and isinstance(value, list):
            changed[key] = [_with_mesh_name(visual, rename) for visual in value]
        else:
            changed[key] = _with_mesh_names(value, rename)
    return changed


def _with_mesh_name(visual: Any, rename: Callable[[str], str]) -> Any:
    if not isinstance(visual, Mapping) or not isinstance(visual.get("mesh"), str):
        return visual
    return {**visual, "mesh": rename(visual["mesh"])}


def _relative_to(folder: str) -> Callable[[str], str]:
    """Return how a file in a folder names meshes: as seen from there, where both can move as one.

    A mesh that shares no folder but the root with the file keeps its whole name.
    """

    def rename(mesh: str) -> str:
        if not os.path.isabs(mesh):
            return mesh
        try:
            shared = os.path.commonpath([mesh, folder])
        except ValueError:  # two drives
            return mesh
        if os.path.dirname(shared) == shared:  # the root
            return mesh
        return Path(os.path.relpath(mesh, folder)).as_posix()

    return rename


def _with_sidecar(text: str, sidecar: Sidecar, where: str, lenient: bool) -> Robot:
    """The robot of a URDF and its sidecar; an exported sidecar holds it as a whole."""
    if sidecar.robot is None:
        from .urdf import urdf_robot

        return urdf_robot(text, sidecar, where, lenient)
    if sidecar.urdf_sha256 not in (None, _digest(text)):
        raise RobotError(
            [
                "this is not the URDF that its sidecar was exported with: export both again, or "
                "take robot: out of the sidecar and say there what bends"
            ],
            where,
        )
    return _robot(Document(judge_inertias(sidecar.robot, lenient), {}, []), where)


def sidecar_text(robot: Robot, urdf: str, text: str) -> str:
    """Return the sidecar of an exported URDF of this name and text: it gives the robot back."""
    need_robot(robot)
    data = {
        "supple": VERSION,
        "urdf": urdf,
        "urdf_sha256": _digest(text),
        "robot": as_plain_data(robot),
    }
    return write(data)


def _digest(text: str) -> str:
    """SHA-256 of a text, whatever its line ends are."""
    from hashlib import sha256

    return sha256("\n".join(text.splitlines()).encode()).hexdigest()


def urdf_links(source: str) -> list[str]:
    """Return the names of the links of a URDF file, in its order."""
    from .urdf_text import read_urdf

    return [link.name for link in read_urdf(_text(source), source)[1]]


def loads(text: str, where: str = "") -> Robot:
    """Read a robot from the text of a robot file.

    Parameters
    ----------
    text : str
        A YAML document, as it would stand in a robot file.
    where : str
        Name of the text in error messages, such as the name of its file.

    Returns
    -------
    Robot

    Raises
    ------
    RobotError
        Lists every fault of the text, one sentence each.

    Examples
    --------
    >>> import supple
    >>> text = supple.dump(supple.load("industrial-3"))
    >>> supple.loads(text) == supple.load("industrial-3")
    True
    """
    if not isinstance(text, str):
        raise SuppleError(f"text is {quote(text)}: give the text of a robot file")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise SuppleError("text holds half of a character (a lone surrogate): it is no text")
    return _robot(read_yaml(text, where), where)


def _robot(document: Document, where: str) -> Robot:
    # The class of the robot, after the checks that make sense of the rest
    data = document.data
    at = {key: f" (line {line})" for (key, *inner), line in document.lines.items() if not inner}
    if data is None:
        raise RobotError(["the file is empty: it must hold a robot, see `supple robots`"], where)
    if not isinstance(data, Mapping):
        what = "a list" if isinstance(data, list) else f"only {quote(data)}"
        raise RobotError([f"this is {what}, not a robot: keys such as name: come first"], where)
    version = data.get("supple", VERSION)
    architecture = data.get("architecture", "serial")
    if version != VERSION or isinstance(version, bool):
        fault_sentence = f"supple is {quote(version)}: this release reads format version {VERSION}"
        raise RobotError(
            [f"{fault_sentence}; write supple: {VERSION}{at.get('supple', '')}"], where
        )
    model: Any = None
    if isinstance(architecture, str):
        if architecture in DESCRIPTIONS:
            model = import_function(DESCRIPTIONS[architecture])
        else:
            model = architectures().get(architecture)
    if model is None:
        known = list(architectures())
        suggestion = nearest(str(architecture), known)
        fault_sentence = (
            f"architecture is {quote(architecture)}: it must be one of {', '.join(known)}"
        )
        hint = f"; did you mean '{suggestion}'?" if suggestion else ""
        raise RobotError([fault_sentence + hint + at.get("architecture", "")], where)
    if "architecture" not in data and "links" not in data and {"upper", "lower"} & set(data):
        raise RobotError(["architecture is missing: for this robot add architecture: delta"], where)
    if "architecture" not in data and "closures" in data:
        fault_sentence = (
            "architecture is missing: for a robot with closures add architecture: mechanism"
        )
        raise RobotError([fault_sentence], where)
    robot: Robot = validate_data(model, data, document.lines, where, document.faults)
    return robot


@checked
def dump(robot: Robot, path: str | os.PathLike[str] | None = None) -> str:
    """Write a robot as the text of a robot file.

    Default values are left out and numbers keep every digit: ``loads(dump(robot)) == robot``.

    Parameters
    ----------
    robot : Robot
        Robot to write.
    path : str or path, optional
        File to write as well. Meshes are named as seen from its folder, so that both can be moved
        together.

    Returns
    -------
    str
        The text of the robot file, YAML.

    Examples
    --------
    >>> import supple
    >>> text = supple.dump(supple.load("industrial-3"))
    >>> print(text.splitlines()[0])
    supple: 1
    """
    data = as_plain_data(robot)
    if path is None:
        return write(data)
    place = check_place(path)
    folder = os.path.dirname(os.path.abspath(place))
    text = write(_with_mesh_names(data, _relative_to(folder)))
    write_text(place, text)
    return text


def _text(name: str) -> str:
    """The text of a file, never more of it than a robot file may hold."""
    try:
        raw = read_bytes(name, BYTES_LIMIT + 1)
    except FileNotFoundError:
        known = library.names()
        suggestion = nearest(Path(name).name.removesuffix(".yaml"), known)
        hint = (
            f"did you mean '{suggestion}'?"
            if suggestion
            else f"the library holds {', '.join(known)}"
        )
        folder = Path(name).parent
        neighbour = nearest(Path(name).name, os.listdir(folder)) if folder.is_dir() else None
        if neighbour:
            hint = f"did you mean '{folder / neighbour}'?"
        not_found = f"{quote(name)} is neither a file nor a robot of the library: {hint}"
        raise SuppleError(not_found) from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        fault_sentence = f"{quote(name)} cannot be read: {why[:1].lower()}{why[1:]}"
        raise SuppleError(fault_sentence) from None
    if len(raw) > BYTES_LIMIT:
        raise RobotError(["the file is larger than 1 MB: this is not a robot file"], name)
    if b"\0" in raw:
        raise RobotError(["the file is binary: a robot file is YAML text"], name)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = raw[: problem.start].count(b"\n") + 1
        raise RobotError([f"the file is not UTF-8 text (line {line})"], name) from None
