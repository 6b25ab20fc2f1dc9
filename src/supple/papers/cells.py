"""Cell, Claim, Reproduction: a paper's printed numbers beside ours, each with a verdict.

A verdict follows from numbers. A Cell's is that of the Window in which ours lies. A Claim's follows
from its Measures, each of which says whose bounds it has to keep: those of the paper's statement,
those of an independent computation of our number, or those of the paper with a known correction.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..answers.answer import Answer

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Cell",
    "Claim",
    "KnownFaults",
    "Measure",
    "Reproduction",
    "Verdict",
    "Window",
    "about",
    "as_printed",
    "gap",
    "half_digit",
    "number",
    "printed_numbers",
    "right_number",
]

Verdict = Literal["agrees", "rounded", "misprint", "not reproducible", "differs"]
Side = Literal["paper", "independent", "corrected"]
Origin = Literal["printed", "recomputed"]
Place = tuple[str, str, str, int]
MEANING: Mapping[Verdict, str] = {
    "agrees": "ours lies within half the last printed digit",
    "rounded": "printed from numbers already rounded; the exact one is ours",
    "misprint": "the printed number is wrong; the reason is known",
    "not reproducible": "cannot follow from what is printed; what is right is said instead",
    "differs": "unexplained",
}


@dataclass(frozen=True)
class Window:
    """Where our number must lie for a verdict, ends included; for words, `low` begins them."""

    verdict: Verdict
    low: float | str
    high: float | str

    def holds(self, ours: float | str) -> bool:
        """Whether our number lies in it."""
        if isinstance(ours, str) or isinstance(self.low, str) or isinstance(self.high, str):
            return isinstance(self.low, str) and str(ours).startswith(self.low)
        return self.low <= ours <= self.high


SIDES: Mapping[Side, str] = {
    "paper": "what the paper states",
    "independent": "our number by an independent computation or law",
    "corrected": "the paper with its known slip corrected",
}


@dataclass(frozen=True)
class Measure:
    """One number behind a Claim and the bounds that it has to keep, ends included.

    Attributes
    ----------
    what
        The quantity.
    ours
        Our number.
    low, high
        The bounds.
    side
        Whose bounds they are (`SIDES`).
    origin
        Where they come from, in words.
    """

    what: str
    ours: float
    low: float
    high: float
    side: Side = "independent"
    origin: str = ""

    def line(self) -> str:
        """Return it as one line: the number, its bounds and their origin."""
        word = "holds" if self.holds else "does not hold"
        bounds = f"{self.low:.6g} to {self.high:.6g}"
        return f"{self.what}: {self.ours:.6g}, {bounds} {word} ({self.side}: {self.origin})"

    @property
    def holds(self) -> bool:
        """Whether it keeps them."""
        return self.low <= self.ours <= self.high


class Judged(ABC):
    """What bears a verdict, the one that was foreseen, and a reason."""

    expected: Verdict
    why: str

    @property
    @abstractmethod
    def verdict(self) -> Verdict:
        """The verdict that our numbers give."""

    @property
    @abstractmethod
    def statement(self) -> str:
        """What the paper says and what we find."""

    @property
    def ok(self) -> bool:
        """Whether the verdict is the foreseen one."""
        return self.verdict == self.expected

    @property
    def verdict_text(self) -> str:
        """The verdict, and the foreseen one where they differ."""
        return self.verdict if self.ok else f"{self.verdict}, EXPECTED {self.expected}"

    def line(self) -> str:
        """Return it as one sentence."""
        text = f"{self.statement}: {self.verdict_text}"
        return f"{text} ({self.why})" if self.why else text


@dataclass(frozen=True)
class Cell(Judged):
    """One printed cell. `expected` is the verdict our own list of known faults foresees.

    Attributes
    ----------
    printed
        As in the paper, digits and all.
    ours
        The same quantity, computed here.
    origin
        `printed` in the paper, or `recomputed` apart from supple where the paper only draws it.
    windows
        Where ours may lie and what that means, the first that holds decides.
    """

    table: str
    posture: str
    column: str
    mode: int
    printed: str
    ours: float | str
    windows: tuple[Window, ...]
    expected: Verdict = "agrees"
    why: str = ""
    origin: Origin = "printed"

    @property
    def verdict(self) -> Verdict:
        """That of the first window in which ours lies."""
        return next((w.verdict for w in self.windows if w.holds(self.ours)), "differs")

    @property
    def place(self) -> str:
        """Where the cell stands, as one phrase."""
        angles = self.posture.strip("-0123456789.,") == ""
        posture = f"{self.posture} deg" if angles else self.posture
        mode = f"mode {self.mode}" if angles else str(self.mode)
        return f"{self.table}, {posture}, {self.column}, {mode}"

    @property
    def formatted_value(self) -> str:
        """Our value with the digits that matter beside the printed one."""
        if isinstance(self.ours, str):
            return self.ours
        decimals = len(self.printed.partition(".")[2]) + 3
        return f"{self.ours:.{decimals}f}"

    @property
    def statement(self) -> str:
        """What was printed and what is ours."""
        return f"{self.place}: {self.origin} {self.printed}, ours {self.formatted_value}"


@dataclass(frozen=True)
class Claim(Judged):
    """One statement of a paper, and what we measure of it.

    The verdict follows from the measures alone:

    1. `differs`: a measure against an independent computation does not hold, so that our own
       number is in doubt.
    2. `agrees`: the paper's bounds hold.
    3. `misprint`: they do not, but those of the paper with its slip corrected do.
    4. `not reproducible`: neither, and our number is confirmed.
    """

    place: str
    says: str
    ours: str
    measures: tuple[Measure, ...]
    expected: Verdict = "agrees"
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """The one that the measures give."""

        def hold(side: Side) -> bool:
            return all(measure.holds for measure in self.measures if measure.side == side)

        corrected = [measure for measure in self.measures if measure.side == "corrected"]
        if not self.measures or not hold("independent"):
            return "differs"
        if hold("paper"):
            return "agrees"
        return "misprint" if corrected and hold("corrected") else "not reproducible"

    @property
    def statement(self) -> str:
        """What the paper says and what is ours."""
        return f"{self.place}: '{self.says}'; ours: {self.ours}"


@dataclass(frozen=True)
class Reproduction(Answer):
    """A paper recomputed.

    From `supple.reproduce`.

    Attributes
    ----------
    paper : str
        Short name.
    source : str
        Key of the paper.
    cells : tuple of Cell
        Printed numbers beside ours.
    claims : tuple of Claim
        Statements of the paper that were checked.
    notes : tuple of str
        How its text had to be read.
    results : mapping
        Answers behind it that can be plotted, by name.
    """

    paper: str
    source: str
    cells: tuple[Cell, ...]
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    results: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    table_rows: ClassVar = ("entry",)

    @property
    def ok(self) -> bool:
        """Whether every verdict is the foreseen one."""
        entries: list[Cell | Claim] = [*self.cells, *self.claims]
        return all(entry.ok for entry in entries)

    def tally(
        self, kinds: tuple[str, ...] = ("printed", "recomputed", "claims")
    ) -> dict[str, Counter[Verdict]]:
        """Return how often each verdict was given, table by table.

        kinds: of what: numbers `printed` by the paper, numbers `recomputed` apart from supple that
        the paper only draws, `claims`.
        """
        tables: dict[str, Counter[Verdict]] = {}
        for cell in self.cells:
            if cell.origin in kinds:
                tables.setdefault(cell.table, Counter())[cell.verdict] += 1
        for claim in self.claims if "claims" in kinds else ():
            tables.setdefault(claim.place, Counter())[claim.verdict] += 1
        return tables

    def grouped(self) -> dict[tuple[str, str], list[Cell]]:
        """Return the cells that do not simply agree by verdict and reason, the unforeseen first."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in sorted(self.cells, key=attrgetter("ok")):
            if cell.verdict != "agrees" or not cell.ok:
                groups.setdefault((cell.verdict_text, cell.why), []).append(cell)
        return groups

    @property
    def summary(self) -> str:
        """Whether it is `ok`, as a sentence."""
        return f"{'Every' if self.ok else 'NOT every'} verdict is as expected."

    def lines(self) -> list[str]:
        """Return the whole answer as lines of text: per table, then entry by entry, then notes."""
        tables = self.tally()
        tables["all"] = sum(tables.values(), Counter[Verdict]())
        counts = []
        for table, count in tables.items():
            each = ", ".join(f"{count[v]} {v}" for v in MEANING if count[v])
            counts.append(f"  {table}: {count.total()} entries, {each}")
        return [
            f"{self.paper} {self.source}",
            *counts,
            *(f"  {cell.line()}" for group in self.grouped().values() for cell in group),
            *(line for claim in self.claims for line in _claim_lines(claim)),
            *(f"  note: {note}" for note in self.notes),
            f"  {self.summary}",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "paper": self.paper,
            "source": self.source,
            "ok": self.ok,
            "tables": {table: dict(counts) for table, counts in self.tally().items()},
            "cells": [
                vars(c)
                | {"windows": [vars(w) for w in c.windows], "verdict": c.verdict, "ok": c.ok}
                for c in self.cells
            ],
            "claims": [
                vars(c)
                | {"measures": [vars(m) for m in c.measures], "verdict": c.verdict, "ok": c.ok}
                for c in self.claims
            ],
            "notes": list(self.notes),
            "verdicts": dict(MEANING),
        }


