"""`supple import` and `supple materials`: robots that people already have, made to bend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import Json, Lenient, numbers
from ..output import plain, print_json, print_table, say

if TYPE_CHECKING:
    from ...robot import Robot

__all__ = ["import_", "materials"]

Urdf = Annotated[str | None, typer.Argument(metavar="ARM.urdf", help="A URDF file; not with --dh.")]
Rows = Annotated[
    str | None,
    typer.Option(
        "--dh",
        metavar="TABLE.csv",
        help="A table of Denavit-Hartenberg rows instead of a URDF: columns a, d, alpha, theta, "
        "and optionally name and mass; `alpha [deg]` for degrees.",
    ),
]
Convention = Annotated[
    str,
    typer.Option("--convention", metavar="standard|modified", help="Convention of the --dh rows."),
]
Flexible = Annotated[
    list[str] | None,
    typer.Option(
        "--flexible",
        metavar="LINK=SHAPE:SIZES:MATERIAL",
        help="A flexible link, such as forearm=tube:0.08,0.003:aluminium. Sizes may have units, "
        "80mm,3mm; the material is one of `supple materials`. May be repeated.",
    ),
]
SidecarFile = Annotated[
    str | None,
    typer.Option("--sidecar", metavar="FILE", help="A sidecar file with the flexible links."),
]
Out = Annotated[
    str | None,
    typer.Option("--out", metavar="ARM.yaml", help="Robot file to write. Default: print it."),
]
Base = Annotated[str | None, typer.Option("--base", help="First link. Default: the root.")]
Tip = Annotated[
    str | None, typer.Option("--tip", help="Last link. Default: the one behind the most joints.")
]
Gravity = Annotated[
    str | None,
    typer.Option("--gravity", metavar="gx,gy,gz", help="Gravity, m/s2. Default: 0,0,-9.81."),
]
Rest = Annotated[
    str,
    typer.Option(
        "--rest",
        metavar="keep|drop",
        help="What becomes of the mass of a --flexible link that its beam does not have: kept as "
        "bodies at both ends of the beam, or dropped.",
    ),
]
Stiffness = Annotated[
    list[str] | None,
    typer.Option(
        "--stiffness",
        metavar="JOINT=2e4",
        help="Stiffness of a joint's gear, N m/rad, such as elbow=2e4 or elbow=20kNm/rad; a number "
        "alone is for every joint that turns. May be repeated.",
    ),
]
RotorInertia = Annotated[
    list[str] | None,
    typer.Option(
        "--rotor-inertia",
        metavar="JOINT=0.4",
        help="Inertia of a joint's motor on the joint side, kg m2; a number alone is for every "
        "joint. May be repeated.",
    ),
]


def import_(
    urdf: Urdf = None,
    dh: Rows = None,
    convention: Convention = "standard",
    flexible: Flexible = None,
    rest: Rest = "keep",
    stiffness: Stiffness = None,
    rotor_inertia: RotorInertia = None,
    sidecar: SidecarFile = None,
    base: Base = None,
    tip: Tip = None,
    gravity: Gravity = None,
    lenient: Lenient = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Make a robot file from a URDF or a Denavit-Hartenberg table, with flexible links."""
    from ... import files
    from ...files.disk import check_place

    if out is not None:
        for source in (urdf, dh, sidecar):
            check_place(out, source)
    if (urdf is None) == (dh is None):
        raise SuppleError("give either a URDF file or --dh TABLE.csv")
    if dh is not None:
        if flexible or sidecar or base or tip or stiffness or rotor_inertia or lenient:
            raise SuppleError(
                "--flexible, --stiffness, --rotor-inertia, --sidecar, --base, --tip and --lenient "
                "are for a URDF: in the robot file that --dh writes, give a link material and "
                "section and remove its theory: rigid, and give its joint a stiffness"
            )
        from ...files.dh_tables import read_dh_table

        falls = (0.0, 0.0, -9.81) if gravity is None else numbers(gravity, "--gravity", 3)
        _write(read_dh_table(dh, convention, falls), out, json)
        return
    assert urdf is not None
    if rest not in ("keep", "drop"):
        raise SuppleError(f"--rest {rest}: it must be keep or drop")
    drives = {"stiffness": stiffness or [], "rotor_inertia": rotor_inertia or []}
    typed = flexible or base or tip or gravity or rest != "keep" or any(drives.values())
    if sidecar is not None and typed:
        raise SuppleError(
            "--sidecar says it all: leave --flexible, --rest, --stiffness, --rotor-inertia, "
            "--base, --tip, --gravity out"
        )
    given: Any = sidecar
    if sidecar is None:
        given = _sidecar(flexible or [], rest, base, tip, gravity)
        # The links meant: by their full name, or by the only name that begins with what is given
        bending = given["flexible"]
        from ...files.robots import urdf_links

        names = urdf_links(urdf) if bending else []
        found = {}
        for said, bends in bending.items():
            begun = [name for name in names if name.startswith(said)]
            found[begun[0] if said not in names and len(begun) == 1 else said] = bends
        given["flexible"] = found
        if any(drives.values()):
            moving = _moving_joints(urdf, given, lenient)
            given["joints"] = _drives(drives, moving)
    _write(files.load(urdf, given, lenient=lenient), out, json)


