"""Structures beyond an open arm: releases, closures, loops; exact beams, elements, closed forms.

Closed forms: roots of the Euler-Bernoulli frequency equations, beta L with
omega = (beta L)^2 sqrt(EI / m L^4), solved here from the equations themselves.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from small_structures import (
    Part,
    bar,
    build,
    exact_count,
    exact_roots,
    joined,
    letting_go,
    to_ground,
    turned,
)
from supple.beams.theory import Beam
from supple.kernels.roots import count_below, natural_frequencies
from supple.kernels.spatial import axis_rotation, body_mass
from supple.structure import Release, Structure
from supple.studies.vibration.elements import element_modes


def bisect(f: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if f(low) * f(middle) > 0 else (low, middle)
    return (low + high) / 2


def beta(equation: Callable[[float], float], starts: list[float]) -> np.ndarray:
    return np.array([bisect(equation, x - 0.4, x + 0.4) for x in starts])


# cos x cosh x = 1 (free-free, clamped-clamped); tan x = tanh x (clamped-pinned, pinned-free);
# tan x = -tanh x (clamped-guided).
CLAMPED = beta(lambda x: math.cos(x) - 1 / math.cosh(x), [4.7, 7.9, 11.0, 14.1])
PINNED = beta(lambda x: math.sin(x) - math.tanh(x) * math.cos(x), [3.9, 7.1, 10.2, 13.4])
GUIDED = beta(lambda x: math.sin(x) + math.tanh(x) * math.cos(x), [2.4, 5.5, 8.6, 11.8])


def bending(beta_L: np.ndarray, beam: Beam, L: float, plane: int = 0) -> np.ndarray:
    return beta_L**2 * math.sqrt(beam.EI[plane] / (beam.m * L**4))


def agree(
    structure: Structure,
    count: int,
    rigid: int = 0,
    n: int = 8,
    rel: float = 1e-6,
    closed: np.ndarray | None = None,
) -> np.ndarray:
    """Exact roots, held against elements (from above), counts and, where given, a formula."""
    exact = exact_roots(structure, count, rigid)
    found = element_modes(structure, count, n, "quintic")
    assert found.rigid == rigid
    assert structure.rigid_modes == rigid
    assert (found.omega > exact * (1 - 1e-10)).all()
    assert found.omega == pytest.approx(exact, rel=rel)
    width = natural_frequencies(structure.tree(), count, rigid, 1.0).width[0]
    slack = np.maximum(width, 1e-9)  # the bracket is wider where rounding blurs the root
    for k, (omega, part) in enumerate(zip(exact, slack, strict=True)):
        assert exact_count(structure, omega * (1 - part)) <= rigid + k
        assert exact_count(structure, omega * (1 + part)) >= rigid + k + 1
    if closed is not None:
        assert (np.abs(exact[: len(closed)] / closed - 1) <= slack[: len(closed)]).all()
    return exact


@pytest.mark.parametrize("planar", [True, False])
def test_free_free_beam_by_releases(planar: bool) -> None:
    beam = bar(theory="euler-bernoulli", planar=planar)
    releases = letting_go(*((0, 1, 5) if planar else range(6)))
    structure = build([Part(beam, releases=releases)], planar=planar)
    closed = [bending(CLAMPED, beam, 1.0)]
    stretch = math.pi * np.arange(1, 3) * math.sqrt(beam.EA / beam.m)
    if not planar:
        closed += [
            bending(CLAMPED, beam, 1.0, 1),
            math.pi * np.arange(1, 3) * math.sqrt(beam.GJ / beam.rIp),
        ]
    expected = np.sort(np.concatenate([*closed, stretch]))
    expected = expected[expected < min(c[-1] for c in closed) * (1 + 1e-9)]
    agree(structure, len(expected), rigid=len(releases), closed=expected, rel=1e-5)


HELD = {"clamped": ((0, 1, 5), CLAMPED), "pinned": ((0, 1), PINNED), "guided": ((0, 5), GUIDED)}


@pytest.mark.parametrize("end", sorted(HELD))
@pytest.mark.parametrize("split", [0.5, 0.3])
def test_beam_held_at_both_ends_by_two_segments_and_a_closure(end: str, split: float) -> None:
    rows, roots = HELD[end]
    a, b = (bar(L, theory="inextensible", planar=True) for L in (split, 1 - split))
    closure = to_ground(1, *[row for row in rows if row != 0])
    structure = build([Part(a), Part(b, parent=0)], [closure], planar=True)
    agree(structure, 3, closed=bending(roots[:3], a, 1.0), rel=1e-5)


def test_clamped_clamped_in_space() -> None:
    """All six rows: both bending planes, stretching and twisting between two walls."""
    a = bar(0.4, theory="euler-bernoulli")
    b = bar(0.6, theory="euler-bernoulli")
    structure = build([Part(a), Part(b, parent=0)], [to_ground(1, *range(6))])
    twist = math.pi * np.arange(1, 3) * math.sqrt(a.GJ / a.rIp)
    planes = [bending(CLAMPED, a, 1.0, plane) for plane in (0, 1)]
    expected = np.sort(np.concatenate([*planes, twist]))
    expected = expected[expected < planes[0][-1]]
    agree(structure, len(expected), n=6, closed=expected, rel=1e-5)


def test_pinned_pinned_beam_by_release_and_closure() -> None:
    beam = bar(theory="inextensible", planar=True)
    structure = build([Part(beam, releases=letting_go(5))], [to_ground(0, 1)], planar=True)
    agree(structure, 4, closed=bending(math.pi * np.arange(1, 5), beam, 1.0))


@pytest.mark.parametrize("theory", ["inextensible", "euler-bernoulli"])
def test_beam_pinned_at_its_root_and_clamped_by_a_closure(theory: str) -> None:
    """Pinned and free has the same roots: the hinge's pivot vanishes where the beam rings."""
    beam = bar(theory=theory, planar=True)
    structure = build([Part(beam, releases=letting_go(5))], [to_ground(0, 1, 5)], planar=True)
    found = natural_frequencies(structure.tree(), 3, 0, 1.0)
    closed = bending(PINNED[:3], beam, 1.0)
    assert (found.width < 1e-10).all()
    assert (np.abs(found.omega[0] / closed - 1) <= found.width[0]).all()


