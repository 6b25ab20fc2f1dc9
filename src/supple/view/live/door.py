"""The studio's door: who may come in, and what may be said there.

viser serves every page of every site that asks it. Here a request must name this machine (Host,
against rebound names) and a page must come from this very address (Origin equal to Host), or from
where the user allows; of what a page then sends, only the values of known controls, its camera and
its pictures are taken. Everything else is dropped without a word.
"""

from __future__ import annotations

import asyncio
import errno
import http
import ipaddress
import logging
import math
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from ...errors import SuppleError

__all__ = ["AccessControl", "bind_socket", "check_host", "is_loopback"]

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NEXT_PORTS = 100  # tried after a busy one
LARGEST = 50 * 1024 * 1024  # bytes of a message: a picture of the scene
OPENING = 60.0  # s for a handshake: fifty pages on a machine that is busy take longer than ten
TEXT = 1000  # letters of a text that a control may hold
CAMERA = {
    "wxyz": 4,
    "position": 3,
    "look_at": 3,
    "up_direction": 3,
    **dict.fromkeys(("fov", "near", "far", "image_height", "image_width"), 0),
}
_patching = threading.Lock()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, listen_on_network: bool) -> None:
    """Refuse a host that is empty, or that others can reach without the user having said so."""
    if not isinstance(host, str) or not host.strip():
        raise SuppleError(f"host is {host!r}: give an address of this machine, such as 127.0.0.1")
    if not is_loopback(host) and not listen_on_network:
        raise SuppleError(
            f"host is {host}: every machine that reaches this address could look at the robot and "
            "move it; add --listen-on-network (listen_on_network=True) if that is meant"
        )


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to a host at the first free port from `port` on.

    A host that is no address of this machine, and ports that are all busy, are told at once.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, UnicodeError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise SuppleError(f"cannot serve on {host}: {why}") from None
    last = min(port + NEXT_PORTS, 65535) if port else 0
    for attempt in range(port, last + 1):
        listening = socket.socket(family, socket.SOCK_STREAM)
        if socket.has_ipv6 and family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            # Windows lets two programs share a port under SO_REUSEADDR; POSIX needs it so that a
            # port can be taken again at once after the last server ended.
            if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
            else:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((address[0], attempt, *address[2:]))
            listening.listen(64)
        except PermissionError as problem:
            listening.close()
            raise SuppleError(f"cannot serve on {host}:{attempt}: {problem.strerror}") from None
        except OSError as problem:
            listening.close()
            if attempt == last or problem.errno not in (errno.EADDRINUSE, errno.EACCES):
                one_port = attempt == port
                place = f"{host}:{port}" if one_port else f"{host}, ports {port} to {attempt}"
                raise SuppleError(
                    f"cannot serve on {place}: {problem.strerror or problem}"
                ) from None
        else:
            return listening
    raise SuppleError(f"cannot serve on {host}:{port}: no port is free")


