"""Any answer as a page: its Scene, tables and plots, chosen for the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...answers.registry import require_duty
from ...architectures.kinds import architecture_of
from ...errors import SuppleError
from ...robot import Robot
from ...studies.statics import Statics
from ...studies.vibration.modes import Modes, modes
from ...studies.vibration.neighbourhood import (
    FREQUENCIES_PER_SHAPE,
    Coordinate,
    around,
    coordinates_of,
    usual_pose,
)
from ..parameters import parameter
from ..scene.scene import POINTS, Scene, modes_scene, statics_scene, sweep_scene
from ..scene.scenes import is_elastic, poses_scene
from ..scene.varied import parameter_tracks
from ..wording import motors_of, tidy
from .page import (
    LIMIT,
    Chapter,
    Heat,
    Plot,
    Series,
    Table,
    check_page,
    page_text,
    pose_bytes,
    save_page,
)

if TYPE_CHECKING:
    from ...studies.motion.path_response import PathResponse
    from ...studies.motion.response import Response
    from ...studies.motion.stability import Stability
    from ...studies.vibration.workspace import FrequencyMap

__all__ = [
    "Report",
    "frequency_plots",
    "modes_report",
    "panels",
    "path_report",
    "report",
    "response_report",
    "robot_report",
    "save_report",
    "stability_report",
    "statics_report",
    "workspace_report",
]

Array = NDArray[np.float64]
SAMPLES = 400  # points of a curve over time
ROOM = 0.9 * LIMIT - 160_000  # bytes of a page for poses, beside its script and what is told
# Poses along each coordinate and stations a link, from the finest; the first that fits is taken.
ROOMS = ((21, 13), (15, 13), (11, 13), (9, 11), (7, 11), (5, 11), (5, 9), (3, 9), (3, 7))


@dataclass(frozen=True)
class Report:
    """A page before it is written."""

    title: str
    chapters: Sequence[Chapter]
    lead: Sequence[str] = field(default=())

    def text(self) -> str:
        """Return the whole page."""
        return page_text(self.title, self.chapters, self.lead)


def save_report(answer: Any, path: str | Path, **options: Any) -> Path:
    """Write the page of an answer and return its path."""
    check_page(path)
    found = report(answer, **options)
    return save_page(path, found.title, found.chapters, found.lead)


def report(answer: Any, **options: Any) -> Report:
    """Return the page of an answer: a Robot, Modes, Statics, a motion, Stability or a map."""
    page: Report = require_duty(answer, "report", "told on a page")(answer, **options)
    return page


def robot_report(robot: Robot, pose: Mapping[str, Any] | None = None, **options: Any) -> Report:
    """Return a robot at a pose, else its usual one, with its lowest modes where it has any."""
    at: Mapping[str, Any] = usual_pose(robot) if pose is None else pose
    if is_elastic(robot):
        return modes_report(modes(robot, count=6, **at), **options)
    lead = "Drag a slider to move the robot; drag the picture to turn it. Nothing of it is elastic."
    return Report(robot.name, [Chapter(scene=poses_scene(robot, at))], [lead])


def modes_report(
    found: Modes, nearby: int = 21, vary: Mapping[str, Any] | Sequence[str] = ()
) -> Report:
    """Return modes, with at most `nearby` poses along each coordinate of one configuration.

    `vary` names numbers of the robot's file that have sliders beside the joints, as {path: (low,
    high)} in SI, None for ends of a half and twice the value; or a list of paths.
    """
    ends = dict(vary) if isinstance(vary, Mapping) else dict.fromkeys(vary)
    parameters = [parameter(found.robot, path, each) for path, each in ends.items()]
    if parameters and found.omega.ndim > 1:
        raise SuppleError("vary is for the page of one configuration: ask modes.at(b)")
    source = f"Source: {found.robot.source}. " if found.robot.source else ""
    lead = [
        f"{source}Pick a mode to see how the robot vibrates, drawn much larger than it is; drag a "
        "slider to move the robot; drag the picture to turn it."
    ]
    if parameters:
        lead.append("Sliders of dimensions and stiffnesses show what frequencies follow.")
    if found.omega.ndim > 1:
        # Many configurations; where they are too many for a page, some of them, evenly spaced
        count, size = found.omega.shape
        room = max(2, int(ROOM / pose_bytes(len(found.structure.segments), size, POINTS)))
        scene = sweep_scene(found, most=room)
        shortened = f"it holds {room} of {count} configurations" if room < count else ""
    else:  # one configuration, with as many poses around it as a page holds
        coordinates = len(coordinates_of(found.robot)) if nearby > 1 else 0
        along = coordinates + (len(parameters) if nearby > 1 else 0)
        size = len(found.omega)
        links = len(found.structure.segments)
        scene = None
        shortened = "it holds no other poses"
        for wanted, points in ROOMS:
            poses = min(wanted, nearby)
            each = pose_bytes(links, size, points) + 20 * FREQUENCIES_PER_SHAPE * size
            if along * poses * each < ROOM:
                parts = around(found, count=poses, points=points) if coordinates else ()
                varied = parameter_tracks(found, parameters, poses, points) if along else ()
                note = f"it holds {poses} poses along each coordinate" if poses < nearby else ""
                scene = modes_scene(found, parts, varied=varied)
                shortened = note if along else ""
                break
        scene = scene or modes_scene(found)
    lead += [f"To keep this page small, {shortened}."] * bool(shortened)
    return Report(f"{found.robot.name}: modes", [Chapter(scene=scene)], lead)


def statics_report(sag: Statics) -> Report:
    """Return the bent robot and how its tip moves."""
    axes = ("x", "y", "z", "about x", "about y", "about z")
    scene = statics_scene(sag)
    moved = [*tidy(1e3 * sag.tip_displacement, 6), *tidy(np.degrees(sag.tip_rotation), 6)]
    rows = [
        (axis, u, unit) for axis, u, unit in zip(axes, moved, ["mm"] * 3 + ["°"] * 3, strict=True)
    ]
    per = tidy(sag.compliance.ravel(), 4)
    each = (
        np.linalg.norm(sag.root_force, axis=1),
        np.linalg.norm(sag.root_moment, axis=1),
        sag.strain_energy,
    )
    # the part of a link beyond a place where something hangs on it: boom@0.9
    cut = [name.rpartition("@") for name in sag.names]
    labels = [
        f"{head}, from {at} m" if head in sag.names else name
        for name, (head, _, at) in zip(sag.names, cut, strict=True)
    ]
    tables = [
        Table("How the tip moves", ("axis", "moves>", "unit"), rows, "Base axes."),
        Table(
            "What each link carries",
            ("link", "force (N)>", "moment (N m)>", "strain energy (J)>"),
            list(zip(labels, *(tidy(column, 4) for column in each), strict=True)),
            "Force and moment at the link's root; a sprung joint stores energy of its own.",
        ),
        Table(
            "Compliance of the tip",
            ("moves", *(f"per {axis}>" for axis in _LOADS)),
            [(axis, *per[6 * i : 6 * i + 6]) for i, axis in enumerate(axes)],
            "Motion (m, rad) per unit force (N) and moment (N m) on the tip, base axes.",
        ),
    ]
    lead = (
        "How the robot bends under its weight and the load on its tip, motors held. The dashed "
        "robot is at rest. Drag the picture to turn it."
    )
    return Report(f"{sag.robot.name}: statics", [Chapter(scene=scene, tables=tables)], [lead])


_LOADS = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def _curves(t: Array, title: str, unit: str, curves: Mapping[str, Array], note: str = "") -> Plot:
    """Curves over time, thinned; those that stay zero are left out beside others."""
    keep = np.unique(np.linspace(0, len(t) - 1, min(SAMPLES, len(t))).astype(int))
    sizes = {name: float(np.nanmax(np.abs(values))) for name, values in curves.items()}
    least = 1e-12 * max(sizes.values())
    moving = {name: values for name, values in curves.items() if sizes[name] > least} or curves
    series = [
        Series(name, t[keep], values[keep], name.split()[-1]) for name, values in moving.items()
    ]
    return Plot(title, "time (s)", f"{title.lower()} ({unit})", series, note=note)


def response_report(run: Response, samples: int = SAMPLES) -> Report:
    """Return the robot to play, and its joints, tip, deflections and efforts over time."""
    from ..scene.scenes import response_scene

    chapter = Chapter(scene=response_scene(run, samples), plots=panels(run))
    lead = (
        "A computed motion. Drag the time, or slow it down; drag the picture to turn it. Point at "
        "a curve to read its values."
    )
    return Report(f"{run.model.robot.name}: a motion", [chapter], [lead])


def stability_report(found: Stability, samples: int = SAMPLES) -> Report:
    """Return frozen eigenvalues beside what decides, and the motion itself."""
    from ..scene.scenes import response_scene

    planes = ("x-y", "x-z")
    real = {f"eigenvalue {k + 1}": row for k, row in enumerate(found.eigenvalues.real.T)}
    omega = {f"mode {k + 1}": row / (2 * np.pi) for k, row in enumerate(found.omega.T)}
    plots = [
        _curves(found.t, "Energy of vibration", "J", {"energy": found.energy}),
        _curves(found.t, "Action", "J s", {"action": found.action}, "energy over frequency"),
        _curves(
            found.t,
            "Tip deflection",
            "mm",
            dict(zip(planes, 1e3 * found.end_deflection[:, 1:].T, strict=True)),
        ),
        _curves(found.t, "Root moment", "N m", dict(zip(planes, found.root_moment.T, strict=True))),
        _curves(found.t, "Natural frequencies", "Hz", omega),
        _curves(
            found.t,
            "Frozen eigenvalues, real part",
            "1/s",
            real,
            "they depend on how the shapes are scaled along the length: they decide nothing",
        ),
    ]
    robot = found.response.model.robot
    chapters = [
        Chapter("The motion", scene=response_scene(found.response, samples), plots=plots),
        Chapter("What decides", text=[found.text]),
    ]
    lead = (
        "What vibration does while the robot follows its trajectory. Energy, action, amplitude and "
        "root moment decide; the frozen eigenvalues are shown because papers show them."
    )
    return Report(f"{robot.name}: vibration along a motion", chapters, [lead])


def panels(run: Response) -> list[Plot]:
    """Return joints, tip, deflection of the ends, efforts and energy over time as plots."""
    chain = run.model.chain
    joints = list(chain.motors)
    bent = [link.name for link in chain.links if link.shapes is not None]
    ends = {name: 1e3 * np.linalg.norm(run.deflection(name), axis=1) for name in bent}
    slides = [chain.links[i].slide is not None for i in chain.joints]
    slides += [True] * len(chain.lengths)
    energies = dict(run.energies)
    if "gravity" in energies:  # only its change has a meaning
        energies["gravity"] = energies["gravity"] - energies["gravity"][0]
    return [
        *_coordinates(run.t, run.theta, joints, slides),
        _curves(run.t, "Tip", "m", dict(zip("xyz", run.tip.T, strict=True))),
        *([_curves(run.t, "Deflection of the ends", "mm", ends)] if ends else []),
        _curves(
            run.t,
            "Efforts",
            "N" if joints and all(slides) else "N m and N" if any(slides) else "N m",
            dict(zip(joints, run.tau.T, strict=True)),
        ),
        _curves(
            run.t,
            "Energy",
            "J",
            energies,
            "that of gravity from its start" if "gravity" in energies else "",
        ),
    ]


def frequency_plots(scene: Scene) -> list[Plot]:
    """Return the frequencies along a Scene's first track, where it has them."""
    track = scene.tracks[0]
    if len(track.values) < 2:
        return []
    label = f"{track.name} ({track.unit})" if track.unit else track.name
    series = [
        Series(str(shape.number), track.values, hertz)
        for shape, hertz in zip(scene.shapes, track.frequency_hz.T, strict=True)
    ]
    return [Plot("Natural frequencies", label, "frequency (Hz)", series, log=True)]


