"""Every kind of output: of the tip, of a section of a link, of a joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..architectures.closing import loops_of
from ..architectures.kinds import architecture_of
from ..arguments import instance, number, optional, some
from ..beams.varying import VaryingBeam, beam_of
from ..equations.chains.chain import Chain
from ..equations.chains.chain_equations import section_frame
from ..equations.closed.coupled import ClosedFunctions
from ..equations.evaluate import column
from ..equations.model import Model
from ..errors import SuppleError
from ..kernels.scalars import matvec, vadd
from ..kernels.spatial import vector_rotation
from ..robot import JointedLink, Robot
from ..sections import Shape
from .at_rest import Rest
from .loops import OpenTree, closure_pulls
from .output import Motion, Output
from .sections import LINK, PLACE, chain_with, cut_section, joint_force, open_laws, section_load
from .stress import has_fibre, on_edge, stress_along, von_mises

__all__ = [
    "OUTPUTS",
    "Acceleration",
    "Accelerometer",
    "ClosureForce",
    "Encoder",
    "EndFrame",
    "Gyroscope",
    "Moment",
    "Place",
    "Reaction",
    "Strain",
    "Stress",
    "Tachometer",
    "Tip",
]

Array = NDArray[np.float64]
Expression = Any
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Tip(Output):
    """Position of the end of the last link, or of a platform, (3,), base axes, m.

    Parameters
    ----------
    rotation : bool
        Append the attitude, (6,) in all: roll, pitch and yaw in rad with
        R = R_z(yaw) R_y(pitch) R_x(roll), pitch within 90 degrees.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"tip": supple.Tip()})
    >>> run.outputs["tip"].shape
    (101, 3)
    """

    rotation: bool = False

    checks: ClassVar = {"rotation": instance(bool, "True or False")}

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        turned = tuple((word, "rad") for word in ("roll", "pitch", "yaw"))
        return (*((axis, "m") for axis in AXES), *(turned if self.rotation else ()))

    def names(self, model: Model) -> list[str]:
        turned = ("roll", "pitch", "yaw") if self.rotation else ()
        return [f"tip.{axis}" for axis in (*AXES, *turned)]

    def expression(self, model: Model, motion: Motion) -> Expression:
        import casadi as ca

        p, R = model.functions.expression("tip")(motion.q)
        if not self.rotation:
            return p
        level = ca.sqrt(R[0, 0] ** 2 + R[1, 0] ** 2)
        turned = (ca.atan2(R[2, 1], R[2, 2]), ca.atan2(-R[2, 0], level), ca.atan2(R[1, 0], R[0, 0]))
        return ca.vertcat(p, *turned)

    def at_rest(self, rest: Rest) -> Array:
        structure = rest.structure
        i = structure.tip
        along = structure.R[0, i][:, 0] * structure.L[0, i]
        place = structure.p[0, i] + along + rest.tip[:3]
        if not self.rotation:
            return np.asarray(place)
        R = vector_rotation(rest.tip[3:]) @ structure.R[0, i] @ structure.segments[i].R_LS.T
        roll = np.arctan2(R[2, 1], R[2, 2])
        yaw = np.arctan2(R[1, 0], R[0, 0])
        return np.array([*place, roll, np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), yaw])


@dataclass(frozen=True)
class Strain(Output):
    """Strain along a link at a fraction of its length and a place of its section.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length; for a sliding link, of the length
        outside its hub.
    offset : float or (y, z)
        Distance from the axis to the gauge, m, along -y of the link: bending in the x-y plane only,
        and 1 gives the curvature in 1/m. Or (y, z), the place of the gauge in section axes, with
        tension included.

    Notes
    -----
    With (y, z) the strain is u' - y psi_z' + z psi_y'.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> gauge = supple.Strain("link1", fraction=0.1, offset=0.002)
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"gauge": gauge})
    >>> run.outputs["gauge"].shape
    (101,)
    """

    link: str
    fraction: float = 0.0
    offset: float | tuple[float, float] = 1.0

    checks: ClassVar = {"link": LINK, "fraction": PLACE, "offset": some()}
    of_tree: ClassVar = True

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return (("", "1"),)

    def names(self, model: Model) -> list[str]:
        return [f"strain.{self.link}.{self.fraction:g}"]

    def check(self, model: Model) -> None:
        functions = model.functions
        chain = model.chain
        if isinstance(functions, ClosedFunctions):
            chain = functions.loops.laws.chain
        self._slope(model.robot, chain)

    def expression(self, model: Model, motion: Motion) -> Expression:
        chain = model.chain
        i = chain.index(self.link)
        if chain.links[i].slide is None:
            import casadi as ca

            return ca.mtimes(ca.DM(self.row(model)), motion.q)
        l, *eta = (motion.q[place] for place in chain.own(i))
        return sum(a * x for a, x in zip(self._slope(model.robot, chain, l), eta, strict=True))

    def row(self, model: Model) -> Array:
        """Return what it is per unit q, (1, N): slopes of the section's fields, by its place."""
        chain = model.chain
        i = chain.index(self.link)
        if chain.links[i].slide is not None:
            raise SuppleError(
                f"link {self.link} slides: its strain is no fixed sum of q; give another link, or "
                "ask it as an output of a run"
            )
        slope = self._slope(model.robot, chain)
        places = chain.eta[i]
        if places.stop - places.start != len(slope):
            raise SuppleError(
                f"some bending of {self.link} follows from a loop: its strain is no fixed sum of "
                "q; give another link, or ask it as an output of a run"
            )
        row = np.zeros((1, model.size))
        row[0, places] = slope
        return row

    def _slope(self, robot: Robot, chain: Chain, l: Any = None) -> list[Any]:
        """What it is per unit of the link's own coordinates; l: the free length of a slide."""
        link = chain.links[chain.index(self.link)]
        if link.shapes is None:
            raise SuppleError(f"link {self.link} is rigid: it has no strain")
        if link.slide is not None:
            at = link.inv.length if l is None else l
            stretch, *turns = link.slide.curvature(at, self.fraction)
        else:
            slope = link.shapes.at(self.fraction * link.inv.length, derivative=1)[0].tolist()
            stretch = slope[0]
            turns = slope[3:]
        if isinstance(self.offset, int | float):
            into = [float(self.offset * part) for part in link.R_SL[:, 2]]
            return [
                sum(a * x for a, x in zip(into, each, strict=True))
                for each in zip(*turns, strict=True)
            ]
        y, z = self.gauge(robot)
        about_y, about_z = turns[1:]
        return [u - y * b + z * a for u, a, b in zip(stretch, about_y, about_z, strict=True)]

    def at_rest(self, rest: Rest) -> Array:
        at = rest.place(self.link, self.fraction)
        i = rest.index(self.link)
        rates = at.carried * at.beam.compliances([at.x])[0]  # u', .., phi', psi_y', psi_z'
        if isinstance(self.offset, int | float):
            turned = rest.structure.segments[i].R_LS @ rates[3:]
            return np.array([self.offset * turned[2]])
        y, z = self.gauge(rest.robot)
        return np.array([rates[0] - y * rates[5] + z * rates[4]])

    def gauge(self, robot: Robot) -> tuple[float, float]:
        """Return where (y, z) sits, along the equations' axes; a planar arm's do not roll."""
        offset: Any = self.offset
        if len(offset) != 2:
            raise SuppleError(
                f"offset of a Strain is {offset!r}: give a distance, or (y, z) in the section"
            )
        y, z = offset
        family = architecture_of(robot)
        link: Any = family.part_of_segment(self.link)
        roll = link.roll if link is not None and family.planar else 0.0
        c = np.cos(roll)
        s = np.sin(roll)
        return float(y * c - z * s), float(y * s + z * c)


