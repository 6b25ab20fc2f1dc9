"""Which way of driving is best: several commands or controllers on one task, on a finer robot.

Every method is made for the robot as it is described, on few modes, and tried on one that is finer
and whose payload is not quite what was told.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import (
    brief,
    checked,
    number,
    one_of,
    some,
    vector,
    whole_number,
)
from ...beams.basis import AssumedModes, Basis
from ...control.controllers import Clipped, Controller
from ...control.trajectories import LAWS
from ...errors import SuppleError
from ...robot import Robot
from ..configuration import joint_names
from ..small_range import SMALL
from .methods import Task
from .settle import WARN_SPEED_FACTOR, raising
from .trials import Trial, driven, trial_with_ideal_motors

__all__ = ["METHODS", "Comparison", "compare"]

Array = NDArray[np.float64]
T = TypeVar("T")
METHODS = ("unshaped", "zvd", "scheduled", "optimised")
WATCHED_PERIODS = 3.0  # periods of the lowest mode after the longest command
CALMER_FACTOR = 4  # times that a move is made calmer
SAMPLES_PER_PERIOD = 200  # of a run to a period of the lowest mode
NOTED_EFFORT_FACTOR = 1.001  # times a limit: more than this is noted
MAX_SAMPLES = 20_000  # of a run, at most


@dataclass(frozen=True, eq=False)
class Comparison(Answer):
    """Several ways to make one rest-to-rest move, evaluated on a finer robot.

    From `supple.compare`. M methods, P payloads, T times.

    Attributes
    ----------
    robot : Robot
        Nominal robot.
    start, end : ndarray
        Ends of the move.
    methods : tuple of str
        Names (M,).
    servo, finer, changed : str
        How the motors are held, on what the moves were evaluated, and what was changed, in words.
    payload : ndarray
        True payload over nominal payload, (P,).
    frequency_hz : ndarray
        Frequencies of the modes of the design, at the end of the move, Hz.
    band : float
        Distance within which the tip counts as settled, m.
    duration : ndarray
        Duration of each command (M,), s.
    settling : ndarray
        Settling time (M, P), s, from the start of the command; infinite where it did not settle.
    residual : ndarray
        Half of the tip's peak-to-peak vibration after the command, (M, P), m.
    overshoot : ndarray
        Overshoot beyond the rest position in the direction of arrival, (M, P), m.
    tip_error : ndarray
        Largest distance from a rigid robot that follows the command, (M, P), m.
    peak_effort : ndarray
        Peak effort (M, P, joints), N m or N.
    energy : ndarray
        Integral of the absolute power, (M, P), J.
    t : ndarray
        Times (T,), s.
    distance : ndarray
        Distance of the tip from its rest position, (M, P, T), m.
    command : ndarray
        Command of the motors or the platform, (M, T, joints).
    notes : tuple of str
        Warnings, each once.
    """

    robot: Robot
    start: Array
    end: Array
    methods: tuple[str, ...]
    servo: str
    finer: str
    changed: str
    payload: Array
    frequency_hz: Array
    band: float
    duration: Array
    settling: Array
    residual: Array
    overshoot: Array
    tip_error: Array
    peak_effort: Array
    energy: Array
    t: Array
    distance: Array
    command: Array
    notes: tuple[str, ...]

    labels: ClassVar = {
        "method": "methods",
        "payload": "payload",
        "joint": joint_names,
        "t": "t",
    }
    dims: ClassVar = {
        "payload": ("payload",),
        "frequency_hz": ("mode",),
        "duration": ("method",),
        **dict.fromkeys(
            ("settling", "residual", "overshoot", "tip_error", "energy"), ("method", "payload")
        ),
        "peak_effort": ("method", "payload", "joint"),
        "t": ("t",),
        "distance": ("method", "payload", "t"),
        "command": ("method", "t", "coordinate"),
    }
    table_rows: ClassVar = ("method", "payload")
    columns: ClassVar = (
        *("duration", "settling", "residual", "overshoot"),
        *("tip_error", "peak_effort", "energy"),
    )
    units: ClassVar = {
        **dict.fromkeys(("duration", "settling", "t"), "s"),
        **dict.fromkeys(("residual", "overshoot", "tip_error", "distance"), "m"),
        "energy": "J",
    }

    @property
    def worst(self) -> Array:
        """(M,) the largest residual over all payloads, m."""
        return np.asarray(self.residual.max(axis=1))

    @cached_property
    def text(self) -> tuple[str, ...]:
        """What came out, as sentences."""
        late = self.settling.max(axis=1)
        said = []
        first = int(np.argmin(late))
        if np.isfinite(late[first]):
            said.append(
                f"{self.methods[first]} settles first: after {late[first]:.3g} s the tip stays "
                f"within {1e3 * self.band:.3g} mm of its rest, whatever the payload."
            )
        else:
            said.append(f"No method settles within {1e3 * self.band:.3g} mm in the time watched.")
        calm = int(np.argmin(self.worst))
        said.append(
            f"{self.methods[calm]} shakes least: {1e3 * self.worst[calm]:.3g} mm are left after "
            "its command."
        )
        if "unshaped" in self.methods:
            plain = self.methods.index("unshaped")
            less = [
                f"{name} {self.worst[plain] / self.worst[k]:.3g} times less in "
                f"{self.duration[k] - self.duration[plain]:.3g} s more"
                for k, name in enumerate(self.methods)
                if k != plain and 0 < self.worst[k] < self.worst[plain]
            ]
            sentence = f"The unshaped move leaves {1e3 * self.worst[plain]:.3g} mm"
            said.append(f"{sentence}; {'; '.join(less)}." if less else f"{sentence}.")
        return tuple(said)


def _named_methods(name: str, value: Any) -> dict[str, Any]:
    """Methods by their names."""
    if isinstance(value, Mapping):
        found = dict(value)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        found = {}
        for method in value:
            is_word = isinstance(method, str | PurePath)
            title = str(method) if is_word else type(method).__name__
            if not is_word and title in found:
                alike = sum(isinstance(known, type(method)) for known in found.values())
                title = f"{title} {alike + 1}"
            found[title] = method
    else:
        found = {}
    if not found or not all(isinstance(word, str) for word in found):
        raise SuppleError(
            f"{name} is {brief(value)}: give a list of words such as {', '.join(METHODS)}, or a "
            "mapping from names to what drives"
        )
    return found


def _servo_words(servo: Any) -> str:
    """Return a servo in one line: its kind, and gains where it has them."""
    keys = ("position_gain", "velocity_gain")
    if not all(hasattr(servo, key) for key in keys):
        return type(servo).__name__
    gains = [getattr(servo, key) for key in keys]
    gains_listed = [", ".join(f"{gain:g}" for gain in np.ravel(each)) for each in gains]
    position, velocity = gains_listed
    return f"{type(servo).__name__}, position gains {position}, velocity gains {velocity}"


@checked
def compare(
    robot: Robot,
    start: Annotated[ArrayLike, vector()],
    end: Annotated[ArrayLike, vector()],
    duration: Annotated[float, number(0, 1e6, above=True, unit="of seconds")] | None = None,
    methods: Sequence[str] | Mapping[str, Any] = METHODS,
    *,
    groups: Annotated[int, whole_number(1, 3)] = 1,
    servo: Controller | None = None,
    law: Annotated[str, one_of("trapezoid", *LAWS)] = "trapezoid",
    payload_error: Annotated[float, number(0, 0.9)] = 0.2,
    band: Annotated[float, number(0, above=True, unit="of metres")] | None = None,
    elements: Annotated[int, whole_number(1, 50)] = 3,
    coarse: Basis = AssumedModes(1),  # noqa: B008 - frozen
    fine: Basis = AssumedModes(2),  # noqa: B008 - frozen
    damping: Annotated[float, number(0, 0.9)] | None = None,
    effort_limit: Annotated[float | Sequence[float], some(0)] | None = None,
    after: Annotated[float, number(0, 1e6, above=True, unit="of seconds")] | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare several ways to make one rest-to-rest move.

    Each method is designed on the nominal robot and evaluated on a finer model whose payload is
    wrong by `payload_error` in both directions, so that the table shows what a method is worth when
    the model is not perfect.

    Parameters
    ----------
    robot : Robot
        Nominal robot, used for the design of every method.
    start, end : array_like
        Joint coordinates, rad or m. For a Delta, positions of the platform, m.
    duration : float, optional
        Duration of the unshaped move in seconds. Default: 1.5 periods of the lowest mode.
    methods : sequence of str or mapping
        Names: unshaped, a shaper (zv, zvd, ei, ..), scheduled (a ZVD that follows the frequency
        along the path; scheduled-ei and so on), optimised (`calm_move` within the limits of the
        unshaped move, leaving no more than zvd), or a file with a move (shaped.csv). A mapping goes
        from names to these words, to a Trajectory, file, Shaper or Controller, or to a pair
        (Controller, any of the others). A given move must begin at `start` and end at `end`.
    groups : int
        Number of groups of modes to shape for, from the lowest; modes within 25 % form one group.
    servo : Controller, optional
        Controller that holds the motors. Default: the motors follow their commands exactly.
    law : {"trapezoid", "cubic", "quintic", "septic"}
        Time law of the unshaped move; the trapezoid takes a third of the time for each part.
    payload_error : float
        Relative error of the payload, tried with both signs.
    band : float, optional
        Distance in m within which the tip counts as settled. Default: a tenth of the largest
        residual.
    elements : int
        Finite elements per link of the finer robot, without a servo.
    coarse, fine : Basis
        Basis for design and for evaluation, with a servo.
    damping : float, optional
        Damping ratio of each link's own modes in the evaluation. Default: the robot's own.
    effort_limit : float or sequence, optional
        Limits of the motors, N m or N. Default: those of the robot's joints. Excess is noted;
        optimised respects the limits, and the efforts of a servo are saturated.
    after : float, optional
        Seconds to observe after the longest command. Default: 3 periods.
    progress : bool, optional
        Show a progress bar. Default: only if stderr is a terminal.

    Returns
    -------
    Comparison
        Settling time, residual vibration, overshoot, tip error, peak effort and energy per method.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> found = supple.compare(robot, [0, 0], [0.5, 0.3], methods=["unshaped", "zvd"])
    >>> bool(found.residual[1].max() < 0.1 * found.residual[0].max())
    True
    """
    limits = _effort_limits(robot, effort_limit)
    if servo is not None and limits is not None:
        servo = Clipped(servo, tuple(limits.tolist()))
    ends = np.asarray(start, float), np.asarray(end, float)
    task = Task(robot, *ends, servo, coarse, groups, limits)
    move = task.plain_move(duration, law)
    named = _named_methods("methods", methods)
    commands = {
        name: task.driving(move, named[name]) for name in _with_progress("making", named, progress)
    }
    after = WATCHED_PERIODS * task.period if after is None else after
    total = max(command.duration for command, _ in commands.values()) + after
    t = np.linspace(
        0.0, total, 1 + max(400, min(MAX_SAMPLES, round(total / task.period * SAMPLES_PER_PERIOD)))
    )
    factors, robots, changed = _wrong_payloads(robot, payload_error)
    trials = []
    for name, k in _with_progress("trying", product(commands, range(len(robots))), progress):
        command, controller = commands[name]
        if controller is None:
            trials.append(
                trial_with_ideal_motors(robots[k], command, t, task.platform, elements, damping)
            )
        else:
            model = task.finer(robots[k], fine, damping)
            trials.append(driven(model, controller, command, t, task.platform))
    rows = [trials[k : k + len(robots)] for k in range(0, len(trials), len(robots))]
    words = f"elements per link: {elements}" if servo is None else f"{fine!r} instead of {coarse!r}"
    found = _make_comparison(task, tuple(commands), rows, commands, factors, changed, words, band)
    return found if limits is None else replace(found, notes=(*found.notes, *_over(found, limits)))


