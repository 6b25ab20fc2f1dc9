"""The only door to the disk: robot files in and out, and whatever else is written or read."""

from .outlines import load_profile
from .robots import dump, load, loads
from .schemas import schema

__all__ = ["dump", "load", "load_profile", "loads", "schema"]