@dataclass(frozen=True)
class OfSection(Output):
    """An output of a section of a link, (3,) and zero at rest unless a kind says otherwise.

    Of a link that slides the fraction is one of the length outside its hub: the section is the
    material that is there at the time, and its velocity and acceleration are the material's.
    """

    link: str
    fraction: float = 1.0

    checks: ClassVar = {"link": LINK, "fraction": PLACE}
    of_tree: ClassVar = True

    def names(self, model: Model) -> list[str]:
        kind = type(self).__name__.lower()
        return [f"{kind}.{self.link}.{self.fraction:g}.{axis}" for axis in AXES]

    def check(self, model: Model) -> None:
        chain_with(model, type(self).__name__).index(self.link)

    def at_rest(self, rest: Rest) -> Array:
        rest.index(self.link)
        return np.zeros(3)


@dataclass(frozen=True)
class Place(OfSection):
    """Position of a section of a link, (3,), base axes, m; or its velocity or acceleration.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link, from 0 (root) to 1 (end).
    rate : {0, 1, 2}
        Derivative: position, velocity in m/s, or acceleration in m/s^2.

    References
    ----------
    [DeLuca1991], Eq. (5), here for any link.

    Examples
    --------
    >>> import supple
    >>> elbow = supple.Place("link1", 1.0)
    >>> found = supple.statics(supple.load("industrial-3"), [0, 0, 0], outputs={"elbow": elbow})
    >>> found.outputs["elbow"].round(6)
    array([1.5, 0. , 0. ])
    """

    rate: int = 0

    checks: ClassVar = {
        "link": LINK,
        "fraction": PLACE,
        "rate": number(0, 2, give="0 (place), 1 (velocity) or 2 (acceleration)"),
    }

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        unit = ("m", "m/s", "m/s^2")[int(self.rate)]
        return tuple((axis, unit) for axis in AXES)

    def names(self, model: Model) -> list[str]:
        kind = ("place", "velocity", "acceleration")[int(self.rate)]
        return [f"{kind}.{self.link}.{self.fraction:g}.{axis}" for axis in AXES]

    def check(self, model: Model) -> None:
        if self.rate not in (0, 1, 2):
            raise SuppleError(
                f"rate of a Place is {self.rate!r}: give 0 (place), 1 (velocity) or 2 "
                "(acceleration)"
            )
        super().check(model)

    def expression(self, model: Model, motion: Motion) -> Expression:
        import casadi as ca

        at = cut_section(model, "Place", self.link, self.fraction, motion, False)
        if self.rate == 2:
            return column(at.base(at.acceleration[:3]))
        root, R, _ = open_laws(model, "Place").frames(motion.lists()[0])[at.i]
        place = column(vadd(root, matvec(R, at.section.arm)))
        if not self.rate:
            return place
        return ca.jtimes(place, motion.q, motion.qd)

    def at_rest(self, rest: Rest) -> Array:
        if self.rate:
            return super().at_rest(rest)
        return rest.place(self.link, self.fraction).p


