"""Planned moves: the analytic switches of a spring-mass pair, limits kept, rest at the end."""

import numpy as np
import pytest
from scipy.optimize import fsolve

import supple

ROTOR, LOAD, SPRING, EFFORT = 1.0, 2.0, 50.0, 1.0


def pair() -> supple.Model:
    link = {
        "name": "a",
        "length": 1.0,
        "theory": "rigid",
        "body": {"inertia": LOAD},
        "joint": {"stiffness": SPRING, "rotor_inertia": ROTOR},
    }
    robot = supple.SerialRobot(name="pair", planar=True, links=[link])
    return supple.build(robot, supple.AssumedModes(1))


def test_the_fastest_move_of_a_spring_mass_pair() -> None:
    """Full effort with switches at t1, T/2, T - t1: the whole turns by 1, the spring is at rest.

    With jumps a_i of the effort at t_i: sum a_i (T - t_i)^2 / 2 = J, sum a_i cos w(t_i - T/2) = 0.
    """
    w = np.sqrt(SPRING * (1 / ROTOR + 1 / LOAD))

    def conditions(z: np.ndarray) -> list[float]:
        t1, T = z
        jumps = [(0.0, 1), (t1, -2), (T / 2, 2), (T - t1, -2), (T, 1)]
        turned = sum(a * (T - t) ** 2 / 2 for t, a in jumps) * EFFORT / (ROTOR + LOAD)
        return [turned - 1.0, sum(a * np.cos(w * (t - T / 2)) for t, a in jumps)]

    rigid = 2 * np.sqrt((ROTOR + LOAD) / EFFORT)
    roots = [
        fsolve(conditions, [f * rigid, 1.05 * rigid], full_output=True)
        for f in np.linspace(0.3, 0.52, 23)
    ]
    good = [z for z, _, flag, _ in roots if flag == 1 and 0 < z[0] < z[1] / 2]
    t1, T = min(good, key=lambda z: z[1])
    found = supple.plan(pair(), [0.0], [1.0], effort_limit=EFFORT, pieces=100)
    assert T - 1e-6 <= found.duration <= T * (1 + 1e-3)  # efforts change on pieces only
    switches = found.t[1:-1][np.diff(np.sign(found.tau[:, 0])) != 0]
    piece = found.duration / 100
    assert switches == pytest.approx([t1, T / 2, T - t1], abs=piece)


def test_it_begins_and_ends_at_rest_and_keeps_limits() -> None:
    found = supple.plan(pair(), [0.0], [1.0], 5.0, effort_limit=EFFORT, speed_limit=0.4, pieces=40)
    assert found.duration == pytest.approx(5.0)
    assert np.abs(found.tau).max() <= EFFORT * (1 + 1e-6)
    assert np.abs(found.qd[:, 0]).max() <= 0.4 * (1 + 1e-6)
    assert found.q[[0, -1], 0] == pytest.approx([0, 1], abs=1e-9)
    assert found.q[[0, -1], 1] == pytest.approx([0, 0], abs=1e-9)
    assert found.qd[[0, -1]] == pytest.approx(np.zeros((2, 2)), abs=1e-9)


def test_the_motion_is_that_of_the_equations() -> None:
    """Integrated by SciPy under the planned efforts it arrives where the plan says."""
    from scipy.integrate import solve_ivp

    model = pair()
    found = supple.plan(model, [0.0], [1.0], effort_limit=EFFORT, pieces=50)
    x = np.concatenate([found.q[0], found.qd[0]])
    for a, b, u in zip(found.t[:-1], found.t[1:], found.tau, strict=True):
        x = solve_ivp(
            lambda _, y, u=u: np.concatenate([y[2:], model.forward_dynamics(y[:2], y[2:], u)]),
            (a, b),
            x,
            rtol=1e-9,
            atol=1e-11,
        ).y[:, -1]
    h = found.duration / 50
    w = np.sqrt(SPRING * 1.5)
    assert x == pytest.approx([1, 0, 0, 0], abs=(w * h) ** 4)  # order 4


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"effort_limit": None}, "needs effort_limit"),
        ({"effort_limit": -1.0}, "positive"),
        ({"effort_limit": 1.0, "duration": 0.5}, "too short"),
        ({"effort_limit": 1.0, "duration": -1.0}, "duration"),
        ({"effort_limit": 1.0, "end": [0.0]}, "no move"),
        ({"effort_limit": 1.0, "pieces": 1}, "pieces"),
    ],
)
def test_bad_input(given: dict, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.plan(pair(), [0.0], **{"end": [1.0], **given})