def _claim_lines(claim: Claim) -> list[str]:
    """A claim, and the measures behind it with the origin of their bounds."""
    return [f"  {claim.line()}", *(f"    {measure.line()}" for measure in claim.measures)]


def table(found: Reproduction) -> pandas.DataFrame:
    """Return every cell and claim, a row each: place, printed, ours, verdict, the expected one."""
    import pandas

    rows: list[tuple[str, ...]] = []
    for c in found.cells:
        place = (c.table, c.posture, c.column, str(c.mode))
        rows.append((*place, c.printed, c.formatted_value, c.verdict, c.expected, c.why, c.origin))
    for claim in found.claims:
        bounds = "; ".join(measure.line() for measure in claim.measures)
        words = (claim.says, claim.ours, claim.verdict, claim.expected, claim.why, bounds)
        rows.append((claim.place, "", "", "", *words))
    columns = ["table", "posture", "column", "mode", "printed", "ours", "verdict", "expected"]
    columns += ["why", "origin"]
    return pandas.DataFrame(rows, columns=columns).rename_axis("entry")


class KnownFaults:
    """The list of known faults of a paper: what is foreseen for (table, posture, column, mode)."""

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        self._entries: dict[Place, Mapping[str, Any]] = {
            (e["table"], e["posture"], e["column"], mode): e for e in entries for mode in e["modes"]
        }

    def expected(self, *place: *Place) -> Verdict:
        """Return the verdict foreseen."""
        verdict: Verdict = self._entries.get(place, {}).get("verdict", "agrees")
        return verdict

    def why(self, *place: *Place) -> str:
        """Return the reason of the fault, or nothing."""
        return str(self._entries.get(place, {}).get("why", ""))

    def exact(self, *place: *Place) -> str | None:
        """Return the right value of a misprinted cell, as many digits as are known."""
        exact: str | None = self._entries.get(place, {}).get("exact")
        return exact


