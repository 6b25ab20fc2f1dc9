"""Vectors and matrices over any scalars: floats, CasADi SX, SymPy.

Nested lists of scalars. A float zero or one is structural, so it is never multiplied or added:
a planar arm in the spatial equations costs what a planar program costs.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

Scalar = Any
Vector = list[Scalar]
Matrix = list[Vector]


def apply_operator(operation: Callable[[Any, Any], Any], a: Scalar, b: Scalar) -> Scalar:
    """a + b, a - b or a b of scalars of any kind, by the operator of that name.

    Those of CasADi's classes try every kind of matrix first, which takes ten times as long as the
    one function that they end in.
    """
    if hasattr(a, "element_hash") or hasattr(b, "element_hash"):
        binary, codes = _codes()
        return binary(codes[operation], a, b)
    return operation(a, b)


@cache
def _codes() -> tuple[Any, dict[Any, int]]:
    import casadi as ca

    codes = {operator.add: ca.OP_ADD, operator.sub: ca.OP_SUB, operator.mul: ca.OP_MUL}
    return ca.SX.binary, codes


def _is(a: Scalar, value: float) -> bool:
    return isinstance(a, float) and a == value


def is_constant(a: Any, value: Any) -> bool:
    """Whether a scalar, vector or matrix is this constant as a matter of structure."""
    if isinstance(a, list):
        return len(a) == len(value) and all(map(is_constant, a, value))
    return _is(a, value)


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a b."""
    if isinstance(b, float):
        if b == 0.0 or _is(a, 0.0):
            return 0.0
        if b == 1.0:
            return a
        if b == -1.0:
            return -a
        if isinstance(a, float):
            return a * b
    if isinstance(a, float):
        if a in {0.0, 1.0}:
            return b if a else a
        if a == -1.0:
            return -b
    return apply_operator(operator.mul, a, b)


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b, constants gathered."""
    if isinstance(a, float):
        if a == 0.0:
            return b
        if isinstance(b, float):
            return a + b
    if _is(b, 0.0):
        return a
    # a = c + x, b = d + y with constants c and d; x or y is None where there is only a constant
    c, x = _split_constant(a)
    d, y = _split_constant(b)
    if not (c or d):
        return apply_operator(operator.add, a, b)
    if x is None:
        variable = y
    elif y is None:
        variable = x
    else:
        variable = apply_operator(operator.add, x, y)
    if c + d == 0.0:
        return variable
    return apply_operator(operator.add, c + d, variable)


def sub(a: Scalar, b: Scalar) -> Scalar:
    """a - b, constants gathered."""
    if _is(b, 0.0):
        return a
    if _is(a, 0.0):
        return -b
    # As in `add`
    c, x = _split_constant(a)
    d, y = _split_constant(b)
    if not (c or d) or (x is None and y is None):
        return apply_operator(operator.sub, a, b)
    if x is None:
        variable = -y
    elif y is None:
        variable = x
    else:
        variable = apply_operator(operator.sub, x, y)
    if c - d == 0.0:
        return variable
    return apply_operator(operator.add, c - d, variable)


def _split_constant(a: Scalar) -> tuple[float, Any]:
    """A constant and what is added to it: (a, None) for floats, (c, x) for a CasADi c + x."""
    if isinstance(a, float):
        return a, None
    if hasattr(a, "element_hash") and not a.is_leaf():
        import casadi as ca

        if a.op() != ca.OP_ADD:
            return 0.0, a
        first = a.dep(0)
        second = a.dep(1)
        if first.is_constant():
            return float(first), second
        if second.is_constant():
            return float(second), first
    return 0.0, a


def total(values: Sequence[Scalar]) -> Scalar:
    """Sum of scalars."""
    out: Scalar = 0.0
    for value in values:
        out = add(out, value)
    return out


def _function(name: str, a: Scalar) -> Scalar:
    """Sine, cosine or hyperbolic tangent of a scalar, by its name."""
    if isinstance(a, int | float):
        return float(getattr(math, name)(a))
    if isinstance(a, np.ndarray):
        return getattr(np, name)(a)
    if hasattr(a, name):
        return getattr(a, name)()
    import sympy

    return getattr(sympy, name)(a)


sin = partial(_function, "sin")
cos = partial(_function, "cos")
tanh = partial(_function, "tanh")


def dot(a: Vector, b: Vector) -> Scalar:
    """a . b."""
    out: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        # most are structural zeros: tested here, without the cost of a call
        if not ((type(x) is float and x == 0.0) or (type(y) is float and y == 0.0)):
            out = add(out, mul(x, y))
    return out


def vadd(*vectors: Vector) -> Vector:
    """Sum of vectors."""
    return [total(column) for column in zip(*vectors, strict=True)]


def combine(A: Matrix, B: Matrix) -> Matrix:
    """A + B."""
    return [vadd(a, b) for a, b in zip(A, B, strict=True)]


def negate(a: Vector) -> Vector:
    """-a."""
    return [mul(-1.0, x) for x in a]


def scale(s: Scalar, a: Vector) -> Vector:
    """s a."""
    return [mul(s, x) for x in a]


def cross(a: Vector, b: Vector) -> Vector:
    """a x b."""
    return [
        sub(mul(a[1], b[2]), mul(a[2], b[1])),
        sub(mul(a[2], b[0]), mul(a[0], b[2])),
        sub(mul(a[0], b[1]), mul(a[1], b[0])),
    ]


def cross_matrix(p: Vector) -> Matrix:
    """[p] with [p] w = p x w."""
    x, y, z = p
    return [[0.0, mul(-1.0, z), y], [z, 0.0, mul(-1.0, x)], [mul(-1.0, y), x, 0.0]]


def identity(n: int) -> Matrix:
    """Unit matrix."""
    return [[1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]


def zeros(rows: int, columns: int) -> Matrix:
    """Matrix of structural zeros."""
    return [[0.0] * columns for _ in range(rows)]


def transpose(A: Matrix) -> Matrix:
    """A'."""
    return [list(column) for column in zip(*A, strict=True)]