@dataclass(frozen=True)
class AccessControl:
    """Who may come in: hosts by which this server is called, origins of other pages.

    Attributes
    ----------
    host
        What the server is bound to.
    port
        Its port.
    origins
        Further origins, such as https://hub.example.org, of notebooks behind a proxy.
    """

    host: str
    port: int
    origins: tuple[str, ...] = ()
    quiet: logging.Logger = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for origin in self.origins:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.path:
                raise SuppleError(
                    f"allowed origin {origin!r}: give scheme, host and port, such as "
                    "https://hub.example.org or http://localhost:8888"
                )
        object.__setattr__(self, "quiet", logging.getLogger("supple.studio"))
        if not self.quiet.handlers:
            self.quiet.addHandler(logging.NullHandler())
            self.quiet.propagate = False

    def _ours(self, name: str | None) -> bool:
        """Whether a name means this machine as it is bound."""
        if name is None:
            return False
        if name in LOOPBACK or name == self.host.lower():
            return True
        try:
            if not ipaddress.ip_address(self.host).is_unspecified:
                return False
        except ValueError:
            return False
        try:  # bound to all: numbers cannot be rebound to another machine as names can
            ipaddress.ip_address(name)
        except ValueError:
            mine = socket.gethostname().lower()
            return name in (mine, f"{mine}.local")
        return True

    def welcomes(self, host: str | None, origin: str | None) -> bool:
        """Whether a request with these headers may come in.

        Host: an address of this server, or of an allowed origin. Origin: none (no browser), the
        very address that the request was sent to, or an allowed one; never `null`. Another
        address of the same machine and port may be another machine's, or another server's.
        """
        called = _split_address(f"//{host}") if host else None
        if called is None:
            return False
        proxies = [_split_address(allowed) for allowed in self.origins]
        if not self._ours(called[1]) and called[1] not in [p[1] for p in proxies if p]:
            return False
        if origin is None:
            return True
        page = _split_address(origin)
        if page is None:
            return False
        scheme, name, port = page
        same = scheme == "http" and name == called[1] and port == (called[2] or 80)
        return page in proxies or (same and self._ours(name))

    def process(self, request: Any, version: str) -> tuple[http.HTTPStatus, str] | None:
        """Return why a request is refused, or None."""
        headers = request.headers
        names = [*headers.get_all("Host"), *headers.get_all("Origin")]
        single = len(headers.get_all("Host")) == 1 and len(headers.get_all("Origin")) <= 1
        if not single or not self.welcomes(headers.get("Host"), headers.get("Origin")):
            self.quiet.info("refused: %r", names)
            return http.HTTPStatus.FORBIDDEN, (
                "This is supple's studio. It answers only its own page; a page of another origin "
                "must be named by --allow-origin.\n"
            )
        if headers.get("Upgrade", "").lower() == "websocket":
            protocols = [
                word.strip() for word in headers.get("Sec-WebSocket-Protocol", "").split(",")
            ]
            if f"viser-v{version}" not in protocols:
                return http.HTTPStatus.BAD_REQUEST, f"speak viser-v{version}\n"
        return None

    @contextmanager
    def guarding(self, listening: socket.socket, controls: list[Any]) -> Iterator[None]:
        """Let the viser server that is made inside listen on a socket, behind this door.

        viser has no hook for it, so what its module calls to serve is replaced while it starts.
        `controls` receives the server when it is made, for the values that pages may set.
        """
        import viser

        _infra: Any = import_module("viser.infra._infra")
        used: list[bool] = []
        real = _infra.websockets

        def serve(handler: Any, host: str, port: int, **options: Any) -> Any:
            used.append(True)
            ours = self._options(options["process_request"], viser.__version__, controls)
            return real.asyncio.server.serve(
                handler, None, None, sock=listening, **{**options, **ours}
            )

        module = SimpleNamespace(**vars(real))
        module.asyncio = SimpleNamespace(server=SimpleNamespace(**vars(real.asyncio.server)))
        module.asyncio.server.serve = serve
        with _patching:
            _infra.websockets = module
            try:
                yield
            finally:
                _infra.websockets = real
        if not used:
            raise SuppleError(f"viser {viser.__version__} cannot be guarded: install viser 1.1")

    def _options(self, inner: Any, version: str, controls: list[Any]) -> dict[str, Any]:
        """What websockets is told: our checks before viser's, and quiet logging."""
        from websockets import Headers
        from websockets.asyncio.server import ServerConnection
        from websockets.http11 import Response

        # Who may show the studio in a frame: pages of this machine, editors, allowed origins
        local = "http://localhost:* https://localhost:* http://127.0.0.1:* https://127.0.0.1:*"
        framed = f"'self' {local} vscode-webview: {' '.join(self.origins)}".strip()

        def process(connection: Any, request: Any) -> Any:
            refused = self.process(request, version)
            if refused is not None:
                status, why = refused
                body = why.encode()
                kind = "text/plain; charset=utf-8"
                headers = Headers({"Content-Type": kind, "Content-Length": str(len(body))})
                return Response(status.value, status.phrase, headers, body)
            answer = inner(connection, request)
            if answer is not None:
                answer.headers["Content-Security-Policy"] = f"frame-ancestors {framed}"
                answer.headers["X-Content-Type-Options"] = "nosniff"
            return answer

        class GuardedConnection(ServerConnection):
            """A connection that hands on only what the studio can mean."""

            async def recv(self, decode: bool | None = None) -> Any:
                while True:
                    raw = await super().recv(decode)
                    while not controls:  # a page that was faster than the server's own start
                        await asyncio.sleep(0.05)
                    if isinstance(raw, bytes) and acceptable(raw, controls[0]):
                        return raw

        return {
            "process_request": process,
            "create_connection": GuardedConnection,
            "logger": self.quiet,
            "max_size": LARGEST,
            "open_timeout": OPENING,
        }


def _split_address(address: str) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port of an origin or of `//host`, or None."""
    try:
        parts = urlsplit(address)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        if not parts.hostname or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
            return None
        return parts.scheme, parts.hostname, parts.port or usual
    except ValueError:
        return None


def acceptable(raw: bytes, server: Any) -> bool:
    """Whether a message is one that the studio's own page sends, with values that fit."""
    import msgspec

    try:
        message = msgspec.msgpack.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    if not isinstance(message, dict):
        return False
    kind = message.pop("type", None)
    if kind == "GuiUpdateMessage":
        return message.keys() == {"uuid", "updates"} and _fits(message, server)
    if kind == "ViewerCameraMessage":
        return message.keys() == CAMERA.keys() and all(
            _numbers(message[name], size) for name, size in CAMERA.items()
        )
    return (
        kind == "GetRenderResponseMessage"
        and message.keys() == {"payload", "render_uuid"}
        and isinstance(message["payload"], bytes)
        and isinstance(message["render_uuid"], str)
    )


def _numbers(value: Any, size: int) -> bool:
    """Whether this is one finite number (size 0), or a list of them."""
    if size:
        return isinstance(value, list) and len(value) == size and all(_numbers(v, 0) for v in value)
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e300
        and math.isfinite(value)
    )


def _fits(message: dict[str, Any], server: Any) -> bool:
    """Whether an update sets the value, and nothing else, of a control, to one it can have."""
    updates = message["updates"]
    if not isinstance(updates, dict) or updates.keys() != {"value"}:
        return False
    handles = server.gui._gui_input_handle_from_uuid
    uuid = message["uuid"]
    if not isinstance(uuid, str) or uuid not in handles:
        return False
    value = updates["value"]
    state = handles[uuid]._impl
    if state.is_button or isinstance(state.value, bool):
        return isinstance(value, bool)
    if isinstance(state.value, int | float):
        low, high, step = (getattr(state.props, word, None) for word in ("min", "max", "step"))
        slack = step or 0.0  # browsers round to the step
        return (
            _numbers(value, 0)
            and (isinstance(state.value, float) or value == int(value))
            and (low is None or value >= low - slack)
            and (high is None or value <= high + slack)
        )
    options = getattr(state.props, "options", None)
    fitting = isinstance(state.value, str) and isinstance(value, str) and len(value) <= TEXT
    return fitting and (options is None or value in options)
