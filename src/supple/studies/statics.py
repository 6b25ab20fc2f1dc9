"""How does it sag: gravity, tip loads and the compliance at the tip, joints held.

The Structure at zero frequency: the static limit of the exact beams needs no mesh, and the uniform
weight of a beam enters by the work it does on the beam's static shapes, which is exact too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..answers.answer import Answer
from ..architectures.kinds import architecture_of
from ..arguments import checked, vector, whole_number
from ..assembly import Coordinates, closure_null_space, coordinates, exact_ends
from ..beams.dynamic_stiffness import carry, root_inertia
from ..beams.invariants import beam_points
from ..budget import afford
from ..errors import SuppleError
from ..kernels.spatial import transport
from ..kernels.threads import one_thread
from ..link_loads import Load, SegmentLoad, a_list_of_loads, placed_loads
from ..outputs.at_rest import Rest
from ..outputs.measuring import named_outputs
from ..outputs.output import Output
from ..robot import Robot
from ..structure import Structure, structure_of
from .configuration import where
from .small_range import SMALL
from .vibration.shapes import dynamic_stiffness, exact_forms, strain_density

__all__ = ["Statics", "holding_efforts", "statics"]

ROUNDING_SHARE = 1e-12  # of the largest force or moment in a robot: smaller efforts are zero

Array = NDArray[np.float64]
IDLE = 1e-9  # part of a load that may push a motion which nothing holds: rounding
LOOSE = 1e13  # condition of the scaled stiffness beyond which fewer than three digits would be left


@dataclass(frozen=True)
class Statics(Answer):
    """Static deflection of a robot in one pose or in many.

    From `supple.statics`; n links, P stations. Batch arrays have a leading axis B on everything but
    `names`.

    Attributes
    ----------
    robot : Robot
        The robot.
    theta : ndarray
        Joint coordinates (joints,), rad or m.
    names : tuple of str
        Names of the links.
    tip_displacement, tip_rotation : ndarray
        Motion of the tip (3,), base axes, m and rad.
    compliance : ndarray
        Motion of the tip per unit force and moment there, (6, 6), base axes; infinite where such a
        load moves what nothing holds.
    x : ndarray
        Stations along each link (n, P), m.
    position : ndarray
        Undeformed positions of the stations (n, P, 3), base axes, m.
    displacement, rotation : ndarray
        Motion of the sections (n, P, 3), base axes, m and rad.
    energy : ndarray
        Strain energy per length (n, P), J/m.
    strain_energy : ndarray
        Strain energy of each link (n,), J.
    root_force, root_moment : ndarray
        Force on each link at its root and moment about it, (n, 3), link axes, N and N m.
    valid, reason : bool and str, or ndarray
        Whether a pose of a batch has an answer, and why not. Its rows are NaN.
    outputs : dict
        Requested outputs by name, one value or (k,).
    """

    robot: Robot
    theta: Array
    names: tuple[str, ...]
    tip_displacement: Array
    tip_rotation: Array
    compliance: Array
    x: Array
    position: Array
    displacement: Array
    rotation: Array
    energy: Array
    strain_energy: Array
    root_force: Array
    root_moment: Array
    valid: Any
    reason: Any
    outputs: dict[str, Any] = field(default_factory=dict)

    labels: ClassVar = {"link": "names", "load": ("Fx", "Fy", "Fz", "Mx", "My", "Mz")}
    dims: ClassVar = {
        "theta": ("joint",),
        "tip_displacement": ("axis",),
        "tip_rotation": ("axis",),
        "moved": ("motion",),
        "compliance": ("motion", "load"),
        "x": ("link", "station"),
        "position": ("link", "station", "axis"),
        "displacement": ("link", "station", "axis"),
        "rotation": ("link", "station", "axis"),
        "energy": ("link", "station"),
        "strain_energy": ("link",),
        "root_force": ("link", "axis"),
        "root_moment": ("link", "axis"),
        "valid": (),
        "reason": (),
    }
    table_rows: ClassVar = ("motion",)
    units: ClassVar = {
        "tip_displacement": "m",
        "tip_rotation": "rad",
        "x": "m",
        "position": "m",
        "displacement": "m",
        "rotation": "rad",
        "energy": "J/m",
        "strain_energy": "J",
        "root_force": "N",
        "root_moment": "N m",
    }

    @property
    def moved(self) -> Array:
        """(6,) how the tip moves: displacement, then rotation, base axes, m and rad."""
        return np.concatenate([self.tip_displacement, self.tip_rotation], axis=-1)

    @property
    def largest(self) -> Any:
        """The largest deflection over length, or turn of a section, of any link beside its root."""
        turned = self.rotation - self.rotation[..., :1, :]
        arm = self.position - self.position[..., :1, :]
        displaced = self.displacement[..., :1, :] + np.cross(self.rotation[..., :1, :], arm)
        length = np.maximum(np.linalg.norm(arm, axis=-1).max(axis=-1), 1e-300)[..., None]
        bent = np.linalg.norm(self.displacement - displaced, axis=-1) / length
        most = np.maximum(np.linalg.norm(turned, axis=-1), np.where(length > 1e-9, bent, 0.0))
        return most.max(axis=(-2, -1))

    @property
    def small(self) -> Any:
        """Whether links bend so little that linear statics hold."""
        return self.largest <= SMALL


@one_thread
@checked
def statics(
    robot: Robot,
    theta: ArrayLike | None = None,
    force: Annotated[ArrayLike, vector(3)] = (0.0, 0.0, 0.0),
    moment: Annotated[ArrayLike, vector(3)] = (0.0, 0.0, 0.0),
    gravity: Annotated[ArrayLike, vector(3)] | None = None,
    *,
    position: ArrayLike | None = None,
    points: Annotated[int, whole_number(2, 100_000)] = 21,
    outputs: Mapping[str, Output] | None = None,
    loads: Annotated[Sequence[Load], a_list_of_loads] = (),
) -> Statics:
    """Static deflection under gravity and a load on the tip.

    The motors hold their joints; joint springs, bearings and the foundation give way.

    Parameters
    ----------
    robot : Robot
        Arm, Delta or mechanism.
    theta : array_like, optional
        Joint coordinates, (joints,) or (B, joints) for many poses, rad or m. Default: zero, or the
        assembled pose of a mechanism.
    force, moment : array_like
        Load on the tip, (3,) each, base axes, N and N m.
    gravity : array_like, optional
        Acceleration (3,), base axes, m/s^2. Default: the robot's own.
    position : array_like, optional
        Instead of `theta`: position of a Delta's platform, which is its tip, (3,) or (B, 3), m.
    points : int
        Number of stations along each link.
    outputs : mapping, optional
        Outputs to evaluate, by name.
    loads : sequence, optional
        Further loads anywhere on links: `PointLoad`, `DistributedLoad`.

    Returns
    -------
    Statics

    Raises
    ------
    SuppleError
        If a free motion of a single pose is loaded and nothing holds it. In a batch such a pose
        gives rows of NaN instead; `valid` and `reason` explain it.

    Examples
    --------
    >>> import supple
    >>> robot = supple.load("industrial-3")
    >>> found = supple.statics(robot, [0, 0.785, 0.785], gravity=[0, -9.81, 0])
    >>> (1000 * found.tip_displacement).round(3)  # mm
    array([ 4.985, -3.436,  0.   ])
    >>> found.compliance.shape
    (6, 6)
    """
    measured = named_outputs(outputs)
    tip_load = np.concatenate([np.asarray(force), np.asarray(moment)])
    g = np.asarray(robot.gravity if gravity is None else gravity, float)
    requested = where(robot, theta, position)
    structure = structure_of(robot, requested.at)
    size = len(structure.segments)  # full matrices: 400 links took 0.1 GB and 2 s
    work = f"the sag of {size:,} links at {points:,} points each"
    afford(work, 7e-7 * size**2 + 4e-7 * size * points, 1.4e-5 * size**2, "give fewer")

    # One configuration after the other; in a batch one without an answer has a reason instead
    reason = requested.reason.copy()
    sags: list[dict[str, Array]] = []
    readings: list[dict[str, Any]] = []
    for row, b in enumerate(np.flatnonzero(reason == "")):
        try:
            here = structure.at(row)
            placed = placed_loads(here, loads)
            sag = _solve_sag(here, tip_load, g, points, placed)
            rest = _rest_of(here, robot, requested.theta[b], sag, g, placed)
            reading = {name: o.read(o.named(name).at_rest(rest)) for name, o in measured.items()}
        except SuppleError as problem:
            if requested.single:
                raise
            reason[b] = str(problem)
            continue
        sags.append(sag)
        readings.append(reading)

    # All of them as arrays, NaN where there is no answer
    is_good = reason == ""
    found: dict[str, Array] = {}
    for key, shape in _shapes(size, points).items():
        found[key] = np.full((len(reason), *shape), np.nan)
        for b, sag in zip(np.flatnonzero(is_good), sags, strict=True):
            found[key][b] = sag[key]
    gathered = {name: _gather_output(name, readings, is_good) for name in measured}
    return Statics(
        robot,
        requested.take(requested.theta),
        tuple(segment.name for segment in structure.segments),
        **{key: requested.take(value) for key, value in found.items()},
        valid=requested.take(is_good),
        reason=requested.take(reason),
        outputs={name: requested.take(values) for name, values in gathered.items()},
    )


def holding_efforts(found: Statics) -> dict[str, float]:
    """Return the effort of each driven joint that holds one pose, N m, or N where it slides.

    An effort that is only rounding of the forces and moments in the robot's links is zero.
    """
    root_wrenches = np.concatenate([found.root_force, found.root_moment], axis=-1)
    wrench_of_link = dict(zip(found.names, root_wrenches, strict=True))
    least = ROUNDING_SHARE * float(np.abs(root_wrenches).max(initial=0.0))
    efforts = {}
    for drive in architecture_of(found.robot).drives:
        if drive.segment in wrench_of_link:
            effort = float(drive.effort(wrench_of_link))
            efforts[drive.name] = effort if abs(effort) > least else 0.0
    return efforts


def _gather_output(name: str, readings: list[dict[str, Any]], is_good: NDArray[np.bool_]) -> Array:
    """(B,) or (B, k) of an output; NaN where a configuration has no answer."""
    entries = len(readings[0][name]) if readings else 1
    out = np.full((len(is_good), entries), np.nan)
    for b, reading in zip(np.flatnonzero(is_good), readings, strict=True):
        out[b] = reading[name]
    return out[:, 0] if entries == 1 else out


def _rest_of(
    structure: Structure,
    robot: Robot,
    theta: Array,
    sag: Any,
    g: Array,
    placed: Mapping[int, SegmentLoad],
) -> Rest:
    """What outputs read of a sagged robot."""

    def state(i: int, x: float) -> Array:
        beam = structure.segments[i].beam.outside(float(structure.L[0, i]))
        found = carry(beam, 0.0, [x], sag["roots"][i], structure.R[0, i].T @ g)[0]
        if i in placed:
            found = found + placed[i].state_at([x])[0]
        return np.asarray(found)

    tip = np.concatenate([sag["tip_displacement"], sag["tip_rotation"]])
    root = np.concatenate([sag["root_force"], sag["root_moment"]], axis=1)
    turned = [
        np.kron(np.eye(2), s.R_LS.T) @ r for s, r in zip(structure.segments, root, strict=True)
    ]
    return Rest(robot, structure, g, theta, tip, state, np.array(turned))


def _shapes(n: int, points: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of one sagged arm of n links."""
    along = dict.fromkeys(("position", "displacement", "rotation"), (n, points, 3))
    return {
        "tip_displacement": (3,),
        "tip_rotation": (3,),
        "compliance": (6, 6),
        "x": (n, points),
        **along,
        "energy": (n, points),
        "strain_energy": (n,),
        "root_force": (n, 3),
        "root_moment": (n, 3),
    }


