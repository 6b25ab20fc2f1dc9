"""Fit parameters of a robot to measurements: frequencies, responses, motion, static loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..arguments import as_list, brief, checked, number, one_of, whole_number
from ..beams.basis import Basis
from ..errors import SuppleError
from ..robot import Robot, a_robot
from .estimation import LOSSES, Estimate, Problem, _robust_weights
from .experiments.dampings import Dampings, wants_dampings
from .experiments.experiment import Experiment
from .experiments.frequencies import Frequencies
from .experiments.motion import MotionRecord
from .experiments.responses import Responses
from .experiments.static_loads import StaticLoads
from .identifiability import blind_directions, describe_blindness
from .parameters import ParameterSet
from .tables import MeasuredTable, load_tables

__all__ = ["Identification", "identify", "make_experiments"]

Array = NDArray[np.float64]
CURVED = 0.2  # relative error of the quadratic cost at the ends of an interval that makes a profile
CORRELATED = 0.5  # lag-one correlation of residuals in time beyond which deviations are too small
DISTINCT = 0.02  # relative difference of values from which two optima are told apart


@dataclass(frozen=True, eq=False)
class Identification(Answer):
    """Parameters fitted to measurements.

    From `supple.identify`; p parameters, n measured values.

    Attributes
    ----------
    robot, nominal : Robot
        With the fitted values, and as given.
    names : tuple of str
        The free parameters.
    values, std : dict
        Fitted value and standard deviation by path; the deviation is infinite where the data do not
        determine the parameter.
    correlation, covariance : ndarray
        Of the estimates, (p, p), in the order of `names`; the covariance in their units.
    measured, computed, residuals : ndarray
        In the units of the tables, (n,); residuals = measured - computed. NaN where a line belongs
        to no mode.
    normalised : ndarray
        Residuals over the standard deviation of their noise, (n,).
    value_names : tuple of str
        Name of each value.
    noise : dict
        Estimated or given standard deviation of each group of values; relative for frequencies.
    degrees_of_freedom : float
        Number of values minus parameters.
    pairs : ndarray of int
        Mode, from 1, with which each measured line is paired, (n,); 0 is none, -1 for other values.
    missing : tuple
        (pose, mode) of modes that were not excited.
    warnings, notes : tuple of str
        What limits the answer, and what was noticed.
    fit_percent : float
        100 (1 - |residuals| / |measured - mean|), all values in deviations of their noise.
    validation_percent : float or None
        The same for the validation data; None without any.
    optima : tuple
        Other optima from other starts: (score above the best, {path: value}).
    """

    robot: Robot
    nominal: Robot
    names: tuple[str, ...]
    values: dict[str, float]
    std: dict[str, float]
    correlation: Array
    covariance: Array
    measured: Array
    computed: Array
    residuals: Array
    normalised: Array
    value_names: tuple[str, ...]
    noise: dict[str, float]
    degrees_of_freedom: float
    pairs: NDArray[np.int64]
    missing: tuple[tuple[int, int], ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    fit_percent: float
    validation_percent: float | None
    optima: tuple[Any, ...]
    _problem: Any = field(repr=False, compare=False)
    _estimate: Any = field(repr=False, compare=False)
    _freedom: Array = field(repr=False, compare=False)

    dims: ClassVar = {
        "measured": ("value",),
        "computed": ("value",),
        "residuals": ("value",),
        "normalised": ("value",),
        "pairs": ("value",),
        "correlation": ("parameter", "other"),
        "covariance": ("parameter", "other"),
    }
    table_rows: ClassVar = ("parameter",)
    labels: ClassVar = {"parameter": "names", "other": "names", "value": "value_names"}

    def interval(
        self, path: str, level: float = 0.95, profile: bool | None = None
    ) -> tuple[float, float]:
        """Return the confidence interval of a parameter.

        Parameters
        ----------
        path : str
            One of the free parameters.
        level : float
            Coverage, between 0 and 1.
        profile : bool, optional
            False: value +- t std, t Student's quantile. True: where the cost, minimised over all
            other parameters, has risen by t squared. Default: the profile where the quadratic
            interval misleads, that is where the cost at its ends is off by more than a fifth.
        """
        if path not in self.names:
            raise SuppleError(f"'{path}' was not fitted: fitted are {', '.join(self.names)}")
        if not isinstance(level, float | int) or not 0 < level < 1:
            raise SuppleError(f"level is {brief(level)}: give a number between 0 and 1")
        k = self.names.index(path)
        value = self.values[path]
        std = self.std[path]
        if not math.isfinite(std):
            return (-math.inf, math.inf)
        t = _quantile(0.5 + level / 2, float(self._freedom[k]))
        ends = (value - t * std, value + t * std)
        if profile is False:
            return ends
        if profile is None and not self._misleads(k, t):
            return ends
        return self._profile(k, t)

    def _misleads(self, k: int, t: float) -> bool:
        """Whether the cost at the ends of the quadratic interval is not that of a parabola."""
        problem: Problem = self._problem
        estimate: Estimate = self._estimate
        p = problem.parameters
        at = p.values(estimate.x)
        own = self.covariance[k, k]
        low, high = p.limits()
        base = float((problem.residual(estimate.x, estimate.sigma) ** 2).sum())
        for sign in (-1, 1):
            moved = at + sign * t * self.covariance[:, k] / math.sqrt(own)
            if (moved[p.logarithmic] <= 0).any():
                return True
            x = p.coordinates(moved)
            if (x < low - 1e-9).any() or (x > high + 1e-9).any():
                return True
            try:
                rise = float((problem.residual(x, estimate.sigma) ** 2).sum()) - base
            except SuppleError:
                return True
            if abs(rise / t**2 - 1) > 2 * CURVED:
                return True
        return False

    def _profile(self, k: int, t: float) -> tuple[float, float]:
        """Where the cost, minimised over the other parameters, has risen by t^2."""
        from scipy.optimize import brentq

        problem: Problem = self._problem
        estimate: Estimate = self._estimate
        p = problem.parameters
        base = float((problem.residual(estimate.x, estimate.sigma) ** 2).sum())
        unit = np.eye(len(estimate.x))[[k]]
        held_directions = np.vstack([estimate.held, unit]) if len(estimate.held) else unit
        low, high = p.limits()
        slope = float(p.slopes(estimate.x)[k])
        width = t * self.std[p.names[k]] / slope

        def rise(shift: float) -> float:
            x = estimate.x.copy()
            x[k] = min(max(x[k] + shift, low[k]), high[k])
            try:
                x, _, _ = problem._minimise(x, estimate.sigma, held_directions, evaluations=15)
                cost = float((problem.residual(x, estimate.sigma) ** 2).sum())
            except SuppleError:
                return 1e9
            return cost - base - t**2

        ends = []
        for sign, limit in ((-1.0, low[k]), (1.0, high[k])):
            reach = width
            farthest = abs(limit - estimate.x[k])
            for _ in range(12):
                if reach >= farthest or rise(sign * reach) > 0:
                    break
                reach *= 1.6
            if reach >= farthest and (farthest == 0 or rise(sign * farthest) < 0):
                end = limit
            else:
                reach = min(reach, farthest)
                end = estimate.x[k] + sign * brentq(
                    lambda s, sign=sign: rise(sign * s), 0.0, reach, xtol=1e-4 * width
                )
            x = estimate.x.copy()
            x[k] = end
            ends.append(float(p.values(x)[k]))
        return (min(ends), max(ends))


@checked
def identify(
    robot: Annotated[Robot | str | PathLike[str], a_robot],
    data: Any,
    free: Annotated[Sequence[str], as_list],
    kind: Annotated[str, one_of("frequencies", "response", "motion", "statics")] | None = None,
    *,
    theta: ArrayLike | None = None,
    theta0: ArrayLike | None = None,
    joints: Any = None,
    damping: Annotated[str, one_of("structural", "modal")] | None = None,
    start: Mapping[str, float] | None = None,
    bounds: Mapping[str, Any] | None = None,
    priors: Mapping[str, Any] | None = None,
    ties: Mapping[str, Any] | None = None,
    sigma: Annotated[float, number(0, above=True)] | None = None,
    loss: Annotated[str, one_of(*LOSSES)] = "linear",
    starts: Annotated[int, whole_number(1, 1000)] | None = None,
    validation: Annotated[float, number(0, 0.9)] = 0.0,
    basis: Basis | None = None,
    reference: Annotated[str, one_of("undeformed", "unloaded")] = "undeformed",
    seed: Annotated[int, whole_number(0)] = 0,
) -> Identification:
    """Fit parameters of a robot, named by their paths, to measurements.

    Parameters
    ----------
    robot : Robot, file or library name
        Robot from which the fit starts.
    data : file, mapping or list of them
        Tables of frequencies, responses, motion or static deflections; several are fitted together.
        Columns: see the how-to on measurements.
    free : list of str
        Paths of the robot file (``links.upper.joint.stiffness``, ``payload.mass``),
        ``damping_ratio`` (of every elastic mode), and ``sensor.COLUMN.gain``, ``.bias``, ``.delay``
        of a motion's columns.
    kind : {"frequencies", "response", "motion", "statics"}, optional
        What was measured. Default: found from the columns.
    theta : array_like, optional
        Joint coordinates (joints,) of tables that contain none.
    theta0 : array_like, optional
        Known start of a motion. Default: `theta`, or its first row, or a fitted start where that
        row is not round.
    joints : optional
        As in `modes` and `response`. Default: locked for frequencies, free for responses.
    damping : {"structural", "modal"}, optional
        Damping of responses: the loss factor of each link is twice its `damping_ratio`, or every
        elastic mode has the same `damping_ratio`.
    start, bounds, priors : dict, optional
        By path: initial value, (low, high), and (mean, standard deviation).
    ties : dict, optional
        By path: the free parameter that it equals, or (parameter, factor).
    sigma : float, optional
        Known noise: relative for frequencies, else in the table's units. Default: estimated.
    loss : {"linear", "soft_l1", "huber", "cauchy"}
        How much large differences count; the last three are for data with outliers.
    starts : int, optional
        Number of starts. Default: 1; 6 where lines have to be paired and the first does not fit.
    validation : float
        Fraction of the data kept for validation; `validation_percent` says how well it is
        predicted.
    basis : Basis, optional
        Basis for motion. Default: ``AssumedModes(2)``.
    reference : {"undeformed", "unloaded"}
        Pose from which static deflections are measured.
    seed : int
        Seed of the other starting points and of the validation data.

    Returns
    -------
    Identification
        Fitted values with standard deviations, and the robot with these values.

    Notes
    -----
    Before the fit, combinations of parameters that the data cannot determine are identified. They
    are named in `warnings`, are not fitted (the others are), and have an infinite deviation.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> measured = supple.modes(robot.with_("payload.mass", 2.0), [0, 0, 0], count=3).frequency_hz
    >>> data = {
    ...     "theta.link1": [0, 0, 0],
    ...     "theta.link2": [0, 0, 0],
    ...     "theta.link3": [0, 0, 0],
    ...     "frequency_hz": measured,
    ...     "mode": [1, 2, 3],
    ... }
    >>> found = supple.identify(robot, data, free=["payload.mass"])
    >>> round(found.values["payload.mass"], 6)
    2.0
    """
    nominal = a_robot("robot", robot)
    for name in free:
        if not isinstance(name, str):
            raise SuppleError(f"free holds {brief(name)}: give paths, such as payload.mass")
    tables = load_tables(data, kind)
    place = None if theta is None else np.asarray(theta, float).tolist()
    experiments = make_experiments(
        nominal,
        tables,
        theta=place,
        theta0=None if theta0 is None else np.asarray(theta0, float).tolist(),
        joints=joints,
        damping=damping,
        basis=basis,
        sigma=sigma,
        reference=reference,
        free=free,
        start=start,
    )
    extra: dict[str, float] = {}
    for experiment in experiments:
        if isinstance(experiment, MotionRecord):
            extra |= experiment.fitted_start
    fixed = {k: v for k, v in (start or {}).items() if k == "damping_ratio" and k not in free}
    parameters = ParameterSet.of(
        nominal,
        free,
        start={k: v for k, v in (start or {}).items() if k not in fixed} or None,
        bounds=bounds,
        priors=priors,
        ties=ties,
        extra=extra,
    )
    _check_sensors(parameters, experiments)
    training = _training(experiments, validation, seed)
    problem = Problem(parameters, experiments, loss, training)
    has_priors = int(np.isfinite(parameters.prior_std).sum())
    values = int(training.sum()) + has_priors
    if values < len(parameters.names):
        raise SuppleError(
            f"{len(parameters.names)} parameters are free and {values} values were measured: "
            "measure more, free fewer, or give priors"
        )
    return _fit_and_report(nominal, problem, list(free), starts, seed)


def parameter_table(found: Identification) -> Any:
    """Return a row for each parameter: start, value, deviation, interval."""
    import pandas

    start = dict(zip(found.names, found._problem.parameters.start.tolist(), strict=True))
    ends = [found.interval(name, profile=False) for name in found.names]
    columns = {
        "start": [start[name] for name in found.names],
        "value": [found.values[name] for name in found.names],
        "std": [found.std[name] for name in found.names],
        "low_95": [low for low, _ in ends],
        "high_95": [high for _, high in ends],
    }
    return pandas.DataFrame(columns, index=pandas.Index(found.names, name="parameter"))


def make_experiments(
    robot: Robot,
    tables: Sequence[MeasuredTable],
    *,
    theta: Sequence[float] | None = None,
    theta0: Sequence[float] | None = None,
    joints: Any = None,
    damping: str | None = None,
    basis: Basis | None = None,
    sigma: float | None = None,
    reference: str = "undeformed",
    free: Sequence[str] = (),
    start: Mapping[str, float] | None = None,
) -> list[Experiment]:
    """Return an experiment for each table."""
    experiments: list[Experiment] = []
    if damping is None and "damping_ratio" in free:
        damping = "modal"
    for table in tables:
        if table.kind == "frequencies":
            lines = Frequencies(table, robot, theta, joints or "locked", sigma)
            experiments.append(lines)
            if wants_dampings(table, free):
                experiments.append(Dampings(table, lines))
            elif "damping_ratio" in table.columns:
                lines.notes.append(
                    f"column 'damping_ratio' of {table.name} is passed over: no damping_ratio is "
                    "free"
                )
        elif table.kind == "response":
            experiments.append(Responses(table, robot, theta, joints or "free", damping, sigma))
        elif table.kind == "motion":
            experiments.append(MotionRecord(table, robot, basis, theta0 or theta, sigma))
        else:
            experiments.append(StaticLoads(table, robot, theta, reference, sigma))
    return experiments


def _check_sensors(parameters: ParameterSet, experiments: Sequence[Experiment]) -> None:
    """Raise where a free sensor is no column of any motion."""
    columns = [c for e in experiments if isinstance(e, MotionRecord) for c in e.columns]
    for name in parameters.names:
        if name.startswith("sensor."):
            column = name.removeprefix("sensor.").rpartition(".")[0]
            if column not in columns:
                known = ", ".join(columns) or "none, there is no motion among the data"
                raise SuppleError(f"'{name}': no column '{column}' was measured; there are {known}")


def _training(experiments: Sequence[Experiment], validation: float, seed: int) -> NDArray[np.bool_]:
    """Which values are fitted: whole poses or rows are held out; of a motion its last part."""
    rng = np.random.default_rng(seed)
    parts = []
    for experiment in experiments:
        blocks = experiment.blocks()
        distinct = np.unique(blocks)
        count = round(validation * len(distinct))
        if validation and not 0 < count < len(distinct):
            raise SuppleError(
                f"validation is {validation:g}: {experiment.name} has {len(distinct)} poses or "
                "rows, of which none, or all, would be held out"
            )
        if experiment.kind == "motion":
            out = distinct[len(distinct) - count :]
        else:
            out = rng.choice(distinct, count, replace=False)
        parts.append(~np.isin(blocks, out))
    return np.concatenate(parts)


def _fit_and_report(
    nominal: Robot, problem: Problem, free: list[str], starts: int | None, seed: int
) -> Identification:
    """Ask whether the data can answer, fit from one or several starts, and report."""
    parameters = problem.parameters
    kinds = [e.kind for e in problem.experiments]
    zero = np.zeros(len(parameters.names))
    warnings: list[str] = []
    notes = [note for e in problem.experiments for note in e.notes]

    estimate, all_found = _from_starts(problem, zero, starts, seed)
    used = problem.used_values(estimate.predicted)
    if int(used.sum()) + int(np.isfinite(parameters.prior_std).sum()) < len(zero):
        raise SuppleError(
            f"{len(zero)} parameters are free, and only {int(used.sum())} lines belong to modes of "
            f"{nominal.name}: measure more, free fewer, or start nearer (start=)"
        )
    blind = blind_directions(problem, estimate.jacobian, estimate.sigma, used)
    if len(blind.directions):
        warnings += describe_blindness(problem, blind, estimate.x, kinds)
        estimate = problem.fit(zero, hold=blind.directions)
        all_found = [estimate]
        used = problem.used_values(estimate.predicted)
    unknown = {name for names in blind.sets for name in names}

    problem.prior_at = estimate.x
    # Covariance in the units of the parameters
    C_x, freedom = _covariance_of_estimate(problem, estimate, used)
    slopes = parameters.slopes(estimate.x)
    C = C_x * np.outer(slopes, slopes)
    std = np.sqrt(np.maximum(np.diag(C), 0.0))
    estimated = [f for f in estimate.freedom if math.isfinite(f)]
    undetermined = bool(estimated) and min(estimated) < 0.5
    if undetermined:
        warnings.append(
            "there are as many parameters as measured values: their noise cannot be estimated, and "
            "no standard deviation can be given; measure more, or give the noise (sigma=, sigma_hz)"
        )
        std = np.full(len(std), math.inf)
    names = parameters.names
    std = np.array([math.inf if n in unknown else s for n, s in zip(names, std, strict=True)])
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt(np.maximum(np.diag(C), 1e-300))
        correlation = C / np.outer(size, size)
    np.fill_diagonal(correlation, 1.0)

    values = parameters.values(estimate.x)
    setting = parameters.setting(estimate.x)
    warnings += _cautions(problem, estimate, values, std, correlation, used)
    for experiment in problem.experiments:
        notes += experiment.findings(setting)
    if not estimate.converged:
        warnings.append("the fit did not come to rest: give a better start, or bounds")
    optima = _distinct_optima(problem, all_found)
    if optima:
        warnings.append(
            f"{len(optima)} other optimum or optima fit nearly as well (found.optima): other "
            "values explain these data too"
        )

    predicted = estimate.predicted
    computed = np.concatenate(
        [e.values_of(predicted[problem._rows(e)]) for e in problem.experiments]
    )
    measured = np.concatenate([e.measured_values for e in problem.experiments])
    normalised = (problem.measured - predicted) / estimate.sigma
    pairs = np.concatenate(
        [getattr(e, "mode", np.full(len(e.measured), -2)) + 1 for e in problem.experiments]
    )
    missing = tuple(
        pair
        for e in problem.experiments
        if isinstance(e, Frequencies) and e.pairing
        for pair in e.missing()
    )
    noise = {}
    for group in problem.groups:
        noise[group.name] = float(np.median(estimate.sigma[group.rows]))
    held_out = ~problem.training & np.isfinite(predicted)
    return Identification(
        setting.robot,
        nominal,
        names,
        dict(zip(names, values.tolist(), strict=True)),
        dict(zip(names, std.tolist(), strict=True)),
        correlation,
        C,
        measured,
        computed,
        measured - computed,
        normalised,
        tuple(label for e in problem.experiments for label in e.labels()),
        noise,
        float(used.sum() - len(names)),
        pairs.astype(int),
        missing,
        tuple(warnings),
        tuple(notes),
        _percent(problem, predicted, estimate.sigma, used),
        _percent(problem, predicted, estimate.sigma, held_out) if held_out.any() else None,
        optima,
        problem,
        estimate,
        freedom,
    )


def _from_starts(
    problem: Problem, zero: Array, starts: int | None, seed: int
) -> tuple[Estimate, list[Estimate]]:
    """The best fit of several starts; other starts only where asked for, or pairs are doubtful."""
    found = []
    try:
        found.append(problem.fit(zero))
    except SuppleError:
        if starts == 1 or (starts is None and not problem.pairing):
            raise
    count = starts
    if starts is None:
        count = 6 if problem.pairing and (not found or _doubtful(problem, found[0])) else 1
    others = problem.parameters.other_starts((count or 1) - 1, seed) if (count or 1) > 1 else []
    for start in others:
        try:
            found.append(problem.fit(start))
        except SuppleError:
            continue  # a robot that cannot be, far from where it is known to be
    if not found:
        raise SuppleError("no start gave a robot that can be computed: give start= or bounds=")
    best = min(found, key=lambda one: one.score)
    # pairs belong to the fit that was made last: restore those of the best
    if problem.pairing:
        lines = [e for e in problem.experiments if e.pairing]
        for experiment, mode in zip(lines, best.pairs, strict=True):
            experiment.mode = mode.copy()  # type: ignore[attr-defined]
    return best, found


def _doubtful(problem: Problem, found: Estimate) -> bool:
    """Whether many lines are foreign, or what is paired fits badly."""
    foreign = 0
    total = 0
    for mode in found.pairs:
        foreign += int((mode < 0).sum())
        total += len(mode)
    noise = [
        float(np.median(found.sigma[g.rows]))
        for g, owner in zip(problem.groups, problem.owner, strict=True)
        if owner.pairing
    ]
    return foreign > max(2, 0.2 * total) or max(noise, default=0.0) > 0.01


def _covariance_of_estimate(
    problem: Problem, estimate: Estimate, used: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Covariance of x, with a robust loss that of an M-estimator, and degrees of freedom."""
    C, freedom = problem.covariance_of_estimate(estimate, used)
    if problem.loss == "linear":
        return C, freedom
    left = (problem.measured[used] - estimate.predicted[used]) / estimate.sigma[used]
    weight, slope = _robust_weights(left, problem.loss)
    psi2 = float(np.mean((weight * left) ** 2))
    bent = float(np.mean(slope))
    return C * psi2 / max(bent, 1e-6) ** 2, freedom


