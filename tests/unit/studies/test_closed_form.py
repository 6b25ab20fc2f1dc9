"""Equations of motion as formulas and as code, against the functions of the Model."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import supple
from supple.equations.equilibrium import stiffness_at

NUMBER = ctypes.POINTER(ctypes.c_double)


def spatial_arm():
    """A three-link arm in space with a sprung joint, twist and weight."""
    steel = {"young_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7800}
    tube = {"shape": "tube", "diameter": 0.05, "wall": 0.003}
    each = {"length": 0.7, "material": steel, "section": tube, "tip": {"mass": 0.4}}
    axes = ([0, 0, 1], [0, 1, 0], [0, 1, 0])
    joints = [{"axis": axis, "rotor_inertia": 0.1} for axis in axes]
    joints[1]["stiffness"] = 5e4
    links = [{"name": f"link{k + 1}", "joint": joints[k], **each} for k in range(3)]
    return supple.SerialRobot(name="spatial", gravity=[0, 0, -9.81], links=links)


MODELS = {
    "planar": lambda: supple.build(
        supple.load("de-luca-two-link").with_("gravity", [0, -9.81, 0]), supple.AssumedModes(2)
    ),
    "three links": lambda: supple.build(supple.load("industrial-3"), supple.AssumedModes(3)),
    "in space": lambda: supple.build(spatial_arm(), supple.AssumedModes(1), stiffening=True),
    "sliding": lambda: supple.build(
        supple.load("theodore-rrp").with_("gravity", [0, 0, -9.81]), supple.AssumedModes(2)
    ),
    "sliding elements": lambda: supple.build(supple.load("theodore-rrp"), supple.FiniteElements(2)),
}


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    return MODELS[request.param]()


def state(model):
    rng = np.random.default_rng(3)
    q = np.concatenate([0.3 + 0.2 * np.arange(model.joints), np.zeros(model.size - model.joints)])
    q[model.joints :] = 0.01 * rng.normal(size=model.size - model.joints)
    return q, rng.normal(size=model.size)


def compare(model, q, qd, found):
    wanted = (
        model.mass_matrix(q),
        model.bias(q, qd),
        stiffness_at(model, q),
        model.gravity(q),
        model.coriolis(q, qd),
    )
    for ours, theirs in zip(found, wanted, strict=True):
        size = max(np.abs(theirs).max(), 1e-9)
        assert np.abs(np.reshape(ours, theirs.shape) - theirs).max() < 1e-12 * size


def test_the_printed_c_is_the_model(model, tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "arm.c"
    source.write_text(supple.closed_form(model, form="steps").c("arm"))
    library = tmp_path / "arm.so"
    strict = ["-std=c99", "-Wall", "-Werror", "-O0", "-shared", "-fPIC"]
    subprocess.run([compiler, *strict, "-o", library, source, "-lm"], check=True)
    q, qd = state(model)
    n = model.size
    outputs = [np.full(size, np.nan) for size in (n * n, n, n * n, n, n * n)]
    given = [array.ctypes.data_as(NUMBER) for array in (q, qd, *outputs)]
    ctypes.CDLL(str(library)).arm(*given)
    compare(model, q, qd, outputs)


def test_the_printed_python_is_the_model(model):
    names = {}
    exec(supple.closed_form(model, form="steps").python("arm"), names)
    q, qd = state(model)
    compare(model, q, qd, names["arm"](q.tolist(), qd.tolist()))


def test_steps_in_latex_name_every_entry_that_is_not_zero(model):
    form = supple.closed_form(model, form="steps")
    text = form.latex()
    assert text.startswith("\\begin{aligned}")
    assert text.count("{") == text.count("}")
    assert text.count("M_{") == sum(place is not None for place in form.listing.outputs["M"])
    assert text in form.markdown()


def test_formulas_written_out_hold_gravity_stiffness_and_the_coriolis_matrix():
    sympy = pytest.importorskip("sympy")
    robot = supple.load("de-luca-two-link").with_("gravity", [0, -9.81, 0])
    model = supple.build(robot.with_("links.link2.theory", "rigid"), supple.AssumedModes([1, 0]))
    form = supple.closed_form(model)
    assert form.written_out
    symbols = [sympy.Symbol(name, real=True) for name in form.values]
    matrices = [form.B, form.h, form.K, form.g, form.C]
    f = sympy.lambdify([form.q, form.qd, symbols], matrices)
    q, qd = state(model)
    compare(model, q, qd, f(q, qd, list(form.values.values())))


def test_what_cannot_be_written_is_told_in_one_sentence():
    sliding = supple.build(supple.load("theodore-rrp"), supple.AssumedModes(1))
    with pytest.raises(supple.SuppleError, match="form='steps'"):
        supple.closed_form(sliding, form="written out")
    with pytest.raises(supple.SuppleError, match="list of steps"):
        supple.closed_form(sliding).equations()
    with pytest.raises(supple.SuppleError, match="letters"):
        supple.closed_form(sliding).c("my arm")
    with pytest.raises(supple.SuppleError, match="written out, steps"):
        supple.closed_form(sliding, form="short")
    loops = supple.build(supple.load("four-bar"), supple.AssumedModes(2, axial=1))
    with pytest.raises(supple.SuppleError, match="loops"):
        supple.closed_form(loops)
