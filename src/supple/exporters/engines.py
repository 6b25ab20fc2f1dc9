"""Other engines that are asked the same questions: MuJoCo, Exudyn, Pinocchio, OpenSeesPy."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import runpy
import tempfile
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, lu_factor, lu_solve

from ..architectures.kinds import architecture_of
from ..beams.basis import AssumedModes, Basis, FiniteElements
from ..equations.build import build
from ..equations.equilibrium import assembled_pose
from ..equations.model import Model
from ..errors import SuppleError
from ..robot import Robot
from ..structure import structure_of
from ..studies.kinematics.forward import forward
from ..studies.motion.simulate import simulate
from ..studies.statics import statics
from .exporter import elastic_frequencies, has_loops_or_branches
from .exudyn_script import Exudyn, tree_numbers, tree_tip
from .mujoco_model import (
    Mujoco,
    chain_model,
    constraint_rows,
    joint_stiffness,
    loaded_model,
    mass_matrix,
    pose_model,
    structure_matrices,
)
from .names import xml_text
from .skeleton import Skeleton, skeleton_of
from .urdf_files import UrdfFiles

__all__ = ["ENGINES", "Asked", "Engine", "EngineAnswer"]

Array = NDArray[np.float64]
AXES = "xyz"
PEAK_TURN = 0.02  # rad: peak acceleration of a joint in the short motion, times its period squared
# the same of robots with links that slide and bend: chains of segments keep the length of such a
# link, and what a bent beam's change of length does to a motion grows with the square of it
SLIDING_PEAK_TURN = 0.002
STEP_OVER_PERIOD = (
    1.5  # time step of rk4 times the highest angular frequency; it is stable below 2.8
)
MIDPOINT_STEPS = 200  # in the short motion; twice as many follow, and the two are extrapolated
MIDPOINT_ITERATIONS = 60
SHAKEN_PART = 0.6  # of a pulse of force: when the vibration under it is compared
UNIT_FORCE = np.array([0.0, 1.0, 0.0])  # N, on the tip of robots without weight


@dataclass(frozen=True)
class EngineAnswer:
    """One number of ours beside one of theirs; `scale` is what their difference is divided by."""

    question: str
    ours: float
    theirs: float
    scale: float | None = None


def pulse_shape(part: Any) -> Any:
    """Return a pulse that rises from 0 to 1 and falls again, without a jump of its slope."""
    return np.sin(np.pi * part) ** 2


@dataclass(frozen=True)
class ShortMotion:
    """A motion from rest under efforts that rise and fall smoothly within one period.

    Efforts that jump would excite vibrations far above the first frequencies, whose phase no mesh
    of a few segments has right: a four-bar's tip is 0.7 % off then with every mesh, and 1e-6 off
    under a smooth pulse.

    Attributes
    ----------
    duration : float
        Seconds.
    peak_effort : ndarray
        (joints,) N m or N.
    moved : ndarray
        (3,) displacement of the tip at its end, m.
    """

    duration: float
    peak_effort: Array
    moved: Array

    def effort(self, t: float) -> Array:
        """(joints,) efforts at a time."""
        return np.asarray(self.peak_effort * pulse_shape(t / self.duration))

    def of_model(self, model: Model, start: Array) -> Array:
        """Return the displacement (3,) of the tip of a Model in this motion."""
        times = np.linspace(0.0, self.duration, 2001)
        efforts = np.outer(pulse_shape(times / self.duration), self.peak_effort)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = simulate(
                model,
                (times, efforts),
                start,
                duration=self.duration,
                samples=2,
                limits=False,
                progress=False,
            )
        return np.asarray(model.tip(run.q[-1]) - model.tip(start))


@dataclass(frozen=True)
class Asked:
    """What every engine is asked about: a robot at a pose, and our answers.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates.
    exact_hz : ndarray
        Certified frequencies there, Hz.
    """

    robot: Robot
    theta: Array
    exact_hz: Array

    @cached_property
    def skeleton(self) -> Skeleton:
        """Its bodies and joints."""
        return skeleton_of(self.robot)

    @cached_property
    def mass(self) -> float:
        """Mass of all that moves, kg."""
        structure = structure_of(
            self.robot, architecture_of(self.robot).resolve(self.theta, None).at
        )
        total = 0.0
        for i, segment in enumerate(structure.segments):
            total += structure.root_mass[0, i][0, 0] + segment.tip_mass[0, 0]
            total += segment.beam.outside(float(structure.L[0, i])).mass
        return float(total)

    @cached_property
    def tip(self) -> Array:
        """(3,) position of the unbent tip, m."""
        return np.asarray(forward(self.robot, self.theta).position, float)

    @cached_property
    def weighs(self) -> bool:
        """Whether gravity acts on it."""
        return bool(np.any(self.skeleton.gravity))

    @cached_property
    def load(self) -> Array:
        """(3,) the force on the tip under which its deflection is compared, N."""
        return np.zeros(3) if self.weighs else UNIT_FORCE

    @cached_property
    def sag(self) -> Array:
        """(3,) displacement of the tip under weight, or under a unit force without weight, m."""
        found = statics(self.robot, self.theta, force=self.load)
        return np.asarray(found.tip_displacement, float)[:3]

    @property
    def sag_words(self) -> str:
        """What the deflection is called."""
        return "sag" if self.weighs else "deflection under 1 N"

    @cached_property
    def weightless(self) -> Robot:
        """The robot without gravity: a weight that acts suddenly would excite every vibration."""
        return self.robot.with_("gravity", [0.0, 0.0, 0.0])

    @cached_property
    def model(self) -> Model:
        """A Model whose links stretch, and foreshorten as they bend, as chains of segments do.

        Its own error has to stay below that of the finest mesh: with two natural shapes a link,
        spatial loops and branches would be 3e-4 off in the motion whatever the mesh.
        """
        if not self.skeleton.planar and has_loops_or_branches(self.robot):
            return self._undamped(FiniteElements(2))
        return self._undamped(AssumedModes(4 if self.skeleton.planar else 2, axial=1))

    def _undamped(self, basis: Basis) -> Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return build(self.weightless, basis, stiffening=True, damping=0.0)

    @cached_property
    def motion(self) -> ShortMotion:
        """A short motion from rest, unbent and without weight."""
        period = 1 / float(self.exact_hz[0]) if len(self.exact_hz) else 0.1
        model = self.model
        start = assembled_pose(model, self.theta)
        inertia = np.diag(model.mass_matrix(start))[: model.joints]
        links = self.skeleton.links
        peak = PEAK_TURN
        if any(link.kind == "slides" and link.flexible for link in links):
            peak = SLIDING_PEAK_TURN
        turned = np.full(model.joints, peak)
        for link in self.skeleton.motors:
            if link.kind == "slides":  # inwards: it may stand at the end of its stroke
                assert link.motor is not None
                turned[link.motor] = -0.1 * peak
        planned = ShortMotion(period, inertia * turned / period**2, np.zeros(3))
        return replace(planned, moved=planned.of_model(model, start))

    @cached_property
    def rigid(self) -> Model:
        """The same robot with rigid links, without weight."""
        parts = {}
        for path, part in architecture_of(self.robot).parts().items():
            if not part.rigid:
                parts[f"{path}.theory"] = "rigid"
        return build(self.weightless.with_(parts) if parts else self.weightless)

    @cached_property
    def shaken(self) -> Array:
        """(3,) displacement of the tip under a pulse of 1 N along y, joints locked, m.

        Modes of the Model with its joints locked, each with Duhamel's integral, at
        `SHAKEN_PART` of the pulse: at its end the first mode stands near zero again.
        """
        model = self.model
        start = assembled_pose(model, self.theta)
        elastic = slice(model.joints, model.size)
        tip_slopes = np.zeros((3, model.size))
        for k in range(model.joints, model.size):
            step = np.zeros(model.size)
            step[k] = 1e-4
            tip_slopes[:, k] = (model.tip(start + step) - model.tip(start - step)) / 2e-4
        M = model.mass_matrix(start)[elastic, elastic]
        K = np.asarray(model.stiffness)[elastic, elastic]
        squares, shapes = eigh(K, M)
        omega = np.sqrt(squares)
        tip_modes = tip_slopes[:, elastic] @ shapes

        duration = self.motion.duration
        nodes, weights = np.polynomial.legendre.leggauss(400)
        end = SHAKEN_PART * duration
        times = end * (nodes + 1) / 2
        pulse = pulse_shape(times / duration) * weights * end / 2
        amplitudes = np.sin(np.outer(omega, end - times)) @ pulse / omega
        return np.asarray(tip_modes @ (amplitudes * (tip_modes.T @ UNIT_FORCE)))


class Engine(ABC):
    """Another engine. An engine has these duties:

    1. `module`: what is imported, to see whether it is installed.
    2. `refusal(asked)` says why it cannot hold the robot; empty where it can.
    3. `answers(asked, mesh)` returns its answers beside ours; `mesh`: parts of each link.
    4. `meshes`: whether its answers depend on a mesh.
    """

    module: ClassVar[str]
    meshes: ClassVar[bool] = True

    @property
    def installed(self) -> bool:
        """Whether it can be imported here."""
        return importlib.util.find_spec(self.module) is not None

    def refusal(self, asked: Asked) -> str:
        """Return why the robot cannot be held; empty where it can."""
        return ""

    @abstractmethod
    def answers(self, asked: Asked, mesh: int) -> list[EngineAnswer]:
        """Return the answers of this engine."""


def _vector_rows(words: str, ours: Array, theirs: Array) -> list[EngineAnswer]:
    """One row for each axis, their differences over the length of ours."""
    scale = float(np.linalg.norm(ours)) or 1.0
    pairs = zip(AXES, ours, theirs, strict=True)
    return [EngineAnswer(f"{words} {axis}", float(a), float(b), scale) for axis, a, b in pairs]


def _frequency_rows(asked: Asked, theirs: Array) -> list[EngineAnswer]:
    rows = []
    for k, (ours, found) in enumerate(zip(asked.exact_hz, theirs, strict=False)):
        rows.append(EngineAnswer(f"frequency {k + 1}, Hz", float(ours), float(found)))
    return rows


class MujocoEngine(Engine):
    """Chains of segments in MuJoCo: mass, tip, frequencies, sag, a short motion."""

    module: ClassVar = "mujoco"

    def refusal(self, asked: Asked) -> str:
        try:
            Mujoco().refuse(asked.robot)
        except SuppleError as problem:
            return str(problem)
        return ""

    def answers(self, asked: Asked, mesh: int) -> list[EngineAnswer]:

        first = 2 * np.pi * float(asked.exact_hz[0]) if len(asked.exact_hz) else 0.0
        tree = chain_model(asked.robot, asked.theta, mesh, first, [])
        model = loaded_model(ElementTree.tostring(tree, "unicode"))
        data = pose_model(model, asked.robot, asked.theta)
        rows = [EngineAnswer("mass, kg", asked.mass, float(model.body_mass.sum()))]
        start = np.array(data.site("tip").xpos)
        rows += _vector_rows("tip", asked.tip, start)
        M, K, fastest = structure_matrices(model, data)
        rows += _frequency_rows(asked, elastic_frequencies(M, K, len(asked.exact_hz)))
        if len(asked.exact_hz):
            rows += _vector_rows(asked.sag_words, asked.sag, self._deflection(asked, model, data))

        rows += _vector_rows("motion", asked.motion.moved, self._motion(asked, mesh, fastest))
        return rows

    @staticmethod
    def _motion(asked: Asked, mesh: int, fastest: float) -> Array:
        """Displacement (3,) of the tip in the short motion; `fastest`: highest omega, rad/s."""
        tree = chain_model(asked.weightless, asked.theta, mesh, 0.0, [])
        text = ElementTree.tostring(tree, "unicode")
        model = loaded_model(text)
        if model.dof_frictionloss.any():  # dry friction is one of MuJoCo's own soft constraints
            return mujoco_steps(model, asked, fastest)

        # Implicit steps: the error falls with the square of the step, and two lengths of it
        # leave the fourth power
        coarse = midpoint_steps(model, asked, MIDPOINT_STEPS)
        fine = midpoint_steps(model, asked, 2 * MIDPOINT_STEPS)
        return np.asarray(fine + (fine - coarse) / 3)

    @staticmethod
    def _deflection(asked: Asked, model: Any, data: Any) -> Array:
        """Small displacement of the tip under weight or a unit force, motors held."""
        import mujoco

        free, basis = held_basis(model, data)
        J = np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, J, None, model.site("tip").id)
        load = -np.asarray(data.qfrc_bias) + J.T @ asked.load
        _, K, _ = structure_matrices(model, data)
        moved = basis @ np.linalg.lstsq(K, basis.T @ load[free], rcond=1e-12)[0]
        return np.asarray(J[:, free] @ moved)


def mujoco_steps(model: Any, asked: Asked, fastest: float) -> Array:
    """Displacement (3,) of the tip in the short motion by MuJoCo's own steps (rk4).

    They are explicit: the highest frequency of the chain, `fastest` (rad/s), sets their length.
    """
    import mujoco

    data = pose_model(model, asked.weightless, asked.theta)
    start = np.array(data.site("tip").xpos)
    duration = asked.motion.duration
    steps = max(int(np.ceil(duration * fastest / STEP_OVER_PERIOD)), 200)
    model.opt.timestep = duration / steps
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.actuator_ctrllimited[:] = 0
    model.eq_solref[:, 0] = 4 * model.opt.timestep  # constraints as hard as the step allows
    for k in range(steps):
        data.ctrl[:] = asked.motion.effort((k + 0.5) * model.opt.timestep)
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return np.asarray(np.array(data.site("tip").xpos) - start)


def midpoint_steps(model: Any, asked: Asked, steps: int) -> Array:
    """Displacement (3,) of the tip in the short motion by the implicit midpoint rule.

    Mass matrix, forces and Jacobians of closures are MuJoCo's at every midpoint. The closures hold
    exactly, and steps may be longer than the fastest vibration of the chain: MuJoCo's own
    explicit steps take minutes for chains of spatial links with loops.

    Each step solves, by Newton's method with the matrix of the start, for the next velocities v':

        M (v' - v) / h + bias = passive + actuators + J^T lambda,    J (v + v') / 2 = 0
    """
    import mujoco

    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.actuator_ctrllimited[:] = 0
    data = pose_model(model, asked.weightless, asked.theta)
    start = np.array(data.site("tip").xpos)
    h = asked.motion.duration / steps

    # Rows of closures that say the same are combined to independent ones
    J, _ = constraint_rows(model, data)
    independent = np.zeros((0, 0))
    if len(J):
        U, sizes, _ = np.linalg.svd(J, full_matrices=False)
        independent = U[:, sizes > 1e-9 * sizes.max()].T
    rows = len(independent)
    J = independent @ J if rows else np.zeros((0, model.nv))

    # Matrix of Newton's method: that of the unbent robot at the start
    stiffness = np.zeros(model.nv)
    for number in range(model.njnt):
        stiffness[model.jnt_dofadr[number]] = joint_stiffness(model, number)
    matrix = np.zeros((model.nv + rows, model.nv + rows))
    matrix[: model.nv, : model.nv] = mass_matrix(model, data) / h
    damping = np.asarray(model.dof_damping).reshape(model.nv, -1)[:, 0]
    matrix[: model.nv, : model.nv] += np.diag(h / 4 * stiffness + damping / 2)
    matrix[: model.nv, model.nv :] = -J.T
    matrix[model.nv :, : model.nv] = J / 2
    factors = lu_factor(matrix)

    tolerance = 1e-9 * PEAK_TURN / asked.motion.duration  # of v, rad/s or m/s
    q = np.array(data.qpos)
    v = np.zeros(model.nv)
    change = np.zeros(model.nv)  # of v in the step before: where the next one is looked for
    multipliers = np.zeros(rows)
    momentum = np.zeros(model.nv)
    for k in range(steps):
        data.ctrl[:] = asked.motion.effort((k + 0.5) * h)
        v_next = v + change
        for _ in range(MIDPOINT_ITERATIONS):
            middle = (v + v_next) / 2
            data.qpos[:] = q + h / 2 * middle
            data.qvel[:] = middle
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fwdActuation(model, data)
            J = independent @ constraint_rows(model, data)[0] if rows else J
            mujoco.mj_mulM(model, data, momentum, v_next - v)
            unbalanced = momentum / h + data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator
            unbalanced -= J.T @ multipliers
            correction = lu_solve(factors, np.concatenate([unbalanced, J @ middle]))
            v_next = v_next - correction[: model.nv]
            multipliers = multipliers - correction[model.nv :]
            if float(np.abs(correction[: model.nv]).max()) <= tolerance:
                break
        else:
            raise SuppleError(f"a step of {asked.robot.name} in MuJoCo does not converge")
        q = q + h * (v + v_next) / 2
        change = v_next - v
        v = v_next
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return np.asarray(np.array(data.site("tip").xpos) - start)


def held_basis(model: Any, data: Any) -> tuple[list[int], Array]:
    """Return which coordinates move with the motors held, and a basis of what constraints leave."""
    motors = {int(joint) for joint in model.actuator_trnid[:, 0]}
    motor_dofs = [int(model.jnt_dofadr[joint]) for joint in motors]
    free = [k for k in range(model.nv) if k not in motor_dofs]
    J, _ = constraint_rows(model, data)
    if not len(J):
        return free, np.eye(len(free))
    _, sizes, Vt = np.linalg.svd(J[:, free])
    rank = int((sizes > 1e-9 * sizes.max(initial=0.0)).sum())
    return free, Vt[rank:].T


class ExudynEngine(Engine):
    """The exported script in Exudyn: frequencies and a short motion."""

    module: ClassVar = "exudyn"

    def refusal(self, asked: Asked) -> str:
        try:
            Exudyn().refuse(asked.robot)
        except SuppleError as problem:
            return str(problem)
        return ""

    def answers(self, asked: Asked, mesh: int) -> list[EngineAnswer]:
        from .export import export

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            out = export(
                asked.robot,
                "exudyn",
                folder,
                theta0=asked.theta,
                segments=mesh,
                count=max(len(asked.exact_hz), 1),
            )
            script = runpy.run_path(str(out.files[0]))
            masses = float(np.load(out.files[1])["masses"].sum())
            rows = [EngineAnswer("mass, kg", asked.mass, masses)]
            rows += _frequency_rows(asked, out.frequency_hz)
            tree = chain_model(asked.weightless, asked.theta, mesh, 0.0, [])
            given = tree_numbers(asked.weightless, asked.theta, tree)
            undamped = Path(folder) / "undamped.npz"
            np.savez(undamped, allow_pickle=False, **given)
            moved = self._motion(asked, script, given, undamped)
        rows += _vector_rows("tip", asked.tip, tree_tip(given, given["start"]))
        if moved is not None:
            rows += _vector_rows("motion", asked.motion.moved, moved)
        return rows

    @staticmethod
    def _motion(asked: Asked, script: dict[str, Any], given: Any, data: Path) -> Array | None:
        """Displacement (3,) of the tip in the short motion, None for robots with loops."""
        items: Any = importlib.import_module("exudyn.itemInterface")
        exudyn: Any = importlib.import_module("exudyn")

        if len(given["closure_links"]):
            return None  # index 3 with weights of 1e-7 kg: its frequencies are compared alone
        motion = asked.motion
        _, system, _, node = script["build_robot"](data=data)

        def pulse(_system: Any, t: float, peak: float) -> float:
            return float(peak * pulse_shape(t / motion.duration))

        for motor, peak in zip(given["motors"], motion.peak_effort, strict=True):
            moved_by = items.MarkerNodeCoordinate(nodeNumber=node, coordinate=int(motor))
            marker = system.AddMarker(moved_by)
            system.AddLoad(
                items.LoadCoordinate(markerNumber=marker, load=float(peak), loadUserFunction=pulse)
            )
        system.Assemble()
        settings = exudyn.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.numberOfSteps = 2000
        settings.timeIntegration.endTime = motion.duration
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        system.SolveDynamic(settings)
        end = np.asarray(system.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates), float)
        return tree_tip(given, end) - tree_tip(given, given["start"])


class PinocchioEngine(Engine):
    """The rigid skeleton as URDF in Pinocchio: mass, tip, joint efforts of a motion."""

    module: ClassVar = "pinocchio"
    meshes: ClassVar = False

    def refusal(self, asked: Asked) -> str:
        try:
            UrdfFiles().refuse(asked.robot)
        except SuppleError as problem:
            return str(problem)
        if any(len(link.axes) > 1 for link in asked.skeleton.links):
            return f"{asked.robot.name} has joints about several axes, which are not asked here"
        return ""

    def answers(self, asked: Asked, mesh: int) -> list[EngineAnswer]:
        import pinocchio

        from .urdf_files import urdf_text

        model = pinocchio.buildModelFromXML(urdf_text(asked.robot, [], raised=False))
        model.gravity.linear = asked.skeleton.gravity
        data = model.createData()
        q = pinocchio.neutral(model)
        places: list[int] = []
        for link in asked.skeleton.motors:
            joint = model.joints[model.getJointId(f"{xml_text(link.name)}_joint")]
            value = float(asked.theta[len(places)])
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                [np.cos(value), np.sin(value)] if joint.nq == 2 else value
            )
            places.append(int(joint.idx_v))
        rows = [
            EngineAnswer("mass, kg", asked.mass, float(sum(body.mass for body in model.inertias)))
        ]
        pinocchio.framesForwardKinematics(model, data, q)
        tip = np.array(data.oMf[model.getFrameId("tip")].translation)
        rows += _vector_rows("tip", asked.tip, tip)
        ours = asked.rigid
        if ours.joints != ours.size or not places:
            return rows

        # efforts of a state of the same robot with rigid links
        rates = np.array([0.3 * (k + 1) for k in range(len(places))])
        velocity = np.zeros(model.nv)
        velocity[places] = rates
        found = np.asarray(pinocchio.rnea(model, data, q, velocity, 0.5 * velocity))[places]
        weighing = build(ours.robot.with_("gravity", asked.skeleton.gravity.tolist()))
        wanted = weighing.inverse_dynamics(asked.theta, rates, 0.5 * rates)
        dissipated = ours.functions.evaluator("dissipation")(asked.theta, rates)[0]
        rotors = np.array([link.joint.reflected_inertia for link in asked.skeleton.motors])
        wanted = wanted - dissipated - rotors * 0.5 * rates
        scale = float(np.abs(wanted).max()) or 1.0
        for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
            rows.append(
                EngineAnswer(f"effort of joint {k + 1}, links rigid", float(a), float(b), scale)
            )

        # the short motion of the same robot with rigid links
        model.gravity.linear = np.zeros(3)
        M = np.asarray(pinocchio.crba(model, data, q))
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(places, places)] + np.diag(rotors)
        period = asked.motion.duration
        peak = np.diag(M) * np.sign(asked.motion.peak_effort) * PEAK_TURN / period**2
        motion = ShortMotion(period, peak, np.zeros(3))
        moved = motion.of_model(ours, asked.theta)
        theirs = self._motion(asked, motion, model, q, places, rotors) - tip
        rows += _vector_rows("motion, links rigid,", moved, theirs)
        return rows

    @staticmethod
    def _motion(
        asked: Asked, motion: ShortMotion, model: Any, q: Array, places: list[int], rotors: Array
    ) -> Array:
        """Position (3,) of the tip at the end of the short motion, by steps of rk4."""
        import pinocchio

        data = model.createData()
        damping = asked.rigid.functions.evaluator("dissipation")

        def acceleration(t: float, at: Array, velocity: Array) -> Array:
            M = np.asarray(pinocchio.crba(model, data, at))
            M = np.triu(M) + np.triu(M, 1).T
            M[places, places] += rotors
            effort = -np.asarray(pinocchio.nle(model, data, at, velocity))
            effort[places] += motion.effort(t) - damping(asked.theta, velocity[places])[0]
            return np.asarray(np.linalg.solve(M, effort))

        # dry friction is steep near rest: 200 steps moved a Z1 arm 30 % wrong, 4000 to 1e-5
        friction = any(np.any(link.joint.friction) for link in asked.skeleton.links)
        steps = 4000 if friction else 200
        h = motion.duration / steps
        velocity = np.zeros(model.nv)
        for k in range(steps):
            t = k * h
            a1 = acceleration(t, q, velocity)
            v2 = velocity + h / 2 * a1
            a2 = acceleration(t + h / 2, pinocchio.integrate(model, q, h / 2 * velocity), v2)
            v3 = velocity + h / 2 * a2
            a3 = acceleration(t + h / 2, pinocchio.integrate(model, q, h / 2 * v2), v3)
            v4 = velocity + h * a3
            a4 = acceleration(t + h, pinocchio.integrate(model, q, h * v3), v4)
            q = pinocchio.integrate(model, q, h / 6 * (velocity + 2 * v2 + 2 * v3 + v4))
            velocity = velocity + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        pinocchio.framesForwardKinematics(model, data, q)
        return np.array(data.oMf[model.getFrameId("tip")].translation)


class OpenseesEngine(Engine):
    """Timoshenko elements in OpenSeesPy: frequencies and deflection of arms and trees."""

    module: ClassVar = "openseespy"

    @property
    def installed(self) -> bool:
        """Whether it is installed and its libraries load."""
        return importlib.util.find_spec(self.module) is not None and _opensees() is not None

    def refusal(self, asked: Asked) -> str:
        name = asked.robot.name
        if asked.skeleton.closures:
            return f"{name} has loops, which are not built there"
        for link in asked.skeleton.links:
            if link.kind == "slides" or (link.motor is None and link.kind != "fixed"):
                return f"{name} has joints that slide or are passive, which are not built there"
            if link.joint.stiffness is not None or link.joint.bearing is not None:
                return f"{name} has springs in its joints, which are not built there"
            needed = [1, 2, 4] if asked.skeleton.planar else [1, 2, 3, 4, 5, 6]
            if link.flexible and not np.isfinite(link.beam.at([0.0])[0][needed]).all():
                return f"{link.name} of {name} excludes deformations that its elements need"
            if not link.flexible:
                return f"{name} has rigid links, which are not built there"
            along = link.beam.at([0.0, link.length / 3, link.length])[:, needed]
            if not np.allclose(along, along[0], rtol=1e-9):
                return f"{link.name} of {name} varies along its length"
        if asked.skeleton.robot.foundation is not None:
            return f"{name} stands on a foundation, which is not built there"
        return ""

    def answers(self, asked: Asked, mesh: int) -> list[EngineAnswer]:
        ops = _opensees()
        assert ops is not None
        ends = self._build(ops, asked, mesh)
        count = len(asked.exact_hz)
        squares = np.sort(np.array(ops.eigen("-genBandArpack", max(count, 1))))
        rows = _frequency_rows(asked, np.sqrt(np.maximum(squares, 0.0)) / (2 * np.pi))
        if not asked.weighs:  # weights would have to be spread over elements by hand
            ops.timeSeries("Linear", 1)
            ops.pattern("Plain", 1, 1)
            ops.load(ends[asked.skeleton.tip], *asked.load.tolist(), 0.0, 0.0, 0.0)
            ops.system("BandGeneral")
            ops.numberer("RCM")
            ops.constraints("Plain")
            ops.integrator("LoadControl", 1.0)
            ops.algorithm("Linear")
            ops.analysis("Static")
            ops.analyze(1)
            moved = np.array(ops.nodeDisp(ends[asked.skeleton.tip]))[:3]
            if asked.skeleton.planar:
                moved[2] = 0.0
            rows += _vector_rows(asked.sag_words, asked.sag, moved)
        ops.wipe()
        moved = self._shaken(ops, asked, mesh)
        rows += _vector_rows("vibration under a pulse of 1 N, joints locked,", asked.shaken, moved)
        return rows

    def _shaken(self, ops: Any, asked: Asked, mesh: int) -> Array:
        """Displacement (3,) of the tip under a pulse of force on it, by Newmark's method."""
        tip = self._build(ops, asked, mesh)[asked.skeleton.tip]
        steps = 2000
        h = SHAKEN_PART * asked.motion.duration / steps
        values = pulse_shape(np.linspace(0.0, SHAKEN_PART, steps + 1)).tolist()
        ops.timeSeries("Path", 1, "-dt", h, "-values", *values)
        ops.pattern("Plain", 1, 1)
        ops.load(tip, *UNIT_FORCE.tolist(), 0.0, 0.0, 0.0)
        ops.system("BandGeneral")
        ops.numberer("RCM")
        ops.constraints("Plain")
        ops.integrator("Newmark", 0.5, 0.25)
        ops.algorithm("Linear")
        ops.analysis("Transient")
        ops.analyze(steps, h)
        moved = np.array(ops.nodeDisp(tip))[:3]
        if asked.skeleton.planar:
            moved[2] = 0.0
        ops.wipe()
        return moved

    @staticmethod
    def _build(ops: Any, asked: Asked, mesh: int) -> dict[int, int]:
        """Build the locked robot; return the node at the end of every link."""
        skeleton = asked.skeleton
        structure = structure_of(
            asked.robot, architecture_of(asked.robot).resolve(asked.theta, None).at
        )
        ops.wipe()
        ops.model("basic", "-ndm", 3, "-ndf", 6)
        ops.node(1, 0.0, 0.0, 0.0)
        ops.fix(1, *[1] * 6)
        names = [segment.name for segment in structure.segments]
        ends: dict[int, int] = {}
        masses: dict[int, Array] = {}
        node = 1
        for i, link in enumerate(skeleton.links):
            k = names.index(link.name)
            R = structure.R[0, k]
            p = structure.p[0, k]
            m, EA, EI_xy, EI_xz, kGA_xy, kGA_xz, GJ, _, _, rIp = link.beam.at([0.0])[0]
            if skeleton.planar:  # nothing moves out of the plane: any values will do there
                EI_xz = EI_xy
                kGA_xz = kGA_xy
                GJ = EI_xy
                rIp = m * EI_xy / EA
            ops.geomTransf("Linear", i + 1, *R[:, 2].tolist())
            G = GJ * m / rIp
            section = (EA, G, 1.0, GJ / G, EI_xz / EA, EI_xy / EA, kGA_xy / G, kGA_xz / G)
            before = 1 if link.parent < 0 else ends[link.parent]
            turned = np.kron(np.eye(2), R)
            for matrix, at in ((link.root_mass, before), (link.tip_mass, 0)):
                masses[at] = masses.get(at, np.zeros((6, 6))) + turned @ matrix @ turned.T
            for j in range(mesh):
                node += 1
                ops.node(node, *(p + R[:, 0] * link.length * (j + 1) / mesh).tolist())
                if skeleton.planar:
                    ops.fix(node, 0, 0, 1, 1, 1, 0)
                first = before if j == 0 else node - 1
                ops.element(
                    *("ElasticTimoshenkoBeam", node, first, node, *section, i + 1),
                    *("-mass", float(m), "-cMass"),
                )
            ends[i] = node
            masses[node] = masses.get(node, np.zeros((6, 6))) + masses.pop(0)
        for at, matrix in masses.items():
            if at != 1:  # nodal masses are diagonal there
                ops.mass(at, *np.diag(matrix).tolist())
        return ends


def _opensees() -> Any:
    """Return OpenSeesPy, quiet; None where it cannot be loaded. Its wheel brings its own BLAS."""
    spec = importlib.util.find_spec("openseespylinux")
    if spec is not None and spec.origin is not None:
        for name in ("libquadmath.so.0", "libgfortran.so.4", "libblas.so.3"):
            place = Path(spec.origin).parent / "lib" / name
            if place.exists():
                ctypes.CDLL(str(place))
    try:
        import openseespy.opensees as ops
    except (ImportError, RuntimeError):
        return None
    ops.logFile(os.devnull, "-noEcho")
    return ops


ENGINES: dict[str, Engine] = {
    "mujoco": MujocoEngine(),
    "exudyn": ExudynEngine(),
    "pinocchio": PinocchioEngine(),
    "opensees": OpenseesEngine(),
}
