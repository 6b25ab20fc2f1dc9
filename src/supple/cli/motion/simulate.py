"""`supple simulate`: the motion of an arm under joint efforts."""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import typer

from ...errors import SuppleError
from ..arguments import (
    At,
    File,
    Json,
    Plot,
    Position,
    angles,
    configuration_arguments,
    gains_of,
    numbers,
    one_or_list,
    refuse,
)
from ..measured import Measured, as_lists, parse_outputs, print_outputs
from ..output import (
    check_places,
    draw_answer,
    plain,
    print_json,
    print_table,
    save_answer,
    say,
    tell_places,
)
from .damping import link_damping_law, path_damping_law
from .options import (
    After,
    Along,
    Amplitude,
    Axial,
    Beta,
    Damping,
    Deflection,
    Delay,
    Duration,
    EffortLimit,
    Elements,
    Every,
    FeedForward,
    Force,
    Gains,
    Half,
    Input,
    Law,
    Limits,
    Method,
    Modal,
    Modes,
    Path,
    Period,
    Save,
    Start,
    Static,
    Steady,
    Step,
    Stiffening,
    Torsion,
    Weights,
)

if TYPE_CHECKING:
    from ...control.controllers import Controller
    from ...control.trajectories import Trajectory
    from ...equations.model import Model
    from ...robot import Robot
    from ...studies.motion.response import Response

__all__ = ["NOT_ELEMENTS", "law_of", "model_of", "simulate", "trajectory_of"]

# What has no meaning along a path, beside a controller, and on finite elements.
_NOT_ALONG = (
    *("at", "position", "input_", "amplitude", "duration", "trajectory", "gains", "half"),
    *("modes", "axial", "torsion", "deflection", "stiffening", "beta", "method", "step"),
    *("start", "static", "force", "period", "delay", "effort_limit", "weights", "feed_forward"),
)
_NOT_CONTROLLED = ("input_", "amplitude", "half")
OPTIMAL = ("lqr", "lqg")  # laws made for a model and a pose
NOT_ELEMENTS = ("modes", "axial", "torsion")


def simulate(
    context: typer.Context,
    file: File,
    at: At = None,
    position: Position = None,
    input_: Input = "constant",
    amplitude: Amplitude = "0",
    path: Along = None,
    limits: Limits = "1,10",
    after: After = 0.4,
    steady: Steady = False,
    duration: Duration = None,
    controller: Law = None,
    trajectory: Path = None,
    gains: Gains = "100,20",
    period: Period = None,
    delay: Delay = 0.0,
    effort_limit: EffortLimit = None,
    weights: Weights = None,
    feed_forward: FeedForward = None,
    half: Half = 0.5,
    modes: Modes = None,
    axial: Axial = 0,
    torsion: Torsion = None,
    elements: Elements = None,
    deflection: Deflection = "rotation",
    stiffening: Stiffening = False,
    damping: Damping = None,
    modal_damping: Modal = None,
    beta: Beta = "newton",
    dt: Every = None,
    step: Step = None,
    method: Method = None,
    start: Start = None,
    static: Static = False,
    force: Force = None,
    outputs: Measured = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
) -> None:
    """Simulate a robot and print its final state, its energy and the error of its power balance."""
    from ... import files
    from ...architectures.kinds import architecture_of

    check_places(plot, save, stored=True)
    robot = files.load(file)
    placed = any(given is not None for given in (at, position, trajectory, start))
    is_prescribed = path or (architecture_of(robot).asked_by == "position" and not placed)
    options: dict[str, Any] = {"modal_damping": modal_damping}
    wanted = parse_outputs(outputs)
    if controller is None and is_prescribed:
        options |= {"damping": path_damping_law(damping)}
        options |= {"elements": elements, "start": "periodic" if steady else "static"}
        options |= {"outputs": wanted}
        _follow(
            context, robot, path, limits, options | {"dt": dt, "after": after}, plot, json, save
        )
        return
    options |= {"damping": link_damping_law(damping)}
    options |= {"deflection": deflection, "stiffening": stiffening or None, "beta": beta}
    model = model_of(robot, (modes, axial, torsion), elements, options)
    _move(context, model, wanted, json)


