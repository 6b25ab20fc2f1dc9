"""The legs of a Delta as open chains, cut at D: what the coupled model is assembled from.

A chain is one rod with the arm it hangs on, in leg axes: motor, joint B, rod. The second rod of a
parallelogram hangs on an image of the arm that has its coordinates and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...architectures import delta
from ...beams.basis import Basis
from ...beams.shapes import EndLoad
from ...errors import SuppleError
from ...robot import Body, DeltaRobot, Joint, Link, Mount, SerialRobot
from ..chains.chain import Chain, ChainLink, chain_of
from .rigid_delta import delta_bodies

__all__ = ["DeltaLegs", "delta_basis", "delta_legs", "leg_robot"]

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def leg_robot(robot: DeltaRobot) -> SerialRobot:
    """Return one leg of a Delta as a serial robot in leg axes: motor, joint B, rod.

    Joint B turns about the arm's y and the rod's z; on constant-velocity joints, whose rods turn
    about themselves as well, about the rod's x too.
    """
    motor = robot.motor
    shoulder = Joint(
        axis=(0.0, 1.0, 0.0),
        mount=Mount(xyz=(robot.base_radius, 0.0, 0.0)),
        stiffness=motor.stiffness,
        rotor_inertia=motor.reflected_inertia,
        bearing=motor.bearing,
    )
    nothing: dict[str, Any] = {"length": 0.0, "theory": "rigid", "body": Body(mass=0.0)}
    axes: list[Any] = [("elbow", (0.0, 1.0, 0.0)), ("lower", (0.0, 0.0, 1.0))]
    if robot.lower.rods == "twist":
        axes = [axes[0], ("wing", (0.0, 0.0, 1.0)), ("lower", (1.0, 0.0, 0.0))]
    between = [Link(name=name, joint=Joint(axis=axis), **nothing) for name, axis in axes[:-1]]
    rod = Link(name="lower", joint=Joint(axis=axes[-1][1]), **_beam(robot.lower))
    return SerialRobot(
        name=f"{robot.name}-leg",
        gravity=robot.gravity,
        materials=robot.materials,
        sections=robot.sections,
        links=(Link(name="upper", joint=shoulder, **_beam(robot.upper)), *between, rod),
    )


def _beam(link: Any) -> dict[str, Any]:
    return {k: getattr(link, k) for k in type(link).model_fields if k not in ("rods", "spacing")}


@dataclass(frozen=True)
class DeltaLegs:
    """Chains of a Delta, and where their coordinates stand in q and among what follows from it.

    Attributes:
        robot: whose legs.  chains: the chain of a leg, and that of its second rod.
        book: the arms and rods of all legs with their places in q = [theta, eps, eta of upper1,
        lower1, upper2, ..]; it has no geometry.
    """

    robot: DeltaRobot
    chains: tuple[Chain, ...]
    book: Chain

    @property
    def count(self) -> int:
        """Number of rods, and of chains: 3 or 6."""
        return 3 * len(self.chains)

    @property
    def passive(self) -> int:
        """Number of passive angles a chain: 2, or 3 with a spin."""
        return len(self.chains[0].joints) - 1

    @property
    def followers(self) -> int:
        """Length of w = [passive angles, place and turns of the platform]."""
        return self.passive * self.count + 6

    @cached_property
    def kept(self) -> Places:
        """(k,) the coordinates of q among those of a chain: all but the angles of joint B."""
        return np.array([0, *range(1 + self.passive, self.chains[0].size)])

    @cached_property
    def own(self) -> Places:
        """(rods, k) where they stand in q."""
        sides, out = len(self.chains), []
        for leg in range(3):
            first = leg * (1 + sides)
            lead = [self.book.theta[first]] + [self.book.eps[i] for i in [first] if self.book.eps]
            lead += list(self.book.supports[first][1]) if self.book.supports else []
            for side in range(sides):
                parts = [self.book.eta[i] for i in (first, first + 1 + side)]
                out.append([*lead, *(x for p in parts for x in range(p.start, p.stop))])
        return np.array(out)

    @cached_property
    def axes(self) -> Array:
        """(rods, 3, 3) axes of the chains' legs in base axes."""
        return np.repeat(delta.leg_axes(self.robot), len(self.chains), axis=0)

    @cached_property
    def anchor(self) -> Array:
        """(rods, 3) where rods meet the platform, leg axes, from its centre."""
        out = np.zeros((self.count, 3))
        out[:, 0] = self.robot.platform.radius
        out[:, 1] = np.tile(_sides(self.robot), 3)
        return out

    def chain(self, k: int) -> Chain:
        """Return the chain of rod k."""
        return self.chains[k % len(self.chains)]


