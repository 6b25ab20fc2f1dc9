"""[DiCastri2011], Eq. (40): det M(omega) is zero at our roots and nowhere else between them.

A root is agreed upon when the determinant changes sign within 1e-9 of it, relative. On a grid the
sign must be that of (-1)^J, J the number of our roots below, turned once more beyond every link's
omega_lim, where the determinant of the paper changes sign without a root.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import supple
from supple.beams.varying import beam_of
from supple.papers import di_castri
from supple.papers.cells import printed_numbers
from supple.robot import SerialRobot
from supple.structure import Structure, structure_of
from supple.studies.vibration.characteristic import (
    characteristic_matrix,
    determinant_sign,
    omega_lim,
    singularity,
)

RELATIVE = 1e-9
ARMS = [("Figure 5", "45,45", "EB"), ("Figure 5", "45,45", "T")]
for table, postures in printed_numbers("di-castri")["tables"].items():
    for at, printed_columns in postures.items():
        for theory in ("EB", "EBX", "T"):
            if theory in printed_columns:
                ARMS.append((table, at, theory))
STEEL = {"young_modulus": 210e9, "poisson_ratio": 0.3, "density": 7800.0}


def link(name: str, length: float, depth: float, **more: Any) -> dict[str, Any]:
    section = {"shape": "rectangle", "depth": depth, "width": 0.05, "shear_coefficient": 0.85}
    return {"name": name, "length": length, "material": STEEL, "section": section, **more}


def arm(*links: dict[str, Any]) -> SerialRobot:
    return SerialRobot.model_validate({"name": "case", "planar": True, "links": links})


def changes_sign(structure: Structure, omega: float) -> bool:
    below = omega * (1 - RELATIVE)
    above = omega * (1 + RELATIVE)
    return determinant_sign(structure, below) == -determinant_sign(structure, above)


def parity(structure: Structure, roots: np.ndarray, omega: float) -> int:
    """The sign of the determinant over that which our roots and the links' limits foresee."""
    limits = np.array([omega_lim(s.beam) for s in structure.segments])
    turns = int((roots < omega).sum() + (limits < omega).sum())
    return determinant_sign(structure, omega) * (-1) ** turns


def check(structure: Structure, roots: np.ndarray, points: int = 300) -> None:
    assert all(changes_sign(structure, omega) for omega in roots)
    grid = np.linspace(0.01 * roots[0], roots[-1] * 1.0001, points)
    between = np.concatenate([grid, (roots[1:] + roots[:-1]) / 2])
    assert len({parity(structure, roots, omega) for omega in between}) == 1


@pytest.mark.parametrize(("table", "at", "column"), ARMS, ids=["-".join(a) for a in ARMS])
def test_every_root_of_the_tables(table: str, at: str, column: str) -> None:
    robot = di_castri.arm(table, column)
    theta = di_castri.posture(at)
    structure = structure_of(robot, theta)
    roots = supple.modes(robot, theta, 10).omega
    check(structure, roots)
    assert max(singularity(structure, omega) for omega in roots) < 1e-8
    assert min(singularity(structure, omega * (1 + 1e-6)) for omega in roots) > 1e-7


def test_beyond_omega_lim() -> None:
    """40 roots of a stubby arm, most of them beyond both links' limits; no root at a limit."""
    robot = arm(link("a", 0.3, 0.1, tip={"mass": 3.0, "inertia": 0.01}), link("b", 0.25, 0.08))
    structure = structure_of(robot, [0.0, 1.1])
    roots = supple.modes(robot, [0.0, 1.1], 40).omega
    limits = [omega_lim(s.beam) for s in structure.segments]
    assert (roots > max(limits)).sum() > 10
    check(structure, roots, 1000)
    for limit in limits:
        assert changes_sign(structure, limit)  # the spurious root of the paper's basis
        assert min(abs(roots / limit - 1)) > 1e-3


