"""Plain data to YAML text that YAML 1.2 and YAML 1.1 readers understand alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["write"]

_WIDTH = 96
_TABLES = ("materials", "sections", "links", "closures")  # never on one line
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def write(data: Mapping[str, Any]) -> str:
    """Plain data as YAML: short parts on one line, numbers with every digit."""
    return "".join(line + "\n" for line in _block(data, ""))


def _block(data: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in data.items():
        text = _scalar(key)
        flow = _flow(value)
        # a very long key takes YAML's explicit form
        head = f"{indent}{text}:" if len(text) < 500 else f"{indent}? {text}\n{indent}:"
        short = key not in _TABLES and len(head) + len(flow) < _WIDTH
        if not value or not isinstance(value, dict | list) or short:
            lines.append(f"{head} {flow}")
        elif isinstance(value, dict):
            lines += [head, *_block(value, indent + "  ")]
        else:
            lines.append(head)
            for entry in value:
                if isinstance(entry, dict) and entry:
                    first, *rest = _block(entry, indent + "    ")
                    lines += [f"{indent}  - {first.lstrip()}", *rest]
                else:
                    lines.append(f"{indent}  - {_flow(entry)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(v)}" for key, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        # A float with every digit: whole ones short, exponents with a dot for readers of YAML 1.1
        text = repr(value)
        if text.endswith(".0") and text != "-0.0":
            return text[:-2]
        mantissa, e, exponent = text.partition("e")
        return f"{mantissa}.0e{exponent}" if e and "." not in mantissa else text
    if isinstance(value, int) or (_PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN):
        return str(value)
    inside = (_ESCAPES.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in value)
    return '"' + "".join(inside) + '"'
