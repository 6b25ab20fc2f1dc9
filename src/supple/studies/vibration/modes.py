"""How does it vibrate here: natural frequencies and mode shapes at a Configuration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...answers.immutable import frozen_property
from ...arguments import checked, one_of, whole_number
from ...assembly import coordinates, exact_ends
from ...beams.varying import VaryingBeam
from ...errors import SuppleError
from ...kernels.roots import natural_frequencies
from ...robot import Robot
from ...structure import Joints, Structure, alike, carrying_nothing, sprung_modes, structure_of
from ..configuration import RequestedPoses, joint_names, joint_states, where
from .elements import ElementModes, element_modes_everywhere
from .kinds import describe_kind, energy_shares
from .shapes import Shapes, element_shapes, exact_shapes

if TYPE_CHECKING:
    from .weighted_modes import WeightedModes

__all__ = ["Method", "Modes", "modes"]

Array = NDArray[np.float64]
Method = Literal["exact", "elements", "assumed"]
MOST_OUT_OF_PLANE = 64  # modes in space among which one out of the plane is looked for
CERTIFIED_WIDTH = 1e-9  # a root is certified when its bracket is narrower than this, relative


@dataclass(frozen=True)
class Modes(Natural, Answer):
    """Natural frequencies, and on demand mode shapes, of a robot in one pose or in many.

    From `supple.modes`. Batch arrays have a leading axis B.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates, (joints,) or (B, joints); for a Delta its motor angles.
    position : ndarray or None
        Position of a Delta's platform, (3,) or (B, 3), m.
    method, joints : str
        As requested.
    omega : ndarray
        Elastic natural frequencies, (count,) or (B, count), rad/s, ascending.
    width : ndarray
        Relative width of the certified bracket around each frequency; infinite for methods that
        certify nothing.
    rigid_modes : int or ndarray
        Number of modes at zero frequency, one value or (B,).
    valid, reason : bool and str, or ndarray
        Whether a pose of a batch has an answer, and why not. Its rows of omega and width are NaN.
    structure, parts, rests
        Internal data of the valid poses, from which shapes are computed.

    Examples
    --------
    >>> import supple
    >>> found = supple.modes(supple.load("industrial-3"), [0, 0.785, 0.785], count=2)
    >>> found.frequency_hz.round(3), found.certified
    (array([ 5.646, 21.245]), True)
    """

    robot: Robot
    theta: Array
    position: Array | None
    method: str
    joints: str
    omega: Array
    width: Array
    rigid_modes: Any
    valid: Any
    reason: Any
    structure: Structure = field(repr=False, compare=False)
    parts: tuple[ElementModes, ...] = field(default=(), repr=False, compare=False)
    rests: tuple[WeightedModes, ...] = field(default=(), repr=False, compare=False)

    labels: ClassVar = {"joint": joint_names}
    dims: ClassVar = {
        "omega": ("mode",),
        "frequency_hz": ("mode",),
        "width": ("mode",),
        "theta": ("joint",),
        "position": ("axis",),
        "rigid_modes": (),
        "valid": (),
        "reason": (),
        "certified": (),
    }
    table_rows: ClassVar = ("configuration", "mode")
    columns: ClassVar = ("theta", "position", "valid", "frequency_hz", "omega", "width")
    units: ClassVar = {
        "omega": "rad/s",
        "frequency_hz": "Hz",
        "theta": "rad or m",
        "position": "m",
    }

    @property
    def gravity(self) -> bool:
        """Whether these are modes about the rest under the robot's weight."""
        return bool(self.rests)

    @property
    def certified(self) -> bool:
        """Whether the Wittrick-Williams count proves every root to be the one of its number."""
        good = self.width[self.valid]
        return good.size > 0 and bool((good <= CERTIFIED_WIDTH).all())

    @property
    def plane(self) -> str | None:
        """The plane that a planar robot's answer is about, `x-y`; None of a spatial robot."""
        return "x-y" if self.structure.planar else None

    @frozen_property
    def out_of_plane_hz(self) -> float | None:
        """The lowest frequency out of a planar robot's plane, Hz, of one configuration.

        Of the same robot with `planar: false`, looked for among its first modes: as many as are
        told here and one more, at most 64. None where there is none among them, or where the
        description does not say.
        """
        if self.plane is None or self.omega.ndim > 1 or self.rests:
            return None
        most = min(len(self.omega) + 1, MOST_OUT_OF_PLANE)
        count = min(4, most)  # usually among the first ones: shapes of many modes take long
        while True:
            lowest = self._lowest_out_of_plane(count)
            if lowest is not None or count == most:
                return lowest
            count = min(4 * count, most)

    def _lowest_out_of_plane(self, count: int) -> float | None:
        """The lowest of the first `count` modes in space that moves out of the plane, Hz."""
        try:
            spatial = modes(
                self.robot.with_("planar", False),
                self.theta if len(self.theta) else None,
                count=count,
                joints=self.joints,
            )
        except SuppleError:
            return None  # the description does not say enough of the other plane
        shapes = spatial.shape(9)
        reach = np.ptp(shapes.position.reshape(-1, 3), axis=0).max()
        moved = np.abs(shapes.global_displacement).max(axis=(1, 2))
        turned = reach * np.abs(np.einsum("nij,mnpj->mnpi", shapes.R, shapes.rotation)).max(
            axis=(1, 2)
        )
        beyond = (
            moved[:, 2] + turned[:, 0] + turned[:, 1] > moved[:, 0] + moved[:, 1] + turned[:, 2]
        )
        return float(spatial.frequency_hz[beyond][0]) if beyond.any() else None

    def at_zero(self, option: str = "gravity=True") -> str:
        """Say how many modes of one configuration are at zero, and which option holds them."""
        zero = int(self.rigid_modes)
        shown = f"{zero} rigid-body mode{'s' * (zero != 1)} at zero"
        if self.rests or self.joints != "locked" or not any(self.robot.gravity):
            return shown
        return f"{shown}, which the weight may hold: {option} lists what hangs and swings"

    @property
    def proof(self) -> str:
        """What is proven about these frequencies, as a sentence."""
        if self.rests:
            return (
                "About the rest under its weight, motors held; not certified: shape functions on "
                "every link, frequencies lie at or above the exact ones."
            )
        if not self.certified:
            good = self.width[self.valid]
            if not good.size or not np.isfinite(good).all():
                return f"Not certified: method {self.method} does not count roots."
            return (
                f"Counted exactly, but rounding leaves brackets up to {good.max():.1e} of a "
                f"frequency wide: certified is what is known to {CERTIFIED_WIDTH:g}."
            )
        if self.plane is None:
            return "Certified: counted exactly, no natural frequency in this range is missing."
        sentence = (
            f"Certified in the {self.plane} plane: counted exactly, no natural frequency in this "
            "plane and range is missing."
        )
        if self.omega.ndim > 1 or self.out_of_plane_hz is None:
            return f"{sentence} Out of the plane none is computed; planar: false counts them all."
        return f"{sentence} Out of it the lowest is {self.out_of_plane_hz:.6g} Hz (planar: false)."

    @frozen_property
    def shapes(self) -> Shapes:
        """Mode shapes with 21 stations a link; `shape(points)` gives any number."""
        return self.shape(21)

    def shape(self, points: int) -> Shapes:
        """Return the mode shapes at `points` stations along every link, of one configuration."""
        if self.omega.ndim > 1:
            raise SuppleError("shapes are of one configuration: ask modes.at(b).shapes")
        if points < 2:
            raise SuppleError(f"points is {points}: give 2 or more stations a link")
        if self.rests:
            return self.rests[0].shapes(points)
        if self.parts:
            return element_shapes(self.structure, self.parts[0], points)
        return exact_shapes(self.structure, self.omega, points)

    @property
    def kind(self) -> list[str]:
        """What each mode is: where most of its strain energy sits."""
        if self.omega.ndim > 1:
            raise SuppleError("kinds are of one configuration: ask modes.at(b).kind")
        if self.rests:
            return list(self.rests[0].kinds)
        varying = any(isinstance(s.beam, VaryingBeam) for s in self.structure.segments)
        if self.method != "exact" or varying:
            return [self.shapes.kind(mode) for mode in range(len(self.omega))]
        names = tuple(segment.name for segment in self.structure.segments)
        return [describe_kind(share, names, self.structure.planar) for share in self.energy_shares]

    @frozen_property
    def energy_shares(self) -> Array:
        """Parts of each mode's strain energy by link and kind, (modes, n, 7): `kinds.ENERGIES`.

        To four digits; of two modes whose frequencies are a part g apart, which of them holds what
        to 1e-5 / g at worst, since coincident ones are told apart on purpose.
        """
        return energy_shares(self.structure, len(self.omega), self.structure.known_numbers.guess)

    def at(self, b: int) -> Modes:
        """Return configuration b of a batch."""
        if self.omega.ndim == 1:
            raise SuppleError("these modes are of one configuration already")
        if not self.valid[b]:
            raise SuppleError(self.reason[b])
        own = int(self.valid[: range(len(self.omega))[b]].sum())
        each = ("theta", "position", "omega", "width", "rigid_modes", "valid", "reason")
        rows = {key: getattr(self, key)[b] for key in each if getattr(self, key) is not None}
        return replace(
            self,
            structure=self.structure.at(own),
            parts=self.parts[own : own + 1],
            rests=self.rests[own : own + 1],
            **rows,
        )