def _effort_limits(robot: Robot, given: Any) -> Array | None:
    """Limits (motors,) of efforts, infinite where a motor has none; None without any."""
    drives = architecture_of(robot).drives
    if given is None:
        own = [drive.made.effort_limit for drive in drives]
        limits = np.array([np.inf if value is None else float(value) for value in own])
        return limits if np.isfinite(limits).any() else None
    if np.shape(given) not in ((), (len(drives),)) or not (np.asarray(given) > 0).all():
        raise SuppleError(
            f"effort_limit is {brief(given)}: give a positive value, or one for each of "
            f"{len(drives)} motors"
        )
    return np.broadcast_to(np.asarray(given, float), (len(drives),))


def _over(found: Comparison, limits: Array) -> list[str]:
    """Notes of methods whose motors need more than they have."""
    notes = []
    names = [drive.name for drive in architecture_of(found.robot).drives]
    for k, method in enumerate(found.methods):
        used = found.peak_effort[k].max(axis=0) / limits
        j = int(np.argmax(used))
        if used[j] > NOTED_EFFORT_FACTOR:
            peak = found.peak_effort[k][:, j].max()
            notes.append(
                f"{method} needs {peak:.3g} of {names[j]}, {used[j]:.3g} times its effort limit"
            )
    return notes


