"""Loops: forward dynamics of the five-bar, beside Pinocchio's constrained dynamics of a rigid one.

As in a run, the dependent coordinates of the loop are sought from their values one step before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import supple

from .dynamics import CALLS, QUICK_CALLS, repeated
from .report import Check, Goal, Report, rows_of
from .timing import REPEATS, measure

__all__ = ["BENCHES"]

PINOCCHIO = "Pinocchio constraintDynamics, rigid"

# The steel bars of the library's five-bar
BAR_DEPTH = 8e-3  # m
BAR_WIDTH = 20e-3  # m
STEEL_DENSITY = 7850  # kg/m^3

# The state at which everything is evaluated
MOTOR_SPEED = 0.5  # rad/s
MOTOR_TORQUE = 0.1  # N m


def robot(rigid: bool) -> supple.MechanismRobot:
    """Return the five-bar of the library, its bars flexible or rigid."""
    five_bar_robot = supple.load("five-bar")
    assert isinstance(five_bar_robot, supple.MechanismRobot)
    if not rigid:
        return five_bar_robot
    changes = {f"links.{link.name}.theory": "rigid" for link in five_bar_robot.links}
    return five_bar_robot.with_(changes)


def bound(model: supple.Model) -> tuple[Callable[[], object], np.ndarray]:
    """Return one evaluation over fixed arrays, and the array that receives its accelerations."""
    evaluator = model.functions.evaluator("forward_dynamics", near=True)
    inputs, outputs, evaluate = evaluator.buffers()
    q_input, qd_input, tau_input, dependent_input = inputs

    q = model.chain.pose()
    q_input[:] = q
    qd_input[: model.joints] = MOTOR_SPEED
    tau_input[:] = MOTOR_TORQUE
    dependent_input[:] = model.functions.tree_coordinates(q)[1][dependent_places(model)]
    return evaluate, outputs[0]


def dependent_places(model: supple.Model) -> list[int]:
    """Return which tree coordinates are determined by the loop."""
    return list(model.functions.loops.followers)  # type: ignore[attr-defined]


def pinocchio_five_bar() -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """Return a call of Pinocchio's constrained dynamics of the rigid five-bar, and its answer."""
    import pinocchio as pin

    five_bar_robot = robot(rigid=True)
    model = pin.Model()
    model.gravity.linear = np.asarray(five_bar_robot.gravity, float)
    bar_ends = []
    for i, link in enumerate(five_bar_robot.links):
        length = link.length or 0.0
        bar_end = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))

        # A bar hangs on the end of its parent, or stands on the base (parent -1).
        parent = five_bar_robot.parents[i]
        place = np.array(link.joint.mount.xyz)
        if parent >= 0:
            place[0] += five_bar_robot.links[parent].length or 0.0
        joint = model.addJoint(parent + 1, pin.JointModelRZ(), pin.SE3(np.eye(3), place), link.name)

        mass = STEEL_DENSITY * BAR_DEPTH * BAR_WIDTH * length
        inertia = mass * (length**2 + BAR_DEPTH**2) / 12
        centre = np.array([length / 2, 0, 0])
        bar = pin.Inertia(mass, centre, np.diag([0.0, inertia, inertia]))
        model.appendBodyToJoint(joint, bar, pin.SE3.Identity())
        if i == five_bar_robot.tip_index and five_bar_robot.payload is not None:
            payload = pin.Inertia(five_bar_robot.payload.mass, np.zeros(3), np.zeros((3, 3)))
            model.appendBodyToJoint(joint, payload, bar_end)
        bar_ends.append((joint, bar_end))

    # The loop is closed where the ends of the two outer bars meet.
    left_joint, left_end = bar_ends[1]
    right_joint, right_end = bar_ends[3]
    closure = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        model,
        left_joint,
        left_end,
        right_joint,
        right_end,
        pin.ReferenceFrame.LOCAL,
    )
    closures = pin.StdVec_RigidConstraintModel()
    closures.append(closure)
    closure_data = pin.StdVec_RigidConstraintData()
    closure_data.append(closure.createData())
    data = model.createData()
    settings = pin.ProximalSettings(1e-12, 1e-12, 20)
    pin.initConstraintDynamics(model, data, closures, closure_data)

    # The same state as supple's; its tree coordinates list the motors first, Pinocchio's the arms.
    order = [0, 2, 1, 3]
    twin = supple.build(five_bar_robot, supple.AssumedModes(1))
    q = twin.chain.pose()
    tree_angles = twin.functions.tree_coordinates(q)[1]
    tree_speeds = np.array([MOTOR_SPEED, MOTOR_SPEED, 0.0, 0.0])
    drift = twin.functions.evaluator("drift")
    tree_speeds[dependent_places(twin)] = drift(q, np.full(2, MOTOR_SPEED))[0]
    angles = tree_angles[order]
    speeds = tree_speeds[order]
    torques = np.array([MOTOR_TORQUE, 0.0, MOTOR_TORQUE, 0.0])

    def accelerations() -> np.ndarray:
        found = pin.constraintDynamics(
            model, data, angles, speeds, torques, closures, closure_data, settings
        )
        return np.asarray(found)

    def motor_accelerations() -> np.ndarray:
        return accelerations()[[0, 2]]

    return accelerations, motor_accelerations


def five_bar(quick: bool) -> Report:
    """One evaluation, flexible and rigid, interpreted and as generated C."""
    count = QUICK_CALLS if quick else CALLS
    flexible_basis = supple.AssumedModes(2)
    rigid_basis = supple.AssumedModes(1)
    models = {
        "supple, 10 coordinates": supple.build(robot(False), flexible_basis),
        "supple, 10 coordinates, C": supple.build(robot(False), flexible_basis, compiled=True),
        "supple, rigid": supple.build(robot(True), rigid_basis),
        "supple, rigid, C": supple.build(robot(True), rigid_basis, compiled=True),
    }
    racers = {}
    evaluations = {}
    accelerations = {}
    for name, model in models.items():
        evaluations[name], accelerations[name] = bound(model)
        racers[name] = repeated(evaluations[name], count)

    checks = []
    missing = []
    try:
        peer_call, peer_answer = pinocchio_five_bar()
    except ImportError:
        missing.append("Pinocchio")
    else:
        racers[PINOCCHIO] = repeated(peer_call, count)
        evaluations["supple, rigid"]()
        same = np.allclose(accelerations["supple, rigid"], peer_answer(), rtol=1e-7)
        checks.append(Check("the rigid five-bar accelerates as Pinocchio's", same))

    timings, _ = measure(racers, 3 if quick else REPEATS)

    same = np.allclose(
        accelerations["supple, 10 coordinates"],
        accelerations["supple, 10 coordinates, C"],
        rtol=1e-9,
    )
    checks.append(Check("generated C gives the same", same))
    goals = []
    if PINOCCHIO in timings:
        ratio = timings["supple, rigid, C"].over(timings[PINOCCHIO])
        goals.append(Goal("rigid, generated C, over Pinocchio", 1.0, ratio, False))
    title = "forward dynamics of a five-bar with its loop closed"
    return Report(title, "evaluation", rows_of(timings), goals, checks, [], missing)


BENCHES: dict[str, Callable[[bool], Report]] = {"mechanism-five-bar": five_bar}