def matvec(A: Matrix, b: Vector) -> Vector:
    """A b."""
    return [dot(row, b) for row in A]


def matmul(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    columns = transpose(B)
    return [[dot(row, column) for column in columns] for row in A]


def congruence(T: Matrix, S: Matrix) -> Matrix:
    """T' S T for a symmetric S; only one triangle is computed."""
    columns = transpose(T)
    S_columns = transpose(matmul(S, T))
    n = len(columns)

    # Entries that cost a multiplication: of two columns the cheaper one stands on the left
    cost = [0] * n
    for i, column in enumerate(columns):
        cost[i] = sum(not (_is(x, 0.0) or _is(x, 1.0)) for x in column)

    product = zeros(n, n)
    for i in range(n):
        for j in range(i, n):
            left, right = (i, j) if cost[i] <= cost[j] else (j, i)
            product[i][j] = dot(columns[left], S_columns[right])
            product[j][i] = product[i][j]
    return product


def axis_rotation(axis: Sequence[float], angle: Scalar) -> Matrix:
    """Rot(axis, angle) for a unit axis: a a' + cos (I - a a') + sin [a].

    Written so that a coordinate axis gives the elementary rotation with its zeros and ones.
    """
    s = sin(angle)
    c = cos(angle)
    axis_cross = cross_matrix([float(x) for x in axis])
    rotation = zeros(3, 3)
    for i in range(3):
        for j in range(3):
            outer = float(axis[i] * axis[j])
            identity_minus_outer = (1.0 if i == j else 0.0) - outer
            terms = [outer, mul(c, identity_minus_outer), mul(s, axis_cross[i][j])]
            rotation[i][j] = total(terms)
    return rotation


def mass_about_z(c: Scalar, s: Scalar, M: Matrix) -> Matrix:
    """blockdiag(R, R) M blockdiag(R, R)', R a turn about z, in a third of the multiplications.

    With t = s (a - d) + 2 c b the block [[a, b], [b, d]] becomes
    [[a - s t, c t - b], [c t - b, d + s t]].
    """
    # The blocks of M: translation, rotation and their coupling
    R = [[c, mul(-1.0, s), 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
    translation = [row[:3] for row in M[:3]]
    rotation = [row[3:] for row in M[3:]]
    coupling = [row[3:] for row in M[:3]]
    if not is_constant(coupling, zeros(3, 3)):
        coupling = matmul(matmul(R, coupling), transpose(R))
    translation = _tensor_about_z(c, s, translation)
    rotation = _tensor_about_z(c, s, rotation)

    upper_rows = [translation[i] + coupling[i] for i in range(3)]
    coupling_transposed = transpose(coupling)
    lower_rows = [coupling_transposed[i] + rotation[i] for i in range(3)]
    return upper_rows + lower_rows


def turned_tensor(R: Matrix, J: Matrix) -> Matrix:
    """R J R' of a symmetric (3, 3) tensor; a turn about z costs less."""
    if is_constant(R[2], [0.0, 0.0, 1.0]):
        return _tensor_about_z(R[0][0], R[1][0], J)
    return congruence(transpose(R), J)


def _tensor_about_z(c: Scalar, s: Scalar, A: Matrix) -> Matrix:
    """R A R' of a symmetric A, R a turn about z; the names are those of `mass_about_z`."""
    a, b, e = A[0]
    _, d, f = A[1]
    t = add(mul(s, sub(a, d)), mul(2.0, mul(c, b)))
    xy = sub(mul(c, t), b)
    xz = sub(mul(c, e), mul(s, f))
    yz = add(mul(s, e), mul(c, f))
    xx = sub(a, mul(s, t))
    yy = add(d, mul(s, t))
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, A[2][2]]]


def ldl(A: Matrix) -> tuple[Matrix, Vector]:
    """Unit lower triangle L and inverses of the pivots of A = L D L'."""
    n = len(A)
    L = identity(n)
    D: Vector = [0.0] * n
    inverse: Vector = [0.0] * n
    for j in range(n):
        eliminated = total([mul(mul(L[j][k], L[j][k]), D[k]) for k in range(j)])
        D[j] = sub(A[j][j], eliminated)
        inverse[j] = 1.0 / D[j]
        for i in range(j + 1, n):
            eliminated = total([mul(mul(L[i][k], L[j][k]), D[k]) for k in range(j)])
            L[i][j] = mul(sub(A[i][j], eliminated), inverse[j])
    return L, inverse


def ldl_half(factors: tuple[Matrix, Vector], b: Vector) -> Vector:
    """y with L y = b, given `ldl(A)`: then x' A^-1 b = sum of x_i y_i / D_i over such halves."""
    L, _ = factors
    y: Vector = []
    for i in range(len(b)):
        y.append(sub(b[i], dot(L[i][:i], y)))
    return y


def ldl_rest(factors: tuple[Matrix, Vector], y: Vector) -> Vector:
    """x with D L' x = y, the other half."""
    L, inverse = factors
    n = len(y)
    x = [mul(inverse[i], y[i]) for i in range(n)]
    for i in reversed(range(n)):
        x[i] = sub(x[i], total([mul(L[k][i], x[k]) for k in range(i + 1, n)]))
    return x


def ldl_solve(factors: tuple[Matrix, Vector], b: Vector) -> Vector:
    """x with A x = b, given `ldl(A)`."""
    return ldl_rest(factors, ldl_half(factors, b))
