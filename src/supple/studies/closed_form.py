"""What do the equations say: a small model's equations of motion as formulas (needs SymPy)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..arguments import checked, switch
from ..equations.chains.chain_equations import Laws, numbers
from ..equations.functions import need_open
from ..equations.model import Model, a_model
from ..equations.named_constants import Named, named_links
from ..errors import SuppleError

__all__ = ["ClosedForm", "closed_form"]

LARGEST = 8


@dataclass(frozen=True)
class ClosedForm:
    """B(q) qdd + h(q, qd) + K q = Q tau as SymPy expressions.

    Attributes:
        B, h: SymPy matrices (N, N) and (N, 1).  q, qd: their symbols.  values: numbers of the
        named constants.  deflection: the model's.
    """

    B: Any
    h: Any
    q: tuple[Any, ...]
    qd: tuple[Any, ...]
    values: dict[str, float]
    deflection: str

    def equations(self) -> list[tuple[str, Any]]:
        """Return (name, expression) of every element of B's upper triangle and of h."""
        n = len(self.q)
        out = [(f"B_{{{i + 1}{j + 1}}}", self.B[i, j]) for i in range(n) for j in range(i, n)]
        return out + [(f"h_{i + 1}", self.h[i]) for i in range(n)]

    def latex(self) -> str:
        """Return one aligned LaTeX block."""
        import sympy

        rows = [f"{name} &= {sympy.latex(value)}" for name, value in self.equations()]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def markdown(self) -> str:
        """Return Markdown: every equation, then a table of the constants."""
        import sympy

        lines = [f"Deflection `{self.deflection}`.", ""]
        lines += [f"$${name} = {sympy.latex(value)}$$" for name, value in self.equations()]
        lines += ["", "| constant | value |", "|---|---|"]
        lines += [
            f"| ${sympy.latex(sympy.Symbol(name))}$ | {value:.6g} |"
            for name, value in self.values.items()
        ]
        return "\n".join(lines) + "\n"


@checked(model=a_model, simplify=switch)
def closed_form(model: Model, simplify: bool = True) -> ClosedForm:
    """Equations of motion of a planar model with few coordinates, as formulas.

    Parameters
    ----------
    model : Model
        Planar model of a few coordinates.
    simplify : bool
        Simplify the formulas, which takes longer.

    Returns
    -------
    ClosedForm
        Mass matrix B and velocity terms h as SymPy expressions.

    Notes
    -----
    B is the Hessian of the kinetic energy (with deflection `paper` truncated to first order in
    eta), and h_i = sum (dB_ij/dq_k - 1/2 dB_jk/dq_i) qd_j qd_k.

    References
    ----------
    [DeLuca1991], Eqs. (26), (32)-(34).

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("de-luca-two-link").with_("links.link2.theory", "rigid")
    >>> model = supple.build(robot, supple.AssumedModes([1, 0]))
    >>> supple.closed_form(model, simplify=False).B.shape
    (3, 3)
    """
    try:
        import sympy
    except ImportError:
        raise SuppleError("closed forms need SymPy: pip install supple[sympy]") from None
    need_open(model.functions, model.robot.name, "a closed form is for trees; use its regressor")
    if model.chain.sliding:
        raise SuppleError(
            "a closed form needs constants, but the integrals of a sliding link depend on its "
            "length; use the functions of the model, or its regressor"
        )
    if model.chain.supports:
        raise SuppleError(
            "a closed form is for robots without bearings and foundation: leave them out"
        )
    n = model.size
    if n > LARGEST:
        raise SuppleError(
            f"{n} coordinates are too many: closed forms are for {LARGEST} or fewer; "
            "use its functions or its regressor instead"
        )
    table = Named(lambda name: sympy.Symbol(name, real=True))
    links: list[Any] = named_links(
        [numbers(link) for link in model.chain.links], table, kinematics=True
    )
    q = sympy.symbols(f"q1:{n + 1}", real=True)
    qd = sympy.symbols(f"qd1:{n + 1}", real=True)
    if model.reading.deflection == "rotation":
        zero = [[0.0] * model.size for _ in range(model.size)]
        B = sympy.Matrix(Laws(model.chain, links, zero, zero).mass(list(q)))
    else:
        paper = model.reading.plug_ins[0]  # that of the deflection
        B = paper.closed_form_mass(model.chain, links, q, qd, model.reading)
    B = B.applyfunc(_tidy) if simplify else B
    v = sympy.Matrix(qd)
    momentum = B * v
    slopes = sympy.Matrix([(v.T * momentum)[0].diff(x) for x in q])
    h = momentum.jacobian(sympy.Matrix(q)) * v - slopes / 2
    h = h.applyfunc(_tidy) if simplify else h
    return ClosedForm(B, h, q, qd, dict(table.values), model.reading.deflection)


def _tidy(value: Any) -> Any:
    """Expand, use sin^2 + cos^2 = 1, and drop the noise of constants like 1.0."""
    import sympy

    value = sympy.expand(sympy.nsimplify(value))
    sines = {f.args[0] for f in value.atoms(sympy.sin)}
    for angle in sines:
        # sin^n, n >= 2, as a power of 1 - cos^2, with one sine left over when n is odd
        s, c = sympy.sin(angle), sympy.cos(angle)
        value = value.replace(
            lambda e, s=s: e.is_Pow and e.base == s and e.exp.is_integer and e.exp >= 2,
            lambda e, s=s, c=c: (1 - c**2) ** (e.exp // 2) * s ** (e.exp % 2),
        )
        value = sympy.expand(value)
    return value
