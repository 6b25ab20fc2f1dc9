"""The count of natural frequencies of any Structure in many digits, a second method for tests.

Beams are cut into pieces shorter than half a wave, so that no piece has a clamped frequency of its
own; each piece's dynamic stiffness comes from its transfer matrix, a power series of the state
equation; all pieces are assembled into one matrix over tree coordinates, and its negative pivots
are counted. Nothing of the kernel is used: no tau functions, no condensation, no doubles but the
Structure's own numbers.
"""

from __future__ import annotations

from typing import Any

from mpmath import mp, mpf

from supple.structure import Structure
from supple.studies.vibration.shapes import cut_beams

Rows = list[list[Any]]
BLOCKS = ((0, 6), (3, 9), (1, 5, 7, 11), (2, 4, 8, 10))  # axial, torsion, bending in two planes


def count_below(structure: Structure, omega: Any, digits: int = 40) -> int:
    """J(omega) of one configuration, zero modes included."""
    with mp.workdps(digits):
        fine, _ = cut_beams(structure, float(omega) * 1.001)
        z = mpf(omega) ** 2
        K, closure = _assembled(fine, z)
        c = len(closure)

        # [[K, closure'], [closure, 0]] has one negative pivot per closure row too many
        bordered = []
        for i, row in enumerate(K):
            bordered.append([*row, *(closure_row[i] for closure_row in closure)])
        for closure_row in closure:
            bordered.append([*closure_row, *([mpf(0)] * c)])
        count = _negatives(bordered, len(bordered)) - c

        # A rotor in series with its spring is eliminated from K: its own root is counted here
        for segment in fine.segments:
            for release in segment.releases:
                if release.series and mpf(release.stiffness) < z * mpf(release.inertia):
                    count += 1
        return count


def _assembled(s: Structure, z: Any) -> tuple[Rows, Rows]:
    """K over (releases, deformations) segment by segment, and the closures' rows on them."""
    N = sum(len(p.releases) + int(p.beam.active().sum()) for p in s.segments)
    K = [[mpf(0)] * N for _ in range(N)]
    ends: list[Rows] = []
    forms: dict[tuple[int, Any], Rows] = {}  # of equal pieces
    at = 0
    for i, part in enumerate(s.segments):
        L = mpf(float(s.L[0, i]))
        root = [[mpf(0)] * N for _ in range(6)]
        if part.parent >= 0:
            root = _sparse(_mp(s.T[0, i]), ends[part.parent])
        for k, release in enumerate(part.releases):
            for row, value in enumerate(release.toward(0)):
                root[row][at + k] += mpf(float(value))
            K[at + k][at + k] += _drive(release, z)
        at += len(part.releases)
        end = [list(row) for row in root]
        end[1] = [a + L * b for a, b in zip(root[1], root[5], strict=True)]
        end[2] = [a - L * b for a, b in zip(root[2], root[4], strict=True)]
        for j, is_allowed in enumerate(part.beam.active()):
            if is_allowed:
                end[j][at] += 1
                at += 1
        key = (id(part.beam), L)
        if key not in forms:
            forms[key] = _stiffness(part.beam, L, z)
        _add(K, forms[key], [*root, *end])
        _add(K, _scaled(s.root_mass[0, i], -z), root)
        _add(K, _scaled(part.tip_mass, -z), end)
        ends.append(end)
    rows: Rows = []
    for closure in s.closures:
        for rows_a, rows_b in zip(closure.rows_a[0], closure.rows_b[0], strict=True):
            row = [mpf(0)] * N
            for segment, on_motion in ((closure.a, rows_a), (closure.b, rows_b)):
                if segment < 0:
                    continue
                for factor, motion in zip(map(float, on_motion), ends[segment], strict=True):
                    if factor:
                        row = [a + mpf(factor) * b for a, b in zip(row, motion, strict=True)]
            rows.append(row)
    return K, rows