def delta_legs(robot: DeltaRobot, basis: Basis, stiffening: bool) -> DeltaLegs:
    """Return the legs of a Delta under a basis; lists in it are for upper arms and rods."""
    described = leg_robot(robot)
    if robot.motor.stiffness is not None and not robot.motor.reflected_inertia:
        raise SuppleError(
            "motor has a spring but no rotor_inertia: give the inertia of the motors, or remove "
            "motor.stiffness"
        )
    loaded = delta_basis(robot, basis, [0, *[-1] * (len(described.links) - 2), 1])
    first = chain_of(described, loaded, stiffening)
    sides = _sides(robot)
    chains = [_beside(first, sides[0])]
    chains += [_beside(_image(first), side) for side in sides[1:]]
    tags = [""] if len(sides) == 1 else ["a", "b"]
    links: list[ChainLink] = []
    for leg in range(1, 4):
        links.append(replace(first.links[0], name=f"upper{leg}"))
        rod = replace(first.links[-1], axis=None)
        links += [replace(rod, name=f"lower{leg}{tag}") for tag in tags]
    return DeltaLegs(robot, tuple(chains), Chain(tuple(links), robot.gravity, False))


def delta_basis(robot: DeltaRobot, basis: Basis, parts: Sequence[int]) -> Basis:
    """Return the basis with its lists for (upper, lower) over links: 0 an arm, 1 a rod, -1 none.

    Distal ends carry what hangs on the links: rods on an arm, a third of the platform on both.
    Joints let them turn, so that no rotary inertia goes with it.
    """
    changes: dict[str, Any] = {}
    if basis.ends == "distal":
        bodies = delta_bodies(robot)
        third = bodies.platform[0, 0] / 3
        tips = [0.0 if link.tip is None else link.tip.mass for link in (robot.upper, robot.lower)]
        rods = len(_sides(robot))
        ends = [EndLoad(tips[0] + bodies.lower[0, 0] + third), EndLoad(tips[1] + third / rods)]
        basis = replace(basis, ends=ends)  # type: ignore[type-var]
    for word in ("count", "axial", "torsion", "modes", "ends"):
        given = getattr(basis, word, None)
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != 2:
                raise SuppleError(
                    f"{word} has {len(given)} entries: give one for all links of a Delta, or two, "
                    "for its upper arms and its rods"
                )
            none = EndLoad() if word == "ends" else 0
            changes[word] = [given[part] if part >= 0 else none for part in parts]
    if basis.at is not None:
        raise SuppleError("at is not for a Delta: leave it out, or give ends")
    return replace(basis, **changes) if changes else basis  # type: ignore[type-var]


def _sides(robot: DeltaRobot) -> tuple[float, ...]:
    """Where the rods of a leg stand along the arm's y."""
    if robot.lower.rods != "parallelogram":
        return (0.0,)
    half = (robot.lower.spacing or 0.0) / 2
    return (-half, half)


def _beside(chain: Chain, side: float) -> Chain:
    """The chain with joint B so far along the arm's y."""
    arm, elbow, *rest = chain.links
    moved = replace(elbow, p_PM=elbow.p_PM + arm.R_SL @ np.array([0.0, side, 0.0]))
    return replace(chain, links=(arm, moved, *rest))


def _image(chain: Chain) -> Chain:
    """The chain with an arm that has no mass: another one carries it already."""
    arm, inv = chain.links[0], chain.links[0].inv
    words = ("mass", "first", "second", "P", "X", "G", "J", "JPsi", "PsiJPsi")
    none = replace(inv, **{word: 0.0 * getattr(inv, word) for word in words})
    zero = np.zeros((6, 6))
    still = replace(arm, inv=none, root_mass=zero, tip_mass=zero, rotor=0.0)
    return replace(chain, links=(still, *chain.links[1:]))
