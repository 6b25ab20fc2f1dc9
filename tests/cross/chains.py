"""Flexible arms as other engines know them: chains of short rigid rods on torsion springs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple import SerialRobot
from supple.beams.varying import beam_of


@dataclass
class SprungChain:
    """A planar arm whose links are cut into rods; springs sit between them.

    Each link of n hinges: half a rod, n - 1 rods, half a rod; every hinge has EI / h. Second order
    in h. Bodies on hubs and ends are those of the robot, with the same inertia about all axes.

    Attributes
    ----------
    model, data
        Of Pinocchio.
    joints
        Indices of the coordinates that are the robot's own.
    stiffness
        (nv,), of the hinges, N m/rad.
    tip
        Pinocchio's number of the tip's frame.
    """

    model: Any
    data: Any
    joints: list[int]
    stiffness: np.ndarray
    tip: int

    def acceleration(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Accelerations under the motors' torques and the springs."""
        import pinocchio as pin

        force = -self.stiffness * q
        force[self.joints] += tau
        return np.array(pin.aba(self.model, self.data, q, v, force))

    def place(self, q: np.ndarray) -> np.ndarray:
        """Position of the tip."""
        import pinocchio as pin

        pin.framesForwardKinematics(self.model, self.data, q)
        return np.array(self.data.oMf[self.tip].translation)


def sprung_chain(robot: SerialRobot, n: int) -> SprungChain:
    """Return the arm with n hinges per link."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.asarray(robot.gravity, float)
    parent = 0
    at = pin.SE3.Identity()  # place of the next joint on its parent
    joints = []
    stiffness = []
    for i, link in enumerate(robot.links):
        beam = beam_of(robot, link)
        h = beam.L / n
        for k in range(n + 1):
            parent = model.addJoint(parent, pin.JointModelRZ(), at, f"{link.name}-{k}")
            is_joint = k == 0
            if is_joint:
                joints.append(model.nv - 1)
            stiffness.append(0.0 if is_joint else beam.EI[0] / h)
            length = h / 2 if k in (0, n) else h
            model.appendBodyToJoint(parent, _rod(beam.m, length), pin.SE3.Identity())
            if is_joint and link.joint.hub is not None:
                hub = link.joint.hub
                model.appendBodyToJoint(parent, _body(hub.mass, hub.inertia[0]), pin.SE3.Identity())
            at = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
        is_last = i == len(robot.links) - 1
        for body in (link.tip, robot.payload if is_last else None):
            if body is not None:
                model.appendBodyToJoint(parent, _body(body.mass, body.inertia[0]), at)
    tip = model.addFrame(pin.Frame("tip", parent, at, pin.FrameType.OP_FRAME))
    return SprungChain(model, model.createData(), joints, np.array(stiffness), tip)


def _rod(m: float, length: float) -> Any:
    import pinocchio as pin

    I = m * length**3 / 12
    return pin.Inertia(m * length, np.array([length / 2, 0, 0]), np.diag([1e-12, I, I]))


def _body(mass: float, inertia: float) -> Any:
    import pinocchio as pin

    return pin.Inertia(mass, np.zeros(3), np.diag([1e-12, 1e-12, inertia]))


def run(chain: SprungChain, torque: Any, duration: float, dt: float, every: int) -> np.ndarray:
    """Tip positions by classical Runge-Kutta steps from rest, every so many steps."""
    n = chain.model.nv
    x = np.zeros(2 * n)
    positions = [chain.place(np.zeros(n))]

    def slope(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([x[n:], chain.acceleration(x[:n], x[n:], tau)])

    for k in range(round(duration / dt)):
        tau = torque((k + 0.5) * dt)
        k1 = slope(x, tau)
        k2 = slope(x + dt / 2 * k1, tau)
        k3 = slope(x + dt / 2 * k2, tau)
        k4 = slope(x + dt * k3, tau)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if (k + 1) % every == 0:
            positions.append(chain.place(x[:n]))
    return np.array(positions)
