"""The benches measure what they say: timing rules, verdicts, and peers that solve the same arm."""

import json

import bench.__main__ as door
import numpy as np
import pytest
from bench.arms import SPATIAL, plain, poses, rotation
from bench.growth import arm, exponent
from bench.opensees import OpenSeesArm, opensees
from bench.page import INTRODUCTION, PICTURES, page, table
from bench.report import Check, Goal, Report, format_seconds, rows_of
from bench.scipy_beams import ScipyArm
from bench.timing import Contestant, Timing, measure
from bench.visits import modules_by_robot

import supple
from supple.architectures.serial import place

ARMS = ["industrial-3", "di-castri-two-link", SPATIAL]
IDS = ["industrial", "two-link", "spatial"]


def test_contestants_take_turns_after_one_untimed_round() -> None:
    calls: list[str] = []
    racers = {name: Contestant(lambda name=name: calls.append(name), 2) for name in "ab"}
    timings, _ = measure(racers, repeats=5)
    assert calls == ["a", "b"] * 6
    assert [len(timing.wall) for timing in timings.values()] == [5, 5]


def test_the_quoted_time_is_the_median_and_ratios_are_formed_by_round() -> None:
    slow = Timing((2.0, 40.0, 2.0, 6.0, 2.0), (9.0,) * 5)
    fast = Timing((1.0, 20.0, 1.0, 2.0, 1.0), (9.0,) * 5)
    assert slow.seconds == 2.0
    assert slow.over(fast) == 2.0
    assert slow.disturbed
    assert not Timing((1.0,), (9.0,), outside=True).disturbed
    assert [row.ratio for row in rows_of({"fast": fast, "slow": slow})] == [1.0, 2.0]


def test_verdicts_are_honest() -> None:
    assert Goal("speed", 50e-6, 51e-6).line() == "MISS  speed: 51 us, goal 50 us"
    assert Goal("speed", 50e-6, 49e-6).met
    assert not Report("t", "call", checks=[Check("a", True), Check("b", False)]).right
    assert [format_seconds(x) for x in (1.5, 2e-3, 3e-6, 4e-9)] == ["1.5 s", "2 ms", "3 us", "4 ns"]


@pytest.mark.parametrize("name", ARMS, ids=IDS)
def test_the_peers_own_geometry_is_the_robots(name: object) -> None:
    robot = supple.load(name)
    theta = poses(len(robot.links), 1)[0]
    R = np.eye(3)
    for i, turn in enumerate(plain(robot).turns(theta)):
        R = R @ turn
        np.testing.assert_allclose(R, place(robot, theta).R[0, i], atol=1e-14)


def test_rotations_turn_by_the_right_hand() -> None:
    turned = rotation(np.array([[0.0, 0.0, 1.0]]), np.array([np.pi / 2]))[0] @ [1.0, 0.0, 0.0]
    np.testing.assert_allclose(turned, [0, 1, 0], atol=1e-15)


@pytest.mark.parametrize("name", ARMS, ids=IDS)
@pytest.mark.parametrize("options", [{"elements": 16}, {"degree": 12}], ids=["cubic", "spectral"])
def test_the_scipy_peer_solves_the_same_arm(name: object, options: dict[str, int]) -> None:
    robot = supple.load(name)
    theta = poses(len(robot.links), 1)[0]
    error = ScipyArm(plain(robot), **options).omega(theta) / supple.modes(robot, theta).omega - 1
    allowed = 1e-6 if "degree" in options else 2e-3
    assert error.min() > -1e-6
    assert error.max() < allowed


@pytest.mark.parametrize("name", ARMS, ids=IDS)
def test_opensees_solves_the_same_arm(name: object) -> None:
    ops = opensees()
    if ops is None:
        pytest.skip("OpenSeesPy is in the bench extra")
    robot = supple.load(name)
    theta = poses(len(robot.links), 1)[0]
    error = OpenSeesArm(ops, plain(robot), 8).omega(theta) / supple.modes(robot, theta).omega - 1
    assert error.min() > -1e-6
    assert error.max() < 1e-2


def test_a_known_exponent_is_found_and_links_differ() -> None:
    assert exponent([1, 10, 100], [3.0, 30.0, 300.0]) == pytest.approx(1)
    assert len({link.length for link in arm(5, alike=False).links}) == 5
    assert len({link.length for link in arm(5, alike=True).links}) == 1


