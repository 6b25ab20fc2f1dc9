"""Any robot that can be described survives its own file: `loads(dump(robot)) == robot`."""

import math
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from supple import library
from supple.editing import as_plain_data
from supple.errors import RobotError
from supple.files import dump, load, loads
from supple.files.reading import read_yaml
from supple.files.writing import write
from supple.robot import DeltaRobot, Robot, SerialRobot

THOROUGH = settings(max_examples=200, deadline=None, derandomize=True)

positive = st.floats(1e-12, 1e15)
length = st.floats(1e-9, 1e9)  # what a robot may measure
number = st.floats(-1e6, 1e6)
at_least_zero = st.one_of(st.just(0.0), st.floats(1e-15, 1e3))
angle = st.one_of(number, st.integers(-360, 360).map(lambda a: f"{a}deg"))
text = st.text(max_size=20)
name = st.text(min_size=1, max_size=12)
vector = st.lists(number, min_size=3, max_size=3)
pair = st.one_of(positive, st.lists(positive, min_size=2, max_size=2))


def optional(**fields: st.SearchStrategy[Any]) -> dict[str, Any]:
    return {"optional": fields}


def part(needed: dict[str, Any], **extra: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(needed, **extra)


inertia = st.one_of(
    at_least_zero,
    st.lists(at_least_zero, min_size=1, max_size=1),
    st.lists(at_least_zero, min_size=3, max_size=3),
    st.lists(st.floats(1, 2), min_size=6, max_size=6).map(lambda v: [9, 9, 9, *v[3:]]),
)
body = part({}, **optional(mass=at_least_zero, com=vector, inertia=inertia))
material = st.one_of(
    part(
        {"young_modulus": positive, "density": positive, "poisson_ratio": st.floats(-0.9, 0.5)},
        **optional(damping_ratio=at_least_zero),
    ),
    part({"young_modulus": positive, "density": positive, "shear_modulus": positive}),
)
shear = optional(shear_coefficient=pair)
size = st.floats(1e-3, 1e3)
section = st.one_of(
    part({"shape": st.just("rectangle"), "depth": size, "width": size}, **shear),
    part({"shape": st.just("circle"), "diameter": size}, **shear),
    part({"shape": st.just("tube"), "diameter": size, "wall": st.floats(1e-9, 4e-4)}, **shear),
    part(
        {"shape": st.just("box"), "depth": size, "width": size, "wall": st.floats(1e-9, 4e-4)},
        **shear,
    ),
    part(
        {"shape": st.just("general"), "area": positive, "second_moment_z": positive},
        **optional(second_moment_y=positive, torsion_constant=positive, shear_coefficient=pair),
    ),
)
mount = part({}, **optional(xyz=vector, rpy=st.lists(angle, min_size=3, max_size=3)))
drive = {
    "rotor_inertia": at_least_zero,
    "damping": at_least_zero,
    "limits": st.tuples(st.floats(-9, -1), st.floats(1, 9)).map(list),
}
axis = st.lists(st.floats(0.1, 1), min_size=3, max_size=3)
revolute = part({}, **optional(mount=mount, stiffness=positive, axis=axis, hub=body, **drive))
other = part(
    {"type": st.sampled_from(["prismatic", "fixed"])}, **optional(mount=mount, hub=body, **drive)
)
theory = st.sampled_from(["timoshenko", "euler-bernoulli", "inextensible", "rigid"])
extras = {"roll": angle, "tip": body, "damping_ratio": at_least_zero}


def beams(materials: list[str], sections: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Beams by material and section, their own or shared, and beams by their stiffnesses."""
    materials_or_names = st.one_of(material, *([st.sampled_from(materials)] if materials else []))
    sections_or_names = st.one_of(section, *([st.sampled_from(sections)] if sections else []))
    return st.one_of(
        part(
            {"length": length, "material": materials_or_names, "section": sections_or_names},
            **optional(theory=theory, **extras),
        ),
        part(
            {"length": length, "mass_per_length": positive, "bending_stiffness": pair},
            **optional(shear_stiffness=pair, axial_stiffness=positive, **extras),
        ),
    )


@st.composite
def robots(draw: st.DrawFn) -> Robot:
    materials = draw(st.dictionaries(name, material, max_size=3))
    sections = draw(st.dictionaries(name, section, max_size=3))
    data = draw(part({"name": name}, **optional(source=text, gravity=vector, payload=body)))
    data |= {"materials": materials, "sections": sections}
    beam = beams([*materials], [*sections])
    if draw(st.booleans()):
        joints = st.one_of(revolute, other)
        count = draw(st.integers(1, 4))
        named = [{"name": f"link{i}", "joint": draw(joints), **draw(beam)} for i in range(count)]
        return SerialRobot.model_validate(data | {"links": named})
    platform = {"radius": length, "thickness": length, "mass": positive}
    rods = st.sampled_from([{}, {"rods": "twist"}, {"rods": "parallelogram", "spacing": 0.1}])
    return DeltaRobot.model_validate(
        data
        | {
            "base_radius": draw(length),
            "platform": draw(part(platform, **optional(inertia=inertia))),
            "upper": draw(beam),
            "lower": {**draw(beam), **draw(rods)},
            "motor": draw(part({}, **optional(stiffness=positive, **drive))),
        }
    )


@THOROUGH
@given(robots())
def test_a_robot_survives_its_file(robot: Robot) -> None:
    assert loads(dump(robot)) == robot


@THOROUGH
@given(robots())
def test_minimal_data_describes_the_same_robot(robot: Robot) -> None:
    assert type(robot).model_validate(as_plain_data(robot)) == robot


@THOROUGH
@given(robots())
def test_an_empty_change_changes_nothing(robot: Robot) -> None:
    assert robot.with_({}) == robot


scalars = st.one_of(
    st.none(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), text
)
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=20,
)


@THOROUGH
@given(st.dictionaries(text, plain, max_size=4))
def test_plain_data_survives_yaml(data: dict[str, Any]) -> None:
    assert read_yaml(write(data)).data == (data or None)


@THOROUGH
@given(st.text(max_size=200))
def test_any_text_is_a_robot_or_gets_sentences(words: str) -> None:
    told(words)


junk = st.one_of(
    plain, st.sampled_from([-1.0, 0.0, math.nan, math.inf, True, "x", [], {}, [1], 9e99])
)
words = st.one_of(
    text, st.sampled_from(["lenght", "name", "section", "material", "shape", "joint"])
)


def places(data: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of plain data."""
    found = [place] if place else []
    if isinstance(data, dict | list):
        entries = data.items() if isinstance(data, dict) else enumerate(data)
        found += [inner for key, value in entries for inner in places(value, (*place, key))]
    return found


@settings(THOROUGH, max_examples=500)
@given(st.data())
def test_any_robot_with_junk_in_it_is_a_robot_or_gets_sentences(data: st.DataObject) -> None:
    """Values replaced, left out and added at random places never end in another error."""
    description = as_plain_data(load(data.draw(st.sampled_from(library.names()))))
    for _ in range(data.draw(st.integers(1, 4))):
        *path, key = data.draw(st.sampled_from(places(description)))
        holder = description
        for part_of_path in path:
            holder = holder[part_of_path]
        if data.draw(st.booleans()):
            holder[key] = deepcopy(data.draw(junk))
        elif isinstance(holder, dict):
            del holder[key]
            holder[data.draw(words)] = deepcopy(data.draw(junk))
    told(write(description))


def told(source: str) -> None:
    """Load a text; if it is no robot, the error must hold sentences on one line each."""
    try:
        loads(source)
    except RobotError as problem:
        faults = problem.faults
    else:
        return
    assert faults
    assert len(set(faults)) == len(faults)
    assert all(fault and "\n" not in fault for fault in faults)