@checked
def modes(
    robot: Robot,
    theta: ArrayLike | None = None,
    count: Annotated[int, whole_number(1, 10_000)] = 10,
    method: Method = "exact",
    joints: Joints | Mapping[str, str] | Sequence[str] = "locked",
    *,
    position: ArrayLike | None = None,
    elements: Annotated[int, whole_number()] = 8,
    order: Annotated[str, one_of("cubic", "quintic")] = "cubic",
    gravity: bool = False,
) -> Modes:
    """Natural frequencies of a robot in one pose or in many.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates, (joints,), or (B, joints) for many poses at once, rad or m. Default:
        zero, or the assembled pose of a mechanism.
    count : int
        Number of elastic modes. Modes at zero frequency are counted apart, in `rigid_modes`.
    method : {"exact", "elements", "assumed"}
        How frequencies are computed. ``exact`` solves the beam equations and certifies every root;
        ``elements`` uses finite elements on every link; ``assumed`` uses `elements` assumed modes
        for every deformation of a link. The last two lie above the exact frequencies.
    joints : {"locked", "free"}, mapping or sequence
        What the motors do: all locked, all free, ``{"link1": "free"}`` (the others locked), or one
        word per motor.
    position : array_like, optional
        Instead of `theta`: position of a Delta's platform, (3,) or (B, 3), m; or of a mechanism's
        tip, where it has as many motors as the tip has coordinates.
    elements : int
        Elements or assumed modes per link, for the methods ``elements`` and ``assumed``.
    order : {"cubic", "quintic"}
        Order of the finite elements.
    gravity : bool
        Modes about the rest under the robot's weight, motors held: what hangs freely hangs there
        and swings as a pendulum, links that carry load are stiffer or softer. By shape functions
        (six a link unless `method` says otherwise); not certified.

    Returns
    -------
    Modes
        Frequencies in `omega` (rad/s) and `frequency_hz`, mode shapes on demand.

    Raises
    ------
    SuppleError
        If a single pose has no answer. In a batch such a pose gives a row of NaN instead; `valid`
        and `reason` explain it.

    Notes
    -----
    Every root is enclosed by counting the natural frequencies below two trial values, by the sign
    count of the dynamic stiffness matrix [Wittrick1971]; none can be missed. The modes are those of
    the undeformed, unloaded robot unless `gravity` is asked for: then M x'' + K x = 0 about the
    static rest q, K the second derivative of the potential of bending, springs and weight there.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.modes(robot, theta=[0, 0.785, 0.785], count=3)
    >>> found.frequency_hz.round(3)
    array([ 5.646, 21.245, 79.102])
    >>> supple.modes(robot, theta=np.zeros((4, 3)), count=2).omega.shape
    (4, 2)
    """
    configuration = where(robot, theta, position)
    joints = joint_states(robot, joints)
    if gravity:
        return _under_weight(robot, configuration, count, method, joints, (elements, order))
    structure = structure_of(robot, configuration.at, joints)
    own = structure.known_numbers
    if not own.bends and not own.sprung:
        raise SuppleError(f"{robot.name} has nothing elastic: no link bends and no joint is sprung")
    most = 10_000 if own.bends else own.sprung  # without end, unless only joints are elastic
    if not own.bends and structure.size:
        most = sprung_modes(structure, coordinates(structure, exact_ends(structure)).closure)
    if most < 1:
        raise SuppleError(f"{robot.name} has springs, but no mass that they let move: no frequency")
    count = min(count, most)
    loose = _carrying_nothing(structure, method)
    if configuration.single and loose is not None and loose[0]:
        raise SuppleError(loose[0])
    found = _MethodResult(np.zeros((0, count)), np.zeros((0, count)))
    if structure.size:
        answer = _exact if method == "exact" else _by_shapes
        found = answer(structure, method, count, elements, order).less(loose)
    reason = configuration.reason
    hanging_structure = structure
    if found.reason is not None:
        reason = reason.copy()
        reason[configuration.good] = found.reason
        hanging_structure = structure.part(np.flatnonzero(found.reason == ""))
    if configuration.single and reason[0]:
        raise SuppleError(f"{robot.name}: {reason[0]}")
    rigid = configuration.fill_batch(structure.rigid_modes, 0)
    return Modes(
        robot,
        configuration.take(configuration.theta),
        None if configuration.position is None else configuration.take(configuration.position),
        method,
        joints,
        configuration.fill_batch(found.omega),
        configuration.fill_batch(found.width),
        int(rigid) if configuration.single else rigid,
        configuration.take(configuration.good if found.reason is None else reason == ""),
        configuration.take(reason),
        hanging_structure,
        found.parts,
    )


