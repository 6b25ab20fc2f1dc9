"""What a live view sends to its browser: pictures and pages."""

from __future__ import annotations

from typing import Any

from ..page.reports import Report

__all__ = ["file_name", "send_page", "send_picture"]


def send_picture(client: Any, name: str) -> None:
    """Send what one browser sees, as PNG."""
    import imageio.v3 as imageio

    image = client.get_render(900, 1400, transport_format="png")
    data = imageio.imwrite("<bytes>", image, extension=".png")
    client.send_file_download(f"{file_name(name)}.png", data, save_immediately=True)


def send_page(client: Any, name: str, report: Report) -> None:
    """Send a page to one browser."""
    text = report.text().encode()
    client.send_file_download(f"{file_name(name)}.html", text, save_immediately=True)


def file_name(name: str) -> str:
    """Return a name as that of a file."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
