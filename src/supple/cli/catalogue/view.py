"""`supple view`: a robot in the browser, live, or as one saved page."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import typer

from ...errors import SuppleError
from ..arguments import (
    At,
    File,
    Json,
    Lenient,
    Plot,
    Position,
    Save,
    configuration_arguments,
    measure,
)
from ..output import check_places, plain, print_json, say, tell_places

__all__ = ["view"]

Count = Annotated[int, typer.Option("--count", help="Number of elastic modes.")]
Host = Annotated[
    str,
    typer.Option(
        "--host", help="Address to serve on; any other than 127.0.0.1 needs --listen-on-network."
    ),
]
Network = Annotated[
    bool,
    typer.Option(
        "--listen-on-network",
        help="Let every machine that can reach --host view and move the robot.",
    ),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        metavar="https://HOST",
        help="Another origin that may use the studio, such as a notebook behind a proxy.",
    ),
]
Port = Annotated[
    int, typer.Option("--port", help="Port to serve on; if it is busy, the next free one is taken.")
]
Sliders = Annotated[
    list[str] | None,
    typer.Option(
        "--slider",
        metavar="PATH=LOW:HIGH",
        help="A number of the robot file with a slider, links.boom.section.wall=2mm:10mm; "
        "PATH alone: from a half of it to twice. Repeatable.",
    ),
]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the browser.")]


MOST_ON_A_PAGE = 2  # sliders of dimensions that a saved page has without being asked for


def _sliders(given: list[str]) -> dict[str, tuple[float, float] | None]:
    """Paths with the ends of their sliders, None where these are left to the studio."""
    found: dict[str, tuple[float, float] | None] = {}
    for text in given:
        path, equals, ends = text.partition("=")
        if not equals:
            found[path.strip()] = None
            continue
        low, colon, high = ends.partition(":")
        if not colon:
            raise SuppleError(f"--slider {text}: give PATH=LOW:HIGH, such as {path}=2mm:10mm")
        found[path.strip()] = (measure(low, path, "--slider"), measure(high, path, "--slider"))
    return found


def view(
    context: typer.Context,
    file: File,
    at: At = None,
    position: Position = None,
    count: Count = 6,
    save: Save = None,
    plot: Plot = None,
    host: Host = "127.0.0.1",
    listen_on_network: Network = False,
    allow_origin: Origins = None,
    port: Port = 8080,
    browser: Open = True,
    slider: Sliders = None,
    lenient: Lenient = False,
    json: Json = False,
) -> None:
    """Show a robot and its modes in the browser: sliders, animated shapes; Ctrl-C ends it.

    A robot without anything elastic, such as a URDF before its flexible links are chosen, is shown
    as it stands.
    """
    from ... import files
    from ...studies.vibration.modes import modes as ask
    from ...studies.vibration.neighbourhood import usual_pose
    from ...view.live.door import check_host
    from ...view.page.reports import save_report
    from ...view.parameters import usual_parameters
    from ...view.scene.scenes import is_elastic

    check_host(host, listen_on_network)
    robot = files.load(file, lenient=lenient)
    given = at is not None or position is not None
    where: dict[str, Any] = (
        configuration_arguments(robot, at, position) if given else usual_pose(robot)
    )
    if plot is not None:
        from ...view.figures.robots import plot_robot

        check_places(plot, save)
        plot_robot(robot, path=plot, **where)
        tell_places(plot, None)
        if save is None:
            return
    if is_elastic(robot):
        shown: Any = ask(robot, count=count, **where)
        at_pose: dict[str, Any] = {}
    else:
        say(
            f"note: nothing of {plain(robot.name)} is elastic yet: it is shown without modes",
            err=True,
        )
        shown = robot
        at_pose = {"pose": where}
    if save is not None:
        if slider and not is_elastic(robot):
            raise SuppleError("--slider is for robots with something elastic: it shows frequencies")
        if is_elastic(robot):
            usual = [each.path for each in usual_parameters(robot)[:MOST_ON_A_PAGE]]
            at_pose["vary"] = _sliders(slider) if slider else usual
        page = save_report(shown, save, **at_pose)
        size = page.stat().st_size
        if json:
            print_json({"robot": robot.name, "page": str(page), "bytes": size})
        else:
            say(f"wrote {page}, {size / 1e3:.0f} kB; it opens in any browser, offline too")
    else:
        from ...view.live.live import open_browser, serve

        at_pose |= {"vary": _sliders(slider)} if slider else {}
        origins = allow_origin or ()
        live = serve(
            shown, host, port, listen_on_network=listen_on_network, allow_origin=origins, **at_pose
        )
        with contextlib.suppress(KeyboardInterrupt):  # it may come before the wait begins
            if json:
                print_json({"robot": robot.name, "url": live.url, "port": live.port})
            else:
                say(f"{live.sentence} Ctrl-C ends it.")
            if browser and not json:
                open_browser(live.url)
            live.wait()
        live.stop()
