"""LinearController: a law with states of its own, from measured outputs to efforts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arguments import number, optional, reals
from ..equations.model import Model
from ..errors import SuppleError
from ..outputs.output import Motion, Output
from ..outputs.sensor import Sensor
from .controllers import ReferenceMotion, StatefulController
from .plant import Plant, as_measures

if TYPE_CHECKING:
    import control

__all__ = ["LinearController"]

Array = NDArray[np.float64]
Expression = Any


@dataclass(frozen=True, eq=False)
class LinearController(StatefulController):
    """Linear dynamic controller on measured outputs and desired joint coordinates.

    z' = A z + B [y - y0, r - r0] and tau = tau0 + C z + D [y - y0, r - r0], with measured outputs y
    and desired joint coordinates r. With a `period` the first equation gives z at the next sample,
    and the controller runs in `Sampled` with that period.

    Attributes
    ----------
    A, B, C, D : ndarray
        Matrices (s, s), (s, outputs + joints), (joints, s) and (joints, outputs + joints).
    measures : tuple of Output
        The measured outputs, in order.
    y0, r0, tau0 : ndarray
        Operating point of the design.
    period : float or None
        Sampling period, s; None in continuous time.
    anti_windup : ndarray or None
        (s, joints): change of z per unit of (applied - commanded) effort when the effort is
        saturated, in `Sampled` with effort limits and in generated C.
    delay : float or None
        Delay for which it was designed, s; None if for no particular one.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    measures: tuple[Output, ...]
    y0: Array
    r0: Array
    tau0: Array
    period: float | None = None
    anti_windup: Array | None = None
    delay: float | None = None

    checks: ClassVar = {
        **dict.fromkeys(("A", "B", "C", "D", "y0", "r0", "tau0"), reals),
        "measures": lambda name, value: tuple(value) if isinstance(value, tuple | list) else value,
        "period": optional(number(1e-7, give="seconds between two samples, 1e-7 at least")),
        "anti_windup": optional(reals),
        "delay": optional(number(0, unit="of seconds")),
    }

    @classmethod
    def about(
        cls, at: Plant, A: Array, B: Array, C: Array, D: Array, period: float | None = None
    ) -> Self:
        """Return a law with these matrices about the rest of a plant."""
        r0 = at.q[: len(at.tau)]
        return cls(A, B, C, D, at.measures, at.y, r0, at.tau, period)

    def check(self, model: Model) -> None:
        measures = as_measures(self.measures, model)
        if any(isinstance(output, Sensor) and output.delay for output in measures):
            raise SuppleError("a measured Sensor has a delay: give the delay to Sampled instead")
        count = sum(len(output.names(model)) for output in measures)
        s = len(self.A)
        k = model.joints
        shapes = {
            "A": (s, s),
            "B": (s, count + k),
            "C": (k, s),
            "D": (k, count + k),
            "y0": (count,),
            "r0": (k,),
            "tau0": (k,),
        }
        if self.anti_windup is not None:
            shapes["anti_windup"] = (s, k)
        for name, wanted in shapes.items():
            if getattr(self, name).shape != wanted:
                raise SuppleError(
                    f"{name} of this LinearController has shape {getattr(self, name).shape}, not "
                    f"{wanted}: it was made for another model, or for other measures"
                )

    def states(self, model: Model) -> int:
        return len(self.A)

    def effort(
        self, model: Model, q: Expression, qd: Expression, wanted: ReferenceMotion
    ) -> Expression:
        """Refuse: efforts depend on states of its own."""
        raise SuppleError(
            "a LinearController has states of its own: simulate runs it, alone or in Sampled"
        )

    def loop(
        self,
        model: Model,
        state: tuple[Expression, Expression, Expression],
        wanted: ReferenceMotion,
    ) -> tuple[Expression, Expression, Expression]:
        """Return qdd, the efforts and z' at a state q, qd, z, in continuous time."""
        import casadi as ca

        q, qd, z = state
        k = model.joints
        is_exact = True
        for output in self.measures:
            if isinstance(output, Sensor) or getattr(output, "counts", None) is not None:
                is_exact = False
        if not is_exact:
            raise SuppleError(
                "this law measures with noise, bandwidth or counts: run it in "
                "supple.Sampled(law, period)"
            )
        if self.period is not None:
            raise SuppleError(
                "this law is designed from sample to sample: run it in supple.Sampled(law, period)"
            )
        r = wanted.r - ca.DM(self.r0)
        direct_feedback = self.D[:, :-k]
        dynamics = model.functions.expression("forward_dynamics")
        tau = ca.DM(self.tau0) + ca.mtimes(ca.DM(self.C), z) + ca.mtimes(ca.DM(self.D[:, -k:]), r)
        if direct_feedback.any():
            acceleration = model.functions.symbol("push", model.size)
            measured = self._measured_values(model, q, qd, acceleration) - ca.DM(self.y0)
            feedback = ca.mtimes(ca.DM(direct_feedback), measured)
            if ca.depends_on(ca.densify(feedback), acceleration):
                raise SuppleError(
                    "this law answers to a measured acceleration at once, and the acceleration to "
                    "the effort: run it in supple.Sampled, or filter the acceleration"
                )
            tau = tau + feedback
        qdd = dynamics(q, qd, tau)
        y = self._measured_values(model, q, qd, qdd) - ca.DM(self.y0)
        u = ca.vertcat(y, r)
        return qdd, tau, ca.mtimes(ca.DM(self.A), z) + ca.mtimes(ca.DM(self.B), u)

    def _measured_values(
        self, model: Model, q: Expression, qd: Expression, qdd: Expression
    ) -> Expression:
        import casadi as ca

        motion = Motion(q, qd, qdd)
        return ca.vertcat(*(output.expression(model, motion) for output in self.measures))

    def sampled(self, period: float) -> LinearController:
        """Return the same law from sample to sample, by Tustin's rule unless it is one already."""
        if self.period is not None:
            if abs(self.period - period) > 1e-9 * period:
                raise SuppleError(
                    f"this law was designed for a period of {self.period:g} s: it cannot run with "
                    f"{period:g} s; design it again with period={period:g}, or give "
                    f"Sampled(law, {self.period:g})"
                )
            return self
        # By the trapezoidal rule, s = 2 (z - 1) / (T (z + 1)): stable systems stay stable
        half = period / 2
        identity = np.eye(len(self.A))
        inverse = np.linalg.inv(identity - half * self.A)
        anti_windup = None
        if self.anti_windup is not None:
            anti_windup = period * inverse @ self.anti_windup
        return replace(
            self,
            A=inverse @ (identity + half * self.A),
            B=period * inverse @ self.B,
            C=self.C @ inverse,
            D=self.D + half * self.C @ inverse @ self.B,
            period=period,
            anti_windup=anti_windup,
        )

    def to_control(self, model: Model | None = None) -> control.StateSpace:
        """Return the same system for python-control, from [y, r] to tau as deviations.

        With a model, inputs and outputs have its names. Its efforts act on the robot with a plus
        sign: ``control.feedback(plant, law, sign=+1)`` closes the loop of y.
        """
        try:
            import control
        except ImportError:
            raise SuppleError(
                "python-control is not installed: pip install supple[control]"
            ) from None
        joints = [f"{i}" for i in range(len(self.tau0))]
        measured = [f"y.{i}" for i in range(len(self.y0))]
        if model is not None:
            self.check(model)
            joints = list(model.chain.motors)
            measured = [name for output in self.measures for name in output.names(model)]
        inputs = [*measured, *(f"reference.{name}" for name in joints)]
        names: dict[str, Any] = {
            "inputs": [name.replace(".", "_") for name in inputs],
            "outputs": [f"effort_{name}".replace(".", "_") for name in joints],
        }
        period = 0 if self.period is None else self.period
        return control.ss(self.A, self.B, self.C, self.D, period, **names)

    def closed(self, at: Plant, period: float | None = None, delay: float = 0.0) -> Array:
        """Return the matrix of the loop with a plant: of rates, or from sample to sample.

        Its eigenvalues are the poles that the linear model predicts; with a period it is the exact
        sampled model, with efforts that arrive late.
        """
        from .discrete import discretise_zero_order_hold

        m = at.B.shape[1]
        count = len(at.C)
        Bk = self.B[:, :count]
        Dk = self.D[:, :count]
        if period is None:
            if np.abs(Dk @ at.D).max(initial=0.0) > 0:
                raise SuppleError("the law answers to accelerations at once: ask with a period")
            own = self.A + Bk @ at.D @ self.C
            return np.block([[at.A + at.B @ Dk @ at.C, at.B @ self.C], [Bk @ at.C, own]])
        law = self.sampled(period)
        Bk = law.B[:, :count]
        Dk = law.D[:, :count]
        Phi, Gamma, depth = discretise_zero_order_hold(at.A, at.B, period, delay)
        C = np.hstack([at.C, np.zeros((count, (depth - 1) * m)), at.D])
        return np.block([[Phi + Gamma @ Dk @ C, Gamma @ law.C], [Bk @ C, law.A]])