def _solve_sag(
    structure: Structure,
    load: Array,
    g: Array,
    points: int,
    placed: Mapping[int, SegmentLoad],
) -> dict[str, Array]:
    """Solve K z = f of one configuration for its sag, and recover what its links carry."""
    ends = exact_ends(structure)
    z = coordinates(structure, ends)
    forms = exact_forms(structure, 0.0)
    weights = []
    for i in range(len(structure.segments)):
        weights.append(_segment_weight(structure, i, ends[i], forms[i], g, placed.get(i)))

    # Forces on the unknowns: the load on the tip and all weights
    R_tip = np.kron(np.eye(2), structure.R[0, structure.tip])
    tip = R_tip @ z.end[structure.tip]
    from_weights = np.zeros(z.size)
    for i, (on_root, on_shapes, on_end) in enumerate(weights):
        from_weights = from_weights + (
            z.root[i].T @ on_root + _at(z, i, on_shapes) + z.end[i].T @ on_end
        )
    f = tip.T @ load + from_weights

    # One solution for the loads, and six for unit loads on the tip
    K = dynamic_stiffness(structure, z, 0.0, forms)
    largest = _largest_forces(structure, z, load, g, placed)
    solution, moves_without_limit = _solve(K, z, np.column_stack([f, tip.T]), largest)
    moved = solution[:, 0]
    compliance = tip @ solution[:, 1:]
    compliance[:, moves_without_limit[1:]] = np.inf

    end_loads = [on_end for _, _, on_end in weights]
    end_loads[structure.tip] = end_loads[structure.tip] + R_tip.T @ load
    root_loads = _root_loads(structure, z, K, moved, weights, end_loads)
    fields = _fields(structure, z, moved, root_loads, g, points, placed)
    force = []
    moment = []
    for segment, root_load in zip(structure.segments, root_loads, strict=True):
        force.append(segment.R_LS @ root_load[:3])
        moment.append(segment.R_LS @ root_load[3:])
    tip_motion = tip @ moved
    return {
        "tip_displacement": tip_motion[:3],
        "tip_rotation": tip_motion[3:],
        "compliance": compliance,
        **fields,
        "root_force": -np.array(force),
        "root_moment": -np.array(moment),
    }


