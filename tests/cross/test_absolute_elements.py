"""Mechanisms by a method of its own: polynomials of high degree in absolute coordinates.

Nothing of supple's trees, closures, structures or elements is used: frames are built from the
description by rotation matrices, every link is cut where something hangs on it and each piece is
one element of degree 7 or 13 in base axes, joints and closures are rows between nodes (those of
closures by the complex step), and all is solved on their null space. Only E A, E I, .. of the
sections and the values of the joint coordinates are asked of supple.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.polynomial import legendre
from numpy.polynomial import polynomial as poly
from scipy.linalg import eigh, null_space

import supple
from supple.robot import MechanismRobot
from supple.structure import structure_of

E3 = np.eye(3)
Z3 = np.zeros((3, 3))
COMPLEX_STEP = 1e-30
Array = Any


# Rotations and rigid bodies. A motion has six entries: displacement, then rotation.


def skew(a: Array) -> Array:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis: Array, angle: float) -> Array:
    N = skew(np.asarray(axis, float) / np.linalg.norm(axis))
    return np.eye(3) + np.sin(angle) * N + (1 - np.cos(angle)) * N @ N


def rpy(angles: Array) -> Array:
    return turn(E3[2], angles[2]) @ turn(E3[1], angles[1]) @ turn(E3[0], angles[0])


def in_axes(R: Array) -> Array:
    """(6, 6) of a motion in base axes to the same motion in axes R."""
    return np.kron(np.eye(2), R.T)


def motion_at_offset(offset: Array) -> Array:
    """(6, 6) of the motion of a frame to that of a point of the same body at an offset."""
    return np.block([[np.eye(3), -skew(offset)], [Z3, np.eye(3)]])


def inertia_at(offset: Array, mass: float, J: Array) -> Array:
    """(6, 6) inertia about a frame of a body whose centre is at an offset."""
    T = motion_at_offset(offset)
    return T.T @ np.block([[mass * np.eye(3), Z3], [Z3, J]]) @ T


def rod(mass_per_length: float, rotary: Array, low: float, high: float) -> Array:
    """(6, 6) of a rigid rod along x: mass per length, (x, y, z) rotary inertia per length."""
    length = high - low
    mass = mass_per_length * length
    own = np.asarray(rotary) * length
    across = mass * length**2 / 12
    J = np.diag([own[0], own[1] + across, own[2] + across])
    return inertia_at(np.array([(low + high) / 2, 0, 0]), mass, J)


def body(described: Any, axis: Array = E3[2]) -> Array:
    """(6, 6) of a body as described; one inertia alone is that about an axis."""
    given = 0.0 if described.inertia is None else described.inertia
    moments = np.atleast_1d(np.asarray(given, float))
    J = moments[0] * np.outer(axis, axis) if len(moments) == 1 else np.diag(moments[:3])
    return inertia_at(np.asarray(described.com, float), described.mass, J)


# One element. x runs from -1 to 1, h is half the length.


def linear_shapes(p: int, x: Array, h: float) -> tuple[Array, Array]:
    """Two linear shapes and integrals of Legendre's polynomials: values and slopes."""
    values = [(1 - x) / 2, (1 + x) / 2]
    slopes = [-0.5 + 0 * x, 0.5 + 0 * x]
    for k in range(2, p + 1):
        integral = np.zeros(k + 1)
        integral[k] = 1 / (2 * k - 1)
        integral[k - 2] = -1 / (2 * k - 1)
        values.append(legendre.legval(x, integral))
        slopes.append(legendre.legval(x, [0] * (k - 1) + [1]))
    return np.array(values).T, np.array(slopes).T / h


def cubic_shapes(p: int, x: Array, h: float, sign: float) -> tuple[Array, Array]:
    """Hermite's cubics and (1 - x^2)^2 times Legendre's polynomials: values and curvatures."""
    cubics = [[2, -3, 0, 1], [h, -h, -h, h], [2, 3, 0, -1], [-h, -h, h, h]]
    shapes = [np.array(coefficients) / 4 for coefficients in cubics]
    for n in range(p - 3):
        legendre_n = legendre.leg2poly([0] * n + [1])
        shapes.append(poly.polymul([1, 0, -2, 0, 1], legendre_n))

    scale = np.ones(len(shapes))
    scale[[1, 3]] = sign  # slopes are rotations
    values = [poly.polyval(x, shape) for shape in shapes]
    curvatures = [poly.polyval(x, poly.polyder(shape, 2)) / h**2 for shape in shapes]
    return np.array(values).T * scale, np.array(curvatures).T * scale


