"""[DeLuca1991] recomputed: section VII, the coefficients of the Appendix, Figs. 2-10.

The closed form (32)-(35) is not typed in. The paper's own list of factors (what each coefficient
multiplies) is fitted to our model of deflection `paper` at random states: the fit leaves nothing
over, so the form is complete, and every coefficient so found stands beside its printed formula.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import files
from ..beams.basis import AssumedModes
from ..beams.theory import uniform_of
from ..equations.build import build
from ..equations.damping import StiffnessRoot
from ..equations.model import Model
from ..integration.inputs import BangBang
from ..robot import SerialRobot
from ..studies.motion.response import Response
from ..studies.motion.simulate import simulate
from .cells import (
    Cell,
    Claim,
    Measure,
    Reproduction,
    Verdict,
    Window,
    about,
    as_printed,
    gap,
    printed_numbers,
    right_number,
)

__all__ = ["SOURCE", "arm", "arm_model", "closed_form", "coefficients", "reproduction", "scenario"]

Array = NDArray[np.float64]
SOURCE = "[DeLuca1991]"
NOTES = (
    "M_L1 = 1.2 kg, J_L1 = 0.133833 kg m^2, (MD)_1 = 0; J_o = m l^2 / 3 exactly",
    "shapes are normalised with their end terms, which (27a) and (30) lack, and v_ij > 0",
    "E_i of (1) stretches: (12a) is E'E = (1 + y'^2) I; every element of B is cut to first order",
    "(24g) needs second derivatives; (27b) has (MD), not half; in (34b) c_2 multiplies the brace",
    "bang-bang: 0.2 N m for 0.5 s, -0.2 N m for 0.5 s, then zero (no switching time is printed)",
    "ends of Figs. 5-10: not printed; ours stand beside an independent recomputation",
)
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """Return the value of a formula of sums and products, in any scalars."""

    def value(node: Any) -> Any:
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        return names[node.id] if isinstance(node, ast.Name) else node.value

    return value(ast.parse(text, mode="eval").body)


def arm(payload: float = 1.0) -> SerialRobot:
    """Return the paper's arm with a payload times the nominal one."""
    robot = files.load("de-luca-two-link")
    assert isinstance(robot, SerialRobot)
    if payload == 1.0:
        return robot
    assert robot.payload is not None
    mass = robot.payload.mass
    inertia = robot.payload.inertia[0]
    return robot.with_({"payload.mass": payload * mass, "payload.inertia": payload * inertia})


@cache
def arm_model(damped: bool = False) -> Model:
    """Return the paper's model, two modes per link, deflection `paper`."""
    damping = StiffnessRoot(0.1) if damped else None
    return build(arm(), AssumedModes(2), deflection="paper", damping=damping)


def parameters(model: Model) -> dict[str, float]:
    """Return the constants of the Appendix: masses, lengths, f = phi_e, g = phi'_e, v, w."""
    first, second = (link.inv for link in model.chain.links)
    hub = model.chain.links[1].root_mass
    tip = model.chain.links[1].tip_mass
    out = {
        "m1": first.mass,
        "m2": second.mass,
        "l1": first.length,
        "l2": second.length,
        "d2": second.first / second.mass,
        "Jo1": first.second,
        "Jo2": second.second,
        "Jh1": model.chain.links[0].root_mass[5, 5],
        "mh2": hub[0, 0],
        "Jh2": hub[5, 5],
        "mp": tip[0, 0],
        "Jp": tip[5, 5],
    }
    for i, inv in enumerate((first, second), 1):
        for j in range(2):
            out[f"f{i}{j + 1}"], out[f"g{i}{j + 1}"] = inv.N_end[1, j], inv.Psi_end[2, j]
            out[f"v{i}{j + 1}"], out[f"w{i}{j + 1}"] = inv.P[1, j], inv.X[1, j]
    return {name: float(value) for name, value in out.items()}


