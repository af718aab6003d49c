r"""For stage three: how a reply is read, by the axis or first by the user's own parser.

An own parser is for a judge that answers in a form of its own. It is a small TOML file, usually
beside the prompt template that asks for that form:

    [verdict]
    regex = 'Rating:\s*(\d+)'                         # or: jsonpath = '$.result.rating'
    map = { "Response A" = "1", "Response B" = "2" }  # optional

    [[example]]
    reply = "Rating: 4"
    verdict = 4

It turns a reply into a recorded verdict (the form that `judgesheet ingest` takes), which the axis
then reads as it reads any recorded verdict. So an own parser can say nothing that the axis does not
allow, and this module knows no axis. A reply that gives two different verdicts has none.

Where a verdict has a part for each criterion or candidate, the pattern names the part:
`{criterion}` or `{candidate}` is its name, `{label}` its letter (A, B, …) and
`{position}` its number (1, 2, …) by displayed place. Where each part has several fields, there is a
table for each: `[verdict.score]`, `[verdict.uncertain]`.

Replies are hostile. Regular expressions run in RE2, whose time grows with the length of the reply
and not beyond; JSON paths are RFC 9535 without the functions that match regular expressions, and
descend at most once. Nothing of a reply is executed.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Self

from judgesheet.axes import all_axes, get_axis
from judgesheet.axis import Axis, NamingParts
from judgesheet.axis.reply import PLACEHOLDERS, json_documents
from judgesheet.errors import ParserError, RunError, UsageError
from judgesheet.records import Call, ReplyFormat, digest
from judgesheet.spine.ledger import Ledger

LONGEST = 200_000
"""Characters of a reply; a longer one is no answer and not searched."""
MOST_MATCHES = 1_000
"""Matches that are looked at; a reply with more is noise."""
_PLACEHOLDER = re.compile(rf"\{{({'|'.join(PLACEHOLDERS)})\}}")
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_DECIMAL = re.compile(r"[+-]?\d{1,15}\.\d{1,15}")
_UNREADABLE = object()


@dataclass(frozen=True, slots=True)
class Pattern:
    """One regular expression or JSON path, and what its findings mean.

    `mapping` says what the judge's words mean; where there is one, no other word means anything.
    `default` is the value where nothing is found, None if that makes the reply unreadable.
    """

    kind: Literal["regex", "jsonpath"]
    text: str
    mapping: Mapping[str, Any]
    default: Any = None

    def find(self, reply: "_Reply", names: Mapping[str, str]) -> Any:
        """The one value that the reply gives for these names, or `_UNREADABLE`."""
        values = _regex_values if self.kind == "regex" else _path_values
        found = list(islice(values(self.text, reply, names), MOST_MATCHES + 1))
        if not found:
            return _UNREADABLE if self.default is None else self.default
        meant = {_typed(self._meaning(value)) for value in found}
        if len(found) > MOST_MATCHES or len(meant) > 1:
            return _UNREADABLE
        return meant.pop()[1]

    def _meaning(self, value: Any) -> Any:
        """What a finding says: by the map if there is one, a number where it reads as one."""
        value = value.strip() if isinstance(value, str) else value
        if self.mapping:
            word = value if isinstance(value, str) else json.dumps(value)
            value = self.mapping.get(word, _UNREADABLE)
        if isinstance(value, str) and _WHOLE.fullmatch(value):
            return int(value)
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            return float(value)
        return value if isinstance(value, str | int | float) else _UNREADABLE

    @property
    def names_parts(self) -> bool:
        """Whether it is looked for once per criterion or candidate."""
        return _PLACEHOLDER.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Example:
    """A reply with the verdict that it must give; `unreadable` where it must give none."""

    reply: str
    verdict: Any
    unreadable: bool
    cell: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of an example: `found` is what the axis reads, None for nothing."""

    example: Example
    found: Any
    passed: bool


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser of one axis; `source` is its file, verbatim, and `name` that file's name.

    `fields` maps the fields of a verdict to their patterns; the key "" stands for a verdict without
    fields.
    """

    name: str
    source: str
    fields: Mapping[str, Pattern]
    examples: tuple[Example, ...]

    @classmethod
    def from_file(cls, path: Path) -> Self:
        """The parser in a file.

        Raises
        ------
        ParserError
            that says what is wrong with it.
        """
        try:
            return cls.from_source(path.read_text(encoding="utf-8"), path.name)
        except OSError as error:
            raise ParserError(f"the parser {path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise ParserError(f"the parser {path} cannot be read: {error.reason}") from None

    @classmethod
    def from_source(cls, source: str, name: str) -> Self:
        """The parser in a text, as a ledger keeps it.

        Raises
        ------
        ParserError
            that says what is wrong with it.
        """
        return cls(name, source, *_understood(source, name))

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return digest(self.source)

    def verdict(self, text: str, parts: Iterable[Mapping[str, str]] = ()) -> str | None:
        """The recorded verdict that a reply gives, as JSON; None if it gives none, or two.

        `parts` says what the placeholders mean for each displayed criterion or candidate.
        """
        if len(text) > LONGEST:
            return None
        reply = _Reply(text)
        if not any(pattern.names_parts for pattern in self.fields.values()):
            value = self._part(reply, {})
        else:
            found = {names["candidate"]: self._part(reply, names) for names in parts}
            value = found if found and _UNREADABLE not in found.values() else _UNREADABLE
        return None if value is _UNREADABLE else json.dumps(value)

    def _part(self, reply: "_Reply", names: Mapping[str, str]) -> Any:
        values = {field: pattern.find(reply, names) for field, pattern in self.fields.items()}
        if any(value is _UNREADABLE for value in values.values()):
            return _UNREADABLE
        return values.get("", values)


def read(
    axis: Axis, text: str, reply: ReplyFormat, cell: Mapping[str, Any], parser: Parser | None = None
) -> Any | None:
    """What the axis reads in a reply; a reply that breaks its parser is unreadable, no more."""
    try:
        if parser is None or reply == "recorded":
            return axis.parse(text, reply, cell)
        verdict = parser.verdict(text, _parts(axis, cell))
        return None if verdict is None else axis.parse(verdict, "recorded", cell)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        return None


def _parts(axis: object, cell: Mapping[str, Any]) -> Iterable[Mapping[str, str]]:
    """The parts of a reply in this cell; none where the axis reads replies as a whole."""
    return axis.parts(cell) if isinstance(axis, NamingParts) else ()


def try_examples(parser: Parser, axis: Axis, cell: Mapping[str, Any]) -> Iterator[Trial]:
    """Read every example of the parser in `cell`, as far as it does not say another one."""
    for example in parser.examples:
        place = {**cell, **example.cell}
        found = read(axis, example.reply, "text", place, parser)
        expected = read(axis, json.dumps(example.verdict), "recorded", place)
        passed = found is None if example.unreadable else found is not None and found == expected
        yield Trial(example, found, passed)


def refuse_failing_examples(parser: Parser, axis: Axis, cell: Mapping[str, Any]) -> None:
    """Try the examples before a judge is paid for.

    Raises
    ------
    ParserError
        with the first example that is not read as it says.
    """
    for number, trial in enumerate(try_examples(parser, axis, cell), start=1):
        if not trial.passed:
            raise ParserError(
                f"{parser.name}: example {number} is read as {said(trial.found)}, not as "
                f"{expectation(trial.example)}; see `judgesheet stimuli check --axis {axis.NAME} "
                "--parser FILE`"
            )


def said(found: Any) -> str:
    """A reading in words."""
    return "unreadable" if found is None else json.dumps(found, ensure_ascii=False, default=str)


def expectation(example: Example) -> str:
    """What an example must be read as, in words."""
    return "unreadable" if example.unreadable else said(example.verdict)


# -- parsers of a run ------------------------------------------------------------------------------


def as_record(axis: str, parser: Parser) -> dict[str, str]:
    """What a ledger and a sheet keep of a parser: all of it."""
    return {
        "axis": axis,
        "name": parser.name,
        "digest": parser.digest,
        "source": parser.source,
    }


def from_records(records: Iterable[Mapping[str, str]]) -> dict[str, Parser]:
    """Parsers by axis, from what `as_record` made of them."""
    return {one["axis"]: Parser.from_source(one["source"], one["name"]) for one in records}


def readable_by(parsers: Mapping[str, Parser]) -> Callable[[Call, str], bool]:
    """Whether the text of a reply can be read, by the parser of its axis where there is one."""

    def is_readable(call: Call, text: str) -> bool:
        axis = all_axes()[call.axis]
        return read(axis, text, call.reply, call.cell, parsers.get(call.axis)) is not None

    return is_readable


def replace_parsers(path: Path, files: Mapping[str, Path]) -> None:
    """Note in the ledger at `path` that these parsers (axis -> file) read its replies from now on.

    Raises
    ------
    RunError
        if the ledger cannot be written or holds recorded verdicts, which no parser reads.
    UsageError
        if a parser is for an axis that was not asked about.
    ParserError
        if a parser cannot be used or does not read its own examples.
    """
    with Ledger.open(path, writable=True) as ledger:
        cells: dict[str, Mapping[str, Any]] = {}
        for call in ledger.calls():
            cells.setdefault(call.axis, call.cell)
            if call.reply == "recorded":
                raise RunError(f"{path} holds recorded verdicts, which no parser has to read")
        now = {one["axis"]: one for one in ledger.parsers()}
        for name, file in files.items():
            if name not in cells:
                raise UsageError(f"--parser names {name}, which this run did not ask about")
            parser = Parser.from_file(file)
            refuse_failing_examples(parser, get_axis(name), cells[name])
            now[name] = as_record(name, parser)
        ledger.replace_parsers([now[name] for name in sorted(now)])


# -- finding values in a reply ---------------------------------------------------------------------


class _Reply:
    """A reply as text, and as the JSON documents in it, which are looked for once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def documents(self) -> list[Any]:
        return json_documents(self.text)


