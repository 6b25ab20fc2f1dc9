"""What a bench returns: rows with times and ratios, checks of the answers, goals met or missed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .timing import Timing

__all__ = ["Check", "Goal", "Report", "Row", "format_seconds", "rows_of"]

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def format_seconds(seconds: float) -> str:
    """A time with three digits and the unit that suits it."""
    size, unit = next((u for u in UNITS if seconds >= 0.9995 * u[0]), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


@dataclass(frozen=True)
class Row:
    """One line: a contestant, its timing, its ratio to the first row, and what else it tells."""

    name: str
    timing: Timing
    ratio: float
    more: dict[str, str] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Goal:
    """A number promised and the number found; smaller is better."""

    text: str
    limit: float
    value: float
    seconds: bool = True

    @property
    def met(self) -> bool:
        return self.value <= self.limit

    def line(self) -> str:
        show = format_seconds if self.seconds else "{:.3g}".format
        verdict = "pass" if self.met else "MISS"
        return f"{verdict}  {self.text}: {show(self.value)}, goal {show(self.limit)}"


@dataclass(frozen=True)
class Check:
    """Whether an answer is right; a wrong one makes the whole run fail."""

    text: str
    right: bool

    def line(self) -> str:
        return f"{'right' if self.right else 'WRONG'} {self.text}"


@dataclass(frozen=True)
class Report:
    """The answer of one bench. `unit`: what a time is for. `missing`: peers that were not there.

    `measured`: what was found where nothing is timed, as plain data to be drawn.
    """

    title: str
    unit: str
    rows: Sequence[Row] = ()
    goals: Sequence[Goal] = ()
    checks: Sequence[Check] = ()
    notes: Sequence[str] = ()
    missing: Sequence[str] = ()
    measured: Sequence[dict[str, Any]] = ()

    @property
    def right(self) -> bool:
        return all(check.right for check in self.checks)

    def text(self) -> str:
        parts = [self.title, *self._table()]
        parts += [f"  {goal.line()}" for goal in self.goals]
        parts += [f"  {check.line()}" for check in self.checks]
        parts += [f"  {note}" for note in self.notes]
        parts += [f"  not timed: {name}" for name in self.missing]
        return "\n".join(parts)

    def _table(self) -> list[str]:
        if not self.rows:
            return []
        more = list(dict.fromkeys(key for row in self.rows for key in row.more))
        lines = [["", f"a {self.unit}", "spread", "ratio", *more]]
        for row in self.rows:
            mark = " *" if row.timing.disturbed else ""
            numbers = [
                format_seconds(row.timing.seconds) + mark,
                f"{row.timing.spread:.0%}",
                f"{row.ratio:.3g}",
            ]
            lines.append([row.name, *numbers, *(row.more.get(key, "") for key in more)])
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        table = [
            "  "
            + "  ".join(
                [line[0].ljust(widths[0])]
                + [c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True)]
            )
            for line in lines
        ]
        if any(row.timing.disturbed for row in self.rows):
            table.append("  * other work took the processor away; processor time is shown")
        return table

    def document(self) -> dict[str, Any]:
        """The report as plain data for JSON."""
        return {
            "title": self.title,
            "unit": self.unit,
            "rows": [
                {
                    "name": row.name,
                    "seconds": row.timing.seconds,
                    "clock": "wall" if row.timing.outside else "processor",
                    "cpu_seconds": row.timing.cpu,
                    "wall_seconds": row.timing.wall,
                    "ratio": row.ratio,
                    **row.data,
                }
                for row in self.rows
            ],
            "goals": [
                {"text": g.text, "limit": g.limit, "value": float(g.value), "met": bool(g.met)}
                for g in self.goals
            ],
            "checks": [{"text": c.text, "right": bool(c.right)} for c in self.checks],
            "notes": list(self.notes),
            "missing": list(self.missing),
            "measured": list(self.measured),
        }


def rows_of(timings: Mapping[str, Timing], **more: Mapping[str, Mapping[str, Any]]) -> list[Row]:
    """Make rows with ratios to the first timing; `more` and `data` hold extras by name."""
    first = next(iter(timings.values()))
    return [
        Row(
            name,
            timing,
            timing.over(first),
            *(dict(more.get(k, {}).get(name, {})) for k in ("more", "data")),
        )
        for name, timing in timings.items()
    ]
