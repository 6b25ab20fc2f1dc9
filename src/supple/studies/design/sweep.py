"""The same question everywhere: a study over a grid, a table or a sample of what varies."""

from __future__ import annotations

import hashlib
import json
import pickle
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import (
    LARGEST_FLOAT,
    brief,
    checked,
    instance,
    whole_number,
)
from ...editing import as_plain_data
from ...errors import SuppleError
from ...robot import Robot
from ...values import unit_of
from .fingerprint import fingerprint
from .gathered import (
    checked_reduction,
    dataset,
    merge_chunks,
    on_grid,
    reduce_chunk,
    reduced_dataset,
)
from .swept import STUDIES
from .varied import Varied
from .workers import Progress, compute_tasks

if TYPE_CHECKING:
    import xarray

    from ...files.chunks import Chunks

__all__ = ["SweepQuestion", "SweepWarning", "sweep"]

Array = NDArray[Any]
POSES_PER_CHUNK = 4096  # configurations
MAX_NESTING = 100  # levels of lists in lists
MAX_VALUES = 10**8  # values in memory at most
SAMPLERS = ("random", "latin", "sobol")


class SweepWarning(UserWarning):
    """A sweep was not completed."""


@dataclass(frozen=True, eq=False)
class SweepQuestion:
    """A study, what varies, and how it is cut into chunks; calling it computes one chunk.

    Attributes
    ----------
    varied
        The robot and the paths that change.
    study
        A name of STUDIES, or a function (robot, **coordinates) -> dict of numbers or arrays.
    options
        Of the study.
    axes
        The values of each key.
    grid
        Whether they span a grid, else they are columns.
    reduce, edges
        What is kept of each chunk, all of it unless given.
    """

    varied: Varied
    study: str | Callable[..., Any]
    options: Mapping[str, Any]
    axes: Mapping[str, Array] = field(default_factory=dict)
    grid: bool = True
    chunk: int = POSES_PER_CHUNK
    reduce: tuple[str, ...] = ()
    edges: Array | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis of the answer: one for each key, or one of samples."""
        lengths = tuple(len(axis) for axis in self.axes.values())
        return lengths if self.grid else lengths[:1]

    @property
    def count(self) -> int:
        """Number of configurations."""
        return prod(self.shape)

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.count // self.chunk)

    def size(self, index: int) -> int:
        """Return the number of configurations of one chunk."""
        return max(0, min(self.chunk, self.count - index * self.chunk))

    def columns(self, index: int) -> dict[str, Array]:
        """Return the values of every key in one chunk, (m,) each."""
        flat = np.arange(index * self.chunk, min((index + 1) * self.chunk, self.count))
        if not self.grid:
            return {key: axis[flat] for key, axis in self.axes.items()}
        places = np.unravel_index(flat, self.shape)
        return {key: axis[k] for (key, axis), k in zip(self.axes.items(), places, strict=True)}

    def __call__(self, index: int) -> dict[str, Array]:
        """Compute one chunk; configurations of the same robot are computed together."""
        columns = self.columns(index)
        m = len(next(iter(columns.values())))
        answer: dict[str, Array] = {}
        # rows whose parameters are the same, robot by robot
        which: NDArray[np.intp] = np.zeros(m, np.intp)
        if keys := self.varied.parameter_keys:
            table = np.array([columns[key] for key in keys]).T
            which = np.unique(table, axis=0, return_inverse=True)[1].ravel()
        for k in range(int(which.max()) + 1):
            rows = np.flatnonzero(which == k)
            values = {key: column[rows[0]] for key, column in columns.items()}
            robot = self.varied.robot_at(values)
            part = {key: column[rows] for key, column in columns.items()}
            for name, found in self._answer_part(robot, part, len(rows)).items():
                if name not in answer:
                    answer[name] = np.empty((m, *np.shape(found)[1:]), np.asarray(found).dtype)
                answer[name][rows] = found
        return reduce_chunk(answer, columns, self.reduce, self.edges) if self.reduce else answer

    def _answer_part(self, robot: Robot, part: Mapping[str, Array], m: int) -> dict[str, Array]:
        if isinstance(self.study, str):
            place = self.varied.configurations_at(part, m)
            return STUDIES[self.study](robot, place, **self.options)
        found: list[dict[str, Any]] = []
        for row in range(m):
            coordinates = {key: column[row : row + 1] for key, column in part.items()}
            configuration = self.varied.configurations_at(coordinates, 1)
            place = {key: rows[0] for key, rows in configuration.items()}
            value = self.study(robot, **place, **self.options)
            found.append(value if isinstance(value, dict) else {"value": value})
        return {name: np.array([one[name] for one in found]) for name in found[0]}

    def as_plain_data(self) -> dict[str, Any]:
        """The question as plain data."""
        from importlib.metadata import version

        name = self.study
        if not isinstance(name, str):
            # an object that is called, or a partial function, has only the name of its class
            own_name = getattr(name, "__qualname__", type(name).__qualname__)
            name = f"{own_name} {_fingerprint(name)}"
        return {
            "robot": as_plain_data(self.varied.robot),
            "study": name,
            "options": {k: _plain(v) for k, v in self.options.items()},
            "theta": self.varied.theta,
            "position": self.varied.position,
            "over": list(self.axes),
            "grid": self.grid,
            "chunk": self.chunk,
            "reduce": list(self.reduce),
            "edges": None if self.edges is None else self.edges.tolist(),
            "version": version("supple"),
        }

    def key(self) -> str:
        """Return a hash of everything that the answer depends on, of the numbers by their bytes."""
        mill = hashlib.sha256(json.dumps(self.as_plain_data(), sort_keys=True).encode())
        for axis in self.axes.values():
            mill.update(np.ascontiguousarray(axis).tobytes())
        return mill.hexdigest()


def _plain(value: Any, depth: int = 0) -> Any:
    """A value that JSON can store; of any other object its type and fingerprint."""
    if depth > MAX_NESTING:
        raise SuppleError(f"an option is {brief(value)}: it holds itself, or is nested too deeply")
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub":
        return value.tolist()
    if isinstance(value, int) and abs(value) > LARGEST_FLOAT:
        raise SuppleError(f"an option is {brief(value)}: it is too large")
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in value]
    return f"{type(value).__name__} {_fingerprint(value)}"


def _fingerprint(value: Any) -> str:
    """A hash of an object's contents: of a function its code and all that the code reaches."""
    try:
        return fingerprint(value)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        raise SuppleError(
            f"{value!r:.60} cannot be told from others, so a sweep could not say what it computed: "
            "give a function or object of a module"
        ) from None


