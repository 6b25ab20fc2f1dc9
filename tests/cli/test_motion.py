"""`supple simulate`, `supple linearize` and `supple reproduce de-luca`."""

import json
from pathlib import Path

import numpy as np
import pytest

import supple
from cli.console import Console
from pictures import shows, written_figures
from supple.papers.cells import right_number

ARM = "de-luca-two-link"


def test_simulate_draws_and_stores(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = written_figures(monkeypatch)
    picture = tmp_path / "out.png"
    stored = tmp_path / "out.nc"
    ran = console(
        *("simulate", ARM, "--input", "bang-bang", "--amplitude", "0.2", "--duration", "2"),
        *("--plot", picture, "--save", stored),
    )
    assert ran.code == 0, ran.err
    assert "theta.link1" in ran.out
    assert "power balance closes" in ran.out
    again = supple.load_response(stored)
    assert picture.exists()
    for curve in (*again.theta.T, *again.tau.T):
        assert shows(figures[0], curve)


def test_simulate_json_is_one_document(console: Console) -> None:
    ran = console("simulate", ARM, "--at", "0,45deg", "--duration", "0.05", "--json")
    found = json.loads(ran.out)
    assert ran.err == ""
    assert found["complete"] is True
    assert np.shape(found["q"]) == (51, 6)
    assert found["q"][0][1] == pytest.approx(np.pi / 4)
    assert found["coordinates"][0] == "theta.link1"


def test_simulate_from_csv(console: Console, tmp_path: Path) -> None:
    table = tmp_path / "efforts.csv"
    table.write_text("t,tau1,tau2\n0,0.1,0\n0.1,0.1,0\n", encoding="utf-8")
    one = console("simulate", ARM, "--input", table, "--duration", "0.1", "--json")
    two = console("simulate", ARM, "--amplitude", "0.1,0", "--duration", "0.1", "--json")
    a, b = (np.array(json.loads(ran.out)["q"]) for ran in (one, two))
    assert np.abs(a - b).max() < 1e-14


def test_a_run_that_ends_early_is_told_and_exits_with_1(console: Console) -> None:
    words = ("--input", "bang-bang", "--amplitude", "0.2", "--half", "1", "--duration", "2")
    ran = console("simulate", ARM, "--deflection", "paper", *words)
    assert ran.code == 1
    assert f"blew up at t = {right_number('DeLuca1991', 'failure')[0]}" in ran.err


def test_linearize_shows_no_rounding_as_damping(console: Console) -> None:
    ran = console("linearize", ARM, "--at", "0,45deg")
    assert [line.split()[-1] for line in ran.out.splitlines()[3:]] == ["0"] * 4


def test_linearize(console: Console) -> None:
    words = ("linearize", ARM, "--at", "0,45deg", "--outputs", "joints,tip,strain:link1:0.1")
    ran = console(*words, "--json")
    found = json.loads(ran.out)
    assert np.shape(found["A"]) == (12, 12)
    assert np.shape(found["C"]) == (6, 12)
    assert len(found["frequencies"]) == 4
    assert "rad/s" in console(*words).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", ARM, "--modes", "0"), "no mode"),
        (("simulate", ARM, "--input", "bang-bang", "--step", "0.1"), "largest admissible step"),
        (("simulate", ARM, "--input", "bangbang"), "did you mean bang-bang"),
        (("simulate", ARM, "--input", "absent.csv"), "cannot read efforts"),
        (("simulate", ARM, "--at", "1"), "2 are needed"),
        (("simulate", ARM, "--start", "1,2"), "6 are needed"),
        (("simulate", ARM, "--method", "euler"), "method is 'euler'"),
        (("simulate", ARM, "--deflection", "bent"), "deflection is 'bent'"),
        (("simulate", "kuo-delta"), "such as --path inverted-u"),
        (("simulate", "kuo-delta", "--amplitude", "2"), "such as --path inverted-u"),
        (("simulate", "theodore-rrp"), "free length of link3"),
        (("linearize", ARM, "--outputs", "nose"), "output 'nose'"),
        (("linearize", ARM, "--at", "x"), "not an angle"),
        (("linearize", ARM, "--position", "0,0,1"), "--position is for a Delta"),
        (("linearize", ARM, "--elements", "2", "--modes", "2"), "--modes would change nothing"),
        (("simulate", ARM, "--elements", "2", "--axial", "1"), "--axial would change nothing"),
        (("simulate", ARM, "--position", "0,0,1"), "--position is for a Delta"),
        (("simulate", ARM, "--path", "0,0:1,1", "--input", "step"), "--input would change nothing"),
        (
            ("simulate", ARM, "--controller", "pd", "--trajectory", "0,0:1,1", "--amplitude", "1"),
            "--amplitude would change nothing with --controller",
        ),
        (("simulate", ARM, "--after", "1"), "--after would change nothing without --path"),
        (("simulate", ARM, "--gains", "1,1"), "--gains would change nothing without --controller"),
        (("simulate", "kuo-delta", "--path", "circle", "--elements", "0"), "elements is 0"),
        (("simulate", "kuo-delta", "--path", "inverted-u", "--after", "-1"), "after is -1.0"),
        (("workspace", ARM, "--z", "0.5"), "arms are mapped over joints="),
        (("stability", ARM), "--trajectory extension has 3 joint coordinates, the arm has 2"),
        (("simulate", ARM, "--duration", "0.01", "--save", "a.xyz"), "must end in .nc (netCDF)"),
        (
            ("simulate", ARM, "--input", "none.csv"),
            "none.csv: No such file or directory; give a header",
        ),
    ],
)
def test_bad_input_is_one_sentence(console: Console, words: tuple[str, ...], said: str) -> None:
    ran = console(*words)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.slow
