"""YAML 1.2 text to plain data, with the line of every place.

The text is read event by event, without recursion, under limits on depth and size, so that nothing
a file holds can exhaust the stack or the memory. Only `true` and `false` are booleans, `70e9` and
`0o17` are numbers, keys are texts. Source: YAML 1.2.2, section 10.3 (core schema).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..errors import RobotError
from ..faults import Fault, quote
from ..values import Place

__all__ = ["Document", "read_yaml", "resolve_scalar"]

DEPTH_LIMIT = 30
SIZE_LIMIT = 20_000  # values, aliases written out

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INF = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_CORE = "tag:yaml.org,2002:"
_KINDS = ("str", "int", "float", "bool", "null", "seq", "map")
_KNOWN_TAGS = {None, "!", *(_CORE + kind for kind in _KINDS)}


class Document(NamedTuple):
    """One YAML document: its data, the line of every place, and the faults that do not hide it."""

    data: Any
    lines: dict[Place, int]
    faults: list[Fault]


def read_yaml(text: str, where: str = "", limit: int = SIZE_LIMIT) -> Document:
    """Read one YAML 1.2 document; raise RobotError with one sentence when it cannot be read.

    It may hold `limit` values, aliases written out.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    builder = _Builder(where, limit)
    try:
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        said = getattr(problem, "problem", None) or getattr(problem, "reason", None) or "unreadable"
        sentence = " ".join(str(said).split()) + (f" (line {mark.line + 1})" if mark else "")
        if mark and "\t" in "".join(text.splitlines()[mark.line : mark.line + 1]):
            sentence += "; indent with spaces, not with tabs"
        raise RobotError([f"this is not YAML: {sentence}"], where) from None
    return Document(builder.root, builder.lines, builder.faults)


def resolve_scalar(text: str) -> Any:
    """The value of a plain scalar by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) < 19:
        return int(text)
    if _OCTAL_HEX.fullmatch(text) and len(text) < 19:
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _INF.fullmatch(text) else text


class _Frame(NamedTuple):
    """A list or mapping that is being filled."""

    value: Any
    place: Place
    anchor: str | None
    start: int  # number of values read before it


class _Builder:
    """Data from YAML events, one after the other."""

    def __init__(self, where: str, limit: int) -> None:
        self.where = where
        self.limit = limit
        self.root: Any = None
        self.lines: dict[Place, int] = {}
        self.faults: list[Fault] = []
        self._stack: list[_Frame] = []
        self._keys: list[str | None] = []  # the key that waits for its value, for each frame
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._count = 0
        self._documents = 0

    def take(self, event: Any) -> None:
        """Add what one event brings."""
        action = getattr(self, "_" + type(event).__name__, None)
        if action is not None:
            action(event, event.start_mark.line + 1)

    def _DocumentStartEvent(self, event: Any, line: int) -> None:
        self._documents += 1
        if self._documents > 1:
            raise self._refusal("there is more than one document (---): keep one", line)

    def _ScalarEvent(self, event: Any, line: int) -> None:
        if self._is_key():
            if event.value == "<<" and event.implicit[0]:
                raise self._refusal("merging by << is not in YAML 1.2: write the keys out", line)
            key = event.value
            frame = self._stack[-1]
            self._keys[-1] = key
            self.lines[(*frame.place, key)] = line
            if key in frame.value:
                sentence = f"key {quote(key)} is given twice: keep one"
                in_list = bool(frame.place) and isinstance(frame.place[-1], int)
                if key == "name" and in_list:
                    sentence += "; a new item of a list begins with a dash, - name: ..."
                self.faults.append(Fault(frame.place, sentence, key))
            return
        self._check_tag(event, line)
        plain = event.implicit[0] or event.tag not in (None, "!", _CORE + "str")
        value = resolve_scalar(event.value) if plain and event.tag != "!" else event.value
        self._place(value, 1, line)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)

    def _MappingStartEvent(self, event: Any, line: int) -> None:
        self._check_tag(event, line)
        if self._is_key():
            raise self._refusal("a list or mapping stands as a key: keys must be texts", line)
        if len(self._stack) >= DEPTH_LIMIT:
            raise self._refusal(f"the file is nested deeper than {DEPTH_LIMIT} levels", line)
        start = self._count
        value: Any = {} if "Mapping" in type(event).__name__ else []
        place = self._place(value, 1, line)
        self._stack.append(_Frame(value, place, event.anchor, start))
        self._keys.append(None)

    _SequenceStartEvent = _MappingStartEvent

    def _MappingEndEvent(self, event: Any, line: int) -> None:
        frame = self._stack.pop()
        self._keys.pop()
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (frame.value, self._count - frame.start)

    _SequenceEndEvent = _MappingEndEvent

    def _AliasEvent(self, event: Any, line: int) -> None:
        if event.anchor not in self._anchors:
            sentence = f"the alias *{event.anchor} stands for nothing"
            raise self._refusal(f"{sentence}: give an anchor &{event.anchor} before it", line)
        if self._is_key():
            raise self._refusal(f"the alias *{event.anchor} stands as a key: write it out", line)
        self._place(*self._anchors[event.anchor], line)

    def _is_key(self) -> bool:
        inside = bool(self._stack) and isinstance(self._stack[-1].value, dict)
        return inside and self._keys[-1] is None

    def _place(self, value: Any, size: int, line: int) -> Place:
        """Put a value where it belongs and return its place."""
        self._count += size
        if self._count > self.limit:
            sentence = f"the file holds more than {self.limit:,} values, its aliases written out"
            raise self._refusal(f"{sentence}: that is too much", line)
        if not self._stack:
            self.root = value
            return ()
        holder = self._stack[-1].value
        place = self._stack[-1].place
        if isinstance(holder, list):
            holder.append(value)
            self.lines[(*place, len(holder) - 1)] = line
            return (*place, len(holder) - 1)
        key = str(self._keys[-1])
        holder[key] = value
        self._keys[-1] = None
        return (*place, key)

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag not in _KNOWN_TAGS:
            raise self._refusal(f"the tag {quote(event.tag)} is not known: leave it out", line)

    def _refusal(self, sentence: str, line: int) -> RobotError:
        return RobotError([f"{sentence} (line {line})"], self.where)
