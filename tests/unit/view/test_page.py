"""The saved page as text: one file, packed data that unpacks, nothing that calls the network."""

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.studies.vibration.neighbourhood import around
from supple.view.page.page import LIMIT, Chapter, Plot, Series, Table, page_text, save_page
from supple.view.page.reports import save_report
from supple.view.scene.scene import modes_scene

ASSETS = Path(supple.__file__).parent / "view" / "page" / "assets"
KINDS = {"f32": np.float32, "i16": np.int16, "i8": np.int8, "u8": np.uint8}


@pytest.fixture(scope="module")
def found() -> supple.Modes:
    return supple.modes(supple.load("industrial-3"), [0.0, 0.7, 0.5], count=4)


def data_of(text: str) -> dict:
    (inside,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(inside)


def unpacked(packed: dict) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(packed["bytes"]), KINDS[packed["type"]])
    values = raw.reshape(packed["shape"]).astype(float)
    scale = np.array(packed["scale"])
    return values * (scale if len(scale) == 1 else scale.reshape(1, -1, *[1] * (values.ndim - 2)))


def test_packed_numbers_unpack_to_the_scene(found: supple.Modes) -> None:
    scene = modes_scene(found, around(found, count=5))
    drawn = data_of(page_text("arm", [Chapter(scene=scene)]))["chapters"][0]["scene"]
    for raw, track in zip(drawn["tracks"], scene.tracks, strict=True):
        assert raw["frequency_hz"] == track.frequency_hz.tolist()
        whole = np.broadcast_to(unpacked(raw["p"]), track.p.shape)
        np.testing.assert_allclose(whole, track.p, atol=1e-6)
        for c, part in enumerate(raw["motion"]):
            true = track.motion[..., c]
            if part is None:
                assert not true.any()
                continue
            largest = np.abs(true).max(axis=(0, 2, 3), keepdims=True)
            coarse = 0.6 / (32767 if c < 3 else 127)
            got = np.broadcast_to(unpacked(part), true.shape)
            assert (np.abs(got - true) <= coarse * largest + 2e-6 * largest.max()).all()


def test_what_does_not_change_is_written_once(found: supple.Modes) -> None:
    scene = modes_scene(found, around(found, count=5))
    first = data_of(page_text("arm", [Chapter(scene=scene)]))["chapters"][0]["scene"]["tracks"][1]
    assert first["name"] == "joint of link1"  # turning the whole planar arm bends nothing anew
    assert [part["shape"][0] for part in first["motion"] if part] == [1, 1, 1]


