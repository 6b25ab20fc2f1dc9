"""Laws that damp vibration beside a joint servo: strain feedback, resonant filters, H-infinity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked, number, some
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.kinds import Encoder, Strain, Tachometer
from ..outputs.output import Output
from .controllers import Controller, Gain, JointPD, ReferenceMotion
from .h_infinity_synthesis import h_infinity_controller
from .linear import LinearController
from .plant import Plant, as_measures, plant

__all__ = ["StrainFeedback", "h_infinity", "resonant_damping", "strain_feedback"]

Array = NDArray[np.float64]
Expression = Any
WIDTH = 0.3  # damping ratio of the weight on the first mode in an H-infinity law
MODE_WEIGHTS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
HUGE = 1e30  # rad/s^2 by a radian or rad/s: a gain beyond this means nothing
BAND = 2.0  # times the lowest elastic frequency: within it the least damping is made largest


def _gauges(name: str, value: Any) -> tuple[Strain, ...]:
    given = [value] if isinstance(value, Strain) else value
    if not isinstance(given, list | tuple) or not all(isinstance(x, Strain) for x in given):
        raise SuppleError(f"{name} must be Strains, one for each joint")
    return tuple(given)


@dataclass(frozen=True)
class StrainFeedback(Controller):
    """Joint PD with strain feedback, tau = -Gp e - Gv e' + Gs s + Gd s'.

    From `supple.strain_feedback`. e is the joint error and s one strain per joint, measured from
    its value at rest; s' follows from the elastic rates.

    Attributes
    ----------
    position_gain, velocity_gain : float or tuple
        Gains of the joints.
    strain_gain, rate_gain : float or tuple
        N m and N m s per unit of strain, one value or one per joint.
    gauges : tuple of Strain
        One per joint, in order.
    still : tuple of float
        Strains at rest, one per joint.
    """

    position_gain: Gain
    velocity_gain: Gain
    strain_gain: Gain
    rate_gain: Gain
    gauges: tuple[Strain, ...]
    still: tuple[float, ...] = ()

    checks: ClassVar = {
        "position_gain": some(0),
        "velocity_gain": some(0),
        "strain_gain": some(),
        "rate_gain": some(),
        "gauges": _gauges,
        "still": some(),
    }

    def check(self, model: Model) -> None:
        JointPD(self.position_gain, self.velocity_gain).check(model)
        if len(self.gauges) != model.joints:
            raise SuppleError(
                f"gauges are {len(self.gauges)}: give one Strain for each of {model.joints} joints"
            )
        for gauge in self.gauges:
            gauge.check(model)
        for name in ("strain_gain", "rate_gain"):
            if np.shape(getattr(self, name)) not in ((), (model.joints,)):
                raise SuppleError(f"{name} needs one value, or one for each of {model.joints}")

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        import casadi as ca

        rows = ca.DM(np.vstack([gauge.row(model) for gauge in self.gauges]))
        pd = JointPD(self.position_gain, self.velocity_gain).effort(model, q, qd, wanted)
        return pd + self._strain_effort(model, ca.mtimes(rows, q), ca.mtimes(rows, qd))

    def _strain_effort(self, model: Model, strain: Expression, rate: Expression) -> Expression:
        """Gs s + Gd s' from strains and their rates, (joints,) each."""
        import casadi as ca

        strain_at_rest = np.broadcast_to(self.still if self.still else 0.0, (model.joints,))
        Gs, Gd = (
            ca.DM(np.broadcast_to(gain, (model.joints,)).astype(float))
            for gain in (self.strain_gain, self.rate_gain)
        )
        return Gs * (strain - ca.DM(strain_at_rest)) + Gd * rate

    def of_measurements(self, model: Model) -> tuple[list[str], Any]:
        """Measured are joints, their rates, strains and, where they have a gain, strain rates."""
        import casadi as ca

        self.check(model)
        k = model.joints
        gauges = [name for gauge in self.gauges for name in gauge.names(model)]
        names = [*model.coordinates[:k], *(f"d.{name}" for name in model.coordinates[:k]), *gauges]
        with_rates = bool(np.any(self.rate_gain))
        if with_rates:
            names += [f"d.{name}" for name in gauges]
        y = ca.MX.sym("y", len(names))
        wanted = ReferenceMotion(*(ca.MX.sym(word, k) for word in ("r", "rd", "rdd")))
        pd = JointPD(self.position_gain, self.velocity_gain)
        servo = pd.effort(model, y[:k], y[k : 2 * k], wanted)
        rate = y[3 * k :] if with_rates else ca.DM.zeros(k)
        tau = servo + self._strain_effort(model, y[2 * k : 3 * k], rate)
        inputs = [y, wanted.r, wanted.rd, wanted.rdd]
        return names, ca.Function("law", inputs, [ca.densify(tau)])