def printed_numbers(paper: str) -> dict[str, Any]:
    """Return the printed numbers of a paper, from the package's data."""
    text = (files(__package__) / f"{paper}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def right_number(source: str, name: str) -> list[str]:
    """Return what is right of a paper under a name of the list of errata, as text."""
    rows = printed_numbers("errata")["numbers"]
    found: list[str] = next(
        row["values"] for row in rows if (row["source"], row["name"]) == (source, name)
    )
    return found


def number(text: str) -> float | None:
    """Return a printed number, or None for words and dashes."""
    try:
        return float(text)
    except ValueError:
        return None


def half_digit(text: str) -> float:
    """Return half a unit of the last printed digit: 0.05 for `12.3`, 0.5 for `102`."""
    decimals = len(text.partition(".")[2])
    return 0.5 * 10.0**-decimals


def as_printed(text: str, verdict: Verdict = "agrees") -> Window:
    """Return the window of a printed number: half its last digit to both sides."""
    return Window(verdict, float(text) - half_digit(text), float(text) + half_digit(text))


def about(
    what: str, ours: float, text: str, origin: str = "", side: Side = "independent"
) -> Measure:
    """Return a measure that must agree with a number, given as text, in every digit of it."""
    low = float(text) - half_digit(text)
    high = float(text) + half_digit(text)
    return Measure(what, float(ours), low, high, side, origin)


def gap(
    what: str, ours: float, most: float, origin: str = "", side: Side = "independent"
) -> Measure:
    """Return a measure of a difference, or an error: from 0 to `most`."""
    return Measure(what, float(ours), 0.0, most, side, origin)