def _cautions(
    problem: Problem,
    estimate: Estimate,
    values: Array,
    std: Array,
    correlation: Array,
    used: NDArray[np.bool_],
) -> list[str]:
    """Sentences about what a user should know before trusting the numbers."""
    sentences: list[str] = []
    p = problem.parameters
    low, high = p.limits()
    for k, name in enumerate(p.names):
        if estimate.x[k] <= low[k] + 1e-6 or estimate.x[k] >= high[k] - 1e-6:
            sentences.append(f"{name} stands at its bound, {values[k]:.5g}")
        elif np.isfinite(std[k]) and p.logarithmic[k] and std[k] > values[k]:
            sentences.append(
                f"{name} is hardly told by these data: {values[k]:.3g} with a standard deviation "
                f"of {std[k]:.3g}"
            )
    for i in range(len(p.names)):
        for j in range(i):
            if abs(correlation[i, j]) > 0.99 and np.isfinite(std[[i, j]]).all():
                sentences.append(
                    f"{p.names[j]} and {p.names[i]} can hardly be told apart (correlation "
                    f"{correlation[i, j]:.4f})"
                )
    left = (problem.measured - estimate.predicted) / estimate.sigma
    for group, owner in zip(problem.groups, problem.owner, strict=True):
        rows = group.rows[used[group.rows]]
        if owner.kind == "motion" and len(rows) > 20:
            r = left[rows]
            lag = float((r[1:] * r[:-1]).mean() / max(float((r**2).mean()), 1e-300))
            if lag > CORRELATED:
                sentences.append(
                    f"what is left of {group.name} is correlated from row to row ({lag:.2f}): the "
                    "model misses something there, and standard deviations are too small"
                )
        if group.sigma is not None and len(rows) * (1 - len(p.names) / used.sum()) >= 1:
            chi2 = float((left[rows] ** 2).sum()) / (
                len(rows) - len(p.names) * len(rows) / used.sum()
            )
            if chi2 > 4:
                sentences.append(
                    f"{group.name}: residuals are {math.sqrt(chi2):.2g} times the noise that was "
                    "given: the model misses something, or the noise is larger"
                )
    return sentences


