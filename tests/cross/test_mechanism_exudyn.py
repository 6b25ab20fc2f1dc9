"""A four-bar and a parallelogram arm against Exudyn: absolute nodal cables on pins.

Exudyn's planar cable elements (Euler-Bernoulli, large rotations) know nothing of moving frames,
assumed shapes or followers: their pins are Lagrange multipliers of an index 3 integration.
"""

from typing import Any

import numpy as np
import pytest

from supple import AssumedModes, MechanismRobot, build, load, modes, simulate
from supple.architectures.assembling import resolve
from supple.architectures.kinds import lower
from supple.architectures.tree import place_links
from supple.structure import structure_of

exu = pytest.importorskip("exudyn")
ii = pytest.importorskip("exudyn.itemInterface")
pytestmark = pytest.mark.slow

ALUMINIUM = {"young_modulus": 70e9, "poisson_ratio": 0.33, "density": 2700}


def four_bar() -> MechanismRobot:
    robot = load("four-bar").with_("payload", None)
    return robot.with_({f"links.{link.name}.theory": "euler-bernoulli" for link in robot.links})


def parallelogram() -> MechanismRobot:
    """Two motors at the base: one lifts the arm, the other the forearm by a rod beside the arm."""
    bar = {"material": ALUMINIUM, "theory": "euler-bernoulli"}
    bar["section"] = {"shape": "rectangle", "depth": 0.012, "width": 0.03}
    links = [
        {"name": "arm", "parent": "base", "joint": {"start": 1.2}, "length": 0.5},
        {"name": "forearm", "joint": {"passive": True, "start": -1.0}, "length": 0.45},
        {"name": "lever", "parent": "base", "joint": {"start": 0.2}, "length": 0.15},
        {"name": "rod", "joint": {"passive": True, "start": 1.0}, "length": 0.5},
    ]
    closure = {"ends": ["rod", {"link": "forearm", "at": 0.15}], "type": "revolute"}
    whole = {"name": "parallelogram", "planar": True, "gravity": [0, -9.81, 0], "tip": "forearm"}
    return MechanismRobot.model_validate(
        whole | {"links": [link | bar for link in links], "closures": [closure]}
    )


class Cables:
    """A planar mechanism of cable elements where it is assembled, n to each link."""

    def __init__(self, robot: MechanismRobot, n: int, locked: bool) -> None:
        m = lower(robot)
        at = place_links(m, resolve(lower(robot))[0]).at
        self.container = exu.SystemContainer()
        self.system = self.container.AddSystem()
        self.ground = self.system.AddNode(ii.NodePointGround(referenceCoordinates=[0, 0, 0]))
        self.gravity = list(robot.gravity)
        self.nodes = []
        beams = {s.name.partition("@")[0]: s.beam for s in structure_of(robot).segments}
        for i, link in enumerate(robot.links):
            self._bar(
                at.p[0, i, :2], at.R[0, i, :2, 0], float(link.length or 0), beams[link.name], n
            )
        for i, link in enumerate(robot.links):
            parent = robot.parents[i]
            root = self.nodes[i][0]
            if parent >= 0:
                self._pin(root, self.nodes[parent][-1])
                continue
            for k in range(4 if link.joint.driven and locked else 2):
                self._hold(root, k)
        for closure in robot.closures:
            ends = []
            for end in closure.ends:
                i = robot.end_index(end)
                share = 1.0 if end.at is None else end.at / float(robot.links[i].length or 1)
                ends.append(self.nodes[i][round(share * n)])
            self._pin(*ends)
        self.tip = self.nodes[robot.tip_index][-1]
        self.system.Assemble()

    def _bar(self, p: Any, x: Any, length: float, beam: Any, n: int) -> None:
        own = [
            self.system.AddNode(
                ii.NodePoint2DSlope1(referenceCoordinates=[*(p + x * length * k / n), *x])
            )
            for k in range(n + 1)
        ]
        for k in range(n):
            made = ii.ObjectANCFCable2D(
                length=length / n,
                massPerLength=beam.m,
                bendingStiffness=beam.EI[0],
                axialStiffness=beam.EA,
                nodeNumbers=own[k : k + 2],
            )
            body = self.system.AddObject(made)
            marker = self.system.AddMarker(ii.MarkerBodyMass(bodyNumber=body))
            self.system.AddLoad(
                ii.LoadMassProportional(markerNumber=marker, loadVector=self.gravity)
            )
        self.nodes.append(own)

    def _pin(self, a: int, b: int) -> None:
        markers = [self.system.AddMarker(ii.MarkerNodePosition(nodeNumber=k)) for k in (a, b)]
        self.system.AddObject(ii.ObjectJointRevolute2D(markerNumbers=markers))

    def _hold(self, node: int, k: int) -> None:
        markers = [
            self.system.AddMarker(ii.MarkerNodeCoordinate(nodeNumber=each, coordinate=c))
            for each, c in ((self.ground, 0), (node, k))
        ]
        self.system.AddObject(ii.CoordinateConstraint(markerNumbers=markers))

    def frequencies(self, count: int) -> np.ndarray:
        """rad/s, on the null space of the pins."""
        from exudyn.solver import ComputeODE2Eigenvalues

        values = np.sort(np.asarray(ComputeODE2Eigenvalues(self.system)[0]).real)
        return np.sqrt(values[values > 1.0][:count])

    def fall(self, duration: float, step: float) -> np.ndarray:
        """(2,) where the tip is after falling from rest. Rounding leaves 4e-8 in its Newton."""
        settings = exu.SimulationSettings()
        settings.solution.file.write = False
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.newton.relativeTolerance = 1e-6
        assert self.system.SolveDynamic(settings, updateInitialValues=True)
        place = self.system.GetNodeOutput(self.tip, exu.OutputVariableType.Position)
        return np.asarray(place[:2])


@pytest.mark.parametrize("robot", [four_bar(), parallelogram()], ids=lambda robot: robot.name)
def test_locked_frequencies(robot: MechanismRobot) -> None:
    """Cables come down to the exact frequencies: second order at a clamp, which holds the slope's
    length too."""
    exact = modes(robot, count=4).omega
    coarse, fine = (Cables(robot, n, True).frequencies(4) / exact - 1 for n in (6, 12))
    assert (fine > 0).all()
    assert fine.max() < 1e-4
    assert (fine < coarse / 2).all()


@pytest.mark.parametrize("robot", [four_bar(), parallelogram()], ids=lambda robot: robot.name)
def test_motors_let_go(robot: MechanismRobot) -> None:
    """They fall from rest, straight: where the tip is, to a thousandth of its way."""
    model = build(robot, AssumedModes(2, axial=1))
    run = simulate(model, tau=np.zeros(model.joints), duration=0.1, dt=0.02, limits=False)
    want = Cables(robot, 6, False).fall(0.1, 1e-4)
    way = np.linalg.norm(want - run.tip[0, :2])
    assert way > 0.009
    np.testing.assert_allclose(run.tip[-1, :2], want, atol=1e-3 * way)