def _factor_names(q: Any, qd: Any, t: Mapping[str, Any], sin: Any, cos: Any) -> dict[str, Any]:
    """What the factors are made of: c2, s2, deltas, rates and t1, t2, t3 of (33)."""
    d = {"d11": q[2], "d12": q[3], "d21": q[4], "d22": q[5]}
    rates = {"T1": qd[0], "T2": qd[1], "D11": qd[2], "D12": qd[3], "D21": qd[4], "D22": qd[5]}
    return (
        d
        | rates
        | {
            "c2": cos(q[1]),
            "s2": sin(q[1]),
            "t1": t["t11"] * q[2] + t["t12"] * q[3],
            "t2": t["t21"] * q[4] + t["t22"] * q[5],
            "t3": t["t31"] * q[2] + t["t32"] * q[3],
        }
    )


def coefficients(model: Model) -> tuple[dict[str, float], float]:
    """Return every b and h of the closed form, found in our model, and what the fit leaves over."""
    data = printed_numbers("de-luca")
    rng = np.random.default_rng(1991)
    q, qd = rng.normal(size=(2, 400, 6))
    values = parameters(model)
    t = {name: evaluate(text, values) for name, text in data["t"].items()}
    names = _factor_names(q.T, qd.T, t, np.sin, np.cos)
    M = model.mass_matrix(q)
    h = model.bias(q, qd)
    out: dict[str, float] = {}
    worst = 0.0
    for row in sorted({name[:3] if name[0] == "b" else name[:2] for name in data["coefficients"]}):
        mine = [name for name in data["coefficients"] if name.startswith(row)]
        basis = [evaluate(data["coefficients"][name][1], names) * np.ones(400) for name in mine]
        target = M[:, int(row[1]) - 1, int(row[2]) - 1] if row[0] == "b" else h[:, int(row[1]) - 1]
        columns = np.array(basis).T
        scale = np.abs(columns).max(axis=0)
        found, *_ = np.linalg.lstsq(columns / scale, target, rcond=None)
        rest = float(np.abs(columns / scale @ found - target).max())
        found = found / scale
        worst = max(worst, rest / float(np.abs(M if row[0] == "b" else h).max()))
        out.update(zip(mine, found.tolist(), strict=True))
    return out, worst


def closed_form(model: Model, as_printed: bool = False) -> Any:
    """Return (B, h) of (32)-(34) as a CasADi function of q, qd; corrected, or as printed."""
    import casadi as ca

    data = printed_numbers("de-luca")
    values = parameters(model)
    q = ca.SX.sym("q", 6)
    qd = ca.SX.sym("qd", 6)
    t = {name: evaluate(text, values) for name, text in data["t"].items()}
    names = _factor_names(ca.vertsplit(q), ca.vertsplit(qd), t, ca.sin, ca.cos)
    B = ca.SX.zeros(6, 6)
    h = ca.SX.zeros(6)
    for name, (formula, factor) in data["coefficients"].items():
        text = formula if as_printed else data["corrected"].get(name, formula)
        term = evaluate(text, values) * evaluate(factor, names)
        if name[0] == "b":
            i = int(name[1]) - 1
            j = int(name[2]) - 1
            B[i, j] += term
            if i != j:
                B[j, i] += term
        else:
            h[int(name[1]) - 1] += term
    return ca.Function("closed_form", [q, qd], [B, h])


@cache
def scenario(figure: str, method: str = "adams") -> Response:
    """Return the run of one of Figs. 5-10, 2 s: by CVODES at 1e-13, or by rk4 at 1 ms."""
    case = printed_numbers("de-luca")["scenarios"][figure]
    tau = BangBang(0.2) if case["forced"] else None
    model = arm_model(case["damped"])
    return simulate(model, tau=tau, q0=case["start"], duration=2.0, method=method, tolerance=1e-13)


