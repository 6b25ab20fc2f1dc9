"""A Delta with parallelograms for MuJoCo itself: sprung pieces, soft closures, servo-held hips."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures import delta
from supple.beams.theory import Beam
from supple.beams.varying import beam_of
from supple.control.trajectories import Trajectory
from supple.robot import DeltaRobot

__all__ = ["MujocoDelta"]


def _text(values: Any) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def _quaternion(R: np.ndarray) -> str:
    import mujoco

    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, R.ravel())
    return _text(out)


def _inertia(beam: Beam, length: float) -> str:
    m = beam.m * length
    spin = beam.rIp * length
    across = max(m * length**2 / 12, spin)
    return (
        f'<inertial pos="{length / 2:.17g} 0 0" mass="{m:.17g}" '
        f'diaginertia="{spin:.17g} {across:.17g} {across:.17g}"/>'
    )


def _pieces(beam: Beam, n: int, beta: float, inside: str, spin: bool, name: str = "") -> str:
    """Half a piece, then n pieces on hinges in the middle of each n-th part of the link."""
    l = beam.L / n
    axes = [("1 0 0", beam.GJ)] if spin else []
    axes += [("0 1 0", beam.EI[1]), ("0 0 1", beam.EI[0])]
    for i in reversed(range(1, n + 1)):
        hinges = "".join(
            f'<joint axis="{a}" stiffness="{k / l:.17g}" damping="{beta * k / l:.17g}"/>'
            for a, k in axes
        )
        label = f'name="{name}"' if i == n and name else ""
        place = l / 2 if i == 1 else l
        inner = _inertia(beam, l if i < n else l / 2) + inside
        inside = f'<body {label} pos="{place:.17g} 0 0">{hinges}{inner}</body>'
    return _inertia(beam, l / 2) + inside


class MujocoDelta:
    """One robot at the start of a path, ready to be run along it."""

    def __init__(
        self, robot: DeltaRobot, path: Trajectory, n: int, beta: float, step: float
    ) -> None:
        import mujoco

        self.robot = robot
        self.path = path
        self.step = step
        self.model = mujoco.MjModel.from_xml_string(_xml(robot, path(0.0)[0], n, beta, step))
        self.data = mujoco.MjData(self.model)
        self.theta0 = delta.inverse(robot, path(0.0)[0])[0, :, 0]
        self.model.dof_damping *= 4
        for _ in range(round(1.0 / step)):
            mujoco.mj_step(self.model, self.data)
        self.model.dof_damping /= 4
        self.data.qvel[:] = 0
        self.start = (self.data.qpos.copy(), self.data.qvel.copy())

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and the platform's displacement from the rigid motion, (T, 3)."""
        import mujoco

        m = self.model
        d = self.data
        d.qpos[:], d.qvel[:] = self.start
        t = np.arange(1, round(self.path.duration / self.step) + 1) * self.step
        theta = delta.inverse(self.robot, self.path(t)[0])[..., 0] - self.theta0
        wanted = theta + 1e-3 * np.gradient(theta, self.step, axis=0)  # kv / kp
        place = m.body("platform").id
        out = np.empty((len(t), 3))
        for k in range(len(t)):
            d.ctrl[:] = wanted[k]
            mujoco.mj_step(m, d)
            out[k] = d.xpos[place]
        return t, out - self.path(t)[0]


def _xml(robot: DeltaRobot, position: np.ndarray, n: int, beta: float, step: float) -> str:
    at = delta.place(robot, position)
    upper = beam_of(robot, robot.upper)
    lower = beam_of(robot, robot.lower)
    half = (robot.lower.spacing or 0.0) / 2
    bodies = equal = drives = ""
    for leg in range(3):
        R_u = at.R_upper[0, leg]
        R_l = at.R_lower[0, leg]
        y = R_l.T @ at.R_leg[leg, :, 1]
        rods = ""
        for side in (-half, half):
            name = f"rod{leg}{side > 0}"
            pieces = _pieces(lower, n, beta, "", False, name)
            rods += (
                f'<body pos="{upper.L / n / 2:.17g} {side:.17g} 0" '
                f'quat="{_quaternion(R_u.T @ R_l)}">'
                f'<joint axis="{_text(y)}"/><joint axis="0 0 1"/>{pieces}</body>'
            )
            equal += (
                f'<connect body1="{name}" body2="platform" anchor="{lower.L / n / 2:.17g} 0 0"/>'
            )
        hip = f'<joint name="hip{leg}" axis="0 1 0"/>'
        bodies += (
            f'<body pos="{_text(at.A[0, leg])}" quat="{_quaternion(R_u)}">{hip}'
            f"{_pieces(upper, n, beta, rods, True)}</body>"
        )
        drives += f'<position joint="hip{leg}" kp="1e5" kv="1e2"/>'
    body = robot.platform.body
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{_text(robot.gravity)}" '
        f'timestep="{step}" integrator="implicitfast"/>'
        f'<default><equality solref="{2 * step} 1" solimp="0.999 0.999 1e-6"/></default>'
        f'<worldbody>{bodies}<body name="platform" pos="{_text(at.position[0])}"><freejoint/>'
        f'<inertial pos="0 0 0" mass="{body.mass}" diaginertia="{_text(body.inertia)}"/></body>'
        f"</worldbody><equality>{equal}</equality><actuator>{drives}</actuator></mujoco>"
    )
