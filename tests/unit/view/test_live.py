"""The live server without a browser: what it serves, says and refuses."""

import math
import time
import urllib.request

import numpy as np
import pytest

import supple
from supple.studies.motion.fields import Fields
from supple.studies.vibration.neighbourhood import usual_pose
from supple.view.live.live import serve
from supple.view.live.questions import StudioQuestion, ask, frequencies_along, only
from supple.view.live.sending import Saving
from supple.view.parameters import numbers_of, usual_parameters
from supple.view.scene.scenes import path_scene, time_scene


def fetched(url: str) -> str:
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


@pytest.mark.parametrize("name", ["industrial-3", "kuo-delta", "theodore-rrp"])
def test_every_kind_of_robot_is_served_and_ended(name: str) -> None:
    live = serve(supple.load(name), port=0)
    try:
        assert "<html" in fetched(live.url)
        assert live.url in live.sentence
        found = live.shown.found
        wanted = supple.modes(supple.load(name), count=6, **usual_pose(supple.load(name)))
        np.testing.assert_array_equal(found.frequency_hz, wanted.frequency_hz)
    finally:
        live.stop()


def test_an_empty_field_is_told() -> None:
    live = serve(supple.load("industrial-3"), port=0)
    try:
        controls = live.shown.controls
        controls.payload.value = math.nan
        with pytest.raises(supple.SuppleError, match="payload is empty"):
            controls.question()
    finally:
        live.stop()


def test_a_busy_port_is_told() -> None:
    first = serve(supple.load("industrial-3"), port=0)
    try:
        second = serve(supple.load("industrial-3"), port=first.port)
        try:
            assert second.port != first.port
            assert f"Port {first.port} is busy" in second.sentence
        finally:
            second.stop()
    finally:
        first.stop()


def test_a_motion_is_played() -> None:
    robot = supple.load("de-luca-two-link")
    t = np.linspace(0, 1, 21)
    R = np.broadcast_to(np.eye(3), (21, 2, 3, 3))
    p = np.zeros((21, 2, 3))
    motion = np.zeros((21, 2, 13, 6))
    p[:, 1, 0] = 0.5
    motion[:, 1, :, 1] = 0.1 * t[:, None]
    links = Fields(
        ("link1", "link2"), t, p, R, np.full((21, 2), 0.5), motion, np.zeros((21, 2, 13))
    )
    scene = time_scene(robot, links)
    live = serve(scene, port=0)
    try:
        player = live.shown
        player.playing.value = False
        player.seek(0.7)
        np.testing.assert_allclose(player.stage.tip, [1.0, 0.07, 0.0], atol=1e-12)
    finally:
        live.stop()


def test_a_response_is_played() -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    run = supple.simulate(model, tau=supple.Constant(0.1), duration=0.1)
    live = serve(run, port=0)
    try:
        live.shown.playing.value = False
        assert live.shown.scene.scale > 1
        live.shown.amplitude.value = 1.0
        live.shown.seek(0.1)
        np.testing.assert_allclose(live.shown.stage.tip, run.tip[-1], atol=1e-9)
    finally:
        live.stop()


def test_a_path_is_played_with_its_bending_larger() -> None:
    tube = {"shape": "tube", "diameter": 0.03, "wall": 0.002}
    robot = supple.load("kuo-delta").with_({"upper.section": tube, "lower.section": tube})
    run = supple.follow(robot, supple.InvertedU(), step=0.02, damping=0.05)
    live = serve(run, port=0)
    try:
        player = live.shown
        wanted = run.wanted[-1]
        player.playing.value = False
        player.seek(float(run.t[-1]))
        scale = path_scene(run).scale
        assert scale > 10
        for times in (scale, 0.0, 2 * scale):
            player.amplitude.value = times
            player._draw()
            np.testing.assert_allclose(
                player.stage.tip, wanted + times * run.moved[-1, :3], atol=1e-12
            )
        assert "data-x" in player.plot.content
    finally:
        live.stop()


