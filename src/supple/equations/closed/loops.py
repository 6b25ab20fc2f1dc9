"""Loops: a tree, the closures that tie it, and which of its coordinates follow from the others."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures.assembling import resolve
from ...architectures.kinds import lower
from ...architectures.tree import Tree, outstretched
from ...beams.basis import Basis
from ...beams.shapes import EndLoad
from ...errors import SuppleError
from ...kernels.scalars import Matrix, Vector
from ...kernels.spatial import motion_transform, turn
from ...robot import MechanismRobot
from ...structure.link_parts import link_beam
from ..chains.balls import Ball, joint_springs
from ..chains.chain import Chain, mimics
from ..chains.chain_equations import ChainEquations, laws_of, section_frame
from ..chains.forces import dissipation, elastic, stiffness, strain
from ..chains.limbs import Limb, limbs_of, sparse
from ..chains.sprung_turns import SprungTurns
from ..chains.tree import passive_values, tree_chain
from ..evaluate import casadi
from .closures import closure_ends, rows_between
from .followers import DependentCoordinates
from .ties import ClosureEquations, ClosureSymbols, TreeFunction
from .unbent import Unbent

__all__ = ["AssembledTree", "Loops", "assembled_tree", "loops_of", "unbent_assembly"]

Array = NDArray[np.float64]
CLOSED = 1e-13  # m and 1: closure error at which the assembly is done
ROUNDS = 3  # of Newton's method from an unbent robot to a bent one
STEPS = (3, 24, 150)  # from the assembled pose to one nearby, to any other, and where that fails
CLOSE = 1e-7  # closure error from which one round of Newton's method leaves rounding only
NEARBY = 0.25  # rad or m
SINGULAR = 1e-9  # singular value beside the largest at which a row says nothing new


class Loops(ClosureEquations):
    """A mechanism's tree with closures, its coordinates parted into q and followers w.

    Parameters
    ----------
    robot, laws
        Whose tree, and its equations over all coordinates z.
    followers
        Places in z of w, which the loops determine: passive coordinates, and elastic ones where a
        loop is held more often than its joints need.
    rows
        (w,) the closure rows that determine them.
    z
        Coordinates of the assembled pose, unbent, from which others are reached.
    unbent
        Closed form of such poses, where there is one: they are then reached from there, and
        constant-velocity closures count as shut as they stand there.
    """

    def __init__(
        self,
        robot: MechanismRobot,
        laws: ChainEquations,
        followers: tuple[int, ...],
        rows: tuple[int, ...],
        z: Array,
        unbent: Unbent | None = None,
    ) -> None:
        chain = laws.chain
        self.robot = robot
        self.laws = laws
        self.rows = rows
        self.unbent = unbent
        self.name, self.motors = robot.name, len(chain.motors)
        self.gravity = np.asarray(chain.gravity, float)
        self.followers = followers
        self.assembled = z
        self.independent = tuple(k for k in range(chain.size) if k not in followers)
        self.named = tuple(chain.names[k] for k in followers)

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the tree in symbols, which is made again."""
        return {k: v for k, v in super().__getstate__().items() if k != "symbolic_tree"}

    @cached_property
    def symbolic_tree(self) -> Symbolic:
        """The tree in symbols."""
        return symbolic(self.robot, self.laws, self.unbent)

    @cached_property
    def symbols(self) -> ClosureSymbols:
        """Symbols of all coordinates and the closures in them."""
        found = self.symbolic_tree
        return ClosureSymbols(found.z, found.c[list(self.rows)], found.c)

    def led_from(self, x: Array) -> Loops:
        """Return the same, other poses reached from a whole configuration (n + rods,), unbent."""
        m = lower(self.robot)
        chain = self.laws.chain
        z = self.assembled.copy()
        z[: self.motors] = x[m.driven]
        z[[k for places in chain.passive for k in places]] = x[m.joints.passive]
        found = copy(self)
        found.assembled = z
        return found

    def unbent_dependent(self, x: Array) -> Array:
        """Return w (B, W) unbent at whole configurations x (B, ..) of a mechanism."""
        w = np.repeat(self.assembled[None, list(self.followers)], len(x), axis=0)
        for k, c in enumerate(lower(self.robot).joints.coordinates):
            if (name := f"passive.{c.name}") in self.named:
                w[:, self.named.index(name)] = x[:, k]
        return w

    def tree(self, name: TreeFunction) -> Any:
        """Return forces, mass, energies or the tip of the tree as a CasADi function.

        Of (z, zd, zdd, g), loaded of a wrench too; of (z, zd) what is lost and energies; else of z.
        What is not small calls the functions of its limbs, where those sum them up.
        """
        ca = casadi()
        laws = self.laws
        z = self.symbolic_tree.z
        limbs = self.symbolic_tree.limbs
        n = self.laws.chain.size
        moving = [limb for limb in limbs if limb.places]
        summed = name in ("inverse", "loaded", "mass", "energies")
        kind = ca.MX if summed and not self.small else ca.SX
        z = z if kind is ca.SX else ca.MX.sym("z", n)
        zd, zdd, g, wrench = (kind.sym(s, k) for s, k in zip("vagF", (n, n, 3, 6), strict=True))
        inputs = {
            "inverse": [z, zd, zdd, g],
            "loaded": [z, zd, zdd, g, wrench],
            "lost": [z, zd],
            "energies": [z, zd],
        }.get(name, [z])
        tip = laws.chain.tip % len(laws.chain.links)
        limb_places = [k for limb in moving for k in limb.places]
        # lengths of driven rods, and how far rods give way: motors of some have a mass
        rods = [k for k in range(n) if k not in limb_places]
        rotors = ca.DM([laws.chain.rotors_of_rods.get(k, 0.0) for k in rods])
        order = np.argsort(limb_places + rods).tolist()

        def forces(zd: Any, zdd: Any, g: Any, wrench: Any = None) -> Any:
            out = []
            for limb in moving:
                pushed = wrench is not None and tip in limb.links
                load = ("loaded", z, zd, zdd, g, wrench) if pushed else ("inverse", z, zd, zdd, g)
                out.append(limb.forces(*load))
            return ca.vertcat(*out, ca.sparsify(rotors) * zdd[rods])[order]

        if name in ("inverse", "loaded"):
            found = [forces(zd, zdd, g, wrench if name == "loaded" else None)]
        elif name == "mass":
            each = [*(limb.inertia(z) for limb in moving), kind(ca.sparsify(ca.diag(rotors)))]
            found = [ca.diagcat(*each)[order, order]]
        elif name == "energies":
            kinetic = sum(limb.kinetic(z, zd) for limb in moving)
            kinetic = kinetic + ca.dot(ca.sparsify(rotors), zd[rods] ** 2) / 2
            height = sum(limb.height(z, self.gravity) for limb in limbs)
            own = self.symbolic_tree.z
            bent = ca.Function("strain", [own], [ca.SX(strain(laws, ca.vertsplit(own)))])
            if laws.loads:
                loads = ca.SX(laws.load_potential(ca.vertsplit(own)))
                height = height + ca.Function("loads", [own], [loads])(z)
            found = [ca.densify(ca.vertcat(kinetic, bent(z), height))]
        elif name == "tip":
            p, R = self.symbolic_tree.section(tip, 0)
            found = [_column(p), ca.densify(ca.vertcat(*(ca.horzcat(*row) for row in R)))]
        else:
            x = ca.vertsplit(z)
            if name == "stiffness":
                found = [ca.vertcat(*(ca.horzcat(*map(sparse, row)) for row in stiffness(laws, x)))]
            elif name == "elastic":
                found = [_column(elastic(laws, x))]
            elif name == "dead_loads":
                found = [_column(laws.load_forces(x, laws.loads))]
            else:
                found = [_column(dissipation(laws, x, ca.vertsplit(zd)))]
        return ca.Function(name, inputs, found if summed else ca.cse(found))

    def mass_where_assembled(self) -> Array:
        """M (N, N) at the assembled pose, in numbers: N' M N with N = [1; -c_w^-1 c_q]."""
        M = np.array(self.laws.mass(self.assembled.tolist()), float)
        J = np.array(self.symbolic_tree.residual(self.assembled)[1])[list(self.rows)]
        N = np.zeros((len(M), len(self.independent)))
        N[list(self.independent), range(len(self.independent))] = 1.0
        N[list(self.followers)] = -np.linalg.solve(J[:, self.followers], J[:, self.independent])
        free: Array = N.T @ M @ N
        return free

    def start(self) -> Any:
        """Return w(q) from the unbent pose there, where it has a closed form.

        Else in steps from the assembled pose, q's motors taken to their nearest turn.
        """
        ca = casadi()
        n = len(self.independent)
        m = len(self.followers)
        part = DependentCoordinates(self).closures
        if self.unbent is not None:
            q = ca.MX.sym("q", n)
            w = self.unbent.passive(q[: self.motors])
            for _ in range(ROUNDS):
                there = part["factors"](q, w)
                for _ in range(2):
                    w = w - part["solve"](there, part["c"](q, w))
            return ca.Function("start", [q], [w])
        q, dq, w = (self.symbol(s, k) for s, k in (("q", n), ("dq", n), ("w", m)))
        moved = w - part["solve"](part["factors"](q, w), ca.mtimes(part["U"](q, w), dq))
        at = q + dq
        there = part["factors"](at, moved)
        for _ in range(2):
            moved = moved - part["solve"](there, part["c"](at, moved))
        step = ca.Function("step", [ca.vertcat(q, w), dq], ca.cse([ca.vertcat(at, moved)]))
        first = self.assembled[list(self.independent)]
        follow = self.assembled[list(self.followers)]
        gap = ca.MX.sym("gap", n)
        walks = []
        for count in STEPS:
            walk = step.mapaccum("walk", count)
            found = walk(np.concatenate([first, follow]), ca.repmat(gap / count, 1, count))
            walks.append(ca.Function("walk", [gap], [found[n:, -1]]))
        short_or_long = ca.Function.if_else("short_or_long", *walks[:2])
        there = ca.MX.sym("w", m)
        again = ca.Function.if_else(
            "again",
            ca.Function("unchanged", [there, gap], [there]),
            ca.Function("walk", [there, gap], [walks[2](gap)]),
        )
        given = ca.MX.sym("q", n)
        off = given - first
        chain = self.laws.chain
        turns = np.zeros(self.laws.chain.size)
        for i, place in chain.theta.items():
            if chain.links[i].axis is not None:
                turns[place] = 2 * np.pi
        turns = turns[list(self.independent)]
        for k in np.flatnonzero(turns):
            full_turns = turns[k] * ca.floor(off[int(k)] / turns[k] + 0.5)
            off = off - ca.DM(np.eye(n)[k]) * full_turns
        found = short_or_long(ca.norm_inf(off) < NEARBY, off)
        closed = ca.norm_inf(part["c"](first + off, found)) < CLOSE
        return ca.Function("start", [given], [again(closed, found, off)])