def test_a_sliding_arm_is_driven_and_judged_from_the_library(
    console: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = tmp_path / "out.png"
    figures = written_figures(monkeypatch)
    words = ("--controller", "decoupling", "--trajectory", "extension", "--plot", str(drawn))
    ran = console("simulate", "theodore-rrp", *words)
    assert ran.code == 0
    joints = [ax for ax in figures[0].axes if ax.get_ylabel() == "joints (deg and m)"]
    moved = [line for line in joints[0].lines if line.get_linestyle() == "-"]  # dashed: wanted
    ends = [line.get_ydata()[-1] for line in moved]
    assert ends == pytest.approx([180.0, -90.0, 1.0], abs=1e-4)
    judged = console("stability", "theodore-rrp", "--trajectory", "retraction")
    assert judged.code == 0
    assert "decide neither stability nor growth" in judged.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--controller", "decoupling"), "go together"),
        (("--controller", "decopling", "--trajectory", "extension"), "did you mean decoupling"),
        (("--controller", "decoupling", "--trajectory", "sideways"), "from:to"),
        (("--controller", "decoupling", "--trajectory", "0,0,0.3:0,0,1.5"), "beam's 1.3 m"),
        (("--controller", "decoupling", "--trajectory", "0,0,0.3:0,0,-0.1"), "between 0.013 m"),
        (("--at", "0,0,0.5", "--beta", "euler"), "newton, integrated"),
    ],
)
def test_bad_closed_loops_are_one_sentence(console: Console, words, said: str) -> None:
    ran = console("simulate", "theodore-rrp", *words)
    assert ran.code == 2
    assert said in ran.err


def test_beta_beside_the_states_and_a_slide_off_its_beam(console: Console) -> None:
    drive = ("--controller", "decoupling", "--trajectory", "extension", "--duration", "0.02")
    ran = console("simulate", "theodore-rrp", *drive, "--modes", "1", "--beta", "integrated")
    assert "from Newton's roots" in ran.out
    assert "rk4" in ran.out
    fast = console("simulate", "theodore-rrp", *drive, "--modes", "1", "--json")
    assert json.loads(fast.out)["method"] == "magnus"
    off = console("simulate", "theodore-rrp", "--at", "0,0,1.2", "--amplitude", "0,0,30",
                  "--modes", "1", "--method", "adams")  # fmt: skip
    assert off.code == 1
    assert "slid off its beam" in off.err


def test_modal_damping_is_a_ratio_of_the_whole_robots_modes(console: Console) -> None:
    ran = console("simulate", ARM, "--modal-damping", "0.03", "--duration", "0.01")
    assert ran.code == 0
    assert "joints held: 0.03, 0.03, 0.03, 0.03" in ran.out
    led = console("simulate", ARM, "--path", "0,0:0.1,0", "--modal-damping", "0.03")
    assert "damping ratios of its lowest modes 0.03, 0.03" in led.out
    both = console("simulate", ARM, "--modal-damping", "0.03", "--damping", "0.02")
    assert both.code == 2
    assert "give one of them" in both.err


ELL = """
name: ell
materials: {al: {young_modulus: 70e9, shear_modulus: 26e9, density: 2700}}
links:
  - {name: a, length: 0.5, material: al, section: {shape: tube, diameter: 0.04, wall: 0.003}}
  - {name: b, length: 0.5, material: al, section: {shape: tube, diameter: 0.04, wall: 0.003}}
payload: {mass: 2}
"""


