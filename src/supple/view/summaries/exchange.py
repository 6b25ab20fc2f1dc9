"""Summaries of answers that stand beside others: exports, other engines, papers."""

from __future__ import annotations

from typing import Any

from .layout import configuration, count_of, number, table

__all__ = ["export_text", "reproduction_text", "validation_text"]


def export_text(found: Any) -> str:
    """What was written, and its frequencies beside the certified ones."""
    lines = [f"Export to {found.to}: {count_of(len(found.files), 'file')}, first {found.files[0]}"]
    rows = []
    pairs = zip(found.frequency_hz, found.exact_hz, strict=False)
    for mode, (ours, exact) in enumerate(pairs, start=1):
        rows.append((str(mode), number(ours), number(exact), f"{100 * (ours / exact - 1):+.2f}"))
    if rows:
        lines += table(("mode", "export Hz", "certified Hz", "%"), rows)
    if found.rule:
        lines.append(f"  {found.rule}")
    lines += [f"  note: {note}" for note in found.notes]
    return "\n".join(lines)


def validation_text(found: Any) -> str:
    """Answers of other engines beside ours, question by question."""
    rows = []
    for row in found:
        if row.ours == 0 and row.theirs == 0:
            continue  # out of the plane of a planar robot: nothing to compare
        rows.append(
            (
                number(row.ours, 6),
                number(row.theirs, 6),
                f"{row.difference:.0e}" if row.difference else "0",
                f"{row.engine}: {row.question}",
            )
        )
    where = configuration(found.robot, found.theta)
    lines = [f"Validation of {found.robot.name} at {where}"]
    if rows:
        lines += table(("ours", "theirs", "difference", "asked"), rows)
        worst = max(found, key=lambda row: row.difference)
        lines.append(f"  largest difference {worst.difference:.0e}: {worst.question}")
    lines += [f"  not asked: {reason}" for reason in found.skipped]
    return "\n".join(lines)


def reproduction_text(found: Any) -> str:
    """Verdicts table by table, and what does not agree."""
    verdict = "all as expected" if found.ok else "not all as expected"
    lines = [
        f"Reproduction of {found.source} ({found.paper}): {count_of(len(found.cells), 'number')}, "
        f"{count_of(len(found.claims), 'claim')}; {verdict}"
    ]
    rows = []
    for place, verdicts in found.tally().items():
        words = ", ".join(f"{count} {word}" for word, count in verdicts.items())
        rows.append((place, words))
    if rows:
        lines += table(("place", "verdicts"), rows)
    return "\n".join(lines)
