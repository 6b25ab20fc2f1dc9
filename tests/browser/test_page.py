"""The saved page in a real Chromium, from file://, and what it shows against the library."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.architectures.serial import place
from supple.papers.tour import tour
from supple.studies.motion.fields import Fields
from supple.view.page.page import Chapter, Plot, Series, Table, save_page
from supple.view.page.tour import save_tour
from supple.view.scene.scenes import time_scene

pytestmark = pytest.mark.slow

POSE = [0.0, 0.7, 0.5]


@pytest.fixture(scope="module")
def found() -> supple.Modes:
    return supple.modes(supple.load("industrial-3"), POSE, count=6)


@pytest.fixture(scope="module")
def arm(found: supple.Modes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found.save_page(tmp_path_factory.mktemp("page") / "arm.html")


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two links that swing and bend: made up, to be played."""
    robot = supple.load("de-luca-two-link")
    t = np.linspace(0, 2, 201)
    at = place(robot, np.stack([0.5 * np.sin(3 * t), 0.8 * np.sin(2 * t)], axis=1))
    bent = np.zeros((201, 2, 13, 6))
    bent[..., 1] = 0.03 * np.sin(20 * t)[:, None, None] * np.linspace(0, 1, 13) ** 2
    p = at.p.copy()
    p[:, 1] += np.einsum("tij,tj->ti", at.R[:, 0], bent[:, 0, -1, :3])
    links = Fields(("link1", "link2"), t, p, at.R, at.L, bent, np.zeros(bent.shape[:-1]))
    scene = time_scene(robot, links, "a made-up motion")
    tip = p[:, 1] + np.einsum(
        "tij,tj->ti", at.R[:, 1], bent[:, 1, -1, :3] + np.array([0.5, 0.0, 0.0])
    )
    chapter = Chapter(
        "A motion",
        scene=scene,
        tables=[
            Table("Ends", ["axis", "m>"], [["x", float(tip[-1, 0])], ["y", float(tip[-1, 1])]])
        ],
        plots=[
            Plot(
                "Tip",
                "time (s)",
                "m",
                [Series("x", t, tip[:, 0]), Series("y", t, tip[:, 1])],
            )
        ],
    )
    return save_page(tmp_path_factory.mktemp("page") / "motion.html", "A motion", [chapter])


def picture(page: Any) -> str:
    """The pixels of the first picture."""
    script = "document.querySelector('[data-role=picture]').toDataURL()"
    return str(page.evaluate(script))


def hold(page: Any) -> None:
    """Stop the swing at its largest, so that pictures can be compared."""
    page.evaluate(
        "window.supple.viewers.forEach(v => { v.play(false); v.state.phase = 0; v.show(); })"
    )
    settle(page)


def settle(page: Any) -> None:
    page.wait_for_function("window.supple.viewers[0].settled === true")


def hertz(page: Any) -> list[float]:
    cells = page.locator("[data-role=hertz]")
    return [float(cells.nth(k).get_attribute("data-hz")) for k in range(cells.count())]


def slide(page: Any, track: int, value: float) -> None:
    page.evaluate(
        """([track, value]) => {
          const input = document.querySelector(`input[data-track="${track}"]`);
          input.value = value;
          input.dispatchEvent(new Event("input"));
        }""",
        [track, value],
    )
    settle(page)


def test_numbers_are_the_library_s(visit: Any, arm: Path, found: supple.Modes) -> None:
    seen = visit(arm.as_uri())
    assert hertz(seen.page) == found.frequency_hz.tolist()
    shown = seen.page.locator("[data-role=hertz]").all_inner_texts()
    assert shown == [f"{value:#.6g}" for value in found.frequency_hz]
    kinds = seen.page.locator(".modes tbody tr td:last-child").all_inner_texts()
    assert kinds == found.kind
    assert seen.page.locator("[data-role=computed]").inner_text() == "computed"
    seen.clean("file://")


