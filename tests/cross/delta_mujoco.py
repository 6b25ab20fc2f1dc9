"""The Delta written out for MuJoCo: every link as many short rigid pieces on sprung hinges.

A link of n pieces has hinges in the middle of each n-th part, EI / l and GJ / l stiff, so that the
chain is second order in l = L / n. It keeps its length; legs end at D, where rows of MuJoCo's own
Jacobians hold them to the platform.
"""

import mujoco
import numpy as np
from scipy.linalg import eigh, null_space

from supple.architectures import delta
from supple.beams.varying import beam_of
from supple.robot import DeltaRobot


def quaternion(R: np.ndarray) -> np.ndarray:
    out = np.zeros(4)
    mujoco.mju_mat2Quat(out, R.ravel())
    return out


def _hinges(name: str, k: tuple[float, ...], inside: str) -> str:
    axes = ("1 0 0", "0 1 0", "0 0 1")
    each = "".join(
        f'<joint name="{name}{c}" type="hinge" axis="{a}" stiffness="{s:.17g}"/>'
        for c, a, s in zip("xyz", axes, k, strict=True)
    )
    return each + inside


def _pieces(name: str, beam, n: int, last: str) -> str:
    """Inside of the body at a link's root: half a piece, then n hinged pieces, the last a half."""
    l = beam.L / n
    k = (beam.GJ / l, beam.EI[1] / l, beam.EI[0] / l)
    text = last
    for i in reversed(range(1, n + 1)):
        length = l if i < n else l / 2
        inner = _inertia(beam, length) + text
        hinged = _hinges(f"{name}_{i}", k, inner)
        place = l / 2 if i == 1 else l
        text = f'<body name="{name}_{i}" pos="{place:.17g} 0 0">{hinged}</body>'
    return _inertia(beam, l / 2) + text


def _inertia(beam, length: float) -> str:
    m = beam.m * length
    across = m * length**2 / 12
    spin = max(beam.rIp * length, 1e-12)
    return (
        f'<inertial pos="{length / 2:.17g} 0 0" mass="{m:.17g}" '
        f'diaginertia="{spin:.17g} {max(across, spin):.17g} {max(across, spin):.17g}"/>'
    )


def model_of(robot: DeltaRobot, position: np.ndarray, n: int, hips: bool = False) -> mujoco.MjModel:
    """Return the MuJoCo model with the undeformed robot at its reference pose.

    With `hips` the upper arms turn at their roots; without, the motors are clamped.
    """
    at = delta.place(robot, position)
    upper = beam_of(robot, robot.upper)
    lower = beam_of(robot, robot.lower)
    l1 = upper.L / n
    l2 = lower.L / n
    bodies = ""
    for leg in range(3):
        R_u = at.R_upper[0, leg]
        R_l = at.R_lower[0, leg]
        quat = quaternion(R_u.T @ R_l)
        y = R_l.T @ at.R_leg[leg, :, 1]
        end = f'<site name="D{leg}" pos="{l2 / 2:.17g} 0 0"/>'
        universal = (
            f'<joint name="B{leg}y" axis="{y[0]:.17g} {y[1]:.17g} {y[2]:.17g}"/>'
            f'<joint name="B{leg}z" axis="0 0 1"/>'
        )
        rod = (
            f'<body name="rod{leg}" pos="{l1 / 2:.17g} 0 0" '
            f'quat="{" ".join(f"{q:.17g}" for q in quat)}">'
            f"{universal}{_pieces(f'l{leg}', lower, n, end)}</body>"
        )
        root = " ".join(f"{q:.17g}" for q in quaternion(R_u))
        place = " ".join(f"{x:.17g}" for x in at.A[0, leg])
        hip = f'<joint name="hip{leg}" axis="0 1 0"/>' if hips else ""
        bodies += (
            f'<body name="arm{leg}" pos="{place}" quat="{root}">'
            f"{hip}{_pieces(f'u{leg}', upper, n, rod)}</body>"
        )
    body = robot.platform.body
    sites = "".join(
        f'<site name="P{leg}" pos="'
        + " ".join(f"{x:.17g}" for x in robot.platform.radius * at.R_leg[leg, :, 0])
        + '"/>'
        for leg in range(3)
    )
    centre = " ".join(f"{x:.17g}" for x in at.position[0])
    inertia = " ".join(f"{x:.17g}" for x in body.inertia)
    platform = (
        f'<body name="platform" pos="{centre}"><freejoint/>'
        f'<inertial pos="0 0 0" mass="{body.mass}" diaginertia="{inertia}"/>{sites}</body>'
    )
    gravity = " ".join(f"{x:g}" for x in robot.gravity)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" autolimits="true"/><option gravity="{gravity}"/>'
        f"<worldbody>{bodies}{platform}</worldbody></mujoco>"
    )


