"""Response: the motion obtained, as named arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...answers.answer import Answer
from ...answers.held import kept
from ...architectures.kinds import architecture_of
from ...equations.chains.sliders import newton_beta
from ...equations.model import Model
from ...integration.inputs import Input
from ...outputs.measuring import readings
from ...outputs.output import Output

__all__ = ["OPEN", "Response", "with_outputs"]

Array = NDArray[np.float64]
OPEN = 1e-3  # of the energy exchanged: a power balance more open than this is told


@dataclass(frozen=True)
class Response(Answer):
    """A motion of a Model.

    Attributes:
        model: what moved.  t: (n,).  q, qd: (n, N).  tau: (n, joints), efforts; at a switch the
        one that follows.  work: (n,), of efforts and tip wrench less what damping took, J, since
        the start.  method: how it was integrated, and step: by which steps at most, s; None where
        a tolerance decided.  message: empty, or why it ended early.
        beta: (n, b), of links that slide where the model integrates it beside the states.
        near: (n, w), about where the coordinates that loops determine are, so that the branch of
        the run is kept; None: they are followed from the assembled pose.
        outputs: what was measured, by name, (n,) or (n, k).
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

    @kept
    def tip(self) -> Array:
        """(n, 3) position of the last link's end, or of a Delta's platform, base axes."""
        return self._found("tip", self.q)[0]

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

    @kept
    def closure(self) -> Array:
        """(n,) how far loops are open, m or 1; zero for a robot without."""
        if "closure" not in self.model.functions:
            return np.zeros(len(self.q))
        worst: Array = np.abs(self._found("closure", self.q)[0]).max(axis=1)
        return worst

    @kept
    def tip_rotation(self) -> Array:
        """(n, 3, 3) axes of the last link's end in base axes."""
        return self._found("tip", self.q)[1]

    @kept
    def energies(self) -> dict[str, Array]:
        """Kinetic, elastic and gravitational energy, (n,) each, J."""
        values = self._found("energies", self.q, self.qd)[0]
        return {name: values[:, k] for k, name in enumerate(("kinetic", "elastic", "gravity"))}

    def _found(self, name: str, *x: Array) -> tuple[Array, ...]:
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

    @kept
    def exchanged(self) -> float:
        """Energy exchanged, J: the largest swing of any kind of energy, or of the work done.

        At least what was put into vibration at the start, which samples once a period would not
        see, and 1e-9 of the largest energy, below which a balance is rounding.
        """
        parts = [*self.energies.values(), self.work]
        largest = max(float(np.abs(part).max()) for part in parts)
        vibration = float(self.notes.get("vibration", 0.0))
        return max(*(float(np.ptp(part)) for part in parts), vibration, 1e-9 * largest)

    @property
    def openness(self) -> float:
        """Largest residual of the power balance, as a part of the energy exchanged."""
        worst = float(np.abs(self.balance).max())
        return worst / self.exchanged if worst else 0.0

    def deflection(
        self, link: str, fraction: float = 1.0, frame: Literal["root", "chord"] = "root"
    ) -> Array:
        """Return the elastic displacement (n, 3) at a fraction of a link's length, link axes.

        It is relative to the tangent at the link's root, or to its `chord`.
        """
        return self.model.deflection_at(self.q, link, fraction, frame, self.near)


def with_outputs(
    found: Response, outputs: Mapping[str, Output], wrench: Input | None = None
) -> Response:
    """Return the same run with outputs measured in it, under the wrench that acted on its tip."""
    if not outputs:
        return found
    t = found.t
    load = None if wrench is None else wrench.value(t + 1e-12 * t[-1], 6)
    state, loads = (found.q, found.qd), (found.tau, load)
    values = readings(found.model, outputs, t, state, loads, found.near)
    return replace(found, outputs=values)
