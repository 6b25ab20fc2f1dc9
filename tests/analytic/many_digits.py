"""The count of natural frequencies of any Structure in many digits, by another road; tests only.

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
        K, closure = _assembled(fine, mpf(omega) ** 2)
        N, c = len(K), len(closure)
        A = [[*row, *(closure[k][i] for k in range(c))] for i, row in enumerate(K)]
        A += [[*closure[k], *([mpf(0)] * c)] for k in range(c)]
        drives = [r for p in fine.segments for r in p.releases if r.series]
        behind = [mpf(r.stiffness) < mpf(omega) ** 2 * mpf(r.inertia) for r in drives]
        return _negatives(A, N + c) - c + sum(behind)  # a rotor behind its spring is eliminated


def _assembled(s: Structure, z: Any) -> tuple[Rows, Rows]:
    """K over (releases, deformations) segment by segment, and the closures' rows on them."""
    N = sum(len(p.releases) + int(p.beam.active().sum()) for p in s.segments)
    K = [[mpf(0)] * N for _ in range(N)]
    ends: list[Rows] = []
    forms: dict[tuple[int, Any], Rows] = {}  # of pieces alike
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
        for j in [j for j in range(6) if part.beam.active()[j]]:
            end[j][at] += 1
            at += 1
        alike = id(part.beam), L
        if alike not in forms:
            forms[alike] = _stiffness(part.beam, L, z)
        _add(K, forms[alike], [*root, *end])
        _add(K, _scaled(s.root_mass[0, i], -z), root)
        _add(K, _scaled(part.tip_mass, -z), end)
        ends.append(end)
    rows: Rows = []
    for c in s.closures:
        for r in range(c.rows_a.shape[1]):
            row = [mpf(0)] * N
            for segment, tied in ((c.a, c.rows_a[0][r]), (c.b, c.rows_b[0][r])):
                if segment >= 0:
                    for k in range(6):
                        factor = mpf(float(tied[k]))
                        if factor:
                            row = [
                                a + factor * b for a, b in zip(row, ends[segment][k], strict=True)
                            ]
            rows.append(row)
    return K, rows


def _drive(release: Any, z: Any) -> Any:
    k, J = mpf(float(release.stiffness)), mpf(float(release.inertia))
    return -k * z * J / (k - z * J) if release.series else k - z * J


def _stiffness(beam: Any, L: Any, z: Any) -> Rows:
    """(12, 12) over the motions of root and end: forces from the transfer matrix [[A, B], [C, D]].

    A deformation that is excluded has no flexibility: its row of B is empty, and only the others
    are solved for; the rest of the force is the inertia, which is then on the common motion.
    """
    T = _transfer(beam, L, z)
    A, B = [row[:6] for row in T[:6]], [row[6:] for row in T[:6]]
    C, D = [row[:6] for row in T[6:]], [row[6:] for row in T[6:]]
    free = [j for j in range(6) if beam.active()[j]]
    out = [[mpf(0)] * 12 for _ in range(12)]
    # force at the root f0 from u_end = A u0 + B f0 on the free deformations
    solved = [[mpf(0)] * 12 for _ in range(6)]
    if free:
        M = mp.matrix([[B[i][j] for j in free] for i in free])
        rhs = mp.matrix(
            [[-A[i][j] for j in range(6)] + [mpf(int(i == j)) for j in range(6)] for i in free]
        )
        X = M**-1 * rhs
        for a, i in enumerate(free):
            solved[i] = [X[a, j] for j in range(12)]
    end = [
        [
            (C[i][j] if j < 6 else mpf(0)) + mp.fsum(D[i][k] * solved[k][j] for k in free)
            for j in range(12)
        ]
        for i in range(6)
    ]
    for i in range(6):
        for j in range(12):
            out[i][j] = -solved[i][j]
            out[6 + i][j] = end[i][j]
    held = [j for j in range(6) if j not in free]
    if held:
        _hold(out, beam, L, z, held)
    return [[(out[i][j] + out[j][i]) / 2 for j in range(12)] for i in range(12)]


