"""Spectrum: the poles of a run, and the fastest rate that its motion excites, looked at once.

Linearised about a state, with x = [q, qd] and the law's slopes F, G by q and qd,

    x' = A x + f,   A = [[0, 1], [-M^-1 (K - B F), -M^-1 (D - B G)]],

a mode (lambda, v) that is suddenly driven by f moves with the amplitude |w f / lambda|, w its left
eigenvector. Modes are not excited that hold less than NEGLIGIBLE_ENERGY_SHARE of the energy put
into all of them, and make less than NEGLIGIBLE_DEFLECTION_SHARE of every joint spring's and link's
deflection.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from types import CellType, FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..control.controllers import Controller, Decoupling, StatefulController
from ..control.linear import LinearController
from ..control.plant import plant
from ..equations.chain_functions import ChainFunctions
from ..equations.equilibrium import stiffness_at
from ..equations.model import Model
from .closed_loop import Reference
from .inputs import Constant, Feedback, Input
from .plan import RunPlan

__all__ = ["Spectrum", "look"]

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
# Of the energy put into oscillations: what a mode may hold and still be left out
NEGLIGIBLE_ENERGY_SHARE = 1e-5
# Of a deflection: what a mode may make of it and still be left out
NEGLIGIBLE_DEFLECTION_SHARE = 5e-3
RIGID_RATE_RATIO = 1e-4  # of the fastest rate: what is much slower counts as rigid
# rad in a piece of a path, beyond which a mode follows it without being excited
SMOOTH_PIECE_PHASE = 60.0
MAX_SWITCHES = 64  # of the input that are looked at
Law = Callable[[float, Array, Array], Array]  # t, q, qd to efforts
State = tuple[float, Array, Array]


@dataclass(frozen=True)
class Spectrum:
    """Rates of one run, rad/s.

    Attributes
    ----------
    poles
        (m,), of all poses looked at.
    excited
        Fastest mode or input that the motion has.
    ratio
        Damping ratio of that mode.
    energy
        What the start or a switch puts into vibration at most, J.
    swings
        (m, 4), of each mode excited and of the motion beside them: rate, damping ratio, share of
        the energy, and its weight in the state, the root of that share or the part of a deflection
        that it makes; empty: not known.
    course
        Times, and the rates there over the largest, of arms whose links slide along a path.
    """

    poles: Complex
    excited: float
    ratio: float = 0.0
    energy: float = 0.0
    swings: Array = field(default_factory=partial(np.zeros, (0, 4)))
    course: tuple[Array, Array] | None = None

    @property
    def fastest(self) -> float:
        """Largest |pole|."""
        return float(np.abs(self.poles).max(initial=0.0))

    def mode_table(self, duration: float) -> Array:
        """Return rate, rad in a run as far as damping lets it live, share and weight of each mode.

        (m, 4). What is faster than every mode, such as an input, counts as all of the energy.
        """
        modes = self.swings
        if not len(modes) or modes[:, 0].max() < self.excited * (1 - 1e-9):
            modes = np.vstack([modes, [self.excited, self.ratio, 1.0, 1.0]])
        periods = modes[:, 0] * duration
        if self.course is not None:
            periods = periods * float(np.trapezoid(self.course[1], self.course[0]) / duration)
        lives = periods / (1 + modes[:, 1] * periods / 3)
        return np.stack([modes[:, 0], lives, modes[:, 2], modes[:, 3]], axis=1)

    def lateness(
        self, duration: float, step: float, late: float, order: int
    ) -> tuple[float, float]:
        """Return the rate of the mode that is latest at the end, and by how many rad it is late.

        One that makes little of the state counts as little. `late`, `order`: of the method.
        """
        modes = self.mode_table(duration)[: max(len(self.swings) - 1, 0)]  # the last is no mode
        if not len(modes):
            return 0.0, 0.0
        rate, turned, _, weight = modes.T
        lateness = turned * weight * late * (rate * step) ** order
        worst = int(np.argmax(lateness))
        return float(rate[worst]), float(lateness[worst])


def look(plan: RunPlan, x0: Array) -> Spectrum:
    """Return the spectrum of a plan that starts at x0; what stands still for good has none."""
    n = plan.model.size
    law = _law(plan)
    if isinstance(plan.tau, Constant) and isinstance(plan.wrench, Constant | None):
        q = x0[:n]
        qd = x0[n : 2 * n]
        if not qd.any() and not _acceleration(plan, law, float(plan.grid[0]), q, qd).any():
            return Spectrum(np.zeros(0, complex), 0.0)
    states = _states(plan, x0[:n], x0[n : 2 * n])

    # Poles at each state, with the slopes of the law unless efforts do not answer to the state
    answers: Law | None = law
    if isinstance(plan.tau, Feedback):
        answers = law if plan.tau.of_state else None
    elif plan.controller is None or plan.memory > 0:
        answers = None
    systems = [_linearise(plan.model, answers, plan.controller, state) for state in states]
    first, vectors = np.linalg.eig(systems[0])
    others = [np.linalg.eigvals(A) for A in systems[1:]]
    poles_by_state = [np.asarray(values, complex) for values in (first, *others)]
    rates = []
    for A, values in zip(systems, poles_by_state, strict=True):
        rates.append(_oscillation_rates(A, values))

    # What the start and the switches of the input excite
    at_start = (poles_by_state[0], vectors.astype(complex))
    swings, energy = _excited_modes(plan, law, states, at_start, rates)
    excited, ratio = swings[np.argmax(swings[:, 0]), :2] if len(swings) else (0.0, 0.0)

    # The motion beside the modes: inputs, slow modes on a smooth path, turning joints, control
    poles = np.concatenate(poles_by_state)
    driven = _input_rate(plan)
    smooth = SMOOTH_PIECE_PHASE / plan.piece if isinstance(plan.tau, Reference) else 0.0
    smooth = float(max(smooth, 1.2 * driven))
    slow = rates[0][rates[0] <= smooth].max(initial=0.0)
    driving_rate = max(driven, slow, _turning_rate(plan, law, states))
    if isinstance(plan.controller, LinearController):
        at = plant(plan.model, plan.controller.r0, plan.controller.measures)
        poles = np.append(poles, np.linalg.eigvals(plan.controller.closed(at)))
        driving_rate = max(driving_rate, float(np.abs(poles.imag).max()))
    course = _course(plan, states, poles_by_state, rates, float(excited))
    leads = driving_rate > excited  # then it stands for all of the energy
    swings = np.vstack([swings, [driving_rate, ratio * leads, float(leads), 1.0]])
    return Spectrum(poles, float(max(excited, driving_rate)), float(ratio), energy, swings, course)


def _oscillation_rates(A: Array, poles: Complex) -> Array:
    """|lambda| of the poles of A, zero of those that do not oscillate or are rigid motions."""
    size = np.abs(poles)
    slowest = 10 * max(RIGID_RATE_RATIO * size.max(initial=0.0), np.sqrt(_faint_stiffness(A)))
    oscillates = (np.abs(poles.imag) > 0.3 * size) & (size > slowest)
    return np.where(oscillates, size, 0.0)


def _input_rate(plan: RunPlan) -> float:
    """Highest frequency of the inputs, rad/s."""
    duration = float(plan.grid[-1] - plan.grid[0])
    inputs = [part for part in (plan.tau, plan.wrench) if isinstance(part, Input)]
    return float(max((part.rate(duration) for part in inputs), default=0.0))


def _turning_rate(plan: RunPlan, law: Law, states: list[State]) -> float:
    """How fast the joints turn the arm: 2 |qd|, and sqrt |qdd| at the start, rad/s."""
    k = plan.model.joints
    speed = max(np.abs(rates[:k]).max(initial=0.0) for _, _, rates in states)
    push = np.abs(_acceleration(plan, law, *states[0])[:k]).max(initial=0.0)
    return float(max(2 * speed, np.sqrt(push)))


def _course(
    plan: RunPlan, states: list[State], poles: list[Complex], rates: list[Array], excited: float
) -> tuple[Array, Array] | None:
    """Times and rates over the largest, where links slide along a path; 1.05 times what is seen.

    The excited mode is followed by its number, the fastest pole for the sake of stability.
    """
    if not plan.model.chain.sliding or not isinstance(plan.tau, Reference):
        return None
    place = int((rates[0] < excited).sum())
    pairs = []
    for rate, values in zip(rates, poles, strict=True):
        excited_mode = np.sort(rate)[min(place, len(rate) - 1)]
        pairs.append([excited_mode, np.abs(values).max()])
    along_path = np.array(pairs)
    share = (along_path / np.maximum(along_path.max(axis=0), 1e-300)).max(axis=1)
    times = np.array([t for t, _, _ in states])
    return times, np.minimum(1.05 * share, 1.0)


def _law(plan: RunPlan) -> Law:
    """The efforts of a plan by time and state; of a law that remembers a copy is asked."""
    given = plan.tau
    controller = plan.controller
    k = plan.model.joints
    if isinstance(given, Feedback):
        try:
            return Feedback(_apart(given.function), given.width, given.of_state)
        except (TypeError, ValueError, RecursionError):  # it cannot be copied
            return given
    if controller is None:
        return lambda t, q, qd: given.value(np.array([t]), k)[0]
    if isinstance(controller, LinearController):  # as it answers at rest
        D = controller.D[:, -k:]
        r0 = controller.r0
        return lambda t, q, qd: controller.tau0 + D @ (given.value(np.array([t]), k)[0, :k] - r0)
    if isinstance(controller, StatefulController):  # as it begins
        count = controller.states(plan.model)

        def begins(t: float, q: Array, qd: Array) -> Array:
            rows = [x[None] for x in (q, qd, np.zeros(count))]
            motion = np.split(given.value(np.array([t]), 3 * k), 3, axis=1)
            state = (rows[0], rows[1], rows[2])
            return np.asarray(controller.efforts_along(plan.model, state, motion)[0])

        return begins
    function = controller.function(plan.model)
    wanted: dict[float, list[Array]] = {}  # a path of a platform is dear to ask

    def efforts(t: float, q: Array, qd: Array) -> Array:
        if t not in wanted:
            wanted[t] = np.split(given.value(np.array([t]), 3 * k)[0], 3)
        return np.array(function(q, qd, *wanted[t])).ravel()

    return efforts


def _apart(function: Any) -> Any:
    """A copy that remembers by itself: of a function what it closes over is copied with it."""
    if not isinstance(function, FunctionType):
        return function if type(function).__module__.startswith("supple.") else deepcopy(function)
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(CellType(_apart(cell.cell_contents)))
        except (TypeError, ValueError, RecursionError):  # it cannot be copied, or is empty
            cells.append(cell)
    defaults = deepcopy(function.__defaults__)
    copy = FunctionType(function.__code__, function.__globals__, None, defaults, tuple(cells))
    copy.__kwdefaults__ = deepcopy(function.__kwdefaults__)
    return copy


def _states(plan: RunPlan, q: Array, qd: Array) -> list[State]:
    """Times and states to look at: the start, poses along a path, else a few others it may reach.

    A free arm is stiffest where it is folded: poses are spread by irrational steps.
    """
    model = plan.model
    k = model.joints
    first = float(plan.grid[0])
    out = [(first, q, qd)]
    if isinstance(plan.tau, Reference):
        rest = np.zeros(model.size - k)
        for t in np.linspace(first, plan.grid[-1], 9)[1:].tolist():
            r, rd, _ = plan.tau.trajectory(t)
            out.append((t, model.chain.pose(r), np.concatenate([rd, rest])))
    elif model.functions.everywhere:
        turning = [j for j in range(k) if model.chain.joints[j] not in model.chain.sliding]
        for i in range(1, 7):
            pose = q.copy()
            pose[turning] += 2 * np.pi * (i * (0.618034 + 0.754878 * np.arange(len(turning))) % 1)
            out.append((first, pose, np.zeros_like(qd)))
    return out


def _linearise(model: Model, law: Law | None, controller: Controller | None, state: State) -> Array:
    """A (2 N, 2 N) about a state."""
    t, q, qd = state
    n = model.size
    k = model.joints
    h = 1e-6  # of the differences
    steps = h * np.eye(n)
    lost = _dissipation(model, q, np.vstack([0 * q, steps]))
    by_q = -stiffness_at(model, q)
    by_qd = -(lost[1:] - lost[0]).T / h
    M = model.mass_matrix(q)
    if isinstance(controller, Decoupling):  # qdd of the joints is what the law wants
        gains = (controller.position_gain, controller.velocity_gain)
        for part, gain in zip((by_q, by_qd), gains, strict=True):
            part[:k] = 0.0
            part[:k, :k] = -np.diag(np.broadcast_to(np.asarray(gain, float), k))
        M[:k] = np.eye(n)[:k]
    elif law is not None and k:
        effort = law(t, q, qd)
        if np.array_equal(effort, law(t, q, qd)):  # of a law that repeats itself
            by_q[:k] += np.stack([law(t, q + d, qd) - effort for d in steps], axis=1) / h
            by_qd[:k] += np.stack([law(t, q, qd + d) - effort for d in steps], axis=1) / h
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:] = np.linalg.solve(M, np.hstack([by_q, by_qd]))
    # rigid motions are two poles with one shape at zero: a faint spring keeps them apart
    A[n:, :n] -= _faint_stiffness(A) * np.eye(n)
    return A


def _dissipation(model: Model, q: Array, rates: Array) -> Array:
    """(B, N) what is lost at one place at rates (B, N); loops are closed there once."""
    functions = model.functions
    places = np.tile(q, (len(rates), 1))
    if "followers" not in functions.names:
        return functions.evaluator("dissipation")(places, rates)[0]
    guess = np.tile(functions.evaluator("followers")(q)[0], (len(rates), 1))
    return functions.evaluator("dissipation", near=True)(places, rates, guess)[0]


def _faint_stiffness(A: Array) -> float:
    """Return the stiffness per inertia, (rad/s)^2, that keeps poles of rigid motions apart.

    Poles that are not much faster than its root are rigid motions. Their eigenvectors are nearly
    parallel, so that what is shared out among them says nothing.
    """
    n = len(A) // 2
    return float(RIGID_RATE_RATIO**2 * max(1.0, np.abs(A[n:, :n]).max(initial=0.0)))


def _excited_modes(
    plan: RunPlan,
    law: Law,
    states: list[State],
    found: tuple[Complex, Complex],
    rates: list[Array],
) -> tuple[Array, float]:
    """Modes that the start and the switches of the input excite, (m, 4), and their energy.

    Rate at its fastest pose, damping ratio, share of the energy of the drive that gives it most,
    weight in the state.
    What a Python function will do is not known: an effort that jumps at any joint counts as well.
    """
    model = plan.model
    n = model.size
    k = model.joints
    _, q, qd = states[0]
    values, vectors = found
    M = model.mass_matrix(q)
    shapes = vectors[:n]
    masses = np.einsum("ij,ik,kj->j", shapes.conj(), M, shapes).real
    oscillates = rates[0] > 0

    # Sudden drives: the start, and the switches where an input jumps
    start, jumps = _sudden_drives(plan, law, q, qd)
    drives = [start, *jumps]
    # amplitude times |lambda|: the kinetic energy of a mode that is driven from rest
    energy = _energies(vectors, drives, masses) * oscillates[:, None]
    floor = 1e-12 * float(np.abs(list(model.energies(q, qd).values())).sum())
    put_in = min(float(energy.sum(axis=0).max()), _vibration_energy(model, q, drives))

    # What the accelerations of a path do to the elastic rows, slowly
    slow = _slow_drives(plan, states)
    by_path = _energies(vectors, slow, masses) * oscillates[:, None] if slow else energy
    most = max(float(part.sum(axis=0).max()) for part in (energy, by_path))
    excited = (energy > max(NEGLIGIBLE_ENERGY_SHARE * most, floor)).any(axis=1)
    share = (energy / np.maximum(energy.sum(axis=0), 1e-300)).max(axis=1)

    if isinstance(plan.tau, Feedback):  # what it does is not known beforehand: unit jumps as well
        unit_accelerations = np.linalg.solve(M, np.eye(n)[:, :k]).T
        drives += [np.concatenate([0 * q, a]) for a in unit_accelerations]
        by_jumps = _energies(vectors, drives, masses) * oscillates[:, None]
        least = np.maximum(NEGLIGIBLE_ENERGY_SHARE * by_jumps.sum(axis=0), floor)
        excited |= (by_jumps > least).any(axis=1)
        share = np.ones_like(share)

    weight = np.sqrt(share)
    if energy.sum() > floor or isinstance(plan.tau, Feedback):
        deflection_share = _mode_shares(model, q, found, drives, slow, oscillates)
        excited |= deflection_share > NEGLIGIBLE_DEFLECTION_SHARE
        weight = np.maximum(weight, deflection_share)

    swings = []
    for j in np.flatnonzero(excited & oscillates):
        place = int((rates[0] < rates[0][j]).sum())  # the same mode elsewhere, by its number
        fastest = max(float(np.sort(rate)[place]) for rate in rates)
        ratio = max(0.0, -values[j].real / np.abs(values[j]))
        swings.append([fastest, ratio, share[j], weight[j]])
    return np.array(swings).reshape(-1, 4), put_in


def _sudden_drives(plan: RunPlan, law: Law, q: Array, qd: Array) -> tuple[Array, list[Array]]:
    """What the start and each switch of the input drive suddenly, [speed, acceleration] (2 N,)."""
    # Times right before and right after switches
    times = plan.grid[list(plan.starts[1:])]
    sides = []
    for t in times[:: len(times) // MAX_SWITCHES + 1].tolist():
        hair = 1e-9 * max(t, 1e-3)
        sides += [t - hair, t + hair]
    at_start = _acceleration(plan, law, float(plan.grid[0]), q, qd)
    pushes = [_acceleration(plan, law, t, q, qd) for t in sides]
    jumps = []
    for before, after in zip(pushes[::2], pushes[1::2], strict=True):
        jumps.append(np.concatenate([0 * q, after - before]))
    return np.concatenate([qd, at_start]), jumps


def _slow_drives(plan: RunPlan, states: list[State]) -> list[Array]:
    """What a path's accelerations do to the elastic rows at each state: -M_ff^-1 M_fr rdd."""
    k = plan.model.joints
    if not isinstance(plan.tau, Reference) or plan.model.size == k:
        return []
    slow = []
    for t, q, _ in states:
        M = plan.model.mass_matrix(q)
        rdd = plan.tau.trajectory(t)[2]
        push = -np.linalg.solve(M[k:, k:], M[k:, :k] @ rdd)
        slow.append(np.concatenate([0 * q, np.zeros(k), push]))
    return slow