def reproduction() -> Reproduction:
    """Return the paper recomputed: 20 numbers, all coefficients, the six scenarios, its claims."""
    runs: dict[str, Any] = {
        figure: scenario(figure) for figure in printed_numbers("de-luca")["scenarios"]
    }
    # Models of Figs. 2-4, for their mode shapes
    payloads = {
        "Fig. 2, no payload": 0.0,
        "Fig. 3, nominal payload": 1.0,
        "Fig. 4, double payload": 2.0,
    }
    shapes = {name: build(arm(k), AssumedModes(2)) for name, k in payloads.items()}
    return Reproduction(
        "de-luca",
        SOURCE,
        tuple(_cells()),
        (
            _closed_form_claim(),
            _energy_claim(),
            _printed_energy_claim(),
            _node_claim(),
            _payload_claim(),
            *_coupling_claims(),
            _bias_claim(),
        ),
        NOTES,
        shapes | runs,
    )


def _cells() -> Iterator[Cell]:
    model = arm_model()
    data = printed_numbers("de-luca")
    values = parameters(model)
    K = np.diag(model.stiffness)[2:]
    letters = {"phi_e": "f", "phi_prime_e": "g", "v": "v", "w": "w"}
    for column, entries in data["numbers"].items():
        for k, (index, text) in enumerate(entries.items()):
            mass = values[f"m{index[0]}"]
            ours = (
                np.sqrt(K[k] / mass) / (2 * np.pi)
                if column == "f_hz"
                else values[letters[column] + index]
            )
            place = ("Section VII", "nominal", column, int(index))
            yield Cell(*place, text, float(ours), (as_printed(text),))
    # Printed formulas against what our model has: right, or misprinted in the foreseen way
    found, _ = coefficients(model)
    for name, (formula, _) in data["coefficients"].items():
        windows = [_equal("agrees", evaluate(formula, values))]
        if name in data["corrected"]:
            windows.append(_equal("misprint", evaluate(data["corrected"][name], values)))
        expected: Verdict = "misprint" if name in data["misprints"] else "agrees"
        why = data["misprints"].get(name, "")
        place = ("Appendix", "coefficient", name[0], int(name[1:]))
        yield Cell(*place, formula, found[name], tuple(windows), expected, why)
    for figure, case in data["scenarios"].items():
        end = scenario(figure).theta[-1]
        for j, text in enumerate(case["theta"]):
            place = (figure, "end of 2 s", "theta", j + 1)
            window = (as_printed(text),)
            yield Cell(*place, text, float(end[j]), window, origin="recomputed")


def _equal(verdict: Verdict, value: float) -> Window:
    """The window of a formula's value: 1e-9 of it, the fit's rounding."""
    allowed = 1e-9 * max(abs(value), 1e-3)
    return Window(verdict, value - allowed, value + allowed)


def _closed_form_claim() -> Claim:
    _, rest = coefficients(arm_model())
    sentence = f"they fit our model at 400 random states to {rest:.1e}"
    measure = gap("what the fit leaves over", rest, 1e-10, "complete: rounding only", "paper")
    return Claim("(32)-(34)", "the listed terms make up B and h", sentence, (measure,))


def _energy_claim() -> Claim:
    drifts = []
    for figure in ("Fig. 5", "Fig. 6"):
        energy = scenario(figure).energy
        drifts.append(float(np.abs(energy / energy[0] - 1).max()))
    drift = max(drifts)
    measure = gap("drift of energy", drift, 1e-10, "nothing drives or damps it", "paper")
    return Claim("Figs. 5, 6", "free, undamped", f"energy is kept to {drift:.0e}", (measure,))


def _printed_energy_claim() -> Claim:
    """Fig. 6 with h as printed: its energy, though nothing drives or damps the arm."""
    drift, corrected = (_form_drift(as_printed) for as_printed in (True, False))
    measures = (
        gap("energy lost or won with h as printed", drift, 1e-6, "free, undamped", "paper"),
        gap("the same with h corrected", corrected, 1e-6, "free, undamped", "corrected"),
        about(
            "with h as printed, percent",
            100 * drift,
            right_number("DeLuca1991", "energy")[0],
            "second derivation (errata)",
        ),
    )
    sentence = f"energy goes wrong by {100 * drift:.0f} %, with h corrected by {corrected:.0e}"
    return Claim(
        "Fig. 6", "h as printed", sentence, measures, "misprint", "the five misprints of h"
    )