def _distinct_optima(problem: Problem, found: Sequence[Estimate]) -> tuple[Any, ...]:
    """Other optima within two of the best in log likelihood: (score above it, values)."""
    best = min(found, key=lambda one: one.score)
    p = problem.parameters
    out: list[Any] = []
    for one in sorted(found, key=lambda e: e.score):
        above = one.score - best.score
        if one is best or above > 2.0:
            continue
        values = p.values(one.x)
        known = [p.values(best.x), *(np.array(list(v.values())) for _, v in out)]
        is_known = any(
            np.all(np.abs(values - other) <= DISTINCT * np.maximum(np.abs(other), p.scale * 1e-3))
            for other in known
        )
        if not is_known:
            out.append((above, dict(zip(p.names, values.tolist(), strict=True))))
    return tuple(out)


def _percent(problem: Problem, predicted: Array, sigma: Array, rows: NDArray[np.bool_]) -> float:
    """100 (1 - |y - m| / |y - mean y|) over the values chosen, each in deviations of its noise."""
    if not rows.any():
        return math.nan
    left = 0.0
    spread = 0.0
    for group in problem.groups:
        own = group.rows[rows[group.rows]]
        if not len(own):
            continue
        y = problem.measured[own]
        centre = problem.measured[group.rows].mean()
        left += float((((y - predicted[own]) / sigma[own]) ** 2).sum())
        spread += float((((y - centre) / sigma[own]) ** 2).sum())
    return 100 * (1 - math.sqrt(left / spread)) if spread > 0 else math.nan


def _quantile(probability: float, freedom: float) -> float:
    """Student's quantile; normal where the noise is known."""
    from scipy.stats import norm, t

    if math.isfinite(freedom):
        return float(t.ppf(probability, max(freedom, 0.5)))
    return float(norm.ppf(probability))
