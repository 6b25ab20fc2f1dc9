"""A Delta with parallelograms for Exudyn: legs as kinematic trees of sprung pieces, joints at D."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures import delta
from supple.beams.theory import Beam
from supple.beams.varying import beam_of
from supple.control.trajectories import Trajectory
from supple.robot import DeltaRobot

__all__ = ["ExudynDelta"]


class _Tree:
    """Lists of a kinematic tree, joint by joint: one hinge a link, bodies on the last of each."""

    def __init__(self) -> None:
        self.types: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[np.ndarray] = []
        self.masses: list[float] = []
        self.inertias: list[np.ndarray] = []
        self.centres: list[np.ndarray] = []
        self.start: list[float] = []
        self.P: list[float] = []
        self.D: list[float] = []

    def hinge(
        self, axis: str, parent: int, offset: Any, k: float, beta: float, at: float = 0.0
    ) -> int:
        self.types.append(axis)
        self.parents.append(parent)
        self.offsets.append(np.asarray(offset, float))
        self.masses.append(0.0)
        self.inertias.append(np.zeros((3, 3)))
        self.centres.append(np.zeros(3))
        self.start.append(at)
        self.P.append(k)
        self.D.append(beta * k)
        return len(self.types) - 1

    def body(self, link: int, beam: Beam, length: float) -> None:
        m = beam.m * length
        spin = beam.rIp * length
        across = max(m * length**2 / 12, spin)
        self.masses[link] = m
        self.inertias[link] = np.diag([spin, across, across])
        self.centres[link] = np.array([length / 2, 0.0, 0.0])

    def pieces(self, root: int, beam: Beam, n: int, beta: float, spin: bool) -> int:
        """Half a piece on the root link, then n hinged pieces; return the last link."""
        l = beam.L / n
        self.body(root, beam, l / 2)
        axes = [("X", beam.GJ)] if spin else []
        axes += [("Y", beam.EI[1]), ("Z", beam.EI[0])]
        for i in range(1, n + 1):
            offset = [l / 2 if i == 1 else l, 0.0, 0.0]
            for axis, k in axes:
                root = self.hinge(axis, root, offset, k / l, beta)
                offset = [0.0, 0.0, 0.0]
            self.body(root, beam, l if i < n else l / 2)
        return root


class ExudynDelta:
    """One robot, ready to be run along a path from its undeformed shape."""

    def __init__(
        self, robot: DeltaRobot, path: Trajectory, n: int, beta: float, step: float
    ) -> None:
        self.robot = robot
        self.path = path
        self.n = n
        self.beta = beta
        self.step = step

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and the platform's displacement from the rigid motion, (T, 3).

        The robot settles for 1 s under four times its damping before it moves.
        """
        import exudyn as exu
        import exudyn.utilities as eu

        container = exu.SystemContainer()
        mbs = container.AddSystem()
        start = self.path(0.0)[0]
        rest = 1.0
        trees = self._assemble(exu, eu, mbs, start)
        out: list[np.ndarray] = []

        def before(system: Any, t: float) -> bool:
            x, v, _ = self.path(max(t - rest, 0.0))
            if t < rest:
                v = np.zeros(3)
            from supple.architectures.delta_motion import motion

            theta, rate, _ = (z[0] for z in motion(self.robot, x, v).theta)
            for leg, (tree, offset, D) in enumerate(trees):
                offset[0] = theta[leg]
                speed = np.zeros(len(offset))
                speed[0] = rate[leg]
                system.SetObjectParameter(tree, "jointPositionOffsetVector", offset)
                system.SetObjectParameter(tree, "jointVelocityOffsetVector", speed)
                if abs(t - rest) < 0.6 * self.step:
                    system.SetObjectParameter(tree, "jointDControlVector", D)
            out.append(np.array(system.GetNodeOutput(self._node, exu.OutputVariableType.Position)))
            return True

        mbs.SetPreStepUserFunction(before)
        mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = rest + self.path.duration
        settings.timeIntegration.numberOfSteps = round((rest + self.path.duration) / self.step)
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.timeIntegration.verboseMode = 0
        settings.solutionSettings.writeSolutionToFile = False
        settings.timeIntegration.newton.useModifiedNewton = True
        mbs.SolveDynamic(settings)
        moved = np.array(out)[round(rest / self.step) :]
        t = np.arange(len(moved)) * self.step
        return t, moved - self.path(t)[0]

    def _assemble(self, exu: Any, eu: Any, mbs: Any, start: np.ndarray) -> list[Any]:
        robot = self.robot
        at = delta.place(self.robot, start)
        body = robot.platform.body
        inertia = eu.RigidBodyInertia(body.mass, np.diag(body.inertia), [0, 0, 0])
        made = mbs.CreateRigidBody(
            inertia=inertia, referencePosition=list(start), gravity=list(robot.gravity)
        )
        self._node = mbs.GetObjectParameter(made, "nodeNumber")
        upper = beam_of(robot, robot.upper)
        lower = beam_of(robot, robot.lower)
        half = (robot.lower.spacing or 0.0) / 2
        trees = []
        for leg in range(3):
            tree = _Tree()
            phi1, phi2, phi3 = at.phi[0, leg]
            hip = tree.hinge("Y", -1, [0, 0, 0], 1e5, 1e-3, phi1)
            end = tree.pieces(hip, upper, self.n, self.beta, True)
            tips = []
            for side in (-half, half):
                offset = [upper.L / self.n / 2, side, 0.0]
                root = tree.hinge("Y", end, offset, 0.0, 0.0, phi2)
                root = tree.hinge("Z", root, [0, 0, 0], 0.0, 0.0, phi3)
                tips.append(tree.pieces(root, lower, self.n, self.beta, False))
            number = self._tree(exu, eu, mbs, tree, at, leg)
            for side, tip in zip((-half, half), tips, strict=True):
                place = robot.platform.radius * at.R_leg[leg, :, 0] + side * at.R_leg[leg, :, 1]
                a = mbs.AddMarker(
                    eu.MarkerKinematicTreeRigid(
                        objectNumber=number,
                        linkNumber=tip,
                        localPosition=[lower.L / self.n / 2, 0, 0],
                    )
                )
                b = mbs.AddMarker(eu.MarkerBodyPosition(bodyNumber=made, localPosition=place))
                mbs.AddObject(eu.ObjectJointSpherical(markerNumbers=[a, b]))
            D = np.array(tree.D)
            offset_vector = np.zeros(len(D))
            offset_vector[0] = phi1
            trees.append((number, offset_vector, D))
        return trees

    def _tree(self, exu: Any, eu: Any, mbs: Any, tree: _Tree, at: Any, leg: int) -> int:
        size = len(tree.types)
        node = mbs.AddNode(
            eu.NodeGenericODE2(
                referenceCoordinates=np.zeros(size),
                initialCoordinates=np.array(tree.start),
                initialCoordinates_t=np.zeros(size),
                numberOfODE2Coordinates=size,
            )
        )
        turns = [np.eye(3) for _ in range(size)]
        turns[0] = at.R_leg[leg]
        offsets = list(tree.offsets)
        offsets[0] = at.A[0, leg]
        kinds = {
            "X": exu.JointType.RevoluteX,
            "Y": exu.JointType.RevoluteY,
            "Z": exu.JointType.RevoluteZ,
        }
        damping = 4 * np.array(tree.D)
        damping[0] = tree.D[0]
        number: int = mbs.AddObject(
            eu.ObjectKinematicTree(
                nodeNumber=node,
                jointTypes=[kinds[a] for a in tree.types],
                linkParents=tree.parents,
                jointTransformations=exu.Matrix3DList(turns),
                jointOffsets=exu.Vector3DList(offsets),
                linkInertiasCOM=exu.Matrix3DList(tree.inertias),
                linkCOMs=exu.Vector3DList(tree.centres),
                linkMasses=tree.masses,
                gravity=list(self.robot.gravity),
                jointPControlVector=tree.P,
                jointDControlVector=list(damping),
                jointPositionOffsetVector=[tree.start[0], *[0.0] * (size - 1)],
                jointVelocityOffsetVector=[0.0] * size,
            )
        )
        return number
