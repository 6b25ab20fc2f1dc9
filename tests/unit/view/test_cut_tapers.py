"""A tapered link that is cut where others sit on it is drawn as one taper."""

import numpy as np

import supple
from supple.structure import structure_of
from supple.view.scene.drawing import draw_robot

BOOM = """
supple: 1
name: boom with two arms
architecture: mechanism
planar: true
links:
  - name: boom
    parent: base
    joint: {type: revolute}
    length: 2.0
    material: {young_modulus: 70e9, poisson_ratio: 0.33, density: 2700}
    stations:
      - {at: 0, section: {shape: box, depth: 0.2, width: 0.1, wall: 0.005}}
      - {at: 2.0, section: {shape: box, depth: 0.1, width: 0.05, wall: 0.005}}
  - {name: one, parent: boom, at: 0.5, length: 0.5, mass_per_length: 1, bending_stiffness: 1e3}
  - {name: two, parent: boom, at: 1.5, length: 0.5, mass_per_length: 1, bending_stiffness: 1e3}
tip: boom
"""


def test_the_pieces_go_on_where_the_last_one_ended() -> None:
    robot = supple.loads(BOOM)
    structure = structure_of(robot, np.zeros((1, 3)))
    names = tuple(segment.name for segment in structure.segments)
    outlines, _ = draw_robot(robot, names)
    depth = []
    for outline in outlines[:3]:
        depth += (2 * outline.corners[:, 0].max() * outline.taper[:, 0]).tolist()
    places = np.concatenate([np.linspace(a, b, 25) for a, b in ((0, 0.5), (0.5, 1.5), (1.5, 2))])
    np.testing.assert_allclose(depth, 0.2 - 0.05 * places, rtol=1e-9)