@dataclass(frozen=True)
class EndFrame(OfSection):
    """Axes of a link at its end, (9,), base axes, row by row: of the link itself where unbent."""

    def names(self, model: Model) -> list[str]:
        return [f"axes.{self.link}.{k}" for k in range(9)]

    def expression(self, model: Model, motion: Motion) -> Expression:
        laws = open_laws(model, "deflection")
        i = laws.chain.index(self.link)
        axes = section_frame(laws.chain, laws.frames(motion.lists()[0]), i)[1]
        return column([x for row in axes for x in row])


@dataclass(frozen=True)
class Moment(OfSection):
    """Internal moment at a section, (3,), section axes, N m: torsion, then bending about y and z.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length.

    Notes
    -----
    The moment that the outer part exerts on the inner one, from the balance of inertia, weight and
    tip wrench of everything outside. A hub at the link's root belongs to the inner part.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("industrial-3").with_("gravity", [0, -9.81, 0])
    >>> found = supple.statics(arm, [0, 0, 0], outputs={"root": supple.Moment("link1", 0.0)})
    >>> found.outputs["root"].shape
    (3,)
    """

    fraction: float = 0.0

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return tuple((f"about {axis}", "N m") for axis in AXES)

    def expression(self, model: Model, motion: Motion) -> Expression:
        at = cut_section(model, "Moment", self.link, self.fraction, motion, True)
        return column(section_load(model, at, motion)[1])

    def at_rest(self, rest: Rest) -> Array:
        return rest.place(self.link, self.fraction).carried[3:]


