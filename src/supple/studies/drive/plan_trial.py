"""A planned move tried on a finer Model: what it leaves there, and which limits it passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...answers.immutable import Immutable
from ...architectures.kinds import architecture_of
from ...arguments import number
from ...beams.basis import AssumedModes
from ...control.controllers import JointPD
from ...control.trajectories import Trajectory
from ...equations.build import build
from ...equations.equilibrium import static_state, stiffness_at
from ...equations.model import Model
from ...errors import SuppleError
from ...outputs.kinds import Strain
from ...outputs.stress import has_fibre
from ...path_dynamics.small_motion import elastic_modes
from ...sections import Circle, Tube
from ..motion.simulate import simulate

__all__ = ["PlanTrial", "bent_form", "deflection_forms", "plan_trial", "stress_rows"]

Array = NDArray[np.float64]
WATCHED_PERIODS = 2.0  # periods of the lowest mode after the move
SAMPLES_PER_MOVE = 200  # samples to the move
RIGID_LOOP_PHASE = 30.0  # rad that the loop of a robot that does not bend turns during the move


@dataclass(frozen=True, eq=False)
class PlanTrial(Immutable):
    """A planned move simulated on a finer Model, whose joints are controlled to follow it.

    From ``Plan.tried``.

    Attributes
    ----------
    finer : Model
        The finer model.
    residual : float
        Half of the tip's peak-to-peak vibration after the move, m.
    passed : dict
        Largest utilisation of each limit (effort, speed, deflection, stress); above one the limit
        is exceeded.
    """

    finer: Model
    residual: float
    passed: dict[str, float]

    @property
    def kept(self) -> bool:
        """Whether every limit is kept within two per cent."""
        return all(value <= 1.02 for value in self.passed.values())


@dataclass(frozen=True, eq=False)
class _FeedForwardMove(Trajectory):
    """A move whose joints are asked for so much more that a PD loop adds the efforts planned.

    Attributes
    ----------
    move
        Of the joints.
    ahead
        (pieces + 1, joints) efforts over the gain, linear between.
    rest
        (joints,) the same after the move.
    duration
        s, until when it is held.
    """

    move: Trajectory
    ahead: Array
    rest: Array
    duration: float = 0.0
    smooth: bool = field(default=True, init=False)

    @property
    def breaks(self) -> tuple[float, ...]:
        own = np.linspace(0.0, self.move.duration, len(self.ahead))[1:]
        each = np.sort(np.concatenate([own, self.move.breaks]))
        return tuple(each[np.diff(each, prepend=-1.0) > 1e-9 * self.move.duration].tolist())

    def motion(self, t: Array) -> tuple[Array, Array, Array]:
        x, v, a = self.move(t)
        T = self.move.duration
        times = np.linspace(0.0, T, len(self.ahead))
        columns = [np.interp(t, times, column) for column in self.ahead.T]
        more = np.where((np.asarray(t) > T)[:, None], self.rest, np.stack(columns, axis=1))
        return x + more, v, a


def plan_trial(
    model: Model, move: Trajectory, tau: Array, limits: Mapping[str, Any], finer: Model | None
) -> PlanTrial:
    """Return the trial of `Plan.tried`; tau (pieces + 1, joints), linear on pieces of the move."""
    if finer is None:
        links = architecture_of(model.robot).parts().values()
        bending = max(1, sum(not link.rigid for link in links))
        most = -(-(model.size - model.joints) // bending)
        finer = build(model.robot, AssumedModes(most + 2))
    if not isinstance(finer, Model) or finer.joints != model.joints:
        raise SuppleError(
            f"finer is {finer!r:.60}: give a Model of the same robot, as by "
            "supple.build(robot, supple.AssumedModes(4))"
        )
    k = model.joints
    T = move.duration
    start = move(0.0)[0]
    end = move(T)[0]
    stands = static_state(finer, end)
    zero = np.zeros(finer.size)
    M = finer.mass_matrix(stands)
    K = stiffness_at(finer, stands)[k:, k:]
    slowest = elastic_modes(M[k:, k:], K)[0].max(initial=0.0)
    w = float(1 / np.sqrt(slowest)) if slowest > 0 else RIGID_LOOP_PHASE / T
    inertia = np.diag(M)[:k]
    rest = finer.inverse_dynamics(stands, zero, zero)[:k]

    stiff = inertia * w**2
    total = T + WATCHED_PERIODS * 2 * np.pi / w
    run = simulate(
        finer,
        controller=JointPD(stiff.tolist(), (2 * stiff / w).tolist()),
        trajectory=_FeedForwardMove(move, tau / stiff, rest / stiff, total),
        duration=total,
        dt=T / SAMPLES_PER_MOVE,
        q0="static",
        theta0=start,
    )
    if run.message.startswith("stopped by the user"):
        raise KeyboardInterrupt
    after = run.tip[run.t >= T]
    used: dict[str, float] = {}
    moving = run.t <= T
    for word, values in (("effort", run.tau), ("speed", run.qd[:, :k])):
        share = np.abs(values[moving]) / limits[word]
        if np.isfinite(limits[word]).any():
            used[word] = float(share.max())
    forms = deflection_forms(finer, limits["deflection"])
    if forms:
        used["deflection"] = max(float(np.sqrt(bent_form(form, run.q).max())) for form in forms)
    rows = stress_rows(finer, limits["stress"])
    if rows:
        used["stress"] = float(np.abs(run.q @ np.array(rows).T).max())
    return PlanTrial(finer, float(np.linalg.norm(np.ptp(after, axis=0)) / 2), used)


def deflection_forms(model: Model, limit: float | None) -> list[tuple[Array, Array]]:
    """Return the end deflection of every link over the limit, as forms of q.

    Each is (A (3, n), B (3, n, n)) with the deflection A q + q' B q, whose square stays below one;
    B is the shortening of a bent link under `stiffening`.
    """
    if limit is None:
        return []
    allowed: float = number(0, above=True, unit="of metres")("deflection_limit", limit)
    robot = _robot_of_links(model, "deflection_limit")
    n = model.size
    forms = []
    for link in robot.links:
        if link.rigid:
            continue
        i = model.chain.index(link.name)
        own = model.chain.eta[i]
        if i in model.chain.sliding or own.stop - own.start < model.chain.links[i].inv.count:
            raise SuppleError(
                f"deflection_limit: {link.name} slides, or some of its bending follows from a "
                "loop, so that its deflection is no fixed sum of q: leave the limit out, and "
                "see what plan.tried() bends"
            )

        def bent(*places: int, sign: float = 1.0, name: str = link.name) -> Array:
            q = np.zeros(n)
            for place in places:
                q[place] += sign
            return np.asarray(model.deflection_at(q, name, 1.0))

        linear = np.zeros((3, n))
        quadratic = np.zeros((3, n, n))
        for a in range(own.start, own.stop):
            linear[:, a] = (bent(a) - bent(a, sign=-1.0)) / 2
            quadratic[:, a, a] = (bent(a) + bent(a, sign=-1.0)) / 2
        for a in range(own.start, own.stop):
            for b in range(own.start, a):
                alone = linear[:, a] + linear[:, b] + quadratic[:, a, a] + quadratic[:, b, b]
                half = (bent(a, b) - alone) / 2
                quadratic[:, a, b] = half
                quadratic[:, b, a] = half
        quadratic[np.abs(quadratic) < 1e-12 * np.abs(linear).max(initial=1e-300)] = 0.0
        forms.append((linear / allowed, quadratic / allowed))
    return forms


def _robot_of_links(model: Model, word: str) -> Any:
    """The robot, which must have links by name: a Delta has legs."""
    if not hasattr(model.robot, "links"):
        raise SuppleError(
            f"{word} is for arms and mechanisms: {model.robot.name} has legs; leave it out"
        )
    return model.robot


def bent_form(form: tuple[Array, Array], q: Array) -> Array:
    """Return |A q + q' B q|^2 of a form (A, B) at states (T, n)."""
    linear, quadratic = form
    bend = q @ linear.T + np.einsum("ti,rij,tj->tr", q, quadratic, q)
    return np.asarray((bend**2).sum(axis=1))