def path_report(run: PathResponse, samples: int = SAMPLES) -> Report:
    """Return the robot on its path, with what leaves the rigid motion, and the torques."""
    from ..scene.scenes import path_scene

    scene = path_scene(run, samples)
    motors, slides = motors_of(run.robot)
    push = "N" if motors and all(slides) else "N m and N" if any(slides) else "N m"
    efforts, more = (
        dict(zip(motors, torque.T, strict=True))
        for torque in (run.torque, run.torque - run.rigid_torque)
    )
    moved = 1e3 * run.moved[:, :3].T
    turned = np.degrees(run.moved[:, 3:]).T
    flat = architecture_of(run.robot).planar
    # What the path prescribes: a platform in mm, or joints in degrees and lengths in m
    if architecture_of(run.robot).asked_by == "position":
        wanted = dict(zip("xyz", 1e3 * run.wanted.T, strict=True))
        wanted_curves = [_curves(run.t, "Path wanted", "mm", wanted)]
    else:
        wanted_curves = _coordinates(run.t, run.wanted, motors, slides, " wanted")
    plots = [
        *wanted_curves,
        *_swinging(run),
        _curves(
            run.t,
            "Position error",
            "mm",
            dict(zip("xy" if flat else "xyz", moved, strict=False)),
            "displacement of platform or tip from the rigid motion, base axes",
        ),
        _curves(
            run.t,
            "Attitude error",
            "deg",
            {f"about {axis}": turned["xyz".index(axis)] for axis in ("z" if flat else "xyz")},
            "small rotation from the rigid motion, base axes",
        ),
        _curves(run.t, "Efforts" if any(slides) else "Torques", push, efforts),
        _curves(
            run.t,
            "Added by bending",
            push,
            more,
            "beyond what the same motion takes with rigid links",
        ),
    ]
    much = (
        "drawn as it is" if scene.scale == 1 else f"drawn {scene.scale:g} times larger than it is"
    )
    lead = [
        "The motors follow the path as if the links were rigid; the links bend. The dashed robot "
        "and the thin grey line are the rigid motion, the full robot and the strong line the bent "
        f"one, its bending {much}.",
        *([] if run.small else [_TOO_LARGE.format(run.largest)]),
    ]
    return Report(
        f"{run.robot.name} along a path",
        [Chapter(scene=scene, tables=[_errors(run)], plots=plots)],
        lead,
    )


