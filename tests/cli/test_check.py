"""`supple check` of a sound file: what an engineer looks at first."""

import json

TEXT = """
name: boom
gravity: [0, 0, -9.81]
materials:
  steel: {young_modulus: 210 GPa, poisson_ratio: 0.3, density: 7850, yield_strength: 235 MPa}
links:
  - name: arm
    length: 2 m
    material: steel
    section: {shape: tube, diameter: 80 mm, wall: 3 mm}
    joint: {axis: [0, 1, 0]}
    tip: {mass: 12}
"""


def test_the_command_prints_it(console, tmp_path):
    (tmp_path / "boom.yaml").write_text(TEXT)
    ran = console("check", tmp_path / "boom.yaml", "--at", "0")
    assert ran.code == 0
    for word in ("no fault", "reach at most", "first frequency", "to hold arm", "% of yield"):
        assert word in ran.out
    answer = json.loads(console("check", tmp_path / "boom.yaml", "--json").out)
    assert answer["valid"] is True
    assert answer["holding"].keys() == {"arm"}
