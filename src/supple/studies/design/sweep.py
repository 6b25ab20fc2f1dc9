"""The same question everywhere: a study over a grid, a table or a sample of what varies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arguments import Check, checked, instance, optional, switch, whole
from ...editing import dumped
from ...errors import SuppleError
from ...robot import Robot, a_robot
from .varied import Varied
from .workers import Progress, computed

if TYPE_CHECKING:
    import xarray

__all__ = ["STUDIES", "Question", "sweep"]

Array = NDArray[Any]
CHUNK = 4096  # configurations
MOST = 10**8  # values in memory at most
SAMPLERS = ("random", "latin", "sobol")


def _modes(robot: Robot, place: Mapping[str, Any], **options: Any) -> dict[str, Array]:
    from ..vibration.modes import modes

    found = modes(robot, **place, **options)
    return {"omega": found.omega, "width": found.width, "valid": found.valid}


def _statics(robot: Robot, place: Mapping[str, Any], **options: Any) -> dict[str, Array]:
    from ..statics import statics

    found = statics(robot, **place, **options)
    return {
        "tip_displacement": found.tip_displacement,
        "tip_rotation": found.tip_rotation,
        "compliance": found.compliance,
    }


# A study by name: what it does with a robot and many configurations of it at once.
STUDIES: dict[str, Callable[..., dict[str, Array]]] = {"modes": _modes, "statics": _statics}
DIMS = {
    "omega": ("mode",),
    "width": ("mode",),
    "tip_displacement": ("axis",),
    "tip_rotation": ("axis",),
    "compliance": ("row", "column"),
}
UNITS = {"omega": "rad/s", "tip_displacement": "m", "tip_rotation": "rad"}


@dataclass(frozen=True, eq=False)
class Question:
    """A study, what varies, and how it is cut into chunks. Chunk by chunk it is `computed`.

    Attributes:
        varied: the robot and the paths that change.  study: a name of STUDIES, or a function
        (robot, **coordinates) -> dict of numbers or arrays.  options: of the study.
        axes: the values of each key.  grid: whether they span a grid, else they are columns.
    """

    varied: Varied
    study: str | Callable[..., Any]
    options: Mapping[str, Any]
    axes: Mapping[str, Array] = field(default_factory=dict)
    grid: bool = True
    chunk: int = CHUNK

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

    def columns(self, index: int) -> dict[str, Array]:
        """Return the values of every key in one chunk, (m,) each."""
        flat = np.arange(index * self.chunk, min((index + 1) * self.chunk, self.count))
        if not self.grid:
            return {key: axis[flat] for key, axis in self.axes.items()}
        places = np.unravel_index(flat, self.shape)
        return {key: axis[k] for (key, axis), k in zip(self.axes.items(), places, strict=True)}

    def __call__(self, index: int) -> dict[str, Array]:
        """Compute one chunk: robots that are alike are asked together."""
        columns = self.columns(index)
        m = len(next(iter(columns.values())))
        answer: dict[str, Array] = {}
        for rows in self._alike(columns, m):
            values = {key: column[rows[0]] for key, column in columns.items()}
            robot = self.varied.changed(values)
            part = {key: column[rows] for key, column in columns.items()}
            for name, found in self._asked(robot, part, len(rows)).items():
                if name not in answer:
                    answer[name] = np.empty((m, *np.shape(found)[1:]), np.asarray(found).dtype)
                answer[name][rows] = found
        return answer

    def _alike(self, columns: Mapping[str, Array], m: int) -> Iterator[NDArray[np.int64]]:
        """Rows of a chunk whose parameters are the same, robot by robot."""
        keys = self.varied.parameter_keys
        if not keys:
            yield np.arange(m)
            return
        table = np.array([columns[key] for key in keys]).T
        _, which = np.unique(table, axis=0, return_inverse=True)
        for k in range(int(which.max()) + 1):
            yield np.flatnonzero(which.ravel() == k)

    def _asked(self, robot: Robot, part: Mapping[str, Array], m: int) -> dict[str, Array]:
        if isinstance(self.study, str):
            place = self.varied.placed(part, m)
            return STUDIES[self.study](robot, place, **self.options)
        found: list[dict[str, Any]] = []
        for row in range(m):
            place = {
                k: v[0]
                for k, v in self.varied.placed(
                    {key: column[row : row + 1] for key, column in part.items()}, 1
                ).items()
            }
            value = self.study(robot, **place, **self.options)
            found.append(value if isinstance(value, dict) else {"value": value})
        return {name: np.array([one[name] for one in found]) for name in found[0]}

    def told(self) -> dict[str, Any]:
        """The question as plain data."""
        from importlib.metadata import version

        study = self.study
        name = study if isinstance(study, str) else f"{study.__module__}.{study.__qualname__}"
        return {
            "robot": dumped(self.varied.robot),
            "study": name,
            "options": {k: _plain(v) for k, v in self.options.items()},
            "theta": self.varied.theta,
            "position": self.varied.position,
            "over": list(self.axes),
            "grid": self.grid,
            "chunk": self.chunk,
            "version": version("supple"),
        }

    def key(self) -> str:
        """Return a hash of everything that the answer depends on, of the numbers by their bytes."""
        mill = hashlib.sha256(json.dumps(self.told(), sort_keys=True, default=str).encode())
        for axis in self.axes.values():
            mill.update(np.ascontiguousarray(axis).tobytes())
        return mill.hexdigest()


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def question(  # noqa: PLR0913 - what `sweep` takes, checked in one place
    robot: Robot,
    study: str | Callable[..., Any],
    over: Mapping[str, Any],
    *,
    sample: str | Mapping[str, ArrayLike] | None = None,
    samples: int = 1024,
    seed: int = 0,
    theta: ArrayLike | None = None,
    position: ArrayLike | None = None,
    chunk: int = CHUNK,
    **options: Any,
) -> Question:
    """Return the question that `sweep` computes; its arguments are those of `sweep`."""
    if isinstance(study, str) and study not in STUDIES:
        raise SuppleError(f"study is {study!r}: give one of {', '.join(STUDIES)}, or a function")
    if not isinstance(study, str) and not callable(study):
        raise SuppleError(f"study is {study!r:.60}: give a name or a function of the robot")
    table = sample if isinstance(sample, Mapping) else None
    given = over if table is None else {**(over or {}), **table}
    if not isinstance(given, Mapping) or not given:
        raise SuppleError("over is empty: give what varies, such as {'theta.link2': [0, 1, 2]}")
    axes = {key: _axis(key, value) for key, value in given.items()}
    if isinstance(sample, str):
        axes = _sampled(axes, sample, samples, seed)
    elif table is not None and len({len(axis) for axis in axes.values()}) != 1:
        raise SuppleError("sample: the columns of a table must be equally long")
    varied = Varied.of(robot, tuple(axes), theta, position)
    for key in varied.parameter_keys:  # unknown paths are told before anything is computed
        varied.changed({key: axes[key][0]})
    if not isinstance(chunk, int) or not 1 <= chunk <= 10**6:
        raise SuppleError(f"chunk is {chunk!r}: give configurations per chunk, 1 to 1000000")
    return Question(varied, study, dict(options), axes, sample is None, chunk)


def _axis(key: str, value: Any) -> Array:
    try:
        axis = np.atleast_1d(np.asarray(value, float))
    except (TypeError, ValueError):
        axis = np.empty((0, 0))
    if axis.ndim != 1 or not len(axis) or not np.isfinite(axis).all():
        raise SuppleError(f"over '{key}' is {value!r:.60}: give finite numbers")
    return axis


def _sampled(axes: Mapping[str, Array], how: str, samples: int, seed: int) -> dict[str, Array]:
    """Points between the least and largest value of every key."""
    from scipy.stats import qmc

    if how not in SAMPLERS:
        raise SuppleError(f"sample is {how!r}: choose {', '.join(SAMPLERS)}, or give a table")
    if not isinstance(samples, int) or samples < 1:
        raise SuppleError(f"samples is {samples!r}: give how many points")
    d, low = len(axes), [axis.min() for axis in axes.values()]
    span = np.array([axis.max() for axis in axes.values()]) - low
    if how == "random":
        unit = np.random.default_rng(seed).random((samples, d))
    elif how == "latin":
        unit = qmc.LatinHypercube(d, rng=seed).random(samples)
    else:
        unit = qmc.Sobol(d, rng=seed).random_base2(max(0, int(np.ceil(np.log2(samples)))))[:samples]
    points = low + unit * span
    return dict(zip(axes, points.T, strict=True))


ARGUMENTS: dict[str, Check] = {
    "robot": a_robot,
    "over": optional(instance(Mapping, "axes such as {'theta.link2': [0, 0.1]}")),
    "scheduler": instance(str, "serial, threads, processes or the address of a Dask scheduler"),
    "workers": optional(whole(1, 10_000)),
    "progress": optional(switch),
}


@checked(**ARGUMENTS)
def sweep(
    robot: Robot,
    study: str | Callable[..., Any] = "modes",
    over: Mapping[str, Any] | None = None,
    *,
    out: Any = None,
    scheduler: str = "threads",
    workers: int | None = None,
    shard: tuple[int, int] | None = None,
    progress: bool | None = None,
    **asked: Any,
) -> xarray.Dataset:
    """Return a study's answers over a grid, a table or a sample, as an xarray Dataset.

    Args:
        robot: the robot that varies.
        study: "modes", "statics", or a function (robot, theta=...) -> number, array or dict.
        over: what varies: {"theta.link2": values, "payload.mass": values, ...}; a grid of all.
        out: a folder for the chunks: an interrupted sweep goes on where it stopped, a finished one
        is read.
        scheduler: serial, threads, processes, or the address of a Dask scheduler. Answers are the
        same to the last bit.
        workers: how many threads or processes; one for each core unless given.
        shard: (i, n): compute only every n-th chunk, from the i-th (0-based) on; needs `out`. What
        other shards have not computed yet is NaN.
        progress: whether to tell it on the error stream; where somebody looks unless given.
        asked: sample ("random", "latin", "sobol" between the least and largest value of each key,
        or a table of columns), samples, seed; theta or position, where coordinates that do not
        vary stand; chunk; all else is an option of the study, such as count.
    """
    one = question(robot, study, over or {}, **asked)
    if shard is not None:
        _check_shard(shard, out)
    key, kept = one.key(), None
    if out is not None:
        from ...files.chunks import Chunks

        kept = Chunks(out, key, one.told())
    answers: dict[int, dict[str, Array]] = {}
    telling = Progress(one.count, "configurations", progress)
    todo = []
    for index in range(one.chunks):
        found = kept.load(index) if kept else None
        if found is not None:
            answers[index] = found
            telling.step(one.chunk, known=True)
        elif shard is None or index % shard[1] == shard[0]:
            todo.append(index)
    try:
        for index, found in computed(one, todo, scheduler, workers):
            if kept:
                kept.save(index, found)
            answers[index] = found
            _check_size(one, found)
            telling.step(one.chunk)
    finally:
        telling.end()
    return _dataset(one, answers, key)


def _check_shard(shard: Any, out: Any) -> None:
    good = isinstance(shard, Sequence) and len(shard) == 2 and 0 <= shard[0] < shard[1]
    if not good:
        raise SuppleError(f"shard is {shard!r}: give (i, n) with 0 <= i < n")
    if out is None:
        raise SuppleError("shard needs out=, a folder that all shards write to")


def _check_size(one: Question, found: Mapping[str, Array]) -> None:
    each = sum(int(np.prod(np.shape(value)[1:])) for value in found.values())
    if each * one.count > MOST:
        raise SuppleError(
            f"{one.count:.3g} configurations of {each} values are more than {MOST:g}: sweep a part "
            "of the grid, or ask for fewer modes"
        )


def _dataset(one: Question, answers: Mapping[int, Mapping[str, Array]], key: str) -> xarray.Dataset:
    import xarray

    first = next(iter(answers.values()), {})
    dims = tuple(one.axes) if one.grid else ("sample",)
    data: dict[str, Any] = {}
    for name, like in first.items():
        fill: Any = np.nan if like.dtype.kind == "f" else False if like.dtype.kind == "b" else 0
        whole = np.full((one.count, *like.shape[1:]), fill, like.dtype)
        for index, answer in answers.items():
            start = index * one.chunk
            whole[start : start + len(answer[name])] = answer[name]
        own = DIMS.get(name) or tuple(f"{name}_{k}" for k in range(like.ndim - 1))
        unit = {"units": UNITS[name]} if name in UNITS else {}
        data[name] = ((*dims, *own), whole.reshape(*one.shape, *like.shape[1:]), unit)
    coords: dict[str, Any] = {}
    for path, axis in one.axes.items():
        unit = {"units": _unit(path)} if _unit(path) else {}
        coords[path] = ((path,) if one.grid else ("sample",), axis, unit)
    if "omega" in first:
        coords["mode"] = np.arange(1, first["omega"].shape[1] + 1)
    told = {
        k: v if isinstance(v, str) else json.dumps(v, default=str) for k, v in one.told().items()
    }
    return xarray.Dataset(data, coords, {**told, "hash": key})


def _unit(path: str) -> str:
    head, _, last = path.rpartition(".")
    if head == "theta":
        return "rad or m"
    lengths = ("length", "depth", "width", "wall", "diameter", "base_radius", "radius")
    return "m" if head == "position" or last in lengths else "kg" if last == "mass" else ""
