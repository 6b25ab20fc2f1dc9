"""Twins of arms with a link that slides, for the checks of such links."""

import numpy as np

import supple
from supple.beams.basis import FiniteElements
from supple.equations.equilibrium import stiffness_at
from supple.structure import structure_of
from supple.structure.link_parts import link_beam


def segments(robot):
    """The parts of an arm with its slides all the way out."""
    theta = []
    for link in robot.moving:
        slides = link.joint.type == "prismatic"
        theta.append((link.length or 0.0) if slides else 0.0)
    return structure_of(robot, np.array(theta)).segments


def held_twin(robot, k: int, l: float):
    """The robot with link k locked at l: a fixed link, and a rigid rod behind its joint."""
    beam = segments(robot)[k].beam
    inside = robot.links[k].length - l
    mass = beam.m * inside
    across = mass * inside**2 / 12
    rod = {
        "mass": mass,
        "com": [-inside / 2, 0, 0],
        "inertia": [beam.rIp * inside, across, across],
    }

    links = [link.model_dump(exclude_unset=True) for link in robot.links]
    joint = {"type": "fixed", "hub": rod}
    if "mount" in links[k]["joint"]:
        joint["mount"] = links[k]["joint"]["mount"]
    links[k] = {**links[k], "length": l, "joint": joint}
    return supple.SerialRobot(**{**robot.model_dump(exclude_unset=True), "links": links})


def displacement_fields(model, link: str, coordinates: slice, q):
    """Displacements (3 x 50 places) of a link for a unit of each of its coordinates beside q."""
    units = np.eye(model.size)[coordinates] + q
    places = np.linspace(0.02, 1.0, 50)
    fields = np.array([model.deflection_at(units, link, x)[..., 1:] for x in places])
    return fields.transpose(0, 2, 1).reshape(-1, fields.shape[1])


def same_fields(slide, fixed, link: str, q, place: int):
    """T with (slide's coordinates) = T (fixed's): both then displace the link alike.

    The free length, at `place` in the slide's q, comes out as zero: add it where q is meant.
    """
    n = slide.size
    i = fixed.chain.index(link)
    of_slide = slide.chain.eta[i]
    of_fixed = fixed.chain.eta[i]

    # All coordinates but those of the link are the same ones.
    others = [k for k in range(n) if k != place]
    T = np.zeros((n, n - 1))
    T[others] = np.eye(n - 1)

    slide_fields = displacement_fields(slide, link, of_slide, q)
    fixed_fields = displacement_fields(fixed, link, of_fixed, np.delete(q, place))
    found, *_ = np.linalg.lstsq(slide_fields, fixed_fields, rcond=None)
    accuracy = 1e-8 * np.abs(fixed_fields).max()
    np.testing.assert_allclose(slide_fields @ found, fixed_fields, atol=accuracy)

    # Twist moves no point of the axis: modes are scaled alike, elements are read by section.
    twists = [".torsion" in name for name in fixed.coordinates[of_fixed]]
    twist_map = np.eye(sum(twists))
    if isinstance(slide.basis, FiniteElements):
        stretched = slide.chain.links[i].slide.shapes
        plain = fixed.chain.links[i].shapes
        places = np.linspace(0.02, 1.0, 50)
        slide_twist = stretched.at(places * stretched.breaks[-1])[:, 3][:, twists]
        fixed_twist = plain.at(places * plain.breaks[-1])[:, 3][:, twists]
        twist_map = np.linalg.lstsq(slide_twist, fixed_twist, rcond=None)[0]
    found[np.ix_(twists, twists)] = twist_map
    T[of_slide, of_fixed] = found
    return T


def check_held(
    slide, fixed, link: str, place: int, l: float, rounds: int = 3, tolerance=1e-9, bent=0.05
):
    """Every term of an arm with a slide locked at l against those of its twin without a slide."""
    rng = np.random.default_rng(1)
    n = fixed.size
    rest = np.zeros(slide.size)
    rest[place] = l
    T = same_fields(slide, fixed, link, rest, place)
    size = np.r_[np.ones(fixed.joints), np.full(n - fixed.joints, bent)]
    for _ in range(rounds):
        q = rng.normal(size=n) * size
        qd = rng.normal(size=n) * size
        qdd = rng.normal(size=n) * size
        slide_q = T @ q + rest
        slide_qd = T @ qd
        slide_qdd = T @ qdd

        mass = slide.mass_matrix(slide_q)
        stiffness = stiffness_at(slide, slide_q)
        efforts = slide.inverse_dynamics(slide_q, slide_qd, slide_qdd)
        pairs = {
            "mass": (T.T @ mass @ T, fixed.mass_matrix(q)),
            "bias": (T.T @ slide.bias(slide_q, slide_qd), fixed.bias(q, qd)),
            "gravity": (T.T @ slide.gravity(slide_q), fixed.gravity(q)),
            "stiffness": (T.T @ stiffness @ T, fixed.stiffness),
            "efforts": (T.T @ efforts, fixed.inverse_dynamics(q, qd, qdd)),
            "tip": (slide.tip(slide_q), fixed.tip(q)),
            "energy": (slide.energy(slide_q, slide_qd), fixed.energy(q, qd)),
        }
        for term, (ours, theirs) in pairs.items():
            allowed = tolerance * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=allowed, err_msg=term)


def pinocchio_twin(robot):
    """The same arm of rigid links, turning or sliding, as a Pinocchio model."""
    import pinocchio as pin

    twin = pin.Model()
    twin.gravity.linear = np.array(robot.gravity)
    parent = 0
    place = pin.SE3.Identity()  # of the next joint on the joint before
    for link, segment in zip(robot.links, segments(robot), strict=True):
        joint = link.joint
        slides = joint.type == "prismatic"
        if slides:
            kind = pin.JointModelPX()
        else:
            kind = pin.JointModelRevoluteUnaligned(np.array(joint.direction))
        mount = pin.SE3(pin.rpy.rpyToMatrix(*joint.mount.rpy), np.array(joint.mount.xyz))
        parent = twin.addJoint(parent, kind, place * mount, link.name)

        # The beam lies behind a joint that slides, whose end is the frame that moves.
        beam = link_beam(robot, link)
        length = link.length
        mass = beam.m * length
        sections = np.diag([beam.rIp, beam.rI[1], beam.rI[0]]) * length
        rod = np.diag([0, 1, 1]) * mass * length**2 / 12
        about_centre = segment.R_LS @ sections @ segment.R_LS.T + rod
        middle = -length / 2 if slides else length / 2
        centre = pin.SE3(np.eye(3), np.array([middle, 0, 0]))
        twin.appendBodyToJoint(parent, pin.Inertia(mass, np.zeros(3), about_centre), centre)

        if joint.hub is not None:
            hub = joint.hub.tensor(tuple(joint.direction))
            twin.appendBodyToJoint(parent, pin.Inertia(0.0, np.zeros(3), hub), pin.SE3.Identity())

        place = pin.SE3(np.eye(3), np.array([0.0 if slides else length, 0, 0]))
        bodies = [link.tip]
        if robot.links[-1] is link:
            bodies.append(robot.payload)
        for body in bodies:
            if body is not None:
                load = pin.Inertia(body.mass, np.array(body.com), body.tensor())
                twin.appendBodyToJoint(parent, load, place)
    return twin
