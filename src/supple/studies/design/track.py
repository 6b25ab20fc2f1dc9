"""Which mode is which: natural frequencies followed as branches while one thing changes.

A branch is what one gets by going slowly enough: between two samples modes are matched by the
overlap of their shapes in the mass of the robot (MAC) and of their shares of strain energy, and the
step is halved until the match is plain. Where two branches change places, halving goes on until
they either turn away (a veering: frequencies keep a gap, shapes change hands) or meet (a crossing).

Source: [Leissa1974] on veering; the gap and the exchange of shapes are those of two coupled modes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer, Natural
from ...arguments import checked, instance, one_of, whole_number
from ...errors import SuppleError
from ...robot import Robot
from ...structure import Joints
from ..vibration.modes import modes
from ..vibration.shapes import COINCIDENT
from .varied import Varied
from .workers import Progress

__all__ = ["Tracks", "Veering", "track"]

Array = NDArray[np.float64]
STATIONS_PER_LINK = 13  # stations a link; odd, for Simpson's rule
SAME_MODE_OVERLAP = 0.8  # a mode is the same one when its shape and energies overlap by more
HALVINGS = 40
CROSSING_TOLERANCE = 1e-7  # relative distance of branches that cannot be told from a crossing
VEERING_GAP = 0.2  # relative gap of two neighbours above which nobody speaks of a veering


class Veering(NamedTuple):
    """Where two neighbouring frequencies come closest.

    Parameters
    ----------
    at : float
        Value of the changing quantity.
    gap_hz : float
        Distance of the frequencies there, Hz; zero where they cross.
    branches : (int, int)
        The two branches, from 1.
    crossing : bool
        Whether they cross instead of veering apart.
    """

    at: float
    gap_hz: float
    branches: tuple[int, int]
    crossing: bool


@dataclass(frozen=True, eq=False)
class Tracks(Natural, Answer):
    """Natural frequencies as continuous branches over one changing quantity.

    From `supple.track`.

    Attributes
    ----------
    robot : Robot
        Nominal robot.
    key : str
        Coordinate or parameter that changes.
    x : ndarray
        Its values (n,).
    omega : ndarray
        Frequencies (n, branches), rad/s; each branch keeps its column.
    number : ndarray of int
        Which natural frequency a branch is at each value, (n, branches), from 1.
    kinds : tuple of str
        Kind of each branch where it begins.
    veerings : tuple of Veering
        Where neighbours come close and exchange their shapes, or cross.
    asked : int
        Number of configurations computed.
    certified : bool
        Whether every frequency is certified.
    """

    robot: Robot
    key: str
    x: Array
    omega: Array
    number: NDArray[np.int64]
    kinds: tuple[str, ...]
    veerings: tuple[Veering, ...]
    asked: int
    certified: bool

    dims: ClassVar = {
        "x": ("value",),
        "omega": ("value", "branch"),
        "frequency_hz": ("value", "branch"),
        "number": ("value", "branch"),
    }
    table_rows: ClassVar = ("value",)
    units: ClassVar = {"omega": "rad/s", "frequency_hz": "Hz"}


@dataclass(eq=False)
class _Sample:
    """Modes at one value; `vectors` (modes, N) are scaled so that dot products weigh by mass."""

    x: float
    omega: Array
    vectors: Array
    shares: Array
    kinds: list[str]
    certified: bool


Change = Annotated[
    "Mapping[str, ArrayLike]",
    instance(Mapping, "what changes and its values, such as {'theta.link2': [0, 1, 2]}"),
]


@checked
def track(
    robot: Robot,
    over: Change,
    count: Annotated[int, whole_number(1, 100)] = 6,
    *,
    theta: ArrayLike | None = None,
    position: ArrayLike | None = None,
    joints: Annotated[Joints, one_of("locked", "free")] = "locked",
    progress: bool | None = None,
) -> Tracks:
    """Follow modes as continuous branches while one coordinate or parameter changes.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    over : mapping
        One key, named as in `sweep`, with at least two increasing or decreasing values. The step in
        between is chosen automatically.
    count : int
        Number of modes.
    theta, position : array_like, optional
        Pose of the rest of the robot. Default: zero.
    joints : {"locked", "free"}
        Whether the motors hold the joints.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Tracks
        Branches, and where neighbours veer apart or cross.

    Examples
    --------
    >>> import supple
    >>> found = supple.track(supple.load("industrial-3"), {"theta.link2": [0.0, 1.5]}, count=3)
    >>> found.omega.shape, found.certified
    ((2, 3), True)
    """
    if len(over) != 1:
        raise SuppleError(f"over has {len(over)} keys: give one, such as theta.link2")
    ((key, given),) = over.items()
    try:
        values = np.asarray(given, float)
    except (OverflowError, TypeError, ValueError):
        values = np.zeros(0)
    good = values.ndim == 1 and (np.abs(values) <= 1e30).all()
    steps = np.diff(values) if good else np.zeros(0)
    if not len(steps) or not (steps * steps[0] > 0).all():
        raise SuppleError(
            f"the values of '{key}' must be two or more finite numbers, each above the one before "
            "(or each below it)"
        )
    path = _Path(Varied.of(robot, (key,), theta, position), key, joints, count + 3)
    meter = Progress(len(values), "values", progress)
    try:
        return _follow_branches(path, values, count, meter)
    finally:
        meter.end()


class _Path:
    """The robot along what changes: modes at any value, and how to get from one to the next."""

    def __init__(self, varied: Varied, key: str, joints: Joints, count: int) -> None:
        self.varied = varied
        self.key = key
        self.joints = joints
        self.count = count
        self.samples: dict[float, _Sample] = {}

    def at(self, x: float) -> _Sample:
        """The modes at one value, computed once."""
        if x not in self.samples:
            place = {
                k: v[0]
                for k, v in self.varied.configurations_at({self.key: np.array([x])}, 1).items()
            }
            robot = self.varied.robot_at({self.key: x})
            found = modes(robot, **place, count=self.count, joints=self.joints)
            shapes = found.shape(STATIONS_PER_LINK)
            # The shapes as rows whose dot products are masses times motions, (modes, N).
            # Beams weigh by Simpson's rule along their stations, bodies by the root of their (6, 6)
            # mass
            structure = found.structure
            simpson = np.ones(STATIONS_PER_LINK)
            simpson[1:-1:2] = 4
            simpson[2:-1:2] = 2
            rows: list[Array] = []
            for i, segment in enumerate(structure.segments):
                u = shapes.displacement[:, i] @ segment.R_LS
                turn = shapes.rotation[:, i] @ segment.R_LS
                L = float(structure.L[0, i])
                density = segment.beam.outside(L).at(np.linspace(0.0, L, STATIONS_PER_LINK))[:, 0]
                weight = density * L / (3 * (STATIONS_PER_LINK - 1)) * simpson
                rows.append((np.sqrt(weight)[:, None] * u).reshape(len(u), -1))
                for mass, spot in ((structure.root_mass[0, i], 0), (segment.tip_mass, -1)):
                    value, vector = np.linalg.eigh(mass)
                    root = vector * np.sqrt(np.maximum(value, 0.0))
                    rows.append(np.concatenate([u[:, spot], turn[:, spot]], axis=1) @ root)
            vectors = np.concatenate(rows, axis=1)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            shares = shapes.share.reshape(len(found.omega), -1)
            kinds = [shapes.kind(mode) for mode in range(len(found.omega))]
            self.samples[x] = _Sample(x, found.omega, vectors, shares, kinds, found.certified)
        return self.samples[x]

    def step(self, a: float, b: float, left: int = HALVINGS) -> NDArray[np.int64]:
        """Return for every mode at a its number at b; -1 where it has left the list."""
        here = self.at(a)
        there = self.at(b)
        # Turn shapes that coincide in frequency to those that come near them from the other side
        for sample, other in ((there, here), (here, there)):
            close = np.diff(sample.omega) < COINCIDENT * sample.omega[1:]
            for group in np.split(np.arange(len(sample.omega)), 1 + np.flatnonzero(~close)):
                if len(group) == 1:
                    continue
                basis = np.linalg.qr(sample.vectors[group].T)[0]
                seen = other.vectors @ basis
                best = np.sort(np.argsort(-np.linalg.norm(seen, axis=1))[: len(group)])
                onto, _, right = np.linalg.svd(seen[best])
                sample.vectors[group] = (onto @ right) @ basis.T
        # The number of every mode at the other end, and whether nothing else could be meant. Plain
        # is a match in which no mode changes its number and each overlaps by more than ALIKE; the
        # last mode is not asked unless these are `all_modes`: its partner may be beyond the list
        from scipy.optimize import linear_sum_assignment

        energies = np.sqrt(here.shares) @ np.sqrt(there.shares).T
        alike = (here.vectors @ there.vectors.T) ** 2 * np.clip(energies, 0.0, 1.0)
        order: NDArray[np.int64] = linear_sum_assignment(-alike)[1]
        own = alike[np.arange(len(order)), order]
        inner = slice(None)
        if len(here.omega) >= self.count:
            order = np.where((order == len(order) - 1) & (own < 0.5), -1, order)
            inner = slice(0, len(order) - 1)
        plain = (order[inner] == np.arange(len(order))[inner]).all() and own[
            inner
        ].min() > SAME_MODE_OVERLAP
        if plain or not left:
            return order
        middle = 0.5 * (a + b)
        moved = np.flatnonzero(order != np.arange(len(order)))
        gap = np.diff(here.omega) / here.omega[1:], np.diff(there.omega) / there.omega[1:]
        # All that changes places within this step is too close to be told apart
        together = len(moved) > 0 and all(
            max(gap[0][min(i, len(gap[0]) - 1)], gap[1][min(i, len(gap[1]) - 1)])
            < CROSSING_TOLERANCE
            for i in moved[moved < moved.max()]
        )
        if middle in (a, b) or together:
            return order
        first = self.step(a, middle, left - 1)
        then = self.step(middle, b, left - 1)
        return np.where(first >= 0, then[first], -1)


def _follow_branches(path: _Path, values: Array, count: int, meter: Progress) -> Tracks:
    """Walk from value to value; with more modes where a branch leaves the list."""
    while True:
        first = path.at(float(values[0]))
        count = min(count, len(first.omega))
        number = [np.arange(count)]
        for a, b in pairwise(values.tolist()):
            order = path.step(a, b)
            number.append(np.where(number[-1] >= 0, order[number[-1]], -1))
            meter.step(1)
            if number[-1].min() < 0 or number[-1].max() >= path.count - 1:
                break
        else:
            break
        if path.count > 4 * count + 12:
            raise SuppleError(
                f"a branch rises beyond mode {path.count} of {path.varied.robot.name} at "
                f"{path.key} = {b:.6g}: ask for fewer branches, or a shorter range"
            )
        path = _Path(path.varied, path.key, path.joints, 2 * path.count)
        meter.done = 0
    table = np.array(number)
    omega = np.array([path.at(x).omega[row] for x, row in zip(values.tolist(), table, strict=True)])
    # Least distances of neighbouring frequencies at which shapes change hands, and crossings
    low, high = sorted((float(values[0]), float(values[-1])))
    spots = sorted(x for x in path.samples if low <= x <= high)
    each = np.array([path.samples[x].omega for x in spots])
    found: list[Veering] = []
    for i in range(int(table.max())):
        gap = each[:, i + 1] - each[:, i]
        for k in range(1, len(spots) - 1):
            if not gap[k - 1] > gap[k] <= gap[k + 1] or gap[k] > VEERING_GAP * each[k, i + 1]:
                continue
            veering = _closest(path, spots[k - 1], spots[k + 1], i)
            at = int(np.argmin(np.abs(values - veering.at)))
            pair = [np.flatnonzero(table[at] == j) for j in (i, i + 1)]
            if _shapes_exchange(path, veering, i) and all(len(p) for p in pair):
                names = (int(pair[0][0]) + 1, int(pair[1][0]) + 1)
                found.append(veering._replace(branches=names))
    veerings = tuple(sorted(found))
    return Tracks(
        path.varied.robot,
        path.key,
        values,
        omega,
        table + 1,
        tuple(first.kinds[:count]),
        veerings,
        len(path.samples),
        all(sample.certified for sample in path.samples.values()),
    )


def _closest(path: _Path, a: float, b: float, i: int) -> Veering:
    """The least gap of modes i and i + 1 between two values, by Brent's method."""
    from scipy.optimize import minimize_scalar

    def gap(x: float) -> float:
        omega = path.at(float(x)).omega
        return float(omega[i + 1] - omega[i])

    best = minimize_scalar(gap, bounds=(a, b), method="bounded", options={"xatol": 1e-9 * (b - a)})
    close = best.fun < 10 * CROSSING_TOLERANCE * path.at(float(best.x)).omega[i]
    return Veering(float(best.x), 0.0 if close else best.fun / (2 * np.pi), (0, 0), bool(close))


def _shapes_exchange(path: _Path, veering: Veering, i: int) -> bool:
    """Whether the shapes change hands: compared where the gap has doubled, on both sides."""
    if veering.crossing:
        return True
    ends = sorted(path.samples)
    least = 2 * np.pi * veering.gap_hz

    def beyond(spots: list[float]) -> _Sample | None:
        for x in spots:
            omega = path.at(x).omega
            if omega[i + 1] - omega[i] >= 2 * least:
                return path.at(x)
        return None

    before = beyond([x for x in reversed(ends) if x < veering.at])
    after = beyond([x for x in ends if x > veering.at])
    if before is None or after is None:
        return False
    alike = (before.vectors[i : i + 2] @ after.vectors[i : i + 2].T) ** 2
    return bool(alike[0, 1] + alike[1, 0] > alike[0, 0] + alike[1, 1])