def _column(values: list[Any]) -> Any:
    ca = casadi()
    return ca.densify(ca.vertcat(*[ca.SX(value) for value in values]))


@dataclass(frozen=True)
class Symbolic:
    """A tree in symbols: coordinates z, its limbs, and its closures there."""

    robot: MechanismRobot
    chain: Chain
    z: Any
    limbs: tuple[Limb, ...]
    unbent: Unbent | None = None

    def section(self, i: int, k: int) -> tuple[Vector, Matrix]:
        """Return place and link axes of section k of link i."""
        limb = next(limb for limb in self.limbs if i in limb.links)
        return limb.section(i, k, self.z)

    @cached_property
    def rows(self) -> list[list[Any]]:
        """Rows of every closure, then of joints that follow others."""
        z = casadi().vertsplit(self.z)
        ends = closure_ends(self.robot, self.chain, z, self.section, self.unbent)
        mimic_rows = [[z[k] - (a * z[j] + b)] for k, j, a, b in mimics(self.chain)]
        return [*(rows_between(tied) for tied in ends), *mimic_rows]

    @cached_property
    def c(self) -> Any:
        """All rows, one below the other."""
        ca = casadi()
        rows = [ca.SX(row) for rows in self.rows for row in rows]
        return ca.cse(ca.vertcat(*rows)) if rows else ca.SX(0, 1)

    @cached_property
    def residual(self) -> Any:
        """c and dc/dz over z as a CasADi function.

        It is called a few times: looking for equal parts in it would take longer than all calls.
        """
        ca = casadi()
        parts = [ca.densify(self.c), ca.densify(ca.jacobian(self.c, self.z))]
        return ca.Function("c", [self.z], parts)

    def slopes(self, z: Array) -> Array:
        """Return dc/dz (r, Z) at z; of a template over its passive coordinates, which follow."""
        if self.unbent is None:
            return np.array(self.residual(z)[1])
        m = lower(self.robot)
        J = np.zeros((sum(loop.rows for loop in m.loops), self.chain.size))
        passive = [k for places in self.chain.passive for k in places]
        J[:, passive] = m.openings(m.start[None])[1][0][:, m.joints.passive]
        return J