def _move(context: typer.Context, model: Model, wanted: Any, json: bool) -> None:
    """Move a model as the options typed say, and tell how it went."""
    from ...control.controllers import Clipped
    from ...control.sampled import Sampled
    from ...studies.motion.simulate import simulate as ask

    given = context.params
    begin = _begin(model, *(given[k] for k in ("at", "start", "static", "position")))
    path = None if given["path"] is None else (given["path"], given["limits"])
    drive = _drive(model, given, path)
    # An option that would change nothing beside the others is refused
    if given["elements"] is not None:
        refuse(context, NOT_ELEMENTS, "with --elements")
    if drive:
        refuse(context, _NOT_CONTROLLED, "with --controller")
        refuse(context, ("after", "steady"), "with --controller")
    else:
        refuse(context, ("limits", "after", "steady"), "without --path")
        alone = ("gains", "period", "delay", "effort_limit", "weights", "feed_forward")
        refuse(context, alone, "without --controller")
    if context.params["period"] is None:
        refuse(context, ("delay",), "without --period")
    words = ("input_", "amplitude", "duration", "half")
    drive = drive or {"tau": _effort(*(given[k] for k in words))}
    if given["controller"] in OPTIMAL:
        refuse(context, ("gains",), f"with --controller {given['controller']}")
    else:
        refuse(context, ("weights",), "without --controller lqr or lqg")
    limit = one_or_list(given["effort_limit"], "--effort-limit")
    if given["period"] is not None:
        drive["controller"] = Sampled(drive["controller"], given["period"], given["delay"], limit)
    elif limit is not None:
        drive["controller"] = Clipped(drive["controller"], limit)
    if given["feed_forward"] is not None:
        drive["tau"] = given["feed_forward"]
    load = given["force"]
    wrench = None if load is None else numbers(load, "--force", 3)
    steps = {word: given[word] for word in ("duration", "dt", "step", "method")}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = ask(model, wrench=wrench, outputs=wanted, **steps, **begin, **drive)
    for item in caught:
        if str(item.message) != found.message:  # that it ended early is told by the answer itself
            say(f"warning: {item.message}", err=True)
    _show(found, given["plot"], given["save"], json, drive.get("path"))


def _show(
    found: Response, plot: str | None, save: str | None, json: bool, path: Trajectory | None
) -> None:
    """Draw, store and print a motion; a part of one never replaces what is there."""
    from ...architectures.kinds import architecture_of
    from ...files.disk import partial_place

    if not found.complete:
        plot, save = (place and str(partial_place(place)) for place in (plot, save))
    if plot is not None:
        draw_answer(found, plot)
    if save is not None:
        save_answer(found, save)
    if json:
        print_json(
            {
                "robot": found.model.robot.name,
                "deflection": found.model.reading.deflection,
                "method": found.method,
                "coordinates": found.model.coordinates,
                "complete": found.complete,
                "message": found.message,
                "t": found.t,
                "q": found.q,
                "qd": found.qd,
                "tau": found.tau,
                "tip": found.tip,
                "closure": found.closure,
                "energy": found.energy,
                "balance": found.balance,
                "openness": found.openness,
                "step": found.step,
                **as_lists(found.outputs),
                **(
                    {}
                    if found.beta is None
                    else {"beta": found.beta, "beta_drift": found.beta_drift}
                ),
            },
            found,
        )
    elif architecture_of(found.model.robot).asked_by == "position":
        from .paths import print_coupled

        print_coupled(found, path)
    else:
        _print(found)
    if not json:
        print_outputs(found.outputs)
        tell_places(plot, save)
    if not found.complete:
        raise typer.Exit(1)


def _follow(
    context: typer.Context,
    robot: Robot,
    path: str | None,
    limits: str,
    options: dict[str, Any],
    plot: str | None,
    json: bool,
    save: str | None,
) -> None:
    """Lead the motors along a path; what is not for that is left at its defaults."""
    from .paths import along_path, path_of

    if path is None:
        raise SuppleError(
            f"{robot.name} is a Delta: say where it goes, such as --path inverted-u, or where it "
            "starts under its motors' torques, --position 0,0,0.5"
        )
    refuse(context, _NOT_ALONG, "with --path")
    given = {name: value for name, value in options.items() if value is not None}
    along_path(robot, path, path_of(robot, path, limits), given, plot, json, save)


