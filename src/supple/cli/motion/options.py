"""Options of the commands that move a robot: its basis, what drives it, steps and start."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "After",
    "Along",
    "Amplitude",
    "Axial",
    "Beta",
    "Damping",
    "Deflection",
    "Delay",
    "Duration",
    "EffortLimit",
    "Elements",
    "Every",
    "FeedForward",
    "Force",
    "Gains",
    "Half",
    "Input",
    "Law",
    "Limits",
    "Method",
    "Modal",
    "Modes",
    "Path",
    "Period",
    "Save",
    "Start",
    "Static",
    "Steady",
    "Step",
    "Stiffening",
    "Torsion",
    "Weights",
]

Modes = Annotated[
    int | None,
    typer.Option(
        "--modes",
        help="Assumed modes per bending plane and link. Default: 2.",
        min=0,
        show_default=False,
    ),
]
Axial = Annotated[int, typer.Option("--axial", help="Axial assumed modes per link.")]
Torsion = Annotated[
    int | None,
    typer.Option(
        "--torsion",
        help="Torsional assumed modes per link. "
        "Default: 1 for links of spatial arms that can twist.",
    ),
]
Elements = Annotated[
    int | None,
    typer.Option("--elements", help="Finite elements per link, instead of assumed modes."),
]
Deflection = Annotated[
    str,
    typer.Option(
        "--deflection",
        metavar="rotation|paper|literal",
        help="How a bent link rotates the next one.",
    ),
]
Stiffening = Annotated[bool, typer.Option("--stiffening", help="Include geometric stiffening.")]
Beta = Annotated[
    str,
    typer.Option(
        "--beta",
        metavar="newton|integrated",
        help="How the roots of sliding links are found; integrated ones drift.",
    ),
]
Damping = Annotated[
    str | None,
    typer.Option(
        "--damping",
        metavar="RATIO|LAW",
        help="Damping ratio of each link's own modes, such as 0.02, or one for each link "
        "(0.02,0.01); stiffness-root:factor=0.1; along a --path rayleigh:ratio=0.05 or "
        "rayleigh:alpha=0.3:beta=0.1ms, alpha in 1/s and beta in s unless a unit is written.",
    ),
]
Modal = Annotated[
    float | None,
    typer.Option(
        "--modal-damping", help="Damping ratio of the whole robot's modes (instead of --damping)."
    ),
]
Input = Annotated[
    str,
    typer.Option(
        "--input", metavar="NAME|FILE.csv", help="bang-bang, step, constant, chirp, or a CSV file."
    ),
]
Amplitude = Annotated[
    str,
    typer.Option(
        "--amplitude", metavar="N m", help="Effort of all joints, or one per joint: 0.2,0.1."
    ),
]
Duration = Annotated[
    float | None,
    typer.Option("--duration", help="Duration, s. Default: 1, or that of the trajectory."),
]
Law = Annotated[
    str | None,
    typer.Option(
        "--controller",
        metavar="NAME",
        help="decoupling, computed-torque, pd, gravity-pd, lqr or lqg (with an encoder on every "
        "joint), the last two made for where the trajectory ends.",
    ),
]
Path = Annotated[
    str | None,
    typer.Option(
        "--trajectory",
        metavar="FILE|NAME|from:to",
        help="A file with a move (.csv, .json, .yaml, .mcap), extension, retraction, or joints "
        "from and to: 0,0,0.3:180deg,-90deg,1.",
    ),
]
Gains = Annotated[
    str,
    typer.Option(
        "--gains",
        metavar="Gp,Gv",
        help="Position and velocity gain of all joints, or of each: 60,12,6:6,1.2,0.6.",
    ),
]
Period = Annotated[
    float | None,
    typer.Option("--period", help="Sampling period of --controller, s. Default: continuous."),
]
Delay = Annotated[
    float, typer.Option("--delay", help="Time from a sample until its effort acts, s.")
]
EffortLimit = Annotated[
    str | None,
    typer.Option(
        "--effort-limit",
        metavar="20,8",
        help="Efforts of --controller are saturated here, N m or N; one value, or one per joint. "
        "Default: with --period the robot file's, else none.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="Q,R",
        help="Weight of the states and of the efforts of --controller lqr or lqg. Default: 1,1.",
    ),
]
FeedForward = Annotated[
    str | None,
    typer.Option(
        "--feed-forward",
        metavar="FILE.csv",
        help="Efforts that are added to those of --controller: t, then one column per joint.",
    ),
]
Half = Annotated[float, typer.Option("--half", help="Duration of each half of bang-bang, s.")]
Every = Annotated[
    float | None,
    typer.Option("--dt", help="Time between two samples of the answer, s. Default: 0.001."),
]
Step = Annotated[
    float | None,
    typer.Option("--step", help="Step of the integrator, s. Default: chosen from the motion."),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="auto|rk4|adams|bdf|..",
        help="rk4, adams, bdf, generalised-alpha, gauss or magnus. "
        "Default: chosen from the motion.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option("--start", metavar="q1,q2,...", help="All coordinates q at the start of the run."),
]
Static = Annotated[bool, typer.Option("--static", help="Start from the sag under gravity.")]
Force = Annotated[
    str | None, typer.Option("--force", metavar="fx,fy,fz", help="Constant force on the tip, N.")
]
Save = Annotated[
    str | None,
    typer.Option(
        "--save", metavar="FILE", help="Write netCDF (.nc) or an interactive page (.html)."
    ),
]
Along = Annotated[
    str | None,
    typer.Option(
        "--path",
        metavar="NAME|p:p:..",
        help="The motors follow a path: circle, inverted-u, or points of a Delta's platform or of "
        "an arm's joints, 0,0,0.5:0.1,0,0.6.",
    ),
]
Limits = Annotated[
    str,
    typer.Option(
        "--limits", metavar="v,a", help="Velocity and acceleration limits between points."
    ),
]
After = Annotated[
    float, typer.Option("--after", help="Time to observe after the end of the path, s.")
]
Steady = Annotated[
    bool, typer.Option("--steady", help="For a repeating path: start on its periodic motion.")
]
