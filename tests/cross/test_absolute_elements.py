"""Mechanisms by a method of its own: polynomials of high degree in absolute coordinates.

Nothing of supple's trees, closures, structures or elements is used: frames are built from the
description by rotation matrices, every link is cut where something hangs on it and each piece is
one element of degree 7 or 13 in base axes, joints and closures are rows between nodes (those of
closures by the complex step), and all is solved on their null space. Only E A, E I, .. of the
sections and the values of the joint coordinates are asked of supple.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import legendre
from numpy.polynomial import polynomial as poly
from scipy.linalg import eigh, null_space

import supple
from supple.robot import MechanismRobot
from supple.structure import structure_of

E3 = np.eye(3)
Array = Any


def skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis: Array, angle: float) -> Array:
    N = skew(np.asarray(axis, float) / np.linalg.norm(axis))
    return np.eye(3) + np.sin(angle) * N + (1 - np.cos(angle)) * N @ N


def rpy(angles: Array) -> Array:
    return turn(E3[2], angles[2]) @ turn(E3[1], angles[1]) @ turn(E3[0], angles[0])


def far(offset: Array) -> Array:
    """(6, 6) motion of a point at an offset."""
    return np.block([[np.eye(3), -skew(offset)], [np.zeros((3, 3)), np.eye(3)]])


def rod(m: float, r: Array, low: float, high: float) -> Array:
    """(6, 6) of a rigid rod along x: mass per length, (x, y, z) rotary inertia per length."""
    L = high - low
    c = np.array([(low + high) / 2, 0, 0])
    J = np.diag([r[0] * L, m * L**3 / 12 + r[1] * L, m * L**3 / 12 + r[2] * L])
    T = far(c)
    return T.T @ np.block([[m * L * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]]) @ T


def body(given: Any, axis: Array = E3[2]) -> Array:
    about = np.atleast_1d(np.asarray(given.inertia if given.inertia is not None else 0.0, float))
    J = about[0] * np.outer(axis, axis) if len(about) == 1 else np.diag(about[:3])
    T = far(np.asarray(given.com, float))
    return T.T @ np.block([[given.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]]) @ T


def straight(p: int, x: Array, h: float) -> tuple[Array, Array]:
    """Two linear shapes and integrals of Legendre's polynomials: values and slopes."""
    V = [(1 - x) / 2, (1 + x) / 2]
    D = [-0.5 + 0 * x, 0.5 + 0 * x]
    for k in range(2, p + 1):
        c = np.zeros(k + 1)
        c[[k, k - 2]] = 1 / (2 * k - 1), -1 / (2 * k - 1)
        V.append(legendre.legval(x, c))
        D.append(legendre.legval(x, [0] * (k - 1) + [1]))
    return np.array(V).T, np.array(D).T / h


def cubic(p: int, x: Array, h: float, sign: float) -> tuple[Array, Array]:
    """Hermite's cubics and (1 - x^2)^2 times Legendre's polynomials: values and curvatures."""
    cubics = [[2, -3, 0, 1], [h, -h, -h, h], [2, 3, 0, -1], [-h, -h, h, h]]
    N = [np.array(c) / 4 for c in cubics]
    for n in range(p - 3):
        N.append(poly.polymul([1, 0, -2, 0, 1], legendre.leg2poly([0] * n + [1])))
    scale = np.ones(len(N))
    scale[[1, 3]] = sign  # slopes are turns
    bent = [poly.polyval(x, poly.polyder(c, 2)) / h**2 for c in N]
    return np.array([poly.polyval(x, c) for c in N]).T * scale, np.array(bent).T * scale