def _under_weight(
    robot: Robot,
    asked: RequestedPoses,
    count: int,
    method: str,
    joints: Joints,
    mesh: tuple[int, str],
) -> Modes:
    """Modes about the rest of a robot under its weight, with its motors held."""
    from .weighted_modes import weighted_modes  # knows Models: not for who asks for exact modes

    if joints != "locked":
        raise SuppleError(
            "gravity is for robots whose motors hold their joints, which would fall: leave joints "
            "out, or leave gravity out"
        )
    if not any(robot.gravity):
        raise SuppleError(
            f"{robot.name} has no gravity: give the robot one, such as gravity: [0, 0, -9.81], or "
            "leave gravity out"
        )
    theta = np.atleast_2d(asked.theta)[asked.good]
    found, why = weighted_modes(robot, theta, count, method, *mesh)
    reason = asked.reason.copy()
    reason[asked.good] = why
    if asked.single and reason[0]:
        raise SuppleError(str(reason[0]))
    omega = np.full((len(reason), count), np.nan)
    rigid = np.zeros(len(reason), np.int64)
    rests = tuple(each for each in found if each is not None)
    omega[reason == ""] = [each.omega for each in rests] or np.zeros((0, count))
    rigid[reason == ""] = [each.rigid for each in rests]
    structure = structure_of(robot, asked.at, joints)
    return Modes(
        robot,
        asked.take(asked.theta),
        None if asked.position is None else asked.take(asked.position),
        "assumed" if method == "exact" else method,
        joints,
        asked.take(omega),
        asked.take(np.where(np.isnan(omega), np.nan, np.inf)),
        int(rigid[0]) if asked.single else rigid,
        asked.take(reason == ""),
        asked.take(reason),
        structure.part(np.flatnonzero(np.array(why, object) == "")),
        (),
        rests,
    )


