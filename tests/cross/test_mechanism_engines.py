"""Rigid trees and loops against Pinocchio: several turns in a joint, places along links, ties."""

import numpy as np
import pytest

from supple import AssumedModes, MechanismRobot, build, load

pin = pytest.importorskip("pinocchio")
X, Y, Z = np.eye(3)


def as_pinocchio(robot: MechanismRobot) -> tuple[object, list[int], dict[str, int]]:
    """The tree, the place in z of each of its coordinates, and the joint of every link."""
    model = pin.Model()
    joints = {}
    order = []
    model.gravity.linear = np.asarray(robot.gravity, float)
    for i, link in enumerate(robot.links):
        up = robot.parents[i]
        parent, at = (0, 0.0) if up < 0 else (joints[robot.links[up].name], robot.links[up].length)
        at = link.at if link.at is not None else at
        place = pin.SE3(np.eye(3), np.array([at, 0.0, 0.0])) * _mount(link.joint.mount)
        axes = {
            "revolute": [(link.joint.direction, 0)],
            "universal": [(Y, 0), (Z, 1)],
            "spherical": [(Z, 2), (Y, 1), (X, 0)],
        }[link.joint.type]
        for axis, k in axes:
            kind = pin.JointModelRevoluteUnaligned(np.asarray(axis, float))
            parent = model.addJoint(parent, kind, place, f"{link.name}{k}")
            order.append((i, k))
            place = pin.SE3.Identity()
        joints[link.name] = parent
        bodies = [(link.body, 0.0), (link.tip, link.length)]
        bodies += [(robot.payload, link.length)] * (i == robot.tip_index)
        for body, x in bodies:
            if body is not None:
                inertia = pin.Inertia(body.mass, np.array(body.com), body.tensor())
                model.appendBodyToJoint(
                    parent, inertia, pin.SE3(np.eye(3), np.array([x, 0.0, 0.0]))
                )
    return model, order, joints


def _mount(mount: object) -> object:
    return pin.SE3(pin.rpy.rpyToMatrix(*map(float, mount.rpy)), np.array(mount.xyz))


def random_tree(seed: int) -> MechanismRobot:
    rng = np.random.default_rng(seed)

    def body() -> dict[str, object]:
        A = rng.normal(size=(3, 3)) * 0.1
        J = A @ A.T
        inertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        return {
            "mass": rng.uniform(0.5, 3),
            "com": (0.1 * rng.normal(size=3)).tolist(),
            "inertia": inertia,
        }

    links = []
    way = [-1]
    for i in range(6):
        kind = ["revolute", "universal", "spherical"][int(rng.integers(3))]
        joint = {
            "type": kind,
            "mount": {
                "xyz": (0.2 * rng.normal(size=3)).tolist(),
                "rpy": rng.normal(size=3).tolist(),
            },
        }
        if kind == "revolute":
            joint |= {"axis": rng.normal(size=3).tolist(), "passive": bool(rng.integers(2))}
        way = way[: int(rng.integers(1, len(way) + 1))]  # branches in turn, as Pinocchio wants them
        up = way[-1]
        way.append(i)
        link = {
            "name": f"link{i}",
            "parent": "base" if up < 0 else f"link{up}",
            "joint": joint,
            "theory": "rigid",
            "length": 0.5,
            "body": body(),
            "tip": body(),
        }
        if up >= 0 and rng.integers(2):
            link["at"] = 0.5 * rng.uniform()
        links.append(link)
    data = {"name": "tree", "architecture": "mechanism", "links": links, "gravity": [1, -9.81, 2]}
    return MechanismRobot.model_validate(data)


@pytest.mark.parametrize("seed", range(6))
def test_rigid_trees_equal_pinocchio(seed: int) -> None:
    robot = random_tree(seed)
    model = build(robot, AssumedModes(1))
    twin, order, _ = as_pinocchio(robot)
    chain = model.chain
    rng = np.random.default_rng(seed)
    place = [chain.passive[i][k] if chain.links[i].passive else chain.theta[i] for i, k in order]
    q, qd, qdd = rng.normal(size=(3, model.size)) * 0.5
    data = twin.createData()
    M = pin.crba(twin, data, q[place])
    M = np.triu(M) + np.triu(M, 1).T
    np.testing.assert_allclose(model.mass_matrix(q)[np.ix_(place, place)], M, atol=1e-12)
    force = pin.rnea(twin, data, q[place], qd[place], qdd[place])
    np.testing.assert_allclose(model.inverse_dynamics(q, qd, qdd)[place], force, atol=1e-11)
    tau = rng.normal(size=model.joints)
    push = np.zeros(model.size)
    push[: model.joints] = tau
    wanted = pin.aba(twin, data, q[place], qd[place], push[place])
    np.testing.assert_allclose(
        model.forward_dynamics(q, qd, tau)[place], wanted, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_rigid_loops_equal_pinocchios_constrained_dynamics(name: str) -> None:
    """Acceleration under a closure that Pinocchio keeps by its multiplier, at closed states."""
    robot = load(name)
    robot = robot.with_({f"links.{link.name}.theory": "rigid" for link in robot.links})
    data = robot.model_dump(exclude_unset=True)
    for link in data["links"]:  # the same rods as bodies, so that Pinocchio knows them
        m = 7850 * 0.020 * (6e-3 if name == "four-bar" else 8e-3) * link["length"]
        J = m * link["length"] ** 2 / 12
        link["body"] = {"mass": m, "com": [link["length"] / 2, 0, 0], "inertia": [J]}
        del link["material"], link["section"]
    robot = MechanismRobot.model_validate(data)
    model = build(robot, AssumedModes(1))
    twin, order, joints = as_pinocchio(robot)
    ends = [
        (joints[end.link], robot.links[robot.end_index(end)].length)
        for end in robot.closures[0].ends
    ]
    at = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for _, x in ends]
    tie = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        twin,
        ends[0][0],
        at[0],
        ends[1][0],
        at[1],
        pin.ReferenceFrame.LOCAL,
    )
    rng = np.random.default_rng(3)
    q = model.chain.pose()
    qd = rng.normal(size=model.size)
    q[: model.joints] += 0.3
    tau = rng.normal(size=model.joints)
    functions = model.functions
    z = functions.tree_coordinates(q)[1]
    w = list(functions.loops.followers)
    zd = np.zeros(len(z))
    zd[list(functions.loops.independent)] = qd
    zd[w] = functions.evaluator("drift")(q, qd)[0]
    tree = functions.loops.laws.chain
    place = [tree.passive[i][k] if tree.links[i].passive else tree.theta[i] for i, k in order]
    push = np.zeros(len(z))
    push[: model.joints] = tau
    ready = twin.createData()
    ties = pin.StdVec_RigidConstraintModel()
    ties.append(tie)
    kept = pin.StdVec_RigidConstraintData()
    kept.append(tie.createData())
    pin.initConstraintDynamics(twin, ready, ties, kept)
    settings = pin.ProximalSettings(1e-14, 1e-12, 50)
    wanted = pin.constraintDynamics(
        twin, ready, z[place], zd[place], push[place], ties, kept, settings
    )
    found = model.forward_dynamics(q, qd, tau)
    motors = [place.index(k) for k in range(model.joints)]
    np.testing.assert_allclose(found, wanted[motors], rtol=1e-8)