def question(
    robot: Robot,
    study: str | Callable[..., Any],
    over: Mapping[str, Any],
    *,
    sample: Any = None,
    samples: int = 1024,
    seed: int = 0,
    theta: ArrayLike | None = None,
    position: ArrayLike | None = None,
    chunk: int = POSES_PER_CHUNK,
    reduce: str | Sequence[str] = (),
    edges: ArrayLike | None = None,
    **options: Any,
) -> SweepQuestion:
    """Return the question that `sweep` computes; its arguments are those of `sweep`."""
    if isinstance(study, str) and study not in STUDIES:
        raise SuppleError(f"study is {study!r}: give one of {', '.join(STUDIES)}, or a function")
    if not isinstance(study, str) and not callable(study):
        raise SuppleError(f"study is {study!r:.60}: give a name or a function of the robot")
    columns = getattr(sample, "variables", sample)  # of xarray; a table of pandas is one of columns
    table = {str(k): columns[k] for k in columns} if hasattr(columns, "keys") else None
    given = over if table is None else {**(over or {}), **table}
    if not isinstance(given, Mapping) or not given:
        raise SuppleError("over is empty: give what varies, such as {'theta.link2': [0, 1, 2]}")
    axes = {key: _axis(key, value) for key, value in given.items()}
    if sample is not None and table is None:
        axes = _sampled_axes(axes, sample, samples, seed)
    elif table is not None and len({len(axis) for axis in axes.values()}) != 1:
        raise SuppleError("sample: the columns of a table must be equally long")
    varied = Varied.of(robot, tuple(axes), theta, position)
    for key in varied.parameter_keys:  # unknown paths are refused before anything is computed
        varied.robot_at({key: axes[key][0]})
    if not isinstance(chunk, int) or not 1 <= chunk <= 10**6:
        raise SuppleError(f"chunk is {chunk!r}: give configurations per chunk, 1 to 1000000")
    reduction = checked_reduction(reduce, edges)
    return SweepQuestion(varied, study, dict(options), axes, sample is None, chunk, *reduction)