@dataclass(frozen=True)
class Stress(OfSection):
    """Largest von Mises stress of a section, Pa, from axial force, bending and torsion.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length.

    Notes
    -----
    The loads are those of `Moment`, each taken where its stress is largest together with the
    others; shear forces do not count.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("industrial-3").with_("gravity", [0, -9.81, 0])
    >>> found = supple.statics(arm, [0, 0, 0], outputs={"root": supple.Stress("link1", 0.0)})
    >>> bool(found.outputs["root"] > 0)
    True
    """

    fraction: float = 0.0
    smooth: ClassVar = False

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return (("", "Pa"),)

    def names(self, model: Model) -> list[str]:
        return [f"stress.{self.link}.{self.fraction:g}"]

    def check(self, model: Model) -> None:
        super().check(model)
        self.section(model.robot)

    def section(self, robot: Robot, free: float | None = None) -> Shape:
        """Return the shape of the section, or say that it has no outer fibre.

        `free`: the length that is out of a hub, of a link that slides.
        """
        link = architecture_of(robot).part_of_segment(self.link)
        if link is None:
            raise SuppleError(f"{self.link} is no link of {robot.name} that bends")
        shape = robot.section(link)
        material = robot.material(link)
        beam = beam_of(robot, link)
        if isinstance(beam, VaryingBeam):
            out = beam.L if free is None else free
            shape = beam.section(beam.L - out + self.fraction * out)
        if material is not None and material.layup is not None:
            raise SuppleError(
                f"link {self.link} is a laminate: its plies differ in stress, ask for its Moment"
            )
        if shape is None or not has_fibre(shape):
            raise SuppleError(
                f"link {self.link} has no section with an outer fibre: give it a rectangle, box, "
                "circle or tube, or ask for its Moment"
            )
        return shape

    def expression(self, model: Model, motion: Motion) -> Expression:
        at = cut_section(model, "Stress", self.link, self.fraction, motion, True)
        force, moment = section_load(model, at, motion)
        loads = column([*force, *moment])
        slide = model.chain.links[at.i].slide
        if slide is None or not isinstance(slide.beam, VaryingBeam):
            return von_mises(self.section(model.robot), loads, edge=self._edge(model.robot))
        out = at.links[at.n].length
        x = slide.beam.L - out + self.fraction * out
        return stress_along(slide.beam, x, loads, self._edge(model.robot))

    def _edge(self, robot: Robot) -> bool:
        return on_edge(robot, architecture_of(robot).part_of_segment(self.link))

    def at_rest(self, rest: Rest) -> Array:
        at = rest.place(self.link, self.fraction)
        shape = self.section(rest.robot, at.length)
        return np.array([von_mises(shape, at.carried, edge=self._edge(rest.robot))])


@dataclass(frozen=True)
class Acceleration(OfSection):
    """Acceleration of a section, (3,), base axes, m/s^2.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> elbow = supple.Acceleration("link1")
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"elbow": elbow})
    >>> run.outputs["elbow"].shape
    (101, 3)
    """

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return tuple((axis, "m/s^2") for axis in AXES)

    def expression(self, model: Model, motion: Motion) -> Expression:
        at = cut_section(model, "Acceleration", self.link, self.fraction, motion, False)
        return column(at.base(at.acceleration[:3]))


@dataclass(frozen=True)
class Accelerometer(OfSection):
    """Reading of an accelerometer on a section, a - g, (3,), section axes, m/s^2.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("industrial-3").with_("gravity", [0, -9.81, 0])
    >>> found = supple.statics(arm, [0, 0, 0], outputs={"tip": supple.Accelerometer("link3")})
    >>> found.outputs["tip"].shape
    (3,)
    """

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return tuple((axis, "m/s^2") for axis in AXES)

    def expression(self, model: Model, motion: Motion) -> Expression:
        at = cut_section(model, "Accelerometer", self.link, self.fraction, motion, True)
        return column(at.axes(at.acceleration[:3]))

    def at_rest(self, rest: Rest) -> Array:
        return np.asarray(-rest.gravity @ rest.place(self.link, self.fraction).R)