def _swinging(run: PathResponse) -> list[Plot]:
    """Joints that nothing holds, over time."""
    linearised = run.model.linearised
    if linearised is None or not linearised.loose:
        return []
    model = linearised.model
    places = [model.joints + k for k in run.model.loose]
    names = [model.coordinates[k].removeprefix("passive.") for k in places]
    slides = [k in model.chain.lengths_at.values() for k in places]
    return _coordinates(run.t, run.swing, names, slides, " that swing freely")


def _coordinates(
    t: Array, theta: Array, names: Sequence[str], slides: Sequence[bool], word: str = ""
) -> list[Plot]:
    """Joint coordinates over time: angles in degrees, and lengths in metres apart from them."""
    each = list(zip(names, slides, theta.T, strict=True))
    kinds = (
        ("Joints", "deg", {name: np.degrees(x) for name, slide, x in each if not slide}),
        ("Lengths", "m", {name: x for name, slide, x in each if slide}),
    )
    return [_curves(t, f"{title}{word}", unit, curves) for title, unit, curves in kinds if curves]


_TOO_LARGE = (
    "Take these numbers with care: links bend by up to {:.2g} (deflection over length, or rad), "
    "more than a linear model can be trusted with."
)


def _errors(run: PathResponse) -> Table:
    scale = np.array([1e3] * 3 + [180 / np.pi] * 3)
    each = {"largest>": run.peak * scale, "at the end>": run.moved[-1] * scale}
    if not run.path.periodic and run.t[-1] > run.path.duration:
        each["after>"] = run.residual() * scale
    axes = [f"{axis} (mm)" for axis in "xyz"] + [f"about {axis} (deg)" for axis in "xyz"]
    columns = [[*tidy(column[:3], 3), *tidy(column[3:], 3)] for column in each.values()]
    rows = list(zip(axes, *columns, strict=True))
    if architecture_of(run.robot).planar:  # what cannot leave the plane has no row
        rows = [rows[0], rows[1], rows[5]]
    note = "After the stop: half of peak to peak." if len(each) > 2 else ""
    return Table("How far platform or tip leaves the rigid motion", ("", *each), rows, note)


