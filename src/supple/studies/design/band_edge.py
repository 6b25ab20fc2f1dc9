"""The matrix that counts natural frequencies below one edge of a band, as a function of the pose.

Every link keeps its root and its end as unknowns in its own axes; joint j ties them by rows that
hold cos(theta_j) and sin(theta_j) and nothing else of the pose,

    A(theta) = [[K(omega), C(theta)'], [C(theta), 0]].

A has as many negative eigenvalues, less its ties, as there are natural frequencies below omega
(Sylvester; Wittrick and Williams, with pieces too short for clamped frequencies below omega).

Let W' A W be a matrix of signs at the middle of a cell of poses. The number cannot change in the
cell while |W' (A(theta) - A(middle)) W| < 1 (Weyl), and with d_j the half widths

    A(theta) - A(middle) = sum_j sin(d_j) Q_j + (cos(d_j) - 1) P_j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...assembly import exact_ends
from ...kernels.spatial import transport
from ...robot import Robot
from ...structure import Structure, structure_of
from ..vibration.shapes import cut_beams, dynamic_spring, exact_forms
from .varied import Varied, coordinate_names

__all__ = ["BandEdge"]

Array = NDArray[np.float64]
Columns = NDArray[np.int64]
QUARTER_TURNS = np.array([0.0, np.pi / 2, np.pi, 3 * np.pi / 2])
SHORTER_PIECES = 1.1  # times omega: pieces are cut for this frequency, to stay clear of their own
BALANCING_ROUNDS = 20
SAME_STRUCTURE_TOLERANCE = 1e-9  # relative: by less what lies before a joint may differ by angle
LARGEST_CONDITION = 1e10  # of what lies before a joint, above which it rings by itself


@dataclass(frozen=True)
class JointTie:
    """How the rows of one joint depend on its angle: constant + b cos(theta) + c sin(theta).

    Attributes
    ----------
    rows
        Of A, the tie of the joint's root.
    columns
        Of A, where these rows depend on the angle.
    b, c
        (rows, columns), factors of cosine and sine.
    """

    rows: Columns
    columns: Columns
    b: Array
    c: Array

    def block(self, angle: Array) -> Array:
        """The part of the rows that depends on the angle, (B, rows, columns)."""
        return np.cos(angle) * self.b + np.sin(angle) * self.c

    def slope(self, angle: Array) -> Array:
        """Its derivative by the angle."""
        return -np.sin(angle) * self.b + np.cos(angle) * self.c


class BandEdge:
    """The matrix A at one edge of the band, as a function of the pose.

    Attributes
    ----------
    unchanged
        For each coordinate of the box, whether it changes no frequency.
    """

    def __init__(self, robot: Robot, varied: Varied, omega: float) -> None:
        # The robot with all joints of the box at the four quarter turns together
        names = coordinate_names(robot)
        poses = np.tile(np.asarray(varied.theta, float), (4, 1))
        for key in varied.coordinate_keys:
            poses[:, names.index(key.partition(".")[2])] = QUARTER_TURNS
        structure = structure_of(robot, poses)
        pieces, pieces_of_link = cut_beams(structure.at(0), SHORTER_PIECES * omega)
        self._assemble(pieces, omega)

        self.ties: list[JointTie] = []
        self.unchanged: dict[str, bool] = {}
        changing_pieces: set[int] = set()  # whose joints change what is seen after them
        link_names = [segment.name for segment in structure.segments]
        for key in varied.coordinate_keys:
            link = link_names.index(key.partition(".")[2])
            piece = pieces_of_link[link][0]

            # T (4, R, R) turns what lies before the joint, D (4, R, r) its releases: a bearing's
            # springs stay in the axes before the joint
            T = structure.T[:, link][:, self.axes][:, :, self.axes]
            directions = []
            for release in structure.segments[link].releases:
                of_all_poses = np.broadcast_to(release.toward(slice(None)), (4, 6))
                directions.append(of_all_poses[:, self.axes, None])
            D = np.concatenate([np.zeros((4, len(self.axes), 0)), *directions], axis=2)

            tie = self._tie_joint(pieces, piece, T, D)
            self.ties.append(tie)
            self.unchanged[key] = not len(tie.columns) or self._looks_alike(
                pieces, piece, changing_pieces, T, D
            )
            if not self.unchanged[key]:
                changing_pieces.add(piece)
        self.scale = self._balancing_scale()

    def _assemble(self, pieces: Structure, omega: float) -> None:
        """Unknowns: root and inner coordinates of every piece, releases, then one tie a root."""
        self.axes = np.asarray(pieces.axes)
        R = len(self.axes)
        square = np.ix_(self.axes, self.axes)
        forms = exact_forms(pieces, omega)
        ends = exact_ends(pieces)

        # Places of the unknowns; inner coordinates that move no end in these axes are left out
        inner_coordinates = []
        sizes = []
        for end, segment in zip(ends, pieces.segments, strict=True):
            moving = np.flatnonzero(np.abs(end[self.axes]).any(axis=0))
            inner_coordinates.append(moving)
            sizes.append(R + len(moving) + len(segment.releases))
        first = np.concatenate([[0], np.cumsum(sizes)])
        self.first = first.tolist()
        size = int(first[-1]) + len(pieces.segments) * R
        A = np.zeros((size, size))

        self.end: list[tuple[Columns, Array]] = []  # columns that move an end, and how
        self.rows: list[Columns] = []  # the tie of each root
        self.released: list[Columns] = []
        for i, segment in enumerate(pieces.segments):
            # The beam, the body at its root and the one at its end
            w = inner_coordinates[i]
            at = int(first[i])
            root = np.arange(at, at + R)
            inner = np.arange(at + R, at + R + len(w))
            own = np.concatenate([root, inner])
            pick = np.concatenate([self.axes, 6 + w])
            A[np.ix_(own, own)] += forms[i][np.ix_(pick, pick)]
            A[np.ix_(root, root)] -= omega**2 * pieces.root_mass[0, i][square]
            X = transport(pieces.L[0, i])[square]
            reach = np.hstack([X, ends[i][np.ix_(self.axes, w)]])
            A[np.ix_(own, own)] -= omega**2 * reach.T @ segment.tip_mass[square] @ reach
            self.end.append((own, reach))

            # The tie: root = end of the parent, turned, plus what the releases let it move
            tie = int(first[-1]) + R * i + np.arange(R)
            self.rows.append(tie)
            A[tie, root] = 1.0
            A[root, tie] = 1.0
            self.released.append(at + R + len(w) + np.arange(len(segment.releases)))
            for column, release in zip(self.released[i], segment.releases, strict=True):
                A[column, column] = dynamic_spring(release, omega)
                direction = -release.toward(0)[self.axes]
                A[tie, column] = direction
                A[column, tie] = direction
            if segment.parent >= 0:
                parent_columns, parent_reach = self.end[segment.parent]
                onto_parent = -pieces.T[0, i][square] @ parent_reach
                A[np.ix_(tie, parent_columns)] = onto_parent
                A[np.ix_(parent_columns, tie)] = onto_parent.T
        self.A = A

    def _tie_joint(self, pieces: Structure, piece: int, T: Array, D: Array) -> JointTie:
        """Find how the tie of a joint depends on its angle, and write its constant part into A."""
        columns_of_parts = [self.released[piece]]
        parts = [D]
        parent = pieces.segments[piece].parent
        if parent >= 0:  # on the ground the pose does not turn what is before
            parent_columns, parent_reach = self.end[parent]
            columns_of_parts = [parent_columns, *columns_of_parts]
            parts = [T @ parent_reach, *parts]
        quarters = -np.concatenate(parts, axis=2)  # (4, R, columns)
        columns = np.concatenate(columns_of_parts)
        rows = self.rows[piece]

        constant, b, c = _harmonics(quarters)
        self.A[np.ix_(rows, columns)] = constant
        self.A[np.ix_(columns, rows)] = constant.T
        depends = (np.abs(b) + np.abs(c)).any(axis=0)
        return JointTie(rows, columns[depends], b[:, depends], c[:, depends])

    def _balancing_scale(self) -> Array:
        """Scales of the unknowns with which rows are alike in size; the count does not change."""
        size = np.abs(self.A)
        for tie in self.ties:
            if len(tie.columns):
                largest = np.abs(tie.b) + np.abs(tie.c)
                size[np.ix_(tie.rows, tie.columns)] += largest
                size[np.ix_(tie.columns, tie.rows)] += largest.T
        scale = np.ones(len(size))
        for _ in range(BALANCING_ROUNDS):
            scale /= np.sqrt((size * scale * scale[:, None]).max(axis=1))
        return scale

    def _looks_alike(
        self, pieces: Structure, piece: int, changing_pieces: set[int], T: Array, D: Array
    ) -> bool:
        """Whether what lies before a joint looks the same from its far side at every angle.

        All before it is condensed to its compliance Y where the joint sits; behind the joint it is

            T(theta) Y T(theta)' + D(theta) Z D(theta)',

        Z of the joint's own springs. T and D hold cos(theta) and sin(theta), so that what is equal
        at five angles or more is equal at all; then the count does not depend on theta
        (Haynsworth). T (4, R, R) and D (4, R, r) are given at quarter turns.
        """
        pieces_before: list[int] = []
        above = pieces.segments[piece].parent
        while above >= 0:
            if above in changing_pieces:
                return False
            pieces_before.append(above)
            above = pieces.segments[above].parent
        Y = self._compliance_before(pieces, piece, pieces_before)
        if Y is None:
            return False
        springs = np.diag([self.A[column, column] for column in self.released[piece].tolist()])
        if (np.diag(springs) == 0).any():
            return False
        Z = np.linalg.inv(springs) if len(springs) else springs

        # The compliance behind the joint at seven angles
        T_constant, T_cosine, T_sine = _harmonics(T)
        D_constant, D_cosine, D_sine = _harmonics(D)
        compliances = []
        for angle in 0.3 + 2 * np.pi * np.arange(7) / 7:
            turn = T_constant + T_cosine * np.cos(angle) + T_sine * np.sin(angle)
            release = D_constant + D_cosine * np.cos(angle) + D_sine * np.sin(angle)
            compliances.append(turn @ Y @ turn.T + release @ Z @ release.T)

        # Lengths and angles are of different units: each entry is judged against those of its kind
        scale = np.sqrt(np.abs(np.diagonal(compliances, axis1=1, axis2=2)).max(axis=0))
        kinds = np.where(self.axes < 3, 0, 1)
        for kind in (0, 1):
            scale[kinds == kind] = scale[kinds == kind].max(initial=0.0)
        tolerance = SAME_STRUCTURE_TOLERANCE * np.outer(scale, scale)
        return bool((np.abs(np.array(compliances) - compliances[0]) <= tolerance).all())

    def _compliance_before(
        self, pieces: Structure, piece: int, pieces_before: list[int]
    ) -> Array | None:
        """Compliance (R, R) of all before a joint, at its place; None where that rings itself."""
        R = len(self.axes)
        if not pieces_before:
            return np.zeros((R, R))
        own: list[int] = []
        for i in pieces_before:
            own += range(self.first[i], self.first[i + 1])
            own += self.rows[i].tolist()
        columns, reach = self.end[pieces.segments[piece].parent]
        matrix = self.A[np.ix_(own, own)]
        load = np.zeros((len(own), R))
        load[[own.index(column) for column in columns.tolist()]] = reach.T

        size = np.sqrt(np.maximum(np.abs(matrix).max(axis=1), 1e-300))
        scaled = matrix / np.outer(size, size)
        if np.linalg.cond(scaled) > LARGEST_CONDITION:
            return None
        moved = np.linalg.solve(scaled, load / size[:, None]) / size[:, None]
        return np.asarray(load.T @ moved)

    def count_and_shares(self, middle: Array, half_width: Array) -> tuple[NDArray[np.int64], Array]:
        """Return counts (B,) at the middle of cells, and the joints' shares (B, k) of the bound.

        The count does not change in a cell whose shares add up to less than one.
        """
        cells = len(middle)
        A = np.broadcast_to(self.A, (cells, *self.A.shape)).copy()
        for j, tie in enumerate(self.ties):
            if len(tie.columns):
                block = tie.block(middle[:, j, None, None])
                A[:, tie.rows[:, None], tie.columns] += block
                A[:, tie.columns[:, None], tie.rows] += block.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(A * self.scale * self.scale[:, None])
        count = (values < 0).sum(axis=1) - sum(map(len, self.rows))

        # W' A W holds signs alone; an eigenvalue of zero makes W infinite and the bound too
        with np.errstate(divide="ignore"):
            W = self.scale[:, None] * vectors / np.sqrt(np.abs(values))[:, None, :]
        shares = np.zeros((cells, len(self.ties)))
        for j, tie in enumerate(self.ties):
            if not len(tie.columns):
                continue
            angle = middle[:, j, None, None]
            left = W[:, tie.rows].transpose(0, 2, 1)
            right = W[:, tie.columns]
            reach = np.minimum(half_width[:, j], np.pi)
            largest_sine = np.where(reach < np.pi / 2, np.sin(reach), 1.0)
            for change, size in (
                (tie.slope(angle), largest_sine),
                (tie.block(angle), 1 - np.cos(reach)),
            ):
                product = left @ change @ right
                product = product + product.transpose(0, 2, 1)
                is_unknown = ~np.isfinite(product).all(axis=(1, 2))
                product[is_unknown] = 0.0
                norm = np.abs(np.linalg.eigvalsh(product)).max(axis=1)
                shares[:, j] += np.where(is_unknown, np.inf, norm * size)
        return count, shares


def _harmonics(quarters: Array) -> tuple[Array, Array, Array]:
    """Constant, cosine and sine parts of what is known at the four quarter turns."""
    constant = (quarters[0] + quarters[2]) / 2
    cosine = (quarters[0] - quarters[2]) / 2
    sine = (quarters[1] - quarters[3]) / 2
    return constant, cosine, sine