def element(beam: Any, L: float, p: int) -> tuple[Array, Array, Array, Array]:
    """K, M, weight per acceleration and rows held; u, phi of both ends first, link axes."""
    (x, w), h = legendre.leggauss(2 * p + 2), L / 2
    V, D = straight(p, x, h)
    size = 12
    terms = []
    held = []
    weight = {}

    def field(f: int, bends: bool) -> tuple[list[int], Array, Array]:
        nonlocal size
        more = p - 1 if bends else 0
        columns = [f, 6 + f, *range(size, size + more)]
        size += more
        return columns, V[:, : 2 + more], D[:, : 2 + more]

    for f, stiff, inertia in ((0, beam.EA, beam.m), (3, beam.GJ, beam.rIp)):
        columns, value, slope = field(f, bool(np.isfinite(stiff)))
        terms += [(inertia, [(columns, value)])]
        weight |= {f: (columns, value)} if f == 0 else {}
        if np.isfinite(stiff):
            terms += [(-stiff, [(columns, slope)])]
        else:
            held.append({f: 1, 6 + f: -1})
    for k, (f, r, sign) in enumerate(((1, 5, 1.0), (2, 4, -1.0))):
        if not np.isfinite(beam.EI[k]):
            weight[f] = field(f, False)[:2]
            terms += [(beam.m, [weight[f]])]
            held += [{r: 1, 6 + r: -1}, {f: 1, 6 + f: -1, r: sign * L}]
        elif np.isfinite(beam.kGA[k]):
            v = field(f, True)
            psi = field(r, True)
            terms += [(-beam.EI[k], [(psi[0], psi[2])]), (beam.rI[k], [psi[:2]])]
            terms += [(-beam.kGA[k], [(v[0], v[2]), (psi[0], -sign * psi[1])])]
            weight[f] = v[:2]
            terms += [(beam.m, [weight[f]])]
        else:
            columns = [f, r, 6 + f, 6 + r, *range(size, size + p - 3)]
            size += p - 3
            value, bent = cubic(p, x, h, sign)
            weight[f] = columns, value
            terms += [(-beam.EI[k], [(columns, bent)]), (beam.m, [weight[f]])]
    K = np.zeros((size, size))
    M = np.zeros((size, size))
    W = np.zeros((size, 3))
    for c, parts in terms:
        B = np.zeros((len(x), size))
        for columns, values in parts:
            B[:, columns] += values
        (M if c > 0 else K)[...] += abs(c) * (B.T * w * h) @ B
    for f, (columns, values) in weight.items():
        W[columns, f] += beam.m * (w * h) @ values
    rows = np.zeros((len(held), size))
    for k, entries in enumerate(held):
        rows[k, list(entries)] = list(entries.values())
    return K, M, W, rows


def openings(closure: Any, planar: bool, A: Any, B: Any) -> Array:
    """Rows of a closure between two frames; what is used here of them."""
    (R_a, p_a), (R_b, p_b) = A, B
    d = R_a.T @ (p_b - p_a)
    Q = R_a.T @ R_b
    if closure.type == "distance":
        return np.array([np.sqrt(d @ d)])
    if closure.type == "spherical":
        return d
    if planar:
        return d[1:2] if closure.type == "slot" else d[:2]
    return np.concatenate([d, (Q @ E3[2])[:2]])  # revolute about z