def test_springs_hubs_offsets_and_bodies_off_the_axis() -> None:
    """What the paper leaves out follows from the same equations."""
    hub = {"mass": 2.0, "com": [0.03, -0.02, 0.0], "inertia": 0.01}
    mount = {"xyz": [0.05, 0.1, 0.0], "rpy": [0.0, 0.0, 0.3]}
    tip = {"mass": 1.5, "com": [0.05, 0.04, 0.0], "inertia": 0.02}
    robot = arm(
        link("a", 0.6, 0.02, joint={"stiffness": 3e3, "hub": hub}, tip=tip),
        link("b", 0.5, 0.01, joint={"mount": mount, "hub": hub}, theory="inextensible"),
        link("c", 0.4, 0.01, joint={"stiffness": 1e2}, theory="euler-bernoulli", tip=tip),
    )
    theta = [0.2, 0.9, -1.3]
    check(structure_of(robot, theta), supple.modes(robot, theta, 12).omega)


def test_a_double_root() -> None:
    """An axial root laid upon a bending one: two singular values vanish, the sign stays."""
    L = 0.7
    m = 2.0
    EI = 50.0
    omega = (4.694091132974174 / L) ** 2 * math.sqrt(EI / m)  # cantilever, second root
    EA = m * (omega * L / (math.pi / 2)) ** 2  # rod, first root
    direct = {"mass_per_length": m, "bending_stiffness": EI, "axial_stiffness": EA}
    robot = arm({"name": "a", "length": L, **direct})
    structure = structure_of(robot)
    roots = supple.modes(robot, count=4).omega
    np.testing.assert_allclose(roots[1:3], omega, rtol=1e-10)
    assert singularity(structure, omega, multiplicity=2) < 1e-9
    assert singularity(structure, roots[0], multiplicity=2) > 1e-3
    signs = {determinant_sign(structure, omega * (1 + x)) for x in (-1e-9, 1e-9)}
    assert len(signs) == 1


# The blocks of the appendices, typed from the paper with the errata applied. Each function returns
# the block rows of one link at a frequency w: of its own end under its body (M, J), and what its
# root adds to the conditions at the end of the link before, which is turned by theta.


class LinkBlocks(NamedTuple):
    ground: list[list[float]]  # (3, 6) conditions of a root that is clamped
    end_motion: list[list[float]]  # (3, 6) rotation and displacements of the end
    end_forces: list[list[float]]  # (3, 6) moment, shear and axial force at the end
    next_root: list[list[float]]  # (6, 6) motion and forces of this link's root


def appendix_a(beam: Any, body: tuple[float, float], theta: float, w: float) -> LinkBlocks:
    """(A.1)-(A.4): a Timoshenko link below omega_lim."""
    EI = beam.EI[0]
    kGS = beam.kGA[0]
    ES = beam.EA
    rI = beam.rI[0]
    L = beam.L
    M, J = body
    ct = math.cos(theta)
    st = math.sin(theta)
    w2 = w * w

    # Wave numbers l1, l2 of bending, the amplitudes t1, t2 of their rotation, and k of stretching
    rho_kG = beam.m / kGS
    root = math.sqrt(w**4 * (rI - EI * rho_kG) ** 2 + 4 * w2 * beam.m * EI)
    l1 = math.sqrt((-rI * w2 - EI * rho_kG * w2 + root) / (2 * EI))
    l2 = math.sqrt((rI * w2 + EI * rho_kG * w2 + root) / (2 * EI))
    t1 = (l1**2 + w2 * rho_kG) / l1
    t2 = (l2**2 - w2 * rho_kG) / l2
    k = w / math.sqrt(ES / beam.m)
    ch = math.cosh(l1 * L)
    sh = math.sinh(l1 * L)
    co = math.cos(l2 * L)
    si = math.sin(l2 * L)
    a = math.cos(k * L)
    b = math.sin(k * L)

    moment = [
        EI * l1 * t1 * ch - w2 * J * t1 * sh,
        EI * l1 * t1 * sh - w2 * J * t1 * ch,
        -EI * l2 * t2 * co + w2 * J * t2 * si,
        -EI * l2 * t2 * si - w2 * J * t2 * co,
        0,
        0,
    ]
    shear = [
        kGS * (l1 - t1) * sh - w2 * M * ch,
        kGS * (l1 - t1) * ch - w2 * M * sh,
        kGS * (t2 - l2) * si - w2 * M * co,
        kGS * (l2 - t2) * co - w2 * M * si,
        0,
        0,
    ]
    axial = [0, 0, 0, 0, -ES * k * b - w2 * M * a, ES * k * a - w2 * M * b]
    return LinkBlocks(
        ground=[[0, t1, 0, t2, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]],
        end_motion=[
            [t1 * sh, t1 * ch, -t2 * si, t2 * co, 0, 0],
            [ch * st, sh * st, co * st, si * st, a * ct, b * ct],
            [ch * ct, sh * ct, co * ct, si * ct, -a * st, -b * st],
        ],
        end_forces=[moment, shear, axial],
        next_root=[
            [0, -t1, 0, -t2, 0, 0],
            [0, 0, 0, 0, -1, 0],
            [-1, 0, -1, 0, 0, 0],
            [-EI * l1 * t1, 0, EI * l2 * t2, 0, 0, 0],
            [0, -kGS * (l1 - t1) * ct, 0, -kGS * (l2 - t2) * ct, 0, -ES * k * st],
            [0, kGS * (l1 - t1) * st, 0, kGS * (l2 - t2) * st, 0, -ES * k * ct],
        ],
    )