def _hold(out: Rows, beam: Any, L: Any, z: Any, held: list[int]) -> None:
    """Excluded deformations: rigid inertia of that motion on the root, nothing at the end."""
    m, rI = mpf(float(beam.m)), [mpf(float(x)) for x in beam.rI]
    for j in held:
        for k in range(12):
            out[j][k] = out[6 + j][k] = out[k][j] = out[k][6 + j] = mpf(0)
    if 0 in held:
        out[0][0] = -z * m * L
    if 3 in held:
        out[3][3] = -z * mpf(float(beam.rIp)) * L
    for v, p, sign, r in ((1, 5, 1, rI[0]), (2, 4, -1, rI[1])):
        if v in held:
            out[v][v] = -z * m * L
            out[v][p] = out[p][v] = -sign * z * m * L * L / 2
            out[p][p] = -z * L * (m * L * L / 3 + r)


def _transfer(beam: Any, L: Any, z: Any) -> Rows:
    """exp(A L), block by block; y = (motion, resultants), as `beams.dynamic_stiffness`."""
    A = [[mpf(0)] * 12 for _ in range(12)]

    def soft(x: float) -> Any:
        return mpf(0) if x == float("inf") else 1 / mpf(float(x))

    m, rI = mpf(float(beam.m)), [mpf(float(x)) for x in beam.rI]
    A[0][6], A[3][9] = soft(beam.EA), soft(beam.GJ)
    A[1][5], A[1][7] = mpf(1), soft(beam.kGA[0])
    A[2][4], A[2][8] = mpf(-1), soft(beam.kGA[1])
    A[4][10], A[5][11] = soft(beam.EI[1]), soft(beam.EI[0])
    A[6][0] = A[7][1] = A[8][2] = -z * m
    A[9][3] = -z * mpf(float(beam.rIp))
    A[10][8], A[10][4] = mpf(1), -z * rI[1]
    A[11][7], A[11][5] = mpf(-1), -z * rI[0]
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
    term, small = [list(row) for row in total], mpf(10) ** (-mp.dps - 5)
    for k in range(1, 400):
        term = [[x / k for x in row] for row in _sparse(A, term)]
        total = [
            [a + b for a, b in zip(p, q, strict=True)] for p, q in zip(total, term, strict=True)
        ]
        if all(
            abs(x) <= small * (abs(y) + small)
            for p, q in zip(term, total, strict=True)
            for x, y in zip(p, q, strict=True)
        ):
            break
    return total


def _sparse(A: Rows, B: Rows) -> Rows:
    out = []
    for row in A:
        terms = [(a, B[k]) for k, a in enumerate(row) if a]
        out.append([mp.fsum(a * b[j] for a, b in terms) for j in range(len(B[0]))])
    return out


def _mp(A: Any) -> Rows:
    return [[mpf(float(x)) for x in row] for row in A]


def _scaled(A: Any, z: Any) -> Rows:
    return [[z * mpf(float(x)) for x in row] for row in A]


def _add(K: Rows, form: Rows, motion: Rows) -> None:
    """K += motion' form motion."""
    used = [k for k in range(len(K)) if any(row[k] for row in motion)]
    half = _sparse(form, [[row[k] for k in used] for row in motion])
    for i in used:
        for b, j in enumerate(used):
            K[i][j] += mp.fsum(
                motion[r][i] * half[r][b] for r in range(len(motion)) if motion[r][i]
            )


def _negatives(A: Rows, n: int) -> int:
    """Negative pivots of a symmetric matrix, the largest diagonal entry first, or pairs."""
    left, found = list(range(n)), 0
    while left:
        scale = {i: max(abs(A[i][j]) for j in left) for i in left}
        live = [i for i in left if scale[i] > 0]
        if not live:
            break
        i = max(live, key=lambda i: abs(A[i][i]) / scale[i])
        if abs(A[i][i]) > scale[i] * mpf(10) ** (-mp.dps // 2):
            found += A[i][i] < 0
            left.remove(i)
            for r in left:
                g = A[r][i] / A[i][i]
                if g:
                    for c in left:
                        A[r][c] -= g * A[i][c]
            continue
        j = max((j for j in left if j != i), key=lambda j: abs(A[i][j]))
        a, b, e = A[i][i], A[i][j], A[j][j]
        det = a * e - b * b
        found += 1
        left = [k for k in left if k not in (i, j)]
        for r in left:
            x, y = A[r][i], A[r][j]
            g, h = (e * x - b * y) / det, (a * y - b * x) / det
            for c in left:
                A[r][c] -= g * A[i][c] + h * A[j][c]
    return found
