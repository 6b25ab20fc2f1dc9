"""Live in the browser: a server on this machine that draws a robot, modes or a motion."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from ..errors import SuppleError
from ..robot import Robot
from ..studies.around import usual_pose
from ..studies.modes import Modes, modes
from ..studies.motion import Response
from .scene import Scene, response_scene

if TYPE_CHECKING:
    import viser

    from .player import Player
    from .studio import Studio

__all__ = ["Live", "serve"]

HOST, PORT = "127.0.0.1", 8080


class Live:
    """A running server: `url` to open, `stop()` to end it, `wait()` to serve until Ctrl-C."""

    def __init__(self, server: viser.ViserServer, shown: Studio | Player, asked_port: int) -> None:
        self.server, self.shown, self.stopped = server, shown, False
        self.port = server.get_port()
        self.busy = asked_port if self.port != asked_port else None
        self.url = f"http://{server.get_host()}:{self.port}"

    def __repr__(self) -> str:
        return f"Live({self.url})"

    def _repr_html_(self) -> str:
        frame = f'<iframe src="{self.url}" width="100%" height="620" frameborder="0"></iframe>'
        return f'{frame}<p><a href="{self.url}">{self.url}</a></p>'

    @property
    def sentence(self) -> str:
        """Where it is, and what was in the way."""
        moved = f"Port {self.busy} is busy, so this one was taken. " if self.busy else ""
        return f"{moved}Open {self.url} in a browser."

    def stop(self) -> None:
        """End the server, once."""
        if self.stopped:
            return
        self.stopped = True
        self.shown.stop()
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def wait(self) -> None:
        """Serve until Ctrl-C, then end cleanly."""
        try:
            while True:
                time.sleep(0.5)
        except KeyboardInterrupt:
            self.stop()


def serve(thing: Robot | Modes | Response | Scene, host: str = HOST, port: int = PORT) -> Live:
    """Start a server that shows a Robot, Modes, a Response or a Scene in time; return at once.

    It is bound to this machine alone unless another host is given; a busy port gives the next
    free one.
    """
    if not 0 <= port < 65536:
        raise SuppleError(f"port is {port}: give a number from 0 to 65535")
    thing = response_scene(thing) if isinstance(thing, Response) else thing
    found = thing if isinstance(thing, Scene) else _modes(thing)
    server = _server(host, port)
    try:
        shown = _show(server, found)
    except BaseException:
        server.stop()
        raise
    return Live(server, shown, port or server.get_port())


def _modes(thing: Robot | Modes) -> Modes:
    pose: dict[str, Any] = {} if isinstance(thing, Modes) else usual_pose(thing)
    found = thing if isinstance(thing, Modes) else modes(thing, count=6, **pose)
    if found.omega.ndim > 1:
        raise SuppleError("the studio shows one configuration: ask modes.at(b).show()")
    return found


def _show(server: viser.ViserServer, found: Modes | Scene) -> Studio | Player:
    from .player import Player
    from .studio import Studio

    return Player(server, found) if isinstance(found, Scene) else Studio(server, found)


def _server(host: str, port: int) -> viser.ViserServer:
    try:
        import viser
    except ImportError:
        raise SuppleError("the studio needs viser: pip install viser") from None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            server = viser.ViserServer(host=host, port=port, label="supple", verbose=False)
    except OSError as problem:
        raise SuppleError(f"cannot serve on {host}:{port}: {problem.strerror or problem}") from None
    server.gui.configure_theme(
        control_width="large", show_logo=False, show_share_button=False, brand_color=(0, 98, 163)
    )
    server.gui.main_panel.dock_right()
    return server


def open_browser(url: str) -> bool:
    """Open a browser where there is a screen."""
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and webbrowser.open(url)