def _sampled_axes(
    axes: Mapping[str, Array], sample: Any, samples: Any, seed: int
) -> dict[str, Array]:
    """Points between the least and the largest value of every key, one column per key."""
    from scipy.stats import qmc

    if not isinstance(sample, str) or sample not in SAMPLERS:
        raise SuppleError(
            f"sample is {sample!r:.60}: choose {', '.join(SAMPLERS)}, or give a table"
        )
    if not isinstance(samples, int) or samples < 1:
        raise SuppleError(f"samples is {samples!r}: give how many points")
    dimensions = len(axes)
    low = [axis.min() for axis in axes.values()]
    span = np.array([axis.max() for axis in axes.values()]) - low
    if sample == "random":
        unit = np.random.default_rng(seed).random((samples, dimensions))
    elif sample == "latin":
        unit = qmc.LatinHypercube(dimensions, rng=seed).random(samples)
    else:
        power_of_two = max(0, int(np.ceil(np.log2(samples))))
        unit = qmc.Sobol(dimensions, rng=seed).random_base2(power_of_two)[:samples]
    points = low + unit * span
    return dict(zip(axes, points.T, strict=True))


def _axis(key: str, value: Any) -> Array:
    """The values of one key, checked."""
    try:
        axis = np.atleast_1d(np.asarray(value, float))
    except (OverflowError, TypeError, ValueError):
        axis = np.empty((0, 0))
    if axis.ndim != 1 or not len(axis) or not np.isfinite(axis).all():
        raise SuppleError(f"over '{key}' is {brief(value)}: give finite numbers")
    return axis


Axes = Annotated[Mapping[str, Any], instance(Mapping, "axes such as {'theta.link2': [0, 0.1]}")]
Scheduler = Annotated[
    str, instance(str, "serial, threads, processes or the address of a Dask scheduler")
]


@checked
def sweep(
    robot: Robot,
    study: str | Callable[..., Any] = "modes",
    over: Axes | None = None,
    *,
    out: Any = None,
    scheduler: Scheduler = "threads",
    workers: Annotated[int, whole_number(1, 10_000)] | None = None,
    shard: tuple[int, int] | None = None,
    progress: bool | None = None,
    **asked: Any,
) -> xarray.Dataset:
    """Answer one question over a grid, a table or a sample of poses and parameters.

    Parameters
    ----------
    robot : Robot
        Robot whose pose or parameters vary.
    study : {"modes", "statics", "simulate", "stability"} or callable
        The question. ``simulate`` and ``stability`` need ``basis=``, and their ``trajectory=`` may
        be a function of theta. A function has the form ``f(robot, theta=...)`` and returns a
        number, an array or a dict.
    over : mapping
        What varies and its values, ``{"theta.link2": values, "payload.mass": values}``: joint
        coordinates or paths of the robot file. Several keys form a grid.
    out : str or path, optional
        Folder for intermediate results. An interrupted sweep is resumed from there, a finished one
        is read. Above 1e8 values the answer is a Zarr store in that folder, read as needed.
    scheduler : str
        ``serial``, ``threads``, ``processes``, or the address of a Dask scheduler. The answers are
        identical to the last bit.
    workers : int, optional
        Number of threads or processes. Default: one per core.
    shard : (i, n), optional
        Compute only every n-th chunk, starting with the i-th (from 0); needs `out`. What other
        shards have not computed yet is NaN.
    progress : bool, optional
        Show a progress bar. Default: only if stderr is a terminal.
    **asked
        ``sample`` ("random", "latin" or "sobol" between the smallest and largest value of each key,
        or a table of columns) with ``samples`` and ``seed``; ``theta`` or ``position`` of the
        coordinates that do not vary; ``chunk``; ``reduce`` ("minimum", "maximum", or "histogram"
        with ``edges`` in rad/s) to keep only extremes and counts. All others are options of the
        study, such as ``count``.

    Returns
    -------
    xarray.Dataset
        Dimensions are the keys of `over`; for modes the variables are `omega` (.., mode) in rad/s,
        `width` and `valid`.

    Examples
    --------
    >>> import numpy as np
    >>> import supple
    >>> table = supple.sweep(
    ...     supple.load("industrial-3"),
    ...     "modes",
    ...     over={"theta.link2": np.linspace(-1, 1, 5), "payload.mass": [0, 5, 10]},
    ...     count=2,
    ... )
    >>> table["omega"].dims, table["omega"].shape
    (('theta.link2', 'payload.mass', 'mode'), (5, 3, 2))
    """
    one = question(robot, study, over or {}, **asked)
    if shard is not None:
        good = isinstance(shard, Sequence) and len(shard) == 2 and 0 <= shard[0] < shard[1]
        if not good:
            raise SuppleError(f"shard is {shard!r}: give (i, n) with 0 <= i < n")
        if out is None:
            raise SuppleError("shard needs out=, a folder that all shards write to")
    key = one.key()
    store = None
    if out is not None:
        from ...files.chunks import Chunks

        store = Chunks(out, key, one.as_plain_data())
    answers, stopped = _compute_missing(one, store, shard, progress, scheduler, workers)
    found, computed_count = _gather(one, store, answers)
    _set_units_of_slides(found, robot)
    return found.assign_attrs(
        {
            **{
                k: v if isinstance(v, str) else json.dumps(v)
                for k, v in one.as_plain_data().items()
            },
            "hash": key,
            "configurations": one.count,
            "computed": computed_count,
            "message": stopped,
        }
    )


