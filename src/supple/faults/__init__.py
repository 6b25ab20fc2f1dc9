"""Faults of a description as sentences: the place, what was given, what is allowed, what to try."""

from .description import Description
from .finding import Fault, robot_error, validate_data
from .known import derived_keys, known_keys, models_at, plain
from .meanings import MEANINGS
from .sentences import nearest, quote, unknown_key

__all__ = [
    "MEANINGS",
    "Description",
    "Fault",
    "derived_keys",
    "known_keys",
    "models_at",
    "nearest",
    "plain",
    "quote",
    "robot_error",
    "unknown_key",
    "validate_data",
]
