"""The JSON objects of a reply: found wherever they stand, also where they are spelled loosely."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import dropwhile
from typing import Any, TypeVar

from judgesheet.axis.answer import answer
from judgesheet.base.limits import (
    LONGEST_ANSWER,
    LONGEST_BEFORE,
    LONGEST_LOOK,
    LONGEST_LOOSE,
    MOST_DEPTH,
    MOST_MATCHES,
)

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
# A key with the placeholders of the prompt behind it: the form, repeated.
_FORM = re.compile(r"""[^}]{0,400}?(?:\bN\b|["'”]\s*\||\.\.\.|…)""")


_AKIN = re.compile(r"^(?:final|overall|revised|corrected|updated|adjusted|actual|true|real)[_ ]")
# What stands in place of a key that holds an earlier verdict.
_INSTEAD = re.compile(
    r"(?:final|revised|corrected|updated|actual)(?:[_ ](?:answer|verdict|decision|choice))?"
    r"|correction"
)


class _UnclearError(ValueError):
    """It is unclear what stands there."""


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _UnclearError
    return found


# Control characters in a string are what a careless serialiser writes.
_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicates, strict=False)


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and where it stands."""

    value: dict[str, Any]
    start: int
    end: int


def documents(text: str) -> list[Document] | None:
    """The outermost JSON objects of a text in order; None where it is unclear what stands there.

    Text around them (reasons, a fence) is skipped. Objects inside objects are not listed. Quotes,
    keys, commas, comments and constants may be spelled as in Python or JavaScript.
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
        except (ValueError, RecursionError):  # a key twice, say, or a number of 5,000 digits
            return None
        if document is not None:
            found.append(document)
        if in_vain > _IN_VAIN or len(found) > MOST_MATCHES:
            return None
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
        return sign if sign[0] == '"' else '"' + re.sub(r'(?<!\\)"', '\\"', inside) + '"'
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
    return [one.value for one in documents(text[:LONGEST_ANSWER]) or ()]


# -- what stands under a key -----------------------------------------------------------------------


_OF_THE_SCALE = "max|min|out|of|range|scale|possible|high|low|top"


@dataclass(frozen=True)
class Answers:
    """What the objects of a reply hold under a key, and what follows the last that has it.

    `last` is the last object that has it, in `text`.
    """

    key: str
    values: list[Any]
    text: str
    last: Document

    @property
    def rest(self) -> str:
        """The words behind the last verdict."""
        return self.text[self.last.end :]

    @property
    def before(self) -> str:
        """The words before the last verdict, on its line."""
        return self.text[: self.last.start][-LONGEST_BEFORE:].rpartition("\n")[2]

    @property
    def reasons(self) -> list[str]:
        """The texts in the last object beside the verdict."""
        return [text for _, text in _texts(self.last.value, self.key) if text is not None]

    @property
    def behind(self) -> list[tuple[str, str]]:
        """Those behind the verdict, each with the key that it stands under."""
        texts = dropwhile(lambda one: one[1] is not None, _texts(self.last.value, self.key))
        return [(name, text) for name, text in texts if text is not None]

    @property
    def variants(self) -> list[Any]:
        """What stands beside the verdict under its key with more behind it, as `score_2`.

        The ends of a scale are no verdict.
        """
        beside = self.last.value.items() if isinstance(self.last.value, Mapping) else ()
        key = re.compile(rf"{self.key}[_ -]?(?!{_OF_THE_SCALE})\w", re.IGNORECASE)
        return [value for name, value in beside if key.match(str(name))]

    @cached_property
    def alone(self) -> bool:
        """Whether nothing but marks stands beside the last verdict on its lines."""
        before = self.text[: self.last.start].rpartition("\n")[2]
        after = self.rest.partition("\n")[0]
        return not re.search(r"\w", before + after)


def answers(reply: str, key: str) -> Answers | None:
    """What a reply holds under a key, at whatever depth; None for nothing, or if it is unclear.

    It is unclear where an object names a key twice, or where the key begins a verdict that does not
    end. A string that is itself an object (the arguments of a tool call, say) is looked into.
    """
    text = answer(reply)
    text = _unquoted(text) or text
    found = documents(text)
    if found is None or _begun(text, key, found):
        return None
    try:
        held = [(one, values) for one in found if (values := list(_under(one.value, key)))]
    except _UnclearError:  # nested too deeply
        return None
    if not held:
        return None
    return Answers(key, [value for _, values in held for value in values], text, held[-1][0])


def _texts(
    value: Any, key: str, name: str = "", depth: int = 0
) -> Iterator[tuple[str, str | None]]:
    """The texts in a value and in the values within it, in order, each with its key.

    In place of what the verdict's key holds stands None.
    """
    if isinstance(value, str):
        yield name, value
    if depth > MOST_DEPTH or not isinstance(value, list | Mapping):
        return
    named = value.items() if isinstance(value, Mapping) else ((name, one) for one in value)
    for own, one in named:
        if str(own).strip().casefold() == key:
            yield key, None
        else:
            yield from _texts(one, key, str(own), depth + 1)


def _unquoted(text: str) -> str | None:
    """The text that a reply holds as a JSON string, None if it is none."""
    if not text.lstrip().startswith('"'):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _begun(text: str, key: str, found: list[Document]) -> bool:
    """Whether a verdict begins outside the objects; the form of the prompt, repeated, is none."""
    ends = [0, *(one.end for one in found)]
    starts = [*(one.start for one in found), len(text)]
    outside = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    named = re.compile(rf"""["'“”]{key}\\?["'“”]\s*:""", re.IGNORECASE)
    begun = (
        not _FORM.match(words, match.end()) for words in outside for match in named.finditer(words)
    )
    return any(begun) or (bool(found) and "{" in outside[-1])


def _under(value: Any, key: str, depth: int = 0) -> Iterator[Any]:
    """What stands under the key in a value and in the values within it.

    A key that ends in it, `final_score` for `score`, counts where the key itself is there too.
    """
    if depth > MOST_DEPTH:
        raise _UnclearError
    if isinstance(value, str):
        value = _object_in(value)
    if isinstance(value, Mapping):
        names = {name: str(name).strip().casefold() for name in value}
        mine = [name for name in value if names[name] == key]
        akin = [
            name
            for name in value
            if mine and (_AKIN.sub("", names[name]) == key or _INSTEAD.fullmatch(names[name]))
        ]
        yield from (value[name] for name in dict.fromkeys((*mine, *akin)))
        value = [value[name] for name in value if name not in mine]
    if isinstance(value, list):
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
