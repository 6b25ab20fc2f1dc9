"""The lightest arm that does not ring

A designer's day. An arm of two steel boxes carries 5 kg; its motors excite it up to 11 Hz, so every
mode has to stay above 12 Hz wherever it stands. Check the file, find the least mass that reaches
this over all poses, round the walls up to what can be bought, see what tolerances of the sheets and
of the payload do, and prove that no pose has a mode in the band.
"""

import supple

robot = supple.loads("""
supple: 1
name: loader
architecture: serial
gravity: [0, 0, -9.81]
materials:
  steel: {young_modulus: 210 GPa, poisson_ratio: 0.3, density: 7850, yield_strength: 355 MPa}
links:
  - name: boom
    length: 1.2
    material: steel
    section: {shape: box, depth: 0.14, width: 0.10, wall: 8 mm}
    joint: {type: revolute, axis: [0, 1, 0], hub: {mass: 10}, stiffness: 8e5, rotor_inertia: 1.5}
    tip: {mass: 6}
  - name: stick
    length: 1.0
    material: steel
    section: {shape: box, depth: 0.10, width: 0.08, wall: 6 mm}
    joint: {type: revolute, axis: [0, 1, 0], stiffness: 4e5, rotor_inertia: 0.6}
payload: {mass: 5}
""")
print(supple.check(robot))

# The lightest walls that keep every mode above 12 Hz over a box of poses
boom = "links.boom.section.wall"
stick = "links.stick.section.wall"
poses = {"theta.stick": (-2.4, 2.4)}
best = supple.optimise(
    robot,
    {boom: (0.002, 0.010), stick: (0.002, 0.010)},
    minimise="mass",
    lowest=12.0,
    over=poses,
    tolerance=1e-5,
)
print(best)

# Sheets come in half millimetres: round up
half_millimetre = 0.5e-3
walls = {path: -(-best.values[path] // half_millimetre) * half_millimetre for path in (boom, stick)}
chosen = robot.with_(walls)
print({path: f"{1e3 * wall:.1f} mm" for path, wall in walls.items()})

# What sheets of +-5 % and a payload of +-0.3 kg do, at full stretch
within = {path: 0.05 * wall for path, wall in walls.items()} | {"payload.mass": 0.3}
print(supple.tolerances(chosen, within, [0, 0], count=3))

# Proof, not a sample: no pose of the box has a mode between 6 and 11.5 Hz
print(supple.stopband(chosen, (6.0, 11.5), over=poses))
supple.modes(chosen, [0.0, -0.8], count=4).save_page("lightest_arm.html")
tracks = supple.track(chosen, {"theta.stick": [-2.4 + 0.1 * k for k in range(49)]}, 4)
tracks.plot("lightest_arm.png")