def workspace_report(found: FrequencyMap) -> Report:
    """Return a robot at its softest place, and slices of the map."""
    from ..scene.scenes import running_pairs, workspace_scene

    (place, omega), top = found.lowest, found.highest[1]
    each = found.coordinates
    rows = [
        _readable_coordinate(c, np.array([value])) for c, value in zip(each, place, strict=True)
    ]
    table = Table(
        "The map in short",
        ("", "value>", "unit"),
        [
            ("lowest", f"{omega / (2 * np.pi):.6g}", "Hz"),
            *((f"there, {name}", f"{values[0]:.4g}", unit) for name, unit, values in rows),
            ("highest", f"{top / (2 * np.pi):.6g}", "Hz"),
            ("grid points in reach", f"{int(found.reachable.sum())} of {found.reachable.size}", ""),
        ],
    )
    lead = (
        "How low a robot rings depends on where it is. It stands where its lowest frequency is "
        "lowest; dots show that frequency at other places of platform or tip. The maps go through "
        "this place."
    )
    pairs = [_through(found, running) for running in running_pairs(found)]
    chapter = Chapter(
        scene=workspace_scene(found),
        tables=[table],
        plots=[part for part in pairs if isinstance(part, Plot)],
        maps=[part for part in pairs if isinstance(part, Heat)],
    )
    inside = architecture_of(found.robot).inside
    return Report(f"{found.robot.name}: frequencies{inside} over its workspace", [chapter], [lead])