def symbolic(robot: MechanismRobot, laws: ChainEquations, unbent: Unbent | None = None) -> Symbolic:
    """Return a tree in symbols."""
    z = casadi().SX.sym("z", laws.chain.size)
    return Symbolic(robot, laws.chain, z, limbs_of(laws), unbent)


@dataclass(frozen=True)
class AssembledTree:
    """A mechanism as a tree, closed where it is assembled.

    Attributes
    ----------
    chain
        The tree.
    z
        (Z,), its coordinates there, unbent.
    places
        Of the passive ones in z.
    springs
        (Z, Z), stiffness of passive joints.
    rest
        (Z,), where they are unloaded.
    balls
        Springs, damping and friction alike in all directions.
    """

    chain: Chain
    z: Array
    places: tuple[int, ...]
    springs: Array
    rest: tuple[float, ...]
    balls: tuple[Ball | SprungTurns, ...] = ()


def assembled_tree(tree: Tree, basis: Basis, stiffening: bool) -> AssembledTree:
    """Return a Tree under a basis as a Chain, assembled at the start values of its motors."""
    robot = tree.form
    z, loads = unbent_assembly(tree, basis)
    chain = tree_chain(tree, basis, loads, stiffening)
    z = np.concatenate([z, np.zeros(chain.size - len(z))])
    places = tuple(k for part in chain.passive for k in part)
    K = np.zeros((chain.size,) * 2)
    rest = z.copy()
    balls: list[Ball | SprungTurns] = []
    k = 0
    for i, (link, part) in enumerate(zip(robot.links, chain.links, strict=True)):
        joint = link.joint
        count = robot.freedoms(link)
        if joint.driven or joint.type == "fixed":
            continue
        own = places[k : k + count]
        k += count
        for j, place in enumerate(own):
            if joint.stiffness is not None:
                one = part.spring if count == 1 else joint.stiffness[0]
                K[place, place] = joint.stiffness[j] if len(joint.stiffness) > 1 else one
            if joint.rest is not None:
                rest[place] = joint.rest[j if len(joint.rest) > 1 else 0]
        if count > 1 and joint.type != "free":
            balls += joint_springs(joint, part.under, own, chain.supports.get(i), K, rest)
    free = [n for n in range(chain.size) if n not in places]
    rest[free] = 0.0
    spring_rest = tuple(rest.tolist()) if K.any() else ()
    return AssembledTree(chain, z, places, K, spring_rest, tuple(balls))