def test_many_configurations_are_played() -> None:
    theta = np.zeros((5, 3))
    theta[:, 1] = np.linspace(0, 1, 5)
    many = supple.modes(supple.load("industrial-3"), theta, count=3)
    live = serve(many, port=0)
    try:
        player = live.shown
        assert player.time.label == "joint of link2 (°)"
        player.playing.value = False
        player.seek(float(np.degrees(theta[3, 1])))
        for value in many.frequency_hz[3].tolist():
            assert f'data-hz="{value!r}"' in player.table.content
    finally:
        live.stop()


def test_a_map_is_shown_in_the_studio_at_its_lowest_place() -> None:
    found = supple.workspace(supple.load("kuo-delta"), points=3)
    live = serve(found, port=0)
    try:
        here = live.shown.found
        np.testing.assert_array_equal(here.position, found.lowest[0])
        assert math.isclose(here.omega[0], found.lowest[1], rel_tol=1e-12)
    finally:
        live.stop()


def test_what_cannot_be_shown_is_a_sentence() -> None:
    robot = supple.load("industrial-3")
    with pytest.raises(supple.SuppleError, match="list cannot be told on a page"):
        serve([robot])
    with pytest.raises(supple.SuppleError, match="port is 70000"):
        serve(robot, port=70000)
    for count in (0, 31):
        with pytest.raises(
            supple.SuppleError, match=f"number of modes is {count}: .* from 1 to 30"
        ):
            ask(StudioQuestion(robot, (0.0, 0.0, 0.0), count=count))


def test_questions_set_theory_and_payload() -> None:
    robot = supple.load("industrial-3")
    pose = (0.0, 0.4, 0.2)
    thin = ask(StudioQuestion(robot, pose, theory="euler-bernoulli"))
    by_hand = robot.with_({f"links.{link.name}.theory": "euler-bernoulli" for link in robot.links})
    np.testing.assert_array_equal(thin.omega, supple.modes(by_hand, pose, count=6).omega)
    heavy = ask(StudioQuestion(robot, pose, payload=5.0))
    loaded = robot.with_("payload", {"mass": 5.0})
    np.testing.assert_array_equal(heavy.omega, supple.modes(loaded, pose, count=6).omega)


def test_frequencies_along_a_coordinate_leave_out_what_is_out_of_reach() -> None:
    robot = supple.load("kuo-delta")
    question = StudioQuestion(robot, (0.1, 0.0, 0.5), count=2)
    z = np.array([0.4, 0.5, 1.5])
    found = frequencies_along(question, 2, z)
    for value, row in zip(z[:2], found, strict=False):
        here = supple.modes(robot, position=[0.1, 0.0, value], count=2)
        np.testing.assert_allclose(row, here.frequency_hz, rtol=1e-12)
    assert np.isnan(found[2]).all()


def test_one_mode_alone_has_the_shape_it_has_among_all() -> None:
    """Also of a double root, whose two shapes are split together."""
    found = supple.modes(supple.load("theodore-rrp"), [0.3, 0.7, 0.8], count=6)
    every = found.shape(9)
    for mode in range(6):
        part, place = only(found, mode)
        alone = part.shape(9).displacement[place]
        scale = np.abs(every.displacement[mode]).max()
        assert math.isclose(np.abs(alone).max(), scale, rel_tol=1e-6)
        np.testing.assert_allclose(alone, every.displacement[mode], atol=1e-6 * scale)


def test_a_sag_is_shown_with_its_strain_energy() -> None:
    sag = supple.statics(supple.load("industrial-3"), [0, 0.4, 0.2], gravity=(0, -9.81, 0))
    live = serve(sag, port=0)
    try:
        assert live.shown.scene.tracks[0].largest[1] == sag.energy.max()
    finally:
        live.stop()


class Browser:
    """A browser that is closed while its picture is drawn, or that takes its time."""

    def __init__(self, seconds: float = 0.0, problem: Exception | None = None) -> None:
        self.seconds = seconds
        self.problem = problem
        self.asked = 0

    def get_render(self, *_: object, **__: object) -> np.ndarray:
        self.asked += 1
        time.sleep(self.seconds)
        if self.problem is not None:
            raise self.problem
        return np.zeros((4, 4, 4), np.uint8)

    def send_file_download(self, *_: object, **__: object) -> None:
        pass


