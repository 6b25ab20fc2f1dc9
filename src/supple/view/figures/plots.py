"""Figures of answers: mode-shape grids, frequencies along a path, sag. Nothing is computed here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...architectures.kinds import architecture_of
from ...arguments import vector
from ...errors import SuppleError
from ...robot import Robot
from ...studies.statics import Statics
from ...studies.vibration.modes import Modes
from ...studies.vibration.shapes import Shapes
from ...studies.vibration.theories import Theories
from ..scene.scene import pose_text, running
from ..style import COLOURS, QUIET, finish, house_style, wrap_text
from ..wording import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "limits_of",
    "plot_frequencies",
    "plot_modes",
    "plot_statics",
    "plot_theories",
    "set_planar_axes",
    "set_spatial_axes",
]

Array = NDArray[np.float64]


def plot_modes(
    modes: Modes,
    path: str | Path | None = None,
    points: int = 41,
    x: ArrayLike | None = None,
    label: str | None = None,
    log: bool = False,
) -> Figure:
    """Draw every mode of one configuration: undeformed arm, deformed arm, Hz and kind.

    As in [DiCastri2011], Figure 5. The deformation is scaled so that the largest displacement is
    12 % of the arm's extent; only its form has a meaning. A batch is drawn as its frequencies,
    along `x` with its `label` if given; `log` makes their axis logarithmic (`plot_frequencies`).
    """
    import matplotlib.pyplot as plt

    if modes.omega.ndim > 1 or x is not None or label is not None:
        return plot_frequencies(modes, x, label, path, log)
    shapes = modes.shape(points)
    count = len(modes.omega)
    columns = min(count, 5 if count > 8 else 4 if count in (4, 7, 8) else 3)
    rows = math.ceil(count / columns)
    spatial = not shapes.planar
    box = limits_of(shapes.position)
    wide = max(2.8 * columns, 4.2)
    pose = pose_text(modes.robot, modes.theta, modes.position)
    inside = "" if modes.plane is None else f" in the {modes.plane} plane"
    proven = modes.certified
    certified = f"certified{inside}" if proven else f"by {modes.method}, not certified"
    title = f"{modes.robot.name}, {pose}, joints {modes.joints}, {certified}"
    heading = wrap_text(title, 0.95 * wide)
    titles = _titles(modes, shapes, wide / columns)
    lines = max(title.count("\n") for title in titles) - 1, heading.count("\n")
    # inches a row of panels needs so that nothing overlaps and little is left empty
    width, height, _ = np.ptp(box, axis=1)
    row_height = 3.0 if spatial else 2.4 * min(max(height / width, 0.4), 2.0) + 0.95
    tall = (row_height + 0.14 * lines[0]) * rows + 0.4 + 0.16 * lines[1]
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(wide, tall),
            squeeze=False,
            subplot_kw={"projection": "3d"} if spatial else {},
            layout="constrained",
        )
        for mode, ax in enumerate(axes.flat):
            if mode >= count:
                ax.remove()
                continue
            moved = shapes.global_displacement[mode]
            corners = np.concatenate([shapes.position.reshape(-1, 3), np.zeros((1, 3))])
            scale = EXAGGERATION * np.ptp(corners, axis=0).max() / (np.abs(moved).max() or 1.0)
            _draw_bent(ax, modes.robot, shapes.names, shapes.position, scale * moved)
            if spatial:
                set_spatial_axes(ax, box, modes.robot)
            else:
                set_planar_axes(ax, box, first=mode % columns == 0, last=mode + columns >= count)
            ax.set_title(titles[mode])
        if spatial:  # the layout does not see the labels of axes in space
            figure.get_layout_engine().set(w_pad=0.16)  # type: ignore[union-attr, call-arg]
        figure.suptitle(heading, fontsize=10)
        return finish(figure, path)


def _titles(modes: Modes, shapes: Shapes, inches: float) -> list[str]:
    """Number, frequency and kind of every mode, in lines that fit a panel."""
    titles = []
    for mode, value in enumerate(modes.frequency_hz):
        hertz = f"{value:.4g}" if value < 1e4 else f"{value:.6g}"
        titles.append(f"mode {mode + 1}: {hertz} Hz\n{shapes.kind(mode)}")
    return [wrap_text(words, inches - 0.4, 9) for words in titles]


EXAGGERATION = 0.12  # largest drawn displacement over the arm's extent


def limits_of(position: Array) -> Array:
    """Return (3, 2) limits that hold the arm, its base and any drawn deformation."""
    points = np.concatenate([position.reshape(-1, 3), np.zeros((1, 3))])
    low = points.min(axis=0)
    high = points.max(axis=0)
    room = 1.3 * EXAGGERATION * ((high - low).max() or 1.0)
    return np.stack([low - room, high + room], axis=1)


def _draw_bent(ax: Any, robot: Robot, names: Sequence[str], position: Array, moved: Array) -> None:
    """Links (n, P, 3) at rest and moved, and the plates between them; in x-y if planar."""
    planar = architecture_of(robot).planar
    axes = slice(0, 2) if planar else slice(0, 3)
    bent = position + moved
    for i, parent in enumerate(architecture_of(robot).hangs(tuple(names)).parents):
        # A rigid link between joints that lie apart
        start = bent[parent, -1] if parent >= 0 else np.zeros(3)
        rod = np.array([start, bent[i, 0]])
        if np.ptp(rod, axis=0).max() > 1e-9 and (parent >= 0 or architecture_of(robot).open_chain):
            ax.plot(*rod[:, axes].T, color=QUIET, linewidth=2.0, solid_capstyle="round")
    for i in range(len(names)):
        if not np.ptp(position[i], axis=0).any():  # a body without length
            continue
        ax.plot(*position[i][:, axes].T, color=QUIET, linewidth=1.0, linestyle=(0, (4, 3)))
        line = bent[i][:, axes].T
        ax.plot(*line, color=COLOURS[0], linewidth=2.0)
        ax.plot(*line[:, :1], "o", color="white", markeredgecolor=COLOURS[0], markersize=4)
        ax.plot(*line[:, -1:], "o", color=COLOURS[1], markersize=3.5)
    for (links, end), colour in zip(
        architecture_of(robot).hangs(tuple(names)).plates, (QUIET, COLOURS[1]), strict=False
    ):
        # A rigid body through the points that hold it, (k, 3)
        corners = bent[links, end]
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # type: ignore[import-untyped]

        plate = Poly3DCollection([corners], facecolor=colour, edgecolor=colour, alpha=0.35)
        ax.add_collection3d(plate)


def set_planar_axes(ax: Axes, box: Array, first: bool, last: bool) -> None:
    """Equal scales, limits, and labels with their unit at the first column and last row."""
    ax.set_xlim(*box[0])
    ax.set_ylim(*box[1])
    ax.set_aspect("equal")
    unit = _label_lengths((ax.xaxis, ax.yaxis), box)
    ax.set_xlabel(f"x ({unit})" if last else "")
    ax.set_ylabel(f"y ({unit})" if first else "")


def _label_lengths(axes: Sequence[Any], box: Array) -> str:
    """Write ticks in a unit that suits the size of what is drawn; return the unit."""
    from matplotlib.ticker import MaxNLocator

    extent = float(np.ptp(box, axis=1).max())
    unit, times = ("µm", 1e6) if extent < 2e-3 else ("mm", 1e3) if extent < 0.2 else ("m", 1.0)
    for axis in axes if times > 1 else ():
        axis.set_major_locator(MaxNLocator(4))
        axis.set_major_formatter(lambda value, _, times=times: f"{times * value:g}")
    return unit


def set_spatial_axes(ax: Any, box: Array, robot: Robot) -> None:
    """Limits, few ticks, and z the way the robot stands."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    for name, limits in zip("xyz", box, strict=True):
        getattr(ax, f"set_{name}lim")(*limits)
        getattr(ax, f"{name}axis").set_major_locator(MaxNLocator(2))
        ax.tick_params(axis=name, pad=-2, labelsize=7)
    unit = _label_lengths((ax.xaxis, ax.yaxis, ax.zaxis), box)
    for name, (low, high) in zip("xyz", box, strict=True):
        getattr(ax, f"set_{name}label")(f"{name} ({unit})", labelpad=-4, fontsize=8)
        if high - low < 0.4 * np.ptp(box, axis=1).max():  # room for one number only
            only = 0.0 if low <= 0 <= high else float(f"{(low + high) / 2:.1g}")
            getattr(ax, f"{name}axis").set_major_locator(FixedLocator([only]))
    if architecture_of(robot).up[2] < 0:
        ax.invert_zaxis()
    ax.set_box_aspect(np.ptp(box, axis=1), zoom=0.86)


