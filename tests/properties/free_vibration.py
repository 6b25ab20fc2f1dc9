"""Free vibration of undamped robots: what every stepper must keep, and how far it may drift."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

import supple
from properties.random_arms import random_arm
from supple.architectures import delta
from supple.equations.equilibrium import stiffness_at

LIBRARY = (
    *("de-luca-two-link", "di-castri-two-link", "industrial-3", "theodore-rrp", "kuo-delta"),
    *("two-arms", "four-bar", "five-bar", "scara-parallel", "hexapod"),
)
DELTA = (0.02, 0.01, 0.5)


@dataclass(frozen=True)
class Free:
    """A model at a bent start and the rates of the modes that were excited, by eigh(K, M)."""

    model: supple.Model
    q0: np.ndarray
    omega: np.ndarray  # of the modes excited

    @property
    def period(self) -> float:
        """Of the highest mode excited."""
        return 2 * np.pi / float(self.omega[-1])


def library_model(name: str) -> tuple[supple.Model, np.ndarray]:
    """A library robot without gravity, damping and friction, and joints with nothing special."""
    robot = supple.load(name).with_("gravity", [0, 0, 0])
    model = supple.build(robot, supple.AssumedModes(1), damping=0.0)
    if name == "kuo-delta":
        return model, delta.inverse(robot, DELTA)[0, :, 0]
    if isinstance(robot, supple.MechanismRobot):
        return model, model.chain.pose()[: model.joints]
    theta = 0.3 * np.arange(1, model.joints + 1)
    for i in model.chain.sliding:
        theta[model.chain.theta[i]] = 0.6
    return model, theta


def random_model(seed: int) -> tuple[supple.Model, np.ndarray] | None:
    """A random arm, or None where it cannot be built."""
    arm = random_arm(seed)
    try:
        return supple.build(arm.robot, supple.AssumedModes(1), damping=0.0), arm.theta
    except supple.SuppleError:
        return None


def random_models(count: int) -> list[int]:
    """Seeds of the first random arms that can be built."""
    out: list[int] = []
    seed = 0
    while len(out) < count:
        if random_model(seed) is not None:
            out.append(seed)
        seed += 1
    return out


def bent(model: supple.Model, theta: np.ndarray, modes: int | None) -> Free:
    """A start at rest with equal energies in the lowest modes (None: in all), 1e-4 at most."""
    q = np.concatenate([theta, np.zeros(model.size - model.joints)])
    squares, shapes = eigh(stiffness_at(model, q), model.mass_matrix(q))
    elastic = squares > 1e-6 * squares[-1]
    omega = np.sqrt(squares[elastic])
    shapes = shapes[:, elastic]
    omega = omega[:modes]
    shapes = shapes[:, :modes]
    shift = (shapes / omega).sum(axis=1)
    return Free(model, q + 1e-4 * shift / np.abs(shift).max(), omega)


def drift(free: Free, **options: object) -> tuple[supple.Response, float, float]:
    """A run of 100 periods, the energy it lost, and how far it is off after 20, in energy's norm.

    Against `tight`, with every warning an error.
    """
    model = free.model
    T = free.period
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = supple.simulate(model, q0=free.q0, duration=100 * T, dt=T / 2.5, **options)  # type: ignore[arg-type]
    at = int(np.searchsorted(run.t, 20 * T))
    exact = tight(free, float(run.t[at]), run.method, options)
    lost = float(np.abs(run.energy / run.energy[0] - 1).max())
    dq = run.q[at] - exact.q[-1]
    dv = run.qd[at] - exact.qd[-1]
    M = model.mass_matrix(exact.q[-1])
    K = stiffness_at(model, exact.q[-1])
    off = float(np.sqrt((dq @ K @ dq + dv @ M @ dv) / 2 / exact.energy[0]))
    return run, lost, off


def tight(free: Free, duration: float, method: str, options: dict[str, object]) -> supple.Response:
    """The same motion at a tolerance of 1e-12 by another method than the one on trial.

    By gauss, whose steps stability does not bound; a run of gauss itself, or of a law, by adams, or
    by bdf where a mode far above those excited would hold adams down. On 20 periods of the slow
    modes of random arms gauss and bdf at 1e-12 agree to 1e-12 of the deflections. Where loops are
    closed both are dear: by rk4, whose steps turn the fastest mode by half a radian, and the modes
    excited by no more than 0.05, which then are 0.05^4 / 120 late, 5e-8.
    """
    if "controller" not in options and method != "gauss":
        how: dict[str, object] = {"method": "gauss", "tolerance": 1e-12}
    else:
        M = free.model.mass_matrix(free.q0)
        K = stiffness_at(free.model, free.q0)
        fastest = float(np.sqrt(eigh(K, M, eigvals_only=True)[-1]))
        by = "adams" if fastest < 30 * free.omega[-1] else "bdf"
        how = {"method": by, "tolerance": 1e-12}
        if free.model.functions.iterates:
            step = min(0.5 / fastest, 0.05 / float(free.omega[-1]))
            how = {"method": "rk4", "step": step}
    given = {**options, **how}
    return supple.simulate(free.model, q0=free.q0, duration=duration, samples=10, **given)  # type: ignore[arg-type]