def test_a_browser_that_is_closed_while_it_draws_is_told(capfd) -> None:
    said: list[str] = []
    saving = Saving(said.append)
    for problem in (RuntimeError("client disconnected"), TimeoutError(), None):
        saving.begin(Browser(problem=problem), "arm", None)
        wait_until(lambda: not saving._busy.locked())
        time.sleep(0.05)
    assert "page was closed" in said[0]
    assert "did not draw" in said[1]
    assert "was sent to your browser" in said[2]
    assert capfd.readouterr().err == ""


def test_clicks_do_not_queue_up() -> None:
    said: list[str] = []
    saving = Saving(said.append)
    browser = Browser(seconds=1.0)
    start = time.monotonic()
    for _ in range(50):
        saving.begin(browser, "arm", None)
    assert time.monotonic() - start < 0.5
    assert browser.asked <= 1
    assert said.count("Still saving what was asked for before: one thing at a time.") == 49


def wait_until(done) -> None:
    end = time.monotonic() + 30
    while not done() and time.monotonic() < end:
        time.sleep(0.01)


def test_clicks_that_wait_are_dropped_at_the_end() -> None:
    """Python joins the server's threads before it ends: Ctrl-C waited for every queued click."""
    live = serve(supple.load("industrial-3"), port=0)
    ran: list[int] = []
    threads = live.server._thread_executor

    def click(k: int) -> None:
        ran.append(k)
        time.sleep(0.3)

    for k in range(200):
        threads.submit(click, k)
    live.stop()
    time.sleep(1.0)
    assert len(ran) <= 64


def test_dimensions_have_sliders_and_the_frequencies_follow_them() -> None:
    """A wall is set as a hand would drag it: the answer is that of the changed robot."""
    robot = supple.load("industrial-3")
    path = "links.link1.section.wall"
    live = serve(robot, port=0, vary={path: (0.004, 0.02)})
    try:
        studio = live.shown
        each, slider = studio.controls.parameters[path]
        assert each.unit == ("mm", 1000.0)
        assert (slider.min, slider.max) == pytest.approx((4.0, 20.0))
        assert studio.controls.question().changes == ()
        slider.value = 6.0
        question = studio.controls.question()
        assert question.changes == ((path, pytest.approx(0.006)),)
        wanted = supple.modes(robot.with_(path, 0.006), count=6, **usual_pose(robot))
        np.testing.assert_allclose(ask(question).frequency_hz, wanted.frequency_hz, rtol=1e-12)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and studio.found.robot == robot:
            time.sleep(0.05)
        np.testing.assert_allclose(studio.found.frequency_hz, wanted.frequency_hz, rtol=1e-12)
        studio.controls.add_parameter("links.link2.length", lambda *_: None)
        assert "links.link2.length" in studio.controls.parameters
    finally:
        live.stop()


def test_sliders_begin_with_what_a_designer_changes_first() -> None:
    found = usual_parameters(supple.load("industrial-3"))
    assert {each.path.rpartition(".")[2] for each in found} == {"wall"}
    assert all(each.low < each.value < each.high for each in found)
    numbers = numbers_of(supple.load("industrial-3"))
    assert "links.link1.length" in numbers
    assert "supple" not in numbers


@pytest.mark.parametrize(
    ("vary", "sentence"),
    [
        ({"links.link1.section.wal": None}, "did you mean 'links.link1.section.wall'"),
        ({"links.link1.section.wall": 0.01}, "give the ends of its slider"),
        ({"links.link1.section.wall": (0.02, 0.01)}, "give the lower end first"),
    ],
)
def test_sliders_that_cannot_be(vary: dict, sentence: str) -> None:
    with pytest.raises(supple.SuppleError, match=sentence):
        serve(supple.load("industrial-3"), port=0, vary=vary)