def unbent_assembly(m: Tree, basis: Basis) -> tuple[Array, tuple[EndLoad, ...]]:
    """Where a rigid tree is assembled, and what the ends of its links carry.

    The loads are those at `at`; or there, with links of open trees that slide and have no start out
    to their ends, as those of an arm.
    """
    robot = m.form
    stiff = tree_chain(m)
    laws = laws_of(stiff, np.zeros((stiff.size,) * 2))
    starts = [link.joint.start[0] for link in robot.links if link.joint.driven]
    starts += [closure.length or 0.0 for closure in robot.closures if closure.motor]
    z = np.zeros(stiff.size)
    loose = [k for part in stiff.passive for k in part]
    z[: len(starts)], z[loose] = starts, passive_values(robot, "start")
    for k, j, times, offset in mimics(stiff):
        z[k] = times * z[j] + offset
    if np.abs(m.openings(m.start[None])[0]).max(initial=0.0) * m.size > CLOSED:
        x, reason = resolve(m, m.start[m.driven])  # where every other study finds it
        if reason[0]:
            raise SuppleError(f"{robot.name} at its start: {reason[0]}")
        z[loose] = x[0, m.joints.passive]
    out = z.copy()
    assembly = outstretched(robot)
    for i, place in stiff.lengths_at.items():
        link = robot.links[i]
        if link.joint.driven and not (robot.closures or "start" in link.joint.model_fields_set):
            out[place] = assembly[link.name]
    for k, j, times, offset in mimics(stiff):
        out[k] = times * out[j] + offset
    soft = [at for i, at in stiff.lengths_at.items() if not robot.links[i].rigid]
    if mimics(stiff) and (z[soft] <= 0).any():  # joints follow others from where they can stand
        z = out
    if basis.at is not None:
        x, reason = resolve(m, basis.at)
        if reason[0]:
            raise SuppleError(f"{robot.name} where its basis is taken: {reason[0]}")
        out = z.copy()
        out[: len(starts)], out[loose] = x[0, m.driven], x[0, m.joints.passive]
    return z, _end_loads(robot, laws, basis, out)