def closure(model, data, robot: DeltaRobot, position: np.ndarray) -> np.ndarray:
    """Rows (12, nv) that hold the rods' ends to the platform: true universal joints."""
    at = delta.place(robot, position)
    rows = []
    for leg in range(3):
        jp, jr, qp, qr = (np.zeros((3, model.nv)) for _ in range(4))
        mujoco.mj_jacSite(model, data, jp, jr, model.site(f"D{leg}").id)
        mujoco.mj_jacSite(model, data, qp, qr, model.site(f"P{leg}").id)
        carried = np.cross(at.R_leg[leg, :, 1], at.R_lower[0, leg, :, 2])
        rows += [*(jp - qp), carried @ (jr - qr)]
    return np.array(rows)


def frequencies(robot: DeltaRobot, position: np.ndarray, n: int, count: int = 6) -> np.ndarray:
    """Return natural frequencies, rad/s, from MuJoCo's mass matrix, springs and Jacobians."""
    model = model_of(robot, position, n)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    K = np.zeros(model.nv)
    for j in range(model.njnt):
        K[model.jnt_dofadr[j]] = model.jnt_stiffness[j]
    Z = null_space(closure(model, data, robot, position))
    squares = eigh(Z.T * K @ Z, Z.T @ M @ Z, eigvals_only=True, subset_by_index=(0, count - 1))
    return np.sqrt(squares)


class Mover:
    """The robot in motion: MuJoCo's kinematics, mass and Coriolis forces, stepped by Euler's rule.

    (M + h D + h^2 K) v = M v_0 - h (bias + K q), with the closures and the hips' motion as
    constraints on v that also take back the error of the place; first order in h.
    """

    def __init__(self, robot: DeltaRobot, position: np.ndarray, n: int) -> None:
        self.robot = robot
        self.leg_axes = delta.leg_axes(robot)
        self.model = model_of(robot, position, n, hips=True)
        self.data = mujoco.MjData(self.model)
        self.K = np.zeros(self.model.nv)
        self.K[self.model.jnt_dofadr] = np.ravel(self.model.jnt_stiffness)[: self.model.njnt]
        self.place = np.array([self.model.jnt_qposadr[j] for j in range(self.model.njnt)])
        self.hips = [self.model.joint(f"hip{leg}").dofadr[0] for leg in range(3)]
        self.rods = [self.model.body(f"l{leg}_{n}").id for leg in range(3)]
        mujoco.mj_forward(self.model, self.data)

    def constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Error (12,) and rows (12, nv) of the closures: universal joints at D."""
        m = self.model
        d = self.data
        rows = []
        error = []
        R = d.body("platform").xmat.reshape(3, 3)
        for leg in range(3):
            jp, jr, qp, qr = (np.zeros((3, m.nv)) for _ in range(4))
            mujoco.mj_jacSite(m, d, jp, jr, m.site(f"D{leg}").id)
            mujoco.mj_jacSite(m, d, qp, qr, m.site(f"P{leg}").id)
            z = d.xmat[self.rods[leg]].reshape(3, 3)[:, 2]
            t = R @ self.leg_axes[leg][:, 1]
            rows += [*(jp - qp), np.cross(z, t) @ (jr - qr)]
            gap = d.site(f"D{leg}").xpos - d.site(f"P{leg}").xpos
            error += [*gap, z @ t]
        return np.array(error), np.array(rows)

    def step(self, h: float, D: np.ndarray, hip_rate: np.ndarray) -> None:
        """Advance by h with the hips turning at a given rate, (3,)."""
        m = self.model
        d = self.data
        mujoco.mj_fwdPosition(m, d)
        mujoco.mj_fwdVelocity(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        q = np.zeros(m.nv)
        hinges = m.jnt_type == mujoco.mjtJoint.mjJNT_HINGE
        q[m.jnt_dofadr[hinges]] = d.qpos[self.place[hinges]]
        error, J = self.constraints()
        pick = np.zeros((3, m.nv))
        pick[range(3), self.hips] = 1
        J = np.vstack([J, pick])
        wanted = np.concatenate([-error / h, hip_rate])
        A = M + np.diag(h * D + h**2 * self.K)
        zero = np.zeros((len(J), len(J)))
        push = M @ d.qvel - h * (d.qfrc_bias + self.K * q)
        v = np.linalg.solve(np.block([[A, J.T], [J, zero]]), np.concatenate([push, wanted]))[: m.nv]
        d.qvel[:] = v
        mujoco.mj_integratePos(m, d.qpos, v, h)


def follow_path(robot: DeltaRobot, path, n: int, beta: float, step: float = 2e-4) -> tuple:
    """Return times and the platform's displacement from the rigid motion, (T, 3).

    The robot settles under its weight first, with much damping; then damping is beta K.
    """
    run = Mover(robot, path(0.0)[0], n)
    for _ in range(300):
        run.step(5e-3, 0.1 * run.K, np.zeros(3))
    run.data.qvel[:] = 0.0
    times = np.arange(round(path.duration / step) + 1) * step
    theta = delta.inverse(robot, path(times)[0])[..., 0]
    out = [run.data.body("platform").xpos.copy()]
    for k in range(1, len(times)):
        run.step(step, beta * run.K, (theta[k] - theta[k - 1]) / step)
        mujoco.mj_kinematics(run.model, run.data)
        out.append(run.data.body("platform").xpos.copy())
    return times, np.array(out) - path(times)[0]
