"""Equations of motion: one evaluation, a run, building, and growth with the number of links.

A flexible arm of n links with 2 modes each (3 n coordinates) stands beside rigid chains of 3 n
joints in other engines. One evaluation is timed as a loop would call it: arrays bound once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import supple

from .engines import exudyn_chain, mujoco_chain, pinocchio_chain, state
from .growth import exponent
from .report import Check, Goal, Report, rows_of
from .timing import REPEATS, Contestant, measure

__all__ = ["BENCHES"]

CALLS = 2000
QUICK_CALLS = 300
EXUDYN_STEPS = 200


def arm(links: int) -> supple.SerialRobot:
    """Return the arm of [DeLuca1991] with its second link repeated."""
    robot = supple.load("de-luca-two-link")
    assert isinstance(robot, supple.SerialRobot)
    many = [robot.links[1].model_copy(update={"name": f"link{i + 1}"}) for i in range(links)]
    return robot.model_copy(update={"links": tuple(many)})


def repeated(call: Callable[[], object], count: int) -> Contestant:
    def loop() -> None:
        for _ in range(count):
            call()

    return Contestant(loop, count)


def bound(model: supple.Model) -> Callable[[], object]:
    """One evaluation of the forward dynamics over arrays that stay where they are."""
    (q, qd, tau), _, run = model.functions.evaluator("forward_dynamics").buffers()
    q[:], qd[:], _ = (0.1 * x for x in state(model.size))
    tau[:] = 0.1
    return run


def peers(n: int, count: int) -> tuple[dict[str, Contestant], list[Check], list[str]]:
    """Pinocchio, MuJoCo and Exudyn on a rigid chain of n joints; which of them are not there."""
    found: dict[str, Contestant] = {}
    answers = []
    missing = []
    for name, make in (("Pinocchio ABA, rigid", pinocchio_chain), ("MuJoCo, rigid", mujoco_chain)):
        try:
            call, answer = make(n)
        except ImportError:
            missing.append(name)
            continue
        found[name] = repeated(call, count)
        answers.append(answer())
    try:
        found["Exudyn, rigid, rk4 / 4"] = Contestant(
            exudyn_chain(n, EXUDYN_STEPS), 4 * EXUDYN_STEPS
        )
    except ImportError:
        missing.append("Exudyn")
    agree = [Check("Pinocchio and MuJoCo agree on the chain", np.allclose(*answers, rtol=1e-6))]
    return found, agree if len(answers) == 2 else [], missing


def forward(links: int) -> Callable[[bool], Report]:
    """A bench of one evaluation at 3 x links coordinates."""

    def bench(quick: bool) -> Report:
        count = QUICK_CALLS if quick else CALLS
        n = 3 * links
        plain = supple.build(arm(links), supple.AssumedModes(2))
        c = supple.build(arm(links), supple.AssumedModes(2), compiled=True)
        others, checks, missing = peers(n, count)
        racers = {"supple": repeated(bound(plain), count), "supple, C": repeated(bound(c), count)}
        timings, _ = measure(racers | others, 3 if quick else REPEATS)
        checks += [agreement(plain, c), balance(plain)]
        goals = []
        if (peer := timings.get("Pinocchio ABA, rigid")) is not None:
            goals = [
                Goal("without compiling, over Pinocchio", 1.0, timings["supple"].over(peer), False),
                Goal("generated C, over Pinocchio", 1 / 3, timings["supple, C"].over(peer), False),
            ]
        ops = plain.functions.expression("forward_dynamics").n_instructions()
        notes = [f"{ops} instructions of CasADi's virtual machine"]
        title = f"forward dynamics, {n} coordinates"
        return Report(title, "evaluation", rows_of(timings), goals, checks, notes, missing)

    return bench


def agreement(plain: supple.Model, other: supple.Model) -> Check:
    q, qd, _ = (0.1 * x for x in state(plain.size))
    tau = np.full(plain.joints, 0.1)
    found = [m.forward_dynamics(q, qd, tau) for m in (plain, other)]
    return Check("generated C gives the same", np.allclose(*found, rtol=1e-10))


def balance(model: supple.Model) -> Check:
    """Forward dynamics against mass matrix, bias and stiffness of other recursions."""
    q, qd, _ = (0.1 * x for x in state(model.size))
    tau = np.append(np.full(model.joints, 0.1), np.zeros(model.size - model.joints))
    qdd = model.forward_dynamics(q, qd, tau[: model.joints])
    rest = model.mass_matrix(q) @ qdd + model.bias(q, qd) + model.stiffness @ q - tau
    right = np.abs(rest).max() < 1e-9 * np.abs(model.stiffness @ q).max()
    return Check("M qdd + h + K q = tau", bool(right))


def runs(quick: bool) -> Report:
    """2 s of rk4 at 1 ms, 6 coordinates, as `simulate` does it."""
    model = supple.build(arm(2), supple.AssumedModes(2))
    tau = supple.BangBang(0.2)

    def run(compiled: bool) -> supple.Response:
        return supple.simulate(model, tau, duration=2.0, step=1e-3, compiled=compiled)

    racers = {name: Contestant(lambda c=c: run(c)) for name, c in (("supple", False), ("C", True))}
    timings, answers = measure(racers, 3 if quick else REPEATS)
    exact = supple.simulate(model, tau, duration=2.0, method="adams", tolerance=1e-11)
    error = np.abs(answers["supple"].q[-1] - exact.q[-1]).max()
    checks = [
        Check(f"rk4 is within 1e-3 of CVODES ({error:.0e})", bool(error < 1e-3)),
        Check(
            "generated C gives the same", np.allclose(*(r.q for r in answers.values()), atol=1e-9)
        ),
    ]
    goals = [
        Goal("without compiling", 15e-3, timings["supple"].seconds),
        Goal("generated C", 5e-3, timings["C"].seconds),
    ]
    title = "2 s of rk4 at 1 ms, 6 coordinates"
    return Report(title, "run", rows_of(timings), goals, checks)


def builds(quick: bool) -> Report:
    """From a robot to its first accelerations, without compiling."""

    def first(links: int) -> np.ndarray:
        model = supple.build(arm(links), supple.AssumedModes(2))
        zero = np.zeros(model.size)
        return model.forward_dynamics(zero, zero, np.ones(model.joints))

    racers = {f"{3 * n} coordinates": Contestant(lambda n=n: first(n)) for n in (2, 6, 10)}
    timings, answers = measure(racers, 3 if quick else REPEATS)
    goals = [
        Goal("6 coordinates", 0.5, timings["6 coordinates"].seconds),
        Goal("30 coordinates", 2.0, timings["30 coordinates"].seconds),
    ]
    checks = [
        Check("accelerations are finite", all(np.isfinite(a).all() for a in answers.values()))
    ]
    return Report("build and first evaluation", "build", rows_of(timings), goals, checks)


def growth(quick: bool) -> Report:
    """How one evaluation grows with the number of links."""
    links = (1, 2, 4, 8) if quick else (1, 2, 4, 8, 16, 32)
    models = {n: supple.build(arm(n), supple.AssumedModes(2)) for n in links}
    count = QUICK_CALLS if quick else CALLS
    racers = {f"{n} links": repeated(bound(models[n]), count) for n in links}
    timings, _ = measure(racers, 3 if quick else REPEATS)
    slope = exponent(links[1:], [timings[f"{n} links"].seconds for n in links[1:]])
    checks = [balance(models[2])]
    notes = [f"grows as links^{slope:.2f}"]
    title = "forward dynamics by number of links, 2 modes each"
    return Report(title, "evaluation", rows_of(timings), [], checks, notes)


BENCHES: dict[str, Callable[[bool], Report]] = {
    "dynamics-6": forward(2),
    "dynamics-18": forward(6),
    "dynamics-run": runs,
    "dynamics-build": builds,
    "dynamics-growth": growth,
}
