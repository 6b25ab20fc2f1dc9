"""A model's constants by name: links whose numbers are symbols, for regressors and closed forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..kernels.scalars import Matrix, Scalar, transpose
from .chains.link_inertia import LinkNumbers
from .chains.sliders import Slider

__all__ = ["NamedConstants", "named_links"]

AXES = "xyz"
Symbol = Callable[[str], Any]


class NamedConstants:
    """Symbols made so far, each with its value; a number that is zero stays a structural zero.

    Attributes
    ----------
    values
        Name to number.
    symbols
        Name to symbol, in the same order.
    """

    def __init__(self, symbol: Symbol) -> None:
        self._symbol = symbol
        self.values: dict[str, float] = {}
        self.symbols: dict[str, Any] = {}

    def scalar(self, name: str, value: Scalar) -> Scalar:
        """Return the symbol of a number, the same for the same name; zero stays zero."""
        if not isinstance(value, float) or value == 0.0:
            return value
        if name not in self.symbols:
            self.symbols[name] = self._symbol(name)
            self.values[name] = value
        return self.symbols[name]

    def symmetric(self, name: str, M: Matrix) -> Matrix:
        """Return a symmetric matrix's symbols, name_jl with j <= l."""
        n = len(M)
        return [
            [self.scalar(f"{name}{min(j, l) + 1}{max(j, l) + 1}", M[j][l]) for l in range(n)]
            for j in range(n)
        ]

    def rows(self, name: str, M: Matrix) -> Matrix:
        """Return the symbols of a matrix whose rows are x, y and z."""
        return [
            [self.scalar(f"{name}{AXES[a]}{j}", x) for j, x in enumerate(row, 1)]
            for a, row in enumerate(M)
        ]

    def mass(self, name: str, M: Matrix) -> Matrix:
        """Return a (6, 6) mass from its ten parameters: mass, first moments, inertia."""
        m = self.scalar(f"m_{name}", M[0][0])
        cx = self.scalar(f"mc_{name}{AXES[0]}", M[1][5])
        cy = self.scalar(f"mc_{name}{AXES[1]}", M[2][3])
        cz = self.scalar(f"mc_{name}{AXES[2]}", M[0][4])

        inertia: Matrix = []
        for a in range(3):
            row = []
            for b in range(3):
                symbol = f"J_{name}{AXES[min(a, b)]}{AXES[max(a, b)]}"
                row.append(self.scalar(symbol, M[3 + a][3 + b]))
            inertia.append(row)

        # [[m I, S], [S', J]] with S the cross-product matrix of the first moments, transposed
        S = [[0.0, cz, _minus(cy)], [_minus(cz), 0.0, cx], [cy, _minus(cx), 0.0]]
        upper: Matrix = []
        lower: Matrix = []
        for a in range(3):
            diagonal = [0.0, 0.0, 0.0]
            diagonal[a] = m
            column = [S[0][a], S[1][a], S[2][a]]
            upper.append(diagonal + S[a])
            lower.append(column + inertia[a])
        return upper + lower


def _minus(x: Scalar) -> Scalar:
    return x if isinstance(x, float) and x == 0.0 else -x


def named_links(
    links: Sequence[LinkNumbers | Slider], table: NamedConstants, kinematics: bool = False
) -> Any:
    """Return the links with inertial constants as symbols; lengths and end values too if asked.

    Names of link i: m, md, Jo (mass, first and second moment), v (int m N), w (int m x N),
    zab (int m N_a N_b), j (section inertia), m_h, mc_h, J_h (hub), m_t, .. (tip), J_r (rotor).

    Source: [DeLuca1991], Eq. (24), for any arm.
    """
    out: list[LinkNumbers | Slider] = []
    for i, link in enumerate(links, 1):
        if isinstance(link, Slider):
            # Link i, which slides, with its inertia as symbols; numbers of its shapes stay
            mass, *_, about = link.shapes.rod(link.shapes.beam.L)
            named = [
                (f"m{i}", float(mass)),
                *((f"j{i}_{AXES[a]}", float(x)) for a, x in enumerate(about)),
            ]
            factors = tuple(table.scalar(name, x) / x if x else 1.0 for name, x in named)
            fixed = replace(
                link.fixed,
                root_mass=table.mass(f"h{i}", link.fixed.root_mass),
                tip_mass=table.mass(f"t{i}", link.fixed.tip_mass),
                rotor=table.scalar(f"J_r{i}", link.fixed.rotor),
            )
            out.append(replace(link, fixed=fixed, factors=factors))
            continue
        G: list[list[Matrix]] = [[[], [], []] for _ in range(3)]
        for a in range(3):
            G[a][a] = table.symmetric(f"z{AXES[a]}{AXES[a]}{i}_", link.G[a][a])
            for b in range(a + 1, 3):  # the transposed pair has the same symbols
                name = f"z{AXES[a]}{AXES[b]}{i}_"
                G[a][b] = [
                    [table.scalar(f"{name}{j + 1}{l + 1}", x) for l, x in enumerate(row)]
                    for j, row in enumerate(link.G[a][b])
                ]
                G[b][a] = transpose(G[a][b])
        changed = replace(
            link,
            mass=table.scalar(f"m{i}", link.mass),
            first=table.scalar(f"md{i}", link.first),
            second=table.scalar(f"Jo{i}", link.second),
            P=table.rows(f"v{i}_", link.P),
            X=table.rows(f"w{i}_", link.X),
            G=G,
            J=[table.scalar(f"j{i}_{AXES[a]}", x) for a, x in enumerate(link.J)],
            JPsi=table.rows(f"jp{i}_", link.JPsi),
            PsiJPsi=table.symmetric(f"jpp{i}_", link.PsiJPsi),
            root_mass=table.mass(f"h{i}", link.root_mass),
            tip_mass=table.mass(f"t{i}", link.tip_mass),
            rotor=table.scalar(f"J_r{i}", link.rotor),
        )
        if kinematics:
            changed = replace(
                changed,
                length=table.scalar(f"l{i}", link.length),
                N_end=table.rows(f"phi{i}_", link.N_end),
                Psi_end=table.rows(f"psi{i}_", link.Psi_end),
            )
        out.append(changed)
    return out