def _with_progress(word: str, each: Iterable[T], progress: bool | None) -> Iterator[T]:
    """What is gone through one by one, with a progress bar on the error stream."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield from each
        return
    from rich.console import Console
    from rich.progress import Progress

    known = list(each)
    with Progress(transient=True, console=Console(stderr=True)) as bar:
        task = bar.add_task(word, total=len(known))
        for one in known:
            yield one
            bar.advance(task)


def _wrong_payloads(robot: Robot, error: float) -> tuple[Array, list[Robot], str]:
    """Factors, the robot with its payload so many times as heavy, and what was changed."""
    load = architecture_of(robot).load
    if load is None:
        return np.ones(1), [robot], "the robot has no payload, so nothing was changed"
    path, mass = load
    factors = np.array([1.0, 1 - error, 1 + error] if error else [1.0])
    robots = [robot if f == 1 else robot.with_(path, float(f * mass)) for f in factors]
    return factors, robots, f"{path} {mass:g} kg"


def _make_comparison(
    task: Task,
    names: tuple[str, ...],
    trials: list[list[Trial]],
    commands: dict[str, Any],
    factors: Array,
    changed: str,
    finer: str,
    band: float | None,
) -> Comparison:
    t = trials[0][0].t
    each = {
        name: np.array([[getattr(trial, name) for trial in row] for row in trials])
        for name in ("residual", "overshoot", "tip_error", "energy", "distance")
    }
    if band is None:
        # the next of 1, 2, 5 times a power of ten below a tenth of the largest residual
        most = 0.1 * float(np.nanmax(each["residual"]))
        power = 10.0 ** np.floor(np.log10(most)) if most > 0 else 1e-9
        fits = [m for m in (1, 2, 5) if m * power <= most * (1 + 1e-9)]
        band = float(max(fits, default=1) * power)
    # commands that are faster or accelerate more than the first one
    (first, (plain, _)), *others = commands.items()
    notes = dict.fromkeys(
        f"{name} raises the {said} of {first}"
        for name, (command, _) in others
        for times, said in raising(plain, command)
        if times > WARN_SPEED_FACTOR
    )
    bent = max((trial.bent for row in trials for trial in row), default=0.0)
    notes |= dict.fromkeys(note for row in trials for trial in row for note in trial.notes)
    if bent > SMALL:
        sentence = (
            f"links bend by up to {bent:.2g} (deflection over length, or rad): beyond {SMALL:g} "
        )
        notes[
            sentence + "the linear model of a robot without a servo is off by more than a per cent"
        ] = None
    omega = task.held_modes(task.end[None], task.rings[-1].stop)[0][0]
    return Comparison(
        robot=task.robot,
        start=task.start,
        end=task.end,
        methods=names,
        servo="motors do exactly what they are told"
        if task.servo is None
        else _servo_words(task.servo),
        finer=finer,
        changed=changed,
        payload=factors,
        frequency_hz=omega / (2 * np.pi),
        band=band,
        duration=np.array([command.duration for command, _ in commands.values()]),
        settling=np.array([[trial.settling(band) for trial in row] for row in trials]),
        peak_effort=np.array([[np.abs(x.effort).max(axis=0) for x in row] for row in trials]),
        t=t,
        command=np.array([command(t)[0] for command, _ in commands.values()]),
        notes=tuple(notes),
        **each,
    )