def appendix_b(beam: Any, body: tuple[float, float], theta: float, w: float) -> LinkBlocks:
    """(B.1)-(B.5): an Euler-Bernoulli link; columns cos, sin, cosh, sinh."""
    EI = beam.EI[0]
    ES = beam.EA
    L = beam.L
    M, J = body
    ct = math.cos(theta)
    st = math.sin(theta)
    w2 = w * w

    # Wave numbers of bending and of stretching; moment and shear are q and r times the shapes
    al = (w2 * beam.m / EI) ** 0.25
    k = w * math.sqrt(beam.m / ES)
    q = EI * al**2
    r = EI * al**3
    co = math.cos(al * L)
    si = math.sin(al * L)
    ch = math.cosh(al * L)
    sh = math.sinh(al * L)
    a = math.cos(k * L)
    b = math.sin(k * L)

    moment = [
        -q * co + w2 * J * al * si,
        -q * si - w2 * J * al * co,
        q * ch - w2 * J * al * sh,
        q * sh - w2 * J * al * ch,
        0,
        0,
    ]
    shear = [
        -r * si - w2 * M * co,
        r * co - w2 * M * si,
        -r * sh - w2 * M * ch,
        -r * ch - w2 * M * sh,
        0,
        0,
    ]
    axial = [0, 0, 0, 0, -ES * k * b - w2 * M * a, ES * k * a - w2 * M * b]
    return LinkBlocks(
        ground=[[0, 1, 0, 1, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 1, 0]],
        end_motion=[
            [-al * si, al * co, al * sh, al * ch, 0, 0],
            [co * st, si * st, ch * st, sh * st, a * ct, b * ct],
            [co * ct, si * ct, ch * ct, sh * ct, -a * st, -b * st],
        ],
        end_forces=[moment, shear, axial],
        next_root=[
            [0, -al, 0, -al, 0, 0],
            [0, 0, 0, 0, -1, 0],
            [-1, 0, -1, 0, 0, 0],
            [q, 0, -q, 0, 0, 0],
            [0, -r * ct, 0, r * ct, 0, -ES * k * st],
            [0, r * st, 0, -r * st, 0, -ES * k * ct],
        ],
    )


def two_link_matrix(first: LinkBlocks, second: LinkBlocks) -> np.ndarray:
    """(45): the first link on the ground, the second on its end."""
    matrix = np.zeros((12, 12))
    matrix[:3, :6] = first.ground
    matrix[3:9, :6] = first.end_motion + first.end_forces
    matrix[3:9, 6:] = second.next_root
    matrix[9:, 6:] = second.end_forces
    return matrix


