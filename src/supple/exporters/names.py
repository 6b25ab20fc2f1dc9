"""Names from robot files made fit for generated text: identifiers, comments, unique words.

A robot file may call a link anything: quotes, comment ends, line breaks, dashes, any script. No
such name reaches generated text except through one of these functions or through a real XML or YAML
writer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from ..errors import SuppleError

__all__ = ["comment_text", "identifier", "refuse_names", "unique_identifiers", "xml_text"]

# Words that C, C++ and MATLAB keep for themselves; an identifier may not be one of them.
RESERVED = frozenset(
    [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "constexpr",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "end",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "function",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "main",
        "mutable",
        "namespace",
        "new",
        "not",
        "nullptr",
        "operator",
        "or",
        "otherwise",
        "parfor",
        "persistent",
        "private",
        "protected",
        "public",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "spmd",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typeid",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
        "xor",
    ]
)
LONGEST_IDENTIFIER = 40  # characters; C99 promises 31 significant ones, the first of them count
LONGEST_COMMENT = 160  # characters


def identifier(text: str, otherwise: str = "robot") -> str:
    """Return a word of letters, digits and underscores that every language takes as a name.

    Letters lose their accents, all else becomes an underscore; `otherwise` is used where nothing
    is left. `de-luca-two-link` becomes `de_luca_two_link`.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    word = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    word = word[:LONGEST_IDENTIFIER].strip("_")
    if not word:
        return otherwise
    if word[0].isdigit():
        word = f"{otherwise}_{word}"
    if word.lower() in RESERVED:
        word = f"{word}_"
    return word


def unique_identifiers(names: Iterable[str], otherwise: str = "part") -> list[str]:
    """Return an identifier for each name, numbered where two names would become the same one."""
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        word = identifier(name, otherwise)
        candidate = word
        number = 2
        while candidate.lower() in taken:  # some file systems and tools ignore the case
            candidate = f"{word}_{number}"
            number += 1
        taken.add(candidate.lower())
        found.append(candidate)
    return found


def comment_text(text: str) -> str:
    """Return a text that may stand inside a comment of C, MATLAB or Python: one ASCII line.

    Comment ends, trigraphs, backslashes and whatever does not print are replaced.
    """
    line = " ".join(text.split())
    plain = line.encode("ascii", "replace").decode()
    safe = re.sub(r"[^A-Za-z0-9 ,.;:()\[\]+=_<>^'|-]", "_", plain)
    return safe[:LONGEST_COMMENT]


def xml_text(text: str) -> str:
    """Return a text without characters that XML cannot hold; its writers escape the others."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "_", text)


def refuse_names(
    robot: str, names: Iterable[str], kept: re.Pattern[str], written: Callable[[str], str]
) -> None:
    """Raise a SuppleError where a format cannot hold the names of a robot's links.

    Parameters
    ----------
    robot : str
        Name of the robot, for the sentence.
    names : iterable of str
        Names of its links.
    kept : re.Pattern
        Names that the format has for itself.
    written : callable
        How a name is written; no two links may be written alike.
    """
    taken: dict[str, str] = {}
    for name in names:
        word = written(name)
        if kept.fullmatch(word):
            raise SuppleError(
                f"{robot} has a link named {name!r}, a name that this format keeps for itself: "
                "give the link another name"
            )
        if word in taken:
            raise SuppleError(
                f"{robot} has links named {taken[word]!r} and {name!r}, which this format writes "
                f"alike, {word!r}: give one of them another name"
            )
        taken[word] = name