def _set_units_of_slides(found: xarray.Dataset, robot: Robot) -> None:
    """Write the units of what varies at joints that slide: metres and newtons, not radians."""
    sliding_joints = {name for name, slides in architecture_of(robot).motors if slides}
    for key in map(str, found.coords):
        words = key.split(".")
        if words[0] == "theta" and words[-1] in sliding_joints:
            found[key].attrs["units"] = "m"
        if words[0] == "links" and words[2:3] == ["joint"] and words[1] in sliding_joints:
            found[key].attrs["units"] = unit_of(words[-1], sliding=True) or ""


def _compute_missing(
    one: SweepQuestion,
    kept: Chunks | None,
    shard: tuple[int, int] | None,
    progress: bool | None,
    scheduler: str,
    workers: int | None,
) -> tuple[dict[int, dict[str, Array]], str]:
    """Compute what is not kept yet; return what is held in memory, and why it ended early."""
    answers: dict[int, dict[str, Array]] = {}
    stopped = ""
    meter = Progress(one.count, "configurations", progress)
    ready: frozenset[int] = frozenset() if kept is None else kept.ready()
    meter.step(sum(one.size(index) for index in ready), known=True)
    todo = [
        index
        for index in range(one.chunks)
        if index not in ready and (shard is None or index % shard[1] == shard[0])
    ]
    try:
        for index, found in compute_tasks(one, todo, scheduler, workers):
            if kept is not None:
                kept.save(index, found)
            else:
                each = _values(found)
                if each * one.count > MAX_VALUES and not one.reduce:
                    raise SuppleError(
                        f"{one.count:.3g} configurations of {each} values are more than "
                        f"{MAX_VALUES:g}: "
                        "give a folder as out=, keep a reduction (reduce='minimum'), or sweep a "
                        "part of the grid"
                    )
                answers[index] = found
            meter.step(one.size(index))
    except KeyboardInterrupt:
        stopped = f"stopped by the user: {meter.done:,} of {one.count:,} configurations are done"
        if kept is None:
            stopped += "; with a folder as out= (--out) a sweep goes on where it stopped"
        else:
            stopped += "; the same call goes on where it stopped"
        warnings.warn(stopped, SweepWarning, stacklevel=4)
    finally:
        meter.end()
    return answers, stopped


def _gather(
    one: SweepQuestion, kept: Chunks | None, answers: Mapping[int, Mapping[str, Array]]
) -> tuple[xarray.Dataset, int]:
    """All that was computed: reduced, in memory, or, where it is too large, from a Zarr store.

    With it the number of configurations that were computed.
    """
    chunks: Mapping[int, Mapping[str, Array]] = answers if kept is None else kept
    numbers = sorted(chunks)
    computed_count = sum(one.size(index) for index in numbers)
    if one.reduce:
        total = merge_chunks(chunks[index] for index in numbers)
        return reduced_dataset(total, list(one.axes), one.edges), computed_count
    if kept is not None and numbers and _values(kept[numbers[0]]) * one.count > MAX_VALUES:
        from ...files.store import store_chunks

        flat = store_chunks(kept, one.count, one.chunk)
        return on_grid(flat, one.axes, one.grid, one.shape), computed_count
    found = {index: chunks[index] for index in numbers}
    return dataset(found, one.axes, one.grid, one.shape, one.chunk), computed_count


def _values(found: Mapping[str, Array]) -> int:
    """Number of values of one configuration."""
    return sum(int(np.prod(np.shape(value)[1:])) for value in found.values())
