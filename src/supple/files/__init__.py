"""The only door to the disk: robot files in and out, and whatever else is written or read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .robots import dump, load, loads

if TYPE_CHECKING:
    from .outlines import load_profile
    from .schemas import schema

__all__ = ["dump", "load", "load_profile", "loads", "schema"]


def __getattr__(name: str) -> Any:
    # reading a robot needs neither
    if name == "load_profile":
        from .outlines import load_profile

        return load_profile
    if name == "schema":
        from .schemas import schema

        return schema
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