def model_of(
    robot: Robot,
    counts: tuple[int | None, int, int | None],
    elements: int | None,
    options: dict[str, Any],
) -> Model:
    """Build the model that the options describe: 2 assumed modes, or an element of a Delta."""
    from ...architectures.kinds import architecture_of
    from ...beams.basis import AssumedModes, FiniteElements
    from ...equations.build import build

    modes, axial, torsion = counts
    if elements is None and modes is None and architecture_of(robot).asked_by == "position":
        elements = 1
    basis = (
        AssumedModes(2 if modes is None else modes, axial=axial, torsion=torsion)
        if elements is None
        else FiniteElements(elements)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = build(robot, basis, **options)
    for warning in caught:  # what to try, as options of a command
        words = re.sub(r"FiniteElements\((\d+)\)", r"--elements \1", str(warning.message))
        words = re.sub(r"AssumedModes\((\d+)(.*?)\)", r"--modes \1\2", words)
        words = re.sub(r", (axial|torsion)=(\d+)", r" --\1 \2", words)
        warnings.warn(re.sub(r" \(model.check.*", "", words), warning.category, stacklevel=2)
    return model


def _drive(model: Model, given: dict[str, Any], path: Any) -> dict[str, Any]:
    """Controller and trajectory or path as `simulate` wants them; nothing when none is given."""
    controller = given["controller"]
    trajectory = given["trajectory"]
    if controller is None and trajectory is None:
        return {}
    if controller is None or (trajectory is None and path is None):
        raise SuppleError(
            "--controller and --trajectory go together: give both (or --path of a Delta's platform)"
        )
    if trajectory is not None and path is not None:
        raise SuppleError("--trajectory leads the joints, --path the platform: give one of them")
    if path is not None:
        from ...architectures.kinds import architecture_of
        from .paths import path_of

        word = "path" if architecture_of(model.robot).asked_by == "position" else "trajectory"
        move: Trajectory = path_of(model.robot, *path)
    else:
        word = "trajectory"
        move = trajectory_of(trajectory, model.robot)
    if controller not in OPTIMAL:
        return {"controller": law_of(controller, given["gains"]), word: move}
    if word == "path":
        raise SuppleError(
            f"--controller {controller} is made for joints: give --trajectory, or another law"
        )
    return {"controller": _optimal_law(model, given, move), word: move}


def _optimal_law(model: Model, given: dict[str, Any], move: Trajectory) -> Controller:
    """Return the LQR or LQG made at rest where the move ends, for the computer that runs it."""
    from ...control.controllers import lqr
    from ...control.observers import lqg

    weights = numbers(given["weights"] or "1,1", "--weights", 2)
    end = move.at(float(move.duration))[0]
    if given["controller"] == "lqr":
        return lqr(model, end, *weights)
    computer: dict[str, Any] = {"period": given["period"], "delay": given["delay"]}
    return lqg(model, end, state_weight=weights[0], effort_weight=weights[1], **computer)


def law_of(controller: str, gains: str) -> Controller:
    """Return a controller by its name and gains."""
    from ...control.controllers import CONTROLLERS
    from ...faults import nearest

    if controller not in CONTROLLERS:
        known = (*CONTROLLERS, *OPTIMAL)
        suggestion = nearest(controller, known)
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        raise SuppleError(f"--controller {controller}: give {', '.join(known)}{hint}")
    law: Any = CONTROLLERS[controller]
    chosen: Controller = law(*gains_of(gains))
    return chosen


def trajectory_of(text: str, robot: Robot) -> Trajectory:
    """Return a trajectory of a file, by name, or from joints `from:to` in 1 s with blends."""
    from ...architectures.kinds import architecture_of
    from ...control.matching import trajectory_for
    from ...control.trajectories import NAMED, ParabolicBlends
    from ...control.trajectory_files import READABLE, is_file_name

    if is_file_name(text):
        return trajectory_for(robot, text, name=text)
    joints = len(architecture_of(robot).motors)
    if text in NAMED:
        width = len(NAMED[text](0.0)[0])
        if width != joints:
            raise SuppleError(
                f"--trajectory {text} has {width} joint coordinates, the arm has "
                f"{joints}: give its joints from:to"
            )
        return NAMED[text]
    start, colon, end = text.partition(":")
    if not colon:
        raise SuppleError(
            f"--trajectory {text}: give {', '.join(NAMED)}, joints from:to, or a file that ends in "
            f"{', '.join(READABLE)}"
        )
    if ":" in end:
        raise SuppleError(
            f"--trajectory {text}: give from:to, one colon between two poses, and the time of the "
            "move as --duration"
        )
    ends = [angles(part, "--trajectory") for part in (start, end)]
    if any(len(part) != joints for part in ends):
        raise SuppleError(f"--trajectory {text}: give {joints} joint coordinates on both sides")
    return ParabolicBlends(ends[0], ends[1])


def _begin(
    model: Model, at: str | None, start: str | None, static: bool, position: str | None
) -> dict[str, Any]:
    """The start as `simulate` wants it."""
    if start is not None and (static or at is not None or position is not None):
        raise SuppleError("--start gives every coordinate: leave --at, --position, --static out")
    if position is not None:
        configuration_arguments(model.robot, None, position)  # says so unless it is a Delta
        place = numbers(position, "--position", 3)
        out = {"q0": "static" if static else None, "position": place}
        return out if at is None else {**out, "theta0": angles(at, "--at")}
    theta = None if at is None else angles(at, "--at")
    if theta is not None and len(theta) != model.joints:
        raise SuppleError(f"--at {at}: {len(theta)} values are given, {model.joints} are needed")
    if start is not None:
        return {"q0": numbers(start, "--start", model.size)}
    return {"q0": "static" if static else None, "theta0": theta}


def _effort(name: str, amplitude: str, duration: float | None, half: float) -> Any:
    from ...faults import nearest
    from ...integration.inputs import INPUTS, BangBang, Chirp, Table

    if name.endswith(".csv"):
        return Table.from_csv(name)
    if name not in INPUTS:
        suggestion = nearest(name, INPUTS)
        hint = f"; did you mean {suggestion}?" if suggestion else ""
        raise SuppleError(f"--input {name}: give {', '.join(INPUTS)} or a .csv file{hint}")
    values = numbers(amplitude, "--amplitude")
    size: Any = values[0] if len(values) == 1 else tuple(values)
    if name == "bang-bang":
        return BangBang(size, half)
    if name == "chirp":
        return Chirp(size, sweep=1.0 if duration is None else duration)
    return INPUTS[name](size)  # type: ignore[call-arg]


def _print(found: Response) -> None:
    model = found.model
    summary = f"{plain(model.robot.name)}: {model.size} coordinates, "
    summary += f"deflection {model.reading.deflection}, {found.method}, "
    say(f"{summary}{len(found.t)} samples to t = {found.t[-1]:g} s\n")
    columns = zip(
        model.coordinate_map.slots,
        found.q[-1],
        found.qd[-1],
        abs(found.q).max(axis=0),
        strict=True,
    )
    rows = []
    for slot, *values in columns:
        turns = slot.unit == "rad"
        shown = [f"{math.degrees(x) if turns else x:.6g}" for x in values]
        unit = "deg" if turns else slot.unit
        rows.append((slot.name, *shown, f"{unit}, {unit}/s" if unit else ""))
    print_table(("coordinate", "at the end>", "speed>", "largest>", "unit"), rows)
    summary = ", ".join(f"{name} {value[-1]:.6g}" for name, value in found.energies.items())
    say(f"\ntip {', '.join(f'{x:.6g}' for x in found.tip[-1])} m")
    say(
        f"energy, J: {summary}; power balance closes to {found.openness:.1e} of "
        f"{found.exchanged:.3g} J exchanged"
    )
    if model.damping.any():
        from ...equations.accuracy import accuracy

        known = accuracy(model.robot, model.basis, model.chain, model.damping, found.theta[0])
        if known is not None and known.damping_ratios:
            ratios = ", ".join(f"{x:.3g}" for x in known.damping_ratios)
            say(f"damping ratios of its lowest modes at the start, joints held: {ratios}")
    if found.beta is not None:
        say(f"beta by (11) drifts by {found.beta_drift:.1e} from Newton's roots")
    if not found.complete:
        say(f"\nended early: {found.message}", err=True)