def _readable_coordinate(c: Coordinate, values: Array) -> tuple[str, str, Array]:
    """Name, unit and values of a coordinate as one reads them."""
    return (c.name, "°", np.degrees(values)) if c.unit == "rad" else (c.name, c.unit, values)


def _through(found: FrequencyMap, running: tuple[int, ...]) -> Plot | Heat:
    """The lowest frequency along one or two axes, the others where it is lowest."""
    from ..scene.scenes import slice_through

    hertz = found.omega[slice_through(found, running)][..., 0] / (2 * np.pi)
    each = found.coordinates
    axes = list(found.axes.values())
    coordinates = [_readable_coordinate(each[k], axes[k]) for k in running]
    title = f"Lowest frequency over {' and '.join(name for name, _, _ in coordinates)}"
    labels = [f"{name} ({unit})" for name, unit, _ in coordinates]
    if len(running) == 1:
        line = Series("lowest frequency", coordinates[0][2], hertz)
        return Plot(title, labels[0], "frequency (Hz)", [line])
    known = hertz[np.isfinite(hertz)]
    flat = known.size > 0 and float(np.ptp(known)) < 1e-6 * float(known.max())
    note = "the same everywhere in this slice" if flat else ""
    span = tuple(float(end[1]) / (2 * np.pi) for end in (found.lowest, found.highest))
    (_, _, x), (_, _, y) = coordinates
    return Heat(title, labels[0], labels[1], "Hz", x, y, hertz.T, (span[0], span[1]), note)
