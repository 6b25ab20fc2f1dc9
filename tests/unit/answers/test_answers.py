"""What every answer does: it holds still, compares, fits a screen, and leaves as labelled data."""

import contextlib
import copy
import importlib
import inspect
import io
import pickle
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from every_answer import MAKERS, answer, arm
from supple.answers.answer import Answer
from supple.answers.immutable import freeze_arrays, frozen, same, short
from supple.answers.registry import KINDS, import_function


def kinds_of_answer() -> set[type]:
    """Every concrete class of answer in the package."""
    for part in pkgutil.walk_packages(supple.__path__, "supple."):
        if not part.name.endswith("__main__"):
            importlib.import_module(part.name)
    found = set()
    left = [Answer]
    while left:
        below = left.pop().__subclasses__()
        left += below
        found |= {cls for cls in below if not inspect.isabstract(cls)}
    return {cls for cls in found if cls.__module__.startswith("supple.")}


def test_every_kind_is_walked() -> None:
    walked = {name.partition(",")[0].split()[0] for name in MAKERS}
    assert {cls.__name__ for cls in kinds_of_answer()} == walked


@pytest.mark.parametrize("key", KINDS)
def test_every_line_of_the_registry_points_somewhere(key: str) -> None:
    assert inspect.isclass(import_function(key))
    for place in vars(KINDS[key]).values():
        assert not place or callable(import_function(place))


