"""The page docs/performance.md, written from the reports of a run, with its pictures.

The words stand here, the figures come from the run: `python -m bench --page docs/performance.md`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["PICTURES", "page", "pictures", "table"]

COLUMNS = ("", "time", "spread", "ratio")
INTRODUCTION = """# Performance

Written by `make bench`; do not edit. Times are medians of rounds in which the contestants take
turns, in processor time unless a row counts several threads; the ratio is to the first row of its
table, formed round by round. Every bench holds the answers against one another before it tells a
time. How the benches measure stands under [compare speed](howto/benchmarks.md).
"""
ABOUT = {
    "sweep": "A million poses of the planar arm, every root certified, beside spectral elements "
    "of a careful engineer with SciPy; one thread and two.",
    "modes-industrial": "Peers on one arm: time at known accuracy.",
    "growth-alike": "Alike links share the work of one beam a frequency.",
}
CERTIFIED = 2e-11  # the usual width of a certified bracket
PICTURES = {
    "accuracy": (
        "modes-industrial",
        "Accuracy against time",
        "Industrial arm, ten modes: worst error over time",
    ),
    "links": (
        "growth-alike",
        "Growth with links",
        "Exact modes: time per configuration over the number of links",
    ),
    "modes": (
        "growth-modes",
        "Growth with modes",
        "Time per configuration over the number of modes asked for",
    ),
    "configurations": (
        "growth-configurations",
        "Growth with configurations",
        "Time per configuration over the size of the batch",
    ),
    "workers": ("sweep", "Growth with workers", "Rate of the sweep by threads"),
    "shaking": (
        "shaking",
        "What a move leaves shaking",
        "Worst of three payloads: what is left over time, each to the unshaped move",
    ),
}


def table(document: Mapping[str, Any]) -> list[str]:
    """Return the rows of a report as a Markdown table: name, time, spread, ratio."""
    from .report import format_seconds

    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    for row in document["rows"]:
        rounds = row["cpu_seconds"] if row["clock"] == "processor" else row["wall_seconds"]
        spread = (max(rounds) - min(rounds)) / row["seconds"] if row["seconds"] else 0.0
        time = format_seconds(row["seconds"])
        lines.append(f"| {row['name']} | {time} | {spread:.0%} | {row['ratio']:.3g} |")
    return lines


def page(run: Mapping[str, Any], folder: str = "performance") -> str:
    """Return the page of a run, the document that `python -m bench --json` prints."""
    versions = ", ".join(f"{name} {number}" for name, number in run["versions"].items())
    size = "a quick run" if run["quick"] else "a full run"
    lines = [INTRODUCTION, f"Python {run['python']}, {versions}. {run['cores']} cores, load "]
    lines[-1] += f"{run['load']} before and {run['load_after']} after: {size}.\n"
    for key, (name, title, text) in PICTURES.items():
        if _measured(run, key, name):
            lines += [f"## {title}\n", f"![{text}]({folder}/{key}.svg)\n"]
    for name, document in run["benches"].items():
        lines += [
            f"## {document['title']}\n",
            f"`python -m bench {name}`. {ABOUT.get(name, '')}".strip() + "\n",
        ]
        if document["rows"]:
            lines += [f"Time per {document['unit']}:\n", *table(document), ""]
        for goal in document["goals"]:
            verdict = "met" if goal["met"] else "MISSED"
            numbers = (goal["value"], goal["limit"])
            lines.append(f"- {verdict}: {goal['text']}: {numbers[0]:.3g}, goal {numbers[1]:.3g}")
        lines += [
            f"- {'right' if c['right'] else 'WRONG'}: {c['text']}" for c in document["checks"]
        ]
        lines += [f"- {note}" for note in document["notes"]] + [""]
    return "\n".join(lines).rstrip() + "\n"


def _measured(run: Mapping[str, Any], key: str, name: str) -> bool:
    """Whether a run has what a picture shows; threads only where they were timed."""
    rows = run["benches"].get(name, {}).get("rows", ())
    timed = key != "workers" or any("two threads" in row["name"] for row in rows)
    return name in run["benches"] and timed


def pictures(run: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the pictures of a run into a folder, SVG, and return them."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "supple"
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for key, (name, _, text) in PICTURES.items():
        if not _measured(run, key, name):
            continue
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        document = run["benches"][name]
        _DRAWN[key](axes, document["rows"] or document["measured"])
        axes.set_title(text, fontsize=10)
        axes.grid(alpha=0.3, which="both" if key != "workers" else "major")
        made.append(folder / f"{key}.svg")
        figure.savefig(made[-1], metadata={"Date": None})
    return made


def _accuracy(axes: Any, rows: list[dict[str, Any]]) -> None:
    """A line a family of elements, each point marked with its number or degree."""
    families: dict[str, list[tuple[float, float, str]]] = {}
    for row in rows:
        family = row["name"]
        mark = ""
        error = CERTIFIED
        if not row["name"].startswith("supple exact"):
            error = max(row["errors"])
            engine, kind = row["name"].split(", ")
            mark = max(re.findall(r"\d+", kind), key=int)
            word = "one of high degree" if "degree" in kind else kind.split()[1]
            family = f"{engine}, {word} per link"
        families.setdefault(family, []).append((row["seconds"], error, mark))
    for family, points in families.items():
        times, errors, marks = zip(*points, strict=True)
        axes.loglog(times, errors, "o-", ms=5, label=family)
        for at in zip(times, errors, marks, strict=True):
            axes.annotate(at[2], at[:2], xytext=(4, 4), textcoords="offset points", fontsize=7)
    axes.margins(x=0.1, y=0.1)
    axes.legend(fontsize=7, loc="center left")
    axes.set_xlabel("time per configuration (s)")
    axes.set_ylabel("worst relative error")


def _against_size(label: str) -> Any:
    def draw(axes: Any, rows: list[dict[str, Any]]) -> None:
        lines: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if "size" in row:
                lines.setdefault(row.get("line", ""), []).append((row["size"], row["seconds"]))
        for name, points in lines.items():
            axes.loglog(*zip(*points, strict=True), "o-", ms=4, label=name or None)
        if any(lines):
            axes.legend(fontsize=8)
        axes.set_xlabel(label)
        axes.set_ylabel("time per configuration (s)")

    return draw


def _workers(axes: Any, rows: list[dict[str, Any]]) -> None:
    names = [row["name"].replace(", ", ",\n") for row in rows]
    axes.bar(names, [1 / min(row["wall_seconds"]) for row in rows], width=0.5)
    axes.set_yscale("log")
    axes.set_ylabel("configurations per second (wall clock)")


def _shaking(axes: Any, rows: list[dict[str, Any]]) -> None:
    robots = list(dict.fromkeys(row["robot"] for row in rows))
    colours = {"zvd": "tab:orange", "scheduled": "tab:green", "optimised": "tab:blue"}
    for row in rows:
        first = row["left"][0]
        T = row["duration"][0]
        for method, left, duration in zip(
            row["methods"][1:], row["left"][1:], row["duration"][1:], strict=True
        ):
            marker = "o^s"[robots.index(row["robot"]) % 3]
            axes.semilogy(duration / T, left / first, marker, color=colours[method], ms=5)
    for method, colour in colours.items():
        axes.plot([], [], "-", lw=4, color=colour, label=method)
    for k, robot in enumerate(robots):
        axes.plot([], [], "o^s"[k % 3], color="0.4", label=robot)
    axes.plot(1, 1, "*", color="k", ms=9, label="unshaped")
    axes.axhline(0.1, ls="--", lw=0.8, color="0.4")
    axes.text(1.0, 0.11, "a tenth", fontsize=8, color="0.4")
    axes.legend(fontsize=7, loc="upper right")
    axes.set_xlabel("time of the command, over that of the unshaped move")
    axes.set_ylabel("left, over that of unshaped")


_DRAWN = {
    "accuracy": _accuracy,
    "links": _against_size("links"),
    "modes": _against_size("modes"),
    "configurations": _against_size("configurations in the batch"),
    "workers": _workers,
    "shaking": _shaking,
}