def test_spherical_joint_hangs_a_beam_that_is_pinned_and_free() -> None:
    """Pinned-free bending in both planes, free twisting; the three rotations are rigid."""
    beam = bar(theory="euler-bernoulli")
    structure = build([Part(beam, releases=letting_go(3, 4, 5))])
    planes = [bending(PINNED, beam, 1.0, plane) for plane in (0, 1)]
    twist = math.pi * np.arange(1, 2) * math.sqrt(beam.GJ / beam.rIp)
    expected = np.sort(np.concatenate([*planes, twist]))
    expected = expected[expected < planes[0][-1]]
    agree(structure, len(expected), rigid=3, closed=expected, rel=1e-5)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli", "inextensible"])
@pytest.mark.parametrize("stiffness", [0.0, 50.0])
@pytest.mark.parametrize("joint", [(4, 5), (3, 4, 5), (3, 5)])
def test_universal_and_spherical_joints_between_links(
    theory: str, stiffness: float, joint: tuple[int, ...]
) -> None:
    """A bent arm of three links whose middle joint lets two or three rotations go."""
    R = axis_rotation((0, 1, 0), 0.7) @ turned(40)
    tip = body_mass(0.3, (0.02, 0.01, -0.03), 1e-3 * np.diag([1.0, 2, 1.5]))
    parts = [
        Part(bar(0.6, theory=theory)),
        Part(bar(0.5, 0.015, 0.02, theory), 0, R, releases=letting_go(*joint, stiffness=stiffness)),
        Part(bar(0.3, 0.03, 0.01, theory), 1, R @ turned(-75), tip=tip),
    ]
    agree(build(parts), 10, rigid=0 if stiffness else len(joint), n=3, rel=1e-5)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli", "inextensible"])
def test_portal_frame(theory: str) -> None:
    """A frame of three beams clamped to the ground twice splits into two halves by symmetry.

    Symmetric modes: the half frame with a guided middle; antisymmetric ones: with a simply
    supported middle.
    """
    column, rail, half = (bar(L, theory=theory, planar=True) for L in (1.0, 1.6, 0.8))
    up = turned(90)
    along = np.eye(3)
    down = turned(-90)
    parts = [Part(column, R=up), Part(rail, 0, along), Part(column, 1, down)]
    frame = build(parts, [to_ground(2, 0, 1, 5)], planar=True)
    halves = [
        build([Part(column, R=up), Part(half, 0, along)], [to_ground(1, *rows)], planar=True)
        for rows in ((0, 5), (1,))
    ]
    expected = np.sort(np.concatenate([agree(part, 6, n=6, rel=1e-5) for part in halves]))
    assert agree(frame, 8, n=6, rel=1e-5) == pytest.approx(expected[:8], rel=1e-9)


def test_a_closed_square_of_four_beams_is_free_in_the_plane() -> None:
    """A loop closed on itself on a massless node that is let go: three rigid modes."""
    beam = bar(0.5, planar=True)
    axes = [turned(90.0 * k) for k in range(4)]
    stub = Part(Beam(0.0, 0.0), releases=letting_go(0, 1, 5))
    parts = [stub, *(Part(beam, k, R) for k, R in enumerate(axes))]
    closure = joined(np.array([part.R for part in parts]), 0, 4, 0, 1, 5)
    structure = build(parts, [closure], planar=True)
    exact = agree(structure, 8, rigid=3, n=4, rel=1e-5)
    diagonal = _square_by_symmetry(beam)
    assert exact == pytest.approx(diagonal[:8], rel=1e-9)


