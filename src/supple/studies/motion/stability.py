"""Does it stay calm: what vibration does while a link slides along a Trajectory.

Frozen eigenvalues, as the paper draws them, beside what decides: energy, action, amplitude, root
moment, and for periodic motions Floquet's multipliers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, number, whole_number
from ...beams.sliding.clamped_mass import integrate_roots
from ...beams.sliding.modes import SlidingModes
from ...control.controllers import Controller, Decoupling
from ...control.trajectories import Trajectory, a_trajectory
from ...equations.chains.link_fields import root_moments
from ...equations.equilibrium import static_state
from ...equations.loaded import loaded_model
from ...equations.model import Model
from ...errors import SuppleError
from ...integration.closed_loop import as_trajectory, check_path
from ...integration.held_joints import Flexible, flexible
from ...link_loads import Load, a_list_of_loads
from .response import Response
from .simulate import simulate

__all__ = [
    "NOTE",
    "Floquet",
    "Stability",
    "floquet",
    "free_growth",
    "lyapunov_rates",
    "stability",
]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

GROWS = 2.0  # times: a motion along which the action of free vibration grows more is not stable
DIES = 0.9  # times: less than this is damped

NOTE = (
    "Frozen eigenvalues are those of the closed loop held at one instant. Their real parts change "
    "with how the shapes are scaled along the length (C_i = 1, unit integral, unit tip, unit modal "
    "mass give different signs for one and the same motion), so they decide neither stability nor "
    "growth. What decides: the action E/omega of each mode is conserved in slow motion, so energy "
    "and root moment rise and the tip's amplitude shrinks as the link is drawn in, and all of it "
    "goes back as it comes out again. A damping ratio above |omega_dot|/(2 omega^2) offsets it."
)
STILL = (
    "Frozen eigenvalues are those of the closed loop held at one instant. Where coefficients "
    "change with time they are an indication, no proof of growth or decay: look at energy and "
    "action over time, and for a periodic motion at Floquet's multipliers."
)


@dataclass(frozen=True)
class Stability(Answer):
    """Vibration under a controller along a trajectory, at n times with m elastic coordinates.

    From `supple.stability`.

    Attributes
    ----------
    response : Response
        The closed-loop motion.
    eigenvalues : ndarray of complex
        Frozen eigenvalues (n, 2 m) of the elastic states, 1/s.
    lyapunov, lyapunov_rate : ndarray
        V = 1/2 (q_f' M_ff q_f' + q_f' K q_f) and its rate along the motion, all terms, (n,).
    lyapunov_own : ndarray
        Part of the rate caused by the change of length alone, (n,), [Theodore1997] Eq. (42)
        corrected; the rest is power from the motion of the joints.
    omega : ndarray
        Natural frequencies with locked joints, (n, m), rad/s.
    energy, action : ndarray
        Energy of the vibration about the quasi-static shape in all modes, J, and the sum of
        E_j / omega_j, (n,).
    end_deflection : ndarray
        Deflection of the end of the last flexible link, (n, 3), m.
    root_moment : ndarray
        Moment at its hub, (n, 2), N m.
    offsetting_ratio : ndarray
        abs(omega_1') / (2 omega_1^2), (n,).
    speed_ratio : ndarray
        U / U_g, (n,); zero where nothing slides.
    root_drift : float
        Largest difference along the run between beta integrated by [Theodore1997] Eq. (11) and beta
        by Newton's method, which the model uses.
    growth : float
        Factor by which the action of free vibration can grow along the whole motion.
    tip_amplitude : ndarray
        Amplitude of the vibration at the end of the last flexible link, (n,), m: that of each mode
        from its energy, root of the sum of squares.
    beta, beta_integrated : ndarray
        Roots (n, b) of the frequency equations of sliding links, by Newton's method and integrated
        along the motion by [Theodore1997] Eq. (11); no columns where nothing slides.
    """

    response: Response
    eigenvalues: Complex
    lyapunov: Array
    lyapunov_rate: Array
    lyapunov_own: Array
    omega: Array
    energy: Array
    action: Array
    end_deflection: Array
    root_moment: Array
    offsetting_ratio: Array
    speed_ratio: Array
    root_drift: float
    growth: float = 1.0
    tip_amplitude: Array = field(default_factory=lambda: np.zeros(0))
    beta: Array = field(default_factory=lambda: np.zeros((0, 0)))
    beta_integrated: Array = field(default_factory=lambda: np.zeros((0, 0)))

    labels: ClassVar = {"t": "t", "plane": ("x-y", "x-z")}  # times are an axis by themselves
    dims: ClassVar = {
        "t": ("t",),
        "eigenvalues": ("t", "eigenvalue"),
        "lyapunov": ("t",),
        "lyapunov_rate": ("t",),
        "lyapunov_own": ("t",),
        "omega": ("t", "mode"),
        "energy": ("t",),
        "action": ("t",),
        "end_deflection": ("t", "axis"),
        "root_moment": ("t", "plane"),
        "offsetting_ratio": ("t",),
        "speed_ratio": ("t",),
        "tip_amplitude": ("t",),
        "beta": ("t", "root"),
        "beta_integrated": ("t", "root"),
    }
    table_rows: ClassVar = ("t",)
    units: ClassVar = {
        "eigenvalues": "1/s",
        "omega": "rad/s",
        "energy": "J",
        "action": "J s",
        "end_deflection": "m",
        "root_moment": "N m",
        "tip_amplitude": "m",
        "t": "s",
    }

    @property
    def t(self) -> Array:
        """(n,) times."""
        return self.response.t

    @property
    def stable(self) -> bool:
        """Whether the action of free vibration grows by less than GROWS along the motion."""
        return self.growth < GROWS

    @property
    def verdict(self) -> str:
        """Whether the motion is stable, in one sentence."""
        time = f"{self.t[-1] - self.t[0]:.3g} s"
        if self.stable:
            ending = "dies out" if self.growth < DIES else "does not build up"
            return (
                f"Stable: free vibration {ending} along this motion; its action E/omega changes at "
                f"most {self.growth:.3g} times in {time}."
            )
        return (
            f"Not stable: free vibration can grow along this motion, its action E/omega "
            f"{self.growth:.3g} times in {time} (stable motions stay below {GROWS:g}); drive "
            "slower, or add damping."
        )

    @property
    def text(self) -> str:
        """What was found and what it means, in plain words: whether it is stable first."""
        return f"{self.verdict}\n{self._details}"

    @property
    def _details(self) -> str:
        """What was found, number by number."""
        # The times with nearly constant joint rates, or all when there are none
        run = self.response
        speed = run.qd[:, : run.model.joints]
        change = np.abs(np.gradient(speed, run.t, axis=0)).max(axis=1)
        calm = change < 0.05 * max(change.max(), 1e-300)
        cruise = calm if calm.any() else np.ones(len(run.t), bool)
        span = self.eigenvalues.real[cruise]
        lines = [
            f"Frozen eigenvalues in cruise: real parts {span.min():.3g} to {span.max():.3g} 1/s."
        ]
        if not self.response.model.chain.sliding:
            return "\n".join([*lines, STILL])
        rates = self.lyapunov_rate, self.lyapunov_own, self.lyapunov_rate - self.lyapunov_own
        total, own, rest = (f"{x.min():.2g} to {x.max():.2g} W" for x in rates)
        slide_lines = [
            f"The Lyapunov function (41) changes at {total}. The change of "
            f"length by itself, (42) corrected, makes {own} of it; the rest, "
            f"{rest}, is power that the joints' motion puts in and takes out again: "
            "forcing, Coriolis forces, and terms in the slide's acceleration and in U^2. That (42) "
            "is positive as a link is drawn in says that energy follows omega, not that the motion "
            "is unstable.",
            "Largest damping ratio that offsets the change of length: "
            f"{100 * self.offsetting_ratio.max():.2g} %.",
            f"U/U_g is at most {self.speed_ratio.max():.2g}. It tells how fast the beam slides "
            "against its waves; it matters when it comes near one (then the shapes themselves "
            "change), and being small is no reason to drop the convective terms, whose effect on "
            "the amplitude does not depend on the speed.",
            f"beta by integrating (11) along the motion drifts by {self.root_drift:.1e} from "
            "Newton's roots.",
        ]
        return "\n".join([*lines, NOTE, *slide_lines])


@checked
def stability(
    model: Model,
    trajectory: Trajectory | str | ArrayLike,
    controller: Controller | None = None,
    samples: Annotated[int, whole_number(3, 10**7)] | None = None,
    tolerance: Annotated[float, number(0, 1e-2, above=True)] = 1e-9,
    *,
    rate: float | None = None,
    amplitude: Annotated[float, number(0, above=True, unit="of metres")] | None = None,
    mode: Annotated[int, whole_number(1)] = 1,
    phase: Annotated[float, number()] = 0.0,
    released: Annotated[Sequence[Load], a_list_of_loads] = (),
) -> Stability:
    """Growth and decay of vibration under a controller along a trajectory.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    trajectory : Trajectory, str or array_like
        Joint motion: a Trajectory, the name of a file, or samples with their `rate`.
    controller : Controller, optional
        Default: ``Decoupling(100, 20)``.
    samples : int, optional
        Number of equally spaced times. Default: twelve per period of the first mode where it is
        fastest, at least 201.
    tolerance : float
        Relative tolerance of the integration.
    rate : float, optional
        Samples per second of the trajectory, if samples are given.
    amplitude : float, optional
        Start in vibration: amplitude of the end of the last flexible link, m, in one mode of the
        first pose. Default: unbent.
    mode : int
        Number of the mode of `amplitude`, from 1, joints locked.
    phase : float
        Its phase at the start, rad; 0 is a release at rest from the bent shape.
    released : sequence of PointLoad and DistributedLoad, optional
        Instead: start from the static deflection under these loads, which are let go.

    Returns
    -------
    Stability

    Notes
    -----
    The frozen eigenvalues are those of the elastic rows of the equations of motion,
    [Theodore1997] Eq. (39), which decoupling leaves unchanged.

    References
    ----------
    [Theodore1997].

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    >>> slide = supple.PointToPoint([0, 0, 0.3], [0, 0, 0.4], 0.5)
    >>> found = supple.stability(model, slide, samples=201)
    >>> round(found.growth, 4)
    1.0
    """
    if model.size == model.joints:
        raise SuppleError("the model has no elastic coordinate: nothing can vibrate")
    law = Decoupling() if controller is None else controller
    path = as_trajectory(trajectory, model, rate)
    system = flexible(model)
    check_path(model, path, path.duration)
    if samples is None:  # twelve a period of the first mode where it is fastest, 201 to 5001
        poses = path(np.linspace(0.0, path.duration, 33))[0]
        fastest = system.frequencies(np.array([system.state(r) for r in poses]))[:, 0].max()
        samples = int(np.clip(12 * path.duration * fastest / (2 * math.pi), 200, 5000)) + 1
    dt = path.duration / (samples - 1)
    q0, qd0 = _shaken_start(system, path, amplitude, mode, phase, released)
    run = simulate(
        model, controller=law, trajectory=path, q0=q0, qd0=qd0, dt=dt, tolerance=tolerance
    )
    wanted = path(run.t)[2]
    A = system.matrices(run.q, run.qd, wanted)
    omega = system.frequencies(run.q)
    # Energy and action of the vibration about the quasi-static shape, from modal amplitudes
    eta = system.parts(run.q)
    etad = system.parts(run.qd)
    E = system.modal_energies(run.q, eta - system.quasi_static(run.q, run.qd, wanted), etad)
    energy = E.sum(axis=1)
    action = (E / omega).sum(axis=1)
    V, lyapunov_rate, own = lyapunov_rates(system, run)
    slope = np.gradient(omega[:, 0], run.t)
    # Deflection of the end and moment at the root of the last link that bends
    link = _last_flexible_link(model)
    end = model.deflection_at(run.q, link), root_moments(model.chain, run.q, link)
    beta, beta_integrated = _roots_by_both_methods(model, run, tolerance)
    drift = run.beta_drift if run.beta is not None else _largest(beta_integrated - beta)
    return Stability(
        run,
        np.linalg.eigvals(A).astype(complex),
        V,
        lyapunov_rate,
        own,
        omega,
        energy,
        action,
        *end,
        np.abs(slope) / (2 * omega[:, 0] ** 2),
        _speed_ratio(model, run),
        drift,
        _action_growth(system, path),
        _tip_amplitude(system, run.q, E, link),
        beta,
        beta_integrated,
    )


def _shaken_start(
    system: Flexible,
    path: Trajectory,
    amplitude: float | None,
    mode: int,
    phase: float,
    released: Sequence[Load],
) -> tuple[Array | None, Array | None]:
    """q and qd at the start of a path, in vibration or bent; None where nothing was asked for."""
    model = system.model
    theta, speed, _ = path(0.0)
    count = model.size - model.joints
    if released and amplitude is not None:
        raise SuppleError(
            "amplitude and released are both given: start in one mode, or from the deflection "
            "under loads"
        )
    if released:
        return static_state(loaded_model(model, released), theta), None
    if amplitude is None:
        return None, None
    if mode > count:
        raise SuppleError(f"mode is {mode}: the model has {count} elastic ones")
    unbent = system.state(theta)
    found = system.modes(unbent)
    shape = found.shapes[:, mode - 1]
    link = _last_flexible_link(model)
    bent = np.concatenate([theta, shape])
    size = float(np.linalg.norm(model.deflection_at(bent, link)[1:]))
    if size <= 1e-9 * float(np.abs(found.shapes).max()):
        raise SuppleError(
            f"mode {mode} does not move the end of {link}: give another mode, or released="
        )
    eta = amplitude / size * shape
    q = np.concatenate([theta, eta * math.cos(phase)])
    qd = np.concatenate([speed, -found.omega[mode - 1] * eta * math.sin(phase)])
    return q, qd


def _last_flexible_link(model: Model) -> str:
    """Name of the last link that bends."""
    return [link.name for link in model.chain.links if link.inv.count][-1]


def _tip_amplitude(system: Flexible, q: Array, energies: Array, link: str) -> Array:
    """(n,) m: amplitudes of the modes at a link's end, sqrt(2 E_j) phi_j / omega_j, together."""
    model = system.model
    joints = model.joints
    omega = np.empty_like(energies)
    mode_states = np.empty((*energies.shape, model.size))  # the pose bent as each mode
    for k, state in enumerate(q):
        modes = system.modes(state)
        omega[k] = modes.omega
        mode_states[k] = system.state(state[:joints])
        mode_states[k, :, joints:] = modes.shapes.T

    # One call for all: it costs little more than one for a single state
    deflections = model.deflection_at(mode_states.reshape(-1, model.size), link)
    ends = np.linalg.norm(deflections[:, 1:], axis=1).reshape(energies.shape)
    amplitudes: Array = np.linalg.norm(np.sqrt(2 * energies) / omega * ends, axis=1)
    return amplitudes


def _largest(difference: Array) -> float:
    return float(np.abs(difference).max(initial=0.0))


def _action_growth(system: Flexible, path: Trajectory) -> float:
    """By which factor the action of free vibration, sum of E_j/omega_j, can grow along a path.

    With mass-normalised modal amplitudes a the action is the square of [sqrt(omega) a,
    a'/sqrt(omega)], so the factor is the square of the largest singular value of the transition
    between such states.
    """
    X = system.transition(path, path.duration)
    m = len(X) // 2
    scales = []
    for t in (0.0, path.duration):
        q = system.state(path(t)[0])
        found = system.modes(q)
        mass = system.blocks(q[None], np.zeros_like(q)[None])[0][0]
        shapes = found.shapes / np.sqrt(np.einsum("ij,ik,kj->j", found.shapes, mass, found.shapes))
        to_modes = np.linalg.inv(shapes)
        root = np.sqrt(found.omega)[:, None]
        matrix = np.zeros((2 * m, 2 * m))
        matrix[:m, :m] = root * to_modes
        matrix[m:, m:] = to_modes / root
        scales.append(matrix)
    mapped = scales[1] @ X @ np.linalg.inv(scales[0])
    return float(np.linalg.norm(mapped, 2) ** 2)


def lyapunov_rates(system: Flexible, run: Response) -> tuple[Array, Array, Array]:
    """Return V of (41), its rate along the motion, and (42) corrected, (n,) each.

    (42) corrected is 1/2 q_f' K_dot q_f - 1/2 q_fd' M_ff_dot q_fd.

    The rate has the elastic accelerations in it, so it is that of the motion with every term. For
    a slide alone, M = int m N'N and V_dot - (42) = -q_fd' (l_tt int m N'N_l + l_t^2 int m N'N_ll)
    q_f, the end's masses among the integrals.

    Source: [Theodore1997], Eqs. (41)-(43); (42) lacks its second term, and (43) has a term that
    does not belong there and lacks dK/dbeta beta_dot.
    """
    eta = system.parts(run.q)
    etad = system.parts(run.qd)
    etadd = system.parts(run.model.forward_dynamics(run.q, run.qd, run.tau))
    M, K, Md, Kd = system.blocks(run.q, run.qd)
    V = (_form(M, etad, etad) + _form(K, eta, eta)) / 2
    turned = _form(M, etad, etadd) + _form(K, etad, eta)
    rate = turned + (_form(Md, etad, etad) + _form(Kd, eta, eta)) / 2
    return V, rate, (_form(Kd, eta, eta) - _form(Md, etad, etad)) / 2


def _form(A: Array, x: Array, y: Array) -> Array:
    value: Array = np.einsum("ni,nij,nj->n", x, A, y)
    return value


def _roots_by_both_methods(model: Model, run: Response, tolerance: float) -> tuple[Array, Array]:
    """beta (n, b) by Newton's method, and by [Theodore1997] (11) in the run or along its path."""
    by_newton: list[Array] = [np.zeros((len(run.t), 0))]
    by_rates: list[Array] = [np.zeros((len(run.t), 0))]
    for i in model.chain.sliding:
        slide = model.chain.links[i].slide
        lengths = run.q[:, model.chain.theta[i]]
        for law in slide.laws if isinstance(slide, SlidingModes) else ():
            by_newton.append(np.array([law.roots(float(l)) for l in lengths]))
            by_rates.append(integrate_roots(law, lengths, max(tolerance, 1e-12)))
    newton = np.hstack(by_newton)
    return newton, np.hstack(by_rates) if run.beta is None else run.beta


def _speed_ratio(model: Model, run: Response) -> Array:
    """|U|/U_g of the fastest slide, U_g = sqrt(EI/rho A)/l.

    Source: [Theodore1997], section II: there at the fully extended length; it is the phase
    velocity of waves of length 2 pi l, not a group velocity.
    """
    out = np.zeros(len(run.t))
    for i in model.chain.sliding:
        slide = model.chain.links[i].slide
        k = model.chain.theta[i]
        assert slide is not None
        along = slide.beam.at(np.linspace(0.0, slide.beam.L, 17))
        stiff = float((along[:, 2:4].min(axis=1) / along[:, 0]).min())
        if math.isfinite(stiff):
            U_g = math.sqrt(stiff) / run.q[:, k]
            out = np.maximum(out, np.abs(run.qd[:, k]) / U_g)
    return out


@dataclass(frozen=True)
class Floquet(Answer):
    """Floquet multipliers of the elastic motion over one period of the joints.

    From `supple.floquet`.

    Attributes
    ----------
    multipliers : ndarray of complex
        Eigenvalues of the monodromy matrix, (2 m,).
    period : float
        Period, s.
    monodromy : ndarray
        Monodromy matrix (2 m, 2 m).
    """

    multipliers: Complex
    period: float
    monodromy: Array

    dims: ClassVar = {"multipliers": ("state",), "monodromy": ("state", "from_state")}
    table_rows: ClassVar = ("state",)

    @property
    def stable(self) -> bool:
        """Whether no multiplier lies outside the unit circle (to 1e-6)."""
        return bool(np.abs(self.multipliers).max() <= 1 + 1e-6)


@checked
def floquet(model: Model, trajectory: Trajectory) -> Floquet:
    """Floquet multipliers of small vibration over one period of a periodic joint motion.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    trajectory : Trajectory
        A periodic one, such as `Repeated`.

    Returns
    -------
    Floquet
        Vibration grows if a multiplier is larger than one in magnitude.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    >>> slide = supple.Repeated(supple.PointToPoint([0, 0, 0.3], [0, 0, 0.4], 0.5))
    >>> supple.floquet(model, slide).multipliers.shape
    (4,)
    """
    trajectory = a_trajectory("trajectory", trajectory)
    if not trajectory.periodic:
        raise SuppleError(
            "Floquet multipliers belong to a periodic motion: wrap the trajectory in "
            "Repeated, which goes there and back"
        )
    path = as_trajectory(trajectory, model)
    check_path(model, path, path.duration)
    X = flexible(model).transition(path, path.duration)
    return Floquet(np.linalg.eigvals(X).astype(complex), path.duration, X)


@checked
def free_growth(
    model: Model,
    trajectory: Trajectory | str | ArrayLike,
    mode: Annotated[int, whole_number(1)] = 1,
    phase: Annotated[float, number()] | None = None,
) -> dict[str, float]:
    """Change of a freely vibrating mode along a joint motion that starts with that mode alone.

    Parameters
    ----------
    model : Model
        Equations of motion, from `build`.
    trajectory : Trajectory, str or array_like
        Joint motion.
    mode : int
        Number of the mode, from 1.
    phase : float, optional
        Phase of the vibration at the start, rad; 0 is a release at rest from the bent shape.
        Default: the mean over the phase.

    Returns
    -------
    dict
        Ratios end over start of the amplitudes `end_deflection` and `root_moment`, of `energy`, of
        `action` (energy over frequency) and of `omega`.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    >>> slide = supple.PointToPoint([0, 0, 0.3], [0, 0, 0.4], 0.5)
    >>> found = supple.free_growth(model, slide)
    >>> round(found["end_deflection"], 3), round(found["action"], 6)
    (1.218, 1.0)
    """
    path = as_trajectory(trajectory, model)
    check_path(model, path, path.duration)
    system = flexible(model)
    if not 1 <= mode <= model.size - model.joints:
        raise SuppleError(f"mode is {mode}: the model has {model.size - model.joints} elastic ones")
    X = system.transition(path, path.duration)
    phases = (0.0, math.pi / 2) if phase is None else (phase,)
    link = _last_flexible_link(model)
    # One start of a mode, carried to the end by the transition matrix X
    found = []
    for one in phases:
        j = mode - 1
        first, last = (system.state(path(t)[0]) for t in (0.0, path.duration))
        before, after = (system.modes(q) for q in (first, last))
        a = before.shapes[:, j]
        x = np.concatenate([a * math.cos(one), -before.omega[j] * a * math.sin(one)])
        y = X @ x
        E0, E1 = (
            system.modal_energies(q[None], v[None, : len(a)], v[None, len(a) :])[0]
            for q, v in ((first, x), (last, y))
        )
        w0 = before.omega[j]
        w1 = after.omega[j]
        alike = np.abs(after.omega - w1) < 1e-6 * w1  # both planes, where they bend alike
        ratio = E1[alike].sum() / E0.sum()
        scale = math.sqrt(ratio) * w0 / w1
        sizes = []  # tip deflection and root moment of the last link that bends
        for q, shape in ((first, a), (last, after.shapes[:, j])):
            bent = np.concatenate([q[: model.joints], shape])
            ends = model.deflection_at(bent, link), root_moments(model.chain, bent, link)
            sizes.append([float(np.linalg.norm(value)) for value in ends])
        each = zip(("end_deflection", "root_moment"), *sizes, strict=True)
        amplitude = {name: scale * stop / start for name, start, stop in each}
        found.append({**amplitude, "energy": ratio, "action": ratio * w0 / w1, "omega": w1 / w0})
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}