class Absolute:
    """K, M and weights of a mechanism at its joint coordinates, on the null space of its rows."""

    def __init__(self, robot: MechanismRobot, x: dict[str, Array], free: bool, p: int) -> None:
        self.robot = robot
        self.K = []
        self.M = []
        self.f = []
        self.rows: list[tuple[list[int], Array]] = []
        self.size = 0
        names = [link.name for link in robot.links]
        soft = {f"links.{link.name}.theory": "timoshenko" for link in robot.links if link.rigid}
        soft = {k: v for k, v in soft.items() if robot.links[names.index(k[6:-7])].section}
        known = structure_of(robot.with_(soft) if soft else robot).segments
        beams = {s.name.partition("@")[0]: s.beam for s in known if s.beam.mass > 0}
        self.frames: list[tuple[Array, Array]] = []
        self.nodes: list[dict[float, int]] = []
        slides = [link.joint.type == "prismatic" for link in robot.links]
        self.length = [
            float(x[n][0]) if s else float(link.length or 0)
            for n, s, link in zip(names, slides, robot.links, strict=True)
        ]
        ends = [end for closure in robot.closures for end in closure.ends]
        for i, link in enumerate(robot.links):
            mount = link.joint.mount
            up = robot.parents[i]
            R, o = (E3, np.zeros(3)) if up < 0 else self.place(up, link.at)
            R, o = R @ rpy(mount.rpy), o + R @ np.asarray(mount.xyz)
            q = x.get(link.name, ())
            kind = link.joint.type
            moved = self._joint(link, q)
            root = (R, o)
            self.frames.append((R @ moved, o))
            at = {0.0, self.length[i]}
            at |= {e.at for e in ends if e.link == link.name and e.at is not None}
            at |= {
                child.at
                for child, above in zip(robot.links, robot.parents, strict=True)
                if above == i and child.at is not None
            }
            self._beam(i, link, beams.get(link.name), sorted(at), p)
            # joint: rows that hold the root to the mounted frame, springs on what is let go
            rel = np.kron(np.eye(2), R.T)
            T, dofs = self.motion(i, 0.0, o)
            rows = rel @ T
            columns = dofs
            if up >= 0:
                S, above = self.motion(up, link.at, o)
                rows = np.hstack([rows, -rel @ S])
                columns = dofs + above
                self._hub(link, slides[i], above, S, root)
            N = self._let_go(link, q, kind)
            if link.joint.driven and not free and link.joint.stiffness is None:
                N = N[:, :0]
            self.rows.append((columns, (null_space(N.T).T if N.shape[1] else np.eye(6)) @ rows))
            if N.shape[1]:
                P = np.linalg.pinv(N) @ rows
                k = 0.0 if link.joint.stiffness is None else np.asarray(link.joint.stiffness)
                self.K.append((columns, P.T @ (np.eye(len(P)) * k) @ P))
                self.M.append((columns, (link.joint.rotor_inertia or 0.0) * P.T @ P))
        self._close(free)

    def _joint(self, link: Any, q: Array) -> Array:
        kind = link.joint.type
        if kind in ("fixed", "prismatic"):
            return E3
        if self.robot.planar:
            return turn(E3[2], q[0])
        if kind == "revolute":
            return turn(link.joint.direction, q[0])
        return turn(E3[1], q[0]) @ turn(E3[2], q[1]) if kind == "universal" else rpy(q)

    def _let_go(self, link: Any, q: Array, kind: str) -> Array:
        """(6, k) motions that a joint allows, mounted axes."""
        if kind == "fixed":
            return np.zeros((6, 0))
        if kind == "prismatic":
            return np.eye(6)[:, :1]
        axes = [link.joint.direction]
        if kind == "universal" and not self.robot.planar:
            axes = [E3[1], turn(E3[1], q[0]) @ E3[2]]
        elif kind == "spherical" and not self.robot.planar:
            Rz = turn(E3[2], q[2])
            axes = [Rz @ turn(E3[1], q[1]) @ E3[0], Rz @ E3[1], E3[2]]
        return np.vstack([np.zeros((3, len(axes))), np.array(axes).T])

    def place(self, i: int, at: float | None) -> tuple[Array, Array]:
        R, o = self.frames[i]
        return R, o + R[:, 0] * (self.length[i] if at is None else at)

    def motion(self, i: int, at: float | None, point: Array) -> tuple[Array, list[int]]:
        """Motion of a point that is carried by a link at a place, from its node."""
        at = self.length[i] if at is None else at
        node = min(self.nodes[i], key=lambda s: abs(s - at))
        T = far(point - self.place(i, node)[1])
        return T, list(range(self.nodes[i][node], self.nodes[i][node] + 6))

    def _body(self, dofs: list[int], T: Array, R: Array, X: Array) -> None:
        Q = np.kron(np.eye(2), R.T) @ T
        fall = np.concatenate([R.T @ np.asarray(self.robot.gravity), np.zeros(3)])
        self.M.append((dofs, Q.T @ X @ Q))
        self.f.append((dofs, Q.T @ (X @ fall)))

    def _hub(self, link: Any, slides: bool, dofs: list[int], T: Array, root: Any) -> None:
        if slides and link.joint.hub is not None:  # the guide stays where the beam slides
            self._body(dofs, T, root[0], body(link.joint.hub, E3[0]))

    def _beam(self, i: int, link: Any, beam: Any, at: list[float], p: int) -> None:
        R, o = self.frames[i]
        if link.rigid:
            at = [0.0]
        self.nodes.append({s: self.size + 6 * k for k, s in enumerate(at)})
        self.size += 6 * len(at)
        for a, b in pairwise(at):
            K, M, W, held = element(beam, b - a, p)
            more = len(K) - 12
            dofs = [self.nodes[i][s] + k for s in (a, b) for k in range(6)]
            dofs += range(self.size, self.size + more)
            self.size += more
            T = np.eye(len(K))
            T[:12, :12] = np.kron(np.eye(4), R.T)
            self.K.append((dofs, T.T @ K @ T))
            self.M.append((dofs, T.T @ M @ T))
            self.f.append((dofs, T.T @ W @ R.T @ np.asarray(self.robot.gravity)))
            self.rows += [(dofs, held @ T)] if len(held) else []
        T, dofs = self.motion(i, 0.0, o)
        inner = [0.0] if beam is None else [beam.rIp, beam.rI[1], beam.rI[0]]
        if link.joint.type == "prismatic":
            L = float(link.length)
            self._body(dofs, T, R, rod(beam.m, inner, self.length[i] - L, 0.0))
        elif link.joint.hub is not None:
            self._body(dofs, T, R, body(link.joint.hub, link.joint.direction))
        if link.body is not None:
            self._body(dofs, T, R, body(link.body))
        elif link.rigid:
            self._body(dofs, T, R, rod(beam.m, inner, 0.0, self.length[i]))
        T, dofs = self.motion(i, None, self.place(i, None)[1])
        payload = self.robot.payload if i == self.robot.tip_index else None
        for given in (link.tip, payload):
            if given is not None:
                self._body(dofs, T, R, body(given))

    def _close(self, free: bool) -> None:
        robot = self.robot
        h = 1e-30
        for closure in robot.closures:
            if closure.motor and free:
                continue
            frames = []
            maps = []
            columns = []
            for end in closure.ends:
                i = robot.end_index(end)
                at = end.at
                mount = end.mount
                R, o = (E3, np.zeros(3)) if i < 0 else self.place(i, at)
                point = o + R @ np.asarray(mount.xyz)
                T, dofs = (np.zeros((6, 0)), []) if i < 0 else self.motion(i, at, point)
                frames.append(((R @ rpy(mount.rpy)).astype(complex), point.astype(complex)))
                maps.append(T)
                columns += dofs
            J = []
            for side in (0, 1):
                each = []
                for k in range(6):
                    moved = list(frames)
                    R, o = frames[side]
                    by = 1j * h * E3[k % 3]
                    moved[side] = (R, o + by) if k < 3 else (R + skew(by) @ R, o)
                    each.append(openings(closure, robot.planar, *moved).imag / h)
                J.append(np.array(each).T @ maps[side])
            self.rows.append((columns, np.hstack(J)))

    def solved(self) -> tuple[Array, Array, Array, Array]:
        """K, M, weight, all on the null space N, and N."""
        n = self.size
        K = np.zeros((n, n))
        M = np.zeros((n, n))
        f = np.zeros(n)
        C = []
        for into, parts in ((K, self.K), (M, self.M)):
            for dofs, part in parts:
                np.add.at(into, np.ix_(dofs, dofs), part)
        for dofs, part in self.f:
            np.add.at(f, dofs, part)
        for dofs, rows in self.rows:
            whole = np.zeros((len(rows), n))
            np.add.at(whole, (slice(None), dofs), rows)
            C.append(whole)
        if self.robot.planar:
            nodes = [k for each in self.nodes for k in each.values()]
            C.append(np.eye(n)[[k + d for k in nodes for d in (2, 3, 4)]])
        s = np.minimum(1 / np.sqrt(np.where(np.diag(K) > 0, np.diag(K), 1.0)), 1.0)
        N = s[:, None] * null_space(np.vstack(C) * s, rcond=1e-9)
        return N.T @ K @ N, N.T @ M @ N, N.T @ f, N


