"""What do the equations say: a model's equations of motion as formulas, and as code.

Those of a few coordinates are written out (needs SymPy); those of any number as a list of steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..arguments import checked
from ..equations.chains.chain_equations import ChainEquations, numbers
from ..equations.functions import need_open
from ..equations.model import Model
from ..equations.named_constants import NamedConstants, named_links
from ..errors import SuppleError
from .formula_listing import Listing, listing_of

__all__ = ["ClosedForm", "CompactForm", "closed_form"]

LARGEST_WRITTEN_OUT = 8  # coordinates: beyond them single formulas fill pages
Form = Literal["auto", "written out", "steps"]


@dataclass(frozen=True)
class ClosedForm:
    """M(q) qdd + h(q, qd) + K(q) q + g(q) = Q tau as formulas, h = C(q, qd) qd.

    From `supple.closed_form`.

    Attributes
    ----------
    listing
        All of M, h, K, g and C as a list of steps.
    B, h : SymPy matrices or None
        Mass matrix (N, N) and velocity terms (N, 1) with named constants; None as steps.
    K, g, C : SymPy matrices or None
        Stiffness, gravity and the Coriolis matrix by Christoffel symbols, likewise. g is None where
        a paper's reading of a robot with weight is written out.
    q, qd : tuple
        SymPy symbols of coordinates and speeds.
    values : dict
        Numbers of the named constants.
    deflection : str
        Reading of the deflection by the model.
    """

    listing: Listing = field(repr=False)
    deflection: str
    B: Any = None
    h: Any = None
    K: Any = None
    g: Any = None
    C: Any = None
    q: tuple[Any, ...] = ()
    qd: tuple[Any, ...] = ()
    values: dict[str, float] = field(default_factory=dict)

    @property
    def written_out(self) -> bool:
        """Whether there are single formulas with named constants."""
        return self.B is not None

    def equations(self) -> list[tuple[str, Any]]:
        """Return (name, expression) of every element of B's upper triangle and of h."""
        if not self.written_out:
            raise SuppleError(
                "these equations are a list of steps: print latex(), python() or c(), or ask "
                "closed_form(model, form='written out')"
            )
        n = len(self.q)
        out = [(f"B_{{{i + 1}{j + 1}}}", self.B[i, j]) for i in range(n) for j in range(i, n)]
        return out + [(f"h_{i + 1}", self.h[i]) for i in range(n)]

    def compact(self) -> CompactForm:
        """Return the same formulas with one named coefficient for each term of the state.

        As in [DeLuca1991] (32)-(34): B_12 = b_12_1 + b_12_2 cos(q2) + b_12_3 q3 sin(q2) + ..,
        where the coefficients hold all that is constant, and their formulas stand beside.
        """
        equations = self.equations()
        import sympy

        state = (*self.q, *self.qd)
        terms: dict[str, Any] = {}
        formulas: dict[str, Any] = {}
        for name, value in equations:
            # Terms that differ in constants alone belong to one coefficient
            constants: dict[Any, Any] = {}
            for term in sympy.Add.make_args(sympy.expand(value)):
                constant, of_state = term.as_independent(*state, as_Add=False)
                constants[of_state] = constants.get(of_state, 0) + constant
            element = name.replace("{", "").replace("}", "").replace("B_", "b_")
            total = sympy.Integer(0)
            ordered = sorted(constants, key=_order_of_terms)
            for number, of_state in enumerate(ordered, start=1):
                if constants[of_state] == 0:
                    continue
                word = f"{element}_{number}"
                formulas[word] = constants[of_state]
                total += sympy.Symbol(word, real=True) * of_state
            terms[name] = total
        numbers = {sympy.Symbol(word, real=True): value for word, value in self.values.items()}
        values = {word: float(formula.subs(numbers)) for word, formula in formulas.items()}
        return CompactForm(terms, formulas, values)

    def latex(self) -> str:
        """Return one aligned LaTeX block."""
        if not self.written_out:
            return self.listing.latex()
        import sympy

        rows = [f"{name} &= {sympy.latex(value)}" for name, value in self.equations()]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def python(self, name: str = "equations") -> str:
        """Return a Python module with one function ``name(q, qd)`` that gives M, h, K, g, C."""
        return self.listing.python(_identifier(name))

    def c(self, name: str = "equations") -> str:
        """Return C source of one function ``name(q, qd, M, h, K, g, C)``, arrays row by row."""
        return self.listing.c(_identifier(name))

    def markdown(self) -> str:
        """Return Markdown: every equation, then a table of the constants."""
        if not self.written_out:
            return f"Deflection `{self.deflection}`.\n\n$$\n{self.latex()}\n$$\n"
        import sympy

        lines = [f"Deflection `{self.deflection}`.", ""]
        lines += [f"$${name} = {sympy.latex(value)}$$" for name, value in self.equations()]
        lines += ["", "| constant | value |", "|---|---|"]
        lines += [
            f"| ${sympy.latex(sympy.Symbol(name))}$ | {value:.6g} |"
            for name, value in self.values.items()
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class CompactForm:
    """Equations of motion with one named coefficient for each term of the state.

    From `ClosedForm.compact`.

    Attributes
    ----------
    elements : dict
        SymPy formula in the state and the coefficients, by name: `B_{12}`, `h_1`, ..
    coefficients : dict
        SymPy formula of each coefficient in the named constants, by name: `b_12_3`, `h_1_2`, ..
    values : dict
        Numbers of the coefficients.

    References
    ----------
    [DeLuca1991], Eqs. (32)-(34) and its appendix.
    """

    elements: dict[str, Any] = field(repr=False)
    coefficients: dict[str, Any] = field(repr=False)
    values: dict[str, float]

    def latex(self) -> str:
        """Return one aligned LaTeX block: the elements, then the coefficients."""
        import sympy

        rows = [f"{name} &= {sympy.latex(value)}" for name, value in self.elements.items()]
        for name, value in self.coefficients.items():
            rows.append(f"{sympy.latex(sympy.Symbol(name))} &= {sympy.latex(value)}")
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _order_of_terms(of_state: Any) -> tuple[int, bool, str]:
    """Order of the terms of an element: constants, cosines, sines, then what bends or moves."""
    import sympy

    factors = sympy.Mul.make_args(of_state)
    trigonometric = (sympy.sin, sympy.cos)
    degree = 0
    for factor in factors:
        base, power = factor.as_base_exp()
        if base.is_Symbol:
            degree += int(power)
    turned = of_state.has(*trigonometric)
    return degree, turned, str(of_state)


def _identifier(name: str) -> str:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii():
        raise SuppleError(f"name is {name!r}: give a name of letters, digits and underscores")
    return name


@checked
def closed_form(model: Model, simplify: bool = True, form: Form = "auto") -> ClosedForm:
    """Equations of motion of a model as formulas: M, h, K, gravity and the Coriolis matrix.

    Parameters
    ----------
    model : Model
        Arm or tree without loops; its links may slide.
    simplify : bool
        Simplify formulas that are written out, which takes longer.
    form : {"auto", "written out", "steps"}
        Single formulas with named constants, or a list of steps in which shared parts have names.
        Default: written out up to 8 coordinates where no link slides.

    Returns
    -------
    ClosedForm
        With `latex()`, `python()` and `c()`.

    Notes
    -----
    B is the Hessian of the kinetic energy (with deflection `paper` truncated to first order in
    eta), and h_i = sum (dB_ij/dq_k - 1/2 dB_jk/dq_i) qd_j qd_k. h is a quadratic form of the
    speeds, so that the Coriolis matrix by Christoffel symbols is C = 1/2 dh/dqd.

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
    >>> many = supple.build(supple.load("industrial-3"), supple.AssumedModes(3))
    >>> code = supple.closed_form(many).c("arm")
    >>> code.splitlines()[2][:40]
    'void arm(const double *q, const double *'
    """
    need_open(model.functions, model.robot.name, "a closed form is for trees; use its regressor")
    if form == "auto":
        short = model.size <= LARGEST_WRITTEN_OUT
        plain = not (model.chain.sliding or model.chain.supports)
        form = "written out" if short and plain else "steps"
    listing = _listing(model)
    if form == "steps":
        return ClosedForm(listing, model.reading.deflection)
    return _written_out(model, simplify, listing)


def _listing(model: Model) -> Listing:
    """All equations of a Model as steps, from its own functions."""
    import casadi as ca

    n = model.size
    q = ca.SX.sym("q", n)
    qd = ca.SX.sym("qd", n)
    part = model.functions.expression
    M = part("mass_matrix")(q)
    h = ca.densify(part("bias")(q, qd))
    # What follows from free lengths alone is told apart: tables need no slopes then
    lengths = [q[place] for place in model.chain.lengths_at.values()]
    own, names, values = ca.extract_parametric(h, ca.vertcat(*lengths)) if lengths else (h, [], [])
    C = ca.jacobian(own, qd) / 2
    if names:
        C = ca.substitute([C], names, values)[0]
    outputs = {
        "M": M,
        "h": h,
        "K": part("stiffness")(q),
        "g": part("gravity")(q),
        "C": C,
    }
    dense = [ca.densify(value) for value in outputs.values()]
    shared = ca.cse(dense)
    function = ca.Function("equations", [q, qd], shared, ["q", "qd"], list(outputs))
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(outputs, (n, n))
    shapes["h"] = (n,)
    shapes["g"] = (n,)
    return listing_of(function, shapes)


def _written_out(model: Model, simplify: bool, listing: Listing) -> ClosedForm:
    """The equations of a Model as single formulas with named constants."""
    try:
        import sympy
    except ImportError:
        raise SuppleError(
            "formulas that are written out need SymPy: pip install supple[sympy], or ask "
            "form='steps'"
        ) from None
    if model.chain.sliding:
        raise SuppleError(
            "formulas that are written out need constants, but the integrals of a sliding link "
            "depend on its length: ask form='steps'"
        )
    if model.chain.supports:
        raise SuppleError(
            "formulas are written out for robots without bearings and foundation: ask form='steps'"
        )
    n = model.size
    table = NamedConstants(lambda name: sympy.Symbol(name, real=True))
    links: list[Any] = named_links(
        [numbers(link) for link in model.chain.links], table, kinematics=True
    )
    q = sympy.symbols(f"q1:{n + 1}", real=True)
    qd = sympy.symbols(f"qd1:{n + 1}", real=True)
    weightless = not np.any(model.chain.gravity)
    g = sympy.zeros(n, 1) if weightless else None
    if model.reading.deflection == "rotation":
        zero = [[0.0] * model.size for _ in range(model.size)]
        laws = ChainEquations(model.chain, links, zero, zero)
        B = sympy.Matrix(laws.mass(list(q)))
        if not weightless:
            zeros = [0.0] * n
            g = sympy.Matrix(laws.inverse(list(q), zeros, zeros, True))
    else:
        paper = model.reading.plug_ins[0]  # that of the deflection
        B = paper.closed_form_mass(model.chain, links, q, qd, model.reading)
    B = B.applyfunc(_tidy) if simplify else B
    v = sympy.Matrix(qd)
    momentum = B * v
    slopes = sympy.Matrix([(v.T * momentum)[0].diff(x) for x in q])
    h = momentum.jacobian(sympy.Matrix(q)) * v - slopes / 2
    h = h.applyfunc(_tidy) if simplify else h
    C = h.jacobian(v) / 2
    K = sympy.zeros(n, n)
    for i, j in zip(*np.nonzero(model.stiffness), strict=True):
        low, high = sorted((int(i) + 1, int(j) + 1))
        name = f"k_{low}_{high}"
        table.values[name] = float(model.stiffness[i, j])
        K[int(i), int(j)] = sympy.Symbol(name, real=True)
    return ClosedForm(
        listing,
        model.reading.deflection,
        B,
        h,
        K,
        g,
        C,
        tuple(q),
        tuple(qd),
        dict(table.values),
    )


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