def _form_drift(as_printed: bool) -> float:
    """Largest relative change of energy in Fig. 6 by the closed form."""
    model = arm_model()
    states = _form_states("Fig. 6", as_printed)
    energy = model.energy(states[:, :6], states[:, 6:])
    return float(np.abs(energy / energy[0] - 1).max())


def _form_states(figure: str, as_printed: bool) -> Array:
    """States (2001, 12) of an undamped figure every millisecond, by the closed form and CVODES."""
    import casadi as ca

    model = arm_model()
    form = closed_form(model, as_printed)
    x = ca.SX.sym("x", 12)
    B, h = form(x[:6], x[6:])
    rate = ca.vertcat(x[6:], ca.solve(B, -h - ca.DM(np.array(model.stiffness)) @ x[:6]))
    problem = {"x": x, "ode": rate}
    options = {"reltol": 1e-10, "abstol": 1e-12}
    run = ca.integrator(
        "run", "cvodes", problem, 0.0, np.linspace(0.001, 2, 2000).tolist(), options
    )
    start = np.concatenate([printed_numbers("de-luca")["scenarios"][figure]["start"], np.zeros(6)])
    return np.vstack([start, np.array(run(x0=start)["xf"]).T])


def node(model: Model) -> float | None:
    """Return the place of the node of phi_22 as a fraction of link 2, None when there is none."""
    shapes = model.chain.links[1].shapes
    assert shapes is not None
    x = np.linspace(0.02, 1.0, 2001)
    value = shapes.at(x * model.chain.links[1].inv.length)[:, 1, 1]
    change = np.flatnonzero(np.diff(np.sign(value)) != 0)
    return float(x[change[-1]]) if len(change) else None


def clamped_node(payload: float) -> float | None:
    """Return the same by hand, from the frequency equation of a clamped beam with a tip body.

    phi = ch - c - sigma (sh - s) of x beta l; the moment J_L omega^2 phi' at the end gives sigma,
    its shear -M_L omega^2 phi the equation for beta l [DeLuca1991, (22)].
    """
    # M_L / (rho l), J_L / (rho l^3)
    m = payload * 0.1 / 0.1
    j = payload * 0.0005 / (0.1 * 0.25)

    def shape(b: Array, x: Array) -> tuple[Array, Array]:
        s = np.sin(b)
        c = np.cos(b)
        sh = np.sinh(b)
        ch = np.cosh(b)
        sigma = (ch + c - j * b**3 * (sh + s)) / (sh + s - j * b**3 * (ch - c))
        y = b * x
        phi = np.cosh(y) - np.cos(y) - sigma * (np.sinh(y) - np.sin(y))
        shear = np.sinh(y) - np.sin(y) - sigma * (np.cosh(y) + np.cos(y))
        return phi, shear + m * b * phi

    grid = np.linspace(0.5, 8.0, 30001)
    x = np.linspace(0.02, 1.0, 4001)
    ends = shape(grid, np.ones(1))[1]
    # of the changes of sign the second root; sigma's pole between them jumps
    low = np.flatnonzero((np.diff(np.sign(ends)) != 0) & (np.abs(np.diff(ends)) < 1e2))[1]
    b = grid[low] - ends[low] * (grid[low + 1] - grid[low]) / (ends[low + 1] - ends[low])
    phi = shape(b, x)[0]
    change = np.flatnonzero(np.diff(np.sign(phi)) != 0)
    return float(x[change[-1]]) if len(change) else None