def assembled(robot: MechanismRobot) -> dict[str, Array]:
    """Joint coordinates by link; that they shut the closures is looked at below."""
    from supple.architectures.assembling import resolve
    from supple.architectures.kinds import lower

    x = resolve(lower(robot))[0][0]
    at = 0
    out = {}
    for link in robot.links:
        n = robot.freedoms(link)
        out[link.name] = x[at : at + n]
        at += n
    return out


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True], ids=["locked", "free"])
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "two-arms", "scara-parallel", "hexapod"])
def test_library_mechanisms(name: str, free: bool) -> None:
    robot = supple.load(name)
    x = assembled(robot)
    made = Absolute(robot, x, free, 7 if name == "hexapod" else 13)
    for closure in robot.closures:
        ends = []
        for end in closure.ends:
            R, o = made.place(robot.end_index(end), end.at)
            ends.append((R @ rpy(end.mount.rpy), o + R @ np.asarray(end.mount.xyz)))
        np.testing.assert_allclose(openings(closure, robot.planar, *ends), 0, atol=1e-12)
    K, M, f, N = made.solved()
    found = supple.modes(robot, count=6, joints="free" if free else "locked")
    shift = 1e-6 * np.trace(K) / np.trace(M)
    values = 1 / eigh(M, K + shift * M, eigvals_only=True)[::-1] - shift
    omega = np.sqrt(np.maximum(values[: found.rigid_modes + 6], 0.0))
    assert found.certified
    assert (omega[: found.rigid_modes] < 1e-3 * found.omega[0]).all()
    np.testing.assert_allclose(omega[found.rigid_modes :], found.omega, rtol=1e-7)
    if not free:
        load = np.array([3.0, -2.0, 4.0, 0.1, -0.2, 0.3])
        T, dofs = made.motion(robot.tip_index, None, made.place(robot.tip_index, None)[1])
        tip = T @ N[dofs]
        want = tip @ np.linalg.solve(K, f + tip.T @ load)
        sag = supple.statics(robot, force=load[:3], moment=load[3:])
        np.testing.assert_allclose(sag.moved, want, atol=1e-9 * np.abs(want).max())