def _segment_weight(
    structure: Structure, i: int, end: Array, form: Array, g: Array, load: SegmentLoad | None
) -> tuple[Array, Array, Array]:
    """Weight, and loads on a link: on its root, on its allowed deformations and on its end."""
    segment = structure.segments[i]
    fall = np.concatenate([structure.R[0, i].T @ g, np.zeros(3)])
    work = fall @ root_inertia(segment.beam, float(structure.L[0, i]))
    on_root = work[:6] + structure.root_mass[0, i] @ fall
    on_shapes = work[6:]
    if load is not None:
        # By reciprocity: what a load does on the static shapes of the end's deformations is their
        # stiffness times the end's motion under the load, root clamped and end free
        clamped = np.concatenate([np.zeros(6), load.resultant])
        moved_end = carry(load.beam, 0.0, [load.length], clamped)[0]
        moved_end = moved_end + load.state_at([load.length])[0]
        on_root = on_root + load.resultant
        on_shapes = on_shapes + form[6:, 6:] @ (end.T @ moved_end[:6])
    return on_root, on_shapes, segment.tip_mass @ fall


def _at(z: Coordinates, i: int, inner: Array) -> Array:
    out = np.zeros(z.size)
    out[z.inner[i]] = inner
    return out


def _largest_forces(
    structure: Structure,
    z: Coordinates,
    load: Array,
    g: Array,
    placed: Mapping[int, SegmentLoad],
) -> Array:
    """The most that loads and weights of these sizes do on z in any direction, (z, 1 + 6)."""

    def largest_on(rows: Array, force: float, moment: float) -> Array:
        by_force = np.linalg.norm(rows[:3], axis=0) * force
        by_moment = np.linalg.norm(rows[3:], axis=0) * moment
        return np.asarray(by_force + by_moment)

    def size(vector: Array) -> float:
        return float(np.linalg.norm(vector))

    tip = z.end[structure.tip]
    gravity = size(g)
    largest = largest_on(tip, size(load[:3]), size(load[3:]))
    for i, segment in enumerate(structure.segments):
        inertia = root_inertia(segment.beam, float(structure.L[0, i]))[:3]
        at_root = inertia[:, :6] + structure.root_mass[0, i, :3]
        at_end = segment.tip_mass[:3]
        for rows, mass in ((z.root[i], at_root), (z.end[i], at_end)):
            largest += gravity * largest_on(rows, size(mass[:, :3]), size(mass[:, 3:6]))
        largest[z.inner[i]] += gravity * np.linalg.norm(inertia[:, 6:], axis=0)
        if i in placed:
            resultant = placed[i].resultant
            largest += largest_on(z.root[i], size(resultant[:3]), size(resultant[3:6]))
    unit_forces = [largest_on(tip, 1.0, 0.0)] * 3
    unit_moments = [largest_on(tip, 0.0, 1.0)] * 3
    return np.column_stack([largest, *unit_forces, *unit_moments])


