"""Which shaper for this machine: from recordings of its vibration to one recommendation.

For every kind of shaper the design frequency is chosen that leaves least of the vibration that was
recorded, sqrt(sum S V^2 / sum S), with S the power of the resonances in it and V the residual of
the shaper. A shaper spreads a command over its impulses; a path driven at acceleration a is rounded
by a / 2 sum A_i (t_i - mean)^2, which for an allowed rounding gives the highest acceleration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..architectures.kinds import architecture_of
from ..arguments import as_list, checked, number, vector
from ..control.shapers import SHAPERS, Shaper, shaper
from ..editing import as_plain_data
from ..errors import SuppleError
from ..robot import Robot, a_robot
from ..studies.vibration.modes import modes
from .resonances import Resonances, load_recordings, resonances
from .signals import noise_floor

__all__ = ["Calibration", "calibrate", "remaining_vibration"]

Array = NDArray[np.float64]
LEAST_DAMPING = 0.001
FAINT = 0.1  # lines below this share of the highest are not counted as resonance
MOST_DAMPING = 0.3
GRID = 400  # design frequencies tried for each shaper, before the best is refined
ELASTIC = (
    *("young_modulus", "shear_modulus", "bending_stiffness", "axial_stiffness"),
    *("shear_stiffness", "torsional_stiffness", "stiffness", "translation", "rotation", "matrix"),
)
NAMES_OF_SPRINGS = ("bearing", "foundation")
SCHEDULE_POSES = 9  # along each joint


@dataclass(frozen=True, eq=False)
class Calibration(Answer):
    """Shapers evaluated on recorded vibration.

    From `supple.calibrate`.

    Attributes
    ----------
    kinds : tuple of str
        The shapers.
    frequency_hz, vibration, time_added, max_acceleration : ndarray
        For each kind: design frequency, Hz; residual vibration, a fraction; extra duration of a
        move, s; acceleration at which a path is rounded by `smoothing`, m/s^2.
    recommended, reason : str
        One of the kinds, and why.
    shaper : Shaper
        The recommended one, for `supple.shaped` and `supple.shape`.
    resonance_hz, std_hz, damping_ratio : float
        The strongest resonance, its standard deviation and damping ratio.
    resonances : Resonances
        All resonances.
    spectrum_hz, spectrum : ndarray
        Power of the resonances (F,), each as a fraction of the total.
    vibration_limit, smoothing : float
        As requested.
    robot : Robot or None
        The robot with stiffnesses scaled to the measured frequency at `theta`, and the measured
        damping; for `supple shape --robot`.
    mode, ratio : int, float
        Which of its modes was measured, and measured over computed frequency.
    schedule_theta, schedule_hz : ndarray
        Design frequency over the pose: (poses, joints) and (poses,).
    """

    kinds: tuple[str, ...]
    frequency_hz: Array
    vibration: Array
    time_added: Array
    max_acceleration: Array
    recommended: str
    reason: str
    shaper: Shaper
    resonance_hz: float
    std_hz: float
    damping_ratio: float
    resonances: Resonances
    spectrum_hz: Array
    spectrum: Array
    vibration_limit: float
    smoothing: float
    robot: Robot | None
    mode: int
    ratio: float
    schedule_theta: Array
    schedule_hz: Array

    dims: ClassVar = {
        "frequency_hz": ("shaper",),
        "vibration": ("shaper",),
        "time_added": ("shaper",),
        "max_acceleration": ("shaper",),
        "spectrum_hz": ("line",),
        "spectrum": ("line",),
        "schedule_theta": ("pose", "joint"),
        "schedule_hz": ("pose",),
    }
    labels: ClassVar = {"shaper": "kinds"}
    table_rows: ClassVar = ("shaper",)
    units: ClassVar = {"frequency_hz": "Hz", "time_added": "s", "max_acceleration": "m/s2"}


@checked
def calibrate(
    data: Any,
    *,
    robot: Annotated[Robot | str | PathLike[str], a_robot] | None = None,
    theta: ArrayLike | None = None,
    rate: Annotated[float, number(0, above=True, unit="in Hz")] | None = None,
    band: Annotated[Sequence[float], vector(2)] | None = None,
    channels: Sequence[str] | None = None,
    shapers: Annotated[Sequence[str], as_list] | None = None,
    vibration_limit: Annotated[float, number(0, 1, above=True)] = 0.05,
    smoothing: Annotated[float, number(0, above=True, unit="in m")] = 1e-4,
    damping_ratio: Annotated[float, number(0, MOST_DAMPING)] | None = None,
) -> Calibration:
    """Choose a shaper from recordings of a machine's vibration.

    Parameters
    ----------
    data : str, mapping, array or list of them
        Recordings, as for `resonances`: accelerations during a sweep, hits, or free decays.
    robot : Robot, file or library name, optional
        The arm that was measured at `theta`; the design frequency then follows the pose.
    theta : array_like, optional
        Joint coordinates (joints,) of the recordings. Default: zero.
    rate, band, channels :
        As for `resonances`.
    shapers : list of str, optional
        Kinds to try. Default: all.
    vibration_limit : float
        Acceptable residual vibration, a fraction.
    smoothing : float
        Acceptable rounding of a path, m; it determines the highest acceleration.
    damping_ratio : float, optional
        Damping ratio of the design. Default: as measured.

    Returns
    -------
    Calibration
        It recommends the shaper with the highest acceleration among those below the limit or, if
        there is none, the one that leaves least vibration.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> t = np.arange(0, 5, 0.002)
    >>> decay = np.exp(-0.9 * t) * np.sin(2 * np.pi * 7.2 * t)
    >>> noise = 1e-3 * np.random.default_rng(0).normal(size=t.size)
    >>> supple.calibrate({"t": t, "tip": decay + noise}).recommended
    'zv'
    """
    kinds = tuple(shapers or SHAPERS)
    for kind in kinds:
        if not isinstance(kind, str) or kind not in SHAPERS:
            raise SuppleError(f"shapers names '{kind!s:.60}': the kinds are {', '.join(SHAPERS)}")
    recordings = load_recordings(data, rate)
    found = resonances(list(recordings), band=band, channels=channels)
    if not len(found.frequency_hz):
        raise SuppleError(
            "no resonance stands out of these recordings: excite the machine, or record longer"
        )
    f, power = _vibration(found)
    height = np.interp(found.frequency_hz, found.spectrum_hz, found.spectrum)
    main = int(np.argmax(height * found.frequency_hz * np.maximum(found.damping_ratio, 1e-4)))
    resonance = float(found.frequency_hz[main])
    zeta = float(np.clip(found.damping_ratio[main], LEAST_DAMPING, MOST_DAMPING))
    design_damping = zeta if damping_ratio is None else damping_ratio

    rows = []
    for kind in kinds:
        at, left = _best_frequency(kind, f, power, design_damping, resonance)
        candidate = shaper(kind, at, design_damping)
        mean = float(candidate.amplitudes @ candidate.times)
        spread = float(candidate.amplitudes @ (candidate.times - mean) ** 2)
        rows.append((at, left, candidate.duration, 2 * smoothing / spread))
    table = np.array(rows)
    good = np.flatnonzero(table[:, 1] <= vibration_limit)
    if len(good):
        best = int(good[np.argmax(table[good, 3])])
        reason = (
            f"it leaves {100 * table[best, 1]:.2g} % of the vibration, below the limit of "
            f"{100 * vibration_limit:.3g} %, and of those that do it rounds paths least "
            f"({table[best, 3]:.3g} m/s2 for {1e3 * smoothing:.3g} mm)"
        )
    else:
        best = int(np.argmin(table[:, 1]))
        reason = (
            f"no shaper brings the vibration below {100 * vibration_limit:.3g} %; it leaves least, "
            f"{100 * table[best, 1]:.3g} %"
        )
    described: tuple[Any, ...] = (None, 0, 1.0, np.zeros((0, 0)), np.zeros(0))
    if robot is not None:
        described = _on_robot(a_robot("robot", robot), theta, resonance, zeta)
    elif theta is not None:
        raise SuppleError("theta is given without a robot: give robot= as well")
    return Calibration(
        kinds,
        table[:, 0],
        table[:, 1],
        table[:, 2],
        table[:, 3],
        kinds[best],
        reason,
        shaper(kinds[best], float(table[best, 0]), design_damping),
        resonance,
        float(found.std_hz[main]),
        zeta,
        found,
        f,
        power,
        vibration_limit,
        smoothing,
        *described,
    )


def remaining_vibration(made: Shaper, f: Array, power: Array, damping_ratio: float) -> float:
    """Return sqrt(sum S V^2 / sum S): what a shaper leaves of recorded vibration, as a fraction."""
    left = made.residual(f, damping_ratio)
    return float(np.sqrt((power * left**2).sum() / power.sum()))


def _vibration(found: Resonances) -> tuple[Array, Array]:
    """Power of the resonances that were found: of each its own peak, as high as it was recorded.

    The spectrum itself would count the motion of the sweep, and what it drives beside resonance.
    """
    f0 = found.frequency_hz
    zeta = np.clip(found.damping_ratio, LEAST_DAMPING, MOST_DAMPING)
    height = np.interp(f0, found.spectrum_hz, found.spectrum)
    floor = noise_floor(found.spectrum, max(31, len(found.spectrum) // 8))
    height = np.maximum(height - np.interp(f0, found.spectrum_hz, floor), 0.0)
    if not height.max(initial=0.0):
        height = np.ones(len(f0))
    grids = [f * (1 + z * np.linspace(-12, 12, 481)) for f, z in zip(f0, zeta, strict=True)]
    lines = np.unique(np.concatenate(grids))
    lines = lines[lines > 0]
    power = np.zeros(len(lines))
    for f, z, high in zip(f0, zeta, height, strict=True):
        width = (2 * z * f) ** 2
        power += high * width * f**2 / ((f**2 - lines**2) ** 2 + width * lines**2)
    seen = power >= FAINT * power.max()
    return lines[seen], (power * np.gradient(lines))[seen]


def _best_frequency(
    kind: str, f: Array, power: Array, zeta: float, resonance: float
) -> tuple[float, float]:
    """The design frequency that leaves least, and what it leaves."""
    from scipy.optimize import minimize_scalar

    # V depends on f / design alone: one unit shaper serves every design frequency
    unit = shaper(kind, 1.0, zeta)

    def left(design: float) -> float:
        V = unit.residual(f / design, zeta)
        return float(np.sqrt((power * V**2).sum() / power.sum()))

    trial = np.geomspace(0.5 * resonance, 2.0 * resonance, GRID)
    cost = np.array([left(design) for design in trial])
    k = int(np.argmin(cost))
    around = (trial[max(k - 1, 0)], trial[min(k + 1, GRID - 1)])
    found = minimize_scalar(
        left, bounds=around, method="bounded", options={"xatol": 1e-5 * resonance}
    )
    if found.fun <= cost[k]:
        return float(found.x), float(found.fun)
    return float(trial[k]), float(cost[k])


def _on_robot(
    robot: Robot, theta: ArrayLike | None, resonance: float, zeta: float
) -> tuple[Robot, int, float, Array, Array]:
    """The robot scaled to the measured frequency, and the frequency over its poses."""
    family = architecture_of(robot)
    place: dict[str, Any] = {"theta": theta}
    if family.asked_by == "position":
        raise SuppleError(f"{robot.name} is a Delta: calibrate takes arms and mechanisms by theta")
    here = modes(robot, **place, count=6)
    k = int(np.argmin(np.abs(np.log(here.frequency_hz / resonance))))
    ratio = resonance / float(here.frequency_hz[k])
    fitted = _scale_stiffness(robot, ratio**2, zeta)
    grids = []
    for j, coordinate in enumerate(family.coordinates()):
        if j == 0 and len(family.motors) > 1:
            grids.append(np.array([float(np.atleast_1d(here.theta)[0])]))
        else:
            grids.append(np.linspace(coordinate.low, coordinate.high, SCHEDULE_POSES))
    while np.prod([len(grid) for grid in grids]) > 2000:
        longest = max(range(len(grids)), key=lambda j: len(grids[j]))
        grids[longest] = grids[longest][:: max(2, len(grids[longest]) // 5)]
    poses = np.stack([g.ravel() for g in np.meshgrid(*grids, indexing="ij")], axis=1)
    over = modes(fitted, poses, count=k + 1)
    return fitted, k + 1, ratio, poses, over.frequency_hz[:, k]


def _scale_stiffness(robot: Robot, factor: float, zeta: float) -> Robot:
    """The robot with every stiffness times a factor: all its frequencies times its root."""

    def scaled(part: Any, springs: bool = False) -> Any:
        if isinstance(part, dict):
            out = {}
            for key, value in part.items():
                inside = springs or key in NAMES_OF_SPRINGS
                here = key in ELASTIC and (key not in ELASTIC[-3:] or springs)
                out[key] = times(value) if here and value is not None else scaled(value, inside)
            return out
        return [scaled(entry, springs) for entry in part] if isinstance(part, list) else part

    def times(value: Any) -> Any:
        if isinstance(value, list):
            return [None if entry is None else times(entry) for entry in value]
        return value if isinstance(value, str) else factor * value

    data = scaled(as_plain_data(robot))
    fitted = type(robot).model_validate(data)
    changes = {}
    for path, link in architecture_of(fitted).parts().items():
        if not link.rigid:
            changes[f"{path}.damping_ratio"] = zeta
    try:
        return fitted.with_(changes) if changes else fitted
    except SuppleError:
        return fitted
