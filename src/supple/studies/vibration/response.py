"""How does it answer a vibrating force: exact frequency responses, with poles and zeros.

H(omega) = C K(omega)^-1 B, K the dynamic stiffness of the undeformed robot: no basis, none cut off.
Time runs as exp(+i omega t); base axes; torques act on the motor side.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import as_list, brief, checked, number, reals
from ...control.trajectories import Trajectory, a_trajectory
from ...errors import SuppleError
from ...link_loads import unit_load
from ...outputs.kinds import Acceleration, Encoder, Moment, Place, Strain, Tip
from ...outputs.output import Output as AnyOutput
from ...robot import Robot
from ...structure import Joints, Structure, cut_structure, motor_is_free, structure_of
from ..configuration import joint_states, where
from .frequency_system import CHUNK, FrequencySystem, system_of
from .linear_inversion import inputs_along
from .modal_response import modally_damped_response
from .modes import Modes, modes
from .zeros import zeros_within

__all__ = ["FrequencyResponse", "response"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Output = str | AnyOutput


@dataclass(frozen=True)
class Entry:
    """One value of an output that has three."""

    output: Moment | Acceleration | Place
    k: int


One = str | Strain | Entry
TIP = {"x": 0, "y": 1, "z": 2, "rx": 3, "ry": 4, "rz": 5}
DAMPED_BAND_RATIO = (
    4.0  # modes up to this many times the band, and eight at least, carry modal damping
)


@dataclass(frozen=True)
class FrequencyResponse(Answer):
    """Exact frequency responses of a robot in one pose.

    From `supple.response`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,), rad or m.
    joints : str
        What the motors do.
    frequency_hz : ndarray
        Frequencies (F,), Hz.
    inputs, outputs : tuple of str
        Names.
    values : ndarray of complex
        (F, outputs, inputs): output = values * input, for a time dependence exp(+i omega t).
    poles : ndarray of complex
        Poles s = i omega of the undamped robot's elastic modes up to the highest frequency; of each
        pair the one with positive imaginary part.
    rigid_modes : int
        Number of poles at zero.
    structural_damping, modal_damping : float
        As requested.
    system, ports
        Internal data, from which zeros and further values are computed.
    """

    robot: Robot
    theta: Array
    joints: str
    frequency_hz: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    values: Complex
    poles: Complex
    rigid_modes: int
    structural_damping: float
    modal_damping: float
    system: FrequencySystem = field(repr=False, compare=False)
    ports: Any = field(repr=False, compare=False)

    labels: ClassVar = {"output": "outputs", "input": "inputs"}
    dims: ClassVar = {
        "values": ("frequency", "output", "input"),
        "frequency_hz": ("frequency",),
        "poles": ("pole",),
        "theta": ("joint",),
    }
    table_rows: ClassVar = ("frequency", "output", "input")
    columns: ClassVar = ("frequency_hz", "values")
    units: ClassVar = {"frequency_hz": "Hz", "poles": "rad/s"}

    def zeros(self, input: str, output: Output) -> Complex:  # noqa: A002 - the field's word
        """Zeros s of the undamped robot from one input to one output, up to the highest frequency.

        All with abs(s) <= omega_max, counted by the argument principle: imaginary ones block a
        frequency, real ones are of non-minimum phase. Of each pair s, -s the one with positive
        imaginary part, or on the positive real axis, is listed; sorted by size.
        """
        given = self.ports.column(input), self.ports.index(output)
        if not self.frequency_hz.max():
            return np.zeros(0, complex)
        lam = self.ports.zeros(self.system, *given, -(self.poles.imag**2), self.rigid_modes)
        s = np.sqrt(lam + 0j)
        return np.asarray(np.where(s.imag < 0, -s, s))

    def efforts(
        self, path: Trajectory, window: tuple[float, float], cutoff_hz: float
    ) -> tuple[Array, Array]:
        """Return t (N,) and the inputs (N, inputs) with which the outputs follow a path, bounded.

        Linear about this pose, by the exact transfer functions (`linear_inversion`). As many
        outputs as inputs, named as strings, joints free. path: of the outputs, as motion away from
        the pose, beginning at t = 0; window: first and last time, s; cutoff_hz: nothing faster is
        asked for.
        """
        path = a_trajectory("path", path)
        cutoff_hz = number(0, above=True)("cutoff_hz", cutoff_hz)
        ends = reals("window", window)
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise SuppleError(f"window is {brief(window)}: give (first, last) in s, first < last")
        width = path.at(np.zeros(1))[0].shape[1]
        if not len(self.inputs) == len(self.outputs) == width or not self.rigid_modes:
            raise SuppleError(
                f"a path of {width} coordinates, {len(self.inputs)} inputs and "
                f"{len(self.outputs)} outputs, joints {self.joints}: give as many of each, joints "
                "free"
            )

        def H(f: Array) -> Complex:
            return response(
                self.robot,
                self.theta,
                f,
                self.inputs,
                self.outputs,
                joints="free",
                structural_damping=self.structural_damping,
                modal_damping=self.modal_damping,
            ).values

        return inputs_along(H, path, (float(ends[0]), float(ends[1])), cutoff_hz)


def _ports(name: str, value: Any) -> tuple[Output, ...]:
    """Return a list of names of inputs or outputs; an output may be what is measured itself."""
    kinds, give = (str, "force.y") if name == "inputs" else (str | AnyOutput, "tip.x, or a Strain")
    for each in as_list(name, value):
        if not isinstance(each, kinds):
            raise SuppleError(f"{name} has {brief(each)}: give names such as {give}")
    return tuple(value)


@checked
def response(
    robot: Robot,
    theta: ArrayLike | None = None,
    frequency_hz: ArrayLike = (),
    inputs: Annotated[Sequence[str], _ports] = ("force.x", "force.y", "force.z"),
    outputs: Annotated[Sequence[Output], _ports] = ("tip.x", "tip.y", "tip.z"),
    *,
    position: ArrayLike | None = None,
    joints: Joints | Mapping[str, str] | Sequence[str] = "free",
    structural_damping: Annotated[float, number(0)] = 0.0,
    modal_damping: Annotated[float, number(0)] = 0.0,
) -> FrequencyResponse:
    """Exact frequency responses of a robot in one pose.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates (joints,), rad or m. Default: zero.
    frequency_hz : array_like
        Frequencies (F,), Hz.
    inputs : sequence of str
        ``"tau.LINK"`` (effort of that joint's motor, N m or N), ``"force.x"`` and ``"moment.x"``
        (load on the tip, base axes), ``"force.LINK@0.5.y"`` (load on a section of a link)
        and so on. The motors of a Delta are upper1, upper2, upper3.
    outputs : sequence of str or Output
        ``"tip.x"`` to ``"tip.z"``, ``"tip.rx"`` to ``"tip.rz"`` (small motion of the tip, base
        axes), ``"theta.LINK"`` (motor side), `Strain`, and three rows each of `Tip`, `Moment` and
        the `Acceleration` of a link's end.
    position : array_like, optional
        Instead of `theta`: position (3,) of a Delta's platform, m.
    joints : {"free", "locked"}, mapping or sequence
        Whether the motors are free or locked; ``{link: word}``, or one word per motor.
    structural_damping : float
        Loss factor eta: E and G of the links are multiplied by 1 + i eta; springs stay real.
    modal_damping : float
        Damping ratio zeta of every elastic mode; rigid modes are undamped.

    Returns
    -------
    FrequencyResponse

    Notes
    -----
    The responses follow from the exact dynamic stiffness of the beams, without truncation of modes.
    With modal damping every elastic mode has the denominator
    omega_k^2 - omega^2 + 2 i zeta omega_k omega.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> found = supple.response(
    ...     supple.load("industrial-3"),
    ...     [0, 0.785, 0.785],
    ...     frequency_hz=np.linspace(1.0, 20.0, 50),
    ...     inputs=["force.y"],
    ...     outputs=["tip.y"],
    ...     joints="locked",
    ...     modal_damping=0.01,
    ... )
    >>> found.values.shape
    (50, 1, 1)
    >>> found.poles.imag.round(2)  # rad/s, up to 20 Hz
    array([35.47])
    """
    f = _frequencies(frequency_hz, structural_damping, modal_damping)
    configuration = where(robot, theta, position)
    if not configuration.single:
        raise SuppleError("a frequency response is of one configuration: give theta (joints,)")
    joints = joint_states(robot, joints)

    # The robot cut at the places of loads and measurements, for frequencies up to the highest
    structure = structure_of(robot, configuration.at, joints)
    structure = _cut_at_places(structure, tuple(inputs), outputs)
    top = 2 * math.pi * float(f.max())
    system = system_of(structure, _end_of_band(top))  # refuses absurd frequencies
    omega = 2 * math.pi * f
    rows = sum((_rows_of(output) for output in outputs), ())
    ports = Ports(robot, system, tuple(inputs), rows, joints)

    # Natural frequencies: the poles of the answer, and the modes that are damped
    found: Modes | None = None
    poles = np.zeros(0)
    if _can_vibrate(structure):
        highest = top * (DAMPED_BAND_RATIO if modal_damping else 1.0)
        found = _modes_up_to(robot, configuration, joints, highest)
        poles = found.omega[found.omega <= top * (1 + 1e-12)]

    if modal_damping and found is not None:
        highest = max(DAMPED_BAND_RATIO * top, float(found.omega[-1]))
        wide_system = system_of(structure, _end_of_band(highest))
        wide_ports = Ports(robot, wide_system, tuple(inputs), rows, joints)
        values = modally_damped_response(
            partial(ports.values, system, loss=1.0),
            wide_system,
            wide_ports.forces(wide_system),
            partial(wide_ports.rows, wide_system, loss=1.0),
            omega,
            found.omega,
            modal_damping,
        )
    else:
        values = ports.values(system, omega, 1 + 1j * structural_damping)
    return FrequencyResponse(
        robot,
        configuration.take(configuration.theta),
        joints,
        f,
        tuple(map(str, inputs)),
        tuple(_name(each) for each in rows),
        values,
        np.asarray(1j * poles, complex),
        int(structure.rigid_modes[0]),
        float(structural_damping),
        float(modal_damping),
        system,
        ports,
    )


def _end_of_band(omega: float) -> float:
    """Where the band of a system ends that is used up to a frequency, rad/s: a little above it."""
    return 1.001 * omega + 1e-9


def _can_vibrate(structure: Structure) -> bool:
    """Whether any link bends or any joint has a spring."""
    for segment in structure.segments:
        if not segment.beam.rigid or any(release.stiffness for release in segment.releases):
            return True
    return False


def _rows_of(output: Any) -> tuple[One, ...]:
    """The rows of an output, one value each."""
    if isinstance(output, Tip) and not output.rotation:
        return ("tip.x", "tip.y", "tip.z")
    if isinstance(output, Encoder) and output.counts is None:
        return (f"theta.{output.joint}",)
    if isinstance(output, Moment | Acceleration | Place):
        return tuple(Entry(output, k) for k in range(3))
    return (output,)


def _name(output: Output | One) -> str:
    if isinstance(output, Strain):
        return f"strain.{output.link}@{output.fraction:g}"
    if isinstance(output, Entry):
        place = output.output
        what = type(place).__name__.lower()
        if isinstance(place, Place):
            what = ("place", "velocity", "acceleration")[int(place.rate)]
        return f"{what}.{place.link}@{place.fraction:g}.{'xyz'[output.k]}"
    return str(output)


def _modes_up_to(robot: Robot, configuration: Any, joints: Joints, top: float) -> Modes:
    """The elastic modes at least up to a frequency, rad/s."""
    place: dict[str, Any] = {"theta": configuration.take(configuration.theta)}
    if configuration.position is not None:
        place = {"position": configuration.take(configuration.position)}
    count = 8
    while True:
        found = modes(robot, count=count, joints=joints, **place)
        if len(found.omega) < count or found.omega[-1] > top or count > 4000:
            return found
        count *= 2


def _frequencies(frequency_hz: ArrayLike, structural: float, modal: float) -> Array:
    """What is asked as an array, dampings checked with it."""
    for name, value in (("structural_damping", structural), ("modal_damping", modal)):
        if not isinstance(value, int | float) or not 0 <= value < 1:
            raise SuppleError(f"{name} is {value!r}: give a number from 0 to below 1")
    if structural and modal:
        raise SuppleError("structural_damping and modal_damping are both given: give one of them")
    try:
        f = np.atleast_1d(np.asarray(frequency_hz, float))
    except (TypeError, ValueError):
        f = np.empty(0)
    if f.ndim != 1 or not f.size or not np.isfinite(f).all() or (f < 0).any():
        raise SuppleError(
            "frequency_hz must be frequencies of zero and above in Hz, such as "
            "np.linspace(0, 100, 500)"
        )
    return f


class Ports:
    """Inputs and outputs of a FrequencySystem: columns of forces, rows of motions."""

    def __init__(
        self,
        robot: Robot,
        system: FrequencySystem,
        inputs: tuple[str, ...],
        outputs: tuple[One, ...],
        joints: str,
    ) -> None:
        self._robot = robot
        self._joints = joints
        self._inputs = inputs
        self._outputs = outputs
        self._columns = [self._force(system, name) for name in inputs]
        for output in outputs:
            self._row(system, output)

    def column(self, name: str) -> int:
        """Return the number of an input."""
        if name not in self._inputs:
            raise SuppleError(f"input is {name!r}: this response has {', '.join(self._inputs)}")
        return self._inputs.index(name)

    def index(self, output: Output) -> int:
        """Return the number of an output, given itself or by its name."""
        names = [_name(each) for each in self._outputs]
        if _name(output) not in names:
            raise SuppleError(f"output is {output!r}: this response has {', '.join(names)}")
        return names.index(_name(output))

    def values(self, system: FrequencySystem, omega: Array, loss: complex) -> Complex:
        """H (F, outputs, inputs); infinite where nothing holds the robot, at zero frequency."""
        H = np.empty((len(omega), len(self._outputs), len(self._inputs)), complex)
        s = system.scale()
        b = s[:, None] * self.forces(system)
        many = max(1, min(CHUNK, int(2e7 / (1 + len(s)) ** 2)))
        for start in range(0, len(omega), many):
            part = slice(start, start + many)
            w2 = (omega[part] ** 2).astype(complex)
            K = system.stiffness(w2, loss) * s[:, None] * s
            c, direct = self.rows(system, w2, loss)
            # of a frequency whose square is no number, as of zero
            is_finite = (w2.real > 0) | (not system.structure.rigid_modes[0])
            inside = np.full((len(w2), len(s), b.shape[1]), complex(math.inf, 0))
            inside[is_finite] = np.linalg.solve(
                K[is_finite], np.broadcast_to(b, (int(is_finite.sum()), *b.shape))
            )
            with np.errstate(invalid="ignore"):
                H[part] = (c * s) @ inside + direct
            H[part][~is_finite] = complex(math.inf, 0)
        return H

    def zeros(
        self, system: FrequencySystem, column: int, row: int, poles: Array, rigid: int
    ) -> Complex:
        """Return lambda = s^2 of the zeros of one path, |s| within the system's band."""
        s = system.scale()
        b = s * self.forces(system)[:, column]

        def determinant(lam: Complex) -> tuple[Complex, Array]:
            w2 = -lam
            c, direct = self.rows(system, w2, 1.0)
            M = np.zeros((len(lam), len(s) + 1, len(s) + 1), complex)
            M[:, :-1, :-1] = system.stiffness(w2) * s[:, None] * s
            M[:, :-1, -1] = b / np.abs(b).max()
            size = np.abs(c[:, row] * s).max(axis=1, keepdims=True)
            M[:, -1, :-1] = c[:, row] * s / size.max()
            M[:, -1, -1] = -direct[:, row, column] / (np.abs(b).max() * size.max())
            phase, log = np.linalg.slogdet(M)
            return phase, log

        H = self.values(system, system.top * np.array([0.31, 0.57, 0.83]), 1.0)
        seen = np.abs(H[:, row, column]).max()
        if seen <= 1e-12 * np.abs(H).max(axis=(0, 2))[row] or not np.abs(b).max():
            names = self._inputs[column], _name(self._outputs[row])
            raise SuppleError(f"{names[0]} does not move {names[1]} at all: it has no zeros")
        return zeros_within(determinant, system.top / 1.001, poles, rigid)

    def forces(self, system: FrequencySystem) -> Array:
        """Return the forces of unit inputs on the unknowns, (n, inputs)."""
        return system.z.free.T @ np.stack([column for column, _ in self._columns], axis=1)

    def rows(self, system: FrequencySystem, w2: Complex, loss: complex) -> tuple[Complex, Array]:
        """C (F, outputs, n), and what inputs do to outputs directly."""
        rows = np.empty((len(w2), len(self._outputs), system.z.free.shape[1]), complex)
        direct = np.zeros((len(w2), len(self._outputs), len(self._inputs)))
        for k, output in enumerate(self._outputs):
            if isinstance(output, Strain):
                rows[:, k] = self._strain(system, output, w2, loss)
                continue
            if not isinstance(output, str):
                # a moment, section axes, or the acceleration of a link's end, base axes
                place = output.output
                i, x = system.structure.section(place.link, place.fraction)
                if isinstance(place, Moment):
                    rows[:, k] = system.forces(i, x, w2, loss)[:, 3 + output.k]
                else:
                    ways = _section_motion(system, place.link, place.fraction)[output.k]
                    order = place.rate if isinstance(place, Place) else 2
                    # exp(+i omega t): each rate is a factor i omega
                    rows[:, k] = ((1j * np.sqrt(w2)) ** order)[:, None] * (ways @ system.z.free)
                continue
            rows[:, k] = self._row(system, output) @ system.z.free
            for j, (name, (_, soft)) in enumerate(zip(self._inputs, self._columns, strict=True)):
                if output.startswith("theta.") and name == f"tau.{output[6:]}":
                    direct[:, k, j] = soft
        return rows, direct

    def _force(self, system: FrequencySystem, name: str) -> tuple[Array, float]:
        """Force on the unknowns of a unit input (N,), and how it twists a spring by itself."""
        kind, _, part = str(name).partition(".")
        axis = {"force": 0, "moment": 3}.get(kind)
        if axis is not None and part in ("x", "y", "z"):
            return _tip(self._robot, system)[axis + "xyz".index(part)], 0.0
        if axis is not None and (load := unit_load(name)) is not None:
            way = int(np.flatnonzero(load.wrench)[0])
            return _section_motion(system, load.link, load.fraction)[way], 0.0
        if kind == "tau" and part:
            if not motor_is_free(self._joints, part):
                raise SuppleError(f"input {name} does nothing with this joint locked: let it free")
            return self._motor(system, part)
        raise SuppleError(
            f"input is {name!r}: give tau.LINK, force.x, force.y, force.z, moment.x, moment.y, "
            "moment.z, or one on a section such as force.LINK@0.5.y"
        )

    def _row(self, system: FrequencySystem, output: One) -> Array:
        if isinstance(output, Strain | Entry):
            place: Any = output.output if isinstance(output, Entry) else output
            system.structure.pieces(place.link)
            return np.empty(0)
        kind, _, part = str(output).partition(".")
        if kind == "tip" and part in TIP:
            return np.asarray(_tip(self._robot, system)[TIP[part]])
        if kind == "theta" and part:
            if not motor_is_free(self._joints, part):
                raise SuppleError(
                    f"output {output} stands still with this joint locked: let it free"
                )
            return self._motor(system, part)[0]
        raise SuppleError(
            f"output is {output!r}: give tip.x, .., tip.rz, theta.LINK, Strain(link, fraction), "
            "Moment(link, fraction), Acceleration(link, fraction), Place(link, fraction), Tip() or "
            "Encoder(joint)"
        )

    def _strain(
        self, system: FrequencySystem, output: Strain, w2: Complex, loss: complex
    ) -> Complex:
        """Rows of a bending strain: offset psi_z', or -y psi_z' + z psi_y' + u' at (y, z)."""
        i, x = system.structure.section(output.link, output.fraction)
        L = float(system.structure.L[0, i])
        yields = system.structure.segments[i].beam.outside(L).compliances([x])[0]
        f = system.forces(i, x, w2, loss)
        turn_z = f[:, 5] * yields[5] / loss
        turn_y = f[:, 4] * yields[4] / loss
        if np.ndim(output.offset) == 0:  # about the link's z, whatever the section's roll
            z_LS = system.structure.segments[i].R_LS[2]
            twist = f[:, 3] * yields[3] / loss
            return np.asarray(
                output.offset * (z_LS[0] * twist + z_LS[1] * turn_y + z_LS[2] * turn_z)
            )
        y, z = output.gauge(self._robot)
        return np.asarray(f[:, 0] * yields[0] / loss - y * turn_z + z * turn_y)

    def _motor(self, system: FrequencySystem, name: str) -> tuple[Array, float]:
        """Row (N,) of a motor's coordinate, and the compliance of a spring without a rotor."""
        family = architecture_of(self._robot)
        unit = np.eye(system.z.size)
        drives = {drive.name: drive for drive in family.drives}
        if (rod := dict(system.structure.rods).get(name)) is not None:
            ends = ((rod.a, rod.rows_a[0, 0]), (rod.b, rod.rows_b[0, 0]))
            grows = [row @ system.z.end[i] for i, row in ends if i >= 0]
            grows += [taken[0, 0] * unit[system.z.releases[i].start] for i, taken in rod.slides]
            return np.asarray(sum(grows, np.zeros(system.z.size))), 0.0
        numbers = {f"motor{k + 1}": drive.segment for k, drive in enumerate(family.drives)}
        part = name if name in drives else numbers.get(name, name)
        i = system.structure.pieces(part)[0]
        for owner, _, column in system.z.motors:
            if owner == i:
                return unit[column], 0.0
        loose = [k for k, r in enumerate(system.structure.segments[i].releases) if r.floating]
        joint: Any = getattr(family.part_of_segment(part), "joint", None)
        motor = drives[part].made if part in drives else joint
        if not loose or motor is None or getattr(joint, "type", "") == "fixed":
            raise SuppleError(f"{name} has no joint that moves: name one that does")
        if (other := getattr(joint, "mimic", None)) is not None:
            raise SuppleError(f"{name} has no motor: its joint follows that of {other.joint}")
        releases = system.structure.segments[i].releases
        stiffness = motor.stiffness
        way = releases[loose[0]].toward(0)
        if any(r.stiffness and np.allclose(r.toward(0), way) for r in releases):
            stiffness = None  # its spring gives way by itself
        return unit[system.z.releases[i].start + loose[0]], 1 / stiffness if stiffness else 0.0


def _cut_at_places(
    structure: Structure, inputs: tuple[str, ...], outputs: Sequence[Output]
) -> Structure:
    """Return the structure with links cut where forces act on them or their motion is asked."""
    loads = [load for name in inputs if (load := unit_load(name)) is not None]
    places = [(load.link, load.fraction) for load in loads]
    for output in outputs:
        if isinstance(output, Acceleration | Place):
            places.append((output.link, output.fraction))
    cuts: dict[int, set[float]] = {}
    for link, fraction in places:
        i, x = structure.section(link, fraction)
        length = float(structure.L[0, i])
        if 0 < x < length:
            cuts.setdefault(i, set()).add(x / length)
    if not cuts:
        return structure
    fractions = [
        np.array([0.0, *sorted(cuts.get(i, ())), 1.0]) for i in range(len(structure.segments))
    ]
    return cut_structure(structure, fractions)[0]


def _section_motion(system: FrequencySystem, link: str, fraction: float) -> Array:
    """(6, N): motion of a section where a link begins, ends or is cut, base axes."""
    i, x = system.structure.section(link, fraction)
    moved = system.z.end[i] if x > 0 else system.z.root[i]
    return np.asarray(np.kron(np.eye(2), system.structure.R[0, i]) @ moved)


def _tip(robot: Robot, system: FrequencySystem) -> Array:
    """(6, N): motion of the tip over the unknowns, base axes."""
    i = system.structure.tip
    turn = np.kron(np.eye(2), system.structure.R[0, i])
    return np.asarray(turn @ system.z.end[i])
