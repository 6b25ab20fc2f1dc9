"""The JSON schema of robot files, for editors that check YAML while one types."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from ..faults import MEANINGS
from ..robot import DeltaRobot, SerialRobot

__all__ = ["schema"]

AnyRobot = Annotated[SerialRobot | DeltaRobot, Field(discriminator="architecture")]


def schema() -> dict[str, Any]:
    """Return the JSON schema of a robot file, serial or delta, each key with its meaning."""
    found = TypeAdapter(AnyRobot).json_schema(mode="validation")
    for part in found["$defs"].values():
        for key, value in part.get("properties", {}).items():
            value.pop("title", None)
            value.setdefault("description", MEANINGS.get(key, ""))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "supple robot file",
        **found,
    }
