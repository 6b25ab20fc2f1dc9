"""What a live view sends to its browser: pictures and pages."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...errors import SuppleError
from ..page.reports import Report

__all__ = ["Saving", "send"]

RENDER_TIME = 30.0  # s in which a browser must have drawn its picture


def send(client: Any, name: str, page: Report | None = None) -> str:
    """Send a page to one browser, or what it sees as PNG; return what to say about it."""
    file = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    if page is None:
        import imageio.v3 as imageio

        image = client.get_render(900, 1400, transport_format="png", timeout=RENDER_TIME)
        data = imageio.imwrite("<bytes>", image, extension=".png")
        client.send_file_download(f"{file}.png", data, save_immediately=True)
    else:
        client.send_file_download(f"{file}.html", page.text().encode(), save_immediately=True)
    return f"The {'picture' if page is None else 'page'} was sent to your browser's downloads."


class Saving:
    """Saves pictures and pages for browsers, one at a time, in a thread that nobody waits for.

    The server's own threads are joined before Python ends: a hundred clicks that queue up there
    would keep Ctrl-C waiting. While one is being saved, further clicks are answered and dropped.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._busy = threading.Lock()

    def begin(self, client: Any, name: str, make_page: Callable[[], Report] | None) -> None:
        """Begin to save a page, or without one a picture; return at once."""
        if not self._busy.acquire(blocking=False):
            self._say("Still saving what was asked for before: one thing at a time.")
            return
        given = (client, name, make_page)
        threading.Thread(target=self._save, args=given, daemon=True).start()

    def _save(self, client: Any, name: str, make_page: Callable[[], Report] | None) -> None:
        """Save, and say how it went; a browser that has gone is no fault of anybody's."""
        try:
            page = None if make_page is None else make_page()
            sentence = send(client, name, page)
        except SuppleError as problem:
            sentence = str(problem)
        except TimeoutError:
            sentence = f"The browser did not draw its picture in {RENDER_TIME:g} s: try again."
        except Exception as problem:  # noqa: BLE001 - what a closed connection raises is not listed
            sentence = (
                f"Nothing was saved, the page was closed or reloaded ({type(problem).__name__})."
            )
        finally:
            self._busy.release()
        self._say(sentence)