@dataclass(frozen=True)
class Gyroscope(OfSection):
    """Angular velocity of a section, (3,), section axes, rad/s.

    Parameters
    ----------
    link : str
        Name of the link.
    fraction : float
        Position along the link as a fraction of its length.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> gyro = supple.Gyroscope("link2")
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"gyro": gyro})
    >>> run.outputs["gyro"].shape
    (101, 3)
    """

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return tuple((f"about {axis}", "rad/s") for axis in AXES)

    def expression(self, model: Model, motion: Motion) -> Expression:
        at = cut_section(model, "Gyroscope", self.link, self.fraction, motion, False)
        return column(at.axes(at.w))


@dataclass(frozen=True)
class Reaction(Output):
    """Force and moment on a link at its joint, (6,), mounted axes, N and N m.

    Parameters
    ----------
    joint : str
        Name of the link that the joint moves.

    Notes
    -----
    The moment is about the position of the joint. Its component along the axis is what turns the
    link: the effort less the inertia of the rotor, or the moment of the spring.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("industrial-3").with_("gravity", [0, -9.81, 0])
    >>> found = supple.statics(arm, [0, 0, 0], outputs={"base": supple.Reaction("link1")})
    >>> found.outputs["base"].shape
    (6,)
    """

    joint: str

    checks: ClassVar = {"joint": LINK}
    of_tree: ClassVar = True

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        forces = tuple((f"force {axis}", "N") for axis in AXES)
        return (*forces, *((f"moment about {axis}", "N m") for axis in AXES))

    def names(self, model: Model) -> list[str]:
        words = [f"{kind}.{axis}" for kind in ("force", "moment") for axis in AXES]
        return [f"reaction.{self.joint}.{word}" for word in words]

    def check(self, model: Model) -> None:
        chain_with(model, "Reaction").index(self.joint)
        described: Any = architecture_of(model.robot).part_of_segment(self.joint)
        if not isinstance(described, JointedLink):
            Encoder(self.joint).check(model)

    def expression(self, model: Model, motion: Motion) -> Expression:
        force, moment = joint_force(model, model.chain.index(self.joint), motion)
        return column([*force, *moment])

    def at_rest(self, rest: Rest) -> Array:
        return rest.reaction(self.joint)


@dataclass(frozen=True)
class Encoder(Output):
    """Joint coordinate as an encoder measures it, rad, on the motor side of a joint spring.

    Parameters
    ----------
    joint : str
        Name of the link that the joint moves.
    counts : float, optional
        Counts per turn of the joint. Default: not rounded, as for a prismatic joint.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> encoder = supple.Encoder("link1", counts=4096)
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"encoder": encoder})
    >>> run.outputs["encoder"].shape
    (101,)
    """

    joint: str
    counts: float | None = None

    checks: ClassVar = {
        "joint": LINK,
        "counts": optional(number(0, above=True, unit="of counts per turn")),
    }

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return (("", "rad or m"),)

    def names(self, model: Model) -> list[str]:
        return [f"encoder.{self.joint}"]

    def check(self, model: Model) -> None:
        if self.joint not in model.chain.motors:
            known = ", ".join(model.chain.motors)
            raise SuppleError(f"there is no motor '{self.joint}': the motors are {known}")
        names = [model.chain.links[i].name for i in model.chain.sliding]
        if self.counts is not None and self.joint in (*names, *model.chain.lengths):
            raise SuppleError(
                f"joint {self.joint} slides: counts are those of one turn, leave them out"
            )

    def expression(self, model: Model, motion: Motion) -> Expression:
        return motion.q[model.chain.motors.index(self.joint)]

    def at_rest(self, rest: Rest) -> Array:
        return np.array([rest.motor(self.joint)])

    def read(self, values: Array) -> Array:
        if self.counts is None:
            return values
        step = 2 * np.pi / self.counts
        return np.asarray(step * np.round(values / step))