def _end_loads(
    robot: MechanismRobot, laws: ChainEquations, basis: Basis, z: Array
) -> tuple[EndLoad, ...]:
    """What the end of every link carries at the assembled pose: all that hangs on it in the tree.

    Behind a passive joint, which turns freely, it is its mass alone, as if at the end itself. Ends
    that meet in closures share what sits there, of rigid links all, such as a platform: each alike.
    """
    chain = laws.chain
    rigid = [link_beam(robot, link).rigid for link in robot.links]
    basis.check([link.name for link in robot.links], rigid)
    given = [basis.end(i) for i in range(len(chain.links))]
    if (known := tuple(end for end in given if end is not None)) and len(known) == len(given):
        return known
    frames = laws.frames(z.tolist())
    ends = [section_frame(chain, frames, i)[0] for i in range(len(chain.links))]
    heavy = [np.zeros((6, 6)) for _ in chain.links]  # about the root, base axes
    beyond = []  # about the end, base axes
    for link, (_, R, _) in zip(chain.links, frames, strict=True):
        beyond.append(turn(link.tip_mass, np.array(R, float).T))
    own = []  # about the root, its axes
    for i, link in enumerate(chain.links):
        beam = link_beam(robot, robot.links[i])
        inside = beam.L - z[chain.lengths_at[i]] if link.slide is not None else 0.0
        own.append(link.root_mass + beam.rod(-inside, beam.L - inside))
    meet: list[set[int]] = []  # ends that closures tie to each other, all on a platform together
    for closure in robot.closures:
        tied = {robot.end_index(end) for end in closure.ends if end.at is None} - {-1}
        met = [group for group in meet if group & tied]
        meet = [group for group in meet if not group & tied] + [tied.union(*met)]
    for group in meet:
        shared = sum(beyond[i][0, 0] + rigid[i] * own[i][0, 0] for i in group)
        carry = [i for i in group if robot.links[i].joint.type != "free"]  # the others float
        for i in group:
            share = shared / len(carry) if i in carry else 0.0
            beyond[i] = np.diag([share] * 3 + [0.0] * 3)
            own[i] = own[i] * (not rigid[i])
    for i in reversed(range(len(chain.links))):
        link, (p, R, _) = chain.links[i], frames[i]
        arm = np.array(ends[i], float) - np.array(p, float)
        heavy[i] = heavy[i] + turn(own[i], np.array(R, float).T) + _shift_mass(beyond[i], arm)
        if link.parent is None or link.parent < 0:
            continue
        up = link.parent
        end_load = heavy[i]
        off = np.array(p, float) - np.array(ends[link.parent])
        if link.passive and link.mimic is None:
            end_load = np.diag([end_load[0, 0]] * 3 + [0.0] * 3)
            off = np.zeros(3)
        if link.carrier:
            arm = np.array(p, float) - np.array(frames[up][0])
            heavy[up] = heavy[up] + _shift_mass(end_load, arm)
        else:
            beyond[up] = beyond[up] + _shift_mass(end_load, off)
    loads: list[EndLoad] = []
    for M, end, (_, R, _) in zip(beyond, given, frames, strict=True):
        about = np.maximum(np.diag(turn(M, np.array(R, float)))[3:], 0.0)
        load = EndLoad(M[0, 0], tuple(about)) if end is None else end
        # legs that are alike carry the very same, so that their shapes are made once
        loads.append(next((other for other in loads if _alike(load, other)), load))
    return tuple(loads)