def _drive(release: Any, z: Any) -> Any:
    """Dynamic stiffness of a release: spring and rotor side by side or in series."""
    k = mpf(float(release.stiffness))
    J = mpf(float(release.inertia))
    if release.series:
        return -k * z * J / (k - z * J)
    return k - z * J


def _stiffness(beam: Any, L: Any, z: Any) -> Rows:
    """(12, 12) over the motions of root and end: forces from the transfer matrix [[A, B], [C, D]].

    A deformation that is excluded has no flexibility: its row of B is empty, and only the others
    are solved for; the rest of the force is the inertia, which is then on the common motion.
    """
    T = _transfer(beam, L, z)
    A = [row[:6] for row in T[:6]]
    B = [row[6:] for row in T[:6]]
    C = [row[:6] for row in T[6:]]
    D = [row[6:] for row in T[6:]]
    free = [j for j in range(6) if beam.active()[j]]
    excluded = [j for j in range(6) if j not in free]

    # Force at the root over (u_root, u_end): f0 = B^-1 (u_end - A u_root) on the free deformations
    root_force = [[mpf(0)] * 12 for _ in range(6)]
    if free:
        right = []
        for i in free:
            identity_row = [mpf(int(i == j)) for j in range(6)]
            right.append([-A[i][j] for j in range(6)] + identity_row)
        B_free = mp.matrix([[B[i][j] for j in free] for i in free])
        solved = B_free**-1 * mp.matrix(right)
        for a, i in enumerate(free):
            root_force[i] = [solved[a, j] for j in range(12)]

    # Force at the end: C u_root + D f0
    K = [[mpf(0)] * 12 for _ in range(12)]
    for i in range(6):
        for j in range(12):
            from_root = C[i][j] if j < 6 else mpf(0)
            K[i][j] = -root_force[i][j]
            K[6 + i][j] = from_root + mp.fsum(D[i][k] * root_force[k][j] for k in free)
    if excluded:
        _hold(K, beam, L, z, excluded)
    return [[(K[i][j] + K[j][i]) / 2 for j in range(12)] for i in range(12)]


def _hold(K: Rows, beam: Any, L: Any, z: Any, excluded: list[int]) -> None:
    """Excluded deformations: rigid inertia of that motion on the root, nothing at the end."""
    m = mpf(float(beam.m))
    rI = [mpf(float(x)) for x in beam.rI]
    for j in excluded:
        for k in range(12):
            K[j][k] = mpf(0)
            K[k][j] = mpf(0)
            K[6 + j][k] = mpf(0)
            K[k][6 + j] = mpf(0)
    if 0 in excluded:
        K[0][0] = -z * m * L
    if 3 in excluded:
        K[3][3] = -z * mpf(float(beam.rIp)) * L
    for v, psi, sign, r in ((1, 5, 1, rI[0]), (2, 4, -1, rI[1])):
        if v in excluded:
            K[v][v] = -z * m * L
            K[v][psi] = -sign * z * m * L * L / 2
            K[psi][v] = K[v][psi]
            K[psi][psi] = -z * L * (m * L * L / 3 + r)


def _transfer(beam: Any, L: Any, z: Any) -> Rows:
    """exp(A L), block by block; y = (motion, resultants), as `beams.dynamic_stiffness`."""
    A = [[mpf(0)] * 12 for _ in range(12)]

    def compliance(stiffness: float) -> Any:
        return mpf(0) if stiffness == float("inf") else 1 / mpf(float(stiffness))

    # Compliances
    A[0][6] = compliance(beam.EA)
    A[1][7] = compliance(beam.kGA[0])
    A[2][8] = compliance(beam.kGA[1])
    A[3][9] = compliance(beam.GJ)
    A[4][10] = compliance(beam.EI[1])
    A[5][11] = compliance(beam.EI[0])
    # Rotations move the axis, shear forces bend
    A[1][5] = mpf(1)
    A[2][4] = mpf(-1)
    A[10][8] = mpf(1)
    A[11][7] = mpf(-1)
    # Inertia
    for axis in range(3):
        A[6 + axis][axis] = -z * mpf(float(beam.m))
    A[9][3] = -z * mpf(float(beam.rIp))
    A[10][4] = -z * mpf(float(beam.rI[1]))
    A[11][5] = -z * mpf(float(beam.rI[0]))

    total = [[mpf(0)] * 12 for _ in range(12)]
    for block in BLOCKS:
        part = _exponential([[A[i][j] * L for j in block] for i in block])
        for i, row in zip(block, part, strict=True):
            for j, value in zip(block, row, strict=True):
                total[i][j] = value
    return total