def arrays_of(value: Any, place: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Arrays in a value, its tuples and mappings, with their places."""
    if isinstance(value, np.ndarray):
        yield place, value
    elif isinstance(value, tuple | dict):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from arrays_of(part, f"{place}.{key}")


def check_that_nothing_can_be_changed(found: Any) -> None:
    for attribute in dir(type(found)):  # cached ones too
        if not attribute.startswith("_"):
            with contextlib.suppress(supple.SuppleError):  # shapes of many configurations
                getattr(found, attribute)
    for place, array in arrays_of(vars(found)):
        assert not array.flags.writeable, place


def check_that_it_can_be_copied_and_compared(found: Any) -> None:
    for again in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert again == found
        with contextlib.suppress(TypeError):  # what compares its arrays field by field has none
            assert hash(again) == hash(found)
        check_that_nothing_can_be_changed(again)
    assert found != 3
    assert found != arm()


def check_that_it_fits_a_screen(found: Any) -> None:
    lines = repr(found).splitlines()
    assert 1 <= len(lines) <= 24
    assert max(map(len, lines)) <= 100
    shown = found._repr_html_()
    assert shown.count("<tr") <= 40
    assert type(found).__name__ in shown


def check_that_it_is_labelled_data(found: Any, place: Path) -> None:
    import pandas
    import xarray

    data = found.to_xarray()
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert len(table) > 0
    for field in found.dims:  # by name, nothing lost on the way
        value = getattr(found, field)
        if isinstance(value, np.ndarray):
            floats = data[field].dtype.kind == "f"
            assert np.array_equal(data[field].values, value, equal_nan=floats)
    assert len(pandas.read_csv(io.StringIO(found.to_csv()))) == len(table)
    found.save(place)
    with xarray.open_dataset(place) as read:
        assert set(read.sizes) == set(data.sizes)


@pytest.mark.parametrize(
    "shown",
    [
        *(supple.load(name) for name in ("industrial-3", "kuo-delta", "hexapod")),
        supple.load("hexapod").links[0],
        supple.load("hexapod").links[0].joint,
        supple.JointPD(100.0, 10.0),
        supple.PointToPoint((0.0,), (1.0,), 1.0),
        supple.FiniteElements(3),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_a_notebook_shows_what_is_no_answer_too(shown: Any) -> None:
    table = shown._repr_html_()
    assert type(shown).__name__ in table
    assert "<tr" in table or "<pre" in table
    assert table.count("<tr") <= 40
    assert len(table) < 4000


def test_every_public_class_is_shown_in_notebooks() -> None:
    public = (getattr(supple, name) for name in supple.__all__)
    classes = [found for found in public if isinstance(found, type)]
    assert len(classes) > 100
    for each in classes:
        assert issubclass(each, Exception | tuple) or hasattr(each, "_repr_html_"), each


@pytest.mark.parametrize("name", MAKERS)
def test_every_answer(name: str, tmp_path: Path) -> None:
    """In one test each, so that an answer is computed once."""
    found = answer(name)
    check_that_nothing_can_be_changed(found)
    check_that_it_can_be_copied_and_compared(found)
    check_that_it_fits_a_screen(found)
    check_that_it_is_labelled_data(found, tmp_path / "found.nc")


def test_an_answer_does_not_follow_the_callers_buffer() -> None:
    buffer = np.zeros(3)
    found = []
    for angle in (0.1, 0.2, 0.3):
        buffer[:] = angle
        found.append(supple.modes(arm(), buffer, count=1))
    assert [float(one.theta[0]) for one in found] == [0.1, 0.2, 0.3]
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    q = np.zeros(4)
    lin = supple.linearize(model, q)
    q[:] = 1.0
    assert not lin.q.any()
    with pytest.raises(ValueError, match="read-only"):
        lin.A[0, 0] = 1.0


def test_another_question_has_another_answer() -> None:
    one, other = (supple.modes(arm(), [0, 0, x], count=2) for x in (0.1, 0.2))
    assert one != other
    assert one == supple.modes(arm(), [0, 0, 0.1], count=2)


def test_modes_in_a_table_are_the_modes() -> None:
    found = answer("Modes, many")
    table = found.to_pandas()
    assert table.index.names == ["configuration", "mode"]
    assert table.loc[(1, 3), "omega"] == found.omega[1, 2]
    assert table.loc[(2, 1), "theta.link3"] == 1.0


def test_statics_in_a_table_are_the_tip() -> None:
    found = answer("Statics")
    table = found.to_pandas()
    assert table.loc["y", "moved"] == found.tip_displacement[1]
    assert table.loc["about z", "compliance.Fy"] == found.compliance[5, 1]


def test_what_has_no_plot_says_so() -> None:
    with pytest.raises(supple.SuppleError, match="Sensitivities cannot be plotted: give one of"):
        answer("Sensitivities").plot()


def test_read_only_arrays_are_not_copied_again() -> None:
    once = freeze_arrays(np.arange(4.0))
    assert freeze_arrays(once) is once
    assert freeze_arrays(once[1:]).base is once
    below = np.arange(4.0)
    view = below[:]
    view.setflags(write=False)  # what it looks at can still be changed
    assert freeze_arrays(view).base is None


def test_equality_of_arrays_and_short_words() -> None:
    assert same({"a": np.array([1.0, np.nan])}, {"a": np.array([1.0, np.nan])})
    assert not same((np.zeros(2),), (np.zeros(3),))
    assert short(np.array([1.0, 2.5])) == "[1, 2.5]"
    assert (short(np.True_), short(np.int64(3)), short(np.float64(0.1))) == ("True", "3", "0.1")
    assert short("x" * 200).endswith("...")
    assert len(short(list(range(1000)))) < 80


def test_what_is_remembered_writes_no_equations() -> None:
    """A Model that a robot remembers makes its functions when they are asked for, not before."""
    model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    before = dict(vars(model.functions))
    counts = {name: len(x) for name, x in before.items() if isinstance(x, dict)}
    assert counts
    frozen(model)
    after = {name: len(x) for name, x in vars(model.functions).items() if isinstance(x, dict)}
    assert after == counts


@pytest.mark.parametrize("name", MAKERS)
def test_no_answer_prints_its_fields(name: str) -> None:
    """No dump of arrays, no one-line reminder, no rounding written with seventeen digits."""
    text = repr(answer(name))
    assert len(text.splitlines()) >= 2
    assert not text.startswith("<")
    for dump in ("array (", "array(", "[[", "np.float64"):
        assert dump not in text
    assert not re.search(r"\b(nan|None)\b", text)
    smallest = [float(found) for found in re.findall(r"-?\d[\d.]*e-\d+", text)]
    accuracies = ("difference", "meet at every joint", "KKT residual")
    if not any(word in text for word in accuracies):
        assert all(abs(value) > 1e-12 for value in smallest)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Band", ("free, proven", "cell", "Hz away")),
        ("Optimum", ("Hz before", "kg now", "mm  links.link1.section.wall", "limited by")),
        ("Comparison", ("settled (s)", "left (mm)", "effort (N m)", "zv settles first")),
        ("Stability", ("Stable", "Hz, joints locked", "mm", "N m")),
        ("Tracks", ("theta.link2, 0° to 5.7296°", "first Hz", "Certified")),
        ("Tolerances", ("nominal Hz", "by the tolerance of", "links.link1.length")),
        ("Validation", ("pinocchio: mass, kg", "largest difference")),
        ("Mobility", ("degrees of freedom  2", "Kutzbach")),
        ("Identification", ("mm", "links.link1.section.wall")),
        ("Modes", ("Hz", "bending 100 %", "Certified")),
        ("Statics", ("mm", "held by", "link1")),
        ("Check", ("reach", "mass that moves", "lowest frequency")),
        ("WorkspaceMap", ("lowest", "Hz at x =")),
        ("Response", ("tip ends at", "deg", "energy balance")),
        ("StateSpace", ("states", "inputs", "outputs")),
        ("Sensitivities", ("links.link1.length", "Hz/deg")),
    ],
)
def test_printed_answers_are_written_for_engineers(name: str, wanted: tuple[str, ...]) -> None:
    text = repr(answer(name))
    for words in wanted:
        assert words in text


@pytest.mark.parametrize("name", ["scara-parallel", "two-arms", "hexapod"])
def test_rounding_of_statics_is_written_as_zero(name: str) -> None:
    """Motors about vertical axes hold nothing against gravity, and a symmetric sag is straight."""
    robot = supple.load(name)
    found = supple.statics(robot)
    assert not re.search(r"e-(09|[1-9]\d)\b", repr(found))
    assert not re.search(r"e-(09|[1-9]\d)\b", repr(supple.check(robot, found.theta)))


def test_shaper_is_printed_as_a_table_with_units() -> None:
    text = repr(supple.shaper("zv", frequency_hz=5.0))
    assert text.splitlines()[0] == "Shaper zv for 5 Hz, damping 0 %: 2 impulses in 100 ms"
    assert "at (ms)" in text
    # V = |cos(pi f / (2 f0))| of two equal impulses half a period apart
    assert "leaves 0 % of the vibration at 5 Hz, 15.6 % at 10 % less, 15.6 % at 10 % more" in text
