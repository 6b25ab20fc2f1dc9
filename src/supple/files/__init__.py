"""The only door to the disk: robot files in and out, and whatever else is written or read."""

from .robots import dump, load, loads
from .schemas import schema

__all__ = ["dump", "load", "loads", "schema"]