def _node_claim() -> Claim:
    payloads = (0.0, 1.0, 2.0, 4.0, 8.0)
    places = [node(build(arm(k), AssumedModes(2))) for k in payloads]
    sentence = ", ".join(
        f"x{k:g}: {'none' if p is None else f'{p:.3f} l'}"
        for k, p in zip(payloads, places, strict=True)
    )
    # beyond the end is written as 2 l; both grids leave 1e-3 of the link
    by_hand = [clamped_node(k) or 2.0 for k in payloads]
    origin = "frequency equation of a clamped beam, by hand"
    measures = [
        Measure(
            f"node at payload x{k:g}, parts of l",
            place or 2.0,
            known - 1e-3,
            known + 1e-3,
            origin=origin,
        )
        for k, place, known in zip(payloads, places, by_hand, strict=True)
    ]
    nodes = [place or 2.0 for place in places]
    steps = float(np.diff(nodes).min())
    gone = sum(place is None for place in places)
    measures += [
        Measure("least step of the node, parts of l", steps, 0.0, 2.0, "paper", "moves rightwards"),
        Measure("payloads without a node", gone, 1, len(places) - 1, "paper", "disappears"),
    ]
    return Claim(
        "Figs. 2-4",
        "the node of phi_22 moves outwards with the payload and vanishes",
        sentence,
        tuple(measures),
    )


def _shape_change(payloads: tuple[float, float]) -> list[float]:
    """Largest change of a link's two shapes between payloads, parts of their largest value, (2,).

    Shapes are scaled to a largest value of one, since only their form is compared.
    """
    x = np.linspace(0.0, 1.0, 401)
    changes = []
    for link in range(2):
        forms = []
        for payload in payloads:
            part = build(arm(payload), AssumedModes(2)).chain.links[link]
            assert part.shapes is not None
            values = part.shapes.at(x * part.inv.length)[:, 1]
            forms.append(values / np.abs(values).max(axis=0))
        changes.append(float(np.abs(forms[0] - forms[1]).max()))
    return changes


def _beam_shape_change(payloads: tuple[float, float]) -> list[float]:
    """The same from exact natural modes of one clamped link with its end loads, (2,)."""
    changes = []
    for link in range(2):
        forms = []
        for payload in payloads:
            forms.append(_exact_link_shapes(payload, link))
        changes.append(float(np.abs(forms[0] - forms[1]).max()))
    return changes


def _exact_link_shapes(payload: float, link: int) -> Array:
    """Two shapes (401, 2) of a clamped link with the end load of (28), largest value one."""
    from ..studies.vibration.modes import modes

    full_arm = arm(payload)
    body = full_arm.payload
    assert body is not None
    mass = body.mass
    inertia = body.inertia[0]  # about z, the only one that a planar arm has
    if link == 0:  # all that lies beyond link 1, straight: (28)
        second = full_arm.links[1]
        outer = uniform_of(full_arm, second)
        hub = second.joint.hub
        assert hub is not None
        inertia = hub.inertia[0] + outer.m * outer.L**3 / 3 + inertia + mass * outer.L**2
        mass = hub.mass + outer.m * outer.L + mass
    beam = uniform_of(full_arm, full_arm.links[link])
    alone = files.loads(
        "{supple: 1, name: alone, architecture: serial, planar: true, links: [{name: link, "
        f"joint: {{type: revolute}}, length: {beam.L}, mass_per_length: {beam.m}, "
        f"bending_stiffness: {beam.EI[0]}, tip: {{mass: {mass}, inertia: {inertia}}}}}]}}"
    )
    found = modes(alone, count=2).shape(401).displacement[:, 0, :, 1].T
    values = found * np.sign(found[1])
    return np.asarray(values / np.abs(values).max(axis=0))