def plot_theories(compared: Theories, path: str | Path | None = None, points: int = 41) -> Figure:
    """Overlay the shapes of all theories, one panel per mode of the reference.

    As in [DiCastri2011], Figure 5, in one picture: a theory's mode is drawn where it has the shape
    of the reference's mode, and left out where none has. Only the form of a shape has a meaning.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    count = compared.omega.shape[1]
    shapes = [each.shape(points) for each in compared.found]
    reference = shapes[0]
    spatial = not reference.planar
    box = limits_of(reference.position)
    columns = min(count, 5 if count > 8 else 4 if count in (4, 7, 8) else 3)
    rows = math.ceil(count / columns)
    wide = max(3.0 * columns, 5.0)
    width, height, _ = np.ptp(box, axis=1)
    row_height = 3.0 if spatial else 2.4 * min(max(height / width, 0.4), 2.0) + 1.2
    with house_style():
        figure, axes = plt.subplots(
            rows,
            columns,
            figsize=(wide, row_height * rows + 1.0),
            squeeze=False,
            subplot_kw={"projection": "3d"} if spatial else {},
            layout="constrained",
        )
        dimensions = slice(0, 3) if spatial else slice(0, 2)
        for mode, ax in enumerate(axes.flat):
            if mode >= count:
                ax.remove()
                continue
            for link in reference.position:
                rest = link[:, dimensions].T
                ax.plot(*rest, color=QUIET, linewidth=1.0, linestyle=(0, (4, 3)))
            reference_moved = reference.global_displacement[mode]
            title = [f"mode {mode + 1}: {compared.frequency_hz[0, mode]:.5g} Hz"]
            for row, each in enumerate(shapes):
                partner = int(compared.partner[row, mode])
                if not partner:
                    continue
                moved = each.global_displacement[partner - 1]
                sign = 1.0 if np.vdot(moved, reference_moved) >= 0 else -1.0
                extent = float(np.ptp(reference.position.reshape(-1, 3), axis=0).max()) or 1.0
                scale = sign * EXAGGERATION * extent / (np.abs(moved).max() or 1.0)
                for link, shift in zip(each.position, moved, strict=True):
                    bent = (link + scale * shift)[:, dimensions].T
                    ax.plot(
                        *bent, color=COLOURS[row], linewidth=3.2 - 1.0 * row, alpha=0.85, zorder=3
                    )
                if row:
                    change = f"{compared.partner_difference[row, mode]:+.2g} %"
                    number = "" if partner == mode + 1 else f", its mode {partner}"
                    title.append(f"{SHORT[compared.names[row]]} {change}{number}")
            if spatial:
                set_spatial_axes(ax, box, compared.robot)
            else:
                set_planar_axes(ax, box, first=mode % columns == 0, last=mode + columns >= count)
            ax.set_title("\n".join(title), fontsize=8)
        handles = [
            Line2D([], [], color=COLOURS[row], linewidth=3.2 - 1.0 * row, label=name)
            for row, name in enumerate(compared.names)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        pose = pose_text(compared.robot, compared.theta, compared.position)
        heading = f"{compared.robot.name}, {pose}, joints {compared.joints}; percent from "
        figure.suptitle(wrap_text(heading + compared.reference, 0.95 * wide), fontsize=10)
        return finish(figure, path)


SHORT = {"timoshenko": "T", "euler-bernoulli": "EB", "inextensible": "EB without axial"}


def plot_frequencies(
    modes: Modes,
    x: ArrayLike | None = None,
    label: str | None = None,
    path: str | Path | None = None,
    log: bool = False,
) -> Figure:
    """Draw the frequencies of a batch of configurations, Hz, along x.

    x defaults to the one joint that changes; with several, to the number of the configuration.
    As in [Kuo2016], Fig. 4. log: a logarithmic axis of frequencies.
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

    if modes.omega.ndim == 1:
        raise SuppleError(
            "frequencies are drawn along many configurations: give theta as (B, joints)"
        )
    if x is None:
        x, name, unit = running(modes)
        label = f"{name} ({unit})" if unit else name or "configuration"
    along = np.array(vector(len(modes.omega))("x", x))
    name = label or "x"
    with house_style():
        figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for mode, values in enumerate(modes.frequency_hz.T):
            mark = "o" if len(along) == 1 else None
            ax.plot(along, values, marker=mark, color=COLOURS[mode % len(COLOURS)], markersize=4)
        # Write the mode numbers at the right end, apart from one another
        right = along[-1]
        ends = modes.frequency_hz[-1]
        gap = 0.03 * math.log(np.max(ends) / np.min(ends) * 2) if log else 0.03 * np.max(ends)
        height = -math.inf
        for number, value in enumerate(ends):
            height = max(math.log(value) if log else value, height + gap)
            colour = COLOURS[number % len(COLOURS)]
            place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
            spot = (right, math.exp(height) if log else height)
            ax.annotate(f"{number + 1}", spot, color=colour, **place)  # type: ignore[arg-type]
        ax.set_xlabel(name)
        if len(along) == 1:
            ax.set_xticks(along)
        elif name == "configuration":
            ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.set_ylabel("natural frequency (Hz)")
        title = f"{modes.robot.name}, joints {modes.joints}, {modes.omega.shape[1]} modes"
        ax.set_title(wrap_text(title, 5.6, 9))
        if log:
            ax.set_yscale("log")
            low, high = ax.get_ylim()
            subs = (1.0, 2.0, 5.0) if high / low > 10 else tuple(range(1, 10))
            ax.yaxis.set_major_locator(LogLocator(subs=subs))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            ax.yaxis.set_minor_formatter(NullFormatter())
        return finish(figure, path)