def _vibration_energy(model: Model, q: Array, drives: list[Array]) -> float:
    """Return the most energy, J, that a drive [v, a] puts into the undamped modes of the springs.

    The modes are orthonormal in the mass matrix, phi' M phi = 1, so that no division by nearly
    parallel eigenvectors can make energy out of nothing: a speed v puts (phi' M v)^2 / 2 into a
    mode, an acceleration a that begins suddenly (phi' M a / omega)^2 / 2.
    """
    n = model.size
    M = model.mass_matrix(q)
    stiffness = stiffness_at(model, q)
    try:
        root = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:  # M of a reading that is not positive definite here
        return np.inf
    inside = np.linalg.solve(root, np.linalg.solve(root, (stiffness + stiffness.T) / 2).T)
    squares, turned = np.linalg.eigh((inside + inside.T) / 2)
    swings = squares > max((10 * RIGID_RATE_RATIO) ** 2 * np.abs(squares).max(initial=0.0), 1e-12)
    if not swings.any():
        return 0.0
    momenta = turned.T[swings] @ root.T  # phi' M of each mode
    energy = 0.0
    for drive in drives:
        speed = momenta @ drive[:n]
        push = momenta @ drive[n:] / np.sqrt(squares[swings])
        energy = max(energy, float((speed**2 + push**2).sum()) / 2)
    return energy


