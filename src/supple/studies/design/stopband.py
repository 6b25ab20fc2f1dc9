"""Is this band free: a proof that no pose and payload of a box rings in it, or one that does.

The natural frequencies below each edge of the band are counted at the middle of a cell of poses,
and a bound says how far the cell may reach before that number can change (`band_edge`). A cell with
equal numbers at both edges and a bound that covers it is proven; others are halved. More payload
lowers every frequency: the band is free for all payloads if as many frequencies lie below its lower
edge with the lightest as below its upper edge with the heaviest.

A joint changes nothing where what lies before it looks the same from its far side at every angle:
the first joint of an arm that stands on the ground, or on a foundation or column that is alike all
around. Such joints are found beforehand and cost nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...architectures.kinds import architecture_of
from ...arguments import (
    checked,
    instance,
    number,
    vector,
    whole_number,
)
from ...budget import LONG, SizeWarning
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...robot import Robot
from ..vibration.modes import modes
from .band_edge import BandEdge
from .varied import Varied
from .workers import Progress

__all__ = ["Band", "stopband"]

Array = NDArray[np.float64]
CELLS_PER_BATCH = 256
EDGE_TOLERANCE = 1e-10  # relative: by so much the band is widened; frequencies are good to 1e-11
ROUNDING_MARGIN = 1 - 1e-6  # the rounding of eigenvalues and norms, far below it, stays inside
HIGHEST_FREQUENCY = 1e12  # Hz that a band may reach
LARGEST_ANGLE = 1e6  # rad from zero that a box may begin
FORESEEN_AFTER = 3.0  # s after which the time that a proof will take is foreseen


@dataclass(frozen=True, eq=False)
class Band(Answer):
    """Whether a band of frequencies is free over a box of poses and payloads.

    From `supple.stopband`.

    Attributes
    ----------
    robot : Robot
        The arm.
    low_hz, high_hz : float
        The band, Hz.
    free : bool or None
        True (proven), False (a violation is in `at`), None (not decided at this resolution).
    at : dict or None
        A pose with a frequency in the band, by the keys of the box.
    frequency_hz : float or None
        That frequency, Hz.
    cells, undecided : int
        Number of cells examined, and left undecided.
    margin_hz : float
        Smallest distance from the band to a frequency at the middle of any cell, Hz; over the whole
        box it may be smaller.
    rests_on : str
        Assumptions of the proof.
    unchanged : tuple of str
        Coordinates of the box that change no frequency.
    """

    robot: Robot
    low_hz: float
    high_hz: float
    free: bool | None
    at: dict[str, float] | None
    frequency_hz: float | None
    cells: int
    undecided: int
    margin_hz: float
    rests_on: str = (
        "counts of eigenvalues in floating-point numbers and a bound on how far they move within a "
        "cell (Weyl); frequencies fall as payload grows; joints locked, links as described"
    )
    unchanged: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.free is True


Box = Annotated[
    Mapping[str, tuple[float, float]],
    instance(Mapping, "a box such as {'theta.link2': (-2, 2)}"),
]


@checked
@one_thread
def stopband(
    robot: Robot,
    band: Annotated[tuple[float, float], vector(2)],
    over: Box,
    *,
    theta: ArrayLike | None = None,
    resolution: Annotated[float, number(0, 1, above=True)] = 1e-4,
    cells: Annotated[int, whole_number(1)] = 2_000_000,
    progress: bool | None = None,
) -> Band:
    """Prove that no natural frequency lies in a band, for any pose and payload in a box.

    Parameters
    ----------
    robot : Robot
        A serial arm, joints locked.
    band : (low, high)
        Frequencies in Hz, both ends included.
    over : mapping
        The box, ``{"theta.link2": (low, high), "payload.mass": (low, high)}``: coordinates of
        revolute joints and the payload's mass.
    theta : array_like, optional
        Joint coordinates (joints,) of the joints that do not vary. Default: zero.
    resolution : float
        Smallest cell in rad; smaller ones are given up and count as not decided.
    cells : int
        Largest number of cells to examine.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Band
        `free` is True (proven), False (a violation is in `at`) or None (not decided).

    Notes
    -----
    The box is divided into cells. In each, the natural frequencies below the band's ends are
    counted at the middle, and Weyl's inequality bounds how far the eigenvalues of the dynamic
    stiffness can move within the cell.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link")
    >>> supple.stopband(robot, (2.0, 3.0), over={"theta.link2": (0.0, 0.5)}).free
    False
    >>> supple.stopband(robot, (0.8, 1.5), over={"theta.link2": (0.0, 0.5)}).free
    True
    """
    low, high = _interval("band", band)
    if low <= 0 or high > HIGHEST_FREQUENCY:
        raise SuppleError(
            f"band is {band!r}: it begins above 0 Hz and ends below {HIGHEST_FREQUENCY:.0e} Hz"
        )
    varied = _parse_box(robot, over, theta)
    box = {key: _interval(key, edges, single=True) for key, edges in over.items()}
    payload_range = box.pop("payload.mass", None)
    proof = _Proof(varied, box, payload_range, (low, high))
    meter = Progress(1, "cells", progress, announces=False)
    try:
        return proof.run(resolution, cells, _ProofProgress(meter, proof))
    finally:
        meter.end()


class _Proof:
    """The division of a box of poses into cells, each proven or halved.

    Attributes
    ----------
    keys, low, high
        The joints that vary, and the ends of their ranges, rad.
    live
        (k,) which of them change a frequency.
    lightest, heaviest
        The robot with the least and with the most payload.
    """

    def __init__(
        self,
        varied: Varied,
        box: Mapping[str, tuple[float, float]],
        payload_range: tuple[float, float] | None,
        band: tuple[float, float],
    ) -> None:
        self.varied = varied
        self.band = band
        self.payload_range = payload_range
        self.keys = list(box)
        self.low = np.array([edges[0] for edges in box.values()])
        self.high = np.array([edges[1] for edges in box.values()])

        # The lower edge with the lightest payload, the upper one with the heaviest
        self.lightest = varied.robot
        self.heaviest = varied.robot
        if payload_range is not None:
            self.lightest = varied.robot_at({"payload.mass": payload_range[0]})
            self.heaviest = varied.robot_at({"payload.mass": payload_range[1]})
        lower_omega = 2 * np.pi * (band[0] * (1 - EDGE_TOLERANCE))
        upper_omega = 2 * np.pi * (band[1] * (1 + EDGE_TOLERANCE))
        self.lower_edge = BandEdge(self.lightest, varied, float(lower_omega))
        self.upper_edge = BandEdge(self.heaviest, varied, float(upper_omega))

        is_live = []
        for key in self.keys:
            is_live.append(not (self.lower_edge.unchanged[key] and self.upper_edge.unchanged[key]))
        self.live = np.array(is_live, bool)

    def run(self, resolution: float, most_cells: int, progress: _ProofProgress) -> Band:
        """Prove cells and halve the others, until none is left, one violates or too many are."""
        looked_at = 0
        given_up = 0
        margin = np.inf
        middles = (self.low + self.high)[None] / 2
        half_widths = (self.high - self.low)[None] / 2
        while len(middles):
            middle = middles[-CELLS_PER_BATCH:]
            half_width = half_widths[-CELLS_PER_BATCH:]
            middles = middles[:-CELLS_PER_BATCH]
            half_widths = half_widths[:-CELLS_PER_BATCH]
            looked_at += len(middle)

            # A cell whose middle has frequencies between the edges violates the claim
            below, lower_shares = self.lower_edge.count_and_shares(middle, half_width)
            below_upper, upper_shares = self.upper_edge.count_and_shares(middle, half_width)
            different = np.flatnonzero(below != below_upper)
            if len(different):
                return self._refuted(middle[different[0]], looked_at)
            margin = min(margin, self._margin(middle[0]))

            # It is proven where neither number can change; joints that change nothing do not count
            lower_shares = np.where(self.live, lower_shares, 0.0)
            upper_shares = np.where(self.live, upper_shares, 0.0)
            bound = np.maximum(lower_shares.sum(axis=1), upper_shares.sum(axis=1))
            is_proven = bound < ROUNDING_MARGIN
            widest = np.where(self.live, half_width, 0.0).max(axis=1, initial=0.0)
            is_wide = widest >= resolution
            given_up += int((~is_proven & ~is_wide).sum())
            progress.step(len(middle), half_width[is_proven | ~is_wide])

            to_halve = np.flatnonzero(~is_proven & is_wide)
            if looked_at + len(middles) > most_cells:
                given_up += len(middles) + len(to_halve)
                break
            shares = np.maximum(lower_shares, upper_shares)
            new_middles, new_half_widths = _halve_cells(
                middle[to_halve], half_width[to_halve], shares[to_halve]
            )
            middles = np.vstack([middles, new_middles])
            half_widths = np.vstack([half_widths, new_half_widths])

        free = None if given_up else True
        return self._answer(free, None, None, looked_at, given_up, float(margin))

    def _refuted(self, middle: Array, looked_at: int) -> Band:
        """The answer at a pose where frequencies lie between the edges."""
        place = dict(zip(self.keys, middle.tolist(), strict=True))
        at, frequency_hz = _violation(
            self.varied.robot, self.varied, place, self.payload_range, self.band
        )
        if at is None:  # on the edge of the band, as far as rounding can tell
            return self._answer(None, None, None, looked_at, 1, 0.0)
        return self._answer(False, at, frequency_hz, looked_at, 0, 0.0)

    def _answer(
        self,
        free: bool | None,
        at: dict[str, float] | None,
        frequency_hz: float | None,
        looked_at: int,
        undecided: int,
        margin: float,
    ) -> Band:
        """The answer, with the coordinates that change no frequency."""
        unchanged = []
        for key, changes in zip(self.keys, self.live, strict=True):
            if not changes:
                unchanged.append(key)
        return Band(
            robot=self.varied.robot,
            low_hz=self.band[0],
            high_hz=self.band[1],
            free=free,
            at=at,
            frequency_hz=frequency_hz,
            cells=looked_at,
            undecided=undecided,
            margin_hz=margin,
            unchanged=tuple(unchanged),
        )

    def _margin(self, middle: Array) -> float:
        """Distance of the band to the nearest frequency at one pose, Hz."""
        columns = {key: np.array([angle]) for key, angle in zip(self.keys, middle, strict=True)}
        poses = self.varied.configurations_at(columns, 1)
        place = {name: pose[0] for name, pose in poses.items()}
        low, high = self.band
        least = np.inf
        for robot in (self.lightest, self.heaviest):
            found = _frequencies_up_to(robot, place, high)
            least = min(least, float(np.maximum(low - found, found - high).min()))
        return max(least, 0.0)


class _ProofProgress:
    """How far a proof is, by the part of the box that is decided; warns when it will take long."""

    def __init__(self, meter: Progress, proof: _Proof) -> None:
        self.meter = meter
        self.half_width_of_box = (proof.high - proof.low) / 2
        self.live = proof.live
        self.began = time.monotonic()
        self.looked_at = 0
        self.decided = 0.0  # part of the box
        self.has_warned = False

    def step(self, cells: int, decided_half_widths: Array) -> None:
        """Count cells that were looked at, and what part of the box was decided by some."""
        self.looked_at += cells
        self.decided += float(self._parts_of_box(decided_half_widths).sum())
        fraction = min(max(self.decided, 1e-12), 1.0)
        self.meter.total = max(self.looked_at, int(min(self.looked_at / fraction, 1e15)))
        self.meter.step(cells)

        elapsed = time.monotonic() - self.began
        foreseen = elapsed / fraction
        is_long = elapsed > FORESEEN_AFTER and foreseen - elapsed > LONG
        if is_long and not self.has_warned:
            self.has_warned = True
            self._warn(elapsed, foreseen)

    def _parts_of_box(self, half_widths: Array) -> Array:
        """What part of the box each of some cells is: halved in it so many times, (n,)."""
        counts = self.live & (self.half_width_of_box > 0)
        box = np.log2(np.where(counts, self.half_width_of_box, 1.0))
        cells = np.log2(np.where(counts, half_widths, 1.0))
        return np.asarray(0.5 ** (box - cells).sum(axis=1))

    def _warn(self, elapsed: float, foreseen: float) -> None:
        duration = f"about {foreseen:.0f} s"
        if foreseen > 100:
            duration = f"about {foreseen / 60:.2g} minutes"
        if foreseen > 3600 * 24:
            duration = "more than a day"
        warnings.warn(
            f"this proof will take {duration} ({100 * self.decided:.2g} % of the box is decided "
            f"after {elapsed:.0f} s): a narrower band, a smaller box or fewer cells take less",
            SizeWarning,
            stacklevel=7,
        )


def _interval(key: str, edges: Any, single: bool = False) -> tuple[float, float]:
    try:
        low, high = (float(edge) for edge in edges)
    except (TypeError, ValueError):
        raise SuppleError(f"{key} is {edges!r:.60}: give (low, high)") from None
    if not np.isfinite([low, high]).all() or low > high or (low == high and not single):
        raise SuppleError(f"{key} is {edges!r:.60}: give (low, high), the lower one first")
    if key.startswith("theta."):
        if abs(low) > LARGEST_ANGLE:
            raise SuppleError(
                f"{key} begins at {low:g}, which is no pose: give angles within "
                f"{LARGEST_ANGLE:.0e} rad"
            )
        high = min(high, low + 2 * np.pi)  # more turns are the same poses again
    return low, high


def _parse_box(robot: Robot, over: Any, theta: ArrayLike | None) -> Varied:
    """Check that a box is one of turning joints and payload of a serial arm."""
    if not isinstance(over, Mapping) or not over:
        raise SuppleError("over is empty: give a box such as {'theta.link2': (-2, 2)}")
    varied = Varied.of(robot, tuple(over), theta)
    family = architecture_of(robot)
    if not family.open_chain:
        raise SuppleError(
            f"stopband proves bands of serial arms, and {robot.name} is none: look through a grid "
            "instead, supple.sweep or supple.workspace (which proves nothing between its points)"
        )
    other = [key for key in varied.parameter_keys if key != "payload.mass"]
    if other or any(key.startswith("position.") for key in over):
        raise SuppleError(
            f"'{(other or ['position'])[0]}' cannot be proven over: give joints and payload.mass"
        )
    sliding = {f"theta.{name}" for name, slides in family.motors if slides}
    if sliding & set(over):
        raise SuppleError(
            f"{min(sliding & set(over))} slides: only turning joints can be proven; hold it at a "
            "length by theta=, or look along it with track"
        )
    for drive in family.drives:
        if drive.also and f"theta.{drive.name}" in over:
            raise SuppleError(
                f"theta.{drive.name} moves {drive.also[0][0]} as well, a mimic joint: only joints "
                "that turn alone can be proven over"
            )
    return varied


def _halve_cells(middle: Array, half: Array, share: Array) -> tuple[Array, Array]:
    """Cells cut in two along the joint that contributes most."""
    if not len(middle):
        return middle, half
    rows = np.arange(len(middle))
    axis = np.argmax(share, axis=1)
    half = half.copy()
    half[rows, axis] /= 2
    shift = np.zeros_like(middle)
    shift[rows, axis] = half[rows, axis]
    return np.vstack([middle - shift, middle + shift]), np.vstack([half, half])


def _frequencies_up_to(robot: Robot, place: Mapping[str, Any], high: float) -> Array:
    """Frequencies in Hz of one configuration, until one lies above `high`."""
    count = 4
    while True:
        found: Array = modes(robot, **place, count=count).frequency_hz
        if found[-1] > high or len(found) < count or count > 4000:
            return found
        count *= 2


def _violation(
    robot: Robot,
    varied: Varied,
    place: dict[str, float],
    payload_range: tuple[float, float] | None,
    band: tuple[float, float],
) -> tuple[dict[str, float] | None, float | None]:
    """A payload with which a frequency lies in the band there, and that frequency in Hz.

    None where it lies beside the band by less than frequencies are known to.
    """
    columns = {key: np.array([value]) for key, value in place.items()}
    poses = varied.configurations_at(columns, 1)
    pose = {name: value[0] for name, value in poses.items()}
    if payload_range is None:
        for frequency in _frequencies_up_to(robot, pose, band[1]):
            if band[0] <= frequency <= band[1]:
                return place, float(frequency)
        return None, None

    def frequencies_with(mass: float) -> Array:
        return _frequencies_up_to(varied.robot_at({"payload.mass": mass}), pose, band[1])

    for mass in payload_range:
        for frequency in frequencies_with(mass):
            if band[0] <= frequency <= band[1]:
                return place | {"payload.mass": mass}, float(frequency)

    # One frequency passes through the band as the payload grows: bisect
    low, high = payload_range
    k = int((frequencies_with(low) < band[0]).sum())
    for _ in range(200):
        mass = (low + high) / 2
        frequency = float(frequencies_with(mass)[k])
        if band[0] <= frequency <= band[1]:
            return place | {"payload.mass": mass}, frequency
        if frequency > band[1]:
            low = mass
        else:
            high = mass
    return None, None