@checked
def strain_feedback(
    model: Model,
    theta: ArrayLike,
    position_gain: Annotated[Gain, some(0)],
    velocity_gain: Annotated[Gain, some(0)],
    gauges: Sequence[Strain] | None = None,
) -> StrainFeedback:
    """Joint PD with strain feedback whose gains damp the lowest modes most.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) about which the gains are tuned, rad or m.
    position_gain, velocity_gain : float or sequence
        Gains of the joints, N m/rad and N m s/rad, one value or one per joint.
    gauges : sequence of Strain, optional
        One per joint. Default: at the root of every joint's link.

    Returns
    -------
    StrainFeedback

    Notes
    -----
    The strain gain of every joint is found by a Nelder-Mead search on the linear model: it
    maximises the smallest damping ratio below twice the lowest frequency, while faster modes keep
    theirs. Strain rates are not used, because they would excite the modes that the model leaves
    out.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> law = supple.strain_feedback(model, [0, 0], position_gain=10, velocity_gain=2)
    >>> len(law.strain_gain)
    2
    """
    at, servo, _ = _servo(model, theta, (position_gain, velocity_gain), gauges)
    k = model.joints
    n = model.size
    rows = at.C[2 * k :, :n]
    scale = np.abs(servo[:, :k]).max() / max(np.abs(rows).max(), 1e-300)
    band = _band(at, servo)

    def closed(x: Array) -> Array:
        F = servo.copy()
        F[:, :n] += scale * x[:, None] * rows
        return np.asarray(at.A + at.B @ F)

    best = _maximise_least_damping(closed, np.zeros(k), band)
    measures = at.measures[2 * k :]
    strain_at_rest = tuple(float(v) for v in at.y[2 * k :])
    gain = tuple((scale * best).tolist())
    return StrainFeedback(position_gain, velocity_gain, gain, 0.0, measures, strain_at_rest)  # type: ignore[arg-type]


@checked
def resonant_damping(
    model: Model,
    theta: ArrayLike,
    position_gain: Annotated[Gain, some(0)],
    velocity_gain: Annotated[Gain, some(0)],
    gauges: Sequence[Strain] | None = None,
    filter_damping: Annotated[float, number(0, 10, above=True)] = 0.3,
) -> LinearController:
    """Joint PD with a resonant filter on each joint's strain, tuned about a pose.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) about which the filters are tuned, rad or m.
    position_gain, velocity_gain : float or sequence
        Gains of the joints, N m/rad and N m s/rad, one value or one per joint.
    gauges : sequence of Strain, optional
        One per joint. Default: at the root of every joint's link.
    filter_damping : float
        Damping ratio zeta of the filters.

    Returns
    -------
    LinearController
        It measures the joints by encoders and tachometers.

    Notes
    -----
    tau = -Gp e - Gv e' + g w^2 (a + b s / w) / (s^2 + 2 zeta w s + w^2) strain, where w, g a and g
    b are found by the same search as the gains of `strain_feedback`.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> supple.resonant_damping(model, [0, 0], 10, 2).A.shape
    (4, 4)
    """
    at, servo, pd = _servo(model, theta, (position_gain, velocity_gain), gauges)
    k = model.joints
    n = model.size
    rows = at.C[2 * k :, :n]
    scale = np.abs(servo[:, :k]).max() / max(np.abs(rows).max(), 1e-300)
    band = _band(at, servo)
    first = band / BAND

    def law(x: Array) -> LinearController:
        w = first * np.exp(x[2])
        eye = np.eye(k)
        none = np.zeros((k, k))
        A = np.block([[none, eye], [-(w**2) * eye, -2 * filter_damping * w * eye]])
        B = np.block([[none, none, none, none], [none, none, w**2 * eye, none]])
        C = scale * np.hstack([x[0] * eye, x[1] / w * eye])
        return LinearController.about(at, A, B, C, pd)

    best = _maximise_least_damping(lambda x: law(x).closed(at), np.zeros(3), band)
    return law(best)


