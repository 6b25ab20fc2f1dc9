"""Weighted least squares over several experiments: the fit, its noise, its covariance.

Minimised is sum ((y - m(x)) / sigma)^2 + sum ((p - mean) / std)^2 over measured values y and
priors. Sizes sigma that are not known are estimated group by group from what the fit leaves over,
each with its own degrees of freedom n_g - tr(H_g), H the hat matrix, and the fit is repeated with
them until they stand (feasible generalised least squares).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import SuppleError
from .experiments.experiment import Experiment, NoiseGroup
from .parameters import ParameterSet

__all__ = ["Estimate", "Problem"]

Array = NDArray[np.float64]
STEP = 1e-4  # of x in differences: relative for parameters fitted by their logarithm
ROUNDS = 8  # of estimating noise
ANNEALING = (0.15, 0.06, 0.025, 0.01)  # sizes of noise with which lines are paired at first
SMALLEST_NOISE = 2e-5  # relative, of frequencies that are paired
MOST_PAIRINGS = 4  # times that lines are paired again with the modes of the fitted robot
SMALLEST_PAIRED_NOISE = 5e-4  # relative, with which lines are paired and pairings are compared
LOSSES = ("linear", "soft_l1", "huber", "cauchy")
NULL = 1e-6  # singular value over the largest one below which nothing is known of a direction


@dataclass
class Estimate:
    """The state of a fit.

    Attributes
    ----------
    x
        (p,) the optimiser's numbers.
    sigma
        (n,) noise of every value.
    jacobian
        (n, p) of the predictions by x.
    predicted
        (n,).
    freedom
        Of each noise group, infinite where known.
    score
        Minus the log likelihood, smaller is better.
    held
        (q, p) directions that were not fitted since nothing is known of them, rows.
    """

    x: Array
    sigma: Array
    jacobian: Array
    predicted: Array
    freedom: list[float]
    score: float
    held: Array
    weights: Array
    converged: bool = True
    pairs: list[NDArray[np.int64]] = field(default_factory=list)


class Problem:
    """Experiments, parameters, and which values are used for the fit."""

    def __init__(
        self,
        parameters: ParameterSet,
        experiments: Sequence[Experiment],
        loss: str = "linear",
        training: NDArray[np.bool_] | None = None,
    ) -> None:
        self.parameters = parameters
        self.experiments = list(experiments)
        self.loss = loss
        self.measured = np.concatenate([e.measured for e in self.experiments])
        self.training = np.ones(len(self.measured), bool) if training is None else training
        self.groups: list[NoiseGroup] = []
        self.owner: list[Experiment] = []
        offset = 0
        self.offsets: list[int] = []
        for experiment in self.experiments:
            self.offsets.append(offset)
            for group in experiment.groups:
                self.groups.append(
                    NoiseGroup(
                        group.name, group.rows + offset, group.sigma, group.weight, group.mixed
                    )
                )
                self.owner.append(experiment)
            offset += len(experiment.measured)
        self.pairing = any(e.pairing for e in self.experiments)
        self.evaluations = 0
        self.prior_at = np.zeros(len(parameters.names))  # where slopes of priors are taken
        # values count several times where the same pose was measured again
        self.size = offset

    # ------------------------------------------------------------------ predictions

    def predict(self, x: Array) -> Array:
        """Return the predictions of all experiments, (n,)."""
        self.evaluations += 1
        setting = self.parameters.setting(x)
        return np.concatenate([e.predict(setting) for e in self.experiments])

    def jacobian(self, x: Array) -> Array:
        """Return d prediction / d x, (n, p), by central differences of fourth order.

        Frequencies are roots to twelve digits and responses exact, so that these derivatives have
        nine digits or more; runs are integrated to about as many.
        """
        low, high = self.parameters.limits()
        columns = []
        for k in range(len(x)):
            h = STEP
            if x[k] - 2 * h < low[k] or x[k] + 2 * h > high[k]:  # at a bound: one-sided
                sign = 1.0 if x[k] + 2 * h <= high[k] else -1.0
                at = [x.copy() for _ in range(3)]
                at[1][k] += sign * h
                at[2][k] += 2 * sign * h
                f0, f1, f2 = (self.predict(one) for one in at)
                columns.append(sign * (-1.5 * f0 + 2 * f1 - 0.5 * f2) / h)
                continue
            fine = all(e.kind in ("frequencies", "statics") for e in self.experiments)
            total: Array = np.zeros(self.size)
            nodes = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))
            for place, weight in nodes if fine else ((1, 0.5), (-1, -0.5)):
                moved = x.copy()
                moved[k] += place * h
                total = total + weight * self.predict(moved)
            columns.append(total / h)
        return np.stack(columns, axis=1)

    def used_values(self, predicted: Array) -> NDArray[np.bool_]:
        """Return which values count: of the training set, and with a prediction."""
        return self.training & np.isfinite(predicted)

    # ------------------------------------------------------------------ noise

    def first_sigma(self) -> Array:
        """Return a first guess of the noise: a per cent of what was measured."""
        sigma = np.empty(self.size)
        for group, owner in zip(self.groups, self.owner, strict=True):
            values = self.measured[group.rows]
            if group.sigma is not None:
                sigma[group.rows] = group.sigma
            elif owner.kind == "frequencies":
                sigma[group.rows] = 0.01 * group.weight
            elif group.mixed:
                size = np.hypot(*np.split(values, 2))
                level = 0.01 * np.sqrt(np.mean(size**2))
                sigma[group.rows] = np.tile(np.hypot(0.05 * size, level), 2)
            else:
                spread = float(np.std(values)) or float(np.abs(values).max()) or 1.0
                weight = group.weight / np.sqrt(np.mean(group.weight**2))
                sigma[group.rows] = 0.01 * spread * weight
        return sigma

    def estimated_sigma(
        self, predicted: Array, jacobian: Array, sigma: Array, held: Array
    ) -> tuple[Array, list[float]]:
        """Return the noise that the fit leaves over, and the degrees of freedom of each group."""
        used = self.used_values(predicted)
        C = self.covariance(jacobian, sigma, used, held)
        new = sigma.copy()
        freedom: list[float] = []
        for group in self.groups:
            rows = group.rows[used[group.rows]]
            if group.sigma is not None or not len(rows):
                freedom.append(math.inf)
                continue
            scaled = jacobian[rows] / sigma[rows, None]
            leverage = float(np.einsum("ij,jk,ik->", scaled, C, scaled))
            left = self.measured[rows] - predicted[rows]
            own = len(rows) - leverage
            freedom.append(own)
            if own < 0.5:
                continue  # as many parameters as values: their noise cannot be told
            if group.mixed:
                modulus = group.modulus(predicted)
                elsewhere = np.linalg.pinv(C) - scaled.T @ scaled
                group.shares = _noise_shares(
                    left, modulus[used[group.rows]], jacobian[rows], elsewhere
                )
                squares = group.shares[0] + group.shares[1] * modulus**2
                smallest = 1e-12 * max(float(modulus.max()), 1e-300)
                new[group.rows] = np.maximum(np.sqrt(squares), smallest)
                continue
            weight = group.weight[np.searchsorted(group.rows, rows)]
            size = left / weight
            if self.loss == "linear":
                variance = float(size @ size) / own
            else:
                middle = 1.4826 * float(np.median(np.abs(size)))
                variance = middle**2 * len(rows) / own
            smallest = 1e-12 * max(float(np.abs(self.measured[rows]).max()), 1e-300)
            new[group.rows] = group.weight * max(math.sqrt(variance), smallest)
        return new, freedom

    def covariance(
        self, jacobian: Array, sigma: Array, used: NDArray[np.bool_], held: Array
    ) -> Array:
        """Return (J' W J + priors)^-1 of x, zero along directions that are held."""
        scaled = jacobian[used] / sigma[used, None]
        information = scaled.T @ scaled + np.diag(self._prior_weights() ** 2)
        free = _complement(held, jacobian.shape[1])
        inner = free.T @ information @ free
        size = np.sqrt(np.maximum(np.diag(inner), 1e-300))
        inverse = np.linalg.pinv(inner / np.outer(size, size), rcond=1e-14) / np.outer(size, size)
        return np.asarray(free @ inverse @ free.T)

    def covariance_of_estimate(
        self, estimate: Estimate, used: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Return the covariance of x and the degrees of freedom of each of its variances.

        Sizes of noise that are estimated are estimated with an error of their own. With the
        covariance W of these sizes the estimates scatter more than known weights would have it, by
        2 C (sum W_ij (Q_ij - P_i C P_j)) C, and a variance c of C has 2 c^2 / (g' W g) degrees of
        freedom, g its slopes by the sizes (Kenward and Roger 1997, for independent values; after
        Welch and Satterthwaite where each group has one size).
        """
        C = self.covariance(estimate.jacobian, estimate.sigma, used, estimate.held)
        slopes: list[Array] = []  # d variance / d size over the variance, (n,) each
        for group in self.groups:
            rows = group.rows[used[group.rows]]
            if group.sigma is not None or not len(rows):
                continue
            parts = [group.weight**2]
            if group.mixed:
                modulus = group.modulus(estimate.predicted)
                parts = [np.ones(len(modulus))] if group.shares[0] else []
                parts += [modulus**2] if group.shares[1] else []
            for part in parts:
                slope = np.zeros(self.size)
                slope[group.rows] = part / estimate.sigma[group.rows] ** 2
                slopes.append(slope[used] / np.linalg.norm(slope[used]))
        if not slopes:
            return C, np.full(len(C), math.inf)
        J = estimate.jacobian[used] / estimate.sigma[used, None]
        P = [-J.T @ (slope[:, None] * J) for slope in slopes]
        count = len(slopes)
        information = np.empty((count, count))
        for i in range(count):
            for j in range(count):
                Q = J.T @ ((slopes[i] * slopes[j])[:, None] * J)
                taken = -2 * np.trace(C @ Q) + np.trace(C @ P[i] @ C @ P[j])
                information[i, j] = 0.5 * (slopes[i] @ slopes[j] + taken)
        # shares of the noise that the data cannot tell apart leave it singular
        W = np.linalg.pinv(information, hermitian=True)
        wider = np.zeros_like(C)
        for i in range(count):
            for j in range(count):
                Q = J.T @ ((slopes[i] * slopes[j])[:, None] * J)
                wider += W[i, j] * (Q - P[i] @ C @ P[j])
        freedom = np.full(len(C), math.inf)
        for k in range(len(C)):
            g = np.array([-(C @ part @ C)[k, k] for part in P])
            spread = float(g @ W @ g)
            if spread > 0:
                freedom[k] = 2 * C[k, k] ** 2 / spread
        return C + 2 * C @ wider @ C, freedom

    def _prior_weights(self) -> Array:
        """Slopes of x in prior standard deviations, (p,); zero without a prior."""
        p = self.parameters
        slopes = p.slopes(self.prior_at)
        return np.where(np.isfinite(p.prior_std), slopes / p.prior_std, 0.0)

    # ------------------------------------------------------------------ the fit

    def fit(self, start: Array, hold: Array | None = None) -> Estimate:
        """Fit from a start; lines that have to be paired are paired on the way."""
        held_directions = np.zeros((0, len(start))) if hold is None else hold
        sigma = self.first_sigma()
        x = np.array(start, float)
        if self.pairing:
            x, sigma = self._fit_and_pair(x, sigma, held_directions)

        estimate = self._fit_with_noise(x, sigma, held_directions)
        pairing_cost = 0.0
        if self.pairing:
            for _ in range(MOST_PAIRINGS):
                pairs_of_fit = self._current_pairs()
                pairing_cost = self._pair_lines(estimate.x, estimate.sigma)
                estimate.pairs = self._current_pairs()
                estimate.predicted = self.predict(estimate.x)
                if _same_pairs(pairs_of_fit, estimate.pairs):
                    break
                if int(self.used_values(estimate.predicted).sum()) < len(x):
                    break  # too few lines belong to modes: the caller says so
                estimate = self._fit_with_noise(estimate.x, estimate.sigma, held_directions)
                estimate.pairs = self._current_pairs()

        log_likelihood = self._minus_log_likelihood(estimate.x, estimate.sigma, estimate.predicted)
        estimate.score = pairing_cost + log_likelihood
        return estimate

    def _fit_with_noise(self, x: Array, sigma: Array, held: Array) -> Estimate:
        """Fit the parameters and estimate the unknown noise in turn, until the noise stands."""
        unknown = [group for group in self.groups if group.sigma is None]
        # with one unknown size alone the fit does not depend on it
        alone = len(unknown) == 1 == len(self.groups) and not unknown[0].mixed
        alone = alone and self.loss == "linear"
        alone = alone and not np.isfinite(self.parameters.prior_std).any()

        for turn in range(ROUNDS):
            rough = turn == 0 and not alone and bool(unknown)
            x, converged, jacobian = self._minimise(
                x, sigma, held, tolerance=1e-4 if rough else 1e-8, evaluations=12 if turn else 40
            )
            predicted = self.predict(x)
            self.prior_at = x
            new_sigma, freedom = self.estimated_sigma(predicted, jacobian, sigma, held)
            change = float(np.abs(np.log(new_sigma / sigma)).max())
            sigma = new_sigma
            if alone or not unknown or change < 0.01:
                break

        used = self.used_values(predicted)
        left = (self.measured[used] - predicted[used]) / sigma[used]
        weights = _robust_weights(left, self.loss)[0]
        return Estimate(x, sigma, jacobian, predicted, freedom, math.inf, held, weights, converged)

    def _pair_lines(self, x: Array, sigma: Array) -> float:
        """Pair lines with the modes of a fitted robot; return minus the log likelihood of it."""
        setting = self.parameters.setting(x)
        total = 0.0
        for experiment in self.experiments:
            if experiment.pairing:
                noise = float(np.median(sigma[self._rows(experiment)]))
                total += experiment.assign(setting, noise)
        return total

    def _current_pairs(self) -> list[NDArray[np.int64]]:
        """The mode of each line, for every experiment with lines to pair."""
        pairs = []
        for experiment in self.experiments:
            if experiment.pairing:
                pairs.append(np.array(getattr(experiment, "mode", np.zeros(0, int))))
        return pairs

    def _minus_log_likelihood(self, x: Array, sigma: Array, predicted: Array) -> float:
        """Minus the log likelihood of a fit, by which fits from several starts are compared.

        Given deviations of paired lines count as no smaller than those with which lines are paired:
        with tiny ones a fit that calls every line foreign would be the likeliest of all.
        """
        deviation = sigma.copy()
        for group, owner in zip(self.groups, self.owner, strict=True):
            if owner.pairing and group.sigma is not None:
                deviation[group.rows] = np.maximum(sigma[group.rows], SMALLEST_PAIRED_NOISE)
        used = self.used_values(predicted)
        left = (self.measured[used] - predicted[used]) / deviation[used]
        priors = 0.5 * float((self._prior_residual(x) ** 2).sum())
        return float(0.5 * left @ left + np.log(deviation[used]).sum()) + priors

    def _rows(self, experiment: Experiment) -> slice:
        start = self.offsets[self.experiments.index(experiment)]
        return slice(start, start + len(experiment.measured))

    def _fit_and_pair(self, x: Array, sigma: Array, held: Array) -> tuple[Array, Array]:
        """Pair and fit in turn, the noise assumed large at first, until pairs and noise stand.

        The noise of lines is estimated with one value of a per cent added, so that a few lines that
        happen to fit exactly do not make all others foreign.
        """
        lines = [e for e in self.experiments if e.pairing]
        noise = ANNEALING[0]
        before: list[NDArray[np.int64]] = []
        for step in range(14):
            setting = self.parameters.setting(x)
            for experiment in lines:
                experiment.assign(setting, noise)
                rows = self._rows(experiment)
                group = experiment.groups[0]
                known = group.sigma
                sigma[rows] = noise if known is None else np.maximum(known, noise)
            now = self._current_pairs()
            x, _, _ = self._minimise(x, sigma, held, evaluations=6, tolerance=1e-4, loss="soft_l1")
            predicted = self.predict(x)
            rows_of_lines = np.concatenate(
                [np.arange(self.size)[self._rows(experiment)] for experiment in lines]
            )
            paired = rows_of_lines[self.used_values(predicted)[rows_of_lines]]
            left = self.measured[paired] - predicted[paired]
            freedom = max(len(left) - len(x) + len(held), 0)
            # a foreign line among them must not widen the noise: the median does not feel it
            middle = 1.4826 * float(np.median(np.abs(left))) if len(left) else 0.0
            spread = min(float(left @ left), len(left) * middle**2)
            own = math.sqrt((spread + 0.01**2) / (freedom + 1))
            same = bool(before) and _same_pairs(now, before)
            target = ANNEALING[step + 1] if step + 1 < len(ANNEALING) else 0.0
            smaller = max(own, target, SMALLEST_NOISE)
            settled = same and abs(math.log(smaller / noise)) < 0.2
            noise = min(smaller, noise)
            before = now
            if settled and step >= len(ANNEALING) - 1:
                break
        setting = self.parameters.setting(x)
        for experiment in lines:
            experiment.assign(setting, noise)
            rows = self._rows(experiment)
            known = experiment.groups[0].sigma
            sigma[rows] = noise if known is None else known
        return x, sigma

    def _prior_residual(self, x: Array) -> Array:
        p = self.parameters
        has = np.isfinite(p.prior_std)
        return np.where(
            has,
            (p.values(x) - np.where(has, p.prior_mean, 0.0)) / np.where(has, p.prior_std, 1.0),
            0.0,
        )

    def residual(self, x: Array, sigma: Array) -> Array:
        """Return what is left over, in deviations, priors last; zero without a prediction."""
        predicted = self.predict(x)
        used = self.used_values(predicted)
        left = np.where(used, (self.measured - np.where(used, predicted, 0.0)) / sigma, 0.0)
        return np.concatenate([left, self._prior_residual(x)])

    def residual_jacobian(self, x: Array, sigma: Array) -> tuple[Array, Array]:
        """Return d residual / d x, and d prediction / d x."""
        slopes = self.jacobian(x)
        used = self.training & np.isfinite(slopes).all(axis=1)
        J = np.where(used[:, None], -slopes / sigma[:, None], 0.0)
        p = self.parameters
        has = np.isfinite(p.prior_std)
        prior = np.diag(np.where(has, p.slopes(x) / np.where(has, p.prior_std, 1.0), 0.0))
        return np.vstack([np.where(np.isfinite(J), J, 0.0), prior]), slopes

    def _minimise(
        self,
        x: Array,
        sigma: Array,
        held: Array,
        evaluations: int = 40,
        tolerance: float = 1e-8,
        loss: str | None = None,
    ) -> tuple[Array, bool, Array]:
        """Levenberg and Marquardt's method within bounds, on the directions that are not held.

        Returns x, whether it came to rest, and the Jacobian of the predictions last computed.
        """
        from scipy.optimize import least_squares

        low, high = self.parameters.limits()
        # a start at a bound would creep: begin a little inside
        inside = np.clip(x, low + 0.02, np.maximum(high - 0.02, low + 0.02))
        narrow = np.isfinite(low) & np.isfinite(high) & (high - low <= 0.05)
        inside[narrow] = 0.5 * (low[narrow] + high[narrow])
        inside = np.where((x > low + 1e-3) & (x < high - 1e-3), x, inside)
        free = _complement(held, len(x))
        if not free.shape[1]:
            return x, True, self.jacobian(x)
        is_full = free.shape[1] == len(x)

        def clipped(z: Array) -> Array:
            return z if is_full else np.clip(inside + free @ z, low, high)

        def residual(z: Array) -> Array:
            try:
                value = self.residual(clipped(z), sigma)
            except SuppleError:
                return np.full(self.size + len(x), 1e6)
            return np.where(np.isfinite(value), value, 1e6)

        last: list[Array] = []

        def slopes(z: Array) -> Array:
            J, of_predictions = self.residual_jacobian(clipped(z), sigma)
            last[:] = [of_predictions]
            return J if is_full else J @ free

        bounds = (low, high) if is_full else (-np.inf, np.inf)
        start = inside if is_full else np.zeros(free.shape[1])
        found = least_squares(
            residual,
            start,
            jac=slopes,
            bounds=bounds,
            loss=loss or self.loss,
            method="trf",
            x_scale=1.0,
            max_nfev=evaluations,
            xtol=tolerance,
            ftol=tolerance,
            gtol=1e-9,
        )
        return clipped(found.x), bool(found.status > 0), last[0]


def _same_pairs(first: Sequence[NDArray[np.int64]], second: Sequence[NDArray[np.int64]]) -> bool:
    """Whether every line is paired with the same mode."""
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _complement(held: Array, size: int) -> Array:
    """Orthonormal columns of all directions but those held (rows)."""
    if not len(held):
        return np.eye(size)
    _, _, rows = np.linalg.svd(held, full_matrices=True)
    return np.asarray(rows[len(held) :].T)


def _robust_weights(left: Array, loss: str) -> tuple[Array, Array]:
    """Return weights rho'(z) and slopes of psi = rho' r, with z = r^2, of scipy's losses."""
    z = left**2
    if loss == "soft_l1":
        return (1 + z) ** -0.5, (1 + z) ** -1.5
    if loss == "huber":
        inside = z <= 1
        root = np.sqrt(np.maximum(z, 1e-300))
        return np.where(inside, 1.0, 1 / root), inside.astype(float)
    if loss == "cauchy":
        return 1 / (1 + z), (1 - z) / (1 + z) ** 2
    return np.ones(len(left)), np.ones(len(left))


def _noise_shares(
    left: Array, modulus: Array, jacobian: Array, elsewhere: Array
) -> tuple[float, float]:
    """Return a^2 and b^2 of noise with var = a^2 + b^2 |H|^2, by restricted maximum likelihood.

    The restricted likelihood subtracts what the fitted parameters have taken from the residuals:
    values of high leverage, at resonances, leave less over than their noise. One of the two is zero
    unless both together are likelier by Schwarz's criterion, since a share that is not there but
    estimated gives values at the wrong places a large weight. `left` (n,) are residuals, `modulus`
    their |H|, `jacobian` (n, p) theirs by x, `elsewhere` (p, p) the information of the others.
    """
    from scipy.optimize import minimize

    squares = left**2
    level = float(np.mean(squares))
    share = level / max(float(np.mean(modulus**2)), 1e-300)
    smallest = 1e-12 * level

    def shares(y: Sequence[float]) -> tuple[float, float]:
        a2, b2 = np.exp(np.clip(y, -40.0, 10.0))
        return level * float(a2), share * float(b2)

    def cost(a2: float, b2: float) -> float:
        variance = a2 + b2 * modulus**2 + smallest
        information = elsewhere + jacobian.T @ (jacobian / variance[:, None])
        determinant = np.linalg.slogdet(information)[1]
        return float((np.log(variance) + squares / variance).sum() + determinant)

    options = {"xatol": 1e-3, "fatol": 1e-4}
    constant = minimize(lambda y: cost(shares([y[0], 0.0])[0], 0.0), [0.0], method="Nelder-Mead")
    relative = minimize(lambda y: cost(0.0, shares([0.0, y[0]])[1]), [0.0], method="Nelder-Mead")
    both = min(
        (
            minimize(lambda y: cost(*shares(y)), start, method="Nelder-Mead", options=options)
            for start in ((constant.x[0], -3.0), (-3.0, relative.x[0]))
        ),
        key=lambda found: float(found.fun),
    )
    if both.fun + math.log(len(left)) < min(constant.fun, relative.fun):
        return shares(both.x)
    if constant.fun < relative.fun:
        return shares([constant.x[0], 0.0])[0], 0.0
    return 0.0, shares([0.0, relative.x[0]])[1]