def test_a_mode_picked_changes_shape_and_frequency(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    hold(seen.page)
    first = seen.page.locator("[data-role=readout] b").inner_text()
    before = picture(seen.page)
    seen.page.locator(".modes tbody tr").nth(2).click()
    assert seen.page.locator("[data-role=readout] b").inner_text() != first
    assert picture(seen.page) != before
    assert seen.page.locator("tr.picked td").first.inner_text() == "3"
    seen.shot("page-mode-3")
    seen.clean("file://")


def test_a_slider_moves_the_arm_and_its_frequencies(
    visit: Any, arm: Path, found: supple.Modes
) -> None:
    seen = visit(arm.as_uri())
    hold(seen.page)
    before = picture(seen.page)
    grid = seen.page.evaluate("Array.from(window.supple.viewers[0].tracks[2].values)")
    slide(seen.page, 2, grid[70])
    assert picture(seen.page) != before
    pose = [POSE[0], np.radians(grid[70]), POSE[2]]
    there = supple.modes(found.robot, pose, count=6).frequency_hz
    np.testing.assert_allclose(hertz(seen.page), there, rtol=1e-12)
    tip = seen.page.evaluate(
        "window.supple.viewers[0].track.pose(window.supple.viewers[0].state.x)[2].end"
    )
    np.testing.assert_allclose(tip, place(found.robot, pose).tip[0], atol=2e-3)
    seen.shot("page-slid")


def test_what_lies_between_is_marked_and_as_good_as_it_says(
    visit: Any, arm: Path, found: supple.Modes
) -> None:
    seen = visit(arm.as_uri())
    slide(seen.page, 2, 33.3)
    assert seen.page.locator("[data-role=computed]").inner_text() == "interpolated"
    assert seen.page.locator("[data-role=readout] b").inner_text().startswith("mode 1: ≈")
    note = seen.page.locator("[data-role=note]").inner_text()
    promised = float(note.split("at most")[1].split("%")[0]) / 100
    there = supple.modes(found.robot, [POSE[0], np.radians(33.3), POSE[2]], count=6).frequency_hz
    assert np.max(np.abs(np.array(hertz(seen.page)) / there - 1)) <= 1.5 * promised
    seen.page.locator("[data-role=back]").click()
    assert hertz(seen.page) == found.frequency_hz.tolist()


def test_it_swings_and_can_be_held(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    first = picture(seen.page)
    phase = seen.page.evaluate("window.supple.viewers[0].state.phase")
    seen.page.wait_for_function(f"window.supple.viewers[0].state.phase > {phase + 0.3}")
    assert picture(seen.page) != first
    seen.page.locator("[data-role=play]").click()
    settle(seen.page)
    still = picture(seen.page)
    seen.page.wait_for_timeout(150)
    assert picture(seen.page) == still


def test_mouse_wheel_keys_and_looks_change_the_picture(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    hold(seen.page)
    pictures = {picture(seen.page)}
    box = seen.page.locator("[data-role=picture]").bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x + 60, y + 20)
    seen.page.mouse.up()
    pictures.add(picture(seen.page))
    seen.page.mouse.wheel(0, -300)
    seen.page.wait_for_function("window.supple.viewers[0].camera.zoom > 1")
    pictures.add(picture(seen.page))
    seen.page.locator("[data-role=picture]").press("ArrowLeft")
    pictures.add(picture(seen.page))
    for choice in ("plain", "energy"):
        seen.page.locator("[data-role=colouring]").select_option(choice)
        pictures.add(picture(seen.page))
    seen.shot("page-energy")
    seen.page.locator("[data-role=names]").click()
    pictures.add(picture(seen.page))
    assert len(pictures) == 7
    seen.clean("file://")


def test_playback_advances_scrubs_and_has_a_speed(visit: Any, motion: Path) -> None:
    seen = visit(motion.as_uri())
    now = "window.supple.viewers[0].state.x"
    seen.page.wait_for_function(f"{now} > {seen.page.evaluate(now)}")
    seen.page.locator("[data-role=speed]").select_option("0.1")
    seen.page.evaluate("window.supple.viewers[0].seek(0.1)")
    start = seen.page.evaluate(f"[{now}, performance.now()]")
    seen.page.wait_for_function(f"{now} > {start[0]}")
    stop = seen.page.evaluate(f"[{now}, performance.now()]")
    assert 0 < stop[0] - start[0] <= 0.1 * (stop[1] - start[1]) / 1000 + 0.011  # a frame at most
    seen.page.evaluate(
        """() => { const s = document.querySelector("[data-role=scrub]");
        s.value = 1.3; s.dispatchEvent(new Event("input")); }"""
    )
    assert seen.page.locator("[data-role=time]").inner_text() == "1.300 s"
    assert seen.page.locator("[data-role=play]").inner_text() == "Play"
    assert seen.page.locator("line.marker").first.get_attribute("visibility") == "visible"
    seen.shot("page-motion", full_page=True)
    seen.clean("file://")


def test_the_tip_is_drawn_where_it_was_computed(visit: Any, motion: Path) -> None:
    seen = visit(motion.as_uri())
    seen.page.evaluate("window.supple.viewers[0].play(false)")
    seen.page.evaluate("window.supple.viewers[0].seek(2.0)")
    drawn = seen.page.evaluate("window.supple.viewers[0].figure.tip")
    cells = seen.page.locator("table[data-title=Ends] td.number")
    table = [float(cells.nth(k).get_attribute("data-value")) for k in range(2)]
    np.testing.assert_allclose(drawn[:2], table, atol=1e-5)
    assert cells.first.inner_text() == f"{table[0]:.6g}"


def test_a_simulated_motion_is_played(visit: Any, tmp_path: Path) -> None:
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(2))
    run = supple.simulate(model, tau=supple.BangBang(0.2), duration=1.0)
    seen = visit(run.save_page(tmp_path / "run.html").as_uri())
    seen.page.evaluate("window.supple.viewers[0].play(false)")
    seen.page.evaluate("window.supple.viewers[0].seek(1.0)")
    drawn = seen.page.evaluate("window.supple.viewers[0].figure.tip")
    np.testing.assert_allclose(drawn, run.tip[-1], atol=1e-4)
    assert seen.page.locator(".plot").count() == 5
    assert "by rk4" in seen.page.locator("[data-role=readout] span").inner_text()
    seen.shot("page-response", full_page=True)
    seen.clean("file://")


@pytest.fixture(scope="module")
def path() -> supple.PathResponse:
    """A stiff Delta on the paper's inverted U: it bends by less than a millimetre."""
    tube = {"shape": "tube", "diameter": 0.03, "wall": 0.002}
    robot = supple.load("kuo-delta").with_({"upper.section": tube, "lower.section": tube})
    return supple.follow(robot, supple.InvertedU(), after=0.2, damping=0.02)


def test_a_path_is_played_with_its_bending_larger(
    visit: Any, tmp_path: Path, path: supple.PathResponse
) -> None:
    """The platform is drawn at its wanted place plus so many times its displacement."""
    seen = visit(path.save_page(tmp_path / "path.html").as_uri())
    page = seen.page
    last = float(path.t[-1])
    page.evaluate("window.supple.viewers[0].play(false)")
    page.evaluate(f"window.supple.viewers[0].seek({last})")
    much = page.locator("[data-role=much]")
    scale = float(much.inner_text().split()[0])
    assert scale > 10
    assert f"{scale:g} times larger" in page.locator("[data-role=larger]").inner_text()
    for share in (1.0, 0.0, 2.0):
        page.locator("[data-role=amplitude]").fill(str(share))
        drawn = page.evaluate("window.supple.viewers[0].figure.tip")
        wanted = path.wanted[-1] + share * scale * path.moved[-1, :3]
        np.testing.assert_allclose(drawn, wanted, atol=2e-5)
    cells = page.locator("table[data-title^='How far'] tbody tr").nth(2).locator("td.number")
    assert cells.first.inner_text() == f"{1e3 * path.peak[2]:.3g}"
    pictures = {picture(page)}
    for choice in ("energy", "plain"):
        page.locator("[data-role=colouring]").select_option(choice)
        pictures.add(picture(page))
    assert len(pictures) == 3
    page.locator("[data-role=colouring]").select_option("energy")
    assert "J/m" in page.locator("[data-role=legend]").inner_text()
    assert page.locator(".plot").count() == 5
    seen.shot("page-path", full_page=True)
    seen.clean("file://")


def test_the_strongest_colour_is_the_library_s(
    visit: Any, tmp_path: Path, path: supple.PathResponse
) -> None:
    from supple.studies.motion.fields import path_fields

    seen = visit(path.save_page(tmp_path / "path.html").as_uri())
    top = seen.page.evaluate("window.supple.viewers[0].tracks[0].largest")
    true = path_fields(path, 400, 9)
    moved = np.linalg.norm(true.motion[..., :3], axis=-1).max()
    np.testing.assert_allclose(top, [moved, true.energy.max()], rtol=1e-12)


def test_a_map_tells_the_library_s_frequencies(visit: Any, tmp_path: Path) -> None:
    found = supple.workspace(supple.load("kuo-delta"), points=5)
    seen = visit(found.save_page(tmp_path / "map.html").as_uri())
    page = seen.page
    hold(page)
    assert page.locator("[data-role=heat]").count() == 1
    rows = page.locator("table[data-title='The map in short'] tbody tr")
    assert rows.first.locator("td.number").inner_text() == f"{found.lowest[1] / 2 / np.pi:.6g}"
    heat = page.locator("[data-role=heat]")
    box = heat.bounding_box()
    heat.hover(position={"x": 0.55 * box["width"], "y": 0.45 * box["height"]})
    middle = found.omega[2, 2, 0, 0] / (2 * np.pi)
    assert page.locator(".heat .tip b").inner_text() == f"{middle:.5g} Hz"
    assert "dots: lowest frequency" in page.locator("[data-role=legend]").inner_text()
    seen.shot("page-map", full_page=True)
    seen.clean("file://")


def test_a_beam_that_slides_is_drawn_as_long_as_it_is(visit: Any, tmp_path: Path) -> None:
    from supple.control.trajectories import NAMED

    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    law = supple.Decoupling(100, 20)
    run = supple.simulate(model, controller=law, trajectory=NAMED["extension"], duration=1.0)
    seen = visit(run.save_page(tmp_path / "slide.html").as_uri())
    seen.page.evaluate("window.supple.viewers[0].play(false)")
    assert "times larger" in seen.page.locator("[data-role=larger]").inner_text()
    seen.page.locator("[data-role=true-size]").click()
    assert seen.page.locator("[data-role=much]").inner_text() == "1 ×"
    for t in (0.0, 1.0):
        seen.page.evaluate(f"window.supple.viewers[0].seek({t})")
        drawn = seen.page.evaluate("window.supple.viewers[0].figure.tip")
        np.testing.assert_allclose(drawn, run.tip[round(1000 * t)], atol=1e-5)
    seen.shot("page-slide", full_page=True)
    seen.clean("file://")


def test_plots_show_values_under_the_pointer(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    seen.page.locator(".plot svg").first.hover()
    tip = seen.page.locator(".tip").first
    assert tip.is_visible()
    assert tip.inner_text().count("mode ") == 6
    seen.shot("page-hover")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_both_legible(visit: Any, arm: Path, scheme: str) -> None:
    seen = visit(arm.as_uri(), color_scheme=scheme)
    hold(seen.page)
    seen.shot(f"page-{scheme}", full_page=True)
    ink, paper = (
        [int(part) for part in seen.page.evaluate(f"getComputedStyle(document.body).{key}")
         .removeprefix("rgb(").removesuffix(")").split(",")]
        for key in ("color", "backgroundColor")
    )  # fmt: skip
    assert abs(sum(ink) - sum(paper)) > 450
    assert (sum(paper) > sum(ink)) == (scheme == "light")


def test_a_phone_sees_the_picture_first_and_no_scroll_bar(visit: Any, arm: Path) -> None:
    seen = visit(
        arm.as_uri(), viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    hold(seen.page)
    seen.shot("page-phone", full_page=True)
    wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert seen.page.evaluate(wide)
    stage = seen.page.locator(".stage").bounding_box()
    panel = seen.page.locator(".panel").bounding_box()
    assert stage["y"] < panel["y"]
    before = picture(seen.page)
    seen.page.touchscreen.tap(200, 900)
    seen.page.locator(".modes tbody tr").nth(1).tap()
    assert picture(seen.page) != before
    seen.clean("file://")


def test_a_picture_can_be_saved(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    with seen.page.expect_download() as started:
        seen.page.locator("[data-role=save]").click()
    assert started.value.suggested_filename == "industrial-3.png"


@pytest.mark.parametrize("name", ["kuo-delta", "theodore-rrp"])
def test_spatial_robots(visit: Any, tmp_path: Path, name: str) -> None:
    pose: Any = {"position": [0.1, 0, 0.5]} if name == "kuo-delta" else {"theta": [0.3, 0.7, 0.8]}
    found = supple.modes(supple.load(name), count=4, **pose)
    path = found.save_page(tmp_path / "page.html", nearby=7)
    seen = visit(path.as_uri())
    hold(seen.page)
    assert hertz(seen.page) == found.frequency_hz.tolist()
    slide(seen.page, 3, seen.page.evaluate("window.supple.viewers[0].tracks[3].at[1]"))
    seen.shot(f"page-{name}")
    seen.clean("file://")


def test_an_arm_leaves_its_hub_in_one_cut_in_the_middle_of_the_picture(
    visit: Any, tmp_path: Path
) -> None:
    """A box 50 mm deep in a hub of 32.5 mm radius is hidden until sqrt(32.5^2 - 25^2) mm."""
    found = supple.modes(supple.load("scara-parallel"), count=1)
    seen = visit(found.save_page(tmp_path / "page.html", nearby=3).as_uri())
    hold(seen.page)
    hidden, off = seen.page.evaluate(
        """() => {
          const v = window.supple.viewers[0], { right, above } = v.camera.homeAxes();
          const all = v.reached(v.track.pose(v.state.x));
          const middle = (axis) => {
            const at = all.map((p) => axis.reduce((x, a, k) => x + a * (p[k] - v.target[k]), 0));
            return Math.abs(Math.min(...at) + Math.max(...at)) / 2;
          };
          const hidden = v.figure.inHub(0, v.scene.links[0].corners);
          return [hidden, Math.max(middle(right), middle(above))];
        }"""
    )
    assert hidden == pytest.approx(np.sqrt(0.0325**2 - 0.025**2))
    assert off < 2e-3


def test_the_tour_is_one_page(visit: Any, tmp_path: Path) -> None:
    """Two of its stops; the whole tour is tested from the command line."""
    visited = list(tour(("de-luca-two-link", "theodore-rrp")))
    seen = visit(save_tour(visited, tmp_path).as_uri())
    assert seen.page.locator("[data-role=viewer]").count() == 4  # both also move
    for k, stop in zip((0, 2), visited, strict=True):
        table = seen.page.locator(f"#chapter-{k} .table table").first
        shown = table.locator("tbody tr td:nth-child(3)").all_inner_texts()
        assert shown == [f"{row.ours:.7g}" for row in stop.rows]
    assert seen.page.locator("#chapter-0 .table code").inner_text() == "supple reproduce de-luca"
    seen.page.locator("nav a").nth(2).click()
    seen.page.wait_for_function(
        "document.querySelector('#chapter-2').getBoundingClientRect().top < 40"
    )
    seen.page.wait_for_timeout(500)
    seen.shot("tour-second-stop")
    seen.clean("file://")


def test_frames_are_drawn_fast_enough(visit: Any, arm: Path) -> None:
    """One frame of a three-link arm in well under a sixtieth of a second, on a busy machine too."""
    seen = visit(arm.as_uri())
    script = """() => { const v = window.supple.viewers[0], times = [];
      for (let k = 0; k < 60; k++) { const t = performance.now(); v.state.phase += 0.1; v.frame();
        times.push(performance.now() - t); }
      return times.sort((a, b) => a - b)[30]; }"""
    assert seen.page.evaluate(script) < 16


MANY = """
supple: 1
name: "Gelenkarm für große Lasten </script><b>x</b> @title@"
source: "Müller </script><script>alert(1)</script> <!-- @data@"
architecture: serial
planar: true
links:
  - {name: "Oberarm</script>", joint: {}, length: 1.0e-4, section: &s {shape: rectangle,
     depth: 1.0e-6, width: 5.0e-6}, material: &m {young_modulus: 160e9, poisson_ratio: 0.22,
     density: 2330}}
  - {name: Unterarm-mit-einem-sehr-langen-Namen, joint: {}, length: 1.0e-4, section: *s,
     material: *m}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty modes of an arm a fifth of a millimetre long, with names that would like to run."""
    found = supple.modes(supple.loads(MANY), [0.0, 1.0], count=20)
    return found.save_page(tmp_path_factory.mktemp("page") / "odd.html", nearby=5)


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
def test_words_of_a_plot_stay_inside_apart_and_large_enough(
    visit: Any, odd: Path, screen: dict[str, Any]
) -> None:
    """Labels of many modes left the drawing, long ticks met the axis' name, cards shrank both."""
    seen = visit(odd.as_uri(), **screen)
    seen.shot(f"page-odd-{'phone' if screen else 'desktop'}", full_page=True)
    texts = seen.page.evaluate(
        """() => [...document.querySelectorAll(".plot svg")].map((drawing) => {
          const box = drawing.getBoundingClientRect();
          const size = box.width / drawing.viewBox.baseVal.width;
          return [...drawing.querySelectorAll("text")].map((t) => {
            const b = t.getBoundingClientRect();
            return { words: t.textContent, size: size * parseFloat(getComputedStyle(t).fontSize),
              out: Math.max(box.left - b.left, b.right - box.right, box.top - b.top,
                b.bottom - box.bottom), box: [b.left, b.top, b.right, b.bottom] }; }); })"""
    )
    assert texts
    for words in texts:
        assert min(word["size"] for word in words) > 10
        assert max(word["out"] for word in words) < 2, words
        label = next(word for word in words if word["words"] == "frequency (Hz)")["box"]
        for word in words:
            left, top, _, bottom = word["box"]
            if word["words"] != "frequency (Hz)" and top < label[3] and bottom > label[1]:
                assert left >= label[2] - 1, word
    seen.clean("file://")


def test_odd_names_are_words_and_nothing_else(visit: Any, odd: Path) -> None:
    seen = visit(odd.as_uri())
    said: list[str] = []
    seen.page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    heading = seen.page.locator("h1").inner_text()
    assert heading == "Gelenkarm für große Lasten </script><b>x</b> @title@: modes"
    assert "<script>alert(1)</script>" in seen.page.locator("header p").first.inner_text()
    assert seen.page.locator("header b").count() == 0
    assert "</script>" in seen.page.locator(".block label").first.inner_text()
    assert said == []
    seen.clean("file://")


def test_the_coordinate_that_matters_is_shown_first(visit: Any, arm: Path) -> None:
    """Joint 1 of a planar arm changes nothing: its flat lines tell nothing."""
    seen = visit(arm.as_uri())
    title = seen.page.locator(".left .plot figcaption").inner_text()
    change = seen.page.evaluate(
        """window.supple.viewers[0].tracks.map(t => t.hertz.length < 2 ? 0 : Math.max(...t.hertz[0]
        .map((_, m) => Math.max(...t.hertz.map(r => r[m])) / Math.min(...t.hertz.map(r => r[m])))))
        """
    )
    best = seen.page.evaluate(f"window.supple.viewers[0].tracks[{int(np.argmax(change))}].name")
    assert title == f"Natural frequencies along {best}"


def test_theme_follows_the_reader_and_paper_is_white(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri(), color_scheme="dark")
    worn = "document.documentElement.dataset.theme"
    button = seen.page.locator("[data-role=theme]")
    assert seen.page.evaluate(worn) == "dark"
    seen.page.emulate_media(color_scheme="light")
    seen.page.wait_for_function(f"{worn} === 'light'")
    for word in ("light", "dark", "auto"):
        button.click()
        assert button.inner_text() == f"Theme: {word}"
        assert seen.page.evaluate(worn) == ("dark" if word == "dark" else "light")
    seen.page.emulate_media(color_scheme="dark")
    seen.page.wait_for_function(f"{worn} === 'dark'")
    for event, word in (("beforeprint", "light"), ("afterprint", "dark")):
        seen.page.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        assert seen.page.evaluate(worn) == word


def test_a_sag_is_coloured_by_its_strain_energy(visit: Any, tmp_path: Path) -> None:
    sag = supple.statics(supple.load("industrial-3"), POSE, gravity=(0, -9.81, 0))
    seen = visit(sag.save_page(tmp_path / "sag.html").as_uri())
    hold(seen.page)
    before = picture(seen.page)
    seen.page.locator("[data-role=colouring]").select_option("energy")
    assert picture(seen.page) != before
    assert f"{sag.energy.max():.3g} J/m" in seen.page.locator("[data-role=legend]").inner_text()
    cells = seen.page.locator("table[data-title='What each link carries'] td:last-child")
    assert cells.all_inner_texts() == [f"{joule:.4g}" for joule in sag.strain_energy]
    seen.shot("page-sag", full_page=True)
    seen.clean("file://")


def test_keys_walk_through_the_modes(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri())
    rows = seen.page.locator(".modes tbody tr")
    rows.first.focus()
    for key, picked in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        seen.page.keyboard.press(key)
        assert rows.nth(picked).get_attribute("aria-checked") == "true"
    slider = seen.page.locator("input[data-track='2']")
    before = hertz(seen.page)
    slider.focus()
    seen.page.keyboard.press("PageUp")
    assert hertz(seen.page) != before


def test_two_fingers_zoom(visit: Any, arm: Path) -> None:
    seen = visit(arm.as_uri(), **PHONE)
    hold(seen.page)
    before = picture(seen.page)
    box = seen.page.locator("[data-role=picture]").bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    touch = seen.page.context.new_cdp_session(seen.page)
    for kind, apart in (("touchStart", 30), ("touchMove", 45), ("touchMove", 60)):
        fingers = [{"x": x - apart, "y": y, "id": 0}, {"x": x + apart, "y": y, "id": 1}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert seen.page.evaluate("window.supple.viewers[0].camera.zoom") > 1.5
    assert picture(seen.page) != before


def test_a_saved_picture_has_a_ground_and_says_what_it_is(visit: Any, arm: Path) -> None:
    """It was transparent, and without a word."""
    seen = visit(arm.as_uri(), color_scheme="dark")
    hold(seen.page)
    corner, told = seen.page.evaluate(
        """() => { const c = window.supple.viewers[0].captioned(), g = c.getContext("2d");
          const top = g.getImageData(13, 10, 200, 18).data, ink = [];
          for (let k = 0; k < top.length; k += 4) ink.push(top[k] + top[k + 1] + top[k + 2]);
          return [[...g.getImageData(1, c.height - 2, 1, 1).data], Math.max(...ink)]; }"""
    )
    assert corner == [0x1A, 0x1E, 0x23, 255]  # --stage of the dark page
    assert told > 550  # light letters


def test_gaps_points_and_nothing_are_drawn(visit: Any, tmp_path: Path) -> None:
    x = np.array([0.0, 1.0, 2.0])
    plots = [
        Plot("Gap", "x", "y", [Series("a", x, np.array([1.0, np.nan, 3.0]))]),
        Plot("None", "x", "y", [Series("a", x, np.full(3, np.nan))]),
        Plot("Log", "x", "y", [Series("a", x, np.array([0.0, -1.0, 10.0]))], log=True),
    ]
    page = save_page(tmp_path / "gaps.html", "Gaps", [Chapter("c", plots=plots)])
    seen = visit(page.as_uri())
    lines = [path.get_attribute("d") for path in seen.page.locator("path.curve").all()]
    assert [line.count("M") for line in lines] == [2, 0, 1]
    assert "NaN" not in seen.page.locator("main").inner_html()
    seen.clean("file://")


def test_a_finger_reads_values_too(visit: Any, arm: Path) -> None:
    """They vanished as soon as the finger was lifted."""
    seen = visit(arm.as_uri(), **PHONE)
    plot = seen.page.locator(".plot svg").first
    plot.scroll_into_view_if_needed()
    plot.tap()
    tip = seen.page.locator(".tip").first
    assert tip.is_visible()
    assert tip.inner_text().count("mode ") == 6
    seen.shot("page-phone-values")
    seen.page.locator("h4").first.tap()
    assert not tip.is_visible()
    wide = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert seen.page.evaluate(wide)


def test_a_slider_of_a_wall_gives_the_frequencies_of_that_wall(visit: Any, tmp_path: Path) -> None:
    robot = supple.load("industrial-3")
    wall = "links.link1.section.wall"
    found = supple.modes(robot, [0.0, 0.5, 0.3], count=3)
    place = found.save_page(tmp_path / "wall.html", vary={wall: (0.004, 0.02)})
    page = visit(place.as_uri()).page
    track = int(page.locator("input[aria-label='link1.section.wall']").get_attribute("data-track"))
    for value in (4.0, 13.3, 20.0):
        slide(page, track, value)
        expected = supple.modes(robot.with_(wall, value / 1e3), [0.0, 0.5, 0.3], count=3)
        assert hertz(page) == pytest.approx(expected.frequency_hz.tolist(), rel=2e-3)
    shown = page.locator("[data-role=note]").inner_text()
    assert "frequencies between them are off by at most" in shown
    page.get_by_text("Back to the robot asked for").click()
    assert hertz(page) == found.frequency_hz.tolist()