def _payload_claim() -> Claim:
    first, second = _shape_change((0.0, 2.0))
    exact = _beam_shape_change((0.0, 2.0))
    origin = "exact modes of the clamped link alone"
    measures = (
        Measure("link 1", first, exact[0] - 1e-3, exact[0] + 1e-3, origin=origin),
        Measure("link 2", second, exact[1] - 1e-3, exact[1] + 1e-3, origin=origin),
        gap("link 1", first, 0.05, "not substantially: a twentieth of the scale", "paper"),
        Measure("link 2", second, 0.05, 2.0, "paper", "evident: more than a twentieth"),
    )
    return Claim(
        "Figs. 2-4",
        "payload does not substantially modify the shapes of link 1, evidently those of link 2",
        f"from no to double payload by {100 * first:.1f} % and {100 * second:.0f} %",
        measures,
    )


def _coupling_claims() -> tuple[Claim, Claim]:
    """How far vibration of one link moves the other, free and undamped: Figs. 5 and 6."""
    amplitudes = {}
    check = {}
    for figure in ("Fig. 5", "Fig. 6"):
        amplitudes[figure] = np.abs(scenario(figure).q[:, 2:]).max(axis=0)
        check[figure] = np.abs(_form_states(figure, as_printed=False)[:, 2:6]).max(axis=0)
    origin = "the corrected closed form of the Appendix, integrated apart"
    strong = float(amplitudes["Fig. 5"][0] / amplitudes["Fig. 5"][2])
    strong_check = float(check["Fig. 5"][0] / check["Fig. 5"][2])
    weak = float(np.log10(amplitudes["Fig. 6"][0] / amplitudes["Fig. 6"][2]))
    weak_check = float(np.log10(check["Fig. 6"][0] / check["Fig. 6"][2]))
    what = "delta_11 over delta_21, largest values"
    coupling = Claim(
        "Fig. 5",
        "strong vibration coupling between the two links",
        f"link 1, unbent at first, reaches {strong:.2f} times the deflection of link 2",
        (
            Measure(what, strong, 0.5, 2.0, "paper", "strong: of the same size"),
            Measure(what, strong, 0.999 * strong_check, 1.001 * strong_check, origin=origin),
        ),
    )
    limited = Claim(
        "Fig. 6",
        "limited transfer: two orders of magnitude difference on delta_2j",
        f"{10**weak:.0f} times for the first modes",
        (
            Measure(f"log10 of {what}", weak, 1.5, 2.5, "paper", "two orders: 10^2, rounded"),
            Measure(f"log10 of {what}", weak, weak_check - 1e-3, weak_check + 1e-3, origin=origin),
        ),
    )
    return coupling, limited


def _bias_claim() -> Claim:
    """Net bias after damping. Momentum of the joints is conserved: M_rr dtheta = -M_rf ddelta.

    Nothing drives the joints, so that p = M_rr theta' + M_rf delta' stays zero, and with M at the
    start the joints end at theta_0 + M_rr^-1 M_rf delta_0, to first order in delta.
    """
    measures = []
    words = []
    for figure in ("Fig. 7", "Fig. 8"):
        run = scenario(figure)
        start = run.q[0]
        M = run.model.mass_matrix(start)
        bias = np.linalg.solve(M[:2, :2], M[:2, 2:] @ start[2:])
        ours = run.theta[-1] - start[:2]
        words.append(f"{figure}: {ours[0]:.4f}, {ours[1]:.4f} rad")
        for joint in range(2):
            what = f"{figure}, theta_{joint + 1} moves by"
            low = min(0.95 * bias[joint], 1.05 * bias[joint])
            high = max(0.95 * bias[joint], 1.05 * bias[joint])
            origin = "momentum of free joints, first order"
            measures.append(Measure(what, float(ours[joint]), low, high, origin=origin))
        size = float(np.abs(ours).max())
        least = 10 * float(np.abs(run.q[-1, 2:]).max() * 0.5)  # ten times what still vibrates
        measures.append(
            Measure(f"{figure}, largest", size, least, 1.0, "paper", "net: above what still rings")
        )
    return Claim(
        "Figs. 7, 8",
        "with damping the initial displacement results in a net bias",
        "; ".join(words),
        tuple(measures),
    )
