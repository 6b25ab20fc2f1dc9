"""Is it what you meant: reach, mass, first frequency, sag, holding torques, stress, and doubts.

What an engineer looks at before trusting a robot file. Nothing here is a fault: a note says where a
value looks like a wrong unit, a limit is passed, or a later question will be refused.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..architectures.assembling import resolve
from ..architectures.base import NEARLY_SINGULAR
from ..architectures.hanging import not_at_rest
from ..architectures.kinds import architecture_of
from ..arguments import checked
from ..beams.varying import VaryingBeam
from ..errors import SuppleError
from ..kernels.spatial import transport
from ..outputs.stress import has_fibre, on_edge, von_mises
from ..robot import Robot
from ..sections import Box, Profile, Tube
from ..structure import Structure, carrying_nothing, structure_of
from .configuration import RequestedPoses, joint_names, where
from .mobility import mobility
from .moving_mass import moving_mass
from .statics import Statics, holding_efforts, statics
from .vibration.modes import modes

__all__ = ["Check", "check", "stresses"]

Array = NDArray[np.float64]
WORST_POSES = 64  # tried in each round of the search for the worst pose
WORST_ROUNDS = 5  # each in a box of a quarter of the size
MOST_SEARCHED = 30  # joints up to which the worst pose is looked for unasked
# Below and above these a number is more likely in another unit: key, least, most, its own unit.
PLAUSIBLE: tuple[tuple[str, float, float, str], ...] = (
    ("young_modulus", 1e6, 2e12, "Pa"),
    ("shear_modulus", 1e5, 1e12, "Pa"),
    ("transverse_modulus", 1e6, 2e12, "Pa"),
    ("yield_strength", 1e5, 1e10, "Pa"),
    ("density", 10.0, 25_000.0, "kg/m^3"),
    ("length", 1e-3, 100.0, "m"),
    ("depth", 1e-4, 5.0, "m"),
    ("width", 1e-4, 5.0, "m"),
    ("diameter", 1e-4, 5.0, "m"),
    ("wall", 1e-5, 1.0, "m"),
    ("thickness", 1e-6, 1.0, "m"),
    ("mass", 1e-6, 1e5, "kg"),
    ("motor_inertia", 1e-10, 0.3, "kg m^2"),  # of the rotor itself, before the gear
    ("base_radius", 1e-3, 20.0, "m"),
    ("xyz", 0.0, 100.0, "m"),
    ("com", 0.0, 100.0, "m"),
    ("limits", 0.0, 4 * math.pi, "rad"),  # beyond two turns
    ("rpy", 0.0, 2 * math.pi, "rad"),
    ("roll", 0.0, 2 * math.pi, "rad"),
)
# Units that are written by mistake, with their factor, and what is usual in SI: the first unit in
# which a number is usual is named.
OFTEN_MEANT: dict[str, tuple[tuple[str, float], ...]] = {
    "Pa": (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3)),
    "kg/m^3": (("g/cm^3", 1e3), ("t/mm^3", 1e12), ("g/m^3", 1e-3)),
    "m": (("mm", 1e-3), ("um", 1e-6)),
    "kg": (("g", 1e-3), ("mg", 1e-6)),
    "kg m^2": (("kg cm^2", 1e-4), ("g cm^2", 1e-7)),
    "rad": (("deg", math.pi / 180),),
}
LARGE_SAG = 0.05  # of the reach: beyond it small deflections are no good theory
USUAL: dict[str, tuple[float, float]] = {
    "young_modulus": (5e8, 1e12),
    "shear_modulus": (2e8, 5e11),
    "transverse_modulus": (5e8, 1e12),
    "yield_strength": (1e6, 5e9),
    "density": (50.0, 25_000.0),
}


def _meant_unit(key: str, value: float, unit: str, low: float, high: float) -> str | None:
    """The unit in which a number would be a usual one, None where there is none."""
    least, most = USUAL.get(key, (low, high))
    for other, factor in OFTEN_MEANT[unit]:
        if least <= abs(value) * factor <= most:
            return other
    return None


@dataclass(frozen=True)
class Check(Answer):
    """Key figures of a robot in one pose.

    From `supple.check`. None stands where a number is not available; a note says why.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,), rad or m.
    reach : float or None
        Upper bound of the distance of the tip, m.
    mass : float
        Mass in kg of everything the joints move: beams, hubs, bodies, tips and payload. A
        foundation and links bolted to the base by fixed joints do not count.
    frequency_hz : float or None
        First natural frequency with locked joints, Hz.
    sag : float or None
        Deflection of the tip under the robot's own weight, m.
    holding : mapping
        Effort of each joint that holds the pose, N m, or N for a prismatic joint.
    stress : mapping
        For each link the highest stress, Pa, and its ratio to the yield strength (None where no
        yield strength is given).
    notes : tuple of str
        What looks wrong, in sentences.
    mobility : str
        Degrees of freedom at this pose, and Kutzbach's count beside them; see `supple.mobility`.
    searched : bool
        Whether the pose was looked for as the worst one, not given.
    """

    robot: Robot
    theta: Array
    reach: float | None
    mass: float
    frequency_hz: float | None
    sag: float | None
    holding: Mapping[str, float]
    stress: Mapping[str, tuple[float, float | None]]
    notes: tuple[str, ...]
    mobility: str = ""
    searched: bool = False

    dims: ClassVar = {"theta": ("joint",), "highest_stress": ("link",), "over_yield": ("link",)}
    units: ClassVar = {"theta": "rad or m", "highest_stress": "Pa"}
    labels: ClassVar = {"joint": joint_names, "link": "stress"}

    @property
    def highest_stress(self) -> Array:
        """(links,) of `stress`, Pa."""
        return np.array([stress for stress, _ in self.stress.values()])

    @property
    def over_yield(self) -> Array:
        """(links,) of `stress`: stress over yield strength, NaN where none is given."""
        return np.array([np.nan if ratio is None else ratio for _, ratio in self.stress.values()])


@checked
def check(
    robot: Robot,
    theta: ArrayLike | None = None,
    *,
    position: ArrayLike | None = None,
    worst: bool | None = None,
) -> Check:
    """Summarise a robot at one pose: the numbers an engineer looks at first.

    Reach, moving mass, first natural frequency, static sag, holding effort of every joint, highest
    stress against yield, and notes about what looks wrong.

    Parameters
    ----------
    robot : Robot
        Robot to look at.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: see `worst`.
    position : array_like, optional
        Instead, position (3,) of a Delta's platform, m.
    worst : bool, optional
        Look for the pose within the joint limits at which the tip sags most, or where nothing sags
        at which the first frequency is lowest, and take that one. It is found among some hundred
        poses and then nearby: no pose that is much worse is likely, none is excluded. Default:
        where no pose is given, and the robot has no loops and at most 30 joints. One with loops,
        whose worst pose is next to a singular one unless its motors have limits, is asked at its
        usual pose; `worst=False` asks at zero.

    Returns
    -------
    Check

    Examples
    --------
    >>> import supple
    >>> found = supple.check(supple.load("industrial-3"))
    >>> round(found.mass, 2), round(found.frequency_hz, 3)
    (135.19, 4.865)
    """
    # The pose: the one that is given, or the worst one
    is_given = theta is not None or position is not None
    if worst and is_given:
        raise SuppleError("worst looks for the pose itself: leave theta and position out")
    if worst is None:
        has_few_joints = len(architecture_of(robot).motors) <= MOST_SEARCHED
        worst = has_few_joints and not is_given and not _has_loops(robot)
    pose: dict[str, Any] = {"theta": theta, "position": position}
    if worst:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of poses that are only tried
            pose = _worst_pose(robot)
    requested = _pose(robot, pose.get("theta"), pose.get("position"))
    if not requested.single:
        raise SuppleError("a check is of one configuration: give theta (joints,), or one position")
    place: dict[str, Any] = {"theta": requested.take(requested.theta)}
    if requested.position is not None:
        place = {"position": requested.take(requested.position)}
    structure = structure_of(robot, requested.at)

    # What looks wrong in the description
    notes = (
        _units(robot)
        + _swinging(robot, requested.take(requested.theta))
        + _walls(robot)
        + _beams_off_their_rows(robot)
        + _limits(robot, requested)
        + _idle_inertias(robot)
    )

    # First frequency, sag, holding efforts and stresses, each with a note where it has no answer
    frequency_hz: float | None = None
    sag: float | None = None
    efforts: dict[str, float] = {}
    stress: dict[str, tuple[float, float | None]] = {}
    try:
        frequency_hz = float(modes(robot, count=1, **place).frequency_hz[0])
        notes += _out_of_plane(robot, frequency_hz, place)
    except SuppleError as problem:
        notes.append(f"no first frequency: {problem}")
    try:
        under_weight = statics(robot, **place)
        sag = float(np.linalg.norm(under_weight.tip_displacement))
        efforts = holding_efforts(under_weight) | _rod_forces(robot, requested)
        notes += _large_sag(robot, sag)
        stress = stresses(robot, structure, under_weight)
        notes += _overloads(robot, structure, efforts, stress)
    except SuppleError as problem:
        notes.append(f"no sag: {problem}")

    # What later questions will refuse
    notes += _refused_later(robot, requested)
    mobility_sentence = ""
    try:
        mobility_sentence = mobility(robot, **place).sentence
    except SuppleError as problem:
        notes.append(f"no degrees of freedom: {problem}")
    return Check(
        robot=robot,
        theta=requested.take(requested.theta),
        reach=architecture_of(robot).reach,
        mass=moving_mass(robot, structure),
        frequency_hz=frequency_hz,
        sag=sag,
        holding=efforts,
        stress=stress,
        notes=tuple(notes),
        mobility=mobility_sentence,
        searched=worst,
    )


def _refused_later(robot: Robot, requested: RequestedPoses) -> list[str]:
    """What `build` and free joints will refuse: springs and joints that move no inertia."""
    notes = []
    for drive in architecture_of(robot).drives:
        if drive.made.stiffness is not None and not drive.made.reflected_inertia:
            notes.append(
                f"{drive.name} has a spring but no rotor_inertia: `build` will refuse it, modes "
                "will not"
            )
    try:
        with_free_joints = structure_of(robot, requested.at, "free")
        massless = carrying_nothing(with_free_joints)
    except SuppleError as problem:
        return [*notes, str(problem)]
    if massless is not None and massless[0] and not with_free_joints.closures:
        notes.append(f"{massless[0]} is free but carries no inertia: `build` will refuse it")
    return notes


def _has_loops(robot: Robot) -> bool:
    """Whether closures tie its joints, so that some poses are singular."""
    family = architecture_of(robot)
    return family.asked_by == "position" or bool(family.loops)


def _worst_pose(robot: Robot) -> dict[str, Any]:
    """The pose of largest sag, else of lowest frequency, by sampling that closes in on it."""
    from scipy.stats import qmc

    family = architecture_of(robot)
    coordinates = family.coordinates()
    start = np.asarray(family.usual()[family.asked_by], float)
    if not coordinates:
        return {family.asked_by: start}
    low = np.array([coordinate.low for coordinate in coordinates])
    high = np.array([coordinate.high for coordinate in coordinates])
    best = np.clip(start, low, high)
    half = (high - low) / 2
    centre = (high + low) / 2
    for _ in range(WORST_ROUNDS):
        sample = qmc.Sobol(len(coordinates), seed=1).random(WORST_POSES)
        poses = np.clip(centre + (2 * sample - 1) * half, low, high)
        poses = np.concatenate([best[None], poses])
        given: dict[str, Any] = {family.asked_by: poses}
        # How bad each pose is; NaN where the robot cannot stand
        try:
            badness = np.linalg.norm(statics(robot, **given).tip_displacement, axis=-1)
        except SuppleError:
            badness = np.zeros(len(poses))
        if not np.nanmax(badness) > 0:
            try:
                badness = -modes(robot, count=1, **given).omega[:, 0]
            except SuppleError:
                break  # nothing is elastic: every pose is as good
        badness[_near_singular(robot, given)] = np.nan
        if np.isnan(badness).all():
            break
        best = poses[int(np.nanargmax(badness))]
        centre = best
        half = half / 4
    return {family.asked_by: best}


def _near_singular(robot: Robot, poses: dict[str, Any]) -> NDArray[np.bool_]:
    """Which poses stand so near a singular one that sag and frequencies grow or fall at will."""
    family = architecture_of(robot)
    found = family.resolve(poses.get("theta"), poses.get("position"))
    is_singular = ~family.reachable(poses[family.asked_by], family.asked_by)
    if found.clearance is not None:
        is_singular |= found.clearance < NEARLY_SINGULAR
    return np.asarray(is_singular)


def _pose(robot: Robot, theta: ArrayLike | None, position: ArrayLike | None) -> RequestedPoses:
    family = architecture_of(robot)
    if theta is not None or position is not None:
        return where(robot, theta, position)
    if family.asked_by == "theta":
        try:
            return where(robot, None)
        except SuppleError:
            pass  # it has no zero: the usual pose then
    usual = family.usual()
    return where(robot, usual.get("theta"), usual.get("position"))


def stresses(
    robot: Robot, structure: Structure, under_weight: Statics
) -> dict[str, tuple[float, float | None]]:
    """Highest von Mises stress of each beam with a known section, and its ratio to yield."""
    family = architecture_of(robot)
    found: dict[str, tuple[float, float | None]] = {}
    for i, segment in enumerate(structure.segments):
        beam = segment.beam.outside(float(structure.L[0, i]))
        link = None if beam.mass == 0 else family.part_of_segment(segment.name)
        material = None if link is None else robot.material(link)
        is_laminate = material is not None and material.layup is not None
        if link is None or link.rigid or is_laminate:
            continue

        # Its sections at 41 places; without the outline of each of them there is no stress
        x = np.linspace(0.0, beam.L, 41)
        sections = []
        for at in x.tolist():
            sections.append(
                beam.section(at) if isinstance(beam, VaryingBeam) else robot.section(link)
            )
        known = [section for section in sections if section is not None and has_fibre(section)]
        if len(known) < len(sections):
            continue

        worst = 0.0
        section_loads = _section_loads(structure, i, under_weight, x, np.asarray(robot.gravity))
        for section, load in zip(known, section_loads, strict=True):
            worst = max(worst, float(von_mises(section, load, edge=on_edge(robot, link))))
        name = structure.links[i]  # the pieces of a cut link are one
        worst = max(worst, found.get(name, (0.0, None))[0])
        limit = None if material is None else material.yield_strength
        found[name] = (worst, None if limit is None else worst / limit)
    return found


def _section_loads(
    structure: Structure, i: int, under_weight: Statics, x: Array, gravity: Array
) -> Array:
    """Force and moment (P, 6) that the sections of a segment at x carry at rest, section axes.

    F(x) = F_0 + int_0^x m g and M(x) = M_0 - x e_x x F_0 - int_0^x (x - s) m e_x x g: what acts on
    the root, and the weight of the part before x.
    """
    segment = structure.segments[i]
    beam = segment.beam.outside(float(structure.L[0, i]))
    fall = structure.R[0, i].T @ gravity
    hub_weight = structure.root_mass[0, i] @ np.concatenate([fall, np.zeros(3)])
    turn = segment.R_LS.T
    root_force = turn @ under_weight.root_force[i]
    root_moment = turn @ under_weight.root_moment[i]
    root = np.concatenate([root_force, root_moment]) + hub_weight

    # Mass of the part before x, and its first moment about x
    rods = np.array([beam.rod(0.0, float(at)) for at in x])
    mass = rods[:, 0, 0, None]
    lever = (x * rods[:, 0, 0] - rods[:, 1, 5])[:, None]
    along = np.array([1.0, 0.0, 0.0])
    force = root[:3] + mass * fall
    moment = root[3:] - x[:, None] * np.cross(along, root[:3]) - lever * np.cross(along, fall)
    return np.concatenate([force, moment], axis=1)


def _rod_forces(robot: Robot, requested: RequestedPoses) -> dict[str, float]:
    """Force of every driven rod that holds the robot, N, positive where it pushes.

    Virtual work: the slope of the weight's potential over the rod's length, links straight.
    """
    family = architecture_of(robot)
    forces: dict[str, float] = {}
    for k, drive in enumerate(family.drives):
        if drive.segment:
            continue
        step = np.zeros(requested.theta.shape[1])
        step[k] = 1e-6 * float(requested.theta[0, k])
        both_sides = family.resolve(requested.theta + np.outer((-1, 1), step), None)
        if (both_sides.reason != "").any():
            continue  # at the end of its way
        potential = _weight_potential(structure_of(robot, both_sides.at), robot)
        forces[drive.name] = float((potential[1] - potential[0]) / (2 * step[k]))
    return forces


def _weight_potential(structure: Structure, robot: Robot) -> Array:
    """Potential (B,) of the weight of a structure at its poses, links straight, J."""
    potential = np.zeros(structure.size)
    for i, segment in enumerate(structure.segments):
        X = transport(structure.L[:, i])
        lengths = structure.L[:, i].tolist()
        beams = np.array([segment.beam.outside(length).mass_matrix() for length in lengths])
        M = structure.root_mass[:, i] + beams + X.swapaxes(1, 2) @ segment.tip_mass @ X

        # mass times mass centre, segment axes and then base axes
        moment = np.stack([M[:, 1, 5], M[:, 2, 3], M[:, 0, 4]], axis=1)
        turned = np.einsum("bij,bj->bi", structure.R[:, i], moment)
        mass_times_place = M[:, :1, 0] * structure.p[:, i] + turned
        potential -= mass_times_place @ np.asarray(robot.gravity)
    return potential


def _swinging(robot: Robot, theta: Array) -> list[str]:
    """Loads on passive joints that stand where they would not stay."""
    tree = architecture_of(robot)
    if tree.passive_joints_are_free and not len(tree.joints.passive):
        return []
    x, reason = resolve(tree, theta)
    if reason[0]:
        return []
    return [
        f"{tree.lowered.origins.get(name, name)}.joint: it is passive, no loop holds it, and its "
        "load does not hang at rest there; with hangs: true it hangs at every pose"
        for name in not_at_rest(tree, x[0])
    ]


def _units(robot: Robot) -> list[str]:
    """Numbers that look like another unit, with their places."""
    from ..editing import as_plain_data

    notes: list[str] = []
    bounds = {key: (low, high, unit) for key, low, high, unit in PLAUSIBLE}

    def look_at_number(key: str, value: Any, place: str) -> None:
        numbers = value if isinstance(value, list) else [value]
        if key not in bounds or not all(isinstance(x, int | float) for x in numbers):
            return
        low, high, unit = bounds[key]
        implausible = [x for x in numbers if x and not low <= abs(x) <= high]
        if not implausible:
            return
        first = implausible[0]
        written = ", ".join(f"{x:g}" for x in numbers)
        other_unit = _meant_unit(key, first, unit, low, high)
        meant = f"; {first:g} may be meant as {first:g} {other_unit}" if other_unit else ""
        notes.append(f"{place} is {written}: it is in {unit}{meant}")

    def look(part: Any, place: str) -> None:
        if isinstance(part, dict):
            for key, value in part.items():
                inner = f"{place}.{key}" if place else str(key)
                look_at_number(key, value, inner)
                look(value, inner)
        elif isinstance(part, list):
            for k, value in enumerate(part):
                name = value.get("name") if isinstance(value, dict) else None
                look(value, f"{place}.{name or k}")

    look(as_plain_data(robot), "")
    return notes + _unusual_gravity(robot)


def _unusual_gravity(robot: Robot) -> list[str]:
    """Gravity that is zero, very large, points upwards, or acts across a planar robot."""
    notes: list[str] = []
    size = float(np.linalg.norm(robot.gravity))
    if size == 0:
        notes.append("gravity is zero: nothing sags and no torque is needed to hold it")
    elif size > 30:
        notes.append(f"gravity is {size:g}: it is in m/s^2; 9810 may be meant in mm/s^2")
    if architecture_of(robot).planar and robot.gravity[2]:
        across = [round(part, 6) for part in robot.gravity]
        notes.append(
            f"gravity is {across}: what acts along z, across the plane of a planar robot, has no "
            "effect here; [0, -9.81, 0] where the plane is vertical"
        )
    up = 1 if architecture_of(robot).planar else 2  # y of a robot in the plane, else z
    if robot.gravity[up] > 0.5 * size:
        direction = [0, 0, 0]
        direction[up] = -1
        usual = [round(9.81 * part, 2) for part in direction]
        given = [round(part, 6) for part in robot.gravity]
        notes.append(
            f"gravity is {given}: it points upwards, along +{'xyz'[up]}; {usual} is usual, unless "
            "the robot hangs from the ceiling"
        )
    return notes


def _walls(robot: Robot) -> list[str]:
    """Sections that are not what their formulas take them for.

    Boxes that twist, whose walls are thick for Bredt's torsion constant; laminates whose plies are
    not as thick as the wall; profiles with their shear centre away from the beam's axis.
    """
    notes: list[str] = []
    family = architecture_of(robot)
    places = [(path, link, robot.section(link)) for path, link in family.parts().items()]
    for path, link in family.parts().items():
        for k, station in enumerate(link.stations or ()):
            places.append((f"{path}.stations.{k}", link, robot.section(station)))

    for path, link, given_section in places:
        section = None if link.rigid else given_section
        material = robot.material(link)
        thickness = None if material is None else material.thickness
        wall = section.wall if isinstance(section, Box | Tube) else None
        if thickness and wall and abs(wall / thickness - 1) > 1e-3:
            notes.append(
                f"{path}: the plies are {thickness:g} m thick together, the wall "
                f"{wall:g} m: the wall counts, of plies in these proportions"
            )
        if family.planar:
            continue
        if isinstance(section, Profile):
            shear_centre = math.hypot(*section.warping_properties()[3:])
            if shear_centre > 0.01 * max(section.half_sizes()):
                notes.append(
                    f"{path}: the shear centre of its profile lies {shear_centre:.3g} m away from "
                    "its centroid: it twists as it bends, which is not computed"
                )
        if isinstance(section, Box) and section.torsion_constant is None:
            error, right = section.torsion_error()
            if error < -0.01:
                notes.append(
                    f"{path}: Bredt's torsion constant is {-error:.0%} too low for walls this "
                    f"thick; solving the torsion problem gives torsion_constant: {right:.4g}"
                )
    return notes


def _beams_off_their_rows(robot: Robot) -> list[str]:
    """Return notes about links that bend along +x while their row of a DH table leads along -x."""
    notes: list[str] = []
    for path, link in architecture_of(robot).parts().items():
        row = getattr(getattr(link, "joint", None), "dh", None)
        bends = link.theory != "rigid" and link.length
        if row is not None and row.convention == "standard" and bends and row.a < 0:
            notes.append(
                f"{path}.joint.dh: a is {row.a:g}, but beams run along +x, away from "
                f"the next joint: give a: {-row.a:g}, add 180deg to theta, and take 180deg off the "
                "theta of the next row (where alpha is not zero, negate it too)"
            )
    return notes


def _idle_inertias(robot: Robot) -> list[str]:
    """Hub inertias that count for nothing: one value is about the axis, along which a joint slides.

    In a plane nothing turns about that axis.
    """
    notes: list[str] = []
    if not architecture_of(robot).planar:
        return notes
    for path, link in architecture_of(robot).parts().items():
        joint = getattr(link, "joint", None)
        hub = getattr(joint, "hub", None)
        if joint is None or hub is None or joint.type != "prismatic" or hub.inertia is None:
            continue
        values = np.atleast_1d(np.asarray(hub.inertia, float))
        if len(values) == 1 and values[0] > 0:
            notes.append(
                f"{path}.joint.hub: one value of inertia is about the joint's axis, along which "
                f"this joint slides: {values[0]:g} kg m^2 count for nothing in a plane; give three "
                "values, about x, y and z"
            )
    return notes


def _limits(robot: Robot, requested: RequestedPoses) -> list[str]:
    """What is reported of loops, and joints that stand outside their limits at this pose."""
    notes = architecture_of(robot).description.split("; ")[1:]
    theta = np.atleast_1d(requested.take(requested.theta))
    for drive, value in zip(architecture_of(robot).drives, theta, strict=True):
        limits = drive.made.limits
        if limits is not None and not limits[0] <= value <= limits[1]:
            notes.append(
                f"{drive.name} stands at {value:g}, outside its limits {limits[0]:g} to "
                f"{limits[1]:g}"
            )
    return notes


def _out_of_plane(robot: Robot, first: float, place: dict[str, Any]) -> list[str]:
    """Whether a planar arm hides a lower mode across its plane."""
    if not architecture_of(robot).planar:
        return []
    try:
        lowest = float(modes(robot.with_("planar", False), count=1, **place).frequency_hz[0])
    except SuppleError:
        return []  # its file says nothing about motions across the plane
    if lowest >= first * (1 - 1e-6):
        return []
    return [
        f"the robot is planar, and hides a lower mode across its plane: {lowest:.4g} Hz below "
        f"{first:.4g} Hz; set planar: false to see it"
    ]


def _large_sag(robot: Robot, sag: float) -> list[str]:
    """Whether the tip sags by more than deflections for which the theory of beams is meant."""
    reach = architecture_of(robot).reach
    if reach is None or not sag > LARGE_SAG * reach:
        return []
    part = f"{sag / reach:.0%} of" if sag < reach else "more than"
    return [
        f"the tip sags by {1e3 * sag:.4g} mm, {part} the reach {reach:.4g} m: "
        "deflections are taken as small, so that this is no more than an indication; check the "
        "sizes of the sections, young_modulus and the masses, or make the links stiffer"
    ]


def _overloads(
    robot: Robot,
    structure: Structure,
    efforts: Mapping[str, float],
    stress: Mapping[str, tuple[float, float | None]],
) -> list[str]:
    """Stresses past yield, or not known; efforts past their limits; motors behind gears."""
    notes = []
    for name, (value, ratio) in stress.items():
        if ratio is not None and ratio > 1:
            notes.append(
                f"{name} yields under the robot's own weight: {value / 1e6:.4g} MPa is "
                f"{ratio:.3g} times its yield strength"
            )
    missing: list[str] = []
    for name, segment in zip(structure.links, structure.segments, strict=True):
        if not segment.beam.rigid and name not in stress and name not in missing:
            missing.append(name)
    if missing:
        notes.append(
            f"no stress in {', '.join(missing)}: it needs a section with an outline (rectangle, "
            "box, circle, tube) of one material"
        )
    for drive in architecture_of(robot).drives:
        effort = abs(efforts.get(drive.name, 0.0))
        unit = "N" if drive.slides else "N m"
        if drive.made.effort_limit is not None and effort > drive.made.effort_limit:
            notes.append(
                f"{drive.name} needs {effort:.4g} {unit} to hold the robot here, its effort_limit "
                f"is {drive.made.effort_limit:.4g}"
            )
        gear = drive.made.gear
        if gear is not None and effort:
            motor = float(gear.motor_effort(effort))
            notes.append(
                f"the motor of {drive.name} gives {motor:.4g} N m to hold the robot here, through "
                f"its gear of {gear.ratio:g}"
            )
    return notes
