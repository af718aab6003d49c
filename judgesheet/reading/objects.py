"""The JSON objects of a reply: found wherever they stand, also where they are spelled loosely."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from judgesheet.base.limits import (
    LONGEST_ANSWER,
    LONGEST_LOOK,
    LONGEST_LOOSE,
    MOST_DEPTH,
    MOST_MATCHES,
)
from judgesheet.reading.reasons import Code

T = TypeVar("T")

_IN_VAIN, _START = 500_000, 500
"""Characters read without finding an object before a reply is given up: it is noise, and all others
wait. A brace that opens none counts as so many."""

_TOKEN = re.compile(
    r"""(?P<text> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [“”](?:[^“”\\]|\\.)*[“”] )
    | (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<comma> , (?=\s*[}\]]) )
    | (?P<key> [A-Za-z_]\w* (?=\s*:) )
    | (?P<word> [Tt]rue | [Ff]alse | null | None )\b
    | (?P<bare> (?<=:) \s* (?!(?:N|NaN|[Tt]rue|[Ff]alse|null|None)\b)
        [A-Za-z][^,{}\[\]"\n|]{0,60} (?=[,}]) )
    | (?P<plain> [{}\[\]:,] | \s+ | -?\d[\d.eE+-]* )""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_ESCAPE = re.compile(r'\\(?P<known>["\\/bfnrt]|u[0-9a-fA-F]{4})?')
# A key with the placeholders of the prompt behind it: the form, repeated.
_FORM = re.compile(r"""[^}]{0,400}?(?:\bN\b|["'”]\s*\||\.\.\.|…)""")

# An object whose first key the reply does not get through.
_BEGUN = re.compile(r"""\{\s*["'“]\w*\s*\Z""")


class UnclearError(ValueError):
    """It is unclear what stands there, for this reason."""

    def __init__(self, reason: Code) -> None:
        super().__init__(reason)
        self.reason: Code = reason


def _agreeing(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; a key that holds two values is unclear."""
    found = dict(pairs)
    if len(found) != len(pairs) and any(found[key] != value for key, value in pairs):
        raise UnclearError("two_verdicts")
    return found


# Control characters in a string are what a careless serialiser writes.
_DECODER = json.JSONDecoder(object_pairs_hook=_agreeing, strict=False)


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and where it stands."""

    value: dict[str, Any]
    start: int
    end: int


def documents(text: str) -> list[Document]:
    """The outermost JSON objects of a text in order; UnclearError where that is unclear.

    Text around them (reasons, a fence) is skipped. Quotes, keys, commas, comments and constants may
    be spelled as in Python or JavaScript; a backslash that begins no escape is a backslash.
    """
    found: list[Document] = []
    at, in_vain, loose = text.find("{"), 0, 0
    while at >= 0:
        try:
            document, end = _strict(text, at)
            if document is None:
                # What was read for nothing counts, so that a reply of braces ends.
                in_vain += _START + end - at
                document, end = _loose(text, at, min(LONGEST_LOOSE, LONGEST_LOOK - loose))
                loose += end - at
        except UnclearError:
            raise
        except (ValueError, RecursionError):  # a number of 5,000 digits, say
            raise UnclearError("no_verdict") from None
        if document is not None:
            found.append(document)
        if in_vain > _IN_VAIN or len(found) > MOST_MATCHES:
            raise UnclearError("no_verdict")
        # Behind the object, not inside: what it contains is its own.
        at = text.find("{", document.end if document else at + 1)
    return found


def _strict(text: str, at: int) -> tuple[Document | None, int]:
    """The object that begins here, None if there is none, and how far it was read."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return None, error.pos
    return Document(value, at, end), end


def _loose(text: str, at: int, longest: int) -> tuple[Document | None, int]:
    """As `_strict`, written as JSON token by token; None also if it is longer than `longest`."""
    written, depth, place = [], 0, at
    while token := _TOKEN.match(text, place, at + longest):
        place, kind, sign = token.end(), token.lastgroup, token.group()
        written.append(_as_json(kind, sign))
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth == 0:
            document, _ = _strict("".join(written), 0)
            return document and Document(document.value, at, place), place
    return None, place


def _as_json(kind: str | None, sign: str) -> str:
    if kind == "text":
        inside = sign[1:-1].replace("\\'", "'")
        if sign[0] != '"':
            inside = re.sub(r'(?<!\\)"', '\\"', inside)
        return '"' + _ESCAPE.sub(lambda one: one[0] if one["known"] else r"\\", inside) + '"'
    if kind in ("key", "bare"):
        return f'"{sign.strip()}"'
    return {"comment": " ", "comma": " ", "word": _WORDS.get(sign, sign)}.get(kind or "", sign)


def json_documents(text: str) -> list[Any]:
    """The reply itself where it is one JSON array, else the outermost objects in it.

    Empty where there is none, or where it is unclear what stands there.
    """
    stripped = text.strip()
    if stripped.startswith("["):
        try:
            return [_DECODER.decode(stripped)]
        except (ValueError, RecursionError):
            pass  # a list in the prose before the answer, say
    try:
        return [one.value for one in documents(text[:LONGEST_ANSWER])]
    except UnclearError:
        return []


# -- what stands under a key -----------------------------------------------------------------------


def held(text: str, key: str) -> list[Any]:
    """What the objects of an answer hold under a key, at whatever depth.

    A string that is itself an object (the arguments of a tool call, say) is looked into.

    Raises
    ------
    UnclearError
        An object holds two values under one key, or the key begins a verdict that does not end.
    """
    text = _unquoted(text) or text
    found = documents(text)
    if _is_begun(text, key, found):
        raise UnclearError("cut_off")
    return [value for one in found for value in _under(one.value, key)]


def _unquoted(text: str) -> str | None:
    """The text that a reply holds as a JSON string, None if it is none."""
    if not text.lstrip().startswith('"'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _is_begun(text: str, key: str, found: list[Document]) -> bool:
    """Whether a verdict begins outside the objects; the form of the prompt, repeated, is none."""
    ends = [0, *(one.end for one in found)]
    starts = [*(one.start for one in found), len(text)]
    outside = (text[end:start] for end, start in zip(ends, starts, strict=True))
    named = re.compile(rf"""["'“”]{key}\\?["'“”]\s*:""", re.IGNORECASE)
    return _BEGUN.search(text) is not None or any(
        not _FORM.match(words, match.end()) for words in outside for match in named.finditer(words)
    )


def _under(value: Any, key: str, depth: int = 0) -> Iterator[Any]:
    """What stands under the key in a value and in the values within it."""
    if depth > MOST_DEPTH:
        raise UnclearError("no_verdict")
    if isinstance(value, str):
        value = _object_in(value)
    if isinstance(value, Mapping):
        for name, one in value.items():
            if str(name).strip().casefold() == key:
                yield one
            else:
                yield from _under(one, key, depth + 1)
    elif isinstance(value, list):
        for element in value:
            yield from _under(element, key, depth + 1)


def _object_in(text: str) -> Any:
    """The object that a string is, None for other strings."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def within(value: Any, read: Callable[[Any], T | None]) -> T | None:
    """What is read in a value, or in the only part of a list or object in which anything is."""
    if not isinstance(value, list | Mapping):
        return read(value)
    parts = value.values() if isinstance(value, Mapping) else value
    scalars = (part for part in parts if not isinstance(part, list | Mapping))
    readings = [one for one in map(read, scalars) if one is not None]
    return readings[0] if len(readings) == 1 else None