def _exponential(A: Rows) -> Rows:
    """The power series of exp(A), until a term no longer counts in any entry."""
    n = len(A)
    total = [[mpf(int(i == j)) for j in range(n)] for i in range(n)]
    term = [list(row) for row in total]
    small = mpf(10) ** (-mp.dps - 5)
    for k in range(1, 400):
        term = [[x / k for x in row] for row in _sparse(A, term)]
        is_negligible = True
        for term_row, total_row in zip(term, total, strict=True):
            for j, value in enumerate(term_row):
                total_row[j] += value
                if abs(value) > small * (abs(total_row[j]) + small):
                    is_negligible = False
        if is_negligible:
            break
    return total


def _sparse(A: Rows, B: Rows) -> Rows:
    """A B, where most entries of A are zero."""
    product = []
    for row in A:
        terms = [(a, B[k]) for k, a in enumerate(row) if a]
        product.append([mp.fsum(a * b[j] for a, b in terms) for j in range(len(B[0]))])
    return product


def _mp(A: Any) -> Rows:
    return [[mpf(float(x)) for x in row] for row in A]


def _scaled(A: Any, z: Any) -> Rows:
    return [[z * mpf(float(x)) for x in row] for row in A]


def _add(K: Rows, form: Rows, motion: Rows) -> None:
    """K += motion' form motion."""
    used = [k for k in range(len(K)) if any(row[k] for row in motion)]
    forces = _sparse(form, [[row[k] for k in used] for row in motion])
    for i in used:
        moved = [r for r in range(len(motion)) if motion[r][i]]
        for b, j in enumerate(used):
            K[i][j] += mp.fsum(motion[r][i] * forces[r][b] for r in moved)


def _negatives(A: Rows, n: int) -> int:
    """Negative pivots of a symmetric matrix, the largest diagonal entry first, or pairs."""
    remaining = list(range(n))
    count = 0
    while remaining:
        scale = {i: max(abs(A[i][j]) for j in remaining) for i in remaining}
        nonzero = [i for i in remaining if scale[i] > 0]
        if not nonzero:
            break
        i = max(nonzero, key=lambda i: abs(A[i][i]) / scale[i])
        if abs(A[i][i]) > scale[i] * mpf(10) ** (-mp.dps // 2):
            count += A[i][i] < 0
            remaining.remove(i)
            for row in remaining:
                factor = A[row][i] / A[i][i]
                if factor:
                    for column in remaining:
                        A[row][column] -= factor * A[i][column]
            continue

        # A pair of rows with zero diagonals: one of its two pivots is negative
        j = max((j for j in remaining if j != i), key=lambda j: abs(A[i][j]))
        a = A[i][i]
        b = A[i][j]
        e = A[j][j]
        determinant = a * e - b * b
        count += 1
        remaining = [k for k in remaining if k not in (i, j)]
        for row in remaining:
            x = A[row][i]
            y = A[row][j]
            first_factor = (e * x - b * y) / determinant
            second_factor = (a * y - b * x) / determinant
            for column in remaining:
                A[row][column] -= first_factor * A[i][column] + second_factor * A[j][column]
    return count
