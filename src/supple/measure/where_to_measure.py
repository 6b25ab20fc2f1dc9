"""Where to measure: the few experiments among many that tell the wanted parameters best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..arguments import as_list, brief, checked, number, one_of, whole_number
from ..errors import SuppleError
from ..robot import Robot, a_robot
from ..studies.design.varied import coordinate_names
from .estimation import Problem
from .identifiability import blind_directions, describe_blindness
from .identify import make_experiments
from .parameters import ParameterSet
from .tables import MeasuredTable, load_tables

__all__ = ["MeasurementPlan", "where_to_measure"]

Array = NDArray[np.float64]
NOISE = {"frequencies": 1e-3, "response": 0.01, "motion": 0.01, "statics": 0.01}
EXCHANGES = 200


@dataclass(frozen=True, eq=False)
class MeasurementPlan(Answer):
    """Recommended experiments, and the accuracy to expect from them.

    From `supple.where_to_measure`.

    Attributes
    ----------
    robot : Robot
        Nominal robot.
    theta : ndarray
        Poses to measure, (count, joints), the most informative first; for other candidates their
        poses.
    chosen : ndarray of int
        Indices of the chosen candidates, (count,), from 0.
    std : dict
        Expected standard deviation of each parameter.
    relative_std : ndarray
        The same divided by the values, (p,).
    names : tuple of str
        The parameters.
    gain : ndarray
        Log determinant of the information after each experiment, (count,).
    efficiency : float
        Determinant per parameter, relative to measuring every candidate equally often:
        (det(chosen) / det(all))^(1/p) times candidates over count.
    noise : float
        Assumed standard deviation of the measurements.
    warnings : tuple of str
        What even these experiments cannot determine.
    """

    robot: Robot
    theta: Array
    chosen: NDArray[np.int64]
    std: dict[str, float]
    relative_std: Array
    names: tuple[str, ...]
    gain: Array
    efficiency: float
    noise: float
    warnings: tuple[str, ...]

    dims: ClassVar = {
        "theta": ("measurement", "joint"),
        "chosen": ("measurement",),
        "gain": ("measurement",),
        "relative_std": ("parameter",),
    }
    labels: ClassVar = {"parameter": "names"}
    table_rows: ClassVar = ("measurement",)


@checked
def where_to_measure(
    robot: Annotated[Robot | str | PathLike[str], a_robot],
    free: Annotated[Sequence[str], as_list],
    candidates: Any = None,
    count: Annotated[int, whole_number(1, 1000)] = 5,
    *,
    kind: Annotated[str, one_of("frequencies", "response", "motion", "statics")] | None = None,
    modes: Annotated[int, whole_number(1, 50)] = 4,
    noise: Annotated[float, number(0, above=True)] | None = None,
    priors: Mapping[str, Any] | None = None,
    start: Mapping[str, float] | None = None,
    ties: Mapping[str, Any] | None = None,
    joints: Any = None,
    damping: str | None = None,
    repeat: bool = False,
) -> MeasurementPlan:
    """Choose the experiments that determine parameters best (D-optimal), before measuring.

    Parameters
    ----------
    robot : Robot, file or library name
        Nominal robot, at which derivatives are taken.
    free : list of str
        Paths of the parameters, as in `identify`.
    candidates : array_like (N, joints), or list of mappings
        Poses at which the lowest `modes` frequencies could be measured. Or any experiments: each
        a table as for `identify`, measured columns omitted or with any value, so that sensors and
        excitations are chosen too. Default: 300 poses within the joint limits.
    count : int
        Number of experiments to choose.
    kind : str, optional
        As for `identify`. Default: found from the columns of the candidates.
    modes : int
        Number of frequencies measured in each pose.
    noise : float, optional
        Standard deviation of the measurements: relative for frequencies (default 0.001); for the
        others relative to the root mean square of what each candidate predicts (default 0.01).
    priors, start, ties, joints, damping :
        As in `identify`.
    repeat : bool
        Allow an experiment to be chosen several times.

    Returns
    -------
    MeasurementPlan

    Notes
    -----
    The information of an experiment is J' J / sigma^2, where J are its derivatives at the nominal
    robot. Experiments are added one by one so that the determinant grows most, then exchanged as
    long as that makes it larger. The choice does not depend on the units of the parameters.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> poses = np.array([[0, a, b] for a in (-1, 0, 1) for b in (-1, 0, 1)])
    >>> free = ["payload.mass", "links.link1.section.wall"]
    >>> plan = supple.where_to_measure("industrial-3", free, poses, count=2)
    >>> plan.theta.shape
    (2, 3)
    """
    nominal = a_robot("robot", robot)
    parameters = ParameterSet.of(nominal, free, start=start, priors=priors, ties=ties)
    tables, poses = _tables(nominal, candidates, kind, modes)
    blocks: list[Array] = []
    size = 0.0
    problems = []
    for table in tables:
        given: dict[str, Any] = {"joints": joints, "damping": damping, "free": free}
        experiments = make_experiments(nominal, [table], **given)
        for experiment in experiments:
            experiment.pairing = False
        problem = Problem(parameters, experiments)
        zero = np.zeros(len(parameters.names))
        J = problem.jacobian(zero)
        level = noise if noise is not None else NOISE[table.kind]
        if table.kind == "frequencies":
            sigma = level
        else:
            sigma = level * float(np.sqrt(np.mean(problem.predict(zero) ** 2)) or 1.0)
        size = level
        problems.append((problem, J, sigma))
    if poses is not None:  # one table held all poses: a block for each
        problem, J, sigma = problems[0]
        blocks = [J[k * modes : (k + 1) * modes] / sigma for k in range(len(poses))]
    else:
        blocks = [J / sigma for _, J, sigma in problems]
        poses = _poses_of(nominal, tables)
    if count > len(blocks) and not repeat:
        raise SuppleError(
            f"count is {count} and there are {len(blocks)} candidates: give more of them, or "
            "repeat=True"
        )
    has_prior = np.isfinite(parameters.prior_std)
    slopes = parameters.slopes(np.zeros(len(parameters.names)))
    prior = np.diag(
        np.where(has_prior, slopes / np.where(has_prior, parameters.prior_std, 1), 0) ** 2
    )

    information = np.array([block.T @ block for block in blocks])
    chosen, gains = _d_optimal(information, prior, count, repeat)
    total = prior + information[chosen].sum(axis=0)
    everything = prior + information.sum(axis=0)
    warnings = []
    stacked = np.vstack([blocks[k] for k in chosen])
    used = np.ones(len(stacked), bool)
    blind = blind_directions(problems[0][0], stacked, np.ones(len(stacked)), used)
    names = parameters.names
    unknown = {name for names_ in blind.sets for name in names_}
    if len(blind.directions):
        warnings += describe_blindness(
            problems[0][0], blind, np.zeros(len(names)), [tables[0].kind]
        )
    C = np.linalg.pinv(total, hermitian=True)
    std_x = np.sqrt(np.maximum(np.diag(C), 0.0))
    std = {
        name: math.inf if name in unknown else float(std_x[k] * slopes[k])
        for k, name in enumerate(names)
    }
    p = len(names)
    efficiency = math.nan
    if not len(blind.directions):
        ratio = np.linalg.slogdet(total)[1] - np.linalg.slogdet(everything)[1]
        efficiency = float(np.exp(ratio / p) * len(blocks) / count)
    return MeasurementPlan(
        nominal,
        np.asarray(poses)[chosen],
        chosen,
        std,
        np.array(
            [std[n] / abs(v) if v else std[n] for n, v in zip(names, parameters.start, strict=True)]
        ),
        names,
        gains,
        efficiency,
        float(size),
        tuple(warnings),
    )


def _tables(
    robot: Robot, candidates: Any, kind: str | None, modes: int
) -> tuple[list[MeasuredTable], Array | None]:
    """Candidates as tables; poses where they are rows of one table of frequencies."""
    if isinstance(candidates, Mapping):
        raise SuppleError("candidates is one mapping: give a list of them, or an array of poses")
    if isinstance(candidates, list | tuple) and candidates and isinstance(candidates[0], Mapping):
        tables = []
        for candidate in candidates:
            tables += load_tables(_complete_candidate(robot, candidate, modes), kind)
        return tables, None
    names = coordinate_names(robot)
    poses = _usual_poses(robot) if candidates is None else _poses(candidates, len(names))
    columns: dict[str, Any] = {}
    for j, name in enumerate(names):
        columns[f"theta.{name}"] = np.repeat(poses[:, j], modes)
    columns["mode"] = np.tile(np.arange(1.0, modes + 1), len(poses))
    columns["frequency_hz"] = np.ones(len(poses) * modes)
    columns["pose"] = np.repeat(np.arange(1.0, len(poses) + 1), modes)
    return [MeasuredTable("the candidates", "frequencies", columns)], poses


def _complete_candidate(robot: Robot, candidate: Mapping[str, Any], modes: int) -> dict[str, Any]:
    """A candidate as a table: columns that would be measured are filled in."""
    columns = dict(candidate)
    if "input" in columns and "frequency_hz" in columns:
        columns.setdefault("real", 1.0)
        columns.setdefault("imag", 0.0)
    elif not any(k in columns for k in ("t", "time")) and not any(
        k.startswith(("force.", "moment.", "tip.")) for k in columns
    ):
        columns.setdefault("mode", np.arange(1.0, modes + 1))
        columns.setdefault("frequency_hz", 1.0)
    elif not any(k.startswith("tip.") for k in columns):
        for axis in ("x", "y", "z"):
            columns.setdefault(f"tip.{axis}", 1.0)
    return columns


def _poses(candidates: ArrayLike, joints: int) -> Array:
    try:
        poses = np.asarray(candidates, float)
    except (TypeError, ValueError, OverflowError):
        poses = np.empty(0)
    if poses.ndim == 1 and joints == 1:
        poses = poses[:, None]
    if (
        poses.ndim != 2
        or poses.shape[1] != joints
        or not len(poses)
        or not np.isfinite(poses).all()
    ):
        raise SuppleError(
            f"candidates is {brief(candidates)}: give poses (N, {joints}), or a list of experiments"
        )
    return poses


def _usual_poses(robot: Robot) -> Array:
    """Evenly spread poses within the joints' limits; a turn each way where there are none."""
    from scipy.stats import qmc

    from ..studies.vibration.neighbourhood import coordinates_of

    spans = coordinates_of(robot)
    low = np.array([coordinate.low for coordinate in spans])
    high = np.array([coordinate.high for coordinate in spans])
    return np.asarray(low + qmc.Halton(len(spans), seed=0).random(300) * (high - low))