def stress_rows(model: Model, limit: float | None) -> list[Array]:
    """Return rows over q of the stress at outer fibres, E (u' - y psi_z' + z psi_y') / limit."""
    if limit is None:
        return []
    allowed: float = number(0, above=True, unit="of pascals")("stress_limit", limit)
    robot = _robot_of_links(model, "stress_limit")
    rows: list[Array] = []
    for link in robot.links:
        if link.rigid:
            continue
        section = robot.section(link)
        material = robot.material(link)
        if section is None or material is None or not has_fibre(section):
            raise SuppleError(
                f"stress_limit: link {link.name} names no material and section with an outer fibre "
                "(rectangle, box, circle or tube): leave the limit out, or give them"
            )
        # places (y, z) at the rim on one side; the others carry the opposite stress
        shape: Any = section
        if isinstance(section, Circle | Tube):
            r = section.diameter / 2
            fibres = [(r * np.cos(a), r * np.sin(a)) for a in np.pi / 8 * np.arange(8)]
        else:
            fibres = [(shape.depth / 2, side * shape.width / 2) for side in (1, -1)]
        for place, fibre in product((0.0, 0.5, 1.0), fibres):
            row = material.young_modulus * Strain(link.name, place, fibre).row(model)[0]
            if np.abs(row).any():
                rows.append(row / allowed)
    return rows
