"""Response: the motion obtained, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...answers.immutable import frozen_property
from ...architectures.kinds import architecture_of
from ...arguments import one_of
from ...equations.chains.sliders import newton_beta
from ...equations.model import Model
from ...integration.inputs import Input
from ...outputs.kinds import EndFrame, Place
from ...outputs.measuring import read_outputs, readings
from ...outputs.output import Output

__all__ = ["OPEN", "Response", "displacement_from_rigid", "with_outputs"]

Array = NDArray[np.float64]
STEADY = 1e-3  # of the kinetic energy: what counts as exchanged where a robot turns evenly
OPEN = 1e-3  # of the energy exchanged: a power balance more open than this is told


@dataclass(frozen=True)
class Response(Answer):
    """Simulated motion of a Model at n times.

    From `supple.simulate`.

    Attributes
    ----------
    model : Model
        The model.
    t : ndarray
        Times (n,), s.
    q, qd : ndarray
        Coordinates and velocities (n, size).
    tau : ndarray
        Efforts (n, joints), N m or N; at a switch the one that follows.
    work : ndarray
        Work of efforts and tip wrench less damping losses since the start, (n,), J.
    method : str
        Integration method.
    message : str
        Empty, or why the simulation ended early.
    beta : ndarray or None
        Roots (n, b) of sliding links, where the model integrates them beside the states.
    step : float or None
        Largest integration step, s; None where a tolerance controlled it.
    near : ndarray or None
        Approximate values (n, w) of the coordinates that loops determine, which keep the assembly
        branch of the run; None if they follow from the assembled pose.
    outputs : dict
        Recorded outputs by name, (n,) or (n, k).
    notes : dict
        Further information about the run.
    reference : ndarray or None
        Desired joint coordinates (n, joints); None without a controller.
    """

    model: Model
    t: Array
    q: Array
    qd: Array
    tau: Array
    work: Array
    method: str
    message: str = ""
    beta: Array | None = None
    step: float | None = None
    near: Array | None = None
    outputs: dict[str, Array] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict, repr=False)
    reference: Array | None = field(default=None, repr=False)

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return not self.message

    @property
    def beta_drift(self) -> float:
        """Largest difference of an integrated beta from Newton's root at the same length."""
        if self.beta is None:
            return 0.0
        return float(np.abs(self.beta - newton_beta(self.model.chain, self.q)).max())

    @property
    def theta(self) -> Array:
        """(n, joints) joint coordinates."""
        return self.q[:, : self.model.joints]

    @frozen_property
    def tip(self) -> Array:
        """(n, 3) position of the last link's end, or of a Delta's platform, base axes."""
        return self._model_values("tip", self.q)[0]

    @property
    def motor_effort(self) -> Array:
        """(n, joints): what the motors give for `tau`, each on its own side of its gear."""
        out = self.tau.copy()
        for k, drive in enumerate(architecture_of(self.model.robot).drives):
            if drive.made.gear is not None:
                out[:, k] = drive.made.gear.motor_effort(self.tau[:, k], self.qd[:, k])
        return out

    @property
    def position(self) -> Array:
        """(n, 3) where a Delta's platform is, an arm's tip."""
        return self.tip

    @frozen_property
    def closure(self) -> Array:
        """(n,) how far loops are open, m or 1; zero for a robot without."""
        if "closure" not in self.model.functions:
            return np.zeros(len(self.q))
        worst: Array = np.abs(self._model_values("closure", self.q)[0]).max(axis=1)
        return worst

    @frozen_property
    def tip_rotation(self) -> Array:
        """(n, 3, 3) axes of the last link's end in base axes."""
        return self._model_values("tip", self.q)[1]

    @frozen_property
    def energies(self) -> dict[str, Array]:
        """Kinetic, elastic and gravitational energy, (n,) each, J."""
        values = self._model_values("energies", self.q, self.qd)[0]
        return {name: values[:, k] for k, name in enumerate(("kinetic", "elastic", "gravity"))}

    def _model_values(self, name: str, *x: Array) -> tuple[Array, ...]:
        """A function of the model at the run's states, on the run's branch of its loops."""
        if self.near is None:
            return self.model.functions.evaluator(name)(*x)
        return self.model.functions.evaluator(name, near=True)(*x, self.near)

    @property
    def energy(self) -> Array:
        """(n,) total energy, J."""
        total: Array = np.sum(list(self.energies.values()), axis=0)
        return total

    @property
    def balance(self) -> Array:
        """(n,) power balance residual: energy gained since the start less work done, J."""
        residual: Array = self.energy - self.energy[0] - (self.work - self.work[0])
        return residual

    @frozen_property
    def exchanged(self) -> float:
        """Energy exchanged, J: the largest swing of any kind of energy, or of the work done.

        At least what was put into vibration at the start, which samples once a period would not
        see, a thousandth of the largest kinetic energy, which a robot that turns evenly does not
        exchange, and 1e-9 of the largest energy, below which a balance is rounding.
        """
        parts = [*self.energies.values(), self.work]
        largest = max(float(np.abs(part).max()) for part in parts)
        vibration = float(self.notes.get("vibration", 0.0))
        turning = STEADY * float(self.energies["kinetic"].max())
        swings = [float(np.ptp(part)) for part in parts]
        return max(*swings, vibration, turning, 1e-9 * largest)

    @property
    def openness(self) -> float:
        """Largest residual of the power balance, as a part of the energy exchanged."""
        worst = float(np.abs(self.balance).max())
        return worst / self.exchanged if worst else 0.0

    def deflection(
        self, link: str, fraction: float = 1.0, frame: Literal["root", "chord", "rigid"] = "root"
    ) -> Array:
        """Return the elastic displacement (n, 3) at a fraction of a link's length, link axes.

        It is relative to the tangent at the link's root, to its `chord`, or to where the section
        were if the robot were `rigid` and its motors stood the same, [Kuo2016] (18) and (59); then
        in the axes of the rigid link.
        """
        one_of("root", "chord", "rigid")("frame", frame)
        if frame == "rigid":
            return self._from_rigid_motion(link, fraction)
        return self.model.deflection_at(self.q, link, fraction, frame, self.near)

    def _from_rigid_motion(self, link: str, fraction: float) -> Array:
        """Displacement (n, 3) of a section from the rigid motion, axes of the rigid link."""
        rigid = self.q.copy()
        moves = [name.startswith(("theta.", "passive.")) for name in self.model.coordinates]
        rigid[:, ~np.array(moves)] = 0.0
        return displacement_from_rigid(self.model, link, fraction, (self.q, rigid), self.near)


