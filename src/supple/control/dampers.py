"""Laws that damp vibration beside a joint servo: strain feedback, resonant filters, H-infinity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arguments import checked, number, optional, reals, some
from ..equations.model import Model, a_model
from ..errors import SuppleError
from ..outputs.kinds import Encoder, Strain, Tachometer
from ..outputs.output import Output
from .controllers import Controller, Gain, JointPD, Wanted
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
    """tau = -Gp e - Gv e' + Gs s + Gd s', with e the joint error and s a strain for each joint.

    s is taken from where the arm rests by `strain_feedback`; s' comes from the elastic rates.

    Attributes:
        position_gain, velocity_gain: of the joints.  strain_gain, rate_gain: N m and N m s per unit
        of strain, one or one per joint.  gauges: a Strain for each joint, in order.  still: strains
        at rest, one for each joint.
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

    def effort(self, model: Model, q: Expression, qd: Expression, wanted: Wanted) -> Expression:
        import casadi as ca

        rows = ca.DM(np.vstack([gauge.row(model) for gauge in self.gauges]))
        still = np.broadcast_to(self.still if self.still else 0.0, (model.joints,))
        Gs, Gd = (
            ca.DM(np.broadcast_to(gain, (model.joints,)).astype(float))
            for gain in (self.strain_gain, self.rate_gain)
        )
        pd = JointPD(self.position_gain, self.velocity_gain).effort(model, q, qd, wanted)
        return pd + Gs * (ca.mtimes(rows, q) - ca.DM(still)) + Gd * ca.mtimes(rows, qd)


ARGUMENTS: Any = {
    "model": a_model,
    "theta": reals,
    "position_gain": some(0),
    "velocity_gain": some(0),
}


@checked(**ARGUMENTS)
def strain_feedback(
    model: Model,
    theta: ArrayLike,
    position_gain: Gain,
    velocity_gain: Gain,
    gauges: Sequence[Strain] | None = None,
) -> StrainFeedback:
    """Return joint PD with strain feedback whose gains damp the lowest modes most, about theta.

    The strain gain of every joint is found by Nelder and Mead's search on the linear model: the
    least damping ratio below twice the lowest frequency is made largest, while faster modes keep
    theirs. Rates of strain are left out: they would shake the modes that the model leaves out.
    `gauges` None: at the root of every joint's link.
    """
    at, servo, _ = _servo(model, theta, (position_gain, velocity_gain), gauges)
    k, n = model.joints, model.size
    rows = at.C[2 * k :, :n]
    scale = np.abs(servo[:, :k]).max() / max(np.abs(rows).max(), 1e-300)
    band = _band(at, servo)

    def closed(x: Array) -> Array:
        F = servo.copy()
        F[:, :n] += scale * x[:, None] * rows
        return np.asarray(at.A + at.B @ F)

    best = _searched(closed, np.zeros(k), band)
    measures = at.measures[2 * k :]
    still = tuple(float(v) for v in at.y[2 * k :])
    gain = tuple((scale * best).tolist())
    return StrainFeedback(position_gain, velocity_gain, gain, 0.0, measures, still)  # type: ignore[arg-type]


@checked(**ARGUMENTS, filter_damping=number(0, 10, above=True))
def resonant_damping(
    model: Model,
    theta: ArrayLike,
    position_gain: Gain,
    velocity_gain: Gain,
    gauges: Sequence[Strain] | None = None,
    filter_damping: float = 0.3,
) -> LinearController:
    """Return joint PD with a resonant filter on each joint's strain, tuned at rest at theta.

    tau = -Gp e - Gv e' + g w^2 (a + b s / w) / (s^2 + 2 zeta w s + w^2) strain; w, g a and g b are
    found as the gains of `strain_feedback` are; zeta is `filter_damping`. Joints are measured by
    encoders and tachometers.
    """
    at, servo, pd = _servo(model, theta, (position_gain, velocity_gain), gauges)
    k, n = model.joints, model.size
    rows = at.C[2 * k :, :n]
    scale = np.abs(servo[:, :k]).max() / max(np.abs(rows).max(), 1e-300)
    band = _band(at, servo)
    first = band / BAND

    def law(x: Array) -> LinearController:
        w, eye, none = first * np.exp(x[2]), np.eye(k), np.zeros((k, k))
        A = np.block([[none, eye], [-(w**2) * eye, -2 * filter_damping * w * eye]])
        B = np.block([[none, none, none, none], [none, none, w**2 * eye, none]])
        C = scale * np.hstack([x[0] * eye, x[1] / w * eye])
        return LinearController.about(at, A, B, C, pd)

    best = _searched(lambda x: law(x).closed(at), np.zeros(3), band)
    return law(best)


