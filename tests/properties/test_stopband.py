"""Bands proven free: the counts, the proofs, the pockets."""

import numpy as np
import pytest
import threadpoolctl

import supple
from supple.budget import SizeWarning
from supple.kernels.roots import count_below
from supple.structure import structure_of
from supple.studies.design import stopband as module
from supple.studies.design.band_edge import BandEdge
from supple.studies.design.stopband import _parse_box

BOX = {"theta.link2": (-2.618, 2.618), "theta.link3": (-2.618, 2.618)}
FULL = {**BOX, "payload.mass": (0.0, 10.0)}


@pytest.fixture(scope="module")
def robot() -> supple.Robot:
    return supple.load("industrial-3")


@pytest.mark.parametrize("hertz", [3.0, 10.0, 30.0, 170.0])
def test_the_ties_count_what_the_kernel_counts(robot: supple.Robot, hertz: float) -> None:
    edge = BandEdge(robot, _parse_box(robot, BOX, None), 2 * np.pi * hertz)
    theta = np.random.default_rng(1).uniform(-2.6, 2.6, (40, 2))
    count, _ = edge.count_and_shares(theta, np.full_like(theta, 1e-9))
    found = supple.modes(robot, np.column_stack([np.zeros(40), theta]), count=8).frequency_hz
    assert (count == (found < hertz).sum(axis=1)).all()


def test_a_bound_bounds(robot: supple.Robot) -> None:
    """Within a cell whose shares stay below one, no random pose has another count."""
    rng = np.random.default_rng(2)
    hertz = 20.0
    edge = BandEdge(robot, _parse_box(robot, BOX, None), 2 * np.pi * hertz)
    proven = 0
    for _ in range(40):
        middle = rng.uniform(-2.5, 2.5, (1, 2))
        half = np.full((1, 2), rng.uniform(0.01, 0.2))
        count, share = edge.count_and_shares(middle, half)
        if share.sum() >= 1:
            continue
        proven += 1
        inside = middle + half * rng.uniform(-1, 1, (30, 2))
        found = supple.modes(robot, np.column_stack([np.zeros(30), inside]), count=8).frequency_hz
        assert ((found < hertz).sum(axis=1) == count[0]).all()
    assert proven > 5


def test_a_proof_that_samples_do_not_contradict(robot: supple.Robot) -> None:
    found = supple.stopband(robot, (120.0, 150.0), FULL)
    assert found.free is True
    assert found
    rng = np.random.default_rng(3)
    for mass in (0.0, 3.0, 10.0):
        theta = rng.uniform(-2.618, 2.618, (4000, 3))
        hertz = supple.modes(robot.with_("payload.mass", mass), theta, count=5).frequency_hz
        assert not ((hertz >= 120) & (hertz <= 150)).any()
    assert found.margin_hz > 0


@pytest.mark.soak
def test_ten_million_random_poses_do_not_contradict_a_proof(robot: supple.Robot) -> None:
    """Counts at the two edges of a band that is proven free, by the exact solver, are the same."""
    band = (120.0, 150.0)
    rng = np.random.default_rng(7)
    assert supple.stopband(robot, band, FULL).free is True
    each = 50_000
    below = set()
    for mass in np.linspace(0.0, 10.0, 200):
        theta = np.zeros((each, 3))
        theta[:, 1:] = rng.uniform(-2.618, 2.618, (each, 2))
        tree = structure_of(robot.with_("payload.mass", float(mass)), theta).tree()
        low, high = (
            count_below(tree, np.full(each, 2 * np.pi * hertz), guard)[0]
            for hertz, guard in zip(band, (1.0, -1.0), strict=True)
        )
        assert (low == high).all()  # guarded outwards: not one frequency in the closed band
        below |= set(low.tolist())
    assert below == {3}


def test_a_violation_is_one(robot: supple.Robot) -> None:
    found = supple.stopband(robot, (9.0, 12.0), FULL)
    assert found.free is False
    theta = [0.0, found.at["theta.link2"], found.at["theta.link3"]]
    one = robot.with_("payload.mass", found.at["payload.mass"])
    hertz = supple.modes(one, theta, count=6).frequency_hz
    assert ((hertz >= 9) & (hertz <= 12)).any()
    assert np.abs(hertz - found.frequency_hz).min() < 1e-9


