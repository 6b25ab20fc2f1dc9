"""Faults of a description as sentences: the place, what was given, what is allowed, what to try."""

from .description import Description
from .finding import Fault, robot_error, validated
from .known import derived_keys, known_keys, models_at, plain
from .meanings import MEANINGS
from .sentences import nearest, shown, unknown_key

__all__ = [
    "MEANINGS",
    "Description",
    "Fault",
    "derived_keys",
    "known_keys",
    "models_at",
    "nearest",
    "plain",
    "robot_error",
    "shown",
    "unknown_key",
    "validated",
]