def _alike(load: EndLoad, other: EndLoad) -> bool:
    """Whether two loads differ by rounding only."""
    inertia = np.abs(np.array(load.about) - np.array(other.about)).max()
    largest = max(*load.about, *other.about)
    same_mass = abs(load.mass - other.mass) <= 1e-12 * load.mass
    return bool(same_mass and inertia <= 1e-12 * largest and load.moment == other.moment)


def _shift_mass(M: Array, p: Array) -> Array:
    """A (6, 6) mass about a point, about the one from which it is at p."""
    T = motion_transform(np.eye(3), p)
    moved: Array = T.T @ M @ T
    return moved


def loops_of(
    robot: MechanismRobot, laws: ChainEquations, z: Array, unbent: Unbent | None = None
) -> Loops:
    """Return the loops of a tree closed at z, with followers chosen there.

    Passive coordinates follow first; rows that they cannot satisfy tie elastic ones, those of links
    before those of motors, bearings and foundation; rows that then say nothing new are left out.
    """
    from scipy.linalg import qr

    chain = laws.chain
    symbols = symbolic(robot, laws, unbent)
    passive = [k for places in chain.passive for k in places]
    J = symbols.slopes(z)
    bent = list(range(chain.stiff, chain.size))
    springs = [*chain.eps.values(), *chain.rod_eps.values()]
    springs += [*(k for _, at in chain.supports.values() for k in at)]
    rows: list[int] = []
    followers: list[int] = []
    rest = list(range(len(J)))
    S = J.copy()
    for columns in (passive, bent, springs):
        if not columns or not rest:
            continue
        A = S[np.ix_(rest, columns)]
        _, R, pivots = qr(A, mode="economic", pivoting=True)
        sizes = np.abs(np.diag(R))
        rank = int((sizes > SINGULAR * max(1.0, sizes.max(initial=0.0))).sum())
        if not rank:
            continue
        chosen = [columns[k] for k in pivots[:rank]]
        lines = qr(S[np.ix_(rest, chosen)].T, mode="economic", pivoting=True)[2][:rank]
        here = [rest[k] for k in lines]
        rest = [k for k in rest if k not in here]
        gain = np.linalg.solve(S[np.ix_(here, chosen)].T, S[np.ix_(rest, chosen)].T).T
        S[rest] -= gain @ S[here]
        rows += here
        followers += chosen
    tied = [name for k, name in enumerate(chain.motors) if rest and np.abs(S[rest, k]).max() > 1e-7]
    if tied:
        demand = f"tie the motors {', '.join(tied)} to each other, so that they"
        demand = demand if len(tied) > 1 else f"hold the motor {tied[0]}, so that it"
        alone = "move on their own" if len(tied) > 1 else "move"
        raise SuppleError(
            f"{robot.name}: its loops {demand} cannot {alone}; make a joint of the loop passive, "
            "or let links bend"
        )
    if len(followers) == chain.size:
        raise SuppleError(
            f"{robot.name}: its loops hold all its joints and its links are rigid, so that nothing "
            "can move; leave out a closure, or let links bend"
        )
    found = Loops(robot, laws, tuple(sorted(followers)), tuple(sorted(rows)), z, unbent)
    vars(found)["symbolic_tree"] = symbols
    return found