def _solve(
    K: Array, z: Coordinates, loads: Array, largest: Array
) -> tuple[Array, NDArray[np.bool_]]:
    """Solve K z = loads with the closures shut; scaled so that soft and stiff count alike.

    A motion that nothing holds is refused if the first load does work on it, beside what `largest`
    says that it could; also return which of the loads do, for they move it without limit.
    """
    if not z.size:
        return np.zeros_like(loads), np.zeros(loads.shape[1], bool)
    scale = 1 / np.sqrt(np.where(np.diag(K) > 0, np.diag(K), 1.0))
    basis = scale[:, None] * closure_null_space(z.closure * scale, z.size)
    stiffnesses, V = np.linalg.eigh(basis.T @ K @ basis)
    is_stiff = stiffnesses > stiffnesses.max(initial=0.0) / LOOSE
    modal_loads = V.T @ (basis.T @ loads)

    loose_motions = np.abs(V[:, ~is_stiff].T @ basis.T)
    does_work = np.abs(modal_loads[~is_stiff]) > IDLE * (loose_motions @ largest)
    moves_without_limit = does_work.any(axis=0)
    if moves_without_limit[0]:
        raise SuppleError(
            "the robot is not held here: a joint without spring lets it fall, or the pose is "
            "singular; hold it, or ask at another pose"
        )
    modal_motions = modal_loads[is_stiff] / stiffnesses[is_stiff, None]
    solution: Array = basis @ (V[:, is_stiff] @ modal_motions)
    return solution, moves_without_limit


