"""A planar arm of Euler-Bernoulli elements, written for tests alone: nothing of supple is in it.

Two links in the x-y plane, a spring at each joint, bodies on the ends. Nodes carry (u, v, phi) in
base axes; consistent matrices of cubic bending and linear stretch, no rotary inertia of sections.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh


@dataclass(frozen=True)
class OwnLink:
    length: float
    EA: float
    EI: float
    mass_per_length: float
    spring: float | None  # at its root; None is rigid
    tip_mass: float = 0.0
    tip_inertia: float = 0.0


def beam_matrices(link: OwnLink, h: float):
    """Stiffness and consistent mass of one element along x, (u, v, phi) at both ends."""
    K = np.zeros((6, 6))
    M = np.zeros((6, 6))
    m = link.mass_per_length * h
    K[np.ix_([0, 3], [0, 3])] = link.EA / h * np.array([[1, -1], [-1, 1]])
    M[np.ix_([0, 3], [0, 3])] = m / 6 * np.array([[2, 1], [1, 2]])
    bend = [1, 2, 4, 5]
    K[np.ix_(bend, bend)] = (
        link.EI
        / h**3
        * np.array(
            [
                [12, 6 * h, -12, 6 * h],
                [6 * h, 4 * h * h, -6 * h, 2 * h * h],
                [-12, -6 * h, 12, -6 * h],
                [6 * h, 2 * h * h, -6 * h, 4 * h * h],
            ]
        )
    )
    M[np.ix_(bend, bend)] = (
        m
        / 420
        * np.array(
            [
                [156, 22 * h, 54, -13 * h],
                [22 * h, 4 * h * h, 13 * h, -3 * h * h],
                [54, 13 * h, 156, -22 * h],
                [-13 * h, -3 * h * h, -22 * h, 4 * h * h],
            ]
        )
    )
    return K, M


@dataclass(frozen=True)
class OwnArm:
    """Matrices of an arm at a pose: joints locked on their springs.

    Attributes
    ----------
    K_beam, K_spring, M
        Of the free coordinates.
    tip
        The three coordinates of the last node.
    root
        The coordinate of the first joint's rotation, -1 where it is rigid.
    """

    K_beam: np.ndarray
    K_spring: np.ndarray
    M: np.ndarray
    tip: np.ndarray
    root: int

    @property
    def K(self):
        return self.K_beam + self.K_spring

    def frequencies(self, count):
        w2 = eigh(self.K, self.M, eigvals_only=True, subset_by_index=[0, count - 1])
        return np.sqrt(w2) / (2 * np.pi)

    def response(self, f, force, row, loss):
        """Displacement `row` of the tip per unit force `force` on it, structural loss."""
        out = []
        for one in f:
            w = 2 * np.pi * one
            D = self.K_beam * (1 + 1j * loss) + self.K_spring - w**2 * self.M
            b = np.zeros(len(D))
            b[self.tip[force]] = 1.0
            out.append(np.linalg.solve(D, b)[self.tip[row]])
        return np.array(out)

    def sag(self, wrench):
        """Motion (u, v, phi) of the tip under (Fx, Fy, Mz) there."""
        b = np.zeros(len(self.K))
        b[self.tip] = wrench
        return np.linalg.solve(self.K, b)[self.tip]


def own_arm(links, theta, elements=10, free_root=False, hub=0.0):
    """Assemble the arm; `free_root` lets the first joint turn, with the inertia of a hub."""
    size = 0
    nodes = []
    roots = []
    blocks = []
    angle = 0.0
    previous = None
    for link, turn in zip(links, theta, strict=True):
        angle += turn
        first = [-1, -1, -1] if previous is None else [previous[0], previous[1], previous[2]]
        own_turn = link.spring is not None or (previous is None and free_root)
        if own_turn:
            roots.append((size, None if previous is None else previous[2], link.spring))
            first[2] = size
            size += 1
        here = [first]
        for _ in range(elements):
            here.append([size, size + 1, size + 2])
            size += 3
        blocks.append((link, angle, here))
        previous = here[-1]
        nodes.append(here)
    K_beam = np.zeros((size, size))
    K_spring = np.zeros((size, size))
    M = np.zeros((size, size))
    for link, angle, here in blocks:
        h = link.length / elements
        k, m = beam_matrices(link, h)
        c = np.cos(angle)
        s = np.sin(angle)
        T = np.kron(np.eye(2), [[c, s, 0], [-s, c, 0], [0, 0, 1]])
        k = T.T @ k @ T
        m = T.T @ m @ T
        for a, b in itertools.pairwise(here):
            index = np.array([*a, *b])
            on = index >= 0
            K_beam[np.ix_(index[on], index[on])] += k[np.ix_(on, on)]
            M[np.ix_(index[on], index[on])] += m[np.ix_(on, on)]
        end = here[-1]
        M[end[0], end[0]] += link.tip_mass
        M[end[1], end[1]] += link.tip_mass
        M[end[2], end[2]] += link.tip_inertia
    for own, other, spring in roots:
        if spring is None:
            M[own, own] += hub
            continue
        K_spring[own, own] += spring
        if other is not None and other >= 0:
            K_spring[other, other] += spring
            K_spring[own, other] -= spring
            K_spring[other, own] -= spring
    return OwnArm(K_beam, K_spring, M, np.array(nodes[-1][-1]), roots[0][0] if roots else -1)


def small_motion(arm, t, torque, damping, modes=8):
    """Root angle and tip deflection of a free arm under a torque, linear between its samples.

    Modal coordinates of the lowest modes, the rigid one among them, a damper at the root.
    """
    from scipy.signal import cont2discrete

    w2, phi = eigh(arm.K, arm.M)
    w2 = np.maximum(w2, 0.0)
    phi = phi[:, :modes]
    b = phi[arm.root]
    A = np.zeros((2 * modes, 2 * modes))
    A[:modes, modes:] = np.eye(modes)
    A[modes:, :modes] = -np.diag(w2[:modes])
    A[modes:, modes:] = -damping * np.outer(b, b)
    B = np.concatenate([np.zeros(modes), b])[:, None]
    C = np.vstack(
        [
            np.concatenate([phi[arm.root], np.zeros(modes)]),
            np.concatenate([phi[arm.tip[1]], np.zeros(modes)]),
        ]
    )
    Ad, Bd, Cd, Dd, _ = cont2discrete((A, B, C, np.zeros((2, 1))), t[1] - t[0], method="foh")
    x = np.zeros(2 * modes)
    # the first-order hold of SciPy shifts the state by the input: begin at rest with it
    x = x - np.zeros(2 * modes)
    out = np.empty((len(t), 2))
    offset = -_foh_shift(A, B, t[1] - t[0]) * torque[0]
    state = x + offset
    for k, u in enumerate(torque):
        out[k] = Cd @ state + Dd[:, 0] * u
        state = Ad @ state + Bd[:, 0] * u
    return out


def _foh_shift(A, B, dt):
    """What SciPy's first-order hold takes off the state per unit input."""
    from scipy.linalg import expm

    n = len(A)
    big = np.zeros((n + 2, n + 2))
    big[:n, :n] = A * dt
    big[:n, n] = B[:, 0] * dt
    big[n, n + 1] = 1.0
    return expm(big)[:n, n + 1]