def plot_statics(sag: Statics, path: str | Path | None = None) -> Figure:
    """Draw the arm at rest and sagged, exaggerated so that the sag is 12 % of its extent."""
    import matplotlib.pyplot as plt

    if sag.tip_displacement.ndim > 1:
        raise SuppleError("sag is drawn for one configuration: give theta as (joints,)")
    box = limits_of(sag.position)
    largest = float(np.abs(sag.displacement).max())
    points = np.concatenate([sag.position.reshape(-1, 3), np.zeros((1, 3))])
    extent = float(np.ptp(points, axis=0).max())
    scale = EXAGGERATION * extent / largest if largest else 1.0
    planar = architecture_of(sag.robot).planar
    with house_style():
        wide, high, _ = np.ptp(box, axis=1)
        tall = min(max(5.2 * high / wide, 1.4), 5.0) + 1.0 if planar else 4.8
        figure = plt.figure(figsize=(5.8, tall), layout="constrained")
        ax: Any = figure.add_subplot(**({} if planar else {"projection": "3d"}))
        _draw_bent(ax, sag.robot, sag.names, sag.position, scale * sag.displacement)
        if planar:
            set_planar_axes(ax, box, first=True, last=True)
        else:
            set_spatial_axes(ax, box, sag.robot)
        moved = f"tip moves ({', '.join(tidy(1e3 * sag.tip_displacement, 3))}) mm"
        much = f"drawn {scale:.3g} times larger" if largest else "nothing loads it"
        ax.set_title(wrap_text(f"{sag.robot.name}: {moved}, {much}", 5.4, 9))
        return finish(figure, path)
