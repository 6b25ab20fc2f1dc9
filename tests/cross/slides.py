"""Twins of arms with a link that slides, for the checks of such links."""

import numpy as np

import supple
from supple.beams.basis import FiniteElements
from supple.equations.equilibrium import stiffness_at
from supple.structure import structure_of
from supple.structure.link_parts import link_beam


def segments(robot):
    """The parts of an arm with its slides all the way out."""
    out = [(link.length or 0.0) * (link.joint.type == "prismatic") for link in robot.moving]
    return structure_of(robot, np.array(out)).segments


def held_twin(robot, k: int, l: float):
    """The robot with link k held at l: a fixed link, and a rigid rod behind its joint."""
    links = [link.model_dump(exclude_unset=True) for link in robot.links]
    described = links[k]
    beam = segments(robot)[k].beam
    inside = robot.links[k].length - l
    rod = beam.m * inside
    behind = {"mass": rod, "com": [-inside / 2, 0, 0],
              "inertia": [beam.rIp * inside, *([rod * inside**2 / 12] * 2)]}  # fmt: skip
    joint = {"type": "fixed", "hub": behind}
    if "mount" in described["joint"]:
        joint["mount"] = described["joint"]["mount"]
    links[k] = {**described, "length": l, "joint": joint}
    return supple.SerialRobot(**{**robot.model_dump(exclude_unset=True), "links": links})


def same_fields(slide, fixed, link: str, q, place: int):
    """T with (slide's coordinates) = T (fixed's): both then displace the link alike.

    The free length, at `place` in the slide's q, comes out as zero: add it where q is meant.
    """
    n = slide.size
    i = fixed.chain.index(link)
    keep = [k for k in range(n) if k != place]
    T = np.zeros((n, n - 1))
    T[keep] = np.eye(n - 1)
    own = slide.chain.eta[i]
    other = fixed.chain.eta[i]
    at = np.linspace(0.02, 1.0, 50)
    sides = []
    for model, part, start in ((slide, own, q), (fixed, other, np.delete(q, place))):
        units = np.array([np.eye(model.size)[k] for k in range(part.start, part.stop)]) + start
        sides.append(np.array([model.deflection_at(units, link, x)[..., 1:] for x in at]))
    A, B = (side.transpose(0, 2, 1).reshape(-1, side.shape[1]) for side in sides)
    found, *_ = np.linalg.lstsq(A, B, rcond=None)
    np.testing.assert_allclose(A @ found, B, atol=1e-8 * np.abs(B).max())
    # twist moves no point of the axis: modes are scaled alike, elements are read section by section
    twist = [".torsion" in name for name in fixed.coordinates[other]]
    own_twist = np.eye(sum(twist))
    if isinstance(slide.basis, FiniteElements):
        stretched = slide.chain.links[i].slide.shapes
        plain = fixed.chain.links[i].shapes
        A, B = (f.at(at * f.breaks[-1])[:, 3][:, twist] for f in (stretched, plain))
        own_twist = np.linalg.lstsq(A, B, rcond=None)[0]
    found[np.ix_(twist, twist)] = own_twist
    T[own, other] = found
    return T


def check_held(slide, fixed, link: str, place: int, l: float, rounds: int = 3, tolerance=1e-9,
               bent=0.05):  # fmt: skip
    """Every term of an arm with a slide held at l against those of its twin without a slide."""
    rng = np.random.default_rng(1)
    n = fixed.size
    rest = np.zeros(slide.size)
    rest[place] = l
    T = same_fields(slide, fixed, link, rest, place)
    size = np.r_[np.ones(fixed.joints), np.full(n - fixed.joints, bent)]
    for _ in range(rounds):
        q, qd, qdd = (rng.normal(size=n) * size for _ in range(3))
        Q = T @ q + rest
        V = T @ qd
        A = T @ qdd
        pairs = [
            (T.T @ slide.mass_matrix(Q) @ T, fixed.mass_matrix(q)),
            (T.T @ slide.bias(Q, V), fixed.bias(q, qd)),
            (T.T @ slide.gravity(Q), fixed.gravity(q)),
            (T.T @ stiffness_at(slide, Q) @ T, fixed.stiffness),
            (T.T @ slide.inverse_dynamics(Q, V, A), fixed.inverse_dynamics(q, qd, qdd)),
            (slide.tip(Q), fixed.tip(q)),
            (slide.energy(Q, V), fixed.energy(q, qd)),
        ]
        for ours, theirs in pairs:
            allowed = tolerance * np.abs(theirs).max()
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=allowed)


def pinocchio_twin(robot):
    """The same arm of rigid links, turning or sliding, as a Pinocchio model."""
    import pinocchio as pin

    twin = pin.Model()
    twin.gravity.linear = np.array(robot.gravity)
    parent = 0
    place = pin.SE3.Identity()
    for link, segment in zip(robot.links, segments(robot), strict=True):
        joint = link.joint
        slides = link.joint.type == "prismatic"
        mount = pin.SE3(pin.rpy.rpyToMatrix(*joint.mount.rpy), np.array(joint.mount.xyz))
        turning = pin.JointModelRevoluteUnaligned(np.array(joint.direction))
        kind = pin.JointModelPX() if slides else turning
        parent = twin.addJoint(parent, kind, place * mount, link.name)
        own = link_beam(robot, link)
        length = link.length
        m = own.m * link.length
        about = np.diag([own.rIp, own.rI[1], own.rI[0]]) * length
        beam = segment.R_LS @ about @ segment.R_LS.T + np.diag([0, 1, 1]) * m * length**2 / 12
        centre = pin.SE3(np.eye(3), np.array([-length / 2 if slides else length / 2, 0, 0]))
        twin.appendBodyToJoint(parent, pin.Inertia(m, np.zeros(3), beam), centre)
        if joint.hub is not None:
            hub = joint.hub.tensor(tuple(joint.direction))
            twin.appendBodyToJoint(parent, pin.Inertia(0.0, np.zeros(3), hub), pin.SE3.Identity())
        place = pin.SE3(np.eye(3), np.array([0.0 if slides else length, 0, 0]))
        last = robot.links[-1] is link
        for body in (link.tip, robot.payload if last else None):
            if body is not None:
                load = pin.Inertia(body.mass, np.array(body.com), body.tensor())
                twin.appendBodyToJoint(parent, load, place)
    return twin
