"""Run the benches: `python -m bench [--quick] [--json] [--strict] [name ..]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import (
    delta,
    dynamics,
    exported,
    growth,
    growth_dynamics,
    matrix,
    mechanisms,
    modes,
    runs,
    shaking,
    sliding,
    startup,
    sweep,
    view,
)
from .page import page, pictures
from .report import Report

BENCHES: dict[str, Callable[[bool], Report]] = {
    **modes.BENCHES,
    **sweep.BENCHES,
    **startup.BENCHES,
    **growth.BENCHES,
    **growth_dynamics.BENCHES,
    **view.BENCHES,
    **dynamics.BENCHES,
    **exported.BENCHES,
    **mechanisms.BENCHES,
    **runs.BENCHES,
    **matrix.BENCHES,
    **sliding.BENCHES,
    **delta.BENCHES,
    **shaking.BENCHES,
}
ENGINES = ("supple", "numpy", "scipy", "casadi", "openseespy", "pin", "mujoco", "exudyn")


def chosen(names: Sequence[str]) -> list[str]:
    """Return the benches meant: all of them, or those whose name begins with a word given."""
    unknown = [word for word in names if not any(name.startswith(word) for name in BENCHES)]
    if unknown:
        raise SystemExit(f"no bench begins with '{unknown[0]}': there are {', '.join(BENCHES)}")
    return [name for name in BENCHES if not names or name.startswith(tuple(names))]


def surroundings() -> dict[str, Any]:
    """What a reader must know beside the times: versions, cores, and how busy they are."""
    versions = {}
    for name in ENGINES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    load = [round(x, 2) for x in os.getloadavg()] if hasattr(os, "getloadavg") else []
    return {
        "python": platform.python_version(),
        "versions": versions,
        "cores": os.cpu_count(),
        "load": load,
    }


def attempt(name: str, quick: bool) -> tuple[Report | None, str]:
    """Run one bench; a bench that fails says why and the others go on."""
    try:
        return BENCHES[name](quick), ""
    except Exception:  # noqa: BLE001
        return None, traceback.format_exc()


def summary(reports: dict[str, Report | None]) -> list[str]:
    """One line a goal, and how many answers were right."""
    lines = ["Goals"]
    for name, report in reports.items():
        if report is None:
            lines.append(f"  FAIL  {name}: it did not run")
            continue
        lines += [f"  {goal.line()}  [{name}]" for goal in report.goals]
        lines += [f"  {check.line()}  [{name}]" for check in report.checks if not check.right]
    every = [check.right for report in reports.values() if report for check in report.checks]
    return [*lines, f"{sum(every)} of {len(every)} checks of answers right"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print, and return 0 unless an answer was wrong, a bench failed or, if strict, a goal."""
    parser = argparse.ArgumentParser("python -m bench", description="supple beside other engines")
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"beginnings of {', '.join(BENCHES)}"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small batches, 3 rounds: a rough look"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document and nothing else"
    )
    parser.add_argument("--strict", action="store_true", help="a missed goal fails the run, too")
    parser.add_argument("--page", type=Path, help="write the page and its pictures here, too")
    options = parser.parse_args(arguments)
    names = chosen(options.names)
    before = surroundings()

    def say(*words: object) -> None:
        if not options.json:
            print(*words, flush=True)

    say(f"Median of {3 if options.quick else 5} rounds, one thread. {before}\n")
    reports = {}
    faults = {}
    for name in names:
        reports[name], fault = attempt(name, options.quick)
        if fault:
            faults[name] = fault
        report = reports[name]
        outcome = report.text() if report else f"FAILED\n{fault}"
        say(f"[{name}] {outcome}\n")
    after = surroundings()
    say("\n".join(summary(reports)), f"\nload at the end {after['load']}")
    documents = {name: report.document() for name, report in reports.items() if report}
    run = {
        **before,
        "load_after": after["load"],
        "quick": options.quick,
        "benches": documents,
        "failed": faults,
    }
    if options.json:
        print(json.dumps(run))
    if options.page is not None:
        pictures(run, options.page.with_suffix(""))
        options.page.write_text(page(run, options.page.stem), encoding="utf-8")
        say(f"written: {options.page}")

    wrong = bool(faults)
    missed = False
    for report in reports.values():
        if report:
            wrong = wrong or not report.right
            missed = missed or any(not goal.met for goal in report.goals)
    return int(wrong or (options.strict and missed))


if __name__ == "__main__":
    sys.exit(main())
