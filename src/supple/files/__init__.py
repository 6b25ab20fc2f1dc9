"""The only door to the disk: robot files in, robot files out."""

from .robots import dump, load, loads
from .schemas import schema

__all__ = ["dump", "load", "loads", "schema"]