def displacement_from_rigid(
    model: Model, link: str, fraction: float, states: tuple[Array, Array], near: Array | None
) -> Array:
    """Return how far a section is from its place in the rigid states, (n, 3), rigid link's axes.

    states: q as the robot bends, and of the rigid motion, (n, N) each.
    """
    bent, rigid = states
    unbent = np.zeros_like(bent)
    load = np.zeros((len(bent), 6))
    t = np.arange(float(len(bent)))
    outputs = {"place": Place(link, fraction), "axes": EndFrame(link)}
    here = read_outputs(model, outputs, t, (bent, unbent, unbent), load, near)
    if near is not None:  # what loops determine is elsewhere in the rigid robot, on the same branch
        loops: Any = model.functions
        near = loops.followers(rigid, near)
    there = read_outputs(model, outputs, t, (rigid, unbent, unbent), load, near)
    axes = there["axes"].reshape(-1, 3, 3)
    return np.asarray(np.einsum("tab,ta->tb", axes, here["place"] - there["place"]))


def with_outputs(
    found: Response, outputs: Mapping[str, Output], wrench: Input | None = None
) -> Response:
    """Return the same run with outputs measured in it, under the wrench that acted on its tip."""
    if not outputs:
        return found
    t = found.t
    load = None if wrench is None else wrench.value(t + 1e-12 * t[-1], 6)
    state = (found.q, found.qd)
    loads = (found.tau, load)
    values = readings(found.model, outputs, t, state, loads, found.near)
    return replace(found, outputs=values)
