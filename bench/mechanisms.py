"""Loops: forward dynamics of the five-bar, beside Pinocchio's constrained dynamics of a rigid one.

As in a run, the coordinates that follow from the loop are looked for near where they were.
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


def robot(rigid: bool) -> supple.MechanismRobot:
    """Return the five-bar of the library, its bars flexible or rigid."""
    found = supple.load("five-bar")
    assert isinstance(found, supple.MechanismRobot)
    changes = {f"links.{link.name}.theory": "rigid" for link in found.links}
    return found.with_(changes) if rigid else found


def bound(model: supple.Model) -> tuple[Callable[[], object], np.ndarray]:
    """One evaluation over arrays that stay where they are, and where its answer is."""
    inputs, outputs, run = model.functions.evaluator("forward_dynamics", near=True).buffers()
    q = model.chain.pose()
    followers = list(model.functions.loops.followers)  # type: ignore[attr-defined]
    inputs[0][:] = q
    inputs[1][: model.joints] = 0.5
    inputs[2][:] = 0.1
    inputs[3][:] = model.functions.tree_coordinates(q)[1][followers]
    return run, outputs[0]


def pinocchio_five_bar() -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """Return a call of Pinocchio's constrained dynamics of the rigid five-bar, and its answer."""
    import pinocchio as pin

    given = robot(True)
    model = pin.Model()
    ends = []
    model.gravity.linear = np.asarray(given.gravity, float)
    section = 8e-3 * 20e-3 * 7850
    for i, link in enumerate(given.links):
        length = link.length or 0.0
        up = given.parents[i]
        at = np.array(link.joint.mount.xyz)
        at[0] += (given.links[up].length or 0.0) * (up >= 0)
        place = pin.SE3(np.eye(3), at)
        joint = model.addJoint(up + 1, pin.JointModelRZ(), place, link.name)
        m = section * length
        J = m * (length**2 + 8e-3**2) / 12  # its depth counts as well
        rod = pin.Inertia(m, np.array([length / 2, 0, 0]), np.diag([0.0, J, J]))
        model.appendBodyToJoint(joint, rod, pin.SE3.Identity())
        if i == given.tip_index and given.payload is not None:
            end = np.array([length, 0.0, 0.0])
            load = pin.Inertia(given.payload.mass, np.zeros(3), np.zeros((3, 3)))
            model.appendBodyToJoint(joint, load, pin.SE3(np.eye(3), end))
        ends.append((joint, pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))))
    ties = pin.StdVec_RigidConstraintModel()
    kept = pin.StdVec_RigidConstraintData()
    (a, at_a), (b, at_b) = ends[1], ends[3]
    tie = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, a, at_a, b, at_b, pin.ReferenceFrame.LOCAL
    )
    ties.append(tie)
    kept.append(tie.createData())
    data = model.createData()
    settings = pin.ProximalSettings(1e-12, 1e-12, 20)
    pin.initConstraintDynamics(model, data, ties, kept)
    twin = supple.build(robot(True), supple.AssumedModes(1))
    q = twin.chain.pose()
    z = twin.functions.tree_coordinates(q)[1]
    rate = twin.functions.evaluator("drift")
    order = [0, 2, 1, 3]  # z lists motors first
    zd = np.concatenate([np.full(2, 0.5), np.zeros(2)])
    followers = list(twin.functions.loops.followers)  # type: ignore[attr-defined]
    zd[followers] = rate(q, np.full(2, 0.5))[0]
    x = z[order]
    v = zd[order]
    tau = np.array([0.1, 0.0, 0.1, 0.0])

    def call() -> np.ndarray:
        return np.asarray(pin.constraintDynamics(model, data, x, v, tau, ties, kept, settings))

    return call, lambda: call()[[0, 2]]


def five_bar(quick: bool) -> Report:
    """One evaluation, flexible and rigid, interpreted and as generated C."""
    count = QUICK_CALLS if quick else CALLS
    flexible = supple.AssumedModes(2)
    stiff = supple.AssumedModes(1)
    models = {
        "supple, 10 coordinates": supple.build(robot(False), flexible),
        "supple, 10 coordinates, C": supple.build(robot(False), flexible, compiled=True),
        "supple, rigid": supple.build(robot(True), stiff),
        "supple, rigid, C": supple.build(robot(True), stiff, compiled=True),
    }
    calls = {name: bound(model) for name, model in models.items()}
    racers = {name: repeated(call, count) for name, (call, _) in calls.items()}
    checks = []
    missing = []
    goals = []
    try:
        call, answer = pinocchio_five_bar()
        racers[PINOCCHIO] = repeated(call, count)
        calls["supple, rigid"][0]()
        same = np.allclose(calls["supple, rigid"][1], answer(), rtol=1e-7)
        checks.append(Check("the rigid five-bar accelerates as Pinocchio's", same))
    except ImportError:
        missing.append("Pinocchio")
    timings, _ = measure(racers, 3 if quick else REPEATS)
    same = np.allclose(*(calls[f"supple, 10 coordinates{c}"][1] for c in ("", ", C")), rtol=1e-9)
    checks.append(Check("generated C gives the same", same))
    if (peer := timings.get(PINOCCHIO)) is not None:
        ratio = timings["supple, rigid, C"].over(peer)
        goals = [Goal("rigid, generated C, over Pinocchio", 1.0, ratio, False)]
    title = "forward dynamics of a five-bar with its loop closed"
    return Report(title, "evaluation", rows_of(timings), goals, checks, [], missing)


BENCHES: dict[str, Callable[[bool], Report]] = {"mechanism-five-bar": five_bar}