@dataclass(frozen=True)
class _MethodResult:
    """Answers of a method, a row a configuration.

    `reason` (B,) says why there is none, None where all have one.
    """

    omega: Array
    width: Array
    reason: NDArray[np.object_] | None = None
    parts: tuple[ElementModes, ...] = ()

    def less(self, loose: NDArray[np.object_] | None) -> _MethodResult:
        """Return them with NaN where there is a reason, or one in `loose` (B,)."""
        reason = self.reason
        if loose is not None:
            reason = loose if reason is None else np.where(loose != "", loose, reason)
        if reason is None or (reason == "").all():
            return replace(self, reason=None)
        self.omega[reason != ""] = self.width[reason != ""] = np.nan
        parts = tuple(part for part, why in zip(self.parts, reason, strict=False) if not why)
        return replace(self, reason=reason, parts=parts)


def _missing_reasons(omega: Array) -> NDArray[np.object_] | None:
    """Why a row has no frequencies, empty where it has."""
    if np.isfinite(omega).all():
        return None
    reason = np.full(len(omega), "", object)
    reason[~np.isfinite(omega).all(axis=1)] = (
        "its lengths, masses and stiffnesses lie too far apart to count natural frequencies; look "
        "for a value in a wrong unit, or ask for fewer"
    )
    return reason


