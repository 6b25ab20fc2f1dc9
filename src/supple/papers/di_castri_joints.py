"""[DiCastri2011] Table 7: how soft joints lower ten frequencies of the two-link arm.

The paper draws, for ten modes, three postures and the five slendernesses of Tables 2-6, the
frequencies against the torsional stiffnesses k_T1 (shoulder) and k_T2 (elbow), from 1e11 N m/rad,
where joints count as rigid, down to pinned. Here both are lowered together and each alone.
Departure: exact Timoshenko beams with springs instead of ABAQUS B22 elements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import files
from ..robot import Robot
from ..structure import structure_of
from ..studies.vibration.elements import element_modes
from ..studies.vibration.modes import modes
from .cells import Claim, Measure, gap

__all__ = ["THICKENING", "JointFlexibility", "claims", "joint_flexibility", "two_links"]

Array = NDArray[np.float64]
POSTURES = (0, 45, 90)
POSES = np.radians([[0, at] for at in POSTURES])
THICKENING = {"2": 1, "3": 10, "4": 25, "5": 50, "6": 100}
SPRINGS: Mapping[str, tuple[int, ...]] = {"both": (1, 2), "shoulder": (1,), "elbow": (2,)}
STIFFNESS = np.logspace(11, -6, 35)  # N m/rad, two a decade
LINE = 0.02  # of a frequency: the width of a line in a figure


@dataclass(frozen=True)
class JointFlexibility:
    """Ten frequencies of the two-link arm against joint stiffness.

    Attributes
    ----------
    stiffness
        (K,), N m/rad, falling.
    frequency_hz
        By springs lowered (`both`, `shoulder`, `elbow`; the other joint is rigid), (5 tables, 3
        postures, K, 10).
    rigid
        (5, 3, 10), both joints rigid.
    pinned
        As frequency_hz, (5, 3, 10), springs gone, zero modes first.
    zeros
        By springs lowered, the number of those.
    """

    stiffness: Array
    frequency_hz: Mapping[str, Array]
    rigid: Array
    pinned: Mapping[str, Array]
    zeros: Mapping[str, int]

    def drop(self, springs: str = "both") -> Array:
        """Return 1 - f / f_rigid, (5, 3, K, 10)."""
        ratio: Array = self.frequency_hz[springs] / self.rigid[:, :, None]
        return 1 - ratio


def joint_flexibility(stiffness: Array = STIFFNESS) -> JointFlexibility:
    """Return the frequencies of Table 7 for five slendernesses, three postures, ten modes."""
    arms = [two_links(f) for f in THICKENING.values()]
    frequency = {}
    pinned = {}
    zeros = {}
    for name, sprung in SPRINGS.items():
        frequency[name] = np.array(
            [
                np.stack(
                    [
                        modes(
                            a.with_({f"links.link{i}.joint.stiffness": float(k) for i in sprung}),
                            POSES,
                            10,
                        ).frequency_hz
                        for k in stiffness
                    ],
                    axis=1,
                )
                for a in arms
            ]
        )
        zeros[name] = len(sprung)
        # (3, 10), Hz, with joints let go: their zero modes first. The other joint is welded
        rows = []
        for a in arms:
            # The arm with joints outside `joints` made fixed at a posture, and its theta
            free = []
            for at in POSTURES:
                angles = {1: 0.0, 2: float(np.radians(at))}
                changes: dict[str, Any] = {}
                for i in (1, 2):
                    if i not in sprung:
                        changes[f"links.link{i}.joint.type"] = "fixed"
                        changes[f"links.link{i}.joint.mount.rpy"] = [0.0, 0.0, angles[i]]
                free.append(
                    (a.with_(changes) if changes else a, np.array([angles[i] for i in sprung]))
                )
            found = [modes(arm, theta, 10 - len(sprung), joints="free") for arm, theta in free]
            assert all(answer.rigid_modes == len(sprung) for answer in found)
            rows.append(
                np.array([[0.0] * len(sprung) + answer.frequency_hz.tolist() for answer in found])
            )
        pinned[name] = np.array(rows)
    rigid = np.array([modes(a, POSES, 10).frequency_hz for a in arms])
    return JointFlexibility(stiffness, frequency, rigid, pinned, zeros)


def two_links(f: float) -> Robot:
    """Return the arm of Table 1 with both thicknesses multiplied by f."""
    depth = {"links.link1.section.depth": f * 0.61e-3, "links.link2.section.depth": f * 0.6e-3}
    return files.load("di-castri-two-link").with_(depth)


def claims(found: JointFlexibility) -> tuple[Claim, ...]:
    """Return what section 3.1 says of Table 7, with what we measure."""
    # Matches: no frequency of five digits changes by half a unit of its last. And what is left
    # falls as 1 / k, as a spring in series with a beam does
    index = _nearest(found, 1e11)
    rigid = found.rigid
    digit = 10 ** (np.floor(np.log10(rigid)) - 4) / 2
    moved = (rigid - found.frequency_hz["both"][:, :, index]) / digit
    low = _worst(found, 1e11)
    high = _worst(found, 1e8)
    rigid_claims = [
        Claim(
            "Table 7",
            f"at 1e11 N m/rad the arm of Table {table} matches rigid joints",
            f"at most {drop:.1e} lower",
            (
                Measure(
                    "change, half units of the fifth digit",
                    float(shift),
                    -1e-3,
                    1.0,
                    "paper",
                    "matches: to its five printed digits",
                ),
                Measure(
                    "drop at 1e8 over 1000 times that at 1e11",
                    float(ratio),
                    0.95,
                    1.05,
                    "independent",
                    "a spring in series with a beam: 1 / k",
                ),
            ),
        )
        for table, drop, shift, ratio in zip(
            THICKENING, low, moved.max(axis=(1, 2)), high / low / 1e3, strict=True
        )
    ]
    # The softest springs against none: zero modes vanish as sqrt(k), the others are reached as k.
    # Both laws are looked at over the last decade of k, where springs are small beside the beams
    answers = []
    for name, zeros in found.zeros.items():
        before, soft = (found.frequency_hz[name][:, :, i] for i in (-3, -1))
        none = found.pinned[name]
        decade = found.stiffness[-1] / found.stiffness[-3]
        off, earlier = (
            abs(given[..., zeros:] / none[..., zeros:] - 1).max() for given in (soft, before)
        )
        rest = (soft[..., :zeros] / found.rigid[..., :zeros]).max()
        fall = soft[..., :zeros] / before[..., :zeros] / np.sqrt(decade)
        answers.append(
            Claim(
                "Table 7",
                f"softer springs ({name}) tend to pinned joints",
                f"{zeros} mode{'s fall' if zeros > 1 else ' falls'} to {rest:.0e} of the rigid "
                f"ones, the others lie within {off:.0e} of pinned, "
                f"at {found.stiffness[-1]:.0e} N m/rad",
                (
                    Measure(
                        "fall of zero modes over sqrt(k), least",
                        float(fall.min()),
                        0.99,
                        1.01,
                        "independent",
                        "a rigid body on a spring: sqrt(k)",
                    ),
                    Measure(
                        "and most",
                        float(fall.max()),
                        0.99,
                        1.01,
                        "independent",
                        "a rigid body on a spring: sqrt(k)",
                    ),
                    Measure(
                        "fall of the others' distance over k",
                        float(off / earlier / decade),
                        0.9,
                        1.1,
                        "independent",
                        "first order in a small spring",
                    ),
                    gap("that distance", float(off), 1e-3, "tend to: within a line", "paper"),
                ),
            )
        )
    return (*rigid_claims, *_plateau_claims(found), *answers)


def _nearest(found: JointFlexibility, k: float) -> int:
    return int(np.argmin(abs(np.log(found.stiffness / k))))


def _worst(found: JointFlexibility, k: float) -> Array:
    """(5,) largest drop over postures and modes at the stiffness next to k."""
    worst: Array = found.drop()[:, :, _nearest(found, k)].max(axis=(1, 2))
    return worst


def _plateau_claims(found: JointFlexibility) -> list[Claim]:
    """'Almost constant up to 1e6 N m/rad' but for Table 6. Read: a loss below 2 %, a line's width.

    Finite elements must find the same loss, to 1e-6 of the frequency.
    """
    # (5,) largest drop at the stiffness next to k, by finite elements with springs
    k = 1e6
    stiffness = found.stiffness[_nearest(found, k)]
    drops = []
    for f in THICKENING.values():
        joints = (1, 2)
        k = float(stiffness)
        arms = (
            two_links(f),
            two_links(f).with_({f"links.link{i}.joint.stiffness": float(k) for i in joints}),
        )
        rigid, soft = (
            [
                element_modes(structure_of(a, np.radians([0.0, at])), 10, 8, "quintic").omega
                for at in POSTURES
            ]
            for a in arms
        )
        drops.append(1 - np.min(np.array(soft) / np.array(rigid)))
    answers = []
    others = np.array(drops)
    for table, drop, other, before in zip(
        THICKENING, _worst(found, 1e6), others, _worst(found, 1e7), strict=True
    ):
        says = "Table 6 behaves differently" if table == "6" else f"Table {table} almost constant"
        right = f"almost constant holds down to 1e7 N m/rad, where it loses {100 * before:.2g} %"
        answers.append(
            Claim(
                "Table 7",
                f"down to 1e6 N m/rad: {says}",
                f"up to {100 * drop:.2g} % lower at 1e6",
                (
                    Measure(
                        "loss",
                        float(drop),
                        *((LINE, 1.0) if table == "6" else (0.0, LINE)),
                        side="paper",
                        origin="almost constant: within the width of a line, 2 %",
                    ),
                    Measure(
                        "loss less that by elements",
                        float(drop - other),
                        -1e-6,
                        1e-6,
                        "independent",
                        "finite elements with springs",
                    ),
                    *(
                        [gap("loss at 1e7", before, LINE, "width of a line, 2 %")]
                        if table == "5"
                        else []
                    ),
                ),
                "not reproducible" if table == "5" else "agrees",
                right if table == "5" else "",
            )
        )
    return answers