def test_benches_are_chosen_by_the_beginning_of_their_names() -> None:
    assert door.chosen([]) == list(door.BENCHES)
    growth = {"growth-alike", "growth-different", "growth-modes", "growth-configurations"}
    growth |= {f"growth-model-{kind}" for kind in ("planar", "spatial", "loops")}
    assert set(door.chosen(["growth"])) == growth
    with pytest.raises(SystemExit, match="no bench begins with 'nothing'"):
        door.chosen(["nothing"])


@pytest.mark.parametrize(
    ("report", "strict", "code"),
    [
        (Report("t", "call", checks=[Check("right", True)]), True, 0),
        (Report("t", "call", checks=[Check("wrong", False)]), False, 1),
        (Report("t", "call", goals=[Goal("missed", 1.0, 2.0)]), False, 0),
        (Report("t", "call", goals=[Goal("missed", 1.0, 2.0)]), True, 1),
        (None, False, 1),
    ],
)
def test_exit_codes_and_one_json_document(
    report: Report | None,
    strict: bool,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fake(quick: bool) -> Report:
        if report is None:
            raise ArithmeticError("broken")
        return report

    monkeypatch.setattr(door, "BENCHES", {"fake": fake})
    assert door.main(["--json", *(["--strict"] if strict else [])]) == code
    document = json.loads(capsys.readouterr().out)
    assert ("fake" in document["failed"]) == (report is None)


@pytest.mark.slow
def test_a_quick_bench_runs_and_its_answers_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(["--quick", "--json", "growth-different"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = document["benches"]["growth-different"]["rows"]
    assert all(row["seconds"] > 0 for row in rows)


def test_the_performance_page_is_what_the_benches_write() -> None:
    """Every bench of a run has its title, its command, its table and its verdicts on the page."""
    document = Report(
        "Title",
        "call",
        rows_of({"two threads": Timing((1e-6, 1e-6, 2e-6), (1.0,) * 3)}),
        [Goal("g", 2.0, 1.0, False)],
        [Check("c", True)],
        ["a note"],
    ).document()
    lines = [
        "|  | time | spread | ratio |",
        "|---|---:|---:|---:|",
        "| two threads | 1 us | 100% | 1 |",
    ]
    assert table(document) == lines
    run = {
        **door.surroundings(),
        "load_after": [],
        "quick": True,
        "benches": {name: document for name, _, _ in PICTURES.values()},
    }
    text = page(run)
    assert text.startswith(INTRODUCTION)
    assert text.count("\n".join(lines)) == len(PICTURES)
    for key, (name, title, _) in PICTURES.items():
        assert f"## {title}\n" in text
        assert f"](performance/{key}.svg)" in text
        assert f"`python -m bench {name}`" in text
    for words in ("- met: g: 1, goal 2\n", "- right: c\n", "- a note\n"):
        assert text.count(words) == len(PICTURES)
    document["rows"][0]["name"] = "one thread"
    assert "performance/workers.svg" not in page(run)  # threads were not timed


FAMILY = {  # a description of its own, where its links stand, the section its file names
    "de-luca-two-link": {"robot.serial", "architectures.serial", "structure.serial"},
    "five-bar": {"sections"},
    "kuo-delta": {"robot.delta", "architectures.delta", "structure.delta", "sections"},
}
OPEN = {"equations.chain_functions", "equations.chains.end_coordinates"}
CLOSURES = {
    "architectures.assembling",
    "architectures.hanging",
    "structure.general",
    "robot.closure",
    "equations.closed",
}
CLOSURES |= {"equations.chains.limbs", "equations.chains.balls"}
CLOSURES |= {"kernels.elimination", "kernels.jets"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_run_visits_the_same_modules_for_every_family_apart_from_closures() -> None:
    """Beyond what all have in common: the family's own, closures, and the method of the steps."""
    modules = modules_by_robot(FAMILY)
    common = set.intersection(*modules.values())
    assert len(common) > 60
    for name, visited in modules.items():
        family = OPEN if name == "de-luca-two-link" else CLOSURES
        allowed = FAMILY[name] | family | {"integration.steppers"}
        others = []
        for module in visited - common:
            packages = [module[:end] for end in range(len(module)) if module[end] == "."]
            if not allowed.intersection([module, *packages]):
                others.append(module)
        assert not others, f"{name}: {others}"