def _typed(value: Any) -> tuple[type, Any]:
    """A value with its type: 1 and true, which Python takes for equal, are two readings."""
    return type(value), value


def _regex_values(pattern: str, reply: _Reply, names: Mapping[str, str]) -> Iterator[Any]:
    for match in _regex(pattern, tuple(names.items())).finditer(reply.text):
        yield match.group(1)


def _path_values(pattern: str, reply: _Reply, names: Mapping[str, str]) -> Iterator[Any]:
    from jsonpath import JSONPathError

    path = _path(pattern, tuple(names.items()))
    try:
        yield from (node.obj for document in reply.documents for node in path.finditer(document))
    except JSONPathError:  # nested too deeply
        yield _UNREADABLE


@lru_cache(maxsize=1024)
def _regex(pattern: str, names: tuple[tuple[str, str], ...]) -> Any:
    """The pattern with the names in it, compiled by RE2."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(_filled(pattern, dict(names), re2.escape), options)


@lru_cache(maxsize=1024)
def _path(pattern: str, names: tuple[tuple[str, str], ...]) -> Any:
    """The path with the names in it, compiled."""
    return _environment().compile(_filled(pattern, dict(names), _quoted))


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jsonpath import JSONPathEnvironment

    environment = JSONPathEnvironment(strict=True)
    for name in ("match", "search"):  # these run Python's regular expressions on the reply
        environment.function_extensions.pop(name, None)
    return environment


def _filled(pattern: str, names: Mapping[str, str], escape: Any) -> str:
    return _PLACEHOLDER.sub(lambda found: escape(names.get(found[1], found[1])), pattern)


def _quoted(name: str) -> str:
    """A name for between quotes of either kind in a JSON path."""
    return json.dumps(name)[1:-1].replace('\\"', "\\u0022").replace("'", "\\u0027")


# -- understanding a parser file -------------------------------------------------------------------

_PATTERN_KEYS = {"regex", "jsonpath", "map", "default"}
_EXAMPLE_KEYS = {"reply", "verdict", "unreadable", "cell"}


def _understood(source: str, name: str) -> tuple[dict[str, Pattern], tuple[Example, ...]]:
    try:
        file = tomllib.loads(source)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError alone
        raise ParserError(f"{name} is not TOML: {error}") from None
    _only(file, {"verdict", "example"}, name)
    table = file.get("verdict")
    if not isinstance(table, dict) or not table:
        raise ParserError(f"{name} has no [verdict] with a regex or a jsonpath")
    if table.keys() & {"regex", "jsonpath"}:
        fields = {"": _pattern(table, f"{name}, [verdict]")}
    else:
        fields = {one: _pattern(part, f"{name}, [verdict.{one}]") for one, part in table.items()}
    examples = file.get("example", [])
    if not isinstance(examples, list):
        raise ParserError(f"{name}: examples are written as [[example]], each with its own heading")
    return fields, tuple(
        _example(one, f"{name}, example {number}") for number, one in enumerate(examples, start=1)
    )


def _only(table: Any, known: set[str], where: str) -> None:
    if not isinstance(table, dict):
        raise ParserError(f"{where}: not a table")
    unknown = sorted(set(table) - known)
    if unknown:
        raise ParserError(
            f"{where}: there is no {unknown[0]!r}; there are {', '.join(sorted(known))}"
        )


def _pattern(table: Any, where: str) -> Pattern:
    _only(table, _PATTERN_KEYS, where)
    kinds = [kind for kind in ("regex", "jsonpath") if kind in table]
    if len(kinds) != 1 or not isinstance(table[kinds[0]], str):
        raise ParserError(f"{where}: give one regex or one jsonpath, as text in quotes")
    text, mapping, default = table[kinds[0]], table.get("map", {}), table.get("default")
    if not isinstance(mapping, dict) or not all(map(_scalar, mapping.values())):
        raise ParserError(f"{where}: map takes texts to texts, numbers, true or false")
    if default is not None and not _scalar(default):
        raise ParserError(f"{where}: default is a text, a number, true or false")
    if kinds[0] == "regex":
        _check_regex(text, where)
        return Pattern("regex", text, mapping, default)
    _check_path(text, where)
    return Pattern("jsonpath", text, mapping, default)


def _scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


_ODD = tuple((name, 'it\'s "odd" [1]') for name in PLACEHOLDERS)
"""Names that a pattern must bear."""


def _check_regex(text: str, where: str) -> None:
    import re2

    try:
        compiled = _regex(text, _ODD)
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode() if isinstance(reason, bytes) else reason
        raise ParserError(
            f"{where}: RE2 does not take this regex ({reason}); it has no look-around and no "
            "back-references"
        ) from None
    if compiled.groups != 1:
        raise ParserError(
            f"{where}: the regex has {compiled.groups} groups and needs one, which is the verdict; "
            "write (?:…) for the others"
        )


def _check_path(text: str, where: str) -> None:
    from jsonpath import JSONPathError

    try:
        _path(text, _ODD)
    except JSONPathError as error:
        reason = str(error).splitlines()[0]
        raise ParserError(
            f"{where}: this jsonpath cannot be used ({reason}); paths follow RFC 9535 without "
            "match and search, and names stand in quotes: $.scores['{criterion}']"
        ) from None
    kinds = [token.kind for token in _environment().lexer.tokenize(text)]
    for sign, kind in (("..", "TOKEN_DDOT"), ("$", "TOKEN_ROOT")):
        if kinds.count(kind) > 1:  # else a long reply takes time out of proportion
            raise ParserError(f"{where}: the jsonpath may have {sign} only once")


def _example(table: Any, where: str) -> Example:
    _only(table, _EXAMPLE_KEYS, where)
    unreadable = table.get("unreadable", False)
    if not isinstance(table.get("reply"), str):
        raise ParserError(f"{where}: give the reply as text in quotes")
    if ("verdict" in table) == (unreadable is True):
        raise ParserError(f"{where}: give the verdict it must be read as, or unreadable = true")
    if not isinstance(table.get("cell", {}), dict):
        raise ParserError(f"{where}: cell is a table such as {{ scale = 5 }}")
    return Example(table["reply"], table.get("verdict"), bool(unreadable), table.get("cell", {}))