def _energies(vectors: Complex, drives: list[Array], masses: Array) -> Array:
    """(2 N, drives): kinetic energy of each mode under each drive."""
    parts = np.linalg.solve(vectors, np.stack(drives, axis=1).astype(complex))
    return np.asarray(np.abs(parts) ** 2 * masses[:, None] / 2)


def _mode_shares(
    model: Model,
    q: Array,
    found: tuple[Complex, Complex],
    drives: list[Array],
    slow: list[Array],
    swings: NDArray[np.bool_],
) -> Array:
    """(2 N,) the largest part that a mode makes of some deflection under some drive.

    The whole is what the drive makes, or the slow ones if that is more.
    """
    values, vectors = found
    k = model.joints
    first = model.chain.stiff
    faint = 1e-6  # of the shapes, so that deflections are linear in them
    every = np.stack([*drives, *slow], axis=1).astype(complex)
    parts = np.linalg.solve(vectors, every)
    amplitude = np.abs(parts / values[:, None]) * swings[:, None]  # (modes, drives)

    # Deflections of each mode at amplitude one: of joint springs, and of links halfway and at ends
    shapes = vectors[: model.size].T
    springs = [j for j in range(k, model.size) if model.coordinates[j][:3] == "eps"]
    sizes = [np.abs(shapes[:, j]) for j in springs]
    bent = np.tile(q, (2 * len(values), 1))
    bent[:, first:] = 0.0  # passive coordinates stay where they are
    bent[:, k:] += faint * np.concatenate([shapes.real, shapes.imag])[:, k:]
    for link, own in zip(model.chain.links, model.chain.eta, strict=True):
        if own.stop == own.start:
            continue
        for fraction in (0.5, 1.0):
            squares = (model.deflection_at(bent, link.name, fraction) ** 2).sum(axis=1)
            sizes.append(np.sqrt(squares.reshape(2, -1).sum(axis=0)) / faint)

    # The part of each mode in each deflection; ones that are rounding do not count
    deflections = [size[:, None] * amplitude for size in sizes]
    largest = max((part.max(initial=0.0) for part in deflections), default=0.0)
    most = np.zeros(len(values))
    for part in deflections:
        own = part[:, : len(drives)]
        total = part.sum(axis=0)
        total = np.maximum(total[: len(drives)], total[len(drives) :].max(initial=0.0))
        significant = total > 1e-9 * largest
        most = np.maximum(most, (own[:, significant] / total[significant]).max(axis=1, initial=0.0))
    return most


def _acceleration(plan: RunPlan, law: Law, t: float, q: Array, qd: Array) -> Array:
    """qdd at a state under the inputs of a time, where that may be by the tape of the run."""
    functions = plan.model.functions
    tau = law(t, q, qd)
    if plan.wrench is None and isinstance(functions, ChainFunctions) and functions.uses_tapes:
        return functions.acceleration(q, qd, tau)
    wrench = None if plan.wrench is None else plan.wrench.value(np.array([t]), 6)[0]
    return plan.model.forward_dynamics(q, qd, tau, wrench)