def test_links_of_a_spatial_arm_twist_without_being_asked(console: Console, tmp_path: Path) -> None:
    """As in Python: without a torsion shape two links at right angles sag by a third too little."""
    file = tmp_path / "ell.yaml"
    file.write_text(ELL)
    at = ("--at", "0,90deg", "--json")
    states = json.loads(console("linearize", file, *at).out)["A"]
    assert len(states) == 2 * supple.build(supple.load(file), supple.AssumedModes(2)).size
    ran = console("simulate", file, *at, "--duration", "0.002")
    assert "eta.a.torsion1" in json.loads(ran.out)["coordinates"]


def test_sampled_runs_and_outputs_by_name(console: Console) -> None:
    """The command is the same run as in Python, sampled and late, with what was measured."""
    words = ("--trajectory", "0,0:0.2,0.1", "--controller", "pd", "--gains", "1,0.05")
    words = (*words, "--period", "0.0005", "--delay", "0.0002", "--duration", "0.05")
    asked = "strain:link1:0.1,moment:link2:0.5,reaction:link1,encoder:link2:4096,tip"
    ran = console("simulate", ARM, *words, "--outputs", asked, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    model = supple.build(supple.load(ARM), supple.AssumedModes(2))
    law = supple.Sampled(supple.JointPD(1, 0.05), 0.0005, 0.0002)
    outputs = {"m": supple.Moment("link2", 0.5), "s": supple.Strain("link1", 0.1)}
    path = supple.ParabolicBlends([0, 0], [0.2, 0.1])
    run = supple.simulate(model, controller=law, trajectory=path, duration=0.05, outputs=outputs)
    np.testing.assert_allclose(found["outputs"]["moment:link2:0.5"], run.outputs["m"], atol=1e-12)
    np.testing.assert_allclose(found["outputs"]["strain:link1:0.1"], run.outputs["s"], atol=1e-12)
    told = console("simulate", ARM, *words, "--outputs", "reaction:link1").out
    assert "reaction:link1 moment about z" in told
    assert "at the end" in told
    rows = console("simulate", ARM, *words, "--outputs", "strain:link1:0", "--csv").out
    assert "output.strain:link1:0" in rows.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--outputs", "strian:link1"), "did you mean strain?"),
        (("--outputs", "strain:link1:much"), "such as strain:link1:0.1"),
        (("--outputs", "strain"), "such as strain:link1:0.1"),
        (("--outputs", "moment:hand"), "no link 'hand'"),
        (("--outputs", "strain:link1:2"), "fraction is 2"),
        (("--period", "0.001"), "--controller"),
        (("--delay", "0.001"), "--controller"),
    ],
)
def test_outputs_that_are_none_are_one_sentence(console: Console, words, said: str) -> None:
    ran = console("simulate", ARM, "--duration", "0.01", *words)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_statics_measures_too(console: Console) -> None:
    words = ("statics", ARM, "--at", "0,0.5", "--gravity", "0,-9.81,0")
    ran = console(*words, "--outputs", "moment:link1:0,reaction:link1", "--json")
    found = json.loads(ran.out)["outputs"]
    assert found["moment:link1:0"][2] == pytest.approx(-found["reaction:link1"][5], rel=1e-9)
    assert "moment:link1:0 about z" in console(*words, "--outputs", "moment:link1:0").out


def test_linearize_closes_the_loop_and_draws(console: Console, tmp_path: Path) -> None:
    picture = tmp_path / "bode.png"
    words = ("linearize", ARM, "--damping", "0.01", "--controller", "pd", "--gains", "60,6")
    ran = console(*words, "--outputs", "joints,strain:link1:0", "--plot", picture, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["inputs"] == ["reference.link1", "reference.link2"]
    assert max(value[0] for value in found["eigenvalues"]) < 0
    assert picture.exists()
    refused = console("linearize", ARM, "--kind", "step")
    assert refused.code == 2
    assert "without --plot" in refused.err


def test_linearize_of_a_mechanism_stands_at_its_start(console: Console) -> None:
    """Without a pose it stood at zero, where a four-bar has other poles and a slide no length."""
    answer = json.loads(console("linearize", "four-bar", "--modes", "1", "--json").out)
    assert answer["q"][0] == pytest.approx(np.radians(60), abs=1e-12)


@pytest.mark.filterwarnings("default")
def test_what_to_try_is_told_as_options(console: Console) -> None:
    """The warning of a basis that is too small named a class of Python."""
    ran = console("linearize", "four-bar")
    assert "try --modes 2 --axial 1, whose links can stretch" in ran.err
    assert "AssumedModes" not in ran.err
    assert console("linearize", "four-bar", "--modes", 2, "--axial", 1).err == ""