def _square_by_symmetry(beam: Beam) -> np.ndarray:
    """The square about its two middle lines: a quarter, guided or hinged at each of its two ends.

    Quarter: half a side along x, then half a side along y; a cut is a mirror line (no motion across
    it and no rotation) or an antimirror line (no motion along it).
    """
    half = replace(beam, L=beam.L / 2)
    found = []
    for first in ((0, 5), (1,)):
        for last in ((0, 5), (1,)):
            # The root of the first half side lies on the cut x = const, the end of the other on y.
            free = [k for k in (0, 1, 5) if k not in first]
            parts = [Part(half, releases=letting_go(*free)), Part(half, 0, turned(90))]
            structure = build(parts, [to_ground(1, *last)], planar=True)
            rigid = element_modes(structure, 1, 2).rigid
            found.append(exact_roots(structure, 6, rigid))
    return np.sort(np.concatenate(found))


def test_rotor_in_series_with_its_spring_when_motors_are_free() -> None:
    """Motor, spring, link: the elements' motor column is the exact kernel's series stiffness."""
    z = tuple(np.eye(6)[5])
    parts = [
        Part(bar(0.5, planar=True), releases=(Release(z, 800.0, 0.4, series=True),)),
        Part(bar(0.4, planar=True), 0, turned(30), releases=(Release(z, 20.0, 0.05, series=True),)),
        Part(bar(0.3, planar=True), 1, turned(80), releases=(Release(z, 0.0, 0.02),)),
    ]
    agree(build(parts, planar=True), 9, rigid=3, n=6, rel=1e-5)


@pytest.mark.parametrize("theory", ["timoshenko", "euler-bernoulli"])
def test_coincident_roots_of_a_square_section(theory: str) -> None:
    """Both bending planes of a square bar ring alike: every bending root comes twice."""
    structure = build([Part(bar(1.0, 0.02, 0.02, theory))])
    exact = agree(structure, 6)
    assert exact[::2] == pytest.approx(exact[1::2], rel=1e-10)
    for omega in exact[::2]:
        below, above = (exact_count(structure, omega * s) for s in (1 - 1e-9, 1 + 1e-9))
        assert above - below == 2


def test_nearly_coincident_roots_are_told_apart() -> None:
    structure = build([Part(bar(1.0, 0.02, 0.02 * (1 + 1e-8), "euler-bernoulli"))])
    exact = agree(structure, 4)
    assert exact[1] / exact[0] - 1 == pytest.approx(1e-8, rel=1e-2)


@pytest.mark.parametrize("planar", [True, False])
def test_fifty_links(planar: bool) -> None:
    """A cantilever in fifty pieces is one cantilever, exactly."""
    beam = bar(1 / 50, theory="timoshenko", planar=planar)
    many = build([Part(beam, k - 1) for k in range(50)], planar=planar)
    one = build([Part(bar(planar=planar))], planar=planar)
    assert exact_roots(many, 10) == pytest.approx(exact_roots(one, 10), rel=1e-9)
    found = element_modes(many, 5, 1, "quintic")
    assert found.omega == pytest.approx(exact_roots(one, 5), rel=1e-9)


def test_high_modes_of_a_cantilever_sit_on_clamped_clamped_frequencies() -> None:
    """cos x cosh x = -1 and = +1 have roots 4 / cosh(x) apart: there the stiffness has a pole."""
    beam = bar(theory="inextensible", planar=True)
    starts = [1.9, *(math.pi * (k - 0.5) for k in range(2, 15))]
    expected = bending(beta(lambda x: math.cos(x) + 1 / math.cosh(x), starts), beam, 1.0)
    exact = exact_roots(build([Part(beam)], planar=True), 14)
    assert exact == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mass", [1.0, 1e3, 1e6, 1e9])
def test_light_beam_between_heavy_bodies(mass: float) -> None:
    """A beam up to a body and one beyond it: clamped-clamped and clamped-free as it gets heavy.

    The body itself moves in the two lowest modes.
    """
    beam = bar(theory="inextensible", planar=True)
    body = body_mass(mass, (0.0, 0.0, 0.0), mass * np.eye(3))
    structure = build([Part(beam, tip=body), Part(beam, 0)], planar=True)
    exact = exact_roots(structure, 8)
    found = element_modes(structure, 8, 8, "quintic").omega
    assert (found > exact * (1 - 1e-10)).all()
    assert found == pytest.approx(exact, rel=1e-6)
    if mass > 1e8:
        free = beta(lambda x: math.cos(x) + 1 / math.cosh(x), [1.9, 4.7, 7.8, 11.0])
        expected = np.sort(bending(np.concatenate([CLAMPED, free]), beam, 1.0))
        assert exact[2:8] == pytest.approx(expected[:6], rel=1e-6)


def test_cost_grows_linearly_with_the_links() -> None:
    """80 links cost about four times 20: far from the 64 times of a full matrix."""
    few, many = (_seconds(n) for n in (20, 80))
    assert many < 10 * few


def _seconds(links: int) -> float:
    """Best time of several for a hundred counts on a planar arm."""
    tree = build([Part(bar(0.1, planar=True), k - 1) for k in range(links)], planar=True).tree()
    omega = np.array([100.0])
    times = []
    for _ in range(7):
        start = time.process_time()
        for _ in range(100):
            count_below(tree, omega)
        times.append(time.process_time() - start)
    return min(times)