def test_a_small_pocket_is_found(robot: supple.Robot) -> None:
    """The third frequency's highest values lie in a pocket: a band just below its summit."""
    grid = np.linspace(-2.618, 2.618, 81)
    theta = np.array([[0.0, a, b] for a in grid for b in grid])
    third = supple.modes(robot, theta, count=3).frequency_hz[:, 2]
    band = (third.max() - 0.05, third.max() + 5.0)
    share = float((third > band[0]).mean())
    found = supple.stopband(robot, band, BOX)
    assert share < 0.01
    assert found.free is False


def test_a_payload_that_passes_through() -> None:
    """Neither end of the payload rings in the band, but one between them does."""
    link = {
        "name": "a",
        "length": 1.0,
        "mass_per_length": 1.0,
        "bending_stiffness": 400.0,
        "theory": "euler-bernoulli",
    }
    links = [link, {**link, "name": "b"}]
    robot = supple.SerialRobot(name="two", planar=True, links=links)
    ends = [
        supple.modes(robot.with_("payload.mass", m), [0, 0.5], count=1).frequency_hz[0]
        for m in (0.0, 20.0)
    ]
    middle = (ends[0] + ends[1]) / 2
    found = supple.stopband(
        robot,
        (middle - 0.01, middle + 0.01),
        {"theta.b": (0.5, 0.5), "payload.mass": (0.0, 20.0)},
    )
    assert found.free is False
    assert 0 < found.at["payload.mass"] < 20
    assert found.frequency_hz == pytest.approx(middle, abs=0.01)


@pytest.mark.slow
def test_a_spatial_arm_with_joint_springs() -> None:
    section = {"shape": "box", "depth": 0.08, "width": 0.06, "wall": 0.004}
    metal = {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700}
    links = [
        {
            "name": f"l{k}",
            "length": 0.6,
            "material": metal,
            "section": section,
            "joint": {"type": "revolute", "axis": axis, "stiffness": 3e4},
            "tip": {"mass": 1.0, "inertia": [0.002, 0.002, 0.002]},
        }
        for k, axis in enumerate(([0, 0, 1], [0, 1, 0], [0, 1, 0]))
    ]
    robot = supple.SerialRobot(name="spatial", links=links)
    box = {"theta.l1": (-0.6, 0.6), "theta.l2": (-0.6, 0.6)}
    grid = np.linspace(-0.6, 0.6, 25)
    theta = np.array([[0.0, a, b] for a in grid for b in grid])
    hertz = supple.modes(robot, theta, count=6).frequency_hz
    gaps = hertz[:, 1:].min(axis=0) - hertz[:, :-1].max(axis=0)
    k = int(np.argmax(gaps))
    low = hertz[:, k].max()
    high = hertz[:, k + 1].min()
    band = (low + 0.2 * (high - low), high - 0.2 * (high - low))
    assert supple.stopband(robot, band, box).free is True
    assert supple.stopband(robot, (low - 0.3, high), box).free is False


@pytest.mark.parametrize(
    ("band", "over", "word"),
    [
        ((12.0, 9.0), FULL, "lower one first"),
        ((0.0, 9.0), FULL, "above 0"),
        ((9.0, 12.0), {}, "empty"),
        ((9.0, 12.0), {"theta.link2": 3.0}, "low, high"),
        ((9.0, 12.0), {"links.link1.length": (1.0, 2.0)}, "payload.mass"),
        ((9.0, 12.0), {"theta.linkX": (1.0, 2.0)}, "theta.link1"),
    ],
)
def test_bad_input(robot: supple.Robot, band: tuple, over: dict, word: str) -> None:
    with pytest.raises(supple.SuppleError, match=word):
        supple.stopband(robot, band, over)


def test_other_robots_are_refused() -> None:
    with pytest.raises(supple.SuppleError, match="serial"):
        supple.stopband(supple.load("kuo-delta"), (1, 2), {"payload.mass": (0, 1)})
    with pytest.raises(supple.SuppleError, match="slides"):
        supple.stopband(supple.load("theodore-rrp"), (1, 2), {"theta.link3": (0.5, 1.0)})


