"""Which dimensions are best: the highest lowest frequency, or the least mass that reaches one.

The problem is posed in the bound formulation (`goals`) for the first few modes of every pose, with
limits on mass, sag and stress and bounds on every dimension (`design_problem`). SciPy's SLSQP
solves it, from the robot as it is and from the best of a sample of other designs. Over a box of
poses the set of poses is exchanged: it begins with the worst pose of the box, and the worst pose of
every new design joins it until none is worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...answers.answer import Answer
from ...arguments import checked, instance, number, one_of, reals
from ...errors import SuppleError
from ...kernels.threads import one_thread
from ...robot import Robot
from .design_problem import LARGEST_NUMBER, DesignProblem, mass_of
from .goals import LeastMass, RaisedLowest, goal_of
from .workers import Progress

__all__ = ["Optimum", "mass_of", "optimise"]

Array = NDArray[np.float64]
MAX_EXCHANGES = 20  # of the set of poses
OTHER_STARTS = 2  # designs of a sample from which the search begins once more
DIFFERENT_DESIGN = 0.25  # of a scaled dimension, by which starts are apart at least
LIMIT_TOLERANCE = 1e-5  # relative: by so much a limit may be passed, from rounding
BOUND_TOLERANCE = 1e-6  # of a scaled dimension that stands at its bound
NO_STEP_IMPROVES = 8  # SLSQP's status where no step improves any more
DESIGNS_PER_DIMENSION = 70  # computed in an ordinary search, for its progress


@dataclass(frozen=True, eq=False)
class Optimum(Answer):
    """Best dimensions found by `supple.optimise`.

    Attributes
    ----------
    robot : Robot
        The robot with these dimensions.
    values : dict
        Values of the varied paths.
    lowest_hz, start_hz : float
        Lowest frequency over the poses, Hz, at the optimum and at the start. With `place`, the
        placed frequency where it is farthest from its target. Over a box of poses, those of the
        whole box, each at its own worst pose.
    mass, start_mass : float
        Mass in kg of everything the joints move (and of varied links), without payload.
    sag : float
        Largest deflection of the tip over the poses, m.
    stress : float
        Highest von Mises stress under gravity over the poses, Pa, of links whose section allows it;
        zero where none does.
    active : tuple of str
        The limits that are active, in words.
    kkt : float
        Norm of the gradient that the active limits do not balance, relative to the objective's own:
        zero at an optimum.
    elements_hz : float
        The same frequency computed by finite elements, Hz.
    evaluations : int
        Number of evaluations of the robot.
    poses : ndarray
        Poses (P, joints) of the design; `active` counts them from 1.
    worst : ndarray
        The decisive pose (joints,).
    goal : str
        "lowest", "place" or "mass".
    """

    robot: Robot
    values: dict[str, float]
    lowest_hz: float
    start_hz: float
    mass: float
    start_mass: float
    sag: float
    stress: float
    active: tuple[str, ...]
    kkt: float
    elements_hz: float
    evaluations: int
    poses: Array
    worst: Array
    goal: str = "lowest"

    @property
    def gain(self) -> float:
        """How much higher the lowest frequency is, as a fraction."""
        return self.lowest_hz / self.start_hz - 1


Dimensions = Annotated[
    Mapping[Any, tuple[float, float]],
    instance(Mapping, "ranges such as {'links.link1.section.wall': (0.004, 0.02)}"),
]
Box = Annotated[
    Mapping[str, tuple[float, float]],
    instance(Mapping, "ranges such as {'theta.link2': (-2, 2)}"),
]


@checked
@one_thread
def optimise(
    robot: Robot,
    vary: Dimensions,
    maximise: Annotated[str, one_of("lowest")] | None = None,
    *,
    minimise: Annotated[str, one_of("mass")] | None = None,
    at: ArrayLike | None = None,
    over: Box | None = None,
    place: Annotated[tuple[int, float], reals] | None = None,
    lowest: Annotated[float, number(0, LARGEST_NUMBER, above=True)] | None = None,
    mass: Annotated[float, number(0, above=True)] | None = None,
    sag: Annotated[float, number(0, above=True)] | None = None,
    stress: Annotated[float, number(0, above=True)] | None = None,
    tolerance: Annotated[float, number(0, 0.1, above=True)] = 1e-7,
    progress: bool | None = None,
) -> Optimum:
    """Find the dimensions with the highest lowest frequency, or the lightest stiff-enough design.

    Parameters
    ----------
    robot : Robot
        Where the search begins; its own values are clipped to the bounds.
    vary : mapping
        Paths of the robot file and their bounds, ``{"links.link1.section.wall": (low, high)}``.
        Several paths in a tuple, or in one text between commas, get one common value. A star stands
        for every entry, ``"links.boom.stations.*.section.wall"``.
    maximise : "lowest", optional
        Raise the lowest frequency over all poses. This is the default.
    minimise : "mass", optional
        Instead find the smallest mass whose lowest frequency over all poses is at least `lowest`.
    at : array_like, optional
        Poses, (joints,) or (P, joints); positions of a Delta's platform. Default: zero.
    over : mapping, optional
        A box of poses, ``{"theta.link2": (-2, 2)}``, around each pose of `at`; its coordinates
        replace those of `at`. The worst pose is found by about 3,000 points and a descent from the
        worst of them. This is a search, not a proof; `stopband` proves.
    place : (int, float), optional
        (mode, Hz): instead bring that mode of every pose as close as possible to a frequency.
    lowest : float, optional
        Required lowest frequency in Hz, with ``minimise="mass"``.
    mass : float, optional
        Largest mass in kg of everything the joints move, without payload. Links bolted to the base
        count if one of their own dimensions is varied; a foundation never counts.
    sag : float, optional
        Largest deflection of the tip under gravity in any pose, m.
    stress : float, optional
        Largest von Mises stress in any link under gravity in any pose, Pa.
    tolerance : float
        Relative tolerance of the frequency or mass.
    progress : bool, optional
        Show a progress line. Default: only if stderr is a terminal.

    Returns
    -------
    Optimum
        The robot with the best dimensions, and the limits that are active.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> best = supple.optimise(robot, {"links.link1.section.wall": (0.004, 0.02)}, mass=150.0)
    >>> round(best.start_hz, 3), round(best.lowest_hz, 3)
    (4.865, 5.539)
    """
    goal = goal_of(maximise, minimise, place, lowest)
    limits = {"mass": mass, "sag": sag, "stress": stress}
    problem = DesignProblem(robot, vary, at, over or {}, limits, goal)
    expected = DESIGNS_PER_DIMENSION * (len(problem.keys) + 1)
    problem.progress = Progress(expected, "designs", progress)
    try:
        search = _Search(problem)
        best = search.best_design(tolerance)
        if best is None and isinstance(goal, LeastMass):
            reachable = _highest_lowest_frequency(robot, vary, at, over or {}, limits, tolerance)
            raise SuppleError(
                f"no design in these bounds reaches {lowest:g} Hz: the highest lowest frequency "
                f"that they have is {reachable:.4g} Hz; widen the bounds or ask for less"
            )
        if best is None:
            raise SuppleError(
                "no design in these bounds keeps the limits: "
                f"{100 * search.least_violation:.3g} % over"
            )
    finally:
        problem.progress.end()
    return search.answer(best)


def _highest_lowest_frequency(
    robot: Robot,
    vary: Mapping[Any, Any],
    at: Any,
    over: Mapping[str, Any],
    limits: Mapping[str, float | None],
    tolerance: float,
) -> float:
    """The highest lowest frequency that designs within bounds and limits have, Hz."""
    search = _Search(DesignProblem(robot, vary, at, over, limits, RaisedLowest()))
    best = search.best_design(tolerance)
    if best is None:
        raise SuppleError(
            f"no design in these bounds keeps the limits: {100 * search.least_violation:.3g} % over"
        )
    return search.answer(best).lowest_hz


class _Search:
    """The search for the best design of a problem, and the answer that is made of it.

    Attributes
    ----------
    start_omega, start_mass
        Deciding frequency, rad/s, and mass, kg, of the robot as it is.
    least_violation
        By which part the limits are passed at least, by any design of the search.
    """

    def __init__(self, problem: DesignProblem) -> None:
        self.problem = problem
        self.goal = problem.goal
        self.least_violation = np.inf

        # The robot as it is: its worst pose, and its frequency and mass as scales
        start_robot = problem.robot(problem.start())
        if problem.box is not None:
            problem.poses = problem.worst_poses(start_robot)[:1]
        if isinstance(self.goal, RaisedLowest):
            self.goal.scale = float(problem.omega_at(start_robot, problem.poses).min())
        self.start_omega = self.goal.deciding_frequency(
            problem.omega_at(start_robot, problem.poses)
        )
        self.start_mass = problem.mass_at(start_robot)
        problem.mass_scale = max(self.start_mass, 1e-300)
        if not self.start_mass and isinstance(self.goal, LeastMass):
            raise SuppleError("no part that moves has mass: there is none to be saved")

    def best_design(self, tolerance: float) -> Array | None:
        """Return the scaled dimensions of the best design, None where none keeps the limits."""
        own_start = self.problem.start()
        solutions: list[tuple[Array, Any]] = []
        for start in [own_start, *self._other_starts(own_start)]:
            solutions.append(self._solve_from(start, tolerance))

        best: Array | None = None
        best_bound = np.inf
        reason_to_stop = ""
        for x, solution in solutions:
            bound = self.problem.best_bound(x)
            violation = self.problem.limit_violation(x)
            self.least_violation = min(self.least_violation, violation)
            if violation > LIMIT_TOLERANCE:
                continue
            if not solution.success and solution.status != NO_STEP_IMPROVES:
                reason_to_stop = reason_to_stop or solution.message.lower()
                continue
            if best is None or self.goal.sign * bound < self.goal.sign * best_bound:
                best = x
                best_bound = bound
        if best is None and reason_to_stop:
            raise SuppleError(f"the search stopped before an optimum: {reason_to_stop}")
        return best

    def _solve_from(self, x: Array, tolerance: float) -> tuple[Array, Any]:
        """Return a design and SciPy's result, from one start: solve, and let worse poses join."""
        from scipy.optimize import minimize

        sign = self.goal.sign
        objective_slopes = np.append(np.zeros(len(x)), sign)
        for _ in range(MAX_EXCHANGES):
            z = np.append(x, self.problem.best_bound(x))
            solution = minimize(
                lambda z: sign * z[-1],
                z,
                jac=lambda z: objective_slopes,
                bounds=[(0.0, 1.0)] * len(x) + [(None, None)],
                constraints={
                    "type": "ineq",
                    "fun": self.problem.constraints,
                    "jac": self.problem.constraint_slopes,
                },
                method="SLSQP",
                options={"ftol": tolerance, "maxiter": 200},
            )
            x = np.clip(solution.x[:-1], 0.0, 1.0)
            if not self.problem.add_worse_poses(x):
                break
        return x, solution

    def _other_starts(self, own_start: Array) -> list[Array]:
        """The best of a sample of designs, judged at the poses so far, apart from one another."""
        from scipy.stats import qmc

        dimensions = len(own_start)
        count_base2 = int(min(6, 3 + np.ceil(np.log2(dimensions + 1))))
        designs = qmc.Sobol(dimensions, seed=1).random_base2(count_base2)
        ranked: list[tuple[float, Array]] = []
        for x in designs:
            try:
                bound = self.problem.best_bound(x)
                cost = self.goal.sign * bound + 10 * max(0.0, self.problem.limit_violation(x))
            except SuppleError:
                continue  # no robot has these dimensions together
            ranked.append((float(cost), x))
        ranked.sort(key=lambda cost_and_design: cost_and_design[0])

        chosen: list[Array] = []
        for _, x in ranked:
            starts = [own_start, *chosen]
            if all(np.abs(x - other).max() > DIFFERENT_DESIGN for other in starts):
                chosen.append(x)
            if len(chosen) == OTHER_STARTS:
                break
        return chosen

    def answer(self, x: Array) -> Optimum:
        """Return the answer at the best design, with the limits that are active there."""
        problem = self.problem
        robot = problem.robot(x)
        if problem.box is not None:  # reported is the worst pose that was seen, whoever added it
            problem.add_worst_pose(robot)
        active, kkt = self._active_limits(np.append(x, problem.best_bound(x)))

        omega = problem.omega_at(robot, problem.poses)
        omega_by_elements = problem.omega_at(robot, problem.poses, method="elements")
        has_gravity = any(robot.gravity)
        return Optimum(
            robot=robot,
            values=problem.values(x),
            lowest_hz=self.goal.deciding_frequency(omega) / (2 * np.pi),
            start_hz=self.start_omega / (2 * np.pi),
            mass=problem.mass_at(robot),
            start_mass=self.start_mass,
            sag=float(problem.sag_at(robot, problem.poses).max()) if has_gravity else 0.0,
            stress=float(problem.stress_at(robot, problem.poses).max()) if has_gravity else 0.0,
            active=active,
            kkt=kkt,
            elements_hz=self.goal.deciding_frequency(omega_by_elements) / (2 * np.pi),
            evaluations=problem.evaluations,
            poses=problem.poses,
            worst=problem.poses[int(np.argmin(self.goal.margin(omega)))],
            goal=self.goal.name,
        )

    def _active_limits(self, z: Array) -> tuple[tuple[str, ...], float]:
        """Names of the active limits, and the part of the gradient that they do not balance.

        At an optimum the objective's gradient is a sum of those of the active limits with factors
        >= 0 (Karush, Kuhn and Tucker); the best such sum is a non-negative least-squares problem.
        """
        from scipy.optimize import nnls

        problem = self.problem
        rows = problem.constraints(z)
        slopes = problem.constraint_slopes(z, exact=True)
        names = problem.constraint_names()
        gradients: list[Array] = []
        active: list[str] = []
        for i, room in enumerate(rows):
            if room < LIMIT_TOLERANCE:
                gradients.append(slopes[i])
                if i < len(names):
                    active.append(names[i])
        for k, key in enumerate(problem.keys):
            for bound, inwards, word in ((0.0, 1.0, "lower"), (1.0, -1.0, "upper")):
                if abs(z[k] - bound) < BOUND_TOLERANCE:
                    gradients.append(inwards * np.eye(len(z))[k])
                    active.append(f"{key} at its {word} bound")

        unbalanced = 1.0
        if gradients:
            objective_gradient = np.append(np.zeros(len(z) - 1), self.goal.sign)
            unbalanced = float(nnls(np.array(gradients).T, objective_gradient)[1])
        return tuple(dict.fromkeys(active)), unbalanced
