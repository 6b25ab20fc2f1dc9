"""`supple simulate`: the motion of an arm under joint efforts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import SuppleError
from .arguments import At, File, Json, Plot, angles, numbers
from .output import print_json, print_table, save_plot

if TYPE_CHECKING:
    from ..control.trajectories import Trajectory
    from ..dynamics.model import Model
    from ..robot import Robot
    from ..studies.motion import Response

__all__ = ["Modes", "Path", "model_of", "simulate", "trajectory_of"]

Modes = Annotated[
    int, typer.Option("--modes", help="Assumed modes a bending plane and link.", min=0)
]
Axial = Annotated[int, typer.Option("--axial", help="Assumed modes in stretch a link.")]
Torsion = Annotated[int, typer.Option("--torsion", help="Assumed modes in twist a link.")]
Elements = Annotated[
    int | None, typer.Option("--elements", help="Finite elements a link instead of assumed modes.")
]
Deflection = Annotated[
    str,
    typer.Option(
        "--deflection",
        metavar="rotation|paper|literal",
        help="How a bent link turns the next one.",
    ),
]
Stiffening = Annotated[bool, typer.Option("--stiffening", help="Include geometric stiffening.")]
Beta = Annotated[
    str,
    typer.Option(
        "--beta", metavar="newton|integrated", help="Roots of sliding links; integrated drifts."
    ),
]
Damping = Annotated[
    float | None, typer.Option("--damping", help="Damping ratio of every link mode.")
]
Input = Annotated[
    str,
    typer.Option(
        "--input", metavar="NAME|FILE.csv", help="bang-bang, step, constant, chirp, or a CSV file."
    ),
]
Amplitude = Annotated[
    str, typer.Option("--amplitude", metavar="N m", help="One effort, or one a joint: 0.2,0.1.")
]
Duration = Annotated[
    float | None, typer.Option("--duration", help="Seconds; 1, or those of the trajectory.")
]
Law = Annotated[
    str | None,
    typer.Option(
        "--controller", metavar="NAME", help="decoupling, computed-torque, pd or gravity-pd."
    ),
]
Path = Annotated[
    str | None,
    typer.Option(
        "--trajectory",
        metavar="NAME|from:to",
        help="extension, retraction, or joints from and to: 0,0,0.3:180deg,-90deg,1.",
    ),
]
Gains = Annotated[
    str, typer.Option("--gains", metavar="Gp,Gv", help="Position and velocity gain, all joints.")
]
Half = Annotated[float, typer.Option("--half", help="Seconds of each half of bang-bang.")]
Step = Annotated[float, typer.Option("--dt", help="Time step of rk4, and of the answer, s.")]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="rk4|adams|bdf|generalised-alpha",
        help="Integrator; rk4, and adams with a controller.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="q1,q2,...", help="All coordinates q at the start."),
]
Static = Annotated[bool, typer.Option("--static", help="Start from the sag under gravity.")]
Force = Annotated[
    str | None, typer.Option("--force", metavar="fx,fy,fz", help="Constant force on the tip, N.")
]
Save = Annotated[
    str | None,
    typer.Option("--save", metavar="FILE", help="Store: .nc as netCDF, .html as a page to play."),
]
Along = Annotated[
    str | None,
    typer.Option(
        "--path", metavar="circle|inverted-u", help="A Delta's motors follow this path instead."
    ),
]


def simulate(
    file: File,
    at: At = None,
    input_: Input = "constant",
    amplitude: Amplitude = "0",
    path: Along = None,
    duration: Duration = None,
    controller: Law = None,
    trajectory: Path = None,
    gains: Gains = "100,20",
    half: Half = 0.5,
    modes: Modes = 2,
    axial: Axial = 0,
    torsion: Torsion = 0,
    elements: Elements = None,
    deflection: Deflection = "rotation",
    stiffening: Stiffening = False,
    damping: Damping = None,
    beta: Beta = "newton",
    dt: Step = 1e-3,
    method: Method = None,
    start: Start = None,
    static: Static = False,
    force: Force = None,
    plot: Plot = None,
    save: Save = None,
    json: Json = False,
) -> None:
    """Move an arm and print where it ends, its energy, and how well its power balance closes."""
    from .. import files
    from ..robot import DeltaRobot
    from ..studies.simulate import simulate as ask

    robot = files.load(file)
    if path is not None or isinstance(robot, DeltaRobot):
        _follow(robot, path, elements, damping, dt, plot, json, save)
        return
    options = {"deflection": deflection, "stiffening": stiffening, "damping": damping,
               "beta": beta}  # fmt: skip
    model = model_of(robot, (modes, axial, torsion), elements, options)
    begin = _begin(model, at, start, static)
    wrench = None if force is None else numbers(force, "--force", 3)
    drive = _drive(model, controller, trajectory, gains)
    if not drive:
        drive = {"tau": _effort(input_, amplitude, duration or 1.0, half)}
    found = _quietly(
        lambda: ask(model, duration=duration, dt=dt, method=method, wrench=wrench, **begin, **drive)
    )
    if plot is not None:
        from ..view.motion import plot_response

        save_plot(plot_response, found, plot)
    if save is not None:
        _save(found, save)
    if json:
        print_json(_document(found))
    else:
        _print(found)
    if not found.complete:
        raise typer.Exit(1)


def _save(found: Response, path: str) -> None:
    """Store by the ending: a page, or netCDF."""
    if path.lower().endswith((".html", ".htm")):
        from ..view.reports import save_report

        save_report(found, path)
    else:
        from ..studies.stored import save_response

        save_response(found, path)


def _follow(
    robot: Robot,
    path: str | None,
    elements: int | None,
    damping: float | None,
    dt: float,
    plot: str | None,
    json: bool,
    save: str | None,
) -> None:
    """Lead the motors along a named path; what is not for that is left at its defaults."""
    from .paths import along_path

    if path is None:
        raise SuppleError(f"{robot.name} is a Delta: say where it goes, such as --path inverted-u")
    options: dict[str, Any] = {"elements": elements or 2, "damping": damping, "step": dt}
    if path == "inverted-u":
        options["after"] = 0.4
    along_path(robot, path, options, plot, json, save)


def model_of(
    robot: Robot, counts: tuple[int, int, int], elements: int | None, options: dict[str, Any]
) -> Model:
    """Build the model that the options describe."""
    from ..beams.basis import AssumedModes, FiniteElements
    from ..dynamics.model import build

    modes, axial, torsion = counts
    basis = (
        AssumedModes(modes, axial=axial, torsion=torsion)
        if elements is None
        else FiniteElements(elements)
    )
    return build(robot, basis, **options)


def _drive(
    model: Model, controller: str | None, trajectory: str | None, gains: str
) -> dict[str, Any]:
    """Controller and trajectory as `simulate` wants them; nothing when neither is given."""
    if controller is None and trajectory is None:
        return {}
    if controller is None or trajectory is None:
        raise SuppleError("--controller and --trajectory go together: give both")
    from ..control.controllers import CONTROLLERS
    from ..faults import nearest

    if controller not in CONTROLLERS:
        near = nearest(controller, CONTROLLERS)
        hint = f"; did you mean {near}?" if near else ""
        raise SuppleError(f"--controller {controller}: give {', '.join(CONTROLLERS)}{hint}")
    law: Any = CONTROLLERS[controller]
    return {"controller": law(*numbers(gains, "--gains", 2)),
            "trajectory": trajectory_of(trajectory, model.joints)}  # fmt: skip


def trajectory_of(text: str, joints: int) -> Trajectory:
    """Return a trajectory by name, or from joint coordinates `from:to`, in 1 s with blends."""
    from ..control.trajectories import NAMED, ParabolicBlends

    if text in NAMED:
        return NAMED[text]
    start, colon, end = text.partition(":")
    if not colon:
        raise SuppleError(f"--trajectory {text}: give {', '.join(NAMED)}, or joints from:to")
    ends = [angles(part, "--trajectory") for part in (start, end)]
    if any(len(part) != joints for part in ends):
        raise SuppleError(f"--trajectory {text}: give {joints} joint coordinates on both sides")
    return ParabolicBlends(ends[0], ends[1])


def _begin(model: Model, at: str | None, start: str | None, static: bool) -> dict[str, Any]:
    """The start as `simulate` wants it."""
    if start is not None and (static or at is not None):
        raise SuppleError("--start gives every coordinate: leave --at and --static out")
    theta = None if at is None else angles(at, "--at")
    if theta is not None and len(theta) != model.joints:
        raise SuppleError(f"--at {at}: {len(theta)} values are given, {model.joints} are needed")
    if start is not None:
        return {"q0": numbers(start, "--start", model.size)}
    return {"q0": "static" if static else None, "theta0": theta}


def _effort(name: str, amplitude: str, duration: float, half: float) -> Any:
    from ..faults import nearest
    from ..studies.inputs import INPUTS, BangBang, Chirp, Table

    if name.endswith(".csv"):
        return Table.from_csv(name)
    if name not in INPUTS:
        near = nearest(name, INPUTS)
        hint = f"; did you mean {near}?" if near else ""
        raise SuppleError(f"--input {name}: give {', '.join(INPUTS)} or a .csv file{hint}")
    values = angles(amplitude, "--amplitude")
    size: Any = values[0] if len(values) == 1 else tuple(values)
    if name == "bang-bang":
        return BangBang(size, half)
    return Chirp(size, sweep=duration) if name == "chirp" else INPUTS[name](size)  # type: ignore[call-arg]


def _quietly(run: Any) -> Response:
    """Run; that it ended early is told by the answer itself."""
    import warnings

    from ..studies.simulate import SimulationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)
        found: Response = run()
    return found


def _document(found: Response) -> dict[str, Any]:
    return {
        "robot": found.model.robot.name,
        "deflection": found.model.deflection,
        "method": found.method,
        "coordinates": found.model.coordinates,
        "complete": found.complete,
        "message": found.message,
        "t": found.t,
        "q": found.q,
        "qd": found.qd,
        "tip": found.tip,
        "energy": found.energy,
        "balance": found.balance,
        **({} if found.beta is None else {"beta": found.beta, "beta_drift": found.beta_drift}),
    }


def _print(found: Response) -> None:
    model = found.model
    typer.echo(f"{model.robot.name}: {model.size} coordinates, deflection {model.deflection}, "
               f"{found.method}, {len(found.t) - 1} steps to t = {found.t[-1]:g} s\n")  # fmt: skip
    rows = zip(model.coordinates, found.q[-1], found.qd[-1], abs(found.q).max(axis=0), strict=True)
    print_table(
        ("coordinate", "at the end>", "speed>", "largest>"),
        [(name, f"{q:.6g}", f"{qd:.6g}", f"{peak:.6g}") for name, q, qd, peak in rows],
    )
    told = ", ".join(f"{name} {value[-1]:.6g}" for name, value in found.energies.items())
    typer.echo(f"\ntip {', '.join(f'{x:.6g}' for x in found.tip[-1])} m")
    typer.echo(f"energy, J: {told}; power balance closes to {abs(found.balance).max():.1e}")
    if found.beta is not None:
        typer.echo(f"beta by (11) drifts by {found.beta_drift:.1e} from Newton's roots")
    if not found.complete:
        typer.echo(f"\nended early: {found.message}", err=True)