class Field(NamedTuple):
    """One displacement or rotation along an element: its unknowns, values and derivatives."""

    columns: list[int]
    value: Array
    derivative: Array


class Element:
    """K, M, weight per acceleration and rows of constraint; u, phi of both ends come first.

    Of each end the unknowns are u, v, w and the rotations about x, y, z, in link axes.
    """

    def __init__(self, beam: Any, L: float, p: int) -> None:
        self.p = p
        self.h = L / 2
        self.x, weights = legendre.leggauss(2 * p + 2)
        self.weights = weights * self.h
        self.linear = linear_shapes(p, self.x, self.h)
        self.size = 12
        self._stiff: list[tuple[float, Array]] = []  # modulus and strain at the Gauss points
        self._heavy: list[tuple[float, Array]] = []  # inertia and velocity
        self._weighed: list[tuple[int, Field]] = []  # direction and displacement
        self._constraints: list[dict[int, float]] = []

        self._add_stretch_and_twist(beam)
        for plane, (v, rotation, sign) in enumerate(((1, 5, 1.0), (2, 4, -1.0))):
            self._add_bending(beam, plane, v, rotation, sign)
        self._integrate(beam.m)

    def _field(self, unknown: int, internal: bool) -> Field:
        """A field between the unknowns of the ends, with internal shapes or straight."""
        more = self.p - 1 if internal else 0
        columns = [unknown, 6 + unknown, *range(self.size, self.size + more)]
        self.size += more
        values, slopes = self.linear
        return Field(columns, values[:, : 2 + more], slopes[:, : 2 + more])

    def _cubic(self, v: int, rotation: int, sign: float) -> Field:
        more = self.p - 3
        columns = [v, rotation, 6 + v, 6 + rotation, *range(self.size, self.size + more)]
        self.size += more
        return Field(columns, *cubic_shapes(self.p, self.x, self.h, sign))

    def _add_stretch_and_twist(self, beam: Any) -> None:
        for unknown, stiffness, inertia in ((0, beam.EA, beam.m), (3, beam.GJ, beam.rIp)):
            deforms = bool(np.isfinite(stiffness))
            field = self._field(unknown, deforms)
            self._heavy.append((inertia, [(field.columns, field.value)]))
            if deforms:
                self._stiff.append((stiffness, [(field.columns, field.derivative)]))
            else:
                self._constraints.append({unknown: 1, 6 + unknown: -1})
            if unknown == 0:
                self._weighed.append((0, field))

    def _add_bending(self, beam: Any, plane: int, v: int, rotation: int, sign: float) -> None:
        """Rigid, with shear, or without, by which stiffnesses are finite."""
        EI = beam.EI[plane]
        kGA = beam.kGA[plane]
        if not np.isfinite(EI):
            deflection = self._field(v, internal=False)
            self._constraints.append({rotation: 1, 6 + rotation: -1})
            self._constraints.append({v: 1, 6 + v: -1, rotation: sign * 2 * self.h})
        elif np.isfinite(kGA):
            deflection = self._field(v, internal=True)
            angle = self._field(rotation, internal=True)
            shear = [
                (deflection.columns, deflection.derivative),
                (angle.columns, -sign * angle.value),
            ]
            self._stiff.append((EI, [(angle.columns, angle.derivative)]))
            self._stiff.append((kGA, shear))
            self._heavy.append((beam.rI[plane], [(angle.columns, angle.value)]))
        else:
            deflection = self._cubic(v, rotation, sign)
            self._stiff.append((EI, [(deflection.columns, deflection.derivative)]))
        self._heavy.append((beam.m, [(deflection.columns, deflection.value)]))
        self._weighed.append((v, deflection))

    def _integrate(self, mass_per_length: float) -> None:
        self.K = self._squares(self._stiff)
        self.M = self._squares(self._heavy)
        self.weight = np.zeros((self.size, 3))
        for direction, field in self._weighed:
            self.weight[field.columns, direction] += mass_per_length * self.weights @ field.value
        self.rows = np.zeros((len(self._constraints), self.size))
        for row, entries in zip(self.rows, self._constraints, strict=True):
            for unknown, factor in entries.items():
                row[unknown] = factor

    def _squares(self, terms: list[tuple[float, Array]]) -> Array:
        """Sum of the integrals of c (B x)^2, each B a sum of parts on some of the unknowns."""
        total = np.zeros((self.size, self.size))
        for factor, parts in terms:
            B = np.zeros((len(self.x), self.size))
            for columns, values in parts:
                B[:, columns] += values
            total += factor * (B.T * self.weights) @ B
        return total