def _moving_joints(urdf: str, sidecar: dict[str, Any], lenient: bool) -> dict[str, bool]:
    """Whether each joint of the chain with a motor slides, by its name."""
    import warnings

    from ... import files
    from ...architectures.kinds import architecture_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told when the whole is loaded
        robot = files.load(urdf, sidecar, lenient=lenient)
    return {drive.name: drive.slides for drive in architecture_of(robot).drives}


def _drives(given: dict[str, list[str]], moving: dict[str, bool]) -> dict[str, dict[str, Any]]:
    """What --stiffness and --rotor-inertia say, joint by joint; a number alone is for all."""
    found: dict[str, dict[str, Any]] = {}
    for key, texts in given.items():
        option = "--" + key.replace("_", "-")
        for text in texts:
            joint, equals, value = text.rpartition("=")
            if not value or (equals and not joint):
                raise SuppleError(
                    f"{option} {text}: write JOINT=VALUE, or one value for all joints"
                )
            if joint:
                names = [joint]
            elif key == "stiffness":
                names = [name for name, slides in moving.items() if not slides]
            else:
                names = list(moving)
            try:
                number: Any = float(value)
            except ValueError:
                number = value  # with its unit, read as in a robot file
            for name in names:
                found.setdefault(name, {})[key] = number
    return found


def _write(robot: Robot, out: str | None, json: bool) -> None:
    """Write or print the robot file."""
    from ... import files

    text = files.dump(robot, out)
    if json:
        print_json(_document(robot, out, text))
    elif out is None:
        say(text, nl=False)
    else:
        document = _document(robot, out, text)
        bends = plain(", ".join(document["flexible"]) or "none")
        say(f"{plain(robot.name)}: {len(document['joints'])} joints; links that bend: {bends}")
        say(f"Saved: {out}")


def _document(robot: Robot, out: str | None, text: str) -> dict[str, Any]:
    from ...architectures.kinds import architecture_of

    links = architecture_of(robot).parts()
    return {
        "robot": robot.name,
        "joints": [drive.name for drive in architecture_of(robot).drives],
        "flexible": [path.rpartition(".")[2] for path, link in links.items() if not link.rigid],
        "file": out,
        "text": text,
    }


def _sidecar(
    flexible: list[str], rest: str, base: str | None, tip: str | None, gravity: str | None
) -> dict[str, Any]:
    """What the options say, as a sidecar."""
    from ... import library

    found: dict[str, Any] = {"flexible": {}, "materials": {}}
    for text in flexible:
        link, _, described = text.partition("=")
        shape, _, described = described.partition(":")
        sizes, _, material = described.partition(":")
        if not (link and shape and sizes and material):
            raise SuppleError(
                f"--flexible {text}: write LINK=SHAPE:SIZES:MATERIAL, such as "
                "forearm=tube:0.08,0.003:aluminium"
            )
        found["materials"][material] = library.material(material)
        # A section from its sizes in the order of their keys
        from ...values import quantity

        keys = {
            "tube": ("diameter", "wall"),
            "circle": ("diameter",),
            "box": ("depth", "width", "wall"),
            "rectangle": ("depth", "width"),
        }.get(shape)
        if keys is None:
            raise SuppleError(f"--flexible {text}: shape is tube, circle, box or rectangle")
        parts = sizes.split(",")
        if len(parts) != len(keys):
            raise SuppleError(f"--flexible {text}: {shape} takes {', '.join(keys)}, metres or 80mm")
        try:
            values = [float(p) if p[-1:].isdecimal() else quantity(p, "m") for p in parts]
        except ValueError as problem:
            raise SuppleError(f"--flexible {text}: {problem}") from None
        section = {"shape": shape, **dict(zip(keys, values, strict=True))}
        found["flexible"][link] = {"material": material, "section": section, "rest": rest}
    found |= {key: value for key, value in (("base", base), ("tip", tip)) if value is not None}
    if gravity is not None:
        found["gravity"] = numbers(gravity, "--gravity", 3)
    return found


def materials(json: Json = False) -> None:
    """List common materials in SI units with their sources. A robot file defines its own."""
    from ... import library

    table = library.materials()
    if json:
        print_json({"materials": table})
        return
    rows = [
        (
            name,
            f"{library.material(name).E / 1e9:.4g}",
            "-" if "layup" in each else f"{each['poisson_ratio']:g}",
            f"{each['density']:g}",
            f"{each['yield_strength'] / 1e6:g}" if "yield_strength" in each else "-",
            each["source"],
        )
        for name, each in table.items()
    ]
    heads = ("name", "E, GPa>", "nu>", "density, kg/m^3>", "yield, MPa>", "source")
    print_table(heads, rows)
    if any("layup" in each for each in table.values()):
        say("\nE of a laminate is that of all its plies, along the link; see layup in robot files.")