@pytest.mark.parametrize("theta", [0.0, 0.7, -1.9])
def test_a_band_that_ends_on_a_frequency_is_not_free(robot: supple.Robot, theta: float) -> None:
    """Bands are closed: either end belongs to them, and what rounding cannot tell is not proven."""
    f = float(supple.modes(robot, [0, theta, 0], count=1).frequency_hz[0])
    box = {"theta.link2": (theta, theta)}
    for band in ((f, f + 0.1), (f - 0.1, f)):
        found = supple.stopband(robot, band, over=box)
        assert found.free is False
        assert found.frequency_hz == pytest.approx(f, rel=1e-10)
    near = supple.stopband(robot, (f * (1 + 2e-11), f + 0.1), over=box)
    assert near.free is None  # within what a frequency is told to
    assert near.undecided == 1
    assert supple.stopband(robot, (f * (1 + 1e-8), f + 0.1), over=box).free


COLUMN = """
supple: 1
name: on a column
architecture: serial
{foundation}
materials: {{metal: {{young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}}}}
links:
  - name: pedestal
    joint: {{type: fixed, mount: {{rpy: [0, -90deg, 0]}}}}
    length: 0.5
    material: metal
    section: {{shape: tube, diameter: 0.2, wall: 0.01}}
  - name: column
    joint: {{type: revolute, axis: [1, 0, 0], stiffness: 2e5}}
    length: 0.3
    material: metal
    section: {{shape: tube, diameter: 0.2, wall: 0.01}}
  - name: upper
    joint: {{type: revolute, axis: [0, 1, 0]}}
    length: 0.6
    material: metal
    section: {{shape: box, depth: 0.1, width: 0.08, wall: 0.004}}
    tip: {{mass: 2, inertia: [0.01, 0.01, 0.01]}}
"""
SPRINGS = (
    "{{translation: [2e8, {y}, 5e8], rotation: [1e6, 1e6, 1e6], mass: 50, inertia: [4, 4, 2]}}"
)


@pytest.mark.parametrize(
    ("foundation", "changes"),
    [("", False), (SPRINGS.format(y="2e8"), False), (SPRINGS.format(y="1e7"), True)],
    ids=["ground", "alike all around", "softer one way"],
)
def test_a_joint_that_changes_nothing_costs_nothing(foundation: str, changes: bool) -> None:
    """The column turns on what is alike all around, or is not: by frequencies, and by the proof."""
    text = f"foundation: {foundation}" if foundation else ""
    robot = supple.loads(COLUMN.format(foundation=text))
    turned = np.column_stack([np.linspace(-2, 2, 21), np.full(21, 0.3)])
    hertz = supple.modes(robot, turned, count=4).frequency_hz
    assert (np.ptp(hertz, axis=0) > 1e-9 * hertz[0]).any() == changes
    low = hertz[:, 1].max()
    high = hertz[:, 2].min()
    band = (low + 0.3 * (high - low), high - 0.3 * (high - low))
    box = {"theta.upper": (0.2, 0.4)}
    without = supple.stopband(robot, band, box)
    assert without.free
    found = supple.stopband(robot, band, box | {"theta.column": (-0.1, 0.1)})
    assert found.free
    assert found.unchanged == (() if changes else ("theta.column",))
    if not changes:
        assert found.cells == without.cells
        whole = supple.stopband(robot, band, box | {"theta.column": (-3, 3)})
        assert (whole.free, whole.cells) == (True, without.cells)


def test_long_proofs_say_so(robot: supple.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FORESEEN_AFTER", 0.0)
    monkeypatch.setattr(module, "LONG", 0.0)
    with pytest.warns(SizeWarning, match="of the box is decided"):
        supple.stopband(robot, (120.0, 150.0), BOX)


def test_one_thread_of_linear_algebra_inside(
    robot: supple.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products of small matrices by many threads took 10 to 50 times as long in a script."""
    seen = []
    plain = BandEdge.count_and_shares

    def count_and_shares(self: BandEdge, *cells: np.ndarray) -> tuple:
        libraries = threadpoolctl.threadpool_info()
        seen.extend(one["num_threads"] for one in libraries if one["user_api"] == "blas")
        return plain(self, *cells)

    monkeypatch.setattr(BandEdge, "count_and_shares", count_and_shares)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        supple.stopband(robot, (120.0, 150.0), {"theta.link2": (0.0, 0.1)})
    assert set(seen) == {1}