def openings(closure: Any, planar: bool, frame_a: Any, frame_b: Any) -> Array:
    """Rows of a closure between two frames; what is used here of them."""
    R_a, p_a = frame_a
    R_b, p_b = frame_b
    gap = R_a.T @ (p_b - p_a)
    relative = R_a.T @ R_b
    if closure.type == "distance":
        return np.array([np.sqrt(gap @ gap)])
    if closure.type == "spherical":
        return gap
    if planar:
        return gap[1:2] if closure.type == "slot" else gap[:2]
    return np.concatenate([gap, (relative @ E3[2])[:2]])  # revolute about z


def known_beams(robot: MechanismRobot) -> dict[str, Any]:
    """E A, E I, .. by link; rigid links with a section are read as if they bent."""
    bending = {}
    for link in robot.links:
        if link.rigid and link.section:
            bending[f"links.{link.name}.theory"] = "timoshenko"
    segments = structure_of(robot.with_(bending) if bending else robot).segments
    return {s.name.partition("@")[0]: s.beam for s in segments if s.beam.mass > 0}


class Absolute:
    """K, M and weights of a mechanism at its joint coordinates, on the null space of its rows."""

    def __init__(self, robot: MechanismRobot, x: dict[str, Array], free: bool, p: int) -> None:
        self.robot = robot
        self.degree = p
        self.size = 0
        self.K: list[tuple[list[int], Array]] = []
        self.M: list[tuple[list[int], Array]] = []
        self.f: list[tuple[list[int], Array]] = []
        self.rows: list[tuple[list[int], Array]] = []
        self.frames: list[tuple[Array, Array]] = []  # axes and root of every link
        self.nodes: list[dict[float, int]] = []  # first unknown of every node, by place
        self.lengths: list[float] = []
        for link in robot.links:
            slides = link.joint.type == "prismatic"
            self.lengths.append(float(x[link.name][0]) if slides else float(link.length or 0))

        beams = known_beams(robot)
        for i, link in enumerate(robot.links):
            q = x.get(link.name, ())
            R, o = self._mounted_frame(i, link)
            self.frames.append((R @ self._joint_rotation(link, q), o))
            self._add_beam(i, link, beams.get(link.name), self._places_used(i, link))
            self._add_bodies(i, link, beams.get(link.name))
            self._add_joint(i, link, q, R, o, free)
        for closure in robot.closures:
            if not (closure.motor and free):
                self._add_closure(closure)

    # Frames and nodes

    def _mounted_frame(self, i: int, link: Any) -> tuple[Array, Array]:
        """Where the joint of a link is mounted on its parent or the base."""
        parent = self.robot.parents[i]
        R, o = (E3, np.zeros(3)) if parent < 0 else self.place(parent, link.at)
        mount = link.joint.mount
        return R @ rpy(mount.rpy), o + R @ np.asarray(mount.xyz)

    def _joint_rotation(self, link: Any, q: Array) -> Array:
        kind = link.joint.type
        if kind in ("fixed", "prismatic"):
            return E3
        if self.robot.planar:
            return turn(E3[2], q[0])
        if kind == "revolute":
            return turn(link.joint.direction, q[0])
        return turn(E3[1], q[0]) @ turn(E3[2], q[1]) if kind == "universal" else rpy(q)

    def _places_used(self, i: int, link: Any) -> list[float]:
        """Root and end of a link, and where closures and other links sit along it."""
        places = {0.0, self.lengths[i]}
        for closure in self.robot.closures:
            for end in closure.ends:
                if end.link == link.name and end.at is not None:
                    places.add(end.at)
        for child, parent in zip(self.robot.links, self.robot.parents, strict=True):
            if parent == i and child.at is not None:
                places.add(child.at)
        return sorted(places)

    def place(self, i: int, at: float | None) -> tuple[Array, Array]:
        """Axes and position of a place along a link, its end unless given."""
        R, o = self.frames[i]
        return R, o + R[:, 0] * (self.lengths[i] if at is None else at)

    def motion(self, i: int, at: float | None, point: Array) -> tuple[Array, list[int]]:
        """Motion of a point that is rigidly on a link at a place, from its node."""
        at = self.lengths[i] if at is None else at
        node = min(self.nodes[i], key=lambda place: abs(place - at))
        first = self.nodes[i][node]
        return motion_at_offset(point - self.place(i, node)[1]), list(range(first, first + 6))

    # Parts

    def _add_beam(self, i: int, link: Any, beam: Any, places: list[float]) -> None:
        if link.rigid:
            places = [0.0]
        self.nodes.append({place: self.size + 6 * k for k, place in enumerate(places)})
        self.size += 6 * len(places)
        R, _ = self.frames[i]
        for low, high in pairwise(places):
            element = Element(beam, high - low, self.degree)
            internal = element.size - 12
            dofs = [self.nodes[i][place] + k for place in (low, high) for k in range(6)]
            dofs += range(self.size, self.size + internal)
            self.size += internal

            # Internal unknowns stay in link axes, those of nodes are in base axes.
            T = np.eye(element.size)
            T[:12, :12] = np.kron(np.eye(4), R.T)
            self.K.append((dofs, T.T @ element.K @ T))
            self.M.append((dofs, T.T @ element.M @ T))
            self.f.append((dofs, T.T @ element.weight @ R.T @ np.asarray(self.robot.gravity)))
            if len(element.rows):
                self.rows.append((dofs, element.rows @ T))

    def _add_bodies(self, i: int, link: Any, beam: Any) -> None:
        R, o = self.frames[i]
        length = self.lengths[i]
        rotary = [0.0] if beam is None else [beam.rIp, beam.rI[1], beam.rI[0]]
        T, dofs = self.motion(i, 0.0, o)
        if link.joint.type == "prismatic":
            self._add_body(dofs, T, R, rod(beam.m, rotary, length - float(link.length), 0.0))
        elif link.joint.hub is not None:
            self._add_body(dofs, T, R, body(link.joint.hub, link.joint.direction))
        if link.body is not None:
            self._add_body(dofs, T, R, body(link.body))
        elif link.rigid:
            self._add_body(dofs, T, R, rod(beam.m, rotary, 0.0, length))

        T, dofs = self.motion(i, None, self.place(i, None)[1])
        payload = self.robot.payload if i == self.robot.tip_index else None
        for described in (link.tip, payload):
            if described is not None:
                self._add_body(dofs, T, R, body(described))

    def _add_body(self, dofs: list[int], T: Array, R: Array, inertia: Array) -> None:
        """A body whose inertia is given in axes R, moved by T on these unknowns."""
        local = in_axes(R) @ T
        gravity = np.concatenate([R.T @ np.asarray(self.robot.gravity), np.zeros(3)])
        self.M.append((dofs, local.T @ inertia @ local))
        self.f.append((dofs, local.T @ (inertia @ gravity)))

    def _add_joint(self, i: int, link: Any, q: Array, R: Array, o: Array, free: bool) -> None:
        """Rows that bind the root to the mounted frame; springs and rotors on released motions."""
        local = in_axes(R)
        T, columns = self.motion(i, 0.0, o)
        rows = local @ T
        parent = self.robot.parents[i]
        if parent >= 0:
            S, parent_dofs = self.motion(parent, link.at, o)
            rows = np.hstack([rows, -local @ S])
            columns = columns + parent_dofs
            if link.joint.type == "prismatic" and link.joint.hub is not None:
                # the guide stays where the beam slides
                self._add_body(parent_dofs, S, R, body(link.joint.hub, E3[0]))

        N = self._released_motions(link, q)
        if link.joint.driven and not free and link.joint.stiffness is None:
            N = N[:, :0]  # a locked motor
        if not N.shape[1]:
            self.rows.append((columns, rows))
            return
        self.rows.append((columns, null_space(N.T).T @ rows))
        released = np.linalg.pinv(N) @ rows
        stiffness = 0.0 if link.joint.stiffness is None else np.asarray(link.joint.stiffness)
        rotor = link.joint.rotor_inertia or 0.0
        self.K.append((columns, released.T @ (np.eye(len(released)) * stiffness) @ released))
        self.M.append((columns, rotor * released.T @ released))

    def _released_motions(self, link: Any, q: Array) -> Array:
        """(6, k) motions that a joint allows, mounted axes."""
        kind = link.joint.type
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

    def _add_closure(self, closure: Any) -> None:
        """Rows by the complex step: how the openings change with the motion of either frame."""
        frames = []
        motions = []
        columns = []
        for end in closure.ends:
            i = self.robot.end_index(end)
            R, o = (E3, np.zeros(3)) if i < 0 else self.place(i, end.at)
            point = o + R @ np.asarray(end.mount.xyz)
            axes = R @ rpy(end.mount.rpy)
            frames.append((axes.astype(complex), point.astype(complex)))
            T, dofs = (np.zeros((6, 0)), []) if i < 0 else self.motion(i, end.at, point)
            motions.append(T)
            columns += dofs

        blocks = []
        for side in (0, 1):
            R, o = frames[side]
            slopes = []
            for k in range(6):
                step = 1j * COMPLEX_STEP * E3[k % 3]
                moved = list(frames)
                moved[side] = (R, o + step) if k < 3 else (R + skew(step) @ R, o)
                opened = openings(closure, self.robot.planar, *moved)
                slopes.append(opened.imag / COMPLEX_STEP)
            blocks.append(np.array(slopes).T @ motions[side])
        self.rows.append((columns, np.hstack(blocks)))

    def solved(self) -> tuple[Array, Array, Array, Array]:
        """K, M, weight, all on the null space N, and N."""
        n = self.size
        K = np.zeros((n, n))
        M = np.zeros((n, n))
        f = np.zeros(n)
        for dofs, part in self.K:
            np.add.at(K, np.ix_(dofs, dofs), part)
        for dofs, part in self.M:
            np.add.at(M, np.ix_(dofs, dofs), part)
        for dofs, part in self.f:
            np.add.at(f, dofs, part)

        constraints = []
        for dofs, rows in self.rows:
            on_all = np.zeros((len(rows), n))
            np.add.at(on_all, (slice(None), dofs), rows)
            constraints.append(on_all)
        if self.robot.planar:
            out_of_plane = []
            for nodes in self.nodes:
                for first in nodes.values():
                    out_of_plane += [first + 2, first + 3, first + 4]
            constraints.append(np.eye(n)[out_of_plane])

        # Unknowns of alike stiffness, so that the rank of the rows is clear
        diagonal = np.diag(K)
        scale = np.minimum(1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
        N = scale[:, None] * null_space(np.vstack(constraints) * scale, rcond=1e-9)
        return N.T @ K @ N, N.T @ M @ N, N.T @ f, N


def assembled(robot: MechanismRobot) -> dict[str, Array]:
    """Joint coordinates by link; that they shut the closures is looked at below."""
    from supple.architectures.assembling import resolve
    from supple.architectures.kinds import lower

    coordinates = resolve(lower(robot))[0][0]
    by_link = {}
    first = 0
    for link in robot.links:
        last = first + robot.freedoms(link)
        by_link[link.name] = coordinates[first:last]
        first = last
    return by_link


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True], ids=["locked", "free"])
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "two-arms", "scara-parallel", "hexapod"])
def test_library_mechanisms(name: str, free: bool) -> None:
    robot = supple.load(name)
    degree = 7 if name == "hexapod" else 13
    absolute = Absolute(robot, assembled(robot), free, degree)
    for closure in robot.closures:
        ends = []
        for end in closure.ends:
            R, o = absolute.place(robot.end_index(end), end.at)
            ends.append((R @ rpy(end.mount.rpy), o + R @ np.asarray(end.mount.xyz)))
        np.testing.assert_allclose(openings(closure, robot.planar, *ends), 0, atol=1e-12)

    # Frequencies, by the largest 1 / (omega^2 + shift): the low ones are then the accurate ones
    K, M, weight, N = absolute.solved()
    found = supple.modes(robot, count=6, joints="free" if free else "locked")
    shift = 1e-6 * np.trace(K) / np.trace(M)
    squares = 1 / eigh(M, K + shift * M, eigvals_only=True)[::-1] - shift
    omega = np.sqrt(np.maximum(squares[: found.rigid_modes + 6], 0.0))
    assert found.certified
    assert (omega[: found.rigid_modes] < 1e-3 * found.omega[0]).all()
    np.testing.assert_allclose(omega[found.rigid_modes :], found.omega, rtol=1e-7)
    if free:
        return

    # Sag under weight and a load on the tip
    load = np.array([3.0, -2.0, 4.0, 0.1, -0.2, 0.3])
    end = absolute.place(robot.tip_index, None)[1]
    T, dofs = absolute.motion(robot.tip_index, None, end)
    tip = T @ N[dofs]
    wanted = tip @ np.linalg.solve(K, weight + tip.T @ load)
    sag = supple.statics(robot, force=load[:3], moment=load[3:])
    np.testing.assert_allclose(sag.moved, wanted, atol=1e-9 * np.abs(wanted).max())