@checked
def h_infinity(
    model: Model,
    theta: ArrayLike,
    position_gain: Annotated[Gain, some(0)],
    velocity_gain: Annotated[Gain, some(0)],
    gauges: Sequence[Strain] | None = None,
    effort_weight: Annotated[float, number(1e-9, 1e9)] = 1.0,
    noise: Annotated[float, number(1e-9, 1e9)] = 0.05,
    mode_weight: Annotated[float, number(0, 1e9)] | None = None,
) -> LinearController:
    """Joint PD with an H-infinity controller on the strains, about rest at a pose.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    theta : array_like
        Joint coordinates (joints,) of the operating point, rad or m.
    position_gain, velocity_gain : float or sequence
        Gains of the joints, N m/rad and N m s/rad, one value or one per joint.
    gauges : sequence of Strain, optional
        One per joint. Default: at the root of every joint's link.
    effort_weight : float
        Weight of the effort.
    noise : float
        Weight of the noise of the gauges.
    mode_weight : float, optional
        How much more the least damped mode counts. Default: the value among 0, 1, 3, 10, .., 1000
        that damps the lowest modes most and is stable on a finer model too.

    Returns
    -------
    LinearController

    Notes
    -----
    Minimises the largest gain from disturbing efforts and gauge noise to strain and effort, each in
    units of the servo [Doyle1989]. The strain is weighted by W = 1 + m 2 z w s / (s^2 + 2 z w s +
    w^2) with z = 0.3, w the least damped pole of the servo's loop among the lowest modes, and m the
    `mode_weight`.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1), damping=0.05)
    >>> law = supple.h_infinity(model, [0, 0], position_gain=100, velocity_gain=20)
    >>> law.D.shape[0]
    2
    """
    at, servo, pd = _servo(model, theta, (position_gain, velocity_gain), gauges)
    band = _band(at, servo)
    problem: Exception | None = None
    found: list[tuple[float, LinearController]] = []
    for m in MODE_WEIGHTS if mode_weight is None else (mode_weight,):
        try:
            law = _h_infinity(at, servo, pd, (effort_weight, noise, m), band)
        except (SuppleError, np.linalg.LinAlgError) as fault:  # told below if none is left
            problem = fault
            continue
        found.append((_cost(law.closed(at), band, _usual(at.A + at.B @ servo, band)), law))
    if mode_weight is None and len(found) > 1:  # those that shake modes they do not know are out
        finer = plant(_finer(model, at), theta, at.measures)
        found = [
            (cost, law)
            for cost, law in found
            if np.linalg.eigvals(law.closed(finer)).real.max() < 0
        ]
    if not found:
        raise SuppleError(
            f"no H-infinity law was found ({problem or 'each shakes faster modes'}): try another "
            "effort_weight, noise, mode_weight, or stiffer servo gains"
        ) from problem
    return min(found, key=itemgetter(0))[1]


