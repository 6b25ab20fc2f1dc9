"""A Delta with parallelograms for MuJoCo itself: sprung pieces, soft closures, servos."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.architectures import delta
from supple.beams.theory import Beam
from supple.beams.varying import beam_of
from supple.control.trajectories import Trajectory
from supple.robot import DeltaRobot

__all__ = ["MujocoDelta"]

SERVO_STIFFNESS = 1e5  # N m/rad
SERVO_DAMPING = 1e2  # N m s/rad
SETTLING_TIME = 1.0  # s until the robot hangs at rest
SETTLING_DAMPING = 4.0  # times its own damping, meanwhile


def _text(values: Any) -> str:
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def _quaternion(R: np.ndarray) -> str:
    import mujoco

    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, R.ravel())
    return _text(quaternion)


def _inertia(beam: Beam, length: float) -> str:
    """A straight rod; MuJoCo wants no principal inertia above the sum of the others."""
    mass = beam.m * length
    about_axis = beam.rIp * length
    across = max(mass * length**2 / 12, about_axis)
    return (
        f'<inertial pos="{length / 2:.17g} 0 0" mass="{mass:.17g}" '
        f'diaginertia="{about_axis:.17g} {across:.17g} {across:.17g}"/>'
    )


def _pieces(beam: Beam, n: int, beta: float, at_end: str, twists: bool, end_name: str = "") -> str:
    """Half a piece, then n pieces on hinges in the middle of each n-th part of the link."""
    l = beam.L / n
    hinge_stiffness = {"0 1 0": beam.EI[1] / l, "0 0 1": beam.EI[0] / l}
    if twists:
        hinge_stiffness = {"1 0 0": beam.GJ / l} | hinge_stiffness
    hinges = ""
    for axis, stiffness in hinge_stiffness.items():
        hinges += (
            f'<joint axis="{axis}" stiffness="{stiffness:.17g}" damping="{beta * stiffness:.17g}"/>'
        )

    # From the far end inwards: every piece contains all that follow it.
    inside = at_end
    for i in reversed(range(1, n + 1)):
        is_last = i == n
        name = f'name="{end_name}"' if is_last and end_name else ""
        place = l / 2 if i == 1 else l
        length = l / 2 if is_last else l
        inside = (
            f'<body {name} pos="{place:.17g} 0 0">{hinges}{_inertia(beam, length)}{inside}</body>'
        )
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
        start = path(0.0)[0]
        self.theta0 = delta.inverse(robot, start)[0, :, 0]
        self.model = mujoco.MjModel.from_xml_string(_xml(robot, start, n, beta, step))
        self.data = mujoco.MjData(self.model)

        # The state at rest under gravity, found by letting it settle
        self.model.dof_damping *= SETTLING_DAMPING
        for _ in range(round(SETTLING_TIME / step)):
            mujoco.mj_step(self.model, self.data)
        self.model.dof_damping /= SETTLING_DAMPING
        self.data.qvel[:] = 0
        self.start = (self.data.qpos.copy(), self.data.qvel.copy())

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times and the platform's displacement from the rigid motion, (T, 3)."""
        import mujoco

        data = self.data
        data.qpos[:], data.qvel[:] = self.start
        t = np.arange(1, round(self.path.duration / self.step) + 1) * self.step

        # The servo lags by its damping over its stiffness times the speed: it is sent ahead.
        theta = delta.inverse(self.robot, self.path(t)[0])[..., 0] - self.theta0
        speed = np.gradient(theta, self.step, axis=0)
        command = theta + SERVO_DAMPING / SERVO_STIFFNESS * speed

        platform = self.model.body("platform").id
        position = np.empty((len(t), 3))
        for k in range(len(t)):
            data.ctrl[:] = command[k]
            mujoco.mj_step(self.model, data)
            position[k] = data.xpos[platform]
        return t, position - self.path(t)[0]


def _xml(robot: DeltaRobot, position: np.ndarray, n: int, beta: float, step: float) -> str:
    """The robot at a position of its platform: three arms, two rods on each, a free platform."""
    pose = delta.place(robot, position)
    upper = beam_of(robot, robot.upper)
    lower = beam_of(robot, robot.lower)
    half_spacing = (robot.lower.spacing or 0.0) / 2

    legs = ""
    closures = ""
    servos = ""
    for leg in range(3):
        R_upper = pose.R_upper[0, leg]
        R_lower = pose.R_lower[0, leg]
        hinge_axis = R_lower.T @ pose.R_leg[leg, :, 1]

        rods = ""
        for offset in (-half_spacing, half_spacing):
            rod = f"rod{leg}{offset > 0}"
            rods += (
                f'<body pos="{upper.L / n / 2:.17g} {offset:.17g} 0" '
                f'quat="{_quaternion(R_upper.T @ R_lower)}">'
                f'<joint axis="{_text(hinge_axis)}"/><joint axis="0 0 1"/>'
                f"{_pieces(lower, n, beta, '', False, rod)}</body>"
            )
            closures += (
                f'<connect body1="{rod}" body2="platform" anchor="{lower.L / n / 2:.17g} 0 0"/>'
            )

        legs += (
            f'<body pos="{_text(pose.A[0, leg])}" quat="{_quaternion(R_upper)}">'
            f'<joint name="hip{leg}" axis="0 1 0"/>'
            f"{_pieces(upper, n, beta, rods, True)}</body>"
        )
        servos += (
            f'<position joint="hip{leg}" kp="{SERVO_STIFFNESS:.17g}" kv="{SERVO_DAMPING:.17g}"/>'
        )

    body = robot.platform.body
    platform = (
        f'<body name="platform" pos="{_text(pose.position[0])}"><freejoint/>'
        f'<inertial pos="0 0 0" mass="{body.mass}" diaginertia="{_text(body.inertia)}"/></body>'
    )
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{_text(robot.gravity)}" '
        f'timestep="{step}" integrator="implicitfast"/>'
        f'<default><equality solref="{2 * step} 1" solimp="0.999 0.999 1e-6"/></default>'
        f"<worldbody>{legs}{platform}</worldbody>"
        f"<equality>{closures}</equality><actuator>{servos}</actuator></mujoco>"
    )