def _root_loads(
    structure: Structure,
    z: Coordinates,
    K: Array,
    moved: Array,
    weights: list[tuple[Array, Array, Array]],
    ends: list[Array],
) -> list[Array]:
    """Loads that each root carries for all that lies beyond, (6,) each, segment axes."""
    beyond = [e.copy() for e in ends]
    if len(z.closure):
        total = sum((z.end[i].T @ e for i, e in enumerate(ends)), np.zeros(z.size))
        for i, w in enumerate(weights):
            total += z.root[i].T @ w[0] + _at(z, i, w[1])
        closing = np.linalg.lstsq(z.closure.T, total - K @ moved, rcond=None)[0]
        at = 0
        for c in structure.closures:
            rows = closing[at : at + c.rows_a.shape[1]]
            at += len(rows)
            for segment, tied in ((c.a, c.rows_a[0]), (c.b, c.rows_b[0])):
                if segment >= 0:
                    beyond[segment] -= tied.T @ rows
    loads = [np.zeros(6)] * len(ends)
    for i in reversed(range(len(ends))):
        own = transport(structure.L[0, i]).T @ beyond[i]
        loads[i] = own + weights[i][0]
        parent = structure.segments[i].parent
        if parent >= 0:
            beyond[parent] = beyond[parent] + structure.T[0, i].T @ loads[i]
    return loads


def _fields(
    structure: Structure,
    z: Coordinates,
    moved: Array,
    carried: list[Array],
    g: Array,
    points: int,
    placed: Mapping[int, SegmentLoad],
) -> dict[str, Array]:
    """Stations, undeformed positions, motions in base axes, and strain energy per length."""
    x = np.linspace(0, 1, points) * structure.L[0][:, None]
    states = []
    energy = []
    roots = []
    for i, segment in enumerate(structure.segments):
        beam = segment.beam.outside(float(structure.L[0, i]))
        inside, weights = beam_points(beam, 3)  # exact where uniform: moments are quadratic in x
        R = structure.R[0, i]
        weight = R.T @ g
        hub = structure.root_mass[0, i] @ np.concatenate([weight, np.zeros(3)])
        state = np.concatenate([z.root[i] @ moved, carried[i] - hub])
        along = carry(beam, 0.0, np.append(x[i], inside), state, weight)
        stored = along[points:, 6:] ** 2 * beam.compliances(inside) / 2
        roots.append(state)
        if i in placed:
            states.append(along[:points] + placed[i].state_at(x[i]))
            energy.append(placed[i].energy(state, weight, carry))
        else:
            states.append(along[:points])
            energy.append(float(weights @ stored.sum(axis=1)))
    found = np.array(states)
    moved, turned = (found[..., k : k + 3] @ structure.R[0].swapaxes(-1, -2) for k in (0, 3))
    return {
        "x": x,
        "position": structure.p[0][:, None] + x[..., None] * structure.R[0][:, None, :, 0],
        "displacement": moved,
        "rotation": turned,
        "energy": strain_density(structure, found[..., 6:]),
        "strain_energy": np.array(energy),
        "roots": np.array(roots),
    }
