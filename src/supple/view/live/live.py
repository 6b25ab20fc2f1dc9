"""Live in the browser: a server on this machine that draws a robot, modes or a motion."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import SuppleError
from ...robot import Robot
from ...studies.vibration.modes import Modes, modes
from ...studies.vibration.neighbourhood import usual_pose
from ..scene.scene import Scene
from ..scene.scenes import is_elastic
from .door import AccessControl, bind_socket, check_host, is_loopback
from .stage import apply_theme

if TYPE_CHECKING:
    import viser

    from .player import Player
    from .poser import Poser
    from .studio import Studio

__all__ = ["Live", "serve"]

HOST = "127.0.0.1"
PORT = 8080


class Live:
    """A running server: `url` to open, `stop()` to end it, `wait()` to serve until Ctrl-C."""

    def __init__(
        self, server: viser.ViserServer, shown: Studio | Player | Poser, asked_port: int
    ) -> None:
        self.server = server
        self.shown = shown
        self.stopped = False
        self.port = server.get_port()
        self.busy = asked_port if self.port != asked_port else None
        host = server.get_host()
        self.url = f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
        self.open_to_all = not is_loopback(host)

    def __repr__(self) -> str:
        return f"Live({self.url})"

    def _repr_html_(self) -> str:
        frame = f'<iframe src="{self.url}" width="100%" height="620" frameborder="0"></iframe>'
        return f'{frame}<p><a href="{self.url}">{self.url}</a></p>'

    @property
    def sentence(self) -> str:
        """Where it is, and what was in the way."""
        moved = f"Port {self.busy} is busy, so this one was taken. " if self.busy else ""
        all_ = "Every machine of the network that reaches it can look and move the robot. "
        return f"{moved}{all_ if self.open_to_all else ''}Open {self.url} in a browser."

    def stop(self) -> None:
        """End the server, once."""
        if self.stopped:
            return
        self.stopped = True
        self.shown.stop()
        # clicks that still wait for one of the server's threads are dropped: Python joins these
        threads: Any = getattr(self.server, "_thread_executor", None)
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()

    def wait(self) -> None:
        """Serve until Ctrl-C, then end cleanly."""
        try:
            while True:
                time.sleep(0.5)
        except KeyboardInterrupt:
            self.stop()


def serve(
    thing: Any,
    host: str = HOST,
    port: int = PORT,
    *,
    listen_on_network: bool = False,
    allow_origin: Sequence[str] = (),
    pose: Mapping[str, Any] | None = None,
    vary: Mapping[str, Any] | None = None,
) -> Live:
    """Start a server that shows an answer or a Scene; return at once.

    A Robot at `pose` (theta or position, else the usual one), or the Modes of one configuration, in
    the studio; what runs in time or over many configurations in the player.

    `vary` names numbers of the robot's file that have sliders beside the joints, as {path: (low,
    high)} or {path: None}; without, the walls or stiffnesses that a designer changes first.

    It is bound to this machine alone unless another host is given with `listen_on_network`; a busy
    port gives the next free one. Only its own page is answered, and pages whose origin
    (https://hub.example.org) `allow_origin` names.
    """
    from ..page.page import Chapter
    from ..page.reports import Report, report
    from .player import Player
    from .poser import Poser
    from .studio import Studio

    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise SuppleError(f"port is {port!r}: give a whole number from 0 to 65535")
    check_host(host, listen_on_network)
    origins = (allow_origin,) if isinstance(allow_origin, str) else tuple(allow_origin)
    AccessControl(host, port, origins)  # wrong origins are told before anything is computed
    found: Modes | Report | Robot
    if isinstance(thing, Robot):
        pose = usual_pose(thing) if pose is None else pose
        found = modes(thing, count=6, **pose) if is_elastic(thing) else thing
    elif isinstance(thing, Modes) and thing.omega.ndim == 1:
        found = thing
    elif isinstance(thing, Scene):
        found = Report(thing.title, [Chapter(scene=thing)])
    else:
        found = report(thing)
    server = _server(host, port, origins)
    try:
        shown: Studio | Player | Poser
        if isinstance(found, Modes):
            shown = Studio(server, found, vary)
        elif isinstance(found, Robot):
            shown = Poser(server, found, pose or usual_pose(found))
        else:
            scene = found.chapters[0].scene
            if scene is None or scene.cloud is None:
                shown = Player(server, found)
            else:
                where: dict[str, Any] = {thing.asked_by: thing.lowest[0]}
                shown = Studio(server, modes(thing.robot, count=len(scene.shapes), **where))
                shown.map(scene.cloud, scene.extent)
    except BaseException:
        server.stop()
        raise
    return Live(server, shown, port or server.get_port())


def _server(host: str, port: int, origins: tuple[str, ...]) -> viser.ViserServer:
    """A viser server behind our door, without its share requests and without its tracebacks."""
    try:
        import viser
        from viser import _messages
    except ImportError:
        raise SuppleError("the studio needs viser: pip install viser") from None
    listening = bind_socket(host, port)
    door = AccessControl(host, listening.getsockname()[1], origins)
    servers: list[viser.ViserServer] = []
    try:
        with contextlib.redirect_stdout(io.StringIO()), door.guarding(listening, servers):
            server = viser.ViserServer(host=host, port=door.port, label="supple", verbose=False)
    except BaseException:
        listening.close()
        raise
    inner: Any = server._websock_server
    for share in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        inner.unregister_handler(share)
    loop = inner._background_event_loop
    loop.call_soon_threadsafe(loop.set_exception_handler, lambda _, told: door.quiet.info(told))
    servers.append(server)
    apply_theme(server.gui)
    server.gui.main_panel.dock_right()
    return server


def open_browser(url: str) -> bool:
    """Open a browser where there is a screen."""
    import webbrowser

    screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    return screen and webbrowser.open(url)