@dataclass(frozen=True)
class Tachometer(Output):
    """Rate of a joint coordinate on the motor side of a joint spring, rad/s or m/s.

    Parameters
    ----------
    joint : str
        Name of the link that the joint moves.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("de-luca-two-link"), supple.AssumedModes(1))
    >>> rate = supple.Tachometer("link1")
    >>> run = supple.simulate(model, tau=[0.1, 0], duration=0.1, outputs={"rate": rate})
    >>> run.outputs["rate"].shape
    (101,)
    """

    joint: str

    checks: ClassVar = {"joint": LINK}

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        return (("", "rad/s or m/s"),)

    def names(self, model: Model) -> list[str]:
        return [f"tachometer.{self.joint}"]

    def check(self, model: Model) -> None:
        Encoder(self.joint).check(model)

    def expression(self, model: Model, motion: Motion) -> Expression:
        return motion.qd[model.chain.motors.index(self.joint)]

    def at_rest(self, rest: Rest) -> Array:
        rest.motor(self.joint)
        return np.zeros(1)


@dataclass(frozen=True)
class ClosureForce(Output):
    """Force and moment of a closure on its second end, (6,), base axes, N and N m.

    They are the Lagrange multipliers of the closure as a wrench; on the first end acts the
    opposite. Of rows that repeat what others hold, those left out of the equations pull nothing.

    Parameters
    ----------
    closure : str
        Name of the closure. Those of a Delta are called ``wrist-lower1`` and so on.

    Notes
    -----
    With tree coordinates z and closures c(z) = 0 the equations of motion are
    M z'' + h = tau + (dc/dz)' lambda. The moment is about the point of the second end. A `distance`
    closure pulls along its rod.

    Examples
    --------
    >>> import supple
    >>> model = supple.build(supple.load("five-bar"), supple.AssumedModes(1))
    >>> pin = {"pin": supple.ClosureForce("tool")}
    >>> supple.simulate(model, duration=0.01, outputs=pin).outputs["pin"].shape
    (11, 6)
    """

    closure: str

    checks: ClassVar = {"closure": LINK}
    of_tree: ClassVar = True

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        forces = tuple((f"force {axis}", "N") for axis in AXES)
        return (*forces, *((f"moment about {axis}", "N m") for axis in AXES))

    def names(self, model: Model) -> list[str]:
        words = [f"{kind}.{axis}" for kind in ("force", "moment") for axis in AXES]
        return [f"closure.{self.closure}.{word}" for word in words]

    def check(self, model: Model) -> None:
        functions = model.functions
        if not isinstance(functions, ClosedFunctions):
            raise SuppleError(
                f"ClosureForce('{self.closure}'): {model.robot.name} has no closures; take "
                "Reaction at a joint"
            )
        known = [loop.name for loop in loops_of(functions.loops.robot)]
        if self.closure not in known:
            raise SuppleError(
                f"there is no closure '{self.closure}': the closures of {model.robot.name} are "
                f"{', '.join(known)}"
            )

    def expression(self, model: Model, motion: Motion) -> Expression:
        tree: Any = model
        assert isinstance(tree, OpenTree)
        for pulled in closure_pulls(tree, motion):
            if pulled.tied.loop.name == self.closure:
                return column(pulled.wrench(1))
        raise SuppleError(f"there is no closure '{self.closure}'")

    def at_rest(self, rest: Rest) -> Array:
        raise SuppleError(
            f"ClosureForce('{self.closure}') is measured in motion: simulate a Model at rest, such "
            "as supple.simulate(model, q0='static', duration=0.01, outputs=..)"
        )


OUTPUTS: dict[str, type[Output]] = {
    kind.__name__.lower(): kind
    for kind in (
        *(
            Tip,
            Place,
            Strain,
            Moment,
            Stress,
            Acceleration,
            Accelerometer,
            Gyroscope,
            Reaction,
            Encoder,
        ),
        Tachometer,
        ClosureForce,
    )
}