def _finer(model: Model, at: Plant) -> Model:
    """The same robot under two more assumed modes per link, damped as little as this Model is."""
    from ..architectures.kinds import architecture_of
    from ..beams.basis import AssumedModes
    from ..equations.build import build
    from ..robot import cached_for_robot

    poles = np.linalg.eigvals(at.A)
    swinging = poles[poles.imag > 1e-6 * np.abs(poles).max()]
    ratio = float(np.clip((-swinging.real / np.abs(swinging)).min(initial=0.1), 0.0, 0.1))
    links = architecture_of(model.robot).parts().values()
    bending = max(1, sum(not link.rigid for link in links))
    most = -(-(model.size - model.joints) // bending)
    key = ("finer", most, ratio)
    basis = AssumedModes(most + 2)
    return cached_for_robot(model.robot, key, build, model.robot, basis, damping=ratio)


def _h_infinity(
    at: Plant,
    servo: Array,
    pd: Array,
    weights: tuple[float, float, float],
    band: float,
) -> LinearController:
    """The law of one set of weights: of the effort, of the noise, and of the first mode."""
    effort, noise, peak = weights
    k = len(servo)
    n2 = len(at.A)
    rows = at.C[2 * k :]
    unit = np.abs(servo[:, : n2 // 2]).max()
    size = 1 / max(np.abs(rows).max(), 1e-300)
    A = at.A + at.B @ servo
    B = unit * at.B
    C = size * rows
    poles = np.linalg.eigvals(A)
    in_band = poles[(np.abs(poles) < band) & (poles.imag > 0)]
    w = (
        float(np.abs(in_band[np.argmax(in_band.real / np.abs(in_band))]))
        if len(in_band)
        else band / BAND
    )
    none = np.zeros((k, k))
    eye = np.eye(k)
    # states of W, [f, f'] a strain: f'' = -w^2 f - 2 z w f' + strain
    Af = np.block([[none, eye], [-(w**2) * eye, -2 * WIDTH * w * eye]])
    Bf = np.vstack([none, eye]) @ C
    Cf = np.hstack([none, peak * 2 * WIDTH * w * eye])
    no_effort = np.zeros((2 * k, k))
    # effort and strain in units of their weights, as the equations have them
    found = h_infinity_controller(
        np.block([[A, np.zeros((n2, 2 * k))], [Bf, Af]]),
        np.vstack([B, no_effort]),
        np.vstack([B, no_effort]) / effort,
        np.hstack([C, Cf]),
        np.hstack([C, np.zeros((k, 2 * k))]) / noise,
    )
    states = len(found.A)
    Bk = np.hstack([np.zeros((states, 2 * k)), size / noise * found.B, np.zeros((states, k))])
    return LinearController.about(at, found.A, Bk, unit / effort * found.C, pd.copy())


def _servo(
    model: Model, theta: ArrayLike, gains: tuple[Gain, Gain], gauges: Sequence[Strain] | None
) -> tuple[Plant, Array, Array]:
    """The plant with joints, rates and strains measured; PD as F of [q, qd], and as D of a law."""
    JointPD(*gains).check(model)
    names = model.chain.motors
    k = model.joints
    n = model.size
    rods = [name for name in names if name not in {link.name for link in model.chain.links}]
    if gauges is None and rods:
        raise SuppleError(
            f"{rods[0]} is no link, so that no gauge sits at its root: give gauges=, one Strain "
            f"for each of {k} motors"
        )
    given = [Strain(name) for name in names] if gauges is None else list(_gauges("gauges", gauges))
    if len(given) != k:
        raise SuppleError(f"gauges are {len(given)}: give one Strain for each of {k} joints")
    joints: list[Output] = [Encoder(name) for name in names]
    joints += [Tachometer(name) for name in names]
    at = plant(model, theta, as_measures([*joints, *given], model))
    Gp, Gv = (np.diag(np.broadcast_to(np.asarray(gain, float), (k,))) for gain in gains)
    F = np.zeros((k, 2 * n))
    F[:, :k] = -Gp
    F[:, n : n + k] = -Gv
    if not np.abs(at.B @ F).max(initial=0.0) < HUGE:
        raise SuppleError("position_gain or velocity_gain is beyond every servo: give smaller ones")
    D = np.hstack([-Gp, -Gv, np.zeros((k, k)), Gp])
    return at, F, D


def _band(at: Plant, servo: Array) -> float:
    """BAND times the lowest frequency of the arm with its joints held, rad/s."""
    k = servo.shape[0]
    n = len(at.A) // 2
    stiff = -at.A[n + k :, k:n]
    if not len(stiff):
        raise SuppleError("no link bends: there is nothing to damp")
    # joints held: qdd_f = dq_ff q_f less what the joints' accelerations add
    P = at.B[n:]
    driven_block = at.A[n:, :n] - P @ np.linalg.solve(P[:k], at.A[n : n + k, :n])
    values = np.linalg.eigvals(-driven_block[k:, k:])
    return BAND * float(np.sqrt(np.abs(values).min()))


def _maximise_least_damping(closed: Callable[[Array], Array], start: Array, band: float) -> Array:
    """The gains that make the least damping ratio in the band largest; faster modes keep theirs."""
    from scipy.optimize import minimize

    if not np.isfinite(closed(start)).all():
        raise SuppleError("the gains are too large: the loop cannot be computed with them")
    usual = _usual(closed(start), band)

    def cost(x: Array) -> float:
        return _cost(closed(x), band, usual)

    tries = []
    half = (len(start) + 1) // 2
    for signs in ((-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)):
        x = 0.1 * np.repeat(signs, half)[: len(start)]
        options = {"maxiter": 200 * len(start), "xatol": 1e-4}
        found = minimize(cost, x, method="Nelder-Mead", options=options)
        tries.append((found.fun, found.x))
    best = min(tries, key=itemgetter(0))
    if best[0] > -0.0 or best[0] > cost(start) + 1e-12:
        raise SuppleError("no gain damps the lowest modes: give other servo gains or gauges")
    return np.asarray(best[1])


def _usual(loop: Array, band: float) -> float:
    """The least damping ratio of the modes above the band."""
    before = np.linalg.eigvals(loop)
    return float((-before.real / np.abs(before))[np.abs(before) >= band].min(initial=1.0))


def _cost(loop: Array, band: float, usual: float) -> float:
    """Less the least damping ratio in the band, where faster modes keep theirs; 1 if unstable."""
    if not np.isfinite(loop).all():
        return 1e9
    values = np.linalg.eigvals(loop)
    worst = float(values.real.max())
    if worst >= 0:
        return 1.0 + worst / band
    ratios = -values.real / np.abs(values)
    in_band = ratios[np.abs(values) < band]
    fast = ratios[np.abs(values) >= band]
    kept_fraction = min(1.0, float(fast.min(initial=1.0)) / max(usual, 1e-300))
    return -float(in_band.min(initial=1.0)) * kept_fraction**4
