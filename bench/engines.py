"""Rigid chains in other engines, as many joints as a flexible arm has coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["exudyn_chain", "mujoco_chain", "pinocchio_chain"]

LENGTH = 0.3
MASS = 0.5
Call = Callable[[], object]


def pinocchio_chain(n: int) -> tuple[Call, Callable[[], np.ndarray]]:
    """Return a call of Pinocchio's ABA on a chain of n rods, and its answer."""
    import pinocchio as pin

    model = pin.Model()
    parent = 0
    model.gravity.linear = np.zeros(3)
    rod = pin.Inertia(MASS, np.array([LENGTH / 2, 0, 0]), MASS * LENGTH**2 / 12 * np.eye(3))
    for i in range(n):
        at = pin.SE3(np.eye(3), np.array([LENGTH if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, pin.JointModelRZ(), at, f"j{i}")
        model.appendBodyToJoint(parent, rod, pin.SE3.Identity())
    data = model.createData()
    q, v, tau = state(n)
    return lambda: pin.aba(model, data, q, v, tau), lambda: np.array(
        pin.aba(model, data, q, v, tau)
    )


def mujoco_chain(n: int) -> tuple[Call, Callable[[], np.ndarray]]:
    """Return a call of MuJoCo's forward dynamics on the same chain, and its answer."""
    import mujoco

    I = MASS * LENGTH**2 / 12
    body = (
        "".join(
            f'<body pos="{LENGTH if i else 0} 0 0"><joint type="hinge" axis="0 0 1"/>'
            f'<inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" diaginertia="{I} {I} {I}"/>'
            for i in range(n)
        )
        + "</body>" * n
    )
    option = '<option gravity="0 0 0"><flag contact="disable" constraint="disable"/></option>'
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco>{option}<worldbody>{body}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state(n)

    def answer() -> np.ndarray:
        mujoco.mj_forward(model, data)
        return np.array(data.qacc)

    return lambda: mujoco.mj_forward(model, data), answer


def exudyn_chain(n: int, steps: int) -> Call:
    """Return a run of Exudyn's kinematic tree of n joints: rk4, so 4 evaluations a step."""
    import exudyn as exu
    from exudyn import itemInterface

    I = MASS * LENGTH**2 / 12
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        itemInterface.NodeGenericODE2(
            numberOfODE2Coordinates=n,
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[0.1] * n,
            initialCoordinates_t=[0.1] * n,
        )
    )
    system.AddObject(
        itemInterface.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteZ] * n,
            linkParents=list(range(-1, n - 1)),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList([[LENGTH if i else 0.0, 0.0, 0.0] for i in range(n)]),
            linkInertiasCOM=exu.Matrix3DList([np.diag([I, I, I])] * n),
            linkCOMs=exu.Vector3DList([[LENGTH / 2, 0.0, 0.0]] * n),
            linkMasses=[MASS] * n,
            baseOffset=[0.0, 0.0, 0.0],
            gravity=[0.0, 0.0, 0.0],
        )
    )
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = steps * 1e-4
    settings.timeIntegration.verboseMode = 0
    settings.displayComputationTime = False
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = 1.0
    kind = exu.DynamicSolverType.RK44
    return lambda: system.SolveDynamic(settings, solverType=kind)


def state(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A state and torques, seed fixed."""
    q, v, tau = np.random.default_rng(1991).normal(size=(3, n)) * 0.1
    return q, v, tau
