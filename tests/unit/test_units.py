"""Sizes with units: read exactly, written back as SI, wrong ones told."""

import math
from fractions import Fraction

import mpmath
import pytest

import supple
from supple.values import MEASURED, quantity, unit_of

TEXT = """
supple: 1
name: units
gravity: [0, 0, -32.17404855643045 ft/s^2]
materials:
  aluminium: {young_modulus: 70 GPa, shear_modulus: 3.8e6 psi, density: 2.7 g/cm^3}
links:
  - name: boom
    length: 1200 mm
    material: aluminium
    section: {shape: tube, diameter: 3 in, wall: 2mm}
    joint: {stiffness: 35 kNm/deg, rotor_inertia: 500 g cm^2, limits: [-90 deg, 1.5 rad]}
    tip: {mass: 5 lb, com: [10 mm, 0, 0], inertia: [1 kg cm^2, 1 kg cm^2, 2 kg cm^2]}
  - name: slide
    length: 2 ft
    mass_per_length: 0.5 lb/ft
    bending_stiffness: [3 kN m^2, 2000000 N mm^2]
    theory: euler-bernoulli
    joint: {type: prismatic, damping: 3 N s/mm, friction: 2 lbf, limits: [100 mm, 20 in]}
"""


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("120 mm", "m", Fraction("0.12")),
        ("70 GPa", "Pa", 70_000_000_000),
        ("5 lb", "kg", 5 * Fraction("0.45359237")),
        ("3in", "m", 3 * Fraction("0.0254")),
        ("0.1 mm", "m", Fraction("0.0001")),
        ("2.7 g/cm^3", "kg/m^3", 2700),
        ("12 in^4", "m^4", 12 * Fraction("0.0254") ** 4),
        (
            "1 ksi",
            "Pa",
            Fraction("0.45359237") * Fraction("9.80665") / Fraction("0.0254") ** 2 * 1000,
        ),
        ("3.5e2 N*mm", "N m", Fraction("0.35")),
        ("9 m/s/s", "m/s^2", 9),
        ("8 µm", "m", Fraction("8e-6")),
        ("3 kNm^2", "N m^2", 3000),
        ("3 Nmm²", "N m^2", Fraction("3e-6")),
        ("0.1 Nms/rad", "N m s/rad", Fraction("0.1")),
        ("7 mNm", "N m", Fraction("0.007")),
        ("12 kgm^2", "kg m^2", 12),
    ],
)
def test_read_exactly(text, unit, value):
    """The nearest double of the exact value: [NIST811] factors are exact decimals."""
    assert quantity(text, unit) == float(value)


@pytest.mark.parametrize(
    ("text", "unit", "degrees"),
    [("35 Nm/deg", "N m/rad", -1), ("7 deg", "rad", 1), ("120 deg/s", "rad/s", 1)],
)
def test_degrees_are_rounded_once(text, unit, degrees):
    with mpmath.workdps(40):
        exact = mpmath.mpf(text.split()[0]) * (mpmath.pi / 180) ** degrees
        assert quantity(text, unit) == float(exact)


def test_an_angle_may_be_left_out_but_not_added():
    assert quantity("35 Nm", "N m/rad") == 35
    with pytest.raises(ValueError, match="must be in kg"):
        quantity("35 kg deg", "kg")


def test_a_file_with_units_is_the_file_in_si():
    robot = supple.loads(TEXT)
    boom, slide = robot.links
    assert boom.length == 1.2
    assert boom.section.diameter == 0.0762
    assert boom.joint.stiffness == float(mpmath.mpf(35000) * 180 / mpmath.pi)
    assert boom.joint.rotor_inertia == 5e-5
    assert boom.joint.limits == (-math.pi / 2, 1.5)
    assert boom.tip.mass == 2.26796185
    assert boom.tip.inertia == (1e-4, 1e-4, 2e-4)
    assert slide.bending_stiffness == (3000.0, 2.0)
    assert slide.joint.damping == 3000.0
    assert slide.joint.limits == (0.1, 0.508)
    assert robot.gravity[2] == pytest.approx(-9.80665, rel=1e-15)
    again = supple.dump(robot)
    assert "mm" not in again
    assert "lb" not in again
    assert supple.loads(again) == robot


def test_changes_take_units_too():
    robot = supple.load("industrial-3").with_("links.link1.section.wall", "12 mm")
    assert robot.links[0].section.wall == 0.012


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("1200 mm", "1200 kg", "links.boom.length: '1200 kg' is given: it must be in m"),
        ("1200 mm", "1200 mmm", "'mmm' is no unit known here; write it in m"),
        ("1200 mm", "-5 mm", "length is -0.005: it must be at least 0"),
        ("3 in", "3 in^2", "section.diameter: '3 in.2' is given: it must be in m"),
        ("1.5 rad", "1.5 mm", "joint.limits: '1.5 mm' is given: it must be in rad"),
        ("100 mm", "100 deg", "joint.limits: '100 deg' is given: it must be in m"),
        ("5 lb", "lots", "mass is 'lots': it must be a number, alone or with a unit"),
        ("5 lb", "5 lb/(m)", "'/.m.' is no unit known here"),
        ("70 GPa", "1e400 GPa", "too large to compute with|finite"),
    ],
)
def test_a_wrong_unit_is_told(old, new, sentence):
    with pytest.raises(supple.RobotError, match=sentence):
        supple.loads(TEXT.replace(old, new, 1))


def test_every_measured_key_has_a_unit_that_reads():
    for key in MEASURED:
        for sliding in (False, True):
            assert quantity(f"2 {unit_of(key, sliding)}", str(unit_of(key, sliding))) == 2.0


def test_the_schema_takes_texts_with_units():
    properties = supple.schema()["$defs"]["Material"]["properties"]
    assert properties["young_modulus"]["anyOf"][1]["type"] == "string"
    assert "anyOf" not in properties["poisson_ratio"] or all(
        part.get("pattern") is None for part in properties["poisson_ratio"]["anyOf"]
    )