def _poses_of(robot: Robot, tables: Sequence[MeasuredTable]) -> Array:
    """The pose of the first row of each table."""
    names = coordinate_names(robot)
    poses = np.zeros((len(tables), len(names)))
    for k, table in enumerate(tables):
        for j, name in enumerate(names):
            if f"theta.{name}" in table.columns:
                poses[k, j] = table.numbers(f"theta.{name}")[0]
    return poses


def _d_optimal(
    information: Array, prior: Array, count: int, repeat: bool
) -> tuple[NDArray[np.int64], Array]:
    """Greedy choice, then exchanges (Fedorov); a small diagonal makes it regular at first."""
    _N = len(information)
    p = len(prior)
    everything = information.sum(axis=0)
    scale = np.sqrt(np.maximum(np.diag(everything + prior), 1e-300))
    scaled = information / np.outer(scale, scale)
    base = prior / np.outer(scale, scale) + 1e-9 * np.eye(p)

    def logdet(M: Array) -> Array:
        return np.asarray(np.linalg.slogdet(M)[1])

    chosen: list[int] = []
    M = base.copy()
    for _ in range(count):
        value = logdet(M + scaled)
        if not repeat:
            value[chosen] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        M = M + scaled[best]
    for _ in range(EXCHANGES):
        current = float(logdet(M))
        best_gain = 1e-9
        swap = None
        for place, one in enumerate(chosen):
            value = logdet(M - scaled[one] + scaled)
            if not repeat:
                value[chosen] = -np.inf
            other = int(np.argmax(value))
            gain = float(value[other]) - current
            if gain > best_gain:
                best_gain = gain
                swap = (place, other)
        if swap is None:
            break
        place, other = swap
        M = M - scaled[chosen[place]] + scaled[other]
        chosen[place] = other
    # the most telling first: greedy order among those chosen
    ordered: list[int] = []
    gains = []
    left = list(chosen)
    M = base.copy()
    while left:
        values = [float(logdet(M + scaled[k])) for k in left]
        best = int(np.argmax(values))
        M = M + scaled[left[best]]
        gains.append(values[best] + 2 * float(np.log(scale).sum()))
        ordered.append(left.pop(best))
    return np.array(ordered), np.array(gains)