def test_a_page_is_small_and_calls_nobody(found: supple.Modes, tmp_path: Path) -> None:
    text = save_report(found, tmp_path / "arm.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 200e3
    assert "https://" not in text
    assert set(re.findall(r"http://[\w./]*", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=(?!\"data:)", text)


def test_words_of_a_reader_cannot_break_out_of_the_data() -> None:
    evil = "</script><b>&"
    text = page_text(evil, [Chapter(evil, text=[evil], tables=[Table(evil, [evil], [[evil]])])])
    assert text.count("</script>") == 3  # theme, data and code
    assert data_of(text)["chapters"][0]["text"] == [evil]
    assert "<title>&lt;/script&gt;" in text


def test_plots_and_tables_are_plain_data() -> None:
    x = np.linspace(0, 1, 5)
    chapter = Chapter("c", plots=[Plot("p", "x", "y", [Series("s", x, x**2)])])
    drawn = data_of(page_text("t", [chapter]))["chapters"][0]["plots"][0]
    assert drawn["series"][0]["y"] == (x**2).tolist()


def test_sweeps_are_pages_too(tmp_path: Path) -> None:
    theta = np.zeros((6, 3))
    theta[:, 1] = np.linspace(0, 1, 6)
    many = supple.modes(supple.load("industrial-3"), theta, count=3)
    text = many.save_page(tmp_path / "many.html").read_text(encoding="utf-8")
    (track,) = data_of(text)["chapters"][0]["scene"]["tracks"]
    assert track["frequency_hz"] == many.frequency_hz.tolist()


def test_sag_is_a_page_too(tmp_path: Path) -> None:
    sag = supple.statics(supple.load("industrial-3"), [0, 0.4, 0.2], gravity=(0, -9.81, 0))
    chapter = data_of(sag.save_page(tmp_path / "sag.html").read_text(encoding="utf-8"))["chapters"][
        0
    ]
    assert chapter["tables"][0]["rows"][1][1] == f"{1e3 * sag.tip_displacement[1]:.6g}"
    assert [row[3] for row in chapter["tables"][1]["rows"]] == [
        f"{joule:.4g}" for joule in sag.strain_energy
    ]
    top = chapter["scene"]["tracks"][0]["largest"]
    moved = np.linalg.norm(sag.displacement, axis=-1).max()
    np.testing.assert_allclose(top, [moved, sag.energy.max()], rtol=1e-12)


def test_a_path_tells_lengths_in_metres_and_motors_by_name() -> None:
    """A prismatic joint is a length: it was told in degrees, and its force in N m."""
    from supple.view.page.reports import report

    robot = supple.load("theodore-rrp")
    way = supple.PointToPoint([0.0, 0.0, 0.4], [0.5, 0.2, 0.9], 0.5)
    run = supple.follow(robot, way, elements=1, step=5e-3)
    plots = {plot.title: plot for plot in report(run, samples=20).chapters[0].plots}
    (length,) = plots["Lengths wanted"].series
    assert (length.name, plots["Lengths wanted"].y_label) == ("link3", "lengths wanted (m)")
    assert (length.y[0], length.y[-1]) == (0.4, pytest.approx(0.9))
    turns = {s.name: s.y[-1] for s in plots["Joints wanted"].series}
    assert turns == pytest.approx({"link1": np.degrees(0.5), "link2": np.degrees(0.2)})
    assert plots["Efforts"].y_label == "efforts (N m and N)"
    assert [s.name for s in plots["Efforts"].series] == ["link1", "link2", "link3"]


def test_a_path_in_a_plane_has_no_rows_across_it_and_tells_what_swings() -> None:
    from supple.view.page.reports import report

    links = [
        {"name": "cart", "joint": {"type": "prismatic", "start": 0.5}, "length": 3.0},
        {"name": "cable", "joint": {"passive": True}, "length": 1.0, "tip": {"mass": 1.0}},
    ]
    given = {"name": "crane", "planar": True, "gravity": [0, -9.81, 0]}
    given["links"] = [link | {"theory": "rigid", "body": {"mass": 1.0}} for link in links]
    model = supple.build(supple.MechanismRobot.model_validate(given))
    run = supple.follow(model, supple.PointToPoint([0.5], [1.5], 1.0), dt=0.05, after=0.2)
    chapter = report(run, samples=5).chapters[0]
    assert [row[0] for row in chapter.tables[0].rows] == ["x (mm)", "y (mm)", "about z (deg)"]
    plots = {plot.title: plot for plot in chapter.plots}
    assert [line.name for line in plots["Position error"].series] == ["x", "y"]
    (swing,) = plots["Joints that swing freely"].series
    assert swing.name == "cable"
    np.testing.assert_allclose(swing.y, np.degrees(run.swing[:, 0]), rtol=1e-3)


def test_rounding_is_told_as_zero(tmp_path: Path) -> None:
    """A planar arm that sags in x-y moves nowhere else, whatever rounding says."""
    sag = supple.statics(supple.load("industrial-3"), [0, 0.4, 0.2], gravity=(0, -9.81, 0))
    text = sag.save_page(tmp_path / "sag.html").read_text(encoding="utf-8")
    rows = data_of(text)["chapters"][0]["tables"][0]["rows"]
    assert [row[1] for row in rows][2:5] == ["0", "0", "0"]


def test_bad_places_are_told_before_anything_is_computed(found: supple.Modes) -> None:
    with pytest.raises(supple.SuppleError, match=r"end with \.html"):
        found.save_page("arm.pdf")
    with pytest.raises(supple.SuppleError, match="no folder"):
        found.save_page("/nowhere/arm.html")
    with pytest.raises(supple.SuppleError, match="cannot write"):
        save_page("/proc/arm.html", "t", [])


@pytest.mark.parametrize("path", sorted(ASSETS.iterdir()), ids=lambda p: p.name)
def test_assets_keep_the_size_of_the_house(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 500
    assert max(len(line) for line in lines) <= 120


def test_stability_is_a_page_too(tmp_path: Path) -> None:
    model = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    way = supple.ParabolicBlends([0, 0, 0.3], [0.5, -0.2, 0.6], duration=0.3, blend=0.1)
    found = supple.stability(model, way, samples=21, tolerance=1e-6)
    text = found.save_page(tmp_path / "stability.html").read_text(encoding="utf-8")
    motion, words = data_of(text)["chapters"]
    assert words["text"] == [found.text]
    energy = next(plot for plot in motion["plots"] if plot["title"] == "Energy of vibration")
    shown = energy["series"][0]["y"]
    np.testing.assert_allclose(shown[-1], found.energy[-1], rtol=1e-6)
    assert energy["y_label"] == "energy of vibration (J)"


def test_a_motion_tells_what_moves_and_in_which_unit(tmp_path: Path) -> None:
    """Angles and lengths apart, ends in mm, rounding left out, gravity from its start."""
    from supple.view.page.reports import panels

    robot = supple.load("theodore-rrp").with_("gravity", [0, 0, -9.81])
    model = supple.build(robot, supple.AssumedModes(1))
    q = np.zeros((3, model.size))
    q[:, :3] = [[0.0, 0.0, 0.5], [0.1, 0.0, 0.6], [0.2, 0.0, 0.7]]
    q[:, 3] = [0, 1e-3, 2e-3]
    run = supple.Response(model, np.arange(3.0), q, 0 * q, q[:, :3], np.zeros(3), "given")
    plots = {plot.title: plot for plot in panels(run)}
    assert [s.name for s in plots["Joints"].series] == ["link1"]  # link2 rests
    assert plots["Joints"].series[0].y[-1] == pytest.approx(np.degrees(0.2))
    assert list(plots["Lengths"].series[0].y) == [0.5, 0.6, 0.7]
    end = plots["Deflection of the ends"]
    assert end.y_label == "deflection of the ends (mm)"
    bent = 1e3 * np.linalg.norm(run.deflection("link3"), axis=1)
    np.testing.assert_allclose(end.series[0].y, bent, rtol=1e-12)
    change = {s.name: s.y[-1] for s in plots["Energy"].series}
    gravity = run.energies["gravity"]
    assert change["gravity"] == pytest.approx(gravity[-1] - gravity[0])


def test_what_is_no_number_does_not_break_the_page() -> None:
    """JSON knows no NaN: one in a curve left the whole page blank."""
    x = np.array([0.0, 1.0, 2.0])
    chapter = Chapter(
        "c",
        plots=[Plot("p", "x", "y", [Series("s", x, np.array([1.0, np.nan, np.inf]))])],
        tables=[Table("t", ["a", "b>"], [["x", float("nan")]])],
    )
    text = page_text("t", [chapter])
    assert "NaN" not in text.split('id="data">')[1].split("</script>")[0]
    drawn = data_of(text)["chapters"][0]
    assert drawn["plots"][0]["series"][0]["y"] == [1.0, None, None]
    assert drawn["tables"][0]["rows"] == [["x", None]]


def test_maps_of_a_line_and_of_a_point_are_pages(tmp_path: Path) -> None:
    robot = supple.load("kuo-delta")
    line = supple.workspace(robot, x=(-0.9, 0.9), y=0.0, z=0.5, points=7)
    assert np.isnan(line.omega).any()
    (plot,) = data_of(line.save_page(tmp_path / "line.html").read_text(encoding="utf-8"))[
        "chapters"
    ][0]["plots"]
    known = [value for value in plot["series"][0]["y"] if value is not None]
    hertz = line.omega[:, 0, 0, 0] / (2 * np.pi)
    np.testing.assert_allclose(known, hertz[np.isfinite(hertz)], rtol=1e-6)
    point = supple.workspace(robot, x=0.1, y=0.0, z=0.5, points=3)
    assert point.save_page(tmp_path / "point.html").exists()


def test_sag_of_many_poses_is_a_sentence(tmp_path: Path) -> None:
    many = supple.statics(supple.load("industrial-3"), np.zeros((2, 3)), gravity=(0, -9.81, 0))
    with pytest.raises(supple.SuppleError, match="one configuration"):
        many.save_page(tmp_path / "many.html")


def lying(links: int) -> supple.SerialRobot:
    """A spatial arm of many links whose joints turn about y and z in turn."""
    tube = {"shape": "tube", "diameter": 0.06, "wall": 0.003}
    alloy = {"young_modulus": 70e9, "poisson_ratio": 0.34, "density": 2700}
    axes = ([0, 1, 0], [0, 0, 1])
    one = {"length": 0.5, "material": "alloy", "section": "tube"}
    given = {
        "supple": 1,
        "name": "many",
        "architecture": "serial",
        "materials": {"alloy": alloy},
        "sections": {"tube": tube},
        "links": [
            {"name": f"l{k}", "joint": {"type": "revolute", "axis": axes[k % 2]}, **one}
            for k in range(links)
        ],
    }
    robot = supple.loads(json.dumps(given))
    assert isinstance(robot, supple.SerialRobot)
    return robot


@pytest.mark.parametrize(("links", "count"), [(5, 12), (8, 20)])
def test_pages_of_many_links_and_modes_stay_small_and_say_so(
    links: int, count: int, tmp_path: Path
) -> None:
    robot = lying(links)
    found = supple.modes(robot, [0.3] * links, count=count)
    place = save_report(found, tmp_path / "many.html")
    assert place.stat().st_size < LIMIT
    data = data_of(place.read_text(encoding="utf-8"))
    poses = len(data["chapters"][0]["scene"]["tracks"][1]["at"])
    assert 3 <= poses < 21
    assert data["lead"][-1] == (
        f"To keep this page small, it holds {poses} poses along each coordinate."
    )


def test_many_configurations_stay_small_and_keep_their_own_frequencies(tmp_path: Path) -> None:
    robot = supple.load("industrial-3")
    turns = np.linspace(-2, 2, 700)
    found = supple.modes(robot, np.stack([0 * turns, turns, 0 * turns], axis=1), count=10)
    place = save_report(found, tmp_path / "many.html")
    assert place.stat().st_size < LIMIT
    data = data_of(place.read_text(encoding="utf-8"))
    track = data["chapters"][0]["scene"]["tracks"][0]
    kept = [int(np.argmin(np.abs(np.degrees(turns) - x))) for x in track["at"]]
    assert kept[0] == 0
    assert kept[-1] == 699
    assert len(kept) == len(set(kept)) < 700
    assert track["frequency_hz"] == found.frequency_hz[kept].tolist()
    assert f"{len(kept)} of 700 configurations" in data["lead"][-1]


def test_a_page_that_cannot_be_small_is_a_sentence(tmp_path: Path) -> None:
    curve = Series("noise", np.arange(2e5), np.random.default_rng(1).normal(size=200_000))
    plot = Plot("t", "x", "y", [curve])
    with pytest.raises(supple.SuppleError, match=r"would be a page of .* MB, 1.5 MB at most"):
        save_page(tmp_path / "large.html", "large", [Chapter(plots=[plot])])
    assert not (tmp_path / "large.html").exists()


def test_a_page_has_sliders_for_numbers_of_the_file(tmp_path: Path) -> None:
    robot = supple.load("industrial-3")
    found = supple.modes(robot, [0.0, 0.5, 0.3], count=2)
    paths = ["links.link1.section.wall", "links.link2.length"]
    text = found.save_page(tmp_path / "page.html", vary=paths).read_text()
    assert '"name":"link1.section.wall","unit":"mm"' in text.replace(": ", ":").replace(", ", ",")
    with pytest.raises(supple.SuppleError, match=r"did you mean 'links\.link1\.section\.wall'"):
        found.save_page(tmp_path / "page.html", vary=["links.link1.section.walls"])
    with pytest.raises(supple.SuppleError, match=r"runs over .* mm, where there is no answer"):
        found.save_page(tmp_path / "page.html", vary={paths[0]: (0.004, 0.4)})