@pytest.mark.parametrize("table", ["2", "4", "6"])
@pytest.mark.parametrize("column", ["T", "EB"])
def test_the_blocks_of_the_appendices(table: str, column: str) -> None:
    """Entry by entry: (A.1)-(A.4) as corrected; (B.1)-(B.4) up to the order of columns and rows.

    The ground rows of the paper are psi, v, u and (B.3) divides its slope by alpha.
    """
    robot = di_castri.arm(table, column)
    structure = structure_of(robot, [0.0, 0.6])
    blocks_of_link = appendix_a if column == "T" else appendix_b
    columns = np.array([0, 1, 2, 3, 4, 5] if column == "T" else [2, 3, 0, 1, 4, 5])
    rows = [0, 2, 1, *range(3, 12)]
    for omega in supple.modes(robot, [0.0, 0.6], 4).omega * 1.01:
        blocks = []
        for link in robot.links:
            body = (link.tip.mass, link.tip.inertia[0])
            blocks.append(blocks_of_link(beam_of(robot, link), body, 0.6, omega))
        theirs = two_link_matrix(*blocks)[:, [*columns, *(6 + columns)]][rows]
        if column == "EB":
            first = beam_of(robot, robot.links[0])
            theirs[0] *= (omega**2 * first.m / first.EI[0]) ** 0.25
        ours = characteristic_matrix(structure, omega)
        scale = np.linalg.norm(ours, axis=0)
        np.testing.assert_allclose(ours / scale, theirs / scale, atol=1e-13)


@pytest.mark.parametrize(
    ("robot", "theta", "words"),
    [
        (arm(link("a", 1.0, 0.1), link("b", 1.0, 0.1, theory="rigid")), [0, 0], "b: every link"),
        (arm(link("a", 1.0, 0.1)), np.zeros((2, 1)), "one configuration"),
    ],
)
def test_what_it_does_not_describe(robot: SerialRobot, theta: Any, words: str) -> None:
    with pytest.raises(supple.SuppleError, match=words):
        characteristic_matrix(structure_of(robot, theta), 1.0)


def test_free_joints_are_refused() -> None:
    with pytest.raises(supple.SuppleError, match="not free"):
        characteristic_matrix(structure_of(arm(link("a", 1.0, 0.1)), [0], "free"), 1.0)


def test_the_public_door() -> None:
    robot = di_castri.arm("8", "T")
    theta = di_castri.posture("45,45")
    found = supple.characteristic(robot, theta, count=4)
    assert found.omega == pytest.approx(supple.modes(robot, theta, 4).omega)
    assert found.matrix(30.0).shape == (6 * len(robot.links), 6 * len(robot.links))
    assert found.determinant(30.0) == pytest.approx(np.linalg.det(found.matrix(30.0)))
    around = found.omega[:, None] * np.array([1 - 1e-9, 1 + 1e-9])
    signs = np.sign(found.scaled_determinant(around))
    assert (signs[:, 0] == -signs[:, 1]).all()
    for mode, omega in enumerate(found.omega, 1):
        matrix = found.matrix(omega)
        coefficients = found.coefficients(mode).ravel()
        left = matrix @ coefficients
        size = np.abs(matrix).max(axis=1) * np.abs(coefficients).max()
        assert np.abs(left / size).max() < 1e-8
    with pytest.raises(supple.SuppleError, match="mode"):
        found.coefficients(5)
    with pytest.raises(supple.SuppleError, match="one planar serial arm"):
        supple.characteristic(supple.load("kuo-delta"), [0.1, 0.1, 0.1])


def test_its_picture_shows_the_certified_roots(tmp_path: Any) -> None:
    found = supple.characteristic(supple.load("industrial-3"), [0, 0.7, 0.7], count=5)
    figure = found.plot(tmp_path / "determinant.png")
    assert "Hz" in figure.axes[0].get_xlabel()
