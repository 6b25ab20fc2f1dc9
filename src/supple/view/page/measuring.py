"""Pages of measurements: resonances, calibrations, fits and plans."""

from __future__ import annotations

import math

import numpy as np

from ...control.shapers import shaper
from ...measure.calibrate import Calibration
from ...measure.identify import Identification
from ...measure.resonances import Resonances
from ...measure.where_to_measure import MeasurementPlan
from ...studies.design.varied import coordinate_names
from .page import Chapter, Plot, Series, Table
from .reports import Report

__all__ = ["calibration_report", "identification_report", "plan_report", "resonances_report"]

POINTS = 1500  # of a curve


def _thin(*columns: np.ndarray) -> list[np.ndarray]:
    step = max(1, len(columns[0]) // POINTS)
    return [column[::step] for column in columns]


def resonances_report(found: Resonances) -> Report:
    """Return the page of resonances: table, spectrum and what was noticed."""
    rows = [
        (f"{f:.6g}", f"{s:.2g}", f"{100 * z:.3g}", f"{100 * e:.2g}")
        for f, s, z, e in zip(
            found.frequency_hz, found.std_hz, found.damping_ratio, found.std_damping, strict=True
        )
    ]
    heads = ("frequency (Hz)>", "std (Hz)>", "damping (%)>", "std (%)>")
    table = Table("Resonances", heads, rows, "Standard deviations are those of the estimates.")
    top = found.spectrum_hz[-1]
    if len(found.frequency_hz):
        top = min(top, 2.5 * float(found.frequency_hz.max()))
    inside = found.spectrum_hz <= top
    f, power, fit = _thin(found.spectrum_hz[inside], found.spectrum[inside], found.fit[inside])
    series = [Series("recorded", f, np.maximum(power, 1e-300))]
    known = np.isfinite(fit) & (fit > 0)
    if known.any():
        series.append(Series("fit", f[known], fit[known]))
    plots = [Plot("Spectrum", "frequency (Hz)", "power (units squared per Hz)", series, log=True)]
    if len(found.pole_hz):
        stable = found.stable
        orders = found.orders.astype(float)
        plots.append(
            Plot(
                "Stabilisation",
                "frequency (Hz)",
                "order of the fit",
                [
                    Series("pole", found.pole_hz[~stable], orders[~stable], marks=True),
                    Series("stable", found.pole_hz[stable], orders[stable], marks=True),
                ],
                note="Poles of rational fits of growing order; those that stay are stable.",
            )
        )
    text = [*found.harmonics, *(f"Noticed: {note}." for note in found.notes)]
    lead = [
        f"{', '.join(found.files)}: {found.excitation}, {found.duration:.4g} s at {found.rate:.6g} "
        f"samples per second, channels {', '.join(found.channels)}."
    ]
    return Report("Resonances", [Chapter(text=text, tables=[table], plots=plots)], lead)


def calibration_report(found: Calibration) -> Report:
    """Return the page of a calibration: one recommendation, and all shapers beside it."""
    rows = [
        (
            kind,
            f"{found.frequency_hz[k]:.4g}",
            f"{100 * found.vibration[k]:.3g}",
            f"{1e3 * found.time_added[k]:.3g}",
            f"{found.max_acceleration[k]:.3g}",
        )
        for k, kind in enumerate(found.kinds)
    ]
    heads = (
        "shaper",
        "frequency (Hz)>",
        "remains (%)>",
        "time added (ms)>",
        "acceleration (m/s2)>",
    )
    note = f"Highest acceleration at which a path is rounded by {1e3 * found.smoothing:.3g} mm."
    f = np.linspace(0.4 * found.resonance_hz, 1.8 * found.resonance_hz, 300)
    curves = [
        Series(
            kind,
            f,
            100 * shaper(kind, float(at), found.shaper.damping_ratio).residual(f),
            short=kind,
        )
        for kind, at in zip(found.kinds, found.frequency_hz, strict=True)
    ]
    plots = [Plot("What shapers leave", "frequency (Hz)", "remains (%)", curves)]
    tables = [Table("Shapers", heads, rows, note)]
    text = []
    if found.robot is not None:
        text.append(
            f"The resonance is mode {found.mode} of {found.robot.name}, {found.ratio:.4g} times "
            "what its file says; over its poses it lies between "
            f"{np.nanmin(found.schedule_hz):.4g} and {np.nanmax(found.schedule_hz):.4g} Hz."
        )
    lead = [
        f"Recommended: {found.recommended} at {found.shaper.frequency_hz:.4g} Hz; {found.reason}."
    ]
    return Report("Which shaper", [Chapter(text=text, tables=tables, plots=plots)], lead)


def identification_report(found: Identification) -> Report:
    """Return the page of a fit: parameters, correlations, measured and computed values."""
    start = found._problem.parameters.start
    rows = []
    for k, name in enumerate(found.names):
        low, high = found.interval(name, profile=False)
        known = math.isfinite(found.std[name])
        rows.append(
            (
                name,
                f"{start[k]:.6g}",
                f"{found.values[name]:.6g}",
                f"{found.std[name]:.3g}" if known else "not told",
                f"{low:.6g} to {high:.6g}" if known else "-",
            )
        )
    heads = ("parameter", "start>", "value>", "std>", "95 %>")
    tables = [Table("Parameters", heads, rows)]
    if len(found.names) > 1:
        pairs = [
            (name, *(f"{x:.3f}" for x in found.correlation[k]))
            for k, name in enumerate(found.names)
        ]
        numbers = [f"{k + 1}>" for k in range(len(found.names))]
        tables.append(Table("Correlations", ("parameter", *numbers), pairs))
    noise = [(name, f"{size:.3g}") for name, size in found.noise.items()]
    tables.append(
        Table("Noise", ("values", "standard deviation>"), noise, "Of frequencies relative.")
    )
    order, left = _thin(np.arange(len(found.normalised)) + 1.0, found.normalised)
    good = np.isfinite(left)
    plots = [
        Plot(
            "What is left",
            "value",
            "deviations of the noise",
            [Series("residual", order[good], left[good], marks=True)],
        )
    ]
    if len(found.measured) <= 400:
        values = [
            (
                label,
                f"{m:.6g}",
                f"{c:.6g}" if math.isfinite(c) else "-",
                f"{r:.2f}" if math.isfinite(r) else "-",
            )
            for label, m, c, r in zip(
                found.value_names, found.measured, found.computed, found.normalised, strict=True
            )
        ]
        columns = ("value", "measured>", "computed>", "left, deviations>")
        tables.append(Table("Values", columns, values))
    text = [f"Take care: {w}." for w in found.warnings] + [f"{n}." for n in found.notes]
    held_out = ""
    if found.validation_percent is not None:
        held_out = f", held-out values are predicted to {found.validation_percent:.4g} %"
    lead = [
        f"{len(found.measured)} values, {len(found.names)} parameters: fit "
        f"{found.fit_percent:.4g} %{held_out}."
    ]
    title = f"{found.nominal.name}: fitted to measurements"
    return Report(title, [Chapter(text=text, tables=tables, plots=plots)], lead)


def plan_report(found: MeasurementPlan) -> Report:
    """Return the page of a plan: poses to measure, deviations to expect."""
    names = coordinate_names(found.robot)
    poses = [(str(k + 1), *(f"{x:.4g}" for x in theta)) for k, theta in enumerate(found.theta)]
    tables = [
        Table(
            "Poses", ("measure", *(f"{name}>" for name in names)), poses, "Joint coordinates, SI."
        ),
        Table(
            "What to expect",
            ("parameter", "standard deviation>"),
            [(name, f"{size:.3g}") for name, size in found.std.items()],
        ),
    ]
    lead = [f"The {len(found.theta)} experiments that tell the parameters best."]
    text = [f"Take care: {w}." for w in found.warnings]
    return Report(
        f"{found.robot.name}: where to measure", [Chapter(text=text, tables=tables)], lead
    )
