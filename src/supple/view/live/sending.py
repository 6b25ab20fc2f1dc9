"""What a live view sends to its browser: pictures and pages."""

from __future__ import annotations

from typing import Any

from ..page.reports import Report

__all__ = ["send"]


def send(client: Any, name: str, page: Report | None = None) -> str:
    """Send a page to one browser, or what it sees as PNG; return what to say about it."""
    file = "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    if page is None:
        import imageio.v3 as imageio

        image = client.get_render(900, 1400, transport_format="png")
        data = imageio.imwrite("<bytes>", image, extension=".png")
        client.send_file_download(f"{file}.png", data, save_immediately=True)
    else:
        client.send_file_download(f"{file}.html", page.text().encode(), save_immediately=True)
    return f"The {'picture' if page is None else 'page'} was sent to your browser's downloads."
