"""Rigid links against Pinocchio, and flexible ones as they stiffen."""

import numpy as np
import pytest

from supple import AssumedModes, SerialRobot, build

pin = pytest.importorskip("pinocchio")


def rigid_arm(seed: int, planar: bool) -> SerialRobot:
    rng = np.random.default_rng(seed)

    def body() -> dict[str, object]:
        A = rng.normal(size=(3, 3)) * 0.1
        J = A @ A.T
        inertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        com = rng.normal(size=3) * 0.1
        if planar:
            inertia = [J[2, 2]]
            com[2] = 0.0
        return {"mass": rng.uniform(0.5, 3), "com": com.tolist(), "inertia": inertia}

    links = [
        {
            "name": f"link{i}",
            "theory": "rigid",
            "length": rng.uniform(0.2, 1),
            "body": body(),
            "tip": body(),
            "joint": {
                "axis": [0, 0, 1] if planar else rng.normal(size=3).tolist(),
                "rotor_inertia": rng.uniform(0, 0.5) * (i % 2),
                "hub": body() if planar or i % 2 else None,
                "mount": {
                    "xyz": [*(rng.normal(size=2) * 0.2), 0.0 if planar else 0.1],
                    "rpy": [0, 0, rng.normal()] if planar else rng.normal(size=3).tolist(),
                },
            },
        }
        for i in range(5)
    ]
    return SerialRobot.model_validate(
        {
            "name": "rigid",
            "planar": planar,
            "links": links,
            "gravity": [1, -9.81, 0 if planar else 2],
        }
    )


def as_pinocchio(robot: SerialRobot) -> object:
    model = pin.Model()
    parent = 0
    at = pin.SE3.Identity()
    model.gravity.linear = np.asarray(robot.gravity, float)
    for link in robot.links:
        joint = link.joint
        mount = pin.SE3(
            pin.rpy.rpyToMatrix(*map(float, joint.mount.rpy)), np.array(joint.mount.xyz)
        )
        kind = pin.JointModelRevoluteUnaligned(joint.direction)
        parent = model.addJoint(parent, kind, at * mount, link.name)
        end = pin.SE3(np.eye(3), np.array([link.length, 0.0, 0.0]))
        axis = tuple(joint.direction)
        for body, place, about in (
            (link.body, pin.SE3.Identity(), (0, 0, 1)),
            (link.tip, end, (0, 0, 1)),
            (joint.hub, pin.SE3.Identity(), axis),
        ):
            if body is not None:
                inertia = pin.Inertia(body.mass, np.array(body.com), body.tensor(about))
                model.appendBodyToJoint(parent, inertia, place)
        model.armature[-1] = joint.rotor_inertia
        at = end
    return model


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_rigid_links_equal_pinocchio(seed: int, planar: bool) -> None:
    robot = rigid_arm(seed, planar)
    model = build(robot, AssumedModes(1))
    other = as_pinocchio(robot)
    data = other.createData()
    rng = np.random.default_rng(seed)
    for _ in range(5):
        q, v, tau, a = rng.normal(size=(4, 5))
        wanted = pin.aba(other, data, q, v, tau)
        assert np.abs(model.forward_dynamics(q, v, tau) / wanted - 1).max() < 1e-10
        assert np.allclose(
            model.inverse_dynamics(q, v, a), pin.rnea(other, data, q, v, a), rtol=1e-11
        )
        M = pin.crba(other, data, q)
        assert np.allclose(
            model.mass_matrix(q), np.triu(M) + np.triu(M, 1).T, rtol=1e-11, atol=1e-12
        )
        pin.forwardKinematics(other, data, q)
        assert np.allclose(
            model.tip(q),
            (data.oMi[5] * pin.SE3(np.eye(3), np.array([robot.links[4].length, 0, 0]))).translation,
            atol=1e-12,
        )


@pytest.mark.parametrize("planar", [True, False])
def test_stiff_links_tend_to_rigid_ones_as_one_over_E(planar: bool) -> None:
    """With eta at its quasi-static value: K eta = -(M qdd + h + g) of the elastic rows."""
    base = {
        "name": "stiff",
        "planar": planar,
        "gravity": [0, -9.81, 0],
        "materials": {"m": {"young_modulus": 70e9, "poisson_ratio": 0.3, "density": 2700}},
        "sections": {"s": {"shape": "rectangle", "depth": 0.03, "width": 0.02}},
        "links": [
            {
                "name": f"link{i}",
                "length": 0.7,
                "material": "m",
                "section": "s",
                "theory": "timoshenko",
                "joint": {
                    "axis": [0, 0, 1] if planar or i != 1 else [0, 1, 0],
                    "hub": {"mass": 1, "inertia": [0.02, 0.02, 0.02]},
                },
                "tip": {"mass": 0.5, "inertia": [0.01, 0.01, 0.01]},
            }
            for i in range(3)
        ],
    }
    robot = SerialRobot.model_validate(base)
    stiff = {f"links.link{i}.theory": "rigid" for i in range(3)}
    rigid = build(robot.with_(stiff), AssumedModes(1))
    theta = np.array([0.3, 0.8, -0.5])
    thetad = np.array([1.0, -2.0, 0.5])
    tau = np.array([3.0, 1, 0.2])
    wanted = rigid.forward_dynamics(theta, thetad, tau)
    errors = []
    for factor in (1e2, 1e3, 1e4):
        model = build(
            robot.with_("materials.m.young_modulus", 70e9 * factor), AssumedModes(3, axial=2)
        )
        k = model.joints
        q, qd, qdd = np.zeros((3, model.size))
        q[:k] = theta
        qd[:k] = thetad
        for _ in range(20):
            qdd[:k] = np.linalg.solve(
                model.mass_matrix(q)[:k, :k], tau - model.bias(q, qd)[:k] - model.gravity(q)[:k]
            )
            force = model.mass_matrix(q) @ qdd + model.bias(q, qd) + model.gravity(q)
            q[k:] = np.linalg.solve(model.stiffness[k:, k:], -force[k:])
        errors.append(np.abs(model.forward_dynamics(q, qd, tau)[:k] - wanted).max())
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert errors[0] < 1e-2 * np.abs(wanted).max()
    assert np.all((ratios > 8) & (ratios < 12.5)), (errors, ratios)


def test_eta_zero_is_not_a_rigid_link() -> None:
    """At eta = 0 the joint acceleration does not depend on the stiffness at all."""
    robot = SerialRobot.model_validate(
        {
            "name": "arm",
            "planar": True,
            "links": [
                {
                    "name": "a",
                    "length": 1,
                    "mass_per_length": 1,
                    "bending_stiffness": 1.0,
                    "joint": {"hub": {"inertia": 0.1}},
                }
            ],
        }
    )
    tau = np.array([1.0])
    soft = build(robot, AssumedModes(2))
    hard = build(robot.with_("links.a.bending_stiffness", 1e6), AssumedModes(2))
    found = [m.forward_dynamics(np.zeros(3), np.zeros(3), tau)[0] for m in (soft, hard)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    rigid = build(robot.with_("links.a.theory", "rigid"), AssumedModes(1))
    assert found[0] > 2 * rigid.forward_dynamics(np.zeros(1), np.zeros(1), tau)[0]