def _exact(structure: Structure, method: str, count: int, each: int, order: str) -> _MethodResult:
    omega = np.empty((structure.size, count))
    width = np.empty((structure.size, count))
    guess = structure.known_numbers.guess
    for rows in alike(structure):
        some = structure if structure.repeats is None else structure.part(rows)
        if structure.known_numbers.varies:
            from .varying_modes import varying_frequencies

            omega[rows], width[rows] = varying_frequencies(some, count, guess)
            continue
        found = natural_frequencies(some.tree(), count, some.rigid_modes, guess)
        if some is structure:
            return _MethodResult(found.omega, found.width, _missing_reasons(found.omega))
        omega[rows] = found.omega
        width[rows] = found.width
    return _MethodResult(omega, width, _missing_reasons(omega))


def _by_shapes(
    structure: Structure, method: str, count: int, each: int, order: str
) -> _MethodResult:
    """By elements or assumed modes."""
    if method == "elements":
        parts = element_modes_everywhere(structure, count, each, order)
    else:
        from .assumed import modes_of_shapes  # knows Models: not for who asks for exact modes

        parts = [modes_of_shapes(structure.at(b), count, each) for b in range(structure.size)]
    omega = np.array([part.omega for part in parts]).reshape(structure.size, count)
    reason = np.full(structure.size, "", object)
    reason[~np.isfinite(omega).all(axis=1)] = "no frequencies were found by this method here"
    return _MethodResult(omega, np.full_like(omega, math.inf), reason, tuple(parts))


def _carrying_nothing(structure: Structure, method: str) -> NDArray[np.object_] | None:
    """Say where a motion that nothing holds has no inertia: its pivot would count at random."""
    if structure.closures and method != "exact":
        return None  # what closures hold needs no inertia there
    names = carrying_nothing(structure)
    if names is None:
        return None
    words = (
        "{} has no mass or inertia on its joints, which exact modes need: give it some, or ask for "
        "method elements"
        if structure.closures
        else "the joint of {} is let go and turns or moves no inertia here: give it a hub or "
        "rotor_inertia, or its link a body with inertia"
    )
    return np.array([words.format(name) if name else "" for name in names], object)
