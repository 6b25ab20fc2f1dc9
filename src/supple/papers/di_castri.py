"""[DiCastri2011] recomputed: Tables 2-6 (two links), 9-11 (three links), 7 and Figure 5.

Columns. EB: Euler-Bernoulli with axial deformation (the paper's dagger). EBX: the same without
axial deformation (double dagger; theory inextensible). T: Timoshenko. dEB, dEBX: Eq. (46), percent,
each formed by the paper from frequencies already rounded. FE_EB, FE_T: ABAQUS there, our finite
elements here. `NOTES` are the readings that the text needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from .. import files
from ..robot import SerialRobot
from ..structure import structure_of
from ..studies.vibration.elements import element_modes
from ..studies.vibration.modes import Modes, modes
from .cells import (
    Cell,
    KnownFaults,
    Reproduction,
    Window,
    as_printed,
    half_digit,
    number,
    printed_numbers,
)
from .di_castri_joints import THICKENING, claims, joint_flexibility, two_links

__all__ = ["SOURCE", "arm", "frequencies", "posture", "reproduction"]

Array = NDArray[np.float64]
SOURCE = "[DiCastri2011]"
THEORY = {"EB": "euler-bernoulli", "EBX": "inextensible", "T": "timoshenko"}
ELEMENTS = 8  # quintic ones a link: within 3e-9 of exact for the ten modes of Tables 9-11
NOTES = (
    "Table 1: E = EI / (b h^3 / 12) and density = m / (b h L), each link its own; "
    "the thickening factor multiplies h alone; shear coefficient 0.85",
    "Table 8: the shear coefficient is not printed; 0.44 reproduces every cell but one",
    "Tables 9-11: their captions say Table 7 and mean Table 8",
    "Differences (46) are formed by the paper from rounded frequencies",
    "Figure 5: its numbers are not in the text; ours stand beside an independent recomputation",
)


def arm(table: str, column: str) -> SerialRobot:
    """Return the arm of a table under the theory of a column."""
    theory = THEORY[column.removeprefix("FE_")]
    f = THICKENING.get(table)
    robot = two_links(f) if f else files.load("industrial-3")
    assert isinstance(robot, SerialRobot)
    return robot.with_({f"links.{link.name}.theory": theory for link in robot.links})


def posture(text: str) -> Array:
    """Return theta of a posture written as `45` or `-45,90`, degrees; the first angle is zero."""
    return np.radians([0.0, *(float(angle) for angle in text.split(","))])


@cache
def _modes(table: str, at: str, column: str) -> Modes:
    return modes(arm(table, column), posture(at), 10)


@cache
def frequencies(table: str, at: str, column: str) -> tuple[float, ...]:
    """Return ten frequencies in Hz: exact ones, or those of our elements for the FE columns."""
    if column.startswith("FE_"):
        structure = structure_of(arm(table, column), posture(at))
        omega = element_modes(structure, 10, ELEMENTS, "quintic").omega
        return tuple((omega / (2 * math.pi)).tolist())
    return tuple(_modes(table, at, column).frequency_hz.tolist())


def reproduction() -> Reproduction:
    """Return every table of the paper recomputed, cell by cell."""
    data = printed_numbers("di-castri")
    known = KnownFaults(data["known"])
    tables = data["tables"] | {"Figure 5": {"45,45": data["figure5"]["45,45"]}}
    cells = [
        cell
        for table, postures in tables.items()
        for at, columns in postures.items()
        for cell in _posture_cells(table, at, columns, known)
    ]
    flexibility = joint_flexibility()
    figures = {f"Figure 5 {column}": _modes("Figure 5", "45,45", column) for column in ("EB", "T")}
    results = {"Table 7": flexibility} | figures
    return Reproduction("di-castri", SOURCE, tuple(cells), claims(flexibility), NOTES, results)


def _posture_cells(
    table: str, at: str, columns: Mapping[str, list[str]], known: KnownFaults
) -> Iterator[Cell]:
    for column, texts in columns.items():
        if column.startswith("d"):
            yield from _differences(table, at, column, columns, known)
        else:
            # Frequencies, Hz. An arm without axial deformation has no axial modes: its rows skip
            # them
            ours = iter(frequencies(table, at, column))
            for mode, text in enumerate(texts, 1):
                place = (table, at, column, mode)
                if number(text) is None:
                    # the mode of EB in that row must be an axial one, all of its energy
                    kind = _modes(table, at, "EB").kind[mode - 1]
                    all_axial = (Window("agrees", "EB: axial 100 %", ""),)
                    yield Cell(
                        f"Table {table}" if table.isdigit() else table,
                        *place[1:],
                        text,
                        f"EB: {kind}",
                        all_axial,
                    )
                    continue
                value = next(ours)
                # A misprint is one only if ours is the known right value, to the last digit of
                # that. Elements lie above, theirs by about 1e-7: by less than ten times that ours
                # may be below
                exact = known.exact(*place)
                agrees = as_printed(text)
                windows: tuple[Window, ...] = (agrees,)
                if exact is not None:
                    windows = (agrees, as_printed(exact, "misprint"))
                elif known.expected(*place) == "not reproducible":
                    assert isinstance(agrees.low, float)
                    windows = (
                        agrees,
                        Window("not reproducible", agrees.low * (1 - 1e-6), agrees.low),
                    )
                yield _cell(place, text, value, windows, known)


def _cell(
    place: tuple[str, str, str, int],
    text: str,
    value: float,
    windows: tuple[Window, ...],
    known: KnownFaults,
) -> Cell:
    table = place[0]
    cell = Cell(
        f"Table {table}" if table.isdigit() else table,
        *place[1:],
        text,
        value,
        windows,
        known.expected(*place),
        origin="printed" if table.isdigit() else "recomputed",
    )
    return cell if cell.verdict == "agrees" else replace(cell, why=known.why(*place))


def _differences(
    table: str, at: str, column: str, columns: Mapping[str, list[str]], known: KnownFaults
) -> Iterator[Cell]:
    """Eq. (46), percent: 100 (f_EB - f_T) / f_T."""
    base = column.removeprefix("d")
    ours = iter(frequencies(table, at, base))
    T = frequencies(table, at, "T")
    for mode, text in enumerate(columns[column], 1):
        if number(columns[base][mode - 1]) is None:
            continue
        value = 100 * (next(ours) / T[mode - 1] - 1)
        if number(text) is None:
            continue
        place = (table, at, column, mode)
        row = {key: values[mode - 1] for key, values in columns.items()}
        right = {key: known.exact(table, at, key, mode) or row[key] for key in (base, "T")}
        # Exact, or as the paper formed it: from its rounded row, or divided by the column EBX. Then
        # the exact one must be what the row's frequencies allow (`right`: its misprints mended),
        # each known to half its last digit: 100 EB / T is so to 100 EB / T (half / EB + half / T)
        EB, Timoshenko, EBX = (number(row.get(key, "")) or math.nan for key in (base, "T", "EBX"))
        numerator = float(right[base])
        below = float(right["T"])
        off = half_digit(right[base]) / numerator + half_digit(right["T"]) / below
        allowed = 100 * numerator / below * off * (1 + 1e-6)
        ends = 100 * (numerator / below - 1) - allowed, 100 * (numerator / below - 1) + allowed
        slack = half_digit(text) + 1e-9
        windows = [as_printed(text)]
        if abs(100 * (EB - Timoshenko) / Timoshenko - float(text)) <= slack:
            windows.append(Window("rounded", *ends))
        elif abs(100 * (EB - Timoshenko) / EBX - float(text)) <= slack:
            windows.append(Window("misprint", *ends))
        yield _cell(place, text, value, tuple(windows), known)