@checked(
    **ARGUMENTS,
    effort_weight=number(1e-9, 1e9),
    noise=number(1e-9, 1e9),
    mode_weight=optional(number(0, 1e9)),
)
def h_infinity(
    model: Model,
    theta: ArrayLike,
    position_gain: Gain,
    velocity_gain: Gain,
    gauges: Sequence[Strain] | None = None,
    effort_weight: float = 1.0,
    noise: float = 0.05,
    mode_weight: float | None = None,
) -> LinearController:
    """Return joint PD with an H-infinity law on the strains, by python-control, at rest at theta.

    It makes the largest gain least from efforts that disturb and noise on the gauges to strain
    and effort, each in units of the servo: `effort_weight` weighs the effort, `noise` the noise.
    The strain is weighed by W = 1 + m 2 z w s / (s^2 + 2 z w s + w^2), w the least damped pole of
    the servo's loop among the lowest modes, z = 0.3: `mode_weight` m says how much more that mode
    counts. Unless given, it is the one of 0, 1, 3, 10, .., 1000 that damps the lowest modes most
    among those that are stable on a finer model too.
    """
    try:
        import control
    except ImportError:
        raise SuppleError("python-control is not installed: pip install supple[control]") from None
    at, servo, pd = _servo(model, theta, (position_gain, velocity_gain), gauges)
    band = _band(at, servo)
    problem: Exception | None = None
    found: list[tuple[float, LinearController]] = []
    for m in MODE_WEIGHTS if mode_weight is None else (mode_weight,):
        try:
            law = _h_infinity(control, at, servo, pd, (effort_weight, noise, m), band)
        except Exception as fault:  # noqa: BLE001 - the library's, told below if none is left
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
            f"no H-infinity law was found ({type(problem).__name__}: {problem}): try another "
            "effort_weight, noise, mode_weight, or stiffer servo gains"
        ) from problem
    return min(found, key=itemgetter(0))[1]


def _finer(model: Model, at: Plant) -> Model:
    """The same robot under two more assumed modes per link, damped as little as this Model is."""
    from ..architectures.kinds import architecture_of
    from ..beams.basis import AssumedModes
    from ..equations.build import build
    from ..robot import remembered

    poles = np.linalg.eigvals(at.A)
    swinging = poles[poles.imag > 1e-6 * np.abs(poles).max()]
    ratio = float(np.clip((-swinging.real / np.abs(swinging)).min(initial=0.1), 0.0, 0.1))
    links = architecture_of(model.robot).parts().values()
    bending = max(1, sum(not link.rigid for link in links))
    most = -(-(model.size - model.joints) // bending)
    key, basis = ("finer", most, ratio), AssumedModes(most + 2)
    return remembered(model.robot, key, build, model.robot, basis, damping=ratio)


def _h_infinity(
    control: Any,
    at: Plant,
    servo: Array,
    pd: Array,
    weights: tuple[float, float, float],
    band: float,
) -> LinearController:
    """The law of one set of weights: of the effort, of the noise, and of the first mode."""
    effort, noise, peak = weights
    k, n2 = len(servo), len(at.A)
    rows = at.C[2 * k :]
    unit = np.abs(servo[:, : n2 // 2]).max()
    size = 1 / max(np.abs(rows).max(), 1e-300)
    A, B, C = at.A + at.B @ servo, unit * at.B, size * rows
    poles = np.linalg.eigvals(A)
    near = poles[(np.abs(poles) < band) & (poles.imag > 0)]
    w = float(np.abs(near[np.argmax(near.real / np.abs(near))])) if len(near) else band / BAND
    none, eye = np.zeros((k, k)), np.eye(k)
    # states of W, [f, f'] a strain: f'' = -w^2 f - 2 z w f' + strain
    Af = np.block([[none, eye], [-(w**2) * eye, -2 * WIDTH * w * eye]])
    Bf = np.vstack([none, eye]) @ C
    Cf = np.hstack([none, peak * 2 * WIDTH * w * eye])
    wide = np.zeros((2 * k, k))
    system = control.ss(
        np.block([[A, np.zeros((n2, 2 * k))], [Bf, Af]]),
        np.block([[B, np.zeros((n2, k)), B], [wide, wide, wide]]),
        np.block([[C, Cf], [np.zeros((k, n2 + 2 * k))], [C, np.zeros((k, 2 * k))]]),
        np.block([[none, none, none], [none, none, effort * eye], [none, noise * eye, none]]),
    )
    found = control.hinfsyn(system, k, k)[0]
    Bk = np.hstack([np.zeros((len(found.A), 2 * k)), size * found.B, np.zeros((len(found.A), k))])
    D = pd.copy()
    D[:, 2 * k : 3 * k] += unit * size * found.D
    return LinearController.about(at, np.array(found.A), Bk, unit * np.array(found.C), D)


def _servo(
    model: Model, theta: ArrayLike, gains: tuple[Gain, Gain], gauges: Sequence[Strain] | None
) -> tuple[Plant, Array, Array]:
    """The plant with joints, rates and strains measured; PD as F of [q, qd], and as D of a law."""
    JointPD(*gains).check(model)
    names, k, n = model.chain.motors, model.joints, model.size
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
    F[:, :k], F[:, n : n + k] = -Gp, -Gv
    if not np.abs(at.B @ F).max(initial=0.0) < HUGE:
        raise SuppleError("position_gain or velocity_gain is beyond every servo: give smaller ones")
    D = np.hstack([-Gp, -Gv, np.zeros((k, k)), Gp])
    return at, F, D


def _band(at: Plant, servo: Array) -> float:
    """BAND times the lowest frequency of the arm with its joints held, rad/s."""
    k, n = servo.shape[0], len(at.A) // 2
    stiff = -at.A[n + k :, k:n]
    if not len(stiff):
        raise SuppleError("no link bends: there is nothing to damp")
    # joints held: qdd_f = dq_ff q_f less what the joints' accelerations add
    P = at.B[n:]
    held = at.A[n:, :n] - P @ np.linalg.solve(P[:k], at.A[n : n + k, :n])
    values = np.linalg.eigvals(-held[k:, k:])
    return BAND * float(np.sqrt(np.abs(values).min()))


def _searched(closed: Callable[[Array], Array], start: Array, band: float) -> Array:
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
    near, fast = ratios[np.abs(values) < band], ratios[np.abs(values) >= band]
    kept = min(1.0, float(fast.min(initial=1.0)) / max(usual, 1e-300))
    return -float(near.min(initial=1.0)) * kept**4
